"""Access points and websites on hosts of their own, and signatures with a key pair, as stock clients make them."""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import boto3
from awscrt.auth import AwsCredentialsProvider, AwsSignatureType, AwsSigningAlgorithm, AwsSignedBodyHeaderType, AwsSigningConfig, aws_sign_request
from awscrt.http import HttpHeaders, HttpRequest
from botocore.config import Config
from botocore.exceptions import ClientError

REGION, ACCOUNT, KEY, SECRET = "us-east-1", "111122223333", "POINTS", "points-secret"
POINT = f"arn:aws:s3:{REGION}:{ACCOUNT}:accesspoint/myap"
WEBSITES = "web.test"
SEED = {
    "dialect": "amz",
    "accounts": [{"id": ACCOUNT, "keys": [{"accessKeyId": KEY, "secretAccessKey": SECRET}]}],
    "buckets": [{"name": "behind", "owner": ACCOUNT}, {"name": "site", "owner": ACCOUNT, "public": "read"},
                {"name": "rack", "owner": ACCOUNT, "kind": "on-premises", "deployment": "op-01234567890123456"}],
    "accessPoints": [{"name": "myap", "account": ACCOUNT, "bucket": "behind", "alias": "myap-x1--s3alias"},
                     {"name": "outap", "account": ACCOUNT, "bucket": "rack"}],
}
_resolve = socket.getaddrinfo


def resolve(host, *rest, **named):
    own = isinstance(host, str) and host.endswith(".localhost")
    return _resolve("127.0.0.1" if own else host, *rest, **named)


def setUpModule():
    global server, port, folder
    socket.getaddrinfo = resolve
    folder = tempfile.TemporaryDirectory()
    base = pathlib.Path(folder.name)
    (base / "seed.json").write_text(json.dumps(SEED), encoding="utf-8")
    command = [
        os.environ["TRIPTYCH_OBJECT_BINARY"], "--port", "0", "--data", base / "data", "--seed", base / "seed.json",
        "--ready-file", base / "ready.json", "--log", base / "log", "--website-host", WEBSITES,
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (base / "ready.json").exists():
        assert time.monotonic() < end and server.poll() is None, "it did not get ready"
        threading.Event().wait(0.05)
    port = urllib.parse.urlsplit(json.loads((base / "ready.json").read_text(encoding="utf-8"))["url"]).port


def tearDownModule():
    server.terminate()
    server.wait()
    folder.cleanup()
    socket.getaddrinfo = _resolve


def client():
    return boto3.client(
        "s3", endpoint_url=f"http://localhost:{port}", region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
        config=Config(retries={"max_attempts": 1}),
    )  # fmt: skip


def exchange(method, target, headers, body=b""):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def sign(method, path, kind, regions=REGION, secret=SECRET):
    """Path and headers of a request that the common runtime signs with a key pair."""
    request = HttpRequest(method, path, HttpHeaders([("host", f"localhost:{port}")]))
    config = AwsSigningConfig(
        algorithm=AwsSigningAlgorithm.V4_ASYMMETRIC, signature_type=kind, region=regions, service="s3",
        credentials_provider=AwsCredentialsProvider.new_static(KEY, secret), use_double_uri_encode=False,
        should_normalize_uri_path=False, signed_body_value="UNSIGNED-PAYLOAD",
        signed_body_header_type=AwsSignedBodyHeaderType.X_AMZ_CONTENT_SHA_256 if kind == AwsSignatureType.HTTP_REQUEST_HEADERS else AwsSignedBodyHeaderType.NONE,
        expiration_in_seconds=60 if kind == AwsSignatureType.HTTP_REQUEST_QUERY_PARAMS else None,
    )  # fmt: skip
    signed = aws_sign_request(request, config).result(10)
    return signed.path, dict(signed.headers)


class AccessPoints(unittest.TestCase):
    def test_boto3_drives_one_by_arn_and_by_alias(self):
        s3 = client()
        for bucket in (POINT, "myap-x1--s3alias"):
            s3.put_object(Bucket=bucket, Key="dir/k", Body=b"through", Metadata={"a": "b"})
            got = s3.get_object(Bucket=bucket, Key="dir/k")
            self.assertEqual((got["Body"].read(), got["Metadata"]), (b"through", {"a": "b"}))
            listed = s3.list_objects_v2(Bucket=bucket)["Contents"]
            self.assertEqual([own["Key"] for own in listed], ["dir/k"])
            self.assertEqual(s3.get_object(Bucket="behind", Key="dir/k")["Body"].read(), b"through")
            s3.copy_object(Bucket="site", Key="copy", CopySource={"Bucket": bucket, "Key": "dir/k"})
            s3.delete_object(Bucket=bucket, Key="dir/k")
            with self.assertRaises(ClientError) as caught:
                s3.put_bucket_versioning(Bucket="myap-x1--s3alias", VersioningConfiguration={"Status": "Enabled"})
            self.assertEqual(caught.exception.response["Error"]["Code"], "MethodNotAllowed")


class OnPremises(unittest.TestCase):
    def test_boto3_drives_one_by_arn_with_a_key_pair(self):
        s3 = client()

        def plainly(request, **_):
            # To such ARNs the client speaks TLS alone, which its signature does not cover.
            request.url = request.url.replace("https://", "http://", 1)

        s3.meta.events.register("before-send.s3", plainly)
        bucket = f"arn:aws:s3-outposts:{REGION}:{ACCOUNT}:outpost/op-01234567890123456/accesspoint/outap"
        for body in (b"", b"here", b"r" * 300_000):
            s3.put_object(Bucket=bucket, Key="dir/k", Body=body)
            got = s3.get_object(Bucket=bucket, Key="dir/k")
            self.assertEqual((got["Body"].read(), got["StorageClass"]), (body, "OUTPOSTS"))
        with self.assertRaises(ClientError) as caught:
            s3.put_object(Bucket=bucket, Key="k", Body=b"", StorageClass="STANDARD")
        self.assertEqual(caught.exception.response["Error"]["Code"], "InvalidStorageClass")
        s3.delete_object(Bucket=bucket, Key="dir/k")


class KeyPairs(unittest.TestCase):
    def test_signatures_of_the_common_runtime_are_taken(self):
        client().put_object(Bucket="behind", Key="a b/k", Body=b"signed")
        for kind in (AwsSignatureType.HTTP_REQUEST_HEADERS, AwsSignatureType.HTTP_REQUEST_QUERY_PARAMS):
            for regions in (REGION, "*", "us-*", f"eu-west-1,{REGION}"):
                for _ in range(8):
                    path, headers = sign("GET", "/behind/a%20b/k", kind, regions)
                    status, _, body = exchange("GET", path, headers)
                    self.assertEqual((status, body), (200, b"signed"), (kind, regions))
            path, headers = sign("GET", "/behind/a%20b/k", kind, "eu-west-1")
            self.assertEqual(exchange("GET", path, headers)[0], 400)
            path, headers = sign("GET", "/behind/a%20b/k", kind, secret="another")
            status, _, body = exchange("GET", path, headers)
            self.assertEqual(status, 403)
            self.assertIn(b"<Code>SignatureDoesNotMatch</Code>", body)


class Websites(unittest.TestCase):
    def test_a_website_is_put_shown_and_deleted(self):
        s3 = client()
        rules = [{"Condition": {"KeyPrefixEquals": "old/"}, "Redirect": {"ReplaceKeyPrefixWith": "new/", "HttpRedirectCode": "302"}}]
        website = {"IndexDocument": {"Suffix": "index.html"}, "ErrorDocument": {"Key": "oops.html"}, "RoutingRules": rules}
        s3.put_bucket_website(Bucket="site", WebsiteConfiguration=website)
        got = s3.get_bucket_website(Bucket="site")
        self.assertEqual({name: got[name] for name in website}, website)
        for key, body in (("index.html", b"home"), ("oops.html", b"oops"), ("new/p", b"new")):
            s3.put_object(Bucket="site", Key=key, Body=body, ContentType="text/html")
        s3.put_object(Bucket="site", Key="away", Body=b"", WebsiteRedirectLocation="http://elsewhere.test/x")
        visit = lambda path: exchange("GET", path, {"host": f"site.{WEBSITES}"})  # noqa: E731
        self.assertEqual((visit("/")[0], visit("/")[2]), (200, b"home"))
        self.assertEqual((visit("/none")[0], visit("/none")[2]), (404, b"oops"))
        status, headers, _ = visit("/old/p")
        self.assertEqual((status, headers["location"]), (302, f"http://site.{WEBSITES}/new/p"))
        status, headers, _ = visit("/away")
        self.assertEqual((status, headers["location"]), (301, "http://elsewhere.test/x"))
        s3.delete_bucket_website(Bucket="site")
        self.assertEqual(visit("/")[0], 404)


if __name__ == "__main__":
    sys.exit(unittest.main())
