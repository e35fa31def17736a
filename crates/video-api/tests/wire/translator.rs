//! Captions in another language, by a translator that answers well, late, in pieces, wrongly or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use video_api::caption::translation::{Translating, Translator};
use video_api::http::LibreTranslate;

use crate::service::{Answer, Service};

/// The manner in which the stand-in answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Good,
    /// One byte at a time.
    InPieces,
    Chunked,
    /// It never answers.
    Silent,
    Closed,
    ServerError,
    UnknownLanguage,
    NoJson,
    TooFew,
    NoTexts,
    CutOff,
    Endless,
}

/// Time for a track, which no test waits for.
const WHOLE: Duration = Duration::from_secs(600);

/// Reads a request, and gives its body.
async fn read_request(stream: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("POST /api/translate HTTP/1.1"), "{head}");
        if let Ok(body) = serde_json::from_str(body) {
            return body;
        }
        assert!(read > 0, "the request is whole");
    }
}

async fn answer(stream: &mut TcpStream, manner: Manner) {
    let body = read_request(stream).await;
    assert_eq!((&body["source"], &body["format"]), (&json!("en"), &json!("text")));
    let to = body["target"].as_str().unwrap();
    let texts = body["q"].as_array().unwrap();
    let mut translated: Vec<_> =
        texts.iter().map(|text| format!("{to}: {}", text.as_str().unwrap())).collect();
    let (mut status, mut text) = ("200 OK", String::new());
    match manner {
        Manner::Closed => return,
        Manner::Silent => return std::future::pending().await,
        Manner::ServerError => status = "500 Internal Server Error",
        Manner::UnknownLanguage => {
            (status, text) = ("400 Bad Request", r#"{"error": "no"}"#.into())
        }
        Manner::NoJson => text = "translated".into(),
        Manner::TooFew => drop(translated.pop()),
        Manner::NoTexts => text = json!({"translatedText": vec![7; texts.len()]}).to_string(),
        Manner::Good | Manner::InPieces | Manner::Chunked | Manner::CutOff | Manner::Endless => {}
    }
    if text.is_empty() && status == "200 OK" {
        text = json!({"translatedText": translated}).to_string();
    }
    let length = match manner {
        Manner::CutOff => text.len() + 100,
        _ => text.len(),
    };
    let reply = match manner {
        Manner::Chunked => format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
            text.len()
        ),
        Manner::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            while stream.write_all(&[b' '; 65_536]).await.is_ok() {}
            return;
        }
        _ => format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{text}"),
    };
    if manner == Manner::InPieces {
        for byte in reply.as_bytes() {
            stream.write_all(std::slice::from_ref(byte)).await.unwrap();
            stream.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
    } else {
        stream.write_all(reply.as_bytes()).await.unwrap();
    }
}

/// A service with a translator of this manner, and the number of requests that it has taken.
async fn service(manner: Manner) -> (Service, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/api/", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let taken = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            taken.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move { answer(&mut stream, manner).await });
        }
    });
    // Of the others no test waits for the end of the time, which a busy machine may need.
    let is_waited_for = matches!(manner, Manner::Silent | Manner::Endless);
    let time = Duration::from_millis(if is_waited_for { 300 } else { 60_000 });
    let translator = LibreTranslate::new(&url, None, time).unwrap();
    (Service::translated(Arc::new(translator), WHOLE).await, requests)
}

async fn download(service: &Service, query: &str) -> Answer {
    service.ask("GET", &format!("/youtube/v3/captions/c?{query}"), "ALICE", "").await
}

#[tokio::test]
async fn captions_download_gives_the_language_of_tlang() {
    for manner in [Manner::Good, Manner::InPieces, Manner::Chunked] {
        let (service, requests) = service(manner).await;
        let answer = download(&service, "tlang=de").await;
        assert_eq!(answer.status, 200, "{manner:?}: {}", answer.json());
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(text, "WEBVTT\nLanguage: de\n\n00:00:01.000 --> 00:00:02.000\nde: Hello\n\n");
        let answer = download(&service, "tlang=de&tfmt=srt").await;
        assert!(String::from_utf8_lossy(&answer.body).contains("de: Hello"));
        assert_eq!(requests.load(Ordering::SeqCst), 1, "what was translated is kept");
        // The track's own language passes through.
        assert!(
            String::from_utf8_lossy(&download(&service, "tlang=en").await.body).contains("\nHello")
        );
        assert_eq!(requests.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_translator_that_hangs_lies_or_answers_500_costs_its_own_request_and_no_other() {
    for manner in [
        Manner::Silent,
        Manner::Closed,
        Manner::ServerError,
        Manner::UnknownLanguage,
        Manner::NoJson,
        Manner::TooFew,
        Manner::NoTexts,
        Manner::CutOff,
        Manner::Endless,
    ] {
        let (service, _) = service(manner).await;
        let (refused, other) =
            tokio::join!(download(&service, "tlang=de"), download(&service, "tfmt=srt"));
        let told = (refused.status, refused.reason());
        assert_eq!(told, (400, "couldNotConvert".to_owned()), "{manner:?}");
        assert_eq!(other.status, 200, "{manner:?}");
    }
}

#[tokio::test]
async fn a_region_that_the_translator_does_not_know_is_asked_for_without_it() {
    let (service, requests) = service(Manner::UnknownLanguage).await;
    for (language, asked) in [("de-AT", 2), ("de_AT", 4)] {
        assert_eq!(download(&service, &format!("tlang={language}")).await.status, 400);
        assert_eq!(requests.load(Ordering::SeqCst), asked, "{language}");
    }
}

#[test]
fn the_address_of_a_translator_is_one_of_http() {
    for url in [
        "https://h/",
        "h:5000",
        "",
        "http://",
        "file:///x",
        "http://h:5000/translate",
        "http://h:5000/?key=k",
        "http://me@h:5000",
    ] {
        assert!(LibreTranslate::new(url, None, Duration::from_secs(1)).is_err(), "{url}");
    }
}

/// A translator that answers when it is told to, and knows how many wait for it.
struct Held {
    waiting: watch::Sender<usize>,
    answers: Semaphore,
}

impl Held {
    fn new() -> Arc<Self> {
        Arc::new(Self { waiting: watch::Sender::new(0), answers: Semaphore::new(0) })
    }
}

impl Translator for Held {
    fn translate<'t>(&'t self, texts: &'t [String], _: &'t str, to: &'t str) -> Translating<'t> {
        Box::pin(async move {
            self.waiting.send_modify(|waiting| *waiting += 1);
            self.answers.acquire().await.unwrap().forget();
            self.waiting.send_modify(|waiting| *waiting -= 1);
            Ok(texts.iter().map(|text| format!("{to}: {text}")).collect())
        })
    }
}

#[tokio::test]
async fn tracks_that_wait_for_a_translator_are_so_many_at_once_and_the_others_wait_for_their_turn()
{
    let (at_once, all) = (64, 100);
    let held = Held::new();
    let service = Arc::new(Service::translated(Arc::<Held>::clone(&held), WHOLE).await);
    let ask = |_| {
        let service = Arc::clone(&service);
        tokio::spawn(async move { download(&service, "tlang=de").await.status })
    };
    let asked: Vec<_> = (0..all).map(ask).collect();
    let mut waiting = held.waiting.subscribe();
    waiting.wait_for(|waiting| *waiting >= at_once).await.unwrap();
    // Every request has gone as far as it can, for this one comes after them and needs no turn.
    assert_eq!(download(&service, "tfmt=srt").await.status, 200);
    for _ in 0..all {
        assert!(*waiting.borrow_and_update() <= at_once);
        held.answers.add_permits(1);
        tokio::task::yield_now().await;
    }
    for asked in asked {
        assert_eq!(asked.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_translator_that_never_ends_a_track_is_given_up() {
    let service = Service::translated(Held::new(), Duration::from_millis(50)).await;
    let answer = tokio::time::timeout(WHOLE, download(&service, "tlang=de")).await.unwrap();
    assert_eq!((answer.status, answer.reason().as_str()), (400, "couldNotConvert"));
}
