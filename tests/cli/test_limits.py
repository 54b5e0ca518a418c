#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bounds a run: memory that a size does not fit into, limits of the shell, memory that is lacking at any moment.
usage: test_limits.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import resource
import subprocess
import unittest

import harness
from harness import (FEW, HOST, MODES, ONE, XFERBENCH, Case, Outcome, base_environment, committed, is_sanitized, limit,
                     needs_stand_in, stand_in, words_of)

MIB = 1 << 20
LACKING = os.path.join(harness.BUILD, "tests", "xferbench_lacking")
FEW_PIECES = 60  # that each command is without, in turn; of those behind them every so-manyth
unbounded = unittest.skipIf(is_sanitized(), "the sanitizers' shadow memory does not fit below such a limit")


class Sizes(Case):
    """A size that does not fit is refused before any of it is taken."""

    def refused(self, *arguments):
        """Peak memory of a run that must be refused, in bytes; and what it said."""
        # So that a broken check does not take the machine down.
        bound = None if is_sanitized() else limit(resource.RLIMIT_DATA, 1 << 30)
        process = subprocess.Popen([XFERBENCH, *arguments], env=base_environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=bound)
        with process.stderr:
            err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        outcome = self.check_sane(Outcome(process.returncode, b"", err))
        self.assertEqual(outcome.code, 2, outcome)
        return usage.ru_maxrss * 1024, outcome.err

    def test_larger_than_host_memory(self):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        # What the program takes before it looks at sizes, and what this one had when it forked.
        small, _ = self.refused("--size", "0")
        sizes = ["100T", "9223372036854775807", "4K,100T"] + ([] if is_sanitized() else [str(total)])
        # No pair is there; and how much memory a pipeline takes does not follow the file's length.
        ways = [(mode, ()) for mode in MODES if not mode.startswith("peer") and mode != "pipeline"]
        for size in sizes:
            for mode, more in (*ways, *((mode, ("--direction", "bidir")) for mode in ("pinned", "async"))):
                with self.subTest(size=size, mode=mode, more=more):
                    peak, err = self.refused(*HOST, "--mode", mode, *more, "--size", size)
                    self.assertTrue(err.startswith("xferbench: --size "), err)
                    self.assert_words(err, (mode, "host memory", "smaller size"))
                    self.assertRegex(err, "swap|raise that limit")  # what bounds it hangs on the machine
                    had = float(re.search(r"([0-9.]+) GiB can be had", err)[1]) * 2**30
                    self.assertTrue(0 < had < total, err)
                    self.assertLess(peak, small + (64 << 20), err)

    def test_more_cases_than_can_be_run(self):
        """Refused before the list of them has taken a gigabyte."""
        small, _ = self.refused("--size", "0")
        peak, err = self.refused(*HOST, "--size", ",".join(str(size) for size in range(1, 16701)))
        self.assert_words(err, ("asks for more than 10000 cases", "fewer"))
        self.assertLess(peak, small + (512 << 20), err)  # 10000 rows, in a list that doubles


class NamedLimits(Case):
    @unbounded
    def test_address_space(self):
        """How much can be page-locked is what a run may take, and the limit on locked memory stands beside it."""
        name = "the limit on address space (ulimit -v)"
        words = ("--size 4 GiB", "host memory", name, "raise that limit")
        lowered = limit(resource.RLIMIT_AS, 400 * MIB)
        self.assertNotIn("swap", self.assert_usage(words, *ONE, "--size", "4G", preexec_fn=lowered).err)

        def lower_both():
            limit(resource.RLIMIT_AS, 1024 * MIB)()
            limit(resource.RLIMIT_MEMLOCK, 65536)()

        document = self.load_text(self.assert_succeeds("list", "--json", "-", preexec_fn=lower_both).out)
        self.assertEqual((document["lockable_limit"], document["lockable_ulimit_bytes"]), (name, 65536))
        self.assertTrue(0 < document["lockable_bytes"] < 960 * MIB, document["lockable_bytes"])
        text = words_of(self.assert_succeeds("list", preexec_fn=lower_both).out)
        self.assert_words(text, (f"GiB can be page-locked ({name}, less", "locked memory (ulimit -l) is 64 KiB"))

    @unbounded
    def test_data(self):
        """A limit that no check foresees: the case becomes an error row, and the sweep goes on."""
        arguments = (*ONE, "--size", "4K,64M", *FEW, "--json", "out.json")
        outcome = self.assert_ends(1, *arguments, preexec_fn=limit(resource.RLIMIT_DATA, 48 * MIB))
        self.assert_words(outcome.out, ("FAILED", "64 MiB"))
        fine, failed = self.load("out.json")["results"]
        self.assertEqual((fine["status"], failed["status"], failed["verified"]), ("ok", "error", None))
        self.assertEqual(failed["error"]["status"], "memory")
        words = ("the limit on data (ulimit -d) is 48 MiB, of which", "raise that limit")
        self.assert_words(failed["reason"], (*words, "ENOMEM (12), Cannot allocate memory"))

    @needs_stand_in
    def test_locked_memory(self):
        """Only where the driver has refused: CUDA's does not keep to the limit."""
        arguments = ("--backend", "hip", "--mode", "pinned", "--direction", "h2d", "--size", "1M", *FEW)
        lowered = {"preexec_fn": limit(resource.RLIMIT_MEMLOCK, 65536)}
        words = "the limit on locked memory (ulimit -l) is 64 KiB"
        for kind, call in (("registered", "hipHostRegister"), ("alloc", "hipHostMalloc")):
            with self.subTest(kind=kind):
                chosen = (*arguments, "--host-memory", kind, "--json", "out.json")
                self.assert_succeeds(*chosen, environment=stand_in(DEVICES="1"), **lowered)
                self.assertNotIn(words, self.read("out.json"))
                reasons = ""
                for number in range(1, 8):  # one of the calls is for the buffer, others are for few bytes
                    self.run_program(*chosen, environment=stand_in(DEVICES="1", FAIL=f"{call}:{number}"), **lowered)
                    reasons += "".join(result["reason"] or "" for result in self.load("out.json")["results"])
                self.assert_words(reasons, (words, call))

    def test_open_files(self):
        """With both files open there is none left for /proc/meminfo, which is there all the same."""
        arguments = (*ONE, "--size", "4K", *FEW, "--json", "out.json", "--csv", "out.csv")
        told = {}
        for count in range(4, 12):
            outcome = self.run_program(*arguments, preexec_fn=limit(resource.RLIMIT_NOFILE, count))
            text = words_of(outcome.out + outcome.err)
            self.assertNotIn("is /proc", text)
            told.setdefault(outcome.code, []).append(text)
        self.assertIn(0, told)  # the last have enough
        self.assertIn(1, told)  # of the first some measure, and fail
        for text in told[1]:
            self.assert_words(text, ("/proc/meminfo cannot be read", "EMFILE (24), Too many open files"))


class LackingMemory(Case):
    """Where memory for bookkeeping is lacking, the program ends in one line, and loses nothing that it measured."""

    FAKE = ("--backend", "fake", "--size", "64K", "--samples", "3")

    def check(self, code, *arguments, out=None):
        """A piece of memory lacks once: each of the first, some of the others and the last four. The command ends with
        its own code for "could not", in one line, and leaves no file. From where a reserve is there, nothing is lost.
        Returns what it printed each time."""
        inputs = sorted(os.listdir(self.folder))
        whole = self.run_program(*arguments, program=LACKING)
        text = out and self.read(out)
        note = f"{self.folder}-note"
        self.addCleanup(lambda: os.path.exists(note) and os.remove(note))
        has_reserve, printed = False, []

        def lacks(number):
            """Whether the command asks for so many pieces; then all is right."""
            nonlocal has_reserve
            for left in (out and self.path(out), note):
                if left and os.path.exists(left):
                    os.remove(left)
            lacking = {"XB_LACKING_MEMORY": str(number), "XB_LACKING_NOTE": note}
            done = self.run_program(*arguments, program=LACKING, environment=lacking)
            with self.subTest(number=number, arguments=arguments):
                if not os.path.exists(note):
                    self.assertEqual((done.code, done.out), (whole.code, whole.out))
                    return False
                printed.append(done.out)
                has_reserve = has_reserve or (done.code == whole.code != code)
                if has_reserve:
                    self.assertEqual((done.code, done.out), (whole.code, whole.out))
                    self.assertEqual(out and self.read(out), text)
                    return True
                self.assertEqual(done.code, code, done)
                self.assertEqual(sorted(os.listdir(self.folder)), inputs)
                self.assertRegex(done.err, r"\Axferbench: no memory \([0-9]+ bytes more\): raise [^\n]*\n\Z")
            return True

        last, number = 0, 1
        while lacks(number):
            last, number = number, number + 1 if number < FEW_PIECES else number + number // 15
        while number - last > 1:
            middle = (last + number) // 2
            last, number = (middle, number) if lacks(middle) else (last, middle)
        for number in range(max(last - 3, 1), last):
            self.assertTrue(lacks(number))
        return printed

    def test_measuring(self):
        printed = self.check(1, "--mode", "pinned,pageable", *self.FAKE, "--json", "out.json", out="out.json")
        self.assertGreater(len(printed), 10)
        answers = self.check(3, "link", "--backend", "fake", "--size", "16M", "--format", "nagios")
        known = next(i for i, answer in enumerate(answers) if answer)  # from where the options have been read
        for answer in answers[known:]:
            self.assertRegex(answer, r"\AXFERBENCH LINK UNKNOWN - no memory [^\n]*\n\Z")
        # For pinned memory few ways are measured, which is enough: this runs a hundred times.
        self.check(2, "advise", "--backend", "fake", "--bytes-in", "256K", "--gpu-time", "1ms", "--memory", "pinned")

    def test_reading_files(self):
        files = (committed("h200/compare-baseline"), committed("h200/compare-later"))
        self.check(2, "compare", *files)
        self.check(1, "show", files[0])
        self.check(1, "report", "--output", "page.html", *files, out="page.html")
        self.check(2, "fleet", *files)


if __name__ == "__main__":
    harness.main()
