"""Objects of many sizes: each acknowledged one is read back whole after the end."""

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
SIZES = [0, 1, 700, 5_000, 70_000, 300_000, 1_500_000]


class Session:
    def __init__(self, url):
        self.s3 = boto3.client(
            "s3",
            endpoint_url=url,
            region_name=SEED["region"],
            aws_access_key_id=KEY["accessKeyId"],
            aws_secret_access_key=KEY["secretAccessKey"],
            config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        )

    def write(self, worker, number):
        # Every third write replaces an object, so that a replaced body is never seen half old, half new.
        key = f"{worker}/{number - number % 3}"
        body = os.urandom(random.choice(SIZES))
        self.s3.put_object(Bucket="demo", Key=key, Body=body)
        return worker, number, key, hashlib.sha256(body).hexdigest()

    def missing(self, facts):
        latest, lost = {}, []
        for worker, number, key, digest in facts:
            if key not in latest or latest[key][0] < number:
                latest[key] = (number, digest)
        for key, (number, digest) in latest.items():
            try:
                got = hashlib.sha256(self.s3.get_object(Bucket="demo", Key=key)["Body"].read()).hexdigest()
            except ClientError as error:
                lost.append(f"{key}: {error}")
                continue
            # The write under way at the end may have replaced it; the writer's next number has the same key then.
            if got != digest and number % 3 == 2:
                lost.append(f"{key}: other bytes than were acknowledged")
        return lost


harness.rounds(Session)
