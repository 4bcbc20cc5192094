"""The device's semantics a second time: slow, obvious, one event after the other.

Nothing here is kept that can be counted again: who is served next, which block has the fewest
live pages, how many slots are free are found by looking at everything. It shares no code with the
engine and follows ARCHITECTURE.md (the lives of a write and a collection), docs/engine/time.md and
crates/sim/ORDER.md.
Times are integer nanoseconds, sets of sectors are bit masks.
"""

from __future__ import annotations

from .admission import Admission
from .arrays import Arrays
from .binding import Binding
from .buses import Buses
from .clock import Clock
from .collection import Collection
from .commits import Commits
from .config import Config
from .dead_ends import DeadEnds
from .groups import Groups
from .idle import Idle
from .layout import Layout
from .link import Link
from .placement import Placement
from .planes import Planes
from .requests import Requests
from .space import Space
from .suspension import Suspension


class Simulator(
    Layout,
    Space,
    Clock,
    DeadEnds,
    Planes,
    Arrays,
    Buses,
    Suspension,
    Link,
    Admission,
    Requests,
    Placement,
    Groups,
    Binding,
    Commits,
    Collection,
    Idle,
):
    """A drive, from its first request to the last completion."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.lay_out()
        self.fill()
