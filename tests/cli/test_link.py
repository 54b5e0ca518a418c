#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench link` from outside. Where a GPU is wanted, the stand-in of tests/doubles/hip_cpu is one, at
the PCI address of whatever lies on this machine's bus.
usage: test_link.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import os
import re

import harness
from harness import SOURCE, STAND_IN, Case, kill

DEVICES = "/sys/bus/pci/devices"


def addresses():
    return sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else []


class Link(Case):
    def run_link(self, *arguments, environment=None):
        done = self.run_program("link", *arguments, environment=environment)
        self.assertIn(done.code, (0, 1, 2, 3), done)
        return done

    def steer(self, **environment):
        """One device of the stand-in."""
        if not STAND_IN:
            self.skipTest("the HIP backend is not in this build")
        if not addresses():
            self.skipTest("no PCI device on this machine")
        own = {"XFERBENCH_HIP_LIBRARY": STAND_IN, "XDG_CACHE_HOME": self.folder}
        return own | {"XB_STANDIN_DEVICES": "1", "XB_STANDIN_PCI": addresses()[0]} | environment

    def stand_in(self, *arguments, **environment):
        """One attempt, where a test does not want another number: nobody learns more from the next."""
        if "--attempts" not in arguments:
            arguments += ("--attempts", "1")
        return self.run_link("--backend", "hip", "--size", "16M", *arguments, environment=self.steer(**environment))

    def codes(self, name="link.json", of="devices"):
        document = self.load(name)
        self.assertEqual(document["schema"], "xferbench.link")
        return document, [reason["code"] for one in document[of] for reason in one["verdict"]["reasons"]]

    def pairs(self, *arguments, **environment):
        """The first of two devices is on this machine's bus, the other only plays with it. Returns what
        was done, the document, and the codes of the pairs' reasons."""
        environment = {"XB_STANDIN_DEVICES": "2"} | environment
        done = self.stand_in("--json", "link.json", *arguments, **environment)
        return done, *self.codes(of="pairs")

    # ---- what cannot be tested is UNKNOWN ----

    def test_host_has_no_link(self):
        done = self.run_link("--backend", "host", "--json", "link.json")
        self.assertEqual(done.code, 3)
        answer = " ".join(done.out.split())  # a long host name wraps it
        self.assertRegex(answer, r"\ANode .*?: UNKNOWN: 1 of 1 GPU \(.*?\) is not OK, \d")
        self.assertEqual(self.codes()[1], ["XB-LINK-NONE"])

    def test_no_gpu(self):
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine may have a GPU")
        done = self.run_link("--backend", "hip", "--format", "nagios")
        self.assertEqual(done.code, 3)
        self.assertRegex(done.out, r"\AXFERBENCH LINK UNKNOWN - hip: .+\n\Z")

    def test_command_lines_that_are_wrong(self):
        """2 would say that a link is broken."""
        for word, *arguments in (
            ("gen5x16", "--expect", "gen9x16"),
            ("gen5x16", "--expect", "x7"),
            ("GB/s", "--min-h2d", "fast"),
            ("GB/s", "--min-d2h", "-1"),
            ("GB/s", "--min-d2h", "1e3"),
            ("GB/s", "--min-peer", "300GB"),
            ("no pair is tested: --no-peers", "--backend", "host", "--no-peers", "--min-peer", "300"),
            ("no backend", "--backend", "cudda"),
            ("--format takes one word", "--format", "table,nagios"),
            ('did you mean "nagios"', "--format", "nagious"),
            ("from 1 to 10", "--attempts", "11"),
            ("missing.json", "--limits", "missing.json"),
            ("'1'", "--backend", "host", "--device", "1"),
            ("'frobnicate'", "frobnicate"),
            ("nowhere", "--output", "nowhere/x.prom"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_link(*arguments)
                self.assertEqual(done.code, 3)
                self.assertIn(word, done.err)
                self.assertEqual(done.out, "")

    def test_limits_file_names_what_is_wrong(self):
        limits = [{"min_h2d_gbs": "48"}]
        self.write_json("limits.json", {"schema": "xferbench.limits", "schema_version": 1, "limits": limits})
        done = self.run_link("--limits", "limits.json", "--backend", "host")
        self.assertEqual(done.code, 3)
        for word in ("limits.json", "min_h2d_gbs"):
            self.assertIn(word, done.err)

    def test_example_of_limits_is_accepted(self):
        done = self.run_link("--limits", os.path.join(SOURCE, "docs/limits.example.json"), "--backend", "host")
        self.assertIn(": UNKNOWN: ", done.out)

    def test_missing_devices_are_critical(self):
        done = self.run_link("--backend", "host", "--count", "2", "--json", "link.json")
        self.assertEqual(done.code, 2)
        self.assertEqual(self.codes()[1], ["XB-LINK-NONE", "XB-DEVICE-MISSING"])

    def test_devices_that_are_not_chosen_are_not_missing(self):
        self.stand_in("--device", "0", "--count", "2", "--json", "link.json", XB_STANDIN_DEVICES="2")
        document, codes = self.codes()
        self.assertEqual(len(document["devices"]), 1)
        self.assertNotIn("XB-DEVICE-MISSING", codes)

    def test_errors_have_a_line_for_who_reads_lines(self):
        done = self.run_link("--format", "nagios", "--limits", "missing.json")
        self.assertRegex(done.out, r"\AXFERBENCH LINK UNKNOWN - .*missing\.json.*\n\Z")

    # ---- formats ----

    def test_formats(self):
        nagios = self.run_link("--backend", "host", "--format", "nagios").out
        self.assertEqual(nagios.count("\n"), 1)
        nhc = self.run_link("--backend", "host", "--format", "nhc").out
        self.assertRegex(nhc, r"\A[^\n]*XB-LINK-NONE[^\n]*\n\Z")
        metrics = self.run_link("--backend", "host", "--format", "prometheus").out
        self.assertIn("\nxferbench_link_node_status 3\n", metrics)

    def test_output_goes_to_a_file(self):
        done = self.run_link("--backend", "host", "--format", "prometheus", "--output", "x.prom")
        self.assertEqual((done.code, done.out), (3, ""))
        self.assert_folder_has("x.prom")

    def test_json_on_standard_output_is_alone_there(self):
        done = self.run_link("--backend", "host", "--json", "-")
        self.assertEqual(json.loads(done.out)["level"], "UNKNOWN")

    def test_help(self):
        done = self.run_link("--help")
        self.assertEqual(done.code, 0)
        for option in ("--expect", "--min-h2d", "--limits", "--attempts", "--deadline", "--format"):
            self.assertIn(option, done.out)

    # ---- a GPU that is none ----

    def test_stand_in_is_measured(self):
        done = self.stand_in("--json", "link.json")
        document, codes = self.codes()
        attempt = document["devices"][0]["attempts"][0]
        self.assertIn("stand-in", done.out)
        self.assertGreater(document["elapsed_s"], 0)
        self.assertEqual(document["backend"]["runtime_override"], "XFERBENCH_HIP_LIBRARY")
        self.assertGreater(attempt["h2d_bytes_per_second"], 0)
        self.assertGreater(attempt["d2h_bytes_per_second"], 0)
        self.assertEqual(attempt["at_rest"]["hops"][0]["lower"]["bdf"], addresses()[0])
        self.assertNotIn("XB-TEST-FAILED", codes)

    def test_limits_are_judged_whatever_the_link(self):
        done = self.stand_in("--min-h2d", "100000", "--attempts", "2", "--json", "link.json")
        document, codes = self.codes()
        # UNKNOWN where this machine is busy: other work may be what slows copies down.
        self.assertEqual(done.code, {"CRITICAL": 2, "UNKNOWN": 3}[document["level"]])
        self.assertIn("XB-BW-H2D", codes)
        self.assertIn("below the limit of 100000.00 GB/s (command line)", " ".join(done.out.split()))
        self.assertEqual(len(document["devices"][0]["attempts"]), 2)

    def test_wrong_data_is_critical(self):
        done = self.stand_in("--json", "link.json", XB_STANDIN_DAMAGE="h2d")
        self.assertEqual(done.code, 2)
        self.assertIn("XB-DATA-WRONG", self.codes()[1])

    def test_pairs_are_measured(self):
        done, document, codes = self.pairs("--verbose")
        self.assertEqual(codes, [])
        self.assertEqual([(pair["from"], pair["to"]) for pair in document["pairs"]], [(0, 1), (1, 0)])
        self.assertIsNone(document["pairs_not_tested"])
        for pair in document["pairs"]:
            (attempt,) = pair["attempts"]
            self.assertGreater(attempt["bytes_per_second"], 0)
            self.assertTrue(attempt["there"]["direct"])
            # HIP does not tell how many links there are: nothing to be held against.
            self.assertIsNone(pair["verdict"]["limits"]["critical_below_bytes_per_second"])
        self.assertRegex(done.out, r"(?m)^GB/s, FROM +TO 0 +TO 1$")
        shown = self.run_program("show", "link.json", "--verbose")
        self.assertEqual(shown.out, done.out)

    def test_pairs_are_left_out(self):
        done, document, _ = self.pairs("--no-peers")
        self.assertEqual(document["pairs"], [])
        self.assertIn("Pairs: not tested: --no-peers", done.out)
        self.assertEqual(document["pairs_not_tested"], "--no-peers leaves pairs of devices out")

    def test_slow_pairs_are_critical(self):
        done, document, codes = self.pairs("--min-peer", "9999", "--attempts", "2")
        self.assertEqual(done.code, 2)
        self.assertEqual(codes, ["XB-BW-PEER"] * 2)
        self.assertEqual([len(pair["attempts"]) for pair in document["pairs"]], [2, 2])

    def test_limits_of_pairs_come_from_a_file(self):
        limits = [{"gpu": "*", "min_peer_gbs": 9999}]
        self.write_json("limits.json", {"schema": "xferbench.limits", "schema_version": 1, "limits": limits})
        _, document, codes = self.pairs("--limits", "limits.json")
        self.assertEqual(codes, ["XB-BW-PEER"] * 2)
        self.assertEqual(document["pairs"][0]["verdict"]["limits"]["source"], "file")

    def test_wrong_data_between_devices_is_critical(self):
        done, _, codes = self.pairs(XB_STANDIN_DAMAGE="peer")
        self.assertEqual(done.code, 2)
        self.assertEqual(codes, ["XB-DATA-WRONG"] * 2)
        self.assertNotIn("XB-DATA-WRONG", self.codes()[1])

    def test_copy_that_fails_is_unknown(self):
        done = self.stand_in("--json", "link.json", "--attempts", "1", XB_STANDIN_FAIL="hipMemcpyAsync:1+")
        self.assertEqual(done.code, 3)
        self.assertIn("XB-TEST-FAILED", self.codes()[1])
        self.assertIn("hipMemcpyAsync", done.out)

    def test_deadline_is_kept_where_a_call_does_not_return(self):
        done = self.stand_in("--json", "link.json", "--deadline", "2s", XB_STANDIN_RTC_HANG="1")
        document, codes = self.codes()
        self.assertEqual(done.code, 3)
        self.assertEqual(codes, ["XB-DEADLINE"])
        self.assertEqual(document["devices"][0]["attempts"], [])

    def test_nobody_is_left_behind(self):
        """The reader of a pipe sees its end: whoever still had it open would keep it."""
        done = self.stand_in("--deadline", "1s", "--format", "nagios", XB_STANDIN_RTC_HANG="1")
        self.assertTrue(re.match(r"XFERBENCH LINK UNKNOWN - .*XB-DEADLINE", done.out), done.out)

    def test_driver_that_crashes_is_unknown(self):
        """The process that measures is killed while the stand-in compiles; a FIFO tells when that is."""
        compiling = self.path("compiling")
        os.mkfifo(compiling)
        steer = self.steer(XB_STANDIN_RTC_HANG="1", XB_STANDIN_RTC_COUNT=compiling)
        process = self.start("link", "--backend", "hip", "--format", "nhc", environment=steer)
        with open(compiling, encoding="ascii") as file:
            file.readline()
        (child,) = harness.children_of(process.pid)
        kill(child)
        done = self.finish(process)
        self.assertEqual(done.code, 3)
        self.assertIn("XB-INTERRUPTED", done.out)


if __name__ == "__main__":
    harness.main()
