#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: summary.py FOLDER

Prints one line for each result in the JSON files of FOLDER. For series of several processes it also prints the spread of their medians, and for cold starts the medians of each
device.
"""
import glob
import json
import os
import re
import statistics
import sys

# How a value in a figure's unit is printed.
UNITS = {"B/s": (1e-9, "%.2f GB/s"), "s": (1e3, "%.4g ms"), "1/s": (1, "%.4g a second"),
         "B": (1 / 2**20, "%.4g MiB"), "1": (1, "%.3g")}
# What has a place of its own in the line, or says little.
NOT_NAMED = {"bandwidth", "latency_host", "latency_device", "submit_time", "wall_time"}


def figures_of(result):
    """What the row has by name: unit and median, and of what was sampled n and p99."""
    return {figure["name"]: figure for figure in result["figures"]}


def rate(result):
    """In GB/s; None where there is none."""
    bandwidth = figures_of(result).get("bandwidth")
    return None if bandwidth is None else bandwidth["median"] / 1e9


def line(result):
    device = "sum" if result["device"] is None else str(result["device"])
    if result["peer"] is not None:
        device += ">%d" % result["peer"]
    name = " ".join([result["mode"], result["variant"], result["direction"], device])
    figures = figures_of(result)
    value = rate(result)
    text = result["status"] if value is None else "%8.2f GB/s n=%d" % (value, figures["bandwidth"]["n"])
    extra = []
    if "latency_host" in figures:
        extra.append("host p50 %.2f us p99 %.2f us" % (
            figures["latency_host"]["median"] * 1e6, figures["latency_host"]["p99"] * 1e6))
    for own, figure in figures.items():
        if own not in NOT_NAMED:
            scale, words = UNITS[figure["unit"]]
            extra.append("%s %s" % (own, words % (figure["median"] * scale)))
    return "  %-44s %s  %s" % (name, text, ", ".join(extra))


def spread(values):
    return 100 * (max(values) - min(values)) / min(values)


def main():
    folder = sys.argv[1]
    series = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        name = os.path.basename(path)[:-5]
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document.get("schema") != "xferbench.result":
            continue
        print(name)
        for result in document["results"]:
            print(line(result))
            series.setdefault(re.sub(r"-\d+$", "", name), {}).setdefault(
                result["device"], []).append(rate(result))
    precision = series.get("precision", {}).get(0, [])
    if precision:
        print("precision: %d processes, h2d medians %.3f to %.3f GB/s, spread %.3f %%" % (
            len(precision), min(precision), max(precision), spread(precision)))
    for name in ("cold", "cold-reversed"):
        for device, values in series.get(name, {}).items():  # in the order measured
            print("%s: device %d, medians %s, median of them %.3f GB/s" % (
                name, device, " ".join("%.2f" % value for value in values),
                statistics.median(values)))


if __name__ == "__main__":
    main()
