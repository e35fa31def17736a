"""A server of a test's own: started from the binary, stopped, killed, and started again on the same data."""

import json
import os
import pathlib
import signal
import subprocess
import urllib.error
import urllib.request

BINARY = os.environ["TRIPTYCH_VIDEO_BINARY"]
SEED = os.environ["TRIPTYCH_VIDEO_SEED"]
TOKEN = os.environ["TRIPTYCH_VIDEO_TOKEN"]
KEY = os.environ["TRIPTYCH_VIDEO_API_KEY"]


def raw(method, url, body=None, headers=None):
    """Status, headers and body of an answer, whatever its status."""
    request = urllib.request.Request(url, body, headers or {}, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=120)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()


def command(*arguments, **more):
    """Runs a sub-command to its end; gives its exit code and its two outputs."""
    ended = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=300, **more)
    return ended.returncode, ended.stdout, ended.stderr.decode()


class Server:
    """A running server; `start` comes back once it is ready. Without a port it has another one after each start."""

    def __init__(self, data, *flags, seed=SEED, port=0):
        self.data, self.seed, self.port, self.flags, self.process = pathlib.Path(data), seed, port, flags, None
        self.start()

    def start(self):
        flags = ["--data", str(self.data), "--seed", str(self.seed), "--port", str(self.port), *self.flags]
        self.log = open(str(self.data) + ".log", "ab")
        self.process = subprocess.Popen([BINARY, *flags], stdout=subprocess.PIPE, stderr=self.log)
        self.url = None
        for line in self.process.stdout:
            words = line.decode().split()
            self.url = self.url or next((word for word in words if word.startswith("http://")), None)
            if line == b"video-api is ready\n":
                return
        raise AssertionError(f"the server ended with {self.process.wait()} before it was ready")

    def end(self, signal_number):
        self.process.send_signal(signal_number)
        self.process.stdout.read()
        self.process.wait(60)
        self.process.stdout.close()
        self.log.close()

    def kill(self):
        """As if the machine had lost its process: nothing is said good-bye to."""
        self.end(signal.SIGKILL)

    def stop(self):
        if self.process.poll() is None:
            self.end(signal.SIGTERM)

    def peak_bytes(self):
        """The most memory that the process ever had."""
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no VmHWM")

    def call(self, method, path, body=None, token=TOKEN):
        """A JSON call with Alice's token; the answer is an object, `None` without a body."""
        head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        status, _, text = raw(method, self.url + path, None if body is None else json.dumps(body).encode(), head)
        answer = json.loads(text) if text else None
        assert status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def control(self, method, path, body=None):
        """A call to a control path; its status and its answer."""
        status, _, text = raw(method, self.url + path, None if body is None else json.dumps(body).encode())
        return status, json.loads(text) if text else None
