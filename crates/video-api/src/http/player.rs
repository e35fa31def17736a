//! The player at `/embed/ID`, and of a playlist at `/embed/videoseries?list=ID`: its page, the bytes of the video, its captions, and the count of its plays.

use bytes::Bytes;
use http::header::{self, HeaderName};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use triptych_core::host::ReplyBody;
use triptych_core::kv::{Tx, run};

use super::{ATTEMPTS_MAX, ApiRequest, VideoApi};
use crate::api::error::Error;
use crate::api::language;
use crate::api::response::download::{Conversion, Download};
use crate::api::response::etag;
use crate::caption::{Format, MediaTime};
use crate::http::request::{ALLOW_POSTS, ALLOW_READS};
use crate::http::response::{ApiResponse, Body};
use crate::record::stored::Stored;
use crate::resource::captions::rules as captions;
use crate::resource::playlist_items::series;
use crate::resource::videos::play::{self, Plays};
use crate::resource::videos::player::{self, Subtitles, ticket};
use crate::resource::videos::record::Video;
use crate::upload::media::Content;

/// The content security policy of the page: nothing from elsewhere, no script or style within it. Any page may embed it, that is its use.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'";
/// The script, and its style.
const ASSETS: [(&str, &str, &str); 2] = [
    ("/embed/player.js", "text/javascript; charset=UTF-8", include_str!("player.js")),
    ("/embed/player.css", "text/css; charset=UTF-8", include_str!("player.css")),
];

/// The name in the place of a video's id where `list` names a playlist.
const SERIES: &str = "videoseries";

/// Returns whether a path is one of the player's.
pub(super) fn is_player(path: &str) -> bool {
    path.starts_with("/embed/")
}

/// The part of the player that a path below `/embed/ID` asks for.
enum Part<'p> {
    Page,
    Video,
    Captions(&'p str),
    Play,
}

impl<'p> Part<'p> {
    fn of(rest: Option<&'p str>) -> Option<Self> {
        match rest {
            None => Some(Self::Page),
            Some("video") => Some(Self::Video),
            Some("play") => Some(Self::Play),
            Some(rest) => rest.strip_prefix("captions/")?.strip_suffix(".vtt").map(Self::Captions),
        }
    }
}

impl VideoApi {
    /// Answers a request to the player.
    pub(super) async fn player(&self, request: &ApiRequest) -> ApiResponse {
        if let Some((_, kind, text)) = ASSETS.iter().find(|(path, ..)| *path == request.path) {
            return asset(request, kind, text);
        }
        let rest = request.path.strip_prefix("/embed/").unwrap_or_default();
        let (id, rest) = match rest.split_once('/') {
            Some((id, rest)) => (id, Some(rest)),
            None => (rest, None),
        };
        let Some(part) = Part::of(rest) else {
            return request.refuse(&Error::UnknownPath, "player");
        };
        let allowed =
            if matches!(part, Part::Play) { ("POST", ALLOW_POSTS) } else { ("GET", ALLOW_READS) };
        if request.method != allowed.0 {
            return request.refuse(&request.not_allowed(allowed.1), "player");
        }
        let is_page = matches!(part, Part::Page);
        match self.player_part(request, id, part).await {
            Ok(response) => response,
            Err(error) if is_page => {
                page(error.detail().row.status, player::refusal(&error.to_string()))
            }
            Err(error) => request.refuse(&error, "player"),
        }
    }

    async fn player_part(
        &self,
        request: &ApiRequest,
        id: &str,
        part: Part<'_>,
    ) -> Result<ApiResponse, Error> {
        let now = self.0.clock.now();
        let ticket = request.value("ticket").filter(|ticket| !ticket.is_empty());
        if let (Part::Page, SERIES, Some(list)) = (&part, id, request.value("list")) {
            let from = request.value("index").and_then(|index| index.parse().ok());
            let mut tx = Tx::new(&*self.0.store);
            let turn = series::turn(&mut tx, list, from.unwrap_or_default(), now)?;
            let list = utf8_percent_encode(list, NON_ALPHANUMERIC);
            let next = turn.next.map(|at| format!("{SERIES}?list={list}&index={at}"));
            return self.player_page(&turn.id, &turn.video, None, next.as_deref());
        }
        let video = player::playable(&mut Tx::new(&*self.0.store), id, ticket, now)?;
        match part {
            Part::Page => self.player_page(id, &video, ticket, None),
            Part::Video => self.player_video(request, &video).await,
            Part::Captions(track) => self.player_captions(request, id, &video, track).await,
            Part::Play => {
                let plays = Plays { video: id.to_owned(), account: None, count: 1, seconds: 0 };
                run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
                    play::record(tx, ids, &plays, now)
                })
                .await?;
                let headers = Vec::new();
                Ok(ApiResponse { status: 204, headers, body: Body::Empty, operation: "player" })
            }
        }
    }

    fn player_page(
        &self,
        id: &str,
        video: &Stored<Video>,
        ticket: Option<&str>,
        next: Option<&str>,
    ) -> Result<ApiResponse, Error> {
        let mut tx = Tx::new(&*self.0.store);
        let tracks = player::tracks(&mut tx, id)?;
        let tracks: Vec<_> = tracks
            .into_iter()
            .map(|(id, track)| Subtitles {
                id,
                label: if track.name.is_empty() { track.language.clone() } else { track.name },
                language: track.language,
            })
            .collect();
        let query = ticket.map(|ticket| format!("?ticket={ticket}")).unwrap_or_default();
        let text = player::page(&mut tx, id, video, &tracks, &query, next)?;
        Ok(page(200, text))
    }

    async fn player_video(
        &self,
        request: &ApiRequest,
        video: &Stored<Video>,
    ) -> Result<ApiResponse, Error> {
        let media = video.head.media.ok_or(Error::UnknownPath)?;
        let container = video.head.facts.as_ref().map_or("", |facts| facts.container.as_str());
        let kind = match container {
            "webm" => "video/webm",
            "matroska" => "video/x-matroska",
            "mov" => "video/quicktime",
            _ => "video/mp4",
        };
        let file = Download {
            content: Content::Pieces(media),
            bytes: video.head.bytes,
            etag: etag(&media),
            media_type: kind,
            conversion: None,
        };
        self.download(request, file, "player").await
    }

    async fn player_captions(
        &self,
        request: &ApiRequest,
        id: &str,
        video: &Stored<Video>,
        track: &str,
    ) -> Result<ApiResponse, Error> {
        let tracks = player::tracks(&mut Tx::new(&*self.0.store), id)?;
        let found = tracks.into_iter().find(|(known, _)| known == track);
        let (_, caption) = found.ok_or(&captions::NOT_FOUND)?;
        let length = video.head.facts.as_ref().map_or(0, |facts| facts.duration_ms);
        let sync = caption.is_synced.then(|| MediaTime::from_millis(length));
        let file = Download {
            content: caption.content,
            bytes: caption.bytes,
            etag: etag(format!("{} vtt", caption.etag()).as_bytes()),
            media_type: "text/vtt; charset=UTF-8",
            conversion: Some(Conversion {
                to: Format::WebVtt,
                sync,
                language: language::with_hyphens(&caption.language),
                translation: None,
            }),
        };
        self.download(request, file, "player").await
    }

    /// A link that plays a video for a short while, whoever may see it else.
    pub(super) async fn player_link(
        &self,
        request: &ApiRequest,
        bytes: &Bytes,
    ) -> Result<serde_json::Value, Error> {
        let body: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|error| Error::ParseError(error.to_string()))?;
        let video = body.get("video").and_then(serde_json::Value::as_str);
        let video = video.ok_or(Error::RequiredField("video"))?.to_owned();
        let now = self.0.clock.now();
        let ticket = run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
            ticket::issue(tx, ids, &video, now)
        })
        .await?;
        let url = format!("{}/embed/{video}?ticket={ticket}", request.base);
        Ok(json!({"url": url, "expires": now.plus(ticket::LIFETIME).rfc3339()}))
    }
}

fn page(status: u16, text: String) -> ApiResponse {
    let headers = vec![
        (header::CONTENT_TYPE, "text/html; charset=UTF-8".into()),
        (header::CONTENT_SECURITY_POLICY, POLICY.into()),
        (header::REFERRER_POLICY, "no-referrer".into()),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    ApiResponse { status, headers, body: Body::Text(text.into()), operation: "player" }
}

fn asset(request: &ApiRequest, kind: &'static str, text: &'static str) -> ApiResponse {
    if request.method != "GET" {
        return request.refuse(&request.not_allowed(ALLOW_READS), "player");
    }
    let headers: Vec<(HeaderName, _)> = vec![
        (header::CONTENT_TYPE, kind.into()),
        (header::CACHE_CONTROL, "public, max-age=300".into()),
    ];
    let body = Body::Raw(ReplyBody::whole(Bytes::from_static(text.as_bytes())));
    ApiResponse { status: 200, headers, body, operation: "player" }
}
