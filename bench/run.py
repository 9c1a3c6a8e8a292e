#!/usr/bin/env python3
"""Runs the same work in Heed and in PyTorch, turn by turn, and writes build/bench/engine.md and engine.json.

What is measured and how to read it: bench/README.md. Needs nothing but Python's standard library; PyTorch goes into
a virtual environment of its own, or --python names an interpreter that has it.
"""

import argparse
import datetime
import fnmatch
import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path

from report import markdown
from workers import Worker, WorkerError, machine_busy_seconds

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"


@dataclass(frozen=True)
class Bar:
    """What issue and design ask for: the measured `quantity` must be at least, or at most, `limit`."""

    quantity: str  # a key of the case's record
    limit: float
    at_least: bool
    text: str

    def judged(self, record):
        value = record.get(self.quantity)
        met = None if value is None else (value >= self.limit if self.at_least else value <= self.limit)
        return {"bar": self.text, "value": value, "met": met}


@dataclass(frozen=True)
class Case:
    name: str  # in heed_bench
    title: str
    flops: float = 0  # of one repetition; 0 where memory and not arithmetic is the limit
    torch: tuple = ()  # PyTorch's ways to do it, the fastest is kept; the same name if empty
    bare: str = ""  # heed_bench's case that calls oneDNN directly
    operations: int = 1  # recorded ops in one repetition
    bars: tuple = ()
    tolerance: float = 1e-4  # of the compared numbers, relative to their size

    @property
    def peers(self):
        return self.torch or (self.name,)


def transformer_flops():
    """Forward of bench/engine/transformer.cpp times three: the backward costs two products for each one."""
    sentences, length, width, inner, words, layers = 64, 64, 256, 1024, 8000, 3
    tokens = sentences * length
    attention = 2 * tokens * 4 * width**2 + 4 * sentences * length**2 * width
    feed_forward = 2 * tokens * 2 * width * inner
    return 3 * (layers * (3 * attention + 2 * feed_forward) + 2 * tokens * width * words)


def recurrent_flops(gates):
    return 3 * 2 * 64 * 30 * (512 + 512) * gates * 512


RECURRENT = Bar("speedup", 1.5, True, "≥ 1.5 × PyTorch")
CASES = [
    *(
        Case(
            f"matmul-{m}x{n}x{k}",
            f"matrix product {m} × {k} × {n}",
            2 * m * n * k,
            bare=f"bare-matmul-{m}x{n}x{k}",
            bars=(Bar("over_bare", 1.05, False, "≤ 1.05 × bare oneDNN's time"),),
        )
        for m, n, k in [(256, 256, 256), (1024, 1024, 1024), (2048, 2048, 512), (4096, 256, 256), (64, 2048, 512)]
    ),
    Case("linear-forward", "linear 2048 × 512 → 2048, forward", 2 * 2048 * 512 * 2048),
    Case("linear-training", "linear 2048 × 512 → 2048, forward + backward", 6 * 2048 * 512 * 2048),
    Case("layer-norm", "layer norm 4096 × 512, forward + backward"),
    Case("softmax", "softmax 2048 × 2048, forward + backward"),
    Case("cross-entropy", "cross-entropy 1024 × 32000, smoothed, forward + backward"),
    Case("gru", "GRU 64 × 30 × 512, forward + backward", recurrent_flops(3), bars=(RECURRENT,)),
    Case("lstm", "LSTM 64 × 30 × 512, forward + backward", recurrent_flops(4), bars=(RECURRENT,)),
    Case(
        "transformer",
        "Transformer 3 + 3, d 256, 4096 tokens, training step with Adam",
        transformer_flops(),
        torch=("transformer-fused-attention", "transformer-composed-attention"),
        bars=(
            Bar("speedup", 1.3, True, "≥ 1.3 × PyTorch"),
            Bar("memory_ratio", 0.7, False, "≤ 0.7 × PyTorch's peak memory"),
        ),
        tolerance=1e-3,
    ),
    Case("embedding-adam", "embedding 32000 × 512, 4096 ids, backward + Adam (exact)"),
    Case("embedding-lazy-adam", "the same with lazy Adam (PyTorch: SparseAdam)"),
    Case(
        "op-chain",
        "1000 recorded ops on 64 numbers, forward + backward",
        operations=1000,
        bars=(Bar("microseconds_per_op", 0.5, False, "< 0.5 µs an op"),),
    ),
]


# Same numbers? --------------------------------------------------------------------------------------------------------


def first_difference(ours, theirs, tolerance):
    """None if the summaries agree, else what differs first."""
    if ours.keys() != theirs.keys():
        return f"different results: {sorted(ours.keys() ^ theirs.keys())[:4]}"
    for name, a in ours.items():
        b = theirs[name]
        if a["count"] != b["count"]:
            return f"{name}: {a['count']} numbers against {b['count']}"
        norm = math.sqrt(b["squares"])
        typical = norm / math.sqrt(b["count"])
        # Rounding that leans to one side, as that of a long row's normaliser, adds up in a sum; not in a random one.
        pairs = [("sum", a["sum"], b["sum"], b["magnitude"]), ("weighted", a["weighted"], b["weighted"], norm)]
        pairs.append(("squares", a["squares"], b["squares"], 0))
        pairs += [(f"element {i}", x, y, typical) for i, (x, y) in enumerate(zip(a["elements"], b["elements"]))]
        for key, x, y, scale in pairs:
            # A NaN must not pass, so the comparison is written as what must hold.
            if not abs(x - y) <= tolerance * (abs(y) + scale) + 1e-12:
                return f"{name}, {key}: {x:.7g} against {y:.7g}"
    return None


# Measuring ------------------------------------------------------------------------------------------------------------


class Contestant:
    """One way of doing a case, in its own process."""

    def __init__(self, label, worker, case_name):
        self.label, self.worker, self.case_name = label, worker, case_name
        self.samples = []
        self.repetitions = 1

    def prepare(self, threads):
        self.worker.ask("prepare", self.case_name, threads)

    def calibrate(self, seconds):
        once = self.worker.ask("run", 1)["processor"]
        self.repetitions = max(1, min(1000, round(seconds / max(once, 1e-9))))
        return once

    def median(self):
        return statistics.median(self.samples)


class Session:
    """The workers of one run, alternating."""

    # Threads of an OpenMP pool spin for a moment after their last region; the next turn waits until they sleep.
    PAUSE = 0.04

    def __init__(self, options, python):
        self.options = options
        self.torch_command = [python, str(HERE / "peers/torch_engine.py")]
        self.heed_command = [str(options.heed_bench)]
        # glibc hands large blocks back to the system at every free; kept ones spare PyTorch the page faults.
        self.torch_environment = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184"}
        self.heed = Worker(self.heed_command)
        self.bare = Worker(self.heed_command)
        self.torch = Worker(self.torch_command, self.torch_environment)
        self.compiled = (
            Worker([*self.torch_command, "--compile"], self.torch_environment) if options.compile else None
        )
        self.known = set(self.heed.ask("cases")["cases"])
        self.disturbance = {"others": 0.0, "idle_workers": 0.0, "seconds": 0.0}

    def close(self):
        for worker in self.workers():
            worker.close()

    def workers(self):
        return [worker for worker in (self.heed, self.bare, self.torch, self.compiled) if worker]

    def sample(self, contestant):
        """One turn. Also notes what the resting workers and the rest of the machine did meanwhile."""
        time.sleep(self.PAUSE)
        resting = [worker for worker in self.workers() if worker is not contestant.worker]
        before = [w.cpu_seconds() for w in resting], contestant.worker.cpu_seconds(), machine_busy_seconds()
        begin = time.perf_counter()
        contestant.samples.append(contestant.worker.ask("run", contestant.repetitions)[self.options.clock])
        self.disturbance["seconds"] += time.perf_counter() - begin
        rested = sum(w.cpu_seconds() for w in resting) - sum(before[0])
        worked = contestant.worker.cpu_seconds() - before[1]
        self.disturbance["idle_workers"] += rested
        self.disturbance["others"] += machine_busy_seconds() - before[2] - worked - rested

    def verified(self, contestant, case, threads, reference):
        """Prepares, and compares the numbers with Heed's; the trouble in words, or None."""
        try:
            contestant.prepare(threads)
            results = contestant.worker.ask("check")["results"]
            return first_difference(reference, results, case.tolerance)
        except WorkerError as error:
            return str(error)

    def best_peer(self, label, worker, case, threads, reference, troubles):
        """The fastest of PyTorch's ways that computes the same numbers; None if there is none."""
        best, best_time = None, math.inf
        for name in case.peers:
            contestant = Contestant(label, worker, name)
            trouble = self.verified(contestant, case, threads, reference)
            if trouble:
                troubles.append(f"{label} ({name}): {trouble}")
                continue
            taken = min(contestant.calibrate(self.options.turn) for _ in range(2))
            if taken < best_time:
                best, best_time = contestant, taken
        if best and len(case.peers) > 1:
            best.prepare(threads)
        return best

    def measure(self, case, threads):
        record = {"name": case.name, "title": case.title, "threads": threads, "errors": []}
        if case.name not in self.known:
            record["errors"].append(f"heed_bench has no case {case.name}")
            return record
        heed = Contestant("heed", self.heed, case.name)
        try:
            heed.prepare(threads)
            reference = heed.worker.ask("check")["results"]
        except WorkerError as error:
            record["errors"].append(f"heed: {error}")
            return record
        contestants = [heed]
        if case.bare:
            bare = Contestant("bare", self.bare, case.bare)
            trouble = self.verified(bare, case, threads, reference)
            record["errors"] += [f"bare: {trouble}"] if trouble else []
            contestants += [] if trouble else [bare]
        for label, worker in (("torch", self.torch), ("compiled", self.compiled)):
            if worker:
                peer = self.best_peer(label, worker, case, threads, reference, record["errors"])
                contestants += [peer] if peer else []
        # A case whose numbers disagree is not timed.
        if any(error.startswith(("bare", "torch")) for error in record["errors"]) and len(contestants) < 2:
            return record
        for contestant in contestants:
            contestant.calibrate(self.options.turn)
        for _ in range(self.options.turns):
            for contestant in contestants:
                self.sample(contestant)
        for contestant in contestants:
            record[contestant.label] = {
                "case": contestant.case_name,
                "seconds": contestant.median(),
                "fastest": min(contestant.samples),
                "samples": contestant.samples,
                "repetitions": contestant.repetitions,
            }
        self.compare(record, case)
        if self.options.memory and "torch" in record:
            record["memory"] = self.memory(case, record["torch"]["case"], threads)
            record["memory_ratio"] = record["memory"]["heed"]["grown"] / max(1, record["memory"]["torch"]["grown"])
        record["bars"] = [bar.judged(record) for bar in case.bars]
        return record

    def compare(self, record, case):
        seconds = record["heed"]["seconds"]
        record["microseconds_per_op"] = seconds / case.operations * 1e6
        for label, key in (("torch", "speedup"), ("compiled", "speedup_compiled")):
            if label in record:
                record[key] = record[label]["seconds"] / seconds
        if "bare" in record:
            record["over_bare"] = seconds / record["bare"]["seconds"]
        if case.flops:
            for label in ("heed", "bare", "torch", "compiled"):
                if label in record:
                    record[label]["gflops"] = case.flops / record[label]["seconds"] * 1e-9

    def memory(self, case, torch_name, threads):
        """Peak resident memory of a fresh process each: whole, and beyond what it held before the case."""
        result = {}
        for label, command, name in (
            ("heed", self.heed_command, case.name),
            ("torch", self.torch_command, torch_name),
        ):
            with Worker(command) as worker:  # PyTorch with the allocator's own settings, which hold less
                worker.ask("prepare", "warm-up", threads)
                worker.ask("run", 1)
                idle = worker.ask("memory")["resident"]
                worker.ask("prepare", name, threads)
                worker.ask("run", 3)
                answer = worker.ask("memory")
            result[label] = {"peak": answer["peak"], "idle": idle, "grown": answer["peak"] - idle}
            if "pool" in answer:
                result[label]["pool"] = answer["pool"]
        return result

    def fma(self, thread_counts):
        return {str(threads): self.heed.ask("fma", threads)["gflops"] for threads in thread_counts}


def start_time(heed_bench, python, turns, clock):
    """Milliseconds from the call to the end of a program that loads the library and does next to nothing."""

    def once(command):
        begin = time.perf_counter()
        quiet = [(os.POSIX_SPAWN_OPEN, out, os.devnull, os.O_WRONLY, 0) for out in (1, 2)]
        child = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
        _, status, usage = os.wait4(child, 0)
        if status != 0:
            raise SystemExit(f"{command[0]} ended with status {status}")
        taken = time.perf_counter() - begin if clock == "wall" else usage.ru_utime + usage.ru_stime
        return taken * 1e3

    commands = {"nothing": ["true"], "heed": [str(heed_bench), "--version"], "torch": [python, "-c", "import torch"]}
    samples = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            for _ in range(1 if name == "torch" else 5):
                samples[name].append(once(command))
    record = {name: {"milliseconds": statistics.median(times), "samples": times} for name, times in samples.items()}
    bar = Bar("start", 20, False, "< 20 ms")
    record["bars"] = [bar.judged({"start": record["heed"]["milliseconds"]})]
    return record


# The run --------------------------------------------------------------------------------------------------------------


def peer_python(folder):
    """An interpreter with bench/requirements.txt installed."""
    python = folder / "bin/python"
    marker = folder / "installed"
    wanted = (HERE / "requirements.txt").read_text()
    if not marker.exists() or marker.read_text() != wanted:
        print(f"Installing PyTorch into {folder} (once; a large download)", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "-r", str(HERE / "requirements.txt")]
        subprocess.run(command, check=True)
        marker.write_text(wanted)
    return str(python)


def machine():
    name, memory = platform.processor(), 0
    with open("/proc/cpuinfo") as info:
        name = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), name)
    with open("/proc/meminfo") as info:
        memory = int(info.readline().split()[1]) * 1024
    return {"processor": name, "cores": os.cpu_count(), "memory": memory, "system": platform.platform()}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--only", action="append", metavar="NAME", help="cases by name or pattern; may be repeated")
    parser.add_argument("--threads", default=str(os.cpu_count()), help="thread counts, e.g. 1,2 (default: all cores)")
    parser.add_argument(
        "--clock",
        choices=("wall", "processor"),
        default="wall",
        help="what a second is; processor time makes sense with --threads 1 on a machine that others use too",
    )
    parser.add_argument("--turns", type=int, help="turns of each contestant (default 11, quick 3)")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave out torch.compile")
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="leave out peak memory")
    parser.add_argument("--python", help="an interpreter with PyTorch 2 and NumPy; default: build/bench/venv")
    parser.add_argument("--heed-bench", type=Path, default=BUILD / "release/bench/heed_bench", help="the Heed worker")
    parser.add_argument("--out", type=Path, default=BUILD / "bench", help="where engine.md and engine.json go")
    options = parser.parse_args()
    options.turns = options.turns or (3 if options.quick else 11)
    options.turn = 0.05 if options.quick else 0.2  # seconds
    options.threads = [int(count) for count in options.threads.split(",")]
    return options


def command_line():
    """As it was called, without the machine's own paths."""
    words = iter(sys.argv[1:])
    kept = []
    for word in words:
        if word in ("--python", "--heed-bench", "--out"):
            next(words, None)
        elif not word.startswith(("--python=", "--heed-bench=", "--out=")):
            kept.append(word)
    return shlex.join(["bench/run.py", *kept])


def chosen(patterns):
    return [c for c in CASES if not patterns or any(fnmatch.fnmatch(c.name, pattern) for pattern in patterns)]


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    python = options.python or peer_python(options.out / "venv")
    session = Session(options, python)
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": command_line(),
        "machine": machine(),
        "versions": {"python": platform.python_version()},
        "turns": options.turns,
        "clock": options.clock,
        "cases": [],
    }
    report["versions"].update(session.heed.ask("version"))
    report["versions"].update(session.torch.ask("version"))
    peaks = [session.fma(sorted({1, *options.threads}))]
    write(report, peaks, session.disturbance, options.out)  # an older run's table must not stand for this one
    for threads in options.threads:
        for case in chosen(options.only):
            print(f"{case.title}, {threads} threads", file=sys.stderr, flush=True)
            report["cases"].append(session.measure(case, threads))
            peaks.append(session.fma(sorted({1, *options.threads})))
            write(report, peaks, session.disturbance, options.out)  # so that an interrupted run leaves what it has
    session.close()
    if not options.only:
        report["start"] = start_time(options.heed_bench, python, options.turns, options.clock)
    print(write(report, peaks, session.disturbance, options.out))


def write(report, peaks, disturbance, folder):
    # A peak is what nothing disturbed, hence the best of the run.
    report["fma_peak"] = {count: max(peak[count] for peak in peaks) for count in peaks[0]}
    for record in report["cases"]:
        for label in ("heed", "bare", "torch", "compiled"):
            if "gflops" in record.get(label, {}):
                record[label]["of_peak"] = record[label]["gflops"] / report["fma_peak"][str(record["threads"])]
    report["disturbance"] = disturbance
    (folder / "engine.json").write_text(json.dumps(report, indent=1) + "\n")
    text = markdown(report)
    (folder / "engine.md").write_text(text)
    return text


if __name__ == "__main__":
    main()
