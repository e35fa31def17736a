//! Subscriptions and activities of one channel: many of them beside few.

use std::path::Path;

use anyhow::Result;

use super::comments::channel_of;
use super::{BASE, FLAT, Filled, KEY, Size, TREE, address_of, filled, page_of, start};
use crate::bench::load::{Connection, rate};
use crate::bench::report::Row;
use crate::run::service::Service;

/// Subscriptions of the channel in the small store.
const FEW: u64 = 1_000;
/// The page that is to cost what the first one does, in the large store and in the small one.
const MANY_PAGE: usize = 10_000;
const FEW_PAGE: usize = 100;
/// Things of a page.
const PAGE_THINGS: usize = 5;

/// The lists, as documents name them, with what they list, and as they are asked for. Each subscription is an activity of the channel.
const LISTS: [(&str, &str, &str); 3] = [
    ("subscriptions.list", "subscriptions", "subscriptions?part=snippet"),
    (
        "subscriptions.list by title",
        "subscriptions",
        "subscriptions?part=snippet&order=alphabetical",
    ),
    ("activities.list", "activities", "activities?part=snippet,contentDetails"),
];

/// The cost of the lists of a channel with many subscriptions beside one with few.
pub(super) fn measure(service: &'static Service, folder: &Path, many: u64) -> Result<Vec<Row>> {
    let mut rates = Vec::new();
    for (subscriptions, page) in [(FEW, FEW_PAGE), (many, MANY_PAGE)] {
        let size = Size { videos: 0, channels: subscriptions + 1, threads: 0, subscriptions };
        let data = folder.join(format!("subscriptions-{subscriptions}"));
        let store = filled(service, &data, size, &mut Vec::new())?;
        rates.push(of(service, &store, size, page)?);
        std::fs::remove_dir_all(&store.data)?;
    }
    let [few, large] = rates.try_into().unwrap_or_default();
    let pages = ["page 1", "page 10,000"];
    let rates = few.into_iter().zip(large);
    let rows = LISTS.iter().zip(rates).flat_map(|((name, things, _), (few, large))| {
        pages.into_iter().zip(large.into_iter().zip(few)).map(move |(page, (value, of))| Row {
            what: format!("video-api: {name}, {page}, {many} {things} of one channel"),
            value,
            unit: "requests/s",
            limit: Some((format!("{FEW} {things}"), of)),
            expected: Some(FLAT),
        })
    });
    Ok(rows.collect())
}

/// Rates of the first page and a later one of each list.
fn of(
    service: &'static Service,
    store: &Filled,
    size: Size,
    page: usize,
) -> Result<[[f64; 2]; LISTS.len()]> {
    let server = start(service, &store.data, &TREE)?;
    let address = address_of(&server)?;
    let mut connection = Connection::to(address)?;
    let channel = channel_of(&mut connection, &format!("user-{}", size.channels - 1))?;
    let mut rates = [[0.0; 2]; LISTS.len()];
    for ((_, _, list), [first, later]) in LISTS.iter().zip(&mut rates) {
        let target = format!("{BASE}/{list}&{KEY}&channelId={channel}&maxResults={PAGE_THINGS}");
        *first = rate(address, std::slice::from_ref(&target))?;
        let page = page_of(&mut connection, &target, page)?;
        *later = rate(address, &[page])?;
    }
    server.stop()?;
    Ok(rates)
}
