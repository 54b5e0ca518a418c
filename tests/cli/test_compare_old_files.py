#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench compare` with a file of an older xferbench, which did not have every option of this one.
usage: test_compare_old_files.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import os

import harness
from harness import SOURCE, Case

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
            self.assertEqual(differences, [difference | {"forbids": True, "of_rows": False, "of_stack": False}])
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


if __name__ == "__main__":
    harness.main()
