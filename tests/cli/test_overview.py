#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What run and show print unasked: one screen, that fits wherever it is read, in plain sentences.
usage: test_overview.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import glob
import json
import os
import re

import harness
from harness import ABOUT_LATENCY, COLOUR, FEW, MODES, SOURCE, Case

FAKE = os.path.join(harness.BUILD, "tests", "xferbench_fake")
SCREEN = 40  # lines
PIPED = 100
PLACES = ({}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}, {"LC_ALL": "C", "NO_COLOR": "1"})
ODD = re.compile(r"(?:^|[.:] +|\n *)(?:Of|By|That of|Whether) ")
# A run of every mode, sweeps, latencies, several devices and several processes.
SOME = ("h200/all-256m", "h200/crossover", "h200/latency", "h200/batch-sweep", "h200/quantize-compress",
        "h200-x2/all-devices-1g", "h200-x2/simultaneous", "h200-x4/nvb-peer", "h100/jobs", "h200/alignment")


def results():
    """The committed files of results."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "bench", "results", "*", "*.json"))):
        if harness.read_json(path).get("schema") in ("xferbench.result", "xferbench.processes"):
            yield path


class Overview(Case):
    def check_text(self, text, columns):
        self.assertIsNone(ODD.search(text), text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), columns, text)
            self.assertEqual(line, line.rstrip(), text)

    def check_places(self, path):
        """Wherever it is read. Returns what a terminal of 80 columns shows."""
        self.check_text(self.run_program("show", path).out, PIPED)
        shown = {}
        for columns in (60, 80, 120):
            for place in PLACES:
                with self.subTest(path=path, columns=columns, place=place):
                    text = self.on_terminal(columns, "show", path, **place).out
                    self.assertEqual("\x1b" in text, "NO_COLOR" not in place)
                    text = COLOUR.sub("", text)
                    self.assertTrue("LC_ALL" not in place or text.isascii(), text)
                    self.check_text(text, columns)
                    # Colours change nothing but colours.
                    shown.setdefault((columns, place.get("LC_ALL")), set()).add(text)
        self.assertEqual([len(texts) for texts in shown.values()], [1] * 6)
        return shown[80, None].pop()

    def assert_one_screen(self, text):
        self.assertLessEqual(len(text.splitlines()), SCREEN, text)
        self.assertRegex(text, r"\A.*\S\n(.*\n){1,3}?(?<=\.\n)\n", "no answer below the header")

    def test_files_of_every_kind(self):
        for name in SOME:
            self.check_places(os.path.join(SOURCE, "bench", "results", f"{name}.json"))

    def test_every_file(self):
        for path in results():
            with self.subTest(path=path):
                text = self.on_terminal(80, "show", path, NO_COLOR="1").out
                self.check_text(text, 80)
                if re.search(r"/all-\w+(-\d+)?\.json$", path):
                    self.assert_one_screen(text)

    def test_groups_of_pairs_are_a_line(self):
        """By what each has together: how it divides that is chance."""
        text = self.on_terminal(80, "show", os.path.join(SOURCE, "bench/results/h200-x4/peer-group-sizes.json")).out
        self.assertIn("group one-to-all, at the same time, GB/s\n  together: 397.8 to 398.0, 4 groups\n", COLOUR.sub("", text))
        self.assertLessEqual(len(text.splitlines()), SCREEN // 2)

    def show_edited(self, name, edit):
        """What a terminal of 80 columns shows of a committed file in which something else stands."""
        document = harness.read_json(os.path.join(SOURCE, "bench", "results", f"{name}.json"))
        edit(document)
        with open(self.path("edited.json"), "w", encoding="utf-8") as file:
            json.dump(document, file)
        return self.on_terminal(80, "show", "edited.json", NO_COLOR="1").out

    def test_what_was_cut_short_has_no_bar(self):
        def edit(document):
            document["deadline_met"] = True
            for row in document["results"]:
                if row["mode"] == "pinned":
                    row["stop_reason"] = "deadline"

        text = self.show_edited("h100/all-256m", edit)
        self.assertRegex(text, r"\n  pinned .* -  cut short\n\n")
        self.assertRegex(text, r"of 58.1\n  async .*█+.* %\n")

    def test_what_failed_is_a_row(self):
        def edit(document):
            for row in document["results"]:
                if row["mode"] == "pinned":
                    row |= {"status": "error", "reason": "it broke", "verified": None, "figures": [], "samples_s": [],
                            "timer": None, "stop_reason": None, "warnings": []}

        self.assertEqual(len(re.findall(r"(?m)^  pinned .* FAILED$", self.show_edited("h200/all-256m", edit))), 2)

    def test_every_device_is_there(self):
        devices = {"XB_FAKE_DEVICES": "8"}
        self.run_program("--mode", "pinned", "--device", "all", "--size", "64K", *FEW, "--json", "out.json", program=FAKE,
                         environment=devices)
        for columns in (60, 80):
            text = self.on_terminal(columns, "show", "out.json").out
            for device in range(8):
                self.assertEqual(text.count(f"GPU {device}"), 2 + (device == 0), text)

    def test_what_is_different_has_tables_of_its_own(self):
        """Pinning, loads and jobs are times, of different things."""
        self.run_program("--mode", "pin,loads,job", "--size", "2M", *FEW, "--json", "out.json", program=FAKE)
        text = self.run_program("show", "out.json").out
        self.assertRegex(text, r"\nTime, 2 MiB +TIME +IN +KERNEL +OUT ")
        self.assertRegex(text, r"\nTo the GPU, 2 MiB +TIME +p99\n  loads")

    def test_latencies_of_several_processes(self):
        self.run_program("--mode", "pinned,pageable", "--latency", "--size", "4K", "--processes", "2", *FEW, "--json",
                         "out.json", program=FAKE)
        self.assertNotIn("nan", self.run_program("show", "out.json").out)

    def test_what_is_fine_names_its_device(self):
        text = self.run_program("show", os.path.join(SOURCE, "bench/results/h200-x2/nvb-host.json")).out
        self.assertRegex(text, r"(?m)^Fine: GPU 0: The link gives ")

    def test_one_amount_is_shown(self):
        outcome = self.run_program("show", os.path.join(SOURCE, "bench/results/h200/all-256m.json"), "--columns", "short,all")
        self.assertEqual((outcome.code, outcome.err), (2, "xferbench: --columns takes one word\n"))

    def test_only_what_crosses_the_link_is_held_against_it(self):
        link = harness.read_json(os.path.join(SOURCE, "bench", "results", "h100", "all-256m.json"))["devices"][0]["link"]

        def edit(document):
            document["devices"][0]["link"] = link

        self.assertIn("of the link", self.show_edited("h200/all-256m", edit))
        text = self.show_edited("h200/quantize-compress", edit)
        self.assertIn("of the fastest", text)
        self.assertNotIn("of the link", text)

    def test_a_worse_link_is_told_of_the_device_that_has_it(self):
        def edit(document):
            document["devices"][1]["link"]["width"] = 8
            document["tool"]["left_out"] = ["hwloc", "liblz4"]

        head = " ".join(self.show_edited("h200-x2/all-devices-1g", edit).split())
        self.assertIn("CUDA 13.0, without hwloc, liblz4, node vm ", head)
        self.assertIn("NVIDIA H200, PCIe Gen5 x16; NVIDIA H200, PCIe Gen5 x8 (BELOW its Gen5 x16),", head)

    def test_more_sizes_than_there_is_room_for(self):
        def edit(document):
            document["results"] = [
                {**row, "bytes": 4096 * step, "bytes_moved": 4096 * step}
                for row in document["results"]
                if row["mode"] in ("pinned", "async")
                for step in range(1, 71)
            ]

        text = self.show_edited("h200/all-256m", edit)
        self.assertIn("  other values: --columns all\n", text)
        self.assertIn("280 KiB", text)

    def test_modes(self):
        """Each alone, and all of them; of several sizes too."""
        for mode in (*MODES, "all"):
            latency = ("--latency",) if mode in ABOUT_LATENCY else ()
            for size in ("2M",) if latency else ("64K",) if mode in ("peer", "all") else ("64K", "4K..1M"):
                with self.subTest(mode=mode, size=size):
                    self.run_program("--mode", mode, *latency, "--size", size, *FEW, "--json", "out.json", program=FAKE)
                    self.assert_one_screen(self.check_places("out.json"))

    def test_latencies_have_an_answer(self):
        for mode, answer in (("peer", "peer direct (read|write), \\S+ us one way, GPU 0>1"), ("local", "local copy, \\S+ us within the GPU")):
            self.run_program("--mode", mode, "--latency", "--size", "64K", *FEW, "--json", "out.json", program=FAKE)
            self.assertRegex(self.run_program("show", "out.json").out, rf"\nFixed cost of a copy at 64 KiB: {answer}\.\n")


if __name__ == "__main__":
    harness.main()
