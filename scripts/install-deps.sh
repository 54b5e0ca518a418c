#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: install-deps.sh [--build | --test | --cuda | --hip]
#
# Installs what building xferbench needs (--build, the default), with --test also what its tests need;
# with --cuda a CUDA Toolkit, with --hip the HIP runtime and its headers. On Debian and Ubuntu with
# apt-get, on Fedora, RHEL and its kin with dnf. Touches neither the network nor the system if nothing
# is missing. Where it cannot install something it says what to type, and exits with 1.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage='usage: install-deps.sh [--build | --test | --cuda | --hip]'
wanted=${1---build}
case "$wanted" in
--build | --test | --cuda | --hip) ;;
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

# Whether there are HIP headers where CMake looks for them.
has_hip() {
    [ -e "${ROCM_PATH:-/opt/rocm}/include/hip/hiprtc.h" ] || [ -e "/opt/rocm/include/hip/hiprtc.h" ] ||
        [ -e "/usr/include/hip/hiprtc.h" ]
}

need_for_build() {
    need_command cc gcc gcc
    need_command g++ g++ gcc-c++ # nvcc's host compiler
    need_command cmake cmake cmake
    command -v ninja >/dev/null || need_command make make make
    need_command pkg-config pkg-config pkgconf-pkg-config
    need_package libcjson-dev cjson-devel
    need_package libhwloc-dev hwloc-devel
    need_package libsmartcols-dev libsmartcols-devel
}

need_for_tests() {
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
    has_german || need locales glibc-langpack-de
    if ! has_hip && [ "$manager" != none ]; then
        need libamdhip64-dev rocm-hip-devel
    fi
}

# A locale with another decimal sign. With apt-get its package has only the sources.
has_german() {
    locale -a 2>/dev/null | grep -qiE '^de_DE\.utf-?8$'
}

case "$wanted" in
--build) need_for_build ;;
--test) need_for_build && need_for_tests ;;
--cuda) PATH="$PATH:/usr/local/cuda/bin" need_command nvcc nvidia-cuda-toolkit cuda-toolkit ;;
--hip) has_hip || need libamdhip64-dev rocm-hip-devel ;;
esac
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

give_up() {
    echo "install-deps.sh: $1" >&2
    if [ "$manager" = none ]; then
        echo 'Please have these packages installed, then run this again:' >&2
        printf '    %s\n' "${missing[@]}" >&2
    else
        echo 'Please have this done by root, then run this again:' >&2
        printf '    %s install %s\n' "$manager" "${missing[*]}" >&2
    fi
    case "$wanted" in
    --cuda | --hip) echo "Or leave it out: quickstart.sh --no-${wanted#--}" >&2 ;;
    esac
    exit 1
}

sudo='sudo ' # what a command to type begins with
[ "$(id -u)" -ne 0 ] || sudo=

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

# candidate PACKAGE: the release of it that apt-get would install, or nothing.
candidate() {
    LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p' | grep -vx '(none)'
}

# choose_cuda_of_apt: which packages are the toolkit. NVIDIA's, where its repository is known; else
# the distribution's, with the first compiler that it names: another that satisfies it may be
# there already, but its nvcc does not take that by itself.
choose_cuda_of_apt() {
    local release compiler
    if candidate cuda-toolkit >/dev/null; then
        missing=(cuda-toolkit)
        return
    fi
    release=$(candidate nvidia-cuda-toolkit) || no_cuda \
        'the CUDA Toolkit (nvidia-cuda-toolkit) is in no repository that apt-get knows' "$(enable_non_free)"
    dpkg --compare-versions "$release" ge 11.8 || no_cuda \
        "the CUDA Toolkit of this system is $release, and xferbench needs 11.8 or later" "$(enable_nvidia)"
    compiler=$(apt-cache depends nvidia-cuda-toolkit | grep -oE 'g\+\+-[0-9]+' | head -n 1) || compiler=
    missing=(nvidia-cuda-toolkit ${compiler:+"$compiler"})
    if replaces_driver; then
        no_cuda "the NVIDIA driver here is not apt-get's, and nvidia-cuda-toolkit would put another beside it" \
            "$(enable_nvidia)"
    fi
}

# Whether apt-get would install a library of the driver beside one that it does not know.
replaces_driver() {
    local library
    library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n 's/^\tlibcuda\.so\.1 .* => //p' | head -n 1)
    [ -n "$library" ] && ! dpkg-query -S "*/libcuda.so.1" >/dev/null 2>&1 &&
        apt-get install -s --no-install-recommends "${missing[@]}" | grep -qE '^Inst (libcuda1|libnvidia-compute)'
}

# The commands that make a toolkit known to apt-get, for who has none.
enable_non_free() {
    local ID=unknown
    # shellcheck source=/dev/null
    . /etc/os-release
    if [ "$ID" = ubuntu ]; then
        echo "${sudo}add-apt-repository -y multiverse"
    elif [ -e /etc/apt/sources.list.d/debian.sources ]; then
        echo "${sudo}sed -i 's/^Components:.*/Components: main contrib non-free non-free-firmware/'" \
            '/etc/apt/sources.list.d/debian.sources'
    else
        echo "${sudo}sed -i '/^deb /s/ main.*/ main contrib non-free non-free-firmware/' /etc/apt/sources.list"
    fi
}
enable_nvidia() {
    local ID=unknown VERSION_ID=0 package=cuda-keyring_1.1-1_all.deb
    # shellcheck source=/dev/null
    . /etc/os-release
    echo "curl -fLO https://developer.download.nvidia.com/compute/cuda/repos/$ID${VERSION_ID//./}/x86_64/$package" \
        "&& ${sudo}dpkg -i $package"
}

# no_cuda WHY COMMAND: ends with the command that makes a toolkit known.
no_cuda() {
    echo "install-deps.sh: $1." >&2
    echo 'To have one, type this; or leave CUDA out: quickstart.sh --no-cuda' >&2
    printf '    %s && %s\n' "$2" "$here/quickstart.sh" >&2
    exit 1
}

# say_size COMMAND...: what an installation would download and take, by a package manager that is
# asked to and then told no, which it calls an error.
say_size() {
    local answer
    answer=$(
        LC_ALL=C "$@" 2>&1
        echo
    )
    echo "${missing[*]} takes:"
    sed -nE 's/^(Need to get|After this operation|Total download size|Installed size|Total size)/    &/p' <<<"$answer"
}

install_with_apt_get() {
    local package install=(apt-get install --no-install-recommends)
    # One repository that is down need not stop an install from the others.
    as_root apt-get update || echo 'apt-get update failed: trying with what is known already'
    case "$wanted" in
    --cuda) choose_cuda_of_apt && say_size "${install[@]}" --assume-no "${missing[@]}" ;;
    --hip) say_size "${install[@]}" --assume-no "${missing[@]}" ;;
    --test)
        # With clang 14.0.0 and older there is no libclang-rt-dev: clang itself brings the libraries.
        # Not every release has HIP.
        for package in libclang-rt-dev libamdhip64-dev; do
            apt-cache show "$package" >/dev/null 2>&1 || leave_out "$package"
        done
        ;;
    esac
    [ "${#missing[@]}" -eq 0 ] ||
        as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" -y "${missing[@]}" || return
    # Beside the locales that are there; the system's own stays what it is.
    [ "$wanted" != --test ] || has_german || as_root localedef -i de_DE -f UTF-8 de_DE.UTF-8
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

# The repository of NVIDIA: Fedora and RHEL have no toolkit of their own.
choose_cuda_of_dnf() {
    local ID=unknown VERSION_ID=0 system url
    dnf -q info cuda-toolkit >/dev/null 2>&1 && return
    # shellcheck source=/dev/null
    . /etc/os-release
    system=rhel${VERSION_ID%%.*}
    [ "$ID" != fedora ] || system=fedora$VERSION_ID
    url=https://developer.download.nvidia.com/compute/cuda/repos/$system/x86_64/cuda-$system.repo
    no_cuda 'the CUDA Toolkit (cuda-toolkit) is in no repository that dnf knows' \
        "${sudo}curl -fL -o /etc/yum.repos.d/cuda.repo $url"
}

install_with_dnf() {
    if [ "$wanted" = --test ]; then
        dnf -q info rocm-hip-devel >/dev/null 2>&1 || leave_out rocm-hip-devel # RHEL has it not
    fi
    [ "$wanted" != --cuda ] || choose_cuda_of_dnf
    [ "${#missing[@]}" -gt 0 ] || return 0
    local command=(dnf install --setopt=install_weak_deps=False "${missing[@]}")
    case "$wanted" in
    --cuda | --hip) say_size "${command[@]}" --assumeno ;;
    esac
    as_root "${command[@]}" -y || { enable_crb_and_epel && as_root "${command[@]}" -y; }
}

if [ "$manager" = none ]; then
    give_up 'this system has neither apt-get nor dnf'
elif [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    give_up 'installing packages takes root, and there is no sudo'
fi
echo "Installing with $manager: ${missing[*]}"
"install_with_${manager/-/_}" || give_up "$manager could not install them"
