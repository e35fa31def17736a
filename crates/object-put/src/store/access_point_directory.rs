//! All access points, by the names under which requests come.

use std::collections::HashMap;
use std::sync::Arc;

use triptych_core::kv::{StoreError, Tx};

use crate::store::access_point::AccessPoint;
use crate::store::tables::ACCESS_POINTS;

/// The most access points that are looked at.
pub const COUNT_MAX: usize = 1_000;

/// All access points, by the names under which requests come.
#[derive(Debug, Default)]
pub struct AccessPointDirectory {
    by_alias: HashMap<String, Arc<AccessPoint>>,
    by_label: HashMap<String, Arc<AccessPoint>>,
}

impl AccessPointDirectory {
    /// Those of the store.
    ///
    /// # Errors
    /// As reads of the store.
    pub fn load(tx: &mut Tx<'_>) -> Result<Self, StoreError> {
        let (rows, _) = ACCESS_POINTS.scan(tx, &ACCESS_POINTS.span(&()), COUNT_MAX)?;
        let mut own = Self::default();
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
