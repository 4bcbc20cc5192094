"""Advice can be followed: each piece of `tests/advice.jsonl` is given, and ends well when typed."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from advice import KNOWN, ROOT, Entry, called_in, is_typable, known, pieces

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
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


class Native:
    """The native binary, of which several run in parallel."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.binary = folder, binary

    def run(self, words: list[str], record: Path) -> tuple[int, str]:
        """Return the exit code of a command and what it prints."""
        env = {**os.environ, "WORDLINE_ADVICE": str(record)}
        env.pop("WORDLINE_TRACES", None)
        program = [self.binary, *words]
        if words[0] == "python":
            program = [sys.executable, *words[1:]]
        done = subprocess.run(
            program, cwd=self.folder, env=env, capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


class Script:
    """The script that pip installs: one interpreter for all commands, since it starts slowly."""

    LOOP = """
import json, os, sys
from wordline import _cli
replies = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    asked = json.loads(line)
    os.environ["WORDLINE_ADVICE"] = asked["record"]
    sys.argv = ["wordline", *asked["words"]]
    shown = os.open(asked["shown"], os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(shown, 1), os.dup2(shown, 2)
    try:
        code = _cli._command()
    except SystemExit as e:
        code = e.code
    sys.stdout.flush()
    print(code or 0, file=replies, flush=True)
"""

    def __init__(self, folder: Path) -> None:
        env = dict(os.environ)
        env.pop("WORDLINE_TRACES", None)
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.LOOP], cwd=folder, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, words: list[str], record: Path) -> tuple[int, str]:
        """Return the exit code of a command and what it prints."""
        shown = self.folder / "shown.txt"
        asked = {"words": words, "record": str(record), "shown": str(shown)}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        code = self.process.stdout.readline()
        assert code, f"the interpreter ended in: {words}"
        return int(code), shown.read_text()

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Followed:
    """What was said to a command that was typed."""

    def __init__(self, words: list[str], program: Native | Script, number: str) -> None:
        record = program.folder / f"{number}.jsonl"
        self.code, self.shown = program.run(words, record)
        said = (
            [json.loads(line) for line in record.read_text().splitlines()]
            if record.exists()
            else []
        )
        # Who is refused reads why, not what was to come of it.
        said = [line for line in said if self.code == 0 or line["source"] == "error"]
        self.advice = [p for line in said for p in pieces(line["text"])]


def wrong_of(entry: Entry, number: int, program: Native | Script) -> tuple[list[str], list[str]]:
    """Return what an entry's command advises today, and what of it could not be followed."""
    wrong = []
    for at, words in enumerate(entry.first):
        done = Followed(words, program, f"{number}-first-{at}")
        if done.code != 0:
            wrong.append(f"cannot begin:\n    $ wordline {' '.join(words)}\n    {done.shown}")
    asked = Followed(entry.words, program, f"{number}")
    advice = list(dict.fromkeys(asked.advice))
    for at, piece in enumerate(advice):
        commands, prose = entry.typed(piece)
        if is_typable(prose) or PLACEHOLDER.search(prose):
            wrong.append(f"looks as if it could be typed: {piece}")
        if names := entry.data.get("names"):
            page = Followed(names.split(), program, f"{number}-names").shown
            listed = piece[9:].split(", ") if piece.startswith("allowed: ") else []
            wrong += [f"{name} is not there: {piece}" for name in listed if name not in page]
        for n, words in enumerate(commands):
            done = Followed(words, program, f"{number}-{at}-{n}")
            typed = " ".join(words)
            if done.code != 0:
                wrong.append(f"{piece}\n    $ wordline {typed}\n    {done.shown.strip()}")
            elif piece in done.advice and words != entry.words:
                wrong.append(f"said again: {piece}\n    $ wordline {typed}")
            elif n == 0 and words == entry.words and asked.code != 0:
                wrong.append(f"changes nothing: {piece}")
    return advice, wrong


def bless() -> None:
    """Keep the advice of today, if that is asked for."""
    if os.environ.get("BLESS"):
        lines = [{"files": FILES}, *(e.data for e in ENTRIES)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        KNOWN.write_text(text, encoding="utf-8")


def judge(entries: list[Entry], found: list[tuple[list[str], list[str]]]) -> None:
    """Fail for advice that cannot be followed, or differs from what is known; or keep it."""
    wrong = [
        f"$ wordline {e.name}\n  {w}"
        for e, (_, all_) in zip(entries, found, strict=True)
        for w in all_
    ]
    for entry, (advice, _) in zip(entries, found, strict=True):
        if os.environ.get("BLESS"):
            entry.data["advice"] = advice
        elif advice != entry.data["advice"]:
            wrong.append(f"$ wordline {entry.name}\n  says {advice}\n  not {entry.data['advice']}")
    bless()
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong)


def test_advice_of_the_command_line_can_be_followed(folder, binary):
    entries = [e for e in ENTRIES if e.words and not e.is_script]
    native = Native(folder, binary)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda n: wrong_of(entries[n], n, native), range(len(entries))))
    judge(entries, found)


def test_advice_of_script_can_be_followed(folder):
    entries = [e for e in ENTRIES if e.is_script]
    script = Script(folder)
    found = [wrong_of(entry, 1000 + n, script) for n, entry in enumerate(entries)]
    script.end()
    judge(entries, found)


def test_advice_without_a_command_is_prose():
    seen = [piece for entry in ENTRIES for piece in entry.data.get("seen", [])]
    wrong = [piece for piece in seen if is_typable(piece)]
    assert not wrong, (
        "give tests/advice.jsonl a command that leads to each, so that it is followed:\n"
        + "\n".join(wrong)
    )


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
            for name in called_in(piece):
                if not getattr(wl, name)():
                    wrong.append(f"{entry.name}: {piece}\n  wordline.{name}() names nothing")
            for arguments in entry.typed_in_python(piece):
                again, ended = texts_of(entry, arguments)
                if not ended or piece in again:
                    wrong.append(f"{entry.name}: {piece}\n  {arguments}\n  {again}")
    bless()
    assert not wrong, "\n".join(wrong)
