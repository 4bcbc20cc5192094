"""Hold texts to words of the field, and documents to a length.

`python tests/words.py` prints the length of each document and every rejected text, and exits with 1
if there is one or a document is too long. `tests/words/` has the lists: `everywhere.txt`,
`labels.txt` (labels, help, errors, headings and public names) and `heads.txt` (heads of tables and
pages, which are terms of the glossary); and texts that check the lists, `bad.txt` and `good.txt`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: The most words of a page of a paper, of which there are several in a folder with its claims.
PAPER_PAGE = 1_200
ROOT = Path(__file__).resolve().parent.parent
LISTS = Path(__file__).resolve().parent / "words"
#: The most words of each outside fenced blocks and tables, and the files that count together.
MOST: dict[str, tuple[int, tuple[str, ...]]] = {
    "README.md": (700, ("README.md",)),
    "docs/ and devices/": (28_000, ("docs/**/*.md", "devices/**/*.md")),
    "CHANGELOG.md": (2_000, ("CHANGELOG.md",)),
    "ARCHITECTURE.md": (2_000, ("ARCHITECTURE.md",)),
}
#: The same of all words.
MOST_IN_ALL: dict[str, tuple[int, tuple[str, ...]]] = {
    "docs/, all words": (52_000, ("docs/**/*.md",)),
}
#: A comment, a raw string, a string, or a character of Rust, whichever comes first.
RUST = re.compile(
    r"(?P<comment>//[^\n]*)|/\*.*?\*/|b?r(?P<hashes>#*)\"(?P<raw>.*?)\"(?P=hashes)"
    r"|\"(?P<string>(?:[^\"\\]|\\.)*)\"|'(?:\\[^']+|[^'\\])'",
    re.DOTALL,
)
#: Crates whose public names still have words of the list.
UNNAMED = ("crates/explore/", "crates/ftl/", "crates/sim/", "crates/swarm/")
#: A file, a line of it, and what is said there.
Text = tuple[str, int, str]


def prose(text: str) -> int:
    """Return the number of words outside fenced blocks and tables."""
    words, fenced = 0, False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            words += len(line.split())
    return words


def every_word(text: str) -> int:
    """Return the number of all words, as `wc -w` counts them."""
    return len(text.split())


def counted() -> dict[str, tuple[int, int]]:
    """Return the words of each document, and the most that it may have."""
    found = {
        name: (sum(count(file.read_text()) for glob in globs for file in ROOT.glob(glob)), most)
        for of, count in ((MOST, prose), (MOST_IN_ALL, every_word))
        for name, (most, globs) in of.items()
    }
    papers = [claims.parent for claims in sorted(ROOT.glob("lab/results/*/claims.json"))]
    for page in (page for folder in papers for page in sorted(folder.glob("*.md"))):
        name = page.relative_to(ROOT / "lab" / "results").as_posix()
        found[name] = (prose(page.read_text()), PAPER_PAGE)
    return found


def listed(name: str) -> list[str]:
    """Return the lines of a list, without its comments."""
    lines = (LISTS / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def patterns(name: str) -> list[re.Pattern[str]]:
    """Return the expressions of a list."""
    return [re.compile(line, re.IGNORECASE) for line in listed(name)]


EVERYWHERE, LABELS = patterns("everywhere.txt"), patterns("labels.txt")


def rejected(text: str, lists: list[re.Pattern[str]]) -> str | None:
    """Return the part of a text that a list rejects, if there is one."""
    for pattern in lists:
        if found := pattern.search(text):
            return found[0]
    return None


def without_tests(text: str) -> str:
    """Return the code of a file of Rust, without its module of tests."""
    return text.split("#[cfg(test)]\nmod ")[0]


def rust() -> Iterator[tuple[Text, bool]]:
    """Yield strings, help texts and comments of the crates; and whether each is a label."""
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        name = str(path.relative_to(ROOT))
        helps = name.startswith("crates/cli/src/args/")
        code = without_tests(path.read_text())
        for found in RUST.finditer(code):
            line = code.count("\n", 0, found.start()) + 1
            if comment := found["comment"]:
                yield (name, line, comment), helps and comment.startswith("///")
            elif text := found["string"] or found["raw"]:
                yield (name, line, re.sub(r"\\\n\s*", "", text)), len(text.split()) > 1
    for path in sorted(ROOT.glob("crates/report/src/words/figures/*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield (str(path.relative_to(ROOT)), number, line), not line.startswith("#")


def python() -> Iterator[tuple[Text, bool]]:
    """Yield strings of the package; what is raised or printed is a label, a docstring is none."""
    for path in sorted(ROOT.glob("python/wordline*/**/*.py")):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            raised = isinstance(node, ast.Raise) or (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") in ("print", "UserError")
            )
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield (name, node.lineno, node.value), False
            elif raised:
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield (name, part.lineno, part.value), True


def documents() -> Iterator[tuple[Text, bool]]:
    """Yield lines of the documents; a heading is a label."""
    folders = ("docs/**/*.md", "devices/*.md", "crates/*/*.md")
    for glob in ("*.md", *folders, "lab/README.md", "python/README.md"):
        for path in sorted(ROOT.glob(glob)):
            if path.name == "CHANGELOG.md":
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                yield (str(path.relative_to(ROOT)), number, line), line.startswith("#")


def names() -> Iterator[tuple[Text, bool]]:
    """Yield public names of the crates and the package, as words.

    The crates of `UNNAMED` are not held to the list yet.
    """
    patterns = {
        "crates/*/src/**/*.rs": r"^\s*pub (?:fn|struct|enum|trait|type|mod) (\w+)",
        "python/wordline*/**/*.py": r"^(?:class|    def|def) ([a-zA-Z]\w*)",
    }
    for glob, pattern in patterns.items():
        for path in sorted(ROOT.glob(glob)):
            if str(path.relative_to(ROOT)).startswith(UNNAMED):
                continue
            text = without_tests(path.read_text())
            for found in re.finditer(pattern, text, re.M):
                words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", found[1])
                line = text.count("\n", 0, found.start(1)) + 1
                yield (str(path.relative_to(ROOT)), line, words), True


def texts() -> Iterator[str]:
    """Yield what is rejected, with its place."""
    for source in (rust, python, documents, names):
        for (file, line, text), is_label in source():
            lists = EVERYWHERE + LABELS if is_label else EVERYWHERE
            if part := rejected(text, lists):
                yield f"{file}:{line}: {part!r} in {' '.join(text.split())[:100]!r}"


def heads() -> Iterator[str]:
    """Yield heads of tables and pages that are not made of terms of the glossary."""
    figures = (ROOT / "crates/report/src/words/figures/figures.txt").read_text()
    sections = (ROOT / "crates/report/src/pictures/sections.rs").read_text()
    found = re.findall(r"^\[(.+)\]$", figures, re.M)
    found += re.findall(r'Section::\w+ => "([^"]+)"', sections)
    rows = [line.split("|") for line in (ROOT / "docs/glossary.md").read_text().splitlines()]
    terms = set()
    for row in rows:
        if len(row) > 4:
            terms |= {name.strip() for name in [row[1], *row[2].split(",")]}
    known = {}
    for head, of in (line.split("|") for line in listed("heads.txt")):
        known[head.strip()] = of.split(",")
    for head in found:
        if head not in known:
            yield f"tests/words/heads.txt: {head!r} has no line with its terms"
        for term in known.get(head, []):
            if term.strip() not in terms:
                yield f"tests/words/heads.txt: {term.strip()!r} of {head!r} is not in the glossary"


def samples() -> Iterator[str]:
    """Yield kept texts that the lists judge wrongly."""
    both = EVERYWHERE + LABELS
    bad, good = listed("bad.txt"), listed("good.txt")
    if len(bad) < 20 or len(good) < 40:
        yield f"tests/words: {len(bad)} bad texts of 20 and {len(good)} good ones of 40"
    for text in bad:
        if rejected(text, both) is None:
            yield f"tests/words/bad.txt: not rejected: {text!r}"
    for text in good:
        if part := rejected(text, both):
            yield f"tests/words/good.txt: {part!r} rejects {text!r}"


def main() -> int:
    """Print the counts and what is rejected."""
    for name, (words, most) in counted().items():
        print(f"{name:<24}{words:>8,} of {most:,}{'' if words <= most else ': too many'}")
    wrong = [*samples(), *heads(), *texts()]
    for what in wrong:
        print(what)
    return bool(wrong) or any(words > most for words, most in counted().values())


if __name__ == "__main__":
    sys.exit(main())
