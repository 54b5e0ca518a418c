#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cpack makes of this build: the bundle, and the packages for Debian.
usage: test_packages.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import Installing, find_program, read_cache

IS_STATIC = read_cache("XFERBENCH_STATIC_LIBRARIES") in ("ON", "TRUE", "1")
ON_DEBIAN = all(map(shutil.which, ("dpkg-shlibdeps", "dpkg-deb", "file")))


class Packing(Installing):
    def pack(self, generator, *options):
        """Runs cpack on this build. It writes into the folder of the test, and builds nothing."""
        self.write_install_script("cmake_install.cmake")
        return self.run_program(
            *("--config", os.path.join(read_cache("CMAKE_CACHEFILE_DIR"), "CPackConfig.cmake")),
            *("-G", generator, "-B", self.path("packages")),
            *("-D", f"CPACK_XFERBENCH_BUILD={self.folder}", "-D", "CPACK_CMAKE_GENERATOR=Ninja"),
            *options,
            program=read_cache("CMAKE_CPACK_COMMAND"),
        )

    def packed(self, pattern):
        """The one package that cpack has left."""
        names = [name for name in os.listdir(self.path("packages")) if re.fullmatch(pattern, name)]
        self.assertEqual(1, len(names), os.listdir(self.path("packages")))
        return self.path("packages", names[0])

    def assert_packs(self, *arguments):
        outcome = self.pack(*arguments)
        self.assertEqual(outcome.code, 0, outcome)

    def assert_no_measurements(self, names):
        """Those of bench/ are 22 MB. Two examples go with the documents."""
        own = r"doc/xferbench/(docs/[\w.]+\.json|examples/(run|link)\.json|scripts/examples/[\w-]+\.json)$"
        self.assertEqual([], [name for name in names if name.endswith(".json") and not re.search(own, name)])
        self.assertEqual([], [name for name in names if "/bench/" in name])

    def assert_permissions(self, archive):
        """Those that files have for everybody, whatever the umask and the source tree."""
        for member in archive.getmembers():
            if not member.issym():
                self.assertIn(member.mode, (0o644, 0o755), member.name)
                self.assertTrue(member.mode == 0o755 or not member.isdir(), member.name)


class Bundle(Packing):
    def test_bundle(self):
        """One folder, named after what it is, from which the program runs."""
        os.umask(0o077)
        self.assert_packs("TGZ")
        path = self.packed(r"xferbench-[\d.]+-\w+(-tests)?\.tar\.gz")
        top = os.path.basename(path)[: -len(".tar.gz")]
        self.assertEqual(read_cache("XFERBENCH_TESTS") == "ON", top.endswith("-tests"))
        with tarfile.open(path) as archive:
            self.assertEqual({top}, {name.split("/")[0] for name in archive.getnames()})
            self.assert_permissions(archive)
            self.assert_no_measurements(archive.getnames())
            archive.extractall(self.folder)
        for name in ("README", "share/man/man1/xferbench.1", "share/doc/xferbench/LICENSE"):
            self.assertTrue(os.path.getsize(self.path(top, name)) > 500, name)
        self.assert_succeeds("--version", program=self.path(top, "bin", "xferbench"))


@unittest.skipUnless(ON_DEBIAN, "there is no dpkg-shlibdeps, dpkg-deb or file")
class Debian(Packing):
    def contents(self, package):
        """Its files as {name: content}, once their permissions and owners are right."""
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            self.assert_permissions(archive)
            self.assertEqual({("root", "root")}, {(member.uname, member.gname) for member in archive.getmembers()})
            return {
                member.name.removeprefix("./"): archive.extractfile(member).read()
                for member in archive.getmembers()
                if member.isfile()
            }

    @unittest.skipIf(IS_STATIC, "this build has libraries in the program")
    def test_packages(self):
        os.umask(0o077)
        self.assert_packs("DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
        package = self.packed(r"xferbench_[\d.]+_\w+\.deb")
        documents = self.packed(r"xferbench-doc_[\d.]+_all\.deb")
        files = self.contents(package)
        self.check_fields(package)
        self.check_what_comes_with_it(files)
        self.check_program(files["usr/bin/xferbench"])
        self.check_documents(documents, set(files))
        for one in (package, documents):
            self.check_terms(one)
            self.check_sums(one, self.contents(one))
            self.check_lintian(one)

    def fields(self, package, name):
        return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()

    def check_fields(self, package):
        """It depends on what the program is linked to, of which every release of Debian has these names."""
        depends = {entry.split()[0] for entry in self.fields(package, "Depends").split(",")}
        optional = {"hwloc": "libhwloc15", "liblz4": "liblz4-1"}
        needed = {"libc6", "libcjson1"} | {name for library, name in optional.items() if library not in harness.left_out()}
        self.assertLessEqual(needed, depends)
        self.assertLessEqual(depends - {"libc6"}, self.installed_in_image())
        self.assertEqual("utils", self.fields(package, "Section"))
        self.assertRegex(self.fields(package, "Maintainer"), r"^\S.* <\S+@\S+>$")
        built = [name for name, there in harness.built_in().items() if there]
        listed = re.search(r"The backends in this package: (.*?)\.", self.fields(package, "Description"))[1]
        self.assertEqual(sorted(built), sorted(listed.split(", ")))

    def installed_in_image(self):
        """What packaging/Containerfile installs where the program runs."""
        with open(os.path.join(harness.SOURCE, "packaging", "Containerfile"), encoding="utf-8") as file:
            image = file.read().split("\nFROM ")[-1]
        return set(re.search(r"apt-get install -y --no-install-recommends (.*) \\\n", image)[1].split())

    def check_documents(self, package, others):
        """The same on every architecture: no file of the program's package, and nothing outside its folders."""
        names = set(self.contents(package))
        self.assertEqual(set(), names & others)
        self.assert_no_measurements(names)
        folder = "usr/share/doc/xferbench/"
        self.assertLessEqual({folder + name for name in ("README.md", "docs/link.md", "examples/run.json")}, names)
        self.assertEqual(set(), {name for name in names if not name.startswith((folder, "usr/share/doc/xferbench-doc/"))})
        self.assertEqual("", self.fields(package, "Depends"))

    def check_terms(self, package):
        folder = f"usr/share/doc/{self.fields(package, 'Package')}/"
        files = self.contents(package)
        self.assertIn(b"\nLicense: Apache-2.0\n", files[folder + "copyright"])
        self.assertRegex(gzip.decompress(files[folder + "changelog.gz"]), rb"^xferbench \([\d.]+\) ")

    def check_what_comes_with_it(self, files):
        """Where Debian has them."""
        page = files["usr/share/man/man1/xferbench.1.gz"]
        self.assertIn(b".TH", gzip.decompress(page))
        self.assertEqual(bytes(5), page[3:8], "gzip noted a name or a time")
        completions = ("bash-completion/completions/xferbench", "zsh/vendor-completions/_xferbench",
                       "fish/vendor_completions.d/xferbench.fish")
        for name in completions:
            self.assertGreater(len(files[f"usr/share/{name}"]), 1000, name)
        documents = "usr/share/doc/xferbench/"
        service = files[documents + "scripts/examples/xferbench-link.service"]
        self.assertIn(b"ExecStart=/usr/bin/xferbench link", service)
        self.assertIn(documents + "scripts/examples/xferbench-link.timer", files)
        self.assertEqual(set(), {name.split("/")[1] for name in files} - {"bin", "share"})
        self.assert_no_measurements(files)
        self.assertFalse([name for name in files if name.endswith(".md")], "documents are in xferbench-doc")

    def check_program(self, content):
        """Without symbols, and with libraries from nowhere but where every program looks."""
        path = self.write("program", "")
        with open(path, "wb") as file:
            file.write(content)
        outcome = self.run_program("--dynamic", "--sections", "--wide", path, program=find_program("readelf"))
        self.assertIn("libcjson.so", outcome.out)
        self.assertNotRegex(outcome.out, r"RPATH|RUNPATH|\.symtab|\.debug")

    def check_sums(self, package, files):
        sums = subprocess.run(["dpkg-deb", "-I", package, "md5sums"], check=True, capture_output=True, text=True).stdout
        expected = {name: hashlib.md5(content).hexdigest() for name, content in files.items()}
        self.assertEqual(expected, {line.split("  ", 1)[1]: line.split()[0] for line in sums.splitlines()})

    def check_lintian(self, package):
        if not shutil.which("lintian"):
            print("lintian is not installed: the package was not checked with it", file=sys.stderr)
            return
        self.assert_succeeds("--allow-root", "--fail-on", "error,warning", package, program="lintian")

    @unittest.skipUnless(IS_STATIC, "this build has no libraries in the program")
    def test_static(self):
        """No package for a distribution brings libraries of the distribution along."""
        outcome = self.pack("DEB")
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assert_words(" ".join(outcome.err.split()), ("-DXFERBENCH_STATIC_LIBRARIES=OFF",), outcome)


if __name__ == "__main__":
    harness.main()
