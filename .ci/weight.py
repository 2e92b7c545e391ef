"""Report how much a reader of the package has to hold: `make weight`, or `python .ci/weight.py`.

Lines can be folded, expression nodes cannot: they are what counts. Nothing is enforced.
"""

import ast
import json
import statistics
from pathlib import Path

from tools import LIBRARY, ROOT

# title of a column, width
COLUMNS = {
    "modules": 7,
    "lines": 8,
    "nodes": 8,
    "nodes/line": 10,
    "packed/1000": 11,
    "constants": 9,
    "parameters": 10,
}


def code_lines(source: str, tree: ast.AST) -> set:
    "Return the numbers of the lines that hold code: no blank lines, comments and docstrings"
    lines = enumerate(source.splitlines(), 1)
    code = {i for i, line in lines if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(tree):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and ast.get_docstring(node) is not None:
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return code


def count(node: ast.AST, kind) -> int:
    "Return how many nodes of a kind are in a tree"
    return sum(isinstance(each, kind) for each in ast.walk(node))


def is_packed(node: ast.AST) -> bool:
    "Return whether a statement assigns several values to several names"
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    return isinstance(node.targets[0], ast.Tuple)


def is_constant(node: ast.AST) -> bool:
    "Return whether a statement of a module assigns to a name in capital letters"
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    return node.targets[0].id.isupper()


def weigh(path: Path) -> dict:
    "Return the figures of one module, and the density of each of its functions"
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = code_lines(source, tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    dense = []
    for function in functions:
        own = lines & set(range(function.lineno, function.end_lineno + 1))
        if len(own) > 4:
            place = f"{path.relative_to(ROOT).as_posix()}:{function.lineno} {function.name}"
            dense.append((count(function, ast.expr) / len(own), place))
    return {
        "lines": len(lines),
        "nodes": count(tree, ast.expr),
        "packed": sum(map(is_packed, ast.walk(tree))),
        "constants": sum(map(is_constant, tree.body)),
        "parameters": max((count(each.args, ast.arg) for each in functions), default=0),
        "dense": dense,
    }


def row(title: str, modules: list) -> str:
    "Return one line of the report: the figures of some modules together"

    def total(name):
        return sum(module[name] for module in modules)

    lines = total("lines")
    values = [
        str(len(modules)),
        f"{lines:,}",
        f"{total('nodes'):,}",
        f"{total('nodes') / lines:.1f}",
        f"{1000 * total('packed') / lines:.1f}",
        str(total("constants")),
        str(max(module["parameters"] for module in modules)),
    ]
    cells = [value.rjust(width) for value, width in zip(values, COLUMNS.values())]
    return "  ".join([title.ljust(12), *cells])


def exported_cells(folder: Path) -> list:
    "Return (lines, place) of each exported cell of the notebooks in a folder"
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and source.startswith("#| export"):
                lines = [line for line in source.splitlines()[1:] if line.strip()]
                found.append((len(lines), f"{path.relative_to(ROOT).as_posix()} cell {i}"))
    return found


def main():
    "Print the report"
    paths = [path for path in (ROOT / LIBRARY).rglob("*.py") if path.name != "_modidx.py"]
    modules = {path: weigh(path) for path in sorted(paths)}
    print("  ".join([" " * 12, *(name.rjust(width) for name, width in COLUMNS.items())]))
    print(row("all", list(modules.values())))
    for folder in sorted({path.parent for path in modules}):
        inside = [module for path, module in modules.items() if path.parent == folder]
        print(row(f"{folder.name}/", inside))

    print("\nDensest functions, nodes a line")
    dense = []
    for module in modules.values():
        dense += module["dense"]
    for density, place in sorted(dense, reverse=True)[:10]:
        print(f"{density:6.1f}  {place}")

    print("\nExported cells, lines: number, median, nine of ten at most, longest")
    folders = sorted({path.parent for path in (ROOT / "nbs").rglob("*.ipynb")})
    for folder in folders:
        cells = sorted(exported_cells(folder))
        if cells and folder.name != ".ipynb_checkpoints":
            lengths = [length for length, _ in cells]
            nine_of_ten = lengths[int(0.9 * (len(lengths) - 1))]
            figures = f"{len(cells):5} {statistics.median(lengths):5.0f} {nine_of_ten:5}"
            print(f"{folder.name:10} {figures}  {cells[-1][0]:5}  {cells[-1][1]}")


if __name__ == "__main__":
    main()
