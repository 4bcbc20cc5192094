"""Text of the published atlas besides its findings: tuning, and real traces next to twins."""

from __future__ import annotations

from wordline.atlas import findings
from wordline.atlas.report import Words
from wordline_lab.atlas import trace_vs_twin, tuning_gains
from wordline_lab.atlas.published import PublishedAtlas

_OF_TRACES = """\
Each condition is run with a real trace and with its twin, with the same number of requests. The
table has ten of the possible conditions: each load once, each trace twice, with two fills, two ages
and both caches. The table, the traces and how far they are cut were fixed before any scheme was
run.

{traces}

A real trace is cut where its footprint would exceed the smallest fill (IOzone's earlier, since it
takes long), and its addresses are renumbered densely (`fit=compact`), which keeps lengths, order
and contiguity. Results hold for that part of the trace. A seed changes the drive (which blocks hold
the data), and for a twin also the requests. So the interval of a trace covers variation of the
drive, not of the host's workload. The best scheme of a trace is chosen by the same seeds that give
its ratio, so the loss by the twin's choice is overestimated rather than underestimated. In an open
loop the trace's own times are divided by one factor."""


def of(atlas: PublishedAtlas, section: str = "") -> Words:
    """Return the text for an atlas.

    Parameters
    ----------
    atlas
        What was run.
    section
        What is said of real traces beside twins, in Markdown, if it is not one of those itself.
    """
    tuning = tuning_gains.section(atlas)
    if atlas.beside:
        section = trace_vs_twin.table(atlas)
    titled = [(tuning_gains.TITLE, tuning), (trace_vs_twin.TITLE, section)]
    sections = [(title, text) for title, text in titled if text]
    if not atlas.beside:
        return Words(findings.sentences(atlas, tuning_gains.sentences(atlas)), sections)
    return Words(
        trace_vs_twin.sentences(atlas), sections, _of_traces(atlas), trace_vs_twin.only_real(atlas)
    )


def _of_traces(atlas: PublishedAtlas) -> str:
    """Say how the conditions of real traces and twins were made."""
    listed = "\n".join(
        f"- **{name}**: {atlas.kinds[name]}; its twin is `{twin}`, {akin}."
        for name, (twin, akin) in atlas.beside.items()
    )
    return _OF_TRACES.format(traces=listed)
