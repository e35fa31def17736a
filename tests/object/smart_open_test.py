"""smart_open: objects as files, read from where one seeks and packed on the way."""

import os
import unittest

import boto3
from smart_open import open as smart_open


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = boto3.client(
            "s3",
            endpoint_url=os.environ["TRIPTYCH_OBJECT_URL"],
            region_name=os.environ["TRIPTYCH_OBJECT_REGION"],
            aws_access_key_id=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
            aws_secret_access_key=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
        )

    def open(self, name, mode, **parameters):
        if "w" in mode:
            parameters["multipart_upload"] = False
        return smart_open(f"s3://demo/smart/{name}", mode, transport_params={"client": self.client, **parameters})

    def write(self, name, body):
        with self.open(name, "wb") as file:
            file.write(body)

    def test_lines_come_back_as_lines(self):
        self.write("lines", b"one\ntwo\n")
        with self.open("lines", "r") as file:
            self.assertEqual(list(file), ["one\n", "two\n"])

    def test_what_is_packed_on_the_way_is_unpacked_on_the_way_back(self):
        self.write("packed.gz", b"x" * 100_000)
        self.assertLess(self.client.head_object(Bucket="demo", Key="smart/packed.gz")["ContentLength"], 1000)
        with self.open("packed.gz", "rb") as file:
            self.assertEqual(file.read(), b"x" * 100_000)

    def test_a_file_is_read_from_where_one_seeks(self):
        body = os.urandom(300_000)
        self.write("bytes", body)
        with self.open("bytes", "rb", defer_seek=True) as file:
            file.seek(200_000)
            self.assertEqual(file.read(10), body[200_000:200_010])
            file.seek(-5, os.SEEK_END)
            self.assertEqual(file.read(), body[-5:])
            file.seek(400_000)
            self.assertEqual(file.read(), b"")

    def test_an_old_version_is_a_file_too(self):
        self.write("kept", b"old")
        old = self.client.head_object(Bucket="demo", Key="smart/kept")["VersionId"]
        self.write("kept", b"new")
        with self.open("kept", "rb", version_id=old) as file:
            self.assertEqual(file.read(), b"old")

    def test_an_empty_file_has_nothing_in_it(self):
        self.write("empty", b"")
        with self.open("empty", "rb") as file:
            self.assertEqual(file.read(), b"")

    def test_what_is_not_there_is_an_error(self):
        with self.assertRaises(OSError), self.open("absent", "rb") as file:
            file.read()
