"""Claims are run in parallel, and judged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from wordline import UserError
from wordline_lab.validate import latency, mqsim, timing, waf
from wordline_lab.validate.claims import Claim
from wordline_lab.validate.outcome import Outcome

EXPERIMENTS: dict[str, Callable[..., Outcome]] = {
    "waf": waf.waf,
    "latency": latency.latency,
    "priority": latency.priority,
    "unloaded": timing.unloaded,
    "bandwidth": timing.bandwidth,
    "mqsim_unloaded": mqsim.mqsim_unloaded,
    "mqsim_tlc": mqsim.mqsim_tlc,
    "mqsim_waf_steady": mqsim.mqsim_waf_steady,
    "mqsim_waf": mqsim.mqsim_waf,
}


@dataclass(frozen=True)
class Row:
    """A claim with its result."""

    claim: Claim
    outcome: Outcome
    seconds: float

    @property
    def theirs(self) -> float:
        """The reference figure."""
        recorded = self.claim.theirs
        figure = recorded if recorded is not None else self.outcome.theirs
        if figure is None:
            raise UserError(
                f"claim {self.claim.id}: neither a formula nor a recorded figure is set"
            )
        return figure

    @property
    def deviation(self) -> float:
        """Our figure over the reference, minus one."""
        return self.outcome.ours / self.theirs - 1

    @property
    def holds(self) -> bool:
        """Whether our figure is within the tolerance, and all other conditions hold."""
        if self.outcome.wrong:
            return False
        if self.outcome.ends is not None and self.claim.tolerance is None:
            low, high = self.outcome.ends
            return low <= self.theirs <= high
        # A millionth for means that are held as floats.
        return abs(self.deviation) <= max(self.claim.tolerance or 0.0, 1e-9)

    @property
    def passes(self) -> bool:
        """Whether it holds, or states its reason."""
        return self.holds or bool(self.claim.reason)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        claim, outcome = self.claim, self.outcome
        return {
            "id": claim.id,
            "group": claim.group,
            "quantity": claim.quantity,
            "source": claim.source,
            "arguments": claim.arguments,
            "theirs": self.theirs,
            "ours": outcome.ours,
            "ours_half_width_95": outcome.half_width,
            "ends": outcome.ends,
            "deviation": self.deviation,
            "tolerance": claim.tolerance if claim.tolerance is not None else "within",
            "holds": self.holds,
            "wrong": outcome.wrong,
            "reason": claim.reason,
            "data": outcome.data,
        }


def run(claims: Sequence[Claim], progress: Callable[[int, Row], object]) -> list[Row]:
    """Run every claim, in parallel on all cores, and return the rows in their order.

    The engine releases the interpreter while it runs, so threads suffice.
    """
    for claim in claims:
        if claim.experiment not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise UserError(
                f"claim {claim.id}: unknown experiment {claim.experiment!r}; allowed: {known}"
            )
    # Long ones first, so that no core waits for the last.
    order = sorted(claims, key=_effort, reverse=True)
    rows: dict[str, Row] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(_one, claim) for claim in order]
        try:
            for done in as_completed(waiting):
                row = done.result()
                rows[row.claim.id] = row
                progress(len(rows), row)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [rows[claim.id] for claim in claims]


def _one(claim: Claim) -> Row:
    begin = time.perf_counter()
    try:
        outcome = EXPERIMENTS[claim.experiment](**claim.arguments)
    except TypeError as e:
        raise UserError(f"claim {claim.id}: {e}") from e
    return Row(claim, outcome, time.perf_counter() - begin)


def _effort(claim: Claim) -> float:
    a = claim.arguments
    if claim.experiment == "waf":
        return a["blocks"] * a["b"] * a.get("planes", 1) / a["spare"]
    return 3e6 if claim.experiment.startswith("mqsim_waf") else 1e6
