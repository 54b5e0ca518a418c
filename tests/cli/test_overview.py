#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What run and show print unasked: one screen, that fits wherever it is read, in plain sentences.
usage: test_overview.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import glob
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

    def test_modes(self):
        """Each alone, and all of them; of several sizes too."""
        for mode in (*MODES, "all"):
            latency = ("--latency",) if mode in ABOUT_LATENCY else ()
            for size in ("2M",) if latency else ("64K",) if mode in ("peer", "all") else ("64K", "4K..1M"):
                with self.subTest(mode=mode, size=size):
                    self.run_program("--mode", mode, *latency, "--size", size, *FEW, "--json", "out.json", program=FAKE)
                    self.assert_one_screen(self.check_places("out.json"))


if __name__ == "__main__":
    harness.main()
