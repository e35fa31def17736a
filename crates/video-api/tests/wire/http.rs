//! Rules of HTTP itself: methods, conditions, pages of other origins, bodies that are refused.

use serde_json::{Value, json};

use crate::service::{Answer, Service};

const VIDEO: &str = "/youtube/v3/videos?part=snippet&id=v";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let value = answer.headers.get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn another_form_of_an_answer_has_another_etag() {
    let service = Service::new().await;
    let body = json!({"id": "v", "snippet": {"title": "First", "categoryId": "22", "defaultLanguage": "en"},
        "localizations": {"de": {"title": "Erstes"}}});
    let update = "/youtube/v3/videos?part=snippet,localizations";
    service.ask("PUT", update, "ALICE", &body.to_string()).await;
    let tags = async |list: &str, parts: &[&str], headers: &[(&str, &str)]| {
        let mut tags = Vec::new();
        for part in parts {
            let target = format!("/youtube/v3/{list}&part={part}");
            let answer = service.ask_with("GET", &target, "ALICE", headers, b"").await;
            assert_eq!(answer.status, 200, "{target}: {}", answer.json());
            tags.push(header(&answer, "etag").to_owned());
        }
        tags
    };
    for list in ["videos?id=v", "playlistItems?playlistId=PLx", "search?q=first"] {
        let [id, snippet] = &tags(list, &["id", "snippet"], &[]).await[..] else {
            panic!("two answers")
        };
        assert_ne!(id, snippet, "{list}");
    }
    let plain = tags("videos?id=v", &["snippet"], &[]).await;
    let german = [("accept-language", "de")];
    for other in [
        tags("videos?id=v&hl=de", &["snippet"], &[]).await,
        tags("videos?id=v", &["snippet"], &german).await,
    ] {
        assert_ne!(plain, other);
    }
    let headers = [("accept-language", "de"), ("if-none-match", plain[0].as_str())];
    let answer = service.ask_with("GET", VIDEO, "ALICE", &headers, b"").await;
    let title = &answer.json()["items"][0]["snippet"]["localized"]["title"];
    assert_eq!((answer.status, title), (200, &json!("Erstes")));
}

#[tokio::test]
async fn head_is_answered_as_get() {
    let service = Service::new().await;
    let read = service.ask("GET", VIDEO, "ALICE", "").await;
    let head = service.ask("HEAD", VIDEO, "ALICE", "").await;
    assert_eq!(head.status, 200);
    for name in ["etag", "content-type"] {
        assert_eq!(header(&head, name), header(&read, name));
    }
    assert_eq!(service.ask("HEAD", VIDEO, "", "").await.status, 403);
}

#[tokio::test]
async fn an_expectation_other_than_to_continue_is_refused_with_417() {
    let service = Service::new().await;
    for (expected, status) in [
        ("nope", 417),
        ("100-continue, nope", 417),
        ("100-continued", 417),
        ("100-continue", 200),
        ("100-Continue", 200),
    ] {
        let answer = service.ask_with("GET", VIDEO, "ALICE", &[("expect", expected)], b"").await;
        assert_eq!(answer.status, status, "{expected}");
        if status == 417 {
            let error = &answer.json()["error"]["errors"][0];
            let told = (&error["reason"], &error["location"], &error["locationType"]);
            assert_eq!(told, (&json!("expectationFailed"), &json!("Expect"), &json!("header")));
        }
    }
    for target in ["/upload/youtube/v3/videos?part=id", "/batch", "/youtube/v3/none"] {
        let answer = service.ask_with("POST", target, "ALICE", &[("expect", "nope")], b"{}").await;
        assert_eq!((answer.status, answer.reason().as_str()), (417, "expectationFailed"));
    }
}

#[tokio::test]
async fn a_method_that_a_path_does_not_take_is_refused_with_those_that_it_takes() {
    let service = Service::new().await;
    for (method, target, allowed) in [
        ("POST", "/youtube/v3/search", "GET, HEAD, OPTIONS"),
        ("GET", "/youtube/v3/videos/rate", "POST, OPTIONS"),
        ("PATCH", "/youtube/v3/channels", "GET, PUT, HEAD, OPTIONS"),
        ("GET", "/upload/youtube/v3/videos", "POST, OPTIONS"),
        ("PUT", "/batch", "POST, OPTIONS"),
        ("DELETE", "/vi/v/default.jpg", "GET, HEAD, OPTIONS"),
    ] {
        let answer = service.ask(method, target, "ALICE", "").await;
        let told = (answer.status, header(&answer, "allow"));
        assert_eq!(told, (405, allowed), "{method} {target}");
        assert_eq!(answer.reason(), "httpMethodNotAllowed");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(allowed), "{message}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_may_ask_and_read_but_not_answer_for_the_user() {
    let service = Service::new().await;
    let page = ("origin", "https://app.example");
    let asks = [
        page,
        ("access-control-request-method", "PUT"),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    for target in ["/youtube/v3/videos?part=snippet", "/upload/youtube/v3/videos"] {
        let may = service.ask_with("OPTIONS", target, "", &asks, b"").await;
        assert_eq!(may.status, 200);
        assert_eq!(header(&may, "access-control-allow-origin"), page.1);
        assert!(header(&may, "access-control-allow-methods").contains("PUT"));
        let headers = header(&may, "access-control-allow-headers");
        assert_eq!(headers, "authorization,content-type");
    }
    for (token, status) in [("ALICE", 200), ("nobody", 401)] {
        let read = service.ask_with("GET", VIDEO, token, &[page], b"").await;
        let origin = header(&read, "access-control-allow-origin");
        assert_eq!((read.status, origin), (status, page.1));
        assert!(header(&read, "vary").contains("Origin"));
    }
    let plain = service.ask("GET", VIDEO, "ALICE", "").await;
    assert_eq!(header(&plain, "access-control-allow-origin"), "");
    let consent = "/o/oauth2/v2/auth?client_id=x&response_type=code";
    for method in ["GET", "OPTIONS"] {
        let answer = service.ask_with(method, consent, "", &asks, b"").await;
        assert_eq!(header(&answer, "access-control-allow-origin"), "");
        assert_eq!(header(&answer, "access-control-allow-methods"), "");
    }
    let nothing = "/youtube/v3/nothing";
    assert_eq!(service.ask("OPTIONS", nothing, "", "").await.status, 404);
}

/// The answer to a batch of these requests, and the lines of their statuses.
async fn batch(service: &Service, requests: &[&str]) -> (String, Vec<String>) {
    let part = |request: &&str| {
        format!("--B\r\nContent-Type: application/http\r\n\r\n{request} HTTP/1.1\r\n\r\n")
    };
    let body = requests.iter().map(part).collect::<String>() + "--B--";
    let kind = [("content-type", "multipart/mixed; boundary=B")];
    let answer = service.ask_with("POST", "/batch", "ALICE", &kind, body.as_bytes()).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let statuses = text.lines().filter(|line| line.starts_with("HTTP/1.1"));
    let statuses = statuses.map(str::to_owned).collect();
    (text, statuses)
}

#[tokio::test]
async fn a_batch_says_what_it_does_not_take() {
    let service = Service::new().await;
    let (text, statuses) = batch(
        &service,
        &[
            "POST /batch",
            "POST /upload/youtube/v3/videos?part=id",
            "GET /youtube/v3/videos?part=id&id=v",
        ],
    )
    .await;
    let refused = "HTTP/1.1 400 Bad Request";
    assert_eq!(statuses, [refused, refused, "HTTP/1.1 200 OK"]);
    assert_eq!(text.matches("neither batches nor uploads").count(), 4);
}

#[tokio::test]
async fn a_head_within_a_batch_is_a_get_without_a_body_and_options_tell_the_methods() {
    let service = Service::new().await;
    let (text, statuses) = batch(
        &service,
        &[
            &format!("HEAD {VIDEO}"),
            &format!("HEAD {VIDEO}&fields=none"),
            &format!("GET {VIDEO}&fields=items/id"),
            &format!("OPTIONS {VIDEO}"),
        ],
    )
    .await;
    let (ok, refused) = ("HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request");
    assert_eq!(statuses, [ok, refused, ok, ok], "{text}");
    let answers = text.split("HTTP/1.1").collect::<Vec<_>>().split_off(1);
    assert_eq!(answers.len(), 4);
    for (answer, holds_body) in answers.iter().zip([false, false, true, false]) {
        assert_eq!(answer.contains('{'), holds_body, "{answer}");
    }
    let whole = service.ask("GET", VIDEO, "ALICE", "").await;
    assert!(answers[0].contains(&format!("etag: {}", header(&whole, "etag"))), "{text}");
    assert!(answers[3].contains("allow: POST, GET, DELETE, PUT, HEAD, OPTIONS"), "{text}");
}

#[tokio::test]
async fn credentials_and_language_of_a_batch_hold_for_its_requests_without_their_own() {
    let service = Service::new().await;
    let own = json!({"snippet": {"title": "In a batch"}}).to_string();
    let part = |line: &str, more: &str, body: &str| {
        format!(
            "--B\r\nContent-Type: application/http\r\n\r\n{line} HTTP/1.1\r\n{more}\r\n{body}\r\n"
        )
    };
    let kind = "Content-Type: application/json\r\n";
    let channel = "GET /youtube/v3/channels?part=id&fields=items/id&mine=true";
    let long = "X-HTTP-Method-Override: GET\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    let body = [
        part("POST /youtube/v3/playlists?part=snippet&key=KEY", kind, &own),
        part(&format!("{channel}&key=KEY"), "", ""),
        part(channel, "Authorization: Bearer BOB\r\n", ""),
        part(&format!("{channel}&access_token=BOB"), "", ""),
        part("POST /youtube/v3/channels", long, "part=id&fields=items/id&mine=true"),
        part(
            "POST /youtube/v3/channels",
            long,
            "part=id&fields=items/id&mine=true&access_token=BOB",
        ),
    ]
    .concat()
        + "--B--";
    let kind = [("content-type", "multipart/mixed; boundary=B")];
    let answer = service.ask_with("POST", "/batch", "ALICE", &kind, body.as_bytes()).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 6, "{text}");
    assert_eq!(
        (text.matches("\"UCx\"").count(), text.matches("\"UCbob\"").count()),
        (3, 3),
        "{text}"
    );
    let body = json!({"id": "v", "snippet": {"title": "First", "categoryId": "22", "defaultLanguage": "en"},
        "localizations": {"de": {"title": "Erstes"}, "fr": {"title": "Premier"}}});
    let update = "/youtube/v3/videos?part=snippet,localizations";
    service.ask("PUT", update, "ALICE", &body.to_string()).await;
    let video = format!("GET {VIDEO}&fields=items/snippet/localized/title");
    let body = part(&video, "", "") + &part(&video, "Accept-Language: fr\r\n", "") + "--B--";
    let kind = [kind[0], ("accept-language", "de")];
    let answer = service.ask_with("POST", "/batch", "ALICE", &kind, body.as_bytes()).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let at = |title: &str| text.find(title).unwrap();
    assert!(at("Erstes") < at("Premier"), "{text}");
}

#[tokio::test]
async fn a_batch_with_a_long_answer_is_answered_to_its_end() {
    let service = Service::new().await;
    let mut body = String::new();
    for at in 0..200 {
        let list = ["i18nRegions", "i18nLanguages"][at % 2];
        body += &format!(
            "--B\r\nContent-Type: application/http\r\nContent-ID: <{at}>\r\n\r\nGET /youtube/v3/{list}?part=snippet HTTP/1.1\r\n\r\n\r\n"
        );
    }
    let kind = [("content-type", "multipart/mixed; boundary=B")];
    let body = body + "--B--";
    let answer = service.ask_with("POST", "/batch", "ALICE", &kind, body.as_bytes()).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(text.len() > 2 * 1024 * 1024, "{}", text.len());
    let mark = header(&answer, "content-type").split_once("boundary=").unwrap().1;
    assert!(text.ends_with(&format!("--{mark}--\r\n")));
    let parts: Vec<_> = text.split(&format!("--{mark}\r\n")).skip(1).collect();
    assert_eq!(parts.len(), 200);
    for (at, part) in parts.iter().enumerate() {
        assert!(part.contains(&format!("<response-{at}>")) && part.contains("HTTP/1.1 200 OK"));
        let kind = ["i18nRegionListResponse", "i18nLanguageListResponse"][at % 2];
        assert!(part.contains(kind), "{at}");
    }
}

#[tokio::test]
async fn the_discovery_document_is_that_of_version_3_alone() {
    let service = Service::new().await;
    for (query, status) in [("", 200), ("?version=v3", 200), ("?version=v2", 404)] {
        let target = format!("/$discovery/rest{query}");
        assert_eq!(service.ask("GET", &target, "", "").await.status, status);
    }
}

#[tokio::test]
async fn an_upload_says_which_header_is_wrong() {
    let service = Service::new().await;
    let start = "/upload/youtube/v3/videos?part=snippet&uploadType=resumable";
    let headers = [("x-upload-content-length", "many")];
    let metadata = br#"{"snippet": {"title": "t"}}"#;
    let answer = service.ask_with("POST", start, "ALICE", &headers, metadata).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "invalidHeader"));
    let message = answer.json()["error"]["message"].to_string();
    assert!(message.contains("X-Upload-Content-Length"), "{message}");
    let raw = "/upload/youtube/v3/videos?part=snippet&upload_protocol=raw";
    let kind = [("content-type", "video/mp4")];
    let answer = service.ask_with("POST", raw, "ALICE", &kind, b"bytes").await;
    assert_eq!(answer.status, 200, "{}", answer.json());
}

#[tokio::test]
async fn a_token_that_is_asked_about_and_is_none_is_400() {
    let service = Service::new().await;
    for target in ["/revoke?token=none", "/tokeninfo?access_token=none"] {
        let answer = service.ask("POST", target, "", "").await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, error), (400, &json!("invalid_token")), "{target}");
    }
    let known = service.ask("POST", "/tokeninfo", "", "access_token=ALICE").await;
    assert_eq!((known.status, &known.json()["sub"]), (200, &json!("alice")));
    assert_ne!(known.json()["scope"], Value::Null);
}

#[tokio::test]
async fn a_post_that_brings_no_resource_may_bring_its_query_as_a_form() {
    let service = Service::new().await;
    let form = [("content-type", "application/x-www-form-urlencoded; charset=utf-8")];
    for (path, query) in [
        ("videos/rate", "id=v&rating=like"),
        ("comments/setModerationStatus", "id=c&moderationStatus=heldForReview"),
        ("watermarks/unset", "channelId=UCx"),
    ] {
        let target = format!("/youtube/v3/{path}?");
        let told = service.ask_with("POST", &target, "ALICE", &form, query.as_bytes()).await;
        assert_eq!(told.status, 204, "{path}: {}", told.json());
    }
    let rated = service.list("/videos/getRating?id=v").await;
    assert_eq!(rated["items"][0]["rating"], "like");
    // Where a resource is wanted, a form is none.
    let target = "/youtube/v3/playlists";
    let refused = service.ask_with("POST", target, "ALICE", &form, b"part=snippet").await;
    assert_eq!((refused.status, refused.reason()), (400, "required".to_owned()));
}

#[tokio::test]
async fn an_overridden_method_is_the_one_that_it_names_and_an_empty_name_is_none() {
    let service = Service::new().await;
    let target = "/youtube/v3/channels?part=id&mine=true";
    for (wanted, status) in [("GET", 200), ("head", 200), ("", 405), (" ", 405), ("PATCH", 405)] {
        let header = [("x-http-method-override", wanted)];
        let answer = service.ask_with("POST", target, "ALICE", &header, b"").await;
        assert_eq!(answer.status, status, "{wanted:?}");
        if wanted.trim().is_empty() {
            let told = answer.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(told.contains("the method POST;"), "{told}");
        }
    }
}

#[tokio::test]
async fn a_control_path_that_is_asked_with_another_method_says_which_one_it_takes() {
    let service = Service::new().await;
    for (method, target, allowed) in [
        ("GET", "/_ops/plays", "POST"),
        ("DELETE", "/_ops/accounts/close", "POST"),
        ("POST", "/_ops/quota", "GET"),
        ("PUT", "/_ops/abuseReports?videoId=v", "GET"),
    ] {
        let refused = service.control(method, target, "{}").await;
        assert_eq!(refused.status, 405, "{method} {target}");
        assert_eq!(refused.headers["allow"], allowed, "{method} {target}");
    }
    assert_eq!(service.control("GET", "/_ops/quota", "").await.status, 200);
}

#[tokio::test]
async fn secrets_of_this_service_are_known_to_the_log_of_requests() {
    let service = Service::new().await;
    let known = triptych_core::host::Hosted::secret_parameters(&service.api);
    for secret in ["upload_id", "id_token", "code_verifier", "rs"] {
        assert!(known.contains(&secret), "{secret}");
    }
}
