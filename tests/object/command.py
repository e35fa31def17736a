"""Runs a command-line client and shows what it said when it fails."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

KEY = os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"]
SECRET = os.environ["TRIPTYCH_OBJECT_SECRET_KEY"]
REGION = os.environ["TRIPTYCH_OBJECT_REGION"]
URL = os.environ["TRIPTYCH_OBJECT_URL"]
HOST = URL.removeprefix("http://")


class Command(unittest.TestCase):
    """A test with a folder of its own and one program, which must be there."""

    program = None
    package = None

    def setUp(self):
        if shutil.which(self.program) is None:
            self.fail(f"{self.program} is missing. Install with: apt-get install {self.package}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, **environment):
        # Nothing of the user's own settings is read.
        surroundings = {**os.environ, "HOME": str(self.folder), **environment}
        surroundings.pop("AWS_CA_BUNDLE", None)
        return subprocess.run(
            [self.program, *map(str, arguments)], env=surroundings, capture_output=True, timeout=120
        )

    def ok(self, *arguments, **environment):
        done = self.run_program(*arguments, **environment)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())
        return done.stdout
