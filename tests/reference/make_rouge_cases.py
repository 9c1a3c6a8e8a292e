"""Writes tests/metrics/data/rouge_cases.jsonl: what rouge-score gives for made-up summaries, and stems of words.

Run from the root of the repository with any Python that has rouge-score 0.1.2 and nltk. The first line has words with
their stems; each further line is one case: a summary, its references, and precision, recall and F of each metric with
and without stems. The file stores texts, not seeds.
"""

import json
import pathlib
import random

from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer

WORDS = """the a of police protesters arrested arresting shipyard northern nuclear running runs ran quickly easily flies
dying news sky skies innings proceed exceeded agreed agrees generalization nationally conditional hopefulness radically
analogies apologies geologist logic spied tied tries enjoyed enjoy happy by I'm isn't well-known U.S. 1,000 3.5 mid-2004
café Straße Kelvin naïve İstanbul 2004 B2B e-mail controlled rolling hissing fizzed falling hopping sized troubled
relational rational communism activate effective replacement adoption dependency dogs foxes boxes caress yes yyy yay
says said oed ing ed eed need feed bleed being sing string possibly possibilities usefully fully logi alli""".split()
ODD = ["—", "…", "日本", "привет", "😀", "\u00a0", "\u2028", "_", "'", '"', "--", "\t", "e\u0301", "ﬁne", "ǅ", "ẞ", "K", "ſ", "½", "²"]
BEGINNINGS = "re un in con dis sta cre tr fl agr y ye ay syzy o gl sw ex hy".split()
ENDINGS = """s es ies ied ed ing eed at bl iz ational tional enci anci izer abli bli alli entli eli ousli ization ation
ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic
able ible ant ement ment ent sion tion ion ou ism ate iti ous ive ize e ll l y ly yed ying""".split()


def sentence(chance, length):
    words = []
    for _ in range(length):
        word = chance.choice(WORDS if chance.random() < 0.88 else ODD)
        kind = chance.random()
        words.append(word.upper() if kind < 0.05 else word.capitalize() if kind < 0.15 else word)
    return chance.choice([" ", " ", " ", "  ", ", "]).join(words) + chance.choice([".", "", "!", " ."])


def text(chance):
    lines = [sentence(chance, chance.choice([0, 1, 3, 6, 10, 16])) for _ in range(chance.choice([1, 1, 2, 3, 5]))]
    return "\n".join(lines) + ("\n\n" if chance.random() < 0.1 else "")


def spoiled(chance, whole, share):
    """A summary that shares a part of its words and lines with the text."""
    lines = whole.split("\n")
    if chance.random() < 0.4:
        chance.shuffle(lines)
    result = []
    for line in lines:
        words = [chance.choice(WORDS) if chance.random() < share / 2 else word for word in line.split(" ")
                 if chance.random() > share / 2]
        if chance.random() < share and len(words) > 2:
            i = chance.randrange(len(words) - 1)
            words[i], words[i + 1] = words[i + 1], words[i]
        result.append(" ".join(words))
    return "\n".join(result)


def stems(chance):
    words = {word for word in ("".join(c for c in each.lower() if c.isascii() and c.isalnum()) for each in WORDS) if word}
    for beginning in BEGINNINGS:
        for ending in ENDINGS:
            words.add(beginning + ending)
    letters = "aeiouybdlnstz"
    for _ in range(700):
        words.add("".join(chance.choice(letters) for _ in range(chance.choice([1, 2, 3, 4, 5]))) + chance.choice(ENDINGS))
    stemmer = PorterStemmer()
    return {word: stemmer.stem(word) for word in sorted(words)}


def main():
    chance = random.Random(20261117)
    kinds = ["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]
    scorers = [rouge_scorer.RougeScorer(kinds, use_stemmer=stem) for stem in (False, True)]
    lines = [{"stems": stems(chance)}]
    for number in range(250):
        whole = text(chance)
        references = [spoiled(chance, whole, 0.5) for _ in range(1 + number % 3)]
        summary = spoiled(chance, whole, chance.choice([0, 0.2, 0.5, 0.9]))
        if number % 40 == 7:
            summary = ""
        scores = []
        for scorer in scorers:
            found = scorer.score_multi(references, summary)
            scores.append({kind: [found[kind].precision, found[kind].recall, found[kind].fmeasure] for kind in kinds})
        lines.append({"summary": summary, "references": references, "plain": scores[0], "stemmed": scores[1]})
    path = pathlib.Path("tests/metrics/data/rouge_cases.jsonl")
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    print(f"{len(lines) - 1} cases and {len(lines[0]['stems'])} stems in {path}")


main()
