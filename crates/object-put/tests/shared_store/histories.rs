//! Histories of clients of several instances, judged key by key, while instances are killed and held still and the store falls: each call must have
//! happened at one moment between its start and its answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;

use md5::{Digest as _, Md5};
use triptych_core::host::testing::{Answer, Client, Instance, pause_keeper, until};
use triptych_core::kv::StoreServer;

use crate::condition::Condition;
use crate::history::{Event, History, Model, is_linearizable};
use crate::instance::Asks;
use crate::{INSTANCES, started};

/// Calls that clients make on one key before they go on to the next one.
const CALLS_OF_A_KEY: usize = 60;
/// Calls that must be answered between two faults.
const CALLS_BETWEEN: usize = 150;

/// A call and its answer.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Put {
        condition: Condition,
        status: u16,
        tag: String,
    },
    /// A put that nobody answered, or that was answered with 503: it happened at some time, or never.
    LostPut {
        condition: Condition,
        tag: String,
    },
    Delete,
    /// As [`Call::LostPut`].
    LostDelete,
    /// The tag of the object, if there was one.
    Get(Option<String>),
}

/// An object, by its tag, or none.
pub(crate) struct OneKey;

impl Model for OneKey {
    type State = Option<String>;
    type Call = Call;

    fn after(state: &Self::State, call: &Call) -> Option<Self::State> {
        let unchanged = |fits: bool| fits.then(|| state.clone());
        match call {
            // It tells its client to look again, and did nothing.
            Call::Put { condition, status: 409, .. } => unchanged(*condition != Condition::None),
            // In the dialect of unsigned requests a match on nothing is a condition that failed, too.
            Call::Put { condition, status, tag } => match condition.refusal(state.as_ref()) {
                Some(_) => unchanged(*status == 412),
                None => (*status == 200).then(|| Some(tag.clone())),
            },
            Call::LostPut { condition, tag } => match condition.refusal(state.as_ref()) {
                Some(_) => unchanged(true),
                None => Some(Some(tag.clone())),
            },
            Call::Delete | Call::LostDelete => Some(None),
            Call::Get(found) => unchanged(found == state),
        }
    }
}

/// A thing that happens to the instances or their store.
pub(crate) type Fault<'f> = &'f mut dyn FnMut(&mut [Instance]);

/// The calls of all clients, each with the number of its key.
pub(crate) type Recorded = History<(usize, Call)>;

fn name(key: usize) -> String {
    format!("judged-{key:04}")
}

fn tag_of(answer: &Answer) -> String {
    answer.header("etag").unwrap().to_owned()
}

/// A put of a body that nobody else puts; `None` where nobody took it.
fn put(client: Client, key: usize, body: &str, condition: Condition) -> Call {
    let tag = format!("\"{}\"", hex::encode(Md5::digest(body)));
    let header = match &condition {
        Condition::None => String::new(),
        Condition::Absent => "If-None-Match: *".to_owned(),
        Condition::Matches(tag) => format!("If-Match: {tag}"),
    };
    let headers: Vec<&str> = (!header.is_empty()).then_some(header.as_str()).into_iter().collect();
    match client.put(&name(key), &headers, body.as_bytes()) {
        None => Call::LostPut { condition, tag },
        Some(answer) if answer.status == 503 => Call::LostPut { condition, tag },
        Some(answer) => {
            let status = answer.status;
            assert!([200, 409, 412].contains(&status), "{answer:?}");
            assert!(status != 200 || tag_of(&answer) == tag, "{answer:?}");
            Call::Put { condition, status, tag }
        }
    }
}

fn delete(client: Client, key: usize) -> Call {
    match client.ask("DELETE", &format!("/open/{}", name(key)), &[], b"") {
        Some(answer) if answer.status == 204 => Call::Delete,
        answer => {
            assert!(answer.as_ref().is_none_or(|answer| answer.status == 503), "{answer:?}");
            Call::LostDelete
        }
    }
}

/// The outcome of a read; `None` where it got no answer, and so tells nothing.
fn get(client: Client, key: usize) -> Option<Call> {
    let answer = client.get(&format!("/open/{}", name(key)))?;
    match answer.status {
        200 => Some(Call::Get(Some(tag_of(&answer)))),
        404 => Some(Call::Get(None)),
        status => {
            assert_eq!(status, 503, "{answer:?}");
            None
        }
    }
}

/// Waits until an instance says that it is ready, or the clients are told to stop.
fn wait_for(client: Client, stop: &AtomicBool) {
    let ready = || {
        let answer = client.get("/_ops/health/ready");
        answer.is_some_and(|answer| answer.status == 200) || stop.load(Ordering::Relaxed)
    };
    until(|| ready().then_some(())).unwrap();
}

/// Calls one instance until it is told to stop. `taken` counts the calls of all clients, and so gives the key of each.
fn call_until(
    client: Client,
    number: usize,
    recorded: &Recorded,
    taken: &AtomicUsize,
    stop: &AtomicBool,
) {
    let mut seen = "\"none\"".to_owned();
    for place in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let key = taken.fetch_add(1, Ordering::Relaxed) / CALLS_OF_A_KEY;
        let (begun, body) = (recorded.now(), format!("object {place} of {number}"));
        let call = match (place + number) % 7 {
            0 | 4 => Some(put(client, key, &body, Condition::None)),
            1 => Some(put(client, key, &body, Condition::Absent)),
            2 | 5 => Some(put(client, key, &body, Condition::Matches(seen.clone()))),
            3 if place % 2 == 0 => Some(delete(client, key)),
            _ => get(client, key),
        };
        let is_answered = match &call {
            Some(Call::Get(Some(tag)) | Call::Put { status: 200, tag, .. }) => {
                seen.clone_from(tag);
                true
            }
            Some(Call::LostPut { .. } | Call::LostDelete) | None => false,
            Some(_) => true,
        };
        if let Some(call) = call {
            recorded.note(begun, (key, call));
        }
        if !is_answered {
            wait_for(client, stop);
        }
    }
}

/// The calls of each key; those without an answer may still happen after all others.
pub(crate) fn by_key(recorded: Recorded) -> BTreeMap<usize, Vec<Event<Call>>> {
    let mut keys = BTreeMap::<usize, Vec<_>>::new();
    for Event { begun, mut answered, call: (key, call) } in recorded.into_events() {
        if matches!(call, Call::LostPut { .. } | Call::LostDelete) {
            answered = u64::MAX;
        }
        keys.entry(key).or_default().push(Event { begun, answered, call });
    }
    keys
}

/// Lets two clients of each instance call while `faults` come one after another; gives what they saw, with a read of each key through each
/// instance after all of it.
pub(crate) fn recorded(instances: &mut [Instance], faults: &mut [Fault<'_>]) -> Recorded {
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let (recorded, taken, stop) = (Recorded::new(), AtomicUsize::new(0), AtomicBool::new(false));
    scope(|scope| {
        for number in 0..2 * INSTANCES {
            let (client, recorded) = (clients[number % INSTANCES], &recorded);
            let (taken, stop) = (&taken, &stop);
            scope.spawn(move || call_until(client, number, recorded, taken, stop));
        }
        let go_on = || {
            let goal = taken.load(Ordering::Relaxed) + CALLS_BETWEEN;
            until(|| (taken.load(Ordering::Relaxed) >= goal).then_some(()))
        };
        for fault in faults {
            go_on().unwrap();
            fault(instances);
        }
        let went_on = go_on();
        stop.store(true, Ordering::Relaxed);
        went_on.unwrap();
    });
    let keys = taken.load(Ordering::Relaxed).div_ceil(CALLS_OF_A_KEY);
    for client in clients {
        wait_for(client, &AtomicBool::new(false));
        (0..keys).for_each(|key| read_again(client, key, &recorded));
    }
    recorded
}

fn read_again(client: Client, key: usize, recorded: &Recorded) {
    let begun = recorded.now();
    recorded.note(begun, (key, get(client, key).unwrap()));
}

#[test]
fn what_clients_see_while_instances_and_the_store_fall_is_linearizable_and_a_lost_object_is_found_out()
 {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let recorded = recorded(
        &mut instances,
        &mut [
            &mut |instances| {
                instances[0].kill();
                instances[0].start().unwrap();
            },
            // For longer than any instance waits for another.
            &mut |instances| {
                pause_keeper(instances, |_| {}).unwrap();
            },
            &mut |_| (0..server.falls()).for_each(|number| server.fall(number).unwrap()),
            &mut |instances| {
                instances[1].kill();
                instances[1].start().unwrap();
            },
        ],
    );
    // One acknowledged object is taken away behind the instances' backs, and read again.
    let is_there = |key: &usize| clients[0].tag(&name(*key)).is_some();
    let lost = (0..).find(is_there).unwrap();
    assert_ne!(server.take_away("object_put", &name(lost)).unwrap(), 0);
    read_again(clients[1], lost, &recorded);
    let keys = by_key(recorded);
    assert!(keys.len() >= 5 * CALLS_BETWEEN / CALLS_OF_A_KEY, "{} keys", keys.len());
    for (key, mut events) in keys {
        let whole = is_linearizable::<OneKey>(None, &events);
        assert_eq!(whole, key != lost, "{key}: {events:#?}");
        if key == lost {
            events.pop();
            assert!(is_linearizable::<OneKey>(None, &events), "{key}: {events:#?}");
        }
    }
}
