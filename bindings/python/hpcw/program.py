# SPDX-License-Identifier: BSD-3-Clause
"""hpcgen: makes, checks and scores datasets."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

from . import _where, errors


def hpcgen() -> str:
    """The path of the program: $HPCW_HPCGEN, that of the environment, of the installed prefix, or of $PATH."""
    given = os.environ.get("HPCW_HPCGEN")
    if given:
        return given
    for folder in (sysconfig.get_path("scripts"), _where.BINDIR):
        path = os.path.join(folder, "hpcgen")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("hpcgen")
    if found is None:
        raise errors.HpcwLibraryError(f"hpcgen: expected it in {_where.BINDIR} or in $PATH, got none; HPCW_HPCGEN names its "
                                      "path", errors.Status.ENOTSUP)
    return found


# By these, hpcgen knows that it runs under a launcher of MPI. One that is started here is alone.
_LAUNCHED = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_SIZE",
             "SLURM_STEP_NUM_TASKS"}


def _run(*args: str, show: bool = False) -> str:
    """What hpcgen prints on standard output. `show`: its messages go to sys.stderr as they come."""
    environment = {name: value for name, value in os.environ.items() if name not in _LAUNCHED}
    program = hpcgen()
    try:
        process = subprocess.Popen([program, *args], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=None if show and _is_terminal() else subprocess.PIPE, text=True, errors="replace")
    except OSError as failure:
        raise errors.HpcwLibraryError(f"{program}: expected hpcgen, got: {failure.strerror}", errors.Status.ENOTSUP) from None
    try:
        if process.stderr is None:
            out, last = process.communicate()[0], ""
        elif show:
            last = ""
            for line in process.stderr:
                sys.stderr.write(line)
                last = line
            out = process.communicate()[0]
        else:
            out, last = process.communicate()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if process.returncode != 0:
        message = re.sub(r"^hpcgen: ", "", last.strip().rpartition("\n")[2]) or f"hpcgen {args[0]}: status {process.returncode}"
        # The messages of hpcgen for what it replaces with --force only.
        message, exists = re.subn("choose another --out, or --force to", "choose another directory, or force=True to", message)
        raise errors.of(message, errors.Status.EEXIST if exists else
                        errors.Status.EINVAL if process.returncode == 2 else errors.Status.EFORMAT)
    return out


def _is_terminal() -> bool:
    """Whether the program's own standard error is what people see, and no cell of a notebook."""
    return sys.stderr is sys.__stderr__ and sys.stderr is not None and sys.stderr.isatty()


def _options(options: dict) -> list:
    """ranks=4096 as --ranks 4096, sync=False as --no-sync, set={"load.phases": 3} as --set load.phases=3."""
    args = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            args.append(option if value else option.replace("--", "--no-", 1))
        elif isinstance(value, dict):
            for key, one in value.items():
                args += [option, f"{key}={str(one).lower() if isinstance(one, bool) else one}"]
        elif isinstance(value, (list, tuple)):
            args += [option, ",".join(map(str, value))]
        elif value is not None:
            args += [option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return args


def generate(out: str | os.PathLike, ranks: int | None = None, show: bool = True, **options):
    """Makes a dataset with hpcgen and opens it.

    out: its directory, which is empty, missing, or has the same dataset, finished or not. options: those of
    `hpcgen generate`, with underscores: seed=3, workload="wavefront", formats=["clog2", "vom"], scale="small", jobs=2,
    force=True; parameters by their names: set={"load.phases": 3}. show: progress and messages go to sys.stderr.

    Returns a Run. Raises HpcwValueError for options that are impossible, HpcwExistsError if the directory has anything
    else; with force=True the dataset takes its place.
    """
    from .dataset import Run
    _run("generate", *_options({"out": os.fspath(out), "ranks": ranks, **options}), show=show)
    return Run(out)


def verify(what, deep: bool = False, jobs: int | None = None) -> dict:
    """Checks a dataset, a file, or an object of it with hpcgen: checksums and structure.

    deep: makes the dataset again and compares every byte. Returns what hpcgen tells. Raises HpcwFormatError with the first
    fault.
    """
    options = {"deep": True if deep else None, "jobs": jobs}
    return json.loads(_run("verify", "--json", *_options(options), os.fspath(getattr(what, "path", what))))


def score(findings, run) -> dict:
    """Compares what a tool found with what is wrong in a dataset (doc/truth.md).

    findings: a list of dictionaries, {"findings": [...]}, or the path of a file with that. run: a Run, or its directory.
    Returns the score: for each kind, precision and recall.
    """
    directory = os.fspath(getattr(run, "path", run))
    if isinstance(findings, (str, os.PathLike)):
        return json.loads(_run("score", "--json", os.fspath(findings), directory))
    import tempfile
    if not isinstance(findings, dict):
        findings = {"findings": list(findings)}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(findings, file, default=_plain)
        file.flush()
        return json.loads(_run("score", "--json", file.name, directory))


def _plain(value):
    """A number of NumPy as one of Python."""
    return value.item()


def info(path: str | os.PathLike) -> dict:
    """What a file holds, as `hpcgen info --json` tells it (doc/info.md)."""
    return json.loads(_run("info", "--json", os.fspath(path)))
