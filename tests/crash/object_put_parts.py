"""Uploads in parts, in every encryption mode: each acknowledged step of one is there after the end, and no object has other bytes than all
of its parts.

What an upload is follows from its key alone: how many parts, which bytes, which mode, and whether it is completed or aborted.
"""

import base64
import hashlib
import json
import os
import random

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import harness

SEED = json.load(open(os.environ["TRIPTYCH_SEED"]))
KEY = SEED["accounts"][0]["keys"][0]
CUSTOMER_KEY = bytes(range(32))
CUSTOMER = {
    "SSECustomerAlgorithm": "AES256",
    "SSECustomerKey": base64.b64encode(CUSTOMER_KEY).decode(),
    "SSECustomerKeyMD5": base64.b64encode(hashlib.md5(CUSTOMER_KEY).digest()).decode(),
}
# The headers of the start of an upload, and those of its parts and of reads.
MODES = [
    ({}, {}),
    ({"ServerSideEncryption": "aws:kms"}, {}),
    ({"ServerSideEncryption": "aws:kms", "BucketKeyEnabled": True}, {}),
    ({"ServerSideEncryption": "aws:kms:dsse"}, {}),
    (CUSTOMER, CUSTOMER),
]


class Plan:
    """All that follows from a key."""

    def __init__(self, key):
        drawn = random.Random(key)
        self.key = key
        self.begin, self.read = drawn.choice(MODES)
        self.sizes = [drawn.choice([1, 5_000, 66_000, 300_000]) for _ in range(drawn.randrange(1, 7))]
        self.aborts = drawn.random() < 0.2

    def part(self, number):
        return random.Random(f"{self.key} {number}").randbytes(self.sizes[number - 1])

    def body(self):
        return b"".join(self.part(number) for number in range(1, len(self.sizes) + 1))


class Session:
    # A look goes on with uploads and ends them; objects that are there are looked at each time.
    looks_again = False

    def __init__(self, url):
        self.s3 = boto3.client(
            "s3",
            endpoint_url=url,
            region_name=SEED["region"],
            aws_access_key_id=KEY["accessKeyId"],
            aws_secret_access_key=KEY["secretAccessKey"],
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )
        self.under_way = {}

    def write(self, worker, number):
        """One step of the upload of a worker; a part may go up twice, and counts once."""
        if worker not in self.under_way:
            plan = Plan(f"parts/{worker}/{number}")
            upload = self.s3.create_multipart_upload(Bucket="demo", Key=plan.key, **plan.begin)["UploadId"]
            self.under_way[worker] = (plan, upload, [])
            return plan.key, upload, "begun", []
        plan, upload, tags = self.under_way[worker]
        named = {"Bucket": "demo", "Key": plan.key, "UploadId": upload}
        if len(tags) < len(plan.sizes):
            number = len(tags) + 1
            tags.append(self.put(named, plan, number))
            if random.random() < 0.1:
                tags[-1] = self.put(named, plan, number)
            return plan.key, upload, "begun", list(tags)
        if plan.aborts:
            self.s3.abort_multipart_upload(**named)
        else:
            self.complete(named, plan, tags)
        del self.under_way[worker]
        return plan.key, upload, "ended", tags

    def put(self, named, plan, number):
        body = plan.part(number)
        return self.s3.upload_part(**named, PartNumber=number, Body=body, **plan.read)["ETag"]

    def complete(self, named, plan, tags):
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
        self.s3.complete_multipart_upload(**named, MultipartUpload={"Parts": parts}, **plan.read)

    def missing(self, facts):
        latest, lost = {}, []
        for key, upload, state, tags in facts:
            if (key, upload) not in latest or state == "ended" or len(latest[key, upload][1]) < len(tags):
                if latest.get((key, upload), ("",))[0] != "ended":
                    latest[key, upload] = (state, tags)
        for (key, upload), (state, tags) in latest.items():
            plan = Plan(key)
            try:
                self.check(plan, {"Bucket": "demo", "Key": key, "UploadId": upload}, state, tags)
            except Exception as error:
                lost.append(f"{key}, {state} with {len(tags)} of {len(plan.sizes)} parts: {error!r}")
        return lost + self.strangers({key for key, _ in latest})

    def check(self, plan, named, state, tags):
        found = self.object(plan)
        try:
            listed = {part["PartNumber"]: part["ETag"] for part in self.s3.list_parts(**named).get("Parts", [])}
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchUpload":
                raise
            listed = None
        may_have_ended = state == "ended" or len(tags) == len(plan.sizes)
        if listed is None:
            assert may_have_ended, "the upload is gone"
            assert (found is None) == plan.aborts, "it did not end as it was asked to"
        else:
            assert state != "ended", "the upload is there again"
            assert found is None, "an object of an upload that goes on"
            # A part that goes up again when the end comes has the same bytes, and its tag is another one only where a key is its own.
            kept = [listed.get(number) for number in range(1, len(tags) + 1)]
            assert None not in kept, f"{kept.count(None)} parts are gone"
            # What is there can be gone on with.
            for number in range(len(tags) + 1, len(plan.sizes) + 1):
                kept.append(self.put(named, plan, number))
            self.complete(named, plan, kept)
            found = self.object(plan)
        assert found is None or found == plan.body(), "other bytes than were put"

    def object(self, plan):
        try:
            return self.s3.get_object(Bucket="demo", Key=plan.key, **plan.read)["Body"].read()
        except self.s3.exceptions.NoSuchKey:
            return None

    def strangers(self, known):
        """Objects whose upload began and was never acknowledged: they too are whole."""
        lost = []
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket="demo", Prefix="parts/"):
            for row in page.get("Contents", []):
                plan = Plan(row["Key"])
                if row["Key"] not in known and self.object(plan) != plan.body():
                    lost.append(f"{row['Key']}: not whole")
        return lost


harness.rounds(Session, flags=["--part-bytes-min", "1"])
