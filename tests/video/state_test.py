"""The whole state: made up, written out, read back, wiped; and the control paths that set the scene."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402
from picture import png  # noqa: E402
from process import KEY, TOKEN, Server, command, raw  # noqa: E402

API = "/youtube/v3"
ALICE, BOB = "UCaliceAliceAliceAlice0A", "UCbobBobBobBobBobBobBo0A"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, name):
        server = Server(self.folder / name)
        self.addCleanup(server.stop)
        return server

    def done(self, *arguments, **more):
        code, out, said = command(*arguments, **more)
        self.assertEqual(code, 0, said)
        return out

    def refused(self, *arguments, **more):
        code, _, said = command(*arguments, **more)
        self.assertEqual(code, 1, said)
        return said


class Whole(Folder):
    def fill(self, server):
        """One of everything that this service keeps."""
        query = f"{API}/videos?part=snippet,status&uploadType=media"
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "video/mp4"}
        _, _, text = raw("POST", server.url + "/upload" + query, mp4(payload=300_000), head)
        video = json.loads(text)["id"]
        body = {"id": video, "snippet": {"title": "Zeppelin \u2708", "categoryId": "10", "tags": ["air"]}, "status": {"privacyStatus": "public"}}
        server.call("PUT", f"{API}/videos?part=snippet,status", body)
        server.call("POST", f"{API}/videos/rate?id={video}&rating=like")
        picture = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "image/png"}
        status, _, text = raw("POST", f"{server.url}/upload{API}/thumbnails/set?videoId={video}&uploadType=media", png(640, 360), picture)
        self.assertEqual(status, 200, text)
        playlist = server.call("POST", f"{API}/playlists?part=snippet", {"snippet": {"title": "Air"}})["id"]
        for position in (0, 0, 1):
            item = {"snippet": {"playlistId": playlist, "position": position, "resourceId": {"kind": "youtube#video", "videoId": video}}}
            server.call("POST", f"{API}/playlistItems?part=snippet", item)
        status, _ = server.control("POST", "/_ops/plays", {"video": video, "account": "bob", "count": 3, "seconds": 5})
        self.assertEqual(status, 200)
        self.fill_around(server, video, playlist)
        return video, playlist

    def fill_around(self, server, video, playlist):
        """What others say and do about it."""
        metadata = json.dumps({"snippet": {"videoId": video, "language": "en", "name": "Words"}})
        file = "WEBVTT\n\n00:01.000 --> 00:02.000\nOver the sea\n"
        body = f"--B\r\nContent-Type: application/json\r\n\r\n{metadata}\r\n--B\r\nContent-Type: text/vtt\r\n\r\n{file}\r\n--B--"
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "multipart/related; boundary=B"}
        status, _, text = raw("POST", f"{server.url}/upload{API}/captions?part=snippet&uploadType=multipart", body.encode(), head)
        self.assertEqual(status, 200, text)
        for text, token in (("Well flown", "bob-token"), ("I was there", TOKEN)):
            comment = {"channelId": ALICE, "videoId": video, "topLevelComment": {"snippet": {"textOriginal": text}}}
            thread = server.call("POST", f"{API}/commentThreads?part=snippet", {"snippet": comment}, token)["id"]
            reply = {"snippet": {"parentId": thread, "textOriginal": f"On {text}"}}
            server.call("POST", f"{API}/comments?part=snippet", reply, "bob-token")
        server.call("POST", f"{API}/comments/setModerationStatus?id={thread}&moderationStatus=heldForReview")
        server.control("POST", "/_ops/comments", {"comment": thread, "account": "bob", "likes": True})
        subscription = {"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": ALICE}}}
        server.call("POST", f"{API}/subscriptions?part=snippet", subscription, "bob-token")
        section = {"snippet": {"type": "singlePlaylist"}, "contentDetails": {"playlists": [playlist]}}
        server.call("POST", f"{API}/channelSections?part=snippet,contentDetails", section)
        about = {"bulletin": {"resourceId": {"kind": "youtube#video", "videoId": video}}}
        status, told = server.control("POST", "/_ops/activities", {"account": "alice", "type": "bulletin", "contentDetails": about})
        self.assertEqual(status, 200, told)

    def answers(self, server, video, playlist):
        """What the interface shows, with the address of the server taken out."""
        paths = [
            f"videos?part=snippet,status,statistics,contentDetails,fileDetails,player&id={video}",
            f"videos/getRating?id={video}",
            "channels?part=snippet,statistics,contentDetails,brandingSettings&mine=true",
            "playlists?part=snippet,contentDetails,status&mine=true",
            f"playlistItems?part=snippet,contentDetails&playlistId={playlist}&maxResults=50",
            "playlistItems?part=snippet&playlistId=LL",
            "search?part=snippet&q=zeppelin&type=video",
            "search?part=snippet&forMine=true&type=video",
            f"captions?part=snippet&videoId={video}",
            f"commentThreads?part=snippet,replies&videoId={video}",
            f"commentThreads?part=snippet,replies&videoId={video}&moderationStatus=heldForReview",
            f"commentThreads?part=snippet,replies&videoId={video}&searchTerms=flown",
            "subscriptions?part=snippet,subscriberSnippet&mySubscribers=true",
            "channelSections?part=snippet,contentDetails&mine=true",
            "activities?part=snippet,contentDetails&mine=true",
            f"activities?part=snippet,contentDetails&channelId={BOB}",
        ]
        # Processing is over on both.
        server.control("POST", "/_ops/clock", {"advanceMs": 10_000})
        found = {}
        for path in paths:
            text = json.dumps(server.call("GET", f"{API}/{path}"))
            found[path] = text.replace(server.url, "")
        found["history"] = json.dumps(server.call("GET", f"{API}/playlistItems?part=snippet&playlistId=HL", token="bob-token")).replace(server.url, "")
        found["picture"] = raw("GET", f"{server.url}/vi/{video}/maxres.jpg")[2]
        return found

    def test_an_import_answers_as_the_original_and_exports_as_the_same_bytes(self):
        server = self.serve("first")
        names = self.fill(server)
        before = self.answers(server, *names)
        self.assertIn("Zeppelin", before["search?part=snippet&q=zeppelin&type=video"])
        # Its service is not where the flags say; then it is, and gives a copy of what it has.
        said = self.refused("export", self.folder / "busy", "--data", self.folder / "first", "--port", "9")
        self.assertIn("is served, and not copied", said)
        self.done("export", self.folder / "served", "--data", self.folder / "first", "--port", server.url.rpartition(":")[2])
        server.stop()

        self.done("export", self.folder / "one", "--data", self.folder / "first")
        self.assertEqual((self.folder / "one").stat().st_mode & 0o777, 0o600)
        text = (self.folder / "one").read_bytes()
        self.assertEqual((self.folder / "served").read_bytes(), text)
        self.assertNotIn(TOKEN.encode(), text)
        self.assertNotIn(KEY.encode(), text)
        self.done("import", "-", "--data", self.folder / "second", input=text)
        self.assertEqual(self.done("export", "-", "--data", self.folder / "second"), text)

        server = self.serve("second")
        after = self.answers(server, *names)
        for path, answer in before.items():
            self.assertEqual(after[path], answer, path)

        # Nothing of it is left where the store is reset.
        status, told = server.control("POST", "/_ops/reset")
        self.assertEqual((status, told), (204, None))
        for path in ("subscriptions?part=id&mySubscribers=true", "channelSections?part=id&mine=true", "activities?part=id&mine=true"):
            self.assertEqual(server.call("GET", f"{API}/{path}")["items"], [], path)
        for table in ("commentThreads", "captions"):
            address = f"{server.url}{API}/{table}?part=id&videoId={names[0]}"
            self.assertEqual(raw("GET", address, headers={"Authorization": f"Bearer {TOKEN}"})[0], 404, table)
        server.stop()
        left = self.done("export", "-", "--data", self.folder / "second").decode()
        self.assertNotIn("Well flown", left)
        self.assertNotIn("Over the sea", left)

    def test_a_file_that_was_cut_off_leaves_nothing_and_data_is_never_written_over(self):
        self.done("generate", "--data", self.folder / "made", "--channels", "2", "--videos", "50")
        self.done("export", self.folder / "whole", "--data", self.folder / "made")
        text = (self.folder / "whole").read_bytes()
        said = self.refused("import", "-", "--data", self.folder / "cut", input=text[: len(text) // 2])
        self.assertRegex(said, r"^video-api import: -: line \d+: ")
        self.assertEqual(list((self.folder / "cut").iterdir()), [])
        self.done("import", "-", "--data", self.folder / "cut", input=text)
        for arguments in (["import", self.folder / "whole"], ["generate", "--videos", "1"]):
            said = self.refused(*arguments, "--data", self.folder / "made")
            self.assertIn("is not empty", said)
        self.assertEqual(self.done("export", "-", "--data", self.folder / "made"), text)
        self.assertIn("holds no data", self.refused("export", "-", "--data", self.folder / "nowhere"))

    def test_what_is_generated_is_the_same_for_the_same_seed_and_is_served(self):
        texts = []
        for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
            self.done("generate", "--data", self.folder / name, "--channels", "4", "--videos", "200", "--seed", seed)
            texts.append(self.done("export", "-", "--data", self.folder / name))
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

        server = self.serve("a")
        found = server.call("GET", f"{API}/videos?part=snippet,statistics&chart=mostPopular&maxResults=50")["items"]
        self.assertEqual(len(found), 50)
        views = [int(video["statistics"]["viewCount"]) for video in found]
        self.assertEqual(views, sorted(views, reverse=True))
        series = found[0]["snippet"]["title"].rpartition("| ")[2].split()[0]
        hits = server.call("GET", f"{API}/search?part=snippet&type=video&maxResults=50&q={series}")
        self.assertEqual(hits["pageInfo"]["totalResults"], len(hits["items"]))
        self.assertTrue(10 <= len(hits["items"]) <= 20, hits["pageInfo"])
        self.assertTrue(all(series in hit["snippet"]["title"] for hit in hits["items"]))
        channel = found[0]["snippet"]["channelId"]
        talked = max(found, key=lambda video: int(video["statistics"]["commentCount"]))
        threads = server.call("GET", f"{API}/commentThreads?part=snippet,replies&maxResults=100&videoId={talked['id']}")["items"]
        count = len(threads) + sum(thread["snippet"]["totalReplyCount"] for thread in threads)
        self.assertEqual(str(count), talked["statistics"]["commentCount"])
        self.assertGreater(count, 1)
        counted = server.call("GET", f"{API}/channels?part=statistics,contentDetails&id={channel}")["items"][0]
        uploads = counted["contentDetails"]["relatedPlaylists"]["uploads"]
        listed = server.call("GET", f"{API}/playlistItems?part=id&playlistId={uploads}&maxResults=50")
        self.assertEqual(str(listed["pageInfo"]["totalResults"]), counted["statistics"]["videoCount"])


class Control(Folder):
    def setUp(self):
        super().setUp()
        self.server = self.serve("data")

    def upload(self):
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "video/mp4"}
        _, _, text = raw("POST", f"{self.server.url}/upload{API}/videos?part=snippet&uploadType=media", mp4(), head)
        return json.loads(text)["id"]

    def views(self, video):
        return self.server.call("GET", f"{API}/videos?part=statistics&id={video}")["items"][0]["statistics"]["viewCount"]

    def test_a_reset_wipes_everything_and_seeds_again(self):
        video = self.upload()
        playlist = self.server.call("POST", f"{API}/playlists?part=snippet", {"snippet": {"title": "Gone"}})["id"]
        self.assertLess(self.server.control("POST", "/_ops/reset")[0], 300)
        self.assertEqual(self.server.call("GET", f"{API}/videos?part=id&id={video}")["items"], [])
        self.assertEqual(self.server.call("GET", f"{API}/playlists?part=id&id={playlist}")["items"], [])
        mine = self.server.call("GET", f"{API}/channels?part=snippet,statistics&mine=true")["items"][0]
        self.assertEqual((mine["snippet"]["title"], mine["statistics"]["videoCount"]), ("Alice", "0"))

    def test_the_clock_is_set_moved_and_given_back(self):
        set_to = "2031-05-06T07:08:09Z"
        status, clock = self.server.control("POST", "/_ops/clock", {"set": set_to})
        self.assertEqual((status, clock["now"][:17]), (200, set_to[:17]))
        self.assertGreater(clock["offsetMs"], 0)
        made = self.server.call("POST", f"{API}/playlists?part=snippet", {"snippet": {"title": "Later"}})
        self.assertEqual(made["snippet"]["publishedAt"][:17], set_to[:17])
        _, clock = self.server.control("POST", "/_ops/clock", {"advanceMs": 86_400_000})
        self.assertEqual(clock["now"][:14], "2031-05-07T07:")
        status, clock = self.server.control("POST", "/_ops/clock", {"reset": True})
        self.assertEqual((status, clock["offsetMs"]), (200, 0))
        self.assertGreaterEqual(self.server.control("POST", "/_ops/clock", {"set": "tomorrow"})[0], 400)

    def test_a_private_video_is_public_once_its_time_has_come(self):
        video = self.upload()
        body = {"id": video, "status": {"privacyStatus": "private", "publishAt": "2040-01-01T00:00:00Z"}}
        self.server.call("PUT", f"{API}/videos?part=status", body)
        listed = lambda: self.server.call("GET", f"{API}/videos?part=id&id={video}", token="bob-token")["items"]
        self.assertEqual(listed(), [])
        self.server.control("POST", "/_ops/clock", {"set": "2040-01-01T00:00:01Z"})
        self.assertEqual(len(listed()), 1)

    def test_a_fault_is_given_as_often_as_was_asked_in_the_interfaces_own_form(self):
        fault = {"method": "GET", "path": f"{API}/videos", "status": 503, "reason": "backendError", "times": 2}
        self.assertLess(self.server.control("POST", "/_ops/faults", fault)[0], 300)
        self.assertEqual(self.server.control("GET", "/_ops/faults")[0], 200)
        asked = lambda path: raw("GET", f"{self.server.url}{API}/{path}", headers={"Authorization": f"Bearer {TOKEN}"})
        self.assertEqual(asked("playlists?part=id&mine=true")[0], 200)
        for _ in range(2):
            status, _, text = asked("videos?part=id&chart=mostPopular")
            error = json.loads(text)["error"]
            self.assertEqual((status, error["code"], error["errors"][0]["reason"]), (503, 503, "backendError"))
        self.assertEqual(asked("videos?part=id&chart=mostPopular")[0], 200)

    def test_plays_count_views_and_fill_the_history_of_who_watched(self):
        video = self.upload()
        play = lambda **more: self.server.control("POST", "/_ops/plays", {"video": video, **more})
        self.assertEqual(play(), (200, {"video": video, "viewCount": "1", "secondsWatched": "0"}))
        answer = play(account="bob", count=4, seconds=30)[1]
        self.assertEqual((answer["viewCount"], answer["secondsWatched"]), ("5", "120"))
        self.assertEqual(self.views(video), "5")
        history = lambda token: self.server.call("GET", f"{API}/playlistItems?part=contentDetails&playlistId=HL", token=token)
        self.assertEqual(history("bob-token")["pageInfo"]["totalResults"], 4)
        self.assertEqual(history(TOKEN)["pageInfo"]["totalResults"], 0)
        for wrong, status in (({"video": "nothing"}, 404), ({"video": video, "account": "nobody"}, 404), ({"video": video, "count": -1}, 400)):
            self.assertEqual(self.server.control("POST", "/_ops/plays", wrong)[0], status, wrong)
        self.assertEqual(self.views(video), "5")

    def test_a_page_of_another_origin_controls_nothing(self):
        for path in ("/_ops/reset", "/_ops/plays", "/_ops/clock", "/_ops/faults"):
            status, _, _ = raw("POST", self.server.url + path, b"{}", {"Origin": "http://evil.example"})
            self.assertEqual(status, 403, path)
