//! The cost of each operation to a store on another machine: its requests are sent, on lists of more than a page, and the round trips counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Counted, Memory, RoundTrips};
use video_api::media::sample::Mp4;
use video_api::resource::OPERATIONS;

use crate::authority::ROWS;
use crate::service::{Answer, SEED, Service};

/// Rows of each list, which is more than a page has.
const MANY: usize = 60;

/// The seed with many of everything.
fn crowded() -> String {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    seed["ratings"] = json!([]);
    let mut add = |section: &str, row: Value| seed[section].as_array_mut().unwrap().push(row);
    let films: Vec<_> = (0..MANY).map(|number| format!("film{number}")).collect();
    for film in &films {
        let snippet = json!({"title": format!("Film {film}"), "categoryId": "22"});
        add("videos", json!({"id": film, "owner": "alice", "snippet": snippet}));
        add("ratings", json!({"account": "alice", "video": film, "rating": "like"}));
        let reply = json!({"id": "r", "author": "alice", "textOriginal": "text", "likes": ["bob"]});
        add(
            "comments",
            json!({"id": format!("c{film}"), "author": "bob", "video": "v", "textOriginal": "text of a thread", "likes": ["alice"],
                "replies": [reply]}),
        );
        // What the subscriptions are to publishes something, too.
        let snippet = json!({"title": format!("Clip {film}"), "categoryId": "22"});
        add("videos", json!({"id": format!("clip{film}"), "owner": film, "snippet": snippet}));
        add(
            "playlists",
            json!({"id": format!("PL{film}"), "owner": "alice", "snippet": {"title": film}}),
        );
        let channel = json!({"id": format!("UC{film}"), "title": film});
        add("accounts", json!({"id": film, "tokens": [], "channel": channel}));
        add(
            "subscriptions",
            json!({"id": format!("s{film}"), "subscriber": "alice", "channel": film}),
        );
    }
    add(
        "playlists",
        json!({"id": "PLlong", "owner": "alice", "snippet": {"title": "Long"}, "items": films}),
    );
    seed.to_string()
}

/// A service on a store that counts.
struct Bench {
    service: Service,
    store: Arc<Counted>,
}

impl Bench {
    async fn new(seed: &str) -> Self {
        let store = Arc::new(Counted::new(Arc::new(Memory::new())));
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        let service = Service::filled(store.clone(), Arc::new(blobs), 0, seed).await;
        // The first search brings the index up to date.
        service.list("/search?part=id&q=first").await;
        Self { service, store }
    }

    async fn ask(&self, method: &str, target: &str, who: &str, body: &str) -> (Answer, RoundTrips) {
        self.send(method, target, who, &[], body.as_bytes()).await
    }

    /// The answer, and what it cost. What becomes public at a time is looked for once a second, and after each write; and who comes for the
    /// first time is identified in one more round: not here.
    async fn send(
        &self,
        method: &str,
        target: &str,
        who: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (Answer, RoundTrips) {
        let is_keyed = target.contains("key=KEY");
        let warm =
            format!("/youtube/v3/i18nLanguages?part=id{}", if is_keyed { "&key=KEY" } else { "" });
        self.service.ask("GET", &warm, who, "").await;
        self.store.take();
        let target = match target.strip_prefix("/upload") {
            Some(rest) => format!("/upload/youtube/v3{rest}"),
            None => format!("/youtube/v3{target}"),
        };
        let answer = self.service.ask_with(method, &target, who, headers, body).await;
        (answer, self.store.take())
    }
}

/// The costs of each operation, and the requests that had them.
#[derive(Default)]
struct Costs(BTreeMap<&'static str, RoundTrips>, Vec<String>);

impl Costs {
    fn add(&mut self, name: &str, target: &str, (answer, cost): &(Answer, RoundTrips)) {
        let row = OPERATIONS.iter().find(|row| row.name == name).unwrap();
        assert!([200, 204, 410].contains(&answer.status), "{name} {target}: {}", answer.json());
        let most = self.0.entry(row.name).or_default();
        most.reads = most.reads.max(cost.reads);
        most.commits = most.commits.max(cost.commits);
        let told = row.round_trips;
        if cost.reads > told.reads || cost.commits > told.commits {
            self.1.push(format!("{name} {cost}, not {told}: {target}"));
        }
    }
}

/// Each request of the table of credentials, by one who may, on a service of its own.
async fn ask_each(costs: &mut Costs) {
    for (name, query, body, status) in ROWS.iter().filter(|row| row.3[3].min(row.3[2]) != 400) {
        let bench = Bench::new(SEED).await;
        let items = bench.service.list("/playlistItems?part=id&playlistId=PLx").await;
        let item = items["items"][0]["id"].as_str().unwrap();
        let (query, body) = (query.replace("ITEM", item), body.replace("ITEM", item));
        let row = OPERATIONS.iter().find(|row| row.name == *name).unwrap();
        let target = format!("{}?{query}", row.path.replace("{id}", "c"));
        let who = if status[3] < 300 { "ALICE" } else { "BOB" };
        let asked = bench.ask(row.method.name(), &target, who, &body).await;
        costs.add(name, &target, &asked);
    }
}

/// Parts of the queries of fifty videos and of a page of a playlist, which cost three round trips at most, whatever stands beside the operation.
const WITHIN_THREE: [&str; 3] = ["id=film0,film1", "chart=mostPopular", "playlistId=PLlong"];

/// Pages of lists that have more than one.
async fn ask_lists(costs: &mut Costs) {
    let bench = Bench::new(&crowded()).await;
    let films: Vec<_> = (0..50).map(|number| format!("film{number}")).collect();
    let channels: Vec<_> = films.iter().map(|film| format!("UC{film}")).collect();
    let threads: Vec<_> = films.iter().map(|film| format!("c{film}")).collect();
    let replies: Vec<_> = threads.iter().map(|thread| format!("{thread}.r")).collect();
    let subscriptions: Vec<_> = films.iter().map(|film| format!("s{film}")).collect();
    let playlists: Vec<_> = films.iter().map(|film| format!("PL{film}")).collect();
    let long = "part=snippet,contentDetails&maxResults=50&playlistId=PLlong";
    let page = bench.service.list(&format!("/playlistItems?{long}")).await;
    let next = page["nextPageToken"].as_str().unwrap();
    let items = page["items"].as_array().unwrap().iter();
    let items: Vec<_> = items.map(|item| item["id"].as_str().unwrap()).collect();
    // The playlists that have items, and so a picture, are on the second page.
    let own = "part=snippet,contentDetails&mine=true&maxResults=50";
    let page = bench.service.list(&format!("/playlists?{own}")).await;
    let after = page["nextPageToken"].as_str().unwrap();
    for (name, query) in [
        ("videos.list", format!("part=snippet,statistics&id={}", films.join(","))),
        ("videos.list", "part=snippet,statistics&chart=mostPopular&maxResults=50".to_owned()),
        (
            "videos.list",
            "part=snippet,statistics&chart=mostPopular&maxResults=50&regionCode=DE".to_owned(),
        ),
        ("videos.list", "part=snippet&myRating=like&maxResults=50".to_owned()),
        ("playlistItems.list", long.to_owned()),
        ("playlistItems.list", format!("{long}&pageToken={next}")),
        ("playlistItems.list", "part=snippet&maxResults=50&playlistId=UUx".to_owned()),
        ("playlists.list", own.to_owned()),
        ("playlists.list", format!("{own}&pageToken={after}")),
        ("commentThreads.list", "part=snippet,replies&videoId=v&maxResults=50".to_owned()),
        (
            "commentThreads.list",
            "part=snippet,replies&videoId=v&maxResults=50&searchTerms=thread%20text".to_owned(),
        ),
        (
            "commentThreads.list",
            "part=snippet&allThreadsRelatedToChannelId=UCx&maxResults=50".to_owned(),
        ),
        (
            "commentThreads.list",
            "part=snippet&allThreadsRelatedToChannelId=UCx&maxResults=50&searchTerms=text".to_owned(),
        ),
        ("comments.list", "part=snippet&parentId=c&maxResults=50".to_owned()),
        ("commentThreads.list", format!("part=snippet,replies&id={}", threads.join(","))),
        ("comments.list", format!("part=snippet&id={}", replies.join(","))),
        ("playlists.list", format!("part=snippet,contentDetails&id={}", playlists.join(","))),
        ("playlistItems.list", format!("part=snippet&id={}", items.join(","))),
        ("videos.getRating", format!("id={}", films.join(","))),
        ("subscriptions.list", format!("part=snippet&id={}", subscriptions.join(","))),
        ("subscriptions.list", "part=snippet,contentDetails&mine=true&maxResults=50".to_owned()),
        (
            "subscriptions.list",
            "part=snippet,contentDetails&mine=true&maxResults=50&order=unread".to_owned(),
        ),
        (
            "subscriptions.list",
            format!(
                "part=snippet,contentDetails&mine=true&maxResults=50&forChannelId={}",
                channels.join(",")
            ),
        ),
        ("channels.list", format!("part=snippet,statistics&id={}", channels.join(","))),
        ("search.list", "part=snippet&q=film&maxResults=50".to_owned()),
        ("search.list", "part=snippet&q=film%20-clip&maxResults=50&order=title".to_owned()),
        ("search.list", "part=snippet&q=%22film%20film1%22|%22clip%20film2%22".to_owned()),
        ("search.list", "part=snippet&q=film1|film2|film3&type=channel,playlist".to_owned()),
        ("search.list", "part=snippet&q=film&type=video&videoCategoryId=22&regionCode=DE&safeSearch=strict".to_owned()),
        ("search.list", "part=snippet&maxResults=50".to_owned()),
        ("search.list", "part=snippet&maxResults=50&regionCode=DE&order=viewCount".to_owned()),
        ("search.list", "part=snippet&maxResults=50&type=channel&channelId=UCx&publishedAfter=2020-01-01T00:00:00Z".to_owned()),
        ("search.list", "part=snippet&maxResults=50&publishedAfter=2020-01-01T00:00:00Z".to_owned()),
        ("search.list", "part=snippet&maxResults=50&type=playlist&order=title".to_owned()),
        ("activities.list", "part=snippet,contentDetails&mine=true&maxResults=50".to_owned()),
        ("activities.list", "part=snippet,contentDetails&home=true&maxResults=50".to_owned()),
    ] {
        let row = OPERATIONS.iter().find(|row| row.name == name).unwrap();
        let target = format!("{}?{query}", row.path);
        for target in [target.clone(), format!("{target}&key=KEY")] {
            let is_own = ["mine=", "home=", "key=", "getRating", "&id=sfilm", "myRating="]
                .iter()
                .any(|name| target.contains(name));
            let who = if is_own { "ALICE" } else { "BOB" };
            let asked = bench.ask("GET", &target, who, "").await;
            // The chart of a region looks at each video first.
            let is_promised = WITHIN_THREE.iter().any(|query| target.contains(query))
                && !target.contains("regionCode");
            assert!(!is_promised || asked.1.reads <= 3, "{target}: {}", asked.1);
            costs.add(name, &target, &asked);
        }
    }
}

/// Uploads in one request.
async fn ask_uploads(costs: &mut Costs) {
    let bench = Bench::new(SEED).await;
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2048, 1152).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let (png, film) = (png.get_ref(), Mp4::new(1280, 720, 2_000).bytes());
    let related = |metadata: &str, kind: &str, media: &[u8]| {
        let head = format!("--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: {kind}\r\n\r\n");
        [head.as_bytes(), media, b"\r\n--b--"].concat()
    };
    let mark = json!({"timing": {"type": "offsetFromStart", "offsetMs": "0", "durationMs": "1000"},
        "position": {"type": "corner", "cornerPosition": "topLeft"}, "targetChannelId": "UCbob"});
    let track = json!({"snippet": {"videoId": "v", "language": "de", "name": "n"}});
    let text = b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n";
    for (name, target, kind, body) in [
        ("videos.insert", "/videos?part=snippet&uploadType=media", "video/mp4", film),
        ("thumbnails.set", "/thumbnails/set?videoId=v&uploadType=media", "image/png", png.clone()),
        (
            "channelBanners.insert",
            "/channelBanners/insert?uploadType=media",
            "image/png",
            png.clone(),
        ),
        (
            "watermarks.set",
            "/watermarks/set?channelId=UCx&uploadType=multipart",
            "multipart/related; boundary=b",
            related(&mark.to_string(), "image/png", png),
        ),
        (
            "captions.insert",
            "/captions?part=snippet&uploadType=multipart",
            "multipart/related; boundary=b",
            related(&track.to_string(), "*/*", text),
        ),
    ] {
        let target = format!("/upload{target}");
        let asked = bench.send("POST", &target, "ALICE", &[("content-type", kind)], &body).await;
        costs.add(name, &target, &asked);
    }
    let report = json!({"videoId": "v", "reasonId": "S"}).to_string();
    let asked = bench.ask("POST", "/videos/reportAbuse", "ALICE", &report).await;
    costs.add("videos.reportAbuse", "/videos/reportAbuse", &asked);
}

#[tokio::test]
async fn every_operation_costs_the_round_trips_that_stand_beside_it() {
    let mut costs = Costs::default();
    ask_each(&mut costs).await;
    ask_lists(&mut costs).await;
    ask_uploads(&mut costs).await;
    let Costs(costs, over) = costs;
    assert!(over.is_empty(), "{}", over.join("\n"));
    let names: BTreeSet<_> = OPERATIONS.iter().map(|row| row.name).collect();
    assert!(names.iter().eq(costs.keys()), "an operation was not asked for");
    let rows = OPERATIONS.iter().filter(|row| costs[row.name] != row.round_trips);
    let slack: Vec<_> = rows
        .map(|row| format!("{} {}, not {}", row.name, costs[row.name], row.round_trips))
        .collect();
    assert!(slack.is_empty(), "they cost less than stands in the table:\n{}", slack.join("\n"));
}

#[tokio::test]
async fn the_index_follows_a_video_in_three_commits_each_of_which_reads_once() {
    let bench = Bench::new(&crowded()).await;
    let search = "/search?part=id&q=renamed";
    let snippet =
        json!({"title": "Renamed", "description": "words ".repeat(20), "categoryId": "22"});
    let body = json!({"id": "film7", "snippet": snippet}).to_string();
    bench.ask("PUT", "/videos?part=snippet", "ALICE", &body).await;
    let (answer, first) = bench.ask("GET", search, "ALICE", "").await;
    assert_eq!(answer.json()["items"].as_array().map(Vec::len), Some(1));
    let (_, second) = bench.ask("GET", search, "ALICE", "").await;
    // What changed is looked for once more at the end.
    assert_eq!((first.reads - second.reads, first.commits), (3 + 1, 3));
}
