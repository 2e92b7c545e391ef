"""Do the checks notice? Breaks one thing at a time in a copy of the tree and runs the check that must see it.

`make test-checks`, or

    python .ci/test_checks.py [name ...]   all breakages, or only those named
"""
import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import checks


def edit(path: Path, old: str, new: str):
    source = path.read_text(encoding="utf-8")
    changed = re.sub(old, new, source, count=1)
    assert changed != source, f"{old!r} is not in {path.name}: this breakage breaks nothing"
    path.write_text(changed, encoding="utf-8")


def add_cell(tree: Path, source: str, kind="code", first=False, **more):
    "Put one more cell into the command line's notebook"
    path = tree / "nbs/12_cli.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {"cell_type": kind, "id": "abcd1234", "metadata": {}, "source": [source], **more}
    if kind == "code": cell = {"execution_count": None, "outputs": [], **cell}
    notebook["cells"].insert(0 if first else len(notebook["cells"]), cell)
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


def page(tree: Path, source: str, kind="markdown"):
    "The same, on a site of three pages, which is built in a moment"
    for path in (tree / "nbs").rglob("*.ipynb"):
        if path.name not in ("index.ipynb", "00_datasets.ipynb", "12_cli.ipynb"): path.unlink()
    add_cell(tree, source, kind)


ERROR = {"outputs": [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]}


# name: (what is done to the tree, the check to run, what its complaint must say)
BREAKAGES = {
    "uncleaned notebook": (
        lambda t: add_cell(t, "1 + 1", execution_count=7),
        "clean", "not clean: nbs/12_cli.ipynb"),
    "hand-edited module": (
        lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys  # by hand"),
        "in_sync", "selfencoder/cli.py differs"),
    "module without a notebook": (
        lambda t: (t / "selfencoder/extra.py").write_text("x = 1\n"),
        "library", "selfencoder/extra.py is exported by no notebook"),
    "module not exported": (
        lambda t: (t / "selfencoder/cli.py").unlink(),
        "library", "selfencoder/cli.py is missing"),
    "new file not in git": (
        lambda t: (t / "nbs/new.txt").write_text("new"),
        "library", "nbs/new.txt is new"),
    "failing assert": (
        lambda t: add_cell(t, "assert 1 == 2"),
        "12_cli", "assert 1 == 2"),
    "notebook that hangs": (
        lambda t: (add_cell(t, "while True: pass"),
                   edit(t / ".ci/checks.py", "NOTEBOOK_SECONDS = 300", "NOTEBOOK_SECONDS = 8")),
        "12_cli", "stopped after 8 s"),
    "skip_exec": (
        lambda t: add_cell(t, "---\nskip_exec: true\n---", kind="raw", first=True),
        "12_cli", "skipped by nbdev_test"),
    ".notest": (
        lambda t: (t / "nbs/.notest").touch(),
        "12_cli", "skipped by nbdev_test"),
    "notebook with an underscore": (
        lambda t: shutil.copy(t / "nbs/index.ipynb", t / "nbs/_index.ipynb"),
        "_index", "skipped"),
    "saved error": (
        lambda t: add_cell(t, "1/0", **ERROR),
        "presentable", "holds a saved error"),
    "path of a machine": (
        lambda t: add_cell(t, "open('/home/me/x')"),
        "presentable", "names a path of one machine"),
    "shell command": (
        lambda t: add_cell(t, "!false"),
        "presentable", "whose failure nobody would notice"),
    "notebook not in the sidebar": (
        lambda t: edit(t / "nbs/sidebar.yml", " +- 12_cli.ipynb\n", ""),
        "sidebar", "12_cli.ipynb is listed 0 times"),
    "stale README": (
        lambda t: edit(t / "README.md", "Two commands", "2 commands"),
        "readme", "stale: README.md"),
    "broken link": (
        lambda t: page(t, "[gone](99_gone.ipynb)"),
        "docs_render", "the link 99_gone.ipynb leads nowhere"),
    "broken anchor": (
        lambda t: page(t, "[gone](00_datasets.ipynb#gone)"),
        "docs_render", "names no place"),
    "image without description": (
        lambda t: page(t, "![](index_files/x.png)"),
        "docs_render", "has no alt text"),
    "page that cannot be processed": (
        lambda t: page(t, "import no_such_module", kind="code"),
        "docs_render", "no_such_module"),
    "renderer that loses callouts": (
        lambda t: edit(t / ".ci/docs.py", r"number\(callouts\((.*)\)\)\n", r"number(\1)\n"),
        "renderer", "a callout's own title"),
    "playground that trains something else": (
        lambda t: edit(t / "nbs/static/playground/solver.js", r"alpha \* \(k - 1\)", "alpha * k"),
        "playground_works", "logits differ"),
    "playground that cannot be dragged": (
        lambda t: edit(t / "nbs/static/playground/playground.js", '"pointermove"', '"pointermoved"'),
        "playground_works", "must change both pictures"),
    "playground that asks the network": (
        lambda t: edit(t / "nbs/static/playground/index.html", "</main>", '<img src="http://127.0.0.1:9/"></main>'),
        "playground_works", "the browser complains"),
    "page with an error in its script": (
        lambda t: (page(t, "word"), edit(t / ".ci/site/site.js", '"use strict";', '"use strict";\nwindow.no.where;')),
        "docs_render", "Cannot read properties of undefined"),
    "page too wide for a phone": (
        lambda t: page(t, "<div style='width: 50rem'>wide</div>"),
        "docs_render", "px too wide"),
    "text that can hardly be read": (
        lambda t: (page(t, "word"), edit(t / ".ci/site/site.css", "#57606a", "#aaaaaa")),
        "docs_render", "the contrast of"),
    "slow import": (
        lambda t: edit(t / "selfencoder/__init__.py", "__version__", "import torch\n__version__"),
        "import", "torch is loaded"),
    "data missing from the wheel": (
        lambda t: edit(t / "settings.ini", r"package_data = data/\*", "package_data = data/*.md"),
        "wheel", "glass.csv.gz"),
    "command missing from the wheel": (
        lambda t: edit(t / "settings.ini", "selfencoder=selfencoder.cli:main", "other=selfencoder.cli:main"),
        "wheel", "clean/bin/selfencoder"),
    "development package in the library": (
        lambda t: edit(t / "selfencoder/cli.py", "import sys", "import sys, fastcore"),
        "wheel", "No module named 'fastcore'"),
}


@contextmanager
def committed_copy():
    with checks.copied_tree() as tree:
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "copy"]):
            subprocess.run([*git, *words], cwd=tree, check=True)
        yield tree


def notices(name: str) -> str:
    "Empty if the check fails for the right reason, else what went wrong"
    damage, only, complaint = BREAKAGES[name]
    with committed_copy() as tree:
        damage(tree)
        done = checks.run([sys.executable, tree / ".ci/checks.py", "--only", only], tree, 900)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode == 0 or not re.fullmatch(r"\d+ passed, [1-9]\d* failed(, \d+ skipped)?", last):
        return f"it went through: {done.stdout}"
    return "" if complaint in done.stdout else f"the complaint does not say {complaint!r}:\n{done.stdout}"


def main():
    names = sys.argv[1:] or list(BREAKAGES)
    missed = 0
    for name in names:
        trouble = notices(name)
        missed += bool(trouble)
        print(f"{'MISSED ' if trouble else 'noticed'} {name}" + (f"\n{trouble}" if trouble else ""), flush=True)
    print(f"{len(names) - missed} noticed, {missed} missed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
