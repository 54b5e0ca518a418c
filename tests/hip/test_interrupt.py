#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: a signal ends the run, and the process that compiles with it.
usage: test_interrupt.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import select
import signal

from stand_in import ENDLESS, OVERRIDE, STAND_IN, HipCase, HipOutcome, harness

# Half of the longest that a compilation may take: what ended it was not that limit.
PROMPT_S = 30
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Interrupt(HipCase):
    """A signal in the middle of a run: it ends, and the process that compiles with it."""

    def begin(self, until=None, **environment):
        """Starts it at the head of a process group, and returns when it has begun to measure, or
        when the file `until`, a FIFO, was written to."""
        folder = self.make_folder()
        environment |= {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        terminal = harness.Terminal()
        process = self.start(*ENDLESS, "--json", "out.json", environment=environment, terminal=terminal, cwd=folder)
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
        outcome = HipOutcome(self.wait_for(process), folder)
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
