#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One picture of every kind, hostile names and numbers among them, as a reader of XML sees them.
usage: test_pictures.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
from xml.etree import ElementTree

import harness
from harness import Case

GALLERY = harness.program_of_build("tests", "picture_gallery")
SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height")
# What SVG 1.1 has, without scripts, links and pictures from elsewhere.
ELEMENTS = {"svg", "title", "desc", "style", "g", "line", "rect", "circle", "path", "text"}
PATH = re.compile(r"(M-?[0-9.]+ -?[0-9.]+(h0)?|L-?[0-9.]+ -?[0-9.]+|z|[mlhv][-0-9. ]+)+")


class Pictures(Case):
    def setUp(self):
        super().setUp()
        self.assert_succeeds(self.folder, program=GALLERY)
        names = [name for name in os.listdir(self.folder) if name.endswith(".svg")]
        self.assertGreater(len(names), 10)
        # ElementTree names neither prefixes nor entities that are not declared: it fails.
        self.pictures = {name: ElementTree.parse(self.path(name)).getroot() for name in names}

    def test_are_svg_and_nothing_else(self):
        for name, root in self.pictures.items():
            with self.subTest(name):
                self.assertEqual(root.tag, f"{SVG}svg")
                for element in root.iter():
                    self.assertIn(element.tag.replace(SVG, ""), ELEMENTS)
                    self.assertFalse([key for key in element.attrib if key.startswith("on") or "href" in key])

    def test_have_numbers_that_are_numbers(self):
        for name, root in self.pictures.items():
            with self.subTest(name):
                left, top, width, height = map(float, root.get("viewBox").split())
                for element in root.iter():
                    for key in set(NUMBERS) & set(element.attrib):
                        self.assertRegex(element.get(key), r"\A-?\d+(\.\d)?\Z")
                    if element.tag == f"{SVG}path" and element.get("d"):
                        self.assertIsNotNone(PATH.fullmatch(element.get("d")), element.get("d"))
                    if element.tag == f"{SVG}text":
                        self.assertTrue(left <= float(element.get("x")) <= left + width)
                        self.assertTrue(top <= float(element.get("y")) <= top + height)

    def test_have_a_title_and_a_description(self):
        for name, root in self.pictures.items():
            with self.subTest(name):
                self.assertEqual(root.get("role"), "img")
                named = [root.find(f".//*[@id='{word}']").tag for word in root.get("aria-labelledby").split()]
                self.assertEqual(named, [f"{SVG}title", f"{SVG}desc"])

    def test_no_class_without_a_style(self):
        style = self.pictures["sizes.svg"].find(f"{SVG}style").text
        for name, root in self.pictures.items():
            for element in root.iter():
                for word in element.get("class", "plot").split():
                    self.assertRegex(style, rf"\.{re.escape(word)}[ {{,]", name)

    def test_80_000_values_make_a_small_picture(self):
        text = self.read("large-fleet.svg")
        self.assertLessEqual(len(text.encode()), 150_000)
        texts = ["".join(text.itertext()) for text in self.pictures["large-fleet.svg"].iter(f"{SVG}text")]
        for part in ("as their siblings: 80000", "slow: 8000", "fast: 2000", "gpu0001", "gpu10000",
                     "9800 more of those that stand out have no marker."):
            self.assertIn(part, texts)

    def test_the_page_has_each_name_once(self):
        page = self.read("gallery.html")
        names = re.findall(r'\sid="([^"]*)"', page)
        self.assertEqual(len(names), len(set(names)))
        # Elements that are also of HTML must be closed as HTML closes them.
        ElementTree.fromstring(page.replace("<!DOCTYPE html>", ""))
        self.assertNotIn("<script", page)
        self.assertNotRegex(page, r"(?i)\b(nan|inf)\b")


if __name__ == "__main__":
    harness.main()
