#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What failed is told on stderr where no table tells it: with --quiet, and where the JSON has
standard output.
usage: test_told_failures.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import unittest

import harness
from harness import FEW, SMALL, Case


class Rows(Case):
    ROWS = ("--backend", "hip", "--mode", "pinned", "--direction", "h2d", "--size", "4K,8K", *FEW)

    @unittest.skipUnless(harness.STAND_IN, "the HIP backend is not in this build")
    def test_row_that_failed(self):
        environment = {
            "XFERBENCH_HIP_LIBRARY": harness.STAND_IN,
            "XB_STANDIN_DAMAGE": "h2d",
            "XDG_CACHE_HOME": self.folder,
        }
        lines = [f"xferbench: pinned registered h2d {size} KiB: " for size in (4, 8)]
        for files in (("--quiet",), ("--json", "-"), ("--quiet", "--json", "out.json"), ("--csv", "-")):
            with self.subTest(files=files):
                outcome = self.assert_ends(1, *self.ROWS, *files, environment=environment)
                self.assert_told(outcome, *lines)
        outcome = self.assert_ends(1, *self.ROWS, environment=environment)
        self.assertIn("ERROR", outcome.out)
        self.assertEqual(outcome.err, "")

    def assert_told(self, outcome, *beginnings):
        lines = outcome.err.splitlines()
        self.assertEqual(len(lines), len(beginnings), outcome)
        for line, beginning in zip(lines, beginnings):
            self.assertTrue(line.startswith(beginning), outcome)
            self.assertGreater(len(line), len(beginning), outcome)

    def test_nothing_failed(self):
        self.assertEqual(self.assert_succeeds(*SMALL, "--quiet").err, "")
        self.assertEqual(self.assert_succeeds(*SMALL, "--json", "-").err, "")

    def test_nothing_was_measured(self):
        line = "xferbench: nothing was measured: pinned, 4 KiB to the GPU: the deadline came before it began\n"
        for files in (("--quiet",), ("--json", "-"), ("--quiet", "--processes", "2")):
            with self.subTest(files=files):
                outcome = self.assert_ends(3, *SMALL, "--deadline", "1us", *files)
                self.assertEqual(outcome.err, line, outcome)
        outcome = self.assert_ends(3, *SMALL, "--deadline", "1us")
        self.assertEqual(outcome.err, "", outcome)  # the table tells

    def test_what_was_decided(self):
        told = {
            "plan": "plan: pinned registered h2d 4 KiB device 0",
            "probe": "probe: host: the CPU: always there",
            "warm-up": r"warm-up: pinned registered h2d 4 KiB device 0: \d+ times; iterations a sample: \d+",
            "stop": "stop: pinned registered h2d 4 KiB device 0: after 3 samples: fixed",
        }
        arguments = (*harness.HOST, "--mode", "pinned", "--direction", "h2d", "--size", "4K", "--samples", "3")
        for words in (("plan",), ("stop", "probe"), tuple(told), ("1",), ("planned", "st")):
            err = self.run_program(*arguments, environment={"XFERBENCH_DEBUG": ",".join(words)}).err
            lines = "".join(f"xferbench: {told[word]}\n" for word in sorted(told) if word in words)
            self.assertRegex("".join(sorted(err.splitlines(True))), rf"\A{lines}\Z")


class Processes(Case):
    def test_process_that_failed(self):
        # Leaves a mark, so that only the first of its processes measures.
        script = self.write(
            "program", f'#!/bin/sh\n[ ! -e mark ] || exit 1\n: > mark\nexec "{harness.XFERBENCH}" "$@"\n'
        )
        os.chmod(script, 0o755)
        several = (*SMALL, "--processes", "3", "--interleave", script, "--baseline-json", "b")
        line = "xferbench: baseline process {} of 3: it ended with exit code 1 and printed no results\n"
        for files in (("--quiet", "--json", "a"), ("--json", "-")):
            with self.subTest(files=files):
                outcome = self.assert_ends(1, *several, *files)
                self.assertEqual(outcome.err, line.format(2) + line.format(3), outcome)
                os.unlink(self.path("mark"))
        outcome = self.assert_ends(1, *several, "--json", "a")
        self.assertIn("FAILED", outcome.out)
        self.assertEqual(outcome.err, "", outcome)


if __name__ == "__main__":
    harness.main()
