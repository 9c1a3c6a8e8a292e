#!/usr/bin/env python3
"""What a trained model is known by, and whether two of them are the same.

    golden.py of <model folder> <trace>    writes the losses of its training and the numbers of a trace as JSON
    golden.py same <expected> <found>      fails, naming each place, unless all that is expected was found

Texts must be equal. Numbers must be near: losses by 2e-5 of themselves, weights and log-probabilities by 2e-4, some
twenty times what adding up in another order changes in ten steps. What was not expected may be there too.
"""

import json
import math
import sys

RELATIVE, ABSOLUTE = 2e-5, 2e-4


def golden(folder, trace_file):
    with open(f"{folder}/train.jsonl", encoding="utf-8") as lines:
        losses = [entry["loss"] for entry in map(json.loads, lines) if "loss" in entry]
    with open(trace_file, encoding="utf-8") as file:
        trace = json.load(file)
    return {
        "losses": [float(f"{loss:.7g}") for loss in losses],
        "source": [token["text"] for token in trace["source"]["tokens"]],
        "target": [token["text"] for token in trace["target"]["tokens"]],
        "log_probabilities": trace["log_probabilities"],
        "alignment": trace.get("alignment", []),  # a system without attention has none
        "attentions": {each["name"]: each["weights"] for each in trace.get("attentions", [])},
    }


def near(expected, found, relative):
    bound = RELATIVE * abs(expected) if relative else ABSOLUTE
    return math.isfinite(found) and abs(expected - found) <= bound


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differences(expected, found, place="", relative=False):
    """Lines that say where the two differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key not in found:
                yield f"{place}/{key}: missing"
            else:
                yield from differences(value, found[key], f"{place}/{key}", relative or key == "losses")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(found)} of them, not {len(expected)}"
        for i, (one, other) in enumerate(zip(expected, found)):
            yield from differences(one, other, f"{place}/{i}", relative)
    elif is_number(expected) and is_number(found):
        if not near(expected, found, relative):
            yield f"{place}: {found}, not {expected}"
    elif expected != found:
        yield f"{place}: {found!r}, not {expected!r}"


def loaded(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    what, first, second = sys.argv[1:]
    if what == "of":
        print(json.dumps(golden(first, second), ensure_ascii=False, separators=(",", ":")))
        return
    found = list(differences(loaded(first), loaded(second)))
    print("\n".join(found[:20]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
