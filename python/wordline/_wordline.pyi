"""The native half of the package."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__version__: str
DEFAULT_SEED: int
REPLICAS_MAX: int
DEFAULT_INITIAL: str
ALL_COMPATIBLE: str

class UserError(ValueError):
    """The input is wrong: what, where, and what is allowed."""

class Refused(ValueError):
    """Scheme and device do not go together."""

class Fault(RuntimeError):
    """An illegal decision of a scheme, or a bug of Wordline."""

_Progress = Callable[[int, int, float], object]

def compare(
    asked: dict[str, Any], schemes: Sequence[str], threads: int, progress: _Progress | None
) -> list[str]: ...
def admitted(
    asked: dict[str, Any], schemes: Sequence[str]
) -> tuple[list[str], list[tuple[str, str]]]: ...
def estimate(values: Sequence[float]) -> tuple[float, float | None, float | None]: ...
def report_file(named: str | os.PathLike[str]) -> Path: ...
def identity(asked: dict[str, Any], scheme: str) -> str: ...
def model(asked: dict[str, Any], scheme: str) -> str: ...
def page_write_cost(
    u: float, c_prog: float, c_cp: float, c_e: float, n_p: float
) -> tuple[float, float]: ...
def record(
    asked: dict[str, Any],
    scheme: str,
    files: dict[str, Any],
    progress: _Progress | None,
) -> str: ...
def rerun(
    report: str,
    workload: str | None,
    threads: int,
    progress: _Progress | None,
    classes: Sequence[type],
) -> str: ...
def why(
    report: str,
    asked: dict[str, Any],
    workload: str | None,
    progress: _Progress | None,
) -> str: ...
def table(reports: Sequence[str], refused: Sequence[tuple[str, str]], width: int) -> str: ...
def html(reports: Sequence[str], refused: Sequence[tuple[str, str]]) -> str: ...
def page(
    title: str,
    lead: str,
    facts: Sequence[tuple[str, str]],
    command: str | None,
    body: str,
    footer: Sequence[str],
) -> str: ...
def colours() -> tuple[str, list[str]]: ...
def comparison_json(reports: Sequence[str], refused: Sequence[tuple[str, str]]) -> str: ...
def reports(json: str) -> tuple[list[str], list[tuple[str, str]]]: ...
def figures(reports: Sequence[str]) -> list[tuple[str, str, str, str, str]]: ...
def lifetime(
    asked: dict[str, Any],
    schemes: Sequence[str],
    life: dict[str, Any],
    threads: int,
    progress: _Progress | None,
) -> str: ...
def lifetime_table(lifetimes: str, width: int) -> str: ...
def lifetime_html(lifetimes: str) -> str: ...
def lifetime_csv(lifetimes: str) -> str: ...
def lifetime_figures(lifetimes: str) -> list[tuple[str, str, str, str, str]]: ...
def inspect(file: str) -> str: ...
def devices() -> list[tuple[str, str]]: ...
def schemes() -> list[tuple[str, str]]: ...
def workloads() -> list[tuple[str, str]]: ...
def formats() -> list[tuple[str, str]]: ...
def main(args: Sequence[str | os.PathLike[str]]) -> int: ...
def check(scheme: type, seed: int, cases: int) -> int: ...
def to(
    *regions: str,
    slot: str = "next",
    gather: str = "fill",
    plane: str = "home",
) -> Place:
    """Return where data go: the first of up to four regions that has room.

    Which has is asked when the plane is ready for the program.

    Parameters
    ----------
    regions
        Names of the layout's.
    slot
        ``next``, or ``lsb``, ``csb``, ``msb``, ``tsb`` under rules that tell bits apart.
    gather
        What becomes of the sectors of a page that the data lack: ``fill`` (they are read first),
        ``as-is``, or ``whole``.
    plane
        ``home``, ``any`` (whichever has least to do), or ``most-free``.

    Raises
    ------
    UserError
        A word is not known, or there is no region.
    """

class Place:
    """Where data go: what `to` returns. Made once and returned often, it costs least."""

class Parcel:
    """Data that need a home: up to a page.

    Attributes
    ----------
    origin
        ``host``, ``sealed``, ``collected`` or ``moved``.
    is_host, is_collected
        Whether it is that.
    tag
        What `Scheme.admit` has marked their request with.
    region
        The region that they leave, if they are collected or moved.
    bytes
        How many they are.
    lpn, lpns
        The logical page of the first of them, and all.
    home
        The plane of static allocation, or the source's.
    """

    origin: str
    is_host: bool
    is_collected: bool
    tag: int
    region: str | None
    bytes: int
    lpn: int
    lpns: list[int]
    home: int

class View:
    """The drive's state, read-only, for one call of a hook.

    Regions go by their names; planes, blocks, logical pages and places on flash by numbers. A
    number or name that there is not raises `UserError`, and so does a view whose call is over.
    """

    now: int
    draining: bool
    outstanding: int
    mapped: int
    logical_pages: int
    free_buffer_pages: int | None
    usable_bytes: int
    planes: int
    def free_blocks(self, region: str, plane: int) -> int: ...
    def free_slots(self, region: str, plane: int | None = None) -> int: ...
    def free_pages(self, region: str) -> list[int]: ...
    def owned(self, region: str, plane: int) -> int: ...
    def taken(self, region: str) -> tuple[int, int]: ...
    def full_blocks(self, region: str, plane: int) -> list[int]: ...
    def pages_in(self, block: int) -> list[int]: ...
    def erases(self, block: int) -> int: ...
    def live_sectors(self, block: int) -> int: ...
    def life_used(self, block: int) -> float: ...
    def mean_erases(self, region: str) -> float: ...
    def live_units(self, region: str, plane: int) -> int: ...
    def best(self, region: str, plane: int) -> int | None: ...
    def oldest(self, region: str, plane: int) -> int | None: ...
    def frontier(self, region: str, plane: int) -> int | None: ...
    def last_frontier(self, region: str, plane: int) -> int | None: ...
    def collecting(self, region: str, plane: int) -> int | None: ...
    def locate(self, lpn: int) -> int | None: ...
    def is_staged(self, lpn: int) -> bool: ...
    def owner(self, ppn: int) -> tuple[int, str | None]: ...
    def takes_moves(self, region: str) -> bool: ...
    def backlog(self, die: int) -> int: ...
