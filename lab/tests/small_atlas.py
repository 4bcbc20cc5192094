"""An atlas of few conditions, schemes and requests, as tests need it."""

from dataclasses import replace
from pathlib import Path

from wordline import Refused, UserError
from wordline.atlas import report
from wordline.atlas.execute import SERIES, Performer
from wordline.runs import Runner
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
