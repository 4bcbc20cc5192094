"""Count the words of the documents.

Prose is what stands outside fenced blocks and tables. `python tests/words.py` prints a line each
and exits with 1 where a document has more than it may.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: The most words of a page of a paper, of which there are several in a folder with its claims.
PAPER_PAGE = 1_200
ROOT = Path(__file__).resolve().parent.parent
#: The most words of each, and the files that count together.
MOST: dict[str, tuple[int, tuple[str, ...]]] = {
    "README.md": (700, ("README.md",)),
    "docs/ and devices/": (28_000, ("docs/**/*.md", "devices/**/*.md")),
    "CHANGELOG.md": (2_000, ("CHANGELOG.md",)),
    "ARCHITECTURE.md": (2_000, ("ARCHITECTURE.md",)),
}


def prose(text: str) -> int:
    """Return the number of words outside fenced blocks and tables."""
    words, fenced = 0, False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            words += len(line.split())
    return words


def counted() -> dict[str, tuple[int, int]]:
    """Return the words of each document, and the most that it may have."""
    found = {
        name: (sum(prose(file.read_text()) for glob in globs for file in ROOT.glob(glob)), most)
        for name, (most, globs) in MOST.items()
    }
    papers = [claims.parent for claims in sorted(ROOT.glob("lab/results/*/claims.json"))]
    for page in (page for folder in papers for page in sorted(folder.glob("*.md"))):
        name = page.relative_to(ROOT / "lab" / "results").as_posix()
        found[name] = (prose(page.read_text()), PAPER_PAGE)
    return found


def main() -> int:
    """Print the counts."""
    for name, (words, most) in counted().items():
        print(f"{name:<24}{words:>8,} of {most:,}{'' if words <= most else ': too many'}")
    return any(words > most for words, most in counted().values())


if __name__ == "__main__":
    sys.exit(main())
