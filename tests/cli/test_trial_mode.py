#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mode that the program does not have, added as docs/adding-a-mode.md says (one file, one word), goes
through every command: nothing outside a mode's own file may have to know it.
usage: test_trial_mode.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import csv
import json
import os
import re

import harness
from harness import FEW, HOST, MODES, figure
from measuring import Measuring

# The program with the mode of the document in it, and the reference of options that goes with it.
TRIAL = os.path.join(harness.BUILD, "tests", "xferbench_example")
REFERENCE = os.path.join(harness.BUILD, "tests", "options_reference_example")

# As large as a row has to be for the Reading to speak of it.
LARGE = (*HOST, "--mode", "halves", "--size", "16M", *FEW)
SMALL = (*HOST, "--mode", "halves", "--size", "4K", *FEW)
SAYS = r"(?m)^  halves       Two copies take [0-9.]+ times as long as one\.$"

PASS, REGRESSION, USAGE = range(3)


class TrialMode(Measuring):
    def start(self, *arguments, program=TRIAL, **options):
        return super().start(*arguments, program=program, **options)

    def test_everybody_names_it(self):
        """Behind the modes that the program has, as the list in CMakeLists.txt has it."""
        out = self.assert_succeeds("list").out
        self.assertRegex(out, r"(?m)^  halves +page-locked host memory in two copies$")
        self.assert_succeeds("list", "--json", "list.json")
        modes = self.load("list.json")["modes"]
        # Also where the mode has come to stay, for whoever does what the document says.
        self.assertEqual([mode["name"] for mode in modes], [*dict.fromkeys((*MODES, "halves"))])
        self.assertEqual([variant["name"] for variant in modes[-1]["variants"]], ["two-copies"])
        self.assertRegex(self.assert_succeeds("help", "all").out, r"(?m)^  halves +page-locked host memory in two copies$")
        self.assert_usage(("'halvs'", "did you mean 'halves'"), "--mode", "halvs")

    def test_the_word_is_the_list_of_today(self):
        """With which the document says how to replace it."""
        with open(os.path.join(harness.SOURCE, "docs", "adding-a-mode.md"), encoding="utf-8") as file:
            (words,) = re.findall(r"(?m)^    set\(XFERBENCH_MODES (.*)\)$", file.read())
        self.assertEqual(words.replace("_", "-").split(), [*dict.fromkeys((*MODES, "halves"))])

    def test_help(self):
        said = self.assert_succeeds("--help", "halves").out
        self.assertTrue(said.startswith("halves: page-locked host memory in two copies\n"), said)
        self.assert_words(said, ("Directions: h2d d2h\n", "  whole_time  ", "  cost_of_halves  "))
        self.assertEqual(self.assert_succeeds("help", "halves").out, said)

    def test_reference_of_options(self):
        said = self.assert_succeeds(program=REFERENCE).out
        self.assertIn("\n## Mode `halves`\n\npage-locked host memory in two copies.\n", said)
        self.assertIn("| `whole_time` | s | no | The same buffer in one copy |\n", said)
        self.assertIn("| `cost_of_halves` | 1 | no | The time of two copies by the time of one |\n", said)

    # ---- one process ----

    def test_table_and_reading(self):
        outcome = self.assert_succeeds(*LARGE, "--verbose")
        for row, direction in zip(self.rows(outcome.out), ("h2d", "d2h"), strict=True):
            self.assertRegex(row, rf"^halves +two-copies +{direction} +16 MiB +[0-9.]+ .* 3 +yes$")
        self.assertRegex(outcome.out, SAYS)

    def test_odd_sizes(self):
        """Of the second half a byte more, and nothing of the first."""
        self.run_to_json(*HOST, "--mode", "halves", "--size", "1,1000001", *FEW)

    def test_json(self):
        for result in self.run_to_json(*SMALL)["results"]:
            self.assertEqual((result["variant"], result["parameters"]), ("two-copies", {}))
            self.assert_described(result)
            self.assert_sampled(result, "whole_time")
            halves = result["bytes_moved"] / figure(result, "bandwidth")["median"]
            self.assert_computed(result, "cost_of_halves", halves / figure(result, "whole_time")["median"])
            own = [figure(result, name) for name in ("whole_time", "cost_of_halves")]
            self.assertEqual([(f["unit"], f["more_is_better"], f["gates"]) for f in own],
                             [("s", False, False), ("1", False, False)])

    def test_csv(self):
        results = self.run_to_json(*SMALL, "--csv", "out.csv")["results"]
        with open(self.path("out.csv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, strict=True))
        for line, result in zip(lines, results, strict=True):
            self.assertEqual((line["mode"], line["variant"], line["status"]), ("halves", "two-copies", "ok"))
            self.assertEqual(float(line["whole_time_s"]), figure(result, "whole_time")["median"])
            self.assertEqual(float(line["cost_of_halves"]), figure(result, "cost_of_halves")["median"])

    # ---- several processes, and files ----

    def test_several_processes(self):
        outcome = self.assert_succeeds(*LARGE, "--verbose", "--processes", "2", "--json", "out.json")
        self.assertRegex(outcome.out, r"(?m)^halves +two-copies +h2d +16 MiB .* [0-9.]+% +2 +yes$")
        self.assertRegex(outcome.out, SAYS)
        merged = self.load("out.json")
        for i, row in enumerate(merged["results"]):
            for name in ("whole_time", "cost_of_halves"):
                documents = [process["document"] for process in merged["processes"]]
                expected = [figure(document["results"][i], name)["median"] for document in documents]
                self.assertEqual(figure(row, name)["medians"], expected, name)

    def test_files_are_shown_as_they_were_told(self):
        for processes in ("1", "2"):
            with self.subTest(processes=processes):
                told = self.assert_succeeds(*LARGE, "--processes", processes, "--json", "out.json").out
                self.assertEqual(self.assert_succeeds("show", "out.json").out, told.replace(harness.ASKS_FOR_MORE, ""))

    def test_a_program_without_it_shows_its_files(self):
        """What only the mode can say is missing then, and nothing else."""
        if "halves" in MODES:
            self.skipTest("this build has the mode")
        told = self.assert_succeeds(*LARGE, "--json", "out.json").out
        shown = self.assert_succeeds("show", "out.json", program=harness.XFERBENCH).out
        told = re.sub(SAYS + r"\n", "", told).replace("\nReading\n", "").replace(harness.ASKS_FOR_MORE, "")
        self.assertEqual(shown.replace(" two-copies", "").split(), told.split())

    # ---- compare ----

    def file_of(self, name, factors):
        """A merged file whose processes have so many times the cost of the one that was measured."""
        documents = []
        for factor in factors:
            document = copy.deepcopy(self.document)
            for row in document["results"]:
                figure(row, "cost_of_halves")["median"] = factor
            documents.append(document)
        return self.write_json(name, harness.merged(documents))

    def compare(self, code, factor, *arguments):
        even = [1 + 0.001 * i for i in range(8)]
        self.file_of("old.json", even)
        self.file_of("new.json", [factor * cost for cost in even])
        outcome = self.assert_ends(code, "compare", "old.json", "new.json", "--format", "json", *arguments)
        table = self.assert_ends(code, "compare", "old.json", "new.json", *arguments).out
        self.write("comparison.json", outcome.out)
        self.assertEqual(self.assert_succeeds("show", "comparison.json").out, table)
        return json.loads(outcome.out)["cases"], table

    def test_compare(self):
        self.document = self.run_to_json(*SMALL)
        # Its costs are worse, but only what gates by itself is looked at unless it is named.
        cases, _ = self.compare(PASS, 1.5)
        self.assertEqual({case["figure"] for case in cases}, {"bandwidth"})
        self.assertEqual({case["mode"] for case in cases}, {"halves"})
        self.assertEqual({case["verdict"] for case in cases}, {"PASS"})

    def test_compare_gates_on_its_own_figure(self):
        self.document = self.run_to_json(*SMALL)
        gate = ("--gate", "halves/*/*/cost_of_halves")
        for code, factor, verdict in ((REGRESSION, 1.5, "REGRESSION"), (PASS, 1, "PASS"), (PASS, 0.5, "IMPROVED")):
            with self.subTest(verdict=verdict):
                cases, table = self.compare(code, factor, *gate)
                gating = [case for case in cases if case["gates"]]
                self.assertEqual({case["figure"] for case in gating}, {"cost_of_halves"})
                self.assertEqual([case["verdict"] for case in gating], [verdict] * 2)
                self.assertIn(verdict, table)
        self.assert_usage(("cost_of_halfs", "cost_of_halves"),
                          "compare", "old.json", "new.json", "--gate", "halves/*/*/cost_of_halfs")


if __name__ == "__main__":
    harness.main()
