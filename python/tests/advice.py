"""Advice as users get it: which of a text it is, what of it can be typed, and its shape."""

import ast
import json
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: All advice that is known, each with a command that leads to it.
KNOWN = ROOT / "tests" / "advice.jsonl"

_OPTION = re.compile(r"(?<![\w'-])--([a-z][a-z-]*)")
_PAIR = re.compile(r"(?<![\w.\[-])((?:[^\s`()\"']+:)?)([a-z][a-z0-9_.]*)=([^\s|`()\]]+)")
_COMMAND = re.compile(r"`wordline ([^`]+)`")
#: A module that is run, and how whoever runs the tests has installed it.
_MODULE = re.compile(r"(?:`pip install \.` in a checkout, then )?`(python -m [^`]+)`")
_MEANT = re.compile(r"did you mean \"([^\"]+)\"\?")
_TIP = re.compile(r"similar (?:argument|value|subcommand)s? exists?: '([^']+)'")
_CALLED = re.compile(r"`wordline\.([a-z_]+)\(\)`")
_KEYWORD = re.compile(r"(?<![\w.])([a-z_]+)=(\{[^}]*\}|\"[^\"]*\"|\d+(?![\w.%]))")
_STOPS = ".,;:)?"
_TYPABLE = re.compile(r"--[a-z]|`|\bwordline [a-z]+\b|\b[a-z_.]+=\w")
#: Options without a value.
_FLAGS = ("force", "lossy", "steady-state", "check")


def is_typable(text: str) -> bool:
    """Whether something of a text looks as if it could be typed; of prose nothing does."""
    return bool(_TYPABLE.search(text))


def pieces(text: str) -> list[str]:
    """Return the advice in a text: each `allowed` and `hint`, and what else can be typed."""
    found = []
    for line in text.splitlines():
        said = line.strip()
        if said.startswith(("allowed: ", "hint: ")):
            found.append(said)
        elif said.startswith("[possible values: "):
            found.append("allowed: " + said[18:].rstrip("]"))
        elif said.startswith(("Usage: ", "For more", "replay: ", "stopped: ", "tip: to pass ")) or (
            said.startswith("--") and "<" in said
        ):
            continue
        else:
            said = _without_place(said)
            if any(kind.search(said) for kind in (_OPTION, _COMMAND, _MEANT, _TIP)):
                found.append(said)
    return found


def _without_place(line: str) -> str:
    """Return a line without the option that it is about."""
    line = re.sub(r"^error: ", "", line)
    line = (
        re.sub(r"^(--|scheme )?\S+( \S+)?: ", "", line)
        if re.match(r"(--|scheme |\S+=)", line)
        else line
    )
    return re.sub(r"'--[^']*'", "", line)


def _options(text: str) -> tuple[list[tuple[str, str | None]], str]:
    """Return the options in a text, with their values, and the text without them."""
    found, rest = [], text
    while match := _OPTION.search(rest):
        before, name, behind = rest[: match.start()], match[1], rest[match.end() :]
        value = None
        if name not in _FLAGS and behind.startswith(" "):
            word = behind[1:].split(" ")[0]
            value = word.rstrip(_STOPS)
            if behind[1:].startswith("'"):
                value = behind[2:].split("'")[0]
                word = f"'{value}'"
            behind = behind[1 + len(word) :]
        found.append((name, value))
        rest = before + behind
    return found, rest


def shape(piece: str) -> str:
    """Return a piece of advice without what it takes from the case: names, paths and numbers."""
    piece = re.sub(r"\"[^\"]*\"|'[^']*'", '"…"', piece)
    # Folders and rows without a sign of what they are.
    piece = re.sub(r"^\S+(?= has a page)|(?<=rows like )\S+", "…", piece)
    first, *rest = piece.split(", ")
    # Which names are listed depends on the case, too.
    if sum(" " not in item for item in rest) > 1:
        said = ", ".join(item for item in rest if " " in item)
        piece = f"{first.rpartition(' ')[0]} … {said}"
    words = (
        re.sub(r"[^\s:=`]*/[^\s:=`]*|[\w.-]+\.[a-z]{2,8}(?=[:\s,;`]|$)", "…", w)
        for w in piece.split()
    )
    return re.sub(r"\d[\d.,]*( [KMGT]?i?B\b)?", "0", " ".join(words))


class Entry:
    """A command that leads to advice, and how its advice is followed."""

    def __init__(self, data: dict) -> None:
        self.data = data
        #: Whether it is a command of the script that pip installs, and not of the native binary.
        self.is_script = "script" in data
        self.words = shlex.split(data.get("script") or data.get("command", ""))

    @property
    def name(self) -> str:
        if "seen" in self.data:
            return "seen"
        if self.words:
            return shlex.join(self.words)
        return f"{self.data['call']}({self.data['with']})"

    @property
    def first(self) -> list[list[str]]:
        """The commands that make the files which the command reads."""
        return [shlex.split(words) for words in self.data.get("first", [])]

    def changed(self, wrong: str, right: str) -> list[str]:
        """Return the command with one word, or a part of it, replaced."""
        assert any(wrong in w for w in self.words), f"{wrong} is not in {self.name}"
        return [
            right if w == wrong else re.sub(rf"(?<![\w-]){re.escape(wrong)}(?![\w-])", right, w)
            for w in self.words
        ]

    def with_options(self, options: list[tuple[str, str | None]]) -> list[str]:
        """Return the command with options, each in place of its like."""
        words = list(self.words)
        for name, value in options:
            at = words.index(f"--{name}") if f"--{name}" in words and name != "set" else None
            if at is not None:
                words[at : at + 2] = []
            words += [f"--{name}", *([] if value is None else [value])]
        return words

    def with_pair(self, head: str, key: str, value: str) -> list[str]:
        """Return the command with `KEY=VALUE` behind its file or workload."""
        words = list(self.words)
        at = self._subject()
        name = head.rstrip(":") or words[at].split(":")[0]
        rest = words[at][len(name) + 1 :] if words[at].startswith(name) else ""
        kept = [p for p in rest.split(",") if p and p.split("=")[0] != key]
        words[at] = f"{name}:{','.join([*kept, f'{key}={value}'])}"
        return words

    def _subject(self) -> int:
        if "--workload" in self.words:
            return self.words.index("--workload") + 1
        return 2

    def typed(self, piece: str) -> tuple[list[list[str]], str]:
        """Return the commands that a piece of advice comes to, and what of it is left as prose."""
        fill = self.data.get("fill", {})
        for word, value in fill.items():
            piece = re.sub(rf"\b{word}\b", value, piece)
        commands, rest = [], piece
        wrong = self.data.get("wrong")
        if hand := self.data.get("hand"):
            return [shlex.split(typed) for typed in hand], ""
        if piece in self.data.get("by_hand", {}):
            return [shlex.split(typed) for typed in self.data["by_hand"][piece]], ""
        for meant in _MEANT.findall(rest) + _TIP.findall(rest):
            commands.append(self.changed(wrong or "", meant))
        rest = _TIP.sub("", _MEANT.sub("", rest))
        for command in _COMMAND.findall(rest):
            commands.append(shlex.split(command))
        for module in _MODULE.findall(rest):
            commands.append(shlex.split(module))
        rest = _MODULE.sub("", _COMMAND.sub("", rest))
        if piece.startswith("allowed: ") and self.data.get("names"):
            return commands, ""
        if piece.startswith("allowed: ") and wrong:
            values = re.split(r", | \| | or ", rest[9:])
            if all(re.fullmatch(r"[\w.:+%#@/-]+", v) for v in values):
                return commands + [self.changed(wrong, v) for v in values], ""
        options, rest = _options(rest)
        if options:
            each = [[o] for o in options] if self.data.get("each") else [options]
            commands += [self.with_options(o) for o in each]
        for head, key, value in _PAIR.findall(rest):
            if not value.strip(_STOPS):
                continue
            commands.append(self.with_pair(head, key, value.rstrip(_STOPS)))
        return commands, _PAIR.sub("", rest)

    def _edited(self, file: str, value: str) -> str:
        """Return the scheme with a value in place of the wrong one in the file of its class."""
        path = Path(file)
        edited = path.with_name(f"{path.stem}_{value}.py")
        edited.write_text(path.read_text().replace(self.data["wrong"], value))
        return self.data["with"]["scheme"].replace(file, edited.name)

    def typed_in_python(self, piece: str) -> list[dict]:
        """Return the arguments of a function that a piece of advice comes to."""
        given = dict(self.data["with"])
        if hand := self.data.get("hand"):
            return [{**given, **typed} for typed in hand]
        if file := self.data.get("edits"):
            values = [v for v in piece.removeprefix("allowed: ").split(", ") if v.isalpha()]
            return [{**given, "scheme": self._edited(file, value)} for value in values]
        proposed = {k: ast.literal_eval(v) for k, v in _KEYWORD.findall(piece)}
        for meant in _MEANT.findall(piece):
            wrong = self.data["wrong"]
            return [json.loads(json.dumps(given).replace(wrong, meant))]
        if "set" in proposed:
            proposed["set"] = {**given.get("set", {}), **proposed["set"]}
        if proposed:
            return [{**given, **proposed}]
        # Options of a workload stand behind its name, as on a command line.
        found = []
        for _, key, value in _PAIR.findall(piece):
            name, _, options = given["workload"].partition(":")
            kept = [p for p in options.split(",") if p and p.split("=")[0] != key]
            found.append(f"{name}:{','.join([*kept, f'{key}={value.rstrip(_STOPS)}'])}")
        return [{**given, "workload": workload} for workload in found]


def called_in(piece: str) -> list[str]:
    """Return the functions of the package that a piece of advice names to be called."""
    return _CALLED.findall(piece)


def known() -> tuple[dict[str, str], list[Entry]]:
    """Return the files that the commands read, and the commands."""
    lines = [json.loads(line) for line in KNOWN.read_text(encoding="utf-8").splitlines()]
    return lines[0]["files"], [Entry(line) for line in lines[1:]]


def shapes_known() -> set[str]:
    """Return the shapes of all advice that is known."""
    return {
        shape(piece)
        for entry in known()[1]
        for key in ("advice", "seen")
        for piece in entry.data.get(key, [])
    }
