"""Advice can be followed: each piece of `tests/advice.jsonl` is given, and ends well when typed."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from advice import KNOWN, ROOT, Entry, is_typable, known, pieces

import wordline as wl

FILES, ENTRIES = known()
#: Stands for what a reader must know.
PLACEHOLDER = re.compile(r"\b(FILE|NAME|VALUE|KEY|OPTIONS)\b")


def small_drive() -> str:
    """Return the file of a drive of 63 MiB: `fair-tlc`, but for its size."""
    text = (ROOT / "devices" / "fair-tlc.toml").read_text()
    for key, value in {
        "channels": "1",
        "blocks_per_plane": "84",
        "wordlines_per_block": "8",
        "logical": '"44MiB"',
    }.items():
        text, count = re.subn(rf"(?m)^{key} = \S+", f"{key} = {value}", text)
        assert count == 1, key
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("advice")
    for name, text in {**FILES, "small.toml": small_drive()}.items():
        (folder / name).write_text(text)
    return folder


class Followed:
    """What was said to a command that was typed."""

    def __init__(self, words: list[str], folder: Path, binary: Path, number: str) -> None:
        record = folder / f"{number}.jsonl"
        env = {**os.environ, "WORDLINE_ADVICE": str(record)}
        env.pop("WORDLINE_TRACES", None)
        done = subprocess.run(
            [binary, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=60
        )
        said = (
            [json.loads(line) for line in record.read_text().splitlines()]
            if record.exists()
            else []
        )
        self.code, self.err, self.out = done.returncode, done.stderr, done.stdout
        # Who is refused reads why, not what was to come of it.
        said = [line for line in said if self.code == 0 or line["source"] == "error"]
        self.advice = [p for line in said for p in pieces(line["text"])]


def wrong_of(entry: Entry, number: int, folder: Path, binary: Path) -> tuple[list[str], list[str]]:
    """Return what an entry's command advises today, and what of it could not be followed."""
    asked = Followed(entry.words, folder, binary, f"{number}")
    advice, wrong = list(dict.fromkeys(asked.advice)), []
    for at, piece in enumerate(advice):
        commands, prose = entry.typed(piece)
        if is_typable(prose) or PLACEHOLDER.search(prose):
            wrong.append(f"looks as if it could be typed: {piece}")
        if names := entry.data.get("names"):
            page = Followed(names.split(), folder, binary, f"{number}-names").out
            listed = piece[9:].split(", ") if piece.startswith("allowed: ") else []
            wrong += [f"{name} is not there: {piece}" for name in listed if name not in page]
        for n, words in enumerate(commands):
            done = Followed(words, folder, binary, f"{number}-{at}-{n}")
            typed = " ".join(words)
            if done.code != 0:
                wrong.append(f"{piece}\n    $ wordline {typed}\n    {done.err.strip()}")
            elif piece in done.advice and words != entry.words:
                wrong.append(f"said again: {piece}\n    $ wordline {typed}")
            elif words == entry.words and asked.code != 0:
                wrong.append(f"changes nothing: {piece}")
    return advice, wrong


def bless() -> None:
    """Keep the advice of today, if that is asked for."""
    if os.environ.get("BLESS"):
        lines = [{"files": FILES}, *(e.data for e in ENTRIES)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        KNOWN.write_text(text, encoding="utf-8")


def test_advice_of_the_command_line_can_be_followed(folder, binary):
    of_commands = [e for e in ENTRIES if e.words]
    with ThreadPoolExecutor(2) as pool:
        found = list(
            pool.map(lambda n: wrong_of(of_commands[n], n, folder, binary), range(len(of_commands)))
        )
    wrong = [
        f"$ wordline {e.name}\n  {w}"
        for e, (_, all_) in zip(of_commands, found, strict=True)
        for w in all_
    ]
    for entry, (advice, _) in zip(of_commands, found, strict=True):
        if os.environ.get("BLESS"):
            entry.data["advice"] = advice
        elif advice != entry.data["advice"]:
            wrong.append(f"$ wordline {entry.name}\n  says {advice}\n  not {entry.data['advice']}")
    bless()
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong)


def test_advice_without_a_command_is_prose():
    seen = [piece for entry in ENTRIES for piece in entry.data.get("seen", [])]
    wrong = [piece for piece in seen if is_typable(piece)]
    assert not wrong, (
        "give tests/advice.jsonl a command that leads to each, so that it is followed:\n"
        + "\n".join(wrong)
    )


def test_few_pieces_of_advice_are_not_followed():
    # Given by tests in Python without a command of their own yet: they may only become fewer.
    rest = [piece for entry in ENTRIES for piece in entry.data.get("unfollowed", [])]
    assert len(rest) <= 20


def texts_of(called: Entry, arguments: dict) -> tuple[list[str], bool]:
    """Return what a call advises, and whether it ended well."""
    try:
        done = getattr(wl, called.data["call"])(**arguments)
    except (wl.UserError, wl.Refused) as e:
        return pieces(str(e)), False
    reports = [done] if isinstance(done, wl.Report) else list(done)
    return [hint for report in reports for hint in report.hints], True


def test_advice_of_the_package_can_be_followed(folder, monkeypatch):
    monkeypatch.chdir(folder)
    wrong = []
    for entry in (e for e in ENTRIES if "call" in e.data):
        advice, _ = texts_of(entry, entry.data["with"])
        if os.environ.get("BLESS"):
            entry.data["advice"] = advice
        elif advice != entry.data["advice"]:
            wrong.append(f"{entry.name}\n  says {advice}\n  not {entry.data['advice']}")
        for piece in advice:
            if re.search(r"(?<![\w-])--[a-z]", piece):
                wrong.append(f"{entry.name}: spelled as on a command line: {piece}")
            for arguments in entry.typed_in_python(piece):
                again, ended = texts_of(entry, arguments)
                if not ended or piece in again:
                    wrong.append(f"{entry.name}: {piece}\n  {arguments}\n  {again}")
    bless()
    assert not wrong, "\n".join(wrong)
