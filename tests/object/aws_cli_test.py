"""The aws command line, unmodified: every option of put-object, copies and syncs over http and https, and the errors it ends with."""

import base64
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import zlib

ENVIRONMENT = {
    **os.environ,
    "AWS_ACCESS_KEY_ID": os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
    "AWS_SECRET_ACCESS_KEY": os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
    "AWS_DEFAULT_REGION": os.environ["TRIPTYCH_OBJECT_REGION"],
    "AWS_EC2_METADATA_DISABLED": "true",
    "PYTHONWARNINGS": "ignore",
}
HTTP = ["--endpoint-url", os.environ["TRIPTYCH_OBJECT_URL"]]
HTTPS = ["--endpoint-url", os.environ["TRIPTYCH_OBJECT_TLS_URL"], "--no-verify-ssl"]
GUEST = "2f1d4c3b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff001"


def aws(*arguments, stdin=None, service=HTTP):
    command = ["aws", *service, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ok(self, *arguments, **options):
        done = aws(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def json(self, *arguments, **options):
        return json.loads(self.ok("s3api", *arguments, **options) or b"{}")

    def refused(self, code, *arguments, **options):
        done = aws(*arguments, **options)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(code, done.stderr.decode())

    def file(self, content=b"one", name="one.txt"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def put(self, bucket, key, *options, content=b"one", service=HTTP):
        source = self.file(content)
        return self.json(
            "put-object", "--bucket", bucket, "--key", key, "--body", source, *options, service=service
        )  # fmt: skip

    def head(self, bucket, key, *options, service=HTTP):
        return self.json("head-object", "--bucket", bucket, "--key", key, *options, service=service)


class PutObject(CommandLine):
    def test_options_that_describe_the_object_are_shown_again(self):
        self.put(
            "demo", "described",
            "--cache-control", "max-age=60", "--content-disposition", "inline", "--content-encoding", "gzip",
            "--content-language", "de", "--content-type", "text/plain", "--content-length", "3",
            "--expires", "2033-12-01T16:00:00Z", "--metadata", "color=blue,size=big", "--storage-class", "STANDARD_IA",
            "--website-redirect-location", "/other", "--tagging", "a=1&b=2", "--server-side-encryption", "AES256",
            "--request-payer", "requester", "--expected-bucket-owner", "111122223333",
        )  # fmt: skip
        head = self.head("demo", "described")
        for field, value in {
            "CacheControl": "max-age=60", "ContentDisposition": "inline", "ContentEncoding": "gzip", "ContentLanguage": "de",
            "ContentType": "text/plain", "ContentLength": 3, "Metadata": {"color": "blue", "size": "big"},
            "StorageClass": "STANDARD_IA", "WebsiteRedirectLocation": "/other", "ServerSideEncryption": "AES256",
        }.items():  # fmt: skip
            self.assertEqual(head[field], value)
        tags = self.json("get-object-tagging", "--bucket", "demo", "--key", "described")["TagSet"]
        self.assertEqual(tags, [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])

    def test_digests_are_checked_and_shown(self):
        md5 = base64.b64encode(hashlib.md5(b"one").digest()).decode()
        said = self.put("demo", "digested", "--content-md5", md5)
        self.assertEqual(said["ETag"], '"f97c5d29941bfb1b2fdab0874906ab82"')
        for algorithm, service in (
            ("CRC32", HTTP), ("CRC32C", HTTPS), ("CRC64NVME", HTTP), ("SHA1", HTTPS), ("SHA256", HTTP),
        ):  # fmt: skip
            said = self.put("demo", "digested", "--checksum-algorithm", algorithm, service=service)
            head = self.head("demo", "digested", "--checksum-mode", "ENABLED", service=service)
            self.assertEqual(said[f"Checksum{algorithm}"], head[f"Checksum{algorithm}"])
            self.assertEqual(said["ChecksumType"], "FULL_OBJECT")
        self.put("demo", "digested", "--checksum-crc32", base64.b64encode(zlib.crc32(b"one").to_bytes(4, "big")).decode())
        self.put("demo", "digested", "--checksum-sha256", base64.b64encode(hashlib.sha256(b"one").digest()).decode())
        source = self.file()
        start = ["s3api", "put-object", "--bucket", "demo", "--key", "no", "--body", source]
        for option, value in (
            ("crc32", "AAAAAA=="), ("crc32-c", "AAAAAA=="), ("crc64-nvme", "AAAAAAAAAAA="),
            ("sha1", "C+7Hteo/D9vJXQ3UfzxbwnXaijM="),
        ):  # fmt: skip
            self.refused("BadDigest", *start, f"--checksum-{option}", value)
        self.refused("InvalidDigest", *start, "--content-md5", "no")

    def test_conditions_are_kept(self):
        tag = self.put("demo", "conditional", "--if-none-match", "*")["ETag"]
        source = self.file()
        start = ["s3api", "put-object", "--bucket", "demo", "--key", "conditional", "--body", source]
        self.refused("PreconditionFailed", *start, "--if-none-match", "*")
        self.put("demo", "conditional", "--if-match", tag)
        self.refused("PreconditionFailed", *start, "--if-match", '"other"')

    def test_lists_and_grants_are_kept(self):
        self.put("open", "listed", "--acl", "public-read")
        grants = self.json("get-object-acl", "--bucket", "open", "--key", "listed")["Grants"]
        self.assertIn("READ", [grant["Permission"] for grant in grants])
        for option, permission in (
            ("--grant-read", "READ"), ("--grant-read-acp", "READ_ACP"), ("--grant-write-acp", "WRITE_ACP"),
            ("--grant-full-control", "FULL_CONTROL"),
        ):  # fmt: skip
            self.put("open", "granted", option, f"id={GUEST}")
            grants = self.json("get-object-acl", "--bucket", "open", "--key", "granted")["Grants"]
            found = [(grant["Grantee"].get("ID"), grant["Permission"]) for grant in grants]
            self.assertIn((GUEST, permission), found)

    def test_locks_are_kept(self):
        self.json("create-bucket", "--bucket", "cli-locks", "--object-lock-enabled-for-bucket")
        until = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        said = self.put(
            "cli-locks", "k", "--object-lock-mode", "GOVERNANCE", "--object-lock-retain-until-date", until,
            "--object-lock-legal-hold-status", "ON",
        )  # fmt: skip
        head = self.head("cli-locks", "k", "--version-id", said["VersionId"])
        self.assertEqual((head["ObjectLockMode"], head["ObjectLockLegalHoldStatus"]), ("GOVERNANCE", "ON"))
        start = ["s3api", "delete-object", "--bucket", "cli-locks", "--key", "k", "--version-id", said["VersionId"]]
        self.refused("AccessDenied", *start)

    def test_options_of_features_that_are_not_there_are_refused_by_name(self):
        start = ["s3api", "put-object", "--bucket", "demo", "--key", "no", "--body", self.file()]
        for options in (
            ("--server-side-encryption", "aws:kms"),
            ("--server-side-encryption", "aws:kms", "--ssekms-key-id", "k", "--bucket-key-enabled"),
            ("--write-offset-bytes", "0"),
        ):
            self.refused("NotImplemented", *start, *options)
        key = self.file(b"k" * 32, "key.bin")
        self.refused(
            "NotImplemented", *start, "--sse-customer-algorithm", "AES256", "--sse-customer-key", f"fileb://{key}",
            service=HTTPS,
        )  # fmt: skip
        self.refused("InvalidStorageClass", *start, "--storage-class", "OUTPOSTS")
        self.refused("AccessDenied", *start, "--expected-bucket-owner", "444455556666")


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
                self.file(name.encode(), f"tree/{name}")
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
