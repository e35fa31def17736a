use std::time::Duration;

use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

use super::super::tests::{at, run};
use super::super::{Client, SECRETS_OF, make_access, refresh};
use super::*;
use crate::account::{ACCOUNTS, Account};

const SCOPE: &str = "https://www.googleapis.com/auth/youtube openid";

fn store() -> Memory {
    let store = Memory::new();
    run(&store, 0, |tx, _| {
        let client = Client { secret: None, redirects: Vec::new(), project: Some("p".to_owned()) };
        CLIENTS.put(tx, &"tv".to_owned(), &client);
        CLIENTS.put(tx, &"other".to_owned(), &client);
        let (id, email) = ("alice".to_owned(), String::new());
        let alice = Account { id, email, channel: None, closed: false };
        ACCOUNTS.put(tx, &alice.id, &alice);
        Ok(())
    })
    .unwrap();
    store
}

/// The codes of a device that begins: its own, and its user's.
fn begun(store: &Memory, seed: u64, now: i64) -> Result<(String, String), OauthError> {
    let pairs = [("client_id", "tv"), ("scope", SCOPE)];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let form = Form::new(pairs)?;
    let told = run(store, seed, |tx, ids| begin(tx, ids, at(now), "http://here", &form))?;
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    Ok((text("device_code"), text("user_code")))
}

fn asked(store: &Memory, now: i64, code: &str) -> Result<Asked, OauthError> {
    run(store, 7, |tx, ids| ask(tx, ids, at(now), "tv", code))
}

fn answered(store: &Memory, now: i64, code: &str, account: Option<&str>) -> Result<(), OauthError> {
    run(store, 8, |tx, _| answer(tx, at(now), code, account))
}

#[test]
fn a_device_waits_until_its_user_allows_it_and_its_codes_are_good_for_one_grant() {
    let store = store();
    let (device, user) = begun(&store, 1, 100).unwrap();
    assert_eq!(asked(&store, 100, &device), Ok(Asked::Wait));
    let entered = user.replace('-', " ").to_lowercase();
    assert_eq!(answered(&store, 200, &entered, Some("alice")), Ok(()));
    assert!(matches!(answered(&store, 201, &user, None), Err(OauthError::InvalidGrant(_))));
    let Ok(Asked::Granted(tokens)) = asked(&store, 202, &device) else {
        panic!("it was allowed");
    };
    assert_eq!((tokens.account.as_str(), tokens.scope.as_str()), ("alice", SCOPE));
    let token = tokens.refresh.unwrap();
    let again = run(&store, 9, |tx, ids| refresh(tx, ids, at(300), "tv", &token, None)).unwrap();
    assert_ne!(again.access, tokens.access);
    assert!(matches!(asked(&store, 203, &device), Err(OauthError::InvalidGrant(_))));
    assert!(DEVICES.scan(&mut Tx::new(&store), &DEVICES.span(&()), 9).unwrap().0.is_empty());
}

#[test]
fn a_device_that_asks_before_its_time_is_told_to_slow_down_unless_there_is_an_answer() {
    let store = store();
    let (device, user) = begun(&store, 1, 100).unwrap();
    for (now, told) in [
        (100, Ok(Asked::Wait)),
        (101, Err(OauthError::SlowDown)),
        (104, Err(OauthError::SlowDown)),
        (105, Ok(Asked::Wait)),
        (109, Err(OauthError::SlowDown)),
        (110, Ok(Asked::Wait)),
    ] {
        assert_eq!(asked(&store, now, &device), told, "{now}");
    }
    assert_eq!(answered(&store, 111, &user, None), Ok(()));
    assert_eq!(asked(&store, 111, &device), Err(OauthError::AccessDenied));
    assert_eq!(asked(&store, 111, &device), Err(OauthError::AccessDenied));
}

#[test]
fn codes_end_after_half_an_hour_and_are_no_other_clients_nor_any_other_secrets() {
    let store = store();
    let (device, user) = begun(&store, 1, 100).unwrap();
    let other = run(&store, 2, |tx, ids| ask(tx, ids, at(101), "other", &device));
    assert!(matches!(other, Err(OauthError::InvalidGrant(_))));
    for code in [user.as_str(), "4/none", ""] {
        assert!(matches!(asked(&store, 101, code), Err(OauthError::InvalidGrant(_))), "{code}");
    }
    assert_eq!(answered(&store, 101, &user, Some("nobody")), Err(OauthError::AccessDenied));
    assert_eq!(asked(&store, 1_899, &device), Ok(Asked::Wait));
    assert_eq!(asked(&store, 1_900, &device), Err(OauthError::ExpiredToken));
    let late = answered(&store, 1_900, &user, Some("alice"));
    assert!(matches!(late, Err(OauthError::InvalidGrant(_))));
    // What is made later clears it away.
    let granted = Grant {
        client: "tv".to_owned(),
        account: "alice".to_owned(),
        scope: SCOPE.to_owned(),
        project: None,
    };
    run(&store, 3, |tx, ids| make_access(tx, ids, at(1_901), None, &granted)).unwrap();
    let mut tx = Tx::new(&store);
    assert!(DEVICES.scan(&mut tx, &DEVICES.span(&()), 9).unwrap().0.is_empty());
    assert!(SECRETS.peek(&mut tx, &digest(&device)).unwrap().is_none());
    assert!(SECRETS_OF.scan(&mut tx, &SECRETS_OF.span(&()), 9).unwrap().0.is_empty());
}

#[test]
fn a_thousand_devices_wait_at_once_and_no_more_until_some_ended() {
    let store = store();
    let most = u64::try_from(WAITING_MAX).unwrap();
    for seed in 0..most {
        begun(&store, seed, 100).unwrap();
    }
    assert_eq!(begun(&store, most, 100), Err(OauthError::TooManyDevices));
    let later = at(100).plus(Duration::from_secs(LIFE_SECONDS.unsigned_abs())).seconds() + 1;
    assert!(begun(&store, most, later).is_ok());
}

#[test]
fn a_users_code_is_eight_letters_that_are_told_apart() {
    let mut ids = SeededIds::from_number(1);
    for _ in 0..100 {
        let code = user_code(&mut ids);
        let (left, right) = code.split_once('-').unwrap();
        assert_eq!((left.len(), right.len()), (4, 4), "{code}");
        assert!(code.bytes().all(|letter| letter == b'-' || LETTERS.contains(&letter)), "{code}");
        assert_eq!(user_key(&code), user_key(&code.to_lowercase().replace('-', "")));
    }
}
