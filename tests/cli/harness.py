# SPDX-License-Identifier: Apache-2.0
"""What every Python test of the program shares. A test file looks like this:

    #!/usr/bin/env python3
    # SPDX-License-Identifier: Apache-2.0
    \"""What it tests. usage: test_topic.py BUILD_FOLDER [UNITTEST_ARGUMENT...]\"""
    import harness
    from harness import SMALL, Case

    class Topic(Case):
        def test_something(self):
            self.assert_usage(("--size", "zero"), *SMALL, "--size", "0")

    if __name__ == "__main__":
        harness.main()

tests/CMakeLists.txt takes every tests/cli/test_*.py for a test of ctest: this one is cli.topic.
By hand: python3 -B tests/cli/test_topic.py build/dev Topic.test_something

What needs no process, terminal, signal or broken file is no test here but a case of tests/golden, which
compares all of an output.

Every program under test is looked for in the build folder, and what a build left out is None here:
SLOWED, STAND_IN (the HIP runtime on the CPU), CUDA_STUB (the folder of a libcuda.so.1). FAKE measures a
double in virtual time. HASTENED is xferbench with a clock that a test puts forward: Case.hastened().

A test sees little of the caller's environment (base_environment): his language, terminal and folders,
which must make no difference and which CI draws. It works in a folder of its own, so that neither the
machine, nor its user, nor tests beside it make one either. Nothing has
a bound on time: GUARD_S only ends a program that hangs.
"""

import concurrent.futures
import csv
import fcntl
import functools
import importlib
import io
import json
import os
import pty
import re
import resource
import select
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
    sys.exit(f"usage: {os.path.basename(sys.argv[0])} BUILD_FOLDER [UNITTEST_ARGUMENT...]")

BUILD = os.path.realpath(sys.argv[1])
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
XFERBENCH = os.path.join(BUILD, "xferbench")
PROGRAM = shlex.quote(XFERBENCH)  # as a word of a shell script
FAKE = os.path.join(BUILD, "tests", "xferbench_fake")
RESULTS = os.path.join(SOURCE, "bench", "results")
GUARD_S = 240  # only a hang lasts so long, also where the machine is busy

SANITIZER_EXIT = 99  # as tests/CMakeLists.txt has it
SANITIZER_WORDS = re.compile(
    r"(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error:"
)

def modes_built():
    """The list in CMakeLists.txt, which is all that a new mode adds itself to."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        names = re.search(r"^set\(XFERBENCH_MODES ([a-z_ ]+)\)$", file.read(), re.MULTILINE)[1]
    return names.replace("_", "-").split()


HOST = ("--backend", "host")
ONE = (*HOST, "--mode", "pinned", "--direction", "h2d")
# The time limit bounds the warm-up too, which does not settle where others use the machine.
FEW = ("--samples", "3", "--time-limit", "1ms", "--warm-up", "1ms")
# What `run --json` says of one process, and `show` does not.
ASKS_FOR_MORE = "To compare with another file: measure with --processes 8.\n"
SMALL = (*ONE, "--size", "4K", *FEW)
# In their order, as the build has them. And some that the host backend measures, which has no managed
# memory and no pairs.
MODES = modes_built()
# Those of them that are about a latency of their own: `--mode all` has them with --latency only.
ABOUT_LATENCY = ("loads", "peer-loads")
# And those that `--mode all` leaves out.
ONLY_NAMED = ("batch", "resident", "quantize", "compress", "pin", "job", "pipeline")
MOVING = [mode for mode in MODES if mode not in ABOUT_LATENCY + ONLY_NAMED]
MEASURED = ("--mode", "pageable,pinned,async,double-buffer,zero-copy")
# Still at it after a quarter of an hour, because its samples last a millisecond.
ENDLESS = (*HOST, "--mode", "pinned", "--size", "64K", "--samples", "1000000", "-t", "4s")

F_SETPIPE_SZ = 1031
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
ODD = re.compile(r"(?:^|[.:] +|\n *)(?:Of|By|That of|Whether) ")
OLD_CONTENT = b"what was here before\n"


# ---- the build ----


def program_of_build(*names):
    """A file of the build folder, None where it is not there."""
    path = os.path.join(BUILD, *names)
    return path if os.path.exists(path) else None


@functools.cache
def is_sanitized():
    """Whether a sanitizer reserves more addresses than a limit on memory would leave it."""
    with open(XFERBENCH, "rb") as file:
        content = file.read()
    return b"__asan_init" in content or b"__tsan_init" in content


@functools.cache
def built_in():
    """Which backends this build has: {"cuda": True, "hip": False, "host": True}."""
    done = subprocess.run(
        [XFERBENCH, "--version"],
        env=base_environment(),
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{XFERBENCH} --version: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    lines = re.finditer(r"^  (\w+) +(built in|not in this build)", done.stdout, re.M)
    return {line[1]: line[2] == "built in" for line in lines}


@functools.cache
def left_out():
    """The libraries that this build has not, of those that it can do without: ["hwloc"]."""
    command = (XFERBENCH, "list", "--json", "-")
    done = subprocess.run(command, env=base_environment(), capture_output=True, timeout=GUARD_S, check=True)
    return json.loads(done.stdout)["left_out"]


SLOWED = program_of_build("tests", "xferbench_slowed")
HASTENED = os.path.join(BUILD, "tests", "xferbench_hastened")
STAND_IN = program_of_build("tests", "hip_cpu", "libxferbench_hip_cpu.so")
CUDA_STUB = program_of_build("tests", "cuda_stub")


needs_stand_in = unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")


def needs_cuda_stub(test):
    """Decorates what needs a driver's library that can be told what to answer."""
    there = CUDA_STUB and built_in()["cuda"]
    return unittest.skipUnless(there, "the CUDA backend is not in this build")(test)


# ---- environments ----


def base_environment():
    """Of the caller's, what finds programs and steers sanitizers, and what must make no difference:
    his language, his terminal and his folders. Nothing that steers the measuring or a GPU's runtime."""
    kept = re.compile(
        r"PATH|LD_LIBRARY_PATH|\w+SAN_OPTIONS|\w+SAN_SYMBOLIZER_PATH|LLVM_PROFILE_FILE|GCOV_PREFIX"
        r"|LANG|LANGUAGE|LC_\w+|TERM|HOME|TMPDIR"
    )
    environment = {name: value for name, value in os.environ.items() if kept.fullmatch(name)}
    environment.setdefault("PATH", os.defpath)
    environment.setdefault("ASAN_OPTIONS", f"detect_leaks=1:exitcode={SANITIZER_EXIT}")
    environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1")
    environment.setdefault("TSAN_OPTIONS", f"halt_on_error=1:exitcode={SANITIZER_EXIT}")
    return environment


def stub_environment(reason):
    """One where the CUDA driver's library is our stand-in."""
    folders = [CUDA_STUB, os.environ.get("LD_LIBRARY_PATH")]
    return {
        "LD_LIBRARY_PATH": ":".join(folder for folder in folders if folder),
        "XFERBENCH_CUDA_STUB": reason,
    }


def stand_in(**steering):
    """One with the GPUs of the HIP runtime on the CPU: stand_in(DEVICES="1", DAMAGE="h2d")."""
    return {"XFERBENCH_HIP_LIBRARY": STAND_IN} | {f"XB_STANDIN_{name}": value for name, value in steering.items()}


def absent_environment():
    """One in which no GPU can be had, on any machine."""
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return hidden | (stub_environment("no-device") if CUDA_STUB else {})


# ---- documents ----


def committed(name):
    """The path of a result that is kept: committed("h200/sweep")."""
    return os.path.join(RESULTS, f"{name}.json")


def words_of(text):
    """On one line, however it was wrapped."""
    return " ".join(text.split())


def rows_of_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


sys.path.insert(0, os.path.join(SOURCE, "tests"))
try:
    validate_json = importlib.import_module("validate_json")
    # Older releases of jsonschema (before 4.0: Ubuntu 22.04, RHEL 9) do not know the schemas' draft.
    CAN_VALIDATE = hasattr(validate_json.jsonschema, "Draft202012Validator")
except ImportError:
    validate_json, CAN_VALIDATE = None, False
if not CAN_VALIDATE:
    print("Left out: no python3-jsonschema of 4.0 or newer: output is not held against the schemas")


@functools.cache
def validator_of(kind):
    return validate_json.validator_of(os.path.join(SOURCE, "docs", f"{kind}.schema.json"))


def read_json(path):
    """Read strictly: what Python's reader would let pass is refused."""
    if validate_json is not None:
        return validate_json.load(path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_schema(document):
    """Raises AssertionError unless the document is what the schema that it names says. Not for use by
    several threads at once: older releases of jsonschema keep notes in the validator."""
    if CAN_VALIDATE:
        found = validator_of(document["schema"].removeprefix("xferbench.")).iter_errors(document)
        errors = [f"{error.json_path}: {error.message[:300]}" for error in found]
        assert not errors, errors


def figure(row, name):
    """What a row of a document has of a figure, by its name ("bandwidth"): {"median": ..., "n": ...}. None
    where the row has no such figure, as every row that is not ok."""
    found = [one for one in row["figures"] if one["name"] == name]
    assert len(found) <= 1, f"{name} stands {len(found)} times in {row}"
    return found[0] if found else None


def merged(documents, **changes):
    """A file of processes that wrote these documents; None for one that failed."""
    return {
        "schema": "xferbench.processes", "schema_version": 2, "timestamp": "2026-01-02T03:04:05Z",
        "asked": len(documents), "role": None, "program": None, "interleaved_with": None,
        "interrupted": False, "deadline_met": None,
        "start": dict.fromkeys(("asked", "by", "began",
                                "late_s")) | {"clock": dict.fromkeys(("synchronised", "error_s"))},
        "processes": [{"index": i, "failure": None, "document": one} for i, one in enumerate(documents)],
    } | changes


# ---- other processes ----


def limit(kind, value):
    """For preexec_fn: lowers what a program may have, and leaves what it might raise that to."""
    return lambda: resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def closing(*streams):
    """For preexec_fn: as a caller that closed these."""
    return lambda: [os.close(number) for number in streams]


def stat_of(pid):
    """(state, parent, process group) as /proc/PID/stat has them, "X" for what is not there."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, parent, group = file.read().rpartition(")")[2].split()[:3]
    except OSError:
        return "X", 0, 0
    return state, int(parent), int(group)


def has_ended(pid):
    """A zombie counts: not every machine has somebody who reaps what lost its parent."""
    return stat_of(pid)[0] in "ZX"


def processes():
    """Those that live: {pid: (parent, process group)}."""
    found = {int(name): stat_of(name) for name in filter(str.isdigit, os.listdir("/proc"))}
    return {pid: (parent, group) for pid, (state, parent, group) in found.items() if state not in "ZX"}


def processes_of_group(group):
    return sorted(pid for pid, (_, own) in processes().items() if own == group)


def children_of(parent):
    return sorted(pid for pid, (own, _) in processes().items() if own == parent)


def wait_until(is_so, limit_s=GUARD_S):
    """Looks again and again."""
    until = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError("it hangs")
        time.sleep(0.002)  # leaves the machine to whom it waits for


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Outcome:
    """What came of one run of the program."""

    def __init__(self, code, out, err, label=""):
        self.code = code
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        self.label = label

    def __str__(self):
        return f"{self.label}: exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Terminal:
    """A pseudo-terminal to be the program's stderr, or another of its streams."""

    def __init__(self, columns=0, rows=24):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", rows if columns else 0, columns, 0, 0))
        self.deadline = time.monotonic() + GUARD_S

    def close_slave(self):
        """Once the program has its own: then its end ends the reading."""
        os.close(self.slave)
        self.slave = -1

    def close(self):
        os.close(self.master)
        if self.slave >= 0:
            self.close_slave()

    def read_some(self):
        """What comes next, b"" for the end."""
        left = self.deadline - time.monotonic()
        if left <= 0 or not select.select([self.master], [], [], left)[0]:
            raise AssertionError("the program says nothing more and does not end")
        try:
            return os.read(self.master, 65536)
        except OSError:  # EIO: nobody has the other side open
            return b""

    def read_until(self, words):
        text = b""
        while words not in text:
            more = self.read_some()
            if not more:
                raise AssertionError(f"the program ended without {words!r}: {text!r}")
            text += more
        return text

    def read_rest(self):
        text = b""
        while more := self.read_some():
            text += more
        return text


class Case(unittest.TestCase):
    """A folder of its own, and ways to run the program and to look at what it left."""

    hung = ""  # what did not end, if anything: the rest would take as long again, test by test

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="xferbench-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = f"{self.folder}-cache"  # beside it: what a run leaves in the folder is looked at
        self.addCleanup(shutil.rmtree, self.cache, ignore_errors=True)

    # ---- running ----

    def check_sane(self, outcome, allowed_signal=0):
        """No sanitizer, no crash: whatever a test expects, never that."""
        self.assertNotEqual(outcome.code, SANITIZER_EXIT, outcome)
        if outcome.code != -allowed_signal:
            self.assertGreaterEqual(outcome.code, 0, f"killed by a signal: {outcome}")
        self.assertIsNone(SANITIZER_WORDS.search(outcome.err), outcome)
        return outcome

    def start(self, *arguments, program=XFERBENCH, under=(), terminal=None, environment=None, **options):
        """Starts the program at the head of a process group, in the test's folder and with both
        streams into pipes, or with a terminal as its stderr. `under` is a command that runs it, as
        ("timeout", "1h"). The environment is added to base_environment() and a cache of the test's
        own; its value None means that the variable is not set. The rest are options of Popen."""
        if Case.hung:
            self.fail(f"left out: the program hung already, given {Case.hung}")
        variables = base_environment() | {"XDG_CACHE_HOME": self.cache}
        if terminal:
            variables["TERM"] = "xterm"  # this one, whatever the caller's is
        variables |= environment or {}
        options = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": terminal.slave if terminal else subprocess.PIPE,
            "cwd": self.folder,
        } | options
        if terminal:
            self.addCleanup(terminal.close)
        process = subprocess.Popen(
            [*under, program, *arguments],
            env={name: value for name, value in variables.items() if value is not None},
            start_new_session=True,
            **options,
        )
        self.addCleanup(self.leave, process)
        process.terminal = terminal
        process.label = " ".join(arguments) + "".join(f" {k}={v!r}" for k, v in (environment or {}).items())
        if terminal:
            terminal.close_slave()
        return process

    @staticmethod
    def leave(process):
        """Without waiting for whoever else may hold the pipes, where a test has failed."""
        if process.poll() is None:
            kill_group(process.pid)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def wait_for(self, process):
        """Waits for its end: what came of it, whatever that is."""
        try:
            # Both at once: what its pipe has no room for keeps the program from leaving its terminal.
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                rest = pool.submit(process.terminal.read_rest) if process.terminal else None
                out, err = process.communicate(timeout=GUARD_S)
                said = rest.result() if rest else b""
        except (AssertionError, subprocess.TimeoutExpired):
            Case.hung = process.label
            raise
        return Outcome(process.returncode, out or b"", err or said, process.label)

    def finish(self, process, allowed_signal=0):
        """The same, and that it is no crash."""
        return self.check_sane(self.wait_for(process), allowed_signal)

    def run_program(self, *arguments, allowed_signal=0, **options):
        """From its start to its end, with the options of start()."""
        return self.finish(self.start(*arguments, **options), allowed_signal)

    def on_terminal(self, columns, *arguments, program=XFERBENCH, **environment):
        """The same, with standard output a terminal that wide."""
        terminal = Terminal(columns)
        self.addCleanup(terminal.close)
        variables = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": None, "COLUMNS": None} | environment
        process = self.start(*arguments, program=program, stdout=terminal.slave, environment=variables)
        terminal.close_slave()
        text = terminal.read_rest().decode("utf-8").replace("\r\n", "\n")
        outcome = self.finish(process)
        outcome.out = text
        self.assertEqual(outcome.err, "", outcome)
        return outcome

    def hastened(self):
        """Options of start() for the program with a clock that put_forward() moves."""
        return {"program": HASTENED, "environment": {"XB_CLOCK_AHEAD": self.path("clock-ahead")}}

    def put_forward(self, seconds):
        with open(self.path("clock-ahead"), "ab") as file:
            file.write(b"." * seconds)

    # ---- outcomes ----

    def check_lines(self, text, columns):
        """They fit, nothing is cut, and no sentence has to be read twice."""
        self.assertIsNone(ODD.search(text), text)
        for line in COLOUR.sub("", text).splitlines():
            self.assertLessEqual(len(line), columns, line)
            self.assertEqual(line, line.rstrip())
            self.assertNotIn("...", line)

    def assert_words(self, text, words, about=None):
        for word in words:
            self.assertIn(word, text, about)

    def assert_ended(self, code, process):
        """Waits for the end of what start() gave: that exit code; a negative one is a signal."""
        outcome = self.finish(process, allowed_signal=max(0, -code))
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def assert_ends(self, code, *arguments, **options):
        return self.assert_ended(code, self.start(*arguments, **options))

    def assert_succeeds(self, *arguments, **options):
        return self.assert_ends(0, *arguments, **options)

    def assert_fails(self, code, words, *arguments, **options):
        """The exit code, the words on stderr behind the program's name, and nothing on stdout."""
        outcome = self.assert_ends(code, *arguments, **options)
        self.assertTrue(outcome.err.startswith("xferbench: "), outcome)
        self.assertTrue(outcome.err.endswith("\n"), outcome)
        self.assert_words(outcome.err, words, outcome)
        self.assertEqual(outcome.out, "", outcome)
        return outcome

    def assert_usage(self, words, *arguments, **options):
        return self.assert_fails(2, words, *arguments, **options)

    def assert_all_ok(self, document):
        self.assertGreater(len(document["results"]), 0)
        for result in document["results"]:
            self.assertEqual((result["status"], result["verified"]), ("ok", True), result)

    # ---- files ----

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8", newline="") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return self.path(name)

    def write_json(self, name, document):
        return self.write(name, json.dumps(document))

    def load(self, *names):
        """A file that the program wrote, read strictly and held against the schema it names."""
        document = read_json(self.path(*names))
        check_schema(document)
        return document

    def load_text(self, text):
        self.write("from-stdout.json", text)
        return self.load("from-stdout.json")

    def script(self, text, name="baseline"):
        """An executable file for the shell; `turn` is which process of it this is, from 1."""
        turns = shlex.quote(self.path("turns"))
        self.write(name, f"#!/bin/sh\necho >>{turns}\nturn=$(wc -l <{turns})\n{text}\n")
        os.chmod(self.path(name), 0o755)
        return f"./{name}"

    def turns(self):
        return self.read("turns").count("\n") if os.path.exists(self.path("turns")) else 0

    def put_old(self, *names):
        with open(self.path(*names), "wb") as file:
            file.write(OLD_CONTENT)
        return self.path(*names)

    def assert_old(self, *names):
        with open(self.path(*names), "rb") as file:
            self.assertEqual(file.read(), OLD_CONTENT)

    def assert_folder_has(self, *names):
        """These and nothing else: no temporary file was left."""
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def narrow_pipe(self):
        """(reader, writer) of a pipe that holds a page."""
        reader, writer = os.pipe()
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        self.addCleanup(os.close, reader)
        return reader, writer

    def wait_until_stuck(self, process, reader):
        """Until the pipe takes no more, and the program sleeps."""

        def is_stuck():
            held = struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]
            return held > 0 and stat_of(process.pid)[0] == "S"

        wait_until(is_stuck)

    def wait_for_output(self, process):
        """Until the program has a file of the folder open, which may have no name there yet."""
        folder = f"/proc/{process.pid}/fd"

        def is_open():
            for name in os.listdir(folder):
                try:
                    if os.readlink(os.path.join(folder, name)).startswith(self.folder + "/"):
                        return True
                except FileNotFoundError:
                    pass  # closed meanwhile
            return False

        wait_until(is_open)

    def device_node(self, real, minor):
        """/dev/null or /dev/full. As root one of our own: a broken program could replace it."""
        if os.geteuid() != 0:
            if not stat.S_ISCHR(os.stat(real).st_mode):
                self.skipTest(f"{real} is not a device here")
            return real
        node = self.path(os.path.basename(real))
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            os.close(os.open(node, os.O_WRONLY))
        except OSError as error:
            self.skipTest(f"as root, and a device node cannot be made here: {error}")
        return node

    def unprivileged(self):
        """Options of run_program for a user who cannot write everywhere."""
        if os.geteuid() != 0:
            return {}
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chmod(self.folder, 0o755)
        try:
            subprocess.run(
                [XFERBENCH, "--version"],
                env=base_environment(),
                cwd=self.folder,
                check=True,
                capture_output=True,
                timeout=GUARD_S,
                **user,
            )
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"as root, and the program cannot run as somebody else: {error}")
        return user


class Interleaving(Case):
    """Programs to be one side of an interleaved run, the baseline: where a process must misbehave, a script does."""

    FILES = ("--json", "candidate.json", "--baseline-json", "baseline.json")

    def python(self, text):
        """A program in Python, which can put the clock of who runs it forward: see hastened()."""
        head = "import os, signal, sys\ndef put_forward(seconds): open('clock-ahead', 'ab').write(b'.' * seconds)\n"
        self.write("stub", f"#!{sys.executable} -B\n{head}{text}\n")
        os.chmod(self.path("stub"), 0o755)
        return "./stub"

    def result(self, name, *arguments):
        """The file of a run in one process."""
        self.assert_succeeds(*SMALL, "--json", name, *arguments)
        return json.loads(self.read(name))

    def interleave(self, code, other, *arguments, processes=2, **options):
        """Both files, the baseline's first, and what the program said."""
        count = ("--processes", str(processes))
        done = self.assert_ends(code, *SMALL, *count, "--interleave", other, *self.FILES, *arguments, **options)
        return self.load("baseline.json"), self.load("candidate.json"), done

    @staticmethod
    def fates(merged):
        """How each process ended: its exit code, its signal, whether it has a document."""
        return [(p["exit_code"], p["signal"], p["document"] is not None) for p in merged["processes"]]


def main():
    # What a caller ignores or blocks, the program would too, and its files would have his umask.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    os.umask(0o022)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
