//! The chart of public videos by their views.

use triptych_core::kv::{Plan, Table, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate;
use crate::api::response::Paging;
use crate::resource::video_categories;
use crate::resource::videos::record::Video;
use crate::resource::videos::render::LISTED_VIDEOS;
use crate::resource::videos::rules;

/// Public videos by category (`0` for all) and views, most first.
pub const CHART: Table<(String, u64, String), ()> = Table::new(0x23);

/// Puts a video into the chart.
pub(super) fn put(tx: &mut Tx<'_>, id: &str, head: &Video, views: u64) {
    for category in ["0", &head.category] {
        CHART.put(tx, &(category.to_owned(), !views, id.to_owned()), &());
    }
}

/// Takes a video out of the chart.
pub(super) fn remove(tx: &mut Tx<'_>, id: &str, head: &Video, views: u64) {
    for category in ["0", &head.category] {
        CHART.delete(tx, &(category.to_owned(), !views, id.to_owned()));
    }
}

/// A page of the chart, of what can be viewed in `region` if one is named.
pub(super) fn page(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    region: Option<&str>,
) -> Result<(Vec<String>, Paging), Error> {
    if call.params.get("chart") != Some("mostPopular") {
        return Err(Error::Rule(&rules::CHART_NOT_FOUND));
    }
    let category = call.params.get("videoCategoryId").unwrap_or("0");
    if category != "0"
        && !video_categories::CATEGORIES.iter().any(|(known, _, _)| *known == category)
    {
        return Err(Error::Rule(&rules::CHART_NOT_FOUND));
    }
    let size = call.page_size();
    let within = region.unwrap_or_default();
    let binding = Binding::of(&[call.operation.name, "chart", category, within]);
    let token = call.page_token(binding)?;
    let is_whole = region.is_none() && call.caller.closing.is_empty();
    let is_open = |tx: &mut Tx<'_>, (_, _, id): &(String, u64, String)| -> Result<bool, Error> {
        if is_whole {
            return Ok(true);
        }
        let video = LISTED_VIDEOS.peek_shared(tx, id)?;
        let Some(head) = video.as_ref().map(|video| &video.record.head) else {
            return Ok(false);
        };
        let is_closed = |region| head.regions.as_ref().is_some_and(|regions| regions.close(region));
        Ok(head.is_visible(call.caller) && !region.is_some_and(is_closed))
    };
    let plan = |plan: &mut Plan<'_>, (_, _, id): &(String, u64, String)| {
        if !is_whole {
            plan.row(&LISTED_VIDEOS, id);
        }
    };
    let start = category.to_owned();
    let wanted = paginate::Wanted { token: token.as_ref(), size, binding };
    // What the total costs does not grow with the videos: the real service's goes no further either.
    let (rows, total) = paginate::count_where(tx, &CHART, &start, wanted, plan, is_open)?;
    let paging = rows.paging(total, size);
    Ok((rows.keys.into_iter().map(|(_, _, video)| video).collect(), paging))
}
