#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: install-deps.sh [--build | --test | --cuda | --hip]
#
# Installs what building xferbench needs (--build, the default), with --test also what its tests need;
# with --cuda a CUDA Toolkit, with --hip the HIP runtime and its headers. On Debian and Ubuntu with
# apt-get, on Fedora, RHEL and its kin with dnf. Touches neither the network nor the system if nothing
# is missing. XFERBENCH_CLANG=clang-19 in the environment adds that clang to --test. Where this script
# cannot install something it says what to type, and exits with 1; what the tests can do without is left
# out with a line that says so.
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

# Packages that are not installed, by the names of this system: needed, and useful for more.
missing=()
optional=()

# name APT-NAME DNF-NAME: the name of this system.
name() {
    case "$manager" in
    apt-get) echo "$1" ;;
    dnf) echo "$2" ;;
    none) echo "$1 (Fedora: $2)" ;;
    esac
}

# need APT-NAME DNF-NAME
need() {
    missing+=("$(name "$@")")
}

# want APT-NAME DNF-NAME: not every system has it, and the build or the tests can do without.
want() {
    optional+=("$(name "$@")")
}

# need_command COMMAND APT-NAME DNF-NAME: a program may also have come another way.
need_command() {
    command -v "$1" >/dev/null || need "$2" "$3"
}

# has_package APT-NAME DNF-NAME
has_package() {
    case "$manager" in
    apt-get) dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed ;;
    dnf) rpm -q --whatprovides "$2" >/dev/null 2>&1 ;;
    none) false ;;
    esac
}

# need_package APT-NAME DNF-NAME
need_package() {
    has_package "$@" || need "$@"
}

# clang_can_sanitize CLANG: whether it has its sanitizers' libraries, which releases put into packages of
# different names.
clang_can_sanitize() {
    local folder outcome=0
    command -v "$1" >/dev/null || return 1
    folder=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$folder/main.c"
    "$1" -fsanitize=address,undefined "$folder/main.c" -o "$folder/main" 2>/dev/null || outcome=1
    rm -r "$folder"
    return "$outcome"
}

# Whether there are HIP headers where CMake looks for them.
has_hip() {
    [ -e "${ROCM_PATH:-"/opt/rocm"}/include/hip/hiprtc.h" ] || [ -e "/opt/rocm/include/hip/hiprtc.h" ] ||
        [ -e "/usr/include/hip/hiprtc.h" ]
}

has_nvcc() {
    PATH="$PATH:/usr/local/cuda/bin" command -v nvcc >/dev/null
}

need_for_build() {
    need_command cc gcc gcc
    need_command g++ g++ gcc-c++ # nvcc's host compiler
    need_command cmake cmake cmake
    command -v ninja >/dev/null || need_command make make make
    need_command pkg-config pkg-config pkgconf-pkg-config
    need_package libcjson-dev cjson-devel
    need_package libhwloc-dev hwloc-devel
    need_package liblz4-dev lz4-devel
    need_package libsqlite3-dev sqlite-devel
    need_package zlib1g-dev zlib-devel
    has_package liburing-dev liburing-devel || want liburing-dev liburing-devel
}

need_for_tests() {
    need_command gcc gcc gcc
    command -v ninja >/dev/null || want ninja-build ninja-build
    need_command clang clang clang
    need_command clang-tidy clang-tidy clang-tools-extra
    need_command clang-format clang-format clang-tools-extra
    need_command readelf binutils binutils
    need_command git git git
    need_command find findutils findutils
    need_command xargs findutils findutils
    need_command diff diffutils diffutils
    need_command awk mawk gawk
    need_command tar tar tar
    need_command python3 python3 python3
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || want "$shell" "$shell"
    done
    command -v man >/dev/null || want man-db man-db
    command -v groff >/dev/null || want groff-base groff-base
    command -v mandoc >/dev/null || want mandoc mandoc
    need_package python3-jsonschema python3-jsonschema
    need_package python3-scipy python3-scipy
    need_package python3-yaml python3-pyyaml
    need_package libcmocka-dev libcmocka-devel
    want_engines
    # With clang 14.0.0 and older there is no libclang-rt-dev: clang itself brings the libraries.
    clang_can_sanitize clang || want libclang-rt-dev compiler-rt
    [ "${XFERBENCH_CLANG:-clang}" = clang ] || need_another_clang "$XFERBENCH_CLANG"
    if [ "$manager" = dnf ]; then
        need_package '' libtsan # with apt-get it comes with gcc
    fi
    if [ "$manager" = apt-get ]; then # what makes a package for Debian
        need_command dpkg-shlibdeps dpkg-dev ''
        need_command file file ''
    fi
    has_german || need locales glibc-langpack-de
    has_hip || want libamdhip64-dev rocm-hip-devel
}

# need_another_clang CLANG-RELEASE: by the names that Debian and Fedora give it beside the system's own.
need_another_clang() {
    local release=${1#clang-}
    need_command "$1" "$1" "clang$release"
    clang_can_sanitize "$1" || need "libclang-rt-$release-dev" "compiler-rt$release"
    command -v "ld.lld-$release" >/dev/null || want "lld-$release" "lld$release"
}

# Slurm and Open MPI, which tests run on one machine. Tried with Debian's alone: elsewhere those tests
# run where somebody has installed the programs.
want_engines() {
    local PATH=$PATH:/usr/sbin # where users do not look
    [ "$manager" = apt-get ] || return 0
    command -v mungekey >/dev/null || want munge munge
    command -v slurmctld >/dev/null || want slurmctld slurm-slurmctld
    command -v slurmd >/dev/null || want slurmd slurm-slurmd
    command -v srun >/dev/null || want slurm-client slurm
    command -v mpirun >/dev/null || want openmpi-bin openmpi
}

# A locale with another decimal sign. With apt-get its package has only the sources. Not grep -q: it
# ends at the first match, and then locale dies of SIGPIPE, which pipefail takes for "no".
has_german() {
    locale -a 2>/dev/null | grep -iE '^de_DE\.utf-?8$' >/dev/null
}

case "$wanted" in
--build) need_for_build ;;
--test) need_for_build && need_for_tests ;;
--cuda) has_nvcc || need nvidia-cuda-toolkit cuda-toolkit ;;
--hip) has_hip || need libamdhip64-dev rocm-hip-devel ;;
esac
if [ "${#missing[@]}" -eq 0 ] && [ "${#optional[@]}" -eq 0 ]; then
    exit 0
fi

can_install=true
sudo=              # what a command to type begins with
typing='type this' # and who types it
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null; then
        sudo='sudo '
    else
        can_install=false
        typing='let root type this'
    fi
fi

as_root() {
    ${sudo:+sudo} "$@"
}

case "$manager" in
apt-get)
    refresh="${sudo}apt-get update && "
    installing=(apt-get install --no-install-recommends)
    ;;
dnf)
    refresh=
    installing=(dnf install --setopt=install_weak_deps=False)
    ;;
esac

or_leave_out() {
    case "$wanted" in
    --cuda | --hip) echo "Or leave it out: quickstart.sh --no-${wanted#--}" >&2 ;;
    esac
}

# give_up WHY: ends with the packages to install.
give_up() {
    echo "install-deps.sh: $1." >&2
    if [ "$manager" = none ]; then
        echo 'Please have these packages installed, then run this again:' >&2
        printf '    %s\n' "${missing[@]}" >&2
    else
        echo "Please $typing, then run this again:" >&2
        printf '    %s\n' "$refresh$sudo${installing[*]} ${missing[*]}" >&2
    fi
    or_leave_out
    exit 1
}

# candidate PACKAGE: the release of it that would be installed. Fails if there is none. Takes no root.
candidate() {
    case "$manager" in
    apt-get) LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p' | grep -vx '(none)' ;;
    dnf) LC_ALL=C dnf -q info "$1" 2>/dev/null | sed -n 's/^Version *: //p' | tail -n 1 | grep . ;;
    none) false ;;
    esac
}

# Takes those out of the optional packages that cannot be had.
keep_known() {
    local package known=()
    for package in "${optional[@]}"; do
        if candidate "$package" >/dev/null; then
            known+=("$package")
        else
            echo "Left out: $package is in no repository of this system"
        fi
    done
    optional=("${known[@]}")
}

# ---- which CUDA Toolkit ----

# of_system NAME: what /etc/os-release says of it, such as ID.
of_system() (
    # shellcheck source=/dev/null
    . "/etc/os-release" && echo "${!1-}"
)

# The commands that make a toolkit known, or nothing where we do not know them.
enable_non_free() {
    local list="/etc/apt/sources.list"
    case "$(of_system ID)" in
    ubuntu)
        echo "$refresh${sudo}apt-get install -y software-properties-common &&" \
            "${sudo}add-apt-repository -y multiverse"
        ;;
    debian)
        if [ -e "$list.d/debian.sources" ]; then
            echo "${sudo}sed -i 's/^Components:.*/Components: main contrib non-free non-free-firmware/'" \
                "$list.d/debian.sources"
        else
            echo "${sudo}sed -i '/^deb /s/ main.*/ main contrib non-free non-free-firmware/' $list"
        fi
        ;;
    esac
}
enable_nvidia() {
    local system url keyring=cuda-keyring_1.1-1_all.deb
    system=$(system_of_nvidia)
    [ -n "$system" ] || return 0
    url=https://developer.download.nvidia.com/compute/cuda/repos/$system/x86_64
    case "$manager" in
    apt-get)
        echo "$refresh${sudo}apt-get install -y curl ca-certificates && curl -fLO $url/$keyring &&" \
            "${sudo}dpkg -i $keyring"
        ;;
    dnf) echo "${sudo}curl -fL -o /etc/yum.repos.d/cuda.repo $url/cuda-$system.repo" ;;
    esac
}

# What NVIDIA calls this system, or nothing: what is derived from another has a release of its own.
system_of_nvidia() {
    local id version
    id=$(of_system ID)
    version=$(of_system VERSION_ID)
    case "$id${version:+ known}" in
    'debian known' | 'ubuntu known' | 'fedora known') echo "$id${version//./}" ;;
    'rhel known' | 'centos known' | 'rocky known' | 'almalinux known' | 'ol known') echo "rhel${version%%.*}" ;;
    esac
}

# no_cuda WHY [ENABLE]: ends, with the command that makes a toolkit known if one would help.
no_cuda() {
    local command
    echo "install-deps.sh: $1." >&2
    if [ $# -eq 2 ]; then
        command=$("$2")
        if [ -n "$command" ]; then
            echo "To have one, $typing:" >&2
            printf '    %s && %q\n' "$command" "$here/quickstart.sh" >&2
        else
            echo "This script does not know which repository has one for $(of_system PRETTY_NAME)." >&2
        fi
    fi
    or_leave_out
    exit 1
}

# at_least RELEASE OLDEST
at_least() {
    printf '%s\n' "$2" "$1" | sort -VC
}

# newest_cuda DRIVER: the newest CUDA that a release of NVIDIA's driver runs, as packages are named after
# it; nothing where there is no limit that we know. A driver runs all releases of a major one, says
# https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
newest_cuda() {
    if [ -z "$1" ] || at_least "$1" 580; then
        return
    elif at_least "$1" 525; then
        echo 12
    elif at_least "$1" 450.80.02; then
        echo 11-8
    else
        echo none
    fi
}

# choose_cuda: which packages are the toolkit. NVIDIA's, where its repository is known, else the
# distribution's. Takes no root.
choose_cuda() {
    local driver newest package release rejected=()
    local limits='xferbench needs 11.8 or later' enable=(enable_nvidia)
    driver=$(cat "/sys/module/nvidia/version" 2>/dev/null) || driver= # unknown
    newest=$(newest_cuda "$driver")
    [ "$newest" != none ] ||
        no_cuda "the NVIDIA driver here is $driver, and xferbench needs 450.80.02 or later: install a newer one"
    [ -z "$newest" ] || limits+=", and the NVIDIA driver here, $driver, runs CUDA ${newest%%-*} at most"
    for package in cuda-toolkit ${newest:+"cuda-toolkit-$newest"} nvidia-cuda-toolkit; do
        release=$(candidate "$package") || continue
        if at_least "$release" 11.8 && { [ -z "$newest" ] || [ "${release%%.*}" -le "${newest%%-*}" ]; }; then
            missing=("$package")
            [ "$package" != nvidia-cuda-toolkit ] || complete_distribution_cuda
            return
        fi
        rejected+=("$package $release")
    done
    # NVIDIA's repository is no help where it is known already.
    ! candidate cuda-toolkit >/dev/null || enable=()
    [ "${#rejected[@]}" -eq 0 ] ||
        no_cuda "none of the CUDA Toolkits that $manager knows can be used (${rejected[*]}): $limits" "${enable[@]}"
    [ "$manager" = dnf ] || enable=(enable_non_free)
    no_cuda "the CUDA Toolkit is in no repository that $manager knows" "${enable[@]}"
}

# The distribution's with the first compiler that it names: another that satisfies it may be there
# already, but its nvcc does not take that by itself.
complete_distribution_cuda() {
    local compilers
    compilers=$(apt-cache depends nvidia-cuda-toolkit | grep -oE 'g\+\+-[0-9]+') || compilers=
    missing+=(${compilers:+"${compilers%%$'\n'*}"})
    if replaces_driver; then
        no_cuda "the NVIDIA driver here is not apt-get's, and nvidia-cuda-toolkit would put another beside it" \
            enable_nvidia
    fi
}

# Whether apt-get would install a library of the driver beside one that it does not know.
replaces_driver() {
    local libraries
    libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n '/^\tlibcuda\.so\.1 /p')
    [ -n "$libraries" ] && ! dpkg-query -S "*/libcuda.so.1" >/dev/null 2>&1 &&
        "${installing[@]}" -s "${missing[@]}" | grep -E '^Inst (libcuda1|libnvidia-compute)' >/dev/null
}

# ---- installing ----

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

install_packages() {
    case "$manager" in
    apt-get) as_root env DEBIAN_FRONTEND=noninteractive "${installing[@]}" -y "$@" ;;
    dnf) as_root "${installing[@]}" -y "$@" || { enable_crb_and_epel && as_root "${installing[@]}" -y "$@"; } ;;
    esac
}

install_missing() {
    echo "Installing with $manager: ${missing[*]}"
    case "$manager $wanted" in
    'apt-get --cuda' | 'apt-get --hip') say_size "${installing[@]}" --assume-no "${missing[@]}" ;;
    'dnf --cuda' | 'dnf --hip') say_size "${installing[@]}" --assumeno "${missing[@]}" ;;
    esac
    install_packages "${missing[@]}" || give_up "$manager could not install them"
    # Beside the locales that are there; the system's own stays what it is.
    [ "$manager $wanted" != 'apt-get --test' ] || has_german || as_root localedef -i de_DE -f UTF-8 de_DE.UTF-8
    if [ "$wanted" = --cuda ] && ! has_nvcc; then
        echo "install-deps.sh: ${missing[*]} is installed, but there is no nvcc on PATH or in /usr/local/cuda/bin." >&2
        or_leave_out
        exit 1
    fi
}

if [ "${#missing[@]}" -gt 0 ]; then
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    [ "$manager" != none ] || give_up 'this system has neither apt-get nor dnf'
    # One repository that is down need not stop an install from the others.
    [ "$manager" != apt-get ] || ! $can_install || as_root apt-get update ||
        echo 'apt-get update failed: trying with what is known already'
    [ "$wanted" != --cuda ] || choose_cuda
    $can_install || give_up 'installing packages takes root, and there is no sudo'
    install_missing
fi
keep_known
# Tests start a munge and a Slurm of their own. The system's stay off, where systemd would start them.
daemons=()
for package in "${optional[@]}"; do
    case "$package" in
    munge | slurmctld | slurmd) [ ! -d /run/systemd/system ] || daemons+=("$package.service") ;;
    esac
done
if [ "${#optional[@]}" -gt 0 ]; then
    if [ "${#daemons[@]}" -gt 0 ] && $can_install; then
        echo "To stay off (systemctl unmask lets them start): ${daemons[*]}"
        as_root systemctl mask "${daemons[@]}" || echo 'systemctl mask failed: they may run from now on'
    fi
    { $can_install && install_packages "${optional[@]}"; } || echo "Left out: ${optional[*]} could not be installed"
fi
