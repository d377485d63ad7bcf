#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrapper has every function that mpi.h declares, except those listed here and in doc/tracing.md.
# Usage: traced.sh NM LIBRARY MPICC...
set -eu
nm=$1 library=$2
shift 2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

left_out='T_.*
Session_.*|Group_from_session_pset|Comm_create_from_group|Intercomm_create_from_groups
Grequest_(start|complete)|Status_set_(cancelled|elements(_x)?)
([A-Z][a-z]+_)?(c2f|f2c|c2f08|f2f08|f082c|f082f)
Add_error_(class|code|string)|Comm_call_errhandler|(File|Win|Session)_(create|get|set|call)_errhandler
(Type|Win)_((create|free)_keyval|(get|set|delete)_attr)|Win_[gs]et_info|Type_[gs]et_name
Type_(get_(contents|envelope|true_extent)(_c)?|(get_extent|get_true_extent|size)_x|match_size|create_f90_.*)
Type_create_darray(_c)?|(Pack|Unpack)_external(_size)?(_c)?
Reduce_local(_c)?|Op_commutative|Win_shared_query(_c)?|Aint_(add|diff)|Get_elements_x
Info_(create_env|get_string)|Get_(library_)?version|Finalized|Query_thread|Is_thread_main'

echo '#include <mpi.h>' >"$scratch/mpi.c"
"$@" -E -P "$scratch/mpi.c" | tr '\n' ' ' | grep -o -E '(int|double|MPI_[A-Z][A-Za-z]*) +MPI_[A-Z][A-Za-z0-9_]* *\(' |
    sed 's/.* \(MPI_[A-Za-z0-9_]*\) *(/\1/' | LC_ALL=C sort -u >"$scratch/declared"
"$nm" -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >"$scratch/traced"
[ "$(wc -l <"$scratch/declared")" -gt 300 ] || { echo "expected more than 300 functions in mpi.h"; exit 1; }
if LC_ALL=C comm -23 "$scratch/declared" "$scratch/traced" |
    grep -v -x -E "MPI_($(echo "$left_out" | paste -s -d '|'))"; then
    echo "expected these functions in the wrapper, or in the list of what it leaves out"
    exit 1
fi
