# SPDX-License-Identifier: Apache-2.0
"""A recipe for Spack 1.0 and later. From the root of the source tree, which it then builds:

    spack repo add packaging/spack/spack_repo/xferbench
    spack dev-build xferbench@0.1.0 +cuda cuda_arch=90
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Xferbench(CMakePackage, CudaPackage):
    """How fast data moves between a host and its GPUs, by every strategy that a program can choose, with
    every byte checked."""

    # scripts/release.sh sets both and sha256. `spack dev-build` needs none of them.
    homepage = "@HOMEPAGE@"
    url = "@SOURCES@/xferbench-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    # The kernels for AMD GPUs are compiled on the node, for the GPU that is there. So there is no
    # amdgpu_target, and nothing of ROCm but its headers and its runtime.
    variant("rocm", default=False, description="Build with the HIP backend, for AMD GPUs")

    requires("platform=linux", msg="xferbench reads what only Linux tells of a machine")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")  # nvcc's host compiler
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cjson")
    depends_on("hwloc@2:")
    depends_on("lz4")
    depends_on("liburing@2.2:")
    depends_on("sqlite@3.31:")
    depends_on("zlib-api")
    depends_on("cuda@11.8:", when="+cuda")
    depends_on("hip@5:", type=("build", "run"), when="+rocm")  # opened at run time, not linked

    for value in CudaPackage.cuda_arch_values:
        if int(value.rstrip("af")) < 75:
            conflicts(f"cuda_arch={value}", when="+cuda", msg="xferbench takes GPUs from 7.5 up")

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("XFERBENCH_CUDA", spec.satisfies("+cuda")),
            self.define("XFERBENCH_HIP", spec.satisfies("+rocm")),
        ]
        # Without, xferbench has code for all GPUs that this nvcc knows.
        if spec.satisfies("+cuda") and not spec.satisfies("cuda_arch=none"):
            args.append(self.define("XFERBENCH_CUDA_ARCHITECTURES", spec.variants["cuda_arch"].value))
        if spec.satisfies("+rocm"):
            args.append(self.define("XFERBENCH_HIP_INCLUDE", spec["hip"].prefix.include))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+rocm"):
            env.prepend_path("LD_LIBRARY_PATH", self.spec["hip"].prefix.lib)

    def test_host_backend(self):
        """copy within the host's memory, and check every byte"""
        xferbench = which(self.prefix.bin.xferbench)
        xferbench("--backend", "host", "--mode", "pinned", "--size", "1M")
