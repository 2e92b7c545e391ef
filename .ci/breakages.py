"""Do the checks notice? Breaks one thing at a time in a copy of the tree and runs the check that must see it.

`make test-checks` runs all of them, `.venv/bin/pytest .ci/breakages.py -k wheel` those whose names say so.
"""
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tools import ROOT, finish, run

pytestmark = pytest.mark.timeout(900)


def edit(path: Path, old: str, new: str):
    source = path.read_text(encoding="utf-8")
    changed = re.sub(old, new, source, count=1)
    assert changed != source, f"{old!r} is not in {path.name}: this breakage breaks nothing"
    path.write_text(changed, encoding="utf-8")


CLI = next((ROOT / "nbs").glob("*_cli.ipynb")).name
EXPERIMENTS = "selfencoder/paper/experiments.py"


def add_cell(tree: Path, source: str, kind="code", first=False, **more):
    "Put one more cell into the command line's notebook"
    path = tree / "nbs" / CLI
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {"cell_type": kind, "id": "abcd1234", "metadata": {}, "source": [source], **more}
    if kind == "code": cell = {"execution_count": None, "outputs": [], **cell}
    notebook["cells"].insert(0 if first else len(notebook["cells"]), cell)
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


def page(tree: Path, source: str, kind="markdown"):
    "The same, on a site of three pages, which is built in a moment"
    for path in (tree / "nbs").rglob("*.ipynb"):
        if path.name not in ("index.ipynb", "datasets.ipynb", CLI): path.unlink()
    add_cell(tree, source, kind)


ERROR = {"outputs": [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]}

# what is broken, the check that must see it, what its complaint must say, how it is broken
BREAKAGES = [
    ("uncleaned notebook", ".ci -k clean", f"not clean: nbs/{CLI}",
     lambda t: add_cell(t, "1 + 1", execution_count=7)),
    ("hand-edited module", ".ci -k library_is_in_sync", "selfencoder/cli.py differs",
     lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys  # by hand")),
    ("module without a notebook", ".ci -k library_is_in_sync", "selfencoder/extra.py is exported by no notebook",
     lambda t: (t / "selfencoder/extra.py").write_text("x = 1\n")),
    ("folder without a notebook", ".ci -k library_is_in_sync", "extra/__init__.py is exported by no notebook",
     lambda t: [(t / "selfencoder/extra").mkdir(), (t / "selfencoder/extra/__init__.py").touch()]),
    ("module not exported", ".ci -k library_is_in_sync", "selfencoder/cli.py is missing",
     lambda t: (t / "selfencoder/cli.py").unlink()),
    ("new file not in git", ".ci -k library_is_in_sync", "nbs/new.txt is new",
     lambda t: (t / "nbs/new.txt").write_text("new")),
    ("failing assert", f".ci -k {CLI}", "assert 1 == 2",
     lambda t: add_cell(t, "assert 1 == 2")),
    ("notebook that hangs", f".ci -k {CLI} --timeout 20", "Timeout (>20.0s)",
     lambda t: add_cell(t, "while True: pass")),
    ("skip_exec", f".ci -k {CLI}", "skipped by nbdev_test",
     lambda t: add_cell(t, "---\nskip_exec: true\n---", kind="raw", first=True)),
    (".notest", f".ci -k {CLI}", "skipped by nbdev_test",
     lambda t: (t / "nbs/.notest").touch()),
    ("notebook with an underscore", ".ci -k _index.ipynb", "nbdev passes over names",
     lambda t: shutil.copy(t / "nbs/index.ipynb", t / "nbs/_index.ipynb")),
    ("saved error", ".ci -k presentable", "holds a saved error",
     lambda t: add_cell(t, "1/0", **ERROR)),
    ("path of a machine", ".ci -k presentable", "names a path of one machine",
     lambda t: add_cell(t, "open('/home/me/x')")),
    ("shell command", ".ci -k presentable", "whose failure nobody would notice",
     lambda t: add_cell(t, "!false")),
    ("notebook not in the sidebar", ".ci -k sidebar", f"{CLI} is listed 0 times",
     lambda t: edit(t / "nbs/sidebar.yml", f" +- {CLI}\n", "")),
    ("stale README", ".ci -k readme", "stale: README.md",
     lambda t: edit(t / "README.md", "# selfencoder", "# self-encoder")),
    ("broken link", ".ci -k test_links", "the link 99_gone.ipynb leads nowhere",
     lambda t: page(t, "[gone](99_gone.ipynb)")),
    ("broken anchor", ".ci -k test_links", "names no place",
     lambda t: page(t, "[gone](datasets.ipynb#gone)")),
    ("image without description", ".ci -k test_links", "has no alt text",
     lambda t: page(t, "![](index_files/x.png)")),
    ("page that cannot be processed", ".ci -k test_links", "no_such_module",
     lambda t: page(t, "import no_such_module", kind="code")),
    ("renderer that loses callouts", ".ci -k renderer", "a callout's own title",
     lambda t: edit(t / ".ci/docs.py", r"number\(callouts\((.*)\)\)\n", r"number(\1)\n")),
    ("page with an error in its script", ".ci -k test_pages", "Cannot read properties of undefined",
     lambda t: [page(t, "word"), edit(t / ".ci/site/site.js", '"use strict";', '"use strict";\nwindow.no.where;')]),
    ("page too wide for a phone", ".ci -k test_pages", "px too wide",
     lambda t: page(t, "<div style='width: 50rem'>wide</div>")),
    ("text that can hardly be read", ".ci -k test_pages", "the contrast of",
     lambda t: [page(t, "word"), edit(t / ".ci/site/site.css", "#57606a", "#aaaaaa")]),
    ("text cut off without a sign", ".ci -k test_pages", "nothing shows that there is more of",
     lambda t: [page(t, "`" * 3 + "\n" + "wide " * 60 + "\n" + "`" * 3),
                edit(t / ".ci/site/site.css", "pre, table, .scroll, math", "table, .scroll, math")]),
    ("curly quotes", ".ci -k renderer", "quotes that Python understands",
     lambda t: edit(t / ".ci/docs.py", "metadata_block-smart", "metadata_block")),
    ("code that cannot be copied", ".ci -k test_copy --timeout 90", "copy",
     lambda t: [page(t, "word"), edit(t / ".ci/site/site.js", r"block.append\(button\);", "")]),
    ("another version in the recipe", ".ci -k test_version_is_said_once", "conda/meta.yaml has another version",
     lambda t: edit(t / "conda/meta.yaml", "set version = .*", 'set version = "0.0" %}')),
    ("another requirement in the recipe", ".ci -k test_conda", "pandas",
     lambda t: edit(t / "conda/meta.yaml", "pandas >=", "pandas >=1")),
    ("search that finds nothing", ".ci -k test_search --timeout 90", "#found a",
     lambda t: [page(t, "word"), edit(t / ".ci/site/site.js", '"input", search', '"output", search')]),
    ("playground that trains something else", ".ci -k test_training", "logits differ",
     lambda t: edit(t / "nbs/static/playground/solver.js", r"alpha \* \(k - 1\)", "alpha * k")),
    ("playground that cannot be dragged", ".ci -k test_dragging", "must change both pictures",
     lambda t: edit(t / "nbs/static/playground/playground.js", '"pointermove"', '"pointermoved"')),
    ("playground that asks the network", ".ci -k test_start", "it asks the network",
     lambda t: edit(t / "nbs/static/playground/index.html", "</main>", '<img src="http://127.0.0.1:9/"></main>')),
    ("no browser", ".ci -k test_start", "no Chromium is installed here",
     lambda t: edit(t / ".ci/browser.py", r"next\(filter\(None, map\(shutil.which.*", "None")),
    ("slow import", ".ci -k import_is_light", "torch is loaded",
     lambda t: edit(t / "selfencoder/__init__.py", "__version__", "import torch\n__version__")),
    ("data missing from the wheel", ".ci -k wheel", "glass.csv.gz",
     lambda t: edit(t / "settings.ini", r"package_data = data/\*", "package_data = data/*.md")),
    ("command missing from the wheel", ".ci -k wheel", "installs no command selfencoder",
     lambda t: edit(t / "settings.ini", "selfencoder=selfencoder.cli:main", "other=selfencoder.cli:main")),
    ("development package in the library", ".ci -k wheel", "No module named 'fastcore'",
     lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys, fastcore")),
    ("module that newer Pythons have lost", ".ci --versions newest -k test_imports", "No module named 'imp'",
     lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys, imp")),
    ("result that is the score that selected", ".ci -k protocol", "AssertionError",
     lambda t: edit(t / EXPERIMENTS, r'cell\.protocol == "nested" or selected is None', "selected is None")),
    ("encoding that sees the test rows", ".ci -k protocol", "AssertionError",
     lambda t: edit(t / EXPERIMENTS, r"\.fit\(_safe_indexing\(X, train\)\)\n", ".fit(X)\n")),
    ("one voter less", ".ci -k protocol", "AssertionError",
     lambda t: edit(t / EXPERIMENTS, r"numpy\(\), PAPER\.n_neighbors\)", "numpy(), PAPER.n_neighbors - 1)")),
    ("folds that are not shuffled", ".ci -k protocol", "AssertionError",
     lambda t: edit(t / EXPERIMENTS, "shuffle=True, random_state=seed", "shuffle=False")),
    ("last instead of first best", ".ci -k protocol", "AssertionError",
     lambda t: edit(t / EXPERIMENTS, r"path\.max\(\) > best\[0\]", "path.max() >= best[0]")),
    ("a check that does not exist", ".ci -k no_such_check", "0 passed, 0 failed",
     lambda t: None),
]


@pytest.mark.parametrize("name, check, complaint, damage", BREAKAGES, ids=[name for name, *_ in BREAKAGES])
def test_noticed(name, check, complaint, damage, copy):
    for command in ("init -q", "add -A", "-c user.name=x -c user.email=x commit -qm copy"):
        run(["git", *command.split()], copy)
    damage(copy)
    code, output = finish([sys.executable, "-m", "pytest", *check.split()], copy, SELFENCODER_REQUIRE_BROWSER="1")
    assert code and complaint in output, f"{complaint!r} is not in:\n{output}"
    assert re.fullmatch(r"\d+ passed, \d+ failed(, \d+ skipped)?", output.splitlines()[-1]), output
