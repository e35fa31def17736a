//! The same random requests to an instance on its own disk and to three that share a store, each at the next one: the answers are the same.

use triptych_core::host::testing::{Answer, Client, Instance};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::StoreServer;

use crate::instance::on_disk;
use crate::{INSTANCES, started};

const SEQUENCES: u64 = 3;
const REQUESTS: usize = 120;
/// Names of objects, few so that requests meet, with those between that lists cut at.
const KEYS: [&str; 6] = ["a", "a/b", "a/b/c", "a-b", "k%20%2B%C3%A4", "z"];

/// A request, as text so that it can be shown.
#[derive(Debug)]
struct Request {
    method: &'static str,
    path: String,
    headers: Vec<String>,
    body: String,
}

fn one_of<'a, T: ?Sized>(ids: &mut SeededIds, all: &[&'a T]) -> &'a T {
    let count = all.len() as u64;
    all[usize::try_from(ids.next() % count).unwrap()]
}

/// The next request; `seen` is an entity tag that was answered before.
fn request(ids: &mut SeededIds, seen: &str) -> Request {
    let key = one_of(ids, &KEYS);
    let path = format!("/open/{key}");
    let (matches, differs) = (format!("If-Match: {seen}"), format!("If-None-Match: {seen}"));
    let of = |method, path: String, headers: &[&str], body: &str| Request {
        method,
        path,
        headers: headers
            .iter()
            .filter(|header| !header.is_empty())
            .map(|&header| header.to_owned())
            .collect(),
        body: body.to_owned(),
    };
    match ids.next() % 10 {
        0..=2 => {
            let condition = one_of(ids, &["", "", "If-None-Match: *", &matches]);
            let kind = one_of(ids, &["", "Content-Type: text/x-own", "x-amz-meta-own: of it"]);
            of("PUT", path, &[condition, kind], &format!("body {}", ids.next() % 5))
        }
        3 => {
            let range =
                one_of(ids, &["", "Range: bytes=2-3", "Range: bytes=-2", "Range: bytes=99-"]);
            of("GET", path, &[range, one_of(ids, &["", &matches, &differs])], "")
        }
        4 => of("HEAD", path, &[], ""),
        5 => of("DELETE", path, &[one_of(ids, &["", &matches])], ""),
        6 => {
            let source = format!("x-amz-copy-source: /open/{}", one_of(ids, &KEYS));
            of("PUT", path, &[&source], "")
        }
        7 => {
            let tags =
                "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>";
            let (method, body) = *[("PUT", tags), ("GET", ""), ("DELETE", "")]
                .get(usize::try_from(ids.next() % 3).unwrap())
                .unwrap();
            of(method, format!("{path}?tagging"), &[], body)
        }
        8 => {
            let keys = KEYS.iter().take(usize::try_from(ids.next() % 3).unwrap() + 1);
            let named: String =
                keys.map(|key| format!("<Object><Key>{key}</Key></Object>")).collect();
            of("POST", "/open?delete".into(), &[], &format!("<Delete>{named}</Delete>"))
        }
        _ => {
            let prefix = one_of(ids, &["", "a", "a/"]);
            let delimiter = one_of(ids, &["", "&delimiter=%2F"]);
            let after = one_of(ids, &["", "&start-after=a"]);
            let most = ids.next() % 4 + 1;
            let query = format!("list-type=2&prefix={prefix}&max-keys={most}{delimiter}{after}");
            of("GET", format!("/open?{query}"), &[], "")
        }
    }
}

/// An answer without what differs each time: moments, ids of requests, tokens.
fn told(answer: &Answer) -> String {
    let headers =
        ["etag", "content-range", "content-type", "x-amz-meta-own", "x-amz-tagging-count"];
    let kept: Vec<_> = headers.iter().map(|name| answer.header(name)).collect();
    let mut body = String::from_utf8_lossy(&answer.body).into_owned();
    for name in ["LastModified", "RequestId", "HostId", "NextContinuationToken"] {
        let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
        let mut plain = String::new();
        for part in body.split(&begin) {
            plain += part.split_once(&end).map_or(part, |(_, rest)| rest);
        }
        body = plain;
    }
    format!("{} {kept:?} {body}", answer.status)
}

fn asked(client: Client, request: &Request) -> Answer {
    let headers: Vec<_> = request.headers.iter().map(String::as_str).collect();
    client.ask(request.method, &request.path, &headers, request.body.as_bytes()).unwrap()
}

#[test]
fn the_same_requests_have_the_same_answers_on_a_disk_and_at_three_instances_of_a_shared_store() {
    for seed in 0..SEQUENCES {
        let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
        let instances = started(&server, &folder);
        let mut alone = on_disk(folder.path(), INSTANCES);
        alone.start().unwrap();
        let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
        let (mut ids, mut seen) = (SeededIds::from_number(seed), "\"none\"".to_owned());
        for number in 0..REQUESTS {
            let request = request(&mut ids, &seen);
            let expected = asked(alone.client(), &request);
            let found = asked(clients[number % INSTANCES], &request);
            assert_eq!(told(&found), told(&expected), "seed {seed}, {number}: {request:?}");
            if let Some(tag) = expected.header("etag") {
                tag.clone_into(&mut seen);
            }
        }
    }
}
