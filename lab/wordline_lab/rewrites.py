"""How soon written data are rewritten, in parts of traces and in twins.

    python -m wordline_lab.rewrites TRACES

prints results/rewrites.md. It measures the share of the written sectors of 4 KiB, or pages of 16
KiB, that were already written within the previous N MiB of writes. Writes within the first N MiB
are omitted, so that the beginning of a trace does not count as first writes.

The law of a class is the mean of the twins fitted to some of its pieces; it is judged on the
others, by their own twins with that law. `FITTED` and `JUDGED` were fixed before any law was
fitted: every other piece, in alphabetical order. Schemes play no part.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import wordline
from wordline import page, toml
from wordline.quantity import in_bytes
from wordline_lab import traces as traces_of

MIB = 2**20
SECTOR, PAGE = 4096, 16384
#: The last so many MiB of writing.
WITHIN = (0.25, 1, 4, 16, 64, 256, 1024)
#: Pieces of MSR Cambridge, by the alphabet: the first, the third and so on, and the others.
FITTED = ("hm_0.part*", "rsrch_1*", "wdev_3*")
JUDGED = ("msr_cut_rw_20_80*", "wdev_1*")
#: Pieces of other classes.
OTHERS = (
    "cloudPhysicsIO.vscsi*",
    "DTRS1K*",
    "financial1_head*",
    "sqlitewal-mkfs*",
    "systor17-traces-sample*",
)
TWINS = ("hm_0", "usr_0", "web_0", "web_1", "lun1", "lun2", "lun3", "lun4")
#: Those of MSR Cambridge.
OF_CLASS = TWINS[:4]
#: Keys of ``[write]`` that are shares or numbers, and make the law together with `HOT`.
LAW = ("sequential", "hot", "uniform", "rewrite", "theta", "stable")
#: The hot part, in bytes, and how far a stream goes.
HOT, STRETCH = "hot_space", "stretch"


def distances(
    lba: NDArray[np.int64], blocks: NDArray[np.int64], unit: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the bytes written since the previous write of each unit, and its position.

    Parameters
    ----------
    lba, blocks
        Of each write in order, in 512 bytes, shape ``(writes,)``.
    unit
        Bytes.

    Returns
    -------
    tuple of ndarray
        For each unit of each write, the bytes written from the write before of the same unit to
        this one, infinite for the first, and the bytes written before this one.
    """
    per = unit // 512
    first = lba // per
    count = (lba + blocks - 1) // per - first + 1
    begin = np.cumsum(count) - count
    units = np.arange(int(count.sum())) - np.repeat(begin - first, count)
    at = np.repeat((np.cumsum(blocks) - blocks) * 512, count)
    order = np.argsort(units, kind="stable")
    found = np.full(len(units), np.inf)
    again = np.flatnonzero(units[order][1:] == units[order][:-1])
    found[order[again + 1]] = at[order[again + 1]] - at[order[again]]
    return found, at


def shares(
    lba: NDArray[np.int64], blocks: NDArray[np.int64], unit: int, within: Sequence[float] = WITHIN
) -> list[float | None]:
    """Return the share of units rewritten within this many MiB; ``None`` if too little is written.

    Parameters
    ----------
    lba, blocks, unit
        As of `distances`.
    within
        MiB.
    """
    found, at = distances(lba, blocks, unit)
    total = int(blocks.sum()) * 512
    return [
        float(np.mean(found[at >= n * MIB] <= n * MIB)) if 2 * n * MIB <= total else None
        for n in within
    ]


def writes(workload: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``lba`` and ``blocks`` of the writes of a workload, in their order."""
    report = wordline.run(
        device="hierarchy-44gb",
        scheme="conventional",
        workload=workload,
        initial="fresh",
        set={"ack.mode": "program"},
    )
    table = report.requests_with("number", "lba", "blocks", "op")
    order = np.argsort(np.asarray(table["number"]))
    order = order[np.asarray(table["op"])[order] == "write"]
    return (
        np.asarray(table["lba"])[order].astype(np.int64),
        np.asarray(table["blocks"])[order].astype(np.int64),
    )


def law(twins: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the law of a class: the means over its fitted twins, weighted by writes.

    Parameters
    ----------
    twins
        Their descriptions. The hot part is a number of bytes, whatever a footprint has.
    """
    found = [(t["write"], t["twin"]["requests"] * _number(t["twin"]["write"])) for t in twins]
    weights = [weight for _, weight in found]

    def mean(values: Iterable[float]) -> float:
        return float(np.average(list(values), weights=weights))

    hot = mean(_number(w[HOT]) / 100 * in_bytes(w["footprint"]) for w, _ in found)
    said = {key: mean(_number(w[key]) for w, _ in found) for key in LAW}
    # What is left over by rounding is anywhere.
    said["uniform"] = 100 - round(said["sequential"], 2) - round(said["hot"], 2)
    spelled = {key: f"{value:.2f}" + "%" * (key != "theta") for key, value in said.items()}
    stretch = mean(in_bytes(w[STRETCH]) for w, _ in found)
    return {**spelled, STRETCH: f"{round(stretch / 512) * 512}B", HOT: f"{round(hot)}B"}


def with_law(text: str, changes: Mapping[str, str]) -> str:
    """Return the text of a twin with another law of rewrites.

    Parameters
    ----------
    text
        Its file.
    changes
        As of `law`; the bytes of the hot part become a share of its footprint.
    """
    head, write, rest = re.split(r"(?m)^(?=\[write\]|\[read\])", text, maxsplit=2)
    footprint = in_bytes(toml.parse(write)["write"]["footprint"])
    share = min(1.0, in_bytes(changes[HOT]) / footprint)
    own = {**changes, HOT: f"{share * 100:.6f}%"}
    kept = [
        line
        for line in write.rstrip().splitlines()
        if line.partition("=")[0].strip() not in (*own, "hot_lies")
    ]
    # Hot extents lie where they come, as in what is fitted.
    lines = [
        f'{key} = "{value}"' if key != "theta" else f"{key} = {value}" for key, value in own.items()
    ]
    return head + "\n".join([*kept, *lines, 'hot_lies = "scattered"']) + "\n\n" + rest


def _number(text: str | float) -> float:
    return float(text.rstrip("%")) if isinstance(text, str) else float(text)


def _of_name(folder: str, pattern: str) -> list[Path]:
    return [path for path in traces_of.files(folder) if path.match(pattern)]


def _spelled(piece: Path) -> str:
    """Spell a piece for a run; one has a line that cannot be used."""
    skip = ",skip=bad" if piece.name.startswith("sqlitewal") else ""
    return f"{piece}:fit=compact{skip}"


def _fitted(piece: Path, into: Path) -> Path:
    """Fit a twin to a piece, and return its file."""
    twin = into / f"{piece.name.partition('.')[0]}.toml"
    if not twin.exists():
        command = [sys.executable, "-m", "wordline", "twin", "fit", _spelled(piece)]
        subprocess.run([*command, "--out", str(twin)], check=True, stdout=subprocess.DEVNULL)
    return twin


def _row(name: str, what: str, workload: str) -> list[list[str]]:
    """Return the rows of a workload, of sectors and of pages."""
    lba, blocks = writes(workload)
    mib = f"{int(blocks.sum()) * 512 / MIB:,.0f}"
    return [
        [name, what, mib, of, *(_per_cent(share) for share in shares(lba, blocks, unit))]
        for of, unit in (("sectors", SECTOR), ("pages", PAGE))
    ]


def _per_cent(share: float | None) -> str:
    """Return a share in percent, or nothing."""
    return "" if share is None else f"{share * 100:.1f}"


HEAD = ["workload", "", "MiB written", "% of", *(f"{n:g} MiB" for n in WITHIN)]


def _table(rows: list[list[str]]) -> str:
    return page.table(HEAD, rows, len(HEAD) - 4)


def main() -> None:
    """Print the page."""
    folder = sys.argv[1]

    def files(patterns: Iterable[str]) -> list[Path]:
        return [path for pattern in patterns for path in _of_name(folder, pattern)]

    with tempfile.TemporaryDirectory() as made:
        into = Path(made)
        fitted = [toml.read(_fitted(piece, into)) for piece in files(FITTED)]
        of_class = law(fitted)
        own, judged = [], []
        for piece in files([*FITTED, *JUDGED, *OTHERS]):
            name, its = piece.name.partition(".")[0], _fitted(piece, into)
            rows = [*_row(name, "piece", _spelled(piece)), *_row(name, "its twin", str(its))]
            own += rows
            if piece in files(JUDGED):
                other = into / f"{name}-judged.toml"
                text = with_law(its.read_text(encoding="utf-8"), of_class)
                other.write_text(text, encoding="utf-8")
                judged += [*rows[:2], *_row(name, "the class's law", str(other))]
        twins = [row for twin in TWINS for row in _row(twin, "twin", f"twin:{twin}")]
        for twin in OF_CLASS:
            changed = into / f"{twin}-rewritten.toml"
            text = with_law(toml.builtin(f"twins/{twin}.toml") or "", of_class)
            changed.write_text(text, encoding="utf-8")
            twins += _row(twin, "with the class's law", str(changed))
        lines = "".join(f'{key} = "{value}"\n' for key, value in of_class.items())
    print(PAGE_TEXT.format(own=_table(own), law=lines, judged=_table(judged), twins=_table(twins)))


PAGE_TEXT = """# How soon written data are rewritten

Written by `make rewrites`; [conclusions](rewrites-read.md).
The share, in percent, of written 4 KiB sectors and 16 KiB pages that were already written within
the previous N MiB of writes; no figure if a workload writes less than 2 N MiB.

## Pieces, and twins fitted to them

{own}
## A law fitted to some pieces, judged on others

Means, by writes, of what is fitted to a slice of hm_0, to rsrch_1 and to wdev_3, the hot part in
bytes:

```
{law}```

The other volumes of MSR Cambridge next to their own twins, with that law instead of theirs:

{judged}
## Hierarchy's twins

{twins}"""


if __name__ == "__main__":
    main()
