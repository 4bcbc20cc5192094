"""A drive that advances only by calls: request by request, forked at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wordline import _bar, _wordline
from wordline._api import AnyScheme, described
from wordline._figures import Figures
from wordline._result import Report
from wordline._run import Progress, asked, native
from wordline._table import Table
from wordline._wordline import UserError
from wordline.implausible import warn_of

_LBA = 512


class Completion(NamedTuple):
    """A completed request: its number in order of submission, operation, address and times.

    Places and sizes are in bytes, times in nanoseconds of the drive's clock. ``outcome`` is
    ``done``, ``out_of_space``, ``uncorrectable`` or ``worn_out``.
    """

    number: int
    op: str
    offset: int
    bytes: int
    arrival_ns: int
    end_ns: int
    outcome: str

    @property
    def latency_us(self) -> float:
        """From arrival to end, in microseconds."""
        return (self.end_ns - self.arrival_ns) / 1e3


def _completions(ended: Sequence[tuple[int, str, int, int, int, int, str]]) -> list[Completion]:
    return [
        Completion(number, op, lba * _LBA, blocks * _LBA, arrival, end, outcome)
        for number, op, lba, blocks, arrival, end, outcome in ended
    ]


class Feed:
    """A workload that is submitted to a drive step by step; `Drive.feed` returns one.

    Requests are submitted as in a run: at their arrival or, in a closed loop, when one completes;
    never more than the queue of the drive accepts. Between steps you can inspect and fork the
    drive, and submit other requests.
    """

    def __init__(self, drive: Drive, native: _wordline.Feed) -> None:
        """Take a drive and what the native half feeds it."""
        self._drive, self._native = drive, native

    @property
    def is_over(self) -> bool:
        """Whether all requests were submitted; `Drive.run` then completes the last ones."""
        return self._native.is_over

    def step(self, count: int | None = None, *, until_ns: int | None = None) -> list[Completion]:
        """Submit requests, and return those that completed meanwhile.

        Parameters
        ----------
        count
            Maximum number of requests to submit; by default all.
        until_ns
            Time on the drive's clock, in nanoseconds, to advance to; no request is submitted after
            it. By default, the arrival of the last submitted request.

        Raises
        ------
        UserError
            The trace cannot be read further, a request is beyond the drive, or the time is in the
            past.
        Fault
            As for `Drive.run`.
        """
        if count is not None and count < 1:
            raise UserError(f"count={count} is not at least 1")
        self._drive._not_before(until_ns)
        most = 2**63 - 1 if count is None else count
        return _completions(self._native.step(self._drive._native, most, until_ns)[1])

    def measure(self, *, until_ns: int | None = None) -> Figures:
        """Submit requests as `step` does, and return a summary of their latencies.

        Parameters
        ----------
        until_ns
            As for `step`.

        Returns
        -------
        Figures
            ``seconds``, ``requests`` and ``failed`` (counts), ``read_bytes``, ``write_bytes``, and
            ``latency_us`` by operation as in a report, in microseconds, and ``all_us`` of all
            operations together; only requests of this workload that completed meanwhile.

        Raises
        ------
        UserError, Fault
            As for `step`.
        """
        self._drive._not_before(until_ns)
        return Figures(json.loads(self._native.measure(self._drive._native, until_ns)))


class Drive:
    """A drive under one scheme, with its own clock, which advances only by calls.

    Parameters
    ----------
    device, scheme, seed, set, initial, from_state
        As for `wordline.run`.
    workload
        The workload whose steady state the drive starts in, for ``initial="steady"``.

    Raises
    ------
    UserError, Refused, Fault
        As for `wordline.run`.

    Examples
    --------
    >>> drive = wl.Drive(device="fair-tlc", scheme="slc-cache", initial="fill:90%")
    >>> drive.write(0, 64 * wl.KiB)
    0
    >>> [c.latency_us for c in drive.run()]
    >>> futures = [drive.play("bursty", requests=1000, seed=seed) for seed in range(1000)]
    """

    def __init__(
        self,
        *,
        device: str | os.PathLike[str],
        scheme: AnyScheme,
        initial: str = _wordline.DEFAULT_INITIAL,
        workload: str | os.PathLike[str] = "uniform",
        seed: int = _wordline.DEFAULT_SEED,
        set: Mapping[str, object] | None = None,
        from_state: str | os.PathLike[str] | None = None,
    ) -> None:
        """Take what the drive is."""
        files = (from_state, None)
        run = described(scheme, device, workload, seed, None, set, initial, files, None, False)
        self._device = os.fspath(device)
        self._scheme = scheme
        self._native = _wordline.SteppedDrive(asked(run), native(run))
        warn_of([(run.device, run.set)])

    @classmethod
    def _over(cls, native: _wordline.SteppedDrive, like: Drive) -> Drive:
        made = cls.__new__(cls)
        made._device, made._scheme, made._native = like._device, like._scheme, native
        return made

    @property
    def now_ns(self) -> int:
        """The time of the drive's clock, in nanoseconds."""
        return self._native.now()

    def submit(self, op: str, offset: int = 0, size: int = 0, *, at_ns: int | None = None) -> int:
        """Submit a request; the drive first advances to its arrival.

        Parameters
        ----------
        op
            ``read``, ``write``, ``trim`` or ``flush``.
        offset, size
            In bytes, multiples of 512; a flush has none.
        at_ns
            Arrival in nanoseconds; by default the drive's time.

        Returns
        -------
        int
            Its number, counted from 0.

        Raises
        ------
        UserError
            The request is beyond the drive, or the time is in the past.
        """
        for value, name in ((offset, "offset"), (size, "size")):
            if value < 0 or value % _LBA:
                raise UserError(f"{name}={value} is not a multiple of {_LBA} bytes")
        if at_ns is not None and at_ns < 0:
            raise UserError(f"at_ns={at_ns} is before the start time of the drive")
        return self._native.submit(op, offset // _LBA, size // _LBA, at_ns)

    def read(self, offset: int, size: int, *, at_ns: int | None = None) -> int:
        """Submit a read, as `submit`."""
        return self.submit("read", offset, size, at_ns=at_ns)

    def write(self, offset: int, size: int, *, at_ns: int | None = None) -> int:
        """Submit a write, as `submit`."""
        return self.submit("write", offset, size, at_ns=at_ns)

    def trim(self, offset: int, size: int, *, at_ns: int | None = None) -> int:
        """Submit a trim, as `submit`."""
        return self.submit("trim", offset, size, at_ns=at_ns)

    def flush(self, *, at_ns: int | None = None) -> int:
        """Submit a flush, as `submit`."""
        return self.submit("flush", at_ns=at_ns)

    def run(self, *, until_ns: int | None = None, most: int | None = None) -> list[Completion]:
        """Advance time, and return the completed requests in order of completion.

        Parameters
        ----------
        until_ns
            Time in nanoseconds to advance to; by default until no event is left.
        most
            Stop after this many completions.

        Raises
        ------
        UserError
            The time is in the past.
        Fault
            An illegal decision of the scheme, or a bug of Wordline.
        """
        limit = 2**63 - 1 if most is None else most
        if limit < 1:
            raise UserError(f"most={most} is not at least 1")
        self._not_before(until_ns)
        return _completions(self._native.run(until_ns, limit))

    def _not_before(self, until_ns: int | None) -> None:
        """Reject a time in the past."""
        if until_ns is not None and until_ns < self.now_ns:
            raise UserError(f"until_ns={until_ns} has passed: the drive is at {self.now_ns}")

    def drain(self) -> None:
        """Complete all outstanding work, and the scheme's idle work until none is left."""
        self._native.drain()

    def fork(self) -> Drive:
        """Return a copy of the drive with its outstanding work.

        Both continue independently and share unchanged data, so a fork costs the memory of what it
        changes.
        """
        return Drive._over(self._native.fork(), self)

    def play(
        self,
        workload: str | os.PathLike[str],
        *,
        seed: int = _wordline.DEFAULT_SEED,
        requests: int | None = None,
        fit: str | None = None,
        traces: str | os.PathLike[str] | None = None,
        check: bool = False,
        keep: bool = False,
        progress: Progress | bool | None = None,
    ) -> Report:
        """Run a workload on a fork of the drive and return its report.

        Time and counters start at zero.

        Parameters
        ----------
        workload, seed, requests, fit, traces, check, progress
            As for `wordline.run`.
        keep
            Continue as that fork: the drive is then in the state after the workload.

        Raises
        ------
        UserError, Fault
            As for `wordline.run`; also a drive with outstanding work, which `drain` completes.
        """
        run = self._run(workload, seed, requests, fit, traces, check)
        with _bar.of_requests(progress, requests) as see:
            report, after = self._native.play(run, see)
        if keep:
            self._native = after
        return Report(report)

    def feed(
        self,
        workload: str | os.PathLike[str],
        *,
        seed: int = _wordline.DEFAULT_SEED,
        requests: int | None = None,
        fit: str | None = None,
        traces: str | os.PathLike[str] | None = None,
    ) -> Feed:
        """Start to feed a trace or another workload to this drive step by step.

        Parameters
        ----------
        workload, seed, requests, fit, traces
            As for `wordline.run`. A trace starts at the current time of the drive.

        Raises
        ------
        UserError
            The workload is invalid, or its requests depend on completions: a fio job file, or a
            client with think time.

        Examples
        --------
        >>> feed = drive.feed("trace.csv", fit="wrap")
        >>> while not feed.is_over:
        ...     ended = feed.step(1000)
        ...     print(drive.now_ns, drive.look().regions[0]["free_share"])
        """
        run = self._run(workload, seed, requests, fit, traces)
        return Feed(self, _wordline.Feed(self._native, run))

    def _run(
        self,
        workload: str | os.PathLike[str],
        seed: int,
        requests: int | None,
        fit: str | None,
        traces: str | os.PathLike[str] | None,
        check: bool = False,
    ) -> dict[str, Any]:
        """Return a workload on this drive as the native library takes it."""
        run = described(
            self._scheme, self._device, workload, seed, requests, None,
            _wordline.DEFAULT_INITIAL, (None, traces), fit, check,
        )  # fmt: skip
        return asked(run)

    def look(self) -> Figures:
        """Return the current state of the drive.

        Returns
        -------
        Figures
            ``now_ns``, ``submitted``, ``outstanding``, ``logical_bytes``, ``live_bytes``,
            ``usable_bytes``, ``host_page_bytes`` (host writes, rounded up to whole mapping pages),
            and ``regions``, each with ``name``, ``mode``, ``blocks``,
            ``free_share``, ``erases``, ``programmed_bytes`` and ``reads`` by cause.
        """
        return Figures(json.loads(self._native.look()))

    def blocks(self) -> Table:
        """Return every block of the drive.

        Returns
        -------
        Table
            Columns ``block``, ``plane``, ``live_bytes``, ``erases``, ``region``, ``mode``,
            ``state`` (``erased``, ``open``, ``full``, ``emptied``, ``retired``) and ``life_used``,
            0 to 1.
        """
        return Table(self._native.blocks())

    def __repr__(self) -> str:
        """Say which drive it is, and when."""
        return f"<Drive {self._device} under {self._native.scheme()} at {self.now_ns} ns>"

    def _repr_html_(self) -> str:
        from wordline import _frame

        found = self.look()
        cells = [
            [r["name"], r["mode"], str(r["blocks"]), f"{r['free_share']:.1%}", str(r["erases"])]
            for r in found.to_dict()["regions"]
        ]
        held = found.live_bytes / found.logical_bytes
        about = f"{self._device} under {found.scheme}, {held:.1%} full, at {self.now_ns / 1e9:g} s"
        return _frame.html(["region", "mode", "blocks", "erased", "erases"], cells, about)


def programmed_bytes(drive: Drive) -> int:
    """Return the bytes that a drive has programmed so far, for any cause."""
    regions: Any = drive.look().regions
    return sum(sum(region["programmed_bytes"].values()) for region in regions)
