#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `xferbench link` or `fleet` writes against its readers:
check_formats.py TEST-FORMATS SOURCE-FOLDER SCHEMA

TEST-FORMATS writes reports of every kind in every format. The JSON must be what
docs/SCHEMA.schema.json says, and promtool, where it is installed, must take the metrics. Ends with 77
where neither could be asked.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def check_json(source, name, files):
    """None where there is no validator."""
    script = os.path.join(source, "tests", "validate_json.py")
    schema = os.path.join(source, "docs", f"{name}.schema.json")
    run = subprocess.run([sys.executable, "-B", script, schema, *files], check=False)
    return None if run.returncode == SKIPPED else run.returncode == 0


def check_metrics(files):
    """None where there is no promtool."""
    promtool = shutil.which("promtool")
    if promtool is None:
        print("left out: no promtool")
        return None
    good = True
    for path in files:
        with open(path, "rb") as file:
            run = subprocess.run([promtool, "check", "metrics"], stdin=file, check=False)
        if run.returncode != 0:
            print(f"{os.path.basename(path)}: promtool refuses it", file=sys.stderr)
            good = False
    return good


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments[0], folder], check=True)
        json_files = sorted(glob.glob(os.path.join(folder, "*.json")))
        metrics = sorted(glob.glob(os.path.join(folder, "*.prom")))
        if len(json_files) < 7 or len(metrics) != len(json_files):
            print("there are too few files to check", file=sys.stderr)
            return 1
        checks = [check_json(arguments[1], arguments[2], json_files), check_metrics(metrics)]
    if False in checks:
        return 1
    return 0 if True in checks else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
