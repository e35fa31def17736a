//! Requests that ask for what cannot be: words that no text holds, settings that name nothing, resources that are too long, paths of other protocols.

use serde_json::{Value, json};
use triptych_core::host::{Hosted as _, Refusal, RequestHead, RequestId, is_control};

use crate::service::{Answer, Service, ask};

/// Status, reason and place of an answer.
fn told(answer: &Answer) -> (u16, String, Value) {
    let place = answer.json()["error"]["errors"][0]["location"].clone();
    (answer.status, answer.reason(), place)
}

async fn brand(service: &Service, settings: Value) -> Answer {
    let body = json!({"id": "UCx", "brandingSettings": settings}).to_string();
    let target = "/youtube/v3/channels?part=brandingSettings";
    service.ask("PUT", target, "ALICE", &body).await
}

#[tokio::test]
async fn a_search_for_signs_alone_finds_nothing_and_signs_beside_words_are_not_looked_at() {
    let service = Service::new().await;
    let total = async |query: &str| {
        service.list(&format!("/search?part=id&{query}")).await["pageInfo"]["totalResults"].clone()
    };
    let (everything, first) = (total("").await, total("q=first").await);
    assert!(everything.as_u64() > first.as_u64() && first == 1, "{everything} {first}");
    for signs in ["%F0%9F%A6%8A", "!!!", "-", "%22%22", "%7C", "-%F0%9F%A6%8A"] {
        for order in ["", "&order=title", "&order=viewCount", "&type=video&forMine=true"] {
            assert_eq!(total(&format!("q={signs}{order}")).await, 0, "{signs} {order}");
        }
    }
    assert_eq!(total("q=%20").await, everything, "a blank asks for no words");
    assert_eq!(total("q=first%20%F0%9F%A6%8A").await, first);
    assert_eq!(total("q=%F0%9F%A6%8A%7Cfirst").await, first);
    let threads = async |terms: &str| {
        let list = format!("/commentThreads?part=id&videoId=v&searchTerms={terms}");
        service.list(&list).await["items"].as_array().unwrap().len()
    };
    assert_eq!((threads("hello").await, threads("%20").await), (1, 1));
    assert_eq!((threads("!!!").await, threads("%F0%9F%A6%8A").await), (0, 0));
    assert_eq!(threads("hello%20!").await, 1);
}

#[tokio::test]
async fn a_trailer_is_a_video_of_the_channel_that_others_see() {
    let service = Service::new().await;
    let trailer = async |video: &str| {
        brand(&service, json!({"channel": {"unsubscribedTrailer": video}})).await
    };
    assert_eq!(trailer("v").await.status, 200);
    for video in ["nowhere", "p", "PLx"] {
        let place = json!("body.brandingSettings.channel.unsubscribedTrailer");
        let refused = (400, "brandingValidationError".to_owned(), place);
        assert_eq!(told(&trailer(video).await), refused, "{video}");
    }
    let body =
        json!({"id": "UCbob", "brandingSettings": {"channel": {"unsubscribedTrailer": "v"}}});
    let (status, answer) =
        ask(&service, "BOB", "PUT", "/channels?part=brandingSettings", body).await;
    assert_eq!(status, 400, "a video of another channel: {answer}");
    let kept = service.list("/channels?part=brandingSettings&id=UCx").await;
    let settings = &kept["items"][0]["brandingSettings"]["channel"];
    assert_eq!(settings["unsubscribedTrailer"], "v", "what is refused leaves what was");
    assert_eq!(trailer("").await.status, 200);
    let kept = service.list("/channels?part=brandingSettings&id=UCx").await;
    assert_eq!(kept["items"][0]["brandingSettings"]["channel"].get("unsubscribedTrailer"), None);
}

#[tokio::test]
async fn settings_of_a_channel_are_of_their_form() {
    let service = Service::new().await;
    for settings in [
        json!({"channel": {"profileColor": "#zzzzzz"}}),
        json!({"channel": {"profileColor": "red"}}),
        json!({"channel": {"country": "QQ"}}),
        json!({"channel": {"defaultTab": "x".repeat(101)}}),
        json!({"channel": {"featuredChannelsTitle": "x".repeat(31)}}),
        json!({"channel": {"featuredChannelsUrls": ["x".repeat(101)]}}),
        json!({"watch": {"textColor": "white"}}),
        json!({"watch": {"backgroundColor": "#12345"}}),
        json!({"watch": {"featuredPlaylistId": "x".repeat(101)}}),
    ] {
        let refused = (400, "brandingValidationError".to_owned(), json!("body.brandingSettings"));
        assert_eq!(told(&brand(&service, settings.clone()).await), refused, "{settings}");
    }
    let settings = json!({
        "channel": {"profileColor": "#A0b1C2", "country": "de", "keywords": "k".repeat(500),
            "featuredChannelsTitle": "\u{e9}".repeat(30)},
        "watch": {"textColor": "#ffffff", "backgroundColor": ""},
    });
    let shown = brand(&service, settings).await.json();
    assert_eq!(shown["brandingSettings"]["channel"]["country"], "DE", "as it is listed");
    assert_eq!(shown["brandingSettings"]["watch"], json!({"textColor": "#ffffff"}));
    let promotion =
        json!({"items": [{"id": {"type": "recentUpload", "recentlyUploadedBy": "UCno"}}]});
    let body = json!({"id": "UCx", "invideoPromotion": promotion}).to_string();
    let target = "/youtube/v3/channels?part=invideoPromotion";
    let answer = service.ask("PUT", target, "ALICE", &body).await;
    let place = json!("body.invideoPromotion.items.id.recentlyUploadedBy");
    assert_eq!(told(&answer), (400, "invalidBrandingOption".to_owned(), place));
}

#[tokio::test]
async fn parts_that_are_too_long_together_are_refused_and_not_kept() {
    let service = Service::new().await;
    let before = service.list("/channels?part=brandingSettings,localizations&id=UCx").await;
    let long = json!({"title": "t", "description": "d".repeat(4_900)});
    let languages = ["de", "fr", "it", "es", "pt", "nl", "pl", "sv"];
    let localizations: Value =
        languages.iter().map(|language| ((*language).to_owned(), long.clone())).collect();
    let message = "\u{1F98A}".repeat(500);
    let item =
        json!({"id": {"type": "website", "websiteUrl": "http://a/"}, "customMessage": message});
    let body = json!({
        "id": "UCx", "brandingSettings": {"channel": {"defaultLanguage": "en"}},
        "localizations": localizations, "invideoPromotion": {"items": vec![item; 20]},
    });
    let parts = "/channels?part=brandingSettings,localizations,invideoPromotion";
    let (status, answer) = ask(&service, "ALICE", "PUT", parts, body).await;
    let reason = &answer["error"]["errors"][0]["reason"];
    assert_eq!((status, reason), (413, &json!("backendRequestTooLarge")), "{answer}");
    let after = service.list("/channels?part=brandingSettings,localizations&id=UCx").await;
    assert_eq!(after, before);
}

#[tokio::test]
async fn an_item_and_a_playlist_keep_nothing_of_any_length() {
    let service = Service::new().await;
    let details = json!({"startAt": "5".repeat(101)});
    let video = json!({"kind": "youtube#video", "videoId": "v"});
    let body =
        json!({"snippet": {"playlistId": "PL", "resourceId": video}, "contentDetails": details});
    let target = "/playlistItems?part=snippet,contentDetails";
    let (status, answer) = ask(&service, "ALICE", "POST", target, body).await;
    let reason = &answer["error"]["errors"][0]["reason"];
    assert_eq!((status, reason), (400, &json!("invalidContentDetails")), "{answer}");
    let body = json!({"snippet": {"title": "t", "tags": vec![""; 30_000]}});
    let (status, answer) = ask(&service, "ALICE", "POST", "/playlists?part=snippet", body).await;
    let reason = &answer["error"]["errors"][0]["reason"];
    assert_eq!((status, reason), (400, &json!("invalidPlaylistSnippet")), "{answer}");
}

#[tokio::test]
async fn two_filters_of_channels_and_too_many_ids_are_refused_where_the_real_service_says() {
    let service = Service::new().await;
    let answer =
        service.ask("GET", "/youtube/v3/channels?part=id&mine=true&id=UCx", "ALICE", "").await;
    assert_eq!(told(&answer), (400, "invalidCriteria".to_owned(), json!("")));
    let many: Vec<_> = (0..51).map(|number| format!("UC{number}")).collect();
    let many = many.join(",");
    for list in [
        format!("/videos?part=id&id={many}"),
        format!("/subscriptions?part=id&mine=true&forChannelId={many}"),
    ] {
        let answer = service.ask("GET", &format!("/youtube/v3{list}"), "ALICE", "").await;
        assert_eq!(told(&answer), (400, "invalidFilters".to_owned(), json!("parameters.")));
        assert_eq!(answer.json()["error"]["errors"][0]["locationType"], "other");
    }
}

#[tokio::test]
async fn an_upload_of_three_parts_has_too_many() {
    let service = Service::new().await;
    let part = "--b\r\nContent-Type: application/octet-stream\r\n\r\nWEBVTT\r\n";
    let snippet = json!({"snippet": {"videoId": "w", "language": "de", "name": ""}});
    let head = format!("--b\r\nContent-Type: application/json\r\n\r\n{snippet}\r\n");
    let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
    let headers = [("content-type", "multipart/related; boundary=b")];
    let send = async |parts: usize| {
        let text = format!("{head}{}--b--\r\n", part.repeat(parts));
        service.ask_with("POST", target, "ALICE", &headers, text.as_bytes()).await
    };
    assert_eq!(told(&send(2).await), (400, "tooManyParts".to_owned(), Value::Null));
    assert_eq!(send(1).await.status, 200, "nothing of the refused one is there");
}

#[tokio::test]
async fn the_path_of_downloads_serves_what_is_downloaded_alone() {
    let service = Service::new().await;
    let plain = service.ask("GET", "/youtube/v3/captions/c?tfmt=srt", "ALICE", "").await;
    for query in ["tfmt=srt", "tfmt=srt&alt=media"] {
        let target = format!("/download/youtube/v3/captions/c?{query}");
        let answer = service.ask("GET", &target, "ALICE", "").await;
        assert_eq!((answer.status, &answer.body), (200, &plain.body));
    }
    let bob = service.ask("GET", "/download/youtube/v3/captions/c", "BOB", "").await;
    assert_eq!(told(&bob), (403, "forbidden".to_owned(), Value::Null));
    let other = service.ask("GET", "/download/youtube/v3/videos?part=id&id=v", "ALICE", "").await;
    assert_eq!(told(&other), (400, "notDownload".to_owned(), Value::Null));
    let nowhere = service.ask("GET", "/download/youtube/v3/nowhere", "ALICE", "").await;
    assert_eq!(told(&nowhere), (404, "notFound".to_owned(), Value::Null));
    let batch = "--b\r\nContent-Type: application/http\r\n\r\nGET /download/youtube/v3/captions/c HTTP/1.1\r\n\r\n--b--";
    let headers = [("content-type", "multipart/mixed; boundary=b")];
    let answer = service.ask_with("POST", "/batch", "ALICE", &headers, batch.as_bytes()).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.contains("HTTP/1.1 400") && text.contains("badRequest"), "{text}");
}

#[tokio::test]
async fn a_range_beyond_a_download_is_refused_with_its_reason_and_the_length() {
    let service = Service::new().await;
    let target = "/youtube/v3/captions/c";
    let whole = service.ask("GET", target, "ALICE", "").await.body.len();
    let headers = [("range", "bytes=9999-")];
    let answer = service.ask_with("GET", target, "ALICE", &headers, b"").await;
    let refused = (416, "requestedRangeNotSatisfiable".to_owned(), json!("Range"));
    assert_eq!(told(&answer), refused);
    assert_eq!(answer.headers["content-range"], format!("bytes */{whole}"));
}

/// A refusal of the host as the service words it: status, type and text.
async fn refused_by_host(
    service: &Service,
    refusal: &Refusal,
    (method, target): (&str, &str),
) -> (u16, String, String) {
    let request = http::Request::builder().method(method).uri(target);
    let (head, ()) =
        request.header("origin", "https://page.example").body(()).unwrap().into_parts();
    let id = RequestId::from_number(7, 0);
    let head =
        RequestHead { method: &head.method, uri: &head.uri, headers: &head.headers, id: &id };
    let (head, body) = service.api.refuse(refusal, &head).into_parts();
    let told = head.headers["content-type"].to_str().unwrap().to_owned();
    let is_open = head.headers.contains_key("access-control-allow-origin");
    assert_eq!(is_open, !is_control(target), "{target}");
    let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    (head.status.as_u16(), told, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_refusal_of_the_host_is_a_script_too_where_the_request_asks_for_one() {
    let service = Service::new().await;
    let fault = Refusal::FaultInjected { status: 403, reason: Some("rateLimitExceeded".into()) };
    for (refusal, reason) in [(fault, "rateLimitExceeded"), (Refusal::Overloaded, "backendError")] {
        let target = "/youtube/v3/videos?part=id&id=v";
        let plain = refused_by_host(&service, &refusal, ("GET", target)).await;
        assert!(plain.0 >= 400 && plain.1.starts_with("application/json"), "{plain:?}");
        let called = format!("{target}&callback=page.show");
        let (status, kind, text) = refused_by_host(&service, &refusal, ("GET", &called)).await;
        assert_eq!((status, kind.as_str()), (200, "text/javascript; charset=UTF-8"));
        let inside = text.strip_prefix("// API callback\npage.show(").unwrap();
        let inside: Value = serde_json::from_str(inside.strip_suffix(");").unwrap()).unwrap();
        assert_eq!(inside["error"]["errors"][0]["reason"], reason, "{inside}");
        assert_eq!(inside["error"]["code"], plain.0, "{inside}");
        for (method, target) in [
            ("POST", called.as_str()),
            ("GET", "/_ops/quota?callback=show"),
            ("GET", "/_ui/?callback=show"),
        ] {
            let (status, kind, _) = refused_by_host(&service, &refusal, (method, target)).await;
            assert_eq!((status, kind.starts_with("application/json")), (plain.0, true), "{target}");
        }
    }
}

#[tokio::test]
async fn a_refusal_of_the_host_has_a_reason_and_a_status_of_the_interface() {
    let service = Service::new().await;
    for (refusal, status, reason, name, place) in [
        (Refusal::MissingHost, 400, "invalidHeader", "INVALID_ARGUMENT", Some("Host")),
        (Refusal::BadHost, 400, "invalidHeader", "INVALID_ARGUMENT", Some("Host")),
        (Refusal::HostMismatch, 400, "invalidHeader", "INVALID_ARGUMENT", Some("Host")),
        (Refusal::HeadTooLarge(1), 431, "badRequest", "INVALID_ARGUMENT", None),
        (Refusal::Panicked, 500, "internalError", "INTERNAL", None),
        (Refusal::Overloaded, 503, "backendError", "UNAVAILABLE", None),
    ] {
        let told = refused_by_host(&service, &refusal, ("GET", "/youtube/v3/videos")).await;
        let error = serde_json::from_str::<Value>(&told.2).unwrap()["error"].clone();
        let one = &error["errors"][0];
        assert_eq!((told.0, &one["reason"]), (status, &json!(reason)), "{error}");
        assert_eq!((&error["status"], one["location"].as_str()), (&json!(name), place), "{error}");
    }
}
