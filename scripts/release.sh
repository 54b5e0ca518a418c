#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: release.sh FOLDER [CMAKE-OPTION...]
#
# Makes all files of a release from the commit that is checked out, in FOLDER, which must be new or empty:
# the packages of scripts/package.sh (which gets the CMAKE-OPTIONs), the sources, the recipes, a list of
# their parts (CycloneDX) and SHA256SUMS. packaging/publisher says who publishes it, and where: without
# addresses there it leaves the recipes out. Refuses a tree with changes. Signs nothing and sends nothing anywhere. Builds
# the packages from the sources of the release. If anything fails, FOLDER stays as it was.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
usage=$(sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}")
case "${1-}" in
-h | --help) echo "$usage" && exit 0 ;;
'' | -*) echo "$usage" >&2 && exit 2 ;;
esac

# give_up WHAT
give_up() {
    echo "release.sh: $1" >&2
    exit 1
}

[ "$(git -C "$root" rev-parse --show-toplevel)" = "$root" ] ||
    give_up "$root is no git checkout of its own: a release is made of a commit"
changes=$(git -C "$root" status --porcelain)
[ -z "$changes" ] || give_up "the tree has changes: commit them, or take them away
$changes"
[ ! -e "$1" ] || [ -d "$1" ] || give_up "$1 is no folder"
[ -z "$(find "$1" -mindepth 1 -print -quit 2>/dev/null)" ] || give_up "$1 is not empty: name a new folder"

version=$(sed -n 's/^project(xferbench VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[ -n "$version" ] || give_up 'CMakeLists.txt names no version'
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

umask 022 # for whoever they are published to
work=$(mktemp -d)
unfinished= # in FOLDER, while there is something
own=        # FOLDER, while it is ours and has nothing complete
trap 'rm -rf "$work" ${unfinished:+"$unfinished"} ${own:+"$own"}' EXIT
made=$work/made
mkdir "$made"

echo "== Sources of $(git -C "$root" log -1 --format='%h, %s')"
# Set here, because a user's own settings change the bytes.
git -C "$root" -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="xferbench-$version/" HEAD \
    >"$work/sources.tar"
gzip -n -9 <"$work/sources.tar" >"$made/xferbench-$version.tar.gz"

# publisher KEY: what packaging/publisher says, as sed's s|...|...| takes it.
publisher() {
    sed -n "s/^$1=//p" "$root/packaging/publisher" | sed 's/[&|\\]/\\&/g'
}

echo '== Recipes'
tar -C "$work" -xf "$work/sources.tar"
if grep -qE '\.invalid|@example\.org' "$root/packaging/publisher"; then
    echo 'Left out: set all addresses in packaging/publisher'
else
    sum=$(sha256sum "$made/xferbench-$version.tar.gz" | cut -d ' ' -f 1)
    mkdir "$work/recipes"
    cp -R "$work/xferbench-$version/packaging"/{spack,easybuild,conda-forge} "$work/recipes/"
    find "$work/recipes" -type f -exec sed -i "s|@HOMEPAGE@|$(publisher homepage)|; s|@SOURCES@|$(publisher sources)|
        s|0\{64\}|$sum|" {} +
    tar -C "$work" --sort=name --owner=root:0 --group=root:0 --mtime="@$SOURCE_DATE_EPOCH" -c recipes |
        gzip -n -9 >"$made/xferbench-$version-recipes.tar.gz"
fi

echo '== Packages'
"$work/xferbench-$version/scripts/package.sh" "$work/packages" "${@:2}"
mv "$work/packages"/* "$made/"

echo '== What they consist of'
python3 -B "$root/scripts/sbom.py" "$version" "$SOURCE_DATE_EPOCH" "$made"/* >"$work/sbom.json"
mv "$work/sbom.json" "$made/xferbench-$version.cdx.json"

(cd "$made" && export LC_ALL=C && sha256sum -- * >"$work/SHA256SUMS") # in the same order everywhere
mv "$work/SHA256SUMS" "$made/"
# On its disk first, which may be full: after that they only get their names.
[ -d "$1" ] || own=$1
mkdir -p "$1"
unfinished=$1/.unfinished
mkdir "$unfinished"
mv "$made"/* "$unfinished/"
mv "$unfinished"/* "$1/"
rmdir "$unfinished"
own=
printf '\nIn %s:\n' "$1"
(cd "$1" && printf '    %s\n' *)
