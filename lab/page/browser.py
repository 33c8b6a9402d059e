"""A headless Chromium, driven over HTTP by chromedriver: the few commands that a check of a page needs."""
import base64
import json
import re
import subprocess
import urllib.request

SWITCHES = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--hide-scrollbars", "--disable-background-networking"]


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.base = f"http://127.0.0.1:{self.find_port()}"
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"args": SWITCHES, "binary": "/usr/bin/chromium"}}
        answer = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += f"/session/{answer['sessionId']}"

    def find_port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return found.group(1)
        raise RuntimeError("chromedriver did not start")

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"},
                                         method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self.send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show(self, url, width, scheme="light", media="screen"):
        """Open a page on a screen of that width."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=844,
                      deviceScaleFactor=1, mobile=width < 700)
        self.devtools("Emulation.setEmulatedMedia", media=media,
                      features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("POST", "/url", {"url": url})

    def run(self, script):
        return self.send("POST", "/execute/sync", {"script": script, "args": []})

    def console(self):
        """The warnings and errors of the browser."""
        return [line["message"] for line in self.send("POST", "/se/log", {"type": "browser"})
                if line["level"] in ("SEVERE", "WARNING")]

    def picture(self, path, top=0, height=1200):
        """A part of the page, as PNG."""
        width = self.run("return document.documentElement.clientWidth")
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        shot = self.devtools("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.send("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
