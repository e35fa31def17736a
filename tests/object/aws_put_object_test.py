"""The aws command line, unmodified: `s3api put-object` with every option that it has for general purpose buckets."""

import base64
import datetime
import hashlib
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from aws import GUEST, HTTP, HTTPS, CommandLine  # noqa: E402


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
        self.refused("NotImplemented", *start, "--write-offset-bytes", "0")
        self.refused("InvalidStorageClass", *start, "--storage-class", "OUTPOSTS")
        self.refused("AccessDenied", *start, "--expected-bucket-owner", "444455556666")
