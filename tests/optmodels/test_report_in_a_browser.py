"""The report in a real browser: nothing runs over the edge of a telephone, nothing is asked for, nothing fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.cli import hierarchy_page, listing_page, verdict_page
from optmodels.conditions import Conditions
from optmodels.inspection import inspect_frame
from optmodels.release import release
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.verifier import Verdict
from optmodels.verifier.check import Check

CHROMIUM = shutil.which("chromium")
HOSTILE = ("<script>document.title='owned'</script>", "\u202eשם ארוך", "long" * 300)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a table with columns and values that break pages."""
    draw = np.random.default_rng(3)
    age, town, illness = HOSTILE
    frame = pd.DataFrame(
        {
            age: draw.integers(18, 90, 60),
            town: draw.choice([*HOSTILE, "Ulm"], 60),
            illness: draw.choice([*HOSTILE, "flu"], 60),
            "kept" * 40: draw.integers(0, 5, 60),
        }
    )
    table = Table(frame, quasi={age: "numeric", town: "categorical"}, sensitive=illness, others="keep")
    labels = np.argsort(np.argsort(table.values[:, 0], kind="stable")) // 5
    made = release(table, labels, promise=Conditions(k=5), method="interval")
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(made.to_html(source={"data": HOSTILE[2], "command": "optmodels " + HOSTILE[2]}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pages of other commands about columns and values that break pages."""
    folder = tmp_path_factory.mktemp("pages")
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({name: draw.choice([*HOSTILE, "Ulm"], 40) for name in HOSTILE})
    tree = Hierarchy(HOSTILE, [[HOSTILE[2], HOSTILE[2], HOSTILE[1]]])
    source = {"data": HOSTILE[2], "command": "optmodels " + HOSTILE[2]}
    checks = tuple(Check(name, name, name, kept) for name, kept in zip(HOSTILE, (True, False, None), strict=True))
    pages = {
        "inspection": inspect_frame(frame, source=HOSTILE[0]).to_html(source),
        "hierarchy": hierarchy_page.page(dict.fromkeys(HOSTILE, tree), None, 8, source),
        "verdict": verdict_page.page(Verdict(checks), Path(HOSTILE[0]), source),
        "list": listing_page.of_rows(
            "solvers", [{"name": name, "summary": name, "options": name} for name in HOSTILE], {}
        ),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return [folder / f"{name}.html" for name in pages]


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser: install Debian's package chromium")
def test_it_fits_a_telephone_and_asks_for_nothing(page: Path, others: list[Path]) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            for width, scheme in ((360, "light"), (1200, "dark")):
                window = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
                asked, wrong = [], []
                window.on("request", lambda request, asked=asked: asked.append(request.url))
                window.on("console", lambda message, wrong=wrong: wrong.append(message.text))
                window.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
                window.goto(page.as_uri())
                assert window.evaluate("document.documentElement.scrollWidth") <= width
                assert window.title().startswith("Release of 60 records")
                assert asked == [page.as_uri()]
                assert wrong == []
                found = axe.Axe().run(window).response["violations"]
                assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
            for other in others:
                window.goto(other.as_uri())
                for width in (360, 1200):
                    window.set_viewport_size({"width": width, "height": 800})
                    assert window.evaluate("document.documentElement.scrollWidth") <= width, other.stem
                assert "owned" not in (window.title(), window.evaluate("document.title"))
                assert wrong == []
        finally:
            browser.close()
