#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes the readers of files, the decoders, and the writers of pictures and reports, on a copy of their
# corpus: what it finds is for who looks for more to keep, see tests/fuzz/README.md. XFERBENCH_FUZZ_SECONDS
# in the environment says for how long, all together (20, the default), and XFERBENCH_CLANG with which
# clang (clang). It needs libFuzzer, which install-deps.sh --test installs. It is no part of test.sh, which runs
# the corpus itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${XFERBENCH_FUZZ_SECONDS:-20}
targets=(record decode plot report fleet profile)

# The sanitizers of clang 14 cannot place their shadow memory where a newer kernel randomises addresses
# with more bits. Containers may forbid to switch that off; most need not.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
fi

! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
cmake -S . -B build/fuzz -DXFERBENCH_TESTS=ON -DCMAKE_C_COMPILER="${XFERBENCH_CLANG:-clang}" -DXFERBENCH_FUZZ=ON \
    -DXFERBENCH_WERROR=ON -DXFERBENCH_CUDA=OFF -DXFERBENCH_HIP=OFF
cmake --build build/fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"
rm -rf build/fuzz/corpus build/fuzz/artifacts
mkdir build/fuzz/artifacts
cp -r tests/fuzz/corpus build/fuzz/corpus
# Each in two processes; they log to files in their folder.
root=$PWD
each=$((2 * ${#targets[@]}))
for name in "${targets[@]}"; do
    dictionary=()
    [ ! -e "tests/fuzz/$name.dict" ] || dictionary=("-dict=$root/tests/fuzz/$name.dict")
    (cd build/fuzz && exec "${fixed_addresses[@]}" "tests/fuzz_$name" "${dictionary[@]}" \
        -jobs=2 -workers=2 -max_total_time="$(((seconds + each - 1) / each))" -rss_limit_mb=1024 -timeout=10 \
        -max_len=65536 -artifact_prefix=artifacts/ -print_final_stats=1 "corpus/$name") || {
        for file in build/fuzz/artifacts/*; do
            echo "The input of fuzz_$name, in base64; $file:"
            base64 "$file"
        done
        exit 1
    }
done
