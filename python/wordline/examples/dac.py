"""`dac`: data that are written again rise, data that are collected sink.

M.-L. Chiang, P. C. H. Lee, R.-C. Chang, "Using Data Clustering to Improve Cleaning Performance for
Flash Memory", Software: Practice and Experience 29(3), 1999 (dynamic data clustering). Each class
of data has blocks of its own. A page goes to the next hotter class as the host writes it again, and
to the next colder as it is collected, so that it comes to where others live as long as it does.
"""

from __future__ import annotations

from wordline import (
    Collect,
    DriveInfo,
    Layout,
    Param,
    Parcel,
    Place,
    Refused,
    Scheme,
    State,
    View,
    to,
)

#: More would leave no region for anything else.
MOST_CLASSES = 12


class Dac(Scheme):
    """Data as hot as each other in blocks of their own: writes heat, collections cool."""

    classes = Param(6, "how many, from 2 to 12")

    #: The class in which each logical page was placed last; -1 for none.
    heat = State([])

    def layout(self, drive: DriveInfo) -> Layout:
        """Share all blocks of the only medium between the classes, of which the last is hottest."""
        if not 2 <= self.classes <= MOST_CLASSES:
            raise Refused(f"classes={self.classes} is not between 2 and {MOST_CLASSES}")
        self.names = [f"class-{number}" for number in range(self.classes)]
        self.places = [to(name) for name in self.names]
        self.heat = [-1] * drive.logical_pages
        return Layout.shared(drive, self.names, "class-0")

    def place(self, p: Parcel, view: View) -> Place:
        """Heat what the host writes again, and cool what is collected."""
        step = 1 if p.region is None else -1
        heat = min(max(self.heat[p.lpn] + step, 0), self.classes - 1)
        self.heat[p.lpn] = heat
        return self.places[heat]

    def collect(self, region: str, plane: int, view: View) -> Collect | None:
        """Take the victim with the least live data, of whichever class."""
        return Collect.least_live(view, self.names, plane)
