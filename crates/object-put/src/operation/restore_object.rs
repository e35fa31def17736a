//! RestoreObject: an archived object can be read for a number of days, once the time has passed that fetching it takes.

use std::time::Duration;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::get_object::find_unhidden;
use crate::operation::object_config::change;
use crate::operation::{Call, Reply};
use crate::request::xml::Element;
use crate::store::lifecycle::midnight_after;
use crate::store::version::StorageClass;

/// The most days of a restoration: a hundred years.
const DAYS_MAX: u32 = 36_500;

/// The speed at which an object is fetched from its archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tier {
    Expedited,
    #[default]
    Standard,
    Bulk,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

impl Tier {
    /// The longest that a restoration usually takes; `None` where the class does not have the tier.
    const fn usual_time(self, is_deep: bool) -> Option<Duration> {
        let seconds = match (self, is_deep) {
            (Self::Expedited, false) => 5 * MINUTE,
            (Self::Expedited, true) => return None,
            (Self::Standard, false) => 5 * HOUR,
            (Self::Bulk, false) | (Self::Standard, true) => 12 * HOUR,
            (Self::Bulk, true) => 48 * HOUR,
        };
        Some(Duration::from_secs(seconds))
    }
}

/// A `RestoreRequest` document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RestoreRequest {
    days: u32,
    tier: Tier,
}

impl RestoreRequest {
    fn from_xml(body: &[u8]) -> Result<Self, Error> {
        const OF_QUERIES: [&str; 3] = ["Type", "SelectParameters", "OutputLocation"];
        let root = Element::parse(body, "RestoreRequest")?;
        if OF_QUERIES.iter().any(|name| root.child(name).is_some()) {
            return Err(Error::OperationNotImplemented { operation: "RestoreObject with a query" });
        }
        root.has_only(&["Days", "GlacierJobParameters", "Tier", "Description"], &[])?;
        let tier = match root.child("GlacierJobParameters") {
            None => root.text_of("Tier"),
            Some(own) => {
                own.has_only(&["Tier"], &[])?;
                Some(own.required("Tier")?)
            }
        };
        let tier = match tier {
            None => Tier::default(),
            Some("Standard") => Tier::Standard,
            Some("Bulk") => Tier::Bulk,
            Some("Expedited") => Tier::Expedited,
            Some(_) => return Err(Error::MalformedXml),
        };
        let text = root.required("Days")?;
        let days: i64 = text.parse().map_err(|_| Error::MalformedXml)?;
        let days = u32::try_from(days).ok().filter(|days| (1..=DAYS_MAX).contains(days));
        let days = days.ok_or_else(|| {
            let reason = match text.starts_with('-') || text.trim_start_matches('0').is_empty() {
                true => "restoration days should be at least 1",
                false => "restoration days should be at most 36500",
            };
            Error::argument("Days", Some(text), reason)
        })?;
        Ok(Self { days, tier })
    }
}

/// `RestoreObject`. One that is restored already is only told another end.
///
/// # Errors
/// `MalformedXml`; `InvalidArgument` for days that are none; those of [`find_unhidden`]; `NotArchived`; `InvalidArgument` for a tier that
/// the object's class does not have; `RestoreAlreadyInProgress`.
pub fn restore(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let request = RestoreRequest::from_xml(call.body)?;
    let found = find_unhidden(call, tx)?;
    let data = found.data()?;
    if !data.class.is_archived() {
        return Err(Error::NotArchived { class: data.class.name().to_owned() });
    }
    let Some(time) = request.tier.usual_time(data.class == StorageClass::DeepArchive) else {
        let reason = "Retrieval option is not supported by this storage class";
        return Err(Error::argument("Tier", Some("Expedited"), reason));
    };
    if data.is_being_restored(call.now) {
        return Err(Error::RestoreAlreadyInProgress);
    }
    let (status, done) = match data.is_readable(call.now) {
        true => (200, call.now),
        false => (202, call.now.plus(time / call.settings.restore_speed.get())),
    };
    change(call, tx, status, |data| {
        data.restored_from = Some(done);
        data.restored_until = Some(midnight_after(done, request.days));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inner: &str) -> Result<RestoreRequest, Error> {
        RestoreRequest::from_xml(format!("<RestoreRequest>{inner}</RestoreRequest>").as_bytes())
    }

    #[test]
    fn a_request_names_days_and_perhaps_a_tier() {
        assert_eq!(read("<Days>2</Days>"), Ok(RestoreRequest { days: 2, tier: Tier::Standard }));
        for tier in
            ["<GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters>", "<Tier>Bulk</Tier>"]
        {
            let expected = RestoreRequest { days: 1, tier: Tier::Bulk };
            assert_eq!(read(&format!("<Days>1</Days>{tier}")), Ok(expected));
        }
        for inner in [
            "",
            "<Days/>",
            "<Days>x</Days>",
            "<Days>1</Days><Tier>Fast</Tier>",
            "<Days>1</Days><Days>2</Days>",
            "<Days>1</Days><GlacierJobParameters/>",
            "<Days>1</Days><Other/>",
        ] {
            assert_eq!(read(inner), Err(Error::MalformedXml), "{inner}");
        }
        for days in ["0", "-1", "36501", "99999999999"] {
            let seen = read(&format!("<Days>{days}</Days>"));
            assert!(matches!(seen, Err(Error::InvalidArgument { .. })), "{days}");
        }
    }
}
