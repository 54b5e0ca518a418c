#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real measurements, over the host backend: every mode moves the right bytes, and what is computed follows from what
was measured. What is printed and written of them, to the last digit, is in tests/golden/run.
usage: test_host.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import math
import os
import statistics
import sys
import unittest

import harness
from harness import FEW, HOST, MODES, SMALL, SOURCE, Case, committed, figure

# What the CPU has none of, and of which its backend says so.
SKIPPED = {"managed": "lacks the capability 'managed'", "peer": "no copies between devices",
           "peer-loads": "no copies between devices"}
MANY = ("--mode", "pageable,pinned,async,double-buffer,zero-copy")
# hwloc describes that in place of this machine, and binds nothing.
TWO_NODES = {"HWLOC_SYNTHETIC": "numa:2 pu:2", "HWLOC_THISSYSTEM": "0"}


def interval_ranks(n):
    """The largest l with P(Binomial(n, 1/2) < l) <= 0.025, and n + 1 - l; in whole numbers."""
    below = low = 0
    while 40 * (below + math.comb(n, low)) <= 2**n:
        below += math.comb(n, low)
        low += 1
    return (low, n + 1 - low) if low > 0 else None


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

    def test_odd_sizes_and_chunks(self):
        """The last chunk is shorter; one byte is a size."""
        for arguments in (
            MANY, ("--mode", "pinned,async", "--direction", "bidir", "--chunk", "999"),
            *(("--mode", "double-buffer", "--chunk", chunk, "--buffers", buffers)
              for chunk, buffers in (("8", "2"), ("4096", "32"), ("1T", "3"))),
            *(("--mode", "async", "--chunk", chunk, "--streams", streams)
              for chunk, streams in (("12", "3"), ("4096", "64"), ("1000003", "1"), ("1T", "2"))),
        ):
            with self.subTest(arguments=arguments):
                for row in self.rows(*arguments, "--size", "1,4097,100003", *FEW):
                    self.assertEqual((row["status"], row["verified"]), ("ok", True), row)

    def test_bandwidth_is_what_the_times_make_it(self):
        """With an interval of the ranks that the literature has: 1 and 6 of 6, 2 and 9 of 10, 6 and 15 of 20."""
        self.assertEqual([interval_ranks(n) for n in (5, 6, 10, 20, 100)], [None, (1, 6), (2, 9), (6, 15), (40, 61)])
        for count in (1, 5, 6, 10, 20, 57):
            for row in self.rows(*MANY, "--size", "64K", "-n", str(count), "-t", "1ms", "--warm-up", "1ms"):
                rates = [row["bytes_moved"] / seconds for seconds in row["samples_s"]]
                found, ordered, ranks = figure(row, "bandwidth"), sorted(rates), interval_ranks(count)
                expected = {
                    "median": statistics.median(rates), "min": ordered[0], "max": ordered[-1],
                    "ci95_low": ranks and ordered[ranks[0] - 1], "ci95_high": ranks and ordered[ranks[1] - 1],
                }
                self.assertEqual((found["n"], len(found["samples"]), row["stop_reason"]), (count, count, "fixed"))
                for name, value in expected.items():
                    self.assertEqual(found[name] is None, value is None, name)
                    self.assertTrue(value is None or math.isclose(found[name], value, rel_tol=1e-9), (name, row))

    def test_samples(self):
        """They stop by themselves; and each call returned before its data was there."""
        for row in self.rows("-m", "pageable,async", "-s", "64K", "-t", "20ms"):
            self.assertIn(row["stop_reason"], ("converged", "time-limit"))
            self.assertGreaterEqual(len(row["samples_s"]), 6)
        for row in self.rows(*MANY, "--size", "4K,1M", *FEW):
            submit, wall = figure(row, "submit_time"), figure(row, "wall_time")
            self.assertGreater(submit["median"], 0)
            for returned, there in zip(submit["samples"], wall["samples"], strict=True):
                self.assertGreaterEqual(there, returned)

    def test_both_ways_at_once(self):
        """Neither begins before the whole nor ends behind it; what they had in common is a share of it."""
        for row in self.rows("-m", "pinned,async", "-s", "64K", "-d", "bidir", "-n", "9", "-t", "1ms", "--chunk",
                             "10000"):
            ways = [figure(row, f"bandwidth_{way}")["samples"] for way in ("h2d", "d2h")]
            for whole, there, back, overlap in zip(row["samples_s"], *ways, figure(row, "overlap")["samples"],
                                                   strict=True):
                there, back = row["bytes"] / there, row["bytes"] / back
                self.assertLessEqual(max(there, back), whole * (1 + 1e-9))
                share = min(max((there + back - whole) / whole, 0), 1)
                self.assertTrue(math.isclose(overlap, share, abs_tol=1e-9), (overlap, share))

    def test_what_follows_from_times(self):
        def medians(row, *names):
            return [figure(row, name)["median"] for name in names]

        def near(row, name, value):
            self.assertTrue(math.isclose(figure(row, name)["median"], value, rel_tol=1e-9), (name, value, row))

        (row,) = self.rows("--mode", "double-buffer", "--size", "64K", "--chunk", "16K", *FEW)
        overlapped = row["bytes_moved"] / figure(row, "bandwidth")["median"]
        serial, *stages = medians(row, "serial_time", "in_time", "kernel_time", "out_time", "copies_time")
        near(row, "speed_up", serial / overlapped)
        near(row, "share_of_bound", max(stages) / overlapped)
        near(row, "gpu_busy", stages[1] / overlapped)
        for row, steps in zip(self.rows("--mode", "resident", "--size", "64K", "--steps", "1,3", *FEW), (1, 3)):
            trips, copy_in, kernels, copy_out = medians(row, "round_trip_time", "in_time", "kernel_time", "out_time")
            resident = row["bytes_moved"] / figure(row, "bandwidth")["median"]
            near(row, "speed_up", trips / resident)
            copies = copy_in + copy_out
            near(row, "predicted_speed_up", (steps * copies + kernels) / (copies + kernels))
            if steps > 1:  # on a machine that does something else besides the trips may come out faster
                near(row, "trip_cost", max(0, trips - resident) / (steps - 1))
        for row in self.rows("--mode", "zero-copy", "--size", "60K", "--passes", "3", *FEW):
            copy, kernel = medians(row, "copy_time", "kernel_time")
            gain = row["bytes_moved"] / figure(row, "bandwidth")["median"] / 3 - kernel / 3
            self.assertLessEqual(abs(figure(row,
                                            "break_even_passes")["median"] - (copy // gain + 1 if gain > 0 else 0)), 1)
        for row in self.rows("--mode", "quantize", "--size", "64K", "--encode-chunk", "16K", "--threads", "1,2", *FEW):
            rate, plain, decode, encode = medians(row, "bandwidth", "plain_bandwidth", "decode_rate", "encode_rate")
            ratio = {"fp16": 2, "bf16": 2, "int8": 256 / 68, "fp8": 4}[row["variant"]]
            near(row, "ratio", ratio)
            near(row, "speed_up", rate / plain)
            near(row, "share_of_bound", rate / min(decode, encode, ratio * plain))

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
        arguments = (*HOST, *MANY, "--size", "64K", "--direction", "h2d,bidir", *FEW)
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
