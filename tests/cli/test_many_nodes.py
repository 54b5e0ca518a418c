#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a launcher needs that starts the program on many nodes: names, lines, and a common start.
usage: test_many_nodes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import io
import json
import os
import re
import socket

import harness
from harness import HOST, SMALL, Case, Terminal, check_schema, wait_until

QUIET = (*SMALL, "--quiet")
LINK = ("link", *HOST)
# The host has no link to test: UNKNOWN.
UNTESTED = 3


def slurm(rank, ranks, node="gpu007"):
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(ranks), "SLURMD_NODENAME": node}


class Names(Case):
    """Which node, which rank."""

    def test_a_result_names_its_node(self):
        self.assert_succeeds(*QUIET, "--json", "out.json", environment=slurm(2, 4))
        document = self.load("out.json")
        self.assertEqual(document["host"]["node"], "gpu007")
        self.assertEqual(document["host"]["node_named_by"], "SLURMD_NODENAME")
        self.assertEqual(document["host"]["hostname"], socket.gethostname())
        self.assertEqual(document["launcher"], {"rank": 2, "ranks": 4, "named_by": "SLURM_PROCID"})

    def test_without_a_launcher(self):
        self.assert_succeeds(*QUIET, "--json", "out.json")
        document = self.load("out.json")
        self.assertEqual(document["host"]["node"], socket.gethostname())
        self.assertIsNone(document["host"]["node_named_by"])
        self.assertIsNone(document["launcher"])

    def test_a_link_report_names_it_too(self):
        environment = {"XFERBENCH_NODE": "rack3", "OMPI_COMM_WORLD_RANK": "1"}
        outcome = self.assert_ends(UNTESTED, *LINK, "--json", "out.json", environment=environment)
        self.assertTrue(outcome.out.startswith(f"Node rack3 (host {socket.gethostname()}): UNKNOWN: "), outcome)
        document = self.load("out.json")
        self.assertEqual(document["host"]["node"], "rack3")
        self.assertEqual(document["launcher"], {"rank": 1, "ranks": None, "named_by": "OMPI_COMM_WORLD_RANK"})
        self.assertEqual(self.assert_succeeds("show", "out.json").out, outcome.out)

    def test_tables_and_csv_name_it(self):
        environment = {"XFERBENCH_NODE": "rack3"}
        line = f" node rack3 (host {socket.gethostname()})\n"
        outcome = self.assert_succeeds(*SMALL, "--csv", "out.csv", "--json", "out.json", environment=environment)
        self.assertIn(line, outcome.out)
        row = list(csv.DictReader(io.StringIO(self.read("out.csv"))))[0]
        self.assertEqual((row["hostname"], row["node"]), (socket.gethostname(), "rack3"))
        self.assertIn(line, self.assert_succeeds("show", "out.json").out)
        self.assertIn("Node rack3 (host ", self.assert_succeeds("list", environment=environment).out)

    def test_other_ranks_and_names_are_no_other_conditions(self):
        """Several nodes' or ranks' files of one machine can be compared."""
        many = (*QUIET, "--processes", "4")
        for rank in range(2):
            environment = slurm(rank, 2, f"alias{rank}")
            self.assert_succeeds(*many, "--json", f"{rank}.json", environment=environment)
            self.load(f"{rank}.json")
        outcome = self.run_program("compare", "0.json", "1.json", "--format", "json")
        document = json.loads(outcome.out)
        names = [difference["name"] for difference in document["differences"]]
        self.assertFalse([name for name in names if re.search("node|rank|launch|start", name)], names)

    def test_what_is_no_name_is_refused(self):
        for value in ("..", "a/b", "a\nb", "x" * 300):
            self.assert_usage(("XFERBENCH_NODE",), *QUIET, environment={"XFERBENCH_NODE": value})
        self.assert_fails(UNTESTED, ("SLURM_PROCID",), *LINK, environment={"SLURM_PROCID": "one"})

    def test_reading_takes_any_node(self):
        """What only reads files names no node."""
        self.assert_succeeds(*QUIET, "--json", "out.json")
        environment = {"XFERBENCH_NODE": "..", "SLURM_PROCID": "one"}
        job = ("--in", "4K", "--out", "4K", "--gpu-time", "2ms")
        for command in (("show",), ("report", "--output", "out.html"), ("advise", *job)):
            outcome = self.run_program(*command, "out.json", environment=environment)
            self.assertNotRegex(outcome.err, "XFERBENCH_NODE|SLURM_PROCID", outcome)


class Files(Case):
    """%h, %t and %r in names of files, and documents in one line."""

    def test_letters(self):
        self.assert_succeeds(
            *QUIET, "--json", "%h-%r.json", "--csv", "%%h.csv", "--trace", "%t", environment=slurm(3, 4)
        )
        names = sorted(os.listdir(self.folder))
        self.assertEqual(names[:1] + names[2:], ["%h.csv", "gpu007-3.json"])
        self.assertRegex(names[1], r"^20[0-9]{6}T[0-9]{6}Z$")

    def test_of_other_commands(self):
        environment = slurm(3, 4)
        self.assert_ends(
            UNTESTED, *LINK, "--json", "link-%h", "--output", "table-%r", environment=environment
        )
        self.assert_succeeds("list", "--json", "list-%h", environment=environment)
        self.assert_succeeds("report", "link-gpu007", "--output", "page-%h", "--svg", "svg-%h", environment=environment)
        self.run_program("fleet", "link-gpu007", "--output", "fleet-%r", environment=environment)
        self.assert_folder_has("fleet-3", "link-gpu007", "table-3", "list-gpu007", "page-gpu007", "svg-gpu007")

    def test_what_cannot_be(self):
        self.assert_usage(("--json: %x means nothing", "%h (node)"), *QUIET, "--json", "%x")
        self.assert_usage(("--csv: %r is the rank", "srun"), *QUIET, "--csv", "%r.csv")
        self.assert_usage(("create its directory first",), *QUIET, "--json", "no/%h.json")
        self.assert_folder_has()

    def test_dry_run_tells_the_name(self):
        outcome = self.assert_succeeds(*SMALL, "--dry-run", "--json-lines", "%h.json", environment=slurm(3, 4))
        self.assertIn("  file     --json-lines would write gpu007.json\n", outcome.out)
        self.assert_folder_has()

    def test_one_document_is_one_line(self):
        several = (*QUIET, "--processes", "2")
        for code, *arguments in ((0, *QUIET), (0, *several), (UNTESTED, *LINK)):
            outcome = self.assert_ends(code, *arguments, "--json-lines", "-")
            self.assertEqual(outcome.out.count("\n"), 1)
            self.assertTrue(outcome.out.endswith("}\n"))
            check_schema(json.loads(outcome.out))

    def test_the_line_is_what_the_other_form_says(self):
        """But for what is another one in each run."""
        self.assert_succeeds(*QUIET, "--json", "a.json")
        self.assert_succeeds(*QUIET, "--json-lines", "b.json")
        self.assertEqual(sorted(self.load("a.json")), sorted(self.load("b.json")))

    def test_many_write_to_one_pipe(self):
        """Each line is whole, because each is given to the kernel at once."""
        reading, writing = os.pipe()
        processes = [
            self.start(*QUIET, "--json-lines", "-", environment=slurm(rank, 6), stdout=writing) for rank in range(6)
        ]
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        for process in processes:
            self.assert_ended(0, process)
        documents = [json.loads(line) for line in lines]
        for document in documents:
            check_schema(document)
        self.assertEqual(sorted(document["launcher"]["rank"] for document in documents), list(range(6)))

    def test_both_forms_are_too_much(self):
        self.assert_usage(("--json and --json-lines",), *QUIET, "--json", "a", "--json-lines", "b")
        self.assert_fails(UNTESTED, ("give one of them",), *LINK, "--json", "a", "--json-lines", "b")
        self.assert_usage(("cannot both have standard output",), *QUIET, "--csv", "-", "--json-lines", "-")
        self.assert_folder_has()


class Start(Case):
    """Nodes that begin at once."""

    def start_in_an_hour(self, *more, **options):
        """A program that has opened its outputs and waits, and the pipe that it writes its CSV to."""
        os.mkfifo(self.path("out.csv"))
        stream = os.open(self.path("out.csv"), os.O_RDONLY | os.O_NONBLOCK)
        arguments = ("--start-at", "+60m", "--json", "out.json", "--csv", "out.csv")
        process = self.start(*(more or QUIET), *arguments, **options)

        def is_open():
            try:
                return os.read(stream, 1) != b""
            except BlockingIOError:  # somebody has it open, and writes nothing yet
                return True

        wait_until(lambda: is_open() or process.poll() is not None)
        return process, stream

    def began(self, name):
        return self.load(name)["start"]

    def test_every_result_tells_when_it_began(self):
        self.assert_succeeds(*QUIET, "--json", "run.json")
        self.assert_succeeds(*QUIET, "--processes", "2", "--json", "processes.json")
        self.assert_ends(UNTESTED, *LINK, "--json", "link.json")
        for name in ("run.json", "processes.json", "link.json"):
            start = self.began(name)
            self.assertIsNone(start["asked"])
            self.assertIsNone(start["by"])
            self.assertIsNone(start["late_s"])
            self.assertIsNotNone(start["began"])

    def test_a_time(self):
        self.assert_succeeds(*QUIET, "--start-at", "+200ms", "--json", "run.json")
        self.assert_succeeds(*QUIET, "--processes", "2", "--start-at", "+200ms", "--json", "processes.json")
        self.assert_ends(UNTESTED, *LINK, "--start-at", "+200ms", "--json", "link.json")
        for name in ("run.json", "processes.json", "link.json"):
            start = self.began(name)
            self.assertEqual(start["by"], "start-at")
            self.assertGreaterEqual(start["began"], start["asked"])
            self.assertGreaterEqual(start["late_s"], 0)
        for process in self.load("processes.json")["processes"]:
            self.assertIsNone(process["document"]["start"]["asked"])  # it waits once

    def test_the_time_is_waited_for(self):
        """It does not begin before a clock that stands still is put forward."""
        process, stream = self.start_in_an_hour(**self.hastened())
        self.put_forward(3600)
        self.assert_ended(0, process)
        os.close(stream)
        start = self.began("out.json")
        self.assertGreaterEqual(start["began"], start["asked"])

    def assert_kept(self, process, stream):
        """What another process wrote to out.json meanwhile stays, and the results lie beside it."""
        self.put_forward(3600)
        outcome = self.assert_ended(1, process)
        os.close(stream)
        self.assert_words(outcome.err, ("cannot put 'out.json' in its place", "%h and %r"), outcome)
        self.assertEqual(self.read("out.json"), "another's")
        (name,) = [name for name in os.listdir(self.folder) if name.startswith(".xferbench-")]
        self.assertTrue(self.load(name)["results"])

    def test_a_file_that_another_wrote_meanwhile_is_kept(self):
        """Ranks of a node that all write %h.json."""
        process, stream = self.start_in_an_hour(**self.hastened())
        self.write("out.json", "another's")
        self.assert_kept(process, stream)

    def test_a_file_that_another_replaced_meanwhile_is_kept(self):
        self.put_old("out.json")
        process, stream = self.start_in_an_hour(**self.hastened())
        os.rename(self.write("new", "another's"), self.path("out.json"))
        self.assert_kept(process, stream)

    def test_the_wait_is_no_part_of_what_is_left(self):
        terminal = Terminal()
        cases = (*harness.ONE, "--size", "64K..2M", "--time-limit", "300ms", "--warm-up", "1ms")
        process, stream = self.start_in_an_hour(*cases, terminal=terminal, **self.hastened())
        self.put_forward(3600)
        said = self.assert_ended(0, process).err
        os.close(stream)
        self.assertRegex(said, r"about \d+ s left")
        self.assertNotRegex(said, r"about \d+ (min|h) left")

    def test_a_signal_ends_the_wait(self):
        process, stream = self.start_in_an_hour()
        process.terminate()
        self.assert_ended(128 + 15, process)
        os.close(stream)
        document = self.load("out.json")
        self.assertIsNone(document["start"]["began"])
        self.assertTrue(document["interrupted"])

    def test_times_that_cannot_be(self):
        for words, time in (
            (("s ago",), "2026-01-01T00:00:00Z"),
            (("s ago",), "@1"),
            (("is no time",), "tomorrow"),
            (("is no time",), "2026-02-30T00:00:00Z"),
            (("is not a decimal number",), "+x"),
            (("days ahead",), "2999-01-01T00:00:00Z"),
        ):
            self.assert_usage(("--start-at: ", *words), *QUIET, "--start-at", time)
            self.assert_fails(UNTESTED, ("--start-at: ", *words), *LINK, "--start-at", time)
        self.assert_usage(("after --deadline",), *QUIET, "--start-at", "+60m", "--deadline", "1m")
        self.assert_fails(UNTESTED, ("after --deadline",), *LINK, "--start-at", "+60m")

    def test_dry_run_does_not_wait(self):
        self.assert_succeeds(*SMALL, "--dry-run", "--start-at", "+60m")
        self.assert_folder_has()


if __name__ == "__main__":
    harness.main()
