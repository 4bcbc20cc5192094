"""SQLite on a drive, by a file system of three files: the database, its journal and its log.

    sqlite.py run URI SYNCHRONOUS JOURNAL     commit transfers between accounts, and print each when it is committed
    sqlite.py verify IMAGE ACKED [durable]    exit with 0 if the database is whole; with `durable`, if no commit is missing
    sqlite.py verify-each IMAGE ACKED [durable]    print ok or what is wrong for each line of input: a check for --persistent

Each file has a header of one sector, with its length and where it begins; a new file begins where nothing was before. A sync
writes the header and flushes, as a file system would. Needs a Python whose sqlite3 uses the shared library, as Linux
distributions ship it.
"""

import ctypes as c
import os
import sqlite3
import struct
import sys
import tempfile
import time

from drive import Drive

NAMES = ("db", "db-journal", "db-wal")
AREA, ACCOUNTS, EACH, OK = 512 << 10, 16, 1000, 0
P, I, L = c.c_void_p, c.c_int, c.c_int64


class Files:
    """Three files on a drive."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        self.length: list[int | None] = [None] * len(NAMES)
        self.changed = [False] * len(NAMES)
        self.begin = [0] * len(NAMES)
        self.created = 0

    def head(self, at: int, sync: bool) -> None:
        """Write the header of a file."""
        length = self.length[at]
        head = struct.pack("<QQ", 0 if length is None else length + 1, self.begin[at])
        self.drive.write(at * 512, head.ljust(512, b"\0"))
        self.changed[at] = False
        if sync:
            self.drive.flush()


class File(c.Structure):
    """What SQLite keeps of an open file."""

    _fields_ = [("methods", P), ("at", I)]


def callback(result: type, *arguments: type):
    """Return the type of a function that SQLite calls."""
    return c.CFUNCTYPE(result, *arguments)


def methods(files: Files) -> list:
    """Return the functions of an open file, in SQLite's order."""

    def at(file: int) -> int:
        return File.from_address(file).at

    def close(file: int) -> int:
        return OK

    def read(file: int, into: int, count: int, offset: int) -> int:
        there = max(0, min(count, (files.length[at(file)] or 0) - offset))
        data = files.drive.read(files.begin[at(file)] + offset, there) if there else b""
        c.memmove(into, data.ljust(count, b"\0"), count)
        return OK if there == count else 522

    def write(file: int, data: int, count: int, offset: int) -> int:
        which = at(file)
        files.drive.write(files.begin[which] + offset, c.string_at(data, count))
        if offset + count > (files.length[which] or 0):
            files.length[which] = offset + count
            files.head(which, False)
        return OK

    def truncate(file: int, length: int) -> int:
        files.length[at(file)], files.changed[at(file)] = length, True
        return OK

    def sync(file: int, flags: int) -> int:
        if files.changed[at(file)]:
            files.head(at(file), False)
        files.drive.flush()
        return OK

    def size(file: int, into: int) -> int:
        c.c_int64.from_address(into).value = files.length[at(file)] or 0
        return OK

    def lock(file: int, level: int) -> int:
        return OK

    def reserved(file: int, into: int) -> int:
        c.c_int.from_address(into).value = 0
        return OK

    def control(file: int, op: int, argument: int) -> int:
        return 12

    def sector(file: int) -> int:
        return 512

    def traits(file: int) -> int:
        return 0

    kinds = [(P,), (P, P, I, L), (P, P, I, L), (P, L), (P, I), (P, P), (P, I), (P, I), (P, P), (P, I, P), (P,), (P,)]
    all_of_them = [close, read, write, truncate, sync, size, lock, lock, reserved, control, sector, traits]
    return [callback(I, *kind)(function) for kind, function in zip(kinds, all_of_them)]


def register(files: Files) -> list:
    """Make the file system known to SQLite as `drive`. Returns what must be kept as long as it is in use."""
    library = c.CDLL("libsqlite3.so.0")
    calls = methods(files)
    table = (P * 13)(1, *[c.cast(call, P).value for call in calls])

    def which(name: bytes | None) -> int:
        return NAMES.index(os.path.basename(name or b"").decode())

    def open_(vfs: int, name: bytes, file: int, flags: int, out: int) -> int:
        opened = File.from_address(file)
        opened.at, opened.methods = which(name), c.addressof(table)
        if files.length[opened.at] is None:
            files.length[opened.at], files.changed[opened.at] = 0, True
            files.created += 1
            files.begin[opened.at] = files.created * AREA
        if out:
            c.c_int.from_address(out).value = flags
        return OK

    def delete(vfs: int, name: bytes, sync: int) -> int:
        files.length[which(name)] = None
        files.head(which(name), bool(sync))
        return OK

    def access(vfs: int, name: bytes, flags: int, out: int) -> int:
        known = os.path.basename(name).decode() in NAMES
        c.c_int.from_address(out).value = int(known and files.length[which(name)] is not None)
        return OK

    def full(vfs: int, name: bytes, count: int, out: int) -> int:
        c.memmove(out, name + b"\0", len(name) + 1)
        return OK

    def randomness(vfs: int, count: int, out: int) -> int:
        c.memmove(out, bytes(range(count % 256)).ljust(count, b"7"), count)
        return count

    def sleep(vfs: int, micros: int) -> int:
        return micros

    def now(vfs: int, out: int) -> int:
        c.c_double.from_address(out).value = time.time() / 86400 + 2440587.5
        return OK

    def last(vfs: int, count: int, out: int) -> int:
        return OK

    s = c.c_char_p
    named = [(open_, (P, s, P, I, P)), (delete, (P, s, I)), (access, (P, s, I, P)), (full, (P, s, I, P))]
    others = [(randomness, (P, I, P)), (sleep, (P, I)), (now, (P, P)), (last, (P, I, P))]
    before = [callback(I, *kind)(function) for function, kind in named]
    after = [callback(I, *kind)(function) for function, kind in others]
    name = c.create_string_buffer(b"drive")
    address = [c.cast(call, P).value for call in before + after]
    head = struct.pack("@iiiiPPP", 1, c.sizeof(File), 512, 0, 0, c.addressof(name), 0)
    body = struct.pack("@16P", *address[:4], 0, 0, 0, 0, *address[4:], 0, 0, 0, 0)
    vfs = c.create_string_buffer(head + body)
    library.sqlite3_vfs_register(vfs, 0)
    return [library, calls, table, before, after, name, vfs]


def run(uri: str, synchronous: str, journal: str) -> None:
    """Transfer between accounts."""
    kept = register(Files(Drive(uri)))
    db = sqlite3.connect("file:db?vfs=drive", uri=True, isolation_level=None)
    if journal == "WAL":  # without shared memory
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute(f"PRAGMA journal_mode={journal}")
    db.execute(f"PRAGMA synchronous={synchronous}")
    db.execute("PRAGMA wal_autocheckpoint=4")
    db.execute("BEGIN")
    db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, note BLOB)")
    db.execute("CREATE TABLE done (number INTEGER)")
    db.executemany("INSERT INTO account VALUES (?, ?, zeroblob(900))", [(i, EACH) for i in range(ACCOUNTS)])
    db.execute("INSERT INTO done VALUES (0)")
    db.execute("COMMIT")
    print(0, flush=True)
    for number in range(1, 13):
        db.execute("BEGIN")
        db.execute("UPDATE account SET balance = balance - 7 WHERE id = ?", (number * 5 % ACCOUNTS,))
        db.execute("UPDATE account SET balance = balance + 7 WHERE id = ?", (number * 11 % ACCOUNTS,))
        db.execute("UPDATE done SET number = ?", (number,))
        db.execute("COMMIT")
        print(number, flush=True)
    os._exit(0 if kept else 1)  # without a close, which would flush


def verify(image: str, acked: str, durable: bool) -> str:
    """Return what is wrong with the database on an image."""
    with open(acked) as file:
        committed = max([int(line) for line in file], default=-1)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(image)) as folder, open(image, "rb") as disk:
        for at, name in enumerate(NAMES):
            disk.seek(at * 512)
            length, begin = struct.unpack("<QQ", disk.read(16))
            if length:
                disk.seek(begin)
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(disk.read(length - 1))
        db = sqlite3.connect(os.path.join(folder, "db"))
        try:
            found = db.execute("PRAGMA integrity_check").fetchall()
            if found != [("ok",)]:
                return f"integrity_check: {found[0][0]}"
            tables = db.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()[0]
            if not tables:
                return "no tables, though they were committed" if durable and committed >= 0 else ""
            total, number = db.execute("SELECT sum(balance), (SELECT number FROM done) FROM account").fetchone()
        except sqlite3.DatabaseError as e:
            return f"{type(e).__name__}: {e}"
        finally:
            db.close()
    if total != ACCOUNTS * EACH:
        return f"half a transaction: {total} in all accounts, and {ACCOUNTS * EACH} were paid in"
    if durable and number < committed:
        return f"commit {committed} was acknowledged, and the newest is {number}"
    return ""


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "run":
        run(*rest)
    elif what == "verify-each":
        for _ in sys.stdin:
            print(verify(rest[0], rest[1], "durable" in rest[2:]) or "ok", flush=True)
    else:
        sys.exit(verify(rest[0], rest[1], "durable" in rest[2:]) or 0)
