"""The figure of the attention section: cost over n of every mechanism, one small log-log panel each, as SVG."""

import math
from html import escape

# Okabe and Ito's colours, which differ for colour-blind eyes too; marks differ besides.
LANES = {
    "heed": ("Heed", "#0072B2", "circle"),
    "composed": ("PyTorch, composed", "#D55E00", "square"),
    "sdpa": ("PyTorch, scaled_dot_product_attention", "#009E73", "triangle"),
    "jax": ("JAX, jitted", "#CC79A7", "diamond"),
}
COLUMNS, PANEL_WIDTH, PANEL_HEIGHT = 6, 178, 128
LEFT, TOP, GAP_X, GAP_Y = 58, 74, 14, 40
INK, FAINT = "#222222", "#d9d9d9"


def text(x, y, words, size=11, anchor="start", colour=INK, weight="normal"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def line(x1, y1, x2, y2, colour=FAINT, width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def mark(kind, x, y, colour, r=3.0):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}"/>'
    if kind == "square":
        return f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}" fill="{colour}"/>'
    corners = [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)] if kind == "triangle" else [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)]
    points = " ".join(f"{x + r * dx:.1f},{y + r * dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


class Axis:
    """Logarithms of low..high onto pixels begin..end."""

    def __init__(self, low, high, begin, end):
        self.low, self.span, self.begin, self.length = math.log(low), math.log(high / low), begin, end - begin

    def __call__(self, value):
        return self.begin + (math.log(value) - self.low) / self.span * self.length


def seconds_label(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size * 0.999:
            return f"{value / size:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def bytes_label(value):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size * 0.999:
            return f"{value / size:.0f} {unit}"
    return f"{value:.0f} B"


# What a figure shows: the key of a point's entry, the smallest value worth showing, how a tick is written.
TIME = ("seconds", 1e-9, seconds_label)
MEMORY = ("bytes", 1e5, bytes_label)  # less is a few pages here and there


def curve(record, label, quantity):
    key, floor, _ = quantity
    return [(point["n"], max(floor, point[label][key])) for point in record["points"] if label in point]


def panel(record, left, top, lengths, ticks, quantity, labelled):
    """One mechanism. `labelled`: whether the axes get their numbers, left and below."""
    x = Axis(lengths[0] / 1.35, lengths[-1] * 1.35, left, left + PANEL_WIDTH)
    y = Axis(ticks[0] / 1.6, ticks[-1] * 1.6, top + PANEL_HEIGHT, top)
    parts = [text(left, top - 7, record["name"], 12, weight="bold")]
    for tick in ticks:
        parts.append(line(left, y(tick), left + PANEL_WIDTH, y(tick)))
        if labelled[0]:
            parts.append(text(left - 6, y(tick) + 3.5, quantity[2](tick), 10, "end"))
    for n in lengths:
        parts.append(line(x(n), top, x(n), top + PANEL_HEIGHT))
        if labelled[1]:
            parts.append(text(x(n), top + PANEL_HEIGHT + 14, str(n), 10, "middle"))
    parts.append(
        f'<rect x="{left}" y="{top}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" fill="none" stroke="#999999"/>'
    )
    # Heed last, so that nothing hides it.
    for label in reversed(LANES):
        points = [(x(n), y(value)) for n, value in curve(record, label, quantity)]
        _, colour, kind = LANES[label]
        if points:
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [mark(kind, px, py, colour) for px, py in points]
    return parts


def tens(values):
    """The powers of ten around all values; every second or third one if there are many."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    step = 1 if high - low <= 5 else 2
    high += (low - high) % step
    return [10.0**k for k in range(low, high + 1, step)]


def group(title, records, top, quantity):
    """Panels of records that have a scale in common; the parts and where they end."""
    lengths = sorted({point["n"] for record in records for point in record["points"]})
    values = [value for record in records for label in LANES for _, value in curve(record, label, quantity)]
    ticks = tens([*values, values[0] * 10])
    parts = [text(LEFT, top, title, 13, colour="#555555")]
    top += 30
    for i, record in enumerate(records):
        row, column = divmod(i, COLUMNS)
        left, above = LEFT + column * (PANEL_WIDTH + GAP_X), top + row * (PANEL_HEIGHT + GAP_Y)
        last = i + COLUMNS >= len(records)
        parts += panel(record, left, above, lengths, ticks, quantity, (column == 0, last))
    rows = -(-len(records) // COLUMNS)
    return parts, top + rows * (PANEL_HEIGHT + GAP_Y)


def legend(records, top):
    parts, left = [], LEFT
    for label, (words, colour, kind) in LANES.items():
        if any(label in point for record in records for point in record["points"]):
            parts += [line(left, top, left + 26, top, colour, 2), mark(kind, left + 13, top, colour)]
            parts.append(text(left + 33, top + 4, words, 12))
            left += 60 + 6.6 * len(words)
    return parts


def figure(records, title, quantity):
    records = [record for record in records if record["points"] and any("heed" in p for p in record["points"])]
    parts = [text(LEFT, 28, title, 16, weight="bold"), *legend(records, 50)]
    top = TOP + 14
    for words, one_query in (
        ("n queries over n keys (rows of weights where the score asks nothing)", False),
        ("one query over n keys: these carry state from step to step", True),
    ):
        if members := [record for record in records if record["one_query"] == one_query]:
            more, top = group(words, members, top, quantity)
            parts += more
            top += 14
    width = LEFT + COLUMNS * (PANEL_WIDTH + GAP_X) + 6
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top:.0f}" width="{width}" '
            f'height="{top:.0f}" font-family="DejaVu Sans, Verdana, sans-serif">',
            f'<rect width="{width}" height="{top:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def draw(report, folder):
    """Writes the figures of a record that has them; their file names and titles."""
    if not (records := report.get("mechanisms")):
        return {}
    threads, call = records[0]["threads"], "one forward call, one head, d = 64"
    figures = {
        "attention-time.svg": (f"Time over n: {call}, {threads} thread(s)", TIME),
        "attention-memory.svg": (f"Memory beyond the inputs over n: {call}", MEMORY),
    }
    for name, (title, quantity) in figures.items():
        (folder / name).write_text(figure(records, title, quantity))
    return {name: title for name, (title, _) in figures.items()}
