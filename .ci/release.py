"""Build a release and check it: `make release`, or `python .ci/release.py [--out dist]`.

The source archive is built from the files that git knows, and the wheel from the archive, so that
one that lacks something makes no wheel that works. twine reads both. The wheel is installed twice,
with the lowest versions that settings.ini allows and with the newest: its modules are imported, its
data read, and the code and the commands of README.md are run. The version must have its section in
CHANGELOG.md and be the same wherever it is written. Nothing is uploaded.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nbdev.config import get_config

from tools import ROOT, copied_tree, install, probe, run

SAID_AGAIN = {
    "CITATION.cff": "version: {}",
    "conda/meta.yaml": '{{% set version = "{}" %}}',
    "selfencoder/__init__.py": '__version__ = "{}"',
}  # the line of each file that has the version


def said_otherwise(version: str) -> list:
    "Return where another version is written than in settings.ini"
    # a development version counts as its release
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    release = re.sub(r"\.?dev\d*$", "", version)
    found = [
        f"{name} has another version than settings.ini, {version}"
        for name, line in SAID_AGAIN.items()
        if line.format(version) not in (ROOT / name).read_text(encoding="utf-8").splitlines()
    ]
    return found + (
        [] if f"## {release} " in changes else [f"CHANGELOG.md has no section for {release}"]
    )


def pins() -> dict:
    "Return the lines of constraints.txt by the names of the packages"
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {line.split("==")[0].lower(): line for line in lines if "==" in line}


def bounds(settings) -> dict:
    "Return the lowest version of each requirement that settings.ini allows"
    return dict(requirement.split(">=") for requirement in settings["requirements"].split())


def lowest(settings) -> dict:
    "Return the pins with these versions, but for torch: older ones bring gigabytes of CUDA"
    return pins() | {
        name: f"{name}=={version}" for name, version in bounds(settings).items() if name != "torch"
    }


def readme_program(text: str) -> str:
    "Return the Python blocks of README.md, one after the other"
    return "\n".join(re.findall(r"^``` ?python\n(.*?)^```", text, re.M | re.S))


def readme_commands(text: str) -> list:
    "Return the lines of README.md that call the command"
    blocks = re.findall(r"^``` ?sh\n(.*?)^```", text, re.M | re.S)
    return [
        line for block in blocks for line in block.splitlines() if line.startswith("selfencoder ")
    ]


def run_readme(python: Path, place: Path):
    "Run the Python and the commands of README.md in a folder, with a small table of customers"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    run([python, "-c", readme_program(text)], place, PYTHONPATH="")
    rows = [f"C{i},{20 + 7 * i % 50},{'abc'[i % 3]},{'yes' if i % 4 else 'no'}" for i in range(60)]
    for name, some in (("customers.csv", rows), ("new.csv", rows[:3])):
        (place / name).write_text("\n".join(["customer,age,plan,churned", *some]), encoding="utf-8")
    for line in readme_commands(text):
        run(
            [python.parent / "selfencoder", *shlex.split(line, comments=True)[1:]],
            place,
            PYTHONPATH="",
        )


def versions_file(path: Path, versions: dict) -> Path:
    path.write_text("\n".join(versions.values()), encoding="utf-8")
    return path


def try_wheel(wheel: Path, versions: dict):
    "Install the wheel in these versions; elsewhere, import its modules, read data, run README.md"
    with TemporaryDirectory() as folder:
        place = Path(folder)
        python = install(
            [wheel],
            sys.executable,
            place / "env",
            place,
            versions_file(place / "versions.txt", versions),
        )
        probe(python, place)
        run_readme(python, place)


def build(out: Path) -> tuple:
    "Build source archive and wheel from a copy that holds only what git knows"
    with copied_tree("--cached") as tree:
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", out, tree],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", help="an empty folder (default: dist)"
    )
    out = parser.parse_args().out.absolute()
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out} is not empty: a release must not mix with another one.")
    settings = get_config(path=ROOT)
    if found := said_otherwise(settings["version"]):
        sys.exit("\n".join(found))
    files = build(out)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    for name, versions in {
        "lowest": lowest(settings),
        "newest": {"torch": pins()["torch"]},
    }.items():
        try_wheel(files[1], versions)
        print(f"README.md runs from the wheel with the {name} versions")
    print(f"{', '.join(file.name for file in files)}: ready in {out}")


if __name__ == "__main__":
    main()
