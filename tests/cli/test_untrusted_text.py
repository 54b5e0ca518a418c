#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths, names of devices and words of drivers cannot steer a terminal or the log of a CI system.
usage: test_untrusted_text.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import unittest

import harness
from harness import HOST, SMALL, Case

# A line of its own that is a command, one that is a command anywhere, and a change of colour.
EVIL = "x\n::error::forged\n##[error]forged\r\x1b[31m\x9b31m\u202e\t"
COMMAND = re.compile(r"^\s*::|##\[", re.M)
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


class UntrustedText(Case):
    def check(self, outcome):
        out = outcome.out.replace("\r\n", "\n")  # which ends a line of CSV
        for text in (out, outcome.err):
            self.assertIsNone(CONTROL.search(text), repr(text))
            self.assertIsNone(COMMAND.search(text), repr(text))
        return outcome

    def assert_harmless(self, *arguments, **options):
        """It fails, says something, and nothing of it does harm."""
        outcome = self.check(self.run_program(*arguments, **options))
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assertIn("forged", outcome.err)

    def test_words_of_the_command_line(self):
        nowhere = f"nowhere/{EVIL}"
        for arguments in (
            (EVIL,),
            ("run", EVIL),
            ("--backend", EVIL),
            ("--mode", EVIL),
            ("--size", EVIL),
            (f"--{EVIL}",),
            ("--help", EVIL),
            ("--help", "pinned", EVIL),
            (*SMALL, "--json", nowhere),
            (*SMALL, "--csv", nowhere),
            (*SMALL, "--processes", "2", "--json", nowhere),
            (*SMALL, "--processes", "2", "--interleave", nowhere, "--json", "a", "--baseline-json", "b"),
            ("list", "--json", nowhere),
            ("link", *HOST, "--json", nowhere),
            ("link", *HOST, "--limits", nowhere),
            ("link", *HOST, "--expect", EVIL),
            ("link", *HOST, "-f", "nagios", "--limits", nowhere),
            ("link", *HOST, "-f", "nhc", "--limits", nowhere),
            ("compare", nowhere, nowhere),
            ("compare", "--threshold", EVIL, "a", "b"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_harmless(*arguments)

    def test_file_that_is_no_record(self):
        self.write(EVIL, "{}")
        self.assert_harmless("compare", EVIL, "b")
        self.assert_harmless("link", *HOST, "--limits", EVIL)

    def test_program_that_measures_nothing(self):
        script = self.write(EVIL, "#!/bin/sh\nexit 2\n")
        os.chmod(script, 0o755)
        files = ("--json", "a", "--baseline-json", "b")
        self.assert_harmless(*SMALL, "--processes", "2", "--interleave", script, *files)

    def record(self, name, **changes):
        self.assert_succeeds(*SMALL, "--json", name)
        document = self.load(name)
        document["backend"]["driver_version"] = EVIL
        document["host"]["hostname"] = EVIL + name
        document["devices"][0]["name"] = EVIL
        document["results"][0]["variant"] = EVIL
        document["results"][0].update(changes)
        self.write_json(name, document)
        return document

    def test_texts_of_a_record(self):
        self.record("a")
        self.record("b" + EVIL)
        for name in ("table", "markdown", "junit"):
            with self.subTest(format=name):
                self.check(self.run_program("compare", "a", "b" + EVIL, "-f", name))

    def test_commands_for_github_are_our_own(self):
        self.record("a")
        self.record("b" + EVIL)
        outcome = self.run_program("compare", "a", "b" + EVIL, "-f", "github")
        self.assertIsNone(CONTROL.search(outcome.out), outcome)
        for line in outcome.out.splitlines():
            self.assertRegex(line, r"^::(error|warning|notice) title=xferbench [^:]*::")
            self.assertEqual(line.count("::"), 2, line)
            self.assertNotIn("##[", line)

    def test_results_of_another_program(self):
        """Its driver and its devices have what names they like."""
        self.record("evil.json")
        script = self.write("script", '#!/bin/sh\nexec cat "${0%/*}/evil.json"\n')
        os.chmod(script, 0o755)
        files = ("--json", "a", "--baseline-json", "b")
        several = ("--processes", "2", "--interleave", script, *files)
        self.check(self.run_program(*SMALL, *several))

    @unittest.skipUnless(harness.STAND_IN, "the HIP backend is not in this build")
    def test_words_of_a_driver(self):
        library = self.path(EVIL.replace("/", ""))
        os.symlink(harness.STAND_IN, library)
        environment = {
            "XFERBENCH_HIP_LIBRARY": library,
            "XB_STANDIN_ARCH": "gfx\n::error::forged",
            "XDG_CACHE_HOME": self.folder,
        }
        for arguments in (
            ("list",),
            ("--backend", "hip", "--mode", "pinned", "--size", "4K", "--samples", "3"),
            ("--backend", "hip", "--mode", "pinned", "--size", "4K", "--samples", "3", "--csv", "-"),
            ("link", "--backend", "hip"),
            ("link", "--backend", "hip", "-f", "nagios"),
        ):
            with self.subTest(arguments=arguments):
                self.check(self.run_program(*arguments, environment=environment))

    @unittest.skipUnless(harness.built_in()["hip"], "the HIP backend is not in this build")
    def test_library_that_is_not_there(self):
        environment = {"XFERBENCH_HIP_LIBRARY": f"/nowhere/{EVIL}"}
        for arguments in (("list",), ("--backend", "hip"), ("link", "--backend", "hip")):
            with self.subTest(arguments=arguments):
                outcome = self.check(self.run_program(*arguments, environment=environment))
                self.assertIn("nowhere", outcome.out + outcome.err)


if __name__ == "__main__":
    harness.main()
