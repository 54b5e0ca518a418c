#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs xferbench on eight nodes of a real Slurm, and judges them: the commands of docs/fleet.md. The
figures are made up (tests/doubles/fleet_node.c), so that the machine's load makes no difference.
usage: test_slurm.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os

import cluster
from cluster import harness

MEASURE = "xferbench --mode pinned --size 64K --samples 6 --time-limit 1ms"
TO_FILES = cluster.documented("srun -N8 xferbench link --json", MEASURE)
EACH_NODE = "for node in $(sinfo --noheader --Node --format=%N | sort -u); do\n        "
TO_STREAM = cluster.documented(f"{EACH_NODE}srun", MEASURE)


class Fleet(cluster.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("results"))

    def judge(self, code, options=""):
        """The nodes to take out of service."""
        return self.shell(f"xferbench fleet results --format nodelist {options}", code).out.split()

    def test_a_fleet_without_outliers(self):
        self.shell(TO_FILES)
        self.assertEqual(sorted(os.listdir(self.path("results"))), [f"{name}.json" for name in self.cluster.names])
        for rank, name in enumerate(self.cluster.names):
            document = self.load("results", f"{name}.json")
            self.assertEqual(document["host"]["node"], name)
            self.assertEqual((document["launcher"]["rank"], document["launcher"]["ranks"]), (rank, 8))
        self.assertEqual(self.judge(0, "--expect-hosts 'n[1-8]'"), [])
        self.shell(TO_STREAM)

    def test_the_slow_node_is_found(self):
        self.shell(TO_FILES, XB_SLOW_NODE="n3")
        self.assertEqual(self.judge(1), ["n3"])
        self.assertIn("n3", self.shell("xferbench fleet results", code=1).out)
        stream = self.shell(f"{TO_STREAM} --format nodelist", code=1, XB_SLOW_NODE="n3")
        self.assertEqual(stream.out.split(), ["n3"])

    def test_the_slow_node_is_drained(self):
        self.addCleanup(self.cluster.run, "scontrol", "update", "nodename=n5", "state=resume", may_fail=True)
        self.shell(TO_FILES, XB_SLOW_NODE="n5")
        self.shell(cluster.documented("nodes=", MEASURE))
        self.assertEqual(self.cluster.states(), dict.fromkeys(self.cluster.names, "idle") | {"n5": "drain"})
        self.assertIn("Reason=xferbench fleet", self.cluster.run("scontrol", "show", "node", "n5"))

    def test_a_node_that_dies_while_it_measures_is_missing(self):
        died = self.shell(TO_FILES, code=137, XB_DYING_NODE="n4")
        self.assertIn("Killed", died.err)
        self.assertEqual(len(os.listdir(self.path("results"))), 7)
        self.assert_missing("n4")

    def test_a_node_that_was_down_is_missing(self):
        self.cluster.run("scontrol", "update", "nodename=n8", "state=down", "reason=test")
        self.addCleanup(self.cluster.run, "scontrol", "update", "nodename=n8", "state=resume", may_fail=True)
        self.shell(TO_FILES.replace("-N8", "-N7"))
        self.assert_missing("n8")

    def assert_missing(self, name):
        self.assertEqual(self.judge(1, "--expect-hosts 'n[1-8]'"), [name])
        said = self.shell("xferbench fleet results --expect-hosts 'n[1-8]' --format csv", code=1).out
        self.assertTrue(any(name in line and "missing" in line for line in said.splitlines()), said)

    def wait_for_jobs(self):
        self.cluster.wait_until(lambda: self.cluster.run("squeue", "-h") == "")

    def test_a_batch_script(self):
        self.write("fleet.sh", cluster.documented("#!/bin/sh", MEASURE))
        self.shell("sbatch -N8 --output=job.txt fleet.sh", XB_SLOW_NODE="n6")
        self.wait_for_jobs()
        self.assertIn("n6", self.read("fleet.txt"), self.read("job.txt"))

    def test_a_job_for_each_node(self):
        self.shell(cluster.documented(f"{EACH_NODE}sbatch", MEASURE), XB_SLOW_NODE="n2")
        self.wait_for_jobs()
        self.assertEqual(self.judge(1, "--expect-hosts 'n[1-8]'"), ["n2"])


if __name__ == "__main__":
    cluster.main(cluster.SLURM)
