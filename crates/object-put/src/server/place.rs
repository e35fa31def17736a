//! The place that a request names: a bucket, or an access point that stands in the place of one.

use std::sync::{Arc, PoisonError};

use triptych_core::kv::{KeyValue, StoreError, Tx};

use crate::auth::scope::ServiceScope;
use crate::error::Error;
use crate::operation::{Operation, access_point};
use crate::request::dialect::ALIAS_SUFFIX;
use crate::request::host::HostKind;
use crate::request::location::Location;
use crate::server::state::ObjectPut;
use crate::store::access_point::{AccessPoint, is_directory_point_name};
use crate::store::access_point_directory::{self, AccessPointDirectory};
use crate::store::tables::BUCKETS;

/// The place that a request names.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) location: &'p Location,
    /// The access point that stands in the place of its bucket.
    pub(super) point: Option<&'p AccessPoint>,
}

impl<'p> Place<'p> {
    /// The name of the bucket, behind an access point that of its own.
    pub(super) fn bucket(self) -> Option<&'p str> {
        self.point.map(|point| point.bucket.as_str()).or(self.location.bucket.as_deref())
    }
}

impl ObjectPut {
    /// The access points.
    fn access_points(&self) -> Arc<AccessPointDirectory> {
        Arc::clone(&self.0.access_points.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the access points as they are stored now.
    ///
    /// # Errors
    /// As reads of the store.
    pub(super) fn load_access_points(&self) -> Result<(), StoreError> {
        let points = AccessPointDirectory::load(&mut Tx::new(&*self.0.store))?;
        *self.0.access_points.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(points);
        Ok(())
    }

    /// Reads the access points anew where another instance, on a store that they share, has put others in their places. Tells whether it
    /// did.
    fn renew_access_points(&self, store: &dyn KeyValue) -> Result<bool, StoreError> {
        if store.is_local() {
            return Ok(false);
        }
        let stamp = access_point_directory::stamp(&mut Tx::new(store))?;
        let is_new = stamp != self.access_points().stamp();
        if is_new {
            self.load_access_points()?;
        }
        Ok(is_new)
    }

    /// The access point that stands in the place of a bucket: by alias, or in a host by name and account, to a directory bucket by its name
    /// alone.
    ///
    /// # Errors
    /// As reads of the store.
    pub(super) fn find_point(
        &self,
        store: &dyn KeyValue,
        location: &Location,
    ) -> Result<Option<Arc<AccessPoint>>, Error> {
        let Some(name) = location.bucket.as_deref() else {
            return Ok(None);
        };
        if self.point_at(name, location).is_none() {
            return Ok(None);
        }
        let is_shared = shares_names(location);
        let mut tx = Tx::new(store);
        tx.plan(|plan| {
            access_point_directory::plan_stamp(plan);
            if is_shared {
                plan.row(&BUCKETS, &name.to_owned());
            }
        })?;
        // Where both are served, a bucket comes before an access point.
        if is_shared && BUCKETS.peek(&mut tx, &name.to_owned())?.is_some() {
            return Ok(None);
        }
        self.renew_access_points(store)?;
        Ok(self.point_at(name, location))
    }

    /// The access point in the place of a bucket, and what `see` finds out about the place. That brings along whether there are other access
    /// points by now, so that one which another instance has made is found without a read of its own.
    ///
    /// # Errors
    /// Those of `see`; as reads of the store.
    pub(super) fn see_place<T>(
        &self,
        store: &dyn KeyValue,
        location: &Location,
        see: impl Fn(Place<'_>) -> Result<T, Error>,
    ) -> Result<(Option<Arc<AccessPoint>>, T), Error> {
        let found = self.find_point(store, location)?;
        let seen = see(Place { location, point: found.as_deref() });
        if found.is_some() || location.bucket.is_none() || !self.renew_access_points(store)? {
            return Ok((found, seen?));
        }
        match self.find_point(store, location)? {
            Some(new) => {
                let seen = see(Place { location, point: Some(&new) })?;
                Ok((Some(new), seen))
            }
            None => Ok((None, seen?)),
        }
    }

    /// The access point that a name stands for at a host, of those that this instance knows.
    fn point_at(&self, name: &str, location: &Location) -> Option<Arc<AccessPoint>> {
        let points = self.access_points();
        // Each kind of host has its own; a base host has all.
        let fits = |point: &Arc<AccessPoint>| match location.host {
            Some(HostKind::Base) => true,
            Some(HostKind::OnPremises) => point.deployment.is_some(),
            Some(HostKind::AccessPoint) => point.deployment.is_none() && !point.is_directory(),
            None | Some(HostKind::Zonal) => point.is_directory(),
            Some(HostKind::Website) => false,
        };
        let aliased = points.by_alias(name).filter(|_| shares_names(location));
        aliased.or_else(|| points.by_label(name).filter(fits))
    }

    /// The scope that the credentials of a request must have.
    pub(super) fn scope(
        &self,
        location: &Location,
        point: Option<&AccessPoint>,
    ) -> ServiceScope<'_> {
        let on_premises = location.host == Some(HostKind::OnPremises)
            || point.is_some_and(|point| point.deployment.is_some());
        ServiceScope { region: &self.0.settings.region, on_premises }
    }
}

/// Leads a request through the access point that was found in the place of its bucket.
///
/// # Errors
/// [`Error::NoSuchAccessPoint`] where nothing else can stand, [`Error::MethodNotAllowed`].
pub(super) fn lead(
    operation: &'static Operation,
    mut location: Location,
    found: Option<Arc<AccessPoint>>,
) -> Result<(Location, Option<Arc<AccessPoint>>), Error> {
    if let Some(point) = found {
        access_point::check(operation, &point)?;
        location.is_aliased = point.alias.is_some() && location.bucket == point.alias;
        location.bucket = Some(point.bucket.clone());
        return Ok((location, Some(point)));
    }
    let name = location.bucket.as_deref().unwrap_or_default();
    let is_of_directories = is_directory_point_name(name);
    let is_own = match location.host {
        Some(HostKind::AccessPoint | HostKind::OnPremises) => true,
        Some(HostKind::Zonal) => is_of_directories,
        // Who would make a bucket of a name that none can have is told so.
        Some(HostKind::Base) | None => {
            (name.ends_with(ALIAS_SUFFIX) || is_of_directories) && operation.name != "CreateBucket"
        }
        Some(HostKind::Website) => false,
    };
    match is_own {
        true => Err(Error::NoSuchAccessPoint { name: name.to_owned() }),
        false => Ok((location, None)),
    }
}

/// Tells whether buckets and access points are named alike at the host of a place.
const fn shares_names(location: &Location) -> bool {
    matches!(location.host, None | Some(HostKind::Base))
}
