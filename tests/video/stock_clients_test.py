"""The stock clients of Go, Java and Ruby, unmodified: each walks through what it is used for, and says which steps it took."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "stock")]
from commands import COMMANDS  # noqa: E402
from movie import mp4  # noqa: E402

UPLOADS = ["writes", "uploads at once", "uploads in pieces"]
LISTS = ["rates", "pages", "comments", "subscribes", "activities"]


class StockClients(unittest.TestCase):
    def walk(self, client):
        """The steps that a client says it took, on a film of three pieces and a bit."""
        with tempfile.NamedTemporaryFile(suffix=".mp4") as film:
            film.write(mp4(payload=900_000))
            film.flush()
            command = [*map(str, COMMANDS[client]()), film.name]
            ended = subprocess.run(command, env=os.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return [line.removeprefix("ok ") for line in ended.stdout.splitlines() if line.startswith("ok ")]

    def test_the_client_of_go_writes_uploads_and_pages(self):
        self.assertEqual(self.walk("go"), [*UPLOADS, *LISTS, "is told why"])

    def test_the_client_of_java_writes_packed_uploads_pages_and_batches(self):
        self.assertEqual(self.walk("java"), [*UPLOADS, "uploads a stream", *LISTS, "batches", "is told why"])

    def test_the_client_of_ruby_writes_uploads_in_its_own_words_pages_and_batches(self):
        self.assertEqual(self.walk("ruby"), [*UPLOADS, *LISTS, "batches", "is told why"])


if __name__ == "__main__":
    unittest.main()
