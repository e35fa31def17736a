//! The forms in which bodies arrive: packed, and in each vocabulary of uploads in pieces.

use std::future::Future as _;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Request;
use http_body::Frame;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use video_api::resource::OPERATIONS;

use crate::service::{Answer, Service};

const PIECE: usize = 256 * 1024;
const START: &str = "/upload/youtube/v3/videos?part=snippet,status";
const METADATA: &[u8] = br#"{"snippet": {"title": "In pieces", "categoryId": "22"}}"#;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn header(answer: &Answer, name: &str) -> String {
    answer.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// The target of an address that the service gave.
fn target(address: &str) -> String {
    let (_, rest) = address.split_once("://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

#[tokio::test]
async fn every_kind_of_body_may_be_packed() {
    let service = Service::new().await;
    let gzip = ("content-encoding", "gzip");
    let playlist = json!({"snippet": {"title": "Packed"}}).to_string();
    let insert = "/youtube/v3/playlists?part=snippet";
    let made =
        service.ask_with("POST", insert, "ALICE", &[gzip], &packed(playlist.as_bytes())).await;
    assert_eq!((made.status, &made.json()["snippet"]["title"]), (200, &json!("Packed")));

    let form = [
        gzip,
        ("x-http-method-override", "GET"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let query = packed(b"part=id&id=v,w");
    let listed = service.ask_with("POST", "/youtube/v3/videos", "ALICE", &form, &query).await;
    assert_eq!(listed.json()["items"].as_array().map(Vec::len), Some(2));

    let kind = ("content-type", "multipart/mixed; boundary=B");
    let inner = packed(playlist.as_bytes());
    let mut batch = b"--B\r\nContent-Type: application/http\r\n\r\nGET /youtube/v3/videos?part=id&id=v HTTP/1.1\r\n\r\n\r\n\
        --B\r\nContent-Type: application/http\r\n\r\nPOST /youtube/v3/playlists?part=snippet HTTP/1.1\r\n\
        Content-Encoding: gzip\r\n\r\n".to_vec();
    batch.extend_from_slice(&inner);
    batch.extend_from_slice(b"\r\n--B--");
    let answer = service.ask_with("POST", "/batch", "ALICE", &[gzip, kind], &packed(&batch)).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");

    let related = ("content-type", "multipart/related; boundary=B");
    let body = [
        b"--B\r\nContent-Type: application/json\r\n\r\n",
        METADATA,
        b"\r\n--B\r\nContent-Type: video/mp4\r\n\r\nbytes\r\n--B--",
    ]
    .concat();
    let upload = format!("{START}&uploadType=multipart");
    let sent = service.ask_with("POST", &upload, "ALICE", &[gzip, related], &packed(&body)).await;
    assert_eq!((sent.status, &sent.json()["snippet"]["title"]), (200, &json!("In pieces")));
}

#[tokio::test]
async fn what_comes_out_of_a_packed_body_is_limited_and_what_is_no_gzip_is_refused() {
    let service = Service::new().await;
    let insert = "/youtube/v3/playlists?part=snippet";
    let ask = async |encoding: &str, body: &[u8]| {
        let headers = [("content-encoding", encoding)];
        let answer = service.ask_with("POST", insert, "ALICE", &headers, body).await;
        (answer.status, answer.reason())
    };
    let bomb = packed(&vec![b' '; 8 * 1024 * 1024]);
    assert!(bomb.len() < 10_000);
    assert_eq!(ask("gzip", &bomb).await, (413, "uploadTooLarge".into()));
    assert_eq!(ask("gzip", b"{}").await, (400, "parseError".into()));
    let whole = packed(br#"{"snippet": {"title": "x"}}"#);
    assert_eq!(ask("gzip", &whole[..whole.len() - 4]).await, (400, "parseError".into()));
    for encoding in ["br", "deflate", "gzip, gzip", "zstd"] {
        let refused = ask(encoding, &whole).await;
        assert_eq!(refused, (415, "unsupportedMediaType".into()), "{encoding}");
    }
    assert_eq!(ask("identity", br#"{"snippet": {"title": "x"}}"#).await.0, 200);
    let read = [("content-encoding", "br")];
    let list = "/youtube/v3/videos?part=id&id=v";
    assert_eq!(service.ask_with("GET", list, "ALICE", &read, b"").await.status, 200);
}

#[tokio::test]
async fn a_client_that_cannot_take_308_is_told_it_in_a_header() {
    let service = Service::new().await;
    let start = format!("{START}&uploadType=resumable");
    let headers = [("x-upload-content-type", "video/mp4")];
    let opened = service.ask_with("POST", &start, "ALICE", &headers, METADATA).await;
    let session = target(&header(&opened, "location"));
    let no_308 = ("x-guploader-no-308", "yes");
    let first = [no_308, ("content-range", "bytes 0-262143/*")];
    let answer = service.ask_with("POST", &session, "", &first, &vec![0; PIECE]).await;
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(header(&answer, "x-http-status-code-override"), "308");
    assert_eq!(header(&answer, "range"), "bytes=0-262143");
    let probe = [("content-range", "bytes */*")];
    let plain = service.ask_with("PUT", &session, "", &probe, b"").await;
    assert_eq!((plain.status, header(&plain, "x-http-status-code-override")), (308, "".into()));
    let last = [no_308, ("content-range", "bytes 262144-262148/262149")];
    let done = service.ask_with("POST", &session, "", &last, b"bytes").await;
    assert_eq!((done.status, &done.json()["kind"]), (200, &json!("youtube#video")));
    assert_eq!(header(&done, "x-http-status-code-override"), "");
}

/// A body whose connection breaks behind these bytes.
struct Broken(Option<Bytes>);

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.take().map(Frame::data).ok_or(std::io::ErrorKind::ConnectionReset.into());
        Poll::Ready(Some(next))
    }
}

#[tokio::test]
async fn a_piece_that_broke_off_may_be_sent_again_from_its_begin() {
    let service = Service::new().await;
    let film = [MOVIE, &vec![7; 3 * PIECE][..]].concat();
    let start = format!("{START}&uploadType=resumable");
    let headers = [("x-upload-content-type", "video/mp4")];
    let opened = service.ask_with("POST", &start, "ALICE", &headers, METADATA).await;
    let session = target(&header(&opened, "location"));
    let send = async |first: usize, bytes: &[u8], total: &str| {
        let last = first + bytes.len() - 1;
        let range = format!("bytes {first}-{last}/{total}");
        service.ask_with("PUT", &session, "", &[("content-range", &range)], bytes).await
    };
    let (kept, two) = (PIECE + 100, 2 * PIECE);
    let request = Request::builder()
        .method("PUT")
        .uri(&session)
        .header("host", "127.0.0.1:7801")
        .header("content-range", format!("bytes 0-{}/*", two - 1));
    let cut = Broken(Some(Bytes::copy_from_slice(&film[..kept])));
    service.api.answer(request.body(cut).unwrap()).await;
    let probe = [("content-range", "bytes */*")];
    let told = service.ask_with("PUT", &session, "", &probe, b"").await;
    assert_eq!(header(&told, "range"), format!("bytes=0-{}", kept - 1));
    // The client of Go asks nothing: it sends the same piece again.
    let told = send(0, &film[..two], "*").await;
    assert_eq!((told.status, header(&told, "range")), (308, format!("bytes=0-{}", two - 1)));
    let told = send(0, &film[..two], "*").await;
    assert_eq!((told.status, header(&told, "range")), (308, format!("bytes=0-{}", two - 1)));
    let beyond = [("content-range", &*format!("bytes 0-{}/*", 3 * PIECE - 1))];
    let short = service.ask_with("PUT", &session, "", &beyond, &film[..100]).await;
    let said = short.json()["error"]["message"].to_string();
    assert!(short.status == 400 && said.contains("and 100 came"), "{said}");
    let done = send(PIECE, &film[PIECE..], &film.len().to_string()).await;
    assert_eq!(done.status, 200, "{}", done.json());
    let target = format!("/videos?part=fileDetails&id={}", done.json()["id"].as_str().unwrap());
    let details = &service.list(&target).await["items"][0]["fileDetails"];
    assert_eq!(details["fileSize"], film.len().to_string());
}

/// A body that comes when somebody says so.
struct Waiting(oneshot::Receiver<Bytes>);

impl http_body::Body for Waiting {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.0.is_terminated() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.0)
            .poll(context)
            .map(|came| came.ok().map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[tokio::test]
async fn a_piece_that_another_request_kept_half_of_meanwhile_is_asked_for_again() {
    let service = Service::new().await;
    let start = format!("{START}&uploadType=resumable");
    let headers = [("x-upload-content-type", "video/mp4")];
    let opened = service.ask_with("POST", &start, "ALICE", &headers, METADATA).await;
    let session = target(&header(&opened, "location"));
    let piece = Bytes::from(vec![7; PIECE]);
    let request = || {
        let range = format!("bytes 0-{}/*", PIECE - 1);
        let host = ("host", "127.0.0.1:7801");
        Request::put(&session).header(host.0, host.1).header("content-range", range)
    };
    let (send, receive) = oneshot::channel();
    let slower = service.api.answer(request().body(Waiting(receive)).unwrap());
    let faster = async {
        let half = Broken(Some(piece.slice(..1_000)));
        service.api.answer(request().body(half).unwrap()).await;
        send.send(piece.clone()).unwrap();
    };
    let (told, ()) = tokio::join!(slower, faster);
    assert_eq!(told.status(), 503);
    let again = service.api.answer(request().body(Full::new(piece.clone())).unwrap()).await;
    let range = format!("bytes=0-{}", PIECE - 1);
    assert_eq!(
        (again.status().as_u16(), &again.headers()["range"]),
        (308, &range.parse().unwrap())
    );
}

const MOVIE: &[u8] = include_bytes!("../../../../fuzz/corpus/video_media/film.mp4");
const NAMED: &str = "/upload/youtube/v3/videos?part=snippet,fileDetails";

/// The body of an upload in two parts, the second with this line in its head.
fn two_parts(line: &str) -> Vec<u8> {
    let head =
        b"--B\r\nContent-Type: application/json\r\n\r\n{}\r\n--B\r\nContent-Type: video/mp4\r\n";
    [head, line.as_bytes(), b"\r\n\r\n", MOVIE, b"\r\n--B--"].concat()
}

fn names(answer: &Answer) -> [Value; 2] {
    let video = answer.json();
    assert_eq!(answer.status, 200, "{video}");
    [video["fileDetails"]["fileName"].clone(), video["snippet"]["title"].clone()]
}

#[tokio::test]
async fn a_video_without_metadata_is_named_as_its_file_is() {
    let service = Service::new().await;
    let kind = ("content-type", "video/mp4");
    let media = format!("{NAMED}&uploadType=media");
    for (slug, name, title) in [
        ("film.mp4", "film.mp4", "film.mp4"),
        ("Fr%C3%BChling%20<3>.mp4", "Fr\u{fc}hling <3>.mp4", "Fr\u{fc}hling 3.mp4"),
        ("<>", "<>", "unknown"),
    ] {
        let sent = service.ask_with("POST", &media, "ALICE", &[kind, ("slug", slug)], MOVIE).await;
        assert_eq!(names(&sent), [json!(name), json!(title)]);
    }
    let sent = service.ask_with("POST", &media, "ALICE", &[kind], MOVIE).await;
    assert_eq!(names(&sent), [json!("unknown"), json!("unknown")]);

    let multipart = format!("{NAMED}&uploadType=multipart");
    let kind = ("content-type", "multipart/related; boundary=B");
    for (line, name) in [
        ("Slug: part.mp4", "part.mp4"),
        ("Content-Disposition: attachment; filename=\"part 2.mp4\"", "part 2.mp4"),
        ("X-Other: line", "request.mp4"),
    ] {
        let headers = [kind, ("slug", "request.mp4")];
        let sent = service.ask_with("POST", &multipart, "ALICE", &headers, &two_parts(line)).await;
        assert_eq!(names(&sent), [json!(name), json!(name)]);
    }

    let resumable = format!("{NAMED}&uploadType=resumable");
    for header_name in ["slug", "x-goog-upload-file-name"] {
        let headers = [("x-upload-content-type", "video/mp4"), (header_name, "session.mp4")];
        let opened = service.ask_with("POST", &resumable, "ALICE", &headers, b"{}").await;
        let session = target(&header(&opened, "location"));
        let sent = service.ask_with("PUT", &session, "", &[], MOVIE).await;
        assert_eq!(names(&sent), [json!("session.mp4"), json!("session.mp4")]);
    }
    let body = [
        b"--B\r\nContent-Type: application/json\r\n\r\n",
        METADATA,
        b"\r\n--B\r\nContent-Type: video/mp4\r\nSlug: film.mp4\r\n\r\nbytes\r\n--B--",
    ]
    .concat();
    let sent = service.ask_with("POST", &multipart, "ALICE", &[kind], &body).await;
    assert_eq!(names(&sent)[1], "In pieces", "a title that is given stays");
}

#[tokio::test]
async fn a_name_that_no_file_has_is_refused_before_its_bytes_are_kept() {
    let service = Service::new().await;
    let related = ("content-type", "multipart/related; boundary=B");
    let long = "x".repeat(256);
    for slug in ["", "%FF.mp4", "a%00b", "a%0Ab", &long] {
        for (protocol, kind, body) in [
            ("media", ("content-type", "video/mp4"), MOVIE.to_vec()),
            ("resumable", ("x-upload-content-type", "video/mp4"), b"{}".to_vec()),
            ("multipart", related, two_parts(&format!("Slug: {slug}"))),
        ] {
            let target = format!("{NAMED}&uploadType={protocol}");
            let headers = [kind, ("slug", slug)];
            let answer = service.ask_with("POST", &target, "ALICE", &headers, &body).await;
            let told = (answer.status, answer.reason());
            assert_eq!(told, (400, "invalidFilename".into()), "{protocol} {slug:?}");
        }
    }
}

/// A session of the protocol that speaks in headers, and its answers.
struct Spoken<'s> {
    service: &'s Service,
    session: String,
}

impl Spoken<'_> {
    async fn ask(&self, command: &str, offset: usize, body: &[u8]) -> (u16, String, String, Value) {
        let (offset, length) = (offset.to_string(), body.len().to_string());
        let headers = [
            ("x-goog-upload-command", command),
            ("x-goog-upload-offset", &offset),
            ("content-length", &length),
            ("content-type", "video/mp4"),
        ];
        let answer = self.service.ask_with("POST", &self.session, "", &headers, body).await;
        let status = header(&answer, "x-goog-upload-status");
        (answer.status, status, header(&answer, "x-goog-upload-size-received"), answer.json())
    }
}

async fn start(service: &Service) -> Spoken<'_> {
    let headers = [
        ("x-goog-upload-protocol", "resumable"),
        ("x-goog-upload-command", "start"),
        ("x-goog-upload-header-content-type", "video/mp4"),
    ];
    let opened = service.ask_with("POST", START, "ALICE", &headers, METADATA).await;
    assert_eq!((opened.status, header(&opened, "x-goog-upload-status")), (200, "active".into()));
    assert_eq!(header(&opened, "x-goog-upload-chunk-granularity"), "262144");
    Spoken { service, session: target(&header(&opened, "x-goog-upload-url")) }
}

#[tokio::test]
async fn an_upload_that_speaks_in_headers_goes_from_start_to_final() {
    let service = Service::new().await;
    let session = start(&service).await;
    let told = |answer: (u16, String, String, Value)| (answer.0, answer.1, answer.2);
    let active = |received: usize| (200, "active".to_owned(), received.to_string());
    assert_eq!(told(session.ask("query", 0, b"").await), active(0));
    let piece = vec![0; PIECE];
    assert_eq!(told(session.ask("upload", 0, &piece).await), active(PIECE));
    let gap = session.ask("upload", 0, &piece).await;
    assert_eq!((gap.0, gap.1.as_str(), gap.2), (400, "active", PIECE.to_string()));
    let odd = session.ask("upload", PIECE, b"odd").await;
    assert_eq!((odd.0, odd.1.as_str()), (400, "active"));
    assert_eq!(told(session.ask("query", 0, b"").await), active(PIECE));
    let other = session.ask("dance", 0, b"").await;
    assert_eq!((other.0, other.1.as_str()), (400, "active"));
    let (status, word, _, video) = session.ask("upload, finalize", PIECE, b"end").await;
    assert_eq!((status, word.as_str()), (200, "final"));
    assert_eq!(video["snippet"]["title"], "In pieces");
    // The end is told again to a client that did not hear it.
    for command in ["query", "upload, finalize"] {
        let (status, word, _, again) = session.ask(command, PIECE, b"").await;
        assert_eq!((status, word.as_str(), &again["id"]), (200, "final", &video["id"]));
    }
}

#[tokio::test]
async fn media_on_the_path_of_a_resource_is_sent_to_that_of_uploads() {
    let service = Service::new().await;
    let mut checked = 0;
    for operation in OPERATIONS.iter().filter(|operation| operation.upload.is_some()) {
        let target = format!("/youtube/v3{}?part=snippet&videoId=v&channelId=UCx", operation.path);
        let method = operation.method.name();
        for kind in
            ["video/mp4", "image/png", "application/octet-stream", "multipart/related; boundary=B"]
        {
            let kind = [("content-type", kind)];
            let told = service.ask_with(method, &target, "ALICE", &kind, &two_parts("A: b")).await;
            let told = (told.status, told.reason());
            assert_eq!(told, (400, "wrongUrlForUpload".to_owned()), "{} {kind:?}", operation.name);
            let none = service.ask_with(method, &target, "ALICE", &kind, b"").await;
            assert_ne!(
                none.reason(),
                "wrongUrlForUpload",
                "{}: nothing is no media",
                operation.name
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

#[tokio::test]
async fn type_and_length_of_media_are_known_by_every_name_before_their_bytes_come() {
    let service = Service::new().await;
    let spoken = [("x-goog-upload-protocol", "resumable"), ("x-goog-upload-command", "start")];
    let target = format!("{START}&uploadType=resumable");
    for (beside, begin) in
        [(&spoken[..], "x-goog-upload-header-"), (&spoken, "x-goog-upload-"), (&[], "x-upload-")]
    {
        let (kind, length) = (format!("{begin}content-type"), format!("{begin}content-length"));
        for (kind, length, told) in [
            ((kind.as_str(), "video/mp4"), (length.as_str(), "5"), 200),
            ((&kind, "text/html"), (&length, "5"), 400),
            ((&kind, "video/mp4"), (&length, "-1"), 200),
            ((&kind, "video/mp4"), (&length, "many"), 400),
        ] {
            let headers = [beside, &[kind, length]].concat();
            let answer = service.ask_with("POST", &target, "ALICE", &headers, METADATA).await;
            assert_eq!(answer.status, told, "{headers:?}: {}", answer.json());
        }
    }
}

#[tokio::test]
async fn an_upload_that_is_cancelled_or_refused_says_so_in_its_status() {
    let service = Service::new().await;
    let session = start(&service).await;
    session.ask("upload", 0, &vec![0; PIECE]).await;
    let (status, word, ..) = session.ask("cancel", 0, b"").await;
    assert_eq!((status, word.as_str()), (200, "cancelled"));
    let (status, word, ..) = session.ask("query", 0, b"").await;
    assert_eq!((status, word.as_str()), (404, "final"));
    let headers = [("x-goog-upload-protocol", "resumable"), ("x-goog-upload-command", "start")];
    let refused = service.ask_with("POST", START, "nobody", &headers, METADATA).await;
    assert_eq!((refused.status, header(&refused, "x-goog-upload-status")), (401, "final".into()));
    let raw =
        [("x-goog-upload-protocol", "raw"), ("x-goog-upload-header-content-type", "video/mp4")];
    let sent = service.ask_with("POST", START, "ALICE", &raw, b"bytes").await;
    assert_eq!((sent.status, header(&sent, "x-goog-upload-status")), (200, "final".into()));
    let other = [("x-goog-upload-protocol", "pigeon")];
    let refused = service.ask_with("POST", START, "ALICE", &other, b"").await;
    assert_eq!(refused.reason(), "unsupportedMediaProtocol");
}

#[tokio::test]
async fn a_file_that_is_no_video_is_its_owners_alone() {
    let service = Service::new().await;
    let upload = format!("{START}&uploadType=media");
    let kind = [("content-type", "video/mp4")];
    let channel = "/youtube/v3/channels?part=statistics&id=UCx";
    let counted = service.ask("GET", &format!("{channel}&key=KEY"), "", "").await.json();
    let sent = service.ask_with("POST", &upload, "ALICE", &kind, b"no video").await;
    let id = sent.json()["id"].as_str().unwrap().to_owned();
    // Before its processing is over, and after it.
    for _ in 0..2 {
        let named = |list: &str| format!("/youtube/v3/{list}&maxResults=50&key=KEY");
        let lists = [
            format!("videos?part=id&id={id}"),
            "videos?part=id&chart=mostPopular".into(),
            "videos?part=id&chart=mostPopular&videoCategoryId=22".into(),
            "playlistItems?part=contentDetails&playlistId=UUx".into(),
            "search?part=id&q=unknown".into(),
            "search?part=id&channelId=UCx&type=video".into(),
        ];
        for list in lists {
            let shown = service.ask("GET", &named(&list), "", "").await;
            assert_eq!(shown.status, 200, "{list}");
            assert!(!shown.json().to_string().contains(&id), "{list}");
        }
        let now = service.ask("GET", &format!("{channel}&key=KEY"), "", "").await.json();
        assert_eq!(now["items"], counted["items"]);
        let own = service.list(&format!("/videos?part=status&id={id}")).await;
        assert_eq!(own["items"].as_array().map(Vec::len), Some(1));
        let uploads = service.list("/playlistItems?part=contentDetails&playlistId=UUx").await;
        assert!(uploads.to_string().contains(&id));
        service.later(3);
    }
    let rate = format!("/youtube/v3/videos/rate?id={id}&rating=like");
    let rated = service.ask("POST", &rate, "BOB", "").await;
    assert_eq!((rated.status, rated.reason().as_str()), (404, "videoNotFound"));
    let list = json!({"snippet": {"title": "Bob's"}}).to_string();
    let list = service.ask("POST", "/youtube/v3/playlists?part=snippet", "BOB", &list).await.json();
    let item = |playlist: &Value| {
        json!({"snippet": {"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": id}}}).to_string()
    };
    let insert = "/youtube/v3/playlistItems?part=snippet";
    let added = service.ask("POST", insert, "BOB", &item(&list["id"])).await;
    assert_eq!((added.status, added.reason().as_str()), (404, "videoNotFound"));
    // Its owner may, and what others see of it there is that it is private.
    assert_eq!(service.ask("POST", insert, "ALICE", &item(&json!("PLx"))).await.status, 200);
    let shown = "/youtube/v3/playlistItems?part=snippet,contentDetails&playlistId=PLx&key=KEY";
    let shown = service.ask("GET", shown, "", "").await.json();
    assert_eq!(shown["items"][2]["snippet"]["title"], "Private video");
    assert_eq!(shown["items"][2]["contentDetails"]["videoPublishedAt"], Value::Null);
    let top = json!({"snippet": {"textOriginal": "text"}});
    let thread = json!({"snippet": {"videoId": id, "topLevelComment": top}}).to_string();
    let insert = "/youtube/v3/commentThreads?part=snippet";
    let thread = service.ask("POST", insert, "ALICE", &thread).await.json();
    assert_eq!(thread["snippet"]["isPublic"], false, "{thread}");
}
