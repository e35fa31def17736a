//! Random sequences of operations against a plain model: the order of a playlist, ratings, plays and their counters.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Memory, OpenError, Sled, SledConfig};

use crate::service::Service;

#[derive(Debug, Clone)]
enum Step {
    Insert {
        video: usize,
        at: Option<usize>,
    },
    Move {
        item: usize,
        to: usize,
    },
    Remove {
        item: usize,
    },
    Rate {
        who: usize,
        video: usize,
        rating: usize,
    },
    Hide {
        video: usize,
        hidden: bool,
    },
    Restart,
}

const VIDEOS: [&str; 2] = ["v", "w"];
const PEOPLE: [&str; 2] = ["ALICE", "BOB"];
const RATINGS: [&str; 3] = ["like", "dislike", "none"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2_usize, proptest::option::of(0..9_usize)).prop_map(|(video, at)| Step::Insert { video, at }),
        3 => (0..9_usize, 0..9_usize).prop_map(|(item, to)| Step::Move { item, to }),
        1 => (0..9_usize).prop_map(|item| Step::Remove { item }),
        3 => (0..2_usize, 0..2_usize, 0..3_usize).prop_map(|(who, video, rating)| Step::Rate { who, video, rating }),
        1 => (0..2_usize, any::<bool>()).prop_map(|(video, hidden)| Step::Hide { video, hidden }),
        1 => Just(Step::Restart),
    ]
}

/// What should be there.
#[derive(Default)]
struct Model {
    items: Vec<(String, usize)>,
    ratings: BTreeMap<(usize, usize), usize>,
    hidden: [bool; 2],
}

fn item_body(id: Option<&str>, video: usize, at: Option<usize>) -> String {
    let mut snippet = json!({"playlistId": "PL", "resourceId": {"kind": "youtube#video", "videoId": VIDEOS[video]}});
    if let Some(at) = at {
        snippet["position"] = at.into();
    }
    json!({"id": id, "snippet": snippet}).to_string()
}

impl Model {
    async fn apply(&mut self, service: &Service, step: &Step) {
        const ITEMS: &str = "/youtube/v3/playlistItems";
        let count = self.items.len();
        match *step {
            Step::Insert { video, at } => {
                let body = item_body(None, video, at);
                let answer = service
                    .ask("POST", &format!("{ITEMS}?part=snippet"), "ALICE", &body)
                    .await;
                if at.is_some_and(|at| at > count) {
                    assert_eq!(answer.reason(), "invalidPlaylistItemPosition");
                } else {
                    let id = answer.json()["id"].as_str().unwrap().to_owned();
                    self.items.insert(at.unwrap_or(count), (id, video));
                }
            }
            Step::Move { item, to } if item < count => {
                let (id, video) = self.items[item].clone();
                let body = item_body(Some(&id), video, Some(to));
                let answer = service
                    .ask("PUT", &format!("{ITEMS}?part=snippet"), "ALICE", &body)
                    .await;
                if to >= count {
                    assert_eq!(answer.reason(), "invalidPlaylistItemPosition");
                } else {
                    assert_eq!(answer.json()["snippet"]["position"], to);
                    let moved = self.items.remove(item);
                    self.items.insert(to, moved);
                }
            }
            Step::Remove { item } if item < count => {
                let (id, _) = self.items.remove(item);
                assert_eq!(
                    service
                        .ask("DELETE", &format!("{ITEMS}?id={id}"), "ALICE", "")
                        .await
                        .status,
                    204
                );
            }
            Step::Rate { who, video, rating } => {
                let target = format!(
                    "/youtube/v3/videos/rate?id={}&rating={}",
                    VIDEOS[video], RATINGS[rating]
                );
                let hidden = self.hidden[video] && who == 1;
                let status = service.ask("POST", &target, PEOPLE[who], "").await.status;
                assert_eq!(status, if hidden { 404 } else { 204 });
                if !hidden {
                    self.ratings.insert((who, video), rating);
                }
            }
            Step::Hide { video, hidden } => {
                let status = json!({"privacyStatus": if hidden { "private" } else { "public" }});
                let body = json!({"id": VIDEOS[video], "status": status}).to_string();
                assert_eq!(
                    service
                        .ask("PUT", "/youtube/v3/videos?part=status", "ALICE", &body)
                        .await
                        .status,
                    200
                );
                self.hidden[video] = hidden;
            }
            Step::Move { .. } | Step::Remove { .. } | Step::Restart => {}
        }
    }

    async fn check(&self, service: &Service) {
        let found = pages(
            service,
            "/playlistItems?part=snippet&playlistId=PL&maxResults=2",
        )
        .await;
        let told: Vec<_> = found
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect();
        let expected: Vec<_> = self.items.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(told, expected);
        for (at, item) in found.iter().enumerate() {
            assert_eq!(item["snippet"]["position"], at);
        }
        let playlist = service.list("/playlists?part=contentDetails&id=PL").await;
        assert_eq!(
            playlist["items"][0]["contentDetails"]["itemCount"],
            self.items.len()
        );
        for (video, id) in VIDEOS.iter().enumerate() {
            let count = |rating| {
                self.ratings
                    .iter()
                    .filter(|((_, at), given)| *at == video && **given == rating)
                    .count()
                    .to_string()
            };
            let found = service
                .list(&format!("/videos?part=statistics&id={id}"))
                .await;
            let statistics = &found["items"][0]["statistics"];
            assert_eq!(
                (&statistics["likeCount"], &statistics["dislikeCount"]),
                (&json!(count(0)), &json!(count(1)))
            );
        }
        for (who, token) in PEOPLE.iter().enumerate() {
            let answer = service
                .ask(
                    "GET",
                    "/youtube/v3/videos?part=id&myRating=like&maxResults=50",
                    token,
                    "",
                )
                .await;
            let liked = self
                .ratings
                .iter()
                .filter(|((by, _), given)| *by == who && **given == 0)
                .count();
            assert_eq!(answer.json()["pageInfo"]["totalResults"], liked);
        }
        let listed = self.hidden.iter().filter(|hidden| !**hidden).count();
        let channel = service.list("/channels?part=statistics&mine=true").await;
        assert_eq!(
            channel["items"][0]["statistics"]["videoCount"],
            listed.to_string()
        );
        let chart = service.list("/videos?part=id&chart=mostPopular").await;
        assert_eq!(chart["items"].as_array().unwrap().len(), listed);
    }
}

/// All items of a list, page by page, and back to the first page.
async fn pages(service: &Service, target: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut page = service.list(target).await;
    loop {
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        let Some(token) = page["nextPageToken"].as_str() else {
            break;
        };
        page = service.list(&format!("{target}&pageToken={token}")).await;
    }
    while let Some(token) = page["prevPageToken"].as_str() {
        page = service.list(&format!("{target}&pageToken={token}")).await;
    }
    assert_eq!(page["items"].as_array().unwrap().first(), all.first());
    all
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_sequence_in_memory_ends_as_the_model_says(steps in proptest::collection::vec(step(), 1..30)) {
        run(async {
            let (service, mut model) = (Service::new().await, Model::default());
            for step in &steps {
                model.apply(&service, step).await;
            }
            model.check(&service).await;
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn any_sequence_on_disk_ends_as_the_model_says_whatever_restarts(steps in proptest::collection::vec(step(), 10..25)) {
        run(async {
            let directory = tempfile::tempdir().unwrap();
            let open = || async {
                let config = SledConfig { cache_bytes: 16 << 20, ..SledConfig::new(directory.path().join("kv")) };
                // A sweep of the service before may still be ending, and holds the store until then.
                let store = loop {
                    match Sled::open(&config) {
                        Err(OpenError::Locked { .. }) => tokio::task::yield_now().await,
                        opened => break Arc::new(opened.unwrap()),
                    }
                };
                Service::on(store, Arc::new(MemoryBlobs::new(SeededIds::from_number(1)))).await
            };
            let (mut service, mut model) = (open().await, Model::default());
            for step in &steps {
                if matches!(step, Step::Restart) {
                    drop(service);
                    service = open().await;
                }
                model.apply(&service, step).await;
            }
            model.check(&service).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn positions_stay_dense_while_many_insert_at_once() {
    let service = Arc::new(
        Service::on(
            Arc::new(Memory::new()),
            Arc::new(MemoryBlobs::new(SeededIds::from_number(1))),
        )
        .await,
    );
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                for number in 0..40 {
                    let at = (number % 2 == 0).then_some(task);
                    let body = item_body(None, task % 2, at.filter(|at| *at == 0));
                    let answer = service
                        .ask(
                            "POST",
                            "/youtube/v3/playlistItems?part=snippet",
                            "ALICE",
                            &body,
                        )
                        .await;
                    assert_eq!(answer.status, 200, "{}", answer.json());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let found = pages(
        &service,
        "/playlistItems?part=snippet&playlistId=PL&maxResults=50",
    )
    .await;
    assert_eq!(found.len(), 320);
    let ids: std::collections::BTreeSet<_> = found
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 320);
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(at, item)| item["snippet"]["position"] == at)
    );
}
