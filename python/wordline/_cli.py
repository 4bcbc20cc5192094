"""The ``wordline`` command: the same tree as the native binary's."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = _command()
    except KeyboardInterrupt:
        # The engine has told what is kept; the interpreter hears of the signal afterwards.
        code = 130
    sys.exit(code)


def _command() -> int:
    if sys.argv[1:2] == ["check-log"]:
        # Apart from the engine, so that it can judge it.
        from wordline import replay

        return replay.main(sys.argv[2:])
    from wordline import _wordline

    arguments = ["wordline", *sys.argv[1:]]
    try:
        if any(".py" in given for given in arguments):
            # The engine has classes of Python looked up only where it finds their prefix.
            from wordline import spelling

            spelling.in_arguments(arguments)
        return _wordline.main(arguments)
    except _wordline.UserError as e:
        _wordline.show_error(arguments, str(e))
        return 2


if __name__ == "__main__":
    main()
