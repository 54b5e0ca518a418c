# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a folder and an environment of its own and gives all that it printed and wrote."""
import contextlib
import os
import re
import subprocess
import tempfile

GUARD_S = 600  # only a hang lasts so long
FAKE, PROGRAM = "tests/xferbench_fake", "xferbench"
# What is another in each run or build: folders of a test, where in the sources an error was found, a build's own words.
MASKS = ((re.compile(rb"/tmp/golden-\w+"), b"FOLDER"),
         (re.compile(rb"(\.\./)*(src|tests)/[a-z0-9_/]+\.c:\d+"), b"src/masked.c:1"),
         (re.compile(rb'("(?:compiler|version|build_type)": )"[^"]+"'), rb'\1"BUILD"'),
         (re.compile(rb"\bxferbench [0-9]+\.[0-9]+\.[0-9]+"), b"xferbench VERSION"))


def working_folder():
    """Its path is as long everywhere: lines that name it are wrapped alike."""
    return tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp")


def part(name, text):
    return b"== %s\n%s\n" % (name.encode(), text)


def run_command(path, words, environment, folder, given=b""):
    """A command that has ended: its exit code and what it printed. The files that it wrote are in the folder.
    Words that end with > and a path print into that file."""
    clean = {name: value for name, value in os.environ.items()
             if name.endswith("SAN_OPTIONS") or name == "GCOV_PREFIX"}
    clean.update({"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8", "COLUMNS": "80", **environment})
    *words, to = [*words[:-2], words[-1]] if words[-2:-1] == [">"] else [*words, None]
    with open(to, "wb") if to else contextlib.nullcontext(subprocess.PIPE) as out:
        return subprocess.run([path, *words], cwd=folder, env=clean, input=given, stdout=out, stderr=subprocess.PIPE,
                              timeout=GUARD_S, check=False)


def files_of(folder):
    """The files below a folder, by their names there."""
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    texts = {}
    for path in paths:
        with open(path, "rb") as file:
            texts[os.path.relpath(path, folder)] = file.read()
    return texts


def masked(text):
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text
