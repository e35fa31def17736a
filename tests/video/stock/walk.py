"""The client of Python, unmodified: it walks as those of Go, Java and Ruby do, as long as the environment says."""

import io
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from client import HttpError, MediaIoBaseUpload, bearer  # noqa: E402

COUNT = int(os.environ.get("TRIPTYCH_WALK", "3"))
FILMS, SIZE = (COUNT + 9) // 10, 50 if COUNT > 50 else 2
API = bearer(os.environ["TRIPTYCH_VIDEO_TOKEN"])
FILM = pathlib.Path(sys.argv[1]).read_bytes()
seen = {"again": 0, "writes": 0, "pages": 0}


def expect(step, holds, *found):
    if not holds:
        sys.exit(f"{step}: {found}")
    if step:
        print("ok", step, flush=True)


def answer(call):
    """Calls until there is an answer. Where none came, waits for the word that the service is back; there is none where nobody has killed it."""
    while True:
        try:
            return call()
        except (HttpError, OSError) as error:
            if isinstance(error, HttpError) and error.resp.status < 500:
                raise
            print("unanswered", flush=True)
            if not sys.stdin.readline():
                raise
            seen["again"] += 1


def write(times, one):
    """Writes so often, says when half is written, and keeps what was acknowledged."""
    written = []
    for number in range(times):
        if number == times // 2:
            print("half", flush=True)
        written.append(answer(lambda: one(number)))
        seen["writes"] += 1
    return written


def whole(resource, **query):
    """A list, read to its end."""
    found, request = [], resource.list(maxResults=SIZE, **query)
    while request is not None:
        page = request.execute()
        seen["pages"] += 1
        found += page["items"]
        request = resource.list_next(request, page)
    return found


def ids(items, *path):
    def at(item):
        for step in path or ("id",):
            item = item[step]
        return item

    return [at(item) for item in items]


def holds(listed, written, before=(), unanswered=None):
    """Whether a list has each once of what was acknowledged, and beside it what was there before and at most what was written without an answer."""
    ours = [*written, *before]
    beside = len(listed) - len(ours)
    unanswered = seen["again"] if unanswered is None else unanswered
    return len(set(listed)) == len(listed) and set(ours) <= set(listed) and 0 <= beside <= unanswered


def unless_refused(reason, call):
    """What was written without an answer is refused the second time."""
    try:
        return call()
    except HttpError as error:
        if not seen["again"] or error.error_details[0]["reason"] != reason:
            raise


def insert(resource, part="snippet,status", **body):
    return resource.insert(part=part, body={"snippet": body}).execute()


def item(playlist, video):
    return {"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": video}}


def walk_uploads():
    def upload(pieces):
        media = MediaIoBaseUpload(io.BytesIO(FILM), "video/mp4", chunksize=256 * 1024, resumable=pieces)
        body = {"snippet": {"title": "Pieces" if pieces else "Whole", "categoryId": "22"}}
        return API.videos().insert(part="snippet,status", body=body, media_body=media).execute(num_retries=8)

    mine = API.channels().list(part="contentDetails", mine=True).execute()["items"][0]
    uploads = {"part": "snippet", "playlistId": mine["contentDetails"]["relatedPlaylists"]["uploads"]}
    path = "snippet", "resourceId", "videoId"
    before = ids(whole(API.playlistItems(), **uploads), *path)
    wholes = write(FILMS, lambda _: upload(False))
    expect("uploads at once", wholes[-1]["status"]["uploadStatus"] == "uploaded", wholes[-1])
    pieces = write(FILMS, lambda _: upload(True))
    sizes = {API.videos().list(part="fileDetails", id=id).execute()["items"][0]["fileDetails"]["fileSize"] for id in ids(pieces)}
    films = ids(wholes + pieces)
    listed = ids(whole(API.playlistItems(), **uploads), *path)
    expect("uploads in pieces", sizes == {str(len(FILM))} and holds(listed, films, before), sizes, len(listed))
    return mine["id"], films


def walk_items(playlist, film):
    added = write(COUNT, lambda _: insert(API.playlistItems(), **item(playlist, film)))
    read, items = seen["pages"], whole(API.playlistItems(), part="snippet", playlistId=playlist)
    dense = ids(items, "snippet", "position") == list(range(len(items)))
    full = seen["pages"] - read == -(-len(items) // SIZE)
    expect("pages", dense and full and holds(ids(items), ids(added)), dense, seen["pages"] - read, len(items))


def walk_comments(film):
    def thread(number):
        comment = {"snippet": {"textOriginal": f"Thread {number}"}}
        return insert(API.commentThreads(), "snippet", videoId=film, topLevelComment=comment)["id"]

    threads = write(COUNT, thread)
    replies = write(COUNT, lambda number: insert(API.comments(), "snippet", parentId=threads[0], textOriginal=f"Reply {number}")["id"])
    listed = ids(whole(API.commentThreads(), part="snippet", videoId=film))
    replied = ids(whole(API.comments(), part="snippet", parentId=threads[0]))
    expect("comments", holds(listed, threads) and holds(replied, replies), len(listed), len(replied))


def walk_subscriptions(own):
    """All other channels are members of this one too; it subscribes to each, and to none in the end."""

    def listed():
        return whole(API.subscriptions(), part="snippet", mine=True)

    def subscribe(number):
        resource = {"kind": "youtube#channel", "channelId": members[number]}
        return unless_refused("subscriptionDuplicate", lambda: insert(API.subscriptions(), "snippet", resourceId=resource))

    def unsubscribe(number):
        unless_refused("subscriptionNotFound", API.subscriptions().delete(id=subscriptions[number]["id"]).execute)

    members = ids(whole(API.members(), part="snippet"), "snippet", "memberDetails", "channelId")
    channels = ids(whole(API.search(), part="snippet", type="channel"), "id", "channelId")
    expect(None, holds(channels, members, [own], 0), len(channels), len(members))
    write(len(members), subscribe)
    subscriptions = listed()
    every = holds(ids(subscriptions, "snippet", "resourceId", "channelId"), members, (), 0)
    write(len(subscriptions), unsubscribe)
    expect("subscribes", every and not listed(), every, len(members))


def walk_batches(film):
    playlist, told, written = insert(API.playlists(), title="Filled at once")["id"], [], []
    batch = API.new_batch_http_request(callback=lambda _, found, error: told.append(error.resp.status if error else found["kind"]))
    batch.add(API.videos().list(part="id", id=film))
    batch.add(API.videos().list(part="id", id=film, maxResults=99))
    batch.execute()
    batch = API.new_batch_http_request(callback=lambda _, found, error: written.append(error or found["id"]))
    for _ in range(COUNT):
        batch.add(API.playlistItems().insert(part="snippet", body={"snippet": item(playlist, film)}))
    batch.execute()
    seen["writes"] += COUNT
    listed = ids(whole(API.playlistItems(), part="id", playlistId=playlist))
    right = told == ["youtube#videoListResponse", 400] and len(written) == COUNT and listed == written
    expect("batches", right, told, len(written), len(listed))


def main():
    before = ids(whole(API.playlists(), part="id", mine=True))
    made = write(FILMS, lambda _: insert(API.playlists(), title="Python's"))
    listed = ids(whole(API.playlists(), part="id", mine=True))
    expect("writes", made[-1]["snippet"]["title"] == "Python's" and holds(listed, ids(made), before), made[-1])
    own, films = walk_uploads()
    before = ids(whole(API.videos(), part="id", myRating="like"))
    write(len(films), lambda number: API.videos().rate(id=films[number], rating="like").execute())
    expect("rates", holds(ids(whole(API.videos(), part="id", myRating="like")), films, before, 0), len(films))
    walk_items(made[-1]["id"], films[-1])
    walk_comments(films[-1])
    walk_subscriptions(own)
    done = ids(whole(API.activities(), part="snippet", mine=True))
    expect("activities", len(done) >= COUNT and len(set(done)) == len(done), len(done))
    walk_batches(films[-1])
    others = seen["writes"] - len(films)
    print(f"walked {len(films)} uploads, {others} other writes, {seen['pages']} pages, a batch of {COUNT}, {seen['again']} calls again")


main()
