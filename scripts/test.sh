#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, then builds and runs every check and test that needs no GPU. Ends with
# ctest's summary. XFERBENCH_CUDA and XFERBENCH_HIP=ON|OFF|AUTO in the environment say whether those
# backends are to be built (AUTO, the default: where nvcc is found, where HIP's headers are), and
# XFERBENCH_FUZZ_SECONDS how long the reader of result files, the decoders and the writer of pictures
# are fuzzed, together (20, the default; 0: not at all).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
cuda=${XFERBENCH_CUDA:-AUTO}
hip=${XFERBENCH_HIP:-AUTO}
jobs=$(nproc)

step=start
report_failure() {
    [ "$1" -eq 0 ] || echo "test.sh: failed in step: $step" >&2
}
trap 'report_failure $?' EXIT
begin() {
    step=$1
    printf '\n== %s (%d s since the start)\n' "$step" "$SECONDS"
}

# build FOLDER TARGET CMAKE-OPTION...
build() {
    local folder=$1 target=$2
    shift 2
    cmake -S . -B "$folder" -DXFERBENCH_TESTS=ON "$@"
    cmake --build "$folder" --parallel "$jobs" --target "$target"
}

# run_tests FOLDER CTEST-OPTION...: three at a time for each CPU, because many wait for something.
run_tests() {
    local folder=$1
    shift
    "${fixed_addresses[@]}" ctest --test-dir "$folder" --output-on-failure --no-tests=error \
        --parallel "$((3 * jobs))" "$@"
}

# is_clang_14 TOOL: releases format differently and know different checks, so one is the reference.
is_clang_14() {
    if [[ $("$1" --version) != *'version 14.'* ]]; then
        echo "Left out: $1 is not of release 14"
        return 1
    fi
}

# The sanitizers of that time cannot place their shadow memory where a newer kernel randomises
# addresses with more bits. Containers may forbid to switch that off; most need not.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
fi

begin 'dependencies'
scripts/install-deps.sh --test
# Each of our 140 programs costs make several processes: a fifth of a build's time.
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja

begin 'format (clang-format)'
if is_clang_14 clang-format; then
    find include src tests bench docs \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -print0 |
        xargs -0 clang-format --dry-run -Werror
fi

begin 'clang, AddressSanitizer and UndefinedBehaviorSanitizer'
# A program with the sanitizers is linked in half the time by lld, where that is there.
linker=
if command -v ld.lld >/dev/null; then
    linker='-fuse-ld=lld -Wno-unused-command-line-argument'
fi
build build/asan all -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -gline-tables-only $linker" -DXFERBENCH_SANITIZE=address,undefined \
    -DXFERBENCH_WERROR=ON -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_CUDA_ARCHITECTURES=90 -DXFERBENCH_HIP="$hip"
run_tests build/asan -LE plain # those run below, without the sanitizers

# On a copy of the corpus: what it finds is for who looks for more to keep, see tests/fuzz/README.md.
begin 'clang, libFuzzer'
fuzz_seconds=${XFERBENCH_FUZZ_SECONDS:-20}
if [ "$fuzz_seconds" -gt 0 ]; then
    cmake -S . -B build/fuzz -DXFERBENCH_TESTS=ON -DCMAKE_C_COMPILER=clang -DXFERBENCH_FUZZ=ON \
        -DXFERBENCH_WERROR=ON -DXFERBENCH_CUDA=OFF -DXFERBENCH_HIP=OFF
    cmake --build build/fuzz --parallel "$jobs" --target fuzz_record fuzz_decode fuzz_plot fuzz_report
    rm -rf build/fuzz/corpus build/fuzz/artifacts
    mkdir build/fuzz/artifacts
    cp -r tests/fuzz/corpus build/fuzz/corpus
    # Each in two processes, for an eighth of the time; they log to files in their folder.
    root=$PWD
    for name in record decode plot report; do
        dictionary=()
        [ ! -e "tests/fuzz/$name.dict" ] || dictionary=("-dict=$root/tests/fuzz/$name.dict")
        (cd build/fuzz && exec "${fixed_addresses[@]}" "tests/fuzz_$name" "${dictionary[@]}" \
            -jobs=2 -workers=2 -max_total_time="$(((fuzz_seconds + 7) / 8))" -rss_limit_mb=1024 -timeout=10 \
            -max_len=65536 -artifact_prefix=artifacts/ -print_final_stats=1 "corpus/$name") || {
            for file in build/fuzz/artifacts/*; do
                echo "The input of fuzz_$name, in base64; $file:"
                base64 "$file"
            done
            exit 1
        }
    done
fi

# Without -Werror: what this sanitizer adds to the code misleads some of gcc's warnings.
begin 'gcc, ThreadSanitizer'
build build/tsan thread_tests -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG='-O1 -g1' -DXFERBENCH_SANITIZE=thread -DXFERBENCH_WERROR=OFF \
    -DXFERBENCH_CUDA=OFF -DXFERBENCH_HIP="$hip"
run_tests build/tsan -L threads

# Prints the C files under src/ that a build compiled: those of backends left out have no flags.
compiled_sources() {
    python3 - "$PWD/src/" "$1/compile_commands.json" <<'PYTHON'
import json, sys
source, commands = sys.argv[1:]
files = {entry["file"] for entry in json.load(open(commands))}
print(*sorted(f for f in files if f.startswith(source) and f.endswith(".c")), sep="\n")
PYTHON
}

# Says nothing unless it finds something. One file at a time: with several, release 14 takes every
# va_list for uninitialised.
tidy() {
    local output
    output=$(clang-tidy --quiet -p build/asan "$1" 2>&1) || {
        echo "$output"
        return 1
    }
}
export -f tidy

begin 'clang-tidy'
if is_clang_14 clang-tidy; then
    compiled_sources build/asan | xargs -r -d '\n' -n 1 -P "$jobs" bash -c 'tidy "$@"' tidy
fi

begin 'gcc, the tests'
build build/test all -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release -DXFERBENCH_WERROR=ON -DXFERBENCH_UNIT_TESTS=OFF \
    -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_HIP="$hip"
run_tests build/test -LE '^(sanitized|unit)$' # those ran above
