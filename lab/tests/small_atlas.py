"""An atlas of few conditions, schemes and requests, as tests need it."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np

from wordline import Refused, UserError
from wordline.atlas import report
from wordline.atlas.cells import KEYS, MEASURES, Atlas, Cell, DriveCells, Place
from wordline.atlas.execute import SERIES, Performer
from wordline.runs import Runner
from wordline.steady import Steady
from wordline_lab.atlas import pieces, published, words
from wordline_lab.atlas.published import Published, PublishedAtlas
from wordline_lab.atlas.tuned import Tuned

KEPT = {
    "TLC": ("conventional", "slc-cache", "sector", "pa-ssd", "slc-cache+ips-cooperative"),
    "pair": ("conventional", "slc-cache", "hyssd:perf"),
}
#: What a search may have found, whatever that of the published atlas has.
FOUND = [
    Tuned("sector", "fair-tlc", "sector:static_blocks=14", "static_blocks=14", "write_mean", 0.9),
    Tuned("pa-ssd", "fair-tlc", "pa-ssd", "", "write_mean", 1.0),
]


def design(requests: int = 600, longer: int = 1) -> Published:
    """Every fifth condition, two drives, two seeds."""
    whole = published.built_in(seeds=2, requests=requests)
    few = replace(of_few(whole), conditions=whole.conditions[::5], longer=longer)
    return few.with_tuned({few.drives[0].name: {t.label: t for t in FOUND}})


def of_few(whole: Published) -> Published:
    """The drives and schemes of a design that tests have."""
    drives = [
        replace(d, schemes={s: at for s, at in d.schemes.items() if s in KEPT[d.name]})
        for d in whole.drives
        if d.name in KEPT
    ]
    return replace(whole, drives=drives).with_tuned({})


def perform(folder: Path, of: Published | None = None) -> PublishedAtlas:
    """Run it, keeping reports in a folder."""
    runner = Runner(folder / "runs", jobs=2, leave_out=SERIES, refusals=(Refused, UserError))
    of = of or design()
    return of.came_to(Performer(of, runner).perform())


def page(folder: Path) -> Path:
    """Write it whole; return its page."""
    atlas = perform(folder)
    report.write(atlas, folder, "wordline atlas", words.of(atlas))
    return folder / "index.html"


def trace(count: int) -> str:
    """Requests of the form of MSR Cambridge, two of three of them writes."""
    return "".join(
        f"{128166372000000000 + 200_000 * i},host,0,{'Write' if i % 3 else 'Read'},"
        f"{i * 37 % 500 * 16384},{4096 * (1 + i % 4)},9\n"
        for i in range(count)
    )


def traces(folder: Path) -> Path:
    """Put what goes for two of the real traces into a folder, one into a folder in it."""
    (folder / "msr").mkdir(parents=True)
    (folder / "msr" / "rsrch_1.csv").write_text(trace(500))
    (folder / "financial1_head10000.csv").write_text(trace(400))
    return folder


def of_traces(folder: Path, files: Path) -> PublishedAtlas:
    """Run real traces beside twins."""
    made, _ = pieces.design(str(files), seeds=2, requests=300)
    return perform(folder, of_few(made))


def page_of_traces(folder: Path) -> Path:
    """Write it whole; return its page."""
    atlas = of_traces(folder, traces(folder / "traces"))
    report.write(atlas, folder, "wordline atlas", words.of(atlas))
    return folder / "index.html"


def made(
    logs: dict[str, list[float]], requests: int = 200_000, unsteady: Sequence[str] = ()
) -> DriveCells:
    """A drive with one measure of one condition, by scheme and seed."""

    def cell(scheme: str, row: list[float]) -> Cell:
        all_rows = np.full((len(MEASURES), len(row)), np.nan)
        for measure in ("write_mean", "write_p999", "lifetime"):
            all_rows[KEYS[measure]] = row
        return Cell(all_rows, Steady(0 if scheme in unsteady else len(row), len(row)))

    place = Place(
        ("closed", "w", "60%", "new", "static"), "", "", {}, np.ones(len(MEASURES)),
        (requests, requests), {s: cell(s, row) for s, row in logs.items()},
        base_scheme="plain",
    )  # fmt: skip
    return DriveCells("D", "d", "plain", {s: ("dev", s) for s in logs}, [place])


def with_further(first: str, second: str, further: dict[str, list[float]]) -> DriveCells:
    """A drive with two schemes that are not apart, and further seeds of both."""
    drive = made({"plain": [0.0] * 3, "a": [-1.0, -1.3, -0.9], "b": [-1.0, -0.8, -1.1]})
    alone = made({"plain": [0.0] * 3, **further}).places[0]
    drive.places[0].again = {s: alone.cells[s].logs for s in (first, second)}
    return drive


def settled(atlas: Atlas) -> Atlas:
    """The same as if every run were steady."""
    found = deepcopy(atlas)
    for cell in cells(found):
        cell.steadiness = replace(cell.steadiness, steady=cell.steadiness.runs)
    return found


def changing(atlas: Atlas) -> Atlas:
    """The same as if something still changed at the end of every run."""
    found = deepcopy(atlas)
    for cell in cells(found):
        of = cell.steadiness
        cell.steadiness = replace(of, steady=0, changing=of.runs)
    return found


def cells(atlas: Atlas) -> Iterator[Cell]:
    """Every cell of every drive."""
    places = (place for drive in atlas.drives for place in drive.places)
    return (cell for place in places for cell in place.cells.values())
