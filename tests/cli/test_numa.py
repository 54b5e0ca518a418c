#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--numa: on this machine, whatever nodes it has, and on described ones.
usage: test_numa.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import unittest

import harness
from harness import FEW, HOST, ONE, SMALL
from measuring import Measuring

# hwloc describes that in place of this machine, and binds nothing.
TWO = {"HWLOC_SYNTHETIC": "numa:2 pu:2", "HWLOC_THISSYSTEM": "0"}
ANOTHER = "hwloc was told to describe another machine"
AXES = "(rows: NUMA nodes, columns: devices)"


@unittest.skipIf("hwloc" in harness.left_out(), "hwloc is not in this build")
class Numa(Measuring):
    """--numa."""

    def nodes_of(self, document):
        return [result["parameters"].get("numa") for result in document["results"]]

    def load_any(self, *arguments, **options):
        """The document of a run whose rows may be refused, and what was printed."""
        outcome = self.run_program(*arguments, "--json", "out.json", **options)
        self.assertIn(outcome.code, (0, 3), outcome)
        self.assertEqual(outcome.err, "")
        return self.load("out.json"), outcome.out

    def test_all_nodes_of_this_machine(self):
        """Each is a row and a cell; where it may not be bound to, it says so."""
        document, out = self.load_any(*SMALL, "--numa", "all")
        nodes = self.nodes_of(document)
        self.assertEqual(nodes, sorted(set(nodes)))
        self.assertGreaterEqual(len(nodes), 1)
        self.assertEqual(document["config"]["numa"], ["all"])
        for result in document["results"]:
            self.assertIn(result["status"], ("ok", "skipped"))
            if result["status"] == "ok":
                self.assertIn(result["details"]["host_memory_numa_nodes"], ("", str(result["parameters"]["numa"])))
        self.assertIn(AXES, out)
        only = "One cell a device: this machine has one NUMA node."
        self.assertEqual(only in out, document["host"]["numa_nodes"] == 1)
        self.assertIn(AXES, self.assert_succeeds("show", "out.json").out)
        self.assertIn("numa=", self.csv_of(*SMALL, "--numa", "all"))

    def csv_of(self, *arguments):
        outcome = self.run_program(*arguments, "--csv", "-")
        self.assertIn(outcome.code, (0, 3), outcome)
        return outcome.out

    def test_near_has_no_node(self):
        for words in ((), ("--numa", "near")):
            document, out = self.load_any(*SMALL, *words)
            self.assertEqual(self.nodes_of(document), [None])
            self.assertNotIn("NUMA nodes", out)
            self.assertEqual(document["config"]["numa"], ["near"])

    def test_nodes_that_cannot_be_had(self):
        document, out = self.load_any(*SMALL, "--numa", "1,0", environment=TWO)
        self.assertEqual(self.nodes_of(document), [1, 0])
        for result in document["results"]:
            self.assert_skipped(result, "NUMA node", ANOTHER)
        self.assertIn(AXES + "\n           0\n     0  skip\n     1  skip\n", out)
        self.assertIn("None is marked", out)

    def test_what_has_no_host_memory_is_measured_once(self):
        arguments = (*HOST, "--mode", "local,pinned", "--direction", "h2d,d2d", "--size", "4K", *FEW)
        document, _ = self.load_any(*arguments, "--numa", "all", environment=TWO)
        rows = [(result["mode"], result["parameters"].get("numa")) for result in document["results"]]
        self.assertEqual(rows, [("local", None), ("pinned", 0), ("pinned", 1)])
        self.assertEqual(document["results"][0]["status"], "ok")

    def test_processes_get_it(self):
        several = ("--processes", "2", "--json", "out.json")
        outcome = self.assert_ends(3, *SMALL, "--numa", "1", *several, environment=TWO)
        self.assertEqual(outcome.err.count("xferbench: nothing was measured: "), 2, outcome)  # each says it
        for process in self.load("out.json")["processes"]:
            self.assertEqual(process["document"]["config"]["numa"], ["1"])
            self.assertEqual(self.nodes_of(process["document"]), [1])
            self.assert_skipped(process["document"]["results"][0], ANOTHER)

    def test_another_node_is_another_case(self):
        """compare takes it neither for another node's nor for one near the device."""
        files = {"near": (), "zero": ("--numa", "0"), "one": ("--numa", "1")}
        for name, words in files.items():
            self.run_program(*SMALL, *words, "--json", name + ".json", environment=TWO)
        for baseline, candidate in (("near", "one"), ("zero", "one")):
            arguments = ("compare", baseline + ".json", candidate + ".json", "--format", "json", "--output", "c.json")
            self.run_program(*arguments)
            for case in self.load("c.json")["cases"]:
                self.assertEqual((case["parameters"]["numa"], case["same_settings"], case["ratio"]), (1, False, None))
                self.assertIn("measured with numa 1, the baseline with ", case["note"])

    def test_refused(self):
        words = "--numa: there is no NUMA node 7 with memory that this process may use; there are: 0, 1"
        self.assert_usage([words], *SMALL, "--numa", "7", "--json", "out.json", environment=TWO)
        self.assert_usage([words], *SMALL, "--numa", "7", "--processes", "2", environment=TWO)
        self.assert_usage(["'some' is no NUMA node"], *ONE, "--numa", "some", environment=TWO)
        self.assert_usage(["give 'all' alone"], *ONE, "--numa", "0,all", environment=TWO)
        self.assert_usage(["no effect"], *HOST, "--mode", "local", "--numa", "0", environment=TWO)
        self.assert_folder_has()


if __name__ == "__main__":
    harness.main()
