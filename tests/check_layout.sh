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
for known in 'cuda' 'hwloc' 'cjson/' 'lz4\.h>' 'liburing' 'sqlite3\.h>|zlib\.h>' 'xferbench/'; do
    [ -n "$(includes "$known")" ] || broken "check_layout.sh itself is broken" \
        "it finds no include of $known in $PWD"
done

vendor='cuda|cu(blas|fft|rand|solver|sparse|pti|file)|nv(ml|rtc|ToolsExt|tx3)|driver_types\.h'
vendor+='|vector_types\.h|device_launch_parameters\.h|hip/|hsa/|hsakmt|roc|amd_smi|rocm_smi|ze_api|level_zero/'
broken "A vendor's header is included outside src/backends/ and the programs to print" \
    "$(includes "$vendor" | except src/backends/ src/advise/code/ tests/doubles/)"
broken "A backend's own header is included outside src/backends/" \
    "$(includes '[^>"]*backends/[a-z0-9_]+/' | except src/backends/ tests/)"
broken "hwloc is included outside src/machine/topology.c and tests/" \
    "$(includes 'hwloc' | except src/machine/topology.c: tests/)"
broken "cJSON is included outside src/base/json_* and tests/" \
    "$(includes '([^>"]*/)?cJSON' | except src/base/json_ tests/)"

broken "A text in memory that does not tell when memory was lacking: src/base/stream.h has one that does" \
    "$(grep -rnE '^[^/*]*\<open_memstream\>' --include='*.c' src)"
broken "liblz4 is included outside src/codecs/lz4_compress.c and tests/" \
    "$(includes 'lz4\.h>' | except src/codecs/lz4_compress.c: tests/)"
broken "liburing is included outside src/storage/reader_uring.c" \
    "$(includes 'liburing' | except src/storage/reader_uring.c: tests/)"
broken "SQLite is included outside src/trace/nsys.c and tests/, or zlib outside src/trace/gzip.c" \
    "$(includes 'sqlite3\.h>|zlib\.h>' | except src/trace/nsys.c: src/trace/gzip.c: tests/)"

# What --backend takes comes from the list that CMake writes: a backend is known by its name in its own
# folder only. "host" alone is also a key of our JSON, so a comparison or a list of names is looked for.
names=$(sed -n 's/^set(XFERBENCH_BACKENDS \([a-z ]*\)).*/\1/p' CMakeLists.txt | tr ' ' '|')
named() {
    grep -rnE --include='*.[ch]' \
        "(name = |strcmp\(.*)\"($names)\"|--backend ($names)|\<($names), ($names)\>" src
}
[ -n "$names" ] && [ "$(named | grep -cE "^src/backends/($names)/")" -ge 3 ] ||
    broken "check_layout.sh itself is broken" "it does not find the backends' names ($names)"
broken "A backend is known by its name outside its folder" \
    "$(named | except "src/backends/($names)/")"
# The list in CMakeLists.txt is all that a mode adds itself to: no other file knows a mode by name. Names
# that are also kinds of memory or words of English are looked for as texts of their own or behind --mode.
modes=$(sed -n 's/^set(XFERBENCH_MODES \([a-z_ ]*\)).*/\1/p' CMakeLists.txt | tr ' ' '|')
dashed=${modes//_/-}
words='pageable|pinned|managed|peer|batch|pin|job'
strict=$(tr '|' '\n' <<<"$dashed" | grep -vxE "$words" | paste -sd '|' -)
names_mode() {
    grep -rnE --include='*.[ch]' \
        "\"($dashed)\"|\"[^\"]*(--mode ($dashed)|\<($strict))\>[^\"]*\"|\<xb_mode_($modes)\>" src |
        grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*| \*)'
}
named_modes=$(names_mode)
for mode in ${modes//|/ }; do
    grep -q "^src/modes/$mode\.c:[0-9]*:.*\"${mode//_/-}\"" <<<"$named_modes" ||
        broken "check_layout.sh itself is broken" "it does not find the name of the mode $mode"
done
exceptions=(
    src/modes/
    # Kinds of memory and capabilities, which modes are named after.
    src/backends/device.c: 'src/backends/gpu/(prove\.c|gpu\.h):' src/backends/hip/library.h: src/backends/hip/hip.c:
    # A case's other device.
    'src/(record/fields|record/document|run/csv|link/monitoring|fleet/write/(formats|picture))\.c:[0-9]+:.*"peer"'
    # What link measures links with, as its user would.
    'src/link/session\.c:[0-9]+:.*"--mode (pinned|peer) ' 'src/link/soak\.c:[0-9]+:.*"--mode=double-buffer"'
    # The rows that advice rests on. And what is asked of it is a job.
    'src/advise/model\.[ch]:' 'src/advise/(json|text)\.c:[0-9]+:.*"job"'
    # Shells declare variables with a word that is also a mode's.
    'src/manual/[a-z]+\.c:[0-9]+:.*\<local (-a )?[a-z]+'
    # Where the CUDA Toolkit lies.
    'src/backends/cuda/(cufile|cuda|injected/collector)\.c:[0-9]+:.*/usr/local/cuda'
    # Kinds of memory of other programs, and the rows that tell what they would take.
    'src/explain/(judge|json)\.c:[0-9]+:.*\] = "(pageable|pinned|managed)"' 'src/explain/(command|text)\.c:[0-9]+:.*--mode (pageable,pinned |pin\.)'
    # Examples of command lines, in help.
    'src/[a-z]+/command\.c:[0-9]+:.*\.example = ' 'src/run/request\.c:[0-9]+:.*\.brief = ' 'src/(compare|show)/command\.c:[0-9]+:.*such as pinned,async/' 'src/show/command\.c:[0-9]+:.*"pinned/h2d/64M'
)
broken "A mode is known by its name outside its file (or it is a word of English: list it in words, in check_layout.sh)" "$(except "${exceptions[@]}" <<<"$named_modes")"

opened() {
    grep -rnE --include='*.[ch]' '(->|\.)driver_open\(' src
}
[ -n "$(opened)" ] || broken "check_layout.sh itself is broken" "it finds nothing that opens a backend"
broken "A backend is opened elsewhere than in src/backends/registry.c" \
    "$(opened | except src/backends/registry.c:)"

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
    grep -hoE '"XB-[A-Z0-9-]+"' $(ls src/link/*.c | grep ${1:+"$1"} accept.c) | tr -d '"' | sort -u
}
codes_told() {
    grep -oE '^\| `XB-[A-Z0-9-]+` ' docs/link.md | tr -d '|` ' | sort
}
[ -n "$(codes_used -v)" ] || broken "check_layout.sh itself is broken" "it finds no codes in src/link/"
broken "Not once in docs/link.md's table and also in src/link/" "$(diff <(codes_used -v) <(codes_told))"
broken "Not in the table of accept.c and also elsewhere in src/link/" "$(diff <(codes_used -v) <(codes_used))"

# A script's first line is taken, so the licence may stand a little further down. What fuzzing found is
# no source, nor are golden cases and machines that hwloc wrote.
broken "No line 'SPDX-License-Identifier: Apache-2.0' at the beginning" "$(
    find src include tests scripts cmake \( -name __pycache__ -o -path tests/fuzz/corpus -o -path 'tests/golden/*/*' \
        -o -name '*_machine.xml' \) -prune -o -type f -print |
        while IFS= read -r file; do
            awk 'NR > 3 || found { exit }
                 /SPDX-License-Identifier: Apache-2\.0/ { found = 1 }
                 END { exit !found }' "$file" || echo "$file"
        done
)"

[ "$failed" -eq 0 ] && echo "The layout is as it should be: $headers headers, every rule holds."
exit "$failed"
