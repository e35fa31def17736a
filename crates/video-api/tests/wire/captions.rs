//! Captions over the wire: who sees, writes and downloads which tracks, what a download gives, and what a video says of its own.

use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Memory, StoreError, run_blocking};
use video_api::resource::captions::record::CAPTION_NAMES;
use video_api::resource::channels::record::Id;

use crate::service::{Answer, Service};

const VTT: &str = "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>Hello</i>\n";

fn metadata(video: &str, language: &str, name: &str) -> Value {
    json!({"snippet": {"videoId": video, "language": language, "name": name}})
}

/// Sends metadata and a file in one request.
async fn send(service: &Service, method: &str, more: &str, body: &Value, file: &[u8]) -> Answer {
    let mut text = format!("--b\r\n\r\n{body}\r\n--b\r\nContent-Type: */*\r\n\r\n").into_bytes();
    text.extend_from_slice(file);
    text.extend_from_slice(b"\r\n--b--");
    let target = format!("/upload/youtube/v3/captions?part=id,snippet&uploadType=multipart{more}");
    let headers = [("content-type", "multipart/related; boundary=b")];
    service.ask_with(method, &target, "ALICE", &headers, &text).await
}

/// The track that an upload makes.
async fn insert(service: &Service, more: &str, body: &Value, file: &[u8]) -> Value {
    let answer = send(service, "POST", more, body, file).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()
}

async fn download(service: &Service, id: &Value, query: &str) -> Answer {
    let target = format!("/youtube/v3/captions/{}?{query}", id.as_str().unwrap());
    service.ask("GET", &target, "ALICE", "").await
}

async fn listed(service: &Service, video: &str, token: &str) -> Vec<String> {
    let target = format!("/youtube/v3/captions?part=id&videoId={video}");
    let answer = service.ask("GET", &target, token, "").await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    let items = answer.json()["items"].as_array().unwrap().clone();
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn has_captions(service: &Service, video: &str) -> (Value, bool) {
    let target = format!("/videos?part=contentDetails&id={video}");
    let shown = service.list(&target).await["items"][0]["contentDetails"]["caption"].clone();
    let found = service.list("/search?part=id&type=video&videoCaption=closedCaption").await;
    let found = found["items"].as_array().unwrap().clone();
    (shown, found.iter().any(|item| item["id"]["videoId"] == video))
}

#[tokio::test]
async fn captions_insert_uploads_a_caption_track_and_download_gives_the_bytes_that_came() {
    let service = Service::new().await;
    // Bytes that are no UTF-8 come back as they are.
    let file = b"1\r\n00:00:01,000 --> 00:00:02,000\r\ncaf\xe9\r\n";
    let track = insert(&service, "", &metadata("w", "fr", ""), file).await;
    let snippet = &track["snippet"];
    assert_eq!(
        (&snippet["status"], &snippet["isDraft"], &snippet["trackKind"], &snippet["name"]),
        (&json!("serving"), &json!(false), &json!("standard"), &json!(""))
    );
    let answer = download(&service, &track["id"], "").await;
    assert_eq!((answer.status, answer.body.as_ref()), (200, file.as_slice()));
    let answer = download(&service, &track["id"], "tfmt=vtt&alt=media").await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(text, "WEBVTT\nLanguage: fr\n\n00:00:01.000 --> 00:00:02.000\ncafé\n\n");
    assert_eq!(answer.headers["content-type"], "text/vtt; charset=utf-8");
    for format in ["sbv", "scc", "srt", "ttml", "vtt"] {
        let answer = download(&service, &track["id"], &format!("tfmt={format}")).await;
        assert_eq!(answer.status, 200, "{format}");
        let (_, read) = video_api::caption::read(&answer.body).unwrap();
        assert_eq!(read.cues.len(), 1, "{format}");
    }
}

#[tokio::test]
async fn a_language_is_one_whichever_way_it_is_written_and_a_video_has_it_once_a_name() {
    let service = Service::new().await;
    let first = insert(&service, "", &metadata("w", "en_GB", "n"), VTT.as_bytes()).await;
    for language in ["en-GB", "en_GB", "EN-gb"] {
        let answer =
            send(&service, "POST", "", &metadata("w", language, "n"), VTT.as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (409, "captionExists"), "{language}");
    }
    insert(&service, "", &metadata("w", "en-GB", "other"), VTT.as_bytes()).await;
    let target = format!("/youtube/v3/captions?id={}", first["id"].as_str().unwrap());
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    insert(&service, "", &metadata("w", "en-GB", "n"), VTT.as_bytes()).await;
}

#[tokio::test]
async fn a_track_of_an_earlier_build_has_its_name_whichever_way_its_language_is_written() {
    let (store, blobs) = (Arc::new(Memory::new()), MemoryBlobs::new(SeededIds::from_number(1)));
    let service = Service::on(Arc::<Memory>::clone(&store), Arc::new(blobs), 0).await;
    let early = insert(&service, "", &metadata("w", "en_GB", "n"), VTT.as_bytes()).await;
    let key = |language: &str| ("w".to_owned(), language.to_owned(), "n".to_owned());
    let id = Id(early["id"].as_str().unwrap().to_owned());
    run_blocking(&*store, &mut SeededIds::from_number(9), 1, |tx, _| {
        CAPTION_NAMES.delete(tx, &key("en-gb"));
        CAPTION_NAMES.put(tx, &key("en_gb"), &id);
        Ok::<_, StoreError>(())
    })
    .unwrap();
    for language in ["en-GB", "en_GB", "EN-gb"] {
        let answer =
            send(&service, "POST", "", &metadata("w", language, "n"), VTT.as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (409, "captionExists"), "{language}");
    }
    insert(&service, "", &metadata("w", "en-GB", "other"), VTT.as_bytes()).await;
    let target = format!("/youtube/v3/captions?id={}", id.0);
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    insert(&service, "", &metadata("w", "en-GB", "n"), VTT.as_bytes()).await;
}

#[tokio::test]
async fn a_range_gives_a_part_of_the_file_and_says_which() {
    let service = Service::new().await;
    let track = insert(&service, "", &metadata("w", "fr", ""), VTT.as_bytes()).await;
    let id = track["id"].as_str().unwrap();
    for query in ["alt=media", "tfmt=srt"] {
        let target = format!("/youtube/v3/captions/{id}?{query}");
        let whole = service.ask("GET", &target, "ALICE", "").await;
        let length = whole.body.len();
        for (range, status, part) in [
            ("bytes=0-104857599", 206, Some(0..length)),
            ("bytes=3-6", 206, Some(3..7)),
            ("bytes=-2", 206, Some(length - 2..length)),
            ("bytes=10000-", 416, None),
            ("bytes=1-2,4-5", 200, None),
        ] {
            let headers = [("range", range)];
            let answer = service.ask_with("GET", &target, "ALICE", &headers, b"").await;
            assert_eq!(answer.status, status, "{range}");
            match part {
                Some(part) => {
                    assert_eq!(answer.body, whole.body.slice(part.clone()), "{range}");
                    let place = format!("bytes {}-{}/{length}", part.start, part.end - 1);
                    assert_eq!(answer.headers["content-range"].to_str().unwrap(), place);
                }
                None if status == 416 => {
                    let place = format!("bytes */{length}");
                    assert_eq!(answer.headers["content-range"].to_str().unwrap(), place);
                }
                None => assert_eq!(answer.body, whole.body),
            }
        }
        let etag = whole.headers["etag"].to_str().unwrap().to_owned();
        let again =
            service.ask_with("GET", &target, "ALICE", &[("if-none-match", &etag)], b"").await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        for (known, status) in [
            (etag.as_str(), 206),
            ("\"another\"", 200),
            (&*format!("W/{etag}"), 200),
            ("Wed, 21 Oct 2015 07:28:00 GMT", 200),
        ] {
            let headers = [("range", "bytes=3-6"), ("if-range", known)];
            let answer = service.ask_with("GET", &target, "ALICE", &headers, b"").await;
            assert_eq!(answer.status, status, "{known}");
            let expected = if status == 206 { whole.body.slice(3..7) } else { whole.body.clone() };
            assert_eq!(answer.body, expected, "{known}");
        }
        // Who goes on with a download expects the version that its begin had.
        for (expected, status) in [(etag.as_str(), 206), ("\"another\"", 412)] {
            let headers = [("range", "bytes=3-6"), ("if-match", expected)];
            let answer = service.ask_with("GET", &target, "ALICE", &headers, b"").await;
            assert_eq!(answer.status, status, "{query} {expected}");
        }
        for range in ["bytes=3-6", "bytes=10000-"] {
            let answer = service.ask_with("HEAD", &target, "ALICE", &[("range", range)], b"").await;
            assert_eq!(answer.status, 200, "{range}");
            assert!(!answer.headers.contains_key("content-range"), "{range}");
        }
    }
}

#[tokio::test]
async fn captions_update_changes_the_draft_status_uploads_a_new_caption_file_or_both() {
    let service = Service::new().await;
    let track = insert(&service, "", &metadata("w", "fr", "a"), VTT.as_bytes()).await;
    let id = track["id"].clone();
    let put = async |body: Value| {
        service.ask("PUT", "/youtube/v3/captions?part=snippet", "ALICE", &body.to_string()).await
    };
    let answer = put(json!({"id": id, "snippet": {"isDraft": true, "name": "ignored"}})).await;
    assert_eq!((answer.status, &answer.json()["snippet"]["isDraft"]), (200, &json!(true)));
    assert_eq!(answer.json()["snippet"]["name"], "a", "what a track is known by stays");
    assert_eq!(download(&service, &id, "").await.body, VTT);
    let sent = send(&service, "PUT", "", &json!({"id": id}), b"WEBVTT\n").await;
    assert_eq!((sent.status, &sent.json()["snippet"]["isDraft"]), (200, &json!(true)));
    assert_eq!(download(&service, &id, "").await.body, "WEBVTT\n");
    let both = json!({"id": id, "snippet": {"isDraft": false}});
    let sent = send(&service, "PUT", "", &both, VTT.as_bytes()).await;
    assert_eq!((sent.status, &sent.json()["snippet"]["isDraft"]), (200, &json!(false)));
    assert_eq!(download(&service, &id, "").await.body, VTT);
    let nothing = service
        .ask("PUT", "/youtube/v3/captions?part=id", "ALICE", &json!({"id": id}).to_string())
        .await;
    assert_eq!((nothing.status, nothing.reason().as_str()), (400, "contentRequired"));
}

#[tokio::test]
async fn captions_list_gives_the_tracks_of_a_video_without_their_content() {
    let service = Service::new().await;
    insert(&service, "", &metadata("w", "fr", "second"), VTT.as_bytes()).await;
    service.later(1);
    insert(&service, "", &metadata("w", "de", ""), VTT.as_bytes()).await;
    let found = service.list("/captions?part=snippet&videoId=w").await;
    let told: Vec<_> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["snippet"]["language"])
        .collect();
    assert_eq!(told, [&json!("fr"), &json!("de")]);
    assert!(!found.to_string().contains("Hello"));
    let one = found["items"][1]["id"].as_str().unwrap();
    let chosen = service.list(&format!("/captions?part=id&videoId=w&id={one}")).await;
    assert_eq!(chosen["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn drafts_are_their_owners_alone_and_nobody_else_downloads() {
    let service = Service::new().await;
    let mut body = metadata("v", "fr", "");
    body["snippet"]["isDraft"] = true.into();
    service.later(1);
    let draft = insert(&service, "", &body, VTT.as_bytes()).await;
    let draft = draft["id"].as_str().unwrap();
    assert_eq!(listed(&service, "v", "ALICE").await, ["c", draft]);
    assert_eq!(listed(&service, "v", "BOB").await, ["c"]);
    for (method, target, status, reason) in [
        ("GET", "/captions/c".to_owned(), 403, "forbidden"),
        ("GET", format!("/captions/{draft}"), 404, "captionNotFound"),
        ("DELETE", "/captions?id=c".to_owned(), 403, "forbidden"),
        ("DELETE", format!("/captions?id={draft}"), 404, "captionNotFound"),
        ("GET", format!("/captions?part=id&videoId=v&id={draft}"), 404, "captionNotFound"),
        ("GET", "/captions?part=id&videoId=p".to_owned(), 404, "videoNotFound"),
    ] {
        let answer = service.ask(method, &format!("/youtube/v3{target}"), "BOB", "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{target}");
    }
}

#[tokio::test]
async fn every_refusal_of_a_track_has_its_reason() {
    let service = Service::new().await;
    let vtt = VTT.as_bytes();
    insert(&service, "", &metadata("w", "fr", "a"), vtt).await;
    let mut text = metadata("w", "en", "");
    text["snippet"]["name"] = "\u{7}".into();
    for (body, file, status, reason) in [
        (metadata("w", "FR", "a"), vtt, 409, "captionExists"),
        (metadata("w", "de", &"n".repeat(151)), vtt, 400, "nameTooLong"),
        (metadata("w", "not a tag", ""), vtt, 400, "invalidMetadata"),
        (metadata("w", "", ""), vtt, 400, "invalidMetadata"),
        (metadata("", "en", ""), vtt, 400, "invalidMetadata"),
        (text, vtt, 400, "invalidMetadata"),
        (json!({}), vtt, 400, "invalidMetadata"),
        (json!({"snippet": 7}), vtt, 400, "invalid"),
        (metadata("none", "en", ""), vtt, 404, "videoNotFound"),
        (metadata("w", "en", ""), b"", 400, "contentRequired"),
    ] {
        let answer = send(&service, "POST", "", &body, file).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{body}");
    }
    let plain = metadata("w", "en", "").to_string();
    let answer = service.ask("POST", "/youtube/v3/captions?part=snippet", "ALICE", &plain).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "contentRequired"));
    for (query, reason) in [("tfmt=doc", "couldNotConvert"), ("tlang=de", "couldNotConvert")] {
        let answer = download(&service, &json!("c"), query).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{query}");
    }
    for query in ["tlang=en", "tfmt=srt&tlang=EN"] {
        assert_eq!(download(&service, &json!("c"), query).await.status, 200, "{query}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_fails_with_the_reason_and_can_be_downloaded_as_it_is() {
    let service = Service::new().await;
    for (number, (file, reason)) in [
        (b"[Script Info]\nTitle: x".as_slice(), "unsupportedFormat"),
        (b"\x00\x01\x02\xff\xfe\x07\x00\x00", "unknownFormat"),
        (b"Words without times.", "unknownFormat"),
        (b"<tt xmlns=\"http://www.w3.org/ns/ttml\"><body>", "processingFailed"),
        (b"<!DOCTYPE tt [<!ENTITY a \"b\">]><tt xmlns=\"http://www.w3.org/ns/ttml\"><body>&a;</body></tt>", "processingFailed"),
    ]
    .into_iter()
    .enumerate()
    {
        let track =
            insert(&service, "", &metadata("w", "en", &number.to_string()), file).await;
        let snippet = &track["snippet"];
        assert_eq!((&snippet["status"], &snippet["failureReason"]), (&json!("failed"), &json!(reason)));
        assert_eq!(download(&service, &track["id"], "").await.body, file);
        let answer = download(&service, &track["id"], "tfmt=srt").await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "couldNotConvert"));
    }
    assert_eq!(has_captions(&service, "w").await, (json!("false"), false));
}

#[tokio::test]
async fn a_video_has_captions_as_long_as_a_published_track_serves() {
    let service = Service::new().await;
    assert_eq!(has_captions(&service, "v").await, (json!("true"), true));
    for (draft, expected) in [(true, "false"), (false, "true")] {
        let body = json!({"id": "c", "snippet": {"isDraft": draft}}).to_string();
        let answer = service.ask("PUT", "/youtube/v3/captions?part=snippet", "ALICE", &body).await;
        assert_eq!(answer.status, 200);
        assert_eq!(has_captions(&service, "v").await, (json!(expected), !draft));
    }
    service.ask("DELETE", "/youtube/v3/captions?id=c", "ALICE", "").await;
    assert_eq!(has_captions(&service, "v").await, (json!("false"), false));
    assert_eq!(listed(&service, "v", "ALICE").await, [""; 0]);
    // The name is free again.
    insert(&service, "", &metadata("v", "en", ""), VTT.as_bytes()).await;
}

#[tokio::test]
async fn a_track_whose_times_are_worked_out_serves_a_while_later() {
    let service = Service::new().await;
    let file = b"One line.\nAnother one.";
    let track = insert(&service, "&sync=true", &metadata("w", "en", ""), file).await;
    let snippet = &track["snippet"];
    assert_eq!((&snippet["status"], &snippet["isAutoSynced"]), (&json!("syncing"), &json!(true)));
    assert_eq!(has_captions(&service, "w").await, (json!("false"), false));
    let answer = download(&service, &track["id"], "tfmt=srt").await;
    assert_eq!(answer.reason(), "couldNotConvert");
    assert_eq!(download(&service, &track["id"], "").await.body, file.as_slice());
    service.later(5);
    assert_eq!(has_captions(&service, "w").await, (json!("true"), true));
    let found = service.list("/captions?part=snippet&videoId=w").await;
    assert_eq!(found["items"][0]["snippet"]["status"], "serving");
    let answer = download(&service, &track["id"], "tfmt=srt").await;
    assert_eq!(answer.status, 200);
    let (_, read) = video_api::caption::read(&answer.body).unwrap();
    assert_eq!(read.cues.len(), 2);
    assert_eq!(download(&service, &track["id"], "").await.body, file.as_slice());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_equal_tracks_that_come_at_once_one_is_made() {
    let service = Arc::new(Service::new().await);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move {
                send(&service, "POST", "", &metadata("w", "en", "x"), VTT.as_bytes()).await.status
            })
        })
        .collect();
    let mut told = Vec::new();
    for task in tasks {
        told.push(task.await.unwrap());
    }
    told.sort_unstable();
    assert_eq!(told, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(listed(&service, "w", "ALICE").await.len(), 1);
}

#[tokio::test]
async fn a_seed_file_brings_tracks_and_refuses_what_none_can_be_with_its_place() {
    use video_api::seed::Seed;
    let beside = |path: &str| {
        (path == "a.srt")
            .then(|| b"1\n00:00:01,000 --> 00:00:02,000\nx".to_vec())
            .ok_or_else(|| "not there".to_owned())
    };
    let parse = |captions: Value| {
        let text = json!({"captions": [captions]}).to_string();
        Seed::parse_beside(&text, &beside).map(|seed| seed.len()).map_err(|error| error.to_string())
    };
    assert_eq!(parse(json!({"video": "v", "language": "en", "file": "a.srt"})), Ok(1));
    for (section, told) in [
        (json!({"video": "v", "language": "en", "file": "b.srt"}), "captions[0].file: not there"),
        (
            json!({"video": "v", "language": "en"}),
            "captions[0].text: a track has either a text or a file",
        ),
        (
            json!({"video": "v", "language": "en", "text": "x", "trackKind": "y"}),
            "captions[0].trackKind: one of",
        ),
        (
            json!({"video": "v", "language": "en", "text": "x", "kind": "y"}),
            "captions[0]: unknown field",
        ),
    ] {
        let error = parse(section).unwrap_err();
        assert!(error.starts_with(told), "{error}");
    }
    let service = Service::seeded(&json!({
        "accounts": [{"id": "a", "tokens": [{"token": "ALICE", "scopes": ["youtube.force-ssl"]}], "channel": {"title": "A"}}],
        "videos": [{"id": "v", "owner": "a", "snippet": {"title": "V", "categoryId": "22"}}],
        "captions": [{"id": "k", "video": "v", "language": "en", "name": "n", "text": VTT, "isDraft": true, "trackKind": "ASR", "isCC": true,
            "audioTrackType": "primary", "updatedAt": "2026-01-02T03:04:05Z"}],
    }).to_string()).await;
    let found = service.list("/captions?part=snippet&videoId=v").await;
    let snippet = &found["items"][0]["snippet"];
    assert_eq!(
        (&snippet["isDraft"], &snippet["trackKind"], &snippet["isCC"], &snippet["audioTrackType"]),
        (&json!(true), &json!("ASR"), &json!(true), &json!("primary"))
    );
    assert_eq!(snippet["lastUpdated"], "2026-01-02T03:04:05.000Z");
    assert_eq!(download(&service, &json!("k"), "").await.body, VTT);
}

#[tokio::test]
async fn a_version_that_was_expected_at_the_begin_of_an_upload_is_expected_at_its_end() {
    let service = Service::new().await;
    let made = insert(&service, "", &metadata("w", "fr", ""), VTT.as_bytes()).await;
    let body = json!({"id": made["id"], "snippet": {"isDraft": false}}).to_string();
    let begin = async |etag: &str| {
        let target = "/upload/youtube/v3/captions?part=id,snippet&uploadType=resumable";
        let opened =
            service.ask_with("PUT", target, "ALICE", &[("if-match", etag)], body.as_bytes()).await;
        let place = opened.headers.get("location").map(|place| place.to_str().unwrap().to_owned());
        (opened.status, place.unwrap_or_default())
    };
    let file = VTT.replace("Hello", "Other");
    let end = async |place: &str| {
        let target = place.strip_prefix("http://127.0.0.1:7801").unwrap();
        let answer = service.ask_with("PUT", target, "", &[], file.as_bytes()).await;
        (answer.status, answer.json()["etag"].as_str().unwrap_or_default().to_owned())
    };
    let kept = async || download(&service, &made["id"], "").await.body;
    assert_eq!(begin("stale").await.0, 412);
    let (_, place) = begin(made["etag"].as_str().unwrap()).await;
    service.later(1);
    let target = "/youtube/v3/captions?part=id,snippet";
    let draft = body.replace("false", "true");
    let between = service.ask("PUT", target, "ALICE", &draft).await.json();
    assert_eq!(end(&place).await.0, 412, "it was changed in between");
    assert_eq!(end(&place).await.0, 412, "and asked once more");
    assert_eq!(kept().await, VTT.as_bytes());
    for etag in [between["etag"].as_str().unwrap(), "*"] {
        let (status, place) = begin(etag).await;
        assert_eq!(status, 200, "{etag}");
        assert_eq!(end(&place).await.0, 200, "{etag}");
        assert_eq!(kept().await, file.as_bytes());
    }
}
