//! The page that asks users for their consent, and the endpoints of tokens.

use serde_json::json;

use crate::service::{Answer, Service};

const SCOPE: &str = "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fyoutube";
const BACK: &str = "https%3A%2F%2Fapp.example%2F";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// So many accounts, and a client that may ask them.
async fn service(accounts: u32) -> Service {
    let accounts: Vec<_> = (0..accounts)
        .map(|at| json!({"id": format!("a{at:04}"), "email": format!("{at}@example.com")}))
        .collect();
    let clients = json!([{"id": "app", "secret": "s", "redirectUris": ["https://app.example/"]}]);
    Service::seeded(&json!({"accounts": accounts, "oauthClients": clients}).to_string()).await
}

/// The address at which the client asks.
fn ask() -> String {
    format!(
        "/o/oauth2/v2/auth?client_id=app&response_type=code&redirect_uri={BACK}&scope={SCOPE}&access_type=offline"
    )
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn token(service: &Service, form: &str) -> Answer {
    let form = format!("client_id=app&client_secret=s&{form}");
    service.ask_with("POST", "/token", "", &[FORM], form.as_bytes()).await
}

#[tokio::test]
async fn users_choose_among_accounts_that_are_open_however_many_there_are() {
    let service = service(1_200).await;
    for account in ["a0003", "a1150"] {
        let body = json!({"account": account}).to_string();
        let closed = service.control("POST", "/_ops/accounts/close", &body).await;
        assert_eq!(closed.status, 200);
    }
    let page = service.ask("GET", &ask(), "", "").await;
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    assert_eq!(text.matches("name=\"account\"").count(), 99, "the first hundred but one");
    assert!(text.contains(">0@example.com") && !text.contains(">3@example.com"), "{text}");
    for (account, outcome) in [
        ("1100@example.com", "code="),
        ("a1100", "code="),
        ("1150@example.com", "error=access%5Fdenied"),
        ("a0003", "error=access%5Fdenied"),
        ("nobody@example.com", "error=access%5Fdenied"),
    ] {
        let target = format!("{}&prompt=none&login_hint={account}", ask());
        let answer = service.ask("GET", &target, "", "").await;
        let location = header(&answer, "location");
        assert!(location.contains(outcome), "{account}: {location}");
    }
}

#[tokio::test]
async fn a_grant_of_many_tokens_is_revoked_and_a_code_that_is_used_again_ends_it() {
    for is_code in [true, false] {
        let service = service(1).await;
        let target = format!("{}&prompt=none&login_hint=a0000", ask());
        let answer = service.ask("GET", &target, "", "").await;
        let location = header(&answer, "location").to_owned();
        let code = location.split_once("code=").unwrap().1.split('&').next().unwrap();
        let redeem = format!("grant_type=authorization_code&code={code}&redirect_uri={BACK}");
        let issued = token(&service, &redeem).await.json();
        let refresh = issued["refresh_token"].as_str().unwrap();
        let more = format!("grant_type=refresh_token&refresh_token={refresh}");
        let mut last = issued["access_token"].as_str().unwrap().to_owned();
        for _ in 0..210 {
            let told = token(&service, &more).await.json();
            last = told["access_token"].as_str().unwrap().to_owned();
        }
        assert_eq!(service.ask("GET", "/userinfo", &last, "").await.status, 200);
        if is_code {
            let again = token(&service, &redeem).await;
            let told = again.json()["error_description"].to_string();
            assert_eq!((again.status, told.contains("used before")), (400, true), "{told}");
        } else {
            let target = format!("/revoke?token={refresh}");
            assert_eq!(service.ask("POST", &target, "", "").await.status, 200);
            assert_eq!(service.ask("POST", &target, "", "").await.status, 400, "there is none");
        }
        assert_eq!(service.ask("GET", "/userinfo", &last, "").await.status, 401);
        assert_eq!(token(&service, &more).await.json()["error"], "invalid_grant");
    }
}

#[tokio::test]
async fn a_client_that_proves_itself_wrongly_is_challenged_in_its_own_scheme() {
    let service = service(1).await;
    // app:wrong
    let basic = [FORM, ("authorization", "Basic YXBwOndyb25n")];
    let form = b"grant_type=refresh_token&refresh_token=x";
    let refused = service.ask_with("POST", "/token", "", &basic, form).await;
    assert_eq!((refused.status, &refused.json()["error"]), (401, &json!("invalid_client")));
    assert!(header(&refused, "www-authenticate").starts_with("Basic "));
    let form = b"grant_type=refresh_token&refresh_token=x&client_id=app&client_secret=wrong";
    let refused = service.ask_with("POST", "/token", "", &[FORM], form).await;
    assert_eq!(refused.status, 401);
    assert!(header(&refused, "www-authenticate").starts_with("Bearer "));
}

/// The members of a code of account 0 for these scopes, exchanged.
async fn exchanged(service: &Service, scope: &str) -> serde_json::Value {
    let target = ask().replace(SCOPE, &scope.replace(' ', "%20"));
    let target = format!("{target}&prompt=none&login_hint=a0000");
    let answer = service.ask("GET", &target, "", "").await;
    let (_, rest) = header(&answer, "location").split_once("code=").unwrap();
    let code = rest.split('&').next().unwrap();
    let form = format!("grant_type=authorization_code&redirect_uri={BACK}&code={code}");
    token(service, &form).await.json()
}

#[tokio::test]
async fn a_token_tells_its_scopes_those_of_openid_too_and_every_value_as_text() {
    let service = service(1).await;
    let tokens = exchanged(&service, &format!("{SCOPE} openid email")).await;
    let access = tokens["access_token"].as_str().unwrap();
    let about = format!("/tokeninfo?access_token={access}");
    let told = service.ask("GET", &about, "", "").await.json();
    assert_eq!(told["scope"], "https://www.googleapis.com/auth/youtube openid email");
    assert_eq!(told["scope"], tokens["scope"]);
    assert_eq!((&told["email_verified"], &told["expires_in"]), (&json!("true"), &json!("3600")));
    let fewer = format!("refresh_token={}", tokens["refresh_token"].as_str().unwrap());
    let fewer = format!("grant_type=refresh_token&{fewer}&scope=openid");
    let fewer = token(&service, &fewer).await.json();
    let form = format!("access_token={}", fewer["access_token"].as_str().unwrap());
    let told = service.ask_with("POST", "/tokeninfo", "", &[FORM], form.as_bytes()).await.json();
    assert_eq!(told["scope"], "openid");
    let first = format!("/oauth2/v1/tokeninfo?access_token={access}");
    assert_eq!(
        service.ask("GET", &first, "", "").await.json(),
        json!({
            "issued_to": "app", "audience": "app", "user_id": "a0000", "expires_in": 3600,
            "scope": "https://www.googleapis.com/auth/youtube openid email",
            "email": "0@example.com", "verified_email": true,
        })
    );
}

#[tokio::test]
async fn an_identity_token_is_told_until_it_ends_and_what_is_none_never() {
    let service = service(1).await;
    let unsigned = service.ask("GET", "/tokeninfo?id_token=a.b.c", "", "").await;
    assert_eq!((unsigned.status, &unsigned.json()["error"]), (400, &json!("invalid_token")));
    let tokens = exchanged(&service, "openid email").await;
    let identity = tokens["id_token"].as_str().unwrap();
    let about = format!("/tokeninfo?id_token={identity}");
    let told = service.ask("GET", &about, "", "").await.json();
    for (name, value) in
        [("sub", "a0000"), ("aud", "app"), ("email_verified", "true"), ("alg", "ES256")]
    {
        assert_eq!(told[name], value, "{told}");
    }
    assert!(told["exp"].as_str().unwrap().parse::<i64>().is_ok(), "{told}");
    let (signed, _) = identity.rsplit_once('.').unwrap();
    let changed = format!("/tokeninfo?id_token={signed}.AAAA");
    assert_eq!(service.ask("GET", &changed, "", "").await.status, 400);
    let nothing = service.ask("GET", "/tokeninfo", "", "").await;
    assert_eq!((nothing.status, &nothing.json()["error"]), (400, &json!("invalid_request")));
    service.clock.advance(std::time::Duration::from_secs(3_600));
    let ended = service.ask("GET", &about, "", "").await;
    assert_eq!((ended.status, &ended.json()["error"]), (400, &json!("invalid_token")));
}

#[tokio::test]
async fn the_address_and_the_name_of_an_account_are_told_to_who_was_granted_them() {
    let service = service(1).await;
    let long = "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fuserinfo.email";
    for (scope, email, name) in [
        (SCOPE, false, false),
        ("openid", false, false),
        ("openid email", true, false),
        ("openid profile", false, true),
        (&format!("openid {long}"), true, false),
    ] {
        let tokens = exchanged(&service, scope).await;
        let access = tokens["access_token"].as_str().unwrap();
        let about = format!("/tokeninfo?access_token={access}");
        let mut told = vec![
            service.ask("GET", "/userinfo", access, "").await.json(),
            service.ask("GET", &about, "", "").await.json(),
        ];
        if let Some(identity) = tokens["id_token"].as_str() {
            let about = format!("/tokeninfo?id_token={identity}");
            told.push(service.ask("GET", &about, "", "").await.json());
        }
        assert_eq!(told.len() == 3, scope.contains("openid"));
        for told in told {
            assert_eq!(told["sub"], "a0000", "{scope}: {told}");
            assert_eq!(told.get("email").is_some(), email, "{scope}: {told}");
            assert_eq!(told.get("email_verified").is_some(), email, "{scope}: {told}");
            assert_eq!(told.get("name").is_some(), name, "{scope}: {told}");
        }
    }
}

#[tokio::test]
async fn a_token_of_the_seed_file_tells_what_its_scopes_say() {
    let token = |token: &str, scopes: &[&str]| json!({"token": token, "scopes": scopes});
    let tokens = [token("FEW", &["youtube"]), token("MORE", &["youtube", "email", "profile"])];
    let file = json!({"accounts": [{"id": "a", "email": "a@example.com", "tokens": tokens}]});
    let service = Service::seeded(&file.to_string()).await;
    let told = async |token: &str| service.ask("GET", "/userinfo", token, "").await.json();
    assert_eq!(told("FEW").await, json!({"sub": "a"}));
    let all = json!({"sub": "a", "email": "a@example.com", "email_verified": true, "name": "a"});
    assert_eq!(told("MORE").await, all);
}

#[tokio::test]
async fn each_version_of_userinfo_has_the_names_of_its_time() {
    let token = json!({"token": "ALL", "scopes": ["youtube", "email", "profile"]});
    let file = json!({"accounts": [{"id": "a", "email": "a@example.com", "tokens": [token]}]});
    let service = Service::seeded(&file.to_string()).await;
    let first = json!({"id": "a", "email": "a@example.com", "verified_email": true, "name": "a"});
    let today = json!({"sub": "a", "email": "a@example.com", "email_verified": true, "name": "a"});
    for (path, told) in [
        ("/oauth2/v1/userinfo", &first),
        ("/oauth2/v2/userinfo", &first),
        ("/userinfo/v2/me", &first),
        ("/oauth2/v3/userinfo", &today),
        ("/v1/userinfo", &today),
        ("/userinfo", &today),
    ] {
        assert_eq!(&service.ask("GET", path, "ALL", "").await.json(), told, "{path}");
        assert_eq!(service.ask("GET", path, "none", "").await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn what_was_never_a_refresh_token_is_a_bad_request_and_one_that_ended_is_said_to_have() {
    let service = service(1).await;
    for (refresh, told) in [
        ("1%2F%2F0never", "Token has been expired or revoked."),
        ("none", "Bad Request"),
        ("ya29.x", "Bad Request"),
    ] {
        let form = format!("grant_type=refresh_token&refresh_token={refresh}");
        let answer = token(&service, &form).await;
        let refused = json!({"error": "invalid_grant", "error_description": told});
        assert_eq!((answer.status, answer.json()), (400, refused), "{refresh}");
    }
}
