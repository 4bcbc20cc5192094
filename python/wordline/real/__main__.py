"""Print the built-in drives, measured and modelled, as Markdown tables: docs/real-drives.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from wordline import UserError
from wordline.real import judged

KINDS = ("cliffs", "states", "steady")


def main(words: list[str]) -> int:
    """Print the tables that are asked for; return 0, or 2 where a word is wrong."""
    parser = argparse.ArgumentParser(prog="python -m wordline.real", description=__doc__)
    parser.add_argument("kind", nargs="?", choices=KINDS, help="all if not given")
    parser.add_argument("--devices", type=Path, help="folder of device files; the built-in ones")
    parser.add_argument("--drive", action="append", help="device or drive; all if not given")
    given = parser.parse_args(words)
    files = judged.folder(given.devices) if given.devices else judged.builtin
    kinds = [given.kind] if given.kind else KINDS
    try:
        print(judged.tables_of(kinds, files, given.drive), end="")
    except UserError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
