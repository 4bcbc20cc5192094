"""What every part of the second simulator knows: the drive that it is of."""

from __future__ import annotations

from .config import Config


class Room:
    """A part of the simulator, with its own state, and methods that others call.

    All parts are bases of one class, `Simulator`: what follows from an event goes from part to part
    in the order of service, which no part decides alone.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.units_per_page = config.page // config.unit
        self.sectors_per_unit = config.unit // config.sector
        self.all_sectors = (1 << self.sectors_per_unit) - 1
