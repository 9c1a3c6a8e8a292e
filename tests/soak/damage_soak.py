#!/usr/bin/env python3
"""Damages model folders and counts what came of it; another output without an error is a failure.

    damage_soak.py [HEED] [--short] [--seed N]

Bits that flip, files that are cut off, zeroed in parts, lengthened, exchanged, missing, of another model or folders;
headers of safetensors that lie; JSON that is deep, large or of other types. With --verify a damaged model must give the
output of the undamaged one or an error; without it only damage to the numbers of the weights may go unseen, and is
counted. It goes on for SOAK_MINUTES (10), or with --short for a few of each kind. Needs Python's standard library.
"""

import json
import random
import shutil
import struct
import tempfile
import time
from pathlib import Path

from soaking import arguments, counts, fail, must, report, run, training

# What is not read when a model runs.
LOGS = ("train.jsonl", "curve.svg")


def flip_bit(file, chance):
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def cut_off(file, chance):
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data))])


def zero_part(file, chance):
    data = bytearray(file.read_bytes())
    begin = chance.randrange(len(data))
    end = min(len(data), begin + chance.choice([1, 16, 4096]))
    data[begin:end] = bytes(end - begin)
    file.write_bytes(data)


def lengthen(file, chance):
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.choice([1, 8, 4096])))


def remove(file, chance):
    file.unlink()


def make_folder(file, chance):
    file.unlink()
    file.mkdir()


def lie_in_header(file, chance):
    """The header of a safetensors file says something else about its tensors."""
    data = file.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header, rest = json.loads(data[8:8 + length]), data[8 + length:]
    names = [name for name in header if name != "__metadata__"]
    one, two = chance.sample(names, 2)
    lie = chance.randrange(6)
    if lie == 0:
        header[one], header[two] = header[two], header[one]
    elif lie == 1:
        header[one]["shape"] = [size * chance.choice([0, 2, 1 << 40]) for size in header[one]["shape"]]
    elif lie == 2:
        header[one]["data_offsets"] = header[two]["data_offsets"]
    elif lie == 3:
        header[one]["dtype"] = chance.choice(["F64", "F16", "BF16", "I32", "NONE"])
    elif lie == 4:
        header[one + "?"] = header.pop(one)
    else:
        header[one]["shape"] = header[one]["shape"][::-1]
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text) if chance.random() < 0.9 else chance.getrandbits(63)) + text + rest)


def spoil_json(file, chance):
    """A value somewhere in the JSON becomes another."""
    whole = json.loads(file.read_text())
    places = []

    def walk(value):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])

    walk(whole)
    value, key = chance.choice(places)
    deep = json.loads("[" * 500 + "]" * 500)
    value[key] = chance.choice([deep, "text", 1_000_000, -1, 1.5, None, True, [], {}, 10**30, "x" * 100_000])
    file.write_text(json.dumps(whole))


def nest_deep(file, chance):
    depth = chance.choice([17, 1000, 40_000, 1_000_000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}")])
    middle = opening * depth + ("1" if closing == "}" else "") + closing * depth
    file.write_text('{"version": 1, "model": "transformer", "config": ' + middle + "}")


def exchange(folder, other, chance):
    """Two files of the folder change places, or one comes from another model."""
    names = sorted(each.name for each in folder.iterdir() if each.is_file() and each.name not in LOGS)
    if chance.random() < 0.5:
        one, two = chance.sample(names, 2)
        (folder / one).rename(folder / "aside")
        (folder / two).rename(folder / one)
        (folder / "aside").rename(folder / two)
        return f"{one} and {two}"
    name = chance.choice(names)
    shutil.copy(other / name, folder / name)
    return f"{name} of another model"


def damage(folder, other, chance):
    """One damage; its kind, the file, and whether only numbers of the weights can have changed."""
    kinds = [flip_bit, cut_off, zero_part, lengthen, remove, make_folder]
    files = sorted(each for each in folder.iterdir() if each.is_file() and each.name not in LOGS)
    kind = chance.randrange(10)
    if kind < 6:
        # Weights are the largest, so they are hit as often as all others together.
        file = folder / "model.safetensors" if chance.random() < 0.5 else chance.choice(files)
        kinds[kind](file, chance)
        return kinds[kind].__name__, file.name, file.name == "model.safetensors"
    if kind == 6:
        lie_in_header(folder / "model.safetensors", chance)
        return "lie_in_header", "model.safetensors", True
    if kind == 7:
        what = exchange(folder, other, chance)
        return "exchange", what, what.startswith("model.safetensors")
    file = chance.choice([each for each in files if each.suffix == ".json"])
    (spoil_json if kind == 8 else nest_deep)(file, chance)
    return ("spoil_json" if kind == 8 else "nest_deep"), file.name, False


def main():
    given = arguments(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model, seed in (("model", 1), ("other", 2)):
            must(*training(folder, given.heed, seed), "--output", folder / model)
        sentences = folder / "sentences"
        sentences.write_text("".join((folder / "corpus/test.en").read_text().splitlines(keepends=True)[:5]))

        def output(model, *options):
            done = run(given.heed, "translate", model, sentences, "--threads", "1", "--scores", *options)
            if done.returncode > 1:
                fail(f"exit code {done.returncode}: {done.stderr}")
            if done.returncode != 0 and not done.stderr.startswith("heed: "):
                fail(f"no error is said: {done.stderr!r}")
            return done.stdout if done.returncode == 0 else None

        right = output(folder / "model", "--verify")
        seed = given.seed
        while seed < given.seed + (60 if given.short else 800) or (not given.short and time.monotonic() < given.end):
            chance = random.Random(seed)
            model = folder / "damaged"
            shutil.copytree(folder / "model", model)
            kind, where, weights = damage(model, folder / "other", chance)
            what = f"seed {seed}, {kind} in {where}"
            counts["damaged folders"] += 1
            counts[f"of kind {kind}"] += 1
            verified, plain = output(model, "--verify"), output(model)
            counts["seen with --verify"] += verified is None
            counts["seen without"] += plain is None
            if verified not in (None, right):
                fail(f"{what}: another output though it was verified")
            if plain not in (None, right):
                counts["other outputs without --verify, all of damaged weights"] += 1
                if not weights:
                    fail(f"{what}: another output")
            if seed % 8 == 0:
                counts["resumed"] += 1
                done = run(given.heed, "train", "--resume", "--output", model, "--steps", "25")
                if done.returncode > 1:
                    fail(f"{what}: resuming ended with {done.returncode}: {done.stderr}")
            shutil.rmtree(model)
            seed += 1
    report()


if __name__ == "__main__":
    main()
