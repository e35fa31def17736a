//! Pages of what is found at once: by a list of ids, or as the few entries of one video. A token of theirs carries the rank of the last thing
//! that was shown, and no place: what is deleted meanwhile moves nothing.

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::response::Paging;

/// A thing of a list, and its rank there: no two have the same, and what a list holds later has a greater one.
pub(crate) type Ranked<T> = (Vec<u8>, T);

/// The rank of what a list names at a place.
pub(crate) fn rank_at(place: usize) -> Vec<u8> {
    u32::try_from(place).unwrap_or(u32::MAX).to_be_bytes().to_vec()
}

/// A page of what the ids of a request found, each with the [rank](rank_at) of its id: all of it, or `maxResults` at a time where the request
/// says how many. The default of that parameter cuts nothing off, for a client that names its ids knows how many they are.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(crate) fn page<T>(call: &Call<'_>, found: Vec<Ranked<T>>) -> Result<(Vec<T>, Paging), Error> {
    let mut names = vec![call.operation.name];
    names.extend(call.params.list("id").iter().map(String::as_str));
    // The one parameter that narrows a list by ids.
    names.extend(["", call.given("forChannelId").unwrap_or_default()]);
    let binding = Binding::of(&names);
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let size =
        if call.params.has("maxResults") { call.page_size() } else { call.page_size().max(total) };
    slice(call, found, size, binding)
}

/// Refuses a page of a list by ids that is always whole.
///
/// # Errors
/// [`Error::IncompatibleParameters`].
pub(crate) fn expect_whole(call: &Call<'_>) -> Result<(), Error> {
    if call.params.has("pageToken") {
        return Err(Error::IncompatibleParameters("id, pageToken".into()));
    }
    Ok(())
}

/// The words of the envelope about a list by ids that is always whole: clients send `maxResults` with ids as a matter of habit, and the
/// real service lets that pass.
pub(crate) fn whole<T>(call: &Call<'_>, found: &[T]) -> Paging {
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    Paging { total: total.into(), size: call.page_size().max(total), ..Paging::default() }
}

/// The page that a request asks for of things that are all at hand in the order of their ranks, `size` at a time. It begins behind the last
/// thing of the page before it, whatever came or went since, and ends before the first one of the page after it.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(crate) fn slice<T>(
    call: &Call<'_>,
    found: Vec<Ranked<T>>,
    size: u32,
    binding: Binding,
) -> Result<(Vec<T>, Paging), Error> {
    debug_assert!(found.is_sorted_by(|one, other| one.0 < other.0), "the ranks are in order");
    let (total, size_of_page) = (found.len(), usize::try_from(size).unwrap_or(usize::MAX));
    let (start, end) = match call.page_token(binding)? {
        None => (0, size_of_page),
        Some(PageToken { direction: Direction::Next, key, .. }) => {
            let start = found.partition_point(|(rank, _)| *rank <= key);
            (start, start.saturating_add(size_of_page))
        }
        Some(PageToken { key, .. }) => {
            let end = found.partition_point(|(rank, _)| *rank < key);
            (end.saturating_sub(size_of_page), end)
        }
    };
    let end = end.min(total);
    let print = |direction, at: usize| {
        let (rank, _) = found.get(at)?;
        // Nobody reads a place from a token that holds a rank.
        Some(PageToken::print(direction, 0, rank, binding))
    };
    let has_page = start < end;
    let next = (has_page && end < total).then(|| print(Direction::Next, end - 1));
    let previous = (has_page && start > 0).then(|| print(Direction::Previous, start));
    let paging =
        Paging { next: next.flatten(), previous: previous.flatten(), total: total as u64, size };
    let page = found.into_iter().take(end).skip(start);
    Ok((page.map(|(_, thing)| thing).collect(), paging))
}
