#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: copies to the host alone, and after a copy to the device, which may have them made by
another engine. Time is the stand-in's own, which only copies move.
usage: test_engines.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import HIP, HipCase, harness

ALONE, AFTER = 56, 48  # GB/s
ALIKE = {"XB_STANDIN_RATE": str(ALONE)}
SLOWER = ALIKE | {"XB_STANDIN_RATE_AFTER_H2D": str(AFTER)}
FIGURE = "bandwidth_after_h2d"
# Copies to the device come first: their queues are not to be used for those to the host.
BOTH = ("--mode", "pinned", "--direction", "both", "--host-memory", "registered,alloc")


class Engines(HipCase):
    def assert_rates(self, outcome, alone, after):
        """Of all rows to the host, of which there are two."""
        self.assert_all_ok(outcome)
        rows = [row for row in outcome.rows() if row["direction"] == "d2h"]
        self.assertEqual([row["variant"] for row in rows], ["registered", "alloc"], outcome)
        for row in rows:
            for name, expected in (("bandwidth", alone), (FIGURE, after)):
                found = harness.figure(row, name)["median"] / (expected * 1e9)
                self.assertAlmostEqual(found, 1, places=2, msg=(name, row))
            self.assertEqual(harness.figure(row, FIGURE)["n"], 6, row)
            self.assertFalse(harness.figure(row, FIGURE)["gates"], row)
        for row in outcome.rows():
            if row["direction"] != "d2h":
                self.assertIsNone(harness.figure(row, FIGURE), row)

    def test_slower_after_a_copy_to_the_device(self):
        self.assert_rates(self.check_outcome(self.measure(*BOTH, environment=SLOWER)), ALONE, AFTER)

    def test_as_fast(self):
        self.assert_rates(self.check_outcome(self.measure(*BOTH, environment=ALIKE)), ALONE, ALONE)

    def test_without_kernels(self):
        """There buffers are filled by copies to the device, on another queue than the timed one."""
        environment = SLOWER | {"XB_STANDIN_ARCH": "gfx999"}
        self.assert_rates(self.check_outcome(self.measure(*BOTH, environment=environment)), ALONE, AFTER)

    def test_reading(self):
        arguments = (*HIP, "--mode", "pinned", "--direction", "d2h", "--device", "0", "--size", "16M", "--samples", "6")
        for environment, words in (
            (SLOWER, ("after h2d", "back to the host is 86 % as fast (48.0, alone 56.0 GB/s)")),
            (ALIKE, ("after h2d", "as fast, within the noise (56.0, alone 56.0 GB/s)")),
        ):
            with self.subTest(environment=environment):
                outcome = self.check_outcome(self.run_program(*arguments, "--verbose", environment=environment))
                self.assertEqual(outcome.code, 0, outcome)
                said = " ".join(outcome.out.split("\nReading\n")[1].split())
                self.assert_words(said, words, outcome)

    def test_host_backend_has_none(self):
        outcome = self.check_outcome(
            self.run_program(
                *("--backend", "host", "--mode", "pinned", "--size", "64K", "--samples", "1"),
                *("--time-limit", "1us", "--warm-up", "1us", "--json", "out.json", "--quiet"),
            )
        )
        self.assert_all_ok(outcome)
        for row in outcome.rows():
            self.assertIsNone(harness.figure(row, FIGURE), row)

    def test_damage(self):
        """Only the copies after one to the device are wrong: that is found all the same."""
        environment = {"XB_STANDIN_DAMAGE": "d2h-after-h2d"}
        outcome = self.measure("--mode", "pinned", "--direction", "d2h", "--device", "0", environment=environment)
        (row,) = self.check_outcome(outcome, codes=(1,)).rows()
        self.assertEqual((row["status"], row["verified"]), ("error", False), row)
        words = (FIGURE, "the data did not arrive as it was sent", "1 of 65536 bytes are wrong")
        self.assert_words(row["reason"], words, row)


if __name__ == "__main__":
    harness.main()
