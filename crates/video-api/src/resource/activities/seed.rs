//! The section of a seed file: activities that no operation makes.

use super::announcement::{self, Announcement};
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "activities", order: 110, fills_only: true, read }];

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<Announcement>()? {
        reader.step(place, move |tx, now, ids| {
            announcement::make(tx, ids, &seed, now)?;
            Ok(true)
        });
    }
    Ok(())
}
