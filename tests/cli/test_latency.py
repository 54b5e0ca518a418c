#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--latency: single operations, and percentiles of their times.
usage: test_latency.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import io
import re

import harness
from harness import BIDIR, FEW, HOST, figure
from measuring import CSV_LATENCY, Measuring


class Latency(Measuring):
    """--latency: single operations, and percentiles of their times."""

    def test_percentiles(self):
        modes = ("--mode", "pageable,pinned,async,zero-copy")
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
            *(*HOST, "-m", "pinned", "-d", "h2d", "--latency", "-n", "7", "-t", "1ms"),
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
            *(*HOST, "-m", "pinned", "-d", "both,bidir", "--latency", "-n", "7", "-t", "1ms"),
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
        for result in document["results"]:
            self.assertEqual(result["bytes"], 4)
            skipped = result["mode"] in ("double-buffer", "managed", "peer")
            self.assertEqual(result["status"], "skipped" if skipped else "ok", result)

    def test_nobody_else_has_latency(self):
        result = self.run_one("-m", "pinned", "-d", "h2d", "-s", "4", *FEW)
        self.assertIs(result["latency"], False)
        for clock in ("host", "device"):
            self.assertIsNone(figure(result, f"latency_{clock}"))


if __name__ == "__main__":
    harness.main()
