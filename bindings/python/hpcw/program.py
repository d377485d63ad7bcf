# SPDX-License-Identifier: BSD-3-Clause
"""hpcgen: makes, checks and scores datasets."""
from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

from . import _where, errors


def hpcgen() -> str:
    """The path of hpcgen: $HPCW_HPCGEN, or the program in the Python environment, in the installed prefix, or in $PATH."""
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


# Variables by which hpcgen recognises a launcher of MPI. They are removed here, where it runs as a single process.
_LAUNCHED = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_SIZE",
             "SLURM_STEP_NUM_TASKS"}

# By their texts: failures of the system. A message ends with this text.
_REASONS = {os.strerror(number): number for number in errno.errorcode}


def _run(*args: str, show: bool = False) -> str:
    """Runs hpcgen and returns its standard output. `show`: its messages go to sys.stderr as they come."""
    environment = {name: value for name, value in os.environ.items() if name not in _LAUNCHED}
    program = hpcgen()
    try:
        process = subprocess.Popen([program, *args], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as failure:
        raise errors.HpcwLibraryError(f"{program}: expected hpcgen, got: {failure.strerror}", errors.Status.ENOTSUP) from None
    except ValueError as failure:  # a NUL
        raise errors.HpcwValueError(f"hpcgen {args[0]}: expected arguments without NUL, got: {failure}") from None
    try:
        if show and sys.stderr is not None:
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
        raise _failure(args[0], process.returncode, last)
    return out


def _failure(command: str, code: int, text: str) -> errors.HpcwError:
    """Returns the exception for the last message of hpcgen."""
    if code < 0:
        return errors.of(f"hpcgen {command}: expected it to end by itself, got signal {-code}", errors.Status.EIO)
    message = re.sub(r"^hpcgen: ", "", text.strip().rpartition("\n")[2]) or f"hpcgen {command}: status {code}"
    # Messages of hpcgen for a target that it replaces only with --force.
    if re.search("choose another --out, or --force to|expected an empty directory, got", message):
        message = re.sub("--(force|resume)", r"\1=True", message.replace("another --out", "another directory"))
        return errors.of(message, errors.Status.EEXIST)
    reason = _REASONS.get(message.rpartition(": ")[2])
    if reason:
        return errors.of(message, errors.status_of(reason), reason)
    return errors.of(message, errors.Status.EINVAL if code == 2 else errors.Status.EFORMAT)


# Options without an opposite: with False they are left out.
_FLAGS = {"deep", "dry_run", "force", "resume", "takeover"}


def _options(options: dict) -> list:
    """Returns options for the command line: ranks=4096 becomes --ranks 4096, sync=False becomes --no-sync, and
    set={"load.phases": 3} becomes --set load.phases=3."""
    args = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is False and name in _FLAGS:
            continue
        if isinstance(value, bool):
            args.append(option if value else option.replace("--", "--no-", 1))
        elif isinstance(value, dict):
            for key, one in value.items():
                args += [option, f"{key}={str(one).lower() if isinstance(one, bool) else one}"]
        elif isinstance(value, (list, tuple)):
            args += [option, ",".join(map(str, value))]
        elif value is not None:
            args += [option, os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)]
    return args


def generate(out: str | os.PathLike, ranks: int | None = None, show: bool = True, **options):
    """Makes a dataset with hpcgen and opens it.

    out: directory of the dataset. It may be missing or empty; with resume=True, it may also hold the same dataset, finished
    or not. options: those of `hpcgen generate` but dry_run, with underscores: seed=3, workload="wavefront", jobs=2,
    formats=["clog2", "vom"], scale="small", force=True; parameters by their names: set={"load.phases": 3}. show: progress
    and messages go to sys.stderr.

    Returns a Run. Raises HpcwValueError for impossible options, and HpcwExistsError if the directory holds anything else;
    with force=True the dataset replaces that. With part="1/2" it raises HpcwError after it wrote the part: only `hpcgen join`
    finishes such a dataset.
    """
    from . import dataset
    if options.get("dry_run"):
        raise errors.HpcwValueError(f"{os.fsdecode(out)}: dry_run: expected a dataset to make, got a plan; `hpcgen plan` shows it")
    _run("generate", *_options({"out": os.fspath(out), "ranks": ranks, **options}), show=show)
    return dataset.open(out)


def verify(what, deep: bool = False, jobs: int | None = None) -> dict:
    """Checks a dataset or a file with hpcgen: checksums and structure. what: a path, or an object of this package.

    deep: generates the dataset again and compares every byte. Returns hpcgen's report. Raises HpcwFormatError with the first
    fault, or HpcwNotFoundError or HpcwPermissionError for a file that cannot be opened.
    """
    options = {"deep": deep, "jobs": jobs}
    return json.loads(_run("verify", "--json", *_options(options), "--", os.fspath(getattr(what, "path", what))))


def score(findings, run) -> dict:
    """Compares the findings of a tool with the faults that the dataset has (doc/truth.md).

    findings: a list of dictionaries, {"findings": [...]}, or the path of a file with the latter. run: a Run, or its
    directory. Returns the score: precision and recall of each kind. Raises HpcwFormatError for findings without a kind, and
    HpcwNotFoundError for a dataset without truth.json.
    """
    directory = os.fspath(getattr(run, "path", run))
    if isinstance(findings, (str, bytes, os.PathLike)):
        return json.loads(_run("score", "--json", "--", os.fspath(findings), directory))
    import tempfile
    if not isinstance(findings, dict):
        findings = {"findings": list(findings)}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(findings, file, default=_plain)
        file.flush()
        try:
            return json.loads(_run("score", "--json", "--", file.name, directory))
        except errors.HpcwError as error:                   # nobody knows the name of this file
            if not str(error).startswith(file.name + ": "):
                raise
            raise errors.of(str(error).removeprefix(file.name + ": "), error.status) from None


def _plain(value):
    """Converts a NumPy number to a Python number, for json."""
    try:
        return value.item()
    except (AttributeError, ValueError):  # no number, or several
        raise errors.HpcwValueError(f"findings: expected numbers and texts, got {value!r:.60}") from None


def info(path: str | os.PathLike) -> dict:
    """Returns what `hpcgen info --json` prints about a file (doc/info.md). Raises HpcwNotFoundError, or HpcwFormatError for a
    file of no format or a damaged one."""
    return json.loads(_run("info", "--json", "--", os.fspath(path)))
