#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That every link of the documents leads somewhere, in the source tree and where they are installed.
usage: test_links.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import sys
import urllib.parse

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import Installing

FOLDERS = ("docs", "bench", "packaging", "scripts", "tests", "src", "include")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents_of(root):
    """The Markdown files of a tree; a source tree may have builds in it."""
    yield from (os.path.join(root, name) for name in os.listdir(root) if name.endswith(".md"))
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))


def anchors_of(path):
    """As GitHub makes them of headings."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ +(.*)$", file.read(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_dead(root, document, target):
    """Leads nowhere, or out of the tree, which lies elsewhere on another machine."""
    place, _, anchor = urllib.parse.unquote(target).partition("#")
    path = os.path.realpath(os.path.join(os.path.dirname(document), place)) if place else document
    if not os.path.exists(path) or not path.startswith(os.path.realpath(root) + os.sep):
        return True
    return anchor != "" and anchor not in anchors_of(path)


class Links(Installing):
    def assert_links_live(self, root, least):
        links = []
        for document in documents_of(root):
            with open(document, encoding="utf-8") as file:
                links += [(document, target) for target in LINK.findall(file.read())]
        links = [(document, target) for document, target in links if "://" not in target]
        self.assertGreater(len(links), least, "the search for links finds too few")
        self.assertEqual([], [link for link in links if is_dead(root, *link)])

    def test_source(self):
        self.assert_links_live(harness.SOURCE, 30)

    def test_installed(self):
        self.install("program")
        self.install("doc")
        self.assert_links_live(self.place("DOCDIR"), 30)


if __name__ == "__main__":
    harness.main()
