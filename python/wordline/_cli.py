"""The ``wordline`` command: the same tree as the native binary's."""

import signal
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # The engine does not return to the interpreter while it runs, so the system ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from wordline import _wordline

    sys.exit(_wordline.main(["wordline", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
