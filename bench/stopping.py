#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: stopping.py FOLDER...

What the stopping rule (src/measure/sample/stopping.c) would have made of the series of samples in the JSON
files of these folders: where it stops, and how far the median of the samples up to there lies from
the median of the whole series. For series of 20 samples or more, or of 8 or more that lasted 200 ms.
Beside it: the rule without what it says of fewer than 20 samples, or of long ones, and one that asks
for less. A series lasts a fraction of a second: what
drifts more slowly than that, or differs between processes, cannot be seen here.
"""
import glob
import json
import math
import statistics
import sys

LEAST, ENOUGH = 6, 20  # XB_STOP_LEAST_SAMPLES, XB_STOP_MIN_SAMPLES
HALF_WIDTH, SURE = 0.005, 0.001  # XB_STOP_HALF_WIDTH, XB_STOP_SURE_HALF_WIDTH
SURE_S, LONG_S = 0.05, 0.15  # XB_STOP_SURE_S, XB_STOP_LONG_S


def half_width(sample):
    """Of the median's 95 % interval, by the median: docs/measurement.md, Statistics."""
    count = len(sample)
    rank, below = 0, 0.5**count
    while below <= 0.025:
        rank += 1
        below += math.comb(count, rank) * 0.5**count
    ordered = sorted(sample)
    return (ordered[count - rank] - ordered[rank - 1]) / 2 / statistics.median(ordered)


def narrow_enough(series, iterations, sure, long):
    """What half an interval may be wide, with as many samples as there are; 0: they are too few."""
    lasted = iterations * sum(series)
    if len(series) >= ENOUGH:
        return HALF_WIDTH
    if lasted < SURE_S:
        return 0
    return sure if lasted < LONG_S else max(sure, long)


def stop(series, iterations, sure, long):
    """How many samples are taken by a rule that asks for `sure` of few samples, and for `long` of
    those that lasted LONG_S. 0: it takes no few."""
    look = LEAST
    for count in range(LEAST, len(series)):
        narrow = narrow_enough(series[:count], iterations, sure, long)
        if count < look or narrow == 0:
            continue
        if half_width(series[:count]) <= narrow:
            return count
        look = count + (count + 9) // 10
        if count < ENOUGH < look:
            look = ENOUGH
    return len(series)


def rows_of(document):
    yield from document.get("results", []) if document.get("schema") == "xferbench.result" else []
    for process in document.get("processes", []) if isinstance(document.get("processes"), list) else []:
        yield from (process.get("document") or {}).get("results", [])


def read(folders):
    for folder in folders:
        for path in sorted(glob.glob(folder + "/*.json")):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            for row in rows_of(document):
                samples = row.get("samples_s") or []
                iterations = row["details"].get("iterations_per_sample", 1)
                whole = len(samples) >= ENOUGH or (len(samples) >= 8 and iterations * sum(samples) >= 0.2)
                if whole and not row.get("latency"):
                    alone = row["direction"] != "bidir" and not row.get("simultaneous")
                    yield samples, iterations, alone


def main():
    every = list(read(sys.argv[1:]))
    print("%d series, %d of them one way on one device" % (len(every), sum(row[2] for row in every)))
    print("few samples, long ones    samples   seconds   off the whole series' median, in %")
    print("                             (mean)    (mean)    half   95 of 100   99 of 100   the worst")
    for sure, long in ((0, 0), (SURE, 0), (SURE, 0.0025), (SURE, HALF_WIDTH), (0.0025, HALF_WIDTH)):
        taken = [stop(series, iterations, *(sure, long) if alone else (0, 0))
                 for series, iterations, alone in every]
        lasted = [iterations * sum(series[:count]) for (series, iterations, _), count in zip(every, taken)]
        off = sorted(100 * abs(statistics.median(series[:count]) / statistics.median(series) - 1)
                     for (series, _, _), count in zip(every, taken))
        at = [off[int(share * (len(off) - 1))] for share in (0.5, 0.95, 0.99, 1)]
        print("%6.2f %%, %5.2f %%       %10.1f %9.3f %9.3f %9.3f %11.3f %11.3f" % (
            100 * sure, 100 * long, statistics.mean(taken), statistics.mean(lasted), *at))


main()
