#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--dry-run: the plan, what it takes, and that nothing is measured or written.
usage: test_dry_run.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import re

import harness
from harness import FEW, HOST, ONE, SMALL, Case, absent_environment


class DryRun(Case):
    def plan(self, *arguments, code=0):
        outcome = self.assert_ends(code, *arguments, "--dry-run")
        self.assertEqual(outcome.err, "", outcome)
        self.assertTrue(outcome.out.startswith("Plan only: nothing measured or written\n"), outcome)
        return outcome.out

    def test_cases_are_those_of_a_run(self):
        """Of every mode, those that are skipped because of what this device lacks too."""
        arguments = (*HOST, "--mode", "all", "--size", "4K", *FEW)
        out = self.plan(*arguments)
        self.assert_succeeds(*arguments, "--json", "out.json")
        rows = self.load("out.json")["results"]
        measured = [row for row in rows if row["status"] == "ok"]
        self.assertIn(f"\n  cases    {len(measured)} to measure, {len(rows) - len(measured)} skipped\n", out)
        planned = dict(re.findall(r"(?m)^  ([\w-]+) +\w.*: ([0-9]+) cases?$", out))
        for mode in {row["mode"] for row in rows}:
            self.assertEqual(int(planned[mode]), sum(row["mode"] == mode for row in rows), mode)
        skipped = sum(int(count) for count in re.findall(r"(?m)^  skipped  [\w-]+, ([0-9]+) case", out))
        self.assertEqual(skipped, len(rows) - len(measured), out)

    def test_what_is_swept_over(self):
        out = self.plan(*HOST, "--mode", "async", "--size", "64K..4M", "--chunk", "64K,1M", "--direction", "d2h")
        self.assertIn("\n  async    registered; chunk 64 KiB, 1 MiB; d2h; 64 KiB to 4 MiB (7): 14 cases\n", out)
        self.assertIn("\n  cases    14 to measure\n", out)

    def test_no_file_is_written(self):
        self.put_old("old.csv")
        out = self.plan(*SMALL, "--json", "new.json", "--csv", "old.csv", "--trace", "-")
        self.assert_words(out, (
            "\n  file     --json would write new.json\n",
            "\n  file     --csv would replace old.csv\n",
            "\n  file     --trace would print instead of the table\n",
        ))
        self.assert_old("old.csv")
        self.assert_folder_has("old.csv")

    def test_estimate(self):
        seconds = re.compile(r"(?m)^  time     about ([0-9]+) s; from ([0-9]+) s on a fast node to ([0-9]+) s ")
        one = self.plan(*ONE, "--size", "64M")
        likely, least, most = (int(number) for number in seconds.search(one).groups())
        self.assertLessEqual(least, likely)
        self.assertLess(likely, most)
        self.assertIn("\n  memory   128 MiB at most\n", one)
        many = self.plan(*ONE, "--size", "64M", "--processes", "20", "--deadline", "2m")
        self.assertGreater(int(seconds.search(many)[1]), likely)
        self.assert_words(re.sub(r"\s+", " ", many), ("for 20 processes; the deadline ends it after 2 min",))

    def test_quiet(self):
        outcome = self.assert_succeeds(*SMALL, "--dry-run", "--quiet")
        self.assertEqual((outcome.out, outcome.err), ("", ""))

    def test_what_a_run_refuses(self):
        self.assert_usage(("--size",), *ONE, "--dry-run", "--size", "0")
        self.assert_usage(("missing",), *SMALL, "--dry-run", "--json", "missing/out.json")
        self.assert_usage(("Is a directory",), *SMALL, "--dry-run", "--json", self.folder)
        self.assert_usage(("one and the same file",), *SMALL, "--dry-run", "--json", "a", "--csv", "./a")
        self.assert_usage(("--csv",), *SMALL, "--dry-run", "--csv", "a", "--processes", "2")
        both = (*SMALL, "--dry-run", "--processes", "2", "--baseline-json", "b")
        self.assert_usage(("--interleave", "cannot be run"), *both, "--json", "a", "--interleave", "./missing")
        self.assert_usage(("replace", "--interleave"), *both, "--json", "/bin/true", "--interleave", "/bin/true")
        self.assert_folder_has()

    def test_nothing_can_be_measured(self):
        out = self.plan(*HOST, "--mode", "peer", code=3)
        self.assert_words(out, ("\n  cases    none can be measured here, 1 skipped\n", "no copies between devices"))
        self.assertNotIn("  time ", out)
        self.assert_fails(3, ("no GPU can be tested here",), "--dry-run", environment=absent_environment())


if __name__ == "__main__":
    harness.main()
