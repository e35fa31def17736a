"""Keys of customers and data keys are nowhere once they were used: not in a file, not in the log, not on a control path."""

import base64
import hashlib
import http.server
import json
import os
import threading
import unittest
import urllib.request

from botocore.exceptions import ClientError
from own_process import REGION, Server

ARN = f"arn:aws:kms:{REGION}:111122223333:key/134f2428-cec1-4b25-a1ae-000000000009"
CONTROL_PATHS = ("requests", "metrics", "health/ready", "faults", "clock")


class Keeper(http.server.BaseHTTPRequestHandler):
    """A key service that seals a key as the number by which it remembers it."""

    keys = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = {"KeyId": ARN, "KeyMetadata": {"Arn": ARN, "KeyId": ARN.rpartition("/")[2], "Enabled": True, "KeyState": "Enabled"}}
        match self.headers["x-amz-target"].rpartition(".")[2]:
            case "GenerateDataKey":
                self.keys.append(os.urandom(32))
                sealed = str(len(self.keys) - 1).encode()
                answer |= {"CiphertextBlob": base64.b64encode(sealed).decode(), "Plaintext": base64.b64encode(self.keys[-1]).decode()}
            case "Decrypt":
                key = self.keys[int(base64.b64decode(asked["CiphertextBlob"]))]
                answer["Plaintext"] = base64.b64encode(key).decode()
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def own(key, prefix=""):
    return {f"{prefix}SSECustomerAlgorithm": "AES256", f"{prefix}SSECustomerKey": key}


class Secrets(unittest.TestCase):
    def setUp(self):
        keeper = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keeper)
        threading.Thread(target=keeper.serve_forever, daemon=True).start()
        self.addCleanup(keeper.server_close)
        self.addCleanup(keeper.shutdown)
        self.server = Server(self, f"http://127.0.0.1:{keeper.server_address[1]}")
        self.s3 = self.server.s3
        self.customers = []

    def key(self):
        self.customers.append(os.urandom(32))
        return self.customers[-1]

    def objects(self, name, begin, each, source):
        """Puts, reads, copies and uploads in parts with one mode."""
        place = {"Bucket": "demo", "Key": name}
        self.s3.put_object(Body=os.urandom(100_000), **place, **begin)
        self.s3.get_object(**place, **each)["Body"].read()
        copied = {"CopySource": place, **source}
        self.s3.copy_object(Bucket="demo", Key=f"{name}/copy", **copied, **begin)
        upload = {"Bucket": "demo", "Key": f"{name}/parts"}
        upload["UploadId"] = self.s3.create_multipart_upload(**upload, **begin)["UploadId"]
        tag = self.s3.upload_part(PartNumber=1, Body=os.urandom(5 << 20), **upload, **each)["ETag"]
        last = self.s3.upload_part_copy(PartNumber=2, **copied, **upload, **each)["CopyPartResult"]["ETag"]
        parts = [{"PartNumber": 1, "ETag": tag}, {"PartNumber": 2, "ETag": last}]
        self.s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **upload, **each)
        unfinished = self.s3.create_multipart_upload(Bucket="demo", Key=f"{name}/unfinished", **begin)["UploadId"]
        self.s3.upload_part(Bucket="demo", Key=f"{name}/unfinished", UploadId=unfinished, PartNumber=1, Body=b"x", **each)

    def refusals(self, name, key):
        """Requests that name a key and are refused."""
        place = {"Bucket": "demo", "Key": name}
        for refused in (
            lambda: self.s3.get_object(**place, **own(self.key())),
            lambda: self.s3.get_object(Bucket="demo", Key="missing", **own(key)),
            lambda: self.s3.put_object(**place, Body=b"x", ServerSideEncryption="AES256", **own(key)),
            lambda: self.s3.put_object(**place, Body=b"x", **own(key[:31])),
            lambda: self.s3.put_object(**place, Body=b"x", IfNoneMatch="*", **own(key)),
        ):
            with self.assertRaises(ClientError):
                refused()

    def test_no_key_is_left_anywhere(self):
        key = self.key()
        self.objects("customer", own(key), own(key), own(key, "CopySource"))
        self.refusals("customer", key)
        kms = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": ARN}
        for name, mode in (("kms", kms), ("bucket-key", {**kms, "BucketKeyEnabled": True}), ("dual", {**kms, "ServerSideEncryption": "aws:kms:dsse"})):
            self.objects(name, mode, {}, {})
        shown = []
        for path in CONTROL_PATHS:
            with urllib.request.urlopen(f"{self.server.url}/_ops/{path}") as answer:
                shown.append((path, answer.read()))
        self.server.process.terminate()
        self.server.process.wait()
        files = [(path, path.read_bytes()) for path in [*self.server.data.rglob("*"), self.server.log] if path.is_file()]
        self.assertGreater(len(Keeper.keys), 6)
        self.assertGreater(sum(len(content) for _, content in files), 20 << 20)
        self.assertIn(b"/demo/customer", dict(shown)["requests"])
        for key in [*Keeper.keys, *self.customers]:
            for secret in (key, base64.b64encode(key), key.hex().encode(), base64.b64encode(hashlib.md5(key).digest())):
                for place, content in [*files, *shown]:
                    self.assertNotIn(secret, content, place)


if __name__ == "__main__":
    unittest.main()
