# SPDX-License-Identifier: Apache-2.0
"""What the tests of the HIP backend share. In place of the runtime stands the library of
tests/doubles/hip_cpu: no AMD GPU is needed, and none is used. What is asked of it is small.
"""

import concurrent.futures
import functools
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")
Case, Outcome, STAND_IN = harness.Case, harness.Outcome, harness.STAND_IN

if STAND_IN is None:
    print("Left out: the HIP backend is not in this build")
    sys.exit(77)

OVERRIDE = "XFERBENCH_HIP_LIBRARY"
LEAK_EXIT = 97  # the stand-in's
# Those that this process may use.
CORES = len(os.sched_getaffinity(0))
HIP = ("--backend", "hip")
FEW = ("--size", "64K", "--samples", "1", "--time-limit", "1us", "--warm-up", "1us")
SMALL = (*HIP, *FEW)
ALL = (*SMALL, "--mode", "all")
ENDLESS = (*HIP, "--mode", "pinned", "--size", "64K", "--samples", "1000000", "-t", "4s")
KERNEL_ROW = ("--mode", "zero-copy", "--direction", "h2d")  # one row, which kernels make
BY_COPIES = "host, by copies back"
MULTIPROCESSORS = 1  # of each of its devices
ARCHITECTURE = "gfx90a:sramecc+:xnack+"  # the stand-in's, if no other is asked for
# All but write-combined and file.
CAPABILITIES = {*("register", "hold", "kernels", "mapped", "managed", "batch", "graph", "rows", "pool", "pageable")}
# All that moves data by copies alone, and a mode of each kind that takes more.
SOME = (
    *("--mode", "pageable,pinned,double-buffer,zero-copy,managed,peer", "--pairs", "0:1"),
    *("--host-memory", "registered,alloc", "--managed", "prefetch", "--peer-path", "direct-read"),
    *("--by", "engine,kernel"),
)
# Many pieces by every way that is the runtime's. Those with kernels take minutes here, because what
# they cost other kernels is measured with kernels that compute.
PIECES = ("--mode", "batch", "--layout", "rows", "--batch", "each,call,graph,pitched")


def read_source(*names):
    with open(os.path.join(harness.SOURCE, *names), encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path, content):
    with open(path, "wb") as file:
        file.write(content)


def find_symbols():
    """What the backend takes from the library: {name: what is lost without it}."""
    text = read_source("src", "backends", "hip", "library.h")
    rows = re.findall(r'(?:X\(|TYPED\(\w+, ")(\w+)"?,(?:\s*\w+,)?[\s\\]*"([^"]*)"\)', text)
    text = read_source("src", "backends", "gpu", "gpu.h")
    rows += [("hip" + name, lost) for lost, name in re.findall(r'"([^"]*)",[\s\\]*N##(\w+)', text)]
    assert len(rows) > 50, "library.h and gpu.h do not read as they did"
    return dict(rows)


SYMBOLS = find_symbols()


@functools.cache
def variants():
    """Of each mode, by its name, with what each needs: as `list` says."""
    done = subprocess.run(
        [harness.XFERBENCH, "list", "--json", "-"],
        env=harness.base_environment(),
        capture_output=True,
        timeout=harness.GUARD_S,
        check=True,
    )
    return {mode["name"]: mode["variants"] for mode in json.loads(done.stdout)["modes"]}


def needs_of(row):
    """What a device must be able to do for it."""
    (needs,) = [
        variant["needs"]
        for variant in variants()[row["mode"]]
        if variant["name"] == row["variant"]
        and all(row["parameters"][p["name"]] == p["value"] for p in variant["parameters"])
    ]
    return set(needs)


class HipOutcome(Outcome):
    """What came of one run with the stand-in, and what it left in its folder."""

    def __init__(self, outcome, folder):
        vars(self).update(vars(outcome))
        self.folder = folder
        self.trace = {}  # how often each function was called, if the stand-in was opened
        path = os.path.join(folder, "trace")
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                self.trace = {name: int(count) for name, count in map(str.split, file)}
            self.last_copy_blocks = self.trace.pop("last-copy-blocks")
        path = os.path.join(folder, "out.json")
        self.document = harness.read_json(path) if os.path.exists(path) else None

    def __str__(self):
        return super().__str__() + "".join(f"\n{row}" for row in self.rows())

    def rows(self, *modes):
        """The rows, or only those of some modes."""
        results = self.document["results"] if self.document and "results" in self.document else []
        return [row for row in results if not modes or row["mode"] in modes]


class HipCase(Case):
    """A folder for each run, since several run at a time, and what the stand-in counted in it."""

    lock = threading.Lock()

    def setUp(self):
        super().setUp()
        self.numbers = itertools.count(1)

    def make_folder(self):
        with self.lock:
            number = next(self.numbers)
        os.mkdir(self.path(str(number)))
        return self.path(str(number))

    def run_program(self, *arguments, environment=None, library=STAND_IN, folder=None, **options):
        """Runs it in a folder of its own, or in one where it has run already. What came of it is for
        check_outcome() to look at."""
        folder = folder or self.make_folder()
        for name in ("trace", "out.json"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        environment = {
            OVERRIDE: library,
            "XDG_CACHE_HOME": os.path.join(folder, "cache"),
            "XB_STANDIN_TRACE": os.path.join(folder, "trace"),
        } | (environment or {})
        process = self.start(*arguments, environment=environment, cwd=folder, **options)
        return HipOutcome(self.wait_for(process), folder)

    def measure(self, *arguments, **options):
        """Runs it with rows into out.json and nothing on the terminal but errors."""
        return self.run_program(*SMALL, *arguments, "--json", "out.json", "--quiet", **options)

    def list_devices(self, **options):
        outcome = self.check_outcome(self.run_program("list", "--json", "out.json", **options))
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def in_parallel(self, job, check, cases):
        """Calls job(*case) for each case, several at a time, and check(outcome, *case), in a subtest."""
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            futures = [pool.submit(job, *case) for case in cases]
            for case, future in zip(cases, futures, strict=True):
                with self.subTest(str(case)[:80]):
                    check(self.check_outcome(future.result()), *case)

    # ---- outcomes ----

    def check_outcome(self, outcome, codes=(0, 1, 3)):
        """No sanitizer, no crash, no leak: whatever a test expects, never that. And no row that has
        failed has figures."""
        self.check_sane(outcome)
        self.assertNotEqual(outcome.code, LEAK_EXIT, outcome)
        self.assertNotIn("hip stand-in: leaked", outcome.err + outcome.out, outcome)
        self.assertIn(outcome.code, codes, outcome)
        if outcome.rows():
            harness.check_schema(outcome.document)
        for row in outcome.rows():
            if row["status"] != "ok":
                self.assertEqual(row["figures"], [], outcome)
                self.assertIsNot(row["verified"], True, outcome)
                self.assertTrue(row["reason"], outcome)
        return outcome

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
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        self.assert_ok(outcome.rows(), outcome)

    def assert_lost(self, rows, lost, words, outcome):
        """Those are skipped for that reason, and all others are measured."""
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        self.assert_skipped(lost, words, outcome)
        self.assert_ok([row for row in rows if row not in lost], outcome)

    def assert_without_kernels(self, outcome, words):
        """What kernels do is skipped for that reason; the rest is measured, and proved by copies."""
        by_kernels = [row for row in outcome.rows() if "kernels" in needs_of(row)]
        self.assert_lost(outcome.rows(), by_kernels, ("'kernels'", *words), outcome)
        for row in [row for row in outcome.rows() if row not in by_kernels]:
            reader = "host" if row["direction"] == "d2h" else BY_COPIES
            self.assertEqual(row["details"]["verified_by"], reader, (row, outcome.label))
            self.assertEqual(row["details"]["held"], "no", (row, outcome.label))

    def assert_unavailable(self, outcome, words):
        """The backend cannot run: exit 3, the reason on stderr, nothing written."""
        self.check_outcome(outcome, codes=(3,))
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assert_words(" ".join(outcome.err.split()), words, outcome)
        self.assertEqual(outcome.out, "", outcome)
        self.assertIsNone(outcome.document, outcome)
