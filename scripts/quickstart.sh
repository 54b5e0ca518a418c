#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: quickstart.sh [ARGUMENTS OF xferbench]
#
# Installs what is missing, builds into build/ and measures pinned transfers of 1 GiB (or does what
# the arguments say, and no more). Without arguments and without a GPU it measures the host instead.
# Exits as xferbench does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
xferbench=$root/build/xferbench
chosen=true # the arguments are the user's: what they ask for is run and nothing else
if [ "$#" -eq 0 ]; then
    chosen=false
    set -- --mode pinned --size 1G
fi

"$root/scripts/install-deps.sh" --build
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
cmake -S "$root" -B "$root/build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$root/build" --parallel "$(nproc)"

printf '\nRunning: xferbench %s\n' "$*"
status=0
"$xferbench" "$@" || status=$?
if [ "$status" -eq 3 ] && ! $chosen; then
    printf '\nNo GPU could be tested here; the reasons are above.'
    if [ -e /dev/nvidiactl ] || [ -e /dev/kfd ]; then
        printf ' There seems to be one: this build cannot use it.'
    fi
    set -- "$@" --backend host
    printf '\nMeasuring on the host instead: that is the speed of its own memory, and says nothing about\n'
    printf 'a link to a GPU.\nRunning: xferbench %s\n' "$*"
    status=0
    "$xferbench" "$@" || status=$?
fi
exit "$status"
