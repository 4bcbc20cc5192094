"""Seven small stores, each with faults to plant: what a search of crash states has to find.

Run as ``run STORE URI [FAULT]``, which commits and prints each commit when it is durable, and as
``verify STORE IMAGE ACKED [FAULT]``, which exits with 0 if no commit is torn or missing; as
``verify-each`` it answers each line of its input.
"""

from __future__ import annotations

import os.path
import struct
import sys
import zlib
from collections.abc import Callable, Iterator

# No more is imported than it takes: a check is a process, and there are hundreds.
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "docs", "crash"))

from drive import FLUSH, TRIM, WRITE, Drive

Read = Callable[[int, int], bytes]
SECTOR, COMMITS = 512, 12


def sealed(body: bytes, size: int) -> bytes:
    """Return a body in so many bytes, with a checksum of all of it at the end."""
    whole = body.ljust(size - 4, b"\0")
    return whole + struct.pack("<I", zlib.crc32(whole))


def opened(data: bytes) -> bytes | None:
    """Return the body, if its checksum matches and it is not empty."""
    whole, sum_ = data[:-4], struct.unpack("<I", data[-4:])[0]
    return whole if zlib.crc32(whole) == sum_ and any(whole) else None


def page(number: int, which: int, size: int = 4096) -> bytes:
    """Return a page of a commit, which no other page equals."""
    return sealed(struct.pack("<QQ", number, which) * 60, size)


def number_of(data: bytes, which: int) -> int | None:
    """Return the commit of a page, if it is whole and the one that it should be."""
    body = opened(data)
    if body is None or struct.unpack("<Q", body[8:16])[0] != which:
        return None
    return int(struct.unpack("<Q", body[:8])[0])


class Segments:
    """Records in segments. A new one is in the directory before a record of it counts."""

    PER, SIZE, FIRST = 4, 16384, 65536
    faults = ("directory-late", "trim-early", "torn-record")

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Append records."""
        live: list[int] = []

        def directory() -> None:
            drive.write(0, sealed(bytes([len(live), *live]), SECTOR))

        for number in range(1, COMMITS + 1):
            at, slot = divmod(number - 1, self.PER)
            if slot == 0:
                live.append(at)
                if fault != "directory-late":
                    directory()
            body = struct.pack("<QQ", number, 7) * 60
            record = body.ljust(1024, b"\0") if fault == "torn-record" else sealed(body, 1024)
            drive.write(self.FIRST + at * self.SIZE + slot * 1024, record)
            drive.flush()
            yield number
            if slot == 0 and fault == "directory-late":
                directory()
            if number == self.PER * 2 + 1:
                # What the first segment has is in later ones, too.
                live.remove(0)
                directory()
                if fault != "trim-early":
                    drive.flush()
                drive.send(TRIM, self.FIRST, self.SIZE)
                drive.wait()

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        entry = opened(read(0, SECTOR)) or b"\0"
        newest = 0
        for at in entry[1 : 1 + entry[0]]:
            for slot in range(self.PER):
                data = read(self.FIRST + at * self.SIZE + slot * 1024, 1024)
                body = data if fault == "torn-record" else opened(data)
                number = struct.unpack("<Q", body[:8])[0] if body else 0
                if number and struct.unpack("<Q", data[952:960])[0] != 7:
                    return newest, f"record {number} is torn"
                if number not in (0, at * self.PER + slot + 1):
                    return newest, f"record {number} is in slot {slot} of segment {at}"
                if slot == 0 and number == 0 and at != entry[entry[0]]:
                    return newest, f"segment {at} is not the last one, and has nothing"
                newest = max(newest, number)
        return newest, ""


class DoubleWrite:
    """Three pages that change together: into a buffer, flushed, and then into their places."""

    BUFFER, PLACES = 4096, 65536
    faults = ("order", "no-barrier", "early-reuse", "early-acknowledgement")

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Change the pages."""

        def places(number: int) -> None:
            for which in range(3):
                drive.write(self.PLACES + which * 8192, page(number, which))

        for number in range(1, COMMITS + 1):
            if fault == "order":
                places(number)
            drive.write(self.BUFFER, b"".join(page(number, which) for which in range(3)))
            if fault == "early-acknowledgement":
                yield number
            if fault not in ("no-barrier", "order"):
                drive.flush()
                if fault != "early-acknowledgement":
                    yield number
            if fault != "order":
                places(number)
            if fault != "early-reuse":
                drive.flush()
            if fault in ("no-barrier", "order"):
                yield number

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        buffer = [number_of(read(self.BUFFER + w * 4096, 4096), w) for w in range(3)]
        if None not in buffer and len(set(buffer)) == 1:
            return buffer[0] or 0, ""
        there = [read(self.PLACES + w * 8192, 4096) for w in range(3)]
        if not any(map(any, there)):
            return 0, ""
        numbers = [number_of(data, w) for w, data in enumerate(there)]
        if None in numbers or len(set(numbers)) > 1:
            return 0, f"pages of commits {numbers}, and the buffer has {buffer}"
        return numbers[0] or 0, ""


class CopyOnWrite:
    """A tree of a root and four leaves. Changes go to new blocks; a meta sector names the root."""

    BLOCKS, METAS = 65536, (0, 512)
    faults = ("root-first", "fua-only", "in-place", "no-fua")

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Change two leaves."""
        free = list(range(1, 16))
        leaves = [0] * 4
        root = 0
        for number in range(1, COMMITS + 1):
            old = [root] if root else []
            changed = [number % 4, (number + 1) % 4]
            old += [leaves[which] for which in changed if leaves[which]]
            if fault == "in-place":
                free = old + free
            writes = []
            for which in changed:
                leaves[which] = free.pop(0)
                writes.append((leaves[which], page(number, which)))
            root = free.pop(0)
            body = struct.pack("<QQ4Q", number, 9, *leaves)
            writes.append((root, sealed(body, 4096)))
            meta = sealed(struct.pack("<QQ", number, root), SECTOR)
            if fault == "root-first":
                drive.write(self.METAS[number % 2], meta, True)
            for block, data in writes:
                drive.write(self.BLOCKS + block * 4096, data)
            if fault != "fua-only":
                drive.flush()
            if fault != "root-first":
                drive.write(self.METAS[number % 2], meta, fault != "no-fua")
            if fault != "in-place":
                free += old
            yield number

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        metas = [opened(read(at, SECTOR)) for at in self.METAS]
        numbers = [struct.unpack("<QQ", meta[:16]) if meta else (0, 0) for meta in metas]
        number, root = max(numbers)
        if not number:
            return 0, ""
        body = opened(read(self.BLOCKS + root * 4096, 4096))
        if body is None or struct.unpack("<QQ", body[:16]) != (number, 9):
            return number, f"the root of commit {number} is something else"
        for which, block in enumerate(struct.unpack("<4Q", body[16:48])):
            found = number_of(read(self.BLOCKS + block * 4096, 4096), which) if block else 0
            # A leaf changes in the commits that it is one of, or one behind.
            last = max(
                [n for n in range(1, number + 1) if which in (n % 4, (n + 1) % 4)], default=0
            )
            if found != last:
                return number, f"leaf {which} of commit {number} is of {found}, not of {last}"
        return number, ""


class GroupCommit:
    """Records of several clients, and one FLUSH for all that were acknowledged before it."""

    FIRST = 4096
    faults = ("joins-late", "in-flight", "not-awaited")

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Commit three records at a time."""
        other = Drive(self.uri)

        def send(to: Drive, number: int) -> None:
            to.send(
                WRITE,
                self.FIRST + number * 1024,
                1024,
                sealed(struct.pack("<Q", number) * 90, 1024),
            )

        for first in range(1, COMMITS + 1, 3):
            group = range(first, first + 3)
            send(drive, first)
            send(other, first + 1)
            if fault != "in-flight":
                other.wait()
            drive.wait()
            if fault == "joins-late":
                # The third comes while the FLUSH of the first two is under way.
                drive.send(FLUSH)
                send(other, first + 2)
                other.wait()
                drive.wait()
            else:
                send(other, first + 2)
                if not fault:
                    other.wait()
                drive.flush()
                if fault:
                    other.wait()
                if fault == "in-flight":
                    other.wait()
            yield from group

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        numbers = []
        for number in range(1, COMMITS + 1):
            body = opened(read(self.FIRST + number * 1024, 1024))
            numbers.append(body is not None and struct.unpack("<Q", body[:8])[0] == number)
        missing = [number + 1 for number, there in enumerate(numbers) if not there]
        return (missing[0] - 1 if missing else COMMITS), ""


class Ring:
    """A log in a ring of eight slots, which ends where a record does not continue the last."""

    SLOTS, FIRST = 8, 4096
    faults = ("sequence-reuse", "head-late", "half-checksum")

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Append records, two at a time."""
        for number in range(1, COMMITS * 2 + 1):
            sequence = number % self.SLOTS if fault == "sequence-reuse" else number
            body = struct.pack("<QQ", sequence, number)
            record = sealed(body, SECTOR) + sealed(struct.pack("<Q", number) * 40, SECTOR)
            if fault != "sequence-reuse" and number % self.SLOTS == 1 and fault != "head-late":
                drive.write(0, sealed(struct.pack("<Q", number), SECTOR))
                drive.flush()
            # A sector of zeroes behind the record ends the log.
            end = b"" if number % self.SLOTS == 0 else bytes(SECTOR)
            drive.write(self.FIRST + (number - 1) % self.SLOTS * 1024, record + end)
            if number % 2 == 0:
                drive.flush()
                yield number // 2
            if fault == "head-late" and number % self.SLOTS == 1:
                drive.write(0, sealed(struct.pack("<Q", number), SECTOR))

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        head = opened(read(0, SECTOR))
        first = struct.unpack("<Q", head[:8])[0] if head else 1
        newest = before = 0
        for slot in range(self.SLOTS):
            data = read(self.FIRST + slot * 1024, 1024)
            body, rest = opened(data[:SECTOR]), opened(data[SECTOR:])
            if body is None or (rest is None and fault != "half-checksum"):
                break
            sequence, number = struct.unpack("<QQ", body[:16])
            expected = (slot + 1) % self.SLOTS if fault == "sequence-reuse" else first + slot
            if sequence != expected:
                break
            if number < before:
                return newest, f"record {number} comes behind {before}"
            if rest is None or struct.unpack("<Q", rest[:8])[0] != number:
                if fault != "half-checksum":
                    break  # torn
                return newest, f"record {number} has the data of another"
            newest = before = number
        if fault != "sequence-reuse" and newest == 0:
            newest = first - 1
        return newest // 2, ""


class Checkpoint:
    """Records in a log. Every tenth commit writes all pages, and the log begins behind it."""

    PAGES, LOG, COUNT = 4096, 65536, 4
    faults = ("truncate-early",)

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Append records, and write pages at times."""
        for number in range(1, 36):
            drive.write(self.LOG + number * SECTOR, sealed(struct.pack("<Q", number), SECTOR))
            drive.flush()
            yield number
            if number % 10 == 0:
                for which in range(self.COUNT):
                    newest = number - (number - which) % self.COUNT
                    drive.write(self.PAGES + which * 4096, page(newest, which))
                if fault != "truncate-early":
                    drive.flush()
                drive.write(0, sealed(struct.pack("<Q", number), SECTOR))
                drive.flush()

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        head = opened(read(0, SECTOR))
        begin = newest = struct.unpack("<Q", head[:8])[0] if head else 0
        while record := opened(read(self.LOG + (newest + 1) * SECTOR, SECTOR)):
            if struct.unpack("<Q", record[:8])[0] != newest + 1:
                break
            newest += 1
        for which in range(self.COUNT):
            expected = newest - (newest - which) % self.COUNT
            # A change that is in the log is not looked for in its page.
            if 0 < expected <= begin:
                found = number_of(read(self.PAGES + which * 4096, 4096), which)
                if found != expected:
                    return newest, f"page {which} is of {found}, and the log begins at {begin}"
        return newest, ""


class MovingLog:
    """Many large values, and among them once a header and a pointer to it, of one sector each."""

    VALUES, SIZE, HEADER = 131072, 16384, 4096
    faults = ("pointer-early",)

    def commit(self, drive: Drive, fault: str) -> Iterator[int]:
        """Write values."""
        for number in range(1, 61):
            value = sealed(struct.pack("<Q", number), self.SIZE)
            drive.write(self.VALUES + number % 8 * self.SIZE, value)
            drive.flush()
            yield number
            if number == 30:
                drive.write(self.HEADER, sealed(struct.pack("<Q", number), SECTOR))
                if fault != "pointer-early":
                    drive.flush()
                drive.write(0, sealed(struct.pack("<Q", self.HEADER), SECTOR))
                drive.flush()

    def newest(self, read: Read, fault: str) -> tuple[int, str]:
        """Return the newest commit, and what is wrong."""
        values = [opened(read(self.VALUES + slot * self.SIZE, self.SIZE)) for slot in range(8)]
        newest = max(struct.unpack("<Q", value[:8])[0] if value else 0 for value in values)
        if opened(read(0, SECTOR)) and not opened(read(self.HEADER, SECTOR)):
            return newest, "the pointer leads to no header"
        return newest, ""


STORES = {
    "segments": Segments,
    "double-write": DoubleWrite,
    "copy-on-write": CopyOnWrite,
    "group-commit": GroupCommit,
    "ring": Ring,
    "checkpoint": Checkpoint,
    "moving-log": MovingLog,
}


def run(name: str, uri: str, fault: str) -> None:
    """Commit, and print each commit when it is durable."""
    store = STORES[name]()
    store.uri = uri
    for number in store.commit(Drive(uri), fault):
        print(number, flush=True)


def verify(name: str, image: str, acked: str, fault: str) -> str:
    """Return what is wrong."""
    with open(image, "rb") as file:
        disk = file.read(1 << 18)
    with open(acked) as file:
        durable = max([int(line) for line in file.read().split()], default=0)
    newest, wrong = STORES[name]().newest(lambda at, n: disk[at : at + n], fault)
    if wrong:
        return wrong
    return f"commit {durable} was printed, and the newest is {newest}" if newest < durable else ""


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "run":
        run(rest[0], rest[1], "".join(rest[2:]))
    elif what == "verify-each":
        for _ in sys.stdin:
            print(verify(rest[0], rest[1], rest[2], "".join(rest[3:])) or "ok", flush=True)
    else:
        sys.exit(verify(rest[0], rest[1], rest[2], "".join(rest[3:])) or 0)
