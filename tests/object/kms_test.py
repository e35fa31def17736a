"""Key-management keys: boto3 and the aws command line encrypt with keys of the embedded key service, which `object-put keys` rules."""

import base64
import hashlib
import json
import os
import subprocess
import unittest

from aws import CommandLine
from suite import GUEST, URL, Suite, client, request, send

OWNER_ID, GUEST_ID = "111122223333", "444455556666"
BODY = os.urandom(300_000)


def arn(number, account=OWNER_ID, region="us-east-1"):
    return f"arn:aws:kms:{region}:{account}:key/134f2428-cec1-4b25-a1ae-00000000000{number}"


def keys(*arguments):
    """`object-put keys` against the server of this run."""
    host, port = URL.removeprefix("http://").split(":")
    command = [os.environ["TRIPTYCH_OBJECT_BINARY"], "keys", *arguments, "--listen", host, "--port", port]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def new_key(*arguments):
    made = keys("create", *arguments)
    assert made.returncode == 0, made.stderr
    return made.stdout.split()[0]


def calls():
    return json.loads(send("GET", "/_ops/keys").body)["calls"]


class KeyManagementKeys(Suite):
    def test_each_mode_reads_back_and_names_its_key_by_arn(self):
        name = self.bucket()
        digest = f'"{hashlib.md5(BODY).hexdigest()}"'
        for mode in ("aws:kms", "aws:kms:dsse"):
            for key in (arn(1), arn(1).rpartition("/")[2], "alias/demo", f"arn:aws:kms:us-east-1:{OWNER_ID}:alias/demo"):
                put = self.put(name, body=BODY, ServerSideEncryption=mode, SSEKMSKeyId=key)
                got = self.s3.get_object(Bucket=name, Key="k")
                self.assertEqual(got["Body"].read(), BODY)
                for answer in (put, got, self.s3.head_object(Bucket=name, Key="k")):
                    self.assertEqual((answer["ServerSideEncryption"], answer["SSEKMSKeyId"]), (mode, arn(1)))
                    self.assertEqual(answer["ETag"], put["ETag"])
                self.assertNotEqual(put["ETag"], digest)
                part = self.s3.get_object(Bucket=name, Key="k", Range="bytes=65530-65545")["Body"].read()
                self.assertEqual(part, BODY[65530:65546])

    def test_without_a_name_it_is_the_key_that_the_provider_manages(self):
        name = self.bucket()
        first = self.put(name, ServerSideEncryption="aws:kms")["SSEKMSKeyId"]
        self.assertTrue(first.startswith(f"arn:aws:kms:us-east-1:{OWNER_ID}:key/"))
        self.assertEqual(self.put(name, ServerSideEncryption="aws:kms")["SSEKMSKeyId"], first)
        self.assertEqual(self.put(name, ServerSideEncryption="aws:kms", SSEKMSKeyId="alias/aws/s3")["SSEKMSKeyId"], first)
        shown = keys("list").stdout
        self.assertIn(first, shown)
        self.assertNotEqual(keys("disable", first).returncode, 0)

    def test_keys_that_cannot_be_used_are_refused(self):
        name = self.bucket()
        put = {"Bucket": name, "Key": "no", "Body": b"x", "ServerSideEncryption": "aws:kms"}
        for key, status, code, message in (
            ("fake-key-id", 400, "KMS.NotFoundException", "Invalid keyId 'fake-key-id'"),
            (arn(9).rpartition("/")[2], 400, "KMS.NotFoundException", f"Key '{arn(9)}' does not exist"),
            (arn(1, region="us-west-2"), 400, "KMS.NotFoundException", "Invalid arn us-west-2"),
            (arn(2, GUEST_ID), 403, "AccessDenied", "Access Denied"),
            (arn(3, GUEST_ID).rpartition("/")[2], 400, "KMS.NotFoundException", f"Key '{arn(3)}' does not exist"),
        ):
            refused = self.refused(status, code, self.s3.put_object, SSEKMSKeyId=key, **put)
            self.assertEqual(refused["Message"], message)
        self.refused(404, "404", self.s3.head_object, Bucket=name, Key="no")
        self.assertEqual(self.put(name, ServerSideEncryption="aws:kms", SSEKMSKeyId=arn(3, GUEST_ID))["SSEKMSKeyId"], arn(3, GUEST_ID))
        self.assertEqual(self.body(name), b"body")

    def test_a_disabled_key_opens_nothing_until_it_is_enabled(self):
        name, key = self.bucket(), new_key()
        for bucket_key in (False, True):
            self.put(name, ServerSideEncryption="aws:kms", SSEKMSKeyId=key, BucketKeyEnabled=bucket_key)
            self.assertEqual(self.body(name), b"body")
            self.assertEqual(keys("disable", key).returncode, 0)
            refused = self.refused(400, "KMS.DisabledException", self.s3.get_object, Bucket=name, Key="k")
            self.assertEqual(refused["Message"], f"{key} is disabled.")
            self.refused(400, "KMS.DisabledException", self.s3.copy_object, Bucket=name, Key="c", CopySource=f"{name}/k")
            self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["ContentLength"], 4)
            self.assertEqual(keys("enable", key).returncode, 0)
            self.assertEqual(self.body(name), b"body")
        self.assertEqual(keys("schedule-deletion", key, "--days", "7").returncode, 0)
        refused = self.refused(400, "KMS.KMSInvalidStateException", self.s3.get_object, Bucket=name, Key="k")
        self.assertEqual(refused["Message"], f"{key} is pending deletion.")
        self.assertEqual(keys("cancel-deletion", key).returncode, 0)
        self.assertEqual(keys("enable", key).returncode, 0)
        self.assertEqual(self.body(name), b"body")

    def test_a_rotated_key_opens_what_it_sealed_before(self):
        name, key = self.bucket(), new_key("--alias", "alias/turns")
        for turn in range(3):
            self.put(name, f"k{turn}", str(turn).encode(), ServerSideEncryption="aws:kms", SSEKMSKeyId="alias/turns")
            self.assertEqual(keys("rotate", "alias/turns").returncode, 0)
        other = new_key()
        self.assertEqual(keys("alias", other, "alias/turns").returncode, 0)
        put = self.put(name, "k3", b"3", ServerSideEncryption="aws:kms", SSEKMSKeyId="alias/turns")
        self.assertEqual(put["SSEKMSKeyId"], other)
        for turn in range(4):
            self.assertEqual(self.body(name, f"k{turn}"), str(turn).encode())
        self.assertEqual(self.s3.head_object(Bucket=name, Key="k0")["SSEKMSKeyId"], key)

    def test_a_context_is_repeated_by_a_write_alone(self):
        name = self.bucket()
        context = base64.b64encode(json.dumps({"department": "käse"}).encode()).decode()
        put = self.put(name, ServerSideEncryption="aws:kms", SSEKMSEncryptionContext=context)
        self.assertEqual(put["SSEKMSEncryptionContext"], context)
        head = request("HEAD", f"/{name}/k")
        self.assertNotIn("x-amz-server-side-encryption-context", head.headers)
        for odd in ("no base64", base64.b64encode(b"[]").decode(), base64.b64encode(b'{"a": {"b": "c"}}').decode()):
            self.refused(
                400, "InvalidArgument", self.s3.put_object, Bucket=name, Key="odd", Body=b"", ServerSideEncryption="aws:kms",
                SSEKMSEncryptionContext=odd,
            )  # fmt: skip

    def test_the_default_of_a_bucket_encrypts_what_asks_for_nothing(self):
        name = self.bucket()
        for mode in ("aws:kms", "aws:kms:dsse"):
            rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": mode, "KMSMasterKeyID": arn(1)}, "BucketKeyEnabled": False}
            self.s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
            found = self.s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
            self.assertEqual(found, [rule])
            put = self.put(name)
            self.assertEqual((put["ServerSideEncryption"], put["SSEKMSKeyId"]), (mode, arn(1)))
            self.assertEqual(self.put(name, ServerSideEncryption="AES256")["ServerSideEncryption"], "AES256")
            copied = self.s3.copy_object(Bucket=name, Key="copy", CopySource=f"{name}/k")
            self.assertEqual((copied["ServerSideEncryption"], copied["SSEKMSKeyId"]), (mode, arn(1)))
            self.assertEqual(self.body(name, "copy"), b"body")

    def test_one_call_serves_a_thousand_writes_with_a_bucket_key(self):
        name = self.bucket()
        before = calls()
        for number in range(1000):
            self.put(name, f"k{number % 10}", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn(1), BucketKeyEnabled=True)
        self.assertEqual(calls() - before, 1)
        self.assertTrue(self.s3.head_object(Bucket=name, Key="k0")["BucketKeyEnabled"])
        for number in range(10):
            self.assertEqual(self.body(name, f"k{number}"), b"body")
        self.assertEqual(calls() - before, 2)
        for number in range(10):
            self.put(name, ServerSideEncryption="aws:kms", SSEKMSKeyId=arn(1))
        self.assertEqual(calls() - before, 12)

    def test_an_account_needs_the_permissions_of_the_key_service_too(self):
        name = self.bucket()
        everything = {"Effect": "Allow", "Principal": {"AWS": GUEST_ID}, "Action": "s3:*", "Resource": f"arn:aws:s3:::{name}/*"}
        self.put_policy(name, everything)
        self.put(name, "sealed", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn(1))
        self.put(name, "plain")
        guest = client(GUEST)
        self.assertEqual(guest.get_object(Bucket=name, Key="plain")["Body"].read(), b"body")
        self.refused(403, "AccessDenied", guest.get_object, Bucket=name, Key="sealed")
        self.refused(403, "AccessDenied", guest.put_object, Bucket=name, Key="x", Body=b"", ServerSideEncryption="aws:kms")


class KeyManagementKeysOfTheCommandLine(CommandLine):
    def test_cp_encrypts_with_the_key_that_it_names(self):
        sent, received = self.file(BODY, "sent"), self.folder / "received"
        self.ok("s3", "cp", sent, "s3://demo/kms", "--sse", "aws:kms", "--sse-kms-key-id", "alias/demo")
        self.ok("s3", "cp", "s3://demo/kms", received)
        self.assertEqual(received.read_bytes(), BODY)
        said = self.head("demo", "kms")
        self.assertEqual((said["ServerSideEncryption"], said["SSEKMSKeyId"]), ("aws:kms", arn(1)))


class Commands(unittest.TestCase):
    def test_what_cannot_be_done_is_said_and_ends_with_a_code(self):
        for arguments, code in (
            (("enable", "alias/none"), 1),
            (("create", "--account", "999999999999"), 1),
            (("create", "--alias", "alias/aws/mine"), 1),
            (("schedule-deletion", arn(1), "--days", "3"), 1),
            (("cancel-deletion", arn(1)), 1),
        ):
            done = keys(*arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done)
            self.assertTrue(done.stderr.startswith("object-put keys: "), done)
        self.assertIn("alias/demo", keys("list").stdout)
