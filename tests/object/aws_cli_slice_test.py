"""The aws command line, unmodified: copies up, copies down, and exits with an error where one is due."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ENVIRONMENT = {
    **os.environ,
    "AWS_ACCESS_KEY_ID": os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
    "AWS_SECRET_ACCESS_KEY": os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
    "AWS_DEFAULT_REGION": os.environ["TRIPTYCH_OBJECT_REGION"],
    "AWS_ENDPOINT_URL": os.environ["TRIPTYCH_OBJECT_URL"],
    "AWS_EC2_METADATA_DISABLED": "true",
}


def aws(*arguments, stdin=None):
    return subprocess.run(["aws", *arguments], env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ok(self, *arguments, **options):
        done = aws(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def test_a_file_is_copied_up_and_down(self):
        up, down = self.folder / "up.bin", self.folder / "down.bin"
        up.write_bytes(os.urandom(300_000))
        self.ok("s3", "cp", str(up), "s3://demo/cp/up.bin")
        self.ok("s3", "cp", "s3://demo/cp/up.bin", str(down))
        self.assertEqual(down.read_bytes(), up.read_bytes())

    def test_standard_input_is_copied_up(self):
        self.ok("s3", "cp", "-", "s3://demo/stdin.txt", stdin=b"from a pipe")
        self.assertEqual(self.ok("s3", "cp", "s3://demo/stdin.txt", "-"), b"from a pipe")

    def test_put_object_prints_the_etag_and_the_checksum(self):
        source = self.folder / "one.txt"
        source.write_bytes(b"one")
        said = json.loads(
            self.ok(
                "s3api", "put-object", "--bucket", "demo", "--key", "one.txt", "--body", str(source),
                "--checksum-algorithm", "CRC32C",
            )
        )
        self.assertEqual(said["ETag"], '"f97c5d29941bfb1b2fdab0874906ab82"')
        self.assertTrue(said["ChecksumCRC32C"])

    def test_a_missing_bucket_ends_with_an_error(self):
        source = self.folder / "one.txt"
        source.write_bytes(b"one")
        done = aws("s3", "cp", str(source), "s3://nowhere/one.txt")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"NoSuchBucket", done.stderr)
