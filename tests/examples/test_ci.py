#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: test_ci.py XFERBENCH SOURCE_FOLDER [TEST]...

Runs the scripts of docs/ci/ as the services' shells do. A program named xferbench on the PATH measures
nothing but copies a file in place of that, and is XFERBENCH for everything else. Exits with 77 where
there is no PyYAML.
"""
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("Left out: there is no PyYAML")
    sys.exit(77)

XFERBENCH, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
RESULTS = os.path.join(SOURCE, "bench", "results", "h200")
LIMIT_S = 120  # only a hang lasts so long

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
    "compare-small-chunks.json",
)


def load(name):
    with open(os.path.join(SOURCE, "docs", "ci", name), encoding="utf-8") as file:
        return yaml.safe_load(file)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "bin"))
        path = os.path.join(self.folder, "bin", "xferbench")
        with open(path, "w", encoding="utf-8") as file:
            file.write(STAND_IN)
        os.chmod(path, 0o755)

    def run_script(self, script, variables, measured):
        """Returns the exit code and what was printed, of a fresh checkout with the baseline in it."""
        baseline = "compare-baseline.json" if measured != INCONCLUSIVE else "precision-1.json"
        own = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "XFERBENCH": XFERBENCH,
            "CALLS": os.path.join(self.folder, "calls"),
            "MEASURED": os.path.join(RESULTS, measured) if measured else "",
            "GITHUB_STEP_SUMMARY": os.path.join(self.folder, "summary.md"),
        }
        sanitizer = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env=own | sanitizer | variables | {"BASELINE": os.path.join(RESULTS, baseline)},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        return done.returncode, done.stdout + done.stderr

    def expect_measured(self, arguments):
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            self.assertIn(arguments, file.read())

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
        self.expect_measured(workflow["env"]["ARGUMENTS"])
        with open(os.path.join(self.folder, "summary.md"), encoding="utf-8") as file:
            self.assertIn("REGRESSION", file.read())

    def test_gitlab(self):
        pipeline = load("gitlab-ci.yml")
        job = pipeline["transfer-speed"]
        self.assertEqual(job["allow_failure"]["exit_codes"], [3])
        for measured, code in ((PASS, 0), (REGRESSION, 1), (NOT_COMPARABLE, 4), (INCONCLUSIVE, 3), (UNREADABLE, 2)):
            with self.subTest(measured=measured):
                ended, text = self.run_script("\n".join(job["script"]), pipeline["variables"], measured)
                self.assertEqual(ended, code, text)
        self.expect_measured(pipeline["variables"]["ARGUMENTS"])
        self.assertTrue(os.path.exists(os.path.join(self.folder, job["artifacts"]["reports"]["junit"])))

    def test_arguments_are_taken(self):
        """By xferbench itself, as far as a machine without a GPU goes: nothing could be tested."""
        for arguments in (load("github-actions.yml")["env"]["ARGUMENTS"], load("gitlab-ci.yml")["variables"]["ARGUMENTS"]):
            done = subprocess.run(
                [XFERBENCH, *arguments.split(), "--backend", "hip", "--quiet"],
                env=os.environ | {"XFERBENCH_HIP_LIBRARY": "/nowhere"},
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
            self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
