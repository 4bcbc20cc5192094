"""Values of a device that no real part has are warned of, at the caller and on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import wordline as wl
from wordline.real import bench
from wordline.runs import Runner

SLOW = {"medium.flash.slc.program": "10s"}
SAYS = "medium.flash.slc.program = 10s is implausible"
#: An engine that ends at once; its endurance lets it wear out.
DEVICE = """
[device]
name = "d"
[medium.flash]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 12
wordlines_per_block = 4
page = "16KiB"
bus = { rate = "off" }
slc = { read = "20us", program = "200us", erase = "2ms", endurance = 100 }
[capacity]
logical = "512KiB"
[gc]
trigger = "free_blocks < 20%"
"""
LOAD = "uniform:requests=4,read=0%,bs=16KiB"


@pytest.fixture
def device(tmp_path: Path) -> Path:
    file = tmp_path / "d.toml"
    file.write_text(DEVICE)
    return file


CALLS: dict[str, Callable[[Any], object]] = {
    "run": lambda of: wl.run(scheme="conventional", workload=LOAD, **of),
    "compare": lambda of: wl.compare(schemes=["conventional"], workload=LOAD, **of),
    "sweep": lambda of: wl.sweep(schemes=["conventional"], workload=LOAD, **of),
    "Drive": lambda of: wl.Drive(scheme="conventional", **of),
    "lifetime": lambda of: wl.lifetime(
        schemes=["conventional"],
        workload="uniform:read=0%,bs=16KiB,bytes=1x",
        acceleration=50,
        **of,
    ),
    "Run.do": lambda of: wl.Run(
        device=str(of["device"]),
        scheme="conventional",
        workload=LOAD,
        set=tuple(of["set"].items()),
    ).do(),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_call_warns_where_it_stands(name: str, device: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        CALLS[name]({"device": device, "set": SLOW})
    assert [str(w.message).partition(":")[0] for w in told] == [SAYS]
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[name]({"device": device, "set": {}})


def test_settings_of_others_are_not_those_of_the_device(device: Path) -> None:
    with pytest.warns(UserWarning, match=SAYS):
        wl.run(
            device=device,
            scheme="conventional",
            workload=LOAD,
            set={**SLOW, "workload.requests": "2"},
        )


def test_scaled_drives_of_a_fit_are_not_warned_of() -> None:
    with warnings.catch_warnings(), bench.device_file(DEVICE.replace("200us", "1ns")) as path:
        warnings.simplefilter("error")
        wl.run(device=path, scheme="conventional", workload=LOAD)


@pytest.mark.parametrize("command", ["sweep", "lifetime"])
def test_commands_warn_once(command: str, device: Path, wordline: Any) -> None:
    words = ["--device", str(device), "--scheme", "conventional"]
    words += ["--workload", "uniform:read=0%,bs=16KiB,requests=40"]
    words += ["--set", "medium.flash.slc.program=10s"]
    done = wordline(command, *words, *(["--acceleration", "50"] if command == "lifetime" else []))
    assert done.err.count(f"warning: {SAYS}") == 1, done.err


def test_a_runner_warns_once_of_one_device(device: Path, tmp_path: Path) -> None:
    # An atlas gives its runs to a runner, as a sweep does.
    run = wl.Run(device=str(device), scheme="conventional", workload=LOAD, set=tuple(SLOW.items()))
    with pytest.warns(UserWarning, match=SAYS):
        Runner(tmp_path / "runs").do([run, replace(run, seed=2)])
