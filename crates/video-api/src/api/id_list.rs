//! Pages of what is found at once: by a list of ids, or as the few entries of one video.

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::response::Paging;

/// A page of what the ids of a request found: all of it, or `maxResults` at a time where the request says how many. The default of that
/// parameter cuts nothing off, for a client that names its ids knows how many they are.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(crate) fn page<T>(call: &Call<'_>, found: Vec<T>) -> Result<(Vec<T>, Paging), Error> {
    let mut names = vec![call.operation.name];
    names.extend(call.params.list("id").iter().map(String::as_str));
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

/// The page that a request asks for of things that are all at hand, `size` at a time.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(crate) fn slice<T>(
    call: &Call<'_>,
    found: Vec<T>,
    size: u32,
    binding: Binding,
) -> Result<(Vec<T>, Paging), Error> {
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let (start, end) = match call.page_token(binding)? {
        None => (0, size),
        Some(PageToken { direction: Direction::Next, position, .. }) => {
            (position, position.saturating_add(size))
        }
        // It ends where the page after it began, also where that one was smaller.
        Some(PageToken { position, .. }) => (position.saturating_sub(size), position),
    };
    let end = end.min(total);
    let print = |direction, position| PageToken::print(direction, position, &[], binding);
    let paging = Paging {
        next: (size > 0 && end < total).then(|| print(Direction::Next, end)),
        previous: (size > 0 && start > 0).then(|| print(Direction::Previous, start)),
        total: total.into(),
        size,
    };
    let page = found.into_iter().take(end as usize).skip(start as usize);
    Ok((page.collect(), paging))
}
