# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes files of parallel programs with NumPy: event logs, link matrices, load data, particles, checkpoints, and
the datasets of hpcgen that hold all of them.

    import hpcw
    run = hpcw.open("synth/")
    states = hpcw.to_df(run.log.states(begin=0.5, end=0.6))

Every failure raises an HpcwError with a `status` and a message that names the file. Objects close themselves, and can be used
in a `with` statement. Several threads may use an object; then they wait for each other. A child of os.fork() may use it, too.
An object that is pickled, for instance for a pool of processes, is opened again by its path.
"""
from ._where import VERSION as __version__
from .clog2 import EventLog
from .dataset import Run, open
from .errors import (HpcwError, HpcwExistsError, HpcwFormatError, HpcwLibraryError, HpcwMemoryError, HpcwNotFoundError,
                     HpcwPermissionError, HpcwValueError, Status)
from .frames import to_df
from .linktest import Links
from .program import generate, info, score, verify
from .rank2file import Checkpoints, Map, Tree
from .sion import PARTICLE, Container
from .vom import Loads
from .write import checkpoint_create, links_create, loads_create, log_create, sion_create

__all__ = ["PARTICLE", "Checkpoints", "Container", "EventLog", "HpcwError", "HpcwExistsError", "HpcwFormatError",
           "HpcwLibraryError", "HpcwMemoryError", "HpcwNotFoundError", "HpcwPermissionError", "HpcwValueError", "Links",
           "Loads", "Map", "Run", "Status", "Tree", "__version__", "checkpoint_create", "generate", "info", "links_create",
           "loads_create", "log_create", "open", "score", "sion_create", "to_df", "verify"]
