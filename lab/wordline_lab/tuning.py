"""Search the parameters of schemes, judge the results, and write them where they are shown.

``python -m wordline_lab.tuning page FOLDER`` writes the table of results/tuning.md: 200 trials on
four workloads with three seeds each, judged on four other workloads with five other seeds; some
five minutes on two cores. ``python -m wordline_lab.tuning atlas FOLDER`` writes what the atlas
shows of tuned schemes, ``tuned.toml`` beside ``atlas.toml``, whose table ``[search]`` says on what
it searches; some ten minutes on two cores. Both keep their runs in FOLDER. Names of schemes after
it limit the search to these; results of other schemes are kept.
"""

import argparse
from pathlib import Path
from typing import Any

import wordline as wl
from wordline.atlas.execute import SERIES, Performer
from wordline.runs import Runner
from wordline_lab.atlas import tuned, tuning

SEEN = [f"twin:{name}:closed=8" for name in ("hm_0", "prxy_0", "stg_0", "usr_0")]
UNSEEN = [f"twin:{name}:closed=8" for name in ("prn_0", "rsrch_0", "wdev_0", "ts_0")]
HOW: dict[str, Any] = {"requests": 20_000, "fit": "wrap", "initial": "fill:80%,valid=80%"}
WORN: dict[str, Any] = {
    "set": {"errors.model": "raro"},
    "initial": "fill:80%,valid=80%+pe:qlc=900,tlc=2700,slc=90000+retention:30d",
}
WRITES, READS = "latency_us.write.mean", "latency_us.read.mean"
CACHE, DYNAMIC = {"static_blocks": (4, 48)}, {"dynamic_blocks": (0, 48)}
IPS = {"window": (1, 16), "layers": [1, 2]}
IDLE = {"idle_after": ["1us", "10us", "100us", "1ms", "10ms"]}
WARMTH = {"warm": (1, 16), "hot": (17, 64)}
HEAT = {"heat": ["physical", "logical"]}
PERIODS = {"period": (1024, 262144, "log"), "step": ["1%", "2%", "5%", "10%"], "age": (1, 20)}
#: Of each scheme what is to become smaller, and in which space.
SPACES: dict[str, tuple[str, dict[str, Any]]] = {
    "hierarchy": (WRITES, {
        **CACHE, "division": ["block", "page"], "window": (64, 8192, "log"), "runs": ["one", "any"],
    }),
    "sector": (WRITES, CACHE),
    "sa": (WRITES, CACHE),
    "raro": (READS, {**WARMTH, "r1": (0, 6), **HEAT}),
    "hotness": (READS, {**WARMTH, **HEAT}),
    "hyssd": (WRITES, {"policy": ["perf", "life"], **PERIODS}),
    "hyssd:perf": (WRITES, PERIODS),
    "hyssd:life": (WRITES, PERIODS),
    "hyssd:static": (WRITES, {"u": [f"{share}%" for share in range(5, 100, 5)]}),
    "ips": (WRITES, IPS),
    "ips-agc": (WRITES, {**IPS, **IDLE}),
    "ips-cooperative": (WRITES, {**IPS, **IDLE, "traditional": (8, 80)}),
    "turbo-write": (WRITES, {**CACHE, **DYNAMIC, **IDLE}),
    "pa-ssd": (WRITES, {
        "specifier": ["US", "HGS", "LFS", "SBS", "QDS", "UBS", "QDS+UBS", "SBS+UBS", "QDS+SBS"],
        "queue": (0, 32), "alternates": ["slow-first", "fast-first"],
    }),
    "slc-cache": (WRITES, {**CACHE, **DYNAMIC, "when_full": ["wait", "direct"]}),
    "hot-cold": (WRITES, {"hot": [f"{share}%" for share in range(5, 55, 5)]}),
    "conventional-tlc": (WRITES, {"wordline_buffer": ["on", "off"]}),
}  # fmt: skip
#: What results/tuning.md shows: of each scheme the drive, what else the runs take, and what of the
#: space is left out, since caches are static there.
STUDIES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "hierarchy": ("fair-tlc", {}, ()),
    "sector": ("fair-tlc", {}, ()),
    "raro": ("fair-qlc", WORN, ()),
    "hyssd": ("fair-pair", {}, ()),
    "ips": ("fair-tlc", {}, ()),
    "turbo-write": ("fair-tlc", {}, ("dynamic_blocks",)),
    "pa-ssd": ("fair-tlc", {}, ()),
    "slc-cache": ("fair-tlc", {}, ("dynamic_blocks", "when_full")),
    "hot-cold": ("fair-tlc", {}, ()),
}
HEAD = "| scheme | drive | mean latency of | found | seen | not seen | verdict |"


def row(name: str, folder: Path, jobs: int | None) -> str:
    """Search, judge, and return the row of a scheme."""
    device, more, less = STUDIES[name]
    objective, bounds = SPACES[name]
    space = {parameter: of for parameter, of in bounds.items() if parameter not in less}
    how: dict[str, Any] = {"device": device, "objectives": [objective], **HOW, **more}
    searched: dict[str, Any] = {
        "space": space,
        "trials": 200,
        "seeds": 3,
        "out": folder / name,
        "threads": jobs,
    }
    found = wl.tune(name, workloads=SEEN, **searched, **how)
    best = found.best
    judged = wl.judge(best.scheme, against=name, workloads=UNSEEN, timeout_s=3600, **how)
    if judged["verdict"] != "sound":
        raise SystemExit(f"{best.scheme} is {judged['verdict']}: {judged['why']}")
    came = judged["overall"][objective]
    interval = f"{came['ratio']:.3f} ({came['low']:.3f} to {came['high']:.3f})"
    sure = "better" if came["high"] < 1 else "worse" if came["low"] > 1 else "not significant"
    kind = "reads" if objective == READS else "writes"
    [cost] = best.costs or (1.0,)
    return (
        f"| `{name}` | {device} | {kind} | `{best.scheme.partition(':')[2]}` | {cost:.3f} "
        f"| {interval} | {sure} |"
    )


def page(folder: Path, only: list[str], jobs: int | None) -> None:
    """Write the table of results/tuning.md."""
    text = Path(__file__).parents[1] / "results" / "tuning.md"
    before, _, rest = text.read_text().partition(HEAD)
    table, gap, after = rest.partition("\n\n")
    rows = {line.split("`")[1]: line for line in table.splitlines() if "`" in line}
    for name in only or STUDIES:
        rows[name] = row(name, folder, jobs)
        print(rows[name], flush=True)
    listed = [HEAD, "|---|---|---|---|---|---|---|", *(rows[name] for name in STUDIES)]
    text.write_text(before + "\n".join(listed) + gap + after)


def atlas(folder: Path, only: list[str], jobs: int | None) -> None:
    """Write the tuned schemes of the atlas; each is searched once, whatever drives have it."""
    design, table = tuning.design(), tuning.table()
    runner = Runner(folder / "runs", jobs=jobs, leave_out=SERIES, refusals=(wl.Refused,))
    performer = Performer(design, runner)
    known = tuned.read() if only else {}
    found = {at: t for at, t in known.items() if t.of not in only}
    for drive in design.drives:
        performer.calibrate(drive)
        for label, (device, scheme) in drive.schemes.items():
            searched = label != drive.baseline and "+" not in label
            if not searched or (only and label not in only) or (device, label) in found:
                continue
            objective, space = SPACES[label]
            came = wl.tune(
                scheme,
                device=device,
                workloads=tuning.runs(performer, drive, label),
                objectives=[objective],
                space=space,
                trials=table["trials"],
                seed=table["seeds"][0],
                seeds=len(table["seeds"]),
                out=folder / f"{device}-{label.replace(':', '-')}",
                threads=jobs,
            )
            found[device, label] = tuning.of_search(label, device, came)
            print(found[device, label], flush=True)
            tuned.write(list(found.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["page", "atlas"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("schemes", nargs="*", help="schemes to tune [default: all]")
    parser.add_argument("--jobs", type=int, help="number of runs in parallel")
    asked = parser.parse_args()
    if unknown := [name for name in asked.schemes if name not in SPACES]:
        parser.error(f"no space for {', '.join(unknown)}; allowed: {', '.join(SPACES)}")
    {"page": page, "atlas": atlas}[asked.what](asked.folder, asked.schemes, asked.jobs)
