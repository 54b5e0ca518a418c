#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/examples/ as far as that goes without the daemons they are for.
usage: test_examples.py BUILD_FOLDER [UNITTEST_ARGUMENT...]

In place of xferbench stands a program that records how it was called and ends as it is told; so do
scontrol, logger, and NHC's functions. The real one is asked for its help only: the examples may use no
option that it does not have.
"""

import configparser
import importlib
import os
import re
import shlex
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "cli"))
harness = importlib.import_module("harness")

EXAMPLES = os.path.join(harness.SOURCE, "scripts", "examples")
INSTALLED = "/usr/local/bin/xferbench"

# What the examples run.
LINK = ["link", "--format", "nhc", "--deadline", "50s"]
BAD_LINE = "xferbench link CRITICAL: GPU 1 0000:1f:00.0 XB-LINK-WIDTH XB-AER-CORRECTABLE"
FAKE = """#!/bin/sh
printf '%s\\n' "$@" >> "$CALLS/{name}"
echo ==== >> "$CALLS/{name}"
[ -z "${{{variable}_SAYS-}}" ] || printf '%s\\n' "${variable}_SAYS"
exit "${{{variable}_ENDS-0}}"
"""


def example(name):
    with open(os.path.join(EXAMPLES, name), encoding="ascii") as file:
        return file.read()


class ExampleTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        for name in ("xferbench", "scontrol", "logger"):
            os.chmod(self.write(f"bin/{name}", FAKE.format(name=name, variable=name.upper())), 0o755)

    def run_command(self, command, **variables):
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "CALLS": self.folder} | variables
        return self.run_program(*command[1:], program=command[0], environment=environment)

    def calls(self, name):
        """The arguments of every call."""
        text = self.read(name) if os.path.exists(self.path(name)) else ""
        return [call.splitlines() for call in text.split("====\n")[:-1]]


class Slurm(ExampleTest):
    SCRIPT = os.path.join(EXAMPLES, "slurm-prolog.sh")

    def prolog(self, ends, says="", **variables):
        variables |= {"XFERBENCH_ENDS": str(ends), "XFERBENCH_SAYS": says, "SLURMD_NODENAME": "node7"}
        return self.run_command([self.SCRIPT], **variables)

    def assert_drains(self, *reasons):
        calls = [["update", "NodeName=node7", "State=DRAIN", f"Reason={reason}"] for reason in reasons]
        self.assertEqual(self.calls("scontrol"), calls)

    def test_a_good_node_is_left_alone(self):
        run = self.prolog(0)
        self.assertEqual((run.code, run.out, run.err), (0, "", ""))
        self.assert_drains()
        self.assertEqual(self.calls("xferbench"), [LINK])

    def test_a_critical_node_is_drained_with_its_codes(self):
        run = self.prolog(2, BAD_LINE)
        self.assertEqual(run.code, 1)
        self.assert_drains(BAD_LINE)
        self.assertIn(BAD_LINE, run.err)
        self.assertEqual(len(self.calls("logger")), 1)

    def test_warning_and_unknown_are_told_and_no_more(self):
        for code, level in ((1, "WARNING"), (3, "UNKNOWN")):
            run = self.prolog(code, f"xferbench link {level}: it is so")
            self.assertEqual(run.code, 0)
            self.assertIn(level, run.err)
        self.assert_drains()

    def test_unknown_drains_where_that_is_wanted(self):
        line = "xferbench link UNKNOWN: no driver"
        self.assertEqual(self.prolog(3, line, XFERBENCH_DRAIN_ON="2 3").code, 1)
        self.assert_drains(line)

    def test_who_gives_no_verdict_drains_nothing(self):
        for code in (1, 2, 3, 127, 139):
            self.assertEqual(self.prolog(code).code, 0, code)
        os.unlink(os.path.join(self.bin, "xferbench"))
        run = self.prolog(0)
        self.assertEqual(run.code, 0)
        self.assertIn("no verdict", run.err)
        self.assert_drains()

    def test_nothing_in_a_reason_can_be_taken_apart(self):
        self.prolog(2, "CRITICAL 'x' \"y\" $(touch z) `w` | a\nsecond")
        self.assert_drains("CRITICAL x y (touch z) w  a")

    def test_the_job_goes_elsewhere_also_if_draining_fails(self):
        run = self.prolog(2, BAD_LINE, SCONTROL_ENDS="1")
        self.assertEqual(run.code, 1)
        self.assertIn("could not drain node7", run.err)

    def test_it_runs_without_a_search_path(self):
        run = self.run_command(["/bin/bash", self.SCRIPT], PATH=None, SLURMD_NODENAME="node7")
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("hostname", run.err)


# As in nhc: die() tells by eval, with the message between apostrophes.
NHC = r"""
function die() {
    local RET="$1"; shift
    eval record "'$*'" || echo "die could not be evaluated: $*"
}
function record() { printf 'died %s\n' "$*"; }
function log() { printf 'log %s\n' "$*"; }
function dbg() { :; }
source "$1"
eval "$2"
echo "returned $?"
"""


class Nhc(ExampleTest):
    def check(self, ends, says="", check="check_xferbench_link 50s"):
        """Runs the check as nhc does: sourced, and by eval."""
        return self.run_command(
            ["bash", "-c", NHC, "nhc", os.path.join(EXAMPLES, "xferbench.nhc"), check],
            XFERBENCH_ENDS=str(ends),
            XFERBENCH_SAYS=says,
            XFERBENCH_UNKNOWNS=os.path.join(self.folder, "unknowns"),
        )

    def line_of_the_example(self):
        lines = [line for line in example("nhc.conf").splitlines() if not line.startswith("#")]
        checks = [line for line in lines if line.strip()]
        self.assertEqual(len(checks), 1)
        match, check = checks[0].split("||")
        self.assertEqual(match.strip(), "/^gpu[0-9]+$/")
        return check.strip()

    def test_a_good_node_passes_in_silence(self):
        run = self.check(0, check=self.line_of_the_example())
        self.assertEqual((run.out, run.err), ("returned 0\n", ""))
        self.assertEqual(self.calls("xferbench"), [LINK])

    def test_warning_and_critical_fail_with_their_codes(self):
        for code in (1, 2):
            run = self.check(code, BAD_LINE)
            self.assertEqual(run.out, f"died check_xferbench_link:  {BAD_LINE}\nreturned 1\n")

    def test_unknown_is_tried_again(self):
        line = "xferbench link UNKNOWN: GPU 0 0000:0f:00.0 XB-HOST-BUSY"
        again = f"log check_xferbench_link:  {line}: will be tried again\nreturned 0\n"
        failed = f"died check_xferbench_link:  {line}\nreturned 1\n"
        for code, says in ((3, again), (3, again), (0, "returned 0\n"), (3, again), (3, again), (3, failed), (3, failed)):
            self.assertEqual(self.check(code, "" if code == 0 else line).out, says)
        self.check(0)
        run = self.check(3, line, check="XFERBENCH_TRIES=1 check_xferbench_link")
        self.assertEqual(run.out, failed)
        self.write("unknowns", "x[$(touch z)]\n")
        self.assertEqual(self.check(3, line).out, again)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "z")))

    def test_a_crash_and_a_missing_program_are_told(self):
        self.assertIn("ended with exit code 139\nreturned 1\n", self.check(139).out)
        os.unlink(os.path.join(self.bin, "xferbench"))
        self.assertIn("xferbench not found\nreturned 1\n", self.check(0).out)

    def test_nothing_in_a_reason_can_be_taken_apart(self):
        run = self.check(2, "it's '; touch z; ' $(touch y)\nsecond line")
        self.assertIn("died check_xferbench_link:  its ; touch z;  (touch y)\n", run.out)
        self.assertNotIn("second", run.out)

    def test_further_options_are_passed_on(self):
        self.check(0, check="check_xferbench_link 20s --expect gen5x16")
        self.assertEqual(self.calls("xferbench"), [[*LINK[:-1], "20s", "--expect", "gen5x16"]])


def command_lines():
    """Every command line of xferbench in the examples: (file, words)."""
    found = []
    nrpe = re.findall(r"^command\[\w+\]=(.*)$", example("nrpe-xferbench.cfg"), re.M)
    found += [("nrpe-xferbench.cfg", shlex.split(line)) for line in nrpe]
    service = re.findall(r"^ExecStart=(.*)$", example("xferbench-link.service"), re.M)
    found += [("xferbench-link.service", shlex.split(line)) for line in service]
    text = example("icinga-xferbench.conf")
    (command,) = re.findall(r"^ *command = \[(.*)\]$", text, re.M)
    words = re.findall(r'"([^"]*)"', command)
    (arguments,) = re.findall(r"arguments = \{\n(.*?)\n  \}\n", text, re.S)
    values = {"$xferbench_deadline$": "50s", "$xferbench_device$": "0", "$xferbench_expect$": "x16"}
    for name, value in re.findall(r'"(--[\w-]+)" = \{\s*value = "([^"]*)"', arguments):
        words += [name, values[value]]
    return found + [("icinga-xferbench.conf", words)]


class Commands(ExampleTest):
    def test_each_runs_the_command_with_its_format(self):
        expected = {
            "nrpe-xferbench.cfg": "nagios --deadline 50s",
            "xferbench-link.service": "prometheus --deadline 50s --output"
            " /var/lib/node_exporter/textfile/xferbench.prom",
            "icinga-xferbench.conf": "nagios --deadline 50s --device 0 --expect x16",
        }
        found = dict(command_lines())
        self.assertEqual(set(found), set(expected))
        for name, words in found.items():
            options = ["link", "--format", *expected[name].split()]
            self.assertEqual(words, [INSTALLED, *options])
            for code in range(4):
                run = self.run_command([os.path.join(self.bin, "xferbench"), *words[1:]], XFERBENCH_ENDS=str(code))
                self.assertEqual(run.code, code)
            self.assertEqual(self.calls("xferbench")[-1], options)

    def test_the_program_has_every_option(self):
        run = self.run_command([harness.XFERBENCH, "link", "--help"])
        if run.code != 0:
            self.skipTest("this xferbench has no 'link'")
        scripts = example("slurm-prolog.sh") + example("xferbench.nhc")
        used = set(re.findall(r"(?<=\s)--[a-z][a-z-]*", scripts.split("found=", 1)[1]))
        for _, words in command_lines():
            used |= {word for word in words if word.startswith("--")}
        self.assertGreaterEqual(used, {"--format", "--deadline", "--output", "--device"})
        for option in used:
            self.assertRegex(run.out, rf"{option}\b")
        for name in ("nagios", "nhc", "prometheus"):
            self.assertIn(name, run.out)

    def test_deadlines_come_before_others_timeouts(self):
        for _, words in command_lines():
            self.assertEqual(words[words.index("--deadline") + 1], "50s")
        self.assertIn("timeout = 60s", example("icinga-xferbench.conf"))
        self.assertIn("command_timeout=60", example("nrpe-xferbench.cfg"))
        self.assertIn("-t 60", example("nagios-xferbench.cfg"))


class Files(ExampleTest):
    def test_nagios_objects_fit_together(self):
        text = example("nagios-xferbench.cfg")
        body = re.sub(r"^#.*\n", "", text, flags=re.M)
        objects = re.findall(r"define (\w+) \{\n((?:    \w+ +\S.*\n)+)\}\n", body)
        left = re.sub(r"define \w+ \{\n(?:    \w+ +\S.*\n)+\}\n", "", body)
        self.assertEqual(left.strip(), "")
        found = {kind: dict(re.findall(r"(\w+) +(.*)", text)) for kind, text in objects}
        self.assertEqual(set(found), {"command", "service"})
        self.assertEqual(found["service"]["check_command"], found["command"]["command_name"])
        remote = re.search(r"-c (\w+)", found["command"]["command_line"]).group(1)
        self.assertIn(f"command[{remote}]=", example("nrpe-xferbench.cfg"))

    def test_icinga_names_fit_together(self):
        text = example("icinga-xferbench.conf")
        self.assertEqual(text.count("{"), text.count("}"))
        (name,) = re.findall(r'object CheckCommand "(.*)"', text)
        self.assertIn(f'check_command = "{name}"', text)
        self.assertIn('vars.xferbench_deadline = "50s"', text)

    def test_icinga_reads_it(self):
        if shutil.which("icinga2") is None:
            self.skipTest("no icinga2")
        path = os.path.join(EXAMPLES, "icinga-xferbench.conf")
        run = self.run_command(["icinga2", "daemon", "-C", "-c", path])
        self.assertEqual(run.code, 0)

    def test_scripts_pass_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("no shellcheck")
        for name in ("npd-xferbench.sh", "slurm-prolog.sh", "xferbench.nhc"):
            run = self.run_command(["shellcheck", os.path.join(EXAMPLES, name)])
            self.assertEqual(run.out, "")
            self.assertEqual(run.code, 0)

    def test_results_are_no_failures_of_the_unit(self):
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str
        unit.read_string(example("xferbench-link.service"))
        self.assertEqual(unit["Service"]["SuccessExitStatus"], "1 2 3")
        self.assertEqual(unit["Service"]["Type"], "oneshot")

    def test_systemd_reads_the_units(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("no systemd-analyze")
        # In quotes: the folder may have a blank in its name.
        units = [
            self.write(name, example(name).replace(INSTALLED, f'"{self.bin}/xferbench"'))
            for name in ("xferbench-link.service", "xferbench-link.timer")
        ]
        run = self.run_command(["systemd-analyze", "verify", "--man=no", *units])
        own = [line for line in run.err.splitlines() if "xferbench" in line]
        self.assertEqual(own, [])


if __name__ == "__main__":
    harness.main()
