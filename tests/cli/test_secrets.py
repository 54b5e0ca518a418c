#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No secret of the caller's environment gets into what the program writes, and what steers a runtime does.
usage: test_secrets.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re

import harness
from harness import SMALL, SOURCE, Case

# Names that begin, or end, as the variables of the runtimes do, and others that hold credentials.
NAMES = """NVIDIA_APIKEY NVIDIA_API_KEY HIP_password HIP_PASSWD AMD_AUTH ROCM_LOGIN ROCR_PIN HSA_ID_RSA GPU_PASSPHRASE
    CUDA_PROXY CUDA_ACCESS_TOKEN XFERBENCH_HIP_PASS MY_VISIBLE_DEVICES https_proxy ALL_PROXY AWS_SECRET_ACCESS_KEY
    GITHUB_TOKEN SLURM_JWT"""
SECRETS = {name: f"s3cret-{number}" for number, name in enumerate(NAMES.split())}


def listed_in(path, pattern, begin, end):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    text = text[text.index(begin) :]
    return re.findall(pattern, text[: text.index(end)])


class Secrets(Case):
    def test_nothing_writes_one(self):
        """Neither to what is printed nor to any file. The host has no link to judge (exit code 3)."""
        for code, found, *arguments in (
            (0, 1, *SMALL, "--csv", "out.csv"), (0, 3, *SMALL, "--processes", "2"), (3, 1, "link", "--backend", "host"),
            (0, 0, "list"),
        ):
            with self.subTest(arguments=arguments):
                outcome = self.assert_ends(code, *arguments, "--json", "out.json", environment=SECRETS)
                for text in (outcome.out, outcome.err, *(self.read(name) for name in os.listdir(self.folder))):
                    for name, value in SECRETS.items():
                        self.assertNotIn(value, text)
                        self.assertNotIn(f'"{name}"', text)
                recorded = re.findall(r'"environment":\s*\{([^}]*)\}', self.read("out.json"))
                self.assertEqual([names.strip() for names in recorded], [""] * found)

    def test_the_list_is_what_is_recorded_and_documented(self):
        """All of it, each with its value; docs/measurement.md has the same names."""
        names = listed_in("docs/measurement.md", r"`([A-Za-z0-9_]+)`", "|---|---|\n| CUDA", "\n\n")
        source = listed_in("src/machine/environment.c", r'"(\w+)"', "recorded[] = {", "};")
        self.assertGreater(len(names), 50)
        self.assertEqual(names, source)
        self.assertEqual(len(names), len(set(names)))
        values = {name: f"value of {name}" for name in names}
        self.assert_succeeds(*SMALL, "--json", "all.json", environment=values | SECRETS)
        self.assertEqual(self.load("all.json")["environment"], values)


if __name__ == "__main__":
    harness.main()
