#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quickstart.sh does on machines with and without GPUs, toolkits and packages: the scripts as they
are, and stand-ins of what they call. usage: test_quickstart.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import shlex
import shutil
import socket
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import Building, find_program

SCRIPTS = os.path.join(harness.SOURCE, "scripts")
# What the scripts may call as it is. Nothing else is on PATH.
TOOLS = "bash cat chmod dirname env grep head mktemp nproc rm sed sort touch".split()
PRESENT = "cc g++ make pkg-config sudo".split()

APT_GET = """echo "apt-get $*" >>{log}
case "$*" in
*--assume-no*) echo 'Need to get 1,622 MB of archives.'; echo Abort.; exit 1 ;;
*' -s '*) echo 'Inst libcuda1 (535 Debian)' ;;
*' -y '*nvidia-cuda-toolkit*) touch {bin}/nvcc && chmod +x {bin}/nvcc ;;
esac
"""
APT_CACHE = """case "$*" in
'policy nvidia-cuda-toolkit') echo "  Candidate: {candidate}" ;;
policy*) echo '  Candidate: (none)' ;;
depends*) echo ' |Depends: g++-11'; echo '  Depends: clang-14' ;;
esac
"""
# The program: what it can always measure is the host.
XFERBENCH = """echo "xferbench $*" >>{log}
case "$*" in *'--backend host') exit 0 ;; esac
exit {code}
"""


class Quickstart(Building):
    def setUp(self):
        super().setUp()
        self.bin = self.path("bin")
        for folder in ("bin", "scripts", "build"):
            os.mkdir(self.path(folder))
        for name in ("quickstart.sh", "install-deps.sh"):
            shutil.copy(os.path.join(SCRIPTS, name), self.path("scripts"))
        self.move_away("/usr/local/cuda/bin", "/opt/rocm", "/usr/include/hip")
        for name in TOOLS:
            os.symlink(find_program(name), os.path.join(self.bin, name))
        for name in PRESENT:
            self.write_program(os.path.join("bin", name), "")
        self.stand_in("cmake", 'echo "cmake $*" >>{log}\n')
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", APT_GET)
        self.stand_in("dpkg-query", '[ "$1" = -W ] && echo installed\n')
        self.stand_in("dpkg", '[ "$2" != 11.5.1 ]\n')
        self.stand_in("ldconfig", "")
        self.with_toolkit("11.8.89")
        self.with_gpus()
        self.with_program(3)

    def move_away(self, *places):
        """Looked for in places of the test instead: the machine may have something in the real ones."""
        name = os.path.join("scripts", "install-deps.sh")
        text = self.read(name)
        for place in places:
            self.assertIn(place, text)
            text = text.replace(place, self.path("nowhere"))
        self.write(name, text)

    def stand_in(self, name, text, **values):
        text = text.format(log=shlex.quote(self.path("log")), bin=shlex.quote(self.bin), **values)
        self.write_program(os.path.join("bin", name), text)

    def with_toolkit(self, candidate):
        self.stand_in("apt-cache", APT_CACHE, candidate=candidate)

    def with_gpus(self, *lines):
        self.write_program(os.path.join("scripts", "find-gpus.sh"), "".join(f"echo '{line}'\n" for line in lines))

    def with_program(self, code):
        text = XFERBENCH.format(log=shlex.quote(self.path("log")), code=code)
        self.write_program(os.path.join("build", "xferbench"), text)

    def quickstart(self, code, *arguments):
        outcome = self.run_program(
            *arguments, program=self.path("scripts", "quickstart.sh"), environment={"PATH": self.bin}
        )
        self.assertEqual(outcome.code, code, outcome)
        outcome.calls = self.read("log") if os.path.exists(self.path("log")) else ""
        return outcome

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

    def assert_one_command(self, *words):
        """One line to type, which ends with this script; nothing was built."""
        outcome = self.quickstart(1)
        self.assertNotIn("cmake", outcome.calls)
        self.assertNotIn(" -y ", outcome.calls)
        typed = [line for line in outcome.err.splitlines() if line.startswith("    ")]
        self.assertEqual(1, len(typed), outcome)
        self.assertTrue(typed[0].endswith(f" && {self.path('scripts', 'quickstart.sh')}"), outcome)
        self.assert_words(outcome.err, (*words, "--no-cuda"), outcome)
        return typed[0]

    def test_no_toolkit_known(self):
        self.with_gpus("nvidia driver")
        self.with_toolkit("(none)")
        self.assertRegex(self.assert_one_command("in no repository"), "non-free|multiverse")

    def test_toolkit_too_old(self):
        self.with_gpus("nvidia driver")
        self.with_toolkit("11.5.1")
        self.assertIn("cuda-keyring", self.assert_one_command("11.5.1", "needs 11.8 or later"))

    def test_driver_from_elsewhere(self):
        """The distribution's toolkit would bring a driver's library of another release."""
        self.with_gpus("nvidia driver")
        self.stand_in("ldconfig", "printf '\\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/libcuda.so.1\\n'\n")
        self.assertIn("cuda-keyring", self.assert_one_command("put another beside it"))

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
