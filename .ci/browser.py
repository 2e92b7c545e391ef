"""A real browser for the checks: headless Chromium, spoken to over a pipe, so that no driver and no port is needed.

    with Browser() as browser:
        page = browser.open(path_to_html)
        page.click("#theme"); page.evaluate("document.title"); page.complaints
"""
import base64
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

SECONDS = 60   # for one answer: a busy machine is no failure
KEYS = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46}
# No sandbox: a container's root may not make one, and only our own pages are opened.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
           "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--disable-extensions", "--window-size=1200,1000", "--remote-debugging-pipe"]
# The ratio of luminances as WCAG defines it; 4.5 is its minimum for text.
CONTRAST = """selector => {
  const luminance = color => color.match(/[\\d.]+/g).slice(0, 3).map(v => color.startsWith("color(") ? +v : v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)/.test(c)) return c; }
    return "rgb(255, 255, 255)";
  };
  const ratios = [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).map(e => {
    const [dim, bright] = [getComputedStyle(e).color, ground(e)].map(luminance).sort((a, b) => a - b);
    return [(bright + 0.05) / (dim + 0.05), e.outerHTML.slice(0, 60)];
  });
  return ratios.sort((a, b) => a[0] - b[0])[0];
}"""


def find_browser():
    "The path of a Chromium, or None"
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
    return next(filter(None, map(shutil.which, filter(None, names))), None)


class Browser:
    "A headless Chromium with a profile of its own, gone with the `with` block"

    def __enter__(self):
        self.profile = TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        # Chromium reads commands from file 3 and writes answers to file 4.
        shell = f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        command = ["bash", "-c", shell, "browser", find_browser(), *OPTIONS, f"--user-data-dir={self.profile.name}"]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(command, pass_fds=(ours[0], theirs[1]), start_new_session=True, **quiet)
        os.close(ours[0]); os.close(theirs[1])
        self.commands, self.replies = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self.count, self.answers, self.pages = 0, queue.Queue(), {}
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.commands.close()
        self.profile.cleanup()

    def _listen(self):
        "Messages end with a zero byte; answers wait in a queue, events go to their page"
        rest = b""
        while chunk := os.read(self.replies.fileno(), 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message: self.answers.put(message)
                elif page := self.pages.get(message.get("sessionId")): page.hear(message)
        self.answers.put({"id": None})

    def call(self, method: str, session=None, **parameters) -> dict:
        "Send one command of the DevTools protocol and wait for its answer"
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session: message["sessionId"] = session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        answer = self.answers.get(timeout=SECONDS)
        if answer["id"] != self.count: raise RuntimeError(f"the browser ended during {method}")
        if "error" in answer: raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, path: Path, query: str = "") -> "Page":
        page = Page(self)
        page.go(Path(path).absolute().as_uri() + query)
        return page


class Page:
    "One tab: what it shows, what it complains about, and the hands of a visitor"

    def __init__(self, browser: Browser):
        self.browser, self.complaints, self.requests, self.loaded = browser, [], [], threading.Event()
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"): self.call(f"{domain}.enable")

    def call(self, method: str, **parameters) -> dict:
        return self.browser.call(method, self.session, **parameters)

    def hear(self, message: dict):
        method, event = message["method"], message["params"]
        if method == "Page.loadEventFired": self.loaded.set()
        if method == "Network.requestWillBeSent": self.requests.append(event["request"]["url"])
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        if method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in event["args"]))
        if method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{event['entry']['text']} {event['entry'].get('url', '')}".strip())

    def go(self, url: str):
        self.loaded.clear()
        if error := self.call("Page.navigate", url=url).get("errorText"): raise RuntimeError(f"{url}: {error}")
        if not self.loaded.wait(SECONDS): raise RuntimeError(f"{url} did not load in {SECONDS} s")

    def evaluate(self, expression: str):
        "The value of a JavaScript expression, promises awaited"
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:80]}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def wait(self, expression: str):
        "Until a JavaScript expression is true"
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Promise.resolve({expression}).then(Boolean)"):
            if time.monotonic() > end: raise RuntimeError(f"waited {SECONDS} s for {expression}")
            time.sleep(0.02)

    def centre(self, selector: str) -> tuple:
        "Where an element is on the screen, scrolled into view"
        found = f"document.querySelector({json.dumps(selector)})"
        box = self.evaluate(f"(e => {{ e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect();"
                            f" return [b.left + b.width / 2, b.top + b.height / 2]; }})({found})")
        return tuple(box)

    def mouse(self, kind: str, x: float, y: float, **more):
        held = int(kind != "mouseReleased")
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=held, **more)

    def click(self, selector: str, count: int = 1, offset=(0, 0)):
        x, y = (a + b for a, b in zip(self.centre(selector), offset))
        for i in range(1, count + 1):
            self.mouse("mousePressed", x, y, clickCount=i)
            self.mouse("mouseReleased", x, y, clickCount=i)

    def drag(self, selector: str, dx: float, dy: float, steps: int = 5):
        x, y = self.centre(selector)
        self.mouse("mousePressed", x, y, clickCount=1)
        for i in range(1, steps + 1): self.mouse("mouseMoved", x + dx * i / steps, y + dy * i / steps)
        self.mouse("mouseReleased", x + dx, y + dy, clickCount=1)

    def swipe(self, selector: str, dx: float, dy: float, steps: int = 5):
        "The same with a finger"
        x, y = self.centre(selector)
        at = lambda i: [{"x": x + dx * i / steps, "y": y + dy * i / steps}]
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=at(0))
        for i in range(1, steps + 1): self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=at(i))
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key: str, times: int = 1):
        for _ in range(times):
            for kind in ("rawKeyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def write(self, text: str):
        self.call("Input.insertText", text=text)

    def scheme(self, name: str):
        "What the visitor's system prefers: light or dark"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def resize(self, width: int, height: int = 800, touch: bool = False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def contrast(self, selector: str) -> list:
        "The lowest contrast between text and ground among the elements, and that element's beginning"
        return self.evaluate(f"({CONTRAST})({json.dumps(selector)})")

    def overflow(self) -> int:
        "Pixels by which the page is wider than its window"
        return self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def picture(self, path: Path, whole: bool = True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))
