#!/usr/bin/env python3
"""The benchmark's records as Markdown; called as a program, puts them into the pages of a folder.

bench/report.py --write docs/results replaces what stands between the marks of each section's page, for example between
<!-- bench: attention --> and <!-- end of bench: attention --> in docs/results/attention.md, by the tables of
build/bench/attention.json, and draws the figures beside the page. What stands outside the marks stays.
"""

import argparse
import json
import re
import textwrap
from pathlib import Path

from cluster.report import cluster_markdown
from cluster.scaling_figure import draw_scaling
from figure import draw
from tables import table

PEERS = {
    "sdpa": "SDPA",
    "flex": "FlexAttention",
    "blocks": "SDPA in blocks",
    "composed": "composed",
    "compiled": "compiled",
    "jax": "JAX",
    "eager": "PyTorch",
    "ctranslate2": "CTranslate2",
}


def duration(entry):
    if not entry:
        return "–"
    seconds = entry["seconds"]
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def factor(value):
    return "–" if value is None else f"{value:.2f} ×"


def share(entry):
    return f"{entry['of_peak']:.0%}" if entry and "of_peak" in entry else "–"


def megabytes(count):
    return f"{count / 1e6:.0f} MB"


def measured(bar):
    if bar["value"] is None:
        return "–"
    if bar["quantity"] == "microseconds_per_op" and bar["value"] >= 1000:
        return f"{bar['value'] / 1000:.1f} ms"
    return f"{bar['value']:.1%}" if bar["quantity"].startswith("of_") else f"{bar['value']:.3f}"


def verdict(bars):
    words = []
    for bar in bars:
        met = {True: "met", False: "not met", None: "not measured"}[bar["met"]]
        value = "" if bar["value"] is None else f" ({measured(bar)})"
        words.append(f"{bar['bar']}: **{met}**{value}")
    return "; ".join(words)


def timed(records):
    return [record for record in records if "heed" in record]


def times(records):
    header = [
        "work",
        "threads",
        "Heed",
        "PyTorch",
        "Heed is",
        "compiled",
        "Heed is",
        "of FMA peak (Heed, PyTorch)",
        "bar",
    ]
    rows = []
    for record in timed(records):
        heed, torch = record["heed"], record.get("torch")
        rows.append(
            [
                record["title"],
                str(record["threads"]),
                duration(heed),
                duration(torch),
                factor(record.get("speedup")),
                duration(record.get("compiled")),
                factor(record.get("speedup_compiled")),
                f"{share(heed)}, {share(torch)}",
                verdict(record.get("bars", [])),
            ]
        )
    return table(header, rows)


def products(records):
    header = [
        "product",
        "threads",
        "Heed",
        "bare oneDNN",
        "Heed's time",
        "PyTorch",
        "Heed is",
        "of FMA peak (all three)",
        "bar",
    ]
    rows = []
    for record in timed(records):
        heed, bare, torch = record["heed"], record.get("bare"), record.get("torch")
        rows.append(
            [
                record["title"].removeprefix("matrix product "),
                str(record["threads"]),
                duration(heed),
                duration(bare),
                factor(record.get("over_bare")),
                duration(torch),
                factor(record.get("speedup")),
                f"{share(heed)}, {share(bare)}, {share(torch)}",
                verdict(record.get("bars", [])),
            ]
        )
    return table(header, rows)


def memories(records):
    header = ["work", "threads", "Heed, of it pool", "PyTorch", "ratio", "whole process: Heed", "PyTorch", "ratio"]
    rows = []
    for record in records:
        if "memory" in record:
            heed, torch = record["memory"]["heed"], record["memory"]["torch"]
            rows.append(
                [
                    record["title"],
                    str(record["threads"]),
                    f"{megabytes(heed['grown'])}, {megabytes(heed['pool'])}",
                    megabytes(torch["grown"]),
                    factor(record["memory_ratio"]),
                    megabytes(heed["peak"]),
                    megabytes(torch["peak"]),
                    factor(heed["peak"] / torch["peak"]),
                ]
            )
    return table(header, rows) if rows else []


def bars_table(records):
    header = ["work", "bar", "measured", ""]
    rows = []
    for record in timed(records):
        for bar in record["bars"]:
            met = {True: "**met**", False: "not met", None: "not measured"}[bar["met"]]
            rows.append([record["title"], bar["bar"], measured(bar), met])
    return table(header, rows)


def peer_times(records):
    labels = [label for label in PEERS if any(label in record for record in records)]
    header = ["work", "Heed", *(PEERS[label] for label in labels), "Heed is", "of peak (Heed, best peer)"]
    rows = []
    for record in timed(records):
        best = record.get(record.get("best_peer"))
        heed = record["heed"]
        shares = f"{share(heed)}, {share(best)}"
        if "of_bandwidth" in heed:
            shares = f"{heed['of_bandwidth']:.0%}, {best['of_bandwidth']:.0%} of bandwidth" if best else "–"
        rows.append(
            [
                record["title"],
                duration(heed),
                *(duration(record.get(label)) for label in labels),
                factor(record.get("speedup")),
                shares,
            ]
        )
    return table(header, rows)


def word_rates(records, unit):
    """Words a second of everyone, or what else is counted; the ratio is to the faster of PyTorch's two."""
    labels = [label for label in PEERS if any(label in record for record in records)]
    header = ["work", f"Heed, {unit}/s", *(f"{PEERS[label]}, {unit}/s" for label in labels), "Heed is"]
    rows = []
    for record in timed(records):
        each = [record.get(label) for label in ("heed", *labels)]
        rates = [f"{entry['words']:.0f}" if entry and "words" in entry else "–" for entry in each]
        rows.append([record["title"], *rates, factor(record.get("speedup"))])
    return table(header, rows)


def peer_memories(records):
    header = ["work", "Heed, of it pool", "best peer", "its name", "ratio", "whole process: Heed", "best peer"]
    rows = []
    for record in records:
        if "memory" not in record or record.get("best_peer") not in record["memory"]:
            continue
        heed, name = record["memory"]["heed"], record["best_peer"]
        peer = record["memory"][name]
        rows.append(
            [
                record["title"],
                f"{megabytes(heed['grown'])}, {megabytes(heed['pool'])}",
                megabytes(peer["grown"]),
                PEERS[name],
                factor(record["memory_ratio"]),
                megabytes(heed["peak"]),
                megabytes(peer["peak"]),
            ]
        )
    return table(header, rows) if rows else []


def opening(report):
    machine, versions = report["machine"], report["versions"]
    peaks = ", ".join(f"{value:.0f} GFLOP/s on {count} thread(s)" for count, value in report["fma_peak"].items())
    disturbance = report["disturbance"]
    seconds = max(disturbance["seconds"], 1e-9)
    peers = ", ".join(
        f"{name} {versions[key]}"
        for key, name in (("torch", "PyTorch"), ("jax", "JAX"), ("ctranslate2", "CTranslate2"))
        if key in versions
    )
    lines = [
        f"{report['date']}, `{report['command']}`  ",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB, {machine['system']}  ",
        f"Heed {versions['heed']} with oneDNN {versions['onednn']}, {peers}, Python {versions['python']}  ",
        f"FMA peak, best of this run: {peaks}; shares are of the median beside each case  ",
    ]
    if "bandwidth" in report:
        each = ", ".join(f"{value:.1f} GB/s on {count} thread(s)" for count, value in report["bandwidth"].items())
        lines.append(f"Memory bandwidth (reading), measured in this run: {each}  ")
    lines.append(
        f"Medians of {report['turns']} alternating turns, {report['clock']} time. Meanwhile the resting workers used "
        f"{disturbance['idle_workers'] / seconds:.2f} of a core and the rest of the machine "
        f"{max(0, disturbance['others']) / seconds:.2f}."
    )
    return [*lines, "", *kept(report)]


def kept(report):
    """Cases that stayed from earlier runs."""
    runs = {}
    for record in report["cases"]:
        if "run" in record:
            runs.setdefault((record["run"]["date"], record["run"]["command"]), []).append(record["title"])
    return [f"From {date}, `{command}`: {'; '.join(titles)}.\n" for (date, command), titles in runs.items()]


def engine_tables(report):
    lines = []
    bare = [record for record in report["cases"] if "bare" in record]
    rest = [record for record in report["cases"] if "bare" not in record]
    if timed(bare):
        lines += ["## Matrix products", "", *products(bare), ""]
    if timed(rest):
        lines += ["## Ops, layers, training steps", "", *times(rest), ""]
    if memory := memories(report["cases"]):
        lines += ["## Peak memory", "", MEMORY, "", *memory, ""]
    if "start" in report:
        start = report["start"]
        lines += ["## Start", ""]
        rows = [[name, f"{start[name]['milliseconds']:.1f} ms"] for name in ("heed", "torch", "nothing")]
        lines += [*table(["program", "start to end"], rows), "", verdict(start["bars"]), ""]
    return lines


def attention_tables(report, figures):
    lines = []
    for threads in sorted({record["threads"] for record in timed(report["cases"])}):
        records = [record for record in timed(report["cases"]) if record["threads"] == threads]
        lines += [f"## Bars, {threads} thread(s)", "", *bars_table(records), ""]
        lines += [f"## Times, {threads} thread(s)", "", TIMES, "", *peer_times(records), ""]
        if memory := peer_memories(records):
            lines += [f"## Peak memory, {threads} thread(s)", "", MEMORY, "", *memory, ""]
    if figures:
        lines += ["## Cost over n", ""]
        for name, title in figures.items():
            lines += [f"![{title}]({name})", ""]
    return lines


def word_tables(report):
    lines = []
    for threads in sorted({record["threads"] for record in timed(report["cases"])}):
        records = [record for record in timed(report["cases"]) if record["threads"] == threads]
        lines += [f"## Bars, {threads} thread(s)", "", *bars_table(records), ""]
        unit, text = SPEED[report["section"]]
        lines += [f"## Speed, {threads} thread(s)", "", text, "", *word_rates(records, unit), ""]
        if memory := peer_memories(records):
            lines += [f"## Peak memory, {threads} thread(s)", "", MEMORY, "", *memory, ""]
    return lines


COMPILED = "Compiled is the same PyTorch through `torch.compile`; the faster of the two counts."
# Of each section: what is counted, and what the numbers are of.
SPEED = {
    "translation": (
        "words",
        "Target words with their ends, small presets, 8000 words per side, batches of about 2048 words; 64 sentences "
        f"are decoded. {COMPILED} Ten and more updates from the same weights give the same losses, the searches the "
        "same translations.",
    ),
    "running": (
        "words",
        "Target words with their ends, small presets, 8000 words per side, first weights; 64 sentences are decoded, "
        "each to the length of its source. CTranslate2 has the same weights, and of batches of 8 to 64 sentences "
        "those with which it is fastest; it ends all sentences of a batch at their mean length. Base size is 6 + 6 layers "
        "of width 512 with 32,000 words; 16 sentences are decoded.",
    ),
    "choosing": (
        "samples",
        f"Small presets. {COMPILED} Updates from the same weights give the same losses, running the same scores.",
    ),
    "captioning": (
        "words",
        "The decoder in its small preset over 7 × 7 regions; of writing, captions are counted and not words. "
        f"{COMPILED} Updates from the same weights give the same losses.",
    ),
    "recognition": (
        "letters",
        f"The small preset over 123 numbers every 10 ms. {COMPILED} Updates from the same weights give the same losses.",
    ),
    "summarising": (
        "words",
        f"Words of summaries with their ends, small presets, texts of up to 100 words. {COMPILED} Updates from the "
        "same weights give the same losses.",
    ),
}
MEMORY = "Memory beyond what the fresh process held after a small warm-up; the data of the case count."
TIMES = (
    "8 heads of d = 64 unless said otherwise. SDPA is PyTorch's `scaled_dot_product_attention`, composed are ordinary "
    "ops, compiled the same through `torch.compile`. A peer more than half again as slow as the fastest is timed in "
    "one turn, the others in all."
)


def not_measured(report):
    """What a peer could not do, said once for all cases with the same words."""
    where = {}
    for record in report["cases"]:
        for error in record["errors"]:
            where.setdefault(re.sub(r" \([^)]*\):", ":", error, count=1), []).append(record["title"])
    lines = [f"- {error} ({'; '.join(dict.fromkeys(titles))})" for error, titles in where.items()]
    lines += [f"- {mechanism['name']}: {e}" for mechanism in report.get("mechanisms", ()) for e in mechanism["errors"]]
    return [f"- {word}" for word in report.get("missing", ())] + lines


def markdown(report, figures=None):
    if report["section"] == "cluster":
        return cluster_markdown(report, figures or {})
    if report["section"] == "attention":
        tables = attention_tables(report, figures)
    else:
        tables = (engine_tables if report["section"] == "engine" else word_tables)(report)
    lines = [f"# {report['title']}", "", *opening(report), *tables]
    if missing := not_measured(report):
        lines += ["## Not measured", "", *missing, ""]
    return "\n".join(lines)


def wrapped(line):
    """A line of prose as lines of at most 100 columns; tables, headings and pictures stay as they are."""
    if line.startswith(("|", "#", "!")):
        return line
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def put_into(folder, report):
    """Writes the section's page in the folder again, with the tables of the report between its marks."""
    name = report["section"]
    document = folder / f"{PAGES.get(name, name)}.md"
    begin, end = f"<!-- bench: {name} -->", f"<!-- end of bench: {name} -->"
    content = document.read_text()
    if content.count(begin) != 1 or content.count(end) != 1 or content.index(begin) > content.index(end):
        raise SystemExit(f"{document}: needs the marks {begin} and {end}, once each")
    figures = draw_scaling(report, folder) if name == "cluster" else draw(report, folder)
    body = markdown(report, figures).split("\n", 2)[2]  # the page has its own heading
    body = re.sub(r" +$", r"\\", body, flags=re.MULTILINE)  # a line break that no editor strips
    body = "\n".join(wrapped(line) for line in body.split("\n"))
    before, after = content[: content.index(begin)], content[content.index(end) :]
    document.write_text(f"{before}{begin}\n{body.rstrip()}\n{after}")


SECTIONS = (
    "engine",
    "attention",
    "translation",
    "running",
    "choosing",
    "captioning",
    "recognition",
    "summarising",
    "cluster",
)
PAGES = {"summarising": "summarisation"}  # the others are called as their sections


def main():
    folder = Path(__file__).resolve().parent.parent / "build/bench"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="replace the tables of its pages (else: print)")
    parser.add_argument(
        "records", nargs="*", type=Path, help="JSON files of bench/run.py (default: all in build/bench)"
    )
    options = parser.parse_args()
    records = options.records or [p for name in SECTIONS if (p := folder / f"{name}.json").exists()]
    if not records:
        raise SystemExit("bench/report.py: nothing was measured yet; run bench/run.py")
    for path in records:
        report = json.loads(path.read_text())
        if options.write:
            put_into(options.write, report)
            print(f"{report['section']}: {len(timed(report['cases']))} cases of {path.name} into {options.write}")
        else:
            print(markdown(report))


if __name__ == "__main__":
    main()
