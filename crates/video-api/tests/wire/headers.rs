//! Headers of answers: what they tell whoever has other credentials, a cache, or a page of another origin.

use crate::service::{Answer, Service};

const VIDEO: &str = "/youtube/v3/videos?part=snippet&id=v";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let value = answer.headers.get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_token_without_the_scope_is_told_the_scopes_that_would_do() {
    let service = Service::new().await;
    for (method, target, scopes) in [
        ("GET", "/youtube/v3/commentThreads?part=id&videoId=v", &["youtube.force-ssl"][..]),
        ("DELETE", "/youtube/v3/videos?id=v", &["youtube", "youtube.force-ssl", "youtubepartner"]),
        (
            "POST",
            "/upload/youtube/v3/captions?part=id&uploadType=resumable",
            &["youtube.force-ssl", "youtubepartner"],
        ),
    ] {
        let refused = service.ask(method, target, "NOTHING", "{}").await;
        assert_eq!((refused.status, refused.reason().as_str()), (403, "insufficientPermissions"));
        let names = scopes.iter().map(|scope| format!("https://www.googleapis.com/auth/{scope}"));
        let names = names.collect::<Vec<_>>().join(" ");
        let realm = "Bearer realm=\"https://accounts.google.com/\"";
        let told = format!("{realm}, error=\"insufficient_scope\", scope=\"{names}\"");
        assert_eq!(header(&refused, "www-authenticate"), told, "{target}");
    }
    let forbidden = service.ask("DELETE", "/youtube/v3/videos?id=v", "BOB", "").await;
    let told = (forbidden.status, header(&forbidden, "www-authenticate"));
    assert_eq!(told, (403, ""), "no scope would help");
}

#[tokio::test]
async fn an_answer_that_is_not_modified_says_all_that_caches_keep_of_it() {
    let service = Service::new().await;
    let whole = service.ask("GET", VIDEO, "ALICE", "").await;
    let known = [("if-none-match", header(&whole, "etag"))];
    let same = service.ask_with("GET", VIDEO, "ALICE", &known, b"").await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    let lines = [("if-none-match", "\"another\""), ("if-none-match", header(&whole, "etag"))];
    let listed = service.ask_with("GET", VIDEO, "ALICE", &lines, b"").await;
    assert_eq!(listed.status, 304, "a list of etags in two lines");
    for name in ["etag", "cache-control", "vary"] {
        assert_ne!(header(&whole, name), "", "{name}");
        assert_eq!(header(&same, name), header(&whole, name), "{name}");
    }
}

#[tokio::test]
async fn the_form_of_an_answer_is_named_in_any_letter_case() {
    let service = Service::new().await;
    for (target, status) in [
        ("/youtube/v3/videos?part=id&id=v&alt=JSON", 200),
        ("/youtube/v3/videos?part=id&id=v&alt=Media", 400),
        ("/youtube/v3/captions/c?alt=Media", 200),
        ("/youtube/v3/videos?part=id&id=v&alt=xml", 400),
        ("/youtube/v3/videos?part=id&id=v&alt=", 200),
    ] {
        let answer = service.ask("GET", target, "ALICE", "").await;
        assert_eq!(answer.status, status, "{target}");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_reads_every_header_by_which_a_client_goes_on() {
    let service = Service::new().await;
    let (origin, command) = (("origin", "https://app.example"), "x-goog-upload-command");
    let upload = "/upload/youtube/v3/videos?part=id&uploadType=resumable";
    let mut answers = Vec::new();
    for (method, target, token, headers) in [
        ("GET", VIDEO, "ALICE", &[][..]),
        ("GET", VIDEO, "NONE", &[]),
        ("GET", "/youtube/v3/captions/c", "ALICE", &[("range", "bytes=0-3")]),
        ("GET", "/youtube/v3/captions/c", "ALICE", &[("range", "bytes=9999-")]),
        ("PATCH", "/youtube/v3/videos", "ALICE", &[]),
        ("POST", upload, "ALICE", &[]),
        ("POST", upload, "ALICE", &[("x-goog-upload-protocol", "resumable"), (command, "start")]),
    ] {
        let headers = [&[origin], headers].concat();
        answers.push(service.ask_with(method, target, token, &headers, b"").await);
    }
    let session = header(&answers[5], "location").strip_prefix("http://127.0.0.1:7801").unwrap();
    let session = session.to_owned();
    let piece = vec![0; 256 * 1024];
    let range = ("content-range", "bytes 0-262143/*");
    for headers in
        [&[origin, range, ("x-guploader-no-308", "yes")][..], &[origin, (command, "query")]]
    {
        let body = if headers.contains(&range) { piece.as_slice() } else { b"" };
        answers.push(service.ask_with("PUT", &session, "", headers, body).await);
    }
    // Those that every page may read, and those that are the browser's own business.
    let others =
        ["cache-control", "content-length", "content-type", "vary", "x-content-type-options"];
    for answer in answers {
        let exposed = header(&answer, "access-control-expose-headers").to_ascii_lowercase();
        let is_read = |name: &str| {
            others.contains(&name)
                || name.starts_with("access-control-")
                || exposed.split(", ").any(|known| known == name)
        };
        let hidden = answer.headers.keys().find(|name| !is_read(name.as_str()));
        assert_eq!(hidden, None, "{}", answer.status);
    }
}
