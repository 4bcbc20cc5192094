"""Search the parameters of schemes, judge what is found, and write the table of docs/tuning.md.

The same method and budget for all: 200 trials on four workloads with three seeds each; judged on
four other workloads with five other seeds. ``python docs/tuning.py FOLDER`` keeps its runs in
FOLDER and takes some five minutes on two cores.
"""

import sys
from pathlib import Path

import wordline as wl

SEEN = [f"twin:{name}:closed=8" for name in ("hm_0", "prxy_0", "stg_0", "usr_0")]
UNSEEN = [f"twin:{name}:closed=8" for name in ("prn_0", "rsrch_0", "wdev_0", "ts_0")]
HOW = {"requests": 20_000, "fit": "wrap", "initial": "fill:80%,valid=80%"}
WORN = {
    "set": {"errors.model": "raro"},
    "initial": "fill:80%,valid=80%+pe:qlc=900,tlc=2700,slc=90000+retention:30d",
}
WRITES, READS = "latency_us.write.mean", "latency_us.read.mean"
#: Of each scheme the drive, what is to become smaller, the space, and what else the runs take.
STUDIES = {
    "hierarchy": ("fair-tlc", WRITES, {
        "static_blocks": (4, 48), "division": ["block", "page"], "window": (64, 8192, "log"),
        "runs": ["one", "any"],
    }, {}),
    "sector": ("fair-tlc", WRITES, {"static_blocks": (4, 48)}, {}),
    "raro": ("fair-qlc", READS, {
        "warm": (1, 16), "hot": (17, 64), "r1": (0, 6), "heat": ["physical", "logical"],
    }, WORN),
    "hyssd": ("fair-pair", WRITES, {
        "policy": ["perf", "life"], "period": (1024, 262144, "log"),
        "step": ["1%", "2%", "5%", "10%"], "age": (1, 20),
    }, {}),
    "ips": ("fair-tlc", WRITES, {"window": (1, 16), "layers": [1, 2]}, {}),
    "turbo-write": ("fair-tlc", WRITES, {
        "static_blocks": (4, 48), "idle_after": ["1us", "10us", "100us", "1ms", "10ms"],
    }, {}),
    "pa-ssd": ("fair-tlc", WRITES, {
        "specifier": ["US", "HGS", "LFS", "SBS", "QDS", "UBS", "QDS+UBS", "SBS+UBS", "QDS+SBS"],
        "queue": (0, 32), "alternates": ["slow-first", "fast-first"],
    }, {}),
    "slc-cache": ("fair-tlc", WRITES, {"static_blocks": (4, 48)}, {}),
    "hot-cold": ("fair-tlc", WRITES, {"hot": [f"{share}%" for share in range(5, 55, 5)]}, {}),
}  # fmt: skip


def row(name: str, folder: Path) -> str:
    """Search, judge, and return the row of a scheme."""
    device, objective, space, more = STUDIES[name]
    how = {"device": device, "objectives": [objective], **HOW, **more}
    out = folder / name
    tuned = wl.tune(name, workloads=SEEN, space=space, trials=200, seeds=3, out=out, **how)
    best = tuned.best
    judged = wl.judge(best.scheme, against=name, workloads=UNSEEN, timeout_s=3600, **how)
    if judged["verdict"] != "sound":
        raise SystemExit(f"{best.scheme} is {judged['verdict']}: {judged['why']}")
    found = judged["overall"][objective]
    interval = f"{found['ratio']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
    sure = "better" if found["high"] < 1 else "worse" if found["low"] > 1 else "not told apart"
    kind = "reads" if objective == READS else "writes"
    return (
        f"| `{name}` | {device} | {kind} | `{best.scheme.partition(':')[2]}` | {best.costs[0]:.3f} "
        f"| {interval} | {sure} |"
    )


if __name__ == "__main__":
    head = "| scheme | drive | mean latency of | found | seen | not seen | verdict |"
    rows = [head, "|---|---|---|---|---|---|---|"]
    for scheme in STUDIES:
        rows.append(row(scheme, Path(sys.argv[1])))
        print(rows[-1], flush=True)
    page = Path(__file__).with_suffix(".md")
    before, _, rest = page.read_text().partition(rows[0])
    after = rest[rest.index("\n\n") :]
    page.write_text(before + "\n".join(rows) + after)
