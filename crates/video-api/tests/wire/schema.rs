//! Every answer has the form that the discovery document promises: known fields, of their types, with values of their lists.

use serde_json::{Value, json};
use video_api::api::operation::{Method, NamedParts, Operation, Run};
use video_api::resource::OPERATIONS;

use crate::service::Service;

/// The schemas of the discovery document, and the faults that a value has against one of them.
struct Schemas(Value);

impl Schemas {
    fn new() -> Self {
        let text = String::from_utf8(video_api::api::discovery::text(OPERATIONS)).unwrap();
        let document: Value = serde_json::from_str(&text.replace('\u{1}', "http://h")).unwrap();
        Self(document["schemas"].clone())
    }

    fn faults(&self, value: &Value, schema: &Value, path: &str, out: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            return self.faults(value, &self.0[name], path, out);
        }
        let right = match schema["type"].as_str().unwrap_or("none") {
            "object" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let path = format!("{path}.{name}");
                    let known = &schema["properties"][name];
                    let any = &schema["additionalProperties"];
                    match (known.is_object(), any.is_object()) {
                        (true, _) => self.faults(inner, known, &path, out),
                        (false, true) => self.faults(inner, any, &path, out),
                        (false, false) => out.push(format!("{path} is not in the schema")),
                    }
                }
                value.is_object()
            }
            "array" => {
                for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
                    self.faults(inner, &schema["items"], &format!("{path}[{at}]"), out);
                }
                value.is_array()
            }
            "string" => value.as_str().is_some_and(|text| {
                let listed = schema["enum"].as_array();
                let is_number = text.parse::<i128>().is_ok();
                let is_moment = triptych_core::time::Timestamp::from_rfc3339(text).is_some();
                !text.contains('\u{1}')
                    && listed.is_none_or(|listed| listed.iter().any(|one| one == text))
                    && match schema["format"].as_str() {
                        Some("uint64" | "int64") => is_number,
                        Some("date-time" | "google-datetime") => is_moment,
                        _ => true,
                    }
            }),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            other => panic!("{path} has the type {other}"),
        };
        if !right {
            out.push(format!("{path} is {value}, and should be {schema}"));
        }
    }

    fn check(&self, operation: &Operation, target: &str, answer: &Value) {
        let mut faults = Vec::new();
        let name = operation.response.unwrap();
        self.faults(answer, &json!({"$ref": name}), name, &mut faults);
        assert_eq!(faults, [""; 0], "{target}: {answer}");
        let kind = &self.0[name]["properties"]["kind"]["default"];
        assert_eq!(&answer["kind"], kind, "{target}");
        assert_eq!(answer["etag"].as_str().map(str::len), Some(27), "{target}");
    }
}

fn operation(name: &str) -> &'static Operation {
    let found = OPERATIONS.iter().find(|operation| operation.name == name);
    found.unwrap()
}

/// Reads, as the query after the parts.
const LISTS: &[(&str, &[&str])] = &[
    (
        "subscriptions.list",
        &["mine=true", "channelId=UCbob", "mySubscribers=true", "myRecentSubscribers=true", "id=s"],
    ),
    ("channelSections.list", &["mine=true", "mine=true&hl=de", "channelId=UCx", "id=shelf"]),
    ("captions.list", &["videoId=v", "videoId=v&id=c", "videoId=w"]),
    (
        "activities.list",
        &[
            "mine=true",
            "channelId=UCx",
            "home=true",
            "mine=true&maxResults=50",
            "channelId=UCx&regionCode=DE",
        ],
    ),
    ("channels.list", &["id=UCx,UCbob", "mine=true", "forHandle=@alice", "id=none"]),
    (
        "commentThreads.list",
        &[
            "videoId=w",
            "id=c",
            "allThreadsRelatedToChannelId=UCx",
            "channelId=UCx",
            "videoId=w&searchTerms=see",
        ],
    ),
    ("comments.list", &["id=c,c.r", "parentId=c", "parentId=c&textFormat=plainText"]),
    ("guideCategories.list", &["regionCode=US", "id=GCTXVzaWM"]),
    ("i18nLanguages.list", &["hl=de"]),
    ("i18nRegions.list", &[""]),
    ("members.list", &["", "hasAccessToLevel=tin", "mode=updates"]),
    ("membershipsLevels.list", &[""]),
    (
        "playlistItems.list",
        &[
            "playlistId=PLx",
            "playlistId=UUx",
            "playlistId=LL",
            "playlistId=WL",
            "playlistId=HL",
            "playlistId=PLx&maxResults=1",
            "playlistId=PLx&videoId=v",
        ],
    ),
    ("playlists.list", &["mine=true", "id=PLx,UUx,LL,WL,HL", "channelId=UCbob", "mine=true&hl=de"]),
    (
        "search.list",
        &["q=alice", "type=video", "q=none", "order=title&maxResults=2", "type=playlist"],
    ),
    ("videoAbuseReportReasons.list", &["hl=de"]),
    ("videoCategories.list", &["regionCode=us", "id=10"]),
    ("videos.list", &["id=v,w,p", "chart=mostPopular", "myRating=like", "id=v&maxWidth=400&hl=de"]),
    ("videos.getRating", &["id=v,w"]),
];

/// Writes, in an order in which each makes something that the lists then show.
const WRITES: &[(&str, &str)] = &[
    ("captions.update", r#"{"id": "c", "snippet": {"isDraft": true}}"#),
    (
        "channelSections.insert",
        r#"{"snippet": {"type": "multipleChannels", "style": "verticalList", "title": "T", "defaultLanguage": "en", "position": 0},
            "contentDetails": {"channels": ["UCbob"]}, "localizations": {"de": {"title": "D"}},
            "targeting": {"languages": ["en"], "regions": ["DE"], "countries": ["US"]}}"#,
    ),
    (
        "channelSections.update",
        r#"{"id": "shelf", "snippet": {"type": "singlePlaylist"}, "contentDetails": {"playlists": ["PLx"]}}"#,
    ),
    (
        "commentThreads.insert",
        r#"{"snippet": {"channelId": "UCx", "videoId": "w", "topLevelComment": {"snippet": {"textOriginal": "see http://a.b"}}}}"#,
    ),
    (
        "commentThreads.insert",
        r#"{"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "about"}}}}"#,
    ),
    ("comments.insert", r#"{"snippet": {"parentId": "c", "textOriginal": "again"}}"#),
    ("comments.update", r#"{"id": "c.r", "snippet": {"textOriginal": "changed"}}"#),
    (
        "subscriptions.insert",
        r#"{"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": "UCbob"}}}"#,
    ),
    (
        "videos.update",
        r#"{"id": "v", "snippet": {"title": "A", "categoryId": "22", "tags": ["t"], "defaultLanguage": "en", "defaultAudioLanguage": "en"},
            "localizations": {"de": {"title": "B", "description": "C"}}, "paidProductPlacementDetails": {"hasPaidProductPlacement": true},
            "status": {"privacyStatus": "unlisted", "selfDeclaredMadeForKids": true, "containsSyntheticMedia": false},
            "recordingDetails": {"recordingDate": "2026-01-02T03:04:05Z", "location": {"latitude": 1, "longitude": -2.5, "altitude": 3}}}"#,
    ),
    (
        "videos.update",
        r#"{"id": "p", "status": {"privacyStatus": "private", "publishAt": "2027-01-01T00:00:00+01:00"}, "snippet": {"title": "P", "categoryId": 22}}"#,
    ),
    (
        "channels.update",
        r##"{"id": "UCx", "brandingSettings": {"channel": {"description": "d", "country": "DE", "defaultLanguage": "de", "keywords": "a b",
            "profileColor": "#a0a0a0", "showBrowseView": true, "featuredChannelsUrls": ["UCbob"], "unsubscribedTrailer": "v"},
            "watch": {"textColor": "#000000"}, "hints": [{"property": "a", "value": "b"}]},
            "invideoPromotion": {"defaultTiming": {"type": "offsetFromEnd", "offsetMs": 1, "durationMs": "2"}, "useSmartTiming": true,
            "position": {"cornerPosition": "topLeft"}, "items": [
            {"id": {"type": "video", "videoId": "v"}, "timing": {"type": "offsetFromStart", "offsetMs": 5}, "customMessage": "m"},
            {"id": {"type": "website", "websiteUrl": "https://example.com"}, "promotedByContentOwner": false},
            {"id": {"type": "recentUpload"}}]},
            "localizations": {"fr": {"title": "T", "description": "D"}}}"##,
    ),
    (
        "playlists.insert",
        r#"{"snippet": {"title": "alice", "tags": ["x"], "defaultLanguage": "en"}, "status": {"privacyStatus": "public", "podcastStatus": "enabled"},
            "localizations": {"de": {"title": "B"}}}"#,
    ),
    (
        "playlistItems.insert",
        r#"{"snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#video", "videoId": "w"}, "position": 0},
            "contentDetails": {"note": "n", "startAt": "1", "endAt": "2"}}"#,
    ),
    (
        "playlistItems.insert",
        r#"{"snippet": {"playlistId": "LL", "resourceId": {"kind": "youtube#video", "videoId": "w"}}}"#,
    ),
    (
        "playlistItems.insert",
        r#"{"snippet": {"playlistId": "HL", "resourceId": {"kind": "youtube#video", "videoId": "w"}}}"#,
    ),
    (
        "playlistItems.insert",
        r#"{"snippet": {"playlistId": "WL", "resourceId": {"kind": "youtube#video", "videoId": "p"}}}"#,
    ),
];

fn parts(operation: &Operation, written: bool) -> String {
    let shown = operation.parts.iter().filter(|part| {
        // Standing is shown to partners alone.
        part.name != "auditDetails"
            && (!written || operation.named_parts != NamedParts::Written || part.writable)
    });
    shown.map(|part| part.name).collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn every_answer_has_the_form_of_its_schema() {
    let (schemas, service) = (Schemas::new(), Service::new().await);
    for (name, body) in WRITES {
        let operation = operation(name);
        let target = format!("/youtube/v3{}?part={}", operation.path, parts(operation, true));
        let answer = service.ask(operation.method.name(), &target, "ALICE", body).await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
        schemas.check(operation, &target, &answer.json());
    }
    for (name, queries) in LISTS {
        let operation = operation(name);
        for query in *queries {
            let part = match parts(operation, false) {
                names if names.is_empty() => String::new(),
                names => format!("part={names}&"),
            };
            let target = format!("/youtube/v3{}?{part}{query}", operation.path);
            let answer = service.ask("GET", &target, "ALICE", "").await;
            assert_eq!(answer.status, 200, "{target}: {}", answer.json());
            schemas.check(operation, &target, &answer.json());
        }
    }
}

#[test]
fn every_list_that_is_built_is_checked() {
    let built = OPERATIONS
        .iter()
        .filter(|row| row.method == Method::Get && matches!(row.run, Run::Call(_)))
        .filter(|row| !row.download);
    let built: Vec<_> = built.map(|row| row.name).collect();
    assert!(built.iter().all(|name| LISTS.iter().any(|row| row.0 == *name)), "{built:?}");
    assert_eq!(built.len(), LISTS.len());
}
