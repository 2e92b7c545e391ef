"""Packaging: everything that can vary is read from settings.ini."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_namespace_packages, setup

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]
extras = {
    key.removesuffix("_requirements"): settings[key].split()
    for key in settings
    if key.endswith("_requirements")
}

setup(
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=settings["author"],
    author_email=settings["author_email"],
    url=settings["git_url"],
    license="Apache-2.0",
    keywords=settings["keywords"],
    # the laboratory stays in the clone
    packages=find_namespace_packages(
        include=["selfencoder", "selfencoder.*"], exclude=["selfencoder.lab", "selfencoder.lab.*"]
    ),
    package_data={"selfencoder": settings["package_data"].split()},
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    entry_points={
        "console_scripts": settings["console_scripts"].split(),
        "nbdev": ["selfencoder=selfencoder._modidx:d"],
    },  # lets nbdev link names in prose to their pages
    zip_safe=False,
)
