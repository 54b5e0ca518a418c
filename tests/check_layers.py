#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_layers.py SOURCE-FOLDER BUILD-FOLDER NM

Proves that includes go down only, from room to room, and never in a circle from file to file, nor do
calls; and that what the compiled files use of each other goes down as well: a function of a room above may
have been declared below. Prints everything that breaks this, and how much of each kind, and exits with 1 if there
is any. NM is the program that lists the symbols of an object.

Before that it proves itself: in a small tree with known faults it must find those faults and no other.
"""

import os
import re
import subprocess
import sys
import tempfile

# The rooms, bottom to top: a file may include headers of its own room and of those before it.
ROOMS = [
    "include",  # the contracts that the author of a mode or a backend writes against; no room is known there
    "base",
    "machine",
    "codecs",  # what is made smaller: encoders for the CPU, and the decoders that kernels are made of
    "backends",  # the contract and the registry: knows no backend by its files
    "backends/gpu",  # what the GPU backends share
    "backends/*",  # every other folder there is a backend; backends do not know each other
    "storage",  # files: made, opened, read
    "present",  # tables, findings, metrics, written: knows nothing of what is in them
    "record",  # what came of cases, which modes and figures there are
    "measure",  # runs modes by the contract mode.h, so it stands below them; fills a record
    "reading",  # what a record means: sentences with their numbers and cases
    "modes",  # and what each says there
    "trace",  # one iteration, drawn: for a browser and for a terminal
    "plot",  # pictures: knows numbers and names, and nothing of where they come from
    "cli",
    "run",
    "link",  # a link is measured by a run, with the run's options
    "compare",  # a comparison knows the defaults of a run's options
    "list",
    "show",
    "advise",  # it measures by runs, and predicts from records
    "explain",  # what another program does; it predicts from what advise knows of costs
    "fleet",  # many nodes, judged by each other
    "report",  # a page of what files of any kind say
    "commands",  # src/commands.c: the list of all subcommands
    "main",  # src/main.c
    "manual",  # a program of the build: the man page and completions, from all rows
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
SOURCES = (".c", ".h", ".cu", ".cuh", ".cpp")


class Tree:
    """The sources below a folder and who includes whom; paths are relative to the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.files = sorted(
            os.path.relpath(os.path.join(where, name), folder)
            for top in ("src", "include")
            for where, _, names in os.walk(os.path.join(folder, top))
            for name in names
            if name.endswith(SOURCES)
        )
        self.unknown = []  # files and includes that the tables above do not place
        self.edges = []  # (file, line, file that it includes)
        for path in self.files:
            self._read(path)

    def _read(self, path):
        if room(path) is None:
            self.unknown.append(f"{path}: in no room")
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            text = file.read()
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            target = self._find(path, match.group(2))
            if target is not None:
                self.edges.append((path, line, target))
            elif match.group(1) == '"':
                self.unknown.append(f'{path}:{line}: "{match.group(2)}" is not in the tree')

    def _find(self, path, name):
        """As the compiler does: beside the file, in src, in include. None for a system's header."""
        for folder in (os.path.dirname(path), "src", "include"):
            candidate = os.path.normpath(os.path.join(folder, name))
            if candidate in self.files:
                return candidate
        return name_of_made(name)


def name_of_made(name):
    """Headers that the build makes are placed, but nothing is known of what they include."""
    return "include/" + name if name in ("xferbench/version.h", "xferbench/words.h") else None


def room(path):
    """The room of a file, or None."""
    folder, name = os.path.split(path)
    if folder == "include/xferbench":
        return "include"
    inside = os.path.splitext(name)[0] if folder == "src" else folder[len("src/") :]
    depth = 2 if inside.startswith("backends/") else 1
    inside = "/".join(inside.split("/")[:depth])  # folders inside a room are of that room
    return inside if level(inside) is not None else None


def level(inside):
    """How high a room stands, from 0; None for what is no room."""
    if inside not in ROOMS and re.fullmatch(r"backends/[a-z0-9_]+", inside):
        inside = "backends/*"
    return ROOMS.index(inside) if inside in ROOMS else None


def may_include(source, target):
    """Whether a file may include a header by the order of rooms."""
    own, other = room(source), room(target)
    return own == other or level(other) < level(own)


def upward(tree):
    """Lines that tell of every include that goes up."""
    return [
        f"{source}:{line}: {room(source)} includes {target}, which is of {room(target)}"
        for source, line, target in tree.edges
        if room(source) and room(target) and not may_include(source, target)
    ]


class Objects:
    """What the compiled files of a tree define and use."""

    def __init__(self, build="", nm="", files=()):
        self.defined = {}  # symbol -> source
        self.functions = set()
        self.used = []  # (source, symbol)
        sources = {}  # object -> source
        for target in ("xferbench_core", "xferbench") if build else ():
            top = os.path.join(build, "CMakeFiles", target + ".dir")
            for where, _, names in os.walk(os.path.join(top, "src")):
                for name in names:
                    source = os.path.relpath(os.path.join(where, name[: -len(".o")]), top)
                    if name.endswith(".o") and source in files:  # not of one that is gone
                        sources[os.path.join(where, name)] = source
        for path, listing in self._lists(nm, sorted(sources)).items():
            self.read(sources[path], "\n".join(listing))

    @staticmethod
    def _lists(nm, paths):
        """What `nm -g` says of each object: one call for all, because each takes a while to begin."""
        lists = {path: [] for path in paths}
        if paths:
            out = subprocess.run([nm, "-gA", *paths], check=True, capture_output=True, text=True).stdout
            for line in out.splitlines():
                path, _, rest = line.rpartition(":")
                lists[path].append(rest)
        return lists

    def read(self, source, listing):
        """Takes what `nm -g` says of one object."""
        for line in listing.splitlines():
            kind, symbol = line.split()[-2:]
            if kind in "Uw":
                self.used.append((source, symbol))
            else:
                self.defined[symbol] = source
                if kind == "T":
                    self.functions.add(symbol)

    def calls(self):
        """Pairs of files: the first calls a function of the second, or has its address."""
        return [(source, self.defined[symbol]) for source, symbol in self.used if symbol in self.functions]


def upward_uses(objects):
    """Lines that tell of every symbol of a room above that a file uses."""
    lines = []
    for source, symbol in sorted(objects.used):
        target = objects.defined.get(symbol)
        if target is not None and not may_include(source, target):
            lines.append(f"{source}: {room(source)} uses {symbol} of {target}")
    return lines


def unit(path, files):
    """The file that a path counts as: a source and its header are one."""
    stem, extension = os.path.splitext(path)
    if extension in (".cu", ".cuh") and (stem + ".h") in files:
        return path  # kernels.cuh is text for two compilers, and not the source of kernels.h
    return stem


def circles(pairs):
    """Lines that tell of every circle: the files that reach each other by such pairs."""
    graph = {}
    for first, second in pairs:
        graph.setdefault(first, set())
        graph.setdefault(second, set())
        if first != second:
            graph[first].add(second)
    reach = {start: reachable(graph, start) for start in graph}
    found = {
        tuple(sorted(other for other in reach[start] if start in reach[other]))
        for start in graph
        if start in reach[start]
    }
    return [f"{' <-> '.join(members)}" for members in sorted(found)]


def reachable(graph, start):
    """Every file that is reached from `start`, also by others; `start` too if it is in a circle."""
    seen, waiting = set(), list(graph[start])
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(graph[node])
    return seen


def check(tree, objects):
    """What breaks the rules, by rule."""
    return {
        "in no place of the tables in check_layers.py": tree.unknown,
        "includes that go up": upward(tree),
        "uses that go up": upward_uses(objects),
        "circles between files": circles(
            (unit(source, tree.files), unit(target, tree.files)) for source, _, target in tree.edges
        ),
        "circles of calls": circles(objects.calls()),
    }


# A tree with one fault of each kind, and with what looks like one and is none.
KNOWN = {
    "src/base/low.c": '#include "low.h"\n#include "measure/result.h"\n#include <run/other.h>\n',
    "src/base/low.h": "",
    "src/base/lost.c": '#include "no_such.h"\n#include <stdio.h>\n',
    "src/attic/old.c": "",
    "src/run/high.c": '#include "high.h"\n#include "base/low.h"\n#include "detail.h"\n',
    "src/run/high.h": "",
    "src/run/other.h": "",
    "src/run/detail.h": '  #  include "high.h"\n',
    "src/backends/cuda/a.c": '#include "backends/hip/b.h"\n',
    "src/backends/hip/b.h": "",
    "src/measure/result.c": '#include "measure/result.h"\n#include "inner.h"\n',
    "src/measure/inner.h": '#include "measure/result.h"\n',
    "src/modes/copy.c": '#include "record/record.h"\n#include "run/high.h"\n#include <xferbench/contract.h>\n',
    "src/measure/result.h": "",
    "src/record/record.h": "",
    "include/xferbench/contract.h": '#include "base/low.h"\n',
}
KNOWN_OBJECTS = {
    "src/base/low.c": "0000000000000000 T xb_low\n                 U xb_high\n                 U free\n",
    "src/run/high.c": "0000000000000000 T xb_high\n                 U xb_low\n                 U xb_deep\n",
    "src/modes/copy.c": "                 U xb_low\n                 U xb_deep\n",
    "src/show/deep.c": "0000000000000000 D xb_deep\n",
}
FAULTS = {
    "in no place of the tables in check_layers.py": [
        "src/attic/old.c: in no room",
        'src/base/lost.c:1: "no_such.h" is not in the tree',
    ],
    "includes that go up": [
        "include/xferbench/contract.h:1: include includes src/base/low.h, which is of base",
        "src/backends/cuda/a.c:1: backends/cuda includes src/backends/hip/b.h, which is of backends/hip",
        "src/base/low.c:2: base includes src/measure/result.h, which is of measure",
        "src/base/low.c:3: base includes src/run/other.h, which is of run",
        "src/modes/copy.c:2: modes includes src/run/high.h, which is of run",
    ],
    "uses that go up": [
        "src/base/low.c: base uses xb_high of src/run/high.c",
        "src/modes/copy.c: modes uses xb_deep of src/show/deep.c",
        "src/run/high.c: run uses xb_deep of src/show/deep.c",
    ],
    "circles between files": [
        "src/measure/inner <-> src/measure/result",
        "src/run/detail <-> src/run/high",
    ],
    "circles of calls": ["src/base/low.c <-> src/run/high.c"],
}


def prove_itself():
    """Exits if the search does not find the faults of KNOWN, or finds others."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in KNOWN.items():
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(text)
        objects = Objects()
        for source, listing in KNOWN_OBJECTS.items():
            objects.read(source, listing)
        found = check(Tree(folder), objects)
    if found != FAULTS:
        sys.exit(f"check_layers.py itself is broken: it found {found}, and not {FAULTS}")


def main():
    """The exit code."""
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    prove_itself()
    tree = Tree(sys.argv[1])
    objects = Objects(sys.argv[2], sys.argv[3], tree.files)
    if len(tree.edges) < 100 or len(objects.defined) < 100:
        print(
            f"check_layers.py itself is broken: it finds {len(tree.edges)} includes in {sys.argv[1]} "
            f"and {len(objects.defined)} symbols in {sys.argv[2]}"
        )
        return 1
    broken = check(tree, objects)
    for rule, lines in broken.items():
        print(f"{len(lines)} {rule}{':' if lines else ''}")
        for line in lines:
            print(f"    {line}")
    print(
        f"(of {len(tree.edges)} includes between {len(tree.files)} files, and {len(objects.used)} uses)"
    )
    return 1 if any(broken.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
