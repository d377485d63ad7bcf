# SPDX-License-Identifier: BSD-3-Clause
"""Starts, harms and waits for programs, and examines what they left."""
import hashlib
import os
import re
import resource
import signal
import subprocess
import time

HANG = 120  # seconds, after which a run hangs: a busy machine takes a tenth of it
CRASH = re.compile(r"[Ss]ignal:? (4|6|7|8|11|31)\b|Segmentation fault|Assertion .* failed|Sanitizer|runtime error:")
CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS)
TEMPORARY = re.compile(r"(^|/)\.hpcw")  # a temporary file, or the state of an unfinished dataset


class Broken(Exception):
    """A rule of harms.py was broken in one of several tries."""

    def __init__(self, what, tried=1, survived=0):
        super().__init__(what)
        self.tried, self.survived = tried, survived


class Unable(Exception):
    """This machine cannot run the kind of harm."""


def processes_of(session):
    """Returns the ids of the processes of a session, sorted by start time. The launcher of a parallel program is the first."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    field = f.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(field[3]) == session and field[0] != "Z":
                found.append((int(field[19]), int(name)))
    return [number for _, number in sorted(found)]


class Run:
    """A program in its own session. `largest`: limit of its files' sizes, in bytes."""

    alive = set()

    def __init__(self, command, largest=None, **environment):
        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if largest is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        self.command = [str(word) for word in command]
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit,
                                        env=dict(os.environ, **environment))
        self.killed = False
        Run.alive.add(self)

    def wait_until(self, moment):
        """Waits until this many seconds after the start, or to the end of the run if that is earlier."""
        try:
            self.process.wait(max(0, self.began + moment - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass

    def wait_for(self, path):
        """Waits until a file exists, or to the end of the run."""
        while not os.path.exists(path) and self.process.poll() is None and time.monotonic() < self.began + HANG:
            time.sleep(0.005)

    def kill(self, number, numbers=None):
        """Sends a signal to these processes, by default to all of the run."""
        for process in numbers if numbers is not None else processes_of(self.process.pid):
            try:
                os.kill(process, number)
                self.killed = True
            except ProcessLookupError:
                pass

    def end(self):
        """Waits until all processes of the run have ended. Returns the exit status."""
        try:
            output = self.process.communicate(timeout=HANG)[0].decode(errors="replace")
            while processes_of(self.process.pid):
                if time.monotonic() > self.began + 2 * HANG:
                    raise subprocess.TimeoutExpired(self.command, HANG)
                time.sleep(0.01)
        except subprocess.TimeoutExpired:
            self.kill(signal.SIGKILL)
            raise Broken(f"hangs: {self}") from None
        Run.alive.remove(self)
        self.seconds = time.monotonic() - self.began
        self.status = self.process.returncode
        self.output = output.strip()
        if -self.status in CRASHES or CRASH.search(output):
            raise Broken(f"crashes: {self}: status {self.status}: {self.output[-2000:]}")
        return self.status

    def __str__(self):
        return " ".join(self.command)


def run(*command, **how):
    """Runs a program undisturbed to its end."""
    made = Run(command, **how)
    made.end()
    return made


def end_all():
    """Ends runs that nobody waits for any more."""
    while Run.alive:
        left = Run.alive.pop()
        left.kill(signal.SIGKILL)
        left.process.communicate()


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def tree(directory):
    """Returns the digest of every file below a directory, by its relative path."""
    return {
        os.path.relpath(os.path.join(folder, name), directory):
            hashlib.blake2b(bytes_of(os.path.join(folder, name)), digest_size=16).digest()
        for folder, _, names in os.walk(directory) for name in names
    }
