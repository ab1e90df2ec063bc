"""Make the pictures of the review page, of the bundled corpus.

python docs/figures/review.py
"""

import json
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import tagsift
from tagsift.data import simulate_votes

HERE = Path(__file__).parent
LOOKS = {"light": (1280, 740), "dark": (1280, 740), "phone": (390, 780)}


def main() -> None:
    """Start a review, decide a little, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        votes = Path(folder) / "gazette.tsv"
        corpus = tagsift.bundled("ner").with_columns(1)
        said = simulate_votes(corpus[:200])
        tagsift.io.write_columns(votes, said, gold=False)
        head = "\t".join(["token", *(one.name for one in said.annotators)])
        votes.write_text(f"{head}\n{votes.read_text('utf-8')}", "utf-8")
        command = [sys.executable, "-m", "tagsift", "review", str(votes), "--json"]
        command += ["--header", "--votes", "2:6", "--abstain", "dictionary"]
        command += ["--port", "0", "--store", f"{folder}/review.db"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                browser = driver.chromium.launch(
                    executable_path=shutil.which("chromium")
                )
                page = browser.new_page()
                page.add_init_script("localStorage.setItem('tagsift-name', 'Mira')")
                page.goto(address(server))
                page.locator("svg.fall").wait_for(timeout=120_000)
                page.reload()  # the order is now that of the fit
                for name, (width, height) in LOOKS.items():
                    page.set_viewport_size({"width": width, "height": height})
                    page.emulate_media(
                        color_scheme="dark" if name == "dark" else "light"
                    )
                    if name == "light":
                        decide(page)
                    keep(page.screenshot(), HERE / f"review-{name}.png")
            finally:
                server.terminate()


def address(server: subprocess.Popen[str]) -> str:
    """What the server prints when it is ready."""
    text = ""
    while not text.endswith("}\n"):
        text += server.stdout.readline()
    return str(json.loads(text)["address"])


def decide(page: Page) -> None:
    """Look at a few, until a span with several votes is on the desk."""
    for _ in range(60):
        page.wait_for_selector("body[data-state=item]")
        wide = page.locator("mark.held .token").count() > 1
        before = page.locator("#before").inner_text()
        if wide and before and page.locator("#trail li").count() > 4:
            break
        page.keyboard.press("v" if wide else "Enter")
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
    page.wait_for_timeout(1000)


def keep(picture: bytes, path: Path) -> None:
    """Write a picture with few colours, so that the file is small."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
