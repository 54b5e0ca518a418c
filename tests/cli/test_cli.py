#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the program from outside: test_cli.py XFERBENCH SOURCE-FOLDER [UNITTEST-ARGUMENT...]

They need no GPU and do not mind one. What is asked of the host backend is small. Nothing here has a
bound on time: GUARD_S only ends a program that hangs. XFERBENCH_CUDA_STUB_DIR names the folder of
the stand-in for libcuda.so.1 (tests/doubles/libcuda_stub.c), where it was built.
"""

import csv
import ctypes
import importlib
import io
import itertools
import json
import math
import os
import pty
import re
import resource
import select
import shutil
import signal
import stat
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

GUARD_S = 60  # only a hang lasts so long

if len(sys.argv) < 3:
    sys.exit(__doc__)
XFERBENCH = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))
STUB = os.environ.get("XFERBENCH_CUDA_STUB_DIR")

sys.path.insert(0, os.path.join(SOURCE, "tests"))
validate_json = importlib.import_module("validate_json")
SCHEMA = validate_json.load(os.path.join(SOURCE, "docs", "result.schema.json"))
# Older releases of jsonschema (before 4.0: Ubuntu 22.04, RHEL 9) do not know the schema's draft.
VALIDATOR_CLASS = getattr(validate_json.jsonschema, "Draft202012Validator", None)
VALIDATOR = VALIDATOR_CLASS(SCHEMA) if VALIDATOR_CLASS else None
if VALIDATOR is None:
    print("Left out: python3-jsonschema is older than 4.0: output is not validated against the schema")

SANITIZER_EXIT = 99
SANITIZER_WORDS = re.compile(
    rb"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error:"
)

HOST = ("--backend", "host")
ONE = (*HOST, "--mode", "pinned", "--direction", "h2d")
# The time limit bounds the warm-up, which does not settle where others use the machine.
FEW = ("--samples", "3", "--time-limit", "1ms")
SMALL = (*ONE, "--size", "4K", *FEW)
# Samples are made to last about a millisecond: the first is still at it after a quarter of an hour,
# the second takes about a second, twice what makes it long enough for a progress line.
ENDLESS = (*HOST, "--mode", "pinned", "--size", "64K", "--samples", "1000000", "-t", "10m")
LONG = (*ONE, "--size", "64K", "--samples", "1000")

OLD_CONTENT = b"what was here before\n"


def is_sanitized():
    with open(XFERBENCH, "rb") as file:
        return b"__asan_init" in file.read()


def has_cuda_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def base_environment():
    """The caller's, without what would steer a GPU's runtime, and with reports of sanitizers on."""
    prefixes = ("CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROC_", "ROCR_", "GPU_", "AMD_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    environment["LC_ALL"] = "C"
    environment.setdefault("ASAN_OPTIONS", f"detect_leaks=1:exitcode={SANITIZER_EXIT}")
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1")
    return environment


def stub_environment(reason):
    """One where the driver's library is our stand-in."""
    folders = [STUB, os.environ.get("LD_LIBRARY_PATH")]
    return {
        "LD_LIBRARY_PATH": ":".join(folder for folder in folders if folder),
        "XFERBENCH_CUDA_STUB": reason,
    }


def absent_environment():
    """One in which no GPU can be had, on any machine."""
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return hidden | (stub_environment("no-device") if STUB else {})


def built_in():
    """Which backends this build has: {"cuda": True, "hip": False, "host": True}."""
    done = subprocess.run(
        [XFERBENCH, "--version"],
        env=base_environment(),
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{XFERBENCH} --version: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    lines = re.finditer(r"^  (\w+) +(built in|not in this build)", done.stdout, re.M)
    return {line[1]: line[2] == "built in" for line in lines}


BUILT_IN = built_in()
needs_cuda_stub = unittest.skipUnless(
    BUILT_IN.get("cuda") and STUB, "no CUDA in this build, or no XFERBENCH_CUDA_STUB_DIR"
)


class Outcome:
    """What came of one run of the program."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Terminal:
    """A pseudo-terminal to be the program's stderr."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.deadline = time.monotonic() + GUARD_S

    def close_slave(self):
        """Once the program has its own: then its end ends the reading."""
        os.close(self.slave)
        self.slave = -1

    def close(self):
        os.close(self.master)
        if self.slave >= 0:
            self.close_slave()

    def read_some(self):
        """What comes next, b"" for the end."""
        left = self.deadline - time.monotonic()
        if left <= 0 or not select.select([self.master], [], [], left)[0]:
            raise AssertionError("the program says nothing more and does not end")
        try:
            return os.read(self.master, 65536)
        except OSError:  # EIO: nobody has the other side open
            return b""

    def read_until(self, words):
        text = b""
        while words not in text:
            more = self.read_some()
            if not more:
                raise AssertionError(f"the program ended without {words!r}: {text!r}")
            text += more
        return text

    def read_rest(self):
        text = b""
        while more := self.read_some():
            text += more
        return text


class Case(unittest.TestCase):
    """A folder of its own, and ways to run the program and to look at what it left."""

    hung = ""  # what did not end, if anything: the rest would take as long again, test by test

    def setUp(self):
        if Case.hung:
            self.fail(f"left out: the program hung already, given {Case.hung}")
        self.folder = tempfile.mkdtemp(prefix="xferbench-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    # ---- running ----

    def check_sane(self, outcome, allowed_signal=0):
        """No sanitizer, no crash: whatever a test expects, never that."""
        self.assertNotEqual(outcome.code, SANITIZER_EXIT, outcome)
        if outcome.code != -allowed_signal:
            self.assertGreaterEqual(outcome.code, 0, f"killed by a signal: {outcome}")
        self.assertIsNone(SANITIZER_WORDS.search(outcome.err.encode()), outcome)
        return outcome

    def run_program(self, *arguments, environment=None, allowed_signal=0, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        try:
            done = subprocess.run(
                [XFERBENCH, *arguments],
                env=base_environment() | (environment or {}),
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                timeout=GUARD_S,
                check=False,
                **options,
            )
        except subprocess.TimeoutExpired:
            Case.hung = " ".join(arguments)
            raise
        outcome = Outcome(done.returncode, done.stdout or b"", done.stderr or b"")
        return self.check_sane(outcome, allowed_signal)

    def start(self, terminal, *arguments):
        """Starts the program with the terminal as its stderr."""
        self.addCleanup(terminal.close)
        process = subprocess.Popen(
            [XFERBENCH, *arguments],
            env=base_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=terminal.slave,
            cwd=self.folder,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        terminal.close_slave()
        return process

    def finish(self, terminal, process):
        err = terminal.read_rest()
        out, _ = process.communicate(timeout=GUARD_S)
        return self.check_sane(Outcome(process.returncode, out, err))

    # ---- outcomes ----

    def assert_words(self, text, words):
        for word in words:
            self.assertIn(word, text)

    def assert_succeeds(self, *arguments, **options):
        outcome = self.run_program(*arguments, **options)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def assert_fails(self, code, words, *arguments, **options):
        """The exit code, the words on stderr behind the program's name, and nothing on stdout."""
        outcome = self.run_program(*arguments, **options)
        self.assertEqual(outcome.code, code, outcome)
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assertTrue(outcome.err.endswith("\n"), outcome)
        self.assert_words(outcome.err, words)
        self.assertEqual(outcome.out, "", outcome)
        return outcome

    def assert_usage(self, words, *arguments, **options):
        return self.assert_fails(2, words, *arguments, **options)

    def load(self, *names):
        """A result file, read strictly and held against the schema."""
        document = validate_json.load(self.path(*names))
        found = VALIDATOR.iter_errors(document) if VALIDATOR else []
        errors = [f"{e.json_path}: {e.message[:300]}" for e in found]
        self.assertEqual(errors, [])
        return document

    def load_text(self, text):
        with open(self.path("from-stdout.json"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.load("from-stdout.json")

    def assert_all_ok(self, document):
        self.assertGreater(len(document["results"]), 0)
        for result in document["results"]:
            self.assertEqual((result["status"], result["verified"]), ("ok", True), result)

    # ---- files ----

    def put_old(self, *names):
        with open(self.path(*names), "wb") as file:
            file.write(OLD_CONTENT)
        return self.path(*names)

    def assert_old(self, *names):
        with open(self.path(*names), "rb") as file:
            self.assertEqual(file.read(), OLD_CONTENT)

    def assert_folder_has(self, *names):
        """These and nothing else: no temporary file was left."""
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def device_node(self, real, minor):
        """/dev/null or /dev/full. As root one of our own: a broken program could replace it."""
        if os.geteuid() != 0:
            if not stat.S_ISCHR(os.stat(real).st_mode):
                self.skipTest(f"{real} is not a device here")
            return real
        node = self.path(os.path.basename(real))
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            os.close(os.open(node, os.O_WRONLY))
        except OSError as error:
            self.skipTest(f"as root, and a device node cannot be made here: {error}")
        return node

    def unprivileged(self):
        """Options of run_program for a user who cannot write everywhere."""
        if os.geteuid() != 0:
            return {}
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chmod(self.folder, 0o755)
        try:
            subprocess.run(
                [XFERBENCH, "--version"], check=True, capture_output=True, timeout=GUARD_S, **user
            )
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"as root, and the program cannot run as somebody else: {error}")
        return user


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
            (("'frobnicate'", "pageable", "pinned", "async", "all"), (*HOST, "-m", "frobnicate")),
            (('"frobnicate"', "h2d", "d2h", "both"), (*HOST, "-d", "frobnicate")),
            (('"frob"', "alloc", "registered"), (*HOST, "--host-memory", "frob")),
            (("'frobnicate'", "run", "list"), ("frobnicate",)),
            (("''", "run", "list"), ("",)),
            (("'frobnicate'", "--help"), ("--help", "frobnicate")),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.assert_usage(words, *arguments)
                self.assertNotIn("did you mean", outcome.err)

    def test_ambiguous_beginning(self):
        outcome = self.assert_usage(("--s is ambiguous",), "--s", "4K")
        self.assert_words(outcome.err, ("--size", "--samples", "--streams"))

    def test_missing_argument(self):
        for name in ("mode", "size", "direction", "device", "backend", "json", "csv", "chunk"):
            with self.subTest(name=name):
                self.assert_usage((f"--{name} needs an argument",), f"--{name}")
        self.assert_usage(("--size needs an argument",), "-s")
        self.assert_usage(("--json needs an argument",), "list", "--json")

    def test_argument_of_a_flag(self):
        self.assert_usage(("--quiet takes no argument",), "--quiet=yes")

    def test_empty_argument(self):
        for name in "mode size direction device backend json csv host-memory".split():
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
        for option, most in (("samples", "1000000"), ("streams", "64")):
            words = (f"--{option}", f"from 1 to {most}")
            too_large = ("18446744073709551617", most + "1")
            for value in ("0", "-1", "+1", " 1", "1.5", "1e1", "x", *too_large):
                with self.subTest(option=option, value=value):
                    self.assert_usage((*words, f'"{value}"'), *HOST, f"--{option}", value)
        self.assert_usage(("--streams", "from 1 to 64"), *HOST, "--streams", "65")

    def test_chunk(self):
        for value, word in (("0", "zero"), ("-1", "decimal"), ("9999999T", "large"), ("1K,2K", "")):
            with self.subTest(value=value):
                self.assert_usage(("--chunk: ", word), *HOST, "--mode", "async", "--chunk", value)

    def test_time_limit(self):
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
                words = ("--time-limit: ", word, "ns, us, ms, s or m")
                self.assert_usage(words, *HOST, "--time-limit", value)

    def test_option_that_no_chosen_mode_takes(self):
        for option, value, mode in (
            ("--streams", "2", "pinned"),
            ("--chunk", "1M", "pageable,pinned"),
            ("--host-memory", "alloc", "pageable"),
        ):
            with self.subTest(option=option, mode=mode):
                arguments = (*HOST, "--mode", mode, option, value)
                self.assert_usage((f"{option} has no effect", "--help MODE"), *arguments)

    def test_device_that_is_not_there(self):
        for device in ("1", "7", "99999999999999999999", "-1", "0000:0f:00.0", "0f:00.0", "GPU-0"):
            with self.subTest(device=device):
                outcome = self.assert_usage(("--device", f"'{device}'"), *HOST, "--device", device)
                self.assertRegex(outcome.err, r"devices are:\n  0  .*\w", outcome)

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
            for mode in ("pageable", "pinned", "async"):
                with self.subTest(size=size, mode=mode):
                    peak, err = self.refused(*HOST, "--mode", mode, "--size", size)
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
        self.assert_words(err, ("asks for 100200 cases", "at most", "fewer"))
        self.assertLess(peak, small + (64 << 20), err)

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
    "mode variant direction bytes device peer status reason timer samples_s "
    "bandwidth_bytes_per_second submit_s wall_s stop_reason verified warnings details"
).split()
CSV_SAME = "mode variant direction status timer stop_reason".split()
CSV_BANDWIDTH = {"median_bytes_per_second": "median"} | {
    key: key for key in "ci95_low ci95_high min max p5 p95 mad n".split()
}


class Results(Case):
    """What a run says when all goes well."""

    def run_to_json(self, *arguments, **options):
        self.assert_succeeds(*arguments, "--json", "out.json", **options)
        document = self.load("out.json")
        self.assert_all_ok(document)
        return document

    def rows(self, table):
        """The rows of a table, without its head."""
        lines = table.split("\n")
        heads = [i for i, line in enumerate(lines) if line.startswith("MODE ")]
        self.assertEqual(len(heads), 1, table)
        self.assert_words(lines[heads[0]], ("DIR", "SIZE", "GB/s", "INTERVAL", "MIN", "MAX"))
        self.assert_words(lines[heads[0]], ("SUBMIT", "VERIFIED"))
        body = lines[heads[0] + 1 :]
        return body[: body.index("")]

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
        outcome = self.assert_succeeds(*HOST, "--size", "4K,1000", *FEW, "--json", "out.json")
        document = self.load("out.json")
        self.assert_all_ok(document)
        cases = [
            (result["mode"], result["variant"], result["bytes"], result["direction"])
            for result in document["results"]
        ]
        modes = (("pageable", "malloc"), ("pinned", "alloc"), ("async", "alloc"))
        self.assertEqual(
            cases,
            [
                (mode, variant, size, direction)
                for mode, variant in modes
                for size in (4096, 1000)
                for direction in ("h2d", "d2h")
            ],
        )
        rows = self.rows(outcome.out)
        self.assertEqual(len(rows), len(cases))
        for row, (mode, variant, size, direction) in zip(rows, cases):
            text = "4 KiB" if size == 4096 else "1000 B"
            self.assertRegex(row, rf"^{mode} +{variant} +{direction} +{text} +[0-9.]+ .* 3 +yes$")

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
        document = self.run_to_json(*HOST, "--size", "4K", *FEW)
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
        self.assertIsInstance(document["results"][-1]["details"]["streams"], (int, float))

    def test_statistics(self):
        for samples in (1, 2, 5, 6, 7, 10, 20, 57):
            with self.subTest(samples=samples):
                document = self.run_to_json(*ONE, "-s", "4K", "-t", "1ms", "-n", str(samples))
                (result,) = document["results"]
                self.assertEqual(len(result["samples_s"]), samples)
                self.assertEqual(result["stop_reason"], "fixed")
                self.assert_described(result)

    def assert_described(self, result):
        rates = [result["bytes"] / seconds for seconds in result["samples_s"]]
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
        document = self.run_to_json(*HOST, "--size", "4K,1M", *FEW)
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
            "host-memory": ["alloc"],
            "streams": 2,
            "chunk": 1536,
        }
        self.assertEqual({key: config[key] for key in expected}, expected)

    def test_config_has_defaults(self):
        config = self.run_to_json(*ONE, "--size", "4K", "--samples", "3")["config"]
        self.assertEqual(config["samples"], 3)
        self.assertEqual(config["time-limit"], 1)
        self.assertEqual(config["device"], ["0"])
        self.assertEqual(config["chunk"], 16 << 20)
        self.assertIs(config["quiet"], False)

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
        self.run_to_json(*arguments, "-m", "pageable,pinned")
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
                "XB_UNRELATED": "no",
                "MY_CUDA_FOO": "no",
                "NVIDIA_API_KEY": "no",
                "CUDA_ACCESS_TOKEN": "no",
            },
        )
        kept = {"CUDA_FOO": 'a "quoted" value\\', "HIP_FOO": "", "FOO_VISIBLE_DEVICES": "1,0"}
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
            *("--size", "4K,64K", "--samples", "7", "--time-limit", "1ms"),
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


class Progress(Case):
    """The line on stderr, for people who wait."""

    def test_on_a_terminal(self):
        terminal = Terminal()
        process = self.start(terminal, *LONG)
        outcome = self.finish(terminal, process)
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_words(outcome.err, ("[1/1] pinned alloc h2d 64 KiB", " samples, ", " GB/s"))
        self.assertTrue(outcome.err.endswith("\r\x1b[K"), "the line is not wiped out at the end")
        self.assertNotIn("samples, ", outcome.out)

    def test_quiet(self):
        terminal = Terminal()
        process = self.start(terminal, *LONG, "--quiet")
        outcome = self.finish(terminal, process)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "")

    def test_not_into_a_pipe(self):
        outcome = self.assert_succeeds(*LONG)
        self.assertEqual(outcome.err, "")


class Interrupt(Case):
    """A signal ends the measuring, not the program."""

    def interrupted(self, number, *arguments):
        terminal = Terminal()
        process = self.start(terminal, *ENDLESS, *arguments)
        terminal.read_until(b" samples, ")
        process.send_signal(number)
        outcome = self.finish(terminal, process)
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


class Answers(Case):
    """Commands that measure nothing."""

    def test_list(self):
        environment = absent_environment()
        outcome = self.assert_succeeds("list", environment=environment)
        self.assertEqual(outcome.err, "")
        self.assert_words(outcome.out, ("Backends\n", "Modes\n", "pageable", "pinned", "async"))
        self.assert_words(outcome.out, ("--host-memory", "--streams", "directions: h2d d2h"))
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
        self.assertEqual(list(modes), ["pageable", "pinned", "async"])
        for mode in modes.values():
            self.assertEqual(mode["directions"], ["h2d", "d2h"])
        self.assertEqual(modes["async"]["options"], ["host-memory", "streams", "chunk"])
        self.assertEqual(modes["pageable"]["options"], [])
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
        self.assert_words(outcome.out, ("pageable", "pinned", "async"))
        names = "mode size direction device backend time-limit samples json csv quiet"
        for option in names.split():
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
        for mode, options in (
            ("pageable", ()),
            ("pinned", ("--host-memory",)),
            ("async", ("--host-memory", "--streams", "--chunk")),
        ):
            outcome = self.assert_succeeds("--help", mode)
            self.assertTrue(outcome.out.startswith(f"{mode}: "), outcome)
            self.assert_words(outcome.out, ("Directions: h2d d2h", *options))
            self.assertEqual(len(re.findall(r"(?m)^ +--", outcome.out)), len(options))

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
    # A caller that ignores signals would have the program ignore them too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    unittest.main()
