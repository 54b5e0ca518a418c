#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fleet_time.py [--nodes N,N,...] [--gpus N] PROGRAM ARGUMENT...

How long a program takes for a fleet, and what memory: runs `PROGRAM ARGUMENT... FOLDER` for folders
with a link test of each node, made by make_fleet.py, such as

    bench/fleet_time.py build/xferbench fleet

Each folder is read once before, so that it lies in memory. They need 0.2 MB a node, in TMPDIR."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

MAKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_fleet.py")


def bytes_of(folder):
    total = 0
    for entry in os.scandir(folder):
        with open(entry.path, "rb") as file:
            total += len(file.read())
    return total


def measure(words, folder):
    begun = time.monotonic()
    child = subprocess.Popen([*words, folder], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begun
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1000,10000")
    parser.add_argument("--gpus", default="8")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.words:
        parser.error("which program?")
    print(f"CPUs: {len(os.sched_getaffinity(0))}")
    print("nodes  GPUs a node  MB of text  seconds  CPU seconds  MiB of memory  exit code", flush=True)
    for nodes in options.nodes.split(","):
        folder = tempfile.mkdtemp()
        try:
            slow = ["--slow", f"{int(nodes) // 2}:5"]
            subprocess.run([sys.executable, MAKER, folder, "--nodes", nodes, "--gpus", options.gpus, *slow], check=True)
            size = bytes_of(folder)
            wall, cpu, memory, code = measure(options.words, folder)
        finally:
            shutil.rmtree(folder)
        print(f"{nodes:>5}  {options.gpus:>11}  {size / 1e6:10.1f}  {wall:7.1f}  {cpu:11.1f}  {memory:13.0f}  {code:9}", flush=True)


if __name__ == "__main__":
    main()
