"""google-api-python-client, unmodified: uploads that are interrupted, refused or no video; pictures; search."""

import io
import json
import os
import pathlib
import struct
import sys
import time
import unittest
import urllib.error
import urllib.request
import zlib

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaIoBaseUpload

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402
from picture import png  # noqa: E402

URL = os.environ["TRIPTYCH_VIDEO_URL"]
TOKEN = os.environ["TRIPTYCH_VIDEO_TOKEN"]
PIECE = 256 * 1024


def raw(method, url, body=None, headers=None):
    request = urllib.request.Request(url, body, headers or {}, method=method)
    try:
        answer = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read()


class Media(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        discovery = URL + "/$discovery/rest?version={apiVersion}"
        cls.api = build("youtube", "v3", static_discovery=False, discoveryServiceUrl=discovery, credentials=Credentials(TOKEN))

    def insert(self, title, media=None, **status):
        body = {"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": "public", **status}}
        media = MediaIoBaseUpload(io.BytesIO(mp4() if media is None else media), "video/mp4")
        return self.api.videos().insert(part="snippet,status", body=body, media_body=media).execute()

    def open(self, title, total):
        head = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "X-Upload-Content-Type": "video/mp4",
                "X-Upload-Content-Length": str(total)}
        body = json.dumps({"snippet": {"title": title, "categoryId": "22"}}).encode()
        status, headers, _ = raw("POST", URL + "/resumable/upload/youtube/v3/videos?part=snippet&uploadType=resumable", body, head)
        self.assertEqual(status, 200)
        return headers["location"]

    def test_a_session_takes_only_the_next_bytes_and_repeats_its_answer(self):
        film = mp4(payload=2 * PIECE)
        total, first = len(film), film[:PIECE]
        session = self.open("Pieces", total)

        def put(body, span, method="PUT"):
            status, headers, text = raw(method, session, body, {"Content-Range": f"bytes {span}/{total}", "Content-Type": "video/mp4"})
            return status, headers["range"], text

        self.assertEqual(put(b"", "*")[:2], (308, None))
        self.assertEqual(put(first, f"0-{PIECE - 1}")[:2], (308, f"bytes=0-{PIECE - 1}"))
        self.assertEqual(put(first, f"0-{PIECE - 1}")[:2], (308, f"bytes=0-{PIECE - 1}"))
        self.assertEqual(put(film[2 * PIECE:], f"{2 * PIECE}-{total - 1}")[:2], (308, f"bytes=0-{PIECE - 1}"))
        self.assertEqual(put(film[PIECE:PIECE + 10], f"{PIECE}-{PIECE + 9}")[0], 400)
        status, _, made = put(film[PIECE:], f"{PIECE}-{total - 1}", "POST")
        self.assertEqual(status, 200)
        self.assertEqual(put(b"", "*"), (200, None, made))
        found = self.api.videos().list(part="fileDetails,contentDetails", id=json.loads(made)["id"]).execute()["items"][0]
        self.assertEqual((found["fileDetails"]["fileSize"], found["contentDetails"]["duration"]), (str(total), "PT12S"))
        self.assertEqual(raw("PUT", session + "0", b"", {"Content-Range": "bytes */*"})[0], 404)

    def test_a_refused_upload_is_refused_before_its_bytes(self):
        head = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "X-Upload-Content-Type": "video/mp4"}
        start = URL + "/upload/youtube/v3/videos?part=snippet&uploadType=resumable"
        for body, more, status, reason in [
            ({"snippet": {"title": "<", "categoryId": "22"}}, {}, 400, "invalidTitle"),
            ({"snippet": {"title": "a", "categoryId": "22"}}, {"X-Upload-Content-Type": "image/png"}, 400, "badContent"),
            ({"snippet": {"title": "a", "categoryId": "22"}}, {"X-Upload-Content-Length": str(1 << 60)}, 413, "uploadTooLarge"),
        ]:
            got, _, text = raw("POST", start, json.dumps(body).encode(), {**head, **more})
            self.assertEqual((got, json.loads(text)["error"]["errors"][0]["reason"]), (status, reason))

    def test_what_is_no_video_fails_with_its_reason(self):
        made = self.insert("No video", b"VVVVVVVVVVVV")
        deadline = time.monotonic() + 60
        while True:
            status = self.api.videos().list(part="status", id=made["id"]).execute()["items"][0]["status"]
            if status["uploadStatus"] != "uploaded" or time.monotonic() > deadline:
                break
        self.assertEqual((status["uploadStatus"], status["failureReason"]), ("failed", "invalidFile"))

    def test_a_thumbnail_is_served_in_every_size_and_a_bomb_is_refused(self):
        made = self.insert("With a picture")
        sizes = self.api.thumbnails().set(videoId=made["id"], media_body=MediaIoBaseUpload(io.BytesIO(png(64, 36)), "image/png")).execute()
        for name, size in sizes["items"][0].items():
            status, headers, picture = raw("GET", size["url"])
            self.assertEqual((status, headers["content-type"], picture[:3]), (200, "image/jpeg", b"\xff\xd8\xff"), name)
        bomb = bytearray(png(1, 1))
        bomb[16:24] = struct.pack(">II", 60000, 60000)
        bomb[29:33] = struct.pack(">I", zlib.crc32(bomb[12:29]))
        for picture in [bytes(bomb), b"plain text", png(8, 8)[:40]]:
            with self.assertRaises(HttpError) as caught:
                self.api.thumbnails().set(videoId=made["id"], media_body=MediaIoBaseUpload(io.BytesIO(picture), "image/png")).execute()
            self.assertEqual(caught.exception.resp.status, 400)
        self.assertEqual(raw("GET", URL + "/_ops/health/live")[0], 200)

    def test_search_finds_what_was_just_written_with_exact_totals_and_stable_pages(self):
        for number in range(7):
            self.insert(f"Zeppelin {number}", privacyStatus="private" if number == 6 else "public")
        search = lambda **query: self.api.search().list(part="snippet", q="zeppelin", type="video", maxResults=4, **query).execute()
        page = search(order="title")
        titles = [item["snippet"]["title"] for item in page["items"]]
        self.assertEqual(page["pageInfo"], {"totalResults": 6, "resultsPerPage": 4})
        page = search(order="title", pageToken=page["nextPageToken"])
        titles += [item["snippet"]["title"] for item in page["items"]]
        self.assertEqual(titles, [f"Zeppelin {number}" for number in range(6)])
        self.assertNotIn("nextPageToken", page)
        self.assertIn("prevPageToken", page)
        self.assertEqual(search(forMine=True)["pageInfo"]["totalResults"], 7)
        gone = titles and search()["items"][0]["id"]["videoId"]
        self.api.videos().delete(id=gone).execute()
        self.assertEqual(search()["pageInfo"]["totalResults"], 5)
