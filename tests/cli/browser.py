"""Drives Debian's chromium without a window, by the devtools protocol over a pipe: messages of JSON that end with NUL, on
the descriptors 3 and 4 of the browser."""
import base64
import json
import os
import shutil
import subprocess
import time

CHROMIUM = shutil.which("chromium")


class Browser:
    def __init__(self, profile_directory, size=(1400, 900)):
        read_by_browser, self.commands = os.pipe()
        self.answers, written_by_browser = os.pipe()
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", f"--window-size={size[0]},{size[1]}", "--remote-debugging-pipe",
                 f"--user-data-dir={profile_directory}", "about:blank"]
        # The shell moves the pipes to the descriptors that the browser expects.
        shell = f'exec "$@" 3<&{read_by_browser} 4>&{written_by_browser}'
        self.process = subprocess.Popen(["bash", "-c", shell, "bash", *words], pass_fds=(read_by_browser, written_by_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=os.environ | {"TMPDIR": str(profile_directory)})  # it leaves files there
        os.close(read_by_browser)
        os.close(written_by_browser)
        self.rest, self.number, self.session = b"", 0, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.commands)
        os.close(self.answers)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url, ready, seconds=60):
        self.send("Page.navigate", url=url)
        self.wait_for(ready, seconds)

    def wait_for(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"this did not become true: {expression}")
            time.sleep(0.05)

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def click(self, x, y, button="left"):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def wheel(self, x, y, delta):
        self.send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
