"""``python -m wordline_replay``."""

import sys

from wordline_replay.command import main

sys.exit(main())
