//! The part of the model that is between channels: subscriptions, sections, tracks, favourites and memberships.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::check::pages;
use super::{ACCOUNTS, CHANNELS, Model, PEOPLE, PRIVATE, World};

/// A step; numbers are taken modulo what there is.
#[derive(Debug, Clone)]
pub(super) enum AudienceStep {
    Subscribe { who: usize, subscribes: bool },
    Brand { who: usize, shows: bool, holds: bool },
    Arrange { who: usize, playlist: usize, at: Option<usize> },
    Rearrange { who: usize, section: usize, to: usize },
    Clear { who: usize, section: usize },
    Caption { video: usize, language: usize, is_draft: bool },
    Publish { track: usize, is_draft: bool },
    Untrack { track: usize },
    Favor { who: usize, video: usize },
    Unfavor { who: usize, favorite: usize },
    Join { member: bool },
}

const LANGUAGES: [&str; 3] = ["en", "de", "fr"];
const SECTIONS_MAX: usize = 10;

pub(super) fn step() -> impl Strategy<Value = AudienceStep> {
    use AudienceStep as Step;
    let (any, who, is) = (0..9_usize, 0..2_usize, proptest::bool::ANY);
    prop_oneof![
        2 => (who.clone(), is).prop_map(|(who, subscribes)| Step::Subscribe { who, subscribes }),
        1 => (who.clone(), is, is).prop_map(|(who, shows, holds)| Step::Brand { who, shows, holds }),
        4 => (who.clone(), any.clone(), proptest::option::of(0..4_usize)).prop_map(|(who, playlist, at)| Step::Arrange { who, playlist, at }),
        1 => (who.clone(), any.clone(), any.clone()).prop_map(|(who, section, to)| Step::Rearrange { who, section, to }),
        1 => (who.clone(), any.clone()).prop_map(|(who, section)| Step::Clear { who, section }),
        3 => (any.clone(), 0..3_usize, is).prop_map(|(video, language, is_draft)| Step::Caption { video, language, is_draft }),
        2 => (any.clone(), is).prop_map(|(track, is_draft)| Step::Publish { track, is_draft }),
        1 => any.clone().prop_map(|track| Step::Untrack { track }),
        3 => (who.clone(), any.clone()).prop_map(|(who, video)| Step::Favor { who, video }),
        1 => (who, any).prop_map(|(who, favorite)| Step::Unfavor { who, favorite }),
        1 => is.prop_map(|member| Step::Join { member }),
    ]
}

/// A section as it should be: its id, and the playlist that it names.
struct Section {
    id: String,
    playlist: Option<String>,
}

struct Track {
    id: String,
    video: usize,
    language: usize,
    is_draft: bool,
}

/// The model of what is between the channels.
pub(super) struct Audience {
    /// Of each person, whether it subscribes to the other one.
    subscribes: [bool; 2],
    shows: [bool; 2],
    sections: [Vec<Section>; 2],
    tracks: Vec<Track>,
    /// Ids of items, and the videos that they are.
    favorites: [Vec<(String, usize)>; 2],
    is_member: bool,
}

impl Default for Audience {
    /// As the seed has it.
    fn default() -> Self {
        let shelf = Section { id: "shelf".to_owned(), playlist: None };
        Self {
            subscribes: [false, true],
            shows: [false; 2],
            sections: [vec![shelf], Vec::new()],
            tracks: Vec::new(),
            favorites: [Vec::new(), Vec::new()],
            is_member: true,
        }
    }
}

impl Audience {
    /// Nothing of a video that is gone is left but the gap among favourites.
    pub(super) fn forget(&mut self, video: usize) {
        self.tracks.retain(|track| track.video != video);
    }

    /// Nothing is between a channel that is gone and the other one but its membership.
    pub(super) fn leave(&mut self, who: usize) {
        self.subscribes = [false; 2];
        self.sections[who].clear();
        self.favorites[who].clear();
    }

    /// A playlist that is gone leaves the sections that name it.
    pub(super) fn forget_playlist(&mut self, playlist: &str) {
        for section in self.sections.iter_mut().flatten() {
            if section.playlist.as_deref() == Some(playlist) {
                section.playlist = Some(String::new());
            }
        }
    }
}

impl Model {
    pub(super) async fn audience(&mut self, world: &World, step: &AudienceStep) {
        match *step {
            AudienceStep::Subscribe { who, subscribes } => {
                self.subscribe(world, who, subscribes).await;
            }
            AudienceStep::Brand { who, shows, holds } => {
                let channel = json!({"showBrowseView": shows, "moderateComments": holds});
                let settings = json!({"channel": channel});
                let body = json!({"id": CHANNELS[who], "brandingSettings": settings});
                let told = world.ask("PUT", "/channels?part=brandingSettings", who, &body).await;
                assert_eq!(told.0, 200, "{}", told.1);
                self.audience.shows[who] = shows;
                self.talk.holds[who] = holds;
            }
            AudienceStep::Arrange { who, playlist, at } => {
                self.arrange(world, who, playlist, at).await;
            }
            AudienceStep::Rearrange { who, section, to } => {
                self.rearrange(world, who, section, to).await;
            }
            AudienceStep::Clear { who, section } => {
                let sections = &mut self.audience.sections[who];
                if section < sections.len() {
                    let target = format!("/channelSections?id={}", sections.remove(section).id);
                    assert_eq!(world.ask("DELETE", &target, who, &Value::Null).await.0, 204);
                }
            }
            AudienceStep::Caption { video, language, is_draft } => {
                self.caption(world, video % self.videos.len(), language, is_draft).await;
            }
            AudienceStep::Publish { track, is_draft } => {
                if let Some(track) = self.audience.tracks.get_mut(track) {
                    let owner = self.videos[track.video].owner;
                    let body = json!({"id": track.id, "snippet": {"isDraft": is_draft}});
                    let told = world.ask("PUT", "/captions?part=snippet", owner, &body).await;
                    assert_eq!(told.0, 200, "{}", told.1);
                    track.is_draft = is_draft;
                }
            }
            AudienceStep::Untrack { track } if track < self.audience.tracks.len() => {
                let track = self.audience.tracks.remove(track);
                let owner = self.videos[track.video].owner;
                let target = format!("/captions?id={}", track.id);
                assert_eq!(world.ask("DELETE", &target, owner, &Value::Null).await.0, 204);
            }
            AudienceStep::Favor { who, video } => {
                self.favor(world, who, video % self.videos.len()).await;
            }
            AudienceStep::Unfavor { who, favorite } => {
                let favorites = &mut self.audience.favorites[who];
                if favorite < favorites.len() {
                    let (id, _) = favorites.remove(favorite);
                    let target = format!("/playlistItems?id={id}");
                    assert_eq!(world.ask("DELETE", &target, who, &Value::Null).await.0, 204);
                }
            }
            AudienceStep::Join { member } => {
                let level = member.then_some("tin");
                let body = json!({"creator": "alice", "member": ACCOUNTS[1], "level": level});
                let told = world.service.control("POST", "/_ops/members", &body.to_string()).await;
                assert_eq!(told.status, 200, "{}", told.json());
                self.audience.is_member = member;
            }
            AudienceStep::Untrack { .. } => {}
        }
    }

    async fn subscribe(&mut self, world: &World, who: usize, subscribes: bool) {
        let was = self.audience.subscribes[who];
        if subscribes {
            let resource = json!({"kind": "youtube#channel", "channelId": CHANNELS[1 - who]});
            let body = json!({"snippet": {"resourceId": resource}});
            let told = world.ask("POST", "/subscriptions?part=snippet", who, &body).await;
            assert_eq!(told.0, if was { 400 } else { 200 }, "{}", told.1);
        } else if was {
            let target = "/subscriptions?part=id&mine=true";
            let (_, found) = world.ask("GET", target, who, &Value::Null).await;
            let target = format!("/subscriptions?id={}", found["items"][0]["id"].as_str().unwrap());
            assert_eq!(world.ask("DELETE", &target, 1 - who, &Value::Null).await.0, 403);
            assert_eq!(world.ask("DELETE", &target, who, &Value::Null).await.0, 204);
        }
        self.audience.subscribes[who] = subscribes;
    }

    async fn arrange(&mut self, world: &World, who: usize, playlist: usize, at: Option<usize>) {
        // Playlists are Alice's.
        let named = self.playlists.get(playlist).filter(|_| who == 0).cloned();
        let mut body = match &named {
            Some((id, _)) => {
                json!({"snippet": {"type": "singlePlaylist"}, "contentDetails": {"playlists": [id]}})
            }
            None => json!({"snippet": {"type": "popularUploads"}}),
        };
        if let Some(at) = at {
            body["snippet"]["position"] = at.into();
        }
        let parts = if named.is_some() { "snippet,contentDetails" } else { "snippet" };
        let target = format!("/channelSections?part={parts}");
        let (status, made) = world.ask("POST", &target, who, &body).await;
        let sections = &mut self.audience.sections[who];
        let reason = made["error"]["errors"][0]["reason"].as_str();
        if named.as_ref().is_some_and(|(_, privacy)| *privacy == PRIVATE) {
            assert_eq!(reason, Some("playlistIsPrivate"));
        } else if sections.len() >= SECTIONS_MAX {
            assert_eq!(reason, Some("maxChannelSectionExceeded"));
        } else if at.is_some_and(|at| at > sections.len()) {
            assert_eq!(reason, Some("inValidPosition"));
        } else {
            assert_eq!(status, 200, "{made}");
            let id = made["id"].as_str().unwrap().to_owned();
            let at = at.unwrap_or(sections.len());
            sections.insert(at, Section { id, playlist: named.map(|(id, _)| id) });
        }
    }

    async fn rearrange(&mut self, world: &World, who: usize, section: usize, to: usize) {
        let sections = &mut self.audience.sections[who];
        let Some(found) = sections.get(section) else {
            return;
        };
        let kind = if found.playlist.is_some() { "singlePlaylist" } else { "popularUploads" };
        let body = json!({"id": found.id, "snippet": {"type": kind, "position": to}});
        let (status, told) = world.ask("PUT", "/channelSections?part=snippet", who, &body).await;
        let reason = told["error"]["errors"][0]["reason"].as_str();
        if found.playlist.as_deref() == Some("") {
            assert_eq!(reason, Some("contentDetailsNeeded"), "{told}");
        } else if to >= sections.len() {
            assert_eq!(reason, Some("inValidPosition"), "{told}");
        } else {
            assert_eq!(status, 200, "{told}");
            let moved = sections.remove(section);
            sections.insert(to, moved);
        }
    }

    async fn caption(&mut self, world: &World, video: usize, language: usize, is_draft: bool) {
        let (id, owner) = (&self.videos[video].id, self.videos[video].owner);
        let snippet = json!({"videoId": id, "language": LANGUAGES[language], "name": "", "isDraft": is_draft});
        let metadata = json!({"snippet": snippet});
        let file = "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n";
        let body = format!(
            "--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: text/vtt\r\n\r\n{file}\r\n--b--"
        );
        let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
        let headers = [("content-type", "multipart/related; boundary=b")];
        let token = PEOPLE[owner];
        let answer = world.service.ask_with("POST", target, token, &headers, body.as_bytes()).await;
        let is_same = |track: &Track| (track.video, track.language) == (video, language);
        let expected = match () {
            () if !self.videos[video].is_there => 404,
            () if self.audience.tracks.iter().any(is_same) => 409,
            () => 200,
        };
        assert_eq!(answer.status, expected, "{}", answer.json());
        if expected == 200 {
            let id = answer.json()["id"].as_str().unwrap().to_owned();
            self.audience.tracks.push(Track { id, video, language, is_draft });
        }
    }

    async fn favor(&mut self, world: &World, who: usize, video: usize) {
        let body = super::item_body(None, &self.videos[video].id, None);
        let mut body = body;
        body["snippet"]["playlistId"] = "FL".into();
        let (status, made) = world.ask("POST", "/playlistItems?part=snippet", who, &body).await;
        let is_in = self.audience.favorites[who].iter().any(|(_, favorite)| *favorite == video);
        let expected = match self.videos[video].refused_to(who) {
            Some((refused, _)) => refused,
            None if is_in => 409,
            None => 200,
        };
        assert_eq!(status, expected, "{made}");
        if status == 200 {
            let id = made["id"].as_str().unwrap().to_owned();
            self.audience.favorites[who].push((id, video));
        }
    }

    /// Checks what `who` is shown of the other one, and of its own.
    pub(super) async fn check_audience(&self, world: &World, who: usize) {
        let audience = &self.audience;
        let target = format!("/channels?part=statistics&id={}", CHANNELS[who]);
        let (_, channel) = world.ask("GET", &target, self.other(who), &Value::Null).await;
        let count = usize::from(audience.subscribes[1 - who]).to_string();
        assert_eq!(channel["items"][0]["statistics"]["subscriberCount"], count);
        for (list, is_there) in [
            ("/subscriptions?part=id&mine=true", audience.subscribes[who]),
            ("/subscriptions?part=id&mySubscribers=true", audience.subscribes[1 - who]),
        ] {
            let found = pages(&world.service, PEOPLE[who], list).await;
            assert_eq!(found.len(), usize::from(is_there), "{list} of {who}");
        }
        for owner in self.people() {
            self.check_sections(world, who, owner).await;
        }
        for (at, video) in self.videos.iter().enumerate().filter(|(_, video)| video.sees(who)) {
            let target = format!("/captions?part=id&videoId={}", video.id);
            let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
            let of = || audience.tracks.iter().filter(|track| track.video == at);
            let shown = of().filter(|track| !track.is_draft || video.owner == who).count();
            assert_eq!(found["items"].as_array().unwrap().len(), shown, "{target}");
            let target = format!("/videos?part=contentDetails,statistics&id={}", video.id);
            let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
            let is_captioned = of().any(|track| !track.is_draft).to_string();
            assert_eq!(found["items"][0]["contentDetails"]["caption"], is_captioned, "{target}");
            let favorites = audience.favorites.iter().flatten();
            let count = favorites.filter(|(_, favorite)| *favorite == at).count().to_string();
            assert_eq!(found["items"][0]["statistics"]["favoriteCount"], count, "{target}");
        }
        let target = "/playlistItems?part=contentDetails&playlistId=FL&maxResults=2";
        let found = pages(&world.service, PEOPLE[who], target).await;
        let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
        let expected: Vec<_> = audience.favorites[who].iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(told, expected, "favourites of {who}");
        if self.is_open(0) {
            let (_, members) = world.ask("GET", "/members?part=snippet", 0, &Value::Null).await;
            assert_eq!(members["pageInfo"]["totalResults"], usize::from(audience.is_member));
        }
    }

    async fn check_sections(&self, world: &World, who: usize, owner: usize) {
        let target =
            format!("/channelSections?part=snippet,contentDetails&channelId={}", CHANNELS[owner]);
        let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
        let is_shown = who == owner || self.audience.shows[owner];
        let sections = self.audience.sections[owner].iter().filter(|_| is_shown);
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), sections.clone().count(), "{found}");
        for (at, (item, section)) in items.iter().zip(sections).enumerate() {
            let snippet = &item["snippet"];
            assert_eq!((&item["id"], &snippet["position"]), (&json!(section.id), &json!(at)));
            let named = section
                .playlist
                .as_deref()
                .map(|id| if id.is_empty() { json!([]) } else { json!([id]) });
            assert_eq!(item["contentDetails"].get("playlists"), named.as_ref());
        }
        // What a section names is an activity as long as it is seen.
        let target =
            format!("/activities?part=snippet&channelId={}&maxResults=50", CHANNELS[owner]);
        let found = pages(&world.service, PEOPLE[who], &target).await;
        let told = found.iter().filter(|item| item["snippet"]["type"] == "channelItem").count();
        let named = self.audience.sections[owner].iter().filter_map(|section| {
            let id = section.playlist.as_deref()?;
            let public =
                |(list, privacy): &&(String, usize)| list == id && *privacy == super::PUBLIC;
            self.playlists.iter().find(public)
        });
        let named: std::collections::BTreeSet<_> = named.collect();
        let expected = if self.audience.shows[owner] { named.len() } else { 0 };
        assert_eq!(told, expected, "what was added to {owner} for {who}");
    }
}
