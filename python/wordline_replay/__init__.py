"""Check an operation log by the rules of flash: ``wordline check-log FILE``.

A program of its own: it shares no code with the engine and needs nothing but Python's standard
library, with the backport of its ``compression.zstd`` before Python 3.14. It takes the header of
the log for the drive and believes nothing else. Each violation is a line with the place in the log
and what was expected. It exits with 0 if there is none, 1 if there are some, and 2 if the log or
the report cannot be read.

Checked are: pages programmed in the order of their block's rule, none twice without an erase;
nothing read before it was programmed, nor where something else lies by now; no bus, array or plane
register used twice at once, and a cache register only as it may be; each duration against the
header; operations whole; and counts, among themselves and against a report.
"""

from wordline_replay.checker import Checker, check
from wordline_replay.command import main
from wordline_replay.log import COLUMNS, SCHEMA, USES, Unreadable

__all__ = ["COLUMNS", "SCHEMA", "USES", "Checker", "Unreadable", "check", "main"]
