#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: many pieces by every way of the runtime, and what the runtime makes of a batch of copies.
usage: test_pieces.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import functools

from stand_in import HIP, PIECES, HipCase, harness

WAYS = {"each", "call", "graph", "pitched"}


class Pieces(HipCase):
    """Where nothing fails, and where the runtime refuses some of it."""

    def run_batches(self, form, *arguments):
        environment = {"XB_STANDIN_BATCH": form} if form else {}
        return self.check_outcome(self.measure(*PIECES, *arguments, environment=environment))

    def facts(self, outcome):
        return [device["facts"].get("batch") for device in outcome.document["devices"]]

    def test_every_way(self):
        outcome = self.run_batches(None, "--device", "all")
        self.assert_all_ok(outcome)
        self.assertEqual({row["variant"] for row in outcome.rows()}, WAYS)
        self.assertEqual({row["device"] for row in outcome.rows()}, {0, 1})
        self.assertEqual(self.facts(outcome), ["with attributes, at most 8192 copies a call"] * 2)

    def test_refused_attributes(self):
        """As ROCm 7.2 refuses them: copied without, and that is told."""
        outcome = self.run_batches("no-attributes")
        self.assert_all_ok(outcome)
        self.assertEqual({row["variant"] for row in outcome.rows()}, WAYS)
        for fact in self.facts(outcome):
            self.assert_words(
                fact, ("without attributes: refused", "hipErrorNotSupported", "8192"), outcome
            )

    def test_refused_batches(self):
        outcome = self.run_batches("refused")
        self.assertEqual(outcome.code, 0, outcome)
        by_call = [row for row in outcome.rows() if row["variant"] == "call"]
        words = ("'batch'", "the runtime refuses a batch", "hipErrorNotSupported")
        self.assert_skipped(by_call, words, outcome)
        self.assert_ok([row for row in outcome.rows() if row not in by_call], outcome)
        self.assertEqual(set(self.facts(outcome)), {None})

    def test_refused_by_another_error(self):
        """An error that says that something is amiss with the call is a refusal, and no other is."""

        def run(code, calls):
            environment = {"XB_STANDIN_FAIL": f"hipMemcpyBatchAsync:{calls}", "XB_STANDIN_CODE": code}
            arguments = ("--mode", "batch", "--batch", "call")
            outcome = self.check_outcome(self.measure(*arguments, environment=environment))
            outcome.case = (code, calls)
            return outcome

        def check(outcome):
            code, calls = outcome.case
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

        cases = [(code, calls) for code in ("1", "999") for calls in ("1", "1+")]
        self.in_parallel([functools.partial(run, *case) for case in cases], check)

    def test_more_than_a_call_takes(self):
        """The stand-in refuses a call with more pieces, as a GPU would not: it faults."""
        for pieces, calls in ((8192, 1), (8193, 2), (16385, 3)):
            with self.subTest(pieces=pieces):
                outcome = self.run_program(
                    *(*HIP, "--size", str(64 * pieces), "--samples", "1", "--time-limit", "1us"),
                    *("--warm-up", "1us", "--mode", "batch", "--batch", "call", "--piece", "64", "--call-pieces", "0"),
                    *("--direction", "h2d", "--json", "out.json", "--quiet"),
                )
                self.check_outcome(outcome)
                self.assert_all_ok(outcome)
                made = outcome.trace["hipMemcpyBatchAsync"] - 2  # of the trial
                self.assertGreater(made, 0, outcome)
                self.assertEqual(made % calls, 0, outcome)


class Damage(HipCase):
    """A copy that changes a byte: never a figure."""

    def check(self, damage, outcome):
        """The device's side of every proof is copied back: that damage spoils both directions."""
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual({row["variant"] for row in outcome.rows()}, WAYS)
        for row in outcome.rows():
            if damage == "h2d" and row["direction"] == "d2h":
                self.assert_ok([row], outcome)
                continue
            self.assertEqual((row["status"], row["verified"]), ("error", False), (row, outcome.label))
            self.assertIn("wrong", row["reason"], outcome)

    def test_damage(self):
        for damage in ("h2d", "d2h"):
            for form in ("", "no-attributes"):
                with self.subTest(damage=damage, form=form):
                    environment = {"XB_STANDIN_DAMAGE": damage, "XB_STANDIN_BATCH": form}
                    outcome = self.measure(*PIECES, environment=environment)
                    self.check(damage, self.check_outcome(outcome))


if __name__ == "__main__":
    harness.main()
