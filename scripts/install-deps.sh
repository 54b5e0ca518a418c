#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what building xferbench needs, and with --test also what its tests need: on Debian and
# Ubuntu with apt-get, on Fedora, RHEL and its kin with dnf. Touches neither the network nor the
# system if nothing is missing. CUDA and HIP are not installed: a build without them works.
set -euo pipefail

usage='usage: install-deps.sh [--build | --test]'
case "${1---build}" in
--build) tests=false ;;
--test) tests=true ;;
-h | --help) echo "$usage" && exit 0 ;;
*) echo "$usage" >&2 && exit 2 ;;
esac

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    manager=apt-get
elif command -v dnf >/dev/null && command -v rpm >/dev/null; then
    manager=dnf
else
    manager=none
fi

missing=() # packages, by the names of this system

# need APT-NAME DNF-NAME
need() {
    case "$manager" in
    apt-get) missing+=("$1") ;;
    dnf) missing+=("$2") ;;
    none) missing+=("$1 (Fedora: $2)") ;;
    esac
}

# need_command COMMAND APT-NAME DNF-NAME: a program may also have come another way.
need_command() {
    command -v "$1" >/dev/null || need "$2" "$3"
}

# need_package APT-NAME DNF-NAME
need_package() {
    case "$manager" in
    apt-get) dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed ;;
    dnf) rpm -q --whatprovides "$2" >/dev/null 2>&1 ;;
    none) false ;;
    esac || need "$1" "$2"
}

# Whether clang has its sanitizers' libraries: releases put them into packages of different names.
clang_can_sanitize() {
    local folder outcome=0
    command -v clang >/dev/null || return 1
    folder=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$folder/main.c"
    clang -fsanitize=address,undefined "$folder/main.c" -o "$folder/main" 2>/dev/null || outcome=1
    rm -r "$folder"
    return "$outcome"
}

need_command cc gcc gcc
need_command g++ g++ gcc-c++ # nvcc's host compiler
need_command cmake cmake cmake
command -v ninja >/dev/null || need_command make make make
need_command pkg-config pkg-config pkgconf-pkg-config
need_package libcjson-dev cjson-devel
need_package libhwloc-dev hwloc-devel
need_package libsmartcols-dev libsmartcols-devel
if $tests; then
    need_command gcc gcc gcc
    need_command clang clang clang
    need_command clang-tidy clang-tidy clang-tools-extra
    need_command clang-format clang-format clang-tools-extra
    need_command readelf binutils binutils
    need_command python3 python3 python3
    need_package python3-jsonschema python3-jsonschema
    need_package python3-scipy python3-scipy
    need_package python3-yaml python3-pyyaml
    need_package libcmocka-dev libcmocka-devel
    clang_can_sanitize || need libclang-rt-dev compiler-rt
    if [ "$manager" = dnf ]; then
        need_package '' libtsan # with apt-get it comes with gcc
    fi
    if [ ! -e /opt/rocm/include/hip/hiprtc.h ] && [ "$manager" != none ]; then
        need_package libamdhip64-dev rocm-hip-devel
    fi
fi
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

give_up() {
    echo "install-deps.sh: $1" >&2
    echo 'Please have these packages installed, then run this again:' >&2
    printf '    %s\n' "${missing[@]}" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# leave_out PACKAGE: one that this system has not, and that can be done without.
leave_out() {
    local kept=() package
    for package in "${missing[@]}"; do
        [ "$package" = "$1" ] || kept+=("$package")
    done
    missing=("${kept[@]}")
}

install_with_apt_get() {
    # One repository that is down need not stop an install from the others.
    as_root apt-get update || echo 'apt-get update failed: trying with what is known already'
    # With clang 14.0.0 and older there is no libclang-rt-dev: clang itself brings the libraries.
    # Not every release has HIP.
    for package in libclang-rt-dev libamdhip64-dev; do
        apt-cache show "$package" >/dev/null 2>&1 || leave_out "$package"
    done
    [ "${#missing[@]}" -eq 0 ] || as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}"
}

# On RHEL and its kin some of the packages come from CRB (CodeReady Builder) and from EPEL.
enable_crb_and_epel() {
    local ID=unknown VERSION_ID=0 epel=https://dl.fedoraproject.org/pub/epel
    # shellcheck source=/dev/null
    . /etc/os-release
    case "$ID" in
    fedora) return 1 ;;
    rhel)
        echo 'Enabling the repositories CRB and EPEL'
        as_root subscription-manager repos --enable \
            "codeready-builder-for-rhel-${VERSION_ID%%.*}-$(uname -m)-rpms" &&
            as_root dnf install -y "$epel/epel-release-latest-${VERSION_ID%%.*}.noarch.rpm"
        ;;
    *)
        echo 'Enabling the repositories CRB (in release 8: powertools) and EPEL'
        as_root dnf install -y dnf-plugins-core epel-release &&
            { as_root dnf config-manager --set-enabled crb ||
                as_root dnf config-manager --set-enabled powertools; }
        ;;
    esac
}

install_with_dnf() {
    dnf -q info rocm-hip-devel >/dev/null 2>&1 || leave_out rocm-hip-devel # RHEL has it not
    [ "${#missing[@]}" -gt 0 ] || return 0
    local command=(dnf install -y --setopt=install_weak_deps=False "${missing[@]}")
    as_root "${command[@]}" || { enable_crb_and_epel && as_root "${command[@]}"; }
}

if [ "$manager" = none ]; then
    give_up 'this system has neither apt-get nor dnf'
elif [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    give_up 'installing packages takes root, and there is no sudo'
fi
echo "Installing with $manager: ${missing[*]}"
"install_with_${manager/-/_}" || give_up "$manager could not install them"
