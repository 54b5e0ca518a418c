#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The curves that all columns of a sweep over sizes end with, where the locale has UTF-8.
usage: test_curve.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import harness
from harness import FEW, ONE, Case

BLOCKS = "▁▂▃▄▅▆▇█"


class Curve(Case):
    def show(self, columns=80, **environment):
        return self.on_terminal(columns, "show", "--columns", "all", "out.json", **environment).out

    def test_run_and_show(self):
        """The same of a run and of its file; one line a series."""
        run = self.on_terminal(80, *ONE, "--size", "4K..32K", *FEW, "--columns", "all", "--json", "out.json").out
        curve = run[run.index("  GB/s by size (log), 4 KiB to 32 KiB; full block "):]
        line = curve.split("\n")[1]
        self.assertRegex(line, rf"^  pinned registered h2d  [{BLOCKS}]{{16}}  [0-9.]+ to [0-9.]+ GB/s")
        self.assertIn(f"\n{line}\n", self.show())
        piped = self.assert_succeeds("show", "--columns", "all", "out.json", environment={"LC_ALL": "C.UTF-8"}).out
        self.assertRegex(piped, rf"\n  pinned registered h2d  [{BLOCKS}]")
        for columns in (40, 60, 120):
            narrow = self.show(columns)
            drawn = [one for one in narrow.split("\n") if any(block in one for block in BLOCKS)]
            self.assertEqual(len(drawn), 1)
            self.assertLessEqual(len(drawn[0]), columns)

    def test_where_there_is_none(self):
        self.assert_succeeds(*ONE, "--size", "4K..32K", *FEW, "--json", "out.json")
        self.assertNotIn("by size (log)", self.show(LC_ALL="C"))
        self.assert_succeeds(*ONE, "--size", "4K,8K", *FEW, "--json", "out.json")
        self.assertNotIn("by size (log)", self.show())


if __name__ == "__main__":
    harness.main()
