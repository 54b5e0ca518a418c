#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From disk to device over the host backend: the mode pipeline, on files that are there or made, of any length.
usage: test_pipeline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import itertools
import os
import resource
import shutil
import signal
import tempfile
import unittest

import harness
from harness import FEW, HOST, Case, Terminal, figure, limit

MODE = (*HOST, "--mode", "pipeline")
PIPELINE = (*MODE, "--kernel-time", "20us")
ORDERS = ("overlapped", "serial", "serial-pageable")
LATE = ("--samples", "1000000", "-t", "4s", "--warm-up", "1ms", "--json", "out.json")


class Pipeline(Case):
    def setUp(self):
        super().setUp()
        self.own = self.path("files")
        self.made = self.path("made")
        os.mkdir(self.own)
        os.mkdir(self.made)

    def file(self, name, length):
        """A file of the test's own, of bytes that do not repeat soon."""
        path = os.path.join(self.own, name)
        with open(path, "wb") as file:
            file.write(b"".join(index.to_bytes(8, "little") for index in range(length // 8 + 1))[:length])
        return path

    def place_past_the_cache(self):
        """Where files can be read with O_DIRECT: the test's folder, or else one beside the build."""
        for where in (self.folder, harness.BUILD):
            place = tempfile.mkdtemp(prefix="made-", dir=where)
            self.addCleanup(shutil.rmtree, place, ignore_errors=True)
            path = os.path.join(place, "probe")
            try:
                with open(path, "wb") as file:
                    file.write(bytes(4096))
                os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
                return place
            except OSError:
                continue
            finally:
                os.unlink(path)
        return self.skipTest("neither TMPDIR nor the build folder takes O_DIRECT")

    def measure(self, *arguments, code=0, mode=PIPELINE, made=None, **options):
        """The results, and that nothing is left of what was made."""
        made = made or self.made
        self.assert_ends(code, *mode, *arguments, *FEW, "--json", "out.json", environment={"TMPDIR": made}, **options)
        self.assertEqual(os.listdir(made), [])
        results = self.load("out.json")["results"]
        for result in results:
            if code == 0 and result["status"] == "ok":
                self.assertTrue(result["verified"])
            elif code == 0:
                self.assertIn("O_DIRECT", result["reason"])
                self.skipTest(result["reason"])
        return results

    def test_made_files(self):
        """In each order; lengths that are no multiple of a chunk, a block or a word; with kernels that are tuned to the
        other stages, and none; by the device; with more readers than there are turns."""
        size = ("--size", "300001", "--chunk", "64K")
        results = self.measure(*size, "--readers", "2")
        self.assertEqual([result["variant"] for result in results], list(ORDERS))
        for result in results:
            self.assertEqual((result["direction"], result["bytes_moved"], result["timer"]),
                             ("h2d", 300001, "host-clock"))
            self.assertEqual((result["details"]["files"], result["details"]["readers"]), (1, 2))
        for word, is_tuned in (("auto", True), ("none", False)):
            for result in self.measure(*size, mode=(*MODE, "--kernel-time", word)):
                self.assertEqual(result["details"]["compute_steps"] > 0, is_tuned, word)
        for result in self.measure("--io", "gds", *size, "--order", "serial,overlapped"):
            # The host backend reads to its own memory: no stage in.
            self.assertEqual((figure(result, "rate_in"), "pread" in result["details"]["read_by"]), (None, True))
        several = ("--readers", "1,7", "--buffers", "2,5", "--order", "serial,overlapped")
        found = [(result["variant"], result["parameters"].get("buffers"))
                 for result in self.measure("--size", "5000", "--chunk", "64K", *several)]
        self.assertEqual(sorted(found, key=str),
                         [(o, b) for o, b in (("overlapped", 2), ("overlapped", 5), ("serial", None))
                                                  for _ in range(2)])

    def test_own_files(self):
        """All of a file without --size, its beginning with it; and it stays as it is. A folder's, some shorter than a
        word; the last batch is shorter."""
        path = self.file("data", 200003)
        for io, size in itertools.product(("cached", "mmap"), (None, 100000)):
            more = () if size is None else ("--size", str(size))
            for result in self.measure("--file", path, "--io", io, "--chunk", "33000", *more):
                self.assertEqual((result["bytes"], result["bytes_moved"]), (size or 200003, size or 200003))
        self.assertEqual(os.path.getsize(path), 200003)
        os.unlink(path)
        lengths = (1, 7, 8, 9, 4095, 4096, 4097, 20000, 3)
        for number, length in enumerate(lengths):
            self.file(f"{number}.bin", length)
        for io in ("cached", "mmap"):
            results = self.measure("--file", self.own, "--chunk", "32K", "--batch-files", "2,4", "--io", io)
            self.assertEqual([result["bytes_moved"] for result in results], [sum(lengths)] * 6)
        each = 32768 // 3 // 4096 * 4096
        for result in self.measure("--size", "256K", "--chunk", "32K", "--batch-files", "3"):
            self.assertEqual((result["bytes_moved"], result["details"]["files"]),
                             (262144 // each * each, 262144 // each))
        empty = self.path("empty")
        os.mkdir(empty)
        self.assert_usage(("empty",), *PIPELINE, "--file", empty, "--batch-files", "4", *FEW)

    def test_past_the_cache(self):
        """Direct reads, or the reason why there are none here: never another way without a word."""
        place = self.place_past_the_cache()
        for result in self.measure("--io", "direct", "--size", "200001", "--chunk", "32K", made=place):
            second = "io_uring, registered buffers" not in result["details"]["read_by"]
            self.assertEqual(second, any("not read the way" in warning for warning in result["warnings"]), result)

    def begin(self, *arguments):
        """A run that is at its samples."""
        terminal = Terminal()
        process = self.start(*PIPELINE, *arguments, *LATE, terminal=terminal, environment={"TMPDIR": self.made})
        terminal.read_until(b" GB/s")
        return process

    def test_interrupted_and_killed(self):
        """A made file has no name: nothing of it is left even then."""
        for number, code in ((signal.SIGINT, 128 + signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)):
            process = self.begin("--size", "1M", "--chunk", "64K", "--io", "cached", "--order", "overlapped,serial")
            process.send_signal(number)
            self.assert_ended(code, process)
            self.assertEqual(os.listdir(self.made), [])
        document = self.load("out.json")  # of the first
        self.assertIs(document["interrupted"], True)
        self.assertEqual([result["status"] for result in document["results"]], ["ok", "skipped"])

    def test_failures(self):
        """A file that grows while it is read, and one that there is no room for: rows that say so. Other failures:
        tests/unit/storage."""
        path = self.file("data", 200000)
        process = self.begin("--file", path, "--order", "overlapped")
        with open(path, "ab") as file:
            file.write(b"x")
        process.send_signal(signal.SIGINT)
        self.assert_ended(128 + signal.SIGINT, process)
        (result,) = self.load("out.json")["results"]
        self.assert_words(result["reason"], (path, "became longer, 200001 bytes now and 200000"))
        for result in self.measure("--size", "200000", code=1, preexec_fn=limit(resource.RLIMIT_FSIZE, 100000)):
            self.assertEqual((result["status"], figure(result, "bandwidth")), ("error", None), result)
            self.assert_words(result["reason"], ("EFBIG", "by TMPDIR"))

    @unittest.skipIf(os.geteuid() == 0, "root may look into every folder")
    def test_no_permission(self):
        os.chmod(self.own, 0)
        self.addCleanup(os.chmod, self.own, 0o700)
        self.assert_usage((self.own, "Permission denied"), *PIPELINE, "--file", self.own, "--batch-files", "2", *FEW)

    def test_long_batches(self):
        """The advice is that of the longest batch: who follows it is not refused again."""
        for number, length in enumerate((1100, 1000, 1900, 2100, 700)):
            os.truncate(self.file(f"{number}.bin", 0), length << 10)
        own = ("--file", self.own, "--order", "overlapped", "--io", "cached", "--batch-files")
        (result,) = self.measure(*own, "2", "--chunk", "1M", code=3)
        self.assert_words(result["reason"], ("batch 1 ", "takes 4 MiB: give that or more as --chunk", "or fewer files"))
        (result,) = self.measure(*own, "1", "--chunk", "1M", code=3)
        self.assertIn(" 1 file, takes 3 MiB: give that or more as --chunk", result["reason"])
        self.assertNotIn("fewer", result["reason"])
        self.measure(*own, "2", "--chunk", "4M")


if __name__ == "__main__":
    harness.main()
