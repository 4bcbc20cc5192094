"""The page of the results: tables, picture, omissions, and the data."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wordline
from wordline import UserError
from wordline_lab.validate import picture, table
from wordline_lab.validate.runner import Row

HEAD = """# Validation

Does the engine do what theory says, and what another simulator was seen to do? Each row has a
quantity, its source, their figure, ours with its 95 % interval, and how far apart the two may be.
Claims and tolerances are in `lab/wordline_lab/validate/claims.toml`, formulas in
`lab/wordline_lab/theory.py`; neither knows anything of the engine. This page is written by

```
make validate        # wordline validate --out results, in lab/
```

with Wordline {version}. {verdict}.

The command ends with exit code 0 only if every row is within its tolerance or has its reason beside
it. `--quick` runs a smaller set in about a minute.

## What is held back

Theory counts the blocks that may hold old data. When a victim is chosen, one block of the plane has
just been opened and is empty, and as many are erased as the trigger or the hard reserve keep, so
that the utilization is rho = user pages / ((blocks - erased - open) x pages per block). The number
erased follows from the device file; the engine's least number of free blocks is compared with it in
every run, and a row whose runs differ from it fails. Each figure is a mean over {measured} drive
writes, after {warm_up} drive writes of warm-up from a randomly filled drive.

![Write amplification over spare factor: theory as lines, simulation as points](validation-waf.svg)

Data: [validation-waf.csv](validation-waf.csv); everything: [validation.json](validation.json).

## Rows

"""


@dataclass(frozen=True)
class Part:
    """The scope of a validation: fewer rows, selected ones, or those of another file."""

    quick: bool = False
    only: str | None = None
    others: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the scope is complete."""
        return not self.quick and not self.only and not self.others

    @property
    def words(self) -> str:
        """Describe the scope."""
        said = ["the quick rows"] if self.quick else []
        said += [f"rows like {self.only}"] if self.only else []
        return ", ".join(said + (["claims of another file"] if self.others else []))


def check_free(folder: Path, part: Part) -> None:
    """Refuse to replace the page of all rows by a partial one.

    Raises
    ------
    UserError
        That page is there.
    """
    path = folder / "validation.json"
    if part.is_whole or not path.exists():
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8")).get("part", "")
    except (ValueError, AttributeError) as e:
        raise UserError(f"{path}: not a file of wordline validate: {e}") from e
    if not found:
        raise UserError(
            f"{folder} has a page of all rows, which contains more than {part.words}; choose "
            "another folder with --out, or delete that page"
        )


def write(
    folder: Path, rows: Sequence[Row], left_out: Sequence[tuple[str, str]], part: Part
) -> list[Path]:
    """Write page, picture and data into a folder; return the written files."""
    from wordline_lab.validate.waf import MEASURED, WARM_UP

    points = picture.points(rows)
    page = HEAD.format(
        version=wordline.__version__,
        verdict=table.verdict(rows) + ("" if part.is_whole else f"; only {part.words}"),
        measured=MEASURED,
        warm_up=WARM_UP,
    )
    if not points:
        page = "\n".join(line for line in page.split("\n") if "validation-waf" not in line)
    page += table.markdown(rows)
    page += "\n## Left out\n\n"
    page += "".join(f"- {what}: {why}.\n" for what, why in left_out)
    written = [folder / "validation.md", folder / "validation.json"]
    written[0].write_text(page, encoding="utf-8")
    data: dict[str, Any] = {"version": wordline.__version__}
    data |= {} if part.is_whole else {"part": part.words}
    data["rows"] = [row.to_dict() for row in rows]
    written[1].write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if points:
        svg, table_ = folder / "validation-waf.svg", folder / "validation-waf.csv"
        picture.draw(points, svg)
        with table_.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, fieldnames=list(points[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(points)
        written += [svg, table_]
    return written
