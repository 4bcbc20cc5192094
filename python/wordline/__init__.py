"""An open laboratory for hybrid-flash SSDs.

Examples
--------
>>> import wordline as wl
>>> r = wl.run(device="demo-8gb", scheme="slc-cache", workload="bursty", requests=10_000)
>>> r.waf.total, r.latency_us.write.p99
>>> c = wl.compare(device="demo-8gb", workload="bursty", schemes=["conventional", "slc-cache"])
>>> print(c)
"""

from wordline._api import (
    Entry,
    compare,
    devices,
    formats,
    identity,
    inspect,
    lifetime,
    load,
    rerun,
    run,
    schemes,
    sweep,
    why,
    workloads,
)
from wordline._result import (
    Comparison,
    Estimate,
    Estimates,
    Figure,
    Figures,
    Lifetimes,
    Replicas,
    Report,
)
from wordline._run import Run
from wordline._table import Table
from wordline._wordline import Fault, Refused, UserError, __version__
from wordline.drive import Completion, Drive
from wordline.scheme import (
    Collect,
    DriveInfo,
    GiB,
    KiB,
    Layout,
    MiB,
    Move,
    Param,
    Parcel,
    Place,
    Pool,
    ReadSeen,
    Region,
    Request,
    Scheme,
    SetQuota,
    State,
    View,
    check,
    to,
)

__all__ = [
    "Collect",
    "Comparison",
    "Completion",
    "Drive",
    "DriveInfo",
    "Entry",
    "Estimate",
    "Estimates",
    "Fault",
    "Figure",
    "Figures",
    "GiB",
    "KiB",
    "Layout",
    "Lifetimes",
    "MiB",
    "Move",
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
    "State",
    "Table",
    "UserError",
    "View",
    "__version__",
    "check",
    "compare",
    "devices",
    "formats",
    "identity",
    "inspect",
    "lifetime",
    "load",
    "rerun",
    "run",
    "schemes",
    "sweep",
    "to",
    "why",
    "workloads",
]
