//! The suites of boto3 against three instances, each request at the next one; and the proxy of the package.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use triptych_core::host::testing::{
    Client, Instance, Nginx, RoundRobin, run_suite, workspace_file,
};
use triptych_core::kv::StoreServer;

use crate::INSTANCES;
use crate::instance::{Asks, of_seed};

const ADMIN_TOKEN: &str = "admin-token-of-the-suites";

/// Runs files of `tests/object` with each request at the next of three instances.
fn run(files: &[&str]) {
    behind(files, &[], |clients| {
        let proxy = RoundRobin::start(clients).unwrap();
        (proxy.url(), proxy)
    });
}

/// Runs files of `tests/object`, without some tests, on three instances behind a proxy.
fn behind<P>(files: &[&str], left_out: &[&str], proxy: impl FnOnce(Vec<Client>) -> (String, P)) {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let seed = workspace_file("packaging/demo/object-put.json").unwrap();
    let text = std::fs::read_to_string(&seed).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut instances: Vec<Instance> = (0..INSTANCES)
        .map(|number| {
            let made = of_seed(folder.path(), number, &server.url(), &text);
            let flags = ["--admin-token", ADMIN_TOKEN, "--without-public-access-block"];
            made.sharing_bodies().unwrap().started_with(&flags)
        })
        .collect();
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    let (url, _proxy) = proxy(instances.iter().map(Instance::client).collect());
    let key = &parsed["accounts"][0]["keys"][0];
    let left_out = left_out.join(" ");
    let facts = [
        ("LEFT_OUT", &*left_out),
        ("ACCESS_KEY", key["accessKeyId"].as_str().unwrap()),
        ("SECRET_KEY", key["secretAccessKey"].as_str().unwrap()),
        ("REGION", parsed["region"].as_str().unwrap()),
        ("SEED", seed.to_str().unwrap()),
        ("ADMIN_TOKEN", ADMIN_TOKEN),
    ];
    for file in files {
        run_suite("object", file, &url, &facts).unwrap();
    }
    for instance in &instances {
        let page = instance.client().get("/_ops/metrics").unwrap().body;
        let page = String::from_utf8(page).unwrap();
        let told = page.lines().find_map(|line| line.strip_prefix("store_round_trips_total "));
        assert!(told.unwrap().parse::<u64>().unwrap() > 100, "an instance was not asked: {told:?}");
    }
}

#[test]
fn boto3_finds_one_store_behind_three_instances() {
    run(&["put_object_test.py"]);
}

/// An instance that reads the head of each request and is gone then, as one that is killed in the middle of it; it notes the heads.
fn falling(heads: &Arc<Mutex<Vec<String>>>) -> Client {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (port, heads) = (listener.local_addr().unwrap().port(), Arc::clone(heads));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut head) = (stream.unwrap(), Vec::new());
            let mut bytes = [0; 4096];
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut bytes) {
                    Ok(read) if read > 0 => head.extend_from_slice(&bytes[..read]),
                    _ => break,
                }
            }
            // A connection without a request is one that looks whether anybody listens.
            if !head.is_empty() {
                heads.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
            }
        }
    });
    Client::at(port)
}

#[test]
fn the_proxy_of_the_package_sends_what_reads_to_another_instance_and_what_writes_once() {
    let target = "/bucket/key%2Fa?x=%20";
    let long = format!("X-Long: {}", "x".repeat(9_000));
    let headers = ["X-Amz-Meta-Under_Score: 1", "X-Amz-Meta-Dot.ted: 1", &long];
    let sent = |service: &str, method: &str, body: &[u8]| {
        let heads = Arc::default();
        let instances: Vec<_> = (0..INSTANCES).map(|_| falling(&heads)).collect();
        let proxy = Nginx::start(service, &instances).unwrap();
        let answer = proxy.client().ask(method, target, &headers, body).unwrap();
        assert_eq!(answer.status, 502, "{service} {method}");
        let heads = heads.lock().unwrap();
        for head in heads.iter() {
            // All that is signed comes as it was sent.
            assert!(head.starts_with(&format!("{method} {target} HTTP/1.1\r\n")), "{head}");
            assert!(headers.iter().all(|header| head.contains(header)), "{head}");
        }
        heads.len()
    };
    for service in ["object-put", "video-api"] {
        assert_eq!(sent(service, "GET", b""), INSTANCES, "{service}");
        for (method, body) in
            [("DELETE", &b""[..]), ("PUT", b""), ("PUT", &[b'x'; 300_000]), ("POST", b"")]
        {
            assert_eq!(sent(service, method, body), 1, "{service} {method} {}", body.len());
        }
    }
    assert_eq!(sent("tabs-api", "POST", b"{}"), 1);
}

/// Tests of what nginx changes or answers by itself: it takes `Expect` away, gives a body without a length one, and refuses names that are no
/// text in words of its own.
const LEFT_OUT: [&str; 4] = [
    "test_a_body_of_more_than_five_gibibytes_is_refused_from_its_head",
    "test_a_body_without_a_length_is_refused",
    "test_a_key_that_is_no_text_is_refused",
    "test_the_connection_closes_behind_a_put_that_expects_100_continue_and_has_no_body",
];

/// The suites that run behind the proxy of the package.
const BEHIND_PROXY: [&str; 3] = ["listing_test.py", "put_object_test.py", "read_object_test.py"];

#[test]
fn what_is_left_out_behind_the_proxy_of_the_package_is_a_test_of_its_suites() {
    let suites = workspace_file("tests/object").unwrap();
    let texts = BEHIND_PROXY.map(|file| std::fs::read_to_string(suites.join(file)).unwrap());
    for name in LEFT_OUT {
        let test = format!("def {name}(self)");
        assert!(texts.iter().any(|text| text.contains(&test)), "{name} is no test of these");
    }
}

/// The suites that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn boto3_finds_one_store_behind_the_proxy_of_the_package() {
        behind(&BEHIND_PROXY, &LEFT_OUT, |clients| {
            let proxy = Nginx::start("object-put", &clients).unwrap();
            (proxy.client().url(), proxy)
        });
    }

    #[test]
    fn sixteen_who_append_at_once_through_three_instances_lose_nothing() {
        run(&["append_test.py"]);
    }

    #[test]
    fn buckets_listings_copies_and_versions_are_the_same_at_three_instances() {
        run(&[
            "access_test.py",
            "bucket_test.py",
            "copy_object_test.py",
            "listing_test.py",
            "read_object_test.py",
            "signature_test.py",
            "versioning_test.py",
        ]);
    }
}
