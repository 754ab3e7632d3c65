"""The page in a real browser, without a screen: seen, heard, filtered, and used by keys alone.

Skipped where there is no Chromium or no playwright. With POCKET_BATCH_SCREENSHOTS=FOLDER the
pictures are kept, to be looked at.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.jobs.report.server import ReportServer
from pocket_batch.jobs.report.write import write_report
from pocket_batch.work_folder import WorkFolder

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SIZES = ((1400, 900), (400, 800))
IS_PLAYING = "() => [...document.querySelectorAll('audio')].filter(a => !a.paused).length"
PLAYED = "() => [...document.querySelectorAll('audio')].some(a => a.currentTime > 0.05)"

# The contrast of each text with what is behind it (WCAG 2.1, 1.4.3), of all that is in sight.
CONTRASTS = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const is_svg = element instanceof SVGElement;
    const [a, b] = [light(rgb(is_svg ? style.fill : style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(element.tagName + " " + element.className + " " + ratio.toFixed(2));
  }
  return low;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a screen."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as running:
        arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--mute-audio"]
        made = running.chromium.launch(executable_path=program, args=arguments)
        yield made
        made.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address; an error in the page or a request to elsewhere fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_it(address: str, scheme: str = "light", size: tuple[int, int] = SIZES[0]) -> Any:
        width, height = size
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}
        )
        contexts.append(context)
        page = context.new_page()
        own = address.rpartition("/")[0]
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("dialog", lambda dialog: wrong.append("a dialog"))
        page.on(
            "request",
            lambda r: None if r.url.startswith((own, "data:")) else wrong.append(r.url),
        )
        page.goto(address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def address(work: WorkFolder) -> str:
    """Of the report as a file."""
    return write_report(work).as_uri()


def test_it_fits_narrow_and_wide_windows_in_both_colours_and_can_be_read(
    address: str, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    folder = Path(os.environ.get("POCKET_BATCH_SCREENSHOTS", tmp_path))
    grounds = set()
    for scheme in ("light", "dark"):
        for size in SIZES:
            page = open_page(address, scheme, size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
            assert page.evaluate(CONTRASTS) == []
            picture = folder / f"report-{scheme}-{size[0]}.png"
            page.screenshot(path=picture, full_page=True)
            assert picture.stat().st_size > 10_000
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


def test_hostile_texts_do_nothing(
    address: str, open_page: Callable[..., Any], hostile: str
) -> None:
    page = open_page(address)
    assert "taken" not in page.title().replace(hostile, "").split(":")[0][:10]
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert "<img src=x onerror=alert(1)>" in page.inner_text("#cards")


def test_a_click_plays_and_another_pauses(address: str, open_page: Callable[..., Any]) -> None:
    page = open_page(address)
    first, second = page.locator("#cards .play").all()
    first.click()
    page.wait_for_function(PLAYED)
    assert first.get_attribute("aria-label") == "Pause Segment 001-0002"
    second.click()
    assert page.evaluate(IS_PLAYING) == 1
    assert first.get_attribute("aria-label") == "Play Segment 001-0002"
    second.click()
    assert page.evaluate(IS_PLAYING) == 0


def test_filters_and_order_change_what_is_listed(
    address: str, open_page: Callable[..., Any]
) -> None:
    page = open_page(address)
    shown = (
        "() => [...document.querySelectorAll('.card:not([hidden])')].map(c => c.dataset.segment)"
    )
    assert page.evaluate(shown) == ["001-0002", "002-0001", "002-0002"]
    page.select_option("#order", "severity")
    assert page.evaluate(shown)[0] == "002-0001"
    page.select_option("#kind", "of_the_future")
    assert page.evaluate(shown) == ["002-0002"]
    assert page.inner_text("#count") == "1 shown"
    page.select_option("#kind", "")
    page.select_option("#chapter", "1")
    assert page.evaluate(shown) == ["001-0002"]
    page.select_option("#chapter", "")
    page.fill("#find", "nobody DOOR")
    assert page.evaluate(shown) == ["001-0002"]
    page.fill("#find", "no such words")
    assert page.is_visible("#none")


def test_the_table_is_sorted_by_its_headers(address: str, open_page: Callable[..., Any]) -> None:
    page = open_page(address)
    first = "() => document.querySelector('#chapters tbody th').textContent"
    page.locator("#chapters .sort", has_text="Chapter").click()
    page.locator("#chapters .sort", has_text="Chapter").click()
    assert page.evaluate(first) == "Part 2"
    assert page.get_attribute("#chapters th >> nth=0", "aria-sort") == "descending"


def test_all_of_it_can_be_done_with_keys(address: str, open_page: Callable[..., Any]) -> None:
    page = open_page(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
        outlined = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outlined != "none"
    assert {"find", "kind", "chapter", "order", "play", "seek", "copy"} <= reached
    page.focus("#cards .play >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_function(PLAYED)
    page.keyboard.press("Space")
    assert page.evaluate(IS_PLAYING) == 0
    page.keyboard.press("Space")
    page.wait_for_function(PLAYED)
    page.keyboard.press("Escape")
    assert page.evaluate(IS_PLAYING) == 0
    page.focus("#cards .seek >> nth=0")
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#cards audio').currentTime > 1")


def test_the_colours_can_be_chosen(address: str, open_page: Callable[..., Any]) -> None:
    page = open_page(address, "light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(3):  # who speaks to the browser says what is seen
        seen, name = page.inner_text("#theme"), page.get_attribute("#theme", "aria-label")
        assert name.startswith(seen)
        page.click("#theme")
    page.click("#theme")  # light
    page.click("#theme")  # dark
    assert page.evaluate(ground) != light
    page.reload()
    assert page.evaluate(ground) != light
    page.click("#theme")
    assert page.evaluate(ground) == light


def test_the_page_of_the_server_plays_every_line(
    work: WorkFolder, open_page: Callable[..., Any]
) -> None:
    with ReportServer(work) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page(server.url)
        assert page.evaluate(CONTRASTS) == []
        page.click("#lines summary >> nth=0")
        page.wait_for_selector("#lines .lines li")
        assert page.locator("#lines .lines li").count() == 3
        page.click("#lines .play >> nth=2")
        page.wait_for_function(PLAYED)
        server.shutdown()


def test_a_line_is_spoken_again_from_the_page(
    story: Path, command: Callable[..., int], open_page: Callable[..., Any]
) -> None:
    story.write_text(story.read_text().replace("She came back", "She came noeos: back"))
    words = ("--voice", "tone", "--executor", "local", "--log-format", "plain", "--format", "wav")
    assert command(story, *words) == 10
    with ReportServer(WorkFolder(story.parent / "story.work")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page(server.url)
        page.fill(".redo textarea >> nth=0", "She came back early.")
        page.click(".redo button >> nth=0")
        page.wait_for_selector("#suspects .calm", timeout=60_000)
        assert "Nothing is suspect" in page.inner_text("#suspects")
        server.shutdown()


def test_any_line_is_spoken_again_and_undone_from_the_page(
    story: Path, command: Callable[..., int], open_page: Callable[..., Any]
) -> None:
    words = ("--voice", "tone", "--executor", "local", "--log-format", "plain", "--format", "wav")
    assert command(story, *words) == 0
    with ReportServer(WorkFolder(story.parent / "story.work")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page(server.url)
        page.click("#lines summary >> nth=0")
        first = page.locator("#lines .lines li").nth(1)
        before = first.locator("bdi").inner_text()
        first.locator(".change").click()
        assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
        assert page.evaluate(CONTRASTS) == []
        first.locator("textarea").fill("Another text of it.")
        first.locator("[type=submit]").click()
        page.wait_for_selector("#lines .undo", timeout=60_000)
        assert first.locator("bdi").inner_text() == "Another text of it."
        assert "Spoken again." in first.locator(".told").inner_text()
        first.locator(".undo").click()
        page.wait_for_selector("#lines .undo", state="detached", timeout=60_000)
        assert first.locator("bdi").inner_text() == before
        server.shutdown()
