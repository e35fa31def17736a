//! A record with the resource that it was shown as last: what is listed again and again is written once.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use triptych_core::kv::Record;

use crate::api::response::Item;

/// A record, and how it was shown last, which followed from it and from a `W`. `KEPT` is what that takes where it is more than three times
/// the record.
#[derive(Debug)]
pub struct RenderCache<R, W, const KEPT: usize = 0> {
    /// The record.
    pub record: R,
    last: Mutex<Option<(W, Arc<Item>)>>,
}

impl<R: Record, W, const KEPT: usize> Record for RenderCache<R, W, KEPT> {
    const FORMAT: u8 = R::FORMAT;
    const KEPT_BYTES: usize = KEPT;

    fn encode(&self, out: &mut Vec<u8>) {
        self.record.encode(out);
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        let record = R::decode(format, bytes)?;
        Some(Self { record, last: Mutex::default() })
    }
}

impl<R, W, const KEPT: usize> RenderCache<R, W, KEPT> {
    /// The resource as it was shown last, if `is_same` says that it would follow from the same; else as `show` makes it, with what it
    /// follows from.
    pub fn show(
        &self,
        is_same: impl FnOnce(&W) -> bool,
        show: impl FnOnce() -> (W, Item),
    ) -> Arc<Item> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((with, item)) = &*last
            && is_same(with)
        {
            return Arc::clone(item);
        }
        let (with, item) = show();
        let item = Arc::new(item.prerendered());
        *last = Some((with, Arc::clone(&item)));
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::response::Reply;

    #[test]
    fn what_follows_from_something_else_is_shown_anew() {
        let listed = RenderCache::<Bytes, u8>::decode(0, Bytes::from_static(b"a")).unwrap();
        let mut made = 0;
        let mut show = |with: u8| {
            let make = || {
                made += 1;
                (with, Item::begin("video", "e", Some(&with.to_string())).end())
            };
            let item = listed.show(|last| *last == with, make);
            (Reply::resource(&item).json, made)
        };
        let one = show(1);
        assert_eq!(show(1), one);
        let two = show(2);
        assert_ne!(two.0, one.0);
        assert_eq!((show(1).0, two.1), (one.0, 2));
    }
}
