#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which places outputs may have: not each other's, nor an input's; pipes that nobody reads; files of
somebody else; open descriptors.
usage: test_output_places.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import errno
import fcntl
import json
import os
import signal
import stat
import struct
import termios
import unittest

import harness
from harness import ENDLESS, FEW, ONE, SMALL, Case, Terminal, wait_until

SOMEBODY = 65534
# On the host there is no link to judge, so `link` says UNKNOWN; but it writes its report.
LINK = ("link", "--backend", "host")
UNKNOWN = 3


class OneFileTwice(Case):
    """Nothing is measured, and every file is what it was."""

    def assert_one_file(self, words, *arguments, code=2, **options):
        before = sorted(os.listdir(self.folder))
        self.assert_fails(code, words, *arguments, **options)
        self.assert_folder_has(*before)

    def test_two_outputs(self):
        words = ("one and the same file",)
        self.put_old("old")
        os.link(self.path("old"), self.path("hard"))
        os.symlink("old", self.path("soft"))
        os.symlink(".", self.path("here"))
        for one, other in (("new", "./new"), ("new", "here/new"), ("old", "soft"), ("old", "hard")):
            with self.subTest(one=one, other=other):
                self.assert_one_file(("--json", "--csv", *words), *ENDLESS, "--json", one, "--csv", other)
                self.assert_one_file(
                    ("--json", "--output", *words), *LINK, "--json", one, "-o", other, code=UNKNOWN
                )
        self.assert_old("old")

    def test_two_sides(self):
        script = self.write("p.sh", "#!/bin/sh\n")
        os.chmod(script, 0o755)
        several = (*ENDLESS, "--processes", "2", "--interleave", script)
        words = ("--json", "--baseline-json", "one and the same file")
        self.assert_one_file(words, *several, "--json", "out", "--baseline-json", "./out")

    def test_program_that_is_read(self):
        script = self.write("p.sh", "#!/bin/sh\n")
        os.chmod(script, 0o755)
        several = (*ENDLESS, "--processes", "2", "--interleave", "./p.sh")
        words = ("would replace", "--interleave")
        self.assert_one_file(words, *several, "--json", "out", "--baseline-json", "p.sh")
        self.assert_one_file(words, *several, "--json", "p.sh", "--baseline-json", "out")
        self.assertEqual(self.read("p.sh"), "#!/bin/sh\n")

    def test_limits_that_are_read(self):
        limits = '{"schema": "xferbench.limits", "schema_version": 1, "limits": []}\n'
        self.write("l.json", limits)
        words = ("would replace", "--limits")
        for option in ("--json", "-o"):
            with self.subTest(option=option):
                arguments = (*LINK, "--limits", "l.json", option, "./l.json")
                self.assert_one_file(words, *arguments, code=UNKNOWN)
                self.assertEqual(self.read("l.json"), limits)

    def test_files_that_are_compared(self):
        for name in ("a", "b"):
            self.assert_succeeds(*SMALL, "--json", name)
            os.link(self.path(name), self.path(name + "-too"))
        for name in ("a", "b", "a-too", "b-too"):
            with self.subTest(name=name):
                before = self.read(name)
                self.assert_one_file(("would replace",), "compare", "a", "b", "-o", name)
                self.assertEqual(self.read(name), before)

    def test_this_program(self):
        program = self.path("own")
        os.symlink(harness.XFERBENCH, program)
        before = os.stat(harness.XFERBENCH)
        for arguments, code in (((*ENDLESS, "--csv"), 2), (("list", "--json"), 2), ((*LINK, "-o"), UNKNOWN)):
            with self.subTest(arguments=arguments):
                # A copy, for a program that does replace itself.
                self.copy_program(program)
                self.assert_one_file(("this program",), *arguments, program, code=code, program=program)
        self.assertEqual(os.stat(harness.XFERBENCH).st_ino, before.st_ino)

    def copy_program(self, path):
        with open(harness.XFERBENCH, "rb") as file:
            content = file.read()
        os.unlink(path)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o755)

    def test_null_device_takes_everything(self):
        node = self.device_node("/dev/null", 3)
        self.assert_succeeds(*SMALL, "--json", node, "--csv", node)
        self.assert_ends(UNKNOWN, *LINK, "--json", node, "-o", node)


class Pipes(Case):
    """FIFOs whose reader comes late, never, or stops reading."""

    WAITS = "waiting for its reader"

    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("pipe"))

    def put_records(self):
        for name in ("a", "b"):
            self.assert_succeeds(*SMALL, "--json", name)

    def commands(self):
        """Each with what it ends with for SIGTERM."""
        self.put_records()
        files = ("--json", "pipe", "--baseline-json", "out")
        return (
            ((*SMALL, "--json", "pipe"), 128 + signal.SIGTERM),
            ((*SMALL, "--csv", "pipe"), 128 + signal.SIGTERM),
            ((*SMALL, "--processes", "2", "--json", "pipe"), 128 + signal.SIGTERM),
            ((*SMALL, "--processes", "2", "--interleave", harness.XFERBENCH, *files), 128 + signal.SIGTERM),
            ((*LINK, "--json", "pipe"), UNKNOWN),
            ((*LINK, "-o", "pipe"), UNKNOWN),
            (("compare", "a", "b", "-o", "pipe"), 2),
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
                outcome = self.finish(process, allowed_signal=signal.SIGTERM)
                self.assertEqual(outcome.code, code, outcome)
                self.assertEqual(os.listdir(self.folder).count("out"), 0)

    def test_reader_that_comes_late(self):
        for arguments, _ in self.commands():
            with self.subTest(arguments=arguments):
                process = self.start_waiting(*arguments)
                with open(self.path("pipe"), encoding="utf-8") as reader:
                    self.assertNotEqual(reader.read(), "")
                outcome = self.finish(process)
                self.assertIn(outcome.code, (0, 1, 2, UNKNOWN), outcome)
                self.assertNotIn(self.WAITS, outcome.err)

    def test_deadline(self):
        words = ("nobody opened this FIFO", "before the deadline")
        for arguments, code in (
            ((*ENDLESS, "--json", "pipe"), 1),
            ((*ENDLESS, "--processes", "2", "--json", "pipe"), 1),
            ((*LINK, "--json", "pipe"), UNKNOWN),
        ):
            with self.subTest(arguments=arguments):
                self.assert_fails(code, words, *arguments, "--deadline", "100ms")
        self.assert_folder_has("pipe")

    def test_reader_that_stops_reading(self):
        """The first signal ends it, for there is nothing to write any more."""
        long = (*ONE, "--size", "4K,8K,16K,32K", *FEW, "--json", "pipe")
        for arguments in (long, (*long, "--processes", "2")):
            with self.subTest(arguments=arguments):
                reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
                try:
                    fcntl.fcntl(reader, 1031, 4096)  # F_SETPIPE_SZ
                    process = self.start(*arguments)
                    wait_until(lambda: self.waits_in(process, reader))
                    process.send_signal(signal.SIGTERM)
                    outcome = self.finish(process)
                finally:
                    os.close(reader)
                self.assertEqual(outcome.code, 1, outcome)
                self.assert_words(outcome.err, ("EINTR", "'pipe'"))

    @staticmethod
    def waits_in(process, reader):
        """The pipe takes no more, and the program sleeps."""
        held = struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]
        return held > 0 and harness.stat_of(process.pid)[0] == "S"

    def test_reader_that_leaves(self):
        self.put_records()
        reader, writer = os.pipe()
        os.close(reader)
        try:
            words = ("EPIPE", "its reader has gone")
            self.assert_fails(1, words, *SMALL, "--quiet", "--csv", f"/dev/fd/{writer}", pass_fds=(writer,))
            self.assert_fails(2, words, "compare", "a", "b", "-o", f"/dev/fd/{writer}", pass_fds=(writer,))
        finally:
            os.close(writer)


class Descriptors(Case):
    """/dev/fd/N is what the caller opened, and how."""

    def assert_written_behind(self, before, arguments, **options):
        self.put_old("log")
        with open(self.path("log"), "ab", 0) as log:
            path = f"/dev/fd/{log.fileno()}"
            self.assert_succeeds(*arguments, path, pass_fds=(log.fileno(),), **options)
            log.write(b"last\n")
        text = self.read("log")
        self.assertTrue(text.startswith(before), text)
        self.assertTrue(text.endswith("last\n"), text)
        return text.removeprefix(before).removesuffix("last\n")

    def test_file_that_is_appended_to(self):
        old = harness.OLD_CONTENT.decode()
        self.assert_all_ok(self.load_text(self.assert_written_behind(old, (*SMALL, "--json"))))
        self.assertTrue(self.assert_written_behind(old, (*SMALL, "--csv")).startswith("mode,"))
        self.assertIn("backends", json.loads(self.assert_written_behind(old, ("list", "--json"))))
        self.assert_folder_has("from-stdout.json", "log")

    def test_pipe_of_the_shell(self):
        """As process substitution, >(...), gives it."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        try:
            self.assert_succeeds(*SMALL, "--json", f"/dev/fd/{writer}", pass_fds=(writer,))
        finally:
            os.close(writer)
        self.assert_all_ok(self.load_text(os.read(reader, 1 << 20).decode()))

    def test_descriptor_that_is_not_open(self):
        self.assert_usage(("EBADF", "not open for writing"), *ENDLESS, "--json", "/dev/fd/99")


class Ownership(Case):
    """A result takes a file from nobody."""

    def put_of(self, user, mode):
        path = self.put_old("out.json")
        os.chown(path, user, user)
        os.chmod(path, mode)
        return path

    def assert_of(self, user, mode):
        file = os.stat(self.path("out.json"))
        self.assertEqual((file.st_uid, file.st_gid, stat.S_IMODE(file.st_mode)), (user, user, mode))

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_root_writes_to_a_file_of_somebody(self):
        self.put_of(SOMEBODY, 0o640)
        self.assert_succeeds(*SMALL, "--json", "out.json")
        self.assert_all_ok(self.load("out.json"))
        self.assert_of(SOMEBODY, 0o640)
        self.assert_folder_has("out.json")

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_somebody_writes_to_a_file_of_root(self):
        """He may write to it, and could not give a new one to root."""
        user = self.unprivileged()
        os.chmod(self.folder, 0o777)
        path = self.put_of(0, 0o666)
        inode = os.stat(path).st_ino
        self.assert_succeeds(*SMALL, "--json", "out.json", **user)
        self.assert_all_ok(self.load("out.json"))
        self.assert_of(0, 0o666)
        self.assertEqual(os.stat(path).st_ino, inode)
        self.assert_folder_has("out.json")


class Killed(Case):
    def has_open_file_here(self, process):
        """Whether the program has a file of the folder open, which has no name there."""
        folder = f"/proc/{process.pid}/fd"
        for name in os.listdir(folder):
            try:
                if os.readlink(os.path.join(folder, name)).startswith(self.folder + "/"):
                    return True
            except FileNotFoundError:
                pass  # closed meanwhile
        return False

    def test_nothing_is_left(self):
        """Also where it cannot clear up behind itself."""
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
        except OSError as error:
            self.assertIn(error.errno, (errno.EOPNOTSUPP, errno.EISDIR))
            self.skipTest("this file system has no files without names")
        self.put_old("out.json")
        process = self.start(*ENDLESS, "--json", "out.json", "--csv", "out.csv")
        wait_until(lambda: self.has_open_file_here(process))
        process.kill()
        self.finish(process, allowed_signal=signal.SIGKILL)
        self.assert_folder_has("out.json")
        self.assert_old("out.json")


if __name__ == "__main__":
    harness.main()
