"""How soon writes are written again, and laws of that carried from twin to twin."""

from pathlib import Path

import numpy as np
import pytest

from wordline import toml
from wordline_lab import rewrites as r

KIB = 2  # blocks
TWIN = """
[twin]
requests = 100
write = "50%"

[write]
footprint = "1MiB"
hot_lies = "apart"
sequential = "20%"
hot = "72%"
uniform = "8%"
rewrite = "10%"
theta = 1.0
stable = "94%"
stretch = "8KiB"
hot_space = "10%"

[read]
footprint = "2MiB"
hot = "30%"
"""


def of(*requests):
    lba, blocks = (np.array(column, dtype=np.int64) for column in zip(*requests, strict=True))
    return lba, blocks


def test_distance_is_bytes_written_between_rewrites():
    # 4 KiB at 0, 8 KiB at 4 KiB, then 0 to 8 KiB: its sectors were written 12 and 8 KiB ago.
    found, at = r.distances(*of((0, 4 * KIB), (4 * KIB, 8 * KIB), (0, 8 * KIB)), 4096)
    assert found.tolist() == [np.inf, np.inf, np.inf, 12 * 1024, 8 * 1024]
    assert at.tolist() == [0, 4 * 1024, 4 * 1024, 12 * 1024, 12 * 1024]


def test_a_write_touches_every_unit_that_it_reaches_into():
    # 1 KiB across a page's end, then each of its two pages.
    found, _ = r.distances(*of((31, 2), (0, 1), (63, 1)), 16384)
    assert found.tolist() == [np.inf, np.inf, 1024, 1536]
    # Within a page other sectors are the same page.
    requests = of((0, 4 * KIB), (8 * KIB, 4 * KIB))
    assert r.distances(*requests, 16384)[0].tolist() == [np.inf, 4096]
    assert r.distances(*requests, 4096)[0].tolist() == [np.inf, np.inf]


def test_share_omits_first_writes_and_needs_twice_the_data():
    # 4 MiB over and over, a sector at a time: each comes again after 4 MiB.
    sectors = 4 * 2**20 // 4096
    lba = np.tile(np.arange(sectors) * 8, 5).astype(np.int64)
    blocks = np.full(len(lba), 8, dtype=np.int64)
    assert r.shares(lba, blocks, 4096, (1, 3.9, 4, 10, 11)) == [0.0, 0.0, 1.0, 1.0, None]


def test_law_is_a_mean_by_writes_with_hot_bytes():
    one = toml.parse(TWIN)
    other = toml.parse(
        TWIN.replace("requests = 100", "requests = 300")
        .replace('sequential = "20%"', 'sequential = "40%"')
        .replace('hot = "72%"', 'hot = "52%"')
        .replace('footprint = "1MiB"', 'footprint = "3MiB"')
    )
    found = r.law([one, other])
    assert (found["sequential"], found["hot"], found["uniform"]) == ("35.00%", "57.00%", "8.00%")
    assert found["stretch"] == "8192B"
    # A tenth of 1 MiB and of 3 MiB, one to three.
    assert found["hot_space"] == f"{round(0.1 * 2**20 * (1 + 9) / 4)}B"


def test_a_law_takes_the_place_of_that_of_writes_alone():
    law = {**r.law([toml.parse(TWIN)]), "sequential": "30.00%", "hot": "62.00%"}
    was, now = toml.parse(TWIN), toml.parse(r.with_law(TWIN, law))
    assert now["twin"] == was["twin"]
    assert now["read"] == was["read"]
    assert (now["write"]["sequential"], now["write"]["hot"]) == ("30.00%", "62.00%")
    assert float(now["write"]["hot_space"].rstrip("%")) == pytest.approx(10, rel=1e-4)
    assert (now["write"]["footprint"], now["write"]["hot_lies"]) == ("1MiB", "scattered")


def test_rewriting_a_streams_end_is_written_again_at_once(tmp_path):
    # What tells the twins of pieces from those that are assumed: logs write their last page again.
    soon = {}
    for rewrite in ("0%", "90%"):
        text = toml.builtin("twins/web_1.toml")
        law = {
            **{"sequential": "90.00%", "hot": "1.00%", "uniform": "9.00%", "rewrite": rewrite},
            **{"theta": "1.00", "stable": "0%", "stretch": "1048576B", "hot_space": "65536B"},
        }
        path = tmp_path / f"{rewrite[:-1]}.toml"
        path.write_text(r.with_law(text, law))
        lba, blocks = r.writes(f"{path}:requests=20000")
        soon[rewrite] = r.shares(lba, blocks, 4096, (1,))[0]
    assert soon["0%"] < 0.1
    assert soon["90%"] > 0.2


def test_hierarchy_twin_differs_only_in_the_segment_law():
    base = toml.parse(toml.builtin("twins/hm_0.toml"))
    experiments = Path(r.__file__).parent / "experiments" / "hierarchy"
    for name in ("slice", "rsrch"):
        own = toml.read(experiments / f"hm_0-{name}.toml")
        assert own["read"] == base["read"]
        assert own["arrivals"] == base["arrivals"]
        changed = {k for k in own["write"] if own["write"].get(k) != base["write"].get(k)}
        assert changed <= {*r.LAW, r.HOT, r.STRETCH, "hot_lies"}
