#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: wrong copies are never a figure; copies by one engine or another; many pieces by every way.
usage: test_copies.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import BY_COPIES, FEW, HIP, PIECES, HipCase, harness

SINGLE = ("--mode", "pageable,pinned,async", "--host-memory", "registered,alloc")
OTHERS = ("--mode", "double-buffer,peer", "--peer-path", "staged", "--pairs", "0:1")
# The pattern finds the byte, not only the comparison with what was sent.
COUNTED = ("1 of 65536 bytes are wrong", "the first at 32768")
NO_KERNELS = {"XB_STANDIN_ARCH": "gfx999"}
# Who reads what a check found before it is there finds nothing.
LATE = {"XB_STANDIN_DELAY_US": "500"}
NO_ATTRIBUTES = {"XB_STANDIN_BATCH": "no-attributes"}
ALONE, AFTER = 56, 48  # GB/s
ALIKE = {"XB_STANDIN_RATE": str(ALONE)}
SLOWER = ALIKE | {"XB_STANDIN_RATE_AFTER_H2D": str(AFTER)}
FIGURE = "bandwidth_after_h2d"
WAYS = {"each", "call", "graph", "pitched"}
ATTRIBUTES = ("with attributes, at most 8192 copies a call",)
REFUSED_ATTRIBUTES = ("without attributes: refused", "hipErrorNotSupported", "8192")


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


class Engines(HipCase):
    """Copies to the host alone, and after a copy to the device, which may have them made by another engine. Time is the
    stand-in's own, which only copies move."""

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


class Pieces(HipCase):
    """Where nothing fails, and where the runtime refuses some of it."""

    def facts(self, outcome):
        return [device["facts"].get("batch") for device in outcome.document["devices"]]

    def test_every_way(self):
        """ROCm 7.2 refuses attributes: then copies go without, and that is told."""
        for form, fact in (("", ATTRIBUTES), ("no-attributes", REFUSED_ATTRIBUTES)):
            outcome = self.measure(*PIECES, "--device", "all", environment={"XB_STANDIN_BATCH": form})
            self.assert_all_ok(self.check_outcome(outcome))
            self.assertEqual({row["variant"] for row in outcome.rows()}, WAYS)
            self.assertEqual({row["device"] for row in outcome.rows()}, {0, 1})
            for told in self.facts(outcome):
                self.assert_words(told, fact, outcome)

    def test_refused_batches(self):
        outcome = self.check_outcome(self.measure(*PIECES, environment={"XB_STANDIN_BATCH": "refused"}))
        by_call = [row for row in outcome.rows() if row["variant"] == "call"]
        words = ("'batch'", "the runtime refuses a batch", "hipErrorNotSupported")
        self.assert_lost(outcome.rows(), by_call, words, outcome)
        self.assertEqual(set(self.facts(outcome)), {None})

    def test_refused_by_another_error(self):
        """An error that says that something is amiss with the call is a refusal, and no other is."""

        def check(outcome, code, calls):
            if code == "999":
                self.assertEqual(outcome.code, 1, outcome)
                for row in outcome.rows():
                    self.assertEqual(row["error"]["call"], "hipMemcpyBatchAsync", outcome)
                    self.assertEqual(row["error"]["native_code"], 999, outcome)
            elif calls == "1":
                self.assert_all_ok(outcome)
                for fact in self.facts(outcome):
                    self.assertIn("without attributes: refused (hipErrorInvalidValue)", fact)
            else:
                self.assertEqual(outcome.code, 3, outcome)
                self.assert_skipped(outcome.rows(), ("hipErrorInvalidValue",), outcome)

        self.in_parallel(
            lambda code, calls: self.measure(
                *("--mode", "batch", "--batch", "call"),
                environment={"XB_STANDIN_FAIL": f"hipMemcpyBatchAsync:{calls}", "XB_STANDIN_CODE": code},
            ),
            check,
            [(code, calls) for code in ("1", "999") for calls in ("1", "1+")],
        )

    def test_more_than_a_call_takes(self):
        """The stand-in refuses a call with more pieces, as a GPU would not: it faults."""

        def check(outcome, _, calls):
            self.assert_all_ok(outcome)
            made = outcome.trace["hipMemcpyBatchAsync"] - 2  # of the trial
            self.assertGreater(made, 0, outcome)
            self.assertEqual(made % calls, 0, outcome)

        self.in_parallel(
            lambda pieces, _: self.run_program(
                *(*HIP, "--size", str(64 * pieces), "--samples", "1", "--time-limit", "1us", "--warm-up", "1us"),
                *("--mode", "batch", "--batch", "call", "--piece", "64", "--call-pieces", "0"),
                *("--direction", "h2d", "--json", "out.json", "--quiet"),
            ),
            check,
            ((8192, 1), (8193, 2), (16385, 3)),
        )


if __name__ == "__main__":
    harness.main()
