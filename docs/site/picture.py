"""Draw docs/demo.svg, the picture of the README, from what `wordline demo` wrote.

``python docs/site/picture.py out/demo/comparison.json > docs/demo.svg``. Its colors read on light
and on dark pages, which an image cannot ask for.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDE, HIGH = 720, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 112, 30, 42
#: Milliseconds at both ends, and the shares of writes that are marked.
LEAST, MOST = 1.0, 200.0
SHARES = (0.5, 0.9, 0.99, 0.999)
#: Nines at the upper end.
NINES = 3.3
TEXT, LINES = "#737b85", "#8b949e"
COLORS = {"conventional": "#737b85", "slc-cache": "#3b82f6", "sector": "#d9480f"}
DASHES = {"conventional": "", "slc-cache": "9 4", "sector": "3 3"}


def across(ms: float) -> float:
    """Return where a latency lies."""
    share = math.log(ms / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDE - LEFT - RIGHT)


def down(share: float) -> float:
    """Return where a share of the writes lies: each nine is as high as the others."""
    return HIGH - BOTTOM + math.log10(1 - share) / NINES * (HIGH - TOP - BOTTOM)


def path(points: Sequence[Sequence[float]]) -> str:
    """Return the path of a distribution, microseconds and shares, within the picture."""
    inside = [(us / 1e3, share) for us, share in points if 1 - share >= 10**-NINES]
    seen = [(across(ms), down(share)) for ms, share in inside if ms >= LEAST]
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in seen)


def text(x: float, y: float, words: str, more: str = "") -> str:
    """Return words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>'


def picture(comparison: dict[str, Any]) -> str:
    """Return the picture of a comparison as SVG."""
    grid, words, curves = [], [], []
    for share in SHARES:
        y = down(share)
        grid.append(f"M{LEFT} {y:.1f} H{WIDE - RIGHT}")
        words.append(text(LEFT - 8, y + 4, f"{share * 100:g} %", 'text-anchor="end"'))
    for ms in (1, 3, 10, 30, 100):
        x = across(ms)
        grid.append(f"M{x:.1f} {TOP} V{HIGH - BOTTOM}")
        words.append(text(x, HIGH - BOTTOM + 18, f"{ms:g} ms", 'text-anchor="middle"'))
    for at, report in enumerate(comparison["reports"]):
        name = report["scheme"]["name"]
        style = f'stroke="{COLORS[name]}" stroke-dasharray="{DASHES[name]}"'
        curves.append(f'<path d="{path(report["latency_cdf"]["write"])}" {style}/>')
        y = TOP + 16 + 40 * at
        p99 = report["latency_us"]["write"]["p99"] / 1e3
        bold = f'fill="{COLORS[name]}" font-weight="600"'
        words.append(text(WIDE - RIGHT + 14, y, name, bold))
        words.append(text(WIDE - RIGHT + 14, y + 16, f"p99 {p99:.3g} ms"))
    words.append(text(LEFT, 18, "Share of writes completed within"))
    words.append(text(WIDE - RIGHT, HIGH - 6, "write latency", 'text-anchor="end"'))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" '
        f'font-family="system-ui,sans-serif" font-size="13" fill="{TEXT}">'
        "<title>Write latency of three schemes: share of writes completed within a time</title>\n"
        f'<path d="{" ".join(grid)}" stroke="{LINES}" stroke-opacity=".35" fill="none"/>\n'
        f'<g fill="none" stroke-width="2.5">\n{chr(10).join(curves)}\n</g>\n'
        f"{chr(10).join(words)}\n</svg>\n"
    )


if __name__ == "__main__":
    sys.stdout.write(picture(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
