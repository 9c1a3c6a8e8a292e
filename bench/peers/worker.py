"""What every peer of heed_bench shares: the same numbers in, the summaries that are compared, the line protocol.

See bench/engine/main.cpp for the commands, bench/attention/settings.h for the names of families.
"""

import ctypes
import gc
import json
import math
import sys
import time

import numpy as np


def mixed(begin, end, seed):
    """bench/engine/case.cpp: MurmurHash3's finaliser over position and seed, its upper 24 bits."""
    with np.errstate(over="ignore"):
        h = np.arange(begin, end, dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return (h ^ (h >> np.uint32(16))) >> np.uint32(8)


def made(shape, dtype, numbers):
    """An array of numbers(begin, end), made in small pieces that leave no trace in the process's memory."""
    result = np.empty(math.prod(shape), dtype)
    for begin in range(0, result.size, 8192):
        end = min(begin + 8192, result.size)
        result[begin:end] = numbers(begin, end)
    return result.reshape(shape)


def filled_array(shape, seed, scale=1.0):
    def numbers(begin, end):
        return (mixed(begin, end, seed).astype(np.float32) / np.float32(8388608) - np.float32(1)) * np.float32(scale)

    return made(shape, np.float32, numbers)


def filled_id_array(shape, seed, bound):
    return made(shape, np.int64, lambda begin, end: mixed(begin, end, seed) % bound)


class Settings:
    """What a family is told: "dot,n=512,causal=1"."""

    def __init__(self, name):
        self.family, *said = name.split(",")
        self.said = dict(word.split("=", 1) for word in said)
        self.read = set()

    def word(self, key, otherwise=""):
        self.read.add(key)
        return self.said.get(key, otherwise)

    def number(self, key, otherwise=0):
        return int(self.word(key, otherwise))

    def real(self, key, otherwise=0.0):
        return float(self.word(key, otherwise))

    def check_all_read(self):
        if unknown := self.said.keys() - self.read:
            raise ValueError(f"the family {self.family} has no setting {', '.join(sorted(unknown))}")


def seed_of(name):
    """A seed that depends on a parameter's name alone (FNV-1a, 32 bits): bench/attention/composition.cpp."""
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def spread_rows(count, n):
    return [i * n // count for i in range(count)]


def summary(array):
    x = np.ascontiguousarray(array).astype(np.float64).reshape(-1)
    n = x.size
    weights = filled_array((n,), 99).astype(np.float64)
    return {
        "count": n,
        "sum": x.sum(),
        "magnitude": np.abs(x).sum(),
        "squares": (x * x).sum(),
        "weighted": (x * weights).sum(),
        "elements": [x[0], x[n // 3], x[n // 2], x[n - 1]],
    }


def timed(step, times):
    step(False)  # the caches are cold after the other worker's turn
    processor, begin = time.process_time(), time.perf_counter()
    for _ in range(times):
        step(False)
    return {"wall": (time.perf_counter() - begin) / times, "processor": (time.process_time() - processor) / times}


def resident_bytes(which):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(which + ":"))


def reset_peak():
    """The peak counts from here, so that making the data does not hide the work."""
    try:
        with open("/proc/self/clear_refs", "w") as switch:
            switch.write("5")
    except OSError:
        pass  # a kernel without it: the peak includes the preparation


class Worker:
    """A peer. `cases` prepare a step by name, `families` by Settings; step(keep) returns results by name if asked."""

    def __init__(self, cases, families):
        self.cases, self.families = cases, families
        self.step = None

    def version(self):
        raise NotImplementedError

    def as_array(self, tensor):
        raise NotImplementedError

    def use(self, threads):
        """Before a case is prepared; forgets what was compiled for the last one."""
        raise NotImplementedError

    def prepared(self, name):
        if "," not in name:
            return self.cases[name]()
        settings = Settings(name)
        if settings.family not in self.families:
            raise ValueError(f"there is no family {settings.family}")
        step = self.families[settings.family](settings)
        settings.check_all_read()
        return step

    def check(self, times):
        results = {}
        for turn in range(1, times + 1):
            for name, tensor in self.step(True).items():
                results[f"{name} of step {turn}"] = summary(self.as_array(tensor))
        return results

    def settled(self):
        """Gives unused memory back; the peak counts from here."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        reset_peak()
        return {"resident": resident_bytes("VmRSS")}

    def answer(self, command, *words):
        if command == "cases":
            return {"cases": sorted(self.cases)}
        if command == "version":
            return self.version()
        if command == "prepare":
            name, threads = words[0], int(words[1])
            self.step = None
            self.use(threads)
            self.step = self.prepared(name)
            return self.settled()
        if command == "settle":
            return self.settled()
        if command == "check":
            return {"results": self.check(int(words[0]) if words else 3)}
        if command == "run":
            return timed(self.step, int(words[0]))
        if command == "memory":
            return {"resident": resident_bytes("VmRSS"), "peak": resident_bytes("VmHWM")}
        raise ValueError(f"unknown command {command}")

    def serve(self):
        replies = sys.stdout
        sys.stdout = sys.stderr  # what libraries print must not disturb the protocol
        for line in sys.stdin:
            try:
                reply = self.answer(*line.split())
            except Exception as error:  # whatever goes wrong in a case is an answer, not the end of the run
                reply = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(reply, default=float), file=replies, flush=True)
