# SPDX-License-Identifier: BSD-3-Clause
"""A model of lost writes: what a file system may still have after the power failed.

crashpoint records the calls of a whole run in order, and a copy of each file at each fsync. The model replays the first K
calls and then takes away what the calls did not make durable:

- A file has the content of its last fsync; without an fsync, the file is empty. Files from before the run are durable.
  (In "sizes" a file has its current length, with zeros where nothing was synced.)
- A name in a directory that was made, removed or moved is durable after an fsync of that directory. A file whose name is
  lost is lost, and so is everything in a directory whose name is lost. The fsync of a file does not make its name durable.
  A rename from one directory to another survives as a whole or not at all.

POSIX allows many states. The model tries these at each K:

    nothing   no name and no byte that was not synced survives
    names     all names survive, content that was not synced does not
    sizes     all names survive, and files have their lengths, with zeros for content that was not synced
    only:DIR  the names of one directory survive, but no other names that were not synced

States that are equal are tried once. Names of one directory survive together; states with fewer of them occur at smaller
K. The model does not try parts of a write, or another order of a file's writes since its last fsync. Modes, owners and times
do not count. A file that is mapped and written through memory is not modelled.
"""
import os
import re
import shutil


class File:
    """`synced`: path of the copy with the `size` bytes of the last fsync; None: no copy. `length`: current length of the
    file."""

    def __init__(self, synced=None):
        self.sync(synced, os.path.getsize(synced) if synced else 0)

    def sync(self, synced, length):
        self.synced, self.size, self.length = synced, length, length


class Directory:
    """`now`: the current names. `durable`: the names that survive a power failure."""

    def __init__(self, path):
        self.path, self.now, self.durable = path, {}, {}


def identity(path):
    status = os.lstat(path)
    return f"{status.st_dev}:{status.st_ino}"


def identities(directory):
    """Returns the content of a directory before the run, including itself: path -> identity."""
    found = {".": identity(directory)}
    for folder, folders, names in os.walk(directory):
        for name in folders + names:
            path = os.path.join(folder, name)
            found[os.path.normpath(os.path.relpath(path, directory))] = identity(path)
    return found


class Model:
    """Starts with the files of `template`. `identities_before`: the identities of the same files in the run's directory."""

    def __init__(self, identities_before, template, copies):
        self.copies, self.before, self.known = copies, identities_before, {}
        self.moves = []  # renames between directories: from, name, to, name, what
        self.root = self.take(template, ".")

    def take(self, template, path):
        directory = self.known[self.before[path]] = Directory(path)
        for name in sorted(os.listdir(template)):
            inner, below = os.path.join(template, name), os.path.normpath(os.path.join(path, name))
            if os.path.isdir(inner):
                directory.now[name] = self.take(inner, below)
            else:
                directory.now[name] = self.known[self.before[below]] = File(inner)
        directory.durable = dict(directory.now)
        return directory

    def apply(self, call):
        if call.get("result", -1) < 0:
            return
        what, name = call["call"], os.path.basename(call["path"])
        folder, file = self.known.get(call.get("directory")), self.known.get(call.get("file"))
        if what == "open":
            if "file" not in call or call["file"] != call["opened"]:
                made = self.known[call["opened"]] = File()
                if "file" not in call:  # otherwise O_TMPFILE, which has no name
                    folder.now[name] = made
            elif call["truncates"]:
                file.length = 0
        elif what == "mkdir":
            folder.now[name] = self.known[call["now"]] = Directory(os.path.normpath(os.path.join(folder.path, name)))
        elif what in ("unlink", "rmdir"):
            del folder.now[name]
        elif what in ("rename", "link"):
            other, to = self.known[call["to_directory"]], os.path.basename(call["to"])
            if call.get("exchange"):
                folder.now[name], other.now[to] = other.now[to], folder.now[name]
            else:
                other.now[to] = file
                if what == "rename":
                    del folder.now[name]
                    if other is not folder:
                        self.moves.append((folder, name, other, to, file))
        elif what in ("write", "truncate", "allocate"):
            if file is not None:
                file.length = call["length"]
        elif what == "fsync":
            if isinstance(file, Directory):
                file.durable = dict(file.now)
            elif file is not None:
                file.sync(os.path.join(self.copies, str(call["n"])), call["length"])
        elif what not in ("chmod", "chown", "start", "msync"):
            raise NotImplementedError(what)

    # ---- after the power failed

    def survivals(self):
        """Returns the names of the states that may follow."""
        changed = sorted({place.path for place in self.directories() if place.now != place.durable})
        return ["nothing", "names", "sizes"] + [f"only:{path}" for path in changed]

    def directories(self):
        return {id(place): place for place in self.known.values() if isinstance(place, Directory)}.values()

    def left(self, survival):
        """Returns what is left: path -> None for a directory; (path of a copy or None, length, identity in the run)
        for a file."""
        identity_of = {id(what): key for key, what in self.known.items()}

        def names(directory):
            """Returns the names of a directory that survive. A rename survives in both directories or in none."""
            survives = directory.now if all_of(directory) else directory.durable
            for source, name, target, to, what in self.moves:
                arrived = (target.now if all_of(target) else target.durable).get(to) is what
                if directory is source and survives.get(name) is (what if arrived else None):
                    survives = dict(survives)
                    if arrived:
                        del survives[name]
                    elif source.durable.get(name) is what:
                        survives[name] = what
            return survives

        def all_of(directory):
            return survival in ("names", "sizes") or survival == f"only:{directory.path}"

        def walk(directory, path):
            for name, what in names(directory).items():
                inner = f"{path}/{name}" if path else name
                if isinstance(what, Directory):
                    found[inner] = None
                    walk(what, inner)
                else:
                    length = what.length if survival == "sizes" else what.size
                    found[inner] = (what.synced, length, identity_of.get(id(what)))

        found = {}
        walk(self.root, "")
        return found


# A record of an intent (the file that lists the renames of a set): number, device, inode, birth, size and owner of a file.
RECORD = re.compile(rb"([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{16}) [0-9a-f]{16}( [0-9a-f]{16} [0-9a-f]{16} )")


def identify(intent, now):
    """Puts the identities of the files made here into an intent. (After a real power failure, files keep their
    identities.)"""
    def record(match):
        number, device, inode, rest = match.groups()
        is_now = now.get(f"{int(device, 16)}:{int(inode, 16)}")
        if is_now is None:
            return match.group()
        device, inode = (int(word) for word in is_now.split(":"))
        return b"%s %016x %016x %016x%s" % (number, device, inode, 0, rest)  # a birth of 0 means unknown

    with open(intent, "rb+") as file:
        text = RECORD.sub(record, file.read())
        file.seek(0)
        file.write(text)


def build(left, directory):
    """Makes the files of `left` in a directory."""
    now = {}  # identity in the run -> identity of the file made here
    for path, what in sorted(left.items()):
        full = os.path.join(directory, path)
        if what is None:
            os.makedirs(full, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if what[0]:
            shutil.copyfile(what[0], full)
        with open(full, "ab") as file:
            file.truncate(what[1])
        now[what[2]] = identity(full)
    for path, what in left.items():
        if what is not None and os.path.basename(path).startswith(".hpcw-set-"):
            identify(os.path.join(directory, path), now)
