"""Objects of many sizes, and objects that grow: each acknowledged one is read back whole after the end, each acknowledged append is there."""

import hashlib
import json
import os
import random
import socket

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import harness

SEED = json.load(open(os.environ["TRIPTYCH_SEED"]))
KEY = SEED["accounts"][0]["keys"][0]
PIECES = [40, 700, 200_000]
SIZES = [0, 1, 700, 5_000, 70_000, 300_000, 1_500_000]
LOGS = "logs--use1-az4--x-s3"
CONFIGURATION = {"Location": {"Name": "use1-az4", "Type": "AvailabilityZone"}, "Bucket": {"Type": "Directory"}}

_resolve = socket.getaddrinfo


def _of_this_machine(host, *arguments, **options):
    # Not every resolver knows the names below localhost.
    name = host.decode() if isinstance(host, bytes) else host
    return _resolve("127.0.0.1" if name and name.endswith(".localhost") else host, *arguments, **options)


socket.getaddrinfo = _of_this_machine


class Session:
    # The digests of all bodies whose write has begun, by their key, in order.
    begun = {}

    def __init__(self, url):
        self.s3 = self.client(url, addressing_style="path")
        zonal = f"http://localhost:{url.rsplit(':', 1)[1]}"
        self.zonal = self.client(zonal)
        try:
            control = self.client(zonal, disable_s3_express_session_auth=True)
            control.create_bucket(Bucket=LOGS, CreateBucketConfiguration=CONFIGURATION)
        except ClientError as error:
            if error.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
                raise
        self.sizes = {}

    def client(self, url, **s3):
        return boto3.client(
            "s3",
            endpoint_url=url,
            region_name=SEED["region"],
            aws_access_key_id=KEY["accessKeyId"],
            aws_secret_access_key=KEY["secretAccessKey"],
            config=Config(retries={"total_max_attempts": 1}, s3=s3),
        )

    def append(self, worker, number):
        """A piece that says where it stands; it is a fact only once it is acknowledged."""
        offset = self.sizes.get(worker, 0)
        piece = f"{worker} {number} {offset};".encode().ljust(random.choice(PIECES), b".")
        self.zonal.put_object(Bucket=LOGS, Key=f"log/{worker}", Body=piece, WriteOffsetBytes=offset)
        self.sizes[worker] = offset + len(piece)
        return worker, number, f"log/{worker}", (offset, hashlib.sha256(piece).hexdigest(), len(piece))

    def write(self, worker, number):
        if number % 4 == 3:
            return self.append(worker, number)
        # Every third write replaces an object, so that a replaced body is never seen half old, half new.
        key = f"{worker}/{number - number % 3}"
        body = os.urandom(random.choice(SIZES))
        digest = hashlib.sha256(body).hexdigest()
        self.begun.setdefault(key, []).append(digest)
        self.s3.put_object(Bucket="demo", Key=key, Body=body)
        return worker, number, key, digest

    def upload(self):
        """The path and the headers of an upload that a client may be slow with, or give up."""
        url = self.s3.generate_presigned_url("put_object", Params={"Bucket": "demo", "Key": "given-up"})
        return "PUT", "/" + url.split("/", 3)[3], {}

    def missing(self, facts):
        latest, lost = {}, []
        facts = list(facts)
        logs = [fact for fact in facts if fact[2].startswith("log/")]
        for key in {fact[2] for fact in logs}:
            lost += self.missing_of_log(key, [fact[3] for fact in logs if fact[2] == key])
        for worker, number, key, digest in (fact for fact in facts if not fact[2].startswith("log/")):
            if key not in latest or latest[key][0] < number:
                latest[key] = (number, digest)
        for key, (number, digest) in latest.items():
            try:
                got = hashlib.sha256(self.s3.get_object(Bucket="demo", Key=key)["Body"].read()).hexdigest()
            except ClientError as error:
                lost.append(f"{key}: {error}")
                continue
            # The write under way at the end may have replaced it.
            begun = self.begun[key]
            if got not in begun[begun.index(digest) :]:
                lost.append(f"{key}: other bytes than were acknowledged")
        return lost

    def torn(self, facts):
        """Objects whose first write was never acknowledged: they are whole, or not there."""
        known = {fact[2] for fact in facts}
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket="demo"):
            for key in (row["Key"] for row in page.get("Contents", [])):
                if key in self.begun and key not in known:
                    got = hashlib.sha256(self.s3.get_object(Bucket="demo", Key=key)["Body"].read()).hexdigest()
                    if got not in self.begun[key]:
                        yield f"{key}: not whole"

    def missing_of_log(self, key, pieces):
        try:
            whole = self.zonal.get_object(Bucket=LOGS, Key=key)["Body"].read()
        except ClientError as error:
            return [f"{key}: {error}"]
        lost = []
        for offset, digest, length in pieces:
            if hashlib.sha256(whole[offset : offset + length]).hexdigest() != digest:
                lost.append(f"{key}: the piece at {offset} is not there")
        # Behind them stands nothing, or the whole of others.
        at = max(offset + length for offset, _, length in pieces)
        while at < len(whole):
            said, _, filler = whole[at:].partition(b";")
            length = len(said) + 1 + len(filler) - len(filler.lstrip(b"."))
            if length not in PIECES or not said.endswith(f" {at}".encode()):
                return [*lost, f"{key}: a part of an append at {at}"]
            at += length
        return lost


harness.rounds(Session)
