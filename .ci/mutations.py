"""Would the tests notice? Changes one thing at a time in the library and runs the notebooks that test it.

    python .ci/mutations.py --number 30 --seed 0 --jobs 2        a random sample; `make test-mutations` does it
    python .ci/mutations.py --only coordinates votes              of these modules
    python .ci/mutations.py --number 30 --seed 0 --list           what would be tried
    python .ci/mutations.py --number 100 --out verdicts.json      kept as they come; called again, it goes on
    python .ci/mutations.py --again --out verdicts.json           those that survived, now that they have tests

A mutant is *killed* if one of its notebooks fails or takes far too long, and *survived* if all of them pass. mutmut and
cosmic-ray change modules, but here a notebook defines what it tests: the change has to be made in its cell, and the
module made from it. So this is a script of its own.
"""
import argparse
import ast
import json
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools import LIBRARY, ROOT, copied_tree, finish

# the notebooks that test a module, besides its own, which comes first; then the quick ones that are likely to notice
TESTED_BY = {
    "coordinates": ["tests/attacks", "tests/any_table"],
    "views": ["tests/kernel_oracle", "tests/attacks", "12_kernel_neighbors"],
    "network": ["03_solvers", "tests/oracle"],
    "solvers": ["08_training", "tests/attacks", "tests/oracle"],
    "search": ["10_geometry", "tests/attacks", "tests/oracle"],
    "files": ["tests/attacks", "tests/persistence"],
    "content": ["tests/attacks", "11_neighbors", "12_kernel_neighbors"],
    "tables": ["15_cli", "tests/attacks_command"],
    "records": ["tests/attacks_command"],
    "checkpoints": ["tests/attacks", "07_sampling"],
    "sampling": ["11_neighbors", "tests/attacks"],
    "training": ["11_neighbors"],
    "kernel": ["10b_kernel_geometry", "tests/kernel_oracle"],
    "landmarks": ["10d_landmark_geometry", "12_kernel_neighbors"],
    "geometry": ["11_neighbors"],
    "votes": ["11_neighbors", "12_kernel_neighbors"],
    "kernel_geometry": ["tests/kernel_oracle", "12_kernel_neighbors"],
    "choice": ["tests/kernel_oracle", "12_kernel_neighbors"],
    "landmark_geometry": ["10e_shards", "12_kernel_neighbors", "tests/kernel_attacks"],
    "shards": ["12_kernel_neighbors", "13_distributed"],
    "neighbors": ["tests/attacks", "tests/sklearn_manners", "tests/persistence"],
    "kernel_neighbors": ["tests/attacks", "tests/kernel_attacks"],
    "reasons": ["tests/reasons"],
    "imputer": ["howtos/missing_values"],
    "onnx_models": ["howtos/onnx"],
    "cli": ["tests/attacks_command"],
}
# (module, function, what was there, what was put there): why no test can tell the difference
EQUIVALENT = json.loads((Path(__file__).parent / "mutations_equivalent.json").read_text(encoding="utf-8"))
SECONDS = 400   # for one notebook: what takes longer has been changed into something that hangs

SWAPS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
         ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub,
         ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
         ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}
SKIPPED = ("annotation", "returns", "decorator_list", "defaults", "kw_defaults")   # defaults are choices, not logic
# words for people, and what only they see
FOR_PEOPLE = {"stacklevel", "desc", "leave", "disable", "help", "metavar", "figsize", "label"}


@dataclass(frozen=True)
class Mutant:
    "One change: bytes `start` to `stop` of a module become `new`"
    module: str
    function: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def __str__(self): return f"{self.module}.{self.function}, line {self.line}: {self.old}  ->  {self.new}"

    @property
    def key(self): return [self.module, self.function, self.old, self.new]


def changed(node):
    "What to put in the place of a node, as source; nothing if it is not changed"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield ast.Compare(node.left, [SWAPS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        parts = {name: getattr(node, name) for name in node._fields}
        yield type(node)(**parts | {"op": SWAPS[type(node.op)]()})
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)): yield node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool): yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1 if isinstance(node.value, int) else node.value * 2 or 1.0)
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None))
    if isinstance(node, (ast.If, ast.IfExp)): yield ast.UnaryOp(ast.Not(), node.test)
    statement = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.YieldFrom))
    if statement or isinstance(node, (ast.AugAssign, ast.Raise)): yield ast.Pass()


def walk(node, function=""):
    "Every node that may be changed, with the function it is in"
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr): continue   # text is for people
            if name in SKIPPED or isinstance(child, (ast.Import, ast.ImportFrom)): continue
            if isinstance(child, ast.keyword) and child.arg in FOR_PEOPLE: continue
            inside = function
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inside = f"{function}.{child.name}".lstrip(".")
            yield child, inside
            yield from walk(child, inside)


def mutants(path: Path, module: str) -> list:
    "All the changes that can be made to a module"
    source = path.read_bytes()
    starts = [0]
    for line in source.split(b"\n"): starts.append(starts[-1] + len(line) + 1)
    found = []
    for node, function in walk(ast.parse(source)):
        if not function: continue   # constants and tables outside of functions are choices, not logic
        for new in changed(node):
            there = node.test if isinstance(node, (ast.If, ast.IfExp)) else node
            start = starts[there.lineno - 1] + there.col_offset
            stop = starts[there.end_lineno - 1] + there.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            if isinstance(new, ast.expr) and not isinstance(new, ast.Constant): text = f"({text})"
            old = re.sub(r"\s+", " ", source[start:stop].decode())
            found.append(Mutant(module, function, there.lineno, start, stop, old, text))
    return found


def modules() -> dict:
    "The modules of the library and their notebooks"
    found = {}
    for path in sorted((ROOT / LIBRARY).glob("[!_]*.py")):
        if path.stem == "displays": continue   # pictures are judged by eyes
        made_from = re.search(r"File to edit: (?:\.\./)+nbs/(\S+?)\.ipynb", path.read_text(encoding="utf-8"))
        found[path.stem] = made_from[1]
    return found


def apply(mutant: Mutant, tree: Path):
    "Change the module in `tree`, and the cell of the notebook that it was exported from"
    path = tree / LIBRARY / f"{mutant.module}.py"
    source = path.read_bytes()
    after = source[:mutant.start] + mutant.new.encode() + source[mutant.stop:]
    path.write_bytes(after)
    ast.parse(after)
    # the cell: its code begins behind the line that names it, and ends before the next such line
    lines, first = source.decode().splitlines(), mutant.line - 1
    head = max(i for i in range(first) if lines[i].startswith("# %% "))
    notebook, cell_id = re.match(r"# %% (?:\.\./)+nbs/(\S+) #(\w+)", lines[head]).groups()
    tail = next((i for i in range(head + 1, len(lines)) if lines[i].startswith("# %% ")), len(lines))
    changed_lines = after.decode().splitlines()
    block = changed_lines[head + 1: tail + len(changed_lines) - len(lines)]
    place = tree / "nbs" / notebook
    content = json.loads(place.read_text(encoding="utf-8"))
    cell = next(cell for cell in content["cells"] if cell["id"] == cell_id)
    code = "\n".join(block).strip("\n")
    code = re.sub(r"^(\s*)from \.(\w)", rf"\1from {LIBRARY}.\2", code, flags=re.M)   # as a notebook imports it
    cell["source"] = "#| export\n" + code
    place.write_text(json.dumps(content), encoding="utf-8")


def notebooks_of(module: str) -> list:
    own = modules()[module]
    return [name for name in dict.fromkeys([own, *TESTED_BY.get(module, [])]) if (ROOT / f"nbs/{name}.ipynb").exists()]


class Runner:
    "Runs notebooks in copies of the tree; knows which of them pass as they are"

    def __init__(self):
        self.passes, self.lock = {}, threading.Lock()

    def run(self, tree: Path, name: str) -> bool:
        "Whether a notebook runs to its end in time"
        command = ["timeout", "-k", "5", str(SECONDS), sys.executable, tree / ".ci/notebook.py", "run", f"nbs/{name}.ipynb"]
        return finish(command, tree)[0] == 0

    def sound(self, name: str) -> bool:
        "Whether a notebook passes without any change; looked at once"
        with self.lock:
            if name not in self.passes:
                with copied_tree() as tree: self.passes[name] = self.run(tree, name)
            return self.passes[name]

    def verdict(self, mutant: Mutant) -> dict:
        start, killed_by = time.time(), None
        with copied_tree() as tree:
            apply(mutant, tree)
            for name in notebooks_of(mutant.module):
                if not self.run(tree, name) and self.sound(name):
                    killed_by = name
                    break
        equivalent = next((why for *key, why in EQUIVALENT if key == mutant.key), None)
        outcome = "killed" if killed_by else "excused" if equivalent else "survived"
        print(f"{outcome:8} {time.time() - start:4.0f} s  {mutant}" + (f"  [{killed_by or equivalent}]"), flush=True)
        return {"mutant": mutant.key, "line": mutant.line, "outcome": outcome, "killed_by": killed_by, "why": equivalent}


def score(outcomes: list) -> dict:
    return {word: outcomes.count(word) for word in ("killed", "survived", "excused")}


def keep(said: dict, path: Path):
    "Write the verdicts, and the score before and after survivors were tried again"
    said["before"] = score([v["outcome"] for v in said["verdicts"]])
    said["after"] = score([v.get("again", v)["outcome"] for v in said["verdicts"]])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="modules")
    parser.add_argument("--list", action="store_true", help="only say what would be tried")
    parser.add_argument("--out", type=Path, help="keep the verdicts, seed and commit in this file, and go on from it")
    parser.add_argument("--again", action="store_true", help="try those that survived in --out again")
    args = parser.parse_args()
    said = json.loads(args.out.read_text(encoding="utf-8")) if args.out and args.out.exists() else {}
    if args.again: args.seed, args.number, args.only = said["seed"], said["number"], said["only"]
    chosen = args.only or list(modules())
    everything = [mutant for module in chosen for mutant in mutants(ROOT / LIBRARY / f"{module}.py", module)]
    sample = random.Random(args.seed).sample(everything, min(args.number, len(everything)))
    print(f"{len(sample)} of {len(everything):,} mutants, seed {args.seed}", flush=True)
    if args.list: return print(*sample, sep="\n")
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    commit = asked.stdout.strip()
    about = {"seed": args.seed, "number": args.number, "only": args.only, "of": len(everything)}
    said = said or about | {"commit": commit, "before": {}, "after": {}, "verdicts": []}
    verdicts = said["verdicts"]
    if any(said[name] != value for name, value in about.items()) or any(
            v["mutant"] != mutant.key for v, mutant in zip(verdicts, sample)):
        sys.exit(f"{args.out} is about other mutants: name another file.")
    alive = [i for i, v in enumerate(verdicts) if v.get("again", v)["outcome"] == "survived"]
    places = alive if args.again else range(len(verdicts), len(sample))
    runner = Runner()
    with ThreadPoolExecutor(args.jobs) as pool:
        for place, verdict in zip(places, pool.map(runner.verdict, [sample[i] for i in places])):
            if args.again: verdicts[place]["again"] = {"commit": commit, **verdict}
            else: verdicts.append(verdict)
            if args.out: keep(said, args.out)
    count = score([v.get("again", v)["outcome"] for v in verdicts])
    counted = count["killed"] + count["survived"]
    print(f"{count['killed']} of {counted} killed ({count['killed'] / max(counted, 1):.0%}), {count['survived']} survived, "
          f"{count['excused']} cannot be told from the original")
    sys.exit(count["survived"] > counted * 0.05)


if __name__ == "__main__":
    main()
