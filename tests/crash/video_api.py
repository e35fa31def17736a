"""What was acknowledged is found after the end, and every counter is the number of what it counts: views, likes, items, videos."""

import json
import os
import pathlib
import sys
import urllib.request

import harness

sys.path.append(str(pathlib.Path(__file__).parents[1] / "video"))
from movie import mp4  # noqa: E402

SEED = json.load(open(os.environ["TRIPTYCH_SEED"]))
TOKENS = [account["tokens"][0]["token"] for account in SEED["accounts"][:2]]
VIDEOS = 3


class Session:
    def __init__(self, url):
        self.url = url
        self.videos = sorted(item["contentDetails"]["videoId"] for item in self.uploads())
        self.lists = {}

    def call(self, path, body=None, token=TOKENS[0], method=None):
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def api(self, path, *arguments, **more):
        return self.call("/youtube/v3/" + path, *arguments, **more)

    def pages(self, path):
        page = ""
        while page is not None:
            reply = self.api(f"{path}&maxResults=50{page}")
            yield from reply["items"]
            page = f"&pageToken={reply['nextPageToken']}" if "nextPageToken" in reply else None

    def channel(self):
        return self.api("channels?part=statistics,contentDetails&mine=true")["items"][0]

    def uploads(self):
        list_id = self.channel()["contentDetails"]["relatedPlaylists"]["uploads"]
        return list(self.pages(f"playlistItems?part=contentDetails&playlistId={list_id}"))

    def video(self, number):
        """The films that everything is about; the first writer that needs one uploads it."""
        if len(self.videos) < VIDEOS:
            request = urllib.request.Request(
                self.url + "/upload/youtube/v3/videos?part=snippet&uploadType=media",
                data=mp4(),
                headers={"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "video/mp4"},
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                self.videos.append(json.load(reply)["id"])
        return self.videos[number % len(self.videos)]

    def write(self, worker, number):
        """In turn: a playlist, an item of the worker's last playlist, a play, a rating."""
        what = ("playlist", "item", "item", "play", "rating", "play")[number % 6]
        video = self.video(number)
        if what == "playlist":
            title = f"{worker}-{number}"
            id = self.lists[worker] = self.api("playlists?part=snippet", {"snippet": {"title": title}})["id"]
            return what, id, title
        if what == "item":
            list_id = self.lists[worker]
            body = {"snippet": {"playlistId": list_id, "position": 0, "resourceId": {"kind": "youtube#video", "videoId": video}}}
            return what, list_id, self.api("playlistItems?part=snippet", body)["id"]
        if what == "play":
            self.call("/_ops/plays", {"video": video, "account": SEED["accounts"][1]["id"], "count": 2})
            return what, video, 2
        rating = "like" if number % 4 else "none"
        self.api(f"videos/rate?id={video}&rating={rating}", token=TOKENS[worker % 2], method="POST")
        return what, video, rating

    def missing(self, facts):
        return [*self.lost(facts), *self.miscounted()]

    def lost(self, facts):
        lists = {item["id"]: item["snippet"]["title"] for item in self.pages("playlists?part=snippet&mine=true")}
        items, plays = {}, {}
        for what, name, value in facts:
            if what == "playlist" and lists.get(name) != value:
                yield f"playlist {name}: {value} is {lists.get(name)}"
            elif what == "item":
                items.setdefault(name, []).append(value)
            elif what == "play":
                plays[name] = plays.get(name, 0) + value
        for name, ids in items.items():
            found = {item["id"] for item in self.pages(f"playlistItems?part=id&playlistId={name}")}
            yield from (f"item {id} of {name}" for id in ids if id not in found)
        for name, count in plays.items():
            views = int(self.api(f"videos?part=statistics&id={name}")["items"][0]["statistics"]["viewCount"])
            if views < count:
                yield f"{name} has {views} views, and {count} were acknowledged"

    def miscounted(self):
        channel, uploads = self.channel(), [item["contentDetails"]["videoId"] for item in self.uploads()]
        if int(channel["statistics"]["videoCount"]) != len(uploads):
            yield f"the channel counts {channel['statistics']['videoCount']} videos and has {len(uploads)}"
        views = 0
        for id in uploads:
            counted = self.api(f"videos?part=statistics&id={id}")["items"][0]["statistics"]
            views += int(counted["viewCount"])
            ratings = [self.api(f"videos/getRating?id={id}", token=token)["items"][0]["rating"] for token in TOKENS]
            if int(counted["likeCount"]) != ratings.count("like"):
                yield f"{id} counts {counted['likeCount']} likes and has {ratings}"
        if int(channel["statistics"]["viewCount"]) != views:
            yield f"the channel counts {channel['statistics']['viewCount']} views and its videos {views}"
        for item in self.pages("playlists?part=contentDetails&mine=true"):
            positions = [row["snippet"]["position"] for row in self.pages(f"playlistItems?part=snippet&playlistId={item['id']}")]
            if positions != list(range(item["contentDetails"]["itemCount"])):
                yield f"playlist {item['id']} counts {item['contentDetails']['itemCount']} items and has {positions}"


harness.rounds(Session)
