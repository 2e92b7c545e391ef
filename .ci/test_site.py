"""The documentation site: its links lead somewhere; in a real browser, opened from disk, it can be read and used.

`.venv/bin/pytest .ci/test_site.py --pictures FOLDER` saves what each page looks like on a phone.
"""

import re
import sys

import pytest
import yaml

import docs
from browser import complaints, unreadable
from tools import ROOT, complain, copied_tree, run

# One worker builds the site and makes all these checks of it.
pytestmark = [
    pytest.mark.xdist_group("site"),
    pytest.mark.remedy(
        "correct the notebook, or .ci/site/; `make docs` builds the site to look at"
    ),
]

PHONE = {"width": 360, "has_touch": True, "is_mobile": True}
WINDOWS = {"on a phone": PHONE, "on a wide screen": {"width": 1400}}
TEXT = (
    "main p, main li, main a, main span, main code, main h1, main h2, main h3, main td, main th, "
    "figcaption, summary, nav a, nav span"
)
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => +h.tagName[1])"
# what is wider than its place must show that there is more
CUT_OFF = r"""[...document.querySelectorAll('main *')]
  .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
  .filter(e => /auto|scroll|hidden/.test(getComputedStyle(e).overflowX))
  .filter(e => !getComputedStyle(e).backgroundImage.includes('gradient')).map(e => e.outerHTML.slice(0, 80))"""
# a name in backticks inside a link becomes a link inside a link, which shows as what was typed
LEFTOVERS = r"""[...document.querySelectorAll('main p, main li, main td')].map(e => e.innerText)
  .filter(t => /\]\s*\(https?:/.test(t)).map(t => t.slice(0, 80))"""
COVERED = """[...document.querySelectorAll('.copy')].filter(button =>
  button.getBoundingClientRect().bottom > button.parentElement.getBoundingClientRect().top + 1).length"""


@pytest.fixture(scope="session")
def site():
    with copied_tree() as tree:
        run([sys.executable, ROOT / ".ci/docs.py", "site", "--out", tree / "_docs"], tree)
        yield tree / "_docs"


def test_links(site):
    "Links lead where their words say, every page has a title, every image a description; no test data is published"
    internal = [
        path.relative_to(site)
        for path in site.rglob("*.html")
        if path.name != "cli.html"
        and re.search(r'href="[^"]*cli\.html#', path.read_text(encoding="utf-8"))
    ]
    complain(
        docs.problems(site)
        + [f"{path} links the name of a method to the command's parser" for path in internal]
        + [
            f"{path} is not for readers"
            for path in (site / "tests").rglob("*")
            if path.is_file() and path.suffix not in (".html", ".png", ".svg")
        ]
    )


def faults(page) -> list:
    "What is wrong with one page in its window: what sticks out or is cut off, markup, headings, contrast"
    found = [f"nothing shows that there is more of {element}" for element in page.evaluate(CUT_OFF)]
    found += [f"a reader sees the markup of a link: {text!r}" for text in page.evaluate(LEFTOVERS)]
    found += ["a button covers code"] * (page.evaluate(COVERED) > 0)
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or levels.count(1) != 1:
        found.append(f"it needs one h1, first of its headings: {levels}")
    found += [
        f"a heading of level {b} follows one of level {a}"
        for a, b in zip(levels, levels[1:])
        if b > a + 1
    ]
    for scheme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        found += [f"{scheme}: {fault}" for fault in unreadable(page, TEXT)]
    return found


def readable(site) -> list:
    "Return the pages of the site without the redirections"
    moved = yaml.safe_load(docs.MOVED.read_text(encoding="utf-8"))
    pages = {docs.page_of(name) for name in docs.notebooks(ROOT / "nbs")}
    gone = moved.keys() - pages
    return sorted(
        path for path in site.rglob("*.html") if path.relative_to(site).as_posix() not in gone
    )


@pytest.mark.remedy("name in .ci/site/moved.yml the page that has its text now")
def test_old_addresses(site, visit):
    "Every address of 0.2 is a page, or leads to one, with the place on it"
    moved = yaml.safe_load(docs.MOVED.read_text(encoding="utf-8"))
    pages = {docs.page_of(name) for name in docs.notebooks(ROOT / "nbs")}
    complain(
        [
            f"{old} leads to {new}, which is no page"
            for old, new in moved.items()
            if new not in pages
        ]
    )
    page = visit(site / "index.html")
    page.goto((site / "reference.html").as_uri() + "#selfencoder")
    page.wait_for_url("**/tools/reference.html#selfencoder")


@pytest.mark.parametrize("window", WINDOWS)
def test_pages(window, site, visit, pictures):
    "Every page opens without errors and without the network, and can be read, by day and by night"
    page, found = visit(site / "index.html", **WINDOWS[window]), []
    heard = complaints(page)
    for path in readable(site):
        address = path.relative_to(site).as_posix()
        heard.clear()
        page.goto(path.as_uri())
        found += [f"{address}, {window}: {fault}" for fault in heard + faults(page)]
        pictures(page, f"{address.replace('/', '-')}-{window.split()[-1]}")
    complain(found)


def test_search(site, visit):
    "The search finds words, lists users' pages before tests, and says when there is nothing"
    page = visit(site / "index.html")
    page.fill("#search", "neighbours")
    page.wait_for_selector("#found a")
    found = page.locator("#found a").evaluate_all("links => links.map(a => a.href)")
    assert not any("/tests/" in link for link in found[:5]), found
    page.fill("#search", "zyxwvut")
    page.wait_for_selector("#found .none")
    page.fill("#search", "sigmoid")
    page.wait_for_selector("#found a")
    wanted = page.locator("#found a").first.evaluate("link => link.href")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(wanted)


def test_copy_and_anchors(site, visit):
    "Code can be copied, a section and a method can be linked to, and values can be copied into Python"
    page = visit(site / "tools/reference.html", permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("div.sourceCode").first
    block.hover()
    block.locator(".copy").click()
    page.wait_for_function(
        "[...document.querySelectorAll('.copy')].some(b => b.textContent === 'Copied')"
    )
    assert page.evaluate("navigator.clipboard.readText()") == block.locator("code").text_content()
    heading = page.locator("main h2[id]").first
    heading.hover()
    heading.locator(".anchor").click()
    assert page.url.endswith("#" + heading.get_attribute("id"))
    assert page.locator("[id='kernelselfencoder.kneighbors']").count() == 1
    assert not set(page.locator("main").inner_text()) & set("\u201c\u201d\u2018\u2019"), (
        "curly quotes are no Python"
    )


def test_path(site, visit):
    "A reader of the paper goes from its model to the verdict: each page names and leads to the next"
    names = dict(docs.sidebar(ROOT / "nbs"))["The paper, step by step"]
    path = [docs.page_of(name) for name in names]
    page = visit(site / path[0])
    assert page.locator("main figure img, main figure svg").count(), "the first page has a picture"
    for following in path[1:]:
        page.locator("main p", has_text="Next: ").last.get_by_role("link").first.click()
        page.wait_for_url(f"**/{following}")
        page.go_back()
        page.locator("#beside [rel=next]").click()
        page.wait_for_url(f"**/{following}")


def test_theme(site, visit):
    page = visit(site / "index.html")
    colours = lambda: page.evaluate(
        "[document.documentElement.dataset.theme, getComputedStyle(document.body).color]"
    )
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
