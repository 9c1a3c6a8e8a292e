"""The benchmark's record as Markdown."""


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


def verdict(bars):
    words = []
    for bar in bars:
        met = {True: "met", False: "not met", None: "not measured"}[bar["met"]]
        value = "" if bar["value"] is None else f" ({bar['value']:.2f})"
        words.append(f"{bar['bar']}: **{met}**{value}")
    return "; ".join(words)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def timed(records):
    return [record for record in records if "heed" in record]


def times(records):
    header = ["work", "threads", "Heed", "PyTorch", "Heed is", "compiled", "Heed is", "of FMA peak (Heed, PyTorch)", "bar"]
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
    header = ["product", "threads", "Heed", "bare oneDNN", "Heed's time", "PyTorch", "Heed is", "of FMA peak (all three)", "bar"]
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


def markdown(report):
    machine, versions = report["machine"], report["versions"]
    peaks = ", ".join(f"{value:.0f} GFLOP/s on {count} thread(s)" for count, value in report["fma_peak"].items())
    disturbance = report["disturbance"]
    seconds = max(disturbance["seconds"], 1e-9)
    lines = [
        "# The engine against PyTorch",
        "",
        f"{report['date']}, `{report['command']}`  ",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB, {machine['system']}  ",
        f"Heed {versions['heed']} with oneDNN {versions['onednn']}, PyTorch {versions['torch']}, "
        f"Python {versions['python']}  ",
        f"FMA peak, measured in this run: {peaks}  ",
        f"Medians of {report['turns']} alternating turns, {report['clock']} time. Meanwhile the resting workers used "
        f"{disturbance['idle_workers'] / seconds:.2f} of a core and the rest of the machine "
        f"{max(0, disturbance['others']) / seconds:.2f}.",
        "",
    ]
    bare = [record for record in report["cases"] if "bare" in record]
    rest = [record for record in report["cases"] if "bare" not in record]
    if timed(bare):
        lines += ["## Matrix products", "", *products(bare), ""]
    if timed(rest):
        lines += ["## Ops, layers, training steps", "", *times(rest), ""]
    if memory := memories(report["cases"]):
        lines += ["## Peak memory", "", "Beyond what the fresh process held after a small warm-up; the data of the case count.", ""]
        lines += [*memory, ""]
    if "start" in report:
        start = report["start"]
        lines += ["## Start", ""]
        rows = [[name, f"{start[name]['milliseconds']:.1f} ms"] for name in ("heed", "torch", "nothing")]
        lines += [*table(["program", "start to end"], rows), "", verdict(start["bars"]), ""]
    if errors := [(record["title"], error) for record in report["cases"] for error in record["errors"]]:
        lines += ["## Not measured", "", *(f"- {title}: {error}" for title, error in errors), ""]
    return "\n".join(lines)
