#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of docs/ci/ as the services' shells do. A program named xferbench on the PATH measures
nothing but copies a file in place of that, and is the real one for everything else. Exits with 77 where
there is no PyYAML.
usage: test_ci.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import importlib
import os
import re
import sys

try:
    import yaml
except ImportError:
    print("Left out: there is no PyYAML")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")

RESULTS = os.path.join(harness.SOURCE, "bench", "results", "h200")

# Called to measure, it leaves MEASURED where --json says, and ends as a run with a failed case.
STAND_IN = """#!/bin/sh
[ "$1" != compare ] || exec "$XFERBENCH" "$@"
printf '%s\\n' "$*" >>"$CALLS"
while [ "$1" != --json ]; do shift; done
[ -z "$MEASURED" ] || cp "$MEASURED" "$2"
exit 1
"""

PASS, REGRESSION, UNREADABLE, INCONCLUSIVE, NOT_COMPARABLE = (
    "compare-again.json",
    "compare-busy-link.json",
    None,
    "pinned-1g.json",
    "quick.json",
)


def load(name):
    with open(os.path.join(harness.SOURCE, "docs", "ci", name), encoding="utf-8") as file:
        return yaml.safe_load(file)


class Examples(harness.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.chmod(self.write("bin/xferbench", STAND_IN), 0o755)

    def run_script(self, script, variables, measured):
        """Returns the exit code and what was printed, of a fresh checkout with the baseline in it."""
        baseline = "compare-baseline.json" if measured != INCONCLUSIVE else "precision-1.json"
        own = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "XFERBENCH": harness.XFERBENCH,
            "CALLS": self.path("calls"),
            "MEASURED": os.path.join(RESULTS, measured) if measured else "",
            "GITHUB_STEP_SUMMARY": self.path("summary.md"),
            "BASELINE": os.path.join(RESULTS, baseline),
        }
        arguments = ("--noprofile", "--norc", "-eo", "pipefail", "-c", script)
        done = self.run_program(*arguments, program="bash", environment=variables | own)
        return done.code, done.out + done.err

    def expect_measured(self, arguments):
        self.assertIn(arguments, self.read("calls"))

    def test_github(self):
        workflow = load("github-actions.yml")
        steps = {step["name"]: step for step in workflow["jobs"]["compare"]["steps"] if "run" in step}
        script = steps["Measure"]["run"] + steps["Compare"]["run"]
        for measured, code, word in (
            (PASS, 0, "::notice "),
            (REGRESSION, 1, "::error "),
            (NOT_COMPARABLE, 1, "::error "),
            (INCONCLUSIVE, 0, "::warning "),
            (UNREADABLE, 1, "candidate.json"),
        ):
            with self.subTest(measured=measured):
                ended, text = self.run_script(script, workflow["env"], measured)
                self.assertEqual(ended, code, text)
                self.assertIn(word, text)
                self.assertEqual(os.path.exists(self.path("chart.json")), measured is not UNREADABLE)
                if measured is not UNREADABLE:
                    self.check_history(workflow["jobs"]["history"])
                    os.unlink(self.path("chart.json"))
        self.expect_measured(workflow["env"]["ARGUMENTS"])
        self.assertIn("REGRESSION", self.read("summary.md"))

    def check_history(self, job):
        """The chart is of the form that the action takes, and the job takes it from there."""
        action = [step for step in job["steps"] if step["uses"].startswith("benchmark-action/")][0]
        self.assertEqual(action["with"]["tool"], "customBiggerIsBetter")
        entries = harness.read_json(self.path(action["with"]["output-file-path"]))
        self.assertTrue(entries)
        for entry in entries:
            self.assertGreater(entry["value"], 0)
            self.assertEqual(entry["unit"], "GB/s")
            self.assertLessEqual(set(entry), {"name", "unit", "value", "range", "extra"})

    def test_steps_to_a_new_baseline(self):
        """The commands of docs/ci/README.md, as they stand, in a repository of their own."""
        with open(os.path.join(harness.SOURCE, "docs", "ci", "README.md"), encoding="utf-8") as file:
            steps = file.read().split("## A history")[0]
        commands = [line[8:] for line in steps.splitlines() if line.startswith(" " * 8)]
        self.assertGreater(len(commands), 10)
        begin = "git init -q . && git config user.name n && git config user.email e && git config commit.gpgsign false\n"
        own = {
            "PATH": f"{os.path.dirname(harness.XFERBENCH)}:/usr/bin:/bin",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        arguments = ("--noprofile", "--norc", "-eo", "pipefail", "-c", begin + "\n".join(commands))
        done = self.run_program(*arguments, program="bash", environment=own)
        self.assertEqual(done.code, 0, (done.out, done.err))
        self.assertEqual(len(re.findall("(?m)^(PASS|IMPROVED|INCONCLUSIVE|REGRESSION): ", done.out)), 3, done.out)
        for code in ("exit code 2", "exit code 4"):
            self.assertNotIn(code, done.out)
        log = self.run_program("-C", self.folder, "log", "--format=%B", program="git", environment=own).out
        self.assertEqual(log.count("Transfer speed: "), 2)
        self.assertRegex(log, "(?m)^(PASS|IMPROVED|INCONCLUSIVE|REGRESSION): ")

    def test_gitlab(self):
        pipeline = load("gitlab-ci.yml")
        job = pipeline["transfer-speed"]
        self.assertEqual(job["allow_failure"]["exit_codes"], [3])
        for measured, code in ((PASS, 0), (REGRESSION, 1), (NOT_COMPARABLE, 4), (INCONCLUSIVE, 3), (UNREADABLE, 2)):
            with self.subTest(measured=measured):
                ended, text = self.run_script("\n".join(job["script"]), pipeline["variables"], measured)
                self.assertEqual(ended, code, text)
        self.expect_measured(pipeline["variables"]["ARGUMENTS"])
        self.assertTrue(os.path.exists(self.path(job["artifacts"]["reports"]["junit"])))

    def test_arguments_are_taken(self):
        """By xferbench itself, as far as a machine without a GPU goes: nothing could be tested."""
        for arguments in (load("github-actions.yml")["env"]["ARGUMENTS"], load("gitlab-ci.yml")["variables"]["ARGUMENTS"]):
            environment = {"XFERBENCH_HIP_LIBRARY": "/nowhere"}
            self.assert_ends(3, *arguments.split(), "--backend", "hip", "--quiet", environment=environment)


if __name__ == "__main__":
    harness.main()
