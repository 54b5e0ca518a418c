#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Without a GPU the program says what it looked for, and takes nothing else instead.
usage: test_no_gpu.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import ctypes
import unittest

import harness
from harness import Case, absent_environment, needs_cuda_stub, stub_environment

BUILT_IN = harness.built_in()


def has_cuda_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


class NoGpu(Case):
    """No GPU can be had: the program says what it looked for, and takes nothing else instead."""

    def assert_nothing(self, words, *arguments, environment):
        outcome = self.assert_ends(3, *arguments, environment=environment)
        for word in ("--backend host", *words):  # whatever line or column they begin at
            self.assertIn(" ".join(word.split()), " ".join(outcome.err.split()), outcome)
        return outcome

    def test_auto_says_what_was_looked_for(self):
        for arguments in ((), ("run",), ("--backend", "auto"), ("--size", "1K", "--quiet")):
            with self.subTest(arguments=arguments):
                words = ("no GPU", "looked for", "cuda:", "hip:")
                if BUILT_IN["cuda"]:
                    words += ("libcuda.so.1", "driver version", "CUDA devices")
                self.assert_nothing(words, *arguments, environment=absent_environment())

    @unittest.skipUnless(BUILT_IN["cuda"], "no CUDA in this build")
    def test_cuda_by_name(self):
        words = ("the cuda backend cannot run", "libcuda.so.1", "driver version", "CUDA devices")
        self.assert_nothing(words, "--backend", "cuda", environment=absent_environment())

    def test_backend_not_in_this_build(self):
        absent = [name for name, present in BUILT_IN.items() if not present]
        if not absent:
            self.skipTest("every backend is in this build")
        for name in absent:
            with self.subTest(backend=name):
                words = (f"the {name} backend cannot run", "not in this build: ")
                self.assert_nothing(words, "--backend", name, environment={})

    @unittest.skipUnless(BUILT_IN["cuda"], "no CUDA in this build")
    def test_library_missing(self):
        if has_cuda_driver():
            self.skipTest("this machine has libcuda.so.1, and it cannot be hidden")
        words = (
            "libcuda.so.1   not found: install the NVIDIA driver",
            "driver version                unknown; runtime",
            "CUDA devices                  none can be seen without the driver",
        )
        self.assert_nothing(words, environment={})

    @needs_cuda_stub
    def test_driver_too_old(self):
        words = (
            "libcuda.so.1   found",
            "supports CUDA 11.0: too old for runtime",
            "update the NVIDIA driver",
            "CUDA devices                  not counted",
        )
        self.assert_nothing(words, environment=stub_environment("old-driver"))

    @needs_cuda_stub
    def test_no_device(self):
        words = (
            "libcuda.so.1   found",
            "enough for runtime",
            "CUDA devices                  none: no GPU is there",
            "CUDA_VISIBLE_DEVICES",
        )
        self.assert_nothing(words, environment=stub_environment("no-device"))

    @needs_cuda_stub
    def test_driver_that_does_not_start(self):
        words = ("libcuda.so.1   found", "not counted: ", "cudaErrorSystemDriverMismatch", "803")
        self.assert_nothing(words, environment=stub_environment("mismatch"))

    def test_old_file_survives(self):
        self.put_old("out.json")
        self.put_old("out.csv")
        files = ("--json", "out.json", "--csv", "out.csv")
        self.assert_nothing((), *files, environment=absent_environment())
        self.assert_old("out.json")
        self.assert_old("out.csv")
        self.assert_folder_has("out.json", "out.csv")

    def test_wrong_command_line_is_told_first(self):
        """What is wrong with a command line does not depend on the machine."""
        for words, arguments in (
            (("'pined'", "'pinned'"), ("--mode", "pined")),
            (("--streams",), ("--mode", "pinned", "--streams", "2")),
            (("--json - and --csv -",), ("--json", "-", "--csv", "-")),
            (("--direction h2d", "peer"), ("--mode", "peer", "--direction", "h2d")),
            (("--simultaneous", "--latency"), ("--simultaneous", "--latency")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments, environment=absent_environment())


if __name__ == "__main__":
    harness.main()
