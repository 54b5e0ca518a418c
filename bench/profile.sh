#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: profile.sh build FOLDER [CMAKE ARGUMENT]...
#        profile.sh run FOLDER [XFERBENCH ARGUMENT]...
#
# Where the time of one process goes. `build` makes FOLDER: xferbench with every function
# instrumented (bench/profile.c), for this machine or another like it. `run` runs it, with its output
# thrown away, and prints the calls as a tree: what they took in ms, of that in the function itself
# (instrumented functions only: a library's calls are their caller's own), how many there were, and
# when the first began. Calls that together took less than LEAST_MS (1) are left out. A function that
# only calls another one stands on that one's line. Threads other than the first stand below, added up.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# What is called once a word or a byte: noting each call would take longer than the work.
not_noted=pattern.h,verify.c,host/work.c,base/json,base/text.c,base/memory.c,base/units.c,statistics.c,base/columns.c,clock.h

build() {
    local folder=$1 build=$scratch
    shift
    cmake -S "$here/.." -B "$build" -DCMAKE_BUILD_TYPE=Release "$@" \
        -DCMAKE_C_FLAGS="-finstrument-functions -finstrument-functions-exclude-file-list=$not_noted" >"$build/log"
    cmake --build "$build" --target xferbench --parallel >>"$build/log"
    mkdir -p "$folder"
    cc -std=c11 -O2 -Wall -Wextra -shared -fPIC -o "$folder/profile.so" "$here/profile.c"
    cp "$build/xferbench" "$folder/"
    # So that the machine it runs on needs no program for it.
    nm "$folder/xferbench" | awk '$2 ~ /^[tT]$/ { print $1, $3 }' >"$folder/functions"
    cp "$0" "$folder/profile.sh"
}

# Of the calls in a file: the table.
table() {
    awk -v begun="$2" -v ended="$3" -v least="${LEAST_MS:-1}" '
    FNR == NR { sub(/^0+/, "", $1); name[$1] = $2; next }
    { caller[$1] = $2; thread[$1] = $3; function_of[$1] = $4 in name ? name[$4] : $4
      begin[$1] = $5; took[$1] = ($6 - $5) / 1000; order[++count] = $1
      if (function_of[$1] == "main") { main_begin = $5; main_end = $6 } }
    function path_of(call) {
        if (call in path) return path[call]
        return path[call] = (caller[call] in took ? path_of(caller[call]) \
                             : thread[call] == 1 ? "" : "threads") "/" function_of[call]
    }
    function row(total, own, calls, since, text) {
        printf "%9.1f %9.1f %7d %9.1f  %s\n", total, own, calls, since, text
    }
    function print_below(parent, indent,    i, p, best, done, text, only) {
        for (;;) {
            best = ""
            for (i = 1; i <= paths; i++) {
                p = all[i]
                if (above[p] == parent && !(p in done) && (best == "" || first[p] < first[best]))
                    best = p
            }
            if (best == "") return
            done[best] = 1
            if (total[best] < least) continue
            p = best; text = last[p]
            while ((only = only_below(p)) != "") { p = only; text = text " > " last[p] }
            row(total[best], total[p] - below[p], calls[best], (first[best] - begun) / 1000, indent text)
            print_below(p, indent "  ")
        }
    }
    # The one function in which this one spends all its time; "" if there is none.
    function only_below(parent,    i, p) {
        for (i = 1; i <= paths; i++) {
            p = all[i]
            if (above[p] == parent && total[parent] - total[p] < least && calls[p] == calls[parent]) return p
        }
        return ""
    }
    END {
        for (i = 1; i <= count; i++) {
            call = order[i]; p = path_of(call)
            if (!(p in total)) {
                all[++paths] = p; first[p] = begin[call]; last[p] = function_of[call]
                above[p] = caller[call] in took ? path_of(caller[call]) : thread[call] == 1 ? "" : "threads"
            }
            total[p] += took[call]; calls[p]++
            if (begin[call] < first[p]) first[p] = begin[call]
        }
        for (i = 1; i <= paths; i++) below[above[all[i]]] += total[all[i]]
        printf "%9s %9s %7s %9s\n", "ms", "own ms", "calls", "since"
        row((ended - begun) / 1000, 0, 1, 0, "the process")
        row((main_begin - begun) / 1000, 0, 1, 0, "  before main: exec, dynamic linker")
        print_below("", "  ")
        row((ended - main_end) / 1000, 0, 1, (main_end - begun) / 1000, "  after main: exit, the kernel frees what is left")
        if ("threads" in below) {
            printf "other threads, added up:\n"
            print_below("threads", "  ")
        }
    }' "$folder/functions" "$1"
}

run() {
    local calls=$scratch/calls begun ended code=0
    folder=$1
    shift
    begun=${EPOCHREALTIME/[.,]/}
    PROFILE_OUT=$calls LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} LD_PRELOAD=$folder/profile.so "$folder/xferbench" "$@" >/dev/null || code=$?
    ended=${EPOCHREALTIME/[.,]/}
    printf 'xferbench %s: exit %d\n' "$*" "$code"
    table "$calls" "$begun" "$ended"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case ${1:-} in
build | run) "$@" ;;
*)
    sed -n '4,5p' "$0" >&2
    exit 2
    ;;
esac
