#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds compare's statistics against SciPy: check_statistics.py PROGRAM

PROGRAM is rank_test_cli, which answers requests line by line. Random cases, the same in every run.
Prints what differs and ends with 1 if anything does; ends with 77 where SciPy is missing.
"""

import functools
import math
import subprocess
import sys

SKIPPED = 77

try:
    import numpy
    from scipy import stats
except ImportError as missing:
    print(f"left out: {missing}")
    sys.exit(SKIPPED)

try:
    from statsmodels.stats.multitest import multipletests
except ImportError:
    multipletests = None

ALPHAS = [0.05, 0.025, 0.02, 0.01, 0.005, 0.001]


def text(values):
    """As many digits as it takes to read the same doubles back."""
    return " ".join(repr(float(value)) for value in values)


def counted(values):
    return f"{len(values)} {text(values)}"


@functools.lru_cache(maxsize=None)
def lower_tail(n, m, u):
    """P(U <= u): what SciPy says of a made-up order of n and m values that has that U."""
    above, rest = divmod(u, n)
    places = [n] * above + ([rest] if rest > 0 else [])
    places += [0] * (m - len(places))
    first = numpy.arange(n, dtype=float)
    # One between first[place - 1] and first[place] is larger than `place` of them.
    second = numpy.array([place - 0.5 - i / (2.0 * m) * 0.9 for i, place in enumerate(places)])
    result = stats.mannwhitneyu(second, first, alternative="less", method="exact")
    assert result.statistic == u
    return result.pvalue


def critical(n, m, alpha):
    """The least u with P(U <= u) > alpha. SciPy's P is rounded also where it equals alpha."""
    low, high = 0, n * m
    while low < high:
        middle = (low + high) // 2
        if lower_tail(n, m, middle) > alpha * (1 + 1e-11):
            high = middle
        else:
            low = middle + 1
    return low


def holm(probabilities):
    if multipletests is not None:
        return multipletests(probabilities, method="holm")[1]
    adjusted = [0.0] * len(probabilities)
    before = 0.0
    for rank, index in enumerate(numpy.argsort(probabilities, kind="stable")):
        before = max(before, (len(probabilities) - rank) * probabilities[index])
        adjusted[index] = min(before, 1.0)
    return adjusted


def interval(values):
    count = len(values)
    low = 0
    while stats.binom.cdf(low, count, 0.5) <= 0.025:  # P(B < low + 1)
        low += 1
    if low == 0:
        return None
    ordered = numpy.sort(values)
    return [low, count + 1 - low, ordered[low - 1], ordered[count - low]]


def shift_case(random, largest, digits):
    """A request and its answer; few digits make ties."""
    n, m = (int(size) for size in random.integers(1, largest + 1, 2))
    alpha = float(random.choice(ALPHAS))
    first = numpy.round(random.normal(0.0, 1.0, n), digits)
    second = numpy.round(random.normal(random.normal(), 1.5, m), digits)
    differences = numpy.sort(numpy.subtract.outer(second, first), axis=None)
    # One of the differences is a tie, which SciPy would count as a half.
    limit = float(random.choice(differences)) if digits < 5 else float(random.normal())
    c = critical(n, m, alpha)
    place = max(c, 1)
    if digits < 5:
        probability = lower_tail(n, m, int(numpy.sum(differences >= limit)))
    else:
        probability = stats.mannwhitneyu(
            second - limit, first, alternative="less", method="exact"
        ).pvalue
    expected = [
        numpy.median(differences),
        differences[place - 1],
        differences[n * m - place],
        alpha if c > 0 else 1 / math.comb(n + m, n),
        probability,
    ]
    return f"shift {alpha!r} {limit!r} {counted(first)} {counted(second)}", expected


def needed(tests, alpha):
    """In whole numbers but for alpha, which is taken for the decimal that it is written as."""
    numerator, denominator = (int(part) for part in alpha_of(alpha))
    for k in range(1, 101):
        if tests * denominator <= numerator * math.comb(2 * k, k):
            return k
    return 0


def alpha_of(alpha):
    digits = repr(alpha).split(".")[1]
    return int(digits), 10 ** len(digits)


def cases(random):
    """Pairs of a request and the numbers to be answered; None for "none"."""
    for _ in range(150):
        yield shift_case(random, 12, 15)
        yield shift_case(random, 9, 1)
    for _ in range(10):
        yield shift_case(random, 30, 15)
    for _ in range(120):
        n, m = (int(size) for size in random.integers(1, 26, 2))
        u = int(random.integers(0, n * m + 1))
        alpha = float(random.choice([*ALPHAS, float(random.uniform(0.0, 0.4))]))
        yield f"probability {n} {m} {u}", [lower_tail(n, m, u)]
        yield f"critical {n} {m} {alpha!r}", [critical(n, m, alpha)]
        yield f"least {n} {m}", [1 / math.comb(n + m, n)]
    yield "probability 60 50 1000", [lower_tail(60, 50, 1000)]
    yield "least 100 100", [1 / math.comb(200, 100)]
    for alpha in ALPHAS:
        for tests in [*range(1, 60), 643, 644, 10**6, 10**9]:
            yield f"needed {tests} {alpha!r}", [needed(tests, alpha)]
    for _ in range(100):
        values = random.lognormal(0.0, 1.0, int(random.integers(1, 200)))
        yield f"median {counted(values)}", [numpy.median(values)]
        yield f"interval {counted(values)}", interval(values)
    for count in range(1, 40):
        values = random.normal(0.0, 1.0, count)
        yield f"interval {counted(values)}", interval(values)
    for _ in range(100):
        values = random.uniform(0.0, 1.0, int(random.integers(1, 40))) ** 3
        values = numpy.round(values, int(random.choice([2, 15])))  # some equal, some not
        yield f"holm {counted(values)}", holm(values)


def agree(answer, expected):
    if expected is None:
        return answer == "none"
    if answer == "none":
        return False
    given = [float(word) for word in answer.split()]
    return len(given) == len(expected) and all(
        math.isclose(value, right, rel_tol=1e-11, abs_tol=1e-300)
        for value, right in zip(given, expected)
    )


def main(arguments):
    if len(arguments) != 1:
        print("usage: check_statistics.py PROGRAM", file=sys.stderr)
        return 2
    asked = list(cases(numpy.random.default_rng(1)))
    requests = "".join(request + "\n" for request, _ in asked)
    run = subprocess.run(arguments, input=requests, capture_output=True, text=True, check=False)
    answers = run.stdout.splitlines()
    print(run.stderr, end="", file=sys.stderr)
    if run.returncode != 0 or len(answers) != len(asked):
        print(f"{len(answers)} answers to {len(asked)} requests", file=sys.stderr)
        return 1
    wrong = 0
    for (request, expected), answer in zip(asked, answers):
        if not agree(answer, expected):
            wrong += 1
            print(f"{request[:300]}\n    gives {answer}\n    not   {expected}", file=sys.stderr)
    print(f"{len(asked)} answers, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
