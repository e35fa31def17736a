"""boto3, unmodified: buckets, objects, digests, conditions and the errors it raises."""

import base64
import hashlib
import os
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

URL = os.environ["TRIPTYCH_OBJECT_URL"]


def client(secret=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"], style="path"):
    return boto3.client(
        "s3",
        endpoint_url=URL,
        region_name=os.environ["TRIPTYCH_OBJECT_REGION"],
        aws_access_key_id=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
        aws_secret_access_key=secret,
        config=Config(s3={"addressing_style": style}, retries={"max_attempts": 1}),
    )


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s3 = client()
        cls.s3.create_bucket(Bucket="slice")

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response

    def test_a_put_object_is_read_back_with_its_metadata(self):
        body = b"hello, store"
        put = self.s3.put_object(
            Bucket="slice", Key="a/b c+d.txt", Body=body, ContentType="text/plain", Metadata={"color": "blue"}
        )
        self.assertEqual(put["ETag"], f'"{hashlib.md5(body).hexdigest()}"')
        got = self.s3.get_object(Bucket="slice", Key="a/b c+d.txt")
        self.assertEqual(got["Body"].read(), body)
        self.assertEqual(got["ContentType"], "text/plain")
        self.assertEqual(got["Metadata"], {"color": "blue"})
        head = self.s3.head_object(Bucket="slice", Key="a/b c+d.txt")
        self.assertEqual((head["ContentLength"], head["ETag"]), (len(body), put["ETag"]))

    def test_an_empty_object_is_an_object(self):
        self.s3.put_object(Bucket="slice", Key="empty", Body=b"")
        self.assertEqual(self.s3.get_object(Bucket="slice", Key="empty")["Body"].read(), b"")

    def test_a_later_put_replaces_the_object(self):
        for body in (b"one", b"two"):
            self.s3.put_object(Bucket="slice", Key="again", Body=body)
        self.assertEqual(self.s3.get_object(Bucket="slice", Key="again")["Body"].read(), b"two")

    def test_a_body_of_eight_megabytes_is_kept_whole(self):
        body = os.urandom(8 * 1024 * 1024 + 17)
        self.s3.put_object(Bucket="slice", Key="large", Body=body)
        got = self.s3.get_object(Bucket="slice", Key="large")["Body"].read()
        self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(body).digest())

    def test_a_checksum_that_is_right_is_answered_with(self):
        body = b"checked"
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        put = self.s3.put_object(Bucket="slice", Key="checked", Body=body, ChecksumSHA256=digest)
        self.assertEqual(put["ChecksumSHA256"], digest)

    def test_a_checksum_that_is_wrong_is_refused_and_nothing_is_stored(self):
        wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        self.refused(
            "BadDigest", self.s3.put_object, Bucket="slice", Key="unchecked", Body=b"x", ChecksumSHA256=wrong
        )
        self.refused("NoSuchKey", self.s3.get_object, Bucket="slice", Key="unchecked")

    def test_if_none_match_lets_one_writer_in(self):
        self.s3.put_object(Bucket="slice", Key="once", Body=b"1", IfNoneMatch="*")
        refused = self.refused(
            "PreconditionFailed", self.s3.put_object, Bucket="slice", Key="once", Body=b"2", IfNoneMatch="*"
        )
        self.assertEqual(refused["ResponseMetadata"]["HTTPStatusCode"], 412)
        self.assertEqual(self.s3.get_object(Bucket="slice", Key="once")["Body"].read(), b"1")

    def test_a_wrong_secret_is_refused(self):
        refused = self.refused(
            "SignatureDoesNotMatch", client("wrong").put_object, Bucket="slice", Key="no", Body=b"x"
        )
        self.assertEqual(refused["ResponseMetadata"]["HTTPStatusCode"], 403)

    def test_a_bucket_that_is_not_there_is_named(self):
        self.refused("NoSuchBucket", self.s3.put_object, Bucket="nowhere", Key="a", Body=b"x")

    def test_a_key_that_is_not_there_is_404(self):
        refused = self.refused("NoSuchKey", self.s3.get_object, Bucket="slice", Key="nothing")
        self.assertEqual(refused["ResponseMetadata"]["HTTPStatusCode"], 404)

    def test_a_seeded_bucket_is_there_before_ready(self):
        names = [bucket["Name"] for bucket in self.s3.list_buckets()["Buckets"]]
        self.assertIn("demo", names)
