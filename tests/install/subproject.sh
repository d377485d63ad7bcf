#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Meson project with this tree as a subproject gets its libraries, and none of its tests.
# Usage: subproject.sh SOURCE_ROOT CC [MPICC]; without MPICC, without MPI
set -eu
source=$1 compiler=$2 mpicc=${3-}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

mkdir subprojects
ln -s "$source" subprojects/hpcw
cp "$source/examples/two_tasks.c" "$source/examples/load_data.c" .
mpi=disabled
{
    echo "project('outside', 'c')"
    echo "executable('two_tasks', 'two_tasks.c', dependencies: dependency('hpcw'))"
    if [ -n "$mpicc" ]; then
        mpi=enabled
        echo "executable('load_data', 'load_data.c', dependencies: dependency('hpcw-mpi'))"
    fi
} >meson.build

# Only what the programs need is built.
{ CC=$compiler meson setup build --force-fallback-for=hpcw,hpcw-mpi -Dhpcw:mpi=$mpi \
    -Dhpcw:mpicc="${mpicc:-mpicc}" && ninja -C build two_tasks ${mpicc:+load_data}; } >log 2>&1 || { cat log; exit 1; }
./build/two_tasks
[ -s two_tasks.sion ] || { echo "the program wrote no file"; exit 1; }
[ "$(meson introspect --tests build)" = "[]" ] || { echo "expected no test of the subproject"; exit 1; }
