"""The documentation site and README.md, made from the notebooks.

    python .ci/docs.py site [--out _docs]   every notebook, in the order of nbs/sidebar.yml
    python .ci/docs.py readme               README.md from nbs/index.ipynb

It uses nbdev's notebook processing, pandoc (the engine of nbdev's usual Quarto, from the pypandoc_binary wheel), and
the template, style and script in .ci/site/.
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
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path, PurePosixPath

import pypandoc
import yaml
from execnb.nbio import read_nb
from nbdev.config import get_config
from nbdev.doclinks import _nbpath2html
from nbdev.processors import FilterDefaults, rm_export

ASSETS = Path(__file__).parent / "site"
MOVED = ASSETS / "moved.yml"
# How much a hit counts in the search, by section of the sidebar: users' pages come before internals and tests.
WEIGHTS = {"Start": 3, "How-tos": 3, "API": 2, "Internals": 0.5, "": 0.2}
COLLAPSED = "Internals"  # a section of the sidebar that opens only for its own pages
TESTS = "tests/overview.ipynb"  # lists the notebooks in tests/, which the sidebar leaves out


# ---- the notebooks and their order ----------------------------------------------------------------------------


def notebooks(nbs: Path) -> list:
    "Every notebook under `nbs`, as a path relative to it"
    return sorted(
        p.relative_to(nbs).as_posix()
        for p in nbs.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in p.parts
    )


def files_beside(nbs: Path) -> list:
    "Pictures and stand-alone pages that go to the site as they are; what the tests keep is not for readers"
    found = [
        p.relative_to(nbs)
        for p in nbs.rglob("*.*")
        if p.is_file() and p.suffix not in (".ipynb", ".yml")
    ]
    return [p for p in found if not {"tests", ".ipynb_checkpoints"} & set(p.parts)]


def page_of(name: str) -> str:
    "Return where the page of a notebook is, as nbdev has it: without the number that orders the folder"
    return _nbpath2html(PurePosixPath(name)).as_posix()


def sidebar(nbs: Path) -> list:
    "The sections of sidebar.yml as (title, notebooks), keeping only notebooks that exist"
    contents = yaml.safe_load((nbs / "sidebar.yml").read_text(encoding="utf-8"))["website"][
        "sidebar"
    ]["contents"]
    exist = set(notebooks(nbs))
    sections = [
        (entry["section"], [name for name in entry["contents"] if name in exist])
        for entry in contents
    ]
    return [section for section in sections if section[1]]


def misplaced(nbs: Path) -> list:
    "Notebooks that are not listed exactly once: in the sidebar, or, for those in tests/, on the page about the tests"
    listed = [name for _, names in sidebar(nbs) for name in names]
    if TESTS in listed:
        overview = (nbs / TESTS).read_text(encoding="utf-8")
        listed += [f"tests/{name}" for name in re.findall(r"\]\((\w+\.ipynb)\)", overview)]
    return [
        f"{name} is listed {listed.count(name)} times"
        for name in notebooks(nbs)
        if listed.count(name) != 1
    ]


# ---- one notebook: nbdev's processing, then markdown ----------------------------------------------------------


def fold_export(cell):
    "Where nbdev hides an exported definition, keep it: the reader can unfold the source, below its API block if any"
    kinds = (cell.directives_ or {}).keys() & {"export", "exporti"}
    if kinds and re.search(r"^(def|class|@)", cell.source or "", re.M):
        cell.source = f"#| exported-source: {kinds.pop()}\n" + cell.source
    else:
        rm_export(cell)


class Filter(FilterDefaults):
    def procs(self):
        return [fold_export if p is rm_export else p for p in super().procs()]


def process(notebook: Path) -> list:
    "The cells of `notebook` after nbdev's processing: API blocks added, hidden cells gone, names linked"
    os.environ["IN_TEST"] = "1"
    nb = read_nb(notebook)
    Filter()(nb)
    return json.loads(json.dumps(nb.cells))


def text(source) -> str:
    return "".join(source) if isinstance(source, list) else source or ""


def fence(code: str, language="") -> str:
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{ticks}{language}\n{code.rstrip()}\n{ticks}"


def split_options(source: str) -> tuple:
    "The `#| key: value` lines at the head of a cell, and the code below them"
    options, lines = {}, source.splitlines()
    while lines and (m := re.match(r"\s*#\s*\|\s*([\w-]+)\s*:?\s*(.*)", lines[0])):
        options[m[1]] = re.sub(r"""^(["'])(.*)\1$""", r"\2", m[2].strip())
        lines.pop(0)
    return options, "\n".join(lines).strip("\n")


class Page:
    "One notebook on its way to markdown: front matter, text, and the image files it needs"

    def __init__(self, cells: list, stem: str):
        self.stem, self.images, self.meta, self.figures = stem, {}, {}, 0
        parts, source = [], ""
        for cell in cells:
            if cell["cell_type"] != "code":
                parts.append(self.prose(text(cell.get("source"))))
                continue
            options, code = split_options(text(cell.get("source")))
            if kind := options.get("exported-source"):
                names = (
                    re.findall(r"^(?:class|def) (\w+)", code, re.M) if kind == "exporti" else []
                )  # have no API block
                title = " ".join(
                    ["Source", *(f'<code id="{name.lower()}">{name}</code>' for name in names)]
                )
                folded = f"<details>\n<summary>{title}</summary>\n\n{fence(code, 'python')}\n\n</details>"
                if names:
                    parts.append(folded)
                else:
                    source = folded
                continue
            parts += self.code(options, code, cell.get("outputs", []))
            if source and code.startswith("show_doc"):
                parts.append(source)
                source = ""
        self.markdown = "\n\n".join(filter(None, parts))

    def prose(self, source: str) -> str:
        front = re.match(r"\s*---\n(.*?)\n---\s*(.*)", source, re.S)
        if front and not self.meta:
            self.meta, source = yaml.safe_load(front[1]) or {}, front[2]
        # nbdev also links a name that is part of a link already: the author's link stays
        source = re.sub(r"(?<!!)\[([^][]*)\[(`[^`]+`)\]\([^)]*\)([^][]*)\]\(", r"[\1\2\3](", source)
        return re.sub(r"<!-- WARNING.*?-->", "", source)

    def code(self, options: dict, code: str, outputs: list) -> list:
        "Markdown blocks for a code cell, obeying Quarto's cell options"
        if options.get("include") == "false":
            return []
        shown = [fence(code, "python")] if code and options.get("echo") != "false" else []
        return shown + [
            self.output(o, options) for o in outputs if options.get("output") != "false"
        ]

    def output(self, output: dict, options: dict) -> str:
        kind, data = output["output_type"], output.get("data", {})
        if kind == "stream":
            return printed(text(output["text"]))
        if "image/png" in data:
            return self.figure(text(data["image/png"]), options)
        if "text/markdown" in data:
            return signatures(text(data["text/markdown"]))
        if "text/html" in data:
            plain = re.sub(
                r"<style scoped>.*?</style>|\n\s*", "", text(data["text/html"]), flags=re.S
            )
            return f"::: {{.output .scroll}}\n```{{=html}}\n{plain}\n```\n:::"
        return printed(text(data.get("text/plain")))

    def figure(self, content: str, options: dict) -> str:
        "A picture with its number, caption and description"
        name = f"{self.stem}_files/{self.stem}-{len(self.images) + 1}.png"
        self.images[name] = base64.b64decode(content)
        labelled = options.get("label", "").startswith("fig-")
        self.figures += labelled
        caption = (f"Figure {self.figures}: " if labelled else "") + options.get("fig-cap", "")
        alt = html.escape(options.get("fig-alt") or caption)
        label = f"#{options['label']} " if labelled else ""
        # in the dark, figures change black and white; not those whose words speak of it
        paper = (
            ".on-paper " if re.search(r"\b(black|white|bright|dark|grey)", caption + alt) else ""
        )
        return f'![{caption}]({name}){{{label}{paper}alt="{alt}"}}'


def signatures(markdown: str) -> str:
    "Names in the comments of a signature as names: nbdev makes links of them, which code cannot show; no home of this machine"
    plain = lambda m: re.sub(r"\[`([^`]+)`\]\([^)]*\)", r"\1", m[0])
    return re.sub(r"^```python\n.*?^```", plain, markdown, flags=re.S | re.M).replace(
        str(Path.home()), "~"
    )


def printed(output: str) -> str:
    "What a cell printed, without terminal colours"
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    aligned = re.search(
        r"^ |\S {2,}\S", output, re.M
    )  # columns must stay in line; sentences may wrap
    return f"::: {{.output {'' if aligned else '.sentences'}}}\n{fence(output)}\n:::"


# ---- README.md ------------------------------------------------------------------------------------------------


def badges(config) -> str:
    "Signs of life, for the repository's page; the site loads nothing from the network and has none"
    runs, shields = f"{config.git_url}/actions/workflows", "https://img.shields.io/badge"
    return " ".join(
        [
            *(
                f"[![{name}]({runs}/{name}.yml/badge.svg)]({runs}/{name}.yml)"
                for name in ("test", "docs")
            ),
            f"![Python {config.min_python} or newer]({shields}/python-{config.min_python}%2B-blue)",
            f"![Apache 2.0]({shields}/licence-Apache--2.0-blue)",
        ]
    )


def readme(root: Path) -> dict:
    "README.md, and the pictures it shows, as {path from the root: bytes}"
    page = Page(process(root / "nbs/index.ipynb"), "index")
    body = re.sub(
        r"\[(`[^`]+`)\]\(https?:[^)]*\)", r"\1", page.markdown
    )  # links to names come and go with the names
    body = re.sub(r"(\]\()(?!\w+:|#)([\w/-]+\.(?:ipynb|png))", r"\1nbs/\2", body)
    table = lambda m: pypandoc.convert_text(m[1], "markdown", "html", ["--wrap=none"])
    body = re.sub(
        r"^```\{=html\}\n(.*?)\n```$", table, body, flags=re.S | re.M
    )  # GitHub shows markdown tables better
    head = f"# {page.meta['title']}\n\n{badges(get_config())}\n\n> {page.meta['description']}\n\n"
    gfm = pypandoc.convert_text(head + body, "gfm-raw_html", "markdown", ["--wrap=none"])
    note = "<!-- Made from nbs/index.ipynb by `make sync`: change it there. -->\n\n"
    return {
        "README.md": (note + gfm).encode(),
        **{f"nbs/{name}": data for name, data in page.images.items()},
    }


# ---- the site -------------------------------------------------------------------------------------------------


def neighbours(address: str, menu: list) -> tuple:
    "The pages before and after one as (address, title), or None; a page outside the sidebar follows its last page"
    order = [None, *(entry for _, entries in menu for entry in entries), None]
    place = next(
        (i for i, entry in enumerate(order) if entry and entry[0] == address), len(order) - 1
    )
    return order[place - 1], order[place + 1] if place + 1 < len(order) else None


def render(
    page: Page, address: str, menu: list, pages: dict, host: str, repository="", notebook=""
) -> str:
    """One HTML page. `menu` is the sidebar as (section, [(address, title)]), `pages` maps notebooks to addresses.

    `repository` and `notebook` are where the project and this notebook are on the web.
    """
    up = "../" * address.count("/")
    mark = lambda a: " aria-current=page" if a == address else ""
    links = lambda entries: "".join(
        f'<li><a href="{up}{a}"{mark(a)}>{html.escape(t)}</a></li>' for a, t in entries
    )
    shut = lambda section, entries: section == COLLAPSED and address not in dict(entries)
    items = "".join(
        f"<details{'' if shut(s, entries) else ' open'}><summary>{html.escape(s)}</summary>"
        f"<ul>{links(entries)}</ul></details>"
        for s, entries in menu
    )
    variables = {
        "sidebar": items,
        "up": up,
        "site": menu[0][1][0][1],
        "repository": repository,
        "notebook": notebook,
    }
    for side, beside in zip(("previous", "next"), neighbours(address, menu)):
        if beside:
            variables[side] = (
                f'<a rel="{side[:4]}" href="{up}{beside[0]}">{html.escape(beside[1])}</a>'
            )
    plain = lambda words: str(words).replace(
        "`", ""
    )  # a title and a promise are text, not markdown
    meta = {k: plain(page.meta[k]) for k in ("title", "description") if k in page.meta}
    args = [f"--template={ASSETS / 'page.html'}", "--mathml", "--toc", "--toc-depth=3"]
    args += [
        "--columns=1000"
    ]  # the browser, not the length of a line, decides how wide a column is
    args += [f"--variable={k}={v}" for k, v in variables.items()] + [
        f"--metadata={k}={v}" for k, v in meta.items()
    ]
    args += [f"--metadata=pagetitle={meta.get('title', address)}"]
    # not smart: a value in curly quotes would be no Python
    page_html = pypandoc.convert_text(
        page.markdown, "html5", "markdown-yaml_metadata_block-smart", args
    )
    if (
        address != "tools/cli.html"
    ):  # nbdev takes `fit` for the command's function; readers mean the method or the parameter
        page_html = re.sub(
            r'<a href="[^"]*/cli\.html#\w+">(<code>\w+</code>)</a>', r"\1", page_html
        )
    here = PurePosixPath(address).parent

    def local(link):
        "A link to a notebook or to this site's public address becomes a link to the page beside this one"
        target, hash_, anchor = link[1].partition("#")
        if target.startswith(host):
            target = target.removeprefix(host).lstrip("/") or "index.html"
        else:
            target = pages.get(os.path.normpath(here / target))
        if not target:
            return link[0]
        return f'href="{up}{target}{hash_}{anchor}"'

    return re.sub(r'href="([^"]*)"', local, page_html)


class Reader(HTMLParser):
    "What a browser or a search box takes from a page: ids, links, images, title, and prose and code by section"

    def __init__(self, page_html: str):
        super().__init__()
        self.ids, self.links, self.images, self.title, self.sections = set(), [], [], "", []
        self.stack, self.main, self.code = [], False, 0
        self.feed(page_html)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.add(attrs["id"])
        if tag == "main":
            self.main = True
        if tag in ("a", "link") and "href" in attrs:
            self.links.append(attrs["href"])
        if tag in ("img", "script", "iframe") and "src" in attrs:
            self.links.append(attrs["src"])
        if tag == "img":
            self.images.append((attrs.get("src", ""), attrs.get("alt") or ""))
        if self.main and tag in ("h1", "h2", "h3"):
            self.sections.append({"id": attrs.get("id", ""), "head": "", "text": "", "code": ""})
        if tag in ("pre", "table", "nav"):
            self.code += 1  # what is no prose
        if tag in ("title", "h1", "h2", "h3", "annotation"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if tag == "main":
            self.main = False
        if tag in ("pre", "table", "nav"):
            self.code -= 1
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()

    def handle_data(self, data):
        if self.stack == ["title"]:
            self.title += data
        elif "annotation" in self.stack:
            pass  # the TeX inside a formula, which nobody sees
        elif self.main and self.sections:
            self.sections[-1]["head" if self.stack else "code" if self.code else "text"] += data


def search_index(site: Path, menu: list) -> str:
    "Prose and code of every section, as a script: a page opened from disk may not fetch, but may load scripts"
    entries, plain = [], lambda words: " ".join(words.split())[:4000]
    for section, items in menu:
        for address, title in items:
            for s in Reader((site / address).read_text(encoding="utf-8")).sections:
                place = address + (f"#{s['id']}" if s["id"] else "")
                entries.append(
                    [
                        place,
                        title,
                        *map(plain, (s["head"], s["text"], s["code"])),
                        WEIGHTS.get(section, 1),
                    ]
                )
    packed = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return f"window.searchIndex = {packed};\n"


def problems(site: Path) -> list:
    "Broken links inside the site, pages without a title, images without a description"
    files = {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()}
    pages = sorted(name for name in files if name.endswith(".html"))
    readers = {name: Reader((site / name).read_text(encoding="utf-8")) for name in pages}
    found = []
    for name, page in readers.items():
        if not page.title.strip():
            found.append(f"{name}: the page has no title")
        found += [
            f"{name}: the image {src[:60]} has no alt text (add `#| fig-alt:` or `#| fig-cap:` to its cell)"
            for src, alt in page.images
            if not alt.strip()
        ]
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"\w[\w+.-]*:|//", link):
                continue
            path = os.path.normpath(PurePosixPath(name).parent / target) if target else name
            if path not in files:
                found.append(f"{name}: the link {link} leads nowhere")
            elif anchor and path in readers and anchor not in readers[path].ids:
                found.append(f"{name}: the link {link} names no place on that page")
    return found


def site(root: Path, out: Path, jobs: int = 2) -> list:
    "Render every notebook of the sidebar into `out`; returns the addresses of the pages"
    nbs, sections, config = root / "nbs", sidebar(root / "nbs"), get_config()
    names = notebooks(nbs)
    # nbdev runs the imports and exports of a notebook: each gets a process of its own, as a reader's notebook would.
    # The fork server has imported what most of them import, and hands it on.
    (server := get_context("forkserver")).set_forkserver_preload(
        ["__main__", "matplotlib.pyplot", "sklearn", "torch"]
    )
    with ProcessPoolExecutor(jobs, mp_context=server, max_tasks_per_child=1) as pool:
        cells = dict(zip(names, pool.map(process, [nbs / name for name in names])))
    ready = {name: Page(cells[name], PurePosixPath(name).stem) for name in names}
    pages = {name: page_of(name) for name in names}
    titled = lambda n: (pages[n], str(ready[n].meta.get("title", n)).replace("`", ""))
    menu = [(section, [titled(name) for name in listed]) for section, listed in sections]
    shutil.rmtree(out, ignore_errors=True)
    for path in map(nbs.joinpath, files_beside(nbs)):
        write(out / path.relative_to(nbs), path.read_bytes())
    for name, page in ready.items():
        for image, data in page.images.items():
            write(out / PurePosixPath(name).parent / image, data)
        rendered = render(
            page,
            pages[name],
            menu,
            pages,
            config.doc_host + config.doc_baseurl,
            config.git_url,
            f"{config.git_url}/blob/{config.branch}/{config.nbs_path.name}/{name}",
        )
        write(out / pages[name], rendered.encode())
    for old, new in yaml.safe_load(MOVED.read_text(encoding="utf-8")).items():
        if old not in pages.values():
            write(out / old, redirect(old, new).encode())
    for asset in ("site.css", "site.js"):
        write(out / asset, (ASSETS / asset).read_bytes())
    rest = [titled(name) for name in names if not any(name in listed for _, listed in sections)]
    write(out / "search.js", search_index(out, [*menu, ("", rest)]).encode())
    return list(pages.values())


def redirect(old: str, new: str) -> str:
    "Return the page that leads from an address of before to the one that has its text now"
    target = "../" * old.count("/") + new
    return (
        f'<!doctype html>\n<title>Moved</title>\n<link rel="canonical" href="{target}">\n'
        f'<script>location.replace("{target}" + location.hash)</script>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n<a href="{target}">Moved</a>\n'
    )


def write(path: Path, data: bytes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["site", "readme"])
    parser.add_argument(
        "--out", type=Path, default=Path("_docs"), help="where the site goes (default: _docs)"
    )
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
