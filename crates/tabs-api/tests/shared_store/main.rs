//! Instances of the binary on one store: a profile runs at one of them, and goes on at another when that one is gone or was paused.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod archives;
mod clients;
mod histories;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use triptych_core::host::testing::{Answer, Client, Instance, until};
use triptych_core::kv::StoreServer;

const CONTROL: &str = "control-token-of-all-instances";
const SEED: &str = r#"{
    "extensions": [{ "token": "first", "manifest": { "manifest_version": 3, "name": "First", "version": "1.0", "permissions": ["tabs"] } }]
}"#;

fn started(server: &StoreServer, folder: &tempfile::TempDir, count: usize) -> Vec<Instance> {
    of_seed(server, folder, count, SEED, &[])
}

/// Instances that run on one store, started with more flags.
fn of_seed(
    server: &StoreServer,
    folder: &tempfile::TempDir,
    count: usize,
    seed: &str,
    flags: &[&str],
) -> Vec<Instance> {
    at_urls(&vec![server.url(); count], folder, seed, flags)
}

/// Instances that each reach the store at a URL of their own.
fn at_urls(
    urls: &[String],
    folder: &tempfile::TempDir,
    seed: &str,
    flags: &[&str],
) -> Vec<Instance> {
    let program = env!("CARGO_BIN_EXE_tabs-api");
    let make = |(number, url): (usize, &String)| {
        let made = Instance::new(program, folder.path(), number, url, seed).unwrap();
        made.started_with(&["--control-token", CONTROL]).started_with(flags)
    };
    let mut instances: Vec<_> = urls.iter().enumerate().map(make).collect();
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    instances
}

fn ask(client: Client, token: &str, path: &str, body: &Value) -> Option<Answer> {
    let authorization = format!("Authorization: Bearer {token}");
    client.ask("POST", path, &[&authorization], body.to_string().as_bytes())
}

fn create(client: Client, token: &str, url: &str) -> Option<Answer> {
    ask(client, token, "/v1/tabs/create", &json!([{ "url": url, "active": false }]))
}

/// The addresses of all tabs of a profile; `None` while it does not run at this instance.
fn tabs(client: Client, token: &str) -> Option<Vec<String>> {
    let answer = ask(client, token, "/v1/tabs/query", &json!([{}]))?;
    let tabs = answer.json();
    let url = |tab: &Value| {
        let pending = tab["pendingUrl"].as_str().filter(|url| !url.is_empty());
        pending.or(tab["url"].as_str()).unwrap().to_owned()
    };
    (answer.status == 200).then(|| tabs["result"].as_array().unwrap().iter().map(url).collect())
}

fn count_of(tabs: &[String], url: &str) -> usize {
    tabs.iter().filter(|tab| *tab == url).count()
}

/// Checks that a client is sent on to the owner of the profile.
fn sent_on(answer: &Answer, owner: Client) {
    let answer_body = answer.json();
    assert_eq!(answer.status, 421, "{answer_body}");
    assert_eq!(answer_body["error"]["name"], "RunsElsewhere");
    let said = answer_body["error"]["message"].as_str().unwrap();
    assert!(said.contains(&owner.url()), "{said}");
}

#[test]
fn a_profile_runs_at_one_instance_and_goes_on_at_another_once_that_one_is_killed() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder, 3);
    let clients: Vec<_> = instances.iter().map(Instance::client).collect();
    let [one, two, three] = clients[..] else { panic!("{clients:?}") };
    assert_eq!(create(one, "first", "http://a.test/1").unwrap().status, 200);
    for other in [two, three] {
        sent_on(&create(other, "first", "http://a.test/no").unwrap(), one);
    }
    // Another profile, made at another instance: its token is good at each.
    let profile = json!({ "name": "second", "extensions": [{ "token": "other", "manifest": { "name": "Other", "permissions": ["tabs"] } }] });
    assert_eq!(ask(two, CONTROL, "/v1/control/profiles", &profile).unwrap().status, 201);
    assert_eq!(create(two, "other", "http://b.test/1").unwrap().status, 200);
    sent_on(&create(three, "other", "http://b.test/no").unwrap(), two);
    assert_eq!(ask(three, CONTROL, "/v1/control/profiles", &profile).unwrap().status, 409);
    assert_eq!(create(three, "nobody's", "http://c.test").unwrap().status, 401);
    instances[0].kill();
    let left = until(|| tabs(three, "first")).unwrap();
    assert_eq!(count_of(&left, "http://a.test/1"), 1, "{left:?}");
    assert_eq!(count_of(&left, "http://a.test/no"), 0, "{left:?}");
    sent_on(&create(two, "first", "http://a.test/no").unwrap(), three);
    assert_eq!(count_of(&tabs(two, "other").unwrap(), "http://b.test/1"), 1);
    // One that comes back is one of many.
    instances[0].start().unwrap();
    sent_on(&create(one, "first", "http://a.test/no").unwrap(), three);
    let gone = two.ask(
        "DELETE",
        "/v1/control/profiles/second",
        &[&format!("Authorization: Bearer {CONTROL}")],
        b"",
    );
    assert_eq!(gone.unwrap().status, 200);
    assert_eq!(create(three, "other", "http://b.test/no").unwrap().status, 401);
    assert_eq!(ask(three, CONTROL, "/v1/control/profiles", &profile).unwrap().status, 201);
    let anew = tabs(three, "other").unwrap();
    assert_eq!(count_of(&anew, "http://b.test/1"), 0, "{anew:?}");
}

#[test]
fn an_owner_that_was_paused_until_another_took_over_writes_and_shows_nothing_more() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let instances = started(&server, &folder, 2);
    let clients: Vec<_> = instances.iter().map(Instance::client).collect();
    let [one, two] = clients[..] else { panic!("{clients:?}") };
    assert_eq!(create(one, "first", "http://a.test/1").unwrap().status, 200);
    instances[0].pause().unwrap();
    // It sleeps on them, and finds them when it wakes up.
    let (late_write, late_read) = std::thread::scope(|scope| {
        let write = scope.spawn(|| create(one, "first", "http://a.test/late").unwrap());
        let read = scope.spawn(|| ask(one, "first", "/v1/tabs/query", &json!([{}])).unwrap());
        let answer = until(|| create(two, "first", "http://a.test/2").filter(|a| a.status == 200));
        answer.unwrap();
        instances[0].wake().unwrap();
        (write.join().unwrap(), read.join().unwrap())
    });
    assert_ne!(late_write.status, 200, "{:?}", late_write.json());
    assert_ne!(late_read.status, 200, "{:?}", late_read.json());
    sent_on(&create(one, "first", "http://a.test/later").unwrap(), two);
    let shown = tabs(two, "first").unwrap();
    assert_eq!(count_of(&shown, "http://a.test/1"), 1, "{shown:?}");
    assert_eq!(count_of(&shown, "http://a.test/2"), 1, "{shown:?}");
    assert!(!shown.iter().any(|url| url.contains("late")), "{shown:?}");
    // A line reaches the log a moment after the answer that it belongs to.
    let is_told = |log: &String| log.contains("does not run here any more");
    until(|| instances[0].logged().ok().filter(is_told)).unwrap();
}

/// Opens tabs, each at whichever instance takes it, until it is told to stop; gives the addresses of those that were acknowledged.
fn open_until(clients: &[Client], stop: &AtomicBool, count: &AtomicUsize) -> Vec<String> {
    let (mut opened, mut at) = (Vec::new(), 0);
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let url = format!("http://a.test/{number}");
        match create(clients[at % clients.len()], "first", &url) {
            Some(answer) if answer.status == 200 => {
                opened.push(url);
                count.fetch_add(1, Ordering::Relaxed);
            }
            answer => {
                let status = answer.as_ref().map(|answer| answer.status);
                // Elsewhere, or the store is away, or nobody says what became of it.
                assert!([None, Some(421), Some(503)].contains(&status), "{answer:?}");
                at += 1;
                std::thread::yield_now();
            }
        }
    }
    opened
}

/// Opens tabs while the profile's owner falls or the store does. All that were acknowledged must be there once, and no other twice.
fn tabs_are_kept(
    faults: usize,
    mut fault: impl FnMut(usize, &mut Vec<Instance>, &mut StoreServer),
) {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder, 3);
    let clients: Vec<_> = instances.iter().map(Instance::client).collect();
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let opened = std::thread::scope(|scope| {
        let writer = scope.spawn(|| open_until(&clients, &stop, &count));
        let go_on = || {
            let goal = count.load(Ordering::Relaxed) + 10;
            until(|| (count.load(Ordering::Relaxed) >= goal).then_some(()))
        };
        for number in 0..faults {
            go_on().unwrap();
            fault(number, &mut instances, &mut server);
        }
        let went_on = go_on();
        stop.store(true, Ordering::Relaxed);
        went_on.unwrap();
        writer.join().unwrap()
    });
    let shown = until(|| clients.iter().find_map(|client| tabs(*client, "first"))).unwrap();
    for url in &opened {
        assert_eq!(count_of(&shown, url), 1, "{url} of {shown:?}");
    }
    let different: std::collections::BTreeSet<_> = shown.iter().collect();
    assert_eq!(different.len(), shown.len(), "a tab is there twice: {shown:?}");
}

/// The instance at which the profile runs.
fn owner(instances: &[Instance]) -> usize {
    let runs = |instance: &Instance| tabs(instance.client(), "first").is_some();
    until(|| instances.iter().position(runs)).unwrap()
}

#[test]
fn tabs_that_were_acknowledged_are_there_once_after_their_owner_was_killed_and_the_store_fell() {
    tabs_are_kept(2, |number, instances, server| match number {
        0 => {
            let owner = owner(instances);
            instances[owner].restart_killed().unwrap();
        }
        _ => (0..server.falls()).for_each(|number| server.fall(number).unwrap()),
    });
}

/// Faults that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn tabs_that_were_acknowledged_are_there_once_after_their_owners_were_killed_twenty_times() {
        tabs_are_kept(20, |_, instances, _| {
            let owner = owner(instances);
            instances[owner].restart_killed().unwrap();
        });
    }
}
