#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call that never returns does not outlive --deadline by more than its grace, and nothing that was
measured is lost. A machine that is too slow to measure a row before the deadline gets a later one. And a
signal ends the run, with the process that compiles.
usage: test_deadline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import concurrent.futures
import functools
import os
import re
import select
import signal

import stand_in
from stand_in import OVERRIDE, STAND_IN, HipCase, harness

DEADLINES = ("2s", "20s", "60s")
# Pageable memory needs no registering, so that the second row is the first to call it.
ROWS = ("--mode", "pageable,pinned,async", "--staging", "driver", "--direction", "h2d")
REGISTERING = "hipHostRegister:1"
# The first three streams only tried whether holds and batches work, the next two are those of the first two rows.
AFTER_THE_LAST_ROW = ("hipModuleUnload:1", "hipStreamDestroy:6+", "exit")
LOOKING = ("dlopen", "hipRuntimeGetVersion:1", "hipGetDeviceCount:1", "hipDeviceGetName:1")
# Half of the longest that a compilation may take: what ended it was not that limit.
PROMPT_S = 30
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


def hanging(call):
    """Without a search for leaks: LeakSanitizer breaks off in a process of which a thread hangs in a library."""
    return {"XB_STANDIN_HANG": call, "ASAN_OPTIONS": f"detect_leaks=0:exitcode={harness.SANITIZER_EXIT}"}


def is_hung(pid):
    """Whether the process is in the stand-in's call that does not return: it blocks SIGALRM there alone."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        blocked = re.search(r"^SigBlk:\s*(\w+)", file.read(), re.M)
    return int(blocked[1], 16) == 1 << (signal.SIGALRM - 1)


class Runs(HipCase):
    """What hangs, and takes no processor meanwhile."""

    def look(self, call):
        return self.measure(*ROWS, "--deadline", "10ms", environment=hanging(call))

    def compile(self):
        return self.measure(*ROWS, "--deadline", "1s", environment=hanging("hiprtcCompileProgram:1"))

    def advise(self):
        environment = {OVERRIDE: STAND_IN, "XB_STANDIN_HANG": LOOKING[1]}
        job = ("--in", "1M", "--gpu-time", "none", "--json", "out.json")
        return self.run_program("advise", "--backend", "hip", *job, "--deadline", "10ms", environment=environment)

    def hang(self, call, *arguments, shown=("--quiet",)):
        """Until a row was measured before the deadline."""
        for deadline in DEADLINES:
            outcome = self.run_program(
                *(*stand_in.SMALL, *ROWS, *arguments, "--deadline", deadline, "--json", "out.json", *shown),
                environment=hanging(call),
            )
            first = outcome.document and outcome.document.get("processes", [{"document": outcome.document}])[0]
            if first and first["document"] and first["document"]["results"][0]["status"] == "ok":
                break
        return outcome

    def signal(self):
        """Until one came before the deadline."""
        for deadline in DEADLINES:
            folder = self.make_folder()
            environment = {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
            process = self.start(
                *(*stand_in.SMALL, *ROWS, "--deadline", deadline, "--json", "out.json", "--quiet"),
                environment=environment | hanging(REGISTERING),
                cwd=folder,
            )
            harness.wait_until(lambda: process.poll() is not None or is_hung(process.pid))
            if process.poll() is None:
                break
            self.finish(process)
        process.terminate()
        return stand_in.HipOutcome(self.finish(process), folder)


class Deadline(HipCase):
    """All of it runs at once, and each test waits for its own."""

    @classmethod
    def setUpClass(cls):
        runs = Runs()
        runs.setUp()
        cls.addClassCleanup(runs.doCleanups)
        jobs = {
            "second row": lambda: runs.hang(REGISTERING, "--csv", "out.csv"),
            "table": lambda: runs.hang(REGISTERING, shown=()),
            "processes": lambda: runs.hang(REGISTERING, "--processes", "2"),
            "compiler": runs.compile,
            "signal": runs.signal,
            "advise": runs.advise,
        }
        jobs |= {call: functools.partial(runs.hang, call) for call in AFTER_THE_LAST_ROW}
        jobs |= {call: functools.partial(runs.look, call) for call in LOOKING}
        pool = concurrent.futures.ThreadPoolExecutor(len(jobs))
        cls.addClassCleanup(pool.shutdown)
        cls.started = {name: pool.submit(job) for name, job in jobs.items()}

    def outcome_of(self, name):
        return self.started[name].result()

    def assert_hung(self, words, outcome):
        self.check_outcome(outcome, codes=(1,))
        self.assertIn("xferbench: the deadline was 5 s ago, and ", outcome.err, outcome)
        self.assert_words(outcome.err, (*words, "dmesg", "--deadline"), outcome)

    def assert_folder(self, outcome, *names):
        """No temporary file was left."""
        self.assertEqual(sorted(set(os.listdir(outcome.folder)) - {"cache", "trace"}), sorted(names), outcome)

    def test_second_row(self):
        outcome = self.outcome_of("second row")
        self.assert_hung(("pinned registered h2d 64 KiB device 0", "1 of 3 rows"), outcome)
        ok, hung, cut = outcome.rows()
        self.assert_ok([ok], outcome)
        self.assertEqual(hung["status"], "error", outcome)
        self.assertIn("had not ended 5 s after the deadline", hung["reason"], outcome)
        self.assert_skipped([cut], ("the deadline came before it began",), outcome)
        self.assertEqual(cut["stop_reason"], "deadline", outcome)
        self.assertIs(outcome.document["deadline_met"], False, outcome)
        self.assertIs(outcome.document["interrupted"], False, outcome)
        self.assert_folder(outcome, "out.csv", "out.json")
        self.assertEqual(stand_in.read_bytes(os.path.join(outcome.folder, "out.csv")).count(b"\n"), 4)

    def test_table(self):
        outcome = self.outcome_of("table")
        self.assert_hung(("pinned registered",), outcome)
        self.assertIn("had not ended", outcome.out)

    def test_after_the_last_row(self):
        """Devices are closed, the library is closed: everything is written."""
        for call in AFTER_THE_LAST_ROW:
            with self.subTest(call=call):
                outcome = self.outcome_of(call)
                self.assert_hung(("closing the",), outcome)
                self.assertEqual(len(outcome.rows()), 3, outcome)
                self.assert_ok(outcome.rows(), outcome)
                self.assertIs(outcome.document["deadline_met"], True, outcome)
                self.assert_folder(outcome, "out.json")

    def test_looking_for_devices(self):
        for call in LOOKING:
            with self.subTest(call=call):
                outcome = self.outcome_of(call)
                self.assert_hung(("looking for devices",), outcome)
                self.assertEqual(outcome.out, "", outcome)
                self.assert_folder(outcome)

    def test_advise(self):
        """The exit code is never one that is an answer."""
        outcome = self.outcome_of("advise")
        self.assertEqual((outcome.code, outcome.out), (2, ""), outcome)
        self.assert_words(outcome.err, ("the deadline was 5 s ago, and looking for devices has not ended",), outcome)

    def test_compiler(self):
        """It runs in another process, which is not waited for."""
        outcome = self.check_outcome(self.outcome_of("compiler"), codes=(3,))
        self.assertRegex(outcome.err, r"^xferbench: nothing was measured: .*: the deadline came before .*\n$", outcome)
        self.assert_skipped(outcome.rows()[:1], ("the deadline came before",), outcome)
        self.assert_skipped(outcome.rows()[1:], ("the deadline came before it began",), outcome)

    def test_signal(self):
        """It is noted while the call hangs, and is what the exit code tells."""
        outcome = self.outcome_of("signal")
        self.assertEqual(outcome.code, 128 + signal.SIGTERM, outcome)
        self.assertIs(outcome.document["interrupted"], True)

    def test_processes(self):
        """Each keeps the deadline by itself, before it is killed: what it measured counts."""
        outcome = self.outcome_of("processes")
        first = outcome.document["processes"][0]
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual((first["exit_code"], first["signal"]), (1, None), outcome)
        self.assertEqual([row["status"] for row in first["document"]["results"]], ["ok", "error", "skipped"], outcome)
        self.assertIs(outcome.document["deadline_met"], False, outcome)


class Interrupt(HipCase):
    """A signal in the middle of a run: it ends, and the process that compiles with it."""

    def begin(self, until=None, **environment):
        """Starts it at the head of a process group, and returns when it has begun to measure, or
        when the file `until`, a FIFO, was written to."""
        folder = self.make_folder()
        environment |= {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        terminal = harness.Terminal()
        process = self.start(*stand_in.ENDLESS, "--json", "out.json", environment=environment, terminal=terminal, cwd=folder)
        if until is None:
            terminal.read_until(b" samples, ")
        else:
            # Open for writing too, so that opening it does not wait for the other side.
            descriptor = os.open(until, os.O_RDWR)
            self.addCleanup(os.close, descriptor)
            ready = select.select([descriptor], [], [], harness.GUARD_S)[0]
            self.assertTrue(ready, "nothing is compiled")
            self.assertEqual(os.read(descriptor, 4096), b"gfx90a\n")
        return process, folder

    def end(self, process, folder, number):
        """By that signal, and the processes that the program has started with it; what came of it."""
        group = harness.processes_of_group(process.pid)
        self.assertIn(process.pid, group)
        self.assertGreater(len(group), 1, "there is no process that compiles")
        if number == signal.SIGKILL:  # nothing can be done any more, and yet no process remains
            process.kill()
            self.assertEqual(process.wait(PROMPT_S), -number)
        else:
            os.killpg(process.pid, number)
            process.wait(PROMPT_S)
        harness.wait_until(lambda: all(harness.has_ended(pid) for pid in group if pid != process.pid), PROMPT_S)
        self.assertEqual(harness.processes_of_group(process.pid), [])
        outcome = stand_in.HipOutcome(self.wait_for(process), folder)
        return outcome if number == signal.SIGKILL else self.check_outcome(outcome, (128 + number,))

    def test_signals(self):
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                process, folder = self.begin()
                outcome = self.end(process, folder, number)
                if number == signal.SIGKILL:
                    continue
                self.assertIs(outcome.document["interrupted"], True)
                self.assertIn("interrupted by a signal", outcome.out)
                first, second = outcome.rows()
                self.assertEqual((first["status"], first["stop_reason"]), ("ok", "interrupted"), outcome)
                self.assertEqual(second["status"], "skipped", outcome)
                self.assertEqual(sorted(os.listdir(folder)), ["cache", "out.json"])

    def test_compiler_that_hangs(self):
        """What ends the program ends the compilation that it waits for."""
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                fifo = os.path.join(self.make_folder(), "fifo")
                os.mkfifo(fifo)
                process, folder = self.begin(fifo, XB_STANDIN_RTC_HANG="1", XB_STANDIN_RTC_COUNT=fifo)
                self.assertEqual(len(harness.processes_of_group(process.pid)), 3, "one that waits, one that compiles")
                outcome = self.end(process, folder, number)
                if number != signal.SIGKILL:
                    self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)
                    self.assertIn("interrupted", outcome.rows()[0]["reason"], outcome)


if __name__ == "__main__":
    harness.main()
