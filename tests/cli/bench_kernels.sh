#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A former subcommand that is now a program of its own, with an option it had. The program is hpcw-bench here.
exec "$HPCGEN" kernels --only messages
