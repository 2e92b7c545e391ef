"""What is said about the project outside its code: versions, requirements, workflows."""

import re

import pytest
import yaml
from nbdev.config import get_config

import release
from tools import ROOT, complain

CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}  # where conda has another name


@pytest.fixture
def settings():
    return get_config(path=ROOT)


@pytest.mark.remedy("write the version of settings.ini there too, and a section in CHANGELOG.md")
def test_version_is_said_once(settings):
    complain(release.said_otherwise(settings["version"]))


@pytest.mark.remedy("write the requirements of settings.ini into conda/meta.yaml")
def test_conda_recipe_requires_the_same(settings):
    text = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(
        re.sub(r"\{\{.*?\}\}", "filled", text.replace("{%", "# {%"))
    )  # without what conda fills in
    said = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    bounds = {"python": settings["min_python"], **release.bounds(settings)}
    wanted = {f"{CONDA_NAMES.get(name, name)}>={bound}" for name, bound in bounds.items()}
    assert said == wanted, said ^ wanted


@pytest.mark.remedy("mend the file in .github/; the oldest Python of the matrix is `min_python`")
def test_workflows(settings):
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github").rglob("*.yml")
    }
    read = {name: yaml.safe_load(text) for name, text in texts.items()}
    matrix = read["test.yml"]["jobs"]["notebooks"]["strategy"]["matrix"]["python"]
    assert matrix[0] == settings["min_python"] and len(matrix) >= 3
    for wanted in ("- run: make test\n", "nbdev_test", "- run: make docs", "- run: make release"):
        assert any(wanted in text for text in texts.values()), wanted
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
