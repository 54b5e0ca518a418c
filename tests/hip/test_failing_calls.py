#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: each call of the runtime fails.
usage: test_failing_calls.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import concurrent.futures
import functools
import re

from stand_in import ALL, CORES, KERNEL_ROW, SYMBOLS, HipCase, harness, modes_that_need

# A row of every kind of work: one each, so that what is closed is closed at the end alone.
ROWS = {
    "pageable": ("--mode", "pageable", "-d", "h2d"),
    "registered": ("--mode", "pinned", "-d", "h2d"),
    "alloc": ("--mode", "pinned", "-d", "d2h", "--host-memory", "alloc"),
    "async": ("--mode", "async", "-d", "bidir"),
    "double-buffer": ("--mode", "double-buffer"),
    "zero-copy": ("--mode", "zero-copy", "-d", "d2h"),
    "fault": ("--mode", "managed", "-d", "d2h", "--managed", "fault"),
    "prefetch": ("--mode", "managed", "-d", "h2d", "--managed", "prefetch"),
    "advise": ("--mode", "managed", "-d", "h2d", "--managed", "advise"),
    "direct": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read", "-d", "d2d"),
    "staged": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "staged", "-d", "bidir"),
    "staged by kernel": ("--mode", "peer", "--pairs", "0:1", "--peer-path", "staged", "--by", "kernel", "-d", "d2d"),
}
# What is called alike in every row, before it: tried in some.
BEFORE_ROWS = re.compile(
    "hiprtc|hipModule(Load|Get|Unload)|hip(Runtime|Get)|hipDevice(Get|Total|CanAccess)|hipExtGet"
)
ROWS_FOR_THOSE = ("registered", "zero-copy", "direct")
# Nobody is left to be told: what was measured is measured, and there is nothing to do about it.
TEARDOWN = set(
    "hipFree hipHostFree hipHostUnregister hipStreamDestroy hipEventDestroy hipModuleUnload "
    "hipDeviceDisablePeerAccess".split()
)
# Something to be told of a device or a pair, which is then not told.
FACTS = {"hipDeviceGetUuid", "hipExtGetLinkTypeAndHopCount"}
# Without the architecture there are no kernels; rows without kernels stay.
OF_KERNELS = re.compile("hiprtc|hipGetDeviceProperties")
# Asked when the run is planned, and again when the device is opened: the second answer counts.
ASKED_TWICE = set(
    "hipDeviceGetName hipDeviceGetPCIBusId hipDeviceTotalMem hipDeviceGetAttribute".split()
)
# Who closes something also selects its device and waits for it: the stand-in tells these calls from the
# others. How many there are hangs on the machine's speed: test_failed_in_turn.py strikes each in turn.
CLOSING = ("hipSetDevice", "hipStreamSynchronize")


def large_bar_unknown(devices):
    return all(device["facts"]["large_bar"] == "unknown" for device in devices)


class FailingCalls(HipCase):
    """Each call of the runtime fails, for once or from then on: the rows say so, or it is nothing."""

    def reference(self, row):
        outcome = self.check_outcome(self.measure(*ROWS[row]))
        self.assert_all_ok(outcome)
        return {name: count for name, count in outcome.trace.items() if count > 0}

    def strike(self, arguments, call, number, repeated):
        """Has the call of that number fail. How often the hot ones are made hangs on the machine's
        speed: where this run made fewer, it is struck earlier."""
        for _ in range(10):
            failing = f"{call}:{number}{'+' if repeated else ''}"
            outcome = self.measure(*arguments, environment={"XB_STANDIN_FAIL": failing})
            outcome.struck = (call, number, repeated)
            made = outcome.trace.get(call, 0)
            if made >= number or outcome.code not in (0, 1, 3):
                break
            number = max(1, made * 3 // 4)
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
            self.assertIn(row["mode"], modes_that_need("kernels"), outcome)

    def check_nothing(self, call, outcome):
        """Exit 3: the backend cannot run, or every row was skipped."""
        if call in ("hipRuntimeGetVersion", "hipGetDeviceCount"):
            self.assert_unavailable(outcome, ("hipErrorUnknown", "999"))
            return
        self.assertGreater(len(outcome.rows()), 0, outcome)
        self.assertEqual({row["status"] for row in outcome.rows()}, {"skipped"}, outcome)

    def check_harmless(self, call, number, repeated, outcome):
        """The program succeeded all the same: only for a reason that is known."""
        devices = outcome.document["devices"]
        last = outcome.trace[call]
        half = last // 2
        known = call in TEARDOWN or call in FACTS or OF_KERNELS.match(call)
        known = known or (call in CLOSING and "struck-in-use" not in outcome.trace)
        known = known or (call == "hipDeviceGetAttribute" and large_bar_unknown(devices))
        if not repeated:
            known = known or (call in ASKED_TWICE and number <= half)
            # Taking advice back, at the end.
            known = known or (call == "hipMemAdvise" and number > last - 2)
            # Code from the cache that does not load is compiled anew.
            known = known or (call.startswith("hipModule") and last > number - 8 and len(devices) > 1)
        self.assertTrue(known, f"{call} failed, and nobody was told: {outcome}")
        for device in devices:
            self.assertIn("stand-in", device["name"], outcome)
            self.assertTrue(device["pci_bdf"], outcome)
        if repeated and call == "hipDeviceGetUuid":
            self.assertEqual({device["uuid"] for device in devices}, {None}, outcome)
        if repeated and number == 1 and call == "hipExtGetLinkTypeAndHopCount":
            for row in outcome.rows("peer"):
                self.assertNotIn("link", row["details"], outcome)

    def test_each_call(self):
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            made = dict(zip(ROWS, pool.map(self.reference, ROWS)))
        jobs = []
        for row, counts in made.items():
            for call, count in counts.items():
                if BEFORE_ROWS.match(call) and row not in ROWS_FOR_THOSE:
                    continue
                middle = (count + 1) // 2
                places = [(1, False), (middle, False), (count, False), (middle, True)]
                if call in CLOSING:
                    places = [(1, False), (1, True)]
                if call in TEARDOWN | FACTS:  # the others: below, in all modes
                    places.append((1, True))
                jobs += [
                    functools.partial(self.strike, ROWS[row], call, *place)
                    for place in dict.fromkeys(places)
                ]
        self.in_parallel(jobs, self.check)
        called = set().union(*made.values())
        # Two that make no call of a device; one that stands in for another; see Symbols for it.
        rest = {"hipGetErrorName", "hipGetErrorString", "hipGetDeviceProperties"}
        self.assertEqual(set(SYMBOLS) - called, rest, "no row above makes these calls")

    def test_from_the_first_on_in_all_modes(self):
        """The rows that need what fails are errors, and the others are not."""
        outcome = self.check_outcome(self.run_program(*ALL, "--json", "out.json", "--quiet"))
        self.assert_all_ok(outcome)
        calls = [name for name, count in outcome.trace.items() if count > 0]
        self.in_parallel(
            [
                functools.partial(self.strike, ("--mode", "all"), call, 1, True)
                for call in calls
                if call not in TEARDOWN | FACTS  # these: above
            ],
            self.check,
        )

    def test_each_attribute(self):
        """Each is another call of one function."""
        count = self.reference("registered")["hipDeviceGetAttribute"]
        self.in_parallel(
            [
                functools.partial(
                    self.strike, ROWS["registered"], "hipDeviceGetAttribute", number, False
                )
                for number in range(1, count + 1)
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
