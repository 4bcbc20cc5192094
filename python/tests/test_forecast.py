"""How long runs take is said after seconds, whatever they are."""

import time

import pytest

from wordline import Refused, Run
from wordline.forecast import MOST, Trial, rest, spread, trials, words


def runs(schemes: int, seeds: int) -> list[Run]:
    """Return runs of so many schemes, each with so many seeds."""
    return [
        Run(device="d", scheme=f"s{i}", workload="w", seed=seed)
        for i in range(schemes)
        for seed in range(1, seeds + 1)
    ]


def at_pace(per_s: float):
    """Return what does runs at so many requests a second, and never ends."""

    def do(run, progress):
        begin = time.perf_counter()
        while True:
            time.sleep(0.002)
            progress(0, int((time.perf_counter() - begin) * per_s), 0.0)

    return do


def test_trials_end_within_their_budget():
    asked = runs(8, 3)
    begin = time.perf_counter()
    found = trials(asked, lambda run: 3_600_000, at_pace(1000), jobs=2, refusals=(), budget=0.4)
    assert time.perf_counter() - begin < 2.0
    assert len(found) == 8
    # An hour each, foretold after a tenth of a second.
    for trial in found:
        assert trial.report is None
        assert trial.seconds == pytest.approx(3600, rel=0.2)
    low, high = rest(found, asked, 2)
    assert low == pytest.approx(24 * 3600 / 2, rel=0.2)
    assert high >= low
    assert "or longer" in words(found, 0.4, (low, high))


def test_one_run_of_each_group_is_tried():
    assert [run.scheme for run in spread(runs(3, 5), MOST)] == ["s0", "s1", "s2"]
    assert len({run.scheme for run in spread(runs(100, 2), MOST)}) == MOST


def test_runs_that_end_are_kept_and_refusals_told():
    def do(run, progress):
        if run.scheme == "s1":
            raise Refused("not on this drive")
        return "{}"

    found = trials(runs(2, 1), lambda run: 10, do, jobs=1, refusals=(Refused,))
    assert [t.report for t in found] == ["{}", None]
    assert str(found[1].refused) == "not on this drive"
    with pytest.raises(Refused):
        trials(runs(2, 1), lambda run: 10, do, jobs=1, refusals=())


def test_length_that_is_not_known_is_not_guessed():
    found = trials(runs(1, 1), lambda run: 0, at_pace(1000), jobs=1, refusals=(), budget=0.05)
    assert rest(found, runs(1, 1), 1) is None
    assert "cannot be told" in words(found, 0.05, None)


def test_untried_groups_are_estimated():
    three = runs(3, 1)
    found = [Trial(three[0], 10.0), Trial(three[1], 30.0)]
    assert rest(found, three, 1) == (10 + 30 + 20, 10 + 30 + 30)
