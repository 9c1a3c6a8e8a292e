"""Writes tests/metrics/data/classification_cases.jsonl: what scikit-learn gives for made-up labels.

Run from the root of the repository with any Python that has scikit-learn 1.x. Each line is one case: the right labels,
those that were given, the options, the report as text and its numbers. The file stores labels, not seeds.
"""

import json
import pathlib
import random
import re
import warnings

from sklearn.metrics import classification_report, confusion_matrix, f1_score

warnings.filterwarnings("ignore")

SETS = [
    ["yes", "no"],
    ["bird", "cat", "dog", "fish"],
    ["entailment", "neutral", "contradiction"],
    ["größer", "Übergröße", "日本語", "猫", "e\u0301t\u00e9", "été", "😀", "Ελλάδα", "שלום"],
    ["a label that is much longer than the names of the averages", "short", "with spaces", "__label__1"],
    [f"class {number}" for number in range(20)],
    [str(number) for number in range(-3, 58)],
    ["A", "a", "B", "b", "Z", "_", "~", "0"],
    ["accuracy", "macro avg", "x"],
]


def drawn(chance, labels, samples, right):
    """Right labels, and given ones of which a part is right; some labels are more frequent than others."""
    weights = [chance.random() ** 2 + 0.01 for _ in labels]
    truth = chance.choices(labels, weights, k=samples)
    return truth, [label if chance.random() < right else chance.choice(labels) for label in truth]


def pairs(chance):
    for labels in SETS:
        for samples, right in ((1, 1), (7, 0.5), (40, 0.8), (130, 0.3)):
            yield drawn(chance, labels, samples, right) + ({},)
    for number in range(40):  # small counts, where ratios lie between two numbers of two digits
        labels = SETS[number % 4][:2 + number % 4]
        yield drawn(chance, labels, 2 ** (1 + number % 6), 0.6) + ({"zero_division": number % 2},)
    for number in range(12):  # labels that are never given, and labels that are never right
        truth, given = drawn(chance, SETS[number % 9], 50, 0.7)
        rare = SETS[number % 9][0]
        if number % 2:
            given = [SETS[number % 9][1] if label == rare else label for label in given]
        else:
            truth = [SETS[number % 9][1] if label == rare else label for label in truth]
        yield truth, given, {"zero_division": number % 3 // 2, "digits": 2 + number % 4}
    for number in range(12):  # a choice of labels, in an order of its own; one of them may never be seen
        labels = SETS[number % 9]
        truth, given = drawn(chance, labels, 30, 0.6)
        chosen = chance.sample(labels, 1 + chance.randrange(len(labels))) + (["unseen"] if number % 3 == 0 else [])
        yield truth, given, {"labels": chosen, "zero_division": number % 2}
    yield ["x", "y"], ["x", "y"], {"labels": ["unseen"]}
    yield ["x", "y"], ["y", "x"], {}
    yield ["x", "x"], ["y", "z"], {}
    yield ["x", "x"], ["y", "z"], {"labels": ["y", "z"], "zero_division": 1}


def report_of(truth, given, options):
    """Where no label at all is right, scikit-learn prints supports as 2.0; they are whole numbers here."""
    return re.sub(r"(\d+)\.0$", r"  \1", classification_report(truth, given, **options), flags=re.MULTILINE)


def main():
    chance = random.Random(20261117)
    cases = []
    for truth, given, options in pairs(chance):
        numbers = classification_report(truth, given, output_dict=True, **options)
        averages = {name: numbers[name] for name in ("micro avg", "macro avg", "weighted avg") if name in numbers
                    and isinstance(numbers[name], dict)}
        case = {"truth": truth, "given": given, "options": options,
                "report": report_of(truth, given, options), "averages": averages}
        if "labels" not in options:
            case["accuracy"] = sum(a == b for a, b in zip(truth, given)) / len(truth)
            case["micro"] = f1_score(truth, given, average="micro")
            case["macro"] = f1_score(truth, given, average="macro")
            if len(set(truth + given)) <= 9:
                case["confusion"] = confusion_matrix(truth, given).tolist()
        cases.append(case)
    path = pathlib.Path("tests/metrics/data/classification_cases.jsonl")
    path.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases))
    print(f"{len(cases)} cases in {path}")


main()
