"""The page of the gallery, and its stored texts of each picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from wordline_lab.gallery.drawing import Picture

#: The file that keeps title and conditions of each picture, so that one can be made alone.
KEPT, PAGE = "gallery.json", "README.md"
_DARK = 'media="(prefers-color-scheme: dark)"'


def kept(folder: Path) -> dict[str, dict[str, str]]:
    """Read the stored texts of a gallery; empty if there are none."""
    path = folder / KEPT
    found: dict[str, dict[str, str]] = {}
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    return found


def text(pictures: Sequence[Picture], said: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page of the existing pictures, in the order of the gallery."""
    parts = [
        "# Gallery\n\nWritten by `make gallery`; `make gallery ONLY=NAME PNG=1` makes one picture, "
        "as PNG too. Figures and titles come from runs or from data in this folder's parent.\n"
    ]
    for picture in pictures:
        if picture.name in said:
            of = said[picture.name]
            alt = f"{of['title']}. {of['below']}".replace('"', "'")
            parts.append(
                f"## {picture.heading}\n\n"
                f"<picture>\n"
                f'  <source {_DARK} srcset="{picture.name}-dark.svg">\n'
                f'  <img src="{picture.name}-light.svg" alt="{alt}" width="800">\n'
                f"</picture>\n\n"
                f"`make gallery ONLY={picture.name}` · [light]({picture.name}-light.svg) · "
                f"[dark]({picture.name}-dark.svg)\n"
            )
    return "\n".join(parts)


def write(
    pictures: Sequence[Picture], said: Mapping[str, Mapping[str, str]], folder: Path
) -> list[Path]:
    """Write the page and the stored texts; return their paths."""
    order = {p.name: said[p.name] for p in pictures if p.name in said}
    (folder / KEPT).write_text(
        json.dumps(order, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (folder / PAGE).write_text(text(pictures, said), encoding="utf-8")
    return [folder / KEPT, folder / PAGE]
