# SPDX-License-Identifier: Apache-2.0
"""What the tests of configuring and installing share."""

import os
import re
import shutil

from harness import BUILD, SOURCE, Case


def read_cache(name):
    """A value of this build's CMakeCache.txt."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(rf"^{name}:\w+=(.*)$", file.read(), re.M)[1]


CMAKE = read_cache("CMAKE_COMMAND")


class Building(Case):
    """Configures the source tree into a folder of its own, with this build's compiler."""

    def configure(self, *options, name="build"):
        return self.run_program(
            "-S",
            SOURCE,
            "-B",
            self.path(name),
            "-G",
            read_cache("CMAKE_GENERATOR"),
            f"-DCMAKE_C_COMPILER={read_cache('CMAKE_C_COMPILER')}",
            *options,
            program=CMAKE,
        )

    def assert_configures(self, *options, **named):
        outcome = self.configure(*options, **named)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def assert_does_not_configure(self, words, *options, **named):
        outcome = self.configure(*options, **named)
        self.assertEqual(outcome.code, 1, outcome)
        # As one line: CMake wraps an error's.
        self.assert_words(" ".join(outcome.err.split()), words, outcome)

    def write_program(self, name, text):
        """In place of a link to the system's own, which is not written to."""
        if os.path.islink(self.path(name)):
            os.remove(self.path(name))
        path = self.write(name, f"#!/bin/sh\n{text}")
        os.chmod(path, 0o755)
        return path


def find_program(name):
    path = shutil.which(name)
    assert path, f"no {name} on PATH"
    return path


class Installing(Building):
    """Installs what this build has built, without writing into its folder."""

    def place(self, name, *names):
        """A file of a folder that this build installs into, such as BINDIR, under the prefix of the test."""
        folder = read_cache(f"CMAKE_INSTALL_{name}")
        if not folder:
            inside = {"DOCDIR": "doc/xferbench", "MANDIR": "man", "DATADIR": ""}[name]
            folder = os.path.join(read_cache("CMAKE_INSTALL_DATAROOTDIR"), inside)
        return self.path("prefix", folder, *names)

    def write_install_script(self, name):
        """CMake's script notes in the build folder what it has installed. This one notes that in the folder of
        the test: tests run at the same time, and maybe as a user who cannot write into the build."""
        build = read_cache("CMAKE_CACHEFILE_DIR")
        with open(os.path.join(build, "cmake_install.cmake"), encoding="utf-8") as file:
            script = file.read()
        note = f'file(WRITE "{build}/'
        self.assertIn(note, script)
        return self.write(name, script.replace(note, f'file(WRITE "{self.folder}/'))

    def install(self, component):
        script = self.write_install_script("install.cmake")
        options = (f"-DCMAKE_INSTALL_PREFIX={self.path('prefix')}", f"-DCMAKE_INSTALL_COMPONENT={component}")
        self.assert_succeeds(*options, "-P", script, program=CMAKE)
