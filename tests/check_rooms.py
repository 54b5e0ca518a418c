#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the lines of each room (a folder of src/, include/, and tests/), and what tends to grow there, to the numbers
that rooms.txt beside this file has.

usage: check_rooms.py SOURCE [--lower | --list]

A room may not grow unless its number grows in the same commit, where who reads the change sees it. It may shrink:
--lower writes today's number where that is less. Counted are *.c *.h *.cu *.cuh *.inc *.def, in tests *.py *.sh too.

What tends to grow, which --list names, each behind how many lines it has: static functions under 12 lines that are
called once (does the name say more than the lines?), functions for which a header stands though one other file
uses them once, functions of more than 60 lines, files, and sentences of comments that say of what before they say
what ("Of neighbours that are alike ...").
"""
import collections
import os
import re
import sys

CODE = (".c", ".h", ".cu", ".cuh", ".inc", ".def")


def lines_of(source, room):
    """The lines of code below a folder; of src itself those of its own files."""
    ends = CODE + ((".py", ".sh") if room == "tests" else ())
    total = 0
    for folder, folders, files in os.walk(os.path.join(source, room)):
        if room == "src":
            folders.clear()
        for name in files:
            if name.endswith(ends):
                with open(os.path.join(folder, name), "rb") as file:
                    total += file.read().count(b"\n")
    return total


def rooms_of(source):
    """Every room that there is."""
    folders = sorted(os.listdir(os.path.join(source, "src")))
    return ["include", "src"] + ["src/" + f for f in folders if os.path.isdir(os.path.join(source, "src", f))] + ["tests"]


FUNCTION = re.compile(r"^(static )?[\w ]+?[ *]+(\w+)\((?:[^()]|\([^()]*\))*\)\n\{\n(.*?)^\}\n", re.M | re.S)
# "Of", "That of", "The same of", "What ... is what": the reader waits for the subject.
ODD = re.compile(r"(?:/\*|\. |^ \* )\s*((?:Of|That of|Those of|The same of|The same for) [^.]{0,60})", re.M)
SAID = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)


def growths_of(source):
    """What tends to grow: by its name in rooms.txt "place function" for each, with its lines."""
    texts = {}
    found = {name: [] for name in ("static-functions-called-once", "exports-used-once", "functions-over-60-lines",
                                   "files", "comments-without-a-subject")}
    for folder, files in [(at, files) for top in ("src", "include") for at, _, files in os.walk(os.path.join(source, top))]:
        for name in files:
            path = os.path.join(folder, name)
            if not name.endswith(CODE):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found["files"].append((text.count("\n"), os.path.relpath(path, source), ""))
            for comment in re.finditer(r"/\*.*?\*/", text, re.S):
                line = text.count("\n", 0, comment.start()) + 1
                found["comments-without-a-subject"] += [
                    (line, os.path.relpath(path, source), " ".join(said.replace("*", " ").split()))
                    for said in ODD.findall(comment.group())
                ]
            if name.endswith((".c", ".cu", ".cuh")):
                texts[path] = SAID.sub("", text)
    words = {path: collections.Counter(re.findall(r"\w+", text)) for path, text in texts.items()}
    uses = collections.defaultdict(list)  # of a name: how often each file has it
    for path, counted in words.items():
        for word, count in counted.items():
            uses[word].append((path, count))
    for path, text in texts.items():
        for is_static, name, body in FUNCTION.findall(text):
            elsewhere = [count for other, count in uses[name] if other != path]
            what = (body.count("\n"), os.path.relpath(path, source), name)
            if is_static and words[path][name] == 2 and text.count(f"{name}(") == 2 and what[0] < 12:
                found["static-functions-called-once"].append(what)
            if not is_static and words[path][name] == 1 and elsewhere == [1]:
                found["exports-used-once"].append(what)
            if what[0] > 60:
                found["functions-over-60-lines"].append(what)
    return found


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--lower"], ["--list"]):
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} SOURCE [--lower | --list]")
    source = sys.argv[1]
    path = os.path.join(source, "tests", "rooms.txt")
    with open(path, encoding="utf-8") as file:
        head, *rows = file.read().splitlines()
    allowed = {room: int(number) for room, number in (row.split() for row in rows)}
    today = {room: lines_of(source, room) for room in rooms_of(source)}
    growths = growths_of(source)
    if sys.argv[2:] == ["--list"]:
        for name, items in growths.items():
            print(name, *(f"{lines:5} {path} {function}" for lines, path, function in sorted(items)), sep="\n")
        return
    today |= {name: len(items) for name, items in growths.items()}
    wrong = [f"{room} has {number}, tests/rooms.txt allows {allowed.get(room, 'no such room')}: shorten, or write {number} there"
             for room, number in today.items() if number > allowed.get(room, -1)]
    wrong += [f"{room} is in rooms.txt and is no folder" for room in allowed if room not in today]
    if sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([head] + [f"{room} {min(number, allowed.get(room, number))}" for room, number in today.items()]) + "\n")
    sum_ = sum(number for room, number in today.items() if room.startswith(("src", "include")))
    print(*wrong, f"src and include have {sum_} lines, tests {today['tests']}", sep="\n")
    sys.exit(1 if wrong and not sys.argv[2:] else 0)


if __name__ == "__main__":
    main()
