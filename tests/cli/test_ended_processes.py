#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals to several processes.
usage: test_ended_processes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import fcntl
import os
import select
import signal
import subprocess
import time

import harness
from harness import ENDLESS, FEW, GUARD_S, ONE, SMALL, XFERBENCH, children_of, has_ended, kill, stat_of, wait_until
from processes import ProcessesCase


class Ends(ProcessesCase):
    """Whoever gets one, nobody is left and what was measured is written."""

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

    def begin(self, other, *arguments, **options):
        process = self.start(
            *SMALL, "--processes", "3", "--interleave", other, "--json", "candidate.json", "--baseline-json",
            "baseline.json", *arguments, **options,
        )
        # For writing as well: the reading does not end when a stub does.
        self.told = os.fdopen(os.open(self.path("told"), os.O_RDWR), "rb", 0)
        self.addCleanup(self.told.close)
        return process

    def hear(self):
        line = b""
        while not line.endswith(b"\n"):
            self.assertTrue(select.select([self.told], [], [], GUARD_S)[0], "it hangs")
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
        self.write_json("one.json", document)
        process = self.begin(self.stub(self.ANSWER))
        pid = self.hear().split()[1]
        send(process.pid, number)
        self.assertEqual(self.hear(), "SIGTERM")
        self.assertEqual(self.hear(), "bye")
        done = self.assert_ended(128 + number, process)
        self.assert_gone(pid)
        baseline, candidate = self.load("baseline.json"), self.load("candidate.json")
        self.assertEqual((baseline["interrupted"], candidate["interrupted"]), (True, True))
        self.assertEqual(self.fates(baseline), [(0, None, True)])
        self.assertEqual(candidate["processes"], [])
        self.assertIn("interrupted by a signal: 1 of 3 processes", done.out)
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
        self.assert_ended(143, process)
        self.assertTrue(self.load("baseline.json")["processes"][0]["document"])

    def pass_time_until(self, process, is_enough, number=0):
        """Second by second of its clock, with a signal after each where one is named: one that comes
        within a second of another is the same request."""
        until = time.monotonic() + GUARD_S
        while not is_enough():
            self.assertLess(time.monotonic(), until, "it hangs")
            self.put_forward(1)
            process.send_signal(number)
            try:
                process.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                pass

    def test_second_signal_ends_the_process_at_once(self):
        """And what was measured before is written."""
        self.result("one.json")
        process = self.begin(self.stub("if os.path.exists('once'): wait(); wait()\nopen('once', 'w')\n"
                                       "sys.stdout.write(open('one.json').read())\n"), **self.hastened())
        self.hear()
        pid = int(self.hear().split()[1])
        process.terminate()
        self.assertEqual(self.hear(), "SIGTERM")
        self.put_forward(1)  # sooner it would be the same request
        process.terminate()
        self.assert_ended(143, process)
        self.assert_gone(pid)
        baseline, candidate = self.load("baseline.json"), self.load("candidate.json")
        self.assertEqual(self.fates(baseline), [(0, None, True), (None, "SIGKILL", False)])
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 2)

    def test_process_that_does_not_heed_a_signal(self):
        """It has 10 s."""
        process = self.begin(self.stub("wait()\nput_forward(10)\nwait()\n"), **self.hastened())
        pid = int(self.hear().split()[1])
        process.terminate()
        self.assert_ended(143, process)
        self.assert_gone(pid)
        self.assertEqual(self.fates(self.load("baseline.json")), [(None, "SIGKILL", False)])
        self.assertIs(self.load("candidate.json")["interrupted"], True)

    def test_process_that_is_stopped(self):
        process = self.begin(self.stub("os.kill(os.getpid(), signal.SIGSTOP)\nwait()\n"))
        pid = int(self.hear().split()[1])
        wait_until(lambda: stat_of(pid)[0] == "T")
        process.terminate()
        self.assertEqual(self.hear(), "SIGTERM")
        self.assert_ended(143, process)

    def test_third_signal_ends_it(self):
        """Where nobody reads its table, of more than the pipe holds."""
        sizes = ",".join(f"{4 * n}K" for n in range(1, 65))
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        with os.fdopen(writer, "wb") as pipe:
            process = self.start(
                *ONE, *FEW, "--size", sizes, "--columns", "all", "--processes", "2", stdout=pipe, **self.hastened()
            )
        self.assertTrue(select.select([reader], [], [], GUARD_S)[0], "it hangs")
        self.pass_time_until(process, lambda: process.poll() is not None, signal.SIGTERM)
        self.assert_ended(-signal.SIGTERM, process)

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
        self.addCleanup(lambda: kill(int(self.read("tracer"))))
        process = self.start(
            *SMALL, "--processes", "2", "--interleave", "./stub", "--json", "candidate.json", "--baseline-json",
            "baseline.json", "--quiet", **self.hastened(),
        )
        wait_until(lambda: os.path.exists(self.path("there")) and self.read("there").endswith("\n"))
        if os.path.exists(self.path("refused")):
            self.skipTest("no process may trace another here")
        process.terminate()
        self.pass_time_until(process, lambda: process.poll() is not None)
        self.assert_ended(143, process)
        baseline = self.load("baseline.json")
        self.assertEqual(self.fates(baseline), [(None, None, False)])
        self.assertIn("cannot be ended", baseline["processes"][0]["failure"])

    def test_parent_that_dies(self):
        process = self.begin(self.stub("wait()\nsay('leaving')\n"))
        self.hear()
        process.kill()
        self.assert_ended(-signal.SIGKILL, process)
        self.assertEqual([self.hear(), self.hear()], ["SIGTERM", "leaving"])

    def child_of(self, process):
        """The process that runs, once it catches signals itself."""
        found = []

        def is_ready():
            for pid in children_of(process.pid):
                try:
                    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                        if "--json=-" not in file.read():  # the guardian, or still a copy of its parent
                            continue
                    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                        status = dict(line.split(None, 1) for line in file if len(line.split(None, 1)) == 2)
                except (FileNotFoundError, ProcessLookupError):  # one before it, which is gone now
                    continue
                found[:] = (pid, status["Name:"].strip())
                return int(status["SigCgt:"], 16) >> (signal.SIGTERM - 1) & 1
            return False

        wait_until(is_ready)
        return found

    def begin_long(self):
        return self.start(*ENDLESS, "--processes", "3", "--json", "out.json")

    def check_interrupted(self):
        """Whether the process left by itself. It is killed where that takes it 10 s, as on a machine
        busy with much else; its results count all the same."""
        merged = self.load("out.json")
        self.assertIs(merged["interrupted"], True)
        self.assertIn(self.fates(merged), ([(143, None, True)], [(None, "SIGKILL", True)]))
        self.assertIs(merged["processes"][0]["document"]["interrupted"], True)
        self.assert_folder_has("out.json")
        return merged["processes"][0]["exit_code"] == 143

    def test_real_processes_are_interrupted(self):
        """Whenever it comes: a file, and nobody left."""

        def interrupted():
            process = self.begin_long()
            pid, name = self.child_of(process)
            self.assertEqual(name, os.path.basename(XFERBENCH)[:15])
            process.terminate()
            self.assert_ended(143, process)
            left = self.check_interrupted()
            self.assert_gone(pid)
            return left

        self.assertTrue(any(interrupted() for _ in range(5)), "each was killed")

    def test_signal_to_everybody(self):
        """As batch systems send it: each hears of it by itself and from its parent."""
        left = []
        for _ in range(10):
            process = self.begin_long()
            pid, _ = self.child_of(process)
            # Stopped meanwhile: else it may begin the next process between the two.
            process.send_signal(signal.SIGSTOP)
            os.kill(pid, signal.SIGTERM)
            process.terminate()
            process.send_signal(signal.SIGCONT)
            self.assert_ended(143, process)
            left.append(self.check_interrupted())
        self.assertIn(True, left, "each was killed")

    def test_signal_to_one_process_alone(self):
        """Nobody asked this program to stop: it is that process's failure, and what it wrote counts."""
        process = self.start(*ENDLESS, "--processes", "2", "--json", "out.json", "--quiet")
        numbers = (signal.SIGTERM, signal.SIGINT)
        for number in numbers:
            pid, _ = self.child_of(process)
            os.kill(pid, number)
            wait_until(lambda: has_ended(pid))
        done = self.assert_ended(1, process)
        merged = self.load("out.json")
        self.assertIs(merged["interrupted"], False)
        self.assertEqual(self.fates(merged), [(128 + number, None, True) for number in numbers])
        for at, number in enumerate(numbers):
            failure = f"it was ended by {number.name}, and wrote what it had measured"
            self.assertEqual(merged["processes"][at]["failure"], failure)
            self.assertIn(f"xferbench: process {at + 1} of 2: {failure}\n", done.err)


if __name__ == "__main__":
    harness.main()
