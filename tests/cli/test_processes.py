#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--processes and --interleave: what is made of processes that differ, fail, refuse or come too late. What is
written where all go well is in tests/golden/run. usage: test_processes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import signal
import sys
import termios

import harness
from harness import PROGRAM, SMALL, XFERBENCH, Interleaving, Terminal, base_environment, figure, has_ended, kill

FINE = (0, None, True)
NOISY = "noisy: the median is known only to within {} %"


def load_exactly(text):
    """With the numbers as they are spelt, so that equal means unchanged."""
    return json.loads(text, parse_float=str, parse_int=str)


def skip(row):
    """The row as of a case that was not measured."""
    kept = ("mode variant direction bytes device peer latency simultaneous parameters warnings details").split()
    row |= {key: [] if isinstance(value, list) else None for key, value in row.items() if key not in kept}
    row |= {"status": "skipped", "reason": "not today"}


class Documents(Interleaving):
    """The documents of the baseline's processes are made here, from one that was measured."""

    def setUp(self):
        super().setUp()
        self.one = self.result("one.json")
        self.one["results"][0]["warnings"] = []

    def copies(self, count):
        return [copy.deepcopy(self.one) for _ in range(count)]

    def merge(self, documents, code=0):
        """The merged file of these processes, and its table, each note on one line."""
        for turn, document in enumerate(documents, 1):
            self.write_json(f"{turn}.json", document)
        self.write("turns", "")
        baseline, _, done = self.interleave(
            code, self.script("cat $turn.json"), "--verbose", processes=len(documents))
        table = done.out[: done.out.index("\nxferbench ")]  # the candidate's is behind it
        for line in table.splitlines():
            self.assertLessEqual(len(line), 100, table)
        return baseline, re.sub(r"\n {3,}", " ", table)

    def test_other_conditions(self):
        """Figures of other things are not taken together. What is another condition: tests/unit/record/record.txt."""
        documents = self.copies(3)
        documents[1]["backend"]["name"] = "cuda"
        documents[2]["config"]["deadline"] = 12.5  # what is left of a deadline is none
        merged, table = self.merge(documents, code=1)
        failure = "measured under other conditions: the backend is another one (host, then cuda)"
        for process, words in zip(merged["processes"], (None, failure, None), strict=True):
            self.assertEqual((process["document"] is None, process["failure"]), (words is not None, words))
        row = merged["results"][0]
        self.assertEqual((row["status"], row["processes_ok"]), ("ok", 2))
        self.assertEqual([median is None for median in figure(row, "bandwidth")["medians"]], [False, True, False])
        self.assertIn("other conditions", table)

    def test_rows_that_differ(self):
        """Right, wrong, skipped, another one; a failed process says nothing of any case."""
        documents = self.copies(5)
        documents[1]["results"][0] |= {"status": "error", "reason": "wrong data", "verified": False, "figures": []}
        skip(documents[2]["results"][0])
        documents[3]["results"][0]["bytes"] = 8192
        documents[4] = {"schema": "none"}
        merged, table = self.merge(documents, code=1)
        self.assertEqual(self.fates(merged), [FINE] * 4 + [(0, None, False)])
        row, late = merged["results"]
        self.assertEqual((row["status"], row["reason"], row["verified"]), ("error", "wrong data", False))
        self.assertEqual((row["processes_ok"], figure(row, "bandwidth")["n"]), (1, 1))
        self.assertEqual((late["status"], late["reason"]), ("skipped", "process 0 has no such row"))
        self.assertEqual((late["processes_ok"], late["verified"], late["bytes"]), (1, None, 8192))
        self.assertRegex(table, r"(?m)^ *ERROR:? +pinned .* in 3 of 4 processes, at the worst: wrong data$")
        self.assertRegex(table, r"(?m)^pinned .* 8 KiB .* 1  -$")
        self.assertRegex(table, r"(?m)^  skipped +pinned registered h2d 8 KiB in 3 of 4 processes, at the worst: "
                                r"process 0 has no such row$")

    def test_warnings(self):
        """Those that differ by a number are one note, of as many processes as have it."""
        documents = self.copies(4)
        for number in (0, 2, 3):
            documents[number]["results"][0]["warnings"] = [NOISY.format(31 + number)]
        documents[2]["results"][0]["warnings"].append("\x1b[31mred\nä" + 9000 * "x ")
        documents[1]["results"][0]["warnings"] = [f"w{letter}" for letter in "abcdefgh"]
        merged, table = self.merge(documents)
        found = merged["results"][0]["warnings"]
        self.assertEqual(found[0], {"text": NOISY.format(31), "processes": 3})
        self.assertEqual([one["text"] for one in found[1:9]], [f"w{letter}" for letter in "abcdefgh"])
        self.assertEqual(found[9]["text"][:6], "\x1b[31mr")
        self.assertIn("4 KiB in 3 of 4 processes: " + NOISY.partition(": ")[2].format("31 to 34"), table)
        self.assertTrue(table.isascii())
        self.assertNotIn("\x1b", table)

    def test_warnings_that_are_none(self):
        """An array of texts, as many as a run has at most."""
        wrong = (None, {}, "noisy", [1], [""], [None], ["x"] * 9)
        documents = self.copies(1 + len(wrong))
        for document, warnings in zip(documents[1:], wrong):
            document["results"][0]["warnings"] = warnings
        merged, _ = self.merge(documents, code=1)
        for process in merged["processes"][1:]:
            self.assertIn("results[0].warnings", process["failure"])

    def test_cut_short(self):
        """Rows that a signal or the deadline ended, and found another rate in less time, do not count."""
        for cut in ((3,), (0, 2, 3), (0, 1, 2, 3)):
            documents = self.copies(4)
            for number in cut:
                reason = ("interrupted", "deadline")[number % 2]
                document, row = documents[number], documents[number]["results"][0]
                document["interrupted"] = reason == "interrupted"
                document |= {"deadline_met": False} if reason == "deadline" else {}
                row |= {"stop_reason": reason, "samples_s": [second * 4 for second in row["samples_s"]]}
                rate = figure(row, "bandwidth")
                rate["samples"] = [sample / 4 for sample in rate["samples"]]
                for key in ("median", "min", "max", "p5", "p95", "p99", "mad"):
                    rate[key] = rate[key] and rate[key] / 4
            with self.subTest(cut=cut):
                merged, table = self.merge(documents)
                row = merged["results"][0]
                self.assertEqual((row["status"], row["verified"], row["processes_ok"]), ("ok", True, 4))
                if len(cut) == 4:
                    self.assertEqual(row["figures"], [])
                    self.assertRegex(table, r"(?m)^pinned .* cut short .* 0  yes *$")
                    continue
                whole = figure(self.one["results"][0], "bandwidth")["median"]
                medians = [None if number in cut else whole for number in range(4)]
                self.assertEqual(figure(row, "bandwidth")["medians"], medians)
                told = {(3,): "process 3", (0, 2, 3): "processes 0, 2 and 3"}[cut]
                text = f"cut short in {told}: not counted"
                self.assertEqual(row["warnings"][0], {"text": text, "processes": len(cut)})
                self.assertIn(f"4 KiB: {text}" if len(cut) == 1 else text, table)

    def test_documents_are_unchanged(self):
        """To the last digit, with what this version does not know."""
        document = self.one
        document["host"]["memory_bytes"] = 4000000000000000
        document["results"][0]["details"] |= {"large": 18446744073709551615, "tiny": 1.2345678901234567e-300}
        self.write("1.json", json.dumps(document, indent=3))
        self.interleave(0, self.script("cat 1.json"))
        merged, expected = load_exactly(self.read("baseline.json")), load_exactly(self.read("1.json"))
        for process in merged["processes"]:
            self.assertEqual(process["document"], expected)
        for key in ("host", "backend", "devices", "environment", "config"):
            self.assertEqual(merged[key], expected[key])


class Failures(Interleaving):
    def test_each_way_to_fail(self):
        """All of them in one run: each is its process's alone."""
        ways = (  # what the process does, exit code and signal, words of its failure
            ("kill -KILL $$", (None, "SIGKILL"), "SIGKILL"),
            ("kill -SEGV $$", (None, "SIGSEGV"), "SIGSEGV"),
            (f'{PROGRAM} "$@"; kill -ABRT $$', (None, "SIGABRT"), "SIGABRT"),
            ("kill -40 $$", (None, "signal 40"), "signal 40"),
            ("exit 0", (0, None), "exit code 0 and printed no results"),
            ("exit 2", (2, None), "exit code 2"),
            ("exit 3", (3, None), "exit code 3"),
            ("echo rubbish; exit 0", (0, None), "line 1, column 1: this is not JSON"),
            (f"""{PROGRAM} "$@" | sed '/"results"/q'; exit 0""", (0, None), "the file ends here: it was cut"),
            (f"""{PROGRAM} "$@" | sed -n '1p; 2s/result.*//p; 2q' | tr -d '\\n'; exit 0""", (0, None), "does not end"),
            (f'{PROGRAM} "$@"', (0, None), "JSON"),  # and another one behind it
            (f'exec {PROGRAM} "$@" --processes 2', (0, None), "the results of several processes"),
            (f'{PROGRAM} "$@" | sed s/xferbench.result/xferbench.list/; exit 0', (0, None), "xferbench.list"),
            (f'exec {PROGRAM} "$@" --host-memory alloc', (0, None), "other conditions: option host-memory"),
            ("exec head -c 70000000 /dev/zero", (None, "SIGTERM"), "all results together may be 64 MiB"),
        )
        turns = "\n".join(f"{turn}) {what};;" for turn, (what, *_) in enumerate(ways, 2))
        script = self.script(f'case $turn in\n{turns}\nesac\nexec {PROGRAM} "$@"')
        baseline, candidate, done = self.interleave(1, script, processes=len(ways) + 2)
        self.assertEqual(self.fates(candidate), [FINE] * (len(ways) + 2))
        self.assertEqual(self.fates(baseline), [FINE, *((*fate, False) for _, fate, _ in ways), FINE])
        for (what, _, words), process in zip(ways, baseline["processes"][1:]):
            with self.subTest(what=what):
                self.assertIn(words, process["failure"])
        (row,) = baseline["results"]
        self.assertEqual((row["processes_ok"], row["status"]), (2, "ok"))
        self.assertEqual(figure(row, "bandwidth")["medians"][1:-1], [None] * len(ways))
        self.assertRegex(done.out, r"(?m)^ *FAILED:? +process 2 of 17: ")
        self.assertIn("2 of 17 processes have results", done.out)
        # What shows the files has the table of each side.
        shown = [self.assert_succeeds("show", name).out for name in ("baseline.json", "candidate.json")]
        self.assertEqual("\n".join(shown), done.out)

    def test_more_than_fits_together(self):
        """A merged file is never larger than its reader takes."""
        document = self.result("one.json")
        document["results"][0]["details"]["padding"] = "x" * 20_000_000
        self.write_json("one.json", document)
        baseline, _, _ = self.interleave(1, self.script("exec cat one.json"), processes=3)
        self.assertEqual(self.fates(baseline)[:2], [FINE] * 2)
        self.assertIs(self.fates(baseline)[2][2], False)
        self.assertIn("fewer samples", baseline["processes"][2]["failure"])

    def test_exit_code_that_is_none_of_ours(self):
        """Its results count, and it is no success."""
        baseline, _, _ = self.interleave(1, self.script(f'{PROGRAM} "$@"; exit 7'))
        self.assertEqual(self.fates(baseline), [(7, None, True)] * 2)

    def test_all_fail(self):
        baseline, candidate, done = self.interleave(1, self.script("exit 1"))
        self.assertEqual((baseline["results"], baseline["backend"], baseline["config"]), ([], None, None))
        self.assertEqual(candidate["results"][0]["status"], "ok")
        self.assertIn("0 of 2 processes have results", done.out)
        self.write("baseline", "#!/no/such/interpreter\n")
        baseline, _, _ = self.interleave(1, "./baseline")
        self.assertEqual(self.fates(baseline), [(None, None, False)] * 2)
        self.assertIn("cannot be started", baseline["processes"][0]["failure"])

    def test_the_first_refuses(self):
        """No other is begun, and no file appears. With one program, its own words are enough."""
        for code in (2, 3):
            script = self.script(f"echo 'told why' >&2; exit {code}")
            done = self.assert_ends(code, *SMALL, "--processes", "3", "--interleave", script, *self.FILES)
            told = f"told why\nxferbench: the baseline, './baseline', ended with exit code {code} and no results\n"
            self.assertEqual((done.out, done.err, self.turns()), ("", told, 1))
            self.assert_folder_has("baseline", "turns")
            os.unlink(self.path("turns"))
        done = self.assert_ends(2, *SMALL, "--device", "7", "--processes", "3", "--json", "out.json")
        self.assertEqual(done.err.count("no device '7'"), 1)
        self.assert_folder_has("baseline")

    def test_the_candidate_refuses_behind_the_baseline(self):
        """What the baseline measured is not lost."""
        script = self.script(f"exec {PROGRAM} {' '.join(SMALL)} --quiet --json=-")
        baseline, candidate, done = self.interleave(2, script, "--device", "7")
        self.assertEqual((self.fates(baseline), self.fates(candidate)), ([FINE], [(2, None, False)]))
        self.assertEqual(self.turns(), 1)
        self.assertIn("the candidate, ", done.err)
        self.assertIn("1 of 2 processes have results", done.out)

    def test_nothing_was_measured(self):
        """The candidate's success does not hide that the baseline has skipped rows only."""
        document = self.result("one.json")
        skip(document["results"][0])
        self.write_json("one.json", document)
        baseline, candidate, _ = self.interleave(3, self.script("cat one.json; exit 3"))
        self.assertEqual((self.fates(baseline), self.fates(candidate)), ([(3, None, True)] * 2, [FINE] * 2))
        self.assertEqual(baseline["results"][0]["status"], "skipped")

    def test_what_failed_is_told_where_no_table_tells_it(self):
        script = self.script(f'[ $turn -eq 1 ] || exit 1\nexec {PROGRAM} "$@"')
        several = (*SMALL, "--processes", "3", "--interleave", script, "--baseline-json", "b")
        line = "xferbench: baseline process {} of 3: it ended with exit code 1 and printed no results\n"
        for files in (("--quiet", "--json", "a"), ("--json", "-")):
            self.assertEqual(self.assert_ends(1, *several, *files).err, line.format(2) + line.format(3))
            os.unlink(self.path("turns"))
        self.assertEqual(self.assert_ends(1, *several, "--json", "a").err, "")


class Interleaved(Interleaving):
    """Two programs in turn."""

    def test_both_sides(self):
        """The other setting is the baseline's alone; each process is a new one."""
        script = self.script(f'exec {PROGRAM} "$@" --host-memory alloc')
        baseline, candidate, done = self.interleave(0, script, "--verbose")
        self.assertEqual((baseline["role"], candidate["role"]), ("baseline", "candidate"))
        self.assertEqual(baseline["interleaved_with"], os.path.realpath(XFERBENCH))
        self.assertEqual(candidate["interleaved_with"], script)
        self.assertEqual([m["results"][0]["variant"] for m in (baseline, candidate)], ["alloc", "registered"])
        self.assertEqual([len(m["processes"]) for m in (baseline, candidate)], [2, 2])
        self.assertLess(done.out.index("  baseline: "), done.out.index("  candidate: "))

    def test_program_on_the_path(self):
        os.mkdir(self.path("bin"))
        os.symlink(XFERBENCH, self.path("bin/other-build"))
        path = ":".join((self.path("nowhere"), self.path("bin"), base_environment()["PATH"]))
        _, candidate, _ = self.interleave(0, "other-build", environment={"PATH": path})
        self.assertEqual(candidate["interleaved_with"], self.path("bin/other-build"))

    def test_order(self):
        """As the progress tells it: which of the two goes first changes from pair to pair."""
        script = self.script(f'exec {PROGRAM} "$@"')
        arguments = (*SMALL, "--processes", "3", "--interleave", script, *self.FILES)
        wide, narrow = (self.assert_succeeds(*arguments, terminal=Terminal(columns)).err for columns in (80, 40))
        order = ("1", "baseline"), ("1", "candidate"), ("2", "candidate"), ("2", "baseline")
        self.assertEqual(re.findall(r"process (\d) of 3 \((\w+)\)", wide)[:4], [*order])
        self.assertRegex(wide, r"\(\w+\), about [0-9]+ s left\x1b\[K\r")
        # The role goes rather than that the line takes two.
        self.assertRegex(narrow, r"\rprocess 2 of 3, about [0-9]+ s left\x1b\[K\r")

    def test_options_arrive_as_they_were_given(self):
        script = self.script('for word in "$@"; do printf "%s\\n" "$word" >>log; done; exit 3')
        self.assert_ends(
            3, "--size", "4K,1.5K", "-D", "a b=c  d,'e'", "--chunk=1KiB", "-n", "3", "--latency", "-b", "host",
            "--processes", "2", "--interleave", script, *self.FILES, "--quiet", "--deadline", "50m",
        )
        *words, deadline, quiet, json_word = self.read("log").splitlines()
        self.assertEqual(sorted(words), ["--backend=host", "--chunk=1KiB", "--device=a b=c  d,'e'", "--latency",
                                         "--samples=3", "--size=4K,1.5K"])
        self.assertEqual((quiet, json_word), ("--quiet", "--json=-"))
        left = float(re.fullmatch(r"--deadline=([\d.]+)s", deadline)[1])
        self.assertTrue(0 < left <= 3000, left)

    def signals_of(self, script, **options):
        """What a process has of signals that are ignored and blocked, asked by the shell alone: while it starts
        another program it may block signals itself."""
        ask = 'while read -r key value; do case $key in Sig*) echo "$key $value";; esac; done'
        self.interleave(0, self.script(f"{ask} </proc/$$/status >signals\n{script}"), **options)
        lines = dict(line.split() for line in self.read("signals").splitlines())
        return int(lines["SigIgn:"], 16), int(lines["SigBlk:"], 16)

    def test_what_a_process_is_given(self):
        """Signals as usual, an empty input, no file of the parent's, a group of its own, nobody beside it but
        its guardian."""
        # Not by the shell itself: its redirections and pipelines would be among the files.
        self.write(
            "list.py", "import json, os\nfolder = f'/proc/{os.getppid()}/fd/'\n"
            "json.dump({fd: os.readlink(folder + fd) for fd in os.listdir(folder)}, open('files', 'w'))\n")
        ignored, blocked = self.signals_of(
            f"{shlex.quote(sys.executable)} list.py\ncut -d' ' -f1,5 /proc/$$/stat >group\ncat >input\n"
            f'echo $$ $(cat /proc/$PPID/task/$PPID/children) >beside\nexec {PROGRAM} "$@"'
        )
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.assertFalse(ignored >> (number - 1) & 1, number)
        self.assertEqual(blocked, 0)
        files = json.loads(self.read("files"))
        self.assertEqual(files["0"], "/dev/null")
        self.assertTrue(files["1"].startswith("pipe:"))
        others = [name for fd, name in files.items() if fd not in "012"]
        self.assertTrue(all(name.endswith("/baseline") for name in others), files)
        own, group = self.read("group").split()
        self.assertEqual((own, self.read("input")), (group, ""))
        own, _, second = self.read("beside").split()
        self.assertEqual(own, second)

    def test_ignored_signals_stay_ignored(self):
        """As nohup wants it."""
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
        ignored, _ = self.signals_of(f'exec {PROGRAM} "$@"', **ignore)
        self.assertTrue(ignored >> (signal.SIGHUP - 1) & 1)
        self.assertFalse(ignored >> (signal.SIGPIPE - 1) & 1)

    def test_what_a_script_leaves_behind(self):
        """It holds standard output for long. In the script's group it ends with it."""
        for starter, ends in (("", True), ("setsid ", False)):
            with self.subTest(starter=starter):
                script = self.script(
                    f"{starter}sleep 600 2>/dev/null &\necho $! >>{shlex.quote(self.path('left'))}\n"
                    f'exec {PROGRAM} "$@"'
                )
                baseline, _, _ = self.interleave(0, script)
                self.assertEqual(self.fates(baseline), [FINE] * 2)
                left = [int(line) for line in self.read("left").split()]
                for pid in left:
                    self.addCleanup(kill, pid)
                self.assertEqual([has_ended(pid) for pid in left], [ends] * 2)
                os.unlink(self.path("left"))

    def test_scripts_of_other_kinds(self):
        """One that waits; one without its first line; one whose output is passed on by a process that ends
        after it."""
        self.python("text = sys.stdin.read()\nwhile os.path.exists('/proc/' + os.environ['LAST']): pass\n"
                    "sys.stdout.write(text)\n")
        for text in (
            f'{PROGRAM} "$@"; exit $?',
            "mkfifo between$turn\n(export LAST=$$; exec ./stub <between$turn) &\n"
            f'exec {PROGRAM} "$@" >between$turn',
        ):
            baseline, _, _ = self.interleave(0, self.script(text))
            self.assertEqual(self.fates(baseline), [FINE] * 2, text)
        self.write("baseline", f'exec {PROGRAM} "$@"\n')
        self.assertEqual(self.fates(self.interleave(0, "./baseline")[0]), [FINE] * 2)

    def test_script_that_reads_the_terminal(self):
        """The group is in the background there: it would be stopped for good."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        script = self.script(f'read -r line </dev/tty\nexec {PROGRAM} "$@"')
        owning = {"pass_fds": (slave,), "preexec_fn": lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0)}
        try:
            baseline, _, _ = self.interleave(0, script, **owning)
        finally:
            os.close(slave)
        self.assertEqual(self.fates(baseline), [FINE] * 2)

    def test_file_that_is_replaced_meanwhile(self):
        """The candidate stays the program that was started."""
        shutil.copy(XFERBENCH, self.path("own"))
        script = self.script(f'echo rubbish >new; mv new own; exec {PROGRAM} "$@"')
        _, candidate, _ = self.interleave(0, script, program="./own")
        self.assertEqual(self.fates(candidate), [FINE] * 2)


class Deadline(Interleaving):
    """When it comes, what was measured is written, and who outstays it is ended."""

    HEEDS_NOTHING_SO_FAR = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nput_forward(10)\n"

    def several(self, code, processes, deadline):
        done = self.assert_ends(code, *SMALL, "--processes", processes, "--deadline", deadline, "--json", "out.json")
        return self.load("out.json"), done.out

    def test_that_has_come(self):
        """The first process begins all the same: it says what there was to measure."""
        merged, out = self.several(3, "3", "1us")
        self.assertIs(merged["deadline_met"], False)
        self.assertEqual((merged["asked"], self.fates(merged)), (3, [(3, None, True)]))
        self.assertIn("the deadline came: 1 of 3 processes", out)

    def test_that_is_met(self):
        """The last as seconds has more digits than the option takes."""
        for text in ("50m", "1844674407370955161m"):
            merged, _ = self.several(0, "2", text)
            self.assertIs(merged["deadline_met"], True)
            left = [process["document"]["config"]["deadline"] for process in merged["processes"]]
            self.assertTrue(0 < left[1] <= left[0] <= (3000 if text == "50m" else 1e9), left)

    def test_that_cut_a_process(self):
        document = self.result("one.json")
        self.write_json("one.json", document | {"deadline_met": False})
        baseline, candidate, _ = self.interleave(0, self.script("cat one.json"), "--deadline", "50m")
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, True))

    def test_process_that_outstays_it(self):
        """10 s later it gets SIGTERM, which it does not leave for, and 5 s after that SIGKILL."""
        wait = "signal.sigwait([signal.SIGTERM])\n"
        stub = self.python(f"{self.HEEDS_NOTHING_SO_FAR}{wait}put_forward(5)\n{wait}")
        baseline, candidate, _ = self.interleave(1, stub, "--deadline", "1us", **self.hastened())
        self.assertEqual(self.fates(baseline), [(None, "SIGKILL", False)])
        self.assertIn("within 10 s of the deadline", baseline["processes"][0]["failure"])
        self.assertEqual((baseline["deadline_met"], candidate["deadline_met"]), (False, False))

    def test_process_that_must_be_told_of_it(self):
        """What it writes then counts, and it is no success."""
        self.result("one.json")
        stub = self.python(f"{self.HEEDS_NOTHING_SO_FAR}signal.sigwait([signal.SIGTERM])\n"
                           "sys.stdout.write(open('one.json').read())\nsys.exit(143)\n")
        baseline, _, _ = self.interleave(1, stub, "--deadline", "1us", **self.hastened())
        self.assertEqual(self.fates(baseline), [(143, None, True)])
        self.assertIs(baseline["deadline_met"], False)


if __name__ == "__main__":
    harness.main()
