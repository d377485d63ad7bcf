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
{
    echo "project('outside', 'c')"
    echo "executable('two_tasks', 'two_tasks.c', dependencies: dependency('hpcw'))"
    if [ -n "$mpicc" ]; then
        mpi=enabled
        echo "executable('load_data', 'load_data.c', dependencies: dependency('hpcw-mpi'))"
    fi
    if [ -n "$fc" ]; then
        echo "add_languages('fortran')"
        echo "executable('two_tasks_fortran', 'two_tasks.f90', dependencies: dependency('hpcw-fortran'))"
        [ -z "$mpicc" ] || echo "executable('no_init', 'no_init.f90', dependencies: dependency('hpcw-mpi-fortran'))"
    fi
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
