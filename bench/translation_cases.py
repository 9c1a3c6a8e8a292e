"""The translation section: training and decoding of the models in their small presets, with their bars.

Names are those of bench/translation: a family and its settings.
"""

from cases import Bar, Beside, Case, Lane, Section, running_case, together, training_case

# Words of one repetition, ends included: the target's of bench/translation/work.cpp, and the decoded sources'.
TRAINING_WORDS, DECODED_WORDS = 7114, 1003
MODELS = {"rnnsearch": 2, "luong": 2, "transformer": 1.3, "convs2s": 1.3}  # training's bars


def training(model, factor):
    name = f"translation-training,model={model}"
    return training_case(name, f"{model}, training", TRAINING_WORDS, speedup=factor, memory=0.7)


def decoding(model, sentences):
    name = f"translation-decoding,model={model},sentences={sentences}"
    # Another library's own engine: shown beside, the bar is PyTorch's.
    other = (Lane("ctranslate2", "ctranslate2", (name,), counts=False),) if model == "transformer" else ()
    title = f"{model}, beam 5, {together(sentences)}"
    return running_case(name, title, DECODED_WORDS, "decoding", speedup=3, others=other)


def explaining(model, trace, bars):
    name = f"translation-explaining,model={model},trace="
    return Case(
        name + trace,
        f"{model}, beam 5, a trace of {'the alignment' if trace == 'alignment' else 'all ' + trace}",
        words=DECODED_WORDS,
        beside=(Beside("untraced", name + "none"),),
        bars=bars,
        steps=1,
        group="traces",
        memory=False,
    )


TRACE = Bar("over_untraced", 1.1, False, "≤ 1.1 × without a trace")

TRANSLATION = Section(
    "translation",
    "Translation against PyTorch",
    [
        *(training(model, factor) for model, factor in MODELS.items()),
        *(decoding(model, sentences) for model in MODELS for sentences in (64, 1)),
        *(explaining(model, "alignment", (TRACE,)) for model in MODELS),
        *(explaining(model, "attentions", ()) for model in MODELS),
    ],
)
