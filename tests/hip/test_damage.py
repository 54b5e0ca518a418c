#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: a copy that changes a byte is never a figure.
usage: test_damage.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import BY_COPIES, PIECES, HipCase, harness

SINGLE = ("--mode", "pageable,pinned,async", "--host-memory", "registered,alloc")
OTHERS = ("--mode", "double-buffer,peer", "--peer-path", "staged", "--pairs", "0:1")
# The pattern finds the byte, not only the comparison with what was sent.
COUNTED = ("1 of 65536 bytes are wrong", "the first at 32768")
NO_KERNELS = {"XB_STANDIN_ARCH": "gfx999"}
# Who reads what a check found before it is there finds nothing.
LATE = {"XB_STANDIN_DELAY_US": "500"}
NO_ATTRIBUTES = {"XB_STANDIN_BATCH": "no-attributes"}


class Damage(HipCase):
    def check(self, outcome, arguments, damage, spoiled, environment):
        self.assertEqual(outcome.code, 1, outcome)
        for row in outcome.rows():
            if row["direction"] not in spoiled:
                self.assert_ok([row], outcome)
                continue
            self.assertEqual((row["status"], row["verified"], row["figures"]), ("error", False, []), row)
            self.assertIn("wrong" if arguments == PIECES else "the data did not arrive as it was sent", row["reason"])
            if arguments == SINGLE and row["direction"] == damage:
                self.assert_words(row["reason"], COUNTED, row)
            if environment == NO_KERNELS:
                reader = BY_COPIES if row["direction"] == "h2d" else "host"
                self.assertEqual(row["details"]["verified_by"], reader, row)
        names = {row["mode"] if arguments == SINGLE else row["variant"] for row in outcome.rows()}
        if arguments != OTHERS:
            ways = {"each", "call", "graph", "pitched"}
            self.assertEqual(names, ways if arguments == PIECES else {"pageable", "pinned", "async"}, outcome)

    def test_damage(self):
        """What the device has found is compared with a copy back once more, and without kernels what proves
        the copies is copied itself: so that these spoil both directions."""
        self.in_parallel(
            lambda arguments, damage, _, environment: self.measure(
                *arguments, environment={"XB_STANDIN_DAMAGE": damage} | environment
            ),
            self.check,
            [
                *((SINGLE, "h2d", ("h2d",), more) for more in ({}, LATE)),
                *((SINGLE, "d2h", ("h2d", "d2h"), more) for more in ({}, LATE)),
                *((SINGLE, damage, ("h2d", "d2h"), NO_KERNELS) for damage in ("h2d", "d2h")),
                # Whatever leans on a damaged copy is an error; what does not is not.
                *((OTHERS, damage, ("bidir", "d2d"), {}) for damage in ("h2d", "d2h")),
                *((PIECES, "h2d", ("h2d",), more) for more in ({}, NO_ATTRIBUTES)),
                *((PIECES, "d2h", ("h2d", "d2h"), more) for more in ({}, NO_ATTRIBUTES)),
            ],
        )

    def test_damage_after_a_copy_to_the_device(self):
        """Only the copies that come after one are wrong: that is found all the same."""
        environment = {"XB_STANDIN_DAMAGE": "d2h-after-h2d"}
        outcome = self.measure("--mode", "pinned", "--direction", "d2h", "--device", "0", environment=environment)
        (row,) = self.check_outcome(outcome, codes=(1,)).rows()
        self.assertEqual((row["status"], row["verified"]), ("error", False), row)
        words = ("bandwidth_after_h2d", "the data did not arrive as it was sent", "1 of 65536 bytes are wrong")
        self.assert_words(row["reason"], words, row)


if __name__ == "__main__":
    harness.main()
