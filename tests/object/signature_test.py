"""Who a request comes from: signatures by header and by URL, chunks, and what is refused before a body is sent."""

import base64
import datetime
import hashlib
import hmac
import pathlib
import re
import socket
import sys
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from suite import (  # noqa: E402
    AMZ, DIALECTS, EMPTY_SHA256, OWNER, REGION, STORE, URL, UTC, Suite, client, request, send, sign,
)  # fmt: skip

BODY = b"hello, store"
HOST = URL.removeprefix("http://")


def now(**ahead):
    return datetime.datetime.now(UTC) + datetime.timedelta(**ahead)


def presign(method, path, dialect=AMZ, seconds=60, moment=None, key=OWNER, extra=()):
    """A URL that is signed by hand."""
    moment = moment or now()
    stamp, day = moment.strftime("%Y%m%dT%H%M%SZ"), moment.strftime("%Y%m%d")
    scope = f"{day}/{REGION}/{dialect.service}/{dialect.scope_end}"
    start = dialect.query
    query = {
        start + "Algorithm": dialect.algorithm, start + "Credential": f"{key[0]}/{scope}", start + "Date": stamp,
        start + "Expires": str(seconds), start + "SignedHeaders": "host", **dict(extra),
    }  # fmt: skip
    encoded = "&".join(f"{name}={urllib.parse.quote(value, safe='-_.~')}" for name, value in sorted(query.items()))
    canonical = f"{method}\n{path}\n{encoded}\nhost:{HOST}\n\nhost\nUNSIGNED-PAYLOAD"
    text = f"{dialect.algorithm}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(dialect.signing_key(key[1], day), text.encode(), hashlib.sha256).hexdigest()
    return f"{path}?{encoded}&{start}Signature={signature}"


class Headers(Suite):
    def test_a_signature_in_either_dialect_is_taken(self):
        name = self.bucket()
        for dialect in DIALECTS:
            self.assertEqual(request("PUT", f"/{name}/k", {"-meta-a": "1"}, BODY, dialect).status, 200)
            got = request("GET", f"/{name}/k", {}, dialect=dialect)
            self.assertEqual((got.body, got.headers[dialect.header + "meta-a"]), (BODY, "1"))

    def test_a_request_that_mixes_both_dialects_is_refused(self):
        name = self.bucket()
        answer = request("PUT", f"/{name}/k", {"x-store-acl": "private"}, BODY, AMZ)
        self.is_refused(answer, 400, "InvalidRequest")

    def test_a_wrong_signature_shows_what_was_signed(self):
        name = self.bucket()
        for dialect in DIALECTS:
            headers = sign("GET", f"/{name}/k", {}, dialect, (OWNER[0], "wrong"))
            answer = send("GET", f"/{name}/k", headers)
            self.is_refused(answer, 403, "SignatureDoesNotMatch")
            for field in ("StringToSign", "SignatureProvided", "StringToSignBytes", "CanonicalRequest", "CanonicalRequestBytes"):
                self.assertTrue(answer.field(field), field)
            self.assertIn(answer.field("SignatureProvided"), headers["authorization"])
            self.assertTrue(answer.field("CanonicalRequest").startswith(f"GET\n/{name}/k\n\n"))

    def test_a_key_that_nobody_has_is_named(self):
        answer = request("GET", "/", key=("NOBODY", "x"))
        self.is_refused(
            answer, 403, "InvalidAccessKeyId", AWSAccessKeyId="NOBODY",
            Message="The AWS Access Key Id you provided does not exist in our records.",
        )  # fmt: skip

    def test_clocks_may_differ_by_fifteen_minutes(self):
        for minutes, status in ((14, 200), (-14, 200), (16, 403), (-16, 403)):
            answer = request("GET", "/", now=now(minutes=minutes))
            self.assertEqual(answer.status, status, minutes)
            if status == 403:
                self.assertEqual((answer.code, answer.field("MaxAllowedSkewMilliseconds")), ("RequestTimeTooSkewed", "900000"))
                self.assertTrue(answer.field("RequestTime") and answer.field("ServerTime"))

    def test_a_date_header_serves_where_the_service_s_own_is_absent(self):
        for form in ("%a, %d %b %Y %H:%M:%S GMT", "%a, %d %b %Y %H:%M:%S -0000", "%Y%m%dT%H%M%SZ"):
            moment = now()
            for dialect in DIALECTS:
                headers = sign("GET", "/", {"date": moment.strftime(form)}, dialect, now=moment)
                self.assertNotIn(dialect.header + "date", headers)
                self.assertEqual(send("GET", "/", headers).status, 200, form)

    def test_a_signature_without_a_time_is_refused(self):
        headers = sign("GET", "/", {})
        for value in (None, "", "yesterday"):
            sent = {header: text for header, text in headers.items() if header != "x-amz-date"}
            if value is not None:
                sent["x-amz-date"] = value
            self.is_refused(send("GET", "/", sent), 403, "AccessDenied")

    def test_headers_of_the_service_must_be_signed(self):
        for dialect in DIALECTS:
            headers = {**sign("GET", "/", {}, dialect), dialect.header + "meta-wrong": "1"}
            answer = send("GET", "/", headers)
            self.is_refused(
                answer, 403, "AccessDenied", HeadersNotSigned=dialect.header + "meta-wrong",
                Message="There were headers present in the request which were not signed",
            )  # fmt: skip
        self.assertEqual(send("GET", "/", {**sign("GET", "/", {}), "x-other": "1"}).status, 200)

    def test_other_schemes_are_refused(self):
        message = "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."
        dated = {"x-amz-date": "20260101T000000Z"}
        answer = send("GET", "/", {"authorization": "AWS AKID:signature", **dated})
        self.is_refused(answer, 400, "InvalidRequest", Message=message)
        answer = send("GET", "/", {"authorization": "AWS4-ECDSA-P256-SHA256 Credential=x", **dated})
        self.is_refused(answer, 400, "AuthorizationHeaderMalformed")
        for scheme in ("Basic dXNlcjpwYXNz", "Bearer x", "nonsense"):
            answer = send("GET", "/", {"authorization": scheme})
            self.is_refused(answer, 400, "InvalidArgument", Message="Unsupported Authorization Type", ArgumentName="Authorization")

    def test_a_header_that_cannot_be_read_is_malformed(self):
        good = sign("GET", "/", {})
        line = good["authorization"]
        for wrong in (
            line.replace("Credential=", "Other="),
            line.replace("SignedHeaders=", "Other="),
            line.replace("Signature=", "Other="),
            line.replace("/s3/", "/ec2/"),
            line.replace("aws4_request", "aws5_request"),
            line.replace(f"/{REGION}/", "/eu-west-1/"),
            AMZ.algorithm,
        ):
            answer = send("GET", "/", {**good, "authorization": wrong})
            self.is_refused(answer, 400, "AuthorizationHeaderMalformed")
        other_day = request("GET", "/", {"x-amz-date": now(minutes=1).strftime("%Y%m%dT%H%M%SZ")}, now=now(days=-1))
        self.is_refused(other_day, 400, "AuthorizationHeaderMalformed")

    def test_the_hash_of_the_payload_is_there_known_and_right(self):
        name = self.bucket()
        headers = sign("PUT", f"/{name}/k", {}, payload=None)
        answer = send("PUT", f"/{name}/k", headers, b"")
        self.is_refused(answer, 400, "InvalidRequest", Message="Missing required header for this request: x-amz-content-sha256")
        answer = request("PUT", f"/{name}/k", {}, BODY, payload="none")
        self.is_refused(answer, 400, "InvalidArgument", ArgumentName="x-amz-content-sha256", ArgumentValue="none")
        answer = request("PUT", f"/{name}/k", {}, BODY, payload=EMPTY_SHA256)
        self.is_refused(
            answer, 400, "XAmzContentSHA256Mismatch", ClientComputedContentSHA256=EMPTY_SHA256,
            S3ComputedContentSHA256=hashlib.sha256(BODY).hexdigest(),
        )  # fmt: skip
        self.assertEqual(request("PUT", f"/{name}/k", {}, BODY, payload="UNSIGNED-PAYLOAD").status, 200)

    def test_who_sends_no_signature_is_anonymous(self):
        name = self.bucket()
        self.is_refused(send("PUT", f"/{name}/k", {}, BODY), 403, "AccessDenied", Message="Access Denied")
        self.is_refused(send("PUT", f"/{name}/k", {"x-amz-acl": "private"}, BODY), 403, "AccessDenied")
        self.is_refused(send("PUT", f"/{name}/k", {"authorization": ""}, BODY), 403, "AccessDenied")
        self.is_refused(send("PUT", "/nowhere-at-all/k", {}, BODY), 404, "NoSuchBucket")
        self.assertEqual(send("GET", "/open/absent").status, 404)

    def test_a_bucket_of_another_account_is_shut(self):
        self.refused(403, "AccessDenied", self.guest.put_object, Bucket="demo", Key="k", Body=b"x")
        self.refused(403, "AccessDenied", self.guest.list_objects_v2, Bucket="demo")


class Presigned(Suite):
    def test_a_url_puts_and_gets_in_either_dialect(self):
        name = self.bucket()
        for dialect in DIALECTS:
            self.assertEqual(send("PUT", presign("PUT", f"/{name}/k", dialect), {}, BODY).status, 200)
            self.assertEqual(send("GET", presign("GET", f"/{name}/k", dialect)).body, BODY)

    def test_urls_of_the_stock_client_work_in_both_schemes(self):
        name = self.bucket()
        for scheme in ("s3v4", "s3"):
            signer = client(signature_version=scheme)
            put = signer.generate_presigned_url("put_object", Params={"Bucket": name, "Key": "a b/\u00e9"})
            self.assertEqual(send("PUT", put.removeprefix(URL), {}, BODY).status, 200, scheme)
            get = signer.generate_presigned_url("get_object", Params={"Bucket": name, "Key": "a b/\u00e9"})
            self.assertEqual(send("GET", get.removeprefix(URL)).body, BODY)
            head = signer.generate_presigned_url("head_object", Params={"Bucket": name, "Key": "a b/\u00e9"})
            self.assertEqual(send("HEAD", head.removeprefix(URL)).status, 200)
            self.assertEqual(send("GET", get.removeprefix(URL).replace("%C3%A9", "x")).code, "SignatureDoesNotMatch")
            for method, call in (("HEAD", "head_bucket"), ("GET", "list_objects"), ("GET", "get_bucket_versioning")):
                url = signer.generate_presigned_url(call, Params={"Bucket": name})
                self.assertEqual(send(method, url.removeprefix(URL)).status, 200, (scheme, call))

    def test_a_url_ends(self):
        name = self.bucket()
        self.put(name)
        for dialect in DIALECTS:
            url = presign("GET", f"/{name}/k", dialect, seconds=60, moment=now(seconds=-90))
            answer = send("GET", url)
            fields = {dialect.query + "Expires": "60"}
            self.is_refused(answer, 403, "AccessDenied", Message="Request has expired", **fields)
            self.assertTrue(answer.field("Expires") and answer.field("ServerTime"))
        older = client(signature_version="s3").generate_presigned_url(
            "get_object", Params={"Bucket": name, "Key": "k"}, ExpiresIn=-10
        )
        answer = send("GET", older.removeprefix(URL))
        self.is_refused(answer, 403, "AccessDenied", Message="Request has expired")

    def test_a_url_from_the_future_is_not_valid_yet(self):
        name = self.bucket()
        moment = now(minutes=20)
        answer = send("GET", presign("GET", f"/{name}/k", moment=moment))
        millis = str(int(moment.replace(microsecond=0).timestamp()) * 1000)
        self.is_refused(
            answer, 403, "AccessDenied", Message="Request is not yet valid", **{"X-Amz-Date": millis}
        )
        self.assertTrue(answer.field("Expires") and answer.field("ServerTime"))

    def test_an_end_that_is_no_number_of_seconds_is_denied(self):
        name = self.bucket()
        older = client(signature_version="s3").generate_presigned_url(
            "get_object", Params={"Bucket": name, "Key": "k"}
        )
        url = re.sub("Expires=[0-9]+", "Expires=1319711083.7", older.removeprefix(URL))
        message = "Invalid date (should be seconds since epoch): 1319711083.7"
        self.is_refused(send("GET", url), 403, "AccessDenied", Message=message)

    def test_a_url_is_valid_for_a_second_to_a_week(self):
        name = self.bucket()
        self.put(name)
        # A URL says whole seconds: one that is valid for a second from now may end at once, one from a minute ahead does not.
        for seconds in (1, 604800):
            url = presign("GET", f"/{name}/k", seconds=seconds, moment=now(minutes=1))
            self.assertEqual(send("GET", url).status, 200, seconds)
        week = "less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds"
        for seconds, message in (
            (0, "must be at least one second"), (604801, f"must be {week}"), (-1, "must be non-negative"), ("x", "should be a number"),
        ):  # fmt: skip
            answer = send("GET", presign("GET", f"/{name}/k", seconds=seconds))
            self.is_refused(answer, 400, "AuthorizationQueryParametersError", Message=f"X-Amz-Expires {message}")

    def test_a_url_lacks_nothing(self):
        name = self.bucket()
        url = presign("GET", f"/{name}/k")
        for parameter in ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"):
            path, _, query = url.partition("?")
            kept = "&".join(pair for pair in query.split("&") if not pair.startswith(f"X-Amz-{parameter}="))
            answer = send("GET", f"{path}?{kept}")
            self.is_refused(answer, 400, "AuthorizationQueryParametersError")
        older = client(signature_version="s3").generate_presigned_url("get_object", Params={"Bucket": name, "Key": "k"})
        path, _, query = older.removeprefix(URL).partition("?")
        for parameter in ("Signature", "Expires"):
            kept = "&".join(pair for pair in query.split("&") if not pair.startswith(parameter + "="))
            message = "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters"
            self.is_refused(send("GET", f"{path}?{kept}"), 403, "AccessDenied", Message=message)

    def test_two_signatures_are_one_too_many(self):
        name = self.bucket()
        url = presign("GET", f"/{name}/k")
        answer = send("GET", url, {"authorization": sign("GET", f"/{name}/k", {})["authorization"]})
        self.is_refused(answer, 400, "InvalidArgument")

    def test_a_url_does_not_sign_for_what_was_added(self):
        name = self.bucket()
        answer = send("PUT", presign("PUT", f"/{name}/k"), {"x-amz-acl": "public-read"}, BODY)
        self.is_refused(answer, 403, "AccessDenied", HeadersNotSigned="x-amz-acl")
        added = {"x-amz-decoded-content-length": "3", "x-amz-date": "x", "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}
        answer = send("PUT", presign("PUT", f"/{name}/k"), added, BODY)
        self.is_refused(answer, 403, "AccessDenied", HeadersNotSigned="x-amz-date, x-amz-decoded-content-length")
        alone = {"x-amz-content-sha256": EMPTY_SHA256}
        self.assertEqual(send("PUT", presign("PUT", f"/{name}/k"), alone, BODY).status, 200)
        answer = send("GET", presign("GET", f"/{name}/k") + "&versionId=null")
        self.is_refused(answer, 403, "SignatureDoesNotMatch")


class Chunks(Suite):
    """Every framing of `aws-chunked`."""

    def seed(self, name, mode, dialect=AMZ, extra=(), length=len(BODY)):
        headers = {
            dialect.header + "decoded-content-length": str(length), "content-encoding": "aws-chunked", **dict(extra),
        }  # fmt: skip
        moment = now()
        signed = sign("PUT", f"/{name}/k", headers, dialect, payload=mode, now=moment)
        return signed, signed["authorization"].rsplit("Signature=", 1)[1], moment

    def chain(self, dialect, moment, seed):
        day = moment.strftime("%Y%m%d")
        scope = f"{day}/{REGION}/{dialect.service}/{dialect.scope_end}"
        key, stamp, last = dialect.signing_key(OWNER[1], day), moment.strftime("%Y%m%dT%H%M%SZ"), [seed]

        def next_signature(kind, *hashes):
            text = "\n".join([f"{dialect.algorithm}-{kind}", stamp, scope, last[0], *hashes])
            last[0] = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
            return last[0]

        return next_signature

    def signed_frames(self, dialect, moment, seed, pieces, trailer=None):
        following = self.chain(dialect, moment, seed)
        frames = b""
        for piece in [*pieces, b""]:
            signature = following("PAYLOAD", EMPTY_SHA256, hashlib.sha256(piece).hexdigest())
            frames += f"{len(piece):x};chunk-signature={signature}\r\n".encode() + piece + (b"\r\n" if piece else b"")
        if trailer:
            line = f"{trailer[0]}:{trailer[1]}\n"
            signature = following("TRAILER", hashlib.sha256(line.encode()).hexdigest())
            frames += f"{trailer[0]}:{trailer[1]}\r\n{dialect.header}trailer-signature:{signature}\r\n".encode()
        return frames + b"\r\n"

    def mode(self, dialect, kind):
        return f"STREAMING-{dialect.algorithm}-{kind}"

    def test_signed_chunks_are_taken_whole_or_not_at_all(self):
        name = self.bucket()
        pieces = [b"a" * 8192, b"b" * 70_000, b"c"]
        body = b"".join(pieces)
        for dialect in DIALECTS:
            headers, seed, moment = self.seed(name, self.mode(dialect, "PAYLOAD"), dialect, length=len(body))
            frames = self.signed_frames(dialect, moment, seed, pieces)
            answer = send("PUT", f"/{name}/k", headers, frames)
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(self.body(name), body)
            self.assertNotIn("ContentEncoding", self.s3.head_object(Bucket=name, Key="k"))
            for wrong in (
                frames.replace(b"bbbb", b"bbbc", 1),
                frames.replace(b"chunk-signature=", b"chunk-signature=0", 1),
                frames.replace(b";chunk-signature=", b";other=", 1),
            ):
                answer = send("PUT", f"/{name}/no", headers | {"x-other": "1"}, wrong)
                self.assertGreaterEqual(answer.status, 400, answer)
        self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="no")

    def test_of_two_faults_the_first_in_the_body_is_named_however_large_it_is(self):
        name = self.bucket()
        for size in (100, 300_000):
            pieces = [b"a" * size, b"b" * size]
            for dialect in DIALECTS:
                headers, seed, moment = self.seed(name, self.mode(dialect, "PAYLOAD"), dialect, length=2 * size)
                frames = self.signed_frames(dialect, moment, seed, pieces)
                broken = frames.replace(b"b\r\n0;chunk", b"b\r\nno;chunk")
                self.assertNotEqual(broken, frames)
                self.assertGreaterEqual(send("PUT", f"/{name}/no", headers, broken).status, 400)
                self.is_refused(send("PUT", f"/{name}/no", headers, broken.replace(b"aa", b"ab", 1)), 403, "SignatureDoesNotMatch")
        self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="no")

    def test_a_signed_trailer_is_verified(self):
        name = self.bucket()
        value = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big")).decode()
        for dialect in DIALECTS:
            checksum = dialect.header + "checksum-crc32"
            extra = {dialect.header + "trailer": checksum}
            headers, seed, moment = self.seed(name, self.mode(dialect, "PAYLOAD-TRAILER"), dialect, extra)
            frames = self.signed_frames(dialect, moment, seed, [BODY], (checksum, value))
            answer = send("PUT", f"/{name}/k", headers, frames)
            self.assertEqual((answer.status, answer.headers.get(checksum)), (200, value), answer)
            wrong = frames.replace(value.encode(), b"AAAAAA==")
            self.is_refused(send("PUT", f"/{name}/k", headers, wrong), 403, "SignatureDoesNotMatch")
            without = frames[: frames.index(checksum.encode())] + b"\r\n"
            self.is_refused(send("PUT", f"/{name}/k", headers, without), 400, "MalformedTrailerError")

    def unsigned(self, name, frames, extra=(), length=len(BODY), dialect=AMZ, key="k"):
        headers = {"-decoded-content-length": str(length), "content-encoding": "aws-chunked", **dict(extra)}
        return request("PUT", f"/{name}/{key}", headers, frames, dialect, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")

    def test_an_unsigned_trailer_is_verified(self):
        name = self.bucket()
        value = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big")).decode()
        frame = b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)
        for dialect in DIALECTS:
            checksum = dialect.header + "checksum-crc32"
            announced = {"-trailer": checksum}
            line = f"{checksum}:{value}\r\n\r\n".encode()
            answer = self.unsigned(name, frame + line, announced, dialect=dialect)
            self.assertEqual((answer.status, answer.headers.get(checksum)), (200, value), answer)
            for tail, announces, code in (
                (line.replace(value.encode(), b"AAAAAA=="), announced, "BadDigest"),
                (line.replace(value.encode(), b"!"), announced, "InvalidRequest"),
                (b"\r\n", announced, "MalformedTrailerError"),
                (line, {}, "MalformedTrailerError"),
                (line.replace(b"crc32", b"sha1"), announced, "MalformedTrailerError"),
                (line, {"-trailer": "x-other"}, "InvalidRequest"),
                (line, {**announced, "-checksum-sha1": base64.b64encode(hashlib.sha1(BODY).digest()).decode()}, "InvalidRequest"),
            ):
                answer = self.unsigned(name, frame + tail, announces, dialect=dialect, key="no")
                self.is_refused(answer, 400, code)
            answer = self.unsigned(name, frame + b"\r\n", dialect=dialect)
            self.assertIn(dialect.header + "checksum-crc64nvme", answer.headers)
        self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="no")

    def test_framing_that_is_broken_is_refused(self):
        name = self.bucket()
        whole = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        for frames, length, code in (
            (whole, len(BODY) + 1, "IncompleteBody"),
            (whole, len(BODY) - 1, "IncompleteBody"),
            (whole[:-3], len(BODY), "IncompleteBody"),
            (whole[:-1], len(BODY), "IncompleteBody"),
            (whole[:5], len(BODY), "IncompleteBody"),
            (b"zz\r\n", len(BODY), "IncompleteBody"),
            (b"-1\r\n", len(BODY), "IncompleteBody"),
            (whole.replace(b"\r\n", b"\n"), len(BODY), "IncompleteBody"),
        ):
            answer = self.unsigned(name, frames, length=length)
            self.assertEqual((answer.status, answer.code), (400, code), frames)
        for headers in ({}, {"-decoded-content-length": "some"}):
            headers = {"content-encoding": "aws-chunked", **headers}
            answer = request("PUT", f"/{name}/k", headers, whole, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            self.is_refused(answer, 411, "MissingContentLength")
        self.refused(404, "NoSuchKey", self.s3.get_object, Bucket=name, Key="k")

    def test_both_framings_at_once_are_taken(self):
        name = self.bucket()
        inner = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        outer = b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)
        answer = self.unsigned(name, outer, {"transfer-encoding": "chunked"})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(self.body(name), BODY)

    def test_a_short_signed_chunk_is_only_the_last(self):
        name = self.bucket()
        pieces = [b"a" * 8191, b"b" * 8192]
        headers, seed, moment = self.seed(name, self.mode(AMZ, "PAYLOAD"), length=16383)
        answer = send("PUT", f"/{name}/k", headers, self.signed_frames(AMZ, moment, seed, pieces))
        self.is_refused(answer, 403, "InvalidChunkSizeError", Chunk="2", BadChunkSize="8191")


class Continues(Suite):
    """`Expect: 100-continue`: what can be refused is refused before the body is asked for."""

    def ask(self, headers, target, body):
        """The first line that comes back before any of the body is sent, and the last answer's status."""
        host, port = HOST.rsplit(":", 1)
        signed = sign("PUT", target, headers, payload="UNSIGNED-PAYLOAD")
        lines = [f"PUT {target} HTTP/1.1", *(f"{name}: {value}" for name, value in signed.items())]
        lines += [f"content-length: {len(body)}", "expect: 100-continue", "connection: close"]
        with socket.create_connection((host, int(port)), timeout=60) as stream:
            stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            first = stream.recv(65536)
            if not first.startswith(b"HTTP/1.1 100"):
                return first, first
            stream.sendall(body)
            rest = first.split(b"\r\n\r\n", 1)[1]
            while piece := stream.recv(65536):
                rest += piece
            return first, rest

    def test_a_put_that_may_go_on_is_told_so(self):
        name = self.bucket()
        first, last = self.ask({}, f"/{name}/k", BODY)
        self.assertTrue(first.startswith(b"HTTP/1.1 100"), first)
        self.assertTrue(last.startswith(b"HTTP/1.1 200"), last)

    def test_a_put_that_may_not_is_refused_at_once(self):
        name = self.bucket()
        self.put(name)
        for target, headers, status in (
            ("/nowhere-at-all/k", {}, 404),
            (f"/{name}/k", {"if-none-match": "*"}, 412),
            (f"/{name}/k", {"if-match": '"other"'}, 412),
            (f"/{name}/k", {"x-amz-acl": "public-read"}, 400),
            (f"/{name}/k", {"x-amz-storage-class": "OTHER"}, 400),
            (f"/{name}/{'k' * 1025}", {}, 400),
            (f"/{name}/k", {"x-amz-expected-bucket-owner": "444455556666"}, 403),
        ):
            first, _ = self.ask(headers, target, BODY)
            self.assertTrue(first.startswith(b"HTTP/1.1 %d" % status), (headers, first))


class Dialects(Suite):
    def test_each_dialect_is_answered_in_its_own_words(self):
        name = self.bucket()
        for dialect, prefix in ((AMZ, "x-amz-"), (STORE, "x-store-")):
            answer = request("PUT", f"/{name}/k", {"-storage-class": "STANDARD_IA", "-meta-a": "1", "-tagging": "a=1"}, BODY, dialect)
            other = "x-store-" if prefix == "x-amz-" else "x-amz-"
            got = request("GET", f"/{name}/k", {}, dialect=dialect)
            for headers in (answer.headers, got.headers):
                self.assertFalse([header for header in headers if header.startswith(other)])
            self.assertEqual(got.headers[prefix + "storage-class"], "STANDARD_IA")
            refused = request("PUT", f"/{name}/k", {"-tagging": "a=1&a=2"}, BODY, dialect)
            self.assertEqual(refused.field("ArgumentName"), prefix + "tagging")
            self.assertIn(f"'{prefix}tagging'", refused.field("Message"))
