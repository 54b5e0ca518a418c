#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man page: what it names, and whether what formats it has anything to say.
usage: test_manual.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import shutil
import unittest

import harness
from harness import MODES, Case

PAGE = os.path.join(harness.BUILD, "manual", "xferbench.1")


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program}")


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


class Manual(Case):
    def test_sections(self):
        sections = re.findall(r'(?m)^\.SH "?([A-Z ]+)"?$', page())
        expected = "NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS MODES COLUMNS".split()
        self.assertEqual(sections, expected + ["EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"])

    def test_every_option(self):
        """Each under the command that has it, as docs/options.md has them."""
        with open(os.path.join(harness.SOURCE, "docs", "options.md"), encoding="utf-8") as file:
            chapters = re.split(r"(?m)^## ", file.read())[1:]
        sections = dict(
            re.findall(r'(?ms)^\.SS "xferbench (\w+)"\n(.*?)(?=^\.S[SH] )', page().replace("\\-", "-"))
        )
        self.assertLess({"run", "link", "compare", "list"}, set(sections))
        count = 0
        for chapter in chapters:
            title = chapter.partition("\n")[0]
            named = re.search(r"`xferbench \[?(\w+)", title)
            if not named and not title.startswith("Mode "):
                continue
            command = named[1] if named else "run"
            for option in re.findall(r"(?m)^### .*`--([a-z0-9-]+)", chapter):
                with self.subTest(title=title, option=option):
                    count += 1
                    where = page().replace("\\-", "-") if option in ("help", "version", "color") else sections[command]
                    self.assertRegex(where, rf"(?m)^\.TP\n.*\\fB--{option}\\fR")
        self.assertGreater(count, 100)

    def test_every_mode_and_command(self):
        text = page().replace("\\-", "-")
        modes = text.partition("\n.SH MODES\n")[2].partition("\n.SH ")[0]
        self.assertEqual(re.findall(r"\.TP\n\\fB([a-z-]+)\\fR", modes), MODES)
        commands = re.findall(r"(?m)^---- (\w+) ----$", self.assert_succeeds("help", "all").out)
        exits = text.partition('\n.SH "EXIT STATUS"\n')[2].partition("\n.SH ")[0]
        self.assertEqual(re.findall(r"\.TP\n\\fB([a-z-]+)\\fR", exits), commands)

    def assert_silent(self, *command, environment=None):
        outcome = self.run_program(*command[1:], program=shutil.which(command[0]), environment=environment)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out

    @needs("mandoc")
    def test_mandoc(self):
        self.assertEqual(self.assert_silent("mandoc", "-Tlint", PAGE), "")

    @needs("groff")
    def test_groff(self):
        """As `man --warnings` runs it."""
        self.assert_silent("groff", "-mandoc", "-Tutf8", "-k", "-ww", "-Z", PAGE)

    @needs("man")
    @needs("groff")
    def test_man(self):
        out = self.assert_silent("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", PAGE)
        self.assertIn("xferbench", out)

    @needs("mandoc")
    def test_what_is_shown(self):
        """Quotes and dashes are those that can be typed."""
        text = self.assert_silent("mandoc", "-Tutf8", "-O", "width=100", PAGE)
        text = re.sub(".\b", "", text)
        self.assertIn("--mode MODE[,MODE]", text)
        self.assertIn("'registered' by", text)
        self.assertNotRegex(text, "[\u2010\u2019\u2018]")

    def test_a_command_has_one_line(self):
        with open(PAGE) as page:
            lines = re.search(r"(?s)\.SH SYNOPSIS\n\.nf\n(.*?)\.fi\n", page.read())[1].splitlines()
        for line in lines:
            self.assertRegex(line, r"^\\fBxferbench\\fR .*\[\\fIOPTION\\fR\]\.\.\.$")


class Columns(Case):
    """Every heading of the table is explained."""

    def assert_explained(self, *arguments):
        out = self.assert_succeeds(*harness.HOST, "--size", "4K", *harness.FEW, "--columns", "all", *arguments).out
        heading = re.search(r"(?m)^MODE .*", out)[0]
        rows = re.findall(r"(?m)^  (\S.*?) {2,}", self.assert_succeeds("help", "columns").out)
        names = {name for row in rows for name in row.split(", ")}
        left = re.sub(rf"(?<!\S)({'|'.join(sorted(names, key=len, reverse=True))})(?!\S)", "", heading)
        self.assertEqual(left.split(), [], heading)

    def test_of_rates(self):
        self.assert_explained("--mode", "pinned")

    def test_of_latencies(self):
        self.assert_explained("--mode", "pinned", "--latency")

    def test_of_parameters(self):
        self.assert_explained("--mode", "async", "--chunk", "1K,2K")

    def test_of_processes(self):
        self.assert_explained("--mode", "pinned", "--processes", "2")


if __name__ == "__main__":
    harness.main()
