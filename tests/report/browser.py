"""A tab of Chromium, driven over its debugging pipe: no driver is needed."""

import json
import os
import select
import subprocess
import time


class Tab:
    """What a page does: errors and requests are gathered."""

    def __init__(self, process, write, read):
        self._process, self._write, self._read = process, write, read
        self._rest, self._number, self._session = b"", 0, None
        self.errors, self.requests = [], []

    def command(self, method, session=True, **parameters):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session and self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(60)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def attach(self):
        target = self.command("Target.createTarget", session=False, url="about:blank")["targetId"]
        answer = self.command("Target.attachToTarget", session=False, targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.command(f"{domain}.enable")

    def open(self, address):
        self.command("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def evaluate(self, expression):
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def key(self, key):
        self.command("Input.dispatchKeyEvent", type="keyDown", key=key, code=key)
        self.command("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def close(self):
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait(timeout=30)

    def _next(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 16)
            assert part, "the browser ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.errors.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


def open_tab(program, page, user_folder):
    """Start the browser and open a page."""
    (read_there, write), (read, write_there) = os.pipe(), os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += [f"--user-data-dir={user_folder}", "--remote-debugging-pipe", "--window-size=1400,1000"]
    # the browser reads from 3 and writes to 4
    command = f'exec "$@" 3<&{read_there} 4>&{write_there}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", command, "bash", program, *options],
        pass_fds=(read_there, write_there),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_there)
    os.close(write_there)
    tab = Tab(process, write, read)
    tab.attach()
    tab.open(page.as_uri())
    return tab
