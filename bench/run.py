#!/usr/bin/env python3
"""Runs the same work in Heed and in its peers, turn by turn, and writes a table and a JSON file for each section.

What is measured and how to read it: bench/README.md. Needs nothing but Python's standard library; PyTorch and JAX go
into a virtual environment of their own, or --python names an interpreter that has them.
"""

import argparse
import datetime
import fnmatch
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

from attention_cases import ATTENTION
from captioning_cases import CAPTIONING
from cases import ENGINE, Bar
from choosing_cases import CHOOSING
from cluster.scaling import CASES as CLUSTER_CASES
from cluster.scaling import NAME as CLUSTER
from cluster.scaling import measure_cluster
from figure import draw
from mechanisms import measure_mechanisms
from mkl import fast_mkl
from report import markdown
from session import Session
from recognition_cases import RECOGNITION
from summarising_cases import SUMMARISING
from translation_cases import RUNNING, TRANSLATION
from workers import Worker, WorkerError

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
SECTIONS = {
    section.name: section
    for section in (ENGINE, ATTENTION, TRANSLATION, RUNNING, CHOOSING, CAPTIONING, RECOGNITION, SUMMARISING)
}


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
        print(f"Installing PyTorch and JAX into {folder} (once; a large download)", flush=True)
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
    parser.add_argument("--section", action="append", choices=(*SECTIONS, CLUSTER), help="one part alone; may be repeated")
    parser.add_argument("--only", action="append", metavar="NAME", help="cases by name or pattern; may be repeated")
    parser.add_argument("--keep", action="store_true", help="cases that are not chosen stay as the last run left them")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
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
    parser.add_argument("--python", help="an interpreter with PyTorch 2, JAX and NumPy; default: build/bench/venv")
    parser.add_argument("--heed-bench", type=Path, default=BUILD / "release/bench/heed_bench", help="the Heed worker")
    parser.add_argument("--out", type=Path, default=BUILD / "bench", help="where the tables and JSON files go")
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


# A case of its own beside the tables: the figure over all mechanisms, and the start of a program.
FIGURE, START = "mechanisms", "start"


def names_of(section):
    beside = {ENGINE.name: [START], ATTENTION.name: [FIGURE]}
    return [case.name for case in section.cases] + beside.get(section.name, [])


def chosen(sections, patterns):
    """The cases asked for by section; a pattern that means nothing is an error with all names."""
    known = {name: list(CLUSTER_CASES) if name == CLUSTER else names_of(SECTIONS[name]) for name in sections}
    every = [name for names in known.values() for name in names]
    for pattern in patterns or ():
        if not fnmatch.filter(every, pattern):
            raise SystemExit(f"bench/run.py: no case is called {pattern}; there are:\n  " + "\n  ".join(every))

    def wanted(name):
        return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    return {section: [name for name in names if wanted(name)] for section, names in known.items()}


def versions_of(session, section):
    """Of Heed and of the section's peers that are there."""
    programs = dict.fromkeys(lane.program for case in section.cases for lane in case.lanes)
    versions, missing = {"python": platform.python_version(), **session.heed.ask("version")}, []
    for program in programs:
        try:
            with Worker(session.commands[program], session.shared) as worker:
                versions.update(worker.ask("version"))
        except WorkerError:
            missing.append(f"{program} does not run here")
    return versions, missing


class Run:
    """One section: its record, which is written after each case so that an interrupted run leaves what it has."""

    def __init__(self, section, session, options, names):
        self.section, self.session, self.options = section, session, options
        self.thread_counts = sorted({1, *options.threads})
        versions, missing = versions_of(session, section)
        self.report = {
            "section": section.name,
            "title": section.title,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": command_line(),
            "machine": machine(),
            "versions": versions,
            "missing": missing,
            "turns": options.turns,
            "clock": options.clock,
            "cases": [],
        }
        if options.keep:
            self.take_over(options.out / f"{section.name}.json", names)
        self.peaks, self.bandwidths = [], []
        self.look_at_the_machine()
        self.write()  # an older run's table must not stand for this one

    def take_over(self, path, names):
        """What an earlier run measured beside the chosen cases, with that run's date and command."""
        earlier = json.loads(path.read_text())
        if earlier["machine"] != self.report["machine"]:
            raise SystemExit(f"bench/run.py: {path.name} was measured on another machine; nothing of it can be kept")
        for record in earlier["cases"]:
            if record["name"] not in names or record["threads"] not in self.options.threads:
                record.setdefault("run", {key: earlier[key] for key in ("date", "command")})
                self.report["cases"].append(record)
        for beside in ("mechanisms", "start"):
            if beside in earlier and not (FIGURE if beside == "mechanisms" else START) in names:
                self.report[beside] = earlier[beside]

    def in_order(self):
        """The cases as the section lists them, whenever they were measured."""
        places = {case.name: place for place, case in enumerate(self.section.cases)}
        self.report["cases"].sort(key=lambda record: (record["threads"], places.get(record["name"], len(places))))

    def look_at_the_machine(self):
        self.peaks.append(self.session.fma(self.thread_counts))
        if self.section is ATTENTION:
            self.bandwidths.append(self.session.bandwidth(self.options.threads))

    def measure(self, names, python):
        for threads in self.options.threads:
            for case in self.section.cases:
                if case.name in names:
                    print(f"{case.title}, {threads} threads", file=sys.stderr, flush=True)
                    self.report["cases"].append(self.session.measure(case, threads))
                    self.in_order()
                    self.look_at_the_machine()
                    self.write()
        if FIGURE in names:
            threads = self.options.threads[-1]
            self.report["mechanisms"] = measure_mechanisms(self.session, threads, self.options.quick)
        if START in names:
            self.report["start"] = start_time(self.options.heed_bench, python, self.options.turns, self.options.clock)
        return self.write()

    def write(self):
        report = self.report
        # A peak is what nothing disturbed, hence the best of the run.
        report["fma_peak"] = {count: max(peak[count] for peak in self.peaks) for count in self.peaks[0]}
        if self.bandwidths:
            report["bandwidth"] = {n: max(each[n] for each in self.bandwidths) for n in self.bandwidths[0]}
        cases = {case.name: case for case in self.section.cases}
        for record in report["cases"]:
            self.share_of_machine(record)
            if "heed" in record:
                record["bars"] = [bar.judged(record) for bar in cases[record["name"]].bars]
        report["disturbance"] = self.session.disturbance
        folder, name = self.options.out, self.section.name
        (folder / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
        text = markdown(report, draw(report, folder))
        (folder / f"{name}.md").write_text(text)
        return text

    def share_of_machine(self, record):
        for entry in record.values():
            if isinstance(entry, dict) and "gflops" in entry:
                entry["of_peak"] = entry["gflops"] / record["fma_peak"]
            if isinstance(entry, dict) and "gigabytes" in entry:
                entry["of_bandwidth"] = entry["gigabytes"] / record["bandwidth"]
        for quantity in ("of_peak", "of_bandwidth"):
            if quantity in record.get("heed", {}):
                record[quantity] = record["heed"][quantity]


def about_cluster(options):
    """What the record of the cluster section has in common with the others."""

    def said_by(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
        except (OSError, subprocess.CalledProcessError, IndexError):
            return f"{command[0]} does not run here"

    with Worker([str(options.heed_bench)]) as heed:
        versions = {"python": platform.python_version(), **heed.ask("version"), "mpi": said_by("mpirun", "--version")}
    return {"command": command_line(), "machine": machine(), "versions": versions}


def main():
    options = arguments()
    sections = options.section or [*SECTIONS, CLUSTER]
    names = chosen(sections, options.only)
    if options.list:
        print("\n".join(name for each in names.values() for name in each))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.update(fast_mkl(options.out))  # for all peers; Heed does not use MKL
    python = options.python or peer_python(options.out / "venv")
    for name in sections:
        if name == CLUSTER and names[name]:
            print(measure_cluster(options, python, names[name], about_cluster(options)))
        elif names[name]:
            session = Session(options, python)
            print(Run(SECTIONS[name], session, options, names[name]).measure(names[name], python))
            session.close()


if __name__ == "__main__":
    main()
