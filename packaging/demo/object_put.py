"""A file goes up with boto3, comes back the same, and a second writer of the same key is refused."""

import hashlib
import os

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

s3 = boto3.client(
    "s3",
    endpoint_url=os.environ["TRIPTYCH_OBJECT_URL"],
    region_name=os.environ["TRIPTYCH_OBJECT_REGION"],
    aws_access_key_id=os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
    aws_secret_access_key=os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
    config=Config(s3={"addressing_style": "path"}),
)
body = os.urandom(1_000_000)
put = s3.put_object(Bucket="demo", Key="file.bin", Body=body, IfNoneMatch="*")
print(f"put 1,000,000 bytes as demo/file.bin, ETag {put['ETag']}")
got = s3.get_object(Bucket="demo", Key="file.bin")["Body"].read()
if hashlib.sha256(got).digest() != hashlib.sha256(body).digest():
    raise SystemExit("other bytes came back")
print("got the same bytes back")
try:
    s3.put_object(Bucket="demo", Key="file.bin", Body=b"late", IfNoneMatch="*")
except ClientError as error:
    print(f"a second writer was told {error.response['Error']['Code']}")
else:
    raise SystemExit("a second writer with If-None-Match: * was let in")
