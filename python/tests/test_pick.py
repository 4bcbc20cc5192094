"""Which measured drive suits a workload, and the list of such drives."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import wordline as wl
from wordline import commands, toml
from wordline.real import pick
from wordline.runs import Stopped


def test_pick_ranks_drives_and_says_what_is_not_known(wordline: Any, tmp_path: Path) -> None:
    drives = ["wd-sn580-1tb", "kingston-fury-rgb-480gb"]
    words = ["--workload", "uniform:read=50%,bs=64KiB,qd=4", "--requests", "2000", "--json"]
    done = wordline("pick", *words, "--drives", ",".join(drives))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [c["drive"] for c in found] == drives
    assert found[0]["p99_us"] < found[1]["p99_us"]
    assert found[0]["years"] > 0
    assert found[1]["years"] is None
    assert all(c["waf"] is None and c["share"] < 1 for c in found)
    # Nobody measured their single reads; the second one is drowned in writes.
    assert [c["p99_is_assumed"] for c in found] == [True, False]
    assert all(c["dwpd"] > 0 for c in found)


def test_pick_names_a_wrong_drive_and_keeps_lines_whole(
    wordline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = wordline("pick", "--drives", "nosuch", "--workload", "uniform")
    assert done.code == 2
    assert done.err.startswith("error: --drives nosuch: no built-in device")
    named = wordline("pick", "--drives", "demo-8gb,samsung-980-pro-1t", "--workload", "uniform")
    assert 'did you mean "samsung-980-pro-1tb"?\n  hint: `wordline list devices`' in named.err
    assert "demo-8gb: done" not in named.err
    # A name may have any words in it.
    with pytest.raises(wl.UserError, match=r"^--drives device=foo: no built-in"):
        pick.pick("uniform", drives=["device=foo"])
    # Lines of several threads do not mix if each is written at once.
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "write", written.append)
    commands.tell("samsung-980-pro-1tb: done")
    assert written == ["samsung-980-pro-1tb: done\n"]


def test_pick_says_once_what_is_wrong_for_all_drives(wordline: Any, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "when_us,address,size,op\n"
        + "".join(f"{300 * i},{12288 * i},4096,{'RW'[i % 2]}\n" for i in range(24))
    )
    done = wordline("pick", "--workload", "own.csv")
    assert done.code == 2
    assert done.err.startswith("error: own.csv: no trace format matches")
    assert (done.err.count("own.csv: "), "kingston" in done.err) == (1, False)
    # The hint that `trace inspect` gives is there, too.
    assert "when_us | address | size | op" in done.err
    for fill, says in [("95", "write 95%"), ("120%", "not a share"), ("much", "not a share")]:
        done = wordline("pick", "--workload", "uniform", "--fill", fill)
        assert done.code == 2
        assert done.err.startswith(f"error: --fill {fill}: ")
        assert says in done.err


def test_pick_stops_the_other_drives_when_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, stopped = threading.Event(), []

    def on(run: Any, name: str, *_: object) -> pick.Choice:
        if name == "samsung-980-pro-1tb":
            assert started.wait(60)
            raise KeyboardInterrupt
        started.set()
        stopped.append(run.stop.wait(60))
        return pick.Choice(name)

    monkeypatch.setattr(pick._Run, "on", on)
    with pytest.raises(KeyboardInterrupt):
        pick.pick("uniform", drives=["samsung-980-pro-1tb", "kingston-fury-rgb-480gb"], jobs=2)
    assert stopped == [True]
    # A run of requests looks for it at each step.
    run = pick._Run("uniform", 10**9, None, "50%", 1, None, threading.Event())
    run.stop.set()
    drive = wl.Drive(device="fair-tlc", scheme="conventional")
    with pytest.raises(Stopped):
        run._once("fair-tlc", toml.parse(toml.builtin("devices/fair-tlc.toml") or ""), drive, None)


def test_pick_shows_whole_names_and_marks_assumed_latencies() -> None:
    names = pick.measured_drives()
    shown = pick.terminal(
        [pick.Choice(n, 78.84, True, 12.0, 199.0, 1.031, 12.3, 4.87, 0.0638) for n in names]
    )
    for name in names:
        (line,) = (line for line in shown.splitlines() if line.split()[:1] == [name])
        assert line.split()[1] == "~78.84"
    assert "~: follows from the usual read time" in shown


def test_oversized_trace_is_noted_and_others_ranked(tmp_path: Path) -> None:
    trace = tmp_path / "far.csv"
    places = [0, 700_000_000_000, *range(8192, 8192 * 7, 8192)]
    rows = [
        f"{128166372 * 10**9 + i * 10**7},srv,0,Write,{p},4096,100\n" for i, p in enumerate(places)
    ]
    trace.write_text("".join(rows))
    found = pick.pick(str(trace), drives=["kingston-fury-rgb-480gb", "samsung-980-pro-1tb"])
    assert [c.p99_us is None for c in found] == [False, True]
    assert found[1].drive == "kingston-fury-rgb-480gb"
    assert "beyond" in found[1].note
    with pytest.raises(wl.UserError, match="no drive can take the workload"):
        pick.pick(str(trace), drives=["kingston-fury-rgb-480gb"])
    with pytest.raises(wl.UserError, match="no built-in device or file"):
        pick.pick(str(trace), drives=["sony"])


def test_the_list_tells_measured_devices_from_others(wordline: Any) -> None:
    text = wordline("list", "devices").out
    measured, _, others = text.partition("from papers, or hypothetical:")
    assert "samsung-980-pro-1tb" in measured
    assert "demo-8gb" in others
    entries = json.loads(wordline("list", "devices", "--json").out)
    assert {e["name"] for e in entries if e["measured"]} == set(pick.measured_drives())
