"""s5cmd, unmodified: a file goes up in parts, is copied within the service and comes down."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aws import ENVIRONMENT, HTTP, CommandLine  # noqa: E402

MIB = 1024 * 1024


class Parts(CommandLine):
    def s5cmd(self, *arguments):
        command = ["s5cmd", *HTTP, *map(str, arguments)]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def test_a_file_goes_up_in_parts_and_comes_down(self):
        content = os.urandom(11 * MIB + 3)
        down = self.folder / "down.bin"
        self.s5cmd("cp", "--part-size", 5, self.file(content, "up.bin"), "s3://demo/s5cmd/up.bin")
        self.s5cmd("cp", "--part-size", 5, "s3://demo/s5cmd/up.bin", down)
        self.assertEqual(down.read_bytes(), content)
        self.assertTrue(self.head("demo", "s5cmd/up.bin")["ETag"].endswith('-3"'))


if __name__ == "__main__":
    import unittest

    unittest.main()
