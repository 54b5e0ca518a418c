#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`xferbench explain` of traces: how the time divides, what is wrong with which copies, what they would take,
and what cannot be said. usage: test_explain.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re

import harness
from harness import SOURCE, Case, figure

SWEEP = os.path.join(SOURCE, "bench", "results", "h200", "sweep.json")  # of one H200, from 4 KiB on
KIB, MIB = 1 << 10, 1 << 20
EXPLAINED, WRONG, NOTHING = 0, 2, 3


def pinned(direction, size):
    """Seconds of one pinned copy alone, as the sweep has it."""
    with open(SWEEP, encoding="utf-8") as file:
        rows = json.load(file)["results"]
    (row,) = [row for row in rows if (row["mode"], row["direction"], row["bytes"]) == ("pinned", direction, size)]
    return figure(row, "wall_time")["median"]


# ---- events as PyTorch's profiler writes them, from begin to end in milliseconds ----


def event(category, name, begin, end, pid=0, tid=7, **arguments):
    return {
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
        "ts": 1.7e15 + 1000 * begin, "dur": 1000 * (end - begin), "args": arguments,
    }


def work(category, name, begin, end, device=0, stream=7, **arguments):
    return event(category, name, begin, end, device, stream, device=device, stream=stream, **arguments)


def kernel(begin, end, **where):
    return work("kernel", "gemm", begin, end, correlation=0, **where)


def copy_in(begin, end, size=MIB, memory="Pinned", **where):
    return work("gpu_memcpy", f"Memcpy HtoD ({memory} -> Device)", begin, end, bytes=size, **where)


def copy_back(begin, end, size=MIB, memory="Pinned", **where):
    return work("gpu_memcpy", f"Memcpy DtoH (Device -> {memory})", begin, end, bytes=size, **where)


def call(name, begin, end, link=0, tid=1, category="cuda_runtime"):
    return event(category, name, begin, end, 900, tid, correlation=link)


def around(category, name, begin, end, tid=1):
    return event(category, name, begin, end, 900, tid)


def document_of(events):
    return {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}


class Explain(Case):
    def explain(self, events, *options, code=EXPLAINED, **environment):
        """The document; its text, of which each white space is one blank, is self.text."""
        self.write_json("trace.json", document_of(list(events)))
        return self.explain_file("trace.json", *options, code=code, **environment)

    def explain_file(self, *arguments, code=EXPLAINED, **environment):
        outcome = self.assert_ends(code, "explain", *arguments, "--json", "out.json", environment=environment)
        for line in outcome.out.splitlines():
            self.assertLessEqual(len(line), 100, line)
            self.assertEqual(line, line.rstrip())
        self.lines, self.text, self.err = outcome.out, " ".join(outcome.out.split()), outcome.err
        return self.load("out.json")

    def program_of(self, *arguments, **options):
        (program,) = self.explain(*arguments, **options)["programs"]
        return program

    def faults_of(self, *arguments):
        """{name: fault} of the one program; each is there once."""
        faults = self.program_of(*arguments)["faults"]
        found = {one["fault"]: one for one in faults}
        self.assertEqual(len(found), len(faults))
        return found

    def assert_seconds(self, found, *milliseconds):
        for one, wanted in zip(found, milliseconds, strict=True):
            self.assertAlmostEqual(one, wanted / 1000, 8)


class Shares(Explain):
    EVENTS = (
        copy_in(0, 10), kernel(5, 25), copy_back(20, 40, 4 * MIB),
        work("gpu_memset", "Memset (Device)", 45, 50, bytes=512), kernel(60, 100),
    )

    def test_of_the_time(self):
        program = self.program_of(self.EVENTS)
        (gpu,) = program["gpus"]
        self.assert_words(self.text, ("GPU 0 computed 60 % of the time, only copied 25 %, and did neither 15 %.",))
        self.assertIn("100 ms from the first copy or kernel to the last", self.text)
        lanes = [gpu[lane] for lane in ("h2d", "d2h", "other_copies", "kernels", "host")]
        self.assertEqual([lane["count"] for lane in lanes], [1, 1, 1, 2, 0])
        self.assertEqual([lane["bytes"] for lane in lanes], [MIB, 4 * MIB, 512, 0, 0])
        self.assert_seconds([lane["busy_s"] for lane in lanes], 10, 20, 5, 60, 0)
        self.assert_seconds((program["window_s"], gpu["copying_only_s"], gpu["neither_s"]), 100, 25, 15)
        self.assert_seconds([one["exposed_s"] for one in program["copies"]], 15, 5)
        self.assert_seconds([one["seconds"] for one in program["copies"]], 20, 10)

    def test_what_is_at_once_counts_once(self):
        """Two copies and two kernels on several streams. And each GPU has its own shares."""
        events = (copy_in(0, 30), copy_in(10, 40, stream=8), kernel(20, 50, stream=9), kernel(30, 60))
        program = self.program_of((*events, copy_in(0, 10, device=1), kernel(40, 100, device=1)))
        gpus = {gpu["device"]: gpu for gpu in program["gpus"]}
        self.assert_seconds((gpus[0]["h2d"]["busy_s"], gpus[0]["kernels"]["busy_s"]), 40, 40)
        self.assert_seconds((gpus[0]["copying_only_s"], gpus[0]["neither_s"]), 20, 40)
        self.assert_seconds((gpus[1]["copying_only_s"], gpus[1]["neither_s"]), 10, 30)
        self.assert_words(self.text, ("GPU 0 computed 40 %", "GPU 1 computed 60 %"))
        self.assertFalse(program["is_one_stream"])
        self.assertTrue(self.program_of(self.EVENTS)["is_one_stream"])

    def test_picture(self):
        """A column for a fortieth of the time, as ASCII and as UTF-8."""
        for language, full in (("C", "@"), ("C.UTF-8", "\u2588")):
            self.explain(self.EVENTS, LC_ALL=language)
            heading, *lines = self.lines.splitlines()[2:7]
            shown = lines[3][heading.index("over the time") :]
            self.assertEqual(shown, 2 * " " + 8 * full + 14 * " " + 16 * full)
            self.assertIn("kernels           60 %", lines[3])


class Groups(Explain):
    def step(self, at, link, thread=1):
        """A copy by two calls within two operators, a mark and a line."""
        return (
            around("user_annotation", f"ProfilerStep#{link}", at, at + 50, thread),
            around("python_function", "train.py(34): load", at + 1, at + 49, thread),
            around("cpu_op", "aten::to", at + 2, at + 40, thread), around("cpu_op", "aten::copy_", at + 3, at + 39, thread),
            call("cudaMemcpyAsync", at + 4, at + 38, link, thread),
            call("cuMemcpyHtoDAsync_v2", at + 5, at + 37, link, thread, "cuda_driver"),
            copy_in(at + 10, at + 20, memory="Pageable", correlation=link),
        )

    def test_by_what_is_around_the_call(self):
        """The outermost operator, the innermost mark and line, of the call's own thread, while they last."""
        events = (
            around("python_function", "train.py(1): <module>", -10, 300), *self.step(0, 1), *self.step(100, 2),
            call("cudaMemcpyAsync", 60, 65, 3), copy_in(61, 64, memory="Pageable", correlation=3),
            call("cudaMemcpyAsync", 20, 25, 4, tid=2), copy_in(61, 63, memory="Pageable", correlation=4),
            copy_in(65, 66, memory="Pageable", correlation=99),
        )
        groups = self.program_of(events)["copies"]
        keys = ("count", "call", "operator", "mark", "line")
        self.assertEqual([tuple(one[key] for key in keys) for one in groups], [
            (2, "cudaMemcpyAsync", "aten::to", "ProfilerStep", "train.py(34): load"),
            (1, "cudaMemcpyAsync", None, None, "train.py(1): <module>"),
            (1, "cudaMemcpyAsync", None, None, None),
            (1, None, None, None, None),
        ])
        self.assert_seconds([one["blocked_s"] for one in groups[:3]], 68, 5, 5)
        self.assertIsNone(groups[3]["blocked_s"])
        self.assert_words(self.text, (
            '2 copies to the GPU by aten.to, cudaMemcpyAsync, in "ProfilerStep", at train.py(34): load (2.097 MB)',
            "They take 20.0 ms (0.1049 GB/s), and while no kernel ran their calls blocked the thread for 68.0 ms.",
        ))

    def test_by_way_and_memory(self):
        events = (copy_in(0, 1), copy_in(1, 2, memory="Pageable"), copy_in(2, 3, memory="Managed"), copy_back(3, 4))
        found = {(one["direction"], one["host_memory"]) for one in self.program_of(events)["copies"]}
        self.assertEqual(found, {("h2d", "pinned"), ("h2d", "pageable"), ("h2d", "managed"), ("d2h", "pinned")})

    def test_bytes_of_rocm(self):
        """The calls have them, and not the copies."""
        events = [work("gpu_memcpy", "CopyHostToDevice", i, i + 0.5, correlation=i + 1) for i in range(4)]
        events += [event("hip_runtime", "hipMemcpyAsync", i, i + 0.5, 900, 1, correlation=i + 1, size=MIB) for i in range(4)]
        program = self.program_of(events)
        self.assertEqual([one["bytes"] for one in program["copies"]], [4 * MIB])
        self.assertEqual((program["gpus"][0]["h2d"]["bytes"], program["lacks_bytes"]), (4 * MIB, False))

    def test_a_call_that_starts_many_blocks_once(self):
        """As cudaGraphLaunch does, or cudaMemcpyBatchAsync."""
        events = (call("cudaGraphLaunch", 0, 5, 1), *(copy_in(6 + i, 7 + i, correlation=1) for i in range(4)))
        (group,) = self.program_of(events)["copies"]
        self.assertEqual(group["count"], 4)
        self.assert_seconds([group["blocked_s"]], 5)


class Faults(Explain):
    PINNED_ROUNDS = tuple(one for i in range(4) for one in (copy_in(20 * i, 20 * i + 10), kernel(20 * i + 10, 20 * i + 20)))
    PAGEABLE = tuple(copy_in(i, i + 1, memory="Pageable") for i in range(8))

    def test_pageable(self):
        faults = self.faults_of(self.PAGEABLE)
        fault = faults["pageable"]
        self.assertEqual((fault["seconds"], fault["predicted_s"], fault["copies"]), (0.008, None, 0))
        self.assertEqual(len(faults), 1)  # there is no kernel to overlap with
        self.assert_words(self.text, ("Pin the host memory of 8 copies to the GPU (8.389 MB): it is pageable.", "--measure tells"))
        fault = self.faults_of(self.PAGEABLE, "--with", SWEEP)["pageable"]
        self.assertAlmostEqual(fault["predicted_s"], 8 * pinned("h2d", MIB))
        self.assertRegex(self.text, r"Pinned, one after the other: 227 us\.")
        self.assertNotIn("--measure tells", self.text)
        self.assertEqual(self.load("out.json")["source"]["predicted_from"], SWEEP)
        back = [copy_back(at, at + 9, 64 * KIB, "Pageable", device=3) for at in (0, 9)]
        self.assertAlmostEqual(self.faults_of(back, "--with", SWEEP)["pageable"]["predicted_s"], 2 * pinned("d2h", 64 * KIB))
        self.assertNotIn("pageable", self.faults_of(self.PINNED_ROUNDS))
        for few in (self.PAGEABLE[:1], (*self.PAGEABLE, kernel(9, 1000))):  # one, and less than 1 % of the time
            self.assertEqual(self.faults_of(few), {})

    def test_pageable_blocks_for_longer_than_it_takes(self):
        """But for the time in which it waits for a kernel. One call counts once, however many copies it starts."""
        copies = [copy(i, i + 0.5, memory="Pageable", correlation=1) for i, copy in enumerate((copy_in, copy_back) * 10)]
        program = self.program_of((call("cudaGraphLaunch", 0, 50, 1), *copies, kernel(40, 60)))
        self.assert_seconds([one["blocked_s"] for one in program["copies"]], 40, 0)
        self.assert_seconds([one["seconds"] for one in program["faults"] if one["fault"] == "pageable"], 40, 5)
        waiting = [*copies[:2], call("cudaMemcpy", 0, 1000, 1), kernel(1, 1000)]
        self.assertEqual(self.faults_of(waiting), {})

    def test_the_first_touches_memory(self):
        words = "The first takes 10.0 ms, longer than twice the others' mean"
        self.faults_of((copy_in(-10, 0, memory="Pageable"), *self.PAGEABLE))
        self.assertIn(words, self.text)
        self.faults_of(self.PAGEABLE)
        self.assertNotIn("The first takes", self.text)

    def rows(self, count, size, rows):
        """So many copies, and kernels that make so many rows of them."""
        for i in range(count):
            yield copy_in(i, i + 0.5, size)
            if (i + 1) % (count // rows) == 0:
                yield kernel(i + 0.6, i + 0.7)

    def test_small(self):
        fault = self.faults_of(self.rows(64, 4 * KIB, 4), "--with", SWEEP)["small"]
        self.assertAlmostEqual(fault["seconds"], 0.032)
        self.assertAlmostEqual(fault["predicted_s"], 4 * pinned("h2d", 64 * KIB))
        (group,) = self.load("out.json")["programs"][0]["copies"]
        self.assertEqual((group["rows_without_kernel"], group["kept_s"]), (4, None))
        self.assert_words(self.text, ("4.096 KB each on average, in 4 rows without a kernel between", "As one copy a row:"))
        for count, size, rows in ((12, 4 * KIB, 2), (64, 65 * KIB, 4), (64, 4 * KIB, 32)):
            self.assertNotIn("small", self.faults_of(self.rows(count, size, rows)))

    def returning(self, size):
        """What comes back after a kernel goes to the GPU again, but for the first."""
        yield copy_in(-10, 0, 4 * MIB)
        for at in range(0, 120, 30):
            yield from (kernel(at, at + 10), copy_back(at + 10, at + 20, 4 * MIB), copy_in(at + 20, at + 30, size))

    def test_returns(self):
        fault = self.faults_of(self.returning(4 * MIB))["returns"]
        self.assert_seconds((fault["seconds"], fault["predicted_s"]), 50, 10)
        self.assertIn("Keep data on the GPU: 4 of 5 copies to the GPU", self.text)
        self.assertNotIn("returns", self.faults_of(self.returning(MIB)))
        copies = [one(10 * i, 10 * i + 10) for i, one in enumerate((copy_back, copy_in) * 4)]
        self.assertNotIn("returns", self.faults_of(copies))  # the GPU has computed nothing
        batches = [copy_in(100 * i - 50, 100 * i - 10) for i in range(9)]
        scalars = [one for at in range(0, 900, 100) for one in
                   (kernel(at - 9, at), copy_back(at, at + 1, 4), copy_in(at + 2, at + 4, 4))]
        found = self.program_of((*batches, *scalars))  # only what returns could stay
        (group,) = [one for one in found["copies"] if one["direction"] == "h2d"]
        self.assert_seconds((group["seconds"], group["kept_s"]), 9 * 42, 9 * 40)

    def test_setup_in_the_loop(self):
        """Neither before it, nor from a pool, nor twice because the runtime calls the driver."""
        once = (kernel(0, 10), call("cudaMalloc", 11, 15), call("cudaMalloc", -9, -1), call("cudaMalloc", 101, 109), kernel(90, 100))
        self.assertEqual(self.faults_of(once), {})
        driver = (call("cuMemAlloc_v2", 12, 14), call("cuMemAlloc_v2", 21, 23))
        pool = (call("cudaMallocAsync", 30, 40), call("cudaMallocAsync", 40, 50))
        faults = self.faults_of((*once, call("cudaMalloc", 20, 26), *driver, *pool))
        fault = faults["setup_in_loop"]
        self.assertEqual((fault["call"], fault["calls"], fault["copies"], len(faults)), ("cudaMalloc", 2, None, 1))
        self.assert_seconds([fault["seconds"]], 10)
        self.assertIsNone(fault["predicted_s"])
        self.assertIn("2 calls of cudaMalloc between copies and kernels take 10.0 ms", self.text)
        waiting = (call("cudaFree", 1, 10), call("cudaFree", 11, 20), kernel(0, 100))
        self.assertEqual(self.faults_of(waiting), {})  # each waits for the kernel
        self.assertEqual(self.faults_of((*driver, kernel(0, 10), kernel(25, 40)))["setup_in_loop"]["call"], "cuMemAlloc")

    def test_not_overlapped(self):
        """The busiest sets the pace, and of the other the first part stands out."""
        faults = self.faults_of(self.PINNED_ROUNDS)
        self.assertEqual(list(faults), ["not_overlapped"])
        self.assert_seconds((faults["not_overlapped"]["seconds"], faults["not_overlapped"]["predicted_s"]), 80, 40 + 40 / 4)
        self.assert_words(self.text, ("they wait for each other, all on one stream. 50.0 ms in place of 80.0 ms at best, if",))
        other = [one if i % 2 else {**one, "ts": one["ts"] + 1e4} for i, one in enumerate(self.PINNED_ROUNDS)]
        self.assertEqual(self.faults_of(other), {})
        self.assertIn("Nothing to change in the copies", self.text)

    def test_gaps(self):
        """Short ones, in which the host starts what comes next, vanish; long ones stay."""
        for gap, stays in ((0.2, 0), (0.21, 7 * 0.21)):
            events = [one | {"ts": one["ts"] + 1000 * gap * i} for i, one in enumerate(self.PINNED_ROUNDS)]
            self.assert_seconds([self.faults_of(events)["not_overlapped"]["predicted_s"]], 50 + stays)

    def test_pinned_copies_take_what_results_say(self):
        fault = self.faults_of(self.PINNED_ROUNDS, "--with", SWEEP)["not_overlapped"]
        self.assertAlmostEqual(fault["predicted_s"], 0.04 + pinned("h2d", MIB))

    def test_not_overlapped_in_chunks(self):
        program = self.program_of((copy_in(0, 40, 64 * MIB), kernel(40, 80)))
        self.assertEqual(program["chunk_bytes"], 8 * MIB)
        self.assert_seconds([program["faults"][0]["predicted_s"]], 40 + 40 / 8)
        self.assertIn("45.0 ms in place of 80.0 ms at best, in chunks of 8 MiB", self.text)

    def test_not_overlapped_and_pageable(self):
        """Overlapping takes pinned memory, of which the results tell."""
        events = [copy_in(20 * i, 20 * i + 10, memory="Pageable") if i < 4 else kernel(20 * i - 70, 20 * i - 60) for i in range(8)]
        self.assertIsNone(self.faults_of(events)["not_overlapped"]["predicted_s"])
        faults = self.faults_of(events, "--with", SWEEP)
        self.assertEqual(list(faults), ["pageable", "not_overlapped"])
        self.assertAlmostEqual(faults["not_overlapped"]["predicted_s"], 0.04 + pinned("h2d", MIB))

    def test_several_gpus_are_not_summed_up(self):
        events = (*self.PINNED_ROUNDS, kernel(0, 1, device=1))
        self.assertIsNone(self.faults_of(events)["not_overlapped"]["predicted_s"])

    def test_each_gpu_has_its_own_overlap(self):
        """One that only copies and one that only computes do not wait for each other."""
        events = [one for i in range(8) for one in (copy_in(i, i + 1), kernel(i, i + 1, device=1))]
        self.assertEqual(self.faults_of(events), {})

    def test_chunks_are_of_the_largest_group(self):
        small = [copy_back(90 + i / 100, 90 + i / 100 + 0.001, 4) for i in range(1000)]
        program = self.program_of((copy_in(0, 40, 64 * MIB), kernel(40, 80), *small))
        self.assertEqual(program["chunk_bytes"], 8 * MIB)

    def test_bytes_that_are_half_known(self):
        unknown = work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 8, 9)
        fault = self.faults_of((*self.PAGEABLE, unknown), "--with", SWEEP)["pageable"]
        self.assertIsNone(fault["predicted_s"])
        self.assertNotIn("GB/s)", self.text)

    def test_measured_now(self):
        fault = self.faults_of(self.PAGEABLE, "--measure", "--backend", "host")["pageable"]
        self.assertGreater(fault["predicted_s"], 0)
        self.assertEqual(self.load("out.json")["source"]["predicted_from"], "measured now")

    def test_names_of_the_calls(self):
        """Those that the program has."""
        events = [*self.PAGEABLE, *(copy_in(8 + i / 8, 8.1 + i / 8, 4 * KIB) for i in range(32)), kernel(12, 20)]
        for more, words in (
            ([], ("cudaMallocHost() for new memory", "cudaMemcpyBatchAsync()", "cudaMemcpyAsync() of pinned memory on two streams",
                  "advise --code cuda.")),
            ([call("hipMemcpyAsync", 0, 1)], ("hipHostMalloc() for new memory", "hipMemcpyAsync() of pinned memory on two streams",
                                                 "advise --code hip.")),
            ([around("cpu_op", "aten::to", 0, 1)],
             ("DataLoader(pin_memory=True)", "torch.stack", "a second torch.cuda.Stream()", "advise --code pytorch.")),
        ):
            self.explain([*events, *more])
            self.assert_words(self.text, words)
            self.assertEqual("cudaM" in self.text, not more)


class Limits(Explain):
    LINKED = (call("cudaMemcpy", 0, 9, 1), copy_in(0, 9, correlation=1), kernel(10, 20))

    def test_nothing(self):
        self.explain(self.LINKED)
        self.assertNotIn("Cannot be said", self.text)

    def test_what_the_trace_does_not_say(self):
        hip = work("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 0, 9, correlation=1)
        for events, words, key in (
            ((*self.LINKED, hip), "of which the trace does not say the bytes", "lacks_bytes"),
            ((*self.LINKED, hip), "Whether host memory was pinned", "lacks_memory"),
            ((call("cudaMallocManaged", 0, 1), *self.LINKED), "pages move without copies", "uses_managed"),
            (self.LINKED[1:], "How long calls took", None),
            ((*self.LINKED, kernel(5, 4)), "Events whose times cannot be", None),
        ):
            program = self.program_of(events)
            self.assert_words(self.text, ("Cannot be said", words))
            self.assertTrue(key is None or program[key])
        self.assertEqual(self.load("out.json")["source"]["events_left_out"], 1)
        (group,) = self.program_of((self.LINKED[0], hip))["copies"]
        self.assertEqual((group["bytes"], group["host_memory"]), (None, None))

    def test_cut_and_dropped(self):
        text = json.dumps(document_of(self.LINKED))
        self.write("cut.json", text[:-20])
        (program,) = self.explain_file("cut.json")["programs"]
        self.assertTrue(program["is_cut"])
        self.assertIn("the trace ends in the middle", self.text)
        own = [{"ph": "M", "name": "xferbench_explain", "pid": 0, "args": {"version": 1}}]
        for pid, end in ((5, {"dropped": 3}), (6, None)):
            own.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"p{pid}"}})
            own += [one | {"pid": pid} for one in self.LINKED]
            own += [{"ph": "M", "name": "xferbench_end", "pid": pid, "args": end}] if end else []
        self.write_json("own.json", own)
        document = self.explain_file("own.json")
        self.assertEqual(document["source"]["recorded_by"], "xferbench explain")
        found = [(one["name"], one["process"], one["dropped"], one["is_cut"]) for one in document["programs"]]
        self.assertEqual(found, [("p5", 5, 3, False), ("p6", 6, 0, True)])
        self.assert_words(self.text, ("CUPTI lost 3 records", "the program without a goodbye"))

    def test_several_traces(self):
        names = [f"{i}.json" for i in range(9)]
        for i, name in enumerate(names):
            self.write_json(name, document_of([kernel(0, 10 * (i + 1))]))
        document = self.explain_file(*names)
        self.assert_seconds([one["window_s"] for one in document["programs"]], *range(10, 100, 10))
        self.assert_words(self.text, ("Process: 10.0 ms", "Process: 80.0 ms", "and 1 more program"))
        self.assertNotIn("90.0 ms", self.text)

    def test_any_name(self):
        """Of any length, in any script, and nothing that steers a terminal."""
        for name in ("x" * 300, "a" + "\u00e9" * 200, "two words " * 30, "x\n::error::##[x]\x1b[31m\u202e\r"):
            process = {"ph": "M", "name": "process_name", "pid": 900, "args": {"name": name}}
            ranges = [around(kind, name, 0, 9) for kind in ("cpu_op", "python_function", "user_annotation")]
            events = (process, *ranges, call(name, 1, 9, 1), copy_in(0, 9, memory="Pageable", correlation=1))
            for language in ("C", "C.UTF-8"):
                program = self.program_of(events, LC_ALL=language)
                self.assertEqual((program["name"], program["copies"][0]["operator"]), (name, name))
                self.assertNotRegex(self.lines, r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ufffd]|##|\s::")


class CommandLine(Explain):
    def test_nothing_is_in_it(self):
        document = self.explain([call("cudaMalloc", 0, 1)], code=NOTHING)
        self.assertEqual((document["programs"][0]["window_s"], document["programs"][0]["gpus"]), (0, []))
        self.assertIn("no copy and no kernel is in the trace", self.err)
        self.explain([], code=NOTHING)

    def test_json_on_standard_output(self):
        self.write_json("t.json", document_of([kernel(0, 1)]))
        outcome = self.assert_succeeds("explain", "t.json", "--json", "-")
        self.assertEqual(self.load_text(outcome.out)["source"]["file"], "t.json")
        self.assertEqual(outcome.err, "")

    def test_what_is_refused(self):
        self.write_json("t.json", document_of([kernel(0, 1)]))
        self.write("text", "nothing\n")
        for words, *arguments in (
            (("explain takes a trace, or a command behind --",),),
            (("explain -- takes a command",), "--"),
            (("explain takes traces or a command", "'t.json'"), "t.json", "--", "true"),
            (("--with and --measure: give one",), "t.json", "--with", SWEEP, "--measure"),
            (("nowhere.json: cannot be read",), "nowhere.json"),
            (("text: byte 0: this is no trace",), "text"),
            (("nowhere.json",), "t.json", "--with", "nowhere.json"),
            (("t.json",), "t.json", "--with", "t.json"),
            (("--json", "t.json"), "t.json", "--json", "t.json"),
            (("unknown option --size",), "t.json", "--size", "1M"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, "explain", *arguments, environment=harness.absent_environment())

    def test_what_cannot_be_measured_costs_no_answer(self):
        self.write_json("t.json", {"traceEvents": [copy_in(0, 1)]})
        arguments = ("explain", "t.json", "--measure", "--backend", "cuda")
        outcome = self.run_program(*arguments, environment=harness.absent_environment())
        self.assertEqual(outcome.code, 2)
        self.assertIn("from the first copy or kernel to the last", outcome.out)
        self.assertIn("nothing can be measured here", outcome.err)

    def test_costs_of_another_gpu_are_said(self):
        self.write_json("t.json", {"traceEvents": [copy_in(0, 1, device=3)]})
        self.assertIn("has no GPU 3: predictions are of its GPU 0", self.run_program("explain", "t.json", "--with", SWEEP).err)


if __name__ == "__main__":
    harness.main()
