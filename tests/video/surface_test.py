"""google-api-python-client, unmodified, through every operation that is built: what one call writes, another one shows."""

import io
import os
import pathlib
import sys
import time
import unittest

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaIoBaseUpload

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402
from picture import png  # noqa: E402

URL = os.environ["TRIPTYCH_VIDEO_URL"]
CALLED = set()


def service(**identity):
    """A client that notes which operations it is used for."""
    discovery = URL + "/$discovery/rest?version={apiVersion}"
    api = build("youtube", "v3", static_discovery=False, discoveryServiceUrl=discovery, **identity)

    class Noted:
        def __init__(self, resource, inner):
            self.resource, self.inner = resource, inner

        def __getattr__(self, verb):
            method = getattr(self.inner, verb)
            if not verb.endswith("_next"):
                CALLED.add(f"{self.resource}.{verb}")
            return method

    class Service:
        batch = staticmethod(api.new_batch_http_request)

        def __getattr__(self, resource):
            return lambda: Noted(resource, getattr(api, resource)())

    return Service()


def picture(width, height):
    return MediaIoBaseUpload(io.BytesIO(png(width, height)), "image/png")


def reason(error):
    return error.resp.status, error.error_details[0]["reason"]


class Surface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alice = service(credentials=Credentials(os.environ["TRIPTYCH_VIDEO_TOKEN"]))
        cls.anyone = service(developerKey=os.environ["TRIPTYCH_VIDEO_API_KEY"])
        cls.channel = cls.alice.channels().list(part="id", mine=True).execute()["items"][0]["id"]

    def upload(self, title, **status):
        media = MediaIoBaseUpload(io.BytesIO(mp4()), "video/mp4")
        body = {"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": "public", **status}}
        return self.alice.videos().insert(part="snippet,status", body=body, media_body=media).execute()["id"]

    def playlist(self, title, **status):
        body = {"snippet": {"title": title}, "status": {"privacyStatus": "public", **status}}
        return self.alice.playlists().insert(part="snippet,status", body=body).execute()["id"]

    def add(self, playlist, video, **snippet):
        resource = {"kind": "youtube#video", "videoId": video}
        body = {"snippet": {"playlistId": playlist, "resourceId": resource, **snippet}}
        return self.alice.playlistItems().insert(part="snippet", body=body).execute()

    def items(self, api, playlist):
        found, request = [], api.playlistItems().list(part="snippet,contentDetails", playlistId=playlist, maxResults=2)
        listing = api.playlistItems()
        while request is not None:
            page = request.execute()
            found += page["items"]
            request = listing.list_next(request, page)
        return found

    def refused(self, request):
        with self.assertRaises(HttpError) as caught:
            request.execute()
        return reason(caught.exception)

    def test_a_an_update_overwrites_a_part_and_returns_what_it_cannot_write(self):
        video = self.upload("Before")
        body = {"id": video, "snippet": {"title": "After", "categoryId": "27", "tags": ["one two", "three"]}}
        new = self.alice.videos().update(part="snippet,statistics,contentDetails", body=body).execute()
        self.assertEqual((new["snippet"]["title"], new["statistics"]["viewCount"]), ("After", "0"))
        body["status"] = {"privacyStatus": "private"}
        self.assertEqual(self.refused(self.alice.videos().update(part="snippet", body=body)), (400, "unexpectedPart"))
        (item,) = self.anyone.videos().list(part="snippet,status", id=video).execute()["items"]
        self.assertEqual((item["snippet"]["tags"], item["status"]["privacyStatus"]), (["one two", "three"], "public"))

    def test_b_ratings_are_counted_and_are_the_list_of_likes(self):
        video = self.upload("Rated")
        for rating, likes in [("like", "1"), ("dislike", "0"), ("like", "1")]:
            self.alice.videos().rate(id=video, rating=rating).execute()
            (given,) = self.alice.videos().getRating(id=video).execute()["items"]
            (item,) = self.anyone.videos().list(part="statistics", id=video).execute()["items"]
            self.assertEqual((given["rating"], item["statistics"]["likeCount"]), (rating, likes))
        liked = self.alice.videos().list(part="id", myRating="like", maxResults=50).execute()["items"]
        self.assertIn(video, [item["id"] for item in liked])
        (entry,) = [item for item in self.items(self.alice, "LL") if item["contentDetails"]["videoId"] == video]
        self.alice.playlistItems().delete(id=entry["id"]).execute()
        (given,) = self.alice.videos().getRating(id=video).execute()["items"]
        self.assertEqual(given["rating"], "none")

    def test_c_items_keep_dense_positions_through_inserts_moves_and_deletes(self):
        playlist, videos = self.playlist("Ordered"), [self.upload(f"Item {n}") for n in range(4)]
        entries = [self.add(playlist, video, position=0) for video in videos]
        body = {"id": entries[0]["id"], "snippet": {**entries[0]["snippet"], "position": 1}}
        body["snippet"] = {name: body["snippet"][name] for name in ["playlistId", "resourceId", "position"]}
        moved = self.alice.playlistItems().update(part="snippet", body=body).execute()
        self.assertEqual(moved["snippet"]["position"], 1)
        self.alice.playlistItems().delete(id=entries[2]["id"]).execute()
        found = self.items(self.anyone, playlist)
        self.assertEqual([item["contentDetails"]["videoId"] for item in found], [videos[3], videos[0], videos[1]])
        self.assertEqual([item["snippet"]["position"] for item in found], [0, 1, 2])
        body = {"id": playlist, "snippet": {"title": "Renamed"}, "status": {"privacyStatus": "private"}}
        self.alice.playlists().update(part="snippet,status", body=body).execute()
        self.assertEqual(self.anyone.playlists().list(part="id", id=playlist).execute()["items"], [])
        (own,) = self.alice.playlists().list(part="contentDetails", id=playlist).execute()["items"]
        self.assertEqual(own["contentDetails"]["itemCount"], 3)
        self.alice.playlists().delete(id=playlist).execute()
        listing = self.alice.playlistItems().list(part="id", playlistId=playlist)
        self.assertEqual(self.refused(listing), (404, "playlistNotFound"))

    def test_d_a_banner_takes_three_steps(self):
        banner = self.alice.channelBanners().insert(body={}, media_body=picture(2560, 1440)).execute()
        branding = {"channel": {"description": "About"}, "image": {"bannerExternalUrl": banner["url"]}}
        body = {"id": self.channel, "brandingSettings": branding}
        self.alice.channels().update(part="brandingSettings", body=body).execute()
        (item,) = self.anyone.channels().list(part="brandingSettings,snippet", id=self.channel).execute()["items"]
        self.assertEqual(item["brandingSettings"]["image"]["bannerExternalUrl"], banner["url"])
        self.assertEqual(item["snippet"]["description"], "About")

    def test_e_a_thumbnail_is_shown_and_a_watermark_comes_and_goes(self):
        video = self.upload("Pictured")
        made = self.alice.thumbnails().set(videoId=video, media_body=picture(640, 360)).execute()
        (item,) = self.anyone.videos().list(part="snippet", id=video).execute()["items"]
        self.assertEqual(made["items"][0], item["snippet"]["thumbnails"])
        timing = {"type": "offsetFromStart", "offsetMs": "0", "durationMs": "1000"}
        self.alice.watermarks().set(channelId=self.channel, body={"timing": timing}, media_body=picture(64, 64)).execute()
        self.alice.watermarks().unset(channelId=self.channel).execute()
        bad = self.alice.watermarks().set(channelId=self.channel, body={}, media_body=picture(64, 64))
        self.assertEqual(self.refused(bad)[0], 400)

    def test_f_search_finds_what_is_public_and_ones_own(self):
        word = f"kingfisher{time.time_ns()}"
        public, hidden = self.upload(f"{word} one"), self.upload(f"{word} two", privacyStatus="private")
        playlist = self.playlist(f"{word} list")
        everything = self.anyone.search().list(part="id", q=word).execute()
        kinds = sorted(item["id"]["kind"] for item in everything["items"])
        self.assertEqual(kinds, ["youtube#playlist", "youtube#video"])
        self.assertEqual(everything["pageInfo"]["totalResults"], 2)
        found = self.anyone.search().list(part="snippet", q=f'"{word} one"', type="video", order="date").execute()
        self.assertEqual([item["id"]["videoId"] for item in found["items"]], [public])
        own = self.alice.search().list(part="id", q=word, type="video", forMine=True).execute()["items"]
        self.assertEqual({item["id"]["videoId"] for item in own}, {public, hidden})
        self.alice.playlists().delete(id=playlist).execute()
        self.alice.videos().delete(id=public).execute()
        self.assertEqual(self.anyone.search().list(part="id", q=word).execute()["pageInfo"]["totalResults"], 0)

    def test_g_lists_of_the_interface(self):
        languages = self.anyone.i18nLanguages().list(part="snippet").execute()["items"]
        regions = self.anyone.i18nRegions().list(part="snippet").execute()["items"]
        self.assertIn("en", [item["id"] for item in languages])
        self.assertIn("DE", [item["id"] for item in regions])
        categories = self.anyone.videoCategories().list(part="snippet", regionCode="US").execute()["items"]
        (music,) = [item for item in categories if item["id"] == "10"]
        self.assertEqual((music["snippet"]["title"], music["snippet"]["assignable"]), ("Music", True))
        guides = self.anyone.guideCategories().list(part="snippet", regionCode="US").execute()["items"]
        self.assertTrue(guides)

    def test_h_a_batch_and_a_long_query_arrive_as_they_were_meant(self):
        answers, batch = {}, self.alice.batch()
        videos = [self.upload(f"Batch {n}") for n in range(3)]
        for video in [*videos, "none"]:
            batch.add(self.alice.videos().list(part="id", id=video), lambda number, answer, error: answers.update({number: answer}))
        batch.execute()
        counts = [len(answers[number]["items"]) for number in sorted(answers, key=int)]
        self.assertEqual(counts, [1, 1, 1, 0])
        many = videos + [f"{'x' * 60}{n}" for n in range(45)]
        found = self.anyone.videos().list(part="id", id=",".join(many)).execute()["items"]
        self.assertEqual([item["id"] for item in found], videos)

    def test_i_withdrawn_operations_are_410(self):
        self.assertEqual(self.refused(self.alice.activities().insert(part="id", body={})), (410, "deleted"))
        self.assertEqual(self.refused(self.alice.comments().markAsSpam(id="x")), (410, "deleted"))

    def test_j_a_report_names_a_reason_of_the_list(self):
        reasons = self.alice.videoAbuseReportReasons().list(part="snippet").execute()["items"]
        reason = next(reason for reason in reasons if "secondaryReasons" in reason["snippet"])
        report = {"videoId": self.upload("Reported"), "reasonId": reason["id"]}
        report["secondaryReasonId"] = reason["snippet"]["secondaryReasons"][0]["id"]
        self.assertFalse(self.alice.videos().reportAbuse(body=report).execute())
        for wrong in ({"reasonId": "none"}, {"secondaryReasonId": "none"}):
            self.assertEqual(self.refused(self.alice.videos().reportAbuse(body={**report, **wrong}))[0], 400)

    def test_z_every_operation_that_is_built_was_called(self):
        page = (pathlib.Path(__file__).parents[2] / "docs" / "operations" / "video-api.md").read_text()
        lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
        rows = [dict(zip(lines[0], line)) for line in lines if any("/youtube/v3/" in cell for cell in line)]
        built = {row["Operation"] for row in rows if row["State"] == "built"}
        self.assertGreater(len(built), 20)
        later = {name for name in built if name.split(".")[0] not in OF_THIS_FILE}
        self.assertEqual(built - later - CALLED, set())


# Resources whose operations are all called here; what comes later has files of its own.
OF_THIS_FILE = {
    "channelBanners", "channels", "guideCategories", "i18nLanguages", "i18nRegions", "playlistItems", "playlists", "search",
    "thumbnails", "videoCategories", "videos", "watermarks",
}
