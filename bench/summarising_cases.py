"""The summarising section: training of abs and of the pointer-generator, and the time of one summary, with their bars.

Names are those of bench/summarising: a family and its settings.
"""

from cases import Bar, Case, Section, training_case

TRAINING_WORDS = 1284  # of one repetition: those of the summaries, ends included
MODELS = ("abs", "pointer")


def training(model):
    return training_case(f"summarising-training,model={model}", f"{model}, training", TRAINING_WORDS)


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
