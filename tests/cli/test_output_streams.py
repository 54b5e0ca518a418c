#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs that somebody has open already: standard output that is a pipe, files that other processes
write to; and what is found out before a reader is waited for.
usage: test_output_streams.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import fcntl
import os
import signal
import struct
import termios

import harness
from harness import FEW, ONE, SMALL, Case, wait_until

F_SETPIPE_SZ = 1031
# More than the pipe of a page holds.
LONG = (*ONE, "--size", "4K,8K,16K,32K", *FEW, "--json")


class StandardOutput(Case):
    def setUp(self):
        super().setUp()
        self.reader, self.writer = os.pipe()
        self.addCleanup(os.close, self.reader)
        self.addCleanup(self.close_writer)
        fcntl.fcntl(self.writer, F_SETPIPE_SZ, 4096)

    def close_writer(self):
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1

    def waits(self, process):
        """The pipe takes no more, and the program sleeps."""
        held = struct.unpack("i", fcntl.ioctl(self.reader, termios.FIONREAD, bytes(4)))[0]
        return held > 0 and harness.stat_of(process.pid)[0] == "S"

    def test_signal_while_the_reader_takes_nothing(self):
        for path in ("-", "/dev/stdout", "/dev/fd/1"):
            for more in ((), ("--processes", "2")):
                with self.subTest(path=path, more=more):
                    process = self.start(*LONG, path, *more, stdout=self.writer)
                    wait_until(lambda: self.waits(process))
                    process.send_signal(signal.SIGTERM)
                    outcome = self.assert_ended(1, process)
                    self.assert_words(outcome.err, ("EINTR", f"'{path}'"))
                    os.set_blocking(self.reader, False)
                    self.assertGreater(len(os.read(self.reader, 1 << 20)), 0)

    def test_pipe_that_does_not_block(self):
        """As the caller may have left it, for its own sake. Its setting stays."""
        os.set_blocking(self.writer, False)
        process = self.start(*LONG, "-", stdout=self.writer)
        wait_until(lambda: self.waits(process))
        self.assertFalse(os.get_blocking(self.writer))
        self.close_writer()
        with open(os.dup(self.reader), encoding="utf-8") as reader:
            text = reader.read()
        self.assert_ended(0, process)
        self.assert_all_ok(self.load_text(text))

    def test_pipe_stays_as_the_caller_has_it(self):
        process = self.start(*LONG, "-", stdout=self.writer)
        wait_until(lambda: self.waits(process))
        self.assertTrue(os.get_blocking(self.writer))
        self.close_writer()
        with open(os.dup(self.reader), encoding="utf-8") as reader:
            self.assert_all_ok(self.load_text(reader.read()))
        self.assert_ended(0, process)


class FilesOfOthers(Case):
    def test_file_that_another_process_has_open(self):
        """What is there already stays."""
        old = harness.OLD_CONTENT.decode()
        pid = os.getpid()
        folders = (f"/proc/{pid}/fd", f"/proc/{pid}/task/{pid}/fd", "link")
        os.symlink(f"/proc/{pid}/fd", self.path("link"))
        for folder in folders:
            with self.subTest(folder=folder):
                self.put_old("log")
                with open(self.path("log"), "ab", 0) as log:
                    self.assert_succeeds(*SMALL, "--csv", f"{folder}/{log.fileno()}")
                self.assertTrue(self.read("log").startswith(old + "mode,"), self.read("log"))
        self.assert_folder_has("link", "log")

    def test_own_descriptor_by_other_names(self):
        for folder in ("/proc/thread-self/fd", "/proc/self/fd"):
            with self.subTest(folder=folder):
                self.put_old("log")
                with open(self.path("log"), "ab", 0) as log:
                    fd = log.fileno()
                    self.assert_succeeds(*SMALL, "--csv", f"{folder}/{fd}", pass_fds=(fd,))
                self.assertTrue(self.read("log").startswith(harness.OLD_CONTENT.decode() + "mode,"))


class BeforeAnyWait(Case):
    """What is refused is refused at once, and nobody waits for a FIFO's reader."""

    def test_one_fifo_twice(self):
        os.mkfifo(self.path("pipe"))
        words = ("one and the same file",)
        files = ("--json", "pipe", "--csv", "./pipe")
        self.assert_usage(words, *SMALL, *files)
        self.assert_fails(3, words, "link", "--backend", "host", "--json", "pipe", "-o", "./pipe")
        script = self.write("p.sh", "#!/bin/sh\n")
        os.chmod(script, 0o755)
        several = (*SMALL, "--processes", "2", "--interleave", script)
        self.assert_usage(words, *several, "--json", "pipe", "--baseline-json", "./pipe")

    def test_the_second_output_is_impossible(self):
        os.mkfifo(self.path("pipe"))
        self.assert_usage(("ENOENT",), *SMALL, "--json", "pipe", "--csv", "missing/out.csv")


if __name__ == "__main__":
    harness.main()
