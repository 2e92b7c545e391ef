"""The documentation site: its links lead somewhere; in a real browser, opened from disk, it can be read and used.

`.venv/bin/pytest .ci/test_site.py --pictures FOLDER` saves what each page looks like on a phone.
"""
import sys

import pytest

import docs
from browser import complaints, low_contrast, overflow
from tools import ROOT, complain, copied_tree, run

# One worker builds the site and makes all these checks of it.
pytestmark = [pytest.mark.xdist_group("site"),
              pytest.mark.remedy("correct the notebook, or .ci/site/; `make docs` builds the site to look at")]

PHONE = {"width": 360, "has_touch": True, "is_mobile": True}
TEXT = ("main p, main li, main a, main span, main code, main h1, main h2, main h3, main td, main th, "
        "figcaption, summary, nav a, nav span")
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => +h.tagName[1])"
# a name in backticks inside a link becomes a link inside a link, which shows as what was typed
LEFTOVERS = r"""[...document.querySelectorAll('main p, main li, main td')].map(e => e.innerText)
  .filter(t => /\]\s*\(https?:/.test(t)).map(t => t.slice(0, 80))"""


@pytest.fixture(scope="session")
def site():
    with copied_tree() as tree:
        run([sys.executable, ROOT / ".ci/docs.py", "site", "--out", tree / "_docs"], tree)
        yield tree / "_docs"


def test_links(site):
    "Every link leads somewhere, every page has a title, every image a description"
    complain(docs.problems(site))


def faults(page) -> list:
    "What is wrong with one page on a phone: what sticks out, markup, headings, contrast"
    found = [f"on a phone it is {overflow(page)} px too wide"] if overflow(page) > 0 else []
    found += [f"a reader sees the markup of a link: {text!r}" for text in page.evaluate(LEFTOVERS)]
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or levels.count(1) != 1: found.append(f"it needs one h1, first of its headings: {levels}")
    found += [f"a heading of level {b} follows one of level {a}" for a, b in zip(levels, levels[1:]) if b > a + 1]
    for scheme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        found += [f"{scheme}: {fault}" for fault in low_contrast(page, TEXT)]
    return found


def test_pages(site, visit, pictures):
    "Every page opens without errors and without the network, and can be read on a phone"
    page, found = visit(site / "index.html", **PHONE), []
    heard = complaints(page)
    for path in sorted(site.rglob("*.html")):
        address = path.relative_to(site).as_posix()
        heard.clear()
        page.goto(path.as_uri())
        found += [f"{address}: {fault}" for fault in heard + faults(page)]
        pictures(page, address.replace("/", "-"))
    complain(found)


def test_search(site, visit):
    page = visit(site / "index.html")
    page.click("#search")
    page.keyboard.type("sigmoid")
    wanted = page.locator("#found a").first.evaluate("link => link.href")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(wanted)
    page.click("#search")
    page.keyboard.type("zyxwvut")
    page.wait_for_selector("#found .none")


def test_theme(site, visit):
    page = visit(site / "index.html")
    colours = lambda: page.evaluate("[document.documentElement.dataset.theme, getComputedStyle(document.body).color]")
    before = colours()
    page.click("#theme")
    after = colours()
    assert before[0] != after[0] and before[1] != after[1], "the switch changes nothing"
    page.reload()
    assert colours() == after, "the choice must be remembered"


def test_menu(site, visit):
    "On a phone the list of pages opens at a touch"
    page = visit(site / "index.html", **PHONE)
    assert not page.is_visible("#pages"), "the menu must be folded at first"
    page.tap("#menu")
    assert page.is_visible("#pages"), "the menu must unfold"
