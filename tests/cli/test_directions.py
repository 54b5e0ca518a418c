#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--direction, and both ways at once.
usage: test_directions.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import math

import harness
from harness import BIDIR, FEW, HOST, MOVING, figure
from measuring import NO_PAIRS, Measuring


class Directions(Measuring):
    """--direction, and both ways at once."""

    def test_both_ways_at_once(self):
        """The whole, each direction out of the same samples, and what they had in common."""
        document = self.run_to_json(
            *(*HOST, "-m", "pinned,async", "-s", "64K", *BIDIR, "-n", "9", "-t", "1ms"),
            *("--chunk", "10000"),
        )
        self.assertEqual([result["mode"] for result in document["results"]], ["pinned", "async"])
        for result in document["results"]:
            with self.subTest(mode=result["mode"]):
                self.assertEqual((result["direction"], result["peer"]), ("bidir", None))
                self.assertEqual((result["bytes"], result["bytes_moved"]), (65536, 2 * 65536))
                self.assert_described(result)
                self.assert_sampled(result, "bandwidth_h2d", "bandwidth_d2h", "overlap")
                ways = (figure(result, "bandwidth_h2d"), figure(result, "bandwidth_d2h"))
                times = ([result["bytes"] / rate for rate in way["samples"]] for way in ways)
                shares = []
                for whole, there, back in zip(result["samples_s"], *times, strict=True):
                    # Neither began before the whole, nor ended behind it.
                    self.assertLessEqual(max(there, back), whole * (1 + 1e-9))
                    shares.append(min(max((there + back - whole) / whole, 0), 1))
                overlap = figure(result, "overlap")
                self.assertGreaterEqual(overlap["min"], 0)
                self.assertLessEqual(overlap["max"], 1)
                for found, expected in zip(overlap["samples"], shares, strict=True):
                    self.assertTrue(math.isclose(found, expected, abs_tol=1e-9), (found, expected))

    def test_one_way_has_no_overlap(self):
        document = self.run_to_json(*HOST, "-m", "pageable,pinned,async", "-s", "4K", *FEW)
        for result in document["results"]:
            for name in ("overlap", "bandwidth_h2d", "bandwidth_d2h"):
                self.assertIsNone(figure(result, name), name)
            self.assertEqual(result["bytes_moved"], result["bytes"])

    def test_order_of_directions(self):
        """Whatever order they are named in."""
        for words in ("both,bidir", "bidir,d2h,h2d"):
            document = self.run_to_json(*HOST, "-m", "pinned", "-s", "4K", *FEW, "-d", words)
            directions = [result["direction"] for result in document["results"]]
            self.assertEqual(directions, ["h2d", "d2h", "bidir"], words)

    def modes_that_go(self, direction):
        self.assert_succeeds("list", "--json", "list.json")
        modes = [mode for mode in self.load("list.json")["modes"] if mode["name"] in MOVING]
        return {mode["name"] for mode in modes if direction in mode["directions"]}

    def modes_of(self, code, direction):
        document, _ = self.run_whatever(code, "-s", "4K", *FEW, "--direction", direction)
        for result in document["results"]:
            self.assertEqual(result["direction"], direction)
        return list(dict.fromkeys(result["mode"] for result in document["results"]))

    def test_direction_of_all_modes(self):
        """Those that go that way, and no word of the others."""
        for direction in ("h2d", "d2h", "bidir"):
            self.assertEqual(set(self.modes_of(0, direction)), self.modes_that_go(direction))

    def test_between_devices(self):
        """Which the host backend has none of: nothing could be tested."""
        document, _ = self.run_whatever(3, "-s", "4K", *FEW, "--direction", "d2d", "--mode", "peer")
        self.assertEqual([result["direction"] for result in document["results"]], ["d2d"])
        document, out = self.run_whatever(3, "--mode", "peer", "-s", "4K", *FEW)
        (result,) = document["results"]
        self.assert_skipped(result, NO_PAIRS)
        self.assertIn(NO_PAIRS, out)


if __name__ == "__main__":
    harness.main()
