"""What is wrong with a log, and where."""

from __future__ import annotations


class Findings:
    """The violations so far, each with its line of the log."""

    def __init__(self) -> None:
        """Begin before the first line."""
        self.line = 0
        self.violations: list[tuple[int, str]] = []

    def wrong(self, rule: str, what: str) -> None:
        """Note what breaks a rule in the line that is being checked."""
        self.violations.append((self.line, f"{rule}: {what}"))
