//! Every reason that the interface lists for an operation: brought about by a request of `rows.json`, or named here with why no request does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use video_api::api::error::Error;
use video_api::resource::{OPERATIONS, RESOURCES};

use crate::service::{Answer, SEED, Service};

/// A status and the reason that stands in its body.
type Reason = (u16, &'static str);

/// A list of reasons that no request brings about, and why.
const NEVER: &[(&str, &[Reason], &str)] = &[
    (
        "_general",
        &[
            (403, "accountDelegationForbidden"),
            (403, "cmsUserAccountNotFound"),
            (403, "insufficientCapabilities"),
            (404, "contentOwnerAccountNotFound"),
            (400, "invalidMine"),
        ],
        "there are no content owners, and nobody acts for another",
    ),
    (
        "_general",
        &[
            (403, "authenticatedUserAccountSuspended"),
            (403, "channelSuspended"),
            (403, "authenticatedUserNotChannel"),
        ],
        "no account is suspended, and a token names one account",
    ),
    ("_general", &[(403, "channelNotFound")], "a channel that is not there is 404"),
    ("_general", &[(400, "invalidPart")], "a part that is none is unknownPart"),
    ("_general", &[(400, "unexpectedParameter")], "only with --strict: parameter.rs has its test"),
    ("captions.list", &[(403, "forbidden")], "a track that one may not see is 404"),
    ("channelBanners.insert", &[(400, "bannerAlbumFull")], "banners are not counted"),
    (
        "channelSections.insert",
        &[(400, "notEditable")],
        "every section of one's own can be written",
    ),
    (
        "channels.list",
        &[(403, "channelForbidden"), (404, "channelNotFound")],
        "a list leaves out what is not there, as the real one does",
    ),
    ("commentThreads.list", &[(400, "processingFailure")], "no check of a list is left to it"),
    (
        "comments.setModerationStatus",
        &[(400, "processingFailure")],
        "every status is set, or refused by name",
    ),
    (
        "comments.update",
        &[(400, "processingFailure"), (400, "operationNotSupported")],
        "an update reads the text alone, and every comment can be changed",
    ),
    ("comments.delete", &[(400, "processingFailure")], "every comment can be deleted"),
    (
        "playlistItems.insert",
        &[(400, "videoAlreadyInAnotherSeriesPlaylist"), (400, "channelIdRequired")],
        "there are no series, and the playlist says the channel",
    ),
    (
        "playlistItems.update",
        &[(400, "channelIdRequired"), (404, "playlistNotFound")],
        "the id of an item says the playlist, and the playlist the channel",
    ),
    (
        "playlistItems.delete",
        &[(400, "playlistOperationUnsupported")],
        "items of every playlist can be removed (Spec, section 2, fact 6)",
    ),
    ("playlists.insert", &[(400, "maxPlaylistExceeded")], "a channel has as many as it likes"),
    (
        "subscriptions.insert",
        &[(403, "subscriptionForbidden")],
        "a subscription is always the caller's",
    ),
    (
        "subscriptions.insert",
        &[(404, "subscriberNotFound")],
        "an account without a channel is youtubeSignupRequired",
    ),
    ("subscriptions.list", &[(403, "accountSuspended")], "no account is suspended"),
    ("thumbnails.set", &[(429, "uploadRateLimitExceeded")], "the quota alone limits uploads"),
    (
        "videos.list",
        &[(404, "videoNotFound")],
        "a list leaves out what is not there, as the real one does",
    ),
    ("videos.insert", &[(400, "uploadLimitExceeded")], "the quota alone limits uploads"),
    ("videos.insert", &[(403, "forbidden")], "whoever has a channel and the scope may upload"),
    (
        "videos.update",
        &[(400, "invalidDefaultBroadcastPrivacySetting"), (403, "forbiddenEmbedSetting")],
        "there are no broadcasts, and every owner may embed",
    ),
    (
        "videos.rate",
        &[
            (400, "emailNotVerified"),
            (400, "videoPurchaseRequired"),
            (403, "forbidden"),
            (403, "videoRatingDisabled"),
        ],
        "every account is verified, no video is sold, and whoever sees a video may rate it",
    ),
    (
        "videos.reportAbuse",
        &[(400, "rateLimitExceeded"), (403, "forbidden")],
        "whoever sees a video may report it, as often as they like",
    ),
];

/// A request. `«x*3»` in it are three letters, `«x#3»` three ids, as a list where nothing else stands in the text; `«item»` is the first item
/// of a playlist, `«upload»` that of the uploads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ask {
    operation: String,
    /// The token of the request: nobody's if empty, and Alice's without.
    who: Option<String>,
    query: String,
    path_id: Option<String>,
    body: Value,
    media: Option<Medium>,
    headers: BTreeMap<String, String>,
    /// A control path in the place of an operation.
    control: Option<String>,
    /// The number of times that it is sent.
    times: Option<usize>,
}

/// Bytes that are uploaded.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Medium {
    r#type: String,
    text: Option<String>,
    /// Width and height of a picture.
    png: Option<(u32, u32)>,
}

/// A reason of an operation, and the request that brings it about.
#[derive(Deserialize)]
struct Row {
    /// The operation in whose list it stands, if that is not the one that is asked.
    of: Option<String>,
    status: u16,
    reason: String,
    /// Sections that the seed has beside.
    #[serde(default)]
    seed: Map<String, Value>,
    #[serde(default)]
    before: Vec<Ask>,
    #[serde(flatten)]
    ask: Map<String, Value>,
}

impl Row {
    fn listed(&self) -> (String, u16, String) {
        let asked = self.ask["operation"].as_str().unwrap();
        (self.of.as_deref().unwrap_or(asked).to_owned(), self.status, self.reason.clone())
    }
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("rows.json")).unwrap()
}

/// The parts of a text before, within and after its first marks.
fn marked(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('«')?;
    let (within, after) = rest.split_once('»')?;
    Some((before, within, after))
}

fn ids(within: &str) -> Option<Vec<String>> {
    let (stem, count) = within.split_once('#')?;
    Some((0..count.parse::<usize>().unwrap()).map(|number| format!("{stem}{number}")).collect())
}

/// The value without marks.
fn expanded(value: &Value, named: &BTreeMap<&str, String>) -> Value {
    match value {
        Value::String(text) => match marked(text) {
            None => value.clone(),
            Some(("", within, "")) if within.contains('#') => ids(within).unwrap().into(),
            Some((before, within, after)) => {
                let made = match (ids(within), within.split_once('*')) {
                    (Some(ids), _) => ids.join(","),
                    (None, Some((letter, count))) => letter.repeat(count.parse().unwrap()),
                    (None, None) => named[within].clone(),
                };
                expanded(&format!("{before}{made}{after}").into(), named)
            }
        },
        Value::Array(values) => values.iter().map(|value| expanded(value, named)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| (name.clone(), expanded(value, named))).collect()
        }
        _ => value.clone(),
    }
}

async fn send(service: &Service, ask: &Ask) -> Answer {
    if let Some(path) = &ask.control {
        return service.control("POST", &format!("/_ops/{path}"), &ask.body.to_string()).await;
    }
    let operation = OPERATIONS.iter().find(|row| row.name == ask.operation).unwrap();
    let path = operation.path.replace("{id}", ask.path_id.as_deref().unwrap_or("c"));
    let mut target = format!("/youtube/v3{path}?{}", ask.query);
    let who = ask.who.as_deref().unwrap_or("ALICE");
    let mut headers: Vec<_> =
        ask.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut body = if ask.body.is_null() { Vec::new() } else { ask.body.to_string().into_bytes() };
    if let Some(medium) = &ask.media {
        let mut bytes = std::io::Cursor::new(Vec::new());
        match medium.png {
            Some((width, height)) => image::RgbImage::new(width, height)
                .write_to(&mut bytes, image::ImageFormat::Png)
                .unwrap(),
            None => *bytes.get_mut() = medium.text.clone().unwrap_or_default().into_bytes(),
        }
        let metadata = if ask.body.is_null() { "{}".to_owned() } else { ask.body.to_string() };
        let head =
            format!("--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: {}\r\n\r\n", medium.r#type);
        body = [head.as_bytes(), bytes.get_ref(), b"\r\n--b--"].concat();
        target = format!("/upload{target}&uploadType=multipart");
        headers.push(("content-type", "multipart/related; boundary=b"));
    }
    service.ask_with(operation.method.name(), &target, who, &headers, &body).await
}

/// The seed of all wire tests, with somebody who has every scope and no channel, and with what a row has beside.
fn seed(row: &Row) -> String {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    let mut add = |section: &str, things: &[Value]| {
        seed[section].as_array_mut().unwrap().extend(things.iter().cloned());
    };
    let token =
        serde_json::json!({"token": "FORCEFUL", "scopes": ["youtube", "youtube.force-ssl"]});
    add("accounts", &[serde_json::json!({"id": "forceful", "tokens": [token]})]);
    for (section, things) in &row.seed {
        add(section, expanded(things, &BTreeMap::new()).as_array().unwrap());
    }
    seed.to_string()
}

async fn first_item(service: &Service, playlist: &str) -> String {
    let found = service.list(&format!("/playlistItems?part=id&playlistId={playlist}")).await;
    found["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_reason_that_a_request_can_bring_about_is_brought_about_by_one() {
    let mut shared = None;
    for row in rows() {
        // What is refused leaves nothing: those that need nothing before them are asked of one service.
        let is_plain = row.before.is_empty() && row.seed.is_empty();
        let own = if is_plain && shared.is_some() {
            None
        } else {
            Some(Service::seeded(&seed(&row)).await)
        };
        let service = own.as_ref().or(shared.as_ref()).unwrap();
        let named = BTreeMap::from([
            ("item", first_item(service, "PLx").await),
            ("upload", first_item(service, "UUx").await),
        ]);
        for before in &row.before {
            for _ in 0..before.times.unwrap_or(1) {
                let told = send(service, before).await;
                assert!(told.status < 300, "{before:?}: {} {}", told.status, told.json());
            }
        }
        let ask: Ask = serde_json::from_value(expanded(&row.ask.clone().into(), &named)).unwrap();
        let answer = send(service, &ask).await;
        let told = (answer.status, answer.reason());
        assert_eq!(told, (row.status, row.reason.clone()), "{ask:?}: {}", answer.json());
        if is_plain {
            shared = shared.or(own);
        }
    }
}

#[test]
fn every_reason_of_the_interface_is_brought_about_or_said_to_be_never() {
    let listed: BTreeMap<String, Vec<(u16, String)>> =
        serde_json::from_str(include_str!("../../published/errors.json")).unwrap();
    let listed: BTreeSet<_> = listed
        .into_iter()
        .flat_map(|(operation, reasons)| {
            reasons.into_iter().map(move |(status, reason)| (operation.clone(), status, reason))
        })
        .collect();
    let never = NEVER.iter().flat_map(|(operation, reasons, _)| {
        reasons
            .iter()
            .map(|(status, reason)| ((*operation).to_owned(), *status, (*reason).to_owned()))
    });
    let never: BTreeSet<_> = never.collect();
    let brought: BTreeSet<_> = rows().iter().map(Row::listed).collect();
    let both: Vec<_> = never.intersection(&brought).collect();
    assert!(both.is_empty(), "brought about, and said to be never: {both:#?}");
    let all: BTreeSet<_> = never.union(&brought).cloned().collect();
    let missing: Vec<_> = listed.difference(&all).collect();
    assert!(missing.is_empty(), "no request brings these about: {missing:#?}");
    let stray: Vec<_> = never.difference(&listed).collect();
    assert!(stray.is_empty(), "the interface does not list these: {stray:#?}");
}

#[test]
fn a_fault_that_no_request_brings_about_has_a_sentence_of_its_own() {
    let rules = || RESOURCES.iter().flat_map(|resource| resource.rules.iter().copied());
    for (operation, reasons, _) in NEVER {
        for (status, reason) in *reasons {
            // One is the parser's own, whose sentence names the parameter.
            if *reason == "unexpectedParameter" {
                continue;
            }
            let error = Error::of_reason(reason, *status, rules());
            let sentence = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(sentence.len() > 15, "{operation} {reason}: {sentence}");
        }
    }
}
