"""What the soaks have in common: how they are called, what they count, and a small model to attack."""

import argparse
import collections
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

counts = collections.Counter()
failures = []


def fail(text):
    failures.append(text)
    print(f"FAILED: {text[:500]}", flush=True)


def arguments(description):
    """The heed command, whether to be brief, and when to end."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    builds = [ROOT / "build" / preset / "heed" for preset in ("release", "dev")]
    found = next((build for build in builds if build.exists()), builds[0])
    parser.add_argument("heed", nargs="?", default=found, help="the command")
    parser.add_argument("--short", action="store_true", help="one small round of each attack")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn by chance")
    given = parser.parse_args()
    given.heed = str(Path(given.heed).resolve())
    given.end = time.monotonic() + 60 * float(os.environ.get("SOAK_MINUTES", "10"))
    return given


def report():
    """Says what was counted; the program ends with 1 if anything failed."""
    found = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{Path(sys.argv[0]).stem}: {found}; {len(failures)} failures", flush=True)
    sys.exit(1 if failures else 0)


def run(*words, **options):
    """The command with its output; it must not be ended by a signal of its own."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", timeout=600, **options)
    if done.returncode < 0 and "env" not in options:
        fail(f"{words} ended by signal {-done.returncode}: {done.stderr[-300:]}")
    return done


def must(*words, **options):
    done = run(*words, **options)
    if done.returncode != 0:
        raise SystemExit(f"{words} ended with code {done.returncode}: {done.stderr}")
    return done


def training(folder, heed, seed=1):
    """A corpus in `folder`, and the words that train a model of it in a second or less, always the same."""
    corpus = folder / "corpus"
    if not corpus.exists():
        must(heed, "corpus", "grammar", corpus, "--pairs", "200")
    size = ["--width", "16", "--feed-forward", "32", "--heads", "2", "--layers", "1", "--decoder-layers", "1"]
    rate = ["--learning-rate", "0.01", "--warm-up", "10", "--batch-words", "256", "--shards", "1", "--threads", "1"]
    often = ["--steps", "24", "--save-every", "6", "--validate-every", "12", "--metrics", "cross-entropy"]
    files = ["--source", corpus / "train.en", "--target", corpus / "train.fr"]
    valid = ["--valid-source", corpus / "valid.en", "--valid-target", corpus / "valid.fr"]
    return [heed, "train", "--model", "transformer", "--vocabulary", "words", *files, *valid, *size, *rate, *often,
            "--seed", str(seed)]
