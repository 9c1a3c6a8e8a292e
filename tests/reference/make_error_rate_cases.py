"""Writes tests/metrics/data/error_rate_cases.jsonl: what jiwer gives for made-up transcripts.

Run from the root of the repository with any Python that has jiwer 4.x. Each line is one case: references with their
hypotheses, the sums of their errors in words and in characters, and the rates. The split into substitutions, deletions
and insertions is not unique, so that only their sum is recorded. The file stores sentences, not seeds.
"""

import json
import pathlib
import random

import jiwer

WORDS = """the cat sat on mat seven one three two open red door now please größer Straße où été 日本語 犬 привет 😀 a an
e\u0301te isn't well-known 3.5 The THE""".split()


def sentence(chance, length):
    # No single tab: jiwer takes it for a part of a word.
    return chance.choice([" ", " ", " ", "  "]).join(chance.choice(WORDS) for _ in range(length))


def spoiled(chance, text, share):
    words = []
    for word in text.split(" "):
        kind = chance.random()
        if kind < share / 3:
            continue
        if kind < share * 2 / 3:
            word = chance.choice(WORDS) if chance.random() < 0.5 else word[:-1] + chance.choice("xyz")
        words.append(word)
        if kind > 1 - share / 3:
            words.append(chance.choice(WORDS))
    return " ".join(words) + chance.choice(["", "", " "])


def main():
    chance = random.Random(20261117)
    lines = []
    for number in range(160):
        references, hypotheses = [], []
        for _ in range(1 + number % 4):
            reference = sentence(chance, chance.choice([1, 2, 4, 8, 15, 30]))
            references.append(reference)
            hypotheses.append("" if chance.random() < 0.04 else spoiled(chance, reference, chance.choice([0, .2, .5, 1])))
        words = jiwer.process_words(references, hypotheses)
        characters = jiwer.process_characters(references, hypotheses)
        lines.append({
            "references": references, "hypotheses": hypotheses, "wer": words.wer, "cer": characters.cer,
            "word_errors": words.substitutions + words.deletions + words.insertions,
            "words": words.hits + words.substitutions + words.deletions,
            "character_errors": characters.substitutions + characters.deletions + characters.insertions,
            "characters": characters.hits + characters.substitutions + characters.deletions})
    path = pathlib.Path("tests/metrics/data/error_rate_cases.jsonl")
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    print(f"{len(lines)} cases in {path}")


main()
