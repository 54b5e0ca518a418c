#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare_repeat.py BASELINE CANDIDATE TIMES FILE [ARGUMENT...]

How often does `xferbench compare` say what? Measures the two programs in turn, 8 processes each, with
ARGUMENTs, compares, and does so TIMES times. BASELINE and CANDIDATE may be one program: then every
REGRESSION is a false alarm. Writes a line a comparison to FILE as JSON, and counts the verdicts.
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
    comparisons = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(int(times)):
            code, document = compare_once(os.path.abspath(baseline), os.path.abspath(candidate), folder, arguments)
            counts[document["overall"]["verdict"]] += 1
            comparisons.append(
                {
                    "exit_code": code,
                    "overall": document["overall"]["verdict"],
                    "cases": [
                        {key: case[key] for key in ("mode", "direction", "bytes", "verdict", "ratio", "interval")}
                        for case in document["cases"]
                    ],
                }
            )
            print(i + 1, document["overall"]["verdict"], *(f"{c['ratio']:.4f}" for c in document["cases"]), flush=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write('{"arguments": ' + json.dumps(arguments) + ', "processes": ' + PROCESSES + ', "comparisons": [\n')
        out.write(",\n".join(json.dumps(c) for c in comparisons) + "\n]}\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
