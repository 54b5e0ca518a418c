#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One iteration recorded: --trace FILE, and --timeline. usage: test_timeline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import signal
import sys

import harness
from harness import FEW, HOST, ONE, SMALL, Case, Terminal

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import check_trace  # noqa: E402  beside this file

SEVERAL = (*HOST, "--mode", "pageable,pinned,async,double-buffer", "--chunk", "256K", "--size", "1M", *FEW)


class TimelineCase(Case):
    def load_trace(self, name):
        return check_trace.Trace(json.loads(self.read(name)))


class TraceFile(TimelineCase):
    def test_says_what_the_result_says(self):
        self.assert_succeeds(*SEVERAL, "--trace", "t.json", "--json", "r.json")
        trace, result = self.load_trace("t.json"), self.load("r.json")
        self.assert_all_ok(result)
        check_trace.check_result(trace, result)
        for row, case in zip(result["results"], trace.other["cases"]):
            with self.subTest(case=case["case"]):
                self.assertEqual(trace.copied(case["pid"]), row["bytes_moved"])

    def test_pipeline(self):
        arguments = ("--mode", "pipeline", "--order", "serial,overlapped", "--size", "1M", "--readers", "2")
        kernel = ("--chunk", "128K", "--kernel-time", "20us")
        outputs = ("--trace", "t.json", "--json", "r.json")
        self.assert_succeeds(*HOST, *arguments, *kernel, *FEW, *outputs)
        trace, result = self.load_trace("t.json"), self.load("r.json")
        self.assert_all_ok(result)
        check_trace.check_result(trace, result)
        self.assertEqual([case["workers"] for case in trace.other["cases"]], [2, 2])
        for case in trace.other["cases"]:
            self.assertEqual(trace.worked(case["pid"]), {"read": 1 << 20})
        waits = [one for one in trace.slices if one.name == "wait: slot"]
        self.assertTrue(all("(reads)" in trace.names[one.track] for one in waits))
        self.assertIn(1, {one.track[0] for one in waits})  # in a row somebody waits

    def test_names_are_those_of_profilers(self):
        self.assert_succeeds(*SEVERAL, "--trace", "t.json")
        trace = self.load_trace("t.json")
        names = {one.name for one in trace.slices if trace.is_device(one.track)}
        ways = {"Memcpy HtoD (%s -> Device)", "Memcpy DtoH (Device -> %s)"}
        self.assertEqual(
            names, {way % memory for way in ways for memory in ("Pinned", "Pageable")} | {"compute"}
        )
        self.assertIn("thread 0 (submits)", trace.names.values())
        self.assertIn("stream 2", trace.names.values())

    def test_many_pieces(self):
        arguments = ("--mode", "batch", "--batch", "each", "--piece", "4K", "--size", "4M")
        self.assert_succeeds(*HOST, *arguments, "--direction", "h2d", *FEW, "--trace", "t.json")
        trace = self.load_trace("t.json")
        self.assertEqual(trace.copied(1), 4 << 20)
        self.assertEqual(trace.flow_count, 1024)

    def test_standard_output_is_in_place_of_the_table(self):
        outcome = self.assert_succeeds(*SMALL, "--trace", "-")
        self.write("t.json", outcome.out)
        self.assertEqual(self.load_trace("t.json").copied(1), 4096)

    def test_a_row_that_is_not_ok_has_no_timeline(self):
        arguments = (*HOST, "--mode", "managed", "--size", "4K", *FEW)
        self.assert_ends(3, *arguments, "--trace", "t.json")
        self.assertEqual(self.load_trace("t.json").slices, [])

    def test_interrupted(self):
        terminal = Terminal()
        sizes = ("--size", "64K,96K,128K,160K,192K,224K,256K", "--samples", "600")
        process = self.start(*ONE, *sizes, "--trace", "t.json", "--json", "r.json", terminal=terminal)
        terminal.read_until(b"[2/")
        process.send_signal(signal.SIGINT)
        self.assert_ended(128 + signal.SIGINT, process)
        trace, result = self.load_trace("t.json"), self.load("r.json")
        self.assertGreater(len(trace.other["cases"]), 0)
        check_trace.check_result(trace, result)

    def test_no_half_a_file(self):
        self.put_old("t.json")
        limit = ("prlimit", "--fsize=4096")
        outcome = self.run_program(*SEVERAL, "--trace", "t.json", under=limit, environment={})
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn("trace", outcome.err)
        self.assert_old("t.json")
        self.assert_folder_has("t.json")

    def test_full_device(self):
        node = self.device_node("/dev/full", 7)
        outcome = self.assert_ends(1, *SMALL, "--trace", node)
        self.assert_words(outcome.err, ("cannot write", "ENOSPC"))


def first(document, phase, **wanted):
    """The first event of that phase that has these, in its arguments or beside them."""
    for event in document["traceEvents"]:
        if event["ph"] == phase and wanted.items() <= (event.get("args", {}) | event).items():
            return event
    raise AssertionError((phase, wanted))


def remove(document, phase, **wanted):
    document["traceEvents"].remove(first(document, phase, **wanted))


def add_to(event, key, by):
    event[key] = round(event[key] + by, 3)


class Checked(TimelineCase):
    """check_trace.py finds what is wrong with a trace, and lets pass what a GPU's clock may be off by."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = None

    def copies(self):
        """A trace and its result, to be broken."""
        if type(self).made is None:
            arguments = ("--mode", "pipeline", "--order", "overlapped", "--size", "1M", "--chunk", "256K")
            self.assert_succeeds(*HOST, *arguments, "--readers", "2", *FEW, "--trace", "t.json", "--json", "r.json")
            type(self).made = self.read("t.json"), self.read("r.json")
        return tuple(json.loads(text) for text in self.made)

    def check(self, trace, result):
        check_trace.check_result(check_trace.Trace(trace), result)

    def test_what_is_wrong(self):
        def move_device_before_its_call(trace, by):
            arrow = first(trace, "f")
            start = first(trace, "s", id=arrow["id"])["ts"]
            moved = first(trace, "X", tid=arrow["tid"], ts=arrow["ts"])
            moved["ts"] = arrow["ts"] = round(start - by, 3)

        def figure_off(result, name):
            found = next(one for one in result["results"][0]["figures"] if one["name"] == name)
            found["median"] += 0.05

        def exchange_arrows(trace):
            one, other = first(trace, "f", tid=4), first(trace, "f", tid=5)
            one["id"], other["id"] = other["id"], one["id"]

        def without(trace, name):
            trace["traceEvents"] = [event for event in trace["traceEvents"] if event["name"] != name]

        broken = {
            "overlap": lambda t, r: add_to(first(t, "X", cat="kernel"), "dur", 1e6),
            "one within another": lambda t, r: t["traceEvents"].append(first(t, "X", cat="work")),
            "beyond the end": lambda t, r: add_to(first(t, "X", cat="wait"), "dur", 1e6),
            "no arrow's end": lambda t, r: remove(t, "f"),
            "no arrow's start": lambda t, r: remove(t, "s"),
            "arrow beside its slice": lambda t, r: add_to(first(t, "f"), "ts", 0.001),
            "arrow to another's": lambda t, r: exchange_arrows(t),
            "arrow from a wait": lambda t, r: first(t, "s").update(ts=first(t, "X", cat="wait")["ts"]),
            "nobody submitted": lambda t, r: (remove(t, "s"), remove(t, "f")),
            "back in time": lambda t, r: move_device_before_its_call(t, 1e5),
            "below zero": lambda t, r: first(t, "C", name="GB/s HtoD")["args"].update(value=-1),
            "more workers": lambda t, r: t["otherData"]["cases"][0].update(workers=9),
            "another rate of the host": lambda t, r: first(t, "C", name="GB/s read")["args"].update(value=1e3),
            "no rate of the host": lambda t, r: without(t, "GB/s read"),
            "another rate's area": lambda t, r: first(t, "C", name="GB/s HtoD")["args"].update(value=1e3),
            "no rates": lambda t, r: without(t, "GB/s HtoD"),
            "too many items": lambda t, r: first(t, "C", name="items under way")["args"].update(value=9),
            "no items": lambda t, r: without(t, "items under way"),
            "a slice's rate": lambda t, r: first(t, "X", cat="copy")["args"].update({"GB/s": 1e6}),
            "a slice's bytes": lambda t, r: first(t, "X", cat="copy")["args"].update(bytes=1),
            "no name": lambda t, r: remove(t, "M", name="thread_name", tid=2),
            "bytes moved": lambda t, r: r["results"][0].update(bytes_moved=1),
            "busy": lambda t, r: figure_off(r, "busy_in"),
            "busy threads": lambda t, r: figure_off(r, "busy_read"),
            "waiting": lambda t, r: figure_off(r, "wait_compute"),
        }
        self.check(*self.copies())
        for name, damage in broken.items():
            with self.subTest(name):
                trace, result = self.copies()
                damage(trace, result)
                self.assertRaises(AssertionError, self.check, trace, result)

    def test_a_clock_that_is_off(self):
        """The call is 5 us late by the device's clock, which may be off by 10."""
        self.write_clocks(error=10)
        self.load_trace("t.json")
        self.write_clocks(error=4)
        self.assertRaises(AssertionError, self.load_trace, "t.json")

    def write_clocks(self, error):
        track = {"pid": 1, "tid": 1}
        stream = {"pid": 1, "tid": 2}
        arrow = {"name": "submits", "cat": "ac2g", "id": 1}
        case = {"pid": 1, "case": "x", "clock_error_us": error, "recorded_seconds": 1e-3}
        named = (({"pid": 1, "tid": 0}, "process_name", "x"), (track, "thread_name", "thread 0 (submits)"),
                 (stream, "thread_name", "stream 0"))
        document = {
            "displayTimeUnit": "ns",
            "traceEvents": [
                *({"ph": "M", "name": what, **where, "args": {"name": name}} for where, what, name in named),
                {"ph": "X", "name": "queue_fill", "cat": "call", **track, "ts": 15, "dur": 1, "args": {}},
                {"ph": "s", **arrow, **track, "ts": 15},
                {"ph": "X", "name": "fill", "cat": "kernel", **stream, "ts": 10, "dur": 9, "args": {}},
                {"ph": "f", "bp": "e", **arrow, **stream, "ts": 10},
            ],
            "otherData": {
                "tool": "xferbench 0", "devices": [{"index": 0, "name": "x"}], "clock_error_us": error,
                "cases": [case | {"sampled_seconds": 1e-3, "workers": 0, "left_out": 0}],
            },
        }
        self.write_json("t.json", document)


class Drawing(TimelineCase):
    def drawn(self, *arguments):
        outcome = self.assert_succeeds(*arguments, "--timeline")
        _, *drawings = outcome.out.split("\nTimeline: ")
        for drawing in drawings:
            for line in drawing.splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertTrue(line.isascii() and line.isprintable(), line)
        return drawings

    def test_a_row_a_thread_and_a_stream(self):
        arguments = (*HOST, "--mode", "async", "--direction", "h2d", "--chunk", "256K", "--size", "1M")
        (drawing,) = self.drawn(*arguments, "--streams", "2", *FEW)
        self.assertRegex(drawing, "^async registered chunk 256 KiB h2d 1 MiB")
        rows = re.findall(r"^(thread 0 \(submits\)|stream [0-9]) +\S", drawing, re.M)
        self.assertEqual(rows, ["thread 0 (submits)", "stream 0", "stream 1"])
        self.assertRegex(drawing, r"\n +\|0 +\|[0-9.]+ [num]?s +[0-9.]+ [num]?s\|\n")
        self.assertRegex(drawing, r"\nat work: thread 0 \(submits\) [0-9]+ %, stream 0 [0-9]+ %, stream 1 ")

    def test_the_beginning_of_many(self):
        arguments = (*HOST, "--mode", "async", "--direction", "h2d", "--chunk", "64K", "--size", "4M")
        (drawing,) = self.drawn(*arguments, "--streams", "2", *FEW)
        self.assertRegex(drawing, r"\nOnly its first [0-9.]+ [num]?s are drawn, [0-9.]+ % of it\n")

    def test_every_case(self):
        self.assertEqual(len(self.drawn(*SEVERAL)), 9)


class Refused(TimelineCase):
    def test_several_processes(self):
        for option in (("--trace", "t.json"), ("--timeline",)):
            self.assert_usage(("--processes", "--trace"), *SMALL, "--processes", "2", *option)
        self.assert_folder_has()

    def test_standard_output_twice(self):
        for other in ("--json", "--csv"):
            self.assert_usage((other, "--trace", "standard output"), *SMALL, "--trace", "-", other, "-")
            self.assert_usage(("--timeline", other), *SMALL, "--timeline", other, "-")
        self.assert_usage(("--timeline", "--trace"), *SMALL, "--timeline", "--trace", "-")
        self.assert_usage(("--quiet", "timeline"), *SMALL, "--timeline", "--quiet")

    def test_one_file_twice(self):
        words = ("one and the same file", "--json", "--trace")
        self.assert_usage(words, *SMALL, "--trace", "out", "--json", "./out")
        self.assert_folder_has()


if __name__ == "__main__":
    harness.main()
