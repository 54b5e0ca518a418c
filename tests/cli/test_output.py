#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where results go, what becomes of what was there, and who is told that they could not: files, devices, pipes,
descriptors, of every command that writes. usage: test_output.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import fcntl
import json
import os
import resource
import signal
import stat
import subprocess

import harness
from harness import (ENDLESS, F_SETPIPE_SZ, FEW, HOST, ONE, SMALL, XFERBENCH, Case, Terminal, closing, committed,
                     limit)

# On the host there is no link to judge, so `link` says UNKNOWN; but it writes its report.
LINK = ("link", *HOST)
UNKNOWN = 3
TWO = ("--processes", "2")
COMPARE = ("compare", committed("h200/compare-baseline"), committed("h200/compare-again"))
LONG = (*ONE, "--size", "4K,8K,16K,32K", *FEW)  # what it writes is more than a pipe of a page holds
OLD = harness.OLD_CONTENT.decode()


class Refused(Case):
    """Told before the hours of measuring that the arguments ask for; every file is what it was. More of it:
    tests/golden/usage."""

    def test_what_may_not_be_written(self):
        user = self.unprivileged()
        for place, folder, file, name, *words in (
            ("a", 0o555, 0o666, "new", "EACCES"),
            ("b", 0o555, 0o666, "old", "EACCES"),
            ("c", 0o777, 0o444, "old", "EACCES", "make the file writable"),
        ):
            os.mkdir(self.path(place))
            os.chmod(self.put_old(place, "old"), file)
            os.chmod(self.path(place), folder)
            self.addCleanup(os.chmod, self.path(place), 0o755)
            path = self.path(place, name)
            self.assert_usage(("cannot write", path, *words), *ENDLESS, "--json", path, **user)
            self.assertEqual(os.listdir(self.path(place)), ["old"])
            self.assert_old(place, "old")

    def test_one_file_twice(self):
        """By another name, over an input, over a program; and nobody waits for a FIFO's reader before."""
        self.put_old("old")
        os.link(self.path("old"), self.path("hard"))
        os.symlink("old", self.path("soft"))
        os.symlink(".", self.path("here"))
        os.mkfifo(self.path("pipe"))
        limits = '{"schema": "xferbench.limits", "schema_version": 1, "limits": []}\n'
        self.write("l.json", limits)
        for name in ("a", "b"):
            self.assert_succeeds(*SMALL, "--json", name)
            os.link(self.path(name), self.path(f"{name}-too"))
        program = self.script("exit 1", "p.sh")
        before = {name: self.read(name) for name in ("a", "b", "l.json", "p.sh")}
        interleaved = (*ENDLESS, *TWO, "--interleave", program)
        same, replaced = "one and the same file", "would replace"
        for one, other in (("new", "./new"), ("new", "here/new"), ("old", "soft"), ("old", "hard"), ("pipe", "./pipe")):
            with self.subTest(one=one, other=other):
                self.assert_usage(("--json", "--csv", same), *ENDLESS, "--json", one, "--csv", other)
                self.assert_usage(("--json", "--trace", same), *ENDLESS, "--json", one, "--trace", other)
                words = ("--json", "--baseline-json", same)
                self.assert_usage(words, *interleaved, "--json", one, "--baseline-json", other)
                self.assert_fails(UNKNOWN, ("--json", "--output", same), *LINK, "--json", one, "-o", other)
        for words, *arguments in (
            ((replaced, "--interleave"), *interleaved, "--json", "out", "--baseline-json", "p.sh"),
            ((replaced, "--interleave"), *interleaved, "--json", "p.sh", "--baseline-json", "out"),
            *(((replaced,), "compare", "a", "b", "-o", name) for name in ("a", "b", "a-too", "b-too")),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, *arguments)
        for option in ("--json", "-o"):
            self.assert_fails(UNKNOWN, (replaced, "--limits"), *LINK, "--limits", "l.json", option, "./l.json")
        self.assert_usage(("ENOENT",), *SMALL, "--json", "pipe", "--csv", "missing/out.csv")
        self.assertEqual({name: self.read(name) for name in before}, before)
        self.assert_old("old")
        self.assert_folder_has(*before, "a-too", "b-too", "hard", "here", "old", "pipe", "soft")

    def test_this_program(self):
        before = os.stat(XFERBENCH)
        for arguments, code in (((*ENDLESS, "--csv"), 2), (("list", "--json"), 2), ((*LINK, "-o"), UNKNOWN)):
            with self.subTest(arguments=arguments):
                # A copy, for a program that does replace itself.
                with open(XFERBENCH, "rb") as file, open(self.path("own"), "wb") as copy:
                    copy.write(file.read())
                os.chmod(self.path("own"), 0o755)
                self.assert_fails(code, ("this program",), *arguments, self.path("own"), program=self.path("own"))
                self.assert_folder_has("own")
        self.assertEqual(os.stat(XFERBENCH).st_ino, before.st_ino)


class Written(Case):
    def test_null_device_takes_everything(self):
        node = self.device_node("/dev/null", 3)
        self.assert_succeeds(*SMALL, "--json", node, "--csv", node)
        self.assert_ends(UNKNOWN, *LINK, "--json", node, "-o", node)
        self.assertTrue(stat.S_ISCHR(os.stat(node).st_mode))
        self.assertLessEqual(set(os.listdir(self.folder)), {"null"})

    def test_quiet(self):
        """Says nothing but what was asked for; a file whose name begins like an option is written as a path."""
        for more in ((), TWO):
            outcome = self.assert_succeeds(*SMALL, *more, "--quiet", "--json", "./-q")
            self.assertEqual((outcome.out, outcome.err), ("", ""))
            self.assertTrue(self.load("-q")["results"])
            outcome = self.assert_succeeds(*SMALL, *more, "--quiet", "--json", "-")
            self.assertTrue(self.load_text(outcome.out)["results"])
            self.assertEqual(outcome.err, "")


class Full(Case):
    """A disk that is full, a file that grows too large: told, and what can be written is. More of it: tests/golden."""

    def test_a_baseline_that_cannot_be_written(self):
        full = self.device_node("/dev/full", 7)
        files = ("--json", "a.json", "--baseline-json", full)
        outcome = self.assert_ends(1, *SMALL, *TWO, "--interleave", XFERBENCH, *files)
        self.assert_words(outcome.err, (f"xferbench: cannot write '{full}'", "No space left on device"), outcome)
        self.assertEqual(self.load("a.json")["role"], "candidate")
        self.assertTrue(stat.S_ISCHR(os.stat(full).st_mode))

    def test_a_file_that_grows_too_large(self):
        """As where a quota or ulimit -f stops it: the old file stays, and no temporary one."""
        self.put_old("out")
        small = {"preexec_fn": limit(resource.RLIMIT_FSIZE, 512)}
        for arguments in ((*SMALL, "--json"), (*SMALL, *TWO, "--json"), (*SMALL, "--trace")):
            outcome = self.assert_ends(1, *arguments, "out", **small)
            self.assert_words(outcome.err, ("cannot write", "EFBIG"))
            self.assert_old("out")
            self.assert_folder_has("out")


class Fifos(Case):
    """Whose reader comes late, never, stops reading, or leaves."""

    WAITS = "waiting for its reader"

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("pipe"))

    def commands(self):
        """Each with what it ends with for SIGTERM."""
        ended = 128 + signal.SIGTERM
        files = ("--json", "pipe", "--baseline-json", "out")
        return (
            ((*SMALL, "--json", "pipe"), ended), ((*SMALL, "--csv", "pipe"), ended),
            ((*SMALL, *TWO, "--json", "pipe"), ended),
            ((*SMALL, *TWO, "--interleave", XFERBENCH, *files), ended), ((*LINK, "--json", "pipe"), UNKNOWN),
            ((*LINK, "-o", "pipe"), UNKNOWN), ((*COMPARE, "-o", "pipe"), 2),
            (("list", "--json", "pipe"), -signal.SIGTERM),
        )

    def start_waiting(self, *arguments):
        terminal = Terminal()
        process = self.start(*arguments, terminal=terminal)
        self.assertIn(b"'pipe'", terminal.read_until(self.WAITS.encode()))
        return process

    def test_signal(self):
        for arguments, code in self.commands():
            with self.subTest(arguments=arguments):
                process = self.start_waiting(*arguments)
                process.send_signal(signal.SIGTERM)
                self.assert_ended(code, process)
                self.assertNotIn("out", os.listdir(self.folder))

    def test_reader_that_comes_late(self):
        for arguments, _ in self.commands():
            with self.subTest(arguments=arguments):
                process = self.start_waiting(*arguments)
                with open(self.path("pipe"), encoding="utf-8") as reader:
                    self.assertNotEqual(reader.read(), "")
                outcome = self.finish(process)
                self.assertIn(outcome.code, (0, 1, UNKNOWN), outcome)
                self.assertNotIn(self.WAITS, outcome.err)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_deadline(self):
        words = ("nobody opened this FIFO", "before the deadline")
        for code, *arguments in ((1, *ENDLESS), (1, *ENDLESS, *TWO), (UNKNOWN, *LINK)):
            with self.subTest(arguments=arguments):
                self.assert_fails(code, words, *arguments, "--json", "pipe", "--deadline", "100ms")
        self.assert_folder_has("pipe")

    def test_reader_that_stops_reading(self):
        """The first signal ends it, for there is nothing to write any more. By whatever name."""
        for path in ("pipe", "-", "/dev/stdout", "/dev/fd/1"):
            for more in ((), TWO):
                with self.subTest(path=path, more=more):
                    reader, writer = self.narrow_pipe()
                    if path == "pipe":
                        os.close(writer)
                        writer = subprocess.PIPE
                        os.unlink(self.path("pipe"))
                        os.mkfifo(self.path("pipe"))
                        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
                        self.addCleanup(os.close, reader)
                        fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
                    process = self.start(*LONG, *more, "--json", path, stdout=writer)
                    self.wait_until_stuck(process, reader)
                    process.send_signal(signal.SIGTERM)
                    self.assert_words(self.assert_ended(1, process).err, ("EINTR", f"'{path}'"))
                    if path != "pipe":
                        os.close(writer)

    def test_reader_that_leaves(self):
        """What can be written is written, and nothing is left beside it."""
        reader, writer = os.pipe()
        os.close(reader)
        words, place = ("EPIPE", "its reader has gone"), f"/dev/fd/{writer}"
        self.assert_fails(1, words, *SMALL, "--quiet", "--csv", place, pass_fds=(writer,))
        self.assert_fails(2, words, *COMPARE, "-o", place, pass_fds=(writer,))
        self.assertIn("EPIPE", self.assert_ends(1, *SMALL, *TWO, "--json", "-", stdout=writer).err)
        outcome = self.run_program(*SMALL, "--json", "-", "--csv", "out.csv", stdout=writer,
                                   allowed_signal=signal.SIGPIPE)
        self.assertIn(outcome.code, (1, -signal.SIGPIPE), outcome)
        self.assertEqual(len(harness.rows_of_csv(self.read("out.csv"))), 1)
        for more in ((), ("--csv", "-")):  # as `head -1` leaves: without a word
            process = self.start("show", committed("h200/pinned-1g"), *more, stdout=writer)
            self.assertEqual(self.assert_ended(-signal.SIGPIPE, process).err, "")
        os.close(writer)
        self.assert_folder_has("out.csv", "pipe")

    def test_pipe_stays_as_the_caller_has_it(self):
        """One that does not block, and one that does: what is written is whole."""
        for blocks in (False, True):
            reader, writer = self.narrow_pipe()
            os.set_blocking(writer, blocks)
            process = self.start(*LONG, "--json", "-", stdout=writer)
            self.wait_until_stuck(process, reader)
            self.assertEqual(os.get_blocking(writer), blocks)
            os.close(writer)
            with open(os.dup(reader), encoding="utf-8") as stream:
                text = stream.read()
            self.assert_ended(0, process)
            self.assert_all_ok(self.load_text(text))


class Descriptors(Case):
    """/dev/fd/N is what the caller opened, and how."""

    def test_file_that_is_appended_to(self):
        """Of this process, by each of its names; and one that another process has open: what is there stays."""
        own, others = os.getpid(), ("link", f"/proc/{os.getpid()}/fd", f"/proc/{os.getpid()}/task/{os.getpid()}/fd")
        os.symlink(f"/proc/{own}/fd", self.path("link"))
        for folder in ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", *others):
            for arguments, begin in (((*SMALL, "--csv"), "mode,"), ((*SMALL, "--json"), "{"),
                                     (("list", "--json"), "{")):
                with self.subTest(folder=folder, arguments=arguments):
                    self.put_old("log")
                    with open(self.path("log"), "ab", 0) as log:
                        passed = () if folder in others else (log.fileno(),)
                        self.assert_succeeds(*arguments, f"{folder}/{log.fileno()}", pass_fds=passed)
                        log.write(b"last\n")
                    text = self.read("log")
                    self.assertTrue(text.startswith(OLD + begin), text)
                    self.assertTrue(text.endswith("last\n"), text)
                    if begin == "{":
                        json.loads(text.removeprefix(OLD).removesuffix("last\n"))
        self.assert_folder_has("link", "log")


class ClosedStreams(Case):
    """What is opened does not take the place of a stream that the caller closed."""

    CLOSED = ((0,), (1,), (2,), (0, 1), (0, 1, 2))

    def test_no_output_gets_their_numbers(self):
        """Else what is said on stderr would land in it: here, that a reader is waited for."""
        os.mkfifo(self.path("pipe"))
        for closed in self.CLOSED:
            with self.subTest(closed=closed):
                files = ("--quiet", "--json", "out.json", "--csv", "pipe")
                process = self.start(*SMALL, *files, preexec_fn=closing(*closed))
                self.wait_for_output(process)
                for fd in closed:
                    self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{fd}"), "/dev/null")
                with open(self.path("pipe"), encoding="utf-8") as reader:
                    self.assertTrue(reader.read().startswith("mode,"))
                self.assert_ended(0, process)
                self.assert_all_ok(self.load("out.json"))
                self.assert_succeeds(*SMALL, *TWO, "--quiet", "--json", "out.json", preexec_fn=closing(*closed))
                self.assertTrue(all(process["document"] for process in self.load("out.json")["processes"]))

    def test_an_answer_that_goes_nowhere_is_a_failure(self):
        """But the null device, though it has the place of one that is closed, is none."""
        for arguments in (SMALL, (*SMALL, *TWO), ("list",), ("--help",)):
            with self.subTest(arguments=arguments):
                self.assertIn("cannot write", self.assert_ends(1, *arguments, preexec_fn=closing(1)).err)
        for path in ("-", "/dev/fd/1", "/dev/stdout"):
            self.assert_usage(("EBADF",), *ENDLESS, "--json", path, preexec_fn=closing(1))
        # As somebody who could not replace the device.
        user = self.unprivileged()
        self.assert_succeeds(*SMALL, "--quiet", "--json", "/dev/null", preexec_fn=closing(1, 2), **user)


if __name__ == "__main__":
    harness.main()
