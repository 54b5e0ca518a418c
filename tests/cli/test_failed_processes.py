#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that do not do what they should.
usage: test_failed_processes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import json
import os
import signal

import harness
from harness import SMALL, figure
from processes import KEYS, PROGRAM, ProcessesCase


def load_exactly(text):
    """With the numbers as they are spelt, so that equal means unchanged."""
    return json.loads(text, parse_float=str, parse_int=str)


class Failures(ProcessesCase):
    """Processes that do not do what they should."""

    def check_second_fails(self, what, fate, *words):
        script = self.script(f'if [ $turn -eq 2 ]; then {what}; fi\nexec {PROGRAM} "$@"')
        baseline, candidate, done = self.interleave(1, script, processes=3)
        self.assertEqual(self.fates(baseline), [(0, None, True), (*fate, False), (0, None, True)])
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 3)
        for word in words:
            self.assertIn(word, baseline["processes"][1]["failure"])
        self.assertEqual(baseline["results"][0]["processes_ok"], 2)
        self.assertEqual(baseline["results"][0]["status"], "ok")
        self.assertIsNone(figure(baseline["results"][0], "bandwidth")["medians"][1])
        self.assertRegex(done.out, r"(?m)^ *FAILED:? +process 2 of 3: ")
        self.assertIn("2 of 3 processes have results", done.out)

    def test_killed(self):
        self.check_second_fails("kill -KILL $$", (None, "SIGKILL"), "SIGKILL")

    def test_crashed(self):
        self.check_second_fails("kill -SEGV $$", (None, "SIGSEGV"), "SIGSEGV")

    def test_crashed_behind_its_results(self):
        self.check_second_fails(f'{PROGRAM} "$@"; kill -ABRT $$', (None, "SIGABRT"), "SIGABRT")

    def test_crashed_where_ends_are_ignored(self):
        """A caller that ignores SIGCHLD has its programs ignore it too."""
        baseline, candidate, _ = self.interleave(
            1, self.script("kill -SEGV $$"), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        )
        self.assertEqual(self.fates(baseline), [(None, "SIGSEGV", False)] * 2)
        self.assertEqual(self.fates(candidate), [(0, None, True)] * 2)

    def test_unnamed_signal(self):
        self.check_second_fails("kill -40 $$", (None, "signal 40"), "signal 40")

    def test_nothing_printed(self):
        self.check_second_fails("exit 0", (0, None), "exit code 0", "no results")

    def test_later_refusal_does_not_end_it(self):
        self.check_second_fails("exit 2", (2, None), "exit code 2")
        os.unlink(self.path("turns"))
        self.check_second_fails("exit 3", (3, None), "exit code 3")

    def test_rubbish(self):
        self.check_second_fails("echo rubbish", (0, None), "line 1", "JSON")

    def test_half_a_document(self):
        """Cut between two values, and within one."""
        for cut, what in (
            ("sed '/\"results\"/q'", "the file ends here: it was cut"),
            ("sed -n '1p; 2s/result.*//p; 2q' | tr -d '\\n'", "does not end: the file was cut"),
        ):
            with self.subTest(cut=cut):
                self.check_second_fails(f'{PROGRAM} "$@" | {cut}; exit 0', (0, None), "line ", what)
                os.unlink(self.path("turns"))

    def test_two_documents(self):
        self.check_second_fails(f'{PROGRAM} "$@"', (0, None), "JSON")

    def test_merged_document(self):
        self.check_second_fails(f'exec {PROGRAM} "$@" --processes 2', (0, None), "several processes")

    def test_other_schema(self):
        self.check_second_fails(
            f'{PROGRAM} "$@" | sed s/xferbench.result/xferbench.list/; exit 0', (0, None), "xferbench.list"
        )

    def test_other_conditions(self):
        self.check_second_fails(
            f'exec {PROGRAM} "$@" --host-memory alloc', (0, None), "other conditions", "host-memory"
        )

    def test_other_backend(self):
        self.check_second_fails(
            f"""{PROGRAM} "$@" | sed '/"backend":.*{{/,/}}/s/"host"/"cuda"/'; exit 0""",
            (0, None), "other conditions", "backend",
        )

    def test_more_than_may_be(self):
        self.check_second_fails("exec head -c 70000000 /dev/zero", (None, "SIGTERM"), "64 MiB")

    def test_more_than_fits_together(self):
        """A merged file is never larger than its reader takes."""
        document = self.result("one.json")
        document["results"][0]["details"]["padding"] = "x" * 20_000_000
        self.write_json("one.json", document)
        baseline, _, _ = self.interleave(1, self.script("exec cat one.json"), processes=3)
        self.assertEqual(self.fates(baseline)[:2], [(0, None, True)] * 2)
        self.assertIs(self.fates(baseline)[2][2], False)
        self.assertIn("fewer samples", baseline["processes"][2]["failure"])

    def test_exit_code_that_is_none_of_ours(self):
        """Its results count, and it is no success."""
        script = self.script(f'{PROGRAM} "$@"; exit 7')
        baseline, _, _ = self.interleave(1, script)
        self.assertEqual(self.fates(baseline), [(7, None, True)] * 2)

    def test_all_fail(self):
        baseline, candidate, done = self.interleave(1, self.script("exit 1"))
        self.assertEqual((baseline["results"], baseline["backend"], baseline["config"]), ([], None, None))
        self.assertEqual(candidate["results"][0]["status"], "ok")
        self.assertIn("0 of 2 processes have results", done.out)

    def test_interpreter_that_is_missing(self):
        self.write("broken", "#!/no/such/interpreter\n")
        os.chmod(self.path("broken"), 0o755)
        baseline, _, _ = self.interleave(1, "./broken")
        self.assertEqual(self.fates(baseline), [(None, None, False)] * 2)
        self.assertIn("cannot be started", baseline["processes"][0]["failure"])

    def test_first_refuses(self):
        for code in (2, 3):
            with self.subTest(code=code):
                script = self.script(f"echo 'told why' >&2; exit {code}")
                done = self.assert_ends(
                    code, *SMALL, "--processes", "3", "--interleave", script, "--json", "a", "--baseline-json", "b"
                )
                self.assertIn("told why", done.err)
                self.assertIn("the baseline, './baseline'", done.err)
                self.assertEqual(done.out, "")
                self.assertEqual(self.turns(), 1)
                self.assert_folder_has("baseline", "turns")
                os.unlink(self.path("turns"))

    def test_candidate_refuses_behind_the_baseline(self):
        """What the baseline measured is not lost."""
        script = self.script(f"exec {PROGRAM} {' '.join(SMALL)} --quiet --json=-")
        baseline, candidate, done = self.interleave(2, script, "--device", "7")
        self.assertEqual(self.fates(baseline), [(0, None, True)])
        self.assertEqual(self.fates(candidate), [(2, None, False)])
        self.assertEqual(self.turns(), 1)
        self.assertIn("the candidate, ", done.err)
        self.assertIn("1 of 2 processes have results", done.out)

    def test_baseline_of_skipped_rows_only(self):
        """Nothing was measured there; the candidate's success does not hide it."""
        document = self.result("one.json")
        row = document["results"][0]
        self.skip_row(row)
        self.write_json("one.json", document)
        baseline, _, _ = self.interleave(3, self.script("cat one.json; exit 3"))
        self.assertEqual(baseline["results"][0]["status"], "skipped")

    def skip_row(self, row):
        for key, value in row.items():
            if key not in (*KEYS, "warnings", "details"):
                row[key] = [] if isinstance(value, list) else None
        row |= {"status": "skipped", "reason": "not today"}

    def test_rows_that_differ(self):
        """Processes of a stand-in: right, wrong, skipped, not there."""
        first = self.result("1.json")
        wrong, skipped, other = (copy.deepcopy(first) for _ in range(3))
        wrong["results"][0] |= {
            "status": "error", "reason": "the data is wrong", "verified": False, "figures": [],
        }
        self.skip_row(skipped["results"][0])
        other["results"][0]["bytes"] = 8192
        for number, document in enumerate((wrong, skipped, other), 2):
            self.write_json(f"{number}.json", document)
        script = self.script("cat $turn.json; test $turn -ne 2")
        baseline, _, done = self.interleave(1, script, processes=4)
        self.assertEqual(self.fates(baseline), [(0, None, True), (1, None, True), (0, None, True), (0, None, True)])
        row, late = baseline["results"]
        self.assertEqual((row["status"], row["reason"], row["verified"]), ("error", "the data is wrong", False))
        self.assertEqual((row["processes_ok"], figure(row, "bandwidth")["n"]), (1, 1))
        self.assertEqual((late["status"], late["reason"]), ("skipped", "process 0 has no such row"))
        self.assertEqual((late["processes_ok"], late["bytes"]), (1, 8192))
        self.assertRegex(done.out, r"(?m)^ *ERROR:? +pinned .* in 3 of 4 processes, at the worst: the data is wrong$")

    def test_documents_are_unchanged(self):
        """To the last digit, with what this version does not know."""
        document = self.result("1.json")
        document["host"]["memory_bytes"] = 4000000000000000
        document["results"][0]["details"] |= {"large": 18446744073709551615, "tiny": 1.2345678901234567e-300}
        self.write("1.json", json.dumps(document, indent=3))
        baseline, _, _ = self.interleave(0, self.script("cat 1.json"))
        merged = load_exactly(self.read("baseline.json"))
        expected = load_exactly(self.read("1.json"))
        for process in merged["processes"]:
            self.assertEqual(process["document"], expected)
        for key in ("host", "backend", "devices", "environment", "config"):
            self.assertEqual(merged[key], expected[key])


if __name__ == "__main__":
    harness.main()
