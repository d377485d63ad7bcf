#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program in an empty directory. Usage: in_scratch.sh PROGRAM
set -eu
program=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$program"
