"""boto3, unmodified: what stands around PutObject, each operation seen by its effect and by its errors."""

import datetime
import json
import os
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

URL = os.environ["TRIPTYCH_OBJECT_URL"]
REGION = os.environ["TRIPTYCH_OBJECT_REGION"]
OWNER = (os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"], os.environ["TRIPTYCH_OBJECT_SECRET_KEY"])


def guest_key():
    """The first key of the seed's second account."""
    with open(os.environ["TRIPTYCH_OBJECT_SEED"], encoding="utf-8") as seed:
        key = json.load(seed)["accounts"][1]["keys"][0]
    return key["accessKeyId"], key["secretAccessKey"]


def client(key):
    return boto3.client(
        "s3",
        endpoint_url=URL,
        region_name=REGION,
        aws_access_key_id=key[0],
        aws_secret_access_key=key[1],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


class Companion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s3 = client(OWNER)
        cls.guest = client(guest_key())

    def bucket(self, **settings):
        """A new bucket that is named after the test."""
        name = self.id().rsplit(".", 1)[1].replace("_", "-")[:60].strip("-")
        self.s3.create_bucket(Bucket=name, **settings)
        return name

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response

    def body(self, bucket, key, **arguments):
        return self.s3.get_object(Bucket=bucket, Key=key, **arguments)["Body"].read()

    def fill(self, bucket, keys):
        for key in keys:
            self.s3.put_object(Bucket=bucket, Key=key, Body=key.encode())


class Buckets(Companion):
    def test_a_bucket_is_listed_found_and_deleted(self):
        name = self.bucket()
        self.assertIn(name, [bucket["Name"] for bucket in self.s3.list_buckets()["Buckets"]])
        self.assertNotIn(name, [bucket["Name"] for bucket in self.guest.list_buckets()["Buckets"]])
        self.s3.head_bucket(Bucket=name)
        self.s3.delete_bucket(Bucket=name)
        self.refused("404", self.s3.head_bucket, Bucket=name)
        self.refused("NoSuchBucket", self.s3.delete_bucket, Bucket=name)

    def test_a_bucket_that_holds_a_key_is_not_deleted(self):
        name = self.bucket()
        self.fill(name, ["a"])
        self.refused("BucketNotEmpty", self.s3.delete_bucket, Bucket=name)
        self.fill(name, ["b"])
        self.s3.delete_objects(Bucket=name, Delete={"Objects": [{"Key": "a"}, {"Key": "b"}]})
        self.s3.delete_bucket(Bucket=name)

    def test_a_name_belongs_to_one_account(self):
        name = self.bucket()
        self.refused("BucketAlreadyExists", self.guest.create_bucket, Bucket=name)
        self.refused("AccessDenied", self.guest.list_objects_v2, Bucket=name)
        self.refused("InvalidBucketName", self.s3.create_bucket, Bucket="No_Name")

    def test_settings_that_were_never_put_have_their_own_errors(self):
        name = self.bucket()
        for code, call in (
            ("NoSuchBucketPolicy", self.s3.get_bucket_policy),
            ("NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration),
            ("NoSuchPublicAccessBlockConfiguration", self.s3.get_public_access_block),
            ("ObjectLockConfigurationNotFoundError", self.s3.get_object_lock_configuration),
        ):
            self.refused(code, call, Bucket=name)
        self.assertNotIn("Status", self.s3.get_bucket_versioning(Bucket=name))
        encryption = self.s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]
        default = encryption["Rules"][0]["ApplyServerSideEncryptionByDefault"]
        self.assertEqual(default["SSEAlgorithm"], "AES256")

    def test_what_is_not_there_names_itself(self):
        name = self.bucket()
        for operation, call, arguments in (
            ("CreateMultipartUpload", self.s3.create_multipart_upload, {"Key": "k"}),
            ("GetBucketCors", self.s3.get_bucket_cors, {}),
            ("ListMultipartUploads", self.s3.list_multipart_uploads, {}),
        ):
            response = self.refused("NotImplemented", call, Bucket=name, **arguments)
            self.assertIn(operation, response["Error"]["Message"])


class Listings(Companion):
    KEYS = ["a/1", "a/2", "b", "c/d/e", 'é &<>"']

    def test_a_delimiter_rolls_keys_up(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        page = self.s3.list_objects_v2(Bucket=name, Delimiter="/")
        self.assertEqual([found["Key"] for found in page["Contents"]], ["b", 'é &<>"'])
        self.assertEqual([found["Prefix"] for found in page["CommonPrefixes"]], ["a/", "c/"])
        self.assertEqual(page["KeyCount"], 4)

    def test_pages_go_on_where_they_ended_in_both_versions(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        for operation in ("list_objects", "list_objects_v2", "list_object_versions"):
            pages = self.s3.get_paginator(operation).paginate(Bucket=name, PaginationConfig={"PageSize": 2})
            found = [entry["Key"] for page in pages for entry in page.get("Contents", page.get("Versions", []))]
            self.assertEqual(found, self.KEYS, operation)
        pages = self.s3.get_paginator("list_objects").paginate(
            Bucket=name, Delimiter="/", PaginationConfig={"PageSize": 1}
        )
        shown = [
            entry.get("Key", entry.get("Prefix"))
            for page in pages
            for entry in page.get("Contents", []) + page.get("CommonPrefixes", [])
        ]
        self.assertEqual(shown, ["a/", "b", "c/", 'é &<>"'])

    def test_a_listing_shows_the_time_that_the_object_shows(self):
        name = self.bucket()
        self.fill(name, ["k"])
        listed = self.s3.list_objects_v2(Bucket=name)["Contents"][0]["LastModified"]
        self.assertEqual(listed, self.s3.head_object(Bucket=name, Key="k")["LastModified"])

    def test_parameters_that_are_none_are_refused(self):
        name = self.bucket()
        self.refused("InvalidArgument", self.s3.list_objects_v2, Bucket=name, ContinuationToken="no")
        self.refused("InvalidArgument", self.s3.list_objects, Bucket=name, MaxKeys=-1)
        self.refused("InvalidArgument", self.s3.list_objects, Bucket=name, EncodingType="other")
        self.refused("InvalidArgument", self.s3.list_object_versions, Bucket=name, VersionIdMarker="x")


class Reads(Companion):
    def test_ranges_give_their_bytes(self):
        name = self.bucket()
        self.s3.put_object(Bucket=name, Key="k", Body=bytes(range(256)) * 1024)
        whole = bytes(range(256)) * 1024
        for wanted, expected in (
            ("bytes=0-9", whole[:10]),
            ("bytes=65530-65545", whole[65530:65546]),
            ("bytes=-5", whole[-5:]),
            ("bytes=262140-", whole[262140:]),
        ):
            got = self.s3.get_object(Bucket=name, Key="k", Range=wanted)
            self.assertEqual((got["Body"].read(), got["ResponseMetadata"]["HTTPStatusCode"]), (expected, 206))
        self.refused("InvalidRange", self.s3.get_object, Bucket=name, Key="k", Range="bytes=262144-")

    def test_conditions_of_a_read_hold_or_refuse(self):
        name = self.bucket()
        tag = self.s3.put_object(Bucket=name, Key="k", Body=b"1")["ETag"]
        self.assertEqual(self.body(name, "k", IfMatch=tag), b"1")
        self.refused("PreconditionFailed", self.s3.get_object, Bucket=name, Key="k", IfMatch='"other"')
        self.refused("304", self.s3.get_object, Bucket=name, Key="k", IfNoneMatch=tag)
        past = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
        self.refused("PreconditionFailed", self.s3.get_object, Bucket=name, Key="k", IfUnmodifiedSince=past)

    def test_parameters_replace_headers_of_a_read(self):
        name = self.bucket()
        self.s3.put_object(Bucket=name, Key="k", Body=b"1", ContentType="text/plain")
        got = self.s3.get_object(
            Bucket=name, Key="k", ResponseContentType="text/html", ResponseContentDisposition="inline"
        )
        self.assertEqual((got["ContentType"], got["ContentDisposition"]), ("text/html", "inline"))

    def test_attributes_describe_an_object(self):
        name = self.bucket()
        put = self.s3.put_object(Bucket=name, Key="k", Body=b"12345", ChecksumAlgorithm="SHA256")
        found = self.s3.get_object_attributes(
            Bucket=name, Key="k", ObjectAttributes=["ETag", "ObjectSize", "Checksum", "StorageClass"]
        )
        self.assertEqual((found["ObjectSize"], found["StorageClass"]), (5, "STANDARD"))
        self.assertEqual(found["ETag"], put["ETag"].strip('"'))
        self.assertEqual(found["Checksum"]["ChecksumSHA256"], put["ChecksumSHA256"])


class Versions(Companion):
    def test_a_delete_marker_hides_a_key_until_it_is_deleted(self):
        name = self.bucket()
        self.s3.put_object(Bucket=name, Key="k", Body=b"null")
        self.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        first = self.s3.put_object(Bucket=name, Key="k", Body=b"1")["VersionId"]
        second = self.s3.put_object(Bucket=name, Key="k", Body=b"2")["VersionId"]
        marker = self.s3.delete_object(Bucket=name, Key="k")
        self.assertTrue(marker["DeleteMarker"])
        self.refused("NoSuchKey", self.s3.get_object, Bucket=name, Key="k")
        self.refused("MethodNotAllowed", self.s3.get_object, Bucket=name, Key="k", VersionId=marker["VersionId"])
        self.assertEqual(self.body(name, "k", VersionId="null"), b"null")
        self.assertEqual(self.body(name, "k", VersionId=first), b"1")
        listed = self.s3.list_object_versions(Bucket=name)
        self.assertEqual([entry["VersionId"] for entry in listed["Versions"]], [second, first, "null"])
        self.assertEqual([entry["IsLatest"] for entry in listed["DeleteMarkers"]], [True])
        self.s3.delete_object(Bucket=name, Key="k", VersionId=marker["VersionId"])
        self.assertEqual(self.body(name, "k"), b"2")
        self.s3.delete_object(Bucket=name, Key="k", VersionId=second)
        self.assertEqual(self.body(name, "k"), b"1")
        self.refused("NoSuchVersion", self.s3.get_object, Bucket=name, Key="k", VersionId=second)
        self.refused("InvalidArgument", self.s3.delete_object, Bucket=name, Key="k", VersionId="never-given")

    def test_a_suspended_bucket_has_one_null_version(self):
        name = self.bucket()
        self.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        kept = self.s3.put_object(Bucket=name, Key="k", Body=b"kept")["VersionId"]
        self.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Suspended"})
        for body in (b"1", b"2"):
            self.assertNotIn("VersionId", self.s3.put_object(Bucket=name, Key="k", Body=body))
        self.assertEqual(self.s3.delete_object(Bucket=name, Key="k")["VersionId"], "null")
        listed = self.s3.list_object_versions(Bucket=name)
        self.assertEqual([entry["VersionId"] for entry in listed["Versions"]], [kept])
        self.assertEqual([entry["VersionId"] for entry in listed["DeleteMarkers"]], ["null"])

    def test_many_keys_are_deleted_at_once_and_each_is_answered(self):
        name = self.bucket()
        keys = [f"k{number:03}" for number in range(120)]
        self.fill(name, keys)
        objects = [{"Key": key} for key in [*keys, "absent"]] + [{"Key": "k000", "VersionId": "never-given"}]
        answer = self.s3.delete_objects(Bucket=name, Delete={"Objects": objects})
        self.assertEqual([found["Key"] for found in answer["Deleted"]], [*keys, "absent"])
        self.assertEqual([found["Code"] for found in answer["Errors"]], ["InvalidArgument"])
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=name))


class Copies(Companion):
    def test_a_copy_keeps_what_its_source_has(self):
        name = self.bucket()
        body = os.urandom(300_000)
        self.s3.put_object(
            Bucket=name, Key="from", Body=body, ContentType="text/plain", Metadata={"a": "1"}, Tagging="t=v"
        )
        self.s3.copy_object(Bucket=name, Key="to", CopySource={"Bucket": name, "Key": "from"})
        head = self.s3.head_object(Bucket=name, Key="to")
        self.assertEqual((head["ContentType"], head["Metadata"]), ("text/plain", {"a": "1"}))
        self.assertEqual(self.body(name, "to"), body)
        tags = self.s3.get_object_tagging(Bucket=name, Key="to")["TagSet"]
        self.assertEqual(tags, [{"Key": "t", "Value": "v"}])

    def test_a_copy_onto_itself_changes_something_or_is_refused(self):
        name = self.bucket()
        self.fill(name, ["k"])
        source = {"Bucket": name, "Key": "k"}
        self.refused("InvalidRequest", self.s3.copy_object, Bucket=name, Key="k", CopySource=source)
        self.s3.copy_object(
            Bucket=name, Key="k", CopySource=source, MetadataDirective="REPLACE", Metadata={"new": "2"}
        )
        self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["Metadata"], {"new": "2"})
        self.assertEqual(self.body(name, "k"), b"k")

    def test_a_copy_sees_the_conditions_and_the_rights_of_its_source(self):
        name = self.bucket()
        self.fill(name, ["k"])
        source = {"Bucket": name, "Key": "k"}
        absent = {"Bucket": name, "Key": "absent"}
        self.refused("NoSuchKey", self.s3.copy_object, Bucket=name, Key="to", CopySource=absent)
        self.refused(
            "PreconditionFailed", self.s3.copy_object, Bucket=name, Key="to", CopySource=source, CopySourceIfMatch="x"
        )
        other = "copies-of-the-guest"
        self.guest.create_bucket(Bucket=other)
        self.refused("AccessDenied", self.guest.copy_object, Bucket=other, Key="to", CopySource=source)


class Access(Companion):
    def test_lists_are_refused_until_ownership_allows_them(self):
        name = self.bucket()
        self.fill(name, ["open", "shut"])
        self.refused("AccessControlListNotSupported", self.s3.put_object_acl, Bucket=name, Key="open", ACL="public-read")
        self.s3.put_bucket_ownership_controls(
            Bucket=name, OwnershipControls={"Rules": [{"ObjectOwnership": "ObjectWriter"}]}
        )
        self.s3.put_object_acl(Bucket=name, Key="open", ACL="public-read")
        grants = self.s3.get_object_acl(Bucket=name, Key="open")["Grants"]
        self.assertEqual([grant["Permission"] for grant in grants], ["FULL_CONTROL", "READ"])
        self.assertEqual(self.guest.get_object(Bucket=name, Key="open")["Body"].read(), b"open")
        self.refused("AccessDenied", self.guest.get_object, Bucket=name, Key="shut")

    def test_who_writes_into_an_open_bucket_owns_what_was_written(self):
        name = self.bucket(ObjectOwnership="ObjectWriter")
        self.s3.put_bucket_acl(Bucket=name, ACL="public-read-write")
        self.guest.put_object(Bucket=name, Key="k", Body=b"guest")
        self.refused("AccessDenied", self.s3.get_object, Bucket=name, Key="k")
        self.guest.put_object(Bucket=name, Key="k", Body=b"shared", ACL="bucket-owner-full-control")
        self.assertEqual(self.body(name, "k"), b"shared")

    def test_a_policy_lets_others_in_and_a_block_keeps_them_out(self):
        name = self.bucket()
        self.fill(name, ["k"])
        statement = {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{name}/*",
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.refused("AccessDenied", self.guest.get_object, Bucket=name, Key="k")
        self.s3.put_bucket_policy(Bucket=name, Policy=policy)
        self.assertEqual(self.s3.get_bucket_policy(Bucket=name)["Policy"], policy)
        self.assertTrue(self.s3.get_bucket_policy_status(Bucket=name)["PolicyStatus"]["IsPublic"])
        self.assertEqual(self.guest.get_object(Bucket=name, Key="k")["Body"].read(), b"k")
        self.s3.put_public_access_block(
            Bucket=name, PublicAccessBlockConfiguration={"RestrictPublicBuckets": True, "BlockPublicPolicy": True}
        )
        self.refused("AccessDenied", self.guest.get_object, Bucket=name, Key="k")
        self.refused("AccessDenied", self.s3.put_bucket_policy, Bucket=name, Policy=policy)
        self.s3.delete_bucket_policy(Bucket=name)
        self.refused("NoSuchBucketPolicy", self.s3.get_bucket_policy, Bucket=name)
        self.refused("MalformedPolicy", self.s3.put_bucket_policy, Bucket=name, Policy="{}")

    def test_tags_are_put_shown_and_deleted(self):
        name = self.bucket()
        self.fill(name, ["k"])
        tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
        self.s3.put_object_tagging(Bucket=name, Key="k", Tagging={"TagSet": tags})
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], tags)
        self.s3.delete_object_tagging(Bucket=name, Key="k")
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], [])
        twice = {"TagSet": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}
        self.refused("InvalidTag", self.s3.put_object_tagging, Bucket=name, Key="k", Tagging=twice)
        self.refused("NoSuchKey", self.s3.get_object_tagging, Bucket=name, Key="absent")


class Locks(Companion):
    def test_a_retention_and_a_hold_keep_a_version(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        version = self.s3.put_object(
            Bucket=name, Key="k", Body=b"1", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=until
        )["VersionId"]
        named = {"Bucket": name, "Key": "k", "VersionId": version}
        self.refused("AccessDenied", self.s3.delete_object, **named)
        self.s3.put_object_legal_hold(**named, LegalHold={"Status": "ON"})
        self.refused("AccessDenied", self.s3.delete_object, **named, BypassGovernanceRetention=True)
        self.s3.put_object_legal_hold(**named, LegalHold={"Status": "OFF"})
        shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": until - datetime.timedelta(hours=1)}
        self.refused("AccessDenied", self.s3.put_object_retention, **named, Retention=shorter)
        self.s3.put_object_retention(**named, Retention=shorter, BypassGovernanceRetention=True)
        self.s3.delete_object(**named, BypassGovernanceRetention=True)
        self.refused("NoSuchVersion", self.s3.get_object, **named)

    def test_a_default_locks_what_brings_no_lock(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
        configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
        self.s3.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=configuration)
        found = self.s3.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"]
        self.assertEqual(found, configuration)
        version = self.s3.put_object(Bucket=name, Key="k", Body=b"1")["VersionId"]
        self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["ObjectLockMode"], "COMPLIANCE")
        self.refused(
            "AccessDenied",
            self.s3.delete_object,
            Bucket=name,
            Key="k",
            VersionId=version,
            BypassGovernanceRetention=True,
        )
        self.refused(
            "InvalidBucketState",
            self.s3.put_bucket_versioning,
            Bucket=name,
            VersioningConfiguration={"Status": "Suspended"},
        )

    def test_a_lifecycle_rule_names_the_end_of_what_it_takes(self):
        name = self.bucket()
        rule = {"ID": "r 1", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}, "Expiration": {"Days": 3}}
        self.s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [rule]})
        self.assertEqual(self.s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"], [rule])
        put = self.s3.put_object(Bucket=name, Key="tmp/k", Body=b"1")
        self.assertRegex(put["Expiration"], r'^expiry-date="\w{3}, .* 00:00:00 GMT", rule-id="r%201"$')
        self.assertEqual(self.s3.head_object(Bucket=name, Key="tmp/k")["Expiration"], put["Expiration"])
        self.assertNotIn("Expiration", self.s3.put_object(Bucket=name, Key="kept", Body=b"1"))
        self.s3.delete_bucket_lifecycle(Bucket=name)
        self.assertNotIn("Expiration", self.s3.head_object(Bucket=name, Key="tmp/k"))


if __name__ == "__main__":
    unittest.main()
