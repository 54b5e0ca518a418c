#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the lines of each room (a folder of src/, include/, and tests/) to the number that rooms.txt beside this file has.

usage: check_rooms.py SOURCE [--lower]

A room may not grow unless its number grows in the same commit, where who reads the change sees it. It may shrink:
--lower writes today's number where that is less. Counted are *.c *.h *.cu *.cuh *.inc *.def, in tests *.py *.sh too.
"""
import os
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


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--lower"]):
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} SOURCE [--lower]")
    source = sys.argv[1]
    path = os.path.join(source, "tests", "rooms.txt")
    with open(path, encoding="utf-8") as file:
        head, *rows = file.read().splitlines()
    allowed = {room: int(number) for room, number in (row.split() for row in rows)}
    today = {room: lines_of(source, room) for room in rooms_of(source)}
    wrong = [f"{room} has {number} lines: rooms.txt allows {allowed.get(room, 'no such room')}"
             for room, number in today.items() if number > allowed.get(room, -1)]
    wrong += [f"{room} is in rooms.txt and is no folder" for room in allowed if room not in today]
    if sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([head] + [f"{room} {min(number, allowed.get(room, number))}" for room, number in today.items()]) + "\n")
    sum_ = sum(number for room, number in today.items() if room != "tests")
    print(*wrong, f"src and include have {sum_} lines, tests {today['tests']}", sep="\n")
    sys.exit(1 if wrong and not sys.argv[2:] else 0)


if __name__ == "__main__":
    main()
