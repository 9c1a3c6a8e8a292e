"""Writes tests/metrics/data/metric_cases.jsonl: what sacreBLEU gives for made-up translations.

Run from the root of the repository with any Python that has sacrebleu 2.x. Each line is one case: sentences with their
references, the options, and the scores. The file stores sentences, not seeds.
"""

import json
import pathlib
import random

from sacrebleu.metrics import BLEU, CHRF

WORDS = {
    "de": "der die das ein eine kleiner alter Hund Garten läuft über Straße und schläft müde grün Äpfel Öl ist nicht "
          "größer als früher ÜBER Maß".split(),
    "fr": "le la l'homme n'est pas très élégant où garçon déjà cœur aujourd'hui ÉCOLE vieux jardin et chien".split(),
    "ru": "старый дом стоит у реки Москва не спит и ждёт ЗИМУ".split(),
    "el": "το σπίτι είναι ΜΕΓΑΛΟ και παλιό δίπλα στη θάλασσα".split(),
    "ja": "犬が庭で寝ている。 東京は 大きい 町 です。 「はい」 と 言った、".split(),
}
MARKS = [".", ",", "!", "?", ";", ":", "...", "--", "-", "(", ")", '"', "'", "„", "“", "…", "–", "/", "%", "$", "€", "&",
         "<b>", "</b>", "<skipped>", "[x]", "{y}", "~", "^", "a_b", "#1", "@home", "*", "+", "=", "|", "\\", "`"]
NUMBERS = ["1,000.5", "3.14", ".5", "7.", "1.000,-", "10-20", "2-", "-2", "19.", "5%", "8:30", "1/2", "3.a", "a.3", "12,b"]
ENTITIES = ["&amp;", "&quot;", "&lt;", "&gt;", "&amp;lt;", "&amp;quot;", "&nbsp;", "R&D", "&quot;so&quot;"]
ODD = ["E-Mail", "z.B.", "u.s.w.", "well-known", "it's", "co-op,", "(sic)", "\"x\"", "naïve", "😀", "a\u00a0b", "c\u3000d",
       "e\u0301", "\u2028", "\u200b", "x.,y", "..", ",,", "'tis", "I.B.M."]


def sentence(chance, language, length):
    words = []
    for _ in range(length):
        kind = chance.random()
        pool = (WORDS[language] if kind < 0.66 else MARKS if kind < 0.8 else NUMBERS if kind < 0.88
                else ENTITIES if kind < 0.94 else ODD)
        word = chance.choice(pool)
        # Marks also stand right behind the word before them.
        if words and pool is MARKS and chance.random() < 0.7:
            words[-1] += word
        else:
            words.append(word)
    return (" " if chance.random() < 0.9 else "  ").join(words) + (" " if chance.random() < 0.1 else "")


def spoiled(chance, text, language, share):
    """A translation that shares a part of its words with the reference."""
    words = text.split(" ")
    result = []
    for word in words:
        kind = chance.random()
        if kind < share / 3:
            continue
        if kind < share * 2 / 3:
            word = chance.choice(WORDS[language])
        result.append(word)
        if kind > 1 - share / 5:
            result.append(word)
    if chance.random() < share and len(result) > 3:
        i = chance.randrange(len(result) - 1)
        result[i], result[i + 1] = result[i + 1], result[i]
    if chance.random() < 0.1:
        result = [word.upper() if chance.random() < 0.3 else word for word in result]
    return " ".join(result)


def corpora(chance):
    for language in WORDS:
        for references in (1, 2, 3):
            for sentences, share in ((1, 0.2), (6, 0.4), (12, 0.15), (4, 0.9)):
                pairs = []
                for _ in range(sentences):
                    reference = sentence(chance, language, chance.choice([1, 2, 3, 5, 8, 13, 21]))
                    others = [spoiled(chance, reference, language, 0.3) for _ in range(references - 1)]
                    hypothesis = spoiled(chance, reference, language, share) if chance.random() < 0.93 else ""
                    pairs.append((hypothesis, [reference] + others))
                yield pairs
    yield [("", ["nothing was said"])]
    yield [("same words here , all of them", ["same words here , all of them"])]
    yield [("one", ["one"]), ("two", ["two words"])]
    yield [("", [""]), ("a b c d e", ["a b c d e"])]
    yield [("x y z", ["a b c"])]


def main():
    chance = random.Random(20240611)
    tokenizers = ["13a", "13a", "none", "char"]
    smoothings = [("exp", None), ("exp", None), ("floor", None), ("add-k", None), ("none", None), ("floor", 0.5),
                  ("add-k", 2)]
    cases = []
    for number, pairs in enumerate(corpora(chance)):
        hypotheses = [hypothesis for hypothesis, _ in pairs]
        streams = [list(stream) for stream in zip(*[references for _, references in pairs])]
        smoothing, value = smoothings[number % len(smoothings)]
        options = {"tokenize": tokenizers[number % len(tokenizers)], "lowercase": number % 5 == 1,
                   "smooth_method": smoothing, "smooth_value": value}
        bleu = BLEU(**options, force=True)
        score = bleu.corpus_score(hypotheses, streams)
        single = BLEU(**options, force=True, effective_order=True)
        chrf_options = {"word_order": (0, 2, 1)[number % 3], "lowercase": number % 5 == 1,
                        "whitespace": number % 7 == 3, "beta": 2 if number % 11 else 3}
        chrf = CHRF(**chrf_options)
        chrf_score = chrf.corpus_score(hypotheses, streams)
        cases.append({
            "hypotheses": hypotheses,
            "references": [references for _, references in pairs],
            "options": options,
            "bleu": score.score,
            "precisions": score.precisions,
            "brevity_penalty": score.bp,
            "lengths": [score.sys_len, score.ref_len],
            "signature": str(bleu.get_signature()).split("|version")[0],
            "sentence_bleu": [single.sentence_score(h, r).score for h, r in pairs],
            "chrf_options": chrf_options,
            "chrf": chrf_score.score,
            "chrf_name": chrf_score.name,
            "chrf_signature": str(chrf.get_signature()).split("|version")[0],
            "sentence_chrf": [chrf.sentence_score(h, r).score for h, r in pairs],
        })
    path = pathlib.Path("tests/metrics/data/metric_cases.jsonl")
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    print(f"{len(cases)} cases in {path}")


main()
