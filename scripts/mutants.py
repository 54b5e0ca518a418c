#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the program in small ways, one at a time, and says which of them no test notices.

A mutant is the committed source with one line changed: another operator, another constant, a statement dropped, two
arguments swapped. The seed decides which lines, in every room (a folder of src) or in those named. The tests that reach
the line run, the quickest first, until one fails: the mutant is killed. If none fails it survives, and
FOLDER/survivors.txt lists it. What the compiler refuses, or compiles to the same code, is no mutant.

FOLDER (1 GB) keeps the builds and what each test reaches: only the first run of a commit runs all tests, twice. Needs
what scripts/test.sh needs. A mutant may signal any process, so each test has a namespace of processes of its own.

Whether a change of the tests made them weaker: run with the new tests, then, in another FOLDER, --tests OLD_COMMIT
--mutants FOLDER/survivors.txt says which of the survivors the tests of before killed.
"""
import argparse
import collections
import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
JOBS, BATCH = 2, 8  # so many tests run at once; so many are built before the first of them runs
CORE = "CMakeFiles/xferbench_core.dir"
# All processes of a test end with it, and none has more than 16 GiB of addresses.
FENCE = ("unshare", *(() if os.geteuid() == 0 else ("--map-current-user",)), "--pid", "--fork", "--kill-child", "--mount-proc",
         "sh", "-c", 'ulimit -v 16777216; "$@"; exit $?', "sh")
OPERATORS = {"==": "!=", "!=": "==", "<=": "<", ">=": ">", "<": "<=", ">": ">=", "&&": "||", "||": "&&", "+": "-", "-": "+",
             "*": "/", "/": "*", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "!": ""}
CHANGES = (  # kind, what is looked for, what replaces it
    ("operator", r"(?<=[\w)\]] )([=!<>]=|[<>*/&|+-]|&&|\|\||[+-]=)(?= [\w(!&*-])", OPERATORS.get),
    ("operator", r"(?<=[( ])(!)(?=[\w(])", OPERATORS.get),
    ("constant", r"(?<![\w.])(\d+)(?![\w.])", lambda n: str(int(n) - 1 if int(n) else 1)),
    ("constant", r"(?<![\w.])(\d+\.\d+)(?![\w.])", lambda n: str(float(n) + 1)),
    ("constant", r"\b(true|false)\b", {"true": "false", "false": "true"}.get),
    ("dropped", r"^\s+((?!.*free\()[\w>.*()\[\]-]+(?: [-+*/|&]?= .*|\(.*\)|\+\+|--);)$", lambda _: "{}"),
    ("swapped", r"(?<=\w\()([\w&>.-]+, [\w&>.-]+)(?=[,)])", lambda two: ", ".join(reversed(two.split(", ")))),
)


def output_of(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def ninja(build, *targets):
    """Whether the targets could be built."""
    return subprocess.run(["ninja", "-C", build, f"-j{JOBS}", *targets], check=False, capture_output=True).returncode == 0


def tests_of(build):
    """{name: what ctest says of a test}."""
    tests = {}
    for test in json.loads(output_of("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]:
        test.update((p["name"], p["value"]) for p in test["properties"])
        if {"unit", "arithmetic", "contract", "cli", "golden"} & set(test.get("LABELS", ())):
            tests[test["name"]] = test
    return tests


def run(test, folder, guard_s, **environment):
    """Returns the seconds that a test took, None where it failed or hung twice: once may be the machine's doing."""
    environment |= dict(pair.split("=", 1) for pair in test.get("ENVIRONMENT", ()))
    for _ in range(2):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as scratch:
            os.chmod(scratch, 0o1777)  # some tests run a program as another user
            try:
                done = subprocess.run([*FENCE, *test["command"]], check=False, cwd=test["WORKING_DIRECTORY"], timeout=guard_s,
                                      env={**os.environ, "TMPDIR": scratch, **environment}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                continue
        if done.returncode in (0, 77):
            return time.monotonic() - began
    return None


def build_all(tree, build, flags, *options):
    """Returns the tests."""
    linker = "-fuse-ld=lld" if shutil.which("ld.lld") else ""
    launcher = "ccache" if shutil.which("ccache") else ""
    output_of("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DXFERBENCH_TESTS=ON", "-DXFERBENCH_CUDA=OFF", "-DXFERBENCH_HIP=OFF",
              "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS_DEBUG={flags} {linker}", f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}", *options)
    if not ninja(build, "all"):
        sys.exit(f"The source does not build without a change. Run: ninja -C {build}")
    return tests_of(build)


def run_all(folder, tree):
    """Builds and runs the tests without a change, once as they are and once with counters. Returns their seconds."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        tests = build_all(tree, folder / "plain", "-O1", "-DXFERBENCH_WERROR=ON")
        seconds = dict(zip(tests, pool.map(lambda test: run(test, folder, 1500), tests.values())))
        failed = [name for name in tests if seconds[name] is None]  # a browser wants more than the fence gives
        print("Left out, as they fail without a change:", *failed or ["none"], flush=True)
        tests = build_all(tree, folder / "coverage", "-O0 --coverage -fprofile-update=atomic")
        shutil.rmtree(folder / "counts", ignore_errors=True)
        # The counters may make a test fail. That does not matter.
        list(pool.map(lambda name: run(tests[name], folder, 1500, GCOV_PREFIX=f"{folder}/counts/{name}"), seconds))
    return {name: taken for name, taken in seconds.items() if taken is not None}


def reach_of(folder, path, names):
    """{line: the tests that reach it} of a file's lines of code."""
    notes = f"{folder}/coverage/{CORE}/{path}.gcno"
    places = {f"{folder}/counts/{name}{notes}": name for name in ["none", *names]}
    for place in map(pathlib.Path, places):
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(notes)
    reach = collections.defaultdict(set)
    told = output_of("gcov", "--json-format", "--stdout", *places, cwd=folder, stderr=subprocess.DEVNULL)
    for unit in map(json.loads, told.splitlines()):
        for line in itertools.chain(*(file["lines"] for file in unit["files"] if file["file"].endswith(f"/{path}"))):
            reach[line["line_number"]].update([places[unit["data_file"]]] if line["count"] else [])
    return reach


def mutants_of(text):
    """(line number, kind, line, changed line) of all that can be changed in a file, but for comments and messages."""
    code = text
    for pattern, filler in ((r"/\*.*?\*/", " "), (r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', "@"),
                            (r"\b(?:XB_FAIL\w*|assert)\(.*?;", " "), (r"^ *#(?:\\\n|.)*?$", " ")):
        code = re.sub(pattern, lambda m, filler=filler: re.sub(r"[^\n]", filler, m[0]), code, flags=re.S | re.M)
    for number, (line, bare) in enumerate(zip(text.split("\n"), code.split("\n")), 1):
        for kind, pattern, other in CHANGES if bare.startswith("    ") else ():
            for found in re.finditer(pattern, bare):
                begin, end = found.span(1)
                yield number, kind, line, line[:begin] + other(line[begin:end]) + line[end:]


def pools_of(folder, seed):
    """{room: [(path, line number, kind, line, changed line)]}, shuffled."""
    pools = collections.defaultdict(list)
    for file in sorted((folder / "tree" / "src").rglob("*.c")):
        path = str(file.relative_to(folder / "tree"))
        if (folder / "plain" / CORE / f"{path}.o").exists():
            room = path.split("/")[1] if path.count("/") > 1 else "src"
            pools[room] += ((path, *mutant) for mutant in mutants_of(file.read_text()))
    for room, pool in pools.items():
        random.Random(f"{seed} {room}").shuffle(pool)
    return pools


def pools_of_file(folder, path):
    """{room: mutants} of a list of survivors, whose lines are looked for in the source of today."""
    pools = collections.defaultdict(list)
    found = re.findall(r"^(\S+):(\d+): (\w+), .*\n    was (.*)\n    now (.*)$", path.read_text(), re.M)
    for file, number, kind, was, now in reversed(found):
        line = (folder / "tree" / file).read_text().split("\n")[int(number) - 1]
        if line.strip() != was:
            sys.exit(f"{path}: line {number} of {file} is another today")
        pools[file.split("/")[1] if file.count("/") > 1 else "src"].append((file, int(number), kind, line, line.replace(was, now)))
    return pools


def killer_of(folder, tests, seconds, path, number, changed, names):
    """Which of the named tests notices a changed line: "" if none does, None if it is no mutant."""
    build, file = folder / "plain", folder / "tree" / path
    target = build / CORE / f"{path}.o"
    ninja(build, target.relative_to(build))
    code, text = target.read_bytes(), file.read_text()
    lines = text.split("\n")
    try:
        file.write_text("\n".join([*lines[:number - 1], changed, *lines[number:]]))
        if not ninja(build, target.relative_to(build)) or target.read_bytes() == code:
            return None
        rules = (line.split(": ") for line in output_of("ninja", "-C", build, "-t", "targets", "all").splitlines())
        programs = {program for program, rule in rules if "EXECUTABLE" in rule and "/test_" not in program}
        names = sorted(names, key=seconds.get)
        for batch in (names[begin:begin + BATCH] for begin in range(0, len(names), BATCH)):
            words = {word for name in batch for word in tests[name]["command"]}
            needed = {os.path.relpath(word, build) for word in words if word.startswith(f"{build}/")}
            # A test in Python is told the folder only.
            if not ninja(build, *needed, *(programs if str(build) in words else ())):
                return None
            with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
                taken = pool.map(lambda name: run(tests[name], folder, 30 + 10 * seconds[name]), batch)
                for name, passed in zip(batch, taken):
                    if passed is None:
                        pool.shutdown(wait=False, cancel_futures=True)
                        return name
        return ""
    finally:
        file.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", type=lambda text: text.split(","))
    parser.add_argument("--tests", metavar="COMMIT", help="the tests of that commit, with the source of today")
    parser.add_argument("--mutants", type=pathlib.Path, metavar="FILE", help="a survivors.txt: these mutants, all of them")
    chosen = parser.parse_args()
    folder, tree = chosen.folder, chosen.folder / "tree"
    commit = output_of("git", "-C", SOURCE, "rev-parse", "HEAD").strip()
    if not tree.exists():
        output_of("git", "clone", "-q", SOURCE, tree)
    output_of("git", "-C", tree, "fetch", "-q", SOURCE, commit)
    output_of("git", "-C", tree, "reset", "-q", "--hard", commit)  # also what an interrupted run left
    if chosen.tests:
        output_of("git", "-C", tree, "rm", "-rq", "tests")
        output_of("git", "-C", tree, "checkout", "-q", chosen.tests, "--", "tests")
        commit += " with the tests of " + chosen.tests
    known = folder / "seconds.json"
    of, seconds = json.loads(known.read_text()) if known.exists() else (None, None)
    if of != commit:
        seconds = run_all(folder, tree)
        known.write_text(json.dumps((commit, seconds)))
    tests = {name: test for name, test in tests_of(folder / "plain").items() if name in seconds}
    pools = pools_of_file(folder, chosen.mutants) if chosen.mutants else pools_of(folder, chosen.seed)
    rooms = sorted(chosen.rooms or pools)
    if not set(rooms) <= set(pools):
        parser.error("rooms are " + ",".join(sorted(pools)))
    tried, killed, survivors = collections.Counter(), collections.Counter(), []
    reach = functools.cache(lambda path: reach_of(folder, path, tests))
    for room in itertools.cycle(rooms):
        if (tried.total() == chosen.count and not chosen.mutants) or not any(pools[r] for r in rooms):
            break
        by = None
        while by is None and pools[room]:
            path, number, kind, line, changed = pools[room].pop()
            if number in reach(path):  # else it is a declaration
                by = killer_of(folder, tests, seconds, path, number, changed, reach(path)[number])
        if by is not None:
            mutant = f"{path}:{number}: {kind}, {len(reach(path)[number])} tests reach it\n    was {line.strip()}\n    now {changed.strip()}\n"
            print(f"{by or 'SURVIVES'} {mutant}", end="", flush=True)
            survivors += [] if by else [mutant]
            tried[room] += 1
            killed[room] += by != ""
    result = f"{killed.total()} of {tried.total()} killed: " + ", ".join(f"{room} {killed[room]} of {tried[room]}" for room in tried)
    (folder / "survivors.txt").write_text("\n".join([
        "# SPDX-License-Identifier: Apache-2.0. What scripts/mutants.py changed and no test noticed.\n"
        f"# --seed {chosen.seed} --count {chosen.count}, commit {commit[:12]}. {result}\n", *survivors]))
    print(result)


if __name__ == "__main__":
    main()
