#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/release.sh and scripts/sbom.py, over a script in place of package.sh. usage: test_release.py
BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import hashlib
import json
import os
import shutil
import sys
import tarfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from harness import Case

VERSION = "1.2.3"
README = """xferbench {version}

Libraries that it brings along

    libcudart_static.a    part  13.0.48              NVIDIA's
    libexample.a          part  1.0-2                MIT
    libother.so.1         file  3:4.5~6-1            {licence}

"part" is part of the programs, "file" a file in lib/xferbench,
where no other program looks.
"""
# Leaves two bundles and a package in the folder, with the commit's date.
PACKAGE = """#!/bin/bash
set -e
cd "$(dirname "$0")/.."
mkdir -p "$1"
for name in xferbench-{version}-x86_64 xferbench-{version}-x86_64-tests; do
    mkdir "$name"
    cp bundle-readme "$name/README"
    mkdir "$name/licences"
    echo terms >"$name/licences/libother-copyright"
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n >"$1/$name.tar.gz"
done
echo "$2" >"$1/xferbench_{version}_amd64.deb"
echo documents >"$1/xferbench-doc_{version}_all.deb"
{end}
"""
WHO = {f"GIT_CONFIG_{place}": "/dev/null" for place in ("GLOBAL", "SYSTEM")} | {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "2001-02-03T04:05:06Z"))
}
# The recipes are there in a release that has addresses.
FILES = [
    "SHA256SUMS",
    "xferbench-1.2.3-recipes.tar.gz",
    "xferbench-1.2.3-x86_64-tests.tar.gz",
    "xferbench-1.2.3-x86_64.tar.gz",
    "xferbench-1.2.3.cdx.json",
    "xferbench-1.2.3.tar.gz",
    "xferbench-doc_1.2.3_all.deb",
    "xferbench_1.2.3_amd64.deb",
]
BUNDLES = [name for name in FILES if "x86_64" in name]
PUBLISHER = "# Who\nmaintainer=A <a@example.com>\nhomepage=https://a.example.com\nsources=https://b.example.com/x?a=1&b=2/files\n"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Release(Case):
    def make_tree(self, readme=None, end="", publisher=PUBLISHER):
        os.makedirs(self.path("tree", "scripts"))
        for name in ("release.sh", "sbom.py"):
            shutil.copy(os.path.join(harness.SOURCE, "scripts", name), self.path("tree", "scripts"))
        self.write("tree/CMakeLists.txt", f"project(xferbench VERSION {VERSION} LANGUAGES C\n)\n")
        self.write("tree/bundle-readme", readme or README.format(version=VERSION, licence="Own words"))
        self.write("tree/scripts/package.sh", PACKAGE.format(version=VERSION, end=end))
        os.chmod(self.path("tree", "scripts", "package.sh"), 0o755)
        for name in ("spack", "easybuild", "conda-forge"):
            os.makedirs(self.path("tree", "packaging", name))
            self.write(f"tree/packaging/{name}/recipe", f"@HOMEPAGE@ @SOURCES@/x.tar.gz {'0' * 64}\n")
        self.write("tree/packaging/publisher", publisher)
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "All")

    def git(self, *arguments):
        self.assert_succeeds("-C", self.path("tree"), *arguments, program=shutil.which("git"), environment=WHO)

    def made(self, **options):
        """A release of a tree that make_tree() makes with these options."""
        self.make_tree(**options)
        outcome = self.release()
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def release(self, folder="release", **environment):
        script = self.path("tree", "scripts", "release.sh")
        return self.run_program(script, folder, "-DOPTION=ON", program="/bin/bash", environment=WHO | environment)

    def assert_refused(self, words, **options):
        outcome = self.release(**options)
        self.assertEqual(outcome.code, 1, outcome)
        self.assert_words(outcome.err, words, outcome)

    def test_files(self):
        self.made()
        self.assertEqual(sorted(os.listdir(self.path("release"))), FILES)
        sums = dict(reversed(line.split("  ")) for line in self.read("release", "SHA256SUMS").splitlines())
        self.assertEqual(sums, {name: digest(self.path("release", name)) for name in FILES[1:]})
        self.assertEqual(self.read("release", FILES[-1]), "-DOPTION=ON\n", "an option did not get to package.sh")

    def test_sources(self):
        self.made()
        with tarfile.open(self.path("release", "xferbench-1.2.3.tar.gz")) as archive:
            names = archive.getnames()
            times = {member.mtime for member in archive}
        self.assertIn("xferbench-1.2.3/CMakeLists.txt", names)
        self.assertTrue(all(name.split("/")[0] == "xferbench-1.2.3" for name in names), names)
        self.assertEqual(times, {981173106}, "not the commit's time")

    def test_again(self):
        """The same commit, another folder, another time, another language: the same bytes."""
        self.make_tree()
        self.release(LC_ALL="C")
        self.release(folder="again", LC_ALL="de_DE.UTF-8")
        for name in FILES:
            self.assertEqual(digest(self.path("release", name)), digest(self.path("again", name)), name)

    def test_sbom(self):
        self.made()
        document = json.loads(self.read("release", "xferbench-1.2.3.cdx.json"))
        self.assertEqual((document["bomFormat"], document["specVersion"]), ("CycloneDX", "1.5"))
        self.assertEqual(document["metadata"]["timestamp"], "2001-02-03T04:05:06Z")
        own = document["metadata"]["component"]
        self.assertEqual((own["name"], own["version"]), ("xferbench", VERSION))
        self.assertEqual(own["licenses"], [{"license": {"id": "Apache-2.0"}}])
        libraries = [one for one in document["components"] if one["type"] == "library"]
        self.assertEqual(
            [(one["name"], one["version"], one["licenses"]) for one in libraries],
            [
                ("libother", "3:4.5~6-1", [{"license": {"name": "Own words"}}]),
                ("libexample", "1.0-2", [{"expression": "MIT"}]),
                ("libcudart_static", "13.0.48", [{"license": {"name": "NVIDIA's"}}]),
            ],
        )
        for library in libraries:
            packages = [one["value"] for one in library["properties"] if one["name"] == "xferbench:package"]
            # CUDA's runtime is part of the program in every package.
            deb = [FILES[-1]] if library["name"] == "libcudart_static" else []
            self.assertEqual(packages, BUNDLES + deb)
        texts = [one["value"] for one in libraries[0]["properties"] if one["name"] == "xferbench:licence-text"]
        self.assertEqual(texts, ["licences/libother-copyright"])
        files = {one["name"]: one["hashes"][0]["content"] for one in document["components"] if "hashes" in one}
        self.assertEqual(sorted(files), [name for name in FILES[1:] if not name.endswith(".cdx.json")])
        self.assertEqual(files[FILES[1]], digest(self.path("release", FILES[1])))
        references = {own["bom-ref"]} | {one["bom-ref"] for one in document["components"]}
        self.assertEqual(len(references), 1 + len(document["components"]))
        for dependency in document["dependencies"]:
            self.assertLessEqual({dependency["ref"], *dependency["dependsOn"]}, references)

    def test_recipes(self):
        """They have the addresses of packaging/publisher and the sources' checksum."""
        self.made()
        sources = digest(self.path("release", "xferbench-1.2.3.tar.gz"))
        with tarfile.open(self.path("release", FILES[1])) as archive:
            texts = {one.name: archive.extractfile(one).read().decode() for one in archive if one.isfile()}
        expected = f"https://a.example.com https://b.example.com/x?a=1&b=2/files/x.tar.gz {sources}\n"
        self.assertEqual({f"recipes/{name}/recipe": expected for name in ("spack", "easybuild", "conda-forge")}, texts)

    def test_recipes_without_address(self):
        for what in ("b.example.com", "https://a.example.com", "a@example.com"):
            with self.subTest(what):
                unset = "a@example.org" if "@" in what else "set-it.invalid"
                outcome = self.made(publisher=PUBLISHER.replace(what, unset))
                self.assert_words(outcome.out, ("Left out", "packaging/publisher"), outcome)
                self.assertNotIn(FILES[1], os.listdir(self.path("release")))
                shutil.rmtree(self.path("release"))
                shutil.rmtree(self.path("tree"))

    def test_refused(self):
        self.make_tree()
        self.write("tree/new-file", "")
        self.assert_refused(("the tree has changes", "new-file"))
        os.remove(self.path("tree", "new-file"))
        os.mkdir(self.path("release"))
        self.write("release/precious", "")
        self.assert_refused(("release is not empty",))
        self.assertEqual(os.listdir(self.path("release")), ["precious"])

    def test_failing_build(self):
        """Nothing is left that could be taken for a release."""
        self.make_tree(end="echo no compiler >&2; exit 1")
        self.assert_refused(("no compiler",))
        self.assertFalse(os.path.exists(self.path("release")))

    def test_disk_that_becomes_full(self):
        """No part of a release is left, nor in a folder that was there."""
        self.make_tree()
        os.mkdir(self.path("release"))
        os.mkdir(self.path("bin"))
        os.chmod(self.write("bin/mv", """#!/bin/sh
for last; do :; done
case $last in
*release*) /bin/mv "$1" "$last" && echo "mv: No space left on device" >&2 && exit 1 ;;
esac
exec /bin/mv "$@"
"""), 0o755)
        outcome = self.release(PATH=f"{self.path('bin')}:{os.environ['PATH']}")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertEqual(os.listdir(self.path("release")), [])

    def test_unreadable_bundle(self):
        """No document rather than one that lacks a library."""
        table = README.format(version=VERSION, licence="MIT")
        self.make_tree(readme=table.replace("part  1.0-2", "part"))
        self.assert_refused(("cannot read this row", "libexample.a"))
        shutil.rmtree(self.path("tree"))
        self.make_tree(readme="xferbench\n")
        self.assert_refused(("none of the files is a bundle",))
        self.assertFalse(os.path.exists(self.path("release")))


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("Left out: there is no git")
        sys.exit(77)
    harness.main()
