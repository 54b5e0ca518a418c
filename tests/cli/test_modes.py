#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each mode alone has: its options, and what its record says.
usage: test_modes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import itertools

import harness
from harness import FEW, HOST, figure
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
                    self.assert_skipped(result, "a pageable copy blocks the calling thread")

    def test_pageable_pipeline(self):
        document, _ = self.run_whatever(3, *self.PIPELINE, "--host-memory", "pageable")
        self.assert_skipped(document["results"][0], "double-buffer is about page-locked memory")

    def test_pipeline(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "16K")
        self.assertEqual((result["direction"], result["bytes_moved"]), ("bidir", 2 * 65536))
        self.assert_described(result)
        self.assertEqual(result["parameters"], {"buffers": 4, "chunk": 16384, "kernel-time": "auto"})
        self.assertGreaterEqual(result["details"]["compute_steps"], 1)
        self.assert_stages(result)

    def test_resident(self):
        """What follows from the times, for one kernel and for several."""
        document = self.run_to_json(*(*HOST, "--mode", "resident", "--size", "64K", "--steps", "1,3", *FEW))
        self.assertEqual([result["parameters"] for result in document["results"]], [{"steps": 1}, {"steps": 3}])
        for result in document["results"]:
            steps = result["parameters"]["steps"]
            self.assertEqual((result["direction"], result["bytes_moved"]), ("bidir", 2 * 65536))
            self.assert_described(result)
            names = ("round_trip_time", "in_time", "kernel_time", "out_time")
            self.assert_sampled(result, *names)
            trips, copy_in, kernels, copy_out = (figure(result, name)["median"] for name in names)
            resident = result["bytes_moved"] / figure(result, "bandwidth")["median"]
            copies = copy_in + copy_out
            self.assert_computed(result, "resident_time", resident)
            self.assert_computed(result, "speed_up", trips / resident)
            self.assert_computed(result, "predicted_speed_up", (steps * copies + kernels) / (copies + kernels))
            if steps > 1:
                # On a machine that does something else besides the trips may come out faster.
                self.assert_computed(result, "trip_cost", max(0, trips - resident) / (steps - 1))
            else:
                self.assertIsNone(figure(result, "trip_cost"))

    def test_job(self):
        """Every way, with nothing that comes back, less, and more than goes in."""
        # A kernel of 5 ms: a busy machine may take 1 ms over one that has next to nothing to do.
        arguments = ("--mode", "job", "--size", "64K", "--chunk", "16K", "--gpu-time", "5ms")
        for out in (0, 5001, 200000):
            results = self.run_to_json(*HOST, *arguments, "--job-out", str(out), *FEW)["results"]
            self.assertEqual([result["variant"] for result in results], ["pageable", "ring", "pinned", "overlapped"])
            for result in results:
                self.assertEqual((result["direction"], result["bytes_moved"]), ("bidir", 65536 + out))
                self.assertEqual(result["timer"], "host-clock")
                chunk = {"chunk": 16384} if result["variant"] == "overlapped" else {}
                self.assertEqual(result["parameters"], {"gpu-time": "5ms", "job-out": out, **chunk})
                self.assert_described(result)
                self.assert_sampled(result, "in_time", "kernel_time", *(["out_time"] if out > 0 else []))
                seconds = result["bytes_moved"] / figure(result, "bandwidth")["median"]
                self.assert_computed(result, "job_time", seconds)

    def assert_beside_plain(self, result, ratio):
        """How it stands beside the plain copy, and beside its slowest stage."""
        self.assert_described(result)
        self.assertEqual((result["direction"], result["bytes_moved"], result["verified"]), ("h2d", 65536, True))
        rate = figure(result, "bandwidth")["median"]
        plain, decode, encode = (
            figure(result, name)["median"] for name in ("plain_bandwidth", "decode_rate", "encode_rate")
        )
        stages = [decode, ratio * plain] + ([] if result["variant"] == "sent" else [encode])
        self.assert_computed(result, "ratio", ratio)
        self.assert_computed(result, "speed_up", rate / plain)
        self.assert_computed(result, "share_of_bound", rate / min(stages))
        self.assert_computed(result, "threads", result["parameters"]["threads"])

    def test_quantize(self):
        """Four formats, by one thread and by two; int8 has a scale of 4 bytes for 64 values."""
        arguments = ("--mode", "quantize", "--size", "64K", "--encode-chunk", "16K", "--threads", "1,2")
        results = self.run_to_json(*HOST, *arguments, *FEW)["results"]
        ratios = {"fp16": 2, "bf16": 2, "int8": 256 / 68, "fp8": 4}
        self.assertEqual([result["variant"] for result in results], [name for name in ratios for _ in range(2)])
        for result in results:
            self.assert_beside_plain(result, ratios[result["variant"]])
            self.assertGreater(figure(result, "error_max")["median"], figure(result, "error_rms")["median"])

    def test_compress(self):
        """Zeros by `for` are nothing but a directory of 128 bytes a chunk; random data is stored behind it."""
        arguments = ("--mode", "compress", "--codec", "for", "--data", "zeros,random", "--encode-chunk", "16K")
        results = self.run_to_json(*HOST, *arguments, "--size", "64K", "--threads", "2", *FEW)["results"]
        ratios = {"zeros": 128, "random": 16384 / (16384 + 128)}
        self.assertEqual(len(results), 4)
        for result in results:
            self.assert_beside_plain(result, ratios[result["parameters"]["data"]])
            self.assertIsNone(figure(result, "error_max"))

    def test_pin(self):
        """Each way, both ways; less than a huge page has no huge pages. What it costs is counted or told why not."""
        document, _ = self.run_whatever(0, "--mode", "pin", "--size", "2M,64K", *FEW)
        words = ("alloc", "register", "used", "used-huge", "copy")
        cases = [(row["variant"], row["bytes"], row["direction"]) for row in document["results"]]
        self.assertEqual(cases, [*itertools.product(words, (2 << 20, 64 << 10), ("h2d", "d2h"))])
        for result in document["results"]:
            if result["variant"] == "used-huge" and result["bytes"] < 2 << 20:
                self.assert_skipped(result, "less than a huge page")
                continue
            self.assert_described(result)
            self.assert_sampled(result, "pageable_time", "ring_time", "setup_time", "unpin_time")
            self.assertGreaterEqual(figure(result, "setup_time")["n"], 3)
            counted = figure(result, "peak_host_memory")
            self.assertEqual(counted is None, result["details"]["host_memory_by"].startswith("nothing"))
            for name, detail in (("break_even_copies", "pageable"), ("break_even_copies_ring", "ring")):
                why = result["details"].get(f"pays_against_{detail}")
                self.assertEqual(figure(result, name) is None, why in ("never", "too close to tell"), result)

    def assert_stages(self, result):
        """What was computed from the times of the stages is what they come to."""
        names = ("serial_time", "in_time", "kernel_time", "out_time", "copies_time")
        self.assert_sampled(result, *names)
        serial, *stages = (figure(result, name)["median"] for name in names)
        overlapped = result["bytes_moved"] / figure(result, "bandwidth")["median"]
        self.assert_computed(result, "speed_up", serial / overlapped)
        self.assert_computed(result, "share_of_bound", max(stages) / overlapped)
        self.assert_computed(result, "gpu_busy", figure(result, "kernel_time")["median"] / overlapped)

    def test_pipeline_of_one_chunk(self):
        """The case is the one that was asked for, whatever of the chunk there is to send."""
        for size in ("4K", "1001", "1"):
            result = self.run_one("--mode", "double-buffer", "--size", size, *FEW)
            self.assertEqual(result["parameters"]["chunk"], 8 << 20, size)

    def test_buffers(self):
        for buffers in ("2", "32"):
            result = self.run_one(*self.PIPELINE, "--chunk", "1K", "--buffers", buffers)
            self.assertEqual(result["parameters"]["buffers"], int(buffers))

    def test_kernel_time(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "32K", "--kernel-time", "1ms")
        self.assertGreaterEqual(result["details"]["compute_steps"], 1)
        self.assert_stages(result)

    def test_no_kernel(self):
        """Nothing computes, so nobody may say that something did."""
        result = self.run_one(*self.PIPELINE, "--chunk", "16K", "--kernel-time", "none")
        self.assertEqual(result["details"]["compute_steps"], 0)
        self.assertIsNone(figure(result, "gpu_busy"))
        self.assertEqual(result["parameters"]["kernel-time"], "none")

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
                    self.assertEqual(result["parameters"], {"passes": passes, "in-place": "mapped"})
                    self.assert_described(result)
                    self.assert_sampled(result, "copy_time", "kernel_time", "explicit_time")
                    self.assert_break_even(result, passes)

    def assert_break_even(self, result, passes):
        """From how many passes on one copy and local kernels take less than kernels in place."""
        copy, kernel = (figure(result, name)["median"] for name in ("copy_time", "kernel_time"))
        in_place = result["bytes_moved"] / figure(result, "bandwidth")["median"] / passes
        gain = in_place - kernel / passes
        found = figure(result, "break_even_passes")
        if gain <= 0:
            self.assert_computed(result, "break_even_passes", 0)  # never
        else:
            self.assertLessEqual(abs(found["median"] - (copy // gain + 1)), 1)

    def test_lists_of_numbers_give_a_case_each(self):
        """In rows, table and CSV, of one process and of several; compare tells them apart."""
        command = (*HOST, "--mode", "pinned", "--size", "4K", "--direction", "h2d", *FEW)
        lists = ("--host-offset", "0,64", "--device-offset", "0,1..4")
        expected = [(host, device) for host in (0, 64) for device in (0, 1, 2, 4)]
        for more in ((), ("--processes", "2")):
            with self.subTest(more=more):
                document = self.run_to_json(*command, *lists, *more)
                own = [row["parameters"] for row in document["results"]]
                self.assertEqual([(one["host-offset"], one["device-offset"]) for one in own], expected)
                self.assertTrue(all(row["verified"] for row in document["results"]))
        self.assertEqual(document["config"]["device-offset"], [0, 1, 2, 4])
        outcome = self.assert_succeeds("run", *command, *lists, "--columns", "all")
        self.assert_words(outcome.out, ("DEVICE-OFFSET", "HOST-OFFSET", " 64 B "))
        outcome = self.assert_succeeds("run", *command, *lists, "--csv", "-")
        self.assertIn("device-offset=4;gpu-memory=kept;host-offset=64", outcome.out)

    def test_what_makes_a_case_stands_in_its_row(self):
        """The options that the mode says make it another case, and only where they matter."""
        document = self.run_to_json(
            *(*HOST, "--mode", "pageable,pinned,async,double-buffer,zero-copy", "--size", "4K", *FEW),
            *("--chunk", "2K", "--access", "sequential"),
        )
        offsets = {"host-offset": 0, "device-offset": 0}
        expected = {
            "pageable": {"target": "kept", "call": "async", **offsets},
            "pinned": {"gpu-memory": "kept", "call": "async", **offsets},
            "async": {"chunk": 2048, "streams": 2, **offsets},
            "double-buffer": {"buffers": 4, "chunk": 2048, "kernel-time": "auto"},
            "zero-copy": {"passes": 1, "in-place": "mapped"},
        }
        ring = {"threads": 0, "ring-chunk": 0, "ring-slots": 4, "target": "kept", **offsets}
        for row in document["results"]:
            own = ring if row["variant"] == "ring" else expected[row["mode"]]
            self.assertEqual(row["parameters"], own, row["variant"])
        for row in document["results"]:
            names = [one["name"] for one in row["figures"]]
            self.assertEqual(len(names), len(set(names)), row)

    def test_managed(self):
        """Which of its forms are asked for; the host backend says of each that it has none."""
        document, out = self.run_whatever(
            3, "--mode", "managed", "--managed", "fault,prefetch,advise", "--size", "4K", *FEW, "--verbose"
        )
        cases = [(result["variant"], result["direction"]) for result in document["results"]]
        words = ("fault", "prefetch", "advise")
        self.assertEqual(cases, [*itertools.product(words, ("h2d", "d2h"))])
        for result in document["results"]:
            self.assert_skipped(result, "capability 'managed'", f"managed {result['variant']}")
        self.assertEqual(len(self.rows(out)), 6)


if __name__ == "__main__":
    harness.main()
