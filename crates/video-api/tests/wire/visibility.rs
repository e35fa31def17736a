//! The audience of each state of a video and of a playlist: each viewer, and each place that would show it.

use serde_json::{Value, json};

use crate::service::{Service, ask};

const STATES: [&str; 4] = ["public", "unlisted", "private", "scheduled"];
/// The owner, somebody else, and nobody in particular: a key alone.
const VIEWERS: [&str; 3] = ["ALICE", "BOB", ""];

/// A video and a playlist of each state, each video with a track and a thread, and all videos in one public playlist.
async fn service() -> Service {
    let scopes = json!(["youtube", "youtube.force-ssl"]);
    let account = |id: &str, token: &str, channel: &str| {
        json!({"id": id, "tokens": [{"token": token, "scopes": scopes}],
            "channel": {"id": channel, "title": id, "showBrowseView": true}})
    };
    let status = |state: &str| match state {
        "scheduled" => json!({"privacyStatus": "private", "publishAt": "2030-01-01T00:00:00Z"}),
        privacy => json!({"privacyStatus": privacy}),
    };
    let all = |make: &dyn Fn(&str) -> Value| STATES.map(make);
    let mut playlists = all(&|state| {
        let privacy = if state == "scheduled" { "private" } else { state };
        json!({"id": format!("PL{state}"), "owner": "alice", "snippet": {"title": format!("L{state}")},
            "status": {"privacyStatus": privacy}, "items": ["public"]})
    })
    .to_vec();
    playlists.push(
        json!({"id": "PLall", "owner": "alice", "snippet": {"title": "all"}, "items": STATES}),
    );
    let seed = json!({
        "projects": [{"id": "demo", "apiKeys": ["KEY"], "quota": "off"}],
        "accounts": [account("alice", "ALICE", "UCx"), account("bob", "BOB", "UCbob")],
        "videos": all(&|state| json!({"id": state, "owner": "alice", "status": status(state),
            "snippet": {"title": format!("V{state}"), "categoryId": "22"}})),
        "playlists": playlists,
        "captions": all(&|state| json!({"id": format!("cap{state}"), "video": state, "language": "en", "name": "",
            "text": "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"})),
        // Replies of two threads may have one name: it is their own below that of the thread.
        "comments": all(&|state| json!({"id": format!("com{state}"), "author": "bob", "video": state, "textOriginal": "hi",
            "replies": [{"id": "r", "author": "alice", "textOriginal": "hello"}]})),
    });
    Service::seeded(&seed.to_string()).await
}

async fn get(service: &Service, who: &str, target: &str) -> (u16, Value) {
    let key = if who.is_empty() { "&key=KEY" } else { "" };
    ask(service, who, "GET", &format!("{target}{key}"), Value::Null).await
}

/// Status, and the number of items.
async fn count(service: &Service, who: &str, target: &str) -> (u16, usize) {
    let (status, found) = get(service, who, target).await;
    (status, found["items"].as_array().map_or(0, Vec::len))
}

/// The titles of a search of the owner's things, or of activities that are uploads.
async fn listed(service: &Service, who: &str, target: &str, id: &str) -> bool {
    let (status, found) = get(service, who, target).await;
    assert_eq!(status, 200, "{target}: {found}");
    found["items"].to_string().contains(&format!("\"{id}\""))
}

#[tokio::test]
async fn a_video_is_shown_by_its_state_to_each_viewer_in_every_place() {
    let service = service().await;
    for (state, who) in STATES.into_iter().flat_map(|state| VIEWERS.map(|who| (state, who))) {
        let is_shared = ["public", "unlisted"].contains(&state);
        let sees = is_shared || who == "ALICE";
        let what = format!("{state} for {who:?}");
        let one = |found: bool| (if found { 200 } else { 404 }, usize::from(found));
        for (target, expected) in [
            (format!("/videos?part=id&id={state}"), (200, usize::from(sees))),
            (format!("/comments?part=id&id=com{state},com{state}.r"), (200, 2 * usize::from(sees))),
            (format!("/comments?part=id&parentId=com{state}"), one(sees)),
            (format!("/commentThreads?part=id&videoId={state}"), one(sees)),
            (format!("/commentThreads?part=id&id=com{state}"), one(sees)),
        ] {
            assert_eq!(count(&service, who, &target).await, expected, "{what}: {target}");
        }
        let (_, items) = get(
            &service,
            who,
            "/playlistItems?part=snippet,contentDetails&playlistId=PLall&maxResults=50",
        )
        .await;
        let items = items["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["contentDetails"]["videoId"] == state).unwrap();
        let title = if sees { format!("V{state}") } else { "Private video".to_owned() };
        assert_eq!(item["snippet"]["title"], title, "{what}");
        for (target, shown) in [
            ("/search?part=id&channelId=UCx&maxResults=50", state == "public"),
            ("/activities?part=contentDetails&channelId=UCx&maxResults=50", state == "public"),
            ("/videos?part=id&chart=mostPopular&maxResults=50", state == "public"),
            (
                "/playlistItems?part=contentDetails&playlistId=UUx&maxResults=50",
                state == "public" || who == "ALICE",
            ),
        ] {
            assert_eq!(listed(&service, who, target, state).await, shown, "{what}: {target}");
        }
        let threads = "/commentThreads?part=id&allThreadsRelatedToChannelId=UCx&maxResults=50";
        let (_, threads) = get(&service, who, threads).await;
        let shown = state == "public" || who == "ALICE";
        let ids = threads["items"].as_array().unwrap();
        assert_eq!(ids.iter().any(|item| item["id"] == format!("com{state}")), shown, "{what}");
        assert_eq!(threads["pageInfo"]["totalResults"], ids.len(), "{what}");
        if who.is_empty() {
            continue;
        }
        let track = format!("/captions?part=id&videoId={state}");
        assert_eq!(count(&service, who, &track).await, one(sees), "{what}: {track}");
        let download = get(&service, who, &format!("/captions/cap{state}?tfmt=srt")).await.0;
        let expected = if who == "ALICE" {
            200
        } else if sees {
            403
        } else {
            404
        };
        assert_eq!(download, expected, "{what}: the track itself");
        let ratings = format!("/videos/getRating?id={state}");
        assert_eq!(count(&service, who, &ratings).await, (200, usize::from(sees)), "{what}");
        let text = json!({"snippet": {"textOriginal": "new"}});
        let resource = json!({"kind": "youtube#video", "videoId": state});
        let done = |status: u16| if sees { status } else { 404 };
        for (target, body, expected) in [
            (format!("/videos/rate?id={state}&rating=like"), Value::Null, done(204)),
            ("/videos/reportAbuse".into(), json!({"videoId": state, "reasonId": "S"}), done(204)),
            (
                "/commentThreads?part=snippet".into(),
                json!({"snippet": {"videoId": state, "topLevelComment": text}}),
                done(200),
            ),
            (
                "/playlistItems?part=snippet".into(),
                json!({"snippet": {"playlistId": "WL", "resourceId": resource}}),
                // As the real service has it: a private video is refused by another reason than one that is not there.
                if sees { 200 } else { 400 },
            ),
        ] {
            let (status, told) = ask(&service, who, "POST", &target, body).await;
            assert_eq!(status, expected, "{what}: {target} {told}");
        }
        // What was written is taken back, so that the next viewer finds what this one found.
        let (_, found) =
            get(&service, who, &format!("/commentThreads?part=id&videoId={state}")).await;
        for thread in found["items"].as_array().into_iter().flatten() {
            let id = thread["id"].as_str().unwrap();
            if !id.starts_with("com") {
                ask(&service, who, "DELETE", &format!("/comments?id={id}"), Value::Null).await;
            }
        }
    }
}

#[tokio::test]
async fn a_playlist_is_shown_by_its_state_to_each_viewer_in_every_place() {
    let service = service().await;
    let body = json!({"snippet": {"type": "multiplePlaylists", "title": "t"}, "contentDetails": {"playlists": ["PLpublic", "PLunlisted"]}});
    let (status, made) =
        ask(&service, "ALICE", "POST", "/channelSections?part=snippet,contentDetails", body).await;
    assert_eq!(status, 200, "{made}");
    for (state, who) in ["public", "unlisted", "private"]
        .into_iter()
        .flat_map(|state| VIEWERS.map(|who| (state, who)))
    {
        let (owns, id) = (who == "ALICE", format!("PL{state}"));
        let sees = owns || state != "private";
        let what = format!("{id} for {who:?}");
        let found = count(&service, who, &format!("/playlists?part=id&id={id}")).await;
        assert_eq!(found, (200, usize::from(sees)), "{what}");
        let found = count(&service, who, &format!("/playlistItems?part=id&playlistId={id}")).await;
        assert_eq!(found, if sees { (200, 1) } else { (403, 0) }, "{what}: its items");
        let (_, items) =
            get(&service, "ALICE", &format!("/playlistItems?part=id&playlistId={id}")).await;
        let item = items["items"][0]["id"].as_str().unwrap();
        let found = count(&service, who, &format!("/playlistItems?part=id&id={item}")).await;
        assert_eq!(found, (200, usize::from(sees)), "{what}: an item by its id");
        for (target, shown) in [
            ("/search?part=id&type=playlist&maxResults=50", state == "public"),
            ("/playlists?part=id&channelId=UCx&maxResults=50", state == "public"),
            ("/activities?part=contentDetails&channelId=UCx&maxResults=50", state == "public"),
            ("/channelSections?part=contentDetails&channelId=UCx", state != "private"),
        ] {
            assert_eq!(listed(&service, who, target, &id).await, shown, "{what}: {target}");
        }
    }
}

/// The address of the default picture, below the service's own.
fn address(snippet: &Value) -> &str {
    let url = snippet["thumbnails"]["default"]["url"].as_str().unwrap();
    url.split_once("7801").unwrap().1
}

#[tokio::test]
async fn a_picture_of_a_video_that_is_its_owners_alone_needs_the_address_that_the_owner_is_told() {
    let service = service().await;
    let told = async |state: &str| {
        let found = service.list(&format!("/videos?part=snippet&id={state}")).await;
        address(&found["items"][0]["snippet"]).to_owned()
    };
    let status = async |target: &str| service.ask("GET", target, "", "").await.status;
    for state in STATES {
        let is_shared = ["public", "unlisted"].contains(&state);
        let (plain, own) = (format!("/vi/{state}/default.jpg"), told(state).await);
        assert_eq!(own == plain, is_shared, "{state}: {own}");
        let refused = if is_shared { 200 } else { 404 };
        assert_eq!((status(&plain).await, status(&own).await), (refused, 200), "{state}");
        assert_eq!(status(&format!("{plain}?rs=00000000000000000000")).await, refused, "{state}");
    }
    let own = told("private").await;
    assert_ne!(own.split_once('?').unwrap().1, told("scheduled").await.split_once('?').unwrap().1);
    // What becomes public is at its plain address, and what was public is not any more.
    for (privacy, is_shared) in [("public", true), ("private", false), ("unlisted", true)] {
        let body = json!({"id": "private", "status": {"privacyStatus": privacy}});
        assert_eq!(ask(&service, "ALICE", "PUT", "/videos?part=status", body).await.0, 200);
        let expected =
            if is_shared { (200, "/vi/private/default.jpg") } else { (404, own.as_str()) };
        let plain = status("/vi/private/default.jpg").await;
        assert_eq!((plain, told("private").await.as_str()), expected, "{privacy}");
    }
}

#[tokio::test]
async fn a_playlist_shows_the_picture_of_its_first_video_to_who_may_see_that() {
    let service = service().await;
    let none = "/vi/none/default.jpg";
    for state in STATES {
        // The latest of all comes first.
        service.later(1);
        let body = json!({"snippet": {"title": format!("first {state}")}});
        let (_, made) = ask(&service, "ALICE", "POST", "/playlists?part=snippet", body).await;
        assert_eq!(address(&made["snippet"]), none);
        let id = made["id"].as_str().unwrap();
        let resource = json!({"kind": "youtube#video", "videoId": state});
        let body = json!({"snippet": {"playlistId": id, "resourceId": resource}});
        ask(&service, "ALICE", "POST", "/playlistItems?part=snippet", body).await;
        for deleted in [false, true] {
            if deleted {
                let target = format!("/videos?id={state}");
                assert_eq!(ask(&service, "ALICE", "DELETE", &target, Value::Null).await.0, 204);
            }
            for who in VIEWERS {
                let is_shared = ["public", "unlisted"].contains(&state);
                let sees = !deleted && (is_shared || who == "ALICE");
                for target in [
                    format!("/playlists?part=snippet&id={id}"),
                    "/playlists?part=snippet&channelId=UCx&maxResults=1".into(),
                    format!("/search?part=snippet&type=playlist&q=first%20{state}"),
                ] {
                    let (_, found) = get(&service, who, &target).await;
                    let shown = address(&found["items"][0]["snippet"]);
                    let what = format!("{state} {deleted} for {who:?}: {target} {shown}");
                    assert_eq!(shown == none, !sees, "{what}");
                    assert_eq!(service.ask("GET", shown, "", "").await.status, 200, "{what}");
                }
            }
        }
    }
}
