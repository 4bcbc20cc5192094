"""A store of one value, and five ways to lose it.

    store.py run URI [FAULT] [CHANGES]  change the value 8 times, or so many, and print each change when it is durable
    store.py verify DRIVE ACKED [FAULT] exit with 0 if the newest value is whole and none that was printed is missing
    store.py verify-each DRIVE ACKED [FAULT] print ok or what is wrong for each line of input: a check for --persistent

DRIVE is an image or an address. Over NBD only what is read counts for whether two states are equal.

A change writes the value to a free block, flushes, points one of two headers at it, and flushes. FAULT is missing-barrier,
torn-header, reused-block, unawaited-flush, unchecked-checksum, or retried-flush, which only a FLUSH that fails brings out.
"""

import struct
import sys
import zlib

from drive import FLUSH, Drive

BLOCK, HEADER = 4096, 1024
HEADERS, BLOCKS = (0, 4096), (16384, 24576, 32768)


def header(number: int, block: int) -> bytes:
    """A header: its number in the first sector, the block in the second, a checksum of both at the end."""
    body = struct.pack("<Q504x", number) + struct.pack("<Q", block).ljust(HEADER - 512 - 4, b"\0")
    return body + struct.pack("<I", zlib.crc32(body))


def value(number: int) -> bytes:
    """The value of a change."""
    return struct.pack("<Q", number) * (BLOCK // 8)


def flush(drive: Drive, fault: str) -> None:
    """Flush; with the fault, again and again until it succeeds."""
    while True:
        try:
            return drive.flush()
        except OSError:
            if fault != "retried-flush":
                raise


def run(uri: str, fault: str, changes: int) -> None:
    """Change the value, again and again."""
    drive = Drive(uri)
    for number in range(1, changes + 1):
        block = BLOCKS[0 if fault == "reused-block" else number % 3]
        drive.write(block, value(number))
        if fault != "missing-barrier":
            flush(drive, fault)
        drive.write(HEADERS[0 if fault == "torn-header" else number % 2], header(number, block))
        if fault == "unawaited-flush":
            drive.send(FLUSH)
            print(number, flush=True)
            drive.wait()
        else:
            flush(drive, fault)
            print(number, flush=True)


def reader(drive: str):
    """Return a function that reads bytes of an image or of a drive at an address."""
    if drive.startswith("nbd"):
        return Drive(drive).read
    with open(drive, "rb") as file:
        disk = file.read(65536)
    return lambda offset, length: disk[offset : offset + length]


def verify(drive: str, acked: str, fault: str) -> str:
    """Return what is wrong."""
    read = reader(drive)
    with open(acked) as file:
        durable = max([int(line) for line in file], default=0)
    newest, block = 0, 0
    for at in HEADERS:
        found = read(at, HEADER)
        number, where = struct.unpack("<Q504xQ", found[:520])
        whole = zlib.crc32(found[:-4]) == struct.unpack("<I", found[-4:])[0]
        if (whole or fault == "unchecked-checksum") and number > newest:
            newest, block = number, where
    if newest < durable:
        return f"change {durable} was printed, and the newest header is {newest}"
    if newest and read(block, BLOCK) != value(newest):
        return f"header {newest} points at block {block}, which holds something else"
    return ""


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "run":
        changes = [int(word) for word in rest[1:] if word.isdigit()]
        run(rest[0], "".join(word for word in rest[1:] if not word.isdigit()), *changes or [8])
    elif what == "verify-each":
        for _ in sys.stdin:
            print(verify(rest[0], rest[1], "".join(rest[2:])) or "ok", flush=True)
    else:
        sys.exit(verify(rest[0], rest[1], "".join(rest[2:])) or 0)
