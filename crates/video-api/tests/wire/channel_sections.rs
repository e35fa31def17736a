//! Sections of channels over the wire: their types and contents, their dense positions, and who sees them.

use serde_json::{Value, json};

use crate::service::{Answer, Service};

const ALL: &str = "snippet,contentDetails,localizations,targeting";

async fn write(service: &Service, method: &str, token: &str, body: &Value) -> Answer {
    let given: Vec<_> = ALL.split(',').filter(|part| body.get(*part).is_some()).collect();
    let part = if given.is_empty() { "id".to_owned() } else { given.join(",") };
    let target = format!("/youtube/v3/channelSections?part={part}");
    service.ask(method, &target, token, &body.to_string()).await
}

async fn insert(service: &Service, body: &Value) -> Value {
    let answer = write(service, "POST", "ALICE", body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.json());
    answer.json()
}

fn found(kind: &str) -> Value {
    json!({"snippet": {"type": kind}})
}

async fn sections(service: &Service, token: &str, filter: &str) -> Vec<Value> {
    let target = format!("/youtube/v3/channelSections?part={ALL}&{filter}");
    let answer = service.ask("GET", &target, token, "").await;
    assert_eq!(answer.status, 200, "{filter}: {}", answer.json());
    answer.json()["items"].as_array().unwrap().clone()
}

/// Types in their order; positions are dense.
async fn order(service: &Service) -> Vec<String> {
    let items = sections(service, "ALICE", "mine=true").await;
    for (position, item) in items.iter().enumerate() {
        assert_eq!(item["snippet"]["position"], position);
    }
    items.iter().map(|item| item["snippet"]["type"].as_str().unwrap().to_owned()).collect()
}

async fn show(service: &Service, shows: bool) {
    let body = json!({"id": "UCx", "brandingSettings": {"channel": {"showBrowseView": shows}}});
    let target = "/youtube/v3/channels?part=brandingSettings";
    assert_eq!(service.ask("PUT", target, "ALICE", &body.to_string()).await.status, 200);
}

#[tokio::test]
async fn channel_sections_hidden_become_visible_when_show_browse_view_is_set_to_true() {
    let service = Service::new().await;
    for shows in [false, true, false] {
        show(&service, shows).await;
        for filter in ["channelId=UCx", "id=shelf"] {
            let others = sections(&service, "BOB", filter).await.len();
            assert_eq!(others, usize::from(shows), "{filter}");
            assert_eq!(sections(&service, "ALICE", filter).await.len(), 1);
            let key = sections(&service, "", &format!("{filter}&key=KEY")).await.len();
            assert_eq!(key, usize::from(shows), "{filter}");
        }
        let told = service.ask("DELETE", "/youtube/v3/channelSections?id=shelf", "BOB", "").await;
        let expected =
            if shows { (403, "channelSectionForbidden") } else { (404, "channelSectionNotFound") };
        assert_eq!((told.status, told.reason().as_str()), expected);
    }
}

#[tokio::test]
async fn sections_per_channel_are_at_most_10_and_their_positions_stay_dense() {
    let service = Service::new().await;
    let kinds = ["recentUploads", "likes", "allPlaylists", "liveEvents"];
    for kind in kinds {
        insert(&service, &found(kind)).await;
    }
    assert_eq!(
        order(&service).await,
        ["popularUploads", "recentUploads", "likes", "allPlaylists", "liveEvents"]
    );
    let first = json!({"snippet": {"type": "subscriptions", "position": 0}});
    assert_eq!(insert(&service, &first).await["snippet"]["position"], 0);
    let moved = json!({"id": "shelf", "snippet": {"type": "popularUploads", "position": 5}});
    let answer = write(&service, "PUT", "ALICE", &moved).await;
    assert_eq!((answer.status, &answer.json()["snippet"]["position"]), (200, &json!(5)));
    assert_eq!(
        order(&service).await,
        ["subscriptions", "recentUploads", "likes", "allPlaylists", "liveEvents", "popularUploads"]
    );
    // Without a position it stays where it is.
    let same = json!({"id": "shelf", "snippet": {"type": "popularUploads"}});
    assert_eq!(write(&service, "PUT", "ALICE", &same).await.json()["snippet"]["position"], 5);
    for (method, position) in
        [("POST", json!(7)), ("POST", json!(-1)), ("PUT", json!(6)), ("PUT", json!("x"))]
    {
        let body =
            json!({"id": "shelf", "snippet": {"type": "popularUploads", "position": position}});
        let answer = write(&service, method, "ALICE", &body).await;
        assert_eq!(answer.reason(), "inValidPosition", "{method} {position}");
    }
    let items = sections(&service, "ALICE", "mine=true").await;
    let gone = items[1]["id"].as_str().unwrap();
    let target = format!("/youtube/v3/channelSections?id={gone}");
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    assert_eq!(
        order(&service).await,
        ["subscriptions", "likes", "allPlaylists", "liveEvents", "popularUploads"]
    );
    for _ in 5..10 {
        insert(&service, &found("recentUploads")).await;
    }
    let answer = write(&service, "POST", "ALICE", &found("recentUploads")).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "maxChannelSectionExceeded"));
    assert_eq!(order(&service).await.len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn more_sections_at_once_than_a_channel_may_have_leave_10() {
    let service = std::sync::Arc::new(Service::new().await);
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move {
                write(&service, "POST", "ALICE", &found("recentUploads")).await.status
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        made += usize::from(task.await.unwrap() == 200);
    }
    assert_eq!((made, order(&service).await.len()), (9, 10));
}

#[tokio::test]
async fn every_type_has_its_rules_for_title_playlists_and_channels() {
    let service = Service::new().await;
    let private = json!({"snippet": {"title": "P"}, "status": {"privacyStatus": "private"}});
    let target = "/youtube/v3/playlists?part=snippet,status";
    let private = service.ask("POST", target, "ALICE", &private.to_string()).await.json();
    let private = &private["id"];
    let many = |start: &str| (0..51).map(|at| format!("{start}{at}")).collect::<Vec<_>>();
    let of = |kind: &str, details: Value| json!({"snippet": {"type": kind, "title": "T"}, "contentDetails": details});
    let playlists = |kind: &str, list: Value| of(kind, json!({"playlists": list}));
    let channels = |list: Value| of("multipleChannels", json!({"channels": list}));
    let titled = |title: Value| json!({"snippet": {"type": "multiplePlaylists", "title": title}, "contentDetails": {"playlists": ["PLx"]}});
    for (body, status, reason) in [
        (json!({}), 400, "snippetNeeded"),
        (json!({"contentDetails": {}}), 400, "snippetNeeded"),
        (json!({"snippet": {}}), 400, "typeRequired"),
        (found("channelsectionTypeUndefined"), 400, "typeRequired"),
        (found("nothing"), 400, "invalid"),
        (
            json!({"snippet": {"type": "likes", "style": "channelsectionStyleUnspecified"}}),
            400,
            "styleRequired",
        ),
        (found("singlePlaylist"), 400, "contentDetailsNeeded"),
        (playlists("singlePlaylist", json!([])), 400, "playlistsNeeded"),
        (playlists("singlePlaylist", json!(["PLx", "PL"])), 400, "onePlaylistNeeded"),
        (playlists("singlePlaylist", json!(["PLnone"])), 404, "playlistNotFound"),
        (playlists("singlePlaylist", json!([private])), 400, "playlistIsPrivate"),
        (playlists("singlePlaylist", json!(["LLx"])), 400, "playlistIsPrivate"),
        (playlists("multiplePlaylists", json!([])), 400, "playlistsNeeded"),
        (playlists("multiplePlaylists", json!(["PLx", "PLx"])), 400, "playlistsDuplicated"),
        (playlists("multiplePlaylists", json!(many("PL"))), 400, "maxPlaylistExceeded"),
        (playlists("multiplePlaylists", json!("PLx")), 400, "invalid"),
        (playlists("recentUploads", json!(["PLx"])), 400, "playlistsNotExpected"),
        (of("recentUploads", json!({"channels": ["UCbob"]})), 400, "channelsNotExpected"),
        (
            of("singlePlaylist", json!({"playlists": ["PLx"], "channels": ["UCbob"]})),
            400,
            "channelsNotExpected",
        ),
        (
            of("multipleChannels", json!({"playlists": ["PLx"], "channels": ["UCbob"]})),
            400,
            "playlistsNotExpected",
        ),
        (channels(json!([])), 400, "channelsNeeded"),
        (channels(json!(["UCbob", "UCbob"])), 400, "channelsDuplicated"),
        (channels(json!(["UCx"])), 400, "ownChannelInChannels"),
        (channels(json!(["UCnone"])), 404, "channelNotFound"),
        (channels(json!(many("UC"))), 400, "maxChannelsExceeded"),
        (titled(Value::Null), 400, "titleRequired"),
        (titled(json!(" ")), 400, "titleRequired"),
        (titled(json!("t".repeat(101))), 400, "titleLengthExceeded"),
        (titled(json!("a<b")), 400, "invalidTitle"),
        (titled(json!("a\u{0}b")), 400, "invalidTitle"),
        (titled(json!(["t"])), 400, "invalid"),
        (
            json!({"snippet": {"type": "likes"}, "targeting": {"regions": ["Atlantis"]}}),
            400,
            "invalidTargeting",
        ),
        (
            json!({"snippet": {"type": "likes"}, "localizations": {"de": {"title": "x"}}}),
            400,
            "defaultLanguageNotSetError",
        ),
        (
            json!({"snippet": {"type": "likes", "defaultLanguage": "en"}, "localizations": {"de": {"title": "a<b"}}}),
            400,
            "localizationValidationError",
        ),
    ] {
        let answer = write(&service, "POST", "ALICE", &body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{body}");
    }
    let kept = insert(&service, &json!({"snippet": {"type": "likes", "title": "<ignored>"}})).await;
    assert_eq!(kept["snippet"]["title"], Value::Null);
    // Uploads and favourites are everybody's to read, of whichever channel.
    let everyones = json!(["PL", "UUx", "FLx", "FLbob", "PLx"]);
    let kept = insert(&service, &playlists("multiplePlaylists", everyones.clone())).await;
    assert_eq!(kept["contentDetails"], json!({"playlists": everyones}));
    assert_eq!(kept["snippet"]["title"], "T");
    // An update of the snippet alone has to fit what the section has.
    let body = json!({"id": kept["id"], "snippet": {"type": "recentUploads"}});
    let answer = write(&service, "PUT", "ALICE", &body).await;
    assert_eq!(answer.reason(), "playlistsNotExpected");
    let body = json!({"id": kept["id"], "contentDetails": {"playlists": ["PL"]}});
    let answer = write(&service, "PUT", "ALICE", &body).await;
    assert_eq!(answer.json()["contentDetails"], json!({"playlists": ["PL"]}));
    for (body, status, reason) in [
        (json!({"snippet": {"type": "likes"}}), 400, "required"),
        (json!({"id": "none", "snippet": {"type": "likes"}}), 404, "channelSectionNotFound"),
    ] {
        let answer = write(&service, "PUT", "ALICE", &body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{body}");
    }
}

#[tokio::test]
async fn a_list_that_goes_leaves_the_sections_that_name_it_and_one_that_hides_is_its_owners() {
    let service = Service::new().await;
    show(&service, true).await;
    let body = json!({"snippet": {"type": "multiplePlaylists", "title": "T"}, "contentDetails": {"playlists": ["PL", "PLx"]}});
    let id = insert(&service, &body).await["id"].as_str().unwrap().to_owned();
    let named = async |token: &str| {
        let found = sections(&service, token, &format!("id={id}")).await;
        found[0]["contentDetails"]["playlists"].clone()
    };
    let hidden =
        json!({"id": "PLx", "snippet": {"title": "List"}, "status": {"privacyStatus": "private"}});
    let target = "/youtube/v3/playlists?part=snippet,status";
    assert_eq!(service.ask("PUT", target, "ALICE", &hidden.to_string()).await.status, 200);
    assert_eq!((named("ALICE").await, named("BOB").await), (json!(["PL", "PLx"]), json!(["PL"])));
    assert_eq!(service.ask("DELETE", "/youtube/v3/playlists?id=PL", "ALICE", "").await.status, 204);
    assert_eq!((named("ALICE").await, named("BOB").await), (json!(["PLx"]), json!([])));
}

#[tokio::test]
async fn the_title_of_a_section_is_shown_in_the_language_of_hl() {
    let service = Service::new().await;
    let body = json!({"snippet": {"type": "multiplePlaylists", "title": "Own", "defaultLanguage": "en"},
        "contentDetails": {"playlists": ["PL"]}, "localizations": {"de": {"title": "Eigen"}}});
    let id = insert(&service, &body).await["id"].as_str().unwrap().to_owned();
    for (hl, title) in [("", "Own"), ("&hl=de", "Eigen"), ("&hl=de-AT", "Eigen"), ("&hl=fr", "Own")]
    {
        let item = sections(&service, "ALICE", &format!("id={id}{hl}")).await[0].clone();
        assert_eq!(item["snippet"]["localized"]["title"], title, "{hl}");
        assert_eq!(item["snippet"]["title"], "Own");
        assert_eq!(
            item["localizations"],
            json!({"de": {"title": "Eigen"}, "en": {"title": "Own"}}),
            "in the default language a section's own title counts"
        );
    }
}
