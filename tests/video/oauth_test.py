"""google-auth, unmodified, against the issuer: codes with PKCE, refresh, service accounts, revocation, userinfo."""

import base64
import hashlib
import json
import os
import pathlib
import secrets
import unittest
import urllib.error
import urllib.parse
import urllib.request

from google.auth.exceptions import RefreshError
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2 import service_account
from google.oauth2.credentials import Credentials

URL = os.environ["TRIPTYCH_VIDEO_URL"]
SCOPE = "https://www.googleapis.com/auth/youtube.readonly"
BACK = "http://127.0.0.1:8085/back"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments):
        return None


def call(path, form=None, headers=None):
    data = urllib.parse.urlencode(form).encode() if form is not None else None
    request = urllib.request.Request(URL + path, data, headers or {})
    try:
        answer = urllib.request.build_opener(NoRedirect).open(request)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()


def code(**more):
    query = {"client_id": "app", "redirect_uri": BACK, "response_type": "code", "scope": SCOPE + " openid email",
             "access_type": "offline", "state": "s t", "login_hint": "alice@example.com", "prompt": "none", **more}
    status, headers, _ = call("/o/oauth2/v2/auth?" + urllib.parse.urlencode(query))
    back = urllib.parse.urlsplit(headers["location"])
    return status, dict(urllib.parse.parse_qsl(back.query))


def token(**form):
    status, _, body = call("/token", {"client_id": "app", "client_secret": "app-secret", "redirect_uri": BACK, **form})
    return status, json.loads(body)


class Issuer(unittest.TestCase):
    def test_a_code_with_pkce_becomes_tokens_that_google_auth_refreshes_and_revokes(self):
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        status, back = code(code_challenge=challenge, code_challenge_method="S256")
        self.assertEqual((status, back["state"]), (302, "s t"))
        self.assertEqual(token(grant_type="authorization_code", code=back["code"], code_verifier="x" * 50)[0], 400)
        status, issued = token(grant_type="authorization_code", code=back["code"], code_verifier=verifier)
        self.assertEqual(status, 200, issued)
        self.assertEqual(issued["token_type"], "Bearer")
        credentials = Credentials(None, refresh_token=issued["refresh_token"], token_uri=URL + "/token",
                                  client_id="app", client_secret="app-secret")
        session = AuthorizedSession(credentials)
        mine = session.get(URL + "/youtube/v3/channels?part=snippet&mine=true").json()
        self.assertEqual(mine["items"][0]["snippet"]["title"], "Alice")
        write = session.post(URL + "/youtube/v3/playlists?part=snippet", json={"snippet": {"title": "no"}})
        self.assertEqual((write.status_code, write.json()["error"]["errors"][0]["reason"]), (403, "insufficientPermissions"))
        self.assertEqual(call("/revoke", {"token": issued["refresh_token"]})[0], 200)
        with self.assertRaises(RefreshError):
            credentials.refresh(Request())
        self.assertEqual(call("/youtube/v3/channels?part=id&mine=true", headers={"Authorization": "Bearer " + issued["access_token"]})[0], 401)

    def test_a_code_works_once(self):
        back = code()[1]
        self.assertEqual(token(grant_type="authorization_code", code=back["code"])[0], 200)
        status, refused = token(grant_type="authorization_code", code=back["code"])
        self.assertEqual((status, refused["error"]), (400, "invalid_grant"))

    def test_userinfo_tells_who_the_token_is_for(self):
        issued = token(grant_type="authorization_code", code=code()[1]["code"])[1]
        body = call("/oauth2/v3/userinfo", headers={"Authorization": "Bearer " + issued["access_token"]})[2]
        self.assertEqual(json.loads(body)["email"], "alice@example.com")
        head, claims, _ = issued["id_token"].split(".")
        decoded = json.loads(base64.urlsafe_b64decode(claims + "=="))
        self.assertEqual((decoded["aud"], decoded["iss"], decoded["sub"]), ("app", URL, "alice"))
        keys = json.loads(call("/oauth2/v3/certs")[2])["keys"]
        self.assertIn(json.loads(base64.urlsafe_b64decode(head + "=="))["kid"], [key["kid"] for key in keys])

    def test_the_configuration_names_endpoints_that_answer(self):
        configuration = json.loads(call("/.well-known/openid-configuration")[2])
        self.assertEqual(configuration["issuer"], URL)
        for name in ["token_endpoint", "userinfo_endpoint", "revocation_endpoint", "jwks_uri", "authorization_endpoint"]:
            self.assertNotEqual(call(configuration[name].removeprefix(URL))[0], 404, name)

    def test_users_are_never_sent_to_a_strange_address(self):
        status, headers, body = call("/o/oauth2/v2/auth?client_id=app&response_type=code&scope=openid&redirect_uri=https://evil.example/")
        self.assertEqual((status, headers["location"]), (400, None))
        self.assertEqual(json.loads(body)["error"], "redirect_uri_mismatch")

    def test_a_service_account_signs_for_its_own_token(self):
        key = pathlib.Path(__file__).with_name("robot.pem").read_text()
        robot = {"type": "service_account", "client_email": "robot@example.com", "private_key": key, "token_uri": URL + "/token"}
        credentials = service_account.Credentials.from_service_account_info(robot, scopes=[SCOPE])
        mine = AuthorizedSession(credentials).get(URL + "/youtube/v3/channels?part=snippet&mine=true").json()
        self.assertEqual(mine["items"][0]["snippet"]["title"], "Alice")
        other = service_account.Credentials.from_service_account_info({**robot, "client_email": "other@example.com"}, scopes=[SCOPE])
        for stranger in [other, credentials.with_subject("nobody@example.com")]:
            with self.assertRaises(RefreshError):
                stranger.refresh(Request())
        bob = AuthorizedSession(credentials.with_subject("bob@example.com")).get(URL + "/youtube/v3/channels?part=snippet&mine=true").json()
        self.assertEqual(bob["items"][0]["snippet"]["title"], "Bob")

    def test_a_wrong_secret_or_grant_is_refused_with_its_code(self):
        self.assertEqual(token(grant_type="refresh_token", refresh_token="x", client_secret="no")[1]["error"], "invalid_client")
        self.assertEqual(token(grant_type="refresh_token", refresh_token="x")[1]["error"], "invalid_grant")
        self.assertEqual(token(grant_type="password")[1]["error"], "unsupported_grant_type")

    def test_the_page_escapes_what_it_shows_and_a_foreign_page_cannot_answer(self):
        query = urllib.parse.urlencode({"client_id": "app", "redirect_uri": BACK, "response_type": "code", "scope": "openid", "state": "<script>"})
        status, headers, page = call("/o/oauth2/v2/auth?" + query)
        self.assertEqual(status, 200)
        self.assertNotIn(b"<script>", page)
        self.assertIn("frame-ancestors 'none'", headers["content-security-policy"])
        form = dict(urllib.parse.parse_qsl(query), account="alice")
        self.assertEqual(call("/o/oauth2/v2/auth", form, {"Origin": "https://evil.example"})[0], 403)
        self.assertEqual(call("/o/oauth2/v2/auth", form, {"Origin": URL})[0], 302)
