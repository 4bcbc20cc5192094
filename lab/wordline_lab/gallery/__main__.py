"""Make the gallery: ``python -m wordline_lab.gallery [--only NAME] [--png] [--out DIR]``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from wordline import UserError
from wordline.commands import perform
from wordline_lab.gallery import cut, kept, page, runs
from wordline_lab.gallery.drawing import Picture, files

_BY_NAME = {p.name: p for p in (*runs.PICTURES, *kept.PICTURES, cut.PICTURE)}
#: The pictures in the order of the page.
PICTURES: list[Picture] = [
    _BY_NAME[name]
    for name in (
        *("cliff", "retries", "day", "causes", "page-types", "power-cut"),
        *("lifetime", "atlas", "mqsim", "modes", "sweep", "twin"),
    )
]


def make(
    folder: Path, only: Sequence[str] = (), *, png: bool = False, small: bool = False
) -> list[Path]:
    """Make pictures, all or those named, and the page; return what was written.

    Raises
    ------
    UserError
        There is no picture of a name, or what it is drawn from is not there.
    """
    if wrong := next((name for name in only if name not in _BY_NAME), None):
        raise UserError(f"--only {wrong}: no such picture\n  allowed: {', '.join(_BY_NAME)}")
    folder.mkdir(parents=True, exist_ok=True)
    said, written = page.kept(folder), []
    for picture in PICTURES:
        if only and picture.name not in only:
            continue
        begin = time.perf_counter()
        data = picture.data(small)
        said[picture.name] = {"title": picture.title(data), "below": picture.below(data)}
        written += files(picture, data, folder, png)
        spent = time.perf_counter() - begin
        print(f"{picture.name:<12} {spent:5.1f} s  {said[picture.name]['title']}", flush=True)
    return written + page.write(PICTURES, said, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line; return 0, or 2 if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m wordline_lab.gallery", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="make only this picture; repeatable",
    )
    parser.add_argument("--png", action="store_true", help="write PNG too, 1600 by 900 pixels")
    parser.add_argument("--small", action="store_true", help="run a smaller version, as a test")
    parser.add_argument(
        "--out",
        type=Path,
        default=kept.RESULTS / "gallery",
        metavar="DIR",
        help="folder of the pictures",
    )
    given = parser.parse_args(arguments)

    def do() -> int:
        for path in make(given.out, given.only, png=given.png, small=given.small):
            print(f"wrote {path}", file=sys.stderr)
        return 0

    return perform("gallery", ("matplotlib", "scipy"), do, extra="sweep")


if __name__ == "__main__":
    sys.exit(main())
