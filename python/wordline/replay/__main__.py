"""``python -m wordline.replay``."""

import sys

from wordline.replay.command import main

sys.exit(main())
