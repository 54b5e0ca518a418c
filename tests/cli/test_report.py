#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report`: pages that stand alone, of any number of files, whatever is in them; their pictures, and the numbers of
each. usage: test_report.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import glob
import html.parser
import os
import re
import unittest
from xml.etree import ElementTree

import harness
from harness import FAKE, FEW, RESULTS, SOURCE, Case, Terminal, committed, words_of

FOREIGN = re.compile(r"/(hold-depth|repeat-[a-z-]+)\.json$")  # of other programs than xferbench
TRACE = os.path.join(SOURCE, "bench", "traces", "h200-pipeline.json")
SVG = "{http://www.w3.org/2000/svg}"
EMPTY = {"meta"}  # elements of a page that have no end
EVIL = '<script>alert("x")</script> \'&amp; \x1b[31m\u202e\x9b'
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Html(html.parser.HTMLParser):
    """What a page is made of; fails where elements do not end in their order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.ids, self.links, self.references = [], [], [], [], []
        self.styles = ""
        self.feed(text)
        self.close()
        if self.open:
            raise AssertionError(f"without an end: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
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


class Page:
    """A page, to be asked for its words, pictures and tables."""

    def __init__(self, text):
        self.html = Html(text)
        self.root = ElementTree.fromstring(text.replace(' xmlns="http://www.w3.org/1999/xhtml"', "", 1))
        self.words = words_of("".join(self.root.itertext()))

    def pictures(self, title):
        """Those whose title has that in it."""
        return [svg for svg in self.root.iter(f"{SVG}svg") if re.search(title, svg.find(f"{SVG}title").text)]

    def table(self, caption):
        """Rows of texts, the head first."""
        for table in self.root.iter("div"):
            if table.get("class") == "wide table" and re.search(caption, table.get("aria-label")):
                return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
        raise AssertionError(f"no table is called {caption}")


def texts_of(picture):
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def looks_of(picture):
    """What is written in each look. Nothing is cut: a text that is has a title."""
    assert not [text for text in picture.iter(f"{SVG}text") if len(text)]
    looks = {}
    for group in picture.iter(f"{SVG}g"):
        looks.setdefault(group.get("class"), []).extend(texts_of(group))
    return {look: " ".join(texts) for look, texts in looks.items()}


def description_of(picture):
    return picture.find(f"{SVG}desc").text


def make_faster(row, factor):
    """Its bandwidth, and the times that it comes from."""
    figure = harness.figure(row, "bandwidth")
    for name in ("median", "ci95_low", "ci95_high", "min", "max", "p5", "p95", "p99", "mad"):
        figure[name] = figure[name] and figure[name] * factor
    figure["samples"] = [sample * factor for sample in figure["samples"]]
    row["samples_s"] = [sample / factor for sample in row["samples_s"]]


class Report(Case):
    def report(self, *files, code=0, err=r"\A\Z", **options):
        """The page of these files, checked as every page is. A name such as "h200/sweep" is a committed file."""
        paths = [committed(name) if "." not in os.path.basename(name) and "/" in name else name for name in files]
        outcome = self.assert_ends(code, "report", *paths, **options)
        self.assertRegex(outcome.err, err)
        return self.check(outcome.out)

    def check(self, text):
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html lang=\"en\""), text[:80])
        page = Page(text)
        found = page.html
        self.assertEqual(len(found.ids), len(set(found.ids)), "ids are unique")
        self.assertEqual(set(found.links) - set(found.ids), set(), "links lead to ids")
        levels = [int(name[1]) for name in found.elements if re.fullmatch("h[1-6]", name)]
        for above, below in zip([0] + levels, levels):
            self.assertLessEqual(below, above + 1, "no level of headings is left out")
        self.assertEqual(found.references, [], "nothing is fetched, nothing runs")
        self.assertNotIn("script", found.elements)
        self.assertNotRegex(found.styles, r"@import|url\(")
        self.assertIsNone(CONTROL.search(text))
        self.assertEqual(found.elements.count("figure"), found.elements.count("svg"))
        return page

    def load_result(self, name):
        return harness.read_json(committed(name))


class Pages(Report):
    def test_of_one_result(self):
        page = self.report("h200/all-1g-7")
        self.assertGreater(page.html.elements.count("table"), 0)
        self.assert_words(page.words, (
            "Fastest: pinned, 55.3 GB/s to the GPU and 55.3 back, 95 % of the link.",
            "95 % of what the link carries, to the GPU: 55.34 of 58.08 GB/s",
            "6.7 \u00d7 Pin buffers that you copy more than once: 6.7 times as fast to the GPU, 3.3 times back.",
            "NVIDIA H200 on vm", "580.159.04", "PCIe Gen5 x16", "Pinned is 6.7 times as fast as pageable to the GPU",
            "To the GPU, 1 GiB: GB/s", "Samples around their median", "it takes two devices", "16.73",
        ))
        self.assertNotRegex(page.words, "by size|Left out")
        self.assert_words(self.report("h200/crossover").words, ("To the GPU, by size", "Back to the host, by size"))
        # What was sent is not held against the link as it is.
        self.assertIn("Sending zeros packed with FOR: worth it", self.report("h200/compress").words)

    def test_of_every_kind(self):
        """Each kind of file is told from the others, and says something; a row without a name is shown too."""
        self.assert_succeeds("list", "--json", "list.json")
        job = ("--in", "400M", "--out", "4K", "--gpu-time", "2ms", "--json", "advise.json")
        self.run_program("advise", committed("h200/crossover"), *job)
        compared = [committed(f"h200/all-cuda-{version}") for version in ("11.8", "12.4")]
        self.run_program("compare", *compared, "--json", "compare.json")
        document = harness.read_json(self.path("compare.json"))
        document["differences"][0]["name"] = None
        self.write_json("compare.json", document)
        self.assert_succeeds("--mode", "double-buffer", "--size", "1M", *FEW, "--trace", "trace.json", program=FAKE)
        page = self.report("list.json", "advise.json", "compare.json", "trace.json", "h200/link-1",
                           "h200/compare-again",
                           "h200/all-256m")
        self.assert_words(page.words, (
            "list.json: list of devices", "advise.json: advice", "compare.json: comparison", "trace.json: timeline",
            "link-1.json: link test", "compare-again.json: result of several processes", "all-256m.json: result",
            "Predicted times of the job", "INCONCLUSIVE", "Medians of the processes around their median",
            "1 of 1 links to GPUs are as they should be.",
        ))

    def test_of_all_measurements(self):
        """Also of files that versions before this one wrote."""
        for folder in ("h200", "h200-x2", "h200-x4"):
            files = [path for path in sorted(glob.glob(os.path.join(RESULTS, folder, "*.json")))
                     if not FOREIGN.search(path) and os.path.getsize(path) < 120000]
            self.assertEqual(self.assert_succeeds("report", *files, "-o", "report.html").out, "")
            self.check(self.read("report.html"))
            self.assertLess(os.path.getsize(self.path("report.html")), 1 << 20)

    def test_broken_files_are_left_out(self):
        self.write("broken.json", '{"schema": "xferbench.result"')
        self.write("foreign.json", '{"schema": "<b>other</b>"}')
        self.write("text.json", "no JSON <i>at</i> all")
        os.mkdir(self.path("empty"))
        page = self.report("broken.json", "missing.json", "h200/pinned-1g", "foreign.json", "text.json", "empty",
                           code=1,
                           err="(?s)broken.json.*missing.json.*foreign.json.*text.json")
        self.assert_words(page.words, ("5 of 6 files could not be read.", "1. broken.json", "2. missing.json",
                                       "3. pinned-1g.json: result", "4. foreign.json", "5. text.json"))
        self.report("foreign.json", code=1, err="foreign.json")

    def test_a_folder_is_its_files(self):
        """In the order of their names, below it too; what names no JSON, and JSON lines, are not of it."""
        for name in ("a/day-2.json", "a/day-10.json", "a/b/other.json"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write_json(name, self.load_result("h200/pinned-1g"))
        self.write("a/notes.txt", "no JSON")
        self.write("a/many.jsonl", "{}\n{}\n")
        words = self.report("a").words
        self.assert_words(words, ("1. other.json: result", "2. day-2.json: result", "3. day-10.json: result"))
        self.assertNotIn("Left out", words)

    def test_hostile_texts_are_shown_as_text(self):
        document = self.load_result("h200/quick")
        document["devices"][0]["name"] = EVIL
        document["host"] |= {"hostname": '"><img src=x onerror=alert(1)>', "os": "]]></style><script>"}
        document["results"][0] |= {"status": "error", "reason": EVIL, "verified": None, "figures": []}
        document["reading"] = []
        self.write_json('a "<b>&.json', document)
        page = self.report('a "<b>&.json')
        self.assert_words(page.words, ('<script>alert("x")</script>', '"><img src=x onerror=alert(1)>'))
        self.assertNotIn("img", page.html.elements)

    def test_pictures_alone(self):
        for _ in range(2):  # again, over them
            self.assert_succeeds("report", committed("h200/crossover"), "-o", "report.html", "--svg", "pictures")
        found = Page(self.read("report.html")).html
        names = sorted(os.listdir(self.path("pictures")))
        self.assertEqual(len(names), found.elements.count("svg"))
        self.assertIn("nvidia-h200-on-vm-to-the-gpu-by-size.svg", names)
        for name in names:
            root = ElementTree.parse(self.path("pictures", name)).getroot()
            self.assertEqual(root.tag, f"{SVG}svg")
            self.assertIn(name[: -len(".svg")] + "-title", found.ids)
            self.assertTrue(root.findtext(f"{SVG}title") and root.findtext(f"{SVG}desc"), name)

    def test_what_cannot_be_written(self):
        terminal = Terminal()
        outcome = self.assert_ends(2, "report", committed("h200/link-1"), terminal=terminal, stdout=terminal.slave)
        self.assertIn("name a file with --output report.html", words_of(outcome.err))
        self.assertNotIn("<html", outcome.err)
        self.assert_usage(("takes the files or folders to show",), "report")
        self.write("file", "")
        for name in ("own.json", "report.html"):
            self.write_json(name, self.load_result("h200/pinned-1g"))
        before = self.read("own.json")
        self.assert_usage(("own.json",), "report", "own.json", "-o", "own.json")
        self.assert_usage(("--svg", "file"), "report", "own.json", "-o", "report.html", "--svg", "file")
        self.assert_ends(2, "report", "own.json", "-o", "report.html", "--svg", "no/such/folder")
        self.assertEqual((self.read("own.json"), self.read("report.html")), (before, before))

    def test_page_of_the_documents(self):
        """It is valid, and made by the command that docs/report.md tells; if its parts differ, run that."""
        with open(os.path.join(SOURCE, "docs", "report.md"), encoding="utf-8") as file:
            command = re.search(r"^    xferbench (report bench/.*)$", file.read(), re.M)[1].split()
        with open(os.path.join(SOURCE, "docs", "report-h200.html"), encoding="utf-8") as file:
            kept = self.check(file.read())
        ElementTree.parse(os.path.join(SOURCE, "docs", "gb-by-size.svg"))
        command[command.index("--output") + 1] = self.path("report.html")
        command[command.index("--svg") + 1] = self.path("pictures")
        self.assert_succeeds(*command, cwd=SOURCE)
        self.assertEqual(self.check(self.read("report.html")).html.ids, kept.html.ids)

    def test_what_has_no_room_is_counted(self):
        """Of many files the newest are shown; of many sweeps what is at the end of each file goes."""
        document = self.load_result("h200/pinned-1g")
        names = [f"day-{day:02}.json" for day in range(1, 31)]
        for name in names:
            self.write_json(name, document | {"timestamp": f"2026-09-{name[4:6]}T00:00:00Z"})
        page = self.report(*names)
        self.assert_words(page.words, ("20 of 30 files are shown with their pictures", "30. day-30.json"))
        shown = [number for number in range(1, 31) if f"file-{number}" in page.html.ids]
        self.assertEqual(shown, list(range(11, 31)))
        outcome = self.assert_succeeds("report", *[committed("h200/sweep")] * 20)
        self.assertLess(len(outcome.out.encode()), 1_000_000)
        page = self.check(outcome.out)
        self.assert_words(page.words, ("but a page has 120 at most, and about 1 MB", "more rows are not shown"))
        for number in range(1, 21):
            self.assertIn(f"file-{number}-numbers", page.html.ids)


class Pictures(Report):
    def picture(self, page, title):
        (picture,) = page.pictures(title)
        return picture

    # ---- matrices ----

    def test_matrices(self):
        """One shade where all are nearly equal; a slow pair stands out, and is named."""
        picture = self.picture(self.report("h200-x4/link-pairs"), "Copies between")
        texts, gpus = texts_of(picture), ["GPU 0", "GPU 1", "GPU 2", "GPU 3"]
        self.assertEqual(texts[:12], ["from", "to", *gpus, *gpus, "-", "394.7"])
        self.assertIn("nearly equal, one shade", " ".join(texts))
        self.assertEqual({group.get("class") for group in picture.iter(f"{SVG}g")}, {"step-2 light"})
        document = self.load_result("h200-x4/nvb-peer")
        makes = ("mode", "variant", "direction", "bytes", "parameters", "latency", "simultaneous")
        first = document["results"][0]
        document["results"] = [row for row in document["results"] if all(row[key] == first[key] for key in makes)]
        make_faster(next(row for row in document["results"] if (row["device"], row["peer"]) == (1, 2)), 0.1)
        self.write_json("pairs.json", document)
        picture = self.report("pairs.json").pictures("rows: ")[0]
        shades = {texts_of(group)[0]: group.get("class") for group in picture.iter(f"{SVG}g") if texts_of(group)}
        slow = min(shades, key=float)
        self.assertLess(float(slow), 50)
        self.assertEqual(shades.pop(slow), "step-1 light")
        self.assertEqual(set(shades.values()), {"step-7 deep"})
        self.assertIn(f"The least is {slow} GB/s, from device 1, to device 2", description_of(picture))

    @unittest.skipIf("hwloc" in harness.left_out(), "hwloc is not in this build")
    def test_nodes_with_devices(self):
        nodes = {"program": FAKE, "environment": {"XB_FAKE_NODES": "2"}}
        self.assert_succeeds("--mode", "pinned", "--size", "64K", "--numa", "all", *FEW, "--json", "nodes.json",
                             **nodes)
        texts = texts_of(self.report("nodes.json").pictures("rows: NUMA nodes")[0])
        self.assertLessEqual({"device 0", "memory on", "node 0", "node 1"}, set(texts))

    # ---- the link ----

    def write_link(self, devices, change):
        """A link test of so many GPUs, each behind one more hop; `change` has the links under load."""
        document = self.load_result("h200/link-1")
        document["devices"] = [copy.deepcopy(document["devices"][0]) for _ in range(devices)]
        for index, device in enumerate(document["devices"]):
            address = f"0000:{index + 5:02x}:00.0"
            device.update(index=index, pci_bdf=address)
            for attempt in device["attempts"]:
                for path in (attempt["at_rest"], attempt["after"]):
                    (hop,) = path["hops"]
                    ends = [dict(hop["lower"], bdf=end) for end in ("0000:02:00.0", "0000:00:01.0")]
                    path["hops"].append(dict(hop, lower=ends[0], upper=ends[1]))
                    hop["upper"] = dict(hop["lower"], bdf=f"0000:03:{index:02x}.0")
                    hop["lower"] = dict(hop["lower"], bdf=address)
                (seen,) = attempt["under_load"]["hops"]
                attempt["under_load"]["hops"] = change(seen, index)
            device["verdict"].update(bottleneck=1 if devices == 1 else index)
            if devices > 1:
                device["verdict"]["level"] = "WARNING"
        self.write_json("link.json", document)
        return self.report("link.json")

    def test_a_weak_hop_is_marked(self):
        page = self.write_link(1, lambda seen, _: [seen, dict(seen, width=8)])
        picture = self.picture(page, "Links between")
        looks = looks_of(picture)
        self.assert_words(looks["bad"], ("Gen5 x8 of Gen5 x16 limits the path", "0000:02:00.0"))
        self.assertIn("NVIDIA H200", looks["good"])
        self.assertIn("the link at 0000:02:00.0 is weak", description_of(picture))
        self.assertIn("0000:02:00.0 - 0000:00:01.0", page.words)

    def test_a_shared_hop_that_limits_the_second_device(self):
        """The first device has a worse link of its own; the other's is as it should be."""
        page = self.write_link(2, lambda seen, index: [dict(seen, width=16 if index else 4), dict(seen, width=8)])
        looks = looks_of(self.picture(page, "Links between"))
        self.assert_words(looks["bad"], ("Gen5 x8 of Gen5 x16 limits the path bridge",
                                         "Gen5 x4 of Gen5 x16 limits the path GPU 0: WARNING"))
        self.assertEqual((looks["good"], "GPU 1: WARNING" in looks["unsure"]), ("Gen5 x16", True))

    # ---- bars, spreads and curves ----

    def test_bars_begin_at_zero_and_share_their_axis(self):
        """So a method that reaches half as far is half as fast, also in the picture beside it."""
        page = self.report("h200/all-1g-7")
        scales = []
        for title in ("To the GPU, 1 GiB", "Back to the host, 1 GiB"):
            picture = page.pictures(title)[0]
            axis = next(line for line in picture.iter(f"{SVG}line") if line.get("class") == "axis")
            bars = [box for box in picture.iter(f"{SVG}rect")
                    if box.get("class") == "span" and float(box.get("height")) > 12]
            values = [float(text.text) for text in picture.iter(f"{SVG}text") if text.get("class") == "strong end"]
            self.assertEqual((len(bars), values), (7, sorted(values, reverse=True)))
            self.assertEqual({bar.get("x") for bar in bars}, {axis.get("x1")})
            scales += [float(bar.get("width")) / value for bar, value in zip(bars, values, strict=True) if value > 10]
        self.assertLess(max(scales) / min(scales), 1.02)
        self.assertIn("link carries 58.1", texts_of(page.pictures("To the GPU, 1 GiB")[0]))

    def test_what_stands_in_one_picture(self):
        """Two machines; two GPUs; but not results of different things. Small copies are compared by the whole copy."""
        for files, title, texts in (
            (("h100/all-1g-5", "h200/all-1g-7"), "To the GPU, 1 GiB", ("H100 80GB HBM3", "H200", "52.79", "55.34")),
            (("h100/sweep", "h200/crossover"), "To the GPU, by size", ("H100 80GB HBM3 pinned", "H200 pinned")),
            (("h200-x2/all-devices-1g",), "To the GPU, 1 GiB", ("GPU 0", "GPU 1")),
            (("h200/all-1g-7", "h200/pipeline-8g"), "To the GPU, 1 GiB", ("55.34",)),
        ):
            with self.subTest(files=files):
                self.assertLessEqual(set(texts), set(texts_of(self.picture(self.report(*files), title))))
        page = self.report("h100/all-1g-5", "h200/all-1g-7")
        table = page.table("GB/s, or a time")
        self.assertEqual(table[:2], [["Results", "At", "H100 80GB HBM3", "H200"],
                                     ["To the GPU: pinned", "1 GiB", "52.79", "55.34"]])
        self.assert_words(page.words, ("2 files", "PCIe Gen5 x16, at best Gen5 x16"))
        self.assertNotIn(" UTC, 2 files", page.words)  # each date stands with its file
        self.assertNotIn("GB/s, or a time", self.report("h200/all-1g-7", "h200/pipeline-8g").words)
        self.assertTrue(self.report("h200-x2/all-devices-1g").pictures("rows: from, columns: to"))
        texts = texts_of(self.report("h100/tensor-16k").pictures("To the GPU, 16 KiB: time of the whole copy")[0])
        self.assertEqual(("10.7 us" in texts, "link carries" in " ".join(texts)), (True, False))

    def test_a_parameter_that_only_files_differ_in_is_named(self):
        page = self.report("h200/compare-baseline", "h200/compare-small-chunks")
        rows = {row[0]: row[2:] for row in page.table("GB/s, or a time")[1:]}
        self.assertEqual(rows["To the GPU: async"][1], "-")
        self.assertEqual(rows["To the GPU: async, chunk 64 KiB"][0], "-")

    def test_a_failed_size_does_not_hide_the_others(self):
        document = self.load_result("h200/all-1g-7")
        small = copy.deepcopy(document["results"])
        for row in small:
            row["bytes"] //= 2
        for row in document["results"]:
            row.update(status="error", reason="it failed", verified=None, figures=[])
        document.update(results=document["results"] + small, reading=[])
        self.write_json("failed.json", document)
        page = self.report("failed.json")
        self.assertIn("55.34", texts_of(page.pictures("To the GPU, 512 MiB: GB/s")[0]))
        self.assertIn("FAILED", page.words)

    def test_a_spread_of_next_to_nothing_looks_like_it(self):
        texts = texts_of(self.picture(self.report("h200/compare-baseline"), "around"))
        ticks = [float(text) for text in texts if re.fullmatch(r"[0-9.]+", text)]
        self.assertTrue(min(ticks) <= 99 and max(ticks) >= 101, ticks)

    def test_ratios_of_a_comparison(self):
        files = committed("h200/compare-baseline"), committed("h200/compare-busy-link")
        self.assert_ends(1, "compare", *files, "--json", "compared.json")
        page = self.report("compared.json")
        picture = self.picture(page, "Candidate by baseline")
        looks = [group.get("class") for group in picture.iter(f"{SVG}g")
                 if any(child.get("class", "").startswith("marker") for child in group)]
        self.assertEqual((looks.count("bad"), looks.count("good")), (5, 1))
        self.assertLessEqual({"2 % less", "pinned to the GPU, 256 MiB"}, set(texts_of(picture)))
        self.assertIn("below 0.98 is worse", description_of(picture))
        self.assertIn("5 of 6 results are slower by 2 % or more", page.words)

    # ---- timelines ----

    def test_timelines_of_a_trace(self):
        page = self.report(TRACE)
        serial, overlapped = page.pictures("One iteration")
        self.assertEqual(serial.find(f"{SVG}title").text, "One iteration of pipeline serial h2d 64 MiB device 0")
        # Both have one axis: who is done sooner looks so.
        self.assertTrue("7" in texts_of(serial) and {"7", "stream 3", "waiting"} <= set(texts_of(overlapped)))
        self.assertGreater(len([box for box in overlapped.iter(f"{SVG}rect") if box.get("class") == "span"]), 100)
        table = page.table("One iteration of pipeline overlapped")
        self.assertEqual(table[0], ["Thread or stream", "Spans", "At work", "Waiting", "Data"])
        self.assertEqual(len(table), 1 + 16 + 4)

    def test_what_is_wrong_in_a_trace_is_left_out(self):
        trace = harness.read_json(TRACE)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        spans[0]["dur"], spans[1]["ts"] = -1, 1e300
        trace["traceEvents"] = [event for event in trace["traceEvents"] if event["name"] != "process_name"
                                and event.get("args", {}).get("name") != "thread 0 (submits)"]
        self.write_json("wrong.json", trace)
        page = self.report("wrong.json")
        self.assertEqual(len(page.pictures("One iteration of a case")), 2)
        self.assertIn("2 events are left out: their times cannot be", page.words)
        names = [row[0] for row in page.table("One iteration of a case")]
        self.assertEqual(names.count("without a name"), 1)
        event = {"ph": "X", "cat": "kernel", "name": "add", "ts": 1, "dur": 1, "args": {"device": 0}}
        own = {"otherData": {"tool": "xferbench 1.0.0"}}
        for name, document in (("other", {"traceEvents": [event]}), ("empty", {"traceEvents": []} | own),
                               ("broken", {"traceEvents": [1]} | own)):
            self.write_json(f"{name}.json", document)
        page = self.report(TRACE, "other.json", "empty.json", "broken.json", code=1, err=r"other\.json: is not a file")
        self.assertEqual(len(page.pictures("One iteration")), 2)
        self.assertIn("Timelines of 0 cases", page.words)
        self.assertRegex(page.words, r"broken\.json: byte \d+: no event begins here")

    # ---- fleets ----

    def write_fleet(self, nodes, odds):
        """Link tests of so many nodes of two GPUs, alike but for `odds`: factors by node and GPU."""
        original = self.load_result("h200-x2/link-pairs")
        for node in range(1, nodes + 1):
            document = copy.deepcopy(original)
            document["host"]["hostname"] = f"gpu{node}"
            document["timestamp"] = f"2026-03-{node:02}T12:00:00Z"
            for device in document["devices"]:
                index = device["index"]
                # Both are of one device: those of the file differ by more.
                rate = 53.2e9 * odds.get((node, index), 1) * (1 + 0.0002 * (node * 7 % 5 + index))
                device["uuid"] = f"GPU-{node}-{index}"
                device["attempts"][0]["h2d_bytes_per_second"] = rate
                device["verdict"]["h2d_share"] = rate / 58080802266.03722
            self.write_json(f"gpu{node}.json", document)
        return [f"gpu{node}.json" for node in range(1, nodes + 1)]

    def test_a_fleet_names_what_is_not_like_its_siblings(self):
        page = self.report(*self.write_fleet(12, {(10, 1): 0.95, (3, 0): 1.04}))
        self.assert_words(page.words, ("1 of 12 nodes is slow: gpu10, GPU 1", "Drain: gpu10"))
        # It is the answer: twelve files would push it out of sight.
        self.assertLess(page.words.index("Drain: gpu10"), page.words.index("1. gpu1.json"))
        self.assertRegex(page.words, r"gpu10 1 link h2d .* slow gpu3 0 link h2d .* fast")
        picture = page.pictures("by node")[0]
        self.assertTrue(picture.find(f"{SVG}title").text.startswith("link h2d by node: NVIDIA H200, Gen5 x16, driver "))
        named = {"-5.0 %: gpu10 GPU 1", "+4.0 %: gpu3 GPU 0"}
        self.assertLessEqual(named | {"gpu1", "gpu12", "like their siblings: 22"}, set(texts_of(picture)))
        # Of what fleet wrote of them, the GPUs that are named are drawn.
        os.makedirs(self.path("judged"))
        self.assert_ends(1, "fleet", self.folder, "--format", "json", "-o", "judged/fleet.json")
        page = self.report("judged/fleet.json")
        texts = texts_of(self.picture(page, "link h2d by node"))
        self.assertLessEqual(named | {"slow: 1", "fast: 1"}, set(texts))
        self.assertIn("Drawn are the GPUs that are named", page.words)

    def test_a_gpu_has_one_row_however_many_of_its_figures_are_slow(self):
        names = self.write_fleet(12, {(10, 1): 0.95, (3, 0): 0.96})
        for name in names:
            document = self.load(name)
            for device in document["devices"]:
                device["attempts"][0]["d2h_bytes_per_second"] = device["attempts"][0]["h2d_bytes_per_second"]
            self.write_json(name, document)
        words = self.report(*names).words
        self.assertRegex(words, r"gpu10 1 link [hd]2[hd] .* \+1 slow gpu3 0 link [hd]2[hd] .* \+1 slow")
        self.assertNotIn("Fleet: ", self.report(*self.write_fleet(2, {})).words)
        self.assertIn("Fleet: 3 files", self.report(*self.write_fleet(3, {})).words)

    def test_findings_of_fleet(self):
        finding = {"code": "slow", "is_to_drain": True, "node": "<b>gpu7", "gpu": {"index": 3}, "peer": None,
                   "text": "link h2d 52.1 GB/s, 2.0 % below its 95 siblings"}
        self.write_json("fleet.json", {
            "schema": "xferbench.fleet", "schema_version": 1, "nodes": 12, "gpus": 96, "judged_gpus": 90,
            "findings": [finding, {"code": "other-driver", "is_to_drain": False, "node": "gpu8", "gpu": None}, 7]})
        page = self.report("fleet.json")
        self.assert_words(page.words, ("96 GPUs of 12 nodes", "1 to drain", "To drain: <b>gpu7.",
                                       "90 GPUs judged by their siblings, 3 findings."))
        self.assertEqual(page.table("Findings, the worst first")[1:], [
            ["<b>gpu7", "3", "slow", finding["text"]], ["gpu8", "-", "other-driver", "-"], ["-"] * 4])

    # ---- trends ----

    def write_dated(self, count, step, edit=lambda day, row: None):
        """Files of one case, a day each, whose bandwidth falls by 4 % at `step`."""
        original = self.load_result("h200/all-1g-7")
        original["results"] = [row for row in original["results"] if row["mode"] == "pinned"]
        for day in range(count):
            document = copy.deepcopy(original)
            document["timestamp"] = f"2026-03-{day + 1:02}T12:00:00Z"
            if day >= step:
                document["backend"]["driver_version"] = "<600>"
            for row in document["results"]:
                make_faster(row, (0.96 if day >= step else 1) * (1 + 0.001 * (day * 7 % 5)))
                edit(day, row)
            self.write_json(f"day-{day:02}.json", document)
        # Not in the order of their dates.
        return sorted((f"day-{day:02}.json" for day in range(count)), key=lambda name: name[::-1])

    def test_a_change_is_found(self):
        page = self.report(*self.write_dated(14, 8))
        pictures = page.pictures("NVIDIA H200 on vm, backend")
        marks = [[line.get("class") for line in picture.iter(f"{SVG}line")].count("mark") for picture in pictures]
        self.assertEqual(marks, [1, 1])  # one picture a direction
        self.assert_words(page.words, ("Between 2026-03-08 12:00 UTC and 2026-03-09 12:00 UTC it changed: from ",
                                       "medians of 8 and 6 files"))
        self.assertRegex(page.words, r"At the same place the driver changed from \S+ to <600>\.")
        table = page.table("Cases of several dates")
        self.assertEqual({row[3] for row in table[1:]}, {"before 2026-03-09 12:00 UTC"})
        dates = [row[0] for row in page.table(r"\Apinned to the GPU")[1:]]
        self.assertEqual((dates, len(dates)), (sorted(dates), 14))

    def test_no_change_is_no_change(self):
        page = self.report(*self.write_dated(14, 99))
        self.assertEqual(len(page.pictures(r": all within 0\.4 %, ")), 2)  # a scale on which that looks so
        self.assertEqual({row[3] for row in page.table("Cases of several dates")[1:]}, {"no"})
        self.assertNotIn("it changed", page.words)
        page = self.report(*self.write_dated(6, 3))
        self.assertIn("No change is looked for: that takes 5 files on each side of it.", page.words)
        self.assertTrue(page.pictures("NVIDIA H200 on vm, backend"))
        self.assertNotIn("By date", self.report(*self.write_dated(2, 1)).words)

    def test_an_option_at_its_default_makes_no_other_case(self):
        """A program that lacks an option measures as one with its default; other values are other cases."""

        def edit(day, row):
            if day < 5:
                del row["parameters"]["host-offset"]
            elif day >= 11:
                row["parameters"]["host-offset"] = 64

        table = self.report(*self.write_dated(14, 99, edit)).table("Cases of several dates")
        self.assertEqual([row[2] for row in table[1:]], ["11", "11", "3", "3"])  # a direction each

    def test_copies_of_a_file_are_no_further_evidence(self):
        first, second, third = self.write_dated(3, 1)
        page = self.report(*[first] * 7, *[second] * 7, third)
        rows = page.table("Cases of several dates")[1:]
        self.assertEqual({(row[2], row[3]) for row in rows}, {("3", "too few files to tell")})
        self.assertNotIn("it changed", page.words)


if __name__ == "__main__":
    harness.main()
