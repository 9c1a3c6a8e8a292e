#!/usr/bin/env python3
"""How long `heed translate` takes for one sentence, alone and beside other processes that keep the cores busy.

    bench/busy.py --model my-model --sentence 'a small house'
    bench/busy.py --heed old/heed --heed build/release/heed --model my-model --sentence 'a small house'

The commands and `heed --version`, the least that any command takes, alternate; the table has the medians of the wall
time in milliseconds. Without --model it trains a small Transformer once. Needs nothing but Python's standard library.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

BENCH = Path(__file__).resolve().parent
BUILD = BENCH.parent / "build"
sys.path.insert(1, str(BENCH / "serve"))
from throughput import demo_model  # noqa: E402


@contextmanager
def busy_processes(count):
    """So many processes that do nothing but count."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.wait()


def wall_time(command, text):
    begin = time.perf_counter()
    subprocess.run(command, input=text, check=True, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", action="append", help="the command; several are compared (default: build/release/heed)")
    parser.add_argument("--model", help="model folder")
    parser.add_argument("--sentence", help="what is translated (default: the demo model's first test sentence)")
    parser.add_argument("--beside", default="0,2,8", help="numbers of busy processes (default: %(default)s)")
    parser.add_argument("--turns", type=int, default=15, help="of each command (default: %(default)s)")
    options = parser.parse_args()
    commands = options.heed or [str(BUILD / "release" / "heed")]
    model, sentence = options.model, options.sentence
    if model is None:
        model, file = demo_model(commands[0], BUILD / "bench" / "busy")
        sentence = sentence or file.read_text().splitlines()[0]
    elif sentence is None:
        parser.error("--model needs a --sentence")
    contestants = {f"{commands[0]} --version": [commands[0], "--version"]}
    contestants |= {f"{heed} translate": [heed, "translate", "--model", str(model)] for heed in commands}

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; median of {options.turns}, in ms\n")
    print(f"| beside | {' | '.join(contestants)} |\n|---|{'---|' * len(contestants)}")
    for count in map(int, options.beside.split(",")):
        times = {name: [] for name in contestants}
        with busy_processes(count):
            for _ in range(options.turns):
                for name, command in contestants.items():
                    times[name].append(wall_time(command, sentence + "\n"))
        medians = " | ".join(f"{statistics.median(each):.0f}" for each in times.values())
        print(f"| {count} busy processes | {medians} |", flush=True)


if __name__ == "__main__":
    main()
