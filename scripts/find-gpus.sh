#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: find-gpus.sh [ROOT]
#
# Looks for GPUs without any vendor's software. Prints a line for each vendor of which there is one,
# "nvidia driver" or "amd driver" where the kernel's driver offers it, "nvidia ADDRESS" where only a
# PCI card is seen. ROOT stands before /dev and /sys.
set -euo pipefail

root=${1-}

# card VENDOR: the address of a PCI card of that vendor: a display controller (class 03) or a
# processing accelerator (class 12). Else nothing.
card() {
    local device
    for device in "$root"/sys/bus/pci/devices/*; do
        if [ "$(cat "$device/vendor" 2>/dev/null)" = "$1" ] &&
            grep -qE '^0x(03|12)' "$device/class" 2>/dev/null; then
            echo "${device##*/}"
            return
        fi
    done
}

# has_driver DEVICE-NODE: that it is there says little, because CUDA's library, run by root, makes
# /dev/nvidiactl where there is no driver. Opening it then fails. Who may not open it cannot tell.
has_driver() {
    [ -e "$1" ] && { [ ! -r "$1" ] || : <"$1"; } 2>/dev/null
}

# look VENDOR NUMBER DEVICE-NODE
look() {
    local address
    if has_driver "$root$3"; then
        echo "$1 driver"
        return
    fi
    address=$(card "$2")
    [ -z "$address" ] || echo "$1 $address"
}

look nvidia 0x10de /dev/nvidiactl
look amd 0x1002 /dev/kfd
