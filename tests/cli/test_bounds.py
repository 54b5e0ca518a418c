#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--simultaneous, --quick and --deadline: how much is measured.
usage: test_bounds.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import io
import itertools

import harness
from harness import ENDLESS, FEW, HOST, MOVING, SMALL
from measuring import NO_PAIRS, Measuring


class Bounds(Measuring):
    """--simultaneous, --quick and --deadline: how much is measured."""

    def test_several_devices_where_there_is_one(self):
        """Each alone as ever, and rows that say why there is nothing beside them."""
        document, out = self.run_whatever(
            *(0, "-m", "pageable,pinned", "--staging", "driver", "-s", "4K", *FEW, "--simultaneous", "--verbose")
        )
        results = document["results"]
        found = [(r["mode"], r["direction"], r["simultaneous"], r["device"]) for r in results]
        alone = [*itertools.product(("pageable", "pinned"), ("h2d", "d2h"), (False,), (0,))]
        together = [*itertools.product(("pinned",), ("h2d", "d2h"), (True,), (None, 0))]
        self.assertEqual(found, alone + together)
        self.assert_statuses(results, ["ok"] * 4 + ["skipped"] * 4)
        for result in results[4:]:
            self.assert_skipped(result, "needs two GPUs; only one is here or selected")
        (_, alone), (_, together) = self.tables(out)
        self.assertEqual((len(alone), len(together)), (4, 4))
        self.assertEqual([" sum " in row for row in together], [True, False] * 2)
        self.assertIn("\nGPUs at the same time\nMODE ", out)

    def test_quick(self):
        document = self.run_to_json(*HOST, "-m", "pageable", "-d", "h2d", "--quick")
        self.assertIs(document["config"]["quick"], True)
        self.assertEqual(document["config"]["time-limit"], 0.1)
        self.assertEqual(document["config"]["size"], [64 << 20])
        self.assertEqual(document["results"][0]["bytes"], 64 << 20)

    def test_quick_gives_way(self):
        arguments = ("-m", "pageable", "-d", "h2d", "--quick")
        config = self.run_to_json(*HOST, *arguments, "--size", "4K")["config"]
        self.assertEqual((config["size"], config["time-limit"]), ([4096], 0.1))
        config = self.run_to_json(*HOST, "-t", "2ms", *arguments, "-s", "4K,8K")["config"]
        self.assertEqual((config["size"], config["time-limit"]), ([4096, 8192], 0.002))

    def test_deadline_that_is_past(self):
        """Nothing was tested: exit 3, and every row says why."""
        document, out = self.run_whatever(3, "--size", "4K", *FEW, "--deadline", "1us")
        self.assertEqual(document["config"]["deadline"], 1e-6)
        self.assertIs(document["deadline_met"], False)
        self.assertIs(document["interrupted"], False)
        for result in document["results"]:
            # What could not be tested at any time says that.
            peer = result["mode"] == "peer"
            self.assert_skipped(result, NO_PAIRS if peer else "the deadline came before it began")
        count = len(document["results"])
        self.assertEqual({result["mode"] for result in document["results"]}, set(MOVING))
        self.assert_words(out, ("STOPPED", f"the deadline came: 0 of {count} cases"))

    def test_deadline_in_the_csv(self):
        outcome = self.run_program(*SMALL, "--deadline", "1ns", "--csv", "-")
        self.assertEqual(outcome.code, 3, outcome)
        (line,) = csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True)
        self.assertEqual((line["status"], line["stop_reason"]), ("skipped", ""))
        self.assertIn("deadline", line["reason"])

    def test_deadline_cuts_a_case(self):
        """One that would go on for minutes: what there is by then is written."""
        outcome = self.run_program(*ENDLESS, "--deadline", "1s", "--json", "out.json")
        document = self.load("out.json")
        self.assertIs(document["deadline_met"], False)
        first, second = document["results"]
        if first["status"] == "ok":
            self.assertEqual((first["stop_reason"], first["verified"]), ("deadline", True))
            self.assert_described(first)
        else:  # a machine so busy that nothing could be begun
            self.assert_skipped(first, "deadline")
        self.assertEqual(outcome.code, 0 if first["status"] == "ok" else 3, outcome)
        # The first ends where another repetition would be too long: mostly too little is left for the second.
        if second["status"] == "ok":
            self.assertEqual((second["stop_reason"], second["verified"]), ("deadline", True))
        else:
            self.assert_skipped(second, "the deadline came before it")
        self.assert_words(outcome.out, ("STOPPED", "the deadline came", "of 2 cases"))

    def test_deadline_that_is_far(self):
        document = self.run_to_json(*SMALL, "--deadline", "60m")
        self.assertIs(document["deadline_met"], True)
        self.assertEqual(document["config"]["deadline"], 3600)

    def test_no_deadline(self):
        document = self.run_to_json(*SMALL)
        self.assertIsNone(document["deadline_met"])
        self.assertIsNone(document["config"]["deadline"])


if __name__ == "__main__":
    harness.main()
