#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From disk to device over the host backend: the mode pipeline. usage: test_pipeline.py BUILD_FOLDER
[UNITTEST_ARGUMENT...]"""
import ctypes
import itertools
import mmap
import os
import shutil
import signal
import struct
import tempfile
import unittest

import harness
from harness import FEW, HOST, Terminal, figure
from measuring import Measuring

MODE = (*HOST, "--mode", "pipeline")
PIPELINE = (*MODE, "--kernel-time", "20us")
LIBC = ctypes.CDLL(None, use_errno=True)
TWO = ("--readers", "2")
# As many samples as an interval needs, without which values of an option are not compared.
INTERVAL = ("--samples", "6", "--time-limit", "1ms", "--warm-up", "1ms")
BATCHES = ("--batch-files", "2", "--chunk", "64K", "--order", "overlapped")
ORDERS = ("overlapped", "serial", "serial-pageable")
STAGES = ("read", "in", "compute", "out")
FAILING = os.path.join(harness.BUILD, "tests", "xferbench_failing_files")


def forbid_io_uring():
    """From here on io_uring_setup(2) gives EPERM, as in many containers; call 425 on every machine."""
    instruction = struct.Struct("HBBI")
    program = b"".join(
        instruction.pack(*parts)
        for parts in (
            (0x20, 0, 0, 0),  # load the call's number
            (0x15, 0, 1, 425),  # is it that one?
            (0x06, 0, 0, 0x00050000 | 1),  # answer EPERM
            (0x06, 0, 0, 0x7FFF0000),  # allow it
        )
    )
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(code)))
    if LIBC.prctl(38, 1, 0, 0, 0) != 0 or LIBC.prctl(22, 2, ctypes.byref(head), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def cached_pages(path, length):
    """How many pages of the file's beginning are in the page cache."""
    LIBC.mmap.restype = ctypes.c_void_p
    states = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    with open(path, "rb") as file:
        arguments = (length, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno())
        address = LIBC.mmap(None, *(ctypes.c_size_t(each) for each in arguments), ctypes.c_size_t(0))
    address = ctypes.c_void_p(address)
    code = LIBC.mincore(address, ctypes.c_size_t(length), states)
    LIBC.munmap(address, ctypes.c_size_t(length))
    if code != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(state & 1 for state in states)


class Pipeline(Measuring):
    def setUp(self):
        super().setUp()
        self.own = os.path.join(self.folder, "files")
        os.mkdir(self.own)

    def write(self, name, length):
        """A file of the test's own, of bytes that do not repeat soon."""
        path = os.path.join(self.own, name)
        with open(path, "wb") as file:
            file.write(b"".join(index.to_bytes(8, "little") for index in range(length // 8 + 1))[:length])
        return path

    def evict(self, path):
        """Puts the file out of the page cache."""
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached_pages(path, os.path.getsize(path)) > 0:
            self.skipTest("this file system keeps the file in the page cache")

    def place_for_made(self):
        place = self.path("made")
        os.makedirs(place, exist_ok=True)
        return place

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

    def measure(self, *arguments, expected=0, failing=None, mode=PIPELINE, few=FEW, made=None, **options):
        """The results, and that nothing is left of what was made."""
        made = made or self.place_for_made()
        outcome = self.run_program(
            *mode,
            *arguments,
            *few,
            "--json",
            "out.json",
            program=FAILING if failing else harness.XFERBENCH,
            environment={"TMPDIR": made, "XB_FAILING_FILES": failing},
            **options,
        )
        self.assertEqual(outcome.code, expected, outcome)
        self.assertEqual(os.listdir(made), [])
        return self.load("out.json")["results"]

    def assert_stages(self, result):
        """The stages' rates, and what follows from them."""
        rate = figure(result, "bandwidth")["median"]
        rates = {stage: figure(result, f"rate_{stage}") for stage in STAGES}
        least = min(found["median"] for found in rates.values() if found)
        self.assert_computed(result, "share_of_bound", rate / least)
        self.assert_computed(result, "gpu_busy", rate / rates["compute"]["median"])
        for stage in STAGES:
            busy, wait = (figure(result, f"{what}_{stage}")["median"] for what in ("busy", "wait"))
            self.assertGreaterEqual(busy, 0)
            self.assertGreaterEqual(wait, 0)
            self.assertLessEqual(busy + wait, 1 + 1e-9)
        overlapped = result["variant"] == "overlapped"
        self.assertEqual(figure(result, "serial_time") is not None, overlapped)
        if overlapped:
            serial = figure(result, "serial_time")["median"]
            self.assert_computed(result, "speed_up", serial * rate / result["bytes_moved"])

    def test_orders(self):
        """A made file, in each order; its length is no multiple of a chunk, a block or a word."""
        results = self.measure("--size", "300001", "--chunk", "64K", *TWO)
        self.assertEqual([result["variant"] for result in results], list(ORDERS))
        for result in results:
            self.assertEqual((result["direction"], result["verified"], result["bytes_moved"]), ("h2d", True, 300001))
            self.assertEqual(result["timer"], "host-clock")
            self.assertEqual((result["details"]["files"], result["details"]["readers"]), (1, 2))
            self.assert_stages(result)

    def test_own_file(self):
        """All of a file without --size, its beginning with it; and it stays as it is."""
        path = self.write("data", 200003)
        for io, size in itertools.product(("cached", "mmap"), (None, 100000)):
            more = () if size is None else ("--size", str(size))
            results = self.measure("--file", path, "--io", io, "--chunk", "33000", *more)
            for result in results:
                self.assertEqual((result["verified"], result["bytes_moved"]), (True, size or 200003))
                self.assertEqual(result["bytes"], size or 200003)
        self.assertEqual(os.path.getsize(path), 200003)

    def test_past_the_cache(self):
        """Direct reads, or the reason why there are none here: never another way without a word."""
        place = self.place_past_the_cache()
        results = self.measure("--io", "direct", "--size", "200001", "--chunk", "32K", made=place)
        if all(result["status"] == "skipped" for result in results):
            for result in results:
                self.assertIn("O_DIRECT", result["reason"])
            self.skipTest(results[0]["reason"])
        for result in results:
            self.assertTrue(result["verified"])
            second = "io_uring, registered buffers" not in result["details"]["read_by"]
            warned = any("not read the way" in warning for warning in result["warnings"])
            self.assertEqual(second, warned, result["details"]["read_by"])

    @unittest.skipIf("liburing" in harness.left_out(), "liburing is not in this build")
    def test_without_io_uring(self):
        """Where it is forbidden, preadv reads past the page cache, and the row says so."""
        place = self.place_past_the_cache()
        results = self.measure("--io", "direct", "--size", "1M", made=place, preexec_fn=forbid_io_uring)
        for result in results:
            if result["status"] == "skipped":
                self.assertIn("O_DIRECT", result["reason"])
                self.skipTest(result["reason"])
            self.assertEqual((result["status"], result["verified"]), ("ok", True))
            self.assertEqual(result["details"]["read_by"], "preadv: io_uring is not allowed here (EPERM)")
            self.assertTrue(any("not read the way" in warning for warning in result["warnings"]), result)

    def test_kernel_times(self):
        """Kernels that are tuned to the other stages, and none at all: the digest is computed all the same."""
        for word, is_tuned in (("auto", True), ("none", False)):
            results = self.measure("--size", "300001", "--chunk", "64K", mode=(*MODE, "--kernel-time", word))
            self.assertEqual(len(results), 3)
            for result in results:
                self.assertEqual((result["status"], result["verified"]), ("ok", True))
                self.assertEqual(result["details"]["compute_steps"] > 0, is_tuned, word)
                self.assert_stages(result)

    def test_page_cache(self):
        """What was in it before is told: of all that is read, and of nothing else."""
        path = self.write("data", 1 << 20)
        self.evict(path)
        for word in ("cold", "warm"):
            if word == "warm" and cached_pages(path, 1 << 20) < (1 << 20) // mmap.PAGESIZE:
                self.skipTest("what was read does not stay in the page cache")
            (result,) = self.measure("--file", path, "--io", "cached", "--order", "serial")
            self.assertEqual(result["details"]["page_cache_at_first"], word)
        self.evict(path)
        with open(path, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no more than is asked for
            file.read(1 << 18)
        if cached_pages(path, 1 << 18) < (1 << 18) // mmap.PAGESIZE:
            self.skipTest("what was read does not stay in the page cache")
        (result,) = self.measure("--file", path, "--io", "cached", "--order", "serial", "--size", "256K")
        self.assertEqual(result["details"]["page_cache_at_first"], "warm")

    def test_reading(self):
        """What the Reading says of the disk and of the readers has the numbers of the rows."""
        arguments = ("--size", "16M", "--chunk", "1M", "--readers", "1,2", "--order", "overlapped,serial")
        results = self.measure(*arguments, "--io", "cached", few=INTERVAL)
        rates = {order: {} for order in ("overlapped", "serial")}
        for result in results:
            rates[result["variant"]][figure(result, "bandwidth")["median"]] = result
        said = {
            entry["code"]: {number["name"]: number["value"] for number in entry["numbers"]}
            for entry in self.load("out.json")["reading"]
        }
        overlapped, serial = (max(rates[order]) for order in rates)
        best = rates["overlapped"][overlapped]
        expected = {name: figure(best, name)["median"] for name in ("bandwidth", "share_of_bound", "gpu_busy")}
        expected["slowest_stage_rate"] = min(figure(best, f"rate_{stage}")["median"] for stage in STAGES)
        self.assertLessEqual(expected.keys(), said["XB-DISK"].keys())
        # These are said only where a busy or a quiet machine makes them certain.
        expected |= {"ratio_serial": overlapped / serial, "busy_compute": figure(best, "busy_compute")["median"]}
        for name, value in said["XB-DISK"].items():
            self.assert_near(value, expected[name], name)
        fastest = rates["overlapped" if overlapped > serial else "serial"][max(overlapped, serial)]
        self.assert_near(said["XB-READERS"]["bandwidth"], max(overlapped, serial))
        self.assertEqual(said["XB-READERS"]["best"], fastest["parameters"]["readers"])

    def endless(self):
        """A run at its samples, and the folder of its file."""
        made = self.place_for_made()
        arguments = ("--size", "1M", "--chunk", "64K", "--io", "cached", "--order", "overlapped,serial")
        terminal = Terminal()
        process = self.start(
            *PIPELINE,
            *arguments,
            *("--samples", "1000000", "-t", "4s", "--warm-up", "1ms", "--json", "out.json"),
            terminal=terminal,
            environment={"TMPDIR": made},
        )
        terminal.read_until(b" GB/s")
        return process, made

    def test_interrupted(self):
        process, made = self.endless()
        process.send_signal(signal.SIGINT)
        self.assert_ended(128 + signal.SIGINT, process)
        document = self.load("out.json")
        self.assertIs(document["interrupted"], True)
        self.assertEqual([result["status"] for result in document["results"]], ["ok", "skipped"])
        self.assertEqual(os.listdir(made), [])

    def test_killed(self):
        """A made file has no name: nothing of it is left even then."""
        process, made = self.endless()
        process.kill()
        self.assert_ended(-signal.SIGKILL, process)
        self.assertEqual(os.listdir(made), [])

    def test_by_device(self):
        """The host backend reads to its own memory: no stage in."""
        results = self.measure("--io", "gds", "--size", "200001", "--chunk", "32K", "--order", "serial,overlapped")
        for result in results:
            self.assertTrue(result["verified"], result)
            self.assertIsNone(figure(result, "rate_in"))
            self.assertIn("pread", result["details"]["read_by"])

    def test_batches(self):
        """Made files, and those of a folder, some shorter than a word; the last batch is shorter."""
        results = self.measure("--size", "256K", "--chunk", "32K", "--batch-files", "3")
        for result in results:
            each = 32768 // 3 // 4096 * 4096
            self.assertEqual(result["bytes_moved"], 262144 // each * each)
            self.assertEqual(result["details"]["files"], 262144 // each)
        lengths = (1, 7, 8, 9, 4095, 4096, 4097, 20000, 3)
        for number, length in enumerate(lengths):
            self.write(f"{number}.bin", length)
        for io in ("cached", "mmap"):
            results = self.measure("--file", self.own, "--chunk", "32K", "--batch-files", "2,4", "--io", io)
            self.assertEqual(len(results), 6)
            for result in results:
                self.assertEqual((result["verified"], result["bytes_moved"]), (True, sum(lengths)))

    def test_depth_and_readers(self):
        """A case for each number of readers and of buffers; serial has no buffers."""
        results = self.measure(
            "--size", "256K", "--chunk", "16K", "--readers", "1,3", "--buffers", "2,5", "--order", "serial,overlapped"
        )
        found = [(result["variant"], result["parameters"].get("buffers")) for result in results]
        self.assertEqual(sorted(set(found), key=str), [("overlapped", 2), ("overlapped", 5), ("serial", None)])
        self.assertEqual(len(found), 6)
        for result in results:
            self.assert_stages(result)

    def test_more_readers_than_turns(self):
        """One item in one piece: most readers have nothing to do."""
        results = self.measure("--size", "5000", "--chunk", "64K", "--readers", "1,7", "--order", "serial,overlapped")
        self.assertEqual(len(results), 4)
        for result in results:
            self.assertEqual((result["verified"], result["bytes_moved"]), (True, 5000))
            self.assert_stages(result)

    def test_refused(self):
        path = self.write("data", 5000)
        for words, arguments in (
            (("--chunk", "4096"), ("--chunk", "1000", "--io", "direct")),
            (("--chunk", "8"), ("--chunk", "1001")),
            (("--kernel-time",), ("--kernel-time", "soon")),
            (("--batch-files", "folder"), ("--batch-files", "4", "--file", path)),
            (("--batch-files", "--size"), ("--batch-files", "4", "--file", self.own, "--size", "1M")),
            (("--batch-files 0 makes", "a run of its own"), ("--batch-files", "0,2", "--file", self.own)),
            (("--batch-files 0 makes", "a run of its own"), ("--batch-files", "2,0", "--file", self.own)),
            (("--batch-files",), ("--batch-files", "4096", "--chunk", "4096", "--size", "1M")),
            (("--order",), ("--order", "parallel")),
            (("--io",), ("--io", "fast")),
        ):
            self.assert_usage(words, *PIPELINE, *arguments, *FEW)

    def test_no_such_file(self):
        """No file, a folder without one, more asked for than it has: mistakes of the command line."""
        path = self.write("data", 5000)
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        for words, arguments in (
            (("absent", "ENOENT"), ("--file", os.path.join(self.own, "absent"))),
            (("5000", "--size"), ("--file", path, "--size", "1M")),
            (("empty",), ("--file", empty, "--batch-files", "4")),
        ):
            self.assert_usage(words, *PIPELINE, *arguments, *FEW)

    @unittest.skipIf(os.geteuid() == 0, "root may look into every folder")
    def test_no_permission(self):
        os.chmod(self.own, 0)
        self.addCleanup(os.chmod, self.own, 0o700)
        words = (self.own, "Permission denied")
        self.assert_usage(words, *PIPELINE, "--file", self.own, *BATCHES, *FEW)

    def test_long_batches(self):
        """The advice is that of the longest batch: who follows it is not refused again."""
        for number, length in enumerate((1100, 1000, 1900, 2100, 700)):
            os.truncate(self.write(f"{number}.bin", 0), length << 10)
        arguments = ("--file", self.own, "--batch-files", "2", "--order", "overlapped", "--io", "cached")
        (result,) = self.measure(*arguments, "--chunk", "1M", expected=3)
        self.assertEqual(result["status"], "skipped")
        self.assert_words(result["reason"], ("batch 1 ", "takes 4 MiB: give that or more as --chunk"))
        self.assertIn("or fewer files", result["reason"])
        alone = ("--file", self.own, "--batch-files", "1", "--order", "overlapped", "--io", "cached")
        (result,) = self.measure(*alone, "--chunk", "1M", expected=3)
        self.assert_words(result["reason"], (" 1 file, takes 3 MiB: give that or more as --chunk",))
        self.assertNotIn("fewer", result["reason"])
        (result,) = self.measure(*arguments, "--chunk", "4M")
        self.assertEqual((result["status"], result["verified"]), ("ok", True))

    def test_grown(self):
        """A file that became longer while it was read. It is looked up three times before."""
        path = self.write("data", 200000)
        arguments = ("--file", path, "--chunk", "64K", "--order", "overlapped")
        (result,) = self.measure(*arguments, expected=1, failing="stat 3 more")
        self.assertEqual(result["status"], "error")
        self.assert_words(result["reason"], (path, "became longer, 200001 bytes now and 200000"))

    def test_failures(self):
        """A disk that fails in the middle, one that is full, a file that became shorter: rows that
        name the file and what went wrong, and nothing left behind (measure() looks)."""
        path = self.write("data", 200000)
        for words, failing, arguments in (
            (("EIO", "65536", "data"), "preadv 65536 EIO", ("--file", path)),
            (("EIO", "131072"), "preadv 131072 EIO", ("--size", "200000")),
            (("shorter", "data"), "preadv 65536 end", ("--file", path)),
            (("ENOSPC", "1 file of", "by TMPDIR"), "fallocate 1 ENOSPC", ("--size", "200000")),
            (("ENOSPC", "name another folder"), "pwrite 0 ENOSPC", ("--size", "200000", "--file", self.own)),
            (("ENOSPC",), "pwrite 0 ENOSPC", ("--size", "200000", "--batch-files", "2")),
        ):
            for result in self.measure(*arguments, "--chunk", "64K", expected=1, failing=failing):
                self.assertEqual(result["status"], "error", (failing, result))
                self.assert_words(result["reason"], words)
                self.assertIsNone(figure(result, "bandwidth"))


if __name__ == "__main__":
    harness.main()
