#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: unpack-deps.sh FOLDER
#
# Without root: makes the libraries that building xferbench needs usable from FOLDER. Looks which of them
# pkg-config does not find, downloads those packages with apt-get or dnf, and unpacks them below FOLDER.
# Writes nothing outside FOLDER and touches no network if nothing is missing. FOLDER/environment, for the
# shell, then makes cmake find them, and names the folders in which programs have to look for them. Fails if
# a compiler, cmake or cJSON is missing and cannot be had; the other libraries xferbench can do without.
#
#     . FOLDER/environment && cmake -S . -B build -DCMAKE_INSTALL_RPATH="$XFERBENCH_RPATH"
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1-}" in
-h | --help) sed -n '/^# usage/,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
'' | -*) echo 'usage: unpack-deps.sh FOLDER' >&2 && exit 2 ;;
esac

# give_up WHY: with what works on any system.
give_up() {
    local version
    version=$(sed -n 's/^project(xferbench VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
    echo "unpack-deps.sh: $1." >&2
    echo "A bundle needs none of this: unpack xferbench-$version-$(uname -m).tar.gz and run bin/xferbench." >&2
    echo 'To make one on another machine: ./scripts/package.sh FOLDER' >&2
    exit 1
}

programs=()
command -v cc >/dev/null || programs+=('a C compiler (cc)')
command -v cmake >/dev/null || programs+=(cmake)
command -v make >/dev/null || command -v ninja >/dev/null || programs+=('make or ninja')
if [ "${#programs[@]}" -gt 0 ]; then
    missing=$(printf ', %s' "${programs[@]}")
    give_up "building needs ${missing:2}; load a module that has it, or ask whoever looks after this machine"
fi

mkdir -p "$1"
folder=$(cd "$1" && pwd)
[[ $folder != *[!A-Za-z0-9/_.+@~-]* ]] || give_up "$folder has a character in its name with which pkg-config has trouble"

# use_folder: makes pkg-config, cmake and programs find what lies below FOLDER.
use_folder() {
    local pkgconfig libraries
    pkgconfig=$(find "$folder" -type d -name pkgconfig -printf '%p:')
    libraries=$(find "$folder" -name 'lib*.so*' -printf '%h\n' | sort -u | tr '\n' ';')
    {
        echo "export PKG_CONFIG_PATH=$pkgconfig\${PKG_CONFIG_PATH-}"
        echo "export CMAKE_PREFIX_PATH=$folder/usr\${CMAKE_PREFIX_PATH:+:\$CMAKE_PREFIX_PATH}"
        echo "export XFERBENCH_RPATH='${libraries%;}'"
        [ ! -e "$folder/pkg-config" ] || echo "export PKG_CONFIG=$folder/pkg-config"
    } >"$folder/environment"
    # shellcheck source=/dev/null
    . "$folder/environment"
}

# lacks MODULE: whether pkg-config, which may be missing itself, does not find it.
lacks() {
    ! "${PKG_CONFIG:-pkg-config}" --exists "$1" 2>/dev/null
}

use_folder
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    manager=apt-get
elif command -v dnf >/dev/null && command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
    manager=dnf
else
    manager=none
fi

# want APT-NAME DNF-NAME
packages=()
want() {
    case "$manager" in
    apt-get) packages+=("$1") ;;
    dnf) packages+=("$2") ;;
    none) packages+=("$1 (Fedora: $2)") ;;
    esac
}
command -v "${PKG_CONFIG:-pkg-config}" >/dev/null || want pkg-config pkgconf-pkg-config
! lacks libcjson || want libcjson-dev cjson-devel
! lacks 'hwloc >= 2.0' || want libhwloc-dev hwloc-devel
! lacks liblz4 || want liblz4-dev lz4-devel
! lacks 'liburing >= 2.2' || want liburing-dev liburing-devel
! lacks 'sqlite3 >= 3.31' || want libsqlite3-dev sqlite-devel
! lacks zlib || want zlib1g-dev zlib-devel
[ "${#packages[@]}" -gt 0 ] || exit 0

work=$(mktemp -d "$folder/download.XXXXXX")
trap 'rm -rf "$work"' EXIT

# apt COMMAND...: apt-get with the system's sources and keys, and with lists and archives in a folder of ours. It reads
# which packages are installed, and takes no lock, because it changes nothing.
apt() {
    apt-get -q -o "Dir::State=$work/state" -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" \
        -o 'Dir::State::Status=/var/lib/dpkg/status' -o Debug::NoLocking=true -o Acquire::Languages=none "$@"
}

# download PACKAGE: with what it needs and this system has not installed.
download() {
    case "$manager" in
    apt-get) apt install -y --no-install-recommends --download-only "$1" ;;
    dnf) dnf download -q --resolve --destdir "$work" "$1" ;;
    esac
}

# unpack FILE: but not the C library and the compiler's: they belong to the system's loader and compiler.
unpack() {
    case "${1##*/}" in
    libc6[_-]* | libc-* | glibc* | libgcc* | libstdc++* | linux-libc-dev* | gcc* | cpp*) return 0 ;;
    *.deb) dpkg-deb -x "$1" "$folder" ;;
    *.rpm) (cd "$folder" && rpm2cpio "$1" | cpio -idm --quiet) ;;
    esac
}

# Packages say /usr, and leave out Debian's folders that every compiler looks into. What FOLDER lacks because the system has it installed is linked to where the system has it.
move_prefix() {
    local link target include
    find "$folder/usr" -name '*.pc' -type f -exec sed -i "s|=/usr|=$folder/usr|" {} +
    for include in "$folder"/usr/include/*-linux-gnu*; do
        [ ! -d "$include" ] || find "$folder/usr" -name '*.pc' -type f -exec sed -i "s|^Cflags:|& -I$include|" {} +
    done
    find "$folder/usr" -xtype l -name '*.so' | while read -r link; do
        target=$(readlink "$link")
        [[ $target = /* ]] || target=${link#"$folder"} target=${target%/*}/$(readlink "$link")
        [ ! -e "$target" ] || ln -sf "$target" "$link"
    done
}

# A pkg-config that was unpacked needs its own library.
wrap_pkg_config() {
    local library
    [ -x "$folder/usr/bin/pkg-config" ] || return 0
    library=$(find "$folder/usr" -name 'libpkgconf.so.*' -print -quit)
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec %s "$@"\n' \
        "${library%/*}" "$folder/usr/bin/pkg-config" >"$folder/pkg-config"
    chmod +x "$folder/pkg-config"
}

echo "Missing here: ${packages[*]}"
if [ "$manager" != none ]; then
    echo "Downloading with $manager, without root, and unpacking into $folder"
    mkdir -p "$work"/{state,lists/partial,cache/archives/partial}
    [ "$manager" != apt-get ] || apt update -o APT::Update::Error-Mode=any >"$work/log" 2>&1 || tail -n 1 "$work/log"
    for package in "${packages[@]}"; do
        download "$package" >"$work/log" 2>&1 || echo "Left out: $package could not be downloaded: $(tail -n 1 "$work/log")"
    done
    while read -r file; do
        unpack "$file"
    done < <(find "$work" -name '*.deb' -o -name '*.rpm')
    [ ! -d "$folder/usr" ] || { move_prefix && wrap_pkg_config; }
    use_folder
fi
command -v "${PKG_CONFIG:-pkg-config}" >/dev/null || give_up 'building needs pkg-config, which is missing'
! lacks libcjson || give_up 'building needs cJSON, with its headers and its .pc file, which is missing'
