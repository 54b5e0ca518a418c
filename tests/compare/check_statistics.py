#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what unit.rank_test and unit.statistics expect against SciPy: check_statistics.py FOLDER

FOLDER is tests/unit/arithmetic. Prints what differs and ends with 1 if anything does; ends with 77 where SciPy is
missing.
"""

import functools
import math
import os
import re
import sys
from fractions import Fraction

SKIPPED = 77

try:
    import numpy
    from scipy import stats
except ImportError as missing:
    print(f"left out: {missing}")
    sys.exit(SKIPPED)

LARGEST = 60 * 60  # n * m, beyond which SciPy takes its time
ALL = numpy.inf


def numbers(text):
    return [float(word) for word in re.split("[, ]", text)]


def next_to(word):
    """A number; followed by + or - the next double."""
    return numpy.nextafter(float(word[:-1]), {"+": ALL, "-": -ALL}[word[-1]]) if word[-1] in "+-" else float(word)


@functools.lru_cache(maxsize=None)
def tail(n, m, u):
    """P(U <= u): what SciPy says of a made-up order of n and m values that has that U."""
    if u >= n * m:
        return 1
    above, rest = divmod(u, n)
    places = [n] * above + ([rest] if rest > 0 else [])
    places += [0] * (m - len(places))
    # One between place - 1 and place is larger than `place` of the first.
    second = numpy.array([place - 0.5 - i / (2.0 * m) * 0.9 for i, place in enumerate(places)])
    result = stats.mannwhitneyu(second, numpy.arange(n, dtype=float), alternative="less", method="exact")
    assert result.statistic == u
    return result.pvalue


def critical(n, m, alpha):
    """The least u with P(U <= u) > alpha. SciPy's P is rounded also where it equals alpha."""
    low, high = 0, n * m
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(n, m, middle) > alpha * (1 + 1e-11) else (middle + 1, high)
    return low


def needed(tests, alpha):
    """Alpha is taken for the decimal that it is written as."""
    fits = (k for k in range(1, 101) if Fraction(tests, math.comb(2 * k, k)) <= Fraction(alpha))
    return next(fits, 0)


def shift(first, second, alpha):
    n, m = len(first), len(second)
    differences = numpy.sort(numpy.subtract.outer(second, first), axis=None)
    c = critical(n, m, alpha)
    place = max(c, 1)
    bounds = differences[place - 1], differences[n * m - place]
    return numpy.median(differences), *bounds, alpha if c > 0 else 1 / math.comb(n + m, n)


def less(first, second, limit):
    """A tie of a difference with the limit, which SciPy counts as a half, counts against rejecting."""
    return tail(len(first), len(second), int(numpy.sum(numpy.subtract.outer(second, first) >= limit)))


def holm(*probabilities):
    adjusted, before = [0.0] * len(probabilities), 0.0
    for rank, index in enumerate(numpy.argsort(probabilities, kind="stable")):
        before = max(before, (len(probabilities) - rank) * probabilities[index])
        adjusted[index] = min(before, 1.0)
    return adjusted


def ranks(count):
    """The lower is the largest with P(B < low) <= 0.025."""
    low = int(stats.binom.ppf(0.025, count, 0.5))
    return (low, count + 1 - low) if low > 0 else ()


def described(values):
    bounds = [numpy.sort(values)[rank - 1] for rank in ranks(len(values))]
    spread = stats.median_abs_deviation(values)
    return len(values), numpy.median(values), *bounds, min(values), max(values), *numpy.percentile(
        values, (5, 95, 99)), spread


def ask(verb, *words):
    """What SciPy says; None for what it takes too long for, or rounds."""
    takes_long = verb in ("tail", "critical") and int(words[0]) * int(words[1]) > LARGEST
    if takes_long or (verb == "critical" and words[2][-1] in "+-"):
        return None
    return {
        "tail": lambda: [tail(*map(int, words))],
        "critical": lambda: [critical(int(words[0]), int(words[1]), float(words[2]))],
        "needed": lambda: [needed(int(words[0]), words[1])],
        "shift": lambda: shift(numbers(words[0]), numbers(words[1]), float(words[2])),
        "less": lambda: [less(numbers(words[0]), numbers(words[1]), next_to(words[2]))],
        "holm": lambda: holm(*map(float, words)),
        "described": lambda: described(numbers(words[0])),
        "ranks": lambda: ranks(int(words[0])),
    }[verb]()


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def cases(folder):
    """A request's words, and the numbers of its answer as they stand there."""
    text = re.sub(r" +#.*", "", read(folder, "rank_test.txt"))
    for request, answer in re.findall(r"(?m)^([a-z].*)\n  (.*)$", text):
        yield request.split(), numbers(re.sub("from |to |at ", "", answer))
    for section in read(folder, "statistics.txt").split("\n[")[1:]:
        verb = {"values_are_described]": "described", "ranks_are_exact]": "ranks"}.get(section.splitlines()[0])
        for given, answer in re.findall(r"(?m)^(.*) -> (.*)$", section) if verb else ():
            yield (verb, given), [float(one) for one in re.findall(r"-?[\d.]+", re.sub(r"p\d+", "", answer))]


def main(folder):
    asked = wrong = 0
    for words, answer in cases(folder):
        expected = ask(*words)
        asked += expected is not None
        if expected is not None and not (len(answer) == len(expected) and all(
                math.isclose(value, right, rel_tol=1e-11, abs_tol=1e-300) for value, right in zip(answer, expected))):
            wrong += 1
            print(f"{' '.join(words)[:300]}\n    expects {answer}\n    not     {expected}", file=sys.stderr)
    print(f"{asked} answers, {wrong} wrong")
    return 1 if wrong or asked < 200 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
