"""The aws command line, unmodified: copies and syncs over http and https, and the errors it ends with."""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aws import ENVIRONMENT, HTTP, HTTPS, CommandLine  # noqa: E402

A_DAY_AGO = time.time() - 86_400


class Copies(CommandLine):
    def test_a_file_is_copied_up_and_down(self):
        for service in (HTTP, HTTPS):
            content = os.urandom(300_000)
            up, down = self.file(content, "up.bin"), self.folder / "down.bin"
            self.ok("s3", "cp", up, "s3://demo/cp/up.bin", service=service)
            self.ok("s3", "cp", "s3://demo/cp/up.bin", down, service=service)
            self.assertEqual(down.read_bytes(), content)

    def test_standard_input_is_copied_up(self):
        for service in (HTTP, HTTPS):
            self.ok("s3", "cp", "-", "s3://demo/stdin.txt", stdin=b"from a pipe", service=service)
            self.assertEqual(self.ok("s3", "cp", "s3://demo/stdin.txt", "-", service=service), b"from a pipe")

    def test_an_object_is_copied_and_moved(self):
        self.ok("s3", "cp", self.file(b"copied"), "s3://demo/from.txt")
        self.ok("s3", "cp", "s3://demo/from.txt", "s3://open/to.txt")
        self.ok("s3", "mv", "s3://open/to.txt", "s3://open/moved.txt")
        self.assertEqual(self.ok("s3", "cp", "s3://open/moved.txt", "-"), b"copied")
        self.refused("404", "s3", "cp", "s3://open/to.txt", "-")

    def test_a_folder_is_synced_up_changed_and_synced_down(self):
        for service in (HTTP, HTTPS):
            self.ok("s3", "rm", "s3://open/tree", "--recursive", service=service)
            for name in ("a.txt", "b/c.txt", "b/d \u00e9.txt"):
                # aws sends a file again that is newer than the second in which its object was made.
                os.utime(self.file(name.encode(), f"tree/{name}"), (A_DAY_AGO, A_DAY_AGO))
            self.ok("s3", "sync", self.folder / "tree", "s3://open/tree", service=service)
            self.assertEqual(self.ok("s3", "sync", self.folder / "tree", "s3://open/tree", service=service), b"")
            (self.folder / "tree/a.txt").unlink()
            self.file(b"changed in length", "tree/b/c.txt")
            self.ok("s3", "sync", self.folder / "tree", "s3://open/tree", "--delete", service=service)
            down = self.folder / "down"
            self.ok("s3", "sync", "s3://open/tree", down, service=service)
            found = {path.relative_to(down).as_posix(): path.read_bytes() for path in down.rglob("*") if path.is_file()}
            self.assertEqual(found, {"b/c.txt": b"changed in length", "b/d \u00e9.txt": "b/d \u00e9.txt".encode()})

    def test_buckets_are_made_listed_and_removed(self):
        self.ok("s3", "mb", "s3://made-by-hand")
        self.assertIn(b"made-by-hand", self.ok("s3", "ls"))
        self.ok("s3", "cp", self.file(), "s3://made-by-hand/x/y.txt")
        self.assertIn(b"PRE x/", self.ok("s3", "ls", "s3://made-by-hand"))
        self.refused("BucketNotEmpty", "s3", "rb", "s3://made-by-hand")
        self.ok("s3", "rb", "s3://made-by-hand", "--force")
        self.assertNotIn(b"made-by-hand", self.ok("s3", "ls"))

    def test_an_address_is_presigned(self):
        self.ok("s3", "cp", self.file(b"by address"), "s3://demo/presigned.txt")
        address = self.ok("s3", "presign", "s3://demo/presigned.txt").decode().strip()
        got = subprocess.run(["curl", "-sS", address], capture_output=True, timeout=60).stdout
        self.assertEqual(got, b"by address")

    def test_a_missing_bucket_and_a_missing_key_end_with_an_error(self):
        self.refused("NoSuchBucket", "s3", "cp", self.file(), "s3://nowhere-at-all/one.txt")
        self.refused("404", "s3", "cp", "s3://demo/absent", self.folder / "x")
        self.refused("NoSuchKey", "s3api", "get-object", "--bucket", "demo", "--key", "absent", self.folder / "x")

    def test_a_wrong_secret_ends_with_an_error(self):
        done = subprocess.run(
            ["aws", *HTTP, "s3", "ls"], env={**ENVIRONMENT, "AWS_SECRET_ACCESS_KEY": "wrong"}, capture_output=True, timeout=60
        )
        self.assertIn(b"SignatureDoesNotMatch", done.stderr)
