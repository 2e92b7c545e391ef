"""Make the documentation site and README.md from the notebooks.

    python .ci/docs.py site [--out _docs]   every notebook, in the order of nbs/sidebar.yml
    python .ci/docs.py readme               README.md and nbs/README.md

nbdev processes the notebooks, pandoc (the engine of Quarto, from the pypandoc_binary wheel) makes
HTML of them, and .ci/site/ has the template, style and script of a page.
"""

import argparse
import base64
import html
import json
import os
import re
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path, PurePosixPath

import pypandoc
import yaml
from execnb.nbio import read_nb
from nbdev.config import get_config
from nbdev.doclinks import _nbpath2html
from nbdev.processors import FilterDefaults, rm_export

from reading_order import reading_order

ASSETS = Path(__file__).parent / "site"
# How much a hit counts in the search, by section: users' pages come before internals and tests.
WEIGHTS = {"Start": 3, "How-tos": 3, "API": 2, "Internals": 0.5, "": 0.2}
COLLAPSED = "Internals"  # a section of the sidebar that opens only for its own pages
TESTS = "tests/overview.ipynb"  # lists the notebooks in tests/, which the sidebar leaves out


# ---- the notebooks and their order --------------------------------------------------------------


def notebooks(nbs: Path) -> list:
    "Return every notebook under `nbs`, as a path relative to it"
    found = [path.relative_to(nbs) for path in nbs.rglob("*.ipynb")]
    return sorted(path.as_posix() for path in found if ".ipynb_checkpoints" not in path.parts)


def sidebar(nbs: Path) -> list:
    "Return the sections of sidebar.yml as (title, notebooks), with the notebooks that exist"
    listed = yaml.safe_load((nbs / "sidebar.yml").read_text(encoding="utf-8"))
    exist = set(notebooks(nbs))
    sections = []
    for entry in listed["website"]["sidebar"]["contents"]:
        names = [name for name in entry["contents"] if name in exist]
        if names:
            sections.append((entry["section"], names))
    return sections


def page_of(name: str) -> str:
    "Return the address of a notebook's page as nbdev has it: without the number that orders pages"
    return _nbpath2html(PurePosixPath(name)).as_posix()


def moved() -> dict:
    "Return where the text of each page of 0.2 is now, by address"
    return yaml.safe_load((ASSETS / "moved.yml").read_text(encoding="utf-8"))


# ---- one notebook: nbdev's processing, then markdown --------------------------------------------


def fold_export(cell):
    "Keep an exported definition, which nbdev hides, for the reader to unfold below its API block"
    kinds = (cell.directives_ or {}).keys() & {"export", "exporti"}
    if kinds and re.search(r"^(def|class|@)", cell.source or "", re.M):
        cell.source = f"#| exported-source: {kinds.pop()}\n{cell.source}"
    else:
        rm_export(cell)


class Filter(FilterDefaults):
    "Process as nbdev does, and keep the source of exported definitions"

    def procs(self):
        return [fold_export if step is rm_export else step for step in super().procs()]


def process(notebook: Path) -> list:
    "Return the cells after nbdev's processing: API blocks added, hidden cells gone, names linked"
    os.environ["IN_TEST"] = "1"
    nb = read_nb(notebook)
    Filter()(nb)
    return json.loads(json.dumps(nb.cells))


def text(source) -> str:
    "Return a cell's source or output, which a notebook may store as a list of lines"
    return "".join(source) if isinstance(source, list) else source or ""


def fence(code: str, language="") -> str:
    "Return a fenced block, with more backticks than its code has"
    longest = max(map(len, re.findall("`+", code)), default=0)
    ticks = "`" * max(3, 1 + longest)
    return f"{ticks}{language}\n{code.rstrip()}\n{ticks}"


def split_options(source: str) -> tuple:
    "Return the `#| key: value` lines at the head of a cell as a dict, and the code below them"
    options, lines = {}, source.splitlines()
    while lines and (line := re.match(r"\s*#\s*\|\s*([\w-]+)\s*:?\s*(.*)", lines[0])):
        options[line[1]] = re.sub(r"""^(["'])(.*)\1$""", r"\2", line[2].strip())
        lines.pop(0)
    return options, "\n".join(lines).strip("\n")


def folded(code: str, kind: str) -> str:
    "Return a definition that unfolds; what is private has no API block, so links to it lead here"
    names = re.findall(r"^(?:class|def) (\w+)", code, re.M) if kind == "exporti" else []
    marks = [f'<code id="{name.lower()}">{name}</code>' for name in names]
    title = " ".join(["Source", *marks])
    return f"<details>\n<summary>{title}</summary>\n\n{fence(code, 'python')}\n\n</details>"


def printed(output: str) -> str:
    "Return what a cell printed, without terminal colours; columns stay in line, sentences may wrap"
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    aligned = re.search(r"^ |\S {2,}\S", output, re.M)
    return f"::: {{.output {'' if aligned else '.sentences'}}}\n{fence(output)}\n:::"


def signatures(markdown: str) -> str:
    "Return an API block whose signature has no links, which would show as they were typed"

    def without_links(block):
        return re.sub(r"\[`([^`]+)`\]\([^)]*\)", r"\1", block[0])

    def whole_sentence(start):
        return f"*{start[1]} {' '.join(start[2].split())}*\n"

    plain = re.sub(r"^```python\n.*?^```", without_links, markdown, flags=re.S | re.M)
    # show_doc emphasises the first line, also of a sentence that takes two
    plain = re.sub(r"^\*(.+)\*\n((?:[\w`$].*\n?)+)", whole_sentence, plain, flags=re.M)
    return plain.replace(str(Path.home()), "~")


class Page:
    "One notebook as markdown, with its front matter and the image files it needs"

    def __init__(self, cells: list, stem: str):
        self.stem, self.images, self.meta, self.figures = stem, {}, {}, 0
        parts, source = [], ""
        for cell in cells:
            options, code = split_options(text(cell.get("source")))
            kind = options.get("exported-source")
            if cell["cell_type"] != "code":
                parts.append(self.prose(text(cell["source"])))
            elif kind == "exporti":
                parts.append(folded(code, kind))
            elif kind:
                source = folded(code, kind)  # below the API block that comes next
            else:
                parts += self.code(options, code, cell.get("outputs", []))
                if code.startswith("show_doc"):
                    parts.append(source)
                    source = ""
        self.markdown = "\n\n".join(filter(None, parts))

    def prose(self, source: str) -> str:
        "Return the text of a cell; the front matter goes into `meta`"
        front = re.match(r"\s*---\n(.*?)\n---\s*(.*)", source, re.S)
        if front and not self.meta:
            self.meta, source = yaml.safe_load(front[1]) or {}, front[2]
        # nbdev also links a name that is part of a link already: the author's link stays
        source = re.sub(r"(?<!!)\[([^][]*)\[(`[^`]+`)\]\([^)]*\)([^][]*)\]\(", r"[\1\2\3](", source)
        return re.sub(r"<!-- WARNING.*?-->", "", source)

    def code(self, options: dict, code: str, outputs: list) -> list:
        "Return the blocks of a code cell, obeying Quarto's cell options"
        if options.get("include") == "false":
            return []
        blocks = []
        if code and options.get("echo") != "false":
            blocks.append(fence(code, "python"))
        if options.get("output") != "false":
            blocks += [self.output(output, options) for output in outputs]
        return blocks

    def output(self, output: dict, options: dict) -> str:
        "Return one output of a cell, in the richest form that it has"
        data = output.get("data", {})
        if output["output_type"] == "stream":
            return printed(text(output["text"]))
        if "image/png" in data:
            return self.figure(text(data["image/png"]), options)
        if "text/markdown" in data:
            return signatures(text(data["text/markdown"]))
        if "text/html" in data:
            style = re.compile(r"<style scoped>.*?</style>|\n\s*", re.S)
            table = style.sub("", text(data["text/html"]))
            return f"::: {{.output .scroll}}\n```{{=html}}\n{table}\n```\n:::"
        return printed(text(data.get("text/plain")))

    def figure(self, content: str, options: dict) -> str:
        "Return a picture with its number, caption and description"
        name = f"{self.stem}_files/{self.stem}-{len(self.images) + 1}.png"
        self.images[name] = base64.b64decode(content)
        caption, label = options.get("fig-cap", ""), options.get("label", "")
        mark = ""
        if label.startswith("fig-"):
            self.figures += 1
            caption = f"Figure {self.figures}: {caption}"
            mark = f"#{label} "
        alt = html.escape(options.get("fig-alt") or caption)
        return f'![{caption}]({name}){{{mark}alt="{alt}"}}'


# ---- README.md ----------------------------------------------------------------------------------


def badges(config) -> str:
    "Return the badges of README.md; the site has none, because it loads nothing from the network"
    runs, shields = f"{config.git_url}/actions/workflows", "https://img.shields.io/badge"
    python = config.min_python
    return (
        f"[![test]({runs}/test.yml/badge.svg)]({runs}/test.yml) "
        f"[![docs]({runs}/docs.yml/badge.svg)]({runs}/docs.yml) "
        f"![Python {python} or newer]({shields}/python-{python}%2B-blue) "
        f"![Apache 2.0]({shields}/licence-Apache--2.0-blue)"
    )


def readme(root: Path) -> dict:
    "Return README.md, and the pictures it shows, as {path from the root: bytes}"

    def markdown_table(block):
        return pypandoc.convert_text(block[1], "markdown", "html", ["--wrap=none"])

    page = Page(process(root / "nbs/index.ipynb"), "index")
    # Links to names come and go with the names; GitHub shows markdown tables better than HTML.
    body = re.sub(r"\[(`[^`]+`)\]\(https?:[^)]*\)", r"\1", page.markdown)
    body = re.sub(r"(\]\()(?!\w+:|#)([\w/-]+\.(?:ipynb|png))", r"\1nbs/\2", body)
    body = re.sub(r"^```\{=html\}\n(.*?)\n```$", markdown_table, body, flags=re.S | re.M)
    head = f"# {page.meta['title']}\n\n{badges(get_config())}\n\n> {page.meta['description']}\n\n"
    gfm = pypandoc.convert_text(head + body, "gfm-raw_html", "markdown", ["--wrap=none"])
    note = "<!-- Made from nbs/index.ipynb by `make sync`: change it there. -->\n\n"
    pictures = {f"nbs/{name}": data for name, data in page.images.items()}
    order = reading_order(root / "nbs", sidebar(root / "nbs"))
    return {"README.md": (note + gfm).encode(), "nbs/README.md": order.encode(), **pictures}


# ---- the site -----------------------------------------------------------------------------------


def menu_html(menu: list, here: str, up: str) -> str:
    "Return the sidebar of the page at the address `here`"
    sections = []
    for section, entries in menu:
        items = []
        for address, title in entries:
            mark = " aria-current=page" if address == here else ""
            items.append(f'<li><a href="{up}{address}"{mark}>{html.escape(title)}</a></li>')
        shut = section == COLLAPSED and here not in dict(entries)
        sections.append(
            f"<details{'' if shut else ' open'}><summary>{html.escape(section)}</summary>"
            f"<ul>{''.join(items)}</ul></details>"
        )
    return "".join(sections)


def beside(menu: list, here: str, up: str) -> dict:
    "Return links to the pages before and after; a page outside the sidebar follows its last page"
    titles = {address: title for _, entries in menu for address, title in entries}
    order = ["", *titles, "", ""]
    place = 1 + [*titles, here].index(here)
    links = {}
    for side, address in (("previous", order[place - 1]), ("next", order[place + 1])):
        if address:
            title = html.escape(titles[address])
            links[side] = f'<a rel="{side[:4]}" href="{up}{address}">{title}</a>'
    return links


def render(page: Page, here: str, menu: list, pages: dict, notebook: str) -> str:
    """Return the HTML of one page.

    `here` is its address, `menu` the sidebar as (section, [(address, title)]), `pages` the address
    of each notebook, and `notebook` where this one is on the web.
    """
    config = get_config()
    host = config.doc_host + config.doc_baseurl
    up = "../" * here.count("/")
    variables = {
        "sidebar": menu_html(menu, here, up),
        "up": up,
        "site": config.title,
        "repository": config.git_url,
        "notebook": notebook,
        **beside(menu, here, up),
    }
    # A title and a promise are text, not markdown.
    meta = {key: str(page.meta.get(key, "")).replace("`", "") for key in ("title", "description")}
    meta["pagetitle"] = meta["title"] or here
    # The browser, not the length of a line, decides how wide a column is.
    args = [
        f"--template={ASSETS / 'page.html'}",
        "--mathml",
        "--toc",
        "--toc-depth=3",
        "--columns=1000",
    ]
    args += [f"--variable={key}={value}" for key, value in variables.items()]
    args += [f"--metadata={key}={value}" for key, value in meta.items()]
    # Not smart: a value in curly quotes would be no Python.
    source = "markdown-yaml_metadata_block-smart"
    page_html = pypandoc.convert_text(page.markdown, "html5", source, args)
    if here != "tools/cli.html":
        # nbdev takes `fit` for the command's function; readers mean the method or the parameter
        command = r'<a href="[^"]*/cli\.html#\w+">(<code>\w+</code>)</a>'
        page_html = re.sub(command, r"\1", page_html)

    def local(link):
        "Return a link to a notebook, or to this site's public address, as one to the page itself"
        target, mark, anchor = link[1].partition("#")
        if target.startswith(host):
            target = target.removeprefix(host).lstrip("/") or "index.html"
        else:
            target = pages.get(os.path.normpath(PurePosixPath(here).parent / target))
        return f'href="{up}{target}{mark}{anchor}"' if target else link[0]

    return re.sub(r'href="([^"]*)"', local, page_html)


def redirect(old: str, new: str) -> str:
    "Return the page that leads from an old address to the page that has its text now"
    target = "../" * old.count("/") + new
    return (
        f'<!doctype html>\n<title>Moved</title>\n<link rel="canonical" href="{target}">\n'
        f'<script>location.replace("{target}" + location.hash)</script>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n<a href="{target}">Moved</a>\n'
    )


def plain(page_html: str) -> str:
    "Return the words of a piece of HTML"
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page_html)).split())[:4000]


def search_index(rendered: dict, menu: list) -> str:
    "Return prose and code of every section as a script, which a page opened from disk may load"
    code = r"<(pre|table)\b.*?</\1>"
    sections = {address: section for section, entries in menu for address, _ in entries}
    entries = []
    for address, page_html in rendered.items():
        body = page_html.partition("<h1>")[2].partition('<nav id="beside"')[0]
        title, _, body = body.partition("</h1>")
        body = re.sub(r"<annotation.*?</annotation>", "", body, flags=re.S)  # a formula's TeX
        # The text before the first heading, then id, heading and text of each.
        heading = r'<h[23] id="([^"]*)"[^>]*>(.*?)</h[23]>'
        first, *rest = re.split(heading, body, flags=re.S)
        weight = WEIGHTS.get(sections.get(address, ""), 1)
        for anchor, head, content in [("", "", first), *zip(rest[::3], rest[1::3], rest[2::3])]:
            blocks = [block[0] for block in re.finditer(code, content, re.S)]
            prose = re.sub(code, " ", content, flags=re.S)
            place = f"{address}#{anchor}" if anchor else address
            texts = [plain(head), plain(prose), plain(" ".join(blocks))]
            entries.append([place, plain(title), *texts, weight])
    packed = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return f"window.searchIndex = {packed};\n"


def read_all(nbs: Path, names: list, jobs: int) -> dict:
    "Return the page of each notebook"
    # nbdev runs the imports and exports of a notebook: each gets a process of its own, as a
    # reader's notebook would. The fork server has imported what most import.
    server = get_context("forkserver")
    server.set_forkserver_preload(["__main__", "matplotlib.pyplot", "sklearn", "torch"])
    with ProcessPoolExecutor(jobs, mp_context=server, max_tasks_per_child=1) as pool:
        cells = pool.map(process, [nbs / name for name in names])
        return {name: Page(each, PurePosixPath(name).stem) for name, each in zip(names, cells)}


def site(root: Path, out: Path, jobs: int = 2) -> list:
    "Render every notebook into `out` and return the addresses of the pages"
    nbs, config = root / "nbs", get_config()
    names = notebooks(nbs)
    ready = read_all(nbs, names, jobs)
    pages = {name: page_of(name) for name in names}

    def titled(name):
        return pages[name], str(ready[name].meta.get("title", name)).replace("`", "")

    menu = [(section, [titled(name) for name in listed]) for section, listed in sidebar(nbs)]
    shutil.rmtree(out, ignore_errors=True)
    # Pictures and stand-alone pages are copied; what the tests keep is not for readers.
    for path in nbs.rglob("*.*"):
        place = path.relative_to(nbs)
        kept = {"tests", ".ipynb_checkpoints"} & set(place.parts)
        if path.is_file() and path.suffix not in (".ipynb", ".yml", ".md") and not kept:
            write(out / place, path.read_bytes())
    rendered = {}
    for name, page in ready.items():
        for image, data in page.images.items():
            write(out / PurePosixPath(name).parent / image, data)
        notebook = f"{config.git_url}/blob/{config.branch}/nbs/{name}"
        rendered[pages[name]] = render(page, pages[name], menu, pages, notebook)
    for address, page_html in rendered.items():
        write(out / address, page_html.encode())
    for old, new in moved().items():
        if old not in rendered:
            write(out / old, redirect(old, new).encode())
    for asset in ("site.css", "site.js"):
        write(out / asset, (ASSETS / asset).read_bytes())
    write(out / "search.js", search_index(rendered, menu).encode())
    return list(rendered)


def write(path: Path, data: bytes):
    "Write a file, with the folders above it"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main():
    "Make what the command line asks for"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["site", "readme"])
    parser.add_argument("--out", type=Path, default=Path("_docs"), help="where the site goes")
    args = parser.parse_args()
    root = get_config().config_path
    sys.path.insert(0, str(root))
    os.environ["PYTHONPATH"] = str(root)
    if args.what == "readme":
        for name, data in readme(root).items():
            write(root / name, data)
            print(name)
    else:
        pages = site(root, args.out.absolute())
        print(f"{len(pages)} pages: open {args.out}/index.html")


if __name__ == "__main__":
    main()
