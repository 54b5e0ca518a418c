#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a launcher needs that starts the program on many nodes: names, lines, and a common start.
usage: test_many_nodes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import socket

import harness
from harness import HOST, SMALL, Case, Terminal, check_schema, rows_of_csv, wait_until

QUIET = (*SMALL, "--quiet")
LINK = ("link", *HOST)
# The host has no link to test: UNKNOWN.
UNTESTED = 3


def slurm(rank, ranks, node="gpu007"):
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(ranks), "SLURMD_NODENAME": node}


class Names(Case):
    """Which node, which rank."""

    def test_a_result_names_its_node_and_rank(self):
        own = socket.gethostname()
        for environment, node, launcher in (
            (slurm(2, 4), ("gpu007", "SLURMD_NODENAME"), {"rank": 2, "ranks": 4, "named_by": "SLURM_PROCID"}),
            ({}, (own, None), None),
            ({"XFERBENCH_NODE": "rack3", "OMPI_COMM_WORLD_RANK": "1"}, ("rack3", "XFERBENCH_NODE"),
             {"rank": 1, "ranks": None, "named_by": "OMPI_COMM_WORLD_RANK"}),
        ):
            for code, *command in ((0, *SMALL), (UNTESTED, *LINK)):
                with self.subTest(environment=environment, command=command):
                    out = self.assert_ends(code, *command, "--json", "out.json", environment=environment).out
                    document = self.load("out.json")
                    host = document["host"]
                    self.assertEqual((host["node"], host["node_named_by"], host["hostname"]), (*node, own))
                    self.assertEqual(document["launcher"], launcher)
                    told = f"ode {node[0]} (host {own})" if node[0] != own else f"ode {own}"
                    for text in (out, self.assert_succeeds("show", "out.json").out):
                        self.assertIn(told, text)
        environment = {"XFERBENCH_NODE": "rack3"}
        self.assert_succeeds(*QUIET, "--csv", "out.csv", environment=environment)
        (row,) = rows_of_csv(self.read("out.csv"))
        self.assertEqual((row["hostname"], row["node"]), (own, "rack3"))
        self.assertIn("Node rack3 (host ", self.assert_succeeds("list", environment=environment).out)

    def test_other_ranks_and_names_are_no_other_conditions(self):
        """Several nodes' or ranks' files of one machine can be compared."""
        for rank in range(2):
            environment = slurm(rank, 2, f"alias{rank}")
            self.assert_succeeds(*QUIET, "--processes", "2", "--json", f"{rank}.json", environment=environment)
        document = json.loads(self.run_program("compare", "0.json", "1.json", "--format", "json").out)
        names = [difference["name"] for difference in document["differences"]]
        self.assertFalse([name for name in names if re.search("node|rank|launch|start", name)], names)

    def test_what_is_no_name_is_refused(self):
        """But what only reads files names no node."""
        for value in ("..", "a/b", "a\nb", "x" * 300):
            self.assert_usage(("XFERBENCH_NODE",), *QUIET, environment={"XFERBENCH_NODE": value})
        self.assert_fails(UNTESTED, ("SLURM_PROCID",), *LINK, environment={"SLURM_PROCID": "one"})
        self.assert_succeeds(*QUIET, "--json", "out.json")
        environment = {"XFERBENCH_NODE": "..", "SLURM_PROCID": "one"}
        job = ("--in", "4K", "--out", "4K", "--gpu-time", "2ms")
        for command in (("show",), ("report", "--output", "out.html"), ("advise", *job)):
            outcome = self.run_program(*command, "out.json", environment=environment)
            self.assertNotRegex(outcome.err, "XFERBENCH_NODE|SLURM_PROCID", outcome)


class Files(Case):
    """Documents in one line. %h, %t and %r in names of files: tests/golden/run/names-of-files."""

    def test_one_document_is_one_line(self):
        for code, *arguments in ((0, *QUIET), (0, *QUIET, "--processes", "2"), (UNTESTED, *LINK)):
            outcome = self.assert_ends(code, *arguments, "--json-lines", "-")
            self.assertEqual((outcome.out.count("\n"), outcome.out[-2:]), (1, "}\n"))
            check_schema(json.loads(outcome.out))
        self.assert_folder_has()

    def test_many_write_to_one_pipe(self):
        """Each line is whole, because each is given to the kernel at once."""
        reading, writing = os.pipe()
        lines = (*QUIET, "--json-lines", "-")
        processes = [self.start(*lines, environment=slurm(rank, 6), stdout=writing) for rank in range(6)]
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            documents = [json.loads(line) for line in stream.read().splitlines()]
        for process in processes:
            self.assert_ended(0, process)
        for document in documents:
            check_schema(document)
        self.assertEqual(sorted(document["launcher"]["rank"] for document in documents), list(range(6)))


class Start(Case):
    """Nodes that begin at once."""

    def start_in_an_hour(self, *more, **options):
        """A program that has opened its outputs and waits, and the pipe that it writes its CSV to."""
        os.mkfifo(self.path("out.csv"))
        stream = os.open(self.path("out.csv"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, stream)
        arguments = ("--start-at", "+60m", "--json", "out.json", "--csv", "out.csv")
        process = self.start(*(more or QUIET), *arguments, **options)

        def is_open():
            try:
                return os.read(stream, 1) != b""
            except BlockingIOError:  # somebody has it open, and writes nothing yet
                return True

        wait_until(lambda: is_open() or process.poll() is not None)
        return process

    def test_every_result_tells_when_it_began(self):
        """And when it was to begin; of several processes, it waits once."""
        for asked in ((), ("--start-at", "+200ms")):
            for code, *command in ((0, *QUIET), (0, *QUIET, "--processes", "2"), (UNTESTED, *LINK)):
                self.assert_ends(code, *command, *asked, "--json", "out.json")
                document = self.load("out.json")
                start = document["start"]
                self.assertEqual(start["by"], "start-at" if asked else None)
                if asked:
                    self.assertGreaterEqual(start["began"], start["asked"])
                    self.assertGreaterEqual(start["late_s"], 0)
                else:
                    self.assertEqual((start["asked"], start["late_s"], start["began"] is None), (None, None, False))
                for process in document.get("processes", ()):
                    self.assertIsNone(process["document"]["start"]["asked"])

    def test_the_time_is_waited_for(self):
        """It does not begin before a clock that stands still is put forward; and the wait is no part of what is
        left."""
        cases = (*harness.ONE, "--size", "64K..2M", "--time-limit", "300ms", "--warm-up", "1ms")
        process = self.start_in_an_hour(*cases, terminal=Terminal(), **self.hastened())
        self.put_forward(3600)
        said = self.assert_ended(0, process).err
        start = self.load("out.json")["start"]
        self.assertGreaterEqual(start["began"], start["asked"])
        self.assertRegex(said, r"about \d+ s left")
        self.assertNotRegex(said, r"about \d+ (min|h) left")

    def test_a_file_that_another_wrote_meanwhile_is_kept(self):
        """New or replaced: ranks of a node that all write %h.json. The results lie beside it."""
        for is_there in (False, True):
            if is_there:
                self.put_old("out.json")
            process = self.start_in_an_hour(**self.hastened())
            os.rename(self.write("new", "another's"), self.path("out.json"))
            self.put_forward(3600)
            outcome = self.assert_ended(1, process)
            self.assert_words(outcome.err, ("cannot put 'out.json' in its place", "%h and %r"), outcome)
            self.assertEqual(self.read("out.json"), "another's")
            (name,) = [name for name in os.listdir(self.folder) if name.startswith(".xferbench-")]
            self.assertTrue(self.load(name)["results"])
            for name in (name, "out.json", "out.csv", "clock-ahead"):
                os.unlink(self.path(name))

    def test_a_signal_ends_the_wait(self):
        process = self.start_in_an_hour()
        process.terminate()
        self.assert_ended(128 + 15, process)
        document = self.load("out.json")
        self.assertEqual((document["start"]["began"], document["interrupted"]), (None, True))


if __name__ == "__main__":
    harness.main()
