#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes Debian packages of the last commit, lets lintian judge them, installs them in a fresh Debian of this release,
# and uses them there. Usage: packages.sh SOURCE_ROOT OUTPUT_DIR
# DEB_MIRROR names another mirror for the fresh Debian than debootstrap's own.
set -eu
source=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$("$source/tests/version.sh")
archive=hpcw-$version.tar.xz

# The archive depends only on the commit: a second one, made elsewhere, must be identical.
echo "== source archive"
dist() { # NAME UMASK
    git clone -q "$source" "$scratch/$1"
    (umask "$2" && cd "$scratch/$1" && meson setup build -Dtests=disabled -Dmpi=disabled -Dbench=disabled &&
        meson dist -C build --no-tests --formats xztar) >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}
dist one 022
TZ=Asia/Tokyo dist a-longer-name 077
cmp "$scratch/one/build/meson-dist/$archive" "$scratch/a-longer-name/build/meson-dist/$archive"

echo "== packages"
rm -rf "${output:?}"/*
cp "$scratch/one/build/meson-dist/$archive" "$scratch/hpcw_$version.orig.tar.xz"
tar -xf "$scratch/hpcw_$version.orig.tar.xz" -C "$scratch"
tree=$scratch/hpcw-$version
cp -r "$scratch/one/debian" "$tree"
# The build runs the suites unit and roundtrip.
(cd "$tree" && dpkg-buildpackage --no-sign -j"$(nproc)") >"$output/build.log" 2>&1 ||
    { tail -n 50 "$output/build.log"; exit 1; }
mv "$scratch"/hpcw_* "$scratch"/*.deb "$output"

echo "== lintian"
lintian --allow-root --fail-on error,warning "$output"/hpcw_*.changes

echo "== a fresh Debian"
if [ "$(id -u)" -ne 0 ]; then
    echo "skipped: expected root, who can make one"
    exit 0
fi
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
fresh=$scratch/fresh
debootstrap --variant=minbase "$release" "$fresh" ${DEB_MIRROR+"$DEB_MIRROR"} >"$output/fresh.log" 2>&1 ||
    { tail "$output/fresh.log"; exit 1; }
mkdir "$fresh/hpcw"
cp -r "$tree" "$fresh/hpcw/source"
cp "$output"/*.deb "$fresh/hpcw"
cat >"$fresh/hpcw/use.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C TMPDIR=/tmp
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
rm /hpcw/*-dbgsym_*.deb
apt-get install -y --no-install-recommends /hpcw/hpcw-tools_*.deb /hpcw/libhpcw-mpi0_*.deb /hpcw/libhpcw0_*.deb \
    >/hpcw/log 2>&1 || { cat /hpcw/log; exit 1; }
hpcgen --ranks 64 --out /tmp/synth 2>/hpcw/log || { cat /hpcw/log; exit 1; }
hpcgen verify /tmp/synth
apt-get install -y --no-install-recommends /hpcw/*.deb gcc gfortran libc6-dev make pkg-config cmake openmpi-bin xxhash \
    >/hpcw/log 2>&1 || { cat /hpcw/log; exit 1; }
cd /tmp/synth && xxhsum -c --quiet CHECKSUMS.xxh128 && cd /
python3 -c '
import hpcw
with hpcw.open("/tmp/synth") as run:
    assert len(run.log.states()) > 0 and hpcw.verify(run)["ok"]'
apt-get install -y --no-install-recommends mpich libmpich-dev >/hpcw/log 2>&1 || { cat /hpcw/log; exit 1; }
mkdir /tmp/mpich && cd /tmp/mpich
mpicc.mpich /usr/share/doc/hpcw/examples/heat_plain.c /usr/share/doc/hpcw/examples/heat_solver.c -o heat_plain -lm
mpiexec.mpich -n 2 hpcw-trace ./heat_plain 40 2
hpcgen verify heat_plain.clog2 && cd /
HPCW_PREFIX=/usr sh /hpcw/source/tests/install/outside.sh /hpcw/source gcc mpiexec mpicc gfortran mpifort
apt-get purge -y 'libhpcw*' 'hpcw-*' python3-hpcw >/hpcw/log 2>&1 || { cat /hpcw/log; exit 1; }
left=$(find / -xdev -path /proc -prune -o -path /hpcw -prune -o -path /tmp -prune -o -name '*hpcw*' -print |
    grep -v -e ^/var/lib/dpkg/ || true)
[ -z "$left" ] || { echo "left after the purge: $left"; exit 1; }
END
# Mounts and processes end with the namespaces, however this script ends.
# shellcheck disable=SC2016 # the inner shell expands it
unshare --mount --pid --fork --kill-child sh -eu -c '
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm"
    chroot "$1" sh /hpcw/use.sh' sh "$fresh"
echo "packages in $output"
