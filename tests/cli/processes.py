# SPDX-License-Identifier: Apache-2.0
"""What tests of `--processes` and `--interleave` share. Where a process must misbehave, a script does, as
the baseline.
"""

import json
import os
import shlex
import sys

from harness import SMALL, XFERBENCH, Case, figure
from measuring import describe

# As a word of a shell script.
PROGRAM = shlex.quote(XFERBENCH)
# What tells cases apart.
KEYS = ("mode", "variant", "direction", "bytes", "device", "peer", "latency", "simultaneous", "parameters")
# Of a figure, what all processes agree on.
SAME = ("name", "unit", "more_is_better", "gates")


def case_of(row):
    """The case of a row, as a key of a dictionary."""
    return tuple(json.dumps(row[key], sort_keys=True) for key in KEYS)


class ProcessesCase(Case):
    """Merged files, what they are made of, and programs to be one side of an interleaved run."""

    def load(self, *names):
        document = super().load(*names)
        self.check_merged(document)
        return document

    def result(self, name, *arguments):
        """The file of a run in one process."""
        self.assert_succeeds(*SMALL, "--json", name, *arguments)
        return json.loads(self.read(name))

    # ---- a merged file against the documents in it ----

    def check_merged(self, merged):
        self.assertEqual((merged["schema"], merged["schema_version"]), ("xferbench.processes", 2))
        documents = [process["document"] for process in merged["processes"]]
        self.assertEqual([process["index"] for process in merged["processes"]], list(range(len(documents))))
        first = next((document for document in documents if document), None)
        for key in ("host", "backend", "devices", "environment", "config"):
            self.assertEqual(merged[key], first[key] if first else None, key)
        order = {}
        for document in documents:
            for row in document["results"] if document else ():
                order.setdefault(case_of(row))
        self.assertEqual([case_of(row) for row in merged["results"]], list(order))
        for row in merged["results"]:
            with self.subTest(case=case_of(row)):
                self.check_row(row, documents)

    def check_row(self, row, documents):
        key = case_of(row)
        rows = [
            next((r for r in document["results"] if case_of(r) == key), None)
            if document
            else None
            for document in documents
        ]
        counted = [r or {"status": "skipped", "verified": None} for r, d in zip(rows, documents) if d]
        words = [r["status"] for r in counted]
        worst = max(words, key=["ok", "skipped", "error"].index)
        self.assertEqual(row["status"], worst)
        self.assertEqual(row["processes_ok"], words.count("ok"))
        verified = [r["verified"] for r in counted]
        self.assertIs(row["verified"], False if False in verified else None if None in verified else True)
        if worst == "ok":
            self.assertIsNone(row["reason"])
        else:
            of_worst = next(r for r in counted if r["status"] == worst)
            self.assertEqual(row["reason"], of_worst.get("reason", row["reason"]))
        self.check_figures(row, rows)

    def check_figures(self, row, rows):
        """Every figure that a process has whose row counts, over the processes."""
        cut = ("interrupted", "deadline")
        counted = [r if r and r["status"] == "ok" and r.get("stop_reason") not in cut else None for r in rows]
        of_processes = {}
        for one in filter(None, counted):
            for found in one["figures"]:
                of_processes.setdefault(found["name"], found)
        self.assertEqual({found["name"] for found in row["figures"]}, of_processes.keys())
        for found in row["figures"]:
            with self.subTest(figure=found["name"]):
                of_process = of_processes[found["name"]]
                self.assertEqual([found[key] for key in SAME], [of_process[key] for key in SAME])
                own = [r and figure(r, found["name"]) for r in counted]
                medians = [f and f["median"] for f in own]
                self.assertEqual(found["medians"], medians)
                self.check_statistics(found, medians)

    def check_statistics(self, found, values):
        expected = describe([value for value in values if value is not None]) | {"p99": None}
        self.assertEqual(found.keys(), expected.keys() | {*SAME, "medians"})
        for name, value in expected.items():
            if value is None:
                self.assertIsNone(found[name], name)
            else:
                self.assertAlmostEqual(found[name] / (value or 1), 1 if value else 0, 9, name)

    # ---- baselines ----

    def script(self, text, name="baseline"):
        """A shell script; `turn` is which process of the baseline it is, from 1."""
        turns = shlex.quote(self.path("turns"))
        head = f"#!/bin/sh\necho >>{turns}\nturn=$(wc -l <{turns})\n"
        self.write(name, head + text + "\n")
        os.chmod(self.path(name), 0o755)
        return "./" + name

    def python(self, text):
        """A program in Python, which can put the clock of who runs it forward: see hastened()."""
        head = "import os, signal, sys\ndef put_forward(seconds): open('clock-ahead', 'ab').write(b'.' * seconds)\n"
        self.write("stub", f"#!{sys.executable} -B\n{head}{text}\n")
        os.chmod(self.path("stub"), 0o755)
        return "./stub"

    def turns(self):
        return self.read("turns").count("\n") if os.path.exists(self.path("turns")) else 0

    def interleave(self, code, other, *arguments, processes=2, **options):
        """Both files, the baseline's first, and what the program said."""
        files = ("--json", "candidate.json", "--baseline-json", "baseline.json")
        count = ("--processes", str(processes))
        done = self.assert_ends(code, *SMALL, *count, "--interleave", other, *files, *arguments, **options)
        return self.load("baseline.json"), self.load("candidate.json"), done

    def fates(self, merged):
        return [(p["exit_code"], p["signal"], p["document"] is not None) for p in merged["processes"]]
