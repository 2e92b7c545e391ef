"""Work on a notebook as text, or run notebooks and save what they print.

    python .ci/notebook.py text nbs/index.ipynb view.py   write the notebook as a percent script
    python .ci/notebook.py save view.py nbs/index.ipynb   put it back, execute, clean, export
    python .ci/notebook.py run nbs/index.ipynb ...        execute in place (all if none is named)

`--slow` also runs the cells marked `#| slow`.
"""

import argparse
import logging
import os
import sys
import time
import warnings
from pathlib import Path

import jupytext
from execnb.nbio import read_nb, write_nb
from execnb.shell import CaptureShell
from fastcore.xtras import working_directory
from nbdev.clean import nbdev_clean
from nbdev.config import get_config
from nbdev.doclinks import nbdev_export, nbglob
from nbdev.process import NBProcessor
from nbformat.v4 import new_markdown_cell


def cells_to_skip(notebook: Path, flags: set) -> set:
    "Return the positions of the code cells that nbdev_test would not run either"
    skip = set()
    for cell in NBProcessor(notebook, rm_directives=False, process=True).nb.cells:
        directives = cell.directives_ if cell.cell_type == "code" else {}
        if flags & directives.keys() or directives.get("eval:") == ["false"]:
            skip.add(cell.idx_)
    return skip


def run(notebook: Path, flags: set):
    "Execute `notebook` and save its outputs; a failing cell stops it and leaves the file as it was"
    skip, nb = cells_to_skip(notebook, flags), read_nb(notebook)
    runs = [c for c in nb.cells if c.cell_type == "code" and c.idx_ not in skip]
    for cell in runs:
        cell.outputs = []  # one that prints nothing any more must not keep what it printed
    # as a reader should see it: without the path of the file on this machine
    warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"
    # no reader needs to know which fonts lack
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    start, shell = time.time(), CaptureShell(notebook)
    try:
        with working_directory(notebook.parent):
            shell.run_all(nb, exc_stop=True, preproc=lambda cell: cell not in runs)
    except (Exception, SystemExit):
        sys.exit(shell.prettytb(fname=notebook))
    write_nb(nb, notebook)
    nbdev_clean.__wrapped__(str(notebook))
    print(
        f"{notebook.name}: {time.time() - start:.1f} s, {notebook.stat().st_size:,} bytes",
        flush=True,
    )


def introduction_apart(nb):
    "Give what follows `# Title` and `> promise` a cell of its own: nbdev would drop it"
    title, promise, rest = (nb.cells[0].source.split("\n\n", 2) + ["", ""])[:3]
    if nb.cells[0].cell_type == "markdown" and promise.startswith(">") and rest:
        nb.cells[0].source = f"{title}\n\n{promise}"
        nb.cells.insert(1, new_markdown_cell(rest))
    return nb


def save(view: Path, notebook: Path):
    "Put the text of `view` into `notebook`, keeping the ids of the cells that are still there"
    nb = introduction_apart(jupytext.read(view))
    if notebook.exists():
        nb = jupytext.combine.combine_inputs_with_outputs(nb, jupytext.read(notebook), fmt="ipynb")
    kernel = {"display_name": "python3", "language": "python", "name": "python3"}
    nb.metadata.setdefault("kernelspec", kernel)
    jupytext.write(nb, notebook)
    nbdev_clean.__wrapped__(str(notebook))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["text", "save", "run"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--slow", action="store_true", help="run the cells marked slow too")
    args = parser.parse_intermixed_args()  # paths may follow an option
    config = get_config()
    sys.path.insert(0, str(config.config_path))
    os.environ["PYTHONPATH"] = str(config.config_path)
    flags = set(config.tst_flags.split()) - ({"slow"} if args.slow else set())
    paths = [p.absolute() for p in args.paths]
    if args.action == "text":
        jupytext.write(jupytext.read(paths[0]), paths[1], fmt="py:percent")
    elif args.action == "save":
        save(*paths)
        nbdev_export.__wrapped__(str(paths[1]))  # the notebook may import what it exports
        run(paths[1], flags)
    else:
        for notebook in paths or sorted(p.absolute() for p in nbglob(as_path=True)):
            run(notebook, flags)


if __name__ == "__main__":
    main()
