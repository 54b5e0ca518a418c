#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: a library that lacks functions.
usage: test_missing_symbols.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import shutil

from stand_in import ARCHITECTURE, BY_COPIES, CAPABILITIES, KERNEL_ROW, OVERRIDE, PIECES, SOME, STAND_IN, SYMBOLS
from stand_in import HipCase, harness, needs_of, read_bytes, read_source, write_bytes


def find_compiler_symbols():
    """What it takes from hipRTC."""
    rows = re.findall(r"X\((hiprtc\w+),", read_source("src", "backends", "hip", "compiler.c"))
    assert len(rows) > 5, "compiler.c does not read as it did"
    return rows


COMPILER_SYMBOLS = find_compiler_symbols()


def copy_without(path, names):
    """A copy of the stand-in in which the functions have other names, so that nobody finds them. What refers to them
    within the library is bound to them already. Of all places of a name, that of the dynamic symbols is the first."""
    image = read_bytes(STAND_IN)
    for name in names:
        assert f"\0{name}\0".encode() in image, f"the stand-in has no {name}, or keeps it in the tail of another name"
        image = image.replace(f"\0{name}\0".encode(), f"\0x{name[1:]}\0".encode(), 1)
    write_bytes(path, image)
    os.chmod(path, 0o755)
    return path


class MissingSymbols(HipCase):
    """A library without one of the functions: what is lost is told, and no more than that is lost."""

    # What stands for what, in the capabilities' names; "mapped" memory is made by registering it,
    # and a hold is a kernel that reads mapped memory.
    CAPABILITIES = {
        "register": {"register", "mapped"},
        "mapped": {"mapped", "hold"},
        "managed": {"managed"},
        "kernels": {"kernels", "hold"},
        "batches": {"batch"},
        "graphs": {"graph"},
        "rows": {"rows"},
        "pools": {"pool"},
    }

    # Of the one structure that has the architecture's name.
    LAYOUTS = ("the architecture (5)", "the architecture (6, 7)")

    def without(self, *names):
        return copy_without(os.path.join(self.make_folder(), "libamdhip64.so"), names)

    def named(self, *losses):
        """The functions without which that is lost."""
        names = [name for loss in losses for name, what in SYMBOLS.items() if what == loss]
        self.assertGreaterEqual(len(names), len(losses), f"library.h names nothing with one of {losses!r}")
        return names

    def measure_without(self, *names, arguments=SOME):
        return self.measure(*arguments, library=self.without(*names))

    def each(self, names, check, *arguments):
        """Measures without each of them, and checks what comes of it."""
        arguments = arguments or SOME
        self.in_parallel(
            lambda name: self.measure_without(name, arguments=arguments), check, [(name,) for name in names]
        )

    def test_every_kind_is_known(self):
        known = {"", "peers", "the kind of link between devices", "a device's UUID", *self.LAYOUTS}
        self.assertEqual(set(SYMBOLS.values()), known | set(self.CAPABILITIES))

    def test_unchanged_copy(self):
        """That a copy is a copy, or the rest proves nothing."""
        outcome = self.check_outcome(self.measure_without())
        self.assert_all_ok(outcome)
        self.assertNotEqual(outcome.document["backend"]["runtime_library"], STAND_IN)

    def test_required(self):
        """Without any of them there is no backend, and listing goes on with the others."""
        self.each(
            self.named(""),
            lambda outcome, name: self.assert_unavailable(outcome, (name, "not a HIP runtime of use")),
        )
        outcome = self.list_devices(library=self.without("hipFree"))
        backends = {backend["name"]: backend for backend in outcome.document["backends"]}
        self.assertIs(backends["hip"]["usable"], False)
        self.assertIn("hipFree", str(backends["hip"]["checks"]))
        self.assertEqual(backends["hip"]["runtime_override"], OVERRIDE)
        self.assertIs(backends["host"]["usable"], True)

    # ---- capabilities ----

    def test_capabilities(self):
        def check(outcome, name):
            lost = self.CAPABILITIES[SYMBOLS[name]]
            skipped = [row for row in outcome.rows() if needs_of(row) & lost]
            self.assert_lost(outcome.rows(), skipped, (name, "the HIP runtime has no"), outcome)
            others = [row for row in outcome.rows() if row not in skipped]
            alloc = [r for r in others if (r["mode"], r["variant"]) == ("pinned", "alloc")]
            self.assertEqual(len(alloc), 2, outcome)
            for row in others:
                if row["mode"] in ("pinned", "pageable") and row["direction"] == "h2d":
                    reader = BY_COPIES if "kernels" in lost else "device"
                    self.assertEqual(row["details"]["verified_by"], reader, (row, outcome.label))
                if "hold" in lost:
                    self.assertEqual(row["details"]["held"], "no", (row, outcome.label))

        self.each(self.named("register", "mapped", "managed", "kernels"), check)

    def test_pieces(self):
        """The other ways to move them are there."""

        def check(outcome, name):
            (lost,) = self.CAPABILITIES[SYMBOLS[name]]
            words = ["the HIP runtime has no", name, f"'{lost}'", "it needs ROCm 7.1 or newer"]
            skipped = [row for row in outcome.rows() if lost in needs_of(row)]
            self.assert_lost(outcome.rows(), skipped, words[: 4 if lost == "batch" else 3], outcome)
            others = {row["variant"] for row in outcome.rows() if row["status"] == "ok"}
            ways = {row["variant"] for row in outcome.rows()}
            self.assertEqual(others, ways - {skipped[0]["variant"]}, outcome)

        self.each(self.named("batches", "graphs", "rows"), check, *PIECES)

    def test_pools(self):
        """Memory is to be had all the same, also where the library has them and the device has not."""
        arguments = ("--mode", "pinned", "--direction", "h2d", "--gpu-memory", "kept,malloc,pool")

        def check(outcome, *missing):
            words = ("the HIP runtime has no", *missing) if missing else ("has no memory pool",)
            self.assertEqual(len(outcome.rows()), 3, outcome)
            self.assert_lost(outcome.rows(), outcome.rows()[2:], words, outcome)

        check(self.check_outcome(self.measure(*arguments, environment={"XB_STANDIN_POOLS": "0"})))
        self.each(self.named("pools"), check, *arguments)

    def test_list_of_capabilities(self):
        libraries = {name: self.without(name) for name in self.named(*self.CAPABILITIES)}

        def check(outcome, name):
            lost = self.CAPABILITIES[SYMBOLS[name]]
            devices = [d for d in outcome.document["devices"] if d["backend"] == "hip"]
            self.assertEqual(len(devices), 2, outcome)
            for device in devices:
                self.assertEqual(set(device["capabilities"]), CAPABILITIES - lost, outcome)
                self.assertEqual(set(device["lacks"]), lost | {"write-combined", "file", "bulk"}, outcome)
                for capability in lost:
                    self.assertIn(name, device["lacks"][capability], outcome)
            # The same for people.
            printed = self.check_outcome(self.run_program("list", library=libraries[name]))
            self.assertRegex(printed.out, rf"no {sorted(lost)[0]} .*{name}", printed)

        self.in_parallel(
            lambda name: self.run_program("list", "--json", "out.json", library=libraries[name]),
            check,
            [(name,) for name in libraries],
        )

    # ---- the rest ----

    def test_peers(self):
        def check(outcome, name):
            words = (name, "no copies between devices")
            self.assert_lost(outcome.rows(), outcome.rows("peer"), words, outcome)

        self.each(self.named("peers"), check, "--mode", "pinned,peer")

    def test_facts(self):
        """The kind of link and the UUID are not told then, and nothing else is lost."""
        link, uuid = self.named("the kind of link between devices", "a device's UUID")
        outcome = self.check_outcome(self.measure_without(link, arguments=("--mode", "peer")))
        self.assert_all_ok(outcome)
        for row in outcome.rows():
            self.assertEqual({"link", "link_hops"} & set(row["details"]), set(), row)
        outcome = self.check_outcome(self.measure_without(uuid))
        self.assert_all_ok(outcome)
        self.assertEqual([device["uuid"] for device in outcome.document["devices"]], [None, None])

    def test_properties(self):
        """Of two layouts: either tells the architecture."""
        both = self.named(*self.LAYOUTS)
        for name, other in (both, both[::-1]):
            outcome = self.check_outcome(self.measure_without(name))
            self.assert_all_ok(outcome)
            for device in outcome.document["devices"]:
                self.assertEqual(device["architecture"], "gfx90a")
                self.assertEqual(device["facts"]["architecture_full"], ARCHITECTURE)
            self.assertGreater(outcome.trace[other], 0, outcome)
            self.assertEqual(outcome.trace[name], 0, outcome)
        outcome = self.check_outcome(self.measure_without(*both))
        self.assert_without_kernels(outcome, ("does not tell the device's architecture",))
        for device in outcome.document["devices"]:
            self.assertIsNone(device["architecture"])
            self.assertEqual(device["facts"]["architecture_full"], "unknown")

    def test_compiler(self):
        self.each(
            COMPILER_SYMBOLS,
            lambda outcome, _: self.assert_without_kernels(outcome, ("hipRTC was not found",)),
            *("--mode", "pageable,pinned,zero-copy", "--direction", "h2d"),
        )

    def test_compiler_beside_the_runtime(self):
        """A library of its own from release 6.5 on, named by the runtime's major version."""
        for major, found in (("99", True), ("98", False)):
            with self.subTest(major=major):
                library = self.without(*COMPILER_SYMBOLS)
                shutil.copy(STAND_IN, os.path.join(os.path.dirname(library), f"libhiprtc.so.{major}"))
                outcome = self.check_outcome(self.measure(*KERNEL_ROW, library=library))
                if found:
                    self.assert_all_ok(outcome)
                else:
                    self.assert_skipped(outcome.rows(), ("hipRTC was not found",), outcome)


if __name__ == "__main__":
    harness.main()
