#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Meson project that has this tree as a subproject gets its libraries and none of its tests.
# Usage: subproject.sh SOURCE_ROOT CC [MPICC [FC]]; without MPICC there is no MPI, without FC no Fortran
set -eu
source=$1 compiler=$2 mpicc=${3-} fc=${4-}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

mkdir subprojects
ln -s "$source" subprojects/hpcw
cp "$source/examples/two_tasks.c" "$source/examples/load_data.c" "$source/examples/two_tasks.f90" .
mpi=disabled
# As doc/library.md and doc/fortran.md have it.
dependency() {
    call="dependency('$1', fallback: 'hpcw')"
    grep -Fq "$call" "$source/doc/library.md" "$source/doc/fortran.md" || { echo "no page has $call" >&2; exit 1; }
    echo "$call"
}
{
    echo "project('outside', 'c')"
    # hpcw comes last: once it is configured, Meson finds the others without a fallback.
    if [ -n "$fc" ]; then
        echo "add_languages('fortran')"
        [ -z "$mpicc" ] || echo "executable('no_init', 'no_init.f90', dependencies: $(dependency hpcw-mpi-fortran))"
        echo "executable('two_tasks_fortran', 'two_tasks.f90', dependencies: $(dependency hpcw-fortran))"
    fi
    if [ -n "$mpicc" ]; then
        mpi=enabled
        echo "executable('load_data', 'load_data.c', dependencies: $(dependency hpcw-mpi))"
    fi
    echo "executable('two_tasks', 'two_tasks.c', dependencies: dependency('hpcw'))"
} >meson.build

cat >no_init.f90 <<EOF
program no_init
  use hpcw
  use hpcw_mpi
  type(hpcw_comm) :: comm
  if (hpcw_comm_from_mpi(0, comm) /= HPCW_EINVAL) error stop
end program
EOF

{ CC=$compiler FC=${fc:-nowhere} meson setup build --force-fallback-for=hpcw,hpcw-mpi,hpcw-fortran,hpcw-mpi-fortran \
    -Dhpcw:mpi=$mpi -Dhpcw:mpicc="${mpicc:-mpicc}" && ninja -C build two_tasks ${mpicc:+load_data} ${fc:+two_tasks_fortran ${mpicc:+no_init}}; } >log 2>&1 ||
    { cat log; exit 1; }
./build/two_tasks
[ -s two_tasks.sion ] || { echo "the program wrote no file"; exit 1; }
if [ -n "$fc" ]; then
    mv two_tasks.sion first.sion
    ./build/two_tasks_fortran
    cmp two_tasks.sion first.sion
    [ -z "$mpicc" ] || ./build/no_init
fi
[ "$(meson introspect --tests build)" = "[]" ] || { echo "expected no test of the subproject"; exit 1; }
