#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whoever kills the program outright leaves nothing behind that it started.
usage: test_orphans.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import signal

import harness
from harness import (ENDLESS, PROGRAM, XFERBENCH, Case, Interleaving, children_of, kill, needs_stand_in, processes,
                     stand_in, wait_until)

DEVICES = "/sys/bus/pci/devices"
PCI_DEVICES = sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else []


class Orphans(Case):
    def wait_for_descendants(self, process, is_so):
        """Until the list of them, the nearest first, is what is wanted; all are ended with the test."""
        found = []

        def look():
            found[:] = children_of(process.pid)
            for child in found:
                found.extend(children_of(child))
            return is_so(found) or process.poll() is not None

        wait_until(look)
        self.addCleanup(lambda: [kill(pid) for pid in found])
        self.assertIsNone(process.poll(), "it ended before it was killed")
        return found

    def assert_end(self, pids):
        wait_until(lambda: not set(pids) & processes().keys())

    def kill_alone(self, process, found):
        """The process, and nobody else of its group."""
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.assert_end(found)

    @staticmethod
    def is_measuring(pid):
        """Whether the process is this program, started by it or by a script."""
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().split(b"\0")
        except OSError:  # it has ended
            return False
        return command[:1] == [XFERBENCH.encode()] and b"--json=-" in command

    def start_with(self, script):
        return self.start(*ENDLESS, "--processes", "2", "--interleave", self.script(script), *Interleaving.FILES)

    def test_scripts(self):
        """One that waits, of which the kernel tells the shell alone; one that becomes the program; one that heeds
        nothing, which is killed some seconds later."""
        for script in (
            f'{PROGRAM} "$@"\nexit $?',
            f'exec {PROGRAM} "$@"',
            f"""trap '' TERM\n{PROGRAM} "$@" &\nwhile :; do wait; sleep 1; done""",
        ):
            with self.subTest(script=script):
                process = self.start_with(script)
                found = self.wait_for_descendants(process, lambda pids: any(map(self.is_measuring, pids)))
                self.kill_alone(process, found)

    def test_the_whole_group_is_killed(self):
        """Nor does the guardian go with it: it is of no group that anybody would kill."""
        process = self.start_with(f'{PROGRAM} "$@"\nexit $?')
        found = self.wait_for_descendants(process, lambda pids: len(pids) == 3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assert_end(found)

    # ---- hipRTC that does not return, and heeds no signal ----

    def start_hung(self, count, *arguments, **steering):
        """The program, and its descendants, of which the last is in the stand-in's compiler, which blocks SIGALRM
        alone."""

        def is_hung(pid):
            try:
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                    blocked = [line.split()[1] for line in file if line.startswith("SigBlk:")]
            except OSError:  # it has ended
                return False
            return bool(blocked) and int(blocked[0], 16) == 1 << (signal.SIGALRM - 1)

        process = self.start(*arguments, environment=stand_in(HANG="hiprtcCompileProgram:1", **steering))
        return process, self.wait_for_descendants(process, lambda pids: len(pids) == count and is_hung(pids[-1]))

    @needs_stand_in
    def test_compiler_of_a_run(self):
        self.kill_alone(*self.start_hung(2, "--backend", "hip", "--mode", "zero-copy", "--size", "64K"))

    @needs_stand_in
    def test_process_that_waits_for_the_compiler(self):
        """The one that compiles goes with it, and the run says so and goes on."""
        process, found = self.start_hung(
            2, *("--backend", "hip", "--mode", "pinned,zero-copy", "--direction", "h2d", "--device", "0"),
            *("--size", "64K", "--samples", "1", "--warm-up", "1ms", "--json", "out.json"),
        )
        os.kill(found[0], signal.SIGKILL)
        self.assert_end(found)
        self.finish(process)
        self.assertEqual([row["status"] for row in self.load("out.json")["results"]], ["ok", "skipped"])

    @needs_stand_in
    def test_compiler_of_a_link_test(self):
        if not PCI_DEVICES:
            self.skipTest("no PCI device on this machine: link tests nothing")
        arguments = ("link", "--backend", "hip", "--deadline", "10m")
        self.kill_alone(*self.start_hung(3, *arguments, DEVICES="1", PCI=PCI_DEVICES[0]))


if __name__ == "__main__":
    harness.main()
