#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each mode alone has: its options, and what its record says.
usage: test_modes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import itertools

import harness
from harness import FEW, HOST
from measuring import Measuring


class Modes(Measuring):
    """What each mode alone has: its options, and what its record says."""

    PIPELINE = ("--mode", "double-buffer", "--size", "64K", *FEW)

    def test_host_memory(self):
        """'pageable' is async's alone, and only where one copy does not wait for another."""
        document, _ = self.run_whatever(
            *(0, "--mode", "pinned,async", "--host-memory", "registered,alloc,pageable"),
            *("--direction", "h2d,bidir", "--size", "4K", *FEW),
        )
        found = {
            (result["mode"], result["variant"], result["direction"]): result
            for result in document["results"]
        }
        self.assertEqual(len(found), 12)
        for (mode, variant, direction), result in found.items():
            with self.subTest(mode=mode, variant=variant, direction=direction):
                if variant != "pageable" or (mode, direction) == ("async", "h2d"):
                    self.assertEqual((result["status"], result["verified"]), ("ok", True), result)
                elif mode == "pinned":
                    words = ("pinned is about page-locked memory", "pageable or async")
                    self.assert_skipped(result, *words)
                else:
                    self.assert_skipped(result, "pageable memory keeps its caller")

    def test_pageable_pipeline(self):
        document, _ = self.run_whatever(3, *self.PIPELINE, "--host-memory", "pageable")
        self.assert_skipped(document["results"][0], "double-buffer is about page-locked memory")

    def test_pipeline(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "16K")
        self.assertEqual((result["direction"], result["bytes_moved"]), ("bidir", 2 * 65536))
        self.assert_described(result)
        self.assert_parts(result, "serial", "h2d", "kernel", "d2h", "copies")
        details = result["details"]
        self.assertEqual((details["buffers"], details["chunk_bytes"]), (3, 16384))
        self.assertGreaterEqual(details["compute_steps"], 1)
        self.assert_stages(result)

    def assert_stages(self, result):
        """What the record says of its parts is what they say."""
        details = result["details"]
        stages = {name: part["median_s"] for name, part in result["parts"].items()}
        serial = stages.pop("serial")
        overlapped = result["bytes_moved"] / result["bandwidth_bytes_per_second"]["median"]
        expected = {
            "overlapped_s": overlapped,
            "serial_s": serial,
            "speed_up": serial / overlapped,
            "bound_s": max(stages.values()),
            "efficiency": max(stages.values()) / overlapped,
            "compute_share": stages["kernel"] / overlapped,
        }
        for key, value in expected.items():
            self.assert_near(details[key], value, key)

    def test_pipeline_of_one_chunk(self):
        """The chunk is no larger than what is sent, in whole words."""
        for size, chunk in (("4K", 4096), ("1001", 1008), ("1", 8)):
            result = self.run_one("--mode", "double-buffer", "--size", size, *FEW)
            self.assertEqual(result["details"]["chunk_bytes"], chunk, size)

    def test_buffers(self):
        for buffers in ("2", "32"):
            result = self.run_one(*self.PIPELINE, "--chunk", "1K", "--buffers", buffers)
            self.assertEqual(result["details"]["buffers"], int(buffers))

    def test_kernel_time(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "32K", "--kernel-time", "1ms")
        self.assertGreaterEqual(result["details"]["compute_steps"], 1)
        self.assert_stages(result)

    def test_no_kernel(self):
        """Nothing computes, so nobody may say that something did."""
        result = self.run_one(*self.PIPELINE, "--chunk", "16K", "--kernel-time", "none")
        self.assertEqual(result["details"]["compute_steps"], 0)
        self.assertEqual(result["details"].get("compute_share", 0), 0)

    def test_zero_copy(self):
        words = ("sequential", "strided", "random")
        arguments = ("--mode", "zero-copy", "--size", "60K", *FEW)
        for passes in (1, 3):
            document = self.run_to_json(
                *(*HOST, *arguments, "--access", ",".join(words), "--passes", str(passes))
            )
            cases = [(result["variant"], result["direction"]) for result in document["results"]]
            self.assertEqual(cases, [*itertools.product(words, ("h2d", "d2h"))])
            for result in document["results"]:
                with self.subTest(passes=passes, case=(result["variant"], result["direction"])):
                    self.assertEqual(result["bytes_moved"], passes * 61440)
                    self.assertEqual(result["details"]["passes"], passes)
                    self.assert_described(result)
                    self.assert_parts(result, "copy", "kernel", "explicit")
                    self.assert_break_even(result, passes)

    def assert_break_even(self, result, passes):
        """From how many passes on one copy and local kernels take less than kernels in place."""
        details = result["details"]
        copy, kernel, explicit = (
            result["parts"][name]["median_s"] for name in ("copy", "kernel", "explicit")
        )
        in_place = result["bytes_moved"] / result["bandwidth_bytes_per_second"]["median"] / passes
        gain = in_place - kernel / passes
        self.assert_near(details["explicit_s"], explicit)
        if gain <= 0:
            self.assertNotIn("break_even_passes", details)
        else:
            self.assertLessEqual(abs(details["break_even_passes"] - (copy // gain + 1)), 1)

    def test_parts_say_what_they_move(self):
        """Between host and device, by one iteration; nothing where only the device works."""
        expected = {
            "double-buffer": {"serial": 2, "h2d": 1, "kernel": 0, "d2h": 1, "copies": 2},
            "zero-copy": {"copy": 1, "kernel": 0, "explicit": 1},
        }
        arguments = ("-m", "double-buffer,zero-copy", "-s", "4K", *FEW, "--passes", "3")
        for result in self.run_to_json(*HOST, *arguments)["results"]:
            found = {name: part["bytes"] / 4096 for name, part in result["parts"].items()}
            with self.subTest(mode=result["mode"], direction=result["direction"]):
                self.assertEqual(found, expected[result["mode"]])

    def test_managed(self):
        """Which of its forms are asked for; the host backend says of each that it has none."""
        document, out = self.run_whatever(
            3, "--mode", "managed", "--managed", "fault,prefetch,advise", "--size", "4K", *FEW
        )
        cases = [(result["variant"], result["direction"]) for result in document["results"]]
        words = ("fault", "prefetch", "advise")
        self.assertEqual(cases, [*itertools.product(words, ("h2d", "d2h"))])
        for result in document["results"]:
            self.assert_skipped(result, "capability 'managed'", f"managed {result['variant']}")
        self.assertEqual(len(self.rows(out)), 6)


if __name__ == "__main__":
    harness.main()
