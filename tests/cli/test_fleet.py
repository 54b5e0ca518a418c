#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fleet` of what is no plain file: standard input, pipes, files that somebody holds, signals.
What it finds and prints is in tests/golden/fleet. usage: test_fleet.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import fcntl
import json
import os
import re
import signal

import harness
from harness import Case, committed, wait_until

PATTERN = harness.read_json(committed("h200/link-1"))
PATTERN["timestamp"] = "2001-11-21T05:18:16Z"  # which is past on every machine
LIKE = "All 8 GPUs on 8 nodes are like their siblings.\n"


def document(number, scale=1.0):
    """What link measured on one node, as if that were node `number`: its bandwidths differ by less than 0.1 %, and by
    `scale`."""
    made = copy.deepcopy(PATTERN)
    made["host"]["hostname"] = f"gpu{number:03}"
    made["devices"][0]["uuid"] = f"GPU-{number}"
    for attempt in made["devices"][0]["attempts"]:
        for key in ("h2d_bytes_per_second", "d2h_bytes_per_second"):
            attempt[key] *= scale * (1 + 0.0002 * (number % 5 - 2))
    return made


class Fleet(Case):
    def lines(self, slow=0):
        return "".join(json.dumps(document(n, 0.5 if n == slow else 1.0)) + "\n" for n in range(1, 9))

    def write_nodes(self, slow=0):
        os.makedirs(self.path("results"), exist_ok=True)
        for number, line in enumerate(self.lines(slow).splitlines(), 1):
            self.write(f"results/n{number}.json", line)

    def test_files_folders_and_streams_are_the_same(self):
        self.write_nodes(slow=4)
        lines = self.lines(slow=4)
        self.write("all.jsonl", lines)
        self.write("pretty.json", "".join(json.dumps(json.loads(line), indent=1) + "\n" for line in lines.splitlines()))
        wanted = self.assert_ends(1, "fleet", "results", "--format", "csv").out
        files = [f"results/{name}" for name in sorted(os.listdir(self.path("results")))]
        for arguments in (files, ["all.jsonl"], ["pretty.json"]):
            self.assertEqual(self.assert_ends(1, "fleet", *arguments, "--format", "csv").out, wanted)
        with open(self.path("all.jsonl"), "rb") as stream:
            self.assertEqual(self.assert_ends(1, "fleet", "-", "--format", "csv", stdin=stream).out, wanted)
        os.mkfifo(self.path("pipe"))
        process = self.start("fleet", "pipe", "--format", "csv")
        self.write("pipe", lines)
        self.assertEqual(self.assert_ended(1, process).out, wanted)

    def test_a_file_that_its_owner_still_holds(self):
        """A lease, as servers of NFS and Samba take for their clients: opening waits until it is given back."""
        self.write_nodes()
        holder = os.open(self.path("results/n3.json"), os.O_RDWR)
        self.addCleanup(os.close, holder)
        given_back = []

        def give_back(*_):
            given_back.append(True)
            fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_UNLCK)

        self.addCleanup(signal.signal, signal.SIGIO, signal.signal(signal.SIGIO, give_back))
        try:
            fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as refused:
            self.skipTest(f"no leases here: {refused}")
        self.assertEqual(self.assert_succeeds("fleet", "results").out, LIKE)
        self.assertEqual(given_back, [True])

    def test_a_signal_ends_reading(self):
        """Standard input that never ends: nothing is written, and the exit code tells the signal."""
        reading, writing = os.pipe()
        process = self.start("fleet", "-", "--output", "out.txt", stdin=reading)
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as stream:
            # More than a pipe holds: when all is written, the program is reading.
            stream.write((self.lines() * 20).encode())
            process.send_signal(signal.SIGINT)
            self.assert_ended(128 + signal.SIGINT, process)
        self.assert_folder_has()

    def test_a_signal_ends_waiting_for_a_pipe(self):
        """A FIFO that nobody opens for writing; one whose writer says nothing more; and one with names of hosts."""

        def catches():
            with open(f"/proc/{silent.pid}/status", encoding="ascii") as file:
                caught = int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16)
            return caught >> (signal.SIGTERM - 1) & 1

        os.mkfifo(self.path("pipe"))
        silent = self.start("fleet", "pipe")
        wait_until(catches)
        silent.send_signal(signal.SIGTERM)
        self.assert_ended(128 + signal.SIGTERM, silent)
        begun = self.start("fleet", "pipe")
        with open(self.path("pipe"), "wb", buffering=0) as stream:
            stream.write((self.lines() * 20).encode())
            begun.send_signal(signal.SIGTERM)
            self.assert_ended(128 + signal.SIGTERM, begun)
        names = self.start("fleet", "pipe", "--expect-hosts", "./pipe")
        with open(self.path("pipe"), "wb", buffering=0):  # once it is open there, the program waits for it
            names.send_signal(signal.SIGTERM)
            self.assert_ended(-signal.SIGTERM, names)


if __name__ == "__main__":
    harness.main()
