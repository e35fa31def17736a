"""A key service on the network: moto's as a real process, and one that hangs, lies, fails, or gives keys of another length."""

import base64
import http.server
import json
import subprocess
import sys
import threading
import unittest

from botocore.exceptions import ClientError
from own_process import REGION, Server, client


class WithMoto(unittest.TestCase):
    def setUp(self):
        start = "from moto.server import ThreadedMotoServer as M; s = M(port=0, verbose=False); s.start(); print(*s.get_host_and_port(), flush=True); input()"
        moto = subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(moto.wait)
        self.addCleanup(moto.terminate)
        _, port = moto.stdout.readline().split()
        self.addCleanup(moto.stdout.close)
        self.addCleanup(moto.stdin.close)
        self.url = f"http://127.0.0.1:{port}"
        self.kms = client("kms", self.url, "key-service-key", "key-service-secret")
        self.server = Server(self, self.url)
        self.s3 = self.server.s3

    def test_objects_are_encrypted_with_its_keys(self):
        key = self.kms.create_key()["KeyMetadata"]["Arn"]
        self.kms.create_alias(AliasName="alias/mine", TargetKeyId=key)
        context = base64.b64encode(b'{"a": "1"}').decode()
        place = {"Bucket": "demo", "Key": "k"}
        for name in (key, key.rpartition("/")[2], "alias/mine"):
            for more in ({}, {"BucketKeyEnabled": True}, {"SSEKMSEncryptionContext": context}):
                put = self.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms", SSEKMSKeyId=name, **more, **place)
                self.assertEqual(put["SSEKMSKeyId"], key)
                self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"body")
        put = self.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms:dsse", SSEKMSKeyId=key, **place)
        self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"body")
        managed = self.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms", **place)["SSEKMSKeyId"]
        self.assertNotEqual(managed, key)
        self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"body")

    def test_its_refusals_have_the_codes_of_the_real_service(self):
        key = self.kms.create_key()["KeyMetadata"]["Arn"]
        put = {"Bucket": "demo", "Key": "no", "Body": b"x", "ServerSideEncryption": "aws:kms"}
        with self.assertRaises(ClientError) as caught:
            self.s3.put_object(SSEKMSKeyId=key[:-4] + "0000", **put)
        self.assertEqual(caught.exception.response["Error"]["Code"], "KMS.NotFoundException")
        with self.assertRaises(ClientError) as caught:
            self.s3.head_object(Bucket="demo", Key="no")
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 404)


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers as its mode says."""

    mode, arn = "", f"arn:aws:kms:{REGION}:111122223333:key/134f2428-cec1-4b25-a1ae-000000000009"
    released = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = {"KeyId": self.arn, "CiphertextBlob": "c2VhbGVk", "Plaintext": base64.b64encode(b"k" * 32).decode()}
        status, text = 200, None
        if self.mode == "hangs":
            self.released.wait(20)
        elif self.mode == "fails":
            status = 500
        elif self.mode == "short":
            body["Plaintext"] = base64.b64encode(b"k" * 31).decode()
        elif self.mode == "long":
            body["Plaintext"] = base64.b64encode(b"k" * 33).decode()
        elif self.mode == "nothing":
            body = {}
        elif self.mode == "words":
            text = b"<html>"
        elif self.mode == "flood":
            text = b"x" * (4 * 1024 * 1024)
        text = json.dumps(body).encode() if text is None else text
        try:
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class WithOneThatLies(unittest.TestCase):
    def test_its_request_fails_no_other_and_nothing_is_stored(self):
        liar = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        threading.Thread(target=liar.serve_forever, daemon=True).start()
        self.addCleanup(liar.server_close)
        self.addCleanup(liar.shutdown)
        self.addCleanup(Liar.released.set)
        server = Server(self, f"http://127.0.0.1:{liar.server_address[1]}")
        s3 = server.s3
        put = {"Bucket": "demo", "Key": "no", "Body": b"x", "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": Liar.arn}
        for mode in ("fails", "short", "long", "nothing", "words", "flood", "hangs"):
            Liar.mode = mode
            refused = []

            def ask():
                try:
                    s3.put_object(**put)
                except ClientError as error:
                    refused.append(error.response)

            asking = threading.Thread(target=ask)
            asking.start()
            s3.put_object(Bucket="demo", Key="other", Body=b"other")
            self.assertEqual(s3.get_object(Bucket="demo", Key="other")["Body"].read(), b"other")
            asking.join()
            self.assertEqual([found["ResponseMetadata"]["HTTPStatusCode"] for found in refused], [503], mode)
            self.assertEqual(refused[0]["Error"]["Code"], "ServiceUnavailable", mode)
            with self.assertRaises(ClientError):
                s3.head_object(Bucket="demo", Key="no")
        Liar.mode = "good"
        self.assertEqual(s3.put_object(**put)["SSEKMSKeyId"], Liar.arn)
        # No file holds the key that it gave, nor the secret that signs the calls.
        for path in [*server.data.rglob("*"), server.log]:
            content = path.read_bytes() if path.is_file() else b""
            for secret in (b"k" * 32, base64.b64encode(b"k" * 32), b"key-service-secret"):
                self.assertNotIn(secret, content, path)
