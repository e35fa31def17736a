"""s3cmd, unmodified: put, get, list, info and delete."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import command  # noqa: E402


class S3cmd(command.Command):
    program = package = "s3cmd"

    def s3cmd(self, *arguments):
        return self.ok(
            "--no-ssl", f"--host={command.HOST}", f"--host-bucket={command.HOST}", f"--region={command.REGION}",
            f"--access_key={command.KEY}", f"--secret_key={command.SECRET}", "--config=/dev/null", "--no-progress",
            *arguments,
        )  # fmt: skip

    def test_a_file_is_put_got_and_deleted(self):
        up, down = self.folder / "up", self.folder / "down"
        up.write_bytes(os.urandom(123_456))
        self.s3cmd("put", up, "s3://demo/s3cmd/file")
        self.s3cmd("get", "s3://demo/s3cmd/file", down)
        self.assertEqual(down.read_bytes(), up.read_bytes())
        self.assertIn(b"123456", self.s3cmd("info", "s3://demo/s3cmd/file"))
        self.assertIn(b"s3://demo/s3cmd/file", self.s3cmd("ls", "s3://demo/s3cmd/"))
        self.s3cmd("del", "s3://demo/s3cmd/file")
        self.assertEqual(self.s3cmd("ls", "s3://demo/s3cmd/"), b"")
