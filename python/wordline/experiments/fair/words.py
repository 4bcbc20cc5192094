"""What the fair table says, in sentences made from its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wordline.experiments.fair import measures as m
from wordline.reproduce.paper import Study

HOW = """\
Two drives of 1 GiB, one of TLC and one of QLC, alike in capacity, spare blocks, RAM and an SLC \
cache of 48 MiB for schemes that have one; every twin, scaled until its footprint fits, on a full \
drive; eight requests at a time, as fast as the drive takes them. So it never rests, and what a \
scheme does in idle time, or saves for bursts, is not seen here. All figures are over \
`conventional`, the drive without any scheme, with the same seed; means are geometric, over the \
twins. Of a twin whose writes never wait for room in the RAM there is no ratio of write latencies, \
and it is left out of that."""


def summary(study: Study) -> str:
    """Return a page of plain words."""
    parts = [HOW]
    if study.scale > 1:
        parts.append(f"All of these sizes are divided by {study.scale} here.")
    for drive in m.DRIVES:
        rows = m.rows(study, drive)
        if rows:
            parts.append(f"On the {drive} drive:")
            parts.append("\n".join(f"- {said}" for said in _of(rows)))
    return "\n\n".join(parts)


def _of(rows: Sequence[dict[str, Any]]) -> list[str]:
    said = [
        _extremes(rows, "write_mean", "mean write latency"),
        _extremes(rows, "read_mean", "mean read latency"),
        _extremes(rows, "write_p999", "99.9th percentile of writes"),
        _extremes(rows, "waf", "write amplification"),
        _extremes(rows, "lifetime", "lifetime", more=True),
        _unbeaten(rows),
        _behind(rows),
        _capacity(rows),
        _failures(rows),
    ]
    return [s for s in said if s]


def _times(row: dict[str, Any], figure: str) -> str:
    return f"`{row['scheme']}` ({m.shown(row, figure, '.2f')})"


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _extremes(rows: Sequence[dict[str, Any]], figure: str, words: str, more: bool = False) -> str:
    """Say who has the best three of a figure, how many beat the plain drive, and who is last."""
    known = sorted((r for r in rows if r[figure]), key=lambda r: r[figure], reverse=more)
    if not known:
        return ""
    sign = -1 if more else 1
    better = [r for r in known if sign * (r[figure] - 1) + r[f"{figure}_interval"] < 0]
    others = len(known) - 1
    best = _and([_times(r, figure) for r in known[:3]])
    kind = "highest" if more else "lowest"
    return (
        f"The {kind} {words}: {best}. {len(better)} of {others} are better than the plain "
        f"drive beyond chance; the last is {_times(known[-1], figure)}."
    )


def _unbeaten(rows: Sequence[dict[str, Any]]) -> str:
    known = [r for r in rows if r["write_mean"] and r["lifetime"]]
    best = [
        f"`{r['scheme']}`"
        for r in known
        if not any(
            o["write_mean"] <= r["write_mean"]
            and o["lifetime"] >= r["lifetime"]
            and (o["write_mean"], o["lifetime"]) != (r["write_mean"], r["lifetime"])
            for o in known
        )
    ]
    if not best:
        return ""
    return f"Nothing else has both less write latency and a longer life than {_and(best)}."


def _behind(rows: Sequence[dict[str, Any]]) -> str:
    """Say which combinations write faster than each of their two parts does alone."""
    of = {r["scheme"]: r for r in rows if r["write_mean"]}
    gains, known = [], 0
    for name, row in of.items():
        front, _, dense = name.partition("+")
        if not dense or front not in of or dense not in of:
            continue
        known += 1
        least = min(
            of[part]["write_mean"] - of[part]["write_mean_interval"] for part in (front, dense)
        )
        if row["write_mean"] + row["write_mean_interval"] < least:
            gains.append(f"`{name}`")
    if not known:
        return ""
    if not gains:
        return (
            f"None of the {known} combinations writes faster than the better of its two parts "
            "beyond chance."
        )
    return (
        f"Of the {known} combinations {_and(gains)} "
        f"{'writes' if len(gains) == 1 else 'write'} faster than either part alone."
    )


def _capacity(rows: Sequence[dict[str, Any]]) -> str:
    """Say what room single schemes leave; those of one value together."""
    of: dict[str, list[str]] = {}
    for row in rows:
        if row["usable"] and "+" not in row["scheme"]:
            of.setdefault(f"{row['usable']:.2f}", []).append(f"`{row['scheme']}`")
    listed = "; ".join(f"{value} under {_and(names)}" for value, names in sorted(of.items()))
    return f"Room for data at the end, over the plain drive's: {listed}."


def _failures(rows: Sequence[dict[str, Any]]) -> str:
    failed = [f"`{r['scheme']}` ({r['failed_requests']})" for r in rows if r["failed_requests"]]
    return f"Requests failed under {_and(failed)}." if failed else "No request failed."
