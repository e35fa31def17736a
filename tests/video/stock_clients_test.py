"""The stock clients of Go, Java and Ruby, unmodified: each walks through what it is used for, and says which steps it took."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from movie import mp4  # noqa: E402

CACHE = HERE.parents[1] / "target/clients"
JARS = [
    "google-api-client", "google-http-client", "google-http-client-gson", "google-oauth-client", "gson", "guava",
    "httpclient", "httpcore", "commons-logging", "commons-codec", "opencensus-api", "opencensus-contrib-http-util", "grpc-context",
]
ALL = ["writes", "uploads at once", "uploads in pieces", "pages", "is told why"]


class StockClients(unittest.TestCase):
    def walk(self, *command, **environment):
        """The steps that a client says it took, on a film of three pieces and a bit."""
        with tempfile.NamedTemporaryFile(suffix=".mp4") as film:
            film.write(mp4(payload=900_000))
            film.flush()
            ended = subprocess.run(
                [*map(str, command), film.name], env={**os.environ, **environment}, capture_output=True, text=True, timeout=240
            )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return [line.removeprefix("ok ") for line in ended.stdout.splitlines() if line.startswith("ok ")]

    def test_the_client_of_go_writes_uploads_and_pages(self):
        # Debian's packages are in a GOPATH; what is compiled of them is kept, since it takes a quarter of a minute.
        settings = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(CACHE / "go"), "GOFLAGS": "-p=2"}
        binary = CACHE / "go/walk"
        binary.parent.mkdir(parents=True, exist_ok=True)
        build = ["go", "build", "-o", str(binary), str(HERE / "stock/walk.go")]
        built = subprocess.run(build, env={**os.environ, **settings}, capture_output=True, text=True, timeout=240)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(self.walk(binary), ALL)

    def test_the_client_of_java_writes_packed_uploads_pages_and_batches(self):
        path = ":".join(f"/usr/share/java/{name}.jar" for name in JARS)
        steps = self.walk("java", "-XX:TieredStopAtLevel=1", "-cp", path, HERE / "stock/Walk.java")
        self.assertEqual(steps, [*ALL[:3], "uploads a stream", ALL[3], "batches", ALL[4]])

    def test_the_client_of_ruby_writes_uploads_in_its_own_words_pages_and_batches(self):
        steps = self.walk("ruby", HERE / "stock/walk.rb")
        self.assertEqual(steps, [*ALL[:4], "batches", ALL[4]])


if __name__ == "__main__":
    unittest.main()
