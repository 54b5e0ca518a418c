#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes that do not fit.
usage: test_memory.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import resource
import subprocess

import harness
from harness import (
    BIDIR,
    FEW,
    HOST,
    MODES,
    ONE,
    XFERBENCH,
    Case,
    Outcome,
    base_environment,
    is_sanitized,
)


class Memory(Case):
    """A size that does not fit is refused before any of it is taken."""

    def refused(self, *arguments):
        """Peak memory of a run that must be refused, in bytes; and what it said."""
        limit = None
        if not is_sanitized():  # their shadow memory would not fit

            def limit():  # so that a broken check does not take the machine down
                resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

        process = subprocess.Popen(
            [XFERBENCH, *arguments],
            env=base_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=limit,
        )
        with process.stderr:
            err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        outcome = self.check_sane(Outcome(process.returncode, b"", err))
        self.assertEqual(outcome.code, 2, outcome)
        return usage.ru_maxrss * 1024, outcome.err

    def test_larger_than_host_memory(self):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        # What the program takes before it looks at sizes, and what this one had when it forked.
        small, _ = self.refused("--size", "0")
        sizes = ["100T", "8388607T", "9223372036854775807", "1K..128T", "4K,100T"]
        if not is_sanitized():
            sizes.append(str(total))
        for size in sizes:
            # No pair is there; and how much memory a pipeline takes does not follow the file's length.
            ways = [(mode, ()) for mode in MODES if not mode.startswith("peer") and mode != "pipeline"]
            for mode, more in (*ways, *((mode, BIDIR) for mode in ("pinned", "async"))):
                with self.subTest(size=size, mode=mode, more=more):
                    peak, err = self.refused(*HOST, "--mode", mode, *more, "--size", size)
                    self.assertTrue(err.startswith("xferbench: --size "), err)
                    self.assert_words(err, (mode, "host memory", "smaller size"))
                    # What bounds it hangs on the machine; test_named_limits.py has the limits.
                    self.assertRegex(err, "swap|raise that limit")
                    limit = float(re.search(r"([0-9.]+) GiB can be had", err)[1]) * 2**30
                    self.assertGreater(limit, 0)
                    self.assertLess(limit, total)
                    self.assertLess(peak, small + (64 << 20), err)

    def test_more_cases_than_can_be_run(self):
        """Refused before the list of them has taken a gigabyte."""
        small, _ = self.refused("--size", "0")
        sizes = ",".join(str(size) for size in range(1, 16701))
        peak, err = self.refused(*HOST, "--size", sizes)
        self.assert_words(err, ("asks for more than 10000 cases", "fewer"))
        self.assertLess(peak, small + (512 << 20), err)  # 10000 rows, in a list that doubles

    def test_memory_that_is_refused_later(self):
        """The limit is one that no check foresees: the row says so and the exit code is 1."""
        if is_sanitized():
            self.skipTest("the sanitizers' shadow memory does not fit below such a limit")
        outcome = self.run_program(
            *(*HOST, "--mode", "pinned", "--size", "64M", *FEW, "--json", "out.json"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (48 << 20, 48 << 20)),
        )
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_words(outcome.out, ("ERROR", "64 MiB", "ENOMEM"))
        for result in self.load("out.json")["results"]:
            self.assertEqual((result["status"], result["verified"]), ("error", None))
            self.assertEqual(result["error"]["status"], "memory")
            self.assertIn("smaller --size", result["reason"])

    def test_small_cases_outlive_one_that_is_too_large(self):
        """A case that fails becomes an error row, and the sweep goes on."""
        if is_sanitized():
            self.skipTest("the sanitizers' shadow memory does not fit below such a limit")
        outcome = self.run_program(
            *(*ONE, "--size", "4K,64M", *FEW, "--json", "out.json"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (48 << 20, 48 << 20)),
        )
        self.assertEqual(outcome.code, 1, outcome)
        rows = [(result["bytes"], result["status"]) for result in self.load("out.json")["results"]]
        self.assertEqual(rows, [(4096, "ok"), (64 << 20, "error")])


if __name__ == "__main__":
    harness.main()
