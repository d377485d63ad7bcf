# SPDX-License-Identifier: BSD-3-Clause
"""
Alters the bytes of an input at random: bits, cuts, copies, numbers, records. If the format has a checksum, the checksum is
corrected afterwards, since readers refuse a file with a wrong checksum without reading the rest.
"""
import re
import struct
import zlib

MAGIC = 0x951FC3F5  # magic number of a KVTree file
HEAD = 20  # bytes before the tree; 4 bytes of checksum follow the tree
LEVELS = 200  # deeper trees are altered only as bytes
# Numbers at which programs miscount: limits of integer types, and sizes just above or below the available memory.
NUMBERS = (0, 1, 2, 255, 1 << 16, (1 << 20) - 1, 1 << 28, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 53,
           (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
WORDS = ("-1", "1e308", "-0.0", "1e-320", "0.5", "null", "true", "[]", "{}", '""', "00", "nan", "1" * 400)
NAMES = (b"", b"..", b"/", b"../x", b".scr", b"-1", b"0x1", b"1e5", b"\x1b[2J", b"\xff", b"k" * 5000, b"scr.dataset.1",
         b"rank2file.0.1.scr")


# ---- numbers ----


def number(random, old):
    """Returns another number: one known to cause trouble, or one near the old number."""
    if random.random() < 0.5:
        return random.choice(NUMBERS)
    return random.choice((old + 1, old - 1, old * 2, old // 2, old << 8, -old, old ^ 1 << random.randrange(64)))


def place(random, size):
    """Returns an offset: anywhere, or near an end, where headers and tables are."""
    near = min(size, 2048)
    return random.choice((random.randrange(size), random.randrange(near), size - 1 - random.randrange(near)))


def alter_number(random, data, _):
    width, order = random.choice((4, 8)), random.choice(("little", "big"))
    at = place(random, len(data)) // 4 * 4
    new = number(random, int.from_bytes(data[at : at + width], order)) % (1 << 8 * width)
    return data[:at] + new.to_bytes(width, order)[: len(data) - at] + data[at + width :]


# ---- bytes ----


def flip(random, data, _):
    at = place(random, len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def cut(random, data, _):
    at = place(random, len(data))
    return data[:at] + data[at + random.choice((1, 4, 8, 64, 4096, len(data))) :]


def repeat(random, data, _):
    at, size = place(random, len(data)), random.choice((1, 4, 8, 24, 64, 512, 4096))
    return data[:at] + data[at : at + size] * random.choice((2, 2, 2, 100)) + data[at + size :]


def splice(random, data, others):
    """Replaces bytes of `data` by bytes of another file of the format: a few, or all up to the end."""
    other = random.choice(others)
    if not other:
        return data
    at, size = place(random, len(data)), random.choice((4, 8, 64, 1024, len(other)))
    start = random.choice((at, place(random, len(other))))
    return data[:at] + other[start : start + size] + data[at + size :]


# ---- text ----

DECIMAL = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
MEMBER = re.compile(rb'"[^"\n]{0,99}"\s*:\s*(?:"[^"\n]*"|[^\s,{}\[\]]+)\s*,?|^[\w.]+ *=.*\n', re.MULTILINE)
RECORD = re.compile(rb"\{[^{}]{0,4000}\}\s*,?|^.*\n", re.MULTILINE)


def found(random, pattern, data):
    """Returns a match or None. Starts at a random position, as there may be a million matches."""
    return pattern.search(data, random.randrange(len(data))) or pattern.search(data)


def alter_decimal(random, data, _):
    at = found(random, DECIMAL, data)
    if at is None:
        return data
    try:
        new = str(number(random, int(at[0][:20])))
    except ValueError:
        new = str(random.choice(NUMBERS))
    if random.random() < 0.3:
        new = random.choice(WORDS)
    return data[: at.start()] + new.encode() + data[at.end() :]


def alter_part(random, data, _):
    """Removes or duplicates a record or a key."""
    at = found(random, random.choice((MEMBER, RECORD)), data)
    if at is None:
        return data
    between = b"" if at[0].rstrip().endswith(b",") or at[0].endswith(b"\n") else b","
    return data[: at.start()] + random.choice((b"", at[0] + between + at[0])) + data[at.end() :]


# ---- KVTree ----


def parse(data, at=HEAD, level=0):
    """Parses the list of a KVTree at `at`. Returns the list of [key, children] and its end. ValueError: it is damaged."""
    if level > LEVELS or at + 4 > len(data):
        raise ValueError
    count = int.from_bytes(data[at : at + 4], "big")
    at += 4
    node = []
    for _ in range(count):
        end = data.index(b"\0", at)
        children, after = parse(data, end + 1, level + 1)
        node.append([data[at:end], children])
        at = after
    return node, at


def packed(node):
    return struct.pack(">I", len(node)) + b"".join(key + b"\0" + packed(children) for key, children in node)


def sealed(tree):
    """Returns a KVTree file with a valid header and checksum for the bytes of a tree."""
    head = struct.pack(">IHHQI", MAGIC, 1, 1, HEAD + len(tree) + 4, 1)
    return head + tree + struct.pack(">I", zlib.crc32(head + tree))


def nodes_of(node):
    yield node
    for _, children in node:
        yield from nodes_of(children)


def alter_tree(random, data, others):
    del others
    try:
        root, _ = parse(data)
    except ValueError:
        return data
    nodes = [node for node in nodes_of(root) if node]
    if not nodes:
        return data
    node = random.choice(nodes)
    i = random.randrange(len(node))
    way = random.randrange(5)
    if way == 0:
        del node[i]
    elif way == 1:
        node.append(node[i])
    elif way == 2:
        node[i][1] = random.choice(nodes) if random.random() < 0.3 else []
    elif node[i][0].isdigit():
        node[i][0] = str(number(random, int(node[i][0][:20]))).encode()
    else:
        node[i][0] = random.choice(NAMES)
    try:
        return sealed(packed(root))
    except RecursionError:  # the tree now contains itself
        return data


# ---- alterations of any file ----


def is_tree(data):
    return data[:4] == struct.pack(">I", MAGIC)


def is_text(data):
    return b"\0" not in data[:1000] and data[:1000].isascii()


def altered(random, data, others):
    """Makes some changes to `data`. `others`: files of the same format."""
    tree = is_tree(data)
    ways = [flip, cut, repeat, splice, alter_number]
    if tree:
        ways += [alter_tree] * 8
    elif is_text(data):
        ways += [alter_decimal] * 6 + [alter_part] * 4
    elif b"=" in data[:1024]:  # an event log begins with text
        ways += [alter_decimal]
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        if data:
            data = random.choice(ways)(random, data, others)
    if tree and len(data) > HEAD + 4 and random.random() < 0.9:
        data = sealed(data[HEAD:-4])
    return data


def stored(data):
    """Makes a brotli stream without compression: meta-blocks of stored bytes."""
    bits, count = 0, 0
    out = bytearray()

    def put(value, width):
        nonlocal bits, count
        bits |= value << count
        count += width

    put(0, 1)  # a window of 64 KiB
    for at in range(0, len(data), 1 << 16):
        block = data[at : at + (1 << 16)]
        put(0, 1)  # not the last block
        put(0, 2)  # the field of the length has 16 bits
        put(len(block) - 1, 16)
        put(1, 1)  # stored
        count = (count + 7) // 8 * 8
        out += bits.to_bytes(count // 8, "little") + block
        bits, count = 0, 0
    put(3, 2)  # the last block, which is empty
    return bytes(out) + bits.to_bytes((count + 7) // 8, "little")
