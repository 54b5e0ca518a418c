#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: test_processes.py XFERBENCH SOURCE_FOLDER [TEST]...

`xferbench --processes` and `--interleave` from outside. What is measured is small, on the host
backend; where a process must misbehave, a script does, as the baseline. No bound on time: LIMIT_S
only ends what hangs.
"""
import copy
import fcntl
import importlib
import json
import math
import os
import pty
import re
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
import unittest

XFERBENCH, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
SANITIZER_EXIT = 99
LIMIT_S = 60  # no test waits for it: a program that takes as long hangs

sys.path.insert(0, os.path.join(SOURCE, "tests"))
validate_json = importlib.import_module("validate_json")
VALIDATOR = None
if hasattr(validate_json.jsonschema, "Draft202012Validator"):
    VALIDATOR = validate_json.validator_of(os.path.join(SOURCE, "docs", "processes.schema.json"))
if VALIDATOR is None:
    print("Left out: python3-jsonschema is older than 4.0: files are not validated against the schema")

ONE = ("--backend", "host", "--mode", "pinned", "--direction", "h2d", "--size", "4K")
FEW = ("--samples", "3", "--time-limit", "1ms")
SMALL = (*ONE, *FEW)
KEYS = ("mode", "variant", "direction", "bytes", "device", "peer", "latency", "simultaneous")


def load_exactly(text):
    """With the numbers as they are spelt, so that equal means unchanged."""
    return json.loads(text, parse_float=str, parse_int=str)


def quantile(values, p):
    """Linear between closest ranks: type 7 of Hyndman and Fan, 1996."""
    ordered = sorted(values)
    below = math.floor((len(ordered) - 1) * p)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + ((len(ordered) - 1) * p - below) * (ordered[above] - ordered[below])


def describe(values):
    """What statistics of these values have to be; the interval of up to 8 is their range."""
    middle = statistics.median(values)
    return {
        "median": middle,
        "ci95_low": min(values) if 6 <= len(values) <= 8 else None,
        "ci95_high": max(values) if 6 <= len(values) <= 8 else None,
        "min": min(values),
        "max": max(values),
        "p5": quantile(values, 0.05),
        "p95": quantile(values, 0.95),
        "mad": statistics.median(abs(value - middle) for value in values),
        "n": len(values),
    }


def environment():
    prefixes = ("CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROC", "GPU_", "AMD_", "XFERBENCH_")
    own = {key: value for key, value in os.environ.items() if not key.startswith(prefixes)}
    own["LC_ALL"] = "C"
    own.setdefault("ASAN_OPTIONS", f"detect_leaks=1:exitcode={SANITIZER_EXIT}")
    own.setdefault("UBSAN_OPTIONS", "halt_on_error=1")
    return own


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def start(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        process = subprocess.Popen(
            [XFERBENCH, *arguments],
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )
        self.addCleanup(self.leave, process)
        return process

    def leave(self, process):
        """Without waiting for whoever else may hold the pipes, where a test has failed."""
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def finish(self, process, code):
        out, err = process.communicate(timeout=LIMIT_S)
        done = subprocess.CompletedProcess(process.args, process.returncode, out or "", err or "")
        self.assertNotEqual(done.returncode, SANITIZER_EXIT, done)
        self.assertNotRegex(done.stderr, r"Sanitizer|runtime error:")
        self.assertEqual(done.returncode, code, done)
        return done

    def run_program(self, code, *arguments, **options):
        return self.finish(self.start(*arguments, **options), code)

    def load(self, name):
        document = json.loads(self.read(name))
        if VALIDATOR is not None:
            self.assertEqual([f"{e.json_path}: {e.message[:300]}" for e in VALIDATOR.iter_errors(document)], [])
        self.check_merged(document)
        return document

    def result(self, name, *arguments):
        """The file of a run in one process."""
        self.run_program(0, *SMALL, "--json", name, *arguments)
        return json.loads(self.read(name))

    # ---- a merged file against the documents in it ----

    def check_merged(self, merged):
        self.assertEqual((merged["schema"], merged["schema_version"]), ("xferbench.processes", 1))
        documents = [process["document"] for process in merged["processes"]]
        self.assertEqual([process["index"] for process in merged["processes"]], list(range(len(documents))))
        first = next((document for document in documents if document), None)
        for key in ("host", "backend", "devices", "environment", "config"):
            self.assertEqual(merged[key], first[key] if first else None, key)
        order = {}
        for document in documents:
            for row in document["results"] if document else ():
                order.setdefault(tuple(row[key] for key in KEYS))
        self.assertEqual([tuple(row[key] for key in KEYS) for row in merged["results"]], list(order))
        for row in merged["results"]:
            with self.subTest(case=[row[key] for key in KEYS]):
                self.check_row(row, documents)

    def check_row(self, row, documents):
        key = tuple(row[name] for name in KEYS)
        rows = [
            next((r for r in document["results"] if tuple(r[name] for name in KEYS) == key), None)
            if document
            else None
            for document in documents
        ]
        counted = [r or {"status": "skipped", "verified": None} for r, d in zip(rows, documents) if d]
        words = [r["status"] for r in counted]
        worst = max(words, key=["ok", "skipped", "error"].index)
        self.assertEqual(row["status"], worst)
        self.assertEqual(row["processes_ok"], words.count("ok"))
        verified = [r["verified"] for r in counted]
        self.assertIs(row["verified"], False if False in verified else None if None in verified else True)
        if worst == "ok":
            self.assertIsNone(row["reason"])
        else:
            of_worst = next(r for r in counted if r["status"] == worst)
            self.assertEqual(row["reason"], of_worst.get("reason", row["reason"]))
        self.check_figures(row, rows)

    def check_figures(self, row, rows):
        cut = ("interrupted", "deadline")
        ok = [r if r and r["status"] == "ok" and r.get("stop_reason") not in cut else None for r in rows]
        latency = row["latency"]
        rates = [r and not latency and r["bandwidth_bytes_per_second"]["median"] or None for r in ok]
        self.assertEqual(row["medians"]["bandwidth_bytes_per_second"], rates)
        self.check_statistics(row["bandwidth_bytes_per_second"], rates)
        for clock in ("host", "device"):
            medians = row["medians"][f"latency_{clock}_p50_s"]
            if not latency:
                self.assertIsNone(medians)
                continue
            times = [r and r["latency_s"][clock] and r["latency_s"][clock]["p50"] for r in ok]
            self.assertEqual(medians, times)
            self.check_statistics(row["latency_s"][clock], times)

    def check_statistics(self, found, values):
        values = [value for value in values if value is not None]
        if not values:
            self.assertIsNone(found)
            return
        expected = describe(values)
        self.assertEqual(set(found), set(expected))
        for name, value in expected.items():
            if value is None:
                self.assertIsNone(found[name], name)
            else:
                self.assertAlmostEqual(found[name] / (value or 1), 1 if value else 0, 9, name)

    # ---- baselines ----

    def script(self, text, name="baseline"):
        """A shell script; `turn` is which process of the baseline it is, from 1."""
        head = f"#!/bin/sh\necho >>'{self.path('turns')}'\nturn=$(wc -l <'{self.path('turns')}')\n"
        self.write(name, head + text + "\n")
        os.chmod(self.path(name), 0o755)
        return "./" + name

    def python(self, text):
        self.write("stub", f"#!{sys.executable} -B\nimport os, signal, sys\n{text}\n")
        os.chmod(self.path("stub"), 0o755)
        return "./stub"

    def state(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "X"

    def has_ended(self, pid):
        """A zombie counts: not every machine has somebody who reaps what lost its parent."""
        return self.state(pid) in "ZX"

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def turns(self):
        return self.read("turns").count("\n") if os.path.exists(self.path("turns")) else 0

    def interleave(self, code, program, *arguments, processes=2, **options):
        """Both files, the baseline's first, and what the program said."""
        files = ("--json", "candidate.json", "--baseline-json", "baseline.json")
        count = ("--processes", str(processes))
        done = self.run_program(code, *SMALL, *count, "--interleave", program, *files, *arguments, **options)
        return self.load("baseline.json"), self.load("candidate.json"), done

    def fates(self, merged):
        return [(p["exit_code"], p["signal"], p["document"] is not None) for p in merged["processes"]]


class Merged(Case):
    """Several processes of one program."""

    def test_file(self):
        arguments = ("--backend", "host", "--mode", "pinned,managed", "--size", "4K,8K", *FEW)
        self.run_program(0, *arguments, "--processes", "6", "--json", "out.json")
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
            self.assertEqual(row["bandwidth_bytes_per_second"]["n"], 6)
        for process in merged["processes"]:
            self.assertGreater(process["wall_s"], 0)
            self.assertEqual(process["document"]["config"]["processes"], 1)
            self.assertEqual(process["document"]["config"]["samples"], 3)
        self.assertEqual(os.listdir(self.folder), ["out.json"])

    def test_latency(self):
        self.run_program(0, *SMALL, "--latency", "--processes", "2", "--json", "out.json")
        merged = self.load("out.json")
        self.assertEqual(merged["results"][0]["latency_s"]["host"]["n"], 2)

    def test_table(self):
        done = self.run_program(0, "--backend", "host", "--size", "4K", *FEW, "--processes", "6", "--json", "x")
        self.assertTrue(done.stdout.isascii())
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()), done.stdout)
        self.assertIn("6 of 6 processes have results", done.stdout)
        row = next(r for r in self.load("x")["results"] if (r["mode"], r["direction"]) == ("pinned", "h2d"))
        line = re.search(r"(?m)^pinned +registered +h2d +4 KiB +([\d.]+) +([\d.]+)-([\d.]+) +([\d.]+) +"
                         r"([\d.]+) +([\d.]+)% +6 +yes$", done.stdout)
        figures = row["bandwidth_bytes_per_second"]
        for found, key in zip(line.groups(), ("median", "ci95_low", "ci95_high", "min", "max")):
            self.assertAlmostEqual(float(found) / (figures[key] / 1e9), 1, 2, key)
        spread = 100 * (figures["max"] - figures["min"]) / figures["median"]
        self.assertAlmostEqual(float(line[6]), spread, delta=0.051)
        self.assertRegex(done.stdout, r"(?m)^managed +fault .* skipped .* 0 +-$")
        self.assertRegex(done.stdout, r"(?m)^  skipped +managed fault h2d 4 KiB and 1 more row: ")

    def test_table_of_latencies(self):
        done = self.run_program(0, *SMALL, "--latency", "--processes", "2")
        self.assertRegex(done.stdout, r"HOST P50 +MIN +MAX +SPREAD +DEVICE P50 +N +VERIFIED\n")
        self.assertRegex(done.stdout, r"pinned +registered +h2d +4 KiB +[\d.]+ [nu]s .* 2  yes\n")

    def test_standard_output(self):
        done = self.run_program(0, *SMALL, "--processes", "2", "--json", "-")
        self.write("out.json", done.stdout)
        self.assertEqual(len(self.load("out.json")["processes"]), 2)
        self.assertEqual(done.stderr, "")

    def test_quiet(self):
        done = self.run_program(0, *SMALL, "--processes", "2", "--quiet", "--json", "out.json")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
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
                done = self.run_program(2, *given)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(self.turns(), 0)  # all that was known before anything ran
        self.assertEqual(sorted(os.listdir(self.folder)), ["baseline", "plain"])

    def test_what_cannot_be_measured(self):
        """The first process says so; no other is begun, and no file appears."""
        done = self.run_program(2, *SMALL, "--device", "7", "--processes", "3", "--json", "out.json")
        self.assertEqual(done.stderr.count("no device '7'"), 1)
        self.assertEqual(os.listdir(self.folder), [])

    def test_nothing_but_skipped(self):
        self.run_program(3, "--backend", "host", "--mode", "peer", *FEW, "--processes", "2", "--json", "out.json")
        self.assertEqual(self.fates(self.load("out.json")), [(3, None, True)] * 2)


class Places(Case):
    """Where it is written to."""

    def test_full_device(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        done = self.run_program(1, *SMALL, "--processes", "2", "--json", "/dev/full")
        self.assertIn("ENOSPC", done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in ((), ("--json", "-")):
                done = self.run_program(1, *SMALL, "--processes", "2", *arguments, stdout=full)
                self.assertIn("cannot write", done.stderr)

    def test_other_file_is_written_all_the_same(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        script = self.script(f'exec {XFERBENCH} "$@"')
        self.run_program(
            1, *SMALL, "--processes", "2", "--interleave", script, "--json", "a.json", "--baseline-json", "/dev/full"
        )
        self.assertEqual(self.load("a.json")["role"], "candidate")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "baseline", "turns"])

    def test_file_that_grows_too_large(self):
        self.write("out.json", "old")
        done = self.run_program(
            1, *SMALL, "--processes", "2", "--json", "out.json",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )
        self.assertIn("EFBIG", done.stderr)
        self.assertEqual((self.read("out.json"), os.listdir(self.folder)), ("old", ["out.json"]))

    def test_closed_streams(self):
        """The pipes must not take the place of the standard streams."""
        for closed in ((1,), (0, 1), (0, 1, 2), (2,)):
            with self.subTest(closed=closed):
                self.run_program(
                    0, *SMALL, "--processes", "2", "--quiet", "--json", "out.json",
                    preexec_fn=lambda: [os.close(fd) for fd in closed],
                )
                self.assertEqual(self.fates(self.load("out.json")), [(0, None, True)] * 2)
        done = self.run_program(1, *SMALL, "--processes", "2", preexec_fn=lambda: os.close(1))
        self.assertIn("cannot write", done.stderr)

    def test_reader_that_left(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w", encoding="utf-8") as pipe:
            done = self.run_program(1, *SMALL, "--processes", "2", "--json", "-", stdout=pipe)
        self.assertIn("EPIPE", done.stderr)


class Interleaved(Case):
    """Two programs in turn."""

    # By the shell alone: while it starts another program it may block signals itself.
    SIGNALS = (
        'while read -r key value; do case $key in Sig*) echo "$key $value";; esac; done </proc/$$/status >signals\n'
    )

    def signals(self):
        lines = (line.split() for line in self.read("signals").splitlines())
        return {key: int(value, 16) for key, value in lines if key in ("SigIgn:", "SigBlk:")}

    def test_other_setting(self):
        script = self.script(f'exec {XFERBENCH} "$@" --host-memory alloc')
        baseline, candidate, done = self.interleave(0, script)
        self.assertEqual((baseline["role"], candidate["role"]), ("baseline", "candidate"))
        self.assertEqual(baseline["interleaved_with"], os.path.realpath(XFERBENCH))
        self.assertEqual(candidate["interleaved_with"], script)
        self.assertEqual(baseline["config"]["host-memory"], ["alloc"])
        self.assertNotEqual(candidate["config"]["host-memory"], ["alloc"])
        self.assertEqual([len(m["processes"]) for m in (baseline, candidate)], [2, 2])
        self.assertEqual([m["results"][0]["variant"] for m in (baseline, candidate)], ["alloc", "registered"])
        self.assertLess(done.stdout.index("  baseline "), done.stdout.index("  candidate "))

    def test_program_on_the_path(self):
        os.mkdir(self.path("bin"))
        os.symlink(XFERBENCH, self.path("bin/other-build"))
        own = environment()
        own["PATH"] = self.path("nowhere") + ":" + self.path("bin") + ":" + own["PATH"]
        files = ("--json", "c.json", "--baseline-json", "b.json")
        process = subprocess.run(
            [XFERBENCH, *SMALL, "--processes", "2", "--interleave", "other-build", *files],
            cwd=self.folder, env=own, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.load("c.json")["interleaved_with"], self.path("bin/other-build"))

    def test_order(self):
        """As the progress tells it: which of the two goes first changes from pair to pair."""
        script = self.script(f'exec {XFERBENCH} "$@"')
        master, slave = pty.openpty()
        process = self.start(
            *SMALL, "--processes", "3", "--interleave", script, "--json", "a", "--baseline-json", "b", stderr=slave
        )
        os.close(slave)
        told = b""
        while True:
            try:
                self.assertTrue(select.select([master], [], [], LIMIT_S)[0], "it hangs")
                more = os.read(master, 65536)
            except OSError:  # EIO: nobody has the other side open
                break
            if not more:
                break
            told += more
        os.close(master)
        self.finish(process, 0)
        self.assertEqual(
            re.findall(r"process (\d) of 3 \((\w+)\)", told.decode()),
            [("1", "baseline"), ("1", "candidate"), ("2", "candidate"), ("2", "baseline"),
             ("3", "baseline"), ("3", "candidate")],
        )

    def test_processes_are_fresh_and_alone(self):
        """Each has a number of its own, and is the only child while it runs."""
        script = self.script(
            "echo $$ $(cat /proc/$PPID/task/$PPID/children) >>log\n" f'exec {XFERBENCH} "$@"'
        )
        self.interleave(0, script, processes=3)
        lines = [line.split() for line in self.read("log").splitlines()]
        self.assertEqual([len(line) for line in lines], [2, 2, 2])
        self.assertTrue(all(own == only for own, only in lines))
        self.assertEqual(len({own for own, _ in lines}), 3)

    def test_options_arrive_as_they_were_given(self):
        script = self.script('for word in "$@"; do printf "%s\\n" "$word" >>log; done; exit 3')
        self.run_program(
            3, "--size", "4K,1.5K", "-D", "a b=c  d,'e'", "--chunk=1KiB", "-n", "3", "--latency", "-b", "host",
            "--processes", "2", "--interleave", script, "--json", "a.json", "--baseline-json", "b.json", "--quiet",
            "--deadline", "50m",
        )
        words = self.read("log").splitlines()
        deadline = next(word for word in words if word.startswith("--deadline="))
        words.remove(deadline)
        self.assertEqual(
            sorted(words),
            sorted(["--size=4K,1.5K", "--device=a b=c  d,'e'", "--chunk=1KiB", "--samples=3", "--latency",
                    "--backend=host", "--quiet", "--json=-"]),
        )
        left = float(re.fullmatch(r"--deadline=([\d.]+)s", deadline)[1])
        self.assertTrue(0 < left <= 3000, left)

    def test_surroundings(self):
        """Signals as usual, an empty input, no file of the parent's, a group of its own."""
        # Not by the shell itself: its redirections and pipelines would be among them.
        self.write(
            "list.py",
            "import json, os\n"
            "folder = f'/proc/{os.getppid()}/fd/'\n"
            "json.dump({fd: os.readlink(folder + fd) for fd in os.listdir(folder)}, open('files', 'w'))\n",
        )
        script = self.script(
            self.SIGNALS +
            f"{sys.executable} list.py\n"
            "cut -d' ' -f1,5 /proc/$$/stat >group\n"
            "cat >input\n"
            f'exec {XFERBENCH} "$@"'
        )
        self.interleave(0, script)
        signals = self.signals()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.assertFalse(signals["SigIgn:"] >> (number - 1) & 1, number)
        self.assertEqual(signals["SigBlk:"], 0)
        files = json.loads(self.read("files"))
        self.assertEqual(files["0"], "/dev/null")
        self.assertTrue(files["1"].startswith("pipe:"))
        others = [name for fd, name in files.items() if fd not in "012"]
        self.assertTrue(all(name.endswith("/baseline") for name in others), files)
        own, group = self.read("group").split()
        self.assertEqual(own, group)
        self.assertEqual(self.read("input"), "")

    def test_ignored_signals_stay_ignored(self):
        """As nohup wants it."""
        script = self.script(f'{self.SIGNALS}exec {XFERBENCH} "$@"')
        self.interleave(0, script, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        ignored = self.signals()["SigIgn:"]
        self.assertTrue(ignored >> (signal.SIGHUP - 1) & 1)
        self.assertFalse(ignored >> (signal.SIGPIPE - 1) & 1)

    def test_shell_that_waits(self):
        """A script need not exec."""
        script = self.script(f'{XFERBENCH} "$@"; exit $?')
        baseline, _, _ = self.interleave(0, script)
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)

    def test_what_a_script_leaves_behind(self):
        """It holds standard output for long. In the script's group it ends with it."""
        for starter, ends in (("", True), ("setsid ", False)):
            with self.subTest(starter=starter):
                script = self.script(
                    f"{starter}sleep 600 2>/dev/null &\necho $! >>'{self.path('left')}'\n"
                    f'exec {XFERBENCH} "$@"'
                )
                baseline, _, _ = self.interleave(0, script)
                self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)
                left = [int(line) for line in self.read("left").split()]
                for pid in left:
                    self.addCleanup(self.kill, pid)
                self.assertEqual([self.has_ended(pid) for pid in left], [ends] * 2)
                os.unlink(self.path("left"))

    def test_output_that_is_passed_on(self):
        """By one that ends after the program."""
        self.python(
            "text = sys.stdin.read()\n"
            "while os.path.exists('/proc/' + os.environ['LAST']): pass\n"
            "sys.stdout.write(text)\n"
        )
        script = self.script(
            "mkfifo between$turn\n(export LAST=$$; exec ./stub <between$turn) &\n"
            f'exec {XFERBENCH} "$@" >between$turn'
        )
        baseline, _, _ = self.interleave(0, script)
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)

    def test_script_that_reads_the_terminal(self):
        """The group is in the background there: it would be stopped for good."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        script = self.script(f'read -r line </dev/tty\nexec {XFERBENCH} "$@"')
        try:
            baseline, _, _ = self.interleave(
                0, script, pass_fds=(slave,), preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            )
        finally:
            os.close(slave)
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)

    def test_file_that_is_replaced_meanwhile(self):
        """The candidate stays the program that was started."""
        shutil.copy(XFERBENCH, self.path("own"))
        script = self.script(f'echo rubbish >new; mv new own; exec {XFERBENCH} "$@"')
        files = ("--json", "candidate.json", "--baseline-json", "baseline.json")
        process = subprocess.run(
            ["./own", *SMALL, "--processes", "2", "--interleave", script, *files], cwd=self.folder, env=environment(),
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )
        self.assertEqual(process.returncode, 0, process)
        self.assertEqual(self.fates(self.load("candidate.json")), [(0, None, True)] * 2)

    def test_script_without_its_first_line(self):
        self.write("bare", f'exec {XFERBENCH} "$@"\n')
        os.chmod(self.path("bare"), 0o755)
        baseline, _, _ = self.interleave(0, "./bare")
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)


class Failures(Case):
    """Processes that do not do what they should."""

    def check_second_fails(self, what, fate, *words):
        script = self.script(f'if [ $turn -eq 2 ]; then {what}; fi\nexec {XFERBENCH} "$@"')
        baseline, candidate, done = self.interleave(1, script, processes=3)
        self.assertEqual(self.fates(baseline), [(0, None, True), (*fate, False), (0, None, True)])
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 3)
        for word in words:
            self.assertIn(word, baseline["processes"][1]["failure"])
        self.assertEqual(baseline["results"][0]["processes_ok"], 2)
        self.assertEqual(baseline["results"][0]["status"], "ok")
        self.assertIsNone(baseline["results"][0]["medians"]["bandwidth_bytes_per_second"][1])
        self.assertRegex(done.stdout, r"(?m)^  FAILED    process 2 of 3: ")
        self.assertIn("2 of 3 processes have results", done.stdout)

    def test_killed(self):
        self.check_second_fails("kill -KILL $$", (None, "SIGKILL"), "SIGKILL")

    def test_crashed(self):
        self.check_second_fails("kill -SEGV $$", (None, "SIGSEGV"), "SIGSEGV")

    def test_crashed_behind_its_results(self):
        self.check_second_fails(f'{XFERBENCH} "$@"; kill -ABRT $$', (None, "SIGABRT"), "SIGABRT")

    def test_crashed_where_ends_are_ignored(self):
        """A caller that ignores SIGCHLD has its programs ignore it too."""
        baseline, candidate, _ = self.interleave(
            1, self.script("kill -SEGV $$"), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        )
        self.assertEqual(self.fates(baseline), [(None, "SIGSEGV", False)] * 2)
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 2)

    def test_unnamed_signal(self):
        self.check_second_fails("kill -40 $$", (None, "signal 40"), "signal 40")

    def test_nothing_printed(self):
        self.check_second_fails("exit 0", (0, None), "exit code 0", "no results")

    def test_later_refusal_does_not_end_it(self):
        self.check_second_fails("exit 2", (2, None), "exit code 2")
        os.unlink(self.path("turns"))
        self.check_second_fails("exit 3", (3, None), "exit code 3")

    def test_rubbish(self):
        self.check_second_fails("echo rubbish", (0, None), "line 1", "JSON")

    def test_half_a_document(self):
        self.check_second_fails(f'{XFERBENCH} "$@" | head -c 1500; exit 0', (0, None), "JSON")

    def test_two_documents(self):
        self.check_second_fails(f'{XFERBENCH} "$@"', (0, None), "JSON")

    def test_merged_document(self):
        self.check_second_fails(f'exec {XFERBENCH} "$@" --processes 2', (0, None), "several processes")

    def test_other_schema(self):
        self.check_second_fails(
            f'{XFERBENCH} "$@" | sed s/xferbench.result/xferbench.list/; exit 0', (0, None), "xferbench.list"
        )

    def test_other_conditions(self):
        self.check_second_fails(
            f'exec {XFERBENCH} "$@" --host-memory alloc', (0, None), "other conditions", "host-memory"
        )

    def test_other_backend(self):
        self.check_second_fails(
            f"""{XFERBENCH} "$@" | sed '/"backend":.*{{/,/}}/s/"host"/"cuda"/'; exit 0""",
            (0, None), "other conditions", "backend",
        )

    def test_more_than_may_be(self):
        self.check_second_fails("exec head -c 70000000 /dev/zero", (None, "SIGTERM"), "64 MiB")

    def test_more_than_fits_together(self):
        """A merged file is never larger than its reader takes."""
        document = self.result("one.json")
        document["results"][0]["details"]["padding"] = "x" * 25_000_000
        self.write("one.json", json.dumps(document))
        baseline, _, _ = self.interleave(1, self.script("exec cat one.json"), processes=3)
        self.assertEqual(self.fates(baseline)[:2], [(0, None, True)] * 2)
        self.assertIs(self.fates(baseline)[2][2], False)
        self.assertIn("fewer samples", baseline["processes"][2]["failure"])

    def test_exit_code_that_is_none_of_ours(self):
        """Its results count, and it is no success."""
        script = self.script(f'{XFERBENCH} "$@"; exit 7')
        baseline, _, _ = self.interleave(1, script)
        self.assertEqual(self.fates(baseline), [(7, None, True)] * 2)

    def test_all_fail(self):
        baseline, candidate, done = self.interleave(1, self.script("exit 1"))
        self.assertEqual((baseline["results"], baseline["backend"], baseline["config"]), ([], None, None))
        self.assertEqual(candidate["results"][0]["status"], "ok")
        self.assertIn("0 of 2 processes have results", done.stdout)

    def test_interpreter_that_is_missing(self):
        self.write("broken", "#!/no/such/interpreter\n")
        os.chmod(self.path("broken"), 0o755)
        baseline, _, _ = self.interleave(1, "./broken")
        self.assertEqual(self.fates(baseline), [(None, None, False)] * 2)
        self.assertIn("cannot be started", baseline["processes"][0]["failure"])

    def test_first_refuses(self):
        for code in (2, 3):
            with self.subTest(code=code):
                script = self.script(f"echo 'told why' >&2; exit {code}")
                done = self.run_program(
                    code, *SMALL, "--processes", "3", "--interleave", script, "--json", "a", "--baseline-json", "b"
                )
                self.assertIn("told why", done.stderr)
                self.assertIn("the baseline, './baseline'", done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(self.turns(), 1)
                self.assertEqual(sorted(os.listdir(self.folder)), ["baseline", "turns"])
                os.unlink(self.path("turns"))

    def test_candidate_refuses_behind_the_baseline(self):
        """What the baseline measured is not lost."""
        script = self.script(f"exec {XFERBENCH} {' '.join(SMALL)} --quiet --json=-")
        baseline, candidate, done = self.interleave(2, script, "--device", "7")
        self.assertEqual(self.fates(baseline), [(0, None, True)])
        self.assertEqual(self.fates(candidate), [(2, None, False)])
        self.assertEqual(self.turns(), 1)
        self.assertIn("the candidate, ", done.stderr)
        self.assertIn("1 of 2 processes have results", done.stdout)

    def test_baseline_of_skipped_rows_only(self):
        """Nothing was measured there; the candidate's success does not hide it."""
        document = self.result("one.json")
        row = document["results"][0]
        self.skip_row(row)
        self.write("one.json", json.dumps(document))
        baseline, _, _ = self.interleave(3, self.script("cat one.json; exit 3"))
        self.assertEqual(baseline["results"][0]["status"], "skipped")

    def skip_row(self, row):
        for key, value in row.items():
            if key not in (*KEYS, "warnings", "details"):
                row[key] = [] if isinstance(value, list) else {} if key == "parts" else None
        row |= {"status": "skipped", "reason": "not today"}

    def test_rows_that_differ(self):
        """Processes of a stand-in: right, wrong, skipped, not there."""
        first = self.result("1.json")
        wrong, skipped, other = (copy.deepcopy(first) for _ in range(3))
        wrong["results"][0] |= {
            "status": "error", "reason": "the data is wrong", "verified": False, "bandwidth_bytes_per_second": None,
            "overlap": None,
        }
        self.skip_row(skipped["results"][0])
        other["results"][0]["bytes"] = 8192
        for number, document in enumerate((wrong, skipped, other), 2):
            self.write(f"{number}.json", json.dumps(document))
        script = self.script("cat $turn.json; test $turn -ne 2")
        baseline, _, done = self.interleave(1, script, processes=4)
        self.assertEqual(self.fates(baseline), [(0, None, True), (1, None, True), (0, None, True), (0, None, True)])
        row, late = baseline["results"]
        self.assertEqual((row["status"], row["reason"], row["verified"]), ("error", "the data is wrong", False))
        self.assertEqual((row["processes_ok"], row["bandwidth_bytes_per_second"]["n"]), (1, 1))
        self.assertEqual((late["status"], late["reason"]), ("skipped", "process 0 has no such row"))
        self.assertEqual((late["processes_ok"], late["bytes"]), (1, 8192))
        self.assertRegex(done.stdout, r"(?m)^pinned .* NO$")
        self.assertRegex(done.stdout, r"(?m)^  ERROR     pinned .* in 3 of 4 processes, at the worst: the data is wrong$")

    def test_documents_are_unchanged(self):
        """To the last digit, with what this version does not know."""
        document = self.result("1.json")
        document["host"]["memory_bytes"] = 4000000000000000
        document["results"][0]["details"] |= {"large": 18446744073709551615, "tiny": 1.2345678901234567e-300}
        self.write("1.json", json.dumps(document, indent=3))
        baseline, _, _ = self.interleave(0, self.script("cat 1.json"))
        merged = load_exactly(self.read("baseline.json"))
        expected = load_exactly(self.read("1.json"))
        for process in merged["processes"]:
            self.assertEqual(process["document"], expected)
        for key in ("host", "backend", "devices", "environment", "config"):
            self.assertEqual(merged[key], expected[key])


class Ends(Case):
    """Signals and deadlines."""

    def stub(self, behaviour):
        """A baseline that tells a FIFO when it is there, and then what happens to it."""
        os.mkfifo(self.path("told"))
        return self.python(
            "told = os.open('told', os.O_WRONLY)\n"
            "def say(text): os.write(told, text.encode() + b'\\n')\n"
            "ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, ending)\n"
            "def wait(): say(signal.Signals(signal.sigwait(ending)).name)\n"
            f"say('here %d' % os.getpid())\n{behaviour}"
        )

    ANSWER = (
        "wait()\nsys.stdout.write(open('one.json').read())\nsys.stdout.flush()\n"
        "if signal.sigpending(): wait()\n"
        "say('bye')\n"
    )

    def begin(self, program, *arguments):
        process = self.start(
            *SMALL, "--processes", "3", "--interleave", program, "--json", "candidate.json", "--baseline-json",
            "baseline.json", *arguments,
        )
        # For writing as well: the reading does not end when a stub does.
        self.told = os.fdopen(os.open(self.path("told"), os.O_RDWR), "rb", 0)
        self.addCleanup(self.told.close)
        return process

    def hear(self):
        line = b""
        while not line.endswith(b"\n"):
            self.assertTrue(select.select([self.told], [], [], LIMIT_S)[0], "it hangs")
            line += os.read(self.told.fileno(), 1)
        words = line.decode().split()
        if words[0] == "here":
            self.addCleanup(self.remove, int(words[1]))
        return " ".join(words)

    def remove(self, pid):
        """A stub that outlived its parent, where a test has failed."""
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"./stub" in file.read():
                    os.kill(pid, signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def assert_gone(self, pid):
        """Reaped: there is not even a zombie."""
        self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)

    def interrupted(self, send, number):
        document = self.result("one.json")
        document["interrupted"] = True
        self.write("one.json", json.dumps(document))
        process = self.begin(self.stub(self.ANSWER))
        pid = self.hear().split()[1]
        send(process.pid, number)
        self.assertEqual(self.hear(), "SIGTERM")
        self.assertEqual(self.hear(), "bye")
        done = self.finish(process, 128 + number)
        self.assert_gone(pid)
        baseline, candidate = self.load("baseline.json"), self.load("candidate.json")
        self.assertEqual((baseline["interrupted"], candidate["interrupted"]), (True, True))
        self.assertEqual(self.fates(baseline), [(0, None, True)])
        self.assertEqual(candidate["processes"], [])
        self.assertIn("interrupted by a signal: 1 of 3 processes", done.stdout)
        self.assertEqual(
            sorted(os.listdir(self.folder)), ["baseline.json", "candidate.json", "one.json", "stub", "told"]
        )

    def test_signal_to_the_program_alone(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name):
                self.interrupted(os.kill, number)
                for name in os.listdir(self.folder):
                    os.unlink(self.path(name))

    def test_signal_to_the_group(self):
        """As a terminal sends it: each process hears of it once."""
        self.interrupted(os.killpg, signal.SIGINT)

    def test_signal_to_a_shell_that_waits(self):
        """What the shell runs hears it too, and its results are not lost."""
        self.result("one.json")
        stub = self.stub(self.ANSWER)
        process = self.begin(self.script(f'{stub} "$@"; exit 0'))
        self.hear()
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual([self.hear(), self.hear()], ["SIGTERM", "bye"])
        self.finish(process, 143)
        self.assertTrue(self.load("baseline.json")["processes"][0]["document"])

    def signal_until(self, process, is_enough):
        """Again and again: one that comes soon after another is the same request."""
        until = time.monotonic() + LIMIT_S
        while not is_enough():
            self.assertLess(time.monotonic(), until, "it hangs")
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                pass

    def test_second_signal_ends_the_process_at_once(self):
        """And what was measured before is written."""
        self.result("one.json")
        process = self.begin(self.stub("if os.path.exists('once'): wait(); wait()\nopen('once', 'w')\n"
                                       "sys.stdout.write(open('one.json').read())\n"))
        self.hear()
        pid = int(self.hear().split()[1])
        self.signal_until(process, lambda: self.has_ended(pid))
        self.finish(process, 143)
        self.assertEqual(self.hear(), "SIGTERM")
        self.assert_gone(pid)
        baseline, candidate = self.load("baseline.json"), self.load("candidate.json")
        self.assertEqual(self.fates(baseline), [(0, None, True), (None, "SIGKILL", False)])
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 2)

    def test_process_that_does_not_heed_a_signal(self):
        """It takes the 10 s that such a one is given."""
        process = self.begin(self.stub("wait()\nwait()\n"))
        pid = int(self.hear().split()[1])
        process.terminate()
        self.finish(process, 143)
        self.assert_gone(pid)
        self.assertEqual(self.fates(self.load("baseline.json")), [(None, "SIGKILL", False)])
        self.assertIs(self.load("candidate.json")["interrupted"], True)

    def test_process_that_is_stopped(self):
        process = self.begin(self.stub("os.kill(os.getpid(), signal.SIGSTOP)\nwait()\n"))
        pid = int(self.hear().split()[1])
        self.wait_until(lambda: self.state(pid) == "T")
        process.terminate()
        self.assertEqual(self.hear(), "SIGTERM")
        self.finish(process, 143)

    def test_third_signal_ends_it(self):
        """Where nobody reads what it writes."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        with os.fdopen(writer, "wb") as pipe:
            process = self.start(*SMALL, "--processes", "2", "--json", "-", stdout=pipe)
        self.assertTrue(select.select([reader], [], [], LIMIT_S)[0], "it hangs")
        self.signal_until(process, lambda: process.poll() is not None)
        self.finish(process, -signal.SIGTERM)

    def test_process_that_cannot_be_ended(self):
        """Somebody traces it, and does not let its end be known."""
        self.python(
            "import ctypes\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)\n"
            "libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)\n"  # PR_SET_PTRACER, anybody
            "inform, informed = os.pipe()\n"
            "pid = os.getpid()\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    os.close(2)\n"
            "    os.write(informed, b'y' if libc.ptrace(0x4206, pid, None, None) == 0 else b'n')\n"  # SEIZE
            "    print(os.getpid(), file=open('tracer', 'w'), flush=True)\n"
            "    signal.sigwait([signal.SIGUSR1])\n"
            "if os.read(inform, 1) != b'y': open('refused', 'w')\n"
            "print(pid, file=open('there', 'w'), flush=True)\n"
            "signal.sigwait([signal.SIGUSR1])\n"
        )
        self.addCleanup(lambda: self.kill(int(self.read("tracer"))))
        process = self.start(
            *SMALL, "--processes", "2", "--interleave", "./stub", "--json", "candidate.json", "--baseline-json",
            "baseline.json", "--quiet",
        )
        self.wait_until(lambda: os.path.exists(self.path("there")) and self.read("there").endswith("\n"))
        if os.path.exists(self.path("refused")):
            self.skipTest("no process may trace another here")
        self.signal_until(process, lambda: self.has_ended(int(self.read("there"))))
        self.finish(process, 143)
        baseline = self.load("baseline.json")
        self.assertEqual(self.fates(baseline), [(None, None, False)])
        self.assertIn("cannot be ended", baseline["processes"][0]["failure"])

    def test_parent_that_dies(self):
        process = self.begin(self.stub("wait()\nsay('leaving')\n"))
        self.hear()
        process.kill()
        self.finish(process, -signal.SIGKILL)
        self.assertEqual([self.hear(), self.hear()], ["SIGTERM", "leaving"])

    def wait_until(self, is_so):
        until = time.monotonic() + LIMIT_S
        while not is_so():
            self.assertLess(time.monotonic(), until, "it hangs")

    def child_of(self, process):
        """The process that runs, once it catches signals itself."""
        found = []

        def is_ready():
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                pids = file.read().split()
            if not pids:
                return False
            with open(f"/proc/{pids[0]}/cmdline", encoding="utf-8") as file:
                if "--json=-" not in file.read():  # it is still a copy of its parent
                    return False
            with open(f"/proc/{pids[0]}/status", encoding="utf-8") as file:
                status = dict(line.split(None, 1) for line in file if len(line.split(None, 1)) == 2)
            found[:] = (int(pids[0]), status["Name:"].strip())
            return int(status["SigCgt:"], 16) >> (signal.SIGTERM - 1) & 1

        self.wait_until(is_ready)
        return found

    def begin_long(self):
        return self.start(*ONE, "--samples", "1000000", "-t", "10m", "--processes", "3", "--json", "out.json")

    def check_interrupted(self):
        merged = self.load("out.json")
        self.assertIs(merged["interrupted"], True)
        self.assertEqual(self.fates(merged), [(143, None, True)])
        self.assertIs(merged["processes"][0]["document"]["interrupted"], True)
        self.assertEqual(os.listdir(self.folder), ["out.json"])

    def test_real_processes_are_interrupted(self):
        """Whenever it comes: a file, and nobody left."""
        process = self.begin_long()
        pid, name = self.child_of(process)
        self.assertEqual(name, os.path.basename(XFERBENCH)[:15])
        process.terminate()
        self.finish(process, 143)
        self.check_interrupted()
        self.assert_gone(pid)

    def test_signal_to_everybody(self):
        """As batch systems send it: each hears of it by itself and from its parent."""
        for _ in range(10):
            process = self.begin_long()
            pid, _ = self.child_of(process)
            for each in (pid, process.pid):
                os.kill(each, signal.SIGTERM)
            self.finish(process, 143)
            self.check_interrupted()

    def test_deadline(self):
        """The first process begins all the same: it says what there was to measure."""
        done = self.run_program(3, *SMALL, "--processes", "3", "--deadline", "1us", "--json", "out.json")
        merged = self.load("out.json")
        self.assertIs(merged["deadline_met"], False)
        self.assertEqual((merged["asked"], self.fates(merged)), (3, [(3, None, True)]))
        self.assertIn("the deadline came: 1 of 3 processes", done.stdout)

    def test_deadline_that_is_met(self):
        self.run_program(0, *SMALL, "--processes", "2", "--deadline", "50m", "--json", "out.json")
        merged = self.load("out.json")
        self.assertIs(merged["deadline_met"], True)
        left = [process["document"]["config"]["deadline"] for process in merged["processes"]]
        self.assertTrue(0 < left[1] < left[0] <= 3000, left)

    def test_deadline_that_cut_a_process(self):
        document = self.result("one.json")
        document["deadline_met"] = False
        self.write("one.json", json.dumps(document))
        baseline, candidate, _ = self.interleave(0, self.script("cat one.json"), "--deadline", "50m")
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, True))

    def test_process_that_outstays_the_deadline(self):
        """It takes the 15 s that such a one is given, and SIGKILL: it ignores SIGTERM."""
        script = self.script("trap '' TERM\nexec sleep 600")
        baseline, candidate, _ = self.interleave(1, script, "--deadline", "1us")
        self.assertEqual(self.fates(baseline), [(None, "SIGKILL", False)])
        self.assertIn("deadline", baseline["processes"][0]["failure"])
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, False))

    def test_process_that_must_be_told_of_the_deadline(self):
        """It takes the 10 s until that. What it writes then counts, and it is no success."""
        self.result("one.json")
        stub = self.python(
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nsignal.sigwait([signal.SIGTERM])\n"
            "sys.stdout.write(open('one.json').read())\nsys.exit(143)\n"
        )
        baseline, _, _ = self.interleave(1, stub, "--deadline", "1us")
        self.assertEqual(self.fates(baseline), [(143, None, True)])
        self.assertIs(baseline["deadline_met"], False)


if __name__ == "__main__":
    # A caller that ignores signals would have the program ignore them too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_DFL)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
