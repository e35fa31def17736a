"""Tabs, extensions and profiles: each acknowledged one is there after the end.

A power cut may take the last half second, a kill nothing.
"""

import json
import os
import urllib.error
import urllib.request

TOKEN = json.load(open(os.environ["TRIPTYCH_SEED"]))["extensions"][0]["token"]
# The servers that the harness starts take it from here.
CONTROL = os.environ["TABS_API_CONTROL_TOKEN"] = "control-token-of-the-crash-test"

import harness  # noqa: E402


def extension(name):
    return {"token": f"token-{name}", "manifest": {"manifest_version": 3, "name": "Same name", "permissions": ["tabs"]}}


class Session:
    def __init__(self, url):
        self.base = f"{url}/v1"

    def post(self, path, token, body):
        request = urllib.request.Request(
            f"{self.base}/{path}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def create(self, token, name):
        url = f"https://example.com/{name}"
        self.post("tabs/create", token, [{"url": url, "active": False}])
        return token, url

    def write(self, worker, number):
        name = f"{worker}-{number}"
        if number % 10 == 3:
            self.post("control/extensions", CONTROL, extension(name))
            return self.create(f"token-{name}", name)
        if number % 10 == 7:
            self.post("control/profiles", CONTROL, {"name": name, "extensions": [extension(name)]})
            return self.create(f"token-{name}", name)
        return self.create(TOKEN, name)

    def upload(self):
        """The path and the headers of a request that a client may be slow with, or give up."""
        return "POST", "/v1/tabs/create", {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def strip(self, token):
        try:
            tabs = self.post("tabs/query", token, [{}])["result"]
        except urllib.error.HTTPError as error:
            return error
        return {tab.get("url") or tab.get("pendingUrl") for tab in tabs}

    def missing(self, facts):
        strips = {token: self.strip(token) for token in {token for token, _ in facts}}
        refused = [f"{token} is refused: {strip}" for token, strip in strips.items() if not isinstance(strip, set)]
        gone = [f"{url} is gone" for token, url in facts if isinstance(strips[token], set) and url not in strips[token]]
        return refused + gone


harness.rounds(Session, grace_seconds=1.0)
