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
import copy
import difflib
import json
import os
import re
import shlex
import sys
import textwrap

from outcome import FAKE, PROGRAM, files_of, masked, part, run_command, working_folder
from page_text import page_text
from rows import change_row

HERE = os.path.dirname(os.path.realpath(__file__))
BASES = (os.path.join(HERE, "bases"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench", "results"))
OWN = ("args", "expected", "stdin")  # what else is in a case's folder is input
WIDTH, MOST_LINES = 100, 60
PAGE = b"<!DOCTYPE html>"
BROKEN = 99  # the exit code of a case that is written wrong, and of what a sanitizer finds


class Exact(str):
    """A number, digit by digit as it was written."""


def rounded(number):
    """The same to 12 digits: the last ones are those of a library's or a processor's arithmetic."""
    return Exact(number if len(number) < 14 else f"{float(number):.12g}")


class Wrong(Exception):
    """What is wrong in a case's files."""


# ---- documents ----
def object_of(pairs):
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"a key twice: {[key for key, _ in pairs]}")
    return value


def parse(text, number=Exact):
    return json.loads(text, parse_float=number, parse_int=Exact, object_pairs_hook=object_of)


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
    if not any(isinstance(v, (dict, list)) for v in value) and isinstance(value, list):
        filled = textwrap.fill(flat(value)[1:-1], WIDTH, initial_indent=inner, subsequent_indent=inner,
                               break_long_words=False, break_on_hyphens=False)
        return f"[\n{filled}\n{indent}]"
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {pretty(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + pretty(v, inner) for v in value) + f"\n{indent}]"


def keys_of(value, step):
    """What a step of a path names in an object or a list: `*`, {one,other}, first:last, an index, or an item's name."""
    if step == "*":
        return list(range(len(value)) if isinstance(value, list) else value)
    keys = step[1:-1].split(",") if step.startswith("{") else [step]
    first, colon, last = step.partition(":")
    if isinstance(value, dict):
        names = list(value)
        return names[names.index(first):names.index(last) + 1] if colon else keys
    names = {item["name"]: i for i, item in enumerate(value) if isinstance(item, dict) and "name" in item}
    return [names[key] if key in names else int(key) for key in keys]


def places(value, path):
    """Each (object or list, key) that a path such as results.*.figures.bandwidth.{min,max} names."""
    step, _, rest = path.partition(".")
    try:
        keys = keys_of(value, step)
        return [p for key in keys for p in places(value[key], rest)] if rest else [(value, key) for key in keys]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise Wrong(f"nothing is at {path}") from error


def change(document, line):
    """One line of a .from file: PATH = JSON, PATH = @PATH, delete PATH."""
    path, equals, value = (word.strip() for word in line.partition(" = "))
    for holder, key in places(document, path.removeprefix("delete ")):
        if not equals:
            del holder[key]
            continue
        new = copy.deepcopy(*(h[k] for h, k in places(document, value[1:]))) if value[0] == "@" else parse(value)
        if isinstance(holder, list) and key == len(holder):
            holder.append(new)
        else:
            holder[key] = new


def base(name, folder):
    for place in (folder, *BASES):
        path = os.path.join(place, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return parse(file.read())
        if os.path.isfile(path + ".from"):
            with open(path + ".from", encoding="utf-8") as file:
                return next(documents_of(file.read(), folder))
    raise Wrong(f"there is no base {name}")


def repeated(text, numbers):
    """The text once for each number of "1-16", with {n} in it; once where there are none."""
    begin, _, end = numbers.partition("-")
    for number in range(int(begin or 0), int(end or begin or 0) + 1):
        yield text.replace("{n}", str(number).zfill(len(end)))


def documents_of(text, folder):
    """The documents that the text of a .from file describes: `from BASE [n=1-16]` begins each."""
    text = re.sub(r"(?m)^n=(\d+-\d+) (.*)", lambda m: "\n".join(repeated(m[2], m[1])), text)
    for part in re.split(r"(?m)^from ", text)[1:]:
        first, _, changes = part.partition("\n")
        name, _, numbers = first.partition("#")[0].strip().partition(" n=")
        for lines in repeated(changes, numbers):
            document, told, is_read = base(name, folder), [], False
            for line in lines.split("\n"):
                told += textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False)
                try:
                    if line == "read":
                        yield {**{k: v for k, v in document.items() if k != "templates"}, "told": "\n".join(told[:-1])}
                        told, is_read = [], True
                    elif line.startswith("row "):
                        change_row(document, line, Exact)
                    elif line.strip() and not line.startswith("#"):
                        change(document, line)
                except (Wrong, ValueError, KeyError, IndexError) as error:
                    raise Wrong(f"{line}: {error!r}") from error
            if not is_read:
                document.pop("templates", None)
                yield document


def place_inputs(case, folder):
    """Puts the case's input files into a folder, and gives their names and texts."""
    for name, text in files_of(case).items():
        if name in OWN:
            continue
        texts = {name: text}
        if name.endswith(".from"):
            name = name.removesuffix(".from")
            documents = [flat(d).encode(errors="surrogateescape") + b"\n"
                         for d in documents_of(text.decode(), os.path.dirname(case))]
            texts = {name.replace("{n}", f"{n:02}"): text for n, text in enumerate(documents, 1)}
            texts = texts if "{n}" in name else {name: b"".join(documents)}
        for name, text in texts.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text)
    return files_of(folder)


# ---- one case ----
def page_of(text, places=()):
    try:
        return page_text(text.decode(), places).encode()
    except ValueError as error:
        raise Wrong(str(error)) from error


def part_of(name, text):
    """A part of what is expected: JSON and pages for people, any other text as it is, nothing where there is none."""
    text = page_of(text) if text.startswith(PAGE) else text
    try:
        text = (pretty(parse(text.decode(), rounded)) + "\n").encode() if text.lstrip()[:1] in (b"{", b"[") else text
    except ValueError:
        pass
    return part(name, text.removesuffix(b"\n") if text.endswith(b"\n") else text + b"\n(no newline at the end)")


def picked(text, paths):
    """Only these members of a document, or places of a page."""
    if text.startswith(PAGE):
        return page_of(text, paths)
    document = parse(text.decode(), rounded)
    rows = []
    for path in paths:
        rows += [f"{path}:", *(f"  {pretty(holder[key], '  ')}" for holder, key in places(document, path))]
    return ("\n".join(rows) + "\n").encode()


def outcome(build, case):
    """What the case's commands print and write, as its file `expected` has it."""
    with open(os.path.join(case, "args"), encoding="utf-8", errors="surrogateescape") as file:
        text = file.read().replace("\\\n", "")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    given, environment, picks, parts = b"", {}, {}, []
    if os.path.exists(os.path.join(case, "stdin")):
        with open(os.path.join(case, "stdin"), "rb") as file:
            given = file.read()

    def shown(name, text):
        text = text.replace(build.encode(), b"BUILD")  # before lines are broken, by how long they are
        return part_of(name, picked(text, picks[name]) if name in picks else text)

    with working_folder() as folder:
        inputs = place_inputs(case, folder)
        os.symlink(BASES[0], os.path.join(folder, "bases"))
        for line in lines:
            words = shlex.split(line)
            if re.match(r"[A-Z_0-9]+=", words[0]):
                environment.update(word.split("=", 1) for word in words)
            elif re.fullmatch(r"-[A-Z_0-9]+", words[0]):
                del environment[words[0][1:]]
            elif words[0] == "pick:":
                picks[words[1]] = words[2:]
            else:
                parts.append(f"$ {line}\n".encode(errors="surrogateescape"))
                program = words.pop(0)[:-1] if words[0].endswith(":") else FAKE
                path = os.path.join(build, PROGRAM if program == "host" else program)
                done = run_command(path, words, environment, folder, given)
                if done.returncode == BROKEN:
                    raise Wrong(done.stderr.decode(errors="replace"))
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
    except (Wrong, KeyError, IndexError, FileNotFoundError) as error:
        return f"{name}: {error}"
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
    if differences:
        print("If this is meant: run.py BUILD --update REGEX writes what is expected of these cases")
    return 1 if differences or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
