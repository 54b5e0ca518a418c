#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests a machine with a GPU: xferbench in all its modes, then every program test_* of the unpacked
# bundle in which this script lies (libexec/xferbench), or of the source tree's build. Exits with 1 if any fails.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The program and its tests: of a bundle, where this lies in libexec/xferbench beside the tests; of a
# build in build/; of what test.sh built.
for place in ../../bin:. ../build:../build/tests ../build/test:../build/test/tests; do
    xferbench=$here/${place%%:*}/xferbench
    tests=("$here/${place#*:}"/test_*)
    [ -x "$xferbench" ] && [ -e "${tests[0]}" ] && break
    tests=()
done
if [ "${#tests[@]}" -eq 0 ]; then
    echo "test-gpu.sh: no tests were built: run install-deps.sh --test, then cmake with" \
        "-DXFERBENCH_TESTS=ON" >&2
    exit 1
fi

passed=0
failed=0
# check NAME COMMAND [ARGUMENT]...
check() {
    printf '\n== %s (%d s since the start)\n' "$1" "$SECONDS"
    local code=0
    "${@:2}" || code=$?
    case $code in
    0) passed=$((passed + 1)) ;;
    77) echo "SKIPPED: $1" ;;
    *)
        echo "FAILED: $1 (exit code $code)"
        failed=$((failed + 1))
        ;;
    esac
}

# Whether a copy is right does not take a warm device.
brief=(--warm-up 1ms --time-limit 10ms)

# modes NAME BACKEND: every mode in every variant, odd sizes too: fails where a copy is wrong or no
# GPU can be tested.
modes() {
    check "$1" "$xferbench" --backend "$2" --mode all --size 1,4097,5000001,64M --samples 6 \
        --host-memory alloc,registered,write-combined,pageable --chunk 1000000 --device all \
        --access sequential,strided,random --managed fault,prefetch,advise --by engine,kernel "${brief[@]}"
    check "$1, both ways at once" "$xferbench" --backend "$2" --mode pinned,async,peer \
        --direction bidir --size 1,5000001,64M --samples 6 --chunk 1000003 "${brief[@]}"
    check "$1, latency" "$xferbench" --backend "$2" --latency --samples 20 "${brief[@]}"
    check "$1, loads" "$xferbench" --backend "$2" --mode loads,peer-loads --size 2M,64M --samples 6 --device all \
        --access sequential,strided,random "${brief[@]}"
}

"$xferbench" --version
modes 'modes' auto
for test in "${tests[@]}"; do
    if [ -f "$test" ] && [ -x "$test" ]; then
        check "${test##*/}" "$test"
    fi
done

# nvlink FAULT CODE: what `link` says of NVLinks over a library that stands in for NVML and tells of a
# fault (tests/doubles/fake_nvml.h); CODE is empty where it must say nothing.
nvlink() {
    local said
    said=$(LD_LIBRARY_PATH=$fake_nvml${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XFERBENCH_FAKE_NVML=$1 \
        "$xferbench" link --backend cuda --device 0 --attempts 1 --format nhc) || true
    printf '%s\n' "$said"
    [ "$(grep -o 'XB-NVLINK-[A-Z]*' <<<"$said")" = "$2" ]
}

fake_nvml=${tests[0]%/*}/fake_nvml
if [ -d "$fake_nvml" ] && "$xferbench" --backend cuda --mode pinned --size 1 --samples 1 >/dev/null 2>&1; then
    check 'NVLink: healthy' nvlink healthy ''
    check 'NVLink: CRC errors' nvlink crc-errors ''
    check 'NVLink: recoveries' nvlink recoveries XB-NVLINK-ERRORS
    check 'NVLink: replays' nvlink replays XB-NVLINK-REPLAY
    check 'NVLink: a link goes down' nvlink falls XB-NVLINK-DOWN
fi

# The HIP backend on an NVIDIA GPU, over a library that has HIP's functions and calls CUDA. It proves
# the plumbing; none of its figures is AMD's.
stand_in=${tests[0]%/*}/hip_cuda/libxferbench_hip_cuda.so
if [ -e "$stand_in" ] && "$xferbench" --backend cuda --mode pinned --size 1 --samples 1 >/dev/null 2>&1; then
    XDG_CACHE_HOME=$(mktemp -d)
    trap 'rm -r "$XDG_CACHE_HOME"' EXIT
    export XFERBENCH_HIP_LIBRARY=$stand_in XDG_CACHE_HOME
    modes 'HIP over CUDA: modes' hip
    check 'HIP over CUDA: test_contract' "${tests[0]%/*}/test_contract" hip
    check 'HIP over CUDA: test_damage' "${tests[0]%/*}/test_damage" hip
fi
printf '\n%d passed, %d failed, in %d s\n' "$passed" "$failed" "$SECONDS"
[ "$failed" -eq 0 ]
