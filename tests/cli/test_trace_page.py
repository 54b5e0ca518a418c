#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file of --trace in tests/page/trace.html, opened by Chromium where there is one.
usage: test_trace_page.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import sys
import unittest

import harness
from harness import FEW, HOST, SOURCE, Case

sys.path.insert(0, os.path.join(SOURCE, "tests", "page"))
import show_trace  # noqa: E402  of the tests too

BROWSER = show_trace.find_browser()


@unittest.skipIf(BROWSER is None, "no Chromium here")
class Page(Case):
    def make_trace(self):
        arguments = ("--mode", "pipeline", "--order", "serial,overlapped", "--size", "1M", "--chunk", "256K")
        self.assert_succeeds(*HOST, *arguments, "--readers", "2", *FEW, "--trace", "t.json")
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
