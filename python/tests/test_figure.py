"""A new figure is three edits, and whoever names a figure names one that reports have."""

import re

from typed_report import SCHEMA

from helpers import ROOT
from wordline import toml

# Parts of reports that no table of a device file is called by.
PARTS = ["after_last_request", "balance", "begun_steady", "latency_parts_us", "latency_us"]
PARTS += ["life_used", "lifetime", "lost_blocks", "steady_state", "throughput", "timeline", "waf"]
NAMED = re.compile(
    rf"""[`"'+=,](({"|".join(PARTS)})(\.[a-z0-9_*]+)+)(?<!\.html|\.json)(?=[`"',])"""
)
# Beside each mean of a table stands half of its interval.
INTERVAL = ".half_width_95"


def missing(path, schema=SCHEMA):
    """Return whether reports have no figure of this path."""
    node = schema
    for key in path.removesuffix(INTERVAL).split("."):
        node = next((n for n in node.get("anyOf", [node]) if n.get("type") != "null"), node)
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        inner = {**node.get("properties", {})}
        node = inner.get(key, node.get("additionalProperties"))
        if not isinstance(node, dict):
            return True
    return False


def test_a_new_figure_is_three_edits_that_apply():
    edits = toml.parse((ROOT / "tests" / "figure.toml").read_text())["edit"]
    assert len({edit["file"] for edit in edits}) == len(edits) == 3
    for edit in edits:
        text = (ROOT / edit["file"]).read_text()
        assert text.count(edit["find"]) == 1, edit["name"]
        assert edit["find"] in edit["replace"], edit["name"]


def test_figure_paths_exist_in_reports():
    of = ("docs/**/*.md", "README.md", "python/wordline/**/*.py", "lab/wordline_lab/**/*.py")
    found = {}
    for file in (file for pattern in of for file in ROOT.glob(pattern)):
        for path, *_ in NAMED.findall(file.read_text(encoding="utf-8")):
            found.setdefault(path, file.relative_to(ROOT))
    assert len(found) > 8
    assert {path: file for path, file in found.items() if missing(path)} == {}


def test_a_figure_that_no_report_has_is_found():
    assert [missing(p) for p in ("waf.total", "waf.parts.gc.program", "latency_us.write.p99")] == [
        False
    ] * 3
    assert [missing(p) for p in ("waf.totals", "waf.total.mean", "latency_us.p99", "wafs")] == [
        True
    ] * 4
    assert NAMED.findall('"+throughput.iops"')[0][0] == "throughput.iops"
