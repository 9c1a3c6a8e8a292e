"""Writes tests/metrics/data/caption_cases.jsonl: what pycocoevalcap gives for made-up captions.

Run from the root of the repository with any Python that has pycocoevalcap 1.2, and with Java for its tokeniser. The
first line has captions as people write them with their tokens; each further line is one case: captions of tokens with
their references, and the scores of each and of all. Plain CIDEr is that of Vedantam's first code, which does not clip
counts and knows no length. The file stores captions, not seeds.
"""

import json
import math
import pathlib
import random

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

WORDS = "a a a the the on in of man woman dog two children beach red ball grass riding bike is are with and".split()
WRITTEN = """A man's dog isn't here it's can't cannot they're gonna wanna I'd we've she'll t-shirt 3-4 U.S. Mr. Dr. 10:30
1/2 #tag $5.50 50% 1,000 (left) [right] {both} "red" 'blue' ball, beach; grass: bike -- and ... well-known two-year-old
St. 1960's '80s p.m. children's girls' up/down A.M. what?! no!! yes! & café Straße""".split()


def caption(chance):
    return " ".join(chance.choice(WORDS) for _ in range(chance.choice([1, 2, 3, 4, 6, 8, 10, 14])))


def spoiled(chance, text):
    words = [chance.choice(WORDS) if chance.random() < 0.3 else word for word in text.split() if chance.random() > 0.15]
    return " ".join(words) or "a"


def written(chance):
    words = [chance.choice(WRITTEN if chance.random() < 0.4 else WORDS) for _ in range(chance.choice([3, 6, 10]))]
    return " ".join(words).capitalize() + chance.choice([".", "", " .", "!"])


def plain_cider(references, captions):
    """sum c r / (|c| |r|) for n = 1..4, mean over n and references, times 10."""
    scorer = CiderScorer()
    for key in captions:
        scorer += (captions[key][0], references[key])
    scorer.compute_doc_freq()
    images = math.log(len(scorer.crefs))

    def vector(counts, n):
        return {gram: count * (images - math.log(max(1.0, scorer.document_frequency[gram])))
                for gram, count in counts.items() if len(gram) == n}

    scores = []
    for test, refs in zip(scorer.ctest, scorer.crefs):
        total = 0
        for ref in refs:
            for n in range(1, 5):
                c, r = vector(test, n), vector(ref, n)
                value = sum(c[gram] * r.get(gram, 0.0) for gram in c)
                norms = math.sqrt(sum(x * x for x in c.values())) * math.sqrt(sum(x * x for x in r.values()))
                total += value / norms if norms else value
        scores.append(10 * total / 4 / len(refs))
    return scores


def main():
    chance = random.Random(20261117)
    texts = [written(chance) for _ in range(150)]
    # Whether "a." at the end of a caption is a word and a full stop, Stanford's tokeniser decides by the next caption.
    texts = [text for text in texts if not text.lower().endswith(" a.")]
    # The last word of the last caption is cut wrongly by this version: a caption that is not recorded comes last.
    tokens = PTBTokenizer().tokenize({i: [{"caption": text}] for i, text in enumerate(texts + ["the end"])})
    lines = [{"written": texts, "tokens": [tokens[i][0] for i in range(len(texts))]}]
    for number in range(40):
        references, captions = {}, {}
        for image in range(chance.choice([1, 2, 5, 12])):
            whole = caption(chance)
            references[image] = [spoiled(chance, whole) for _ in range(1 + (number + image) % 5)]
            captions[image] = [spoiled(chance, whole)]
        bleu, each_bleu = Bleu(4).compute_score(references, captions, verbose=0)
        rouge, each_rouge = Rouge().compute_score(references, captions)
        cider, each_cider = Cider().compute_score(references, captions)
        lines.append({"captions": [captions[i][0] for i in captions], "references": [references[i] for i in references],
                      "bleu": list(map(float, bleu)), "bleu4_of_each": list(map(float, each_bleu[3])),
                      "rouge": float(rouge), "rouge_of_each": list(map(float, each_rouge)),
                      "cider_d": float(cider), "cider_d_of_each": list(map(float, each_cider)),
                      "cider_of_each": plain_cider(references, captions)})
    path = pathlib.Path("tests/metrics/data/caption_cases.jsonl")
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    print(f"{len(lines) - 1} cases and {len(texts)} captions in {path}")


main()
