"""Findings on In-place Switch."""

from __future__ import annotations

from collections.abc import Mapping

from wordline_lab.experiments.ips import measures as m
from wordline_lab.reproduce.claims import Judged
from wordline_lab.reproduce.paper import Study
from wordline_lab.reproduce.readings import Readings


def findings(study: Study) -> list[str]:
    """Return the findings in three Markdown sentences, without those whose runs are missing."""
    return study.sentences(_bursts, _daily, _writes)


def _bursts(study: Study) -> str:
    latency, wa = (m.mean_ratio(study, "burst", "IPS", f) for f in ("latency", "wa"))
    return (
        f"In bursts as large as their traces, IPS has {latency:.2f} times Turbo Write's write "
        f"latency and {wa:.2f} times its write amplification, on average over eleven volumes "
        f"(printed .77 and .83), and {m.sustained_ratio(study):.2f} times its latency once both "
        "caches are full."
    )


#: The designs in daily use, each with its runs.
DESIGNS = (("daily", "IPS"), ("aged", "IPS/agc"), ("cooperative-daily", m.COOPERATIVE))


def _each(study: Study, figure: str) -> list[float]:
    """Return a figure of each design over the baseline's, mean of the volumes."""
    return [m.mean_ratio(study, group, scheme, figure) for group, scheme in DESIGNS]


def _daily(study: Study) -> str:
    ips, agc, cooperative = _each(study, "latency")
    both = m.latency(study.report("HM_0", "IPS", "aged"))
    both /= m.latency(study.report("HM_0", "IPS/agc", "aged"))
    return (
        f"In daily use IPS has {ips:.2f} times the baseline's write latency (printed 1.3), IPS/agc "
        f"{agc:.2f} times (.75) and the cooperative design {cooperative:.2f} times (.78). The "
        "printed 1.3 and .75 imply a ratio of 1.7 between IPS and IPS/agc, under any baseline; on "
        f"HM_0 it is {both:.1f}."
    )


def _writes(study: Study) -> str:
    ips, agc, cooperative = _each(study, "wa")
    paper = m.mean_ratio(study, "aged", "IPS/agc", "wa_paper")
    return (
        f"IPS programs {ips:.2f} times as many bytes as the baseline (printed .53), the "
        f"cooperative design {cooperative:.2f} times (.67), and IPS/agc {agc:.2f} times (.59), "
        "because each SLC page of a window needs two further pages. Counting only premature "
        f"copies, IPS/agc has {paper:.2f} times, which on an aged drive equals IPS itself."
    )


#: Rows of daily use, with what is printed.
PRINTED = {
    "10b-latency": "1.3 of IPS",
    "11-latency": ".75 of IPS/agc",
    "12b-latency": ".78 of the cooperative design",
}


def of_readings(readings: Readings, rows: Mapping[str, Judged]) -> list[str]:
    """Say which baseline gives what is printed of daily use, once every one was run."""
    reading = readings.all["baseline"]
    names = [f"baseline={name}" for name in reading.alternatives]
    under = {}
    for claim in (*PRINTED, "4-no-cliff"):
        row = rows[claim]
        under[claim] = {o.reading: (o.is_met, o.figure) for o in row.outcomes}
        under[claim][f"baseline={reading.main}"] = (row.is_met, row.figure)
    if any(not set(names) <= set(under[claim]) for claim in PRINTED):
        return []
    met = {claim: [name for name in names if under[claim][name][0]] for claim in PRINTED}
    said = [
        f"the {printed} under "
        + (" and ".join(f"`{n}` ({under[claim][n][1]:.2f})" for n in met[claim]) or "none")
        for claim, printed in PRINTED.items()
    ]
    every = [name for name in names if all(name in found for found in met.values())]
    last = f"{' and '.join(every)} gives all three" if every else "none gives all three"
    text = (
        f"Of the {len(names)} ways in which Turbo Write may reclaim its cache, by the text or its "
        f"simulator, these have what is printed: {', '.join(said)}; {last}."
    )
    slow = [f"`{n}`" for n, (is_met, _) in under["4-no-cliff"].items() if n in names and not is_met]
    if slow:
        text += (
            f" Ten minutes of rest (Figure 4) do not restore the bandwidth under {', '.join(slow)}."
        )
    return [text]
