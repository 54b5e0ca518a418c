#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of `xferbench report`, and their numbers, of files that have more than curves.
usage: test_report_pictures.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import os
import re
import unittest
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

    def pictures_of(self, page, title):
        """Those whose title has that in it."""
        pictures = [svg for svg in page.iter(f"{SVG}svg") if re.search(title, svg.find(f"{SVG}title").text)]
        self.assertGreater(len(pictures), 0, title)
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
        (picture,) = self.pictures_of(page, "Copies between")
        self.assertIn("394.7", self.texts_of(picture))
        self.assertIn("nearly equal, one shade", " ".join(self.texts_of(picture)))
        self.assertEqual({group.get("class") for group in picture.iter(f"{SVG}g")}, {"step-2 light"})
        self.assertEqual(self.texts_of(picture)[:10], ["from", "to"] + ["GPU 0", "GPU 1", "GPU 2", "GPU 3"] * 2)
        self.assertEqual(self.texts_of(picture)[10:12], ["-", "394.7"])

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
        picture = self.pictures_of(page, "rows: ")[0]
        shades = {"".join(group.find(f"{SVG}text").itertext()): group.get("class")
                  for group in picture.iter(f"{SVG}g") if group.find(f"{SVG}text") is not None}
        slow_text = min((text for text in shades), key=float)
        self.assertLess(float(slow_text), 50)
        self.assertEqual(shades[slow_text], "step-1 light")
        self.assertEqual({look for text, look in shades.items() if text != slow_text}, {"step-7 deep"})
        self.assertIn(f"The least is {slow_text} GB/s, from device 1, to device 2", picture.find(f"{SVG}desc").text)

    @unittest.skipIf("hwloc" in harness.left_out(), "hwloc is not in this build")
    def test_nodes_with_devices(self):
        arguments = ("--backend", "host", "--mode", "pinned", "--direction", "h2d", "--size", "64K", "--numa", "all")
        outcome = self.run_program(*arguments, *harness.FEW, "--json", "nodes.json")
        self.assertIn(outcome.code, (0, 3), outcome)  # where no node may be bound to all is skipped
        page = self.report("nodes.json")
        (picture,) = self.pictures_of(page, "rows: NUMA nodes")
        self.assertIn("device 0", self.texts_of(picture))
        self.assertIn("memory on", self.texts_of(picture))
        self.assertRegex(" ".join(self.texts_of(picture)), "node [0-9]+")

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
        (picture,) = self.pictures_of(page, "Links between")
        looks = self.looks_of(picture)
        self.assertIn("Gen5 x8 of Gen5 x16 limits the path", looks["bad"])
        self.assertIn("0000:04:00.0", looks["bad"])
        self.assertIn("NVIDIA H200", looks["good"])
        self.assertIn("the link at 0000:04:00.0 is weak", picture.find(f"{SVG}desc").text)
        self.assertIn("0000:04:00.0 - 0000:00:01.0", self.words_of(page))

    def looks_of(self, picture):
        """What is written in each look. Nothing is cut: a text that is has a title."""
        self.assertEqual([text for text in picture.iter(f"{SVG}text") if len(text)], [])
        looks = {}
        for group in picture.iter(f"{SVG}g"):
            looks.setdefault(group.get("class"), []).extend(self.texts_of(group))
        return {look: " ".join(texts) for look, texts in looks.items()}

    def test_a_shared_hop_that_limits_the_second_device(self):
        """The first device has a worse link of its own; the other's is as it should be."""
        document = self.load_result("h200", "link-1.json")
        document["devices"].append(copy.deepcopy(document["devices"][0]))
        for index, device in enumerate(document["devices"]):
            address = f"0000:{index + 5:02x}:00.0"
            device.update(index=index, pci_bdf=address)
            device["verdict"].update(bottleneck=index, level="WARNING")
            for attempt in device["attempts"]:
                for path in (attempt["at_rest"], attempt["after"]):
                    (hop,) = path["hops"]
                    ends = [dict(hop["lower"], bdf=end) for end in ("0000:02:00.0", "0000:00:01.0")]
                    path["hops"].append(dict(hop, lower=ends[0], upper=ends[1]))
                    hop["upper"] = dict(hop["lower"], bdf=f"0000:03:{index:02x}.0")
                    hop["lower"] = dict(hop["lower"], bdf=address)
                (seen,) = attempt["under_load"]["hops"]
                attempt["under_load"]["hops"] = [dict(seen, width=16 if index else 4), dict(seen, width=8)]
        self.write_json("link.json", document)
        (picture,) = self.pictures_of(self.report("link.json"), "Links between")
        looks = self.looks_of(picture)
        self.assertIn("Gen5 x8 of Gen5 x16 limits the path bridge", looks["bad"])
        self.assertIn("Gen5 x4 of Gen5 x16 limits the path GPU 0: WARNING", looks["bad"])
        self.assertEqual(looks["good"], "Gen5 x16")
        self.assertIn("GPU 1: WARNING", looks["unsure"])

    # ---- bars ----

    def bars_of(self, picture):
        """Left end and width of each, with its value."""
        bars = [box for box in picture.iter(f"{SVG}rect") if box.get("class") == "span" and float(box.get("height")) > 12]
        values = [text.text for text in picture.iter(f"{SVG}text") if text.get("class") == "strong end"]
        self.assertEqual(len(bars), len(values))
        return [(float(bar.get("x")), float(bar.get("width")), float(value)) for bar, value in zip(bars, values)]

    def test_bars_begin_at_zero_and_share_their_axis(self):
        """So a method that reaches half as far is half as fast, also in the picture beside it."""
        page = self.report(os.path.join(RESULTS, "h200", "all-1g-7.json"))
        to, back = self.pictures_of(page, "To the GPU, 1 GiB")[0], self.pictures_of(page, "Back to the host, 1 GiB")[0]
        scales = []
        for picture in (to, back):
            axis = next(line for line in picture.iter(f"{SVG}line") if line.get("class") == "axis")
            bars = self.bars_of(picture)
            self.assertEqual(len(bars), 7)
            self.assertEqual([bar[2] for bar in bars], sorted((bar[2] for bar in bars), reverse=True))
            self.assertEqual({bar[0] for bar in bars}, {float(axis.get("x1"))})
            scales += [width / value for _, width, value in bars if value > 10]
        self.assertLess(max(scales) / min(scales), 1.02)
        self.assertIn("link carries 58.1", self.texts_of(to))

    def test_two_machines_stand_in_one_picture(self):
        files = [os.path.join(RESULTS, machine, name) for machine, name in (("h100", "all-1g-5.json"), ("h200", "all-1g-7.json"))]
        page = self.report(*files)
        (picture,) = self.pictures_of(page, "To the GPU, 1 GiB")
        texts = self.texts_of(picture)
        for text in ("H100 80GB HBM3", "H200", "52.79", "55.34"):
            self.assertIn(text, texts)
        table = self.table_of(page, "GB/s, or a time")
        self.assertEqual(table[0], ["Results", "At", "H100 80GB HBM3", "H200"])
        self.assertEqual(table[1], ["To the GPU: pinned", "1 GiB", "52.79", "55.34"])
        self.assertIn("2 files", self.words_of(page))
        self.assertNotIn(" UTC, 2 files", self.words_of(page))  # each date stands with its file
        self.assertIn("PCIe Gen5 x16, at best Gen5 x16", self.words_of(page))
        page = self.report(os.path.join(RESULTS, "h100", "sweep.json"), os.path.join(RESULTS, "h200", "crossover.json"))
        (picture,) = self.pictures_of(page, "To the GPU, by size")
        self.assertIn("H100 80GB HBM3 pinned", self.texts_of(picture))
        self.assertIn("H200 pinned", self.texts_of(picture))

    def test_a_parameter_that_only_files_differ_in_is_named(self):
        page = self.report(*(os.path.join(RESULTS, "h200", f"compare-{name}.json") for name in ("baseline", "small-chunks")))
        rows = {row[0]: row[2:] for row in self.table_of(page, "GB/s, or a time")[1:]}
        self.assertEqual(rows["To the GPU: async"][1], "-")
        self.assertEqual(rows["To the GPU: async, chunk 64 KiB"][0], "-")

    def test_small_copies_are_compared_by_the_whole_copy(self):
        page = self.report(os.path.join(RESULTS, "h100", "tensor-16k.json"))
        picture = self.pictures_of(page, "To the GPU, 16 KiB: time of the whole copy")[0]
        self.assertFalse([text for text in self.texts_of(picture) if "link carries" in text])
        self.assertIn("10.7 us", self.texts_of(picture))

    def test_gpus_that_measured_the_same_stand_side_by_side(self):
        page = self.report(os.path.join(RESULTS, "h200-x2", "all-devices-1g.json"))
        (picture,) = self.pictures_of(page, "To the GPU, 1 GiB")
        self.assertLessEqual({"GPU 0", "GPU 1"}, set(self.texts_of(picture)))
        self.pictures_of(page, "rows: from, columns: to")

    def test_a_failed_size_does_not_hide_the_others(self):
        document = self.load_result("h200", "all-1g-7.json")
        small = copy.deepcopy(document["results"])
        for row in small:
            row["bytes"] //= 2
        for row in document["results"]:
            row.update(status="error", reason="it failed", verified=None, figures=[])
        document.update(results=document["results"] + small, reading=[])
        self.write_json("failed.json", document)
        page = self.report("failed.json")
        self.assertIn("55.34", self.texts_of(self.pictures_of(page, "To the GPU, 512 MiB: GB/s")[0]))
        self.assertIn("FAILED", self.words_of(page))

    def test_results_of_different_things_do_not_stand_side_by_side(self):
        page = self.report(os.path.join(RESULTS, "h200", "all-1g-7.json"), os.path.join(RESULTS, "h200", "pipeline-8g.json"))
        self.assertNotIn("GB/s, or a time", self.words_of(page))
        self.assertEqual(len(self.pictures_of(page, "To the GPU, 1 GiB")), 1)

    def test_a_spread_of_next_to_nothing_looks_like_it(self):
        page = self.report(os.path.join(RESULTS, "h200", "compare-baseline.json"))
        (picture,) = self.pictures_of(page, "around")
        ticks = [float(text) for text in self.texts_of(picture) if re.fullmatch(r"[0-9.]+", text)]
        self.assertLessEqual(min(ticks), 99)
        self.assertGreaterEqual(max(ticks), 101)

    # ---- timelines ----

    def test_timelines_of_a_trace(self):
        page = self.report(TRACE)
        serial, overlapped = self.pictures_of(page, "One iteration")
        self.assertEqual(serial.find(f"{SVG}title").text, "One iteration of pipeline serial h2d 64 MiB device 0")
        self.assertIn("stream 3", self.texts_of(overlapped))
        # Both have one axis: who is done sooner looks so.
        for picture in (serial, overlapped):
            self.assertIn("7", self.texts_of(picture))
        self.assertIn("waiting", self.texts_of(overlapped))
        self.assertGreater(len([box for box in overlapped.iter(f"{SVG}rect") if box.get("class") == "span"]), 100)
        table = self.table_of(page, "One iteration of pipeline overlapped")
        self.assertEqual(table[0], ["Thread or stream", "Spans", "At work", "Waiting", "Data"])
        self.assertEqual(len(table), 1 + 16 + 4)

    def test_what_is_wrong_in_a_trace_is_left_out(self):
        trace = harness.read_json(TRACE)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        spans[0]["dur"], spans[1]["ts"] = -1, 1e300
        trace["traceEvents"] = [event for event in trace["traceEvents"]
                                if event["name"] != "process_name" and event.get("args", {}).get("name") != "thread 0 (submits)"]
        self.write_json("wrong.json", trace)
        page = self.report("wrong.json")
        self.assertEqual(len(self.pictures_of(page, "One iteration of a case")), 2)
        self.assertIn("2 events are left out: their times cannot be", self.words_of(page))
        rows = [row for row in self.table_of(page, "One iteration of a case") if row[0] == "without a name"]
        self.assertEqual(len(rows), 1)

    def test_traces_of_others_and_without_cases(self):
        event = {"ph": "X", "cat": "kernel", "name": "add", "ts": 1, "dur": 1, "args": {"device": 0}}
        self.write_json("other.json", {"traceEvents": [event]})
        self.write_json("empty.json", {"traceEvents": [], "otherData": {"tool": "xferbench 1.0.0"}})
        self.write_json("broken.json", {"traceEvents": [1], "otherData": {"tool": "xferbench 1.0.0"}})
        page = self.report(TRACE, "other.json", "empty.json", "broken.json", code=1, err=r"other\.json: is not a file")
        self.assertEqual(len(self.pictures_of(page, "One iteration")), 2)
        self.assertIn("Timelines of 0 cases", self.words_of(page))
        self.assertRegex(self.words_of(page), r"broken\.json: byte \d+: no event begins here")

    # ---- comparisons ----

    def test_ratios_of_a_comparison(self):
        files = [os.path.join(RESULTS, "h200", f"compare-{name}.json") for name in ("baseline", "busy-link")]
        outcome = self.run_program("compare", *files, "--format", "json")
        self.assertEqual(outcome.code, 1, outcome)
        self.write("compared.json", outcome.out)
        page = self.report("compared.json")
        (picture,) = self.pictures_of(page, "Candidate by baseline")
        looks = [group.get("class") for group in picture.iter(f"{SVG}g")
                 if any(child.get("class", "").startswith("marker") for child in group)]
        self.assertEqual((looks.count("bad"), looks.count("good")), (5, 1))
        self.assertIn("2 % less", self.texts_of(picture))
        self.assertIn("below 0.98 is worse", picture.find(f"{SVG}desc").text)
        self.assertIn("pinned to the GPU, 256 MiB", self.texts_of(picture))
        self.assertIn("5 of 6 results are slower by 2 % or more", self.words_of(page))

    # ---- fleets ----

    def write_fleet(self, nodes, odds):
        """Link tests of so many nodes of two GPUs, alike but for `odds`: factors by node and GPU."""
        original = self.load_result("h200-x2", "link-pairs.json")
        names = []
        for node in range(1, nodes + 1):
            document = copy.deepcopy(original)
            document["host"]["hostname"] = f"gpu{node}"
            document["timestamp"] = f"2026-03-{node:02}T12:00:00Z"
            for device in document["devices"]:
                device["uuid"] = f"GPU-{node}-{device['index']}"
                factor = odds.get((node, device["index"]), 1) * (1 + 0.0002 * (node * 7 % 5 + device["index"]))
                # Both are of one device: those of the file differ by more.
                device["attempts"][0]["h2d_bytes_per_second"] = 53.2e9 * factor
                device["verdict"]["h2d_share"] = 53.2e9 * factor / 58080802266.03722
            names.append(f"gpu{node}.json")
            self.write_json(names[-1], document)
        return names

    def test_a_fleet_names_what_is_not_like_its_siblings(self):
        page = self.report(*self.write_fleet(12, {(10, 1): 0.95, (3, 0): 1.04}))
        words = self.words_of(page)
        self.assertIn("1 of 12 nodes is slow: gpu10, GPU 1", words)
        self.assertIn("Drain: gpu10", words)
        # It is the answer: twelve files would push it out of sight.
        self.assertLess(words.index("Drain: gpu10"), words.index("1. gpu1.json"))
        self.assertRegex(words, r"gpu10 1 link h2d .* slow gpu3 0 link h2d .* fast")
        picture = self.pictures_of(page, "by node")[0]
        self.assertTrue(picture.find(f"{SVG}title").text.startswith("link h2d by node: NVIDIA H200, Gen5 x16, driver "))
        texts = self.texts_of(picture)
        for text in ("-5.0 %: gpu10 GPU 1", "+4.0 %: gpu3 GPU 0", "gpu1", "gpu12", "like their siblings: 22"):
            self.assertIn(text, texts)

    def test_a_node_with_many_slow_gpus_leaves_room_for_others(self):
        """A GPU has one row, however many of its figures are slow."""
        names = self.write_fleet(12, {(10, 1): 0.95, (3, 0): 0.96})
        for name in names:
            document = self.load(name)
            for device in document["devices"]:
                device["attempts"][0]["d2h_bytes_per_second"] = device["attempts"][0]["h2d_bytes_per_second"]
            self.write_json(name, document)
        words = self.words_of(self.report(*names))
        self.assertRegex(words, r"gpu10 1 link [hd]2[hd] .* \+1 slow gpu3 0 link [hd]2[hd] .* \+1 slow")

    def test_a_fleet_takes_six_gpus_of_two_nodes(self):
        self.assertNotIn("Fleet: ", self.words_of(self.report(*self.write_fleet(2, {}))))
        self.assertIn("Fleet: 3 files", self.words_of(self.report(*self.write_fleet(3, {}))))

    def test_what_fleet_wrote(self):
        finding = {"code": "slow", "is_to_drain": True, "node": "<b>gpu7", "gpu": {"index": 3}, "peer": None,
                   "text": "link h2d 52.1 GB/s, 2.0 % below its 95 siblings"}
        self.write_json("fleet.json", {
            "schema": "xferbench.fleet", "schema_version": 1, "nodes": 12, "gpus": 96, "judged_gpus": 90,
            "findings": [finding, {"code": "other-driver", "is_to_drain": False, "node": "gpu8", "gpu": None}, 7]})
        page = self.report("fleet.json")
        self.assertIn("96 GPUs of 12 nodes", self.words_of(page))
        self.assertIn("1 to drain 90 GPUs judged by their siblings, 3 findings. To drain: <b>gpu7.", self.words_of(page))
        self.assertEqual(self.table_of(page, "Findings, the worst first")[1:], [
            ["<b>gpu7", "3", "slow", finding["text"]], ["gpu8", "-", "other-driver", "-"], ["-"] * 4])

    def test_the_named_gpus_of_what_fleet_wrote_are_drawn(self):
        self.write_fleet(12, {(10, 1): 0.95, (3, 0): 1.04})
        outcome = self.run_program("fleet", self.folder, "--format", "json", "-o", "judged/fleet.json") \
            if os.makedirs(self.path("judged")) is None else None
        self.assertEqual(outcome.code, 1, outcome)
        page = self.report("judged/fleet.json")
        (picture,) = self.pictures_of(page, "link h2d by node")
        for text in ("-5.0 %: gpu10 GPU 1", "+4.0 %: gpu3 GPU 0", "slow: 1", "fast: 1"):
            self.assertIn(text, self.texts_of(picture))
        self.assertIn("Drawn are the GPUs that are named", self.words_of(page))

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
        pictures = self.pictures_of(page, "NVIDIA H200 on vm, backend")
        self.assertEqual(len(pictures), 2)  # one a direction
        for picture in pictures:
            self.assertEqual([line.get("class") for line in picture.iter(f"{SVG}line")].count("mark"), 1)
        words = self.words_of(page)
        self.assertIn("Between 2026-03-08 12:00 UTC and 2026-03-09 12:00 UTC it changed: from ", words)
        self.assertIn("medians of 8 and 6 files", words)
        self.assertRegex(words, r"At the same place the driver changed from \S+ to <600>\.")
        table = self.table_of(page, "Cases of several dates")
        self.assertEqual({row[3] for row in table[1:]}, {"before 2026-03-09 12:00 UTC"})
        dates = [row[0] for row in self.table_of(page, r"\Apinned to the GPU")[1:]]
        self.assertEqual(dates, sorted(dates))
        self.assertEqual(len(dates), 14)

    def test_no_change_is_no_change(self):
        page = self.report(*self.write_dated(14, 99))
        self.assertEqual(len(self.pictures_of(page, r": all within 0\.4 %, ")), 2)  # a scale on which that looks so
        self.assertEqual({row[3] for row in self.table_of(page, "Cases of several dates")[1:]}, {"no"})
        self.assertNotIn("it changed", self.words_of(page))

    def test_an_option_at_its_default_makes_no_other_case(self):
        """A program that lacks an option measures as one with its default; other values are other cases."""
        files = self.write_dated(14, 99)
        for name in files:
            document = self.load(name)
            for row in document["results"]:
                if name < "day-05":
                    del row["parameters"]["host-offset"]
                elif name >= "day-11":
                    row["parameters"]["host-offset"] = 64
            self.write_json(name, document)
        table = self.table_of(self.report(*files), "Cases of several dates")
        self.assertEqual([row[2] for row in table[1:]], ["11", "11", "3", "3"])  # a direction each

    def test_copies_of_a_file_are_no_further_evidence(self):
        first, second, third = self.write_dated(3, 1)
        page = self.report(*[first] * 7, *[second] * 7, third)
        table = self.table_of(page, "Cases of several dates")
        self.assertEqual({(row[2], row[3]) for row in table[1:]}, {("3", "too few files to tell")})
        self.assertNotIn("it changed", self.words_of(page))

    def test_few_files_tell_no_change(self):
        page = self.report(*self.write_dated(6, 3))
        self.assertIn("No change is looked for: that takes 5 files on each side of it.", self.words_of(page))
        self.pictures_of(page, "NVIDIA H200 on vm, backend")
        page = self.report(*self.write_dated(2, 1))
        self.assertNotIn("By date", self.words_of(page))


if __name__ == "__main__":
    harness.main()
