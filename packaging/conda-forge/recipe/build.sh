#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

cuda=OFF
if [ "${cuda_compiler_version:-None}" != None ]; then
    cuda=ON
fi
# CMAKE_ARGS is conda's: where to install, and which compilers.
# shellcheck disable=SC2086
cmake -S . -B build -G Ninja $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_HIP=OFF
cmake --build build --parallel "$CPU_COUNT"
cmake --install build
