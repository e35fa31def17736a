"""Appends to objects of directory buckets: boto3 writes one in a hundred pieces, and all that an offset may not be."""

import base64
import concurrent.futures
import hashlib
import os
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from directory import EXPRESS, STORE_EXPRESS, DirectorySuite  # noqa: E402
from suite import request  # noqa: E402


def crc32(body):
    return base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()


def digest(name, body):
    return base64.b64encode(hashlib.new(name, body).digest()).decode()


class Appends(DirectorySuite):
    def append(self, bucket, body, offset, key="k", **more):
        return self.zonal.put_object(Bucket=bucket, Key=key, Body=body, WriteOffsetBytes=offset, **more)

    def head(self, bucket, key="k", **more):
        return self.zonal.head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED", **more)

    def read(self, bucket, key="k", **more):
        return self.zonal.get_object(Bucket=bucket, Key=key, **more)["Body"].read()

    def not_appended(self, status, code, bucket, body, offset, key="k", **more):
        return self.refused(status, code, self.zonal.put_object, Bucket=bucket, Key=key, Body=body, WriteOffsetBytes=offset, **more)

    def test_an_object_grows_to_a_hundred_parts_and_reads_back(self):
        name = self.directory()
        whole, tags = b"", set()
        for number in range(100):
            piece = os.urandom(1 + (number * 997) % 9000)
            put = self.append(name, piece, len(whole))
            whole += piece
            tags.add(put["ETag"])
            self.assertEqual(put["ChecksumCRC32"], crc32(whole))
            self.assertEqual(put.get("Size"), None if number == 0 else len(whole))
        self.assertEqual(len(tags), 100)
        head = self.head(name)
        self.assertEqual((head["ContentLength"], head["ChecksumCRC32"], head["ChecksumType"]), (len(whole), crc32(whole), "FULL_OBJECT"))
        self.assertEqual(self.read(name), whole)
        for start, end in ((0, 0), (1, 5000), (4_000, 200_000), (len(whole) - 3, len(whole) - 1)):
            self.assertEqual(self.read(name, Range=f"bytes={start}-{end}"), whole[start : end + 1])
        seen = b"".join(self.read(name, PartNumber=number) for number in range(1, 101))
        self.assertEqual(seen, whole)
        attributes = self.zonal.get_object_attributes(Bucket=name, Key="k", ObjectAttributes=["ObjectParts", "Checksum", "ObjectSize"], MaxParts=40)
        parts = attributes["ObjectParts"]
        self.assertEqual((parts["TotalPartsCount"], parts["NextPartNumberMarker"], parts["IsTruncated"]), (100, 40, True))
        self.assertEqual([part["PartNumber"] for part in parts["Parts"]], list(range(1, 41)))
        copied = self.zonal.copy_object(Bucket=name, Key="copy", CopySource=f"{name}/k")
        self.assertEqual(copied["CopyObjectResult"]["ChecksumCRC32"], crc32(whole))
        self.assertNotIn("ObjectParts", self.zonal.get_object_attributes(Bucket=name, Key="copy", ObjectAttributes=["ObjectParts"]))
        self.append(name, b"more", len(whole), "copy")
        self.assertEqual(self.read(name, "copy"), whole + b"more")
        put = self.zonal.put_object(Bucket=name, Key="k", Body=b"new")
        self.assertNotIn("Size", put)
        self.assertEqual(self.read(name), b"new")

    def test_the_size_stands_in_the_answer_to_an_append_alone(self):
        name = self.directory()
        for dialect, header in ((EXPRESS, "x-amz-object-size"), (STORE_EXPRESS, "x-store-object-size")):
            key = f"/{header}"
            put = lambda offset: self.plain("PUT", name, key, {} if offset is None else {"-write-offset-bytes": str(offset)}, b"four", dialect)  # noqa: B023, E731
            self.assertNotIn(header, put(None).headers)
            self.assertEqual(put(4).headers[header], "8")
            self.assertEqual(put(8).headers[header], "12")
            self.assertNotIn(header, self.plain("GET", name, key, dialect=dialect).headers)

    def test_offsets_that_are_not_the_size_are_refused(self):
        name = self.directory()
        self.not_appended(400, "InvalidWriteOffset", name, b"x", 1)
        self.append(name, b"four", 0)
        for offset in (0, 3, 5, 2**62):
            self.not_appended(400, "InvalidWriteOffset", name, b"x", offset)
        self.assertEqual(self.read(name), b"four")
        for offset in ("", "x", "-1", "+4", "4.0", "4 4", "0x4", str(2**63), str(2**64), "9" * 100):
            answer = self.plain("PUT", name, "/k", {"-write-offset-bytes": offset}, b"x")
            self.is_refused(answer, 400, "InvalidArgument")
        answer = self.plain("PUT", name, "/k", {"-write-offset-bytes": " 4 "}, b"!")
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(self.read(name), b"four!")

    def test_an_empty_body_and_metadata_of_an_existing_object_are_refused(self):
        name = self.directory()
        message = "Request body cannot be empty when 'write offset' is specified."
        self.assertEqual(self.not_appended(400, "InvalidRequest", name, b"", 0)["Message"], message)
        self.refused(404, "404", self.zonal.head_object, Bucket=name, Key="k")
        self.append(name, b"a", 0, Metadata={"made": "so"})
        self.assertEqual(self.not_appended(400, "InvalidRequest", name, b"", 1)["Message"], message)
        refused = self.not_appended(400, "InvalidRequest", name, b"b", 1, Metadata={"x": "y"})
        self.assertEqual(refused["Message"], "Cannot specify both a write offset value and user-defined object metadata for existing objects.")
        self.append(name, b"b", 1)
        self.assertEqual((self.read(name), self.head(name)["Metadata"]), (b"ab", {"made": "so"}))

    def test_a_checksum_of_another_algorithm_names_both(self):
        name = self.directory()
        self.append(name, b"a", 0, ChecksumAlgorithm="SHA1")
        refused = self.not_appended(400, "InvalidRequest", name, b"b", 1, ChecksumAlgorithm="CRC32C")
        self.assertEqual(refused["Message"], "Checksum Type mismatch occurred, expected checksum Type: sha1, actual checksum Type: crc32c")

    def test_sums_of_the_crc_family_are_put_together_and_digests_are_not(self):
        name = self.directory()
        for algorithm in ("CRC32", "CRC32C", "CRC64NVME"):
            pieces = [os.urandom(size) for size in (1, 70_000, 33)]
            for number, piece in enumerate(pieces):
                self.append(name, piece, sum(map(len, pieces[:number])), algorithm, ChecksumAlgorithm=algorithm)
            self.zonal.put_object(Bucket=name, Key="whole", Body=b"".join(pieces), ChecksumAlgorithm=algorithm)
            own, whole = self.head(name, algorithm), self.head(name, "whole")
            self.assertEqual((own[f"Checksum{algorithm}"], own["ChecksumType"]), (whole[f"Checksum{algorithm}"], "FULL_OBJECT"))
        for algorithm in ("SHA1", "SHA256"):
            self.append(name, b"one", 0, algorithm, ChecksumAlgorithm=algorithm)
            self.assertIn(f"Checksum{algorithm}", self.head(name, algorithm))
            put = self.append(name, b"two", 3, algorithm, ChecksumAlgorithm=algorithm)
            self.assertEqual(put[f"Checksum{algorithm}"], digest(algorithm, b"two"))
            for answer in (self.head(name, algorithm), self.zonal.get_object(Bucket=name, Key=algorithm, ChecksumMode="ENABLED")):
                self.assertFalse([field for field in answer if field.startswith("Checksum")], answer)
            attributes = self.zonal.get_object_attributes(Bucket=name, Key=algorithm, ObjectAttributes=["Checksum", "ETag"])
            self.assertNotIn("Checksum", attributes)
            listed = {entry["Key"]: entry for entry in self.zonal.list_objects_v2(Bucket=name)["Contents"]}
            self.assertNotIn("ChecksumAlgorithm", listed[algorithm])
            copied = self.zonal.copy_object(Bucket=name, Key="again", CopySource=f"{name}/{algorithm}")
            self.assertEqual(copied["CopyObjectResult"][f"Checksum{algorithm}"], digest(algorithm, b"onetwo"))

    def test_an_upload_in_parts_of_checksums_gets_one_of_all_bytes(self):
        name = self.directory()
        begun = self.zonal.create_multipart_upload(Bucket=name, Key="k", ChecksumAlgorithm="CRC32", ChecksumType="COMPOSITE")
        place = {"Bucket": name, "Key": "k", "UploadId": begun["UploadId"]}
        half = os.urandom(5 * 1024 * 1024)
        parts = []
        for number, body in ((1, half), (2, b"end")):
            put = self.zonal.upload_part(PartNumber=number, Body=body, ChecksumAlgorithm="CRC32", **place)
            parts.append({"PartNumber": number, "ETag": put["ETag"], "ChecksumCRC32": put["ChecksumCRC32"]})
        self.zonal.complete_multipart_upload(MultipartUpload={"Parts": parts}, **place)
        self.assertEqual(self.head(name)["ChecksumType"], "COMPOSITE")
        self.append(name, b"more", len(half) + 3)
        head = self.head(name)
        self.assertEqual((head["ChecksumCRC32"], head["ChecksumType"]), (crc32(half + b"endmore"), "FULL_OBJECT"))

    def test_conditions_hold_beside_the_offset(self):
        name = self.directory()
        first = self.append(name, b"a", 0, IfNoneMatch="*")
        self.not_appended(412, "PreconditionFailed", name, b"b", 1, IfNoneMatch="*")
        self.not_appended(412, "PreconditionFailed", name, b"b", 1, IfMatch='"0"')
        second = self.append(name, b"b", 1, IfMatch=first["ETag"])
        self.not_appended(412, "PreconditionFailed", name, b"c", 2, IfMatch=first["ETag"])
        self.append(name, b"c", 2, IfMatch=second["ETag"])
        self.not_appended(400, "InvalidWriteOffset", name, b"c", 2)
        self.assertEqual(self.read(name), b"abc")

    def test_other_requests_take_no_offset(self):
        name = self.directory()
        self.zonal.put_object(Bucket=name, Key="k", Body=b"a")
        for method, target, more in (("PUT", "/c", {"-copy-source": f"{name}/k"}), ("POST", "/c?uploads=", {})):
            answer = self.plain(method, name, target, {"-write-offset-bytes": "0", **more})
            self.is_refused(answer, 501, "NotImplemented", Header="x-amz-write-offset-bytes")

    def test_a_body_that_does_not_match_its_checksum_leaves_the_object_as_it_was(self):
        name = self.directory()
        tag = self.append(name, b"good", 0)["ETag"]
        wrong = {"-write-offset-bytes": "4", "-checksum-crc32": crc32(b"other")}
        self.is_refused(self.plain("PUT", name, "/k", wrong, b"bad!"), 400, "BadDigest")
        self.assertEqual((self.read(name), self.head(name)["ETag"]), (b"good", tag))

    def test_sixteen_who_append_at_once_lose_nothing(self):
        name = self.directory()
        session = self.session(name)
        self.within(session, "PUT", name, "/k", {}, b"start...")

        def work(worker):
            done, size = [], 8
            while len(done) < 12:
                piece = f"{worker:03}{len(done):03}..".encode()
                answer = self.within(session, "PUT", name, "/k", {"-write-offset-bytes": str(size)}, piece)
                if answer.status == 200:
                    size = int(answer.headers["x-amz-object-size"])
                    done.append((size - len(piece), piece))
                else:
                    self.assertIn((answer.status, answer.code), ((400, "InvalidWriteOffset"), (503, "SlowDown")))
                    size = int(self.within(session, "HEAD", name, "/k").headers["content-length"])
            return done

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            placed = [piece for done in pool.map(work, range(16)) for piece in done]
        whole = self.within(session, "GET", name, "/k").body
        self.assertEqual(len(whole), 8 + 16 * 12 * 8)
        for offset, piece in placed:
            self.assertEqual(whole[offset : offset + 8], piece)
        self.assertEqual(len({offset for offset, _ in placed}), 16 * 12)
