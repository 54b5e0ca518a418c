#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whoever kills the program outright leaves nothing behind that it started.
usage: test_orphans.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import os
import signal
import unittest

import harness
from harness import ENDLESS, STAND_IN, XFERBENCH, Case, children_of, processes, wait_until

DEVICES = "/sys/bus/pci/devices"
PCI_DEVICES = sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else []


def descendants(pid):
    """All of them, the nearest first."""
    found = children_of(pid)
    for child in found:
        found += children_of(child)
    return found


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it has ended
        return []


def is_measuring(pid):
    """Whether the process is this program, started by it or by a script."""
    command = command_of(pid)
    return command[:1] == [XFERBENCH.encode()] and b"--json=-" in command


class OrphanCase(Case):
    def wait_for_descendants(self, process, is_so):
        """Until the list of them is what is wanted; all are ended with the test."""
        found = []

        def look():
            found[:] = descendants(process.pid)
            return is_so(found) or process.poll() is not None

        wait_until(look)
        self.addCleanup(self.kill_all, found)
        self.assertIsNone(process.poll(), "it ended before it was killed")
        return found

    @staticmethod
    def kill_all(pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_alone(self, process):
        """The process, and nobody else of its group."""
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def assert_end(self, pids):
        wait_until(lambda: not set(pids) & processes().keys())


class Interleaved(OrphanCase):
    def start_with(self, script):
        path = self.write("baseline.sh", script)
        os.chmod(path, 0o755)
        return self.start(
            *(*ENDLESS, "--processes", "2", "--interleave", path),
            *("--json", "candidate.json", "--baseline-json", "baseline.json"),
        )

    def check(self, script):
        process = self.start_with(script)
        found = self.wait_for_descendants(process, lambda pids: any(map(is_measuring, pids)))
        self.kill_alone(process)
        self.assert_end(found)

    def test_script_that_waits_for_the_program(self):
        """The kernel tells the shell alone that its parent is dead."""
        self.check(f'#!/bin/sh\n"{XFERBENCH}" "$@"\nexit $?\n')

    def test_script_that_becomes_the_program(self):
        self.check(f'#!/bin/sh\nexec "{XFERBENCH}" "$@"\n')

    def test_script_that_heeds_nothing(self):
        """It is killed some seconds later."""
        self.check(f"""#!/bin/sh\ntrap '' TERM\n"{XFERBENCH}" "$@" &\nwhile :; do wait; sleep 1; done\n""")

    def test_the_whole_group_is_killed(self):
        """Nor does the guardian go with it: it is of no group that anybody would kill."""
        process = self.start_with(f'#!/bin/sh\n"{XFERBENCH}" "$@"\nexit $?\n')
        found = self.wait_for_descendants(process, lambda pids: len(pids) == 3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assert_end(found)


@unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
class Compiler(OrphanCase):
    """hipRTC does not return, and heeds no signal."""

    def start_hung(self, *arguments, environment=None):
        environment = (environment or {}) | {
            "XB_STANDIN_HANG": "hiprtcCompileProgram:1",
            "XFERBENCH_HIP_LIBRARY": STAND_IN,
            "XDG_CACHE_HOME": self.path("cache"),
        }
        return self.start(*arguments, environment=environment)

    def is_hung(self, pid):
        """Whether the process is in the stand-in's compiler, which blocks SIGALRM alone."""
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                blocked = [line.split()[1] for line in file if line.startswith("SigBlk:")]
        except OSError:  # it has ended
            return False
        return bool(blocked) and int(blocked[0], 16) == 1 << (signal.SIGALRM - 1)

    def wait_for_hung(self, process, count):
        return self.wait_for_descendants(
            process, lambda pids: len(pids) == count and self.is_hung(pids[-1])
        )

    def test_run(self):
        process = self.start_hung("--backend", "hip", "--mode", "zero-copy", "--size", "64K")
        found = self.wait_for_hung(process, 2)
        self.kill_alone(process)
        self.assert_end(found)

    def test_waiting_process(self):
        """The one that compiles goes with it, and the run says so and goes on."""
        process = self.start_hung(
            *("--backend", "hip", "--mode", "pinned,zero-copy", "--direction", "h2d", "--device", "0"),
            *("--size", "64K", "--samples", "1", "--warm-up", "1ms", "--json", "out.json"),
        )
        found = self.wait_for_hung(process, 2)
        os.kill(found[0], signal.SIGKILL)
        self.assert_end(found)
        self.finish(process)
        self.assertEqual([row["status"] for row in self.load("out.json")["results"]], ["ok", "skipped"])

    def test_link(self):
        if not PCI_DEVICES:
            self.skipTest("no PCI device on this machine: link tests nothing")
        process = self.start_hung(
            *("link", "--backend", "hip", "--deadline", "10m"),
            environment={"XB_STANDIN_DEVICES": "1", "XB_STANDIN_PCI": PCI_DEVICES[0]},
        )
        found = self.wait_for_hung(process, 3)
        self.kill_alone(process)
        self.assert_end(found)


if __name__ == "__main__":
    harness.main()
