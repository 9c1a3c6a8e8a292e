"""The choosing section: training and running of classifiers, entailment and readers in small presets, with their bars.

Names are those of bench/choosing: a family and its settings.
"""

from cases import Section, running_case, together, training_case

SAMPLES = {"han": 128, "self-attentive": 128, "rocktaschel": 256, "aoa": 128}  # of one repetition of training
RUN = 64  # samples of one repetition of running


def training(model):
    return training_case(f"choosing-training,model={model}", f"{model}, training", SAMPLES[model])


def running(model, samples):
    name = f"choosing-running,model={model},samples={samples}"
    return running_case(name, f"{model}, {together(samples)}", RUN, "running")


CHOOSING = Section(
    "choosing",
    "Classification, entailment and reading against PyTorch",
    [
        *(training(model) for model in SAMPLES),
        *(running(model, samples) for model in SAMPLES for samples in (16, 1)),
    ],
)
