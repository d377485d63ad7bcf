#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages that are missing, and does nothing when all are there. Usage: setup.sh [docs|ci|deb|cluster]
#
# This is the only list of packages that the project needs. "docs" adds the packages for `make docs`. "ci" adds those of
# "docs" and those that only .ci/run uses. "deb" and "cluster" add the packages for `make deb` and `make cluster`.
set -eu

# To build. libc6-dev is for systems whose gcc came without its recommended packages.
packages="gcc libc6-dev binutils meson ninja-build pkg-config"
packages="$packages libbrotli-dev libdeflate-dev libxxhash-dev libcjson-dev libinih-dev liblua5.4-dev"
packages="$packages libopenmpi-dev openmpi-bin"
# For the charts of reports, traces in OTF2, the modules of Fortran, and HDF5 in hpcw-bench. Without them,
# everything else is built.
packages="$packages libjs-chart.js libotf2-trace-dev gfortran libhdf5-openmpi-dev"
# To test: the headers are also compiled as C++, a program outside is built with CMake, checksum lists are also checked by
# xxhsum, exports by NumPy and otf2-print, and the Python package by pytest.
packages="$packages libcmocka-dev g++ cmake xxhash strace btrfs-progs python3-numpy python3-pytest otf2-tools"
case ${1-} in
docs) packages="$packages doxygen" ;;
deb) packages="$packages libmpich-dev build-essential doxygen git debhelper dh-python lintian fakeroot debootstrap" ;;
ci) packages="$packages doxygen clang clang-format clang-tidy libclang-rt-14-dev libomp-dev shellcheck chromium"
    packages="$packages mpich libmpich-dev libhdf5-mpich-dev ccache python3-pandas python3-matplotlib python3-mpi4py"
    packages="$packages python3-venv python3-mesonpy patchelf" ;;
cluster) packages="$packages mpich libmpich-dev iproute2 procps moosefs-master moosefs-chunkserver moosefs-client"
    packages="$packages slurmctld slurmd slurm-client munge" ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: no apt-get here, so nothing is installed; needed are the equivalents of: $packages" >&2
    exit 0
fi

missing=
for p in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing" >&2
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "setup: this needs root, and there is no sudo; as root: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

# The output of apt, which is printed only if something fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Waits for another installation to end, as after a boot.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1
}
install() {
    # shellcheck disable=SC2086
    apt install -y --no-install-recommends $missing
}
# A failed installation may mean that package lists are missing or outdated, so refreshes them once.
if ! install; then
    echo "setup: refreshing the package lists" >&2
    if ! apt update || ! install; then
        cat "$log" >&2
        echo "setup: apt-get failed, see above; needed were$missing" >&2
        exit 1
    fi
fi
echo "setup: done" >&2
