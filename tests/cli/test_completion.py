#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish complete. usage: test_completion.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import harness
from harness import GUARD_S, MODES, Case

MANUAL = os.path.join(harness.BUILD, "manual")

# What is asked of every shell: the words up to the cursor, and what can stand in place of the last one.
DIRECTIONS = "h2d d2h both bidir d2d".split()
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


class Completion(Case):
    def setUp(self):
        super().setUp()
        with open(self.path("a-file.json"), "w", encoding="utf-8"):
            pass

    def environment(self):
        return {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "XDG_CONFIG_HOME": self.folder,
            "XDG_DATA_HOME": self.folder,
            "XDG_CACHE_HOME": self.folder,
            "LC_ALL": "C",
            "TERM": "dumb",
        }

    def ask(self, *command):
        """What a shell prints that is given a script."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GUARD_S,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def assert_answers(self, text, questions=QUESTIONS):
        """One line a question: its number, then what was offered."""
        answers = {int(line.split()[0]): line.split()[1:] for line in text.splitlines() if line}
        for number, (words, expected) in enumerate(questions):
            with self.subTest(words=words):
                self.assertEqual(set(answers[number]), expected)
                self.assertEqual(len(answers[number]), len(expected))


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Bash(Completion):
    SCRIPT = """
source "$1"
number=0
ask() {
    COMP_WORDS=(xferbench "$@") COMP_CWORD=$#
    _xferbench
    echo "$((number++)) ${COMPREPLY[*]}"
}
"""

    def complete(self, questions):
        asked = "\n".join("ask " + " ".join(f"'{word}'" for word in words) for words, _ in questions)
        path = os.path.join(MANUAL, "xferbench.bash")
        return self.ask("bash", "--norc", "-c", self.SCRIPT + asked, "bash", path)

    def test_answers(self):
        self.assert_answers(self.complete(QUESTIONS))

    def test_equals_sign(self):
        """Of its own word, as bash has it by default, and in one word."""
        questions = (
            (("--mode", "=", "pi"), {"pinned", "pin", "pipeline"}),
            (("--direction", "="), set(DIRECTIONS)),
            (("--direction=h",), {"--direction=h2d"}),
        )
        self.assert_answers(self.complete(questions), questions)

    def test_it_is_registered(self):
        path = os.path.join(MANUAL, "xferbench.bash")
        out = self.ask("bash", "--norc", "-c", 'source "$1"; complete -p xferbench', "bash", path)
        self.assertIn("-F _xferbench xferbench", out)


@unittest.skipUnless(shutil.which("fish"), "no fish")
class Fish(Completion):
    def test_answers(self):
        lines = [f"source {os.path.join(MANUAL, 'xferbench.fish')}"]
        for number, (words, _) in enumerate(QUESTIONS):
            line = " ".join(("xferbench", *words))
            lines.append(f"echo {number} (complete -C '{line}' | string replace -r '\\t.*' '')")
        self.assert_answers(self.ask("fish", "--no-config", "-c", "\n".join(lines)))


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class Zsh(Completion):
    """zsh completes on a terminal only. A key completes and, in place of showing what it found, prints it: all that
    is handed to compadd and fits."""

    SETUP = """
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

    def read_until(self, terminal, pattern):
        """What the shell prints until then."""
        text, end = "", time.monotonic() + GUARD_S
        while not re.search(pattern, text):
            self.assertTrue(select.select([terminal], [], [], max(0, end - time.monotonic()))[0], text)
            text += os.read(terminal, 65536).decode()
        return text

    def test_answers(self):
        with open(self.path("setup.zsh"), "w", encoding="utf-8") as file:
            file.write(self.SETUP % MANUAL)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment())
        try:
            os.write(terminal, b"source ./setup.zsh\n")
            self.read_until(terminal, "ready:")
            lines = []
            for number, (words, _) in enumerate(QUESTIONS):
                os.write(terminal, " ".join(("xferbench", *words)).encode() + b"\x14")
                text = self.read_until(terminal, "offered:.* :end")
                offered = re.search("offered:(.*) :end", text)[1]
                lines.append(f"{number} {offered}")
        finally:
            os.close(terminal)
            os.waitpid(child, 0)
        self.assert_answers("\n".join(lines))


class Whole(Completion):
    """Every command, option and word of the rows is in each file."""

    def test_options(self):
        with open(os.path.join(harness.SOURCE, "docs", "options.md"), encoding="utf-8") as file:
            names = set(re.findall(r"^### .*`--([a-z0-9-]+)", file.read(), re.M))
        self.assertGreater(len(names), 50)
        commands = re.findall(r"(?m)^---- (\w+) ----$", self.assert_succeeds("help", "all").out)
        self.assertIn("compare", commands)
        for name, forms in (("xferbench.bash", "--{}"), ("_xferbench", "--{}"), ("xferbench.fish", "-l {}")):
            with open(os.path.join(MANUAL, name), encoding="utf-8") as file:
                text = file.read()
            for option in names:
                with self.subTest(file=name, option=option):
                    self.assertRegex(text, re.escape(forms.format(option)) + r"[ =)\n{}',\[]")
            for word in (*commands, *MODES):
                self.assertRegex(text, rf"\b{word}\b", name)


if __name__ == "__main__":
    harness.main()
