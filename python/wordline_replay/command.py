"""The command: ``wordline check-log FILE``."""

from __future__ import annotations

import argparse
import json
import sys
import zlib

from wordline_replay.checker import check
from wordline_replay.log import Damaged, Unreadable, opened


def main(args: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="wordline check-log",
        description="Check an operation log by the rules of flash, apart from the engine.",
    )
    parser.add_argument("file", metavar="FILE", help="a log of `wordline run --log`")
    parser.add_argument("--report", metavar="FILE", help="the report of the same run")
    parser.add_argument("--show", metavar="N", type=int, default=20, help="violations to show (20)")
    given = parser.parse_args(args)
    try:
        report = None
        if given.report is not None:
            try:
                with open(given.report, encoding="utf-8") as file:
                    report = json.load(file)
            except (OSError, ValueError) as e:
                raise Unreadable(f"{given.report}: cannot be read as JSON: {e}") from None
        with opened(given.file) as lines:
            checker = check(lines, report)
    except (Unreadable, OSError, EOFError, UnicodeDecodeError, zlib.error, Damaged) as e:
        # What cannot be opened, the log or the report, is named already.
        is_named = str(e).startswith((f"{given.file}: ", f"{given.report}: "))
        print("error:", e if is_named else f"{given.file}: {e}", file=sys.stderr)
        return 2
    for line, what in checker.violations[: given.show]:
        print(f"{given.file}:{line}: {what}")
    hidden = len(checker.violations) - given.show
    if hidden > 0:
        print(f"and {hidden:,} more; --show N shows more of them")
    print(checker.summary())
    if checker.violations:
        print(f"{len(checker.violations):,} violations")
        return 1
    print("no violation" + ("" if report is None else "; the report's counts agree"))
    return 0
