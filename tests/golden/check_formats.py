#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what is expected of golden cases against the readers of each format: check_formats.py BUILD_FOLDER

JSON must be what its schema in docs/ says, and promtool, where it is installed, must take the metrics. CSV, JUnit,
GitHub's workflow commands, github-action-benchmark's array, Markdown and Nagios' line must be readable by others,
whatever texts were told. Ends with 77 where the schemas could not be asked.
"""
import collections
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import run

DOCS = os.path.join(os.path.dirname(os.path.dirname(run.HERE)), "docs")
SKIPPED = 77
LEAST = {"json": 15, "prometheus": 15, "nagios": 15, "csv": 15, "junit": 12, "github": 25, "markdown": 20,
         "benchmark-action": 5}  # fewer files would prove little
COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
ENTRY = rf" '\w+'={NUMBER};(?:{NUMBER}:)?;(?:{NUMBER}:)?;0;(?:{NUMBER})?"
NAGIOS = re.compile(rf"XFERBENCH LINK (?:OK|WARNING|CRITICAL|UNKNOWN) - [ !#%(-;=?-_a-{{}}~]*(?:\|(?:{ENTRY})+)?\n")
ENDS = ("failure", "error", "skipped", "system-out")


class Wrong(Exception):
    """What a reader would stumble over."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


def outputs():
    """(case, words of the command, name of the part, its text) of all that is expected, but for what is picked."""
    for at, _, names in sorted(os.walk(run.HERE)):
        if "expected" not in names:
            continue
        with open(os.path.join(at, "expected"), encoding="utf-8", errors="surrogateescape", newline="") as file:
            parts = re.split(r"(?m)^(\$ .*|== .*)\n", file.read())
        with open(os.path.join(at, "args"), encoding="utf-8", errors="surrogateescape") as file:
            picks = re.findall(r"(?m)^pick: (\S+)", file.read())
        words = []
        for head, text in zip(parts[1::2], parts[2::2]):
            if head.startswith("$ "):
                words = shlex.split(head[2:])
            elif head[3:] not in ("stderr", *picks) and not head.startswith("== exit"):
                yield at, words, head[3:], text


def format_of(words, part, text):
    if text[:1] in "{[" and text[:2] != "[0" and (part != "stdout" or "--json" in words or "json" in words):
        return "json"
    if "<svg" in text[:2000]:
        return "picture"
    if words[:1] == ["report"]:
        return "page"
    if part.endswith(".csv") or (part == "stdout" and words[-2:] == ["--csv", "-"]):
        return "csv"
    formatted = "--format" in words and part in ("stdout", *words[words.index("--format"):])
    return words[words.index("--format") + 1] if formatted else "table"


# ---- each format ----
def check_json(text, _):
    document = json.loads(text)
    if str(document.get("schema")).startswith("xferbench."):
        name = document["schema"].removeprefix("xferbench.")
        errors = sorted(VALIDATORS[name].iter_errors(document), key=lambda e: e.json_path) if VALIDATORS else []
        need(not errors, "; ".join(f"{e.json_path}: {e.message[:200]}" for e in errors[:3]))


def check_junit(text, _):
    root = ElementTree.fromstring(text)
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


def check_github(text, _):
    counts = collections.Counter()
    for line in text.removesuffix("\n").split("\n"):
        match = COMMAND.fullmatch(line)
        need(match, f"no command: {line!r}")
        need("::" not in match[3] and "##[" not in line, f"another command: {line!r}")
        for part in match.groups():
            need(re.fullmatch(r"(?:[ -$&-~]|%(?:25|0A|3A|2C))*", part), f"escapes: {line!r}")
        counts[match[1]] += 1
    need(max(counts.values()) <= 10, f"more than are shown: {counts}")


def check_benchmark_action(text, _):
    entries = json.loads(text)
    names = [entry["name"] for entry in entries]
    need(len(set(names)) == len(names), "a name twice")
    for entry in entries:
        need({"name", "unit", "value", "extra"} <= set(entry) <= {"name", "unit", "value", "range", "extra"}, "keys")
        need(isinstance(entry["value"], (int, float)) and entry["value"] > 0, "a value")
        need(entry["unit"] in ("GB/s", "1/s", "1"), "a unit")
        need(re.fullmatch(r"\u00b1 [0-9.e+-]+", entry.get("range", "\u00b1 0")), "a range")


def check_markdown(text, _):
    """Tables by GFM's rule: as many cells as the delimiter row; all tags are ours."""
    tags = set(re.findall(r"<[^>0-9][^>]*>", re.sub(r"`[^`\n]*`", "", text)))
    need(tags <= {f"<{s}{t}>" for s in ("", "/") for t in ("details", "summary")}, f"tags: {tags}")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        need(len(set(rows)) == 1 and re.fullmatch(r"[|: -]+", table.splitlines()[1]), f"table: {table}")


def check_csv(text, _):
    need(text.count("\r\n") == text.count("\n"), "lines end with CRLF")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    need(len({len(row) for row in rows}) == 1, "as many cells in each line")
    need(len(set(rows[0])) == len(rows[0]), "a column twice")
    need(not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f]", text), "control characters")


def check_prometheus(text, _):
    samples = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    need(len(set(samples)) == len(samples), "a sample twice")
    typed = re.findall(r"(?m)^# TYPE (\w+) (?:gauge|counter)$", text)
    families = {re.match(r"\w+", sample)[0] for sample in samples}
    need(len(set(typed)) == len(typed) and families <= set(typed), "a family without a type")
    label = r'\w+="(?:[^"\\\n]|\\["\\n])*"'
    for sample in samples:
        need(re.fullmatch(rf"\w+(?:\{{{label}(?:,{label})*\}})?", sample), f"a sample: {sample!r}")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, check=False)
        need(done.returncode == 0, done.stderr.decode())


def check_nagios(text, _):
    need(NAGIOS.fullmatch(text), text)


def check_picture(text, _):
    for picture in re.findall(r"(?s)<svg.*?</svg>", text):
        ElementTree.fromstring(picture)


def check_page(text, _):
    """Nothing in it steers anything; page_text.py, which put it into words, has checked all else."""
    need(not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f]", text), "it steers the terminal")


def check_table(text, words):
    """Nothing in it steers a terminal, and no line is wider than it."""
    colourless = re.sub(r"\x1b\[(?:0|1|31|32|33)m", "", text) if "always" in words else text
    check_page(colourless, words)
    wide = [line for line in colourless.split("\n") if len(line) > 200 and max(map(len, line.split())) < 100]
    need(not wide or "nhc" in words, f"a line is too wide: {wide}")


CHECKS = {"json": check_json, "junit": check_junit, "github": check_github, "benchmark-action": check_benchmark_action,
          "markdown": check_markdown, "crossovers": check_json, "csv": check_csv, "prometheus": check_prometheus, "nagios": check_nagios,
          "picture": check_picture, "page": check_page, "table": check_table}


def validators():
    """One for each schema; none where nothing can ask them."""
    sys.path.insert(0, os.path.dirname(run.HERE))
    try:
        import validate_json  # pylint: disable=import-outside-toplevel
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return {}
    if not hasattr(jsonschema, "Draft202012Validator"):
        return {}
    files = [name for name in os.listdir(DOCS) if name.endswith(".schema.json")]
    return {name.removesuffix(".schema.json"): validate_json.validator_of(os.path.join(DOCS, name)) for name in files}


VALIDATORS = validators()


def main():
    good, counts = True, collections.Counter()
    for case, words, part, text in outputs():
        kind = format_of(words, part, text)
        counts[kind] += 1
        try:
            CHECKS.get(kind, check_table)(text, words)
        except (Wrong, ValueError, KeyError, TypeError, csv.Error, ElementTree.ParseError) as error:
            print(f"{os.path.relpath(case, run.HERE)}: {' '.join(words)}: {part}: {error!r}", file=sys.stderr)
            good = False
    for kind, least in LEAST.items():
        if counts[kind] < least:
            print(f"there are too few files to check: {counts[kind]} of {kind}", file=sys.stderr)
            good = False
    print(dict(counts))
    return 1 if not good else 0 if VALIDATORS else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
