#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What this machine or this build has not: it is said, with what was looked for, and nothing else is taken instead;
`list` has what is there. usage: test_missing.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import ctypes
import json
import os
import re
import unittest

import harness
from harness import (FEW, HOST, SMALL, SOURCE, Case, absent_environment, needs_cuda_stub, needs_stand_in, stand_in,
                     stub_environment, words_of)

BUILT_IN = harness.built_in()
BARE = harness.program_of_build("tests", "xferbench_bare")  # without libraries that it can do without
LEFT_OUT = ["hwloc", "liblz4", "liburing", "libsqlite3", "zlib"]
COMPRESS = (*HOST, "--mode", "compress", "--timed", "sent", "--data", "zeros", "--size", "64K", *FEW)
needs_cuda = unittest.skipUnless(BUILT_IN["cuda"], "no CUDA in this build")


def has_cuda_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


class NoGpu(Case):
    def assert_nothing(self, words, *arguments, environment=None):
        environment = absent_environment() if environment is None else environment
        outcome = self.assert_ends(3, *arguments, environment=environment)
        for word in ("--backend host", *words):  # whatever line or column they begin at
            self.assertIn(words_of(word), words_of(outcome.err), outcome)

    def test_what_was_looked_for(self):
        cuda = ("libcuda.so.1", "driver version", "CUDA devices") if BUILT_IN["cuda"] else ()
        for arguments in ((), ("run",), ("--backend", "auto"), ("--size", "1K", "--quiet"), ("--dry-run",)):
            with self.subTest(arguments=arguments):
                self.assert_nothing(("no GPU", "looked for", "cuda:", "hip:", *cuda), *arguments)
        for name, is_built_in in BUILT_IN.items():
            if not is_built_in:
                words = (f"the {name} backend cannot run", "not in this build: ")
                self.assert_nothing(words, "--backend", name, environment={})
        outcome = self.assert_ends(3, "advise", "--in", "1M", "--gpu-time", "1ms", environment=absent_environment())
        self.assertIn("no GPU can be tested here", outcome.err)
        trace = os.path.join(SOURCE, "tests", "golden", "explain", "measured-now", "a.json")
        measured = ("explain", trace, "--measure", "--backend", "cuda")
        outcome = self.assert_ends(2, *measured, environment=absent_environment())  # it costs no answer
        self.assert_words(outcome.out + outcome.err, ("from the first copy or kernel", "nothing can be measured here"))

    @needs_cuda
    def test_cuda_without_a_driver(self):
        words = ("the cuda backend cannot run", "libcuda.so.1", "driver version", "CUDA devices")
        self.assert_nothing(words, "--backend", "cuda")
        self.assertIn("Options used most:", self.assert_succeeds("--backend", "cuda", "--help").out)
        if has_cuda_driver():
            self.skipTest("this machine has libcuda.so.1, and it cannot be hidden")
        self.assert_nothing((
            "libcuda.so.1   not found: install the NVIDIA driver", "driver version                unknown; runtime",
            "CUDA devices                  none can be seen without the driver",
        ), environment={})

    @needs_cuda_stub
    def test_drivers_that_do_not_do(self):
        for reason, checks, *words in (
            ("old-driver", [True, False, False], "libcuda.so.1   found", "supports CUDA 11.0: too old for runtime",
             "update the NVIDIA driver", "CUDA devices                  not counted"),
            ("no-device", [True, True, False], "libcuda.so.1   found", "enough for runtime",
             "CUDA devices                  none: no GPU is there", "CUDA_VISIBLE_DEVICES"),
            ("mismatch", [True, True, False], "libcuda.so.1   found", "not counted: ", "cudaErrorSystemDriverMismatch",
             "803"),
        ):
            with self.subTest(reason=reason):
                self.assert_nothing(words, environment=stub_environment(reason))
                listed = self.assert_succeeds("list", "--json", "-", environment=stub_environment(reason)).out
                (cuda,) = [one for one in self.load_text(listed)["backends"] if one["name"] == "cuda"]
                self.assertEqual([check["ok"] for check in cuda["checks"]], checks)

    def test_what_is_wrong_does_not_depend_on_the_machine(self):
        self.put_old("out.json")
        self.assert_nothing((), "--json", "out.json")
        for words, *arguments in (
            (("'pined'", "'pinned'"), "--mode", "pined"), (("--streams",), "--mode", "pinned", "--streams", "2"),
            (("--direction h2d", "peer"), "--mode", "peer", "--direction", "h2d"),
            (("--simultaneous", "--latency"), "--simultaneous", "--latency"),
            *((("--kernel-time",), "--backend", name, "--mode", "double-buffer", "--kernel-time", "AUTO")
              for name in BUILT_IN),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments, "--json", "out.json", environment=absent_environment())
        self.assert_old("out.json")
        self.assert_folder_has("out.json")


class ListJson(Case):
    """Held against its schema by load(); what it says of a machine that is the same everywhere: tests/golden/list."""

    def listed(self, environment):
        self.put_old("list.json")
        outcome = self.assert_succeeds("list", "--json", "list.json", environment=environment)
        self.assertEqual(("Backends\n" in outcome.out, outcome.err), (True, ""))
        self.assert_folder_has("list.json")
        return self.load("list.json")

    def test_backends(self):
        document = self.listed(absent_environment())
        backends = {backend["name"]: backend for backend in document["backends"]}
        self.assertEqual(list(backends), list(BUILT_IN))
        self.assertIs(backends["host"]["usable"], True)
        for name, is_built_in in BUILT_IN.items():
            self.assertEqual(backends[name]["absent_reason"] is None, is_built_in)
        out = self.assert_succeeds("list", environment=absent_environment()).out
        for name, is_built_in in BUILT_IN.items():
            self.assertRegex(out, rf"(?m)^  {name}: {'' if is_built_in else 'not in this build: '}\w")
        self.assertEqual([mode["name"] for mode in document["modes"]], harness.MODES)
        self.assertRegex(self.assert_succeeds("--version").out, r"^xferbench \d+\.\d+\.\d+ ")

    @needs_stand_in
    def test_gpus(self):
        gpus = [device for device in self.listed(stand_in())["devices"] if device["backend"] == "hip"]
        self.assertEqual(len(gpus), 2)
        for gpu in gpus:
            self.assertTrue(gpu["capabilities"] and gpu["lacks"] and gpu["facts"], gpu)

    @unittest.skipUnless(harness.CAN_VALIDATE, "no python3-jsonschema of 4.0 or newer")
    def test_the_schema_is_complete(self):
        """No key more and none less, in any object: one of each kind is tried."""
        document = self.listed(stand_in() if harness.STAND_IN else None)
        kinds = {}

        def collect(value, path):
            if isinstance(value, dict) and path[-1:] not in (("facts",), ("lacks",)):  # whose keys are anybody's
                kinds.setdefault(tuple("*" if isinstance(key, int) else key for key in path), path)
            for key, item in value.items() if isinstance(value,
                                                         dict) else enumerate(value if isinstance(value, list) else ()):
                collect(item, (*path, key))

        collect(document, ())
        self.assertGreater(len(kinds), 5)
        validator = harness.validator_of("list")
        for path in kinds.values():
            whole = copy.deepcopy(document)
            item = whole
            for key in path:
                item = item[key]
            for key, value in list(item.items()):
                del item[key]
                self.assertFalse(validator.is_valid(whole), f"{path}: it does not miss {key}")
                item[key] = value
            item["another"] = 1
            self.assertFalse(validator.is_valid(whole), path)


class LeftOut(Case):
    def bare(self, code, *arguments):
        return self.assert_ends(code, *arguments, program=BARE)

    def test_what_is_told(self):
        self.assertEqual(json.loads(self.bare(0, "list", "--json", "-").out)["left_out"], LEFT_OUT)
        self.assertIn(
            "Left out of this build hwloc threads and memory are not bound to NUMA nodes, and --numa is refused "
            "liblz4 the mode compress skips --codec lz4 liburing files are read by preadv instead of io_uring "
            "libsqlite3 explain reads no export of Nsight Systems zlib explain reads no gzipped trace Modes",
            words_of(self.bare(0, "list").out),
        )
        self.assertEqual("Left out of this build" in self.assert_succeeds("list").out, harness.left_out() != [])
        header = "\n  left out hwloc, liblz4, liburing, libsqlite3, zlib\n"
        self.assertIn(header, self.bare(0, *SMALL, "--verbose", "--json", "out.json").out)
        self.assertEqual(self.load("out.json")["tool"]["left_out"], LEFT_OUT)
        self.assertIn(header, self.assert_succeeds("show", "out.json", "--verbose").out)  # whatever shows it

    def test_what_needs_it(self):
        """Refused, skipped or done another way with a word of it: never ignored."""
        for nodes in ("0", "all", "some"):
            self.assertIn("--numa needs hwloc, which is not in this build", self.bare(2, *SMALL, "--numa", nodes).err)
        self.bare(0, *SMALL, "--numa", "near")
        self.bare(0, *COMPRESS, "--json", "out.json")
        found = {(row["parameters"]["codec"], row["status"]): row["reason"] for row in self.load("out.json")["results"]}
        self.assertEqual(found, {("for", "ok"): None, ("lz4", "skipped"): found["lz4", "skipped"]})
        self.assertIn("liblz4 is not in this build", found["lz4", "skipped"])
        self.assertIn("liblz4 is not in this build", self.bare(3, *COMPRESS, "--codec", "lz4").out)
        self.bare(0, *HOST, "--mode", "pipeline", "--io", "direct", "--order", "serial", "--size", "64K", *FEW,
                  "--json", "out.json")
        (result,) = self.load("out.json")["results"]
        if result["status"] == "ok":  # not every file system can read past the page cache
            self.assertIn("preadv: io_uring is not in this build", result["details"]["read_by"])
            self.assertTrue(any("not read the way" in warning for warning in result["warnings"]), result)
        self.write("t.json.gz", "\x1f\x8b")
        self.assertTrue(re.search("zlib|no trace", self.bare(2, "explain", "t.json.gz").err))


if __name__ == "__main__":
    harness.main()
