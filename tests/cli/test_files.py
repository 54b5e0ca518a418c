#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where results go, and what becomes of what was there.
usage: test_files.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import itertools
import os
import resource
import signal
import stat

import harness
from harness import ENDLESS, FEW, HOST, ONE, SMALL, Case


class Files(Case):
    """Where results go, and what becomes of what was there."""

    def assert_refused(self, words, path, **options):
        """Told before the hours of measuring that the arguments ask for."""
        for option in ("--json", "--csv"):
            with self.subTest(option=option, path=path):
                words = ("cannot write", path, *words)
                self.assert_usage(words, *ENDLESS, option, path, **options)

    def test_folder_that_does_not_exist(self):
        self.assert_refused(("ENOENT", "create its directory"), self.path("nowhere", "out.json"))
        self.assert_folder_has()

    def test_folder_instead_of_file(self):
        os.mkdir(self.path("folder"))
        self.assert_refused(("EISDIR", "name a file in it"), self.path("folder"))
        self.assert_refused(("EISDIR",), self.path("folder") + "/")
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_file_instead_of_folder(self):
        self.put_old("file")
        self.assert_refused(("ENOTDIR",), self.path("file", "out.json"))
        self.assert_old("file")

    def test_name_too_long(self):
        self.assert_refused(("ENAMETOOLONG",), "x" * 300)

    def test_link_to_nothing(self):
        os.symlink("nowhere/out.json", self.path("link"))
        self.assert_refused(("ENOENT", "link"), "link")
        self.assert_folder_has("link")

    def test_folder_that_is_not_writable(self):
        user = self.unprivileged()
        os.mkdir(self.path("locked"))
        self.put_old("locked", "old")
        os.chmod(self.path("locked", "old"), 0o666)
        os.chmod(self.path("locked"), 0o555)
        self.addCleanup(os.chmod, self.path("locked"), 0o755)
        self.assert_refused(("EACCES",), self.path("locked", "new"), **user)
        self.assert_refused(("EACCES",), self.path("locked", "old"), **user)
        self.assertEqual(os.listdir(self.path("locked")), ["old"])
        self.assert_old("locked", "old")

    def test_file_that_is_not_writable(self):
        user = self.unprivileged()
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        os.chmod(self.put_old("open", "old"), 0o444)
        self.assert_refused(("EACCES", "make the file writable"), self.path("open", "old"), **user)
        self.assertEqual(os.listdir(self.path("open")), ["old"])
        self.assert_old("open", "old")

    def test_second_output_refused(self):
        """Nothing is left of the first, which was opened already."""
        self.put_old("out.json")
        nowhere = self.path("nowhere", "out.csv")
        self.assert_usage(("ENOENT",), *ENDLESS, "--json", "out.json", "--csv", nowhere)
        self.assert_old("out.json")
        self.assert_folder_has("out.json")

    def test_old_file_survives_a_wrong_command_line(self):
        self.put_old("out.json")
        for arguments in (
            (*HOST, "--size", "0"),
            (*HOST, "--size", "100T"),
            (*HOST, "--mode", "pined"),
            (*HOST, "--device", "9"),
            (*HOST, "--mode", "pinned", "--chunk", "1M"),
            ("--backend", "hots"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage((), *arguments, "--json", "out.json")
                self.assert_old("out.json")
                self.assert_folder_has("out.json")

    def test_old_file_is_replaced(self):
        os.chmod(self.put_old("out.json"), 0o640)
        self.put_old("out.csv")
        self.assert_succeeds(*SMALL, "--json", "out.json", "--csv", "out.csv")
        self.assert_all_ok(self.load("out.json"))
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("mode,variant,"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.json")).st_mode), 0o640)
        self.assert_folder_has("out.json", "out.csv")

    def test_new_file_has_ordinary_rights(self):
        self.assert_succeeds(*SMALL, "--json", "out.json", umask=0o027)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.json")).st_mode), 0o640)

    def test_link_stays_a_link(self):
        os.mkdir(self.path("there"))
        self.put_old("there", "out.json")
        os.symlink("there/out.json", self.path("link.json"))
        self.assert_succeeds(*SMALL, "--json", "link.json")
        self.assertEqual(os.readlink(self.path("link.json")), "there/out.json")
        self.assert_all_ok(self.load("there", "out.json"))
        self.assertEqual(os.listdir(self.path("there")), ["out.json"])

    def test_null_device_stays_a_device(self):
        node = self.device_node("/dev/null", 3)
        for option in ("--json", "--csv"):
            self.assert_succeeds(*SMALL, option, node)
            self.assertTrue(stat.S_ISCHR(os.stat(node).st_mode))
        self.assertLessEqual(set(os.listdir(self.folder)), {"null"})

    def test_full_device(self):
        node = self.device_node("/dev/full", 7)
        # A short file fails when it is closed, a long one while it is written.
        for size, option in itertools.product(("4K", "1..1M"), ("--json", "--csv")):
            with self.subTest(size=size, option=option):
                outcome = self.run_program(*ONE, "--size", size, *FEW, option, node)
                self.assertEqual(outcome.code, 1, outcome)
                self.assert_words(outcome.err, ("cannot write", "full", "ENOSPC"))
                self.assertRegex(outcome.out, r"(?m)^ +pinned ")
                self.assertTrue(stat.S_ISCHR(os.stat(node).st_mode))

    def test_full_device_does_not_keep_the_other_from_its_file(self):
        node = self.device_node("/dev/full", 7)
        outcome = self.run_program(*SMALL, "--json", node, "--csv", "out.csv")
        self.assertEqual(outcome.code, 1, outcome)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_pipe_stays_a_pipe(self):
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.assert_succeeds(*SMALL, "--json", "pipe")
            text = os.read(reader, 1 << 20)
        finally:
            os.close(reader)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assert_all_ok(self.load_text(text.decode()))

    def test_standard_output_that_is_full(self):
        node = self.device_node("/dev/full", 7)
        for arguments in (SMALL, (*SMALL, "--json", "-"), (*SMALL, "--csv", "-")):
            with self.subTest(arguments=arguments), open(node, "wb") as full:
                outcome = self.run_program(*arguments, stdout=full)
                self.assertEqual(outcome.code, 1, outcome)
                self.assert_words(outcome.err, ("xferbench: cannot write", "ENOSPC"))

    def test_answers_that_nobody_gets(self):
        """A list or a help that could not be printed is no success."""
        node = self.device_node("/dev/full", 7)
        for arguments in (("list",), ("--help",), ("--help", "pinned"), ("--version",)):
            with self.subTest(arguments=arguments), open(node, "wb") as full:
                outcome = self.run_program(*arguments, stdout=full)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("cannot write", outcome.err)

    def test_standard_output_that_nobody_reads(self):
        """What can be written is written, and nothing is left beside it."""
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:
            outcome = self.run_program(
                *(*SMALL, "--json", "-", "--csv", "out.csv"),
                stdout=pipe,
                allowed_signal=signal.SIGPIPE,
            )
        self.assertIn(outcome.code, (1, -signal.SIGPIPE), outcome)
        self.assert_folder_has("out.csv")
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_file_that_grows_too_large(self):
        """As where a quota or ulimit -f stops it: the old file stays, and no temporary one."""
        self.put_old("out.json")
        outcome = self.run_program(
            *(*SMALL, "--json", "out.json"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_words(outcome.err, ("cannot write", "out.json", "EFBIG"))
        self.assert_old("out.json")
        self.assert_folder_has("out.json")


if __name__ == "__main__":
    harness.main()
