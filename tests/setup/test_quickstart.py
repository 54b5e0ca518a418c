#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quickstart.sh does on machines with and without GPUs, toolkits and packages: the scripts as they
are, and stand-ins of what they call. usage: test_quickstart.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

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


class Machine(Building):
    """One with Debian, root and no GPU."""

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
        self.with_system("debian", "12")
        for name in TOOLS:
            os.symlink(find_program(name), os.path.join(self.bin, name))
        for name in PRESENT:
            self.write_program(os.path.join("bin", name), "")
        self.stand_in("cmake", 'echo "cmake $*" >>{log}\n')
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", APT_GET)
        self.stand_in("dpkg-query", '[ "$1" = -W ] && echo installed\n')
        self.stand_in("ldconfig", "")
        self.with_packages({"nvidia-cuda-toolkit": "11.8.89~11.8.0-5"})
        self.with_gpus()
        self.with_program(3)

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

    def with_packages(self, candidates):
        """What apt-get could install."""
        known = (f"'policy {name}') echo '  Candidate: {release}' ;;" for name, release in candidates.items())
        self.stand_in("apt-cache", APT_CACHE, known="\n".join(known))

    def with_system(self, name, version):
        self.write("os-release", f'ID={name}\nVERSION_ID="{version}"\nPRETTY_NAME="{name} {version}"\n')

    def with_dnf(self, name, version):
        os.remove(os.path.join(self.bin, "apt-get"))
        self.stand_in("dnf", DNF)
        self.stand_in("rpm", "")
        self.with_system(name, version)

    def without_root(self):
        self.stand_in("id", "echo 1000\n")
        os.remove(os.path.join(self.bin, "sudo"))

    def with_gpus(self, *lines):
        self.write_program(os.path.join("scripts", "find-gpus.sh"), "".join(f"echo '{line}'\n" for line in lines))

    def with_program(self, code):
        text = XFERBENCH.format(log=shlex.quote(self.path("log")), code=code)
        self.write_program(os.path.join("build", "xferbench"), text)

    def script(self, name, code, *arguments, **environment):
        environment["PATH"] = self.bin
        outcome = self.run_program(*arguments, program=self.path("scripts", name), environment=environment)
        self.assertEqual(outcome.code, code, outcome)
        outcome.calls = self.read("log") if os.path.exists(self.path("log")) else ""
        return outcome


class Quickstart(Machine):
    def quickstart(self, code, *arguments):
        return self.script("quickstart.sh", code, *arguments)

    # ---- no GPU ----

    def test_no_gpu(self):
        """The host is measured, and said to be."""
        outcome = self.quickstart(0)
        self.assertNotIn("apt-get", outcome.calls)
        self.assertIn("xferbench --mode pinned --size 1G\n", outcome.calls)
        self.assertIn("xferbench --mode pinned --size 1G --backend host\n", outcome.calls)
        self.assertIn("Measuring on the host instead", outcome.out)

    def test_tests_are_not_built(self):
        """Somebody may have wanted them in the same folder, and they need more packages."""
        self.assertIn("-DXFERBENCH_TESTS=OFF", self.quickstart(0).calls)

    def test_arguments(self):
        """They are run as they are, and nothing is measured in their place."""
        outcome = self.quickstart(3, "--mode", "peer")
        self.assertTrue(outcome.calls.endswith("\nxferbench --mode peer\n"), outcome.calls)
        self.assertEqual(1, outcome.calls.count("\nxferbench "), outcome.calls)

    def test_help(self):
        """Touches nothing."""
        for arguments in (("--help",), ("--no-cuda", "-h"), ("list", "--help")):
            outcome = self.quickstart(0, *arguments)
            self.assertTrue(outcome.out.startswith("usage: quickstart.sh"), outcome)
            self.assertEqual("", outcome.calls)

    def test_finding_gpus_fails(self):
        """That is not the same as no GPU."""
        self.write_program(os.path.join("scripts", "find-gpus.sh"), "exit 3\n")
        self.assertEqual("", self.quickstart(1).calls)

    def test_backends_are_said(self):
        """The folder may have been configured without them before."""
        for arguments, cuda, hip in (
            ((), "AUTO", "AUTO"),
            (("--no-cuda",), "OFF", "AUTO"),
            (("--no-hip",), "AUTO", "OFF"),
        ):
            calls = self.quickstart(0, *arguments).calls
            self.assertIn(f"-DXFERBENCH_CUDA={cuda} -DXFERBENCH_HIP={hip} -DCMAKE_INSTALL_RPATH=\n", calls)
            os.remove(self.path("log"))

    # ---- a GPU and no toolkit ----

    def test_toolkit_is_installed(self):
        self.with_gpus("nvidia driver")
        self.with_program(0)
        outcome = self.quickstart(0)
        self.assert_words(outcome.out, ("nvidia-cuda-toolkit", "Need to get 1,622 MB"), outcome)
        install = "apt-get install --no-install-recommends -y nvidia-cuda-toolkit g++-11\n"
        self.assertIn(install, outcome.calls)
        self.assertLess(outcome.calls.index("--assume-no"), outcome.calls.index(install))
        self.assertLess(outcome.calls.index(install), outcome.calls.index("cmake"))

    def test_no_gpu_needed(self):
        """Then no toolkit is."""
        self.with_gpus("nvidia driver", "amd driver")
        self.with_program(0)
        for arguments in (
            ("--backend", "host"),
            ("--mode", "pinned", "--backend=host"),
            ("-b", "host"),
            ("help", "pinned"),
            ("compare", "old.json", "new.json"),
        ):
            self.assertNotIn("apt-get", self.quickstart(0, *arguments).calls)

    def test_toolkit_without_nvcc(self):
        self.with_gpus("nvidia driver")
        self.stand_in("apt-get", 'echo "apt-get $*" >>{log}\n')
        outcome = self.quickstart(1)
        self.assert_words(outcome.err, ("nvidia-cuda-toolkit g++-11 is installed", "no nvcc", "--no-cuda"), outcome)
        self.assertNotIn("cmake", outcome.calls)

    def test_toolkit_of_the_driver(self):
        """One that the driver runs, NVIDIA's first."""
        everything = {
            "cuda-toolkit": "13.0.2-1",
            "cuda-toolkit-12": "12.9.1-1",
            "cuda-toolkit-11-8": "11.8.0-1",
            "nvidia-cuda-toolkit": "12.4.131~12.4.1-2",
        }
        no_nvidia = {"nvidia-cuda-toolkit": "12.4.131~12.4.1-2"}
        for driver, candidates, package in (
            ("580.65.06", everything, "cuda-toolkit"),
            ("575.57.08", everything, "cuda-toolkit-12"),
            ("525.60.13", no_nvidia, "nvidia-cuda-toolkit"),
            ("450.80.02", everything, "cuda-toolkit-11-8"),
        ):
            with self.subTest(driver=driver):
                self.prepare(driver, candidates)
                self.assertRegex(self.quickstart(0).calls, rf"apt-get install \S+ -y {package}( g\+\+-11)?\n")

    def test_no_toolkit_of_the_driver(self):
        """Nothing is downloaded then."""
        nvidia = {"cuda-toolkit": "13.0.2-1"}
        debian = {"nvidia-cuda-toolkit": "12.4.131~12.4.1-2"}
        for driver, candidates, words in (
            ("535.104.05", nvidia, ("cuda-toolkit 13.0.2", "535.104.05, runs CUDA 12 at most")),
            ("470.256.02", debian, ("nvidia-cuda-toolkit 12.4.131", "CUDA 11 at most", "cuda-keyring")),
            ("390.157", debian, ("390.157", "needs 450.80.02 or later")),
        ):
            with self.subTest(driver=driver):
                self.prepare(driver, candidates)
                outcome = self.quickstart(1)
                self.assert_words(outcome.err, (*words, "--no-cuda"), outcome)
                self.assertNotIn("apt-get install", outcome.calls)

    def prepare(self, driver, candidates):
        """A machine with that driver on which nothing was installed yet."""
        for name in ("bin/nvcc", "log"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        self.with_gpus("nvidia driver")
        self.with_program(0)
        self.write("driver", driver + "\n")
        self.with_packages(candidates)

    def test_toolkit_is_there(self):
        self.with_gpus("nvidia driver")
        self.stand_in("nvcc", "")
        self.with_program(0)
        self.assertNotIn("apt-get", self.quickstart(0).calls)

    def test_hip_is_installed(self):
        self.with_gpus("amd driver")
        self.with_program(0)
        self.assertIn("apt-get install --no-install-recommends -y libamdhip64-dev\n", self.quickstart(0).calls)

    def test_left_out(self):
        """The host is measured where that is what was asked for."""
        self.with_gpus("nvidia driver", "amd driver")
        outcome = self.quickstart(0, "--no-cuda", "--no-hip")
        self.assertNotIn("apt-get", outcome.calls)
        self.assertIn("--backend host", outcome.calls)

    def test_left_out_behind_arguments(self):
        self.with_gpus("nvidia driver")
        outcome = self.quickstart(3, "--mode", "pinned", "--no-cuda")
        self.assertNotIn("apt-get", outcome.calls)
        self.assertTrue(outcome.calls.endswith("\nxferbench --mode pinned\n"), outcome.calls)

    def assert_one_command(self, *words):
        """One line to type, which ends with this script; nothing was built."""
        outcome = self.quickstart(1)
        self.assertNotIn("cmake", outcome.calls)
        self.assertNotIn(" -y ", outcome.calls)
        typed = [line for line in outcome.err.splitlines() if line.startswith("    ")]
        self.assertEqual(1, len(typed), outcome)
        self.assertEqual(["&&", self.path("scripts", "quickstart.sh")], shlex.split(typed[0])[-2:], outcome)
        self.assert_words(outcome.err, (*words, "--no-cuda"), outcome)
        return typed[0]

    def test_no_toolkit_known(self):
        self.with_gpus("nvidia driver")
        self.with_packages({})
        self.assertIn("non-free", self.assert_one_command("in no repository"))
        self.with_system("ubuntu", "24.04")
        self.assertIn(
            "apt-get install -y software-properties-common && add-apt-repository -y multiverse",
            self.assert_one_command("in no repository"),
        )

    def test_toolkit_too_old(self):
        self.with_gpus("nvidia driver")
        self.with_packages({"nvidia-cuda-toolkit": "11.5.1"})
        typed = self.assert_one_command("11.5.1", "needs 11.8 or later")
        # A small installation has no curl.
        self.assertIn("apt-get update && apt-get install -y curl ca-certificates && curl -fLO ", typed)
        self.assertIn("/debian12/x86_64/cuda-keyring", typed)

    def test_driver_from_elsewhere(self):
        """The distribution's toolkit would bring a driver's library of another release."""
        self.with_gpus("nvidia driver")
        self.stand_in("ldconfig", "printf '\\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/libcuda.so.1\\n'\n")
        self.assertIn("cuda-keyring", self.assert_one_command("put another beside it"))
        # Nor is it to be typed where there is no root.
        self.without_root()
        self.assertIn("cuda-keyring", self.assert_one_command("put another beside it", "let root type this"))

    def test_system_not_known(self):
        """A name made of a derived distribution's would be of nothing."""
        self.with_gpus("nvidia driver")
        self.with_system("linuxmint", "22")
        for candidates in ({}, {"nvidia-cuda-toolkit": "11.5.1"}):
            self.with_packages(candidates)
            outcome = self.quickstart(1)
            self.assert_words(outcome.err, ("does not know which repository", "linuxmint 22", "--no-cuda"), outcome)
            self.assertNotIn("    ", outcome.err)

    def test_no_root(self):
        """What root is to type is whole."""
        self.with_gpus("nvidia driver")
        self.without_root()
        outcome = self.quickstart(1)
        words = "\n    apt-get update && apt-get install --no-install-recommends nvidia-cuda-toolkit g++-11\n"
        self.assertIn(words, outcome.err)
        self.assertNotIn("apt-get", outcome.calls.replace("apt-get install --no-install-recommends -s", ""))

    def test_dnf(self):
        """There the toolkit is always NVIDIA's."""
        self.with_gpus("nvidia driver")
        self.with_dnf("fedora", "42")
        self.assertIn("/repos/fedora42/x86_64/cuda-fedora42.repo", self.assert_one_command("in no repository"))
        self.with_system("rocky", "9.5")
        self.without_root()
        self.assertIn("/repos/rhel9/x86_64/cuda-rhel9.repo", self.assert_one_command("in no repository"))
        self.with_system("mageia", "9")
        self.assertIn("does not know which repository", self.quickstart(1).err)

    def test_dnf_installs(self):
        self.with_gpus("nvidia driver")
        self.with_program(0)
        self.with_dnf("fedora", "42")
        answers = (
            "*info*cuda-toolkit-12*) echo 'Version         : 12.9.1' ;;",
            "*info*cuda-toolkit*) echo 'Version         : 13.0.2' ;;",
            "*info*",
        )
        self.stand_in("dnf", DNF.replace("*info*", "\n".join(answers)))
        self.write("driver", "570.86.10\n")
        outcome = self.quickstart(0)
        self.assertIn("dnf install --setopt=install_weak_deps=False --assumeno cuda-toolkit-12\n", outcome.calls)
        self.assertIn("dnf install --setopt=install_weak_deps=False -y cuda-toolkit-12\n", outcome.calls)

    # ---- a GPU that cannot be tested ----

    def test_gpu_fails(self):
        """Nothing else is measured in its place."""
        for gpu, words in (
            ("nvidia driver", "NVIDIA, with a driver"),
            ("nvidia 0000:06:00.0", "NVIDIA at 0000:06:00.0, but the kernel has no driver for it"),
            ("amd 0000:c1:00.0", "AMD at 0000:c1:00.0, but the kernel has no driver for it"),
        ):
            with self.subTest(gpu):
                self.with_gpus(gpu)
                outcome = self.quickstart(3)
                self.assert_words(outcome.out, (words, "--mode pinned --size 1G --backend host"), outcome)
                self.assertNotIn("--backend host", outcome.calls)


    def test_place_with_a_blank(self):
        """Whatever is printed for typing is quoted."""
        self.with_gpus("nvidia 0000:06:00.0")
        for name in ("scripts", "build"):
            shutil.copytree(self.path(name), self.path("a place", name))
        program = self.path("a place", "scripts", "quickstart.sh")
        outcome = self.run_program(program=program, environment={"PATH": self.bin})
        typed = [line for line in outcome.out.splitlines() if line.startswith("    ")]
        self.assertEqual([program, "--mode", "pinned", "--size", "1G", "--backend", "host"], shlex.split(typed[-1]))


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


class NoRoot(Machine):
    """quickstart.sh --no-root, where a compiler and cmake are there."""

    def setUp(self):
        if not re.fullmatch(r"[A-Za-z0-9/_.+@~-]+", tempfile.gettempdir()):  # what unpack-deps.sh refuses
            self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = "/tmp"
        super().setUp()
        self.write("CMakeLists.txt", "project(xferbench VERSION 1.2.3 LANGUAGES C\n")
        self.without_root()
        self.with_downloads("nothing")

    def with_downloads(self, fails, names=("pkg-config", "apt-get", "dpkg-deb")):
        for name in names:
            self.stand_in(name, DOWNLOADING[name], fails=fails)

    def quickstart(self, code, *arguments):
        return self.script("quickstart.sh", code, "--no-root", *arguments)

    def test_unpacks(self):
        """And does so once. The program is told where its libraries are."""
        outcome = self.quickstart(0)
        self.assertIn("Missing here: libcjson-dev libhwloc-dev liblz4-dev liburing-dev libsqlite3-dev zlib1g-dev\n", outcome.out)
        self.assertEqual(7, outcome.calls.count("apt-get "))
        for call in outcome.calls.splitlines():
            if call.startswith("apt-get "):
                self.assertRegex(call, rf"Dir::State::Lists={self.path('build', 'deps')}/\S+/lists .*(update|--download-only)")
        deps = self.path("build", "deps", "usr")
        self.assertIn(f"-DCMAKE_INSTALL_RPATH={deps}/lib", outcome.calls)
        self.assertIn(f"prefix={deps}\n", self.read(os.path.join(deps, "lib", "pkgconfig", "hwloc.pc")))
        self.assertEqual({"environment", "usr"}, set(os.listdir(self.path("build", "deps"))))
        self.assertEqual(outcome.calls.count("apt-get "), self.quickstart(0).calls.count("apt-get "))

    def test_only_what_is_needed(self):
        """The others are left out with a line each."""
        self.with_downloads("*hwloc*|*lz4*|*uring*|*sqlite*|*zlib*")
        outcome = self.quickstart(0)
        for name in ("libhwloc-dev", "liblz4-dev", "liburing-dev", "libsqlite3-dev", "zlib1g-dev"):
            self.assertIn(f"Left out: {name} could not be downloaded: E: Unable to fetch it\n", outcome.out)

    def test_not_to_be_had(self):
        """The bundle is named, and nothing is built."""
        self.with_downloads("*")
        outcome = self.quickstart(1)
        words = ("needs cJSON", f"unpack xferbench-1.2.3-{os.uname().machine}.tar.gz", "scripts/package.sh")
        self.assert_words(outcome.err, words, outcome)
        self.assertNotIn("cmake ", outcome.calls)

    def test_no_package_manager(self):
        os.remove(os.path.join(self.bin, "apt-get"))
        outcome = self.quickstart(1)
        self.assertIn("Missing here: libcjson-dev (Fedora: cjson-devel) libhwloc-dev (Fedora: hwloc-devel)", outcome.out)

    def test_no_compiler(self):
        for name in ("cc", "make"):
            os.remove(os.path.join(self.bin, name))
        self.assertIn("building needs a C compiler (cc), make or ninja;", self.quickstart(1).err)

    def test_dnf(self):
        self.with_dnf("fedora", "42")
        self.with_downloads("nothing", ("dnf", "rpm2cpio", "cpio"))
        outcome = self.quickstart(0)
        self.assertRegex(outcome.calls, r"dnf download -q --resolve --destdir \S+ cjson-devel\n")
        self.assertIn(f"-DCMAKE_INSTALL_RPATH={self.path('build', 'deps', 'usr', 'lib64')}", outcome.calls)


class InstallDeps(Machine):
    """install-deps.sh --test, where all that is needed is there."""

    def setUp(self):
        super().setUp()
        for name in FOR_TESTS:
            self.write_program(os.path.join("bin", name), "")
        self.stand_in("locale", "echo de_DE.utf8\n")

    def test_nothing_is_missing(self):
        self.move_away(self.path("nowhere", "include"), to="rocm")
        os.makedirs(self.path("rocm", "hip"))
        self.write(os.path.join("rocm", "hip", "hiprtc.h"), "")
        outcome = self.script("install-deps.sh", 0, "--test")
        self.assertEqual(("", "", ""), (outcome.out, outcome.err, outcome.calls))

    def test_optional_unknown(self):
        """A line of text, and no reason to call the package manager, with root or without."""
        line = "Left out: libamdhip64-dev is in no repository of this system\n"
        for prepare in (lambda: None, self.without_root):
            prepare()
            outcome = self.script("install-deps.sh", 0, "--test")
            self.assertEqual((line, "", ""), (outcome.out, outcome.err, outcome.calls))

    def test_optional_known(self):
        self.with_packages({"libamdhip64-dev": "5.2.3"})
        outcome = self.script("install-deps.sh", 0, "--test")
        self.assertEqual("apt-get install --no-install-recommends -y libamdhip64-dev\n", outcome.calls)

    def test_optional_fails(self):
        self.with_packages({"libamdhip64-dev": "5.2.3"})
        self.stand_in("apt-get", "exit 100\n")
        for prepare in (lambda: None, self.without_root):
            prepare()
            outcome = self.script("install-deps.sh", 0, "--test")
            self.assertEqual("Left out: libamdhip64-dev could not be installed\n", outcome.out)

    def test_needed(self):
        """Is not done without."""
        os.remove(os.path.join(self.bin, "tar"))
        self.without_root()
        outcome = self.script("install-deps.sh", 1, "--test")
        self.assertIn("    apt-get update && apt-get install --no-install-recommends tar\n", outcome.err)

    def test_another_clang(self):
        """Who asks for one gets it, or an error: it is not left out."""
        self.without_root()
        outcome = self.script("install-deps.sh", 1, "--test", XFERBENCH_CLANG="clang-19")
        command = "apt-get update && apt-get install --no-install-recommends clang-19 libclang-rt-19-dev\n"
        self.assertIn(f"    {command}", outcome.err)

    def test_many_locales(self):
        """The search for one reads to the end, or their list would end as a failure."""
        self.stand_in("locale", "for n in 1 2 3 4 5 6 7 8 9; do echo de_DE.utf8; printf '%99999s\\n' x; done\n")
        self.write_program(os.path.join("bin", "localedef"), "exit 1\n")
        self.script("install-deps.sh", 0, "--test")


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
