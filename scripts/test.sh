#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: test.sh [--sanitizers]
#
# Installs what is missing, then builds and runs every check and test that needs no GPU. Ends with
# ctest's summary. --sanitizers builds everything with clang and its sanitizers, runs the unit tests and
# those of HIP, and nothing else. In the environment XFERBENCH_CUDA and XFERBENCH_HIP=ON|OFF|AUTO say
# whether those backends are to be built (AUTO, the default: where nvcc is found, where HIP's headers
# are), and XFERBENCH_CLANG says which clang builds with the sanitizers, such as clang-19 (clang).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "$*" in
'') all=true ;;
--sanitizers) all=false ;;
*)
    sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}"
    [ "$*" = --help ] && exit 0
    exit 2
    ;;
esac
clang=${XFERBENCH_CLANG:-clang}
sanitized=build/asan
[ "$clang" = clang ] || sanitized+="-$clang"
export sanitized # for tidy
cuda=${XFERBENCH_CUDA:-AUTO}
hip=${XFERBENCH_HIP:-AUTO}
jobs=$(nproc)

step=start
leave() {
    [ -z "$tidy" ] || kill "$tidy" 2>/dev/null || true
    [ "$1" -eq 0 ] || echo "test.sh: failed in step: $step" >&2
}
tidy= # the process of clang-tidy while there is one
trap 'leave $?' EXIT
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

check_format() {
    if is_clang_14 clang-format; then
        find include src tests bench docs \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -print0 |
            xargs -0 clang-format --dry-run -Werror
    fi
}

# The sanitizers of clang 14 cannot place their shadow memory where a newer kernel randomises
# addresses with more bits. Containers may forbid to switch that off; most need not.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
fi

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
    output=$(clang-tidy --quiet -p "$sanitized" "$1" 2>&1) || {
        echo "$output"
        return 1
    }
}
export -f tidy

# Beside the tests, many of which wait. Not niced: on a busy machine it would never end. Its output is
# shown at the step clang-tidy.
start_tidy() {
    if is_clang_14 clang-tidy; then
        compiled_sources "$sanitized" |
            xargs -r -d '\n' -n 1 -P "$jobs" bash -c 'tidy "$@"' tidy >build/clang-tidy.txt 2>&1 &
        tidy=$!
    fi
}

begin 'dependencies'
scripts/install-deps.sh --test
# Each of our 140 programs costs make several processes: a fifth of a build's time.
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja

if $all; then
    begin 'format (clang-format)'
    check_format
fi

begin "$clang, AddressSanitizer and UndefinedBehaviorSanitizer"
# A program with the sanitizers is linked in half the time by lld, where clang finds one.
linker=
if "$clang" -fuse-ld=lld -Wl,--version >/dev/null 2>&1; then
    linker='-fuse-ld=lld -Wno-unused-command-line-argument'
fi
build "$sanitized" all -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -gline-tables-only $linker" -DXFERBENCH_SANITIZE=address,undefined \
    -DXFERBENCH_WERROR=ON -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_CUDA_ARCHITECTURES=90 -DXFERBENCH_HIP="$hip"
if ! $all; then
    run_tests "$sanitized" -L '^(unit|arithmetic|hip)$' -LE plain
    exit
fi
start_tidy
run_tests "$sanitized" -LE plain # those run below, without the sanitizers

# Without HIP, whose backend has no threads of its own. Without -Werror: what this sanitizer adds to the code misleads some of gcc's warnings.
begin 'gcc, ThreadSanitizer'
build build/tsan thread_tests -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG='-O1 -g1' -DXFERBENCH_SANITIZE=thread -DXFERBENCH_WERROR=OFF \
    -DXFERBENCH_CUDA=OFF -DXFERBENCH_HIP=OFF
run_tests build/tsan -L threads

begin 'clang-tidy'
if [ -n "$tidy" ]; then
    code=0
    wait "$tidy" || code=$?
    tidy=
    cat build/clang-tidy.txt
    [ "$code" -eq 0 ]
fi

begin 'gcc, the tests'
build build/test all -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release -DXFERBENCH_WERROR=ON -DXFERBENCH_UNIT_TESTS=OFF \
    -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_HIP="$hip"
# sanitized and unit ran above; engines, which start a Slurm, and ci are .ci/run's
run_tests build/test -LE '^(sanitized|unit|engines|ci)$'
