#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: copies to the host alone, and after a copy to the device, which may have them made by
another engine. Time is the stand-in's own, which only copies move.
usage: test_engines.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import FEW, HIP, HipCase, harness

ALONE, AFTER = 56, 48  # GB/s
ALIKE = {"XB_STANDIN_RATE": str(ALONE)}
SLOWER = ALIKE | {"XB_STANDIN_RATE_AFTER_H2D": str(AFTER)}
FIGURE = "bandwidth_after_h2d"


class Engines(HipCase):
    def check_rates(self, outcome, _, after):
        """Of all rows to the host, of which there are two."""
        self.assert_all_ok(outcome)
        rows = [row for row in outcome.rows() if row["direction"] == "d2h"]
        self.assertEqual([row["variant"] for row in rows], ["registered", "alloc"], outcome)
        for row in rows:
            for name, expected in (("bandwidth", ALONE), (FIGURE, after)):
                found = harness.figure(row, name)["median"] / (expected * 1e9)
                self.assertAlmostEqual(found, 1, places=2, msg=(name, row))
            self.assertEqual(harness.figure(row, FIGURE)["n"], 6, row)
            self.assertFalse(harness.figure(row, FIGURE)["gates"], row)
        for row in outcome.rows():
            if row["direction"] != "d2h":
                self.assertIsNone(harness.figure(row, FIGURE), row)

    def test_rates(self):
        """Copies to the device come first: their queues are not to be used for those to the host. Without
        kernels buffers are filled by copies to the device, on another queue than the timed one."""
        both = ("--mode", "pinned", "--direction", "both", "--host-memory", "registered,alloc")
        self.in_parallel(
            lambda environment, _: self.measure(*both, environment=environment),
            self.check_rates,
            ((SLOWER, AFTER), (ALIKE, ALONE), (SLOWER | {"XB_STANDIN_ARCH": "gfx999"}, AFTER)),
        )

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
        arguments = ("--backend", "host", *FEW, "--mode", "pinned", "--json", "out.json", "--quiet")
        outcome = self.check_outcome(self.run_program(*arguments))
        self.assert_all_ok(outcome)
        for row in outcome.rows():
            self.assertIsNone(harness.figure(row, FIGURE), row)


if __name__ == "__main__":
    harness.main()
