#!/bin/sh
# Prints MAJOR.MINOR.PATCH from the public header, the one place where the version stands.
awk '/^#define HPCW_VERSION_(MAJOR|MINOR|PATCH) / { v = v s $3; s = "." } END { print v }' \
    "$(dirname "$0")/../include/hpcw/version.h"
