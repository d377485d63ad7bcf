#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs on four hosts, which are namespaces of this machine, and prints what ran where: see doc/cluster.md.

Usage: cluster.py --build DIRECTORY [--mpich DIRECTORY] [CHECK...]

The directories are build directories, with Open MPI and with MPICH. A CHECK is the begin of a check's name in the table.
Without CHECK, all checks are done. Exit status 0: all checks passed, or this machine cannot have such hosts, and a message
says why.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import batch  # noqa: E402
import clocks  # noqa: E402
import dfs  # noqa: E402
import failures  # noqa: E402
import hosts  # noqa: E402
import plain  # noqa: E402

CHECKS = plain.CHECKS + dfs.CHECKS + clocks.CHECKS + failures.CHECKS + batch.CHECKS


def unable(build):
    """Returns why this machine cannot have such hosts, or None."""
    if os.geteuid() != 0:
        return "only root can make the namespaces of hosts"
    missing = [tool for tool in ("unshare", "nsenter", "setpriv", "ip", "mpirun", "pgrep") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)}: not installed"
    if not os.path.exists(f"{build}/tests/cluster/seen"):
        return f"{build}: no build with Open MPI and tests"
    tried = subprocess.run(["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--time", "--fork", "--monotonic", "1",
                            "true"], stderr=subprocess.PIPE, text=True, check=False)
    if tried.returncode != 0:
        return f"the kernel refuses the namespaces of hosts: {tried.stderr.strip()}"
    return None


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--mpich", type=os.path.abspath)
    parser.add_argument("check", nargs="*", metavar="CHECK")
    return parser.parse_args()


def main():
    given = arguments()
    why = unable(given.build)
    if why:
        print(f"cluster: skipped: {why}")
        return 0
    if hosts.INSIDE not in os.environ:
        return hosts.in_own_namespaces([sys.executable] + sys.argv)
    cluster = hosts.Cluster(given.build, given.mpich)
    cluster.up()
    print(f"{'check':<22}{'launcher':<17}{'file system':<28}{'s':>5}  result", flush=True)
    failed = 0
    for name, check, files, launcher in CHECKS:
        if given.check and not any(name.startswith(begin) for begin in given.check):
            continue
        began = time.monotonic()
        try:
            result = check(cluster)
        except hosts.Unable as reason:
            result = f"not here: {reason}"
        except (hosts.Broken, RuntimeError, subprocess.TimeoutExpired) as what:
            result, failed = f"FAILED: {what}", failed + 1
        print(f"{name:<22}{launcher:<17}{files:<28}{time.monotonic() - began:>5.1f}  {result}", flush=True)
    print(f"cluster: {'all passed' if failed == 0 else f'{failed} failed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
