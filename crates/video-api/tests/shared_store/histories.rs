//! Histories of subscribers at several instances, judged subscription by subscription, while instances are killed and held still and the store falls:
//! each call must have happened at one moment between its start and its answer.

use serde_json::{Value, json};
use triptych_core::host::testing::history::{Model, is_linearizable};
use triptych_core::host::testing::{
    Answer, CALLS_BETWEEN, CALLS_OF_A_KEY, Client, Instance, Workload, pause_keeper, read_again,
    run_workload,
};

use super::{Cluster, INSTANCES, kill};

/// Accounts, each of which subscribes to the channels of all others.
const ACCOUNTS: usize = 40;

/// A call and its answer. Subscriptions are told apart by their ids, which are drawn anew for each.
#[derive(Debug, Clone)]
enum Call {
    /// The id of the new subscription; `None` where there is one already.
    Insert(Option<String>),
    /// One that nobody answered, or that was answered with 503: it happened at some time, or never.
    LostInsert,
    /// The id, and whether there was a subscription of that id.
    Delete(String, bool),
    /// As [`Call::LostInsert`].
    LostDelete(String),
    /// The id of the subscription, if there was one.
    List(Option<String>),
}

/// A subscription of one channel to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum State {
    Absent,
    /// One that was made by a call that got no answer, so that nobody knows its id yet.
    Unseen,
    Present(String),
}

/// One subscription.
struct OneSubscription;

impl Model for OneSubscription {
    type State = State;
    type Call = Call;

    fn after(state: &State, call: &Call) -> Option<State> {
        let is_of = |id: &String| matches!(state, State::Present(own) if own == id);
        match call {
            Call::Insert(Some(id)) => (*state == State::Absent).then(|| State::Present(id.clone())),
            Call::Insert(None) => (*state != State::Absent).then(|| state.clone()),
            Call::LostInsert if *state == State::Absent => Some(State::Unseen),
            Call::LostInsert => Some(state.clone()),
            // An id that somebody deletes was seen before, and so is not that of an unseen one.
            Call::Delete(id, found) if is_of(id) => found.then_some(State::Absent),
            Call::Delete(_, found) => (!found).then(|| state.clone()),
            Call::LostDelete(id) if is_of(id) => Some(State::Absent),
            Call::LostDelete(_) => Some(state.clone()),
            Call::List(None) => (*state == State::Absent).then(|| state.clone()),
            Call::List(Some(id)) => match state {
                State::Absent => None,
                State::Unseen => Some(State::Present(id.clone())),
                State::Present(own) => (own == id).then(|| state.clone()),
            },
        }
    }
}

fn is_lost(call: &Call) -> bool {
    matches!(call, Call::LostInsert | Call::LostDelete(_))
}

/// All subscriptions of the accounts, each of which is a key.
struct Subscriptions;

/// The subscriber and the channel of a key, by their numbers.
fn parties(key: usize) -> (usize, usize) {
    assert!(key < ACCOUNTS * (ACCOUNTS - 1), "more keys than there are subscriptions");
    let (subscriber, other) = (key % ACCOUNTS, key / ACCOUNTS);
    (subscriber, (subscriber + 1 + other) % ACCOUNTS)
}

fn channel(number: usize) -> String {
    format!("UC{number:0>22}")
}

fn ask(client: Client, key: usize, method: &str, query: &str, body: &str) -> Option<Answer> {
    let bearer = format!("Authorization: Bearer token-{}", parties(key).0);
    let path = format!("/youtube/v3/subscriptions?{query}");
    client.ask(method, &path, &[&bearer, "Content-Type: application/json"], body.as_bytes())
}

/// An insertion; `None` where it lost so often against others that it is to come again, and did nothing.
fn insert(client: Client, key: usize) -> Option<Call> {
    let resource = json!({ "kind": "youtube#channel", "channelId": channel(parties(key).1) });
    let body = json!({ "snippet": { "resourceId": resource } }).to_string();
    let answer = ask(client, key, "POST", "part=snippet", &body);
    let Some(answer) = answer.filter(|answer| !Answer::leaves_open(Some(answer))) else {
        return Some(Call::LostInsert);
    };
    let said = answer.json();
    match (answer.status, said["error"]["errors"][0]["reason"].as_str()) {
        (200, _) => Some(Call::Insert(Some(said["id"].as_str().unwrap().to_owned()))),
        (400, Some("subscriptionDuplicate")) => Some(Call::Insert(None)),
        (status, _) => {
            assert_eq!(status, 409, "{said}");
            None
        }
    }
}

/// As [`insert`], a deletion.
fn delete(client: Client, key: usize, id: String) -> Option<Call> {
    match ask(client, key, "DELETE", &format!("id={id}"), "") {
        Some(answer) if answer.status == 204 => Some(Call::Delete(id, true)),
        Some(answer) if answer.status == 404 => Some(Call::Delete(id, false)),
        answer if Answer::leaves_open(answer.as_ref()) => Some(Call::LostDelete(id)),
        answer => {
            assert_eq!(answer.as_ref().unwrap().status, 409, "{answer:?}");
            None
        }
    }
}

/// A list; `None` where it got no answer, and so tells nothing.
fn list(client: Client, key: usize) -> Option<Call> {
    let query = format!("part=id&mine=true&forChannelId={}", channel(parties(key).1));
    let answer = ask(client, key, "GET", &query, "");
    let answer = answer.filter(|answer| !Answer::leaves_open(Some(answer)))?;
    let found = answer.json();
    assert_eq!(answer.status, 200, "{found}");
    let items = found["items"].as_array().unwrap();
    assert!(items.len() <= 1, "{found}");
    Some(Call::List(items.first().map(|item| item["id"].as_str().unwrap().to_owned())))
}

impl Workload for Subscriptions {
    type Call = Call;
    /// The subscription that was seen last, with its key.
    type Memory = Option<(usize, String)>;

    fn call(
        &self,
        client: Client,
        key: usize,
        (number, place): (usize, usize),
        seen: &mut Self::Memory,
    ) -> (Option<Call>, bool) {
        let known = seen.as_ref().filter(|(of, _)| *of == key).map(|(_, id)| id.clone());
        let is_write = (place + number) % 3 < 2;
        let call = match known {
            Some(id) if is_write => delete(client, key, id),
            None if is_write => insert(client, key),
            _ => list(client, key),
        };
        match &call {
            Some(Call::Insert(Some(id)) | Call::List(Some(id))) => *seen = Some((key, id.clone())),
            Some(Call::List(None) | Call::Delete(..)) => *seen = None,
            _ => {}
        }
        let is_answered = call.as_ref().is_some_and(|call| !is_lost(call));
        (call, is_answered)
    }

    fn read(&self, client: Client, key: usize) -> Option<Call> {
        list(client, key)
    }
}

/// A seed of [`ACCOUNTS`] accounts, each with a channel and a token.
fn seed() -> String {
    let account = |number: usize| {
        json!({
            "id": format!("account-{number}"),
            "tokens": [{ "token": format!("token-{number}"), "scopes": ["youtube", "youtube.force-ssl"] }],
            "channel": { "id": channel(number), "title": format!("Channel {number}") },
        })
    };
    let accounts: Vec<Value> = (0..ACCOUNTS).map(account).collect();
    let project = json!({ "id": "demo", "apiKeys": ["demo-key"], "quota": "off" });
    json!({ "projects": [project], "accounts": accounts }).to_string()
}

#[test]
fn what_subscribers_see_while_instances_and_the_store_fall_is_linearizable_and_a_lost_subscription_is_found_out()
 {
    let Cluster { mut instances, mut server, _folder, .. } = Cluster::of_seed(&seed());
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let history = run_workload(
        &Subscriptions,
        &mut instances,
        &mut [
            &mut |instances| kill(0, instances),
            // For longer than any instance waits for another.
            &mut |instances| {
                pause_keeper(instances, |_| {}).unwrap();
            },
            &mut |_| (0..server.falls()).for_each(|number| server.fall(number).unwrap()),
            &mut |instances| kill(1, instances),
        ],
    )
    .unwrap();
    // One acknowledged subscription is taken away behind the instances' backs, and read again.
    let id_of = |key: usize| match list(clients[0], key) {
        Some(Call::List(id)) => id,
        call => panic!("{call:?}"),
    };
    let (lost, _) = (0..).find_map(|key| Some((key, id_of(key)?))).unwrap();
    // The key of its record: both channels, with what ends a text between them.
    let (subscriber, publisher) = parties(lost);
    let record = [channel(subscriber), channel(publisher)].join("\0\u{1}");
    assert_eq!(server.take_away("video_api", &record).unwrap(), 1);
    read_again(&Subscriptions, clients[1], lost, &history).unwrap();
    let keys = history.into_keys(is_lost);
    assert!(keys.len() >= 5 * CALLS_BETWEEN / CALLS_OF_A_KEY, "{} keys", keys.len());
    for (key, mut events) in keys {
        let is_whole = is_linearizable::<OneSubscription>(State::Absent, &events);
        assert_eq!(is_whole, key != lost, "{key}: {events:#?}");
        if key == lost {
            events.pop();
            let was_whole = is_linearizable::<OneSubscription>(State::Absent, &events);
            assert!(was_whole, "{key}: {events:#?}");
        }
    }
}

/// Wires that `cargo xtask scale` cuts: it has the time for that.
mod long {
    use std::time::Duration;

    use triptych_core::kv::{StoreServer, Weather};

    use super::*;

    #[test]
    fn what_subscribers_see_is_linearizable_while_wires_are_cut_at_random_bytes_and_lose_answers() {
        let server = StoreServer::start().unwrap();
        let behind = |number: usize| server.behind_a_wire(number as u64).unwrap();
        let (wires, urls): (Vec<_>, Vec<_>) = (0..INSTANCES).map(behind).unzip();
        let mut cluster = Cluster::on(server, &seed(), |number| urls[number].clone());
        let cut = cluster.server.cut();
        let all = |weather| wires.iter().for_each(|wire| wire.turn(weather));
        let history = run_workload(
            &Subscriptions,
            &mut cluster.instances,
            &mut [
                &mut |_| all(Weather::LosesAnswers),
                &mut |_| all(cut),
                &mut |_| all(Weather::Slow(Duration::from_millis(20))),
                &mut |_| all(Weather::LosesAnswers),
                &mut |_| all(Weather::Clear),
            ],
        )
        .unwrap();
        assert!(wires.iter().all(|wire| wire.cut() > 0), "a wire was never cut");
        for (key, events) in history.into_keys(is_lost) {
            let is_whole = is_linearizable::<OneSubscription>(State::Absent, &events);
            assert!(is_whole, "{key}: {events:#?}");
        }
    }
}
