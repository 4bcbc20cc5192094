"""Commands implemented in Python: their dependencies and exit codes."""

from __future__ import annotations

import errno
import functools
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from wordline import Fault, Refused, UserError, _wordline
from wordline.implausible import Implausible

#: Of everything that runs grids and draws.
SWEEP = ("rich", "matplotlib", "pyarrow", "markdown_it")
#: Packages whose modules have another name.
_PACKAGES = {"markdown_it": "markdown-it-py"}
#: What an error of standard output has for the name of its file.
STANDARD_OUTPUT = "standard output"
#: The group of entry points that provide commands: each a function that takes the arguments of the
#: command as keywords and returns its exit code.
GROUP = "wordline.commands"


def provided(name: str) -> Callable[..., int] | None:
    """Return the function that an installed package provides for a command, if one does."""
    from importlib.metadata import entry_points

    found = next(iter(entry_points(group=GROUP, name=name)), None)
    return None if found is None else found.load()


def perform(
    name: str, modules: Sequence[str], work: Callable[[], int | None], *, extra: str | None = None
) -> int:
    """Execute a command after checking that its modules are installed.

    By default the extra has the name of the command. Returns the exit code: what the work returns,
    or 0; 2 where the input is wrong; 1 after a fault, a refusal or a file error, each printed on
    standard error.
    """
    try:
        need(name, modules, extra)
        with warnings.catch_warnings():
            warnings.showwarning = _showing(warnings.showwarning)
            with _named_output():
                return work() or 0
    except UserError as e:
        show(e)
        return 2
    except ImportError as e:
        if (e.name or "").partition(".")[0] not in modules:
            raise
        show(_missing(name, [e.name or ""], extra))
        return 2
    except KeyboardInterrupt:
        # The command line says what is kept.
        return 130
    except BrokenPipeError:
        # Nobody reads standard output any more; nor may the interpreter flush it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Fault, Refused, OSError) as e:
        show(e)
        if getattr(e, "filename", None) == STANDARD_OUTPUT:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Give an error of a write the name of its file, which a full disk's lacks."""
    try:
        yield
    except OSError as e:
        if e.filename is None:
            e.filename = str(path)
        raise


class _Output:
    """Standard output, which an error names."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with naming(STANDARD_OUTPUT):
            return int(self._file.write(text))

    def flush(self) -> None:
        with naming(STANDARD_OUTPUT):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def _named_output() -> Iterator[None]:
    """Have errors of standard output name it, and not be taken for those of a file."""
    before = sys.stdout
    sys.stdout = _Output(before)
    try:
        yield
        # What is still held back fails here, and not when the interpreter ends.
        sys.stdout.flush()
    finally:
        sys.stdout = before


def command(
    name: str, modules: Sequence[str], *, extra: str | None = None
) -> Callable[[Callable[..., int | None]], Callable[..., int]]:
    """Return a decorator by which a function does a command, as `perform`, and returns its code."""

    def decorated(work: Callable[..., int | None]) -> Callable[..., int]:
        @functools.wraps(work)
        def main(**arguments: Any) -> int:
            return perform(name, modules, lambda: work(**arguments), extra=extra)

        return main

    return decorated


def _showing(otherwise: Callable[..., object]) -> Callable[..., None]:
    """Return a function that shows each warning of a device once, as the command line does."""
    told = set()

    def shown(message: Warning | str, category: type[Warning], *where: Any, **also: Any) -> None:
        if issubclass(category, Implausible):
            if str(message) not in told:
                told.add(str(message))
                tell(f"warning: {message}")
        else:
            otherwise(message, category, *where, **also)

    return shown


def tell(text: str) -> None:
    """Print a line of progress on standard error."""
    # At once, so that lines of several threads stay whole.
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def need_folder(path: Path) -> None:
    """Raise `OSError` where a folder cannot be made or written to, before any work for it."""
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))


def settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of `--set KEY=VALUE`, in their order."""
    return dict(pair.partition("=")[::2] for pair in given)


def show(error: Exception) -> None:
    """Print an error of a command on standard error, as the command line prints all of them."""
    _wordline.show_error(["wordline", *sys.argv[1:]], message(error))


def message(error: Exception) -> str:
    """Return an error message with options spelled as on the command line."""
    if isinstance(error, OSError) and error.strerror:
        # Without "[Errno 28]"; an error of a write has no file name, and --out has the folder.
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        out = next((value for option, value in pairwise(sys.argv) if option == "--out"), "")
        place = error.filename or (out if is_full else "")
        if place == STANDARD_OUTPUT:
            return f"{place} cannot be written: {error.strerror}"
        return f"{place}: {error.strerror}" if place else error.strerror
    return getattr(error, "on_command_line", str(error))


def installs(extra: str, modules: Sequence[str]) -> str:
    """Return the commands that install modules for this interpreter, or an extra with them.

    The package is not on PyPI: the first command does not build it again.
    """
    more = ["tomli"] if sys.version_info < (3, 11) and "rich" in modules else []
    packages = [_PACKAGES.get(module, module) for module in [*modules, *more]]
    alone = shlex.join([sys.executable, "-m", "pip", "install", *packages])
    return (
        f"{alone}\n  or, with the package: pip install '.[{extra}]' in a clone of Wordline, or "
        f"pip install 'WHEEL[{extra}]' with the path of its wheel"
    )


def need(name: str, modules: Sequence[str], extra: str | None = None) -> None:
    """Raise an error for a missing package that says how to install it.

    None of them is imported: a command imports what its arguments need, where it needs it.
    Raises `UserError`: a module is not installed.
    """
    if missing := [module for module in modules if not _is_installed(module)]:
        raise _missing(name, missing, extra)


def _missing(name: str, modules: Sequence[str], extra: str | None) -> UserError:
    said = f"{', '.join(modules)}, which {'is' if len(modules) == 1 else 'are'} not installed"
    return UserError(f"{name} needs {said}\n  install: {installs(extra or name, modules)}")


def _is_installed(module: str) -> bool:
    try:
        return (sys.modules[module] if module in sys.modules else find_spec(module)) is not None
    except ImportError:
        return False
