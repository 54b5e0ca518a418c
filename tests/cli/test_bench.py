#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/summary.py reads what this program writes.
usage: test_bench.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import sys

import harness
from harness import FEW, HOST, MEASURED, SOURCE, Case, figure


class Summary(Case):
    def summary(self, folder):
        """Its lines, those of results without their indent."""
        script = os.path.join(SOURCE, "bench", "summary.py")
        outcome = self.assert_succeeds("-B", script, folder, program=sys.executable)
        self.assertEqual(outcome.err, "")
        return outcome.out.splitlines()

    def test_what_this_program_writes(self):
        arguments = (*HOST, *MEASURED, "--size", "64K", "--direction", "h2d,bidir", *FEW)
        self.assert_succeeds(*arguments, "--json", "rates.json")
        self.assert_succeeds(*HOST, "--mode", "pinned", "--latency", *FEW, "--json", "times.json")
        lines = self.summary(self.folder)
        rows = self.load("rates.json")["results"]
        self.assertEqual((lines[0], lines[1 + len(rows)]), ("rates", "times"))
        for line, row in zip(lines[1:], rows):
            name = f"  {row['mode']} {row['variant']} {row['direction']} {row['device']} "
            self.assertTrue(line.startswith(name), line)
            bandwidth = figure(row, "bandwidth")
            told = f"{bandwidth['median'] / 1e9:.2f} GB/s n=3" if bandwidth else " skipped "
            self.assertIn(told, line)
            self.assertEqual(" overlap " in line, figure(row, "overlap") is not None, line)
            self.assertEqual(" speed_up " in line, row["mode"] == "double-buffer", line)
        for line in lines[2 + len(rows) :]:
            self.assertRegex(line, r"^  pinned registered (h2d|d2h) 0 +ok  host p50 [0-9.]+ us p99 [0-9.]+ us")

    def test_committed_files(self):
        lines = self.summary(os.path.join(SOURCE, "bench", "results", "h200"))
        serial = lines[lines.index("double-buffer") + 1]
        self.assertRegex(serial, r"bidir 0 +[0-9.]+ GB/s n=.* speed_up 2\.\d+, share_of_bound 0\.\d+, gpu_busy 0\.")
        (precision,) = (line for line in lines if line.startswith("precision: "))
        self.assertRegex(precision, r"10 processes, h2d medians 55\.\d+ to 55\.\d+ GB/s, spread 0\.\d+ %")


if __name__ == "__main__":
    harness.main()
