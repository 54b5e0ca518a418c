#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: the compiler of the kernels fails, or takes its process with it, and what the whole program
makes of calls that fail. test_struck_calls.c has each call of the runtime fail, in every kind of row.
usage: test_failing_calls.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import resource

from stand_in import KERNEL_ROW, SMALL, HipCase, harness, needs_of

ROWS = {
    "alloc": ("--mode", "pinned", "-d", "d2h", "--host-memory", "alloc"),
    "zero-copy": ("--mode", "zero-copy", "-d", "d2h"),
    "prefetch": ("--mode", "managed", "-d", "h2d", "--managed", "prefetch"),
    "direct": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read", "-d", "d2d"),
}
# Each run compiles: its cache is empty. Without kernels rows that need none stay.
OF_COMPILER = re.compile("hiprtc|hipModuleLoadData|hipModuleGetFunction")
NONE = "does not tell the device's architecture"
# The name becomes part of a command line and of a path: nothing but a name may get there. Each with the
# reason why there are no kernels; None where there are, for what follows the colon is no part of the name.
ARCHITECTURES = (
    ("gfx90a/../../x", NONE),
    ("gfx90a:/../../x", None),
    ("gfx90a:%s%n%d", None),
    (os.fsdecode(b"gfx90a:\xff\xfe"), None),
    (os.fsdecode(b"gfx90a\xff"), NONE),
    ("gfx/../../x", NONE),
    ("gfx90a x", NONE),
    ("gfx90a\nx", NONE),
    ("gfx", "over gfx,"),
    ("gfx-", "over gfx-,"),
    ("GFX90A", NONE),
    ("../../x", NONE),
    ("-save-temps", NONE),
    ("", NONE),
    (":", NONE),
    ("gfx" + "9" * 60, NONE),
    ("gfx" + "9" * 200, NONE),
    ("gfx90a:" + "x" * 245, None),
)


def allow_cores():
    """The caller's limit may forbid what is to be seen not to happen."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class FailingCalls(HipCase):
    """A call of the runtime fails, for once or from then on: the rows say so, or it is nothing."""

    def reference(self, *arguments):
        """How often each call is made where none fails."""
        outcome = self.check_outcome(self.measure(*arguments))
        self.assert_all_ok(outcome)
        return {name: count for name, count in outcome.trace.items() if count > 0}

    def strike(self, arguments, call, number, repeated):
        """Has the call of that number fail."""
        failing = f"{call}:{number}{'+' if repeated else ''}"
        return self.measure(*arguments, environment={"XB_STANDIN_FAIL": failing})

    def check(self, outcome, _, call, number, repeated):
        self.assertGreaterEqual(outcome.trace.get(call, 0), number, f"never struck: {outcome}")
        errors = [row for row in outcome.rows() if row["status"] == "error"]
        skipped = [row for row in outcome.rows() if row["status"] == "skipped"]
        for row in outcome.rows():
            self.assertEqual(row["verified"] is True, row["status"] == "ok", outcome)
        for row in errors:
            self.assertEqual(row["error"]["call"], call, outcome)
            self.assertIn(call, row["reason"], outcome)
            self.assertNotEqual(row["error"]["native_code"], 0, outcome)
        if skipped:  # kernels that cannot be had are no error of what needs none
            self.assertRegex(call, "^hiprtc", outcome)
            self.assert_skipped(skipped, ("'kernels'", "compile"), outcome)
            self.assertEqual([row for row in skipped if "kernels" not in needs_of(row)], [], outcome)
        all_skipped = len(skipped) == len(outcome.rows())
        self.assertEqual(outcome.code, 1 if errors else 3 if all_skipped else 0, outcome)
        if outcome.code == 0:  # only for a reason that is known
            # Code that does not load is compiled anew where it came from the cache: for a second device.
            of_second = not repeated and len(outcome.document["devices"]) > 1
            self.assertTrue(call.startswith("hiprtc") or of_second, f"{call} failed, and nobody was told: {outcome}")

    def test_each_call_of_the_compiler(self):
        """In rows of one device and of two, and from the first on in all modes: the rows that need what
        fails are errors or skipped, and the others are not."""
        cases = []
        for row in (ROWS["zero-copy"], ROWS["direct"], ("--mode", "all")):
            for call, count in self.reference(*row).items():
                if OF_COMPILER.match(call):
                    places = {(1, False), (count, False), (1, True)} if row[1] != "all" else {(1, True)}
                    cases += [(row, call, *place) for place in sorted(places)]
        self.assertGreater(len(cases), 30, "the compiler's calls are no longer known by name")
        self.in_parallel(self.strike, self.check, cases)

    def test_first_calls(self):
        for call in ("hipRuntimeGetVersion", "hipGetDeviceCount"):
            self.assert_unavailable(self.strike(KERNEL_ROW, call, 1, False), ("hipErrorUnknown", "999"))

    # ---- calls that fail in another way ----

    def test_log_of_the_compiler(self):
        """It fails to compile, and then to tell why."""
        for call in ("hiprtcGetProgramLogSize", "hiprtcGetProgramLog"):
            environment = {"XB_STANDIN_RTC_FAIL": "1", "XB_STANDIN_FAIL": f"{call}:1"}
            outcome = self.check_outcome(self.measure(*KERNEL_ROW, environment=environment))
            self.assert_skipped(outcome.rows(), ("HIPRTC_ERROR_COMPILATION", "log is empty"), outcome)

    def test_out_of_memory(self):
        for row, call in (("alloc", "hipMalloc"), ("alloc", "hipHostMalloc"), ("prefetch", "hipMallocManaged")):
            environment = {"XB_STANDIN_FAIL": f"{call}:1+", "XB_STANDIN_CODE": "2"}
            outcome = self.check_outcome(self.measure(*ROWS[row], environment=environment))
            self.assertEqual(outcome.code, 1, outcome)
            (row,) = outcome.rows()
            self.assertEqual(row["error"]["status"], "memory", outcome)
            self.assertEqual(row["error"]["native_name"], "hipErrorOutOfMemory", outcome)

    def test_peer_access_that_is_there(self):
        """hipErrorPeerAccessAlreadyEnabled is what was wanted."""
        environment = {"XB_STANDIN_FAIL": "hipDeviceEnablePeerAccess:1+", "XB_STANDIN_CODE": "704"}
        self.assert_all_ok(self.check_outcome(self.measure(*ROWS["direct"], environment=environment)))

    def test_cache_that_does_not_load(self):
        """Whole, unchanged, and refused all the same: compiled anew."""
        folder = self.make_folder()
        for failing in ("", "hipModuleLoadData:1", "hipModuleGetFunction:1"):
            outcome = self.measure(*KERNEL_ROW, folder=folder, environment={"XB_STANDIN_FAIL": failing})
            self.assert_all_ok(self.check_outcome(outcome))
            self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, outcome)


class Compiler(HipCase):
    """hipRTC fails, or takes its process with it."""

    def tree(self, folder):
        """Every path below the folder, without what this program itself puts there."""
        paths = {
            os.path.relpath(os.path.join(path, name), folder)
            for path, folders, files in os.walk(folder)
            for name in (*folders, *files)
        }
        return paths - {"trace", "out.json"}

    def assert_nothing_compiled(self, words, **options):
        outcome = self.check_outcome(self.measure("--mode", "all", **options))
        self.assert_without_kernels(outcome, words)
        self.assertEqual(outcome.out, "", outcome)
        self.assertEqual(self.tree(outcome.folder), set(), "a core file, or a cache of nothing")
        for device in outcome.document["devices"]:
            self.assertNotIn("kernels", device["facts"])

    def test_unknown_architecture(self):
        words = ("hipRTC died", "gfx999", "aborts on gfx999")
        self.assert_nothing_compiled(words, environment={"XB_STANDIN_ARCH": "gfx999"}, preexec_fn=allow_cores)

    def test_compilation_that_fails(self):
        words = ("HIPRTC_ERROR_COMPILATION", "stand-in: asked to fail")
        self.assert_nothing_compiled(words, environment={"XB_STANDIN_RTC_FAIL": "1"})

    def test_unknown_architecture_on_the_terminal(self):
        """The reason in the table's notes, and not what the dying compiler said."""
        environment = {"XB_STANDIN_ARCH": "gfx999"}
        outcome = self.check_outcome(self.run_program(*SMALL, *KERNEL_ROW, "--verbose", environment=environment))
        self.assertEqual((outcome.code, outcome.err), (3, ""), outcome)
        notes = outcome.out.split("\nNotes\n")[1]
        self.assertIn("hipRTC died (Aborted) over gfx999", " ".join(notes.split()), outcome)
        self.assertNotRegex(outcome.out, "(?m)^hip stand-in:")

    def test_strange_architectures(self):
        def check(outcome, _, reason):
            self.assert_ok(outcome.rows("pinned"), outcome)
            left = self.tree(outcome.folder) - {"cache"}
            self.assertEqual(len(left), 0 if reason else 2, left)
            self.assertEqual({path[: len("cache/x")] for path in left} - {"cache/x"}, set())
            lost = outcome.rows("zero-copy") if reason else []
            if lost:
                self.assert_lost(outcome.rows(), lost, (reason,), outcome)
            else:
                self.assert_all_ok(outcome)

        self.in_parallel(
            lambda architecture, _: self.measure(
                *("--mode", "pinned,zero-copy", "--direction", "h2d"), environment={"XB_STANDIN_ARCH": architecture}
            ),
            check,
            ARCHITECTURES,
        )

    def test_list_does_not_wait_for_it(self):
        """Listing opens no device, so a compiler that never ends does not matter."""
        outcome = self.list_devices(environment={"XB_STANDIN_RTC_HANG": "1"})
        self.assertEqual(outcome.trace["hiprtcCreateProgram"], 0)


if __name__ == "__main__":
    harness.main()
