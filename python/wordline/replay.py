"""Check an operation log by the rules of flash: `wordline_replay`, which shares nothing with this.

``python -m wordline.replay FILE`` is ``wordline check-log FILE``.
"""

import sys

from wordline_replay import COLUMNS, SCHEMA, USES, Checker, Unreadable, check, main

__all__ = ["COLUMNS", "SCHEMA", "USES", "Checker", "Unreadable", "check", "main"]

if __name__ == "__main__":
    sys.exit(main())
