#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: test-packages.sh [FOLDER]
#
# Builds the packages in a fresh Debian 12 and a fresh Debian 13, as a user who is not root, and tries
# each on a bare system. The DEBs are installed, run and purged, and must leave no file behind. The bundles
# run without the libraries that they bring, also on the other release. The systems lie in FOLDER, which
# keeps the bare ones for the next time, or in a temporary folder: about 1 GB of packages, 3 GB on disk.
# Needs root, debootstrap and the network, and says "Left out" without them. Fails if a package does not
# work. XFERBENCH_CUDA and XFERBENCH_HIP are OFF, because those packages need a toolkit.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1-}" in
-*)
    sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}"
    [ "$1" = --help ] && exit 0
    exit 2
    ;;
esac
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! command -v unshare >/dev/null; then
    echo 'Left out: packages on fresh systems: that takes root, debootstrap and unshare'
    exit 0
fi
if [ $# -eq 0 ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
else
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
fi

# fresh SUITE NAME: a bare system in the folder NAME.
fresh() {
    local bare=$folder/$1
    if [ ! -e "$bare" ]; then
        rm -rf "$bare.new"
        debootstrap --variant=minbase "$1" "$bare.new" http://deb.debian.org/debian >"$bare.log" 2>&1 || {
            tail -n 30 "$bare.log" >&2
            exit 1
        }
        mv "$bare.new" "$bare"
    fi
    rm -rf "${folder:?}/$2"
    cp -a --reflink=auto "$bare" "$folder/$2"
    cp -L /etc/resolv.conf "$folder/$2/etc/resolv.conf"
}

# within NAME COMMAND...: runs it in that system. Its mounts and left-over processes end with it.
# shellcheck disable=SC2016
within() {
    unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && mount -t sysfs -o ro sysfs "$0/sys" &&
        mount -t devpts devpts "$0/dev/pts" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' \
        "$folder/$1" "${@:2}"
}

# build SUITE: leaves its packages in FOLDER/packages-SUITE.
build() {
    local system=build-$1
    fresh "$1" "$system"
    within "$system" apt-get -qq update
    mkdir "$folder/$system/home/source"
    (cd "$root" && git ls-files -z --cached --others --exclude-standard |
        tar --create --null --ignore-failed-read --files-from=-) | tar -x -C "$folder/$system/home/source"
    within "$system" /home/source/scripts/install-deps.sh --build >/dev/null
    within "$system" apt-get -qq install --no-install-recommends dpkg-dev file libcmocka-dev python3 >/dev/null
    mkdir -m 777 "$folder/$system/home/packages"
    within "$system" setpriv --reuid=65534 --regid=65534 --clear-groups /home/source/scripts/package.sh \
        /home/packages -DXFERBENCH_CUDA=OFF -DXFERBENCH_HIP=OFF >"$folder/$system.log" 2>&1 || {
        tail -n 30 "$folder/$system.log" >&2
        exit 1
    }
    rm -rf "$folder/packages-$1"
    mv "$folder/$system/home/packages" "$folder/packages-$1"
    rm -rf "${folder:?}/$system"
}

# run_it NAME PROGRAM: it must measure, list, and say that there is nothing for link to test.
run_it() {
    within "$1" "$2" --backend host --mode pinned --size 16M >"$folder/output" &&
        grep -q '^Pinned: .* to the GPU' "$folder/output" &&
        within "$1" "$2" list >"$folder/output" &&
        grep -q pinned "$folder/output" &&
        { within "$1" "$2" link >"$folder/output" || [ $? -eq 3 ]; } &&
        grep -q '^Node .*: UNKNOWN: ' "$folder/output"
}

# files NAME: lists all files but locks and the package managers' own records.
files() {
    (cd "$folder/$1" && find . -xdev -path ./proc -prune -o -path ./sys -prune -o -path ./var/cache -prune -o \
        -path ./var/log -prune -o -path ./var/lib/apt -prune -o -path './var/lib/dpkg/*-old' -prune -o \
        -path ./var/lib/dpkg/lock\* -prune -o -path ./var/lib/dpkg/triggers -prune -o -printf '%p %M %u %g %l\n') | sort
}

# try_deb FROM ON: a DEB built on one release and installed on another or the same.
try_deb() {
    fresh "$2" try
    within try apt-get -qq update
    files try >"$folder/before"
    cp "$folder/packages-$1/"xferbench_*.deb "$folder/try/tmp/xferbench.deb"
    cp "$folder/packages-$1/"xferbench-doc_*.deb "$folder/try/tmp/doc.deb"
    if ! within try apt-get -q install --no-install-recommends -y /tmp/{xferbench,doc}.deb >"$folder/output" 2>&1; then
        printf '    DEB of %s on %s: cannot be installed\n' "$1" "$2"
        sed -n 's/^ \+xferbench : /        /p' "$folder/output"
        [ "$1" != "$2" ]
        return
    fi
    run_it try xferbench
    within try test -e /usr/share/man/man1/xferbench.1.gz
    within try test -e /usr/share/bash-completion/completions/xferbench
    within try xferbench show /usr/share/doc/xferbench/examples/run.json >/dev/null
    within try apt-get -qq purge xferbench xferbench-doc >/dev/null
    within try apt-get -qq autoremove --purge >/dev/null
    rm "$folder/try/tmp/"{xferbench,doc}.deb
    files try >"$folder/after"
    diff "$folder/before" "$folder/after"
    printf '    DEB of %s on %s: installed, run, purged; no file is left behind\n' "$1" "$2"
}

# try_bundle FROM ON: runs it on a system without the libraries that it brings.
try_bundle() {
    local bundle name
    for bundle in "$folder/packages-$1/"*.tar.gz; do
        fresh "$2" try
        tar -xf "$bundle" -C "$folder/try/opt"
        for name in "$folder/try/opt/"*/lib/xferbench/*; do
            find "$folder/try/usr/lib" "$folder/try/lib/" -name "${name##*/}*" -delete
        done
        find "$folder/try/usr/lib" "$folder/try/lib/" \
            \( -name 'libhwloc.so*' -o -name 'liblz4.so*' -o -name 'liburing.so*' -o -name 'libsqlite3.so*' \) -delete
        name=$(basename "$bundle" .tar.gz)
        if ! run_it try "/opt/$name/bin/xferbench" 2>"$folder/errors"; then
            printf '    %s of %s on %s: does not run\n' "$name" "$1" "$2"
            sed 's/^/        /' "$folder/errors"
            [ "$1" != "$2" ]
            continue
        fi
        [ ! -e "$folder/try/opt/$name/libexec" ] || within try "/opt/$name/libexec/xferbench/test_contract" host &>/dev/null
        printf '    %s of %s on %s: runs\n' "$name" "$1" "$2"
    done
}

suites=(bookworm trixie)
for suite in "${suites[@]}"; do
    printf '\n== Build on %s\n' "$suite"
    build "$suite"
    find "$folder/packages-$suite" -type f -printf '    %f, %s bytes\n' | sort
done
for from in "${suites[@]}"; do
    for on in "${suites[@]}"; do
        printf '\n== Of %s on %s\n' "$from" "$on"
        try_deb "$from" "$on"
        try_bundle "$from" "$on"
    done
done
