//! Pages of every list, while others add to what it lists and take from it between two of them: what stays is shown once.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use triptych_core::id::{Ids as _, SeededIds};

use crate::service::{Answer, Service};

/// Videos, accounts and comments that there are at the beginning, and that the changes are drawn from.
const MANY: usize = 24;
/// Walks through each list, each with other changes.
const WALKS: u64 = 3;

/// Every list that comes in pages, of which none has an order that the changes below move a row in.
const LISTS: [&str; 29] = [
    "playlistItems?part=id&playlistId=PLx",
    "playlistItems?part=id&playlistId=PLx&videoId=v1",
    "playlistItems?part=id&playlistId=UUalice",
    "playlistItems?part=id&playlistId=LL",
    "playlistItems?part=id&playlistId=WL",
    "playlistItems?part=id&playlistId=FLalice",
    "playlistItems?part=id&playlistId=HL",
    "videos?part=id&myRating=like",
    "videos?part=id&chart=mostPopular",
    "videos?part=id&chart=mostPopular&regionCode=DE",
    "search?part=id&type=video",
    "search?part=id&type=video&order=date",
    "search?part=id&type=video&order=title",
    "search?part=id&type=video&order=title&q=film",
    "search?part=id&type=playlist&order=date",
    "commentThreads?part=id&videoId=v0",
    "commentThreads?part=id&videoId=v0&order=relevance",
    "commentThreads?part=id&videoId=v0&searchTerms=otter",
    "commentThreads?part=id&allThreadsRelatedToChannelId=UCalice",
    "comments?part=id&parentId=t0",
    "subscriptions?part=id&mine=true",
    "subscriptions?part=id&mine=true&order=alphabetical",
    "subscriptions?part=id&mine=true&order=unread",
    "subscriptions?part=id&mine=true&forChannelId=UCa0,UCa1,UCa2,UCa3,UCa4,UCa5,UCa6,UCa7,UCa8,UCa9,UCa10,UCa11,UCa12,UCa13,UCa14,UCa15,UCa16,UCa17,UCa18,UCa19,UCa20,UCa21,UCa22,UCa23",
    "subscriptions?part=id&mine=true&order=unread&forChannelId=UCa0,UCa1,UCa2,UCa3,UCa4,UCa5,UCa6,UCa7,UCa8,UCa9,UCa10,UCa11,UCa12,UCa13,UCa14,UCa15,UCa16,UCa17,UCa18,UCa19,UCa20,UCa21,UCa22,UCa23",
    "subscriptions?part=subscriberSnippet&mySubscribers=true",
    "subscriptions?part=subscriberSnippet&myRecentSubscribers=true",
    "playlists?part=id&mine=true",
    "activities?part=id&mine=true",
];

fn seed() -> String {
    let scopes = ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"];
    let account = |id: &str, title: String| {
        json!({"id": id, "tokens": [{"token": id.to_uppercase(), "scopes": scopes}],
            "channel": {"id": format!("UC{id}"), "title": title}})
    };
    let each = |of: &dyn Fn(usize) -> Value| (0..MANY).map(of).collect::<Vec<_>>();
    let mut accounts = each(&|at| account(&format!("a{at}"), format!("Channel {}", at * 7 % MANY)));
    accounts.push(account("alice", "Alice".into()));
    let half = MANY / 2;
    let follow = |subscriber: String, channel: String, at: usize| json!({"subscriber": subscriber, "channel": channel, "publishedAt": format!("2026-01-01T00:{at:02}:00Z")});
    let mut subscriptions: Vec<_> =
        (0..half).map(|at| follow("alice".into(), format!("a{at}"), at)).collect();
    subscriptions.extend((0..half).map(|at| follow(format!("a{at}"), "alice".into(), at)));
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": accounts,
        "videos": each(&|at| json!({"id": format!("v{at}"), "owner": "alice", "publishedAt": format!("2026-01-02T00:{at:02}:00Z"),
            "snippet": {"title": format!("Film {}", at * 5 % MANY)}})),
        "playlists": [{"id": "PLx", "owner": "alice", "snippet": {"title": "Long"},
            "items": each(&|at| json!(format!("v{}", at % 6)))}],
        "ratings": (0..half).map(|at| json!({"account": "alice", "video": format!("v{at}"), "rating": "like"})).collect::<Vec<_>>(),
        "subscriptions": subscriptions,
        "comments": each(&|at| json!({"id": format!("t{at}"), "author": format!("a{at}"), "video": "v0", "textOriginal": "an otter",
            "replies": if at == 0 { each(&|at| json!({"id": format!("r{at}"), "author": format!("a{at}"), "textOriginal": "reply"})) } else { Vec::new() }})),
    })
    .to_string()
}

/// The things that an item is known by: its own id, or who subscribes.
fn name(item: &Value) -> String {
    let subscriber = item.pointer("/subscriberSnippet/channelId");
    subscriber.or(item.get("id")).unwrap_or(&Value::Null).to_string()
}

/// A walk through a list, beside those who change it.
struct Walk<'s> {
    service: &'s Service,
    list: &'static str,
    chance: SeededIds,
}

impl Walk<'_> {
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.chance.next() % most as u64).unwrap()
    }

    async fn ask(&self, method: &str, target: &str, who: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.service.ask(method, &format!("/youtube/v3/{target}"), who, &body).await
    }

    /// The names on a page, and its next token.
    async fn page(&self, size: usize, token: &str) -> (Vec<String>, Option<String>) {
        let page = self.service.list(&format!("/{}&maxResults={size}{token}", self.list)).await;
        let next = page["nextPageToken"].as_str().map(|next| format!("&pageToken={next}"));
        (page["items"].as_array().unwrap().iter().map(name).collect(), next)
    }

    /// Everything that the list holds now.
    async fn all(&self) -> Vec<String> {
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let (names, next) = self.page(50, &token).await;
            all.extend(names);
            match next {
                Some(next) => token = next,
                None => return all,
            }
        }
    }

    /// Deletes one of the things of a list, but for the thread whose replies are a list.
    async fn delete(&mut self, resource: &str, list: &str) {
        let page = self.service.list(&format!("/{list}&part=id&maxResults=50")).await;
        let ids = page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap());
        let ids: Vec<_> = ids.filter(|id| *id != "t0").collect();
        if let Some(id) = ids.get(self.below(ids.len().max(1))) {
            self.ask("DELETE", &format!("{resource}?id={id}"), "ALICE", Value::Null).await;
        }
    }

    /// Returns whether a view moves rows of the list.
    fn is_by_views(&self) -> bool {
        ["HL", "chart", "search"].iter().any(|part| self.list.contains(part))
    }

    /// Adds a video to a playlist.
    async fn add(&mut self, playlist: &str, at: Option<usize>) {
        let video = json!({"kind": "youtube#video", "videoId": format!("v{}", self.below(MANY))});
        let mut snippet = json!({"playlistId": playlist, "resourceId": video});
        if let Some(at) = at {
            snippet["position"] = json!(at);
        }
        self.ask("POST", "playlistItems?part=snippet", "ALICE", json!({"snippet": snippet})).await;
    }

    /// Subscribes somebody to a channel, or ends that.
    async fn follow(&mut self, who: &str, channel: &str) {
        let mine = format!("subscriptions?part=id&mine=true&forChannelId={channel}");
        let found = self.ask("GET", &mine, who, Value::Null).await.json();
        match found["items"][0]["id"].as_str() {
            Some(id) => {
                self.ask("DELETE", &format!("subscriptions?id={id}"), who, Value::Null).await
            }
            None => {
                let to = json!({"kind": "youtube#channel", "channelId": channel});
                let body = json!({"snippet": {"resourceId": to}});
                self.ask("POST", "subscriptions?part=snippet", who, body).await
            }
        };
    }

    /// Changes one of the things that lists hold.
    async fn change(&mut self) {
        self.service.later(1);
        let (at, who) = (self.below(MANY), format!("A{}", self.below(MANY)));
        match self.below(18) {
            0 => self.add("PLx", Some(at % 7)).await,
            1 => self.add("PLx", None).await,
            2 => self.delete("playlistItems", "playlistItems?playlistId=PLx").await,
            3 => self.add("WL", Some(at % 3)).await,
            4 => self.delete("playlistItems", "playlistItems?playlistId=WL").await,
            5 => self.add("FLalice", None).await,
            6 => self.delete("playlistItems", "playlistItems?playlistId=FLalice").await,
            7 => self.add("UUalice", None).await,
            8 => self.delete("playlistItems", "playlistItems?playlistId=UUalice").await,
            9 => {
                let rating = ["like", "none"][self.below(2)];
                let target = format!("videos/rate?id=v{at}&rating={rating}");
                self.ask("POST", &target, "ALICE", Value::Null).await;
            }
            10 => {
                let privacy = ["public", "private"][self.below(2)];
                let body = json!({"id": format!("v{at}"), "status": {"privacyStatus": privacy}});
                self.ask("PUT", "videos?part=status", "ALICE", body).await;
            }
            11 if self.list.contains("HL") => {
                self.delete("playlistItems", "playlistItems?playlistId=HL").await
            }
            11 if self.is_by_views() => {}
            11 => {
                let plays = json!({"video": format!("v{at}"), "account": "alice"});
                self.service.control("POST", "/_ops/plays", &plays.to_string()).await;
            }
            12 => {
                let text = json!({"snippet": {"textOriginal": "another otter"}});
                let body = json!({"snippet": {"videoId": "v0", "topLevelComment": text}});
                self.ask("POST", "commentThreads?part=snippet", &who, body).await;
            }
            13 => self.delete("comments", "commentThreads?videoId=v0").await,
            14 => {
                let body = json!({"snippet": {"parentId": "t0", "textOriginal": "otter again"}});
                self.ask("POST", "comments?part=snippet", &who, body).await;
            }
            15 => self.delete("comments", "comments?parentId=t0").await,
            16 => match self.below(2) {
                0 => self.follow("ALICE", &format!("UCa{at}")).await,
                _ => self.follow(&who, "UCalice").await,
            },
            _ => {
                let body =
                    json!({"snippet": {"title": "New"}, "status": {"privacyStatus": "public"}});
                self.ask("POST", "playlists?part=snippet,status", "ALICE", body).await;
            }
        }
    }

    /// Reads the list page by page, and checks that what was there all the time was shown once.
    async fn run(mut self) -> (usize, usize) {
        let mut stays = self.all().await;
        let mut shown = BTreeMap::<String, usize>::new();
        let (mut token, mut pages) = (String::new(), 0);
        loop {
            let size = 1 + self.below(4);
            let (names, next) = self.page(size, &token).await;
            names.into_iter().for_each(|name| *shown.entry(name).or_default() += 1);
            pages += 1;
            let Some(next) = next else { break };
            token = next;
            for _ in 0..self.below(4) {
                self.change().await;
                let now = self.all().await;
                stays.retain(|name| now.contains(name));
            }
        }
        let of = |name: &String| shown.get(name).copied().unwrap_or_default();
        let wrong: Vec<_> =
            stays.iter().map(|name| (name, of(name))).filter(|(_, n)| *n != 1).collect();
        assert!(wrong.is_empty(), "{}: shown so often: {wrong:?}", self.list);
        (pages, stays.len())
    }
}

/// A service whose lists are full.
async fn service() -> Service {
    let service = Service::seeded(&seed()).await;
    for number in 0..MANY {
        service.later(1);
        let plays = json!({"video": format!("v{number}"), "account": "alice"});
        service.control("POST", "/_ops/plays", &plays.to_string()).await;
        for list in ["WL", "FLalice"] {
            let video = json!({"kind": "youtube#video", "videoId": format!("v{number}")});
            let body = json!({"snippet": {"playlistId": list, "resourceId": video}}).to_string();
            service.ask("POST", "/youtube/v3/playlistItems?part=snippet", "ALICE", &body).await;
        }
        let body = json!({"snippet": {"title": format!("List {number}")}}).to_string();
        service.ask("POST", "/youtube/v3/playlists?part=snippet", "ALICE", &body).await;
    }
    service
}

#[tokio::test]
async fn what_stays_in_a_list_is_shown_once_whatever_comes_and_goes_between_its_pages() {
    for (at, list) in (0..).zip(LISTS) {
        let service = service().await;
        for walk in 0..WALKS {
            let chance = SeededIds::from_number(1_000 * walk + at);
            let (pages, stays) = Walk { service: &service, list, chance }.run().await;
            assert!(pages > 1 && stays > 0, "{list}: {pages} pages, {stays} stay");
        }
    }
}
