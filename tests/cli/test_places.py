#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people read fits the place where they read it, no number is broken for that, and nothing that others named can
steer a terminal. usage: test_places.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import shutil

import harness
from harness import (COLOUR, CONTROL, FAKE, FEW, HOST, SMALL, XFERBENCH, Case, Terminal, committed, needs_stand_in,
                     stand_in)

NUMBER = re.compile(r"\d+(?:\.\d+)?")
PIPED = 100
WIDE = 400  # where nothing is left out
NARROW = (40, 60, 80, 120)
JOB = ("--in", "256M", "--out", "1M", "--gpu-time", "5ms", "--cpu-time", "90ms")
# Tables of every kind: bandwidths, latencies, devices together, several processes, sweeps, matrices, links, pairs.
KINDS = ("h200/all-256m", "h200/latency", "h200/sweep", "h200/batch-sweep", "h200/compare-again",
         "h200/pipeline-chunks",
         "h200/link-expect-gen6x16", "h200-x2/all-devices-1g", "h200-x2/simultaneous", "h200-x4/link-pairs",
         "h200-x4/nvb-peer")


class Places(Case):
    """Wherever it is read: the width of a terminal, a pipe, with and without colours, in ASCII and UTF-8."""

    def setUp(self):
        """Files with short names: a path is broken where it is longer than a line."""
        super().setUp()
        for name, source in (("rows", "crossover"), ("old", "compare-baseline"), ("new", "compare-busy-link")):
            shutil.copy(committed(f"h200/{source}"), self.path(f"{name}.json"))

    def check(self, *arguments, program=XFERBENCH, is_repeatable=True):
        """The same numbers at every width, as far as they are shown."""
        whole = COLOUR.sub("", self.on_terminal(WIDE, *arguments, program=program).out)
        numbers = set(NUMBER.findall(whole))
        self.assertNotIn("Not shown", whole)
        shown = [(columns, self.on_terminal(columns, *arguments, program=program).out) for columns in NARROW]
        shown.append((PIPED, self.run_program(*arguments, program=program).out))
        self.assertNotIn("\x1b", shown[-1][1])
        for columns, text in shown:
            with self.subTest(arguments=arguments, columns=columns):
                self.check_lines(text, columns)
                left_out = re.compile(r"Not shown in (\d+)\s+columns:")
                self.assertEqual(set(left_out.findall(text)) - {str(columns)}, set())
                plain = left_out.sub("", COLOUR.sub("", text))
                self.assertTrue(not is_repeatable or set(NUMBER.findall(plain)) <= numbers, text)

    def test_files_of_every_kind(self):
        for name in KINDS:
            self.check("show", committed(name))
            self.check("show", committed(name), "--verbose")

    def test_other_commands(self):
        self.check("advise", "rows.json", *JOB)
        self.check("compare", "old.json", "new.json")
        several = ("--mode", "pinned,async,double-buffer", "--streams", "1,2", "--chunk", "4K,8K,16K")
        for arguments in (
            (*several, "--size", "64K", "--direction", "both,bidir", *FEW), ("--mode", "pinned", "--latency", *FEW),
            ("--mode", "double-buffer", "--size", "64K", "--chunk", "4K", "--timeline", *FEW),
        ):
            self.check(*arguments, program=FAKE, is_repeatable="--timeline" not in arguments)
        for word in ("", "all", "columns", "words", "pipeline", "--size"):  # `all` has every command
            for columns in (60, 80, 120):
                text = self.on_terminal(columns, "help", *word.split()).out
                self.assertLessEqual(max(map(len, COLOUR.sub("", text).splitlines())), min(columns, 100))
        for columns in NARROW:  # what a backend looked for may have long words, which stay whole
            for line in COLOUR.sub("", self.on_terminal(columns, "list").out).splitlines():
                self.assertTrue(len(line) <= columns or " " not in line.strip(), line)

    def test_matrices_are_whole(self):
        """What does not fit beside the rest stands below it."""
        arguments = ("show", committed("h200-x4/nvb-peer"), "--verbose", "--columns", "all")
        whole, narrow = (COLOUR.sub("", self.on_terminal(columns, *arguments).out) for columns in (WIDE, 40))
        matrices, split = (re.findall(r"\d+\.\d+", text[text.index("\npeer,") :].partition("\nReading\n")[0])
                           for text in (whole, narrow))
        self.assertEqual(sorted(split), sorted(matrices))
        self.assertGreater(len(narrow.splitlines()), len(whole.splitlines()) + 20)

    def test_errors(self):
        """They fit a terminal; a pipe gets one line. The line of the source is for who asks for it."""
        shown = []
        for arguments in (("run",), ("run", "frobnicate")):
            outcome = self.run_program(*arguments, terminal=Terminal(60), environment=harness.absent_environment())
            shown.append(outcome.err.replace("\r\n", "\n"))
            self.check_lines(shown[-1], 60)
        self.assertRegex(shown[0], r"(?m)^  cuda: \w")
        self.assertEqual(self.run_program("run", "frobnicate").err, shown[1].replace("\n  ", " "))
        for debug, end in ((None, ""), ("1", r", at .*/file_text\.c:\d+")):
            said = self.run_program("show", "none", environment={"XFERBENCH_DEBUG": debug}).err
            words = r"xferbench: none: cannot be read: No such file or directory \[stat: ENOENT \(2\)\]"
            self.assertRegex(said, rf"\A{words}{end}\n\Z")

    def test_long_words(self):
        """A terminal breaks them where they reach its edge. In a file they stay whole, to be searched for."""
        path = "/opt/" + 30 * "vendor/" + "lib.so"
        document = harness.read_json(committed("h200/pinned-1g"))
        document["devices"][0]["name"] = "Accelerator with a name of " + 80 * "X"
        document["backend"]["runtime_library"] = path
        self.write_json("long.json", document)
        text = COLOUR.sub("", self.on_terminal(60, "show", "long.json", "--verbose").out)
        self.check_lines(text, 60)
        self.assertIn(path, re.sub(r"\n *", "", text))
        self.assertIn(path, self.assert_succeeds("show", "long.json", "--verbose").out)

    def test_columns(self):
        """Those that went are named, and on a terminal it is told where all are explained."""
        name, words = committed("h200/all-256m"), "\nColumns: xferbench help columns\n"
        text = COLOUR.sub("", self.on_terminal(80, "show", name, "--verbose").out)
        header = next(line for line in text.splitlines() if line.startswith("MODE"))
        self.assertEqual(header.split(), "MODE VARIANT DIR SIZE BUFFERS GB/s 95% INTERVAL OK".split())
        self.assertIn("\nNot shown in 80 columns: MIN, MAX, SUBMIT, DONE, N. JSON and CSV have all.\n", text)
        self.assertEqual((text.count(words), self.assert_succeeds("show", name, "--verbose").out.count(words)), (1, 0))

    def test_colours(self):
        """On a terminal that has them, unless nobody wants them; they take no column, and change nothing else. Of what
        they are: tests/golden/show/in-colour."""
        link = ("show", committed("h200-x4/link-pairs"), "--verbose")
        for arguments in (link, ("advise", "rows.json", *JOB), ("compare", "old.json", "new.json"), ("list",)):
            with self.subTest(arguments=arguments):
                program = FAKE if arguments[0] == "list" else XFERBENCH  # how much can be page-locked changes here
                text = self.on_terminal(80, *arguments, program=program).out
                self.assertRegex(text, COLOUR)
                for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                    self.assertEqual(self.on_terminal(80, *arguments, program=program, **environment).out,
                                     COLOUR.sub("", text))
                in_ascii = self.on_terminal(80, *arguments, program=program, LC_ALL="C").out
                self.assertTrue(in_ascii.isascii(), in_ascii)
        always = self.on_terminal(80, "list", "--color", "always", program=FAKE, NO_COLOR="1").out
        self.assertEqual(always, self.on_terminal(80, "list", program=FAKE).out)
        self.assertEqual(self.on_terminal(80, "list", "--color", "never", program=FAKE).out, COLOUR.sub("", always))
        self.assertIn("\x1b[1m", self.run_program("list", "--color", "always").out)


class UntrustedText(Case):
    """Paths, names of devices and words of drivers cannot steer a terminal or the log of a CI system."""

    # A line of its own that is a command, one that is a command anywhere, and a change of colour.
    EVIL = "x\n::error::forged\n##[error]forged\r\x1b[31m\x9b31m\u202e\t"
    COMMAND = re.compile(r"^\s*::|##\[", re.M)

    def check(self, *arguments, **options):
        outcome = self.run_program(*arguments, **options)
        for text in (outcome.out.replace("\r\n", "\n"), outcome.err):  # which ends a line of CSV
            self.assertIsNone(CONTROL.search(text), repr(text))
            self.assertIsNone(self.COMMAND.search(text), repr(text))
        return outcome

    def assert_harmless(self, *arguments, **options):
        """It fails, says something, and nothing of it does harm."""
        outcome = self.check(*arguments, **options)
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assertIn("forged", outcome.err)

    def test_words_of_the_command_line(self):
        evil, nowhere, link = self.EVIL, f"nowhere/{self.EVIL}", ("link", *HOST)
        interleaved = (*SMALL, "--processes", "2", "--interleave")
        files = ("--json", "a", "--baseline-json", "b")
        self.write(evil, "{}")
        for arguments in (
            (evil,), ("run", evil), ("--backend", evil), ("--mode", evil), ("--size", evil), (f"--{evil}",),
            ("--help", evil),
            ("--help", "pinned", evil), (*SMALL, "--json", nowhere), (*SMALL, "--processes", "2", "--json", nowhere),
            (*SMALL, "--csv", nowhere), (*interleaved, nowhere, *files), ("list", "--json", nowhere),
            (*link, "--json", nowhere), (*link, "--limits", nowhere), (*link, "--limits", evil),
            (*link, "--expect", evil),
            (*link, "-f", "nagios", "--limits", nowhere), (*link, "-f", "nhc", "--limits", nowhere),
            ("compare", nowhere, nowhere), ("compare", evil, "b"), ("compare", "--threshold", evil, "a", "b"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_harmless(*arguments)
        self.assert_harmless(*interleaved, "./" + os.path.basename(self.script("exit 2", evil)), *files)

    def test_texts_of_files(self):
        """Neither those of a file nor the file's name, in any format that is read by people or by CI systems."""
        evil = self.EVIL
        document = json.loads(self.assert_succeeds(*SMALL, "--json", "-").out)
        document["backend"] |= {"driver_version": evil, "runtime_version": evil}
        document["host"]["hostname"] = document["tool"]["version"] = evil
        document["devices"][0] |= {"name": evil, "facts": {evil: evil}}
        document["devices"][0]["numa"]["note"] = evil
        row = document["results"][0]
        row |= {"variant": evil, "warnings": [evil], "parameters": {evil: evil}}
        empty = dict.fromkeys(("timer", "bytes_moved", "stop_reason", "verified")) | {"samples_s": [], "figures": []}
        document["results"].append(row | empty | {"mode": evil, "status": "skipped", "reason": evil})
        self.write_json("b" + evil, document)
        merged = harness.merged([document, None], role="candidate", program=evil, interleaved_with=evil)
        merged["processes"][1]["failure"] = evil
        self.write_json("merged.json", merged)
        self.assert_ends(3, "link", *HOST, "--json", "link.json")
        link = self.load("link.json")
        link["command"] = link["devices"][0]["name"] = link["devices"][0]["verdict"]["reasons"][0]["text"] = evil
        self.write_json("link.json", link)
        for name in ("table", "markdown", "junit", "json"):
            self.check("compare", "b" + evil, "merged.json", "-f", name, "-o", f"compared.{name}")
        for file in ("compared.table", "compared.markdown", "compared.junit"):
            text = self.read(file)
            self.assertFalse(CONTROL.search(text) or self.COMMAND.search(text), repr(text))
        for line in self.run_program("compare", "b" + evil, "merged.json", "-f", "github").out.splitlines():
            self.assertRegex(line, r"^::(error|warning|notice) title=xferbench [^:]*::")
            self.assertEqual((line.count("::"), "##[" in line), (2, False), line)
        for files in (("b" + evil,), ("merged.json",), ("compared.json",), ("link.json",),
                      ("merged.json", "missing" + evil)):
            with self.subTest(files=files):
                outcome = self.check("show", *files)
                self.assertEqual((outcome.code, "forged" in outcome.out), (len(files) - 1, True), outcome)
        script = self.script('exec cat "b"*', "results")
        files = ("--json", "a", "--baseline-json", "c")
        self.check(*SMALL, "--processes", "2", "--interleave", script, *files)

    @needs_stand_in
    def test_words_of_a_driver(self):
        library = self.path(self.EVIL.replace("/", ""))
        os.symlink(harness.STAND_IN, library)
        run = ("--backend", "hip", "--mode", "pinned", "--size", "4K", "--samples", "3")
        for path in (library, f"/nowhere/{self.EVIL}"):
            names = {"ARCH": "gfx\n::error::forged", "NAME": self.EVIL}
            environment = stand_in(**names) | {"XFERBENCH_HIP_LIBRARY": path}
            for arguments in (("list",), run, (*run, "--csv", "-"), ("link", "--backend", "hip"),
                              ("link", "--backend", "hip", "-f", "nagios")):
                with self.subTest(path=path, arguments=arguments):
                    outcome = self.check(*arguments, environment=environment)
                    self.assertTrue(path == library or "nowhere" in outcome.out + outcome.err)


if __name__ == "__main__":
    harness.main()
