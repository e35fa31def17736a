"""google-api-python-client through the tracks of a video: uploaded, listed, changed, downloaded in every format, and deleted."""

import io
import unittest

from googleapiclient.http import MediaIoBaseDownload, MediaIoBaseUpload

from client import anyone, bearer, refused, upload

SRT = b"1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Hello</i>\r\nworld\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nagain\r\n"
MARKS = {"srt": b"-->", "vtt": b"WEBVTT", "sbv": b"0:00:01.000,0:00:02.500", "ttml": b"<tt", "scc": b"Scenarist_SCC V1.0"}


class Captions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alice, cls.bob = bearer("alice-token"), bearer("bob-token")

    def setUp(self):
        self.video = upload(self.alice, "Spoken")

    def insert(self, text=SRT, resumable=False, sync=None, **snippet):
        snippet = {"videoId": self.video, "language": "en", "name": "", **snippet}
        media = MediaIoBaseUpload(io.BytesIO(text), "application/octet-stream", resumable=resumable)
        more = {} if sync is None else {"sync": sync}
        return self.alice.captions().insert(part="id,snippet", body={"snippet": snippet}, media_body=media, **more)

    def tracks(self, api):
        found = api.captions().list(part="id,snippet", videoId=self.video).execute()["items"]
        return {item["id"]: item["snippet"] for item in found}

    def caption(self):
        found = self.alice.videos().list(part="contentDetails", id=self.video).execute()["items"]
        return found[0]["contentDetails"]["caption"]

    def test_a_track_comes_back_as_it_was_and_in_every_format(self):
        for resumable in (False, True):
            made = self.insert(resumable=resumable, name=f"resumable {resumable}").execute()
            self.assertEqual((made["snippet"]["status"], made["snippet"]["isDraft"]), ("serving", False))
            self.assertEqual(self.alice.captions().download(id=made["id"]).execute(), SRT)
        for name, mark in MARKS.items():
            self.assertIn(mark, self.alice.captions().download(id=made["id"], tfmt=name).execute(), name)
        whole = io.BytesIO()
        pieces = MediaIoBaseDownload(whole, self.alice.captions().download_media(id=made["id"], tfmt="vtt"), chunksize=20)
        done = False
        while not done:
            _, done = pieces.next_chunk()
        self.assertEqual(whole.getvalue(), self.alice.captions().download(id=made["id"], tfmt="vtt").execute())
        self.assertEqual(self.alice.captions().download(id=made["id"], tlang="en").execute(), SRT)
        wrong = self.alice.captions().download(id=made["id"], tlang="de")
        self.assertEqual(refused(wrong)[:2], (400, "couldNotConvert"))

    def test_drafts_are_their_owners_and_published_tracks_are_listed_for_all(self):
        draft = self.insert(isDraft=True).execute()["id"]
        self.assertEqual((list(self.tracks(self.alice)), self.tracks(self.bob), self.caption()), ([draft], {}, "false"))
        body = {"id": draft, "snippet": {"isDraft": False}}
        changed = self.alice.captions().update(part="snippet", body=body).execute()
        self.assertFalse(changed["snippet"]["isDraft"])
        self.assertEqual((list(self.tracks(self.bob)), self.caption()), ([draft], "true"))
        self.assertEqual(refused(self.bob.captions().download(id=draft))[:2], (403, "forbidden"))
        self.assertEqual(refused(self.bob.captions().delete(id=draft))[:2], (403, "forbidden"))

    def test_an_update_changes_the_draft_status_the_file_or_both(self):
        track = self.insert().execute()["id"]
        media = lambda text: MediaIoBaseUpload(io.BytesIO(text), "*/*")
        other = SRT.replace(b"again", b"anew")
        self.alice.captions().update(part="id", body={"id": track}, media_body=media(other)).execute()
        self.assertEqual(self.alice.captions().download(id=track).execute(), other)
        both = {"id": track, "snippet": {"isDraft": True}}
        changed = self.alice.captions().update(part="snippet", body=both, media_body=media(SRT)).execute()
        self.assertTrue(changed["snippet"]["isDraft"])
        self.assertEqual(self.alice.captions().download(id=track).execute(), SRT)
        self.assertEqual(refused(self.alice.captions().update(part="id", body={"id": track}))[:2], (400, "contentRequired"))

    def test_what_is_no_captions_fails_and_is_downloaded_as_it_came(self):
        made = self.insert(b"\x00\x01 no captions").execute()
        self.assertEqual((made["snippet"]["status"], made["snippet"]["failureReason"]), ("failed", "unknownFormat"))
        self.assertEqual(self.alice.captions().download(id=made["id"]).execute(), b"\x00\x01 no captions")
        wrong = self.alice.captions().download(id=made["id"], tfmt="srt")
        self.assertEqual(refused(wrong)[:2], (400, "couldNotConvert"))
        self.assertEqual(self.caption(), "false")

    def test_a_transcript_is_synced(self):
        made = self.insert(b"Hello world\nagain\n", sync=True, name="transcript").execute()
        self.assertEqual((made["snippet"]["status"], made["snippet"]["isAutoSynced"]), ("syncing", True))

    def test_a_track_is_deleted_and_what_is_wrong_is_refused(self):
        track = self.insert().execute()["id"]
        self.assertEqual(refused(self.insert())[:2], (409, "captionExists"))
        self.assertEqual(refused(self.insert(name="x" * 151))[:2], (400, "nameTooLong"))
        self.assertEqual(refused(self.insert(videoId="none"))[:2], (404, "videoNotFound"))
        self.assertFalse(self.alice.captions().delete(id=track).execute())
        self.assertEqual(self.tracks(self.alice), {})
        for request in (self.alice.captions().delete(id=track), self.alice.captions().download(id=track)):
            self.assertEqual(refused(request)[:2], (404, "captionNotFound"))
        self.assertEqual(refused(anyone().captions().list(part="id", videoId=self.video))[0], 401)


if __name__ == "__main__":
    unittest.main()
