"""The documentation site in a real browser, as a visitor opens it from disk.

    python .ci/test_site.py [_docs] [--pictures FOLDER]
"""
import argparse
import sys
from pathlib import Path

from browser import Browser

TEXT = ("main p, main li, main a, main span, main code, main h1, main h2, main h3, main td, main th, "
        "figcaption, summary, nav a, nav span")
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => +h.tagName[1])"

# a name in backticks inside a link becomes a link inside a link, which shows as what was typed
LEFTOVERS = "[...document.querySelectorAll('main p, main li, main td')].map(e => e.innerText).filter(t => /\\]\\s*\\(https?:/.test(t)).map(t => t.slice(0, 80))"


def faults(page, url: str) -> list:
    "What is wrong with one page: errors, the network, what sticks out on a phone, contrast, headings"
    page.complaints.clear()
    page.requests.clear()
    page.go(url)
    found = list(page.complaints)
    found += [f"it asks the network for {url}" for url in page.requests if not url.startswith(("file:", "data:"))]
    if page.overflow() > 0: found.append(f"on a phone it is {page.overflow()} px too wide")
    found += [f"a reader sees the markup of a link: {text!r}" for text in page.evaluate(LEFTOVERS)]
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or levels.count(1) != 1: found.append(f"it needs one h1, first of its headings: {levels}")
    found += [f"a heading of level {b} follows one of level {a}" for a, b in zip(levels, levels[1:]) if b > a + 1]
    for scheme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        ratio, element = page.contrast(TEXT)
        if ratio < 4.5: found.append(f"{scheme}: the contrast of {element} is {ratio:.1f}, less than 4.5")
    return found


def check_search(page):
    page.click("#search")
    page.write("sigmoid")
    page.wait("document.querySelectorAll('#found a').length > 0")
    wanted = page.evaluate("document.querySelector('#found a').href")
    page.loaded.clear()
    page.press("ArrowDown")
    page.press("Enter")
    page.loaded.wait(60)
    page.wait(f"location.href === {wanted!r}")
    page.click("#search")
    page.write("zyxwvut")
    page.wait("document.querySelector('#found .none')")


def check_theme(page, home: str):
    page.go(home)
    colours = lambda: page.evaluate("[document.documentElement.dataset.theme, getComputedStyle(document.body).color]")
    before = colours()
    page.click("#theme")
    after = colours()
    assert before[0] != after[0] and before[1] != after[1], f"the switch changes nothing: {before} -> {after}"
    page.go(home)
    assert colours() == after, "the choice must be remembered"


def check_menu(page):
    "On a phone the list of pages opens at a touch"
    page.resize(360, touch=True)
    shown = "document.querySelector('#pages').checkVisibility()"
    assert not page.evaluate(shown), "the menu must be folded at first"
    page.click("#menu")
    assert page.evaluate(shown), "the menu must unfold"


def check_site(browser, site: Path, folder=None) -> list:
    "Complaints about the site in `site`; none if all is well"
    site, found = Path(site).absolute(), []
    page = browser.open(site / "index.html")
    page.resize(360, touch=True)
    addresses = sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html"))
    for address in addresses:
        found += [f"{address}: {fault}" for fault in faults(page, (site / address).as_uri())]
        if folder: page.picture(folder / (address.replace("/", "-") + ".png"))
    page.resize(1200)
    home = (site / "index.html").as_uri()
    try:
        page.go(home)
        check_search(page)
        check_theme(page, home)
        check_menu(page)
    except (AssertionError, RuntimeError) as error: found.append(str(error))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, default=Path("_docs"))
    parser.add_argument("--pictures", type=Path, help="save what the pages look like on a phone here")
    args = parser.parse_args()
    if args.pictures: args.pictures.mkdir(parents=True, exist_ok=True)
    with Browser() as browser: found = check_site(browser, args.site, args.pictures)
    print("\n".join(found) or "nothing to complain about")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
