"""How schemes in Python are spelled, ``py:FILE#CLASS[:key=value,...]``, and what is behind that."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from wordline import _wordline, scheme_files, scheme_source
from wordline._wordline import UserError
from wordline.scheme import Scheme

#: How a spelling begins that names a file of Python.
PREFIX = "py:"


@cache
def _loaded(file: str) -> Any:
    path = Path(file)
    if not path.is_file():
        raise UserError(f"{PREFIX}{file}: no such file")
    if path.suffix != ".py":
        raise UserError(f"{PREFIX}{file}: not a Python file; its name must end in .py")
    _loading.append(file)
    try:
        return scheme_files.load(path)
    except ImportError as e:
        raise UserError(
            f"{PREFIX}{file} cannot be loaded: {type(e).__name__}: {e}\n"
            f"  allowed: imports of what is installed, and of files in {path.resolve().parent}"
        ) from e
    except SyntaxError as e:
        where = f"{e.filename or file}:{e.lineno}"
        line = f"\n    {e.text.strip()}" if e.text else ""
        raise UserError(f"{PREFIX}{file} cannot be loaded: {where}: {e.msg}{line}") from e
    except (Exception, SystemExit) as e:
        what = str(e) if isinstance(e, UserError) else f"{type(e).__name__}: {e}"
        raise UserError(f"{PREFIX}{file} cannot be loaded: {_raised_at(e, path)}: {what}") from e
    finally:
        _loading.pop()


def _raised_at(e: BaseException, path: Path) -> str:
    """Return where a file stood when its loading failed: ``/home/me/mine.py:9``."""
    own = [at for at in traceback.extract_tb(e.__traceback__) if at.filename == str(path.resolve())]
    return f"{path.resolve()}:{own[-1].lineno}" if own else str(path.resolve())


def deciding() -> dict[int, str]:
    """Return the threads that are in a file of classes, and where each is: ``mine.py:9, place``."""
    found = {}
    for thread, frame in sys._current_frames().items():
        at: FrameType | None = frame
        while at is not None:
            if str(at.f_globals.get("__name__")).startswith(scheme_files.MODULE):
                file = Path(at.f_code.co_filename).name
                found[thread] = f"{at.f_code.co_name}() at {file}:{at.f_lineno}"
                break
            at = at.f_back
    return found


def loading() -> str | None:
    """Return the file of classes that is being loaded, whose runs nobody has asked for."""
    return _loading[-1] if _loading else None


#: Classes of this process, by file and name: a script is not read again to find its own.
_HERE: dict[str, type[Scheme]] = {}
#: How classes were spelled by whom they were loaded for.
_TYPED: dict[type[Scheme], str] = {}
#: Files that are being loaded. What they run begins no processes, which would load them, too.
_loading: list[str] = []


def text(given: Any) -> str:
    """Return the text that stands for a scheme: a spelling, or ``py:FILE#CLASS`` of a class.

    Raises `UserError`: it is no spelling, and no class or instance of `Scheme`; or an instance has
    what its parameters do not say.
    """
    if isinstance(given, str):
        return given
    cls = given if isinstance(given, type) else type(given)
    if not issubclass(cls, Scheme):
        raise UserError(
            f"{given!r} is not a scheme: pass a spelling, or a class or instance of Scheme"
        )
    own = None if given is cls else given._set_apart()
    if (apart := f"{cls.__name__}.{own}" if own else scheme_source.changed(cls)) is not None:
        raise UserError(
            f"{apart} is set apart from source and parameters, and would be lost: runs create a "
            "new scheme\n  allowed: what a wl.Param of the class declares, given by name"
        )
    known = f"{scheme_source.file_of(cls)}#{cls.__name__}"
    _HERE[known] = cls
    parameters = "" if given is cls else given.spelling.partition(":")[2]
    return f"{PREFIX}{known}" + (f":{parameters}" if parameters else "")


def over(front: Any, dense: Any) -> str:
    """Return the spelling of one scheme over another, which manages the dense region of the first.

    Parameters
    ----------
    front, dense
        Spellings, or classes or instances of `Scheme`; the result is ``FRONT+DENSE``.

    Raises
    ------
    UserError
        One of them is no scheme.

    Examples
    --------
    >>> wl.run(device="fair-tlc", scheme=wl.over("slc-cache", Mine(k=2)), workload="bursty")
    """
    return f"{text(front)}+{text(dense)}"


def typed(cls: type[Scheme]) -> str:
    """Return how a command line names a class: ``py:FILE#CLASS``.

    As it was typed, or else by its whole path. Where no other process could find it there, since it
    was typed into an interpreter or a notebook, or defined in a function, the file is left out.
    """
    as_given = _TYPED.get(cls)
    if as_given and Path(_file_of(as_given)).is_file():
        return as_given
    whole = text(cls)
    top = cls.__qualname__ == cls.__name__
    found = getattr(sys.modules.get(cls.__module__), cls.__name__, None)
    there = top and found is cls and Path(_file_of(whole)).is_file()
    return whole if there else f"{PREFIX}#{cls.__name__}"


def shown(spelling: str) -> str:
    """Return a spelling as tables have it: each class of this process as `typed`."""

    def named(part: str) -> str:
        known, colon, parameters = part.removeprefix(PREFIX).partition(":")
        cls = _HERE.get(known) if part.startswith(PREFIX) else None
        return typed(cls) + colon + parameters if cls else part

    return "+".join(map(named, parts(spelling)))


def about(cls: type[Scheme]) -> dict[str, Any]:
    """Return what the native half knows of a class, and how a command line names it."""
    return {**cls._about(), "typed": typed(cls)}


def _file_of(given: str) -> str:
    return given.removeprefix(PREFIX).partition("#")[0]


#: A plus may be in the path of a file, so the parts of a combination are found by what follows it.
_PARTS = re.compile(r"\+(?=py:|[a-z][a-z0-9-]*(?:[:+]|$))")


def parts(spelling: str) -> list[str]:
    """Return the parts of a combination, the front first; of another scheme itself."""
    return _PARTS.split(spelling)


def resolved(spelling: str) -> tuple[str, list[type[Scheme]]]:
    """Return a spelling as the native half has it, and the classes of Python that it needs.

    Each part may be ``py:FILE#CLASS[:key=value,...]``.
    Raises `UserError`: no such file or class.
    """
    if PREFIX not in spelling:
        _refuse_file(spelling)
        return spelling, []
    native, classes = [], dict[type[Scheme], None]()
    for part in parts(spelling):
        name = part
        if part.startswith(PREFIX):
            file, _, own = part.removeprefix(PREFIX).partition("#")
            wanted, colon, parameters = own.partition(":")
            found = _class(part, file, wanted)
            classes[found] = None
            name = found._name() + (colon + parameters if parameters else "")
        native.append(name)
    return "+".join(native), list(classes)


def all_resolved(schemes: Iterable[Any]) -> tuple[list[str], list[type[Scheme]]]:
    """Return `resolved` of several schemes, each as `text` takes it, with their classes once."""
    found = [resolved(text(scheme)) for scheme in schemes]
    classes = dict.fromkeys(c for _, of in found for c in of)
    return [name for name, _ in found], list(classes)


def without_parameter(schemes: Iterable[str], keys: Iterable[str]) -> dict[str, list[str]]:
    """Return by key ``scheme.KEY`` the schemes without that parameter, if another has it.

    They run without it. A key that no scheme has is left to the engine, which refuses it.
    """
    schemes, found = list(schemes), {}
    for key in keys:
        section, _, parameter = key.partition(".")
        if section != "scheme":
            continue
        lacking = [scheme for scheme in schemes if parameter not in _parameters(scheme)]
        if 0 < len(lacking) < len(schemes):
            found[key] = lacking
    return found


def lines_of_lacking(lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what `without_parameter` has found in words, a line for each key."""
    lines = []
    for key, names in lacking.items():
        has, runs = ("has", "runs") if len(names) == 1 else ("have", "run")
        lines.append(f"{key}: {', '.join(names)} {has} no such parameter and {runs} without it")
    return lines


def _parameters(scheme: str) -> list[str]:
    """Return the parameters of a scheme; none of one that its run will refuse."""
    try:
        return _wordline.parameters(*resolved(scheme))
    except UserError:
        return []


def files(spelling: str) -> list[str]:
    """Return the files of the classes of Python that a spelling names."""
    own = (part for part in parts(spelling) if part.startswith(PREFIX))
    return [file for part in own if (file := _file_of(part.partition(":")[2]))]


def with_files(spelling: str, names: Mapping[str, str]) -> str:
    """Return a spelling with other names for files of classes."""

    def named(part: str) -> str:
        file, hash_, rest = part.removeprefix(PREFIX).partition("#")
        return f"{PREFIX}{names.get(file, file)}{hash_}{rest}"

    return "+".join(named(p) if p.startswith(PREFIX) else p for p in parts(spelling))


def of_classes(spelling: str, classes: Sequence[type[Scheme]]) -> str:
    """Return the spelling that `resolved` makes a spelling of the native half of."""
    named = {cls._name(): typed(cls) for cls in classes}
    split = [part.partition(":") for part in parts(spelling)]
    return "+".join(named.get(name, name) + colon + rest for name, colon, rest in split)


def _class(part: str, file: str, wanted: str) -> type[Scheme]:
    """Return the class that a part of a spelling names."""
    if known := _HERE.get(f"{file}#{wanted}"):
        return known
    if not file:
        raise UserError(
            f"{part}: no file has this class: it was defined in an interpreter, a notebook or a "
            f"function\n  allowed: {PREFIX}FILE#CLASS, with the class at the top "
            "level of a file"
        )
    classes = {
        n: c
        for n, c in vars(_loaded(file)).items()
        if isinstance(c, type) and issubclass(c, Scheme)
    }
    there = _own_classes(file)
    if not wanted and len(there) == 1:
        (wanted,) = there
    if found := classes.get(wanted):
        _TYPED.setdefault(found, f"{PREFIX}{file}#{wanted}")
        return found
    wrong = f"{file} has no scheme {wanted!r}" if wanted else "no class is named"
    raise UserError(
        f"{part}: {wrong}; use {PREFIX}{file}#CLASS with one of {', '.join(there) or 'none'}"
    )


def _own_classes(file: str) -> list[str]:
    """Return the names of the schemes that a file defines; raises `UserError` as `_loaded`."""
    module = _loaded(file)
    own = {n: c for n, c in vars(module).items() if getattr(c, "__module__", "") == module.__name__}
    return [n for n, c in own.items() if isinstance(c, type) and issubclass(c, Scheme)]


def _refuse_file(spelling: str) -> None:
    """Raise `UserError` for a file of Python that is named without the prefix."""
    for part in spelling.split(","):
        file = part.partition("#")[0]
        if file.endswith(".py") and Path(file).is_file():
            there = [f"{PREFIX}{file}#{name}" for name in _own_classes(file)]
            raise UserError(
                f"{part}: a file of Python is no scheme\n"
                f"  allowed: {', '.join(there) or f'{PREFIX}FILE#CLASS, with a class of the file'}"
            )


def check_sources(
    report: Mapping[str, Any], classes: Sequence[type[Scheme]], *, all_given: bool = True
) -> None:
    """Refuse to run a report again without the classes of Python that it is of, as they were.

    Raises `UserError`: a class is missing, if all must be given, or its source has changed.
    """
    spelling = report["config"]["scheme"]["spelling"]
    parameters = report["config"]["scheme"]["parameters"]
    names = [part.split(":")[0] for part in parts(spelling)]
    given = {c._name(): c for c in classes}
    for name in names:
        was = parameters.get("source" if len(names) == 1 else f"{name}.source")
        if was is None or not (all_given or name in given):
            continue
        if name not in given:
            raise UserError(
                f"the report is of the scheme {name}, a Python class; pass it with classes=[...]"
            )
        own = scheme_source.source(given[name])[1][:16]
        if own != was:
            raise UserError(
                f"the source of {given[name].__name__} has changed since the report: its hash was "
                f"{was} and is {own}"
            )


def of_report(report: Mapping[str, Any]) -> list[type[Scheme]]:
    """Return the classes of Python that a report is of, of those that this interpreter knows.

    Raises `UserError`: one is missing, or its source has changed.
    """
    known: dict[str, type[Scheme]] = {}
    found = Scheme.__subclasses__()
    while found:
        below, found = found, [c for cls in found for c in cls.__subclasses__()]
        known |= {c._name(): c for c in below if not inspect.isabstract(c)}
    names = (part.split(":")[0] for part in parts(report["config"]["scheme"]["spelling"]))
    classes = [known[name] for name in names if name in known]
    check_sources(report, classes)
    return classes


#: Commands that are done in Python, and take spellings as they are.
_IN_PYTHON = ("sweep", "atlas", "reproduce", "model")
#: Options behind which a class of Python may stand.
_TAKES_CLASSES = ("--scheme", "--class")
#: What begins another scheme behind a comma; a parameter or a part of a path does not.
_NEXT = re.compile(r",(?=py:|[A-Za-z0-9-]+(?:[:+,]|$))")


def in_arguments(arguments: list[str]) -> tuple[list[str], list[type[Scheme]]]:
    """Return arguments of the command line with classes of Python as the native half names them.

    Raises `UserError`: no such file or class.
    """
    if len(arguments) > 1 and arguments[1] in _IN_PYTHON:
        return arguments, []
    if arguments[1:2] == ["lifetime"] and any(a.partition("=")[0] == "--on" for a in arguments):
        return arguments, []
    found: list[str] = []
    classes: dict[type[Scheme], None] = {}
    for argument in arguments:
        option, equals, given = argument.partition("=")
        head = option + equals if option in _TAKES_CLASSES and equals else ""
        given = argument.removeprefix(head)
        is_explained = arguments[1] == "explain" and argument.startswith(PREFIX)
        if head or is_explained or (found and found[-1] in _TAKES_CLASSES):
            names, own = all_resolved(_NEXT.split(given))
            given = ",".join(names)
            classes.update(dict.fromkeys(own))
        found.append(head + given)
    return found, list(classes)
