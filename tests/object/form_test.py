"""Uploads by form, as boto3 presigns them: both versions of signatures, conditions, answers, and what is refused."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import Suite, client, send  # noqa: E402

BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW"


def form(fields, body, name="C:\\photos\\cat.txt", after=()):
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items()]
    if body is not None:
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
        parts.append(head.encode() + body + b"\r\n")
    parts += [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in after]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def post(target, body):
    return send("POST", target, {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}, body)


class Forms(Suite):
    def test_boto3_presigns_forms_of_both_versions(self):
        name = self.bucket()
        for version in ("s3", "s3v4"):
            signer, s3 = client(signature_version=version), client()
            for size in (0, 5, 300_000):
                body = b"f" * size
                presigned = signer.generate_presigned_post(
                    name, "up/${filename}", Fields={"Content-Type": "text/css", "success_action_status": "201"},
                    Conditions=[["starts-with", "$Content-Type", "text/"], {"success_action_status": "201"}, ["content-length-range", 0, 300_000]],
                )  # fmt: skip
                answer = post(f"/{name}", form(presigned["fields"], body))
                self.assertEqual(answer.status, 201, answer)
                self.assertEqual((answer.field("Key"), answer.field("Bucket")), ("up/cat.txt", name))
                got = s3.get_object(Bucket=name, Key="up/cat.txt")
                self.assertEqual((got["Body"].read(), got["ContentType"], got["ETag"]), (body, "text/css", answer.field("ETag")))
                self.assertEqual(answer.headers["etag"], got["ETag"])

    def test_what_the_policy_does_not_say_is_refused(self):
        name = self.bucket()
        for version in ("s3", "s3v4"):
            signer, s3 = client(signature_version=version), client()
            presigned = signer.generate_presigned_post(name, "k", Conditions=[["content-length-range", 2, 4]])
            fields = presigned["fields"]
            self.is_refused(post(f"/{name}", form({**fields, "x-amz-meta-a": "b"}, b"123")), 403, "AccessDenied")
            self.is_refused(post(f"/{name}", form({**fields, "key": "other"}, b"123")), 403, "AccessDenied")
            self.is_refused(post(f"/{name}", form(fields, b"12345")), 400, "EntityTooLarge", ProposedSize="5", MaxSizeAllowed="4")
            self.is_refused(post(f"/{name}", form(fields, b"1")), 400, "EntityTooSmall")
            self.is_refused(post(f"/{name}", form(fields, None)), 400, "InvalidArgument", ArgumentName="file", ArgumentValue="0")
            expired = signer.generate_presigned_post(name, "k", ExpiresIn=-1)["fields"]
            self.is_refused(post(f"/{name}", form(expired, b"1")), 403, "AccessDenied", Message="Invalid according to Policy: Policy expired.")
            self.assertEqual(s3.list_objects_v2(Bucket=name)["KeyCount"], 0)
            self.assertEqual(post(f"/{name}", form(fields, b"123", after=[("x-amz-meta-late", "1")])).status, 204)
            s3.delete_object(Bucket=name, Key="k")

    def test_a_form_leads_on_to_a_page(self):
        name = self.bucket()
        page = "http://page.example/done?a=b"
        presigned = client(signature_version="s3v4").generate_presigned_post(
            name, "a b", Fields={"success_action_redirect": page}, Conditions=[{"success_action_redirect": page}]
        )
        answer = post(f"/{name}", form(presigned["fields"], b"1"))
        self.assertEqual(answer.status, 303)
        self.assertTrue(answer.headers["location"].startswith(f"{page}&bucket={name}&key=a%20b&etag=%22"), answer)

    def test_a_form_in_the_own_dialect_is_taken(self):
        import base64
        import datetime
        import hashlib
        import hmac
        import json

        from suite import OWNER, REGION, STORE, UTC

        name = self.bucket()
        moment = datetime.datetime.now(UTC)
        stamp, day = moment.strftime("%Y%m%dT%H%M%SZ"), moment.strftime("%Y%m%d")
        scope = f"{OWNER[0]}/{day}/{REGION}/{STORE.service}/{STORE.scope_end}"
        fields = {"key": "k", "x-store-algorithm": STORE.algorithm, "x-store-credential": scope, "x-store-date": stamp}
        conditions = [{"bucket": name}, *({key: value} for key, value in fields.items())]
        end = (moment + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        policy = base64.b64encode(json.dumps({"expiration": end, "conditions": conditions}).encode()).decode()
        signature = hmac.new(STORE.signing_key(OWNER[1], day), policy.encode(), hashlib.sha256).hexdigest()
        answer = post(f"/{name}", form({**fields, "policy": policy, "x-store-signature": signature}, b"own"))
        self.assertEqual(answer.status, 204, answer)
        self.assertIn("x-store-request-id", answer.headers)
        answer = post(f"/{name}", form({**fields, "policy": policy}, b"own"))
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="X-Store-Signature")


if __name__ == "__main__":
    unittest.main()
