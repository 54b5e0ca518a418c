#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed where, and what the bundle has beside it.
usage: test_install.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import CMAKE, Building, Installing, find_program

# Where a linker looks, of a prefix.
LINKER_FOLDERS = ("lib", "lib64", "lib/x86_64-linux-gnu", "usr/lib", "usr/lib64", "usr/lib/x86_64-linux-gnu")


class Installed(Installing):
    def assert_nothing_for_linkers(self, root):
        for folder in LINKER_FOLDERS:
            path = os.path.join(root, folder)
            names = os.listdir(path) if os.path.isdir(path) else []
            self.assertEqual([], [name for name in names if ".so" in name or name.endswith(".a")], path)

    def library_of(self, program, library):
        """The file that the loader takes for it."""
        outcome = self.run_program(program, program=find_program("ldd"))
        found = re.search(rf"^\s*{library}\S* => (.*) \(0x[0-9a-f]+\)$", outcome.out, re.M)
        self.assertIsNotNone(found, outcome)
        return os.path.realpath(found[1])

    def test_program(self):
        """The program and documents: no library, no test."""
        self.install("program")
        prefix = self.path("prefix")
        places = [os.path.relpath(self.place(name), prefix) for name in ("BINDIR", "DOCDIR")]
        self.assertEqual({place.split(os.sep)[0] for place in places}, set(os.listdir(prefix)))
        self.assertEqual(["xferbench"], os.listdir(self.place("BINDIR")))
        program = self.place("BINDIR", "xferbench")
        self.assert_succeeds("--version", program=program)
        self.assertFalse(self.library_of(program, "libcjson").startswith(self.folder))

    def test_manual_and_completion(self):
        """Where `man` and each shell look."""
        self.install("program")
        self.assertIn("xferbench.1", os.listdir(self.place("MANDIR", "man1")))
        for path in ("bash-completion/completions/xferbench", "zsh/site-functions/_xferbench",
                     "fish/vendor_completions.d/xferbench.fish"):
            self.assertTrue(os.path.getsize(self.place("DATADIR", path)) > 1000, path)

    def test_bundle(self):
        """Libraries that a node may lack are taken from the bundle, from where only it looks."""
        self.install("program")
        self.install("bundle")
        self.assert_nothing_for_linkers(self.path("prefix"))
        mine = self.place("LIBDIR", "xferbench")
        helpers = self.place("LIBEXECDIR", "xferbench")
        program = self.place("BINDIR", "xferbench")
        for path, library in ((program, "libcjson"), (os.path.join(helpers, "test_contract"), "libcmocka")):
            self.assertEqual(mine, os.path.dirname(self.library_of(path, library)), path)
        self.assertIn("liblz4.so.1", os.listdir(mine))
        self.assert_succeeds("--version", program=program)
        for library in ("libcjson", "liblz4"):
            self.assertIn(f"{library}-copyright", os.listdir(self.place("DOCDIR")))

    def test_gpu_tests_of_the_bundle(self):
        """They find the bundle's program beside them."""
        self.install("program")
        self.install("bundle")
        stated = "#!/bin/sh\necho \"$0 $*\" >&2\nexit 1\n"
        with open(self.place("BINDIR", "xferbench"), "w", encoding="utf-8") as file:
            file.write(stated)
        helpers = self.place("LIBEXECDIR", "xferbench")
        outcome = self.run_program(program=os.path.join(helpers, "test-gpu.sh"))
        self.assertIn(f"{helpers}/../../bin/xferbench --version", outcome.err, outcome)


class Places(Building):
    """Folders chosen by their usual options. What is looked at needs nothing built."""

    def test_chosen(self):
        prefix = self.path("prefix")
        self.assert_configures(
            f"-DCMAKE_INSTALL_PREFIX={prefix}",
            "-DCMAKE_INSTALL_LIBDIR=lib64",
            "-DCMAKE_INSTALL_DOCDIR=share/papers",
            "-DXFERBENCH_CUDA=OFF",
            "-DXFERBENCH_HIP=OFF",
        )
        self.assert_succeeds("--install", self.path("build"), "--component", "bundle", program=CMAKE)
        self.assertEqual({"lib64", "share"}, set(os.listdir(prefix)))
        self.assertTrue(os.path.exists(os.path.join(prefix, "lib64", "xferbench", "libcjson.so.1")))
        self.assertEqual(["papers"], os.listdir(os.path.join(prefix, "share")))
        self.assertIn("$ORIGIN/../lib64/xferbench", self.read("build", "cmake_install.cmake"))


if __name__ == "__main__":
    harness.main()
