#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program changes its working directory. A relative name of a container refers to the working directory at the open.
# The log of MPE is written into the directory in which process 0 is at the end, as with MPE2.
# Usage: moved.sh MPIEXEC PROGRAM HPCGEN
set -eu
mpiexec=$1 program=$(realpath "$2") hpcgen=$(realpath "$3")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/here"
cd "$scratch/here"

for how in all first; do
    for files in 1 2; do
        "$mpiexec" -n 2 "$program" $how $files >../out 2>&1 || { cat ../out; exit 1; }
        "$hpcgen" verify rel.sion
        "$hpcgen" verify again.sion
        "$hpcgen" verify serial.0.sion
        "$hpcgen" verify serial.1.sion
        "$hpcgen" verify away/app.clog2
        find . -type f | LC_ALL=C sort >../got
        {
            [ $files = 1 ] || echo ./again.sion.000001
            printf '%s\n' ./again.sion ./away/app.clog2 ./rel.sion
            [ $files = 1 ] || echo ./rel.sion.000001
            printf '%s\n' ./serial.0.sion ./serial.1.sion
        } | LC_ALL=C sort >../expected
        diff ../expected ../got || { echo "$how, $files files: other files than expected (<)"; exit 1; }
        rm -rf ./*
    done
done
