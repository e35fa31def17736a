"""What the suites share: clients of two accounts, buckets named after their test, and requests signed by hand in either dialect."""

import base64
import datetime
import hashlib
import hmac
import html
import http.client
import itertools
import json
import os
import re
import unittest
import urllib.parse

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

URL = os.environ["TRIPTYCH_OBJECT_URL"]
REGION = os.environ["TRIPTYCH_OBJECT_REGION"]
OWNER = (os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"], os.environ["TRIPTYCH_OBJECT_SECRET_KEY"])
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
UTC = datetime.timezone.utc
NUMBERS = itertools.count(1)
# Tests that whoever runs a file takes out by name, for what stands before the service.
LEFT_OUT = set(os.environ.get("TRIPTYCH_OBJECT_LEFT_OUT", "").split())

with open(os.environ["TRIPTYCH_OBJECT_SEED"], encoding="utf-8") as _seed:
    ACCOUNTS = json.load(_seed)["accounts"]
GUEST = (ACCOUNTS[1]["keys"][0]["accessKeyId"], ACCOUNTS[1]["keys"][0]["secretAccessKey"])
ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers"
SIGNED_USERS = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"


def ready_url(path):
    """The address that a service has written into its ready file."""
    with open(path, encoding="utf-8") as ready:
        return json.load(ready)["url"]


def client(key=OWNER, url=URL, **config):
    """A boto3 client of a key; without one, an anonymous client."""
    settings = {"s3": {"addressing_style": "path"}, "retries": {"max_attempts": 1}, **config}
    if key is None:
        settings["signature_version"] = UNSIGNED
    return boto3.client(
        "s3",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=key and key[0],
        aws_secret_access_key=key and key[1],
        config=Config(**settings),
    )


class Dialect:
    """The words of one of the two vocabularies."""

    def __init__(self, header, query, algorithm, key_prefix, scope_end, service):
        self.header, self.query, self.algorithm = header, query, algorithm
        self.key_prefix, self.scope_end, self.service = key_prefix, scope_end, service

    def signing_key(self, secret, day, region=REGION):
        key = (self.key_prefix + secret).encode()
        for part in (day, region, self.service, self.scope_end):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


AMZ = Dialect("x-amz-", "X-Amz-", "AWS4-HMAC-SHA256", "AWS4", "aws4_request", "s3")
STORE = Dialect("x-store-", "X-Store-", "STORE4-HMAC-SHA256", "STORE4", "store4_request", "store")
DIALECTS = (AMZ, STORE)


class Answer:
    """Status, headers (lower case) and body of a response; the fields of its XML by name."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def field(self, name):
        found = re.search(rf"<{name}>(.*?)</{name}>".encode(), self.body, re.DOTALL)
        return found and html.unescape(found.group(1).decode())

    @property
    def code(self):
        return self.field("Code")

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:600]!r}"


def sign(method, target, headers, dialect=AMZ, key=OWNER, payload=EMPTY_SHA256, now=None, region=REGION):
    """`headers` with those of a signature; all of them are signed."""
    now = now or datetime.datetime.now(UTC)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    signed = {"host": URL.removeprefix("http://"), **{name.lower(): value for name, value in headers.items()}}
    if payload is not None:
        signed.setdefault(dialect.header + "content-sha256", payload)
    if "date" not in signed:
        signed.setdefault(dialect.header + "date", stamp)
    path, _, query = target.partition("?")
    pairs = sorted(pair if "=" in pair else pair + "=" for pair in query.split("&") if pair)
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{' '.join(str(signed[name]).split())}\n" for name in sorted(signed))
    canonical = "\n".join([method, path, "&".join(pairs), lines, names, payload or EMPTY_SHA256])
    scope = f"{day}/{region}/{dialect.service}/{dialect.scope_end}"
    text = "\n".join([dialect.algorithm, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    signature = hmac.new(dialect.signing_key(key[1], day, region), text.encode(), hashlib.sha256).hexdigest()
    signed["authorization"] = (
        f"{dialect.algorithm} Credential={key[0]}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return signed


def send(method, target, headers=(), body=b"", keep_length=True):
    """Sends headers exactly as they are, and gives the answer."""
    connection = http.client.HTTPConnection(URL.removeprefix("http://"), timeout=60)
    try:
        headers = dict(headers)
        connection.putrequest(method, target, skip_host="host" in headers, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if keep_length and "content-length" not in headers and "transfer-encoding" not in headers:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders()
        connection.send(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def request(method, target, headers=(), body=b"", dialect=AMZ, key=OWNER, payload=None, now=None, region=REGION, **options):
    """A signed request. Names of headers that start with a dash are the service's own, in the words of the dialect."""
    if isinstance(body, str):
        body = body.encode()
    named = {(dialect.header + name[1:] if name.startswith("-") else name): value for name, value in dict(headers).items()}
    payload = hashlib.sha256(body).hexdigest() if payload is None else payload
    if key is None:
        return send(method, target, named, body, **options)
    return send(method, target, sign(method, target, named, dialect, key, payload, now, region), body, **options)


def quote(key):
    return urllib.parse.quote(key, safe="/~")


def digest64(name, body):
    return base64.b64encode(hashlib.new(name, body).digest()).decode()


class Suite(unittest.TestCase):
    """A test with the clients of the owner and of a guest, and without keys."""

    def __init_subclass__(cls):
        # What is no function the loader passes over.
        for name in LEFT_OUT & vars(cls).keys():
            setattr(cls, name, None)

    @classmethod
    def setUpClass(cls):
        cls.s3, cls.guest, cls.anonymous = client(), client(GUEST), client(None)

    def bucket(self, ownership=None, versioning=None, **settings):
        """A new bucket, named after the test."""
        start = self.id().rsplit(".", 1)[1].removeprefix("test_").replace("_", "-")[:50].strip("-")
        name = f"{start}-{next(NUMBERS)}"
        if ownership:
            settings["ObjectOwnership"] = ownership
        self.s3.create_bucket(Bucket=name, **settings)
        if versioning:
            self.versioning(name, versioning)
        return name

    def versioning(self, bucket, status):
        self.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})

    def put(self, bucket, key="k", body=b"body", **arguments):
        return self.s3.put_object(Bucket=bucket, Key=key, Body=body, **arguments)

    def body(self, bucket, key="k", **arguments):
        return self.s3.get_object(Bucket=bucket, Key=key, **arguments)["Body"].read()

    def fill(self, bucket, keys):
        for key in keys:
            self.put(bucket, key, key.encode())

    def refused(self, status, code, call, **arguments):
        """The error of a call that must fail with this status and code."""
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        response = caught.exception.response
        self.assertEqual((response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]), (status, code))
        return response["Error"]

    def is_refused(self, answer, status, code, **fields):
        """A raw answer that must be this error, with these fields."""
        self.assertEqual((answer.status, answer.code), (status, code), answer)
        for name, value in fields.items():
            self.assertEqual(answer.field(name), value, answer)
        self.assertTrue(answer.field("RequestId"), answer)

    def put_policy(self, bucket, *statements):
        policy = {"Version": "2012-10-17", "Statement": list(statements)}
        self.s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))
