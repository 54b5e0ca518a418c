#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of golden cases, and compares all that they print and write with what is expected.

usage: run.py BUILD [--only REGEX] [--update [REGEX]] [COMMAND...]

BUILD is a build folder with xferbench and tests/xferbench_fake, COMMAND a folder beside this file (all of them).
--only takes the cases whose name (run/pinned-sweep) the expression finds; --update writes what is expected of these
cases, or of all. README.md says how a case is written. Exit: 0 all as expected; 1 not; 2 wrong usage.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import re
import shlex
import sys

from outcome import FAKE, PROGRAM, files_of, masked, part, run_command, working_folder

HERE = os.path.dirname(os.path.realpath(__file__))
BASES = (os.path.join(HERE, "bases"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench", "results"))
OWN = ("args", "expected", "stdin")  # what else is in a case's folder is input
WIDTH, MOST_LINES = 100, 60


class Exact(str):
    """A number, digit by digit as it was written."""


class Wrong(Exception):
    """What is wrong in a case's files."""


# ---- documents ----
def parse(text):
    return json.loads(text, parse_float=Exact, parse_int=Exact)


def flat(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flat(v) for v in value) + "]"
    return value if isinstance(value, Exact) else json.dumps(value, ensure_ascii=False)


def pretty(value, indent=""):
    """As JSON: in a line what fits into it."""
    line = flat(value)
    if not isinstance(value, (dict, list)) or len(indent + line) <= WIDTH:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {pretty(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + pretty(v, inner) for v in value) + f"\n{indent}]"


def places(value, path):
    """Each (object or list, key) that a path such as results.*.samples names."""
    step, _, rest = path.partition(".")
    if not isinstance(value, (dict, list)):
        raise Wrong(f"nothing is at {path}")
    keys = range(len(value)) if isinstance(value, list) else list(value)
    if step != "*":
        keys = [int(step) if isinstance(value, list) else step]
    if not rest:
        return [(value, key) for key in keys]
    try:
        return [place for key in keys for place in places(value[key], rest)]
    except (KeyError, IndexError) as error:
        raise Wrong(f"nothing is at {path}") from error


def change(document, line):
    """One line of a .from file."""
    path, equals, value = (word.strip() for word in line.partition("="))
    for holder, key in places(document, path.removeprefix("delete ")):
        if not equals:
            del holder[key]
        elif isinstance(holder, list) and key == len(holder):
            holder.append(parse(value))
        else:
            holder[key] = parse(value)


def base(name, folder):
    for place in (folder, *BASES):
        path = os.path.join(place, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return parse(file.read())
    raise Wrong(f"there is no base {name}")


def documents_of(text, folder):
    """The documents that the text of a .from file describes: `from BASE [n=1-16]` begins each."""
    parts = [part.strip().split("\n") for part in re.split(r"(?m)^from ", text) if part.strip()]
    for first, *lines in parts:
        name, _, numbers = first.partition("#")[0].strip().partition(" n=")
        begin, _, end = numbers.partition("-")
        for number in range(int(begin or 0), int(end or begin or 0) + 1):
            document = base(name, folder)
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    try:
                        change(document, line.replace("{n}", str(number).zfill(len(end))))
                    except (Wrong, ValueError, KeyError, IndexError) as error:
                        raise Wrong(f"{line}: {error!r}") from error
            yield document


def place_inputs(case, folder):
    """Puts the case's input files into a folder, and gives their names and texts."""
    for name, text in files_of(case).items():
        if name in OWN:
            continue
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if name.endswith(".from"):
            path = path.removesuffix(".from")
            text = b"".join(flat(d).encode() + b"\n" for d in documents_of(text.decode(), os.path.dirname(case)))
        with open(path, "wb") as file:
            file.write(text)
    return files_of(folder)


# ---- one case ----
def part_of(name, text):
    """A part of what is expected: JSON for people, any other text as it is, nothing where there is none."""
    try:
        text = (pretty(parse(text.decode())) + "\n").encode() if text.lstrip()[:1] in (b"{", b"[") else text
    except ValueError:
        pass
    return part(name, text.removesuffix(b"\n") if text.endswith(b"\n") else text + b"\n(no newline at the end)")


def picked(text, paths):
    """Only these members of a document."""
    document = parse(text.decode())
    rows = [f"{path}: {' '.join(pretty(holder[key]) for holder, key in places(document, path))}\n" for path in paths]
    return "".join(rows).encode()


def outcome(build, case):
    """What the case's commands print and write, as its file `expected` has it."""
    with open(os.path.join(case, "args"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", "")
    lines = [shlex.split(line) for line in text.split("\n") if line.strip() and not line.startswith("#")]
    given, environment, picks, parts = b"", {}, {}, []
    if os.path.exists(os.path.join(case, "stdin")):
        with open(os.path.join(case, "stdin"), "rb") as file:
            given = file.read()

    def shown(name, text):
        return part_of(name, picked(text, picks[name]) if name in picks else text)

    with working_folder() as folder:
        inputs = place_inputs(case, folder)
        for words in lines:
            if re.match(r"[A-Z_0-9]+=", words[0]):
                environment.update(word.split("=", 1) for word in words)
            elif re.fullmatch(r"-[A-Z_0-9]+", words[0]):
                del environment[words[0][1:]]
            elif words[0] == "pick:":
                picks = {words[1]: words[2:]}
            else:
                parts.append(f"$ {shlex.join(words)}\n".encode())
                program = words.pop(0)[:-1] if words[0].endswith(":") else FAKE
                path = os.path.join(build, PROGRAM if program == "host" else program)
                done = run_command(path, words, environment, folder, given)
                for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
                    parts += [shown(name, text)] if text else []
                parts.append(b"== exit %d\n" % done.returncode)
        for name, text in files_of(folder).items():
            if inputs.get(name) != text:
                parts.append(shown(name, text))
    return masked(b"".join(parts))


def difference(build, case, update):
    """"" where a case gives what is expected, else what differs."""
    path, name = os.path.join(case, "expected"), os.path.relpath(case, HERE)
    try:
        got = outcome(build, case)
    except (Wrong, OSError, ValueError) as error:
        return f"{name}: {error!r}"
    expected = b""
    if os.path.exists(path):
        with open(path, "rb") as file:
            expected = file.read()
    if update and got != expected:
        with open(path, "wb") as file:
            file.write(got)
        expected = got
    texts = [text.decode(errors="backslashreplace").split("\n") for text in (expected, got)]
    lines = list(difflib.unified_diff(*texts, f"{name}/expected", f"{name}, now", lineterm=""))
    more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join(lines[:MOST_LINES] + more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("command", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--update", nargs="?", const="")
    chosen = parser.parse_args()
    commands = chosen.command or sorted(c for c in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, c)))
    cases = [os.path.join(HERE, c, name) for c in commands for name in sorted(os.listdir(os.path.join(HERE, c)))
             if os.path.exists(os.path.join(HERE, c, name, "args")) and re.search(chosen.only, f"{c}/{name}")]

    def try_case(case):
        update = chosen.update is not None and re.search(chosen.update, os.path.relpath(case, HERE))
        return difference(os.path.realpath(chosen.build), case, update)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        differences = [text for text in pool.map(try_case, cases) if text]
    print(*differences, f"{len(cases)} golden cases, {len(differences)} differ", sep="\n")
    return 1 if differences or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
