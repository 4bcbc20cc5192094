"""A search for parameters: trials by Optuna, each a few runs that are kept."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wordline import Report, Run, UserError, _bar, _frame, _wordline, parameters
from wordline._api import AnyScheme, described
from wordline.commands import need
from wordline.search import score
from wordline.search.space import Bounds, Dimension, dimensions, spelled
from wordline.steady import NO_RUNS, Steady, answer, of_reports
from wordline.sweeps.frontier import unbeaten

if TYPE_CHECKING:
    from optuna.study import Study

    from wordline.runs import Runner

#: Trials that are drawn before the first of them is told: the same however many go at once, so
#: that a search comes to the same on every machine.
BATCH = 8


@dataclass(frozen=True)
class Trial:
    """One set of parameters.

    Attributes
    ----------
    number
        Its place in the search, from 0.
    parameters
        The values that were tried.
    scheme
        The spelling with them.
    costs
        Of each objective the cost over that of the scheme as it was given, a geometric mean over
        workloads and seeds; below 1 is better. None where the trial was left out.
    left_out
        Why there are none: the scheme does not support the device with these values, or the trial
        was stopped after some of the workloads.
    steady
        Its runs, and how many of them are steady.
    """

    number: int
    parameters: Mapping[str, Any]
    scheme: str
    costs: tuple[float, ...] | None
    left_out: str | None = None
    steady: Steady = NO_RUNS


@dataclass(frozen=True)
class Tuned:
    """What a search came to.

    Attributes
    ----------
    scheme
        The spelling that everything is compared with.
    objectives
        The names of what became smaller, or greater.
    trials
        All of them, in order.
    how
        What decides the search beside the scheme: device, workloads, seeds and so on.
    reference
        The runs of the scheme as it was given, and how many of them are steady.
    """

    scheme: str
    objectives: tuple[str, ...]
    trials: tuple[Trial, ...]
    how: Mapping[str, Any]
    reference: Steady = NO_RUNS

    @cached_property
    def best(self) -> Trial:
        """The trial of least cost; of several objectives that of the least product of costs.

        Raises
        ------
        UserError
            Every trial was left out.
        """
        return min(self._done, key=lambda trial: math.prod(_costs(trial)))

    @cached_property
    def frontier(self) -> list[Trial]:
        """The trials that no other beats in all objectives, by the first."""
        # Of trials that come to the same the first stands for all.
        first = {_costs(t): t for t in reversed(self._done)}
        return [first[costs] for costs in sorted(unbeaten(first))]

    @property
    def answer(self) -> str:
        """What the search came to, or that it is not known where too few runs are steady.

        Raises
        ------
        UserError
            Every trial was left out.
        """
        costs = zip(self.objectives, _costs(self.best), strict=True)
        figures = {name: f"{cost:.3f} times" for name, cost in costs}
        rests = (self.best.steady, self.reference)
        return answer(figures, rests)

    @property
    def _done(self) -> list[Trial]:
        found = [t for t in self.trials if t.costs is not None]
        if not found:
            why = next((t.left_out for t in self.trials), "there is no trial")
            raise UserError(f"no trial of {self.scheme} completed: {why}")
        return found

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with a row for each trial: parameters, costs and the spelling."""
        return _frame.frame(self._rows(), library)

    def _rows(self) -> list[dict[str, Any]]:
        none = (None,) * len(self.objectives)
        return [
            {
                "number": t.number,
                **t.parameters,
                **dict(zip(self.objectives, t.costs or none, strict=True)),
                "scheme": t.scheme,
                "left_out": t.left_out,
                "steady": t.steady.steady,
                "runs": t.steady.runs,
            }
            for t in self.trials
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain dictionaries, lists and numbers."""
        return {
            "scheme": self.scheme,
            "objectives": list(self.objectives),
            "how": dict(self.how),
            "best": self.best.scheme,
            "answer": self.answer,
            "frontier": [t.number for t in self.frontier],
            "trials": self._rows(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        """Summarize the search and its result."""
        best = f"{self.best.scheme} against {self.scheme}"
        return f"<Tuned in {len(self.trials)} trials: {best}: {self.answer}>"

    def _repr_html_(self) -> str:
        shown = self.frontier if len(self.objectives) > 1 else sorted(self._done, key=_costs)[:10]
        names = list(self.trials[0].parameters)
        rows = []
        for t in shown:
            values = [parameters.spelled(t.parameters[name]) for name in names]
            rows.append([str(t.number), *values, *(f"{cost:.3f}" for cost in _costs(t))])
        about = f"{len(self.trials)} trials of {self.scheme}; costs over its own, less is better"
        about += f"; {self.best.scheme}: {self.answer}"
        return _frame.html(["trial", *names, *self.objectives], rows, about)


def _costs(trial: Trial) -> tuple[float, ...]:
    return trial.costs or ()


def tune(
    scheme: AnyScheme,
    *,
    device: str | os.PathLike[str],
    workloads: Sequence[str | os.PathLike[str] | Run],
    objectives: Sequence[str],
    space: Mapping[str, Bounds],
    trials: int = 200,
    requests: int | None = None,
    seeds: int = 1,
    seed: int = _wordline.DEFAULT_SEED,
    set: Mapping[str, object] | None = None,
    initial: str = _wordline.DEFAULT_INITIAL,
    fit: str | None = None,
    traces: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    on: str | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Tuned:
    """Search for parameters of a scheme under which figures become smaller, or greater.

    Each trial runs every workload with every seed. What counts is the geometric mean of its
    figures over those of the scheme as it is given, so that no workload outweighs another;
    latencies below 10 us, such as those of writes into RAM, count as 10 us. One
    objective is searched by TPE, and a trial that is worse than the median after a workload is not
    tried on the others; several are searched by NSGA-II.

    Parameters
    ----------
    scheme
        As for `wordline.run`; what it has already of parameters is kept but for those that are
        searched, and is what the trials are compared with.
    device, requests, set, initial, fit, traces
        As for `wordline.run`, the same in all runs.
    workloads
        Those that the search sees. Keep some for `judge`. A `wordline.Run` in place of one is done
        as it is but for scheme and seed, so that each may have a drive and a state of its own.
    objectives
        Figures by their paths in a report, such as ``latency_us.write.p99`` and ``waf.total``;
        ``+`` stands before one that is to become greater. ``lifetime`` is the host bytes until the
        flash is worn out.
    space
        By parameter a list of choices, ``(least, greatest)``, or ``(least, greatest, "log")``; two
        whole numbers bound whole numbers.
    trials
        How many sets of parameters are tried.
    seeds, seed
        Of each workload so many runs, with seeds from ``seed`` on; the sampler has it, too.
    out
        A folder in whose ``runs`` each report is kept. A search that was broken off is done again
        to the same trials, and runs that are there already take no time.
    on, threads, executor
        Where the runs are done: as for `wordline.sweep`; ``on`` is a number, or
        ``dask://HOST:PORT``.
    progress
        Called after each batch with how many trials have ended and how many there are; ``True``
        shows a bar of tqdm.

    Returns
    -------
    Tuned
        Every trial; ``best``, ``frontier``, and ``to_frame()``.

    Raises
    ------
    UserError
        The input is wrong, or Optuna is not installed.
    Refused
        The device does not admit the scheme as it is given.
    Fault
        As for `wordline.run`.
    """
    with warnings.catch_warnings():
        # Optuna asks for widgets in a notebook, for bars that are not drawn here.
        warnings.simplefilter("ignore")
        need("search", ("optuna",))
        import optuna  # noqa: F401
    from wordline.cluster import at
    from wordline.runs import Runner

    files = (None, traces)
    like = described("", device, "", seed, requests, set, initial, files, fit, False)
    how = score.conditions(workloads, like)
    for number, name in ((trials, "trials"), (seeds, "seeds")):
        if number < 1:
            raise UserError(f"{name}={number} is not at least 1")
    wanted = score.objectives(objectives)
    searched = dimensions(space)
    seen = [w if isinstance(w, Run) else os.fspath(w) for w in workloads]
    with ExitStack() as stack:
        folder = out or stack.enter_context(TemporaryDirectory(prefix="wordline-"))
        jobs, cluster = at(on, threads)
        refusals = (_wordline.Refused, UserError)
        runner = Runner(Path(folder) / "runs", jobs, executor or cluster, refusals=refusals)
        search = _Search(scheme, how, seen, range(seed, seed + seeds), wanted, searched, runner)
        see = stack.enter_context(_bar.of_items(progress, trials, "trials"))
        found = search.perform(trials, see)
    # Of a run all that it has, but what the search decides.
    decided = ("scheme", "seed")
    said = [
        w if isinstance(w, str) else {k: v for k, v in asdict(w).items() if k not in decided}
        for w in seen
    ]
    about = {**how, "set": dict(how["set"]), "workloads": said, "seed": seed, "seeds": seeds}
    reference = of_reports(r.to_dict() for of in search.reference for r in of)
    names = tuple(o.name for o in wanted)
    tuned = Tuned(spelled(scheme, {}), names, tuple(found), about, reference)
    if out is not None:
        tuned.save(Path(out) / "tuned.json")
    return tuned


class _Search:
    """A search under way."""

    def __init__(
        self,
        scheme: AnyScheme,
        how: Mapping[str, Any],
        workloads: Sequence[str | Run],
        seeds: Sequence[int],
        objectives: Sequence[score.Objective],
        space: Sequence[Dimension],
        runner: Runner,
    ) -> None:
        """Run the scheme as it is given; raises as a run does."""
        self.scheme, self.how, self.workloads, self.seeds = scheme, how, workloads, seeds
        self.objectives, self.space, self.runner = objectives, space, runner
        self.study = _study(len(objectives), seeds[0])
        given = score.runs(spelled(scheme, {}), how, workloads, seeds)
        reports, refused = runner.run(run for of in given for run in of)
        for error in refused.values():
            raise error
        self.reference = [[reports[run] for run in of] for of in given]

    def perform(self, trials: int, progress: Callable[[int, int], object]) -> list[Trial]:
        """Do so many trials, batch by batch."""
        found: list[Trial] = []
        while len(found) < trials:
            batch = [self.study.ask() for _ in range(min(BATCH, trials - len(found)))]
            found += self._batch(batch)
            progress(len(found), trials)
        return found

    def _batch(self, batch: Sequence[Any]) -> list[Trial]:
        """Run trials of one batch together, workload by workload, and tell what they came to."""
        import optuna

        values = [{d.name: d.suggest(t) for d in self.space} for t in batch]
        schemes = [spelled(self.scheme, v) for v in values]
        runs = [score.runs(s, self.how, self.workloads, self.seeds) for s in schemes]
        done: list[list[list[Report]]] = [[] for _ in batch]
        refused: dict[int, str] = {}
        left = list(range(len(batch)))
        for at in range(len(self.workloads)):
            reports, refusals = self.runner.run(run for i in left for run in runs[i][at])
            for i in left:
                here = runs[i][at]
                why = next((refusals[run] for run in here if run in refusals), None)
                if why is not None:
                    refused[i] = str(why)
                else:
                    done[i].append([reports[run] for run in here])
            left = [i for i in left if i not in refused]
            if len(self.objectives) == 1:
                for i in left:
                    batch[i].report(self._costs(done[i])[0], at)
                left = [i for i in left if not batch[i].should_prune()]
        found = []
        for i, trial in enumerate(batch):
            costs, reason = None, refused.get(i)
            if reason is not None:
                self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
            elif len(done[i]) < len(self.workloads):
                self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                reason = f"worse than the median after {len(done[i])} of the workloads"
            else:
                costs = self._costs(done[i])
                self.study.tell(trial, list(costs))
            runs_of = of_reports(r.to_dict() for of in done[i] for r in of)
            found.append(Trial(trial.number, values[i], schemes[i], costs, reason, runs_of))
        return found

    def _costs(self, reports: Sequence[Sequence[Report]]) -> tuple[float, ...]:
        """Return the cost of each objective on the workloads that have been run."""
        reference = self.reference[: len(reports)]
        found = (score.logs(o, reports, reference) for o in self.objectives)
        return tuple(math.exp(sum(samples) / len(samples)) for samples in found)


def _study(objectives: int, seed: int) -> Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers, seed, few = optuna.samplers, seed % 2**32, 2 * BATCH
    sampler: optuna.samplers.BaseSampler
    if objectives > 1:
        sampler = samplers.NSGAIISampler(seed=seed, population_size=few)
    else:
        sampler = samplers.TPESampler(seed=seed, constant_liar=True, n_startup_trials=few)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=few)
    return optuna.create_study(directions=["minimize"] * objectives, sampler=sampler, pruner=pruner)
