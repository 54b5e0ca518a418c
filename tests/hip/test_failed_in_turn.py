#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every single wait for a stream, and every single choice of a device, fails in turn: somebody is told
of it, or it was to close something. A failure that nobody is told of would be a wrong figure.
usage: test_failed_in_turn.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import functools

from stand_in import HipCase, harness

WAIT, CHOICE = "hipStreamSynchronize", "hipSetDevice"
# Four streams both ways, and the most kinds of waits.
WAITS = ("--mode", "async", "--direction", "bidir")
# Every kind of memory that is freed, and two devices.
CHOICES = (
    ("--mode", "pageable", "--direction", "h2d"),
    ("--mode", "pinned", "--direction", "h2d", "--host-memory", "alloc"),
    ("--mode", "managed", "--direction", "h2d", "--managed", "prefetch"),
    ("--mode", "async", "--direction", "d2h"),
    ("--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read", "--direction", "d2d"),
)


def kept_access(trace):
    """Whether it was to take a device's access to another back, which is then not asked for."""
    return trace["hipDeviceDisablePeerAccess"] < trace["hipDeviceEnablePeerAccess"]


class FailedInTurn(HipCase):
    def strike(self, row, call, number):
        outcome = self.measure(*row, environment={"XB_STANDIN_FAIL": f"{call}:{number}"})
        outcome.call, outcome.number = call, int(number.rstrip("+"))
        return outcome

    def check(self, outcome):
        if outcome.trace[outcome.call] < outcome.number:  # it made fewer, and none failed
            self.assert_all_ok(outcome)
        elif "struck-in-use" in outcome.trace and not kept_access(outcome.trace):
            (row,) = outcome.rows()
            self.assertEqual((outcome.code, row["status"]), (1, "error"), outcome)
            self.assertEqual(row["error"]["call"], outcome.call, outcome)
        else:
            self.assert_all_ok(outcome)
            self.closing.append(outcome.number)

    def strike_each(self, row, call, behind=""):
        made = self.check_outcome(self.measure(*row)).trace[call]
        self.closing = []
        numbers = [f"{number}{behind}" for number in range(1, made + 1)]
        self.in_parallel([functools.partial(self.strike, row, call, number) for number in numbers], self.check)
        self.assertLess(len(self.closing), made // 2, f"most calls of {call} are for work")

    def test_each_wait(self):
        """Alone, and with all behind it: from some wait on, only those are left that close streams."""
        for behind in ("", "+"):
            self.strike_each(WAITS, WAIT, behind)

    def test_each_choice(self):
        for row in CHOICES:
            self.strike_each(row, CHOICE)


if __name__ == "__main__":
    harness.main()
