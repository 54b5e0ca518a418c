#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench explain -- COMMAND` without a GPU: shell scripts that write what the collector writes, and the
collector itself in a program that calls it as the driver does, over a double of libcupti.
usage: test_explain_live.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import signal
import subprocess
import unittest

import harness
from harness import SMALL, XFERBENCH, Case, program_of_build, words_of

COLLECTOR = program_of_build("collector.so")
CUPTI = program_of_build("tests", "fake_cupti", "libcupti.so.13")
PROGRAM = program_of_build("tests", "injected_program")
NOTHING = 3
MIB = 1 << 20


def fact(pid, what, **arguments):
    return {"ph": "M", "name": what, "pid": pid, "args": arguments}


def span(pid, category, name, begin, end, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": 7, "ts": 1000 * begin,
            "dur": 1000 * (end - begin), "args": arguments}


def program(pid, name="train"):
    """Ten milliseconds of copying and ten of a kernel, and a goodbye."""
    where = {"device": 0, "stream": 7, "correlation": 1}
    return [
        fact(pid, "process_name", name=name),
        *(span(pid, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at, at + 5, bytes=MIB, **where) for at in (0, 5)),
        span(pid, "kernel", "gemm", 10, 20, **where),
        span(pid, "cuda_runtime", "cudaMemcpy", 0, 11, correlation=1),
        fact(pid, "xferbench_end", dropped=0),
    ]


class Live(Case):
    def shell(self, script, *options, code=0, **more):
        """A script in place of a CUDA program."""
        return self.assert_ends(code, "explain", "--json", "out.json", *options, "--", "sh", "-c", script, **more)

    def shell_with(self, events, script="", **more):
        """Whose events are recorded, as by the collector: each in a line, with a comma behind it."""
        self.write("events", "".join(f"{json.dumps(event)},\n" for event in events))
        return self.shell(f'cat events >> "$XFERBENCH_EXPLAIN"; {script}', **more)

    def programs(self):
        return self.load("out.json")["programs"]


@unittest.skipUnless(COLLECTOR, "this build cannot look into programs")
class Scripts(Live):
    def test_what_is_the_programs_own(self):
        """Its output, its input and its exit code. The answer is on standard error."""
        self.write("input", "from outside\n")
        with open(self.path("input"), "rb") as file:
            outcome = self.shell_with(program(41), "cat; echo loud >&2; exit 7", code=7, stdin=file)
        self.assertEqual(outcome.out, "from outside\n")
        self.assert_words(words_of(outcome.err), (
            "loud", "train (41): 20.0 ms from the first copy or kernel to the last; the program ran",
            "GPU 0 computed 50 % of the time, only copied 50 %",
            "while no kernel ran their calls blocked the thread for 10.0 ms"))
        self.check_lines(outcome.err, 100)
        document = self.load("out.json")
        source = document["source"]
        self.assertEqual((source["exit_code"], source["command"][:2], source["file"]), (7, ["sh", "-c"], None))
        self.assertGreater(source["wall_s"], 0)
        (one,) = document["programs"]
        self.assertEqual((one["name"], one["process"], one["is_cut"], one["copies"][0]["count"]),
                         ("train", 41, False, 2))

    def test_how_it_ends(self):
        for end, code, words in (
            ("kill -9 $$", 137, ("the program was ended by SIGKILL", "20.0 ms")),
            ("kill -TERM $$", 143, ("the program was ended by SIGTERM",)),
            ("exit 1", 1, ("20.0 ms",)),
        ):
            with self.subTest(end=end):
                self.assert_words(self.shell_with(program(1), end, code=code).err, words)
                self.assertEqual(self.load("out.json")["source"]["exit_code"], code)
        outcome = self.assert_ends(NOTHING, "explain", "--json", "-", "--", "true")
        self.assertIn("no copy and no kernel was seen", outcome.err)
        self.assertEqual(self.load_text(outcome.out)["source"]["command"], ["true"])
        self.assert_usage(("nowhere",), "explain", "--", "./nowhere")

    def test_what_is_recorded(self):
        """A program without a goodbye, one in which nothing can be seen, and two."""
        outcome = self.shell_with(program(1)[:-1])
        self.assertTrue(self.programs()[0]["is_cut"])
        self.assertIn("or the program without a goodbye", words_of(outcome.err))
        problem = [fact(9, "process_name", name="other"), fact(9, "xferbench_problem", text="it is held")]
        outcome = self.shell_with(problem, code=NOTHING)
        self.assertIn("xferbench: other (9): nothing can be seen in it: it is held\n", outcome.err)
        outcome = self.shell_with(program(1) + program(2, "server"))
        self.assertEqual([(one["name"], one["process"]) for one in self.programs()], [("train", 1), ("server", 2)])
        self.assert_words(outcome.err, ("train (1): 20.0 ms", "server (2): 20.0 ms"))

    def test_what_it_is_given(self):
        """The collector as a file that can be read, for processes that it starts, too."""
        outcome = self.shell('sh -c \'head -c 4 "$CUDA_INJECTION64_PATH"; ls -l /proc/self/fd | grep -c deleted\'',
                             code=1, environment={"TMPDIR": self.folder})
        self.assertEqual(outcome.out, "\x7fELF0\n")  # and no open file of ours
        self.assert_folder_has("out.json")

    def test_a_profiler_is_there_already(self):
        outcome = self.shell('echo "$CUDA_INJECTION64_PATH${XFERBENCH_EXPLAIN-}"', code=NOTHING,
                             environment={"CUDA_INJECTION64_PATH": "/theirs"})
        self.assertEqual(outcome.out, "/theirs\n")
        self.assertIn("nothing can be seen in it: CUDA_INJECTION64_PATH is set", outcome.err)

    def test_xferbench_is_not_looked_into(self):
        """Nor what it runs."""
        other = self.script("env >seen\nexit 2", "other")
        files = ("--json", "a", "--baseline-json", "b")
        outcome = self.assert_ends(2, "explain", "--", XFERBENCH, *SMALL, "--processes", "2", "--interleave", other,
                                   *files)
        self.assertIn("explain does not look into xferbench itself", outcome.err)
        self.assertIn("PATH=", self.read("seen"))
        self.assertNotRegex(self.read("seen"), "CUDA_INJECTION64_PATH|XFERBENCH_EXPLAIN")

    def test_signals_reach_it(self):
        process = self.start("explain", "--", "sh", "-c",
                             "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.01; done")
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.assert_ended(5, process).out, "told\n")

    def test_results_are_read_first(self):
        """Not after hours of somebody's program."""
        outcome = self.assert_ends(2, "explain", "--with", "nowhere.json", "--", "sh", "-c", "echo ran")
        self.assertEqual(outcome.out, "")


@unittest.skipIf(COLLECTOR, "this build can look into programs")
class WithoutCollector(Live):
    def test_the_program_runs(self):
        for end, code in (("exit 4", 4), ("exit 0", NOTHING)):
            outcome = self.shell(f"echo ran; {end}", code=code)
            self.assertEqual(outcome.out, "ran\n")
            self.assertIn("the program runs, but nothing can be seen in it: ", outcome.err)


@unittest.skipUnless(CUPTI and PROGRAM, "this build cannot look into programs")
class Collector(Live):
    def look_into(self, *words, cupti="", code=0):
        folders = [os.path.dirname(CUPTI), os.environ.get("LD_LIBRARY_PATH")]
        environment = {"LD_LIBRARY_PATH": ":".join(filter(None, folders)), "XFERBENCH_FAKE_CUPTI": cupti}
        return self.assert_ends(code, "explain", "--json", "out.json", "--", PROGRAM, *words, environment=environment)

    def test_what_is_recorded(self):
        """The events themselves. A child that it forks adds none."""
        environment = harness.base_environment() | {
            "LD_LIBRARY_PATH": os.path.dirname(CUPTI), "CUDA_INJECTION64_PATH": COLLECTOR,
            "XFERBENCH_EXPLAIN": self.write("t", "")}
        subprocess.run([PROGRAM, "fork"], env=environment, check=True, timeout=harness.GUARD_S,
                       stdout=subprocess.DEVNULL)
        events = json.loads(f"[{self.read('t').rstrip().rstrip(',')}]")
        first, *spans, last = events
        self.assertEqual((first["args"], last["args"]), ({"name": "injected_program"}, {"dropped": 4}))
        on_gpu = {"device": 0, "stream": 7}
        self.assertEqual([(one["cat"], one["name"], one["tid"], one["ts"], one["dur"], one["args"]) for one in spans], [
            ("cuda_runtime", "cudaMemcpyAsync", 11, 500, 2000, {"correlation": 1}),
            ("cuda_runtime", "cuMemcpyHtoDAsync", 11, 600, 1800, {"correlation": 1}),
            ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, 1000, 1000,
             on_gpu | {"correlation": 1, "bytes": MIB}),
            ("kernel", 'add<"a\\b">( int)', 7, 2000, 3000, on_gpu | {"correlation": 2}),
            ("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 7, 5000, 1000,
             on_gpu | {"correlation": 3, "bytes": 2 * MIB}),
            ("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 7, 6000, 1000,
             on_gpu | {"correlation": 4, "bytes": 4 * MIB}),
            ("gpu_memset", "Memset", 7, 7000, 1500, on_gpu | {"correlation": 5, "bytes": 512}),
            ("nvtx", 'step "1"', 11, 250, 9000, {}),
        ])
        self.assertEqual({one["pid"] for one in events}, {first["pid"]})

    def test_what_is_explained(self):
        outcome = self.look_into(code=0)
        self.assertRegex(outcome.out, r"^ran, NVTX_INJECTION64_PATH=.*/libcupti\.so\.13\n$")
        (one,) = self.programs()
        self.assertEqual((one["name"], one["dropped"], one["is_cut"]), ("injected_program", 4, False))
        lanes = [(one["gpus"][0][lane]["count"], one["gpus"][0][lane]["bytes"])
                 for lane in ("h2d", "d2h", "other_copies", "kernels")]
        self.assertEqual(lanes, [(1, MIB), (1, 2 * MIB), (2, 4 * MIB + 512), (1, 0)])
        copies = {group["direction"]: (group["host_memory"], group["call"], group["mark"]) for group in one["copies"]}
        self.assertEqual(copies, {"h2d": ("pageable", "cudaMemcpyAsync", 'step "1"'), "d2h": ("pinned", None, None)})
        self.assertIn("CUPTI lost 4 records", outcome.err)

    def test_how_it_ends(self):
        """What was there is kept, and the program's code is its own; a process that it forks writes nothing."""
        for words, code, is_cut in (("exit 6", 6, False), ("reset _exit 6", 6, True), ("fork", 0, False),
                                    ("fork exit 6", 6, False)):
            with self.subTest(words=words):
                self.look_into(*words.split(), code=code)
                (one,) = self.programs()
                self.assertEqual((one["is_cut"], one["gpus"][0]["h2d"]["count"]), (is_cut, 1))

    def test_why_nothing_can_be_seen(self):
        for word, reason in (
            ("absent", r"libcupti\.so was not found: .* LD_LIBRARY_PATH"),
            ("old", r"this libcupti is of another release than CUDA 11\.8 to 13 \(17\)"),
            ("new", r"this libcupti is of another release than CUDA 11\.8 to 13 \(140000\)"),
            ("held", r"a profiler holds CUPTI in this program \(39, CUPTI_ERROR_X\)"),
            ("silent", r"CUPTI does not record here \(\d+, CUPTI_ERROR_X\)"),
        ):
            with self.subTest(word=word):
                outcome = self.look_into("exit", "6", cupti=word, code=6)
                self.assertTrue(outcome.out.startswith("ran"))
                self.assertRegex(outcome.err,
                                 rf"^xferbench: injected_program \(\d+\): nothing can be seen in it: {reason}\n")
                self.assertEqual(self.programs()[0]["window_s"], 0)


if __name__ == "__main__":
    harness.main()
