#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench report FILE...`: a page that stands alone, of any number of files, whatever is in them.
usage: test_report.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import glob
import html.parser
import json
import os
import re
import xml.etree.ElementTree

import harness
from harness import SOURCE, Case

RESULTS = os.path.join(SOURCE, "bench", "results")
H200 = os.path.join(RESULTS, "h200")
# Of other programs than xferbench.
FOREIGN = re.compile(r"/(hold-depth|repeat-[a-z-]+)\.json$")
EMPTY = {"meta"}  # elements of a page that have no end
EVIL = '<script>alert("x")</script> \'&amp; \x1b[31m\u202e\x9b'
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Page(html.parser.HTMLParser):
    """What a page is made of; fails where elements do not end in their order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.ids, self.links, self.references = [], [], [], [], []
        self.text = ""
        self.styles = ""
        self.titles = []
        self.feed(text)
        self.close()
        if self.open:
            raise AssertionError(f"without an end: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.note(tag, attrs)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def note(self, tag, attrs):
        self.elements.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href" and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("aria-labelledby", "aria-describedby"):
                self.links += value.split()
            elif name in ("href", "src", "action", "data", "poster", "srcset", "xlink:href") or name.startswith("on"):
                self.references.append((tag, name, value))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> out of place at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.styles += data
        else:
            self.text += data


class Report(Case):
    def report(self, *files, code=0, err="", **options):
        """The page of these files, checked as every page is."""
        outcome = self.run_program("report", *files, **options)
        self.assertEqual(outcome.code, code, outcome.err)
        if err == "":
            self.assertEqual(outcome.err, "")
        else:
            self.assertRegex(outcome.err, err)
        return self.check(outcome.out)

    def check(self, text):
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html lang=\"en\""), text[:80])
        xml.etree.ElementTree.fromstring(text)  # well-formed
        page = Page(text)
        self.assertEqual(len(page.ids), len(set(page.ids)), "ids are unique")
        self.assertEqual(set(page.links) - set(page.ids), set(), "links lead to ids")
        levels = [int(name[1]) for name in page.elements if re.fullmatch("h[1-6]", name)]
        for above, below in zip([0] + levels, levels):
            self.assertLessEqual(below, above + 1, "no level of headings is left out")
        self.assertEqual(page.references, [], "nothing is fetched, nothing runs")
        self.assertNotIn("script", page.elements)
        self.assertNotRegex(page.styles, r"@import|url\(")
        self.assertIsNone(CONTROL.search(text))
        self.assertEqual(page.elements.count("figure"), page.elements.count("svg"))
        return page

    def assert_says(self, page, *words):
        for part in words:
            self.assertTrue(part in page.text, f"the page lacks {part!r}")

    def assert_pictures_have_numbers(self, page):
        """They are in a table, or stand beside their bars."""
        self.assertGreater(page.elements.count("svg"), 0)
        self.assertGreater(page.elements.count("table"), 0)

    def test_a_terminal_is_not_filled_with_html(self):
        terminal = harness.Terminal()
        outcome = self.run_program("report", os.path.join(H200, "link-1.json"), terminal=terminal, stdout=terminal.slave)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("name a file with --output report.html", " ".join(outcome.err.split()))
        self.assertNotIn("<html", outcome.err)

    def test_of_one_result(self):
        page = self.report(os.path.join(H200, "all-1g-7.json"))
        self.assert_pictures_have_numbers(page)
        self.assert_says(
            page,
            "Fastest: pinned, 55.3 GB/s to the GPU and 55.3 back, 95 % of the link.",
            "95 % of what the link carries, to the GPU: 55.34 of 58.08 GB/s",
            "6.7 \u00d7 Pin buffers that you copy more than once: 6.7 times as fast to the GPU, 3.3 times back.",
            "Pin buffers that you copy more than once: 6.7 times as fast to the GPU",
            "NVIDIA H200 on vm",
            "580.159.04",  # the driver
            "PCIe Gen5 x16",
            "Pinned is 6.7 times as fast as pageable to the GPU",  # the Reading
            "To the GPU, 1 GiB: GB/s",
            "Samples around their median",
            "it takes two devices",  # why a row has no figure
            "16.73",  # a number of the table
        )
        self.assertFalse("by size" in page.text)
        self.assertFalse("Left out" in page.text)

    def test_of_several_sizes(self):
        page = self.report(os.path.join(H200, "crossover.json"))
        self.assert_says(page, "To the GPU, by size", "Back to the host, by size", "link carries")

    def test_of_every_kind(self):
        """Each kind of file is told from the others, and says something."""
        self.assert_succeeds("list", "--json", "list.json")
        self.run_program("advise", os.path.join(H200, "crossover.json"), "--in", "400M", "--out", "4K",
                         "--gpu-time", "2ms", "--json", "advise.json")
        self.run_program("compare", os.path.join(H200, "all-cuda-11.8.json"),
                         os.path.join(H200, "all-cuda-12.4.json"), "--format", "json", "-o", "compare.json")
        self.assert_succeeds(*harness.HOST, "--mode", "double-buffer", "--size", "1M", *harness.FEW,
                             "--trace", "trace.json")
        page = self.report("list.json", "advise.json", "compare.json", "trace.json",
                           os.path.join(H200, "link-1.json"), os.path.join(H200, "compare-again.json"),
                           os.path.join(H200, "all-256m.json"))
        self.assert_says(page, "list.json: list of devices", "advise.json: advice", "compare.json: comparison",
                      "trace.json: timeline", "link-1.json: link test",
                      "compare-again.json: result of several processes", "all-256m.json: result",
                      "Predicted times of the job", "INCONCLUSIVE", "Medians of the processes around their median",
                      "1 of 1 links to GPUs are as they should be.")

    def test_a_row_without_a_name_is_shown(self):
        self.run_program("compare", os.path.join(H200, "all-cuda-11.8.json"),
                         os.path.join(H200, "all-cuda-12.4.json"), "--format", "json", "-o", "compare.json")
        document = harness.read_json(self.path("compare.json"))
        document["differences"][0]["name"] = None
        self.write_json("compare.json", document)
        self.assert_says(self.report("compare.json"), "INCONCLUSIVE")

    def test_of_all_measurements(self):
        """Also of files that versions before this one wrote."""
        for folder in ("h200", "h200-x2", "h200-x4"):
            files = [path for path in sorted(glob.glob(os.path.join(RESULTS, folder, "*.json")))
                     if not FOREIGN.search(path) and os.path.getsize(path) < 120000]
            outcome = self.assert_succeeds("report", *files, "-o", "report.html")
            self.assertEqual(outcome.out, "")
            text = self.read("report.html")
            self.check(text)
            self.assertLess(len(text), 1 << 20)

    def test_broken_files_are_left_out(self):
        good = os.path.join(H200, "pinned-1g.json")
        self.write("broken.json", '{"schema": "xferbench.result"')
        self.write("foreign.json", '{"schema": "<b>other</b>"}')
        self.write("text.json", "no JSON <i>at</i> all")
        os.mkdir(self.path("empty"))
        page = self.report("broken.json", "missing.json", good, "foreign.json", "text.json", "empty",
                           code=1, err="(?s)broken.json.*missing.json.*foreign.json.*text.json")
        self.assert_says(page, "5 of 6 files could not be read.")
        for name in ("1. broken.json", "2. missing.json", "4. foreign.json", "5. text.json"):
            self.assert_says(page, name)
        self.assert_says(page, "3. pinned-1g.json: result")
        self.report("foreign.json", code=1, err="foreign.json")

    def test_a_folder_is_its_files(self):
        """In the order of their names, below it too; what names no JSON, and JSON lines, are not of it."""
        names = ("a/day-2.json", "a/day-10.json", "a/b/other.json")
        for name in names:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(os.path.join(H200, "pinned-1g.json"), encoding="utf-8") as file:
                self.write(name, file.read())
        self.write("a/notes.txt", "no JSON")
        self.write("a/many.jsonl", "{}\n{}\n")
        page = self.report("a")
        self.assert_says(page, "1. other.json: result", "2. day-2.json: result", "3. day-10.json: result")
        self.assertNotIn("Left out", page.text)

    def test_hostile_texts_are_shown_as_text(self):
        with open(os.path.join(H200, "quick.json"), encoding="utf-8") as file:
            document = json.load(file)
        document["devices"][0]["name"] = EVIL
        document["host"]["hostname"] = '"><img src=x onerror=alert(1)>'
        document["host"]["os"] = "]]></style><script>"
        row = document["results"][0]
        row["status"] = "error"
        row["reason"] = EVIL
        row["verified"] = None
        row["figures"] = []
        document["reading"] = []
        name = 'a "<b>&.json'
        self.write_json(name, document)
        page = self.report(name, code=0)
        self.assert_says(page, "<script>alert(\"x\")</script>")
        self.assertNotIn("img", page.elements)
        self.assert_says(page, '"><img src=x onerror=alert(1)>')

    def test_data_that_does_not_cross_the_link_as_it_is(self):
        """The answer says what was sent; its bars are not held against the link."""
        page = self.report(os.path.join(H200, "compress.json"))
        self.assert_says(page, "Sending zeros packed with FOR: worth it")

    def test_pictures_alone(self):
        outcome = self.assert_succeeds("report", os.path.join(H200, "crossover.json"), "-o", "report.html",
                                       "--svg", "pictures")
        self.assertEqual(outcome.err, "")
        page = Page(self.read("report.html"))
        names = sorted(os.listdir(self.path("pictures")))
        self.assertEqual(len(names), page.elements.count("svg"))
        self.assertIn("nvidia-h200-on-vm-to-the-gpu-by-size.svg", names)
        for name in names:
            root = xml.etree.ElementTree.parse(self.path("pictures", name)).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertIn(name[: -len(".svg")] + "-title", page.ids)
            for tag in ("title", "desc"):
                self.assertTrue(root.findtext("{http://www.w3.org/2000/svg}" + tag), name)
        self.assert_succeeds("report", os.path.join(H200, "crossover.json"), "-o", "report.html",
                             "--svg", "pictures")  # again, over them

    def test_what_cannot_be_written(self):
        good = os.path.join(H200, "pinned-1g.json")
        self.assert_usage(("takes the files or folders to show",), "report")
        self.write("file", "")
        self.assert_usage(("--svg", "file"), "report", good, "-o", "report.html", "--svg", "file")
        self.assertFalse(os.path.exists(self.path("report.html")))
        with open(good, encoding="utf-8") as file:
            content = file.read()
        self.write("own.json", content)
        self.assert_usage(("own.json",), "report", "own.json", "-o", "own.json")
        self.assertEqual(self.read("own.json"), content)
        self.write("report.html", "old")
        outcome = self.run_program("report", good, "-o", "report.html", "--svg", "no/such/folder")
        self.assertEqual(outcome.code, 2, outcome.err)
        self.assertEqual(self.read("report.html"), "old")

    def test_disk_is_full(self):
        self.assert_fails(1, ("cannot write the report",), "report", os.path.join(H200, "pinned-1g.json"), "-o", "/dev/full")

    def test_page_of_the_documents(self):
        """It is valid, and made by the command that docs/report.md tells; if its parts differ, run that."""
        with open(os.path.join(SOURCE, "docs", "report.md"), encoding="utf-8") as file:
            command = re.search(r"^    xferbench (report bench/.*)$", file.read(), re.M)[1].split()
        with open(os.path.join(SOURCE, "docs", "report-h200.html"), encoding="utf-8") as file:
            kept = self.check(file.read())
        xml.etree.ElementTree.parse(os.path.join(SOURCE, "docs", "gb-by-size.svg"))
        command[command.index("--output") + 1] = self.path("report.html")
        command[command.index("--svg") + 1] = self.path("pictures")
        self.assert_succeeds(*command, cwd=SOURCE)
        made = self.check(self.read("report.html"))
        self.assertEqual(made.ids, kept.ids)

    def test_many_files_make_a_small_page(self):
        """Those that have no room are counted: in the page, and among the conditions."""
        with open(os.path.join(H200, "pinned-1g.json"), encoding="utf-8") as file:
            document = json.load(file)
        names = []
        for day in range(1, 31):
            document["timestamp"] = f"2026-09-{day:02}T00:00:00Z"
            names.append(f"day-{day:02}.json")
            self.write_json(names[-1], document)
        page = self.report(*names)
        self.assert_says(page, "20 of 30 files are shown with their pictures")
        shown = [number for number in range(1, 31) if f"file-{number}" in page.ids]
        self.assertEqual(shown, list(range(11, 31)))  # the newest
        self.assert_says(page, "30. day-30.json")

    def test_many_sweeps_make_a_small_page(self):
        """What has no room goes from the end of each file, and the page says so."""
        outcome = self.run_program("report", *[os.path.join(H200, "sweep.json")] * 20)
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertLess(len(outcome.out.encode()), 1_000_000)
        page = self.check(outcome.out)
        self.assert_says(page, "but a page has 120 at most, and about 1 MB", "more rows are not shown")
        for number in range(1, 21):
            self.assertIn(f"file-{number}-numbers", page.ids)


if __name__ == "__main__":
    harness.main()
