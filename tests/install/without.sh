#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A build without MPI and gfortran says so. A build that requires one of them fails. Usage: without.sh SOURCE_ROOT
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Usage: setup SOURCE_ROOT OPTION...; hides MPI and Fortran compilers of this machine.
setup() {
    rm -rf "$scratch/build"
    FC=gfortran.nowhere meson setup "$scratch/build" "$@" -Dmpicc=mpicc.nowhere -Dtests=disabled >"$scratch/log" 2>&1
}
says() {
    grep "$1" "$scratch/log" || { echo "expected '$1' in:"; cat "$scratch/log"; exit 1; }
}

setup "$1" -Dmpi=auto -Dfortran=auto || { cat "$scratch/log"; exit 1; }
says 'WARNING: no MPI: expected a compiler wrapper mpicc.nowhere (-Dmpicc=NAME), got none that works'
says '^ *MPI *: NONE: no libhpcw_mpi, no libhpcw_trace'
says '^ *Fortran *: NONE: no gfortran'
says '^ *HDF5 *: NONE: hpcw-bench has no layouts of HDF5'

! setup "$1" -Dmpi=enabled || { echo "expected an error without MPI"; exit 1; }
says "ERROR: Program 'mpicc.nowhere' not found"

! setup "$1" -Dfortran=enabled || { echo "expected an error without gfortran"; exit 1; }
says 'ERROR: .*gfortran.nowhere'

! setup "$1" -Dhdf5=enabled || { echo "expected an error without MPI"; exit 1; }
says "ERROR: .*hdf5: expected MPI, got a build without it"
