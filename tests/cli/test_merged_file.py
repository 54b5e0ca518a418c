#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--processes: several processes of one program, and where their merged file goes.
usage: test_merged_file.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import resource

import harness
from harness import FEW, HOST, SMALL, figure
from processes import PROGRAM, ProcessesCase


class Merged(ProcessesCase):
    """Several processes of one program."""

    def test_file(self):
        arguments = ("--backend", "host", "--mode", "pinned,managed", "--size", "4K,8K", *FEW)
        self.assert_ends(0, *arguments, "--processes", "6", "--json", "out.json")
        merged = self.load("out.json")
        self.assertEqual((merged["asked"], len(merged["processes"])), (6, 6))
        self.assertEqual((merged["role"], merged["interleaved_with"]), (None, None))
        self.assertEqual((merged["interrupted"], merged["deadline_met"]), (False, None))
        self.assertEqual(self.fates(merged), [(0, None, True)] * 6)
        rows = merged["results"]
        self.assertEqual({row["status"] for row in rows}, {"ok", "skipped"})
        fine = [row for row in rows if row["mode"] == "pinned"]
        self.assertEqual(len(fine), 4)
        for row in fine:
            self.assertEqual((row["status"], row["verified"], row["processes_ok"]), ("ok", True, 6))
            self.assertEqual(figure(row, "bandwidth")["n"], 6)
        for process in merged["processes"]:
            self.assertGreater(process["wall_s"], 0)
            self.assertEqual(process["document"]["config"]["processes"], 1)
            self.assertEqual(process["document"]["config"]["samples"], 3)
        self.assert_folder_has("out.json")

    def test_latency(self):
        self.assert_ends(0, *SMALL, "--latency", "--processes", "2", "--json", "out.json")
        merged = self.load("out.json")
        self.assertEqual(figure(merged["results"][0], "latency_host")["n"], 2)

    def test_table(self):
        done = self.assert_ends(0, *HOST, "--size", "4K", *FEW, "--verbose", "--processes", "6", "--json", "x")
        self.assertTrue(all(len(line) <= 100 for line in done.out.splitlines()), done.out)
        self.assertIn("6 of 6 processes have results", done.out)
        row = next(r for r in self.load("x")["results"] if (r["mode"], r["direction"]) == ("pinned", "h2d"))
        line = re.search(r"(?m)^pinned +registered +h2d +4 KiB +([\d.]+) +([\d.]+)-([\d.]+) +([\d.]+) +"
                         r"([\d.]+) +([\d.]+)% +6 +yes$", done.out)
        figures = figure(row, "bandwidth")
        for found, key in zip(line.groups(), ("median", "ci95_low", "ci95_high", "min", "max")):
            self.assertAlmostEqual(float(found) / (figures[key] / 1e9), 1, 2, key)
        spread = 100 * (figures["max"] - figures["min"]) / figures["median"]
        self.assertAlmostEqual(float(line[6]), spread, delta=0.051)
        self.assertRegex(done.out, r"(?m)^managed +fault .* skipped .* 0 +-$")
        self.assertRegex(done.out, r"(?m)^  skipped +managed fault h2d 4 KiB and 1 more row: ")

    def test_table_of_latencies(self):
        done = self.assert_ends(0, *SMALL, "--latency", "--verbose", "--processes", "2")
        self.assertRegex(done.out, r"HOST P50 +MIN +MAX +SPREAD +DEVICE P50 +N +VERIFIED\n")
        self.assertRegex(done.out, r"pinned +registered +h2d +4 KiB +[\d.]+ [num]?s .* 2  yes\n")

    def test_standard_output(self):
        done = self.assert_ends(0, *SMALL, "--processes", "2", "--json", "-")
        self.write("out.json", done.out)
        self.assertEqual(len(self.load("out.json")["processes"]), 2)
        self.assertEqual(done.err, "")

    def test_quiet(self):
        done = self.assert_ends(0, *SMALL, "--processes", "2", "--quiet", "--json", "out.json")
        self.assertEqual((done.out, done.err), ("", ""))
        self.load("out.json")

    def test_one_process_is_as_ever(self):
        document = self.result("out.json", "--processes", "1")
        self.assertEqual(document["schema"], "xferbench.result")
        config = document["config"]
        self.assertEqual((config["processes"], config["interleave"], config["baseline-json"]), (1, None, None))

    def test_command_lines_that_are_wrong(self):
        script = self.script("exit 3")
        both = ("--json", "a.json", "--baseline-json", "b.json")
        self.write("plain", "")
        for words, *arguments in (
            (("--interleave", "--json", "--baseline-json"), "--interleave", script, "--processes", "2"),
            (("--json",), "--interleave", script, "--processes", "2", "--json", "a.json"),
            (("--json",), "--interleave", script, "--processes", "2", "--baseline-json", "a.json"),
            (("--interleave",), "--baseline-json", "b.json"),
            (("--interleave",), "--baseline-json", "b.json", "--processes", "2"),
            (("--processes N",), "--interleave", script, *both),
            (("a.json", "same file"), "--interleave", script, "--processes", "2", "--json", "a.json",
             "--baseline-json", "./a.json"),
            (("same file",), "--interleave", script, "--processes", "2", "--json", "-", "--baseline-json", "-"),
            (("--csv",), "--processes", "2", "--csv", "a.csv"),
            (("from 1 to 100",), "--processes", "101"),
            (("from 1 to 100",), "--processes", "0"),
            (("--interleave", "'./missing'"), "--interleave", "./missing", "--processes", "2", *both),
            (("--interleave", "'no-such-program'", "PATH"), "--interleave", "no-such-program", "--processes", "2",
             *both),
            (("'./plain'",), "--interleave", "./plain", "--processes", "2", *both),
            (("'./'",), "--interleave", "./", "--processes", "2", *both),
            (("nowhere",), "--processes", "2", "--json", "nowhere/a.json"),
            (("nowhere",), "--interleave", script, "--processes", "2", "--json", "a", "--baseline-json", "nowhere/b"),
            (("no mode",), "--processes", "2", "--mode", "pined", "--json", "a.json"),
        ):
            with self.subTest(arguments=arguments):
                given = ("--backend", "host", "--size", "4K", *FEW, *arguments)
                done = self.assert_ends(2, *given)
                for word in words:
                    self.assertIn(word, done.err)
                self.assertEqual(done.out, "")
                self.assertEqual(self.turns(), 0)  # all that was known before anything ran
        self.assert_folder_has("baseline", "plain")

    def test_what_cannot_be_measured(self):
        """The first process says so; no other is begun, and no file appears."""
        done = self.assert_ends(2, *SMALL, "--device", "7", "--processes", "3", "--json", "out.json")
        self.assertEqual(done.err.count("no device '7'"), 1)
        self.assert_folder_has()

    def test_nothing_but_skipped(self):
        self.assert_ends(3, "--backend", "host", "--mode", "peer", *FEW, "--processes", "2", "--json", "out.json")
        self.assertEqual(self.fates(self.load("out.json")), [(3, None, True)] * 2)


class Places(ProcessesCase):
    """Where it is written to."""

    def test_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        done = self.assert_ends(1, *SMALL, "--processes", "2", "--json", "/dev/full")
        self.assertIn("ENOSPC", done.err)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in ((), ("--json", "-")):
                done = self.assert_ends(1, *SMALL, "--processes", "2", *arguments, stdout=full)
                self.assertIn("cannot write", done.err)

    def test_other_file_is_written_all_the_same(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        script = self.script(f'exec {PROGRAM} "$@"')
        self.assert_ends(
            1, *SMALL, "--processes", "2", "--interleave", script, "--json", "a.json", "--baseline-json", "/dev/full"
        )
        self.assertEqual(self.load("a.json")["role"], "candidate")
        self.assert_folder_has("a.json", "baseline", "turns")

    def test_file_that_grows_too_large(self):
        self.write("out.json", "old")
        done = self.assert_ends(
            1, *SMALL, "--processes", "2", "--json", "out.json",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )
        self.assertIn("EFBIG", done.err)
        self.assertEqual((self.read("out.json"), os.listdir(self.folder)), ("old", ["out.json"]))

    def test_closed_streams(self):
        """The pipes must not take the place of the standard streams."""
        for closed in ((1,), (0, 1), (0, 1, 2), (2,)):
            with self.subTest(closed=closed):
                self.assert_ends(
                    0, *SMALL, "--processes", "2", "--quiet", "--json", "out.json",
                    preexec_fn=lambda: [os.close(fd) for fd in closed],
                )
                self.assertEqual(self.fates(self.load("out.json")), [(0, None, True)] * 2)
        done = self.assert_ends(1, *SMALL, "--processes", "2", preexec_fn=lambda: os.close(1))
        self.assertIn("cannot write", done.err)

    def test_reader_that_left(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w", encoding="utf-8") as pipe:
            done = self.assert_ends(1, *SMALL, "--processes", "2", "--json", "-", stdout=pipe)
        self.assertIn("EPIPE", done.err)


if __name__ == "__main__":
    harness.main()
