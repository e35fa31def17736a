//! Comments: the threads of a busy video beside a bare server, the same with many more threads, and many who write at once.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{
    BASE, FLAT, Filled, KEY, TREE, address_of, beside, items_of, never_asked, next_page, page_of,
    start, start_with,
};
use crate::bench::load::{Connection, rate, rate_of};
use crate::bench::report::Row;
use crate::run::service::Service;

/// Threads of the busiest video in the small store.
pub(super) const FEW: u64 = 1_000;
/// The page that is to cost what the first one does, in the large store and in the small one.
pub(super) const MANY_PAGE: usize = 10_000;
pub(super) const FEW_PAGE: usize = 25;
/// Threads of a page.
const PAGE_THREADS: usize = 20;
/// Pages that are asked for where none is to be asked for twice.
const PAGES: usize = 40;
/// Words that are searched for: as many in a small store, which has no more, as in a large one. More of them would outgrow what is kept of answers in
/// the one alone.
const SEARCHES: usize = 50;
/// Accounts that write at once.
const WRITERS: usize = 16;

/// Requests a second of each kind.
pub(super) struct Rates {
    first_page: f64,
    later_page: f64,
    search: f64,
    /// A search that was never asked for before.
    new_search: f64,
}

/// Requests for the threads of a video.
struct Targets {
    /// A page each, from the first one on.
    pages: Vec<String>,
    /// Searches for a word each, that find as many threads in any store.
    searches: Vec<String>,
}

impl Targets {
    /// The first pages, as a client finds them.
    fn find(connection: &mut Connection, video: &str) -> Result<Self> {
        let list = format!("{BASE}/commentThreads?{KEY}&videoId={video}&maxResults={PAGE_THREADS}");
        let threads = format!("{list}&part=snippet,replies");
        let mut pages = vec![threads.clone()];
        let mut words = Vec::new();
        while pages.len() < PAGES {
            let found = connection.json(pages.last().unwrap_or(&threads))?;
            for word in items_of(&found).filter_map(series) {
                if words.len() < SEARCHES && !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
            pages.push(format!("{threads}{}", next_page(&found)?));
        }
        let search = |word: String| format!("{list}&part=snippet&searchTerms={word}");
        Ok(Self { pages, searches: words.into_iter().map(search).collect() })
    }

    fn first(&self) -> Result<&String> {
        self.pages.first().context("there is a first page")
    }
}

/// Rates of the threads of the busiest video of a store.
pub(super) fn measure(service: &'static Service, store: &Filled, page: usize) -> Result<Rates> {
    let server = start(service, &store.data, &TREE)?;
    let address = address_of(&server)?;
    let mut connection = Connection::to(address)?;
    let targets = Targets::find(&mut connection, &store.busiest)?;
    let first = targets.first()?;
    let later_page = page_of(&mut connection, first, page)?;
    let rates = Rates {
        first_page: rate(address, std::slice::from_ref(first))?,
        later_page: rate(address, std::slice::from_ref(&later_page))?,
        search: rate(address, &targets.searches)?,
        new_search: rate(address, &never_asked(&targets.searches))?,
    };
    server.stop()?;
    Ok(rates)
}

/// Asks for the first pages of the threads of a video, and searches them.
pub(super) fn look_through(address: SocketAddr, video: &str) -> Result<()> {
    let targets = Targets::find(&mut Connection::to(address)?, video)?;
    rate(address, &targets.pages)?;
    rate(address, &targets.searches)?;
    Ok(())
}

/// The threads of a video beside a bare server that answers the same.
pub(super) fn beside_bare(address: SocketAddr, video: &str) -> Result<Vec<Row>> {
    let targets = Targets::find(&mut Connection::to(address)?, video)?;
    let hot = std::slice::from_ref(targets.first()?);
    Ok(vec![
        beside(address, "commentThreads.list of 20 with replies", hot, 0.3)?,
        beside(
            address,
            "commentThreads.list of 20 with replies for the first time",
            &never_asked(&targets.pages),
            0.1,
        )?,
    ])
}

/// The word that a text ends in: as many threads have it in a large store as in a small one.
fn series(thread: &Value) -> Option<&str> {
    let text = thread.pointer("/snippet/topLevelComment/snippet/textDisplay")?.as_str()?;
    text.split_whitespace().next_back()
}

/// The cost of many threads beside few.
pub(super) fn scaled(few: &Rates, many: &Rates, threads: u64) -> Vec<Row> {
    let row = |what: &str, value: f64, of: f64| Row {
        what: format!("video-api: {what}, {threads} threads of one video"),
        value,
        unit: "requests/s",
        limit: Some((format!("{FEW} threads"), of)),
        expected: Some(FLAT),
    };
    vec![
        row("commentThreads.list, page 1", many.first_page, few.first_page),
        row("commentThreads.list, page 10,000", many.later_page, few.later_page),
        row("commentThreads.list with searchTerms", many.search, few.search),
        row(
            "commentThreads.list with searchTerms for the first time",
            many.new_search,
            few.new_search,
        ),
    ]
}

/// The rate at which many accounts comment on one video, beside that on a video each.
pub(super) fn writers(service: &'static Service, data: &Path) -> Result<Row> {
    let seed = data.with_extension("seed.json");
    std::fs::write(&seed, serde_json::to_vec(&seed_of_writers())?)?;
    let server = start_with(service, data, seed, &[])?;
    let address = address_of(&server)?;
    let rate_on = |video: fn(usize) -> usize| {
        let clients = (0..WRITERS).map(|writer| {
            let fields = format!(
                "Authorization: Bearer writer-{writer}\r\nContent-Type: application/json\r\n"
            );
            let comment = json!({"snippet": {
                "videoId": format!("video-{}", video(writer)),
                "topLevelComment": {"snippet": {"textOriginal": "one of very many"}},
            }});
            let sent = comment.to_string();
            move |connection: &mut Connection, body: &mut Vec<u8>| {
                let target = format!("{BASE}/commentThreads?part=snippet");
                connection.post(&target, &fields, sent.as_bytes(), body)
            }
        });
        rate_of(address, clients)
    };
    let (mut one, mut each) = (0.0, 0.0);
    // Turn about, so that both meet the same machine.
    for _ in 0..2 {
        each += rate_on(|writer| writer)? / 2.0;
        one += rate_on(|_| 0)? / 2.0;
    }
    server.stop()?;
    Ok(Row {
        what: format!("video-api: {WRITERS} accounts that comment on one video"),
        value: one,
        unit: "comments/s",
        limit: Some((format!("on {WRITERS} videos"), each)),
        expected: Some(0.5),
    })
}

fn seed_of_writers() -> Value {
    let writer = |number: usize| {
        json!({
            "id": format!("writer-{number}"),
            "tokens": [{"token": format!("writer-{number}"), "scopes": ["youtube.force-ssl"]}],
            "channel": {"id": format!("UCwriter{number:016}"), "title": format!("Writer {number}")},
        })
    };
    let video = |number: usize| {
        json!({
            "id": format!("video-{number}"),
            "owner": "writer-0",
            "snippet": {"title": format!("Video {number}"), "categoryId": "22"},
        })
    };
    json!({
        "projects": [{"id": "bench", "apiKeys": ["demo-key"], "quota": "off"}],
        "accounts": (0..WRITERS).map(writer).collect::<Vec<_>>(),
        "videos": (0..WRITERS).map(video).collect::<Vec<_>>(),
    })
}

/// The channel of an account that was generated.
pub(super) fn channel_of(connection: &mut Connection, account: &str) -> Result<String> {
    let found = connection.json(&format!("/_ops/accounts?id={account}"))?;
    let channel = found.pointer("/accounts/0/channel").and_then(Value::as_str);
    channel.map(str::to_owned).with_context(|| format!("{account} has a channel"))
}
