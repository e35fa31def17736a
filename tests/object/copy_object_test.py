"""CopyObject: where it reads from, what it keeps, and what it refuses."""

import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import DIALECTS, UTC, Suite, quote, request  # noqa: E402

WHOLE = {
    "CacheControl": "no-cache", "ContentDisposition": "inline", "ContentEncoding": "gzip", "ContentLanguage": "de",
    "ContentType": "text/plain", "Metadata": {"a": "1"},
}  # fmt: skip


class Sources(Suite):
    def test_a_source_is_named_with_or_without_a_slash_and_encoded(self):
        name = self.bucket()
        for key in ("plain", "a b", "a+b", "\u00e9/x", "%41", "q?versionId=x", "a//b"):
            self.put(name, key, key.encode())
            for source in (f"{name}/{quote(key)}", f"/{name}/{quote(key)}"):
                for dialect in DIALECTS:
                    answer = request("PUT", f"/{name}/to", {"-copy-source": source}, dialect=dialect)
                    self.assertEqual(answer.status, 200, (source, answer))
                    self.assertEqual(self.body(name, "to"), key.encode())

    def test_a_source_that_is_none_says_what_is_wrong(self):
        name = self.bucket()
        self.put(name)
        for source, message in (
            ("no-slash", "Invalid copy source object key"),
            (f"{name}/", "Invalid copy source object key"),
            ("", "Invalid copy source bucket name"),
            (f"{name}/%zz", "Invalid copy source encoding."),
            (f"{name}/a%", "Invalid copy source encoding."),
            ("my-buc@k&()t/obj", "Invalid copy source bucket name"),
            ("192.168.1.1/obj", "Invalid copy source bucket name"),
        ):
            answer = request("PUT", f"/{name}/to", {"-copy-source": source})
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-copy-source", Message=message)

    def test_a_source_that_is_not_there_is_404(self):
        name = self.bucket(versioning="Enabled")
        copy = {"Bucket": name, "Key": "to"}
        self.refused(404, "NoSuchBucket", self.s3.copy_object, **copy, CopySource="nowhere-at-all/k")
        refused = self.refused(404, "NoSuchKey", self.s3.copy_object, **copy, CopySource=f"{name}/absent")
        self.assertEqual(refused["Key"], "absent")
        self.put(name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        self.refused(404, "NoSuchKey", self.s3.copy_object, **copy, CopySource=f"{name}/k")
        refused = self.refused(400, "InvalidRequest", self.s3.copy_object, **copy, CopySource=f"{name}/k?versionId={marker}")
        self.assertEqual(
            refused["Message"], "The source of a copy request may not specifically refer to a delete marker by version id."
        )

    def test_a_version_is_copied_and_named(self):
        name = self.bucket(versioning="Enabled")
        old = self.put(name, body=b"old")["VersionId"]
        self.put(name, body=b"new")
        answer = self.s3.copy_object(Bucket=name, Key="to", CopySource={"Bucket": name, "Key": "k", "VersionId": old})
        self.assertEqual(answer["CopySourceVersionId"], old)
        self.assertEqual(self.body(name, "to", VersionId=answer["VersionId"]), b"old")

    def test_a_copy_needs_the_right_to_read_its_source(self):
        name = self.bucket()
        self.put(name)
        own = f"{name}-guest"
        self.guest.create_bucket(Bucket=own)
        self.refused(403, "AccessDenied", self.guest.copy_object, Bucket=own, Key="k", CopySource=f"{name}/k")
        self.put_policy(
            name,
            {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{name}/*"},
        )
        self.guest.copy_object(Bucket=own, Key="k", CopySource=f"{name}/k")
        self.refused(403, "AccessDenied", self.guest.copy_object, Bucket=name, Key="k2", CopySource=f"{name}/k")

    def test_the_expected_owner_of_the_source_is_checked(self):
        name = self.bucket()
        self.put(name)
        copy = {"Bucket": name, "Key": "to", "CopySource": f"{name}/k"}
        self.s3.copy_object(**copy, ExpectedSourceBucketOwner="111122223333")
        self.refused(403, "AccessDenied", self.s3.copy_object, **copy, ExpectedSourceBucketOwner="444455556666")


class Kept(Suite):
    def test_a_copy_keeps_headers_metadata_and_tags(self):
        name = self.bucket()
        self.put(name, Tagging="t=1", StorageClass="STANDARD_IA", **WHOLE)
        self.s3.copy_object(Bucket=name, Key="to", CopySource=f"{name}/k")
        head = self.s3.head_object(Bucket=name, Key="to")
        self.assertEqual({field: head[field] for field in WHOLE}, WHOLE)
        self.assertNotIn("StorageClass", head)
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="to")["TagSet"], [{"Key": "t", "Value": "1"}])

    def test_a_copy_that_replaces_keeps_nothing_of_it(self):
        name = self.bucket()
        self.put(name, Tagging="t=1", **WHOLE)
        self.s3.copy_object(
            Bucket=name, Key="to", CopySource=f"{name}/k", MetadataDirective="REPLACE", Metadata={"b": "2"},
            TaggingDirective="REPLACE", Tagging="u=2", StorageClass="ONEZONE_IA",
        )  # fmt: skip
        head = self.s3.head_object(Bucket=name, Key="to")
        self.assertEqual((head["Metadata"], head["ContentType"]), ({"b": "2"}, "binary/octet-stream"))
        self.assertEqual(head["StorageClass"], "ONEZONE_IA")
        self.assertNotIn("CacheControl", head)
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="to")["TagSet"], [{"Key": "u", "Value": "2"}])

    def test_directives_that_are_none_are_refused(self):
        name = self.bucket()
        self.put(name)
        for header, message in (
            ("-metadata-directive", "Unknown metadata directive."),
            ("-tagging-directive", "Unknown tagging directive."),
        ):
            answer = request("PUT", f"/{name}/to", {"-copy-source": f"{name}/k", header: "OTHER"})
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz" + header, Message=message)

    def test_a_copy_has_the_checksum_of_its_source_or_the_one_it_asks_for(self):
        name = self.bucket()
        put = self.put(name, ChecksumAlgorithm="SHA1")
        kept = self.s3.copy_object(Bucket=name, Key="to", CopySource=f"{name}/k")["CopyObjectResult"]
        self.assertEqual((kept["ChecksumSHA1"], kept["ETag"], kept["ChecksumType"]), (put["ChecksumSHA1"], put["ETag"], "FULL_OBJECT"))
        other = self.s3.copy_object(Bucket=name, Key="to", CopySource=f"{name}/k", ChecksumAlgorithm="SHA256")
        head = self.s3.head_object(Bucket=name, Key="to", ChecksumMode="ENABLED")
        self.assertEqual(head["ChecksumSHA256"], other["CopyObjectResult"]["ChecksumSHA256"])
        self.assertNotIn("ChecksumSHA1", other["CopyObjectResult"])
        answer = request("PUT", f"/{name}/to", {"-copy-source": f"{name}/k", "-checksum-algorithm": "OTHER"})
        self.is_refused(answer, 400, "InvalidRequest")

    def test_bodies_of_many_sizes_are_copied_whole(self):
        name, other = self.bucket(), self.bucket()
        for size in (0, 1, 65_535, 65_536, 1_000_003):
            body = bytes(number % 251 for number in range(size))
            self.put(name, body=body)
            self.s3.copy_object(Bucket=other, Key="to", CopySource=f"{name}/k")
            self.assertEqual(self.body(other, "to"), body)

    def test_the_list_of_the_source_is_not_copied(self):
        name = self.bucket("ObjectWriter")
        self.put(name, ACL="public-read")
        self.s3.copy_object(Bucket=name, Key="to", CopySource=f"{name}/k")
        self.refused(403, "AccessDenied", self.anonymous.get_object, Bucket=name, Key="to")
        self.s3.copy_object(Bucket=name, Key="to", CopySource=f"{name}/k", ACL="public-read")
        self.assertEqual(self.anonymous.get_object(Bucket=name, Key="to")["Body"].read(), b"body")


class OntoItself(Suite):
    def test_a_copy_onto_itself_must_change_something(self):
        name = self.bucket()
        self.put(name)
        copy = {"Bucket": name, "Key": "k", "CopySource": f"{name}/k"}
        refused = self.refused(400, "InvalidRequest", self.s3.copy_object, **copy)
        self.assertEqual(
            refused["Message"],
            "This copy request is illegal because it is trying to copy an object to itself without changing the object's "
            "metadata, storage class, website redirect location or encryption attributes.",
        )
        self.refused(400, "InvalidRequest", self.s3.copy_object, **copy, TaggingDirective="REPLACE", Tagging="a=1")
        for change in (
            {"MetadataDirective": "REPLACE", "Metadata": {"a": "1"}},
            {"StorageClass": "STANDARD_IA"},
            {"WebsiteRedirectLocation": "/x"},
            {"ServerSideEncryption": "AES256"},
        ):
            self.s3.copy_object(**copy, **change)
            self.assertEqual(self.body(name), b"body")
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
        self.s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
        self.s3.copy_object(**copy)
        self.s3.delete_bucket_encryption(Bucket=name)
        self.refused(400, "InvalidRequest", self.s3.copy_object, **copy)

    def test_the_null_version_is_named_where_it_is_made_and_not_where_it_is_read(self):
        name = self.bucket(versioning="Enabled")
        old = self.put(name)["VersionId"]
        self.versioning(name, "Suspended")
        copy = {"Bucket": name, "Key": "k", "CopySource": f"{name}/k", "MetadataDirective": "REPLACE"}
        answer = self.s3.copy_object(**copy)
        self.assertEqual((answer["VersionId"], answer["CopySourceVersionId"]), ("null", old))
        self.versioning(name, "Enabled")
        answer = self.s3.copy_object(**copy)
        self.assertNotIn("CopySourceVersionId", answer)
        self.assertNotEqual(answer["VersionId"], "null")

    def test_a_source_has_no_key_of_a_customer(self):
        name = self.bucket()
        self.put(name)
        refused = self.refused(
            400, "InvalidRequest", self.s3.copy_object, Bucket=name, Key="to", CopySource=f"{name}/k",
            CopySourceSSECustomerAlgorithm="AES256", CopySourceSSECustomerKey="k" * 32,
        )  # fmt: skip
        self.assertEqual(refused["Message"], "The encryption parameters are not applicable to this object.")

    def test_an_old_version_is_brought_back_onto_itself(self):
        name = self.bucket(versioning="Enabled")
        old = self.put(name, body=b"old")["VersionId"]
        self.put(name, body=b"new")
        self.s3.copy_object(Bucket=name, Key="k", CopySource={"Bucket": name, "Key": "k", "VersionId": old})
        self.assertEqual(self.body(name), b"old")


class Bodies(Suite):
    REFUSED = "The request included a body. Requests of this type must not include a non-empty body."

    def test_a_copy_that_brings_a_body_is_refused_and_stores_nothing(self):
        name = self.bucket()
        self.put(name, body=b"source")
        self.put(name, "to", b"old")
        copy = {"-copy-source": f"{name}/k"}
        upload = self.s3.create_multipart_upload(Bucket=name, Key="parts")["UploadId"]
        for target in (f"/{name}/to", f"/{name}/parts?partNumber=1&uploadId={upload}"):
            for body, headers in ((b"x", {}), (b"1\r\nx\r\n0\r\n\r\n", {"transfer-encoding": "chunked"})):
                answer = request("PUT", target, {**copy, **headers}, body, payload="UNSIGNED-PAYLOAD")
                self.is_refused(answer, 400, "InvalidRequest", Message=self.REFUSED)
        self.assertEqual(self.body(name, "to"), b"old")
        self.assertNotIn("Parts", self.s3.list_parts(Bucket=name, Key="parts", UploadId=upload))

    def test_a_copy_may_be_sent_in_chunks_of_nothing(self):
        name = self.bucket()
        self.put(name, body=b"source")
        chunked = {"-copy-source": f"{name}/k", "transfer-encoding": "chunked"}
        answer = request("PUT", f"/{name}/to", chunked, b"0\r\n\r\n", payload="UNSIGNED-PAYLOAD")
        self.assertEqual((answer.status, self.body(name, "to")), (200, b"source"), answer)


class Conditions(Suite):
    def test_conditions_on_the_source_refuse_with_their_name(self):
        name = self.bucket()
        tag = self.put(name)["ETag"]
        modified = self.s3.head_object(Bucket=name, Key="k")["LastModified"]
        day = datetime.timedelta(days=1)
        copy = {"Bucket": name, "Key": "to", "CopySource": f"{name}/k"}
        for holds in (
            {"CopySourceIfMatch": tag},
            {"CopySourceIfNoneMatch": '"other"'},
            {"CopySourceIfModifiedSince": modified - day},
            {"CopySourceIfUnmodifiedSince": modified + day},
            {"CopySourceIfMatch": tag, "CopySourceIfUnmodifiedSince": modified - day},
        ):
            self.s3.copy_object(**copy, **holds)
        for fails, condition in (
            ({"CopySourceIfMatch": '"other"'}, "If-Match"),
            ({"CopySourceIfMatch": f"W/{tag}"}, "If-Match"),
            ({"CopySourceIfNoneMatch": f"W/{tag}"}, "If-None-Match"),
            ({"CopySourceIfNoneMatch": tag}, "If-None-Match"),
            ({"CopySourceIfModifiedSince": datetime.datetime.now(UTC)}, "If-Modified-Since"),
            ({"CopySourceIfUnmodifiedSince": modified - day}, "If-Unmodified-Since"),
            ({"CopySourceIfNoneMatch": tag, "CopySourceIfModifiedSince": modified - day}, "If-None-Match"),
        ):
            refused = self.refused(412, "PreconditionFailed", self.s3.copy_object, **copy, **fails)
            self.assertEqual(refused["Condition"], f"x-amz-copy-source-{condition}")

    def test_conditions_on_the_target_are_those_of_a_put(self):
        name = self.bucket()
        tag = self.put(name)["ETag"]
        copy = {"Bucket": name, "Key": "to", "CopySource": f"{name}/k"}
        self.refused(404, "NoSuchKey", self.s3.copy_object, **copy, IfMatch=tag)
        self.s3.copy_object(**copy, IfNoneMatch="*")
        self.refused(412, "PreconditionFailed", self.s3.copy_object, **copy, IfNoneMatch="*")
        self.s3.copy_object(**copy, IfMatch=tag)
        self.refused(412, "PreconditionFailed", self.s3.copy_object, **copy, IfMatch='"other"')
