"""Objects with keys of their customers: boto3 and the aws command line bring them over https; over http from this machine alone."""

import base64
import hashlib
import os

from aws import HTTPS, CommandLine
from customer_key import KEY, OTHER, HttpsSuite, own
from suite import DIALECTS, OWNER, request, send

BODY = os.urandom(300_000)
NO_KEY = "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object."
WRONG_KEY = "Requests specifying Server Side Encryption with Customer provided keys must provide the correct secret key."


def source(key=KEY):
    return {"CopySourceSSECustomerAlgorithm": "AES256", "CopySourceSSECustomerKey": key}


def headers(key=KEY, prefix="-server-side-encryption-customer-"):
    digest = base64.b64encode(hashlib.md5(key).digest()).decode()
    return {prefix + "algorithm": "AES256", prefix + "key": base64.b64encode(key).decode(), prefix + "key-MD5": digest}


class CustomerKeys(HttpsSuite):
    def test_boto3_writes_and_reads_with_its_key(self):
        put = self.tls.put_object(Bucket="demo", Key="own", Body=BODY, **own())
        digest = base64.b64encode(hashlib.md5(KEY).digest()).decode()
        self.assertEqual((put["SSECustomerAlgorithm"], put["SSECustomerKeyMD5"]), ("AES256", digest))
        self.assertNotIn("ServerSideEncryption", put)
        self.assertNotEqual(put["ETag"].strip('"'), hashlib.md5(BODY).hexdigest())
        got = self.tls.get_object(Bucket="demo", Key="own", ChecksumMode="ENABLED", **own())
        self.assertEqual(got["Body"].read(), BODY)
        self.assertEqual((got["ETag"], got["SSECustomerKeyMD5"]), (put["ETag"], digest))
        self.assertEqual(self.tls.head_object(Bucket="demo", Key="own", **own())["ContentLength"], len(BODY))
        part = self.tls.get_object(Bucket="demo", Key="own", Range="bytes=65530-65545", **own())
        self.assertEqual(part["Body"].read(), BODY[65530:65546])
        # This operation alone leaves it to its caller to encode the key.
        encoded = {**own(base64.b64encode(KEY).decode()), "SSECustomerKeyMD5": digest}
        said = self.tls.get_object_attributes(Bucket="demo", Key="own", ObjectAttributes=["ETag", "ObjectSize"], **encoded)
        self.assertEqual((said["ObjectSize"], f'"{said["ETag"]}"'), (len(BODY), put["ETag"]))

    def test_another_key_is_told_apart_from_none(self):
        self.tls.put_object(Bucket="demo", Key="apart", Body=b"body", **own())
        get = {"Bucket": "demo", "Key": "apart"}
        self.assertEqual(self.refused(400, "InvalidRequest", self.tls.get_object, **get)["Message"], NO_KEY)
        self.assertEqual(self.refused(403, "AccessDenied", self.tls.get_object, **get, **own(OTHER))["Message"], WRONG_KEY)
        self.refused(400, "400", self.tls.head_object, **get)
        self.refused(403, "403", self.tls.head_object, **get, **own(OTHER))
        self.tls.put_object(Bucket="demo", Key="plain", Body=b"body")
        self.refused(400, "InvalidRequest", self.tls.get_object, Bucket="demo", Key="plain", **own())

    def test_a_copy_says_its_own_mode_and_the_key_of_its_source(self):
        self.tls.put_object(Bucket="demo", Key="from", Body=BODY, **own())
        copy = {"Bucket": "demo", "CopySource": "demo/from"}
        self.refused(400, "InvalidRequest", self.tls.copy_object, Key="to", **copy)
        self.refused(403, "AccessDenied", self.tls.copy_object, Key="to", **copy, **source(OTHER))
        self.tls.copy_object(Key="clear", **copy, **source())
        clear = self.tls.get_object(Bucket="demo", Key="clear")
        self.assertEqual((clear["Body"].read(), clear["ServerSideEncryption"]), (BODY, "AES256"))
        self.tls.copy_object(Key="to", **copy, **source(), **own(OTHER))
        self.assertEqual(self.tls.get_object(Bucket="demo", Key="to", **own(OTHER))["Body"].read(), BODY)
        self.refused(403, "AccessDenied", self.tls.get_object, Bucket="demo", Key="to", **own())

    def test_what_belongs_together_comes_together(self):
        name = self.bucket()
        prefix = "-server-side-encryption-customer-"
        whole = headers()
        argument = "x-amz-server-side-encryption"
        both = request("PUT", f"/{name}/k", {**whole, "-server-side-encryption": "AES256"}, b"body")
        self.is_refused(both, 400, "InvalidArgument", ArgumentName=argument, ArgumentValue="AES256")
        short = base64.b64encode(b"k" * 31).decode()
        long = base64.b64encode(b"k" * 33).decode()
        for change, code in (
            ({prefix + "algorithm": None}, "InvalidArgument"),
            ({prefix + "key": None}, "InvalidArgument"),
            ({prefix + "key-MD5": None}, "InvalidArgument"),
            ({prefix + "key-MD5": "MDAwMDAwMDAwMDAwMDAwMA=="}, "InvalidArgument"),
            ({prefix + "algorithm": "KMS"}, "InvalidEncryptionAlgorithmError"),
            ({prefix + "key": short}, "InvalidArgument"),
            ({prefix + "key": long}, "InvalidArgument"),
        ):
            sent = {name: value for name, value in {**whole, **change}.items() if value is not None}
            for method, body in (("PUT", b"body"), ("GET", b"")):
                if method == "PUT":
                    answer = request(method, f"/{name}/k", sent, body)
                    self.is_refused(answer, 400, code, ArgumentName=argument)
                    self.assertNotIn(base64.b64encode(KEY), answer.body)
        self.assertEqual(request("GET", f"/{name}/k").status, 404)

    def test_either_dialect_brings_a_key_and_a_wrong_signature_does_not_show_it(self):
        name = self.bucket()
        for dialect in DIALECTS:
            target = f"/{name}/{dialect.service}"
            self.assertEqual(request("PUT", target, headers(), b"body", dialect).status, 200)
            self.assertEqual(request("GET", target, headers(), dialect=dialect).body, b"body")
            self.assertEqual(request("GET", target, headers(OTHER), dialect=dialect).status, 403)
            forged = request("GET", target, headers(), dialect=dialect, key=(OWNER[0], "wrong"))
            self.assertEqual(forged.code, "SignatureDoesNotMatch")
            secret = base64.b64encode(KEY)
            self.assertNotIn(secret, forged.body)
            self.assertNotIn(secret.hex(" "), forged.body.decode())

    def test_no_control_path_shows_a_key_of_a_presigned_url(self):
        url = self.s3.generate_presigned_url("get_object", Params={"Bucket": "demo", "Key": "k", **own()})
        start = os.environ["TRIPTYCH_OBJECT_URL"]
        query = url.removeprefix(start)
        for name, value in headers(prefix="x-amz-server-side-encryption-customer-").items():
            query += f"&{name}={value}"
        send("GET", query)
        shown = send("GET", "/_ops/requests").body
        self.assertNotIn(base64.b64encode(KEY), shown)
        self.assertNotIn(base64.b64encode(hashlib.md5(KEY).digest()), shown)


class CustomerKeysOfTheCommandLine(CommandLine):
    def test_cp_moves_a_file_with_a_key(self):
        key = self.file(KEY, "key.bin")
        sent, received = self.file(BODY, "sent"), self.folder / "received"
        mode = ("--sse-c", "AES256", "--sse-c-key", f"fileb://{key}")
        self.ok("s3", "cp", sent, "s3://demo/cli-own", *mode, service=HTTPS)
        self.ok("s3", "cp", "s3://demo/cli-own", received, *mode, service=HTTPS)
        self.assertEqual(received.read_bytes(), BODY)
        self.refused("400", "s3", "cp", "s3://demo/cli-own", received, service=HTTPS)
