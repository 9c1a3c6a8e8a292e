"""What is measured, what it must reach, and who does it: the vocabulary of a section, and the engine's section."""

import math
from dataclasses import dataclass, field


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
        return {"bar": self.text, "quantity": self.quantity, "value": value, "met": met}


@dataclass(frozen=True)
class Lane:
    """A peer: `ways` are the names of its cases that do the work, of which the fastest is kept."""

    label: str
    program: str  # torch, compiled, jax, ctranslate2
    ways: tuple
    counts: bool = True  # false: shown beside, neither compared by its numbers nor the peer of the bars
    compared: bool = True  # false: the peer of the bars, whose numbers are rounded in a way of its own


@dataclass(frozen=True)
class Beside:
    """Another case of Heed's measured in turn with this one, which should take `share` of its time and memory."""

    label: str
    name: str
    share: float = 1


@dataclass(frozen=True)
class Case:
    name: str  # in heed_bench
    title: str
    flops: float = 0  # of one repetition; 0 where memory and not arithmetic is the limit
    words: int = 0  # of a repetition, where words a second are told
    bytes: float = 0  # read from memory in one repetition, where that is the limit
    lanes: tuple = ()
    bare: str = ""  # heed_bench's case that calls oneDNN directly
    beside: tuple = ()
    operations: int = 1  # recorded ops in one repetition
    bars: tuple = ()
    tolerance: float = 1e-4  # of the compared numbers, relative to their size
    steps: int = 3  # compared; more than one where a step depends on the last
    patience: float = math.inf  # a peer so many times slower than the fastest is timed once: it cannot be the best
    group: str = ""  # the row of the bars' table this belongs to
    memory: bool = True  # whether its peak is measured


@dataclass(frozen=True)
class Section:
    """A part of the benchmark with a table of its own; its files are <name>.json and <name>.md."""

    name: str
    title: str
    cases: list = field(default_factory=list)


def eager_and_compiled(name):
    return (Lane("eager", "torch", (name,)), Lane("compiled", "compiled", (name,)))


def training_case(name, title, words, speedup=2, memory=0.6, steps=3):
    """A repetition is four updates; the bars are of a model's training in its small preset."""
    return Case(
        name,
        title,
        words=words,
        lanes=eager_and_compiled(name),
        bars=(
            Bar("speedup", speedup, True, f"≥ {speedup} × PyTorch"),
            Bar("memory_ratio", memory, False, f"≤ {memory} × PyTorch's peak memory"),
        ),
        steps=steps,
        group="training",
    )


def running_case(name, title, words, group, speedup=2, others=()):
    """A repetition is one pass over all samples; only its time has a bar."""
    return Case(
        name,
        title,
        words=words,
        lanes=(*eager_and_compiled(name), *others),
        bars=(Bar("speedup", speedup, True, f"≥ {speedup} × PyTorch"),),
        steps=1,
        group=group,
        memory=False,
    )


def together(count):
    return f"{count} together" if count > 1 else "one by one"


def torch_lanes(*ways):
    return (Lane("torch", "torch", ways), Lane("compiled", "compiled", ways))


def engine_case(name, title, flops=0, ways=(), **more):
    return Case(name, title, flops, lanes=torch_lanes(*(ways or (name,))), **more)


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
ENGINE = Section(
    "engine",
    "The engine against PyTorch",
    [
        *(
            engine_case(
                f"matmul-{m}x{n}x{k}",
                f"matrix product {m} × {k} × {n}",
                2 * m * n * k,
                bare=f"bare-matmul-{m}x{n}x{k}",
                bars=(Bar("over_bare", 1.05, False, "≤ 1.05 × bare oneDNN's time"),),
            )
            for m, n, k in [(256, 256, 256), (1024, 1024, 1024), (2048, 2048, 512), (4096, 256, 256), (64, 2048, 512)]
        ),
        engine_case("linear-forward", "linear 2048 × 512 → 2048, forward", 2 * 2048 * 512 * 2048),
        engine_case("linear-training", "linear 2048 × 512 → 2048, forward + backward", 6 * 2048 * 512 * 2048),
        engine_case("layer-norm", "layer norm 4096 × 512, forward + backward"),
        engine_case("softmax", "softmax 2048 × 2048, forward + backward"),
        engine_case("cross-entropy", "cross-entropy 1024 × 32000, smoothed, forward + backward"),
        engine_case("gru", "GRU 64 × 30 × 512, forward + backward", recurrent_flops(3), bars=(RECURRENT,)),
        engine_case("lstm", "LSTM 64 × 30 × 512, forward + backward", recurrent_flops(4), bars=(RECURRENT,)),
        engine_case(
            "transformer",
            "Transformer 3 + 3, d 256, 4096 tokens, training step with Adam",
            transformer_flops(),
            ways=("transformer-fused-attention", "transformer-composed-attention"),
            bars=(
                Bar("speedup", 1.3, True, "≥ 1.3 × PyTorch"),
                Bar("memory_ratio", 0.7, False, "≤ 0.7 × PyTorch's peak memory"),
            ),
            tolerance=1e-3,
        ),
        engine_case("embedding-adam", "embedding 32000 × 512, 4096 ids, backward + Adam (exact)"),
        engine_case("embedding-lazy-adam", "the same with lazy Adam (PyTorch: SparseAdam)"),
        engine_case(
            "op-chain",
            "1000 recorded ops on 64 numbers, forward + backward",
            operations=1000,
            bars=(Bar("microseconds_per_op", 0.5, False, "< 0.5 µs an op"),),
        ),
    ],
)
