"""The fixtures of the checks, their order, and the closing line: `N passed, M failed`.

Nothing here changes the working tree: the checks look at copies of it.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import browser as chromium
import tools

# The checks that take longest start first, so that in the end no worker waits long for the other.
LONGEST = [
    "wheel",
    "scikit_learn",
    "determinism",
    "any_table",
    "honest_scores",
    "benchmarks",
    "attacks_command",
    "persistence",
    "answers",
    "invariance",
]


def pytest_addoption(parser):
    parser.addoption("--pictures", help="save what the pages look like in this folder")
    parser.addoption(
        "--versions",
        choices=["newest", "all", "lowest"],
        help="try other Pythons, and the lowest versions of packages",
    )


def pytest_sessionstart():
    if not (tools.ROOT / ".git").exists():
        raise pytest.UsageError(
            "The checks ask git which files belong to the project: please run them in a clone."
        )


def pytest_ignore_collect(collection_path, config):
    if collection_path.name == "test_versions.py" and not config.getoption("versions"):
        return True


def pytest_collection_modifyitems(items):
    def place(item):
        "Return how many of the longest come before it"
        return [name in item.nodeid for name in [*LONGEST, ""]].index(True)

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    mark = item.get_closest_marker("remedy")
    if report.failed and mark:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        report.sections.append(("what to do", mark.args[0].format(**params)))
    return report


def pytest_terminal_summary(terminalreporter):
    "Print what the checks have measured"
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"measured, {name}: {value}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        return  # one of several processes: the one that started them speaks
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    counts = Counter({word: len(reports) for word, reports in stats.items()})
    failed, skipped = counts["failed"] + counts["error"], counts["skipped"]
    print(f"{counts['passed']} passed, {failed} failed" + f", {skipped} skipped" * (skipped > 0))


@pytest.fixture
def copy():
    "Make a copy of the tree that a check may change"
    with tools.copied_tree() as tree:
        yield tree


@pytest.fixture(scope="session")
def tree():
    "Make a copy of the tree in which notebooks run"
    with tools.copied_tree() as tree:
        yield tree


@pytest.fixture(scope="session")
def pictures(pytestconfig):
    "Return `pictures(page, name)`, which saves what a page looks like, if --pictures says where"
    folder = pytestconfig.getoption("pictures")
    return lambda page, name: (
        folder and page.screenshot(path=f"{folder}/{name}.png", full_page=True)
    )


@pytest.fixture(scope="session")
def browser():
    if not (path := chromium.find_browser()):
        unable = pytest.fail if os.environ.get("SELFENCODER_REQUIRE_BROWSER") else pytest.skip
        unable("no Chromium is installed here: `apt-get install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    "Return `visit(address, width=...)`, which opens a page; in the end no page may have complained"
    windows, heard = [], []

    def visit(address: Path, width: int = 1200, **options):
        windows.append(browser.new_context(viewport={"width": width, "height": 1000}, **options))
        page = windows[-1].new_page()
        page.set_default_timeout(60_000)  # a busy machine is no failure
        heard.append(chromium.complaints(page))
        page.goto(address.as_uri())
        return page

    yield visit
    for window in windows:
        window.close()
    tools.complain([f"the browser complains: {words}" for words in sum(heard, [])])
