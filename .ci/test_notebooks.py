"""Every notebook runs from top to bottom."""

from pathlib import Path

import pytest

from docs import notebooks
from tools import ROOT, complain, run_notebook


@pytest.mark.remedy(
    "mend the cell named above; `.venv/bin/python .ci/notebook.py run nbs/{name}` repeats it"
)
@pytest.mark.parametrize("name", notebooks(ROOT / "nbs"))
def test_notebook(name, tree):
    if any(part.startswith(("_", ".")) for part in Path(name).parts):
        complain(
            ["nbdev passes over names that begin with _ or .: rename it, or move it out of nbs/"]
        )
    run_notebook(tree / "nbs" / name, tree)
