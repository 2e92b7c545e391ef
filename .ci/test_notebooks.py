"""Every notebook runs from top to bottom: readers' pages in Jupyter, the others in nbdev_test."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from docs import notebooks
from tools import ROOT, complain, run_notebook

READERS = ("start", "paper", "kernel")
NAMES = notebooks(ROOT / "nbs")
IN_JUPYTER = [name for name in NAMES if name.startswith(tuple(f"{each}/" for each in READERS))]


@pytest.mark.remedy(
    "mend the cell named above; `.venv/bin/python .ci/notebook.py run nbs/{name}` repeats it"
)
@pytest.mark.parametrize("name", sorted(set(NAMES) - set(IN_JUPYTER)))
def test_notebook(name, tree):
    "nbdev_test runs the notebook"
    if any(part.startswith(("_", ".")) for part in Path(name).parts):
        complain(["nbdev passes over names that begin with _ or .: rename it, or move it"])
    run_notebook(tree / "nbs" / name, tree)


@pytest.mark.remedy("open nbs/{name} in JupyterLab and run all cells")
@pytest.mark.parametrize("name", IN_JUPYTER)
def test_in_jupyter(name, tree):
    "Jupyter runs the notebook in its own folder, with the kernel that it names"
    path = tree / "nbs" / name
    notebook = nbformat.read(path, as_version=4)
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    complain([f"the kernel is {kernel}, not python3"] * (kernel != "python3"))
    # The full experiments of a page take an hour; their results are stored.
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("#| slow")]
    # The package of this tree stands for the installed one; pictures are shown as Jupyter does.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    del environment["MPLBACKEND"]
    place = {"metadata": {"path": str(path.parent)}}
    found = []
    try:
        NotebookClient(notebook, timeout=180, resources=place).execute(env=environment)
    except CellExecutionError as error:
        found = re.sub(r"\x1b\[[\d;]*m", "", str(error)).splitlines()[-40:]
    complain(found)
