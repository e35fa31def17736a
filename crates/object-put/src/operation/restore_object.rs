//! RestoreObject: an archived object can be read for a number of days.

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

/// A `RestoreRequest` document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RestoreRequest {
    days: u32,
    tier: Tier,
}

impl RestoreRequest {
    fn from_xml(body: &[u8]) -> Result<Self, Error> {
        let root = Element::parse(body, "RestoreRequest")?;
        if root.child("SelectParameters").is_some() || root.child("OutputLocation").is_some() {
            return Err(Error::OperationNotImplemented { operation: "RestoreObject with a query" });
        }
        let parameters = root.child("GlacierJobParameters");
        let tier = parameters.and_then(|own| own.text_of("Tier")).or_else(|| root.text_of("Tier"));
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

/// `RestoreObject`. The object can be read at once: its archive is no other place.
///
/// # Errors
/// `MalformedXml`; `InvalidArgument` for days that are none; those of [`find_unhidden`]; `NotArchived`; `InvalidArgument` for a tier that
/// the object's class does not have.
pub fn restore(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let request = RestoreRequest::from_xml(call.body)?;
    let found = find_unhidden(call, tx)?;
    let data = found.data()?;
    if !data.class.is_archived() {
        return Err(Error::NotArchived { class: data.class.name().to_owned() });
    }
    if data.class == StorageClass::DeepArchive && request.tier == Tier::Expedited {
        let reason = "Retrieval option is not supported by this storage class";
        return Err(Error::argument("Tier", Some("Expedited"), reason));
    }
    // One that can be read already is only told another end.
    let status = if data.is_readable(call.now) { 200 } else { 202 };
    change(call, tx, status, |data| {
        data.restored_until = Some(midnight_after(call.now, request.days));
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
        for inner in ["", "<Days/>", "<Days>x</Days>", "<Days>1</Days><Tier>Fast</Tier>"] {
            assert_eq!(read(inner), Err(Error::MalformedXml), "{inner}");
        }
        for days in ["0", "-1", "36501", "99999999999"] {
            let seen = read(&format!("<Days>{days}</Days>"));
            assert!(matches!(seen, Err(Error::InvalidArgument { .. })), "{days}");
        }
    }
}
