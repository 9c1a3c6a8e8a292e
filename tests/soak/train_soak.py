#!/usr/bin/env python3
"""Kills trainings and counts what came of it; weights that differ from those of a training left alone are a failure.

    train_soak.py [HEED] [--short] [--seed N]

Killed before and after every rename that a training makes, and at random moments, several times in a row; two
trainings into one folder. After every kill the folder must verify (`heed info --verify`), and resuming must end with
the same bytes. It goes on for SOAK_MINUTES (10), or with --short for a few windows and moments. Needs Python's standard
library and a C compiler.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from soaking import ROOT, arguments, counts, fail, must, report, run, training


class Attack:
    def __init__(self, heed, folder):
        self.heed, self.folder = heed, folder
        self.words = training(folder, heed)
        self.library = folder / "kill_at_rename.so"
        must("cc", "-shared", "-fPIC", "-O1", "-o", self.library, ROOT / "tests/soak/kill_at_rename.c", "-ldl")
        renames = folder / "renames"
        began = time.monotonic()
        must(*self.words, "--output", folder / "alone", env=self.preloaded(RENAMES=renames))
        self.seconds = time.monotonic() - began
        self.weights = (folder / "alone/model.safetensors").read_bytes()
        self.renames = renames.read_text().splitlines()
        print(f"alone: {self.seconds:.2f} s, {len(self.renames)} renames", flush=True)

    def preloaded(self, **variables):
        return {**os.environ, "LD_PRELOAD": str(self.library), **{name: str(value) for name, value in variables.items()}}

    def next_folder(self):
        counts["folders"] += 1
        return self.folder / f"model{counts['folders']}"

    def check_killed(self, model, what):
        """What a kill left: nothing, or a folder in which every file is whole."""
        if not (model / "config.json").exists():
            counts["kills before there was a folder"] += 1
            return
        found = run(self.heed, "info", model, "--verify")
        if found.returncode != 0:
            fail(f"{what}: the folder does not verify: {found.stdout}{found.stderr}")
        counts["kills in which a replacement was not finished"] += "was not finished" in found.stdout
        if (model / "model.safetensors").exists():
            counts["models run after a kill"] += 1
            done = run(self.heed, "translate", model, "the cat sleeps", "--verify")
            if done.returncode != 0:
                fail(f"{what}: the model does not run: {done.stderr}")

    def go_on(self, model):
        if (model / "config.json").exists():
            return [self.heed, "train", "--resume", "--output", model]
        return [*self.words, "--output", model]

    def check_end(self, model, what):
        """Resumed to its end, the training must be the one that was left alone."""
        done = run(*self.go_on(model))
        if done.returncode != 0:
            return fail(f"{what}: it does not go on: {done.stderr}")
        counts["weights compared"] += 1
        if (model / "model.safetensors").read_bytes() != self.weights:
            fail(f"{what}: other weights than those of a training left alone")
        verified = run(self.heed, "info", model, "--verify")
        if verified.returncode != 0 or "finished" in verified.stdout or ".partial" in verified.stdout:
            fail(f"{what}: at the end: {verified.stdout}{verified.stderr}")
        shutil.rmtree(model)

    def at_rename(self, number, moment):
        what = f"killed {moment} rename {number}, to {self.renames[number - 1]}"
        model = self.next_folder()
        done = run(*self.words, "--output", model, env=self.preloaded(KILL_AT=f"{number} {moment}"))
        if done.returncode != -signal.SIGKILL:
            return fail(f"{what}: it was not killed: {done.returncode} {done.stderr}")
        counts[f"kills {moment} a rename"] += 1
        self.check_killed(model, what)
        self.check_end(model, what)

    def at_random(self, chance):
        model = self.next_folder()
        for _ in range(chance.randint(1, 4)):
            process = subprocess.Popen(list(map(str, self.go_on(model))), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 1.2 * self.seconds))
            process.kill()
            process.wait()
            counts["kills at random"] += 1
            self.check_killed(model, "killed at random")
        self.check_end(model, "killed at random")

    def two_at_once(self, chance, options):
        """One of them trains, the other is told so; with --force the later may replace what the other has finished."""
        model = self.next_folder()
        both = []
        for _ in range(2):
            both.append(subprocess.Popen(list(map(str, [*self.words, *options, "--output", model])),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
            time.sleep(chance.choice([0, 0, 0.01, 0.1, self.seconds / 2]))
        said = [process.communicate()[1] for process in both]
        ended = sum(process.returncode == 0 for process in both)
        counts["two trainings into one folder"] += 1
        counts["trainings refused"] += 2 - ended
        refusals = ("in use by another training", "there is a model already", "which was not there before")
        for process, text in zip(both, said):
            if process.returncode != 0 and not any(refusal in text for refusal in refusals):
                fail(f"two at once: {process.returncode} {text}")
        if ended == 0 or (ended == 2 and not options):
            fail(f"two at once: {ended} of them ended well: {said}")
        self.check_end(model, "two at once")


def main():
    given = arguments(__doc__)
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        attack = Attack(given.heed, Path(name))
        windows = [(number + 1, moment) for number in range(len(attack.renames)) for moment in ("before", "after")]
        print(f"{len(windows)} windows around renames", flush=True)
        for number, moment in chance.sample(windows, 6) if given.short else windows:
            attack.at_rename(number, moment)
        rounds = 0
        while rounds < 1 or (not given.short and time.monotonic() < given.end):
            rounds += 1
            for _ in range(2 if given.short else 10):
                attack.at_random(chance)
            for options in ([], ["--force"]):
                attack.two_at_once(chance, options)
    report()


if __name__ == "__main__":
    main()
