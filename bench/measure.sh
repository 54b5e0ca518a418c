#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: measure.sh XFERBENCH FOLDER
#
# The measurements behind the documents' figures: writes a JSON file a command into FOLDER, and says
# on standard output how long each process took. Needs a GPU; what needs two is left out with one.
# bench/summary.py reads the folder.
set -euo pipefail

if [ "$#" -ne 2 ]; then
    echo "usage: measure.sh XFERBENCH FOLDER" >&2
    exit 2
fi
xferbench=$1
folder=$2
mkdir -p "$folder"

# measure NAME ARGUMENT...: the process's wall clock time goes to NAME's line.
measure() {
    local name=$1 begin end code=0
    begin=$(date +%s.%N)
    "$xferbench" --quiet --json "$folder/$name.json" "${@:2}" || code=$?
    end=$(date +%s.%N)
    printf '%-22s %6.2f s  exit %d  %s\n' "$name" "$(awk "BEGIN { print $end - $begin }")" "$code" "${*:2}"
}

devices=$("$xferbench" list | sed -n 's/^ *CUDA devices *\([0-9]*\)$/\1/p')
devices=${devices:-1}

if [ "$devices" -lt 2 ]; then
    for i in 1 2 3; do measure "all-1g-$i" --mode all --size 1G; done
    measure all-256m
    for i in 1 2 3; do measure "pinned-512m-$i" --mode pinned --size 512M; done
    measure pinned-1g --mode pinned --size 1G
    for i in 1 2 3 4 5 6 7 8 9 10; do
        measure "precision-$i" --mode pinned --size 512M --direction h2d
    done
    measure bidir-1g --mode pinned,async --size 1G --direction bidir
    measure host-memory --mode pinned --size 1G --host-memory registered,alloc,write-combined
    measure async-pageable --mode async --size 256M --host-memory registered,pageable
    measure double-buffer --mode double-buffer --size 1G --buffers 3
    measure double-buffer-4 --mode double-buffer --size 1G --buffers 4
    measure double-buffer-2 --mode double-buffer --size 1G --buffers 2
    measure zero-copy-access --mode zero-copy --size 256M --access sequential,strided,random
    measure zero-copy-passes --mode zero-copy --size 256M --passes 4
    measure managed --mode managed --size 1G --managed fault,prefetch,advise
    measure latency --latency
    measure quick --quick
    measure sweep --mode pageable,pinned --size 4K..1G
else
    for i in 1 2 3 4; do
        measure "cold-$i" --mode pinned --size 512M --direction h2d --device 0,1
        measure "cold-reversed-$i" --mode pinned --size 512M --direction h2d --device 1,0
    done
    measure peer-1g --mode peer --size 1G
    measure peer-latency --mode peer --latency
    measure simultaneous --mode pinned --size 512M --simultaneous
    measure all-devices-1g --mode all --size 1G --device all
    measure quick --quick
fi
