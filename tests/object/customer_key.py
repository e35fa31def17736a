"""What the suites of customers' keys share: two keys, and a client that brings them over https."""

import os

import boto3
import urllib3
from botocore.config import Config
from suite import OWNER, REGION, Suite

urllib3.disable_warnings()
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def own(key=KEY):
    return {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": key}


class HttpsSuite(Suite):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tls = boto3.client(
            "s3",
            endpoint_url=os.environ["TRIPTYCH_OBJECT_TLS_URL"],
            region_name=REGION,
            aws_access_key_id=OWNER[0],
            aws_secret_access_key=OWNER[1],
            verify=False,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )
