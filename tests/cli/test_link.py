#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`link` that measures: the stand-in of tests/doubles/hip_cpu is a GPU, at the PCI address of whatever lies on this
machine's bus. Formats, verdicts and command lines are in tests/golden/link.
usage: test_link.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re

import harness
from harness import SOURCE, Case, kill, needs_stand_in, stand_in, words_of

DEVICES = "/sys/bus/pci/devices"
ADDRESSES = sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else []
OK, WARNING, CRITICAL, UNKNOWN = range(4)


@needs_stand_in
class Link(Case):
    def setUp(self):
        super().setUp()
        if not ADDRESSES:
            self.skipTest("no PCI device on this machine")

    def steer(self, **steering):
        """One device, where a test does not want another number."""
        return stand_in(**{"DEVICES": "1", "PCI": ADDRESSES[0]} | steering)

    def link(self, *arguments, of="devices", **steering):
        """One attempt, where a test does not want another number: nobody learns more from the next. What was done,
        the document, and the codes of the reasons."""
        if "--attempts" not in arguments:
            arguments += ("--attempts", "1")
        command = ("link", "--backend", "hip", "--size", "16M", "--json", "link.json", *arguments)
        done = self.run_program(*command, environment=self.steer(**steering))
        self.assertIn(done.code, range(4), done)
        document = self.load("link.json")
        return done, document, [reason["code"] for one in document[of] for reason in one["verdict"]["reasons"]]

    def pairs(self, *arguments, **steering):
        """The first of two devices is on this machine's bus, the other only plays with it."""
        return self.link(*arguments, of="pairs", DEVICES="2", **steering)

    def test_what_is_measured(self):
        done, document, codes = self.link()
        (attempt,) = document["devices"][0]["attempts"]
        self.assertIn("stand-in", done.out)
        self.assertGreater(document["elapsed_s"], 0)
        self.assertEqual(document["backend"]["runtime_override"], "XFERBENCH_HIP_LIBRARY")
        self.assertGreater(min(attempt["h2d_bytes_per_second"], attempt["d2h_bytes_per_second"]), 0)
        self.assertEqual(attempt["at_rest"]["hops"][0]["lower"]["bdf"], ADDRESSES[0])
        self.assertNotIn("XB-TEST-FAILED", codes)
        _, document, codes = self.link("--device", "0", "--count", "2", DEVICES="2")
        self.assertEqual((len(document["devices"]), "XB-DEVICE-MISSING" in codes), (1, False))

    def test_limits_are_judged_whatever_the_link(self):
        done, document, codes = self.link("--min-h2d", "100000", "--attempts", "2")
        # UNKNOWN where this machine is busy: other work may be what slows copies down.
        self.assertEqual(done.code, {"CRITICAL": CRITICAL, "UNKNOWN": UNKNOWN}[document["level"]])
        self.assertIn("XB-BW-H2D", codes)
        self.assertIn("below the limit of 100000.00 GB/s (command line)", words_of(done.out))
        self.assertEqual(len(document["devices"][0]["attempts"]), 2)

    def test_what_goes_wrong(self):
        for code, reason, more, steering in (
            # A call that does not return: the first, for what is compiled stays in the cache.
            (UNKNOWN, "XB-DEADLINE", ("--deadline", "6s"), {"RTC_HANG": "1"}),
            (CRITICAL, "XB-DATA-WRONG", (), {"DAMAGE": "h2d"}),
            (UNKNOWN, "XB-TEST-FAILED", (), {"FAIL": "hipMemcpyAsync:1+"}),
        ):
            with self.subTest(reason=reason):
                done, document, codes = self.link(*more, **steering)
                self.assertEqual((done.code, reason in codes), (code, True), done)
                self.assertEqual("hipMemcpyAsync" in done.out, "FAIL" in steering)
                self.assertEqual(document["devices"][0]["attempts"] == [], "RTC_HANG" in steering)

    def test_pairs(self):
        done, document, codes = self.pairs("--verbose")
        self.assertEqual((codes, document["pairs_not_tested"]), ([], None))
        self.assertEqual([(pair["from"], pair["to"]) for pair in document["pairs"]], [(0, 1), (1, 0)])
        for pair in document["pairs"]:
            (attempt,) = pair["attempts"]
            self.assertGreater(attempt["bytes_per_second"], 0)
            self.assertTrue(attempt["there"]["direct"])
            # HIP does not tell how many links there are: nothing to be held against.
            self.assertIsNone(pair["verdict"]["limits"]["critical_below_bytes_per_second"])
        self.assertRegex(done.out, r"(?m)^GB/s, FROM +TO 0 +TO 1$")
        self.assertEqual(self.run_program("show", "link.json", "--verbose").out, done.out)
        done, document, _ = self.pairs("--no-peers")
        self.assertEqual((document["pairs"], document["pairs_not_tested"]),
                         ([], "--no-peers leaves pairs of devices out"))
        self.assertIn("Pairs: not tested: --no-peers", done.out)

    def test_pairs_that_are_slow_or_wrong(self):
        done, document, codes = self.pairs("--min-peer", "9999", "--attempts", "2")
        self.assertEqual((done.code, codes), (CRITICAL, ["XB-BW-PEER"] * 2))
        self.assertEqual([len(pair["attempts"]) for pair in document["pairs"]], [2, 2])
        limits = [{"gpu": "*", "min_peer_gbs": 9999}]
        self.write_json("limits.json", {"schema": "xferbench.limits", "schema_version": 1, "limits": limits})
        _, document, codes = self.pairs("--limits", "limits.json")
        self.assertEqual((codes, document["pairs"][0]["verdict"]["limits"]["source"]), (["XB-BW-PEER"] * 2, "file"))
        done, document, codes = self.pairs(DAMAGE="peer")
        self.assertEqual((done.code, codes), (CRITICAL, ["XB-DATA-WRONG"] * 2))
        reasons = [reason["code"] for device in document["devices"] for reason in device["verdict"]["reasons"]]
        self.assertNotIn("XB-DATA-WRONG", reasons)

    def test_nobody_is_left_behind(self):
        """The reader of a pipe sees its end: whoever still had it open would keep it."""
        done, _, _ = self.link("--deadline", "1s", "--format", "nagios", RTC_HANG="1")
        # On a busy machine the deadline may come before the call that hangs.
        self.assertTrue(re.match(r"XFERBENCH LINK UNKNOWN - ", done.out), done.out)

    def test_driver_that_crashes_is_unknown(self):
        """The process that measures is killed while the stand-in compiles; a FIFO tells when that is."""
        compiling = self.path("compiling")
        os.mkfifo(compiling)
        steer = self.steer(RTC_HANG="1", RTC_COUNT=compiling)
        process = self.start("link", "--backend", "hip", "--format", "nhc", environment=steer)
        with open(compiling, encoding="ascii") as file:
            file.readline()
        (child,) = harness.children_of(process.pid)
        kill(child)
        self.assertIn("XB-INTERRUPTED", self.assert_ended(UNKNOWN, process).out)

    def test_what_needs_no_link(self):
        example = os.path.join(SOURCE, "docs/limits.example.json")
        self.assertIn(": UNKNOWN: ", self.assert_ends(UNKNOWN, "link", "--limits", example, "--backend", "host").out)
        if not os.path.exists("/dev/kfd"):
            done = self.assert_ends(UNKNOWN, "link", "--backend", "hip", "--format", "nagios")
            self.assertRegex(done.out, r"\AXFERBENCH LINK UNKNOWN - hip: .+\n\Z")


if __name__ == "__main__":
    harness.main()
