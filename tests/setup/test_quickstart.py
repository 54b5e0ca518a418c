#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quickstart.sh does on machines with and without GPUs, toolkits and packages: the scripts as they
are, and stand-ins of what they call. Its cases are in quickstart_cases.txt.
usage: test_quickstart.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import functools
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import Building, find_program

SCRIPTS = os.path.join(harness.SOURCE, "scripts")
# What the scripts may call as it is. Nothing else is on PATH.
TOOLS = "bash cat chmod dirname env find grep head ln mkdir mktemp nproc readlink rm sed sort tail touch tr uname".split()
PRESENT = "cc g++ make pkg-config sudo".split()
FOR_TESTS = "ninja awk clang clang-format clang-tidy diff dpkg-shlibdeps file fish gcc git groff man mandoc mpirun mungekey python3 readelf slurmctld slurmd srun tar xargs zsh".split()

APT_GET = """echo "apt-get $*" >>{log}
case "$*" in
*--assume-no*) echo 'Need to get 1,622 MB of archives.'; echo Abort.; exit 1 ;;
*' -s '*) echo 'Inst libcuda1 (535 Debian)' ;;
*' -y '*cuda-toolkit*) touch {bin}/nvcc && chmod +x {bin}/nvcc ;;
esac
"""
APT_CACHE = """case "$*" in
{known}
policy*) echo '  Candidate: (none)' ;;
depends*) echo ' |Depends: g++-11'; echo '  Depends: clang-14' ;;
esac
"""
DNF = """echo "dnf $*" >>{log}
case "$*" in
*--assumeno*) echo 'Total download size: 2.9 GiB' ;;
*install*cuda-toolkit*) touch {bin}/nvcc && chmod +x {bin}/nvcc ;;
*info*) exit 1 ;;
esac
"""
# The program: what it can always measure is the host.
XFERBENCH = """echo "xferbench $*" >>{log}
case "$*" in *'--backend host') exit 0 ;; esac
exit {code}
"""


# What --no-root calls. A package is a file with its name, which brings a .pc file and a library.
DOWNLOADING = {
    "pkg-config": """[ "$1" = --exists ] || exit 0
IFS=:
for folder in $PKG_CONFIG_PATH; do [ ! -e "$folder/${{2%% *}}.pc" ] || exit 0; done
exit 1
""",
    "apt-get": """echo "apt-get $*" >>{log}
for word; do case "$word" in Dir::Cache=*) cache=${{word#*=}} ;; esac; done
case "$*" in
{fails}) echo 'E: Unable to fetch it'; exit 100 ;;
*--download-only*) touch "$cache/archives/${{word%-dev}}.deb" ;;
esac
""",
    "dpkg-deb": """name=${{2##*/}} && name=${{name%.deb}}
mkdir -p "$3/usr/lib/pkgconfig"
touch "$3/usr/lib/$name.so"
case $name in libhwloc | libsqlite3) name=${{name#lib}} ;; zlib1g) name=zlib ;; esac
printf 'prefix=/usr\nCflags: -I/usr/include\n' >"$3/usr/lib/pkgconfig/$name.pc"
""",
    "dnf": """echo "dnf $*" >>{log}
for word; do :; done
touch "$5/$word.rpm"
""",
    "rpm2cpio": 'echo "$1"\n',
    "cpio": """read -r name
name=${{name##*/}} && name=${{name%-devel.rpm}}
mkdir -p usr/lib64/pkgconfig
case $name in hwloc | zlib) ;; sqlite) name=sqlite3 ;; *) name=lib$name ;; esac
touch usr/lib64/pkgconfig/$name.pc usr/lib64/$name.so
""",
}


def read_cases():
    """{class: {case: its lines}} of the file beside this one; {log} and the like in it are of the machine."""
    cases = {}
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "quickstart_cases.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = [word.replace("\\n", "\n") for word in shlex.split(line, comments=line.startswith("#"))]
            if words[:1] == ["=="]:
                lines_of = cases.setdefault(words[1], {})
            elif words[:1] == ["case"]:
                lines = lines_of.setdefault(words[1], [])
            elif words:
                lines.append((number, *words))
    return cases


def with_cases(test_class):
    """Gives it a test for each of its cases."""
    for name, lines in CASES.pop(test_class.__name__).items():
        setattr(test_class, f"test_{name}", functools.partialmethod(Machine.check_case, lines))
    return test_class


CASES = read_cases()


class Machine(Building):
    """One with Debian, root and no GPU. do_X or CHECKS does what line X of a case says."""

    SCRIPT = ("quickstart.sh",)

    def setUp(self):
        super().setUp()
        self.bin = self.path("bin")
        for folder in ("bin", "scripts", "build"):
            os.mkdir(self.path(folder))
        for name in ("quickstart.sh", "install-deps.sh", "unpack-deps.sh"):
            shutil.copy(os.path.join(SCRIPTS, name), self.path("scripts"))
        self.move_away("/usr/local/cuda/bin", "/opt/rocm", "/usr/include/hip", "/etc/apt/sources.list")
        self.move_away("/etc/os-release", to="os-release")
        self.move_away("/sys/module/nvidia/version", to="driver")
        self.do_system("debian", "12")
        for name in TOOLS:
            os.symlink(find_program(name), os.path.join(self.bin, name))
        for name in PRESENT:
            self.write_program(os.path.join("bin", name), "")
        self.stand_in("cmake", 'echo "cmake $*" >>{log}\n')
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", APT_GET)
        self.stand_in("dpkg-query", '[ "$1" = -W ] && echo installed\n')
        self.stand_in("ldconfig", "")
        self.do_packages("nvidia-cuda-toolkit=11.8.89~11.8.0-5")
        self.do_gpus()
        self.do_xferbench(3)

    def move_away(self, *places, to="nowhere"):
        """Looked for in places of the test instead: the machine may have something in the real ones."""
        name = os.path.join("scripts", "install-deps.sh")
        text = self.read(name)
        for place in places:
            self.assertIn(place, text)
            text = text.replace(place, self.path(to))
        self.write(name, text)

    def stand_in(self, name, text, **values):
        text = text.format(log=shlex.quote(self.path("log")), bin=shlex.quote(self.bin), **values)
        self.write_program(os.path.join("bin", name), text)

    def check_case(self, lines):
        self.environment = {"PATH": self.bin}
        deps = self.path("build", "deps")
        for number, word, *rest in lines:
            with self.subTest(line=number, word=word):
                if word not in ("has", "find-gpus"):
                    place = re.escape(deps) if word == "calls-match" else deps
                    rest = [text.replace("{deps}", place).replace("{machine}", os.uname().machine) for text in rest]
                if word in self.CHECKS:
                    self.CHECKS[word](self, *rest)
                else:
                    getattr(self, f"do_{word.replace('-', '_')}")(*rest)

    # ---- the machine ----

    def do_packages(self, *candidates):
        """What apt-get could install."""
        known = (f"'policy {{}}') echo '  Candidate: {{}}' ;;".format(*one.split("=")) for one in candidates)
        self.stand_in("apt-cache", APT_CACHE, known="\n".join(known))

    def do_system(self, name, version):
        self.write("os-release", f'ID={name}\nVERSION_ID="{version}"\nPRETTY_NAME="{name} {version}"\n')

    def do_dnf(self, name, version):
        self.do_lacks("apt-get")
        self.do_dnf_packages()
        self.stand_in("rpm", "")
        self.do_system(name, version)

    def do_dnf_packages(self, *candidates):
        known = ("*info*{}*) echo 'Version         : {}' ;;\n".format(*one.split("=")) for one in candidates)
        self.stand_in("dnf", DNF.replace("*info*", "".join(known) + "*info*"))

    def do_no_root(self):
        self.stand_in("id", "echo 1000\n")
        self.do_lacks("sudo")

    def do_has(self, name, text):
        self.stand_in(name, text)

    def do_lacks(self, *names):
        for name in names:
            os.remove(os.path.join(self.bin, name))

    def do_driver(self, release):
        self.write("driver", release + "\n")

    def do_gpus(self, *lines):
        self.do_find_gpus("".join(f"echo '{line}'\n" for line in lines))

    def do_find_gpus(self, text):
        self.write_program(os.path.join("scripts", "find-gpus.sh"), text)

    def do_xferbench(self, code):
        text = XFERBENCH.format(log=shlex.quote(self.path("log")), code=code)
        self.write_program(os.path.join("build", "xferbench"), text)

    def do_downloads(self, *names, fails="nothing"):
        for name in names:
            self.stand_in(name, DOWNLOADING[name], fails=fails)

    def do_downloads_fail(self, pattern):
        self.do_downloads("apt-get", fails=pattern)

    def do_hip_headers(self):
        self.move_away(self.path("nowhere", "include"), to="rocm")
        os.makedirs(self.path("rocm", "hip"))
        self.write(os.path.join("rocm", "hip", "hiprtc.h"), "")

    def do_environment(self, *variables):
        self.environment |= dict(one.split("=") for one in variables)

    # ---- what is run, and what came of it ----

    CHECKS = {
        "out": lambda m, *words: m.assert_words(m.out, words, m.outcome),
        "err": lambda m, *words: m.assert_words(m.err, words, m.outcome),
        "calls": lambda m, *words: m.assert_words(m.calls, words, m.outcome),
        "no-err": lambda m, word: m.assertNotIn(word, m.err),
        "no-calls": lambda m, word: m.assertNotIn(word, m.calls),
        "out-begins": lambda m, text: m.assertTrue(m.out.startswith(text), m.outcome),
        "out-is": lambda m, text: m.assertEqual((m.out, m.err), (text, "")),
        "calls-are": lambda m, text: m.assertEqual(m.calls, text),
        "calls-match": lambda m, pattern: m.assertRegex(m.calls, pattern),
        "calls-end": lambda m, text: m.assertTrue(m.calls.endswith(text), m.calls),
        "calls-count": lambda m, number, text: m.assertEqual(m.calls.count(text), int(number), m.calls),
        "typed": lambda m, *words: m.assert_words(m.typed, words, m.outcome),
        "file": lambda m, name, text: m.assertIn(text, m.read(name)),
        "folder": lambda m, name, *names: m.assertEqual(set(names), set(os.listdir(m.path(name)))),
    }

    def do_run(self, code, *arguments):
        self.write("log", "")
        script, *options = self.SCRIPT
        program = self.path("scripts", script)
        self.outcome = self.run_program(*options, *arguments, program=program, environment=self.environment)
        self.assertEqual(self.outcome.code, int(code), self.outcome)
        self.out, self.err, self.calls = self.outcome.out, self.outcome.err, self.read("log")

    def do_calls_in_order(self, *words):
        places = [self.calls.index(word) for word in words]
        self.assertEqual(places, sorted(places), self.calls)

    def do_one_command(self, *words):
        self.assert_words(self.err, (*words, "--no-cuda"), self.outcome)
        self.assertNotRegex(self.calls, "cmake| -y ")
        (self.typed,) = [line for line in self.err.splitlines() if line.startswith("    ")]
        self.assertEqual(["&&", self.path("scripts", "quickstart.sh")], shlex.split(self.typed)[-2:], self.outcome)


@with_cases
class Quickstart(Machine):
    def test_place_with_a_blank(self):
        """Whatever is printed for typing is quoted."""
        self.do_gpus("nvidia 0000:06:00.0")
        for name in ("scripts", "build"):
            shutil.copytree(self.path(name), self.path("a place", name))
        program = self.path("a place", "scripts", "quickstart.sh")
        outcome = self.run_program(program=program, environment={"PATH": self.bin})
        typed = [line for line in outcome.out.splitlines() if line.startswith("    ")]
        self.assertEqual([program, "--mode", "pinned", "--size", "1G", "--backend", "host"], shlex.split(typed[-1]))


@with_cases
class NoRoot(Machine):
    """quickstart.sh --no-root, where a compiler and cmake are there."""

    SCRIPT = ("quickstart.sh", "--no-root")

    def setUp(self):
        if not re.fullmatch(r"[A-Za-z0-9/_.+@~-]+", tempfile.gettempdir()):  # what unpack-deps.sh refuses
            self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = "/tmp"
        super().setUp()
        self.write("CMakeLists.txt", "project(xferbench VERSION 1.2.3 LANGUAGES C\n")
        self.do_no_root()
        self.do_downloads("pkg-config", "apt-get", "dpkg-deb")


@with_cases
class InstallDeps(Machine):
    """install-deps.sh --test, where all that is needed is there."""

    SCRIPT = ("install-deps.sh", "--test")

    def setUp(self):
        super().setUp()
        for name in FOR_TESTS:
            self.write_program(os.path.join("bin", name), "")
        self.stand_in("locale", "echo de_DE.utf8\n")


class FindGpus(Building):
    def add_card(self, address, vendor, device_class):
        folder = self.path("sys", "bus", "pci", "devices", address)
        os.makedirs(folder)
        for name, text in (("vendor", vendor), ("class", device_class)):
            self.write(os.path.join(folder, name), text + "\n")

    def add_node(self, name):
        os.makedirs(self.path("dev"), exist_ok=True)
        self.write(os.path.join("dev", name), "")

    def bind(self, node, *names):
        """By a short name, whatever TMPDIR is: the name of a socket has at most 107 characters."""
        folder = os.open(self.path(*names[:-1]), os.O_RDONLY)
        try:
            node.bind(f"/proc/self/fd/{folder}/{names[-1]}")
        finally:
            os.close(folder)

    def assert_found(self, *lines):
        outcome = self.assert_succeeds(self.folder, program=os.path.join(SCRIPTS, "find-gpus.sh"))
        self.assertEqual(list(lines), outcome.out.splitlines())

    def test_none(self):
        self.add_card("0000:00:02.0", "0x8086", "0x030000")
        self.add_card("0000:00:03.0", "0x1002", "0x060400")  # a bridge
        self.add_card("0000:01:00.1", "0x10de", "0x040300")  # a GPU's sound
        self.assert_found()

    def test_no_machine(self):
        self.assert_found()

    def test_cards(self):
        self.add_card("0000:06:00.0", "0x10de", "0x030200")
        self.add_card("0000:c1:00.0", "0x1002", "0x120000")
        self.assert_found("nvidia 0000:06:00.0", "amd 0000:c1:00.0")

    def test_node_without_a_driver(self):
        """CUDA's library, run by root, makes one. A socket, too, is there and cannot be opened."""
        os.mkdir(self.path("dev"))
        with socket.socket(socket.AF_UNIX) as node:
            self.bind(node, "dev", "nvidiactl")
            self.assert_found()
            self.add_card("0000:06:00.0", "0x10de", "0x030200")
            self.assert_found("nvidia 0000:06:00.0")

    def test_drivers(self):
        """Also where a container hides the cards."""
        self.add_node("nvidiactl")
        self.add_node("kfd")
        self.assert_found("nvidia driver", "amd driver")


if __name__ == "__main__":
    harness.main()
