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

# the line of each file that has the version
SAID_AGAIN = {
    "CITATION.cff": "version: {}",
    "conda/meta.yaml": '{{% set version = "{}" %}}',
    "selfencoder/__init__.py": '__version__ = "{}"',
    "CHANGELOG.md": "## {}",
}


def said_otherwise(version: str) -> list:
    "Return where another version is written than in settings.ini"
    found = []
    for name, line in SAID_AGAIN.items():
        # in the changelog a development version counts as its release
        said = re.sub(r"\.?dev\d*$", "", version) if name == "CHANGELOG.md" else version
        text = (ROOT / name).read_text(encoding="utf-8")
        if not re.search(f"^{re.escape(line.format(said))}( |$)", text, re.M):
            found.append(f"{name} does not say that the version is {said}")
    return found


def pins() -> dict:
    "Return the lines of constraints.txt by the names of the packages"
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {line.split("==")[0].lower(): line for line in lines if "==" in line}


def bounds(settings) -> dict:
    "Return the lowest version of each requirement that settings.ini allows"
    return dict(requirement.split(">=") for requirement in settings["requirements"].split())


def lowest(settings) -> dict:
    "Return the pins with these versions, but for torch: older ones bring gigabytes of CUDA"
    low = {name: f"{name}=={version}" for name, version in bounds(settings).items()}
    return pins() | low | {"torch": pins()["torch"]}


def readme_blocks(language: str) -> str:
    "Return the blocks of README.md in a language, one after the other"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(rf"^``` ?{language}\n(.*?)^```", text, re.M | re.S))


def run_readme(python: Path, place: Path):
    "Run the Python and the commands of README.md in a folder, with a small table of customers"
    run([python, "-c", readme_blocks("python")], place, PYTHONPATH="")
    rows = [f"C{i},{20 + 7 * i % 50},{'abc'[i % 3]},{'yes' if i % 4 else 'no'}" for i in range(60)]
    for name, some in (("customers.csv", rows), ("new.csv", rows[:3])):
        (place / name).write_text("\n".join(["customer,age,plan,churned", *some]), encoding="utf-8")
    for line in re.findall("^selfencoder (.*)", readme_blocks("sh"), re.M):
        words = shlex.split(line, comments=True)
        run([python.parent / "selfencoder", *words], place, PYTHONPATH="")


def versions_file(path: Path, versions: dict) -> Path:
    path.write_text("\n".join(versions.values()), encoding="utf-8")
    return path


def try_wheel(wheel: Path, versions: dict):
    "Install the wheel in these versions; elsewhere, import its modules, read data, run README.md"
    with TemporaryDirectory() as folder:
        place = Path(folder)
        wanted = versions_file(place / "versions.txt", versions)
        python = install([wheel], sys.executable, place / "env", place, wanted)
        probe(python, place)
        run_readme(python, place)


def build(out: Path) -> tuple:
    "Build source archive and wheel from a copy that holds only what git knows"
    with copied_tree("--cached") as tree:
        command = [sys.executable, "-m", "build", "--outdir", out, tree]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
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
