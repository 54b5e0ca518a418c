#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: quickstart.sh [--no-root] [--no-cuda] [--no-hip] [ARGUMENTS OF xferbench]
#
# Installs what is missing, builds into build/ and measures pinned transfers of 1 GiB (or does what
# the arguments say, and no more). On a machine with an NVIDIA GPU that includes a CUDA Toolkit, on
# one with an AMD GPU the HIP runtime, unless --no-cuda or --no-hip says not to, or the arguments
# need no GPU (--backend host, help, compare). Without arguments and without a GPU it measures the
# host instead. Exits as xferbench does, and with 1 where something cannot be installed.
#
# --no-root installs nothing: it takes the compilers and cmake that are there, unpacks missing libraries
# below build/deps, and measures an NVIDIA GPU if there is an nvcc, an AMD GPU if there are HIP's headers.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
xferbench=$root/build/xferbench
no_root=false
cuda=AUTO
hip=AUTO
arguments=()
for argument in "$@"; do
    case "$argument" in
    -h | --help)
        sed -n '/^# usage/,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    --no-root) no_root=true ;;
    --no-cuda) cuda=OFF ;;
    --no-hip) hip=OFF ;;
    *) arguments+=("$argument") ;;
    esac
done
chosen=true # the arguments are the user's: what they ask for is run and nothing else
if [ "${#arguments[@]}" -eq 0 ]; then
    chosen=false
    arguments=(--mode pinned --size 1G)
fi

# GPUs that are to be tested: "nvidia driver", "amd 0000:03:00.0", as find-gpus.sh has them.
case " ${arguments[*]} " in
' help '* | ' compare '* | *' --backend host '* | *' --backend=host '* | *' -b host '*) found= ;;
*) found=$("$root/scripts/find-gpus.sh") || {
    echo 'quickstart.sh: find-gpus.sh failed' >&2
    exit 1
} ;;
esac
gpus=()
while read -r vendor state; do
    case "$vendor $cuda $hip" in
    'nvidia AUTO '* | 'amd '*' AUTO') gpus+=("$vendor $state") ;;
    esac
done <<<"$found"

if $no_root; then
    "$root/scripts/unpack-deps.sh" "$root/build/deps"
    # shellcheck source=/dev/null
    . "$root/build/deps/environment"
else
    "$root/scripts/install-deps.sh" --build
fi
for gpu in "${gpus[@]}"; do
    case "$no_root $gpu" in
    'false nvidia driver') "$root/scripts/install-deps.sh" --cuda ;;
    'false amd driver') "$root/scripts/install-deps.sh" --hip ;;
    esac
done

command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
# All of it is said, because the folder may have been configured in another way before.
cmake -S "$root" -B "$root/build" -DCMAKE_BUILD_TYPE=Release -DXFERBENCH_TESTS=OFF \
    -DXFERBENCH_CUDA="$cuda" -DXFERBENCH_HIP="$hip" -DCMAKE_INSTALL_RPATH="${XFERBENCH_RPATH-}"
cmake --build "$root/build" --parallel "$(nproc)"

printf '\nRunning: xferbench %s\n' "${arguments[*]}"
status=0
"$xferbench" "${arguments[@]}" || status=$?
if [ "$status" -ne 3 ] || $chosen; then
    exit "$status"
fi

# Nothing could be tested. With a GPU in the machine that is a failure, and no reason to measure
# something else.
printf '\nNo GPU could be tested here; the reasons are above.\n'
no_driver='but the kernel has no driver for it: install the driver, or start the container with the GPU'
for gpu in "${gpus[@]}"; do
    case "$gpu" in
    'nvidia driver') echo 'There is one: NVIDIA, with a driver (/dev/nvidiactl).' ;;
    'amd driver') echo 'There is one: AMD, with a driver (/dev/kfd).' ;;
    nvidia*) echo "There is one, NVIDIA at ${gpu#* }, $no_driver (Debian's package: nvidia-driver)." ;;
    amd*) echo "There is one, AMD at ${gpu#* }, $no_driver (amdgpu, /dev/kfd)." ;;
    esac
done
if [ "${#gpus[@]}" -gt 0 ]; then
    printf 'To measure the host instead:\n    %q %s --backend host\n' "$0" "${arguments[*]}"
    exit "$status"
fi
arguments+=(--backend host)
printf 'Measuring on the host instead: that is the speed of its own memory, and says nothing about\n'
printf 'a link to a GPU.\nRunning: xferbench %s\n' "${arguments[*]}"
status=0
"$xferbench" "${arguments[@]}" || status=$?
exit "$status"
