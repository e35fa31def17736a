//! `google-youtube3`, unmodified: its own headers, its own multipart dialect, its own resumable uploads.

mod audience;

use std::io::Cursor;

use google_youtube3::api::{
    Channel, ChannelBannerResource, ChannelBrandingSettings, ChannelSettings, ImageSettings,
    InvideoBranding, InvideoTiming, Playlist, PlaylistItem, PlaylistItemSnippet, PlaylistSnippet,
    PlaylistStatus, ResourceId, Video, VideoSnippet, VideoStatus,
};
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
    known_by(variable("TOKEN"))
}

fn bob() -> YouTube<HttpConnector> {
    known_by("bob-token".to_owned())
}

fn known_by(token: String) -> YouTube<HttpConnector> {
    pointed(YouTube::new(Client::builder(TokioExecutor::new()).build_http(), token))
}

fn anyone() -> YouTube<HttpConnector> {
    pointed(YouTube::new(Client::builder(TokioExecutor::new()).build_http(), NoToken))
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

/// A film of twelve seconds without a picture: what is tested here is how it travels.
fn media() -> Cursor<Vec<u8>> {
    // A box that players pass over makes it long enough for several pieces.
    let filler = 300_000_u32;
    let mut film = include_bytes!("../film.mp4").to_vec();
    film.extend_from_slice(&filler.to_be_bytes());
    film.extend_from_slice(b"free");
    film.resize(film.len() + filler as usize - 8, 7);
    Cursor::new(film)
}

async fn title_of(id: &str) -> Option<String> {
    let hub = anyone();
    let call =
        hub.videos().list(&parts(&["snippet"])).add_id(id).param("key", &variable("API_KEY"));
    let (_, found) = call.clear_scopes().doit().await.unwrap();
    found.items?.into_iter().next()?.snippet?.title
}

#[tokio::test]
async fn a_channel_is_listed_with_a_key() {
    let hub = anyone();
    let call = hub.channels().list(&parts(&["snippet"])).for_handle("@alice");
    let (_, found) = call.param("key", &variable("API_KEY")).clear_scopes().doit().await.unwrap();
    let titles: Vec<_> =
        found.items.unwrap().into_iter().filter_map(|channel| channel.snippet?.title).collect();
    assert_eq!(titles, ["Alice"]);
}

#[tokio::test]
async fn a_playlist_is_inserted_with_a_token() {
    let playlist = Playlist {
        snippet: Some(PlaylistSnippet { title: Some("Rust".into()), ..PlaylistSnippet::default() }),
        ..Playlist::default()
    };
    let (_, made) = alice().playlists().insert(playlist).add_scope(FORCE_SSL).doit().await.unwrap();
    assert_eq!(made.snippet.unwrap().title.unwrap(), "Rust");
}

#[tokio::test]
async fn a_video_goes_up_in_one_request() {
    let mime = "application/octet-stream".parse().unwrap();
    let (_, made) =
        alice().videos().insert(video("One request")).upload(media(), mime).await.unwrap();
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
    let refused = anyone().playlists().insert(Playlist::default()).clear_scopes().doit().await;
    match refused.err().unwrap() {
        Error::BadRequest(body) => assert_eq!(body["error"]["code"], 401),
        Error::Failure(reply) => assert_eq!(reply.status(), 401),
        other => panic!("{other}"),
    }
}

/// A picture of one bit a pixel, all of one colour.
fn picture(width: u32, height: u32) -> Cursor<Vec<u8>> {
    let row = width.div_ceil(32) * 4;
    let mut bytes = b"BM".to_vec();
    for number in [62 + row * height, 0, 62, 40, width, height] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&[1, 0, 1, 0]);
    for number in [0, row * height, 0, 0, 2, 2, 0, 0x00FF_FFFF] {
        bytes.extend_from_slice(&u32::to_le_bytes(number));
    }
    bytes.resize((62 + row * height) as usize, 0);
    Cursor::new(bytes)
}

/// The status and the reason of a refusal.
fn refusal<T>(outcome: Result<T, Error>) -> (u64, String) {
    let Some(Error::BadRequest(body)) = outcome.err() else {
        panic!("it was not refused");
    };
    let error = &body["error"];
    let reason = error["errors"][0]["reason"].as_str().unwrap();
    (error["code"].as_u64().unwrap(), reason.to_owned())
}

async fn uploaded(title: &str) -> String {
    let mime = "application/octet-stream".parse().unwrap();
    let hub = alice();
    let call = hub.videos().insert(video(title));
    call.upload(media(), mime).await.unwrap().1.id.unwrap()
}

async fn my_channel() -> String {
    let hub = alice();
    let call = hub.channels().list(&parts(&["id"])).mine(true);
    let (_, found) = call.doit().await.unwrap();
    found.items.unwrap().remove(0).id.unwrap()
}

#[tokio::test]
async fn a_video_is_updated_rated_and_deleted() {
    let id = uploaded("Before").await;
    let mut changed = video("After");
    changed.id = Some(id.clone());
    let (_, told) = alice().videos().update(changed.clone()).doit().await.unwrap();
    assert_eq!(told.snippet.unwrap().title.unwrap(), "After");
    assert_eq!(refusal(bob().videos().update(changed).doit().await), (403, "forbidden".into()));
    for (rating, likes) in [("like", 1), ("none", 0)] {
        bob().videos().rate(&id, rating).doit().await.unwrap();
        let (_, given) = bob().videos().get_rating(&vec![id.clone()]).doit().await.unwrap();
        assert_eq!(given.items.unwrap()[0].rating.as_deref(), Some(rating));
        let (_, found) =
            bob().videos().list(&parts(&["statistics"])).add_id(&id).doit().await.unwrap();
        let counted = found.items.unwrap().remove(0).statistics.unwrap();
        assert_eq!(counted.like_count, Some(likes));
    }
    alice().videos().delete(&id).doit().await.unwrap();
    assert_eq!(refusal(alice().videos().delete(&id).doit().await), (404, "videoNotFound".into()));
}

#[tokio::test]
async fn a_banner_a_thumbnail_and_a_watermark_go_up() {
    let mime = || "application/octet-stream".parse().unwrap();
    let (hub, channel) = (alice(), my_channel().await);
    let (_, banner) = hub
        .channel_banners()
        .insert(ChannelBannerResource::default())
        .upload(picture(2560, 1440), mime())
        .await
        .unwrap();
    let branding = ChannelBrandingSettings {
        channel: Some(ChannelSettings {
            description: Some("By Rust".into()),
            ..ChannelSettings::default()
        }),
        image: Some(ImageSettings {
            banner_external_url: banner.url.clone(),
            ..ImageSettings::default()
        }),
        ..ChannelBrandingSettings::default()
    };
    let request = Channel {
        id: Some(channel.clone()),
        branding_settings: Some(branding),
        ..Channel::default()
    };
    let (_, changed) = hub.channels().update(request).doit().await.unwrap();
    let image = changed.branding_settings.unwrap().image.unwrap();
    assert_eq!(image.banner_external_url, banner.url);

    let id = uploaded("With a picture").await;
    let (_, set) = hub.thumbnails().set(&id).upload(picture(640, 360), mime()).await.unwrap();
    assert!(set.items.unwrap()[0].default.as_ref().unwrap().url.is_some());

    let timing = InvideoTiming {
        type_: Some("offsetFromStart".into()),
        offset_ms: Some(1_000),
        duration_ms: Some(2_000),
    };
    let request = InvideoBranding { timing: Some(timing), ..InvideoBranding::default() };
    let call = hub.watermarks().set(request, &channel);
    call.upload(picture(150, 150), mime()).await.unwrap();
    hub.watermarks().unset(&channel).doit().await.unwrap();
    assert_eq!(refusal(bob().watermarks().unset(&channel).doit().await).0, 403);
}

fn item(playlist: &str, video: &str, position: u32) -> PlaylistItem {
    let resource = ResourceId {
        kind: Some("youtube#video".into()),
        video_id: Some(video.into()),
        ..ResourceId::default()
    };
    PlaylistItem {
        snippet: Some(PlaylistItemSnippet {
            playlist_id: Some(playlist.into()),
            position: Some(position),
            resource_id: Some(resource),
            ..PlaylistItemSnippet::default()
        }),
        ..PlaylistItem::default()
    }
}

#[tokio::test]
async fn a_playlist_is_filled_ordered_paged_and_deleted() {
    let hub = alice();
    let request = Playlist {
        snippet: Some(PlaylistSnippet {
            title: Some("Order".into()),
            ..PlaylistSnippet::default()
        }),
        status: Some(PlaylistStatus {
            privacy_status: Some("public".into()),
            ..PlaylistStatus::default()
        }),
        ..Playlist::default()
    };
    let (_, playlist) = hub.playlists().insert(request).doit().await.unwrap();
    let list = playlist.id.unwrap();
    let (first, second) = (uploaded("One").await, uploaded("Two").await);
    let insert = async |video: &str| {
        let call = hub.playlist_items().insert(item(&list, video, 0));
        call.doit().await.unwrap().1.id
    };
    let (one, two) = (insert(&first).await, insert(&second).await);
    let titles = async || {
        let (mut titles, mut page) = (Vec::new(), None::<String>);
        loop {
            let mut call = hub.playlist_items().list(&parts(&["snippet"]));
            call = call.playlist_id(&list).max_results(1);
            if let Some(page) = &page {
                call = call.page_token(page);
            }
            let (_, found) = call.doit().await.unwrap();
            for row in found.items.unwrap() {
                let snippet = row.snippet.unwrap();
                titles.push((snippet.position.unwrap(), snippet.title.unwrap()));
            }
            page = found.next_page_token;
            if page.is_none() {
                return titles;
            }
        }
    };
    assert_eq!(titles().await, [(0, "Two".into()), (1, "One".into())]);
    let mut moved = item(&list, &first, 0);
    moved.id = one;
    hub.playlist_items().update(moved).doit().await.unwrap();
    assert_eq!(titles().await, [(0, "One".into()), (1, "Two".into())]);
    hub.playlist_items().delete(&two.unwrap()).doit().await.unwrap();
    assert_eq!(titles().await, [(0, "One".into())]);
    let renamed = Playlist {
        id: Some(list.clone()),
        snippet: Some(PlaylistSnippet {
            title: Some("Renamed".into()),
            ..PlaylistSnippet::default()
        }),
        ..Playlist::default()
    };
    hub.playlists().update(renamed).doit().await.unwrap();
    let (_, found) = hub.playlists().list(&parts(&["snippet"])).add_id(&list).doit().await.unwrap();
    let title = found.items.unwrap().remove(0).snippet.unwrap().title;
    assert_eq!(title.as_deref(), Some("Renamed"));
    hub.playlists().delete(&list).doit().await.unwrap();
    let gone = hub.playlist_items().list(&parts(&["id"])).playlist_id(&list);
    assert_eq!(refusal(gone.doit().await), (404, "playlistNotFound".into()));
}

#[tokio::test]
async fn search_and_the_lists_of_the_interface_answer() {
    let hub = alice();
    let request = Playlist {
        snippet: Some(PlaylistSnippet {
            title: Some("Marmoset songs".into()),
            ..PlaylistSnippet::default()
        }),
        ..Playlist::default()
    };
    hub.playlists().insert(request).doit().await.unwrap();
    let call = hub.search().list(&parts(&["snippet"])).q("marmoset");
    let (_, found) = call.add_type("playlist").doit().await.unwrap();
    assert_eq!(found.page_info.unwrap().total_results, Some(1));
    let call = hub.search().list(&parts(&["snippet"])).video_duration("short");
    assert_eq!(refusal(call.doit().await), (400, "invalidSearchFilter".into()));

    let snippet = parts(&["snippet"]);
    let (_, languages) = hub.i18n_languages().list(&snippet).doit().await.unwrap();
    let (_, regions) = hub.i18n_regions().list(&snippet).doit().await.unwrap();
    let call = hub.video_categories().list(&snippet).region_code("US");
    let (_, categories) = call.doit().await.unwrap();
    assert!(languages.items.unwrap().iter().any(|item| item.id.as_deref() == Some("ja")));
    assert!(regions.items.unwrap().iter().any(|item| item.id.as_deref() == Some("BR")));
    let music = |snippet: &google_youtube3::api::VideoCategorySnippet| {
        snippet.title.as_deref() == Some("Music")
    };
    let categories = categories.items.unwrap();
    assert!(categories.iter().any(|item| item.snippet.as_ref().is_some_and(music)));
}
