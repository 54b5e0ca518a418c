#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real measurements, over the host backend: every mode moves the right bytes. What is computed of them, to the last
digit, is in tests/unit/runs, and what is printed and written in tests/golden/run.
usage: test_host.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import sys
import unittest

import harness
from harness import FEW, HOST, MODES, SMALL, SOURCE, Case, committed, figure

# What the CPU has none of, and of which its backend says so.
SKIPPED = {"managed": "lacks the capability 'managed'", "peer": "no copies between devices",
           "peer-loads": "no copies between devices"}
# hwloc describes that in place of this machine, and binds nothing.
TWO_NODES = {"HWLOC_SYNTHETIC": "numa:2 pu:2", "HWLOC_THISSYSTEM": "0"}


class Measured(Case):
    def rows(self, *arguments, code=0, **options):
        self.assert_ends(code, *HOST, *arguments, "--json", "out.json", **options)
        return self.load("out.json")["results"]

    def test_every_mode(self):
        for mode in MODES:
            latency = ("--latency",) if mode == "peer-loads" else ()
            size = "2M" if mode in ("loads", "peer-loads", "pin") else "4K,100004"
            with self.subTest(mode=mode):
                rows = self.rows("--mode", mode, *latency, "--size", size, *FEW, code=3 if mode in SKIPPED else 0)
                for row in rows:
                    self.assertEqual(row["mode"], mode)
                    if mode in SKIPPED:
                        self.assertIn(SKIPPED[mode], row["reason"])
                    elif row["status"] == "skipped":  # as a pipeline where O_DIRECT is not to be had
                        self.assertIn(mode, ("batch", "pipeline", "quantize", "compress"), row)
                    else:
                        self.assertEqual((row["status"], row["verified"]), ("ok", True), row)
                        names = [one["name"] for one in row["figures"]]
                        self.assertEqual(len(names), len(set(names)), row)

    @unittest.skipIf("hwloc" in harness.left_out(), "hwloc is not in this build")
    def test_nodes(self):
        """Of this machine, and of a described one, to which nothing can be bound: no node's row is compared with
        another's."""
        outcome = self.run_program(*SMALL, "--numa", "all", "--json", "out.json")
        self.assertIn(outcome.code, (0, 3), outcome)
        document = self.load("out.json")
        for row in document["results"]:
            if row["status"] == "ok":
                self.assertIn(row["details"]["host_memory_numa_nodes"], ("", str(row["parameters"]["numa"])))
        only = "One cell a device: this machine has one NUMA node."
        self.assertEqual(only in outcome.out, document["host"]["numa_nodes"] == 1)
        for name, words in (("near", ()), ("zero", ("--numa", "0")), ("one", ("--numa", "1"))):
            self.run_program(*SMALL, *words, "--json", f"{name}.json", environment=TWO_NODES)
        (row,) = self.load("one.json")["results"]
        self.assertEqual((row["status"], "told to describe another machine" in row["reason"]), ("skipped", True), row)
        for baseline in ("near", "zero"):
            self.run_program("compare", f"{baseline}.json", "one.json", "--format", "json", "--output", "c.json")
            for case in self.load("c.json")["cases"]:
                self.assertEqual((case["parameters"]["numa"], case["same_settings"], case["ratio"]), (1, False, None))

    def test_environment_that_is_no_text(self):
        self.rows("--mode", "pinned", "--size", "4K", *FEW, environment={"CUDA_CACHE_PATH": b"a\xffb\n"})
        self.assertEqual(self.load("out.json")["environment"]["CUDA_CACHE_PATH"], "a\ufffdb\n")

    def test_what_was_decided(self):
        told = {
            "plan": "plan: pinned registered h2d 4 KiB device 0",
            "probe": "probe: host: the CPU: always there",
            "warm-up": r"warm-up: pinned registered h2d 4 KiB device 0: \d+ times; iterations a sample: \d+",
            "stop": "stop: pinned registered h2d 4 KiB device 0: after 3 samples: fixed",
        }
        arguments = (*HOST, "--mode", "pinned", "--direction", "h2d", "--size", "4K", "--samples", "3")
        for words in (("plan",), ("stop", "probe"), tuple(told), ("1",), ("planned", "st")):
            err = self.assert_succeeds(*arguments, environment={"XFERBENCH_DEBUG": ",".join(words)}).err
            lines = "".join(f"xferbench: {told[word]}\n" for word in sorted(told) if word in words)
            self.assertRegex("".join(sorted(err.splitlines(True))), rf"\A{lines}\Z")


class Summary(Case):
    """bench/summary.py reads what this program writes."""

    def summary(self, folder):
        script = os.path.join(SOURCE, "bench", "summary.py")
        return self.assert_succeeds("-B", script, folder, program=sys.executable).out.splitlines()

    def test_of_a_run(self):
        modes = "pageable,pinned,async,double-buffer,zero-copy"
        arguments = (*HOST, "--mode", modes, "--size", "64K", "--direction", "h2d,bidir", *FEW)
        self.assert_succeeds(*arguments, "--json", "rates.json")
        self.assert_succeeds(*HOST, "--mode", "pinned", "--latency", *FEW, "--json", "times.json")
        lines, rows = self.summary(self.folder), self.load("rates.json")["results"]
        self.assertEqual((lines[0], lines[1 + len(rows)]), ("rates", "times"))
        for line, row in zip(lines[1:], rows):
            self.assertTrue(line.startswith(f"  {row['mode']} {row['variant']} {row['direction']} {row['device']} "),
                            line)
            bandwidth = figure(row, "bandwidth")
            self.assertIn(f"{bandwidth['median'] / 1e9:.2f} GB/s n=3" if bandwidth else " skipped ", line)
            self.assertEqual(" overlap " in line, figure(row, "overlap") is not None, line)
        for line in lines[2 + len(rows) :]:
            self.assertRegex(line, r"^  pinned registered (h2d|d2h) 0 +ok  host p50 [0-9.]+ us p99 [0-9.]+ us")

    def test_of_committed_files(self):
        lines = self.summary(os.path.dirname(committed("h200/sweep")))
        serial = lines[lines.index("double-buffer") + 1]
        self.assertRegex(serial, r"bidir 0 +[0-9.]+ GB/s n=.* speed_up 2\.\d+, share_of_bound 0\.\d+, gpu_busy 0\.")
        (precision,) = (line for line in lines if line.startswith("precision: "))
        self.assertRegex(precision, r"10 processes, h2d medians 55\.\d+ to 55\.\d+ GB/s, spread 0\.\d+ %")


if __name__ == "__main__":
    harness.main()
