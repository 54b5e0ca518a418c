#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From disk to device over the host backend: the mode pipeline, on files that are there, cached or not, that fail, grow
or shrink. usage: test_pipeline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

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
from harness import FEW, HOST, Case, Terminal, figure

MODE = (*HOST, "--mode", "pipeline")
PIPELINE = (*MODE, "--kernel-time", "20us")
LIBC = ctypes.CDLL(None, use_errno=True)
# As many samples as an interval needs, without which values of an option are not compared.
INTERVAL = ("--samples", "6", "--time-limit", "1ms", "--warm-up", "1ms")
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

    def evict(self, path):
        """Puts the file out of the page cache."""
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached_pages(path, os.path.getsize(path)) > 0:
            self.skipTest("this file system keeps the file in the page cache")

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

    def measure(self, *arguments, code=0, failing=None, mode=PIPELINE, few=FEW, made=None, **options):
        """The results, and that nothing is left of what was made."""
        made = made or self.made
        environment = {"TMPDIR": made, "XB_FAILING_FILES": failing}
        self.assert_ends(code, *mode, *arguments, *few, "--json", "out.json", environment=environment,
                         program=FAILING if failing else harness.XFERBENCH, **options)
        self.assertEqual(os.listdir(made), [])
        results = self.load("out.json")["results"]
        for result in results:
            if code == 0 and result["status"] == "ok":
                self.check_stages(result)
            elif code == 0:
                self.assertIn("O_DIRECT", result["reason"])
                self.skipTest(result["reason"])
        return results

    def check_stages(self, result):
        """The stages' rates and shares, and what follows from them."""
        self.assertTrue(result["verified"])
        rate = figure(result, "bandwidth")["median"]
        rates = {stage: figure(result, f"rate_{stage}") for stage in STAGES}
        least = min(found["median"] for found in rates.values() if found)
        self.assertAlmostEqual(figure(result, "share_of_bound")["median"] / (rate / least), 1, 9)
        self.assertAlmostEqual(figure(result, "gpu_busy")["median"] / (rate / rates["compute"]["median"]), 1, 9)
        for stage in filter(rates.get, STAGES):
            busy, wait = (figure(result, f"{what}_{stage}")["median"] for what in ("busy", "wait"))
            self.assertTrue(0 <= busy and 0 <= wait and busy + wait <= 1 + 1e-9, (stage, busy, wait))
        serial = figure(result, "serial_time")
        self.assertEqual(serial is not None, result["variant"] == "overlapped")
        if serial:
            speed_up = serial["median"] * rate / result["bytes_moved"]
            self.assertAlmostEqual(figure(result, "speed_up")["median"] / speed_up, 1, 9)

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
        if "liburing" in harness.left_out():
            self.skipTest("liburing is not in this build")
        # Where io_uring is forbidden, preadv reads past the page cache, and the row says so.
        for result in self.measure("--io", "direct", "--size", "1M", made=place, preexec_fn=forbid_io_uring):
            self.assertEqual(result["details"]["read_by"], "preadv: io_uring is not allowed here (EPERM)")
            self.assertTrue(any("not read the way" in warning for warning in result["warnings"]), result)

    def test_page_cache(self):
        """What was in it before is told: of all that is read, and of nothing else."""
        path, stays = self.file("data", 1 << 20), "what was read does not stay in the page cache"

        def told(*more):
            (result,) = self.measure("--file", path, "--io", "cached", "--order", "serial", *more)
            return result["details"]["page_cache_at_first"]

        self.evict(path)
        self.assertEqual(told(), "cold")
        if cached_pages(path, 1 << 20) < (1 << 20) // mmap.PAGESIZE:
            self.skipTest(stays)
        self.assertEqual(told(), "warm")
        self.evict(path)
        with open(path, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no more than is asked for
            file.read(1 << 18)
        if cached_pages(path, 1 << 18) < (1 << 18) // mmap.PAGESIZE:
            self.skipTest(stays)
        self.assertEqual(told("--size", "256K"), "warm")

    def test_reading(self):
        """What the Reading says of the disk and of the readers has the numbers of the rows."""
        arguments = ("--size", "16M", "--chunk", "1M", "--readers", "1,2", "--order", "overlapped,serial")
        results = self.measure(*arguments, "--io", "cached", few=INTERVAL)
        best = {order: max((row for row in results if row["variant"] == order),
                           key=lambda row: figure(row, "bandwidth")["median"]) for order in ("overlapped", "serial")}
        said = {entry["code"]: {number["name"]: number["value"] for number in entry["numbers"]}
                for entry in self.load("out.json")["reading"]}
        names = ("bandwidth", "share_of_bound", "gpu_busy", "busy_compute")
        overlapped, serial = (figure(best[order], "bandwidth")["median"] for order in best)
        expected = {name: figure(best["overlapped"], name)["median"] for name in names}
        expected |= {"slowest_stage_rate": min(figure(best["overlapped"], f"rate_{stage}")["median"]
                                               for stage in STAGES),
                     "ratio_serial": overlapped / serial}
        # The last two are said only where a busy or a quiet machine makes them certain.
        self.assertLessEqual(expected.keys() - {"ratio_serial", "busy_compute"}, said["XB-DISK"].keys())
        for name, value in said["XB-DISK"].items():
            self.assertAlmostEqual(value / expected[name], 1, 9, name)
        fastest = best["overlapped" if overlapped > serial else "serial"]
        self.assertAlmostEqual(said["XB-READERS"]["bandwidth"] / max(overlapped, serial), 1, 9)
        self.assertEqual(said["XB-READERS"]["best"], fastest["parameters"]["readers"])

    def test_interrupted_and_killed(self):
        """A made file has no name: nothing of it is left even then."""
        arguments = ("--size", "1M", "--chunk", "64K", "--io", "cached", "--order", "overlapped,serial")
        endless = ("--samples", "1000000", "-t", "4s", "--warm-up", "1ms", "--json", "out.json")
        for number, code in ((signal.SIGINT, 128 + signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)):
            terminal = Terminal()
            process = self.start(*PIPELINE, *arguments, *endless, terminal=terminal, environment={"TMPDIR": self.made})
            terminal.read_until(b" GB/s")
            process.send_signal(number)
            self.assert_ended(code, process)
            self.assertEqual(os.listdir(self.made), [])
        document = self.load("out.json")  # of the first
        self.assertIs(document["interrupted"], True)
        self.assertEqual([result["status"] for result in document["results"]], ["ok", "skipped"])

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

    def test_failures(self):
        """A disk that fails in the middle, one that is full, a file that became shorter or longer: rows that name the
        file and what went wrong, and nothing left behind (measure() looks)."""
        path = self.file("data", 200000)
        for words, failing, *arguments in (
            (("EIO", "65536", "data"), "preadv 65536 EIO", "--file", path),
            (("EIO", "131072"), "preadv 131072 EIO", "--size", "200000"),
            (("shorter", "data"), "preadv 65536 end", "--file", path),
            # It is looked up three times before.
            ((path, "became longer, 200001 bytes now and 200000"), "stat 3 more", "--file", path, "--order",
             "overlapped"),
            (("ENOSPC", "1 file of", "by TMPDIR"), "fallocate 1 ENOSPC", "--size", "200000"),
            (("ENOSPC", "name another folder"), "pwrite 0 ENOSPC", "--size", "200000", "--file", self.own),
            (("ENOSPC",), "pwrite 0 ENOSPC", "--size", "200000", "--batch-files", "2"),
        ):
            for result in self.measure(*arguments, "--chunk", "64K", code=1, failing=failing):
                self.assertEqual((result["status"], figure(result, "bandwidth")), ("error", None), (failing, result))
                self.assert_words(result["reason"], words)


if __name__ == "__main__":
    harness.main()
