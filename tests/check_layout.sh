#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_layout.sh SOURCE-FOLDER C-COMPILER GENERATED-INCLUDE-FOLDER
#
# Proves the rules that hold the tree together: who includes whose headers, that every public header
# stands on its own, and that every file names its licence. Prints what breaks them and exits with 1.
set -uo pipefail

if [ $# -ne 3 ]; then
    echo "usage: check_layout.sh SOURCE-FOLDER C-COMPILER GENERATED-INCLUDE-FOLDER" >&2
    exit 2
fi
compiler=$2
generated=$3
cd "$1" || exit 2
roots=(src include tests cmake)
for folder in docs bench; do
    [ ! -d "$folder" ] || roots+=("$folder")
done
failed=0

# broken RULE LINES: nothing if there are no lines.
broken() {
    [ -n "$2" ] || return 0
    failed=1
    printf '%s:\n' "$1"
    printf '%s\n' "$2" | sed 's/^/    /'
}

# includes HEADERS: every line of our sources that includes one of them (an extended regular
# expression for what stands behind the opening bracket or quote), as file:line:text.
includes() {
    find "${roots[@]}" -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.in' \) \
        -exec grep -HnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($1)" {} +
}

# except FOLDER-OR-FILE...: without the lines of those.
except() {
    local paths
    paths=$(printf '|%s' "$@")
    grep -vE "^(${paths:1})" || true
}

# The searches must find what is known to be there: one that finds nothing proves nothing.
for known in 'cuda' 'hwloc' 'cjson/' 'libsmartcols/' 'xferbench/'; do
    [ -n "$(includes "$known")" ] || broken "check_layout.sh itself is broken" \
        "it finds no include of $known in $PWD"
done

vendor='cuda|cu(blas|fft|rand|solver|sparse|pti|file)|nv(ml|rtc|ToolsExt|tx3)|driver_types\.h'
vendor+='|vector_types\.h|device_launch_parameters\.h|hip/|hsa/|hsakmt|roc|amd_smi|rocm_smi|ze_api|level_zero/'
broken "A vendor's header is included outside src/backends/" \
    "$(includes "$vendor" | except src/backends/ tests/doubles/)"
broken "A backend's own header is included outside src/backends/" \
    "$(includes '[^>"]*backends/' | except src/backends/ tests/)"
broken "hwloc is included outside src/core/topology.c" \
    "$(includes 'hwloc' | except src/core/topology.c:)"
broken "cJSON is included outside src/sinks/, src/record/, src/link/limits_file.c and tests/" \
    "$(includes '([^>"]*/)?cJSON' | except src/sinks/ src/record/ src/link/limits_file.c: tests/)"
broken "libsmartcols is included outside src/sinks/" \
    "$(includes 'libsmartcols' | except src/sinks/)"

# Twice, to prove the guard. Only version.h, which the build makes, is not among the sources.
compiles_alone() {
    local header=$1
    shift
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$compiler" -std=c11 -Wall -Wextra -Werror "$@" -fsyntax-only -x c - 2>&1 ||
        echo "(the compiler fails)"
}
headers=0
for header in include/xferbench/*.h; do
    headers=$((headers + 1))
    broken "$header does not compile alone" "$(compiles_alone "${header#include/}" -Iinclude)"
done
[ "$headers" -ge 2 ] || broken "check_layout.sh itself is broken" "it finds no headers in $PWD/include"
broken "xferbench/version.h does not compile alone" \
    "$(compiles_alone xferbench/version.h "-I$generated")"

# Codes of verdicts are for machines: what the program may say and what is told of it are the same.
codes_used() {
    grep -hoE '"XB-[A-Z0-9-]+"' src/link/*.c | tr -d '"' | sort -u
}
codes_told() {
    grep -oE '^\| `XB-[A-Z0-9-]+` ' docs/link.md | tr -d '|` ' | sort
}
[ -n "$(codes_used)" ] || broken "check_layout.sh itself is broken" "it finds no codes in src/link/"
broken "Not once in docs/link.md's table and also in src/link/" "$(diff <(codes_used) <(codes_told))"

# A script's first line is taken, so the licence may stand a little further down. What fuzzing found is
# no source.
broken "No line 'SPDX-License-Identifier: Apache-2.0' at the beginning" "$(
    find src include tests scripts cmake \( -name __pycache__ -o -path tests/fuzz/corpus \) -prune -o \
        -type f -print |
        while IFS= read -r file; do
            awk 'NR > 3 || found { exit }
                 /SPDX-License-Identifier: Apache-2\.0/ { found = 1 }
                 END { exit !found }' "$file" || echo "$file"
        done
)"

[ "$failed" -eq 0 ] && echo "The layout is as it should be: $headers headers, every rule holds."
exit "$failed"
