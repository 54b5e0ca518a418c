#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench compare` with a file of an older xferbench, which did not have every option of this one.
usage: test_compare_old_files.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import os

import harness
from harness import FEW, HOST, SOURCE, Case

OLD = os.path.join(SOURCE, "bench", "results", "h200", "pinned-1g.json")  # from before --warm-up
INCONCLUSIVE, NOT_COMPARABLE = 3, 4  # 3: a single process a side


class OldFiles(Case):
    def compare_warm_up(self, seconds):
        """Compares the old file with the same one measured after such a --warm-up, and the reverse."""
        with open(OLD, encoding="utf-8") as file:
            document = json.load(file)
        self.assertNotIn("warm-up", document["config"])
        document["config"]["warm-up"] = seconds
        new = self.write_json("new.json", document)
        for files in ((OLD, new), (new, OLD)):
            done = self.run_program("compare", *files, "--format", "json")
            yield done.code, json.loads(done.out)["differences"]

    def test_another_warm_up_is_refused(self):
        sides = ("0.05 (default)", "0.001")
        for code, differences in self.compare_warm_up(0.001):
            difference = {"name": "option --warm-up", "baseline": sides[0], "candidate": sides[1]}
            self.assertEqual(differences, [difference | {"forbids": True}])
            self.assertEqual(code, NOT_COMPARABLE)
            sides = sides[::-1]

    def test_the_default_is_the_same(self):
        for code, differences in self.compare_warm_up(0.05):
            self.assertEqual(differences, [])
            self.assertEqual(code, INCONCLUSIVE)

    def test_a_file_of_today_has_the_defaults(self):
        """What this program writes without options is no difference to what it takes for defaults."""
        path = self.path("today.json")
        self.assert_succeeds(*harness.ONE, "--size", "4K", "--json", path)
        document = self.load(path)
        kept = ("mode", "size", "direction", "backend", "json")  # were given
        document["config"] = {name: document["config"][name] for name in kept}
        older = self.write_json("older.json", document)
        done = self.run_program("compare", older, path, "--format", "json")
        self.assertEqual(json.loads(done.out)["differences"], [])
        self.assertEqual(done.code, INCONCLUSIVE)

    def test_a_list_of_today_was_a_number(self):
        """Cases with the same value are compared, wherever the value comes from; another value is another case."""
        path = self.path("today.json")
        sweep = ("--chunk", "1K,8M", "--streams", "1..2", "--direction", "h2d")
        self.assert_succeeds(*HOST, "--mode", "async", "--size", "4K", *FEW, *sweep, "--json", path)
        document = self.load(path)
        self.assertEqual(document["config"]["streams"], [1, 2])
        was = {"chunk": 8 << 20, "streams": 2}
        offsets = {"host-offset": 0, "device-offset": 0}
        document["config"] |= was
        document["results"] = [r for r in document["results"] if r["parameters"] == was | offsets]
        document["results"][0]["parameters"] = was  # from before there were offsets
        self.assertEqual(len(document["results"]), 1)
        older = self.write_json("older.json", document)
        for files, here in (((older, path), "candidate"), ((path, older), "baseline")):
            done = self.run_program("compare", *files, "--format", "json")
            compared = json.loads(done.out)
            self.assertEqual(compared["differences"], [])
            self.assertEqual(done.code, INCONCLUSIVE)
            sides = [
                (case["parameters"]["chunk"], case["parameters"]["streams"])
                for case in compared["cases"]
                if case["baseline"]["present"] and case["candidate"]["present"]
            ]
            self.assertEqual(sides, [(8 << 20, 2)])
            self.assertEqual(sum(case[here]["present"] for case in compared["cases"]), 4)


if __name__ == "__main__":
    harness.main()
