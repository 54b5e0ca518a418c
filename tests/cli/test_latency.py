#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--latency: single operations, and percentiles of their times.
usage: test_latency.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import csv
import io
import json
import re

import harness
from harness import ABOUT_LATENCY, BIDIR, FEW, HOST, MODES, ONLY_NAMED, figure
from measuring import CSV_LATENCY, Measuring


class Latency(Measuring):
    """--latency: single operations, and percentiles of their times."""

    def test_percentiles(self):
        modes = ("--mode", "pageable,pinned,async,zero-copy", "--staging", "driver")
        document = self.run_to_json(*HOST, *modes, "--latency", "-n", "23", "-t", "1ms")
        self.assertEqual(len(document["results"]), 8)
        for result in document["results"]:
            with self.subTest(mode=result["mode"], direction=result["direction"]):
                self.assertIs(result["latency"], True)
                self.assertEqual(result["bytes"], 4)
                self.assertEqual(result["details"]["iterations_per_sample"], 1)
                self.assertIsNone(figure(result, "bandwidth"))
                self.assertIsNone(figure(result, "overlap"))
                self.assert_sampled(result, "latency_host")
                host, device = figure(result, "latency_host"), figure(result, "latency_device")
                self.assertEqual((len(host["samples"]), host["n"]), (23, 23))
                # The device's samples are those of the row, which stand there already.
                self.assertEqual((device["samples"], device["n"]), ([], 23))
                self.assert_statistics(device, result["samples_s"])
                self.assertEqual(figure(result, "submit_time")["n"], 23)

    def test_table(self):
        outcome = self.assert_succeeds(
            *(*HOST, "-m", "pinned", "-d", "h2d", "--latency", "-n", "7", "-t", "1ms", "--verbose"),
            *("--json", "out.json"),
        )
        head, (row,) = self.head_and_rows(outcome.out)
        self.assertRegex(
            head,
            r"^MODE +VARIANT +DIR +SIZE +HOST P50 +P95 +P99 +DEVICE P50 +P95 +P99 +N +"
            r"(VERIFIED|OK)$",
        )
        self.assertRegex(row, r"^pinned +registered +h2d +4 B +")
        cells = re.findall(r"([0-9.]+) (ns|us|ms|s)\b", row)
        (result,) = self.load("out.json")["results"]
        clocks = [figure(result, f"latency_{clock}") for clock in ("host", "device")]
        expected = [clock[key] for clock in clocks for key in ("median", "p95", "p99")]
        self.assertEqual(len(cells), len(expected), row)
        for (digits, unit), seconds in zip(cells, expected):
            scaled = seconds / {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]
            self.assertEqual(digits, f"{scaled:.{len(digits.partition('.')[2])}f}")
        self.assertRegex(row, r" 7 +yes$")

    def test_csv(self):
        outcome = self.assert_succeeds(
            *(*HOST, "-m", "pinned", "-d", "both,bidir", "--latency", "-n", "7", "-t", "1ms", "--verbose"),
            *("--json", "out.json", "--csv", "-"),
        )
        lines = list(csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True))
        results = self.load("out.json")["results"]
        self.assert_statuses(results, ["ok", "ok", "skipped"])
        for line, result in zip(lines, results, strict=True):
            self.assertEqual(line["latency"], "true")
            for column, (name, key) in CSV_LATENCY.items():
                expected = (figure(result, name) or {key: None})[key]
                self.assertEqual(float(line[column]) if line[column] else None, expected, column)

    def test_both_ways_at_once_is_no_single_operation(self):
        arguments = ("-m", "pinned,async", *BIDIR, "--latency", "-n", "3", "-t", "1ms")
        document, _ = self.run_whatever(3, *arguments)
        for result in document["results"]:
            self.assert_skipped(result, "latency is that of a single operation", "both ways")
            self.assertEqual(result["figures"], [])

    def test_size(self):
        """4 bytes, whatever else is asked for; another size only by name."""
        arguments = ("-m", "pinned", "-d", "h2d", "--latency", "-n", "3", "-t", "1ms")
        self.assertEqual(self.run_one(*arguments, "--quick")["bytes"], 4)
        self.assertEqual(self.run_one(*arguments, "--size", "2K")["bytes"], 2048)

    def test_all_modes(self):
        document, _ = self.run_whatever(0, "--latency", "-n", "3", "-t", "1ms")
        self.assertEqual({result["mode"] for result in document["results"]}, set(MODES) - set(ONLY_NAMED))
        for result in document["results"]:
            own = result["mode"] in ABOUT_LATENCY
            self.assertEqual(result["bytes"], 2 << 20 if own else 4)
            skipped = result["mode"] in ("double-buffer", "managed", "peer", "peer-loads")
            self.assertEqual(result["status"], "skipped" if skipped else "ok", result)

    def test_nobody_else_has_latency(self):
        result = self.run_one("-m", "pinned", "-d", "h2d", "-s", "4", *FEW)
        self.assertIs(result["latency"], False)
        for clock in ("host", "device"):
            self.assertIsNone(figure(result, f"latency_{clock}"))


class Loads(Measuring):
    """A mode that is about a latency of its own."""

    ARGUMENTS = (*HOST, "--mode", "loads", *FEW)
    LOADS = 16384

    def test_json(self):
        """Its cases are latency cases, whether they are asked for or not."""
        for latency in ((), ("--latency",)):
            document = self.run_to_json(*self.ARGUMENTS, *latency, "--access", "sequential,random")
            cases = [(row["variant"], row["direction"]) for row in document["results"]]
            expected = [(order, way) for order in ("sequential", "random") for way in ("h2d", "d2d")]
            self.assertEqual(cases, expected)
            for row in document["results"]:
                self.assertEqual((row["latency"], row["bytes"], row["peer"]), (True, 2 << 20, None))
                self.assertEqual(row["bytes_moved"], 8 * self.LOADS)
                self.assertEqual(row["details"]["loads_per_sample"], self.LOADS)
                self.assertEqual([one["name"] for one in row["figures"]], ["setup_time", "load_latency"])
                found = figure(row, "load_latency")
                self.assertEqual((found["unit"], found["more_is_better"], found["gates"]), ("s", False, True))
                self.assert_statistics(found, [seconds / self.LOADS for seconds in row["samples_s"]])

    def test_size_is_the_memory_that_they_go_through(self):
        document = self.run_to_json(*self.ARGUMENTS, "--size", "3M,2097153", "-d", "h2d")
        self.assertEqual([row["bytes"] for row in document["results"]], [3 << 20, 2097153])
        document, _ = self.run_whatever(3, *self.ARGUMENTS[2:], "--size", "2097151", "-d", "d2d")
        self.assert_skipped(document["results"][0], "loads goes through 2 MiB or more")

    def test_table(self):
        """By the device's clock, and none of the host's."""
        outcome = self.assert_succeeds(*self.ARGUMENTS, "-d", "h2d", "--verbose", "--json", "out.json")
        _, (row,) = self.head_and_rows(outcome.out)
        found = figure(self.load("out.json")["results"][0], "load_latency")
        cells = re.findall(r"([0-9.]+) (ns|us)\b", row)
        self.assertEqual(len(cells), 3, row)
        for (digits, unit), key in zip(cells, ("median", "p95", "p99")):
            scaled = found[key] / {"ns": 1e-9, "us": 1e-6}[unit]
            self.assertEqual(digits, f"{scaled:.{len(digits.partition('.')[2])}f}")
        self.assertRegex(row, r"^loads +sequential +h2d +2 MiB +- +- +- .* 3 +yes$")
        self.assertEqual(self.assert_succeeds("show", "--verbose", "out.json").out, outcome.out.replace(harness.ASKS_FOR_MORE, ""))

    def test_several_processes(self):
        outcome = self.assert_succeeds(*self.ARGUMENTS, "-d", "d2d", "--verbose", "--processes", "2", "--json", "out.json")
        self.assertRegex(outcome.out, r"(?m)^loads +sequential +d2d +2 MiB +- .*[0-9.]+% .* 2 +yes$")
        (row,) = self.load("out.json")["results"]
        self.assertEqual(len(figure(row, "load_latency")["medians"]), 2)
        self.assertEqual(self.assert_succeeds("show", "--verbose", "out.json").out, outcome.out.replace(harness.ASKS_FOR_MORE, ""))

    def test_csv(self):
        outcome = self.assert_succeeds(*self.ARGUMENTS, "--json", "out.json", "--csv", "-")
        lines = csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True)
        for line, row in zip(lines, self.load("out.json")["results"], strict=True):
            self.assertEqual((line["latency"], line["median_bytes_per_second"]), ("true", ""))
            self.assertEqual(float(line["load_latency_s"]), figure(row, "load_latency")["median"])
            self.assertEqual(line["host_latency_p50_s"], "")

    def test_compare_gates_on_it(self):
        """Less is better, without being asked."""
        document = self.run_to_json(*self.ARGUMENTS, "-d", "h2d")
        for name, factor in (("old", 1), ("slower", 1.5), ("faster", 0.5)):
            documents = []
            for i in range(8):
                one = copy.deepcopy(document)
                found = figure(one["results"][0], "load_latency")
                seconds = factor * (1 + 0.001 * i) * 1e-6
                found.update(dict.fromkeys(("median", "min", "max", "p5", "p95", "p99"), seconds))
                found.update(ci95_low=None, ci95_high=None, mad=0, samples=[], n=3)
                documents.append(one)
            self.write_json(f"{name}.json", harness.merged(documents))
        for name, code, verdict in (("slower", 1, "REGRESSION"), ("faster", 0, "IMPROVED")):
            outcome = self.assert_ends(code, "compare", "old.json", f"{name}.json", "--format", "json")
            (case,) = json.loads(outcome.out)["cases"]
            self.assertEqual((case["figure"], case["verdict"], case["gates"]), ("load_latency", verdict, True))


if __name__ == "__main__":
    harness.main()
