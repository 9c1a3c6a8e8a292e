"""The captioning section: training of the decoder and beams of captions in the small preset, with their bars.

Names are those of bench/captioning: a family and its settings. The encoder is bench/eye/encoder.py's.
"""

from cases import Bar, Case, Lane, Section

TRAINING_WORDS = 3203  # of one repetition, ends included
IMAGES = 64  # of one repetition of writing


def lanes(name):
    return (Lane("eager", "torch", (name,)), Lane("compiled", "compiled", (name,)))


def training():
    name = "captioning-training,model=show-attend-tell"
    return Case(
        name,
        "show-attend-tell, training",
        words=TRAINING_WORDS,
        lanes=lanes(name),
        bars=(
            Bar("speedup", 2, True, "≥ 2 × PyTorch"),
            Bar("memory_ratio", 0.6, False, "≤ 0.6 × PyTorch's peak memory"),
        ),
        steps=3,  # of four updates each
        group="training",
    )


def writing(images):
    name = f"captioning-writing,model=show-attend-tell,images={images}"
    together = f"{images} together" if images > 1 else "one by one"
    return Case(
        name,
        f"show-attend-tell, beam 5, {together}",
        words=IMAGES,
        lanes=lanes(name),
        bars=(Bar("speedup", 2, True, "≥ 2 × PyTorch"),),
        steps=1,
        group="writing",
        memory=False,
    )


CAPTIONING = Section("captioning", "Captioning against PyTorch", [training(), writing(64), writing(1)])
