use super::*;
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, Memory};

const SCOPE: &str = "https://www.googleapis.com/auth/youtube.readonly openid";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

fn code() -> Code {
    Code {
        id: [3; 16],
        grant: Grant {
            client: "app".to_owned(),
            account: "alice".to_owned(),
            scope: SCOPE.to_owned(),
            project: None,
        },
        redirect: "http://127.0.0.1:9/".to_owned(),
        // The pair of RFC 7636 appendix B.
        challenge: Some(Challenge {
            text: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
            hashed: true,
        }),
        offline: true,
        nonce: None,
        expires: 0,
        used: false,
    }
}

pub(super) fn run<T>(
    store: &Memory,
    seed: u64,
    mut body: impl FnMut(&mut Tx<'_>, &mut dyn Ids) -> Result<T, OauthError>,
) -> Result<T, OauthError> {
    kv::run_blocking(store, &mut SeededIds::from_number(seed), 1, |tx, ids| body(tx, ids))
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn works(store: &Memory, token: &str, now: i64) -> bool {
    let row = TOKENS.peek(&mut Tx::new(store), &digest(token)).unwrap();
    row.is_some_and(|row| {
        row.expires.is_some_and(|expires| expires > at(now)) && row.scopes.has(Scope::ReadOnly)
    })
}

#[test]
fn a_code_becomes_tokens_once_and_a_second_use_ends_them() {
    let store = Memory::new();
    let code = run(&store, 1, |tx, ids| Ok(make_code(tx, ids, at(100), code())?)).unwrap();
    let redeem = |seed, now, redirect: &str, verifier: Option<&str>| {
        run(&store, seed, |tx, ids| {
            redeem(tx, ids, at(now), "app", &code, Some(redirect), verifier)
        })
    };
    let home = "http://127.0.0.1:9/";
    assert!(matches!(redeem(2, 100, home, None), Err(OauthError::InvalidGrant(_))));
    assert!(matches!(
        redeem(2, 100, home, Some(&VERIFIER.to_lowercase())),
        Err(OauthError::InvalidGrant(_))
    ));
    assert_eq!(redeem(2, 100, "http://evil/", Some(VERIFIER)), Err(OauthError::RedirectMismatch));
    assert!(matches!(redeem(2, 700, home, Some(VERIFIER)), Err(OauthError::InvalidGrant(_))));
    let issued = redeem(2, 699, home, Some(VERIFIER)).unwrap().unwrap();
    assert!(works(&store, &issued.access, 4298) && !works(&store, &issued.access, 4299));
    let again = run(&store, 3, |tx, ids| {
        refresh(tx, ids, at(800), "app", issued.refresh.as_deref().unwrap(), None)
    })
    .unwrap();
    assert!(works(&store, &again.access, 800));
    assert_eq!(redeem(4, 801, home, Some(VERIFIER)), Ok(None), "all of it goes in one step");
    assert!(!works(&store, &issued.access, 800) && !works(&store, &again.access, 800));
    assert!(
        run(&store, 5, |tx, ids| refresh(
            tx,
            ids,
            at(802),
            "app",
            issued.refresh.as_deref().unwrap(),
            None
        ))
        .is_err()
    );
}

#[test]
fn any_token_of_a_grant_revokes_all_of_it() {
    for revoke_refresh in [true, false] {
        let store = Memory::new();
        let code = run(&store, 1, |tx, ids| Ok(make_code(tx, ids, at(0), code())?)).unwrap();
        let issued = run(&store, 2, |tx, ids| {
            redeem(tx, ids, at(1), "app", &code, Some("http://127.0.0.1:9/"), Some(VERIFIER))
        })
        .unwrap()
        .unwrap();
        let refresh_token = issued.refresh.clone().unwrap();
        let token = if revoke_refresh { &refresh_token } else { &issued.access };
        assert_eq!(run(&store, 3, |tx, _| Ok(revoke(tx, token)?)), Ok(true));
        assert_eq!(run(&store, 3, |tx, _| Ok(revoke(tx, token)?)), Ok(false));
        assert!(!works(&store, &issued.access, 1));
        assert!(
            run(&store, 4, |tx, ids| refresh(tx, ids, at(2), "app", &refresh_token, None)).is_err()
        );
    }
}

#[test]
fn a_grant_ends_with_all_its_tokens_however_many_they_are() {
    for is_code in [true, false] {
        let store = Memory::new();
        let code = run(&store, 1, |tx, ids| Ok(make_code(tx, ids, at(0), code())?)).unwrap();
        let redeem = || {
            run(&store, 2, |tx, ids| {
                redeem(tx, ids, at(1), "app", &code, Some("http://127.0.0.1:9/"), Some(VERIFIER))
            })
        };
        let issued = redeem().unwrap().unwrap();
        let refresh_token = issued.refresh.unwrap();
        let again = |seed| {
            run(&store, seed, |tx, ids| refresh(tx, ids, at(2), "app", &refresh_token, None))
        };
        let tokens: Vec<_> = (10..360).map(|seed| again(seed).unwrap().access).collect();
        let mut steps = 0;
        if is_code {
            while redeem() == Ok(None) {
                steps += 1;
            }
            assert!(matches!(redeem(), Err(OauthError::InvalidGrant(_))));
        } else {
            let token = &tokens[7];
            while run(&store, 3, |tx, _| Ok(revoke(tx, token)?)).unwrap() {
                steps += 1;
            }
        }
        assert!((4..6).contains(&steps), "{steps}");
        assert!(again(1_000).is_err());
        assert!(tokens.iter().all(|token| !works(&store, token, 3)));
        let left = SECRETS_OF.all(&mut Tx::new(&store), &[3; 16], 1).unwrap();
        assert!(left.is_empty(), "{}", left.len());
    }
}

#[test]
fn a_refresh_gives_no_more_scopes_than_were_granted_and_clears_what_ended() {
    let store = Memory::new();
    let code = run(&store, 1, |tx, ids| Ok(make_code(tx, ids, at(0), code())?)).unwrap();
    let issued = run(&store, 2, |tx, ids| {
        redeem(tx, ids, at(1), "app", &code, Some("http://127.0.0.1:9/"), Some(VERIFIER))
    })
    .unwrap()
    .unwrap();
    let token = issued.refresh.unwrap();
    let upload = "https://www.googleapis.com/auth/youtube.upload";
    assert_eq!(
        run(&store, 3, |tx, ids| refresh(tx, ids, at(2), "app", &token, Some(upload))),
        Err(OauthError::InvalidScope(upload.to_owned()))
    );
    for hour in 1_u32..5 {
        let now = at(i64::from(hour * ACCESS_SECONDS) + 100);
        run(&store, 10 + u64::from(hour), |tx, ids| refresh(tx, ids, now, "app", &token, None))
            .unwrap();
    }
    let secrets = SECRETS_OF.all(&mut Tx::new(&store), &[3; 16], 50).unwrap();
    assert_eq!(secrets.len(), 3, "the code, the refresh token and the last access token");
}

#[test]
fn what_has_ended_goes_with_what_is_made_later_and_a_used_code_stays_with_its_refresh_token() {
    let store = Memory::new();
    let rows = || kv::KeyValue::scan(&store, &Span::default(), 1_000).unwrap().rows.len();
    let grant = code().grant;
    let mint = |seed, now| {
        run(&store, seed, |tx, ids| make_access(tx, ids, at(now), None, &grant)).unwrap()
    };
    let code_of = |id: u8, seed, now, offline| {
        let code = || Code { id: [id; 16], offline, ..code() };
        run(&store, seed, |tx, ids| Ok(make_code(tx, ids, at(now), code())?)).unwrap()
    };
    let redeem = |secret: &str, seed, now| {
        run(&store, seed, |tx, ids| {
            redeem(tx, ids, at(now), "app", secret, Some("http://127.0.0.1:9/"), Some(VERIFIER))
        })
    };
    let lasting = code_of(1, 1, 0, true);
    let issued = redeem(&lasting, 2, 0).unwrap().unwrap();
    let brief = code_of(2, 3, 0, false);
    redeem(&brief, 4, 0).unwrap().unwrap();
    let unredeemed = code_of(3, 5, 0, true);
    for seed in 10..30 {
        mint(seed, 0);
    }
    // Each makes two rows, and takes up to four secrets that have ended.
    for seed in 30..50 {
        mint(seed, 10_000);
    }
    assert!(matches!(redeem(&unredeemed, 50, 10_000), Err(OauthError::InvalidGrant(_))));
    let last = mint(51, 10_000);
    assert!(works(&store, &last, 10_000) && !works(&store, &issued.access, 0));
    let (lasts, used_and_refresh_with_their_places_and_grant) = (21 * 2, 2 * 2 + 1);
    assert_eq!(rows(), lasts + used_and_refresh_with_their_places_and_grant);
    assert_eq!(redeem(&lasting, 52, 10_000), Ok(None), "a second use of the code is seen");
    assert_eq!(rows(), lasts);
}

#[test]
fn no_secret_is_stored_as_it_is() {
    let store = Memory::new();
    let secret = run(&store, 1, |tx, ids| Ok(make_code(tx, ids, at(0), code())?)).unwrap();
    let rows = kv::KeyValue::scan(&store, &Span::default(), 100).unwrap().rows;
    let raw = URL_SAFE_NO_PAD.decode(&secret[4..]).unwrap();
    for (key, value) in rows {
        for bytes in [key, value] {
            assert!(
                !bytes.windows(raw.len()).any(|window| window == raw)
                    && !String::from_utf8_lossy(&bytes).contains(&secret)
            );
        }
    }
}
