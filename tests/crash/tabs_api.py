"""Tabs: each acknowledged one is in the strip after the end. A power cut may take the last half second, a kill nothing."""

import json
import os
import urllib.request

import harness

TOKEN = json.load(open(os.environ["TRIPTYCH_SEED"]))["extensions"][0]["token"]


class Session:
    def __init__(self, url):
        self.base = f"{url}/v1/tabs"

    def call(self, operation, *arguments):
        request = urllib.request.Request(
            f"{self.base}/{operation}",
            data=json.dumps(list(arguments)).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)["result"]

    def write(self, worker, number):
        url = f"https://example.com/{worker}/{number}"
        self.call("create", {"url": url, "active": False})
        return url

    def missing(self, facts):
        strip = {tab.get("url") or tab.get("pendingUrl") for tab in self.call("query", {})}
        return [f"{url} is gone" for url in facts if url not in strip]


harness.rounds(Session, grace_seconds=1.0)
