"""The library, its notebooks, README.md and the wheel belong together."""

import ast
import json
import re
import sys
from zipfile import ZipFile

import pytest

import docs
import release
from tools import BIN, LIBRARY, ROOT, build_wheel, complain, contents, files, finish, install
from tools import probe, run

# how a docstring begins without a verb: "The rows", "Rows by name", "Size of"
NO_VERB = re.compile(r"(an?|the|it|how|what|whether|which|\w*[^s\W]s|\w+ of)\b", re.I)
PATH_OF_A_MACHINE = re.compile(
    r"(?<![\w.:/+])/(home|root|Users|tmp|mnt|work|workspace|private|var/folders)/\w|\b[A-Z]:\\Users"
)


@pytest.mark.remedy("run `make format`, mend what it leaves, and run `make sync`")
def test_format():
    "notebooks and checks are formatted, and no name in them is unused or undefined"
    run([BIN / "ruff", "format", "--check", "--quiet"], ROOT)
    run([BIN / "ruff", "check", "--quiet"], ROOT)


@pytest.mark.remedy("begin with a verb: Return, Fit, Find, Raise, ...")
def test_docstrings_begin_with_a_verb():
    "what a function does is said first"
    found = []
    for path in sorted((ROOT / LIBRARY).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = isinstance(node, ast.FunctionDef) and ast.get_docstring(node)
            if words and NO_VERB.match(words):
                found.append(f"{path.stem}.{node.name}: {words.splitlines()[0]!r}")
    complain(found)


@pytest.mark.remedy("decide between the two versions and remove the marks")
def test_merges_are_finished():
    "no file holds the marks of a merge"
    code, found = finish(["git", "grep", "-I", "--line-number", "^<<<<<<< "], ROOT)
    assert code == 1, found


@pytest.mark.remedy("import heavy packages inside the function that needs them")
def test_import_is_light(record_property):
    "importing the library takes less than 0.2 s and does not load torch"
    program = "import sys, time, {}; print(time.process_time(), 'torch' in sys.modules)"

    def imported(name):
        "Return the processor time of an import, the best of five, and whether it loads torch"
        said = [run([sys.executable, "-c", program.format(name)], ROOT).split() for _ in range(5)]
        return min(float(seconds) for seconds, _ in said), said[0][1] == "True"

    bare, _ = imported("sys")
    for name in (LIBRARY, f"{LIBRARY}.cli"):
        seconds, heavy = imported(name)
        record_property(f"import {name}", f"{1000 * (seconds - bare):.0f} ms")
        assert seconds - bare < 0.2 and not heavy, name


@pytest.mark.remedy(
    "run `make sync` and commit what it changed; repair a notebook that is not valid first"
)
def test_notebooks_are_clean(copy):
    "nbdev_clean would change no notebook"
    before = contents(copy / "nbs", "*.ipynb")
    run([BIN / "nbdev_clean"], copy)
    after = contents(copy / "nbs", "*.ipynb")
    complain([f"not clean: nbs/{name}" for name in before if before[name] != after.get(name)])


@pytest.mark.remedy("change notebooks, never modules; then `make sync` and `git add` what is new")
def test_library_is_in_sync(copy):
    "the modules are exactly what the notebooks export, and all of both are in git"
    before = contents(copy / LIBRARY, "*.py")
    for name in before:
        # what no notebook exports must go
        if not name.endswith("__init__.py"):
            (copy / LIBRARY / name).unlink()
    run([BIN / "nbdev_export"], copy)
    after = contents(copy / LIBRARY, "*.py")
    found = [
        f"{LIBRARY}/{name} is not what the notebooks export"
        for name in sorted(before.keys() | after)
        if before.get(name) != after.get(name)
    ]
    new = files("--others", "--exclude-standard", LIBRARY, "nbs")
    complain(found + [f"{name} is new and not yet in git" for name in new])


def unpresentable(cell: dict) -> list:
    "Return what a reader should not see in a cell of a saved notebook"
    source, found = docs.text(cell["source"]), []
    shown = [source]
    for output in cell.get("outputs", []):
        data = output.get("data", output)
        shown += [str(data[kind]) for kind in data if not kind.startswith("image/")]
        if output["output_type"] == "error":
            found.append("holds a saved error")
    if path := PATH_OF_A_MACHINE.search(" ".join(shown)):
        found.append(f"names a path of one machine: {path[0]}...")
    if cell["cell_type"] == "code" and re.search(r"^\s*!(?!=)", source, re.M):
        found.append("uses `!command`, which may fail unnoticed: subprocess.run(..., check=True)")
    return found


@pytest.mark.remedy("correct the cell, then `.venv/bin/python .ci/notebook.py run nbs/...`")
def test_notebooks_are_presentable():
    "saved notebooks hold no errors, no paths of one machine, no unchecked shell commands"
    found = []
    for name in docs.notebooks(ROOT / "nbs"):
        cells = json.loads((ROOT / "nbs" / name).read_text(encoding="utf-8"))["cells"]
        for i, cell in enumerate(cells):
            found += [f"nbs/{name} cell {i} {fault}" for fault in unpresentable(cell)]
    complain(found)


@pytest.mark.remedy("name it once in nbs/sidebar.yml; one in nbs/tests/ in its overview.ipynb")
def test_sidebar_is_complete():
    "every notebook has its one place in nbs/sidebar.yml, or on the page about the tests"
    overview = (ROOT / "nbs" / docs.TESTS).read_text(encoding="utf-8")
    listed = [f"tests/{name}" for name in re.findall(r"\]\((\w+\.ipynb)\)", overview)]
    for _, names in docs.sidebar(ROOT / "nbs"):
        listed += names
    times = {name: listed.count(name) for name in docs.notebooks(ROOT / "nbs")}
    complain([f"{name} is listed {count} times" for name, count in times.items() if count != 1])


@pytest.mark.remedy("run `make sync` and commit what it changed")
def test_readme_is_in_sync(copy):
    "README.md, nbs/README.md and the pictures are what the notebooks say"

    def made():
        return contents(copy, "README.md") | contents(copy, "nbs/index_files/*")

    before = made()
    run([sys.executable, ROOT / ".ci/docs.py", "readme"], copy)
    complain([f"stale: {name}" for name, data in made().items() if data != before.get(name)])


@pytest.mark.timeout(900)
@pytest.mark.remedy("see package_data, requirements and console_scripts in settings.ini")
def test_wheel_works(copy, record_property):
    "the built wheel works in a clean environment: modules, data, command, README.md"
    wheel, elsewhere = build_wheel(copy), copy.parent / "elsewhere"
    packed = {name for name in ZipFile(wheel).namelist() if name.startswith(f"{LIBRARY}/")}
    # the laboratory stays in the clone
    wanted = {name for name in contents(copy / LIBRARY, "*.*") if not name.startswith("lab/")}
    wrong = sorted(packed ^ {f"{LIBRARY}/{name}" for name in wanted})
    complain([f"in the wheel or in the clone alone: {name}" for name in wrong])
    elsewhere.mkdir()
    python = install([wheel], sys.executable, copy.parent / "clean", elsewhere)
    probe(python, elsewhere)
    for words in (
        "--help",
        "info",
        "reproduce --quick --datasets iris --models knn --protocol nested",
    ):
        run([python.parent / LIBRARY, *words.split()], elsewhere, PYTHONPATH="")
    release.run_readme(python, elsewhere)
    record_property("wheel", f"{wheel.stat().st_size / 1e3:.0f} kB")
