#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests a machine with a GPU: xferbench in all its modes, then every program test_* of the unpacked
# bundle in which this script lies, or of the source tree's build. Exits with 1 if any fails.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The program and its tests: of a bundle, of a build in build/, of what test.sh built.
for place in bin:libexec/xferbench build:build/tests build/test:build/test/tests; do
    xferbench=$root/${place%%:*}/xferbench
    tests=("$root/${place#*:}"/test_*)
    [ -x "$xferbench" ] && [ -e "${tests[0]}" ] && break
    tests=()
done
if [ "${#tests[@]}" -eq 0 ]; then
    echo "test-gpu.sh: no tests in $root: build with -DXFERBENCH_TESTS=ON" >&2
    exit 1
fi

passed=0
failed=0
# check NAME COMMAND [ARGUMENT]...
check() {
    printf '\n== %s\n' "$1"
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

"$xferbench" --version
# Every mode in every variant, odd sizes too: fails where a copy is wrong or no GPU can be tested.
check 'modes' "$xferbench" --mode all --size 1,4097,5000001,64M --samples 6 \
    --host-memory alloc,registered,write-combined,pageable --chunk 1000000 --device all \
    --access sequential,strided,random --managed fault,prefetch,advise
check 'both ways at once' "$xferbench" --mode pinned,async,peer --direction bidir --size 1,5000001,64M \
    --samples 6 --chunk 1000003
check 'latency' "$xferbench" --latency --samples 20
for test in "${tests[@]}"; do
    if [ -f "$test" ] && [ -x "$test" ]; then
        check "${test##*/}" "$test"
    fi
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
