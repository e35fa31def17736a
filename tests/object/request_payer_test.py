"""Buckets whose requesters pay, and the grant that means nothing for objects."""

from suite import DIALECTS, GUEST, Suite, client, request, send

GUEST_ID = "444455556666"


def path(url):
    return "/" + url.split("/", 3)[3]


class RequesterPays(Suite):
    def setUp(self):
        self.name = self.bucket(versioning="Enabled")
        everything = {"Effect": "Allow", "Principal": {"AWS": GUEST_ID}, "Action": "s3:*"}
        self.put(self.name)
        self.s3.delete_public_access_block(Bucket=self.name)
        anyone = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{self.name}/*"}
        both = {**everything, "Resource": [f"arn:aws:s3:::{self.name}", f"arn:aws:s3:::{self.name}/*"]}
        self.put_policy(self.name, both, anyone)
        payment = {"Payer": "Requester"}
        self.s3.put_bucket_request_payment(Bucket=self.name, RequestPaymentConfiguration=payment)

    def test_every_operation_on_objects_and_listings_is_charged_to_who_confirms(self):
        name, guest = self.name, client(GUEST)
        self.s3.create_bucket(Bucket=name + "-own")
        for call, arguments in (
            ("get_object", {"Key": "k"}),
            ("head_object", {"Key": "k"}),
            ("get_object_attributes", {"Key": "k", "ObjectAttributes": ["ETag"]}),
            ("put_object", {"Key": "new", "Body": b"x"}),
            ("copy_object", {"Key": "copy", "CopySource": f"{name}/k"}),
            ("get_object_tagging", {"Key": "k"}),
            ("put_object_tagging", {"Key": "k", "Tagging": {"TagSet": []}}),
            ("list_objects", {}),
            ("list_objects_v2", {}),
            ("list_object_versions", {}),
            ("delete_object", {"Key": "new"}),
            ("delete_objects", {"Delete": {"Objects": [{"Key": "copy"}]}}),
        ):
            run = getattr(guest, call)
            if call != "delete_objects":
                self.refused(403, "403" if call.startswith("head") else "AccessDenied", run, Bucket=name, **arguments)
            charged = run(Bucket=name, RequestPayer="requester", **arguments)
            headers = charged["ResponseMetadata"]["HTTPHeaders"]
            self.assertEqual(headers.get("x-amz-request-charged"), "requester", call)
            if call.startswith(("get", "list", "head")):
                own = getattr(self.s3, call)(Bucket=name, RequestPayer="requester", **arguments)
                self.assertNotIn("x-amz-request-charged", own["ResponseMetadata"]["HTTPHeaders"], call)

    def test_who_is_not_known_is_refused_whatever_it_says(self):
        for headers in ({}, {"x-amz-request-payer": "requester"}):
            self.assertEqual(send("GET", f"/{self.name}/k", headers).status, 403)
        payment = {"Payer": "BucketOwner"}
        self.s3.put_bucket_request_payment(Bucket=self.name, RequestPaymentConfiguration=payment)
        self.assertEqual(send("GET", f"/{self.name}/k").body, b"body")

    def test_a_presigned_url_confirms_in_its_query(self):
        for version in ("s3v4", "s3"):
            guest = client(GUEST, signature_version=version)
            get = {"Bucket": self.name, "Key": "k"}
            plain = guest.generate_presigned_url("get_object", Params=get)
            paid = guest.generate_presigned_url("get_object", Params={**get, "RequestPayer": "requester"})
            self.assertEqual(send("GET", path(plain)).status, 403, version)
            # The older signature has it in the query; the newer signs a header, which whoever has the URL sends.
            headers = {"x-amz-request-payer": "requester"} if version == "s3v4" else {}
            answer = send("GET", path(paid), headers)
            self.assertEqual((answer.status, answer.headers.get("x-amz-request-charged")), (200, "requester"), version)

    def test_the_source_of_a_copy_is_charged_too(self):
        guest = client(GUEST)
        own = self.name + "-guest"
        guest.create_bucket(Bucket=own)
        copy = {"Bucket": own, "Key": "k", "CopySource": f"{self.name}/k"}
        self.refused(403, "AccessDenied", guest.copy_object, **copy)
        self.assertEqual(guest.copy_object(RequestPayer="requester", **copy)["RequestCharged"], "requester")

    def test_settings_of_the_bucket_are_its_owners_to_pay(self):
        guest = client(GUEST)
        self.assertNotIn("RequestCharged", guest.get_bucket_versioning(Bucket=self.name))
        guest.head_bucket(Bucket=self.name)


class GrantOfWriting(Suite):
    def test_it_is_kept_and_means_nothing_for_an_object(self):
        name = self.bucket(ownership="ObjectWriter")
        grantee = f'id="{self.s3.list_buckets()["Owner"]["ID"]}"'
        for dialect in DIALECTS:
            target = f"/{name}/{dialect.service}"
            self.assertEqual(request("PUT", target, {"-grant-write": grantee}, b"body", dialect).status, 200)
            shown = request("GET", f"{target}?acl", dialect=dialect).body
            self.assertIn(b"<Permission>WRITE</Permission>", shown)
        guest_id = client(GUEST).list_buckets()["Owner"]["ID"]
        self.assertEqual(request("PUT", f"/{name}/k", {"-grant-write": f"id={guest_id}", "-grant-full-control": grantee}, b"body").status, 200)
        guest = client(GUEST)
        self.refused(403, "AccessDenied", guest.put_object, Bucket=name, Key="k", Body=b"x")
        self.refused(403, "AccessDenied", guest.delete_object, Bucket=name, Key="k")
        self.assertEqual(self.body(name), b"body")
