"""google-api-python-client through comments and their threads: written, paged, searched, moderated and deleted."""

import unittest

from client import ALICE, BOB, anyone, bearer, pages, refused, upload


class Comments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alice, cls.bob, cls.anyone = bearer("alice-token"), bearer("bob-token"), anyone()

    def setUp(self):
        self.video = upload(self.alice, "Talked about")

    def open(self, api, text, **about):
        about = about or {"videoId": self.video}
        body = {"snippet": {**about, "topLevelComment": {"snippet": {"textOriginal": text}}}}
        return api.commentThreads().insert(part="id,snippet", body=body).execute()["id"]

    def reply(self, api, thread, text):
        body = {"snippet": {"parentId": thread, "textOriginal": text}}
        return api.comments().insert(part="id,snippet", body=body).execute()["id"]

    def moderate(self, api, ids, status, **more):
        return api.comments().setModerationStatus(id=ids, moderationStatus=status, **more)

    def count(self):
        (item,) = self.anyone.videos().list(part="statistics", id=self.video).execute()["items"]
        return int(item["statistics"]["commentCount"])

    def test_threads_and_replies_come_in_pages_to_the_end(self):
        threads = [self.open(self.bob, f"thread {n}") for n in range(7)]
        replies = [self.reply(self.alice, threads[0], f"reply {n}") for n in range(7)]
        found = pages(self.anyone.commentThreads(), part="id,snippet,replies", videoId=self.video, maxResults=3)
        self.assertEqual([item["id"] for item in found], threads[::-1])
        oldest = found[-1]
        self.assertEqual((oldest["snippet"]["totalReplyCount"], len(oldest["replies"]["comments"])), (7, 5))
        self.assertTrue(oldest["snippet"]["canReply"] and oldest["snippet"]["isPublic"])
        listed = pages(self.anyone.comments(), part="id,snippet", parentId=threads[0], maxResults=2)
        self.assertEqual({item["id"] for item in listed}, set(replies))
        self.assertTrue(all(item["id"].startswith(threads[0] + ".") for item in listed))
        self.assertEqual(self.count(), 14)

    def test_a_text_is_html_or_plain_and_its_original_is_its_authors(self):
        thread = self.open(self.bob, "a <b> & https://example.com\nnext")
        read = lambda api, **more: api.comments().list(part="snippet", id=thread, **more).execute()["items"][0]["snippet"]
        html = read(self.anyone)
        self.assertEqual(
            html["textDisplay"], 'a &lt;b&gt; &amp; <a href="https://example.com">https://example.com</a><br>next'
        )
        self.assertEqual(read(self.anyone, textFormat="plainText")["textDisplay"], "a <b> & https://example.com\nnext")
        self.assertNotIn("textOriginal", html)
        self.assertIn("textOriginal", read(self.bob))
        self.assertEqual((html["authorDisplayName"], html["authorChannelId"]), ("Bob", {"value": BOB}))
        changed = self.bob.comments().update(part="snippet", body={"id": thread, "snippet": {"textOriginal": "new"}}).execute()
        self.assertEqual(changed["snippet"]["textDisplay"], "new")
        self.assertGreaterEqual(changed["snippet"]["updatedAt"], changed["snippet"]["publishedAt"])

    def test_words_are_found_in_threads_and_in_their_replies(self):
        one, two = self.open(self.bob, "an otter swims"), self.open(self.bob, "a heron stands")
        self.reply(self.alice, two, "beside the otter and a beaver")
        self.open(self.bob, "nothing else")
        search = lambda words: {
            item["id"] for item in pages(self.anyone.commentThreads(), part="id", videoId=self.video, searchTerms=words, maxResults=1)
        }
        self.assertEqual(search("otter"), {one, two})
        self.assertEqual(search("Otter beaver"), {two})
        self.assertEqual(search("heron beaver"), set())

    def test_the_owner_moderates_up_to_fifty_comments_at_once_all_or_none(self):
        ids = [self.open(self.bob, f"number {n}") for n in range(3)]
        self.assertEqual(refused(self.moderate(self.bob, ids[0], "rejected"))[:2], (403, "forbidden"))
        self.assertEqual(refused(self.moderate(self.alice, [*ids, "none"], "rejected"))[:2], (404, "commentNotFound"))
        self.assertEqual(self.count(), 3)
        self.assertEqual(refused(self.moderate(self.alice, ids[0], "likelySpam"))[:2], (400, "operationNotSupported"))
        self.assertEqual(refused(self.moderate(self.alice, ids, "published", banAuthor=True))[:2], (400, "banWithoutReject"))
        self.assertFalse(self.moderate(self.alice, ids, "heldForReview").execute())
        self.assertEqual(self.count(), 0)
        held = pages(
            self.alice.commentThreads(), part="id,snippet", videoId=self.video, moderationStatus="heldForReview", maxResults=2
        )
        self.assertEqual({item["id"] for item in held}, set(ids))
        states = {item["snippet"]["topLevelComment"]["snippet"]["moderationStatus"] for item in held}
        self.assertEqual(states, {"heldForReview"})
        listing = self.bob.commentThreads().list(part="id", videoId=self.video, moderationStatus="heldForReview")
        self.assertEqual(refused(listing)[:2], (403, "forbidden"))
        self.moderate(self.alice, ids, "published").execute()
        self.assertEqual(self.count(), 3)

    def test_a_banned_author_is_rejected_from_then_on_on_that_channel_alone(self):
        carol = bearer("carol-token")
        video = upload(self.bob, "Bob's")
        first = self.open(carol, "first", videoId=video)
        self.moderate(self.bob, first, "rejected", banAuthor=True).execute()
        self.open(carol, "second", videoId=video)
        self.open(carol, "third", channelId=BOB)
        for query in ({"videoId": video}, {"channelId": BOB}):
            self.assertEqual(pages(self.anyone.commentThreads(), part="id", **query), [])
        rejected = pages(self.bob.commentThreads(), part="id", allThreadsRelatedToChannelId=BOB, moderationStatus="rejected")
        self.assertEqual(len(rejected), 3)
        elsewhere = self.open(carol, "elsewhere")
        self.assertEqual([item["id"] for item in pages(self.anyone.commentThreads(), part="id", videoId=self.video)], [elsewhere])

    def test_a_channel_has_threads_of_its_own_beside_those_of_its_videos(self):
        own, about = self.open(self.bob, "to the channel", channelId=ALICE), self.open(self.bob, "to the video")
        threads = lambda **query: [item["id"] for item in pages(self.anyone.commentThreads(), part="id", **query)]
        self.assertIn(own, threads(channelId=ALICE))
        self.assertNotIn(about, threads(channelId=ALICE))
        self.assertLessEqual({own, about}, set(threads(allThreadsRelatedToChannelId=ALICE, maxResults=100)))
        self.assertEqual(threads(id=f"{own},{about}"), [own, about])

    def test_a_thread_goes_with_its_replies(self):
        thread = self.open(self.bob, "to go")
        reply = self.reply(self.alice, thread, "along")
        self.assertEqual(refused(self.alice.comments().insert(part="snippet", body={"snippet": {"parentId": reply, "textOriginal": "x"}}))[:2], (400, "operationNotSupported"))
        self.bob.comments().delete(id=thread).execute()
        self.assertEqual(self.anyone.comments().list(part="id", id=f"{thread},{reply}").execute()["items"], [])
        self.assertEqual(self.count(), 0)
        self.assertEqual(refused(self.bob.comments().delete(id=thread))[:2], (404, "commentNotFound"))

    def test_what_is_wrong_is_refused_with_its_reason_and_place(self):
        threads, comments = self.bob.commentThreads(), self.bob.comments()
        thread = self.open(self.bob, "here")
        text = lambda **snippet: {"snippet": {"textOriginal": "t", **snippet}}
        top = lambda **snippet: {"snippet": {"topLevelComment": text(), **snippet}}
        for request, expected in [
            (threads.insert(part="snippet", body=top()), (400, "channelOrVideoIdMissing", "body.snippet.channelId")),
            (threads.insert(part="snippet", body=top(videoId=thread)), (404, "videoNotFound", "body.snippet.videoId")),
            (threads.insert(part="snippet", body=top(channelId=self.video)), (404, "channelNotFound", "body.snippet.channelId")),
            (threads.insert(part="snippet", body={"snippet": {"videoId": self.video}}), (400, "commentTextRequired", "body.snippet.topLevelComment.snippet.textOriginal")),
            (comments.insert(part="snippet", body=text()), (400, "parentIdMissing", "body.snippet.parentId")),
            (comments.insert(part="snippet", body=text(parentId=self.video)), (404, "parentCommentNotFound", "body.snippet.parentId")),
            (comments.insert(part="snippet", body=text(parentId=thread, textOriginal="x" * 10_001)), (400, "commentTextTooLong", "body.snippet.textOriginal")),
            (comments.update(part="snippet", body={"id": self.video, **text()}), (404, "commentNotFound", "body.id")),
            (comments.list(part="id", parentId=self.video), (404, "commentNotFound", "parentId")),
            (threads.list(part="id", videoId=ALICE), (404, "videoNotFound", "videoId")),
            (threads.list(part="id", channelId=thread), (404, "channelNotFound", "channelId")),
            (threads.list(part="id", id=self.video), (404, "commentThreadNotFound", "id")),
            (threads.list(part="id", videoId=self.video, pageToken="CAUQAA"), (400, "invalidPageToken", "pageToken")),
            (threads.list(part="id", videoId=self.video, id=thread), (400, "incompatibleParameters", None)),
        ]:
            told = refused(request)
            self.assertEqual(told[:2], expected[:2])
            if expected[2]:
                self.assertEqual(told[2], expected[2])


if __name__ == "__main__":
    unittest.main()
