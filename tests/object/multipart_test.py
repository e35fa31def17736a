"""Uploads in parts with boto3 and the aws command line: moved whole, killed half-way and resumed, copied, listed and aborted."""

import hashlib
import io
import os
import pathlib
import subprocess
import sys

from boto3.s3.transfer import TransferConfig

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import suite  # noqa: E402
from aws import ENVIRONMENT, HTTP, HTTPS, CommandLine  # noqa: E402

MIB = 1024 * 1024
PART = 5 * MIB


class Parts(CommandLine):
    def setUp(self):
        super().setUp()
        self.s3 = suite.client()

    def body(self, key, **options):
        return self.s3.get_object(Bucket="demo", Key=key, **options)["Body"].read()

    def test_a_file_of_twenty_megabytes_is_copied_up_and_down(self):
        content = os.urandom(20 * MIB)
        up, down = self.file(content, "up.bin"), self.folder / "down.bin"
        for service in (HTTP, HTTPS):
            self.ok("s3", "cp", up, "s3://demo/parts/up.bin", service=service)
            self.ok("s3", "cp", "s3://demo/parts/up.bin", down, service=service)
            self.assertEqual(down.read_bytes(), content)
        head = self.s3.head_object(Bucket="demo", Key="parts/up.bin", PartNumber=1)
        self.assertEqual((head["PartsCount"], head["ContentLength"]), (3, 8 * MIB))
        self.ok("s3", "cp", "s3://demo/parts/up.bin", "s3://open/parts/copy.bin")
        self.ok("s3", "cp", "s3://open/parts/copy.bin", down)
        self.assertEqual(down.read_bytes(), content)

    def test_a_file_goes_up_by_the_transfer_manager_and_comes_down(self):
        content = os.urandom(12 * MIB + 17)
        settings = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=3)
        extra = {"Metadata": {"own": "kept"}, "Tagging": "a=b", "StorageClass": "STANDARD_IA", "ContentType": "text/x-own"}
        self.s3.upload_fileobj(io.BytesIO(content), "demo", "parts/managed", ExtraArgs=extra, Config=settings)
        head = self.s3.head_object(Bucket="demo", Key="parts/managed", ChecksumMode="ENABLED")
        self.assertEqual((head["Metadata"], head["StorageClass"], head["ContentType"]), ({"own": "kept"}, "STANDARD_IA", "text/x-own"))
        self.assertTrue(head["ETag"].endswith('-3"') and head["ChecksumCRC32"].endswith("-3"))
        target = io.BytesIO()
        self.s3.download_fileobj("demo", "parts/managed", target, Config=settings)
        self.assertEqual(target.getvalue(), content)
        attributes = self.s3.get_object_attributes(
            Bucket="demo", Key="parts/managed", ObjectAttributes=["ObjectParts", "Checksum", "ObjectSize"], MaxParts=2
        )  # fmt: skip
        parts = attributes["ObjectParts"]
        self.assertEqual((parts["TotalPartsCount"], parts["IsTruncated"], len(parts["Parts"])), (3, True, 2))
        self.assertEqual(attributes["ObjectSize"], len(content))

    def test_an_upload_that_was_killed_is_resumed_with_the_parts_that_it_left(self):
        content = os.urandom(64 * MIB)
        source = self.file(content, "killed.bin")
        # Of four seconds at this rate there is always enough left to be killed.
        slow = self.file(b"[default]\ns3 =\n  max_bandwidth = 16MB/s\n  max_concurrent_requests = 2\n", "slow.config")
        environment = {**ENVIRONMENT, "AWS_CONFIG_FILE": str(slow)}
        program = subprocess.Popen(["aws", *HTTP, "s3", "cp", source, "s3://demo/parts/killed"], env=environment, stdout=subprocess.DEVNULL)
        named = {"Bucket": "demo", "Key": "parts/killed"}
        while program.poll() is None:
            uploads = self.s3.list_multipart_uploads(Bucket="demo", Prefix="parts/killed").get("Uploads", [])
            if uploads and self.s3.list_parts(**named, UploadId=uploads[0]["UploadId"]).get("Parts"):
                break
        program.kill()
        program.wait()
        if program.returncode == 0:
            self.fail("the command was done before it could be killed")
        upload = self.s3.list_multipart_uploads(Bucket="demo", Prefix="parts/killed")["Uploads"][0]
        named["UploadId"] = upload["UploadId"]
        there = {part["PartNumber"]: part for part in self.s3.list_parts(**named)["Parts"]}
        algorithm = upload["ChecksumAlgorithm"]
        field, parts, size = f"Checksum{algorithm}", [], 8 * MIB
        for number in range(1, len(content) // size + 1):
            part = there.get(number)
            if part is None:
                body = content[(number - 1) * size : number * size]
                part = self.s3.upload_part(**named, PartNumber=number, Body=body, ChecksumAlgorithm=algorithm)
            parts.append({"PartNumber": number, "ETag": part["ETag"], field: part[field]})
        self.s3.complete_multipart_upload(**named, MultipartUpload={"Parts": parts}, MpuObjectSize=len(content))
        digest = hashlib.sha256(self.body("parts/killed")).hexdigest()
        self.assertEqual(digest, hashlib.sha256(content).hexdigest())

    def test_parts_are_copied_by_range_and_any_part_is_read_by_itself(self):
        content = os.urandom(PART + 1000)
        self.s3.put_object(Bucket="demo", Key="parts/source", Body=content)
        named = {"Bucket": "demo", "Key": "parts/copied"}
        named["UploadId"] = self.s3.create_multipart_upload(**named)["UploadId"]
        parts = []
        for number, span in ((2, f"bytes=0-{PART - 1}"), (9, f"bytes={PART}-{PART + 999}")):
            copied = self.s3.upload_part_copy(
                **named, PartNumber=number, CopySource="demo/parts/source", CopySourceRange=span
            )["CopyPartResult"]  # fmt: skip
            parts.append({"PartNumber": number} | {name: value for name, value in copied.items() if name != "LastModified"})
        self.s3.complete_multipart_upload(**named, MultipartUpload={"Parts": parts})
        self.assertEqual(self.body("parts/copied"), content)
        # Readers count the parts.
        self.assertEqual(self.body("parts/copied", PartNumber=2), content[PART:])
        self.assertEqual(self.body("parts/copied", Range="bytes=5242870-5242889"), content[5242870:5242890])

    def test_what_is_wrong_with_a_list_has_its_own_code(self):
        named = {"Bucket": "demo", "Key": "parts/wrong"}
        named["UploadId"] = self.s3.create_multipart_upload(**named, ChecksumAlgorithm="CRC32")["UploadId"]
        tags = [self.s3.upload_part(**named, PartNumber=number, Body=b"small")["ETag"] for number in (1, 2)]
        listed = lambda *numbers: {"Parts": [{"PartNumber": number, "ETag": tags[number - 1]} for number in numbers]}  # noqa: E731
        plain = {**named, "UploadId": self.s3.create_multipart_upload(Bucket="demo", Key="parts/wrong")["UploadId"]}
        for code, arguments in (
            ("InvalidPartOrder", {**named, "MultipartUpload": listed(2, 1)}),
            ("InvalidRequest", {**named, "MultipartUpload": listed(1, 2)}),
            ("InvalidPart", {**plain, "MultipartUpload": listed(1)}),
            ("MalformedXML", named),
            ("NoSuchUpload", {**named, "UploadId": "none", "MultipartUpload": listed(1)}),
        ):
            with self.assertRaises(suite.ClientError) as refused:
                self.s3.complete_multipart_upload(**arguments)
            self.assertEqual(refused.exception.response["Error"]["Code"], code)
        for upload in (named, plain):
            self.s3.abort_multipart_upload(**upload)
        with self.assertRaises(self.s3.exceptions.NoSuchUpload):
            self.s3.list_parts(**named)


if __name__ == "__main__":
    import unittest

    unittest.main()
