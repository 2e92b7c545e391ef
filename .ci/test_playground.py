"""The playground in a real browser: it trains as Python does, follows mouse, finger and keys.

`.venv/bin/pytest .ci/test_playground.py --pictures FOLDER` saves what the page looks like.
"""

from itertools import product

import numpy as np
import pytest
import torch

from browser import unreadable
from selfencoder import KernelSelfEncoder, SelfEncoder
from selfencoder.network.coordinates import TableCoordinates
from selfencoder.network.model import SelfEncoderNetwork, start_zero
from selfencoder.network.solvers import bregman_bias, lbfgs, newton
from tools import ROOT, complain

pytestmark = pytest.mark.remedy(
    "mend nbs/static/playground/; `.venv/bin/pytest .ci/test_playground.py --pictures "
    "FOLDER` saves what the page looks like"
)

TEXT = "h1, p, a, label, legend, output, figcaption, button:not(.point):enabled, select"
# The page draws once per frame, so two frames without a pending timer are enough.
RESTS = """async () => {
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  return document.body.dataset.drawn === 'fine';
}"""
# The scores of queries in the page, and for kernels the weights of the rows
TRAIN = """([X, options, queries]) => {
  const { functions, weights } = selfEncoder.train(X, options);
  const scores = queries.map(query => selfEncoder.values(functions, query));
  return [scores, weights ? queries.map(weights) : []];
}"""


def rest(page):
    "Wait until the fine picture of the last change is there"
    page.wait_for_function(RESTS)


@pytest.fixture
def open_playground(visit):
    def open_playground(**options):
        page = visit(ROOT / "nbs/static/playground/index.html", **options)
        rest(page)
        return page

    return open_playground


@pytest.fixture
def page(open_playground):
    return open_playground()


# ---- the same training as in Python -------------------------------------------------------------

CASES = {
    "the paper's square": [[1, 1], [-1, 1], [-1, -1], [1, -1]],
    "the square, stretched": [[3.1, 1.2], [0.1, -0.7], [-3.1, -1.2], [-0.1, 0.7]],
    "one point inside": [[1.1, 0.9], [-1, 1.2], [-0.9, -1], [1, -1], [0.2, 0.1]],
    "twelve": [
        [-1.6, -0.9],
        [-1.1, -0.2],
        [-0.5, -0.6],
        [-0.2, 0.3],
        [0.3, -0.1],
        [0.7, 0.7],
        [1.2, 0.4],
        [1.7, 1.1],
        [0.1, 1.2],
        [-0.9, -1.3],
        [1.5, -1.4],
        [-1.7, 1.5],
    ],
    "odd units": [
        [1000.2, 0.0013],
        [1003.1, 0.0009],
        [998.4, 0.0021],
        [1001.7, 0.0030],
        [1000.9, 0.0004],
    ],
    "on a line": [[0, 1], [1, 3], [2, 5], [4, 9]],
    "on a vertical line": [[2, 1], [2, 3], [2, -4]],
    "two equal ones": [[0.5, 0.5], [0.5, 0.5], [-1, 0.3], [0.2, -1]],
}


def trained_in_python(X, invariance, output, alpha, queries):
    "Return the logits of the queries at the optimum, in double precision"
    coordinates = TableCoordinates(invariance).fit(X)
    Z = torch.as_tensor(coordinates.transform(X))
    network = SelfEncoderNetwork(Z.shape[1], len(Z), output_activation=output, dtype=torch.float64)
    if output == "sigmoid":
        newton(network, Z, alpha=alpha * Z.shape[1], metric="identity", tol=1e-13)
    else:
        lbfgs(start_zero(network), Z, alpha=alpha * Z.shape[1], tol=1e-14, max_iter=3000)
    bregman_bias(network, alpha * Z.shape[1])
    with torch.no_grad():
        return network.logits(torch.as_tensor(coordinates.transform(queries))).numpy()


def queries_around(X):
    low, high = np.min(X, axis=0), np.max(X, axis=0)
    grid = np.stack(
        np.meshgrid(*np.linspace(low - (high - low) / 2, high + (high - low) / 2, 9).T), -1
    ).reshape(-1, 2)
    return grid.tolist() + X


def trained_in_page(page, X, queries, invariance, output, alpha) -> list:
    options = {"invariance": invariance or "none", "output": output, "alpha": alpha}
    return list(map(np.array, page.evaluate(TRAIN, [X, options, queries])))


def check_regions(case, scores, model, queries, gap):
    "Check that the estimator's nearest row has the largest score, where it is clear"
    # on a border either side is right
    best, second = np.sort(scores, axis=1)[:, :-3:-1].T
    clear = best - second > gap
    assert clear.mean() > 0.3 or "two equal ones" in case, f"{case}: hardly a query is clear"
    nearest = model.kneighbors(queries, return_distance=False)[:, 0]
    assert (scores.argmax(1) == nearest)[clear].all(), f"{case}: the regions differ"


@pytest.mark.parametrize("name", CASES)
def test_training(page, name):
    "Logits as at the optimum found by Python, regions as in the estimator a user would fit"
    X, queries = CASES[name], queries_around(CASES[name])
    for output, (invariance, alpha) in product(
        ("sigmoid", "softmax"), ((None, 0.03), ("scale", 0.03), ("affine", 0.03), ("affine", 1.0))
    ):
        if invariance is None and name == "odd units":
            continue  # raw, these are no task for any solver
        case = f"{name}, invariance={invariance!r}, {output}, alpha={alpha}"
        scores, _ = trained_in_page(page, X, queries, invariance, output, alpha)
        difference = np.abs(scores - trained_in_python(X, invariance, output, alpha, queries)).max()
        assert difference < 1e-4, f"{case}: logits differ by {difference:.1g}"
        # raw features: Newton's penalty would take the metric of the data
        solver = "newton" if output == "sigmoid" and invariance else "lbfgs"
        model = SelfEncoder(
            1, invariance=invariance, output_activation=output, alpha=alpha, solver=solver, tol=1e-9
        )
        check_regions(case, scores, model.fit(X), queries, 1e-2)


@pytest.mark.parametrize("name", CASES)
def test_kernel(page, name):
    "Weights as Python solves for them, regions as its metric has them"
    X, queries = CASES[name], queries_around(CASES[name])
    for output, invariance, alpha in (
        ("kernel", "scale", 0.1),
        ("kernel", "scale", 3.0),
        ("kernel", "affine", 0.1),
        ("kernel", "affine", 0.01),
        ("gaussian", "scale", 0.1),
        ("gaussian", "affine", 1.0),
    ):
        case = f"{output}, invariance={invariance!r}, alpha={alpha}"
        scores, weights = trained_in_page(page, X, queries, invariance, output, alpha)
        kernel = "gaussian" if output == "gaussian" else "auto"
        model = KernelSelfEncoder(1, kernel=kernel, invariance=invariance, alpha=alpha).fit(X)
        difference = np.abs(weights - model.identify(queries)).max()
        assert difference < 1e-3, (
            f"{case}: weights differ by {difference:.1g}"
        )  # Python's coordinates lie on a grid
        check_regions(case, scores, model, queries, 1e-3)


# ---- a visitor ----------------------------------------------------------------------------------


def picture(page, name) -> str:
    return page.locator(f"#{name} canvas").evaluate("canvas => canvas.toDataURL()")


def kept(page) -> tuple:
    "Return the share of the plane that keeps its nearest point, in the two pictures"
    return tuple(
        page.locator(f"#{name}-meter").evaluate("meter => meter.value")
        for name in ("euclidean", "learned")
    )


def points(page, name="euclidean") -> list:
    return page.locator(f"#{name} .point").evaluate_all("buttons => buttons.map(b => b.ariaLabel)")


def press(page, key, times=1):
    for _ in range(times):
        page.keyboard.press(key)
    rest(page)


def click(page, selector):
    page.click(selector)
    rest(page)


def slide(page, name, times):
    page.focus(f"[name={name}]")
    press(page, "ArrowRight", times)


def drag(page, selector, dx, dy):
    page.hover(selector)
    box = page.locator(selector).first.bounding_box()
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2 + dy, steps=5)
    page.mouse.up()
    rest(page)


def swipe(page, selector, dx, dy):
    "Drag with a finger"
    finger = page.context.new_cdp_session(page)
    touch = lambda kind, *places: finger.send(
        "Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(places)}
    )
    box = page.locator(selector).bounding_box()
    for i in range(6):
        place = {
            "x": box["x"] + box["width"] / 2 + dx * i / 5,
            "y": box["y"] + box["height"] / 2 + dy * i / 5,
        }
        touch("touchMove" if i else "touchStart", place)
    touch("touchEnd")
    rest(page)


def test_start(page):
    assert len(points(page)) == 4 and points(page)[0] == "Point A at 1.00, 1.00"
    assert picture(page, "euclidean") == picture(page, "learned"), (
        "on the paper's square both pictures are the same"
    )
    assert kept(page) == (100, 100)
    assert "Euclidean: B = D, C. Self-encoder: B = D, C." in page.text_content("#neighbors")


def test_dragging(page):
    before = [picture(page, name) for name in ("euclidean", "learned")]
    for name, dx in (("euclidean", -90), ("learned", 40)):  # either picture can be taken hold of
        drag(page, f"#{name} .point", dx, 60)
        after = [picture(page, name) for name in ("euclidean", "learned")]
        assert before[0] != after[0] and before[1] != after[1], (
            f"dragging in {name} must change both pictures"
        )
        before = after
    assert points(page) == points(page, "learned") and points(page)[0] != "Point A at 1.00, 1.00"
    assert points(page)[1:] == [
        "Point B at -1.00, 1.00",
        "Point C at -1.00, -1.00",
        "Point D at 1.00, -1.00",
    ]


def test_stretching(page):
    drag(page, "#learned .point", -50, 60)
    neighbors = lambda: page.text_content("#neighbors").partition("Self-encoder:")[2]
    before = neighbors()
    for name in ("stretch", "shear", "rotation"):
        slide(page, name, 8)
        euclidean, learned = kept(page)
        assert learned == 100, f"{name}: the self-encoder keeps only {learned} % of its regions"
        assert neighbors() == before, f"{name}: the self-encoder's neighbours change"
    assert euclidean < 95, f"the Euclidean distance keeps {euclidean} %"
    click(page, "#undo")
    assert kept(page) == (100, 100)


KEEPS = {"none": [], "scale": ["stretch"], "affine": ["stretch", "shear"]}


@pytest.mark.parametrize("invariance", KEEPS)
def test_invariance(page, invariance):
    "What each invariance keeps, and what it does not"
    drag(page, "#learned .point", -50, 60)
    click(page, f"[name=invariance][value={invariance}]")
    for output in ("softmax", "sigmoid"):
        click(page, f"[name=output][value={output}]")
        for name in ("stretch", "shear"):
            slide(page, name, 9)
            share = kept(page)[1]
            assert (share == 100) == (name in KEEPS[invariance]), (
                f"{invariance}, {output}, {name}: {share} % is kept"
            )
            click(page, "#undo")


def test_keyboard(page):
    page.focus("header a")
    press(page, "Tab", 2)
    press(page, "ArrowLeft", 3)
    press(page, "ArrowUp")
    assert points(page)[1] == "Point B at -1.30, 1.10"
    press(page, "Delete")
    assert len(points(page)) == 3
    press(page, "Delete", 5)
    assert len(points(page)) == 2, "two points must stay"


def test_adding(page):
    box = page.locator("#learned canvas").bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] / 2 + 30, box["y"] + box["height"] / 2 + 50)
    rest(page)
    assert len(points(page)) == 5, "a double click adds a point"
    for _ in range(7):
        click(page, "#add")
    assert len(set(points(page))) == 12, "twelve points, each in a place of its own"
    assert page.is_disabled("#add")
    click(page, "#remove")
    assert len(points(page)) == 11


def lines(page) -> list:
    "Return the lines from the cursor to the points: sign and thickness"
    return page.locator("#lines line").evaluate_all(
        "lines => lines.map(l => [l.getAttribute('class'), +l.getAttribute('stroke-width')])"
    )


def test_weights(page):
    "The weights at the cursor, as lines and in words"
    assert not lines(page) and page.is_hidden("#weights"), "the network has no signed weights"
    page.select_option("[name=preset]", "crowd")
    click(page, "[name=output][value=kernel]")
    assert len(lines(page)) == 10
    click(page, "[name=output][value=gaussian]")
    at_point = lines(page)
    assert max(at_point, key=lambda line: line[1]) == at_point[0], "A counts most at A"
    box = page.locator("#learned canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.6)
    said = page.text_content("#weights")
    numbers = [word for word in said.split() if word[0] in "+−"]
    here = [float(word.rstrip(",.").replace("−", "-")) for word in numbers]
    assert said.startswith("Weights at the cursor") and abs(sum(here) - 1) < 0.06, said
    assert lines(page) != at_point and {sign for sign, _ in lines(page)} == {"plus", "minus"}
    assert [sign == "minus" for sign, _ in lines(page)] == [
        weight < 0 or str(weight) == "-0.0" for weight in here
    ]
    page.mouse.move(5, 5)
    assert lines(page) == at_point, "away from the picture the selected point is asked about"
    assert page.is_disabled("[name=invariance][value=none]"), "a kernel compares no raw numbers"
    slide(page, "stretch", 8)
    slide(page, "shear", 8)
    euclidean, learned = kept(page)
    assert learned == 100 > euclidean, f"the kernel keeps {learned} %"
    drag(page, "#learned .point", 30, 30)
    assert lines(page) != at_point, "solved again at every move"


@pytest.mark.parametrize("width", [1200, 768, 360, 320])
def test_looks(open_playground, pictures, width):
    "Light and dark, wide and narrow: readable, nothing sticks out"
    page, shown = open_playground(width=width, has_touch=width < 500, is_mobile=width < 500), set()
    page.select_option("[name=preset]", "crowd")
    slide(page, "stretch", 10)
    slide(page, "shear", 5)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        rest(page)
        for output in ("sigmoid", "gaussian"):
            click(page, f"[name=output][value={output}]")
            shown.add(picture(page, "learned"))
            pictures(page, f"playground-{output}-{scheme}-{width}")
            complain(unreadable(page, TEXT))
    assert len(shown) == 4, "the pictures must follow the scheme and the model"


def test_touch(open_playground):
    page = open_playground(width=320, has_touch=True, is_mobile=True)
    before = points(page)
    swipe(page, "#learned .point:last-child", -20, 30)
    after = points(page)
    assert before[-1] != after[-1] and before[:-1] == after[:-1]
