#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bounds a run is named: limits of the shell, files that are open, and errors in words.
usage: test_named_limits.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import resource
import unittest

import harness
from harness import FEW, HOST, ONE, STAND_IN, Case, is_sanitized

MIB = 1 << 20


def limit(kind, value):
    """For preexec_fn: lowers what this process may have, and leaves what it might raise that to."""
    return lambda: resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


class NamedLimits(Case):
    @unittest.skipIf(is_sanitized(), "the sanitizers' shadow memory does not fit below such a limit")
    def test_address_space(self):
        arguments = (*ONE, "--size", "4G", *FEW)
        words = ("--size 4 GiB", "host memory", "the limit on address space (ulimit -v)", "raise that limit")
        outcome = self.assert_usage(words, *arguments, preexec_fn=limit(resource.RLIMIT_AS, 400 * MIB))
        self.assertNotIn("swap", outcome.err)

    @unittest.skipIf(is_sanitized(), "the sanitizers' shadow memory does not fit below such a limit")
    def test_data(self):
        arguments = (*ONE, "--size", "64M", *FEW, "--json", "out.json")
        self.assert_ends(1, *arguments, preexec_fn=limit(resource.RLIMIT_DATA, 48 * MIB))
        (result,) = self.load("out.json")["results"]
        words = ("the limit on data (ulimit -d) is 48 MiB, of which", "raise that limit")
        self.assert_words(result["reason"], (*words, "ENOMEM (12), Cannot allocate memory"))

    @unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
    def test_locked_memory(self):
        """Only where the driver has refused: CUDA's does not keep to the limit."""
        arguments = ("--backend", "hip", "--mode", "pinned", "--direction", "h2d", "--size", "1M", *FEW)
        steering = {"XFERBENCH_HIP_LIBRARY": STAND_IN, "XB_STANDIN_DEVICES": "1"}
        lowered = {"preexec_fn": limit(resource.RLIMIT_MEMLOCK, 65536)}
        words = "the limit on locked memory (ulimit -l) is 64 KiB"
        for kind, call in (("registered", "hipHostRegister"), ("alloc", "hipHostMalloc")):
            with self.subTest(kind=kind):
                chosen = (*arguments, "--host-memory", kind, "--json", "out.json")
                self.assert_succeeds(*chosen, environment=steering, **lowered)
                self.assertNotIn(words, self.read("out.json"))
                reasons = ""
                for number in range(1, 8):  # one of the calls is for the buffer, others are for few bytes
                    failing = steering | {"XB_STANDIN_FAIL": f"{call}:{number}"}
                    self.run_program(*chosen, environment=failing, **lowered)
                    reasons += "".join(result["reason"] or "" for result in self.load("out.json")["results"])
                self.assert_words(reasons, (words, call))

    @unittest.skipIf(is_sanitized(), "the sanitizers' shadow memory does not fit below such a limit")
    def test_what_list_says(self):
        """How much can be page-locked is what a run may take, and the limit on locked memory stands beside it."""

        def lower():
            limit(resource.RLIMIT_AS, 1024 * MIB)()
            limit(resource.RLIMIT_MEMLOCK, 65536)()

        name = "the limit on address space (ulimit -v)"
        document = self.load_text(self.assert_succeeds("list", "--json", "-", preexec_fn=lower).out)
        self.assertEqual((document["lockable_limit"], document["lockable_ulimit_bytes"]), (name, 65536))
        self.assertTrue(0 < document["lockable_bytes"] < 960 * MIB, document["lockable_bytes"])
        text = " ".join(self.assert_succeeds("list", preexec_fn=lower).out.split())
        self.assert_words(text, (f"GiB can be page-locked ({name}, less", "locked memory (ulimit -l) is 64 KiB"))

    def test_open_files(self):
        """With both files open there is none left for /proc/meminfo, which is there all the same."""
        files = ("--json", "out.json", "--csv", "out.csv")
        arguments = (*ONE, "--size", "4K", *FEW, *files)
        told = {}
        for count in range(4, 12):
            outcome = self.run_program(*arguments, preexec_fn=limit(resource.RLIMIT_NOFILE, count))
            text = " ".join((outcome.out + outcome.err).split())  # the table is wrapped
            self.assertNotIn("is /proc", text)
            told.setdefault(outcome.code, []).append(text)
        self.assertIn(0, told)  # the last have enough
        self.assertIn(1, told)  # of the first some measure, and fail
        for text in told[1]:
            self.assert_words(text, ("/proc/meminfo cannot be read", "EMFILE (24), Too many open files"))

    def test_errors_of_files_in_words(self):
        outcome = self.assert_usage(("missing.json", "ENOENT"), "compare", "missing.json", "missing.json")
        self.assertIn("No such file or directory", outcome.err)
        outcome = self.assert_usage(("nowhere", "ENOENT"), *HOST, "--json", "nowhere/out.json")
        self.assertEqual(outcome.err.count("No such file or directory"), 1, outcome)


if __name__ == "__main__":
    harness.main()
