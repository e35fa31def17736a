//! The binary's memory: what a request frees, the next one takes.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use serde_json::Value;
use triptych_core::host::testing::{Client, Instance};

const SEED: &str = r#"{
    "projects": [{ "id": "demo", "apiKeys": ["demo-key"], "quota": "off" }],
    "accounts": [{
        "id": "alice", "tokens": [{ "token": "alice-token", "scopes": ["youtube.force-ssl"] }],
        "channel": { "id": "UCaliceAliceAliceAlice0A", "title": "Alice" }
    }],
    "videos": [{ "id": "vid00000000", "owner": "alice", "snippet": { "title": "A film", "categoryId": "22" } }]
}"#;
const ALICE: &str = "Authorization: Bearer alice-token";
/// Cues of the track, which take some megabytes while they are converted.
const CUES: usize = 6_000;
const CONVERSIONS: u64 = 8;
/// Pages that a conversion may take anew: some for its answer on the way. All that it takes are eight hundred.
const FAULTS_MOST: u64 = 150;

fn track() -> String {
    let clock = |second: usize| {
        format!("{:02}:{:02}:{:02},000", second / 3_600, second / 60 % 60, second % 60)
    };
    let cue = |cue: usize| {
        let (start, end) = (clock(2 * cue), clock(2 * cue + 2));
        format!(
            "{}\n{start} --> {end}\nThe line that is <i>said</i>,\nand the one below it.\n\n",
            cue + 1
        )
    };
    (0..CUES).map(cue).collect()
}

fn upload(client: Client) -> String {
    let snippet = r#"{"snippet": {"videoId": "vid00000000", "language": "en", "name": ""}}"#;
    let sent = format!(
        "--part\r\nContent-Type: application/json\r\n\r\n{snippet}\r\n--part\r\nContent-Type: application/octet-stream\r\n\r\n{}\r\n--part--\r\n",
        track()
    );
    let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
    let fields = [ALICE, "Content-Type: multipart/related; boundary=part"];
    let answer = client.ask("POST", target, &fields, sent.as_bytes()).unwrap();
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["id"].as_str().map(str::to_owned).unwrap()
}

#[test]
fn a_conversion_of_captions_takes_the_memory_that_the_one_before_it_freed() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_video-api");
    let mut instance = Instance::on_disk(program, folder.path(), 0, SEED).unwrap();
    instance.start().unwrap();
    let track = upload(instance.client());
    let convert = || {
        let target = format!("/youtube/v3/captions/{track}?tfmt=scc");
        let answer = instance.client().ask("GET", &target, &[ALICE], b"").unwrap();
        assert_eq!(answer.status, 200, "{:?}", serde_json::from_slice::<Value>(&answer.body));
        assert!(answer.body.len() > 1_000_000, "{} bytes", answer.body.len());
    };
    // Each thread that converts has an arena, whose first time is not counted.
    (0..CONVERSIONS).for_each(|_| convert());
    let before = instance.page_faults().unwrap();
    (0..CONVERSIONS).for_each(|_| convert());
    let faults = instance.page_faults().unwrap() - before;
    assert!(faults < CONVERSIONS * FAULTS_MOST, "{} a conversion", faults / CONVERSIONS);
}
