#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program says of libraries that its build left out: xferbench_bare has none that it can do without.
usage: test_left_out.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json

import harness
from harness import FEW, HOST, SMALL, program_of_build
from measuring import Measuring

BARE = program_of_build("tests", "xferbench_bare")
ALL = ["hwloc", "liblz4", "liburing", "libsqlite3", "zlib"]
COMPRESS = (*HOST, "--mode", "compress", "--timed", "sent", "--data", "zeros", "--size", "64K", *FEW)


class LeftOut(Measuring):
    def bare(self, code, *arguments):
        outcome = self.run_program(*arguments, program=BARE)
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def test_list(self):
        self.assertEqual(json.loads(self.bare(0, "list", "--json", "-").out)["left_out"], ALL)
        self.assertRegex(
            " ".join(self.bare(0, "list").out.split()),
            "Left out of this build hwloc threads and memory are not bound to NUMA nodes, and --numa is refused "
            "liblz4 the mode compress skips --codec lz4 liburing files are read by preadv instead of io_uring "
            "libsqlite3 explain reads no export of Nsight Systems zlib explain reads no gzipped trace Modes",
        )

    def test_nothing(self):
        """Where all are there, nothing is said of them."""
        self.assertEqual("Left out of this build" in self.assert_succeeds("list").out, harness.left_out() != [])

    def test_run(self):
        outcome = self.bare(0, *SMALL, "--verbose", "--json", "out.json")
        header = "\n  left out hwloc, liblz4, liburing, libsqlite3, zlib\n"
        self.assertIn(header, outcome.out)
        self.assertEqual(self.load("out.json")["tool"]["left_out"], ALL)
        self.assertIn(header, self.assert_succeeds("show", "out.json", "--verbose").out)  # whatever shows it

    def test_numa(self):
        """Refused, never ignored."""
        words = "--numa needs hwloc, which is not in this build"
        for nodes in ("0", "all", "some"):
            self.assertIn(words, self.bare(2, *SMALL, "--numa", nodes).err)
        self.bare(0, *SMALL, "--numa", "near")

    def test_codec(self):
        reason = "liblz4 is not in this build"
        self.bare(0, *COMPRESS, "--json", "out.json")
        for result in self.load("out.json")["results"]:
            if result["parameters"]["codec"] == "lz4":
                self.assert_skipped(result, reason)
            else:
                self.assertEqual(result["status"], "ok")
        self.assertIn(reason, self.bare(3, *COMPRESS, "--codec", "lz4").out)

    def test_files(self):
        self.bare(0, *HOST, "--mode", "pipeline", "--io", "direct", "--order", "serial", "--size", "64K", *FEW,
                  "--json", "out.json")
        (result,) = self.load("out.json")["results"]
        if result["status"] == "ok":  # not every file system can read past the page cache
            self.assertIn("preadv: io_uring is not in this build", json.dumps(result))


if __name__ == "__main__":
    harness.main()
