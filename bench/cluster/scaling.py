"""The cluster section: all-reduces, weak and strong scaling beside PyTorch, and what a model of the cost makes of them."""

import datetime
import json
import os
import statistics
import subprocess
import sys

from cluster.corpus import write_corpus
from cluster.cost import cost_record, gradient_of
from cluster.lanes import BATCH_WORDS, ONE, SLOW, TWO, HeedLane, LaneError, TorchLane, Work, mpirun
from cluster.report import cluster_markdown
from cluster.scaling_figure import draw_scaling
from cluster.slow_network import SlowNetwork, allowed

NAME, TITLE = "cluster", "Training on many machines"
MODELS = ("rnnsearch", "transformer")
ALL_REDUCE = "all-reduce"
SLOW_GIGABITS = 1
TURNS, STEPS = 3, 6  # with --quick: 1, 3
CASES = (ALL_REDUCE, *(f"scaling-{model}" for model in MODELS))


def all_reduces(bench, errors):
    """What all_reduce_bench prints under mpirun for each transport: a JSON object per line and size."""
    rows = []
    for transport in ("shm", "tcp"):
        try:
            program = next(bench.parent.rglob("all_reduce_bench"), None)
            if program is None:
                raise LaneError("all_reduce_bench was not built")
            command, environment = mpirun(transport, 2, [str(program), transport])
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
            if done.returncode != 0:
                raise LaneError(f"all_reduce_bench ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
            rows += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        except (LaneError, subprocess.TimeoutExpired) as error:
            errors.append(f"all-reduce over {transport}: {error}")
    return rows


class Scaling:
    """One model on all lanes, turn by turn. A lane that fails is named once and left out."""

    def __init__(self, work, lanes, network, errors):
        self.work, self.errors, self.running, self.samples = work, errors, {}, {}
        try:
            first = work.first_weights()
        except LaneError as error:
            errors.append(f"{work.model}: {error}")
            self.gradient = None
            return
        self.gradient = gradient_of(first / "model.safetensors", work.source.read_text().splitlines(), BATCH_WORDS)
        for lane in lanes:
            across = network if lane.network == "slow" else None
            self.attempt(lane, lambda: self.begin(lane, first, across))

    def begin(self, lane, first, network):
        made = TorchLane(lane, self.work, first, network) if lane.program == "torch" else HeedLane(lane, self.work, network)
        self.running[lane] = made

    def attempt(self, lane, do):
        try:
            do()
        except LaneError as error:
            self.errors.append(f"{self.work.model}, {lane.name}: {error}")
            if lane in self.running:
                self.running.pop(lane).close()
            self.samples.pop(lane, None)

    def turn(self, steps):
        for lane in list(self.running):
            print(f"{self.work.model}, {lane.name}", file=sys.stderr, flush=True)
            self.attempt(lane, lambda: self.samples.setdefault(lane, []).append(self.running[lane].run(steps)))

    def record(self):
        """The turn of the median speed stands for its lane; the speeds of all turns are kept."""
        lanes = {}
        for lane, samples in self.samples.items():
            speeds = [sample["words_per_second"] for sample in samples]
            middle = statistics.median_low(speeds)
            lanes[lane.name] = {**samples[speeds.index(middle)], "samples": speeds}
        for name, entry in lanes.items():
            one = lanes.get(f"{name.split('-')[0]}-one-none")
            apart = lanes.get(f"{name.split('-')[0]}-weak-apart")
            if one and not name.endswith("-none"):
                entry["efficiency"] = entry["words_per_second"] / (2 * one["words_per_second"])
            if apart and name.startswith(("heed-weak", "torch-weak")) and not name.endswith("-apart"):
                entry["of_apart"] = entry["words_per_second"] / apart["words_per_second"]
        return {"lanes": lanes, "gradient": vars(self.gradient)}

    def versions(self):
        return {"torch": made.version for lane, made in self.running.items() if lane.program == "torch"}

    def close(self):
        for made in self.running.values():
            made.close()


def measure_cluster(options, python, names, about):
    """The section's Markdown; writes its record, page and figure into options.out. `about`: date, command, machine."""
    turns, steps = (1, 3) if options.quick else (min(options.turns, TURNS), STEPS)
    heed = options.heed_bench.resolve().parents[1] / "heed"
    folder = (options.out / "cluster").resolve()
    source, target = write_corpus(folder)
    report = {
        "section": NAME,
        "title": TITLE,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        **about,
        "turns": turns,
        "steps": steps,
        "batch_words": BATCH_WORDS,
        "load": os.getloadavg()[0],
        "slow_gigabits": SLOW_GIGABITS,
        "all_reduce": [],
        "models": {},
        "cases": [],
        "errors": [],
    }
    errors = report["errors"]
    if ALL_REDUCE in names:
        print("all-reduces", file=sys.stderr, flush=True)
        report["all_reduce"] = all_reduces(options.heed_bench.resolve(), errors)
    network = None
    try:
        if reason := allowed():
            raise LaneError(reason)
        network = SlowNetwork(SLOW_GIGABITS)
    except LaneError as error:
        errors.append(f"a network of {SLOW_GIGABITS} Gbit/s: {error}")
    try:
        for model in MODELS:
            if f"scaling-{model}" in names:
                work = Work(model, source, target, folder, heed, python)
                scaling = Scaling(work, [*ONE, *TWO, *(SLOW if network else ())], network, errors)
                try:
                    for _ in range(turns):
                        scaling.turn(steps)
                    report["versions"] |= scaling.versions()
                finally:
                    scaling.close()
                if scaling.gradient:
                    report["models"][model] = scaling.record()
                write(report, options.out)  # an interrupted run leaves what it has
    finally:
        if network:
            network.close()
    return write(report, options.out)


def write(report, out):
    try:
        report["cost"] = cost_record(report)
    except ValueError as error:
        report["cost"] = None
        report["errors"].append(f"the model of the cost: {error}")
    (out / f"{NAME}.json").write_text(json.dumps(report, indent=1) + "\n")
    text = cluster_markdown(report, draw_scaling(report, out))
    (out / f"{NAME}.md").write_text(text)
    return text
