#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every single wait for a stream fails in turn: somebody is told of it, or it waited for nothing. A
failed wait that nobody is told of would be a wrong figure.
usage: test_failed_waits.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import functools

from stand_in import HipCase, harness

WAIT = "hipStreamSynchronize"
# Four streams both ways, and the most kinds of waits.
ROW = ("--mode", "async", "--direction", "bidir")


class FailedWaits(HipCase):
    def strike(self, number):
        outcome = self.measure(*ROW, environment={"XB_STANDIN_FAIL": f"{WAIT}:{number}"})
        outcome.number = int(number.rstrip("+"))
        return outcome

    def check(self, outcome):
        (row,) = outcome.rows()
        if outcome.trace[WAIT] < outcome.number:  # it made fewer, and none failed
            self.assert_all_ok(outcome)
        elif "struck-in-use" in outcome.trace:
            self.assertEqual((outcome.code, row["status"]), (1, "error"), outcome)
            self.assertEqual(row["error"]["call"], WAIT, outcome)
        else:
            self.assert_all_ok(outcome)
            self.closing.append(outcome.number)

    def test_each_wait(self):
        """Alone, and with all behind it: from some wait on, only those are left that close streams."""
        made = self.check_outcome(self.measure(*ROW)).trace[WAIT]
        for behind in ("", "+"):
            self.closing = []
            strikes = [functools.partial(self.strike, f"{number}{behind}") for number in range(1, made + 1)]
            self.in_parallel(strikes, self.check)
            self.assertLess(len(self.closing), made // 2, "most waits are for work")


if __name__ == "__main__":
    harness.main()
