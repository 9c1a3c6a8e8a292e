"""Measuring: Heed and its peers in processes of their own, the same numbers first, then turn by turn."""

import math
import statistics
import time
from pathlib import Path

from workers import Worker, WorkerError, machine_busy_seconds

HERE = Path(__file__).resolve().parent


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


class Contestant:
    """One way of doing a case, in its own process."""

    def __init__(self, label, worker, case_name):
        self.label, self.worker, self.case_name = label, worker, case_name
        self.samples = []
        self.repetitions = 1

    def prepare(self, threads):
        self.worker.ask("prepare", self.case_name, threads)

    def release(self, threads):
        """Gives back the memory of the case."""
        self.worker.ask("prepare", "warm-up", threads)

    def calibrate(self, seconds, clock):
        """Chooses how often a turn repeats; seconds of one repetition."""
        once = self.worker.ask("run", 1)[clock]
        self.repetitions = max(1, min(1000, round(seconds / max(once, 1e-9))))
        return once

    def median(self):
        return statistics.median(self.samples)


class Session:
    """The workers of one run, alternating. Each lane has its own process, started when first needed."""

    # Threads of an OpenMP pool spin for a moment after their last region; the next turn waits until they sleep.
    PAUSE = 0.04

    def __init__(self, options, python):
        self.options = options
        torch = [python, str(HERE / "peers/torch_worker.py")]
        self.commands = {
            "heed": [str(options.heed_bench)],
            "torch": torch,
            "compiled": [*torch, "--compile"],
            "jax": [python, str(HERE / "peers/jax_worker.py")],
            "ctranslate2": [python, str(HERE / "peers/ctranslate2_worker.py")],
        }
        self.shared = {"HEED_BENCH_FOLDER": str(options.out.resolve())}  # where Heed's weights are found
        # glibc hands large blocks back to the system at every free; kept ones spare a peer the page faults.
        self.keeping = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184"}
        self.running = {}
        self.disturbance = {"others": 0.0, "idle_workers": 0.0, "seconds": 0.0}

    def close(self):
        for worker in self.running.values():
            worker.close()

    def worker(self, label, program):
        """The process of a lane; a new one if the last has ended."""
        found = self.running.get((label, program))
        if found is None or found.ended():
            keeping = {} if program == "heed" else self.keeping
            self.running[label, program] = found = Worker(self.commands[program], {**self.shared, **keeping})
        return found

    @property
    def heed(self):
        return self.worker("heed", "heed")

    def sample(self, contestant):
        """One turn. Also notes what the resting workers and the rest of the machine did meanwhile."""
        time.sleep(self.PAUSE)
        resting = [w for w in self.running.values() if w is not contestant.worker and not w.ended()]
        before = [w.cpu_seconds() for w in resting], contestant.worker.cpu_seconds(), machine_busy_seconds()
        begin = time.perf_counter()
        contestant.samples.append(contestant.worker.ask("run", contestant.repetitions)[self.options.clock])
        self.disturbance["seconds"] += time.perf_counter() - begin
        rested = sum(w.cpu_seconds() for w in resting) - sum(before[0])
        worked = contestant.worker.cpu_seconds() - before[1]
        self.disturbance["idle_workers"] += rested
        self.disturbance["others"] += machine_busy_seconds() - before[2] - worked - rested

    def verified(self, contestant, case, threads, reference, compare=True):
        """Prepares, and compares the numbers with Heed's; the trouble in words, or None."""
        try:
            contestant.prepare(threads)
            if not compare:
                return None
            results = contestant.worker.ask("check", case.steps)["results"]
            return first_difference(reference, results, case.tolerance)
        except WorkerError as error:
            return str(error)

    def best_way(self, lane, case, threads, reference, troubles):
        """The fastest of a lane's ways that computes the same numbers, and its time; None if there is none."""
        best, best_time = None, math.inf
        for name in lane.ways:
            contestant = Contestant(lane.label, self.worker(lane.label, lane.program), name)
            if trouble := self.verified(contestant, case, threads, reference, lane.counts and lane.compared):
                troubles.append(f"{lane.label} ({name}): {trouble}")
                continue
            taken = min(contestant.calibrate(self.options.turn, self.options.clock) for _ in range(2))
            if taken < best_time:
                best, best_time = contestant, taken
        if best and best.case_name != lane.ways[-1]:
            best.prepare(threads)
        return best, best_time

    def peers(self, case, threads, reference, troubles):
        """One contestant a lane. Those that cannot be the best are timed here and give their memory back."""
        lively, finished, fastest = [], [], math.inf
        for lane in case.lanes:
            if lane.program == "compiled" and not self.options.compile:
                continue
            contestant, taken = self.best_way(lane, case, threads, reference, troubles)
            if contestant is None:
                self.released(Contestant(lane.label, self.worker(lane.label, lane.program), ""), threads)
                continue
            fastest = min(fastest, taken) if lane.counts else fastest
            lively.append((contestant, taken))
            for other, time_of_other in [pair for pair in lively if pair[1] > case.patience * fastest]:
                self.sample(other)
                self.released(other, threads)
                finished.append(other)
                lively.remove((other, time_of_other))
        return [contestant for contestant, _ in lively], finished

    @staticmethod
    def released(contestant, threads):
        try:
            contestant.release(threads)
        except WorkerError:
            pass  # it ended; the next case starts another

    def measure(self, case, threads):
        record = {"name": case.name, "title": case.title, "group": case.group, "threads": threads, "errors": []}
        heed = Contestant("heed", self.heed, case.name)
        try:
            heed.prepare(threads)
            reference = heed.worker.ask("check", case.steps)["results"]
        except WorkerError as error:
            record["errors"].append(f"heed: {error}")
            return record
        contestants = [heed]
        if case.bare:
            bare = Contestant("bare", self.worker("bare", "heed"), case.bare)
            trouble = self.verified(bare, case, threads, reference)
            record["errors"] += [f"bare: {trouble}"] if trouble else []
            contestants += [] if trouble else [bare]
        lively, finished = self.peers(case, threads, reference, record["errors"])
        # A case whose numbers disagree with everyone's is not timed.
        if case.lanes and record["errors"] and not lively and not finished and len(contestants) < 2:
            return record
        for beside in case.beside:
            contestants.append(Contestant(beside.label, self.worker(beside.label, "heed"), beside.name))
            contestants[-1].prepare(threads)
        contestants += lively
        for contestant in contestants:
            contestant.calibrate(self.options.turn, self.options.clock)
        peaks, bandwidths = [], []
        for _ in range(self.options.turns):
            for contestant in contestants:
                self.sample(contestant)
            # What the machine gives moves by a quarter within minutes, so its yardsticks take turns like everyone.
            if case.flops:
                peaks.append(self.fma([threads])[str(threads)])
            if case.bytes:
                bandwidths.append(self.bandwidth([threads])[str(threads)])
        if peaks:
            record["fma_peak"] = statistics.median(peaks)
        if bandwidths:
            record["bandwidth"] = statistics.median(bandwidths)
        for contestant in contestants + finished:
            record[contestant.label] = {
                "case": contestant.case_name,
                "seconds": contestant.median(),
                "fastest": min(contestant.samples),
                "samples": contestant.samples,
                "repetitions": contestant.repetitions,
            }
        for contestant in contestants[1:]:
            self.released(contestant, threads)
        self.compare(record, case)
        if self.options.memory and case.memory:
            self.compare_memory(record, case, threads)
        return record

    def compare(self, record, case):
        seconds = record["heed"]["seconds"]
        record["microseconds_per_op"] = seconds / case.operations * 1e6
        peers = [lane.label for lane in case.lanes if lane.label in record]
        counting = [lane.label for lane in case.lanes if lane.label in record and lane.counts]
        if "torch" in record:  # the engine's peer; the compiled one is reported beside it
            record["speedup"] = record["torch"]["seconds"] / seconds
            if "compiled" in record:
                record["speedup_compiled"] = record["compiled"]["seconds"] / seconds
        elif counting:
            record["best_peer"] = min(counting, key=lambda label: record[label]["seconds"])
            record["speedup"] = record[record["best_peer"]]["seconds"] / seconds
        if "bare" in record:
            record["over_bare"] = seconds / record["bare"]["seconds"]
        for beside in case.beside:
            other = record[beside.label]["seconds"]
            record["over_" + beside.label] = seconds / (beside.share * other)
            record["times_" + beside.label] = other / seconds
        for label in ("heed", "bare", *peers):
            if label in record and case.flops:
                record[label]["gflops"] = case.flops / record[label]["seconds"] * 1e-9
            if label in record and case.words:
                record[label]["words"] = case.words / record[label]["seconds"]
            if label in record and case.bytes:
                record[label]["gigabytes"] = case.bytes / record[label]["seconds"] * 1e-9

    def compare_memory(self, record, case, threads):
        """Of Heed, of the best peer (the engine's: PyTorch), and of what Heed does beside."""
        peer = "torch" if "torch" in record else record.get("best_peer")
        memory = {"heed": self.memory("heed", case.name, threads)}
        if peer:
            program = next(lane.program for lane in case.lanes if lane.label == peer)
            memory[peer] = self.memory(program, record[peer]["case"], threads)
            record["memory_ratio"] = memory["heed"]["grown"] / max(1, memory[peer]["grown"])
        for beside in case.beside:
            memory[beside.label] = self.memory("heed", beside.name, threads)
            record["memory_over_" + beside.label] = memory["heed"]["pool"] / (
                beside.share * memory[beside.label]["pool"]
            )
        record["memory"] = memory

    def memory(self, program, name, threads):
        """Peak resident memory of a fresh process: whole, and beyond what it held before the case."""
        with Worker(self.commands[program], self.shared) as worker:  # with the allocator's own settings, which hold less
            worker.ask("prepare", "warm-up", threads)
            worker.ask("run", 1)
            idle = worker.ask("memory")["resident"]
            worker.ask("prepare", name, threads)
            worker.ask("run", 1)
            worker.ask("settle")  # compiling was not the work
            worker.ask("run", 3)
            answer = worker.ask("memory")
        result = {"peak": answer["peak"], "idle": idle, "grown": answer["peak"] - idle}
        return {**result, "pool": answer["pool"]} if "pool" in answer else result

    def fma(self, thread_counts):
        return {str(threads): self.heed.ask("fma", threads)["gflops"] for threads in thread_counts}

    def bandwidth(self, thread_counts):
        return {str(threads): self.heed.ask("bandwidth", threads)["gigabytes"] for threads in thread_counts}
