#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A build without MPI says so, twice; one that must have it fails. Usage: no_mpi.sh SOURCE_ROOT
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Usage: setup OPTION...; all MPI of this machine has another name.
setup() {
    meson setup "$scratch/build" "$1" -Dmpicc=mpicc.nowhere -Dtests=disabled "$2" >"$scratch/log" 2>&1
}
says() {
    grep "$1" "$scratch/log" || { echo "expected '$1' in:"; cat "$scratch/log"; exit 1; }
}

setup "$1" -Dmpi=auto || { cat "$scratch/log"; exit 1; }
says 'WARNING: no MPI: expected a compiler wrapper mpicc.nowhere (-Dmpicc=NAME), got none that works'
says '^ *MPI *: NONE: no libhpcw_mpi, no libhpcw_trace'

rm -rf "$scratch/build"
! setup "$1" -Dmpi=enabled || { echo "expected an error without MPI"; exit 1; }
says "ERROR: Program 'mpicc.nowhere' not found"
