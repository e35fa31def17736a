"""Playlists: each acknowledged one is found after the end, by its id and in its channel."""

import json
import os
import urllib.request

import harness

TOKEN = json.load(open(os.environ["TRIPTYCH_SEED"]))["accounts"][0]["tokens"][0]["token"]


class Session:
    def __init__(self, url):
        self.base = f"{url}/youtube/v3"

    def call(self, path, body=None):
        request = urllib.request.Request(
            self.base + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def write(self, worker, number):
        title = f"{worker}-{number}"
        made = self.call("/playlists?part=snippet,status", {"snippet": {"title": title}})
        return made["id"], title

    def mine(self):
        found, page = {}, ""
        while page is not None:
            reply = self.call(f"/playlists?part=snippet&mine=true&maxResults=50{page}")
            found.update({item["id"]: item["snippet"]["title"] for item in reply["items"]})
            page = f"&pageToken={reply['nextPageToken']}" if "nextPageToken" in reply else None
        return found

    def missing(self, facts):
        found = self.mine()
        return [f"{id}: {title} is {found.get(id)}" for id, title in facts if found.get(id) != title]


harness.rounds(Session)
