"""The page of `explore` in a real browser: click, search, filter, sort, keys, links, print.

`.venv/bin/pytest .ci/test_explorer.py -k picture --pictures nbs/tools` makes the picture of the
documentation again.
"""

import re

import numpy as np
import pandas as pd
import pytest

from browser import unreadable
from selfencoder import KernelSelfEncoder, KernelSelfEncoderClassifier, KernelSelfEncoderRegressor
from selfencoder.datasets import load_dataset
from selfencoder.explorer import explore
from tools import complain

pytestmark = [
    pytest.mark.remedy("mend nbs/tools/explorer.ipynb or selfencoder/data/explorer.*"),
    pytest.mark.xdist_group("explorer"),
]
TEXT = (
    "h1, h2, h3, p, a, th, td, small, label, button:enabled, select, output, "
    "#legend span, .likely span"
)
NASTY = "</script><img src=x onerror=alert(1)>&\"'"
NEW = 3


def loans(n):
    "Loans with ids, real truth values and some missing cells"
    X, y = load_dataset("german_categorical", return_X_y=True, as_frame=True)
    X, y = X[:n].copy(), y[:n].map({1: "good", 0: "bad"}).rename("outcome")
    X["foreign_worker"] = X["foreign_worker"] == "yes"
    X.loc[::7, "age"] = np.nan
    return X, y, pd.Series([f"L{1000 + i}" for i in range(n)], name="loan")


def explored_loans(n):
    "The page of n loans and of three new ones behind them"
    X, y, ids = loans(n + NEW)
    model = KernelSelfEncoderClassifier().fit(X[:n], y[:n])
    new = X[n:]
    return explore(model, X[:n], y[:n], new, ids=ids[:n], new_ids=ids[n:], title="German credit")


@pytest.fixture(scope="session")
def explored():
    return explored_loans(250)


@pytest.fixture(scope="session")
def address(explored, tmp_path_factory):
    return explored.save(tmp_path_factory.mktemp("explorer") / "page.html")


@pytest.fixture
def page(visit, address):
    return visit(address)


def title(page) -> str:
    return page.text_content("#row-title")


def listed(page):
    "Return the rows of the list that is shown"
    return page.locator("#list tbody tr")


def ids(page) -> list:
    return page.locator("#list tbody tr td:first-child").all_text_contents()


def named(rows) -> list:
    "Return the ids of the first page of these rows of the table"
    return [f"L{1000 + row}" for row in rows[:25]]


def search(page, query) -> str:
    "Return how many rows the page says that it finds"
    page.fill("#search", query)
    return page.text_content("#found")


def at(page, row) -> dict:
    "Return where the map shows a row"
    return dict(zip("xy", page.evaluate("row => place().at(row)", row)))


def test_start(page):
    "New rows come first, with an answer, and without a word about a label of theirs"
    assert page.title() == page.text_content("h1") == "German credit"
    assert "3 new rows, compared with 250 rows, 20 columns" in page.text_content("#summary")
    assert "private" in page.text_content("#private")
    assert title(page) == "loan L1250 (new)" and ids(page) == ["L1250", "L1251", "L1252"]
    assert "in the table" not in page.text_content("#row-card")
    legend = page.locator("#legend button").all_text_contents()
    assert legend == ["bad (70)", "good (180)"] and "new (3)" in page.text_content("#legend")
    page.click("#tab-rows")
    assert ids(page) == named(range(25))
    listed(page).first.click()
    assert title(page) == "loan L1000" and "in the table" in page.text_content("#row-card")


def test_sums(page, explored):
    "What made the answer adds up to the number that is shown"
    for row in (0, 1, NEW, NEW + 101):
        page.evaluate("row => select(row)", row)
        texts = page.locator("#row-card .made tr td:nth-child(3)").all_text_contents()
        *parts, total = [float(re.sub("[+\u00a0%]", "", text).replace("−", "-")) for text in texts]
        assert abs(sum(parts) - total) < 0.06 * len(parts), f"row {row}: {texts}"
        probability = explored.record["target"]["probabilities"][row][0]
        assert abs(total - 100 * probability) < 0.051


def test_map(page):
    for row in (200, 31):
        page.locator("#map").click(position=at(page, NEW + row))
        assert title(page) == f"loan L{1000 + row}" and page.url.endswith(f"#id=L{1000 + row}")
    canvas, before, scale = page.locator("#map"), at(page, NEW + 31), page.evaluate("place().scale")
    canvas.hover(position=before)
    tip = page.text_content("#tip")
    assert "L1031" in tip and "outcome" in tip
    page.mouse.wheel(0, -400)
    page.wait_for_function("before => place().scale > 1.3 * before", arg=scale)
    assert at(page, NEW + 31) == pytest.approx(before, abs=2), "what is under the pointer stays"
    moved = before | {"x": before["x"] + 60}
    page.mouse.down()
    canvas.hover(position=moved)
    page.mouse.up()
    assert at(page, NEW + 31) == pytest.approx(moved, abs=6), "dragging moves the map"
    assert title(page) == "loan L1031", "dragging opens no row"
    page.click("#zoom button:last-child")
    assert page.evaluate("place().scale") == scale


def test_colours(page):
    pictures = set()
    for name in ("outcome", "age", "novelty", "doubt", "purpose"):
        page.select_option("#colour", label=name)
        pictures.add(page.locator("#map").evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 5
    assert "all others" in page.text_content("#legend"), "purpose has more values than colours"
    page.select_option("#colour", label="age")
    assert "missing (37)" in page.text_content("#legend")
    page.select_option("#colour", label="outcome")
    page.locator("#legend button").first.click()
    assert page.input_value("#search") == "outcome=bad"
    assert page.text_content("#found") == "70 of 253 rows"


def test_search(page, explored):
    "A search finds values, comparisons and words, in all rows or in those of the list"
    X, target = explored.table, explored.record["target"]
    bad = np.array(target["codes"]) == 0
    mistaken = bad & (np.array(target["likely"])[:, 0] == 1)
    page.click("#tab-rows")
    for query, count in {
        "L1017": 1,
        "outcome=bad": bad.sum(),
        "outcome=bad prediction=good": mistaken.sum(),
        "age=–": 37,
        "nothing like this": 0,
    }.items():
        assert search(page, query) == f"{count} of 253 rows"
    for query, found in {
        "age>60": X.age > 60,
        "foreign_worker=no": ~X.foreign_worker,
        '"radio or television"': X.purpose == "radio or television",
    }.items():
        search(page, query)
        assert ids(page) == named(np.flatnonzero(found))
    page.keyboard.press("Escape")
    assert page.text_content("#found") == "" and len(ids(page)) == 25


def test_sorting(page, explored):
    ages = explored.table.age
    page.click("#tab-rows")
    for first in (ages.argmin(), ages.argmax()):
        page.click("#list [data-key='column 12']")
        assert ids(page)[0] == f"L{1000 + first}"
    assert page.locator("#list th[aria-sort=descending]").text_content() == "age"
    page.click("#pages button:last-child")
    assert "26 to 50 of 250" in page.text_content("#pages")
    listed(page).nth(3).click()
    assert title(page) == f"loan {ids(page)[3]}"


def test_lists(page, explored):
    "Each list begins with the row, the pair or the column that has most of what it shows"
    record, links = explored.record, page.locator("#list tbody .link")
    likely, codes, doubt = map(np.array, map(record["target"].get, ("likely", "codes", "doubt")))
    wrong = (likely[:, 0] != codes)[NEW:]
    page.click("#tab-doubtful")
    assert ids(page)[0] == f"L{1000 + np.where(wrong, doubt[NEW:], -1).argmax()}"
    assert f"of {wrong.sum()}" in page.text_content("#pages")
    page.click("#tab-unusual")
    assert ids(page)[0] == f"L{1000 + np.argmax(record['novelty'][NEW:])}"
    page.click("#tab-duplicates")
    pair = np.array(record["pairs"][0][:2]) - NEW
    differ = explored.table.iloc[pair].apply(lambda column: column.nunique(dropna=False) > 1)
    shown = listed(page).first.locator("td").last.text_content()
    assert shown.startswith(", ".join(differ.index[differ][:3]))
    links.nth(1).click()
    assert title(page) == f"loan L{1000 + pair[1]}"
    page.click("#tab-columns")
    effects = pd.Series([each["effect"] for each in record["columns"]], explored.table.columns)
    assert links.first.text_content() == effects.idxmax() and listed(page).count() == 20
    assert f"{100 * effects.max():.1f}\u00a0%" in listed(page).first.text_content()
    links.first.click()
    assert page.input_value("#colour").startswith("column ")


def test_keyboard(page):
    page.focus("#map")
    before = title(page)
    page.keyboard.press("ArrowDown")
    assert title(page) != before
    page.keyboard.press("+")
    assert page.evaluate("state.zoom") == 1.5
    page.keyboard.press("/")
    page.keyboard.type("purpose=education")
    assert "of 253 rows" in page.text_content("#found")
    page.keyboard.press("Escape")
    page.focus("#tab-new")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-rows", "aria-selected") == "true"
    listed(page).first.click()
    listed(page).first.focus()
    page.keyboard.press("ArrowDown")
    assert title(page) == "loan L1001"
    page.click("#next")
    assert title(page) == "loan L1002"


def test_link(page):
    "An address opens the page at a row; neighbours are links"
    page.evaluate("location.hash = 'id=L1042'")
    page.locator("#row-title", has_text="loan L1042").wait_for()
    link = page.locator("#row-card .near thead .link").first
    neighbor = link.text_content()
    link.click()
    assert title(page) == f"loan {neighbor}"


def test_cells(page):
    "Truth values are yes and no, a missing value is a dash"
    row = page.locator("#row-card .near tbody tr", has_text="foreign")
    assert set(row.locator("td").all_text_contents()) <= {"yes", "no"}
    page.evaluate(f"select({NEW + 7})")
    row = page.locator("#row-card .near tbody tr", has=page.locator("th[title=age]"))
    assert row.locator("td").first.text_content() == "–"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_looks(visit, address, pictures, width, scheme):
    page = visit(address, width=width, color_scheme=scheme)
    for tab in ("doubtful", "duplicates", "columns", "new"):
        page.click(f"#tab-{tab}")
        complain(unreadable(page, TEXT))
    pictures(page, f"explorer-{width}-{scheme}")


def test_printed(visit, address):
    "Each new row takes a sheet; without new ones the open row is printed"
    page = visit(address, width=718, color_scheme="dark")
    sheets = page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "1cm"))
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) == 3
    page.emulate_media(media="print")
    titles = page.locator("#sheets h2").all_text_contents()
    assert titles == ["loan L1250 (new)", "loan L1251 (new)", "loan L1252 (new)"]
    assert page.is_hidden("main") and page.is_hidden("#find") and not unreadable(page, TEXT)
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert white == "rgb(255, 255, 255)", "paper is white"


def test_nothing_acts(visit, tmp_path):
    "Names and cells that try to be more than text stay text"
    X, y, ids = loans(40)
    X = X.assign(purpose=[NASTY, *X.purpose[1:].astype(str)]).rename(columns={"housing": NASTY})
    y, ids = y.replace("good", NASTY).rename(NASTY), ids.replace("L1000", NASTY).rename(NASTY)
    model, new = KernelSelfEncoder().fit(X), X[:2]
    shown = explore(model, X, y, new, ids=ids, new_ids=[NASTY, "2"], title=NASTY)
    page = visit(shown.save(tmp_path / "page.html"))
    assert page.text_content("h1") == NASTY and NASTY in title(page)
    for tab in ("duplicates", "columns", "rows", "new"):
        page.click(f"#tab-{tab}")
    search(page, "onerror")
    page.locator("#map").click(position=at(page, 0))
    page.locator("#map").hover(position=at(page, 0))
    page.evaluate("layOutSheets()")
    assert NASTY in page.text_content("#tip") and page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_numbers(visit, tmp_path):
    "A target of numbers: ranges, errors, and no classes; no new rows, and the open row is printed"
    X, _, ids = loans(80)
    y, X = X.credit_amount, X.drop(columns="credit_amount")
    model = KernelSelfEncoderRegressor().fit(X, y)
    page = visit(explore(model, X, y, ids=ids).save(tmp_path / "page.html"))
    assert page.locator("#tab-new").count() == 0
    card = page.text_content("#row-card")
    assert "Predicted credit_amount" in card
    assert "20 most similar rows the prediction was off" in card
    page.click("#tab-doubtful")
    assert 1 <= listed(page).count() <= 8, "outside of their ranges"
    errors = page.locator("#list tbody td:nth-child(4)").all_text_contents()
    assert page.text_content("#list [data-key=doubt]") == "error"
    assert errors == sorted(errors, key=float, reverse=True)
    page.evaluate("select(5)")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#sheets h2").all_text_contents() == ["loan L1005"]


def test_picture(visit, pytestconfig, tmp_path):
    "What the documentation shows of the page"
    if not (folder := pytestconfig.getoption("pictures")):
        pytest.skip("--pictures FOLDER saves the pictures")
    page = visit(explored_loans(900).save(tmp_path / "page.html"), width=1440)
    page.screenshot(path=f"{folder}/explorer.png")
