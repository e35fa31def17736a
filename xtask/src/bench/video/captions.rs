//! Captions: how fast a long file becomes one of another format.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{BASE, address_of, start_with};
use crate::bench::load::Connection;
use crate::bench::report::Row;
use crate::run::service::Service;

/// The formats.
const FORMATS: [&str; 5] = ["srt", "vtt", "sbv", "ttml", "scc"];
/// Bytes of a file, about.
const FILE_BYTES: usize = 1024 * 1024;
/// The longest that a conversion may take.
const CONVERSION: Duration = Duration::from_millis(20);
/// The number of times that each is timed, each time on a track of its own; the middle one counts. With few of them the slowest of twenty pairs is the one
/// that the machine held up.
const TURNS: usize = 15;

/// The slowest of all conversions between two formats.
pub(super) fn measure(service: &'static Service, data: &Path) -> Result<Row> {
    let seed = data.with_extension("seed.json");
    std::fs::write(&seed, serde_json::to_vec(&seed_of_owner())?)?;
    let server = start_with(service, data, seed, &[])?;
    let mut owner = Owner { connection: Connection::to(address_of(&server)?)?, tracks: 0 };
    // Its memory is taken once: that of the client is not what is measured.
    let mut body = Vec::new();
    let mut slowest = (Duration::ZERO, "", "");
    for from in FORMATS {
        let file = owner.file_of(from)?;
        for to in FORMATS.into_iter().filter(|to| *to != from) {
            let mut took = Vec::new();
            for _ in 0..TURNS {
                let track = owner.upload(&file)?;
                let asked = Instant::now();
                owner.download(&track, to, &mut body)?;
                took.push(asked.elapsed());
            }
            took.sort_unstable();
            let median = took.get(TURNS / 2).copied().unwrap_or_default();
            slowest = slowest.max((median, from, to));
        }
    }
    server.stop()?;
    let (took, from, to) = slowest;
    Ok(Row {
        what: format!(
            "video-api: captions of 1 MiB converted one after the other, slowest of 20 pairs ({from} to {to})"
        ),
        value: 1.0 / took.as_secs_f64(),
        unit: "files/s",
        limit: Some(("one in 20 ms".to_owned(), 1.0 / CONVERSION.as_secs_f64())),
        expected: Some(1.0),
    })
}

fn seed_of_owner() -> Value {
    json!({
        "projects": [{"id": "bench", "apiKeys": ["demo-key"], "quota": "off"}],
        "accounts": [{
            "id": "owner",
            "tokens": [{"token": "owner", "scopes": ["youtube.force-ssl"]}],
            "channel": {"id": "UCowner0123456789abcdef0", "title": "Owner"},
        }],
    })
}

/// The owner of videos with one track each.
struct Owner {
    connection: Connection,
    tracks: usize,
}

impl Owner {
    /// A file of the format: lines of speech, as many as make about [`FILE_BYTES`].
    fn file_of(&mut self, format: &str) -> Result<Vec<u8>> {
        let mut cues = 1_000;
        let mut file = subrip(cues);
        for _ in 0..2 {
            if format != "srt" {
                let track = self.upload(&file)?;
                self.download(&track, format, &mut file)?;
            }
            cues = cues * FILE_BYTES / file.len().max(1);
            file = subrip(cues);
        }
        if format == "srt" {
            return Ok(file);
        }
        let track = self.upload(&file)?;
        self.download(&track, format, &mut file)?;
        Ok(file)
    }

    /// Uploads a file as a track and gives its id.
    fn upload(&mut self, file: &[u8]) -> Result<String> {
        self.tracks += 1;
        let insert = json!({"snippet": {"title": "captions", "categoryId": "22"}});
        let video = self.insert("videos?part=snippet", &insert, &[0; 16])?;
        let snippet = json!({"snippet": {"videoId": video, "language": "en", "name": ""}});
        self.insert("captions?part=snippet", &snippet, file)
    }

    fn insert(&mut self, target: &str, resource: &Value, media: &[u8]) -> Result<String> {
        let mut sent = format!(
            "--part\r\nContent-Type: application/json\r\n\r\n{resource}\r\n--part\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        sent.extend_from_slice(media);
        sent.extend_from_slice(b"\r\n--part--\r\n");
        let fields =
            "Authorization: Bearer owner\r\nContent-Type: multipart/related; boundary=part\r\n";
        let target = format!("/upload{BASE}/{target}&uploadType=multipart");
        let mut body = Vec::new();
        self.connection.post(&target, fields, &sent, &mut body)?;
        let made: Value = serde_json::from_slice(&body)?;
        let id = made.get("id").and_then(Value::as_str);
        id.map(str::to_owned).context("what was inserted has an id")
    }

    fn download(&mut self, track: &str, format: &str, body: &mut Vec<u8>) -> Result<()> {
        let target = format!("{BASE}/captions/{track}?tfmt={format}&access_token=owner");
        self.connection.get(&target, body)
    }
}

/// A SubRip file of so many cues.
fn subrip(cues: usize) -> Vec<u8> {
    let mut text = String::new();
    for cue in 0..cues {
        let clock = |seconds: usize| {
            format!("{:02}:{:02}:{:02},000", seconds / 3_600, seconds / 60 % 60, seconds % 60)
        };
        let _ = write!(
            text,
            "{}\n{} --> {}\nThe line that is <i>said</i> at {cue},\nand the one below it.\n\n",
            cue + 1,
            clock(2 * cue),
            clock(2 * cue + 2)
        );
    }
    text.into_bytes()
}
