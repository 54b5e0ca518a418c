#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: measure.sh XFERBENCH FOLDER [SECTION...]
#
# The measurements behind the documents' figures: writes a JSON file a command into FOLDER, and says on
# standard output how long each process took. bench/summary.py reads the folder. Sections:
#
#   one          one GPU: every mode, latencies, sweeps, link
#   compare      several processes, in turn, on one GPU
#   smaller      one GPU: docs/smaller.md
#   pieces       one GPU: docs/pieces.md
#   disk         one GPU: docs/from-disk.md; 8 GiB in TMPDIR
#   two          two GPUs and more
#   four         four GPUs and more
#   nvbandwidth  docs/nvbandwidth.md: two GPUs, and nvbandwidth on PATH
#   stand-in     the hip backend over XFERBENCH_HIP_LIBRARY, beside cuda
#   host         no GPU: the host backend, made-up fleets; programs of a build with XFERBENCH_TESTS=ON
#
# Without SECTION it runs all whose needs are here.
set -euo pipefail

if [ "$#" -lt 2 ]; then
    sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
xferbench=$1
folder=$2
build=$(dirname "$xferbench")
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$folder"

# measure NAME ARGUMENT...: writes NAME.json; the process's wall clock time goes to NAME's line.
measure() {
    local name=$1 begin end code=0
    begin=$(date +%s.%N)
    case "${2-}" in
    link) "$xferbench" "${@:2}" --json "$folder/$name.json" >/dev/null || code=$? ;;
    *) "$xferbench" --quiet --json "$folder/$name.json" "${@:2}" || code=$? ;;
    esac
    end=$(date +%s.%N)
    printf '%-22s %6.2f s  exit %d  %s\n' "$name" "$(awk "BEGIN { print $end - $begin }")" "$code" "${*:2}"
}

# repeat TIMES NAME ARGUMENT...: NAME-1, NAME-2, ...
repeat() {
    local i
    for ((i = 1; i <= $1; i++)); do measure "$2-$i" "${@:3}"; done
}

one() {
    repeat 3 all-1g --mode all --size 1G
    measure all-256m
    repeat 3 pinned-512m --mode pinned --size 512M
    measure pinned-1g --mode pinned --size 1G
    repeat 10 precision --mode pinned --size 512M --direction h2d
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
    measure loads --mode loads --size 2M,1G
    measure jobs --mode job,batch,resident --size 64M
    measure ring --mode pinned,pageable --size 1G
    measure pin --mode pin --size 1M,32M,1G
    measure quick --quick
    measure sweep --mode pageable,pinned --size 4K..1G
    measure crossover --mode pageable,pinned,async --size 4K..1G --chunk 1M,8M --streams 1,2 \
        --time-limit 60ms --warm-up 10ms
    repeat 6 link link
    measure link-expect-gen6x16 link --expect gen6x16
    "$bench/link_outcomes.py" "$xferbench" "$folder" >"$folder/link-outcomes.txt"
    [ ! -x "$build/hold_depth" ] || "$build/hold_depth" >"$folder/hold-depth.json"
}

compare() {
    local turn=(--mode 'pinned,async,zero-copy' --size 256M --processes 8)
    measure compare-again "${turn[@]}" --interleave "$xferbench" --baseline-json "$folder/compare-baseline.json"
    measure compare-later "${turn[@]}"
    measure compare-small-chunks "${turn[@]}" --chunk 64K
    touch "$folder/busy"
    while [ -e "$folder/busy" ]; do "$xferbench" --quiet --mode pinned --direction h2d --size 1G || exit; done &
    measure compare-busy-link "${turn[@]}"
    rm "$folder/busy"
    wait "$!" # until its last copy has ended; it fails where one did
}

smaller() {
    measure quantize-compress --mode quantize,compress --size 1G
    measure quantize --mode quantize --size 1G
    measure quantize-quiet --mode quantize --size 1G --time-limit 500ms
    measure quantize-threads --mode quantize --to fp16 --threads 1,2,4,8,12,16 --size 1G --time-limit 500ms
    measure compress --mode compress --data integers,floats,text,zeros,random --size 1G --time-limit 300ms
    measure compress-quiet --mode compress --codec for --encode-chunk 1M,4M,64M --size 1G --time-limit 300ms
    measure encode-chunks --mode quantize --to fp16 --encode-chunk 1M..16M --size 1G --time-limit 500ms
    measure encode-chunks-sent --mode compress --data integers,text --timed sent \
        --encode-chunk 4M,16M,32M,64M,128M --size 2G --time-limit 300ms
    measure resident --mode resident --steps 1,2,8,32 --size 1G
}

pieces() {
    measure batch-4k --mode batch --size 512M
    measure batch-sweep --mode batch --piece 512..1M --size 256M --time-limit 100ms
    measure batch-calls --mode batch --batch call --call-pieces 0,1024,4096,16384 --size 512M
    measure batch-rows --mode batch --batch each,kernel,pitched --layout rows --piece 1K,4K --size 256M
    measure batch-blocks-4k --mode batch --batch kernel --blocks 1,2,4,8,16,32,132 --size 512M
    measure batch-blocks-512 --mode batch --batch kernel --piece 512 --blocks 1,2,4,8,16,32,132 --size 64M
    measure alignment --mode pageable,pinned,async,batch --batch each,kernel --host-offset 0,1,64,256 --size 64M
    measure alignment-device --mode pageable,pinned,async --direction both,bidir --host-offset 0,64 \
        --device-offset 0,1,256 --size 64M
}

disk() {
    local copies=(--mode pipeline --kernel-time none --order overlapped)
    measure pipeline-1g --mode pipeline --size 1G
    measure pipeline-8g --mode pipeline --size 8G --readers 16
    measure pipeline-8g-link --mode pipeline --size 8G --readers 16 --kernel-time none
    measure pipeline-batches --mode pipeline --order overlapped --batch-files 64 --readers 1,2,4,8,16 --buffers 2,4,8
    measure pipeline-readers --mode pipeline --order serial,overlapped --kernel-time 160us --readers 1,2,4,8,16 --size 2G
    measure pipeline-chunks "${copies[@]}" --chunk 1M..32M --buffers 4,8 --size 4G
    measure pipeline-direct "${copies[@]}" --io direct --readers 1,4 --size 2G
    measure pipeline-direct-2 "${copies[@]}" --io direct --readers 4 --size 2G
    measure pipeline-mmap "${copies[@]}" --io mmap,cached --size 2G
    measure pipeline-gds "${copies[@]}" --io gds --size 512M
}

two() {
    local i
    for i in 1 2 3 4; do
        measure "cold-$i" --mode pinned --size 512M --direction h2d --device 0,1
        measure "cold-reversed-$i" --mode pinned --size 512M --direction h2d --device 1,0
    done
    measure peer-1g --mode peer --size 1G
    measure peer-latency --mode peer --latency
    measure peer-sizes --mode peer --peer-path direct-read,direct-write --direction d2d,bidir --samples 20 \
        --size 64M,256M,512M,1G,4G,16G --device all
    measure peer-kernel-sizes --mode peer --by kernel --peer-path direct-read,direct-write --direction d2d \
        --pairs 0:1 --size 512M,1G,4G
    measure loads-access --mode loads,peer-loads --access sequential,random --size 2M --device all
    measure simultaneous --mode pinned --size 512M --simultaneous
    measure all-devices-1g --mode all --size 1G --device all
    measure pipeline-2g --mode pipeline --size 2G --device all
    measure quick --quick
    measure link-pairs link --device all
}

four() {
    local together=(--mode peer --peer-path 'direct-read,direct-write' --direction d2d --simultaneous)
    measure peer-group-sizes "${together[@]}" --size 128M,512M,2G,8G
    CUDA_DEVICE_MAX_CONNECTIONS=1 measure peer-one-connection "${together[@]}" --by engine,kernel --size 512M
}

nvbandwidth() {
    command nvbandwidth --json >"$folder/nvbandwidth.txt"
    measure nvb-host --mode pinned,zero-copy --direction both,bidir --host-memory alloc --size 512M --device all \
        --simultaneous
    measure nvb-peer --mode peer --peer-path direct-read,direct-write --by engine,kernel --size 512M --simultaneous
    measure nvb-local --mode local --by engine,kernel --size 512M --device all
    measure nvb-loads --mode loads,peer-loads --latency --device all
}

stand-in() {
    local i
    for i in 1 2 3 4 5; do
        measure "cuda-$i" --backend cuda --mode pinned,zero-copy --size 1G
        measure "hip-over-cuda-$i" --backend hip --mode pinned,zero-copy --size 1G
    done
    measure cuda-all --backend cuda --mode all --size 1G --device all
    measure hip-over-cuda-all --backend hip --mode all --size 1G --device all
}

host() {
    local repeat=("$bench/compare_repeat.py" "$xferbench") one=(--backend host --mode pinned --size 4K --time-limit 20ms)
    "${repeat[@]}" "$xferbench" 100 "$folder/repeat-again.json" "${one[@]}"
    "${repeat[@]}" "$xferbench" 100 "$folder/repeat-again-sizes.json" --backend host --mode pageable,pinned \
        --size 4K,64K,1M --time-limit 20ms
    "${repeat[@]}" "$build/tests/xferbench_slowed" 20 "$folder/repeat-slowed.json" "${one[@]}"
    "$bench/fleet_time.py" --nodes 1000,10000 --gpus 8 "$xferbench" fleet >"$folder/fleet-time.txt"
    "$build/fleet_simulation" >"$folder/fleet.txt"
}

# those_that_can_run: names them, a line each.
those_that_can_run() {
    local gpus
    gpus=$("$xferbench" list | sed -n 's/^ *CUDA devices *\([0-9]*\)$/\1/p')
    [ "${gpus:-0}" -ne 1 ] || printf '%s\n' one compare smaller pieces disk
    [ "${gpus:-0}" -lt 2 ] || echo two
    [ "${gpus:-0}" -lt 4 ] || echo four
    ! { [ "${gpus:-0}" -ge 2 ] && type -P nvbandwidth >/dev/null; } || echo nvbandwidth
    [ -z "${XFERBENCH_HIP_LIBRARY-}" ] || echo stand-in
    [ "${gpus:-0}" -gt 0 ] || [ ! -x "$build/fleet_simulation" ] || echo host
}

[ "$#" -gt 2 ] || mapfile -t sections < <(those_that_can_run)
[ "$#" -eq 2 ] || sections=("${@:3}")
for section in "${sections[@]}"; do
    case "$section" in
    one | compare | smaller | pieces | disk | two | four | nvbandwidth | stand-in | host) "$section" ;;
    *) echo "measure.sh: there is no section '$section'" >&2 && exit 2 ;;
    esac
done
