//! The states that kills and power cuts leave of the service, on a simulated disk: everything that a client was told is there, whole, and
//! nothing that it was not told.
//!
//! `cargo xtask crash --states N --workload video` looks at more of them than the test does by itself.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use triptych_core::explorer::{Seen, Stores, Subject, explore_service, inject_service};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::Durability;

use video_api::seed::SeedError;

use crate::service::{Answer, SEED, Service};

/// Seconds between two runs of the machine.
const RUN_SECONDS: u64 = 100_000;

/// The lists that Alice and Bob look at after each step.
const LISTS: [&str; 14] = [
    "/videos?part=snippet,status,statistics,contentDetails&myRating=like",
    "/videos?part=id&chart=mostPopular&maxResults=50",
    "/search?part=snippet&forMine=true&type=video&maxResults=50",
    "/channels?part=statistics,contentDetails&mine=true",
    "/playlistItems?part=snippet,status&playlistId=PLx&maxResults=50",
    "/playlistItems?part=snippet,status&playlistId=UUx&maxResults=50",
    "/playlists?part=snippet,contentDetails&id=PLx,PL",
    "/commentThreads?part=snippet,replies&videoId=v&maxResults=50",
    "/commentThreads?part=snippet,replies&allThreadsRelatedToChannelId=UCx&maxResults=50",
    "/subscriptions?part=snippet&mine=true",
    "/subscriptions?part=snippet&mySubscribers=true",
    "/activities?part=snippet,contentDetails&mine=true&maxResults=50",
    "/captions?part=snippet&videoId=v",
    "/channelSections?part=snippet,contentDetails&mine=true",
];

/// The service, and the upload in pieces that is open.
struct VideoCommunity {
    runtime: Runtime,
    service: Service,
    session: Option<(String, usize)>,
}

impl VideoCommunity {
    fn ask(&self, who: &str, method: &str, target: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let target = format!("/youtube/v3{target}");
        self.runtime.block_on(self.service.ask(method, &target, who, &body))
    }

    /// Asks for what has to be done.
    fn done(&self, who: &str, method: &str, target: &str, body: &Value) -> Result<(), String> {
        taken(&self.ask(who, method, target, body))
            .map_err(|error| format!("{method} {target}: {error}"))
    }

    /// The items of a list, as Alice sees it: a list that a fault kept from her is not an empty one.
    fn items(&self, target: &str) -> Result<Vec<Value>, String> {
        let answer = whole(self.ask("ALICE", "GET", target, &Value::Null), target)?;
        Ok(answer.json()["items"].as_array().cloned().unwrap_or_default())
    }

    /// The ids of a list.
    fn ids(&self, target: &str) -> Result<Vec<String>, String> {
        let items = self.items(target)?;
        Ok(items.iter().filter_map(|item| Some(item["id"].as_str()?.to_owned())).collect())
    }

    /// The videos that Alice uploaded.
    fn uploads(&self) -> Result<Vec<String>, String> {
        let items = self.items(UPLOADS)?;
        let ids = items.iter().filter_map(|item| item["contentDetails"]["videoId"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// One of the ids of a list.
    fn any(&self, target: &str, chance: &mut SeededIds) -> Result<Option<String>, String> {
        let ids = self.ids(target)?;
        let at = chance.next() as usize % ids.len().max(1);
        Ok(ids.get(at).cloned())
    }

    /// Sends metadata and a file in one request.
    fn send(
        &self,
        target: &str,
        metadata: &Value,
        (kind, file): (&str, &[u8]),
    ) -> Result<(), String> {
        let mut body =
            format!("--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: {kind}\r\n\r\n").into_bytes();
        body.extend_from_slice(file);
        body.extend_from_slice(b"\r\n--b--");
        let target = format!("/upload/youtube/v3{target}&uploadType=multipart");
        let kind = [("content-type", "multipart/related; boundary=b")];
        taken(&self.runtime.block_on(self.service.ask_with("POST", &target, "ALICE", &kind, &body)))
    }

    /// One request of an upload in pieces.
    fn piece(&mut self, chance: &mut SeededIds) -> Result<(), String> {
        const PIECE: usize = 262_144;
        let ask = |target: &str, token: &str, headers: &[(&str, &str)], body: &[u8]| {
            self.runtime.block_on(self.service.ask_with("POST", target, token, headers, body))
        };
        let Some((session, at)) = self.session.take() else {
            let start = "/upload/youtube/v3/videos?part=snippet&uploadType=resumable";
            let metadata = film(chance).to_string();
            let opened =
                ask(start, "ALICE", &[("x-upload-content-type", "video/mp4")], metadata.as_bytes());
            let location = opened.headers.get("location").and_then(|value| value.to_str().ok());
            let (_, path) =
                location.and_then(|url| url.split_once("/upload")).ok_or("no session")?;
            self.session = Some((format!("/upload{path}"), 0));
            return Ok(());
        };
        let is_last = chance.next().is_multiple_of(3);
        let mut bytes = vec![0; if is_last { 100 } else { PIECE }];
        chance.fill(&mut bytes);
        let end = at + bytes.len();
        let whole = if is_last { end.to_string() } else { "*".to_owned() };
        let range = format!("bytes {at}-{}/{whole}", end - 1);
        let answer = ask(&session, "", &[("content-range", &range)], &bytes);
        match (answer.status, is_last) {
            (308, false) => self.session = Some((session, end)),
            (200, true) => {}
            (status, _) => return Err(format!("{range}: {status} {}", answer.json())),
        }
        Ok(())
    }

    fn comment(&self, chance: &mut SeededIds) -> Result<(), String> {
        let text = json!(format!("words {}", chance.next()));
        let who = if chance.next().is_multiple_of(2) { "ALICE" } else { "BOB" };
        let threads = "/commentThreads?part=id&videoId=v&maxResults=50";
        match (chance.next() % 4, self.any(threads, chance)?) {
            (0, Some(thread)) => {
                self.done("ALICE", "DELETE", &format!("/comments?id={thread}"), &Value::Null)
            }
            (1, Some(thread)) => {
                let reply = json!({"snippet": {"parentId": thread, "textOriginal": text}});
                self.done(who, "POST", "/comments?part=snippet", &reply)
            }
            (2, Some(thread)) => {
                let state = ["published", "heldForReview", "rejected"][chance.next() as usize % 3];
                let target =
                    format!("/comments/setModerationStatus?id={thread}&moderationStatus={state}");
                self.done("ALICE", "POST", &target, &Value::Null)
            }
            _ => {
                let top = json!({"snippet": {"textOriginal": text}});
                let thread = json!({"snippet": {"videoId": "v", "topLevelComment": top}});
                self.done(who, "POST", "/commentThreads?part=snippet", &thread)
            }
        }
    }
}

fn taken(answer: &Answer) -> Result<(), String> {
    match answer.status {
        200..300 => Ok(()),
        status => Err(format!("{status} {}", answer.json())),
    }
}

/// The answer, unless the service could not give it.
fn whole(answer: Answer, target: &str) -> Result<Answer, String> {
    match answer.status {
        500.. => Err(format!("{target}: {} {}", answer.status, answer.json())),
        _ => Ok(answer),
    }
}

/// Alice's uploads.
const UPLOADS: &str = "/playlistItems?part=contentDetails&playlistId=UUx&maxResults=50";

fn film(chance: &mut SeededIds) -> Value {
    json!({"snippet": {"title": format!("Film {}", chance.next()), "categoryId": "22"}})
}

impl Subject for VideoCommunity {
    fn start(stores: Stores, run_of_machine: u64) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let (kv, blobs) = (Arc::new(stores.kv), Arc::new(stores.blobs));
        let service = runtime.block_on(async {
            let service = Service::started(kv, blobs, run_of_machine, SEED).await?;
            service.later(run_of_machine * RUN_SECONDS);
            service.api.start_background_tasks();
            Ok(service)
        });
        let service = service.map_err(|error: SeedError| error.to_string())?;
        Ok(Self { runtime, service, session: None })
    }

    fn step(&mut self, chance: &mut SeededIds) -> Result<Durability, String> {
        self.service.later(7);
        match chance.next() % 10 {
            0 => {
                let film_bytes = video_api::media::sample::Mp4::new(640, 360, 1_000).bytes();
                self.send("/videos?part=snippet", &film(chance), ("video/mp4", &film_bytes))?;
            }
            1 | 2 => self.piece(chance)?,
            3 | 4 => self.comment(chance)?,
            5 => {
                let item = json!({"snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#video", "videoId": "v"}}});
                match (
                    chance.next() % 2,
                    self.any("/playlistItems?part=id&playlistId=PLx", chance)?,
                ) {
                    (0, Some(item)) => self.done(
                        "ALICE",
                        "DELETE",
                        &format!("/playlistItems?id={item}"),
                        &Value::Null,
                    )?,
                    _ => self.done("ALICE", "POST", "/playlistItems?part=snippet", &item)?,
                }
            }
            6 => {
                let rating = ["like", "dislike", "none"][chance.next() as usize % 3];
                let who = if chance.next().is_multiple_of(2) { "ALICE" } else { "BOB" };
                self.done(
                    who,
                    "POST",
                    &format!("/videos/rate?id=v&rating={rating}"),
                    &Value::Null,
                )?;
            }
            7 => match self.any("/captions?part=id&videoId=v", chance)? {
                Some(track) => {
                    self.done("ALICE", "DELETE", &format!("/captions?id={track}"), &Value::Null)?
                }
                None => {
                    let track = json!({"snippet": {"videoId": "v", "language": "fr", "name": ""}});
                    let text = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n", chance.next());
                    self.send("/captions?part=id,snippet", &track, ("*/*", text.as_bytes()))?;
                }
            },
            8 => {
                // Those of the seed file stay, so that there is something to comment on.
                if let Some(id) = self.uploads()?.into_iter().find(|id| id.len() > 1) {
                    self.done("ALICE", "DELETE", &format!("/videos?id={id}"), &Value::Null)?;
                }
            }
            _ => {
                let section = json!({"snippet": {"type": "recentUploads"}});
                match self.any("/channelSections?part=id&mine=true", chance)? {
                    Some(id) => self.done(
                        "ALICE",
                        "DELETE",
                        &format!("/channelSections?id={id}"),
                        &Value::Null,
                    )?,
                    None => {
                        self.done("ALICE", "POST", "/channelSections?part=snippet", &section)?
                    }
                }
            }
        }
        Ok(Durability::Disk)
    }

    fn seen(&mut self) -> Result<Seen, String> {
        let mut seen = Seen::new();
        for who in ["ALICE", "BOB"] {
            for list in LISTS {
                let answer = self.ask(who, "GET", list, &Value::Null);
                let mut shown = whole(answer, list)?.json();
                // The tag of a list changes when a video has been processed, which the clock of the next start brings about.
                shown.as_object_mut().ok_or("no object")?.remove("etag");
                seen.insert(format!("{who} {list}"), shown.to_string());
            }
        }
        for track in self.ids("/captions?part=id&videoId=v")? {
            let answer = self.ask("ALICE", "GET", &format!("/captions/{track}"), &Value::Null);
            let answer = whole(answer, &track)?;
            seen.insert(track, String::from_utf8_lossy(&answer.body).into_owned());
        }
        for id in self.uploads()? {
            let target = format!("/embed/{id}/video");
            let film = self.runtime.block_on(self.service.ask("GET", &target, "", ""));
            let film = whole(film, &target)?;
            seen.insert(
                target,
                format!("{} {}", film.status, hex::encode(Sha256::digest(&film.body))),
            );
        }
        Ok(seen)
    }
}

#[test]
fn no_kill_and_no_cut_takes_what_a_client_was_told_or_shows_what_it_was_not() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let explored = explore_service::<VideoCommunity>(24, 40, |name| std::env::var(name).ok());
    println!("{}", explored.unwrap_or_else(|finding| panic!("{finding}")));
}

#[test]
fn no_call_of_the_disk_that_fails_takes_what_a_client_was_told_or_shows_a_part_of_something() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let report = inject_service::<VideoCommunity>(8, 97, |name| std::env::var(name).ok());
    let report = report.unwrap_or_else(|finding| panic!("{finding}"));
    assert!(report.at_run > 0 && report.at_start > 0, "{report:?}");
    println!("{report}");
}
