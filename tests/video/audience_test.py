"""google-api-python-client through what a channel is to others: sections, subscriptions, activities, members, levels, reports of abuse."""

import unittest

from client import ALICE, BOB, CAROL, anyone, bearer, pages, refused, upload


class Audience(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alice, cls.bob, cls.carol = bearer("alice-token"), bearer("bob-token"), bearer("carol-token")
        cls.anyone = anyone()

    def playlist(self, api, title, **status):
        body = {"snippet": {"title": title}, "status": {"privacyStatus": "public", **status}}
        return api.playlists().insert(part="snippet,status", body=body).execute()["id"]

    def section(self, kind, playlists=(), channels=(), **snippet):
        body = {"snippet": {"type": kind, **snippet}}
        if playlists or channels:
            body["contentDetails"] = {"playlists": list(playlists), "channels": list(channels)}
        return self.alice.channelSections().insert(part="snippet,contentDetails", body=body)

    def sections(self, api, **filter):
        return api.channelSections().list(part="snippet,contentDetails", **filter).execute()["items"]

    def test_sections_are_arranged_shown_with_the_browse_view_and_at_most_ten(self):
        lists = [self.playlist(self.alice, f"List {n}") for n in range(2)]
        one = self.section("singlePlaylist", [lists[0]]).execute()
        self.assertEqual(one["snippet"]["position"], 0)
        many = self.section("multiplePlaylists", lists, title="Lists", position=0).execute()
        friends = self.section("multipleChannels", channels=[BOB], title="Friends").execute()
        order = lambda: [item["id"] for item in self.sections(self.alice, mine=True)]
        self.assertEqual(order(), [many["id"], one["id"], friends["id"]])
        moved = {"id": friends["id"], "snippet": {"type": "multipleChannels", "title": "Friends", "position": 0}}
        self.alice.channelSections().update(part="snippet", body=moved).execute()
        self.assertEqual(order(), [friends["id"], many["id"], one["id"]])
        self.assertEqual(self.sections(self.anyone, channelId=ALICE), [])
        branding = {"id": ALICE, "brandingSettings": {"channel": {"showBrowseView": True}}}
        self.alice.channels().update(part="brandingSettings", body=branding).execute()
        self.assertEqual(len(self.sections(self.anyone, channelId=ALICE)), 3)
        added = [item for item in pages(self.anyone.activities(), part="id,snippet,contentDetails", channelId=ALICE)
                 if item["snippet"]["type"] == "channelItem"]
        self.assertEqual(len(added), 3)
        self.alice.playlists().delete(id=lists[0]).execute()
        (left,) = [item for item in self.sections(self.anyone, channelId=ALICE) if item["id"] == many["id"]]
        self.assertEqual(left["contentDetails"]["playlists"], [lists[1]])
        for request, reason in [
            (self.section("multiplePlaylists", [lists[1]]), "titleRequired"),
            (self.section("singlePlaylist", lists), "onePlaylistNeeded"),
            (self.section("multipleChannels", channels=[ALICE], title="t"), "ownChannelInChannels"),
            (self.section("multipleChannels", title="t"), "contentDetailsNeeded"),
            (self.section("popularUploads", channels=[BOB]), "channelsNotExpected"),
            (self.section("popularUploads", position=99), "inValidPosition"),
        ]:
            self.assertEqual(refused(request)[:2], (400, reason))
        rest = [self.section("popularUploads").execute()["id"] for _ in range(7)]
        self.assertEqual(refused(self.section("popularUploads"))[:2], (400, "maxChannelSectionExceeded"))
        for section in [one["id"], many["id"], friends["id"], *rest]:
            self.alice.channelSections().delete(id=section).execute()
        self.assertEqual(self.sections(self.alice, mine=True), [])

    def test_subscriptions_are_made_listed_from_both_sides_and_ended(self):
        subscribe = lambda api, channel: api.subscriptions().insert(
            part="snippet,contentDetails,subscriberSnippet",
            body={"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": channel}}},
        )
        made = subscribe(self.bob, ALICE).execute()
        self.assertEqual((made["snippet"]["title"], made["subscriberSnippet"]["title"]), ("Alice", "Bob"))
        hidden = subscribe(self.carol, ALICE).execute()
        for request, expected in [
            (subscribe(self.bob, ALICE), (400, "subscriptionDuplicate")),
            (subscribe(self.bob, BOB), (400, "subscriptionForbidden")),
            (subscribe(self.bob, "none"), (404, "publisherNotFound")),
            (self.bob.subscriptions().insert(part="snippet", body={"snippet": {}}), (400, "publisherRequired")),
            (self.anyone.subscriptions().list(part="id", channelId=CAROL), (403, "subscriptionForbidden")),
            (self.alice.subscriptions().delete(id=made["id"]), (403, "subscriptionForbidden")),
        ]:
            self.assertEqual(refused(request)[:2], expected)
        subscribe(self.bob, CAROL).execute()
        for order in ("relevance", "alphabetical", "unread"):
            found = pages(self.bob.subscriptions(), part="id,snippet", mine=True, order=order, maxResults=1)
            self.assertEqual({item["snippet"]["title"] for item in found}, {"Alice", "Carol"})
        (chosen,) = self.bob.subscriptions().list(part="id", mine=True, forChannelId=ALICE).execute()["items"]
        self.assertEqual(chosen["id"], made["id"])
        for filter in ({"mySubscribers": True}, {"myRecentSubscribers": True}):
            found = pages(self.alice.subscriptions(), part="id,subscriberSnippet", maxResults=1, **filter)
            self.assertEqual([item["subscriberSnippet"]["title"] for item in found], ["Bob"])
        (channel,) = self.anyone.channels().list(part="statistics", id=ALICE).execute()["items"]
        self.assertEqual(channel["statistics"]["subscriberCount"], "2")
        self.assertEqual([item["id"] for item in pages(self.alice.channels(), part="id", mySubscribers=True)], [BOB])
        upload(self.alice, "New")
        (item,) = self.bob.subscriptions().list(part="contentDetails", id=made["id"]).execute()["items"]
        self.assertEqual(item["contentDetails"]["newItemCount"], 1)
        home = pages(self.bob.activities(), part="id,snippet", home=True, maxResults=2)
        self.assertEqual({item["snippet"]["type"] for item in home}, {"upload"})
        self.carol.subscriptions().delete(id=hidden["id"]).execute()
        for item in pages(self.bob.subscriptions(), part="id", mine=True):
            self.bob.subscriptions().delete(id=item["id"]).execute()
        self.assertEqual(refused(self.bob.subscriptions().delete(id=made["id"]))[:2], (404, "subscriptionNotFound"))

    def test_activities_show_what_was_done_and_not_what_was_undone(self):
        video, playlist = upload(self.carol, "Done"), self.playlist(self.carol, "Of Carol")
        item = {"snippet": {"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": video}}}
        self.carol.playlistItems().insert(part="snippet", body=item).execute()
        item["snippet"]["playlistId"] = "FL"
        favorite = self.carol.playlistItems().insert(part="snippet", body=item).execute()["id"]
        self.carol.videos().rate(id=video, rating="like").execute()
        comment = {"snippet": {"videoId": video, "topLevelComment": {"snippet": {"textOriginal": "t"}}}}
        thread = self.carol.commentThreads().insert(part="snippet", body=comment).execute()["id"]
        kinds = lambda api, **query: sorted(
            item["snippet"]["type"] for item in pages(api.activities(), part="id,snippet,contentDetails", maxResults=2, **query)
        )
        self.assertEqual(kinds(self.carol, mine=True), ["comment", "favorite", "like", "playlistItem", "upload"])
        self.assertEqual(kinds(self.anyone, channelId=CAROL), ["comment", "favorite", "playlistItem", "upload"])
        self.assertEqual(kinds(self.anyone, channelId=CAROL, publishedBefore="2020-01-01T00:00:00Z"), [])
        groups = {item["snippet"]["groupId"] for item in pages(self.carol.activities(), part="id,snippet", mine=True)}
        self.assertEqual(len(groups), 1)
        self.carol.comments().delete(id=thread).execute()
        self.carol.playlistItems().delete(id=favorite).execute()
        self.carol.videos().rate(id=video, rating="none").execute()
        self.assertEqual(kinds(self.carol, mine=True), ["playlistItem", "upload"])
        self.carol.videos().delete(id=video).execute()
        self.assertEqual(kinds(self.carol, mine=True), [])
        first = pages(self.alice.activities(), part="id", mine=True, maxResults=1)
        if len(first) > 1:
            token = self.alice.activities().list(part="id", mine=True, maxResults=1).execute()["nextPageToken"]
            other = self.alice.activities().list(part="id", channelId=ALICE, maxResults=1, pageToken=token)
            self.assertEqual(refused(other)[:2], (400, "invalidPageToken"))
        self.assertEqual(refused(self.alice.activities().insert(part="snippet", body={"snippet": {}}))[:2], (410, "deleted"))

    def test_members_are_listed_by_level_and_updates_begin_with_a_token(self):
        levels = self.alice.membershipsLevels().list(part="id,snippet").execute()["items"]
        names = [(level["id"], level["snippet"]["levelDetails"]["displayName"]) for level in levels]
        self.assertEqual(names, [("tin", "Tin"), ("gold", "Gold")])
        members, found, request = self.alice.members(), [], self.alice.members().list(part="snippet", maxResults=1)
        while request is not None:
            page = request.execute()
            found += [item["snippet"]["memberDetails"]["displayName"] for item in page["items"]]
            request = members.list_next(request, page)
        self.assertEqual(found, ["Carol", "Bob"])
        of = lambda **query: [item["snippet"]["memberDetails"]["channelId"] for item in members.list(part="snippet", **query).execute()["items"]]
        self.assertEqual(of(hasAccessToLevel="gold"), [CAROL])
        self.assertEqual(of(filterByMemberChannelId=f"{BOB},{ALICE}"), [BOB])
        updates = members.list(part="snippet", mode="updates").execute()
        self.assertEqual(updates["items"], [])
        again = members.list(part="snippet", mode="updates", pageToken=updates["nextPageToken"]).execute()
        self.assertEqual((again["items"], "nextPageToken" in again), ([], True))
        for request, reason in [
            (members.list(part="snippet", pageToken=updates["nextPageToken"]), "invalidPageToken"),
            (members.list(part="snippet", mode="listMembersModeUnknown"), "invalidMode"),
            (members.list(part="snippet", hasAccessToLevel="none"), "invalidHasAccessToLevel"),
            (members.list(part="snippet", filterByMemberChannelId=",".join(f"c{n}" for n in range(101))), "invalidFilterByMemberChannelId"),
        ]:
            self.assertEqual(refused(request)[:2], (400, reason))
        self.assertEqual(refused(self.bob.members().list(part="snippet"))[:2], (403, "insufficientPermissions"))
        self.assertEqual(refused(self.anyone.membershipsLevels().list(part="id"))[0], 401)

    def test_a_report_has_a_reason_of_the_list(self):
        reasons = self.bob.videoAbuseReportReasons().list(part="id,snippet", hl="de").execute()["items"]
        reason = next(reason for reason in reasons if reason["snippet"].get("secondaryReasons"))
        second = reason["snippet"]["secondaryReasons"][0]["id"]
        report = {"videoId": upload(self.alice, "Reported"), "reasonId": reason["id"], "secondaryReasonId": second,
                  "comments": "look", "language": "en"}
        self.assertFalse(self.bob.videos().reportAbuse(body=report).execute())
        for wrong, expected in [
            ({"reasonId": "none"}, (400, "invalidAbuseReason")),
            ({"secondaryReasonId": "none"}, (400, "invalidAbuseReason")),
            ({"videoId": "none"}, (404, "videoNotFound")),
        ]:
            self.assertEqual(refused(self.bob.videos().reportAbuse(body={**report, **wrong}))[:2], expected)
        self.assertEqual(refused(self.anyone.videos().reportAbuse(body=report))[0], 401)


if __name__ == "__main__":
    unittest.main()
