#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the HIP backend from outside: test_hip.py XFERBENCH STAND-IN SOURCE-FOLDER [UNITTEST-ARGUMENT...]

STAND-IN is the library of tests/doubles/hip_cpu: no AMD GPU is needed, and none is used. What is
asked of it is small. Nothing here has a bound on time: GUARD_S only ends a program that hangs.
"""

import concurrent.futures
import csv
import functools
import importlib
import itertools
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

GUARD_S = 60  # only a hang lasts so long

if len(sys.argv) < 4:
    sys.exit(__doc__)
XFERBENCH = os.path.abspath(sys.argv.pop(1))
STAND_IN = os.path.realpath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def find_validator():
    """Of jsonschema, which may be absent, or (before 4.0) not know the schema's draft."""
    sys.path.insert(0, os.path.join(SOURCE, "tests"))
    try:
        validate_json = importlib.import_module("validate_json")
    except ImportError:
        print("Left out: no python3-jsonschema: output is not validated against the schema")
        return load_json, None
    schema = validate_json.load(os.path.join(SOURCE, "docs", "result.schema.json"))
    validator_class = getattr(validate_json.jsonschema, "Draft202012Validator", None)
    if validator_class is None:
        print("Left out: python3-jsonschema is older than 4.0: output is not validated")
    return validate_json.load, validator_class(schema) if validator_class else None


LOAD, VALIDATOR = find_validator()

OVERRIDE = "XFERBENCH_HIP_LIBRARY"
LEAK_EXIT = 97  # the stand-in's
SANITIZER_EXIT = 99
SANITIZER_WORDS = re.compile(
    r"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error:|hip stand-in: leaked"
)

HIP = ("--backend", "hip")
# A row takes the 50 ms of the least warm-up, whatever is asked.
FEW = ("--size", "64K", "--samples", "1", "--time-limit", "1us")
SMALL = (*HIP, *FEW)
ALL = (*SMALL, "--mode", "all")
ENDLESS = (*HIP, "--mode", "pinned", "--size", "64K", "--samples", "1000000", "-t", "10m")
KERNEL_ROW = ("--mode", "zero-copy", "--direction", "h2d")  # one row, which kernels make
BY_COPIES = "host, by copies back"
ARCHITECTURE = "gfx90a:sramecc+:xnack+"  # the stand-in's, if no other is asked for
CAPABILITIES = {"register", "hold", "kernels", "mapped", "managed"}  # all but write-combined
# All that moves data by copies alone, and a mode of each kind that takes more.
SOME = (
    *("--mode", "pageable,pinned,double-buffer,zero-copy,managed,peer", "--pairs", "0:1"),
    *("--host-memory", "registered,alloc", "--managed", "prefetch", "--peer-path", "direct-read"),
)


def base_environment():
    """The caller's, without what would steer a GPU's runtime, and with reports of sanitizers on."""
    prefixes = "CUDA_ NVIDIA_ HIP_ HSA_ ROC_ ROCM_ ROCR_ GPU_ AMD_ XFERBENCH_HIP_ XB_STANDIN_ XDG_"
    unwanted = tuple(prefixes.split())
    environment = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    environment["LC_ALL"] = "C"
    environment.setdefault("ASAN_OPTIONS", f"detect_leaks=1:exitcode={SANITIZER_EXIT}")
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1")
    return environment


# ---- the stand-in, and copies of it that lack functions ----


def read_text(*names):
    with open(os.path.join(SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path, content):
    with open(path, "wb") as file:
        file.write(content)


def find_symbols():
    """What the backend takes from the library: {name: what is lost without it}."""
    text = read_text("src", "backends", "hip", "library.h")
    rows = re.findall(r'X\([^"]*"(\w+)",\s*\w+,[\s\\]*"([^"]*)"\)', text)
    assert len(rows) > 30, "library.h does not read as it did"
    return dict(rows)


def find_compiler_symbols():
    """What it takes from hipRTC."""
    rows = re.findall(
        r'\{"(hiprtc\w+)", offsetof', read_text("src", "backends", "hip", "compiler.c")
    )
    assert len(rows) > 5, "compiler.c does not read as it did"
    return rows


SYMBOLS = find_symbols()
COMPILER_SYMBOLS = find_compiler_symbols()


class Elf:
    """A shared library's bytes, as far as its dynamic symbols go."""

    DYNAMIC_SYMBOLS, RELOCATIONS = 11, 4  # SHT_DYNSYM, SHT_RELA
    # R_*_RELATIVE by the machine's number: x86-64, AArch64.
    RELATIVE = {62: 8, 183: 1027}

    def __init__(self, path):
        self.image = bytearray(read_bytes(path))
        assert self.image[:6] == b"\x7fELF\x02\x01", "not a little-endian 64-bit ELF file"
        (self.machine,) = struct.unpack_from("<H", self.image, 18)
        (table,) = struct.unpack_from("<Q", self.image, 40)
        size, count = struct.unpack_from("<HH", self.image, 58)
        headers = [
            struct.unpack_from("<IIQQQQIIQQ", self.image, table + i * size) for i in range(count)
        ]
        # (type, begin, end, size of an entry)
        self.sections = [(h[1], h[4], h[4] + h[5], h[9]) for h in headers]
        self.symbols, strings = next(
            (self.sections[i], self.sections[h[6]])
            for i, h in enumerate(headers)
            if h[1] == self.DYNAMIC_SYMBOLS
        )
        self.names = strings[1:3]

    def hide(self, name):
        """Gives the function another name, so that nobody finds it. What refers to it within the
        library keeps its address: the linker may have left that to the symbol."""
        begin, end = self.names
        place = self.image.find(b"\0" + name.encode() + b"\0", begin, end) + 1
        assert place > 0, f"the stand-in has no {name}, or keeps it in the tail of another name"
        _, first, last, size = self.symbols
        (number,) = [
            (entry - first) // size
            for entry in range(first, last, size)
            if struct.unpack_from("<I", self.image, entry)[0] == place - begin
        ]
        (address,) = struct.unpack_from("<Q", self.image, first + number * size + 8)
        self.image[place : place + 1] = b"x"
        for kind, first, last, size in self.sections:
            for entry in range(first, last, size) if kind == self.RELOCATIONS else ():
                where, info, addend = struct.unpack_from("<QQq", self.image, entry)
                if info >> 32 == number:
                    relative = (where, self.RELATIVE[self.machine], address + addend)
                    struct.pack_into("<QQq", self.image, entry, *relative)


def copy_without(path, names):
    """A copy of the stand-in that lacks the functions."""
    library = Elf(STAND_IN)
    for name in names:
        library.hide(name)
    write_bytes(path, library.image)
    os.chmod(path, 0o755)
    return path


# ---- running ----


class Outcome:
    """What came of one run of the program."""

    def __init__(self, label, folder, code, out, err):
        self.label = label
        self.folder = folder
        self.code = code
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        self.trace = {}  # how often each function was called, if the stand-in was opened
        path = os.path.join(folder, "trace")
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                self.trace = {name: int(count) for name, count in map(str.split, file)}
        path = os.path.join(folder, "out.json")
        self.document = LOAD(path) if os.path.exists(path) else None

    def __str__(self):
        rows = "".join(f"\n{row}" for row in self.rows())
        return f"{self.label}: exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}{rows}"

    def rows(self, *modes):
        """The rows, or only those of some modes."""
        results = self.document["results"] if self.document and "results" in self.document else []
        return [row for row in results if not modes or row["mode"] in modes]


class Case(unittest.TestCase):
    """A folder of its own, and ways to run the program and to look at what it left."""

    hung = ""  # what did not end, if anything: the rest would take as long again, test by test
    lock = threading.Lock()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="xferbench-hip-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.numbers = itertools.count(1)

    def make_folder(self):
        with Case.lock:
            number = next(self.numbers)
        path = os.path.join(self.folder, str(number))
        os.mkdir(path)
        return path

    def run_program(self, *arguments, environment=None, library=STAND_IN, folder=None, **options):
        """Runs it in a folder of its own, or in one where it has run already. An environment's value
        None means that the variable is not set."""
        if Case.hung:
            self.fail(f"left out: the program hung already, given {Case.hung}")
        folder = folder or self.make_folder()
        for name in ("trace", "out.json"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        environment = {
            OVERRIDE: library,
            "HOME": os.path.join(folder, "home"),
            "XDG_CACHE_HOME": os.path.join(folder, "cache"),
            "XB_STANDIN_TRACE": os.path.join(folder, "trace"),
        } | (environment or {})
        label = " ".join(arguments) + "".join(f" {k}={v!r}" for k, v in environment.items())
        try:
            done = subprocess.run(
                [XFERBENCH, *arguments],
                env={k: v for k, v in (base_environment() | environment).items() if v is not None},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                timeout=GUARD_S,
                check=False,
                **options,
            )
        except subprocess.TimeoutExpired:
            Case.hung = label
            raise
        return Outcome(label, folder, done.returncode, done.stdout, done.stderr)

    def measure(self, *arguments, **options):
        """Runs it with rows into out.json and nothing on the terminal but errors."""
        return self.run_program(*SMALL, *arguments, "--json", "out.json", "--quiet", **options)

    def list_devices(self, **options):
        outcome = self.check_sane(self.run_program("list", "--json", "out.json", **options))
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def in_parallel(self, jobs, check):
        """Runs every job, several at a time, and has what came of each checked, in a subtest."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = [pool.submit(job) for job in jobs]
            for future in futures:
                outcome = future.result()
                with self.subTest(outcome.label):
                    self.check_sane(outcome)
                    check(outcome)

    # ---- outcomes ----

    def check_sane(self, outcome, codes=(0, 1, 3)):
        """No sanitizer, no crash, no leak: whatever a test expects, never that."""
        self.assertNotIn(outcome.code, (SANITIZER_EXIT, LEAK_EXIT), outcome)
        self.assertGreaterEqual(outcome.code, 0, f"killed by a signal: {outcome}")
        self.assertIsNone(SANITIZER_WORDS.search(outcome.err + outcome.out), outcome)
        self.assertIn(outcome.code, codes, outcome)
        if outcome.rows():
            found = VALIDATOR.iter_errors(outcome.document) if VALIDATOR else []
            errors = [f"{e.json_path}: {e.message[:300]}" for e in found]
            self.assertEqual(errors, [], outcome)
        for row in outcome.rows():
            if row["status"] != "ok":
                self.assertIsNone(row["bandwidth_bytes_per_second"], outcome)
                self.assertIsNot(row["verified"], True, outcome)
                self.assertTrue(row["reason"], outcome)
        return outcome

    def assert_words(self, text, words, about):
        for word in words:
            self.assertIn(word, text, about)

    def assert_ok(self, rows, outcome):
        self.assertGreater(len(rows), 0, outcome)
        for row in rows:
            self.assertEqual((row["status"], row["verified"]), ("ok", True), (row, outcome.label))

    def assert_skipped(self, rows, words, outcome):
        self.assertGreater(len(rows), 0, outcome)
        for row in rows:
            self.assertEqual(row["status"], "skipped", (row, outcome.label))
            self.assert_words(row["reason"], words, (row, outcome.label))

    def assert_all_ok(self, outcome):
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "", outcome)
        self.assert_ok(outcome.rows(), outcome)

    def assert_without_kernels(self, outcome, words):
        """What kernels do is skipped for that reason; the rest is measured, and proved by copies."""
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "", outcome)
        kernel_modes = ("double-buffer", "zero-copy", "managed")
        self.assert_skipped(outcome.rows(*kernel_modes), ("'kernels'", *words), outcome)
        rows = [row for row in outcome.rows() if row["mode"] not in kernel_modes]
        self.assert_ok(rows, outcome)
        for row in rows:
            reader = "host" if row["direction"] == "d2h" else BY_COPIES
            self.assertEqual(row["details"]["verified_by"], reader, (row, outcome.label))
            self.assertEqual(row["details"]["held"], "no", (row, outcome.label))

    def assert_unavailable(self, outcome, words):
        """The backend cannot run: exit 3, the reason on stderr, nothing written."""
        self.check_sane(outcome, codes=(3,))
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assert_words(" ".join(outcome.err.split()), words, outcome)
        self.assertEqual(outcome.out, "", outcome)
        self.assertIsNone(outcome.document, outcome)


class Works(Case):
    """Nothing fails: what is measured, and what is said of what measured it."""

    def check_backend(self, outcome):
        document = outcome.document
        backend = document["backend"]
        self.assertEqual(backend["name"], "hip")
        self.assertEqual(backend["runtime_version"], "99.0.0")
        self.assertEqual(backend["runtime_library"], STAND_IN)
        self.assertEqual(backend["runtime_override"], OVERRIDE)
        self.assertIn(OVERRIDE, document["environment"])
        self.assertEqual([device["index"] for device in document["devices"]], [0, 1])
        for device in document["devices"]:
            self.assertIn("stand-in", device["name"])
            self.assertEqual(device["architecture"], "gfx90a")
            self.assertEqual(device["uuid"], f"GPU-feedc0de{device['index']:08x}")
            self.check_facts(device["facts"])

    def check_facts(self, facts):
        told = {key: facts.get(key) for key in ("xnack", "integrated", "large_bar")}
        self.assertEqual(told, {"xnack": "on", "integrated": "no", "large_bar": "yes"})
        self.assertEqual(facts["architecture_full"], ARCHITECTURE)
        for key in ("copies", "hardware_queues", "host_memory_flags", "kernels"):
            self.assertTrue(facts.get(key), facts)

    def assert_library_named(self, outcome):
        """By a warning of every row; a long path is cut."""
        for row in outcome.rows():
            found = [w for w in row["warnings"] if OVERRIDE in w and f"by {STAND_IN[:150]}" in w]
            self.assertEqual(len(found), 1, (row["warnings"], row, outcome.label))

    def test_all_modes_on_two_devices(self):
        outcome = self.measure("--mode", "all", "--device", "all", "--csv", "out.csv")
        self.check_sane(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual({row["device"] for row in outcome.rows()}, {0, 1})
        modes = "pageable pinned async double-buffer zero-copy managed peer".split()
        self.assertEqual({row["mode"] for row in outcome.rows()}, set(modes))
        self.check_backend(outcome)
        self.assert_library_named(outcome)
        for row in outcome.rows("peer"):
            self.assertEqual(row["details"]["link"], "xGMI", row)
            self.assertEqual(row["details"]["link_hops"], 1, row)
        for row in outcome.rows("pinned"):
            self.assertEqual(row["details"]["held"], "yes", row)
            reader = "device" if row["direction"] == "h2d" else "host"
            self.assertEqual(row["details"]["verified_by"], reader, row)
        with open(os.path.join(outcome.folder, "out.csv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(len(lines), len(outcome.rows()))
        for line in lines:
            self.assertEqual(line["backend"], "hip", line)
            self.assertIn("stand-in", line["device_name"])
            self.assertIn(OVERRIDE, line["warnings"])

    def test_variants(self):
        """What all modes do not try of themselves."""
        rest = ("--direction", "both")
        self.in_parallel(
            [
                functools.partial(self.measure, *arguments)
                for arguments in (
                    ("--mode", "pinned", "--host-memory", "registered,alloc", *rest),
                    ("--mode", "async", "--host-memory", "registered,alloc,pageable", *rest),
                    ("--mode", "pinned,async,double-buffer", "--direction", "bidir"),
                    ("--mode", "zero-copy", "--access", "sequential,strided,random", *rest),
                    ("--mode", "managed", "--managed", "fault,prefetch,advise", *rest),
                    ("--mode", "pinned,zero-copy", "--latency", *rest),
                    ("--mode", "pinned", "--device", "1", *rest),
                )
            ],
            self.check_variants,
        )

    def check_variants(self, outcome):
        self.assert_all_ok(outcome)
        self.assert_library_named(outcome)

    def test_write_combined(self):
        """The runtime takes the flag and gives other memory: no row of that name has a figure."""
        arguments = ("--mode", "pinned,async", "--host-memory", "write-combined,alloc")
        outcome = self.check_sane(self.measure(*arguments))
        self.assertEqual(outcome.code, 0, outcome)
        named = [row for row in outcome.rows() if row["variant"] == "write-combined"]
        self.assert_skipped(named, ("'write-combined'", "ordinary pinned memory"), outcome)
        self.assert_ok([row for row in outcome.rows() if row["variant"] == "alloc"], outcome)

    def test_simultaneous(self):
        outcome = self.check_sane(
            self.measure("--mode", "pinned,async", "--simultaneous", "--device", "all")
        )
        self.assert_all_ok(outcome)
        self.assertIn(None, [row["device"] for row in outcome.rows()], outcome)
        self.assert_library_named(outcome)

    def test_table(self):
        outcome = self.check_sane(self.run_program(*SMALL, "--mode", "pinned", "--device", "all"))
        self.assertEqual(outcome.code, 0, outcome)
        header = " ".join(outcome.out.split("\nMODE ")[0].split())
        words = ("backend hip, runtime 99.0.0", f"library {STAND_IN}, NAMED BY {OVERRIDE}")
        self.assert_words(header, (*words, "stand-in", "xnack on", "taken from the cache"), outcome)

    def test_path_is_the_file_s(self):
        """Links are followed."""
        link = os.path.join(self.folder, "link.so")
        os.symlink(STAND_IN, link)
        outcome = self.check_sane(self.measure("--mode", "pinned", library=link))
        self.assert_all_ok(outcome)
        self.assertEqual(outcome.document["backend"]["runtime_library"], STAND_IN)
        self.assertEqual(outcome.document["environment"][OVERRIDE], link)

    def test_list(self):
        outcome = self.list_devices()
        devices = [device for device in outcome.document["devices"] if device["backend"] == "hip"]
        self.assertEqual(len(devices), 2, outcome)
        for device in devices:
            self.assertEqual(set(device["capabilities"]), CAPABILITIES)
            self.assertEqual(set(device["lacks"]), {"write-combined"})
        self.assertEqual(outcome.trace["hipMalloc"], 0, "listing takes no memory")
        self.assertEqual(outcome.trace["hiprtcCompileProgram"], 0, "listing compiles nothing")

    def test_completion_that_comes_late(self):
        """Nothing counts on an operation being over because enqueuing it is."""
        self.in_parallel(
            [
                functools.partial(
                    self.measure, "--mode", mode, environment={"XB_STANDIN_DELAY_US": "2000"}
                )
                for mode in ("pageable,pinned,async", "double-buffer,zero-copy,managed", "peer")
            ]
            + [
                functools.partial(
                    self.measure,
                    *("--mode", "pageable,pinned,async"),
                    environment={"XB_STANDIN_DELAY_US": "2000", "XB_STANDIN_ARCH": "gfx999"},
                )
            ],
            self.assert_all_ok,
        )


# A row of every kind of work: one each, so that what is closed is closed at the end alone.
ROWS = {
    "pageable": ("--mode", "pageable", "-d", "h2d"),
    "registered": ("--mode", "pinned", "-d", "h2d"),
    "alloc": ("--mode", "pinned", "-d", "d2h", "--host-memory", "alloc"),
    "async": ("--mode", "async", "-d", "bidir"),
    "double-buffer": ("--mode", "double-buffer"),
    "zero-copy": ("--mode", "zero-copy", "-d", "d2h"),
    "fault": ("--mode", "managed", "-d", "d2h", "--managed", "fault"),
    "prefetch": ("--mode", "managed", "-d", "h2d", "--managed", "prefetch"),
    "advise": ("--mode", "managed", "-d", "h2d", "--managed", "advise"),
    "direct": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read", "-d", "d2d"),
    "staged": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "staged", "-d", "bidir"),
}
# What is called alike in every row, before it: tried in some.
BEFORE_ROWS = re.compile(
    "hiprtc|hipModule(Load|Get|Unload)|hip(Runtime|Get)|hipDevice(Get|Total|CanAccess)|hipExtGet"
)
ROWS_FOR_THOSE = ("registered", "zero-copy", "direct")

# ---- calls whose failure leaves every row as it was ----

# Nobody is left to be told: what was measured is measured, and there is nothing to do about it.
TEARDOWN = set(
    "hipFree hipHostFree hipHostUnregister hipStreamDestroy hipEventDestroy hipModuleUnload "
    "hipDeviceDisablePeerAccess".split()
)
# Something to be told of a device or a pair, which is then not told.
FACTS = {"hipDeviceGetUuid", "hipExtGetLinkTypeAndHopCount"}
# Without the architecture there are no kernels; rows without kernels stay.
OF_KERNELS = re.compile("hiprtc|hipGetDeviceProperties")
# Asked when the run is planned, and again when the device is opened: the second answer counts.
ASKED_TWICE = set(
    "hipDeviceGetName hipDeviceGetPCIBusId hipDeviceTotalMem hipDeviceGetAttribute".split()
)
# What ends a row also selects the device and waits for it, so often at most.
CLOSING_CALLS = 200


class FailingCalls(Case):
    """Each call of the runtime fails, for once or from then on: the rows say so, or it is nothing."""

    def reference(self, row):
        outcome = self.check_sane(self.measure(*ROWS[row]))
        self.assert_all_ok(outcome)
        return {name: count for name, count in outcome.trace.items() if count > 0}

    def strike(self, arguments, call, number, repeated):
        """Has the call of that number fail. How often the hot ones are made hangs on the machine's
        speed: where this run made fewer, it is struck earlier."""
        for _ in range(10):
            failing = f"{call}:{number}{'+' if repeated else ''}"
            outcome = self.measure(*arguments, environment={"XB_STANDIN_FAIL": failing})
            outcome.struck = (call, number, repeated)
            made = outcome.trace.get(call, 0)
            if made >= number or outcome.code not in (0, 1, 3):
                break
            number = max(1, made * 3 // 4)
        return outcome

    def check(self, outcome):
        call, number, repeated = outcome.struck
        self.assertGreaterEqual(outcome.trace.get(call, 0), number, f"never struck: {outcome}")
        errors = [row for row in outcome.rows() if row["status"] == "error"]
        skipped = [row for row in outcome.rows() if row["status"] == "skipped"]
        self.assert_words(str(errors), [call] if errors else [], outcome)
        for row in errors:
            self.assertEqual(row["error"]["call"], call, outcome)
            self.assertIn(call, row["reason"], outcome)
            self.assertNotEqual(row["error"]["native_code"], 0, outcome)
        if skipped:
            self.check_skipped(call, skipped, outcome)
        if outcome.code == 1:
            self.assertGreater(len(errors), 0, outcome)
        elif outcome.code == 3:
            self.check_nothing(call, outcome)
        else:
            self.assertEqual(errors, [], outcome)
            self.assert_ok([row for row in outcome.rows() if row not in skipped], outcome)
            self.check_harmless(call, number, repeated, outcome)

    def check_skipped(self, call, skipped, outcome):
        """Kernels that cannot be had are no error of what needs none."""
        self.assertRegex(call, OF_KERNELS, outcome)
        reason = "compile" if call.startswith("hiprtc") else "does not tell the device's architecture"
        self.assert_skipped(skipped, ("'kernels'", reason), outcome)
        for row in skipped:
            self.assertIn(row["mode"], ("double-buffer", "zero-copy", "managed"), outcome)

    def check_nothing(self, call, outcome):
        """Exit 3: the backend cannot run, or every row was skipped."""
        if call in ("hipRuntimeGetVersion", "hipGetDeviceCount"):
            self.assert_unavailable(outcome, ("hipErrorUnknown", "999"))
            return
        self.assertGreater(len(outcome.rows()), 0, outcome)
        self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)

    def check_harmless(self, call, number, repeated, outcome):
        """The program succeeded all the same: only for a reason that is known."""
        devices = outcome.document["devices"]
        last = outcome.trace[call]
        half = last // 2
        known = call in TEARDOWN or call in FACTS or OF_KERNELS.match(call)
        known = known or (call == "hipDeviceGetAttribute" and large_bar_unknown(devices))
        if not repeated:
            known = known or (call in ASKED_TWICE and number <= half)
            # How much to allocate at once is only guessed from it.
            known = known or (call == "hipMemGetInfo" and number <= half)
            # Taking advice back, at the end.
            known = known or (call == "hipMemAdvise" and number > last - 2)
            # Code from the cache that does not load is compiled anew.
            known = known or (call.startswith("hipModule") and last > number - 8 and len(devices) > 1)
            closes = call in ("hipSetDevice", "hipStreamSynchronize")
            known = known or (closes and number > last - CLOSING_CALLS)
        self.assertTrue(known, f"{call} failed, and nobody was told: {outcome}")
        for device in devices:
            self.assertIn("stand-in", device["name"], outcome)
            self.assertTrue(device["pci_bdf"], outcome)
        if repeated and call == "hipDeviceGetUuid":
            self.assertEqual({device["uuid"] for device in devices}, {None}, outcome)
        if repeated and number == 1 and call == "hipExtGetLinkTypeAndHopCount":
            for row in outcome.rows("peer"):
                self.assertNotIn("link", row["details"], outcome)

    def test_each_call(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = dict(zip(ROWS, pool.map(self.reference, ROWS)))
        jobs = []
        for row, counts in made.items():
            for call, count in counts.items():
                if BEFORE_ROWS.match(call) and row not in ROWS_FOR_THOSE:
                    continue
                middle = (count + 1) // 2
                places = [(1, False), (middle, False), (count, False), (middle, True)]
                if call in TEARDOWN | FACTS:  # the others: below, in all modes
                    places.append((1, True))
                jobs += [
                    functools.partial(self.strike, ROWS[row], call, *place)
                    for place in dict.fromkeys(places)
                ]
        self.in_parallel(jobs, self.check)
        called = set().union(*made.values())
        # Two that make no call of a device; one that stands in for another; see Symbols for it.
        rest = {"hipGetErrorName", "hipGetErrorString", "hipGetDeviceProperties"}
        self.assertEqual(set(SYMBOLS) - called, rest, "no row above makes these calls")

    def test_from_the_first_on_in_all_modes(self):
        """The rows that need what fails are errors, and the others are not."""
        outcome = self.check_sane(self.run_program(*ALL, "--json", "out.json", "--quiet"))
        self.assert_all_ok(outcome)
        calls = [name for name, count in outcome.trace.items() if count > 0]
        self.in_parallel(
            [
                functools.partial(self.strike, ("--mode", "all"), call, 1, True)
                for call in calls
                if call not in TEARDOWN | FACTS  # these: above
            ],
            self.check,
        )

    def test_each_attribute(self):
        """Each is another call of one function."""
        count = self.reference("registered")["hipDeviceGetAttribute"]
        self.in_parallel(
            [
                functools.partial(
                    self.strike, ROWS["registered"], "hipDeviceGetAttribute", number, False
                )
                for number in range(1, count + 1)
            ],
            self.check,
        )

    def test_log_of_the_compiler(self):
        """It fails to compile, and then to tell why."""

        def check(outcome):
            self.assert_skipped(outcome.rows(), ("HIPRTC_ERROR_COMPILATION", "log is empty"), outcome)

        self.in_parallel(
            [
                functools.partial(
                    self.measure,
                    *KERNEL_ROW,
                    environment={"XB_STANDIN_RTC_FAIL": "1", "XB_STANDIN_FAIL": f"{call}:1"},
                )
                for call in ("hiprtcGetProgramLogSize", "hiprtcGetProgramLog")
            ],
            check,
        )

    def test_out_of_memory(self):
        def check(outcome):
            self.assertEqual(outcome.code, 1, outcome)
            (row,) = outcome.rows()
            self.assertEqual(row["error"]["status"], "memory", outcome)
            self.assertEqual(row["error"]["native_name"], "hipErrorOutOfMemory", outcome)

        self.in_parallel(
            [
                functools.partial(
                    self.measure,
                    *ROWS[row],
                    environment={"XB_STANDIN_FAIL": f"{call}:1+", "XB_STANDIN_CODE": "2"},
                )
                for row, call in (
                    ("alloc", "hipMalloc"),
                    ("alloc", "hipHostMalloc"),
                    ("prefetch", "hipMallocManaged"),
                )
            ],
            check,
        )

    def test_peer_access_that_is_there(self):
        """hipErrorPeerAccessAlreadyEnabled is what was wanted."""
        environment = {"XB_STANDIN_FAIL": "hipDeviceEnablePeerAccess:1+", "XB_STANDIN_CODE": "704"}
        outcome = self.check_sane(self.measure(*ROWS["direct"], environment=environment))
        self.assert_all_ok(outcome)

    def test_cache_that_does_not_load(self):
        """Whole, unchanged, and refused all the same: compiled anew."""
        first = self.check_sane(self.measure(*KERNEL_ROW))
        self.assert_all_ok(first)
        for call in ("hipModuleLoadData", "hipModuleGetFunction"):
            outcome = self.check_sane(
                self.measure(
                    *KERNEL_ROW, folder=first.folder, environment={"XB_STANDIN_FAIL": f"{call}:1"}
                )
            )
            self.assert_all_ok(outcome)
            self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, outcome)


def large_bar_unknown(devices):
    return all(device["facts"]["large_bar"] == "unknown" for device in devices)


class MissingSymbols(Case):
    """A library without one of the functions: what is lost is told, and no more than that is lost."""

    # What stands for what, in the capabilities' names; "mapped" memory is made by registering it,
    # and a hold is a kernel that reads mapped memory.
    CAPABILITIES = {
        "register": {"register", "mapped"},
        "mapped": {"mapped", "hold"},
        "managed": {"managed"},
        "kernels": {"kernels", "hold"},
    }

    # Of the one structure that has the architecture's name.
    LAYOUTS = ("the architecture (5)", "the architecture (6, 7)")

    def without(self, *names):
        return copy_without(os.path.join(self.make_folder(), "libamdhip64.so"), names)

    def named(self, lost):
        names = [name for name, what in SYMBOLS.items() if what == lost]
        self.assertGreater(len(names), 0, f"library.h names nothing with {lost!r}")
        return names

    def measure_without(self, *names, arguments=SOME):
        outcome = self.measure(*arguments, library=self.without(*names))
        outcome.missing = names
        return outcome

    def test_every_kind_is_known(self):
        known = {"", "peers", "the kind of link between devices", "a device's UUID", *self.LAYOUTS}
        self.assertEqual(set(SYMBOLS.values()), known | set(self.CAPABILITIES))

    def test_unchanged_copy(self):
        """That a copy is a copy, or the rest proves nothing."""
        outcome = self.check_sane(self.measure_without())
        self.assert_all_ok(outcome)
        self.assertNotEqual(outcome.document["backend"]["runtime_library"], STAND_IN)

    def test_required(self):
        def check(outcome):
            self.assert_unavailable(outcome, (*outcome.missing, "not a HIP runtime of use"))

        self.in_parallel(
            [functools.partial(self.measure_without, name) for name in self.named("")], check
        )

    def test_list_of_what_is_required(self):
        """Listing goes on with the other backends."""
        outcome = self.list_devices(library=self.without("hipFree"))
        backends = {backend["name"]: backend for backend in outcome.document["backends"]}
        self.assertIs(backends["hip"]["usable"], False)
        self.assertIn("hipFree", str(backends["hip"]["checks"]))
        self.assertEqual(backends["hip"]["runtime_override"], OVERRIDE)
        self.assertIs(backends["host"]["usable"], True)

    def test_capabilities(self):
        names = [name for lost in self.CAPABILITIES for name in self.named(lost)]
        needs = self.needs_of_variants()
        self.in_parallel(
            [functools.partial(self.measure_without, name) for name in names],
            functools.partial(self.check_run, needs),
        )

    def needs_of_variants(self):
        modes = self.list_devices().document["modes"]
        return {
            (mode["name"], variant["name"]): set(variant["needs"])
            for mode in modes
            for variant in mode["variants"]
        }

    def check_run(self, needs, outcome):
        (name,) = outcome.missing
        lost = self.CAPABILITIES[SYMBOLS[name]]
        self.assertEqual(outcome.code, 0, outcome)
        skipped = [row for row in outcome.rows() if needs[row["mode"], row["variant"]] & lost]
        others = [row for row in outcome.rows() if row not in skipped]
        self.assert_skipped(skipped, (name, "the HIP runtime has no"), outcome)
        self.assert_ok(others, outcome)
        alloc = [r for r in others if (r["mode"], r["variant"]) == ("pinned", "alloc")]
        self.assertEqual(len(alloc), 2, outcome)
        for row in others:
            if row["mode"] in ("pinned", "pageable") and row["direction"] == "h2d":
                reader = BY_COPIES if "kernels" in lost else "device"
                self.assertEqual(row["details"]["verified_by"], reader, (row, outcome.label))
            if "hold" in lost:
                self.assertEqual(row["details"]["held"], "no", (row, outcome.label))

    def test_list_of_capabilities(self):
        def job(name):
            outcome = self.run_program("list", "--json", "out.json", library=self.without(name))
            outcome.missing = (name,)
            return outcome

        names = [name for lost in self.CAPABILITIES for name in self.named(lost)]
        self.in_parallel([functools.partial(job, name) for name in names], self.check_list)

    def check_list(self, outcome):
        (name,) = outcome.missing
        lost = self.CAPABILITIES[SYMBOLS[name]]
        devices = [d for d in outcome.document["devices"] if d["backend"] == "hip"]
        self.assertEqual(len(devices), 2, outcome)
        for device in devices:
            self.assertEqual(set(device["capabilities"]), CAPABILITIES - lost, outcome)
            self.assertEqual(set(device["lacks"]), lost | {"write-combined"}, outcome)
            for capability in lost:
                self.assertIn(name, device["lacks"][capability], outcome)
        # The same for people.
        (hip,) = [b for b in outcome.document["backends"] if b["name"] == "hip"]
        printed = self.check_sane(self.run_program("list", library=hip["runtime_library"]))
        self.assertRegex(printed.out, rf"no {sorted(lost)[0]} .*{name}", printed)

    def test_peers(self):
        def check(outcome):
            self.assertEqual(outcome.code, 0, outcome)
            words = (*outcome.missing, "no copies between devices")
            self.assert_skipped(outcome.rows("peer"), words, outcome)
            self.assert_ok([row for row in outcome.rows() if row["mode"] != "peer"], outcome)

        arguments = ("--mode", "pinned,peer")
        self.in_parallel(
            [
                functools.partial(self.measure_without, name, arguments=arguments)
                for name in self.named("peers")
            ],
            check,
        )

    def test_kind_of_link(self):
        (name,) = self.named("the kind of link between devices")
        outcome = self.check_sane(self.measure_without(name, arguments=("--mode", "peer")))
        self.assert_all_ok(outcome)
        for row in outcome.rows():
            self.assertEqual({"link", "link_hops"} & set(row["details"]), set(), row)

    def test_uuid(self):
        (name,) = self.named("a device's UUID")
        outcome = self.check_sane(self.measure_without(name))
        self.assert_all_ok(outcome)
        self.assertEqual([device["uuid"] for device in outcome.document["devices"]], [None, None])

    def test_properties(self):
        """Of two layouts: either tells the architecture."""
        both = [name for lost in self.LAYOUTS for name in self.named(lost)]
        self.assertEqual(len(both), 2)
        for name in both:
            with self.subTest(missing=name):
                outcome = self.check_sane(self.measure_without(name))
                self.assert_all_ok(outcome)
                for device in outcome.document["devices"]:
                    self.assertEqual(device["architecture"], "gfx90a")
                    self.assertEqual(device["facts"]["architecture_full"], ARCHITECTURE)
                (other,) = set(both) - {name}
                self.assertGreater(outcome.trace[other], 0, outcome)
                self.assertEqual(outcome.trace[name], 0, outcome)

    def test_no_properties(self):
        names = [name for lost in self.LAYOUTS for name in self.named(lost)]
        outcome = self.check_sane(self.measure_without(*names))
        self.assert_without_kernels(outcome, ("does not tell the device's architecture",))
        for device in outcome.document["devices"]:
            self.assertIsNone(device["architecture"])
            self.assertEqual(device["facts"]["architecture_full"], "unknown")

    def test_compiler(self):
        def check(outcome):
            self.assert_without_kernels(outcome, ("hipRTC was not found",))

        arguments = ("--mode", "pageable,pinned,zero-copy", "--direction", "h2d")
        self.in_parallel(
            [
                functools.partial(self.measure_without, name, arguments=arguments)
                for name in COMPILER_SYMBOLS
            ],
            check,
        )

    def test_compiler_beside_the_runtime(self):
        """A library of its own from release 6.5 on, named by the runtime's major version."""
        for major, found in (("99", True), ("98", False)):
            with self.subTest(major=major):
                library = self.without(*COMPILER_SYMBOLS)
                shutil.copy(
                    STAND_IN, os.path.join(os.path.dirname(library), f"libhiprtc.so.{major}")
                )
                outcome = self.check_sane(self.measure(*KERNEL_ROW, library=library))
                if found:
                    self.assert_all_ok(outcome)
                else:
                    self.assert_skipped(outcome.rows(), ("hipRTC was not found",), outcome)


FROM_CACHE = "compiled by hipRTC before, taken from the cache"


class Cache(Case):
    """Compiled kernels are kept, and not trusted blindly."""

    def compiled(self, folder):
        """How often, in this folder's runs."""
        path = os.path.join(folder, "count")
        return len(read_bytes(path).splitlines()) if os.path.exists(path) else 0

    def measure_here(self, folder, environment=None):
        environment = {"XB_STANDIN_RTC_COUNT": os.path.join(folder, "count")} | (environment or {})
        return self.measure(*KERNEL_ROW, folder=folder, environment=environment)

    def fact(self, outcome):
        return outcome.document["devices"][0]["facts"]["kernels"]

    def assert_compiled(self, outcome, times, kept=True):
        """That it works; how often there was a compilation, with the last one here."""
        self.check_sane(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual(self.compiled(outcome.folder), times, outcome)
        end = "now in the cache" if kept else "and they could not be kept in the cache"
        self.assertRegex(self.fact(outcome), rf"^compiled by hipRTC in \d+\.\d\d s, {end}$")

    def assert_from_cache(self, outcome, times):
        self.check_sane(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual(self.compiled(outcome.folder), times, outcome)
        self.assertEqual(self.fact(outcome), FROM_CACHE, outcome)

    def entry(self, folder, *names):
        """The one file in the cache."""
        cache = os.path.join(folder, *(names or ("cache",)), "xferbench")
        (name,) = os.listdir(cache)
        self.assertTrue(name.startswith("hip-gfx90a-990000000-"), name)
        return os.path.join(cache, name)

    def filled(self):
        """A folder whose cache has an entry."""
        folder = self.make_folder()
        self.assert_compiled(self.measure_here(folder), 1)
        return folder

    def test_second_run_compiles_nothing(self):
        folder = self.filled()
        state = os.stat(self.entry(folder))
        self.assertEqual(stat.S_IMODE(state.st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, "cache")).st_mode), 0o700)
        self.assert_from_cache(self.measure_here(folder), 1)
        self.assertEqual(os.stat(self.entry(folder)).st_mtime_ns, state.st_mtime_ns)

    def test_other_code_is_another_entry(self):
        """Of another architecture or release, and neither is taken for the other."""
        folder = self.filled()
        content = read_bytes(self.entry(folder))
        name = os.path.basename(self.entry(folder))
        for number, (old, new, environment) in enumerate(
            (
                ("gfx90a", "gfx906", {"XB_STANDIN_ARCH": "gfx906"}),
                ("990000000", "60300000", {"XB_STANDIN_VERSION": "60300000"}),
            ),
            2,
        ):
            with self.subTest(new=new):
                wrong = os.path.join(folder, "cache", "xferbench", name.replace(old, new))
                write_bytes(wrong, content)
                os.chmod(wrong, 0o600)
                self.assert_compiled(self.measure_here(folder, environment), number)
                self.assertNotEqual(read_bytes(wrong), content)
                self.assert_from_cache(self.measure_here(folder, environment), number)
        self.assert_from_cache(self.measure_here(folder), 3)

    # ---- damage: a function each, given the path of a good entry ----

    @staticmethod
    def flip(path, place):
        content = bytearray(read_bytes(path))
        content[place] ^= 1
        write_bytes(path, content)

    @staticmethod
    def cut(path, length):
        write_bytes(path, read_bytes(path)[:length])

    @staticmethod
    def append(path):
        write_bytes(path, read_bytes(path) + b"\0")

    @staticmethod
    def put_link(path):
        os.rename(path, f"{path}-elsewhere")
        os.symlink(f"{path}-elsewhere", path)

    @staticmethod
    def put_fifo(path):
        os.remove(path)
        os.mkfifo(path, 0o600)

    @staticmethod
    def put_folder(path):
        os.remove(path)
        os.mkdir(path, 0o700)

    @staticmethod
    def give_away(path):
        os.chown(path, 65534, -1)

    def check_repaired(self, good, outcome):
        """The entry was not taken, and is as it should be again."""
        self.assert_compiled(outcome, 1)
        path = next(
            os.path.join(outcome.folder, "cache", "xferbench", name)
            for name in os.listdir(os.path.join(outcome.folder, "cache", "xferbench"))
            if not name.endswith("-elsewhere")
        )
        state = os.lstat(path)
        self.assertTrue(stat.S_ISREG(state.st_mode), outcome)
        self.assertEqual(stat.S_IMODE(state.st_mode), 0o600, outcome)
        self.assertEqual(state.st_uid, os.geteuid(), outcome)
        self.assertEqual(read_bytes(path), good, outcome)
        self.assert_from_cache(self.measure_here(outcome.folder), 1)

    def damaged(self, damage, filled):
        folder = self.make_folder()
        shutil.copytree(os.path.join(filled, "cache"), os.path.join(folder, "cache"))
        damage(self.entry(folder))
        return self.measure_here(folder)

    def test_damaged_entry(self):
        filled = self.filled()
        good = read_bytes(self.entry(filled))
        # The header's members, the code's ends and its middle.
        places = [0, 15, 16, 24, 32, 40, 95, 96, 99, 103, 104, 111, 112, 113, len(good) // 2, -1]
        damages = [functools.partial(self.flip, place=place) for place in places]
        lengths = [0, 1, 15, 111, 112, 113, len(good) // 2, len(good) - 1]
        damages += [functools.partial(self.cut, length=length) for length in lengths]
        damages += [self.append, self.put_link, self.put_fifo]
        damages += [functools.partial(os.chmod, mode=mode) for mode in (0o660, 0o602, 0o666)]
        if os.geteuid() == 0:
            damages.append(self.give_away)
        self.in_parallel(
            [functools.partial(self.damaged, damage, filled) for damage in damages],
            functools.partial(self.check_repaired, good),
        )

    def test_target_of_a_link_stays(self):
        folder = self.filled()
        path = self.entry(folder)
        self.put_link(path)
        self.flip(f"{path}-elsewhere", 200)
        before = read_bytes(f"{path}-elsewhere")
        self.assert_compiled(self.measure_here(folder), 2)
        self.assertFalse(os.path.islink(path))
        self.assertEqual(read_bytes(f"{path}-elsewhere"), before)

    def test_folder_in_place_of_an_entry(self):
        """It stays, and nothing can be kept."""
        folder = self.filled()
        path = self.entry(folder)
        self.put_folder(path)
        for times in (2, 3):
            self.assert_compiled(self.measure_here(folder), times, kept=False)
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])

    def test_nothing_is_left_beside_an_entry(self):
        folder = self.filled()
        self.entry(folder)  # asserts that it is the only one
        names = sorted(os.listdir(folder))
        self.assertEqual(names, ["cache", "count", "out.json", "trace"])

    def test_no_place_to_keep_it(self):
        for environment in (
            {"XDG_CACHE_HOME": "/dev/null/x"},
            {"XDG_CACHE_HOME": "/proc/self/nothing"},
            {"XDG_CACHE_HOME": "/" + "x" * 5000},
            {"XDG_CACHE_HOME": None, "HOME": None},
            {"XDG_CACHE_HOME": "", "HOME": ""},
            {"XDG_CACHE_HOME": "relative", "HOME": "relative"},
        ):
            with self.subTest(environment=str(environment)[:80]):
                folder = self.make_folder()
                for times in (1, 2):
                    outcome = self.measure_here(folder, environment)
                    self.assert_compiled(outcome, times, kept=False)
                self.assertEqual(sorted(os.listdir(folder)), ["count", "out.json", "trace"])

    def test_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root writes everywhere")
        folder = self.make_folder()
        os.mkdir(os.path.join(folder, "cache"), 0o500)
        self.assert_compiled(self.measure_here(folder), 1, kept=False)

    def test_relative_path_is_ignored(self):
        """XDG Base Directory Specification: HOME's then."""
        for value in ("cache", "", "./cache", None):
            with self.subTest(value=value):
                folder = self.make_folder()
                os.mkdir(os.path.join(folder, "home"))
                environment = {"XDG_CACHE_HOME": value}
                self.assert_compiled(self.measure_here(folder, environment), 1)
                self.entry(folder, "home", ".cache")
                self.assertNotIn("cache", os.listdir(folder))
                self.assert_from_cache(self.measure_here(folder, environment), 1)

    def test_home_that_is_not_there(self):
        """It does not appear."""
        folder = self.make_folder()
        outcome = self.measure_here(folder, {"XDG_CACHE_HOME": None})
        self.assert_compiled(outcome, 1, kept=False)
        self.assertNotIn("home", os.listdir(folder))

    def test_home_of_somebody_else(self):
        """Nothing of ours, which its owner could not remove, is left there."""
        if os.geteuid() != 0:
            self.skipTest("only root can give a folder away")
        folder = self.make_folder()
        home = os.path.join(folder, "home")
        os.mkdir(home, 0o755)
        os.chown(home, 65534, 65534)
        outcome = self.measure_here(folder, {"XDG_CACHE_HOME": None})
        self.assert_compiled(outcome, 1, kept=False)
        self.assertEqual(os.listdir(home), [])

    def test_other_library_is_another_entry(self):
        """Of the same version: what compiles is not what compiled."""
        folder = self.filled()
        copy = os.path.join(folder, "copy.so")
        shutil.copy2(STAND_IN, copy)
        environment = {OVERRIDE: copy}
        self.assert_compiled(self.measure_here(folder, environment), 2)
        self.assert_from_cache(self.measure_here(folder, environment), 2)
        os.utime(copy, ns=(0, 0))  # installed anew in the same place
        self.assert_compiled(self.measure_here(folder, environment), 3)
        self.assert_from_cache(self.measure_here(folder), 3)

    def test_many_at_once(self):
        """They may all write the one entry: each finds none, or a whole one."""

        def check(outcome):
            self.assert_all_ok(outcome)
            path = os.path.join(outcome.folder, "cache", "xferbench")
            self.assertEqual(len(os.listdir(cache)), 1, path)

        cache = os.path.join(self.folder, "cache", "xferbench")
        environment = {"XDG_CACHE_HOME": os.path.join(self.folder, "cache")}
        outcomes = []
        self.in_parallel(
            [functools.partial(self.measure, *KERNEL_ROW, environment=environment)] * 8,
            outcomes.append,
        )
        for outcome in outcomes:
            check(outcome)


def allow_cores():
    """The caller's limit may forbid what is to be seen not to happen."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class Compiler(Case):
    """hipRTC fails, or takes its process with it."""

    def tree(self, folder):
        """Every path below the folder, without what this program itself puts there."""
        paths = [
            os.path.relpath(os.path.join(path, name), folder)
            for path, folders, files in os.walk(folder)
            for name in (*folders, *files)
        ]
        return sorted(set(paths) - {"trace", "out.json"})

    def test_unknown_architecture(self):
        environment = {"XB_STANDIN_ARCH": "gfx999"}
        outcome = self.check_sane(
            self.measure("--mode", "all", environment=environment, preexec_fn=allow_cores)
        )
        self.assert_without_kernels(outcome, ("hipRTC died", "gfx999", "aborts on gfx999"))
        self.assertEqual((outcome.out, outcome.err), ("", ""), outcome)
        self.assertEqual(self.tree(outcome.folder), [], "a core file, or a cache of nothing")
        for device in outcome.document["devices"]:
            self.assertNotIn("kernels", device["facts"])

    def test_unknown_architecture_on_the_terminal(self):
        """The reason in the table's notes, and not what the dying compiler said."""
        outcome = self.check_sane(
            self.run_program(*SMALL, *KERNEL_ROW, environment={"XB_STANDIN_ARCH": "gfx999"})
        )
        self.assertEqual((outcome.code, outcome.err), (3, ""), outcome)
        notes = outcome.out.split("\nNotes\n")[1]
        self.assertIn("hipRTC died (Aborted) over gfx999", " ".join(notes.split()), outcome)
        self.assertNotRegex(outcome.out, "(?m)^hip stand-in:")

    def test_strange_architectures(self):
        """The name becomes part of a command line and of a path: nothing but a name may get there."""
        none = "does not tell the device's architecture"
        for architecture, reason in (
            ("gfx90a/../../x", none),
            ("gfx90a:/../../x", None),  # what follows the colon is no part of the name
            ("gfx90a:%s%n%d", None),
            (os.fsdecode(b"gfx90a:\xff\xfe"), None),
            (os.fsdecode(b"gfx90a\xff"), none),
            ("gfx/../../x", none),
            ("gfx90a x", none),
            ("gfx90a\nx", none),
            ("gfx", "over gfx,"),
            ("gfx-", "over gfx-,"),
            ("GFX90A", none),
            ("../../x", none),
            ("-save-temps", none),
            ("", none),
            (":", none),
            ("gfx" + "9" * 60, none),
            ("gfx" + "9" * 200, none),
            ("gfx90a:" + "x" * 245, None),
        ):
            with self.subTest(architecture=architecture):
                outcome = self.check_sane(
                    self.measure(
                        *("--mode", "pinned,zero-copy", "--direction", "h2d"),
                        environment={"XB_STANDIN_ARCH": architecture},
                    )
                )
                self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
                self.assert_ok(outcome.rows("pinned"), outcome)
                left = [path for path in self.tree(outcome.folder) if path.startswith("cache/x")]
                self.assertEqual(set(self.tree(outcome.folder)) - {"cache"}, set(left), outcome)
                if reason is not None:
                    self.assert_skipped(outcome.rows("zero-copy"), (reason,), outcome)
                    self.assertEqual(left, [], outcome)
                else:
                    self.assert_ok(outcome.rows("zero-copy"), outcome)
                    self.assertEqual(len(left), 2, outcome)

    def test_compilation_that_fails(self):
        environment = {"XB_STANDIN_RTC_FAIL": "1"}
        outcome = self.check_sane(self.measure("--mode", "all", environment=environment))
        words = ("HIPRTC_ERROR_COMPILATION", "stand-in: asked to fail")
        self.assert_without_kernels(outcome, words)
        self.assertEqual(self.tree(outcome.folder), [])

    def test_list_does_not_wait_for_it(self):
        """Listing opens no device, so a compiler that never ends does not matter."""
        outcome = self.list_devices(environment={"XB_STANDIN_RTC_HANG": "1"})
        self.assertEqual(outcome.trace["hiprtcCreateProgram"], 0)


class Surroundings(Case):
    """What the devices and the environment are."""

    def lacks(self, environment, capability):
        """What the list says of why the devices have not the capability."""
        outcome = self.list_devices(environment=environment)
        devices = [d for d in outcome.document["devices"] if d["backend"] == "hip"]
        self.assertEqual(len(devices), 2, outcome)
        for device in devices:
            self.assertNotIn(capability, device["capabilities"], outcome)
        return devices[0]["lacks"][capability]

    def test_no_xnack(self):
        environment = {"XB_STANDIN_XNACK": "0"}
        outcome = self.check_sane(self.measure(*SOME, environment=environment))
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_skipped(outcome.rows("managed"), ("XNACK", "'managed'"), outcome)
        self.assert_ok([row for row in outcome.rows() if row["mode"] != "managed"], outcome)
        for device in outcome.document["devices"]:
            self.assertEqual(device["facts"]["xnack"], "off")
        self.assertIn("XNACK", self.lacks(environment, "managed"))

    def test_launches_that_block(self):
        """Behind a hold they would wait for a release that comes after them."""
        for name, value in (
            ("HIP_LAUNCH_BLOCKING", "1"),
            ("AMD_SERIALIZE_KERNEL", "3"),
            ("AMD_SERIALIZE_COPY", "1"),
        ):
            with self.subTest(variable=name):
                outcome = self.check_sane(
                    self.measure("--mode", "pinned,zero-copy", environment={name: value})
                )
                self.assert_all_ok(outcome)
                for row in outcome.rows():
                    self.assertEqual(row["details"]["held"], "no", row)
                    self.assertTrue(any("cannot be held" in w for w in row["warnings"]), row)
                self.assertEqual(outcome.document["environment"][name], value)
                self.assertIn(name, self.lacks({name: value}, "hold"))
        outcome = self.check_sane(
            self.measure("--mode", "pinned", environment={"HIP_LAUNCH_BLOCKING": "0"})
        )
        self.assertEqual({row["details"]["held"] for row in outcome.rows()}, {"yes"}, outcome)

    def test_facts_from_the_environment(self):
        for environment, key, word in (
            ({"HSA_ENABLE_SDMA": "0"}, "copies", "by shaders"),
            ({"HSA_ENABLE_SDMA": "1"}, "copies", "by SDMA engines"),
            ({"GPU_MAX_HW_QUEUES": "2"}, "hardware_queues", "2"),
            ({"GPU_MAX_HW_QUEUES": "x" * 500}, "hardware_queues", "x"),
        ):
            with self.subTest(environment=str(environment)[:60]):
                outcome = self.check_sane(self.measure(*KERNEL_ROW, environment=environment))
                self.assert_all_ok(outcome)
                facts = outcome.document["devices"][0]["facts"]
                self.assertTrue(facts[key].startswith(word), facts)
                for name, value in environment.items():
                    self.assertEqual(outcome.document["environment"][name], value)

    def test_no_devices(self):
        for count in ("0", "-1"):
            with self.subTest(count=count):
                environment = {"XB_STANDIN_DEVICES": count}
                outcome = self.run_program(*ALL, "--json", "out.json", environment=environment)
                words = ("HIP devices", "none: no GPU that HIP supports", "HIP_VISIBLE_DEVICES")
                self.assert_unavailable(outcome, (*words, STAND_IN[:140]))

    def test_one_device(self):
        """No pair, so no copies between devices."""
        outcome = self.check_sane(
            self.measure("--mode", "pinned,peer", environment={"XB_STANDIN_DEVICES": "1"})
        )
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_ok(outcome.rows("pinned"), outcome)
        self.assert_skipped(outcome.rows("peer"), ("two devices",), outcome)

    def test_many_devices(self):
        arguments = ("--mode", "pinned,zero-copy", "--direction", "h2d", "--device", "all")
        outcome = self.check_sane(
            self.measure(*arguments, environment={"XB_STANDIN_DEVICES": "8"})
        )
        self.assert_all_ok(outcome)
        self.assertEqual(sorted({row["device"] for row in outcome.rows()}), list(range(8)))
        self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, "once for all")

    def test_versions(self):
        for version, name in (("50221153", "5.2.21153"), ("70226015", "7.2.26015")):
            with self.subTest(version=version):
                outcome = self.check_sane(
                    self.measure(*KERNEL_ROW, environment={"XB_STANDIN_VERSION": version})
                )
                self.assert_all_ok(outcome)
                self.assertEqual(outcome.document["backend"]["runtime_version"], name)

    def test_version_too_old(self):
        for version, name in (("40400000", "4.4.0"), ("49999999", "4.99.99999"), ("0", "0.0.0")):
            with self.subTest(version=version):
                outcome = self.run_program(*ALL, environment={"XB_STANDIN_VERSION": version})
                self.assert_unavailable(outcome, (f"{name}: too old", "ROCm 5.0"))

    def test_library_that_cannot_be_opened(self):
        text = os.path.join(self.folder, "text.so")
        write_bytes(text, b"This is no library.\n")
        cut = os.path.join(self.folder, "cut.so")
        write_bytes(cut, read_bytes(STAND_IN)[:32])
        for library in ("/nonexistent.so", text, cut, self.folder, "/dev/null"):
            with self.subTest(library=library):
                outcome = self.run_program(*ALL, "--json", "out.json", library=library)
                self.assert_unavailable(outcome, (f"{OVERRIDE} names a library", library))
        listed = self.list_devices(library=text)
        self.assertIn(text, str(listed.document["backends"]))

    def test_library_of_something_else(self):
        """It opens, and is no HIP runtime."""
        outcome = self.run_program(*ALL, library="libc.so.6")
        self.assert_unavailable(outcome, ("hipRuntimeGetVersion", "not a HIP runtime of use"))

    def test_no_kernel_driver(self):
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine has /dev/kfd")
        for library in (None, ""):
            with self.subTest(library=library):
                outcome = self.run_program(*ALL, library=library)
                words = ("the hip backend cannot run", "/dev/kfd", "not found: no AMD GPU")
                self.assert_unavailable(outcome, words)
                self.assertNotIn("libamdhip64", outcome.err, "nothing else need be looked for")

    def test_auto(self):
        """Only where it is the first that can run: a GPU of another kind may come before it."""
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        arguments = ("--backend", "auto", *FEW, *KERNEL_ROW, "--json", "out.json", "--quiet")
        outcome = self.check_sane(self.run_program(*arguments, environment=hidden))
        self.assert_all_ok(outcome)
        self.assertEqual(outcome.document["backend"]["name"], "hip")


class Damage(Case):
    """A copy that changes a byte: never a figure."""

    MODES = ("pageable", "pinned", "async")

    def check(self, directions, outcome):
        self.assertEqual(outcome.code, 1, outcome)
        for row in outcome.rows():
            if row["direction"] not in directions:
                self.assert_ok([row], outcome)
                continue
            self.assertEqual((row["status"], row["verified"]), ("error", False), (row, outcome.label))
            self.assertIn("the data did not arrive as it was sent", row["reason"])
            self.assertIsNone(row["bandwidth_bytes_per_second"], row)

    def check_count(self, damage, outcome):
        """That each of the two proofs works: the pattern finds the byte, not only the comparison
        with what was sent."""
        for row in outcome.rows():
            if row["direction"] == damage:
                words = ("1 of 65536 bytes are wrong", "the first at 32768")
                self.assert_words(row["reason"], words, (row, outcome.label))

    def run_damaged(self, damage, directions, **environment):
        environment = {"XB_STANDIN_DAMAGE": damage} | environment
        outcome = self.check_sane(
            self.measure(
                *("--mode", ",".join(self.MODES), "--host-memory", "registered,alloc"),
                environment=environment,
            )
        )
        self.check(directions, outcome)
        self.check_count(damage, outcome)
        modes = {row["mode"] for row in outcome.rows() if row["direction"] == damage}
        self.assertEqual(modes, set(self.MODES), outcome)
        return outcome

    def test_damage(self):
        """What the device has found is compared with a copy back once more, so that these spoil
        both directions."""
        for damage, directions in (("h2d", ("h2d",)), ("d2h", ("h2d", "d2h"))):
            with self.subTest(damage=damage):
                self.run_damaged(damage, directions)
                # Who reads what a check found before it is there finds nothing.
                self.run_damaged(damage, directions, XB_STANDIN_DELAY_US="500")

    def test_damage_without_kernels(self):
        """What proves the copies is copied itself, so that either way spoils both directions."""
        for damage in ("h2d", "d2h"):
            with self.subTest(damage=damage):
                outcome = self.run_damaged(damage, ("h2d", "d2h"), XB_STANDIN_ARCH="gfx999")
                for row in outcome.rows():
                    reader = BY_COPIES if row["direction"] == "h2d" else "host"
                    self.assertEqual(row["details"]["verified_by"], reader, row)

    def test_damage_of_other_modes(self):
        """Whatever leans on a damaged copy is an error; what does not is not."""
        arguments = ("--mode", "double-buffer,peer", "--peer-path", "staged", "--pairs", "0:1")
        for damage in ("h2d", "d2h"):
            with self.subTest(damage=damage):
                environment = {"XB_STANDIN_DAMAGE": damage}
                outcome = self.check_sane(self.measure(*arguments, environment=environment))
                self.check(("bidir", "d2d"), outcome)


def processes_of(group):
    """The living processes of a process group."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            found.append(int(name))
    return sorted(found)


class Interrupt(Case):
    """A signal in the middle of a run: it ends, and the process that compiles with it."""

    def start(self, *arguments, until=None, **environment):
        """Starts it at the head of a process group, and returns when it has begun to measure, or
        when the file `until`, a FIFO, was written to."""
        folder = self.make_folder()
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        environment |= {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        process = subprocess.Popen(
            [XFERBENCH, *arguments],
            env=base_environment() | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=slave,
            cwd=folder,
            start_new_session=True,
        )
        os.close(slave)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.kill_group, process.pid)
        if until is None:
            self.read_until(master, b" samples, ")
        else:
            # Open for reading and writing, so that opening it does not wait for the other side.
            descriptor = os.open(until, os.O_RDWR)
            self.addCleanup(os.close, descriptor)
            self.read_until(descriptor, b"gfx90a\n")
        return process, folder, master

    @staticmethod
    def kill_group(group):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def read_until(self, master, words):
        text = b""
        deadline = time.monotonic() + GUARD_S
        while words not in text:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([master], [], [], left)[0]
            self.assertTrue(ready, f"the program says nothing more: {text!r}")
            try:
                more = os.read(master, 65536)
            except OSError:  # EIO: nobody has the other side open
                more = b""
            self.assertNotEqual(more, b"", f"the program ended without {words!r}: {text!r}")
            text += more

    def watch(self, process):
        """Descriptors that tell when the processes of the group have ended."""
        group = processes_of(process.pid)
        self.assertIn(process.pid, group)
        self.assertGreater(len(group), 1, "there is no process that compiles")
        try:
            descriptors = [os.pidfd_open(pid) for pid in group if pid != process.pid]
        except (AttributeError, OSError) as error:
            self.skipTest(f"no way to wait for a process that is not a child: {error}")
        for descriptor in descriptors:
            self.addCleanup(os.close, descriptor)
        return descriptors

    def assert_gone(self, process, descriptors):
        for descriptor in descriptors:
            ended = select.select([descriptor], [], [], GUARD_S / 2)[0]
            self.assertTrue(ended, "the process that compiles remains")
        self.assertEqual(processes_of(process.pid), [])

    def interrupt(self, number):
        process, folder, _ = self.start(*ENDLESS, "--json", "out.json")
        descriptors = self.watch(process)
        os.killpg(process.pid, number)
        out, _ = process.communicate(timeout=GUARD_S)
        outcome = Outcome(number.name, folder, process.returncode, out, b"")
        self.check_sane(outcome, codes=(128 + number,))
        self.assert_gone(process, descriptors)
        self.assertIs(outcome.document["interrupted"], True)
        self.assertIn("interrupted by a signal", outcome.out)
        first, second = outcome.rows()
        self.assertEqual((first["status"], first["stop_reason"]), ("ok", "interrupted"), outcome)
        self.assertEqual(second["status"], "skipped", outcome)
        self.assertEqual(sorted(os.listdir(folder)), ["cache", "out.json"])

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.interrupt(number)

    def test_compiler_that_hangs(self):
        """Whatever ends the program ends the compilation that it waits for, and that at once: the
        compilation's own limit is as long as the guard here."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number.name):
                fifo = os.path.join(self.make_folder(), "fifo")
                os.mkfifo(fifo)
                hang = {"XB_STANDIN_RTC_HANG": "1", "XB_STANDIN_RTC_COUNT": fifo}
                process, folder, _ = self.start(*ENDLESS, "--json", "out.json", until=fifo, **hang)
                descriptors = self.watch(process)
                self.assertEqual(len(descriptors), 2, "one that waits, one that compiles")
                if number == signal.SIGKILL:
                    process.kill()
                else:
                    os.killpg(process.pid, number)
                out, _ = process.communicate(timeout=GUARD_S / 2)
                self.assert_gone(process, descriptors)
                if number == signal.SIGKILL:
                    continue
                outcome = Outcome(number.name, folder, process.returncode, out, b"")
                self.check_sane(outcome, codes=(128 + number,))
                self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)
                self.assertIn("interrupted", outcome.rows()[0]["reason"], outcome)

    def test_killed(self):
        """Nothing can be done any more, and yet no process remains."""
        process, _, _ = self.start(*ENDLESS)
        descriptors = self.watch(process)
        process.kill()
        process.communicate(timeout=GUARD_S)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assert_gone(process, descriptors)

    def test_end_of_a_run(self):
        """Nor after one that was let be: what holds its output open would keep a pipe's reader."""
        outcome = self.check_sane(self.run_program(*SMALL, *KERNEL_ROW, start_new_session=True))
        self.assertEqual(outcome.code, 0, outcome)


if __name__ == "__main__":
    # A caller that ignores signals would have the program ignore them too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    unittest.main()
