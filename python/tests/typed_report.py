"""The types of a report's figures, `wordline/_parts.pyi`, from the schema of reports."""

import json
from keyword import iskeyword

from helpers import ROOT

STUB = ROOT / "python" / "wordline" / "_parts.pyi"
HEAD = '''"""The parts of a report for type checkers, made of its schema by ``test_types.py``.

What is ``None`` where nothing was measured is ``X | Any``: a type checker knows what it is
otherwise, and lets those use it who know that it was measured.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline._figures import Figures
'''
NUMBERS = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
SCHEMA = json.loads((ROOT / "crates/report/report.schema.json").read_text())
#: What `Report` has of its own.
OWN = ("latency_cdf", "timeline", "metrics", "replicas")


def typed(node):
    """Return the type of what a schema describes."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name not in SCHEMA["$defs"]:
            return "Any"
        return name if SCHEMA["$defs"][name].get("type") == "object" else "str"
    if "anyOf" in node:
        return typed(next(n for n in node["anyOf"] if n.get("type") != "null")) + " | Any"
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    missing = " | Any" if "null" in kinds else ""
    [kind] = [k for k in kinds if k != "null"] or ["any"]
    if kind in NUMBERS:
        return NUMBERS[kind] + missing
    if kind == "array":
        return listed(node.get("items", {}))
    return "Figures" if kind == "object" or kind == "any" else "Any"


def listed(items):
    """Return the type of a list: of numbers or of pairs of them an array."""
    inner = typed(items)
    if inner.split(" ")[0] in ("int", "float") or inner.startswith("NDArray"):
        return "NDArray[np.float64]"
    return "list[str]" if inner == "str" else "list[dict[str, Any]]"


def classes(name, base, node, left_out=()):
    """Give the lines of a class."""
    found = node.get("properties", {}).items()
    names = [(key, typed(n)) for key, n in found if key.isidentifier() and not iskeyword(key)]
    body = [f"    {key}: {kind}" for key, kind in names if key not in left_out]
    return [f"class {name}({base}):" if base else f"class {name}:", *body]


def stub():
    """Return the text of the stub."""
    schema = SCHEMA
    lines = []
    for name, node in sorted(schema["$defs"].items()):
        if node.get("type") == "object":
            lines += [*classes(name, "Figures", node), ""]
    lines += classes("Parts", "", schema, OWN)
    return HEAD + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
