"""The explorer in a real browser, from a file of people to an audited release, as someone would use it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import psutil
import pytest

from optmodels.cli import app
from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace
from optmodels.study import DatasetSpec, FormulationSpec, SolverSpec, Study, store
from optmodels.study.attempt import attempt
from optmodels.study.trials import trials_of
from tests.optmodels.explorer.conftest import HOSTILE, LONG, RIGHT_TO_LEFT

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here: apt-get install chromium")
ARTEFACTS = "OPTMODELS_ARTEFACTS"  # where screenshots are left, if they are to be looked at
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
PATIENCE = 90_000  # milliseconds: a busy machine is slow, not wrong


@dataclass
class Seen:
    """What the browser has met, good or bad."""

    page: Page
    folder: Path
    wrong: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.add(request.url))

    def picture(self, name: str) -> None:
        """Leave a screenshot, and see to it that nothing needs sideways scrolling."""
        self.page.screenshot(path=self.folder / f"{name}.png", full_page=True)
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(width) <= 0, f"{name} is wider than the window"

    def settle(self) -> None:
        """No error, and nobody but this machine was asked for anything."""
        assert self.wrong == []
        hosts = {urlsplit(url).hostname for url in self.asked if urlsplit(url).scheme not in ("blob", "data")}
        assert hosts == {"127.0.0.1"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser: pip install .[dev]")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    folder = Path(os.environ.get(ARTEFACTS) or tmp_path / "artefacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Served:
    """An explorer as the command line starts it."""

    def __init__(self, places: list[str], folder: Path) -> None:
        command = [sys.executable, "-m", "optmodels", "explore", *places, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[-1]

    def end(self) -> list[psutil.Process]:
        """End it as schedulers do, and hand back whatever of it is still there."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        _, left = psutil.wait_procs(family, timeout=10)
        return list(left)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    served: list[Served] = []

    def start(*places: str) -> Served:
        served.append(Served(list(places), tmp_path))
        return served[-1]

    yield start
    for one in served:
        if one.process.poll() is None:
            one.end()


def patients(path: Path, n: int = 40) -> Path:
    draw = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "name": [f"Patient {i}" for i in range(n)],
            "age": draw.integers(18, 90, n),
            "postcode": draw.choice(["10115", "10117", "20095"], n),
            "illness": draw.choice(["flu", "cold", "asthma"], n, p=[0.5, 0.3, 0.2]),
            "recovered": draw.choice(["yes", "no"], n),
        }
    )
    frame.to_csv(path, index=False)
    return path


def serious(page: Page) -> list[str]:
    """Problems of accessibility that axe calls serious or critical."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe looks for barriers: pip install .[dev]"
    )
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def test_from_a_file_to_an_audited_release(
    browser: Any, serve: Any, artefacts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    served = serve(str(patients(tmp_path / "patients.csv")))
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page: Page = context.new_page()
    seen = Seen(page, artefacts)

    # Roles are proposed, and one of them is corrected.
    page.goto(served.address)
    page.get_by_role("heading", name="From patients.csv to a front").wait_for()
    assert page.get_by_label("Role of name").input_value() == "identifier"
    assert page.get_by_label("Role of age").input_value() == "numeric"
    assert page.get_by_label("Role of illness").input_value() == "sensitive"
    page.get_by_label("Role of recovered").select_option("target")
    page.get_by_label("k: records in a class, at least").fill("3")
    page.get_by_label("Solver").select_option("nsga2")
    page.get_by_role("cell", name="● proven").first.wait_for()
    seen.picture("1-file")
    assert serious(page) == []

    # A run that would last for ten minutes grows a front, and is stopped.
    page.get_by_label("Seconds, at most").fill("600")
    page.get_by_role("button", name="Find the front").click()
    page.get_by_role("heading", name="Front of patients.csv").wait_for()
    page.get_by_text(re.compile(r"seconds, [1-9]\d* points")).wait_for()

    # The page is closed, and another looks on: the run does not mind.
    place = page.url
    page.close()
    page = context.new_page()
    seen = Seen(page, artefacts, seen.wrong, seen.asked)
    page.goto(place)
    page.get_by_text(re.compile(r"seconds, [1-9]\d* points")).wait_for()
    seen.picture("2-live")
    page.get_by_role("button", name="Stop, and keep what was found").click()
    page.get_by_role("button", name="Look at the front").click()
    folder = tmp_path / "patients-front"
    assert (folder / "front.json").is_file()
    points = json.loads((folder / "front.json").read_text())["points"]

    # The front from all sides, with a filter.
    page.get_by_role("heading", name="Front of").wait_for()
    seen.picture("3-front")
    assert serious(page) == []
    page.get_by_role("button", name="Parallel").click()
    seen.picture("4-parallel")
    page.get_by_role("button", name="3-D").click()
    seen.picture("5-solid")
    page.get_by_role("button", name="2-D").click()
    page.get_by_label("Up").select_option("linkage")
    page.get_by_text("linkage of every point is measured").wait_for()
    page.get_by_label("Up").select_option("loss")

    # By keyboard alone: to a point, select it, to another, compare.
    page.get_by_role("group", name="Front of").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Point", exact=False).first.wait_for()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    page.get_by_role("link", name="Compare with point").click()
    page.get_by_role("heading", name="What differs").wait_for()
    seen.picture("6-compare")
    page.get_by_role("link", name="Back to the front").click()

    # A wish, which is solved with a proof of how good the answer is.
    wished = page.get_by_role("group", name="entropy (higher is better)").get_by_label("at least")
    wished.fill("1.2")
    page.get_by_label("Seconds to solve").fill("2")
    page.get_by_role("button", name="Solve for this").click()
    page.get_by_role("heading", name="Wish: entropy 1.2").wait_for()
    page.get_by_text("It keeps the wish").or_(page.get_by_text("had something at least as good")).wait_for()
    assert "proven" in page.inner_text("main")
    seen.picture("7-wish")
    page.get_by_role("button", name="Look at the front").click()
    page.get_by_role("heading", name="Front of patients.csv").wait_for()
    page.get_by_text("Fronts shown together").wait_for()
    seen.picture("8-after-the-wish")

    # From the front to a release: select, and download.
    page.get_by_role("button", name="Select point 0", exact=True).click()
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Release (CSV)").click()
    release = tmp_path / "downloaded.csv"
    downloaded.value.save_as(release)
    page.get_by_role("link", name="Look at this point").click()
    page.get_by_role("heading", name="Some rows, before and after").wait_for()
    page.get_by_text("The command and the Python that do the same").click()
    page.get_by_text("optmodels release").wait_for()
    page.get_by_label("Classifiers").fill("nb")
    page.get_by_label("Splits").fill("2")
    page.get_by_role("button", name="Measure").click()
    page.get_by_role("columnheader", name="kept").wait_for()
    seen.picture("9-point")
    assert serious(page) == []

    with pytest.raises(SystemExit) as ended:
        app(
            ["audit", str(release), "--quasi", "age,postcode", "--sensitive", "illness", "--json"],
            prog_name="optmodels",
        )
    assert not ended.value.code
    found = json.loads(capsys.readouterr().out)
    assert found["k"] >= 3
    assert found["records"] == 40
    assert points >= 1
    seen.settle()

    # A run that is under way when the explorer is ended goes with it.
    page.get_by_role("link", name="patients.csv", exact=True).click()
    page.get_by_role("button", name="Find the front").click()
    page.get_by_role("button", name="Stop, and keep what was found").wait_for()
    running = [child.cmdline() for child in psutil.Process(served.process.pid).children()]
    assert sum("optmodels.explorer.work" in words for words in running) == 1
    context.close()
    assert served.end() == []


@contextmanager
def served_here(*places: str) -> Iterator[str]:
    """An explorer in this process, which is there sooner than a command; its address."""
    explorer = Explorer(Workspace(places))
    threading.Thread(target=explorer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield explorer.gate.address
    finally:
        explorer.shutdown()
        explorer.server_close()


def test_hostile_names_are_shown_as_text_in_light_and_dark(browser: Any, artefacts: Path, saved: Path) -> None:
    with served_here(str(saved), str(saved.parent / "people.csv")) as address:
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, color_scheme="dark", accept_downloads=True
        )
        page: Page = context.new_page()
        seen = Seen(page, artefacts)
        page.goto(address)
        page.get_by_role("heading", name="Front of").wait_for()
        seen.picture("10-narrow-and-dark")
        assert serious(page) == []
        page.get_by_role("button", name="Select point 1", exact=True).click()
        page.get_by_role("link", name="Look at this point").click()
        page.get_by_role("heading", name="Riskiest classes").wait_for()
        text = page.inner_text("main")
        assert HOSTILE in text
        assert RIGHT_TO_LEFT in text
        assert "<img src=x" in text
        assert LONG[:100] in text
        seen.picture("11-hostile-point")
        assert serious(page) == []
        page.set_viewport_size({"width": 1200, "height": 900})
        seen.picture("11-hostile-point-wide")
        page.goto(f"{address}#compare/1/0/1/1")
        page.get_by_role("heading", name="What differs").wait_for()
        seen.picture("12-hostile-compared")
        page.goto(f"{address}#file/1")
        page.get_by_role("heading", name="From people.csv to a front").wait_for()
        assert page.get_by_label(f"Role of {HOSTILE}").count() == 1
        seen.picture("12-hostile-file-wide")
        page.get_by_role("cell", name="● proven").first.wait_for()
        page.set_viewport_size({"width": 390, "height": 844})
        seen.picture("12-hostile-file")
        assert "owned" not in page.title()
        assert page.locator("main script, main img").count() == 0
        seen.settle()
        context.close()


def test_a_wish_that_is_met_counts_no_further(browser: Any, saved: Path) -> None:
    """Of all points that have the entropy that was wished, the best in all is recommended, not the extreme."""
    with served_here(str(saved)) as address:
        page: Page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.get_by_role("heading", name="Front of").wait_for()
        front = pd.read_parquet(saved / "front.parquet")
        wished = float(front["entropy"].median())
        page.get_by_role("group", name="entropy (higher is better)").get_by_label("wish").fill(str(wished))
        scaled = (front[["loss", "entropy"]] - front[["loss", "entropy"]].min()) / np.ptp(
            front[["loss", "entropy"]].to_numpy(), axis=0
        )
        met = front["entropy"] >= wished
        best = int((scaled["loss"] - scaled["entropy"])[met].idxmin())
        page.get_by_role("button", name=f"point {best}", exact=True).wait_for()
        page.close()


def test_a_study(browser: Any, artefacts: Path, tmp_path: Path) -> None:
    """Profiles, anytime curves, ranks, attainment and a run that is looked into."""
    roles = {"quasi": {"age": "numeric", "postcode": "categorical"}, "sensitive": "illness", "others": "drop"}
    study = Study(
        HOSTILE,
        [DatasetSpec(file=str(patients(tmp_path / "patients.csv", 20)), roles=roles)],
        [FormulationSpec("mo-obam", {"k": [3, 4]})],
        [SolverSpec(name, {"evaluations": 30}) for name in ("nsga2", "spea2")],
        seeds=2,
        answer="front",
        warm_up=False,
    )
    trials = trials_of(study)
    with store.opened(tmp_path / "runs.db") as runs:  # without processes of their own, which take their time to start
        runs.plan(study.name, trials)
        for trial in trials:
            runs.write(trial.key, attempt(trial, lambda *_: None))
    with served_here(str(tmp_path / "runs.db")) as address:
        context = browser.new_context(viewport={"width": 390, "height": 844})
        page: Page = context.new_page()
        seen = Seen(page, artefacts)
        page.goto(address)
        page.get_by_role("heading", name=f"Study {HOSTILE}").wait_for()
        for title in ("Performance profile of values", "Anytime", "Mean ranks", "Attainment"):
            page.get_by_role("heading", name=title).first.wait_for()
        page.get_by_role("button", name="Look at the run").first.click()
        page.get_by_text("points of its front").wait_for()
        seen.picture("13-study")
        assert serious(page) == []
        assert page.title() == f"Study {HOSTILE} – optmodels"  # a name, not something that was run
        seen.settle()
        context.close()
