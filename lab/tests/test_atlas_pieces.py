"""Real traces beside the twins of the atlas: which are run, how they compare, what is said."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import small_atlas
import wordline as wl
from wordline import atlas as own
from wordline.atlas import report
from wordline.atlas.cells import KEYS, MEASURES, Cell, DriveCells, Place
from wordline.steady import Steady
from wordline_lab import atlas as made
from wordline_lab.atlas import kept, pieces, trace_vs_twin, words
from wordline_lab.atlas.published import PublishedAtlas

TRACES = Path(__file__).parents[3] / "shared" / "traces"
#: A file of each name that is looked for.
NAMES = (
    "cloudPhysicsIO.vscsi.zst", "ssd-iozone-aligned2-100K.trace", "rsrch_1.csv",
    "sqlitewal-mkfs.txt", "financial1_head10000.ascii",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_atlas.traces(tmp_path_factory.mktemp("traces"))


@pytest.fixture(scope="module")
def atlas(folder, tmp_path_factory):
    return small_atlas.of_traces(tmp_path_factory.mktemp("atlas"), folder)


# ---- Which are run.


def test_table_of_real_traces_is_balanced(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_text("")
    design, lacks = pieces.design(str(tmp_path))
    assert lacks == []
    rows = [c.at() for c in design.conditions]
    assert len(rows) == len(set(rows)) == 20
    # Each condition with a trace, then with its twin; nothing else differs but where data lie.
    for real, twin in zip(rows[::2], rows[1::2], strict=True):
        assert design.beside[real[1]][0] == twin[1]
        assert (real[0], *real[2:]) == (twin[0], *twin[2:])
        assert design.requests[real[1]] == design.requests[twin[1]]
    assert len({twin for twin, _ in design.beside.values()}) == len(design.beside) == 5
    real = rows[::2]
    assert set(Counter(row[0] for row in real).values()) == {1}
    assert sorted(Counter(row[2] for row in real).values()) == [3, 3, 4]
    assert sorted(Counter(row[3] for row in real).values()) == [3, 3, 4]
    assert set(Counter(row[4] for row in real).values()) == {5}
    assert len({(row[2], row[3]) for row in real}) == 9
    for name in design.beside:
        assert all(len(set(levels)) == 2 for levels in zip(*two(real, name), strict=True))


def two(rows, name):
    """The levels of the two conditions of a trace, without its name."""
    found = [(row[0], *row[2:]) for row in rows if row[1] == name]
    assert len(found) == 2
    return found


def test_a_folder_without_some_of_them_runs_the_others(folder, monkeypatch, capsys):
    design, lacks = pieces.design(str(folder))
    assert lacks == ["cloudPhysicsIO.vscsi*", "ssd-iozone-aligned2-100K*", "sqlitewal-mkfs*"]
    assert list(design.beside) == ["real:rsrch_1", "real:financial1"]
    assert len(design.conditions) == 8
    asked = []
    monkeypatch.setattr(own, "carry_out", lambda design, *_, **__: asked.append(design.title))
    made.make(traces=str(folder), only=["pieces"])
    assert asked == ["Real traces beside twins"]
    assert f"{folder} lacks cloudPhysicsIO.vscsi*, ssd-iozone" in capsys.readouterr().err
    made.make(traces=str(folder))
    assert asked[1:] == ["Real traces beside twins", "Where hybrid flash pays"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--traces", "nowhere"], "--traces nowhere: the folder does not exist"),
        (["--traces", "."], "none of the real traces of the atlas"),
        (["--traces", "two"], "2 files are rsrch_1.csv*: a/rsrch_1.csv, rsrch_1.csv"),
        (["--only", "pieces"], "--traces DIR is missing: name a folder that has one of cloudPhys"),
        (["--only", "piece"], "--only piece: unknown part; allowed: pieces and twins"),
    ],
)
def test_wrong_folders_and_parts_end_with_2(wordline, tmp_path, arguments, message):
    (tmp_path / "two" / "a").mkdir(parents=True)
    for of in ("two", "two/a"):
        (tmp_path / of / "rsrch_1.csv").write_text(small_atlas.trace(3))
    if "." in arguments:
        (tmp_path / "two" / "rsrch_1.csv").unlink()
        (tmp_path / "two" / "a" / "rsrch_1.csv").unlink()
    done = wordline("atlas", *arguments)
    assert done.code == 2
    assert message in done.err


def test_real_traces_are_cut_to_the_smallest_fill():
    if not TRACES.is_dir():
        pytest.skip("no folder ../shared/traces: these traces may not be passed on")
    design, lacks = pieces.design(str(TRACES))
    assert lacks == []
    for name in design.beside:
        own, count = design.workloads[name], design.requests[name]
        run = {"device": "fair-tlc", "scheme": "conventional", "workload": own, "requests": count}
        host = wl.run(**run).to_dict()["host"]
        assert host["requests"] == count
        assert host["write_bytes"] > 20 << 20
        # What is said of it is what was cut.
        share, size = re.search(r"(?:([\d.]+) % )?writes of (\d+) KiB", design.kinds[name]).groups()
        assert round(host["write_bytes"] / host["write_requests"] / 1024) == int(size)
        written = 100 * host["write_requests"] / count
        assert float(share or 100) == round(written, len((share or "").partition(".")[2]))
        # The smallest fill of 1 GiB is 307.2 MiB; what does not fit there is refused.
        wl.run(**run, set={"capacity.logical": "307MiB"})


# ---- How they compare.


def drive_of(figures: dict[str, dict[str, list[float]]]) -> DriveCells:
    """A drive with a condition of each workload: of each scheme a mean write latency by seed."""

    def cell(row: list[float]) -> Cell:
        logs = np.full((len(MEASURES), len(row)), np.nan)
        logs[KEYS["write_mean"]] = row
        return Cell(logs=logs, steadiness=Steady(len(row), len(row)))

    places = [
        Place(
            ("closed", workload, "60%", "new", "static"), "", "", {}, np.ones(len(MEASURES)),
            (9, 9), {scheme: cell(row) for scheme, row in schemes.items()},
            base_scheme="plain",
        )
        for workload, schemes in figures.items()
    ]  # fmt: skip
    schemes = {s: ("dev", s) for s in next(iter(figures.values()))}
    return DriveCells("D", "a drive", "plain", schemes, places)


def atlas_of(drive: DriveCells, akin: dict[str, tuple[str, str]]) -> PublishedAtlas:
    return PublishedAtlas("t", 3, {}, {}, {}, [drive], beside=akin)


def test_loss_by_the_twin_choice_is_measured_on_the_trace():
    plain = [0.0, 0.0, 0.0]
    low, mid = [-2.0, -2.01, -1.99], [-1.0, -1.01, -0.99]
    drive = drive_of({
        "real:x": {"plain": plain, "a": low, "b": mid},
        "t": {"plain": plain, "a": mid, "b": low},
        "real:y": {"plain": plain, "a": low, "b": mid},
        "u": {"plain": plain, "a": low, "b": mid},
    })  # fmt: skip
    atlas = atlas_of(drive, {"real:x": ("t", "its kin"), "real:y": ("u", "its own")})
    x, y = trace_vs_twin.pairs(atlas, drive)
    assert (x.own.scheme, x.of_twin.scheme, x.agrees) == ("a", "b", False)
    assert x.lost.ratio == pytest.approx(2.0)
    assert x.came.ratio == pytest.approx(0.5)
    assert x.of_twin.gain.ratio == pytest.approx(0.25)
    assert x.alike == pytest.approx(0.5)
    assert (y.own.scheme, y.of_twin.scheme, y.agrees) == ("a", "a", True)
    assert y.alike == pytest.approx(1.0)
    said = trace_vs_twin.sentences(atlas)
    assert said[0].startswith(
        "1 of 2 pairs of a real trace and a twin (counted on each drive) agree"
    )
    assert "agree on which scheme writes fastest" in said[0]
    # Paired by seed, so that nothing is left to chance.
    assert "recommends has at most 2 times (2 to 2) the write latency" in said[1]
    assert "(`b` on `real:x`)" in said[1]
    assert "under `b` is 0.5 times (0.491 to 0.509) the plain drive's on `real:x`" in said[2]
    assert "but 0.25 times (0.246 to 0.254) on `t`" in said[2]
    assert "correlates with 0.50 to 1.00" in said[2]
    # What the twins came to is not counted among the traces.
    assert "`a` has the lowest mean write latency under both conditions" in said[3]
    row = next(r for r in trace_vs_twin.table(atlas).splitlines() if r.startswith("| `real:x`"))
    assert row == (
        "| `real:x` | `t`, its kin | `a` 0.25 (0.246 to 0.254) | `b` 0.25 (0.246 to 0.254) | "
        "0.5 (0.491 to 0.509) | 2 (2 to 2) | 0.50 |"
    )
    assert "| the same |" in trace_vs_twin.table(atlas)


def test_twin_and_trace_share_their_conditions():
    drive = drive_of({"real:x": {"plain": [0.0, 0.0], "a": [-1.0, -1.0]}})
    other = drive_of({"t": {"plain": [0.0, 0.0], "a": [-1.0, -1.0]}}).places[0]
    other.at = ("think", *other.at[1:])
    drive.places.append(other)
    assert trace_vs_twin.pairs(atlas_of(drive, {"real:x": ("t", "")}), drive) == []


def test_two_choices_that_are_not_apart_on_the_trace_agree():
    plain = [0.0, 0.0, 0.0]
    near, nearer = [-1.0, -1.4, -0.6], [-1.1, -1.2, -0.9]
    drive = drive_of({
        "real:x": {"plain": plain, "a": near, "b": nearer},
        "t": {"plain": plain, "a": [-2.0, -2.0, -2.0], "b": nearer},
    })  # fmt: skip
    [pair] = trace_vs_twin.pairs(atlas_of(drive, {"real:x": ("t", "")}), drive)
    assert (pair.own.scheme, pair.of_twin.scheme) == ("b", "a")
    assert pair.agrees


# ---- What is said.


def test_page_and_text_say_what_is_real_and_name_no_folder(atlas, folder, tmp_path):
    to = tmp_path / "pieces"
    report.write(atlas, to, "wordline atlas --only pieces --traces DIR", words.of(atlas))
    shown, text = (to / "index.html").read_text(), (to / "README.md").read_text()
    for written in (shown, text, (to / "atlas.json").read_text()):
        assert str(folder) not in written
    assert '"workload":"DIR/msr/rsrch_1.csv:fit=compact,closed=8' in shown
    assert "real:rsrch_1: real, a research server (MSR Cambridge), all of a week" in shown
    assert '"by":"workload"' in shown
    assert "Real traces and their twins</h2>" in shown
    head, _, rest = text.partition("## Real traces and their twins")
    assert "pairs of a real trace and a twin" in head
    assert "| `real:rsrch_1` | `stg_0`, another volume of MSR Cambridge | " in rest
    assert "## The best choice by workload" in rest
    assert "- **real:financial1**: real, online transactions (UMass)" in rest
    assert kept.from_json(atlas.to_json()).to_json() == atlas.to_json()


@pytest.mark.parametrize("spelled", [".", "../{}/", "./"])
def test_a_page_names_no_folder_however_it_is_spelled(folder, monkeypatch, spelled):
    monkeypatch.chdir(folder)
    design, _ = pieces.design(spelled.format(folder.name))
    said = [design.shown(design.workloads[name]) for name in design.beside]
    assert said == [
        "DIR/msr/rsrch_1.csv:fit=compact",
        "DIR/financial1_head10000.csv:fit=compact",
    ]


def test_twin_atlas_has_the_table_of_real_traces(atlas, tmp_path):
    without = pieces.section(tmp_path / "pieces")
    assert "`wordline atlas --traces DIR` runs real traces and their twins" in without
    assert "rsrch_1.csv*" in without
    assert "|" not in without
    report.write(atlas, tmp_path / "pieces", "wordline", words.of(atlas))
    (tmp_path / "pieces" / "atlas.json").unlink()
    found = pieces.section(tmp_path / "pieces")
    assert "[their text](pieces/README.md) and on [their page](pieces/index.html)" in found
    assert found.endswith(trace_vs_twin.table(atlas))


def test_later_traces_are_added_to_the_existing_page(atlas, folder, tmp_path, monkeypatch):
    twins = small_atlas.perform(tmp_path, small_atlas.design(requests=200))
    text = words.of(twins, pieces.section(tmp_path / "pieces"))
    report.write(twins, tmp_path, "wordline atlas", text)
    (tmp_path / "atlas.json").unlink()
    before = (tmp_path / "README.md").read_text()
    monkeypatch.setattr(own, "carry_out", lambda *_, **__: atlas)
    made.make(traces=str(folder), only=["pieces"], out=str(tmp_path))
    after = (tmp_path / "README.md").read_text()
    assert "| `real:rsrch_1` | `stg_0`" in after
    # Nothing else is another.
    parts = [text.partition("## Where each paper") for text in (before, after)]
    assert parts[0][2] == parts[1][2]
    assert parts[0][0].partition("## Real")[0] == parts[1][0].partition("## Real")[0]
    assert kept.data_of(tmp_path / "index.html").to_json() == twins.to_json()
    assert kept.data_of(tmp_path / "nowhere.html") is None
