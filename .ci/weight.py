"""Report how much a reader of the package has to hold: `make weight`, or `python .ci/weight.py`.

Lines can be folded, expression nodes cannot: they are what counts. Nothing is enforced.
"""

import ast

import pandas as pd
from execnb.nbio import read_nb

from docs import notebooks
from tools import LIBRARY, ROOT


def code_lines(source: str, tree: ast.AST) -> set:
    "Return the numbers of the lines that hold code: no blank lines, comments and docstrings"
    lines = enumerate(source.splitlines(), 1)
    code = {i for i, line in lines if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(tree):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and ast.get_docstring(node) is not None:
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return code


def nodes(tree: ast.AST) -> int:
    "Return how many expression nodes are in a tree"
    return sum(isinstance(each, ast.expr) for each in ast.walk(tree))


def is_packed(node: ast.AST) -> bool:
    "Return whether a statement assigns several values to several names"
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    return isinstance(node.targets[0], ast.Tuple)


def is_constant(node: ast.AST) -> bool:
    "Return whether a statement of a module assigns to a name in capital letters"
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "").isupper()


def weigh(path) -> tuple:
    "Return the figures of one module, and the nodes a line of each of its functions"
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = code_lines(source, tree)
    figures = {
        "folder": path.parent.name,
        "modules": 1,
        "lines": len(lines),
        "nodes": nodes(tree),
        "packed": sum(map(is_packed, ast.walk(tree))),
        "constants": sum(map(is_constant, tree.body)),
    }
    dense = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            own = lines & set(range(function.lineno, function.end_lineno + 1))
            if len(own) > 4:
                place = f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
                dense[place] = nodes(function) / len(own)
    return figures, dense


def exported_cells() -> pd.DataFrame:
    "Return folder and length of each exported cell of the notebooks"
    found = []
    for name in notebooks(ROOT / "nbs"):
        for cell in read_nb(ROOT / "nbs" / name).cells:
            if cell.cell_type == "code" and cell.source.startswith("#| export"):
                lines = [line for line in cell.source.splitlines()[1:] if line.strip()]
                found.append({"folder": name.partition("/")[0], "lines": len(lines)})
    return pd.DataFrame(found)


def main():
    "Print the report"
    figures, dense = [], {}
    for path in sorted((ROOT / LIBRARY).rglob("*.py")):
        if path.name != "_modidx.py":
            of_module, of_functions = weigh(path)
            figures.append(of_module)
            dense |= of_functions
    table = pd.DataFrame(figures).groupby("folder").sum()
    table.loc["all"] = table.sum()
    table["nodes/line"] = table.nodes / table.lines
    table["packed/1000 lines"] = 1000 * table.pop("packed") / table.lines
    print(table.round(1).to_string())
    print("\nDensest functions, nodes a line")
    print(pd.Series(dense).nlargest(10).round(1).to_string())
    print("\nLines of exported cells")
    print(exported_cells().groupby("folder").lines.describe(percentiles=[0.9]).round(1).to_string())


if __name__ == "__main__":
    main()
