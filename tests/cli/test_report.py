#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report`: pages of all measurements that there are, of more than has room, and on a terminal. What is in pages of
other files is in tests/golden/report. usage: test_report.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import glob
import importlib
import os
import re
import sys
from xml.etree import ElementTree

import harness
from harness import RESULTS, SOURCE, Case, Terminal, committed, words_of

sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
page_text = importlib.import_module("page_text")

FOREIGN = re.compile(r"/(hold-depth|repeat-[a-z-]+)\.json$")  # of other programs than xferbench
GALLERY = harness.program_of_build("tests", "picture_gallery")


def ids_of(page):
    return [element.get("id") for element in page.iter() if element.get("id")]


class Report(Case):
    def report(self, *files):
        """The page of these files, checked as every page is."""
        return page_text.check_page(self.assert_succeeds("report", *files).out)

    def test_of_all_measurements(self):
        """Also of files that versions before this one wrote."""
        for folder in ("h200", "h200-x2", "h200-x4"):
            files = [path for path in sorted(glob.glob(os.path.join(RESULTS, folder, "*.json")))
                     if not FOREIGN.search(path) and os.path.getsize(path) < 120000]
            self.assertEqual(self.assert_succeeds("report", *files, "-o", "report.html").out, "")
            page_text.check_page(self.read("report.html"))
            self.assertLess(os.path.getsize(self.path("report.html")), 1 << 20)

    def test_a_terminal_gets_no_page(self):
        terminal = Terminal()
        outcome = self.assert_ends(2, "report", committed("h200/link-1"), terminal=terminal, stdout=terminal.slave)
        self.assertIn("name a file with --output report.html", words_of(outcome.err))
        self.assertNotIn("<html", outcome.err)

    def test_page_of_the_documents(self):
        """It is valid, and made by the command that docs/report.md tells; if its parts differ, run that."""
        with open(os.path.join(SOURCE, "docs", "report.md"), encoding="utf-8") as file:
            command = re.search(r"^    xferbench (report bench/.*)$", file.read(), re.M)[1].split()
        with open(os.path.join(SOURCE, "docs", "report-h200.html"), encoding="utf-8") as file:
            kept = page_text.check_page(file.read())
        ElementTree.parse(os.path.join(SOURCE, "docs", "gb-by-size.svg"))
        command[command.index("--output") + 1] = self.path("report.html")
        command[command.index("--svg") + 1] = self.path("pictures")
        self.assert_succeeds(*command, cwd=SOURCE)
        self.assertEqual(ids_of(page_text.check_page(self.read("report.html"))), ids_of(kept))

    def test_what_has_no_room_is_counted(self):
        """Of many files the newest are shown; of many sweeps what is at the end of each file goes."""
        document = harness.read_json(committed("h200/pinned-1g"))
        names = [f"day-{day:02}.json" for day in range(1, 31)]
        for name in names:
            self.write_json(name, document | {"timestamp": f"2026-09-{name[4:6]}T00:00:00Z"})
        page = self.report(*names)
        self.assert_words(page_text.words(page),
                          ("20 of 30 files are shown with their pictures", "30. day-30.json"))
        shown = [number for number in range(1, 31) if f"file-{number}" in ids_of(page)]
        self.assertEqual(shown, list(range(11, 31)))
        outcome = self.assert_succeeds("report", *[committed("h200/sweep")] * 20)
        self.assertLess(len(outcome.out.encode()), 1_000_000)
        page = page_text.check_page(outcome.out)
        self.assert_words(page_text.words(page),
                          ("but a page has 120 at most, and about 1 MB", "more rows are not shown"))
        self.assertLessEqual({f"file-{number}-numbers" for number in range(1, 21)}, set(ids_of(page)))

    def test_80_000_values_make_a_small_picture(self):
        text = self.assert_succeeds("large-fleet", program=GALLERY).out
        self.assertLessEqual(len(text.encode()), 150_000)
        told = list(page_text.picture(page_text.read_markup(text)))
        for part in ("as their siblings: 80000", "slow: 8000", "fast: 2000", "gpu0001", "gpu10000",
                     "9800 more of those that stand out have no marker."):
            self.assertIn(f'"{part}"', " ".join(told))


if __name__ == "__main__":
    harness.main()
