"""Buckets: their names, how they come and go, and each of their settings."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import ACCOUNTS, DIALECTS, NUMBERS, REGION, Suite, digest64, request, send, sign  # noqa: E402


class Names(Suite):
    def test_names_that_buckets_may_have(self):
        for name in ("abc", "a.b", "a-b", "1ab", "ab1", "a" * 63, "foo.bar-baz", "10.0.0.256"):
            name = f"{name[:59]}{next(NUMBERS)}"
            self.s3.create_bucket(Bucket=name)
            self.s3.head_bucket(Bucket=name)
            self.s3.delete_bucket(Bucket=name)

    def test_names_that_no_bucket_has(self):
        for name in (
            "ab", "a" * 64, "Upper", "under_score", "-start", "end-", ".start", "end.", "a..b", "a.-b", "a-.b", "192.168.1.1",
            "a%20b", "a%3Fb", "b%C3%BCcket",
        ):  # fmt: skip
            for dialect in DIALECTS:
                answer = request("PUT", f"/{name}", dialect=dialect)
                self.is_refused(answer, 400, "InvalidBucketName", Message="The specified bucket is not valid.")


class Creation(Suite):
    def test_a_bucket_answers_with_its_place(self):
        name = f"placed-{next(NUMBERS)}"
        for dialect in DIALECTS:
            answer = request("PUT", f"/{name}", dialect=dialect)
            self.assertEqual((answer.status, answer.headers["location"]), (200, f"/{name}"))

    def test_a_bucket_again_is_the_same_for_its_owner_and_taken_for_others(self):
        name = self.bucket()
        self.put(name)
        self.s3.create_bucket(Bucket=name)
        self.assertEqual(self.body(name), b"body")
        self.refused(409, "BucketAlreadyExists", self.guest.create_bucket, Bucket=name)

    def test_a_place_is_this_region_or_refused(self):
        name = f"region-{next(NUMBERS)}"
        start = '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>'
        end = "</LocationConstraint></CreateBucketConfiguration>"
        answer = request("PUT", f"/{name}", {}, f"{start}eu-west-9{end}")
        self.is_refused(answer, 400, "InvalidLocationConstraint", LocationConstraint="eu-west-9")
        self.is_refused(request("PUT", f"/{name}", {}, "<Other/>"), 400, "MalformedXML")
        # The oldest region is the one of buckets that name none.
        answer = request("PUT", f"/{name}", {}, f"{start}{REGION}{end}")
        self.is_refused(answer, 400, "InvalidLocationConstraint", LocationConstraint=REGION)
        self.assertEqual(request("PUT", f"/{name}", {}, f"{start}{end}").status, 200)
        self.assertIsNone(self.s3.get_bucket_location(Bucket=name)["LocationConstraint"])

    def test_a_head_names_the_region(self):
        name = self.bucket()
        head = self.s3.head_bucket(Bucket=name)
        self.assertEqual((head["BucketRegion"], head["AccessPointAlias"]), (REGION, False))
        self.refused(404, "404", self.s3.head_bucket, Bucket="nowhere-at-all")
        self.refused(403, "403", self.guest.head_bucket, Bucket=name)

    def test_a_signature_for_another_region_names_the_right_one(self):
        answer = request("GET", "/", region="eu-west-1")
        self.is_refused(
            answer,
            400,
            "AuthorizationHeaderMalformed",
            Region=REGION,
            Message=f"The authorization header is malformed; the region 'eu-west-1' is wrong; expecting '{REGION}'",
        )

    def test_a_bucket_that_holds_anything_stays(self):
        name = self.bucket(versioning="Enabled")
        self.put(name)
        self.refused(409, "BucketNotEmpty", self.s3.delete_bucket, Bucket=name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        self.refused(409, "BucketNotEmpty", self.s3.delete_bucket, Bucket=name)
        for found in self.s3.list_object_versions(Bucket=name)["Versions"]:
            self.s3.delete_object(Bucket=name, Key="k", VersionId=found["VersionId"])
        refused = self.refused(409, "BucketNotEmpty", self.s3.delete_bucket, Bucket=name)
        self.assertTrue(refused["Message"].endswith("is not empty. You must delete all versions in the bucket."))
        self.s3.delete_object(Bucket=name, Key="k", VersionId=marker)
        self.s3.delete_bucket(Bucket=name)
        self.refused(404, "NoSuchBucket", self.s3.delete_bucket, Bucket=name)

    def test_a_bucket_without_versions_is_told_less(self):
        name = self.bucket()
        self.put(name)
        refused = self.refused(409, "BucketNotEmpty", self.s3.delete_bucket, Bucket=name)
        self.assertEqual(refused["Message"], "The bucket you tried to delete is not empty")

    def test_a_bucket_that_comes_again_has_nothing_of_the_old_one(self):
        name = self.bucket()
        self.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        self.s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration={"BlockPublicAcls": True})
        self.s3.delete_bucket(Bucket=name)
        self.s3.create_bucket(Bucket=name)
        self.assertNotIn("Status", self.s3.get_bucket_versioning(Bucket=name))
        self.refused(404, "NoSuchPublicAccessBlockConfiguration", self.s3.get_public_access_block, Bucket=name)


class Ownership(Suite):
    def test_a_bucket_enforces_its_owner_unless_told_otherwise(self):
        name = self.bucket()
        rules = self.s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
        self.assertEqual(rules, [{"ObjectOwnership": "BucketOwnerEnforced"}])
        for ownership in ("ObjectWriter", "BucketOwnerPreferred", "BucketOwnerEnforced"):
            controls = {"Rules": [{"ObjectOwnership": ownership}]}
            self.s3.put_bucket_ownership_controls(Bucket=name, OwnershipControls=controls)
            self.assertEqual(self.s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"], controls)

    def test_controls_that_are_deleted_are_not_found(self):
        name = self.bucket("ObjectWriter")
        self.s3.delete_bucket_ownership_controls(Bucket=name)
        refused = self.refused(
            404, "OwnershipControlsNotFoundError", self.s3.get_bucket_ownership_controls, Bucket=name
        )
        self.assertEqual((refused["BucketName"], refused["Message"]), (name, "The bucket ownership controls were not found"))
        # Without controls a bucket has lists, as buckets had before there were any.
        self.put(name, ACL="public-read")
        controls = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
        self.s3.put_bucket_ownership_controls(Bucket=name, OwnershipControls=controls)
        self.refused(400, "AccessControlListNotSupported", self.put, bucket=name, ACL="public-read")

    def test_values_that_are_none_are_refused(self):
        name = f"ownership-{next(NUMBERS)}"
        for value in ("RandomValue", ""):
            answer = request("PUT", f"/{name}", {"-object-ownership": value})
            self.is_refused(
                answer,
                400,
                "InvalidArgument",
                ArgumentName="x-amz-object-ownership",
                Message=f"Invalid x-amz-object-ownership header: {value}",
            )
        name = self.bucket()
        rule = "<Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule>"
        for rules in ("", rule * 2, "<Rule/>", "<Rule><ObjectOwnership>Other</ObjectOwnership></Rule>"):
            body = f"<OwnershipControls>{rules}</OwnershipControls>"
            self.is_refused(request("PUT", f"/{name}?ownershipControls", {}, body), 400, "MalformedXML")

    def test_a_list_and_enforced_ownership_exclude_each_other(self):
        name = f"excluded-{next(NUMBERS)}"
        self.refused(
            400, "InvalidBucketAclWithObjectOwnership", self.s3.create_bucket, Bucket=name, ACL="public-read",
            ObjectOwnership="BucketOwnerEnforced",
        )  # fmt: skip
        self.s3.create_bucket(Bucket=name, ACL="public-read", ObjectOwnership="ObjectWriter")
        controls = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
        self.refused(
            400, "InvalidBucketAclWithObjectOwnership", self.s3.put_bucket_ownership_controls, Bucket=name,
            OwnershipControls=controls,
        )  # fmt: skip


class Tags(Suite):
    def tags(self, **tags):
        return {"TagSet": [{"Key": key, "Value": value} for key, value in tags.items()]}

    def test_tags_of_a_bucket_are_put_shown_and_deleted(self):
        name = self.bucket()
        refused = self.refused(404, "NoSuchTagSet", self.s3.get_bucket_tagging, Bucket=name)
        self.assertEqual((refused["BucketName"], refused["Message"]), (name, "The TagSet does not exist"))
        self.s3.put_bucket_tagging(Bucket=name, Tagging=self.tags(a="1", b="2"))
        self.assertEqual(self.s3.get_bucket_tagging(Bucket=name)["TagSet"], self.tags(a="1", b="2")["TagSet"])
        self.s3.put_bucket_tagging(Bucket=name, Tagging=self.tags(c="3"))
        self.assertEqual(self.s3.get_bucket_tagging(Bucket=name)["TagSet"], self.tags(c="3")["TagSet"])
        self.s3.delete_bucket_tagging(Bucket=name)
        self.refused(404, "NoSuchTagSet", self.s3.get_bucket_tagging, Bucket=name)
        self.s3.put_bucket_tagging(Bucket=name, Tagging=self.tags(d="4"))
        self.s3.put_bucket_tagging(Bucket=name, Tagging=self.tags())
        self.refused(404, "NoSuchTagSet", self.s3.get_bucket_tagging, Bucket=name)

    def test_rules_of_tags_hold_for_buckets(self):
        name = self.bucket()
        put = self.s3.put_bucket_tagging
        self.s3.put_bucket_tagging(Bucket=name, Tagging=self.tags(**{f"k{number}": "v" for number in range(50)}))
        for tags, message in (
            ({"Key1,Key2": "v"}, "The TagKey you have provided is invalid"),
            ({"Key1": "Val1,Val2"}, "The TagValue you have provided is invalid"),
            ({"aws:prefixed": "v"}, "System tags cannot be added/updated by requester"),
        ):
            refused = self.refused(400, "InvalidTag", put, Bucket=name, Tagging=self.tags(**tags))
            self.assertEqual(refused["Message"], message)
        twice = {"TagSet": [{"Key": "Key1", "Value": "1"}] * 2}
        refused = self.refused(400, "InvalidTag", put, Bucket=name, Tagging=twice)
        self.assertEqual((refused["Message"], refused["TagKey"]), ("Cannot provide multiple Tags with the same key", "Key1"))
        many = self.tags(**{f"k{number}": "v" for number in range(51)})
        self.refused(400, "BadRequest", put, Bucket=name, Tagging=many)


    def test_a_bucket_may_be_made_with_tags(self):
        name = f"tagged-{next(NUMBERS)}"

        def make(key, value):
            tags = f"<Tags><Tag><Key>{key}</Key><Value>{value}</Value></Tag></Tags>"
            return request("PUT", f"/{name}", {}, f"<CreateBucketConfiguration>{tags}</CreateBucketConfiguration>")

        message = "The TagValue you have provided is invalid"
        self.is_refused(make("test", "value1,value2"), 400, "InvalidTag", TagKey="test", TagValue="value1,value2", Message=message)
        self.is_refused(make("test,test2", "v"), 400, "InvalidTag", TagKey="test,test2")
        refused = make("aws:test", "v")
        self.assertTrue(refused.field("Message").startswith('User-defined tag keys can\'t start with "aws:".'), refused)
        self.assertEqual(make("test", "v").status, 200)
        self.assertEqual(self.s3.get_bucket_tagging(Bucket=name)["TagSet"], [{"Key": "test", "Value": "v"}])


class OtherSettings(Suite):
    def test_a_page_of_another_origin_is_told_no(self):
        name = self.bucket()
        asks = {"origin": "http://example.com"}
        for target, headers, method, reason in (
            (f"/{name}", {**asks, "access-control-request-method": "PUT"}, "PUT", "CORS is not enabled for this bucket."),
            (f"/{name}/k", asks, "OPTIONS", "CORS is not enabled for this bucket."),
            ("/nowhere-at-all", asks, "OPTIONS", "Bucket not found"),
        ):
            answer = request("OPTIONS", target, headers, key=None)
            message = f"CORSResponse: {reason}"
            self.is_refused(answer, 403, "AccessForbidden", Method=method, ResourceType="BUCKET", Message=message)
        self.is_refused(request("OPTIONS", f"/{name}", key=None), 400, "BadRequest")

    def test_what_a_bucket_never_had_is_told_as_its_own_error(self):
        name = self.bucket()
        for code, call in (
            ("NoSuchCORSConfiguration", self.s3.get_bucket_cors),
            ("NoSuchWebsiteConfiguration", self.s3.get_bucket_website),
            ("ReplicationConfigurationNotFoundError", self.s3.get_bucket_replication),
            ("NoSuchBucketPolicy", self.s3.get_bucket_policy),
            ("NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration),
            ("ObjectLockConfigurationNotFoundError", self.s3.get_object_lock_configuration),
            ("NoSuchPublicAccessBlockConfiguration", self.s3.get_public_access_block),
        ):
            refused = self.refused(404, code, call, Bucket=name)
            self.assertEqual(refused["BucketName"], name)
            self.refused(404, "NoSuchBucket", call, Bucket="nowhere-at-all")

    def test_what_is_off_is_shown_as_off(self):
        name = self.bucket()
        self.assertEqual(self.s3.get_bucket_request_payment(Bucket=name)["Payer"], "BucketOwner")
        self.assertNotIn("Status", self.s3.get_bucket_accelerate_configuration(Bucket=name))
        self.assertNotIn("LoggingEnabled", self.s3.get_bucket_logging(Bucket=name))
        notification = self.s3.get_bucket_notification_configuration(Bucket=name)
        self.assertNotIn("QueueConfigurations", notification)
        uploads = self.s3.list_multipart_uploads(Bucket=name)
        self.assertEqual((uploads["IsTruncated"], uploads.get("Uploads")), (False, None))

    def test_what_cannot_be_set_names_itself(self):
        name = self.bucket()
        logging = "<BucketLoggingStatus><LoggingEnabled><TargetBucket>b</TargetBucket><TargetPrefix/></LoggingEnabled></BucketLoggingStatus>"
        events = "<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>"
        fast = "<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>"
        for parameter, operation, document in (
            ("replication", "PutBucketReplication", "<X/>"),
            ("logging", "PutBucketLogging", logging), ("notification", "PutBucketNotificationConfiguration", events),
            ("accelerate", "PutBucketAccelerateConfiguration", fast),
        ):  # fmt: skip
            answer = request("PUT", f"/{name}?{parameter}", {}, document)
            self.is_refused(answer, 501, "NotImplemented", Message=f"{operation} is not implemented")

    def test_the_requester_may_be_made_to_pay(self):
        name = self.bucket()
        payment = self.s3.put_bucket_request_payment
        payment(Bucket=name, RequestPaymentConfiguration={"Payer": "Requester"})
        self.assertEqual(self.s3.get_bucket_request_payment(Bucket=name)["Payer"], "Requester")
        self.refused(400, "MalformedXML", payment, Bucket=name, RequestPaymentConfiguration={"Payer": "Random"})
        resource = [f"arn:aws:s3:::{name}/*"]
        self.put_policy(name, {"Effect": "Allow", "Principal": "*", "Action": "s3:PutObject", "Resource": resource})
        self.refused(403, "AccessDenied", self.guest.put_object, Bucket=name, Key="k", Body=b"x")
        put = self.guest.put_object(Bucket=name, Key="k", Body=b"x", RequestPayer="requester")
        self.assertEqual(put["RequestCharged"], "requester")
        self.assertNotIn("RequestCharged", self.put(name))

    def test_encryption_is_always_on(self):
        name = self.bucket()
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": False}
        found = self.s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        self.assertEqual(found, [rule])
        with_bucket_key = {**rule, "BucketKeyEnabled": True}
        self.s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [with_bucket_key]})
        found = self.s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        self.assertEqual(found, [with_bucket_key])
        self.s3.delete_bucket_encryption(Bucket=name)
        found = self.s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        self.assertEqual(found, [rule])
        for rules in ([], [rule, rule]):
            self.refused(
                400, "MalformedXML", self.s3.put_bucket_encryption, Bucket=name,
                ServerSideEncryptionConfiguration={"Rules": rules},
            )  # fmt: skip
        with_key = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256", "KMSMasterKeyID": "x"}}]}
        refused = self.refused(
            400, "InvalidArgument", self.s3.put_bucket_encryption, Bucket=name,
            ServerSideEncryptionConfiguration=with_key,
        )  # fmt: skip
        self.assertEqual(
            (refused["ArgumentName"], refused["Message"]),
            (
                "ApplyServerSideEncryptionByDefault",
                "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse",
            ),
        )

    def test_the_expected_owner_is_checked_everywhere(self):
        name = self.bucket()
        for call in (
            self.s3.get_bucket_location, self.s3.get_bucket_acl, self.s3.get_bucket_policy, self.s3.list_objects_v2,
            self.s3.delete_bucket_policy, self.s3.get_bucket_tagging, self.s3.list_object_versions, self.s3.delete_bucket,
        ):  # fmt: skip
            self.refused(403, "AccessDenied", call, Bucket=name, ExpectedBucketOwner=ACCOUNTS[1]["id"])
            self.refused(400, "InvalidBucketOwnerAWSAccountID", call, Bucket=name, ExpectedBucketOwner="invalid")

    def test_a_method_that_nothing_has_is_405(self):
        name = self.bucket()
        for method, target, kind in (("POST", "/", "SERVICE"), ("PATCH", f"/{name}", "BUCKET"), ("PATCH", f"/{name}/k", "OBJECT")):
            answer = request(method, target)
            message = "The specified method is not allowed against this resource."
            self.is_refused(answer, 405, "MethodNotAllowed", Method=method, ResourceType=kind, Message=message)

    def test_credentials_that_cannot_be_read_are_told_before_a_method_that_nothing_has(self):
        for method, target in (("HEAD", "/"), ("PATCH", f"/{self.bucket()}/k")):
            for payload, status in (("invalid", 400), ("UNSIGNED-PAYLOAD", 405), ("0" * 64, 405)):
                self.assertEqual(request(method, target, payload=payload).status, status, (method, payload))
            unhashed = sign(method, target, {})
            del unhashed["x-amz-content-sha256"]
            self.assertEqual(send(method, target, unhashed).status, 400, method)

    def test_lifecycle_rules_are_checked(self):
        name = self.bucket()
        put = self.s3.put_bucket_lifecycle_configuration

        def rules(*given):
            return {"Bucket": name, "LifecycleConfiguration": {"Rules": list(given)}}

        plain = {"Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}
        put(**rules({"ID": "a", **plain}, {"ID": "b", **plain, "Filter": {"Tag": {"Key": "t", "Value": "1"}}}))
        self.assertEqual([rule["ID"] for rule in self.s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]], ["a", "b"])
        put(**rules(plain))
        self.assertTrue(self.s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"][0]["ID"])
        self.refused(400, "InvalidArgument", put, **rules({"ID": "a", **plain}, {"ID": "a", **plain}))
        self.refused(400, "InvalidArgument", put, **rules({"ID": "a" * 256, **plain}))
        self.refused(400, "InvalidArgument", put, **rules({**plain, "Expiration": {"Days": 0}}))
        self.refused(400, "MalformedXML", put, **rules({**plain, "Status": "enabled"}))
        self.refused(400, "MalformedXML", put, **rules())
        both = {"And": {"Prefix": "a", "ObjectSizeGreaterThan": 1}, "Prefix": "b"}
        self.refused(400, "MalformedXML", put, **rules({**plain, "Filter": both}))
        twice = {"And": {"Prefix": "a", "Tags": [{"Key": "t", "Value": "1"}] * 2}}
        refused = self.refused(400, "InvalidRequest", put, **rules({**plain, "Filter": twice}))
        self.assertEqual(refused["Message"], "Duplicate Tag Keys are not allowed.")
        refused = self.refused(400, "InvalidArgument", put, **rules({**plain, "Expiration": {"Date": "2033-01-01T01:00:00Z"}}))
        self.assertEqual(refused["Message"], "'Date' must be at midnight GMT")
        self.s3.delete_bucket_lifecycle(Bucket=name)
        self.refused(404, "NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration, Bucket=name)
        body = "<LifecycleConfiguration>"
        digest = {"content-md5": digest64("md5", body.encode())}
        self.is_refused(request("PUT", f"/{name}?lifecycle", digest, body), 400, "MalformedXML")
        answer = request("PUT", f"/{name}?lifecycle", {**digest, "-transition-default-minimum-object-size": "value"}, body)
        message = "Invalid TransitionDefaultMinimumObjectSize found: value"
        self.is_refused(answer, 400, "InvalidRequest", Message=message)

    def test_a_lifecycle_rule_names_the_end_of_what_it_takes(self):
        name = self.bucket()
        rule = {"ID": "r 1", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}, "Expiration": {"Days": 3}}
        self.s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [rule]})
        self.assertEqual(self.s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"], [rule])
        put = self.put(name, "tmp/k")
        self.assertRegex(put["Expiration"], r'^expiry-date="\w{3}, .* 00:00:00 GMT", rule-id="r%201"$')
        self.assertEqual(self.s3.head_object(Bucket=name, Key="tmp/k")["Expiration"], put["Expiration"])
        self.assertNotIn("Expiration", self.put(name, "kept"))
        self.assertNotIn("Expiration", self.s3.head_object(Bucket=name, Key="tmp/k", VersionId="null"))
        self.s3.delete_bucket_lifecycle(Bucket=name)
        self.assertNotIn("Expiration", self.s3.head_object(Bucket=name, Key="tmp/k"))

    def test_a_seeded_bucket_is_there_before_ready(self):
        self.assertIn("demo", [bucket["Name"] for bucket in self.s3.list_buckets()["Buckets"]])
        self.assertEqual(self.s3.get_bucket_versioning(Bucket="demo")["Status"], "Enabled")


class Selectors(Suite):
    def test_a_request_is_one_operation_at_most(self):
        name = self.bucket()
        self.put(name)
        for method, target, names in (
            ("GET", f"/{name}?versioning&acl", "acl, versioning"),
            ("GET", f"/{name}?uploads=&uploadId=1", "uploadId, uploads"),
            ("GET", f"/{name}/k?tagging&acl&tagging", "acl, tagging"),
            ("DELETE", f"/{name}?policy&tagging", "policy, tagging"),
            ("PUT", f"/{name}/k?acl&torrent", "acl, torrent"),
            ("POST", f"/{name}/k?uploads&select", "select, uploads"),
            ("GET", "/no-such-bucket-here?acl&versioning", "acl, versioning"),
        ):
            message = f"Conflicting query string parameters: {names}"
            for dialect in DIALECTS:
                answer = request(method, target, dialect=dialect)
                first = names.split(",")[0]
                self.is_refused(answer, 400, "InvalidArgument", Message=message, ArgumentName="ResourceType", ArgumentValue=first)
        # What stands beside another one chooses nothing.
        for target in (f"/{name}?list-type=2&versions", f"/{name}?analytics&id=1&x-id=List", f"/{name}/k?acl&versionId=null"):
            self.assertNotEqual(request("GET", target).status, 400, target)
