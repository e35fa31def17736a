//! Places of faults: fields of a body by their path from the body on, as the real service's answers have them, and parameters that the operation takes.

use serde_json::{Value, json};

use crate::service::{Service, ask};

/// Status, reason, kind of the place, and place of a refusal.
fn told(status: u16, answer: &Value) -> (u16, &str, &str, &str) {
    let error = &answer["error"]["errors"][0];
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    (status, text("reason"), text("locationType"), text("location"))
}

#[tokio::test]
async fn a_field_of_a_body_is_told_by_its_path_from_the_body_on() {
    let service = Service::new().await;
    for (name, value, reason) in [
        ("title", json!(""), "invalidTitle"),
        ("description", json!("<b>"), "invalidDescription"),
        ("categoryId", json!("99"), "invalidCategoryId"),
        ("tags", json!(["x".repeat(501)]), "invalidTags"),
    ] {
        let mut snippet = json!({"title": "t", "categoryId": "22"});
        snippet[name] = value;
        let body = json!({"id": "v", "snippet": snippet});
        let path = format!("body.snippet.{name}");
        for form in ["", "&$.xgafv=1"] {
            let target = format!("/videos?part=snippet{form}");
            let (status, answer) = ask(&service, "ALICE", "PUT", &target, body.clone()).await;
            assert_eq!(told(status, &answer), (400, reason, "other", path.as_str()));
        }
        let target = "/videos?part=snippet&$.xgafv=2";
        let (_, answer) = ask(&service, "ALICE", "PUT", target, body).await;
        assert_eq!(answer["error"]["details"][0]["metadata"]["location"], path, "{answer}");
    }
}

#[tokio::test]
async fn an_update_tells_the_id_of_its_body_and_no_parameter_that_it_does_not_take() {
    let service = Service::new().await;
    let item = json!({"playlistId": "PLx", "resourceId": {"videoId": "v"}});
    for (target, part, value, reason) in [
        ("/videos?part=status", "status", json!({}), "videoNotFound"),
        ("/playlists?part=snippet", "snippet", json!({"title": "t"}), "playlistNotFound"),
        ("/playlistItems?part=snippet", "snippet", item, "playlistItemNotFound"),
        ("/comments?part=snippet", "snippet", json!({"textOriginal": "a"}), "commentNotFound"),
        ("/captions?part=snippet", "snippet", json!({"isDraft": true}), "captionNotFound"),
        (
            "/channelSections?part=snippet",
            "snippet",
            json!({"type": "recentUploads"}),
            "channelSectionNotFound",
        ),
        ("/channels?part=brandingSettings", "brandingSettings", json!({}), "channelNotFound"),
    ] {
        let body = json!({"id": "none", part: value});
        let (status, answer) = ask(&service, "ALICE", "PUT", target, body).await;
        assert_eq!(told(status, &answer), (404, reason, "other", "body.id"), "{target}");
    }
    for (target, reason) in [
        ("/videos?id=none", "videoNotFound"),
        ("/playlists?id=none", "playlistNotFound"),
        ("/comments?id=none", "commentNotFound"),
    ] {
        let (status, answer) = ask(&service, "ALICE", "DELETE", target, Value::Null).await;
        assert_eq!(told(status, &answer), (404, reason, "parameter", "id"), "{target}");
    }
}

#[tokio::test]
async fn an_update_of_a_video_that_no_body_names_is_one_of_a_video_that_is_not_there() {
    let service = Service::new().await;
    let snippet = json!({"title": "t", "categoryId": "22"});
    for body in [
        json!({}),
        json!({"snippet": snippet}),
        json!({"id": "", "snippet": snippet}),
        json!({"id": "none", "snippet": snippet}),
    ] {
        let target = "/videos?part=snippet";
        let (status, answer) = ask(&service, "ALICE", "PUT", target, body).await;
        assert_eq!(told(status, &answer), (404, "videoNotFound", "other", "body.id"));
        let sentence = answer["error"]["message"].as_str().unwrap();
        assert!(sentence.contains("trying to update cannot be found"), "{sentence}");
    }
}

#[tokio::test]
async fn refusals_that_the_real_service_was_seen_to_make_have_its_sentences() {
    let service = Service::new().await;
    let moved =
        json!({"snippet": {"playlistId": "UUx", "position": 1, "resourceId": {"videoId": "v"}}});
    let unknown = json!({"snippet": {"resourceId": {"channelId": "UCnone"}}});
    for (method, target, body, expected, sentence) in [
        (
            "GET",
            "/commentThreads?part=id&videoId=none",
            Value::Null,
            (404, "videoNotFound", "parameter", "videoId"),
            "The video identified by the <code><a href=\"/youtube/v3/docs/commentThreads/list#videoId\">videoId</a></code> parameter could not be found.",
        ),
        (
            "POST",
            "/playlistItems?part=snippet",
            moved,
            (400, "manualSortRequired", "", ""),
            "Playlist sort type need to be MANUAL to support position.",
        ),
        (
            "POST",
            "/subscriptions?part=snippet",
            unknown,
            (404, "publisherNotFound", "", ""),
            "The resource specified by the requests <code>snippet.resourceId</code> property cannot be found.",
        ),
        (
            "POST",
            "/subscriptions?part=snippet",
            json!({"snippet": {"resourceId": {"channelId": "UCx"}}}),
            (400, "subscriptionForbidden", "", ""),
            "Subscribing to your own channel is not supported.",
        ),
        (
            "POST",
            "/playlistItems?part=snippet",
            json!({"snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#channel"}}}),
            (400, "invalidResourceType", "", ""),
            "Resource type not supported.",
        ),
        (
            "POST",
            "/playlists?part=snippet,localizations",
            json!({"snippet": {"title": "New"}}),
            (400, "defaultLanguageNotSetError", "other", "body.snippet.defaultLanguage"),
            "Set default language to updating localizations.",
        ),
    ] {
        let (status, answer) = ask(&service, "ALICE", method, target, body).await;
        assert_eq!(told(status, &answer), expected, "{target}");
        assert_eq!(answer["error"]["message"], sentence);
    }
}

#[tokio::test]
async fn a_refusal_of_credentials_says_beside_its_reason_what_is_wrong_and_above_it_what_is_wanted()
{
    let service = Service::new().await;
    for (who, said, above) in [
        ("WRONG", "Invalid Credentials", "Request had invalid authentication credentials."),
        ("", "Login Required.", "Request is missing required authentication credential."),
    ] {
        let target = "/videos/rate?id=v&rating=like&key=KEY";
        let (status, answer) = ask(&service, who, "POST", target, Value::Null).await;
        assert_eq!((status, &answer["error"]["errors"][0]["message"]), (401, &json!(said)));
        let summary = answer["error"]["message"].as_str().unwrap();
        assert!(
            summary.starts_with(above) && summary.contains("OAuth 2 access token"),
            "{summary}"
        );
    }
}
