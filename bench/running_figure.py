#!/usr/bin/env python3
"""Words per second over batch size and threads, Heed beside CTranslate2, in full and in eight bits: measured and drawn.

bench/running_figure.py --write docs/results   # running.svg and the numbers in build/bench/running-batches.json
"""

import argparse
import json
import os
import statistics
from pathlib import Path

from figure import Axis, line, mark, text
from session import Session
from translation_cases import DECODED_WORDS

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
BATCHES, THREADS, NUMBERS = (1, 4, 16, 64), (1, 2), ("full", "int8")
# Okabe and Ito's colours; marks differ besides.
LINES = {
    ("heed", "int8"): ("Heed, int8", "#0072B2", "circle"),
    ("ctranslate2", "int8"): ("CTranslate2, int8", "#D55E00", "square"),
    ("heed", "full"): ("Heed, float", "#56B4E9", "diamond"),
    ("ctranslate2", "full"): ("CTranslate2, float32", "#E69F00", "triangle"),
}
LEFT, TOP, WIDTH, HEIGHT, GAP, MARGIN = 62, 96, 380, 280, 60, 24
FILE = "running.svg"


def measured(options):
    """{"beam", "points": [{"threads", "numbers", "batch", "heed", "ctranslate2"}]}, words per second by the clock."""
    session = Session(options, options.python)
    points = []
    for threads in THREADS:
        for numbers in NUMBERS:
            for batch in BATCHES:
                name = f"translation-decoding,model=transformer,sentences={batch},beam={options.beam},numbers={numbers}"
                workers = {label: session.worker(label, label) for label in ("heed", "ctranslate2")}
                seconds = {label: [] for label in workers}
                for worker in workers.values():
                    worker.ask("prepare", name, threads)
                for _ in range(options.turns):
                    for label, worker in workers.items():
                        seconds[label].append(worker.ask("run", 1)["wall"])
                speeds = {label: DECODED_WORDS / statistics.median(times) for label, times in seconds.items()}
                points.append({"threads": threads, "numbers": numbers, "batch": batch, **speeds})
                print(points[-1], flush=True)
    session.close()
    return {"beam": options.beam, "points": points}


def panel(threads, points, top, left):
    x = Axis(0.8, 80, left, left + WIDTH)

    def y(speed):
        return TOP + HEIGHT * (1 - speed / top)

    parts = [text(left, TOP - 10, f"{threads} thread{'s' if threads > 1 else ''}", 13, weight="bold")]
    for speed in range(0, top + 1, 1000 if top <= 8000 else 2000):
        parts.append(line(left, y(speed), left + WIDTH, y(speed)))
        parts.append(text(left - 6, y(speed) + 3.5, f"{speed:,}", 10, "end"))
    for batch in BATCHES:
        parts.append(line(x(batch), TOP, x(batch), TOP + HEIGHT))
        parts.append(text(x(batch), TOP + HEIGHT + 15, str(batch), 10, "middle"))
    parts.append(text(left + WIDTH / 2, TOP + HEIGHT + 32, "sentences together", 11, "middle"))
    parts.append(f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999999"/>')
    for (label, numbers), (_, colour, kind) in LINES.items():
        places = [(x(p["batch"]), y(p[label])) for p in points if p["threads"] == threads and p["numbers"] == numbers]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [mark(kind, px, py, colour, 3.5) for px, py in places]
    return parts


def drawn(record):
    points = record["points"]
    how = f"beam {record['beam']}" if record["beam"] > 1 else "greedy"
    parts = [text(LEFT, 28, f"Words per second, small Transformer, {how}", 16, weight="bold")]
    left = LEFT
    for words, colour, kind in LINES.values():
        parts += [line(left, 54, left + 26, 54, colour, 2), mark(kind, left + 13, 54, colour, 3.5)]
        parts.append(text(left + 33, 58, words, 12))
        left += 60 + 7 * len(words)
    most = max(max(point["heed"], point["ctranslate2"]) for point in points)
    top = (int(most) // 2000 + 1) * 2000
    for i, threads in enumerate(THREADS):
        parts += panel(threads, points, top, LEFT + i * (WIDTH + GAP))
    width, height = LEFT + len(THREADS) * (WIDTH + GAP) - GAP + MARGIN, TOP + HEIGHT + 48
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([f'{opening} font-family="DejaVu Sans, Verdana, sans-serif">', ground, *parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--python", default=str(BUILD / "bench/venv/bin/python"), help="an interpreter with CTranslate2")
    parser.add_argument("--heed-bench", type=Path, default=BUILD / "release/bench/heed_bench", help="the Heed worker")
    parser.add_argument("--out", type=Path, default=BUILD / "bench", help="where the numbers go")
    parser.add_argument("--write", type=Path, required=True, help="where the figure goes")
    parser.add_argument("--draw-only", action="store_true", help="draw the numbers of the last run again")
    options = parser.parse_args()
    file = options.out / "running-batches.json"
    os.makedirs(options.out, exist_ok=True)
    if not options.draw_only:
        file.write_text(json.dumps(measured(options), indent=1) + "\n")
    (options.write / FILE).write_text(drawn(json.loads(file.read_text())))


if __name__ == "__main__":
    main()
