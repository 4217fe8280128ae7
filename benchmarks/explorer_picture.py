"""The picture of the explorer in the README: a front of German credit, one point selected.

    python benchmarks/explorer_picture.py [FRONT] [PICTURE]

FRONT is a front's folder, `demo/front` unless given, and PICTURE `docs/explorer.png`; needs Chromium and the dev extra.
"""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace


def main() -> None:
    front, picture = (*sys.argv[1:], *("demo/front", "docs/explorer.png")[len(sys.argv) - 1 :])[:2]
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    explorer = Explorer(Workspace((front,)))
    threading.Thread(target=explorer.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
            page = opened.new_page(viewport={"width": 1240, "height": 800})
            page.goto(explorer.gate.address)
            page.get_by_role("heading", name="Points", exact=True).wait_for()
            page.get_by_role("button", name="point ", exact=False).first.click()
            page.get_by_role("link", name="Look at this point").wait_for()
            page.get_by_label("log").nth(1).check()  # losses of different sizes are told apart
            page.evaluate("document.getElementById('said').textContent = ''")
            page.evaluate("window.scrollTo(0, 0)")
            page.screenshot(path=picture)
            opened.close()
    finally:
        explorer.shutdown()
        explorer.server_close()
    print(f"{picture}: {Path(picture).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
