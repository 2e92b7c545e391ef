"""What the checks share: the files of the project, a copy of them, and commands that run in it."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parent.parent.absolute()
BIN = Path(sys.executable).parent
LIBRARY = "selfencoder"
# twice quiet: never where packages come from
PIP = ["-m", "pip", "-qq", "--disable-pip-version-check", "--no-input"]
# Small fits are many times slower when the threads of two processes fight for two cores.
os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="agg")


def complain(found: list):
    "Fail the check with what was found, if anything was"
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def files(*options) -> list:
    "Return the files that `git ls-files` lists and that exist, as paths relative to the root"
    listed = subprocess.check_output(["git", "ls-files", "-z", *options], cwd=ROOT, text=True)
    return sorted({name for name in listed.split("\0")[:-1] if os.path.lexists(ROOT / name)})


@contextmanager
def copied_tree(*options):
    "Make a copy of what git knows, or would know if everything but ignored files were committed"
    with TemporaryDirectory(prefix=f"{LIBRARY}-") as place:
        tree = Path(place).resolve() / "tree"
        for name in files(*options or ("--cached", "--others", "--exclude-standard")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
        yield tree


def contents(folder: Path, pattern: str) -> dict:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob(pattern)}


def finish(command: list, cwd: Path, **environment) -> tuple:
    "Return a command's exit code and what it printed; its children end when the check times out"
    env = {**os.environ, "PYTHONPATH": str(cwd), **environment}
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=cwd,
        env=env,
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        print("Until the time was over:", process.communicate()[0])
        raise
    return process.returncode, output.strip()


def run(command: list, cwd: Path, **environment) -> str:
    "Return what a command printed; if it fails, so does the check"
    code, output = finish(command, cwd, **environment)
    if code:
        complain(output.splitlines()[-40:] or [f"{command[0]} failed"])
    return output


def run_notebook(path: Path, tree: Path, commands: Path = BIN, **environment):
    "Run a notebook of `tree` from top to bottom; one that nbdev_test passes over has failed"
    command = [commands / "nbdev_test", "--path", path, "--n_workers", "0", "--do_print"]
    if "- Completed" not in run(command, tree, **environment):
        complain(["skipped by nbdev_test: remove `skip_exec`, or the .notest file beside it"])


# ---- the wheel ----------------------------------------------------------------------------------

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


def build_wheel(tree: Path) -> Path:
    "Build the wheel of `tree` beside it and return it"
    options = ["--no-deps", "--no-build-isolation", "--use-pep517", "-w", tree.parent]
    run([sys.executable, *PIP, "wheel", *options, "."], tree)
    return next(tree.parent.glob("*.whl"))


def install(
    what: list,
    python: Path,
    environment: Path,
    cwd: Path,
    versions: Path = ROOT / "constraints.txt",
) -> Path:
    "Make an environment with what is wanted, in these versions, and return its Python"
    run([python, "-m", "venv", "--clear", environment], cwd, PYTHONPATH="")
    own = environment / "bin/python"
    run([own, *PIP, "install", "--no-compile", "-c", versions, *what], cwd, PYTHONPATH="")
    return own


def probe(python: Path, elsewhere: Path):
    "Import every module and read every dataset of the library that is installed for `python`"
    run([python, "-c", PROBE], elsewhere, PYTHONPATH="")
