"""The sentence pairs that everybody trains on: made up, with Multi30k's lengths and rare words that are rare."""

import random

WORDS, PAIRS = 7997, 20000  # with the three special ones a vocabulary has 8000 words
SHORTEST, LONGEST, TYPICAL, SPREAD = 4, 30, 13, 4  # words of a sentence


def sentence(chance, length):
    """The frequent words come first, as in bench/translation/work.cpp: the cube of an even spread."""
    return " ".join(f"w{int(chance.random() ** 3 * WORDS)}" for _ in range(length))


def write_corpus(folder):
    """source and target, the same for every call; both paths."""
    paths = folder / "corpus.source", folder / "corpus.target"
    if all(path.exists() for path in paths):
        return paths
    chance = random.Random(18)
    pairs = []
    for _ in range(PAIRS):
        length = chance.gauss(TYPICAL, SPREAD)
        each = (round(min(LONGEST, max(SHORTEST, length + chance.gauss(0, 1)))) for _ in range(2))
        pairs.append([sentence(chance, words) for words in each])
    folder.mkdir(parents=True, exist_ok=True)
    for path, lines in zip(paths, zip(*pairs)):
        path.write_text("\n".join(lines) + "\n")
    return paths
