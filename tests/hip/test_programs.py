#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs that `advise --code` prints: CUDA's compiled by nvcc, CUDA's and HIP's over the runtime on the CPU, where
they have to do what was measured. usage: test_programs.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import concurrent.futures
import json
import os
import py_compile
import re

from stand_in import CORES, LEAK_EXIT, STAND_IN, HipCase, harness

CXX = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
HOST_WARNINGS = ("-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror")
LINE = re.compile(
    r"[\d.]+ GB/s, [\d.]+ ms per job; promised ([\d.]+) GB/s, ([\d.]+) ms: [\d.]+ of that rate; "
    r"[\d.]+ ms by events, kernel ([\d.]+) ms; data (right|WRONG)\n"
)


def read_cache(name):
    with open(os.path.join(harness.BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(rf"^{name}:\w+=(.*)$", file.read(), re.M)[1]


def rows_of(name, *kinds):
    """Rows of a committed measurement of an H200."""
    with open(os.path.join(harness.SOURCE, "bench", "results", "h200", name), encoding="utf-8") as file:
        document = json.load(file)
    document["results"] = [row for row in document["results"] if (row["mode"], row["variant"]) in kinds]
    assert document["results"]
    return document


def with_details(**details):
    """A ring of 3 threads and 4 chunks of 256 KiB, so that slots are used again."""
    document = rows_of("crossover.json", ("pageable", "ring"))
    for row in document["results"]:
        row["details"] |= {"threads": 3, "ring_chunk_bytes": 262144, "ring_bytes": 4 * 262144} | details
    return document


def pinned(variant="registered"):
    document = rows_of("crossover.json", ("pinned", "registered"))
    for row in document["results"]:
        row["variant"] = variant
    return document


def with_pinning(variant):
    document = pinned()
    document["results"] += rows_of("pin.json", ("pin", variant))["results"]
    return document


def in_place(mode, variant):
    """The rows of pinned copies, as if they were of that mode."""
    document = pinned(variant)
    if mode == "zero-copy":
        document["results"] += [row | {"direction": "bidir"} for row in document["results"] if row["direction"] == "h2d"]
    for row in document["results"]:
        row |= {"mode": mode, "parameters": {}}
    return document


def copied_to_managed():
    """Where nothing tells what making pinned memory takes."""
    document = with_pinning("copy")
    for row in document["results"]:
        row["figures"] = [one for one in row["figures"] if one["name"] != "setup_time"]
    document["results"] += in_place("managed", "prefetch")["results"]
    return document


JOB = ("--bytes-in", "3000001", "--bytes-out", "70003", "--gpu-time", "1ms", "--times", "1000")
# Each way, and what its program is to do: how often it calls the functions of HIP that matter for `runs` jobs.
WAYS = {
    "pageable": (rows_of("crossover.json", ("pageable", "driver")), JOB, {"hipHostMalloc": 0, "hipHostRegister": 0}),
    # 12 chunks in and 1 out.
    "ring": (with_details(), JOB, {"hipHostMalloc": 1, "copies": 13, "hipEventCreate": 2 + 4}),
    "ring by the caller": (with_details(threads=1), JOB, {"hipHostMalloc": 1, "copies": 13}),
    # 3 chunks in and 20 out.
    "ring, much out": (with_details(), ("--in", "700003", "--out", "5000002", "--gpu-time", "none"), {"copies": 3 + 20}),
    "pinned": (pinned(), ("--in", "3000001", "--gpu-time", "none", "--memory", "pinned"), {"hipHostRegister": 2, "copies": 1}),
    "pinned, allocated": (pinned("alloc"), ("--in", "4097", "--out", "9", "--gpu-time", "1ms", "--memory", "pinned"),
                          {"hipHostMalloc": 2, "hipHostRegister": 0, "copies": 2}),
    "overlapped": (pinned(), (*JOB, "--memory", "pinned"), {"hipHostRegister": 2, "hipStreamCreateWithFlags": 4}),
    "overlapped, much out": (pinned(), ("--in", "3000001", "--out", "5000002", "--gpu-time", "none", "--memory", "pinned"),
                             {"hipStreamCreateWithFlags": 4}),
    "overlapped, page-locked where it lies": (with_pinning("used"), JOB, {"hipHostRegister": 2, "hipHostMalloc": 0}),
    # Its kernel is tuned on memory of the GPU.
    "zero-copy": (in_place("zero-copy", "sequential"), (*JOB, "--memory", "pinned"), {"hipHostMalloc": 1, "hipMalloc": 1}),
    "managed": (in_place("managed", "fault"), (*JOB, "--memory", "managed"), {"hipMallocManaged": 1, "hipHostRegister": 0}),
    "prefetch": (in_place("managed", "prefetch"), (*JOB, "--memory", "managed"), {"hipMallocManaged": 1, "prefetches": 2}),
    "prefetch, copied": (copied_to_managed(), JOB, {"hipMallocManaged": 1, "prefetches": 2}),
    "overlapped, copied": (with_pinning("copy"), JOB, {"hipHostRegister": 0, "hipHostMalloc": 2}),
}


class Programs(HipCase):
    def print_programs(self, name):
        """Writes program.cuda, .hip and .pytorch into a folder of that way; what was predicted of it."""
        document, job, _ = WAYS[name]
        folder = self.make_folder()
        rows, advised = (os.path.join(folder, file) for file in ("rows.json", "advice.json"))
        self.write_json(rows, document)
        for kind in ("cuda", "hip", "pytorch"):
            outcome = self.assert_succeeds("advise", rows, *job, "--code", kind, "--json", advised)
            self.assertIn("WAY ", outcome.err)
            self.write(os.path.join(folder, f"program.{kind}"), outcome.out)
        advice = self.load(advised)
        self.assertEqual(advice["best"], name.split(",")[0].split()[0])
        return folder, next(one for one in advice["strategies"] if one["strategy"] == advice["best"])

    def build(self, folder, kind):
        """Compiles it for the CPU, with HIP's names, where a launch has to be one of C++."""
        text = self.read(os.path.join(folder, f"program.{kind}"))
        text = re.sub(r"cuda(Malloc|Free)Host\b", r"hipHost\1", text).replace("<cuda_runtime.h>", "<hip/hip_runtime.h>")
        text = re.sub(r"\bcuda(?=[A-Z])", "hip", text)
        text, launches = re.subn(r"(\w+)<<<([^>]+)>>>\(", r"standin_launcher<\1>(\2)(", text)
        self.assertLessEqual(launches, 1)
        source = self.write(os.path.join(folder, f"{kind}.cpp"), text)
        tests = os.path.join(harness.SOURCE, "tests", "doubles")
        include = [os.path.join(tests, "gpu_program"), os.path.join(tests, "hip_cpu"), os.path.join(harness.SOURCE, "src"),
                   os.path.join(harness.SOURCE, "include"), read_cache("XFERBENCH_HIP_INCLUDE")]
        self.assert_succeeds(
            *CXX, *(f"-I{one}" for one in include), source, "-o", os.path.join(folder, kind), STAND_IN,
            f"-Wl,-rpath,{os.path.dirname(STAND_IN)}", program=read_cache("CMAKE_CXX_COMPILER"))
        return os.path.join(folder, kind)

    def run_built(self, program, **environment):
        """What came of it; how often it called what."""
        trace = f"{program}.trace"
        outcome = self.wait_for(self.start(program=program, environment={"XB_STANDIN_TRACE": trace} | environment))
        counts = self.read(trace) if os.path.exists(trace) else ""
        return outcome, {name: int(count) for name, count in map(str.split, counts.splitlines())}

    def check_program(self, name, folder, kind, prediction):
        """It brings right data back, leaves nothing open, and is what was measured."""
        outcome, calls = self.run_built(self.build(folder, kind))
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        said = LINE.fullmatch(outcome.out)
        self.assertIsNotNone(said, outcome)
        self.assertEqual(said[4], "right")
        text = self.read(os.path.join(folder, f"program.{kind}"))
        promised = float(re.search(r"promised_seconds = ([\d.e-]+);", text)[1])
        self.assertAlmostEqual(float(said[2]), promised * 1e3, delta=1e-4)
        if not prediction["copied_into_pinned"]:
            self.assertEqual(promised, prediction["running_s"])
        else:  # with the copies, and without making the memory
            self.assertGreater(promised, prediction["running_s"])
            self.assertEqual(promised < prediction["seconds"], "prefetch" not in name)
        if prediction["chunk_bytes"]:
            self.assertIn(f" chunk_bytes = {prediction['chunk_bytes']};", text)
        runs = 3 + int(re.search(r" runs = (\d+);", text)[1]) + 1  # with warming up, and one to check
        for call, count in WAYS[name][2].items():
            if call == "copies":
                self.assertEqual(calls["hipMemcpyAsync"], runs * count, name)
            elif call == "prefetches":
                self.assertEqual(calls["hipMemPrefetchAsync"], runs * count, name)
            else:
                self.assertEqual(calls[call], count, (name, call))

    def check_way(self, name):
        folder, prediction = self.print_programs(name)
        py_compile.compile(os.path.join(folder, "program.pytorch"), cfile=os.path.join(folder, "py"), doraise=True)
        # CUDA's text differs from HIP's in names only (cli.advise).
        for kind in ("cuda", "hip") if name in ("ring", "overlapped", "prefetch") else ("hip",):
            self.check_program(name, folder, kind, prediction)
        if harness.built_in()["cuda"]:
            source = os.path.join(folder, "program.cuda")
            self.assert_succeeds("-x", "cu", "-c", *HOST_WARNINGS, source, "-o", os.path.join(folder, "program.o"),
                                 program=read_cache("XFERBENCH_NVCC"))

    def test_every_way(self):
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            for name, checked in [(name, pool.submit(self.check_way, name)) for name in WAYS]:
                with self.subTest(name):
                    checked.result()

    def test_wrong_data(self):
        folder, _ = self.print_programs("ring")
        program = self.build(folder, "hip")
        for where in ("h2d", "d2h"):
            outcome, _ = self.run_built(program, XB_STANDIN_DAMAGE=where)
            self.assertEqual((outcome.code, LINE.fullmatch(outcome.out)[4]), (1, "WRONG"), outcome)

    def test_a_call_that_fails(self):
        """The program names it. That it leaves the rest open is not counted against it."""
        folder, _ = self.print_programs("overlapped")
        program = self.build(folder, "hip")
        for call in ("hipHostRegister", "hipMemcpyAsync", "hipStreamSynchronize"):
            outcome, _ = self.run_built(program, XB_STANDIN_FAIL=f"{call}:2")
            self.assertIn(outcome.code, (1, LEAK_EXIT), outcome)
            self.assertRegex(outcome.err, rf"^line \d+: {call}\(.*: unknown error\n")
            self.assertEqual(outcome.out, "")


if __name__ == "__main__":
    harness.main()
