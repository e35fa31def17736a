"""GetObject, HeadObject and GetObjectAttributes: ranges, conditions, overrides, and what a head says."""

import datetime
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import DIALECTS, URL, UTC, Suite, request, send  # noqa: E402

BODY = bytes(range(100))


def http_date(moment):
    return moment.strftime("%a, %d %b %Y %H:%M:%S GMT")


class Ranges(Suite):
    def test_one_range_gives_its_bytes(self):
        name = self.bucket()
        self.put(name, body=BODY)
        for header, first, last in (
            ("bytes=0-0", 0, 0), ("bytes=0-99", 0, 99), ("bytes=0-100", 0, 99), ("bytes=50-", 50, 99),
            ("bytes=99-99", 99, 99), ("bytes=-1", 99, 99), ("bytes=-100", 0, 99), ("bytes=-101", 0, 99),
            ("bytes=00-01", 0, 1), ("bytes=0-99999999999999999999999", 0, 99),
        ):  # fmt: skip
            for method in ("GET", "HEAD"):
                got = request(method, f"/{name}/k", {"range": header})
                self.assertEqual(got.status, 206, (header, got))
                self.assertEqual(got.headers["content-range"], f"bytes {first}-{last}/100")
                self.assertEqual(got.headers["content-length"], str(last - first + 1))
                self.assertEqual(got.headers["accept-ranges"], "bytes")
                self.assertEqual(got.body, BODY[first : last + 1] if method == "GET" else b"")

    def test_what_is_no_single_range_gives_the_whole(self):
        name = self.bucket()
        self.put(name, body=BODY)
        for header in (
            "bytes=,", "bytes= -1", "bytes=--1", "bytes=0 -1", "bytes=0--1", "bytes=10-5", "bytes=abc", "bytes=a-z", "foo=0-1", "bytes=100-x",
            "bytes=0-0,1-2", "bytes=", "bytes=-",
        ):  # fmt: skip
            got = request("GET", f"/{name}/k", {"range": header})
            self.assertEqual((got.status, got.body), (200, BODY), (header, got))
            self.assertNotIn("content-range", got.headers)

    def test_a_range_beyond_the_end_is_416_with_the_size(self):
        name = self.bucket()
        self.put(name, body=BODY)
        self.put(name, "empty", b"")
        for key, header, size in (
            ("k", "bytes=100-", "100"),
            ("k", "bytes=100-110", "100"),
            ("k", "bytes=-0", "100"),
            ("empty", "bytes=0-0", "0"),
            ("empty", "bytes=-1", "0"),
        ):
            got = request("GET", f"/{name}/{key}", {"range": header})
            self.is_refused(
                got,
                416,
                "InvalidRange",
                RangeRequested=header,
                ActualObjectSize=size,
                Message="The requested range is not satisfiable",
            )
            self.assertEqual(got.headers.get("content-range"), f"bytes */{size}")

    def test_if_range_gives_the_part_while_the_object_stays(self):
        name = self.bucket()
        tag = self.put(name, body=BODY)["ETag"]
        modified = self.s3.head_object(Bucket=name, Key="k")["LastModified"]
        for value, status in ((tag, 206), ('"other"', 200), (http_date(modified), 206), ("Sat, 01 Jan 2000 00:00:00 GMT", 200)):
            got = request("GET", f"/{name}/k", {"range": "bytes=0-1", "if-range": value})
            self.assertEqual(got.status, status, value)

    def test_the_first_part_is_the_whole(self):
        name = self.bucket()
        self.put(name, body=BODY)
        got = request("GET", f"/{name}/k?partNumber=1")
        self.assertEqual((got.status, got.body, got.headers["content-range"]), (206, BODY, "bytes 0-99/100"))
        self.assertEqual(request("HEAD", f"/{name}/k?partNumber=1").status, 206)
        self.is_refused(
            request("GET", f"/{name}/k?partNumber=1", {"range": "bytes=0-1"}),
            400,
            "InvalidRequest",
            Message="Cannot specify both Range header and partNumber query parameter",
        )
        self.is_refused(request("GET", f"/{name}/k?partNumber=0"), 400, "InvalidArgument", ArgumentName="partNumber")
        self.is_refused(request("GET", f"/{name}/k?partNumber=2"), 416, "InvalidPartNumber")


class Conditions(Suite):
    """RFC 9110 §13.2.2: a tag counts before a date, `If-Match` before `If-None-Match`."""

    def test_all_combinations_of_the_four_conditions(self):
        name = self.bucket()
        tag = self.put(name, body=BODY)["ETag"]
        modified = self.s3.head_object(Bucket=name, Key="k")["LastModified"]
        past, future = http_date(modified - datetime.timedelta(days=1)), http_date(modified)
        other = '"other"'
        for match in (None, tag, tag.strip('"'), other):
            for none_match in (None, tag, other):
                for since in (None, past, future):
                    for unmodified in (None, past, future):
                        if match is not None:
                            fails = match == other
                        else:
                            fails = unmodified == past
                        if none_match is not None:
                            same = none_match == tag
                        else:
                            same = since == future
                        expected = 412 if fails else 304 if same else 200
                        headers = {
                            "if-match": match,
                            "if-none-match": none_match,
                            "if-modified-since": since,
                            "if-unmodified-since": unmodified,
                        }
                        sent = {header: value for header, value in headers.items() if value is not None}
                        for method in ("GET", "HEAD"):
                            got = request(method, f"/{name}/k", sent)
                            self.assertEqual(got.status, expected, (method, sent, got))

    def test_a_304_has_the_tag_and_no_body(self):
        name = self.bucket()
        tag = self.put(name, body=BODY, CacheControl="max-age=1")["ETag"]
        got = request("GET", f"/{name}/k", {"if-none-match": tag})
        self.assertEqual((got.status, got.body, got.headers["etag"]), (304, b"", tag))
        self.assertIn("last-modified", got.headers)
        self.assertNotIn("content-type", got.headers)

    def test_the_condition_that_failed_is_named(self):
        name = self.bucket()
        self.put(name)
        got = request("GET", f"/{name}/k", {"if-match": '"a"'})
        self.is_refused(got, 412, "PreconditionFailed", Condition="If-Match")
        got = request("GET", f"/{name}/k", {"if-unmodified-since": "Sat, 01 Jan 2000 00:00:00 GMT"})
        self.is_refused(got, 412, "PreconditionFailed", Condition="If-Unmodified-Since")

    def test_lists_of_tags_and_the_star_are_understood(self):
        name = self.bucket()
        tag = self.put(name)["ETag"]
        for headers, status in (
            ({"if-match": f'"a", {tag}'}, 200),
            ({"if-match": "*"}, 200),
            ({"if-none-match": "*"}, 304),
            ({"if-none-match": f"W/{tag}"}, 304),
            ({"if-match": f"W/{tag}"}, 412),
            ({"if-match": f"W/{tag}, {tag}"}, 200),
            ({"if-modified-since": "no date"}, 200),
        ):
            self.assertEqual(request("GET", f"/{name}/k", headers).status, status, headers)


class Overrides(Suite):
    VALUES = {
        "cache-control": "no-cache",
        "content-disposition": 'attachment; filename="a.txt"',
        "content-encoding": "identity",
        "content-language": "en-US",
        "content-type": "text/html",
        "expires": "Thu, 01 Dec 2024 16:00:00 GMT",
    }

    def test_each_parameter_replaces_its_header(self):
        name = self.bucket()
        self.put(name, ContentType="text/plain", CacheControl="max-age=9")
        query = "&".join(f"response-{header}={urllib.parse.quote(value, safe='')}" for header, value in self.VALUES.items())
        for method in ("GET", "HEAD"):
            got = request(method, f"/{name}/k?{query}")
            self.assertEqual({header: got.headers.get(header) for header in self.VALUES}, self.VALUES)

    def test_an_empty_parameter_replaces_nothing(self):
        name = self.bucket()
        self.put(name, ContentType="text/plain", CacheControl="max-age=9")
        got = request("GET", f"/{name}/k?response-content-type=&response-cache-control=&response-expires=")
        shown = [got.headers.get(header) for header in ("content-type", "cache-control", "expires")]
        self.assertEqual(shown, ["text/plain", "max-age=9", None])

    def test_a_presigned_url_may_replace_headers(self):
        name = self.bucket()
        self.put(name)
        url = self.s3.generate_presigned_url(
            "get_object", Params={"Bucket": name, "Key": "k", "ResponseContentType": "text/x"}
        )
        got = send("GET", url.removeprefix(URL))
        self.assertEqual((got.status, got.headers["content-type"]), (200, "text/x"))

    def test_who_sends_no_signature_replaces_nothing(self):
        name = self.bucket("ObjectWriter")
        self.put(name, ACL="public-read")
        got = request("GET", f"/{name}/k?response-content-type=text%2Fhtml", key=None)
        self.is_refused(
            got,
            400,
            "InvalidRequest",
            Message="Request specific response headers cannot be used for anonymous GET requests.",
        )
        self.assertEqual(request("GET", f"/{name}/k", key=None).body, b"body")

    def test_a_value_beyond_latin_1_is_refused(self):
        name = self.bucket()
        self.put(name)
        got = request("GET", f"/{name}/k?response-cache-control=%E2%80%94")
        self.is_refused(got, 400, "InvalidArgument", Message="Header value cannot be represented using ISO-8859-1.")

    def test_a_read_does_not_choose_the_encryption(self):
        name = self.bucket()
        self.put(name)
        for dialect in DIALECTS:
            mode = dialect.header + "server-side-encryption"
            for value in ("AES256", "aws:kms"):
                got = request("GET", f"/{name}/k", {mode: value}, dialect=dialect)
                message = f"{mode} header is not supported for this operation."
                self.is_refused(got, 400, "InvalidArgument", ArgumentName=mode, ArgumentValue=value, Message=message)
                self.assertEqual(request("HEAD", f"/{name}/k", {mode: value}, dialect=dialect).status, 400)
            got = request("GET", f"/{name}/k", {mode + "-customer-algorithm": "AES256"}, dialect=dialect)
            message = "The encryption parameters are not applicable to this object."
            self.is_refused(got, 400, "InvalidRequest", Message=message)


class Heads(Suite):
    def test_a_head_of_what_is_not_there_is_404_without_a_body(self):
        name = self.bucket()
        for target in (f"/{name}/absent", "/nowhere-at-all/k", "/nowhere-at-all"):
            for dialect in DIALECTS:
                got = request("HEAD", target, dialect=dialect)
                self.assertEqual((got.status, got.body, got.headers["content-type"]), (404, b"", "application/xml"))
                self.assertIn(dialect.header + "request-id", got.headers)

    def test_a_head_says_what_a_get_says(self):
        name = self.bucket(versioning="Enabled")
        self.put(name, body=BODY, Metadata={"a": "1"}, ContentType="text/plain", Tagging="t=1", StorageClass="STANDARD_IA")
        for dialect in DIALECTS:
            head, got = (request(method, f"/{name}/k", dialect=dialect).headers for method in ("HEAD", "GET"))
            varying = {"date", dialect.header + "request-id", dialect.header + "id-2"}
            self.assertEqual(
                {header: value for header, value in head.items() if header not in varying},
                {header: value for header, value in got.items() if header not in varying},
            )
            self.assertEqual(got[dialect.header + "tagging-count"], "1")
            self.assertIn(dialect.header + "version-id", got)

    def test_the_time_of_a_write_is_a_whole_second_and_stays(self):
        name = self.bucket()
        self.put(name)
        first = request("HEAD", f"/{name}/k").headers["last-modified"]
        self.assertRegex(first, r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
        self.assertEqual(request("GET", f"/{name}/k").headers["last-modified"], first)


class Attributes(Suite):
    def test_attributes_are_those_that_are_asked_for(self):
        name = self.bucket(versioning="Enabled")
        put = self.put(name, body=b"12345", ChecksumAlgorithm="SHA256")
        every = ["ETag", "ObjectSize", "Checksum", "StorageClass", "ObjectParts"]
        found = self.s3.get_object_attributes(Bucket=name, Key="k", ObjectAttributes=every)
        self.assertEqual(found["ETag"], put["ETag"].strip('"'))
        self.assertEqual((found["ObjectSize"], found["StorageClass"]), (5, "STANDARD"))
        self.assertEqual(found["Checksum"], {"ChecksumSHA256": put["ChecksumSHA256"], "ChecksumType": "FULL_OBJECT"})
        self.assertEqual(found["VersionId"], put["VersionId"])
        self.assertIsInstance(found["LastModified"], datetime.datetime)
        self.assertNotIn("ObjectParts", found)
        few = self.s3.get_object_attributes(Bucket=name, Key="k", ObjectAttributes=["ObjectSize"])
        self.assertNotIn("ETag", few)

    def test_attributes_of_what_is_not_there_are_refused(self):
        name = self.bucket(versioning="Enabled")
        ask = {"Bucket": name, "Key": "k", "ObjectAttributes": ["ETag"]}
        self.refused(404, "NoSuchKey", self.s3.get_object_attributes, **ask)
        self.put(name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        self.refused(404, "NoSuchKey", self.s3.get_object_attributes, **ask)
        self.refused(405, "MethodNotAllowed", self.s3.get_object_attributes, **ask, VersionId=marker)

    def test_a_name_that_is_no_attribute_is_refused(self):
        name = self.bucket()
        self.put(name)
        for headers in ({}, {"-object-attributes": ""}, {"-object-attributes": "ETag,Other"}):
            got = request("GET", f"/{name}/k?attributes", headers)
            self.assertEqual((got.status, got.code in ("InvalidArgument", "InvalidRequest")), (400, True), got)


class Moments(Suite):
    def test_what_was_written_just_now_is_not_older_than_now(self):
        name = self.bucket()
        self.put(name)
        modified = self.s3.head_object(Bucket=name, Key="k")["LastModified"]
        self.assertLess(abs((datetime.datetime.now(UTC) - modified).total_seconds()), 60)
