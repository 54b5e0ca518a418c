# SPDX-License-Identifier: Apache-2.0
"""What tests of measurements share: ways to measure, and to look at what came of it."""

import math
import statistics

from harness import HOST, Case

NO_PAIRS = "this backend has no copies between devices"
CSV_LATENCY = {
    f"{clock}_latency_{key}_s": (clock, key)
    for clock in ("host", "device")
    for key in ("p50", "p95", "p99")
}


def quantile(values, p):
    """Linear between closest ranks: type 7 of Hyndman and Fan, 1996."""
    ordered = sorted(values)
    below = math.floor((len(ordered) - 1) * p)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + ((len(ordered) - 1) * p - below) * (ordered[above] - ordered[below])


def interval_ranks(n):
    """The largest l with P(Binomial(n, 1/2) < l) <= 0.025, and n + 1 - l; in whole numbers."""
    below = 0
    low = 0
    while 40 * (below + math.comb(n, low)) <= 2**n:
        below += math.comb(n, low)
        low += 1
    return (low, n + 1 - low) if low > 0 else None


def describe(values):
    middle = statistics.median(values)
    ordered = sorted(values)
    ranks = interval_ranks(len(values))
    return {
        "median": middle,
        "ci95_low": ordered[ranks[0] - 1] if ranks else None,
        "ci95_high": ordered[ranks[1] - 1] if ranks else None,
        "min": min(values),
        "max": max(values),
        "p5": quantile(values, 0.05),
        "p95": quantile(values, 0.95),
        "mad": statistics.median(abs(value - middle) for value in values),
        "n": len(values),
    }


class Measuring(Case):
    """Ways to measure, and to look at what came of it."""

    def run_to_json(self, *arguments, **options):
        self.assert_succeeds(*arguments, "--json", "out.json", **options)
        document = self.load("out.json")
        self.assert_all_ok(document)
        return document

    def run_one(self, *arguments):
        """The result of a run that has but one."""
        (result,) = self.run_to_json(*HOST, *arguments)["results"]
        return result

    def run_whatever(self, code, *arguments):
        """The document of a run in which not all is well, and what was printed."""
        outcome = self.run_program(*HOST, *arguments, "--json", "out.json")
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.err, "")
        return self.load("out.json"), outcome.out

    def assert_statuses(self, results, expected):
        self.assertEqual([result["status"] for result in results], expected)

    def assert_skipped(self, result, *words):
        self.assertEqual(result["status"], "skipped", result)
        self.assert_words(result["reason"], words)

    def assert_error(self, result, *words):
        self.assertEqual(result["status"], "error", result)
        self.assertEqual(result["error"]["status"], "usage")
        self.assert_words(result["reason"], words)

    def assert_near(self, found, expected, message=None):
        """The same but for how a double is rounded."""
        self.assertTrue(
            math.isclose(found, expected, rel_tol=1e-9), f"{message}: {found} is not {expected}"
        )

    def head_and_rows(self, table):
        lines = table.split("\n")
        heads = [i for i, line in enumerate(lines) if line.startswith("MODE ")]
        self.assertEqual(len(heads), 1, table)
        body = lines[heads[0] + 1 :]
        return lines[heads[0]], body[: body.index("")]

    def rows(self, table):
        """The rows of a table, without its head."""
        head, rows = self.head_and_rows(table)
        self.assert_words(head, ("DIR", "SIZE", "GB/s", "INTERVAL", "MIN", "MAX"))
        self.assertRegex(head, r" SUBMIT +DONE +N +(VERIFIED|OK)$")  # OK where lines are long
        return rows

    def assert_described(self, result):
        rates = [result["bytes_moved"] / seconds for seconds in result["samples_s"]]
        expected = describe(rates)
        found = result["bandwidth_bytes_per_second"]
        self.assertEqual(found.keys(), expected.keys())
        for key, value in expected.items():
            if value is None or key == "n":
                self.assertEqual(found[key], value, key)
            else:  # sums in another order differ in the last bits, near zero by more
                self.assertTrue(
                    math.isclose(found[key], value, rel_tol=1e-12, abs_tol=1e-12 * expected["max"]),
                    f"{key}: {found[key]} is not {value}",
                )

    def assert_parts(self, result, *names):
        self.assertEqual(list(result["parts"]), list(names))
        for name, part in result["parts"].items():
            self.assert_near(part["median_s"], statistics.median(part["samples_s"]), name)
