#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where memory for bookkeeping is lacking, the program ends in one line, and loses nothing that it has measured.
usage: test_lacking_memory.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os

import harness
from harness import SOURCE, Case

LACKING = os.path.join(harness.BUILD, "tests", "xferbench_lacking")
RESULTS = os.path.join(SOURCE, "bench", "results", "h200")
FAKE = ("--backend", "fake", "--size", "64K", "--samples", "3")
FEW = 60  # pieces that each command is without, in turn; of those behind them every so-manyth



class LackingMemory(Case):
    def check(self, code, *arguments, out=None):
        """Each piece of memory lacks once: the command ends with its own code for "could not", in one line, and
        leaves no file. From where a reserve is there, nothing is lost. Returns what it printed each time."""
        inputs = sorted(os.listdir(self.folder))
        whole = self.run_program(*arguments, program=LACKING)
        text = out and self.read(out)
        note = f"{self.folder}-note"
        self.addCleanup(lambda: os.path.exists(note) and os.remove(note))
        number = 0
        has_reserve = False
        printed = []
        while True:
            for left in (out and self.path(out), note):
                if left and os.path.exists(left):
                    os.remove(left)
            number = number + 1 if number < FEW else number + number // 15
            lacking = {"XB_LACKING_MEMORY": str(number), "XB_LACKING_NOTE": note}
            done = self.run_program(*arguments, program=LACKING, environment=lacking)
            with self.subTest(number=number, arguments=arguments):
                if not os.path.exists(note):
                    self.assertEqual((done.code, done.out), (whole.code, whole.out))
                    return printed
                printed.append(done.out)
                has_reserve = has_reserve or (done.code == whole.code != code)
                if has_reserve:
                    self.assertEqual((done.code, done.out), (whole.code, whole.out))
                    self.assertEqual(out and self.read(out), text)
                    continue
                self.assertEqual(done.code, code, done)
                self.assertEqual(sorted(os.listdir(self.folder)), inputs)
                self.assertRegex(done.err, r"\Axferbench: no memory \([0-9]+ bytes more\): raise [^\n]*\n\Z")

    def test_run(self):
        printed = self.check(1, "--mode", "pinned,pageable", *FAKE, "--json", "out.json", out="out.json")
        self.assertGreater(len(printed), 10)

    def test_link(self):
        self.check(3, "link", "--backend", "fake", "--size", "16M")
        answers = self.check(3, "link", "--backend", "fake", "--size", "16M", "--format", "nagios")
        known = next(i for i, answer in enumerate(answers) if answer)  # from where the options have been read
        for answer in answers[known:]:
            self.assertRegex(answer, r"\AXFERBENCH LINK UNKNOWN - no memory [^\n]*\n\Z")

    def test_advise(self):
        self.check(2, "advise", "--backend", "fake", "--bytes-in", "1M", "--gpu-time", "1ms")

    def test_of_files(self):
        one, other = (os.path.join(RESULTS, name) for name in ("compare-baseline.json", "compare-later.json"))
        self.check(2, "compare", one, other)
        self.check(1, "show", one)
        self.check(1, "report", "--output", "page.html", one, other, out="page.html")
        self.check(2, "fleet", one, other)


if __name__ == "__main__":
    harness.main()
