#!/usr/bin/env python3
"""Opens pages in a headless Chromium at the widths of a phone and of a desktop, light, dark and printed.

    validation/pages.py [--browser PROGRAM] [--screenshots FOLDER] PAGE.html...

Fails on any error or warning of the console, on anything that is asked of a network, where the page is
wider than its window, where an image or a picture is empty, and where the print has no page. Needs the
package websocket-client; validation/check_pages.sh installs it and looks for the browser.
Exit codes: 0 good, 1 a page fails, 2 usage, 3 no browser or no file.
"""

import argparse
import base64
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Help needs no packages.
if not {"-h", "--help"} & set(sys.argv[1:]):
    import websocket

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
WIDTHS = {"phone": 390, "desktop": 1280}
# Longer than any page takes; a browser that hangs is a failure.
PATIENCE = 60.0

# Faults of the page, as the browser sees it.
LOOK = """(width => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > width)
    faults.push(`is ${root.scrollWidth} px wide in a window of ${width} px`);
  for (const image of document.images)
    if (!image.complete || image.naturalWidth === 0) faults.push(`image without pixels: ${image.alt}`);
  const pictures = [...document.querySelectorAll("figure svg")];
  if (document.querySelectorAll("figure").length === 0) faults.push("has no picture");
  for (const picture of pictures) {
    const box = picture.getBoundingClientRect();
    if (box.width < 200 || box.height < 100) faults.push(`picture of ${box.width} x ${box.height} px`);
    if (picture.querySelectorAll("text").length < 5) faults.push("picture without words");
  }
  for (const figure of document.querySelectorAll("figure"))
    if (!figure.querySelector("svg, img")) faults.push("figure without a picture");
  const colours = getComputedStyle(document.body);
  if (colours.color === colours.backgroundColor) faults.push("letters have the colour of the paper");
  return faults;
})"""


class Browser:
    """A browser, spoken to by the protocol of its developer tools."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={folder}",
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = None
        for line in self.process.stderr:
            found = re.search(r"DevTools listening on (ws://\S+)", line)
            if found:
                address = found.group(1)
                break
        if address is None:
            raise OSError(f"{program} does not start")
        self.socket = websocket.create_connection(address, timeout=PATIENCE)
        self.numbers = itertools.count(1)
        self.session = None
        self.events = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """Asks for something, keeps events that come meanwhile, and returns the answer."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                if "error" in answer:
                    raise OSError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address):
        """Opens a page and waits until it is complete; returns what has happened."""
        self.events = []
        self.ask("Page.navigate", url=address)
        end = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            if time.monotonic() > end:
                raise OSError(f"{address} is not complete after {PATIENCE:.0f} s")
            self.events.append(json.loads(self.socket.recv()))
        # What is said late comes before the answer to this.
        self.ask("Runtime.evaluate", expression="new Promise(requestAnimationFrame)", awaitPromise=True)
        return self.events

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
        except (OSError, websocket.WebSocketException):
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def complaints(events):
    """Messages of the console, failures, and requests to a network."""
    found = []
    for event in events:
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            found.append("exception: " + about["exceptionDetails"].get("text", ""))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            found.append("console: " + str([a.get("value") for a in about["args"]]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            found.append("console: " + about["entry"]["text"])
        elif method == "Network.loadingFailed":
            found.append("not loaded: " + about.get("errorText", ""))
        elif method == "Network.requestWillBeSent":
            address = about["request"]["url"]
            if not address.startswith(("file:", "data:", "about:")):
                found.append("asks the network for " + address)
    return found


def check(browser, page, screenshots):
    """The faults of a page."""
    faults = []
    for (name, width), scheme in itertools.product(WIDTHS.items(), ["light", "dark"]):
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=844,
                    deviceScaleFactor=1, mobile=name == "phone")
        browser.ask("Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": scheme}])
        events = browser.open(page.resolve().as_uri())
        result = browser.ask("Runtime.evaluate", expression=f"({LOOK})({width})",
                             returnByValue=True)
        seen = result["result"].get("value")
        if seen is None:
            seen = ["cannot be looked at: " + json.dumps(result)]
        faults += [f"{page.name}, {name}, {scheme}: {fault}" for fault in complaints(events) + seen]
        if screenshots:
            shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)
            path = screenshots / f"{page.stem}-{name}-{scheme}.png"
            path.write_bytes(base64.b64decode(shot["data"]))
    browser.ask("Emulation.clearDeviceMetricsOverride")
    browser.ask("Emulation.setEmulatedMedia", features=[])
    browser.open(page.resolve().as_uri())
    pdf = base64.b64decode(browser.ask("Page.printToPDF", printBackground=False)["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    if not pdf.startswith(b"%PDF") or sheets < 1:
        faults.append(f"{page.name}: prints no sheet")
    if screenshots:
        (screenshots / f"{page.stem}.pdf").write_bytes(pdf)
    print(f"{page.name}: {len(WIDTHS)} widths, light and dark, {sheets} sheets of print")
    return faults


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", help="the browser; otherwise the first one found of "
                        + ", ".join(BROWSERS))
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER",
                        help="keep what the pages look like")
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="PAGE.html")
    given = parser.parse_args()
    program = given.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("error: no browser; tried " + ", ".join(BROWSERS), file=sys.stderr)
        return 3
    for page in given.pages:
        if not page.is_file():
            print(f"error: {page} is not a file; give a page to look at", file=sys.stderr)
            return 3
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    faults = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            browser = Browser(program, folder)
        except OSError as error:
            print(f"error: {error}", file=sys.stderr)
            return 3
        try:
            for page in given.pages:
                faults += check(browser, page, given.screenshots)
        except (OSError, websocket.WebSocketException) as error:
            faults.append(str(error))
        finally:
            browser.close()
    for fault in faults:
        print("FAIL " + fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
