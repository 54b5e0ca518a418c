#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/examples/slurm-prolog.sh under a real Slurm, as HealthCheckProgram and as Prolog: a node
whose link test is CRITICAL drains itself. usage: test_slurm_health.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os

import cluster
from cluster import harness

EXAMPLE = os.path.join(harness.SOURCE, "scripts", "examples", "slurm-prolog.sh")
# Where the file "bad" names the node, a GPU is missing on it. Elsewhere nothing can be tested, because
# the made-up GPU has no link: UNKNOWN, which drains nobody.
XFERBENCH = f"""#!/bin/sh
! grep -qx "$SLURMD_NODENAME" {{folder}}/bad || set -- "$@" --count 2
exec {cluster.NODE_PROGRAM} "$@" --backend fake
"""
# Slurm sets no PATH, and this xferbench is not where the system has its programs.
SCRIPT = f"""#!/bin/sh
export PATH={{folder}}/bin:{cluster.PATH} SLURM_CONF={{folder}}/slurm.conf
exec {EXAMPLE}
"""


class Health(cluster.Case):
    NODES = 2

    def setUp(self):
        super().setUp()
        folder = self.cluster.folder
        cluster.write_program(f"{folder}/bin/xferbench", XFERBENCH.format(folder=folder))
        open(f"{folder}/bad", "w", encoding="ascii").close()
        cluster.write_program(f"{folder}/check.sh", SCRIPT.format(folder=folder))

    def assert_only_n2_drains(self):
        self.cluster.wait_until(lambda: self.cluster.states() == {"n1": "idle", "n2": "drain"})
        shown = self.cluster.run("scontrol", "show", "node", "n2")
        self.assertRegex(shown, r"Reason=xferbench link CRITICAL: GPU 1 XB-DEVICE-MISSING")

    def put_bad(self):
        with open(f"{self.cluster.folder}/bad", "w", encoding="ascii") as file:
            file.write("n2\n")


class HealthCheck(Health):
    CONFIGURATION = "HealthCheckProgram={folder}/check.sh\nHealthCheckInterval=1\nHealthCheckNodeState=IDLE\n"

    def test_a_bad_node_drains_itself(self):
        self.put_bad()
        self.assert_only_n2_drains()


class Prolog(Health):
    CONFIGURATION = "Prolog={folder}/check.sh\n"

    def test_a_job_goes_elsewhere(self):
        self.assertEqual(self.shell("srun -w n2 echo fine").out, "fine\n")
        self.put_bad()
        self.assertEqual(self.cluster.run("sbatch", "--parsable", "-w", "n2", "--wrap", "true").strip(), "2")
        self.assert_only_n2_drains()
        self.cluster.wait_until(lambda: self.cluster.run("squeue", "-h", "-o", "%T") == "PENDING\n")


if __name__ == "__main__":
    cluster.main(cluster.SLURM)
