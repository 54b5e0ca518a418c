#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every file of --trace keeps to, and its sums. By hand, on any trace, with its result or without:

    python3 -B tests/cli/check_trace.py TRACE [RESULT]

Prints what is wrong and exits with 1, or says how much there is.
"""

import collections
import itertools
import json
import math
import sys

WAYS = ("HtoD", "DtoH", "DtoD", "PtoP")
PHASES = ("M", "X", "C", "s", "f")
KINDS = ("work", "call", "wait", "copy", "kernel")
ON_DEVICE = ("copy", "kernel", "wait")
# Modes whose copies in the row's direction are all that it says to have moved.
ALL_COPIED = ("pageable", "pinned", "async", "double-buffer", "pipeline")
DIRECTIONS = {"h2d": ("HtoD",), "d2h": ("DtoH",), "bidir": ("HtoD", "DtoH")}


def nanoseconds(microseconds):
    """Times have three decimals: whole nanoseconds."""
    whole = round(microseconds * 1000)
    assert abs(microseconds * 1000 - whole) < 1e-3, f"{microseconds} us are no whole nanoseconds"
    return whole


class Slice:
    def __init__(self, event):
        self.name, self.kind = event["name"], event["cat"]
        self.track = (event["pid"], event["tid"])
        self.begin = nanoseconds(event["ts"])
        self.end = self.begin + nanoseconds(event["dur"])
        self.bytes = event["args"].get("bytes", 0)
        self.rate = event["args"].get("GB/s")
        self.stage, self.item = event["args"].get("stage"), event["args"].get("item")
        self.number = event["args"].get("correlation")  # which older traces lack

    @property
    def place(self):
        return (*self.track, self.begin)

    def check(self):
        assert self.kind in KINDS and self.name, vars(self)
        assert self.begin >= 0 and self.end >= self.begin, vars(self)
        assert (self.stage is None) == (self.item is None), vars(self)
        length = self.end - self.begin  # give or take a nanosecond, for its ends are rounded
        if self.rate is not None and length > 1:
            low, high = (self.bytes / (length + by) for by in (1, -1))
            assert low - 0.001 <= self.rate <= high + 0.001, (vars(self), low, high)


class Trace:
    """A trace that was read; raises AssertionError for what cannot be."""

    def __init__(self, document):
        self.other = document["otherData"]
        self.events = document["traceEvents"]
        assert document["displayTimeUnit"] == "ns"
        for event in self.events:
            assert event["ph"] in PHASES, event
        self.slices = [Slice(event) for event in self.events if event["ph"] == "X"]
        self.names = {}  # of a process, or of a thread of it
        for event in self.events:
            if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
                key = (event["pid"], event["tid"] if event["name"] == "thread_name" else None)
                assert key not in self.names, f"{key} has two names"
                self.names[key] = event["args"]["name"]
        self.check_metadata()
        self.errors = {  # of a case: by how many nanoseconds a device may be off against the host
            case["pid"]: math.ceil(case["clock_error_us"] * 1000) for case in self.other["cases"]
        }
        self.workers = {case["pid"]: case["workers"] for case in self.other["cases"]}
        self.check_tracks()
        self.check_ends()
        self.check_flows()
        self.check_counters()

    def is_device(self, track):
        return "stream" in self.names[track]

    def check_metadata(self):
        assert self.other["tool"].startswith("xferbench "), self.other
        assert self.other["devices"] and all(one["name"] for one in self.other["devices"])
        assert self.other["clock_error_us"] == max((case["clock_error_us"] for case in self.other["cases"]), default=0)
        for case in self.other["cases"]:
            assert case["recorded_seconds"] > 0 and case["sampled_seconds"] > 0, case
            assert case["clock_error_us"] >= 0, case
            assert case["left_out"] >= 0 and case["workers"] >= 0, case
            assert self.names[(case["pid"], None)] == case["case"], case
        assert {pid for pid, tid in self.names if tid is None} == {
            case["pid"] for case in self.other["cases"]
        }

    def check_tracks(self):
        """Slices of a track do not overlap, unless one lies within the other, on threads alone."""
        tracks = collections.defaultdict(list)
        for one in self.slices:
            assert one.track in self.names, f"{one.track} has no name"
            assert not self.is_device(one.track) or one.kind in ON_DEVICE, vars(one)
            one.check()
            tracks[one.track].append(one)
        for track, slices in tracks.items():
            open_ends, worked = [], 0
            for one in sorted(slices, key=lambda one: (one.begin, one.end != one.begin, -one.end)):
                while open_ends and open_ends[-1] <= one.begin:
                    open_ends.pop()
                nests = not open_ends or one.end <= open_ends[-1]
                assert nests, f"{self.names[track]}: {one.name} overlaps at {one.begin} ns"
                assert not (open_ends and self.is_device(track)), f"{one.name} within another"
                open_ends.append(one.end)
                assert one.kind != "work" or one.begin >= worked, f"{one.name} within another turn"
                worked = one.end if one.kind == "work" else worked

    def check_ends(self):
        """Nothing lasts beyond the iteration, but for the clocks' error: at the end, and where it puts all
        of a case later, for something seemed to begin before it."""
        last = {case["pid"]: nanoseconds(round(case["recorded_seconds"] * 1e6, 3)) for case in self.other["cases"]}
        for one in self.slices:
            process = one.track[0]
            assert one.end <= last[process] + 2 * self.errors[process] + 1000, (vars(one), last[process])

    def check_flows(self):
        """An arrow leads from each call that submits to what it submitted, and forwards in time."""
        ends = {"s": {}, "f": {}}
        at = collections.defaultdict(list)
        for one in self.slices:
            at[one.place].append(one)
        for event in self.events:
            if event["ph"] not in ends:
                continue
            assert event["cat"] == "ac2g" and event.get("bp") == ("e" if event["ph"] == "f" else None)
            assert event["id"] not in ends[event["ph"]], f"flow {event['id']} has two ends"
            place = (event["pid"], event["tid"], nanoseconds(event["ts"]))
            assert at[place], f"flow {event['id']} ends where no slice is: {place}"
            ends[event["ph"]][event["id"]] = place
        assert ends["s"].keys() == ends["f"].keys(), "flows without their other end"
        for flow, place in ends["s"].items():
            to = ends["f"][flow]
            assert place[0] == to[0], f"flow {flow} leads to another case"
            assert place[2] <= to[2] + self.errors[to[0]], f"flow {flow} leads back"
            assert self.is_device(to[:2]) and not self.is_device(place[:2]), f"flow {flow} leads to no device"
            assert any(
                call.kind == "call" and is_submitted_by(call, one) and call.number == one.number
                and one.number in (None, flow % 2**32) for call in at[place] for one in at[to]
            ), f"flow {flow}: not the call of what it leads to"
        self.flow_count = len(ends["s"])
        submitted = collections.Counter(ends["f"].values())
        enqueued = collections.Counter(one.place for one in self.slices if self.is_device(one.track))
        assert enqueued == submitted, f"not submitted, or twice: {enqueued - submitted} {submitted - enqueued}"

    def check_counters(self):
        """Rates and items are never below zero, end with it, and are those of the slices."""
        steps = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] != "C":
                continue
            value, now = event["args"]["value"], nanoseconds(event["ts"])
            known = steps[(event["pid"], event["name"])]
            assert value >= 0 and (not known or now >= known[-1][0]), event
            known.append((now, value))
        for key, known in steps.items():
            assert known[-1][1] == 0, f"{key} does not end with zero"
        for process in self.errors:
            bytes_of = {way: self.copied(process, way) for way in WAYS} | self.worked(process)
            for way, moved in bytes_of.items():
                known = steps.get((process, f"GB/s {way}"), [])
                total = sum(value * (then - now) for (now, value), (then, _) in zip(known, known[1:]))
                assert abs(total - moved) <= 0.01 * moved + 100, (process, way, total, moved)
            known = dict(steps.get((process, "items under way"), []))
            assert known == self.items_under_way(process), f"items under way of case {process}"

    def items_under_way(self, process):
        """{when it changes: how many items are between their first beginning and their last end}"""
        items = collections.defaultdict(list)
        for one in self.slices:
            if one.track[0] == process and one.stage is not None and one.kind not in ("call", "wait"):
                items[one.item].append(one)
        changes = collections.Counter()
        for slices in items.values():
            changes[min(one.begin for one in slices)] += 1
            changes[max(one.end for one in slices)] -= 1
        return dict(zip(sorted(changes), itertools.accumulate(changes[now] for now in sorted(changes))))

    def copied(self, process, way=""):
        """Bytes of a case's copies."""
        return sum(
            one.bytes
            for one in self.slices
            if one.track[0] == process and one.kind == "copy" and way in one.name
        )

    def worked(self, process):
        """{the host's stage: bytes of its turns}"""
        bytes_of = collections.Counter()
        for one in self.slices:
            if one.track[0] == process and one.kind == "work" and one.bytes > 0:
                bytes_of[one.stage] += one.bytes
        return bytes_of

    def shares(self, process, stage):
        """Seconds in which a stage was at work, and those between its first beginning and its last end in
        which it was not: of a device's stage on all streams together, of the host's the mean of the threads,
        those included that had no turn."""
        own = [one for one in self.slices if one.track[0] == process and one.stage == stage]
        on_device = [one for one in own if one.kind in ("copy", "kernel")]
        if on_device:
            return tuple(length * 1e-9 for length in work_and_wait(on_device))
        threads = collections.defaultdict(list)
        for one in own:
            if one.kind == "work":
                threads[int(self.names[one.track].split()[1])].append(one)
        each = [work_and_wait(slices) for slices in threads.values()]
        return tuple(sum(one[i] for one in each) * 1e-9 / max(1, self.workers[process]) for i in range(2))


def is_submitted_by(call, one):
    """Whether that may be the call's: an item's stage and bytes are the same of both."""
    same_bytes = one.kind != "copy" or not (call.bytes and one.bytes) or call.bytes == one.bytes
    return (call.stage, call.item) == (one.stage, one.item) and same_bytes


def work_and_wait(slices):
    slices = sorted(slices, key=lambda one: one.begin)
    covered, busy = slices[0].begin, 0
    for one in slices:
        busy += max(one.end - max(one.begin, covered), 0)
        covered = max(covered, one.end)
    return busy, covered - slices[0].begin - busy


def check_result(trace, document):
    """What a result's rows say of the same iterations: their time, and the stages' shares."""
    rows = [row for row in document["results"] if "recorded_time" in row.get("details", {})]
    assert len(rows) == len(trace.other["cases"]), (len(rows), trace.other["cases"])
    for row, case in zip(rows, trace.other["cases"]):
        seconds = row["details"]["recorded_time"]
        assert seconds == case["recorded_seconds"], (row["details"], case)
        ways = DIRECTIONS.get(row["direction"], ()) if row["mode"] in ALL_COPIED else ()
        if ways and row["parameters"].get("io") != "gds" and case["left_out"] == 0:
            copied = sum(trace.copied(case["pid"], way) for way in ways)
            assert copied == row["bytes_moved"], (case["case"], copied, row["bytes_moved"])
        for figure in row["figures"]:
            share, _, stage = figure["name"].partition("_")
            if share in ("busy", "wait") and stage:
                own = trace.shares(case["pid"], stage)[share == "wait"] / seconds
                off = abs(own - figure["median"]) * seconds  # not of the share: on a busy machine all are small
                assert off < 1e-6, (figure["name"], figure["median"], own, seconds)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        trace = Trace(read(sys.argv[1]))
        if len(sys.argv) == 3:
            check_result(trace, read(sys.argv[2]))
    except (AssertionError, KeyError, ValueError) as failure:
        sys.exit(f"{sys.argv[1]}: {failure!r}")
    cases, slices = len(trace.other["cases"]), len(trace.slices)
    print(f"{cases} cases, {slices} slices, {trace.flow_count} flows: nothing is wrong")


if __name__ == "__main__":
    main()
