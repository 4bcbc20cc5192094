"""What is said of the published atlas beyond its findings: tuning, and real traces beside twins."""

from __future__ import annotations

from wordline.atlas import findings
from wordline.atlas.report import Words
from wordline_lab.atlas import trace_vs_twin, tuning_gains
from wordline_lab.atlas.published import PublishedAtlas

_OF_TRACES = """\
Each is run with a real trace and with the twin beside it, with as many requests. Not every
combination is run: of the table of ten conditions every load is there once, every trace twice, with
two fills, two ages and both caches. The table, the traces and how far they are cut were fixed
before it was known what any scheme comes to.

{traces}

A real trace is cut before what it touches would no longer fit into the smallest fill, IOzone's
earlier for the time that it takes, and addresses are renumbered densely (`fit=compact`), so that
lengths, order and what is contiguous stay as they are; what it comes to is said of that part. With
every seed it has the same requests and another drive, in which other blocks hold the data; a twin
has other requests, too. So the interval of a trace says what the drive's chance does, and not what
another day of that host would. The best of a trace is chosen by the seeds that give its figure, so
what is lost by the twin's choice is said to be rather too much than too little. In an
open loop its own times are divided by one factor."""


def of(atlas: PublishedAtlas, section: str = "") -> Words:
    """Return what is said of an atlas.

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
        f"- **{name}**: {atlas.kinds[name]}; beside it `{twin}`, {akin}."
        for name, (twin, akin) in atlas.beside.items()
    )
    return _OF_TRACES.format(traces=listed)
