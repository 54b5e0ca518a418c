#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs xferbench under Open MPI's mpirun, as docs/fleet.md says.
usage: test_mpi.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import shutil

import cluster
from cluster import harness

MEASURE = " ".join((harness.XFERBENCH, *harness.HOST, "--mode", "pinned", "--size", "64K", *harness.FEW))
# On any machine: more ranks than cores, and root.
ANYWHERE = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


class Mpi(cluster.Leaving):
    def mpirun(self, first):
        short = cluster.short_folder()
        self.addCleanup(shutil.rmtree, short)
        environment = ANYWHERE | {"PATH": cluster.PATH, "TMPDIR": short}
        command = cluster.documented(f"mpirun -np 4 --mca orte_abort_on_non_zero_status 0 {first}", MEASURE)
        self.assert_succeeds("-c", command, program="sh", environment=environment)

    def assert_ranks(self, documents):
        launchers = sorted((one["launcher"] for one in documents), key=lambda one: one["rank"])
        named = {"ranks": 4, "named_by": "OMPI_COMM_WORLD_RANK"}
        self.assertEqual(launchers, [{"rank": rank} | named for rank in range(4)])

    def test_a_file_for_each_rank(self):
        os.mkdir(self.path("results"))
        self.mpirun("xferbench link --json ")
        documents = {name: self.load("results", name) for name in os.listdir(self.path("results"))}
        self.assert_ranks(documents.values())
        for name, document in documents.items():
            self.assertEqual(name, f"{document['host']['node']}-{document['launcher']['rank']}.json")

    def test_a_line_for_each_rank(self):
        self.mpirun("--output-filename ")
        texts = [self.read("out", "1", f"rank.{rank}", "stdout") for rank in range(4)]
        self.assertEqual([text.count("\n") for text in texts], [1] * 4)
        self.assert_ranks([json.loads(text) for text in texts])


if __name__ == "__main__":
    cluster.main(cluster.MPI)
