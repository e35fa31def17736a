"""Directory buckets: boto3 drives one from its making to its end, sessions by hand, and what such a bucket refuses by name."""

import base64
import datetime
import hashlib
import json
import os
import pathlib
import sys
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from directory import ADMIN, EXPRESS, HOST, NUMBERS, STORE_EXPRESS, ZONE, DirectorySuite, clock, configuration, zonal  # noqa: E402
from suite import GUEST, OWNER, UTC, request, send  # noqa: E402

BODY = os.urandom(300_000)


def crc32(body):
    return base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()


class Buckets(DirectorySuite):
    def test_a_bucket_is_made_shown_and_deleted(self):
        name = self.directory()
        listed = self.zonal.list_directory_buckets()["Buckets"]
        mine = next(bucket for bucket in listed if bucket["Name"] == name)
        self.assertEqual(mine["BucketArn"], f"arn:aws:s3express:us-east-1:111122223333:bucket/{name}")
        self.assertNotIn(name, [bucket["Name"] for bucket in self.s3.list_buckets()["Buckets"]])
        self.assertNotIn("demo", [bucket["Name"] for bucket in listed])
        head = self.zonal.head_bucket(Bucket=name)
        self.assertEqual((head["BucketLocationType"], head["BucketLocationName"]), ("AvailabilityZone", ZONE))
        for client in (self.zonal, self.control):
            self.refused(409, "BucketAlreadyOwnedByYou", client.create_bucket, Bucket=name, CreateBucketConfiguration=configuration())
            self.zonal.put_object(Bucket=name, Key="k", Body=b"x")
            self.refused(409, "BucketNotEmpty", client.delete_bucket, Bucket=name)
            self.zonal.delete_object(Bucket=name, Key="k")
            client.delete_bucket(Bucket=name)
            self.refused(404, "NoSuchBucket", client.delete_bucket, Bucket=name)
            self.refused(404, "404", client.head_bucket, Bucket=name)
            client.create_bucket(Bucket=name, CreateBucketConfiguration=configuration())
            self.zonal.put_object(Bucket=name, Key="k", Body=b"again")
            self.zonal.delete_object(Bucket=name, Key="k")

    def test_pages_of_buckets_go_on_where_the_last_ended(self):
        names = sorted(self.directory() for _ in range(3))
        found, token = [], ""
        while True:
            page = self.control.list_directory_buckets(MaxDirectoryBuckets=1, **({"ContinuationToken": token} if token else {}))
            found += [bucket["Name"] for bucket in page["Buckets"]]
            token = page.get("ContinuationToken")
            if not token:
                break
        self.assertEqual(found, sorted(found))
        self.assertLessEqual(set(names), set(found))

    def test_names_and_configurations_that_do_not_fit_are_refused(self):
        def body(zone=ZONE, kind="AvailabilityZone", redundancy="SingleAvailabilityZone", bucket="Directory"):
            return (
                f"<CreateBucketConfiguration><Location><Name>{zone}</Name><Type>{kind}</Type></Location>"
                f"<Bucket><DataRedundancy>{redundancy}</DataRedundancy><Type>{bucket}</Type></Bucket></CreateBucketConfiguration>"
            )

        for name, document, status, code in (
            ("no-zone--x-s3", body(), 400, "InvalidBucketName"),
            ("dot.ted--use1-az4--x-s3", body(), 400, "InvalidBucketName"),
            ("plain-name-of-a-bucket", body(), 400, "InvalidBucketName"),
            ("d--use1-az4--x-s3", body("use1-az5"), 400, "InvalidRequest"),
            ("d--use1-az4--x-s3", body(redundancy="SingleLocalZone"), 400, "InvalidRequest"),
            ("d--use1-az4--x-s3", body(kind="Moon"), 400, "MalformedXML"),
            ("d--use1-az4--x-s3", body(bucket="Other"), 400, "MalformedXML"),
            ("d--use1-az4--x-s3", "", 400, "InvalidRequest"),
            ("d--use1-az4--x-s3", "<CreateBucketConfiguration/>", 400, "InvalidRequest"),
        ):
            answer = request("PUT", f"/{name}", {"host": HOST}, document, dialect=EXPRESS)
            self.is_refused(answer, status, code)
        for header in ("-object-ownership", "-bucket-object-lock-enabled", "-acl"):
            answer = request("PUT", "/d--use1-az4--x-s3", {"host": HOST, header: "x"}, body(), dialect=EXPRESS)
            self.is_refused(answer, 501, "NotImplemented", Header="x-amz" + header)

    def test_both_dialects_list_and_make_them(self):
        name = f"own-{next(NUMBERS)}--use1-az4--x-store"
        body = (
            b"<CreateBucketConfiguration><Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>"
            b"<Bucket><Type>Directory</Type></Bucket></CreateBucketConfiguration>"
        )
        made = request("PUT", f"/{name}", {"host": HOST}, body, dialect=STORE_EXPRESS)
        self.assertEqual(made.status, 200, made)
        listed = request("GET", "/", {"host": HOST}, dialect=STORE_EXPRESS)
        self.assertIn(f"arn:store:express:us-east-1:111122223333:bucket/{name}".encode(), listed.body)
        session = self.session(name, dialect=STORE_EXPRESS)
        put = self.within(session, "PUT", name, "/k", {}, b"one", dialect=STORE_EXPRESS)
        self.assertEqual((put.status, put.headers["x-store-expiration"]), (200, "NotImplemented"), put)
        got = self.within(session, "GET", name, "/k", dialect=STORE_EXPRESS)
        self.assertEqual((got.status, got.body), (200, b"one"), got)


class Objects(DirectorySuite):
    def test_boto3_puts_reads_lists_and_deletes_with_sessions_of_its_own(self):
        name = self.directory()
        put = self.zonal.put_object(Bucket=name, Key="a/b", Body=BODY, Metadata={"color": "blue"}, ContentType="text/plain")
        self.assertNotEqual(put["ETag"], f'"{hashlib.md5(BODY).hexdigest()}"')
        self.assertEqual((put["Expiration"], put["ChecksumCRC32"]), ("NotImplemented", crc32(BODY)))
        self.assertNotIn("VersionId", put)
        got = self.zonal.get_object(Bucket=name, Key="a/b")
        self.assertEqual((got["Body"].read(), got["Metadata"], got["StorageClass"]), (BODY, {"color": "blue"}, "EXPRESS_ONEZONE"))
        self.assertEqual((got["Expiration"], got["ETag"]), ("NotImplemented", put["ETag"]))
        self.assertEqual(self.zonal.get_object(Bucket=name, Key="a/b", Range="bytes=10-19")["Body"].read(), BODY[10:20])
        again = self.zonal.put_object(Bucket=name, Key="a/b", Body=BODY)
        self.assertNotEqual(again["ETag"], put["ETag"])
        self.zonal.put_object(Bucket=name, Key="c", Body=b"c")
        page = self.zonal.list_objects_v2(Bucket=name, Delimiter="/")
        self.assertEqual([entry["Key"] for entry in page["Contents"]], ["c"])
        self.assertEqual([entry["Prefix"] for entry in page["CommonPrefixes"]], ["a/"])
        self.assertEqual([entry["Key"] for entry in self.zonal.list_objects_v2(Bucket=name, Prefix="a/")["Contents"]], ["a/b"])
        attributes = self.zonal.get_object_attributes(Bucket=name, Key="c", ObjectAttributes=["ETag", "ObjectSize", "StorageClass", "Checksum"])
        self.assertEqual((attributes["ObjectSize"], attributes["StorageClass"]), (1, "EXPRESS_ONEZONE"))
        deleted = self.zonal.delete_objects(Bucket=name, Delete={"Objects": [{"Key": "a/b"}, {"Key": "c"}]})
        self.assertEqual(len(deleted["Deleted"]), 2)
        self.assertNotIn("Contents", self.zonal.list_objects_v2(Bucket=name))

    def test_conditions_hold(self):
        name = self.directory()
        put = self.zonal.put_object(Bucket=name, Key="k", Body=b"1", IfNoneMatch="*")
        self.refused(412, "PreconditionFailed", self.zonal.put_object, Bucket=name, Key="k", Body=b"2", IfNoneMatch="*")
        self.refused(412, "PreconditionFailed", self.zonal.put_object, Bucket=name, Key="k", Body=b"2", IfMatch='"x"')
        self.zonal.put_object(Bucket=name, Key="k", Body=b"2", IfMatch=put["ETag"])

    def test_a_listing_has_one_delimiter_and_whole_prefixes(self):
        name = self.directory()
        self.refused(400, "InvalidArgument", self.zonal.list_objects_v2, Bucket=name, Delimiter="-")
        self.refused(400, "InvalidArgument", self.zonal.list_objects_v2, Bucket=name, Prefix="half")
        self.refused(501, "NotImplemented", self.zonal.list_objects, Bucket=name)
        self.refused(501, "NotImplemented", self.zonal.list_object_versions, Bucket=name)

    def test_pages_of_uploads_go_on_by_the_key_marker_alone(self):
        name = self.directory()
        begun = [self.zonal.create_multipart_upload(Bucket=name, Key=key)["UploadId"] for key in ("a/b", "k", "k", "k", "k", "k")]
        pages = list(self.zonal.get_paginator("list_multipart_uploads").paginate(Bucket=name, PaginationConfig={"PageSize": 2}))
        self.assertEqual([upload["UploadId"] for page in pages for upload in page["Uploads"]], begun)
        self.assertNotIn("NextUploadIdMarker", pages[0])
        self.assertNotEqual(pages[0]["NextKeyMarker"], "k")
        listed = self.zonal.list_objects_v2(Bucket=name, Delimiter="/")
        self.assertEqual((listed["KeyCount"], listed["CommonPrefixes"]), (1, [{"Prefix": "a/"}]))

    def test_parts_are_consecutive_and_their_tags_random(self):
        name = self.directory()
        upload = self.zonal.create_multipart_upload(Bucket=name, Key="k", ChecksumAlgorithm="CRC32")["UploadId"]
        place = {"Bucket": name, "Key": "k", "UploadId": upload}
        half = os.urandom(5 * 1024 * 1024)
        one = self.zonal.upload_part(PartNumber=1, Body=half, ChecksumAlgorithm="CRC32", **place)
        self.assertNotEqual(one["ETag"], f'"{hashlib.md5(half).hexdigest()}"')
        two = self.zonal.upload_part(PartNumber=2, Body=b"end", ChecksumAlgorithm="CRC32", **place)
        three = self.zonal.upload_part(PartNumber=3, Body=b"end", ChecksumAlgorithm="CRC32", **place)
        self.refused(409, "BucketNotEmpty", self.control.delete_bucket, Bucket=name)
        self.assertEqual(len(self.zonal.list_parts(**place)["Parts"]), 3)
        part = lambda number, answer: {"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": answer["ChecksumCRC32"]}  # noqa: E731
        gap = {"Parts": [part(1, one), part(3, three)]}
        self.refused(400, "InvalidPartOrder", self.zonal.complete_multipart_upload, MultipartUpload=gap, **place)
        done = self.zonal.complete_multipart_upload(MultipartUpload={"Parts": [part(1, one), part(2, two)]}, **place)
        self.assertEqual(done["Expiration"], "NotImplemented")
        self.assertNotIn("-", done["ETag"])
        self.assertEqual(self.zonal.get_object(Bucket=name, Key="k")["Body"].read(), half + b"end")
        self.zonal.put_object(Bucket=name, Key="k", Body=b"more", WriteOffsetBytes=len(half) + 3)
        self.assertEqual(self.zonal.get_object(Bucket=name, Key="k", PartNumber=3)["Body"].read(), b"more")

    def test_lifecycle_rules_expire_and_abort(self):
        name = self.directory()
        rule = {"ID": "a", "Status": "Enabled", "Filter": {"Prefix": "x/"}, "Expiration": {"Days": 1}}
        self.control.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [rule]})
        self.assertEqual(self.control.get_bucket_lifecycle_configuration(Bucket=name)["Rules"][0]["ID"], "a")
        move = {**rule, "Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]}
        self.refused(400, "InvalidRequest", self.control.put_bucket_lifecycle_configuration, Bucket=name, LifecycleConfiguration={"Rules": [move]})
        put = self.zonal.put_object(Bucket=name, Key="x/k", Body=b"x")
        self.assertEqual(put["Expiration"], "NotImplemented")
        tagged = {**rule, "Filter": {"Tag": {"Key": "a", "Value": "b"}}}
        self.refused(400, "InvalidRequest", self.control.put_bucket_lifecycle_configuration, Bucket=name, LifecycleConfiguration={"Rules": [tagged]})
        self.control.delete_bucket_lifecycle(Bucket=name)
        gone = self.zonal.delete_object(Bucket=name, Key="x/k", VersionId="null")
        self.assertNotIn("VersionId", gone)

    def test_copies_go_in_and_out(self):
        name, general = self.directory(), self.bucket()
        self.s3.put_object(Bucket=general, Key="from", Body=BODY, Metadata={"a": "b"})
        copied = self.zonal.copy_object(Bucket=name, Key="in", CopySource=f"{general}/from")
        self.assertNotIn("VersionId", copied)
        got = self.zonal.get_object(Bucket=name, Key="in")
        self.assertEqual((got["Body"].read(), got["Metadata"]), (BODY, {"a": "b"}))
        self.zonal.copy_object(Bucket=name, Key="within", CopySource=f"{name}/in")
        self.s3.copy_object(Bucket=general, Key="out", CopySource=f"{name}/within")
        self.assertEqual(self.body(general, "out"), BODY)
        self.s3.put_object(Bucket=general, Key="tagged", Body=b"x", Tagging="a=b")
        self.refused(501, "NotImplemented", self.zonal.copy_object, Bucket=name, Key="no", CopySource=f"{general}/tagged")
        session = self.session(name)
        answer = self.within(session, "PUT", name, "/no", {"-copy-source": f"{name}/in"})
        self.is_refused(answer, 403, "AccessDenied")

    def test_classes_follow_the_kind_of_the_zone(self):
        name = self.directory()
        local = self.directory("LocalZone", "usw2-lax1-az1", "SingleLocalZone")
        for bucket, own, others in ((name, "EXPRESS_ONEZONE", ("STANDARD", "ONEZONE_IA")), (local, "ONEZONE_IA", ("STANDARD", "EXPRESS_ONEZONE"))):
            self.zonal.put_object(Bucket=bucket, Key="k", Body=b"x")
            self.assertEqual(self.zonal.head_object(Bucket=bucket, Key="k")["StorageClass"], own)
            self.zonal.put_object(Bucket=bucket, Key="k", Body=b"x", StorageClass=own)
            for other in others:
                self.refused(400, "InvalidStorageClass", self.zonal.put_object, Bucket=bucket, Key="k", Body=b"x", StorageClass=other)
        refused = self.refused(501, "NotImplemented", self.zonal.put_object, Bucket=local, Key="k", Body=b"x", WriteOffsetBytes=1)
        self.assertEqual(refused["Header"], "x-amz-write-offset-bytes")
        general = self.bucket()
        refused = self.refused(501, "NotImplemented", self.s3.put_object, Bucket=general, Key="k", Body=b"x", WriteOffsetBytes=0)
        self.assertEqual(refused["Header"], "x-amz-write-offset-bytes")

    def test_headers_that_are_for_other_buckets_are_refused_by_name(self):
        name = self.directory()
        for header, value in (
            ("x-amz-acl", "private"),
            ("x-amz-grant-full-control", "id=x"),
            ("x-amz-grant-read", "id=x"),
            ("x-amz-grant-read-acp", "id=x"),
            ("x-amz-grant-write-acp", "id=x"),
            ("x-amz-grant-write", "id=x"),
            ("content-md5", base64.b64encode(hashlib.md5(b"x").digest()).decode()),
            ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
            ("x-amz-server-side-encryption-customer-key", "x"),
            ("x-amz-server-side-encryption-customer-key-md5", "x"),
            ("x-amz-website-redirect-location", "/x"),
            ("x-amz-request-payer", "requester"),
            ("x-amz-tagging", "a=b"),
            ("x-amz-object-lock-mode", "GOVERNANCE"),
            ("x-amz-object-lock-retain-until-date", "2040-01-01T00:00:00Z"),
            ("x-amz-object-lock-legal-hold", "ON"),
        ):
            session = self.session(name)
            answer = self.within(session, "PUT", name, "/k", {header: value}, b"x")
            self.is_refused(answer, 501, "NotImplemented")
            self.assertEqual(answer.field("Header").lower(), header)
        answer = self.within(session, "PUT", name, "/k", {"x-amz-server-side-encryption": "aws:kms:dsse"}, b"x")
        self.is_refused(answer, 501, "NotImplemented", Header="x-amz-server-side-encryption")
        answer = self.within(session, "GET", name, "/k", {"x-amz-request-payer": "requester"})
        self.is_refused(answer, 501, "NotImplemented", Header="x-amz-request-payer")
        self.is_refused(self.within(session, "GET", name, "/k?versionId=abc"), 501, "NotImplemented")
        self.is_refused(self.within(session, "GET", name, "/k"), 404, "NoSuchKey")

    def test_path_style_and_operations_of_other_buckets_are_refused(self):
        name = self.directory()
        for method, target in (("PUT", f"/{name}/k"), ("GET", f"/{name}/k"), ("GET", f"/{name}?list-type=2"), ("GET", f"/{name}?session=")):
            answer = request(method, target, {"host": HOST}, dialect=EXPRESS)
            self.is_refused(answer, 501, "NotImplemented", Header="Host")
        for method, query in (
            ("PUT", "versioning"), ("GET", "versioning"), ("PUT", "acl"), ("GET", "tagging"), ("GET", "cors"), ("PUT", "website"),
            ("GET", "object-lock"), ("PUT", "ownershipControls"), ("GET", "replication"), ("PUT", "publicAccessBlock"),
        ):  # fmt: skip
            self.is_refused(self.plain(method, name, f"/?{query}="), 501, "NotImplemented")
        for method, query in (("PUT", "tagging"), ("GET", "acl"), ("PUT", "retention"), ("PUT", "legal-hold")):
            self.is_refused(self.plain(method, name, f"/k?{query}="), 501, "NotImplemented")
        self.is_refused(request("GET", "/demo?session=", {"host": HOST}, dialect=EXPRESS), 405, "MethodNotAllowed")

    def test_who_does_not_sign_gets_nothing(self):
        name = self.directory()
        self.is_refused(send("GET", "/k", {"host": f"{name}.{HOST}"}), 403, "AccessDenied")
        self.is_refused(send("PUT", "/k", {"host": f"{name}.{HOST}"}, b"x"), 403, "AccessDenied")


class Sessions(DirectorySuite):
    def test_a_session_is_good_for_its_bucket_its_mode_and_five_minutes(self):
        name, other = self.directory(), self.directory()
        session = self.session(name)
        self.assertEqual(self.within(session, "PUT", name, "/k", {}, b"one").status, 200)
        self.is_refused(self.within(session, "GET", other, "/k"), 400, "InvalidToken")
        reader = self.session(name, "ReadOnly")
        self.assertEqual(self.within(reader, "GET", name, "/k").body, b"one")
        self.assertEqual(self.within(reader, "GET", name, "/?list-type=2").status, 200)
        for method, target in (("PUT", "/k"), ("DELETE", "/k"), ("POST", "/k?uploads="), ("GET", "/?session=")):
            self.is_refused(self.within(reader, method, name, target), 403, "AccessDenied")
        self.is_refused(self.session(name, "Both"), 400, "InvalidArgument")
        # It lasts five minutes, of which the requests above may have taken one.
        clock(advanceMs=240_000)
        try:
            now = datetime.datetime.now(UTC) + datetime.timedelta(seconds=240)
            self.assertEqual(self.within(session, "GET", name, "/k", now=now).status, 200)
            clock(advanceMs=60_000)
            refused = self.within(session, "GET", name, "/k", now=now)
            self.is_refused(refused, 400, "ExpiredToken")
            refused = self.within(session, "PUT", name, "/k", {}, b"two", now=now)
            self.is_refused(refused, 400, "ExpiredToken")
        finally:
            clock(reset=True)
        self.assertEqual(self.zonal.get_object(Bucket=name, Key="k")["Body"].read(), b"one")

    def test_no_control_path_shows_a_secret(self):
        name = self.directory()
        session = self.session(name)
        self.within(session, "PUT", name, "/k", {}, b"one")
        refused = self.within((session[0], "other", session[2]), "GET", name, "/k")
        self.is_refused(refused, 403, "SignatureDoesNotMatch")
        shown = refused.body
        for path in ("/_ops/requests", "/_ops/metrics", "/_ops/health/ready", "/_ops/keys"):
            shown += send("GET", path, ADMIN).body
        self.assertNotIn(session[1].encode(), shown)

    def test_presigned_urls_of_a_session_are_good_as_long_as_it_is(self):
        name = self.directory()
        self.zonal.put_object(Bucket=name, Key="k", Body=b"one")
        url = urllib.parse.urlsplit(self.zonal.generate_presigned_url("get_object", Params={"Bucket": name, "Key": "k"}))
        target = f"{url.path}?{url.query}"
        self.assertEqual(send("GET", target, {"host": url.netloc}).body, b"one")
        self.is_refused(send("PUT", target, {"host": url.netloc}, b"x"), 403, "SignatureDoesNotMatch")
        clock(advanceMs=301_000)
        try:
            self.is_refused(send("GET", target, {"host": url.netloc}), 400, "ExpiredToken")
        finally:
            clock(reset=True)

    def test_what_is_not_the_session_is_refused(self):
        name = self.directory()
        session, other = self.session(name), self.session(name)
        wrong = [
            (session[0], session[1], other[2]),
            (session[0], other[1], session[2]),
            (other[0], session[1], session[2]),
            (session[0], session[1], session[2][:-1]),
            (session[0], session[1], "x"),
        ]
        for own in wrong:
            answer = self.within(own, "PUT", name, "/k", {}, b"x")
            self.assertIn((answer.status, answer.code), ((400, "InvalidToken"), (403, "SignatureDoesNotMatch")), answer)
        absent = request("PUT", "/k", {"host": f"{name}.{HOST}"}, b"x", dialect=EXPRESS, key=session[:2])
        self.is_refused(absent, 400, "InvalidToken")
        self.is_refused(request("GET", "/demo/k", {"-s3session-token": session[2]}, dialect=EXPRESS, key=session[:2]), 400, "InvalidToken")
        self.is_refused(request("GET", "/", {"-s3session-token": session[2]}, dialect=EXPRESS, key=session[:2]), 400, "InvalidToken")
        token = session[2]
        for place in range(0, len(token), 7):
            flipped = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
            self.is_refused(self.within((*session[:2], flipped), "GET", name, "/k"), 400, "InvalidToken")
        self.is_refused(self.within(session, "GET", name, "/k"), 404, "NoSuchKey")

    def test_the_policy_judges_who_has_a_session(self):
        name = self.directory()
        self.zonal.put_object(Bucket=name, Key="k", Body=b"x")
        arn = f"arn:aws:s3express:us-east-1:111122223333:bucket/{name}"
        deny = {
            "Effect": "Deny", "Principal": "*", "Action": "s3express:CreateSession", "Resource": arn,
            "Condition": {"StringNotEquals": {"s3express:SessionMode": "ReadOnly"}},
        }  # fmt: skip
        policy = json.dumps({"Version": "2012-10-17", "Statement": [deny]})
        self.control.put_bucket_policy(Bucket=name, Policy=policy)
        self.assertEqual(json.loads(self.control.get_bucket_policy(Bucket=name)["Policy"]), json.loads(policy))
        self.is_refused(self.session(name, "ReadWrite"), 403, "AccessDenied")
        reader = self.session(name)
        self.assertEqual(self.within(reader, "GET", name, "/k").body, b"x")
        self.is_refused(self.within(reader, "PUT", name, "/k", {}, b"y"), 403, "AccessDenied")
        self.is_refused(self.plain("PUT", name, "/k", {}, b"y"), 403, "AccessDenied")
        self.assertEqual(self.plain("GET", name, "/k").body, b"x")
        self.control.delete_bucket_policy(Bucket=name)
        self.session(name, "ReadWrite")[2]
        self.is_refused(self.session(name, key=GUEST), 403, "AccessDenied")
        for action, resource in (("s3:GetObject", arn), ("s3express:GetObject", arn), ("s3express:CreateSession", "arn:aws:s3:::other")):
            wrong = json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": action, "Resource": resource}]})
            self.refused(400, "MalformedPolicy", self.control.put_bucket_policy, Bucket=name, Policy=wrong)

    def test_boto3_renews_by_itself_over_a_moved_clock(self):
        name = self.directory()
        client = zonal()
        made = []
        client.meta.events.register("after-call.s3.CreateSession", lambda parsed, **_: made.append(parsed["Credentials"]["AccessKeyId"]))
        clock(advanceMs=-270_000)
        try:
            # For the client this session has thirty seconds left: it asks for the next one beside its own request.
            client.put_object(Bucket=name, Key="k", Body=b"one")
            self.assertGreaterEqual(len(made), 1)
            clock(advanceMs=270_000)
            client.put_object(Bucket=name, Key="k", Body=b"two")
            self.assertEqual(client.get_object(Bucket=name, Key="k")["Body"].read(), b"two")
            self.assertGreaterEqual(len(set(made)), 2)
        finally:
            clock(reset=True)


class Encryption(DirectorySuite):
    KEY = "arn:aws:kms:us-east-1:111122223333:key/134f2428-cec1-4b25-a1ae-000000000001"
    OTHER = "arn:aws:kms:us-east-1:444455556666:key/134f2428-cec1-4b25-a1ae-000000000003"

    def rule(self, key, mode="aws:kms", **more):
        default = {"SSEAlgorithm": mode, **({"KMSMasterKeyID": key} if key else {})}
        return {"Rules": [{"ApplyServerSideEncryptionByDefault": default, **more}]}

    def set(self, name, key, **more):
        self.control.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration=self.rule(key, **more))

    def test_the_default_of_the_bucket_is_that_of_its_sessions(self):
        name = self.directory()
        given = self.control.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        default = {"SSEAlgorithm": "AES256"}
        self.assertEqual(given, [{"ApplyServerSideEncryptionByDefault": default, "BucketKeyEnabled": True}])
        self.set(name, self.KEY)
        shown = self.control.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"][0]
        self.assertTrue(shown["BucketKeyEnabled"])
        made = self.control.create_session(Bucket=name)
        self.assertEqual((made["ServerSideEncryption"], made["SSEKMSKeyId"], made["BucketKeyEnabled"]), ("aws:kms", self.KEY, True))
        put = zonal().put_object(Bucket=name, Key="k", Body=BODY)
        self.assertEqual((put["ServerSideEncryption"], put["SSEKMSKeyId"], put["BucketKeyEnabled"]), ("aws:kms", self.KEY, True))
        self.assertEqual(zonal().get_object(Bucket=name, Key="k")["Body"].read(), BODY)

    def test_values_must_be_the_session_s(self):
        name = self.directory()
        self.set(name, self.KEY)
        session = self.session(name)
        context = lambda value: base64.b64encode(json.dumps({"aws:s3:arn": value}).encode()).decode()  # noqa: E731
        own = f"arn:aws:s3express:us-east-1:111122223333:bucket/{name}"
        kms, key = "-server-side-encryption", "-server-side-encryption-aws-kms-key-id"
        for headers in (
            {},
            {kms: "aws:kms"},
            {kms: "aws:kms", key: self.KEY},
            {kms: "aws:kms", key: self.KEY.rpartition("/")[2]},
            {kms: "aws:kms", "-server-side-encryption-context": context(own)},
            {kms: "aws:kms", "-server-side-encryption-bucket-key-enabled": "true"},
        ):
            self.assertEqual(self.within(session, "PUT", name, "/k", headers, b"x").status, 200, headers)
        for headers in (
            {kms: "AES256"},
            {kms: "aws:kms", key: self.OTHER},
            {kms: "aws:kms", key: "alias/demo"},
            {kms: "aws:kms", "-server-side-encryption-context": context("arn:aws:s3:::x")},
            {kms: "aws:kms", "-server-side-encryption-bucket-key-enabled": "false"},
        ):
            answer = self.within(session, "PUT", name, "/k", headers, b"y")
            self.assertEqual(answer.status, 400, (headers, answer))
        self.assertEqual(self.within(session, "GET", name, "/k").body, b"x")
        plain = self.session(name, **{kms: "AES256"})
        self.assertEqual(self.within(plain, "PUT", name, "/p", {}, b"x").headers["x-amz-server-side-encryption"], "AES256")
        self.assertEqual(self.within(plain, "PUT", name, "/p", {kms: "aws:kms"}, b"x").status, 400)
        append = self.within(plain, "PUT", name, "/k", {"-write-offset-bytes": "1"}, b"y")
        self.is_refused(append, 400, "EncryptionTypeMismatch")
        append = self.within(session, "PUT", name, "/k", {"-write-offset-bytes": "1"}, b"y")
        self.assertEqual(append.status, 200, append)
        self.assertEqual(self.within(session, "GET", name, "/k").body, b"xy")
        self.assertEqual(self.session(name, **{kms: "aws:kms"}).status, 400)

    def test_a_bucket_has_one_key_for_its_life(self):
        name = self.directory()
        put = self.control.put_bucket_encryption
        for rule in (self.rule("alias/demo"), self.rule(None), self.rule("alias/aws/s3"), self.rule(self.KEY, "aws:kms:dsse"), self.rule(self.KEY, BucketKeyEnabled=False)):
            self.assertEqual(self.status_of(put, Bucket=name, ServerSideEncryptionConfiguration=rule), 400, rule)
        self.set(name, self.KEY)
        self.assertEqual(self.status_of(put, Bucket=name, ServerSideEncryptionConfiguration=self.rule(self.OTHER)), 400)
        self.control.delete_bucket_encryption(Bucket=name)
        self.assertEqual(self.status_of(put, Bucket=name, ServerSideEncryptionConfiguration=self.rule(self.OTHER)), 400)
        self.set(name, self.KEY.rpartition("/")[2])
        self.control.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration=self.rule(None, "AES256"))

    def status_of(self, call, **arguments):
        try:
            return call(**arguments)["ResponseMetadata"]["HTTPStatusCode"]
        except self.control.exceptions.ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"]
