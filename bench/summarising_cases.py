"""The summarising section: training of abs and of the pointer-generator, and the time of one summary, with their bars.

Names are those of bench/summarising: a family and its settings.
"""

from cases import Bar, Case, Lane, Section

TRAINING_WORDS = 1284  # of one repetition: those of the summaries, ends included
MODELS = ("abs", "pointer")


def training(model):
    name = f"summarising-training,model={model}"
    return Case(
        name,
        f"{model}, training",
        words=TRAINING_WORDS,
        lanes=(Lane("eager", "torch", (name,)), Lane("compiled", "compiled", (name,))),
        bars=(
            Bar("speedup", 2, True, "≥ 2 × PyTorch"),
            Bar("memory_ratio", 0.6, False, "≤ 0.6 × PyTorch's peak memory"),
        ),
        steps=3,  # of four updates each
        group="training",
    )


def decoding(model):
    return Case(
        f"summarising-decoding,model={model}",
        f"{model}, a summary of 100 words, beam 5",
        bars=(Bar("microseconds_per_op", 20_000, False, "< 20 ms"),),
        steps=1,
        group="decoding",
        memory=False,
    )


SUMMARISING = Section(
    "summarising",
    "Summarising against PyTorch",
    [*(training(model) for model in MODELS), *(decoding(model) for model in MODELS)],
)
