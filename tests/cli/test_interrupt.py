#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The progress line, and signals while it is shown.
usage: test_interrupt.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import time

import harness
from harness import ENDLESS, GUARD_S, HOST, SMALL, XFERBENCH, Case, Terminal, figure, wait_until


def processor_time(pid):
    """In seconds; of all its threads."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Progress(Case):
    """The line on stderr, for people who wait."""

    def test_on_a_terminal(self):
        terminal = Terminal()
        process = self.start(*ENDLESS, terminal=terminal)
        shown = terminal.read_until(b" GB/s")
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assert_words(shown.decode() + outcome.err, ("[1/2] pinned, 64 KiB to the GPU: ",))
        self.assertRegex(shown, rb" [0-9]+ samples?, [0-9.]+ GB/s\x1b\[K")
        self.assertTrue(outcome.err.endswith("\r\x1b[K"), "the line is not wiped out at the end")
        self.assertNotIn("samples, ", outcome.out)

    def sized_terminal(self, rows, columns):
        terminal = Terminal()
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        return terminal

    # Three ways, each of which warms up: the last is at work when the first 0.5 s, which are silent, are over.
    THREE = (*HOST, "--mode", "pinned,pageable", "--direction", "h2d", "--size", "4M")
    SEVERAL = (*THREE, "--time-limit", "300ms", "--warm-up", "250ms")

    def test_rows_appear_as_they_are_finished(self):
        """And are wiped out before the table is printed, which has them all."""
        terminal = self.sized_terminal(24, 60)
        outcome = self.finish(self.start(*self.SEVERAL, terminal=terminal))
        self.assertEqual(outcome.code, 0, outcome)
        rows = re.findall(r"[\r\n](\w+, 4 MiB to the GPU) .* GB/s", outcome.err)
        self.assertEqual(rows, ["pinned, 4 MiB to the GPU", "pageable, 4 MiB to the GPU"], outcome)
        self.assertTrue(outcome.err.endswith("\r\x1b[K\r\x1b[2A\x1b[J"), outcome)
        self.assertRegex(outcome.err, r", about [0-9]+ s left\x1b\[K")
        for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9]*[A-Zm]", "", outcome.err)):
            self.assertLess(len(line), 60)

    def test_processes(self):
        """How long the rest takes is known once one is done."""
        outcome = self.finish(self.start(*SMALL, "--processes", "3", terminal=Terminal()))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.err.startswith("\rprocess 1 of 3\x1b[K"), outcome)
        self.assertRegex(outcome.err, r"\rprocess 2 of 3, about [0-9]+ s left\x1b\[K\r.*process 3 of 3, about ")

    def test_processes_in_a_narrow_window(self):
        """The role goes rather than that the line takes two."""
        arguments = (*SMALL, "--interleave", XFERBENCH, "--processes", "2", "--json", "new.json", "--baseline-json", "old.json")
        wide, narrow = (
            self.finish(self.start(*arguments, terminal=self.sized_terminal(24, columns))).err
            for columns in (80, 40)
        )
        self.assertRegex(wide, r"\(\w+\), about [0-9]+ s left\x1b\[K\r")
        self.assertRegex(narrow, r"\rprocess 2 of 2, about [0-9]+ s left\x1b\[K\r")

    def test_nothing_where_no_line_can_be_wiped_out(self):
        """On a dumb terminal, and in a window so narrow that lines take several."""
        for terminal, name in ((Terminal(), "dumb"), (self.sized_terminal(24, 39), "xterm")):
            outcome = self.finish(self.start(*self.SEVERAL, terminal=terminal, environment={"TERM": name}))
            self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)

    def assert_shows_nothing(self, process):
        """Until another, begun when this one had been at it for a while, shows its line."""
        wait_until(lambda: process.poll() is not None or processor_time(process.pid) > 0.2)
        terminal = Terminal()
        other = self.start(*ENDLESS, terminal=terminal)
        terminal.read_until(b"[1/2]")
        for each in (other, process):
            each.send_signal(signal.SIGINT)
        self.finish(other)
        outcome = self.assert_ended(128 + signal.SIGINT, process)
        self.assertEqual(outcome.err, "", outcome)
        self.assertIs(self.load("out.json")["interrupted"], True, outcome)

    def test_quiet(self):
        self.assert_shows_nothing(self.start(*ENDLESS, "--json", "out.json", "--quiet", terminal=Terminal()))

    def test_not_into_a_pipe(self):
        self.assert_shows_nothing(self.start(*ENDLESS, "--json", "out.json"))


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
        self.assertEqual(figure(first, "bandwidth")["n"], len(first["samples_s"]))
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
                self.assert_words(outcome.out, ("interrupted by a signal: 1 of 2 cases were measured, 1 not run\n",))
                self.assertNotRegex(outcome.out, r"(?m)^ *(pinned .* d2h|skipped) ")
                with open(self.path("out.csv"), encoding="utf-8", newline="") as file:
                    lines = list(csv.DictReader(file))
                self.assertEqual([line["stop_reason"] for line in lines], ["interrupted", ""])
                self.assert_folder_has("out.json", "out.csv")

    def test_standard_output_is_written(self):
        outcome = self.interrupted(signal.SIGINT, "--json", "-")
        self.check_document(self.load_text(outcome.out))

    def test_timeout(self):
        """It signals the program, and then its own group, of which the program is."""
        for _ in range(5):
            terminal = Terminal()
            process = self.start(*ENDLESS, "--json", "out.json", under=("timeout", "1h"), terminal=terminal)
            terminal.read_until(b" samples, ")
            process.send_signal(signal.SIGALRM)  # the hour is over
            self.assert_ended(124, process)
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


if __name__ == "__main__":
    harness.main()
