//! The part of the model that is said of videos: comments, replies, moderation and bans.

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
    video: usize,
    /// The thread that it is a reply in.
    thread: Option<usize>,
    state: usize,
    word: usize,
    is_there: bool,
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
            .filter(|said| said.video == video)
            .for_each(|said| said.is_there = false);
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
        let video = &videos[said.video];
        let own = said.author == who || video.owner == who;
        let is_open = said.thread.is_none_or(|thread| own || self.said[thread].state == PUBLISHED);
        said.is_there && video.sees(who) && is_open && (own || said.state == PUBLISHED)
    }
}

/// Carries out every job that is left, as the background does.
pub(super) fn sweep(world: &World) {
    let mut ids = SeededIds::from_number(world.elapsed);
    while run_blocking(&*world.store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap() {}
}

impl Model {
    pub(super) async fn talk(&mut self, world: &World, step: &TalkStep) {
        match *step {
            TalkStep::Open { who, video, word } => {
                self.open(world, who, video % self.videos.len(), word).await
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
                    let owner = self.videos[self.talk.said[at].video].owner;
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

    async fn open(&mut self, world: &World, who: usize, video: usize, word: usize) {
        let top = json!({"snippet": {"textOriginal": format!("{} {who}", WORDS[word])}});
        let body = json!({"snippet": {"videoId": self.videos[video].id, "topLevelComment": top}});
        let (status, made) = world.ask("POST", "/commentThreads?part=snippet", who, &body).await;
        let sees = self.videos[video].sees(who);
        assert_eq!(status, if sees { 200 } else { 404 }, "{made}");
        if sees {
            let state = self.talk.first_state(self.videos[video].owner, who);
            let id = made["id"].as_str().unwrap().to_owned();
            self.talk.said.push(Said {
                id,
                author: who,
                video,
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
            let video = top.video;
            let state = self.talk.first_state(self.videos[video].owner, who);
            let id = made["id"].as_str().unwrap().to_owned();
            self.talk.said.push(Said {
                id,
                author: who,
                video,
                thread: Some(thread),
                state,
                word,
                is_there: true,
            });
        }
    }

    async fn moderate(&mut self, world: &World, at: usize, state: usize, bans: bool) {
        let (id, author, video) = {
            let said = &self.talk.said[at];
            (said.id.clone(), said.author, said.video)
        };
        let owner = self.videos[video].owner;
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
        let own =
            self.talk.said[at].author == who || self.videos[self.talk.said[at].video].owner == who;
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

    /// Lists, counts and searches of the comments on every video, as everybody and as its owner.
    pub(super) async fn check_talk(&self, world: &World, who: usize) {
        for (at, video) in self.videos.iter().enumerate().filter(|(_, video)| video.sees(who)) {
            let of = |said: &&Said| said.is_there && said.video == at;
            let all = || self.talk.said.iter().filter(of);
            let is_seen = |said: &&Said| {
                let thread = said.thread.map(|thread| &self.talk.said[thread]);
                said.state == PUBLISHED && thread.is_none_or(|thread| thread.state == PUBLISHED)
            };
            let target = format!("/videos?part=statistics&id={}", video.id);
            let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
            let count = all().filter(is_seen).count().to_string();
            assert_eq!(found["items"][0]["statistics"]["commentCount"], count, "{}", video.id);
            for (state, name) in STATES.iter().enumerate() {
                if state != PUBLISHED && video.owner != who {
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
                    "/commentThreads?part=id&videoId={}&maxResults=2&moderationStatus={name}",
                    video.id
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
                let target = format!(
                    "/commentThreads?part=id&videoId={}&maxResults=2&searchTerms={word}",
                    video.id
                );
                let found = pages(&world.service, PEOPLE[who], &target).await;
                let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
                assert_eq!(told, expected, "{target}");
            }
        }
        let target = format!("/commentThreads?part=id&channelId={}", CHANNELS[who]);
        assert_eq!(pages(&world.service, PEOPLE[who], &target).await.len(), 0);
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
                format!("/activities?part=snippet,contentDetails&channelId={channel}"),
            ]
        });
        replies.chain(lists).chain(channels).collect()
    }
}
