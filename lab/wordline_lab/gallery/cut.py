"""A power cut and the surviving data: writes over NBD to a served drive with a volatile cache."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time as clock
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from wordline import UserError
from wordline_lab.gallery.drawing import Picture, number
from wordline_lab.gallery.inks import Inks
from wordline_lab.gallery.kept import ROOT

#: The client of the crash tests' examples: Python's standard library alone.
CLIENT = ROOT / "docs" / "crash" / "drive.py"
_PAGE = 4096
_EVERY, _COLUMNS = 64, 40
_DEADLINE_S = 60


@dataclass(frozen=True)
class Cut:
    """Result of a power cut.

    Attributes
    ----------
    acknowledged, flushed
        Writes acknowledged before the cut, and those of them before the last FLUSH.
    back
        Whether each acknowledged page has its data again.
    recovery_ms
        Simulated time from the cut until the drive was ready.
    """

    acknowledged: int
    flushed: int
    back: list[bool]
    recovery_ms: float


def _client() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wordline_lab_nbd", CLIENT)
    if spec is None or spec.loader is None or not CLIENT.is_file():
        raise UserError(
            f"{CLIENT}: not found; this picture needs the NBD client of a clone\n"
            "  hint: pip install -e ./lab in a clone of the repository"
        )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _data(small: bool) -> Cut:
    client = _client()
    with tempfile.TemporaryDirectory() as folder:
        return _cut_in(client, Path(folder), 100 if small else 234)


def _cut_in(client: ModuleType, folder: Path, writes: int) -> Cut:
    """Serve a drive in a folder, cut its power after so many writes, and read all of it back."""
    disk, control = folder / "d.sock", folder / "d.ctl"
    wordline = [sys.executable, "-m", "wordline"]
    serve = [*wordline, "serve", "--device", "demo-8gb", "--scheme", "slc-cache"]
    serve += ["--nbd", f"unix:{disk}", "--control", str(control), "--time-scale", "0"]
    serve += ["--write-cache", "1MiB", "--seed", "1"]

    def ask(*words: str) -> dict[str, Any]:
        done = subprocess.run(
            [*wordline, "ctl", str(control), *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UserError(f"wordline ctl {' '.join(words)}: {done.stderr.strip()}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    with subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            _wait(server, disk, control)
            ask("cut", f"writes={writes}")
            drive = client.Drive(f"nbd+unix:///?socket={disk}")
            acknowledged = flushed = 0
            try:
                while acknowledged < 2 * writes:
                    drive.write(acknowledged * _PAGE, _written(acknowledged))
                    acknowledged += 1
                    if acknowledged % _EVERY == 0:
                        drive.flush()
                        flushed = acknowledged
            except OSError:
                pass  # The power has failed.
            finally:
                drive.socket.close()
            again = client.Drive(f"nbd+unix:///?socket={disk}")
            back = [again.read(i * _PAGE, _PAGE) == _written(i) for i in range(acknowledged)]
            again.socket.close()
            [cut] = ask("stats")["drive"]["cuts"]
        finally:
            server.terminate()
    return Cut(acknowledged, flushed, back, cut["recovery_ns"] / 1e6)


def _wait(server: subprocess.Popen[bytes], *sockets: Path) -> None:
    until = clock.monotonic() + _DEADLINE_S
    while not all(socket.exists() for socket in sockets):
        if server.poll() is not None or clock.monotonic() > until:
            said = server.stderr.read().decode() if server.stderr and server.poll() else ""
            raise UserError(f"wordline serve did not start: {said.strip()}")
        clock.sleep(0.02)


def _written(number: int) -> bytes:
    return (number + 1).to_bytes(8, "little") * (_PAGE // 8)


def _title(cut: Cut) -> str:
    late = cut.back[cut.flushed :]
    flushed = sum(cut.back[: cut.flushed])
    which = "All" if flushed == cut.flushed else f"{flushed} of"
    return (
        f"{which} {cut.flushed} flushed writes are back after the power cut, and {sum(late)} of "
        f"{len(late)} that were acknowledged but not flushed"
    )


def _below(cut: Cut) -> str:
    return (
        "Writes of 4 KiB over NBD to demo-8gb under slc-cache with a volatile write cache of 1 "
        f"MiB, a FLUSH after every {_EVERY}; ready again after {number(cut.recovery_ms)} ms"
    )


def _draw(cut: Cut, figure: Any, inks: Inks) -> None:
    from matplotlib.patches import Rectangle

    at = figure.subplots()
    kinds = {
        "durable": (inks.other, None),
        "survived": (inks.winner, None),
        "lost": ("none", "/////"),
    }
    for i, back in enumerate(cut.back):
        kind = "lost" if not back else "durable" if i < cut.flushed else "survived"
        ink, hatch = kinds[kind]
        y, x = divmod(i, _COLUMNS)
        edge = inks.lost if kind == "lost" else inks.ground
        at.add_patch(
            Rectangle(
                (x + 0.07, y + 0.08),
                0.86,
                0.84,
                facecolor=ink,
                hatch=hatch,
                edgecolor=edge,
                linewidth=1,
            )
        )
    rows = -(-len(cut.back) // _COLUMNS)
    for flush in range(_EVERY, cut.flushed + 1, _EVERY):
        y, x = divmod(flush - 1, _COLUMNS)
        at.plot([x + 1, x + 1], [y + 0.02, y + 0.98], color=inks.ink, linewidth=2.6, clip_on=False)
    y, x = divmod(len(cut.back), _COLUMNS)
    at.annotate(
        "power cut", (x + 0.1, y + 0.5), xytext=(14, 0), textcoords="offset points", va="center",
        weight="bold", color=inks.ink, arrowprops={"arrowstyle": "->", "color": inks.ink},
    )  # fmt: skip
    at.set(xlim=(0, _COLUMNS), ylim=(rows + 0.1, -0.1))
    at.axis("off")
    named = {
        "durable": f"flushed: durable ({cut.flushed})",
        "survived": f"not flushed, back ({sum(cut.back[cut.flushed :])})",
        "lost": f"not flushed, lost ({len(cut.back) - cut.flushed - sum(cut.back[cut.flushed :])})",
    }
    handles: list[Any] = [
        Rectangle(
            (0, 0), 1, 1, facecolor=ink, hatch=hatch, edgecolor=inks.lost if hatch else inks.ground
        )
        for ink, hatch in kinds.values()
    ]
    from matplotlib.lines import Line2D

    handles.append(
        Line2D(
            [],
            [],
            color=inks.ink,
            linewidth=2.6,
            marker="|",
            linestyle="none",
            markersize=13,
            markeredgewidth=2.6,
        )
    )
    figure.legend(
        handles, [*named.values(), "FLUSH"], loc="outside lower center", ncols=4, fontsize=10,
        labelcolor=inks.ink,
    )  # fmt: skip


PICTURE = Picture("power-cut", "A power cut and what came back", _data, _title, _below, _draw)
