#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: test_compare.py XFERBENCH SLOWED SOURCE_FOLDER [TEST]...

`xferbench compare` from outside: exit codes, formats and where they go. SLOWED is xferbench with a
host backend that is slower than it should be (tests/doubles/slowed_host.c).
"""
import copy
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

XFERBENCH, SLOWED, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
RESULTS = os.path.join(SOURCE, "bench", "results", "h200")
SANITIZER_EXIT = 99
LIMIT_S = 300  # no test waits for it: a program that takes as long hangs
ESCAPE = "\x1b"

PASS, REGRESSION, USAGE, INCONCLUSIVE, NOT_COMPARABLE = range(5)


def result(factor, **changes):
    """One process's document: pinned h2d and d2h, a factor faster than 50 GB/s."""
    with open(os.path.join(RESULTS, "pinned-1g.json"), encoding="utf-8") as file:
        document = json.load(file)
    for row in document["results"]:
        row["samples_s"] = [row["bytes_moved"] / (50e9 * factor)] * 6
        rate = row["bytes_moved"] / row["samples_s"][0]
        row["bandwidth_bytes_per_second"] |= {"n": 6} | dict.fromkeys(
            ("median", "ci95_low", "ci95_high", "min", "max", "p5", "p95"), rate
        )
    return document | changes


def merged(factors, change=lambda document: None):
    documents = [result(factor) for factor in factors]
    for document in documents:
        change(document)
    return {
        "schema": "xferbench.processes",
        "schema_version": 1,
        "asked": len(documents),
        "processes": [{"index": i, "document": document} for i, document in enumerate(documents)],
    }


# Eight processes, 0.1 % apart.
EVEN = [1 + 0.001 * i for i in range(8)]


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, document):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def environment(self, **more):
        own = {k: v for k, v in os.environ.items() if not k.startswith(("XFERBENCH_", "XB_")) and k != "NO_COLOR"}
        own.setdefault("ASAN_OPTIONS", f"detect_leaks=1:exitcode={SANITIZER_EXIT}")
        return own | {"LC_ALL": "C", "TERM": "xterm"} | more

    def run_compare(self, *arguments, **more):
        done = subprocess.run(
            [XFERBENCH, "compare", *arguments],
            cwd=self.folder,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertIn(done.returncode, range(5), done.stderr)
        return done

    def compare(self, baseline, candidate, *arguments):
        old, new = self.write("old.json", baseline), self.write("new.json", candidate)
        return self.run_compare(old, new, *arguments)

    def verdicts(self, *arguments):
        done = self.compare(*arguments, "--format", "json")
        document = json.loads(done.stdout)
        self.assertEqual(document["overall"]["exit_code"], done.returncode)
        return done.returncode, document

    # ---- exit codes ----

    def test_equal_is_a_pass(self):
        done = self.compare(merged(EVEN), merged(EVEN))
        self.assertEqual(done.returncode, PASS, done.stdout)
        self.assertRegex(done.stdout, r"Overall: PASS")
        self.assertEqual(done.stderr, "")

    def test_loss_is_a_regression(self):
        code, document = self.verdicts(merged(EVEN), merged([0.95 * f for f in EVEN]))
        self.assertEqual(code, REGRESSION)
        for case in document["cases"]:
            self.assertEqual(case["verdict"], "REGRESSION")
            self.assertAlmostEqual(case["ratio"], 0.95, places=9)

    def test_gain_is_no_regression(self):
        code, document = self.verdicts(merged(EVEN), merged([1.05 * f for f in EVEN]))
        self.assertEqual((code, document["overall"]["verdict"]), (PASS, "IMPROVED"))

    def test_scatter_is_inconclusive(self):
        wide = [0.9, 0.95, 1.0, 1.05, 1.1, 0.92, 1.08, 0.97]
        self.assertEqual(self.compare(merged(wide), merged(wide)).returncode, INCONCLUSIVE)

    def test_one_process_is_indicative(self):
        done = self.compare(result(1.0), result(0.5))
        self.assertEqual(done.returncode, INCONCLUSIVE)
        self.assertIn("indicative", done.stdout)
        self.assertNotIn("significan", done.stdout)
        self.assertRegex(done.stdout, r"--processes 5")

    def test_failure_is_a_regression_also_of_one_process(self):
        broken = result(1.0)
        broken["results"][0] |= {"status": "error", "reason": "the data is wrong", "verified": False}
        done = self.compare(result(1.0), broken)
        self.assertEqual(done.returncode, REGRESSION)
        self.assertIn("the data is wrong", done.stdout)

    def test_other_conditions_are_refused(self):
        def other_model(document):
            document["devices"][0]["name"] = "NVIDIA B200"

        done = self.compare(merged(EVEN), merged(EVEN, other_model))
        self.assertEqual(done.returncode, NOT_COMPARABLE)
        self.assertRegex(done.stdout, r"NVIDIA H200 +NVIDIA B200")
        forced = self.compare(merged(EVEN), merged(EVEN, other_model), "--force")
        self.assertEqual(forced.returncode, PASS)
        self.assertIn("FORCED", forced.stdout)

    def test_context_is_shown(self):
        def other_kernel(document):
            document["host"]["kernel"] = "Linux 7.1"

        done = self.compare(merged(EVEN), merged(EVEN, other_kernel))
        self.assertEqual(done.returncode, PASS)
        self.assertIn("Linux 7.1", done.stdout)

    def test_gate(self):
        slower = merged(EVEN)
        for process in slower["processes"]:
            process["document"]["results"][1] = copy.deepcopy(result(0.8)["results"][1])
        self.assertEqual(self.compare(merged(EVEN), slower).returncode, REGRESSION)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "pinned/h2d").returncode, PASS)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "*/d2h/512M..1G").returncode, REGRESSION)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "pinned/d2d").returncode, USAGE)

    def test_threshold(self):
        files = merged(EVEN), merged([0.95 * f for f in EVEN])
        self.assertEqual(self.compare(*files, "--threshold", "10%").returncode, PASS)
        self.assertEqual(self.compare(*files, "--threshold", "0.1").returncode, PASS)
        self.assertEqual(self.compare(*files, "--threshold", "4%").returncode, REGRESSION)

    def test_alpha(self):
        """The least P of 8 processes a side is 1/12870."""
        files = merged(EVEN), merged([0.95 * f for f in EVEN])
        self.assertEqual(self.compare(*files, "--alpha", "0.001").returncode, REGRESSION)
        self.assertEqual(self.compare(*files, "--alpha", "0.0001").returncode, INCONCLUSIVE)

    # ---- formats ----

    def test_formats(self):
        self.write("old.json", merged(EVEN))
        self.write("new.json", merged([0.95 * f for f in EVEN]))
        for name in ("table", "json", "markdown", "github", "junit", "benchmark-action"):
            with self.subTest(format=name):
                done = self.run_compare("old.json", "new.json", "-f", name, "-o", "out")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (REGRESSION, "", ""))
                with open(os.path.join(self.folder, "out"), encoding="utf-8") as file:
                    text = file.read()
                self.assertEqual(self.run_compare("old.json", "new.json", "-f", name).stdout, text)
                getattr(self, "check_" + name.replace("-", "_"))(text)

    def check_table(self, text):
        self.assertTrue(text.isascii())
        self.assertNotIn(ESCAPE, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def check_json(self, text):
        self.assertEqual(json.loads(text)["schema"], "xferbench.compare")

    def check_markdown(self, text):
        self.assertRegex(text, r"(?m)^\|.*REGRESSION")

    def check_github(self, text):
        self.assertRegex(text, r"(?m)^::error ")

    def check_junit(self, text):
        suite = next(xml.etree.ElementTree.fromstring(text).iter("testsuite"))
        self.assertEqual(suite.get("failures"), "2")
        self.assertIn("0.95", next(suite.iter("failure")).text)

    def check_benchmark_action(self, text):
        for entry in json.loads(text):
            self.assertEqual(entry["unit"], "GB/s")

    def test_colour_only_on_a_terminal(self):
        self.write("old.json", merged(EVEN))
        self.write("new.json", merged(EVEN))
        for coloured, environment in ((True, {}), (False, {"NO_COLOR": "1"}), (False, {"TERM": "dumb"})):
            with self.subTest(environment=environment):
                self.assertEqual(ESCAPE in self.on_terminal(**environment), coloured)

    def on_terminal(self, **environment):
        master, slave = pty.openpty()
        with subprocess.Popen(
            [XFERBENCH, "compare", "old.json", "new.json"],
            cwd=self.folder,
            env=self.environment(**environment),
            stdout=slave,
        ):
            os.close(slave)
            text = b""
            try:
                while chunk := os.read(master, 65536):
                    text += chunk
            except OSError:  # the other end is closed
                pass
        os.close(master)
        return text.decode()

    # ---- errors are no verdict ----

    def test_output_that_cannot_be_written(self):
        old, new = self.write("old.json", merged(EVEN)), self.write("new.json", merged(EVEN))
        for path in ("nowhere/out", "/dev/full"):
            with self.subTest(path=path):
                done = self.run_compare(old, new, "--output", path)
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(path, done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([XFERBENCH, "compare", old, new], env=self.environment(), stdout=full, check=False)
        self.assertEqual(done.returncode, USAGE)

    def test_help(self):
        done = self.run_compare("--help")
        self.assertEqual(done.returncode, PASS)
        for word in ("BASELINE CANDIDATE", "--threshold", "4 not comparable"):
            self.assertIn(word, done.stdout)

    # ---- measured ----

    def test_files_of_an_h200(self):
        old = os.path.join(RESULTS, "compare-baseline.json")
        for expected, *arguments in (
            (PASS, "compare-again.json"),
            (PASS, "compare-later.json"),
            (NOT_COMPARABLE, "compare-small-chunks.json"),
            (REGRESSION, "compare-small-chunks.json", "--force"),
            (REGRESSION, "compare-busy-link.json"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_compare(old, os.path.join(RESULTS, arguments[0]), *arguments[1:])
                self.assertEqual(done.returncode, expected, done.stdout)

    def test_a_slower_host_backend_is_found(self):
        """By far, so that it does not matter what else this machine does."""
        done = subprocess.run(
            [SLOWED, "--backend", "host", "--mode", "pinned", "--size", "4K", "--time-limit", "20ms", "--quiet"]
            + ["--processes", "8", "--interleave", XFERBENCH, "--json", "new.json", "--baseline-json", "old.json"],
            cwd=self.folder,
            env=self.environment(XB_SLOWED_PERCENT="2000"),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_compare("old.json", "new.json")
        self.assertEqual(done.returncode, REGRESSION, done.stdout)
        self.assertEqual(len(re.findall(r"^pinned .*REGRESSION", done.stdout, re.MULTILINE)), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
