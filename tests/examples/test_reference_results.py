#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/reference_results.py, and that docs/reference-results.md is what it makes of bench/results.
usage: test_reference_results.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import importlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")

SCRIPT = os.path.join(harness.SOURCE, "bench", "reference_results.py")
# Two processes of a machine, one after the other.
FILES = [os.path.join(harness.SOURCE, "bench", "results", "h200", f"all-1g-{i}.json") for i in (6, 7)]


class ReferenceResults(harness.Case):
    def print_page(self, *arguments):
        outcome = self.run_program("-B", SCRIPT, *arguments, program=sys.executable)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        return outcome.out

    def add_machine(self, name, change, files=FILES):
        """A folder with copies of files, changed."""
        for path in files:
            document = harness.read_json(path)
            change(document)
            os.makedirs(self.path("results", name), exist_ok=True)
            with open(self.path("results", name, os.path.basename(path)), "w", encoding="utf-8") as file:
                json.dump(document, file)

    def row_of(self, page, words):
        """The cells of a line of the first table: the answer's, of all machines with that GPU."""
        line = next(line for line in page.split("\n") if line.startswith(f"| {words} |"))
        return line.strip("| ").split(" | ")

    def test_page_is_new(self):
        with open(os.path.join(harness.SOURCE, "docs", "reference-results.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(
            text, self.print_page(), "make it anew: bench/reference_results.py > docs/reference-results.md"
        )

    def test_another_gpu(self):
        """A file that somebody sends is a machine more, its values are its own."""

        def another(rate):
            def change(document):
                document["devices"][0]["name"] = "Example GPU"
                document["devices"][0]["link"]["width"] = 8
                for row in document["results"]:
                    if (row["mode"], row["direction"]) == ("pinned", "h2d"):
                        harness.figure(row, "bandwidth")["median"] = rate

            return change

        self.add_machine("example", another(26e9), FILES[:1])
        self.add_machine("example", another(27e9), FILES[1:])
        page = self.print_page(self.path("results"))
        self.assertIn("## What should I see on an Example GPU, PCIe Gen5 x8?", page)
        self.assertIn("### example: Example GPU", page)
        self.assertEqual(
            self.row_of(page, "pinned, host to device")[1:4], ["1 GiB", "26.50 GB/s", "26.00 to 27.00"]
        )

    def test_what_does_not_count(self):
        """Other options, a steered runtime, wrong data, a signal, the host: none gives a value."""

        def steer(document):
            document["environment"]["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"

        def spoil(document):
            for row in document["results"]:
                row["status"] = "error"

        def offset(document):
            for row in document["results"]:
                row["parameters"] = {"host-offset": 64}

        self.add_machine("steered", steer)
        self.add_machine("interrupted", lambda document: document.update(interrupted=True))
        self.add_machine("wrong", spoil)
        self.add_machine("offset", offset)
        self.add_machine("host", lambda document: document["backend"].update(name="host"))
        page = self.print_page(self.path("results"))
        self.assertNotIn("| pinned", page)
        self.assertNotIn("What should I see", page)


if __name__ == "__main__":
    harness.main()
