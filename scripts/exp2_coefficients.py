#!/usr/bin/env python3
"""Coefficients of simd-inl.h's 2^f - 1 ~ f P(f) for |f| <= 1/2 in float, which its tanh is made of.

A Remez exchange for the smallest largest relative error. Prints the coefficients rounded to float, lowest first, and
the error before and after the rounding in units of 2^-24.
Usage: exp2_coefficients.py [degree of P]. Needs mpmath.
"""
import struct
import sys

from mpmath import mp, mpf, cos, expm1, log, lu_solve, matrix, pi

mp.dps = 40
EDGE = mpf("0.5")
GRID = [EDGE * (2 * i + 1 - 2000) / 2000 for i in range(2000)]


def target(f):
    return expm1(f * log(2)) / f


def error(coefficients, f):
    return sum(c * f**k for k, c in enumerate(coefficients)) / target(f) - 1


def fit(degree):
    """The coefficients that level the relative error."""
    free = degree + 1
    points = [EDGE * cos(pi * (2 * i + 1) / (2 * free + 2)) for i in range(free + 1)]
    for _ in range(20):
        a, b = matrix(free + 1, free + 1), matrix(free + 1, 1)
        for i, f in enumerate(points):
            for k in range(free):
                a[i, k] = f**k
            a[i, free] = (-1) ** i * target(f)
            b[i] = target(f)
        x = lu_solve(a, b)
        coefficients = [x[k] for k in range(free)]
        runs = []  # the extremum of each run of one sign
        for f in reversed(GRID):
            e = error(coefficients, f)
            if not runs or (e > 0) != (runs[-1][1] > 0):
                runs.append((f, e))
            elif abs(e) > abs(runs[-1][1]):
                runs[-1] = (f, e)
        while len(runs) > free + 1:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        worst = max(abs(e) for _, e in runs)
        if len(runs) <= free or worst <= abs(x[free]) * mpf("1.0001"):
            break
        points = [f for f, _ in runs]
    return coefficients


def worst(coefficients):
    return float(max(abs(error(coefficients, f)) for f in GRID) * 2**24)


if __name__ == "__main__":
    degree = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    best = fit(degree)
    floats = [mpf(struct.unpack("f", struct.pack("f", float(c)))[0]) for c in best]
    print(*(repr(float(c)) for c in floats), sep="\n")
    print(f"relative error {worst(best):.3f} x 2^-24, as floats {worst(floats):.3f}")
