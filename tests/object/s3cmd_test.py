"""s3cmd, unmodified: put, get, list, info and delete."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import command  # noqa: E402


class S3cmd(command.Command):
    program = package = "s3cmd"

    OPTIONS = [
        "--no-ssl", f"--host={command.HOST}", f"--host-bucket={command.HOST}", f"--region={command.REGION}",
        f"--access_key={command.KEY}", f"--secret_key={command.SECRET}", "--config=/dev/null", "--no-progress",
    ]  # fmt: skip

    def s3cmd(self, *arguments):
        return self.ok(*self.OPTIONS, *arguments)

    def refused(self, word, *arguments):
        done = self.run_program(*self.OPTIONS, *arguments)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(word, done.stderr)

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

    def test_errors_are_told_by_their_code(self):
        source = self.folder / "file"
        source.write_bytes(b"x")
        self.refused(b"NoSuchBucket", "put", source, "s3://nowhere-at-all/file")
        self.refused(b"does not exist", "get", "s3://demo/s3cmd/absent", self.folder / "down")
        self.refused(b"SignatureDoesNotMatch", "--secret_key=wrong", "ls", "s3://demo")
        self.refused(b"InvalidStorageClass", "--storage-class=OUTPOSTS", "put", source, "s3://demo/s3cmd/no")

    def test_a_bucket_is_described_with_what_it_has(self):
        self.s3cmd("mb", "s3://made-by-s3cmd")
        said = self.s3cmd("info", "s3://made-by-s3cmd")
        self.assertIn(b"s3://made-by-s3cmd/ (bucket)", said)
        self.s3cmd("rb", "s3://made-by-s3cmd")
