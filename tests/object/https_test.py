"""Over https the stock clients stream their bodies in chunks with a trailer; over http they do not."""

import hashlib
import os
import unittest

import boto3
import urllib3
from botocore.config import Config

urllib3.disable_warnings()


class Streaming(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s3 = boto3.client(
            "s3",
            endpoint_url=os.environ["TRIPTYCH_OBJECT_TLS_URL"],
            region_name=os.environ["TRIPTYCH_OBJECT_REGION"],
            aws_access_key_id=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
            aws_secret_access_key=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
            verify=False,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )

    def test_bodies_of_many_sizes_come_back_whole_and_without_their_framing(self):
        for size in (0, 1, 65_536, 1_048_576, 3_000_001):
            body = os.urandom(size)
            self.s3.put_object(Bucket="demo", Key=f"tls/{size}", Body=body)
            got = self.s3.get_object(Bucket="demo", Key=f"tls/{size}")
            self.assertEqual(hashlib.sha256(got["Body"].read()).digest(), hashlib.sha256(body).digest(), size)
            self.assertNotIn("aws-chunked", got.get("ContentEncoding", ""))

    def test_a_trailing_checksum_is_checked_and_shown(self):
        for algorithm in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
            put = self.s3.put_object(Bucket="demo", Key="tls/sum", Body=b"x" * 100_000, ChecksumAlgorithm=algorithm)
            head = self.s3.head_object(Bucket="demo", Key="tls/sum", ChecksumMode="ENABLED")
            self.assertEqual(head[f"Checksum{algorithm}"], put[f"Checksum{algorithm}"])
