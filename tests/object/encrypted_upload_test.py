"""Uploads in parts in each mode of encryption: the mode is said once, and a customer's key with each part."""

import base64
import hashlib
import os

from boto3.s3.transfer import TransferConfig
from customer_key import KEY, OTHER, HttpsSuite, own

MEBIBYTE = 1024 * 1024
BODY = os.urandom(5 * MEBIBYTE + 7)
ARN = "arn:aws:kms:us-east-1:111122223333:key/134f2428-cec1-4b25-a1ae-000000000001"
MODES = (
    {"ServerSideEncryption": "AES256"},
    {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": ARN},
    {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": ARN, "BucketKeyEnabled": True},
    {"ServerSideEncryption": "aws:kms:dsse", "SSEKMSKeyId": ARN},
)


class EncryptedUploads(HttpsSuite):
    def upload(self, s3, bucket, key, parts, begin, each=None, complete=None):
        """Uploads `parts`; gives the answers to the beginning and to the end."""
        place = {"Bucket": bucket, "Key": key}
        begun = s3.create_multipart_upload(**place, **begin)
        place["UploadId"] = begun["UploadId"]
        done = []
        for number, body in enumerate(parts, 1):
            tag = s3.upload_part(PartNumber=number, Body=body, **place, **(each or {}))["ETag"]
            done.append({"PartNumber": number, "ETag": tag})
        return begun, s3.complete_multipart_upload(MultipartUpload={"Parts": done}, **place, **(complete or {}))

    def test_each_mode_holds_for_all_parts(self):
        name = self.bucket()
        parts = [BODY[: 5 * MEBIBYTE], BODY[5 * MEBIBYTE :]]
        for mode in MODES:
            begun, done = self.upload(self.s3, name, "k", parts, mode)
            head = self.s3.head_object(Bucket=name, Key="k")
            for answer in (begun, done, head):
                for field, value in mode.items():
                    self.assertEqual(answer[field], value, (mode, answer))
            self.assertTrue(done["ETag"].endswith('-2"'))
            got = self.s3.get_object(Bucket=name, Key="k")["Body"].read()
            self.assertEqual(hashlib.sha256(got).digest(), hashlib.sha256(BODY).digest(), mode)
            start = 5 * MEBIBYTE - 3
            got = self.s3.get_object(Bucket=name, Key="k", Range=f"bytes={start}-{start + 5}")["Body"].read()
            self.assertEqual(got, BODY[start : start + 6])
            got = self.s3.get_object(Bucket=name, Key="k", PartNumber=2)["Body"].read()
            self.assertEqual(got, parts[1])

    def test_the_default_of_the_bucket_holds_for_uploads(self):
        name = self.bucket()
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": ARN}, "BucketKeyEnabled": True}
        self.s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
        config = TransferConfig(multipart_threshold=5 * MEBIBYTE, multipart_chunksize=5 * MEBIBYTE)
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"encrypted-upload-{os.getpid()}")
        self.addCleanup(os.remove, path)
        with open(path, "wb") as file:
            file.write(BODY)
        self.s3.upload_file(path, name, "k", Config=config)
        head = self.s3.head_object(Bucket=name, Key="k")
        self.assertEqual((head["ServerSideEncryption"], head["SSEKMSKeyId"]), ("aws:kms", ARN))
        self.assertEqual(self.body(name), BODY)

    def test_a_customers_key_comes_with_each_part(self):
        parts = [BODY[: 5 * MEBIBYTE], BODY[5 * MEBIBYTE :]]
        place = {"Bucket": "demo", "Key": "own-parts"}
        begun = self.tls.create_multipart_upload(**place, **own())
        digest = base64.b64encode(hashlib.md5(KEY).digest()).decode()
        self.assertEqual(begun["SSECustomerKeyMD5"], digest)
        part = {**place, "UploadId": begun["UploadId"], "PartNumber": 1, "Body": b"x"}
        said = self.refused(400, "InvalidRequest", self.tls.upload_part, **part)
        self.assertEqual(
            said["Message"],
            "The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.",
        )
        said = self.refused(400, "InvalidRequest", self.tls.upload_part, **part, **own(OTHER))
        self.assertEqual(said["Message"], "The provided encryption parameters did not match the ones used originally.")
        self.tls.abort_multipart_upload(**place, UploadId=begun["UploadId"])
        _, done = self.upload(self.tls, *place.values(), parts, own(), own(), own())
        self.assertEqual(self.tls.get_object(**place, **own())["Body"].read(), BODY)
        self.refused(403, "AccessDenied", self.tls.get_object, **place, **own(OTHER))
        self.refused(400, "InvalidRequest", self.tls.get_object, **place)
        plain = self.tls.create_multipart_upload(Bucket="demo", Key="plain-parts")
        part = {"Bucket": "demo", "Key": "plain-parts", "UploadId": plain["UploadId"], "PartNumber": 1, "Body": b"x"}
        self.refused(400, "InvalidRequest", self.tls.upload_part, **part, **own())
        self.tls.abort_multipart_upload(Bucket="demo", Key="plain-parts", UploadId=plain["UploadId"])

    def test_a_part_is_copied_from_a_customers_object(self):
        self.tls.put_object(Bucket="demo", Key="own-source", Body=BODY[:MEBIBYTE], **own())
        place = {"Bucket": "demo", "Key": "own-copied"}
        begun = self.tls.create_multipart_upload(**place, **own(OTHER))
        source = {"CopySourceSSECustomerAlgorithm": "AES256", "CopySourceSSECustomerKey": KEY}
        part = {**place, "UploadId": begun["UploadId"], "PartNumber": 1, "CopySource": "demo/own-source"}
        self.refused(400, "InvalidRequest", self.tls.upload_part_copy, **part, **own(OTHER))
        copied = self.tls.upload_part_copy(**part, **source, **own(OTHER))["CopyPartResult"]
        self.tls.complete_multipart_upload(
            **place, UploadId=begun["UploadId"], MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": copied["ETag"]}]}, **own(OTHER)
        )  # fmt: skip
        self.assertEqual(self.tls.get_object(**place, **own(OTHER))["Body"].read(), BODY[:MEBIBYTE])
