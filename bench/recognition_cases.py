"""The recognition section: training of the listener in its small preset, with its bars.

Names are those of bench/recognition: a family and its settings. What `words` counts are letters.
"""

from cases import Section, training_case

LETTERS = 3034  # of one repetition, with the ends


def training(cell, title):
    return training_case(f"recognition-training,cell={cell}", title, LETTERS, steps=1)


RECOGNITION = Section(
    "recognition",
    "Recognition against PyTorch",
    [training("gru", "listener, training"), training("lstm", "listener with LSTM cells, training")],
)
