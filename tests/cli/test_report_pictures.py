#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of `xferbench report`, and their numbers, of files that have more than curves.
usage: test_report_pictures.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import os
import re
from xml.etree import ElementTree

import harness
from harness import SOURCE, Case

RESULTS = os.path.join(SOURCE, "bench", "results")
TRACE = os.path.join(SOURCE, "bench", "traces", "h200-pipeline.json")
SVG = "{http://www.w3.org/2000/svg}"


def make_faster(row, factor):
    """Its bandwidth, and the times that it comes from."""
    figure = harness.figure(row, "bandwidth")
    for name in ("median", "ci95_low", "ci95_high", "min", "max", "p5", "p95", "p99", "mad"):
        if figure[name] is not None:
            figure[name] *= factor
    figure["samples"] = [sample * factor for sample in figure["samples"]]
    row["samples_s"] = [sample / factor for sample in row["samples_s"]]


class Pictures(Case):
    def report(self, *files, code=0, err=""):
        outcome = self.run_program("report", *files)
        self.assertEqual(outcome.code, code, outcome)
        self.assertRegex(outcome.err, err or r"\A\Z")
        return ElementTree.fromstring(outcome.out.replace(' xmlns="http://www.w3.org/1999/xhtml"', "", 1))

    def pictures_of(self, page, section):
        """Those whose id has that section's name."""
        pictures = [svg for svg in page.iter(f"{SVG}svg") if f"{section}-" in svg.get("aria-labelledby")]
        self.assertGreater(len(pictures), 0, section)
        return pictures

    def texts_of(self, picture):
        return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]

    def table_of(self, page, caption):
        """Rows of texts, the head first."""
        for table in page.iter("div"):
            if table.get("class") == "wide table" and re.search(caption, table.get("aria-label")):
                return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
        return self.fail(f"no table is called {caption}")

    def words_of(self, page):
        return " ".join("".join(page.itertext()).split())

    def load_result(self, *names):
        return harness.read_json(os.path.join(RESULTS, *names))

    # ---- matrices ----

    def test_pairs_of_a_link_test(self):
        page = self.report(os.path.join(RESULTS, "h200-x4", "link-pairs.json"))
        (picture,) = self.pictures_of(page, "matrices")
        self.assertIn("394.7", self.texts_of(picture))
        self.assertIn("nearly equal, one shade", " ".join(self.texts_of(picture)))
        self.assertEqual({group.get("class") for group in picture.iter(f"{SVG}g")}, {"step-2"})
        table = self.table_of(page, "Copies between devices")
        self.assertEqual(table[0], ["from", "device 0", "device 1", "device 2", "device 3"])
        self.assertEqual(table[1][:3], ["device 0", "-", "394.7"])

    def test_pairs_of_a_result_with_a_slow_one(self):
        document = self.load_result("h200-x4", "nvb-peer.json")
        first = document["results"][0]
        makes = ("mode", "variant", "direction", "bytes", "parameters", "latency", "simultaneous")
        document["results"] = [
            row for row in document["results"] if all(row[key] == first[key] for key in makes)]
        slow = next(row for row in document["results"] if (row["device"], row["peer"]) == (1, 2))
        make_faster(slow, 0.1)
        self.write_json("pairs.json", document)
        page = self.report("pairs.json")
        picture = self.pictures_of(page, "matrices")[0]
        shades = {"".join(group.find(f"{SVG}text").itertext()): group.get("class")
                  for group in picture.iter(f"{SVG}g") if group.find(f"{SVG}text") is not None}
        slow_text = self.table_of(page, re.escape(picture.find(f"{SVG}title").text))[2][3]
        self.assertLess(float(slow_text), 50)
        self.assertEqual(shades[slow_text], "step-1")
        self.assertEqual({look for text, look in shades.items() if text != slow_text}, {"step-7"})
        self.assertIn(f"The least is {slow_text} GB/s, from device 1, to device 2", picture.find(f"{SVG}desc").text)

    def test_nodes_with_devices(self):
        arguments = ("--backend", "host", "--mode", "pinned", "--direction", "h2d", "--size", "64K", "--numa", "all")
        outcome = self.run_program(*arguments, *harness.FEW, "--json", "nodes.json")
        self.assertIn(outcome.code, (0, 3), outcome)  # where no node may be bound to all is skipped
        page = self.report("nodes.json")
        (picture,) = self.pictures_of(page, "matrices")
        self.assertIn("device 0", self.texts_of(picture))
        table = self.table_of(page, "rows: NUMA nodes, columns: devices")
        self.assertEqual(table[0], ["memory on", "device 0"])
        self.assertRegex(table[1][0], "node [0-9]+")
        self.assertIn(table[1][1], self.texts_of(picture))

    # ---- the link ----

    def test_a_weak_hop_is_marked(self):
        document = self.load_result("h200", "link-1.json")
        (device,) = document["devices"]
        for attempt in device["attempts"]:
            for path in (attempt["at_rest"], attempt["after"]):
                (hop,) = path["hops"]
                bridge = copy.deepcopy(hop)
                for end, address in (("lower", "0000:04:00.0"), ("upper", "0000:00:01.0")):
                    bridge[end] = dict(hop["lower"], bdf=address)
                hop["upper"] = dict(hop["lower"], bdf="0000:05:00.0")
                path["hops"].append(bridge)
            (seen,) = attempt["under_load"]["hops"]
            attempt["under_load"]["hops"].append(dict(seen, width=8))
        device["verdict"]["bottleneck"] = 1
        self.write_json("link.json", document)
        page = self.report("link.json")
        (picture,) = self.pictures_of(page, "path")
        looks = {group.get("class"): " ".join(self.texts_of(group)) for group in picture.iter(f"{SVG}g")}
        self.assertIn("Gen5 x8 of Gen5 x16, limits the path", looks["bad"])
        self.assertIn("0000:04:00.0", looks["bad"])
        self.assertIn("NVIDIA H200", looks["good"])
        self.assertIn("the link at 0000:04:00.0 is weak", picture.find(f"{SVG}desc").text)
        table = self.table_of(page, "Links of each way")
        self.assertEqual([row[1:4] for row in table[1:]], [
            ["0000:00:06.0 - 0000:05:00.0", "Gen5 x16", "Gen5 x16"],
            ["0000:04:00.0 - 0000:00:01.0", "Gen5 x8", "Gen5 x16"],
        ])
        self.assertEqual(table[2][5], "less than both ends can do; limits the path")

    # ---- timelines ----

    def test_timelines_of_a_trace(self):
        page = self.report(TRACE)
        serial, overlapped = self.pictures_of(page, "timelines")
        self.assertEqual(serial.find(f"{SVG}title").text, "One iteration of pipeline serial h2d 64 MiB device 0")
        self.assertIn("stream 3", self.texts_of(overlapped))
        self.assertIn("waiting", self.texts_of(overlapped))
        self.assertGreater(len([box for box in overlapped.iter(f"{SVG}rect") if box.get("class") == "span"]), 100)
        table = self.table_of(page, "One iteration of pipeline overlapped")
        self.assertEqual(table[0], ["Thread or stream", "Spans", "At work", "Waiting", "Data"])
        self.assertEqual(len(table), 1 + 16 + 4)

    def test_a_trace_that_is_wrong_is_left_out(self):
        trace = harness.read_json(TRACE)
        next(event for event in trace["traceEvents"] if event["ph"] == "X")["dur"] = -1
        self.write_json("wrong.json", trace)
        page = self.report(TRACE, "wrong.json", code=1, err=r"wrong\.json: traceEvents\[\d+\]\.dur")
        self.assertEqual(len(self.pictures_of(page, "timelines")), 2)

    # ---- comparisons ----

    def test_ratios_of_a_comparison(self):
        files = [os.path.join(RESULTS, "h200", f"compare-{name}.json") for name in ("baseline", "busy-link")]
        outcome = self.run_program("compare", *files, "--format", "json")
        self.assertEqual(outcome.code, 1, outcome)
        self.write("compared.json", outcome.out)
        page = self.report("compared.json")
        (picture,) = self.pictures_of(page, "ratios")
        looks = [group.get("class") for group in picture.iter(f"{SVG}g")
                 if any(child.get("class", "").startswith("marker") for child in group)]
        self.assertEqual((looks.count("bad"), looks.count("good")), (5, 1))
        self.assertIn("2 % less", self.texts_of(picture))
        self.assertIn("below 0.98 is worse", picture.find(f"{SVG}desc").text)
        table = self.table_of(page, "Ratios")
        self.assertEqual(len(table), 1 + 6)
        self.assertEqual(table[1][3:6], ["51.3 % slower, 99 % sure of at least 51.3 %", "0.4866", "0.4865 to 0.4867"])

    # ---- trends ----

    def write_dated(self, count, step):
        """Files of one case, a day each, whose bandwidth falls by 4 % at `step`."""
        original = self.load_result("h200", "all-1g-7.json")
        original["results"] = [row for row in original["results"] if row["mode"] == "pinned"]
        for day in range(count):
            document = copy.deepcopy(original)
            document["timestamp"] = f"2026-03-{day + 1:02}T12:00:00Z"
            factor = (0.96 if day >= step else 1) * (1 + 0.001 * (day * 7 % 5))
            if day >= step:
                document["backend"]["driver_version"] = "<600>"
            for row in document["results"]:
                make_faster(row, factor)
            self.write_json(f"day-{day:02}.json", document)
        # Not in the order of their dates.
        return sorted((f"day-{day:02}.json" for day in range(count)), key=lambda name: name[::-1])

    def test_a_change_is_found(self):
        page = self.report(*self.write_dated(14, 8))
        pictures = self.pictures_of(page, "trends")
        self.assertEqual(len(pictures), 2)  # one a direction
        for picture in pictures:
            self.assertEqual([line.get("class") for line in picture.iter(f"{SVG}line")].count("mark"), 1)
        words = self.words_of(page)
        self.assertIn("Between 2026-03-08 12:00 UTC and 2026-03-09 12:00 UTC it changed: from ", words)
        self.assertIn("medians of 8 and 6 files", words)
        self.assertRegex(words, r"At the same place the driver changed from \S+ to <600>\.")
        table = self.table_of(page, "Cases of several dates")
        self.assertEqual({row[3] for row in table[1:]}, {"before 2026-03-09 12:00 UTC"})
        dates = [row[0] for row in self.table_of(page, r"\Apinned .*device 0\Z")[1:]]
        self.assertEqual(dates, sorted(dates))
        self.assertEqual(len(dates), 14)

    def test_no_change_is_no_change(self):
        page = self.report(*self.write_dated(14, 99))
        self.assertEqual({row[3] for row in self.table_of(page, "Cases of several dates")[1:]}, {"no"})
        self.assertNotIn("it changed", self.words_of(page))

    def test_few_files_tell_no_change(self):
        page = self.report(*self.write_dated(6, 3))
        self.assertIn("No change is looked for: that takes 5 files on each side of it.", self.words_of(page))
        self.pictures_of(page, "trends")
        page = self.report(*self.write_dated(2, 1))
        self.assertNotIn("By date", self.words_of(page))


if __name__ == "__main__":
    harness.main()
