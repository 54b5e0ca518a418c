# SPDX-License-Identifier: Apache-2.0
"""What tests of measurements share: ways to measure, and to look at what came of it."""

import math
import statistics

from harness import HOST, Case, figure

# What a figure has besides its statistics.
FIGURE_KEYS = {"name", "unit", "more_is_better", "gates", "samples"}
NO_PAIRS = "this backend has no copies between devices"
# The columns of CSV for latencies: which figure, and what of it.
CSV_LATENCY = {
    f"{clock}_latency_{column}_s": (f"latency_{clock}", key)
    for clock in ("host", "device")
    for column, key in (("p50", "median"), ("p95", "p95"), ("p99", "p99"))
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
        "p99": quantile(values, 0.99),
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

    def tables(self, text):
        """The head and the rows of each table: what ran alone, and behind it what ran at the same time."""
        lines = text.split("\n")
        heads = [i for i, line in enumerate(lines) if line.startswith("MODE ")]
        bodies = [lines[i + 1 :] for i in heads]
        return [(lines[i], body[: body.index("")]) for i, body in zip(heads, bodies)]

    def head_and_rows(self, text):
        tables = self.tables(text)
        self.assertEqual(len(tables), 1, text)
        return tables[0]

    def rows(self, table):
        """The rows of a table, without its head."""
        head, rows = self.head_and_rows(table)
        self.assert_words(head, ("DIR", "SIZE", "GB/s", "INTERVAL", "MIN", "MAX"))
        self.assertRegex(head, r" SUBMIT +(DONE +)?N +(VERIFIED|OK)$")  # OK where lines are long
        return rows

    def assert_described(self, result):
        """The bandwidth is what the times of the samples make it."""
        rates = [result["bytes_moved"] / seconds for seconds in result["samples_s"]]
        self.assert_sampled(result, "bandwidth")
        for found, expected in zip(figure(result, "bandwidth")["samples"], rates, strict=True):
            self.assert_near(found, expected)

    def assert_sampled(self, result, *names):
        """These figures are described as their own samples make them."""
        for name in names:
            found = figure(result, name)
            self.assertIsNotNone(found, f"{name}: {result}")
            self.assert_statistics(found, found["samples"])

    def assert_statistics(self, found, samples):
        """The figure is described as these samples make it."""
        expected = describe(samples)
        self.assertEqual(found.keys() - expected.keys(), FIGURE_KEYS)
        for key, value in expected.items():
            if value is None or key == "n":
                self.assertEqual(found[key], value, (found["name"], key))
            else:  # sums in another order differ in the last bits, near zero by more
                self.assertTrue(
                    math.isclose(found[key], value, rel_tol=1e-12, abs_tol=1e-12 * expected["max"]),
                    f"{found['name']}, {key}: {found[key]} is not {value}",
                )

    def assert_computed(self, result, name, value):
        """That figure was computed from others, and comes to that."""
        found = figure(result, name)
        self.assertIsNotNone(found, f"{name}: {result}")
        self.assertEqual((found["n"], found["samples"]), (0, []), name)
        for key in describe([1]).keys() - {"median", "n"}:
            self.assertIsNone(found[key], (name, key))
        self.assert_near(found["median"], value, name)
