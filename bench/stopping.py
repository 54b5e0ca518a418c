#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: stopping.py FOLDER...

What the stopping rule (src/measure/stopping.c) would have made of the series of samples in the JSON
files of these folders: where it stops, and how far the median of the samples up to there lies from
the median of the whole series. For series of 20 samples or more. Beside it: the rule without its
first half, and with a first half that asks for less. A series lasts a fraction of a second: what
drifts more slowly than that, or differs between processes, cannot be seen here.
"""
import glob
import json
import math
import statistics
import sys

LEAST, ENOUGH = 6, 20  # XB_STOP_LEAST_SAMPLES, XB_STOP_MIN_SAMPLES
HALF_WIDTH, SURE = 0.005, 0.001  # XB_STOP_HALF_WIDTH, XB_STOP_SURE_HALF_WIDTH
SURE_S = 0.05  # XB_STOP_SURE_S


def half_width(sample):
    """Of the median's 95 % interval, by the median: docs/measurement.md, Statistics."""
    count = len(sample)
    rank, below = 0, 0.5**count
    while below <= 0.025:
        rank += 1
        below += math.comb(count, rank) * 0.5**count
    ordered = sorted(sample)
    return (ordered[count - rank] - ordered[rank - 1]) / 2 / statistics.median(ordered)


def stop(series, iterations, sure):
    """How many samples are taken by a rule whose first half asks for `sure`. 0: it has none."""
    look = LEAST
    for count in range(LEAST, len(series)):
        enough = count >= ENOUGH or (sure > 0 and iterations * sum(series[:count]) >= SURE_S)
        if count < look or not enough:
            continue
        if half_width(series[:count]) <= (sure if count < ENOUGH else HALF_WIDTH):
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
                if len(samples) >= ENOUGH and not row.get("latency"):
                    alone = row["direction"] != "bidir" and not row.get("simultaneous")
                    yield samples, row["details"].get("iterations_per_sample", 1), alone


def main():
    every = list(read(sys.argv[1:]))
    print("%d series, %d of them one way on one device" % (len(every), sum(row[2] for row in every)))
    print("the first half asks for   samples   off the whole series' median, in %")
    print("                          (mean)    half   95 of 100   99 of 100   the worst")
    for sure in (0, 0.0005, SURE, 0.0015, 0.0025):
        taken = [stop(series, iterations, sure if alone else 0) for series, iterations, alone in every]
        off = sorted(100 * abs(statistics.median(series[:count]) / statistics.median(series) - 1)
                     for (series, _, _), count in zip(every, taken))
        at = [off[int(share * (len(off) - 1))] for share in (0.5, 0.95, 0.99, 1)]
        name = "nothing: 20 samples" if sure == 0 else "%.2f %%" % (100 * sure)
        print("%-22s %10.1f %9.3f %9.3f %11.3f %11.3f" % (name, statistics.mean(taken), *at))


main()
