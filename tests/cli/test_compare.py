#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench compare` from outside: exit codes, formats and where they go. One program has a host backend
that is slower than it should be (tests/doubles/slowed_host.c).
usage: test_compare.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import fcntl
import json
import os
import re
import struct
import termios
import xml.etree.ElementTree

import harness
from harness import SLOWED, SOURCE, XFERBENCH, Case, Terminal

RESULTS = os.path.join(SOURCE, "bench", "results", "h200")
ESCAPE = "\x1b"

PASS, REGRESSION, USAGE, INCONCLUSIVE, NOT_COMPARABLE = range(5)


def result(factor, **changes):
    """One process's document: pinned h2d and d2h, a factor faster than 50 GB/s."""
    with open(os.path.join(RESULTS, "pinned-1g.json"), encoding="utf-8") as file:
        document = json.load(file)
    for row in document["results"]:
        row["samples_s"] = [row["bytes_moved"] / (50e9 * factor)] * 6
        rate = row["bytes_moved"] / row["samples_s"][0]
        harness.figure(row, "bandwidth").update(
            dict.fromkeys(("median", "ci95_low", "ci95_high", "min", "max", "p5", "p95", "p99"), rate),
            mad=0, n=6, samples=[rate] * 6,
        )
    return document | changes


def merged(factors, change=lambda document: None):
    documents = [result(factor) for factor in factors]
    for document in documents:
        change(document)
    return harness.merged(documents)


# Eight processes, 0.1 % apart.
EVEN = [1 + 0.001 * i for i in range(8)]


class Compare(Case):
    def run_compare(self, *arguments, **options):
        done = self.run_program("compare", *arguments, **options)
        self.assertIn(done.code, range(5), done)
        return done

    def compare(self, baseline, candidate, *arguments):
        old, new = self.write_json("old.json", baseline), self.write_json("new.json", candidate)
        return self.run_compare(old, new, *arguments)

    def verdicts(self, *arguments):
        done = self.compare(*arguments, "--format", "json")
        document = json.loads(done.out)
        self.assertEqual(document["overall"]["exit_code"], done.code)
        return done.code, document

    # ---- exit codes ----

    def test_equal_is_a_pass(self):
        done = self.compare(merged(EVEN), merged(EVEN))
        self.assertEqual(done.code, PASS, done.out)
        self.assertTrue(done.out.startswith("PASS: none of 2 results is slower by 2 % or more.\n\nPinned, 1 GiB, bandwidth"))
        self.assertEqual(done.err, "")

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
        self.assertEqual(self.compare(merged(wide), merged(wide)).code, INCONCLUSIVE)

    def test_one_process_is_indicative(self):
        done = self.compare(result(1.0), result(0.5))
        self.assertEqual(done.code, INCONCLUSIVE)
        self.assertEqual(
            done.out.split("\n\n")[:2],
            [
                "INCONCLUSIVE: one process a file cannot decide. As measured: pinned to the GPU, 1 GiB, 50.0 %\n"
                "  slower.\nMeasure with --processes 8.",
                "Pinned, 1 GiB, bandwidth in GB/s\n"
                "DIR  BASELINE  CANDIDATE         CHANGE  VERDICT (indicative)\n"
                "h2d     50.00      25.00  50.0 % slower  REGRESSION\n"
                "d2h     50.00      25.00  50.0 % slower  REGRESSION",
            ],
        )

    def test_failure_is_a_regression_also_of_one_process(self):
        broken = result(1.0)
        broken["results"][0] |= {"status": "error", "reason": "the data is wrong", "verified": False, "figures": []}
        done = self.compare(result(1.0), broken)
        self.assertEqual(done.code, REGRESSION)
        self.assertIn("the data is wrong", done.out)

    def test_other_conditions_are_refused(self):
        def other_model(document):
            document["devices"][0]["name"] = "NVIDIA B200"

        done = self.compare(merged(EVEN), merged(EVEN, other_model))
        self.assertEqual(done.code, NOT_COMPARABLE)
        self.assertRegex(done.out, r"NVIDIA H200 +NVIDIA B200")
        forced = self.compare(merged(EVEN), merged(EVEN, other_model), "--force")
        self.assertEqual(forced.code, PASS)
        self.assertIn("FORCED", forced.out)

    def test_another_driver_or_kernel_is_what_people_test(self):
        def other_stack(document):
            document["host"] |= {"kernel": "Linux 7.1"}
            document["backend"] |= {"driver_version": "590.10", "runtime_version": "13.1"}

        def other_host(document):
            document["host"] |= {"hostname": "other"}

        files = merged(EVEN), merged(EVEN, other_stack)
        done = self.compare(*files)
        self.assertEqual(done.code, PASS)
        told = " ".join(done.out.split())
        for change in ("changed driver 580.", " -> 590.10, kernel ", " -> Linux 7.1, runtime version 13.0 -> 13.1"):
            self.assertIn(change, told)
        self.assertNotIn("CONDITION", done.out)
        refused = self.compare(*files, "--strict")
        self.assertEqual(refused.code, NOT_COMPARABLE)
        self.assertRegex(refused.out, r"(?m)^driver +580\S+ +590.10$")
        self.assertEqual(self.compare(*files, "--strict", "--force").code, PASS)
        done = self.compare(merged(EVEN), merged(EVEN, other_host), "--strict")
        self.assertEqual(done.code, PASS)
        self.assertRegex(done.out, r"(?m)^  differ    hostname \(--verbose\)$")
        done = self.compare(merged(EVEN), merged(EVEN, other_host), "--verbose")
        self.assertRegex(done.out, r"(?m)^Other differences\nCONDITION")

    def test_gate(self):
        slower = merged(EVEN)
        for process in slower["processes"]:
            process["document"]["results"][1] = copy.deepcopy(result(0.8)["results"][1])
        self.assertEqual(self.compare(merged(EVEN), slower).code, REGRESSION)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "pinned/h2d").code, PASS)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "*/d2h/512M..1G").code, REGRESSION)
        self.assertEqual(self.compare(merged(EVEN), slower, "--gate", "pinned/d2d").code, USAGE)

    def test_threshold(self):
        files = merged(EVEN), merged([0.95 * f for f in EVEN])
        self.assertEqual(self.compare(*files, "--threshold", "10%").code, PASS)
        self.assertEqual(self.compare(*files, "--threshold", "0.1").code, PASS)
        self.assertEqual(self.compare(*files, "--threshold", "4%").code, REGRESSION)
        self.assertEqual(self.compare(*files, "--threshold", "pinned=10%").code, PASS)
        self.assertEqual(self.compare(*files, "--threshold", "pinned=10%,pinned/d2h=4%").code, REGRESSION)
        self.assertEqual(self.compare(*files, "--threshold", "2%,managed=10%").code, REGRESSION)
        code, document = self.verdicts(*files, "--threshold", "1%,pinned/h2d=10%")
        self.assertEqual([case["threshold"] for case in document["cases"]], [0.1, 0.01])
        self.assertEqual([case["verdict"] for case in document["cases"]], ["PASS", "REGRESSION"])

    def test_words_in_the_place_of_a_mode(self):
        files = merged(EVEN), merged(EVEN)
        for arguments, words in (
            (("--gate", "h2d"), "no mode is called h2d: that is a direction. Write '*/h2d' for all modes, or MODE/h2d"),
            (("--threshold", "d2h=3%"), "no mode is called d2h: that is a direction. Write '*/d2h'"),
            (("--threshold", "bandwidth=3%"), "that is a figure. Write '*/*/*/bandwidth'"),
            (("--threshold", "pinned/h2x=3%"), '--threshold: no direction is called "h2x"'),
            (("--threshold", "*/*/*/bandwith=3%"), '--threshold: no figure is called "bandwith"'),
            (("--threshold", "2%,manged=3%"), 'no mode is called "manged"; did you mean managed?'),
            (("--gate", "pined"), 'no mode is called "pined"; did you mean pinned?'),
            (("--threshold", "5"), '"5": for 5 % write 5% or 0.05'),
            (("--threshold", "0.5"), "this could mean 0.5 % or 50 %: write 0.5% or 50%"),
            (("--threshold", "pinned=7"), "for 7 % write 7% or 0.07"),
            (("--threshold", "1%,2%"), "two thresholds"),
        ):
            with self.subTest(arguments=arguments):
                done = self.compare(*files, *arguments)
                self.assertEqual((done.code, done.out), (USAGE, ""))
                self.assertIn(words, done.err)

    def test_alpha(self):
        """The least P of 8 processes a side is 1/12870."""
        files = merged(EVEN), merged([0.95 * f for f in EVEN])
        self.assertEqual(self.compare(*files, "--alpha", "0.001").code, REGRESSION)
        self.assertEqual(self.compare(*files, "--alpha", "0.0001").code, INCONCLUSIVE)

    # ---- figures and parameters ----

    def pipelines(self, factor):
        """Eight processes of a pipeline whose bandwidth stays, and which is a factor faster than its stages."""
        with open(os.path.join(RESULTS, "double-buffer.json"), encoding="utf-8") as file:
            document = json.load(file)
        for row in document["results"]:
            harness.figure(row, "speed_up")["median"] *= factor
        return harness.merged([document] * len(EVEN))

    def test_a_gate_names_a_figure(self):
        files = self.pipelines(1.0), self.pipelines(0.9)
        code, document = self.verdicts(*files)
        self.assertEqual((code, {case["figure"] for case in document["cases"]}), (PASS, {"bandwidth"}))
        code, document = self.verdicts(*files, "--gate", "double-buffer/*/*/speed_up")
        self.assertEqual(code, REGRESSION)
        self.assertEqual(document["gates"][0]["figure"], "speed_up")
        named = [case for case in document["cases"] if case["gates"]]
        self.assertTrue(named)
        for case in named:
            self.assertEqual((case["figure"], case["unit"], case["verdict"]), ("speed_up", "1", "REGRESSION"))
            self.assertAlmostEqual(case["ratio"], 0.9, places=9)
        self.assertEqual(self.compare(*files, "--gate", "double-buffer/*/*/share_of_bound").code, PASS)

    def test_a_figure_that_there_is_not(self):
        done = self.compare(self.pipelines(1.0), self.pipelines(1.0), "--gate", "double-buffer/*/*/speedup")
        self.assertEqual((done.code, done.out), (USAGE, ""))
        self.assertIn("did you mean speed_up? They have: bandwidth, ", done.err)

    def small_chunks(self):
        """What was measured with other chunks, as if it had also been warmed up longer."""
        with open(os.path.join(RESULTS, "compare-small-chunks.json"), encoding="utf-8") as file:
            document = json.load(file)
        document["config"]["warm-up"] = 1
        for process in document["processes"]:
            process["document"]["config"]["warm-up"] = 1
        return self.write_json("longer.json", document)

    def test_parameters_tell_cases_apart(self):
        """Also in files from when --chunk was a single number."""
        files = [os.path.join(RESULTS, f"compare-{name}.json") for name in ("baseline", "small-chunks")]
        done = self.run_compare(*files, "--format", "json")
        self.assertEqual(done.code, INCONCLUSIVE)
        document = json.loads(done.out)
        self.assertEqual(document["differences"], [])
        for case in document["cases"]:
            self.assertTrue(case["baseline"]["present"] and case["candidate"]["present"], case)
            self.assertEqual(case["same_settings"], case["mode"] != "async")
            self.assertEqual(case["ratio"] is None, case["mode"] == "async")
        self.assertEqual(self.run_compare(*files, "--gate", "pinned").code, PASS)
        refused = self.run_compare(*files, "--gate", "async")
        self.assertEqual(refused.code, NOT_COMPARABLE)
        self.assertRegex(refused.out, r"(?m)^async, chunk 64 KiB .* NOT COMPARABLE$")

    def test_parameters_that_differ_by_force(self):
        baseline = os.path.join(RESULTS, "compare-baseline.json")
        done = self.run_compare(baseline, self.small_chunks(), "--force", "--format", "json")
        cases = json.loads(done.out)["cases"]
        present = [(case["baseline"]["present"], case["candidate"]["present"]) for case in cases]
        self.assertEqual(present, [(True, True)] * 6)
        for case in cases:
            if case["mode"] == "async":
                self.assertEqual(case["parameters"]["chunk"], 65536)
                self.assertEqual(case["note"], "measured with chunk 64 KiB, the baseline with chunk 8 MiB")
            else:
                self.assertIsNone(case["note"])

    def test_show_prints_the_table_again(self):
        files = [os.path.join(RESULTS, f"compare-{name}.json") for name in ("baseline", "busy-link")]
        files.append(self.small_chunks())
        for arguments in (files[:2], [files[0], files[2]], [files[0], files[2], "--force"]):
            with self.subTest(arguments=arguments):
                table = self.run_compare(*arguments).out
                self.assertEqual(self.run_compare(*arguments, "--json", "compared.json").out, table)
                document = self.read("compared.json")
                self.assertEqual(self.run_compare(*arguments, "--json", "-").out, document)
                self.assertEqual(self.run_compare(*arguments, "--format", "json").out, document)
                self.assertEqual(self.run_compare(*arguments, "--json", "-", "--output", "table").out, document)
                self.assertEqual(self.read("table"), table)
                self.assertEqual(self.run_program("show", "compared.json").out, table)

    # ---- formats ----

    def test_formats(self):
        self.write_json("old.json", merged(EVEN))
        self.write_json("new.json", merged([0.95 * f for f in EVEN]))
        for name in ("table", "json", "markdown", "github", "junit", "benchmark-action"):
            with self.subTest(format=name):
                done = self.run_compare("old.json", "new.json", "-f", name, "-o", "out")
                self.assertEqual((done.code, done.out, done.err), (REGRESSION, "", ""))
                text = self.read("out")
                self.assertEqual(self.run_compare("old.json", "new.json", "-f", name).out, text)
                getattr(self, "check_" + name.replace("-", "_"))(text)

    def test_lines_are_as_wide_as_the_terminal(self):
        """Also with a parameter, a device that has no end, and verdicts that do not count."""
        old, new = self.write_json("old.json", merged(EVEN)), self.write_json("new.json", merged([0.95] * 8))
        results = [os.path.join(RESULTS, f"{name}.json") for name in ("all-1g-1", "all-1g-7", "pinned-1g")]
        for columns in (60, 80, 120):
            for arguments in ((old, new), results[:2], (*results[:2], "--gate", "pinned"), (old, results[2])):
                with self.subTest(columns=columns, arguments=arguments):
                    lines = self.on_terminal_of(columns, *arguments).splitlines()
                    self.assertLessEqual(max(map(len, lines)), columns, lines)
                    self.assertRegex(lines[0], "^[A-Z ]+: ")

    def on_terminal_of(self, columns, *arguments):
        terminal = Terminal()
        window = struct.pack("4H", 24, columns, 0, 0)
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, window)
        done = self.run_compare(
            *arguments, environment={"TERM": "dumb"}, terminal=terminal, stdout=terminal.slave
        )
        return done.err

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
        self.write_json("old.json", merged(EVEN))
        self.write_json("new.json", merged(EVEN))
        for coloured, environment in ((True, {}), (False, {"NO_COLOR": "1"}), (False, {"TERM": "dumb"})):
            with self.subTest(environment=environment):
                self.assertEqual(ESCAPE in self.on_terminal(**environment), coloured)

    def on_terminal(self, **environment):
        terminal = Terminal()
        streams = {"terminal": terminal, "stdout": terminal.slave}
        return self.run_compare("old.json", "new.json", environment={"TERM": "xterm"} | environment, **streams).err

    # ---- errors are no verdict ----

    def test_output_that_cannot_be_written(self):
        old, new = self.write_json("old.json", merged(EVEN)), self.write_json("new.json", merged(EVEN))
        for path in ("nowhere/out", "/dev/full"):
            with self.subTest(path=path):
                done = self.run_compare(old, new, "--output", path)
                self.assertEqual(done.code, USAGE)
                self.assertIn(path, done.err)
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_compare(old, new, stdout=full).code, USAGE)

    def test_one_output_that_fails_leaves_the_other(self):
        old, new = self.write_json("old.json", merged(EVEN)), self.write_json("new.json", merged(EVEN))
        table = self.run_compare(old, new).out
        node = self.device_node("/dev/full", 7)
        done = self.run_compare(old, new, "--json", node)
        self.assertEqual((done.code, done.out), (USAGE, table))
        self.assertEqual(done.err.count("No space left"), 1)
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_compare(old, new, "--json", "out.json", stdout=full).code, USAGE)
            self.assertEqual(self.load_text(self.read("out.json"))["schema"], "xferbench.compare")
            done = self.run_compare(old, new, "--json", node, stdout=full)
        self.assertEqual(done.code, USAGE)
        lost = 1 if node == "/dev/full" else 2  # of one and the same file, JSON stands in place of the table
        self.assertEqual(done.err.count("No space left"), lost)

    def test_help(self):
        done = self.run_compare("--help")
        self.assertEqual(done.code, PASS)
        for word in ("BASELINE CANDIDATE", "--threshold", "4 not comparable"):
            self.assertIn(word, done.out)

    # ---- measured ----

    def test_files_of_an_h200(self):
        old = os.path.join(RESULTS, "compare-baseline.json")
        for expected, *arguments in (
            (PASS, "compare-again.json"),
            (PASS, "compare-later.json"),
            (INCONCLUSIVE, "compare-small-chunks.json"),
            (NOT_COMPARABLE, self.small_chunks()),
            (REGRESSION, self.small_chunks(), "--force"),
            (REGRESSION, "compare-busy-link.json"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_compare(old, os.path.join(RESULTS, arguments[0]), *arguments[1:])
                self.assertEqual(done.code, expected, done.out)

    def test_a_slower_host_backend_is_found(self):
        """By far, so that it does not matter what else this machine does."""
        self.assert_succeeds(
            *("--backend", "host", "--mode", "pinned", "--size", "4K", "--time-limit", "20ms", "--warm-up", "1ms"),
            *("--quiet", "--processes", "8", "--interleave", XFERBENCH),
            *("--json", "new.json", "--baseline-json", "old.json"),
            program=SLOWED,
            environment={"XB_SLOWED_PERCENT": "2000"},
        )
        done = self.run_compare("old.json", "new.json")
        self.assertEqual(done.code, REGRESSION, done.out)
        self.assertEqual(len(re.findall(r"^[hd]2[hd] .*REGRESSION", done.out, re.MULTILINE)), 2)


if __name__ == "__main__":
    harness.main()
