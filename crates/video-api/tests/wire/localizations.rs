//! Texts of a resource by language: the default one beside the others, under the tags that their standard writes; and the country of a channel.

use serde_json::{Value, json};

use crate::service::{Answer, Service};

const VIDEOS: &str = "/youtube/v3/videos?part=snippet,localizations";
const PLAYLISTS: &str = "/youtube/v3/playlists?part=snippet,localizations";
const CHANNELS: &str = "/youtube/v3/channels?part=brandingSettings,localizations";

async fn put(service: &Service, target: &str, body: &Value) -> Answer {
    service.ask("PUT", target, "ALICE", &body.to_string()).await
}

async fn shown(service: &Service, target: &str) -> Value {
    service.list(target.strip_prefix("/youtube/v3").unwrap()).await["items"][0].clone()
}

/// One of each resource, with this default language and these localizations.
fn written(language: &str, localizations: &Value) -> [(&'static str, String, Value); 3] {
    let mut snippet = json!({"title": "Own", "description": "Text", "categoryId": "22"});
    snippet["defaultLanguage"] = language.into();
    let channel =
        json!({"channel": {"title": "Alice", "description": "Text", "defaultLanguage": language}});
    let body = |id: &str, part: &str, own: &Value| json!({"id": id, part: own, "localizations": localizations});
    [
        (VIDEOS, format!("{VIDEOS}&id=v"), body("v", "snippet", &snippet)),
        (PLAYLISTS, format!("{PLAYLISTS}&id=PLx"), body("PLx", "snippet", &snippet)),
        (
            CHANNELS,
            "/youtube/v3/channels?part=snippet,localizations&id=UCx".to_owned(),
            body("UCx", "brandingSettings", &channel),
        ),
    ]
}

#[tokio::test]
async fn localizations_show_the_default_language_with_the_snippets_texts() {
    let service = Service::new().await;
    let german = json!({"title": "LT", "description": "LD"});
    for (target, read, body) in written("en", &json!({"de": german})) {
        let answer = put(&service, target, &body).await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
        let title = if target == CHANNELS { "Alice" } else { "Own" };
        let own = json!({"title": title, "description": "Text"});
        let all = json!({"en": own, "de": german});
        assert_eq!(answer.json()["localizations"], all, "{target}");
        assert_eq!(shown(&service, &read).await["localizations"], all, "{target}");
    }
    // A default language is shown alone, too, and none where none is set.
    for (target, read, body) in written("en", &json!({})) {
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
        let all = shown(&service, &read).await["localizations"].clone();
        assert_eq!(all.as_object().unwrap().keys().collect::<Vec<_>>(), ["en"], "{target}");
    }
    for (target, read, body) in written("", &json!({})) {
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
        assert_eq!(shown(&service, &read).await["localizations"], Value::Null, "{target}");
    }
}

#[tokio::test]
async fn a_text_in_the_default_language_is_the_snippets_whatever_localizations_say() {
    let service = Service::new().await;
    let other = json!({"title": "LT", "description": "LD"});
    for (target, read, body) in written("de", &json!({"de": other, "fr": other})) {
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
        for hl in ["", "&hl=de", "&hl=de-AT", "&hl=en"] {
            let found = shown(&service, &format!("{read}{hl}")).await;
            let own = json!({"title": found["snippet"]["title"], "description": "Text"});
            assert_eq!(found["snippet"]["localized"], own, "{target}{hl}");
            assert_eq!(found["localizations"], json!({"de": own, "fr": other}), "{target}{hl}");
        }
        let found = shown(&service, &format!("{read}&hl=fr")).await;
        assert_eq!(found["snippet"]["localized"], other, "{target}");
    }
    // What stays of it is in the way of nothing: the default language goes with the last other one.
    for (target, _, mut body) in written("de", &json!({"de": other})) {
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
        body["localizations"] = json!({});
        let own = if target == CHANNELS { "/brandingSettings/channel" } else { "/snippet" };
        body.pointer_mut(own).unwrap()["defaultLanguage"] = Value::Null;
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
    }
}

#[tokio::test]
async fn a_language_has_one_tag_and_it_is_the_one_that_its_standard_writes() {
    let service = Service::new().await;
    let text = json!({"title": "LT", "description": "LD"});
    for (target, read, body) in written("en_gb", &json!({"pt-br": text, "ZH_hant": text})) {
        assert_eq!(put(&service, target, &body).await.status, 200, "{target}");
        let found = shown(&service, &read).await;
        let tags: Vec<_> = found["localizations"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(tags, ["en-GB", "pt-BR", "zh-Hant"], "{target}");
        assert_eq!(found["snippet"]["defaultLanguage"], "en-GB", "{target}");
    }
    for (target, _, body) in written("en", &json!({"pt-br": text, "pt-BR": text})) {
        let answer = put(&service, target, &body).await;
        assert_eq!((answer.status, answer.reason()), (400, "localizationValidationError".into()));
    }
}

#[tokio::test]
async fn a_channel_is_localized_by_a_description_alone_since_its_title_is_not_written_there() {
    let service = Service::new().await;
    let localizations = json!({"de": {"description": "LD"}});
    for (target, read, body) in written("en", &localizations) {
        let answer = put(&service, target, &body).await;
        if target != CHANNELS {
            let told = (answer.status, answer.reason());
            assert_eq!(told, (400, "localizationValidationError".to_owned()), "{target}");
            continue;
        }
        assert_eq!(answer.status, 200, "{}", answer.json());
        assert_eq!(answer.json()["localizations"]["de"], json!({"description": "LD"}));
        let found = shown(&service, &format!("{read}&hl=de")).await;
        let localized = json!({"title": "Alice", "description": "LD"});
        assert_eq!(found["snippet"]["localized"], localized);
    }
}

#[tokio::test]
async fn a_new_playlist_that_is_to_have_localizations_needs_a_default_language() {
    let service = Service::new().await;
    let insert = async |parts: &str, language: &str| {
        let body = json!({"snippet": {"title": "New", "defaultLanguage": language}});
        let target = format!("/youtube/v3/playlists?part={parts}");
        let answer = service.ask("POST", &target, "ALICE", &body.to_string()).await;
        (answer.status, answer.reason())
    };
    let all = "id,contentDetails,localizations,player,snippet,status";
    let refused = (400, "defaultLanguageNotSetError".to_owned());
    assert_eq!(insert(all, "").await, refused);
    assert_eq!(insert(all, "en").await.0, 200);
    assert_eq!(insert("snippet,status", "").await.0, 200);
}

#[tokio::test]
async fn a_channel_is_of_any_country_of_the_standard_and_of_no_other() {
    let service = Service::new().await;
    let target = "/youtube/v3/channels?part=brandingSettings";
    for (country, kept) in [("CN", "CN"), ("cu", "CU"), ("DE", "DE"), ("AX", "AX")] {
        let body = json!({"id": "UCx", "brandingSettings": {"channel": {"country": country}}});
        let answer = put(&service, target, &body).await.json();
        assert_eq!(answer["brandingSettings"]["channel"]["country"], kept);
        let found = service.list("/channels?part=snippet&id=UCx").await;
        assert_eq!(found["items"][0]["snippet"]["country"], kept);
    }
    for country in ["XX", "UK", "CHN", "China"] {
        let body = json!({"id": "UCx", "brandingSettings": {"channel": {"country": country}}});
        let answer = put(&service, target, &body).await;
        let told = (answer.status, answer.reason());
        assert_eq!(told, (400, "brandingValidationError".to_owned()), "{country}");
    }
}
