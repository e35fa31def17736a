"""What was acknowledged is found after the end, and every counter is the number of what it counts: views, likes, items, videos."""

import json
import os
import pathlib
import sys
import tempfile
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
DOOMED, THREADS = 8, 60
# Accounts that it closes, one before each kill of a store, and what each of them has of a kind.
CLOSED, OWNED = (harness.KILLS_TOGETHER if sys.argv[1] == "kill" else 1), 12
CAPTIONS = "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"


def owner(number):
    return f"doomed-{number}"


def seed_with_doomed():
    """The seed with accounts that are to be closed: films with captions and comments, playlists, ratings and subscriptions."""
    seed = dict(SEED)
    first = SEED["accounts"][0]["id"]
    names = [owner(number) for number in range(CLOSED)]
    films = [(name, f"{name}-film-{n}") for name in names for n in range(OWNED)]
    seed["accounts"] = SEED["accounts"] + [
        {"id": name, "tokens": [{"token": f"{name}-token", "scopes": ["youtube", "youtube.force-ssl"]}],
         "channel": {"id": f"UC{name}", "title": name}} for name in names
    ]
    seed["videos"] = [{"id": film, "owner": name, "snippet": {"title": film}} for name, film in films]
    seed["captions"] = [{"video": film, "language": "en", "text": CAPTIONS} for _, film in films]
    seed["ratings"] = [{"account": name, "video": film, "rating": "like"} for name, film in films]
    seed["comments"] = [
        {"author": first, "video": film, "textOriginal": "word", "replies": [{"author": name, "textOriginal": "reply"}] * 3} for name, film in films
    ]
    seed["playlists"] = [
        {"id": f"PL{name}-{n}", "owner": name, "snippet": {"title": name}, "items": [f"{name}-film-{n}"] * 3} for name in names for n in range(OWNED)
    ]
    seed["subscriptions"] = [{"subscriber": name, "channel": first} for name in names] + [{"subscriber": first, "channel": name} for name in names]
    return seed


SEED_FILE = tempfile.NamedTemporaryFile("w", suffix=".json")
json.dump(seed_with_doomed(), SEED_FILE)
SEED_FILE.flush()
harness.SEED = SEED_FILE.name


class Session:
    # What a start says of what a stop left to be removed.
    LEFT = "what was deleted goes on being removed"
    # Set where there is one writer, which waits for no other.
    is_alone = False

    def __init__(self, url):
        self.url = url
        self.videos = sorted(item["contentDetails"]["videoId"] for item in self.uploads())
        self.lists = {}
        # What the first writer takes away, one after the other; none while it is made.
        self.doomed, self.is_filled = None, threading.Event()

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
        """In turn: a playlist, an item of the worker's last playlist, a play, a rating. Now and then the first of the writers deletes a film with its comments, tracks and
        ratings instead, or closes an account."""
        is_first = worker % harness.WRITERS == 0
        if is_first and self.doomed is None:
            self.fill()
        if not self.is_alone:
            self.is_filled.wait(60)
        if is_first and number % 4 == 3 and self.doomed:
            return self.take_away(*self.doomed.pop())
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

    def fill(self):
        doomed = []
        try:
            doomed = [("gone", *self.doomed_film()) for _ in range(DOOMED)]
            # The account is the third that goes.
            doomed[-2:-2] = [("closed", name, None) for name in self.open_accounts()[:1]]
        finally:
            self.doomed = doomed
            self.is_filled.set()

    def open_accounts(self):
        ids = ",".join(f"UC{owner(number)}" for number in range(CLOSED))
        found = {item["id"] for item in self.api(f"channels?part=id&id={ids}")["items"]}
        return [owner(number) for number in range(CLOSED) if f"UC{owner(number)}" in found]

    def take_away(self, what, id, thread):
        if what == "closed":
            self.call("/_ops/accounts/close", {"account": id})
        else:
            self.api(f"videos?id={id}", method="DELETE")
        return what, id, thread

    def is_moment(self, fact):
        """A kill comes right after something began to go, as long as there is something left to go."""
        return fact[0] in ("gone", "closed") or self.doomed == []

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
        self.caption(id)
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

    def caption(self, id):
        """Gives a film a track of captions."""
        metadata = json.dumps({"snippet": {"videoId": id, "language": "en", "name": ""}})
        request = urllib.request.Request(
            self.url + "/upload/youtube/v3/captions?part=snippet&uploadType=multipart",
            data=f"--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: text/vtt\r\n\r\n{CAPTIONS}\r\n--b--".encode(),
            headers={"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "multipart/related; boundary=b"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            reply.read()

    def upload(self):
        """The path and the headers of an upload that a client may be slow with, or give up."""
        return "POST", "/upload/youtube/v3/videos?part=snippet&uploadType=media", {"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "video/mp4"}

    def missing(self, facts):
        return [*self.lost(facts), *self.halves(facts), *self.half_closed(facts), *self.miscounted()]

    def half_closed(self, facts):
        """What is found of accounts that were closed, whatever of them is still being removed."""
        is_open = set(self.open_accounts())
        closed = [id for what, id, _ in facts if what == "closed"]
        yield from (f"{name} is open again" for name in closed if name in is_open)
        for name in closed:
            if (told := self.status("playlists?part=id&mine=true", f"{name}-token")) != 403:
                yield f"{name} is told {told}"
            films, lists = (",".join(f"{name}-film-{n}" for n in range(OWNED)), ",".join(f"PL{name}-{n}" for n in range(OWNED)))
            for path in (f"videos?part=id&id={films}", f"playlists?part=id&id={lists}"):
                yield from (f"{item['id']} is found" for item in self.api(path)["items"])
            for path, expected in ((f"playlists?part=id&channelId=UC{name}", 403), (f"captions?part=id&videoId={name}-film-0", 404)):
                if (told := self.status(path)) != expected:
                    yield f"{path} is {told}"
        for path in ("subscriptions?part=id&mine=true", "subscriptions?part=id&mySubscribers=true"):
            items, total = len(list(self.pages(path))), self.api(path)["pageInfo"]["totalResults"]
            if not items == total == len(is_open):
                yield f"{path} counts {total} and has {items}, and {len(is_open)} accounts are open"

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

    def status(self, path, token=TOKENS[0]):
        try:
            self.api(path, token=token)
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
