"""The choosing section: training and running of classifiers, entailment and readers in small presets, with their bars.

Names are those of bench/choosing: a family and its settings.
"""

from cases import Bar, Case, Lane, Section

SAMPLES = {"han": 128, "self-attentive": 128, "rocktaschel": 256, "aoa": 128}  # of one repetition of training
RUN = 64  # samples of one repetition of running


def lanes(name):
    return (Lane("eager", "torch", (name,)), Lane("compiled", "compiled", (name,)))


def training(model):
    name = f"choosing-training,model={model}"
    return Case(
        name,
        f"{model}, training",
        words=SAMPLES[model],
        lanes=lanes(name),
        bars=(
            Bar("speedup", 2, True, "≥ 2 × PyTorch"),
            Bar("memory_ratio", 0.6, False, "≤ 0.6 × PyTorch's peak memory"),
        ),
        steps=3,  # of four updates each
        group="training",
    )


def running(model, samples):
    name = f"choosing-running,model={model},samples={samples}"
    together = f"{samples} together" if samples > 1 else "one by one"
    return Case(
        name,
        f"{model}, {together}",
        words=RUN,
        lanes=lanes(name),
        bars=(Bar("speedup", 2, True, "≥ 2 × PyTorch"),),
        steps=1,
        group="running",
        memory=False,
    )


CHOOSING = Section(
    "choosing",
    "Classification, entailment and reading against PyTorch",
    [
        *(training(model) for model in SAMPLES),
        *(running(model, samples) for model in SAMPLES for samples in (16, 1)),
    ],
)
