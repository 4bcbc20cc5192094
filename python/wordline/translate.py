"""A class of Python as the beginning of a file of Rust: what can be carried over, and a test."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wordline import spelling
from wordline._wordline import UserError
from wordline.commands import perform
from wordline.declared import Param
from wordline.scheme import Scheme

#: The hooks of the trait, each with its head and what it answers until it is translated.
_HOOKS = {
    "admit": ("&mut self, _request: &HostRequest, _view: &View) -> Tag", "Tag::default()"),
    "make_room": ("&mut self, _parcel: &Parcel, _view: &View, _out: &mut Vec<Move>)", ""),
    "split_write": ("&mut self, span: &Span, _view: &View) -> SectorMask", "span.mask"),
    "read": ("&mut self, _seen: &ReadSeen, _view: &View) -> Option<Move>", "None"),
    "collect": ("&mut self, _need: Need, _view: &View) -> Option<Collect>", "None"),
    "idle": ("&mut self, _plane: PlaneId, _view: &View) -> Option<IdleWork>", "None"),
    "tick": ("&mut self, _view: &View, _out: &mut Vec<Command>)", ""),
    "seed": ("&mut self, _seed: u64)", ""),
    "on_trim": ("&mut self, _lpn: Lpn)", ""),
    "metrics": ("&self) -> Metrics<'_>", "vec![]"),
}
#: What stands in heads of hooks, by the crate that has it.
_NAMES = {
    "wordline_flash": ("SlotClass",),
    "wordline_ftl": (
        "Collect", "Command", "DriveInfo", "Gather", "IdleWork", "Layout", "Metrics", "Move",
        "Need", "Parcel", "Place", "PlanePick", "PoolId", "ReadSeen", "Refusal", "RegionId",
        "Route", "Scheme", "Span", "Tag", "View",
    ),
    "wordline_units": ("Bytes", "HostRequest", "Lpn", "PlaneId", "SectorMask"),
}  # fmt: skip
#: Words that are no names of fields in Rust as they are.
_WORDS = {
    "as", "async", "await", "break", "const", "continue", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut",
    "pub", "ref", "return", "static", "struct", "trait", "true", "type", "unsafe", "use",
    "where", "while",
}  # fmt: skip
_TYPES = {bool: "bool", int: "i64", float: "f64", str: "String"}

_UNREAD = '#[expect(dead_code, reason = "until its hooks read them")]\n'

_RUST = """\
//! # {title}
//!
//! ## Source
//! The class {cls} of Python ({file}).
//!
//! ## Idea
{idea}
//!
//! ## Algorithm
//! 1. Every page goes to region D: to be translated, as all that has the class's source beside it.
//!
//! ## Symbols
//! D: the region that holds all data.
//!
//! ## Parameters
{parameters}
//!
//! ## Differs
//! Nothing from the class, once it is translated: test_{word}.py holds both to one result hash.
//!
//! ## Not modelled
//! Nothing that the class has.
//!
//! ## Checked by
//! test_{word}.py.

{imports}

const D: RegionId = RegionId(0);

pub(crate) const NAME: &str = {name};

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {{
    Entry::new(NAME, {about}, |{p}| {{
        {read}
    }})
    .docs(include_str!("{word}.rs")){takes}
}}

/// What a run of it knows.
{states}#[derive(Clone, Debug)]
{unread}struct {type}{fields}

#[wordline_ftl::hooks]
impl Scheme for {type} {{
    fn name(&self) -> &str {{
        NAME
    }}

{layout}    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {{
        let medium = layout::only_medium(drive, layout::refuser(NAME, drive))?;
        let mode = medium.densest();
        let one_shot = medium.mode(mode).is_some_and(|timing| timing.pages_per_program > 1);
        let d = layout::region(drive, "D", PoolId(0), mode, layout::rule(mode, one_shot));
        Ok(layout::one_region(medium, d))
    }}

{place}    fn place(&mut self, _: &Parcel, _: &View) -> Place {{
        let route = Route::to(D, SlotClass::Next); // (1)
        Place {{ gather: Gather::Fill, plane: PlanePick::Home, route }}
    }}
{hooks}}}
"""

_TEST = '''\
"""Is {name} in Rust the class {cls} of Python?"""

import sys

import pytest

sys.path.insert(0, {folder})

from {module} import {cls}

import wordline as wl


class InPython({cls}):
    """The class under a name of its own, since one registry has both."""

    name = "{name}-in-python"


@pytest.mark.parametrize("workload", ["uniform", "zipf:theta=0.99", "bursty"])
def test_both_come_to_one_result(workload):
    asked = {{"device": "fair-tlc", "workload": workload, "requests": 5000}}
    rust, python = (wl.run(scheme=s, **asked) for s in ("{name}", InPython))
    assert rust.result_hash == python.result_hash
'''


def translated(name: str, cls: type[Scheme]) -> dict[str, str]:
    """Return the files of a scheme in Rust that begins with a class of Python, by their names.

    Parameters
    ----------
    name
        What tables call it: small letters, digits and hyphens.
    cls
        The class.

    Returns
    -------
    dict of str to str
        A file for ``crates/schemes/src``, which compiles, and a test that both come to one result.
    """
    word, type_name = name.replace("-", "_"), "".join(w.capitalize() for w in name.split("-"))
    params = list(cls._params.values())
    hooks = "".join(_hook(cls, hook) for hook in _HOOKS if hasattr(cls, hook))
    if hasattr(cls, "routes"):
        beforehand = "\n    // What the class decides beforehand is for `place` to decide:\n"
        hooks += beforehand + _source(cls, "routes")
    doc = inspect.cleandoc(cls.__doc__ or "")
    title, *rest = doc.split("\n")
    file = Path(inspect.getsourcefile(cls) or "")
    rust = _RUST.format(
        title=name.replace("-", " ").capitalize(),
        cls=cls.__name__,
        file=file.name,
        idea=_comment("\n".join([title, *rest]).strip() or "What it is about.", "//! "),
        parameters="\n".join(map(_listed, params)) or "//! None.",
        word=word,
        imports=_imports(hooks, params),
        name=_text(name),
        about=_text(title.rstrip(".") or "what it does, in a line"),
        p="p" if params else "_",
        type=type_name,
        read=_made(type_name, params),
        takes="".join(f"\n    .takes({_parameter(p)})" for p in params),
        states=_learnt(cls),
        unread=_UNREAD if params else "",
        fields=_fields(params),
        layout=_source(cls, "layout"),
        place=_source(cls, "place"),
        hooks=hooks,
    )
    test = _TEST.format(
        name=name, cls=cls.__name__, folder=json.dumps(str(file.parent)), module=file.stem
    )
    return {f"{word}.rs": rust, f"test_{word}.py": test}


def _hook(cls: type[Scheme], hook: str) -> str:
    head, answer = _HOOKS[hook]
    body = f"\n        {answer}\n    " if answer else ""
    return f"\n{_source(cls, hook)}    fn {hook}({head} {{{body}}}\n"


def _source(cls: type[Scheme], method: str) -> str:
    """Return the source of a method as a comment of Rust."""
    text = textwrap.dedent(inspect.getsource(getattr(cls, method))).rstrip()
    return _comment(text, "    // ") + "\n"


def _comment(text: str, begin: str) -> str:
    return "\n".join((begin + line).rstrip() for line in text.split("\n"))


def _text(text: str) -> str:
    """Return a text as a literal of Rust."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _listed(p: Param[Any]) -> str:
    return f"//! - `{p.name}`: {p.meaning}; default {p.text(p.default)}."


def _parameter(p: Param[Any]) -> str:
    return f"Parameter::new({_text(p.name)}, {_text(p.text(p.default))}, {_text(p.meaning)})"


def _field(p: Param[Any]) -> str:
    return f"r#{p.name}" if p.name in _WORDS else p.name


def _made(type_name: str, params: list[Param[Any]]) -> str:
    """Return how the scheme is made of its parameters."""
    if not params:
        return f"Box::new({type_name})"
    taken = "".join(f"            {_field(p)}: p.take({_text(p.name)}),\n" for p in params)
    return f"Box::new({type_name} {{\n{taken}        }})"


def _fields(params: list[Param[Any]]) -> str:
    if not params:
        return ";"
    lines = [f"    /// {p.meaning}\n    {_field(p)}: {_type(p)}," for p in params]
    return " {\n" + "\n".join(lines) + "\n}"


def _type(p: Param[Any]) -> str:
    return "Bytes" if p.is_size else _TYPES[type(p.default)]


def _learnt(cls: type[Scheme]) -> str:
    """Return what a class learns, as a comment: each is a field of what `memory` gives."""
    states = [f"//   {name} = {state.default!r}" for name, state in cls._states.items()]
    if not states:
        return ""
    return "\n".join(["//", "// The class learns, which memory() is to name:", *states]) + "\n"


def _imports(hooks: str, params: list[Param[Any]]) -> str:
    code = "\n".join(
        re.sub(r"//.*", "", line) for line in (_RUST + _fields(params) + hooks).split("\n")
    )
    lines = ["use crate::parameters::Parameter;"] if params else []
    lines += ["use crate::parts::layout;", "use crate::registry::Entry;"]
    lines += [line for crate in _NAMES for line in _used(crate, code)]
    return "\n".join(lines)


def _used(crate: str, code: str) -> Iterator[str]:
    names = [n for n in _NAMES[crate] if re.search(rf"\b{n}\b", code)]
    if not names:
        return
    one = (
        f"use {crate}::{names[0]};" if len(names) == 1 else f"use {crate}::{{{', '.join(names)}}};"
    )
    if len(one) <= 110:
        yield one
        return
    wrapped = textwrap.wrap(", ".join(names) + ",", 106)
    yield f"use {crate}::{{\n" + "\n".join(f"    {line}" for line in wrapped) + "\n};"


def main(**arguments: Any) -> int:
    """Do ``wordline scheme new --rust --from``; return its exit code, as `commands.perform`."""
    return perform("scheme", (), lambda: _main(**arguments))


def _main(*, name: str, class_: str, out: str, force: bool) -> None:
    _, classes = spelling.resolved(class_)
    if len(classes) != 1 or ":" in class_.partition("#")[2] or "+" in class_.partition("#")[2]:
        raise UserError(
            f"--from {class_}: this is no class of Python alone\n"
            f"  allowed: {spelling.PREFIX}FILE#CLASS"
        )
    files = {Path(out) / file: text for file, text in translated(name, classes[0]).items()}
    for path in files:
        if path.exists() and not force:
            raise UserError(f"{path}: there is a file of that name; --force replaces it")
        if not path.parent.is_dir():
            raise UserError(f"{path}: cannot be written: is there such a folder?")
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    word = name.replace("-", "_")
    print(
        f"in crates/schemes/src it needs two words in lib.rs: mod {word}; and {word}::entry in "
        "SCHEMES\n"
        "each method of the class stands as a comment where it belongs; CONTRIBUTING.md has the "
        "way from there\n"
        f"test it  python -m pytest {Path(out) / f'test_{word}.py'}"
    )
