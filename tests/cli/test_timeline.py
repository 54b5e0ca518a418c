#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One iteration recorded: files of --trace, what checks them, and the page that draws them. What --timeline prints
is in tests/golden/run. usage: test_timeline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import signal
import sys
import unittest

import harness
from harness import FEW, HOST, ONE, SOURCE, Case, Terminal

sys.path[:0] = [os.path.join(SOURCE, "tests", "cli"), os.path.join(SOURCE, "tests", "page")]
import check_trace  # noqa: E402  beside this file
import show_trace  # noqa: E402  of the tests too

SEVERAL = (*HOST, "--mode", "pageable,pinned,async,double-buffer", "--chunk", "256K", "--size", "1M", *FEW)
PIPELINE = (*HOST, "--mode", "pipeline", "--size", "1M", "--readers", "2", *FEW, "--trace", "t.json", "--json",
            "r.json")
BROWSER = show_trace.find_browser()


class TraceFile(Case):
    def traced(self, *arguments):
        """The trace of a run and its result, which say the same."""
        files = () if "--trace" in arguments else ("--trace", "t.json", "--json", "r.json")
        self.assert_succeeds(*arguments, *files)
        trace, result = check_trace.Trace(json.loads(self.read("t.json"))), self.load("r.json")
        self.assert_all_ok(result)
        check_trace.check_result(trace, result)
        return trace, result

    def test_copies_and_kernels(self):
        """Under the names that profilers have for them."""
        trace, result = self.traced(*SEVERAL)
        for row, case in zip(result["results"], trace.other["cases"]):
            self.assertEqual(trace.copied(case["pid"]), row["bytes_moved"], case["case"])
        names = {one.name for one in trace.slices if trace.is_device(one.track)}
        ways = {"Memcpy HtoD (%s -> Device)", "Memcpy DtoH (Device -> %s)"}
        self.assertEqual(names, {way % memory for way in ways for memory in ("Pinned", "Pageable")} | {"compute"})
        self.assertLessEqual({"thread 0 (submits)", "stream 2"}, set(trace.names.values()))

    def test_pipeline(self):
        trace, _ = self.traced(*PIPELINE, "--order", "serial,overlapped", "--chunk", "128K", "--kernel-time", "20us")
        self.assertEqual([case["workers"] for case in trace.other["cases"]], [2, 2])
        for case in trace.other["cases"]:
            self.assertEqual(trace.worked(case["pid"]), {"read": 1 << 20})
        waits = [one for one in trace.slices if one.name == "wait: slot"]
        self.assertTrue(all("(reads)" in trace.names[one.track] for one in waits))
        self.assertIn(1, {one.track[0] for one in waits})  # in a row somebody waits

    def test_many_pieces(self):
        pieces = ("--mode", "batch", "--batch", "each", "--piece", "4K", "--size", "4M", "--direction", "h2d")
        trace, _ = self.traced(*HOST, *pieces, *FEW)
        self.assertEqual((trace.copied(1), trace.flow_count), (4 << 20, 1024))

    def test_what_has_no_timeline(self):
        """A row that is not ok, and those behind a signal."""
        self.assert_ends(3, *HOST, "--mode", "managed", "--size", "4K", *FEW, "--trace", "t.json")
        self.assertEqual(check_trace.Trace(json.loads(self.read("t.json"))).slices, [])
        terminal = Terminal()
        sizes = ("--size", "64K,96K,128K,160K,192K,224K,256K", "--samples", "600")
        process = self.start(*ONE, *sizes, "--trace", "t.json", "--json", "r.json", terminal=terminal)
        terminal.read_until(b"[2/")
        process.send_signal(signal.SIGINT)
        self.assert_ended(128 + signal.SIGINT, process)
        trace = check_trace.Trace(json.loads(self.read("t.json")))
        self.assertGreater(len(trace.other["cases"]), 0)
        check_trace.check_result(trace, self.load("r.json"))


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


class Checked(Case):
    """check_trace.py finds what is wrong with a trace."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = None

    def copies(self):
        """A trace and its result, to be broken."""
        if type(self).made is None:
            self.assert_succeeds(*PIPELINE, "--order", "overlapped", "--chunk", "256K")
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


@unittest.skipIf(BROWSER is None, "no Chromium here")
class Page(Case):
    """A trace in tests/page/trace.html, opened by Chromium."""

    def make_trace(self):
        self.assert_succeeds(*PIPELINE, "--order", "serial,overlapped", "--chunk", "256K")
        return json.loads(self.read("t.json"))

    def test_draws_what_the_trace_has(self):
        trace = self.make_trace()
        slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        arrows = [event for event in trace["traceEvents"] if event["ph"] == "s"]
        said, page = show_trace.open_page(BROWSER, self.path("t.json"))
        self.assertEqual(said, f"PASS: 2 cases, {len(slices)} slices, {len(arrows)} flows")
        boxes = re.findall(r'<rect [^>]*fill="([^"]+)" data-kind="(\w+)"', page)
        self.assertEqual(len(boxes), len(slices))
        waits = {color for color, kind in boxes if kind == "wait"}
        self.assertEqual(len(waits), 1)
        self.assertFalse(waits & {color for color, kind in boxes if kind != "wait"})
        used = {(event["pid"], event["tid"]) for event in slices}
        names = [
            event["args"]["name"]
            for event in trace["traceEvents"]
            if event["name"] == "thread_name" and (event["pid"], event["tid"]) in used
        ]
        self.assertEqual(sorted(re.findall(r'class="track">([^<]+)<', page)), sorted(names))
        self.assertEqual(re.findall(r"<h4>([^<]+)<", page), [case["case"] for case in trace["otherData"]["cases"]])
        for number in re.findall(r' (?:x|x1|width)="([^"]*)"', page):
            self.assertGreaterEqual(float(number), 0)

    def test_says_what_is_wrong(self):
        trace = self.make_trace()
        events = trace["traceEvents"]
        events.remove(next(event for event in events if event["ph"] == "f"))
        next(event for event in events if event["ph"] == "C")["args"]["value"] = -1
        next(event for event in events if event.get("cat") == "copy")["dur"] += 1e6
        self.write_json("t.json", trace)
        said, _ = show_trace.open_page(BROWSER, self.path("t.json"))
        self.assert_words(said, ("FAIL\n", 'has no end "f"', "goes below zero", "overlaps"))


if __name__ == "__main__":
    harness.main()
