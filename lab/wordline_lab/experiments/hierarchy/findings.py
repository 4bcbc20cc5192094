"""Findings on Hierarchy, in four sentences."""

from __future__ import annotations

from wordline_lab.experiments.hierarchy import measures as m
from wordline_lab.reproduce.paper import NotRun, Study
from wordline_lab.reproduce.pieces import GROUP

#: What explains figures of real traces.
OF_PIECES = (
    "Table I's cache is .098, .154 and .172 of what hm_0, usr_0 and web_0 write (Table II), .51 to "
    "1.0 of what the LUNs do, and three times what web_1 does: hence the share of each piece.",
    "CloudPhysics beside lun2 hardly fills the cache. L2 collects all the same, since it has half "
    "of the cache at first, and a slot changes sides with each write request, of 35 KiB. "
    "Where one does with each page (`slot=page`), Hierarchy's collections read 1.52 times as much "
    "as the Baseline's in `merge`, in place of 3.57.",
    "IOzone overwrites a file that fits into the cache, in whole pages. Collections move at most "
    ".6 % of what it writes, so 4 times as much is little.",
    "The requests of tencent come at two instants, a second apart, so its latencies are of one "
    "queue. Under Hierarchy, with 1,024 requests outstanding, TLC is collected though it is nearly "
    "empty, which is most of its programs over the Baseline's; with four (`closed=4`) it is not.",
)


def _less(ratio: float | None) -> str:
    """Say a ratio as a difference: ``12 % below``."""
    if ratio is None:
        return "not to be compared with"
    return f"{abs(1 - ratio) * 100:.0f} % {'below' if ratio < 1 else 'above'}"


def findings(study: Study) -> list[str]:
    """Return Markdown sentences on latency, migrations, and their basis."""
    try:
        write = {s: m.mean_over(study, "write", "Hierarchy", s) for s in m.SCHEMES[:-1]}
        read = {s: m.mean_over(study, "read", "Hierarchy", s) for s in m.SCHEMES[:-1]}
        sector = m.over_others(study, "read", "Sector", "mean")
        moved = {s: m.mean_over(study, "migrated", "Hierarchy", s) for s in m.SCHEMES[:-1]}
        gc = {s: m.mean_over(study, "gc reads", "Hierarchy", s) for s in m.SCHEMES[:-1]}
        fresh, buffered = (
            m.mean_over(study, "write", "Hierarchy", "Baseline", group)
            for group in ("flushed-fresh", "buffer")
        )
    except NotRun:
        return []
    found = [
        f"Hierarchy's write latency is **{_less(write['Baseline'])}** the Baseline's, "
        f"{_less(write['SA'])} SA's and {_less(write['Sector'])} Sector's (paper: 25.1, 12.6 and "
        f"18.9 % below); its read latency is {_less(read['Baseline'])} the Baseline's "
        "(paper: 10.4 % below).",
        f"Sector's read latency is **{_less(sector)}** the mean of the others (paper: 42.3 % "
        "above); "
        f"Hierarchy's collections read {_less(gc['Baseline'])} the Baseline's and "
        f"{_less(gc['Sector'])} Sector's, and migrate {_less(moved['Baseline'])} the Baseline's "
        f"volume and {_less(moved['Sector'])} Sector's (paper: 16.8, 25.9, 28.5 and 4.7 % below).",
        "The size depends on an open point of the paper: if pages initially hold only the sectors "
        "that their first read requests, as in MQSim without preconditioning, Hierarchy's write "
        f"latency is **{_less(fresh)}** the Baseline's; behind a buffer of 64 pages, at the "
        f"highest arrival rate that the Baseline sustains, it is **{_less(buffered)}** the "
        "Baseline's.",
        "SA and Sector are reconstructed from the abstracts of their papers and from what this "
        "paper says of them; their figures here are those of the reconstructions.",
    ]
    return found + study.sentences(_of_pieces)


def _of_pieces(study: Study) -> str:
    """Say what collections read on real traces, each on a drive as small as what it writes."""
    run, written = [], []
    for piece in study.paper.pieces:
        own, base = (study.found(piece.label, s, GROUP) for s in ("Hierarchy", m.BASELINE))
        if piece.beside == m.MAIN and own and base:
            ratio = m.gc_reads(own) / m.gc_reads(base)
            run.append(f"{ratio:.2f} ({piece.file.partition('.')[0]} beside {piece.workload})")
            written.append(base.host.write_bytes / base.host.write_requests / 1024)
    if not run:
        raise NotRun("no real trace was run")
    least, most = (round(of(written)) for of in (min, max))
    files = {p.file for p in study.paper.pieces if not (p.drive and p.drive.is_copy)}
    left_out = len(files - {p.file for p in study.paper.pieces if p.is_run})
    return (
        "On real traces, with a cache as large in proportion to the bytes written as under Table "
        f"II's (table of pieces), Hierarchy's GC reads **{run[0]}**, "
        f"{', '.join(run[1:])} times as much as the Baseline's (paper: .83). These traces differ "
        f"from the paper's: they write {least} to {most} KiB per request, Table II's 8 to 10 KiB. "
        f"{left_out} of {len(files)} write too little for such a drive, including those of MSR "
        "Cambridge, virtual desktops and OLTP, so none of the available real traces decides "
        "Fig. 6a."
    )
