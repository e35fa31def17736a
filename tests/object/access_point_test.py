"""Access points and websites on hosts of their own, and signatures with a key pair, as stock clients make them."""

import base64
import datetime
import hashlib
import hmac
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
import zlib

import boto3
from awscrt.auth import AwsCredentialsProvider, AwsSignatureType, AwsSigningAlgorithm, AwsSignedBodyHeaderType, AwsSigningConfig, aws_sign_request
from awscrt.http import HttpHeaders, HttpRequest
from botocore.config import Config
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

REGION, ACCOUNT, KEY, SECRET = "us-east-1", "111122223333", "POINTS", "points-secret"
POINT = f"arn:aws:s3:{REGION}:{ACCOUNT}:accesspoint/myap"
DIRECTORY_POINT, READ_POINT = "mine--use1-az4--xa-s3", "read--use1-az4--xa-s3"
WEBSITES = "web.test"
SEED = {
    "dialect": "amz",
    "accounts": [{"id": ACCOUNT, "keys": [{"accessKeyId": KEY, "secretAccessKey": SECRET}]}],
    "buckets": [{"name": "behind", "owner": ACCOUNT}, {"name": "site", "owner": ACCOUNT, "public": "read"},
                {"name": "rack", "owner": ACCOUNT, "kind": "on-premises", "deployment": "op-01234567890123456"},
                {"name": "fast--use1-az4--x-s3", "owner": ACCOUNT, "kind": "directory"}],
    "accessPoints": [{"name": "myap", "account": ACCOUNT, "bucket": "behind", "alias": "myap-x1--s3alias"},
                     {"name": "outap", "account": ACCOUNT, "bucket": "rack"},
                     {"name": DIRECTORY_POINT, "account": ACCOUNT, "bucket": "fast--use1-az4--x-s3"},
                     {"name": READ_POINT, "account": ACCOUNT, "bucket": "fast--use1-az4--x-s3", "policy": {"Statement": [
                         {"Effect": "Deny", "Principal": "*", "Action": "s3express:CreateSession",
                          "Resource": f"arn:aws:s3express:{REGION}:{ACCOUNT}:accesspoint/{READ_POINT}",
                          "Condition": {"StringEquals": {"s3express:SessionMode": "ReadWrite"}}}]}}],
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


def client(**config):
    return boto3.client(
        "s3", endpoint_url=f"http://localhost:{port}", region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=SECRET,
        config=Config(retries={"max_attempts": 1}, **config),
    )  # fmt: skip


def exchange(method, target, headers, body=b""):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
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


class DirectoryAccessPoints(unittest.TestCase):
    def test_boto3_drives_one_by_name_with_sessions_of_its_own(self):
        s3 = client()
        asked = []
        s3.meta.events.register("before-call.s3.CreateSession", lambda params, **_: asked.append(params["url"]))
        for bucket in (DIRECTORY_POINT, "fast--use1-az4--x-s3"):
            s3.put_object(Bucket=bucket, Key="dir/k", Body=b"through", Metadata={"a": "b"})
            s3.put_object(Bucket=bucket, Key="dir/k", Body=b" and on", WriteOffsetBytes=7)
            got = s3.get_object(Bucket=bucket, Key="dir/k")
            self.assertEqual((got["Body"].read(), got["Metadata"]), (b"through and on", {"a": "b"}))
            listed = s3.list_objects_v2(Bucket=bucket, Prefix="dir/")["Contents"]
            self.assertEqual([own["Key"] for own in listed], ["dir/k"])
            s3.copy_object(Bucket="site", Key="copy", CopySource={"Bucket": bucket, "Key": "dir/k"})
            self.assertEqual(s3.get_object(Bucket="site", Key="copy")["Body"].read(), b"through and on")
        # The client asked each of the two for a session, and renews neither while it is good.
        self.assertEqual(len(asked), 2, asked)
        s3.head_bucket(Bucket=DIRECTORY_POINT)
        s3.delete_object(Bucket=DIRECTORY_POINT, Key="dir/k")
        self.assertEqual(s3.list_objects_v2(Bucket="fast--use1-az4--x-s3")["KeyCount"], 0)

    def test_one_whose_policy_lets_read_gives_sessions_that_read(self):
        s3 = client()
        s3.put_object(Bucket="fast--use1-az4--x-s3", Key="r", Body=b"kept")
        self.assertEqual(s3.get_object(Bucket=READ_POINT, Key="r")["Body"].read(), b"kept")
        for call in (lambda: s3.put_object(Bucket=READ_POINT, Key="r", Body=b""), lambda: s3.delete_object(Bucket=READ_POINT, Key="r")):
            with self.assertRaises(ClientError) as caught:
                call()
            self.assertEqual(caught.exception.response["Error"]["Code"], "AccessDenied")
        with self.assertRaises(ClientError) as caught:
            s3.get_object(Bucket="none--use1-az4--xa-s3", Key="r")
        self.assertEqual(caught.exception.response["Error"]["Code"], "NoSuchAccessPoint")

    def test_one_neither_deletes_nor_configures_its_bucket(self):
        control = client(s3={"disable_s3_express_session_auth": True})
        for call in (control.delete_bucket, control.get_bucket_policy, control.delete_bucket_encryption):
            with self.assertRaises(ClientError) as caught:
                call(Bucket=DIRECTORY_POINT)
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


class KeyPairChunks(unittest.TestCase):
    """Bodies whose chunks and trailers a signer of its own signs with a key pair: the common runtime signs heads alone."""

    ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

    def key(self, algorithm):
        prefix, counter = algorithm.split("-")[0], 1
        fixed = (1).to_bytes(4, "big") + algorithm.encode() + b"\0" + KEY.encode()
        while True:
            number = int.from_bytes(
                hmac.digest(f"{prefix}A{SECRET}".encode(), fixed + bytes([counter]) + (256).to_bytes(4, "big"), "sha256"), "big")  # fmt: skip
            if number <= self.ORDER - 2:
                return ec.derive_private_key(number + 1, ec.SECP256R1())
            counter += 1

    def upload(self, algorithm, prefix, end, pieces, trailer, change=lambda frames: frames):
        key = self.key(algorithm)
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{now[:8]}/s3/{end}"
        digest = lambda body: hashlib.sha256(body).hexdigest()  # noqa: E731
        sign = lambda *lines: key.sign("\n".join(lines).encode(), ec.ECDSA(hashes.SHA256())).hex()  # noqa: E731
        body = b"".join(pieces)
        payload = f"STREAMING-{algorithm}-PAYLOAD" + ("-TRAILER" if trailer else "")
        headers = {
            "content-encoding": "aws-chunked", "host": f"localhost:{port}", f"{prefix}content-sha256": payload, f"{prefix}date": now,
            f"{prefix}decoded-content-length": str(len(body)), f"{prefix}region-set": REGION,
        }  # fmt: skip
        checksum = f"{prefix}checksum-crc32"
        if trailer:
            headers[f"{prefix}trailer"] = checksum
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = f"PUT\n/behind/chunked\n\n{lines}\n{names}\n{payload}"
        previous = sign(algorithm, now, scope, digest(canonical.encode()))
        headers["authorization"] = f"{algorithm} Credential={KEY}/{scope}, SignedHeaders={names}, Signature={previous}"
        frames = []
        for piece in [*pieces, b""]:
            previous = sign(f"{algorithm}-PAYLOAD", now, scope, previous, digest(b""), digest(piece))
            frames.append(f"{len(piece):x};chunk-signature={previous}\r\n".encode() + piece + (b"\r\n" if piece else b""))
        if trailer:
            value = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
            signed = sign(f"{algorithm}-TRAILER", now, scope, previous, digest(f"{checksum}:{value}\n".encode()))
            frames.append(f"{checksum}:{value}\r\n{prefix}trailer-signature:{signed}\r\n".encode())
        return exchange("PUT", "/behind/chunked", headers, b"".join(change([*frames, b"\r\n"])))

    def test_chunks_and_trailers_of_a_signer_of_its_own_are_taken_whole_or_not_at_all(self):
        s3 = client()
        pieces = [b"a" * 8192, b"b" * 8192, b"end"]
        for words in (("AWS4-ECDSA-P256-SHA256", "x-amz-", "aws4_request"), ("STORE4-ECDSA-P256-SHA256", "x-store-", "store4_request")):
            for trailer in (False, True):
                status, _, answer = self.upload(*words, pieces, trailer)
                self.assertEqual(status, 200, answer)
                self.assertEqual(s3.get_object(Bucket="behind", Key="chunked")["Body"].read(), b"".join(pieces))
                s3.delete_object(Bucket="behind", Key="chunked")
                for change, expected in (
                    (lambda frames: [frames[0].replace(b"aaaa", b"aaab", 1), *frames[1:]], b"SignatureDoesNotMatch"),
                    (lambda frames: [frames[1], frames[0], *frames[2:]], b"SignatureDoesNotMatch"),
                    (lambda frames: [frames[0], *frames[2:]], b"SignatureDoesNotMatch"),
                    (lambda frames: frames[:2], b"IncompleteBody"),
                    # Without its last chunk, or without the trailer that it announced; the empty line behind them may be missing.
                    (lambda frames: frames[:-2], b"MalformedTrailerError" if trailer else b"IncompleteBody"),
                ):
                    status, _, answer = self.upload(*words, pieces, trailer, change)
                    self.assertIn(b"<Code>" + expected + b"</Code>", answer)
                    self.assertEqual(s3.list_objects_v2(Bucket="behind", Prefix="chunked")["KeyCount"], 0)


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
