#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: what the compiler of the kernels is asked fails, and what the whole program makes of calls
that fail. test_struck_calls.c has each call of the runtime fail, in every kind of row.
usage: test_failing_calls.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

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
ASKED_TWICE = set("hipDeviceGetName hipDeviceGetPCIBusId hipDeviceTotalMem hipDeviceGetAttribute".split())
# Kernels that are not compiled for an unknown device are no error.
OF_KERNELS = re.compile("hiprtc|hipGetDeviceProperties")


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
        if call in ("hipRuntimeGetVersion", "hipGetDeviceCount"):
            self.assert_unavailable(outcome, ("hipErrorUnknown", "999"))
            return
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
            reason = "compile" if call.startswith("hiprtc") else "does not tell the device's architecture"
            self.assertRegex(call, OF_KERNELS, outcome)
            self.assert_skipped(skipped, ("'kernels'", reason), outcome)
            self.assertEqual([row for row in skipped if "kernels" not in needs_of(row)], [], outcome)
        all_skipped = len(skipped) == len(outcome.rows())
        self.assertEqual(outcome.code, 1 if errors else 3 if all_skipped else 0, outcome)
        if outcome.code == 0:  # only for a reason that is known
            known = call in HARMLESS or OF_KERNELS.match(call)
            if not repeated:
                # Code that does not load is compiled anew where it came from the cache: for a second device.
                of_second = OF_COMPILER.match(call) and len(outcome.document["devices"]) > 1
                known = known or call in ASKED_TWICE or of_second
            self.assertTrue(known, f"{call} failed, and nobody was told: {outcome}")

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

    def test_each_call_as_the_program_tells_it(self):
        """The exit code and the document, for the first call of each function."""
        row = ROWS["direct"]
        calls = [call for call in self.reference(*row) if not OF_COMPILER.match(call)]
        self.in_parallel(self.strike, self.check, [(row, call, 1, False) for call in calls])

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


if __name__ == "__main__":
    harness.main()
