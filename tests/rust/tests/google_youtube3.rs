//! `google-youtube3`, unmodified: its own headers, its own multipart dialect, its own resumable uploads.

use std::io::Cursor;

use google_youtube3::api::{Playlist, PlaylistSnippet, Video, VideoSnippet, VideoStatus};
use google_youtube3::common::NoToken;
use google_youtube3::{Error, YouTube};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

const FORCE_SSL: &str = "https://www.googleapis.com/auth/youtube.force-ssl";

fn variable(name: &str) -> String {
    std::env::var(format!("TRIPTYCH_VIDEO_{name}")).unwrap()
}

fn pointed(mut hub: YouTube<HttpConnector>) -> YouTube<HttpConnector> {
    let url = format!("{}/", variable("URL"));
    hub.base_url(url.clone());
    hub.root_url(url);
    hub
}

fn alice() -> YouTube<HttpConnector> {
    pointed(YouTube::new(
        Client::builder(TokioExecutor::new()).build_http(),
        variable("TOKEN"),
    ))
}

fn anyone() -> YouTube<HttpConnector> {
    pointed(YouTube::new(
        Client::builder(TokioExecutor::new()).build_http(),
        NoToken,
    ))
}

fn parts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn video(title: &str) -> Video {
    Video {
        snippet: Some(VideoSnippet {
            title: Some(title.into()),
            category_id: Some("22".into()),
            ..VideoSnippet::default()
        }),
        status: Some(VideoStatus {
            privacy_status: Some("public".into()),
            ..VideoStatus::default()
        }),
        ..Video::default()
    }
}

/// Bytes that are no movie: what is tested here is how they travel.
fn media() -> Cursor<Vec<u8>> {
    Cursor::new(vec![7; 300_000])
}

async fn title_of(id: &str) -> Option<String> {
    let hub = anyone();
    let call = hub
        .videos()
        .list(&parts(&["snippet"]))
        .add_id(id)
        .param("key", &variable("API_KEY"));
    let (_, found) = call.clear_scopes().doit().await.unwrap();
    found.items?.into_iter().next()?.snippet?.title
}

#[tokio::test]
async fn a_channel_is_listed_with_a_key() {
    let hub = anyone();
    let call = hub
        .channels()
        .list(&parts(&["snippet"]))
        .for_handle("@alice");
    let (_, found) = call
        .param("key", &variable("API_KEY"))
        .clear_scopes()
        .doit()
        .await
        .unwrap();
    let titles: Vec<_> = found
        .items
        .unwrap()
        .into_iter()
        .filter_map(|channel| channel.snippet?.title)
        .collect();
    assert_eq!(titles, ["Alice"]);
}

#[tokio::test]
async fn a_playlist_is_inserted_with_a_token() {
    let playlist = Playlist {
        snippet: Some(PlaylistSnippet {
            title: Some("Rust".into()),
            ..PlaylistSnippet::default()
        }),
        ..Playlist::default()
    };
    let (_, made) = alice()
        .playlists()
        .insert(playlist)
        .add_scope(FORCE_SSL)
        .doit()
        .await
        .unwrap();
    assert_eq!(made.snippet.unwrap().title.unwrap(), "Rust");
}

#[tokio::test]
async fn a_video_goes_up_in_one_request() {
    let mime = "application/octet-stream".parse().unwrap();
    let (_, made) = alice()
        .videos()
        .insert(video("One request"))
        .upload(media(), mime)
        .await
        .unwrap();
    assert_eq!(title_of(&made.id.unwrap()).await.unwrap(), "One request");
}

#[tokio::test]
async fn a_video_goes_up_resumably() {
    let mime = "application/octet-stream".parse().unwrap();
    let hub = alice();
    let call = hub.videos().insert(video("Resumable"));
    let (_, made) = call.upload_resumable(media(), mime).await.unwrap();
    assert_eq!(title_of(&made.id.unwrap()).await.unwrap(), "Resumable");
}

#[tokio::test]
async fn an_insert_without_a_token_is_refused() {
    let refused = anyone()
        .playlists()
        .insert(Playlist::default())
        .clear_scopes()
        .doit()
        .await;
    match refused.err().unwrap() {
        Error::BadRequest(body) => assert_eq!(body["error"]["code"], 401),
        Error::Failure(reply) => assert_eq!(reply.status(), 401),
        other => panic!("{other}"),
    }
}
