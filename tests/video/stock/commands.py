"""The commands that run the stock clients; what is built for them is kept."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CACHE = HERE.parents[2] / "target/clients"
JARS = [
    "google-api-client", "google-http-client", "google-http-client-gson", "google-oauth-client", "gson", "guava",
    "httpclient", "httpcore", "commons-logging", "commons-codec", "opencensus-api", "opencensus-contrib-http-util", "grpc-context",
]


def go():
    # Debian's packages are in a GOPATH; what is compiled of them is kept, since it takes a quarter of a minute.
    settings = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(CACHE / "go"), "GOFLAGS": "-p=2"}
    binary = CACHE / "go/walk"
    binary.parent.mkdir(parents=True, exist_ok=True)
    build = ["go", "build", "-o", str(binary), str(HERE / "walk.go")]
    built = subprocess.run(build, env={**os.environ, **settings}, capture_output=True, text=True, timeout=240)
    assert built.returncode == 0, built.stderr
    return [binary]


def java():
    path = ":".join(f"/usr/share/java/{name}.jar" for name in JARS)
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", path, HERE / "Walk.java"]


def ruby():
    return ["ruby", HERE / "walk.rb"]


def python():
    return [sys.executable, HERE / "walk.py"]


def node():
    return ["node", HERE / "walk.mjs"]


COMMANDS = {client.__name__: client for client in (go, java, ruby, python, node)}
