#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `xferbench link` says what of GPUs that are good, alone and beside other work.

usage: link_outcomes.py XFERBENCH FOLDER [GROUP[=RUNS]...]

Each run's document goes to FOLDER/link-GROUP.jsonl as a line, so a group that was interrupted goes on
where it was. Prints, for each group: exit codes, codes of reasons, seconds of a process.
"""

import collections
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

HOST = ["--backend", "host", "--mode", "pinned", "--size", "512M"]
COPY = ["--mode", "pinned", "--direction", "both", "--size", "256M", "--samples", "100", "--time-limit", "5s"]
# Runs, arguments of link, and what runs beside them: how many processes of which arguments.
GROUPS = {
    "idle": (60, ["--device", "0"], 0, None),
    "beside-4": (20, ["--device", "0"], 4, HOST),
    "beside-12": (20, ["--device", "0"], 12, HOST),
    "beside-traffic": (20, ["--device", "0"], 1, COPY),
    "all": (20, ["--device", "all"], 0, None),
}


@contextlib.contextmanager
def others(program, count, arguments):
    """So many processes that do it again and again, until the end of the block."""
    loop = ["sh", "-c", 'while :; do "$@" >/dev/null 2>&1; done', "sh", program, *(arguments or [])]
    started = [subprocess.Popen(loop, start_new_session=True) for _ in range(count)]
    try:
        if started:
            time.sleep(2)  # until they are at work; nothing leans on it
        yield
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def run_group(program, folder, name, runs):
    _, arguments, count, beside = GROUPS[name]
    path = os.path.join(folder, f"link-{name}.jsonl")
    todo = runs - len(read_lines(path))
    if todo <= 0:
        return
    with others(program, count, beside), open(path, "a", encoding="utf-8") as file:
        for _ in range(todo):
            begin = time.monotonic()
            done = subprocess.run([program, "link", *arguments, "--json-lines", "-"], stdout=subprocess.PIPE, check=False)
            document = json.loads(done.stdout)
            document["exit"] = done.returncode  # beside what link writes: these two
            document["seconds"] = time.monotonic() - begin
            file.write(json.dumps(document, separators=(",", ":")) + "\n")
            file.flush()


def summary(folder, name):
    documents = read_lines(os.path.join(folder, f"link-{name}.jsonl"))
    exits = collections.Counter(document["exit"] for document in documents)
    codes = collections.Counter(
        code
        for document in documents
        for code in {reason["code"] for device in document["devices"] for reason in device["verdict"]["reasons"]}
    )
    seconds = [document["seconds"] for document in documents]
    gpus = {device["name"] for document in documents for device in document["devices"]}
    print(f"{name}: {len(documents)} runs on {', '.join(sorted(gpus))}")
    print("   ", ", ".join(f"exit {code}: {count}" for code, count in sorted(exits.items())))
    for code, count in sorted(codes.items()):
        print(f"    {code}: {count}")
    print(f"    {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    program, folder, *chosen = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for word in chosen or list(GROUPS):
        name, _, runs = word.partition("=")
        if name not in GROUPS:
            sys.exit(f"link_outcomes.py: no group '{name}': there are {', '.join(GROUPS)}")
        run_group(os.path.abspath(program), folder, name, int(runs) if runs else GROUPS[name][0])
        summary(folder, name)


if __name__ == "__main__":
    main()
