#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`help`, and help on a command or a mode. usage: test_help_command.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import fcntl
import os
import re
import struct
import termios

import harness
from harness import MODES, Case, Terminal

COMMANDS = "run list link compare fleet show advise explain".split()


class HelpCommand(Case):
    def assert_same(self, one, other):
        """Both succeed and print the same, and nothing to stderr."""
        outcomes = [self.assert_succeeds(*arguments) for arguments in (one, other)]
        self.assertEqual([outcome.err for outcome in outcomes], ["", ""])
        self.assertNotEqual(outcomes[0].out, "")
        self.assertEqual(outcomes[0].out, outcomes[1].out)
        return outcomes[0].out

    def test_alone(self):
        out = self.assert_same(("help",), ("--help",))
        self.assertIn("\n  help [WORD] ", out)
        self.assert_same(("help", "help"), ("--help",))
        self.assert_same(("help", "--help"), ("--help",))

    def test_commands(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assert_same(("help", command), (command, "--help"))
                self.assert_same(("--help", command), (command, "--help"))

    def test_word_help_behind_a_command(self):
        """Where nothing else can be meant. `show help` is about a file of that name."""
        for command in ("run", "list", "link"):
            with self.subTest(command=command):
                self.assert_same((command, "help"), (command, "--help"))
        self.assertNotEqual(self.run_program("show", "help").code, 0)

    def test_options(self):
        """With dashes or without, of every command that has it."""
        out = self.assert_same(("help", "--device"), ("help", "device"))
        self.assert_same(("help", "-D"), ("help", "device"))
        for command in ("run", "link", "advise"):
            self.assertRegex(out, rf"(?m)^xferbench {command}$")
        out = self.assert_same(("help", "--chunk"), ("--help", "chunk"))
        self.assertRegex(out, r"(?m)^xferbench run, modes async, double-buffer, ")
        self.assert_words(self.assert_succeeds("help", "backend").out, ("xferbench run, link, advise, explain\n",))
        self.assertRegex(self.assert_succeeds("--help").out, r"--backend NAME +what measures: [a-z, ]*host[a-z, ]* or auto\n")

    def test_topics(self):
        self.assertIn("95% INTERVAL", self.assert_same(("help", "columns"), ("--help", "columns")))
        self.assertIn("\n  SPREADS ", self.assert_succeeds("help", "columns").out)
        whole = self.assert_same(("help", "all"), ("--help", "all"))
        for command in COMMANDS:
            own = self.assert_succeeds("help", command).out.splitlines()
            left = [line for line in own if line not in whole.splitlines()]
            self.assertEqual([line for line in left if not line.startswith("Options of modes: ")], [], command)

    def test_words(self):
        """All of them are those of docs/words.md, in its order; each by each of its names."""
        with open(os.path.join(harness.SOURCE, "docs", "words.md"), encoding="utf-8") as file:
            entries = re.findall(r"(?m)^- \*\*(.+)\*\*: ((?:.|\n  )+)$", file.read())
        self.assertGreater(len(entries), 30)
        whole = self.assert_same(("help", "words"), ("--help", "words"))
        texts = [" ".join(f"{names} {text}".split()) for names, text in entries]
        self.assertEqual(" ".join(whole.split()), " ".join(texts))
        for names, text in entries:
            self.assertNotRegex(text, r"^(Of|By|That of|Whether|What) ", names)
            found = [self.assert_succeeds("help", name).out for name in (*names.split(", "), names.split(", ")[0].upper())]
            self.assertTrue(any(" ".join(text.split()) in " ".join(out.split()) for out in found), found)
        self.assertEqual(self.assert_succeeds("help", "Sample").out.count("\n"), 1)

    def test_it_fits_the_terminal(self):
        for columns in (60, 80, 120):
            for word in ("", "all", "columns", "words", "pipeline", "--size"):  # `all` has every command
                with self.subTest(columns=columns, word=word):
                    lines = self.shown_in(columns, "help", *word.split())
                    self.assertLessEqual(max(len(line) for line in lines), min(columns, 100))

    def shown_in(self, columns, *arguments):
        """The lines that a terminal of so many columns is given."""
        terminal = Terminal()
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        outcome = self.run_program(*arguments, terminal=terminal, stdout=terminal.slave)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome.err.splitlines()

    def test_modes(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                out = self.assert_same(("help", mode), ("--help", mode))
                self.assertTrue(out.startswith(f"{mode}: "), out)
                self.assertEqual("\nCalls: " in out, mode not in ("loads", "compress"), out)
                self.assertRegex(self.assert_succeeds("--help").out, rf"(?m)^  {mode} +\w")

    def test_calls(self):
        """What a program has to change: the words that people search for, where they are looked for."""
        for mode, words in (
            ("pinned", ("cudaMallocHost", "hipHostMalloc", "cudaHostRegister", "cudaMemcpyAsync", "pin_memory=True", "non_blocking=True")),
            ("pageable", ("cudaMemcpyAsync", "xferbench help pinned", "HMM or ATS")),
            ("managed", ("cudaMemPrefetchAsync", "hipMemPrefetchAsync")),
            ("batch", ("cudaMemcpyBatchAsync",)),
            ("pipeline", ("num_workers", "cuFileRead")),
        ):
            self.assert_words(" ".join(self.assert_succeeds("help", mode).out.split()), words)

    def test_no_such_word(self):
        for word, nearest in (("lnik", "link"), ("compar", "compare"), ("pined", "pinned"), ("Help", "help")):
            for asked in ("help", "--help"):
                with self.subTest(word=word, asked=asked):
                    words = (f"{asked}: there is no command, mode or word '{word}'", f"did you mean '{nearest}'?")
                    self.assert_usage(words, asked, word)
        for word in ("nonsense", ""):
            with self.subTest(word=word):
                outcome = self.assert_usage((f"'{word}'", "see xferbench --help"), "help", word)
                self.assertNotIn("did you mean", outcome.err)

    def test_one_word_too_many(self):
        self.assert_usage(("help takes one command, mode or option", "'list'"), "help", "link", "list")
        self.assert_usage(("--help takes one command, mode or option", "'async'"), "--help", "pinned", "async")

    def test_options_of_others(self):
        self.assert_usage(("unknown option --json",), "help", "--json", "x")

    def test_it_is_found_by_its_neighbours(self):
        self.assert_usage(("there is no command 'hepl'", "did you mean 'help'?"), "hepl")
        self.assert_usage(("there is no command 'nonsense'", "show, report, advise, explain and help"), "nonsense")

    def test_version(self):
        self.assert_same(("help", "--version"), ("--version",))


if __name__ == "__main__":
    harness.main()
