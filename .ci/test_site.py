"""The documentation site: its links lead somewhere; in a real browser it can be read and used.

`.venv/bin/pytest .ci/test_site.py --pictures FOLDER` saves what each page looks like on a phone.
"""

import html
import os
import re
import sys
from pathlib import PurePosixPath

import pytest

import docs
from browser import complaints, unreadable
from tools import ROOT, complain, contents, copied_tree, run

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
  .filter(e => !getComputedStyle(e).backgroundImage.includes('gradient'))
  .map(e => e.outerHTML.slice(0, 80))"""
# a name in backticks inside a link becomes a link inside a link, which shows as what was typed
LEFTOVERS = r"""[...document.querySelectorAll('main p, main li, main td')].map(e => e.innerText)
  .filter(t => /\]\s*\(https?:/.test(t)).map(t => t.slice(0, 80))"""
COVERED = """[...document.querySelectorAll('.copy')].filter(button => {
  const code = button.parentElement.getBoundingClientRect();
  return button.getBoundingClientRect().bottom > code.top + 1;
}).length"""


@pytest.fixture(scope="session")
def site():
    with copied_tree() as tree:
        run([sys.executable, ROOT / ".ci/docs.py", "site", "--out", tree / "_docs"], tree)
        yield tree / "_docs"


def readable(site) -> list:
    "Return the pages of the site without the redirections"
    old = {site / name for name in docs.moved()}
    new = {site / docs.page_of(name) for name in docs.notebooks(ROOT / "nbs")}
    return sorted(set(site.rglob("*.html")) - old | new)


def links_of(page_html: str) -> list:
    "Return what a page links to and loads"
    return [html.unescape(link) for link in re.findall(r'\b(?:href|src)="([^"]*)"', page_html)]


def broken(name: str, pages: dict, files: set) -> list:
    "Return what is wrong with one page: title, descriptions of images, links inside the site"
    page, found = pages[name], []
    if not re.search(r"<title>\s*\S", page):
        found.append("the page has no title")
    for image in re.findall(r"<img\b[^>]*>", page):
        if not re.search(r'alt="\s*[^"\s]', image):
            found.append(f"{image[:60]} has no alt text (add `#| fig-alt:` to its cell)")
    for link in links_of(page):
        target, _, anchor = link.partition("#")
        if re.match(r"\w[\w+.-]*:|//", link):
            continue
        path = os.path.normpath(PurePosixPath(name).parent / target) if target else name
        if path not in files:
            found.append(f"the link {link} leads nowhere")
        elif anchor and path in pages and f'id="{anchor}"' not in pages[path]:
            found.append(f"the link {link} names no place on that page")
        elif path == "tools/cli.html" and anchor and name != path:
            found.append(f"the link {link} leads from a method to the command's parser")
    return [f"{name}: {fault}" for fault in found]


def test_links(site):
    "Links lead somewhere, pages have titles, images descriptions; no test data is published"
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    pages = {name: text.decode() for name, text in contents(site, "*.html").items()}
    kept = re.compile(r"tests/.*(?<!\.html)(?<!\.png)(?<!\.svg)$")
    found = [f"{name} is not for readers" for name in files if kept.match(name)]
    for name in pages:
        found += broken(name, pages, files)
    complain(sorted(found))


SHOWN = {
    "index.html": [r'<p class="promise">\w', r'alt="[^"]', 'class="output scroll"'],
    "start/credit.html": ['rel="prev"', 'rel="next"', "aria-current=page>", "Open as notebook"],
    "tools/reference.html": [r'id="kernelselfencoder\.kneighbors"'],
    "kernel/solution.html": [
        r"<details>\s*<summary>\s*Source",
        "<figcaption",
        "<math display=.block",
    ],
}


def test_nothing_is_lost(site):
    "Promise, formulas, figures, tables, definitions with their source and neighbours are shown"
    found = []
    for name, patterns in SHOWN.items():
        page = (site / name).read_text(encoding="utf-8")
        found += [f"{name} lacks {each}" for each in patterns if not re.search(each, page)]
    for path in readable(site):
        if left := re.search(r"\x1b\[|:::|style scoped|exported-source", path.read_text("utf-8")):
            found.append(f"{path.name} shows {left[0]!r}")
    complain(found)


def faults(page) -> list:
    "Return what is wrong with one page in its window: what is cut off, markup, headings, contrast"
    found = [f"nothing shows that there is more of {element}" for element in page.evaluate(CUT_OFF)]
    found += [f"a reader sees the markup of a link: {text!r}" for text in page.evaluate(LEFTOVERS)]
    found += ["a button covers code"] * (page.evaluate(COVERED) > 0)
    levels = page.evaluate(HEADINGS)
    if not levels or 1 in levels[1:] or any(b > a + 1 for a, b in zip([0, *levels], levels)):
        found.append(f"it needs one h1 first, and no level of headings left out: {levels}")
    for scheme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        found += [f"{scheme}: {fault}" for fault in unreadable(page, TEXT)]
    return found


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


@pytest.mark.remedy("name in .ci/site/moved.yml the page that has its text now")
def test_old_addresses(site, visit):
    "Every address of 0.2 is a page, or leads to one, with the place on it"
    pages = {docs.page_of(name) for name in docs.notebooks(ROOT / "nbs")}
    wrong = {old: new for old, new in docs.moved().items() if new not in pages}
    complain([f"{old} leads to {new}, which is no page" for old, new in wrong.items()])
    page = visit(site / "index.html")
    page.goto((site / "reference.html").as_uri() + "#selfencoder")
    page.wait_for_url("**/tools/reference.html#selfencoder")


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
    "Code can be copied, also into Python, and a section and a method can be linked to"
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
    "A reader of the paper goes from its model to the verdict: each page leads to the next"
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
