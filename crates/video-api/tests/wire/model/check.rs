//! Checks whether the service shows what the model says.

use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::kv::Tx;
use video_api::index::verify::verify;

use super::{CHANNELS, LIKE, Model, PEOPLE, PUBLIC, RATINGS, Video, WORDS, World, derived};
use crate::service::Service;

impl Model {
    pub(super) async fn check(&self, world: &World) {
        self.check_shown(world).await;
        let told = verify(&mut Tx::new(&*world.store));
        assert_eq!(told, Ok(()), "the index is what a rebuild would make");
        derived::check(&*world.store);
    }

    /// Checks what whoever is there is shown.
    pub(super) async fn check_shown(&self, world: &World) {
        self.check_playlist(world).await;
        for who in self.people() {
            self.check_counters(world, who).await;
            self.check_lists(world, who).await;
            self.check_search(world, who).await;
            self.check_talk(world, who).await;
            self.check_audience(world, who).await;
        }
        self.check_closed(world).await;
    }

    /// Checks that what the service answered before is, when it is asked again, what a service says that never answered.
    pub(super) async fn check_again(&self, world: &World) {
        let (store, blobs) = (Arc::clone(&world.store), Arc::clone(&world.blobs));
        let newcomer = Service::on(store, blobs, world.elapsed).await;
        newcomer.later(world.elapsed);
        let ids: Vec<_> = self.videos.iter().map(|video| video.id.as_str()).collect();
        let lists: Vec<_> = self.playlists.iter().map(|(id, _)| id.as_str()).collect();
        let all = "id,snippet,contentDetails,status";
        let talk = self.talk_targets();
        let targets = [
            format!("/playlistItems?part={all}&playlistId=PL&maxResults=3"),
            "/playlistItems?part=snippet&playlistId=UUx&maxResults=50".to_owned(),
            format!("/videos?part={all},statistics&id={}", ids.join(",")),
            format!("/playlists?part={all}&id=PL,{}", lists.join(",")),
            "/channels?part=statistics,contentDetails&id=UCx,UCbob".to_owned(),
        ];
        for target in targets.into_iter().chain(talk) {
            let target = format!("/youtube/v3{target}");
            for who in PEOPLE {
                let expected = newcomer.ask("GET", &target, who, "").await;
                let expected = String::from_utf8_lossy(&expected.body).into_owned();
                for _ in 0..2 {
                    let told = world.service.ask("GET", &target, who, "").await;
                    assert_eq!(String::from_utf8_lossy(&told.body), expected, "{target}");
                }
            }
        }
    }

    async fn check_playlist(&self, world: &World) {
        if !self.is_open(0) {
            return;
        }
        let target = "/playlistItems?part=snippet&playlistId=PL&maxResults=2";
        for who in self.people() {
            let found = pages(&world.service, PEOPLE[who], target).await;
            let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
            let expected: Vec<_> = self.items.iter().map(|(id, _)| id.as_str()).collect();
            assert_eq!(told, expected);
            for (at, (item, (_, video))) in found.iter().zip(&self.items).enumerate() {
                let video = &self.videos[*video];
                let title = match (video.is_there, video.sees(who)) {
                    (false, _) => "Deleted video",
                    (true, false) => "Private video",
                    (true, true) => WORDS[video.word],
                };
                let snippet = &item["snippet"];
                assert_eq!((&snippet["position"], &snippet["title"]), (&json!(at), &json!(title)));
            }
        }
        let playlist = world.service.list("/playlists?part=contentDetails&id=PL").await;
        let count = &playlist["items"][0]["contentDetails"]["itemCount"];
        assert_eq!(count, self.items.len());
    }

    async fn check_counters(&self, world: &World, who: usize) {
        for (at, video) in self.videos.iter().enumerate() {
            let target = format!("/videos?part=statistics&id={}", video.id);
            let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
            let shown = usize::from(video.sees(who));
            assert_eq!(found["pageInfo"]["totalResults"], shown);
            if shown == 0 {
                continue;
            }
            let count = |rating| {
                let given = self.ratings.iter();
                let given = given.filter(|((_, of), (given, _))| *of == at && *given == rating);
                json!(given.count().to_string())
            };
            let statistics = &found["items"][0]["statistics"];
            assert_eq!(statistics["viewCount"], video.views.to_string());
            assert_eq!(statistics["likeCount"], count(LIKE));
            let dislikes = (video.owner == who).then(|| count(1));
            assert_eq!(statistics.get("dislikeCount"), dislikes.as_ref());
        }
        let target = format!("/channels?part=statistics&id={}", CHANNELS[who]);
        let (_, channel) = world.ask("GET", &target, self.other(who), &Value::Null).await;
        let own = self.videos.iter().filter(|video| video.owner == who && video.is_there);
        // The seed gives Alice two public videos more.
        let seeded = if who == 0 { 2 } else { 0 };
        let listed = own.clone().filter(|video| video.is_listed()).count() + seeded;
        let views: u64 = own.map(|video| video.views).sum();
        let statistics = &channel["items"][0]["statistics"];
        let told = (&statistics["videoCount"], &statistics["viewCount"]);
        assert_eq!(told, (&json!(listed.to_string()), &json!(views.to_string())));
    }

    /// Likes, history, uploads and playlists of `who`, each in its order.
    async fn check_lists(&self, world: &World, who: usize) {
        let mut liked: Vec<_> = self
            .ratings
            .iter()
            .filter(|((by, _), (rating, _))| *by == who && *rating == LIKE)
            .map(|((_, video), (_, since))| (*since, *video))
            .collect();
        liked.sort_unstable_by(|a, b| b.cmp(a));
        let liked: Vec<_> = liked.into_iter().map(|(_, video)| video).collect();
        let watched: Vec<_> = self.history[who].iter().rev().copied().collect();
        for (list, mut expected, ordered) in [("LL", liked, true), ("HL", watched, false)] {
            let target =
                format!("/playlistItems?part=contentDetails&playlistId={list}&maxResults=3");
            let found = pages(&world.service, PEOPLE[who], &target).await;
            let mut told: Vec<_> = found
                .iter()
                .map(|item| item["contentDetails"]["videoId"].as_str().unwrap())
                .map(|id| self.videos.iter().position(|video| video.id == id).unwrap())
                .collect();
            if !ordered {
                // Plays of one moment have no order among themselves.
                told.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(told, expected, "{list} of {}", PEOPLE[who]);
        }
        self.check_ratings(world, who).await;
        for asks in self.people() {
            let list = CHANNELS[who].replacen("UC", "UU", 1);
            let target =
                format!("/playlistItems?part=contentDetails&playlistId={list}&maxResults=3");
            let found = pages(&world.service, PEOPLE[asks], &target).await;
            let found = found.iter().map(|item| item["contentDetails"]["videoId"].as_str());
            // What the seed made is older than every step.
            let told: Vec<_> = found.flatten().filter(|id| id.len() > 1).collect();
            let mut expected: Vec<_> = self
                .videos
                .iter()
                .filter(|video| video.owner == who && video.is_there)
                .filter(|video| video.privacy == PUBLIC || asks == who)
                .collect();
            expected.sort_by_key(|video| std::cmp::Reverse(video.published));
            let expected: Vec<_> = expected.iter().map(|video| video.id.as_str()).collect();
            assert_eq!(told, expected, "uploads of {who} for {asks}");
        }
        if !self.is_open(0) {
            return;
        }
        let target = "/playlists?part=id&channelId=UCx&maxResults=50";
        let (_, found) = world.ask("GET", target, who, &Value::Null).await;
        let made = self.playlists.iter().filter(|(_, privacy)| *privacy == PUBLIC);
        assert_eq!(found["pageInfo"]["totalResults"], made.count() + 2);
    }

    /// The lists of what `who` rated and still sees, the latest first, and what each video is told to be rated.
    async fn check_ratings(&self, world: &World, who: usize) {
        for (rating, name) in RATINGS.iter().enumerate().take(2) {
            let mut rated: Vec<_> = self
                .ratings
                .iter()
                .filter(|((by, video), (given, _))| {
                    *by == who && *given == rating && self.videos[*video].sees(who)
                })
                .map(|((_, video), (_, since))| (*since, self.videos[*video].id.as_str()))
                .collect();
            rated.sort_unstable_by(|a, b| b.cmp(a));
            let expected: Vec<_> = rated.into_iter().map(|(_, id)| id).collect();
            let target = format!("/videos?part=id&myRating={name}&maxResults=2");
            let found = pages(&world.service, PEOPLE[who], &target).await;
            let told: Vec<_> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
            assert_eq!(told, expected, "{target} of {who}");
        }
        for (at, video) in self.videos.iter().enumerate().filter(|(_, video)| video.sees(who)) {
            let target = format!("/videos/getRating?id={}", video.id);
            let (_, found) = world.ask("GET", &target, who, &Value::Null).await;
            let given = self.ratings.get(&(who, at)).map_or("none", |(given, _)| RATINGS[*given]);
            assert_eq!(found["items"][0]["rating"], given, "{target} of {who}");
        }
    }

    async fn check_search(&self, world: &World, who: usize) {
        for (at, word) in WORDS.iter().enumerate() {
            let target = format!("/search?part=id&type=video&maxResults=50&q={word}");
            let (_, everyone) = world.ask("GET", &target, who, &Value::Null).await;
            let (_, own) =
                world.ask("GET", &format!("{target}&forMine=true"), who, &Value::Null).await;
            let about = || self.videos.iter().filter(|video| video.word == at);
            let listed = about().filter(|video| video.is_listed());
            let mine = about().filter(|video| video.is_there && video.owner == who);
            assert_eq!(ids(&everyone), sorted(listed), "{word}");
            assert_eq!(ids(&own), sorted(mine), "{word} of {who}");
        }
        let target = "/search?part=id&type=playlist&q=dens";
        let (_, found) = world.ask("GET", target, who, &Value::Null).await;
        let made = self.playlists.iter().filter(|(_, privacy)| *privacy == PUBLIC);
        assert_eq!(found["pageInfo"]["totalResults"], made.count());
    }
}

fn sorted<'v>(videos: impl Iterator<Item = &'v Video>) -> Vec<String> {
    let mut ids: Vec<_> = videos.map(|video| video.id.clone()).collect();
    ids.sort_unstable();
    ids
}

/// The ids of found videos; their number is the total.
fn ids(found: &Value) -> Vec<String> {
    let items = found["items"].as_array().unwrap();
    assert_eq!(found["pageInfo"]["totalResults"], items.len());
    let mut ids: Vec<_> =
        items.iter().map(|item| item["id"]["videoId"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

/// All items of a list, page by page, and back to the first page.
pub(super) async fn pages(service: &Service, token: &str, target: &str) -> Vec<Value> {
    let read = async |more: &str| {
        let target = format!("/youtube/v3{target}{more}");
        let answer = service.ask("GET", &target, token, "").await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
        answer.json()
    };
    let (mut all, mut page) = (Vec::new(), read("").await);
    loop {
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        let Some(token) = page["nextPageToken"].as_str() else {
            break;
        };
        page = read(&format!("&pageToken={token}")).await;
    }
    assert_eq!(page["pageInfo"]["totalResults"], all.len(), "{target}");
    if ["/comments?", "/commentThreads?", "/members?"].iter().any(|list| target.starts_with(list)) {
        assert_eq!(page.get("prevPageToken"), None, "{target} is read forwards alone");
        return all;
    }
    while let Some(token) = page["prevPageToken"].as_str() {
        page = read(&format!("&pageToken={token}")).await;
    }
    assert_eq!(page["items"].as_array().unwrap().first(), all.first());
    all
}
