"""The sentence pairs that everybody trains on: made up, all of one length, with rare words that are rare.

Of sentences of many lengths a few batches have more or fewer words than others by chance, which would be taken for a
difference between lanes. So every step of every lane has the same number of words.
"""

import random

WORDS, PAIRS = 7997, 20000  # with the three special ones a vocabulary has 8000 words
LENGTH = 13  # words of a sentence, as in Multi30k on average


def sentence(chance):
    """The frequent words come first, as in bench/translation/work.cpp: the cube of an even spread."""
    return " ".join(f"w{int(chance.random() ** 3 * WORDS)}" for _ in range(LENGTH))


def write_corpus(folder):
    """source and target, the same for every call; both paths."""
    paths = folder / f"corpus{LENGTH}.source", folder / f"corpus{LENGTH}.target"
    if all(path.exists() for path in paths):
        return paths
    chance = random.Random(18)
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        path.write_text("".join(f"{sentence(chance)}\n" for _ in range(PAIRS)))
    return paths
