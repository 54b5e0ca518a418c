#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That the recipes in packaging/ are of this version, can be read, and leave addresses to scripts/release.sh.
usage: test_recipes.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from harness import Case

PACKAGING = os.path.join(harness.SOURCE, "packaging")
EASYCONFIG = "easybuild/xferbench-{}-GCCcore-14.3.0{}.eb"
CONTAINER = "Containerfile"
SPACK = "spack/spack_repo/xferbench/packages/xferbench/package.py"
CONDA = "conda-forge/recipe/recipe.yaml"


def read(*names):
    with open(os.path.join(PACKAGING, *names), encoding="utf-8") as file:
        return file.read()


def version_of_cmake():
    with open(os.path.join(harness.SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(xferbench VERSION ([0-9.]+) ", file.read(), re.M)[1]


VERSION = version_of_cmake()
EASYCONFIGS = [EASYCONFIG.format(VERSION, suffix) for suffix in ("", "-CUDA-12.9.1")]
FETCHING = [SPACK, CONDA, *EASYCONFIGS]


class Recipes(Case):
    def test_version(self):
        """Every place that names it, and each names it."""
        places = {
            CONTAINER: [r'image\.version="([^"]*)"'],
            SPACK: [r'^    version\("([^"]*)"', r"/xferbench-([0-9.]+)\.tar\.gz", r"xferbench@([0-9.]+)"],
            CONDA: [r"^  version: ([0-9.]+)$"],
        } | {name: [r"^version = '([^']*)'"] for name in EASYCONFIGS}
        for name, patterns in places.items():
            for pattern in patterns:
                found = re.findall(pattern, read(name), re.M)
                self.assertEqual(set(found), {VERSION}, f"{name}: {pattern}")

    def test_sources(self):
        """Of each recipe a release sets the homepage, the address of the sources and their checksum. No file but
        packaging/publisher has an address that a release sets."""
        for name in FETCHING:
            text = read(name)
            self.assertNotRegex(text, r"https?://", name)
            for part in ("@HOMEPAGE@", "@SOURCES@", "0" * 64):
                self.assertEqual(text.count(part), 1, f"{name}: {part}")
        for folder, _, names in os.walk(PACKAGING):
            for path in (os.path.join(folder, name) for name in set(names) - {"publisher"}):
                self.assertNotRegex(read(path), r"example\.org|set-the-address|\.invalid", path)
        self.assertEqual(["maintainer", "homepage", "sources"], re.findall(r"^(\w+)=\S", read("publisher"), re.M))

    def test_python(self):
        for name in (SPACK, *EASYCONFIGS):
            compile(read(name), name, "exec")

    def test_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("there is no PyYAML")
        recipe = yaml.safe_load(read(CONDA))
        self.assertEqual(recipe["package"]["name"], "xferbench")
        self.assertEqual(recipe["about"]["license"], "Apache-2.0")
        variants = yaml.safe_load(read("conda-forge/recipe/variants.yaml"))
        self.assertIn("None", variants["cuda_compiler_version"])
        repository = yaml.safe_load(read("spack/spack_repo/xferbench/repo.yaml"))
        self.assertEqual(repository["repo"]["namespace"], "xferbench")

    def test_copied(self):
        """What the container copies is there, and all that CMake asks for is copied."""
        copied = {name for line in re.findall(r"^COPY ([^-].*)$", read(CONTAINER), re.M) for name in line.split()[:-1]}
        for name in copied:
            self.assertTrue(os.path.exists(os.path.join(harness.SOURCE, name)), name)
        with open(os.path.join(harness.SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
            folders = set(re.findall(r"^include\((\w+)/", file.read(), re.M))
        self.assertLessEqual(folders, copied)


if __name__ == "__main__":
    harness.main()
