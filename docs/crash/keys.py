"""LMDB or RocksDB on a mounted drive: transfers between accounts, each with its number.

    keys.py run MNT STORE SYNC                    commit transfers, and print the number of each
    keys.py verify MNT MARKS STORE SYNC [durable] exit with 0 if no transfer is there by half; with `durable`, if none is missing

STORE is lmdb (pip install lmdb) or rocksdb (pip install rocksdict), SYNC is yes or no.
"""

import os
import subprocess
import sys
from pathlib import Path

ACCOUNTS, EACH, TRANSFERS = 40, 1000, 24


class Lmdb:
    """An environment of LMDB; without sync, MDB_NOSYNC."""

    def __init__(self, folder: Path, sync: bool) -> None:
        import lmdb

        folder.mkdir(exist_ok=True)
        self.environment = lmdb.open(str(folder), map_size=16 << 20, sync=sync)

    def commit(self, values: dict[bytes, bytes]) -> None:
        """Write values in a transaction."""
        with self.environment.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key, value)

    def read(self) -> dict[bytes, bytes]:
        """Return all values."""
        with self.environment.begin() as transaction:
            return dict(transaction.cursor())


class Rocks:
    """A database of RocksDB, with WriteOptions::sync or without."""

    def __init__(self, folder: Path, sync: bool) -> None:
        import rocksdict

        self.module = rocksdict
        options = rocksdict.Options(raw_mode=True)
        options.set_write_buffer_size(64 << 10)
        options.set_paranoid_checks(True)
        self.store = rocksdict.Rdict(str(folder), options)
        self.options = rocksdict.WriteOptions()
        self.options.sync = sync

    def commit(self, values: dict[bytes, bytes]) -> None:
        """Write values in a batch."""
        batch = self.module.WriteBatch(raw_mode=True)
        for key, value in values.items():
            batch.put(key, value)
        self.store.write(batch, self.options)

    def read(self) -> dict[bytes, bytes]:
        """Return all values."""
        return dict(self.store.items())


def values(number: int, balance: list[int]) -> dict[bytes, bytes]:
    """Return what a transfer writes: the balance of each account, in 2 KiB, and its number."""
    of = {
        f"account {at:02}".encode(): str(b).encode().ljust(2048, b".")
        for at, b in enumerate(balance)
    }
    return {**of, b"number": str(number).encode()}


def run(store: Lmdb | Rocks, mnt: str) -> None:
    """Transfer between accounts. The system writes back what was not synced after every eighth."""
    balance = [EACH] * ACCOUNTS
    for number in range(TRANSFERS):
        balance[number * 5 % ACCOUNTS] -= 7
        balance[number * 11 % ACCOUNTS] += 7
        store.commit(values(number, balance))
        print(number, flush=True)
        if number % 8 == 7:
            subprocess.run(["sync", "-f", mnt], check=True)
    os._exit(0)  # without a close


def verify(store: Lmdb | Rocks, marks: str, durable: bool) -> str:
    """Return what is wrong."""
    with open(marks) as file:
        committed = max([int(line) for line in file], default=-1)
    found = store.read()
    number = int(found.pop(b"number", b"-1"))
    total = sum(int(value.rstrip(b".")) for value in found.values())
    if number >= 0 and (len(found), total) != (ACCOUNTS, ACCOUNTS * EACH):
        return f"half a transfer: {total} in {len(found)} accounts"
    if durable and number < committed:
        return f"transfer {committed} was acknowledged, and the newest is {number}"
    return ""


if __name__ == "__main__":
    what, mnt, *rest = sys.argv[1:]
    marks = rest.pop(0) if what == "verify" else ""
    kind, sync, *more = rest
    store = {"lmdb": Lmdb, "rocksdb": Rocks}[kind](Path(mnt) / kind, sync == "yes")
    if what == "run":
        run(store, mnt)
    else:
        said = verify(store, marks, "durable" in more)
        print(said, flush=True)
        os._exit(1 if said else 0)
