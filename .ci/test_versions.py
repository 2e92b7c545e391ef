"""The wheel on other Pythons and with the lowest versions of settings.ini: notebooks run with it.

`make test-versions` takes every Python that is found, `make test VERSIONS=newest` the newest
besides its own; both also take the lowest versions, on their own Python. The packages stay in
.venv-3.x/ and .venv-lowest/ until constraints.txt or settings.ini changes; the wheel is new.
"""

import os
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from nbdev.config import get_config

import docs
import release
from tools import LIBRARY, PIP, ROOT, build_wheel, copied_tree, install, probe, run, run_notebook

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.remedy("`.venv-{version}/bin/python` is the Python that fails"),
]

LOWEST = "lowest"
PYTHONS = [
    "*/*_estimators.ipynb",
    "paper/01_network.ipynb",
    "tests/oracle.ipynb",
    "tests/scikit_learn.ipynb",
]
PACKAGES = ["kernel/*.ipynb", "paper/0*.ipynb"]
# what running a notebook takes; the rest of the development requirements may want newer versions
TOOLS = [
    "nbdev",
    "execnb",
    "fastcore",
    "ghapi",
    "fastgit",
    "ipykernel",
    "hypothesis",
    "psutil",
    "pyarrow",
    "dask[dataframe,distributed]",
]
ASK = """import sys, sysconfig
free = sysconfig.get_config_var("Py_GIL_DISABLED") or 0
print(*sys.version_info[:2], sys.version_info.releaselevel, free)"""


@cache
def pythons() -> dict:
    "Return the Pythons on the path and under pyenv that may be used, by version, the newest last"
    oldest = tuple(map(int, get_config(path=ROOT).min_python.split(".")))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [shutil.which(f"python3.{minor}") for minor in range(oldest[1], 100)]
    found = {}
    for python in [*filter(None, places), *pyenv.glob("versions/3.*/bin/python3")]:
        asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True)
        if asked.returncode:
            continue  # a shim of pyenv may stand for nothing
        major, minor, *kind = asked.stdout.split()
        if kind == ["final", "0"]:
            found[int(major), int(minor)] = python
    return {version: found[version] for version in sorted(found) if version >= oldest}


def what_runs(version: str) -> list:
    "Return the imports, and some notebooks"
    patterns = PACKAGES if version == LOWEST else PYTHONS
    names = ["imports"]
    for pattern in patterns:
        names += [f"nbs/{path}" for path in docs.notebooks(ROOT / "nbs") if fnmatch(path, pattern)]
    return names


def pytest_generate_tests(metafunc):
    wanted = {".".join(map(str, version)): python for version, python in pythons().items()}
    if metafunc.config.getoption("versions") == "newest":
        wanted.pop(".".join(map(str, sys.version_info[:2])), None)
        wanted = dict(list(wanted.items())[-1:])
    elif metafunc.config.getoption("versions") == LOWEST:
        wanted = {}
    wanted[LOWEST] = sys.executable
    # One worker prepares an environment and makes all the checks in it.
    values = [
        pytest.param(
            version, python, name, id=f"{version}-{name}", marks=pytest.mark.xdist_group(version)
        )
        for version, python in wanted.items()
        for name in what_runs(version)
    ]
    metafunc.parametrize("version, python, name", values, scope="session")


@pytest.fixture(scope="session")
def place():
    "Make a copy of the tree without the library, which then comes from the wheel beside it"
    with copied_tree() as tree:
        build_wheel(tree)
        shutil.rmtree(tree / LIBRARY)
        yield tree


@pytest.fixture(scope="session")
def installed(version, python, place):
    "Return the Python of an environment with the wheel and all that is needed to test it"
    environment, wheel = ROOT / f".venv-{version}", next(place.parent.glob("*.whl"))
    stamp, inputs = environment / ".ready", [ROOT / "constraints.txt", ROOT / "settings.ini"]
    if not stamp.exists() or stamp.stat().st_mtime < max(path.stat().st_mtime for path in inputs):
        if version == LOWEST:
            versions = release.lowest(get_config(path=ROOT))
            lowest = release.versions_file(place.parent / "lowest.txt", versions)
            install([wheel, *TOOLS], python, environment, place.parent, lowest)
        else:
            install([f"{wheel}[dev]"], python, environment, place.parent)
        stamp.touch()
    own = environment / "bin/python"
    run(
        [own, *PIP, "install", "--no-deps", "--force-reinstall", wheel], place.parent, PYTHONPATH=""
    )
    return own


def test_version(version, installed, name, place):
    if name == "imports":
        probe(installed, place)
    else:
        run_notebook(place / name, place, installed.parent, PYTHONPATH="")
