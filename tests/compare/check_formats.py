#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `xferbench compare` writes against its readers: check_formats.py TEST-COMPARE-SINKS SOURCE-FOLDER

TEST-COMPARE-SINKS writes comparisons of every kind in every format. The JSON must be what
docs/compare.schema.json says, and JUnit, GitHub's workflow commands, github-action-benchmark's
array and the table must be readable by others, whatever texts the files held. Ends with 77 where
the schema could not be asked about.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SKIPPED = 77
KINDS = 13
COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")
ENDS = ("failure", "error", "skipped", "system-out")


class Wrong(Exception):
    """What a reader would stumble over."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def document_of(path):
    return json.loads(read(os.path.splitext(path)[0] + ".json"))


def check_schema(source, files):
    """None where there is no validator."""
    script = os.path.join(source, "tests", "validate_json.py")
    schema = os.path.join(source, "docs", "compare.schema.json")
    run = subprocess.run([sys.executable, "-B", script, schema, *files], check=False)
    return None if run.returncode == SKIPPED else run.returncode == 0


def check_json(path):
    """What a schema cannot say."""
    document = document_of(path)
    codes = {"PASS": 0, "IMPROVED": 0, "REGRESSION": 1, "INCONCLUSIVE": 3, "NOT COMPARABLE": 4}
    refused = not document["comparable"] and not document["forced"]
    apart = [case for case in document["cases"] if not case["same_settings"] and case["verdict"] == "INCONCLUSIVE"]
    gating = [case for case in document["cases"] if case["gates"]]
    none_left = bool(gating) and all(case in apart for case in gating) and not document["forced"]
    need(document["overall"]["exit_code"] == codes[document["overall"]["verdict"]], "exit code")
    need((refused or none_left) == (document["overall"]["verdict"] == "NOT COMPARABLE"), "refused")
    need(not (refused and document["cases"]), "cases of what is not comparable")


def check_junit(path):
    root = ElementTree.parse(path).getroot()
    document = document_of(path)
    need(root.tag == "testsuites" and len(root.findall("testsuite")) == 1, "one suite")
    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    for element in (root, suite):
        need(int(element.get("tests")) == len(cases), "tests")
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            need(int(element.get(attribute)) == len(suite.findall(f"testcase/{tag}")), attribute)
    for case in cases:
        need([child.tag in ENDS for child in case] == [True], "one end a testcase")
        need(case.get("name") and case.get("classname").startswith("xferbench"), "names")
        need(case[0].tag in ("system-out", "skipped") or case[0].text.strip(), "a body")
    red = suite.findall("testcase/failure") + suite.findall("testcase/error")
    need(bool(red) == (document["overall"]["exit_code"] != 0), "red or green")
    need(len(cases) >= len(document["cases"]), "a testcase for each case")


def check_github(path):
    text = read(path)
    counts = {}
    for line in text.removesuffix("\n").split("\n"):
        match = COMMAND.fullmatch(line)
        need(match, f"no command: {line!r}")
        need("::" not in match.group(3) and "##[" not in line, f"another command: {line!r}")
        for text_part in match.groups():
            need(re.fullmatch(r"(?:[ -$&-~]|%(?:25|0A|3A|2C))*", text_part), f"escapes: {line!r}")
        counts[match.group(1)] = counts.get(match.group(1), 0) + 1
    need(all(count <= 10 for count in counts.values()), f"more than are shown: {counts}")
    document = document_of(path)
    regressions = any(c["gates"] and c["verdict"] == "REGRESSION" for c in document["cases"])
    refused = document["overall"]["exit_code"] == 4
    need(("error" in counts) == (regressions or refused), "errors")


def check_benchmark_action(path):
    entries = json.loads(read(path))
    need(isinstance(entries, list), "an array")
    names = [entry["name"] for entry in entries]
    need(len(set(names)) == len(names) or "nasty" in path, "a name twice")
    for entry in entries:
        need({"name", "unit", "value", "extra"} <= set(entry) <= {"name", "unit", "value", "range", "extra"}, "keys")
        need(isinstance(entry["value"], (int, float)) and entry["value"] > 0, "a value")
        need(entry["unit"] in ("GB/s", "1/s", "1"), "a unit")
        need(re.fullmatch(r"\u00b1 [0-9.e+-]+", entry.get("range", "\u00b1 0")), "a range")
    need(document_of(path)["comparable"] or all("COMPARABLE" in e["extra"].upper() for e in entries), "not comparable")


def check_markdown(path):
    """Tables by GFM's rule: as many cells as the delimiter row; all tags are ours."""
    text = read(path)
    tags = set(re.findall(r"<[^>0-9][^>]*>", re.sub(r"`[^`\n]*`", "", text)))
    need(tags <= {f"<{s}{t}>" for s in ("", "/") for t in ("details", "summary")}, f"tags: {tags}")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        need(len(set(rows)) == 1 and re.fullmatch(r"[|:-]+", table.splitlines()[1]), f"table: {table}")


def check_table(path):
    need(re.fullmatch(r"[ -~\n]*\n", read(path)), "not plain")


def check_colour(path):
    need(re.sub(r"\x1b\[(?:0|1|31|32|33)m", "", read(path)) == read(os.path.splitext(path)[0] + ".txt"), "colour only")


CHECKS = {
    "json": check_json,
    "xml": check_junit,
    "github": check_github,
    "bench": check_benchmark_action,
    "md": check_markdown,
    "txt": check_table,
    "colour": check_colour,
}


def check_all(folder):
    good = True
    for ending, check in CHECKS.items():
        files = sorted(glob.glob(os.path.join(folder, f"*.{ending}")))
        if len(files) < KINDS:
            print(f"there are too few files to check: *.{ending}", file=sys.stderr)
            good = False
        for path in files:
            try:
                check(path)
            except (Wrong, ValueError, KeyError, ElementTree.ParseError) as error:
                print(f"{os.path.basename(path)}: {error!r}", file=sys.stderr)
                good = False
    return good


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments[0], folder], check=True)
        good = check_all(folder)
        schema = check_schema(arguments[1], sorted(glob.glob(os.path.join(folder, "*.json"))))
    if not good or schema is False:
        return 1
    return 0 if schema else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
