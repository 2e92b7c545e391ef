"""The docs renderer on a notebook that holds one of everything. Each expectation names what a reader would miss."""

import re

import pytest

import docs

pytestmark = pytest.mark.remedy("mend .ci/docs.py")

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def prose(source):
    return {"cell_type": "markdown", "source": source}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def data(**kinds):
    return {
        "output_type": "display_data",
        "data": {k.replace("_", "/"): v for k, v in kinds.items()},
    }


CELLS = [
    prose("---\ntitle: A sample\ndescription: one of `everything`\n---\n"),
    prose(
        "## Prose {#sec-prose}\n\nSee [the network](../network/model.ipynb#eq.-1) and "
        "<https://example.org/x.ipynb>. $w_i$\n\n$$\\sum_i p_i = 1$$"
    ),
    prose(
        '[`fit`](https://se.example/se/network.html#fit) is linked by nbdev. It\'s "scale" or "affine".'
    ),
    prose(
        "Read [how [`fit`](https://se.example/se/network.html#fit) works](../network/model.ipynb)."
    ),
    code(
        '#| label: fig-dot\n#| fig-cap: "A dot [at $0$]"\n#| fig-alt: one white "dot"\nplot()',
        data(image_png=PIXEL, text_plain="<Figure>"),
    ),
    code("print('red')", {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n", "a < b\n"]}),
    code(
        "frame",
        data(
            text_html='<div><style scoped>.x{}</style>\n<table class="dataframe">\n<tr><td>7</td></tr>'
            "</table></div>",
            text_plain="7",
        ),
    ),
    code("#| include: false\nsecret = 1"),
    code("#| echo: false\nsecret_too = 1", data(text_plain="42")),
    code("#| exported-source: exporti\ndef Half(x): return x / 2"),
    code("#| exported-source: export\ndef twice(x): return 2 * x"),
    code(
        "#| echo: false\nshow_doc(twice)",
        data(
            text_markdown="---\n\n### twice\n\n```python\ndef twice(x, # as "
            "[`fit`](https://se.example/se/network.html#fit) takes\n): \n```\n\n*Twice `x`*"
        ),
    ),
]

EXPECTED = {
    "the title": r"<title>A sample</title>.*<h1>A sample</h1>",
    "the promise under it": r'<p class="promise">one of everything</p>',
    "a link to another page, with its anchor": r'href="\.\./network\.html#eq\.-1"',
    "a link to elsewhere, untouched": r'href="https://example\.org/x\.ipynb"',
    "a name linked by nbdev, kept local": r'href="\.\./network\.html#fit"',
    "a link around a name": r'Read <a\s+href="\.\./network\.html">how <code>fit</code>\s+works</a>\.',
    "inline and display formulas": r"<math display=\"inline\".*<math display=\"block\"",
    "a figure's number, caption and description": r'alt="one white (&quot;|&#34;)dot(&quot;|&#34;)".*<figcaption.*Figure 1: A dot \[at\s<',
    "what was printed, without colours": r"<pre><code>red\na &lt; b",
    "a table that can scroll": r'class="output scroll">\s*<div><table class="dataframe">',
    "a printed sentence that can wrap": r'class="output sentences">\s*<pre><code>red',
    "the output of a cell without its code": r"<pre><code>42",
    "an API block, then its source": r'id="twice".*<summary>\s*Source\s*</summary>.*return.*</details>',
    "the source of what is internal, where its name is linked to": r'<summary>\s*Source\s<code\s+id="half">Half</code>\s*</summary>',
    "a name in a signature, as a name": r"# as fit takes",
    "quotes that Python understands": r'It\'s "scale" or "affine"\.',
    "a figure that keeps its white paper in the dark": r'<img[^>]*class="on-paper"',
    "the page before this one": r'id="beside".*<a rel="prev" href="\.\./index\.html">Site</a>',
    "the page after this one": r'<a rel="next" href="\.\./network\.html">A &lt;network&gt;</a>',
    "the notebook itself": r'<a href="https://git\.example/se/blob/main/nbs/sample\.ipynb">Open as notebook</a>',
    "the repository": r'<header>.*href="https://git\.example/se">Repository</a>.*</header>',
    "the sidebar with this page marked": r"<summary>Start</summary>.*aria-current=page>A sample<",
    "a collapsed section": r"<details><summary>Internals</summary>",
    "the page's contents": r'On this page.*href="#sec-prose"',
}
UNWANTED = ["secret", r"\x1b", "style scoped", "exported-source", ":::", r"fig-alt"]


@pytest.fixture(scope="module")
def rendered():
    page = docs.Page(CELLS, "sample")
    menu = [
        ("Start", [("index.html", "Site"), ("tutorials/sample.html", "A sample")]),
        ("Internals", [("network.html", "A <network>")]),
    ]
    pages = {"network/model.ipynb": "network.html"}
    return docs.render(
        page,
        "tutorials/sample.html",
        menu,
        pages,
        "https://se.example/se",
        "https://git.example/se",
        "https://git.example/se/blob/main/nbs/sample.ipynb",
    )


def test_renderer(rendered):
    lost = [what for what, pattern in EXPECTED.items() if not re.search(pattern, rendered, re.S)]
    shown = [pattern for pattern in UNWANTED if re.search(pattern, rendered)]
    assert not lost and not shown, f"the page has lost {lost} and shows {shown}:\n{rendered}"


def test_pages_beside():
    "Pages follow each other in the order of the sidebar; one that it leaves out follows its last"
    menu = [("Start", [("a.html", "A")]), ("API", [("b.html", "B")])]
    beside = [docs.neighbours(address, menu) for address in ("a.html", "b.html", "tests/c.html")]
    assert beside == [(None, ("b.html", "B")), (("a.html", "A"), None), (("b.html", "B"), None)]


def test_problems_and_search(tmp_path):
    "Missing titles, descriptions, files, pages and anchors are seen; prose is told from code; users' pages weigh more"
    docs.write(
        tmp_path / "a.html",
        b'<title></title><main><h1 id="x">Head</h1>word<img src="p.png"><pre>code()</pre>'
        b'<iframe src="f.html"></iframe><a href="b.html">b</a><a href="#y">y</a><table><td>7</table></main>',
    )
    assert len(docs.problems(tmp_path)) == 6, docs.problems(tmp_path)
    index = docs.search_index(tmp_path, [("Start", [("a.html", "A")]), ("", [("a.html", "A")])])
    assert '["a.html#x","A","Head","wordby","code()7",3]' in index and '"code()7",0.2]' in index, (
        index
    )


def test_misplaced(tmp_path):
    "Every notebook is listed once: in the sidebar, or on the page that lists the tests"
    for name in ("tests/overview", "tests/a", "tests/b", "c"):
        docs.write(tmp_path / f"{name}.ipynb", b"[A](a.ipynb)")
    docs.write(
        tmp_path / "sidebar.yml",
        b"website: {sidebar: {contents: [{section: S, contents: [tests/overview.ipynb]}]}}",
    )
    assert docs.misplaced(tmp_path) == [
        "c.ipynb is listed 0 times",
        "tests/b.ipynb is listed 0 times",
    ]
