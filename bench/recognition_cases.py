"""The recognition section: training of the listener in its small preset, with its bars.

Names are those of bench/recognition: a family and its settings. What `words` counts are letters.
"""

from cases import Bar, Case, Lane, Section

LETTERS = 3034  # of one repetition, with the ends


def training(cell, title):
    name = f"recognition-training,cell={cell}"
    return Case(
        name,
        title,
        words=LETTERS,
        lanes=(Lane("eager", "torch", (name,)), Lane("compiled", "compiled", (name,))),
        bars=(
            Bar("speedup", 2, True, "≥ 2 × PyTorch"),
            Bar("memory_ratio", 0.6, False, "≤ 0.6 × PyTorch's peak memory"),
        ),
        steps=1,  # of four updates
        group="training",
    )


RECOGNITION = Section(
    "recognition",
    "Recognition against PyTorch",
    [training("gru", "listener, training"), training("lstm", "listener with LSTM cells, training")],
)
