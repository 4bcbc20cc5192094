"""What RARO's folder says in words, and the laws of errors that it lays beside the shares."""

import pytest

from wordline_lab.experiments.raro import fit, measures, words


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "at the read that moves it, with reads counted per physical page"),
        (
            {"class": "read", "heat": "logical"},
            "at the read that moves it, with reads counted per logical page",
        ),
        (
            {"class": "period", "period": "1000"},
            "at the end of every 1,000 reads, with reads counted per physical page",
        ),
        (
            {"class": "distance", "hot_within": "2000", "warm_within": "10000"},
            "by the distance of its last two reads (hot within 2,000 reads, warm within 10,000)",
        ),
    ],
)
def test_finding_names_the_reading_of_heat_of_its_runs(monkeypatch, given, says):
    monkeypatch.setattr(measures, "parameters", lambda study: given)
    assert says in words.reading(None)


def test_linear_law_fits_printed_shares_worse_than_power():
    off = {
        name: {s: fit.share(s, law, wear) / fit.PRINTED[s][3] for s in fit.PRINTED}
        for name, law, wear in (("power", fit.MODEL, 2.05), ("linear", fit.linear(), 1.0))
    }
    assert all(0.75 < ratio < 1.5 for ratio in off["power"].values())
    # The rate of the middle stage is too high between those of the others.
    assert off["linear"]["middle"] > 5
    assert max(off["linear"]["young"], off["linear"]["old"]) < 0.75
