#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The line on stderr for people who wait: in virtual time, so that all of it is known.
usage: test_progress.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import re
import shutil

import harness
from harness import FAKE, Case, Terminal, committed

# Three ways, each of which warms up for longer than the first half second, which is silent.
WAYS = ("--mode", "pinned,pageable", "--direction", "h2d", "--size", "4M", "--time-limit", "300ms", "--warm-up",
        "250ms")


class Progress(Case):
    def shown(self, *arguments, columns=60, name="xterm", stdout=None, code=0):
        options = {"stdout": stdout} if stdout else {}
        terminal = Terminal(columns)
        process = self.start(*arguments, program=FAKE, terminal=terminal, environment={"TERM": name}, **options)
        return self.assert_ended(code, process).err

    def test_rows_appear_as_they_are_finished(self):
        """And are wiped out before the table is printed, which has them all. What has no room is left out."""
        shown = self.shown(*WAYS)
        self.assertTrue(shown.endswith("\r\x1b[K\r\x1b[2A\x1b[J"), shown)
        lines = re.sub(r"\x1b\[K|\x1b\[2A\x1b\[J", "", shown).replace("\r\n", "\r").split("\r")
        samples = [f"[1/3] pinned, 4 MiB to the GPU: {n} sample{'s' * (n > 1)}, 1.00 GB/s" for n in range(1, 7)]
        second, third = "[2/3] pageable, 4 MiB to the: ", "[3/3] pageable, by a ring"
        self.assertEqual([line for line in lines if line], [
            "[1/3] pinned, 4 MiB to the GPU: warming up", *samples, "pinned, 4 MiB to the GPU          0.9992 GB/s",
            *[f"{second}warming up, about 15 s left"] * 2, f"{second}1.00 GB/s, about 15 s left",
            "pageable, 4 MiB to the GPU        0.9993 GB/s",
            *[f"{third}: warming up, about 4 s left"] * 2, f"{third}, 4 MiB: 1.00 GB/s, about 4 s left",
        ])

    def test_processes(self):
        """How long the rest takes is known once one is done."""
        shown = self.shown(*WAYS, "--samples", "3", "--processes", "3")
        self.assertRegex(shown, r"\A\rprocess 1 of 3\x1b\[K\r\rprocess 2 of 3, about \d+ s left\x1b\[K\r"
                                r"\rprocess 3 of 3, about \d+ s left\x1b\[K\r\r\x1b\[K\Z")

    def test_files(self):
        """Which one is read, while it is; at the end nothing is left of it."""
        for name in ("link-1", "link-2"):
            shutil.copy(committed(f"h200/{name}"), self.path(name))
        shown = self.shown("fleet", "link-1", "link-2", code=3)
        self.assertEqual(shown, "\r\x1b[Kreading 1 of 2: link-1\r\x1b[Kreading 2 of 2: link-2\r\x1b[K")

    def test_nothing_where_no_line_can_be_wiped_out(self):
        """On a dumb terminal, in a window so narrow that lines take several, where nobody looks, where nobody
        wants it."""
        self.assertEqual(self.shown(*WAYS, name="dumb"), "")
        self.assertEqual(self.shown(*WAYS, columns=39), "")
        self.assertEqual(self.shown(*WAYS, "--quiet"), "")
        self.assertEqual(self.assert_succeeds(*WAYS, program=FAKE).err, "")


if __name__ == "__main__":
    harness.main()
