"""Who may do what: lists, policies, the public access block, ownership, and object lock."""

import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import ACCOUNTS, ALL_USERS, SIGNED_USERS, UTC, Suite, digest64, request  # noqa: E402

MAIN, GUEST_ID = ACCOUNTS[0]["canonicalId"], ACCOUNTS[1]["canonicalId"]


def arn(bucket, key=None):
    return f"arn:aws:s3:::{bucket}" + (f"/{key}" if key else "")


class ObjectLists(Suite):
    def test_each_canned_list_lets_in_whom_it_names(self):
        name = self.bucket("ObjectWriter")
        for acl, guest, anyone in (
            ("private", False, False),
            ("public-read", True, True),
            ("public-read-write", True, True),
            ("authenticated-read", True, False),
            ("bucket-owner-read", False, False),
        ):
            self.put(name, ACL=acl)
            for reader, allowed in ((self.guest, guest), (self.anonymous, anyone)):
                if allowed:
                    self.assertEqual(reader.get_object(Bucket=name, Key="k")["Body"].read(), b"body", acl)
                else:
                    self.refused(403, "AccessDenied", reader.get_object, Bucket=name, Key="k")

    def test_a_list_is_put_as_headers_and_as_a_document(self):
        name = self.bucket("ObjectWriter")
        self.put(name)
        self.s3.put_object_acl(Bucket=name, Key="k", GrantRead=f"id={GUEST_ID}", GrantFullControl=f"id={MAIN}")
        shown = self.s3.get_object_acl(Bucket=name, Key="k")
        self.assertEqual(shown["Owner"]["ID"], MAIN)
        self.assertEqual(self.guest.get_object(Bucket=name, Key="k")["Body"].read(), b"body")
        shown["Grants"] = [grant for grant in shown["Grants"] if grant["Permission"] != "READ"]
        policy = {"Owner": shown["Owner"], "Grants": shown["Grants"]}
        self.s3.put_object_acl(Bucket=name, Key="k", AccessControlPolicy=policy)
        self.refused(403, "AccessDenied", self.guest.get_object, Bucket=name, Key="k")
        grantee = {"Type": "AmazonCustomerByEmail", "EmailAddress": "guest@example.com"}
        policy["Grants"].append({"Grantee": grantee, "Permission": "READ_ACP"})
        self.s3.put_object_acl(Bucket=name, Key="k", AccessControlPolicy=policy)
        found = self.guest.get_object_acl(Bucket=name, Key="k")["Grants"]
        self.assertIn((GUEST_ID, "READ_ACP"), [(grant["Grantee"].get("ID"), grant["Permission"]) for grant in found])

    def test_an_empty_name_of_a_list_is_none(self):
        name = self.bucket(ACL="")
        self.put(name, ACL="")
        self.s3.create_multipart_upload(Bucket=name, Key="k", ACL="")
        self.assertEqual(self.body(name), b"body")

    def test_who_writes_owns_unless_the_bucket_says_otherwise(self):
        for ownership, acl, owner in (
            ("ObjectWriter", None, GUEST_ID),
            ("ObjectWriter", "bucket-owner-full-control", GUEST_ID),
            ("BucketOwnerPreferred", None, GUEST_ID),
            ("BucketOwnerPreferred", "bucket-owner-full-control", MAIN),
            ("BucketOwnerEnforced", None, MAIN),
        ):
            name = self.bucket(ownership)
            self.put_policy(name, {"Effect": "Allow", "Principal": "*", "Action": "s3:PutObject*", "Resource": arn(name, "*")})
            self.guest.put_object(Bucket=name, Key="k", Body=b"x", **({"ACL": acl} if acl else {}))
            listed = self.s3.list_objects_v2(Bucket=name, FetchOwner=True)["Contents"][0]
            self.assertEqual(listed["Owner"]["ID"], owner, (ownership, acl))

    def test_the_owner_of_a_bucket_reads_what_others_wrote_if_they_say_so(self):
        name = self.bucket("ObjectWriter")
        self.put_policy(name, {"Effect": "Allow", "Principal": "*", "Action": "s3:PutObject*", "Resource": arn(name, "*")})
        self.guest.put_object(Bucket=name, Key="shut", Body=b"x")
        self.refused(403, "AccessDenied", self.s3.get_object, Bucket=name, Key="shut")
        for acl in ("bucket-owner-read", "bucket-owner-full-control"):
            self.guest.put_object(Bucket=name, Key=acl, Body=b"x", ACL=acl)
            self.assertEqual(self.body(name, acl), b"x")
        self.s3.delete_object(Bucket=name, Key="shut")

    def test_a_list_that_is_none_is_refused(self):
        name = self.bucket("ObjectWriter")
        self.put(name)
        for target in (f"/{name}?acl", f"/{name}/k?acl"):
            answer = request("PUT", target)
            self.is_refused(
                answer, 400, "MissingSecurityHeader", MissingHeaderName="x-amz-acl",
                Message="Your request was missing a required header",
            )  # fmt: skip
            self.is_refused(request("PUT", target, {}, "<X/>"), 400, "MalformedACLError")
            answer = request("PUT", target, {"-acl": "private"}, "<X/>")
            self.is_refused(answer, 400, "UnexpectedContent", Message="This request does not support content")
            answer = request("PUT", target, {"-acl": "fake-acl"})
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-acl", ArgumentValue="fake-acl")
            for grantee in (GUEST_ID, "nobody"):
                answer = request("PUT", target, {"-acl": "private", "-grant-read": f"id={grantee}"})
                self.is_refused(answer, 400, "InvalidRequest")

    def test_grantees_of_a_document_are_checked(self):
        name = self.bucket("ObjectWriter")
        self.put(name)
        for grantee, argument, value, message in (
            ({"Type": "CanonicalUser", "ID": "wrong-id"}, "CanonicalUser/ID", "wrong-id", "Invalid id"),
            (
                {"Type": "Group", "URI": "http://acs.amazonaws.com/groups/s3/FakeGroup"},
                "Group/URI",
                "http://acs.amazonaws.com/groups/s3/FakeGroup",
                "Invalid group uri",
            ),
        ):
            policy = {"Owner": {"ID": MAIN}, "Grants": [{"Grantee": grantee, "Permission": "READ"}]}
            for call, arguments in ((self.s3.put_bucket_acl, {}), (self.s3.put_object_acl, {"Key": "k"})):
                refused = self.refused(400, "InvalidArgument", call, Bucket=name, AccessControlPolicy=policy, **arguments)
                self.assertEqual(
                    (refused["ArgumentName"], refused["ArgumentValue"], refused["Message"]), (argument, value, message)
                )
        grants = [{"Grantee": {"Type": "CanonicalUser", "ID": MAIN}, "Permission": "READ"}]
        for owner, status, code in (("wrong-id", 400, "InvalidArgument"), ("0" * 64, 403, "AccessDenied")):
            policy = {"Owner": {"ID": owner}, "Grants": grants}
            self.refused(status, code, self.s3.put_bucket_acl, Bucket=name, AccessControlPolicy=policy)


class BucketLists(Suite):
    def test_grants_of_a_bucket_let_others_list_and_write(self):
        name = self.bucket("ObjectWriter")
        self.fill(name, ["k"])
        self.refused(403, "AccessDenied", self.guest.list_objects_v2, Bucket=name)
        self.s3.put_bucket_acl(Bucket=name, GrantRead=f"id={GUEST_ID}")
        self.assertEqual(self.guest.list_objects_v2(Bucket=name)["KeyCount"], 1)
        self.refused(403, "AccessDenied", self.guest.put_object, Bucket=name, Key="g", Body=b"x")
        self.refused(403, "AccessDenied", self.guest.get_bucket_acl, Bucket=name)
        self.s3.put_bucket_acl(Bucket=name, GrantWrite=f"id={GUEST_ID}", GrantReadACP=f"id={GUEST_ID}")
        self.guest.put_object(Bucket=name, Key="g", Body=b"x")
        self.guest.delete_object(Bucket=name, Key="k")
        self.guest.get_bucket_acl(Bucket=name)
        self.refused(403, "AccessDenied", self.guest.put_bucket_acl, Bucket=name, ACL="private")
        self.s3.put_bucket_acl(Bucket=name, GrantWriteACP=f"id={GUEST_ID}")
        self.guest.put_bucket_acl(Bucket=name, ACL="private")

    def test_canned_lists_of_a_bucket(self):
        name = self.bucket("ObjectWriter")
        for acl, others in (
            ("private", []),
            ("public-read", [(ALL_USERS, "READ")]),
            ("public-read-write", [(ALL_USERS, "READ"), (ALL_USERS, "WRITE")]),
            ("authenticated-read", [(SIGNED_USERS, "READ")]),
            ("log-delivery-write", [("http://acs.amazonaws.com/groups/s3/LogDelivery", "WRITE"), ("http://acs.amazonaws.com/groups/s3/LogDelivery", "READ_ACP")]),
        ):
            self.s3.put_bucket_acl(Bucket=name, ACL=acl)
            grants = self.s3.get_bucket_acl(Bucket=name)["Grants"]
            found = [(grant["Grantee"]["URI"], grant["Permission"]) for grant in grants if "URI" in grant["Grantee"]]
            self.assertEqual(found, others, acl)

    def test_who_may_not_list_does_not_learn_what_is_absent(self):
        name = self.bucket("ObjectWriter")
        self.refused(403, "AccessDenied", self.guest.get_object, Bucket=name, Key="absent")
        self.refused(403, "403", self.guest.head_object, Bucket=name, Key="absent")
        self.s3.put_bucket_acl(Bucket=name, ACL="public-read")
        self.refused(404, "NoSuchKey", self.guest.get_object, Bucket=name, Key="absent")
        self.refused(404, "NoSuchKey", self.anonymous.get_object, Bucket=name, Key="absent")


class Policies(Suite):
    def test_a_policy_lets_others_do_what_it_says(self):
        name = self.bucket()
        self.fill(name, ["open/k", "shut/k"])
        self.put_policy(
            name,
            {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": arn(name, "open/*")},
            {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNTS[1]['id']}:root"}, "Action": ["s3:ListBucket"], "Resource": arn(name)},
        )
        self.assertEqual(self.anonymous.get_object(Bucket=name, Key="open/k")["Body"].read(), b"open/k")
        self.refused(403, "AccessDenied", self.anonymous.get_object, Bucket=name, Key="shut/k")
        self.assertEqual(self.guest.list_objects_v2(Bucket=name)["KeyCount"], 2)
        self.refused(403, "AccessDenied", self.anonymous.list_objects_v2, Bucket=name)
        self.refused(403, "AccessDenied", self.guest.put_object, Bucket=name, Key="open/x", Body=b"x")

    def test_a_denial_counts_before_any_allowance_and_for_the_owner(self):
        name = self.bucket()
        self.put_policy(
            name,
            {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": [arn(name), arn(name, "*")]},
            {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": arn(name, "no/*")},
        )
        self.put(name, "yes")
        for writer in (self.s3, self.guest, self.anonymous):
            self.refused(403, "AccessDenied", writer.put_object, Bucket=name, Key="no/k", Body=b"x")
        self.s3.delete_bucket_policy(Bucket=name)
        self.put(name, "no/k")

    def test_conditions_on_headers_hold(self):
        name = self.bucket()
        deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": arn(name, "*")}
        for condition, refused, taken in (
            ({"StringNotEquals": {"s3:x-amz-server-side-encryption": "AES256"}}, {}, {"ServerSideEncryption": "AES256"}),
            ({"Null": {"s3:x-amz-server-side-encryption": "true"}}, {}, {"ServerSideEncryption": "AES256"}),
            ({"StringNotLike": {"s3:x-amz-storage-class": ["STANDARD*"]}}, {}, {"StorageClass": "STANDARD_IA"}),
            ({"StringEquals": {"s3:RequestObjectTag/kind": "secret"}}, {"Tagging": "kind=secret"}, {"Tagging": "kind=open"}),
        ):
            self.put_policy(name, {**deny, "Condition": condition})
            self.refused(403, "AccessDenied", self.put, bucket=name, **refused)
            self.put(name, **taken)

    def test_conditions_on_the_tags_of_an_object_hold(self):
        name = self.bucket()
        for kind in ("open", "shut"):
            self.put(name, kind, Tagging=f"kind={kind}")
        self.put(name, "none")
        condition = {"StringEquals": {"s3:ExistingObjectTag/kind": "open"}}
        actions = ["s3:GetObject", "s3:GetObjectTagging"]
        self.put_policy(
            name, {"Effect": "Allow", "Principal": "*", "Action": actions, "Resource": arn(name, "*"), "Condition": condition}
        )
        self.assertEqual(self.guest.get_object(Bucket=name, Key="open")["Body"].read(), b"body")
        self.guest.get_object_tagging(Bucket=name, Key="open")
        for key in ("shut", "none", "absent"):
            self.refused(403, "AccessDenied", self.guest.get_object, Bucket=name, Key=key)

    def test_a_listing_may_be_bound_to_a_prefix(self):
        name = self.bucket()
        condition = {"StringEquals": {"s3:prefix": "a/"}}
        self.put_policy(
            name, {"Effect": "Allow", "Principal": "*", "Action": "s3:ListBucket", "Resource": arn(name), "Condition": condition}
        )
        self.guest.list_objects_v2(Bucket=name, Prefix="a/")
        self.refused(403, "AccessDenied", self.guest.list_objects_v2, Bucket=name, Prefix="b/")

    def test_a_policy_is_given_back_as_it_was_put(self):
        name = self.bucket()
        text = json.dumps(
            {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": arn(name, "*")}]}
        )
        self.s3.put_bucket_policy(Bucket=name, Policy=text)
        self.assertEqual(json.loads(self.s3.get_bucket_policy(Bucket=name)["Policy"]), json.loads(text))
        self.assertTrue(self.s3.get_bucket_policy_status(Bucket=name)["PolicyStatus"]["IsPublic"])
        self.s3.delete_bucket_policy(Bucket=name)
        refused = self.refused(404, "NoSuchBucketPolicy", self.s3.get_bucket_policy, Bucket=name)
        self.assertEqual((refused["BucketName"], refused["Message"]), (name, "The bucket policy does not exist"))

    def test_a_policy_that_is_none_is_refused(self):
        name = self.bucket()
        good = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": arn(name, "*")}
        for wrong in (
            {"Effect": "Maybe"}, {"Principal": "someone"}, {"Action": "none"}, {"Resource": arn("other", "*")},
            {"Resource": "no-arn"}, {"Condition": {"Odd": {"s3:prefix": "a"}}}, {"Other": 1},
        ):  # fmt: skip
            self.refused(
                400, "MalformedPolicy", self.s3.put_bucket_policy, Bucket=name,
                Policy=json.dumps({"Version": "2012-10-17", "Statement": [{**good, **wrong}]}),
            )  # fmt: skip
        for text in ("", "no json", "{}", "[]"):
            self.is_refused(request("PUT", f"/{name}?policy", {}, text), 400, "MalformedPolicy")


class PublicAccess(Suite):
    def block(self, name, **block):
        self.s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=block)

    def test_the_block_is_put_shown_and_deleted(self):
        name = self.bucket()
        self.block(name, BlockPublicAcls=True, RestrictPublicBuckets=True)
        self.assertEqual(
            self.s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"],
            {"BlockPublicAcls": True, "IgnorePublicAcls": False, "BlockPublicPolicy": False, "RestrictPublicBuckets": True},
        )
        self.s3.delete_public_access_block(Bucket=name)
        self.refused(404, "NoSuchPublicAccessBlockConfiguration", self.s3.get_public_access_block, Bucket=name)

    def test_public_lists_are_refused_where_they_are_blocked(self):
        name = self.bucket("ObjectWriter")
        self.put(name, "before", ACL="public-read")
        self.block(name, BlockPublicAcls=True)
        for acl in ("public-read", "public-read-write", "authenticated-read"):
            self.refused(403, "AccessDenied", self.s3.put_bucket_acl, Bucket=name, ACL=acl)
            self.refused(403, "AccessDenied", self.put, bucket=name, ACL=acl)
            self.refused(403, "AccessDenied", self.s3.put_object_acl, Bucket=name, Key="before", ACL=acl)
        self.put(name, ACL="private")
        self.assertEqual(self.anonymous.get_object(Bucket=name, Key="before")["Body"].read(), b"body")

    def test_public_lists_do_not_count_where_they_are_ignored(self):
        name = self.bucket("ObjectWriter")
        self.put(name, ACL="public-read")
        self.anonymous.get_object(Bucket=name, Key="k")
        self.block(name, IgnorePublicAcls=True)
        self.refused(403, "AccessDenied", self.anonymous.get_object, Bucket=name, Key="k")
        self.put(name, ACL="public-read")

    def test_public_policies_are_refused_where_they_are_blocked(self):
        name = self.bucket()
        self.block(name, BlockPublicPolicy=True)
        statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": arn(name, "*")}
        self.refused(
            403, "AccessDenied", self.s3.put_bucket_policy, Bucket=name,
            Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
        )  # fmt: skip
        self.put_policy(name, {**statement, "Principal": {"AWS": ACCOUNTS[1]["id"]}})

    def test_a_public_policy_counts_for_the_owner_alone_where_it_is_restricted(self):
        name = self.bucket()
        self.put(name)
        self.put_policy(name, {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": arn(name, "*")})
        self.anonymous.get_object(Bucket=name, Key="k")
        self.block(name, RestrictPublicBuckets=True)
        self.refused(403, "AccessDenied", self.anonymous.get_object, Bucket=name, Key="k")
        self.refused(403, "AccessDenied", self.guest.get_object, Bucket=name, Key="k")
        self.s3.get_object(Bucket=name, Key="k")


class Locks(Suite):
    def locked(self, **arguments):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        return {"Bucket": name, "Key": "k", "VersionId": self.put(name, **arguments)["VersionId"]}

    def until(self, days):
        return (datetime.datetime.now(UTC) + datetime.timedelta(days=days)).replace(microsecond=0)

    def test_a_bucket_that_locks_keeps_versions_for_good(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        self.assertEqual(self.s3.get_bucket_versioning(Bucket=name)["Status"], "Enabled")
        shown = self.s3.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"]
        self.assertEqual(shown, {"ObjectLockEnabled": "Enabled"})
        refused = self.refused(
            409, "InvalidBucketState", self.s3.put_bucket_versioning, Bucket=name,
            VersioningConfiguration={"Status": "Suspended"},
        )  # fmt: skip
        self.assertEqual(
            refused["Message"],
            "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
        )

    def test_lock_comes_to_a_bucket_that_keeps_versions(self):
        name = self.bucket()
        put = self.s3.put_object_lock_configuration
        configuration = {"ObjectLockEnabled": "Enabled"}
        refused = self.refused(409, "InvalidBucketState", put, Bucket=name, ObjectLockConfiguration=configuration)
        self.assertEqual(
            refused["Message"], "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration"
        )
        self.versioning(name, "Enabled")
        put(Bucket=name, ObjectLockConfiguration=configuration)
        for rule in ({"Days": 0}, {"Years": -1}, {"Days": 1, "Years": 1}, {}, {"Days": 36501}):
            code = "InvalidArgument" if len(rule) == 1 else "MalformedXML"
            retention = {"Mode": "GOVERNANCE", **rule}
            self.refused(
                400, code, put, Bucket=name,
                ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": retention}},
            )  # fmt: skip
        self.refused(400, "MalformedXML", put, Bucket=name, ObjectLockConfiguration={"ObjectLockEnabled": "Disabled"})

    def test_a_default_gives_its_time_to_what_brings_none(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        for period, days in (({"Days": 2}, 2), ({"Years": 1}, 365)):
            rule = {"DefaultRetention": {"Mode": "GOVERNANCE", **period}}
            self.s3.put_object_lock_configuration(
                Bucket=name, ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
            )
            self.put(name)
            head = self.s3.head_object(Bucket=name, Key="k")
            self.assertEqual(head["ObjectLockMode"], "GOVERNANCE")
            left = head["ObjectLockRetainUntilDate"] - datetime.datetime.now(UTC)
            self.assertAlmostEqual(left.total_seconds(), days * 86400, delta=120)
            own = self.until(9)
            self.put(name, ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=own)
            head = self.s3.head_object(Bucket=name, Key="k")
            self.assertEqual((head["ObjectLockMode"], head["ObjectLockRetainUntilDate"]), ("COMPLIANCE", own))

    def test_what_is_locked_is_not_deleted_but_hidden(self):
        version = self.locked(ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=self.until(1))
        refused = self.refused(403, "AccessDenied", self.s3.delete_object, **version)
        self.assertEqual(refused["Message"], "Access Denied because object protected by object lock.")
        answer = self.s3.delete_objects(
            Bucket=version["Bucket"], Delete={"Objects": [{"Key": "k", "VersionId": version["VersionId"]}]}
        )
        self.assertEqual([found["Code"] for found in answer["Errors"]], ["AccessDenied"])
        self.assertTrue(self.s3.delete_object(Bucket=version["Bucket"], Key="k")["DeleteMarker"])
        self.s3.get_object(**version)
        self.s3.delete_object(**version, BypassGovernanceRetention=True)

    def test_compliance_yields_to_nobody(self):
        version = self.locked(ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=self.until(1))
        self.refused(403, "AccessDenied", self.s3.delete_object, **version, BypassGovernanceRetention=True)
        for retention in (
            {"Mode": "COMPLIANCE", "RetainUntilDate": self.until(0.5)},
            {"Mode": "GOVERNANCE", "RetainUntilDate": self.until(9)},
        ):
            self.refused(
                403, "AccessDenied", self.s3.put_object_retention, **version, Retention=retention,
                BypassGovernanceRetention=True,
            )  # fmt: skip
        self.s3.put_object_retention(**version, Retention={"Mode": "COMPLIANCE", "RetainUntilDate": self.until(2)})

    def test_a_governed_version_changes_only_with_the_bypass(self):
        version = self.locked(ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=self.until(2))
        put = self.s3.put_object_retention
        for retention in (
            {"Mode": "GOVERNANCE", "RetainUntilDate": self.until(1)},
            {"Mode": "COMPLIANCE", "RetainUntilDate": self.until(3)},
        ):
            self.refused(403, "AccessDenied", put, **version, Retention=retention)
        put(**version, Retention={"Mode": "GOVERNANCE", "RetainUntilDate": self.until(3)})
        put(**version, Retention={"Mode": "COMPLIANCE", "RetainUntilDate": self.until(1)}, BypassGovernanceRetention=True)
        shown = self.s3.get_object_retention(**version)["Retention"]
        self.assertEqual(shown["Mode"], "COMPLIANCE")

    def test_a_hold_stands_beside_a_retention(self):
        version = self.locked(ObjectLockLegalHoldStatus="ON")
        self.assertEqual(self.s3.get_object_legal_hold(**version)["LegalHold"]["Status"], "ON")
        self.assertEqual(self.s3.head_object(**version)["ObjectLockLegalHoldStatus"], "ON")
        self.refused(403, "AccessDenied", self.s3.delete_object, **version, BypassGovernanceRetention=True)
        self.s3.put_object_legal_hold(**version, LegalHold={"Status": "OFF"})
        self.assertEqual(self.s3.head_object(**version)["ObjectLockLegalHoldStatus"], "OFF")
        self.s3.delete_object(**version)

    def test_faults_of_lock_operations_are_named(self):
        plain = self.bucket()
        self.put(plain)
        locked = self.bucket(ObjectLockEnabledForBucket=True)
        self.put(locked)
        retention = {"Mode": "GOVERNANCE", "RetainUntilDate": self.until(1)}
        missing = "Bucket is missing Object Lock Configuration"
        for call, arguments in (
            (self.s3.get_object_retention, {}),
            (self.s3.get_object_legal_hold, {}),
            (self.s3.put_object_retention, {"Retention": retention}),
            (self.s3.put_object_legal_hold, {"LegalHold": {"Status": "ON"}}),
        ):
            refused = self.refused(400, "InvalidRequest", call, Bucket=plain, Key="k", **arguments)
            self.assertEqual(refused["Message"], missing)
            self.refused(404, "NoSuchKey", call, Bucket=locked, Key="absent", **arguments)
        for call in (self.s3.get_object_retention, self.s3.get_object_legal_hold):
            refused = self.refused(404, "NoSuchObjectLockConfiguration", call, Bucket=locked, Key="k")
            self.assertNotIn("BucketName", refused)
        past = {"Mode": "GOVERNANCE", "RetainUntilDate": self.until(-1)}
        refused = self.refused(
            400, "InvalidArgument", self.s3.put_object_retention, Bucket=locked, Key="k", Retention=past
        )
        self.assertEqual(
            (refused["ArgumentName"], refused["Message"]),
            ("RetainUntilDate", "The retain until date must be in the future!"),
        )
        for target, body in (
            ("retention", "<Retention><Mode>governance</Mode><RetainUntilDate>2033-01-01T00:00:00Z</RetainUntilDate></Retention>"),
            ("retention", "<Retention><Mode>GOVERNANCE</Mode></Retention>"),
            ("legal-hold", "<LegalHold><Status>on</Status></LegalHold>"),
            ("legal-hold", "<Other/>"),
        ):
            headers = {"content-md5": digest64("md5", body.encode())}
            self.is_refused(request("PUT", f"/{locked}/k?{target}", headers, body), 400, "MalformedXML")
