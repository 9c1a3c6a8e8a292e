"""The captioning section: training of the decoder and beams of captions in the small preset, with their bars.

Names are those of bench/captioning: a family and its settings. The encoder is bench/eye/encoder.py's.
"""

from cases import Section, running_case, together, training_case

MODEL = "show-attend-tell"
TRAINING_WORDS = 3203  # of one repetition, ends included
IMAGES = 64  # of one repetition of writing


def writing(images):
    name = f"captioning-writing,model={MODEL},images={images}"
    return running_case(name, f"{MODEL}, beam 5, {together(images)}", IMAGES, "writing")


CAPTIONING = Section(
    "captioning",
    "Captioning against PyTorch",
    [
        training_case(f"captioning-training,model={MODEL}", f"{MODEL}, training", TRAINING_WORDS),
        writing(64),
        writing(1),
    ],
)
