"""Do the checks notice? Breaks one thing at a time in a copy of the tree and runs the check that must see it.

What notebooks test is broken by mutations.py; here are the checks of files, of the site and of the wheel.
`make test-checks` runs all of them, `.venv/bin/pytest .ci/breakages.py -k wheel` those whose names contain a word.
"""

import json
import re
import sys
from pathlib import Path

import pytest

from tools import finish, run

pytestmark = pytest.mark.timeout(900)
PAGE = "cli.ipynb"


def edit(path: Path, old: str, new: str):
    source = path.read_text(encoding="utf-8")
    changed = re.sub(old, new, source, count=1)
    assert changed != source, f"{old!r} is not in {path.name}: this breakage breaks nothing"
    path.write_text(changed, encoding="utf-8")


def add_cell(tree: Path, source: str, kind="code", **more):
    "Put one more cell at the end of a notebook"
    path = tree / "nbs" / PAGE
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {"cell_type": kind, "id": "abcd1234", "metadata": {}, "source": [source], **more}
    if kind == "code":
        cell = {"execution_count": None, "outputs": [], **cell}
    notebook["cells"].append(cell)
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


def page(tree: Path, source: str):
    "The same, on a site of three pages, which is built in a moment"
    for path in (tree / "nbs").rglob("*.ipynb"):
        if path.relative_to(tree / "nbs").as_posix() not in ("index.ipynb", "datasets.ipynb", PAGE):
            path.unlink()
    add_cell(tree, source, "markdown")


ERROR = {"outputs": [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]}
# the check that must see it, what its complaint must hold, how it is broken
BREAKAGES = {
    "uncleaned notebook": (
        "clean",
        "not clean: nbs/",
        lambda t: add_cell(t, "1 + 1", execution_count=7),
    ),
    "hand-edited module": (
        "library_is_in_sync",
        "selfencoder/cli.py differs",
        lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys  # by hand"),
    ),
    "module without a notebook": (
        "library_is_in_sync",
        "extra.py is exported by no notebook",
        lambda t: (t / "selfencoder/extra.py").write_text("x = 1\n"),
    ),
    "skipped notebooks": (
        f"{PAGE}",
        "skipped by nbdev_test",
        lambda t: (t / "nbs/.notest").touch(),
    ),
    "saved error": ("presentable", "holds a saved error", lambda t: add_cell(t, "1/0", **ERROR)),
    "path of a machine": (
        "presentable",
        "names a path of one machine",
        lambda t: add_cell(t, "open('/home/me/x')"),
    ),
    "notebook not in the sidebar": (
        "sidebar",
        f"{PAGE} is listed 0 times",
        lambda t: edit(t / "nbs/sidebar.yml", f" +- {PAGE}\n", ""),
    ),
    "stale README": (
        "readme",
        "stale: README.md",
        lambda t: edit(t / "README.md", "# selfencoder", "# self-encoder"),
    ),
    "broken link": ("test_links", "leads nowhere", lambda t: page(t, "[gone](gone.ipynb)")),
    "image without description": (
        "test_links",
        "has no alt text",
        lambda t: page(t, "![](index_files/x.png)"),
    ),
    "page too wide for a phone": (
        "test_pages",
        "px too wide",
        lambda t: page(t, "<div style='width: 50rem'>wide</div>"),
    ),
    "page of the path without its section": (
        "test_path",
        "is not named after its section",
        lambda t: edit(t / "nbs/network/sampling.ipynb", "# Section 6: s", "# S"),
    ),
    "slow import": (
        "import_is_light",
        "torch is loaded",
        lambda t: edit(t / "selfencoder/__init__.py", "__version__", "import torch\n__version__"),
    ),
    "data missing from the wheel": (
        "wheel",
        "glass.csv.gz",
        lambda t: edit(t / "settings.ini", r"package_data = data/\*", "package_data = data/*.md"),
    ),
    "another requirement in the recipe": (
        "test_conda",
        "pandas",
        lambda t: edit(t / "conda/meta.yaml", "pandas >=", "pandas >=1"),
    ),
    "a check that does not exist": ("no_such_check", "0 passed, 0 failed", lambda t: None),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_noticed(name, copy):
    check, complaint, damage = BREAKAGES[name]
    for command in ("init -q", "add -A", "-c user.name=x -c user.email=x commit -qm copy"):
        run(["git", *command.split()], copy)
    damage(copy)
    code, output = finish(
        [sys.executable, "-m", "pytest", ".ci", "-k", check], copy, SELFENCODER_REQUIRE_BROWSER="1"
    )
    assert code and complaint in output, f"{complaint!r} is not in:\n{output}"
    assert re.fullmatch(r"\d+ passed, \d+ failed(, \d+ skipped)?", output.splitlines()[-1]), output
