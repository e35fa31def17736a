//! The removal of all that hangs on a channel, and what it costs those who ask for something else meanwhile.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::{BASE, Filled, KEY, Size, TREE, address_of, items_of, start, text_at};
use crate::bench::load::{Connection, percentile_99};
use crate::bench::report::Row;
use crate::run::service::Service;

/// The time that answers are timed, before and during the removal.
const SPAN: Duration = Duration::from_secs(10);

/// Closes the account whose video has most comments. It is the last thing that is asked of a store.
pub(super) fn measure(service: &'static Service, store: &Filled, size: Size) -> Result<Row> {
    let server = start(service, &store.data, &TREE)?;
    let address = address_of(&server)?;
    let mut connection = Connection::to(address)?;
    let chart = format!("{BASE}/videos?{KEY}&chart=mostPopular&part=snippet&maxResults=50");
    let found = connection.json(&chart)?;
    let owner =
        connection.json(&format!("{BASE}/videos?{KEY}&part=snippet&id={}", store.busiest))?;
    let owner =
        text_at(items_of(&owner).next().context("the video is there")?, "/snippet/channelId")
            .to_owned();
    let others = items_of(&found).filter(|video| text_at(video, "/snippet/channelId") != owner);
    let targets: Vec<_> = others
        .map(|video| {
            let id = text_at(video, "/id");
            format!("{BASE}/videos?{KEY}&part=snippet,contentDetails,statistics,status&id={id}")
        })
        .collect();
    percentile_99(address, &targets, SPAN / 5)?;
    let before = percentile_99(address, &targets, SPAN)?;
    let account = json!({"account": format!("user-{}", size.channels - 1)}).to_string();
    let fields = "Content-Type: application/json\r\n";
    connection.post("/_ops/accounts/close", fields, account.as_bytes(), &mut Vec::new())?;
    let during = percentile_99(address, &targets, SPAN)?;
    server.stop()?;
    Ok(Row {
        what: format!(
            "video-api: 99th percentile of videos.list while {} threads are removed, as answers a second",
            size.threads
        ),
        value: 1.0 / during.as_secs_f64(),
        unit: "answers/s",
        limit: Some(("before that".to_owned(), 1.0 / before.as_secs_f64())),
        expected: Some(0.5),
    })
}
