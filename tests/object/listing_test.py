"""ListObjects in both versions, ListObjectVersions and ListBuckets: prefixes, delimiters, pages and encodings."""

import pathlib
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import ACCOUNTS, DIALECTS, REGION, Suite, request  # noqa: E402


def keys(page):
    return [found["Key"] for found in page.get("Contents", [])]


def prefixes(page):
    return [found["Prefix"] for found in page.get("CommonPrefixes", [])]


class Delimiters(Suite):
    CASES = [
        # keys, prefix, delimiter, contents, common prefixes
        (["bar", "baz", "cab", "foo"], "", "a", ["foo"], ["ba", "ca"]),
        (["foo/bar", "foo/bar/xyzzy", "quux/thud", "asdf"], "", "/", ["asdf"], ["foo/", "quux/"]),
        (["b/a/c", "b/a/g", "b/a/r", "g"], "", "%", ["b/a/c", "b/a/g", "b/a/r", "g"], []),
        (["b%ar", "b%az", "c%ab", "foo"], "", "%", ["foo"], ["b%", "c%"]),
        (["b ar", "b az", "c ab", "foo"], "", " ", ["foo"], ["b ", "c "]),
        (["b.ar", "b.az", "c.ab", "foo"], "", ".", ["foo"], ["b.", "c."]),
        (["bar", "cab", "foo"], "", "\u00e9", ["bar", "cab", "foo"], []),
        (["foo/bar", "foo/baz", "quux"], "foo/", "", ["foo/bar", "foo/baz"], []),
        (["bar", "baz", "foo"], "ba", "", ["bar", "baz"], []),
        (["bar", "baz", "foo"], "none", "", [], []),
        (["b/a/r", "b/a/c", "b/a/g", "g"], "b/", "/", [], ["b/a/"]),
        (["b/a/r", "bar", "c"], "ba", "r", [], ["bar"]),
        (["p", "p/", "p/q", "p//r"], "p/", "/", ["p/", "p/q"], ["p//"]),
        (["a//b", "a/c"], "a/", "//", ["a//b", "a/c"], []),
        (["x::y::z", "x::w"], "", "::", [], ["x::"]),
        (["0/", "1999", "1999#", "1999+"], "", "/", ["1999", "1999#", "1999+"], ["0/"]),
        (["asdf+b", "asdf b"], "", "+", ["asdf b"], ["asdf+"]),
    ]  # fmt: skip

    def test_keys_roll_up_in_every_listing(self):
        for number, (stored, prefix, delimiter, contents, common) in enumerate(self.CASES):
            name = self.bucket()
            self.fill(name, stored)
            asked = {"Bucket": name, "Prefix": prefix, "Delimiter": delimiter}
            for listing in (self.s3.list_objects, self.s3.list_objects_v2):
                page = listing(**asked)
                self.assertEqual((keys(page), prefixes(page)), (contents, common), number)
                self.assertFalse(page["IsTruncated"])
                self.assertEqual(page.get("Delimiter", ""), delimiter)
                self.assertEqual(page["Prefix"], prefix)
            page = self.s3.list_object_versions(**asked)
            self.assertEqual([found["Key"] for found in page.get("Versions", [])], contents)
            self.assertEqual(prefixes(page), common)

    def test_a_page_of_any_size_goes_on_where_the_last_ended(self):
        name = self.bucket()
        stored = ["a", "b/1", "b/2", "b/3", "c", "d/1", "e//1", "f"]
        self.fill(name, stored)
        shown = ["a", "b/", "c", "d/", "e/", "f"]
        for size in range(1, 8):
            for operation in ("list_objects", "list_objects_v2", "list_object_versions"):
                pages = list(
                    self.s3.get_paginator(operation).paginate(
                        Bucket=name, Delimiter="/", PaginationConfig={"PageSize": size}
                    )
                )
                found = []
                for page in pages:
                    entries = [found["Key"] for found in page.get("Contents", page.get("Versions", []))] + prefixes(page)
                    self.assertLessEqual(len(entries), size)
                    found.extend(sorted(entries))
                self.assertEqual(found, shown, (operation, size))
                self.assertEqual([page["IsTruncated"] for page in pages], [True] * (len(pages) - 1) + [False])


class Pages(Suite):
    KEYS = ["bar", "baz", "foo", "quxx"]

    def test_markers_and_starts_need_not_be_keys(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        for after, expected in (("", self.KEYS), ("bar", self.KEYS[1:]), ("blah", ["foo", "quxx"]), ("zzz", []), ("\n", self.KEYS)):
            page = self.s3.list_objects(Bucket=name, Marker=after)
            self.assertEqual((keys(page), page["Marker"]), (expected, after))
            page = self.s3.list_objects_v2(Bucket=name, StartAfter=after)
            self.assertEqual(keys(page), expected)
            self.assertEqual(page.get("StartAfter", ""), after)

    def test_a_page_of_no_keys_is_empty_and_whole(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        for listing in (self.s3.list_objects, self.s3.list_objects_v2, self.s3.list_object_versions):
            page = listing(Bucket=name, MaxKeys=0)
            self.assertEqual((page["MaxKeys"], page["IsTruncated"]), (0, False))
            self.assertNotIn("Contents", page)
            self.assertNotIn("Versions", page)

    def test_sizes_of_pages_are_bounded_and_checked(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        for listing in (self.s3.list_objects, self.s3.list_objects_v2, self.s3.list_object_versions):
            self.assertEqual(listing(Bucket=name, MaxKeys=5000)["MaxKeys"], 5000)
        for kind in ("", "list-type=2&", "versions&"):
            for size in ("x", "1.5"):
                answer = request("GET", f"/{name}?{kind}max-keys={size}")
                self.is_refused(answer, 400, "InvalidArgument", ArgumentName="max-keys", ArgumentValue=size)
            self.assertEqual(request("GET", f"/{name}?{kind}max-keys=").status, 200)

    def test_a_token_goes_on_and_is_shown_again(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        first = self.s3.list_objects_v2(Bucket=name, MaxKeys=1)
        self.assertEqual((first["KeyCount"], first["IsTruncated"]), (1, True))
        token = first["NextContinuationToken"]
        second = self.s3.list_objects_v2(Bucket=name, ContinuationToken=token, StartAfter="foo")
        self.assertEqual((keys(second), second["ContinuationToken"]), (self.KEYS[1:], token))
        answer = request("GET", f"/{name}?list-type=2&continuation-token=")
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="continuation-token")
        for wrong in ("x", "%00", token[:-1] + "!"):
            answer = request("GET", f"/{name}?list-type=2&continuation-token={urllib.parse.quote(wrong, safe='')}")
            message = "The continuation token provided is incorrect"
            self.is_refused(answer, 400, "InvalidArgument", ArgumentName="continuation-token", Message=message)

    def test_a_key_that_is_deleted_meanwhile_does_not_move_the_next_page(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        first = self.s3.list_objects_v2(Bucket=name, MaxKeys=2)
        self.s3.delete_object(Bucket=name, Key="baz")
        second = self.s3.list_objects_v2(Bucket=name, ContinuationToken=first["NextContinuationToken"])
        self.assertEqual(keys(second), ["foo", "quxx"])

    def test_the_next_marker_is_given_with_a_delimiter_alone(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        self.assertNotIn("NextMarker", self.s3.list_objects(Bucket=name, MaxKeys=2))
        self.assertEqual(self.s3.list_objects(Bucket=name, MaxKeys=2, Delimiter="/")["NextMarker"], "baz")

    def test_a_marker_within_a_common_prefix_leaves_that_out(self):
        name = self.bucket()
        self.fill(name, ["d/a/1", "d/a/2", "d/f", "d/g"])
        roll = {"Bucket": name, "Prefix": "d/", "Delimiter": "/"}
        for marker in ("d/a/", "d/a/1"):
            self.assertEqual(keys(self.s3.list_objects(**roll, Marker=marker)), ["d/f", "d/g"])
            self.assertNotIn("CommonPrefixes", self.s3.list_objects(**roll, Marker=marker))
            page = self.s3.list_object_versions(**roll, KeyMarker=marker)
            self.assertEqual([found["Key"] for found in page["Versions"]], ["d/f", "d/g"])
            self.assertNotIn("CommonPrefixes", page)

    def test_who_is_not_known_learns_nothing_of_owners(self):
        name = self.bucket("ObjectWriter", ACL="public-read")
        self.put(name)
        self.assertIn("Owner", self.s3.list_objects(Bucket=name)["Contents"][0])
        self.assertNotIn("Owner", self.anonymous.list_objects(Bucket=name)["Contents"][0])

    def test_a_listing_names_the_region_of_its_bucket(self):
        name = self.bucket()
        for query in ("", "?list-type=2", "?versions"):
            self.assertEqual(request("GET", f"/{name}{query}").headers["x-amz-bucket-region"], REGION)

    def test_a_thousand_keys_fill_a_page(self):
        name = self.bucket()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: self.put(name, f"{number:04}", b""), range(1001)))
        page = self.s3.list_objects_v2(Bucket=name)
        self.assertEqual((page["KeyCount"], page["IsTruncated"], keys(page)[-1]), (1000, True, "0999"))


class Encodings(Suite):
    KEYS = ["a b", "a+b", "a/b", "caf\u00e9", "<&>\"'", "%41", "\u0001", "*-._", "~"]

    def test_encoded_keys_are_decoded_to_the_same(self):
        name = self.bucket()
        self.fill(name, self.KEYS)
        for kind in ("", "list-type=2&", "versions&"):
            answer = request("GET", f"/{name}?{kind}encoding-type=url&delimiter=%2F&prefix=")
            text = answer.body.decode()
            self.assertIn("<EncodingType>url</EncodingType>", text)
            for encoded in ("a+b", "a%2Bb", "caf%C3%A9", "%01", "%2541", "*-._", "%7E"):
                self.assertIn(f"<Key>{encoded}</Key>", text)
            self.assertIn("<Delimiter>/</Delimiter>", text)
        listed = keys(self.s3.list_objects_v2(Bucket=name))
        self.assertEqual(listed, sorted(self.KEYS, key=str.encode))

    def test_other_encodings_are_refused(self):
        name = self.bucket()
        for kind in ("", "list-type=2&", "versions&"):
            for value in ("value", ""):
                answer = request("GET", f"/{name}?{kind}encoding-type={value}")
                self.is_refused(
                    answer,
                    400,
                    "InvalidArgument",
                    ArgumentName="encoding-type",
                    ArgumentValue=value,
                    Message="Invalid Encoding Method specified in Request",
                )


class Entries(Suite):
    def test_an_entry_describes_its_object(self):
        name = self.bucket()
        put = self.put(name, "k", b"12345", StorageClass="STANDARD_IA", ChecksumAlgorithm="SHA1")
        plain = self.s3.list_objects_v2(Bucket=name)["Contents"][0]
        self.assertEqual(
            (plain["Key"], plain["ETag"], plain["Size"], plain["StorageClass"], plain["ChecksumAlgorithm"]),
            ("k", put["ETag"], 5, "STANDARD_IA", ["SHA1"]),
        )
        self.assertNotIn("Owner", plain)
        for page in (self.s3.list_objects_v2(Bucket=name, FetchOwner=True), self.s3.list_objects(Bucket=name)):
            self.assertEqual(page["Contents"][0]["Owner"]["ID"], ACCOUNTS[0]["canonicalId"])

    def test_the_namespace_is_that_of_the_dialect(self):
        name = self.bucket()
        for dialect, namespace in zip(DIALECTS, ("http://s3.amazonaws.com/doc/2006-03-01/", "http://store/doc/2006-03-01/")):
            answer = request("GET", f"/{name}?list-type=2", dialect=dialect)
            self.assertIn(f'<ListBucketResult xmlns="{namespace}">', answer.body.decode())

    def test_a_listing_of_what_is_not_there_is_404(self):
        for listing in (self.s3.list_objects, self.s3.list_objects_v2, self.s3.list_object_versions):
            refused = self.refused(404, "NoSuchBucket", listing, Bucket="nowhere-at-all")
            self.assertEqual(refused["BucketName"], "nowhere-at-all")

    def test_a_list_type_that_is_none_is_the_first(self):
        name = self.bucket()
        answer = request("GET", f"/{name}?list-type=3")
        self.assertEqual((answer.status, b"<Marker>" in answer.body), (200, True))


class Buckets(Suite):
    def test_own_buckets_are_listed_in_order_and_in_pages(self):
        own = sorted(self.bucket() for _ in range(3))
        start = own[0].rsplit("-", 1)[0]
        listed = self.s3.list_buckets(Prefix=start)
        self.assertEqual([found["Name"] for found in listed["Buckets"]], own)
        self.assertEqual(listed["Prefix"], start)
        pages = self.s3.get_paginator("list_buckets").paginate(Prefix=start, PaginationConfig={"PageSize": 1})
        self.assertEqual([found["Name"] for page in pages for found in page["Buckets"]], own)

    def test_buckets_of_another_region_are_asked_for_there(self):
        self.bucket()
        elsewhere = self.refused(400, "InvalidArgument", self.s3.list_buckets, BucketRegion="eu-west-1")
        message = "Requests with bucket-region specified must be made to the corresponding regional endpoint"
        self.assertEqual(elsewhere["Message"], message)
        refused = self.refused(400, "InvalidArgument", self.s3.list_buckets, BucketRegion="eu-east-1")
        self.assertEqual(refused["Message"], "Argument value eu-east-1 is not a valid AWS Region")

    def test_who_has_no_key_lists_nothing(self):
        self.refused(403, "AccessDenied", self.anonymous.list_buckets)
        self.refused(400, "InvalidArgument", self.s3.list_buckets, ContinuationToken="no-token")
