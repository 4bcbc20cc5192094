"""The runs of an atlas: what the plain drive sustains, then every condition."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from wordline import Refused, Run, UserError
from wordline.atlas import design as d
from wordline.atlas.cells import Atlas, DriveCells, Place, logs, place
from wordline.atlas.judge import choose
from wordline.commands import message
from wordline.forecast import words
from wordline.runs import Runner
from wordline.steady import NO_RUNS, of_reports

#: Series of a report, which the atlas does not look at; they are nine tenths of it.
SERIES = ("latency_cdf", "timeline", "block_map", "wear_histogram")

#: Told of a condition that has been run: the drive, its number there from 1, and the condition.
Told = Callable[[str, int, d.Condition], object]


@dataclass
class Performer:
    """Runs a design, one condition after the other: only one's reports are in memory."""

    design: d.Design  #: What is run.
    runner: Runner  #: Does the runs and keeps their reports.
    told: Told = lambda drive, number, condition: None  #: Told as each condition has been run.
    _rates: dict[tuple[str, str, str, str], d.Rates] = field(default_factory=dict, init=False)

    def perform(self) -> Atlas:
        """Run everything that has no report yet, and return what all came to.

        Raises as `Runner.run`.
        """
        found = []
        for drive in self.design.drives:
            self.calibrate(drive)
            places = []
            for number, condition in enumerate(self.design.conditions, 1):
                places.append(self._place(drive, condition))
                self.told(drive.name, number, condition)
            about = (drive.name, drive.title, drive.baseline, drive.schemes)
            found.append(DriveCells(*about, places, drive.further))
        of = self.design
        extent = (of.title, of.seeds, of.requests, of.levels, of.kinds)
        return Atlas(*extent, found, of.fit, is_finite=of.is_finite)

    def further(self) -> int:
        """Return how many runs there are at most with further seeds: of two and the baseline."""
        seeds = max(0, self.design.most_seeds - self.design.seeds)
        return 3 * seeds * self.design.condition_count()

    def runs(self) -> int:
        """Return how many runs there are, those that measure rates among them."""
        drives = self.design.drives
        main = sum(len(drive.spelled) for drive in drives) * len(self.design.conditions)
        measuring = (self._measuring(drive) for drive in drives)
        return main * self.design.seeds + sum(len(own) + len(deep) for own, deep in measuring)

    def forecast(self) -> str:
        """Say about how long all runs take, by trying a few of them for some ten seconds.

        Those tried are closed loops, which need no rates; an open loop asks as many requests.

        Raises as `Runner.run`.
        """
        begin = time.perf_counter()
        closed = [c for c in self.design.conditions if c.load not in d.OPEN]
        pairs = itertools.product(closed, self.design.drives)
        runs = [self.described(on, under, s) for under, on in pairs for s in on.spelled]
        tried = self.runner.try_out(runs)
        spent = time.perf_counter() - begin
        known = [t.seconds for t in tried if t.seconds is not None]
        every = self.runs() / (self.runner.jobs or os.cpu_count() or 1)
        seconds = (every * fmean(known), every * max(known)) if known else None
        said = words(tried, spent, seconds).replace("the rest takes", "all take")
        ended = [json.loads(t.report) for t in tried if t.report is not None]
        state = of_reports(ended, over_seeds=self.design.seeds > 1)
        if not state.runs or state.is_enough:
            return said
        longer = f"; with some {state.needed:,} requests each more may be" if state.needed else ""
        return f"{said}\n{state}, so answers may not be known{longer}"

    def _measuring(self, drive: d.Drive) -> tuple[dict[str, Run], dict[tuple[str, str, str], Run]]:
        """Return the runs that measure rates: a workload at its own times, and what is sustained.

        The second by workload, fill and age.
        """
        needed = [c for c in self.design.conditions if c.load in d.OPEN]
        deep = f"closed={d.SUSTAINED_DEPTH}"
        own = {c.workload: self._base(drive, c, "") for c in needed}
        sustained = {(c.workload, c.fill, c.age): self._base(drive, c, deep) for c in needed}
        return own, sustained

    def calibrate(self, drive: d.Drive) -> None:
        """Measure what the baseline sustains, and at which rate workloads come by themselves.

        Raises as `Runner.run`.
        """
        natural, sustained = self._measuring(drive)
        reports, refused = self.runner.run([*natural.values(), *sustained.values()])
        for key, run in sustained.items():
            if run in refused:
                continue
            at = natural[key[0]]
            brings = reports[at].to_dict() if at in reports else None
            timed = brings is not None and "open" in brings["config"]["pacing"]
            rate = brings["host"]["requests"] / brings["simulated_s"] if brings and timed else 0.0
            iops = reports[run].to_dict()["throughput"]["iops"]
            self._rates[(drive.name, *key)] = d.Rates(rate, iops)

    def described(
        self,
        drive: d.Drive,
        condition: d.Condition,
        label: str,
        *,
        seed: int = 1,
        fixed: bool = False,
        times: int = 1,
    ) -> Run:
        """Return a run of a calibrated drive, ``times`` as long; `fixed` keeps its cache static.

        Raises `NoTimes`: an open loop of a workload without times.
        """
        rates = self._rates_of(drive, condition)
        return d.run(self.design, drive, condition, label, seed, rates, fixed=fixed, times=times)

    def _rates_of(self, drive: d.Drive, condition: d.Condition) -> d.Rates | None:
        return self._rates.get((drive.name, condition.workload, condition.fill, condition.age))

    def _base(self, drive: d.Drive, condition: d.Condition, options: str) -> Run:
        device, scheme = drive.schemes[drive.baseline]
        spelling = self.design.workloads[condition.workload]
        return Run(
            device,
            scheme,
            d.with_options(spelling, options) if options else spelling,
            requests=self.design.requests[condition.workload],
            set=drive.settings,
            initial=d.initial(condition, drive),
            fit=self.design.fit,
        )

    def place(
        self, drive: d.Drive, condition: d.Condition, seeds: Sequence[int], times: int = 1
    ) -> Place:
        """Run all schemes of a calibrated drive with these seeds, this many times as long.

        Raises as `Runner.run`.
        """
        devices = {device for device, _ in drive.schemes.values()}
        settings = {device: list(d.settings(condition, drive, device)) for device in devices}
        initial = d.initial(condition, drive)
        try:
            workload = d.workload(self.design, drive, condition, self._rates_of(drive, condition))
        except d.NoTimes as e:
            refused = dict.fromkeys(drive.spelled, str(e))
            return place(condition.at(), drive.baseline, {}, refused, ("", initial, settings))
        reports, refused = self._do(drive, condition, drive.spelled, seeds, times)
        fixed: dict[str, Any] = {}
        if condition.cache != "static":
            # A scheme that has no dynamic cache keeps the static one.
            fixed, refused = self._do(drive, condition, refused, seeds, times, fixed=refused)
        found = place(
            condition.at(),
            drive.baseline,
            {**reports, **fixed},
            refused,
            (workload, initial, settings),
            fixed,
            over_seeds=self.design.seeds > 1,
            is_finite=self.design.is_finite,
        )
        found.asked = times * self.design.requests[condition.workload]
        return found

    def _place(self, drive: d.Drive, condition: d.Condition) -> Place:
        """Run a condition as long as it takes, and the best two with further seeds if need be."""
        design, times = self.design, self._long_enough(drive, condition)
        found = self.place(drive, condition, range(1, design.seeds + 1), times)
        if two := self._not_apart(drive, found):
            more = range(design.seeds + 1, design.most_seeds + 1)
            three = dict.fromkeys([drive.baseline, *two])
            fixed = {scheme for scheme, cell in found.cells.items() if cell.fixed}
            further, _ = self._do(drive, condition, three, more, times, fixed=fixed)
            if further.keys() == three.keys():
                found.again = {s: logs(further[s], further[drive.baseline]) for s in two}
        return found

    def _long_enough(self, drive: d.Drive, condition: d.Condition) -> int:
        """Return how many times as long the runs of a condition are.

        They are longer where fewer than four in five runs with the first seed are stationary,
        unless the workload has ended before.
        """
        if self.design.longest == 1:
            return 1
        first = self.place(drive, condition, [1])
        every = sum((cell.steadiness for cell in first.cells.values()), NO_RUNS)
        has_ended = sum(first.requests) < first.asked
        return 1 if has_ended or not every.runs or every.is_enough else self.design.longest

    def _not_apart(self, drive: d.Drive, found: Place) -> tuple[str, str] | None:
        """Return the best two schemes of a condition in mean write latency that need more seeds."""
        if self.design.most_seeds <= self.design.seeds:
            return None
        of = DriveCells(drive.name, drive.title, drive.baseline, drive.schemes, [found])
        choice = choose(of, [found], "write_mean")
        # Two that come to the same with every seed are one.
        if choice is None or not choice.apart.is_chance or choice.apart.half == 0:
            return None
        return choice.scheme, choice.second

    def _do(
        self,
        drive: d.Drive,
        condition: d.Condition,
        schemes: Iterable[str],
        seeds: Sequence[int],
        times: int,
        *,
        fixed: Container[str] = (),
    ) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
        """Return the reports of each scheme, one for each seed, or why it has none."""
        runs: dict[str, list[Run]] = {}
        refused = {}
        known: list[Run] = []
        for scheme in schemes:
            is_fixed = scheme in fixed
            of = runs[scheme] = [
                self.described(drive, condition, scheme, seed=s, fixed=is_fixed, times=times)
                for s in seeds
            ]
            try:
                for run in of:
                    self.runner.key(run)
                known += of
            except UserError as e:
                refused[scheme] = _short(e)
        done, not_admitted = self.runner.run(known)
        for scheme, of in runs.items():
            if found := next((not_admitted[run] for run in of if run in not_admitted), None):
                refused[scheme] = _short(found)
        ran = {scheme: of for scheme, of in runs.items() if scheme not in refused}
        return {scheme: [done[r].to_dict() for r in of] for scheme, of in ran.items()}, refused


def _short(error: Exception | Refused) -> str:
    """Return the first line of an error, without the scheme and device that a cell has."""
    text = message(error).split("\n")[0]
    return text.split(": ", 1)[1] if " cannot run on device " in text and ": " in text else text
