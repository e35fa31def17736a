//! The requests that the stock clients really sent, byte for byte, and what they come to here.

use crate::service::{Answer, Service};

/// Client, and the status of each request in its order. `PNGX` is no picture, no track is called `CAP`, and nobody wrote the comment `c1`.
const CLIENTS: &[(&str, &[u16])] = &[
    (
        "python",
        &[
            200, 200, 200, 200, 200, 200, 200, 200, 308, 308, 200, 400, 200, 404, 404, 204, 204,
            200, 404, 200, 400, 400, 200, 400, 200, 200, 200, 200,
        ],
    ),
    ("node", &[200, 200, 200, 404, 204, 204, 200, 404, 200, 404, 200]),
    ("node_upload", &[200, 400, 400, 200, 403]),
    ("rust", &[200, 200, 200, 200, 200, 400, 204, 204, 400, 404]),
];

struct Recorded {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

fn read(client: &str, number: usize) -> Recorded {
    let path = format!("{}/tests/recorded/{client}/{number:03}.http", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap().split(' ');
    let (method, target) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let headers: Vec<_> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let body = &bytes[end + 4..];
    let is_chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { dechunk(body) } else { body.to_vec() };
    Recorded { method, target, headers, body }
}

fn dechunk(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

async fn send(service: &Service, recorded: &Recorded, session: &str) -> Answer {
    // Sessions have names of their own each time; framing and packing are the connection's.
    let target = match recorded.target.split_once("upload_id=") {
        Some((before, _)) => format!("{before}upload_id={session}"),
        None => recorded.target.clone(),
    };
    let kept = recorded.headers.iter().filter(|(name, _)| {
        !["host", "transfer-encoding", "connection", "accept-encoding"].contains(&name.as_str())
    });
    let headers: Vec<_> = kept.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    service.ask_with(&recorded.method, &target, "", &headers, &recorded.body).await
}

#[tokio::test]
async fn every_recorded_request_is_answered_as_the_table_says() {
    for (client, expected) in CLIENTS {
        let mut service = Service::new().await;
        let mut session = String::new();
        for (number, expected) in (1..).zip(*expected) {
            let recorded = read(client, number);
            if !recorded.target.contains("upload_id=") {
                service = Service::new().await;
            }
            let answer = send(&service, &recorded, &session).await;
            let told = String::from_utf8_lossy(&answer.body);
            assert_eq!(
                answer.status, *expected,
                "{client}/{number:03} {}: {told}",
                recorded.target
            );
            if let Some(location) = answer.headers.get("location") {
                let location = location.to_str().unwrap();
                assert!(location.starts_with("http://127.0.0.1:7801/"), "{location}");
                session = location.split_once("upload_id=").unwrap().1.to_owned();
            }
        }
    }
}

#[tokio::test]
async fn a_recorded_upload_ends_in_a_video_that_is_listed() {
    let service = Service::new().await;
    let start = send(&service, &read("python", 8), "").await;
    let location = start.headers["location"].to_str().unwrap().to_owned();
    let session = location.split_once("upload_id=").unwrap().1.to_owned();
    let mut last = start;
    for (piece, range) in [(9, Some("bytes=0-262143")), (10, Some("bytes=0-524287")), (11, None)] {
        last = send(&service, &read("python", piece), &session).await;
        assert_eq!(last.headers.get("range").map(|value| value.to_str().unwrap()), range);
    }
    let id = last.json()["id"].as_str().unwrap().to_owned();
    let found = service.list(&format!("/videos?part=status,fileDetails&id={id}")).await;
    assert_eq!(found["items"][0]["fileDetails"]["fileSize"], "524388");
    assert_eq!(found["items"][0]["status"]["uploadStatus"], "uploaded");
    // What was recorded is no video.
    service.later(60);
    let found = service.list(&format!("/videos?part=status&id={id}")).await;
    assert_eq!(found["items"][0]["status"]["uploadStatus"], "failed");
}
