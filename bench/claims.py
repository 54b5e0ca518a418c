#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: claims.py [FOLDER]

Prints docs/claims.md: what the files in FOLDER (bench/results) say about each claim of claims.tsv.

claims.tsv has a row for each claim, and these columns:
  id, section, claim, command, figure   words; no command: no option measures it
  value      MODE VARIANT DIRECTION FIGURE[+FIGURE] [PARAMETER=VALUE...], or the ratio of two of them: A / B.
             A parameter that is not named has its default. "bytes" and every number in a row's details count
             as figures. "device NAME" is a fact of the GPU: a number; "no" is 0, "yes ..." is 1
  size       all; one size such as 16K; nothing: the largest that was measured
  rule       when the claim holds: >=X, <=X, X..Y or ~X (20 % more or less), in B/s, s, B or without a unit
  otherwise  the verdict as long as no file has the value
"""
import collections
import csv
import itertools
import os
import re
import statistics
import sys

from reference_results import DEFAULTS, HERE, KIB, MIB, GIB, RESULTS, read_documents, size_words, table
from summary import figures_of

BUSY = ("compare-busy-link.json",)  # measured on purpose beside another program
SUFFIXES = {"K": KIB, "M": MIB, "G": GIB}
HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "not measured yet"


def figure_of(row, term):
    """The value and unit that a term has in a row; None if the row is another case."""
    mode, variant, direction, names, *words = term.split()
    asked = dict(word.split("=") for word in words)
    known = {**row["parameters"], "bytes": row["bytes"], "simultaneous": row["simultaneous"]}
    usual = {**DEFAULTS, "codec": "for", "data": "integers", "bytes": row["bytes"], "simultaneous": False}
    if (row["mode"], row["variant"], row["direction"]) != (mode, variant, direction) or asked.keys() - known.keys():
        return None
    if row["status"] != "ok" or row["verified"] is False or row["latency"] != ("latency" in names):
        return None
    if any(str(value) != asked.get(name, str(usual.get(name))) for name, value in known.items()):
        return None
    figures = {name: {"median": value, "unit": "1"} for name, value in row.get("details", {}).items()
               if isinstance(value, (int, float))}
    figures.update(figures_of(row), bytes={"median": row["bytes"], "unit": "B"})
    found = [figures.get(name, {}) for name in names.split("+")]
    if any(figure.get("median") is None for figure in found):
        return None
    return sum(figure["median"] for figure in found), found[0]["unit"]


def values_of_term(documents, term):
    """(GPU, size) -> file -> the median of its rows. Size 0: the term names the size, or has none."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    unit = "1"
    for path, document in documents:
        gpu = re.sub(r"^NVIDIA | \d+GB.*", "", document["devices"][0]["name"])
        if term.startswith("device "):
            fact = document["devices"][0].get("facts", {}).get(term.split()[1])
            if fact is not None:
                found[gpu, 0][path].append(float({"n": 0, "y": 1}.get(fact[0], fact)))
            continue
        for row in document["results"]:
            figure = figure_of(row, term)
            if figure:
                found[gpu, 0 if "bytes=" in term else row["bytes"]][path].append(figure[0])
                unit = figure[1]
    return {key: {path: statistics.median(values) for path, values in files.items()}
            for key, files in found.items()}, unit


def values_of(documents, claim):
    """GPU -> size -> values, a file each. A ratio is of one file; if no file has both, of the medians of all."""
    terms = [values_of_term(documents, term) for term in claim["value"].split(" / ") if term]
    found = collections.defaultdict(dict)
    for gpu, size in sorted(set.intersection(*(set(values) for values, _ in terms))) if terms else ():
        files = [values[gpu, size] for values, _ in terms]
        both = set.intersection(*(set(of_file) for of_file in files))
        pairs = [[of_file[path] for of_file in files] for path in both] or [
            [statistics.median(of_file.values()) for of_file in files]]
        found[gpu][size] = [pair[0] / pair[1] if len(pair) > 1 else pair[0] for pair in pairs]
    units = [unit for _, unit in terms]
    return found, units[0] if units and (len(units) == 1 or units[1] != units[0]) else "1"


def limits_of(rule):
    """The least and the most with which a claim holds; None is no limit."""
    if rule.startswith("~"):
        return 0.8 * float(rule[1:]), 1.2 * float(rule[1:])
    if rule.startswith(">="):
        return float(rule[2:]), None
    if rule.startswith("<="):
        return None, float(rule[2:])
    return tuple(float(limit) for limit in rule.split(".."))


def is_within(value, limits):
    return (limits[0] is None or value >= limits[0]) and (limits[1] is None or value <= limits[1])


def number_words(values, unit):
    """Numbers with their unit behind the last."""
    scale, name = {"s": (1e6, " us") if max(values) < 1e-3 else (1e3, " ms"), "B/s": (1e-9, " GB/s"),
                   "B": (1 / MIB, " MiB")}.get(unit, (1, ""))
    values = [value * scale for value in values]
    return " to ".join("%.0f" % value if value >= 100 else "%.3g" % value for value in values) + name


def rule_words(rule, unit):
    limits = [limit for limit in limits_of(rule) if limit is not None]
    return {">": "at least ", "<": "at most "}.get(rule[0], "") + number_words(limits, unit)


def wanted(claim, sizes):
    """The sizes that count."""
    if claim["size"] == "all":
        return sorted(sizes)
    if not claim["size"]:
        return [max(sizes)]
    size = int(claim["size"].rstrip("KMG")) * SUFFIXES.get(claim["size"][-1], 1)
    return [size] if size in sizes else []


def judge(values, limits):
    """The verdict on the values of one GPU, and which sizes show it. Of several sizes the medians count."""
    sizes = sorted(values)
    if len(sizes) == 1:
        good = sum(is_within(value, limits) for value in values[sizes[0]])
        if good:
            count = len(values[sizes[0]])
            return HOLDS if good == count else "holds in %d of %d files" % (good, count), sizes
        if None not in limits and min(values[sizes[0]]) > limits[1]:
            return FAILS + " (more)", sizes
        return FAILS + ("" if None in limits else " (less)"), sizes
    runs = [(holds, list(run)) for holds, run in itertools.groupby(
        sizes, lambda size: is_within(statistics.median(values[size]), limits))]
    shown = sorted({sizes[0], sizes[-1]} | {run[0] for _, run in runs[1:]})
    good = [run for holds, run in runs if holds]
    if len(runs) == 1:
        return HOLDS if good else FAILS, shown
    if runs[-1][0]:
        return "holds from %s on" % size_words(good[-1][0]), sorted({sizes[0], good[-1][0], sizes[-1]})
    if len(good) > 1:
        return "holds at some sizes", shown
    if runs[0][0]:
        return "holds up to %s" % size_words(good[0][-1]), sorted({sizes[0], good[0][-1], runs[1][1][0], sizes[-1]})
    return "holds only from %s to %s" % (size_words(good[0][0]), size_words(good[0][-1])), shown


def cell(values, sizes, unit):
    """What was measured, in words: a value a size, or one with its range and the number of files."""
    words = []
    for size in sizes:
        text = number_words([statistics.median(values[size])], unit)
        if len(sizes) == 1 and len(values[size]) > 1:
            text += " (%s, %d files)" % (number_words([min(values[size]), max(values[size])], unit), len(values[size]))
        words.append("%s: %s" % (size_words(size), text) if size else text)
    return "; ".join(words)


def line_of(claim, documents, gpus):
    """The verdict, and the cells of the claim's line."""
    found, unit = values_of(documents, claim)
    cells, verdicts = [], {}
    for gpu in gpus:
        sizes = wanted(claim, found[gpu]) if gpu in found else []
        if sizes:
            verdicts[gpu], sizes = judge({size: found[gpu][size] for size in sizes}, limits_of(claim["rule"]))
        cells.append(cell(found[gpu], sizes, unit) if sizes else "")
    verdict = claim["otherwise"] or UNKNOWN
    if verdicts:
        verdict = ", ".join("%s: %s" % item for item in verdicts.items())
        if len(set(verdicts.values())) == 1:
            verdict = next(iter(verdicts.values()))
    figure = claim["figure"] + (": " + rule_words(claim["rule"], unit) if verdicts else "")
    command = "`%s`" % claim["command"] if claim["command"] else ""
    return verdict, ['<a id="%s"></a>%s' % (claim["id"], claim["claim"]), "**%s**" % verdict, figure, *cells, command]


def count_words(verdicts):
    """How many claims hold, and so on."""
    starts = (FAILS, UNKNOWN, "your program decides", "needs")
    counts = collections.Counter(
        HOLDS if verdict == HOLDS else next((start for start in starts if verdict.startswith(start)),
                                            "depends on the size, the GPU or the run") for verdict in verdicts)
    return ["- %s: %d" % (kind.replace("needs", "needs other hardware"), count) for kind, count in counts.most_common()]


def link_to(section):
    return "[%s](#%s)" % (section, section.lower().replace(" ", "-"))


BEFORE = """# Claims, and what was measured

%d claims that programmers meet in tutorials, courses and talks, each with the command that tests it. Every verdict
comes from numbers in [bench/results](../bench/results/README.md), by the rule beside it: `bench/claims.py` makes this
page from `bench/claims.tsv`.
"""

READING = """
**How to read it.** Put `xferbench` before the command. The claim holds if the figure keeps to the limits behind it;
"more" and "less" say how it misses them. A value is the median over files, each the median of one run; behind it
stand its range and the number of files. A ratio is of two results of one file; if no file has both, of the medians of
all files. Where there are several sizes, each is judged by its median. An empty cell: not measured on that GPU. The
machines are virtual, with PCIe Gen5 x16 and NVLink, and share their hosts with others: yours may give another answer.
The kernel of `double-buffer` takes as long as the copies, that of `pipeline` as long as the slower of reading and
copying: with another, overlap brings less.

A claim that is not measured yet gets its verdict once a file has its figure. Add the file to `bench/results`, and run
`bench/claims.py > docs/claims.md`.

Find the word that your program has; [frameworks.md](frameworks.md) says what each one does.
"""


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 2
    documents = [(path, document) for path, document in read_documents(arguments[0] if arguments else RESULTS)
                 if os.path.basename(path) not in BUSY and "results" in document]
    with open(os.path.join(HERE, "claims.tsv"), encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    gpus = sorted({key[0] for key in values_of_term(documents, "pinned registered h2d bandwidth")[0]})
    words, sections, verdicts = collections.defaultdict(dict), collections.defaultdict(list), []
    for claim in claims:
        verdict, line = line_of(claim, documents, gpus)
        verdicts.append(verdict)
        sections[claim["section"]].append(line)
        words[claim["section"]].update(dict.fromkeys(re.findall("`[^`]+`", claim["claim"])))
    places = [[", ".join(sorted(of_section)), link_to(section)] for section, of_section in words.items() if of_section]
    print("\n".join([BEFORE % len(claims), *count_words(verdicts), READING, *table(["word", "section"], places)]))
    for section, lines in sections.items():
        print("\n".join(["", "## " + section, "", *table(["claim", "verdict", "figure", *gpus, "command"], lines)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
