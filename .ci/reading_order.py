"""nbs/README.md, for whoever opens the folder: in what order to read, how long it takes."""

import re
from pathlib import Path

from execnb.nbio import read_nb

WORDS_A_MINUTE = 200
CODE_LINES_A_MINUTE = 30

HEAD = """<!-- Made from sidebar.yml and the notebooks by `make sync`. -->

# The notebooks, in the order of reading

They are the source of the package, its documentation and its tests. A folder is a topic; numbers
show the order.

```sh
pip install ".[notebooks]"   # in the clone; without a GPU, torch's CPU build first (see the README)
jupyter lab nbs/
```

Each notebook runs from top to bottom, in its own folder, in less than three minutes. Their results
are saved: you can read them without running anything.

* **To use it**, read [Start](#start), then the how-to that has your question.
* **To understand the paper**, read [The paper, step by step](#the-paper-step-by-step), and stop at
  any heading.
* **To understand the method that is recommended**, read
  [The kernel self-encoder, step by step](#the-kernel-self-encoder-step-by-step).
* **To change something**, read [the architecture](architecture.ipynb) first.
"""


def title_and_promise(nb) -> tuple:
    "Return what the first cell of a notebook says: `# title`, and `> promise` below it"
    lines = nb.cells[0].source.splitlines()
    title = lines[0].removeprefix("# ")
    promises = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    return title, " ".join(promises)


def minutes(nb) -> int:
    "Return roughly how long a notebook takes to read, in steps of five minutes"
    words = lines = 0
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            words += len(cell.source.split())
        elif not re.search(r"^#\|\s*(hide|echo: false|include: false)", cell.source, re.M):
            lines += len(cell.source.splitlines())
    exact = words / WORDS_A_MINUTE + lines / CODE_LINES_A_MINUTE
    return max(5, 5 * round(exact / 5))


def reading_order(nbs: Path, sections: list) -> str:
    "Return the text of nbs/README.md for the sections of the sidebar, as (title, notebooks)"
    parts = [HEAD]
    for section, names in sections:
        entries, total = [], 0
        for name in names:
            nb = read_nb(nbs / name)
            title, promise = title_and_promise(nb)
            total += minutes(nb)
            entries.append(f"1. [{title}]({name}), {minutes(nb)} min: {promise}")
        parts.append(f"## {section}\n\nAbout {total} minutes.\n\n" + "\n".join(entries) + "\n")
    return "\n".join(parts)
