"""Directory buckets for the suites: names that resolve, clients of the zonal endpoint, and requests signed with a session by hand."""

import itertools
import json
import os
import socket

import boto3
from botocore.config import Config
from suite import OWNER, REGION, URL, Dialect, Suite, request, send

PORT = URL.rsplit(":", 1)[1]
HOST = f"localhost:{PORT}"
ZONE = "use1-az4"
NUMBERS = itertools.count(1)
EXPRESS = Dialect("x-amz-", "X-Amz-", "AWS4-HMAC-SHA256", "AWS4", "aws4_request", "s3express")
STORE_EXPRESS = Dialect("x-store-", "X-Store-", "STORE4-HMAC-SHA256", "STORE4", "store4_request", "s3express")
ADMIN = {"authorization": f"Bearer {os.environ['TRIPTYCH_OBJECT_ADMIN_TOKEN']}"}

_resolve = socket.getaddrinfo


def _of_this_machine(host, *arguments, **options):
    # Not every resolver knows the names below localhost.
    name = host.decode() if isinstance(host, bytes) else host
    return _resolve("127.0.0.1" if name and name.endswith(".localhost") else host, *arguments, **options)


socket.getaddrinfo = _of_this_machine


def zonal(key=OWNER, **s3):
    """A boto3 client of the zonal endpoint; it makes and renews sessions by itself."""
    config = Config(s3=s3, retries={"max_attempts": 1})
    return boto3.client(
        "s3", endpoint_url=f"http://{HOST}", region_name=REGION, aws_access_key_id=key[0], aws_secret_access_key=key[1], config=config
    )  # fmt: skip


def configuration(zone=ZONE, kind="AvailabilityZone", redundancy="SingleAvailabilityZone"):
    return {"Location": {"Name": zone, "Type": kind}, "Bucket": {"Type": "Directory", "DataRedundancy": redundancy}}


def clock(**change):
    """Moves the clock of the service."""
    answer = send("POST", "/_ops/clock", ADMIN, json.dumps(change).encode())
    assert answer.status == 200, answer


class DirectorySuite(Suite):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.zonal = zonal()
        cls.control = zonal(disable_s3_express_session_auth=True)

    def directory(self, kind="AvailabilityZone", zone=ZONE, redundancy="SingleAvailabilityZone"):
        name = f"d{next(NUMBERS)}-{os.getpid()}--{zone}--x-s3"
        # As whoever names the endpoint does: boto3 asks for a session of the bucket before it makes it.
        self.zonal.create_bucket(Bucket=name, CreateBucketConfiguration=configuration(zone, kind, redundancy))
        return name

    def session(self, bucket, mode=None, dialect=EXPRESS, key=OWNER, **headers):
        """The credentials of a new session."""
        asked = {"host": f"{bucket}.{HOST}", **({"-create-session-mode": mode} if mode else {}), **headers}
        answer = request("GET", "/?session=", asked, dialect=dialect, key=key)
        if answer.status != 200:
            return answer
        return answer.field("AccessKeyId"), answer.field("SecretAccessKey"), answer.field("SessionToken")

    def within(self, session, method, bucket, target, headers=(), body=b"", dialect=EXPRESS, **options):
        """A request signed with a session."""
        headers = {"host": f"{bucket}.{HOST}", "-s3session-token": session[2], **dict(headers)}
        return request(method, target, headers, body, dialect=dialect, key=session[:2], **options)

    def plain(self, method, bucket, target, headers=(), body=b"", dialect=EXPRESS, key=OWNER, **options):
        """A request to the bucket's host signed with the account's own key."""
        return request(method, target, {"host": f"{bucket}.{HOST}", **dict(headers)}, body, dialect=dialect, key=key, **options)
