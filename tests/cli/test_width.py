#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people read fits the place where they read it, and no number is broken for that.
usage: test_width.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import fcntl
import os
import re
import shutil
import struct
import termios

import harness
from harness import COLOUR, FEW, HOST, SOURCE, Case, Terminal

NARROW = (40, 60, 80, 120)
WIDE = 400  # where nothing is left out
PIPED = 100
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LEFT_OUT = re.compile(r"Not shown in (\d+)\s+columns:")
# A table of every kind: bandwidths, latencies, devices together, several processes, sweeps, matrices
# of two and of four devices, links and pairs of devices.
FILES = (
    "h200/all-256m.json",
    "h200/latency.json",
    "h200/sweep.json",
    "h200/batch-sweep.json",
    "h200/compare-again.json",
    "h200/pipeline-chunks.json",
    "h200/link-expect-gen6x16.json",
    "h200-x2/all-devices-1g.json",
    "h200-x2/simultaneous.json",
    "h200-x4/link-pairs.json",
    "h200-x4/nvb-peer.json",
)


def result(name):
    return os.path.join(SOURCE, "bench", "results", name)


JOB = ("--in", "256M", "--out", "1M", "--gpu-time", "5ms", "--cpu-time", "90ms")
ADVISE = ("advise", "rows.json", *JOB)


class Width(Case):
    def setUp(self):
        """A file with a short name: a path is broken where it is longer than a line."""
        super().setUp()
        shutil.copy(result("h200/crossover.json"), self.path("rows.json"))

    def on_terminal(self, columns, *arguments, **environment):
        return super().on_terminal(columns, *arguments, **environment).out

    def piped(self, *arguments):
        return self.run_program(*arguments).out

    def check_lines(self, text, columns):
        for line in COLOUR.sub("", text).splitlines():
            self.assertLessEqual(len(line), columns, line)
            self.assertEqual(line, line.rstrip())
            self.assertNotIn("...", line)

    def check(self, *arguments):
        """The same numbers at every width, as far as they are shown. Returns what is piped."""
        whole = COLOUR.sub("", self.on_terminal(WIDE, *arguments))
        numbers = set(NUMBER.findall(whole))
        self.assertNotIn("Not shown", whole)
        piped = self.piped(*arguments)
        self.assertNotIn("\x1b", piped)
        shown = {columns: self.on_terminal(columns, *arguments) for columns in NARROW}
        for columns, text in (*shown.items(), (PIPED, piped)):
            with self.subTest(arguments=arguments, columns=columns):
                self.check_lines(text, columns)
                said = LEFT_OUT.findall(text)
                self.assertEqual(set(said) - {str(columns)}, set())
                plain = LEFT_OUT.sub("", COLOUR.sub("", text))
                self.assertEqual(set(NUMBER.findall(plain)) - numbers, set(), text)
        return piped

    def test_files(self):
        for name in FILES:
            self.check("show", result(name))
            self.check("show", result(name), "--verbose")

    def test_matrices_are_whole(self):
        """What does not fit beside the rest stands below it."""
        whole, narrow = (
            COLOUR.sub("", self.on_terminal(columns, "show", result("h200-x4/nvb-peer.json"), "--verbose", "--columns", "all"))
            for columns in (WIDE, 40)
        )
        matrices, split = (
            re.findall(r"\d+\.\d+", text[text.index("\npeer,") :].partition("\nReading\n")[0]) for text in (whole, narrow)
        )
        self.assertEqual(sorted(split), sorted(matrices))
        self.assertGreater(len(narrow.splitlines()), len(whole.splitlines()) + 20)

    def test_advise(self):
        self.check(*ADVISE)

    def test_compare(self):
        """A change, none that is seen, and cases that cannot be compared. The files are where this folder's
        path, which a narrow terminal breaks, is not part of what is printed."""
        shutil.copy(result("h200/compare-baseline.json"), self.path("old.json"))
        for candidate in ("compare-busy-link", "compare-later", "compare-small-chunks"):
            shutil.copy(result(f"h200/{candidate}.json"), self.path("new.json"))
            self.check("compare", "old.json", "new.json")

    def test_list(self):
        """What a backend looked for may have long words, which stay whole."""
        for columns in (*NARROW, PIPED):
            text = self.piped("list") if columns == PIPED else self.on_terminal(columns, "list")
            for line in COLOUR.sub("", text).splitlines():
                self.assertTrue(len(line) <= columns or " " not in line.strip(), line)
        coloured = self.on_terminal(80, "list")
        self.assert_words(coloured, ("\x1b[1mBackends\x1b[0m\n", "\x1b[1mModes\x1b[0m\n", "\x1b[32mhost:\x1b[0m "))
        self.assertEqual(self.on_terminal(80, "list", NO_COLOR="1"), COLOUR.sub("", coloured))
        self.assertEqual(self.on_terminal(80, "list", "--color", "always", NO_COLOR="1"), coloured)
        self.assertEqual(self.on_terminal(80, "list", "--color", "never"), COLOUR.sub("", coloured))
        self.assertIn("\x1b[1mModes\x1b[0m\n", self.piped("list", "--color", "always"))

    def test_errors(self):
        """They fit a terminal; a pipe gets one line. The line of the source is for who asks for it."""
        shown = []
        for arguments in (("run",), ("run", "frobnicate")):
            terminal = Terminal()
            fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 60, 0, 0))
            outcome = self.run_program(*arguments, terminal=terminal, environment=harness.absent_environment())
            shown.append(outcome.err.replace("\r\n", "\n"))
            self.check_lines(shown[-1], 60)
        self.assertRegex(shown[0], r"(?m)^  cuda: \w")
        self.assertEqual(self.run_program("run", "frobnicate").err, shown[1].replace("\n  ", " "))
        for debug, end in ((None, ""), ("1", r", at .*/file_text\.c:\d+")):
            said = self.run_program("show", "none", environment={"XFERBENCH_DEBUG": debug}).err
            self.assertRegex(said, rf"^xferbench: none: cannot be read: No such file or directory \[stat: ENOENT \(2\)\]{end}\n$")

    def test_run(self):
        """Every run has other figures: only the lines are looked at."""
        several = ("--mode", "pinned,async,double-buffer", "--streams", "1,2", "--chunk", "4K,8K,16K")
        for arguments in (
            (*HOST, *several, "--size", "64K", "--direction", "both,bidir", *FEW),
            (*HOST, "--mode", "pinned", "--size", "4K", "--latency", *FEW),
            (*HOST, "--mode", "double-buffer", "--size", "64K", "--chunk", "4K", "--timeline", *FEW),
        ):
            for columns in (40, 60, 120):
                text = self.on_terminal(columns, *arguments)
                self.check_lines(text, columns)
            self.check_lines(self.piped(*arguments), PIPED)

    def test_long_words(self):
        """A terminal breaks them where they reach its edge. In a file they stay whole, to be searched for."""
        path = "/opt/" + 30 * "vendor/" + "lib.so"
        document = harness.read_json(result("h200/pinned-1g.json"))
        document["devices"][0]["name"] = "Accelerator with a name of " + 80 * "X"
        document["backend"]["runtime_library"] = path
        self.write_json("long.json", document)
        text = COLOUR.sub("", self.on_terminal(60, "show", "long.json", "--verbose"))
        self.check_lines(text, 60)
        self.assertIn(path, re.sub(r"\n *", "", text))
        self.assertIn(path, self.piped("show", "long.json", "--verbose"))

    def test_columns_that_went_are_named(self):
        text = COLOUR.sub("", self.on_terminal(80, "show", result(FILES[0]), "--verbose"))
        header = next(line for line in text.splitlines() if line.startswith("MODE"))
        self.assertEqual(
            header.split(),
            "MODE VARIANT DIR SIZE BUFFERS GB/s 95% INTERVAL OK".split(),
        )
        self.assertIn("\nNot shown in 80 columns: MIN, MAX, SUBMIT, DONE, N. JSON and CSV have all.\n", text)

    def test_reading_comes_last(self):
        text = self.piped("show", result(FILES[0]), "--verbose")
        self.assertLess(text.index("\nNotes\n"), text.index("\nReading\n"))
        self.assertIn("\n  noisy    managed fault h2d 256 MiB and 1 more row: the median is known", text)

    def test_columns_are_explained_on_a_terminal(self):
        words = "\nColumns: xferbench help columns\n"
        for name in ("h200/all-256m.json", "h200-x2/simultaneous.json"):
            self.assertEqual(self.on_terminal(80, "show", result(name), "--verbose").count(words), 1)
            self.assertNotIn(words, self.piped("show", result(name), "--verbose"))

    def test_colours(self):
        """On a terminal that has them, unless nobody wants them; and they take no column."""
        bold, red, yellow, green = (f"\x1b[{code}m" for code in (1, 31, 33, 32))
        for name, colours in (
            ("h200/all-256m.json", (bold + "Reading", yellow + "skipped", yellow + "noisy")),
            ("h200-x4/link-pairs.json", (green + "Node vm: OK", bold + "GPU")),
            ("h200/link-expect-gen6x16.json", (red + "CRITICAL",)),
        ):
            text = self.on_terminal(80, "show", result(name), "--verbose")
            self.assert_words(text, colours)
            for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                plain = self.on_terminal(80, "show", result(name), "--verbose", **environment)
                self.assertEqual(plain, COLOUR.sub("", text))
        self.assertIn(f"{green}Yes: use the GPU", self.on_terminal(80, *ADVISE))

    def test_colours_of_what_failed(self):
        document = harness.read_json(result("h200/pinned-1g.json"))
        document["results"][0] |= {"status": "error", "reason": "17 bytes are wrong", "verified": False, "figures": []}
        self.write_json("failed.json", document)
        text = self.on_terminal(80, "show", "failed.json", "--verbose")
        for words in ("ERROR", "NO"):
            self.assertIn(f" \x1b[31m{words}\x1b[0m", text)
        self.assertIn("  \x1b[31mERROR\x1b[0m    pinned registered h2d 1 GiB: 17 bytes are wrong", text)


if __name__ == "__main__":
    harness.main()
