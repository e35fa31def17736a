"""A key service on the network: moto's as a real process, and one that hangs, lies, fails, or gives keys of another length."""

import base64
import datetime
import http.server
import ipaddress
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
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
        self.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms:dsse", SSEKMSKeyId=key, **place)
        self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"body")
        managed = self.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms", **place)["SSEKMSKeyId"]
        self.assertNotEqual(managed, key)
        self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"body")

    def test_a_bucket_names_its_key_as_a_request_does(self):
        key = self.kms.create_key()["KeyMetadata"]["Arn"]
        self.kms.create_alias(AliasName="alias/mine", TargetKeyId=key)
        place = {"Bucket": "demo", "Key": "k"}
        self.addCleanup(self.s3.delete_bucket_encryption, Bucket="demo")
        for name in (key, key.rpartition("/")[2], "alias/mine"):
            default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": name}
            rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
            self.s3.put_bucket_encryption(Bucket="demo", ServerSideEncryptionConfiguration=rules)
            self.assertEqual(self.s3.put_object(Body=b"body", **place)["SSEKMSKeyId"], key, name)
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


    def test_its_calls_are_counted_by_operation_and_outcome(self):
        key = self.kms.create_key()["KeyMetadata"]["Arn"]
        put = {"Bucket": "demo", "Key": "counted", "Body": b"x", "ServerSideEncryption": "aws:kms"}
        for _ in range(3):
            self.s3.put_object(SSEKMSKeyId=key, **put)
        self.s3.get_object(Bucket="demo", Key="counted")
        with self.assertRaises(ClientError):
            self.s3.put_object(SSEKMSKeyId=key[:-4] + "0000", **put)
        with urllib.request.urlopen(f"{self.server.url}/_ops/metrics") as answer:
            lines = answer.read().decode().splitlines()
        self.assertIn('key_service_calls_total{operation="GenerateDataKey",outcome="ok"} 3', lines)
        self.assertIn('key_service_calls_total{operation="GenerateDataKey",outcome="refused"} 1', lines)
        self.assertIn('key_service_calls_total{operation="Decrypt",outcome="ok"} 1', lines)
        self.assertIn('key_service_call_seconds_count{operation="GenerateDataKey"} 4', lines)


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers as its mode says."""

    shown = None
    mode, arn = "", f"arn:aws:kms:{REGION}:111122223333:key/134f2428-cec1-4b25-a1ae-000000000009"
    released = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        Liar.shown = self.headers
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
        elif self.mode == "another":
            body["KeyId"] = self.arn[:-1] + "8"
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
        for mode in ("fails", "short", "long", "nothing", "words", "flood", "another", "hangs"):
            Liar.mode = mode
            refused = []

            def ask():
                try:
                    s3.put_object(**put, BucketKeyEnabled=mode == "hangs")
                except ClientError as error:
                    refused.append(error.response)

            # Who waits for one bucket key waits for one call.
            asking = [threading.Thread(target=ask) for _ in range(6 if mode == "hangs" else 1)]
            for each in asking:
                each.start()
            s3.put_object(Bucket="demo", Key="other", Body=b"other")
            self.assertEqual(s3.get_object(Bucket="demo", Key="other")["Body"].read(), b"other")
            for each in asking:
                each.join()
            self.assertEqual({found["ResponseMetadata"]["HTTPStatusCode"] for found in refused}, {503}, mode)
            self.assertEqual(len(refused), len(asking), mode)
            self.assertEqual(refused[0]["Error"]["Code"], "ServiceUnavailable", mode)
            with self.assertRaises(ClientError):
                s3.head_object(Bucket="demo", Key="no")
        with urllib.request.urlopen(f"{server.url}/_ops/metrics") as answer:
            lines = answer.read().decode().splitlines()
        # boto3 asks a second time, while the second call hangs.
        timeouts = [line for line in lines if line.startswith('key_service_calls_total{operation="GenerateDataKey",outcome="timeout"}')]
        self.assertIn(timeouts[0].rpartition(" ")[2], ("1", "2"), timeouts)
        Liar.mode = "good"
        self.assertEqual(s3.put_object(**put)["SSEKMSKeyId"], Liar.arn)
        # No file holds the key that it gave, nor the secret that signs the calls.
        for path in [*server.data.rglob("*"), server.log]:
            content = path.read_bytes() if path.is_file() else b""
            for secret in (b"k" * 32, base64.b64encode(b"k" * 32), b"key-service-secret"):
                self.assertNotIn(secret, content, path)


def certificate(folder):
    """A certificate of 127.0.0.1 that signs itself, with its key: one PEM file each."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "key service")])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
    made = made.not_valid_after(now + datetime.timedelta(days=1)).add_extension(x509.SubjectAlternativeName([address]), False)
    made = made.sign(key, hashes.SHA256())
    paths = [folder / f"{what}.pem" for what in ("certificate", "key")]
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths[1].write_bytes(key.private_bytes(*form))
    return paths


class OverTls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.certificate, key = certificate(self.folder)
        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        service.socket = context.wrap_socket(service.socket, server_side=True)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        self.port, Liar.mode = service.server_address[1], "good"

    put = {"Bucket": "demo", "Key": "k", "Body": b"x", "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": Liar.arn}

    def test_temporary_credentials_show_their_token_under_the_signature(self):
        flags = ["--key-service-ca", self.certificate, "--key-service-session-token", "token-of-a-session"]
        server = Server(self, f"https://127.0.0.1:{self.port}", *flags)
        self.assertEqual(server.s3.put_object(**self.put)["SSEKMSKeyId"], Liar.arn)
        self.assertEqual(Liar.shown["x-amz-security-token"], "token-of-a-session")
        self.assertIn("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target", Liar.shown["authorization"])
        for path in [*server.data.rglob("*"), server.log]:
            self.assertNotIn(b"token-of-a-session", path.read_bytes() if path.is_file() else b"", path)

    def test_a_certificate_that_nobody_trusts_or_of_another_name_is_refused(self):
        other = self.folder / "other"
        other.mkdir()
        for url, trusted in [
            (f"https://127.0.0.1:{self.port}", certificate(other)[0]),
            (f"https://localhost:{self.port}", self.certificate),
        ]:
            Liar.shown = None
            server = Server(self, url, "--key-service-ca", trusted)
            with self.assertRaises(ClientError) as caught:
                server.s3.put_object(**self.put)
            self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 503, url)
            self.assertIsNone(Liar.shown, url)


class OverTlsWithMoto(unittest.TestCase):
    """moto's key service behind a certificate of its own."""

    START = (
        "import sys; from moto.server import DomainDispatcherApplication as A, create_backend_app as a; from werkzeug.serving import make_server as m; "
        "s = m('127.0.0.1', 0, A(a), threaded=True, ssl_context=(sys.argv[1], sys.argv[2])); print(s.server_port, flush=True); s.serve_forever()"
    )

    def test_objects_are_encrypted_with_its_keys_and_a_stranger_is_not_asked(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        trusted, key = certificate(folder)
        moto = subprocess.Popen([sys.executable, "-c", self.START, trusted, key], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(moto.wait)
        self.addCleanup(moto.terminate)
        url = f"https://127.0.0.1:{int(moto.stdout.readline())}"
        self.addCleanup(moto.stdout.close)
        arn = client("kms", url, "key-service-key", "key-service-secret", str(trusted)).create_key()["KeyMetadata"]["Arn"]
        server = Server(self, url, "--key-service-ca", trusted)
        place = {"Bucket": "demo", "Key": "k"}
        for mode in ("aws:kms", "aws:kms:dsse"):
            put = server.s3.put_object(Body=b"body", ServerSideEncryption=mode, SSEKMSKeyId=arn, **place)
            self.assertEqual(put["SSEKMSKeyId"], arn)
            self.assertEqual(server.s3.get_object(**place)["Body"].read(), b"body")
        with self.assertRaises(ClientError) as caught:
            server.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn[:-4] + "0000", **place)
        self.assertEqual(caught.exception.response["Error"]["Code"], "KMS.NotFoundException")
        other = folder / "other"
        other.mkdir()
        server = Server(self, url, "--key-service-ca", certificate(other)[0])
        with self.assertRaises(ClientError) as caught:
            server.s3.put_object(Body=b"body", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn, **place)
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 503)
