#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals end the measuring, not the program: what was measured is written, and nobody is left.
usage: test_signals.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import fcntl
import os
import select
import signal
import subprocess
import time

import harness
from harness import (ENDLESS, FEW, GUARD_S, ONE, SMALL, XFERBENCH, Case, Interleaving, Terminal, children_of, figure,
                     has_ended, kill, rows_of_csv, stat_of, wait_until)


class Interrupt(Case):
    def begin(self, *arguments, **options):
        """A run that is at its samples."""
        terminal = Terminal()
        process = self.start(*ENDLESS, *arguments, terminal=terminal, **options)
        terminal.read_until(b" samples, ")
        return process

    def check_document(self, document):
        self.assertIs(document["interrupted"], True)
        first, second = document["results"]
        self.assertEqual((first["status"], first["verified"]), ("ok", True))
        self.assertEqual(first["stop_reason"], "interrupted")
        self.assertEqual(figure(first, "bandwidth")["n"], len(first["samples_s"]))
        self.assertIn(len(first["samples_s"]), range(1, 1000000))
        self.assertTrue(any("interrupted" in warning for warning in first["warnings"]))
        self.assertEqual((second["status"], "interrupted" in second["reason"]), ("skipped", True))

    def test_files_are_written(self):
        """It ends by its own exit: one that the signal killed has a negative code here."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.put_old("out.json")
                process = self.begin("--json", "out.json", "--csv", "out.csv")
                process.send_signal(number)
                outcome = self.assert_ended(128 + number, process)
                self.check_document(self.load("out.json"))
                self.assertIn("interrupted by a signal: 1 of 2 cases were measured, 1 not run\n", outcome.out)
                self.assertNotRegex(outcome.out, r"(?m)^ *(pinned .* d2h|skipped) ")
                lines = rows_of_csv(self.read("out.csv"))
                self.assertEqual([line["stop_reason"] for line in lines], ["interrupted", ""])
                self.assert_folder_has("out.json", "out.csv")

    def test_standard_output_is_written(self):
        """Nor was it the deadline that came."""
        process = self.begin("--json", "-", "--deadline", "60m")
        process.send_signal(signal.SIGINT)
        document = self.load_text(self.assert_ended(128 + signal.SIGINT, process).out)
        self.check_document(document)
        self.assertIs(document["deadline_met"], True)

    def test_timeout(self):
        """It signals the program, and then its own group, of which the program is."""
        for _ in range(3):
            process = self.begin("--json", "out.json", under=("timeout", "1h"))
            process.send_signal(signal.SIGALRM)  # the hour is over
            self.assert_ended(124, process)
            self.check_document(self.load("out.json"))
            self.assert_folder_has("out.json")
            os.unlink(self.path("out.json"))

    def test_the_second_ends_it(self):
        """Where nobody reads what it writes. Sent until then: soon after the first it is the same."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with os.fdopen(writer, "wb", 0) as pipe:
            pipe.write(bytes(fcntl.fcntl(pipe, 1032)))  # F_GETPIPE_SZ: it is full
            process = self.begin("--json", "-", stdout=pipe)
        signal_until_ended(self, process, signal.SIGTERM)
        self.assertEqual(process.returncode, -signal.SIGTERM)


def signal_until_ended(test, process, number, before=lambda: None):
    until = time.monotonic() + GUARD_S
    while process.poll() is None:
        test.assertLess(time.monotonic(), until, "it hangs")
        before()
        process.send_signal(number)
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            pass


class Several(Interleaving):
    """Signals to several processes: a stub in place of one tells a FIFO when it is there, and what happens to it."""

    ANSWER = (
        "wait()\nsys.stdout.write(open('one.json').read())\nsys.stdout.flush()\n"
        "if signal.sigpending(): wait()\nsay('bye')\n"
    )

    def stub(self, behaviour):
        os.mkfifo(self.path("told"))
        return self.python(
            "told = os.open('told', os.O_WRONLY)\n"
            "def say(text): os.write(told, text.encode() + b'\\n')\n"
            "ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, ending)\n"
            "def wait(): say(signal.Signals(signal.sigwait(ending)).name)\n"
            f"say('here %d' % os.getpid())\n{behaviour}"
        )

    def begin(self, other, **options):
        """The program, and the first process of its baseline."""
        process = self.start(*SMALL, "--processes", "3", "--interleave", other, *self.FILES, **options)
        # For writing as well: the reading does not end when a stub does.
        self.told = os.fdopen(os.open(self.path("told"), os.O_RDWR), "rb", 0)
        self.addCleanup(self.told.close)
        return process, int(self.hear().split()[1])

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
        self.write_json("one.json", document | {"interrupted": True})
        process, pid = self.begin(self.stub(self.ANSWER))
        send(process.pid, number)
        self.assertEqual([self.hear(), self.hear()], ["SIGTERM", "bye"])
        done = self.assert_ended(128 + number, process)
        self.assert_gone(pid)
        baseline, candidate = self.load("baseline.json"), self.load("candidate.json")
        self.assertEqual((baseline["interrupted"], candidate["interrupted"]), (True, True))
        self.assertEqual((self.fates(baseline), candidate["processes"]), ([(0, None, True)], []))
        self.assertIn("interrupted by a signal: 1 of 3 processes", done.out)
        self.assert_folder_has("baseline.json", "candidate.json", "one.json", "stub", "told")
        for name in os.listdir(self.folder):
            os.unlink(self.path(name))

    def test_to_the_program_and_to_its_group(self):
        """The group as a terminal sends it: each process hears of it once."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.interrupted(os.kill, number)
        self.interrupted(os.killpg, signal.SIGINT)

    def test_to_a_shell_that_waits(self):
        """What the shell runs hears it too, and its results are not lost."""
        self.result("one.json")
        stub = self.stub(self.ANSWER)
        process, _ = self.begin(self.script(f'{stub} "$@"; exit 0'))
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual([self.hear(), self.hear()], ["SIGTERM", "bye"])
        self.assert_ended(143, process)
        self.assertTrue(self.load("baseline.json")["processes"][0]["document"])

    def test_the_second_ends_the_process_at_once(self):
        """And what was measured before is written."""
        self.result("one.json")
        process, _ = self.begin(self.stub("if os.path.exists('once'): wait(); wait()\nopen('once', 'w')\n"
                                          "sys.stdout.write(open('one.json').read())\n"), **self.hastened())
        pid = int(self.hear().split()[1])
        process.terminate()
        self.assertEqual(self.hear(), "SIGTERM")
        self.put_forward(1)  # sooner it would be the same request
        process.terminate()
        self.assert_ended(143, process)
        self.assert_gone(pid)
        self.assertEqual(self.fates(self.load("baseline.json")), [(0, None, True), (None, "SIGKILL", False)])
        self.assertEqual(self.fates(self.load("candidate.json")), [(0, None, True)] * 2)

    def test_process_that_does_not_heed(self):
        """It has 10 s. One that is stopped hears it too."""
        process, pid = self.begin(self.stub("wait()\nput_forward(10)\nwait()\n"), **self.hastened())
        process.terminate()
        self.assert_ended(143, process)
        self.assert_gone(pid)
        self.assertEqual(self.fates(self.load("baseline.json")), [(None, "SIGKILL", False)])
        self.assertIs(self.load("candidate.json")["interrupted"], True)
        os.unlink(self.path("told"))
        process, pid = self.begin(self.stub("os.kill(os.getpid(), signal.SIGSTOP)\nwait()\n"))
        wait_until(lambda: stat_of(pid)[0] == "T")
        process.terminate()
        self.assertEqual(self.hear(), "SIGTERM")
        self.assert_ended(143, process)

    def test_the_third_ends_it(self):
        """Where nobody reads its table, of more than the pipe holds."""
        sizes = ",".join(f"{4 * n}K" for n in range(1, 65))
        reader, writer = self.narrow_pipe()
        with os.fdopen(writer, "wb") as pipe:
            process = self.start(*ONE, *FEW, "--size", sizes, "--columns", "all", "--processes", "2", stdout=pipe,
                                 **self.hastened())
        self.assertTrue(select.select([reader], [], [], GUARD_S)[0], "it hangs")
        # One that comes within a second of another is the same request.
        signal_until_ended(self, process, signal.SIGTERM, lambda: self.put_forward(1))
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
        process = self.start(*SMALL, "--processes", "2", "--interleave", "./stub", *self.FILES, "--quiet",
                             **self.hastened())
        wait_until(lambda: os.path.exists(self.path("there")) and self.read("there").endswith("\n"))
        if os.path.exists(self.path("refused")):
            self.skipTest("no process may trace another here")
        process.terminate()
        signal_until_ended(self, process, 0, lambda: self.put_forward(1))
        self.assert_ended(143, process)
        baseline = self.load("baseline.json")
        self.assertEqual(self.fates(baseline), [(None, None, False)])
        self.assertIn("cannot be ended", baseline["processes"][0]["failure"])

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

    def end_long(self, end):
        """Ends a long run by `end`. Says whether its process left by itself: it is killed where that takes it
        10 s, as on a machine busy with much else; its results count all the same."""
        process = self.start(*ENDLESS, "--processes", "3", "--json", "out.json")
        pid, name = self.child_of(process)
        self.assertEqual(name, os.path.basename(XFERBENCH)[:15])
        end(process, pid)
        self.assert_ended(143, process)
        self.assert_gone(pid)
        merged = self.load("out.json")
        self.assertIs(merged["interrupted"], True)
        self.assertIn(self.fates(merged), ([(143, None, True)], [(None, "SIGKILL", True)]))
        self.assertIs(merged["processes"][0]["document"]["interrupted"], True)
        self.assert_folder_has("out.json")
        return merged["processes"][0]["exit_code"] == 143

    def test_real_processes(self):
        """Interrupted whenever it comes. And as batch systems send it: each process hears of it by itself and
        from its parent, which is stopped meanwhile, else it may begin the next process between the two."""

        def everybody(process, pid):
            process.send_signal(signal.SIGSTOP)
            os.kill(pid, signal.SIGTERM)
            process.terminate()
            process.send_signal(signal.SIGCONT)

        for end in (lambda process, pid: process.terminate(), everybody):
            self.assertIn(True, [self.end_long(end) for _ in range(5)], "each was killed")

    def test_to_one_process_alone(self):
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
