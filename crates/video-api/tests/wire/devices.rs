//! Devices without a browser: their codes, the page where their users answer, and what they are told meanwhile.

use serde_json::{Value, json};

use crate::service::{Answer, Service};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const TODAY: &str = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code";
const OLDER: &str = "http%3A%2F%2Foauth.net%2Fgrant_type%2Fdevice%2F1.0";
const SCOPE: &str = "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fyoutube";

async fn service() -> Service {
    let channel = json!({"id": "UCa", "title": "A"});
    let accounts = json!([
        {"id": "a", "email": "a@example.com", "channel": channel}, {"id": "b", "email": "b@example.com"}]);
    let clients = json!([{"id": "tv", "secret": "s", "redirectUris": []}, {"id": "other", "redirectUris": []}]);
    Service::seeded(&json!({"accounts": accounts, "oauthClients": clients}).to_string()).await
}

async fn post(service: &Service, path: &str, form: &str) -> Answer {
    service.ask_with("POST", path, "", &[FORM], form.as_bytes()).await
}

/// The codes of a device that begins.
async fn begun(service: &Service, path: &str) -> Value {
    let answer = post(service, path, &format!("client_id=tv&scope={SCOPE}")).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()
}

/// Status and error of a device that asks for its tokens, and all that it was told.
async fn asked(service: &Service, path: &str, form: &str) -> (u16, String, Value) {
    let answer = post(service, path, &format!("client_id=tv&client_secret=s&{form}")).await;
    let told = answer.json();
    (answer.status, told["error"].as_str().unwrap_or_default().to_owned(), told)
}

fn text<'a>(codes: &'a Value, name: &str) -> &'a str {
    codes[name].as_str().unwrap()
}

#[tokio::test]
async fn a_device_gets_its_tokens_once_its_user_chose_an_account_on_the_page() {
    let service = service().await;
    for (codes_at, tokens_at, grant) in [
        ("/device/code", "/token", format!("grant_type={TODAY}&device_code=")),
        ("/o/oauth2/device/code", "/o/oauth2/token", format!("grant_type={OLDER}&code=")),
    ] {
        let codes = begun(&service, codes_at).await;
        assert_eq!((&codes["expires_in"], &codes["interval"]), (&json!(1_800), &json!(5)));
        assert!(text(&codes, "verification_url").ends_with("/device"), "{codes}");
        let ask = format!("{grant}{}", text(&codes, "device_code"));
        let waits = asked(&service, tokens_at, &ask).await;
        assert_eq!((waits.0, waits.1.as_str()), (428, "authorization_pending"));
        let soon = asked(&service, tokens_at, &ask).await;
        assert_eq!((soon.0, soon.1.as_str()), (403, "slow_down"));

        let empty = service.ask("GET", "/device", "", "").await;
        assert!(String::from_utf8_lossy(&empty.body).contains("name=\"user_code\""));
        let user_code = text(&codes, "user_code");
        let page = service.ask("GET", &format!("/device?user_code={user_code}"), "", "").await;
        let shown = String::from_utf8_lossy(&page.body).into_owned();
        assert!(
            shown.contains("tv asks for access") && shown.contains(">a@example.com"),
            "{shown}"
        );
        let entered = user_code.to_lowercase().replace('-', "+");
        let done = post(&service, "/device", &format!("user_code={entered}&account=a")).await;
        assert_eq!(done.status, 200);

        let (status, _, tokens) = asked(&service, tokens_at, &ask).await;
        assert_eq!((status, &tokens["token_type"]), (200, &json!("Bearer")), "{tokens}");
        let mine = "/youtube/v3/channels?part=id&mine=true";
        let found = service.ask("GET", mine, text(&tokens, "access_token"), "").await.json();
        assert_eq!(found["items"][0]["id"], "UCa");
        let more =
            format!("grant_type=refresh_token&refresh_token={}", text(&tokens, "refresh_token"));
        assert_eq!(asked(&service, tokens_at, &more).await.0, 200);
        let again = asked(&service, tokens_at, &ask).await;
        assert_eq!((again.0, again.1.as_str()), (400, "invalid_grant"));
    }
}

#[tokio::test]
async fn a_device_is_told_that_its_user_said_no_and_that_its_codes_ended() {
    let service = service().await;
    let codes = begun(&service, "/device/code").await;
    let ask =
        |codes: &Value| format!("grant_type={TODAY}&device_code={}", text(codes, "device_code"));
    let deny = format!("user_code={}&answer=deny", text(&codes, "user_code"));
    assert_eq!(post(&service, "/device", &deny).await.status, 200);
    let denied = asked(&service, "/token", &ask(&codes)).await;
    assert_eq!((denied.0, denied.1.as_str()), (403, "access_denied"));
    let codes = begun(&service, "/device/code").await;
    service.clock.advance(std::time::Duration::from_secs(1_800));
    let ended = asked(&service, "/token", &ask(&codes)).await;
    assert_eq!((ended.0, ended.1.as_str()), (400, "expired_token"));
    let late = format!("user_code={}&account=a", text(&codes, "user_code"));
    assert_eq!(post(&service, "/device", &late).await.status, 400);
}

#[tokio::test]
async fn what_is_no_request_of_a_device_is_refused_and_no_other_page_answers_for_its_user() {
    let service = service().await;
    for (path, form, status, error) in [
        ("/device/code", "scope=openid", 400, "invalid_request"),
        ("/device/code", "client_id=tv", 400, "invalid_request"),
        ("/device/code", "client_id=none&scope=openid", 401, "invalid_client"),
        ("/device/code", "client_id=tv&scope=drive", 400, "invalid_scope"),
        ("/device", "account=a", 400, "invalid_request"),
        ("/device", "user_code=BCDF-GHJK&account=a", 400, "invalid_grant"),
        ("/device", "user_code=BCDF-GHJK", 400, "invalid_request"),
    ] {
        let answer = post(&service, path, form).await;
        assert_eq!((answer.status, &answer.json()["error"]), (status, &json!(error)), "{form}");
    }
    assert_eq!(service.ask("GET", "/device/code", "", "").await.status, 405);
    let codes = begun(&service, "/device/code").await;
    let form = format!("user_code={}&account=a", text(&codes, "user_code"));
    let foreign = [FORM, ("origin", "https://evil.example")];
    let answer = service.ask_with("POST", "/device", "", &foreign, form.as_bytes()).await;
    assert_eq!((answer.status, &answer.json()["error"]), (403, &json!("access_denied")));
    assert!(answer.headers.get("access-control-allow-origin").is_none());
    for (client, status, error) in [
        ("client_id=tv&client_secret=wrong", 401, "invalid_client"),
        ("client_id=other", 400, "invalid_grant"),
        ("client_id=tv&client_secret=s", 428, "authorization_pending"),
    ] {
        let code = text(&codes, "device_code");
        let form = format!("{client}&grant_type={TODAY}&device_code={code}");
        let answer = post(&service, "/token", &form).await;
        assert_eq!((answer.status, &answer.json()["error"]), (status, &json!(error)), "{client}");
    }
}
