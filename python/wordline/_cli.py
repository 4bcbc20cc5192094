"""The ``wordline`` command: the same tree as the native binary's."""

import os
import sys
import time

#: Seconds after a signal in which a scheme in Python answers, before it is interrupted.
_GRACE_S = 1.0


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
        import wordline_replay

        return wordline_replay.main(sys.argv[2:])
    from wordline import _wordline

    arguments = ["wordline", *sys.argv[1:]]
    try:
        if any(".py" in given for given in arguments):
            # The engine has classes of Python looked up only where it finds their prefix.
            from wordline import spelling

            classes = spelling.in_arguments(arguments)[1]
            if classes and arguments[1] in ("rerun", "why"):
                from wordline._rerun import check_arguments

                check_arguments(arguments, classes)
            if any("py:" in given for given in arguments):
                _listen()
        return _wordline.main(arguments) or _after(arguments)
    except _wordline.UserError as e:
        _wordline.show_error(arguments, str(e))
        return 2


def _after(arguments: list[str]) -> int:
    """Return the exit code of a command whose runs ended well: 1 if a scheme failed after one."""
    from wordline import _wordline

    runner = sys.modules.get("wordline.subprocess_runner")
    if runner is None or not runner.shown:
        return 0
    name = getattr(runner.shown[0], "of_scheme", None)
    last = str(runner.shown[0])
    said = f"scheme {name}: {last}" if name else last
    said += "\n  the results above are complete, but for the metrics of the scheme"
    _wordline.show_error(arguments, said)
    return 1


def _listen() -> None:
    """Interrupt a scheme in Python that does not return after a signal.

    The engine stops between requests, and would wait for it.
    """
    import signal
    from threading import Thread

    begin, end = os.pipe()
    os.set_blocking(end, False)
    # The engine handles both signals; Python notes them where it has a handler.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    Thread(target=_interrupt, args=(begin,), daemon=True).start()


def _interrupt(signals: int) -> None:
    import ctypes

    from wordline import spelling
    from wordline.commands import tell

    os.read(signals, 1)
    pause = _GRACE_S
    while True:
        time.sleep(pause)
        for thread, hook in spelling.deciding().items():
            if pause == _GRACE_S:
                tell(f"{hook} has not returned since the signal, and is interrupted")
            # The engine may call others before it stops.
            pause = _GRACE_S / 20
            of, error = ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(of, error)


if __name__ == "__main__":
    main()
