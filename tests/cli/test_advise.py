#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench advise`: what it predicts from files and from measurements of its own, and what it refuses.
usage: test_advise.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re

import harness
from harness import FEW, HOST, SOURCE, Case, figure

# Rows of an H200: pageable and pinned, both directions, 4 KiB to 1 GiB.
SWEEP = os.path.join(SOURCE, "bench", "results", "h200", "sweep.json")
JOB = ("--bytes-in", "256M", "--bytes-out", "4K", "--gpu-time", "2ms")
YES, NO, WRONG, CANNOT_SAY = 0, 1, 2, 3


def medians(mode, direction, size):
    """bandwidth and wall_time of a row of the sweep."""
    with open(SWEEP, encoding="utf-8") as file:
        rows = json.load(file)["results"]
    found = [row for row in rows if (row["mode"], row["direction"], row["bytes"]) == (mode, direction, size)]
    assert len(found) == 1
    return figure(found[0], "bandwidth")["median"], figure(found[0], "wall_time")["median"]


class Advise(Case):
    def advise(self, code, *arguments):
        """The document that it writes."""
        outcome = self.assert_ends(code, "advise", *arguments, "--json", "advice.json")
        document = self.load("advice.json")
        for line in outcome.out.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertNotRegex(line, r"^ +([KMGT]iB|[num]?s)\b")  # apart from its number
        self.assertIn(document["advice"].split()[0], outcome.out)
        return document

    def strategy(self, document, name):
        return next(one for one in document["strategies"] if one["strategy"] == name)


class FromFile(Advise):
    def test_in_a_row_by_the_rows(self):
        """The copy in until the host knows, the kernel, and the copy out right behind it."""
        for mode in ("pageable", "pinned"):
            document = self.advise(YES, SWEEP, *JOB, "--memory", mode)
            _, copy_in = medians(mode, "h2d", 256 << 20)
            rate, _ = medians(mode, "d2h", 4096)
            one = self.strategy(document, mode)
            self.assertTrue(one["known"])
            self.assertAlmostEqual(one["copy_in_s"], copy_in)
            self.assertAlmostEqual(one["copy_out_s"], 4096 / rate)
            self.assertAlmostEqual(one["seconds"], copy_in + 0.002 + 4096 / rate)
            self.assertEqual(len(one["rests_on"]), 2)
        self.assertIsNone(document["gpu_is_worth_it"])
        self.assertEqual(document["best"], "overlapped")
        self.assertEqual(self.strategy(document, "overlapped")["limit"], "copy in")

    def test_yes_no_and_neither(self):
        pinned = ("--memory", "pinned")
        document = self.advise(YES, SWEEP, *JOB, *pinned, "--cpu-time", "50ms")
        self.assertEqual(document["gpu_is_worth_it"], "yes")
        self.assertIn("pinned memory, copies and kernels overlapped. The copy to the GPU is", document["advice"])
        edges = document["break_even"]
        self.assertGreater(edges["from_in_bytes_low"], 4096)
        self.assertLess(edges["from_in_bytes_low"], edges["from_in_bytes"])
        self.assertLess(edges["from_in_bytes"], edges["from_in_bytes_high"])
        self.assertIsNone(document["break_even"]["least_looked_at_bytes"])
        document = self.advise(NO, SWEEP, *JOB, *pinned, "--cpu-time", "1ms")
        self.assertEqual((document["gpu_is_worth_it"], document["break_even"]["gpu_wins_somewhere"]), ("no", False))
        # What getting the data into pinned memory takes is in no row, and the rest takes 7 ms.
        document = self.advise(CANNOT_SAY, SWEEP, *JOB, "--cpu-time", "10ms")
        self.assertIsNone(document["gpu_is_worth_it"])
        self.assertIn("setup_time", self.strategy(document, "pinned")["missing"])

    def test_rows_that_are_missing(self):
        file = os.path.join(SOURCE, "bench", "results", "h200", "precision-1.json")
        document = self.advise(CANNOT_SAY, file, *JOB)
        self.assertIsNone(document["best"])
        for one in document["strategies"]:
            self.assertFalse(one["known"])
            self.assertIn("Measure them: xferbench --mode pageable,pinned,pin,managed,zero-copy ", one["missing"])

    def test_one_size_is_enough(self):
        """1 GiB tells what less takes: its rate, and the start of a copy within wide bounds."""
        job = ("--in", "256M", "--out", "64M", "--gpu-time", "2ms", "--memory", "pinned")
        document = self.advise(YES, os.path.join(SOURCE, "bench", "results", "h200", "pinned-1g.json"), *job)
        one = self.strategy(document, "pinned")
        share = one["copy_in_s"] + one["copy_out_s"] - 20e-6
        self.assertAlmostEqual(one["seconds_low"], 0.002 + 0.9 * share, delta=20e-6)
        self.assertAlmostEqual(one["seconds_high"], 0.002 + 1.2 * (share + 200e-6), delta=20e-6)
        self.assertIn("pinned registered h2d: below its smallest, 1 GiB: by the rate there and 10 us to start", one["rests_on"])

    def test_bounds_on_either_side_of_the_cpu_decide_nothing(self):
        """Text, JSON and exit code agree; and nothing tells where the GPU begins to win."""
        job = ("--in", "256M", "--gpu-time", "2ms", "--memory", "pinned")
        file = os.path.join(SOURCE, "bench", "results", "h200", "pinned-1g.json")
        for code, time, worth, words in (
            (NO, "4.3ms", "no", "No: stay on the CPU. "),
            (CANNOT_SAY, "6ms", None, "Cannot say: 6.00 ms on the CPU, 4.61 ms to 7.0"),
            (YES, "8.5ms", "yes", "Yes: use the GPU. "),
        ):
            document = self.advise(code, file, *job, "--cpu-time", time)
            self.assertEqual(document["gpu_is_worth_it"], worth)
            self.assertTrue(document["advice"].startswith(words), document["advice"])
        edges = document["break_even"]
        self.assertEqual((edges["from_in_bytes"], edges["from_in_bytes_low"]), (None, None))
        self.assertGreater(edges["from_in_bytes_high"], 1 << 20)
        outcome = self.assert_ends(YES, "advise", file, *job, "--cpu-time", "8.5ms")
        self.assertIn("perhaps less, of input on", " ".join(outcome.out.split()))

    def test_answer_of_a_file(self):
        job = (*JOB, "--memory", "pinned", "--cpu-time", "50ms")
        outcome = self.assert_ends(YES, "advise", SWEEP, *job, environment={"LC_ALL": "C"})
        self.assertEqual(
            outcome.out.partition("  results")[0],
            """\
Yes: use the GPU. 5.03 ms against 50.0 ms on the CPU, 9.94 times as fast: pinned memory, copies and
  kernels overlapped. The copy to the GPU is the limit. It takes up to 5.07 ms if copies both ways
  slow each other. Perhaps faster, but not measured: zero-copy. A rule of thumb, compute for longer
  than the bytes take at 12 GB/s, says no.
The GPU wins from somewhere between 14.2 KiB and 71.8 KiB of input on, up to what fits into its
  memory. Output and both times are taken to grow with the input.

WAY                    TIME                LOW     HIGH  COPY IN   KERNEL  COPY OUT  PINNING   CHUNK
pinned, overlapped  5.03 ms  #         5.02 ms  5.07 ms  4.90 ms  2.00 ms   30.9 us        0  16 MiB
pinned              6.84 ms  #         6.84 ms  6.85 ms  4.84 ms  2.00 ms   1.93 us        0       -
the CPU             50.0 ms  ########
zero-copy                 -                  -        -        -        -         -        -       -

Not known: zero-copy: no result of zero-copy sequential h2d tells what 256 MiB take.
To know all: xferbench --mode pinned,zero-copy --direction both,bidir --size 4K..256M --json FILE
  job        256 MiB in, 4 KiB out, 2.00 ms on the GPU, 50.0 ms on the CPU; run 1 time; its data is
             in pinned memory
""",
        )

    def test_small_rows_are_not_multiplied_up(self):
        file = os.path.join(SOURCE, "bench", "results", "h200", "latency.json")
        job = ("--in", "4M", "--out", "4M", "--gpu-time", "1ms", "--cpu-time", "5ms")
        self.assertIsNone(self.advise(CANNOT_SAY, file, *job)["best"])

    def test_what_is_asked_for_gives_all_rows(self):
        """The command of the answer, on smaller sizes and fewer samples, is one file for all strategies."""
        document = self.advise(CANNOT_SAY, os.path.join(SOURCE, "bench", "results", "h200", "precision-1.json"), *JOB)
        words = document["strategies"][0]["missing"].split("xferbench ")[1].split()
        words[words.index("--size") + 1] = "4K,256K,1M"
        words[words.index("--json") + 1] = "rows.json"
        self.assert_succeeds(*HOST, *words, *FEW)
        document = self.advise(YES, "rows.json", "--in", "1M", "--out", "1M", "--gpu-time", "1s")
        for one in document["strategies"]:
            if one["strategy"] in ("managed", "prefetch"):  # which no CPU has
                self.assertIn("lacks the capability 'managed'", one["missing"])
                self.assertNotIn("Measure", one["missing"])
            else:
                self.assertTrue(one["known"], one)
        self.assertTrue(self.strategy(document, "overlapped")["has_both_ways"])

    def test_a_prediction_of_a_long_kernel(self):
        """What is not run may take any time; what is run may not."""
        job = ("--in", "256M", "--gpu-time", "1000s", "--memory", "pinned")
        document = self.advise(YES, SWEEP, *job, "--cpu-time", "2000s")
        self.assertEqual(document["job"]["gpu_time_s"], 1000)
        self.assertIn("10s", self.assert_ends(WRONG, "advise", SWEEP, *job, "--check").err)

    def test_standard_output(self):
        outcome = self.assert_ends(YES, "advise", SWEEP, *JOB, "--json", "-")
        self.assertEqual(self.load_text(outcome.out)["job"]["in_bytes"], 256 << 20)


class Measured(Advise):
    SMALL = ("--in", "1M", "--out", "64K", "--gpu-time", "5ms", "--memory", "pinned")

    def test_from_a_measurement(self):
        document = self.advise(YES, *HOST, *self.SMALL)
        self.assertEqual(document["source"]["file"], None)
        self.assertEqual([one["strategy"] for one in document["strategies"]], ["pinned", "overlapped", "zero-copy"])
        for one in document["strategies"]:
            self.assertTrue(one["known"])
        overlapped = self.strategy(document, "overlapped")
        self.assertTrue(overlapped["has_both_ways"])
        self.assertGreaterEqual((1 << 20) // overlapped["chunk_bytes"], 2)

    def test_sizes_beyond_the_job_are_measured_for_the_break_even(self):
        """Rows of 64 MiB tell what larger jobs take."""
        job = ("--in", "64K", "--gpu-time", "none", "--memory", "pinned", "--cpu-time", "1ns")
        document = self.advise(NO, *HOST, *job)
        self.assertGreater(document["break_even"]["most_looked_at_bytes"], 16 << 20)
        document = self.advise(YES, *HOST, *job[:-2])
        self.assertIsNone(document["break_even"])

    def test_check_runs_the_job(self):
        job = ("--in", "1M", "--out", "64K", "--gpu-time", "5ms")
        for memory, names in (
            ("pageable", ["pageable", "ring", "pinned", "overlapped", "zero-copy"]),
            ("pinned", ["pinned", "overlapped", "zero-copy"]),
        ):
            arguments = (*HOST, *job, "--memory", memory, "--check", "--json", "advice.json")
            outcome = self.assert_ends(YES, "advise", *arguments)
            lines = outcome.out.splitlines()
            header = next(at for at, line in enumerate(lines) if line.startswith("CHECK "))
            self.assertIn("PREDICTED  MEASURED", lines[header])
            document = self.load("advice.json")
            checked = [one for one in document["strategies"] if one["measured"]]
            self.assertEqual([one["strategy"] for one in checked], names)
            for at, one in enumerate(checked, header + 1):
                # The last column ends where its header does.
                self.assertEqual(len(lines[at]), len(lines[header]), lines[at])
                self.assertGreater(one["measured"]["seconds"], 0)
                self.assertAlmostEqual(
                    one["measured"]["predicted_by_measured"], one["running_s"] / one["measured"]["seconds"]
                )

    def test_managed_memory_where_there_is_none(self):
        job = ("--in", "1M", "--gpu-time", "1ms", "--memory", "managed")
        outcome = self.assert_ends(WRONG, "advise", *HOST, *job, "--check")
        self.assertIn("lacks the capability 'managed'", " ".join(outcome.out.split()))
        self.assertIn("--check: this job can be run in no way here", outcome.err)
        self.assert_ends(CANNOT_SAY, "advise", *HOST, *job)

    def test_a_job_without_a_kernel_or_a_result(self):
        arguments = ("--in", "64K", "--gpu-time", "none", "--memory", "pinned", "--check")
        document = self.advise(YES, *HOST, *arguments)
        pinned = self.strategy(document, "pinned")
        self.assertEqual((pinned["kernel_s"], pinned["copy_out_s"]), (0, 0))
        self.assertGreater(pinned["measured"]["seconds"], 0)
        self.assertIsNone(pinned["measured"]["kernel_s"])

    def test_a_job_that_cannot_be_run(self):
        """A kernel that is too short for its data: predicted all the same, and the check says why not."""
        arguments = ("--in", "16M", "--gpu-time", "1ns", "--memory", "pinned", "--check")
        outcome = self.assert_ends(YES, "advise", *HOST, *arguments)
        self.assertIn("not measured: --gpu-time 1.00 ns", outcome.out)

    def test_a_file_is_checked_where_it_was_measured(self):
        rows = ("--mode", "pageable,pinned", "--direction", "both,bidir", "--size", "4K,256K,1M", *FEW)
        self.assert_succeeds(*HOST, *rows, "--json", "rows.json")
        document = self.advise(YES, "rows.json", *self.SMALL, *HOST, "--check")
        self.assertGreater(self.strategy(document, "pinned")["measured"]["seconds"], 0)
        moved = self.load("rows.json")
        moved["host"]["hostname"] = "elsewhere"
        with open(self.path("moved.json"), "w", encoding="utf-8") as file:
            json.dump(moved, file)
        outcome = self.assert_ends(WRONG, "advise", "moved.json", *self.SMALL, *HOST, "--check")
        self.assertIn("host elsewhere", outcome.err)
        self.assertIn("WAY ", outcome.out)  # the advice itself
        self.assertIn("not run: --check: the file is of the host elsewhere", " ".join(outcome.out.split()))


class Code(Advise):
    """What tests/hip/test_programs.py compiles and runs; here what does not take a compiler."""

    PINNED = (SWEEP, *JOB, "--memory", "pinned")

    def test_program_to_stdout_and_answer_to_stderr(self):
        table = self.assert_ends(YES, "advise", *self.PINNED).out
        outcome = self.assert_ends(YES, "advise", *self.PINNED, "--code", "cuda", "--json", "advice.json")
        self.assertEqual(outcome.err, table)
        self.assertIn("// Fastest known way: pinned memory, copies and kernels overlapped: 5.03 ms.", outcome.out)
        best = self.strategy(self.load("advice.json"), "overlapped")
        for line in (
            "in_bytes = 268435456;", "out_bytes = 4096;", "kernel_seconds = 0.002;", "stream_count = 4;",
            f"chunk_bytes = {best['chunk_bytes']};", f"promised_seconds = {best['running_s']!r};",
        ):
            self.assertIn(f" {line}", outcome.out)
        self.assertNotRegex(outcome.out, r"XB_|#if|#else|hip[A-Z]")
        self.assertEqual(self.assert_ends(YES, "advise", *self.PINNED, "--code", "none").out, table)

    def test_hip_is_the_same_program(self):
        """But for the names of the runtime."""
        cuda, hip = (self.assert_ends(YES, "advise", *self.PINNED, "--code", kind).out for kind in ("cuda", "hip"))
        self.assertNotRegex(hip, r"cuda[A-Z_]")
        for ours, theirs in (("cuda_runtime", "hip/hip_runtime"), ("nvcc -O2 job.cu", "hipcc -O2 -pthread job.cpp"),
                             ("cudaMallocHost", "hipHostMalloc"), ("cudaFreeHost", "hipHostFree")):
            cuda = cuda.replace(ours, theirs)
        self.assertEqual(re.sub(r"\bcuda([A-Z])", r"hip\1", cuda), hip)

    def test_pytorch_compiles_and_says_that_nobody_ran_it(self):
        crossover = os.path.join(SOURCE, "bench", "results", "h200", "crossover.json")
        for arguments, call in (
            (self.PINNED, "cudaHostRegister("),
            ((crossover, "--in", "256M", "--out", "64M", "--gpu-time", "2ms"), "slot[:size].copy_("),
            ((crossover, "--in", "64K", "--gpu-time", "none", "--memory", "pinned"), "non_blocking=True"),
        ):
            text = self.assert_ends(YES, "advise", *arguments, "--code", "pytorch").out
            self.assertIn("# NOT RUN", text)
            self.assertIn(call, text)
            self.assertNotRegex(text, r"XB_|\n#(if|else|endif)\b")
            compile(text, "job.py", "exec")

    def test_pytorch_has_no_call_for_work_in_place(self):
        with open(os.path.join(SOURCE, "bench", "results", "h200-x2", "nvb-host.json"), encoding="utf-8") as file:
            document = json.load(file)
        swapped = {"pinned": ("zero-copy", "sequential"), "zero-copy": ("pinned", "alloc")}
        for row in document["results"]:  # as if in place were the faster of both
            row["mode"], row["variant"] = swapped[row["mode"]]
            row["parameters"] = {}
        document["results"] = [row for row in document["results"] if row["mode"] == "zero-copy" or row["variant"] == "alloc"]
        self.write_json("rows.json", document)
        job = ("rows.json", "--in", "256M", "--out", "256M", "--gpu-time", "3ms", "--memory", "pinned", "--code")
        text = self.assert_ends(YES, "advise", *job, "cuda").out
        self.assertIn("CHECK(cudaHostGetDevicePointer(", text)
        text = " ".join(self.assert_ends(YES, "advise", *job, "pytorch").out.replace("#", "").split())
        self.assertIn("PyTorch has no call for that way: this is pinned memory, copies and kernels overlapped", text)
        document["results"] = [row for row in document["results"] if row["mode"] == "zero-copy"]
        self.write_json("rows.json", document)
        outcome = self.assert_ends(YES, "advise", *job, "pytorch")
        self.assertEqual((outcome.out, "no call for the ways" in outcome.err), ("", True))

    def test_a_program_though_the_cpu_is_faster(self):
        outcome = self.assert_ends(NO, "advise", *self.PINNED, "--cpu-time", "1ms", "--code", "cuda")
        self.assertIn("// No: stay on the CPU.", outcome.out)
        self.assertIn("int main()", outcome.out)

    def test_no_way_has_a_prediction(self):
        file = os.path.join(SOURCE, "bench", "results", "h200", "precision-1.json")
        outcome = self.assert_ends(CANNOT_SAY, "advise", file, *JOB, "--code", "hip")
        self.assertEqual(outcome.out, "")
        self.assertIn("xferbench: --code: no way has a prediction, so there is no program to print\n", outcome.err)

    def test_texts_of_a_file_stay_comments(self):
        with open(SWEEP, encoding="utf-8") as file:
            document = json.load(file)
        document["devices"][0]["name"] = "GPU\nint evil;\\"
        self.write_json("rows.json", document)
        for kind, mark, first in (("cuda", "//", "#include"), ("pytorch", "#", "import")):
            text = self.assert_ends(YES, "advise", "rows.json", *self.PINNED[1:], "--code", kind).out
            head = text[: text.index(f"\n{first}")].rstrip().splitlines()
            self.assertIn("evil", " ".join(head))
            for line in head:
                self.assertTrue(line.startswith(f"{mark} "), line)
                self.assertNotIn("\\", line)

    def test_measured_now(self):
        job = ("--in", "1M", "--out", "64K", "--gpu-time", "5ms", "--memory", "pinned")
        outcome = self.assert_ends(YES, "advise", *HOST, *job, "--code", "cuda")
        self.assertIn(" in_bytes = 1048576;", outcome.out)
        self.assertIn("(host), right before.", " ".join(outcome.out.replace("//", "").split()))


class Deadline(Advise):
    JOB = (*HOST, "--in", "64K", "--gpu-time", "none", "--memory", "pinned")

    def test_nothing_was_measured(self):
        outcome = self.assert_ends(CANNOT_SAY, "advise", *self.JOB, "--check", "--deadline", "1us")
        self.assertTrue(outcome.err.startswith("xferbench: the deadline came before all was measured"), outcome)
        self.assertIn("--deadline", outcome.err)
        self.assertEqual(outcome.err.count("\n"), 1, outcome)
        self.assertIn("Cannot say: no way has all the results", outcome.out)

    def test_all_was_measured(self):
        outcome = self.assert_ends(YES, "advise", *self.JOB, "--check", "--deadline", "50m")
        self.assertEqual(outcome.err, "", outcome)


class Refused(Advise):
    def assert_wrong(self, word, *arguments):
        outcome = self.assert_ends(WRONG, "advise", *arguments)
        self.assertIn(word, outcome.err)
        self.assertEqual(outcome.out, "")

    def test_wrong_input(self):
        self.assert_wrong("advise needs --bytes-in, what the job takes to the GPU, and --gpu-time, how long its", SWEEP)
        self.assert_wrong("advise needs --gpu-time", SWEEP, "--in", "1M")
        self.assert_wrong("--bytes-in is given twice", SWEEP, "--in", "1M", "--bytes-in", "1M", "--gpu-time", "1ms")
        self.assert_wrong("--gpu-time", SWEEP, "--in", "1M", "--gpu-time", "soon")
        self.assert_wrong("1 TiB", SWEEP, "--in", "0", "--gpu-time", "1ms")
        self.assert_wrong("--cpu-time", SWEEP, *JOB, "--cpu-time", "0")
        self.assert_wrong("--times", SWEEP, *JOB, "--times", "0")
        self.assert_wrong("--memory", SWEEP, *JOB, "--memory", "mapped")
        self.assert_wrong("--memory takes one word", SWEEP, *JOB, "--memory", "pinned,pageable")
        self.assert_wrong("one too many", SWEEP, SWEEP, *JOB)
        self.assert_wrong("no GPU 7", SWEEP, *JOB, "--device", "7")
        self.assert_wrong("missing.json", "missing.json", *JOB)
        self.assert_wrong("--backend", *JOB, "--backend", "abacus")
        self.assert_wrong("would replace", SWEEP, *JOB, "--json", SWEEP)
        self.assert_wrong("--code", SWEEP, *JOB, "--code", "fortran")
        self.assert_wrong("--code takes one word", SWEEP, *JOB, "--code", "cuda,hip")
        self.assert_wrong("--code and --json both write to standard output", SWEEP, *JOB, "--code", "cuda", "--json", "-")

    def test_no_such_device(self):
        outcome = self.assert_ends(WRONG, "advise", *HOST, *JOB, "--device", "9")
        self.assertIn("device", outcome.err)

    def test_no_gpu(self):
        outcome = self.assert_ends(
            CANNOT_SAY, "advise", *JOB, "--json", "advice.json", environment=harness.absent_environment()
        )
        self.assertIn("no GPU can be tested here", outcome.err)
        self.assertFalse(os.path.exists(self.path("advice.json")))


if __name__ == "__main__":
    harness.main()
