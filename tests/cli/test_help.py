#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, the man page and what bash, zsh and fish complete: all of them name every command, mode and option. What help
prints is in tests/golden/help. usage: test_help.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import harness
from harness import GUARD_S, MODES, SOURCE, Case, words_of

MANUAL = os.path.join(harness.BUILD, "manual")
PAGE = os.path.join(MANUAL, "xferbench.1")
COMMANDS = "run list link compare fleet show report advise explain".split()
DIRECTIONS = "h2d d2h both bidir d2d".split()
# What is asked of every shell: the words up to the cursor, and what can stand in place of the last one.
QUESTIONS = (
    (("--mode", "pi"), {"pinned", "pin", "pipeline"}),
    (("-m", "pi"), {"pinned", "pin", "pipeline"}),
    (("run", "--mode", "zer"), {"zero-copy"}),
    (("--mode", "pinned,as"), {"pinned,async"}),
    (("--mode", "pinned,async,pi"), {"pinned,async,pin", "pinned,async,pipeline"}),
    (("--direction", "h"), {"h2d"}),
    (("--direction", ""), set(DIRECTIONS)),
    (("--backend", ""), {"auto", "cuda", "hip", "host"}),
    (("link", "--format", "n"), {"nagios", "nhc"}),
    (("compare", "--format", "j"), {"json", "junit"}),
    (("--data", "text,z"), {"text,zeros"}),
    (("--data", "fi"), {"file:"}),
    (("li",), {"list", "link"}),
    (("help", "pin"), {"pinned", "pin"}),
    (("help", "colu"), {"columns"}),
    (("--latenc",), {"--latency"}),
    (("compare", "--for"), {"--force", "--format"}),
    (("link", "--no-p"), {"--no-peers"}),
    (("link", "--late"), set()),
    (("--json", "a-fi"), {"a-file.json"}),
    (("-j", "a-fi"), {"a-file.json"}),
    (("compare", "a-fi"), {"a-file.json"}),
    (("expl",), {"explain"}),
    (("explain", "a-fi"), {"a-file.json"}),
    (("explain", "--with", "a-fi"), {"a-file.json"}),
    (("compare", "a-file.json", "a-fi"), {"a-file.json"}),
    (("--samples", "a-fi"), set()),
    (("run", "a-fi"), set()),
)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program}")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Help(Case):
    def help(self, *arguments):
        outcome = self.assert_succeeds(*arguments)
        self.assertEqual(outcome.err, "")
        self.assertLessEqual(max(len(line) for line in outcome.out.splitlines()), 100)
        return outcome.out

    def test_ways_to_ask_for_the_same(self):
        for word in (*COMMANDS, *MODES, "columns", "words", "all", "device", "chunk"):
            ways = [("help", word), ("--help", word)]
            ways += [(word, "--help")] if word in COMMANDS else []
            # Where nothing else can be meant: `show help` is about a file of that name.
            ways += [(word, "help")] if word in ("run", "list", "link") else []
            ways += [("help", f"--{word}")] if word in ("device", "chunk") else []
            self.assertEqual(len({self.help(*way) for way in ways}), 1, word)
        ways = (("help",), ("--help",), ("-h",), ("help", "help"), ("help", "--help"), ("--backend", "cuda", "--help"))
        self.assertEqual(len({self.help(*way) for way in ways}), 1)
        self.assertEqual(len({self.help(*way) for way in (("help", "--version"), ("--version",), ("-V",))}), 1)
        self.assertNotEqual(self.run_program("show", "help").code, 0)

    def test_all_has_every_command(self):
        whole = self.help("help", "all").splitlines()
        self.assertEqual(re.findall(r"(?m)^---- (\w+) ----$", "\n".join(whole)), [*COMMANDS, "help"])
        for command in COMMANDS:
            left = [line for line in self.help("help", command).splitlines() if line not in whole]
            self.assertEqual([line for line in left if not line.startswith("Options of modes: ")], [], command)
        short = self.help("help")
        self.assertLessEqual(len(short.splitlines()), 60)
        for mode in MODES:
            self.assertRegex(short, rf"(?m)^  {mode} +\w")
            text = self.help("help", mode)
            self.assertTrue(text.startswith(f"{mode}: "))
            self.assertEqual("\nCalls: " in text, mode not in ("loads", "compress"), mode)

    def test_words(self):
        """All of them are those of docs/words.md, in its order; each by each of its names."""
        entries = re.findall(r"(?m)^- \*\*(.+)\*\*: ((?:.|\n  )+)$", text_of(os.path.join(SOURCE, "docs", "words.md")))
        self.assertGreater(len(entries), 30)
        whole = " ".join(words_of(f"{names} {text}") for names, text in entries)
        self.assertEqual(words_of(self.help("help", "words")), whole)
        for names, text in entries:
            self.assertNotRegex(text, r"^(Of|By|That of|Whether|What) ", names)
            found = [self.help("help", name) for name in (*names.split(", "), names.split(", ")[0].upper())]
            self.assertTrue(any(words_of(text) in words_of(out) for out in found), found)

    def test_every_column_is_explained(self):
        rows = re.findall(r"(?m)^  (\S.*?) {2,}", self.help("help", "columns"))
        names = sorted({name for row in rows for name in row.split(", ")}, key=len, reverse=True)
        for arguments in (("--mode", "pinned"), ("--mode", "pinned", "--latency"),
                          ("--mode", "async", "--chunk", "1K,2K"), ("--mode", "pinned", "--processes", "2")):
            out = self.assert_succeeds(*harness.HOST, "--size", "4K", *harness.FEW, "--columns", "all", *arguments).out
            heading = re.search(r"(?m)^MODE .*", out)[0]
            left = re.sub(rf"(?<!\S)({'|'.join(map(re.escape, names))})(?!\S)", "", heading)
            self.assertEqual(left.split(), [], heading)


class Manual(Case):
    def test_it_names_everything(self):
        """Each option under the command that has it, as docs/options.md has them."""
        text = text_of(PAGE)
        sections = re.findall(r'(?m)^\.SH "?([A-Z ]+)"?$', text)
        expected = "NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS MODES COLUMNS".split()
        self.assertEqual(sections, expected + ["EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"])
        for line in re.search(r"(?s)\.SH SYNOPSIS\n\.nf\n(.*?)\.fi\n", text)[1].splitlines():
            self.assertRegex(line, r"^\\fBxferbench\\fR .*\[\\fIOPTION\\fR\]\.\.\.$")
        text = text.replace("\\-", "-")
        modes = text.partition("\n.SH MODES\n")[2].partition("\n.SH ")[0]
        self.assertEqual(re.findall(r"\.TP\n\\fB([a-z-]+)\\fR", modes), MODES)
        exits = text.partition('\n.SH "EXIT STATUS"\n')[2].partition("\n.SH ")[0]
        self.assertEqual(sorted(re.findall(r"\.TP\n\\fB([a-z-]+)\\fR", exits)), sorted((*COMMANDS, "help")))
        parts = dict(re.findall(r'(?ms)^\.SS "xferbench (\w+)"\n(.*?)(?=^\.S[SH] )', text))
        count = 0
        for chapter in re.split(r"(?m)^## ", text_of(os.path.join(SOURCE, "docs", "options.md")))[1:]:
            title = chapter.partition("\n")[0]
            named = re.search(r"`xferbench \[?(\w+)", title)
            for option in re.findall(r"(?m)^### .*`--([a-z0-9-]+)",
                                     chapter) if named or title.startswith("Mode ") else ():
                count += 1
                where = text if option in ("help", "version", "color") else parts[named[1] if named else "run"]
                self.assertRegex(where, rf"(?m)^\.TP\n.*\\fB--{option}\\fR", title)
        self.assertGreater(count, 100)

    def assert_silent(self, *command):
        outcome = self.assert_ends(0, *command[1:], program=shutil.which(command[0]))
        self.assertEqual(outcome.err, "", outcome)
        return outcome.out

    @needs("mandoc")
    def test_mandoc(self):
        """Quotes and dashes are those that can be typed."""
        self.assertEqual(self.assert_silent("mandoc", "-Tlint", PAGE), "")
        text = re.sub(".\b", "", self.assert_silent("mandoc", "-Tutf8", "-O", "width=100", PAGE))
        self.assert_words(text, ("--mode MODE[,MODE]", "'registered' by"))
        self.assertNotRegex(text, "[\u2010\u2019\u2018]")

    @needs("groff")
    def test_groff(self):
        """As `man --warnings` runs it, and as man does."""
        self.assert_silent("groff", "-mandoc", "-Tutf8", "-k", "-ww", "-Z", PAGE)
        if shutil.which("man"):
            self.assertIn("xferbench",
                          self.assert_silent("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", PAGE))


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.write("a-file.json", "")
        homes = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
        self.environment = dict.fromkeys(homes, self.folder) | {"PATH": os.environ["PATH"], "LC_ALL": "C",
                                                                "TERM": "dumb"}

    def ask(self, *command):
        """What a shell prints that is given a script."""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True,
                              text=True, timeout=GUARD_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def assert_answers(self, text, questions=QUESTIONS):
        """One line a question: its number, then what was offered."""
        answers = {int(line.split()[0]): line.split()[1:] for line in text.splitlines() if line}
        for number, (words, expected) in enumerate(questions):
            with self.subTest(words=words):
                self.assertEqual(sorted(answers[number]), sorted(expected))

    @needs("bash")
    def test_bash(self):
        """Also with the equals sign as a word of its own, as bash has it by default, and in one word."""
        path = os.path.join(MANUAL, "xferbench.bash")
        ask = ('source "$1"\nnumber=0\nask() {\nCOMP_WORDS=(xferbench "$@") COMP_CWORD=$#\n_xferbench\n'
               'echo "$((number++)) ${COMPREPLY[*]}"\n}\n')
        questions = (*QUESTIONS, (("--mode", "=", "pi"), {"pinned", "pin", "pipeline"}),
                     (("--direction", "="), set(DIRECTIONS)), (("--direction=h",), {"--direction=h2d"}))
        asked = "\n".join("ask " + " ".join(f"'{word}'" for word in words) for words, _ in questions)
        self.assert_answers(self.ask("bash", "--norc", "-c", ask + asked, "bash", path), questions)
        out = self.ask("bash", "--norc", "-c", 'source "$1"; complete -p xferbench', "bash", path)
        self.assertIn("-F _xferbench xferbench", out)

    @needs("fish")
    def test_fish(self):
        lines = [f"source {os.path.join(MANUAL, 'xferbench.fish')}"]
        for number, (words, _) in enumerate(QUESTIONS):
            line = " ".join(("xferbench", *words))
            lines.append(f"echo {number} (complete -C '{line}' | string replace -r '\\t.*' '')")
        self.assert_answers(self.ask("fish", "--no-config", "-c", "\n".join(lines)))

    # zsh completes on a terminal only. A key completes and, in place of showing what it found, prints it: all that is
    # handed to compadd and fits.
    ZSH = """
fpath=(%s $fpath)
autoload -U compinit
compinit -D -u -i
PS1= PS2= RPS1=
unsetopt beep
compadd() {
    local -a found
    if [[ $*[1,(i)(-|--)] == *-[OAD]* ]]; then
        builtin compadd "$@"
        return
    fi
    builtin compadd -O found "$@"
    local word
    for word in $found; do
        offered+=($IPREFIX$word)
    done
    builtin compadd "$@"
}
offer() {
    offered=()
    zle complete-word
    print -r -- "offered: ${(u)offered} :end"
    BUFFER=
}
zle -N offer
bindkey '^T' offer
zle-line-init() { print ready: }
zle -N zle-line-init
"""

    @needs("zsh")
    def test_zsh(self):
        def read_until(pattern):
            text, end = "", time.monotonic() + GUARD_S
            while not re.search(pattern, text):
                self.assertTrue(select.select([terminal], [], [], max(0, end - time.monotonic()))[0], text)
                text += os.read(terminal, 65536).decode()
            return text

        self.write("setup.zsh", self.ZSH % MANUAL)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)
        lines = []
        try:
            os.write(terminal, b"source ./setup.zsh\n")
            read_until("ready:")
            for number, (words, _) in enumerate(QUESTIONS):
                os.write(terminal, " ".join(("xferbench", *words)).encode() + b"\x14")
                offered = re.search("offered:(.*) :end", read_until("offered:.* :end"))[1]
                lines.append(f"{number} {offered}")
        finally:
            os.close(terminal)
            os.waitpid(child, 0)
        self.assert_answers("\n".join(lines))

    def test_every_option_and_word_is_there(self):
        names = set(re.findall(r"^### .*`--([a-z0-9-]+)", text_of(os.path.join(SOURCE, "docs", "options.md")), re.M))
        self.assertGreater(len(names), 50)
        for name, form in (("xferbench.bash", "--{}"), ("_xferbench", "--{}"), ("xferbench.fish", "-l {}")):
            text = text_of(os.path.join(MANUAL, name))
            for option in names:
                self.assertRegex(text, re.escape(form.format(option)) + r"[ =)\n{}',\[]", name)
            for word in (*COMMANDS, *MODES):
                self.assertRegex(text, rf"\b{word}\b", name)


if __name__ == "__main__":
    harness.main()
