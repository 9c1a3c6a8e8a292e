"""The translation section: training and decoding of the models in their small presets, with their bars.

Names are those of bench/translation: a family and its settings.
"""

from cases import Bar, Beside, Case, Lane, Section, running_case, together, training_case

# Words of one repetition, ends included: the target's of bench/translation/work.cpp, and the decoded sources'.
TRAINING_WORDS, DECODED_WORDS = 7114, 1003
BASE_WORDS = 251  # of the 16 sentences that a model of base size decodes
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


def running(model, sentences, beam, numbers, size="small", speedup=1.3):
    """In full and, of the same weights, in eight bits, beside CTranslate2 where it has the model."""
    sized = "" if size == "small" else f",size={size}"
    name = f"translation-decoding,model={model}{sized},sentences={sentences},beam={beam},numbers="
    how = "in eight bits" if numbers == "int8" else "in full"
    search = f"beam {beam}" if beam > 1 else "greedy"
    title = f"{model}{sized and ' of base size'}, {how}, {search}, {together(sentences)}"
    peer = model == "transformer"
    # Its search ends a batch at one length: its outputs are the same only of sentences alone.
    compared = numbers == "full" and beam == sentences == 1
    beside = (Beside("full", name + "full"),) if numbers == "int8" and not sized else ()
    return Case(
        name + numbers,
        title,
        words=BASE_WORDS if sized else DECODED_WORDS,
        lanes=(Lane("ctranslate2", "ctranslate2", (name + numbers,), compared=compared),) if peer else (),
        beside=beside,
        bars=(
            *((Bar("speedup", speedup, True, f"≥ {speedup} × CTranslate2"),) if peer else ()),
            *((Bar("times_full", 1.6, True, "≥ 1.6 × in full"),) if beside and not peer else ()),
        ),
        steps=1,
        group="running",
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

RUNNING = Section(
    "running",
    "Running small models",
    [
        *(
            running("transformer", sentences, beam, numbers)
            for sentences, beam in ((64, 5), (1, 5), (64, 1), (1, 1))
            for numbers in ("full", "int8")
        ),
        *(
            running("transformer", sentences, beam, "int8", size="base", speedup=1.2)
            for sentences, beam in ((16, 4), (1, 4), (16, 1), (1, 1))
        ),
        *(running(model, sentences, 5, "int8") for model in ("rnnsearch", "luong", "convs2s") for sentences in (64, 1)),
    ],
)
