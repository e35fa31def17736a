//! A list of subscriptions that belongs to one channel: what its tokens are bound to, its pages from the rows of its order, and its total.

use triptych_core::kv::{Key, Record, Table, Tx};

use super::record::{PUBLISHER_COUNT, Parties, SUBSCRIPTIONS, Subscription};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate;
use crate::api::response::Paging;
use crate::record::counter;

/// The subscriptions of a page.
pub(super) type Page = (Vec<Parties>, Paging);

/// A list that belongs to one channel, in an order.
pub(super) struct Side<'s> {
    pub(super) channel: &'s str,
    /// The filter that names the list.
    pub(super) list: &'static str,
    pub(super) order: &'s str,
}

impl Side<'_> {
    /// A page of the channels on the other side, from a table of them in this order.
    ///
    /// # Errors
    /// [`Error::InvalidPageToken`].
    pub(super) fn read<K: Key, V: Record>(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        table: &Table<K, V>,
        other: impl Fn(K) -> String,
    ) -> Result<(Vec<String>, Paging), Error> {
        let binding = self.binding(call);
        let (token, size) = (call.page_token(binding)?, call.page_size());
        let start = self.channel.to_owned();
        let wanted = paginate::Wanted { token: token.as_ref(), size, binding };
        let rows = paginate::read(tx, table, &start, wanted)?;
        let paging = rows.paging(0, size);
        Ok((rows.keys.into_iter().map(other).collect(), paging))
    }

    /// The bond of the tokens of the list.
    pub(super) fn binding(&self, call: &Call<'_>) -> Binding {
        let only = call.given("forChannelId").unwrap_or_default();
        Binding::of(&[call.operation.name, self.list, self.channel, self.order, only])
    }

    /// The subscription of the channel to another one.
    pub(super) fn parties(&self, publisher: String) -> Parties {
        Parties { subscriber: self.channel.to_owned(), publisher }
    }

    /// The same of those that the channel subscribes to, as subscriptions with the total.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn finish(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        publishers: Vec<String>,
        paging: Paging,
    ) -> Result<Page, Error> {
        let found = publishers.into_iter().map(|publisher| self.parties(publisher)).collect();
        self.counted(call, tx, found, paging)
    }

    /// A page of what the channel subscribes to, with the total.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn counted(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        found: Vec<Parties>,
        mut paging: Paging,
    ) -> Result<Page, Error> {
        let total = counter::of(tx, &PUBLISHER_COUNT, &self.channel.to_owned())?;
        let of = |publisher| self.parties(publisher);
        paging.total = total.saturating_sub(closing(call, tx, of, |_| true)?);
        Ok((found, paging))
    }
}

/// Number of the subscriptions of a list whose other side is closing: their rows may be there, and nobody is shown them.
///
/// # Errors
/// As the store.
pub(super) fn closing(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    of: impl Fn(String) -> Parties,
    is_listed: impl Fn(&Subscription) -> bool,
) -> Result<u64, Error> {
    let mut count = 0;
    for channel in call.caller.closing.iter() {
        let found = SUBSCRIPTIONS.peek(tx, &of(channel.to_owned()).key())?;
        count += u64::from(found.is_some_and(|found| is_listed(&found)));
    }
    Ok(count)
}

/// The bytes of a rank, in its order.
pub(super) fn rank_of(rank: &impl Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    rank.write(&mut bytes);
    bytes
}
