#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the program from outside. usage: test_cli.py BUILD_FOLDER [UNITTEST_ARGUMENT...]

They need no GPU and do not mind one. What is asked of the host backend is small.
"""

import csv
import ctypes
import fcntl
import io
import itertools
import json
import math
import os
import re
import resource
import signal
import stat
import statistics
import subprocess
import time
import unittest

import harness
from harness import (
    BIDIR,
    ENDLESS,
    FEW,
    GUARD_S,
    HOST,
    LONG,
    MEASURED,
    MODES,
    ONE,
    SMALL,
    XFERBENCH,
    Case,
    Outcome,
    Terminal,
    absent_environment,
    base_environment,
    is_sanitized,
    needs_cuda_stub,
    stub_environment,
    validate_json,
)

NO_PAIRS = "this backend has no copies between devices"
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
        words = ("--backend host", *words)
        return self.assert_fails(3, words, *arguments, environment=environment)

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
            "CUDA devices                  not asked",
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


class Usage(Case):
    """Every way to get the command line wrong: exit 2, and a message that helps."""

    def test_nearest_match(self):
        for words, arguments in (
            (("unknown option --sise", "--size"), ("--sise", "4K")),
            (("unknown option --sise", "--size"), ("--sise=4K",)),
            (("unknown option --host-memroy", "--host-memory"), ("--host-memroy", "alloc")),
            (("unknown option --jsno", "--json"), ("list", "--jsno", "-")),
            (("mode 'pined'", "'pinned'"), (*HOST, "--mode", "pined")),
            (("mode 'asinc'", "'async'"), (*HOST, "--mode", "pinned,asinc")),
            (("mode 'Pinned'", "'pinned'"), (*HOST, "--mode", "Pinned")),
            (('"h2f"', '"h2d"'), (*HOST, "--direction", "h2f")),
            (('"D2H"', '"d2h"'), (*HOST, "--direction", "D2H")),
            (('"bidri"', '"bidir"'), (*HOST, "--direction", "bidri")),
            (("unknown option --latancy", "--latency"), ("--latancy",)),
            (("unknown option --deadlin-", "--deadline"), ("--deadlin-", "1s")),
            (("mode 'double-bufer'", "'double-buffer'"), (*HOST, "--mode", "double-bufer")),
            (("mode 'zerocopy'", "'zero-copy'"), (*HOST, "--mode", "zerocopy")),
            (('"seqential"', '"sequential"'), (*HOST, "--access", "seqential")),
            (('"prefech"', '"prefetch"'), (*HOST, "--managed", "prefech")),
            (('"direct-raed"', '"direct-read"'), (*HOST, "--peer-path", "direct-raed")),
            (('"alocc"', '"alloc"'), (*HOST, "--host-memory", "alocc")),
            (('"registred"', '"registered"'), (*HOST, "--host-memory", "alloc,registred")),
            (("backend 'hots'", "'host'"), ("--backend", "hots")),
            (("backend 'cud'", "'cuda'"), ("--backend", "cud")),
            (("command 'lsit'", "'list'"), ("lsit",)),
            (("command 'rnu'", "'run'"), ("rnu", *SMALL)),
            (("--help", "mode 'pined'", "'pinned'"), ("--help", "pined")),
            (("--help", "mode 'asyn'", "'async'"), ("run", "--help", "asyn")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(("did you mean", *words), *arguments)

    def test_nothing_is_near(self):
        for words, arguments in (
            (("unknown option --frobnicate",), ("--frobnicate",)),
            (("unknown option -z",), ("-z",)),
            (("unknown option -z",), ("-qz",)),
            (("0xC3",), ("-\u00e4",)),
            (("'frobnicate'", "auto", "cuda", "hip", "host"), ("--backend", "frobnicate")),
            (("'frobnicate'", *MODES, "all"), (*HOST, "-m", "frobnicate")),
            (
                ('"frobnicate"', "h2d", "d2h", "both", "bidir", "d2d"),
                (*HOST, "-d", "frobnicate"),
            ),
            (
                ('"frob"', "registered", "alloc", "write-combined", "pageable"),
                (*HOST, "--host-memory", "frob"),
            ),
            (('"fnord"', "sequential", "strided", "random"), (*HOST, "--access", "fnord")),
            (('"xyz"', "fault", "prefetch", "advise"), (*HOST, "--managed", "xyz")),
            (('"xyz"', "direct-read", "direct-write", "staged"), (*HOST, "--peer-path", "xyz")),
            (("'frobnicate'", "run", "list"), ("frobnicate",)),
            (("''", "run", "list"), ("",)),
            (("'frobnicate'", "--help"), ("--help", "frobnicate")),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.assert_usage(words, *arguments)
                self.assertNotIn("did you mean", outcome.err)

    def test_ambiguous_beginning(self):
        outcome = self.assert_usage(("--s is ambiguous",), "--s", "4K")
        self.assert_words(outcome.err, ("--size", "--samples", "--streams", "--simultaneous"))

    def test_missing_argument(self):
        names = "mode size direction device backend json csv chunk deadline pairs peer-path access"
        for name in (*names.split(), "passes", "managed", "buffers", "kernel-time", "host-memory"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name} needs an argument",), f"--{name}")
        self.assert_usage(("--size needs an argument",), "-s")
        self.assert_usage(("--json needs an argument",), "list", "--json")

    def test_argument_of_a_flag(self):
        for name in ("quiet", "latency", "simultaneous", "quick"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name} takes no argument",), f"--{name}=yes")

    def test_empty_argument(self):
        names = "mode size direction device backend json csv host-memory pairs peer-path access"
        for name in (*names.split(), "managed", "kernel-time"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name}: ", "empty"), f"--{name}", "")

    def test_given_twice(self):
        for name, arguments in (
            ("size", ("--size", "1K", "--size", "2K")),
            ("size", ("-s", "1K", "--size=1K")),
            ("quiet", ("-q", "-q")),
            ("json", ("--json", "a", "--json", "b")),
            ("host-memory", ("--host-memory", "alloc", "--host-memory", "registered")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage((f"--{name} is given twice",), *arguments)
        self.assert_folder_has()

    def test_word_named_twice(self):
        self.assert_usage(("--mode", '"pinned"', "twice"), *HOST, "--mode", "pinned,pinned")
        self.assert_usage(("--direction", "twice"), *HOST, "--direction", "h2d,h2d")
        self.assert_usage(("--device", "twice"), *HOST, "--device", "0,0")
        self.assert_usage(("--device", "device 0", "twice"), *HOST, "--device", "0,00")
        self.assert_usage(("--mode", "empty"), *HOST, "--mode", "pinned,,async")

    def test_all_beside_others(self):
        """'all' is among the modes that the message offers, so it must not be called unknown."""
        for option in ("--mode", "--device"):
            with self.subTest(option=option):
                other = {"--mode": "pinned", "--device": "0"}[option]
                outcome = self.run_program(*HOST, option, f"all,{other}", "--size", "100T")
                self.assertEqual(outcome.code, 2, outcome)
                self.assertNotRegex(outcome.err, "no (mode|device) 'all'|has no device 'all'")

    def test_stray_operand(self):
        for words, arguments in (
            (("'pinned'", "--mode"), ("run", "pinned")),
            (("'1G'",), (*SMALL, "1G")),
            (("'1G'",), ("--quiet", "--", "1G")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments)

    def test_stray_operand_of_list(self):
        self.assert_usage(("'devices'",), "list", "devices")

    def test_stray_operand_of_help(self):
        self.assert_usage(("'async'",), "--help", "pinned", "async")

    def test_option_of_another_command(self):
        self.assert_usage(("unknown option --size",), "list", "--size", "4K")

    def test_sizes(self):
        accepted = ("64K", "KiB", "KB", "powers of 1000", "2^63")
        for size, words in (
            ("0", ("is zero", *accepted)),
            ("0K", ("is zero",)),
            ("0..4K", ("is zero",)),
            ("-1", ("not a decimal number", *accepted)),
            ("-4K", ("not a decimal number",)),
            ("+4K", ("not a decimal number",)),
            (" 4K", ("not a decimal number",)),
            ("four", ("not a decimal number",)),
            ("K", ("not a decimal number",)),
            (".5K", ("not a decimal number",)),
            ("5.", ("not a decimal number",)),
            ("inf", ("not a decimal number",)),
            ("4Q", ("unknown suffix",)),
            ("4 K", ("unknown suffix",)),
            ("4KK", ("unknown suffix",)),
            ("0x10", ("unknown suffix",)),
            ("1e3", ("unknown suffix",)),
            ("1.5", ("not a whole number of bytes",)),
            ("1.5B", ("not a whole number of bytes",)),
            ("0.0001K", ("not a whole number of bytes",)),
            ("9999999T", ("too large", *accepted)),
            ("8388608T", ("too large",)),
            ("9223372036854775808", ("too large",)),
            ("18446744073709551617", ("too large",)),
            ("99999999999999999999999999999999", ("too large",)),
            ("1K,2K..9999999T", ("too large",)),
            ("1K,", ("empty place",)),
            (",", ("empty place",)),
            ("1K,,2K", ("empty place",)),
            ("4K..1K", ("runs backwards",)),
            ("1K..", ("lacks a size",)),
            ("..1K", ("lacks a size",)),
            ("1K,1024", ("1 KiB is named twice",)),
            ("1K..8K,4K", ("4 KiB is named twice",)),
        ):
            with self.subTest(size=size):
                self.assert_usage(("--size: ", *words), *HOST, "--size", size)

    def test_size_is_quoted(self):
        self.assert_usage(('"4Q"',), *HOST, "--size", "4Q")
        # A text that is far too long must not push what is wrong with it out of the message.
        self.assert_usage(("unknown suffix", "64K"), *HOST, "--size", "4" + "Q" * 5000)

    def test_counts(self):
        for option, least, most in (
            ("samples", 1, 1000000),
            ("streams", 1, 64),
            ("buffers", 2, 32),
            ("passes", 1, 1000),
        ):
            words = (f"--{option}", f"from {least} to {most}")
            outside = ("18446744073709551617", f"{most}1", str(most + 1), str(least - 1))
            for value in ("0", "-1", "+1", " 1", "1.5", "1e1", "x", *outside):
                with self.subTest(option=option, value=value):
                    self.assert_usage((*words, f'"{value}"'), *HOST, f"--{option}", value)

    def test_chunk(self):
        for value, word in (("0", "zero"), ("-1", "decimal"), ("9999999T", "large"), ("1K,2K", "")):
            with self.subTest(value=value):
                self.assert_usage(("--chunk: ", word), *HOST, "--mode", "async", "--chunk", value)

    def test_durations(self):
        for value, word in (
            ("0", "is zero"),
            ("0ms", "is zero"),
            ("-1s", "not a decimal number"),
            ("inf", "not a decimal number"),
            ("nan", "not a decimal number"),
            ("1h", "unknown unit"),
            ("1 s", "unknown unit"),
            ("99999999999999999999", "too large"),
        ):
            with self.subTest(value=value):
                for option in ("--time-limit", "--deadline"):
                    words = (f"{option}: ", word, "ns, us, ms, s or m")
                    self.assert_usage(words, *HOST, option, value)

    def test_option_that_no_chosen_mode_takes(self):
        for option, value, mode in (
            ("--streams", "2", "pinned"),
            ("--chunk", "1M", "pageable,pinned"),
            ("--host-memory", "alloc", "pageable"),
            ("--host-memory", "registered", "pageable,zero-copy,managed,peer"),
            ("--pairs", "0:1", "pinned"),
            ("--peer-path", "staged", "async"),
            ("--access", "random", "pinned"),
            ("--passes", "2", "double-buffer"),
            ("--managed", "fault", "zero-copy"),
            ("--buffers", "2", "async"),
            ("--kernel-time", "none", "zero-copy"),
        ):
            with self.subTest(option=option, mode=mode):
                arguments = (*HOST, "--mode", mode, option, value)
                self.assert_usage((f"{option} has no effect", "--help MODE"), *arguments)

    def test_device_that_is_not_there(self):
        for device in ("1", "7", "99999999999999999999", "-1", "0000:0f:00.0", "0f:00.0", "GPU-0"):
            with self.subTest(device=device):
                outcome = self.assert_usage(("--device", f"'{device}'"), *HOST, "--device", device)
                self.assertRegex(outcome.err, r"devices are:\n  0  .*\w", outcome)

    def test_pairs(self):
        """The host backend has one device, so every pair is wrong in one way or another."""
        for pairs, words in (
            ("x", ('"x"', "not a pair", "source:destination")),
            ("0", ('"0"', "not a pair")),
            (":", ("no device ''",)),
            ("0:", ("no device ''",)),
            (":0", ("no device ''",)),
            ("0:1:2", ('"0:1:2"', "not a pair")),
            ("0-1", ('"0-1"', "not a pair")),
            ("-1:0", ('"-1:0"', "not a pair")),
            ("00000000000000000000:0", ("not a pair",)),
            ("0:0", ("0:0", "one device, not two")),
            ("0:00", ("one device, not two",)),
            ("0:1", ("no device '1'",)),
            ("1:0", ("no device '1'",)),
            ("0:99999999999999999999", ("no device '99999999999999999999'",)),
            ("0:1,0:1", ("--pairs", '"0:1"', "twice")),
            ("0:1,", ("--pairs", "empty")),
        ):
            with self.subTest(pairs=pairs):
                self.assert_usage(words, *HOST, "--mode", "peer", "--pairs", pairs)

    def test_direction_that_a_mode_does_not_have(self):
        """Named modes are not left out in silence; where all are meant, some may be."""
        for direction, mode, refused in (
            ("h2d", "peer", "peer"),
            ("both", "peer", "peer"),
            ("h2d", "pinned,peer", "peer"),
            ("h2d", "double-buffer", "double-buffer"),
            ("bidir", "pageable", "pageable"),
            ("bidir", "async,zero-copy", "zero-copy"),
            ("bidir", "managed", "managed"),
            ("d2d", "pinned", "pinned"),
            ("d2d", "peer,async", "async"),
        ):
            with self.subTest(direction=direction, mode=mode):
                words = (f"--direction {direction}", f"{refused} does not go", f"--help {refused}")
                self.assert_usage(words, *HOST, "--mode", mode, "--direction", direction)

    def test_simultaneous_with_what_cannot_be(self):
        words = ("--simultaneous", "bandwidth", "--latency")
        self.assert_usage(words, *HOST, "--simultaneous", "--latency")
        words = ("--simultaneous", "starts several devices together", "pinned or async")
        for mode in ("pageable", "double-buffer,zero-copy", "managed,peer"):
            with self.subTest(mode=mode):
                self.assert_usage(words, *HOST, "--simultaneous", "--mode", mode)

    def test_two_outputs_for_one_place(self):
        self.assert_usage(("--json - and --csv -",), *SMALL, "--json", "-", "--csv", "-")
        self.assert_usage(("same file",), *SMALL, "--json", "out", "--csv", "out")
        self.assert_folder_has()

    def test_two_outputs_for_one_place_by_other_names(self):
        """One would silently replace the other."""
        self.put_old("old")
        os.symlink("old", self.path("link"))
        for one, other in (("new", "./new"), ("new", self.path("new")), ("old", "link")):
            with self.subTest(one=one, other=other):
                self.assert_usage(("same file",), *SMALL, "--json", one, "--csv", other)
                self.assert_old("old")
                self.assert_folder_has("old", "link")


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
            ways = [*((mode, ()) for mode in MODES if mode != "peer")]  # there is no pair
            for mode, more in (*ways, *((mode, BIDIR) for mode in ("pinned", "async"))):
                with self.subTest(size=size, mode=mode, more=more):
                    peak, err = self.refused(*HOST, "--mode", mode, *more, "--size", size)
                    self.assertTrue(err.startswith("xferbench: --size "), err)
                    self.assert_words(err, (mode, "host memory", "swap", "smaller size"))
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


class Files(Case):
    """Where results go, and what becomes of what was there."""

    def assert_refused(self, words, path, **options):
        """Told before the hours of measuring that the arguments ask for."""
        for option in ("--json", "--csv"):
            with self.subTest(option=option, path=path):
                words = ("cannot write", path, *words)
                self.assert_usage(words, *ENDLESS, option, path, **options)

    def test_folder_that_does_not_exist(self):
        self.assert_refused(("ENOENT", "create its directory"), self.path("nowhere", "out.json"))
        self.assert_folder_has()

    def test_folder_instead_of_file(self):
        os.mkdir(self.path("folder"))
        self.assert_refused(("EISDIR", "name a file in it"), self.path("folder"))
        self.assert_refused(("EISDIR",), self.path("folder") + "/")
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_file_instead_of_folder(self):
        self.put_old("file")
        self.assert_refused(("ENOTDIR",), self.path("file", "out.json"))
        self.assert_old("file")

    def test_name_too_long(self):
        self.assert_refused(("ENAMETOOLONG",), "x" * 300)

    def test_link_to_nothing(self):
        os.symlink("nowhere/out.json", self.path("link"))
        self.assert_refused(("ENOENT", "link"), "link")
        self.assert_folder_has("link")

    def test_folder_that_is_not_writable(self):
        user = self.unprivileged()
        os.mkdir(self.path("locked"))
        self.put_old("locked", "old")
        os.chmod(self.path("locked", "old"), 0o666)
        os.chmod(self.path("locked"), 0o555)
        self.addCleanup(os.chmod, self.path("locked"), 0o755)
        self.assert_refused(("EACCES",), self.path("locked", "new"), **user)
        self.assert_refused(("EACCES",), self.path("locked", "old"), **user)
        self.assertEqual(os.listdir(self.path("locked")), ["old"])
        self.assert_old("locked", "old")

    def test_file_that_is_not_writable(self):
        user = self.unprivileged()
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        os.chmod(self.put_old("open", "old"), 0o444)
        self.assert_refused(("EACCES", "make the file writable"), self.path("open", "old"), **user)
        self.assertEqual(os.listdir(self.path("open")), ["old"])
        self.assert_old("open", "old")

    def test_second_output_refused(self):
        """Nothing is left of the first, which was opened already."""
        self.put_old("out.json")
        nowhere = self.path("nowhere", "out.csv")
        self.assert_usage(("ENOENT",), *ENDLESS, "--json", "out.json", "--csv", nowhere)
        self.assert_old("out.json")
        self.assert_folder_has("out.json")

    def test_old_file_survives_a_wrong_command_line(self):
        self.put_old("out.json")
        for arguments in (
            (*HOST, "--size", "0"),
            (*HOST, "--size", "100T"),
            (*HOST, "--mode", "pined"),
            (*HOST, "--device", "9"),
            (*HOST, "--mode", "pinned", "--chunk", "1M"),
            ("--backend", "hots"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage((), *arguments, "--json", "out.json")
                self.assert_old("out.json")
                self.assert_folder_has("out.json")

    def test_old_file_is_replaced(self):
        os.chmod(self.put_old("out.json"), 0o640)
        self.put_old("out.csv")
        self.assert_succeeds(*SMALL, "--json", "out.json", "--csv", "out.csv")
        self.assert_all_ok(self.load("out.json"))
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("mode,variant,"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.json")).st_mode), 0o640)
        self.assert_folder_has("out.json", "out.csv")

    def test_new_file_has_ordinary_rights(self):
        self.assert_succeeds(*SMALL, "--json", "out.json", umask=0o027)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.json")).st_mode), 0o640)

    def test_link_stays_a_link(self):
        os.mkdir(self.path("there"))
        self.put_old("there", "out.json")
        os.symlink("there/out.json", self.path("link.json"))
        self.assert_succeeds(*SMALL, "--json", "link.json")
        self.assertEqual(os.readlink(self.path("link.json")), "there/out.json")
        self.assert_all_ok(self.load("there", "out.json"))
        self.assertEqual(os.listdir(self.path("there")), ["out.json"])

    def test_null_device_stays_a_device(self):
        node = self.device_node("/dev/null", 3)
        for option in ("--json", "--csv"):
            self.assert_succeeds(*SMALL, option, node)
            self.assertTrue(stat.S_ISCHR(os.stat(node).st_mode))
        self.assertLessEqual(set(os.listdir(self.folder)), {"null"})

    def test_full_device(self):
        node = self.device_node("/dev/full", 7)
        # A short file fails when it is closed, a long one while it is written.
        for size, option in itertools.product(("4K", "1..1M"), ("--json", "--csv")):
            with self.subTest(size=size, option=option):
                outcome = self.run_program(*ONE, "--size", size, *FEW, option, node)
                self.assertEqual(outcome.code, 1, outcome)
                self.assert_words(outcome.err, ("cannot write", "full", "ENOSPC"))
                self.assertRegex(outcome.out, r"(?m)^pinned .* yes$")
                self.assertTrue(stat.S_ISCHR(os.stat(node).st_mode))

    def test_full_device_does_not_keep_the_other_from_its_file(self):
        node = self.device_node("/dev/full", 7)
        outcome = self.run_program(*SMALL, "--json", node, "--csv", "out.csv")
        self.assertEqual(outcome.code, 1, outcome)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_pipe_stays_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.assert_succeeds(*SMALL, "--json", "pipe")
            text = os.read(reader, 1 << 20)
        finally:
            os.close(reader)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assert_all_ok(self.load_text(text.decode()))

    def test_standard_output_that_is_full(self):
        node = self.device_node("/dev/full", 7)
        for arguments in (SMALL, (*SMALL, "--json", "-"), (*SMALL, "--csv", "-")):
            with self.subTest(arguments=arguments), open(node, "wb") as full:
                outcome = self.run_program(*arguments, stdout=full)
                self.assertEqual(outcome.code, 1, outcome)
                self.assert_words(outcome.err, ("xferbench: cannot write", "ENOSPC"))

    def test_answers_that_nobody_gets(self):
        """A list or a help that could not be printed is no success."""
        node = self.device_node("/dev/full", 7)
        for arguments in (("list",), ("--help",), ("--help", "pinned"), ("--version",)):
            with self.subTest(arguments=arguments), open(node, "wb") as full:
                outcome = self.run_program(*arguments, stdout=full)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("cannot write", outcome.err)

    def test_standard_output_that_nobody_reads(self):
        """What can be written is written, and nothing is left beside it."""
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:
            outcome = self.run_program(
                *(*SMALL, "--json", "-", "--csv", "out.csv"),
                stdout=pipe,
                allowed_signal=signal.SIGPIPE,
            )
        self.assertIn(outcome.code, (1, -signal.SIGPIPE), outcome)
        self.assert_folder_has("out.csv")
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_file_that_grows_too_large(self):
        """As where a quota or ulimit -f stops it: the old file stays, and no temporary one."""
        self.put_old("out.json")
        outcome = self.run_program(
            *(*SMALL, "--json", "out.json"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_words(outcome.err, ("cannot write", "out.json", "EFBIG"))
        self.assert_old("out.json")
        self.assert_folder_has("out.json")


# ---- statistics, anew ----


def quantile(values, p):
    """Linear between closest ranks: type 7 of Hyndman and Fan, 1996."""
    ordered = sorted(values)
    below = math.floor((len(ordered) - 1) * p)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + ((len(ordered) - 1) * p - below) * (ordered[above] - ordered[below])


def interval_ranks(n):
    """The largest l with P(Binomial(n, 1/2) < l) <= 0.025, and n + 1 - l; in whole numbers."""
    below = 0
    low = 0
    while 40 * (below + math.comb(n, low)) <= 2**n:
        below += math.comb(n, low)
        low += 1
    return (low, n + 1 - low) if low > 0 else None


def describe(values):
    middle = statistics.median(values)
    ordered = sorted(values)
    ranks = interval_ranks(len(values))
    return {
        "median": middle,
        "ci95_low": ordered[ranks[0] - 1] if ranks else None,
        "ci95_high": ordered[ranks[1] - 1] if ranks else None,
        "min": min(values),
        "max": max(values),
        "p5": quantile(values, 0.05),
        "p95": quantile(values, 0.95),
        "mad": statistics.median(abs(value - middle) for value in values),
        "n": len(values),
    }


RESULT_KEYS = (
    "mode variant direction bytes bytes_moved device peer latency simultaneous status reason timer "
    "samples_s bandwidth_bytes_per_second latency_s parts overlap share_of_alone submit_s wall_s "
    "stop_reason verified warnings details"
).split()
CSV_SAME = "mode variant direction status timer stop_reason".split()
CSV_BANDWIDTH = {"median_bytes_per_second": "median"} | {
    key: key for key in "ci95_low ci95_high min max p5 p95 mad n".split()
}
CSV_LATENCY = {
    f"{clock}_latency_{key}_s": (clock, key)
    for clock in ("host", "device")
    for key in ("p50", "p95", "p99")
}


class Measuring(Case):
    """Ways to measure, and to look at what came of it."""

    def run_to_json(self, *arguments, **options):
        self.assert_succeeds(*arguments, "--json", "out.json", **options)
        document = self.load("out.json")
        self.assert_all_ok(document)
        return document

    def run_one(self, *arguments):
        """The result of a run that has but one."""
        (result,) = self.run_to_json(*HOST, *arguments)["results"]
        return result

    def run_whatever(self, code, *arguments):
        """The document of a run in which not all is well, and what was printed."""
        outcome = self.run_program(*HOST, *arguments, "--json", "out.json")
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.err, "")
        return self.load("out.json"), outcome.out

    def assert_statuses(self, results, expected):
        self.assertEqual([result["status"] for result in results], expected)

    def assert_skipped(self, result, *words):
        self.assertEqual(result["status"], "skipped", result)
        self.assert_words(result["reason"], words)

    def assert_error(self, result, *words):
        self.assertEqual(result["status"], "error", result)
        self.assertEqual(result["error"]["status"], "usage")
        self.assert_words(result["reason"], words)

    def assert_near(self, found, expected, message=None):
        """The same but for how a double is rounded."""
        self.assertTrue(
            math.isclose(found, expected, rel_tol=1e-9), f"{message}: {found} is not {expected}"
        )

    def head_and_rows(self, table):
        lines = table.split("\n")
        heads = [i for i, line in enumerate(lines) if line.startswith("MODE ")]
        self.assertEqual(len(heads), 1, table)
        body = lines[heads[0] + 1 :]
        return lines[heads[0]], body[: body.index("")]

    def rows(self, table):
        """The rows of a table, without its head."""
        head, rows = self.head_and_rows(table)
        self.assert_words(head, ("DIR", "SIZE", "GB/s", "INTERVAL", "MIN", "MAX"))
        self.assertRegex(head, r" SUBMIT +DONE +N +(VERIFIED|OK)$")  # OK where lines are long
        return rows

    def assert_described(self, result):
        rates = [result["bytes_moved"] / seconds for seconds in result["samples_s"]]
        expected = describe(rates)
        found = result["bandwidth_bytes_per_second"]
        self.assertEqual(found.keys(), expected.keys())
        for key, value in expected.items():
            if value is None or key == "n":
                self.assertEqual(found[key], value, key)
            else:  # sums in another order differ in the last bits, near zero by more
                self.assertTrue(
                    math.isclose(found[key], value, rel_tol=1e-12, abs_tol=1e-12 * expected["max"]),
                    f"{key}: {found[key]} is not {value}",
                )

    def assert_parts(self, result, *names):
        self.assertEqual(list(result["parts"]), list(names))
        for name, part in result["parts"].items():
            self.assert_near(part["median_s"], statistics.median(part["samples_s"]), name)


class Results(Measuring):
    """What a run says when all goes well."""

    def test_keys(self):
        document = self.run_to_json(*SMALL)
        for key in "tool timestamp host backend devices environment config results".split():
            self.assertIn(key, document)
        self.assertEqual(document["schema"], "xferbench.result")
        self.assertEqual(document["schema_version"], 1)
        self.assertIs(document["interrupted"], False)
        self.assertEqual(document["backend"]["name"], "host")
        self.assertEqual(len(document["devices"]), 1)
        for key in "name uuid pci_bdf memory_bytes driver".split():
            self.assertIn(key, document["devices"][0])
        for key in RESULT_KEYS:
            self.assertIn(key, document["results"][0])
        self.assertEqual(document["results"][0]["timer"], "host-clock")

    def test_every_case_has_its_row(self):
        """Without --mode and --direction: every mode, each the ways that it goes by default."""
        outcome = self.assert_succeeds(*HOST, "--size", "4K,1000", *FEW, "--json", "out.json")
        document = self.load("out.json")
        cases = [
            (result["mode"], result["variant"], result["bytes"], result["direction"])
            for result in document["results"]
        ]
        one_way = ("h2d", "d2h")
        modes = (
            ("pageable", "malloc", one_way),
            ("pinned", "registered", one_way),
            ("async", "registered", one_way),
            ("double-buffer", "registered", ("bidir",)),
            ("zero-copy", "sequential", one_way),
            ("managed", "fault", one_way),
            ("managed", "prefetch", one_way),
        )
        expected = [
            (mode, variant, size, direction)
            for mode, variant, directions in modes
            for size in (4096, 1000)
            for direction in directions
        ]
        # There is no pair here: one row says so for all of them.
        expected.append(("peer", "direct-read", 4096, "d2d"))
        self.assertEqual(cases, expected)
        self.assertEqual(list(dict.fromkeys(case[0] for case in cases)), MODES)
        rows = self.rows(outcome.out)
        self.assertEqual(len(rows), len(cases))
        for row, result, (mode, variant, size, direction) in zip(rows, document["results"], cases):
            text = "4 KiB" if size == 4096 else "1000 B"
            begin = rf"^{mode} +{variant} +{direction} +{text} +"
            if mode in ("managed", "peer"):
                self.assertRegex(row, begin + r"skipped( +-)+$")
                self.assert_skipped(result, NO_PAIRS if mode == "peer" else "'managed'")
            else:
                self.assertRegex(row, begin + r"[0-9.]+ .* 3 +yes$")
                self.assertEqual((result["status"], result["verified"]), ("ok", True), result)
        notes = re.sub(r"\s+", " ", outcome.out)
        self.assert_words(notes, ("lacks the capability 'managed'", NO_PAIRS))

    def test_table_shows_what_the_record_has(self):
        outcome = self.assert_succeeds(*ONE, "-s", "4K", "-n", "7", "--json", "out.json")
        document = self.load("out.json")
        self.assertIn(document["devices"][0]["name"], outcome.out)
        self.assert_words(outcome.out, ("backend host", "link", "NUMA"))
        row = self.rows(outcome.out)[0].split()
        bandwidth = document["results"][0]["bandwidth_bytes_per_second"]
        low, high = row[6].split("-")
        shown = {"median": row[5], "ci95_low": low, "ci95_high": high, "min": row[7], "max": row[8]}
        for key, text in shown.items():
            decimals = len(text.partition(".")[2])
            self.assertEqual(text, f"{bandwidth[key] / 1e9:.{decimals}f}", key)

    def test_numbers_are_numbers(self):
        document, _ = self.run_whatever(0, "--size", "4K", *FEW)
        # Names and lists, which may look like numbers.
        texts = {"device", "version", "runtime_version", "driver_version", "host_memory_numa_nodes"}

        def walk(value, key, place):
            if isinstance(value, dict):
                for inner, item in value.items():
                    if inner != "environment":
                        walk(item, inner, f"{place}.{inner}")
            elif isinstance(value, list):
                for item in value:
                    walk(item, key, place)
            elif isinstance(value, str) and key not in texts:
                self.assertIsNone(re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", value), place)
            if key.endswith(("_s", "_bytes", "bytes", "_samples", "streams")) and key != "mode":
                self.assertNotIsInstance(value, (str, bool), place)

        walk(document, "", "$")
        details = {}
        for result in document["results"]:
            details.update(result["details"])
        for key in "streams chunk_bytes buffers compute_steps speed_up passes".split():
            self.assertIn(type(details[key]), (int, float), key)

    def test_statistics(self):
        for samples in (1, 2, 5, 6, 7, 10, 20, 57):
            with self.subTest(samples=samples):
                document = self.run_to_json(*ONE, "-s", "4K", "-t", "1ms", "-n", str(samples))
                (result,) = document["results"]
                self.assertEqual(len(result["samples_s"]), samples)
                self.assertEqual(result["stop_reason"], "fixed")
                self.assert_described(result)

    def test_known_ranks(self):
        """The figures of the literature, so that the test and the program do not err together."""
        self.assertIsNone(interval_ranks(5))
        for n, ranks in ((6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (100, (40, 61))):
            self.assertEqual(interval_ranks(n), ranks)

    def test_stopping_by_itself(self):
        document = self.run_to_json(*HOST, "-m", "pageable,async", "-s", "64K", "-t", "20ms")
        for result in document["results"]:
            self.assertIn(result["stop_reason"], ("converged", "time-limit"))
            least = {"converged": 20, "time-limit": 6}[result["stop_reason"]]
            self.assertGreaterEqual(len(result["samples_s"]), least)
            self.assert_described(result)

    def test_host_clock_beside_it(self):
        document = self.run_to_json(*HOST, *MEASURED, "--size", "4K,1M", *FEW)
        for result in document["results"]:
            with self.subTest(mode=result["mode"], bytes=result["bytes"]):
                self.assertGreater(result["submit_s"]["median"], 0)
                # Each call returned before its data was there, so the medians stand so too.
                self.assertGreaterEqual(result["wall_s"]["median"], result["submit_s"]["median"])
                self.assertEqual(result["wall_s"]["n"], result["submit_s"]["n"])

    def test_config_has_every_option(self):
        help_text = self.assert_succeeds("--help").out
        options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", help_text, re.M))
        self.assertLessEqual({"mode", "size", "samples", "streams", "chunk", "quiet"}, options)
        config = self.run_to_json(
            *(*HOST, "--mode", "pinned,async", "--size", "4K..16K,1KB", "--time-limit", "20ms"),
            *("--chunk", "1.5K", "--direction", "d2h", "--quiet"),
        )["config"]
        self.assertEqual(set(config), options)
        expected = {
            "mode": ["pinned", "async"],
            "size": [4096, 8192, 16384, 1000],
            "direction": ["d2h"],
            "device": ["0"],
            "backend": "host",
            "time-limit": 0.02,
            "samples": None,
            "json": "out.json",
            "csv": None,
            "quiet": True,
            "host-memory": ["registered"],
            "streams": 2,
            "chunk": 1536,
            "latency": False,
            "simultaneous": False,
            "quick": False,
            "deadline": None,
            "access": ["sequential"],
            "passes": 1,
            "managed": ["fault", "prefetch"],
            "buffers": 3,
            "kernel-time": "auto",
            "peer-path": ["direct-read", "direct-write", "staged"],
            "pairs": None,
        }
        self.assertEqual({key: config[key] for key in expected}, expected)

    def test_config_has_defaults(self):
        config = self.run_to_json(*ONE, "--size", "4K", "--samples", "3")["config"]
        self.assertEqual(config["samples"], 3)
        self.assertEqual(config["time-limit"], 0.25)
        self.assertEqual(config["device"], ["0"])
        self.assertEqual(config["chunk"], 8 << 20)
        self.assertIs(config["quiet"], False)
        config, _ = self.run_whatever(3, "--mode", "peer", "--samples", "3")
        self.assertEqual(config["config"]["size"], [256 << 20])
        self.assertIsNone(config["config"]["direction"])
        self.assertEqual(config["config"]["mode"], ["peer"])

    def test_short_names(self):
        arguments = ("-bhost", "-mpinned", "-dh2d", "-s4K", "-n3", "-D", "0", "-t1ms")
        document = self.run_to_json(*arguments)
        self.assertEqual(len(document["results"]), 1)
        self.assertEqual(document["config"]["time-limit"], 0.001)

    def test_both_directions(self):
        for words in ("both", "h2d,d2h", "d2h,h2d"):
            document = self.run_to_json(*HOST, "-m", "pageable", "-s", "4K", *FEW, "-d", words)
            directions = [result["direction"] for result in document["results"]]
            self.assertEqual(directions, ["h2d", "d2h"], words)

    def test_every_device(self):
        document = self.run_to_json(*SMALL, "--device", "all")
        self.assertEqual([device["index"] for device in document["devices"]], [0])
        self.assertEqual(document["config"]["device"], ["all"])

    def test_odd_sizes_and_chunks(self):
        """The last chunk is shorter; one byte is a size."""
        arguments = (*HOST, "--size", "1,4097,1000003", *FEW)
        self.run_to_json(*arguments, *MEASURED)
        self.run_to_json(*arguments, "-m", "pinned,async", *BIDIR, "--chunk", "999")
        for chunk, buffers in (("8", "2"), ("4096", "32"), ("1T", "3")):
            with self.subTest(chunk=chunk, buffers=buffers):
                mode = ("-m", "double-buffer", "--chunk", chunk, "--buffers", buffers)
                self.run_to_json(*HOST, "--size", "1,4097,100003", *FEW, *mode)
        for chunk, streams in (("1000", "3"), ("4096", "64"), ("1000003", "1"), ("1T", "2")):
            with self.subTest(chunk=chunk, streams=streams):
                document = self.run_to_json(
                    *(*arguments, "-m", "async", "--chunk", chunk, "--streams", streams)
                )
                details = document["results"][0]["details"]
                self.assertEqual(details["streams"], int(streams))
                self.assertEqual(details["chunk_bytes"], 1 << 40 if chunk == "1T" else int(chunk))

    def test_environment(self):
        document = self.run_to_json(
            *SMALL,
            environment={
                "CUDA_FOO": 'a "quoted" value\\',
                "HIP_FOO": "",
                "FOO_VISIBLE_DEVICES": "1,0",
                "ROCM_PATH": "/nowhere",
                "XB_UNRELATED": "no",
                "MY_CUDA_FOO": "no",
                "NVIDIA_API_KEY": "no",
                "CUDA_ACCESS_TOKEN": "no",
            },
        )
        kept = {
            "CUDA_FOO": 'a "quoted" value\\',
            "HIP_FOO": "",
            "FOO_VISIBLE_DEVICES": "1,0",
            "ROCM_PATH": "/nowhere",
        }
        self.assertEqual(document["environment"], kept)

    def test_environment_that_is_no_text(self):
        document = self.run_to_json(*SMALL, environment={"CUDA_FOO": b"a\xffb\n"})
        self.assertEqual(document["environment"]["CUDA_FOO"], "a\ufffdb\n")

    def test_json_on_standard_output(self):
        outcome = self.assert_succeeds(*SMALL, "--json", "-")
        self.assertEqual(outcome.err, "")
        self.assert_all_ok(self.load_text(outcome.out))
        self.assert_folder_has("from-stdout.json")

    def test_csv_agrees_with_json(self):
        outcome = self.assert_succeeds(
            *(*HOST, "--mode", "pinned,async", "--host-memory", "alloc,write-combined"),
            *("--size", "4K,64K", "--samples", "7", "--time-limit", "1ms", "-d", "both,bidir"),
            *("--json", "out.json", "--csv", "-"),
        )
        self.assertEqual(outcome.err, "")
        self.assertEqual(outcome.out.count("\r\n"), outcome.out.count("\n"))
        lines = list(csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True))
        results = self.load("out.json")["results"]
        self.assertEqual(len(lines), len(results))
        self.assertEqual({result["status"] for result in results}, {"ok", "skipped"})
        for line, result in zip(lines, results):
            self.assertNotIn(None, line)
            for key in CSV_SAME:
                self.assertEqual(line[key], result[key] or "", key)
            self.assertEqual(line["reason"], result["reason"] or "")
            self.assertEqual(int(line["bytes"]), result["bytes"])
            self.assertEqual(int(line["device"]), result["device"])
            self.assertEqual(line["peer"], "")
            self.assertEqual(line["verified"], {True: "true", None: ""}[result["verified"]])
            self.assertEqual(line["warnings"], "; ".join(result["warnings"]))
            bandwidth = result["bandwidth_bytes_per_second"] or {}
            for column, key in CSV_BANDWIDTH.items():
                expected = bandwidth.get(key)
                self.assertEqual(float(line[column]) if line[column] else None, expected, column)
            for key in ("bytes_moved", "overlap", "share_of_alone"):
                self.assertEqual(float(line[key]) if line[key] else None, result[key], key)
            self.assertEqual((line["latency"], line["simultaneous"]), ("false", "false"))
            for key in CSV_LATENCY:
                self.assertEqual(line[key], "", key)
            for key in ("submit_s", "wall_s"):
                expected = result[key]["median"] if result[key] else None
                self.assertEqual(float(line[key]) if line[key] else None, expected, key)

    def test_quiet(self):
        outcome = self.assert_succeeds(*SMALL, "--quiet", "--json", "out.json", "--csv", "out.csv")
        self.assertEqual((outcome.out, outcome.err), ("", ""))
        self.assert_all_ok(self.load("out.json"))
        self.assert_folder_has("out.json", "out.csv")

    def test_quiet_leaves_what_was_asked_for(self):
        outcome = self.assert_succeeds(*SMALL, "--quiet", "--json", "-")
        self.assert_all_ok(self.load_text(outcome.out))

    def test_nothing_but_skipped_rows(self):
        outcome = self.run_program(
            *(*HOST, "--mode", "pinned", "--host-memory", "write-combined", "--size", "4K"),
            *(*FEW, "--json", "out.json"),
        )
        self.assertEqual(outcome.code, 3, outcome)
        rows = self.rows(outcome.out)
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertRegex(row, r"^pinned +write-combined +(h2d|d2h) +4 KiB +skipped ")
        self.assertIn("lacks the capability 'write-combined'", re.sub(r"\s+", " ", outcome.out))
        results = self.load("out.json")["results"]
        self.assertEqual([result["status"] for result in results], ["skipped", "skipped"])
        for result in results:
            self.assertIn("lacks the capability 'write-combined'", result["reason"])

    def test_some_skipped_rows(self):
        outcome = self.assert_succeeds(
            *(*SMALL, "--host-memory", "alloc,write-combined", "--json", "out.json"),
        )
        self.assertEqual(len(self.rows(outcome.out)), 2)
        results = self.load("out.json")["results"]
        self.assertEqual([result["status"] for result in results], ["ok", "skipped"])


class Directions(Measuring):
    """--direction, and both ways at once."""

    def test_both_ways_at_once(self):
        """The whole, each direction out of the same samples, and what they had in common."""
        document = self.run_to_json(
            *(*HOST, "-m", "pinned,async", "-s", "64K", *BIDIR, "-n", "9", "-t", "1ms"),
            *("--chunk", "10000"),
        )
        self.assertEqual([result["mode"] for result in document["results"]], ["pinned", "async"])
        for result in document["results"]:
            with self.subTest(mode=result["mode"]):
                self.assertEqual((result["direction"], result["peer"]), ("bidir", None))
                self.assertEqual((result["bytes"], result["bytes_moved"]), (65536, 2 * 65536))
                self.assert_described(result)
                self.assert_parts(result, "h2d", "d2h")
                shares = []
                for whole, there, back in zip(
                    result["samples_s"],
                    result["parts"]["h2d"]["samples_s"],
                    result["parts"]["d2h"]["samples_s"],
                    strict=True,
                ):
                    # Neither began before the whole, nor ended behind it.
                    self.assertLessEqual(max(there, back), whole * (1 + 1e-9))
                    shares.append(min(max((there + back - whole) / whole, 0), 1))
                self.assertGreaterEqual(result["overlap"], 0)
                self.assertLessEqual(result["overlap"], 1)
                self.assertTrue(
                    math.isclose(result["overlap"], statistics.median(shares), abs_tol=1e-9)
                )
                for part in result["parts"].values():
                    self.assertEqual(part["bytes"], 65536)

    def test_one_way_has_no_overlap(self):
        document = self.run_to_json(*HOST, "-m", "pageable,pinned,async", "-s", "4K", *FEW)
        for result in document["results"]:
            self.assertEqual((result["overlap"], result["parts"]), (None, {}))
            self.assertEqual(result["bytes_moved"], result["bytes"])

    def test_order_of_directions(self):
        """Whatever order they are named in."""
        for words in ("both,bidir", "bidir,d2h,h2d"):
            document = self.run_to_json(*HOST, "-m", "pinned", "-s", "4K", *FEW, "-d", words)
            directions = [result["direction"] for result in document["results"]]
            self.assertEqual(directions, ["h2d", "d2h", "bidir"], words)

    def modes_of(self, code, direction):
        document, _ = self.run_whatever(code, "-s", "4K", *FEW, "--direction", direction)
        for result in document["results"]:
            self.assertEqual(result["direction"], direction)
        return list(dict.fromkeys(result["mode"] for result in document["results"]))

    def test_direction_of_all_modes(self):
        """Those that go that way, and no word of the others."""
        for direction in ("h2d", "d2h"):
            modes = self.modes_of(0, direction)
            self.assertEqual(modes, ["pageable", "pinned", "async", "zero-copy", "managed"])
        self.assertEqual(self.modes_of(0, "bidir"), ["pinned", "async", "double-buffer", "peer"])

    def test_between_devices(self):
        """Which the host backend has none of: nothing could be tested."""
        self.assertEqual(self.modes_of(3, "d2d"), ["peer"])
        document, out = self.run_whatever(3, "--mode", "peer", "-s", "4K", *FEW)
        (result,) = document["results"]
        self.assert_skipped(result, NO_PAIRS)
        self.assertIn(NO_PAIRS, out)


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
                    self.assert_skipped(result, "pageable memory keeps its caller")

    def test_pageable_pipeline(self):
        document, _ = self.run_whatever(3, *self.PIPELINE, "--host-memory", "pageable")
        self.assert_skipped(document["results"][0], "double-buffer is about page-locked memory")

    def test_pipeline(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "16K")
        self.assertEqual((result["direction"], result["bytes_moved"]), ("bidir", 2 * 65536))
        self.assert_described(result)
        self.assert_parts(result, "serial", "h2d", "kernel", "d2h", "copies")
        details = result["details"]
        self.assertEqual((details["buffers"], details["chunk_bytes"]), (3, 16384))
        self.assertGreaterEqual(details["compute_steps"], 1)
        self.assert_stages(result)

    def assert_stages(self, result):
        """What the record says of its parts is what they say."""
        details = result["details"]
        stages = {name: part["median_s"] for name, part in result["parts"].items()}
        serial = stages.pop("serial")
        overlapped = result["bytes_moved"] / result["bandwidth_bytes_per_second"]["median"]
        expected = {
            "overlapped_s": overlapped,
            "serial_s": serial,
            "speed_up": serial / overlapped,
            "bound_s": max(stages.values()),
            "efficiency": max(stages.values()) / overlapped,
            "compute_share": stages["kernel"] / overlapped,
        }
        for key, value in expected.items():
            self.assert_near(details[key], value, key)

    def test_pipeline_of_one_chunk(self):
        """The chunk is no larger than what is sent, in whole words."""
        for size, chunk in (("4K", 4096), ("1001", 1008), ("1", 8)):
            result = self.run_one("--mode", "double-buffer", "--size", size, *FEW)
            self.assertEqual(result["details"]["chunk_bytes"], chunk, size)

    def test_buffers(self):
        for buffers in ("2", "32"):
            result = self.run_one(*self.PIPELINE, "--chunk", "1K", "--buffers", buffers)
            self.assertEqual(result["details"]["buffers"], int(buffers))

    def test_kernel_time(self):
        result = self.run_one(*self.PIPELINE, "--chunk", "32K", "--kernel-time", "1ms")
        self.assertGreaterEqual(result["details"]["compute_steps"], 1)
        self.assert_stages(result)

    def test_no_kernel(self):
        """Nothing computes, so nobody may say that something did."""
        result = self.run_one(*self.PIPELINE, "--chunk", "16K", "--kernel-time", "none")
        self.assertEqual(result["details"]["compute_steps"], 0)
        self.assertEqual(result["details"].get("compute_share", 0), 0)

    def test_wrong_kernel_time(self):
        for text in ("bad", "0", "-1ms", "none,auto", "1001ms", "1h"):
            with self.subTest(text=text):
                document, out = self.run_whatever(1, *self.PIPELINE, "--kernel-time", text)
                words = ("--kernel-time", f"'{text}'", "auto", "none", "500us")
                self.assert_error(document["results"][0], *words)
                self.assertIn("ERROR", out)

    def test_chunk_that_splits_words(self):
        """The kernel computes on words of 8 bytes; async takes any chunk."""
        for chunk in ("12", "4100", "1001"):
            with self.subTest(chunk=chunk):
                document, out = self.run_whatever(
                    *(1, "--mode", "async,double-buffer", "--direction", "both,bidir"),
                    *("--size", "4K", *FEW, "--chunk", chunk),
                )
                *others, last = document["results"]
                self.assert_statuses(others, ["ok"] * 3)
                self.assertEqual(last["mode"], "double-buffer")
                self.assert_error(last, "--chunk", "8 bytes", chunk, "multiple")
                self.assertRegex(out, r"(?m)^double-buffer .* ERROR ")

    def test_chunks_without_end(self):
        """More operations than anybody wants enqueued."""
        document, _ = self.run_whatever(
            *(1, "--mode", "async,double-buffer", "--size", "16M", *FEW, "--chunk", "8"),
        )
        for result in document["results"]:
            self.assert_error(result, "chunks of 8", "take a larger --chunk")

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
                    self.assertEqual(result["details"]["passes"], passes)
                    self.assert_described(result)
                    self.assert_parts(result, "copy", "kernel", "explicit")
                    self.assert_break_even(result, passes)

    def assert_break_even(self, result, passes):
        """From how many passes on one copy and local kernels take less than kernels in place."""
        details = result["details"]
        copy, kernel, explicit = (
            result["parts"][name]["median_s"] for name in ("copy", "kernel", "explicit")
        )
        in_place = result["bytes_moved"] / result["bandwidth_bytes_per_second"]["median"] / passes
        gain = in_place - kernel / passes
        self.assert_near(details["explicit_s"], explicit)
        if gain <= 0:
            self.assertNotIn("break_even_passes", details)
        else:
            self.assertLessEqual(abs(details["break_even_passes"] - (copy // gain + 1)), 1)

    def test_parts_say_what_they_move(self):
        """Between host and device, by one iteration; nothing where only the device works."""
        expected = {
            "double-buffer": {"serial": 2, "h2d": 1, "kernel": 0, "d2h": 1, "copies": 2},
            "zero-copy": {"copy": 1, "kernel": 0, "explicit": 1},
        }
        arguments = ("-m", "double-buffer,zero-copy", "-s", "4K", *FEW, "--passes", "3")
        for result in self.run_to_json(*HOST, *arguments)["results"]:
            found = {name: part["bytes"] / 4096 for name, part in result["parts"].items()}
            with self.subTest(mode=result["mode"], direction=result["direction"]):
                self.assertEqual(found, expected[result["mode"]])

    def test_managed(self):
        """Which of its forms are asked for; the host backend says of each that it has none."""
        document, out = self.run_whatever(
            3, "--mode", "managed", "--managed", "fault,prefetch,advise", "--size", "4K", *FEW
        )
        cases = [(result["variant"], result["direction"]) for result in document["results"]]
        words = ("fault", "prefetch", "advise")
        self.assertEqual(cases, [*itertools.product(words, ("h2d", "d2h"))])
        for result in document["results"]:
            self.assert_skipped(result, "capability 'managed'", f"managed {result['variant']}")
        self.assertEqual(len(self.rows(out)), 6)


class Latency(Measuring):
    """--latency: single operations, and percentiles of their times."""

    def test_percentiles(self):
        modes = ("--mode", "pageable,pinned,async,zero-copy")
        document = self.run_to_json(*HOST, *modes, "--latency", "-n", "23", "-t", "1ms")
        self.assertEqual(len(document["results"]), 8)
        for result in document["results"]:
            with self.subTest(mode=result["mode"], direction=result["direction"]):
                self.assertIs(result["latency"], True)
                self.assertEqual(result["bytes"], 4)
                self.assertEqual(result["details"]["iterations_per_sample"], 1)
                self.assertEqual((result["parts"], result["overlap"]), ({}, None))
                samples = result["samples_s"]
                expected = {
                    "min": min(samples),
                    "p50": quantile(samples, 0.5),
                    "p95": quantile(samples, 0.95),
                    "p99": quantile(samples, 0.99),
                    "max": max(samples),
                    "n": 23,
                }
                device = result["latency_s"]["device"]
                self.assertEqual(device.keys(), expected.keys())
                for key, value in expected.items():
                    self.assert_near(device[key], value, key)
                # Of the host's times the record has the median alone.
                host = result["latency_s"]["host"]
                self.assertEqual((host["n"], result["wall_s"]["n"]), (23, 23))
                self.assert_near(host["p50"], result["wall_s"]["median"])
                order = [host[key] for key in ("min", "p50", "p95", "p99", "max")]
                self.assertEqual(order, sorted(order))

    def test_table(self):
        outcome = self.assert_succeeds(
            *(*HOST, "-m", "pinned", "-d", "h2d", "--latency", "-n", "7", "-t", "1ms"),
            *("--json", "out.json"),
        )
        head, (row,) = self.head_and_rows(outcome.out)
        self.assertRegex(
            head,
            r"^MODE +VARIANT +DIR +SIZE +HOST P50 +P95 +P99 +DEVICE P50 +P95 +P99 +N +"
            r"(VERIFIED|OK)$",
        )
        self.assertRegex(row, r"^pinned +registered +h2d +4 B +")
        cells = re.findall(r"([0-9.]+) (ns|us|ms|s)\b", row)
        (result,) = self.load("out.json")["results"]
        clocks = [result["latency_s"][clock] for clock in ("host", "device")]
        expected = [clock[key] for clock in clocks for key in ("p50", "p95", "p99")]
        self.assertEqual(len(cells), len(expected), row)
        for (digits, unit), seconds in zip(cells, expected):
            scaled = seconds / {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]
            self.assertEqual(digits, f"{scaled:.{len(digits.partition('.')[2])}f}")
        self.assertRegex(row, r" 7 +yes$")

    def test_csv(self):
        outcome = self.assert_succeeds(
            *(*HOST, "-m", "pinned", "-d", "both,bidir", "--latency", "-n", "7", "-t", "1ms"),
            *("--json", "out.json", "--csv", "-"),
        )
        lines = list(csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True))
        results = self.load("out.json")["results"]
        self.assert_statuses(results, ["ok", "ok", "skipped"])
        for line, result in zip(lines, results, strict=True):
            self.assertEqual(line["latency"], "true")
            for column, (clock, key) in CSV_LATENCY.items():
                expected = result["latency_s"][clock][key] if result["latency_s"] else None
                self.assertEqual(float(line[column]) if line[column] else None, expected, column)

    def test_both_ways_at_once_is_no_single_operation(self):
        arguments = ("-m", "pinned,async", *BIDIR, "--latency", "-n", "3", "-t", "1ms")
        document, _ = self.run_whatever(3, *arguments)
        for result in document["results"]:
            self.assert_skipped(result, "latency is that of a single operation", "both ways")
            self.assertIsNone(result["latency_s"])

    def test_size(self):
        """4 bytes, whatever else is asked for; another size only by name."""
        arguments = ("-m", "pinned", "-d", "h2d", "--latency", "-n", "3", "-t", "1ms")
        self.assertEqual(self.run_one(*arguments, "--quick")["bytes"], 4)
        self.assertEqual(self.run_one(*arguments, "--size", "2K")["bytes"], 2048)

    def test_all_modes(self):
        document, _ = self.run_whatever(0, "--latency", "-n", "3", "-t", "1ms")
        for result in document["results"]:
            self.assertEqual(result["bytes"], 4)
            skipped = result["mode"] in ("double-buffer", "managed", "peer")
            self.assertEqual(result["status"], "skipped" if skipped else "ok", result)

    def test_nobody_else_has_latency(self):
        result = self.run_one("-m", "pinned", "-d", "h2d", "-s", "4", *FEW)
        self.assertEqual((result["latency"], result["latency_s"]), (False, None))


class Bounds(Measuring):
    """--simultaneous, --quick and --deadline: how much is measured."""

    def test_several_devices_where_there_is_one(self):
        """Each alone as ever, and rows that say why there is nothing beside them."""
        document, out = self.run_whatever(
            0, "-m", "pageable,pinned", "-s", "4K", *FEW, "--simultaneous"
        )
        results = document["results"]
        found = [(r["mode"], r["direction"], r["simultaneous"], r["device"]) for r in results]
        alone = [*itertools.product(("pageable", "pinned"), ("h2d", "d2h"), (False,), (0,))]
        together = [*itertools.product(("pinned",), ("h2d", "d2h"), (True,), (None, 0))]
        self.assertEqual(found, alone + together)
        self.assert_statuses(results, ["ok"] * 4 + ["skipped"] * 4)
        for result in results[4:]:
            self.assert_skipped(result, "two of them", "one is chosen or there")
        rows = self.rows(out)
        self.assertEqual(len(rows), 8)
        self.assertEqual(sum(" sum " in row for row in rows), 2)

    def test_quick(self):
        document = self.run_to_json(*HOST, "-m", "pageable", "-d", "h2d", "--quick")
        self.assertIs(document["config"]["quick"], True)
        self.assertEqual(document["config"]["time-limit"], 0.1)
        self.assertEqual(document["config"]["size"], [64 << 20])
        self.assertEqual(document["results"][0]["bytes"], 64 << 20)

    def test_quick_gives_way(self):
        arguments = ("-m", "pageable", "-d", "h2d", "--quick")
        config = self.run_to_json(*HOST, *arguments, "--size", "4K")["config"]
        self.assertEqual((config["size"], config["time-limit"]), ([4096], 0.1))
        config = self.run_to_json(*HOST, "-t", "2ms", *arguments, "-s", "4K,8K")["config"]
        self.assertEqual((config["size"], config["time-limit"]), ([4096, 8192], 0.002))

    def test_deadline_that_is_past(self):
        """Nothing was tested: exit 3, and every row says why."""
        document, out = self.run_whatever(3, "--size", "4K", *FEW, "--deadline", "1us")
        self.assertEqual(document["config"]["deadline"], 1e-6)
        self.assertIs(document["deadline_met"], False)
        self.assertIs(document["interrupted"], False)
        for result in document["results"]:
            # What could not be tested at any time says that.
            peer = result["mode"] == "peer"
            self.assert_skipped(result, NO_PAIRS if peer else "the deadline came before it began")
        count = len(document["results"])
        self.assertEqual(list(dict.fromkeys(r["mode"] for r in document["results"])), MODES)
        self.assert_words(out, ("STOPPED", f"the deadline came: 0 of {count} cases"))

    def test_deadline_in_the_csv(self):
        outcome = self.run_program(*SMALL, "--deadline", "1ns", "--csv", "-")
        self.assertEqual(outcome.code, 3, outcome)
        (line,) = csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True)
        self.assertEqual((line["status"], line["stop_reason"]), ("skipped", ""))
        self.assertIn("deadline", line["reason"])

    def test_deadline_cuts_a_case(self):
        """One that would go on for minutes: what there is by then is written."""
        outcome = self.run_program(*ENDLESS, "--deadline", "1s", "--json", "out.json")
        document = self.load("out.json")
        self.assertIs(document["deadline_met"], False)
        first, second = document["results"]
        if first["status"] == "ok":
            self.assertEqual((first["stop_reason"], first["verified"]), ("deadline", True))
            self.assert_described(first)
        else:  # a machine so busy that nothing could be begun
            self.assert_skipped(first, "deadline")
        self.assertEqual(outcome.code, 0 if first["status"] == "ok" else 3, outcome)
        # The first ends where another repetition would be too long: too little is left.
        self.assert_skipped(second, "the deadline came before it")
        self.assert_words(outcome.out, ("STOPPED", "the deadline came", "of 2 cases"))

    def test_deadline_that_is_far(self):
        document = self.run_to_json(*SMALL, "--deadline", "60m")
        self.assertIs(document["deadline_met"], True)
        self.assertEqual(document["config"]["deadline"], 3600)

    def test_no_deadline(self):
        document = self.run_to_json(*SMALL)
        self.assertIsNone(document["deadline_met"])
        self.assertIsNone(document["config"]["deadline"])


class Progress(Case):
    """The line on stderr, for people who wait."""

    def test_on_a_terminal(self):
        terminal = Terminal()
        process = self.start(*LONG, terminal=terminal)
        outcome = self.finish(process)
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_words(outcome.err, ("[1/1] pinned registered h2d 64 KiB, device 0: ",))
        self.assert_words(outcome.err, (" samples, ", " GB/s"))
        self.assertTrue(outcome.err.endswith("\r\x1b[K"), "the line is not wiped out at the end")
        self.assertNotIn("samples, ", outcome.out)

    def test_quiet(self):
        terminal = Terminal()
        process = self.start(*LONG, "--quiet", terminal=terminal)
        outcome = self.finish(process)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "")

    def test_not_into_a_pipe(self):
        outcome = self.assert_succeeds(*LONG)
        self.assertEqual(outcome.err, "")


class Interrupt(Case):
    """A signal ends the measuring, not the program."""

    def interrupted(self, number, *arguments):
        terminal = Terminal()
        process = self.start(*ENDLESS, *arguments, terminal=terminal)
        terminal.read_until(b" samples, ")
        process.send_signal(number)
        outcome = self.finish(process)
        # Ended by its own exit: a program that the signal killed has a negative code here.
        self.assertEqual(outcome.code, 128 + number, outcome)
        return outcome

    def check_document(self, document):
        self.assertIs(document["interrupted"], True)
        first, second = document["results"]
        self.assertEqual((first["status"], first["verified"]), ("ok", True))
        self.assertEqual(first["stop_reason"], "interrupted")
        self.assertEqual(first["bandwidth_bytes_per_second"]["n"], len(first["samples_s"]))
        self.assertIn(len(first["samples_s"]), range(1, 1000000))
        self.assertTrue(any("interrupted" in warning for warning in first["warnings"]))
        self.assertEqual(second["status"], "skipped")
        self.assertIn("interrupted", second["reason"])

    def test_files_are_written(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.put_old("out.json")
                files = ("--json", "out.json", "--csv", "out.csv")
                outcome = self.interrupted(number, *files)
                self.check_document(self.load("out.json"))
                self.assert_words(outcome.out, ("interrupted by a signal", "1 of 2 cases"))
                with open(self.path("out.csv"), encoding="utf-8", newline="") as file:
                    lines = list(csv.DictReader(file))
                self.assertEqual([line["stop_reason"] for line in lines], ["interrupted", ""])
                self.assert_folder_has("out.json", "out.csv")

    def test_standard_output_is_written(self):
        outcome = self.interrupted(signal.SIGINT, "--json", "-")
        self.check_document(self.load_text(outcome.out))

    def test_timeout(self):
        """It signals the program, and then its own group, of which the program is."""
        for _ in range(20):
            terminal = Terminal()
            process = self.start(*ENDLESS, "--json", "out.json", under=("timeout", "1h"), terminal=terminal)
            terminal.read_until(b" samples, ")
            process.send_signal(signal.SIGALRM)  # the hour is over
            outcome = self.finish(process)
            self.assertEqual(outcome.code, 124, outcome)
            self.check_document(self.load("out.json"))
            self.assert_folder_has("out.json")
            os.unlink(self.path("out.json"))

    def test_second_signal_ends_it(self):
        """Where nobody reads what it writes. Sent until then: soon after the first it is the same."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with os.fdopen(writer, "wb", 0) as pipe:
            pipe.write(bytes(fcntl.fcntl(pipe, 1032)))  # F_GETPIPE_SZ: it is full
            terminal = Terminal()
            process = self.start(*ENDLESS, "--json", "-", terminal=terminal, stdout=pipe)
        terminal.read_until(b" samples, ")
        until = time.monotonic() + GUARD_S
        while process.poll() is None:
            self.assertLess(time.monotonic(), until, "it hangs")
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                pass
        self.assertEqual(process.returncode, -signal.SIGTERM)


DIRECTIONS = {  # all, and those by default
    "pageable": (["h2d", "d2h"], ["h2d", "d2h"]),
    "pinned": (["h2d", "d2h", "bidir"], ["h2d", "d2h"]),
    "async": (["h2d", "d2h", "bidir"], ["h2d", "d2h"]),
    "double-buffer": (["bidir"], ["bidir"]),
    "zero-copy": (["h2d", "d2h"], ["h2d", "d2h"]),
    "managed": (["h2d", "d2h"], ["h2d", "d2h"]),
    "peer": (["d2d", "bidir"], ["d2d", "bidir"]),
}
OPTIONS = {
    "pageable": [],
    "pinned": ["host-memory"],
    "async": ["host-memory", "streams", "chunk"],
    "double-buffer": ["host-memory", "chunk", "buffers", "kernel-time"],
    "zero-copy": ["access", "passes"],
    "managed": ["managed"],
    "peer": ["peer-path", "pairs", "chunk"],
}


class Answers(Case):
    """Commands that measure nothing."""

    def test_list(self):
        environment = absent_environment()
        outcome = self.assert_succeeds("list", environment=environment)
        self.assertEqual(outcome.err, "")
        self.assert_words(outcome.out, ("Backends\n", "Modes\n", "pageable", "pinned", "async"))
        self.assert_words(outcome.out, ("--host-memory", "--streams", *MODES))
        directions = {
            line[1]: line[2].strip()
            for line in re.finditer(r"(?m)^  ([\w-]+) .*\n +directions: ([^;]*);", outcome.out)
        }
        expected = {
            mode: " ".join(ways) + (f" (by default {' '.join(usual)})" if usual != ways else "")
            for mode, (ways, usual) in DIRECTIONS.items()
        }
        self.assertEqual(directions, expected)
        self.assertRegex(outcome.out, r"(?m)^    device 0  .*GiB; capabilities: .*hold")
        for name, present in BUILT_IN.items():
            self.assertRegex(outcome.out, rf"(?m)^  {name}: \w")
            if not present:
                self.assertRegex(outcome.out, rf"(?m)^  {name}: not in this build: \w")
        if BUILT_IN["cuda"]:
            self.assertRegex(outcome.out, r"(?m)^  cuda: .*\(cannot run here\)$")
            self.assertRegex(outcome.out, r"(?m)^ +CUDA devices +n")

    def list_json(self, environment):
        outcome = self.assert_succeeds("list", "--json", "-", environment=environment)
        document = json.loads(
            outcome.out,
            object_pairs_hook=validate_json.object_without_duplicates,
            parse_constant=validate_json.refuse_constant,
        )
        self.assertEqual(document["schema"], "xferbench.list")
        self.assertEqual(document["schema_version"], 1)
        return document

    def test_list_json(self):
        document = self.list_json(absent_environment())
        backends = {backend["name"]: backend for backend in document["backends"]}
        self.assertEqual(list(backends), list(BUILT_IN))
        self.assertIs(backends["host"]["usable"], True)
        for name, present in BUILT_IN.items():
            if not present:
                self.assertIs(backends[name]["usable"], False)
                self.assertTrue(backends[name]["absent_reason"])
        if BUILT_IN["cuda"]:
            self.assertIs(backends["cuda"]["usable"], False)
            checks = {check["what"]: check for check in backends["cuda"]["checks"]}
            self.assertEqual(len(checks), 3)
            self.assertIs(checks["CUDA devices"]["ok"], False)
            self.assertTrue(all(check["found"] for check in checks.values()))
        modes = {mode["name"]: mode for mode in document["modes"]}
        self.assertEqual(list(modes), MODES)
        directions = {
            name: (mode["directions"], mode["default_directions"]) for name, mode in modes.items()
        }
        self.assertEqual(directions, DIRECTIONS)
        options = {name: mode["options"] for name, mode in modes.items()}
        self.assertEqual(options, OPTIONS)
        needs = {variant["name"]: variant["needs"] for variant in modes["managed"]["variants"]}
        self.assertEqual(list(needs), ["fault", "prefetch", "advise"])
        for variant, found in needs.items():
            self.assertIn("managed", found, variant)
        devices = [device for device in document["devices"] if device["backend"] == "host"]
        self.assertEqual([device["index"] for device in devices], [0])
        self.assertIsInstance(devices[0]["memory_bytes"], int)

    @needs_cuda_stub
    def test_list_json_tells_reasons_apart(self):
        expected = {"old-driver": [True, False, False], "no-device": [True, True, False]}
        found = {}
        for reason in expected:
            backends = self.list_json(stub_environment(reason))["backends"]
            (cuda,) = [backend for backend in backends if backend["name"] == "cuda"]
            found[reason] = [check["ok"] for check in cuda["checks"]]
        self.assertEqual(found, expected)

    def test_list_json_to_a_file(self):
        self.put_old("list.json")
        outcome = self.assert_succeeds("list", "--json", "list.json")
        self.assertIn("Backends\n", outcome.out)
        self.assertEqual(validate_json.load(self.path("list.json"))["schema"], "xferbench.list")
        self.assert_folder_has("list.json")

    def test_list_json_that_cannot_be_written(self):
        outcome = self.run_program("list", "--json", self.path("nowhere", "list.json"))
        self.assertEqual(outcome.code, 2, outcome)
        self.assert_words(outcome.err, ("cannot write", "ENOENT"))

    def test_help(self):
        outcome = self.assert_succeeds("--help")
        self.assertEqual(outcome.err, "")
        self.assert_words(outcome.out, ("xferbench list", "--help MODE", "Exit:"))
        names = "mode size direction device backend time-limit samples json csv quiet latency"
        for mode in MODES:
            self.assertRegex(outcome.out, rf"(?m)^  {mode} +\w")
        of_modes = dict.fromkeys(option for options in OPTIONS.values() for option in options)
        for option in (*names.split(), "simultaneous", "quick", "deadline", *of_modes):
            self.assertRegex(outcome.out, rf"(?m)^ +(-\w, )?--{option}\b")
        self.assertLessEqual(max(len(line) for line in outcome.out.splitlines()), 100)
        for arguments in (("-h",), ("run", "--help")):
            self.assertEqual(self.assert_succeeds(*arguments).out, outcome.out, arguments)

    def test_help_of_list(self):
        """Its own options and none that it would refuse."""
        outcome = self.assert_succeeds("list", "--help")
        self.assert_words(outcome.out, ("xferbench list", "--json", "--help", "--version"))
        self.assertNotIn("--size", outcome.out)

    def test_help_of_a_mode(self):
        for mode, options in OPTIONS.items():
            with self.subTest(mode=mode):
                outcome = self.assert_succeeds("--help", mode)
                self.assertTrue(outcome.out.startswith(f"{mode}: "), outcome)
                ways, usual = DIRECTIONS[mode]
                by_default = f" (by default {' '.join(usual)})" if usual != ways else ""
                line = f"Directions: {' '.join(ways)}{by_default}"
                self.assertIn(line, outcome.out.splitlines())
                found = re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+)", outcome.out)
                self.assertEqual([name for name in found if name in options], options)
                rows = outcome.out.partition("Its own options:\n")[2]
                self.assertEqual(len(re.findall(r"(?m)^ {1,6}--", rows)), len(options))
                self.assertLessEqual(max(len(row) for row in outcome.out.splitlines()), 100)

    def test_version(self):
        outcome = self.assert_succeeds("--version")
        self.assertRegex(outcome.out, r"^xferbench \d+\.\d+\.\d+ ")
        self.assertEqual(list(BUILT_IN), ["cuda", "hip", "host"])
        self.assertEqual(self.assert_succeeds("-V").out, outcome.out)

    def test_help_wins_over_what_cannot_run(self):
        environment = absent_environment()
        outcome = self.assert_succeeds("--backend", "cuda", "--help", environment=environment)
        self.assertIn("Options:", outcome.out)


if __name__ == "__main__":
    harness.main()
