//! All access points, by the names under which requests come.

use std::collections::HashMap;
use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, StoreError, Tx};

use crate::store::access_point::{AccessPoint, AccessPointStamp};
use crate::store::tables::{ACCESS_POINT_STAMP, ACCESS_POINTS};

/// The most access points that are looked at.
pub const COUNT_MAX: usize = 1_000;

/// Plans the row of the stamp.
pub fn plan_stamp(plan: &mut Plan<'_>) {
    plan.row(&ACCESS_POINT_STAMP, &());
}

/// The stamp of the store; none where no access point was put since there are stamps, and where it was damaged: that is no reason to
/// refuse whoever asks for a bucket.
///
/// # Errors
/// As reads of the store.
pub fn stamp(tx: &mut Tx<'_>) -> Result<Option<AccessPointStamp>, StoreError> {
    match ACCESS_POINT_STAMP.peek(tx, &()) {
        Err(StoreError::Corrupt(_)) => Ok(None),
        found => found,
    }
}

/// Stamps the access points anew, which whoever puts one does.
pub fn renew_stamp(tx: &mut Tx<'_>, ids: &mut dyn Ids) {
    ACCESS_POINT_STAMP.put(tx, &(), &AccessPointStamp(ids.next()));
}

/// All access points, by the names under which requests come.
#[derive(Debug, Default)]
pub struct AccessPointDirectory {
    by_alias: HashMap<String, Arc<AccessPoint>>,
    by_label: HashMap<String, Arc<AccessPoint>>,
    stamp: Option<AccessPointStamp>,
}

impl AccessPointDirectory {
    /// Those of the store.
    ///
    /// # Errors
    /// As reads of the store.
    pub fn load(tx: &mut Tx<'_>) -> Result<Self, StoreError> {
        // Before the rows, so that what is put in between is read again.
        let mut own = Self { stamp: stamp(tx)?, ..Self::default() };
        let (rows, _) = ACCESS_POINTS.scan(tx, &ACCESS_POINTS.span(&()), COUNT_MAX)?;
        for (_, point) in rows {
            let point = Arc::new(point);
            // Of two with one name, which no seed file has, the first stays.
            own.by_label.entry(point.label()).or_insert_with(|| Arc::clone(&point));
            if let Some(alias) = &point.alias {
                own.by_alias.insert(alias.clone(), Arc::clone(&point));
            }
        }
        Ok(own)
    }

    /// Their stamp as they were read.
    #[must_use]
    pub const fn stamp(&self) -> Option<AccessPointStamp> {
        self.stamp
    }

    /// The access point with this alias.
    #[must_use]
    pub fn by_alias(&self, alias: &str) -> Option<Arc<AccessPoint>> {
        self.by_alias.get(alias).map(Arc::clone)
    }

    /// The access point that a host names: its name, a hyphen, its account; to a directory bucket its name alone.
    #[must_use]
    pub fn by_label(&self, label: &str) -> Option<Arc<AccessPoint>> {
        self.by_label.get(label).map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::Memory;

    #[test]
    fn access_points_that_are_put_get_another_stamp_and_one_that_was_damaged_is_none() {
        let (memory, mut ids) = (Memory::new(), SeededIds::from_number(1));
        let mut tx = Tx::new(&memory);
        assert_eq!(stamp(&mut tx), Ok(None));
        renew_stamp(&mut tx, &mut ids);
        let first = stamp(&mut tx).unwrap();
        renew_stamp(&mut tx, &mut ids);
        let second = stamp(&mut tx).unwrap();
        assert!(first.is_some() && second.is_some() && first != second, "{first:?} {second:?}");
        assert_eq!(AccessPointDirectory::load(&mut tx).unwrap().stamp(), second);
        tx.put(ACCESS_POINT_STAMP.key(&()), Bytes::from_static(b"damaged"));
        assert_eq!(stamp(&mut tx), Ok(None));
        assert_eq!(AccessPointDirectory::load(&mut tx).unwrap().stamp(), None);
    }
}
