#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests a machine with GPUs: xferbench in all its modes, then every program test_* of the unpacked
# bundle in which this script lies (libexec/xferbench), or of the source tree's build, then the
# decoders under compute-sanitizer where that is installed, then what `xferbench link` says. Ends with
# the seconds that each check took. Exits with 1 if any fails.
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
times=''
# check NAME COMMAND [ARGUMENT]...
check() {
    printf '\n== %s (%d s since the start)\n' "$1" "$SECONDS"
    local code=0 end=passed begin=$SECONDS
    "${@:2}" || code=$?
    case $code in
    0) passed=$((passed + 1)) ;;
    77) end=skipped ;;
    *)
        end="FAILED (exit code $code)"
        failed=$((failed + 1))
        ;;
    esac
    [ "$end" = passed ] || echo "$end: $1"
    times+=$(printf '%5d s  %s: %s' "$((SECONDS - begin))" "$1" "$end")$'\n'
}

# can ARGUMENT...: whether a run of so little measures anything.
can() {
    "$xferbench" "$@" --size 1 --samples 1 --warm-up 1us >/dev/null 2>&1
}

# Whether a copy is right does not take a warm device.
brief=(--samples 6 --warm-up 1ms --time-limit 10ms)

# modes NAME BACKEND SIZES: every mode in every variant, on the first device; pairs are of all devices,
# by copy engine and by kernel, one way and both. Fails where a copy is wrong or no GPU can be tested.
# A chunk of 1000000 makes six of 5000001 bytes, so that slots and rings are used again and the last
# chunk is shorter; one of 1000003, which kernels do not take, is at no even address.
modes() {
    local name=$1 backend=$2 sizes=$3
    check "$name" "$xferbench" --backend "$backend" --mode all --size "$sizes" --chunk 1000000 \
        --host-memory alloc,registered,write-combined,pageable --access sequential,strided,random,bulk \
        --managed fault,prefetch,advise --by engine,kernel,bulk,read,write "${brief[@]}"
    check "$name, both ways at once" "$xferbench" --backend "$backend" --mode pinned,async,peer \
        --direction bidir --size "$sizes" --chunk 1000003 "${brief[@]}"
    check "$name, off boundaries" "$xferbench" --backend "$backend" --mode pageable,pinned,async \
        --direction both,bidir --size 1,5000001 --chunk 1000003 --host-memory alloc,registered \
        --host-offset 0,1,4100 --device-offset 0,3,256 "${brief[@]}"
    check "$name, many pieces" "$xferbench" --backend "$backend" --mode batch --size 1000001 \
        --batch each,call,graph,packed,kernel,pitched,bulk --layout scattered,rows --piece 100,4K \
        --host-offset 0,3 --device-offset 0,8 "${brief[@]}"
    check "$name, kept on the device" "$xferbench" --backend "$backend" --mode resident --steps 1,3 \
        --host-memory alloc,registered,write-combined --size "$sizes" "${brief[@]}"
    check "$name, whole jobs" "$xferbench" --backend "$backend" --mode job --size 4097,5000001 \
        --job-out 1000003 --chunk 1000000 --gpu-time 2ms "${brief[@]}"
    check "$name, advice" "$xferbench" advise --backend "$backend" --in 16M --out 1M --gpu-time 2ms --check
    check "$name, latency" "$xferbench" --backend "$backend" --latency "${brief[@]}"
    check "$name, loads" "$xferbench" --backend "$backend" --mode loads,peer-loads --size 2M,16M \
        --access sequential,strided,random,bulk "${brief[@]}"
    can --backend "$backend" --mode pinned --device 1 || return 0
    check "$name, every device" "$xferbench" --backend "$backend" --device all \
        --mode pageable,async,double-buffer,zero-copy,managed,local,loads --size 5000001 "${brief[@]}"
    # With three devices and more also from one to all others, and back.
    check "$name, devices at the same time" "$xferbench" --backend "$backend" --device all \
        --mode pinned,peer --simultaneous --by engine,kernel,bulk --size 5000001 "${brief[@]}"
}

"$xferbench" --version
modes 'modes' auto 1,4097,5000001,16M
for test in "${tests[@]}"; do
    if [ -f "$test" ] && [ -x "$test" ]; then
        check "${test##*/}" "$test"
    fi
done

# Decoders get what is no valid encoding, and digests every length: they must not touch anything outside
# their ranges.
if can --backend cuda --mode pinned; then
    for group in decoding digests; do
        name="compute-sanitizer: test_contract, $group"
        if sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer); then
            check "$name" timeout 120 "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 1 \
                "${tests[0]%/*}/test_contract" cuda "$group"
        else
            printf '\n== %s: left out, compute-sanitizer is not installed\n' "$name"
            times+=$(printf '      -  %s: left out' "$name")$'\n'
        fi
    done
fi

# program_of WAY ADVISE_ARGUMENT...: the program that `advise --code cuda` prints for a way that is the
# only one with results. nvcc compiles it; it must bring right data back at 0.95 of the promised rate.
# A busy host may slow one run, so the best of three counts. Faults take up to 1.5 times as long in one
# run as in the next (docs/advise.md), and so do copies within the host's memory; prefetches 1.2 times.
program_of() {
    local folder=$programs/$1 said best=0 rate least=0.95
    [[ $1 != @(managed|copied) ]] || least=0.6
    [[ $1 != prefetch ]] || least=0.8
    mkdir "$folder"
    "$xferbench" advise "${@:2}" --code cuda >"$folder/job.cu" || return 1
    (cd "$folder" && PATH=$PATH:/usr/local/cuda/bin nvcc -O2 -arch=native job.cu -o job) || return 1
    for _ in 1 2 3; do
        said=$("$folder/job") || { printf '%s\n' "$said" && return 1; }
        printf '%s\n' "$said"
        rate=$(sed -nE 's/.*: ([0-9.]+) of that rate;.*data right$/\1/p' <<<"$said")
        best=$(awk -v a="$best" -v b="${rate:-0}" 'BEGIN { print (b > a ? b : a) }')
    done
    awk -v best="$best" -v least="$least" 'BEGIN { exit !(best >= least) }'
}

if can --backend cuda --mode pinned; then
    if PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null; then
        programs=$(mktemp -d)
        # measured NAME ARGUMENT...: results for it, of copies both ways.
        measured() {
            "$xferbench" --backend cuda --size 256K,2M,16M,64M,256M --time-limit 300ms --quiet \
                --json "$programs/$1.json" "${@:2}"
        }
        job=(--in 256M --out 64M --gpu-time 5ms)
        check 'results for programs: pageable' measured pageable --mode pageable --staging driver
        check 'results for programs: ring' measured ring --mode pageable --staging ring
        check 'results for programs: pinned' measured pinned --mode pinned --direction both,bidir
        check 'results for programs: used' measured used --mode pinned,pin --pin-by used --direction both,bidir
        check 'results for programs: copied' measured copied --mode pinned,pin --pin-by copy --direction both,bidir
        check 'results for programs: zero-copy' measured zero-copy --mode zero-copy --direction both,bidir
        check 'results for programs: managed' measured managed --mode managed --managed fault
        check 'results for programs: prefetch' measured prefetch --mode managed --managed prefetch
        check 'program: pageable' program_of pageable "$programs/pageable.json" "${job[@]}"
        check 'program: ring' program_of ring "$programs/ring.json" "${job[@]}"
        check 'program: pinned' program_of pinned "$programs/pinned.json" --in 256M --gpu-time none --memory pinned
        check 'program: overlapped' program_of overlapped "$programs/pinned.json" "${job[@]}" --memory pinned
        check 'program: overlapped, page-locked where it lies' program_of used "$programs/used.json" "${job[@]}" --times 1000
        check 'program: overlapped, copied' program_of copied "$programs/copied.json" "${job[@]}" --times 1000
        check 'program: zero-copy' program_of zero-copy "$programs/zero-copy.json" "${job[@]}" --memory pinned
        check 'program: managed' program_of managed "$programs/managed.json" "${job[@]}" --memory managed
        check 'program: prefetch' program_of prefetch "$programs/prefetch.json" "${job[@]}" --memory managed
        rm -r "$programs"
    else
        printf '\n== programs of advise: left out, nvcc is not installed\n'
        times+=$'      -  programs of advise: left out\n'
    fi
fi

# link_of_pairs: `link` of all devices as they are, and what it says in pairs_say. Whatever it thinks of
# their links, it must have measured pairs, and all that have direct access.
link_of_pairs() {
    local code=0
    pairs_say=$("$xferbench" link --backend cuda --size 64M --format nagios) || code=$?
    printf '%s\n' "$pairs_say"
    [ "$code" -le 3 ] && grep -qE "_to_gpu[0-9]+_GBps'=[0-9]" <<<"$pairs_say" &&
        ! grep -qE "GPU [0-9]+ to [0-9]+ UNKNOWN|XB-DATA-WRONG" <<<"$pairs_say"
}

# link_with FAULT CODE REASON ARGUMENT...: the exit code of `link` and a reason that it must give, over
# a library that stands in for NVML and tells of a fault (tests/doubles/fake_nvml.h); it must say
# nothing where REASON is empty. What the PCIe link is and carries makes no difference.
link_with() {
    local said code=0
    said=$(LD_LIBRARY_PATH=$fake_nvml${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XFERBENCH_FAKE_NVML=$1 \
        "$xferbench" link --backend cuda --size 64M --expect gen1x1 --min-h2d 1 --min-d2h 1 \
        --format nhc "${@:4}") || code=$?
    printf 'exit code %d, must be %d; reason must be: %s\n%s\n' "$code" "$2" "${3:-none}" "$said"
    [ "$code" -eq "$2" ] || return 1
    if [ -n "$3" ]; then grep -qw -e "$3" <<<"$said"; else [ -z "$said" ]; fi
}

pairs_say=''
if can --backend cuda --mode peer --peer-path direct-write; then
    check 'link, with pairs' link_of_pairs
fi
fake_nvml=${tests[0]%/*}/fake_nvml
if [ -d "$fake_nvml" ] && can --backend cuda --mode pinned; then
    one=(--device 0 --attempts 1)
    check 'NVLink: CRC errors' link_with crc-errors 0 '' "${one[@]}"
    check 'NVLink: replays' link_with replays 1 XB-NVLINK-REPLAY "${one[@]}"
    # The stand-in has the links of a Hopper: copies between other GPUs are not to be held against them.
    peers=()
    grep -qE "_to_gpu[0-9]+_GBps'=[^ ]*;0;478\\.080" <<<"$pairs_say" || peers=(--no-peers)
    check 'NVLink: healthy' link_with healthy 0 '' ${peers[@]+"${peers[@]}"}
    check 'NVLink: recoveries' link_with recoveries 1 XB-NVLINK-ERRORS --attempts 1 ${peers[@]+"${peers[@]}"}
    check 'NVLink: a link goes down' link_with falls 2 XB-NVLINK-DOWN --attempts 1 ${peers[@]+"${peers[@]}"}
    if can --backend cuda --mode pinned --device 1; then
        check 'NVLink: a link that the other GPU has' link_with inactive 1 XB-NVLINK-LINKS \
            --attempts 1 ${peers[@]+"${peers[@]}"}
    fi
    if [ -n "$pairs_say" ]; then
        check 'NVLink: a slow pair' link_with fast-links 2 XB-BW-PEER --attempts 1
    fi
fi

# The HIP backend on an NVIDIA GPU, over a library that has HIP's functions and calls CUDA. It proves
# the plumbing; none of its figures is AMD's. That wrong copies are found does not take a backend's
# part: test_damage shows it above.
stand_in=${tests[0]%/*}/hip_cuda/libxferbench_hip_cuda.so
if [ -e "$stand_in" ] && can --backend cuda --mode pinned; then
    XDG_CACHE_HOME=$(mktemp -d)
    trap 'rm -r "$XDG_CACHE_HOME"' EXIT
    export XFERBENCH_HIP_LIBRARY=$stand_in XDG_CACHE_HOME
    modes 'HIP over CUDA: modes' hip 5000001
    check 'HIP over CUDA: test_contract' "${tests[0]%/*}/test_contract" hip
fi
printf '\n%s%d passed, %d failed, in %d s\n' "$times" "$passed" "$failed" "$SECONDS"
[ "$failed" -eq 0 ]
