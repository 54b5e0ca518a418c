#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: a signal ends the run, and the process that compiles with it.
usage: test_interrupt.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import select
import signal

from stand_in import ENDLESS, KERNEL_ROW, OVERRIDE, SMALL, STAND_IN, HipCase, HipOutcome, harness

# Half of the longest that a compilation may take: what ended it was not that limit.
PROMPT_S = 30


class Interrupt(HipCase):
    """A signal in the middle of a run: it ends, and the process that compiles with it."""

    def begin(self, *arguments, until=None, **environment):
        """Starts it at the head of a process group, and returns when it has begun to measure, or
        when the file `until`, a FIFO, was written to."""
        folder = self.make_folder()
        environment |= {OVERRIDE: STAND_IN, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        terminal = harness.Terminal()
        process = self.start(*arguments, environment=environment, terminal=terminal, cwd=folder)
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

    def others(self, process):
        """The processes that the program has started."""
        group = harness.processes_of_group(process.pid)
        self.assertIn(process.pid, group)
        self.assertGreater(len(group), 1, "there is no process that compiles")
        return [pid for pid in group if pid != process.pid]

    def assert_gone(self, process, others):
        harness.wait_until(lambda: all(map(harness.has_ended, others)), PROMPT_S)
        self.assertEqual(harness.processes_of_group(process.pid), [])

    def ended(self, process, folder, codes):
        return self.check_outcome(HipOutcome(self.wait_for(process), folder), codes)

    def interrupt(self, number):
        process, folder = self.begin(*ENDLESS, "--json", "out.json")
        others = self.others(process)
        os.killpg(process.pid, number)
        outcome = self.ended(process, folder, (128 + number,))
        self.assert_gone(process, others)
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

    def hang(self):
        """One whose compiler does not return; and the processes that it waits for."""
        fifo = os.path.join(self.make_folder(), "fifo")
        os.mkfifo(fifo)
        hang = {"XB_STANDIN_RTC_HANG": "1", "XB_STANDIN_RTC_COUNT": fifo}
        process, folder = self.begin(*ENDLESS, "--json", "out.json", until=fifo, **hang)
        others = self.others(process)
        self.assertEqual(len(others), 2, "one that waits, one that compiles")
        return process, folder, others

    def test_compiler_that_hangs(self):
        """What ends the program ends the compilation that it waits for."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                process, folder, others = self.hang()
                os.killpg(process.pid, number)
                process.wait(PROMPT_S)
                self.assert_gone(process, others)
                outcome = self.ended(process, folder, (128 + number,))
                self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)
                self.assertIn("interrupted", outcome.rows()[0]["reason"], outcome)

    def test_compiler_that_hangs_when_the_program_is_killed(self):
        """Nothing can be done any more, and yet no process remains."""
        process, _, others = self.hang()
        process.kill()
        process.wait(PROMPT_S)
        self.assert_gone(process, others)

    def test_killed(self):
        process, _ = self.begin(*ENDLESS)
        others = self.others(process)
        process.kill()
        self.assertEqual(process.wait(PROMPT_S), -signal.SIGKILL)
        self.assert_gone(process, others)

    def test_end_of_a_run(self):
        """Nor after one that was let be: what holds its output open would keep a pipe's reader."""
        outcome = self.check_outcome(self.run_program(*SMALL, *KERNEL_ROW))
        self.assertEqual(outcome.code, 0, outcome)


if __name__ == "__main__":
    harness.main()
