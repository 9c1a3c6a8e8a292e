"""The figure of the cluster section: weak scaling over nodes as the model of the cost has it, one panel per model, as SVG."""

from figure import INK, Axis, line, mark, text

# Okabe and Ito's colours; marks differ besides.
SPEEDS = {"1": ("1 Gbit/s", "#D55E00"), "10": ("10 Gbit/s", "#0072B2"), "100": ("100 Gbit/s", "#009E73")}
# Cavdar et al. 2019, "Densifying Assumed-Sparse Tensors", ISC High Performance, LNCS 11501: 1200 processes.
ANCHOR = {"model": "transformer", "nodes": 300, "efficiency": 0.91, "label": "Cavdar et al. 2019: 91 % at 300 nodes"}
LEFT, TOP, WIDTH, HEIGHT, GAP, MARGIN = 62, 96, 400, 260, 60, 24
FILE = "scaling.svg"


def panel(model, record, measured, left):
    x = Axis(1, 1024 * 1.15, left, left + WIDTH)

    def y(efficiency):
        return TOP + HEIGHT * (1 - efficiency)

    parts = [text(left, TOP - 10, model, 13, weight="bold")]
    for percent in range(0, 101, 20):
        parts.append(line(left, y(percent / 100), left + WIDTH, y(percent / 100)))
        parts.append(text(left - 6, y(percent / 100) + 3.5, f"{percent} %", 10, "end"))
    for nodes in (1, 4, 16, 64, 256, 1024):
        parts.append(line(x(nodes), TOP, x(nodes), TOP + HEIGHT))
        parts.append(text(x(nodes), TOP + HEIGHT + 15, f"{nodes:,}", 10, "middle"))
    parts.append(text(left + WIDTH / 2, TOP + HEIGHT + 32, "nodes", 11, "middle"))
    parts.append(f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999999"/>')
    for speed, (_, colour) in SPEEDS.items():
        path = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in zip(record["nodes"], record["curves"][speed]))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    if measured is not None:
        parts.append(mark("circle", x(2), y(min(1, measured)), INK, 4))
        parts.append(text(x(2) + 8, TOP + HEIGHT - 12, f"● two ranks over TCP on one machine, measured: {measured:.0%}", 11))
    if model == ANCHOR["model"]:
        parts.append(mark("diamond", x(ANCHOR["nodes"]), y(ANCHOR["efficiency"]), "#CC79A7", 5))
        parts.append(text(x(2) + 8, TOP + HEIGHT - 28, f"◆ {ANCHOR['label']} (another Transformer)", 11, colour="#a04c80"))
    return parts


def draw_scaling(report, folder):
    """Writes the figure of a record that has a model of the cost; its file name and title."""
    cost = report.get("cost")
    if not cost or not cost["models"]:
        return {}
    title = f"Weak scaling by the model of the cost, {report['batch_words']} words per node and step"
    width = LEFT + len(cost["models"]) * (WIDTH + GAP) - GAP + MARGIN
    parts = [text(LEFT, 28, title, 16, weight="bold")]
    left = LEFT
    for words, colour in SPEEDS.values():
        parts += [line(left, 54, left + 26, 54, colour, 2), text(left + 33, 58, words, 12)]
        left += 130
    for i, (model, record) in enumerate(cost["models"].items()):
        measured = report["models"][model]["lanes"]["heed-weak-tcp"].get("efficiency")
        parts += panel(model, record, measured, LEFT + i * (WIDTH + GAP))
    height = TOP + HEIGHT + 48
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    lines = [f'{opening} font-family="DejaVu Sans, Verdana, sans-serif">', ground, *parts, "</svg>", ""]
    (folder / FILE).write_text("\n".join(lines))
    return {FILE: title}
