"""Every kind of page in a real browser: can it be read on a telephone and on a desk?

By day and by night. Pages are of real runs, small ones. Debian's chromium is driven by
Playwright; without it the tests are skipped.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="needs pip install '.[sweep]'")
pytest.importorskip("pyarrow", reason="needs pip install '.[sweep]'")
pytest.importorskip("playwright", reason="needs pip install playwright")

from playwright import sync_api as playwright

import browsers
import wordline as wl
from browsers import browser
from helpers import LIVED
from wordline import _wordline
from wordline import page as pages

pytestmark = browsers.NEEDED
__all__ = ["browser"]

#: What each picture says after seven arrow keys.
WALK = """() => [...document.querySelectorAll("figure .plot")].map((plot) => {
  const key = () => new KeyboardEvent("keydown", { key: "ArrowRight" });
  for (let i = 0; i < 7; i++) plot.dispatchEvent(key());
  const tip = plot.querySelector(".tip");
  return [plot.ariaLabel, tip && !tip.hidden ? tip.innerText : ""];
})"""


def command(folder: Path, *args) -> None:
    script = Path(sys.executable).parent / "wordline"
    done = subprocess.run(
        [script, *map(str, args)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


COMBINED = ("turbo-write+pa-ssd:QDS+UBS", "slc-cache+ips-cooperative", "hierarchy+pa-ssd")
SMALL = ["--device", "fair-tlc", "--workload", "bursty", "--requests", "400"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of each kind, with few schemes and with as many as there are."""
    folder = tmp_path_factory.mktemp("pages")
    of = {}
    schemes = [f"--scheme={s}" for s in ("all-compatible", *COMBINED)]
    command(folder, "compare", *SMALL, *schemes, "--out", "many")
    of["comparison of many"] = folder / "many" / "report.html"
    compared = json.loads((folder / "many" / "comparison.json").read_text())
    reports = [json.dumps(r) for r in compared["reports"]]
    assert len(reports) >= 15
    two = ["--scheme=conventional", "--scheme=slc-cache"]
    command(folder, "compare", *SMALL, *two, "--out", "two")
    of["comparison of two of files"] = folder / "two" / "report.html"

    def keep(name: str, text: str) -> None:
        of[name] = folder / f"{name.replace(' ', '-')}.html"
        of[name].write_text(text, encoding="utf-8")

    keep("run", _wordline.html(reports[:1], ([], [])))
    keep("comparison of twelve", _wordline.html(reports[:12], ([], [])))
    keep("overload", _wordline.html([overloaded(reports[0]), *reports[1:12]], ([], [])))
    keep(
        "comparison of two",
        _wordline.html(reports[:2], ([("pa-ssd", "it is not for this one")], [])),
    )
    keep("hostile", _wordline.html([hostile(r) for r in compared["reports"][:2]], ([], [])))
    replicated = wl.compare(
        device="demo-8gb", workload="bursty", requests=300, replicas=2,
        schemes=["conventional", "slc-cache", "hot-cold"],
    )  # fmt: skip
    keep("replicas", replicated.html())
    (folder / "small.csv").write_text(TRACE)
    command(folder, "trace", "inspect", "small.csv", "--out", "trace")
    of["trace"] = folder / "trace" / "trace.html"
    schemes = [f"--scheme={r['scheme']['name']}" for r in compared["reports"]]
    axes = "latency_us.write.mean,+throughput.iops"
    command(folder, "sweep", *SMALL, *schemes, "--frontier", axes, "--jobs", "1", "--out", "sweep")
    of["sweep of many"] = folder / "sweep" / "index.html"
    own = [*SMALL[:2], "--workload", "twin:hm_0:scale=9", "--requests", "300", "--seeds", "2"]
    command(folder, "atlas", *own, "--scheme", "slc-cache", "--out", "atlas")
    of["atlas"] = folder / "atlas" / "index.html"
    lived = wl.lifetime(schemes=["conventional", "raro"], acceleration=100, **LIVED)
    lived = lived.to_dict()
    keep("lifetime of two", _wordline.lifetime_html(json.dumps(lived)))
    lived["schemes"] = [renamed(s, i) for i in range(8) for s in lived["schemes"]]
    keep("lifetime of many", _wordline.lifetime_html(json.dumps(lived)))
    keep("markdown", pages.to_html(MARKDOWN, folder))
    return of


TRACE = "".join(
    f"{128166372000000000 + 100_000 * i},host,0,{'Read' if i % 3 else 'Write'},"
    f"{i * 37 % 50 * 4096},{4096 * (1 + i % 4)},9\n"
    for i in range(400)
)
MARKDOWN = """# What a page from Markdown may hold <b>

A word, then `code ± code` and 3 ± 1.

```
wordline compare --device demo-8gb --workload bursty:write_rate=100MB/s --scheme conventional ± none
```

| scheme | what it says about itself in a long sentence | figure |
|---|---|---:|
| turbo-write+pa-ssd:QDS+UBS | conventional drives do not do what it says of them | 1,234.5 |
"""


def hostile(report: dict) -> str:
    """Names that try to be markup, and one that has no place to break."""
    evil = "</script></pre><script>alert(1)</script>\"'&,=1+1"
    report = json.loads(json.dumps(report))
    report["scheme"] = {"name": evil, "title": "x" * 200}
    report["device"] = {"name": evil, "description": "averylongword" * 12}
    report["workload"]["name"] = "bursty:" + ",".join(f"option_{i}={i}MB/s" for i in range(30))
    report["hints"] = [evil]
    return json.dumps(report)


def overloaded(report: str) -> str:
    """Return a report of a drive that admits no request."""
    told = json.loads(report)
    told["config"]["pacing"] = {"open": {"queue_depth": 0}}
    return json.dumps(told)


def renamed(scheme: dict, number: int) -> dict:
    name = scheme["scheme"]["name"] + f"+pa-ssd:QDS+UBS,copy={number}"
    return {**scheme, "scheme": {**scheme["scheme"], "name": name}}


KINDS = [
    "run", "comparison of two", "comparison of many", "replicas", "hostile", "sweep of many",
    "trace", "lifetime of two", "lifetime of many", "atlas", "markdown",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_page_fits_its_window_in_light_and_dark(made, browser, kind):
    browsers.is_readable(browser, made[kind])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hostile"])
def test_a_page_has_no_barrier(made, browser, kind):
    browsers.has_no_barrier(browser, made[kind])


def unfolded(browser, page: Path):
    tab = browser.new_page()
    tab.goto(page.as_uri())
    tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    return tab


@pytest.mark.parametrize("kind", ["comparison of many", "replicas", "comparison of two"])
def test_first_screen_answers_what_is_asked(made, browser, kind):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(made[kind].as_uri())
    # Which has the lowest p99.9, is it sure, and what does it cost?
    for part in ("#verdict", "#certainty", "#tradeoff", "[data-measure='waf.total']"):
        box = tab.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, part
    tail = tab.locator("[data-measure='latency_us.write.p999']").get_attribute("data-best")
    said = tab.locator("#decision").inner_text()
    best = tail.split(", ") if tail else []
    assert len(best) > 2 or all(name in said for name in best), (best, said)
    assert "runs steady" in tab.locator("#certainty").inner_text()
    # Why is it slow: its section is one click away, and that unfolds it.
    why = tab.locator("details#why")
    assert "Mean write latency" in why.locator("summary").inner_text()
    assert why.get_attribute("open") is None
    tab.locator(".contents a[href='#why']").click()
    assert tab.locator("#write-latency-parts").is_visible()
    assert why.bounding_box()["y"] < 900
    tab.close()


@pytest.mark.parametrize("kind", ["sweep of many", "lifetime of two"])
def test_sweep_and_lifetime_pages_begin_with_the_decision(made, browser, kind):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(made[kind].as_uri())
    assert tab.locator("#decision [data-measure]").count() >= 2
    box = tab.locator("#decision [data-measure]").first.bounding_box()
    assert box["y"] + box["height"] <= 900
    assert tab.locator("#decision figure svg").first.bounding_box()["y"] < 700
    tab.close()


def test_page_of_many_schemes_is_short_light_and_soon_there(made, browser):
    assert made["comparison of many"].stat().st_size <= 1_500_000
    for kind, desk, telephone in (("of twelve", 2, 4), ("of many", 2.3, 4.3)):
        for width, height, screens in ((1280, 900, desk), (375, 800, telephone)):
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(made[f"comparison {kind}"].as_uri())
            tall = tab.evaluate("document.documentElement.scrollHeight")
            shown = f"{kind}: {tall / height:.2f} screens of {width}x{height}"
            assert tall <= screens * height, shown
            tab.close()
    tab = browser.new_page()
    tab.goto(made["comparison of many"].as_uri())
    ready = "performance.getEntriesByType('navigation')[0].domComplete"
    assert tab.evaluate(ready) <= 1000
    tab.close()


def test_decision_fits_beside_its_picture(made, browser):
    tab = browser.new_page()
    for kind in ("comparison of twelve", "replicas", "overload"):
        tab.goto(made[kind].as_uri())
        for width in (700, 1000, 1100, 1280):
            tab.set_viewport_size({"width": width, "height": 900})
            lacks = "(box) => box.scrollWidth - box.clientWidth"
            assert tab.locator("#decision .scroll").evaluate(lacks) == 0, f"{kind}, {width} px"
    assert "overloaded" in tab.locator("#decision").inner_text()
    tab.close()


def test_contents_name_sections_by_their_titles(made):
    def listed(kind: str) -> list[str]:
        text = made[kind].read_text()
        return re.findall(r'<li><a href="#[^"]*">(.*?)</a></li>', text)

    assert listed("trace") == ["Summary", "Requests", "Footprint", "Reuse"]
    assert listed("run")[:4] == ["Decision", "Measures", "Steadiness", "Why it is slow"]
    assert listed("atlas")[:2] == ["Decision", "Every scheme"]
    assert listed("sweep of many")[:2] == ["Decision", "Measures"]


def test_a_trace_page_shows_hot_spots_and_curves(made, browser):
    tab = browser.new_page(color_scheme="dark")
    tab.goto(made["trace"].as_uri())
    looks = """() => {
      const luminance = (e) => {
        const [r, g, b] = getComputedStyle(e).fill.match(/[0-9.]+/g).map(Number);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      return {
        heat: [...document.querySelectorAll("path.heat")].map(
          (e) => [luminance(e), Number(e.getAttribute("fill-opacity"))]),
        dashes: [...document.querySelectorAll("#lru-hit-curve path.line")].map(
          (e) => e.getAttribute("stroke-dasharray")),
      };
    }"""
    found = tab.evaluate(looks)
    # Light ink on a dark ground, and none of it so faint that it is lost.
    assert found["heat"]
    assert all(ink > 200 for ink, _ in found["heat"])
    assert all(part >= 0.2 for _, part in found["heat"])
    assert len(set(found["dashes"])) == len(found["dashes"]) == 3
    tab.close()


def test_controls_of_an_atlas_without_a_choice_are_grey(made, browser):
    tab = browser.new_page()
    tab.goto(made["atlas"].as_uri())
    for name, shown in (("drive", "fair-tlc"), ("workload", "twin:hm_0:scale=9")):
        control = tab.locator(f"#atlas-{name}")
        assert control.is_disabled()
        assert control.locator("option:checked").inner_text() == shown
    assert tab.locator("#atlas-load").is_enabled()
    tab.close()


def test_what_an_atlas_shows_is_downloaded_as_csv(made, browser):
    tab = browser.new_page()
    tab.goto(made["atlas"].as_uri())
    with tab.expect_download() as download:
        tab.locator("#atlas-map-csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "scheme,load,write_mean_times_plain,low_95,high_95,steady_runs,runs"
    assert len(lines) == 1 + tab.locator(".map .cell").count()
    # Its runs are not steady, so that there is no picture of gain and cost.
    assert not tab.locator("#atlas-frontier-csv").is_visible()
    tab.close()
    tab = browser.new_page()
    tab.goto(made["sweep of many"].as_uri())
    with tab.expect_download() as download:
        tab.locator("#decision a[download='sweep.csv']").click()
    assert Path(download.value.path()).read_text().startswith("scheme,")
    tab.close()


def test_a_page_alone_repeats_its_runs(made, tmp_path):
    alone = tmp_path / "sent.html"
    alone.write_bytes(made["comparison of two of files"].read_bytes())
    command(tmp_path, "rerun", alone)


def test_print_and_keyboard_reach_every_section(made, browser):
    tab = browser.new_page()
    tab.goto(made["comparison of two"].as_uri())
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details.part:not([open])").count() == 0
    assert not tab.locator(".contents").is_visible()
    tab.emulate_media(media="screen")
    tab.reload()
    summary = tab.locator("details#latency > summary")
    summary.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#write-latency-cdf").is_visible()
    tab.close()


def test_a_page_is_whole_without_its_script(made, browser):
    tab = browser.new_page(java_script_enabled=False)
    tab.set_viewport_size({"width": 375, "height": 900})
    tab.goto(made["comparison of two"].as_uri())
    assert tab.locator(".measures tbody tr").count() > 10
    assert tab.locator("figure svg path.line").count() > 4
    assert not tab.locator("button").first.is_visible()
    tab.close()


def test_legend_name_toggles_its_curve(made, browser):
    tab = unfolded(browser, made["comparison of two"])
    curve = tab.locator("#read-latency-cdf g.series").nth(1)
    name = tab.locator("#read-latency-cdf text[data-run='1']").first
    shown = "(e) => getComputedStyle(e).display"
    assert curve.evaluate(shown) == "inline"
    name.click()
    assert curve.evaluate(shown) == "none"
    name.press("Enter")
    assert curve.evaluate(shown) == "inline"
    tab.close()


def test_every_picture_is_read_by_arrow_keys(made, browser):
    for kind in ("comparison of two", "comparison of many"):
        tab = unfolded(browser, made[kind])
        said = tab.evaluate(WALK)
        assert len(said) > 10
        for title, text in said:
            assert text, f"{kind}, {title}: nothing is said"
            assert not any(bad in text for bad in ("NaN", "Infinity", "undefined")), text
        tab.close()


def test_the_map_of_blocks_moves_through_time(made, browser):
    tab = unfolded(browser, made["comparison of two"])
    drawn = "[...document.querySelectorAll('g.map')].map((g) => g.innerHTML).join()"
    slider = tab.locator(".scrub input")
    end = tab.evaluate(drawn)
    slider.fill("0")
    assert tab.locator(".scrub output").inner_text() == "0 s"
    begin = tab.evaluate(drawn)
    assert begin != end
    tab.locator(".scrub select").select_option("by region")
    assert tab.evaluate(drawn) != begin
    tab.close()


def test_a_command_is_copied_without_what_binds_text(made, browser):
    tab = browser.new_page()
    tab.goto(made["markdown"].as_uri())
    assert tab.locator(".code pre").inner_text().endswith("--scheme conventional ± none")
    assert "code ± code" in tab.locator("p code").first.inner_text()
    assert "3\u00a0±\u00a01" in tab.locator("main p").first.text_content()
    button = tab.locator(".code button")
    button.click()
    # The clipboard answers in its own time.
    playwright.expect(button).to_have_text(re.compile("copied|selected"))
    assert tab.locator("h1").inner_text() == "What a page from Markdown may hold <b>"
    tab.close()


def test_one_warning_of_many_schemes_is_said_once(made):
    text = made["comparison of many"].read_text()
    # But for the data that the page carries.
    text = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    for hint in ("requests came faster", "no collection happened"):
        assert text.count(hint) <= 1, hint
