"""The minio client library, unmodified."""

import io
import os
import unittest

from minio import Minio
from minio.error import S3Error


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = Minio(
            os.environ["TRIPTYCH_OBJECT_URL"].removeprefix("http://"),
            access_key=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
            secret_key=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
            region=os.environ["TRIPTYCH_OBJECT_REGION"],
            secure=False,
        )

    def test_a_bucket_is_made_found_and_removed(self):
        self.client.make_bucket("made-by-minio")
        self.assertTrue(self.client.bucket_exists("made-by-minio"))
        self.client.remove_bucket("made-by-minio")
        self.assertFalse(self.client.bucket_exists("made-by-minio"))

    def test_an_object_is_put_stated_read_and_removed(self):
        body = os.urandom(200_000)
        self.client.put_object("demo", "minio/a", io.BytesIO(body), len(body), metadata={"color": "blue"})
        stat = self.client.stat_object("demo", "minio/a")
        self.assertEqual((stat.size, stat.metadata.get("x-amz-meta-color")), (len(body), "blue"))
        reply = self.client.get_object("demo", "minio/a")
        self.assertEqual(reply.read(), body)
        reply.close()
        part = self.client.get_object("demo", "minio/a", offset=10, length=20)
        self.assertEqual(part.read(), body[10:30])
        part.close()
        self.client.remove_object("demo", "minio/a")
        with self.assertRaises(S3Error) as caught:
            self.client.get_object("demo", "minio/a")
        self.assertEqual(caught.exception.code, "NoSuchKey")

    def test_a_listing_shows_folders_once(self):
        for name in ("one", "two/a", "two/b"):
            self.client.put_object("demo", f"minio/list/{name}", io.BytesIO(b"x"), 1)
        names = [found.object_name for found in self.client.list_objects("demo", "minio/list/")]
        self.assertEqual(names, ["minio/list/one", "minio/list/two/"])

    def test_a_presigned_address_is_read_without_keys(self):
        import urllib.request

        self.client.put_object("demo", "minio/shared", io.BytesIO(b"shared"), 6)
        with urllib.request.urlopen(self.client.presigned_get_object("demo", "minio/shared")) as reply:
            self.assertEqual(reply.read(), b"shared")
