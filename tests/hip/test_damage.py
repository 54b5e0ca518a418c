#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: a copy that changes a byte is never a figure.
usage: test_damage.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import BY_COPIES, HipCase, harness


class Damage(HipCase):
    """A copy that changes a byte: never a figure."""

    MODES = ("pageable", "pinned", "async")

    def check(self, directions, outcome):
        self.assertEqual(outcome.code, 1, outcome)
        for row in outcome.rows():
            if row["direction"] not in directions:
                self.assert_ok([row], outcome)
                continue
            self.assertEqual((row["status"], row["verified"]), ("error", False), (row, outcome.label))
            self.assertIn("the data did not arrive as it was sent", row["reason"])
            self.assertEqual(row["figures"], [], row)

    def check_count(self, damage, outcome):
        """That each of the two proofs works: the pattern finds the byte, not only the comparison
        with what was sent."""
        for row in outcome.rows():
            if row["direction"] == damage:
                words = ("1 of 65536 bytes are wrong", "the first at 32768")
                self.assert_words(row["reason"], words, (row, outcome.label))

    def run_damaged(self, damage, directions, **environment):
        environment = {"XB_STANDIN_DAMAGE": damage} | environment
        outcome = self.check_outcome(
            self.measure(
                *("--mode", ",".join(self.MODES), "--host-memory", "registered,alloc"),
                environment=environment,
            )
        )
        self.check(directions, outcome)
        self.check_count(damage, outcome)
        modes = {row["mode"] for row in outcome.rows() if row["direction"] == damage}
        self.assertEqual(modes, set(self.MODES), outcome)
        return outcome

    def test_damage(self):
        """What the device has found is compared with a copy back once more, so that these spoil
        both directions."""
        for damage, directions in (("h2d", ("h2d",)), ("d2h", ("h2d", "d2h"))):
            with self.subTest(damage=damage):
                self.run_damaged(damage, directions)
                # Who reads what a check found before it is there finds nothing.
                self.run_damaged(damage, directions, XB_STANDIN_DELAY_US="500")

    def test_damage_without_kernels(self):
        """What proves the copies is copied itself, so that either way spoils both directions."""
        for damage in ("h2d", "d2h"):
            with self.subTest(damage=damage):
                outcome = self.run_damaged(damage, ("h2d", "d2h"), XB_STANDIN_ARCH="gfx999")
                for row in outcome.rows():
                    reader = BY_COPIES if row["direction"] == "h2d" else "host"
                    self.assertEqual(row["details"]["verified_by"], reader, row)

    def test_damage_of_other_modes(self):
        """Whatever leans on a damaged copy is an error; what does not is not."""
        arguments = ("--mode", "double-buffer,peer", "--peer-path", "staged", "--pairs", "0:1")
        for damage in ("h2d", "d2h"):
            with self.subTest(damage=damage):
                environment = {"XB_STANDIN_DAMAGE": damage}
                outcome = self.check_outcome(self.measure(*arguments, environment=environment))
                self.check(("bidir", "d2d"), outcome)


if __name__ == "__main__":
    harness.main()
