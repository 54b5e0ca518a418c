#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed where, and what the bundle has beside it.
usage: test_install.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import platform
import re
import shutil
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import CMAKE, Building, Installing, find_program

# Where a linker looks, of a prefix.
LINKER_FOLDERS = ("lib", "lib64", "lib/x86_64-linux-gnu", "usr/lib", "usr/lib64", "usr/lib/x86_64-linux-gnu")

# Its libraries, which the bundle's README names as a whole.
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}


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
        """The program and documents: no library, no test, and no measurement but two examples."""
        self.install("program")
        self.install("doc")
        prefix = self.path("prefix")
        places = [os.path.relpath(self.place(name), prefix) for name in ("BINDIR", "DOCDIR")]
        self.assertEqual({place.split(os.sep)[0] for place in places}, set(os.listdir(prefix)))
        self.assertEqual(["xferbench"], os.listdir(self.place("BINDIR")))
        program = self.place("BINDIR", "xferbench")
        self.assert_succeeds("--version", program=program)
        self.assertFalse(self.library_of(program, "libcjson").startswith(self.folder))
        self.assertEqual({"link.json", "run.json"}, set(os.listdir(self.place("DOCDIR", "examples"))))
        self.assertFalse(os.path.exists(self.place("DOCDIR", "bench")))
        self.assert_succeeds("show", self.place("DOCDIR", "examples", "run.json"), program=program)
        told = self.assert_succeeds("help", "all", program=program).out + self.read(self.place("MANDIR", "man1", "xferbench.1"))
        self.assertIn(os.path.relpath(self.place("DOCDIR"), prefix), told)
        named = set(re.findall(r"\bdocs/[\w-]+(?:\.\w+)*", told)) - {"docs/NAME"}
        self.assertGreater(len(named), 10)
        self.assertEqual(set(), {name for name in named if not os.path.exists(self.place("DOCDIR", name))})

    def test_manual_and_completion(self):
        """Where `man` and each shell look."""
        self.install("program")
        self.assertIn("xferbench.1", os.listdir(self.place("MANDIR", "man1")))
        for path in ("bash-completion/completions/xferbench", "zsh/site-functions/_xferbench",
                     "fish/vendor_completions.d/xferbench.fish"):
            self.assertTrue(os.path.getsize(self.place("DATADIR", path)) > 1000, path)

    def test_build_folder(self):
        """Nobody's libraries are taken from the folder in which the program is started, not before it is installed
        either: an empty path would mean that."""
        for program in (harness.XFERBENCH, harness.program_of_build("tests", "test_contract")):
            outcome = self.run_program("--dynamic", "--wide", program, program=find_program("readelf"))
            for paths in re.findall(r"\((?:RPATH|RUNPATH)\) .*\[(.*)\]", outcome.out):
                self.assertTrue(all(path.startswith(("/", "$ORIGIN/")) for path in paths.split(":")), outcome)

    def install_bundle(self):
        for component in ("program", "doc", "bundle"):
            self.install(component)

    def elf_files(self):
        """Programs and libraries of the bundle."""
        for folder, _, names in os.walk(self.path("prefix")):
            for path in (os.path.join(folder, name) for name in names):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield path

    def test_bundle(self):
        self.install_bundle()
        self.check_libraries_are_found()
        self.check_needs_are_named()
        self.check_licences()
        self.check_sources_are_named()

    def check_libraries_are_found(self):
        """Libraries that a node may lack are taken from the bundle, from where only it looks."""
        self.assert_nothing_for_linkers(self.path("prefix"))
        mine = self.place("LIBDIR", "xferbench")
        helpers = self.place("LIBEXECDIR", "xferbench")
        program = self.place("BINDIR", "xferbench")
        for path, library in ((program, "libcjson"), (os.path.join(helpers, "test_contract"), "libcmocka")):
            self.assertEqual(mine, os.path.dirname(self.library_of(path, library)), path)
            # Also those that only a library asks for.
            outcome = self.run_program(path, program=find_program("ldd"))
            found = dict(re.findall(r"^\s*(\S+) => (.+) \(0x", outcome.out, re.M))
            elsewhere = {name for name, place in found.items() if os.path.dirname(os.path.realpath(place)) != mine}
            self.assertLessEqual(elsewhere, GLIBC, outcome)
        self.assert_succeeds("--version", program=program)

    def check_needs_are_named(self):
        """No file of it asks for a library, or a release of glibc, that its README does not name."""
        readme = self.read("prefix", "README")
        table = dict(re.findall(r"^    (lib\S+) +(part|file) +\S+ .*\S", readme, re.M))
        self.assertEqual(
            set(os.listdir(self.place("LIBDIR", "xferbench"))), {name for name, how in table.items() if how == "file"}
        )
        named = set(table) | GLIBC
        releases = set()
        for path in self.elf_files():
            outcome = self.run_program("--dynamic", "--version-info", "--wide", path, program=find_program("readelf"))
            needed = set(re.findall(r"\(NEEDED\) .*\[(.*)\]", outcome.out))
            self.assertIn("libc.so.6", needed, outcome)
            self.assertLessEqual(needed, named, path)
            releases |= {tuple(map(int, release.split("."))) for release in re.findall(r"GLIBC_([\d.]+)", outcome.out)}
        newest = ".".join(map(str, max(releases)))
        self.assertIn(f"\n    glibc {newest} or later ", readme)
        # RHEL 9 has 2.34. With 2.38 come other names for what every program calls, and nobody can go without.
        if tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 38):
            self.assertLessEqual(max(releases), (2, 34))

    def check_licences(self):
        """Of each library that it brings along; NVIDIA's is on the network."""
        libraries = re.findall(r"^    (lib[^. ]+)\S* +(?:part|file) ", self.read("prefix", "README"), re.M)
        self.assertIn("libcjson", libraries)
        texts = os.listdir(self.place("DOCDIR", "licences"))
        for library in set(libraries) - {"libcudart_static"}:
            self.assertTrue([text for text in texts if text.startswith(library + "-")], (library, texts))
        # On another system there is nothing where Debian's texts say that the rest of them is.
        for text in texts:
            for name in re.findall(r"common-licenses/([A-Za-z0-9]+(?:-[0-9.]*[0-9])?)", self.licence(text)):
                self.assertIn(name, texts, text)

    def licence(self, name):
        with open(self.place("DOCDIR", "licences", name), encoding="utf-8") as file:
            return file.read()

    def check_sources_are_named(self):
        """Of those that are files in the bundle and under the LGPL: who passes it on offers them too."""
        readme = self.read("prefix", "README")
        owing = set(re.findall(r"^    (lib\S+) +file +\S+ +LGPL", readme, re.M))
        named = set(re.findall(r"^    (lib\S+) +source ", readme, re.M))
        self.assertTrue(owing or "hwloc" in harness.left_out(), readme)
        self.assertEqual(owing, named)

    def test_gpu_tests_of_the_bundle(self):
        """They find the bundle's program beside them."""
        self.install_bundle()
        stated = "#!/bin/sh\necho \"$0 $*\" >&2\nexit 1\n"
        with open(self.place("BINDIR", "xferbench"), "w", encoding="utf-8") as file:
            file.write(stated)
        helpers = self.place("LIBEXECDIR", "xferbench")
        outcome = self.run_program(program=os.path.join(helpers, "test-gpu.sh"))
        self.assertIn(f"{helpers}/../../bin/xferbench --version", outcome.err, outcome)


class Places(Building):
    """Folders chosen by their usual options. What is looked at needs nothing built but the program."""

    def test_chosen(self):
        prefix = self.path("prefix")
        summary = self.assert_configures(
            f"-DCMAKE_INSTALL_PREFIX={prefix}",
            "-DCMAKE_INSTALL_LIBDIR=lib64",
            "-DCMAKE_INSTALL_DOCDIR=share/papers",
            "-DCMAKE_INSTALL_RPATH=/opt/own/lib",
            "-DXFERBENCH_CUDA=OFF",
            "-DXFERBENCH_HIP=OFF",
            "-DXFERBENCH_STATIC_LIBRARIES=ON",
        ).out
        self.assertRegex(summary, r"\n   shared .*\blibcjson\b")
        shutil.copy(harness.XFERBENCH, self.path("build"))
        self.assert_succeeds("--install", self.path("build"), "--component", "bundle", program=CMAKE)
        self.assertEqual({"README", "lib64", "share"}, set(os.listdir(prefix)))
        self.assertTrue(os.path.exists(os.path.join(prefix, "lib64", "xferbench", "libcjson.so.1")))
        self.assertEqual(["papers"], os.listdir(os.path.join(prefix, "share")))
        self.assertRegex(self.linking(), r"ORIGIN/\.\./lib64/xferbench:/opt/own/lib\b")

    def linking(self):
        """What the program is linked with, as Ninja or make is told."""
        ninja = self.path("build", "build.ninja")
        return self.read(ninja if os.path.exists(ninja) else "build/CMakeFiles/xferbench.dir/link.txt")


if __name__ == "__main__":
    harness.main()
