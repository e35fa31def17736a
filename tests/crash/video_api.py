"""What was acknowledged is found after the end, and every counter is the number of what it counts: views, likes, items, videos."""

import json
import os
import pathlib
import sys
import threading
import urllib.error
import urllib.request

import harness

sys.path.append(str(pathlib.Path(__file__).parents[1] / "video"))
from movie import mp4  # noqa: E402

SEED = json.load(open(os.environ["TRIPTYCH_SEED"]))
TOKENS = [account["tokens"][0]["token"] for account in SEED["accounts"][:2]]
VIDEOS = 3
# Films that one writer deletes with all that is said of them, so that a kill comes in the middle of that.
DOOMED, THREADS = 6, 60


class Session:
    def __init__(self, url):
        self.url = url
        self.videos = sorted(item["contentDetails"]["videoId"] for item in self.uploads())
        self.lists = {}
        self.doomed, self.is_filled = [], threading.Event()

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
        """The first of the writers deletes films with their comments, tracks and ratings, one after the other. The others, in turn: a playlist, an item of the worker's last playlist, a play, a rating."""
        if worker % harness.WRITERS == 0 and number < DOOMED:
            return self.delete_film(number)
        self.is_filled.wait(60)
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

    def delete_film(self, number):
        if not self.doomed:
            try:
                self.doomed = [self.doomed_film() for _ in range(DOOMED)]
            finally:
                self.is_filled.set()
        id, thread = self.doomed[number]
        self.api(f"videos?id={id}", method="DELETE")
        return "gone", id, thread

    def doomed_film(self):
        """A film that is talked about, liked and spoken; its id, and that of a thread about it."""
        request = urllib.request.Request(
            self.url + "/upload/youtube/v3/videos?part=snippet&uploadType=media",
            data=mp4(),
            headers={"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "video/mp4"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            id = json.load(reply)["id"]
        for token in TOKENS:
            self.api(f"videos/rate?id={id}&rating=like", token=token, method="POST")
        top = {"snippet": {"textOriginal": " ".join(f"word{n}" for n in range(40))}}
        thread = self.api("commentThreads?part=snippet", {"snippet": {"videoId": id, "topLevelComment": top}})["id"]
        parts = []
        for n in range(THREADS):
            body = json.dumps({"snippet": {"parentId": thread, "textOriginal": f"reply {n}"}}) if n % 2 else json.dumps(
                {"snippet": {"videoId": id, "topLevelComment": top}}
            )
            path = "comments" if n % 2 else "commentThreads"
            parts.append(
                f"--b\r\nContent-Type: application/http\r\nContent-ID: <{n}>\r\n\r\nPOST /youtube/v3/{path}?part=snippet HTTP/1.1\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}\r\n"
            )
        request = urllib.request.Request(
            self.url + "/batch",
            data=("".join(parts) + "--b--").encode(),
            headers={"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "multipart/mixed; boundary=b"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            made = reply.read().decode().count("HTTP/1.1 200")
        if made != THREADS:
            raise AssertionError(f"{made} of {THREADS} comments were made")
        return id, thread

    def upload(self):
        """The path and the headers of an upload that a client may be slow with, or give up."""
        return "POST", "/upload/youtube/v3/videos?part=snippet&uploadType=media", {"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "video/mp4"}

    def missing(self, facts):
        return [*self.lost(facts), *self.halves(facts), *self.miscounted()]

    def halves(self, facts):
        """What is found of films that are gone, whatever of them is still being removed."""
        gone = [(id, thread) for what, id, thread in facts if what == "gone"]
        for id, thread in gone:
            for path in (f"videos?part=id&id={id}", f"comments?part=id&id={thread}"):
                if self.api(path)["items"]:
                    yield f"{path} is found"
            for path in (f"commentThreads?part=id&videoId={id}", f"comments?part=id&parentId={thread}", f"captions?part=id&videoId={id}"):
                if self.status(path) != 404:
                    yield f"{path} is there"
        channel = self.api("channels?part=id&mine=true")["items"][0]["id"]
        for path in (f"commentThreads?part=id&allThreadsRelatedToChannelId={channel}", "playlistItems?part=snippet&playlistId=LL"):
            items = list(self.pages(path))
            total = self.api(path)["pageInfo"]["totalResults"]
            if total != len(items):
                yield f"{path} counts {total} and has {len(items)}"
            yield from (f"a gap in {path}" for item in items if item.get("snippet", {}).get("title") == "Deleted video")

    def status(self, path):
        try:
            self.api(path)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

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
