"""Stage the pages of the site: what is read on a forge, and what is generated from the code.

``python docs/site/stage.py FOLDER`` copies README.md, docs/, devices/, lab/ and pages of crates
into FOLDER as they are laid out here, so that links between them stay true, and adds the pages of
the command line and of the Python package. Links to files that are not on the site lead to the
forge.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORGE = "https://github.com/wordline/wordline"
#: Pages, and files that pages show or offer.
PAGES = (
    *("*.md", "docs/**/*.md", "devices/*.md", "lab/*.md", "lab/results/**/*.md"),
    "crates/*/*.md",
)
FILES = (
    *("docs/**/*.svg", "docs/**/*.fio", "docs/crash/*.*", "docs/**/*.ipynb", "devices/*.toml"),
    *("lab/results/**/*.svg", "lab/results/**/*.csv", "lab/results/**/*.json"),
    *("lab/results/atlas/index.html", "lab/results/atlas/pieces/index.html"),
)
#: Files of the site alone, by where they lie on it.
ASSETS = {
    "assets/site.css": "docs/site/site.css",
    "assets/iframe-worker/shim.js": "docs/site/vendor/iframe-worker/shim.js",
    "assets/iframe-worker/LICENSE": "docs/site/vendor/iframe-worker/LICENSE",
}
#: A page of its own would replace the page that a folder's README.md becomes.
RENAMED = {"index.html": "interactive.html", "README.md": "index.md"}
#: Kept on this machine only.
LEFT_OUT = re.compile(r"(^|/)(runs|site)/|/atlas\.json$")


def target(path: str) -> str:
    """Return where a file of the repository lies on the site."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{RENAMED.get(name, name)}".lstrip("/")


def found(globs: tuple[str, ...]) -> list[str]:
    """Return the files of the repository that match, by their paths."""
    all_of = {p.relative_to(ROOT).as_posix() for glob in globs for p in ROOT.glob(glob)}
    return sorted(path for path in all_of if not LEFT_OUT.search(path))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Return the text with its parts outside fenced blocks changed."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def linked(text: str, page: str, on_site: set[str]) -> str:
    """Return the text of a page with links that hold on the site."""

    def to(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        asked = os.path.normpath(f"{os.path.dirname(page)}/{path}" if page else path).lstrip("/")
        if (ROOT / asked).is_dir() and f"{asked}/README.md" in on_site:
            asked += "/README.md"
        if asked in on_site:
            there = os.path.relpath(target(asked), os.path.dirname(page) or ".")
            return f"]({there}{anchor})"
        kind = "tree" if (ROOT / asked).is_dir() else "blob"
        return f"]({FORGE}/{kind}/main/{asked}{anchor})"

    return re.sub(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)", to, text)


def fences(text: str, is_recorded: bool) -> str:
    """Return the text with fences as the site has them; those that no test runs are marked."""

    def fence(match: re.Match[str]) -> str:
        kind, _, reason = match[1].partition(" ")
        shell = kind in ("", "not-run") and re.search(r"^\$ ", match[2], re.M)
        kind = "console" if shell else kind
        kind = "text" if kind in ("", "not-run") else kind
        mark = f"\n\n*Not run by the tests: {reason}.*" if match[1].startswith("not-run") else ""
        if is_recorded and not mark and re.search(r"^(\$ )?wordline ", match[2], re.M):
            mark = "\n\n*Recorded when this page was written; not run by the tests.*"
        return f"```{kind}\n{match[2]}\n```{mark}"

    return re.sub(r"^```([^\n]*)\n(.*?)\n```$", fence, text, flags=re.S | re.M)


def staged(path: str, on_site: set[str]) -> str:
    """Return a page of the repository as the site has it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    text = outside_fences(text, lambda part: linked(part, path, on_site))
    text = text.replace("<details>", '<details markdown="1">')
    return fences(text, path.startswith("lab/results/"))


def help_of(words: list[str]) -> str:
    """Return what a command prints for ``--help``, from the library that the command calls."""
    from wordline import _wordline

    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            _wordline.main(["wordline", *words, "--help"])
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode().rstrip()


def commands(words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Return each command with its help, those within a command behind it."""
    text = help_of([*words])
    yield " ".join(["wordline", *words]), text
    listed = re.search(r"^Commands:\n(.*?)(?:\n\n|\Z)", text, re.S | re.M)
    for name in re.findall(r"^  (\S+)", listed[1], re.M) if listed else ():
        if name != "help":
            yield from commands((*words, name))


def command_page() -> str:
    """Return the page of all commands and their options."""
    text = "# Command line\n\nEvery command with its options, as `--help` prints them.\n\n"
    for name, help_text in commands():
        text += f"{'#' * min(2 + max(name.count(' ') - 1, 0), 3)} {name}\n\n"
        text += f"```text\n{help_text}\n```\n\n"
    return text


def python_page() -> str:
    """Return the page of the package, which the generator fills from docstrings."""
    import wordline

    text = "# Python\n\nEvery public name of `wordline`, from its docstring.\n\n"
    for name in sorted(wordline.__all__, key=str.lower):
        text += f"::: wordline.{name}\n\n{native_members(getattr(wordline, name))}"
    return text


def native_members(item: object) -> str:
    """Return a table of what a class of the native half has: its stub has no docstrings."""
    from wordline import _wordline

    if not isinstance(item, type) or getattr(_wordline, item.__name__, None) is not item:
        return ""
    rows = []
    for name, member in vars(item).items():
        says = " ".join((member.__doc__ or "").split()).replace("|", "\\|")
        if not name.startswith("_") and says:
            signature = (getattr(member, "__text_signature__", None) or "").replace("$self, ", "")
            rows.append(f"| `{name}{signature.replace('($self)', '()')}` | {says} |\n")
    return "| member | |\n|---|---|\n" + "".join(rows) + "\n" if rows else ""


def stage(folder: Path) -> int:
    """Write all pages into an empty folder; return their number."""
    shutil.rmtree(folder, ignore_errors=True)
    pages, files = found(PAGES), found(FILES)
    on_site = {*pages, *files}
    written = {target(path): staged(path, on_site) for path in pages}
    written["reference/commands.md"] = command_page()
    written["reference/python.md"] = python_page()
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for to, path in {**{target(path): path for path in files}, **ASSETS}.items():
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / to)
    return len(written)


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    print(f"{stage(parser.parse_args().folder)} pages staged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
