#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mode that the program does not have, added as docs/adding-a-mode.md says (one file, one word), goes through every
command: nothing outside a mode's own file may have to know it.
usage: test_trial_mode.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import os
import re

import harness
from harness import ASKS_FOR_MORE, FEW, HOST, MODES, Case, figure, rows_of_csv

# The program with the mode of the document in it, and the reference of options that goes with it.
TRIAL = os.path.join(harness.BUILD, "tests", "xferbench_example")
REFERENCE = os.path.join(harness.BUILD, "tests", "options_reference_example")
# As large as a row has to be for the Reading to speak of it.
LARGE = (*HOST, "--mode", "halves", "--size", "16M", *FEW)
SMALL = (*HOST, "--mode", "halves", "--size", "1,4096,1000001", *FEW)
SAYS = r"(?m)^  halves       Two copies take [0-9.]+ times as long as one\.$"
EVEN = [1 + 0.001 * i for i in range(8)]


class TrialMode(Case):
    def start(self, *arguments, program=TRIAL, **options):
        return super().start(*arguments, program=program, **options)

    def test_everybody_names_it(self):
        """Behind the modes that the program has; also where it has come to stay, for whoever does what the document
        says."""
        listed = r"(?m)^  halves +page-locked host memory in two copies$"
        names = [*dict.fromkeys((*MODES, "halves"))]
        self.assertRegex(self.assert_succeeds("list").out, listed)
        self.assertRegex(self.assert_succeeds("help", "all").out, listed)
        modes = self.load_text(self.assert_succeeds("list", "--json", "-").out)["modes"]
        self.assertEqual([mode["name"] for mode in modes], names)
        self.assertEqual([variant["name"] for variant in modes[-1]["variants"]], ["two-copies"])
        self.assert_usage(("'halvs'", "did you mean 'halves'"), "--mode", "halvs")

    def test_help_and_reference(self):
        said = self.assert_succeeds("help", "halves").out
        self.assertTrue(said.startswith("halves: page-locked host memory in two copies\n"), said)
        self.assert_words(said, ("Directions: h2d d2h\n", "  whole_time  ", "  cost_of_halves  "))
        self.assert_words(self.assert_succeeds(program=REFERENCE).out, (
            "\n## Mode `halves`\n\npage-locked host memory in two copies.\n",
            "| `whole_time` | s | no | The same buffer in one copy |\n",
            "| `cost_of_halves` | 1 | no | The time of two copies by the time of one |\n",
        ))

    def test_what_is_written(self):
        """Of odd sizes too: of the second half a byte more, and nothing of the first."""
        self.assert_succeeds(*SMALL, "--json", "out.json", "--csv", "out.csv")
        results = self.load("out.json")["results"]
        self.assertEqual(len(results), 6)
        for line, result in zip(rows_of_csv(self.read("out.csv")), results, strict=True):
            self.assertEqual((result["status"], result["verified"], result["variant"], result["parameters"]),
                             ("ok", True, "two-copies", {}))
            whole, cost = figure(result, "whole_time"), figure(result, "cost_of_halves")
            halves = result["bytes_moved"] / figure(result, "bandwidth")["median"]
            self.assertAlmostEqual(cost["median"] / (halves / whole["median"]), 1, 9)
            self.assertEqual([(f["unit"], f["more_is_better"], f["gates"]) for f in (whole, cost)],
                             [("s", False, False), ("1", False, False)])
            self.assertEqual((line["mode"], line["variant"], line["status"]), ("halves", "two-copies", "ok"))
            self.assertEqual([float(line["whole_time_s"]), float(line["cost_of_halves"])],
                             [whole["median"], cost["median"]])

    def test_what_is_shown(self):
        """As it was told, of one process and of several. A program without the mode lacks only what the mode says."""
        for processes in ("2", "1"):
            told = self.assert_succeeds(*LARGE, "--processes", processes, "--json",
                                        "out.json").out.replace(ASKS_FOR_MORE, "")
            self.assertEqual(self.assert_succeeds("show", "out.json").out, told)
            said = self.assert_succeeds("show", "out.json", "--verbose").out
            self.assertRegex(said, r"(?m)^halves +two-copies +h2d +16 MiB .* yes$")
            self.assertRegex(said, SAYS)
            document = self.load("out.json")
            for i, row in enumerate(document["results"] if processes == "2" else ()):
                for name in ("whole_time", "cost_of_halves"):
                    own = [figure(one["document"]["results"][i], name)["median"] for one in document["processes"]]
                    self.assertEqual(figure(row, name)["medians"], own, name)
        if "halves" not in MODES:
            shown = self.assert_succeeds("show", "out.json", program=harness.XFERBENCH).out
            told = re.sub(SAYS + r"\n", "", told).replace("\nReading\n", "")
            self.assertEqual(shown.replace(" two-copies", "").split(), told.split())

    def test_compare(self):
        """Its costs are worse, but only what gates by itself is looked at unless it is named."""
        self.assert_succeeds(*HOST, "--mode", "halves", "--size", "4K", *FEW, "--json", "one.json")
        one, gate = self.load("one.json"), ("--gate", "halves/*/*/cost_of_halves")
        for code, factor, verdict, *arguments in (
            (0, 1.5, "PASS"), (1, 1.5, "REGRESSION", *gate), (0, 1, "PASS", *gate), (0, 0.5, "IMPROVED", *gate),
        ):
            for name, scale in (("old.json", 1), ("new.json", factor)):
                documents = [copy.deepcopy(one) for _ in EVEN]
                for document, even in zip(documents, EVEN):
                    for row in document["results"]:
                        figure(row, "cost_of_halves")["median"] = scale * even
                self.write_json(name, harness.merged(documents))
            command = ("compare", "old.json", "new.json", *arguments)
            with self.subTest(verdict=verdict, arguments=arguments):
                table = self.assert_ends(code, *command, "--json", "comparison.json").out
                self.assertEqual(self.assert_succeeds("show", "comparison.json").out, table)
                cases = [case for case in self.load("comparison.json")["cases"] if case["gates"]]
                name = "cost_of_halves" if arguments else "bandwidth"
                self.assertEqual([(c["mode"], c["figure"], c["verdict"]) for c in cases],
                                 [("halves", name, verdict)] * 2)
        self.assert_usage(("cost_of_halfs", "cost_of_halves"),
                          "compare", "old.json", "new.json", "--gate", "halves/*/*/cost_of_halfs")


if __name__ == "__main__":
    harness.main()
