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
    from wordline._api import compare as compare
    from wordline._api import identity as identity
    from wordline._api import lifetime as lifetime
    from wordline._api import run as run
    from wordline._api import sweep as sweep
    from wordline._figures import Estimate as Estimate
    from wordline._figures import Estimates as Estimates
    from wordline._figures import Figures as Figures
    from wordline._figures import Replicas as Replicas
    from wordline._listing import Entry as Entry
    from wordline._listing import devices as devices
    from wordline._listing import explain as explain
    from wordline._listing import formats as formats
    from wordline._listing import inspect as inspect
    from wordline._listing import schemes as schemes
    from wordline._listing import workloads as workloads
    from wordline._rerun import load as load
    from wordline._rerun import rerun as rerun
    from wordline._rerun import why as why
    from wordline._result import Comparison as Comparison
    from wordline._result import Figure as Figure
    from wordline._result import Lifetimes as Lifetimes
    from wordline._result import Report as Report
    from wordline._run import Run as Run
    from wordline._table import Table as Table
    from wordline._wordline import Fault as Fault
    from wordline._wordline import Geometry as Geometry
    from wordline._wordline import Parcel as Parcel
    from wordline._wordline import Place as Place
    from wordline._wordline import Refused as Refused
    from wordline._wordline import UserError as UserError
    from wordline._wordline import View as View
    from wordline._wordline import __version__ as __version__
    from wordline.drive import Completion as Completion
    from wordline.drive import Drive as Drive
    from wordline.drive import Feed as Feed
    from wordline.layout import DriveInfo as DriveInfo
    from wordline.layout import Layout as Layout
    from wordline.layout import Overlay as Overlay
    from wordline.layout import Pool as Pool
    from wordline.layout import Region as Region
    from wordline.parameters import GiB as GiB
    from wordline.parameters import KiB as KiB
    from wordline.parameters import MiB as MiB
    from wordline.parameters import Param as Param
    from wordline.parameters import State as State
    from wordline.parts import Span as Span
    from wordline.parts import into_buffer as into_buffer
    from wordline.parts import sectors as sectors
    from wordline.random_drives import check as check
    from wordline.routes import ByPage as ByPage
    from wordline.routes import BySize as BySize
    from wordline.routes import Compiled as Compiled
    from wordline.scheme import Collect as Collect
    from wordline.scheme import Move as Move
    from wordline.scheme import ReadSeen as ReadSeen
    from wordline.scheme import Request as Request
    from wordline.scheme import Scheme as Scheme
    from wordline.scheme import SetQuota as SetQuota
    from wordline.scheme import to as to
    from wordline.search import judge as judge
    from wordline.search import tune as tune
    from wordline.spelling import over as over

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

__all__ = sorted(name for names in _HOMES.values() for name in names.split())


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
