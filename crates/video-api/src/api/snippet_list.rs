//! Lists of rows that have an id and a snippet and nothing else.

use crate::api::operation::call::Call;
use crate::api::response::{Item, List, Reply, etag};

/// The reply that lists these rows, each an id and a snippet as text.
pub(crate) fn reply<'r>(
    call: &Call<'_>,
    kind: &'static str,
    list_kind: &'static str,
    rows: impl Iterator<Item = (&'r str, String)>,
) -> Reply {
    let mut list = List::new(list_kind);
    for (id, snippet) in rows {
        let mut item = Item::begin(kind, &etag(snippet.as_bytes()), Some(id));
        if call.wants("snippet") {
            item.part("snippet", snippet.as_bytes());
        }
        list.push(&item.end());
    }
    list.end(None)
}
