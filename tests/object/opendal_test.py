"""Apache OpenDAL, which signs, lists and reads in its own way (reqsign, not an AWS SDK)."""

import os
import unittest

import opendal
from opendal.exceptions import ConditionNotMatch, NotFound


def operator(**settings):
    return opendal.Operator(
        "s3",
        bucket="demo",
        root="/opendal",
        endpoint=os.environ["TRIPTYCH_OBJECT_URL"],
        region=os.environ["TRIPTYCH_OBJECT_REGION"],
        access_key_id=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
        secret_access_key=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
        disable_config_load="true",
        **settings,
    )


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = operator()

    def test_the_store_is_reached(self):
        self.store.check()

    def test_keys_that_need_care_are_written_read_and_listed(self):
        names = ["sp ace", "\u00fc", "a+b%25", "x/&?y", "q'\"<>", "tilde~", "*(:)@=,;$"]
        for name in names:
            self.store.write(f"keys/{name}", name.encode())
            self.assertEqual(bytes(self.store.read(f"keys/{name}")), name.encode())
        found = {entry.path for entry in self.store.scan("keys/")} - {"keys/", "keys/x/"}
        self.assertEqual(found, {f"keys/{name}" for name in names})

    def test_folders_are_made_listed_and_removed_with_what_is_in_them(self):
        self.store.create_dir("tree/empty/")
        self.assertTrue(self.store.stat("tree/empty/").mode.is_dir())
        for name in ("a/1", "a/2", "b"):
            self.store.write(f"tree/{name}", b"x")
        listed = {entry.path for entry in self.store.list("tree/")} - {"tree/"}
        self.assertEqual(listed, {"tree/a/", "tree/b", "tree/empty/"})
        self.store.remove_all("tree/a/")
        self.assertFalse(self.store.exists("tree/a/1"))
        self.assertTrue(self.store.exists("tree/b"))

    def test_what_was_said_of_an_object_comes_back(self):
        self.store.write("told", b"body", content_type="text/x", content_disposition="inline", user_metadata={"color": "blue"})
        told = self.store.stat("told")
        self.assertEqual((told.content_length, told.content_type, told.content_disposition), (4, "text/x", "inline"))
        self.assertEqual(told.user_metadata, {"color": "blue"})

    def test_checksums_of_its_own_are_verified(self):
        store = operator(checksum_algorithm="crc32c")
        store.write("checked", b"body" * 50_000)
        self.assertEqual(bytes(store.read("checked")), b"body" * 50_000)

    def test_conditions_refuse(self):
        self.store.write("once", b"first")
        with self.assertRaises(ConditionNotMatch):
            self.store.write("once", b"second", if_not_exists=True)
        self.assertEqual(bytes(self.store.read("once")), b"first")
        with self.assertRaises(NotFound):
            self.store.read("absent")

    def test_a_file_is_read_from_where_one_seeks(self):
        body = os.urandom(300_000)
        self.store.write("file", body)
        with self.store.open("file", "rb") as file:
            file.seek(123_456)
            self.assertEqual(file.read(1000), body[123_456:124_456])
            file.seek(-10, os.SEEK_END)
            self.assertEqual(file.read(), body[-10:])

    def test_a_copy_is_made_by_the_service(self):
        self.store.write("from it", b"copied")
        self.store.copy("from it", "to/it")
        self.assertEqual(bytes(self.store.read("to/it")), b"copied")
