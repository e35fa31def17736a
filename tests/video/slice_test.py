"""google-api-python-client, unmodified, built from our own discovery document."""

import io
import os
import pathlib
import sys
import unittest

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaIoBaseUpload

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402

URL = os.environ["TRIPTYCH_VIDEO_URL"]
DISCOVERY = URL + "/$discovery/rest?version={apiVersion}"


def service(**identity):
    return build("youtube", "v3", static_discovery=False, discoveryServiceUrl=DISCOVERY, **identity)


class Slice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.public = service(developerKey=os.environ["TRIPTYCH_VIDEO_API_KEY"])
        cls.alice = service(credentials=Credentials(os.environ["TRIPTYCH_VIDEO_TOKEN"]))

    def upload(self, title, chunk, resumable):
        media = MediaIoBaseUpload(io.BytesIO(mp4()), "video/mp4", chunksize=chunk, resumable=resumable)
        body = {"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": "public"}}
        return self.alice.videos().insert(part="snippet,status", body=body, media_body=media).execute()

    def check_video(self, video, title):
        self.assertEqual(len(video["id"]), 11)
        found = self.public.videos().list(part="snippet,contentDetails,status", id=video["id"]).execute()
        (item,) = found["items"]
        self.assertEqual(item["snippet"]["title"], title)
        self.assertEqual(item["contentDetails"]["duration"], "PT12S")
        self.assertEqual(item["contentDetails"]["definition"], "hd")

    def test_a_channel_is_found_by_its_handle(self):
        found = self.public.channels().list(part="snippet", forHandle="@alice").execute()
        self.assertEqual(found["kind"], "youtube#channelListResponse")
        self.assertEqual([item["snippet"]["title"] for item in found["items"]], ["Alice"])

    def test_mine_is_the_channel_of_the_token(self):
        found = self.alice.channels().list(part="id,contentDetails", mine=True).execute()
        self.assertEqual(len(found["items"]), 1)
        uploads = found["items"][0]["contentDetails"]["relatedPlaylists"]["uploads"]
        self.assertTrue(uploads.startswith("UU"), uploads)

    def test_a_playlist_is_inserted_and_listed(self):
        body = {"snippet": {"title": "Slices"}, "status": {"privacyStatus": "public"}}
        made = self.alice.playlists().insert(part="snippet,status", body=body).execute()
        found = self.public.playlists().list(part="snippet", id=made["id"]).execute()
        self.assertEqual([item["snippet"]["title"] for item in found["items"]], ["Slices"])

    def test_a_video_is_uploaded_in_one_multipart_request(self):
        self.check_video(self.upload("One request", -1, False), "One request")

    def test_a_video_is_uploaded_in_resumable_chunks(self):
        self.check_video(self.upload("In chunks", 256 * 1024, True), "In chunks")

    def test_a_write_without_credentials_is_401(self):
        with self.assertRaises(HttpError) as caught:
            self.public.playlists().insert(part="snippet", body={"snippet": {"title": "No"}}).execute()
        self.assertEqual(caught.exception.resp.status, 401)

    def test_a_list_without_a_filter_is_400_and_says_which_ones_there_are(self):
        with self.assertRaises(HttpError) as caught:
            self.public.channels().list(part="snippet").execute()
        self.assertEqual(caught.exception.resp.status, 400)
        self.assertIn("No filter selected", caught.exception.reason)
