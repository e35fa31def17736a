"""PutObject, header by header, in both dialects: what each value comes to, and what a wrong one gets."""

import base64
import datetime
import hashlib
import os
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import ACCOUNTS, ALL_USERS, AMZ, DIALECTS, STORE, URL, UTC, Suite, digest64, quote, request  # noqa: E402

BODY = b"hello, store"
SHA1, SHA256 = digest64("sha1", BODY), digest64("sha256", BODY)


class Contents(Suite):
    def test_http_headers_come_back_as_they_were_sent(self):
        name = self.bucket()
        sent = {
            "cache-control": "max-age=60, private",
            "content-disposition": 'attachment; filename="a b.txt"',
            "content-encoding": "gzip",
            "content-language": "de, en",
            "content-type": "text/plain; charset=utf-8",
            "expires": "Thu, 01 Dec 2033 16:00:00 GMT",
            "x-robots-tag": "noindex, nofollow",
        }
        for dialect in DIALECTS:
            self.assertEqual(request("PUT", f"/{name}/k", sent, BODY, dialect).status, 200)
            for method in ("GET", "HEAD"):
                got = request(method, f"/{name}/k", {}, dialect=dialect)
                self.assertEqual({header: got.headers[header] for header in sent}, sent)

    def test_an_expires_that_is_no_date_is_kept_too(self):
        name = self.bucket()
        request("PUT", f"/{name}/k", {"expires": "0"}, BODY)
        self.assertEqual(request("GET", f"/{name}/k").headers["expires"], "0")

    def test_the_connection_closes_behind_a_put_that_expects_100_continue_and_has_no_body(self):
        name = self.bucket()
        for headers, status in (({}, 200), ({"if-none-match": "*"}, 412)):
            answer = request("PUT", f"/{name}/k", {"expect": "100-continue", **headers}, b"")
            self.assertEqual((answer.status, answer.headers.get("connection")), (status, "close"))

    def test_a_body_without_a_type_is_an_octet_stream(self):
        name = self.bucket()
        request("PUT", f"/{name}/k", {}, BODY)
        self.assertEqual(request("GET", f"/{name}/k").headers["content-type"], "binary/octet-stream")

    def test_aws_chunked_is_no_encoding_of_an_object_whose_body_came_so(self):
        name = self.bucket()
        for sent, kept in (("aws-chunked", None), ("gzip,aws-chunked", "gzip"), ("aws-chunked, br", "br")):
            frame = b"c\r\n" + BODY + b"\r\n0\r\n\r\n"
            headers = {"content-encoding": sent, "-decoded-content-length": str(len(BODY))}
            put = request("PUT", f"/{name}/k", headers, frame, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            self.assertEqual(put.status, 200, put)
            got = request("GET", f"/{name}/k")
            self.assertEqual((got.headers.get("content-encoding"), got.body), (kept, BODY))

    def test_a_plain_body_keeps_the_encoding_aws_chunked(self):
        name = self.bucket()
        for sent in ("aws-chunked", "gzip, aws-chunked"):
            put = request("PUT", f"/{name}/k", {"content-encoding": sent}, BODY)
            self.assertEqual(put.status, 200, put)
            got = request("GET", f"/{name}/k")
            self.assertEqual((got.headers.get("content-encoding"), got.body), (sent, BODY))

    def test_an_unsigned_body_that_says_it_is_framed_is_refused_and_stores_nothing(self):
        name = self.bucket()
        for dialect in DIALECTS:
            reason = f"aws-chunked encoding is not supported when {dialect.header}content-sha256 UNSIGNED-PAYLOAD is supplied."
            for sent in ("aws-chunked", "gzip, AWS-chunked"):
                put = request("PUT", f"/{name}/k", {"content-encoding": sent}, BODY, dialect, payload="UNSIGNED-PAYLOAD")
                self.is_refused(
                    put, 400, "InvalidArgument", Message=reason, ArgumentName="Content-Encoding", ArgumentValue=sent
                )
        self.assertEqual(request("GET", f"/{name}/k").status, 404)

    def test_user_metadata_comes_back_in_lower_case(self):
        name = self.bucket()
        self.put(name, Metadata={"Color": "Blue", "under_score": "1", "dot.ted": "2", "empty": ""})
        self.assertEqual(
            self.s3.head_object(Bucket=name, Key="k")["Metadata"],
            {"color": "Blue", "under_score": "1", "dot.ted": "2", "empty": ""},
        )

    def test_metadata_of_two_kilobytes_is_taken_and_one_byte_more_is_refused(self):
        name = self.bucket()
        self.put(name, Metadata={"a": "x" * 2047})
        refused = self.refused(400, "MetadataTooLarge", self.put, bucket=name, Metadata={"a": "x" * 2048})
        self.assertEqual((refused["Size"], refused["MaxSizeAllowed"]), ("2049", "2048"))

    def test_headers_of_more_than_eight_kilobytes_are_refused(self):
        name = self.bucket()
        answer = request("PUT", f"/{name}/k", {"x-other": "x" * 8200}, BODY)
        self.is_refused(answer, 400, "RequestHeaderSectionTooLarge", MaxSizeAllowed="8192")

    def test_the_answer_carries_what_the_table_of_responses_says(self):
        name = self.bucket()
        for dialect in DIALECTS:
            got = request("PUT", f"/{name}/k", {}, BODY, dialect)
            start = dialect.header
            self.assertEqual(got.headers["etag"], f'"{hashlib.md5(BODY).hexdigest()}"')
            self.assertEqual(got.headers[start + "server-side-encryption"], "AES256")
            self.assertEqual(got.headers[start + "checksum-type"], "FULL_OBJECT")
            self.assertIn(start + "checksum-crc64nvme", got.headers)
            self.assertRegex(got.headers[start + "request-id"], "^[0-9A-Z]{16}$")
            self.assertEqual(len(got.headers[start + "id-2"]), 76)
            self.assertIn("date", got.headers)
            self.assertIn("server", got.headers)
            self.assertEqual((got.headers["content-length"], got.body), ("0", b""))
            self.assertNotIn(start + "version-id", got.headers)
            self.assertNotIn(start + "object-size", got.headers)


class Keys(Suite):
    KEYS = [
        "a", "a/b", "a/", "/lead", "//", "a//b", ".", "a/..", "a/./b", "a/../b", "%41", "%2e%2e", "a b", "a+b",
        "q?x=1", "hash#tag", "a;b:c,d", "'\"<>&", "\u00fc/\u65e5\u672c/\U0001f600", "\t tab", "~_-.!*()", "back\\slash", "_ops/reset",
    ]  # fmt: skip

    def test_keys_are_bytes_that_nobody_normalises(self):
        name = self.bucket()
        for key in self.KEYS:
            answer = request("PUT", f"/{name}/{quote(key)}", {}, key)
            self.assertEqual(answer.status, 200, (key, answer))
        for key in self.KEYS:
            answer = request("GET", f"/{name}/{quote(key)}")
            self.assertEqual((answer.status, answer.body.decode()), (200, key))
        listed = [found["Key"] for found in self.s3.list_objects_v2(Bucket=name)["Contents"]]
        self.assertEqual(listed, sorted(self.KEYS, key=str.encode))

    def test_a_key_does_not_lead_out_of_its_bucket(self):
        name = self.bucket()
        for key in ("..", "../up", "a/../../b", "/../a", "%2e%2e/a"):
            for method in ("PUT", "GET", "DELETE"):
                self.is_refused(request(method, f"/{name}/{key}", {}, ""), 400, "InvalidURI")

    def test_a_key_of_1024_bytes_is_the_longest(self):
        name = self.bucket()
        self.put(name, "\u00e9" * 512)
        refused = self.refused(400, "KeyTooLongError", self.put, bucket=name, key="k" * 1025)
        self.assertEqual((refused["Size"], refused["MaxSizeAllowed"]), ("1025", "1024"))

    def test_a_key_that_is_no_text_is_refused(self):
        name = self.bucket()
        for path in ("%00", "a%00b", "%ff", "%c3%28"):
            self.is_refused(request("PUT", f"/{name}/{path}", {}, BODY), 400, "InvalidURI")


class Digests(Suite):
    def checksum(self, algorithm, value, extra=()):
        return {f"-checksum-{algorithm}": value, **dict(extra)}

    WRONG = {
        "crc32": "AAAAAA==", "crc32c": "AAAAAA==", "crc64nvme": "AAAAAAAAAAA=",
        "sha1": digest64("sha1", b"x"), "sha256": digest64("sha256", b"x"),
    }  # fmt: skip

    def test_a_checksum_by_header_is_verified_echoed_and_kept(self):
        name = self.bucket()
        crc32 = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big")).decode()
        right = {"crc32": crc32, "sha1": SHA1, "sha256": SHA256}
        for dialect in DIALECTS:
            for algorithm, value in right.items():
                header = f"{dialect.header}checksum-{algorithm}"
                put = request("PUT", f"/{name}/k", self.checksum(algorithm, value), BODY, dialect)
                self.assertEqual((put.status, put.headers.get(header)), (200, value), put)
                self.assertNotIn(f"{dialect.header}checksum-crc64nvme", put.headers)
                got = request("GET", f"/{name}/k", {"-checksum-mode": "ENABLED"}, dialect=dialect)
                self.assertEqual(got.headers.get(header), value)
                self.assertEqual(got.headers.get(f"{dialect.header}checksum-type"), "FULL_OBJECT")
                self.assertNotIn(header, request("GET", f"/{name}/k", {}, dialect=dialect).headers)

    def test_every_algorithm_of_the_client_comes_back(self):
        name = self.bucket()
        for algorithm in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
            put = self.put(name, ChecksumAlgorithm=algorithm)
            head = self.s3.head_object(Bucket=name, Key="k", ChecksumMode="ENABLED")
            self.assertEqual(put[f"Checksum{algorithm}"], head[f"Checksum{algorithm}"])
            self.assertEqual(head["ChecksumType"], "FULL_OBJECT")

    def test_a_wrong_checksum_is_a_bad_digest_that_names_its_algorithm(self):
        name = self.bucket()
        for dialect in DIALECTS:
            for algorithm, value in self.WRONG.items():
                answer = request("PUT", f"/{name}/k", self.checksum(algorithm, value), BODY, dialect)
                message = f"The {algorithm.upper()} you specified did not match the calculated checksum."
                self.is_refused(answer, 400, "BadDigest", Message=message)
        self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="k")

    def test_a_checksum_that_is_none_is_an_invalid_value(self):
        name = self.bucket()
        for dialect in DIALECTS:
            for algorithm in self.WRONG:
                for value in ("", "!", "YQ==", "YXNrZGpoZ2tqYXNo"):
                    answer = request("PUT", f"/{name}/k", self.checksum(algorithm, value), BODY, dialect)
                    message = f"Value for {dialect.header}checksum-{algorithm} header is invalid."
                    self.is_refused(answer, 400, "InvalidRequest", Message=message)

    def test_two_checksums_are_refused(self):
        name = self.bucket()
        headers = {"-checksum-sha1": SHA1, "-checksum-sha256": SHA256}
        for dialect in DIALECTS:
            message = f"Expecting a single {dialect.header}checksum- header. Multiple checksum Types are not allowed."
            self.is_refused(
                request("PUT", f"/{name}/k", headers, BODY, dialect), 400, "InvalidRequest", Message=message
            )

    def test_an_unknown_algorithm_is_refused_unless_a_known_one_is_there(self):
        name = self.bucket()
        alone = {"-checksum-foo": "YQ=="}
        for dialect in DIALECTS:
            answer = request("PUT", f"/{name}/k", alone, BODY, dialect)
            message = f"The algorithm type you specified in {dialect.header}checksum- header is invalid."
            self.is_refused(answer, 400, "InvalidRequest", Message=message)
            both = {**alone, "-checksum-sha256": SHA256}
            self.assertEqual(request("PUT", f"/{name}/k", both, BODY, dialect).status, 200)

    def test_an_algorithm_named_without_its_checksum_is_refused(self):
        name = self.bucket()
        for dialect in DIALECTS:
            answer = request("PUT", f"/{name}/k", {"-sdk-checksum-algorithm": "SHA256"}, BODY, dialect)
            start = dialect.header
            message = (
                f"{start}sdk-checksum-algorithm specified, but no corresponding {start}checksum-* or {start}trailer "
                "headers were found."
            )
            self.is_refused(answer, 400, "InvalidRequest", Message=message)
            answer = request("PUT", f"/{name}/k", {"-sdk-checksum-algorithm": "SHA9"}, BODY, dialect)
            self.is_refused(answer, 400, "InvalidRequest")

    def test_another_algorithm_than_the_one_named_is_answered_as_the_dialect_has_it(self):
        name = self.bucket()
        headers = {"-sdk-checksum-algorithm": "CRC32", "-checksum-sha256": SHA256}
        self.is_refused(request("PUT", f"/{name}/k", headers, BODY, STORE), 400, "BadDigest")
        message = "Value for x-amz-sdk-checksum-algorithm header is invalid."
        self.is_refused(request("PUT", f"/{name}/k", headers, BODY, AMZ), 400, "InvalidRequest", Message=message)

    def test_content_md5_is_checked(self):
        name = self.bucket()
        right = digest64("md5", BODY)
        self.assertEqual(request("PUT", f"/{name}/k", {"content-md5": right}, BODY).status, 200)
        for value in ("__invalid__", "000", "not base64 encoded checksum", "MTIz", "dGVzdC1zdHJpbmc=", ""):
            answer = request("PUT", f"/{name}/k", {"content-md5": value}, BODY)
            fields = {"Content-MD5": value}
            self.is_refused(answer, 400, "InvalidDigest", **fields)
        answer = request("PUT", f"/{name}/k", {"content-md5": digest64("md5", b"other")}, BODY)
        self.is_refused(
            answer,
            400,
            "BadDigest",
            ExpectedDigest=hashlib.md5(b"other").hexdigest(),
            CalculatedDigest=right,
            Message="The Content-MD5 you specified did not match what we received.",
        )
        self.assertEqual(self.body(name), BODY)

    def test_a_range_does_not_bring_the_checksum_of_the_whole(self):
        name = self.bucket()
        self.put(name, body=BODY, ChecksumAlgorithm="SHA256")
        part = self.s3.get_object(Bucket=name, Key="k", Range="bytes=0-1", ChecksumMode="ENABLED")
        self.assertNotIn("ChecksumSHA256", part)


class Settings(Suite):
    def test_tags_are_read_as_query_parameters(self):
        name = self.bucket()
        for header, expected in (
            ("", {}),
            ("&&", {}),
            ("key", {"key": ""}),
            ("key=&", {"key": ""}),
            ("b=2&a=1", {"a": "1", "b": "2"}),
            ("a%20b=c+d", {"a b": "c d"}),
            ("k%2E%5F=v%2Fw", {"k._": "v/w"}),
            ("k@=v@:/-", {"k@": "v@:/-"}),
        ):
            answer = request("PUT", f"/{name}/k", {"-tagging": header}, BODY)
            self.assertEqual(answer.status, 200, (header, answer))
            tags = self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"]
            self.assertEqual([(tag["Key"], tag["Value"]) for tag in tags], sorted(expected.items()))
            count = self.s3.head_object(Bucket=name, Key="k").get("TagCount")
            self.assertEqual(count, len(expected) or None)

    def test_tags_that_break_a_rule_are_refused(self):
        name = self.bucket()
        malformed = "shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates."
        for header in ("k=1&k=2", "a=1,b=2", "k=%zz", "k%", "k=%ff"):
            answer = request("PUT", f"/{name}/k", {"-tagging": header}, BODY)
            self.is_refused(
                answer, 400, "InvalidArgument", ArgumentName="x-amz-tagging", Message=f"The header 'x-amz-tagging' {malformed}"
            )
        for header, key in (("aws:a=1", "aws:a"), ("k%3F=v", "k?"), (f"{'k' * 129}=v", "k" * 129)):
            self.is_refused(request("PUT", f"/{name}/k", {"-tagging": header}, BODY), 400, "InvalidTag", TagKey=key)
        answer = request("PUT", f"/{name}/k", {"-tagging": f"k={'v' * 257}"}, BODY)
        self.is_refused(answer, 400, "InvalidTag", TagKey="k", TagValue="v" * 257)
        many = "&".join(f"k{number}=v" for number in range(11))
        answer = request("PUT", f"/{name}/k", {"-tagging": many}, BODY)
        self.is_refused(answer, 400, "BadRequest", Message="Object tags cannot be greater than 10")

    def test_tags_are_put_shown_and_deleted(self):
        name = self.bucket(versioning="Enabled")
        old = self.put(name, Tagging="a=0")["VersionId"]
        self.put(name)
        tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
        self.s3.put_object_tagging(Bucket=name, Key="k", Tagging={"TagSet": tags})
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], tags)
        shown = self.s3.get_object_tagging(Bucket=name, Key="k", VersionId=old)
        self.assertEqual((shown["TagSet"], shown["VersionId"]), ([{"Key": "a", "Value": "0"}], old))
        self.s3.delete_object_tagging(Bucket=name, Key="k")
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], [])
        twice = {"TagSet": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}
        put = self.s3.put_object_tagging
        refused = self.refused(400, "InvalidTag", put, Bucket=name, Key="k", Tagging=twice)
        self.assertEqual(refused["Message"], "Cannot provide multiple Tags with the same key")
        aws = {"TagSet": [{"Key": "aws:a", "Value": "1"}]}
        refused = self.refused(400, "InvalidTag", put, Bucket=name, Key="k", Tagging=aws)
        self.assertEqual(refused["Message"], "Your TagKey cannot be prefixed with aws:")
        self.refused(404, "NoSuchKey", put, Bucket=name, Key="absent", Tagging={"TagSet": tags})
        absent = self.refused(404, "NoSuchKey", self.s3.get_object_tagging, Bucket=name, Key="absent")
        self.assertEqual(absent["Key"], f"{name}/absent")
        self.is_refused(request("PUT", f"/{name}/k?tagging", {}, "<X/>"), 400, "MalformedXML")
        self.assertEqual(request("PUT", f"/{name}/k?tagging", {}, "<Tagging/>").status, 200)
        self.assertEqual(self.s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], [])

    def test_storage_classes_are_kept_and_unknown_ones_refused(self):
        name = self.bucket()
        for kept in (
            "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER", "DEEP_ARCHIVE",
            "GLACIER_IR", "SNOW",
        ):  # fmt: skip
            answer = request("PUT", f"/{name}/{kept}", {"-storage-class": kept}, BODY)
            self.assertEqual(answer.status, 200, (kept, answer))
            self.assertEqual(request("HEAD", f"/{name}/{kept}").headers["x-amz-storage-class"], kept)
        request("PUT", f"/{name}/plain", {"-storage-class": "STANDARD"}, BODY)
        self.assertNotIn("x-amz-storage-class", request("HEAD", f"/{name}/plain").headers)
        for unknown in ("OUTPOSTS", "EXPRESS_ONEZONE", "standard", "OTHER", ""):
            answer = request("PUT", f"/{name}/k", {"-storage-class": unknown}, BODY)
            self.is_refused(
                answer,
                400,
                "InvalidStorageClass",
                StorageClassRequested=unknown,
                Message="The storage class you specified is not valid",
            )

    def test_an_archived_object_is_described_but_not_read(self):
        name = self.bucket()
        for archived in ("GLACIER", "DEEP_ARCHIVE"):
            self.put(name, StorageClass=archived)
            refused = self.refused(403, "InvalidObjectState", self.s3.get_object, Bucket=name, Key="k")
            self.assertEqual(refused["StorageClass"], archived)
            self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["StorageClass"], archived)

    def test_a_website_redirect_is_a_path_or_a_url(self):
        name = self.bucket()
        for target in ("/other", "http://example.com/", "https://example.com/x"):
            self.put(name, WebsiteRedirectLocation=target)
            self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["WebsiteRedirectLocation"], target)
        for target in ("other", "ftp://example.com", "//" * 1025, ""):
            answer = request("PUT", f"/{name}/k", {"-website-redirect-location": target}, BODY)
            self.is_refused(answer, 400, "InvalidRedirectLocation")

    def test_the_expected_owner_is_the_owner(self):
        name = self.bucket()
        for dialect in DIALECTS:
            for value, status, code in (
                ("111122223333", 200, None),
                ("444455556666", 403, "AccessDenied"),
                ("0000", 400, "InvalidBucketOwnerAWSAccountID"),
                ("abcdefghijkl", 400, "InvalidBucketOwnerAWSAccountID"),
                ("0000000000020", 400, "InvalidBucketOwnerAWSAccountID"),
            ):
                answer = request("PUT", f"/{name}/k", {"-expected-bucket-owner": value}, BODY, dialect)
                self.assertEqual((answer.status, answer.code), (status, code))
                if status == 400:
                    message = f"The value of the expected bucket owner parameter must be an AWS Account ID... [{value}]"
                    self.assertEqual(answer.field("Message"), message)

    def test_the_payer_is_the_requester(self):
        name = self.bucket()
        self.put(name, RequestPayer="requester")
        answer = request("PUT", f"/{name}/k", {"-request-payer": "owner"}, BODY)
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-request-payer")

    def test_a_mode_of_encryption_is_one_of_the_dialect(self):
        name = self.bucket()
        self.assertEqual(self.put(name, ServerSideEncryption="AES256")["ServerSideEncryption"], "AES256")
        for dialect, mode in ((AMZ, "aws:kms"), (AMZ, "aws:kms:dsse"), (STORE, "store:kms"), (STORE, "store:kms:dsse")):
            answer = request("PUT", f"/{name}/k", {"-server-side-encryption": mode}, BODY, dialect)
            self.assertEqual((answer.status, answer.headers[f"{dialect.header}server-side-encryption"]), (200, mode))
        for mode in ("aes256", "other", "", "store:kms"):
            answer = request("PUT", f"/{name}/k", {"-server-side-encryption": mode}, BODY)
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-server-side-encryption", ArgumentValue=mode)

    def test_an_append_is_for_directory_buckets(self):
        name = self.bucket()
        for dialect in DIALECTS:
            answer = request("PUT", f"/{name}/k", {"-write-offset-bytes": "0"}, BODY, dialect)
            self.is_refused(answer, 501, "NotImplemented", Header=f"{dialect.header}write-offset-bytes")


class Lists(Suite):
    def test_a_bucket_that_enforces_its_owner_takes_one_list(self):
        name = self.bucket()
        self.put(name, ACL="bucket-owner-full-control")
        for acl in ("private", "public-read", "authenticated-read"):
            refused = self.refused(400, "AccessControlListNotSupported", self.put, bucket=name, ACL=acl)
            self.assertEqual(refused["Message"], "The bucket does not allow ACLs")
        self.refused(
            400, "AccessControlListNotSupported", self.put, bucket=name, GrantRead="emailAddress=guest@example.com"
        )

    def test_canned_lists_come_to_their_grants(self):
        name = self.bucket("ObjectWriter")
        for acl, grants in (
            ("private", []),
            ("public-read", [("AllUsers", "READ")]),
            ("public-read-write", [("AllUsers", "READ"), ("AllUsers", "WRITE")]),
            ("authenticated-read", [("AuthenticatedUsers", "READ")]),
            ("bucket-owner-read", []),
            ("bucket-owner-full-control", []),
        ):
            self.put(name, ACL=acl)
            shown = self.s3.get_object_acl(Bucket=name, Key="k")["Grants"]
            others = [
                (grant["Grantee"]["URI"].rsplit("/", 1)[1], grant["Permission"])
                for grant in shown
                if "URI" in grant["Grantee"]
            ]
            self.assertEqual(others, grants, acl)
            self.assertIn("FULL_CONTROL", [grant["Permission"] for grant in shown])

    def test_grants_name_their_grantees_in_three_ways(self):
        name = self.bucket("ObjectWriter")
        guest = ACCOUNTS[1]["canonicalId"]
        self.put(
            name,
            GrantRead=f'id="{guest}", uri="{ALL_USERS}"',
            GrantReadACP="emailAddress=guest@example.com",
            GrantWriteACP=f"id={guest}",
        )
        shown = self.s3.get_object_acl(Bucket=name, Key="k")["Grants"]
        found = sorted((grant["Grantee"].get("ID") or grant["Grantee"]["URI"], grant["Permission"]) for grant in shown)
        self.assertEqual(
            found, sorted([(guest, "READ"), (ALL_USERS, "READ"), (guest, "READ_ACP"), (guest, "WRITE_ACP")])
        )

    def test_a_grant_that_cannot_be_read_says_why(self):
        name = self.bucket("ObjectWriter")
        for value, code, fields in (
            ('fakekey="1234"', "InvalidArgument", {"Message": "Argument format not recognized"}),
            ("id=wrong-id", "InvalidArgument", {"Message": "Invalid id", "ArgumentName": "id", "ArgumentValue": "wrong-id"}),
            (
                "uri=http://acs.amazonaws.com/groups/s3/FakeGroup",
                "InvalidArgument",
                {"Message": "Invalid group uri", "ArgumentName": "uri"},
            ),
            ("emailAddress=nobody@example.com", "UnresolvableGrantByEmailAddress", {}),
        ):
            answer = request("PUT", f"/{name}/k", {"-grant-read": value}, BODY)
            self.is_refused(answer, 400, code, **fields)

    def test_a_canned_list_beside_grants_is_refused(self):
        name = self.bucket("ObjectWriter")
        headers = {"-acl": "private", "-grant-read": "emailAddress=guest@example.com"}
        answer = request("PUT", f"/{name}/k", headers, BODY)
        message = "Specifying both Canned ACLs and Header Grants is not allowed"
        self.is_refused(answer, 400, "InvalidRequest", Message=message)

    def test_an_unknown_canned_list_is_named(self):
        name = self.bucket("ObjectWriter")
        for acl in ("fake-acl", "log-delivery-write"):
            answer = request("PUT", f"/{name}/k", {"-acl": acl}, BODY)
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-acl", ArgumentValue=acl)


class Locks(Suite):
    def later(self, days=1):
        return (datetime.datetime.now(UTC) + datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def test_a_lock_needs_a_bucket_that_locks(self):
        name = self.bucket()
        for headers in (
            {"-object-lock-legal-hold": "ON"},
            {"-object-lock-mode": "GOVERNANCE", "-object-lock-retain-until-date": self.later()},
        ):
            answer = request("PUT", f"/{name}/k", {**headers, "content-md5": digest64("md5", BODY)}, BODY)
            self.is_refused(answer, 400, "InvalidRequest", Message="Bucket is missing Object Lock Configuration")

    def test_a_lock_needs_a_digest(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        message = (
            "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters"
        )
        for headers in (
            {"-object-lock-legal-hold": "OFF"},
            {"-object-lock-mode": "COMPLIANCE", "-object-lock-retain-until-date": self.later()},
        ):
            self.is_refused(request("PUT", f"/{name}/k", headers, BODY), 400, "InvalidRequest", Message=message)
            for digest in ({"content-md5": digest64("md5", BODY)}, {"-checksum-sha256": SHA256}):
                self.assertEqual(request("PUT", f"/{name}/k", {**headers, **digest}, BODY).status, 200)

    def test_mode_and_date_come_together(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        message = "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied"
        mode, date = "x-amz-object-lock-mode", "x-amz-object-lock-retain-until-date"
        for headers, missing in (({mode: "GOVERNANCE"}, date), ({date: self.later()}, mode)):
            answer = request("PUT", f"/{name}/k", {**headers, "content-md5": digest64("md5", BODY)}, BODY)
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName=missing, Message=message)

    def test_values_of_a_lock_are_checked(self):
        name = self.bucket(ObjectLockEnabledForBucket=True)
        mode, date, hold = "-object-lock-mode", "-object-lock-retain-until-date", "-object-lock-legal-hold"
        for headers, message in (
            ({mode: "BAD-VALUE", date: self.later()}, "Unknown wormMode directive."),
            ({mode: "GOVERNANCE", date: self.later(-1)}, "The retain until date must be in the future!"),
            (
                {mode: "GOVERNANCE", date: "tomorrow"},
                "The retain until date must be provided in ISO 8601 format",
            ),
            ({hold: "on"}, "Legal Hold must be either of 'ON' or 'OFF'"),
        ):
            answer = request("PUT", f"/{name}/k", {**headers, "content-md5": digest64("md5", BODY)}, BODY)
            self.is_refused(answer, 400, "InvalidArgument", Message=message)


class Lengths(Suite):
    def test_a_body_without_a_length_is_refused(self):
        name = self.bucket()
        sent = {"payload": "UNSIGNED-PAYLOAD", "keep_length": False}
        answer = request("PUT", f"/{name}/k", {}, b"", **sent)
        self.is_refused(answer, 411, "MissingContentLength")
        coded = {"transfer-encoding": "chunked"}
        answer = request("PUT", f"/{name}/k", coded, b"1\r\nx\r\n0\r\n\r\n", **sent)
        self.is_refused(answer, 501, "NotImplemented", Header="Transfer-Encoding")

    def test_a_body_of_more_than_five_gibibytes_is_refused_from_its_head(self):
        name = self.bucket()
        size = 5 * 1024**3 + 1
        answer = request("PUT", f"/{name}/k", {"content-length": str(size), "expect": "100-continue"}, b"", payload="UNSIGNED-PAYLOAD")
        self.is_refused(answer, 400, "EntityTooLarge", ProposedSize=str(size), MaxSizeAllowed="5368709120")

    def test_the_answer_to_a_refused_body_is_seen_by_a_client_that_sends_all_of_it_first(self):
        target = f"/{self.bucket()}/k"
        body = b"x" * (24 * 1024 * 1024)
        answer = request("PUT", target, body=body, key=("OWNEDBYNOBODY", "secret"), payload="UNSIGNED-PAYLOAD")
        self.assertEqual((answer.status, answer.code), (403, "InvalidAccessKeyId"))

    def test_bodies_of_many_sizes_come_back_whole(self):
        name = self.bucket()
        for size in (1, 65_535, 65_536, 65_537, 131_072, 131_073, 8_388_625):
            body = os.urandom(size)
            put = self.put(name, body=body)
            self.assertEqual(put["ETag"], f'"{hashlib.md5(body).hexdigest()}"')
            self.assertEqual(hashlib.sha256(self.body(name)).digest(), hashlib.sha256(body).digest())

    def test_an_empty_object_is_an_object(self):
        name = self.bucket()
        put = self.put(name, body=b"")
        self.assertEqual(put["ETag"], '"d41d8cd98f00b204e9800998ecf8427e"')
        head = self.s3.head_object(Bucket=name, Key="k")
        self.assertEqual((head["ContentLength"], head["ETag"]), (0, put["ETag"]))


class Conditions(Suite):
    def test_a_create_needs_an_absent_key(self):
        name = self.bucket()
        for dialect in DIALECTS:
            key = f"/{name}/{dialect.key_prefix}"
            self.assertEqual(request("PUT", key, {"if-none-match": "*"}, BODY, dialect).status, 200)
            answer = request("PUT", key, {"if-none-match": "*"}, b"other", dialect)
            self.is_refused(answer, 412, "PreconditionFailed", Condition="If-None-Match")
            self.assertEqual(request("GET", key, dialect=dialect).body, BODY)

    def test_an_update_needs_its_tag_with_or_without_quotes(self):
        name = self.bucket()
        tag = self.put(name)["ETag"]
        self.put(name, IfMatch=tag)
        self.put(name, IfMatch=tag.strip('"'))
        self.refused(412, "PreconditionFailed", self.put, bucket=name, IfMatch=f"W/{tag}")
        refused = self.refused(412, "PreconditionFailed", self.put, bucket=name, IfMatch='"other"')
        self.assertEqual(refused["Condition"], "If-Match")

    def test_an_update_of_an_absent_key_is_answered_as_the_dialect_has_it(self):
        name = self.bucket()
        self.is_refused(request("PUT", f"/{name}/k", {"if-match": '"a"'}, BODY, AMZ), 404, "NoSuchKey", Key="k")
        answer = request("PUT", f"/{name}/k", {"if-match": '"a"'}, BODY, STORE)
        self.is_refused(answer, 412, "PreconditionFailed", Condition="If-Match")
        self.versioning(name, "Enabled")
        tag = self.put(name)["ETag"]
        self.s3.delete_object(Bucket=name, Key="k")
        self.refused(404, "NoSuchKey", self.put, bucket=name, IfMatch=tag)
        self.put(name, IfNoneMatch="*")

    def test_forms_of_conditions_that_the_service_does_not_take_are_named(self):
        name = self.bucket()
        message = "A header you provided implies functionality that is not implemented"
        for headers, header, reason in (
            ({"if-none-match": '"a"'}, "If-None-Match", "We don't accept the provided value of If-None-Match header for this API"),
            ({"if-match": "*"}, "If-Match", "We don't accept the provided value of If-Match header for this API"),
            (
                {"if-match": '"a"', "if-none-match": "*"},
                "If-Match,If-None-Match",
                "Multiple conditional request headers present in the request",
            ),
        ):
            answer = request("PUT", f"/{name}/k", headers, BODY)
            self.is_refused(answer, 501, "NotImplemented", Header=header, additionalMessage=reason, Message=message)

    def test_a_refused_put_leaves_the_old_object(self):
        name = self.bucket()
        self.put(name, body=b"old", Metadata={"a": "1"})
        before = self.s3.head_object(Bucket=name, Key="k")
        for headers in ({"if-none-match": "*"}, {"content-md5": digest64("md5", b"x")}, {"-checksum-sha256": digest64("sha256", b"x")}):
            self.assertGreaterEqual(request("PUT", f"/{name}/k", headers, BODY).status, 400)
        after = self.s3.head_object(Bucket=name, Key="k")
        self.assertEqual((after["LastModified"], after["Metadata"], self.body(name)), (before["LastModified"], {"a": "1"}, b"old"))


class Precedence(Suite):
    def test_of_several_faults_the_first_check_is_answered(self):
        name = self.bucket()
        long = "k" * 1025
        for target, headers, code in (
            (f"/nowhere-at-all/{long}", {}, "KeyTooLongError"),
            ("/nowhere-at-all/k", {"-expected-bucket-owner": "0"}, "NoSuchBucket"),
            (f"/{name}/k", {"-expected-bucket-owner": "0", "-acl": "public-read"}, "InvalidBucketOwnerAWSAccountID"),
            (f"/{name}/k", {"-acl": "public-read", "content-md5": "x"}, "AccessControlListNotSupported"),
            (f"/{name}/k", {"content-md5": "x", "-checksum-sha1": "x"}, "InvalidDigest"),
            (f"/{name}/k", {"-checksum-sha1": "x", "if-match": "*"}, "InvalidRequest"),
            (f"/{name}/k", {"if-match": "*", "-storage-class": "x"}, "NotImplemented"),
            (f"/{name}/k", {"-storage-class": "x", "-website-redirect-location": "x"}, "InvalidStorageClass"),
            (f"/{name}/k", {"-website-redirect-location": "x", "-tagging": "a=1&a=1"}, "InvalidRedirectLocation"),
            (f"/{name}/k", {"-tagging": "a=1&a=1", "-object-lock-legal-hold": "x"}, "InvalidArgument"),
            (f"/{name}/k", {"-object-lock-legal-hold": "ON", "if-match": '"x"'}, "InvalidRequest"),
        ):
            self.assertEqual(request("PUT", target, headers, BODY).code, code, headers)


class Hosts(Suite):
    def test_a_virtual_host_names_the_bucket(self):
        name = self.bucket()
        port = URL.rsplit(":", 1)[1]
        for dialect in DIALECTS:
            host = {"host": f"{name}.localhost:{port}"}
            self.assertEqual(request("PUT", "/a/b", host, BODY, dialect).status, 200)
            self.assertEqual(request("GET", f"/{name}/a/b", dialect=dialect).body, BODY)
