#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench compare` of files in which every process had wrong data.
usage: test_compare_wrong_data.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import os

import harness
from harness import SOURCE, Case

MEASURED = os.path.join(SOURCE, "bench", "results", "h200", "pinned-1g.json")
PROCESSES = 8
INCONCLUSIVE = 3


def spoil(row, verified):
    """What `run` writes of a case that failed: no figures."""
    row |= {"status": "error", "reason": "byte 7 is wrong", "verified": verified, "figures": []}


def merged(verified):
    """The case h2d as measured, d2h failed in every process."""
    with open(MEASURED, encoding="utf-8") as file:
        document = json.load(file)
    for row in document["results"]:
        if row["direction"] == "d2h":
            spoil(row, verified)
    return harness.merged([document] * PROCESSES)


class WrongData(Case):
    def compare(self, verified, *arguments):
        old = self.write_json("old.json", merged(verified))
        new = self.write_json("new.json", merged(verified))
        return self.run_program("compare", old, new, *arguments)

    def test_wrong_data_in_all_processes_of_both_is_inconclusive(self):
        done = self.compare(False)
        self.assertEqual(done.code, INCONCLUSIVE, done)
        self.assertIn("INCONCLUSIVE: 1 of 2 results failed", done.out)
        self.assertIn("wrong data in 8 of 8 processes of the candidate", " ".join(done.out.split()))
        document = json.loads(self.compare(False, "--format", "json").out)
        harness.check_schema(document)
        verdicts = [case["verdict"] for case in document["cases"]]
        self.assertEqual(sorted(verdicts), ["INCONCLUSIVE", "PASS"])

    def test_failures_in_all_processes_of_both_are_listed(self):
        done = self.compare(None)
        self.assertEqual(done.code, 0, done)
        self.assertIn("failed in 8 of 8 processes of the candidate", " ".join(done.out.split()))


if __name__ == "__main__":
    harness.main()
