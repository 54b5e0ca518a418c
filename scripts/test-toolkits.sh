#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: test-toolkits.sh [FOLDER]
#
# Builds xferbench with each CUDA Toolkit that Debian ships: 11.8 (Debian 12) and 12.4 (Debian 13),
# for every GPU they know. Downloads the packages and unpacks them in FOLDER, which it keeps for the
# next time, or in a temporary one: 1.0 GB each, then 0.3 GB unpacked. Installs nothing and needs no
# root. Says "Left out" where the packages cannot be had, and fails if a build does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1-}" in
-*)
    sed -n 's/^# \(usage: .*\)/\1/p' "${BASH_SOURCE[0]}"
    [ "$1" = --help ] && exit 0
    exit 2
    ;;
'')
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    ;;
*)
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    ;;
esac

# apt_of SUITE COMMAND...: apt with the packages of one release of Debian and nothing of this system.
apt_of() {
    local state=$folder/apt-$1
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
$1 main non-free" >"$state/sources.list"
    printf '%s "%s";\n' Dir::State "$state" Dir::State::status /dev/null Dir::Cache "$state/cache" \
        Dir::Etc::sourcelist "$state/sources.list" Dir::Etc::sourceparts - APT::Architecture amd64 \
        APT::Sandbox::User "$(id -un)" >"$state/apt.conf"
    APT_CONFIG=$state/apt.conf "${@:2}"
}

# unpack SUITE TARGET PACKAGE...: without the static libraries that nothing here links.
unpack() {
    local downloads=$2.downloads package
    rm -rf "$2" "$downloads"
    mkdir -p "$2" "$downloads"
    (cd "$downloads" && apt_of "$1" apt-get -q download "${@:3}") || return 1
    for package in "$downloads"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" |
            tar -x -C "$2" --exclude='*_static_nocallback.a' --exclude='./usr/lib/*/libcu[!d]*.a' \
                --exclude='./usr/lib/*/libnpp*.a' --exclude='./usr/lib/*/libnv*.a' \
                --exclude='./usr/share/*' || return 1
    done
    rm -r "$downloads"
}

# The newest compiler that CUDA 11.8 gets on with.
compiler_of_debian_12() {
    unpack bookworm "$folder/g++-11.new" g++-11 gcc-11 cpp-11 gcc-11-base libstdc++-11-dev libgcc-11-dev
    mv "$folder/g++-11.new" "$folder/g++-11"
}

# fetch SUITE VERSION RUNTIME-PACKAGE: the toolkit in the places that NVIDIA's own has them in, because
# Debian's nvcc looks for its parts under /usr.
fetch() {
    local new=$folder/cuda-$2.new unpacked=$folder/cuda-$2.packages
    apt_of "$1" apt-get -q update || return 1
    unpack "$1" "$unpacked" nvidia-cuda-toolkit nvidia-cuda-dev "$3" || return 1
    rm -rf "$new"
    mkdir -p "$new/nvvm/bin"
    mv "$unpacked/usr/bin" "$unpacked/usr/include" "$new/"
    mv "$unpacked"/usr/lib/x86_64-linux-gnu "$new/lib64"
    mv "$unpacked/usr/lib/nvidia-cuda-toolkit/libdevice" "$new/nvvm/"
    mv "$unpacked/usr/lib/nvidia-cuda-toolkit/bin/cicc" "$new/nvvm/bin/"
    mv -f "$unpacked/usr/lib/nvidia-cuda-toolkit/bin/"{nvcc,crt} "$new/bin/"
    cat >"$new/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
PROFILE
    rm -rf "$unpacked"
    mv "$new" "$folder/cuda-$2"
}

# build VERSION
build() {
    local build=$folder/build-$1 listed
    rm -rf "$build"
    # As system headers, which they are under /usr: where they contradict those of glibc, as they do
    # those of 2.41, that is then no error.
    export NVCC_PREPEND_FLAGS="-isystem $folder/cuda-$1/include"
    cmake -S "$root" -B "$build" -DXFERBENCH_CUDA=ON -DXFERBENCH_HIP=OFF -DXFERBENCH_WERROR=ON \
        -DXFERBENCH_NVCC="$folder/cuda-$1/bin/nvcc" \
        -DCMAKE_CUDA_HOST_COMPILER="$folder/g++-11/usr/bin/g++-11"
    cmake --build "$build" --parallel "$(nproc)" --target xferbench
    listed=$("$build/xferbench" list)
    if ! grep -qF "runtime $1" <<<"$listed"; then
        echo "test-toolkits.sh: the program built with CUDA $1 does not say so:" >&2
        echo "$listed" >&2
        return 1
    fi
}

if ! command -v apt-get >/dev/null || [ ! -e /usr/share/keyrings/debian-archive-keyring.gpg ] ||
    [ "$(uname -m)" != x86_64 ]; then
    echo 'Left out: the toolkits of Debian: this system is not Debian on x86-64'
    exit 0
fi
for toolkit in 'bookworm 11.8 libcudart11.0' 'trixie 12.4 libcudart12'; do
    read -r suite version runtime <<<"$toolkit"
    if { [ -e "$folder/cuda-$version" ] || fetch "$suite" "$version" "$runtime"; } &&
        { [ -e "$folder/g++-11" ] || compiler_of_debian_12; }; then
        printf '\n== CUDA %s of Debian\n' "$version"
        build "$version"
    else
        echo "Left out: CUDA $version: its packages could not be had from deb.debian.org ($suite)"
    fi
done
