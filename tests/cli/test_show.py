#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`show` tells of any file what the command told that wrote it. Single texts are in tests/golden/show.
usage: test_show.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import glob
import json
import os
import re

import harness
from harness import (ABOUT_LATENCY, ASKS_FOR_MORE, CONTROL, FAKE, FEW, HOST, MODES, RESULTS, Case, Terminal, committed,
                     needs_stand_in,
                     stand_in, words_of)

FOREIGN = re.compile(r"/(hold-depth|repeat-[a-z-]+)\.json$")  # of other programs than xferbench
FILES = [path for path in sorted(glob.glob(f"{RESULTS}/*/*.json")) if not FOREIGN.search(path)]
PIPED = 100
SCREEN = 40  # lines


class Show(Case):
    def show(self, *files, **options):
        """What it prints of files that it can read."""
        outcome = self.assert_succeeds("show", *files, **options)
        self.assertEqual(outcome.err, "")
        return outcome.out



class AsTold(Show):
    """Nothing is lost from what a command prints to what a file has, whatever was measured."""

    def assert_shown(self, code, *arguments, **options):
        told = self.assert_ends(code, *arguments, "--json", "out.json", **options).out.removesuffix(ASKS_FOR_MORE)
        self.assertNotEqual(told, "")
        self.load("out.json")  # holds it against its schema
        self.assertEqual(self.show("out.json"), told)
        return told

    def test_every_mode(self):
        """Each alone, of one size and of several, and all together; on one screen."""
        for mode in (*MODES, "all"):
            latency = ("--latency",) if mode in ABOUT_LATENCY else ()
            for size in ("2M",) if latency else ("64K", "4K..1M") if mode in ("pinned", "async", "batch") else ("64K",):
                with self.subTest(mode=mode, size=size):
                    self.assert_shown(0, "--mode", mode, *latency, "--size", size, *FEW, program=FAKE)
                    self.assertIn("<html", self.assert_succeeds("report", "out.json").out)
                    text = self.on_terminal(80, "show", "out.json", NO_COLOR="1").out
                    self.check_lines(text, 80)
                    most = max(SCREEN, 6 + 2 * len(MODES)) if mode == "all" else SCREEN  # a mode has a line each way
                    self.assertLessEqual(len(text.splitlines()), most, text)
                    self.assertRegex(text, r"\A.*\S\n(.*\n){1,3}?(?<=\.\n)\n", "no answer below the header")

    def test_other_commands_and_what_was_not_measured(self):
        for code, *arguments in (
            (0, "--mode", "pinned,async", "--size", "16M", "--direction", "both,bidir", "--chunk", "1M", *FEW),
            (0, "--mode", "pinned", "--size", "64K", "--device", "all", "--simultaneous", *FEW),
            (0, "--mode", "pinned,zero-copy", "--latency", *FEW), (3, "--size", "4K", *FEW, "--deadline", "1ns"),
            (0, "--mode", "pinned", "--size", "64K", *FEW, "--processes", "6"),
            (0, "--mode", "pinned", "--latency", *FEW, "--processes", "2"),
            (3, "link", "--size", "16M", "--attempts", "1"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_shown(code, *arguments, program=FAKE)
        self.assert_shown(3, "link", *HOST)
        self.assert_shown(0, *HOST, "--size", "4K,16M", *FEW)

    @needs_stand_in
    def test_gpus(self):
        """Pairs stand in matrices, and several devices have sums. A command that failed is shown without a failure."""
        gpus = ("--backend", "hip", "--device", "all", "--size", "4K", *FEW)
        for code, more, steering, words in (
            (0, ("--mode", "all"), {}, ("\nGPU 1: ", "(rows: from, columns: to; xGMI)")),
            (0, ("--mode", "pinned", "--simultaneous"), {}, ("\n2 GPUs at the same time\n", " sum ")),
            (0, ("--mode", "peer", "--processes", "2"), {}, ("(rows: from, columns: to; xGMI)", " 0>1 ")),
            (1, ("--mode", "pinned"), {"DAMAGE": "h2d"}, ("ERROR",)),
            (1, ("--mode", "pinned", "--processes", "2"), {"DAMAGE": "h2d"}, ("ERROR",)),
        ):
            with self.subTest(more=more):
                self.assert_shown(code, *gpus, *more, environment=stand_in(**steering))
                self.assert_words(self.show("out.json", "--verbose"), words)
        done = self.run_program("link", "--backend", "hip", "--json", "out.json", environment=stand_in())
        self.assertEqual(self.show("out.json"), done.out)

    def test_the_reading(self):
        """What a file has under `reading` is what the table says, and rests on rows of the file; nobody reads it."""
        arguments = ("--mode", "pageable,pinned,zero-copy", "--direction", "h2d", "--size", "4K,16M", *FEW)
        for more in ((), ("--processes", "3")):
            self.assert_shown(0, *HOST, *arguments, *more)
            told = self.show("out.json", "--verbose")
            document = self.load("out.json")
            section = told.partition("\nReading\n")[2].partition("\n\n")[0]
            lines = [words_of(line) for line in re.sub(r"\n {15}", " ", section).splitlines() if line.startswith("  ")]
            self.assertGreater(len(lines), 1, told)
            for line, entry in zip(lines, document["reading"], strict=True):
                self.assertTrue(line.startswith(entry["label"]) and line.endswith(words_of(entry["text"])),
                                (line, entry))
                for case in entry["cases"]:
                    alike = [row for row in document["results"] if all(row[key] == case[key] for key in case)]
                    self.assertEqual(len(alike), 1, case)
            for reading in (None, [{"code": "XB-LIE", "cases": "none"}]):
                self.write_json("other.json", document | {"reading": reading})
                self.assertEqual(self.show("other.json", "--verbose"), told)

    def test_pipe(self):
        """As a shell's <(...) gives them."""
        os.mkfifo(self.path("pipe"))
        process = self.start("show", "pipe")
        with open(committed("h200/link-1"), encoding="utf-8") as file:
            self.write("pipe", file.read())
        self.assertEqual(self.assert_ended(0, process).out, self.show(committed("h200/link-1")))
        refused = self.run_program("show", "pipe", "--csv", "-")
        self.assertEqual((refused.code, refused.out), (2, ""))
        self.assertIn("'pipe' is a pipe, and --csv reads each file twice", refused.err)


class CommittedFiles(Show):
    """By builds of every age."""

    def test_every_row_is_there(self):
        files = FILES[::3] if harness.is_sanitized() else FILES  # which take their time
        parts = re.split(r"(?m)^==> (.*) <==\n\n", self.show(*files, "--verbose"))
        self.assertEqual(parts[1::2], files)
        self.assertGreater(len(FILES), 60)
        for path, text in zip(files, parts[2::2]):
            with self.subTest(file=path):
                self.assertTrue(text.startswith(("xferbench ", "Node ")), text)
                self.assertIsNone(CONTROL.search(text))
                self.check_lines(text, PIPED)
                with open(path, encoding="utf-8") as file:
                    rows = json.load(file).get("results", ())
                for row in rows:
                    # Pairs and their groups stand in matrices.
                    if row["peer"] is None and "group" not in row["parameters"]:
                        self.assertRegex(text, rf"(?m)^{row['mode']} +{row['variant']} +{row['direction']} ")

    def test_every_overview_fits_a_terminal(self):
        terminal = Terminal(80)
        variables = {"TERM": "xterm", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
        process = self.start("show", *FILES, terminal=terminal, stdout=terminal.slave, environment=variables)
        text = self.assert_ended(0, process).err.replace("\r\n", "\n")
        for part in re.split(r"(?m)^==> .* <==\n\n", text)[1:]:
            self.check_lines(part, 80)

    def test_numbers_have_a_point_in_every_language(self):
        """de_DE has a comma; where it is not installed there is nothing to be misled by."""
        for form in ("--csv", "-"), ("--verbose",):
            told = [self.show(committed("h100/all-256m"), *form, environment={"LC_ALL": name})
                    for name in ("C.UTF-8", "de_DE.UTF-8")]
            self.assertEqual(*told)

    def test_nothing_is_said_of_a_figure_that_a_file_lacks(self):
        """Committed files that have every figure of every mode between them; each without one."""
        no_number = re.compile(r"(?i)(?<![\w.])-?(nan|inf)(?!\w)")
        seen, lacking = set(), 0
        for path in sorted(FILES, key=lambda path: (os.path.getsize(path), path)):
            document = harness.read_json(path)
            rows = [(row["mode"], row.get("figures", ())) for row in document.get("results", ())]
            names = {(mode, one["name"]) for mode, row in rows for one in row} - seen
            seen |= names
            for name in sorted({name for _, name in names})[:: 3 if harness.is_sanitized() else 1]:
                lacks = [row | {"figures": [one for one in row["figures"] if one["name"] != name]}
                         for row in document["results"]]
                self.write_json("lacks.json", document | {"results": lacks})
                shown = self.run_program("show", "lacks.json", "--verbose")
                if shown.code != 0:  # it is what the row is about
                    self.assertIn(f"have no {name}", shown.err)
                    continue
                lacking += 1
                with self.subTest(path=path, name=name):
                    page = self.assert_succeeds("report", "lacks.json", "--output", "-")
                    others = [self.run_program("compare", path, "lacks.json")] if lacking % 4 == 0 else []
                    for outcome in (shown, page, *others):
                        self.assertIsNone(no_number.search(outcome.out + outcome.err), outcome)
        self.assertGreater(lacking, 30)


if __name__ == "__main__":
    harness.main()
