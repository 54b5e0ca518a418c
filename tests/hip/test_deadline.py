#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call that never returns does not outlive --deadline by more than its grace, and nothing that was
measured is lost. A machine that is too slow to measure a row before the deadline gets a later one.
usage: test_deadline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import functools
import os
import re
import signal

import stand_in
from stand_in import OVERRIDE, STAND_IN, HipCase, harness

DEADLINES = ("2s", "20s", "60s")
# Pageable memory needs no registering, so that the second row is the first to call it.
ROWS = ("--mode", "pageable,pinned,async", "--direction", "h2d")
REGISTERING = {"XB_STANDIN_HANG": "hipHostRegister:1"}


class Deadline(HipCase):
    def hang(self, call, *arguments, **options):
        """Until a row was measured before the deadline."""
        for deadline in DEADLINES:
            outcome = self.measure(
                *(*ROWS, *arguments, "--deadline", deadline),
                environment={"XB_STANDIN_HANG": call},
                **options,
            )
            if outcome.rows() and outcome.rows()[0]["status"] == "ok":
                break
        return outcome

    def assert_hung(self, words, outcome):
        self.check_outcome(outcome, codes=(1,))
        self.assertIn("xferbench: the deadline was 5 s ago, and ", outcome.err, outcome)
        self.assert_words(outcome.err, (*words, "dmesg", "--deadline"), outcome)

    def assert_folder(self, outcome, *names):
        """No temporary file was left."""
        self.assertEqual(sorted(set(os.listdir(outcome.folder)) - {"cache", "trace"}), sorted(names), outcome)

    def check_second_row(self, outcome):
        self.assert_hung(("pinned registered h2d 64 KiB device 0", "1 of 3 rows"), outcome)
        ok, hung, cut = outcome.rows()
        self.assert_ok([ok], outcome)
        self.assertEqual(hung["status"], "error", outcome)
        self.assertIn("had not come to an end 5 s after the deadline", hung["reason"], outcome)
        self.assert_skipped([cut], ("the deadline came before it began",), outcome)
        self.assertEqual(cut["stop_reason"], "deadline", outcome)
        self.assertIs(outcome.document["deadline_met"], False, outcome)
        self.assertIs(outcome.document["interrupted"], False, outcome)

    def test_second_row(self):
        outcome = self.hang("hipHostRegister:1", "--csv", "out.csv")
        self.check_second_row(outcome)
        self.assert_folder(outcome, "out.csv", "out.json")
        with open(os.path.join(outcome.folder, "out.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 4)

    def test_table(self):
        environment = REGISTERING | {"XDG_CACHE_HOME": self.path("cache")}
        done = self.run_program(*stand_in.SMALL, *ROWS, "--deadline", "2s", environment=environment)
        self.assert_hung(("pinned registered",), done)
        self.assertIn("had not come to an end", done.out)

    def test_after_the_last_row(self):
        """Devices are closed, the library is closed: everything is written."""

        def check(outcome):
            self.assert_hung(("closing the",), outcome)
            self.assertEqual(len(outcome.rows()), 3, outcome)
            self.assert_ok(outcome.rows(), outcome)
            self.assertIs(outcome.document["deadline_met"], True, outcome)
            self.assert_folder(outcome, "out.json")

        # The first two streams only tried whether holds work.
        calls = ("hipModuleUnload:1", "hipStreamDestroy:3+", "exit")
        self.in_parallel([functools.partial(self.hang, call) for call in calls], check)

    def test_looking_for_devices(self):
        def check(outcome):
            self.assert_hung(("looking for devices",), outcome)
            self.assertEqual(outcome.out, "", outcome)
            self.assert_folder(outcome)

        calls = ("dlopen", "hipRuntimeGetVersion:1", "hipGetDeviceCount:1", "hipDeviceGetName:1")
        self.in_parallel(
            [
                functools.partial(
                    self.measure, *ROWS, "--deadline", "10ms", environment={"XB_STANDIN_HANG": call}
                )
                for call in calls
            ],
            check,
        )

    def test_compiler(self):
        """It runs in another process, which is not waited for."""
        outcome = self.measure(
            *(*ROWS, "--deadline", "1s"), environment={"XB_STANDIN_HANG": "hiprtcCompileProgram:1"}
        )
        self.check_outcome(outcome, codes=(3,))
        self.assertEqual(outcome.err, "", outcome)
        self.assert_skipped(outcome.rows()[:1], ("the deadline came before",), outcome)
        self.assert_skipped(outcome.rows()[1:], ("the deadline came before it began",), outcome)

    def test_signal(self):
        """It is noted while the call hangs, and is what the exit code tells."""
        process = self.start(
            *(*stand_in.SMALL, *ROWS, "--deadline", "2s", "--json", "out.json", "--quiet"),
            environment=REGISTERING | {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": self.path("cache")},
        )
        harness.wait_until(lambda: process.poll() is not None or is_hung(process.pid))
        process.terminate()
        outcome = self.finish(process)
        self.assertEqual(outcome.code, 128 + signal.SIGTERM, outcome)
        self.assertIs(self.load("out.json")["interrupted"], True)

    def test_processes(self):
        """Each keeps the deadline by itself, before it is killed: what it measured counts."""
        for deadline in DEADLINES:
            outcome = self.measure(
                *(*ROWS, "--processes", "2", "--deadline", deadline), environment=REGISTERING
            )
            first = outcome.document["processes"][0]
            if first["document"] and first["document"]["results"][0]["status"] == "ok":
                break
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual((first["exit_code"], first["signal"]), (1, None), outcome)
        self.assertEqual(
            [row["status"] for row in first["document"]["results"]], ["ok", "error", "skipped"], outcome
        )
        self.assertIs(outcome.document["deadline_met"], False, outcome)


def is_hung(pid):
    """Whether the process is in the stand-in's call that does not return: it blocks SIGALRM there alone."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        blocked = re.search(r"^SigBlk:\s*(\w+)", file.read(), re.M)
    return int(blocked[1], 16) == 1 << (signal.SIGALRM - 1)


if __name__ == "__main__":
    harness.main()
