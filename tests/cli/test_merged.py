#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `xferbench --processes` makes of processes that do not agree. The documents of the baseline's
processes are made here, from one of the host backend, and a script prints them in turn.
usage: test_merged.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import json
import os
import re
import statistics

import harness
from harness import FEW, ONE, Case, figure

NOISY = "noisy: the median is known only to within {} %"


def gpu(document):
    """The document as of an NVIDIA GPU, which the host backend's device has not the fields of."""
    document["devices"][0] |= {"name": "NVIDIA H200", "uuid": "GPU-1", "pci_bdf": "0000:01:00.0"}
    return document


def rate(row):
    return figure(row, "bandwidth")["median"]


def scale(row, factor):
    """The row, so many times as fast, with samples to match."""
    row["samples_s"] = [second / factor for second in row["samples_s"]]
    bandwidth = figure(row, "bandwidth")
    bandwidth["samples"] = [sample * factor for sample in bandwidth["samples"]]
    for key in ("median", "ci95_low", "ci95_high", "min", "max", "p5", "p95", "p99", "mad"):
        if bandwidth[key] is not None:
            bandwidth[key] *= factor
    return row


class MergedCase(Case):
    SIZES = "4K"
    measured = {}  # one document of each list of sizes: every test changes copies

    def setUp(self):
        super().setUp()
        if self.SIZES not in self.measured:
            self.assert_succeeds(*ONE, *FEW, "--size", self.SIZES, "--json", "one.json")
            self.measured[self.SIZES] = self.load("one.json")
        self.one = copy.deepcopy(self.measured[self.SIZES])
        self.write_json("one.json", self.one)
        for row in self.one["results"]:
            row["warnings"] = []

    def copies(self, count):
        return [copy.deepcopy(self.one) for _ in range(count)]

    def merge(self, documents, code=0):
        """The merged file of these processes, and its table."""
        for turn, document in enumerate(documents, 1):
            self.write_json(f"{turn}.json", document)
        self.write("turns", "")
        self.write("baseline", "#!/bin/sh\necho >>turns\ncat $(($(wc -l <turns))).json\n")
        os.chmod(self.path("baseline"), 0o755)
        done = self.assert_ends(
            *(code, *ONE, *FEW, "--size", self.SIZES, "--processes", str(len(documents))),
            *("--verbose", "--interleave", "./baseline", "--json", "candidate.json", "--baseline-json", "baseline.json"),
        )
        merged = self.load("baseline.json")
        table = done.out[: done.out.index("\nxferbench ")]  # the candidate's is behind it
        self.assertIn("baseline", table)
        self.assertTrue(all(len(line) <= 100 for line in table.splitlines()), table)
        return merged, table

    def notes(self, table):
        """The notes, each on one line."""
        return re.sub(r"\n {3,}", " ", table)


class OtherConditions(MergedCase):
    """Figures of other things are not taken together."""

    def check(self, change, *words):
        first, second, third = (gpu(document) for document in self.copies(3))
        change(second)
        merged, table = self.merge([first, second, third], code=1)
        failure = merged["processes"][1]["failure"]
        self.assertEqual([p["document"] is not None for p in merged["processes"]], [True, False, True], failure)
        self.assertTrue(failure.startswith("measured under other conditions: "), failure)
        for word in words:
            self.assertIn(word, failure)
        row = merged["results"][0]
        self.assertEqual((row["status"], row["processes_ok"]), ("ok", 2))
        self.assertIsNone(figure(row, "bandwidth")["medians"][1])
        self.assertIn("other conditions", self.notes(table))
        # And the reader goes by the same rule.
        merged["processes"][1] |= {"document": second, "failure": None}
        self.write_json("edited.json", merged)
        done = self.assert_ends(2, "compare", "edited.json", "one.json")
        self.assertIn("edited.json: processes[1].document: measured under other conditions: ", done.err)
        for word in words:
            self.assertIn(word, done.err)

    def test_model(self):
        self.check(
            lambda d: d["devices"][0].update(name="NVIDIA B200"),
            "device 0 is another one (NVIDIA H200, then NVIDIA B200)",
        )

    def test_uuid(self):
        self.check(lambda d: d["devices"][0].update(uuid="GPU-2"), "device 0 is another one (UUID GPU-1, then GPU-2)")

    def test_address(self):
        self.check(
            lambda d: d["devices"][0].update(pci_bdf="0000:02:00.0"),
            "device 0 is another one (PCI address 0000:01:00.0, then 0000:02:00.0)",
        )

    def test_address_that_is_not_known(self):
        self.check(lambda d: d["devices"][0].update(pci_bdf=None), "then not known")

    def test_node(self):
        self.check(lambda d: d["host"].update(hostname="elsewhere"), "hostname is another one", "then elsewhere")

    def test_more_devices(self):
        self.check(lambda d: d["devices"].append(d["devices"][0] | {"index": 1}), "device 1 is new")

    def test_option(self):
        self.check(lambda d: d["config"].update(chunk=4096), "option chunk is another one", "then 4096")

    def test_option_that_is_missing(self):
        self.check(lambda d: d["config"].pop("chunk"), "option chunk is missing")

    def test_option_that_is_new(self):
        self.check(lambda d: d["config"].update(wibble=1), "option wibble is new")

    def test_backend(self):
        self.check(lambda d: d["backend"].update(name="cuda"), "the backend is another one (host, then cuda)")

    def test_device_that_is_missing(self):
        documents = [gpu(document) for document in self.copies(2)]
        documents[0]["devices"].append(documents[0]["devices"][0] | {"index": 1})
        merged, _ = self.merge(documents, code=1)
        self.assertIn("device 1 is missing", merged["processes"][1]["failure"])

    def test_what_may_differ(self):
        """What is left of a deadline, and what says nothing of where it was measured."""
        documents = [gpu(document) for document in self.copies(2)]
        documents[1]["config"]["deadline"] = 12.5
        documents[1]["timestamp"] = "2026-01-01T00:00:00Z"
        merged, _ = self.merge(documents)
        self.assertEqual([p["failure"] for p in merged["processes"]], [None, None])


class Missing(MergedCase):
    SIZES = "4K,8K"

    def test_row_that_is_missing(self):
        """Table and JSON say the same of it."""
        documents = self.copies(3)
        del documents[1]["results"][1]
        merged, table = self.merge(documents, code=1)
        row = merged["results"][1]
        self.assertEqual((row["status"], row["reason"]), ("skipped", "process 1 has no such row"))
        self.assertEqual((row["verified"], row["processes_ok"]), (None, 2))
        self.assertRegex(table, r"(?m)^pinned .* 4 KiB .* 3  yes *$")
        self.assertRegex(table, r"(?m)^pinned .* 8 KiB .* 2  -$")
        self.assertRegex(
            self.notes(table),
            r"(?m)^  skipped +pinned registered h2d 8 KiB in 1 of 3 processes: process 1 has no such row$",
        )

    def test_failed_process_is_not_missing(self):
        """It says nothing of any case."""
        documents = self.copies(3)
        documents[1] = {"schema": "none"}
        merged, table = self.merge(documents, code=1)
        for row in merged["results"]:
            self.assertEqual((row["status"], row["verified"], row["processes_ok"]), ("ok", True, 2))
        self.assertEqual(len(re.findall(r"(?m) 2  yes *$", table)), 2, table)


class Warnings(MergedCase):
    SIZES = "4K,8K"

    def test_of_real_processes(self):
        done = self.assert_succeeds(
            *ONE, *FEW, "--size", self.SIZES, "--processes", "3", "--verbose", "--json", "out.json"
        )
        merged = json.loads(self.read("out.json"))
        few = "too few samples for a confidence interval: 3 (it takes 6)"
        for row in merged["results"]:
            self.assertIn({"text": few, "processes": 3}, row["warnings"])
        self.assertIn(
            f"warning  pinned registered h2d 4 KiB and 1 more row in all 3 processes: {few}",
            self.notes(done.out),
        )
        self.assertIn("memory   host memory only: both directions are copies by the CPU", done.out)
        self.assertTrue(all(len(line) <= 100 for line in done.out.splitlines()), done.out)

    def test_figures_differ(self):
        documents = self.copies(4)
        for number, document in enumerate(documents):
            if number != 1:
                document["results"][0]["warnings"].append(NOISY.format(31 + number))
        documents[2]["results"][1]["warnings"] += ["bound to NUMA node 0: here", NOISY.format(7)]
        merged, table = self.merge(documents)
        first, second = (row["warnings"] for row in merged["results"])
        self.assertEqual(first, [{"text": NOISY.format(31), "processes": 3}])
        self.assertEqual(
            second,
            [{"text": "bound to NUMA node 0: here", "processes": 1}, {"text": NOISY.format(7), "processes": 1}],
        )
        notes = self.notes(table)
        self.assertIn(
            "noisy    pinned registered h2d 4 KiB and 1 more row in 1 to 3 of 4 processes: "
            + NOISY.partition(": ")[2].format("7 to 34"),
            notes,
        )
        self.assertIn("8 KiB in 1 of 4 processes: bound to NUMA node 0: here", notes)
        self.assertEqual(notes.count("noisy"), 1, notes)

    def test_none(self):
        merged, table = self.merge(self.copies(2))
        self.assertEqual([row["warnings"] for row in merged["results"]], [[], []])
        self.assertNotIn("Notes", table)

    def test_many(self):
        """The table has room for some, the JSON for all."""
        documents = self.copies(6)
        letters = "abcdefgh"
        for number, document in enumerate(documents):
            document["results"][0]["warnings"] = [f"{letters[number]}{letter}" for letter in letters]
        merged, table = self.merge(documents)
        self.assertEqual(len(merged["results"][0]["warnings"]), 48)
        self.assertEqual(table.count("  warning "), 33)
        self.assertIn("there are more: the JSON has all", table)

    def test_not_plain(self):
        documents = self.copies(2)
        documents[1]["results"][0]["warnings"] = ["\x1b[31mred\nä" + 9000 * "x "]
        merged, table = self.merge(documents)
        self.assertEqual(merged["results"][0]["warnings"][0]["text"][:6], "\x1b[31mr")
        self.assertTrue(table.isascii())
        self.assertNotIn("\x1b", table)

    def test_what_is_none(self):
        """An array of texts, as many as a run has at most."""
        for wrong in (None, {}, "noisy", [1], [""], [None], ["x"] * 9):
            with self.subTest(warnings=wrong):
                documents = self.copies(2)
                documents[1]["results"][0]["warnings"] = wrong
                merged, _ = self.merge(documents, code=1)
                self.assertIn("results[0].warnings", merged["processes"][1]["failure"])


class CutShort(MergedCase):
    """Rows that a signal or the deadline ended."""

    def cut(self, document, reason="interrupted"):
        """The last process's, which had time for less and found another rate."""
        document["interrupted"] = reason == "interrupted"
        if reason == "deadline":
            document["deadline_met"] = False
            document["config"]["deadline"] = 0.5
        document["results"][0]["stop_reason"] = reason
        document["results"][0]["warnings"] = [f"{reason} after 3 samples"]
        scale(document["results"][0], 0.25)

    def test_not_counted(self):
        for reason in ("interrupted", "deadline"):
            with self.subTest(reason=reason):
                documents = self.copies(4)
                self.cut(documents[3], reason)
                merged, table = self.merge(documents)
                row = merged["results"][0]
                rates = [rate(document["results"][0]) for document in documents[:3]]
                self.assertEqual((row["status"], row["verified"], row["processes_ok"]), ("ok", True, 4))
                bandwidth = figure(row, "bandwidth")
                self.assertEqual((bandwidth["medians"], bandwidth["n"]), ([*rates, None], 3))
                self.assertAlmostEqual(bandwidth["median"] / statistics.median(rates), 1)
                self.assertEqual(row["warnings"][0], {"text": "cut short in process 3: not counted", "processes": 1})
                self.assertRegex(table, r"(?m)^pinned .* 0\.0% +3  yes *$")
                self.assertIn("4 KiB: cut short in process 3: not counted", self.notes(table))

    def test_several(self):
        documents = self.copies(4)
        for number in (0, 2, 3):
            self.cut(documents[number])
        merged, table = self.merge(documents)
        text = "cut short in processes 0, 2 and 3: not counted"
        self.assertEqual(merged["results"][0]["warnings"][0], {"text": text, "processes": 3})
        self.assertIn(text, self.notes(table))

    def test_all(self):
        documents = self.copies(2)
        for document in documents:
            self.cut(document)
        merged, table = self.merge(documents)
        row = merged["results"][0]
        self.assertEqual((row["status"], row["figures"]), ("ok", []))
        self.assertRegex(table, r"(?m)^pinned .* cut short .* 0  yes *$")

    def compare(self, baseline, candidate):
        self.write_json("a.json", baseline)
        self.write_json("b.json", candidate)
        done = self.run_program("compare", "a.json", "b.json", "--format", "json")
        return json.loads(done.out)["cases"][0]

    def test_compare_takes_no_figure_from_it(self):
        cut = copy.deepcopy(self.one)
        self.cut(cut)
        case = self.compare(self.one, cut)
        self.assertEqual(case["verdict"], "INCONCLUSIVE", case)
        self.assertIn("the candidate's run was cut short", case["note"])

    def test_compare_merged(self):
        documents = self.copies(8)
        for number, document in enumerate(documents):
            scale(document["results"][0], 1 + number / 1e4)
        full, _ = self.merge(documents)
        self.cut(documents[7])
        part, _ = self.merge(documents)
        case = self.compare(full, part)
        self.assertEqual(case["verdict"], "PASS", case)
        self.assertIn("a run was cut short", case["note"])


if __name__ == "__main__":
    harness.main()
