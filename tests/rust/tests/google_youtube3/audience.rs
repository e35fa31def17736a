//! Words and deeds of people: comments, captions, sections, subscriptions, activities, members, reports of abuse.

use std::io::Cursor;

use google_youtube3::api::{
    Caption, CaptionSnippet, ChannelSection, ChannelSectionContentDetails, ChannelSectionSnippet,
    Comment, CommentSnippet, CommentThread, CommentThreadSnippet, ResourceId, Subscription,
    SubscriptionSnippet, VideoAbuseReport,
};

use super::{alice, bob, parts, refusal, uploaded};

const ALICE: &str = "UCaliceAliceAliceAlice0A";
const BOB: &str = "UCbobBobBobBobBobBobBo0A";

fn comment(id: Option<&str>, parent: Option<&str>, text: &str) -> Comment {
    let snippet = CommentSnippet {
        parent_id: parent.map(str::to_owned),
        text_original: Some(text.into()),
        ..CommentSnippet::default()
    };
    Comment { id: id.map(str::to_owned), snippet: Some(snippet), ..Comment::default() }
}

async fn opened(video: &str, text: &str) -> String {
    let snippet = CommentThreadSnippet {
        video_id: Some(video.into()),
        top_level_comment: Some(comment(None, None, text)),
        ..CommentThreadSnippet::default()
    };
    let thread = CommentThread { snippet: Some(snippet), ..CommentThread::default() };
    bob().comment_threads().insert(thread).doit().await.unwrap().1.id.unwrap()
}

/// Ids of the threads about a video, all pages of them.
async fn threads(video: &str) -> Vec<String> {
    let (mut ids, mut page) = (Vec::new(), None::<String>);
    loop {
        let hub = alice();
        let mut call = hub.comment_threads().list(&parts(&["id", "snippet"]));
        call = call.video_id(video).max_results(2);
        if let Some(page) = &page {
            call = call.page_token(page);
        }
        let (_, found) = call.doit().await.unwrap();
        ids.extend(found.items.unwrap().into_iter().filter_map(|thread| thread.id));
        page = found.next_page_token;
        if page.is_none() {
            assert_eq!(found.page_info.unwrap().total_results, Some(ids.len() as i32));
            return ids;
        }
    }
}

#[tokio::test]
async fn comments_are_written_paged_moderated_and_deleted() {
    let video = uploaded("Talked about").await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(opened(&video, &format!("thread {number}")).await);
    }
    made.reverse();
    assert_eq!(threads(&video).await, made);
    let (_, reply) =
        alice().comments().insert(comment(None, Some(&made[0]), "reply")).doit().await.unwrap();
    let reply = reply.id.unwrap();
    let hub = bob();
    let (_, replies) =
        hub.comments().list(&parts(&["id"])).parent_id(&made[0]).doit().await.unwrap();
    assert_eq!(replies.items.unwrap()[0].id.as_deref(), Some(reply.as_str()));
    let (_, changed) =
        alice().comments().update(comment(Some(&reply), None, "a & b")).doit().await.unwrap();
    assert_eq!(changed.snippet.unwrap().text_display.as_deref(), Some("a &amp; b"));
    let wrong = bob().comments().update(comment(Some(&reply), None, "x")).doit().await;
    assert_eq!(refusal(wrong), (403, "forbidden".into()));
    let ids = vec![made[1].clone(), made[2].clone()];
    let wrong = bob().comments().set_moderation_status(&ids, "rejected").doit().await;
    assert_eq!(refusal(wrong), (403, "forbidden".into()));
    alice().comments().set_moderation_status(&ids, "rejected").doit().await.unwrap();
    bob().comments().delete(&made[0]).doit().await.unwrap();
    assert_eq!(threads(&video).await, made[3..]);
    assert_eq!(refusal(alice().comments().mark_as_spam(&ids).doit().await).0, 410);
}

#[tokio::test]
async fn a_track_goes_up_is_changed_downloaded_and_deleted() {
    let video = uploaded("Spoken").await;
    let mime = || "application/octet-stream".parse().unwrap();
    let track = |id: Option<String>, draft: bool| {
        let snippet = CaptionSnippet {
            video_id: Some(video.clone()),
            language: Some("en".into()),
            name: Some("rust".into()),
            is_draft: Some(draft),
            ..CaptionSnippet::default()
        };
        Caption { id, snippet: Some(snippet), ..Caption::default() }
    };
    let text = || Cursor::new(b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n".to_vec());
    let hub = alice();
    let call = hub.captions().insert(track(None, true));
    let (_, made) = call.upload(text(), mime()).await.unwrap();
    assert_eq!(made.snippet.unwrap().status.as_deref(), Some("serving"));
    let id = made.id.unwrap();
    let call = hub.captions().update(track(Some(id.clone()), false));
    let (_, changed) = call.upload(text(), mime()).await.unwrap();
    assert_eq!(changed.snippet.unwrap().is_draft, Some(false));
    let listing = bob();
    let (_, tracks) = listing.captions().list(&parts(&["id"]), &video).doit().await.unwrap();
    assert_eq!(tracks.items.unwrap()[0].id.as_deref(), Some(id.as_str()));
    for format in ["srt", "vtt", "sbv", "ttml", "scc"] {
        let answer = hub.captions().download(&id).tfmt(format).doit().await.unwrap();
        assert_eq!(answer.status(), 200, "{format}");
    }
    assert_eq!(hub.captions().download(&id).tlang("en").doit().await.unwrap().status(), 200);
    let wrong = hub.captions().download(&id).tlang("de").doit().await;
    assert_eq!(refusal(wrong), (400, "couldNotConvert".into()));
    hub.captions().delete(&id).doit().await.unwrap();
    assert_eq!(refusal(hub.captions().delete(&id).doit().await).0, 404);
}

#[tokio::test]
async fn sections_are_arranged_and_subscriptions_made_and_ended() {
    let section = |id: Option<String>, position: u32| ChannelSection {
        id,
        snippet: Some(ChannelSectionSnippet {
            type_: Some("multipleChannels".into()),
            title: Some("Friends".into()),
            position: Some(position),
            ..ChannelSectionSnippet::default()
        }),
        content_details: Some(ChannelSectionContentDetails {
            channels: Some(vec![ALICE.into()]),
            playlists: None,
        }),
        ..ChannelSection::default()
    };
    let hub = bob();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let (_, made) = hub.channel_sections().insert(section(None, 0)).doit().await.unwrap();
        ids.insert(0, made.id.unwrap());
    }
    let order = async || {
        let (_, found) =
            hub.channel_sections().list(&parts(&["id"])).mine(true).doit().await.unwrap();
        found.items.unwrap().into_iter().filter_map(|item| item.id).collect::<Vec<_>>()
    };
    assert_eq!(order().await, ids);
    hub.channel_sections().update(section(Some(ids[0].clone()), 1)).doit().await.unwrap();
    ids.reverse();
    assert_eq!(order().await, ids);
    for id in &ids {
        hub.channel_sections().delete(id).doit().await.unwrap();
    }
    assert!(order().await.is_empty());

    let resource = ResourceId {
        kind: Some("youtube#channel".into()),
        channel_id: Some(ALICE.into()),
        ..ResourceId::default()
    };
    let snippet =
        SubscriptionSnippet { resource_id: Some(resource), ..SubscriptionSnippet::default() };
    let wanted = Subscription { snippet: Some(snippet), ..Subscription::default() };
    let (_, made) = hub.subscriptions().insert(wanted.clone()).doit().await.unwrap();
    let again = hub.subscriptions().insert(wanted).doit().await;
    assert_eq!(refusal(again), (400, "subscriptionDuplicate".into()));
    let (_, own) = hub.subscriptions().list(&parts(&["snippet"])).mine(true).doit().await.unwrap();
    assert_eq!(own.items.unwrap()[0].snippet.as_ref().unwrap().title.as_deref(), Some("Alice"));
    let owner = alice();
    let call = owner.subscriptions().list(&parts(&["subscriberSnippet"])).my_subscribers(true);
    let (_, subscribers) = call.doit().await.unwrap();
    let subscriber = subscribers.items.unwrap().remove(0).subscriber_snippet.unwrap();
    assert_eq!(subscriber.channel_id.as_deref(), Some(BOB));
    hub.subscriptions().delete(&made.id.unwrap()).doit().await.unwrap();
}

#[tokio::test]
async fn activities_members_levels_and_reports_answer() {
    let video = uploaded("Reported").await;
    let hub = alice();
    let call = hub.activities().list(&parts(&["snippet", "contentDetails"])).mine(true);
    let (_, activities) = call.max_results(50).doit().await.unwrap();
    let uploads = activities.items.unwrap().into_iter().filter_map(|item| item.content_details);
    let mut uploads = uploads.filter_map(|details| details.upload?.video_id);
    assert!(uploads.any(|id| id == video));

    let (_, levels) = hub.memberships_levels().list(&parts(&["snippet"])).doit().await.unwrap();
    assert_eq!(levels.items.unwrap().len(), 2);
    let (_, members) =
        hub.members().list(&parts(&["snippet"])).max_results(1).doit().await.unwrap();
    let member = members.items.unwrap().remove(0).snippet.unwrap().member_details.unwrap();
    assert_eq!(member.display_name.as_deref(), Some("Carol"));
    assert_eq!(refusal(bob().members().list(&parts(&["snippet"])).doit().await).0, 403);

    let list = parts(&["snippet"]);
    let (_, reasons) = hub.video_abuse_report_reasons().list(&list).doit().await.unwrap();
    let reason = reasons.items.unwrap().remove(0).id;
    let report = VideoAbuseReport {
        video_id: Some(video),
        reason_id: reason,
        ..VideoAbuseReport::default()
    };
    bob().videos().report_abuse(report.clone()).doit().await.unwrap();
    let wrong = VideoAbuseReport { reason_id: Some("none".into()), ..report };
    let wrong = bob().videos().report_abuse(wrong).doit().await;
    assert_eq!(refusal(wrong), (400, "invalidAbuseReason".into()));
}
