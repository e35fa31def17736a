//! The control paths by which the page at `/_ui/` acts as somebody.

use serde_json::Value;

use crate::service::Service;

#[tokio::test]
async fn an_access_token_of_the_control_path_is_one_of_the_account_for_an_hour() {
    let service = Service::new().await;
    let given = service.control("POST", "/_ops/accessTokens", r#"{"account": "bob"}"#).await;
    assert_eq!(given.status, 200, "{}", given.json());
    let token = given.json()["token"].as_str().unwrap().to_owned();
    let own = "/youtube/v3/channels?part=id&mine=true";
    let mine = service.ask("GET", own, &token, "").await;
    assert_eq!(mine.json()["items"][0]["id"], "UCbob");
    service.later(3_601);
    assert_eq!(service.ask("GET", own, &token, "").await.status, 401);
}

#[tokio::test]
async fn an_access_token_is_given_for_accounts_that_are_open_alone() {
    let service = Service::new().await;
    for body in [r#"{"account": "nobody"}"#, "{}", "x"] {
        let refused = service.control("POST", "/_ops/accessTokens", body).await;
        assert_eq!(refused.status, 400, "{body}");
    }
    let closed = service.control("POST", "/_ops/accounts/close", r#"{"account": "bob"}"#).await;
    assert_eq!(closed.status, 200);
    let refused = service.control("POST", "/_ops/accessTokens", r#"{"account": "bob"}"#).await;
    assert_eq!(refused.status, 400);
    let accounts = service.control("GET", "/_ops/accounts", "").await.json();
    let ids: Vec<_> =
        accounts["accounts"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["alice", "carol"]);
}

#[tokio::test]
async fn what_a_token_of_the_page_does_counts_for_no_project() {
    let service = Service::new().await;
    let given = service.control("POST", "/_ops/accessTokens", r#"{"account": "alice"}"#).await;
    let token = given.json()["token"].as_str().unwrap().to_owned();
    let quota = async || service.control("GET", "/_ops/quota", "").await.json();
    let before = quota().await;
    assert_eq!(service.ask("GET", "/youtube/v3/videos?part=id&id=v", &token, "").await.status, 200);
    assert_eq!(quota().await, before);
}

#[tokio::test]
async fn the_secrets_of_the_seed_file_are_told_and_no_others() {
    let service = Service::new().await;
    let told = service.control("GET", "/_ops/credentials", "").await.json();
    let texts = |list: &str, member: &str| -> Vec<Value> {
        told[list].as_array().unwrap().iter().map(|one| one[member].clone()).collect()
    };
    assert_eq!(texts("apiKeys", "key"), ["KEY", "LOCALKEY", "K", "POOR"]);
    assert_eq!(texts("tokens", "account"), ["alice", "alice", "alice", "bob", "carol"]);
    assert_eq!(told["oauthClients"].as_array().unwrap().len(), 0);
    let one = service.control("GET", "/_ops/accounts?id=bob", "").await.json();
    assert_eq!(
        (&one["accounts"][0]["channel"], &one["accounts"][1]),
        (&Value::from("UCbob"), &Value::Null)
    );
}
