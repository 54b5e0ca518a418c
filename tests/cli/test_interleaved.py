#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--interleave: two programs in turn.
usage: test_interleaved.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import fcntl
import json
import os
import pty
import re
import shlex
import select
import shutil
import signal
import sys
import termios

import harness
from harness import SMALL, XFERBENCH, Terminal, base_environment, has_ended, kill
from processes import PROGRAM, ProcessesCase


class Interleaved(ProcessesCase):
    """Two programs in turn."""

    # By the shell alone: while it starts another program it may block signals itself.
    SIGNALS = (
        'while read -r key value; do case $key in Sig*) echo "$key $value";; esac; done </proc/$$/status >signals\n'
    )

    def signals(self):
        lines = (line.split() for line in self.read("signals").splitlines())
        return {key: int(value, 16) for key, value in lines if key in ("SigIgn:", "SigBlk:")}

    def test_other_setting(self):
        script = self.script(f'exec {PROGRAM} "$@" --host-memory alloc')
        baseline, candidate, done = self.interleave(0, script, "--verbose")
        self.assertEqual((baseline["role"], candidate["role"]), ("baseline", "candidate"))
        self.assertEqual(baseline["interleaved_with"], os.path.realpath(XFERBENCH))
        self.assertEqual(candidate["interleaved_with"], script)
        self.assertEqual(baseline["config"]["host-memory"], ["alloc"])
        self.assertNotEqual(candidate["config"]["host-memory"], ["alloc"])
        self.assertEqual([len(m["processes"]) for m in (baseline, candidate)], [2, 2])
        self.assertEqual([m["results"][0]["variant"] for m in (baseline, candidate)], ["alloc", "registered"])
        self.assertLess(done.out.index("  baseline: "), done.out.index("  candidate: "))

    def test_program_on_the_path(self):
        os.mkdir(self.path("bin"))
        os.symlink(XFERBENCH, self.path("bin/other-build"))
        path = ":".join((self.path("nowhere"), self.path("bin"), base_environment()["PATH"]))
        files = ("--json", "c.json", "--baseline-json", "b.json")
        arguments = (*SMALL, "--processes", "2", "--interleave", "other-build", *files)
        self.assert_succeeds(*arguments, environment={"PATH": path})
        self.assertEqual(self.load("c.json")["interleaved_with"], self.path("bin/other-build"))

    def test_order(self):
        """As the progress tells it: which of the two goes first changes from pair to pair."""
        script = self.script(f'exec {PROGRAM} "$@"')
        files = ("--json", "a", "--baseline-json", "b")
        arguments = (*SMALL, "--processes", "3", "--interleave", script, *files)
        told = self.assert_succeeds(*arguments, terminal=Terminal()).err
        self.assertEqual(
            re.findall(r"process (\d) of 3 \((\w+)\)", told),
            [("1", "baseline"), ("1", "candidate"), ("2", "candidate"), ("2", "baseline"),
             ("3", "baseline"), ("3", "candidate")],
        )

    def test_processes_are_fresh_and_alone(self):
        """Each has a number of its own, and nobody is beside it but its guardian."""
        script = self.script(
            "echo $$ $(cat /proc/$PPID/task/$PPID/children) >>log\n" f'exec {PROGRAM} "$@"'
        )
        self.interleave(0, script, processes=3)
        lines = [line.split() for line in self.read("log").splitlines()]
        self.assertEqual([len(line) for line in lines], [3, 3, 3])
        self.assertTrue(all(own == second for own, _, second in lines))
        self.assertEqual(len({own for own, _, _ in lines}), 3)

    def test_options_arrive_as_they_were_given(self):
        script = self.script('for word in "$@"; do printf "%s\\n" "$word" >>log; done; exit 3')
        self.assert_ends(
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
            f"{shlex.quote(sys.executable)} list.py\n"
            "cut -d' ' -f1,5 /proc/$$/stat >group\n"
            "cat >input\n"
            f'exec {PROGRAM} "$@"'
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
        script = self.script(f'{self.SIGNALS}exec {PROGRAM} "$@"')
        self.interleave(0, script, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        ignored = self.signals()["SigIgn:"]
        self.assertTrue(ignored >> (signal.SIGHUP - 1) & 1)
        self.assertFalse(ignored >> (signal.SIGPIPE - 1) & 1)

    def test_shell_that_waits(self):
        """A script need not exec."""
        script = self.script(f'{PROGRAM} "$@"; exit $?')
        baseline, _, _ = self.interleave(0, script)
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)

    def test_what_a_script_leaves_behind(self):
        """It holds standard output for long. In the script's group it ends with it."""
        for starter, ends in (("", True), ("setsid ", False)):
            with self.subTest(starter=starter):
                script = self.script(
                    f"{starter}sleep 600 2>/dev/null &\necho $! >>{shlex.quote(self.path('left'))}\n"
                    f'exec {PROGRAM} "$@"'
                )
                baseline, _, _ = self.interleave(0, script)
                self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)
                left = [int(line) for line in self.read("left").split()]
                for pid in left:
                    self.addCleanup(kill, pid)
                self.assertEqual([has_ended(pid) for pid in left], [ends] * 2)
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
            f'exec {PROGRAM} "$@" >between$turn'
        )
        baseline, _, _ = self.interleave(0, script)
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)

    def test_script_that_reads_the_terminal(self):
        """The group is in the background there: it would be stopped for good."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        script = self.script(f'read -r line </dev/tty\nexec {PROGRAM} "$@"')
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
        script = self.script(f'echo rubbish >new; mv new own; exec {PROGRAM} "$@"')
        files = ("--json", "candidate.json", "--baseline-json", "baseline.json")
        self.assert_succeeds(*SMALL, "--processes", "2", "--interleave", script, *files, program="./own")
        self.assertEqual(self.fates(self.load("candidate.json")), [(0, None, True)] * 2)

    def test_script_without_its_first_line(self):
        self.write("bare", f'exec {PROGRAM} "$@"\n')
        os.chmod(self.path("bare"), 0o755)
        baseline, _, _ = self.interleave(0, "./bare")
        self.assertEqual(self.fates(baseline), [(0, None, True)] * 2)


if __name__ == "__main__":
    harness.main()
