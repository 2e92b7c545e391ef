"""What the checks of pages share: the system's Chromium, driven by Playwright."""

import os
import shutil

# No sandbox: a container's root may not make one, and only our own pages are opened.
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The ratio of luminances as WCAG defines it; 4.5 is its minimum for text.
CONTRAST = """selector => {
  const parse = color => {
    const [r, g, b, alpha = 1] = color.match(/[\\d.]+/g).map(Number);
    const unit = color.startsWith("color(") ? 1 : 255;
    return [r / unit, g / unit, b / unit, alpha];
  };
  const over = (above, below) =>
    [...[0, 1, 2].map(i => above[i] * above[3] + below[i] * (1 - above[3])), 1];
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = color => color.slice(0, 3).map(linear)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    const layers = [];
    for (; e && layers.at(-1)?.[3] !== 1; e = e.parentElement)
      layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reduceRight((below, above) => over(above, below), [1, 1, 1, 1]);
  };
  const visible = [...document.querySelectorAll(selector)].filter(e => e.checkVisibility());
  const ratios = visible.map(e => {
    const back = ground(e), text = over(parse(getComputedStyle(e).color), back);
    const [dim, bright] = [text, back].map(luminance).sort((a, b) => a - b);
    return [(bright + 0.05) / (dim + 0.05), e.outerHTML.slice(0, 60)];
  });
  return ratios.sort((a, b) => a[0] - b[0])[0];
}"""


def find_browser():
    "Return the path of a Chromium, or None"
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def complaints(page) -> list:
    "Return a list that grows with every error, warning and request to the network of `page`"
    heard = []

    def printed(message):
        if message.type in ("error", "warning", "assert"):
            heard.append(message.text)

    def requested(request):
        if not request.url.startswith(("file:", "data:")):
            heard.append(f"it asks the network for {request.url}")

    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("console", printed)
    page.on("request", requested)
    return heard


def unreadable(page, selector: str) -> list:
    "Return what sticks out of the window, and the text that is hardest to read, if it is too hard"
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    ratio, element = page.evaluate(CONTRAST, selector)
    found = [f"it is {wide} px too wide"] * (wide > 0)
    return found + [f"the contrast of {element} is {ratio:.1f}, less than 4.5"] * (ratio < 4.5)
