"""Drives scaled down to what a real trace writes: ``[pieces.shrink]`` of ``experiment.toml``.

A trace that writes a hundredth of the paper's trace hardly fills the paper's cache. The rule, which
uses no result:

1. The cache has the share of the piece's written bytes that the paper's has of its trace's: bytes
   of the cache over requests x share of writes x mean write, as the trace's twin has them of the
   paper's table, or as ``[pieces.shrink.written]`` says.
2. Pages a block, blocks and page stay as the paper has them. Planes a die are halved first, then
   dies, chips and channels, until each plane of the cache has ``blocks`` blocks or more; of
   ``channels`` none is given up.
3. A plane keeps the paper's other blocks, or gets so many more that half of them hold every page
   that the piece may touch and all that it writes: where the paper's drive has room to spare, so
   has this.
4. A piece for which no such drive exists is not run, and its row says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import ceil, prod
from typing import Any

import wordline
from wordline import UserError, toml
from wordline.quantity import in_bytes

GIB = 2**30
#: What `wordline.inspect` counts a footprint in.
TOUCHED = 4096
#: In the order in which a drive gives them up.
PARTS = ("planes_per_die", "dies_per_chip", "chips_per_channel", "channels")


@dataclass(frozen=True)
class Shrunk:
    """The drive of a piece.

    Attributes
    ----------
    written_bytes
        What the piece writes.
    share
        Bytes of the cache over bytes written, as the rule asks.
    cache_bytes
        Those of the cache, in whole blocks; what the rule asks for where there is no such drive.
    planes, blocks
        Planes, and blocks of the cache in each.
    settings
        What makes the drive of the paper's.
    why_not
        Why there is none.
    is_copy
        Whether that is because another file has the same trace.
    """

    written_bytes: int
    share: float
    cache_bytes: int
    planes: int = 0
    blocks: int = 0
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    why_not: str = ""
    is_copy: bool = False

    @staticmethod
    def of_copy(why: str) -> Shrunk:
        """Return the drive of a file that is a copy of another."""
        return Shrunk(0, 0, 0, why_not=f"not run: {why}", is_copy=True)

    def columns(self) -> dict[str, Any]:
        """Return its note in the table."""
        return {
            "written_mib": self.written_bytes / 2**20 or None,
            "cache_over_written": None if self.why_not else self.cache_bytes / self.written_bytes,
            "cache": f"{self.planes} planes x {self.blocks} blocks" if self.planes else None,
        }


def written_by(workload: str, spelling: str, given: Mapping[str, str]) -> int:
    """Return the bytes that the paper's trace writes.

    Parameters
    ----------
    workload, spelling
        The paper's name, and how its twin is spelled.
    given
        ``[pieces.shrink.written]``, which goes before the twin.

    Raises
    ------
    UserError
        Neither says it.
    """
    if workload in given:
        return in_bytes(given[workload])
    name = spelling.removeprefix("twin:").partition(":")[0]
    text = toml.builtin(f"twins/{name}.toml") if spelling.startswith("twin:") else None
    twin = toml.parse(text) if text else {}
    try:
        share = float(twin["twin"]["write"].rstrip("%")) / 100
        return round(twin["twin"]["requests"] * share * in_bytes(twin["write"]["mean"]))
    except KeyError as e:
        raise UserError(
            f"pieces.shrink: the workload {workload} ({spelling}) does not say how much the "
            f"paper's trace writes ({e} is missing); add it to [pieces.shrink.written], "
            f'such as {workload} = "20GiB"'
        ) from e


def shrink(
    device: str, changes: Mapping[str, str], written: int, piece: str, table: Mapping[str, Any]
) -> Shrunk:
    """Return the drive for a piece.

    Parameters
    ----------
    device, changes
        The paper's drive.
    written
        Bytes that the paper's trace writes.
    piece
        The real trace, spelled as for a run.
    table
        ``[pieces.shrink]``.

    Raises
    ------
    UserError
        The drive has no static cache, or the trace cannot be read.
    """
    drive = _drive(device, tuple(sorted(changes.items())))
    trace = _inspected(piece)
    return fitted(drive, written, trace, table)


def fitted(
    drive: Mapping[str, Any], written: int, trace: Mapping[str, Any], table: Mapping[str, Any]
) -> Shrunk:
    """Return the drive for a trace with these figures of `wordline.inspect`.

    Parameters
    ----------
    drive
        The device of an identity.
    written
        Bytes that the paper's trace writes.
    trace
        ``write_gib`` and ``footprint_gib``.
    table
        ``[pieces.shrink]``.
    """
    own = round(trace["write_gib"] * GIB)
    medium, static = drive["media"][0], (drive.get("slc_cache") or {}).get("static_blocks", 0)
    if not static:
        raise UserError(f"pieces.shrink: {drive['name']} has no static cache to shrink")
    page, rows = in_bytes(medium["page"]), medium["wordlines_per_block"]
    bits = max(bit for bit, mode in enumerate(medium["modes"], 1) if mode is not None)
    block = page * rows
    shape = {part: medium["topology"][part] for part in PARTS}
    share = prod(shape.values()) * static * block / written
    asked = share * own
    if not own:
        return Shrunk(0, share, 0, why_not="not run: it writes nothing")
    found = _shape(shape, asked / block, table)
    if found is None:
        least = table["channels"] * table["blocks"] * block
        return Shrunk(
            own,
            share,
            round(asked),
            why_not=f"not run: its cache would be {asked / 2**20:.1f} MiB, and the smallest, "
            f"{table['channels']} channels of a plane with {table['blocks']} blocks, has "
            f"{least / 2**20:.0f} MiB",
        )
    planes = prod(found.values())
    blocks = round(asked / block / planes)
    # A page is touched where any 4 KiB of it are.
    held = trace["footprint_gib"] * GIB * max(1, in_bytes(drive["unit"]) // TOUCHED) + own
    other = max(medium["blocks_per_plane"] - static, ceil(2 * held / (planes * block * bits)))
    return Shrunk(
        own,
        share,
        planes * blocks * block,
        planes,
        blocks,
        {
            **{f"medium.{medium['name']}.{part}": str(n) for part, n in found.items()},
            f"medium.{medium['name']}.blocks_per_plane": str(blocks + other),
            "slc_cache.static_blocks": str(blocks),
        },
    )


def _shape(
    shape: Mapping[str, int], blocks: float, table: Mapping[str, Any]
) -> dict[str, int] | None:
    """Return the largest shape whose planes have enough blocks of so many; none if none has."""
    found = dict(shape)
    while blocks < prod(found.values()) * table["blocks"]:
        least = {part: table["channels"] if part == "channels" else 1 for part in PARTS}
        part = next((p for p in PARTS if found[p] // 2 >= least[p]), None)
        if part is None:
            return None
        found[part] //= 2
    return found


@cache
def _drive(device: str, changes: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    return wordline.identity(
        device=device, scheme="conventional", workload="uniform", set=dict(changes), initial="fresh"
    )["device"]


@cache
def _inspected(piece: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = wordline.inspect(piece).to_dict()
    return found
