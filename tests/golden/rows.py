# SPDX-License-Identifier: Apache-2.0
"""Rows of a record in a line each, for .from files: `row MODE VARIANT DIRECTION RATE NAME=VALUE...` adds one of 256 MiB
that moves so many GB/s, `row NUMBER NAME=VALUE...` changes one. A NAME is that of a figure, of a member of a row, or of
a parameter of its mode. `bytes` are what is moved, too: twice as many both ways.

A figure's VALUE: 54e9 in each of seven samples; 54e9(50e9..55e9), as far as they and their interval go; 54e9*3, so many
samples, of which six or more have an interval; =54e9, which follows from other figures; `none`, no such figure.
"""
import copy
import json
import os
import re
import shlex

EACH = ("ci95_low", "min", "p5", "median", "p95", "p99", "max", "ci95_high")
FIGURE = re.compile(r"(?P<median>[^(*]+)(\((?P<low>.+)\.\.(?P<high>.+)\))?(\*(?P<n>\d+))?$")
with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "bases", "run", "node-of-no-rows.json")) as file:
    TEMPLATES = json.load(file)["templates"]
SHORT = {"rate": "bandwidth", "submit": "submit_time", "wall": "wall_time"}


def set_figure(row, figure, text, number):
    row["figures"] = [f for f in row["figures"] if f["name"] != figure["name"]]
    if text == "none":
        return
    told = FIGURE.match(text.removeprefix("="))
    median, n = told["median"], 0 if text[0] == "=" else int(told["n"] or 7)
    low, high = told["low"] or median, told["high"] or median
    for name in EACH if n else ["median"]:
        figure[name] = number(median if name == "median" else high if name in EACH[4:] else low)
    if n < 6:
        figure["ci95_low"] = figure["ci95_high"] = None
    figure["n"] = number(str(n))
    row["figures"].append(figure)


def set_member(row, name, text, number):
    try:
        value = number(text) if re.fullmatch(r"[\d.]+(e-?\d+)?", text) else json.loads(text)
    except ValueError:
        value = text
    name = SHORT.get(name, name)
    if name in TEMPLATES["figures"]:
        figure = {"name": name, **TEMPLATES["figures"][name], **TEMPLATES["figure"]}
        set_figure(row, figure, text, number)
    elif name in row:
        row[name] = value
        if name == "bytes":
            row["bytes_moved"] = number(str(int(text) * (2 if row["direction"] == "bidir" else 1)))
    else:
        part, _, key = name.rpartition(".")
        row[part or "parameters"][key] = value


def change_row(document, line, number):
    """Does what a line `row ...` says, in each process of several. `number` makes one of a document of its text."""
    words = shlex.split(line)
    for results in [p["document"]["results"] for p in document.get("processes", [])] or [document["results"]]:
        if words[1].isdigit():
            row, rest = results[int(words[1])], words[2:]
        else:
            row, rest = copy.deepcopy(TEMPLATES["row"]), words[5:]
            row["mode"], row["variant"], row["direction"] = words[1:4]
            results.append(row)
            rest = ["bytes=268435456", f"rate={words[4]}e9", "submit=5e-6", "wall=5e-3"] + rest
        for word in rest:
            set_member(row, *word.split("=", 1), number)
