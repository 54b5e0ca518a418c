#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench show FILE...`: what a file says is told as the command told it that wrote the file.
usage: test_show.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import glob
import json
import os
import re
import signal
import unittest

import harness
from harness import FEW, HOST, SMALL, SOURCE, STAND_IN, XFERBENCH, Case, figure

RESULTS = os.path.join(SOURCE, "bench", "results")
# Of other programs than xferbench.
FOREIGN = re.compile(r"/(hold-depth|repeat-[a-z-]+)\.json$")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
EVIL = "x\n::error::forged\r\x1b[31m\x9b31m\u202e\t"


class Show(Case):
    def show(self, *files, **options):
        """What it prints of files that it can read."""
        outcome = self.assert_succeeds("show", *files, **options)
        self.assertEqual(outcome.err, "")
        return outcome.out

    def assert_shown_as_told(self, code, *arguments, **options):
        """Returns all that there is to say of it."""
        told = self.assert_ends(code, *arguments, "--json", "out.json", **options).out
        told = told.removesuffix("To compare with another file: measure with --processes 8.\n")
        self.assertNotEqual(told, "")
        self.assertEqual(self.show("out.json"), told)
        return self.show("out.json", "--verbose")


class Locale(Show):
    def test_numbers_have_a_point_in_every_format(self):
        """de_DE has a comma; where it is not installed there is nothing to be misled by."""
        file = os.path.join(RESULTS, "h100", "all-256m.json")
        for form in ("--csv", "-"), ("--verbose",), ("--format", "markdown"):
            told = [self.show(file, *form, environment={"LC_ALL": name}) for name in ("C.UTF-8", "de_DE.UTF-8")]
            self.assertEqual(*told)


class Reading(Show):
    """What a file has under `reading` is what the table says, and rests on rows of the file."""

    ARGUMENTS = (*HOST, "--mode", "pageable,pinned,zero-copy", "--size", "4K,16M", *FEW)

    def lines_of(self, told):
        """Label and words of each line of the Reading."""
        section = told.partition("\nReading\n")[2].partition("\n\n")[0]
        whole = re.sub(r"\n {15}", " ", section)
        return [(line[2:15].rstrip(), line[15:]) for line in whole.splitlines() if line.startswith("  ")]

    def assert_as_in(self, document, told):
        def way(entry):
            return entry["bytes"], entry["cases"][0]["mode"], entry["cases"][0]["variant"]

        # What is slow in both directions is printed once.
        slow = [way(entry) for entry in document["reading"] if entry["code"] == "XB-SLOW-H2D"]
        said = [
            (entry["label"], entry["text"])
            for entry in document["reading"]
            if entry["code"] != "XB-SLOW-D2H" or way(entry) not in slow
        ]
        lines = self.lines_of(told)
        self.assertEqual([label for label, _ in said], [label for label, _ in lines])
        for (_, text), (_, words) in zip(said, lines):
            self.assertTrue(words.endswith(text), (words, text))
        self.assertGreater(len(said), 1, told)
        for entry in document["reading"]:
            for case in entry["cases"]:
                alike = [row for row in document["results"] if all(row[key] == case[key] for key in case)]
                self.assertEqual(len(alike), 1, case)

    def test_one_process(self):
        told = self.assert_shown_as_told(0, *self.ARGUMENTS)
        self.assert_as_in(self.load("out.json"), told)

    def test_several_processes(self):
        """Of all together, and in each document of that process alone."""
        told = self.assert_shown_as_told(0, *self.ARGUMENTS, "--processes", "3")
        merged = self.load("out.json")
        self.assert_as_in(merged, told)
        for process in merged["processes"]:
            self.write_json("one.json", process["document"])
            self.assert_as_in(process["document"], self.show("one.json", "--verbose"))

    def test_nobody_reads_it(self):
        """A file without one says the same, and is the same to compare."""
        told = self.assert_shown_as_told(0, *self.ARGUMENTS)
        document = self.load("out.json")
        self.write_json("a.json", document)
        document["reading"] = None
        self.write_json("b.json", document)
        document["reading"] = [{"code": "XB-LIE", "cases": "none"}]
        self.write_json("c.json", document)
        plain = self.run_program("compare", "out.json", "a.json")
        for other in ("b.json", "c.json"):
            self.assertEqual(self.show(other, "--verbose"), told)
            compared = self.run_program("compare", "out.json", other)
            self.assertEqual(compared.code, plain.code)
            self.assertEqual(compared.out.replace(other, "a.json"), plain.out)
        self.assertNotEqual(plain.out, "")


class AsTold(Show):
    def test_one_process(self):
        told = self.assert_shown_as_told(0, *HOST, "--size", "4K,16M", *FEW)
        self.assertIn("\nReading\n", told)
        self.assertIn("\n  skipped  ", told)

    def test_both_ways_at_once(self):
        self.assert_shown_as_told(
            0, *HOST, "--mode", "pinned,async", "--size", "16M", "--direction", "both,bidir", "--chunk", "1M", *FEW
        )

    def test_devices_at_the_same_time(self):
        told = self.assert_shown_as_told(0, *HOST, "--mode", "pinned", "--size", "4K", "--simultaneous", *FEW)
        self.assertIn("\nGPUs at the same time\n", told)

    def test_latency(self):
        told = self.assert_shown_as_told(0, *HOST, "--mode", "pinned,zero-copy", "--latency", *FEW)
        self.assertIn("HOST P50", told)

    def test_nothing_but_skipped_rows(self):
        self.assert_shown_as_told(3, *HOST, "--mode", "peer", *FEW)

    def test_deadline(self):
        self.assert_shown_as_told(3, *HOST, "--size", "4K", *FEW, "--deadline", "1us")

    def test_several_processes(self):
        self.assert_shown_as_told(0, *SMALL, "--processes", "6")
        self.assert_shown_as_told(0, *SMALL, "--latency", "--processes", "2")

    def test_two_programs_in_turn(self):
        """Each file has the table of its own side."""
        files = ("--json", "new.json", "--baseline-json", "old.json")
        told = self.assert_succeeds(*SMALL, "--processes", "2", "--interleave", XFERBENCH, *files).out
        self.assertEqual(self.show("old.json") + "\n" + self.show("new.json"), told)

    def test_link(self):
        self.assert_shown_as_told(3, "link", *HOST)

    def test_comparison(self):
        """Whatever the verdict was, and also of what was refused."""
        for code, *arguments in (
            (0, "compare-again.json"),
            (0, "compare-again.json", "--gate", "zero-copy/*/*/break_even_passes"),
            (1, "compare-busy-link.json"),
            (1, "compare-busy-link.json", "--gate", "pinned/h2d", "--threshold", "3%"),
            (3, "pinned-1g.json"),
            (3, "compare-small-chunks.json"),
            (4, "quick.json"),
            (3, "quick.json", "--force"),
        ):
            with self.subTest(arguments=arguments):
                baseline = "precision-1.json" if arguments[0] == "pinned-1g.json" else "compare-baseline.json"
                files = [os.path.join(RESULTS, "h200", name) for name in (baseline, arguments[0])]
                told = self.assert_ends(code, "compare", *files, *arguments[1:]).out
                json_to_file = ("--format", "json", "--output", "out.json")
                self.assert_ends(code, "compare", *files, *arguments[1:], *json_to_file)
                self.load("out.json")
                self.assertEqual(self.show("out.json"), told)

    def gpus(self, **variables):
        return {"XFERBENCH_HIP_LIBRARY": STAND_IN} | variables

    @unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
    def test_gpus(self):
        """Pairs stand in matrices, and several devices have sums."""
        arguments = ("--backend", "hip", "--device", "all", "--size", "4K", *FEW)
        for more, words in (
            (("--mode", "all"), ("\nGPU 1: ", "(rows: from, columns: to; xGMI)")),
            (("--mode", "pinned", "--simultaneous"), ("\n2 GPUs at the same time\n", " sum ")),
            (("--mode", "peer", "--processes", "2"), ("(rows: from, columns: to; xGMI)", " 0>1 ")),
        ):
            with self.subTest(more=more):
                told = self.assert_shown_as_told(0, *arguments, *more, environment=self.gpus())
                self.assert_words(told, words)

    @unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
    def test_wrong_data(self):
        """The command failed, and that was told; what shows the file has nothing to fail for."""
        arguments = ("--backend", "hip", "--mode", "pinned", "--size", "4K", *FEW)
        for more in ((), ("--processes", "2")):
            with self.subTest(more=more):
                environment = self.gpus(XB_STANDIN_DAMAGE="h2d")
                told = self.assert_shown_as_told(1, *arguments, *more, environment=environment)
                self.assertIn("ERROR", told)

    @unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
    def test_link_of_gpus(self):
        done = self.run_program("link", "--backend", "hip", "--json", "out.json", environment=self.gpus())
        self.assertRegex(done.out, r"(?m)^  0  \S+ ")
        self.assertEqual(self.show("out.json"), done.out)

    def test_process_without_results(self):
        self.write("turns", "")
        self.write("program", f'#!/bin/sh\necho >>turns\n[ $(wc -l <turns) -ne 2 ] || exit 9\nexec {XFERBENCH} "$@"\n')
        os.chmod(self.path("program"), 0o755)
        files = ("--json", "new.json", "--baseline-json", "old.json")
        told = self.assert_ends(1, *SMALL, "--processes", "3", "--interleave", "./program", *files).out
        self.assertIn("FAILED: process 2 of 3: ", told)
        self.assertEqual(self.show("old.json") + "\n" + self.show("new.json"), told)

    def test_every_committed_file(self):
        """By builds of every age."""
        files = [path for path in sorted(glob.glob(f"{RESULTS}/*/*.json")) if not FOREIGN.search(path)]
        self.assertGreater(len(files), 60)
        files = files[::3] if harness.is_sanitized() else files  # which take their time
        out = self.show(*files, "--verbose")
        parts = re.split(r"(?m)^==> (.*) <==\n\n", out)
        self.assertEqual(parts[1::2], files)
        for path, text in zip(files, parts[2::2]):
            with self.subTest(file=path):
                self.assertTrue(text.startswith(("xferbench ", "Node ")), text)
                self.assertIsNone(CONTROL.search(text))
                with open(path, encoding="utf-8") as file:
                    self.assert_rows_are_there(json.load(file), text)

    def assert_rows_are_there(self, document, text):
        """Every case has a row of its own, but for pairs and their groups, which stand in matrices."""
        for row in document.get("results", ()):
            if row["peer"] is None and "group" not in row["parameters"]:
                self.assertRegex(text, rf"(?m)^{row['mode']} +{row['variant']} +{row['direction']} ")


class MissingFigures(Show):
    """Nothing is said of a figure that a file lacks."""

    NO_NUMBER = re.compile(r"(?i)(?<![\w.])-?(nan|inf)(?!\w)")

    def documents(self):
        """Committed files that have every figure of every mode between them, and which of these each has."""
        seen = set()
        for path in sorted(glob.glob(f"{RESULTS}/*/*.json"), key=lambda path: (os.path.getsize(path), path)):
            with open(path, encoding="utf-8") as file:
                document = {} if FOREIGN.search(path) else json.load(file)
            rows = [(row["mode"], row.get("figures", ())) for row in document.get("results", ())]
            figures = {(mode, one["name"]) for mode, row in rows for one in row} - seen
            if figures:
                yield path, document, sorted({name for _, name in figures})
            seen |= figures

    def show_without(self, name, document):
        rows = [
            row | {"figures": [one for one in row["figures"] if one["name"] != name]} for row in document["results"]
        ]
        self.write_json("lacks.json", document | {"results": rows})
        return self.run_program("show", "lacks.json", "--verbose")

    def test_each_figure(self):
        step = 3 if harness.is_sanitized() else 1  # which takes its time
        lacking = 0
        for path, document, names in self.documents():
            for name in names[::step]:
                shown = self.show_without(name, document)
                if shown.code != 0:  # it is what the row is about
                    self.assertIn(f"have no {name}", shown.err)
                    continue
                lacking += 1
                with self.subTest(path=path, name=name):
                    page = self.assert_succeeds("report", "lacks.json", "--output", "-")
                    compared = self.run_program("compare", path, "lacks.json")
                    for outcome in (shown, page, compared):
                        self.assertIsNone(self.NO_NUMBER.search(outcome.out + outcome.err), outcome)
        self.assertGreater(lacking, 100 // step)

    def test_a_limit_needs_all_rates(self):
        limit = r"is\s+the\s+limit|is\s+too\s+slow"
        path = os.path.join(RESULTS, "h200", "quantize-compress.json")
        self.assertRegex(self.show(path, "--verbose"), limit)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for name in ("plain_bandwidth", "ratio", "decode_rate", "encode_rate"):
            self.assertNotRegex(self.show_without(name, document).out, limit)


class SeveralFiles(Show):
    def setUp(self):
        super().setUp()
        self.assert_succeeds(*SMALL, "--json", "one.json")
        self.assert_succeeds(*SMALL, "--latency", "--json", "two.json")

    def test_one_behind_the_other(self):
        one, two = self.show("one.json"), self.show("two.json")
        both = f"==> one.json <==\n\n{one}\n==> two.json <==\n\n{two}"
        self.assertEqual(self.show("one.json", "two.json"), both)

    def assert_refused(self, path, *words):
        """It says why, and shows the others all the same."""
        outcome = self.assert_ends(1, "show", path)
        self.assertEqual(outcome.out, "")
        self.assertTrue(outcome.err.startswith(f"xferbench: {path}: "), outcome)
        self.assertEqual(outcome.err.count("\n"), 1, outcome)
        self.assert_words(outcome.err, words, outcome)
        outcome = self.assert_ends(1, "show", "one.json", path, "two.json")
        self.assert_words(outcome.err, words, outcome)
        self.assertIn(self.show("one.json"), outcome.out)
        self.assertIn(self.show("two.json"), outcome.out)

    def test_what_is_none_of_ours(self):
        self.write("other.json", '{"schema": "other", "results": []}')
        self.write("none.json", "{}")
        self.write("list.json", "[]")
        self.write("text.json", "not JSON\n")
        self.write("empty.json", "")
        self.write("old.json", '{"schema": "xferbench.compare", "schema_version": 1}')
        self.assert_refused("old.json", "schema_version")
        for name in ("other.json", "none.json", "list.json"):
            with self.subTest(name=name):
                self.assert_refused(name, "schema")
        self.assert_refused("text.json", "line 1")
        self.assert_refused("empty.json", "empty")
        self.assert_succeeds("list", "--json", "inventory.json")
        self.assert_refused("inventory.json", "'list of devices'", "xferbench report makes a page of it")

    def test_what_is_no_file(self):
        os.mkdir(self.path("folder"))
        self.assert_refused("missing.json", "cannot be read", "No such file")
        self.assert_refused("folder", "is a directory")
        self.assert_refused("", "cannot be read")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_what_may_not_be_read(self):
        self.write("closed.json", "{}")
        os.chmod(self.path("closed.json"), 0)
        self.assert_refused("closed.json", "cannot be opened", "Permission denied")

    def test_what_was_cut(self):
        text = self.read("one.json")
        for length in (len(text) // 2, len(text) - 3, 1):
            self.write("cut.json", text[:length])
            self.assert_refused("cut.json", "line ")

    def test_what_is_newer(self):
        document = json.loads(self.read("one.json"))
        for version in (3, 0, "2"):
            self.write_json("newer.json", document | {"schema_version": version})
            self.assert_refused("newer.json", "schema_version")

    def test_what_is_wrong_within(self):
        document = json.loads(self.read("one.json"))
        figure(document["results"][0], "bandwidth")["median"] *= 2
        self.write_json("wrong.json", document)
        self.assert_refused("wrong.json", "median")

    def test_pipe(self):
        """As a shell's <(...) gives them."""
        os.mkfifo(self.path("pipe"))
        process = self.start("show", "pipe")
        self.write("pipe", self.read("one.json"))
        self.assertEqual(self.assert_ended(0, process).out, self.show("one.json"))


class Cases(Show):
    """--case: of any file, only what is asked for, and that is said."""

    def setUp(self):
        super().setUp()
        self.assert_succeeds(*HOST, "--mode", "pinned,pageable", "--size", "4K,1M", *FEW, "--json", "all.json")

    def rows(self, text):
        return re.findall(r"(?m)^(pinned|pageable) +\S+ +(h2d|d2h) +(\d+ \w+) ", text)

    def test_of_results(self):
        every = self.rows(self.show("all.json", "--columns", "all"))
        self.assertGreater(len(every), 8)
        for cases, keeps in (
            ("pinned", lambda mode, direction, size: mode == "pinned"),
            ("*/d2h", lambda mode, direction, size: direction == "d2h"),
            ("pinned/h2d/1M", lambda *row: row == ("pinned", "h2d", "1 MiB")),
            ("*/*/2K..8K,pinned/h2d", lambda *row: row[2] == "4 KiB" or row[:2] == ("pinned", "h2d")),
        ):
            with self.subTest(cases=cases):
                out = self.show("--case", cases, "--columns", "all", "all.json")
                wanted = [row for row in every if keeps(*row)]
                self.assertEqual(self.rows(out), wanted)
                self.assertTrue(out.startswith(f"Only the cases of --case: {len(wanted)} of {len(every)}.\n"), out)

    def test_all_of_them(self):
        """Nothing is left out, and nothing said."""
        self.assertEqual(self.show("--case", "*", "all.json"), self.show("all.json"))

    def test_reading_is_of_these(self):
        self.assertNotIn("pageable", self.show("--case", "pinned", "all.json"))

    def test_of_comparison(self):
        files = [os.path.join(RESULTS, "h200", name) for name in ("compare-baseline.json", "compare-busy-link.json")]
        self.assert_ends(1, "compare", *files, "--format", "json", "--output", "compared.json")
        whole, part = self.show("compared.json"), self.show("--case", "pinned", "compared.json")
        self.assertIn("\nzero-copy", whole)
        self.assertNotIn("\nzero-copy", part)
        self.assertIn("\nPinned, 256 MiB, bandwidth in GB/s\nDIR ", part)
        self.assertIn(whole.partition("\n")[0], part)

    def test_what_is_not_there(self):
        for cases, words in (("async", ("pageable", "pinned")), ("pined", ("did you mean pinned?",))):
            self.assert_words(self.assert_ends(1, "show", "--case", cases, "all.json").err, words)
        outcome = self.assert_ends(1, "show", "--case", "pinned", os.path.join(RESULTS, "h200", "link-1.json"))
        self.assertIn("without --case", outcome.err)

    def test_what_is_no_case(self):
        for cases in ("", "pinned/", "pinned/h2d/x", "pinned/h2d/1M/bandwidth", "*/*/8K..4K"):
            with self.subTest(cases=cases):
                self.assert_usage(("--case",), "show", "--case", cases, "all.json")


class Csv(Show):
    def setUp(self):
        super().setUp()
        self.assert_succeeds(*SMALL, "--json", "one.json", "--csv", "one.csv")
        self.assert_succeeds(*SMALL, "--latency", "--processes", "2", "--json", "two.json")

    def lines(self, path):
        with open(self.path(path), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_as_the_run_wrote_it(self):
        """But for where it stands now."""
        told = self.show("one.json")
        self.assertEqual(self.show("one.json", "--csv", "again.csv"), told)
        document, lines = self.load("one.json"), self.lines("again.csv")
        for line in lines:
            self.assertEqual((line.pop("file"), line.pop("file_time")), ("one.json", document["timestamp"]))
            self.assertEqual(line["hostname"], document["host"]["hostname"])
        written = self.lines("one.csv")
        for line in written:
            self.assertEqual((line.pop("file"), line.pop("file_time")), ("", ""))
        self.assertEqual(lines, written)

    def test_of_several_files(self):
        """Columns of all, whichever file brings them; of what has no lines nothing."""
        link = os.path.join(RESULTS, "h200", "link-1.json")
        shown = self.show("one.json", link, "two.json", "--csv", "-")
        self.write("all.csv", shown)
        lines = self.lines("all.csv")
        count = {name: len([line for line in lines if line["file"] == name]) for name in ("one.json", "two.json")}
        self.assertGreater(min(count.values()), 0)
        self.assertEqual(sum(count.values()), len(lines))
        for line in lines:
            self.assertNotEqual(line["setup_time_s"], "")
            self.assertEqual(line["host_latency_p50_s"] != "", line["file"] == "two.json")

    def test_file_that_cannot_be_read(self):
        """It is told once; the others are shown. A CSV that would lack its lines replaces none."""
        self.write("broken.json", "{")
        self.put_old("old.csv")
        for name in ("old.csv", "new.csv"):
            outcome = self.assert_ends(1, "show", "one.json", "broken.json", "--csv", name)
            self.assertEqual(outcome.err.count("broken.json"), 1)
            self.assertIn(f"'{name}' was not written: ", outcome.err)
            self.assertIn(self.show("one.json"), outcome.out)
        self.assert_old("old.csv")
        self.assert_folder_has("broken.json", "old.csv", "one.csv", "one.json", "two.json")
        outcome = self.assert_ends(1, "show", "broken.json", "one.json", "--csv", "-")
        self.assertNotIn("was not written", outcome.err)
        self.assertEqual(outcome.out, self.show("one.json", "--csv", "-"))

    def test_reader_that_left(self):
        """As `head -1` leaves: it ends as the tables do, without a word."""
        for arguments in (("one.json",), ("one.json", "--csv", "-")):
            with self.subTest(arguments=arguments):
                reader, writer = os.pipe()
                os.close(reader)
                process = self.start("show", *arguments, stdout=writer)
                os.close(writer)
                outcome = self.finish(process, allowed_signal=signal.SIGPIPE)
                self.assertEqual((outcome.code, outcome.err), (-signal.SIGPIPE, ""), outcome)

    def test_where_it_cannot_go(self):
        self.assert_usage(("--csv", "which is read"), "show", "one.json", "two.json", "--csv", "two.json")
        self.assertEqual(self.load("two.json")["schema"], "xferbench.processes")
        os.mkfifo(self.path("pipe"))
        self.assert_usage(("pipe", "--csv"), "show", "one.json", "pipe", "--csv", "out.csv")
        with open(self.device_node("/dev/full", 7), "w", encoding="utf-8") as full:
            outcome = self.assert_ends(1, "show", "one.json", "--csv", "-", stdout=full)
        self.assertIn("ENOSPC", outcome.err)


class Anyway(Show):
    def test_command_lines_that_are_wrong(self):
        self.assert_usage(("show FILE",), "show")
        self.assert_usage(("--mode",), "show", "--mode", "pinned", "out.json")

    def test_help(self):
        said = self.assert_succeeds("show", "--help").out
        self.assert_words(said, ("show FILE...", "--json", "Exit: "))

    def test_output_that_cannot_be_written(self):
        self.assert_succeeds(*SMALL, "--json", "one.json")
        with open(self.device_node("/dev/full", 7), "w", encoding="utf-8") as full:
            outcome = self.assert_ends(1, "show", "one.json", stdout=full)
        self.assertIn("ENOSPC", outcome.err)
        self.assertNotIn("ioctl", outcome.err)

    def test_texts_cannot_steer_a_terminal(self):
        """Neither those of a file nor the file's name."""
        self.assert_succeeds(*SMALL, "--json", "one.json")
        document = self.load("one.json")
        document["backend"] |= {"driver_version": EVIL, "runtime_version": EVIL}
        document["tool"]["version"] = EVIL
        document["devices"][0] |= {"name": EVIL, "facts": {EVIL: EVIL}}
        document["devices"][0]["numa"]["note"] = EVIL
        row = document["results"][0]
        row |= {"variant": EVIL, "warnings": [EVIL], "parameters": {EVIL: EVIL}}
        skipped = row | {
            "mode": EVIL, "status": "skipped", "reason": EVIL, "timer": None, "bytes_moved": None, "samples_s": [],
            "figures": [], "stop_reason": None, "verified": None,
        }
        document["results"].append(skipped)
        self.write_json(EVIL.replace("/", "_"), document)
        merged = harness.merged([document, None], role="candidate", program=EVIL, interleaved_with=EVIL)
        merged["processes"][1]["failure"] = EVIL
        self.write_json("merged.json", merged)
        self.run_program("compare", EVIL, "merged.json", "--format", "json", "--output", "comparison.json")
        self.assert_ends(3, "link", *HOST, "--json", "link.json")
        link = self.load("link.json")
        link["command"] = EVIL
        link["devices"][0]["name"] = EVIL
        link["devices"][0]["verdict"]["reasons"][0]["text"] = EVIL
        self.write_json("link.json", link)
        for files in (
            (EVIL,), ("merged.json",), ("comparison.json",), ("link.json",), (EVIL, "merged.json", "missing" + EVIL)
        ):
            with self.subTest(files=files):
                outcome = self.run_program("show", *files)
                self.assertEqual(outcome.code, 1 if len(files) > 1 else 0, outcome)
                for text in (outcome.out, outcome.err):
                    self.assertIsNone(CONTROL.search(text), repr(text))
                    self.assertNotRegex(text, r"(?m)^\s*::")
                self.assertIn("forged", outcome.out)


if __name__ == "__main__":
    harness.main()
