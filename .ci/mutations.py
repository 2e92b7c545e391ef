"""Would the tests notice? Changes one thing at a time in the library and runs the notebooks that test it.

    python .ci/mutations.py --number 30 --seed 0 --jobs 2        a random sample; `make test-mutations` does it
    python .ci/mutations.py --only tables kernel/fit              of these modules
    python .ci/mutations.py --operators guard all-rows            of these kinds of mistakes
    python .ci/mutations.py --number 30 --seed 0 --list           what would be tried, and by which notebooks
    python .ci/mutations.py --number 100 --out verdicts.json      kept as they come; called again, it goes on
    python .ci/mutations.py --again --out verdicts.json           those that survived, now that they have tests

A mutant is *killed* if one of its notebooks fails or takes far too long, and *survived* if all of them pass. Half of the
operators are the usual ones (signs, constants, conditions), the others make the mistakes that people make; the sample
has equally many of each operator. Not drawn from: defaults and constants outside of functions, texts for people, how a
figure looks (colours, lines, frames, where words stand), and the modules of NOT_CHANGED. mutmut and cosmic-ray change
modules, but here a notebook defines what it tests: the change has to be made in its cell, and the module made from it.
So this is a script of its own.
"""

import argparse
import ast
import json
import multiprocessing
import os
import random
import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

import psutil
from tools import LIBRARY, ROOT, copied_tree

# (module, function, what was there, what was put there): why no test can tell the difference
EQUIVALENT = json.loads(
    (Path(__file__).parent / "mutations_equivalent.json").read_text(encoding="utf-8")
)
SECONDS = 400  # processor time of one notebook: what takes longer has been changed into something that never ends
STALLED = 60  # seconds without any: it waits for something that never comes
NOTEBOOKS = 5  # that are run for a mutant, the closest first
ALWAYS = ("tests/mistakes", "tests/attacks")  # of the whole library, in seconds
NOT_CHANGED = (
    "displays",
    "paper/benchmarks",
    "paper/first_look",
)  # pictures and measurements: eyes judge them

# ---- operators ------------------------------------------------------------------------------------------------

SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
ROUNDED = {"ceil": "floor", "floor": "ceil", "left": "right", "right": "left"}
BOUNDS = {"min", "max", "minimum", "maximum", "clip", "clamp"}
SELECTIONS = {"_safe_indexing", "take", "take_along_axis", "index_select", "compress"}
COMMUTATIVE = BOUNDS | {
    "zip",
    "isinstance",
    "isclose",
    "hasattr",
    "getattr",
    "range",
    "print",
    "samefile",
    "check_consistent_length",
    "array_equal",
    "allclose",
}


def called(node) -> str:
    "The last name of what is called, if `node` is a call"
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def of_object(node) -> bool:
    "Whether a call is of a method, not of a function of a module"
    return isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in (
        "np",
        "torch",
        "F",
    )


def whole(node):
    "What a selection of rows is taken from; anything else as it is"
    if isinstance(node, ast.Subscript):
        return (
            node.value.value if getattr(node.value, "attr", "") in ("iloc", "loc") else node.value
        )
    if called(node) in SELECTIONS and node.args:
        return node.func.value if of_object(node) else node.args[0]
    return node


def usual(node):
    "(operator, replacement) of the usual mutations: signs, constants, conditions, results"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield (
            "comparison",
            ast.Compare(node.left, [SWAPS[type(node.ops[0])](), *node.ops[1:]], node.comparators),
        )
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPS:
        parts = {name: getattr(node, name) for name in node._fields}
        yield "arithmetic", type(node)(**parts | {"op": SWAPS[type(node.op)]()})
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "negation", node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield (
            "constant",
            ast.Constant(node.value + 1 if isinstance(node.value, int) else node.value * 2 or 1.0),
        )
    if (
        isinstance(node, ast.Return)
        and node.value is not None
        and not isinstance(node.value, ast.Constant)
    ):
        yield "result", ast.Return(ast.Constant(None))
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "condition", ast.UnaryOp(ast.Not(), node.test)
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, (ast.Call, ast.YieldFrom))
        or isinstance(node, ast.AugAssign)
    ):
        yield "statement", ast.Pass()


def human(node):
    "(operator, replacement) of the mistakes that people make"
    if (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    ):
        used = {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
        if node.targets[0].id in used:
            yield "before-the-filter", ast.Pass()  # the value from before this line
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and node.value.value is None
    ):
        yield "stale-cache", ast.Pass()
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, (ast.Name, ast.Compare, ast.UnaryOp, ast.Attribute, ast.Call))
    ):
        yield "all-rows", whole(node)
    if called(node) in SELECTIONS and node.args:
        yield "all-rows", whole(node)
    if called(node) == "fit" and node.args and whole(node.args[0]) is not node.args[0]:
        yield "fit-on-all", ast.Call(node.func, [whole(each) for each in node.args], node.keywords)
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in FOR_PEOPLE or only_looks(node, "keywords", keyword):
                continue
            yield (
                "no-keyword",
                ast.Call(
                    node.func, node.args, [each for each in node.keywords if each is not keyword]
                ),
            )
    if called(node) == "copy" and isinstance(node.func, ast.Attribute) and not node.args:
        yield "view", node.func.value
    if (
        isinstance(node, (ast.Return, ast.Assign))
        and called(node.value) in ("list", "dict", "array")
        and len(node.value.args) == 1
        and not node.value.keywords
        and isinstance(node.value.args[0], (ast.Name, ast.Attribute))
    ):
        # a copy that is kept or returned; one that is only looked through protects nothing
        yield (
            "view",
            type(node)(
                **{name: getattr(node, name) for name in node._fields}
                | {"value": node.value.args[0]}
            ),
        )
    if called(node) in BOUNDS:
        if of_object(node):
            values = [node.func.value] * (2 if called(node) in ("clip", "clamp") else 0)
        else:
            values = [each for each in node.args if not isinstance(each, ast.Starred)]
        kept = next(
            (each for each in values if not isinstance(each, ast.Constant)), None
        )  # numbers are bounds
        if len(values) >= 2 and kept is not None:
            yield "no-bound", kept
    if (
        isinstance(node, ast.If)
        and not node.orelse
        and len(node.body) == 1
        and isinstance(node.body[0], (ast.Raise, ast.Return, ast.Continue))
    ):
        yield "guard", ast.Constant(False)
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and isinstance(node.right, ast.Constant)
        and node.right.value == 1
    ):
        yield "off-by-one", node.left
    if isinstance(node, ast.Constant) and node.value in ("left", "right"):
        yield "off-by-one", ast.Constant(ROUNDED[node.value])
    if called(node) in ("ceil", "floor") and isinstance(node.func, ast.Attribute):
        yield (
            "off-by-one",
            ast.Call(
                ast.Attribute(node.func.value, ROUNDED[called(node)], ast.Load()), node.args, []
            ),
        )
    if isinstance(node, ast.Call) and called(node) not in COMMUTATIVE and len(node.args) >= 2:
        first, second, *rest = node.args
        if (
            type(first) is type(second)
            and isinstance(first, (ast.Name, ast.Attribute))
            and ast.dump(first) != ast.dump(second)
        ):
            yield "swapped", ast.Call(node.func, [second, first, *rest], node.keywords)


# how a picture looks: its numbers, words and scales are changed, but not colours, lines, frames and where words stand
CANVAS = {"ax", "axes", "fig", "figure", "plt"}
LOOKS = {"set_visible", "set_axis_off", "tick_params", "grid", "legend"}
LOOK = {
    "color",
    "linewidth",
    "lw",
    "linestyle",
    "ls",
    "zorder",
    "marker",
    "markersize",
    "fmt",
    "fontsize",
    "va",
    "ha",
    "frameon",
    "loc",
    "ncols",
    "bbox_to_anchor",
    "arrowprops",
    "dpi",
    "layout",
    "sharey",
    "clip_on",
    "xlim",
    "ylim",
}


def only_looks(node, name: str, child) -> bool:
    "Whether `child`, a part of `node`, only says how something is drawn with matplotlib"
    call = child.value if isinstance(child, ast.Expr) else child

    def on_canvas(call):
        place = getattr(call, "func", None)
        while isinstance(place, (ast.Attribute, ast.Subscript, ast.Call)):
            place = getattr(place, "value", getattr(place, "func", None))
        return isinstance(call, ast.Call) and isinstance(place, ast.Name) and place.id in CANVAS

    if on_canvas(call) and called(call) in LOOKS:
        return True
    if not on_canvas(node):
        return False
    return (
        isinstance(child, ast.keyword)
        and child.arg in LOOK
        or name == "args"
        and called(node) in ("text", "annotate")
        and child in node.args[:2]
    )


SKIPPED = (
    "annotation",
    "returns",
    "decorator_list",
    "defaults",
    "kw_defaults",
)  # defaults are choices, not logic
# words for people, and what only they see
FOR_PEOPLE = {"stacklevel", "desc", "leave", "disable", "help", "metavar", "figsize", "label"}


@dataclass(frozen=True)
class Mutant:
    "One change: bytes `start` to `stop` of a module become `new`"

    module: str
    function: str
    operator: str
    line: int
    start: int
    stop: int
    old: str
    new: str

    def __str__(self):
        return f"{self.module}.{self.function}, line {self.line}, {self.operator}: {self.old}  ->  {self.new}"

    @property
    def key(self):
        return [self.module, self.function, self.old, self.new]


def walk(node, function=""):
    "Every node that may be changed, with the function it is in"
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue  # text is for people
            if name in SKIPPED or isinstance(child, (ast.Import, ast.ImportFrom)):
                continue
            if (
                isinstance(child, ast.keyword)
                and child.arg in FOR_PEOPLE
                or only_looks(node, name, child)
            ):
                continue
            inside = function
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inside = f"{function}.{child.name}".lstrip(".")
            yield child, inside
            yield from walk(child, inside)


def mutants(module: str) -> list:
    "All the changes that can be made to a module"
    source = (ROOT / LIBRARY / f"{module}.py").read_bytes()
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for node, function in walk(ast.parse(source)):
        if not function:
            continue  # constants and tables outside of functions are choices, not logic
        for operator, new in [*usual(node), *human(node)]:
            there = node.test if isinstance(node, (ast.If, ast.IfExp)) else node
            start = starts[there.lineno - 1] + there.col_offset
            stop = starts[there.end_lineno - 1] + there.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            if isinstance(new, ast.expr) and not isinstance(new, ast.Constant):
                text = f"({text})"
            old = re.sub(r"\s+", " ", source[start:stop].decode())
            found.append(Mutant(module, function, operator, there.lineno, start, stop, old, text))
    return found


def drawn(everything: list, number: int, seed: int) -> list:
    "A random sample with equally many mutants of each operator, as far as there are"
    rng, by_operator = random.Random(seed), {}
    for mutant in everything:
        by_operator.setdefault(mutant.operator, []).append(mutant)
    shuffled = [
        rng.sample(by_operator[operator], len(by_operator[operator]))
        for operator in sorted(by_operator)
    ]
    in_turn = [mutant for turn in zip_longest(*shuffled) for mutant in turn if mutant is not None]
    return in_turn[:number]


# ---- which notebooks test a module ----------------------------------------------------------------------------


@cache
def modules() -> dict:
    "The modules of the library and their notebooks"
    found = {}
    for path in sorted((ROOT / LIBRARY).rglob("[!_]*.py")):
        made_from = re.search(
            r"File to edit: (?:\.\./)+nbs/(\S+?)\.ipynb", path.read_text(encoding="utf-8")
        )
        if made_from:
            found[path.relative_to(ROOT / LIBRARY).with_suffix("").as_posix()] = made_from[1]
    return found


def imported(source: str, package: str = "") -> set:
    "The modules of the library that a piece of code imports; `package`: of the module it stands in"
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {
                each.name[len(LIBRARY) + 1 :].replace(".", "/")
                for each in node.names
                if each.name.startswith(f"{LIBRARY}.")
            }
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            name = "/".join(
                filter(None, [package * (node.level == 1), (node.module or "").replace(".", "/")])
            )
        elif (node.module or "").split(".")[0] == LIBRARY:
            name = node.module[len(LIBRARY) + 1 :].replace(".", "/")
        else:
            continue
        found |= {
            name,
            *(f"{name}/{each.name}".lstrip("/") for each in node.names),
        }  # a module, or modules of a package
        estimators = (
            [each.name for each in node.names if each.name[0].isupper()] if not name else []
        )
        found |= {
            ("kernel" if each.startswith("Kernel") else "network") + "/estimators"
            for each in estimators
        }
    return found & set(modules())


@cache
def imports_of_modules() -> dict:
    return {
        name: imported(
            (ROOT / LIBRARY / f"{name}.py").read_text(encoding="utf-8"),
            Path(name).parent.as_posix().strip("."),
        )
        for name in modules()
    }


@cache
def code_of_notebooks() -> dict:
    "For each notebook the source of its code cells"
    found = {}
    for path in sorted((ROOT / "nbs").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.relative_to(ROOT / "nbs").with_suffix("").as_posix()] = [
            re.sub(r"^\s*[%!].*$", "", "".join(cell["source"]), flags=re.M)
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    return found


@cache
def imports_of_notebooks() -> dict:
    "For each notebook the modules that its cells import"
    return {
        name: set().union(*(imported(code) for code in cells if LIBRARY in code))
        for name, cells in code_of_notebooks().items()
    }


@cache
def names_in_notebooks() -> dict:
    return {
        name: set(re.findall(r"\w+", " ".join(cells)))
        for name, cells in code_of_notebooks().items()
    }


@cache
def steps_from(module: str) -> dict:
    "For each module that uses `module`, over how many imports it does"
    steps, last = {module: 0}, [module]
    while last:
        last = [
            name
            for name, used in imports_of_modules().items()
            if name not in steps and used & set(last)
        ]
        steps |= dict.fromkeys(last, max(steps.values()) + 1)
    return steps


def notebooks_of(module: str, function: str = "") -> list:
    "Its own notebook, those that name the function, those that are closest by imports; and tests of mistakes and attacks"
    steps, own = steps_from(module), modules()[module]
    called_for = {part for part in function.split(".") if not part.startswith("__")}

    def distance(name):
        return min(
            (steps[used] for used in imports_of_notebooks()[name] if used in steps), default=None
        )

    def apart(name):
        return not module.startswith("paper") and name.startswith(
            ("paper/", "howtos/", "tutorials/")
        )

    def order(name):
        return -len(called_for & names_in_notebooks()[name]), distance(name), name

    near = [
        name
        for name in imports_of_notebooks()
        if name != own and distance(name) is not None and not apart(name)
    ]
    tests = sorted((name for name in near if name.startswith("tests/")), key=order)
    others = sorted((name for name in near if not name.startswith("tests/")), key=order)
    closest = [own, *(name for pair in zip_longest(tests, others) for name in pair if name)][
        :NOTEBOOKS
    ]
    return closest + [name for name in ALWAYS if name in near and name not in closest]


# ---- trying it ------------------------------------------------------------------------------------------------


def apply(mutant: Mutant, tree: Path):
    "Change the module in `tree`, and the cell of the notebook that it was exported from"
    path = tree / LIBRARY / f"{mutant.module}.py"
    source = path.read_bytes()
    after = source[: mutant.start] + mutant.new.encode() + source[mutant.stop :]
    path.write_bytes(after)
    ast.parse(after)
    # the cell: its code begins behind the line that names it, and ends before the next such line
    lines, first = source.decode().splitlines(), mutant.line - 1
    head = max(i for i in range(first) if lines[i].startswith("# %% "))
    notebook, cell_id = re.match(r"# %% (?:\.\./)+nbs/(\S+) #(\w+)", lines[head]).groups()
    tail = next(
        (i for i in range(head + 1, len(lines)) if lines[i].startswith("# %% ")), len(lines)
    )
    changed_lines = after.decode().splitlines()
    code = "\n".join(changed_lines[head + 1 : tail + len(changed_lines) - len(lines)]).strip("\n")
    package = ".".join([LIBRARY, *Path(mutant.module).parent.parts])
    code = re.sub(
        r"^(\s*)from \.\.(\w)", rf"\1from {LIBRARY}.\2", code, flags=re.M
    )  # as a notebook imports it
    code = re.sub(r"^(\s*)from \.(\w)", rf"\1from {package}.\2", code, flags=re.M)
    place = tree / "nbs" / notebook
    content = json.loads(place.read_text(encoding="utf-8"))
    next(cell for cell in content["cells"] if cell["id"] == cell_id)["source"] = (
        "#| export\n" + code
    )
    place.write_text(json.dumps(content), encoding="utf-8")


# what takes seconds to import is imported once, by the process that the others are forked from
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "torch",
        "pandas",
        "scipy.stats",
        "sklearn.ensemble",
        "matplotlib.pyplot",
        "hypothesis",
        "jupytext",
        "execnb.shell",
        "nbdev.doclinks",
    ]
)


def run_notebook(tree: Path, name: str):
    "Run a notebook of `tree`; for a process of its own"
    os.setsid()  # so that what it starts can be ended with it
    os.chdir(tree)
    for channel in (1, 2):
        os.dup2(os.open(tree.parent / "printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), channel)
    sys.argv, code = ["notebook.py", "run", f"nbs/{name}.ipynb"], 1
    try:
        runpy.run_path(str(tree / ".ci/notebook.py"), run_name="__main__")
        code = 0
    except BaseException as error:  # also SystemExit
        print(error, file=sys.stderr)
    sys.stderr.flush()
    os._exit(code)  # at once: it would wait for idle processes of joblib, for minutes


def processor_time(pid: int) -> float:
    "Seconds that a process and its children have used; not those of the wall, as others may work on the machine"
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += sum(process.cpu_times())  # also of children that have ended
    return total


class Runner:
    "Runs notebooks in copies of the tree; knows which of them pass as they are"

    def __init__(self, passing=()):
        self.passes, self.lock = dict.fromkeys(passing, True), threading.Lock()

    def run(self, tree: Path, name: str) -> str:
        "How a notebook ends: `passed`, `too long`, or its error"
        process = PROCESSES.Process(target=run_notebook, args=(tree, name))
        process.start()
        used, since = 0.0, time.time()
        while process.exitcode is None and used < SECONDS and time.time() - since < STALLED:
            process.join(1)
            now = processor_time(process.pid)
            if abs(now - used) > 0.5:
                used, since = now, time.time()  # less if a child has ended
        in_time = process.exitcode is not None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # also what it has left behind
        except ProcessLookupError:
            pass
        process.join()
        if not in_time:
            return f"too long ({used:.0f} s)"
        if not process.exitcode:
            return "passed"
        printed = (
            (tree.parent / "printed").read_text(encoding="utf-8", errors="replace").split("\n")
        )
        return next((line.strip()[:200] for line in reversed(printed) if line.strip()), "failed")

    def sound(self, name: str) -> bool:
        "Whether a notebook passes without any change; tried once"
        with self.lock:
            if name not in self.passes:
                with copied_tree() as tree:
                    self.passes[name] = self.run(tree, name) == "passed"
            return self.passes[name]

    def verdict(self, mutant: Mutant | None) -> dict:
        if mutant is None:
            return {"outcome": "gone", "why": "what was changed is no longer in the code"}
        start, killed_by, end = time.time(), None, "passed"
        with copied_tree() as tree:
            apply(mutant, tree)
            for name in notebooks_of(mutant.module, mutant.function):
                end = self.run(tree, name)
                if end == "passed":
                    self.passes[name] = True  # with a change, so without it as well
                elif self.sound(name):
                    killed_by = name
                    break
        equivalent = next((why for *key, why in EQUIVALENT if key == mutant.key), None)
        outcome = "killed" if killed_by else "excused" if equivalent else "survived"
        print(
            f"{outcome:8} {time.time() - start:4.0f} s  {mutant}  [{killed_by or equivalent}; {end}]",
            flush=True,
        )
        return {
            "mutant": mutant.key,
            "operator": mutant.operator,
            "line": mutant.line,
            "outcome": outcome,
            "killed_by": killed_by,
            "end": end,
            "why": equivalent,
        }


def score(outcomes: list) -> dict:
    return {word: outcomes.count(word) for word in ("killed", "survived", "excused", "gone")}


def keep(record: dict, path: Path):
    "Write the verdicts, and the score before and after survivors were tried again"
    record["before"] = score([v["outcome"] for v in record["verdicts"]])
    record["after"] = score([v.get("again", v)["outcome"] for v in record["verdicts"]])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="modules, such as tables or kernel/fit")
    parser.add_argument("--operators", nargs="*", help="such as guard or all-rows")
    parser.add_argument("--list", action="store_true", help="only show what would be tried")
    parser.add_argument(
        "--out",
        type=Path,
        help="keep the verdicts, seed and commit in this file, and go on from it",
    )
    parser.add_argument(
        "--passing",
        action="store_true",
        help="`make test` has shown that notebooks pass: do not try them again",
    )
    parser.add_argument(
        "--again", action="store_true", help="try those that survived in --out again"
    )
    return parser.parse_args()


def main():
    args = arguments()
    record = (
        json.loads(args.out.read_text(encoding="utf-8")) if args.out and args.out.exists() else {}
    )
    if args.again:
        args.seed, args.number, args.only = record["seed"], record["number"], record["only"]
    chosen = args.only or [name for name in modules() if not name.startswith(NOT_CHANGED)]
    everything = [
        mutant
        for module in chosen
        for mutant in mutants(module)
        if not args.operators or mutant.operator in args.operators
    ]
    sample = drawn(everything, args.number, args.seed)
    print(f"{len(sample)} of {len(everything):,} mutants, seed {args.seed}", flush=True)
    if args.list:
        return print(
            *(f"{mutant}  {notebooks_of(mutant.module, mutant.function)}" for mutant in sample),
            sep="\n",
        )
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    commit = asked.stdout.strip()
    about = {"seed": args.seed, "number": args.number, "only": args.only}
    record = record or about | {
        "of": len(everything),
        "commit": commit,
        "before": {},
        "after": {},
        "verdicts": [],
    }
    verdicts, runner = record["verdicts"], Runner(imports_of_notebooks() if args.passing else ())
    if args.again:
        by_key = {tuple(mutant.key): mutant for mutant in everything}
        places = [i for i, v in enumerate(verdicts) if v.get("again", v)["outcome"] == "survived"]
        todo = [by_key.get(tuple(verdicts[i]["mutant"])) for i in places]
    else:
        if any(
            record[name] != value for name, value in (about | {"of": len(everything)}).items()
        ) or any(v["mutant"] != mutant.key for v, mutant in zip(verdicts, sample)):
            sys.exit(f"{args.out} is about other mutants: name another file.")
        places, todo = range(len(verdicts), len(sample)), sample[len(verdicts) :]
    with ThreadPoolExecutor(args.jobs) as pool:
        for place, verdict in zip(places, pool.map(runner.verdict, todo)):
            if args.again:
                verdicts[place]["again"] = {"commit": commit, **verdict}
            else:
                verdicts.append(verdict)
            if args.out:
                keep(record, args.out)
    count = score([v.get("again", v)["outcome"] for v in verdicts])
    counted = count["killed"] + count["survived"]
    print(
        f"{count['killed']} of {counted} killed ({count['killed'] / max(counted, 1):.0%}), {count['survived']} survived, "
        f"{count['excused']} cannot be told from the original, {count['gone']} gone with their code"
    )
    sys.exit(count["killed"] < 0.85 * counted)


if __name__ == "__main__":
    main()
