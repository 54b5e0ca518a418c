#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: summary.py FOLDER

One line a result of the JSON files in FOLDER, and what several processes came to: the spread of
their medians, and of the first device beside the others.
"""
import glob
import json
import os
import re
import statistics
import sys


def rate(result):
    bandwidth = result["bandwidth_bytes_per_second"]
    return None if bandwidth is None else bandwidth["median"] / 1e9


def line(result):
    device = "sum" if result["device"] is None else str(result["device"])
    if result["peer"] is not None:
        device += ">%d" % result["peer"]
    name = " ".join([result["mode"], result["variant"], result["direction"], device])
    value = rate(result)
    text = result["status"] if value is None else "%8.2f GB/s n=%d" % (
        value, result["bandwidth_bytes_per_second"]["n"])
    extra = []
    if result["latency_s"]:
        extra.append("host p50 %.2f us p99 %.2f us" % (
            result["latency_s"]["host"]["p50"] * 1e6, result["latency_s"]["host"]["p99"] * 1e6))
    for key in ("efficiency", "speed_up", "compute_share", "break_even_passes", "setup_s"):
        if key in result["details"]:
            extra.append("%s %.3g" % (key, result["details"][key]))
    for name_of_part, part in result["parts"].items():
        if part["median_s"]:
            extra.append("%s %.4g ms" % (name_of_part, part["median_s"] * 1e3))
    for key in ("overlap", "share_of_alone"):
        if result[key] is not None:
            extra.append("%s %.3f" % (key, result[key]))
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


main()
