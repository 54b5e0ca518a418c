#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that a change changes nothing that a user sees: runs the same commands with two builds and compares
what each prints and writes, and its exit code.

usage: compare_builds.py OLD_BUILD NEW_BUILD [--only REGEX] [--documents] [--list] [--differences FOLDER]

OLD_BUILD and NEW_BUILD are build folders with xferbench, tests/xferbench_fake and tests/options_reference.
--documents compares only JSON, which may gain members and statements, and say a sentence in other words.
--only takes the cases whose name the expression finds, --list prints the names, --differences keeps both
texts of each difference in a folder. The files that commands read are those of this source tree; many words of
commands are in commands.txt beside this file.
deliberate.txt beside this file lists what is meant to differ: a regular expression of names, a tab, the
reason. Exit: 0 no difference but those; 1 a difference, or a line of the list that explains none; 2 usage.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import sys

from outcome import FAKE, PROGRAM, files_of, masked, part, run_command, working_folder

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
HOST = "host"
COMMANDS = ("run", "list", "link", "compare", "fleet", "show", "report", "advise", "explain", "help")
MODES = ("pageable pinned async double-buffer zero-copy managed local peer loads peer-loads batch resident quantize "
         "compress pin job pipeline").split()


def commands(kind):
    """The words of each command line of that kind in commands.txt."""
    with open(HERE + "/commands.txt", encoding="utf-8") as file:
        return [line[len(kind) + 2:].strip() for line in file if line.startswith(kind + " |")]


def documents():
    """The result files and the corpus, by what they are."""
    files = sorted(glob.glob(SOURCE + "/bench/results/*/*.json") + glob.glob(SOURCE + "/bench/results/*/*.jsonl"))
    corpus = sorted(glob.glob(SOURCE + "/tests/fuzz/corpus/*/*"))
    return files, [f for f in corpus if re.search("/(record|fleet|report)/", f)]


def kind_of(path):
    """What wrote a document: run, link, compare ..., or nothing that is known."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return value.get("command") or ("link" if "/link-" in path else "run")
    except (ValueError, AttributeError, UnicodeDecodeError):
        return "other"


def run_cases():
    """(name, program, words, environment) of measurements over the fake backend."""
    few, all_outputs = "--samples 6 --warm-up 1ms", "--json o.json --csv o.csv --trace o.trace --timeline"
    for mode in MODES:
        size = "2M,4M" if "loads" in mode else "64K,1M"
        latency = " --latency" if "loads" in mode else ""
        for devices in ("1", "3"):
            yield f"fake/{mode}/{devices}", FAKE, f"--mode {mode} --size {size} --device all {all_outputs}{latency}", {"XB_FAKE_DEVICES": devices}
        for i, words in enumerate(commands(mode)):
            yield f"fake/{mode}/varied-{i}", FAKE, f"--mode {mode} --size 256K {few} {all_outputs} {words}", {}
            yield f"fake/{mode}/dry-run-{i}", FAKE, f"--mode {mode} --size 256K --dry-run {words}", {}
        yield f"fake/{mode}/sweep", FAKE, f"--mode {mode} --size 4K..1M {few} --json-lines o.json --csv o.csv", {}
        yield f"fake/{mode}/latency", FAKE, f"--mode {mode} --latency --size {size.split(',')[0]} --samples 20 --json o.json --csv o.csv", {}
        for lacking in (0x1, 0x8, 0xffffffff):
            yield f"fake/{mode}/without-{lacking:x}", FAKE, f"--mode {mode} --size 64K {few} --json o.json", {"XB_FAKE_WITHOUT": str(lacking)}
        own = " --blocks 4" if mode == "batch" else ""  # how many are fastest is another number in each run
        yield f"fake/{mode}/host", HOST, f"--backend host --mode {mode} --size 64K --samples 3 --warm-up 1ms -t 1ms --json o.json{own}", {}
    for size in ("16M", "32M,64M"):
        yield f"fake/all/{size}", FAKE, f"--mode pageable,pinned,async,double-buffer,zero-copy,managed,local --size {size} --samples 6 --json o.json", {}
    for columns in ("40", "60", "80", "100", "120"):
        yield f"fake/width/{columns}", FAKE, f"--mode pinned,async,managed --size 64K..256K {few}", {"COLUMNS": columns}
    for words in commands("run"):
        yield f"fake/run/{words}", FAKE, words + ("" if words else f"--size 64K {few}"), {}
    for words in commands("link"):
        for form in ("table", "nagios", "nhc", "prometheus"):
            yield f"fake/link/{form}/{words}", FAKE, f"link --size 64K --format {form} {words} --attempts 1 --json o.json", {}
    for words in commands("advise"):
        yield f"fake/advise/{words}", FAKE, f"advise {words} --json o.json", {}
    for words in ("list", "list --json -"):
        yield f"fake/{words}", FAKE, words, {}


def help_cases():
    """Help of every command, mode and option; the documents that are made; what is wrong on a command line."""
    for program in (PROGRAM, FAKE):
        for words in ("help", "help all", "help columns", "--help", "--version", *(f"help {c}" for c in COMMANDS + tuple(MODES)),
                      *(f"{c} --help" for c in COMMANDS), *(f"--help {m}" for m in MODES)):
            yield f"help/{program}/{words}", program, words, {}
    with open(SOURCE + "/docs/options.md", encoding="utf-8") as file:
        for option in sorted(set(re.findall(r"--[a-z0-9-]+", file.read()))):
            yield f"help/option/{option}", PROGRAM, f"help {option}", {}
    for made in ("manual/*.1", "manual/*.bash", "manual/_*", "manual/*.fish"):
        yield f"made/{made}", "cat", made, {}
    yield "made/options", "tests/options_reference", "", {}
    for words in commands("wrong"):
        yield f"wrong/{words}", FAKE, words, {}


def file_cases():
    """Every command that reads files, over all committed ones."""
    files, corpus = documents()
    kinds = {path: kind_of(path) for path in files}
    before = {}
    for path in files + corpus:
        short = os.path.relpath(path, SOURCE)
        yield f"show/{short}", FAKE, f"show {path}", {}
        yield f"show-csv/{short}", FAKE, f"show {path} --csv -", {}
        yield f"report/{short}", FAKE, f"report {path} -o o.html", {}
        yield f"fleet/{short}", FAKE, f"fleet {path} --format json", {}
        if path in kinds and kinds[path] == "run":
            yield f"advise/{short}", FAKE, f"advise {path} --in 64M --out 1M --gpu-time 2ms --cpu-time 20ms --json o.json", {}
            yield f"show-case/{short}", FAKE, f"show {path} --case pinned/h2d,async,batch", {"COLUMNS": "60"}
            other = before.get("run", path)
            before["run"] = path
            for form in ("table", "json", "markdown", "github", "junit", "benchmark-action"):
                yield f"compare-{form}/{short}", FAKE, f"compare {other} {path} --force --format {form}", {}
        elif path in corpus:
            yield f"compare/{short}", FAKE, f"compare {SOURCE}/bench/results/h200/pinned-512m-1.json {path} --force", {}
    for folder in sorted(glob.glob(SOURCE + "/bench/results/*/")):
        name = os.path.basename(folder[:-1])
        for form in ("table", "json", "csv", "prometheus", "nodelist"):
            yield f"fleet-{form}/{name}", FAKE, f"fleet {folder} --format {form} --expect-hosts vm,nobody[1-3]", {}
        yield f"report-folder/{name}", FAKE, "report " + " ".join(sorted(glob.glob(folder + "*.json"))) + " -o o.html --svg pictures", {}


def shape_of(value):
    """What of a JSON document does not depend on a real clock: keys, cases, statuses, and the figures that every run has."""
    told = ("mode", "variant", "direction", "status", "name", "bytes", "unit")
    untold = ("warnings", "host", "environment", "reason", "reading")
    if isinstance(value, dict):
        return {k: v if k in told else shape_of(v) for k, v in value.items()
                if k not in untold and not k.startswith("pays_")}
    if isinstance(value, list):
        shapes = [shape_of(v) for v in value]
        return "a list" if "a value" in shapes or not shapes else \
               [s for s in shapes if not (isinstance(s, dict) and str(s.get("name")).startswith("break_even"))]
    return "a value"


def outcome(build, program, words, environment):
    """Everything that a command printed and wrote, with its exit code, as bytes."""
    if program == "cat":
        return b"".join(open(p, "rb").read() for p in sorted(glob.glob(f"{build}/{words}")))
    with working_folder() as folder:
        path = os.path.join(build, PROGRAM if program == HOST else program)
        done = run_command(path, words.split(), environment, folder)
        texts = files_of(folder)
        if program == HOST:
            texts = {f: json.dumps(shape_of(json.loads(t)), indent=1).encode() for f, t in texts.items()}
        else:
            texts = {"stdout": done.stdout, "stderr": done.stderr, **texts}
        return masked(b"".join(part(f, t) for f, t in texts.items()) + b"== exit %d\n" % done.returncode)


SENTENCES = ("text", "reason", "message", "summary", "warnings")  # told to people, in words that may change


def documents_in(whole):
    """The JSON documents among the parts of an outcome, one below the other."""
    for part in re.split(rb"(?m)^== .*\n", whole):
        for text in [part] if part.lstrip()[:1] in (b"{", b"[") else []:
            try:
                yield json.loads(text)
            except ValueError:
                yield from (json.loads(line) for line in text.splitlines() if line[:2] == b'{"' and line[-1:] == b"}")


def lost(old, new, place=""):
    """Where the new document has not what the old one has; "" for nowhere."""
    if isinstance(old, dict) and isinstance(new, dict):
        return next((l for k in old if k not in SENTENCES
                     for l in [lost(old[k], new[k], f"{place}.{k}") if k in new else f"{place}.{k}"] if l), "")
    if isinstance(old, list) and isinstance(new, list) and place.endswith(".reading"):
        return next((f"{place}: {o['code']}" for o in old if all(lost(o, n) for n in new)), "")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next((l for i, (o, n) in enumerate(zip(old, new)) for l in [lost(o, n, f"{place}[{i}]")] if l), "")
    return "" if old == new else place or "all of it"


def deliberate():
    """The differences that are meant: (expression, reason)."""
    with open(HERE + "/deliberate.txt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    return [tuple(line.split("\t", 1)) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--differences")
    chosen = parser.parse_args()
    cases = [c for cases in (run_cases, help_cases, file_cases) for c in cases() if re.search(chosen.only, c[0])]
    if chosen.list:
        print(*(c[0] for c in cases), sep="\n")
        return 0
    builds = [os.path.realpath(b) for b in (chosen.old, chosen.new)]

    def compare(case):
        return case[0], [outcome(build, *case[1:]) for build in builds]

    meant, unexplained, used = deliberate(), 0, set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (old, new) in pool.map(compare, cases):
            if old == new:
                continue
            if chosen.documents:
                documents = [list(documents_in(text)) for text in (old, new)]
                where = lost(*documents)
                if not where:
                    continue
                name = f"{name} ({where})"
            reasons = [] if chosen.documents else [m for m in meant if re.search(m[0], name)]
            used.update(reasons)
            unexplained += not reasons
            if not reasons:
                print("differs:", name, flush=True)
            if chosen.differences:
                base = os.path.join(chosen.differences, re.sub(r"[^\w.-]+", "_", name)[:150])
                os.makedirs(chosen.differences, exist_ok=True)
                for end, text in ((".old", old), (".new", new)):
                    with open(base + end, "wb") as file:
                        file.write(text)
    idle = [] if chosen.only else [m for m in meant if m not in used]
    for expression, _ in idle:
        print("explains no difference any more:", expression)
    print(f"{len(cases)} cases: {unexplained} differ without a reason in deliberate.txt")
    return 1 if unexplained or idle else 0


if __name__ == "__main__":
    sys.exit(main())
