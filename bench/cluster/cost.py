"""What a step costs on R ranks: a small model whose numbers are measured, and what it says of networks that are not here.

All-reduce by recursive halving and doubling (Thakur, Rabenseifner, Gropp 2005) sends 2 log2 R messages per bucket and
2 (R-1)/R of the gradient's bytes:

    exchange(R) = 2 log2(R) buckets α + bytes(R) / β
    bytes(R)    = 2 (R-1)/R dense + min(2 (R-1)/R table, (R-1) rows)
    step(R)     = compute + max((1 - h) exchange(R), exchange(R) - backward)

α (seconds per message) and β (bytes per second) are fitted to all-reduces; `rows` are the bytes of the embedding's rows
that a rank's batch has. h is the share of the exchange that hides behind computing. No more can hide than backward
takes, which is taken to be two thirds of computing. Nothing here knows of ranks that are slower than others.
"""

import json
import math
from dataclasses import dataclass, replace

BUCKET = 4 << 20  # bytes that travel together
LARGEST = 4 * BUCKET  # all-reduces that α and β are fitted to: nothing larger travels
BACKWARD = 2 / 3
SPEEDS = (1, 10, 100)  # Gbit/s
NODES = [2**k for k in range(11)]


@dataclass(frozen=True)
class Network:
    latency: float  # α, seconds
    bandwidth: float  # β, bytes per second

    def over(self, gigabits):
        """The same programs with a cable of so many Gbit/s: a byte is handled and then sent."""
        return replace(self, bandwidth=1 / (1 / self.bandwidth + 8e-9 / gigabits))

    def seconds(self, ranks, size, buckets=1, sent=None):
        """Of an all-reduce of `size` bytes, or of so many bytes `sent`."""
        sent = 2 * (ranks - 1) / ranks * size if sent is None else sent
        return 2 * math.log2(ranks) * buckets * self.latency + sent / self.bandwidth


def fitted(rows):
    """The network that fits the measured all-reduces with the least squares of relative errors; the largest of these."""
    used = [row for row in rows if row["bytes"] <= LARGEST]
    a, b = [], []  # seconds = α a + b / β; divided by the seconds, so that small and large ones count alike
    for row in used:
        a.append(2 * math.log2(row["ranks"]) / row["heed_seconds"])
        b.append(2 * (row["ranks"] - 1) / row["ranks"] * row["bytes"] / row["heed_seconds"])
    aa, bb, ab = (sum(x * y for x, y in zip(*pair)) for pair in ((a, a), (b, b), (a, b)))
    determinant = aa * bb - ab * ab
    latency = (sum(a) * bb - sum(b) * ab) / determinant
    per_byte = (sum(b) * aa - sum(a) * ab) / determinant
    if latency <= 0 or per_byte <= 0:
        raise ValueError("the all-reduces do not look like messages of a latency and a bandwidth")
    network = Network(latency, 1 / per_byte)
    errors = [network.seconds(row["ranks"], row["bytes"]) / row["heed_seconds"] - 1 for row in used]
    return network, max(errors, key=abs)


@dataclass(frozen=True)
class Gradient:
    """Bytes that a step's gradients have."""

    dense: float
    table: float  # of the embedding whose gradient is of rows
    rows: float  # of the rows that one rank's batch has of it

    def sent(self, ranks):
        share = 2 * (ranks - 1) / ranks
        return share * self.dense + min(share * self.table, (ranks - 1) * self.rows)

    @property
    def buckets(self):
        return math.ceil(self.dense / BUCKET) + 1  # the rows go alone


def gradient_of(weights, sentences, batch_words):
    """Of a model file and the sentences that its source has. The target's table is the output layer's too, hence dense."""
    with open(weights, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    entries = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
    sizes = {name: end - begin for name, (begin, end) in entries.items()}
    table, width = sizes["source.table"], header["source.table"]["shape"][1]
    counts = {}
    for sentence in sentences:
        for word in sentence.split():
            counts[word] = counts.get(word, 0) + 1
    total = sum(counts.values())
    distinct = sum(1 - (1 - count / total) ** batch_words for count in counts.values())
    return Gradient(sum(sizes.values()) - table, table, distinct * (4 * width + 4))


@dataclass(frozen=True)
class Cost:
    """Of a model on ranks that compute a step in `compute` seconds."""

    compute: float
    gradient: Gradient
    hidden: float

    def exchange(self, network, ranks):
        return network.seconds(ranks, 0, self.gradient.buckets, self.gradient.sent(ranks)) if ranks > 1 else 0.0

    def step(self, network, ranks):
        exchange = self.exchange(network, ranks)
        return self.compute + max((1 - self.hidden) * exchange, exchange - BACKWARD * self.compute)

    def efficiency(self, network, ranks):
        return self.compute / self.step(network, ranks)


def hidden_share(step, compute, exchange):
    """From a measured step: what it takes beyond computing was not hidden."""
    return min(1.0, max(0.0, 1 - (step - compute) / exchange))


def seconds_of_step(entry):
    return entry["seconds"] / entry["steps"]


def cost_record(report):
    """What the model says, from the all-reduces and trainings of a report; None where these are not there.

    The hidden share comes from weak scaling over TCP; every other lane is predicted with it. Computing is what a rank
    takes beside another one that it has nothing to do with: two processes on one machine share its memory and caches.
    """
    by_transport = {}
    for row in report["all_reduce"]:
        by_transport.setdefault(row["transport"], []).append(row)
    if not {"shm", "tcp"} <= by_transport.keys():
        return None
    record = {"networks": {}, "models": {}}
    networks = {}
    for name, rows in by_transport.items():
        networks[name], worst = fitted(rows)
        record["networks"][name] = {**vars(networks[name]), "worst_error": worst}
    networks["slow"] = networks["tcp"].over(report["slow_gigabits"])
    for model, entry in report["models"].items():
        lanes = entry["lanes"]
        if not {"heed-one-none", "heed-weak-apart", "heed-weak-tcp"} <= lanes.keys():
            continue
        gradient = Gradient(**entry["gradient"])
        beside = Cost(seconds_of_step(lanes["heed-weak-apart"]), gradient, 0)
        exchange = beside.exchange(networks["tcp"], 2)
        hidden = hidden_share(seconds_of_step(lanes["heed-weak-tcp"]), beside.compute, exchange)
        checks = {}
        for name, lane in lanes.items():
            program, scaling, network = name.split("-")
            if program == "heed" and network in networks:
                share = lane["words"] / lane["steps"] / (lanes["heed-weak-tcp"]["words"] / lanes["heed-weak-tcp"]["steps"])
                predicted = replace(beside, compute=beside.compute * share, hidden=hidden).step(networks[network], 2)
                checks[name] = {"predicted": predicted, "measured": seconds_of_step(lane), "fitted": name == "heed-weak-tcp"}
        alone = Cost(seconds_of_step(lanes["heed-one-none"]), gradient, hidden)
        curves = {str(speed): [alone.efficiency(networks["tcp"].over(speed), n) for n in NODES] for speed in SPEEDS}
        record["models"][model] = {"hidden": hidden, "exchange": exchange, "checks": checks, "nodes": NODES, "curves": curves}
    return record
