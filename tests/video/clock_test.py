"""google-api-python-client over a clock that is moved: tracks whose times are worked out, and memberships that last."""

import io
import json
import os
import re
import unittest
import urllib.request

from googleapiclient.http import MediaIoBaseUpload

from client import BOB, bearer, refused, upload

URL = os.environ["TRIPTYCH_VIDEO_URL"]
DAY = 86_400_000


def control(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def advance(millis):
    return control("/_ops/clock", {"advanceMs": millis})["now"]


class Clock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alice, cls.bob = bearer("alice-token"), bearer("bob-token")

    def test_a_transcript_serves_once_its_times_are_worked_out(self):
        video = upload(self.alice, "Synced")
        media = MediaIoBaseUpload(io.BytesIO(b"Hello world\nagain\n"), "application/octet-stream")
        snippet = {"videoId": video, "language": "en", "name": ""}
        made = self.alice.captions().insert(part="snippet", body={"snippet": snippet}, media_body=media, sync=True).execute()
        self.assertEqual((made["snippet"]["status"], made["snippet"]["isAutoSynced"]), ("syncing", True))
        advance(5_000)
        (track,) = self.alice.captions().list(part="id,snippet", videoId=video).execute()["items"]
        self.assertEqual((track["snippet"]["status"], track["snippet"]["isAutoSynced"]), ("serving", True))
        captions = self.alice.captions().download(id=made["id"], tfmt="srt").execute().decode()
        times = re.findall(r"(\d\d):(\d\d):(\d\d),(\d{3})", captions)
        millis = [((int(h) * 60 + int(m)) * 60 + int(s)) * 1_000 + int(ms) for h, m, s, ms in times]
        (shown,) = self.bob.videos().list(part="contentDetails", id=video).execute()["items"]
        seconds = int(re.fullmatch(r"PT(\d+)S", shown["contentDetails"]["duration"])[1])
        # Two lines, one after the other, over the whole video.
        self.assertEqual((len(millis), millis[0], millis[1] == millis[2]), (4, 0, True))
        self.assertEqual(millis, sorted(millis))
        self.assertLess(abs(millis[3] - seconds * 1_000), 1_000)
        self.assertEqual(shown["contentDetails"]["caption"], "true")
        self.assertEqual(self.alice.captions().download(id=made["id"]).execute(), b"Hello world\nagain\n")

    def test_a_membership_lasts_by_the_clock_of_the_service(self):
        members = self.alice.members()

        def details():
            found = members.list(part="snippet", filterByMemberChannelId=BOB).execute()["items"]
            return [item["snippet"]["membershipsDetails"] for item in found]

        token = members.list(part="snippet", mode="updates").execute()["nextPageToken"]
        (before,) = details()
        months = before["membershipsDuration"]["memberTotalDurationMonths"]
        control("/_ops/members", {"creator": "alice", "member": "bob"})
        advance(35 * DAY)
        self.assertEqual(details(), [])
        now = advance(0)
        control("/_ops/members", {"creator": "alice", "member": "bob", "level": "gold"})
        (again,) = details()
        duration = again["membershipsDuration"]
        # The time without it counts for nothing.
        self.assertEqual((duration["memberTotalDurationMonths"], duration["memberSince"][:13]), (months, now[:13]))
        self.assertEqual((again["highestAccessibleLevel"], again["accessibleLevels"]), ("gold", ["tin", "gold"]))
        advance(35 * DAY)
        (later,) = details()
        self.assertIn(later["membershipsDuration"]["memberTotalDurationMonths"] - months, (1, 2))
        self.assertEqual(later["membershipsDuration"]["memberSince"], duration["memberSince"])
        updates = members.list(part="snippet", mode="updates", pageToken=token).execute()
        joined = [item["snippet"]["memberDetails"]["channelId"] for item in updates["items"]]
        self.assertEqual(joined, [BOB])
        none = members.list(part="snippet", mode="updates", pageToken=updates["nextPageToken"]).execute()
        self.assertEqual(none["items"], [])
        self.assertEqual(refused(members.list(part="snippet", pageToken=token))[:2], (400, "invalidPageToken"))


if __name__ == "__main__":
    unittest.main()
