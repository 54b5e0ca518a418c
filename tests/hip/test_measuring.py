#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: what is measured, and what is said of what measured it.
usage: test_measuring.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import os
import shutil

from stand_in import ARCHITECTURE, CAPABILITIES, HIP, MULTIPROCESSORS, OVERRIDE, SMALL, STAND_IN, HipCase, harness


class Works(HipCase):
    """Nothing fails: what is measured, and what is said of what measured it."""

    def check_backend(self, outcome):
        document = outcome.document
        backend = document["backend"]
        self.assertEqual(backend["name"], "hip")
        self.assertEqual(backend["runtime_version"], "99.0.0")
        self.assertEqual(backend["runtime_library"], STAND_IN)
        self.assertEqual(backend["runtime_override"], OVERRIDE)
        self.assertIn(OVERRIDE, document["environment"])
        self.assertEqual([device["index"] for device in document["devices"]], [0, 1])
        for device in document["devices"]:
            self.assertIn("stand-in", device["name"])
            self.assertEqual(device["architecture"], "gfx90a")
            self.assertEqual(device["uuid"], f"GPU-feedc0de{device['index']:08x}")
            self.check_facts(device["facts"])

    def check_facts(self, facts):
        told = {key: facts.get(key) for key in ("xnack", "integrated", "large_bar")}
        self.assertEqual(told, {"xnack": "on", "integrated": "no", "large_bar": "yes"})
        self.assertEqual(facts["pageable_access"], "yes, by page faults (HMM)")
        self.assertEqual(facts["architecture_full"], ARCHITECTURE)
        for key in ("copies", "hardware_queues", "host_memory_flags", "kernels"):
            self.assertTrue(facts.get(key), facts)

    def assert_works(self, outcome, *_):
        """All of it, and a warning of every row names the library; a long path is cut."""
        self.assert_all_ok(outcome)
        for row in outcome.rows():
            found = [w for w in row["warnings"] if OVERRIDE in w and f"measured with {STAND_IN[:150]}" in w]
            self.assertEqual(len(found), 1, (row["warnings"], row, outcome.label))

    def works(self, *arguments, **options):
        outcome = self.check_outcome(self.measure(*arguments, **options))
        self.assert_works(outcome)
        return outcome

    def test_all_modes_on_two_devices(self):
        outcome = self.works("--mode", "all", "--device", "all", "--by", "engine,kernel", "--csv", "out.csv")
        self.assertEqual({row["device"] for row in outcome.rows()}, {0, 1})
        self.assertEqual({row["mode"] for row in outcome.rows()}, set(harness.MOVING))
        self.check_backend(outcome)
        for row in outcome.rows("peer"):
            # A staged copy goes through the host, whatever links the two.
            expected = (None, None) if row["variant"] == "staged" else ("xGMI", 1)
            found = tuple(row["details"].get(key) for key in ("link", "link_hops"))
            self.assertEqual(found, expected, row)
        for row in outcome.rows("pinned"):
            self.assertEqual(row["details"]["held"], "yes", row)
            reader = "device" if row["direction"] == "h2d" else "host"
            self.assertEqual(row["details"]["verified_by"], reader, row)
        with open(os.path.join(outcome.folder, "out.csv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(len(lines), len(outcome.rows()))
        for line in lines:
            self.assertEqual(line["backend"], "hip", line)
            self.assertIn("stand-in", line["device_name"])
            self.assertIn(OVERRIDE, line["warnings"])

    def test_variants(self):
        """What all modes do not try of themselves."""
        rest = ("--direction", "both")
        self.in_parallel(
            self.measure,
            self.assert_works,
            (
                ("--mode", "pinned", "--host-memory", "registered,alloc", *rest),
                ("--mode", "async", "--host-memory", "registered,alloc,pageable", *rest),
                ("--mode", "pinned,async,double-buffer,zero-copy", "--direction", "bidir"),
                ("--mode", "zero-copy", "--access", "sequential,strided,random", *rest),
                ("--mode", "managed", "--managed", "fault,prefetch,advise", *rest),
                ("--mode", "pinned,zero-copy", "--latency", *rest),
                ("--mode", "pinned", "--device", "1", *rest),
            ),
        )

    def test_loads(self):
        """Of as much memory as they take, by a block of one thread for each multiprocessor."""
        orders = ("--access", "sequential,strided,random")
        outcome = self.run_program(
            *(*HIP, "--mode", "loads,peer-loads", *orders, "--samples", "2", "--time-limit", "1us"),
            *("--warm-up", "1us", "--json", "out.json", "--quiet"),
        )
        self.check_outcome(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual(len(outcome.rows("loads")), 6)
        self.assertEqual(len(outcome.rows("peer-loads")), 6)
        for row in outcome.rows("peer-loads"):
            self.assertEqual(row["details"]["link"], "xGMI", row)

    def test_pairs_at_the_same_time(self):
        """From each device to all others, from all others to each, and all: in JSON, merged, and shown."""
        arguments = ("--mode", "peer", "--direction", "d2d", "--simultaneous", "--peer-path", "direct-write")
        three = {"XB_STANDIN_DEVICES": "3"}
        outcome = self.works(*arguments, environment=three)
        pairs = {(one, other) for one in range(3) for other in range(3) if one != other}
        groups = (
            ("one-to-all", [(n, None) for n in range(3)], 2),
            ("all-to-one", [(None, n) for n in range(3)], 2),
            ("all-to-all", [(None, None)], 6),
        )
        for group, sums, together in groups:
            rows = [row for row in outcome.rows() if row["parameters"].get("group") == group]
            self.assertEqual(sorted(self.ends(rows), key=str), sorted((*pairs, *sums), key=str), outcome)
            for row in rows:
                is_sum = None in (row["device"], row["peer"])
                self.assertTrue(row["simultaneous"], row)
                self.assertEqual(row["bytes_moved"], row["bytes"] * (together if is_sum else 1), row)
                self.assertEqual(harness.figure(row, "share_of_alone") is None, is_sum, row)
        shown = self.run_program("show", "--columns", "all", os.path.join(outcome.folder, "out.json"), environment=three)
        self.assertRegex(shown.out, r"(?m)^ +0 +1 +2 +all$")
        self.assertRegex(shown.out, r"(?m)^ +all +[0-9]")
        merged = self.check_outcome(self.measure(*arguments, "--processes", "2", environment=three))
        self.assertEqual(self.ends(merged.rows()), self.ends(outcome.rows()), merged)
        groups = [[row["parameters"].get("group") for row in one.rows()] for one in (merged, outcome)]
        self.assertEqual(*groups, merged)

    def ends(self, rows):
        return [(row["device"], row["peer"]) for row in rows]

    def test_kernels_that_share_a_device(self):
        """Both ways at once each has half of the room that the multiprocessors have, if that is less
        than there is work for: a kernel that filled the device would keep the other waiting."""
        for direction, blocks in (("h2d", (64 << 10) // 16 // (4 * 256)), ("bidir", 4 * MULTIPROCESSORS // 2)):
            outcome = self.works("--mode", "zero-copy", "--direction", direction)
            self.assertEqual(outcome.last_copy_blocks, blocks, outcome)

    def test_write_combined(self):
        """The runtime takes the flag and gives other memory: no row of that name has a figure."""
        arguments = ("--mode", "pinned,async", "--host-memory", "write-combined,alloc")
        outcome = self.check_outcome(self.measure(*arguments))
        named = [row for row in outcome.rows() if row["variant"] == "write-combined"]
        self.assert_lost(outcome.rows(), named, ("'write-combined'", "ordinary pinned memory"), outcome)

    def test_simultaneous(self):
        modes = ("--mode", "pinned,async,zero-copy", "--direction", "h2d,bidir")
        outcome = self.works(*modes, "--simultaneous", "--device", "all")
        self.assertIn(None, [row["device"] for row in outcome.rows()], outcome)

    def test_table(self):
        outcome = self.check_outcome(self.run_program(*SMALL, "--mode", "pinned", "--device", "all", "--verbose"))
        self.assertEqual(outcome.code, 0, outcome)
        header = " ".join(outcome.out.split("\nMODE ")[0].split())
        words = ("backend hip, runtime 99.0.0", f"library {STAND_IN}, NAMED BY {OVERRIDE}")
        self.assert_words(header, (*words, "stand-in", "xnack on", "taken from the cache"), outcome)

    def test_path_is_the_file_s(self):
        """Links are followed."""
        link = os.path.join(self.folder, "link.so")
        os.symlink(STAND_IN, link)
        outcome = self.works("--mode", "pinned", library=link)
        self.assertEqual(outcome.document["backend"]["runtime_library"], STAND_IN)
        self.assertEqual(outcome.document["environment"][OVERRIDE], link)

    def test_long_path(self):
        """It is told whole wherever the library is."""
        folder = os.path.join(self.folder, *["a-long-name"] * 40)
        os.makedirs(folder)
        library = shutil.copy(STAND_IN, folder)
        outcome = self.check_outcome(self.measure("--mode", "pinned", library=library))
        self.assert_all_ok(outcome)
        self.assertEqual(outcome.document["backend"]["runtime_library"], library)
        for arguments in (("list",), (*SMALL, "--mode", "pinned"), ("link", *HIP)):
            outcome = self.check_outcome(self.run_program(*arguments, library=library), codes=(0, 3))
            # Texts break lines at blanks, and the folder may have some in its name.
            self.assertIn(" ".join(library.split()), " ".join(outcome.out.split()), outcome)

    def test_list(self):
        outcome = self.list_devices()
        devices = [device for device in outcome.document["devices"] if device["backend"] == "hip"]
        self.assertEqual(len(devices), 2, outcome)
        for device in devices:
            self.assertEqual(set(device["capabilities"]), CAPABILITIES)
            self.assertEqual(set(device["lacks"]), {"write-combined", "file", "bulk"})
        self.assertEqual(outcome.trace["hipMalloc"], 0, "listing takes no memory")
        self.assertEqual(outcome.trace["hiprtcCompileProgram"], 0, "listing compiles nothing")

    def test_completion_that_comes_late(self):
        """Nothing counts on an operation being over because enqueuing it is."""
        modes = ("pageable,pinned,async", "double-buffer,zero-copy,managed", "peer")
        self.in_parallel(
            lambda mode, environment: self.measure(
                "--mode", mode, environment=environment | {"XB_STANDIN_DELAY_US": "2000"}
            ),
            self.assert_works,
            [(mode, {}) for mode in modes] + [(modes[0], {"XB_STANDIN_ARCH": "gfx999"})],
        )


if __name__ == "__main__":
    harness.main()
