#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: what the compiler of the kernels is asked fails, and what the whole program makes of calls
that fail. test_struck_calls.c has each call of the runtime fail, in every kind of row.
usage: test_failing_calls.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import functools
import re

from stand_in import KERNEL_ROW, HipCase, harness, needs_of

ROWS = {
    "alloc": ("--mode", "pinned", "-d", "d2h", "--host-memory", "alloc"),
    "zero-copy": ("--mode", "zero-copy", "-d", "d2h"),
    "prefetch": ("--mode", "managed", "-d", "h2d", "--managed", "prefetch"),
    "direct": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read", "-d", "d2d"),
}
# Each run compiles: its cache is empty. Without kernels rows that need none stay.
OF_COMPILER = re.compile("hiprtc|hipModuleLoadData|hipModuleGetFunction")
# What takes nothing from a row when it fails: in closing, or a fact that is then not told.
HARMLESS = set(
    "hipFreeAsync hipMemPoolTrimTo hipFree hipHostFree hipHostUnregister hipStreamDestroy hipEventDestroy hipModuleUnload "
    "hipDeviceDisablePeerAccess hipDeviceGetUuid hipExtGetLinkTypeAndHopCount".split()
)
# Asked when the run is planned, and again when the device is opened: the second answer counts.
ASKED_TWICE = set(
    "hipDeviceGetName hipDeviceGetPCIBusId hipDeviceTotalMem hipDeviceGetAttribute".split()
)
# Kernels that are not compiled for an unknown device are no error.
OF_KERNELS = re.compile("hiprtc|hipGetDeviceProperties")


class FailingCalls(HipCase):
    """A call of the runtime fails, for once or from then on: the rows say so, or it is nothing."""

    def reference(self, *arguments):
        outcome = self.check_outcome(self.measure(*arguments))
        self.assert_all_ok(outcome)
        return {name: count for name, count in outcome.trace.items() if count > 0}

    def strike(self, arguments, call, number, repeated):
        """Has the call of that number fail."""
        failing = f"{call}:{number}{'+' if repeated else ''}"
        outcome = self.measure(*arguments, environment={"XB_STANDIN_FAIL": failing})
        outcome.struck = (call, number, repeated)
        return outcome

    def check(self, outcome):
        call, number, repeated = outcome.struck
        self.assertGreaterEqual(outcome.trace.get(call, 0), number, f"never struck: {outcome}")
        errors = [row for row in outcome.rows() if row["status"] == "error"]
        skipped = [row for row in outcome.rows() if row["status"] == "skipped"]
        self.assert_words(str(errors), [call] if errors else [], outcome)
        for row in errors:
            self.assertEqual(row["error"]["call"], call, outcome)
            self.assertIn(call, row["reason"], outcome)
            self.assertNotEqual(row["error"]["native_code"], 0, outcome)
        if skipped:
            self.check_skipped(call, skipped, outcome)
        if outcome.code == 1:
            self.assertGreater(len(errors), 0, outcome)
        elif outcome.code == 3:
            self.check_nothing(call, outcome)
        else:
            self.assertEqual(errors, [], outcome)
            self.assert_ok([row for row in outcome.rows() if row not in skipped], outcome)
            self.check_harmless(call, number, repeated, outcome)

    def check_skipped(self, call, skipped, outcome):
        """Kernels that cannot be had are no error of what needs none."""
        self.assertRegex(call, OF_KERNELS, outcome)
        reason = "compile" if call.startswith("hiprtc") else "does not tell the device's architecture"
        self.assert_skipped(skipped, ("'kernels'", reason), outcome)
        for row in skipped:
            self.assertIn("kernels", needs_of(row), outcome)

    def check_nothing(self, call, outcome):
        """Exit 3: the backend cannot run, or every row was skipped."""
        if call in ("hipRuntimeGetVersion", "hipGetDeviceCount"):
            self.assert_unavailable(outcome, ("hipErrorUnknown", "999"))
            return
        self.assertGreater(len(outcome.rows()), 0, outcome)
        self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)

    def check_harmless(self, call, number, repeated, outcome):
        """The program succeeded all the same: only for a reason that is known."""
        known = call in HARMLESS or OF_KERNELS.match(call)
        if not repeated:
            known = known or call in ASKED_TWICE
            # Code that does not load is compiled anew where it came from the cache: for a second device.
            known = known or (OF_COMPILER.match(call) and len(outcome.document["devices"]) > 1)
        self.assertTrue(known, f"{call} failed, and nobody was told: {outcome}")

    def test_each_call_of_the_compiler(self):
        """In rows of one device and of two, and from the first on in all modes: the rows that need what
        fails are errors or skipped, and the others are not."""
        jobs = []
        for row in (ROWS["zero-copy"], ROWS["direct"], ("--mode", "all")):
            for call, count in self.reference(*row).items():
                if OF_COMPILER.match(call):
                    places = {(1, False), (count, False), (1, True)}
                    if row[1] == "all":
                        places = {(1, True)}
                    jobs += [functools.partial(self.strike, row, call, *place) for place in sorted(places)]
        self.assertGreater(len(jobs), 30, "the compiler's calls are no longer known by name")
        self.in_parallel(jobs, self.check)

    def test_each_call_as_the_program_tells_it(self):
        """The exit code and the document, for the first call of each function."""
        self.in_parallel(
            [
                functools.partial(self.strike, ROWS["direct"], call, 1, False)
                for call in self.reference(*ROWS["direct"])
                if not OF_COMPILER.match(call)
            ],
            self.check,
        )

    def test_log_of_the_compiler(self):
        """It fails to compile, and then to tell why."""

        def check(outcome):
            self.assert_skipped(outcome.rows(), ("HIPRTC_ERROR_COMPILATION", "log is empty"), outcome)

        self.in_parallel(
            [
                functools.partial(
                    self.measure,
                    *KERNEL_ROW,
                    environment={"XB_STANDIN_RTC_FAIL": "1", "XB_STANDIN_FAIL": f"{call}:1"},
                )
                for call in ("hiprtcGetProgramLogSize", "hiprtcGetProgramLog")
            ],
            check,
        )

    def test_out_of_memory(self):
        def check(outcome):
            self.assertEqual(outcome.code, 1, outcome)
            (row,) = outcome.rows()
            self.assertEqual(row["error"]["status"], "memory", outcome)
            self.assertEqual(row["error"]["native_name"], "hipErrorOutOfMemory", outcome)

        self.in_parallel(
            [
                functools.partial(
                    self.measure,
                    *ROWS[row],
                    environment={"XB_STANDIN_FAIL": f"{call}:1+", "XB_STANDIN_CODE": "2"},
                )
                for row, call in (
                    ("alloc", "hipMalloc"),
                    ("alloc", "hipHostMalloc"),
                    ("prefetch", "hipMallocManaged"),
                )
            ],
            check,
        )

    def test_peer_access_that_is_there(self):
        """hipErrorPeerAccessAlreadyEnabled is what was wanted."""
        environment = {"XB_STANDIN_FAIL": "hipDeviceEnablePeerAccess:1+", "XB_STANDIN_CODE": "704"}
        outcome = self.check_outcome(self.measure(*ROWS["direct"], environment=environment))
        self.assert_all_ok(outcome)

    def test_cache_that_does_not_load(self):
        """Whole, unchanged, and refused all the same: compiled anew."""
        first = self.check_outcome(self.measure(*KERNEL_ROW))
        self.assert_all_ok(first)
        for call in ("hipModuleLoadData", "hipModuleGetFunction"):
            outcome = self.check_outcome(
                self.measure(
                    *KERNEL_ROW, folder=first.folder, environment={"XB_STANDIN_FAIL": f"{call}:1"}
                )
            )
            self.assert_all_ok(outcome)
            self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, outcome)


if __name__ == "__main__":
    harness.main()
