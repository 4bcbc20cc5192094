"""An open laboratory for hybrid-flash SSDs.

Examples
--------
>>> import wordline as wl
>>> r = wl.run(device="demo-8gb", scheme="slc-cache", workload="bursty", requests=10_000)
>>> r.waf.total, r.latency_us.write.p99
>>> c = wl.compare(device="demo-8gb", workload="bursty", schemes=["conventional", "slc-cache"])
>>> print(c)
"""

from importlib import import_module
from typing import Any

# Names stand in the stub, for type checkers and for this: ``from MODULE import NAME as NAME``.
with open(f"{__file__}i", encoding="utf-8") as _stub:
    _lines = [line.split() for line in _stub if line.startswith("from ")]
#: The module that defines each name, which is imported when the name is used.
_HOMES = {words[3]: words[1] for words in _lines}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Return a name of the package from the module that defines it, or that module."""
    if home := _HOMES.get(name):
        found = globals()[name] = getattr(import_module(home), name)
        return found
    if f"wordline.{name}" in _HOMES.values():
        return import_module(f"wordline.{name}")
    raise AttributeError(f"module 'wordline' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, for completion."""
    return sorted({*globals(), *__all__})
