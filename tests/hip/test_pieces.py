#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: many pieces by every way of the runtime, and what the runtime makes of a batch of copies.
usage: test_pieces.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

from stand_in import HIP, PIECES, HipCase, harness

WAYS = {"each", "call", "graph", "pitched"}
ATTRIBUTES = ("with attributes, at most 8192 copies a call",)
REFUSED_ATTRIBUTES = ("without attributes: refused", "hipErrorNotSupported", "8192")


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
