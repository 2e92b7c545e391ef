"""Build a release and look at it: `python .ci/release.py [--out dist]`, with `pip install ".[release]"`.

The source archive and the wheel are built from the files that git knows, the wheel from the source archive, as an index
would have it. twine reads both; the archive must hold what building needs, and the wheel the data and the command. The
version must have its section in CHANGELOG.md and be the same wherever it is said. Nothing is uploaded.
"""
import argparse
import re
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent.absolute()
IN_ARCHIVE = ["settings.ini", "setup.py", "README.md", "LICENSE", "selfencoder/__init__.py",
              "selfencoder/data/glass.csv.gz"]
SAID_AGAIN = {"CITATION.cff": "version: {}", "conda/meta.yaml": '{{% set version = "{}" %}}',
              "selfencoder/__init__.py": '__version__ = "{}"'}   # the line of each file that has the version
IN_WHEEL = ["selfencoder/__init__.py", "selfencoder/_modidx.py", "selfencoder/data/glass.csv.gz"]


def said_otherwise(version: str) -> list:
    "Where another version is written than in settings.ini; a version under way counts as its release"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    release = re.sub(r"\.?dev\d*$", "", version)
    found = [f"{name} has another version than settings.ini, {version}" for name, line in SAID_AGAIN.items()
             if line.format(version) not in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return found + ([] if f"## {release} " in changes else [f"CHANGELOG.md has no section for {release}"])


def missing(archive: Path, wheel: Path) -> list:
    "What should be in the two files and is not"
    with tarfile.open(archive) as opened: sources = {name.split("/", 1)[-1] for name in opened.getnames()}
    with ZipFile(wheel) as opened:
        packed = set(opened.namelist())
        commands = [opened.read(name).decode() for name in packed if name.endswith("entry_points.txt")]
    found = [f"{name} is not in {archive.name}" for name in IN_ARCHIVE if name not in sources]
    found += [f"{name} is not in {wheel.name}" for name in IN_WHEEL if name not in packed]
    return found + ([] if any("selfencoder.cli:main" in each for each in commands) else ["the wheel has no command"])


def build(out: Path) -> tuple:
    "Source archive and wheel, from a copy that holds only what git knows"
    with TemporaryDirectory() as place:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if not (ROOT / name).is_file(): continue
            (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).write_bytes((ROOT / name).read_bytes())
        subprocess.run([sys.executable, "-m", "build", "--outdir", out, place], check=True, stdout=subprocess.DEVNULL)
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="an empty folder (default: dist)")
    out = parser.parse_args().out.absolute()
    if out.exists() and any(out.iterdir()): sys.exit(f"{out} is not empty: a release must not mix with another one.")
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    if found := said_otherwise(settings["DEFAULT"]["version"]): sys.exit("\n".join(found))
    files = build(out)
    if found := missing(*files): sys.exit("\n".join(found))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    print(f"{', '.join(file.name for file in files)}: ready in {out}")


if __name__ == "__main__":
    main()
