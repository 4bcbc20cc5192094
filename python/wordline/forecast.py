"""How long runs take, by trying a few of them for a limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean

from wordline import Run
from wordline._run import Progress
from wordline.quantity import duration

#: Wall time that a forecast may take, in seconds, besides what initial states take.
BUDGET = 10.0

#: Most runs that are tried: one of each device, scheme, workload and initial state.
MOST = 12

#: Does a run and returns its report, told how far it is.
Do = Callable[[Run, Progress], str]


class _Enough(Exception):
    """A trial has reached its time limit."""


@dataclass(frozen=True)
class Trial:
    """A run that was tried."""

    run: Run
    #: Wall time of the whole run: measured if it ended, else at the pace of the second half of the
    #: trial; ``None`` where its length is not known.
    seconds: float | None = None
    report: str | None = None  #: Its report as JSON, if it ended.
    refused: Exception | None = None  #: Why it was refused, if it was.


def group(run: Run) -> tuple[object, ...]:
    """Return the key of runs with the same speed: everything but the seed."""
    return run.device, run.scheme, run.workload, run.initial, run.set, run.requests


def spread(runs: Iterable[Run], most: int) -> list[Run]:
    """Return one run per group, at most this many, evenly spread."""
    firsts = list({group(run): run for run in reversed(list(runs))}.values())[::-1]
    step = max(1.0, len(firsts) / most)
    return [firsts[int(i * step)] for i in range(min(most, len(firsts)))]


def trials(
    runs: Iterable[Run],
    expected: Callable[[Run], int],
    do: Do,
    *,
    jobs: int,
    refusals: tuple[type[Exception], ...],
    budget: float = BUDGET,
) -> list[Trial]:
    """Try a few of the runs, `jobs` in parallel, for `budget` seconds of wall time in all.

    The expected number of requests is 0 if unknown. Errors that are no refusals are raised.
    """
    tried = spread(runs, MOST)
    each = budget * jobs / max(len(tried), jobs)

    def one(run: Run) -> Trial:
        begin = time.perf_counter()
        seen: list[tuple[float, int]] = []

        def progress(_: int, completed: int, __: float) -> None:
            spent = time.perf_counter() - begin
            seen.append((spent, completed))
            # The time of the initial state does not count.
            if spent - seen[0][0] > each:
                raise _Enough

        try:
            report = do(run, progress)
        except _Enough:
            return Trial(run, _predicted(seen, expected(run)))
        except refusals as e:
            return Trial(run, refused=e)
        return Trial(run, time.perf_counter() - begin, report)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, tried))


def _predicted(seen: Sequence[tuple[float, int]], expected: int) -> float | None:
    """Return the wall time of a run from (seconds, requests completed) as it went."""
    from_s, from_n = seen[len(seen) // 2]
    to_s, to_n = seen[-1]
    if not expected or to_n <= from_n:
        return None
    return to_s + (to_s - from_s) / (to_n - from_n) * max(0, expected - to_n)


def rest(found: Sequence[Trial], runs: Sequence[Run], jobs: int) -> tuple[float, float] | None:
    """Return the least and greatest expected time of runs, in seconds.

    ``None`` if it is unknown.

    A group without a trial is assumed to take the mean of the others, and at most as long as the
    slowest.
    """
    known = {group(t.run): t.seconds for t in found if t.seconds is not None}
    if not known:
        return None
    mean, slowest = fmean(known.values()), max(known.values())
    low = sum(known.get(group(run), mean) for run in runs)
    high = sum(known.get(group(run), slowest) for run in runs)
    return low / jobs, high / jobs


def words(found: Sequence[Trial], spent: float, seconds: tuple[float, float] | None) -> str:
    """Return the forecast of runs in words."""
    ended = sum(t.report is not None for t in found)
    kept = f" ({ended} ended and are kept)" if ended else ""
    tried = f"{len(found)} of them tried in {duration(spent)}{kept}"
    if seconds is None:
        return f"{tried}; how long the rest takes cannot be told, since its length is not known"
    low, high = seconds
    apart = high > 1.2 * low
    took = f"{duration(low)} to {duration(high)}" if apart else f"about {duration(low)}"
    unsure = "" if ended == len(found) else ", or longer where drives slow down as they fill"
    return f"{tried}; the rest takes {took}{unsure}"
