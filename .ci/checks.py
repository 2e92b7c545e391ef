"""Every check of the project, each by its name: `make test`.

Nothing here changes the working tree: each check looks at a copy of it.
The last line is `N passed, M failed`, and `, K skipped` if something is not installed here; the exit code is 0 only if
nothing failed. With SELFENCODER_REQUIRE_BROWSER=1, as in .ci/run, a missing browser is a failure.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import docs
import test_docs
from browser import find_browser

ROOT = Path(__file__).parent.parent.absolute()
BIN = Path(sys.executable).parent
LIBRARY = "selfencoder"
NOTEBOOK_SECONDS = 300   # a notebook that runs longer than this has hung
# Small fits are many times slower when the threads of two processes fight for two cores.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}


class Failed(Exception):
    "A check that did not pass: what was found, and what to do"

    def __init__(self, found: str, remedy: str):
        super().__init__(found)
        self.remedy = remedy


class Skipped(Failed):
    "A check that cannot be made here"


# ---- tools ----------------------------------------------------------------------------------------------------

def tracked_and_new(*options) -> list:
    "Files that git knows or would add, as paths relative to the root"
    listed = subprocess.run(["git", "ls-files", "-z", *options], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted({name for name in listed.stdout.split("\0") if name and os.path.lexists(ROOT / name)})


@contextmanager
def copied_tree():
    "A copy of the working tree without ignored files: what a fresh clone would hold if everything were committed"
    with TemporaryDirectory(prefix=f"{LIBRARY}-") as name:
        copy = Path(name).resolve() / "tree"
        for path in tracked_and_new("--cached", "--others", "--exclude-standard"):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, copy / path, follow_symlinks=False)
        yield copy


def run(command: list, cwd: Path, seconds: float = 600, **environment) -> subprocess.CompletedProcess:
    "Run a command in a process group of its own, so that a time-out ends its children too"
    env = {**ENVIRONMENT, "PYTHONPATH": str(cwd), **environment}
    if not Path(command[0]).exists(): return subprocess.CompletedProcess(command, 127, f"there is no {command[0]}")
    process = subprocess.Popen(list(map(str, command)), cwd=cwd, env=env, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\n(stopped after {seconds} s)"
    return subprocess.CompletedProcess(command, process.returncode, output)


def succeed(command: list, cwd: Path, remedy: str, **options) -> str:
    done = run(command, cwd, **options)
    if done.returncode: raise Failed(done.stdout.strip(), remedy)
    return done.stdout


def contents(folder: Path, pattern: str) -> dict:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob(pattern)}


def cells(notebook: str) -> list:
    return json.loads((ROOT / "nbs" / notebook).read_text(encoding="utf-8"))["cells"]


# ---- the checks -----------------------------------------------------------------------------------------------

def import_is_light():
    "importing the library takes less than 0.2 s and does not load torch"
    asks = f"import sys, {LIBRARY}, {LIBRARY}.cli; print('torch' in sys.modules)"
    heavy = "True" in succeed([sys.executable, "-c", asks], ROOT, "the library cannot be imported: see the error above")
    programs = {"nothing": "pass", LIBRARY: f"import {LIBRARY}", "cli": f"import {LIBRARY}.cli",
                "sklearn": "import sklearn"}
    seconds = {name: [] for name in programs}
    for _ in range(5):
        for name, program in programs.items():
            # Processor time, and the best of five: the check must not fail because the machine is busy.
            start = os.times()
            subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=ENVIRONMENT, check=True)
            end = os.times()
            seconds[name].append(end.children_user + end.children_system - start.children_user - start.children_system)
    above = {name: min(seconds[name]) - min(seconds["nothing"]) for name in programs}
    report = (f"import {LIBRARY} {1000 * above[LIBRARY]:.0f} ms, {above[LIBRARY] / above['sklearn']:.3f} of "
              f"import sklearn's {1000 * above['sklearn']:.0f} ms; {LIBRARY}.cli {1000 * above['cli']:.0f} ms")
    if heavy or max(above[LIBRARY], above["cli"]) > 0.2:
        raise Failed(report + ("; torch is loaded" if heavy else ""),
                     "import heavy packages inside the function that needs them")
    return report


def notebooks_are_clean():
    "nbdev_clean would change no notebook"
    with copied_tree() as copy:
        before = contents(copy / "nbs", "*.ipynb")
        succeed([BIN / "nbdev_clean"], copy, "a notebook is not valid: repair it first")
        after = contents(copy / "nbs", "*.ipynb")
    changed = [f"nbs/{name}" for name in before if before[name] != after.get(name)]
    if changed: raise Failed("not clean: " + ", ".join(changed), "run `make sync` and commit what it changed")
    return f"{len(before)} notebooks"


def library_is_in_sync():
    "the modules are exactly what the notebooks export"
    with copied_tree() as copy:
        before = contents(copy / LIBRARY, "*.py")
        for name in before:
            if name != "__init__.py": (copy / LIBRARY / name).unlink()   # what no notebook exports must not survive
        succeed([BIN / "nbdev_export"], copy, "a notebook cannot be exported: see the error above")
        after = contents(copy / LIBRARY, "*.py")
    found = [f"{LIBRARY}/{name} is exported by no notebook" for name in before if name not in after]
    found += [f"{LIBRARY}/{name} is missing" for name in after if name not in before]
    found += [f"{LIBRARY}/{name} differs from its notebook" for name in sorted(before.keys() & after)
              if before[name] != after[name]]
    found += [f"{name} is new and not yet in git" for name in tracked_and_new("--others", "--exclude-standard")
              if name.startswith((f"{LIBRARY}/", "nbs/"))]
    if found:
        raise Failed("\n".join(found), "change notebooks, never modules; then `make sync` and `git add` what is new")
    return f"{len(after)} modules"


def notebooks_are_presentable():
    "saved notebooks hold no errors, no paths of one machine, no unchecked shell commands"
    usual = [r"(?<![\w.:/+])/(?:home|root|Users|tmp|mnt|work|workspace|private|var/folders)/\w", r"\b[A-Z]:\\Users"]
    here = [rf"(?<![\w+/]){re.escape(place)}/" for place in {str(ROOT.parent), str(Path.home())} - {"/"}]
    machine = re.compile("|".join(usual + here))
    found = []
    for name in docs.notebooks(ROOT / "nbs"):
        for i, cell in enumerate(cells(name)):
            outputs = cell.get("outputs", [])
            texts = [{k: v for k, v in o.get("data", o).items() if not k.startswith("image/")} for o in outputs]
            source, where = docs.text(cell["source"]), f"nbs/{name} cell {i}"
            if any(o["output_type"] == "error" for o in outputs): found.append(f"{where} holds a saved error")
            if m := machine.search(source + json.dumps(texts)):
                found.append(f"{where} names a path of one machine: {m[0]}...")
            if cell["cell_type"] == "code" and re.search(r"^\s*!", source, re.M):
                found.append(f"{where} uses `!command`, whose failure nobody would notice: "
                             "use subprocess.run(..., check=True)")
    if found:
        raise Failed("\n".join(found), "correct the cell, then `.venv/bin/python .ci/notebook.py run nbs/...`")


def sidebar_is_complete():
    "every notebook has its one place in nbs/sidebar.yml"
    if found := docs.misplaced(ROOT / "nbs"):
        raise Failed("\n".join(found), "name it once, in the section of nbs/sidebar.yml where a reader would look")


def readme_is_in_sync():
    "README.md is what nbs/index.ipynb says"
    with copied_tree() as copy:
        before = made_from_index(copy)
        succeed([sys.executable, ROOT / ".ci/docs.py", "readme"], copy, "nbs/index.ipynb cannot be processed")
        changed = [name for name, data in made_from_index(copy).items() if data != before.get(name)]
    if changed: raise Failed("stale: " + ", ".join(changed), "run `make sync` and commit what it changed")


def made_from_index(copy: Path) -> dict:
    paths = [copy / "README.md", *(copy / "nbs").glob("index_files/*")]
    return {p.relative_to(copy).as_posix(): p.read_bytes() for p in paths if p.exists()}


def docs_render():
    "the site builds, its links lead somewhere, its pages open without errors and can be read, on a phone too"
    with copied_tree() as copy:
        out = copy.parent / "site"
        succeed([sys.executable, ROOT / ".ci/docs.py", "site", "--pandoc", "--out", out], copy,
                "see the error above; `make docs` repeats it")
        found = docs.problems(out)
        if find_browser() and (opened := run([sys.executable, ROOT / ".ci/test_site.py", out], copy)).returncode:
            found += opened.stdout.splitlines()
        if found: raise Failed("\n".join(found), "correct the notebook; `make docs` builds the site to look at")
        pages = len(list(out.rglob("*.html")))
    return f"{pages} pages, " + ("opened in a browser" if find_browser() else "not opened, as no browser is installed")


def renderer_keeps_everything():
    "the docs renderer keeps callouts, figures, tables, formulas, links and API blocks"
    succeed([sys.executable, ROOT / ".ci/test_docs.py"], ROOT,
            "mend .ci/docs.py; `.venv/bin/python .ci/test_docs.py --show` prints the page")
    return f"{len(test_docs.EXPECTED)} kinds"


def playground_works():
    "the playground in a real browser: trains as Python does, follows mouse, finger and keys, keeps its neighbours"
    remedy = "mend nbs/static/playground/; `.venv/bin/python .ci/test_playground.py --pictures FOLDER` shows the page"
    if not find_browser():
        kind = Failed if os.environ.get("SELFENCODER_REQUIRE_BROWSER") else Skipped
        raise kind("no Chromium is installed here", "install one and try again: `apt-get install chromium`")
    return succeed([sys.executable, ROOT / ".ci/test_playground.py"], ROOT, remedy).strip()


PROBE = """
import importlib, pathlib, pkgutil, sys
import LIBRARY
home = pathlib.Path(LIBRARY.__file__).parent
assert pathlib.Path(sys.prefix) in home.parents, f"imported from {home}"
for module in pkgutil.walk_packages([str(home)], "LIBRARY."): importlib.import_module(module.name)
from LIBRARY.datasets import dataset_names, load_dataset
for name in dataset_names(): load_dataset(name)
print(load_dataset("glass").frame.head())
""".replace("LIBRARY", LIBRARY)


def wheel_works():
    "the built wheel, in a clean environment and another directory: modules, data, command"
    remedy = "see package_data, requirements and console_scripts in settings.ini"
    pip = ["-m", "pip", "-qq", "--disable-pip-version-check", "--no-input"]
    with copied_tree() as copy:
        place = copy.parent
        build = ["wheel", "--no-deps", "--no-build-isolation", "--use-pep517", "-w", place, "."]
        succeed([sys.executable, *pip, *build], copy, remedy)
        wheel = next(place.glob("*.whl"))
        missing = {f"{LIBRARY}/{name}" for name in contents(copy / LIBRARY, "*.*")} - set(ZipFile(wheel).namelist())
        if missing: raise Failed("not in the wheel: " + ", ".join(sorted(missing)), remedy)
        succeed([sys.executable, "-m", "venv", place / "clean"], place, remedy, PYTHONPATH="")
        python = place / "clean/bin/python"
        install = ["install", "--no-compile", "-c", copy / "constraints.txt", wheel]
        succeed([python, *pip, *install], place, remedy, seconds=900, PYTHONPATH="")
        (elsewhere := place / "elsewhere").mkdir()
        succeed([python, "-c", PROBE], elsewhere, remedy, PYTHONPATH="")
        small = ["reproduce", "--quick", "--datasets", "iris", "--models", "knn", "--protocol", "nested"]
        for words in (["--help"], ["info"], small):
            succeed([place / "clean/bin" / LIBRARY, *words], elsewhere, remedy, PYTHONPATH="")
        return f"{wheel.stat().st_size / 1e3:.0f} kB"


def notebook_runs(name: str, copy: Path):
    "One notebook from top to bottom; a notebook that nbdev_test passes over has failed"
    if any(part.startswith(("_", ".")) for part in Path(name).parts):
        raise Failed("skipped: nbdev passes over names that begin with _ or .", "rename it, or move it out of nbs/")
    command = [BIN / "nbdev_test", "--path", copy / "nbs" / name, "--n_workers", "0", "--do_print"]
    done = run(command, copy, NOTEBOOK_SECONDS)
    again = f"`.venv/bin/python .ci/notebook.py run nbs/{name}` repeats it"
    if done.returncode: raise Failed(done.stdout.strip(), f"the cell named above fails; {again}")
    if "- Completed" not in done.stdout:
        raise Failed("skipped by nbdev_test", "remove `skip_exec` from its front matter, or the .notest file beside it")


CHECKS = [notebooks_are_clean, library_is_in_sync, notebooks_are_presentable, sidebar_is_complete,
          readme_is_in_sync, renderer_keeps_everything, playground_works, wheel_works, docs_render]


# ---- running them ---------------------------------------------------------------------------------------------

class Score:
    "Runs checks, prints each as it ends, and counts"

    def __init__(self):
        self.passed, self.failed, self.skipped, self.lock = 0, 0, 0, threading.Lock()

    def run(self, title, check, *arguments):
        start, failure, said = time.perf_counter(), None, ""
        try: said = check(*arguments) or ""
        except Failed as error: failure = error
        except Exception: failure = Failed(traceback.format_exc().strip(), "the check itself broke: mend .ci/checks.py")
        with self.lock:
            skipped, seconds = isinstance(failure, Skipped), time.perf_counter() - start
            word = "SKIP" if skipped else "FAIL" if failure else "PASS"
            print(f"{word} {seconds:6.1f} s  {title}" + (f" ({said})" if said else ""))
            if failure:
                lines = str(failure).splitlines()
                print("\n".join(f"       | {line}" for line in lines[-40:]) + f"\n       > {failure.remedy}")
            sys.stdout.flush()
            self.skipped += skipped
            self.failed += failure is not None and not skipped
            self.passed += failure is None

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="checks that run at the same time (default: 2)")
    parser.add_argument("--only", default="", help="only checks or notebooks whose name matches this pattern")
    args = parser.parse_args()
    if not (ROOT / ".git").exists():
        sys.exit("The checks ask git which files belong to the project: please run them in a clone.")
    wanted = lambda name: re.search(args.only, name)
    score = Score()
    if wanted(import_is_light.__name__):
        score.run(import_is_light.__doc__, import_is_light)   # it measures, so it runs alone
    with copied_tree() as copy, ThreadPoolExecutor(args.jobs) as pool:
        for check in filter(lambda c: wanted(c.__name__), CHECKS):
            pool.submit(score.run, check.__doc__, check)
        for name in filter(wanted, docs.notebooks(ROOT / "nbs")):
            pool.submit(score.run, f"nbs/{name} runs from top to bottom", notebook_runs, name, copy)
    print(score)
    sys.exit(score.failed > 0 or score.passed + score.skipped == 0)


if __name__ == "__main__":
    main()
