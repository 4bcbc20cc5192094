"""Names, units and better directions of figures in tables and plots."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wordline import _wordline
from wordline._wordline import UserError

#: A mean, and half of its 95 % interval, which a figure of one run lacks.
Spread = tuple[float, float | None]

#: The figures of a table for which none are named.
FIGURES = (
    "latency_us.write.mean",
    "latency_us.write.p999",
    "latency_us.read.mean",
    "latency_us.read.p999",
    "waf.total",
    "throughput.iops",
)


class Measure(NamedTuple):
    """How a figure is called: ``p99.9`` ``write latency``, in ``µs``; lower is better."""

    name: str
    point: str = ""
    unit: str = ""
    better: str | None = None

    def said(self) -> str:
        """Return the whole name, with the unit behind it."""
        words = f"{self.point} {self.name}".lstrip()
        return f"{words}, {self.unit}" if self.unit else words

    def brief(self) -> str:
        """Return the name as the measures of a comparison have it: ``write p99.9``."""
        kind, _, rest = self.name.partition(" ")
        return f"{kind} {self.point}" if self.point and rest == "latency" else self.name


_NAMED = {
    "waf.total": Measure("WAF", better="lower"),
    "throughput.iops": Measure("IOPS", better="higher"),
    "throughput.write_mb_per_s": Measure("write throughput", "", "MB/s", "higher"),
    "throughput.read_mb_per_s": Measure("read throughput", "", "MB/s", "higher"),
    "lifetime.total_bytes_written": Measure("writes until wear-out", "", "bytes", "higher"),
    "host.failed": Measure("failed requests", better="lower"),
}
_POINTS = {"p50": "p50", "p99": "p99", "p999": "p99.9", "mean": "mean", "max": "max"}


def measure(path: str) -> Measure:
    """Return the name of a figure by its path, or the path if it has no name."""
    match path.split("."):
        case ["latency_us", kind, point] if point in _POINTS:
            return Measure(f"{kind} latency", _POINTS[point], "µs", "lower")
        case ["flash", "erases", mode]:
            return Measure(f"{mode.upper()} erases", better="lower")
    return _NAMED.get(path, Measure(path))


def scaled(path: str, values: Sequence[float]) -> tuple[Measure, float]:
    """Return the measure in a unit that suits all values, and their divisor."""
    found = measure(path)
    most = max(map(abs, values), default=0.0)
    if found.unit == "µs" and most >= 10_000:
        return found._replace(unit="ms"), 1e3
    if found.unit == "bytes" and most >= 1e12:
        return found._replace(unit="TB"), 1e12
    return found, 1.0


def divided(figure: Spread, by: float) -> Spread:
    """Return a figure in another unit."""
    mean, half = figure
    return mean / by, None if half is None else half / by


def shown(figure: Spread | None) -> str:
    """Return a figure as terminals have it: with its interval in as many digits as that supports.

    Without one it has all digits that are read, so that runs can be told apart.
    """
    if figure is None:
        return "–"  # noqa: RUF001
    mean, half = figure
    if half is None:
        return _number(mean)
    is_plain = _PLAIN[0] <= half < _PLAIN[1]
    return brief(figure) if is_plain else f"{_number(mean)} ± {_half(half)}"


def brief(figure: Spread | None) -> str:
    """Return a figure as pages have it: in as many digits as its interval supports.

    Without an interval, or with one of nothing, it has three.
    """
    if figure is None or (figure[1] and not _PLAIN[0] <= figure[1] < _PLAIN[1]):
        return shown(figure)
    mean, half = figure
    if not half:
        return _significant(mean)
    if half < abs(mean) * _FINE:
        # Both end at the fifth digit of the mean, and the interval says at least half of its last.
        digits = 4 - math.floor(math.log10(abs(mean)))
        least = max(half, 0.51 * 10.0**-digits)
        return " ± ".join(f"{round(x, digits):,.{max(digits, 0)}f}" for x in (mean, least))
    return f"{rounded(mean, half)} ± {_half(half)}"


def change(figure: Spread | None) -> str:
    """Return a difference in percent as pages have it: with its sign, and its interval."""
    text = brief(figure)
    if text.startswith("-"):
        text = "\u2212" + text[1:]
    elif figure is not None and any(digit in "123456789" for digit in text.partition(" ± ")[0]):
        text = "+" + text
    return text


#: Intervals are written out within these bounds; one that is a smaller share of its mean would give
#: it more digits than people read.
_PLAIN, _FINE = (1e-4, 1e7), 1e-3


def rounded(number: float, half: float) -> str:
    """Round a number to the second significant digit of its interval."""
    digits = 1 - math.floor(math.log10(half))
    # Zero has no sign.
    return f"{round(number, digits) + 0.0:,.{max(digits, 0)}f}"


def _significant(number: float) -> str:
    if not number or not 1e-3 <= abs(number) < 1e7:
        return f"{number:.3g}"
    digits = 2 - math.floor(math.log10(abs(number)))
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def _half(number: float) -> str:
    """Return the half-width of an interval to two significant digits."""
    is_plain = number and _PLAIN[0] <= number < _PLAIN[1]
    return rounded(number, number) if is_plain else f"{number:.2g}"


def _number(number: float) -> str:
    if number and (abs(number) >= 1e15 or abs(number) < 1e-3):
        return f"{number:.3g}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def value(report: Mapping[str, Any], path: str) -> float | None:
    """Return a figure of a report by its path, such as ``latency_us.write.p99``."""
    found: Any = report
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return float(found)


def numbers_of_reports() -> Iterator[str]:
    """Yield the path of each number that a report may have; ``*`` is any key, ``**`` any path."""
    schema = json.loads(_wordline.report_schema())

    def below(node: Any, path: tuple[str, ...]) -> Iterator[str]:
        while isinstance(node, Mapping) and "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        if not isinstance(node, Mapping) or not node.keys() - {"description", "default"}:
            yield ".".join([*path, "**"])
            return
        for option in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
            yield from below(option, path)
        types = node.get("type", ())
        if {"number", "integer"} & {*([types] if isinstance(types, str) else types)}:
            yield ".".join(path)
        for key, inner in node.get("properties", {}).items():
            yield from below(inner, (*path, key))
        if node.get("additionalProperties") not in (None, False):
            yield from below(node["additionalProperties"], (*path, "*"))

    yield from dict.fromkeys(below(schema, ()))


def listed(figures: Iterable[str]) -> list[str]:
    """Return paths of figures as a list.

    Raises `UserError`: they are one text, whose letters would be taken for paths.
    """
    if isinstance(figures, str):
        raise UserError(f"figures is the text {figures!r}; pass a list of paths")
    return list(figures)


def check_paths(paths: Iterable[str]) -> None:
    """Refuse a path where no report has a number, before any run.

    Raises `UserError`: it names similar paths.
    """
    wanted = [path for path in paths if path not in FIGURES]
    known = list(numbers_of_reports()) if wanted else []
    for path in wanted:
        if not any(_is_at(path.split("."), other.split(".")) for other in known):
            raise unknown(path, (other for other in known if not other.endswith("*")))


def _is_at(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path is one of those that a pattern stands for."""
    if pattern and pattern[-1] == "**":
        path, pattern = path[: len(pattern) - 1], pattern[:-1]
    return len(path) == len(pattern) and all(
        other in (key, "*") for key, other in zip(path, pattern, strict=True)
    )


def unknown(path: str, known: Iterable[str]) -> UserError:
    """Return the error for an unknown path, with similar ones."""
    near = difflib.get_close_matches(path, list(known), n=3) or sorted(FIGURES)
    return UserError(
        f"{path}: unknown figure; similar: {', '.join(near)}\n"
        "  hint: a path is that of a number in report.json, with dots between the keys"
    )
