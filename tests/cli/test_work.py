#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work grows with what it is done on, and no faster. usage: test_work.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import os
import unittest

import harness
from harness import Case, committed

SIZE = 1 << 25
COUNTER = os.path.join(harness.BUILD, "tests", "libcounted_calls.so")


@unittest.skipUnless(os.path.exists(COUNTER), "the library that counts is not built with sanitizers")
class Work(Case):
    """Four times the rows of a file cost at most five times the work, in every command that reads it. Work is what
    is counted: comparisons of texts (tests/doubles/counted_calls.c), never time."""

    # How rows differ: from the number of a row to what it has beside the first one's.
    FORMS = {
        "nodes": lambda i: {"parameters": {"numa": i // 8}, "device": i % 8},
        "one device's nodes": lambda i: {"parameters": {"numa": i}},
        "pairs": lambda i: {"mode": "peer", "variant": "direct-read", "direction": "d2d", "device": i // 32, "peer":
        i % 32 + 32},
        "sizes": lambda i: {"bytes": SIZE + 64 * i, "bytes_moved": SIZE + 64 * i},
        "devices": lambda i: {"device": i % 64, "bytes": SIZE + 64 * (i // 64), "bytes_moved": SIZE + 64 * (i // 64)},
        "chunks": lambda i: {"mode": "async", "parameters": {"chunk": 4096 * (i + 1), "streams": 2}},
        "names": lambda i: {"mode": "async", "parameters": {f"p{i}_{k}": k for k in range(4)}},
        "errors": lambda i: {"bytes": SIZE + 64 * i, "status": "error", "reason": f"reason {i}", "figures": [],
        "samples_s": [],
                             "timer": None, "bytes_moved": None, "stop_reason": None, "verified": None} if i else {},
        "warnings": lambda i: {"bytes": SIZE + 64 * i, "bytes_moved": SIZE + 64 * i,
                               "warnings": [f"warning {chr(97 + i % 26)}{i}"]},
    }
    COMMANDS = {
        "show": ("show", "a.json"),
        "csv": ("show", "a.json", "--csv", "-"),
        "report": ("report", "a.json", "-o", "a.html"),
        "compare": ("compare", "a.json", "b.json", "--force", "--format", "junit"),
        "fleet": ("fleet", "a.json", "b.json"),
        "advise": ("advise", "a.json", "--in", "1M", "--out", "4K", "--gpu-time", "1ms"),
        "explain": ("explain", "trace.json", "--with", "a.json"),
    }

    def work(self, command):
        counted = {"LD_PRELOAD": COUNTER, "XB_CALLS": self.path("calls")}
        self.assertIn(self.run_program(*self.COMMANDS[command], environment=counted).code, (0, 1, 3))
        return int(self.read("calls"))

    def test_it_grows_with_the_rows(self):
        document = harness.read_json(committed("h200/pinned-512m-1"))
        for row in document["results"]:
            row["samples_s"] = row["samples_s"][:1]
            row["figures"] = row["figures"][:1]
        device, row = document["devices"][0], document["results"][0]
        document["host"]["numa_nodes"] = 1024
        document |= {"devices": [{**device, "index": i} for i in range(64)], "reading": None}
        copied = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "ts": 0, "dur": 1,
                  "args": {"device": 0, "bytes": SIZE}}
        self.write_json("trace.json", [copied])
        for name, form in self.FORMS.items():
            works = []
            for count in (200, 800):
                document["results"] = [{**copy.deepcopy(row), **form(i)} for i in range(count)]
                for file in ("a.json", "b.json"):
                    self.write_json(file, document)
                works.append({command: self.work(command) for command in self.COMMANDS})
            for command in self.COMMANDS:
                with self.subTest(form=name, command=command):
                    self.assertLessEqual(works[1][command], 5 * works[0][command])


if __name__ == "__main__":
    harness.main()
