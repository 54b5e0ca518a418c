#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The deadline of several processes.
usage: test_processes_deadline.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import harness
from harness import SMALL
from processes import ProcessesCase


class Deadline(ProcessesCase):
    """When it comes, what was measured is written, and who outstays it is ended."""

    def test_deadline(self):
        """The first process begins all the same: it says what there was to measure."""
        done = self.assert_ends(3, *SMALL, "--processes", "3", "--deadline", "1us", "--json", "out.json")
        merged = self.load("out.json")
        self.assertIs(merged["deadline_met"], False)
        self.assertEqual((merged["asked"], self.fates(merged)), (3, [(3, None, True)]))
        self.assertIn("the deadline came: 1 of 3 processes", done.out)

    def test_deadline_that_is_met(self):
        self.assert_ends(0, *SMALL, "--processes", "2", "--deadline", "50m", "--json", "out.json")
        merged = self.load("out.json")
        self.assertIs(merged["deadline_met"], True)
        left = [process["document"]["config"]["deadline"] for process in merged["processes"]]
        self.assertTrue(0 < left[1] < left[0] <= 3000, left)

    def test_deadline_that_never_comes(self):
        """As seconds it has more digits than the option takes."""
        self.assert_succeeds(*SMALL, "--processes", "2", "--deadline", "1844674407370955161m", "--json", "out.json")
        self.assertIs(self.load("out.json")["deadline_met"], True)

    def test_deadline_that_cut_a_process(self):
        document = self.result("one.json")
        document["deadline_met"] = False
        self.write_json("one.json", document)
        baseline, candidate, _ = self.interleave(0, self.script("cat one.json"), "--deadline", "50m")
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, True))

    def test_process_that_outstays_the_deadline(self):
        """10 s later it gets SIGTERM, which it does not leave for, and 5 s after that SIGKILL."""
        stub = self.python(
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nput_forward(10)\n"
            "signal.sigwait([signal.SIGTERM])\nput_forward(5)\nsignal.sigwait([signal.SIGTERM])\n"
        )
        baseline, candidate, _ = self.interleave(1, stub, "--deadline", "1us", **self.hastened())
        self.assertEqual(self.fates(baseline), [(None, "SIGKILL", False)])
        self.assertIn("deadline", baseline["processes"][0]["failure"])
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, False))

    def test_process_that_must_be_told_of_the_deadline(self):
        """After 10 s. What it writes then counts, and it is no success."""
        self.result("one.json")
        stub = self.python(
            "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nput_forward(10)\n"
            "signal.sigwait([signal.SIGTERM])\nsys.stdout.write(open('one.json').read())\nsys.exit(143)\n"
        )
        baseline, _, _ = self.interleave(1, stub, "--deadline", "1us", **self.hastened())
        self.assertEqual(self.fates(baseline), [(143, None, True)])
        self.assertIs(baseline["deadline_met"], False)


if __name__ == "__main__":
    harness.main()
