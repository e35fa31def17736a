//! video-api: lists of videos by their ids, which read and write nothing, and pages of other lists, whose round trips are counted.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use triptych_core::kv::PostgresServer;

use super::instances::{Busy, Instances};
use super::raw::Engines;
use super::{INSTANCES, Kind, counted, expense};
use crate::bench::load::{CONNECTIONS, Connection, rate};
use crate::bench::report::Row;
use crate::run::service::Service;
use crate::simulation::Cost;

/// Videos of the seed, each of a channel of its own, and those of a page.
const VIDEOS: usize = 200;
const PAGE: usize = 50;
const ONE: Kind = Kind {
    request: "video-api: videos.list of one id",
    engine: "reads of a row by as many readers",
    expected: None,
};
const MANY: Kind = Kind {
    request: "video-api: videos.list of 50 ids",
    engine: "reads of 50 rows by as many readers",
    expected: None,
};
const BASE: &str = "/youtube/v3";
const KEY: &str = "key=demo-key";

/// Rates of lists beside reads of as many rows, and round trips; the costs of a list of 50.
///
/// # Errors
/// If an instance does not start, or anything is refused.
pub(super) fn measure(database: &PostgresServer, at: &dyn Fn(&str)) -> Result<(Vec<Row>, Cost)> {
    let service = Service::find("video")?;
    let instances = Instances::start(service, &database.url(), &seed(), &[], INSTANCES)?;
    let engines = Engines::connect(&database.url(), "video_api", 1)?;
    let mut rows = Vec::new();
    for (kind, page) in [(ONE, 1), (MANY, PAGE)] {
        let (keys, targets) = (engines.keys(page)?, targets(page));
        let engine =
            |count| Busy::of(database, &instances, || engines.reads(count, CONNECTIONS, &keys));
        rows.extend(kind.measure(at, engine, |count, _| {
            let list = |address| rate(address, &targets);
            Busy::of(database, &instances, || instances.rate(count, list))
        })?);
    }
    at("round trips of video-api");
    let counted = round_trips(&instances)?;
    let of_list = counted.iter().find(|row| row.what.contains(&format!("of {PAGE} ids")));
    let round_trips_of_list = of_list.map_or(1.0, |row| row.value);
    rows.extend(counted);
    at("costs of video-api");
    let (first, targets) = (instances.first()?, targets(PAGE));
    let cost = expense::of(database, "video_api", &instances, round_trips_of_list, || {
        rate(first, &targets)
    })?;
    instances.stop()?;
    Ok((rows, cost))
}

fn film(number: usize) -> String {
    format!("film{number:07}")
}

/// Videos, each of an account of its own, to which one account subscribes.
fn seed() -> Value {
    let token = json!({ "token": "demo-token", "scopes": ["youtube", "youtube.force-ssl"] });
    let account = |id: &str, tokens: &[&Value]| {
        json!({ "id": id, "email": format!("{id}@example.com"), "tokens": tokens,
            "channel": { "id": format!("UC{id}"), "title": id } })
    };
    let films: Vec<_> = (0..VIDEOS).map(film).collect();
    let mut accounts: Vec<_> = films.iter().map(|id| account(id, &[])).collect();
    accounts.push(account("alice", &[&token]));
    let videos = films.iter().map(|id| {
        json!({ "id": id, "owner": id, "snippet": { "title": id, "description": "A film of the load.", "categoryId": "22" } })
    });
    let subscriptions = films.iter().take(PAGE).map(
        |id| json!({ "id": format!("s{id}"), "subscriber": "alice", "channel": format!("UC{id}") }),
    );
    json!({
        "projects": [{ "id": "demo", "apiKeys": ["demo-key"], "quota": "off" }],
        "accounts": accounts,
        "videos": videos.collect::<Vec<_>>(),
        "subscriptions": subscriptions.collect::<Vec<_>>(),
    })
}

/// Requests for pages of so many videos.
fn targets(page: usize) -> Vec<String> {
    let films: Vec<_> = (0..VIDEOS).map(film).collect();
    let pages = films.chunks(page).map(|ids| {
        let parts = "part=snippet,contentDetails,statistics,status";
        format!("{BASE}/videos?{KEY}&{parts}&id={}", ids.join(","))
    });
    pages.collect()
}

fn round_trips(instances: &Instances) -> Result<Vec<Row>> {
    let mut connection = Connection::to(instances.first()?)?;
    let mut body = Vec::new();
    let one = targets(1).into_iter().next().context("there is a video")?;
    let many = targets(PAGE).into_iter().next().context("there is a page")?;
    let list = |rest: &str| format!("{BASE}/{rest}&{KEY}&maxResults={PAGE}");
    let of_subscriptions = "part=snippet,contentDetails&channelId=UCalice";
    let mut rows = Vec::new();
    for (what, target) in [
        ("videos.list of one id", one),
        ("videos.list of 50 ids", many),
        ("videos.list, a chart of 50", list("videos?part=snippet&chart=mostPopular")),
        ("subscriptions.list of 50", list(&format!("subscriptions?{of_subscriptions}"))),
        ("search.list of 50", list("search?part=snippet&q=film")),
    ] {
        // The first search brings the index up to date.
        connection.get(&target, &mut body)?;
        rows.push(counted(&format!("video-api: {what}"), instances, |_| {
            connection.get(&target, &mut body)
        })?);
    }
    Ok(rows)
}
