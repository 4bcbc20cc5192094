"""The gallery: its page and files agree, and its pictures say what their data do."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs pip install './lab'")

from helpers import ROOT
from wordline import UserError, plotting
from wordline_lab.gallery import __main__ as gallery
from wordline_lab.gallery import cut, drawing, inks, kept, page, runs

FOLDER = ROOT / "lab" / "results" / "gallery"
NAMES = [picture.name for picture in gallery.PICTURES]


def test_page_and_files_of_the_gallery_agree():
    said = json.loads((FOLDER / page.KEPT).read_text(encoding="utf-8"))
    assert list(said) == NAMES
    assert len(NAMES) == 12
    text = (FOLDER / page.PAGE).read_text(encoding="utf-8")
    assert text == page.text(gallery.PICTURES, said)
    named = set(re.findall(r"[\w-]+\.svg", text))
    assert named == {path.name for path in FOLDER.glob("*.svg")}
    assert len(named) == 24
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000


def test_titles_of_kept_data_are_those_on_the_page():
    said = json.loads((FOLDER / page.KEPT).read_text(encoding="utf-8"))
    for picture in kept.PICTURES:
        data = picture.data(False)
        assert said[picture.name] == {"title": picture.title(data), "below": picture.below(data)}


def test_two_pictures_are_made_of_small_runs(tmp_path, capsys):
    written = gallery.make(tmp_path, ["page-types", "mqsim"], small=True)
    assert sorted(path.name for path in written) == [
        "README.md",
        "gallery.json",
        "mqsim-dark.svg",
        "mqsim-light.svg",
        "page-types-dark.svg",
        "page-types-light.svg",
    ]
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.count("<picture>") == 2
    title = json.loads((tmp_path / "gallery.json").read_text(encoding="utf-8"))["page-types"]
    assert re.search(r"525 µs \(LSB\), 2.02 ms \(CSB\) or 5.52 ms \(MSB\)", title["title"])
    light, dark = (tmp_path / f"page-types-{name}.svg" for name in ("light", "dark"))
    assert inks.LIGHT.ground in light.read_text(encoding="utf-8")
    assert inks.DARK.ground in dark.read_text(encoding="utf-8")
    # Another picture joins those that are there.
    gallery.make(tmp_path, ["day"])
    assert (tmp_path / "README.md").read_text(encoding="utf-8").count("<picture>") == 3


def test_an_unknown_picture_is_refused(tmp_path):
    with pytest.raises(UserError, match="--only clif: no such picture\n  allowed: cliff, "):
        gallery.make(tmp_path, ["clif"])


def test_the_edge_of_a_cliff_is_where_the_rate_halves():
    rate = np.r_[np.full(8, 100.0), 30.0, 60.0, 30.0]
    assert runs._edge(np.column_stack([np.arange(11.0), rate])) == 8
    found = {"slc-cache": np.column_stack([np.arange(1.0, 12.0), rate])}
    assert "After 8.00 GB" in runs._cliff_title(found)
    assert "from 100 to 36.0 MB/s" in runs._cliff_title(found)


def test_a_lost_flushed_write_is_said_first():
    lost = cut.Cut(acknowledged=4, flushed=2, back=[True, False, True, False], recovery_ms=1.0)
    assert cut._title(lost).startswith("1 of 2 flushed writes are back")
    assert cut._title(lost).endswith("and 1 of 2 that were acknowledged but not flushed")


def test_figures_have_as_many_digits_on_either_side_of_one():
    assert [drawing.number(value, 2) for value in (0.995, 0.996, 1.04, 9.96)] == [
        "0.99", "1.0", "1.0", "10",
    ]  # fmt: skip
    assert drawing.number(0.0) == "0"
    assert drawing.number(2452.3) == "2,452"


def test_names_in_a_hue_can_be_read_on_either_ground():
    from matplotlib.colors import to_rgb

    for of in (inks.LIGHT, inks.DARK):
        for hue in (of.baseline, of.winner, of.other, *of.modes.values()):
            shown = drawing.readable(hue, of.ground)
            low, high = sorted(
                sum(
                    part * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
                    for part, c in zip((0.2126, 0.7152, 0.0722), to_rgb(colour), strict=True)
                )
                for colour in (shown, of.ground)
            )
            assert (high + 0.05) / (low + 0.05) >= 4.5, (of.name, hue)
    assert to_rgb(drawing.readable("#4c3fbf", "#ffffff")) == to_rgb("#4c3fbf")


def test_colours_are_those_of_the_pages():
    palette = (ROOT / "crates/report/src/pictures/palette.rs").read_text(encoding="utf-8")
    for mode, ink in plotting.MODES.items():
        assert f'"{mode}" => "{ink}"' in palette
    sheet = (ROOT / "crates/report/assets/page.css").read_text(encoding="utf-8")
    dark = sheet.partition("prefers-color-scheme: dark")[2]
    of_dark = (
        inks.DARK.ground,
        inks.DARK.ink,
        inks.DARK.baseline,
        inks.DARK.winner,
        inks.DARK.other,
    )
    assert all(ink in dark for ink in of_dark)
