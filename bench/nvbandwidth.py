#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: nvbandwidth.py NVBANDWIDTH RESULT.json...

Prints a Markdown table: what `nvbandwidth --json` wrote into the file NVBANDWIDTH, and the same of
xferbench's result files from the same machine. Each figure is the median over devices or pairs;
GB/s, and nanoseconds for latencies. docs/nvbandwidth.md says which commands make the files.
"""
import json
import statistics
import sys

READ, WRITE = "direct-read", "direct-write"
SUM = "bandwidth_sum_of_ways"
WAYS = ("bandwidth_h2d", "bandwidth_d2h", "bandwidth_there", "bandwidth_back")


def host(mode, direction, together=False, figure="bandwidth"):
    return {"mode": mode, "direction": direction, "simultaneous": together, "figure": figure}


def peer(path, direction, by, figure="bandwidth", group=None):
    parameters = {"by": by} if group is None else {"by": by, "group": group}
    return {"mode": "peer", "direction": direction, "variant": path, "parameters": parameters,
            "simultaneous": group is not None, "figure": figure}


def of_engine_or_kernel(suffix, mode, by):
    """What nvbandwidth has for both: its names, whose figures are added up, the part of a matrix with several, and our
    row."""
    both = "host_to_device_bidirectional_memcpy_%s + device_to_host_bidirectional_memcpy" % suffix
    rows = [
        ("host_to_device_memcpy", None, host(mode, "h2d")),
        ("device_to_host_memcpy", None, host(mode, "d2h")),
        ("host_to_device_bidirectional_memcpy", None, host(mode, "bidir", figure="bandwidth_h2d")),
        ("device_to_host_bidirectional_memcpy", None, host(mode, "bidir", figure="bandwidth_d2h")),
        (both, None, host(mode, "bidir", figure=SUM)),
        ("all_to_host_memcpy", None, host(mode, "d2h", True)),
        ("host_to_all_memcpy", None, host(mode, "h2d", True)),
        ("all_to_host_bidirectional_memcpy", None, host(mode, "bidir", True, "bandwidth_d2h")),
        ("host_to_all_bidirectional_memcpy", None, host(mode, "bidir", True, "bandwidth_h2d")),
    ]
    for path, way in ((READ, "read"), (WRITE, "write")):
        both = "device_to_device_bidirectional_memcpy_" + way
        rows += [
            ("device_to_device_memcpy_" + way, None, peer(path, "d2d", by)),
            (both, 0, peer(path, "bidir", by, "bandwidth_there")),
            (both, 1, peer(path, "bidir", by, "bandwidth_back")),
            (both, 2, peer(path, "bidir", by, SUM)),
        ]
    # Its read tests of groups are named for who asks and not for where the data goes: "all to one"
    # is all that read from one. Its kernels of "read" run where the data lies: they write.
    read = READ if by == "engine" else WRITE
    rows += [
        ("one_to_all_write", None, peer(WRITE, "d2d", by, group="one-to-all")),
        ("all_to_one_write", None, peer(WRITE, "d2d", by, group="all-to-one")),
        ("all_to_one_read", None, peer(read, "d2d", by, group="one-to-all")),
        ("one_to_all_read", None, peer(read, "d2d", by, group="all-to-one")),
    ]
    return [(name + "_" + suffix, part, row) for name, part, row in rows]


ROWS = of_engine_or_kernel("ce", "pinned", "engine") + of_engine_or_kernel("sm", "zero-copy", "kernel") + [
    ("host_device_latency_sm", None, {"mode": "loads", "direction": "h2d", "figure": "load_latency"}),
    ("device_to_device_latency_sm", None, {"mode": "peer-loads", "figure": "load_latency"}),
    ("device_local_copy", None, {"mode": "local", "variant": "engine", "figure": "bandwidth"}),
]


def theirs(tests, name, part):
    """The median of its cells. What goes both ways has three matrices: each way, and the sum."""
    if " + " in name:
        each = [theirs(tests, one, part) for one in name.split(" + ")]
        return None if None in each else sum(each)
    rows = tests.get(name, {}).get("bandwidth_matrix") or []
    if part is not None:
        third = len(rows) // 3
        rows = rows[part * third : (part + 1) * third]
    cells = [float(cell) for row in rows for cell in row if cell != "N/A"]
    return statistics.median(cells) if cells else None


def is_wanted(result, wanted):
    for key in ("mode", "direction", "variant", "simultaneous"):
        if key in wanted and result[key] != wanted[key]:
            return False
    own = result["parameters"]
    return all(own.get(key) == value for key, value in wanted.get("parameters", {}).items())


def is_sum(result):
    return result["device"] is None or (result["peer"] is None and result["mode"] == "peer")


def medians(result, name):
    """Of the figure. Files from before there was the sum of both ways have what each sample adds up to."""
    found = [f["median"] for f in result["figures"] if f["name"] == name]
    ways = [f["samples"] for f in result["figures"] if f["name"] in WAYS]
    return found if found or name != SUM else [statistics.median(map(sum, zip(*ways)))]


def ours(results, wanted):
    """The median over devices or pairs; of pairs in a group that of the sums."""
    grouped = "group" in wanted.get("parameters", {})
    values = []
    for result in results:
        if result["status"] == "ok" and is_wanted(result, wanted) and is_sum(result) == grouped:
            values += medians(result, wanted["figure"])
    scale = 1e9 if wanted["figure"] == "load_latency" else 1e-9
    return statistics.median(values) * scale if values else None


def number(value):
    return "not measured" if value is None else "%.4g" % value if value >= 1000 else "%.2f" % value


def words(wanted):
    parameters = wanted.get("parameters", {})
    parts = [wanted["mode"], wanted.get("variant", ""), wanted.get("direction", "")]
    parts += [parameters[key] for key in sorted(parameters)]
    parts += ["at once"] if wanted.get("simultaneous") and "group" not in parameters else []
    return " ".join(part for part in parts if part) + ": `%s`" % wanted["figure"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tests = {test["name"]: test for test in json.load(file)["nvbandwidth"]["testcases"]}
    results = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            results += json.load(file)["results"]
    print("| nvbandwidth | xferbench | theirs | ours | ours / theirs |")
    print("|---|---|---|---|---|")
    for name, part, wanted in ROWS:
        their, own = theirs(tests, name, part), ours(results, wanted)
        ratio = "%.3f" % (own / their) if own is not None and their else "-"
        part_name = "" if part is None else " (%s)" % ("there", "back", "both")[part]
        print("| %s%s | %s | %s | %s | %s |" % (
            name, part_name, words(wanted), number(their), number(own), ratio))


if __name__ == "__main__":
    main()
