# SPDX-License-Identifier: BSD-3-Clause
"""Controls a headless Chromium through a pipe: opens pages from files, sends keys and pointer events, sets the window's size,
takes screenshots. Needs no Python package."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()

        def pipes():  # Chromium reads file descriptor 3 and writes 4
            os.dup2(to_read, 10)
            os.dup2(from_write, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        # Chromium runs without a display and with a profile of its own. It has no sandbox, which containers forbid, and
        # makes no network requests in the background.
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={self.profile}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number = 0
        self.rest = b""
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.source, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def size(self, width, height, dark=False, touch=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """Opens a page and waits until its charts are drawn. Raises an exception if the page reports a failure."""
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        drawn = self.run("""new Promise(function wait(done, fail, tries) {
            if (document.body && document.body.hasAttribute('data-charts-drawn')) {
                done(true);
            } else if (tries > 6000) {
                done(false);
            } else {
                setTimeout(wait, 10, done, fail, (tries || 0) + 1);
            }
        })""")
        if not drawn:
            raise RuntimeError(f"{path}: no charts after a minute")
        trouble = self.run("document.body.getAttribute('data-trouble')")
        if trouble:
            raise RuntimeError(f"{path}: {trouble}")

    def run(self, script):
        """Returns the value of a JavaScript expression. If the value is a promise, waits for its result."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['exception'].get('description', '')}")
        return answer["result"].get("value")

    def frame(self):
        """Waits until the page has drawn all changes so far."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **extra)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.frame()

    def touch(self, kind, points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def picture(self, path, top, height):
        """Stores a picture of `height` pixels of the page, from `top` on, over the page's whole width."""
        width = self.run("document.documentElement.scrollWidth")
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
