#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: quickstart.sh [ARGUMENTS OF xferbench]
#
# Installs what is missing, builds into build/ and measures pinned transfers of 1 GiB (or does what
# the arguments say), on the GPU where there is one, else on the host. Exits as xferbench does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
xferbench=$root/build/xferbench
if [ "$#" -eq 0 ]; then
    set -- --mode pinned --size 1G
fi

"$root/scripts/install-deps.sh" --build
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
cmake -S "$root" -B "$root/build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$root/build" --parallel "$(nproc)"

# What is to happen without a GPU is open only if the arguments do not choose a backend.
instead=(--backend host)
for argument in "$@"; do
    case "$argument" in
    --backend | --backend=*) instead=() ;;
    esac
done

printf '\nRunning: xferbench %s\n' "$*"
status=0
"$xferbench" "$@" || status=$?
if [ "$status" -eq 3 ] && [ "${#instead[@]}" -gt 0 ]; then
    set -- "$@" "${instead[@]}"
    printf '\nNo GPU could be tested here; the reasons are above. Measuring on the host instead:\n'
    printf 'that is the speed of its own memory, and says nothing about a link to a GPU.\n'
    printf 'Running: xferbench %s\n' "$*"
    status=0
    "$xferbench" "$@" || status=$?
fi
exit "$status"
