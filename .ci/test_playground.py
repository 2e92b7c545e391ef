"""The playground in a real browser: its training against Python's, and a visitor's hands on it.

    python .ci/test_playground.py [--pictures FOLDER]
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from browser import Browser
from selfencoder import SelfEncoder
from selfencoder.coordinates import TableCoordinates
from selfencoder.network import SelfEncoderNetwork, start_zero
from selfencoder.solvers import bregman_bias, lbfgs, newton

TEXT = "h1, p, a, label, legend, output, figcaption, button:not(.point):enabled, select"
PAGE = Path(__file__).parent.parent / "nbs/static/playground/index.html"

# ---- the same training as in Python -------------------------------------------------------------------------------

CASES = {
    "the paper's square": [[1, 1], [-1, 1], [-1, -1], [1, -1]],
    "the square, stretched": [[3.1, 1.2], [0.1, -0.7], [-3.1, -1.2], [-0.1, 0.7]],
    "one point inside": [[1.1, 0.9], [-1, 1.2], [-0.9, -1], [1, -1], [0.2, 0.1]],
    "twelve": [[-1.6, -0.9], [-1.1, -0.2], [-0.5, -0.6], [-0.2, 0.3], [0.3, -0.1], [0.7, 0.7], [1.2, 0.4], [1.7, 1.1],
               [0.1, 1.2], [-0.9, -1.3], [1.5, -1.4], [-1.7, 1.5]],
    "odd units": [[1000.2, 0.0013], [1003.1, 0.0009], [998.4, 0.0021], [1001.7, 0.0030], [1000.9, 0.0004]],
    "on a line": [[0, 1], [1, 3], [2, 5], [4, 9]],
    "on a vertical line": [[2, 1], [2, 3], [2, -4]],
    "two equal ones": [[0.5, 0.5], [0.5, 0.5], [-1, 0.3], [0.2, -1]],
}


def trained_in_python(X, invariance, output, alpha, queries):
    "The logits of the queries at the optimum, in double precision"
    coordinates = TableCoordinates(invariance).fit(X)
    Z = torch.as_tensor(coordinates.transform(X))
    network = SelfEncoderNetwork(Z.shape[1], len(Z), output_activation=output, dtype=torch.float64)
    if output == "sigmoid": newton(network, Z, alpha=alpha * Z.shape[1], metric="identity", tol=1e-13)
    else: lbfgs(start_zero(network), Z, alpha=alpha * Z.shape[1], tol=1e-14, max_iter=3000)
    bregman_bias(network, alpha * Z.shape[1])
    with torch.no_grad(): return network.logits(torch.as_tensor(coordinates.transform(queries))).numpy()


def trained_in_the_page(page, X, invariance, output, alpha, queries):
    options = json.dumps({"invariance": invariance or "none", "output": output, "alpha": alpha})
    call = f"selfEncoder.train({json.dumps(X)}, {options}).functions"
    return np.array(page.evaluate(f"(f => {json.dumps(queries)}.map(q => selfEncoder.values(f, q)))({call})"))


def queries_around(X):
    low, high = np.min(X, axis=0), np.max(X, axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low - (high - low) / 2, high + (high - low) / 2, 9).T), -1).reshape(-1, 2)
    return grid.tolist() + X


def check_training(page) -> float:
    "Logits as at the optimum found by Python, regions as in the estimator a user would fit; the largest difference"
    worst = 0.0
    for name, X in CASES.items():
        queries = queries_around(X)
        for output in ("sigmoid", "softmax"):
            for invariance, alpha in ((None, 0.03), ("scale", 0.03), ("affine", 0.03), ("affine", 1.0)):
                if invariance is None and name == "odd units": continue   # raw, these are no task for any solver
                case = f"{name}, invariance={invariance!r}, {output}, alpha={alpha}"
                here = trained_in_the_page(page, X, invariance, output, alpha, queries)
                there = trained_in_python(X, invariance, output, alpha, queries)
                difference = np.abs(here - there).max()
                assert difference < 1e-4, f"{case}: logits differ by {difference:.1g}"
                worst = max(worst, difference)
                # raw features: Newton's penalty would take the metric of the data
                solver = "newton" if output == "sigmoid" and invariance else "lbfgs"
                options = {"invariance": invariance, "output_activation": output, "alpha": alpha}
                model = SelfEncoder(1, **options, solver=solver, tol=1e-9).fit(X)
                nearest = model.kneighbors(queries, return_distance=False)[:, 0]
                best, second = np.sort(here, axis=1)[:, :-3:-1].T
                clear = best - second > 1e-2   # on a border either side is right
                assert clear.mean() > 0.3 or name == "two equal ones", f"{case}: hardly a query is clear"
                assert (here.argmax(1) == nearest)[clear].all(), f"{case}: the regions differ"
    return worst


# ---- a visitor ------------------------------------------------------------------------------------------------------

def rest(page):
    "Until the fine picture of the last change is there"
    page.wait("playgroundRests()")


def picture(page, name) -> str:
    return page.evaluate(f"document.querySelector('#{name} canvas').toDataURL()")


def kept(page) -> tuple:
    "The share of the plane that keeps its nearest point, in the two pictures"
    return tuple(page.evaluate(f"document.querySelector('#{name}-meter').value") for name in ("euclidean", "learned"))


def said(page) -> str:
    return page.evaluate("document.querySelector('#neighbors').textContent")


def points(page, name="euclidean") -> list:
    return page.evaluate(f"[...document.querySelectorAll('#{name} .point')].map(b => b.ariaLabel)")


def slide(page, name, times, key="ArrowRight"):
    page.evaluate(f"document.querySelector('[name={name}]').focus()")
    page.press(key, times)
    rest(page)


def choose(page, name, value):
    page.click(f"[name={name}][value={value}]")
    rest(page)


def check_start(page):
    assert len(points(page)) == 4 and points(page)[0] == "Point A at 1.00, 1.00", points(page)
    assert picture(page, "euclidean") == picture(page, "learned"), "on the paper's square both pictures are the same"
    assert kept(page) == (100, 100), kept(page)
    assert "Euclidean: B = D, C. Self-encoder: B = D, C." in said(page), said(page)


def check_dragging(page):
    before = [picture(page, name) for name in ("euclidean", "learned")]
    for name, dx in (("euclidean", -90), ("learned", 40)):   # either picture can be taken hold of
        page.drag(f"#{name} .point", dx, 60)
        rest(page)
        after = [picture(page, name) for name in ("euclidean", "learned")]
        assert before[0] != after[0] and before[1] != after[1], f"dragging in {name} must change both pictures"
        before = after
    assert points(page) == points(page, "learned") and points(page)[0] != "Point A at 1.00, 1.00", points(page)
    assert points(page)[1:] == ["Point B at -1.00, 1.00", "Point C at -1.00, -1.00", "Point D at 1.00, -1.00"]


def check_stretching(page):
    neighbors = lambda: said(page).partition("Self-encoder:")[2]
    before = neighbors()
    for name in ("stretch", "shear", "rotation"):
        slide(page, name, 8)
        euclidean, learned = kept(page)
        assert learned == 100, f"{name}: the self-encoder keeps only {learned} % of its regions"
        assert neighbors() == before, f"{name}: the self-encoder's neighbours change, {before} -> {neighbors()}"
    assert euclidean < 95, f"the Euclidean distance keeps {euclidean} %"
    page.click("#undo"); rest(page)
    assert kept(page) == (100, 100), kept(page)
    # What each invariance keeps, and what it does not.
    for invariance, keeps in {"none": [], "scale": ["stretch"], "affine": ["stretch", "shear"]}.items():
        choose(page, "invariance", invariance)
        for output in ("softmax", "sigmoid"):
            choose(page, "output", output)
            for name in ("stretch", "shear"):
                slide(page, name, 9)
                share = kept(page)[1]
                assert (share == 100) == (name in keeps), f"{invariance}, {output}, {name}: {share} % is kept"
                page.click("#undo"); rest(page)


def check_keyboard(page):
    page.click("#again"); rest(page)
    page.evaluate("document.querySelector('header a').focus()")
    page.press("Tab", 2); page.press("ArrowLeft", 3); page.press("ArrowUp"); rest(page)
    assert points(page)[1] == "Point B at -1.30, 1.10", points(page)
    page.press("Delete"); rest(page)
    assert len(points(page)) == 3, points(page)
    page.press("Delete", 5); rest(page)
    assert len(points(page)) == 2, "two points must stay"


def check_adding(page):
    page.click("#again"); rest(page)
    page.click("#learned canvas", count=2, offset=(30, 50)); rest(page)
    assert len(points(page)) == 5, "a double click adds a point"
    for _ in range(8):
        page.click("#add"); rest(page)
    assert len(set(points(page))) == 12, "twelve points, each in a place of its own"
    assert page.evaluate("document.querySelector('#add').disabled")
    page.click("#remove"); rest(page)
    assert len(points(page)) == 11


def check_looks(page, folder):
    "Light and dark, wide and narrow: readable, nothing sticks out"
    page.click("#again"); rest(page)
    slide(page, "stretch", 10); slide(page, "shear", 5)
    shown = set()
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        for width in (1200, 768, 360, 320):
            page.resize(width, touch=width < 500)
            rest(page)
            shown.add(picture(page, "learned"))
            assert page.overflow() <= 0, f"the page is wider than {width} px"
            if folder: page.picture(folder / f"playground-{scheme}-{width}.png")
        ratio, element = page.contrast(TEXT)
        assert ratio >= 4.5, f"{scheme}: contrast {ratio:.1f} of {element}"
    assert len(shown) > 4, "the pictures must follow the scheme"


def check_touch(page):
    before = points(page)
    page.swipe("#learned .point:last-child", -20, 30); rest(page)
    after = points(page)
    assert before[-1] != after[-1] and before[:-1] == after[:-1], f"{before} -> {after}"


def check_page(browser, folder=None):
    "Everything, in the order of a visit; AssertionError says what is wrong"
    page = browser.open(PAGE)
    # The page draws once per frame, so two frames without a pending timer are enough.
    page.evaluate("window.playgroundRests = async () => { for (const _ of [1, 2]) await new Promise("
                  "requestAnimationFrame); return document.body.dataset.drawn === 'fine'; }")
    rest(page)
    check_start(page)
    difference = check_training(page)
    for check in (check_dragging, check_stretching, check_keyboard, check_adding): check(page)
    check_looks(page, folder)
    check_touch(page)
    assert not page.complaints, f"the browser complains: {page.complaints}"
    abroad = [url for url in page.requests if not url.startswith(("file:", "data:"))]
    assert not abroad, f"the page asks the network for {abroad}"
    return f"logits within {difference:.0e} of Python's"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="save what the page looks like here")
    args = parser.parse_args()
    if args.pictures: args.pictures.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        try: print(check_page(browser, args.pictures))
        except AssertionError as error: sys.exit(str(error))


if __name__ == "__main__":
    main()
