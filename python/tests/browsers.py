"""Debian's chromium, and whether a page can be read in it."""

import json
import shutil
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)
NEEDED = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")

WIDTHS = (375, 1280)
LEAST_PX = 11
LEAST_CONTRAST = 4.5

#: What is wrong with a page as it is shown now.
AUDIT = (Path(__file__).parent / "audit.js").read_text().split("\n", 1)[1]
#: Until the page has been drawn with all that its observers change.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def has_no_barrier(browser, page: Path) -> None:
    """Assert that axe-core finds nothing on a page with all its folds open."""
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text()
    tab = browser.new_page()
    tab.goto(page.as_uri())
    tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    tab.evaluate(script)
    # Contrast, which takes axe-core longest, `is_readable` checks of every text.
    rules = "{ 'color-contrast': { enabled: false } }"
    asked = f"axe.run(document, {{ resultTypes: ['violations'], rules: {rules} }})"
    found = tab.evaluate(asked)["violations"]
    tab.close()
    said = [f"{v['id']}: {v['help']}: {[n['html'][:200] for n in v['nodes'][:3]]}" for v in found]
    assert not said, "\n".join(said)


def is_readable(browser, page: Path) -> None:
    """Assert that a page fits its window, on a telephone and on a desk, by day and by night."""
    tab = browser.new_page()
    logged = []
    tab.on("console", lambda message: logged.append(message.text))
    tab.on("pageerror", lambda error: logged.append(str(error)))
    tab.on("request", lambda r: r.url.startswith(("file:", "data:")) or logged.append(r.url))
    tab.goto(page.as_uri())
    tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    wrong = {}
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            tab.evaluate(DRAWN)
            found = tab.evaluate(AUDIT, [LEAST_PX, LEAST_CONTRAST])
            if found:
                wrong[f"{width} px, {scheme}"] = found
    tab.close()
    assert not wrong, json.dumps(wrong, indent=1, ensure_ascii=False)
    assert logged == []
