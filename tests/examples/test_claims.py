#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/claims.py, and that docs/claims.md is what it makes of bench/results.
usage: test_claims.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import importlib
import json
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")

SCRIPT = os.path.join(harness.SOURCE, "bench", "claims.py")
SWEEP = os.path.join(harness.SOURCE, "bench", "results", "h200", "sweep.json")
KIB, MIB, GIB = 2**10, 2**20, 2**30


class Claims(harness.Case):
    def print_page(self, *arguments):
        outcome = self.run_program("-B", SCRIPT, *arguments, program=sys.executable)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out

    def page_of(self, change, name="sweep.json", source=SWEEP):
        """The page of one file, changed: change(row) of each row."""
        document = harness.read_json(source)
        for row in document["results"]:
            change(row)
        os.makedirs(self.path("results", "example"), exist_ok=True)
        with open(self.path("results", "example", name), "w", encoding="utf-8") as file:
            json.dump(document, file)
        return self.print_page(self.path("results"))

    def line_of(self, page, claim):
        """The cells of a claim's line, without its wording."""
        line = next(line for line in page.split("\n") if f'<a id="{claim}">' in line)
        return line.strip("| ").split(" | ")[1:]

    def verdict_of(self, page, claim):
        return self.line_of(page, claim)[0].strip("*")

    def claims(self):
        with open(os.path.join(harness.SOURCE, "bench", "claims.tsv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_page_is_new(self):
        with open(os.path.join(harness.SOURCE, "docs", "claims.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text, self.print_page(), "make it anew: bench/claims.py > docs/claims.md")

    def test_only_numbers_decide(self):
        """Without results no claim holds, and none is refuted."""
        os.makedirs(self.path("nothing"))
        page = self.print_page(self.path("nothing"))
        for claim in self.claims():
            words = claim["otherwise"] or "not measured yet"
            self.assertRegex(words, "^(not measured yet|your program decides|needs )")
            self.assertEqual(self.verdict_of(page, claim["id"]), words)
            self.assertEqual(claim["value"] == "", claim["rule"] == "", claim)

    def test_commands(self):
        """The program takes every command. A claim once."""
        names = [claim["id"] for claim in self.claims()]
        self.assertEqual(len(names), len(set(names)))
        for command in sorted({claim["command"] for claim in self.claims()}):
            words = shlex.split(command)
            if not words or words[0] in ("explain", "advise"):
                continue
            plan = ("--dry-run", *(() if "--backend" in words else harness.HOST))
            outcome = self.run_program(*words, *(() if words[0] == "list" else plan))
            self.assertIn(outcome.code, (0, 3), (command, outcome.err))

    def test_from_a_size_on(self):
        """A sweep tells where a claim begins to hold, and where it ends; neither what is missing."""

        def wait(beginning, end):
            def change(row):
                slow = row["mode"] == "pageable" and beginning <= row["bytes"] <= end
                harness.figure(row, "wall_time")["median"] = 2.5 if slow else 1

            return change

        for beginning, end, faster, twice in (
            (0, 2 * GIB, "holds", "holds"),
            (MIB, 2 * GIB, "holds from 1 MiB on", "holds from 1 MiB on"),
            (0, 64 * KIB, "holds up to 64 KiB", "holds up to 64 KiB"),
            (MIB, 4 * MIB, "holds only from 1 MiB to 4 MiB", "holds only from 1 MiB to 4 MiB"),
            (1, 0, "does not hold", "does not hold"),
        ):
            page = self.page_of(wait(beginning, end))
            self.assertEqual(self.verdict_of(page, "pinned-faster-in"), faster)
            self.assertEqual(self.verdict_of(page, "pinned-2-to-3"), twice)
        self.assertEqual(self.line_of(page, "pinned-faster-in")[2], "4 KiB: 1; 1 GiB: 1")
        self.assertEqual(self.verdict_of(page, "write-combined"), "not measured yet")

    def test_what_is_new(self):
        """A figure that no mode has yet decides its claim once a file has it."""

        def remember(row):
            if row["mode"] == "pageable":
                row["figures"].append({"name": "peak_host_memory", "unit": "B", "median": 2 * MIB})

        self.assertEqual(self.verdict_of(self.page_of(remember), "pageable-doubles-memory"), "does not hold")

    def test_files_that_differ(self):
        """Some files for it and some against it: so it is said. Failed rows and other settings do not count."""

        def run(rate, **changes):
            def change(row):
                row.update(changes)
                harness.figure(row, "bandwidth")["median"] = rate

            return change

        self.page_of(run(50e9), "one.json")
        self.page_of(run(70e9), "two.json")
        self.page_of(run(1e9, status="error"), "failed.json")
        page = self.page_of(run(1e9, parameters={"host-offset": 64}), "offset.json")
        self.assertEqual(self.verdict_of(page, "gen5-50"), "holds in 1 of 2 files")
        self.assertEqual(self.line_of(page, "gen5-50")[2], "1 GiB: 60 GB/s (50 to 70 GB/s, 2 files)")


if __name__ == "__main__":
    harness.main()
