"""Versions, delete markers and deletes: what is kept, what is shown, and what each delete answers."""

import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import DIALECTS, Suite, digest64, request  # noqa: E402


class Versions(Suite):
    def test_every_write_is_a_version_that_can_be_read(self):
        name = self.bucket(versioning="Enabled")
        put = [self.put(name, body=f"{number}".encode())["VersionId"] for number in range(5)]
        self.assertEqual(len(set(put)), 5)
        for number, version in enumerate(put):
            self.assertEqual(self.body(name, VersionId=version), f"{number}".encode())
            self.assertEqual(self.s3.head_object(Bucket=name, Key="k", VersionId=version)["VersionId"], version)
        listed = self.s3.list_object_versions(Bucket=name)["Versions"]
        self.assertEqual([found["VersionId"] for found in listed], put[::-1])
        self.assertEqual([found["IsLatest"] for found in listed], [True] + [False] * 4)

    def test_simultaneous_writes_are_all_kept(self):
        name = self.bucket(versioning="Enabled")
        with ThreadPoolExecutor(16) as pool:
            put = list(pool.map(lambda number: self.put(name, body=f"{number}".encode())["VersionId"], range(48)))
        self.assertEqual(len(set(put)), 48)
        listed = self.s3.list_object_versions(Bucket=name)["Versions"]
        self.assertEqual({found["VersionId"] for found in listed}, set(put))

    def test_versions_are_deleted_from_either_end(self):
        for order in (1, -1):
            name = self.bucket(versioning="Enabled")
            put = [(self.put(name, body=f"{number}".encode())["VersionId"], f"{number}".encode()) for number in range(4)]
            for version, _ in put[::order]:
                answer = self.s3.delete_object(Bucket=name, Key="k", VersionId=version)
                self.assertEqual((answer["VersionId"], "DeleteMarker" in answer), (version, False))
                left = [body for other, body in put if other != version]
                put = [pair for pair in put if pair[0] != version]
                if left:
                    self.assertEqual(self.body(name), left[-1])
            self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="k")
            self.s3.delete_bucket(Bucket=name)

    def test_what_was_there_before_versioning_is_the_null_version(self):
        name = self.bucket()
        self.put(name, body=b"old")
        self.versioning(name, "Enabled")
        self.assertEqual(self.s3.head_object(Bucket=name, Key="k")["VersionId"], "null")
        version = self.put(name, body=b"new")["VersionId"]
        self.assertEqual((self.body(name), self.body(name, VersionId="null")), (b"new", b"old"))
        self.s3.delete_object(Bucket=name, Key="k", VersionId=version)
        self.assertEqual(self.body(name), b"old")
        answer = self.s3.delete_object(Bucket=name, Key="k", VersionId="null")
        self.assertEqual(answer["VersionId"], "null")
        self.refused(404, "NoSuchVersion", self.s3.get_object, Bucket=name, Key="k", VersionId="null")

    def test_a_suspended_bucket_overwrites_the_null_version_alone(self):
        name = self.bucket(versioning="Enabled")
        kept = self.put(name, body=b"kept")["VersionId"]
        self.versioning(name, "Suspended")
        for body in (b"1", b"2"):
            self.assertNotIn("VersionId", self.put(name, body=body))
        self.assertEqual((self.body(name), self.body(name, VersionId=kept)), (b"2", b"kept"))
        self.assertEqual(self.s3.get_object(Bucket=name, Key="k")["VersionId"], "null")
        marker = self.s3.delete_object(Bucket=name, Key="k")
        self.assertEqual((marker["DeleteMarker"], marker["VersionId"]), (True, "null"))
        self.versioning(name, "Enabled")
        again = self.put(name, body=b"3")["VersionId"]
        listed = self.s3.list_object_versions(Bucket=name)
        self.assertEqual([found["VersionId"] for found in listed["Versions"]], [again, kept])
        self.assertEqual([found["VersionId"] for found in listed["DeleteMarkers"]], ["null"])

    def test_version_ids_that_were_never_given_are_told_from_those_that_are_gone(self):
        name = self.bucket(versioning="Enabled")
        version = self.put(name)["VersionId"]
        self.s3.delete_object(Bucket=name, Key="k", VersionId=version)
        gone = self.refused(404, "NoSuchVersion", self.s3.get_object, Bucket=name, Key="k", VersionId=version)
        self.assertEqual((gone["Key"], gone["VersionId"]), ("k", version))
        wrong = "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD"
        for call in (self.s3.get_object, self.s3.delete_object):
            refused = self.refused(400, "InvalidArgument", call, Bucket=name, Key="k", VersionId=wrong)
            self.assertEqual((refused["ArgumentName"], refused["ArgumentValue"]), ("versionId", wrong))
            self.assertEqual(refused["Message"], "Invalid version id specified")
        self.refused(400, "400", self.s3.head_object, Bucket=name, Key="k", VersionId=wrong)
        answer = request("GET", f"/{name}/k?versionId=")
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="versionId", Message="Version id cannot be the empty string")

    def test_states_of_versioning_are_shown_and_others_refused(self):
        name = self.bucket()
        self.assertNotIn("Status", self.s3.get_bucket_versioning(Bucket=name))
        for status in ("Enabled", "Suspended", "Enabled"):
            self.versioning(name, status)
            self.assertEqual(self.s3.get_bucket_versioning(Bucket=name)["Status"], status)
        for status in ("Off", "enabled"):
            body = f"<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>"
            self.is_refused(request("PUT", f"/{name}?versioning", {}, body), 400, "MalformedXML")
        for status in ("<Status/>", ""):
            body = f"<VersioningConfiguration>{status}</VersioningConfiguration>"
            answer = request("PUT", f"/{name}?versioning", {}, body)
            message = "The Versioning element must be specified"
            self.is_refused(answer, 400, "IllegalVersioningConfigurationException", Message=message)

    def test_one_page_of_versions_goes_on_in_the_middle_of_a_key(self):
        name = self.bucket(versioning="Enabled")
        put = [(key, self.put(name, key)["VersionId"]) for key in ("a", "b", "b", "b", "c")]
        shown = [put[0], *put[3:0:-1], put[4]]
        for size in range(1, 6):
            found, markers = [], {}
            while True:
                page = self.s3.list_object_versions(Bucket=name, MaxKeys=size, **markers)
                found += [(entry["Key"], entry["VersionId"]) for entry in page["Versions"]]
                if not page["IsTruncated"]:
                    break
                markers = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}
            self.assertEqual(found, shown, size)
        after = self.s3.list_object_versions(Bucket=name, KeyMarker="b")
        self.assertEqual([entry["Key"] for entry in after["Versions"]], ["c"])
        answer = request("GET", f"/{name}?versions&version-id-marker={put[0][1]}")
        message = "A version-id marker cannot be specified without a key marker."
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="version-id-marker", Message=message)
        answer = request("GET", f"/{name}?versions&key-marker=&version-id-marker=bogus")
        self.is_refused(answer, 400, "InvalidArgument", Message="Invalid version id specified")


class Markers(Suite):
    def test_a_hidden_key_says_that_a_marker_hides_it(self):
        name = self.bucket(versioning="Enabled")
        self.put(name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        for dialect in DIALECTS:
            start = dialect.header
            for method in ("GET", "HEAD"):
                got = request(method, f"/{name}/k", dialect=dialect)
                self.assertEqual((got.status, got.code), (404, "NoSuchKey" if method == "GET" else None))
                self.assertEqual(got.headers.get(start + "delete-marker"), "true")
                self.assertEqual(got.headers.get(start + "version-id"), marker)
                got = request(method, f"/{name}/k?versionId={marker}", dialect=dialect)
                self.assertEqual((got.status, got.headers.get("allow")), (405, "DELETE"))
                self.assertEqual(got.headers.get(start + "delete-marker"), "true")
                self.assertEqual(got.headers.get(start + "version-id"), marker)
                self.assertIn("last-modified", got.headers)
                if method == "GET":
                    self.is_refused(got, 405, "MethodNotAllowed", Method="GET", ResourceType="DeleteMarker")
            self.assertNotIn(start + "delete-marker", request("GET", f"/{name}/never", dialect=dialect).headers)

    def test_a_delete_of_what_is_not_there_leaves_a_marker(self):
        name = self.bucket(versioning="Enabled")
        first, second = (self.s3.delete_object(Bucket=name, Key="k") for _ in range(2))
        self.assertTrue(first["DeleteMarker"] and second["DeleteMarker"])
        self.assertNotEqual(first["VersionId"], second["VersionId"])
        listed = self.s3.list_object_versions(Bucket=name)["DeleteMarkers"]
        self.assertEqual([found["VersionId"] for found in listed], [second["VersionId"], first["VersionId"]])
        self.assertEqual([found["IsLatest"] for found in listed], [True, False])
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=name))

    def test_deleting_the_marker_brings_the_object_back(self):
        name = self.bucket(versioning="Enabled")
        self.put(name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        answer = self.s3.delete_object(Bucket=name, Key="k", VersionId=marker)
        self.assertEqual((answer["DeleteMarker"], answer["VersionId"]), (True, marker))
        self.assertEqual(self.body(name), b"body")

    def test_what_hangs_on_an_object_does_not_hang_on_a_marker(self):
        name = self.bucket("ObjectWriter", "Enabled")
        self.put(name)
        marker = self.s3.delete_object(Bucket=name, Key="k")["VersionId"]
        # A list that is read is not found; what would change, and tags, name the marker.
        self.refused(404, "NoSuchKey", self.s3.get_object_acl, Bucket=name, Key="k")
        for call, method, arguments in (
            (self.s3.get_object_acl, "GET", {}),
            (self.s3.get_object_tagging, "GET", {}),
            (self.s3.put_object_tagging, "PUT", {"Tagging": {"TagSet": []}}),
            (self.s3.delete_object_tagging, "DELETE", {}),
            (self.s3.put_object_acl, "PUT", {"ACL": "private"}),
        ):
            if call != self.s3.get_object_acl:
                hidden = self.refused(405, "MethodNotAllowed", call, Bucket=name, Key="k", **arguments)
                self.assertEqual((hidden["Method"], hidden["ResourceType"]), (method, "DeleteMarker"))
            refused = self.refused(405, "MethodNotAllowed", call, Bucket=name, Key="k", VersionId=marker, **arguments)
            self.assertEqual(refused["ResourceType"], "DeleteMarker")


class Deletes(Suite):
    def test_a_delete_of_what_is_not_there_is_204(self):
        name = self.bucket()
        for dialect in DIALECTS:
            answer = request("DELETE", f"/{name}/absent", dialect=dialect)
            self.assertEqual((answer.status, answer.body), (204, b""))
            self.assertNotIn(dialect.header + "delete-marker", answer.headers)
        self.refused(404, "NoSuchBucket", self.s3.delete_object, Bucket="nowhere-at-all", Key="k")

    def test_a_delete_may_need_a_tag(self):
        name = self.bucket()
        tag = self.put(name)["ETag"]
        refused = self.refused(412, "PreconditionFailed", self.s3.delete_object, Bucket=name, Key="k", IfMatch='"other"')
        self.assertEqual(refused["Condition"], "If-Match")
        self.refused(412, "PreconditionFailed", self.s3.delete_object, Bucket=name, Key="k", IfMatch=f"W/{tag}")
        self.s3.delete_object(Bucket=name, Key="k", IfMatch=tag)
        self.refused(404, "NoSuchKey", self.s3.delete_object, Bucket=name, Key="k", IfMatch=tag)
        self.put(name)
        self.s3.delete_object(Bucket=name, Key="k", IfMatch="*")

    def test_conditions_that_only_directory_buckets_know_are_named(self):
        name = self.bucket()
        for header, value in (("-if-match-size", "1"), ("-if-match-last-modified-time", "Sat, 01 Jan 2000 00:00:00 GMT")):
            answer = request("DELETE", f"/{name}/k", {header: value})
            self.is_refused(answer, 501, "NotImplemented", Header="x-amz" + header)

    def test_a_bypass_needs_a_bucket_that_locks(self):
        name = self.bucket()
        self.put(name)
        call = {"Bucket": name, "Key": "k", "BypassGovernanceRetention": True}
        refused = self.refused(400, "InvalidArgument", self.s3.delete_object, **call)
        self.assertEqual(refused["ArgumentName"], "x-amz-bypass-governance-retention")
        call = {"Bucket": name, "Delete": {"Objects": [{"Key": "k"}]}, "BypassGovernanceRetention": True}
        refused = self.refused(400, "InvalidArgument", self.s3.delete_objects, **call)
        self.assertEqual(refused["ArgumentName"], "x-amz-bypass-governance-retention")
        self.assertEqual(self.body(name), b"body")

    def test_many_keys_are_deleted_and_each_is_answered(self):
        name = self.bucket()
        names = [f"k{number}" for number in range(120)] + ["a b", "<&>", "\u00e9"]
        self.fill(name, names)
        answer = self.s3.delete_objects(Bucket=name, Delete={"Objects": [{"Key": key} for key in [*names, "absent"]]})
        self.assertEqual([found["Key"] for found in answer["Deleted"]], [*names, "absent"])
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=name))

    def test_a_quiet_delete_answers_errors_alone(self):
        name = self.bucket()
        self.fill(name, ["a", "b"])
        objects = [{"Key": "a"}, {"Key": "b", "VersionId": "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD"}, {"Key": "k" * 1025}]
        answer = self.s3.delete_objects(Bucket=name, Delete={"Objects": objects, "Quiet": True})
        self.assertNotIn("Deleted", answer)
        self.assertEqual([found["Key"] for found in answer["Errors"]], ["b", "k" * 1025])
        self.assertEqual([found["Code"] for found in answer["Errors"]], ["NoSuchVersion", "KeyTooLongError"])
        self.assertEqual(answer["Errors"][0]["VersionId"], "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD")

    def test_versions_and_markers_are_deleted_among_many(self):
        name = self.bucket(versioning="Enabled")
        first, second = (self.put(name)["VersionId"] for _ in range(2))
        answer = self.s3.delete_objects(Bucket=name, Delete={"Objects": [{"Key": "k", "VersionId": first}, {"Key": "k"}]})
        deleted = answer["Deleted"]
        self.assertEqual(deleted[0], {"Key": "k", "VersionId": first})
        self.assertEqual((deleted[1]["Key"], deleted[1]["DeleteMarker"]), ("k", True))
        self.assertEqual(self.body(name, VersionId=second), b"body")
        marker = {"Key": "k", "VersionId": deleted[1]["DeleteMarkerVersionId"]}
        again = self.s3.delete_objects(Bucket=name, Delete={"Objects": [marker]})["Deleted"][0]
        self.assertTrue(again["DeleteMarker"])
        self.assertEqual(self.body(name), b"body")

    def test_a_document_that_is_none_is_refused(self):
        name = self.bucket()
        many = "".join(f"<Object><Key>{number}</Key></Object>" for number in range(1001))
        refused = request("POST", f"/{name}?delete", {"content-md5": digest64("md5", b"")}, "")
        self.is_refused(refused, 400, "MissingRequestBodyError")
        for body in ("x", "<Delete/>", "<Delete><Object/></Delete>", f"<Delete>{many}</Delete>", "<Other><Object><Key>a</Key></Object></Other>"):
            answer = request("POST", f"/{name}?delete", {"content-md5": digest64("md5", body.encode())}, body)
            self.is_refused(answer, 400, "MalformedXML")
        body = "<Delete><Object><Key>a</Key></Object></Delete>"
        self.is_refused(request("POST", f"/{name}?delete", {}, body), 400, "InvalidRequest")
        answer = request("POST", f"/{name}?delete", {"content-md5": digest64("md5", b"x")}, body)
        self.is_refused(answer, 400, "BadDigest")
