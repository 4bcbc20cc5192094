"""The ``wordline`` command: the same tree as the native binary's."""

import signal
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # The engine does not return to the interpreter while it runs, so the system ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["check-log"]:
        # Apart from the engine, so that it can judge it.
        from wordline import replay

        sys.exit(replay.main(sys.argv[2:]))
    from wordline import _wordline

    sys.exit(_wordline.main(["wordline", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
