#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what scripts/examples/ has for Kubernetes, without one: that the parts of a file fit together, and
that the commands in it do what they are to. usage: test_kubernetes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import shlex
import sys

import test_examples
from test_examples import EXAMPLES, example, harness

try:
    import yaml
except ImportError:
    print("Left out: no python3-yaml")
    sys.exit(77)


class Pods(test_examples.ExampleTest):
    def setUp(self):
        super().setUp()
        self.objects = {name: yaml.safe_load(example(f"kubernetes-{name}.yaml")) for name in ("daemonset", "job")}
        self.gated = yaml.safe_load(example("kubernetes-gate.yaml"))["spec"]

    def containers(self):
        """Those that measure: (name of the file, container)."""
        daemonset, job = (self.objects[name]["spec"]["template"]["spec"] for name in ("daemonset", "job"))
        gate = self.gated["initContainers"][0]
        return ("daemonset", daemonset["initContainers"][0]), ("job", job["containers"][0]), ("gate", gate)

    def test_labels_are_those_that_are_looked_for(self):
        daemonset, job = self.objects["daemonset"]["spec"], self.objects["job"]["spec"]
        self.assertEqual(daemonset["selector"]["matchLabels"], daemonset["template"]["metadata"]["labels"])
        (apart,) = job["template"]["spec"]["affinity"]["podAntiAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        self.assertEqual(apart["labelSelector"]["matchLabels"], job["template"]["metadata"]["labels"])
        self.assertEqual(job["completions"], job["parallelism"])

    def test_the_commands_above_name_what_is_below(self):
        for name, kind in self.objects.items():
            text = example(f"kubernetes-{name}.yaml")
            self.assertIn(f"apply -f kubernetes-{name}.yaml", text)
            self.assertIn(f"{name}/{kind['metadata']['name']} ", text)
        labels = self.objects["daemonset"]["spec"]["template"]["metadata"]["labels"]
        ((key, value),) = labels.items()
        container = self.containers()[0][1]["name"]
        self.assertIn(f"logs -l {key}={value} -c {container} ", example("kubernetes-daemonset.yaml"))
        self.assertIn(f"logs -l job-name={self.objects['job']['metadata']['name']} ", example("kubernetes-job.yaml"))

    def test_a_pod_asks_for_gpus_and_no_rights(self):
        for name, container in self.containers():
            self.assertEqual(container["resources"]["limits"], {"nvidia.com/gpu": 8}, name)
            self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"], name)
            (node,) = container["env"]
            self.assertEqual(node["name"], "XFERBENCH_NODE")
            self.assertEqual(node["valueFrom"]["fieldRef"]["fieldPath"], "spec.nodeName")

    def test_only_the_document_is_in_the_log(self):
        for name, container in self.containers()[:2]:
            (line,) = container["args"]
            log = self.path(f"{name}-log")
            self.assertIn("2>/dev/termination-log", line)
            for code in (0, 2, 139):
                run = self.run_command(
                    [*container["command"], line.replace("/dev/termination-log", shlex.quote(log))],
                    XFERBENCH_ENDS=str(code),
                    XFERBENCH_SAYS="{}",
                )
                self.assertEqual((run.code, run.out), (0, "{}\n"), name)

    def test_the_gate_holds_what_is_critical_or_not_tested(self):
        (gate,), (work,) = self.gated["initContainers"], self.gated["containers"]
        self.assertEqual(gate["resources"]["limits"], work["resources"]["limits"])
        log = self.path("log")
        line = gate["args"][0].replace("/dev/termination-log", shlex.quote(log))
        for ends, code in ((0, 0), (1, 0), (2, 1), (3, 0), (127, 1), (139, 1)):
            run = self.run_command([*gate["command"], line], XFERBENCH_ENDS=str(ends), XFERBENCH_SAYS="codes")
            self.assertEqual((run.code, run.out, self.read("log")), (code, "", "codes\n"), ends)

    def test_the_program_has_every_option(self):
        for _, container in self.containers():
            words = re.split(" 2?>", container["args"][0])[0].split()
            command = ["run"] if words[1].startswith("-") else words[1:2]
            run = self.run_command([harness.XFERBENCH, *command, "--help"])
            for option in (word for word in words if word.startswith("--")):
                self.assertRegex(run.out, rf"{option}\b")


class NodeProblemDetector(test_examples.ExampleTest):
    def plugin(self, ends, says=""):
        return self.run_command(
            [os.path.join(EXAMPLES, "npd-xferbench.sh"), "--deadline", "50s"],
            XFERBENCH_ENDS=str(ends),
            XFERBENCH_SAYS=says,
        )

    def test_exit_codes(self):
        for ends, code in ((0, 0), (1, 0), (2, 1), (3, 2), (127, 2), (139, 2)):
            run = self.plugin(ends, "xferbench link: it is so")
            self.assertEqual((run.code, run.out), (code, "xferbench link: it is so\n"), ends)
        self.assertEqual(self.calls("xferbench")[-1], test_examples.LINK)

    def test_who_gives_no_verdict_is_not_known_to_be_bad(self):
        run = self.plugin(2)
        self.assertEqual((run.code, run.out), (2, "xferbench link ended with exit code 2\n"))
        os.unlink(os.path.join(self.bin, "xferbench"))
        self.assertEqual(self.plugin(0).code, 2)

    def test_the_configuration_fits_together(self):
        config = json.loads(example("npd-xferbench.json"))
        ((condition,), (rule,)) = config["conditions"], config["rules"]
        self.assertEqual(rule["condition"], condition["type"])
        self.assertEqual(os.path.basename(rule["path"]), "npd-xferbench.sh")
        seconds = [int(re.fullmatch(r"(\d+)s", text)[1]) for text in (rule["args"][1], rule["timeout"])]
        self.assertEqual(rule["args"][0], "--deadline")
        self.assertLess(*seconds)
        self.assertEqual(rule["timeout"], config["pluginConfig"]["timeout"])


if __name__ == "__main__":
    harness.main()
