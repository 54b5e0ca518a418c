#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: package.sh FOLDER [CMAKE-OPTION...]
#
# Builds xferbench and leaves its packages in FOLDER, and nothing else: the bundle for any node, the
# bundle with the tests for a machine with a GPU, a DEB and an RPM. Says "Left out" and the reason if
# this machine cannot make a package. Fails if a build or a package fails, and then leaves FOLDER as it
# was. Needs no root and installs nothing. All builds get CMAKE-OPTION, such as -DXFERBENCH_CUDA=ON, or
# -DXFERBENCH_HWLOC=OFF: without them hwloc, liblz4, SQLite and zlib have to be there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage=$(sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}")
case "${1-}" in
-h | --help) echo "$usage" && exit 0 ;;
'' | -*) echo "$usage" >&2 && exit 2 ;;
esac
mkdir -p "$1"
folder=$(cd "$1" && pwd)
options=("${@:2}")

# rpmbuild takes no path with a space in it.
[[ ${TMPDIR-} != *[[:space:]]* ]] || export TMPDIR=/tmp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$work/build
made=$work/made
mkdir "$made"

# The same commit makes the same files: they have the commit's date, and permissions that do not depend on
# the user's umask.
umask 022
if [ -z "${SOURCE_DATE_EPOCH-}" ] && date=$(git -C "$root" log -1 --format=%ct 2>/dev/null); then
    export SOURCE_DATE_EPOCH=$date
fi
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja

# has COMMAND WHAT PACKAGE: whether the COMMAND that a package needs is installed.
has() {
    command -v "$1" >/dev/null || {
        echo "Left out: $2: there is no $1; install $3"
        return 1
    }
}

# build STATIC TESTS: always in one folder, because the builds differ only in linking.
build() {
    cmake -S "$root" -B "$build" -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON -DXFERBENCH_HWLOC=ON -DXFERBENCH_LZ4=ON \
        -DXFERBENCH_SQLITE=ON -DXFERBENCH_ZLIB=ON "${options[@]}" \
        -DCMAKE_BUILD_TYPE=Release -DXFERBENCH_STATIC_LIBRARIES="$1" -DXFERBENCH_TESTS="$2"
    cmake --build "$build" --parallel "$(nproc)" --target packaged
}

# pack GENERATOR: makes a package from the last build.
pack() {
    local file
    printf '\n== %s\n' "$1"
    (cd "$build" && cpack -G "$1" -B "$work/cpack")
    for file in "$work/cpack"/*.{tar.gz,deb,rpm}; do
        case "$file" in
        *'*'*) continue ;; # none of that kind
        *.tar.gz) settle_bundle "$file" ;;
        *.deb) settle_deb "$file" ;;
        esac
        mv -t "$made" "$file"
    done
}

# What cpack makes depends on the file system. Into a bundle it takes files in the order in which a folder lists them.
settle_bundle() {
    mkdir "$work/unpacked"
    tar -xpf "$1" -C "$work/unpacked"
    (cd "$work/unpacked" && tar --sort=name --format=ustar --owner=root:0 --group=root:0 \
        ${SOURCE_DATE_EPOCH:+--mtime="@$SOURCE_DATE_EPOCH"} -c -- *) | gzip -n -9 >"$1"
    rm -r "$work/unpacked"
}

# And in the size of a DEB it counts what folders take here; Debian Policy says 1 KiB for each, and for files the whole KiB.
settle_deb() {
    local size
    dpkg-deb -R "$1" "$work/unpacked"
    size=$(find "$work/unpacked" -path "$work/unpacked/DEBIAN" -prune -o -mindepth 1 -printf '%y %s\n' |
        awk '{ sum += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print sum }')
    sed -i "s/^Installed-Size: .*/Installed-Size: $size/" "$work/unpacked/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -b "$work/unpacked" "$1"
    rm -r "$work/unpacked"
}

printf '\n== Build for the bundle\n'
build ON OFF
pack TGZ
if pkg-config --exists cmocka; then
    printf '\n== Build for the bundle with tests\n'
    build ON ON
    pack TGZ
else
    echo 'Left out: the bundle with tests: cmocka was not found; install libcmocka-dev (Fedora: libcmocka-devel)'
fi

generators=()
{ has dpkg-shlibdeps 'the DEB' 'dpkg-dev, on Debian or Ubuntu' && has file 'the DEB' file && generators+=(DEB); } || true
{ has rpmbuild 'the RPM' 'rpm (Fedora: rpm-build)' && generators+=(RPM); } || true
if [ "${#generators[@]}" -gt 0 ]; then
    printf '\n== Build for distributions\n'
    build OFF OFF
    for generator in "${generators[@]}"; do
        pack "$generator"
    done
fi

printf '\nIn %s:\n' "$folder"
for file in "$made"/*; do
    mv "$file" "$folder/"
    printf '    %s\n' "${file##*/}"
done
