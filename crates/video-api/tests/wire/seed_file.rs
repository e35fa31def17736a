//! Resources of a seed file: in the shape in which the interface shows them, with nothing left out silently.

use serde_json::{Value, json};
use triptych_core::kv::{Memory, Tx};
use triptych_core::time::Timestamp;
use video_api::seed::Seed;

use crate::service::{SEED, Service};

/// The refusal of a seed file with one thing in a section.
fn refusal(section: &str, thing: &Value) -> Result<(), String> {
    let account = json!({"id": "a", "channel": {"id": "UCa", "title": "A"}});
    refusal_of(&json!({"accounts": [account], section: [thing]}))
}

/// The refusal of a seed file.
fn refusal_of(file: &Value) -> Result<(), String> {
    let seed = Seed::parse(&file.to_string()).map_err(|error| error.to_string())?;
    let store = Memory::new();
    let mut tx = Tx::new(&store);
    (0..seed.len())
        .try_for_each(|at| seed.apply(at, &mut tx, Timestamp::EPOCH, true).map(drop))
        .map_err(|error| error.to_string())
}

#[test]
fn a_member_that_a_resource_does_not_have_is_refused_with_its_path() {
    let resources = [
        ("videos", json!({"title": "t", "categoryId": "22"})),
        ("playlists", json!({"title": "t"})),
        ("channelSections", json!({"type": "recentUploads"})),
    ];
    for (section, snippet) in resources {
        let good = json!({"owner": "a", "snippet": snippet});
        assert_eq!(refusal(section, &good), Ok(()), "{section}");
        for (part, path) in
            [("snippet", "snippet.titel"), ("localizations", "localizations.de.titel")]
        {
            let mut bad = good.clone();
            let place = if part == "snippet" { &mut bad["snippet"] } else { &mut bad[part]["de"] };
            place["titel"] = "t".into();
            let told = refusal(section, &bad).unwrap_err();
            let expected = format!("{section}[0]: Invalid value at '{path}'");
            assert!(told.starts_with(&expected), "{told}");
        }
    }
    let video = json!({"owner": "a", "snippet": {"title": "t", "categoryId": "22"}, "recordingDetails": {"location": {"lat": 1}}});
    let told = refusal("videos", &video).unwrap_err();
    assert!(told.contains("'recordingDetails.location.lat'"), "{told}");
}

#[test]
fn what_would_be_left_out_or_hidden_is_refused_with_its_place() {
    let account = |title: &str| json!({"id": "z", "channel": {"id": "UCz", "title": title}});
    for title in ["", " ", "a\u{7}b", &"x".repeat(101)] {
        let told = refusal_of(&json!({"accounts": [account(title)]})).unwrap_err();
        assert!(told.starts_with("accounts[0]: Invalid value at 'channel.title'"), "{told}");
    }
    assert_eq!(refusal_of(&json!({"accounts": [account(&"\u{1F98A}".repeat(100))]})), Ok(()));
    let accounts = json!([account("Z"), {"id": "a", "channel": {"id": "UCa", "title": "A"}}]);
    let level = json!({"id": "tin", "channel": "a", "displayName": "Tin", "priceMicros": 1});
    let member = |name: &str| json!({"creator": "a", "member": name, "level": "tin"});
    let video = json!({"id": "v", "owner": "a", "snippet": {"title": "t", "categoryId": "22"}});
    let favorite = |account: &str| json!({"account": account, "video": "v"});
    let watched = json!({"subscriber": "a", "channel": "z", "lastWatchedAt": "yesterday"});
    let begun =
        json!({"creator": "a", "member": "z", "level": "tin", "since": "1970-01-01T00:00:01Z"});
    let rating =
        |account: &str, rating: &str| json!({"account": account, "video": "v", "rating": rating});
    let liked = |likes: Value, count: u64| json!({"author": "a", "channel": "z", "textOriginal": "t", "likes": likes, "likeCount": count});
    assert_eq!(
        refusal_of(&json!({"accounts": accounts, "comments": [liked(json!(["a", "z"]), 2)]})),
        Ok(())
    );
    let special = json!({"id": "UUa", "owner": "a", "snippet": {"title": "t"}});
    for (more, place) in [
        (
            json!({"membershipsLevels": [level], "members": [member("z"), member("UCz")]}),
            "members[1]: Invalid value at 'member'",
        ),
        (
            json!({"videos": [video], "favorites": [favorite("a"), favorite("UCa")]}),
            "favorites[1]: Invalid value at 'video'",
        ),
        (json!({"subscriptions": [watched]}), "subscriptions[0]: Invalid value at 'lastWatchedAt'"),
        (json!({"playlists": [special]}), "playlists[0]: Invalid value at 'id'"),
        (
            json!({"membershipsLevels": [level], "members": [begun]}),
            "members[0]: Invalid value at 'since'",
        ),
        (
            json!({"videos": [video], "ratings": [rating("a", "like"), rating("UCa", "dislike")]}),
            "ratings[1]: Invalid value at 'video'",
        ),
        (
            json!({"comments": [liked(json!(["a", "z"]), 1)]}),
            "comments[0]: Invalid value at 'likeCount'",
        ),
        (
            json!({"comments": [liked(json!([]), 1 << 32)]}),
            "comments[0]: Invalid value at 'likeCount'",
        ),
        (
            json!({"comments": [liked(json!(["a", "UCa"]), 2)]}),
            "comments[0]: Invalid value at 'likes[1]'",
        ),
    ] {
        let mut seed = more;
        seed["accounts"] = accounts.clone();
        let told = refusal_of(&seed).unwrap_err();
        assert!(told.starts_with(place), "{told}");
    }
}

#[test]
fn a_moment_that_cannot_be_read_is_refused_with_the_path_where_it_stands() {
    let bad = "yesterday";
    let account = |id: &str, token: Value, since: &str| {
        json!({"id": id, "tokens": [{"token": "T"}, token],
            "channel": {"id": format!("UC{id}"), "title": "Z", "publishedAt": since}})
    };
    let good = "2026-01-01T00:00:00Z";
    let video = json!({"id": "v", "owner": "a", "snippet": {"title": "t", "categoryId": "22"}});
    let comment =
        |member: &str| json!({"author": "a", "channel": "a", "textOriginal": "t", member: bad});
    let expired = account("z", json!({"token": "U", "expires": bad}), good);
    let accounts = json!([{"id": "a", "channel": {"id": "UCa", "title": "A"}}, account("z", json!({"token": "U"}), good)]);
    let level = json!([{"id": "tin", "channel": "a", "displayName": "Tin", "priceMicros": 1}]);
    let track = json!({"video": "v", "language": "en", "text": "x", "updatedAt": bad});
    let activity = json!({"account": "a", "type": "bulletin", "publishedAt": bad,
        "contentDetails": {"bulletin": {"resourceId": {"kind": "youtube#video", "videoId": "v"}}}});
    for (section, thing, path) in [
        ("accounts", expired, "tokens[1].expires"),
        ("accounts", account("z", json!({"token": "U"}), bad), "channel.publishedAt"),
        (
            "playlists",
            json!({"owner": "a", "snippet": {"title": "t"}, "publishedAt": bad}),
            "publishedAt",
        ),
        (
            "playlists",
            json!({"owner": "a", "snippet": {"title": "t", "publishedAt": 7}}),
            "snippet.publishedAt",
        ),
        ("plays", json!({"account": "a", "video": "v", "at": bad}), "at"),
        ("favorites", json!({"account": "a", "video": "v", "at": bad}), "at"),
        ("comments", comment("publishedAt"), "publishedAt"),
        ("comments", comment("updatedAt"), "updatedAt"),
        ("captions", track, "updatedAt"),
        ("activities", activity, "publishedAt"),
        (
            "subscriptions",
            json!({"subscriber": "a", "channel": "z", "publishedAt": bad}),
            "publishedAt",
        ),
        (
            "subscriptions",
            json!({"subscriber": "a", "channel": "z", "lastWatchedAt": bad}),
            "lastWatchedAt",
        ),
        ("members", json!({"creator": "a", "member": "z", "level": "tin", "since": bad}), "since"),
    ] {
        let mut file = json!({"accounts": accounts, "videos": [video], "membershipsLevels": level});
        file[section] = json!([thing]);
        let told = refusal_of(&file).unwrap_err();
        let expected = format!("{section}[0]: Invalid value at '{path}'");
        assert!(told.starts_with(&expected), "{path}: {told}");
    }
}

#[test]
fn a_wrong_reference_is_refused_with_its_path() {
    let own = |id: &str| json!({"id": id, "channel": {"id": format!("UC{id}"), "title": "Z"}});
    let accounts = json!([own("a"), own("z"), {"id": "n"}]);
    let video = json!({"id": "v", "owner": "a", "snippet": {"title": "t", "categoryId": "22"}});
    let track = |name: &str| json!({"video": "v", "language": "en", "name": name, "text": "x"});
    let subscription = |to: &str| json!({"subscriber": "a", "channel": to});
    let section = |kind: &str, details: Value| json!({"owner": "a", "snippet": {"type": kind, "title": "t"}, "contentDetails": details});
    let key = include_str!("../../../../tests/video/seed.json");
    let key: Value = serde_json::from_str(key).unwrap();
    let robot = |account: &str, project: Option<&str>| {
        json!({"email": "r", "account": account, "project": project,
            "publicKey": key["serviceAccounts"][0]["publicKey"]})
    };
    for (name, things, place) in [
        (
            "ratings",
            json!([{"account": "a", "video": "none", "rating": "like"}]),
            "[0]: Invalid value at 'video'",
        ),
        ("plays", json!([{"video": "none"}]), "[0]: Invalid value at 'video'"),
        ("plays", json!([{"video": "v", "account": "none"}]), "[0]: Invalid value at 'account'"),
        ("plays", json!([{"video": "v", "account": "n"}]), "[0]: Invalid value at 'account'"),
        ("favorites", json!([{"account": "a", "video": "none"}]), "[0]: Invalid value at 'video'"),
        (
            "captions",
            json!([{"video": "none", "language": "en", "text": "x"}]),
            "[0]: Invalid value at 'video'",
        ),
        (
            "captions",
            json!([{"video": "v", "language": "?", "text": "x"}]),
            "[0]: Invalid value at 'language'",
        ),
        ("captions", json!([track(""), track("")]), "[1]: Invalid value at 'name'"),
        ("captions", json!([track(&"x".repeat(151))]), "[0]: Invalid value at 'name'"),
        ("subscriptions", json!([subscription("none")]), "[0]: Invalid value at 'channel'"),
        ("subscriptions", json!([subscription("UCa")]), "[0]: Invalid value at 'channel'"),
        (
            "subscriptions",
            json!([subscription("z"), subscription("UCz")]),
            "[1]: Invalid value at 'channel'",
        ),
        (
            "comments",
            json!([{"author": "none", "video": "v", "textOriginal": "t"}]),
            "[0]: Invalid value at 'author'",
        ),
        (
            "comments",
            json!([{"author": "a", "video": "none", "textOriginal": "t"}]),
            "[0]: Invalid value at 'video'",
        ),
        (
            "comments",
            json!([{"author": "a", "video": "v", "textOriginal": " "}]),
            "[0]: Invalid value at 'textOriginal'",
        ),
        (
            "channelSections",
            json!([section("singlePlaylist", json!({"playlists": ["none"]}))]),
            "[0].contentDetails.playlists: One of the",
        ),
        (
            "channelSections",
            json!([section("multipleChannels", json!({"channels": ["UCnone"]}))]),
            "[0].contentDetails.channels: One of the",
        ),
        (
            "videos",
            json!([video, {"owner": "a", "snippet": {"title": "t", "categoryId": "999"}}]),
            "[1].snippet.categoryId: ",
        ),
        (
            "videos",
            json!([{"owner": "a", "snippet": {"title": "t", "categoryId": "22", "defaultLanguage": "zz"}}]),
            "[0].snippet.defaultLanguage: ",
        ),
        (
            "activities",
            json!([{"account": "a", "type": "upload", "contentDetails": {}}]),
            "[0].type: ",
        ),
        (
            "oauthClients",
            json!([{"id": "c", "project": "none"}]),
            "[0]: Invalid value at 'project'",
        ),
        ("serviceAccounts", json!([robot("none", None)]), "[0]: Invalid value at 'account'"),
        ("serviceAccounts", json!([robot("a", Some("none"))]), "[0]: Invalid value at 'project'"),
    ] {
        let mut file = json!({"accounts": accounts, "videos": [video]});
        file[name] = things;
        let told = refusal_of(&file).unwrap_err();
        assert!(told.starts_with(&format!("{name}{place}")), "{told}");
    }
    let token = json!({"id": "t", "tokens": [{"token": "T"}, {"token": "U", "project": "none"}]});
    let told = refusal_of(&json!({"accounts": [token]})).unwrap_err();
    assert!(told.starts_with("accounts[0]: Invalid value at 'tokens[1].project'"), "{told}");
    let known = json!({"projects": [{"id": "p"}], "accounts": accounts,
        "oauthClients": [{"id": "c", "project": "p"}], "serviceAccounts": [robot("n", Some("p"))]});
    assert_eq!(refusal_of(&known), Ok(()));
}

#[test]
fn an_id_that_would_name_something_else_in_an_address_is_refused_with_its_path() {
    let list = |id: &str| json!({"id": id, "owner": "a", "snippet": {"title": "t"}});
    for id in ["PL.x", "UUx", "LL", "WL", "HLa", "FLa", "PL x", "PL/x", "é"] {
        let told = refusal("playlists", &list(id)).unwrap_err();
        assert!(told.starts_with("playlists[0]: Invalid value at 'id'"), "{id}: {told}");
    }
    assert_eq!(refusal("playlists", &list("PL-a_9")), Ok(()));
    let told = refusal("videos", &list("none")).unwrap_err();
    assert!(told.starts_with("videos[0]: Invalid value at 'id'"), "{told}");
    for id in ["nonet", "None", "a.b"] {
        assert_eq!(refusal("videos", &list(id)), Ok(()), "{id}");
    }
    for id in ["UC.x", "alice", "UUx", "UC x"] {
        let account = json!({"id": "z", "channel": {"id": id, "title": "Z"}});
        let told = refusal_of(&json!({"accounts": [account]})).unwrap_err();
        assert!(told.starts_with("accounts[0]: Invalid value at 'channel.id'"), "{id}: {told}");
    }
}

#[test]
fn a_name_that_no_request_could_name_is_refused_with_its_place() {
    let caption = |id: &str| json!({"id": id, "video": "v", "language": "en", "text": "x"});
    let comment = |id: &str| json!({"id": id, "author": "a", "channel": "a", "textOriginal": "t"});
    let reason = |id: &str| json!({"id": "V", "label": "Violence", "secondaryReasons": [{"id": id, "label": "x"}]});
    let labelled = |label: &str| json!({"id": "V", "label": label});
    for (section, thing, place) in [
        ("captions", caption("\0"), "captions[0].id: "),
        ("captions", caption(""), "captions[0].id: "),
        ("comments", comment("a\u{7f}"), "comments[0].id: "),
        ("videoAbuseReportReasons", reason(""), "videoAbuseReportReasons[0].secondaryReasons.id: "),
        (
            "videoAbuseReportReasons",
            reason("\n"),
            "videoAbuseReportReasons[0].secondaryReasons.id: ",
        ),
        (
            "videoAbuseReportReasons",
            labelled(" "),
            "videoAbuseReportReasons[0]: Invalid value at 'label'",
        ),
    ] {
        let told = refusal(section, &thing).unwrap_err();
        assert!(told.starts_with(place), "{told}");
    }
    assert_eq!(refusal("videoAbuseReportReasons", &reason("v1")), Ok(()));
}

#[tokio::test]
async fn a_resource_may_be_written_as_the_interface_shows_it() {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    let shown = "2020-02-03T04:05:06Z";
    let thumbnails =
        json!({"default": {"url": "http://h/vi/old/default.jpg", "width": 120, "height": 90}});
    let video = json!({"id": "old", "owner": "alice", "status": {"madeForKids": true, "uploadStatus": "processed"},
        "snippet": {"title": "Old", "categoryId": "22", "publishedAt": shown, "channelTitle": "Alice", "thumbnails": thumbnails}});
    let list =
        json!({"id": "PLold", "owner": "alice", "snippet": {"title": "Old", "publishedAt": shown}});
    seed["videos"].as_array_mut().unwrap().push(video);
    seed["playlists"].as_array_mut().unwrap().push(list);
    let service = Service::seeded(&seed.to_string()).await;
    let video = service.list("/videos?part=snippet,status&id=old").await["items"][0].clone();
    assert_eq!(video["snippet"]["publishedAt"], shown);
    assert_eq!(video["status"]["madeForKids"], true);
    let list = service.list("/playlists?part=snippet&id=PLold").await;
    assert_eq!(list["items"][0]["snippet"]["publishedAt"], shown);
    let snippet = json!({"title": "t", "categoryId": "22", "publishedAt": "yesterday"});
    let told = refusal("videos", &json!({"owner": "a", "snippet": snippet})).unwrap_err();
    assert!(told.contains("'snippet.publishedAt'"), "{told}");
}
