//! The part of the model that is said of videos and channels: comments, replies, moderation and bans.

use serde_json::{Value, json};
use triptych_core::id::SeededIds;
use triptych_core::kv::run_blocking;
use video_api::resource::cascade;

use super::check::pages;
use super::{CHANNELS, Model, PEOPLE, Video, WORDS, World};
use proptest::prelude::*;

/// A step of comments; numbers are taken modulo what there is.
#[derive(Debug, Clone)]
pub(super) enum TalkStep {
    Open { who: usize, video: usize, word: usize },
    Greet { who: usize, channel: usize, word: usize },
    Reply { who: usize, thread: usize, word: usize },
    Edit { comment: usize, word: usize },
    Moderate { comment: usize, state: usize, bans: bool },
    Remove { comment: usize, who: usize },
}

const STATES: [&str; 3] = ["published", "heldForReview", "rejected"];
const PUBLISHED: usize = 0;
const HELD: usize = 1;
const REJECTED: usize = 2;

pub(super) fn step() -> impl Strategy<Value = TalkStep> {
    let any = 0..12_usize;
    prop_oneof![
        4 => (0..2_usize, any.clone(), 0..3_usize).prop_map(|(who, video, word)| TalkStep::Open { who, video, word }),
        2 => (0..2_usize, 0..2_usize, 0..3_usize).prop_map(|(who, channel, word)| TalkStep::Greet { who, channel, word }),
        4 => (0..2_usize, any.clone(), 0..3_usize).prop_map(|(who, thread, word)| TalkStep::Reply { who, thread, word }),
        1 => (any.clone(), 0..3_usize).prop_map(|(comment, word)| TalkStep::Edit { comment, word }),
        4 => (any.clone(), 0..3_usize, proptest::bool::ANY).prop_map(|(comment, state, bans)| TalkStep::Moderate { comment, state, bans }),
        2 => (any, 0..2_usize).prop_map(|(comment, who)| TalkStep::Remove { comment, who }),
    ]
}

/// A comment as it should be.
pub(super) struct Said {
    id: String,
    author: usize,
    about: About,
    /// The thread that it is a reply in.
    thread: Option<usize>,
    state: usize,
    word: usize,
    is_there: bool,
}

/// The thing that a comment is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Video(usize),
    /// The channel of a person.
    Channel(usize),
}

impl About {
    /// The person whose it is.
    fn owner(self, videos: &[Video]) -> usize {
        match self {
            Self::Video(video) => videos[video].owner,
            Self::Channel(owner) => owner,
        }
    }

    fn is_seen(self, who: usize, videos: &[Video]) -> bool {
        match self {
            Self::Video(video) => videos[video].sees(who),
            Self::Channel(_) => true,
        }
    }

    /// Returns whether it is told of where nobody named it: an unlisted video is its owner's alone there.
    fn is_listed(self, who: usize, videos: &[Video]) -> bool {
        match self {
            Self::Video(video) => videos[video].is_listed() || videos[video].owner == who,
            Self::Channel(_) => true,
        }
    }

    /// The parameter that lists its threads.
    fn filter(self, videos: &[Video]) -> String {
        match self {
            Self::Video(video) => format!("videoId={}", videos[video].id),
            Self::Channel(owner) => format!("channelId={}", CHANNELS[owner]),
        }
    }
}

/// The model of what was said.
#[derive(Default)]
pub(super) struct Talk {
    said: Vec<Said>,
    /// By owner and author.
    banned: [[bool; 2]; 2],
    /// True of owners who review comments before others see them.
    pub(super) holds: [bool; 2],
}

impl Talk {
    /// Nothing of a video that is gone is left.
    pub(super) fn forget(&mut self, video: usize) {
        self.said
            .iter_mut()
            .filter(|said| said.about == About::Video(video))
            .for_each(|said| said.is_there = false);
    }

    /// Nothing is left on a channel that is gone. What was said elsewhere stays.
    pub(super) fn leave(&mut self, who: usize) {
        self.said
            .iter_mut()
            .filter(|said| said.about == About::Channel(who))
            .for_each(|said| said.is_there = false);
    }

    /// The comments of `who` that are still there.
    pub(super) fn left_by(&self, who: usize) -> impl Iterator<Item = &str> {
        self.said
            .iter()
            .filter(move |said| said.is_there && said.author == who)
            .map(|said| said.id.as_str())
    }

    /// The state in which a comment of `who` begins on a video of `owner`.
    fn first_state(&self, owner: usize, who: usize) -> usize {
        match () {
            () if owner == who => PUBLISHED,
            () if self.banned[owner][who] => REJECTED,
            () if self.holds[owner] => HELD,
            () => PUBLISHED,
        }
    }

    /// Returns whether `who` finds a comment by its id.
    fn finds(&self, at: usize, who: usize, videos: &[Video]) -> bool {
        let said = &self.said[at];
        let own = said.author == who || said.about.owner(videos) == who;
        let is_open = said.thread.is_none_or(|thread| own || self.said[thread].state == PUBLISHED);
        said.is_there
            && said.about.is_seen(who, videos)
            && is_open
            && (own || said.state == PUBLISHED)
    }
}

/// Carries out every job that is left, as the background does.
pub(super) fn sweep(world: &World) {
    while sweep_once(world) {}
}

/// Carries out a step of a job, and says whether there is more to do.
pub(super) fn sweep_once(world: &World) -> bool {
    let mut ids = SeededIds::from_number(world.elapsed);
    run_blocking(&*world.store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap()
}

impl Model {
    pub(super) async fn talk(&mut self, world: &World, step: &TalkStep) {
        match *step {
            TalkStep::Open { who, video, word } => {
                self.open(world, who, About::Video(video % self.videos.len()), word).await
            }
            TalkStep::Greet { who, channel, word } => {
                self.open(world, who, About::Channel(channel), word).await
            }
            TalkStep::Reply { who, thread, word } => {
                let threads: Vec<_> = (0..self.talk.said.len())
                    .filter(|at| self.talk.said[*at].thread.is_none())
                    .collect();
                if let Some(thread) = threads.get(thread % threads.len().max(1)) {
                    self.reply(world, who, *thread, word).await;
                }
            }
            TalkStep::Edit { comment, word } if !self.talk.said.is_empty() => {
                let at = comment % self.talk.said.len();
                let author = self.talk.said[at].author;
                let body =
                    json!({"id": self.talk.said[at].id, "snippet": {"textOriginal": WORDS[word]}});
                let told = world.ask("PUT", "/comments?part=snippet", author, &body).await;
                let finds = self.talk.finds(at, author, &self.videos);
                assert_eq!(told.0, if finds { 200 } else { 404 }, "{}", told.1);
                if finds {
                    let owner = self.talk.said[at].about.owner(&self.videos);
                    let is_banned = self.talk.banned[owner][author];
                    let said = &mut self.talk.said[at];
                    said.word = word;
                    said.state = if is_banned { REJECTED } else { said.state };
                }
            }
            TalkStep::Moderate { comment, state, bans } if !self.talk.said.is_empty() => {
                self.moderate(
                    world,
                    comment % self.talk.said.len(),
                    state,
                    bans && state == REJECTED,
                )
                .await;
            }
            TalkStep::Remove { comment, who } if !self.talk.said.is_empty() => {
                self.unsay(world, comment % self.talk.said.len(), who).await;
            }
            _ => {}
        }
    }

    async fn open(&mut self, world: &World, who: usize, about: About, word: usize) {
        let top = json!({"snippet": {"textOriginal": format!("{} {who}", WORDS[word])}});
        let mut body = json!({"snippet": {"topLevelComment": top}});
        match about {
            About::Video(video) => {
                body["snippet"]["videoId"] = self.videos[video].id.clone().into()
            }
            About::Channel(owner) => body["snippet"]["channelId"] = CHANNELS[owner].into(),
        }
        let (status, made) = world.ask("POST", "/commentThreads?part=snippet", who, &body).await;
        let sees = about.is_seen(who, &self.videos);
        assert_eq!(status, if sees { 200 } else { 404 }, "{made}");
        if sees {
            let state = self.talk.first_state(about.owner(&self.videos), who);
            let id = made["id"].as_str().unwrap().to_owned();
            self.talk.said.push(Said {
                id,
                author: who,
                about,
                thread: None,
                state,
                word,
                is_there: true,
            });
        }
    }

    async fn reply(&mut self, world: &World, who: usize, thread: usize, word: usize) {
        let top = &self.talk.said[thread];
        let body = json!({"snippet": {"parentId": top.id, "textOriginal": WORDS[word]}});
        let (status, made) = world.ask("POST", "/comments?part=snippet", who, &body).await;
        let expected = match (self.talk.finds(thread, who, &self.videos), top.state) {
            (false, _) => 404,
            (true, PUBLISHED) => 200,
            (true, _) => 400,
        };
        assert_eq!(status, expected, "{made}");
        if status == 200 {
            let about = top.about;
            let state = self.talk.first_state(about.owner(&self.videos), who);
            let id = made["id"].as_str().unwrap().to_owned();
            self.talk.said.push(Said {
                id,
                author: who,
                about,
                thread: Some(thread),
                state,
                word,
                is_there: true,
            });
        }
    }

    async fn moderate(&mut self, world: &World, at: usize, state: usize, bans: bool) {
        let (id, author, about) = {
            let said = &self.talk.said[at];
            (said.id.clone(), said.author, said.about)
        };
        let owner = about.owner(&self.videos);
        let target = format!(
            "/comments/setModerationStatus?id={id}&moderationStatus={}&banAuthor={bans}",
            STATES[state]
        );
        let other = world.ask("POST", &target, 1 - owner, &Value::Null).await;
        let finds = self.talk.finds(at, 1 - owner, &self.videos);
        assert_eq!(other.0, if finds { 403 } else { 404 }, "{}", other.1);
        let told = world.ask("POST", &target, owner, &Value::Null).await;
        let finds = self.talk.finds(at, owner, &self.videos);
        assert_eq!(told.0, if finds { 204 } else { 404 }, "{}", told.1);
        if finds {
            self.talk.said[at].state = state;
            self.talk.banned[owner][author] |= bans && owner != author;
        }
    }

    async fn unsay(&mut self, world: &World, at: usize, who: usize) {
        let target = format!("/comments?id={}", self.talk.said[at].id);
        let told = world.ask("DELETE", &target, who, &Value::Null).await;
        let said = &self.talk.said[at];
        let own = said.author == who || said.about.owner(&self.videos) == who;
        let expected = match (self.talk.finds(at, who, &self.videos), own) {
            (false, _) => 404,
            (true, false) => 403,
            (true, true) => 204,
        };
        assert_eq!(told.0, expected, "{}", told.1);
        if expected == 204 {
            let gone = |said: &Said| said.thread == Some(at);
            self.talk
                .said
                .iter_mut()
                .filter(|said| gone(said))
                .for_each(|said| said.is_there = false);
            self.talk.said[at].is_there = false;
            sweep(world);
        }
    }

    /// Lists, counts and searches of the comments on every video and channel, as everybody and as its owner.
    pub(super) async fn check_talk(&self, world: &World, who: usize) {
        let videos = (0..self.videos.len()).map(About::Video);
        let places = videos.chain(self.people().map(About::Channel));
        for about in places.filter(|about| about.is_seen(who, &self.videos)) {
            let filter = about.filter(&self.videos);
            let of = |said: &&Said| said.is_there && said.about == about;
            let all = || self.talk.said.iter().filter(of);
            let is_seen = |said: &&Said| {
                let thread = said.thread.map(|thread| &self.talk.said[thread]);
                said.state == PUBLISHED && thread.is_none_or(|thread| thread.state == PUBLISHED)
            };
            if let About::Video(video) = about {
                let target = format!("/videos?part=statistics&id={}", self.videos[video].id);
                let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
                let count = all().filter(is_seen).count().to_string();
                assert_eq!(found["items"][0]["statistics"]["commentCount"], count, "{target}");
            }
            for (state, name) in STATES.iter().enumerate() {
                if state != PUBLISHED && about.owner(&self.videos) != who {
                    continue;
                }
                let lists = |said: &&Said| {
                    let mut replies = self.talk.said.iter().filter(|reply| reply.is_there);
                    let is_thread = |thread: usize| self.talk.said[thread].id == said.id;
                    let waits = state != PUBLISHED
                        && said.state != REJECTED
                        && replies.any(|reply| {
                            reply.thread.is_some_and(is_thread) && reply.state == state
                        });
                    said.thread.is_none() && (said.state == state || waits)
                };
                let mut expected: Vec<_> =
                    all().filter(lists).map(|said| said.id.as_str()).collect();
                expected.reverse();
                let target = format!(
                    "/commentThreads?part=id&{filter}&maxResults=2&moderationStatus={name}"
                );
                let found = pages(&world.service, PEOPLE[who], &target).await;
                let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
                assert_eq!(told, expected, "{target}");
            }
            for (number, word) in WORDS.iter().enumerate() {
                let holds = |said: &&Said| {
                    let mut replies = all().filter(|reply| {
                        let thread = reply.thread.map(|thread| &self.talk.said[thread].id);
                        thread == Some(&said.id) && reply.state == PUBLISHED
                    });
                    let is_told = said.word == number || replies.any(|reply| reply.word == number);
                    said.thread.is_none() && said.state == PUBLISHED && is_told
                };
                let mut expected: Vec<_> =
                    all().filter(holds).map(|said| said.id.as_str()).collect();
                expected.reverse();
                let target =
                    format!("/commentThreads?part=id&{filter}&maxResults=2&searchTerms={word}");
                let found = pages(&world.service, PEOPLE[who], &target).await;
                let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
                assert_eq!(told, expected, "{target}");
            }
        }
        for owner in self.people() {
            let is_shown = |said: &&Said| {
                let is_related = said.about.owner(&self.videos) == owner;
                let is_published = said.thread.is_none() && said.state == PUBLISHED;
                let is_seen = said.about.is_seen(who, &self.videos)
                    && said.about.is_listed(who, &self.videos);
                said.is_there && is_related && is_published && is_seen
            };
            let mut expected: Vec<_> =
                self.talk.said.iter().filter(is_shown).map(|said| said.id.clone()).collect();
            expected.reverse();
            for order in ["time", "relevance"] {
                let target = format!(
                    "/commentThreads?part=id&maxResults=2&order={order}&allThreadsRelatedToChannelId={}",
                    CHANNELS[owner]
                );
                let mut told: Vec<_> = pages(&world.service, PEOPLE[who], &target)
                    .await
                    .iter()
                    .map(|item| item["id"].as_str().unwrap().to_owned())
                    .collect();
                // The seed's own is older than every step.
                told.retain(|id| id != "c");
                assert_eq!(told, expected, "{target} of {who}");
            }
        }
    }

    /// Requests whose answers are compared with those of a service that never answered.
    pub(super) fn talk_targets(&self) -> Vec<String> {
        let threads = self.talk.said.iter().filter(|said| said.thread.is_none()).take(4);
        let replies = threads.map(|said| format!("/comments?part=snippet&parentId={}", said.id));
        let videos = self.videos.iter().take(4);
        let lists = videos
            .map(|video| format!("/commentThreads?part=snippet,replies&videoId={}", video.id));
        let channels = CHANNELS.iter().flat_map(|channel| {
            [
                format!("/commentThreads?part=snippet&allThreadsRelatedToChannelId={channel}"),
                format!("/commentThreads?part=snippet,replies&channelId={channel}"),
                format!("/activities?part=snippet,contentDetails&channelId={channel}"),
            ]
        });
        replies.chain(lists).chain(channels).collect()
    }
}
