"""How soon the explorer shows a front of 10,000 points and how soon it answers hands, measured in the browser.

    python benchmarks/explorer.py [POINTS]

needs Chromium and the package's dev extra. The front is made up: points on a sphere, of 200 records in random classes.
First paint and the moment at which the front is drawn are counted from the start of the navigation; an interaction
lasts from the event to the frame that shows its effect, as the browser's own Event Timing has it, the worst of several.
Beside it is the time of the page's own thread, the mean of several, which hardly depends on what else the machine does.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace

RECORDS = 200
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
OBJECTIVES = {"loss": "min", "entropy": "max", "linkage": "min"}
# Every event of which the browser tells how long it took to be seen.
WATCH = """
window.took = [];
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.took.push([one.name, one.duration]); })
  .observe({ type: "event", durationThreshold: 16, buffered: true });
"""


def made_up(folder: Path, points: int) -> Path:
    draw = np.random.default_rng(1)
    angles = np.abs(draw.normal(size=(points, 3)))
    values = 1 - angles / np.linalg.norm(angles, axis=1, keepdims=True)
    frame = pd.DataFrame({"loss": values[:, 0], "entropy": 3 * (1 - values[:, 1]), "linkage": 1000 * values[:, 2]})
    frame = frame.sort_values("loss").reset_index(drop=True)
    about: dict[str, Any] = {"status": "feasible", "bound": np.nan, "gap": np.nan, "solver": "nsga3", "seconds": 1.0}
    folder.mkdir()
    frame.assign(**about, stop="time", seed=0).to_parquet(folder / "front.parquet")
    labels = draw.integers(0, 20, (RECORDS, points))
    pd.DataFrame(labels, columns=[str(i) for i in range(points)]).to_parquet(folder / "labels.parquet")
    record = {"formulation": "mo-obam", "parameters": {"k": 5}, "objectives": OBJECTIVES, "records": RECORDS}
    (folder / "front.json").write_text(json.dumps({**record, "points": points, "details": {"solver": "nsga3"}}))
    return folder


class Watch:
    """Times of a page: as its user sees them, and of its own thread alone, which a busy machine does not change."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
        self._devtools.send("Performance.enable")

    @property
    def thread(self) -> float:
        """Milliseconds of the page's thread so far."""
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return 1000 * float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    def worst(self, act: Any, times: int = 5) -> tuple[float, float]:
        """The longest that an event took to be seen (less than 16 is told as 16), and the thread's time for one."""
        self.page.evaluate("window.took = []")
        before = self.thread
        for step in range(times):
            act(step)
            self.page.wait_for_timeout(400)
        spent = (self.thread - before) / times
        return max([16.0, *(duration for _, duration in self.page.evaluate("window.took"))]), spent


def measured(page: Page, address: str) -> dict[str, tuple[float, float | None]]:
    page.add_init_script(WATCH)
    watch = Watch(page)
    page.goto(address)
    page.get_by_role("heading", name="Points", exact=True).wait_for()
    page.get_by_role("button", name="Select point 0", exact=True).wait_for()
    at = "performance.getEntriesByName('{}')[0].startTime"
    found: dict[str, tuple[float, float | None]] = {
        "first paint": (page.evaluate(at.format("first-contentful-paint")), None),
        "front drawn": (page.evaluate(at.format("front drawn")), watch.thread),
    }
    chart = page.locator(".chart").first
    box = chart.bounding_box()
    assert box is not None
    x, y, width, height = box["x"], box["y"], box["width"], box["height"]

    def hover(step: int) -> None:
        page.mouse.move(x + width * (0.3 + 0.08 * step), y + height * 0.5)

    def select(step: int) -> None:
        page.mouse.click(x + width * (0.3 + 0.08 * step), y + height * 0.5)

    def brush(step: int) -> None:
        page.mouse.move(x + width * 0.3, y + height * 0.2)
        page.mouse.down()
        page.mouse.move(x + width * (0.7 + 0.02 * step), y + height * 0.8, steps=4)
        page.mouse.up()

    def weigh(step: int) -> None:
        page.get_by_label("Weight of loss").press("ArrowRight")

    def filtered(step: int) -> None:
        page.get_by_label("Least entropy").press("ArrowRight")

    def turn(step: int) -> None:
        page.mouse.move(x + width * 0.5, y + height * 0.5)
        page.mouse.down()
        page.mouse.move(x + width * (0.55 + 0.03 * step), y + height * 0.55, steps=4)
        page.mouse.up()

    found["hover"] = watch.worst(hover)
    found["select"] = watch.worst(select)
    found["brush"] = watch.worst(brush, 3)
    page.get_by_role("button", name="Show all").click()
    found["weight"] = watch.worst(weigh)
    found["filter"] = watch.worst(filtered)
    found["to parallel coordinates"] = watch.worst(lambda _: page.get_by_role("button", name="Parallel").click(), 1)
    found["to 3-D"] = watch.worst(lambda _: page.get_by_role("button", name="3-D").click(), 1)
    found["turn"] = watch.worst(turn, 3)
    return found


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder:
        explorer = Explorer(Workspace((str(made_up(Path(folder) / "made-up", points)),)))
        threading.Thread(target=explorer.serve_forever, daemon=True).start()
        try:
            with sync_playwright() as driver:
                opened = driver.chromium.launch(executable_path=browser, args=list(FLAGS))
                found = measured(opened.new_page(viewport={"width": 1280, "height": 900}), explorer.gate.address)
                opened.close()
        finally:
            explorer.shutdown()
            explorer.server_close()
    table = Table("what", "ms until seen", "ms of the page's thread", title=f"{points:,} points")
    for what, (seen, thread) in found.items():
        table.add_row(what, f"{seen:,.0f}", "" if thread is None else f"{thread:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
