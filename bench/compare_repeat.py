#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare_repeat.py BASELINE CANDIDATE TIMES FILE [ARGUMENT...]

Counts how often `xferbench compare` reaches each verdict. Measures the two programs in turn with
the ARGUMENTs, 8 processes each, compares them, and repeats this TIMES times. If BASELINE and
CANDIDATE are the same program, every REGRESSION is a false alarm. Writes one line of JSON for each
comparison to FILE, and prints the counts.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

PROCESSES = "8"


def compare_once(baseline, candidate, folder, arguments):
    old, new = os.path.join(folder, "baseline.json"), os.path.join(folder, "candidate.json")
    subprocess.run(
        [candidate, *arguments, "--quiet", "--processes", PROCESSES, "--interleave", baseline]
        + ["--json", new, "--baseline-json", old],
        check=True,
    )
    done = subprocess.run([candidate, "compare", old, new, "--format", "json"], stdout=subprocess.PIPE, check=False)
    return done.returncode, json.loads(done.stdout)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    baseline, candidate, times, file, *arguments = sys.argv[1:]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, open(file, "w", encoding="utf-8") as out:
        out.write('{"arguments": ' + json.dumps(arguments) + ', "processes": ' + PROCESSES + ', "comparisons": [\n')
        for i in range(int(times)):
            code, document = compare_once(os.path.abspath(baseline), os.path.abspath(candidate), folder, arguments)
            verdict = document["overall"]["verdict"]
            counts[verdict] += 1
            keys = ("mode", "direction", "bytes", "figure", "verdict", "ratio", "interval")
            cases = [{key: case[key] for key in keys} for case in document["cases"]]
            out.write((",\n" if i > 0 else "") + json.dumps({"exit_code": code, "overall": verdict, "cases": cases}))
            out.flush()  # so that a later failure does not lose this comparison
            print(i + 1, verdict, *(f"{c['ratio']:.4f}" if c["ratio"] else "-" for c in cases), flush=True)
        out.write("\n]}\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
