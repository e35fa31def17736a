//! Histories of clients that navigate the tab in front, judged profile by profile, while owners of profiles are killed and held still and the store
//! falls: each call must have happened at one moment between its start and its answer, at whichever instance the profile ran.

use serde_json::{Value, json};
use triptych_core::host::testing::history::{Event, Model, is_linearizable};
use triptych_core::host::testing::{
    Answer, CALLS_BETWEEN, CALLS_OF_A_KEY, Client, Instance, Workload, run_workload, until,
};
use triptych_core::kv::StoreServer;

use super::{CONTROL, SEED, ask, at_urls, started};

/// A call and its answer. Addresses are told apart: none is written twice.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    /// The tab in front was sent to this address.
    Navigate(String),
    /// The same, where nobody answered, or with 503: it happened at some time, or never.
    LostNavigate(String),
    /// The address of the tab in front, or the one that it is on its way to.
    Read(String),
}

/// The tab in front of a profile.
struct TabInFront;

impl Model for TabInFront {
    type State = String;
    type Call = Call;

    fn after(state: &String, call: &Call) -> Option<String> {
        match call {
            Call::Navigate(url) | Call::LostNavigate(url) => Some(url.clone()),
            Call::Read(url) => (url == state).then(|| state.clone()),
        }
    }
}

/// Profiles, each of which is a key and is made by the first call on it.
struct Profiles {
    clients: Vec<Client>,
}

impl Profiles {
    /// All instances, the one that is asked first included.
    fn in_turn(&self, first: Client) -> impl Iterator<Item = Client> {
        let others = self.clients.iter().copied().filter(move |client| client.url() != first.url());
        std::iter::once(first).chain(others)
    }

    /// The answer of the instance at which the profile runs, for which is looked until there is one; `None` where one did not answer. An
    /// instance that sends a client on has done nothing.
    fn ask_owner(&self, first: Client, key: usize, path: &str, body: &Value) -> Option<Answer> {
        let token = format!("token-{key}");
        let asked = || {
            let mut answers = self.in_turn(first).map(|client| ask(client, &token, path, body));
            answers.find(|answer| answer.as_ref().is_none_or(|answer| answer.status != 421))
        };
        until(asked).unwrap()
    }

    /// Waits until the profile of a key runs, and makes it if there is none.
    fn wait_for(&self, first: Client, key: usize) {
        let runs = |client| Self::make(client, key) && runs(client, key) == Some(true);
        until(|| self.in_turn(first).any(runs).then_some(())).unwrap();
    }

    /// Makes the profile of a key, if there is none; tells whether there is one. A name is taken before its profile is kept.
    fn make(client: Client, key: usize) -> bool {
        let manifest = json!({ "manifest_version": 3, "name": "Own", "version": "1.0", "permissions": ["tabs"] });
        let extension = json!({ "token": format!("token-{key}"), "manifest": manifest });
        let profile = json!({ "name": format!("profile-{key}"), "extensions": [extension] });
        let answer = ask(client, CONTROL, "/v1/control/profiles", &profile);
        answer.is_some_and(|answer| answer.status == 201) || runs(client, key).is_some()
    }

    fn navigate(&self, client: Client, key: usize, url: String) -> Call {
        let body = json!([{ "url": url }]);
        let answer = self.ask_owner(client, key, "/v1/tabs/update", &body);
        if answer.as_ref().is_some_and(|answer| answer.status == 200) {
            return Call::Navigate(url);
        }
        assert!(Answer::leaves_open(answer.as_ref()), "{answer:?}");
        Call::LostNavigate(url)
    }
}

impl Workload for Profiles {
    type Call = Call;
    /// The key whose profile is known to be there.
    type Memory = Option<usize>;

    fn call(
        &self,
        client: Client,
        key: usize,
        (number, place): (usize, usize),
        made: &mut Option<usize>,
    ) -> (Option<Call>, bool) {
        if *made != Some(key) {
            self.wait_for(client, key);
            *made = Some(key);
        }
        let call = if (place + number) % 3 == 0 {
            self.read(client, key)
        } else {
            Some(self.navigate(client, key, format!("http://a.test/{number}/{place}")))
        };
        if call.as_ref().is_none_or(is_lost) {
            // Whoever asks on and on meanwhile has soon asked for all keys.
            self.wait_for(client, key);
        }
        (call, true)
    }

    fn read(&self, client: Client, key: usize) -> Option<Call> {
        let body = json!([{ "active": true }]);
        let asked = || self.ask_owner(client, key, "/v1/tabs/query", &body);
        let answer = until(|| asked().filter(|answer| !Answer::leaves_open(Some(answer))))?;
        let found = answer.json();
        assert_eq!(answer.status, 200, "{found}");
        let (tabs, tab) = (found["result"].as_array().unwrap(), &found["result"][0]);
        assert_eq!(tabs.len(), 1, "{found}");
        let pending = tab["pendingUrl"].as_str().filter(|url| !url.is_empty());
        Some(Call::Read(pending.or(tab["url"].as_str()).unwrap().to_owned()))
    }
}

/// Tells whether the profile of a key runs at an instance; `None` where that does not know of one.
fn runs(client: Client, key: usize) -> Option<bool> {
    let answer = ask(client, &format!("token-{key}"), "/v1/tabs/query", &json!([{}]))?;
    [200, 421].contains(&answer.status).then_some(answer.status == 200)
}

fn is_lost(call: &Call) -> bool {
    matches!(call, Call::LostNavigate(_))
}

fn is_whole(events: &[Event<Call>]) -> bool {
    is_linearizable::<TabInFront>("about:blank".to_owned(), events)
}

#[test]
fn what_clients_see_of_the_tab_in_front_while_owners_and_the_store_fall_is_linearizable_and_a_lost_navigation_is_found_out()
 {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder, 3);
    let profiles = Profiles { clients: instances.iter().map(Instance::client).collect() };
    let history = run_workload(
        &profiles,
        &mut instances,
        &mut [
            &mut |instances| instances[0].restart_killed().unwrap(),
            &mut |instances| instances[1].restart_killed().unwrap(),
            // For longer than any instance waits for another.
            &mut |instances| pause(2, instances),
            &mut |_| (0..server.falls()).for_each(|number| server.fall(number).unwrap()),
            &mut |instances| instances[2].restart_killed().unwrap(),
        ],
    )
    .unwrap();
    let keys = history.into_keys(is_lost);
    assert!(keys.len() >= 5 * CALLS_BETWEEN / CALLS_OF_A_KEY, "{} keys", keys.len());
    for (key, events) in &keys {
        assert!(is_whole(events), "{key}: {events:#?}");
    }
    // Where the last navigation that was acknowledged is gone, all are told what nobody wrote.
    let is_last = |events: &[Event<Call>]| {
        let Some(Call::Read(last)) = events.last().map(|event| &event.call) else {
            return None;
        };
        let written = Call::Navigate(last.clone());
        events.iter().position(|event| event.call == written)
    };
    let found = keys.into_iter().find_map(|(key, events)| Some((key, is_last(&events)?, events)));
    let (key, place, mut events) = found.unwrap();
    events.remove(place);
    assert!(!is_whole(&events), "{key}: {events:#?}");
}

/// Holds an instance still until another one has taken over what ran there.
fn pause(number: usize, instances: &[Instance]) {
    let held = 1_000;
    let client = instances[number].client();
    let runs = |client| runs(client, held) == Some(true);
    until(|| (Profiles::make(client, held) && runs(client)).then_some(())).unwrap();
    instances[number].pause().unwrap();
    let others = instances.iter().enumerate().filter(|(other, _)| *other != number);
    let others: Vec<Client> = others.map(|(_, instance)| instance.client()).collect();
    let taken = until(|| others.iter().any(|client| runs(*client)).then_some(()));
    instances[number].wake().unwrap();
    taken.unwrap();
}

/// Wires that `cargo xtask scale` cuts: it has the time for that.
mod long {
    use std::time::Duration;

    use triptych_core::kv::Weather;

    use super::*;

    #[test]
    fn what_clients_see_of_the_tab_in_front_is_linearizable_while_wires_are_cut_at_random_bytes_and_lose_answers()
     {
        let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
        let behind = |number: usize| server.behind_a_wire(number as u64).unwrap();
        let (wires, urls): (Vec<_>, Vec<_>) = (0..3).map(behind).unzip();
        let mut instances = at_urls(&urls, &folder, SEED, &[]);
        let profiles = Profiles { clients: instances.iter().map(Instance::client).collect() };
        let cut = server.cut();
        let all = |weather| wires.iter().for_each(|wire| wire.turn(weather));
        let history = run_workload(
            &profiles,
            &mut instances,
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
            assert!(is_whole(&events), "{key}: {events:#?}");
        }
    }
}
