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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordline._api import compare, identity, lifetime, run, sweep
    from wordline._figures import Estimate, Estimates, Figures, Replicas
    from wordline._listing import Entry, devices, explain, formats, inspect, schemes, workloads
    from wordline._rerun import load, rerun, why
    from wordline._result import Comparison, Figure, Lifetimes, Report
    from wordline._run import Run
    from wordline._table import Table
    from wordline._wordline import (
        Fault,
        Geometry,
        Parcel,
        Place,
        Refused,
        UserError,
        View,
        __version__,
    )
    from wordline.drive import Completion, Drive, Feed
    from wordline.layout import DriveInfo, Layout, Overlay, Pool, Region
    from wordline.parameters import GiB, KiB, MiB, Param, State
    from wordline.parts import Span, into_buffer, sectors
    from wordline.random_drives import check
    from wordline.routes import ByPage, BySize, Compiled
    from wordline.scheme import Collect, Move, ReadSeen, Request, Scheme, SetQuota, to
    from wordline.search import judge, tune
    from wordline.spelling import over

#: The names of the package by the module that defines them, which is imported when one is used.
_HOMES = {
    "_api": "compare identity lifetime run sweep",
    "_figures": "Estimate Estimates Figures Replicas",
    "_listing": "Entry devices explain formats inspect schemes workloads",
    "_rerun": "load rerun why",
    "_result": "Comparison Figure Lifetimes Report",
    "_run": "Run",
    "_table": "Table",
    "_wordline": "Fault Geometry Parcel Place Refused UserError View __version__",
    "drive": "Completion Drive Feed",
    "layout": "DriveInfo Layout Overlay Pool Region",
    "parameters": "GiB KiB MiB Param State",
    "parts": "Span into_buffer sectors",
    "random_drives": "check",
    "routes": "ByPage BySize Compiled",
    "scheme": "Collect Move ReadSeen Request Scheme SetQuota to",
    "search": "judge tune",
    "spelling": "over",
}

__all__ = [
    "ByPage",
    "BySize",
    "Collect",
    "Comparison",
    "Compiled",
    "Completion",
    "Drive",
    "DriveInfo",
    "Entry",
    "Estimate",
    "Estimates",
    "Fault",
    "Feed",
    "Figure",
    "Figures",
    "Geometry",
    "GiB",
    "KiB",
    "Layout",
    "Lifetimes",
    "MiB",
    "Move",
    "Overlay",
    "Param",
    "Parcel",
    "Place",
    "Pool",
    "ReadSeen",
    "Refused",
    "Region",
    "Replicas",
    "Report",
    "Request",
    "Run",
    "Scheme",
    "SetQuota",
    "Span",
    "State",
    "Table",
    "UserError",
    "View",
    "__version__",
    "check",
    "compare",
    "devices",
    "explain",
    "formats",
    "identity",
    "inspect",
    "into_buffer",
    "judge",
    "lifetime",
    "load",
    "over",
    "rerun",
    "run",
    "schemes",
    "sectors",
    "sweep",
    "to",
    "tune",
    "why",
    "workloads",
]


def __getattr__(name: str) -> Any:
    """Return a name of the package from the module that defines it, or that module."""
    for module, names in _HOMES.items():
        if name == module:
            return import_module(f"wordline.{module}")
        if name in names.split():
            found = globals()[name] = getattr(import_module(f"wordline.{module}"), name)
            return found
    raise AttributeError(f"module 'wordline' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, for completion."""
    return sorted({*globals(), *__all__})
