//! Histories of clients of several instances, judged key by key, while instances are killed and held still and the store falls: each call must have
//! happened at one moment between its start and its answer.

use md5::{Digest as _, Md5};
use triptych_core::host::testing::history::{Model, is_linearizable};
use triptych_core::host::testing::{
    Answer, CALLS_BETWEEN, CALLS_OF_A_KEY, Client, Instance, Workload, pause_keeper, read_again,
    run_workload,
};
use triptych_core::kv::StoreServer;

use crate::condition::Condition;
use crate::instance::Asks;
use crate::started;

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

/// The objects of a bucket, each of which is a key.
pub(crate) struct Objects;

impl Workload for Objects {
    type Call = Call;
    /// The entity tag that was seen last, of whichever key.
    type Memory = Option<String>;

    fn call(
        &self,
        client: Client,
        key: usize,
        (number, place): (usize, usize),
        seen: &mut Option<String>,
    ) -> (Option<Call>, bool) {
        let body = format!("object {place} of {number}");
        let known = seen.clone().unwrap_or_else(|| "\"none\"".to_owned());
        let call = match (place + number) % 7 {
            0 | 4 => Some(put(client, key, &body, Condition::None)),
            1 => Some(put(client, key, &body, Condition::Absent)),
            2 | 5 => Some(put(client, key, &body, Condition::Matches(known))),
            3 if place % 2 == 0 => Some(delete(client, key)),
            _ => get(client, key),
        };
        if let Some(Call::Get(Some(tag)) | Call::Put { status: 200, tag, .. }) = &call {
            *seen = Some(tag.clone());
        }
        let is_answered = call.as_ref().is_some_and(|call| !is_lost(call));
        (call, is_answered)
    }

    fn read(&self, client: Client, key: usize) -> Option<Call> {
        get(client, key)
    }
}

/// Tells whether nobody knows what became of a call.
pub(crate) const fn is_lost(call: &Call) -> bool {
    matches!(call, Call::LostPut { .. } | Call::LostDelete)
}

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
            assert!(Answer::leaves_open(answer.as_ref()), "{answer:?}");
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

#[test]
fn what_clients_see_while_instances_and_the_store_fall_is_linearizable_and_a_lost_object_is_found_out()
 {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let history = run_workload(
        &Objects,
        &mut instances,
        &mut [
            &mut |instances| {
                instances[0].restart_killed().unwrap();
            },
            // For longer than any instance waits for another.
            &mut |instances| {
                pause_keeper(instances, |_| {}).unwrap();
            },
            &mut |_| (0..server.falls()).for_each(|number| server.fall(number).unwrap()),
            &mut |instances| {
                instances[1].restart_killed().unwrap();
            },
        ],
    )
    .unwrap();
    // One acknowledged object is taken away behind the instances' backs, and read again.
    let is_there = |key: &usize| clients[0].tag(&name(*key)).is_some();
    let lost = (0..).find(is_there).unwrap();
    assert_ne!(server.take_away("object_put", &name(lost)).unwrap(), 0);
    read_again(&Objects, clients[1], lost, &history).unwrap();
    let keys = history.into_keys(is_lost);
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
