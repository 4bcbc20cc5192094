"""The runs of the published atlas: ``atlas.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from wordline import toml
from wordline.atlas import design as d
from wordline.atlas.cells import Atlas
from wordline_lab.atlas import tuned
from wordline_lab.atlas.tuned import Tuned

#: By the name of a drive, what was found for its schemes by the label of what runs beside them.
OfDrives = Mapping[str, Mapping[str, Tuned]]
#: Of each real trace the twin under the same conditions, and how the two are akin.
Beside = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Published(d.Design):
    """The runs of the published atlas, with tuned schemes, and real traces next to twins."""

    tuned: OfDrives = field(default_factory=dict)
    beside: Beside = field(default_factory=dict)
    traces: str = ""  #: The folder of real traces; pages call it ``DIR``.

    def with_tuned(self, found: OfDrives) -> Published:
        """Return the design with other tuned schemes; those with parameters run."""
        drives = [replace(x, further=tuned.run_of(found.get(x.name, {}))) for x in self.drives]
        return replace(self, drives=drives, tuned=found)

    def shown(self, text: str) -> str:
        """Return a text that may name real traces, as shown on a page."""
        return text.replace(f"{self.traces}/", "DIR/") if self.traces else text

    def came_to(self, atlas: Atlas) -> PublishedAtlas:
        """Return the results with tuned schemes, traces and twins, as pages show them."""
        for place in (place for drive in atlas.drives for place in drive.places):
            place.workload = self.shown(place.workload)
            for cell in place.cells.values():
                cell.why = self.shown(cell.why)
        own = {f.name: getattr(atlas, f.name) for f in fields(Atlas)}
        own["by"] = "workload" if self.beside else "load"
        return PublishedAtlas(**own, tuned=self.tuned, beside=self.beside)


@dataclass
class PublishedAtlas(Atlas):
    """All results of the published atlas."""

    tuned: OfDrives = field(default_factory=dict)
    beside: Beside = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the contents of its JSON."""
        found = super().data()
        for drive in found["drives"]:
            drive["tuned"] = [asdict(t) for t in self.tuned.get(drive["name"], {}).values()]
        return {**found, "beside": self.beside}


def table() -> Mapping[str, Any]:
    """Return the contents of the file."""
    return toml.read(Path(__file__).parent / "atlas.toml")


def built_in(*, seeds: int | None = None, requests: int | None = None) -> Published:
    """Return the design of the published atlas.

    Parameters
    ----------
    seeds, requests
        In place of those of its file, for a smaller one.
    """
    text = table()
    workloads = {w["name"]: w["spelling"] for w in text["workloads"]}
    levels = {
        "load": list(d.LOADS),
        "workload": list(workloads),
        "fill": list(d.FILLS),
        "age": list(d.AGES),
        "cache": list(d.CACHES),
    }
    drives = [d.drive_of(name, found) for name, found in text["drives"].items()]
    design = Published(
        title=text["title"],
        drives=drives,
        conditions=conditions(text["conditions"], levels),
        workloads=workloads,
        kinds={w["name"]: w["kind"] for w in text["workloads"]},
        seeds=seeds or text["seeds"],
        requests={
            w["name"]: requests or w.get("requests", text["requests"]) for w in text["workloads"]
        },
        levels=levels,
    )
    return design.with_tuned({drive.name: tuned.of_drive(drive.schemes) for drive in drives})


def conditions(
    rows: Sequence[Sequence[int]], levels: Mapping[str, Sequence[str]]
) -> list[d.Condition]:
    """Return the conditions of a table of indices into the lists of levels."""
    named = [[levels[f][i] for f, i in zip(d.FACTORS, row, strict=True)] for row in rows]
    return [d.Condition(*row) for row in named]
