"""The record of the cluster section as Markdown."""

from figure import bytes_label
from tables import table

NETWORKS = {
    "none": "alone",
    "apart": "two that know nothing of each other",
    "shm": "shared memory",
    "tcp": "TCP, loopback",
    "slow": "TCP, a cable of {} Gbit/s",
}
PROGRAMS = {"heed": "Heed", "torch": "PyTorch, DDP with Gloo"}
SPEED_BAR, SCALING_BAR = 0.8, 0.9


def percent(value):
    return "–" if value is None else f"{value:.0%}"


def microseconds(seconds):
    return f"{seconds * 1e6:,.0f} µs" if seconds < 1e-2 else f"{seconds * 1e3:,.1f} ms"


def met(value, bar):
    return "met" if value >= bar else "**missed**"


def opening(report):
    machine, versions = report["machine"], report["versions"]
    torch = f", PyTorch {versions['torch']}" if "torch" in versions else ""
    return [
        f"{report['date']}, `{report['command']}`  ",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB, {machine['system']}  ",
        f"Heed {versions['heed']}, {versions['mpi']}{torch}, Python {versions['python']}  ",
        f"Load of the machine before the run: {report['load']:.2f}. A turn is {report['steps']} steps; medians of "
        f"{report['turns']} alternating turns, wall time.",
        "",
    ]


def all_reduce_lines(report):
    rows = []
    for row in report["all_reduce"]:
        factor = row["mpi_seconds"] / row["heed_seconds"]
        heed, mpi = microseconds(row["heed_seconds"]), microseconds(row["mpi_seconds"])
        size = bytes_label(row["bytes"])
        rows.append([NETWORKS[row["transport"]], size, heed, mpi, f"{factor:.2f} ×", met(factor, SPEED_BAR)])
    header = ["network", "size", "Heed", "MPI_Allreduce", "Heed is", f"bar {SPEED_BAR} ×"]
    return ["## All-reduce, two ranks", "", *table(header, rows), ""] if rows else []


def scaling_lines(report):
    rows = []
    for model, entry in report["models"].items():
        for name, lane in entry["lanes"].items():
            program, scaling, network = name.split("-")
            barred = (program, scaling) == ("heed", "weak") and network in ("shm", "tcp") and "efficiency" in lane
            rows.append(
                [
                    model,
                    PROGRAMS[program],
                    "one rank" if scaling == "one" else f"{scaling}, two ranks" if network != "apart" else "two processes",
                    NETWORKS[network].format(report["slow_gigabits"]),
                    f"{lane['words_per_second']:,.0f}",
                    percent(lane.get("efficiency")),
                    percent(lane.get("of_apart")),
                    percent(lane.get("waiting")),
                    met(lane["efficiency"], SCALING_BAR) if barred else "",
                ]
            )
    if not rows:
        return []
    header = ["model", "program", "scaling", "network", "words/s", "efficiency", "of two apart", "waiting"]
    header.append(f"bar {SCALING_BAR:.0%}")
    return ["## Scaling", "", SCALING.format(report["batch_words"]), "", *table(header, rows), ""]


SCALING = (
    "Small presets, one thread per rank, target words with their ends. Weak: {0} words per rank and step; strong: {0} in "
    "all. Efficiency is the speed of two ranks over twice that of one. Two processes that know nothing of each other share "
    "the machine's memory and caches too; their speed is the most that it has to give. Waiting is the share of its time in "
    "which a rank waits for others, as its log has it."
)


def cost_lines(report, figures):
    cost = report.get("cost")
    if not cost:
        return []
    lines = ["## The model of the cost", "", COST, ""]
    fits = [
        [NETWORKS[name], microseconds(fit["latency"]), f"{fit['bandwidth'] / 1e9:.2f} GB/s", f"{fit['worst_error']:+.0%}"]
        for name, fit in cost["networks"].items()
    ]
    lines += [*table(["network", "latency", "bandwidth", "largest error"], fits), ""]
    rows = []
    for model, entry in cost["models"].items():
        gradient = report["models"][model]["gradient"]
        lines.append(
            f"{model}: a step's gradients are {bytes_label(gradient['dense'])} and {bytes_label(gradient['rows'])} of rows; "
            f"over TCP two ranks exchange them in {entry['exchange'] * 1e3:.1f} ms, of which {entry['hidden']:.0%} hide "
            "behind computing.  "
        )
        for name, check in entry["checks"].items():
            _, scaling, network = name.split("-")
            difference = "fitted" if check["fitted"] else f"{check['predicted'] / check['measured'] - 1:+.0%}"
            words = [model, scaling, NETWORKS[network].format(report["slow_gigabits"])]
            rows.append([*words, *(f"{check[key] * 1e3:.0f} ms" for key in ("predicted", "measured")), difference])
    lines += ["", *table(["model", "scaling", "network", "step, predicted", "measured", "difference"], rows), ""]
    for name, title in figures.items():
        lines += [f"![{title}]({name})", ""]
    return lines


COST = (
    "`bench/cluster/cost.py` has the formulas. Latency and bandwidth are fitted to the all-reduces above up to 16 MB; the "
    "share of the exchange that hides behind computing comes from weak scaling over TCP and predicts the other lanes. The "
    "figure has the step of one rank alone, the latency of loopback TCP, and per byte the time of loopback TCP and that of "
    "the cable; it knows nothing of ranks that are slower than others, nor of switches."
)


def cluster_markdown(report, figures):
    lines = [f"# {report['title']}", "", *opening(report), *all_reduce_lines(report), *scaling_lines(report)]
    lines += cost_lines(report, figures)
    if report["errors"]:
        lines += ["## Not measured", "", *(f"- {error}" for error in dict.fromkeys(report["errors"])), ""]
    return "\n".join(lines)
