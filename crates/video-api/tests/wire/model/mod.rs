//! Random sequences of operations against a plain model: uploads and deletes, privacy, the order of a playlist, ratings, plays, the special
//! playlists, what search finds, and every counter; in memory, and on disk with restarts. Each ends with the closing of an account.

mod audience;
mod check;
mod closing;
pub(crate) mod derived;
mod talk;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, OpenError, Sled, SledConfig, run_blocking};
use triptych_core::time::Clock;
use video_api::api::error::Error;
use video_api::resource::videos;
use video_api::resource::videos::play::{self, Plays};

use crate::service::{Service, ask};
use audience::{Audience, AudienceStep};
use check::pages;
use talk::{Talk, TalkStep};

/// A step. The account and the thing are numbers that are taken modulo what there is.
#[derive(Debug, Clone)]
enum Step {
    Upload { who: usize, privacy: usize },
    Delete { video: usize },
    Privacy { video: usize, privacy: usize },
    Rename { video: usize, word: usize },
    Insert { video: usize, at: Option<usize> },
    Move { item: usize, to: usize },
    Remove { item: usize },
    Rate { who: usize, video: usize, rating: usize },
    Play { who: usize, video: usize, count: u64 },
    Playlist { privacy: usize },
    Unlist { playlist: usize },
    Talk(TalkStep),
    Audience(AudienceStep),
    Restart,
}

const PEOPLE: [&str; 2] = ["ALICE", "BOB"];
const ACCOUNTS: [&str; 2] = ["alice", "bob"];
const CHANNELS: [&str; 2] = ["UCx", "UCbob"];
const RATINGS: [&str; 3] = ["like", "dislike", "none"];
const PRIVACY: [&str; 3] = ["public", "unlisted", "private"];
const WORDS: [&str; 3] = ["otter", "heron", "beaver"];
const LIKE: usize = 0;
const PUBLIC: usize = 0;
const PRIVATE: usize = 2;

fn step() -> impl Strategy<Value = Step> {
    let any = 0..9_usize;
    prop_oneof![
        2 => (0..2_usize, 0..3_usize).prop_map(|(who, privacy)| Step::Upload { who, privacy }),
        1 => any.clone().prop_map(|video| Step::Delete { video }),
        2 => (any.clone(), 0..3_usize).prop_map(|(video, privacy)| Step::Privacy { video, privacy }),
        1 => (any.clone(), 0..3_usize).prop_map(|(video, word)| Step::Rename { video, word }),
        4 => (any.clone(), proptest::option::of(any.clone())).prop_map(|(video, at)| Step::Insert { video, at }),
        3 => (any.clone(), any.clone()).prop_map(|(item, to)| Step::Move { item, to }),
        1 => any.clone().prop_map(|item| Step::Remove { item }),
        3 => (0..2_usize, any.clone(), 0..3_usize).prop_map(|(who, video, rating)| Step::Rate { who, video, rating }),
        2 => (0..2_usize, any.clone(), 1..4_u64).prop_map(|(who, video, count)| Step::Play { who, video, count }),
        1 => (0..3_usize).prop_map(|privacy| Step::Playlist { privacy }),
        1 => any.prop_map(|playlist| Step::Unlist { playlist }),
        14 => talk::step().prop_map(Step::Talk),
        14 => audience::step().prop_map(Step::Audience),
        1 => Just(Step::Restart),
    ]
}

/// A service on stores that outlive it, and the seconds that its clock went on.
struct World {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    service: Service,
    elapsed: u64,
}

impl World {
    async fn on(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, elapsed: u64) -> Self {
        let service = Service::on(Arc::clone(&store), Arc::clone(&blobs), elapsed).await;
        service.later(elapsed);
        Self { store, blobs, service, elapsed }
    }

    async fn ask(&self, method: &str, target: &str, who: usize, body: &Value) -> (u16, Value) {
        ask(&self.service, PEOPLE[who], method, target, body.clone()).await
    }

    async fn upload(&self, who: usize, title: &str, privacy: &str) -> String {
        let metadata = json!({"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": privacy}});
        let mut body =
            format!("--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: video/mp4\r\n\r\n").into_bytes();
        body.extend_from_slice(MOVIE);
        body.extend_from_slice(b"\r\n--b--");
        let target = "/upload/youtube/v3/videos?part=snippet,status&uploadType=multipart";
        let headers = [("content-type", "multipart/related; boundary=b")];
        let answer = self.service.ask_with("POST", target, PEOPLE[who], &headers, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()["id"].as_str().unwrap().to_owned()
    }
}

const MOVIE: &[u8] = include_bytes!("../../../../../fuzz/corpus/video_media/film.mp4");

/// A video as it should be.
struct Video {
    id: String,
    owner: usize,
    privacy: usize,
    word: usize,
    /// The second of its publication, and the step that made it.
    published: u64,
    views: u64,
    is_there: bool,
}

impl Video {
    fn sees(&self, who: usize) -> bool {
        self.is_there && (self.privacy != PRIVATE || self.owner == who)
    }

    /// The reason for which `who` may not add it to a playlist: what is hidden is another matter than what is not there.
    fn refused_to(&self, who: usize) -> Option<(u16, &'static str)> {
        match () {
            () if self.sees(who) => None,
            () if self.is_there => Some((400, "failedPrecondition")),
            () => Some((404, "videoNotFound")),
        }
    }

    fn is_listed(&self) -> bool {
        self.is_there && self.privacy == PUBLIC
    }
}

/// The model of what is there.
struct Model {
    videos: Vec<Video>,
    items: Vec<(String, usize)>,
    /// By who and video: the rating, and since when.
    ratings: BTreeMap<(usize, usize), (usize, u64)>,
    /// Of each person, the latest last.
    history: [Vec<usize>; 2],
    playlists: Vec<(String, usize)>,
    talk: Talk,
    audience: Audience,
    /// Whoever closed the account.
    gone: Option<usize>,
}

impl Model {
    async fn new(world: &mut World) -> Self {
        let mut model = Self {
            videos: Vec::new(),
            items: Vec::new(),
            ratings: BTreeMap::new(),
            history: [Vec::new(), Vec::new()],
            playlists: Vec::new(),
            talk: Talk::default(),
            audience: Audience::default(),
            gone: None,
        };
        for (who, privacy) in [(0, PUBLIC), (1, PUBLIC)] {
            model.apply(world, &Step::Upload { who, privacy }).await;
        }
        model
    }

    async fn apply(&mut self, world: &mut World, step: &Step) {
        world.service.later(1);
        world.elapsed += 1;
        match *step {
            Step::Talk(ref step) => self.talk(world, step).await,
            Step::Audience(ref step) => self.audience(world, step).await,
            Step::Upload { who, privacy } => {
                let word = self.videos.len() % WORDS.len();
                let id = world.upload(who, WORDS[word], PRIVACY[privacy]).await;
                self.videos.push(Video {
                    id,
                    owner: who,
                    privacy,
                    word,
                    published: world.elapsed,
                    views: 0,
                    is_there: true,
                });
            }
            Step::Delete { video } => self.delete(world, video % self.videos.len()).await,
            Step::Privacy { video, privacy } => {
                self.hide(world, video % self.videos.len(), privacy).await;
            }
            Step::Rename { video, word } => {
                let at = video % self.videos.len();
                let video = &mut self.videos[at];
                let snippet = json!({"title": WORDS[word], "categoryId": "10"});
                let body = json!({"id": video.id, "snippet": snippet});
                let told = world.ask("PUT", "/videos?part=snippet", video.owner, &body).await;
                assert_eq!(told.0, if video.is_there { 200 } else { 404 });
                video.word = word;
            }
            Step::Insert { video, at } => self.insert(world, video % self.videos.len(), at).await,
            Step::Move { item, to } => self.shift(world, item, to).await,
            Step::Remove { item } if item < self.items.len() => {
                let (id, _) = self.items.remove(item);
                let target = format!("/playlistItems?id={id}");
                assert_eq!(world.ask("DELETE", &target, 0, &Value::Null).await.0, 204);
            }
            Step::Rate { who, video, rating } => {
                let at = video % self.videos.len();
                let video = &self.videos[at];
                let target = format!("/videos/rate?id={}&rating={}", video.id, RATINGS[rating]);
                let told = world.ask("POST", &target, who, &Value::Null).await.0;
                assert_eq!(told, if video.sees(who) { 204 } else { 404 });
                let same = self.ratings.get(&(who, at)).map(|(old, _)| *old) == Some(rating);
                if video.sees(who) && !same {
                    self.ratings.insert((who, at), (rating, world.elapsed));
                }
            }
            Step::Play { who, video, count } => {
                self.play(world, who, video % self.videos.len(), count);
            }
            Step::Playlist { privacy } => {
                let body = json!({"snippet": {"title": "dens"}, "status": {"privacyStatus": PRIVACY[privacy]}});
                let (status, made) =
                    world.ask("POST", "/playlists?part=snippet,status", 0, &body).await;
                assert_eq!(status, 200, "{made}");
                let id = made["id"].as_str().unwrap().to_owned();
                self.playlists.push((id, privacy));
            }
            Step::Unlist { playlist } if playlist < self.playlists.len() => {
                let (id, _) = self.playlists.remove(playlist);
                let target = format!("/playlists?id={id}");
                assert_eq!(world.ask("DELETE", &target, 0, &Value::Null).await.0, 204);
                self.audience.forget_playlist(&id);
                talk::sweep(world);
            }
            Step::Remove { .. } | Step::Unlist { .. } | Step::Restart => {}
        }
    }

    async fn delete(&mut self, world: &World, at: usize) {
        let video = &mut self.videos[at];
        let target = format!("/videos?id={}", video.id);
        let other = world.ask("DELETE", &target, 1 - video.owner, &Value::Null);
        let expected = if video.sees(1 - video.owner) { 403 } else { 404 };
        assert_eq!(other.await.0, expected);
        let told = world.ask("DELETE", &target, video.owner, &Value::Null).await;
        assert_eq!(told.0, if video.is_there { 204 } else { 404 });
        video.is_there = false;
        self.ratings.retain(|(_, rated), _| *rated != at);
        self.talk.forget(at);
        self.audience.forget(at);
        talk::sweep(world);
    }

    async fn hide(&mut self, world: &World, at: usize, privacy: usize) {
        let video = &mut self.videos[at];
        let body = json!({"id": video.id, "status": {"privacyStatus": PRIVACY[privacy]}});
        let told = world.ask("PUT", "/videos?part=status", video.owner, &body).await;
        assert_eq!(told.0, if video.is_there { 200 } else { 404 });
        if privacy == PUBLIC && video.privacy != PUBLIC {
            video.published = world.elapsed;
        }
        video.privacy = privacy;
        talk::sweep(world);
    }

    async fn insert(&mut self, world: &World, at: usize, position: Option<usize>) {
        let body = item_body(None, &self.videos[at].id, position);
        let (status, answer) = world.ask("POST", "/playlistItems?part=snippet", 0, &body).await;
        if let Some((_, reason)) = self.videos[at].refused_to(0) {
            assert_eq!(answer["error"]["errors"][0]["reason"], reason);
        } else if position.is_some_and(|position| position > self.items.len()) {
            let reason = &answer["error"]["errors"][0]["reason"];
            assert_eq!(reason, "invalidPlaylistItemPosition");
        } else {
            assert_eq!(status, 200, "{answer}");
            let id = answer["id"].as_str().unwrap().to_owned();
            let position = position.unwrap_or(self.items.len());
            self.items.insert(position, (id, at));
        }
    }

    async fn shift(&mut self, world: &World, item: usize, to: usize) {
        let Some((id, video)) = self.items.get(item).cloned() else {
            return;
        };
        let body = item_body(Some(&id), &self.videos[video].id, Some(to));
        let (_, answer) = world.ask("PUT", "/playlistItems?part=snippet", 0, &body).await;
        if to >= self.items.len() {
            let reason = &answer["error"]["errors"][0]["reason"];
            assert_eq!(reason, "invalidPlaylistItemPosition");
        } else {
            assert_eq!(answer["snippet"]["position"], to, "{answer}");
            let moved = self.items.remove(item);
            self.items.insert(to, moved);
        }
    }

    fn play(&mut self, world: &World, who: usize, at: usize, count: u64) {
        let video = &mut self.videos[at];
        let plays = Plays {
            video: video.id.clone(),
            account: Some(ACCOUNTS[who].to_owned()),
            count,
            seconds: 0,
        };
        let now = world.service.clock.now();
        let mut ids = SeededIds::from_number(world.elapsed);
        let told =
            run_blocking(&*world.store, &mut ids, 9, |tx, ids| play::record(tx, ids, &plays, now));
        if video.is_there {
            video.views += count;
            assert_eq!(told.map(|counts| counts.views), Ok(video.views));
            (0..count).for_each(|_| self.history[who].push(at));
        } else {
            assert_eq!(told, Err(Error::Rule(&videos::rules::NOT_FOUND)));
        }
    }
}

fn item_body(id: Option<&str>, video: &str, at: Option<usize>) -> Value {
    let mut snippet =
        json!({"playlistId": "PL", "resourceId": {"kind": "youtube#video", "videoId": video}});
    if let Some(at) = at {
        snippet["position"] = at.into();
    }
    json!({"id": id, "snippet": snippet})
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}

fn memory_blobs() -> Arc<dyn Blobs> {
    Arc::new(MemoryBlobs::new(SeededIds::from_number(1)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_sequence_in_memory_ends_as_the_model_says(steps in proptest::collection::vec(step(), 1..40), last in 0..2_usize) {
        run(async {
            let mut world = World::on(Arc::new(Memory::new()), memory_blobs(), 0).await;
            let mut model = Model::new(&mut world).await;
            for step in &steps {
                model.apply(&mut world, step).await;
                model.check_again(&world).await;
            }
            model.check(&world).await;
            model.close(&world, last).await;
            model.check_shown(&world).await;
            talk::sweep(&world);
            model.check(&world).await;
        });
    }
}

/// The store in this directory. A sweep of the service before may still be ending, and holds the store until then.
async fn reopen(directory: &std::path::Path) -> Arc<dyn KeyValue> {
    let config = SledConfig { cache_bytes: 16 << 20, ..SledConfig::new(directory.join("kv")) };
    loop {
        match Sled::open(&config) {
            Err(OpenError::Locked { .. }) => tokio::task::yield_now().await,
            opened => return Arc::new(opened.unwrap()),
        }
    }
}

/// A new process on the store and the bodies of one that ended.
async fn restart(world: World, directory: &std::path::Path) -> World {
    let World { store, blobs, service, elapsed } = world;
    drop((store, service));
    World::on(reopen(directory).await, blobs, elapsed + 1).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn any_sequence_on_disk_ends_as_the_model_says_whatever_restarts(steps in proptest::collection::vec(step(), 10..30), last in 0..2_usize, swept in 0..9_usize) {
        run(async {
            let directory = tempfile::tempdir().unwrap();
            let mut world = World::on(reopen(directory.path()).await, memory_blobs(), 0).await;
            let mut model = Model::new(&mut world).await;
            for step in &steps {
                if matches!(step, Step::Restart) {
                    world = restart(world, directory.path()).await;
                }
                model.apply(&mut world, step).await;
                model.check_again(&world).await;
            }
            model.check(&world).await;
            model.close(&world, last).await;
            (0..swept).for_each(|_| {
                talk::sweep_once(&world);
            });
            world = restart(world, directory.path()).await;
            model.check_shown(&world).await;
            talk::sweep(&world);
            model.check(&world).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn positions_stay_dense_while_many_insert_at_once() {
    let service = Arc::new(Service::on(Arc::new(Memory::new()), memory_blobs(), 0).await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                for number in 0..40 {
                    let at = (number % 2 == 0).then_some(task);
                    let video = ["v", "w"][task % 2];
                    let body = item_body(None, video, at.filter(|at| *at == 0)).to_string();
                    let answer = service
                        .ask("POST", "/youtube/v3/playlistItems?part=snippet", "ALICE", &body)
                        .await;
                    assert_eq!(answer.status, 200, "{}", answer.json());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let found =
        pages(&service, "ALICE", "/playlistItems?part=snippet&playlistId=PL&maxResults=50").await;
    assert_eq!(found.len(), 320);
    let ids: std::collections::BTreeSet<_> =
        found.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 320);
    assert!(found.iter().enumerate().all(|(at, item)| item["snippet"]["position"] == at));
}
