#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What configuring says where something is missing or does not work.
usage: test_configure.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))

import harness
from building import CMAKE, Building, find_program, read_cache

NO_HIP = "-DXFERBENCH_HIP=OFF"
NO_GPU = (NO_HIP, "-DXFERBENCH_CUDA=OFF")
# What xferbench can do without: library, packages of Debian and of Fedora.
OPTIONAL = (
    ("hwloc", "libhwloc-dev", "hwloc-devel"),
    ("liblz4", "liblz4-dev", "lz4-devel"),
    ("liburing", "liburing-dev", "liburing-devel"),
    ("libsqlite3", "libsqlite3-dev", "sqlite-devel"),
    ("zlib", "zlib1g-dev", "zlib-devel"),
)


class Nvcc(Building):
    """An nvcc that does not work is left out by AUTO, with the reason, and ends ON."""

    def assert_left_out(self, nvcc, reason):
        """By AUTO."""
        nvcc = self.write_program("nvcc", nvcc)
        outcome = self.assert_configures(f"-DXFERBENCH_NVCC={nvcc}", NO_HIP)
        self.assertIn(f"cuda   left out: {nvcc} {reason}", outcome.out, outcome)
        # The program tells it too: `xferbench list`.
        registry = self.read("build", "xferbench_registry.c")
        self.assertIn(f"{nvcc} {reason}", registry)
        self.assert_compiles(os.path.join("build", "xferbench_registry.c"))

    def assert_compiles(self, name):
        folders = [f"-I{os.path.join(harness.SOURCE, folder)}" for folder in ("include", "src")]
        compiler = read_cache("CMAKE_C_COMPILER")
        subprocess.run([compiler, "-std=c11", "-Werror", "-fsyntax-only", *folders, self.path(name)], check=True)

    def test_left_out(self):
        """There is always a reason. One host compiler is as Debian's says it where only clang is installed; and
        signs that would end a string of C."""
        for nvcc, reason in (
            ("echo 'nvcc: Permission denied' >&2\nexit 1\n", "does not tell its release: nvcc: "),
            ("exit 4\n", "does not tell its release: it prints nothing, exit code 4"),
            ("echo 'release 12.4'\n[ $1 = --version ] || echo sm_50\n", "knows no GPU from sm_75 up"),
            (
                """case $1 in
--version) echo 'Cuda compilation tools, release 11.8, V11.8.89' ;;
--list-gpu-code) echo sm_90 ;;
*)
    echo 'kernels.cu: note' >&2
    printf 'ERROR: No supported "gcc" \\\\ host; compiler found\\n' >&2
    echo '       Use another.' >&2
    exit 1
    ;;
esac
""",
                "did not compile our kernels: ERROR: No supported 'gcc' ' host' compiler found",
            ),
        ):
            with self.subTest(reason):
                self.assert_left_out(nvcc, reason)

    def test_too_old(self):
        reason = "is of CUDA 11.5, and xferbench needs 11.8 or later"
        self.assert_left_out("echo 'Cuda compilation tools, release 11.5, V11.5.119'\n", reason)
        self.assert_does_not_configure(("XFERBENCH_CUDA=ON, but", *reason.split()), "-DXFERBENCH_CUDA=ON")

    def test_not_executable(self):
        nvcc = self.write("nvcc", "")
        outcome = self.assert_configures(f"-DXFERBENCH_NVCC={nvcc}", NO_HIP)
        self.assertRegex(outcome.out, r"does not tell its release: it prints nothing, \w+ \w+")

    def test_removed(self):
        """Another is looked for, and nothing of the old one's toolkit is kept."""
        os.mkdir(self.path("cuda"))
        nvcc = self.write_program(os.path.join("cuda", "nvcc"), "echo 'release 11.5'\n")
        library = self.path("cuda", "libcudart.so")
        known = (f"-DXFERBENCH_NVCC={nvcc}", f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCUDA_CUDART={library}")
        self.assert_configures(*known, NO_HIP)
        os.remove(nvcc)
        outcome = self.assert_configures()
        self.assertIn(f"{nvcc} is gone", outcome.out, outcome)
        self.assertNotIn(self.path("cuda"), self.read("build", "CMakeCache.txt"))

    def test_mended(self):
        """What did not work is tried again, in the same folder."""
        old = self.write_program("nvcc", "echo 'release 11.5'\n")
        self.assert_configures(f"-DXFERBENCH_NVCC={old}", NO_HIP)
        self.write_program("nvcc", "echo 'release 12.4'\n")
        outcome = self.assert_configures()
        self.assertIn("knows no GPU from sm_75 up", outcome.out, outcome)


    def test_host_compiler_changes(self):
        """An nvcc that worked is tried again, because what it compiles with may be gone. How the first
        attempt ends does not matter: CMake may not take this stand-in for a compiler."""
        self.write("compiles", "")
        nvcc = self.write_program(
            "nvcc",
            f"""case $1 in
--version) echo 'release 12.4' ;;
--list-gpu-code) echo sm_90 ;;
*) cat {shlex.quote(self.path("compiles"))} ;;
esac
""",
        )
        outcome = self.configure(f"-DXFERBENCH_NVCC={nvcc}", NO_HIP)
        self.assertNotIn("did not compile our kernels", outcome.out, outcome)
        os.remove(self.path("compiles"))
        outcome = self.assert_configures()
        self.assertIn("did not compile our kernels", outcome.out, outcome)


class RealNvcc(Building):
    """With a CUDA Toolkit that works here our backend builds: AUTO would leave it out without a failure."""

    def find_nvcc(self):
        """One that compiles what is not ours."""
        if harness.built_in()["cuda"]:
            self.skipTest("that our backend builds, this build has shown")
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.access(nvcc, os.X_OK):
            self.skipTest("there is no nvcc")
        kernel = self.write("kernel.cu", "#include <cuda_runtime.h>\n__global__ void nothing() {}\n")
        outcome = self.run_program("-std=c++17", "-c", kernel, "-o", self.path("kernel.o"), program=nvcc)
        if outcome.code != 0:
            self.skipTest(f"{nvcc} compiles nothing here")
        release = self.run_program("--version", program=nvcc)
        found = re.search(r"release (\d+)\.(\d+)", release.out)
        if found is None or (int(found[1]), int(found[2])) < (11, 8):
            self.skipTest(f"{nvcc} is too old")
        return nvcc

    def test_backend(self):
        """Configuring compiles the backend's C; its kernels are compiled by what the build says."""
        nvcc = self.find_nvcc()
        outcome = self.assert_configures(
            f"-DXFERBENCH_NVCC={nvcc}", "-DXFERBENCH_CUDA=ON", "-DXFERBENCH_CUDA_ARCHITECTURES=80", NO_HIP
        )
        self.assertIn("cuda   built in", outcome.out, outcome)
        self.assert_succeeds("--build", self.path("build"), "--target", "xferbench_cuda_kernels", program=CMAKE)


class HipHeaders(Building):
    """They are looked at every time."""

    def test_changed(self):
        os.makedirs(self.path("rocm", "hip"))
        self.write(os.path.join("rocm", "hip", "hiprtc.h"), "")
        header = os.path.join("rocm", "hip", "hip_runtime_api.h")
        names = "hipDeviceAttributeIsLargeBar, hipDeviceAttributeMemoryPoolsSupported"
        self.write(header, f"typedef int hipUUID;\nenum {{ {names} }};\n")
        place = self.path("rocm")
        outcome = self.assert_configures(f"-DXFERBENCH_HIP_INCLUDE={place}", "-DXFERBENCH_CUDA=OFF")
        self.assertIn(f"built in: headers in {place};", outcome.out, outcome)
        self.write(header, "not C\n")
        outcome = self.assert_configures()
        self.assertIn(f"left out: the HIP headers in {place} did not compile", outcome.out, outcome)
        os.remove(self.path("rocm", "hip", "hiprtc.h"))
        outcome = self.assert_configures()
        self.assertNotRegex(outcome.out, rf"  hip .*{re.escape(place)}")


class Warnings(Building):
    """They are errors only with compilers of releases that .ci/run builds with."""

    def test_release_of_the_future(self):
        later = "-w -U__GNUC__ -D__GNUC__=99 -U__clang_major__ -D__clang_major__=99"
        compiler = self.write_program("cc", f'exec {shlex.quote(read_cache("CMAKE_C_COMPILER"))} {later} "$@"\n')
        outcome = self.assert_configures(f"-DCMAKE_C_COMPILER={compiler}", "-DXFERBENCH_WERROR=ON", *NO_GPU)
        self.assertRegex(outcome.out, r"Warnings are no errors in this build: \.ci/run does not build with \w+ 99\n")
        self.assertNotIn("-Werror", self.read("build", "compile_commands.json"))


class Missing(Building):
    """What is missing is named with its package and the script that installs it."""

    def without(self, *modules):
        """A pkg-config that does not know some libraries."""
        real = find_program("pkg-config")
        known = "|".join(module + "*" for module in modules)
        text = f'for word; do case $word in {known}) exit 1 ;; esac; done\nexec {real} "$@"\n'
        return f"-DPKG_CONFIG_EXECUTABLE={self.write_program('pkg-config', text)}"

    def test_needed_library(self):
        words = ("Install libcjson-dev (Fedora: cjson-devel)", "scripts/install-deps.sh, which installs everything missing.")
        self.assert_does_not_configure(words, self.without("libcjson"), *NO_GPU)

    def test_optional_libraries(self):
        """Are left out, with their packages' names; ON makes an error of that, and nothing is said of what is OFF."""
        without = self.without("hwloc", "liblz4", "liburing", "sqlite3", "zlib")
        outcome = self.assert_configures(without, *NO_GPU)
        for name, debian, fedora in OPTIONAL:
            self.assertRegex(outcome.out, rf"Left out: {name} .*To have it, install {debian} \(Fedora: {fedora}\)")
            self.assertRegex(outcome.out, rf"\n   left out: {name}: \w+")
        self.assertRegex(outcome.out, r"\n   shared libcjson\n")
        words = ("XFERBENCH_HWLOC=ON, but hwloc 2.0 or later was not found. Install libhwloc-dev",)
        self.assert_does_not_configure(words, "-DXFERBENCH_HWLOC=ON")
        self.assert_does_not_configure(("XFERBENCH_LZ4=MAYBE: it takes",), "-DXFERBENCH_LZ4=maybe", "-DXFERBENCH_HWLOC=OFF")
        outcome = self.assert_configures("-DXFERBENCH_LZ4=off", *(f"-DXFERBENCH_{name}=OFF" for name in ("URING", "SQLITE", "ZLIB")))
        self.assertNotIn("To have it", outcome.out)
        self.assertIn("\n   left out: hwloc: ", outcome.out)

    def test_tests(self):
        """What the tests need stops only them, also in a folder in which they were wanted before."""
        words = ("Install libcmocka-dev", "scripts/install-deps.sh --test", "-DXFERBENCH_TESTS=OFF")
        without = self.without("cmocka")
        self.assert_does_not_configure(words, "-DXFERBENCH_TESTS=ON", without, *NO_GPU)
        self.assert_does_not_configure(words)
        self.assert_configures("-DXFERBENCH_TESTS=OFF")


if __name__ == "__main__":
    harness.main()
