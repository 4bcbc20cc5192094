"""Tests of SNIA's performance test specification, in simulated time: ``wordline pts``.

According to the SNIA Solid State Storage Performance Test Specification 2.0.2 (1 October 2020).
`procedure` has the steps of each test, `measured` the drive and its measurements, `show` the table
and the page.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import UserError, _wordline
from wordline.commands import SWEEP, command, settings, tell
from wordline.quantity import in_us

if TYPE_CHECKING:
    from wordline.pts.measured import Result


@command("pts", SWEEP, extra="sweep")
def main(
    *,
    test: str,
    schemes: Sequence[str],
    set: Sequence[str] = (),
    out: str | None = None,
    **how: Any,
) -> None:
    """Do ``wordline pts``."""
    from wordline.progress import Meter
    from wordline.pts import show

    def one(scheme: str) -> Result:
        def told(text: str) -> None:
            meter.tell(f"{scheme}: {text}")

        def seen(note: str, share: float | None) -> None:
            meter.see(scheme, note, share)

        try:
            return run(test, scheme=scheme, set=settings(set), told=told, seen=seen, **how)
        finally:
            meter.ended(scheme)

    with Meter(schemes) as meter, ThreadPoolExecutor() as pool:
        results = list(pool.map(one, schemes))

    def typed(**changed: object) -> str:
        words = ["wordline", "pts", test, "--device", how["device"]]
        for option, values in (("--scheme", schemes), ("--set", set)):
            words += [word for value in values for word in (option, value)]
        for key in ("cell", "rounds", "seed"):
            words += [f"--{key}", str((how | changed)[key])]
        return shlex.join(words)

    advice = show.advice(results, typed)
    print(show.terminal(results, advice))
    if out is not None:
        tell(f"page: {show.write(results, Path(out), typed(), advice)}")


def run(
    test: str,
    *,
    device: str,
    scheme: str = "conventional",
    set: Mapping[str, object] | None = None,
    seed: int = _wordline.DEFAULT_SEED,
    cell: str = "10s",
    rounds: int = 25,
    told: Callable[[str], object] | None = None,
    seen: Callable[[str, float | None], object] | None = None,
) -> Result:
    """Run a test on a purged drive.

    Parameters
    ----------
    test
        ``iops``, ``throughput``, ``latency``, ``wsat``, ``hir`` or ``xsr``.
    device, scheme, set, seed
        As for `wordline.run`.
    cell
        The length of a measurement in simulated time, such as ``10s``. In the specification it is
        60 s; all other times are given there in minutes and scale with it.
    rounds
        Maximum number of rounds until steady state; 25 in the specification.
    told
        Callable that receives a line of text after each round.
    seen
        Callable that receives, after each measurement, what is measured and the share of it that is
        done, from 0 to 1; None where that is not known.

    Returns
    -------
    Result
        Every measurement, and the rounds in steady state.

    Raises
    ------
    UserError, Refused, Fault
        As for `wordline.run`; also an unknown test or an invalid argument.

    Examples
    --------
    >>> from wordline import pts
    >>> found = pts.run("wsat", device="demo-8gb", scheme="slc-cache", cell="1s")
    >>> found.steady.mean, found.steady.last
    """
    from wordline.pts.measured import Bench
    from wordline.pts.procedure import TESTS

    if test not in TESTS:
        raise UserError(f"test={test!r} is not a test; allowed: {', '.join(TESTS)}")
    if rounds < 5:
        raise UserError(f"rounds={rounds} is below 5, the rounds of the steady-state window")
    try:
        seconds = in_us(cell) / 1e6
    except ValueError as e:
        raise UserError(f"cell={cell}: {e}; allowed: a time such as 10s") from e
    if seconds <= 0:
        raise UserError(f"cell={cell} is not a duration; allowed: a time such as 10s")
    bench = Bench(device, scheme, dict(set or {}), seed, seconds, rounds, told, seen)
    return TESTS[test].run(bench)
