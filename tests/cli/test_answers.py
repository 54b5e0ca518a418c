#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands that measure nothing: list, --help, --version.
usage: test_answers.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import re

import harness
from harness import (
    MODES,
    Case,
    absent_environment,
    needs_cuda_stub,
    stub_environment,
    validate_json,
)

BUILT_IN = harness.built_in()
# Of modes of today. Those to come are tested where they come: nothing here is to change for them.
DIRECTIONS = {  # all, and those by default
    "pageable": (["h2d", "d2h"], ["h2d", "d2h"]),
    "pinned": (["h2d", "d2h", "bidir"], ["h2d", "d2h"]),
    "async": (["h2d", "d2h", "bidir"], ["h2d", "d2h"]),
    "double-buffer": (["bidir"], ["bidir"]),
    "zero-copy": (["h2d", "d2h", "bidir"], ["h2d", "d2h"]),
    "managed": (["h2d", "d2h"], ["h2d", "d2h"]),
    "peer": (["d2d", "bidir"], ["d2d", "bidir"]),
}
OPTIONS = {
    "pageable": ["staging", "threads", "ring-chunk", "ring-slots", "host-offset", "device-offset", "target", "call"],
    "pinned": ["host-memory", "host-offset", "device-offset", "gpu-memory", "call"],
    "async": ["host-memory", "streams", "chunk", "host-offset", "device-offset"],
    "double-buffer": ["host-memory", "chunk", "buffers", "kernel-time"],
    "zero-copy": ["access", "passes", "in-place"],
    "managed": ["managed", "touched", "touch-order"],
    "peer": ["peer-path", "by", "pairs", "chunk"],
}


class Answers(Case):
    """Commands that measure nothing."""

    def test_list(self):
        environment = absent_environment()
        outcome = self.assert_succeeds("list", environment=environment)
        self.assertEqual(outcome.err, "")
        self.assert_words(outcome.out, ("Backends\n", "Modes\n", "pageable", "pinned", "async"))
        self.assert_words(outcome.out, ("--host-memory", "--streams", *MODES))
        directions = {
            line[1]: line[2].strip()
            for line in re.finditer(r"(?m)^  ([\w-]+) .*\n +directions: ([^;]*);", outcome.out)
        }
        expected = {
            mode: " ".join(ways) + (f" (by default {' '.join(usual)})" if usual != ways else "")
            for mode, (ways, usual) in DIRECTIONS.items()
        }
        self.assertEqual(list(directions), MODES)
        self.assertEqual({mode: directions[mode] for mode in expected}, expected)
        self.assertRegex(outcome.out, r"(?m)^    device 0  .*GiB; capabilities: .*hold")
        for name, present in BUILT_IN.items():
            self.assertRegex(outcome.out, rf"(?m)^  {name}: \w")
            if not present:
                self.assertRegex(outcome.out, rf"(?m)^  {name}: not in this build: \w")
        if BUILT_IN["cuda"]:
            self.assertRegex(outcome.out, r"(?m)^  cuda: .*\(cannot run here\)$")
            self.assertRegex(outcome.out, r"(?m)^ +CUDA devices +n")

    def list_json(self, environment):
        outcome = self.assert_succeeds("list", "--json", "-", environment=environment)
        document = json.loads(
            outcome.out,
            object_pairs_hook=validate_json.object_without_duplicates,
            parse_constant=validate_json.refuse_constant,
        )
        self.assertEqual(document["schema"], "xferbench.list")
        self.assertEqual(document["schema_version"], 1)
        return document

    def test_list_json(self):
        document = self.list_json(absent_environment())
        backends = {backend["name"]: backend for backend in document["backends"]}
        self.assertEqual(list(backends), list(BUILT_IN))
        self.assertIs(backends["host"]["usable"], True)
        for name, present in BUILT_IN.items():
            if not present:
                self.assertIs(backends[name]["usable"], False)
                self.assertTrue(backends[name]["absent_reason"])
        if BUILT_IN["cuda"]:
            self.assertIs(backends["cuda"]["usable"], False)
            checks = {check["what"]: check for check in backends["cuda"]["checks"]}
            self.assertEqual(len(checks), 3)
            self.assertIs(checks["CUDA devices"]["ok"], False)
            self.assertTrue(all(check["found"] for check in checks.values()))
        modes = {mode["name"]: mode for mode in document["modes"]}
        self.assertEqual(list(modes), MODES)
        directions = {
            name: (mode["directions"], mode["default_directions"]) for name, mode in modes.items()
        }
        self.assertEqual({name: directions[name] for name in DIRECTIONS}, DIRECTIONS)
        self.assertEqual({name: modes[name]["options"] for name in OPTIONS}, OPTIONS)
        needs = {variant["name"]: variant["needs"] for variant in modes["managed"]["variants"]}
        self.assertEqual(list(needs), ["fault", "prefetch", "advise"])
        for variant, found in needs.items():
            self.assertIn("managed", found, variant)
        devices = [device for device in document["devices"] if device["backend"] == "host"]
        self.assertEqual([device["index"] for device in devices], [0])
        self.assertIsInstance(devices[0]["memory_bytes"], int)

    @needs_cuda_stub
    def test_list_json_tells_reasons_apart(self):
        expected = {"old-driver": [True, False, False], "no-device": [True, True, False]}
        found = {}
        for reason in expected:
            backends = self.list_json(stub_environment(reason))["backends"]
            (cuda,) = [backend for backend in backends if backend["name"] == "cuda"]
            found[reason] = [check["ok"] for check in cuda["checks"]]
        self.assertEqual(found, expected)

    def test_list_json_to_a_file(self):
        self.put_old("list.json")
        outcome = self.assert_succeeds("list", "--json", "list.json")
        self.assertIn("Backends\n", outcome.out)
        self.assertEqual(validate_json.load(self.path("list.json"))["schema"], "xferbench.list")
        self.assert_folder_has("list.json")

    def test_list_json_that_cannot_be_written(self):
        outcome = self.run_program("list", "--json", self.path("nowhere", "list.json"))
        self.assertEqual(outcome.code, 2, outcome)
        self.assert_words(outcome.err, ("cannot write", "ENOENT"))

    def test_list_has_what_modes_can_run(self):
        """What a mode refuses on any machine is not among its variants, and all else is."""
        self.assert_succeeds("list", "--json", "list.json")
        modes = {mode["name"]: mode for mode in validate_json.load(self.path("list.json"))["modes"]}

        def listed(mode):
            return {
                (one["name"], *(parameter["value"] for parameter in one["parameters"]))
                for one in modes[mode]["variants"]
            }

        page_locked = {("registered",), ("alloc",), ("write-combined",)}
        for mode in ("double-buffer", "resident"):
            self.assertEqual(listed(mode), page_locked, mode)
        ways = (("kept", "async"), ("kept", "sync"), ("malloc", "async"), ("pool", "async"))
        self.assertEqual(listed("pinned"), {(*memory, *way) for memory in page_locked for way in ways})
        self.assertEqual(listed("async"), page_locked | {("pageable",)})
        self.assertEqual([one for one in listed("batch") if one[0] == "pitched"], [("pitched", "rows")])
        self.assertIn(("serial", "gds", "threads"), listed("pipeline"))
        self.assertNotIn(("serial", "gds", "processes"), listed("pipeline"))
        self.assertNotIn(("serial-pageable", "gds", "threads"), listed("pipeline"))
        text = self.assert_succeeds("list").out
        for mode in ("pinned", "async"):
            part = re.search(rf"(?ms)^  {mode} .*?options:", text)[0]
            self.assertEqual("pageable" in part.partition("variants:")[2], mode == "async")

    def test_help(self):
        outcome = self.assert_succeeds("help", "all")
        self.assertEqual(outcome.err, "")
        self.assert_words(outcome.out, ("xferbench list", "--help MODE", "Exit:"))
        names = "mode size direction device backend time-limit samples json csv quiet latency"
        for mode in MODES:
            self.assertRegex(outcome.out, rf"(?m)^  {mode} +\w")
        of_modes = dict.fromkeys(option for options in OPTIONS.values() for option in options)
        for option in (*names.split(), "simultaneous", "quick", "deadline", *of_modes):
            self.assertRegex(outcome.out, rf"(?m)^ +(-\w, )?--{option}\b")
        self.assertLessEqual(max(len(line) for line in outcome.out.splitlines()), 100)
        for arguments in (("--help", "all"), ("run", "--help", "all")):
            self.assertEqual(self.assert_succeeds(*arguments).out, outcome.out, arguments)

    def test_short_help(self):
        """Every command, every mode in a line, few options, and where more is told."""
        out = self.assert_succeeds("--help").out
        self.assertEqual(self.assert_succeeds("-h").out, out)
        self.assertLessEqual(len(out.splitlines()), 60)
        self.assertLessEqual(max(len(line) for line in out.splitlines()), 100)
        words = ("  compare BASELINE CANDIDATE  ", "help WORD", "help all", "help columns", "-m, --mode")
        self.assert_words(out, (*words, *MODES))
        self.assertEqual(len(re.findall(r"(?m)^ {2,6}(?:-\w, )?--[a-z]", out)), 10)
        self.assertNotIn("--host-memory", out)

    def test_help_of_run(self):
        """Its own options, without those of modes."""
        out = self.assert_succeeds("run", "--help").out
        self.assert_words(out, ("--time-limit", "--deadline", "Exit:", "help MODE", *MODES))
        self.assertNotRegex(out, r"(?m)^ +--(host-memory|chunk)\b")

    def test_help_of_list(self):
        """Its own options and none that it would refuse."""
        outcome = self.assert_succeeds("list", "--help")
        self.assert_words(outcome.out, ("xferbench list", "--json", "--help", "--version"))
        self.assertNotIn("--size", outcome.out)

    def test_help_of_a_mode(self):
        for mode, options in OPTIONS.items():
            with self.subTest(mode=mode):
                outcome = self.assert_succeeds("--help", mode)
                self.assertTrue(outcome.out.startswith(f"{mode}: "), outcome)
                ways, usual = DIRECTIONS[mode]
                by_default = f" (by default {' '.join(usual)})" if usual != ways else ""
                line = f"Directions: {' '.join(ways)}{by_default}"
                self.assertIn(line, outcome.out.splitlines())
                found = re.findall(r"(?m)^ {2,6}(?:-\w, )?--([a-z-]+)", outcome.out)
                self.assertEqual([name for name in found if name in options], options)
                rows = outcome.out.partition("Its own options:\n")[2]
                self.assertEqual(len(re.findall(r"(?m)^ {1,6}--", rows)), len(options))
                self.assertLessEqual(max(len(row) for row in outcome.out.splitlines()), 100)

    def test_version(self):
        outcome = self.assert_succeeds("--version")
        self.assertRegex(outcome.out, r"^xferbench \d+\.\d+\.\d+ ")
        self.assertEqual(list(BUILT_IN), ["cuda", "hip", "host"])
        self.assertEqual(self.assert_succeeds("-V").out, outcome.out)

    def test_help_wins_over_what_cannot_run(self):
        environment = absent_environment()
        outcome = self.assert_succeeds("--backend", "cuda", "--help", environment=environment)
        self.assertIn("Options used most:", outcome.out)


if __name__ == "__main__":
    harness.main()
