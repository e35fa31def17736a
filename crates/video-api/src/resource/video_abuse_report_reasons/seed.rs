//! The section of a seed file: reasons that stand in the place of the service's own.

use triptych_core::kv::Tx;

use super::{REASONS, REASONS_MAX, Reason};
use crate::api::error::Error;
use crate::record::json_fields::is_name;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "videoAbuseReportReasons", order: 90, fills_only: true, read }];

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    let reasons = reader.things::<Reason>()?;
    if reasons.len() > REASONS_MAX {
        let reason = format!("videoAbuseReportReasons: more than {REASONS_MAX} reasons");
        return Err(SeedError::Unreadable(reason));
    }
    for (at, (place, reason)) in (0_u16..).zip(reasons) {
        reader.names.take("reason", &reason.id, &place, ".id")?;
        for secondary in &reason.secondary_reasons {
            if secondary.id.is_empty() {
                let reason =
                    format!("{place}.secondaryReasons.id: this secondary reason has no name");
                return Err(SeedError::Unreadable(reason));
            }
            let name = format!("{}/{}", reason.id, secondary.id);
            reader.names.take("secondary reason", &name, &place, ".secondaryReasons.id")?;
        }
        reader.step(place, move |tx, _, _| put(tx, at, &reason));
    }
    Ok(())
}

fn put(tx: &mut Tx<'_>, at: u16, reason: &Reason) -> Result<bool, Error> {
    let labels = reason.secondary_reasons.iter().map(|secondary| &secondary.label);
    if ![&reason.label]
        .into_iter()
        .chain(labels)
        .all(|label| !label.trim().is_empty() && is_name(label))
    {
        return Err(Error::InvalidField { path: "label".into(), expected: "words on one line" });
    }
    if REASONS.get(tx, &at)?.is_some() {
        return Ok(false);
    }
    REASONS.put(tx, &at, reason);
    Ok(true)
}
