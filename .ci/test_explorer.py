"""The explorer and the page of `explain` in a real browser: click, search, filter, sort, keys, links.

`.venv/bin/pytest .ci/test_explorer.py -k picture --pictures nbs` makes the pictures of the documentation again.
"""

import numpy as np
import pandas as pd
import pytest

from browser import unreadable
from selfencoder import KernelSelfEncoder, KernelSelfEncoderClassifier, KernelSelfEncoderRegressor
from selfencoder.datasets import load_dataset
from selfencoder.explain_page import explanation_page
from selfencoder.explorer import explore
from tools import complain

pytestmark = [
    pytest.mark.remedy(
        "mend nbs/tools/explorer.ipynb, nbs/tools/explain_page.ipynb or selfencoder/data/"
    ),
    pytest.mark.xdist_group("explorer"),
]
TEXT = "h1, h2, h3, p, a, th, td, small, label, button:enabled, select, output, #legend span, .likely span"
NASTY = "</script><img src=x onerror=alert(1)>&\"'"


def loans(n):
    "Loans with ids, real truth values and some missing cells"
    X, y = load_dataset("german_categorical", return_X_y=True, as_frame=True)
    X, y = X[:n].copy(), y[:n].map({1: "good", 0: "bad"}).rename("outcome")
    X["foreign_worker"] = X["foreign_worker"] == "yes"
    X.loc[::7, "age"] = np.nan
    return X, y, pd.Series([f"L{1000 + i}" for i in range(n)], name="loan")


def explored_loans(n):
    X, y, ids = loans(n)
    return explore(KernelSelfEncoderClassifier().fit(X, y), X, y, ids=ids, title="German credit")


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


def ids(page) -> list:
    return page.locator("#list tbody tr td:first-child").all_text_contents()


def press_at(page, row):
    "Click where the map shows a row"
    x, y = page.evaluate("row => place().at(row)", row)
    page.locator("#map").click(position={"x": x, "y": y})


def test_start(page, explored):
    assert page.title() == page.text_content("h1") == "German credit"
    assert "250 rows, 20 columns" in page.text_content(
        "#summary"
    ) and "private" in page.text_content("#private")
    assert title(page) == "loan L1000" and ids(page)[:3] == ["L1000", "L1001", "L1002"]
    assert page.locator("#legend button").all_text_contents() == ["bad (70)", "good (180)"]
    probability = page.locator("#made .sum").last.text_content()
    assert f"{100 * explored.record['target']['probabilities'][0][0]:.1f}" in probability


def test_sums(page):
    "What made the answer adds up to the number that is shown"
    for row in (0, 17, 101):
        page.evaluate("row => select(row)", row)
        numbers = page.locator("#made tr td:nth-child(3)").all_text_contents()
        *parts, total = [
            float(text.replace("−", "-").replace("\u00a0%", "").replace("+", ""))
            for text in numbers
        ]
        assert abs(sum(parts) - total) < 0.06 * len(parts), (
            f"row {row}: {parts} do not add up to {total}"
        )


def test_map(page):
    for row in (200, 31):
        press_at(page, row)
        assert title(page) == f"loan L{1000 + row}" and page.url.endswith(f"#id=L{1000 + row}")
    x, y = page.evaluate("place().at(31)")
    page.locator("#map").hover(position={"x": x, "y": y})
    assert "L1031" in page.text_content("#tip") and "outcome" in page.text_content("#tip")
    before = page.evaluate("place().scale")
    page.mouse.wheel(0, -400)
    page.wait_for_function("before => place().scale > 1.3 * before", arg=before)
    assert np.hypot(*np.subtract(page.evaluate("place().at(31)"), (x, y))) < 2, (
        "what is under the pointer stays there"
    )
    box = page.locator("#map").bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] + x + 60, box["y"] + y, steps=4)
    page.mouse.up()
    assert abs(page.evaluate("place().at(31)")[0] - x - 60) < 6, "dragging moves the map"
    assert title(page) == "loan L1031", "dragging opens no row"
    page.click("#zoom button:last-child")
    assert page.evaluate("place().scale") == before


def test_layout_and_colour(page):
    picture = lambda: page.locator("#map").evaluate("canvas => canvas.toDataURL()")
    seen = {picture()}
    for name in ("age", "novelty", "doubt", "purpose"):
        page.select_option("#colour", label=name)
        seen.add(picture())
    assert "all others" in page.text_content("#legend"), "purpose has more values than colours"
    page.select_option("#colour", label="age")
    assert "missing (36)" in page.text_content("#legend")
    page.select_option("#layout", "overview")
    seen.add(picture())
    assert len(seen) == 6 and "classical scaling" in page.text_content("#layout-note")


@pytest.mark.parametrize(
    "query,count",
    [
        ("L1017", 1),
        ("outcome=bad", 70),
        ("outcome=bad prediction=good", None),
        ("age>60", None),
        ('"radio or television"', None),
        ("foreign_worker=no", None),
        ("age=–", 36),
        ("nothing like this", 0),
    ],
)
def test_search(page, explored, query, count):
    page.fill("#search", query)
    X, record = explored.table, explored.record["target"]
    predicted = np.array(record["likely"])[:, 0]
    expected = {
        "outcome=bad prediction=good": int(
            ((np.array(record["codes"]) == 0) & (predicted == 1)).sum()
        ),
        "age>60": int((X.age > 60).sum()),
        "foreign_worker=no": int((~X.foreign_worker).sum()),
        '"radio or television"': int((X.purpose == "radio or television").sum()),
    }.get(query, count)
    assert page.text_content("#found") == f"{expected} of 250 rows"
    assert len(ids(page)) == min(max(expected, 1), 25)
    page.keyboard.press("Escape")
    assert page.text_content("#found") == "" and len(ids(page)) == 25


def test_legend_filters(page):
    page.locator("#legend button").first.click()
    assert (
        page.input_value("#search") == "outcome=bad"
        and page.text_content("#found") == "70 of 250 rows"
    )


def test_sorting(page, explored):
    ages = explored.table.age
    page.click("#list [data-key='column 12']")
    assert (
        page.locator("#list th[aria-sort=ascending]").text_content()
        == explored.table.columns[12]
        == "age"
    )
    assert ids(page)[0] == f"L{1000 + int(ages.argmin())}"
    page.click("#list [data-key='column 12']")
    assert ids(page)[0] == f"L{1000 + int(ages.argmax())}"
    page.click("#pages button:last-child")
    assert "26 to 50 of 250" in page.text_content("#pages")
    page.locator("#list tbody tr").nth(3).click()
    assert title(page) == f"loan {ids(page)[3]}"


def test_lists(page, explored):
    record = explored.record
    page.click("#tab-doubtful")
    wrong = np.array(record["target"]["likely"])[:, 0] != np.array(record["target"]["codes"])
    doubt = np.where(wrong, record["target"]["doubt"], -1)
    assert ids(page)[
        0
    ] == f"L{1000 + int(doubt.argmax())}" and f"of {wrong.sum()}" in page.text_content("#pages")
    page.click("#tab-unusual")
    assert ids(page)[0] == f"L{1000 + int(np.argmax(record['novelty']))}"
    page.click("#tab-duplicates")
    first, second, _ = record["pairs"][0]
    assert page.locator("#list thead th").all_text_contents() == [
        "row",
        "and",
        "distance",
        "outcome",
        "differ in",
    ]
    differ = [
        name
        for name in explored.table
        if not explored.table[name].iloc[[first, second]].nunique(dropna=False) == 1
    ]
    assert (
        page.locator("#list tbody tr")
        .first.locator("td")
        .last.text_content()
        .startswith(", ".join(differ[:3]))
    )
    page.locator("#list tbody .link").nth(1).click()
    assert title(page) == f"loan L{1000 + second}" and ids(page)[0] == f"L{1000 + first}"
    page.click("#tab-columns")
    assert page.locator("#list tbody tr").count() == 20
    effects = [column["effect"] for column in record["columns"]]
    assert (
        page.locator("#list tbody .link").first.text_content()
        == explored.table.columns[int(np.argmax(effects))]
    )
    assert f"{100 * max(effects):.1f}\u00a0%" in page.locator("#list tbody tr").first.text_content()
    page.locator("#list tbody .link").first.click()
    assert page.locator("#colour").input_value().startswith("column ")


def test_keyboard(page):
    page.focus("#map")
    before = title(page)
    page.keyboard.press("ArrowRight")
    assert title(page) != before
    page.keyboard.press("+")
    assert page.evaluate("state.zoom") == 1.5
    page.keyboard.press("/")
    page.keyboard.type("purpose=education")
    assert "of 250 rows" in page.text_content("#found")
    page.keyboard.press("Escape")
    page.focus("#tab-rows")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-doubtful", "aria-selected") == "true"
    page.click("#tab-rows")
    page.locator("#list tbody tr").first.click()
    page.locator("#list tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    assert title(page) == "loan L1001"
    page.click("#next")
    assert title(page) == "loan L1002"


def test_link(page):
    "An address opens the page at a row; neighbours are links"
    page.evaluate("location.hash = 'id=L1042'")
    page.locator("#row-title", has_text="loan L1042").wait_for()
    page.evaluate("location.hash = 'L1043'")
    page.locator("#row-title", has_text="loan L1043").wait_for()
    neighbor = page.locator("#near thead .link").first.text_content()
    page.locator("#near thead .link").first.click()
    assert title(page) == f"loan {neighbor}"


def test_truth_values_and_missing(page):
    row = page.locator("#near tbody tr", has_text="foreign")
    assert set(row.locator("td").all_text_contents()) <= {"yes", "no"}
    page.evaluate("select(7)")
    row = page.locator("#near tbody tr", has=page.locator("th[title=age]"))
    assert row.locator("td").first.text_content() == "–"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", ["explorer", "explain"])
def test_looks(visit, address, explained, pictures, name, width, scheme):
    page = visit(address if name == "explorer" else explained, width=width, color_scheme=scheme)
    for tab in ("doubtful", "duplicates", "columns", "rows") if name == "explorer" else [None]:
        if tab:
            page.click(f"#tab-{tab}")
        complain(unreadable(page, TEXT))
    pictures(page, f"{name}-{width}-{scheme}")


def test_nothing_acts(visit, tmp_path):
    "Names and cells that try to be more than text stay text"
    X, y, ids = loans(40)
    X = X.assign(purpose=[NASTY, *X.purpose[1:].astype(str)]).rename(columns={"housing": NASTY})
    y, ids = y.replace("good", NASTY).rename(NASTY), ids.replace("L1000", NASTY).rename(NASTY)
    explored = explore(KernelSelfEncoder().fit(X), X, y, ids=ids, title=NASTY)
    page = visit(explored.save(tmp_path / "page.html"))
    assert page.text_content("h1") == NASTY and NASTY in title(page)
    for tab in ("duplicates", "columns", "rows"):
        page.click(f"#tab-{tab}")
    page.fill("#search", "onerror")
    press_at(page, 0)
    page.locator("#map").hover(position=dict(zip("xy", page.evaluate("place().at(0)"))))
    assert NASTY in page.text_content("#tip") and page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_numbers(visit, tmp_path):
    "A target of numbers: range, errors, and no classes"
    X, _, ids = loans(80)
    y, X = X.credit_amount, X.drop(columns="credit_amount")
    page = visit(
        explore(KernelSelfEncoderRegressor().fit(X, y), X, y, ids=ids).save(tmp_path / "page.html")
    )
    assert "Predicted credit_amount" in page.text_content(
        "#answer"
    ) and "Nine of ten" in page.text_content("#row-card")
    page.click("#tab-doubtful")
    assert page.locator("#list tbody tr").count() == 8, "the largest tenth of the errors"
    errors = page.locator("#list tbody td:nth-child(4)").all_text_contents()
    assert page.text_content("#list [data-key=doubt]") == "error" and errors == sorted(
        errors, key=float, reverse=True
    )


# ---- the page of explain --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def explained(tmp_path_factory):
    X, y, ids = loans(303)
    X, y = X.set_axis(pd.Index(ids)), y.set_axis(ids)
    model = KernelSelfEncoderClassifier().fit(X[:300], y[:300])
    path = tmp_path_factory.mktemp("explain") / "page.html"
    path.write_text(explanation_page(model, X[:300], y[:300], X[300:]), encoding="utf-8")
    return path


def test_explain_index(visit, explained):
    page = visit(explained)
    assert page.locator("#index tbody tr").count() == page.locator("article").count() == 3
    page.fill("#filter", "L1301")
    assert page.locator("article:visible h2").all_text_contents() == ["L1301"]
    assert (
        page.text_content("#found") == "1 found"
        and page.locator("#index tbody tr:visible").count() == 1
    )
    page.fill("#filter", "")
    page.click("text=L1302")
    assert page.url.endswith("#query-2") and page.locator("#query-2").is_visible()


def test_explain_printed(visit, explained):
    page = visit(explained, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.is_hidden("#filter") and not unreadable(page, TEXT)
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ), "paper is white"


def test_picture(visit, explained, pytestconfig, tmp_path):
    "What the documentation shows of the two pages"
    if not (folder := pytestconfig.getoption("pictures")):
        pytest.skip("--pictures FOLDER saves the pictures")
    page = visit(explored_loans(1000).save(tmp_path / "page.html"), width=1440)
    page.evaluate("select(15)")
    page.screenshot(path=f"{folder}/explorer.png")
    visit(explained).screenshot(path=f"{folder}/explain_page.png")
