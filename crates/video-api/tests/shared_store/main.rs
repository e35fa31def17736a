//! Three instances of the binary on one store and one place for bodies: each request of a client goes to the next instance.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod archives;
mod clients;
mod histories;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;

use serde_json::{Value, json};
use triptych_core::host::testing::{Answer, Client, Instance, pause_keeper, until};
use triptych_core::kv::StoreServer;

const INSTANCES: usize = 3;
const ALICE: &str = "Authorization: Bearer alice-token";
const BOB: &str = "Authorization: Bearer bob-token";
const SEED: &str = r#"{
    "projects": [{ "id": "demo", "apiKeys": ["demo-key"], "quota": "off" }],
    "accounts": [
        { "id": "alice", "email": "alice@example.com", "tokens": [{ "token": "alice-token", "scopes": ["youtube", "youtube.force-ssl", "youtube.upload"] }],
          "channel": { "id": "UCaliceAliceAliceAlice0A", "title": "Alice" } },
        { "id": "bob", "email": "bob@example.com", "tokens": [{ "token": "bob-token", "scopes": ["youtube", "youtube.force-ssl"] }],
          "channel": { "id": "UCbobBobBobBobBobBobBo0A", "title": "Bob" } }
    ],
    "videos": [{ "id": "vid00000000", "owner": "alice", "snippet": { "title": "A film", "categoryId": "22" } }]
}"#;

/// Instances that run on one store, and whose turn it is.
struct Cluster {
    instances: Vec<Instance>,
    turn: AtomicUsize,
    _folder: tempfile::TempDir,
    server: StoreServer,
}

impl Cluster {
    fn start() -> Self {
        Self::of_seed(SEED)
    }

    fn of_seed(seed: &str) -> Self {
        let server = StoreServer::start().unwrap();
        let url = server.url();
        Self::on(server, seed, |_| url.clone())
    }

    /// Instances of a seed, each with a URL of its own for the store.
    fn on(server: StoreServer, seed: &str, url: impl Fn(usize) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = env!("CARGO_BIN_EXE_video-api");
        let make = |number| {
            let made = Instance::new(program, folder.path(), number, &url(number), seed).unwrap();
            made.sharing_bodies().unwrap()
        };
        let mut instances: Vec<_> = (0..INSTANCES).map(make).collect();
        // All at once: they make one schema and one seed.
        instances.iter_mut().for_each(|instance| instance.begin().unwrap());
        instances.iter_mut().for_each(|instance| instance.ready().unwrap());
        Self { instances, turn: AtomicUsize::new(0), _folder: folder, server }
    }

    fn next(&self) -> Client {
        self.instances[self.turn.fetch_add(1, Ordering::Relaxed) % INSTANCES].client()
    }

    fn ask(&self, who: &str, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("/youtube/v3/{path}");
        let headers = [who, "Content-Type: application/json"];
        until(|| self.next().ask(method, &path, &headers, body.as_bytes())).unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.ask(ALICE, "GET", path, &Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    fn playlist(&self, title: &str) -> String {
        let body =
            json!({ "snippet": { "title": title }, "status": { "privacyStatus": "public" } });
        let made = self.ask(ALICE, "POST", "playlists?part=snippet,status", &body);
        assert_eq!(made.status, 200, "{}", made.json());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// The items of a playlist, page by page, each page at the next instance.
    fn items(&self, playlist: &str) -> Vec<Value> {
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let path = format!("playlistItems?part=snippet&playlistId={playlist}&maxResults=5");
            let page = self.get(&format!("{path}{token}"));
            found.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["nextPageToken"].as_str() {
                Some(next) => token = format!("&pageToken={next}"),
                None => return found,
            }
        }
    }
}

fn item(playlist: &str, position: Option<usize>) -> Value {
    let mut snippet = json!({ "playlistId": playlist, "resourceId": { "kind": "youtube#video", "videoId": "vid00000000" } });
    if let Some(position) = position {
        snippet["position"] = position.into();
    }
    json!({ "snippet": snippet })
}

#[test]
fn writers_at_several_instances_leave_dense_positions_one_subscription_and_counts_that_are_right() {
    let cluster = Cluster::start();
    let playlist = cluster.playlist("Raced");
    let each = 8;
    scope(|scope| {
        for writer in 0..INSTANCES {
            let (cluster, playlist) = (&cluster, &playlist);
            scope.spawn(move || {
                for number in 0..each {
                    let position = (number % 2 == 0).then_some(writer);
                    let body = item(playlist, position.filter(|_| number > 0));
                    until(|| {
                        let answer =
                            cluster.ask(ALICE, "POST", "playlistItems?part=snippet", &body);
                        // Who lost too often is told to come again, and nothing of it is there.
                        assert!([200, 409, 503].contains(&answer.status), "{}", answer.json());
                        (answer.status == 200).then_some(())
                    })
                    .unwrap();
                }
            });
        }
    });
    let items = cluster.items(&playlist);
    let positions: Vec<_> = items.iter().map(|item| item["snippet"]["position"].clone()).collect();
    assert_eq!(positions, (0..INSTANCES * each).map(Value::from).collect::<Vec<_>>());
    let ids: BTreeSet<_> = items.iter().map(|item| item["id"].to_string()).collect();
    assert_eq!(ids.len(), INSTANCES * each);
    let counted = cluster.get(&format!("playlists?part=contentDetails&id={playlist}"));
    assert_eq!(counted["items"][0]["contentDetails"]["itemCount"], INSTANCES * each);

    let body = json!({ "snippet": { "resourceId": { "kind": "youtube#channel", "channelId": "UCaliceAliceAliceAlice0A" } } });
    let statuses = scope(|scope| {
        let subscribe = || {
            let answer = cluster.ask(BOB, "POST", "subscriptions?part=snippet", &body);
            (answer.status, answer.json()["error"]["errors"][0]["reason"].to_string())
        };
        let racers: Vec<_> = (0..2 * INSTANCES).map(|_| scope.spawn(subscribe)).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect::<Vec<_>>()
    });
    let won = statuses.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(won, 1, "{statuses:?}");
    for _ in 0..INSTANCES {
        let answer = cluster.ask(BOB, "GET", "subscriptions?part=snippet&mine=true", &Value::Null);
        assert_eq!(answer.json()["items"].as_array().unwrap().len(), 1);
        let alice = cluster.get("channels?part=statistics&mine=true");
        assert_eq!(alice["items"][0]["statistics"]["subscriberCount"], "1");
    }
}

#[test]
fn an_upload_goes_on_at_other_instances_also_when_the_one_that_began_it_is_killed_and_searches_find_what_any_wrote()
 {
    let mut cluster = Cluster::start();
    let film = vec![7; 600 * 1024];
    let body = json!({ "snippet": { "title": "Wanderer", "categoryId": "22" }, "status": { "privacyStatus": "public" } });
    let start = "/upload/youtube/v3/videos?part=snippet,status&uploadType=resumable";
    let headers = [ALICE, "Content-Type: application/json", "X-Upload-Content-Type: video/mp4"];
    let begun = cluster.next().ask("POST", start, &headers, body.to_string().as_bytes()).unwrap();
    assert_eq!(begun.status, 200, "{}", begun.json());
    // The head was brought to lower case; the id of the session is not.
    let session = begun.header("x-guploader-uploadid").map(str::to_owned);
    let location = begun.header("location").unwrap().to_owned();
    assert!(location.contains("upload_id=") || session.is_some(), "{location}");
    let path = format!("/{}", location.splitn(4, '/').nth(3).unwrap());
    let chunk = 256 * 1024;
    let mut answer = None;
    for (number, piece) in film.chunks(chunk).enumerate() {
        let (from, to) = (number * chunk, number * chunk + piece.len() - 1);
        let range = format!("Content-Range: bytes {from}-{to}/{}", film.len());
        if number == 1 {
            cluster.instances[0].kill();
        }
        answer = until(|| cluster.next().ask("PUT", &path, &[ALICE, &range], piece));
        let status = answer.as_ref().unwrap().status;
        assert_eq!(status, if to + 1 == film.len() { 200 } else { 308 }, "{answer:?}");
    }
    let video = answer.unwrap().json();
    cluster.instances[0].start().unwrap();
    let id = video["id"].as_str().unwrap();
    for _ in 0..INSTANCES {
        let found = cluster.get(&format!("videos?part=snippet&id={id}"));
        assert_eq!(found["items"][0]["snippet"]["title"], "Wanderer");
    }
    // What one instance writes, the index of each finds.
    for title in ["zeppelin", "submarine", "caravan"] {
        let body =
            json!({ "id": "vid00000000", "snippet": { "title": title, "categoryId": "22" } });
        let renamed = cluster.ask(ALICE, "PUT", "videos?part=snippet", &body);
        assert_eq!(renamed.status, 200, "{}", renamed.json());
        for _ in 0..INSTANCES {
            let found = cluster.get(&format!("search?part=snippet&q={title}&type=video"));
            assert_eq!(found["items"][0]["id"]["videoId"], "vid00000000", "{found}");
        }
    }
}

/// A thing that happens to the instances or their store.
type Fault<'f> = &'f mut dyn FnMut(&mut [Instance], &mut StoreServer);

/// Makes playlists through one instance after the other until it is told to stop; gives the ids and titles of those that were acknowledged.
fn make_until(
    clients: &[Client],
    writer: usize,
    stop: &AtomicBool,
    count: &AtomicUsize,
) -> Vec<(String, String)> {
    let mut made = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let title = format!("{writer}-{number}");
        let body = json!({ "snippet": { "title": title } }).to_string();
        let headers = [ALICE, "Content-Type: application/json"];
        let client = clients[(writer + number) % INSTANCES];
        let path = "/youtube/v3/playlists?part=snippet";
        match client.ask("POST", path, &headers, body.as_bytes()) {
            Some(answer) if answer.status == 200 => {
                made.push((answer.json()["id"].as_str().unwrap().to_owned(), title));
                count.fetch_add(1, Ordering::Relaxed);
            }
            Some(answer) => {
                assert!([409, 503].contains(&answer.status), "{}", answer.json());
                let waits = answer.status == 409 || answer.header("retry-after").is_some();
                assert!(waits, "{answer:?}");
            }
            None => std::thread::yield_now(),
        }
    }
    made
}

/// Runs writers while the faults come one after another. All that was acknowledged must be there then, and nothing twice.
fn nothing_is_lost_or_twice(cluster: &mut Cluster, faults: &mut [Fault<'_>]) {
    let clients: Vec<_> = cluster.instances.iter().map(Instance::client).collect();
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let made = scope(|scope| {
        let write = |writer: usize| make_until(&clients, writer, &stop, &count);
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || write(writer))).collect();
        let go_on = || {
            let goal = count.load(Ordering::Relaxed) + 20;
            until(|| (count.load(Ordering::Relaxed) >= goal).then_some(()))
        };
        for fault in faults {
            go_on().unwrap();
            fault(&mut cluster.instances, &mut cluster.server);
        }
        let went_on = go_on();
        stop.store(true, Ordering::Relaxed);
        went_on.unwrap();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let (mut titles, mut token) = (Vec::new(), String::new());
    loop {
        let page = cluster.get(&format!("playlists?part=snippet&mine=true&maxResults=50{token}"));
        let title = |item: &Value| item["snippet"]["title"].as_str().unwrap().to_owned();
        titles.extend(page["items"].as_array().unwrap().iter().map(title));
        match page["nextPageToken"].as_str() {
            Some(next) => token = format!("&pageToken={next}"),
            None => break,
        }
    }
    let different: BTreeSet<_> = titles.iter().collect();
    assert_eq!(different.len(), titles.len(), "something was made twice: {titles:?}");
    for (id, title) in &made {
        assert!(different.contains(title), "{title} is lost");
        let found = cluster.get(&format!("playlists?part=snippet&id={id}"));
        assert_eq!(found["items"][0]["snippet"]["title"], title.as_str(), "{id}");
    }
}

fn kill(number: usize, instances: &mut [Instance]) {
    instances[number % INSTANCES].restart_killed().unwrap();
}

#[test]
fn nothing_acknowledged_is_lost_or_twice_when_instances_are_killed_and_paused_and_the_store_falls()
{
    let mut cluster = Cluster::start();
    let falls = cluster.server.falls();
    nothing_is_lost_or_twice(
        &mut cluster,
        &mut [
            &mut |instances, _| kill(0, instances),
            // For longer than any instance waits for another; writers wait for it, and the others serve.
            &mut |instances, _| {
                let ask_others = |paused: usize| {
                    let others = (0..INSTANCES).filter(|place| *place != paused);
                    for other in others.map(|place| instances[place].client()) {
                        let path = "/youtube/v3/channels?part=id&mine=true";
                        let found = other.ask("GET", path, &[ALICE], b"");
                        assert_eq!(found.unwrap().status, 200);
                    }
                };
                pause_keeper(instances, ask_others).unwrap();
            },
            &mut |_, server| (0..falls).for_each(|number| server.fall(number).unwrap()),
        ],
    );
}

/// Faults that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn nothing_acknowledged_is_lost_or_twice_when_instances_are_killed_twenty_times() {
        let mut cluster = Cluster::start();
        let mut kills: Vec<_> = (0..20)
            .map(|number| {
                move |instances: &mut [Instance], _: &mut StoreServer| kill(number, instances)
            })
            .collect();
        let mut faults: Vec<Fault<'_>> = Vec::new();
        for kill in &mut kills {
            faults.push(kill);
        }
        nothing_is_lost_or_twice(&mut cluster, &mut faults);
    }
}
