"""The ways of training that are compared: Heed under mpirun and PyTorch's DistributedDataParallel, on each network."""

import json
import os
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from workers import Worker, WorkerError

PEER = Path(__file__).resolve().parents[1] / "peers/torch_cluster.py"
BATCH_WORDS = 2048  # of one rank in weak scaling, of all in strong
WARM_UP = 2  # steps of a turn that are not counted
PATIENCE = 600  # seconds of a turn

# How Open MPI is told which way messages go.
TRANSPORTS = {"shm": ("--mca", "btl", "^tcp"), "tcp": ("--mca", "btl", "tcp,self")}
# It refuses root otherwise, whom containers often have.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Lane:
    """`network`: none (a process alone), apart (as many that know nothing of each other), shm, tcp or slow."""

    program: str  # heed or torch
    scaling: str  # one, weak, strong
    network: str = "none"
    ranks: int = 2

    @property
    def name(self):
        return f"{self.program}-{self.scaling}-{self.network}"

    @property
    def batch_words(self):
        """Of all ranks together."""
        return BATCH_WORDS * (self.ranks if self.scaling == "weak" else 1)


ONE = [Lane(program, "one", ranks=1) for program in ("heed", "torch")]
TWO = [
    Lane("heed", "weak", "apart"),
    Lane("torch", "weak", "apart"),
    *(Lane("heed", scaling, network) for scaling in ("weak", "strong") for network in ("shm", "tcp")),
    *(Lane("torch", scaling, "tcp") for scaling in ("weak", "strong")),
]
SLOW = [Lane("heed", "weak", "slow"), Lane("torch", "weak", "slow")]


class LaneError(Exception):
    pass


@dataclass(frozen=True)
class Work:
    """A model, its data and the programs that train it."""

    model: str
    source: Path
    target: Path
    folder: Path  # for model folders
    heed: Path
    python: str

    def command(self, batch_words, ranks, steps, output):
        data = ["--source", self.source, "--target", self.target, "--vocabulary", "words", "--vocabulary-size", 8000]
        often = ["--steps", steps, "--show-every", 1, "--validate-every", 0, "--save-every", "1000000u"]
        size = ["--batch-words", batch_words, "--shards", ranks, "--threads", 1]
        words = [self.heed, "train", "--model", self.model, *data, *often, *size, "--output", output, "--force"]
        return [str(word) for word in words]

    def first_weights(self):
        """A model folder with weights and vocabularies, which PyTorch begins with."""
        folder = self.folder / f"{self.model}-first"
        finished([(self.command(BATCH_WORDS, 1, 1, folder), {})])
        return folder


def finished(commands):
    """Runs (command, environment) all at once to their ends."""
    running = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **more})
        for words, more in commands
    ]
    try:
        for (words, _), process in zip(commands, running):
            _, said = process.communicate(timeout=PATIENCE)
            if process.returncode != 0:
                lines = said.strip().splitlines() or ["nothing was said"]
                # What heed says of a fault, among mpirun's many lines.
                line = next((line for line in lines if line.startswith("heed: ")), lines[-1])
                raise LaneError(f"{Path(words[0]).name} ended with code {process.returncode}: {line[:300]}")
    except subprocess.TimeoutExpired:
        raise LaneError(f"it took more than {PATIENCE} s") from None
    finally:
        for process in running:
            process.kill()


def mpirun(transport, ranks, words):
    """The command and its environment."""
    found = shutil.which("mpirun")
    if found is None:
        raise LaneError("there is no mpirun; Debian's package is openmpi-bin")
    return [found, *TRANSPORTS[transport], "-n", str(ranks), *words], AS_ROOT


class HeedLane:
    """Every turn is a training of its own, whose log has a line for each step."""

    def __init__(self, lane, work, network=None):
        self.lane, self.work, self.network = lane, work, network

    def commands(self, steps):
        """By output folder."""
        lane = self.lane
        folders = [self.work.folder / f"{self.work.model}-{lane.name}-{i}" for i in range(lane.ranks)]
        if lane.network in ("none", "apart"):
            one = replace(lane, ranks=1)
            return {folder: (self.work.command(one.batch_words, 1, steps, folder), {}) for folder in folders}
        words = self.work.command(lane.batch_words, lane.ranks, steps, folders[0])
        if lane.network == "slow":
            return {folders[0]: self.network.mpirun(words)}
        return {folders[0]: mpirun(lane.network, lane.ranks, words)}

    def run(self, steps):
        commands = self.commands(steps + WARM_UP)
        try:
            finished(list(commands.values()))
            results = [self.read(folder / "train.jsonl") for folder in commands]
        finally:
            for folder in commands:
                shutil.rmtree(folder, ignore_errors=True)
        return {key: sum(each[key] for each in results) / len(results) for key in results[0]} | {
            "words_per_second": sum(each["words"] / each["seconds"] for each in results)
        }

    def read(self, log):
        """Words, seconds and, where there are several ranks, the share of time in which this one waited for them."""
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        first, *counted = lines[WARM_UP - 1 :]
        result = {
            "words": sum(line["words"] for line in counted),
            "seconds": counted[-1]["seconds"] - first["seconds"],
            "steps": len(counted),
        }
        if self.lane.network in ("shm", "tcp", "slow"):
            if "waiting" not in first:
                raise LaneError("this heed was started by mpirun and trained alone")
            # The log has the share of all time since the beginning.
            waited = counted[-1]["waiting"] * counted[-1]["seconds"] - first["waiting"] * first["seconds"]
            result["waiting"] = waited / result["seconds"]
        return result

    def close(self):
        pass


class TorchLane:
    """Processes that stay and sleep until they are asked."""

    def __init__(self, lane, work, first_weights, network=None):
        self.lane = lane
        together = lane.network in ("tcp", "slow")
        batch_words = lane.batch_words if together else BATCH_WORDS
        words = [work.python, PEER, "--model", work.model, "--folder", first_weights]
        words += ["--source", work.source, "--target", work.target, "--batch-words", batch_words]
        if together:
            words += ["--ranks", lane.ranks, "--meeting", f"{network.address(0) if network else '127.0.0.1'}:{free_port()}"]
        # glibc hands large blocks back to the system at every free; kept ones spare a peer the page faults.
        keeping = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "17179869184"}
        self.workers = []
        for rank in range(lane.ranks):
            mine = [*words, "--rank", rank] if together else words
            if network:
                mine = network.inside(rank, [*mine, "--interface", network.interface(rank)])
            self.workers.append(Worker([str(word) for word in mine], keeping))
        try:
            self.run(WARM_UP)
        except LaneError:
            self.close()
            raise

    def run(self, steps):
        try:
            with ThreadPoolExecutor() as pool:  # the ranks wait for each other, so all are asked at once
                answers = list(pool.map(lambda worker: worker.ask("run", steps, patience=PATIENCE), self.workers))
        except WorkerError as error:
            raise LaneError(f"PyTorch: {error}") from None
        self.version = answers[0]["torch"]
        rates = [answer["words"] / answer["seconds"] for answer in answers]
        total = sum(rates) if self.lane.network == "apart" else rates[0]
        return {"words": answers[0]["words"], "seconds": answers[0]["seconds"], "steps": steps, "words_per_second": total}

    def close(self):
        for worker in self.workers:
            worker.process.kill()  # ranks that wait for each other would wait on
            worker.process.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
