# SPDX-License-Identifier: MIT
"""A headless Chromium that is spoken to through two pipes, by the DevTools protocol."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    """The path of a Chromium, or None."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


class Browser:
    """One page at a time. `wrong` are the errors and warnings that pages gave, and what they asked the network for."""

    def __init__(self, program, width=1200, height=900):
        self.folder = tempfile.TemporaryDirectory()
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # It reads from 3 and writes to 4.
        command = ('exec "$0" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run '
                   '--disable-background-networking --remote-debugging-pipe "--user-data-dir=$1" about:blank '
                   f'3<&{theirs_in} 4>&{theirs_out}')
        self.process = subprocess.Popen(["bash", "-c", command, program, self.folder.name], pass_fds=(theirs_in, theirs_out),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in), os.close(theirs_out)
        self.input, self.output = os.fdopen(ours_out, "wb", 0), os.fdopen(ours_in, "rb")
        self.buffer, self.count, self.session, self.wrong, self.seen = b"", 0, None, [], set()
        pages = [each for each in self.send("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        self.session = self.send("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send("Browser.close")
        except (OSError, RuntimeError):
            self.process.kill()
        self.process.wait(timeout=30)
        self.input.close(), self.output.close()
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.output.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, told):
        self.seen.add(method)
        if method == "Runtime.exceptionThrown":
            self.wrong.append(told["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.wrong.append(told["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not told["request"]["url"].startswith(("file:", "about:", "data:")):
            self.wrong.append("it asks for " + told["request"]["url"])

    def send(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.input.write(json.dumps(message).encode() + b"\0")
        number = self.count
        while (answer := self.receive()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url, timeout=60):
        """Seconds from the beginning until all scripts of the page have run and it was painted."""
        self.seen.discard("Page.loadEventFired")
        begun = time.monotonic()
        self.send("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.seen:
            self.receive()
            if time.monotonic() - begun > timeout:
                raise RuntimeError(f"{url} does not load")
        self.send("Page.captureScreenshot", clip={"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}) # waits for a frame
        return time.monotonic() - begun

    def ask(self, expression):
        """The value of an expression of JavaScript in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def use_scripts(self, uses):
        """From the next page on."""
        self.send("Emulation.setScriptExecutionDisabled", value=not uses)

    def resize(self, width, height, is_phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if is_phone else 1,
                  mobile=is_phone)

    def prefer(self, scheme, media=""):
        self.send("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, code=0):
        """A key, by the name that JavaScript has for it."""
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def drag(self, begin, end):
        """The pointer is pressed at the one place and let go at the other."""
        for what, (x, y) in (("mousePressed", begin), ("mouseMoved", end), ("mouseReleased", end)):
            self.send("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)

    def picture(self, path, whole=False):
        made = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(made["data"]))
