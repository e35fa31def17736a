//! Quota: what the requests of a project cost, in the two models that the real service had, reset at midnight Pacific Time.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::operation::Operation;
use crate::record::table_entry::{Form, TableEntry};

/// Projects by their id.
pub const PROJECTS: Table<String, Project> = Table::new(0x04);

/// Use of a project on a day (days since 1970, Pacific Time).
pub const QUOTA: Table<(String, u32), Used> = Table::new(0x05);

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("projects", &PROJECTS, Form::Json),
    TableEntry::new("quota", &QUOTA, Form::Json),
];

/// Units of a day (facts: 10,000).
pub const UNITS_PER_DAY: u32 = 10_000;
/// Calls of a day for an operation with a bucket of its own (facts: 100).
pub const BUCKET_PER_DAY: u32 = 100;

/// The way in which a project is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Nothing is counted.
    #[default]
    Off,
    /// One sum: a search is 100 units, an upload 1,600.
    Classic,
    /// One sum, and buckets of their own for searches and uploads.
    Buckets,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The way in which it is charged.
    pub quota: Model,
}

impl JsonRecord for Project {}

/// Use on a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Units of the one sum.
    pub units: u32,
    /// Calls of operations with a bucket of their own.
    pub buckets: std::collections::BTreeMap<String, u32>,
}

impl JsonRecord for Used {}

/// The day that a moment belongs to in Pacific Time, as days since 1970.
#[must_use]
pub fn day(now: Timestamp) -> u32 {
    u32::try_from((now.seconds() + pacific_offset(now)).div_euclid(86_400)).unwrap_or(0)
}

/// Seconds that Pacific Time is ahead of UTC: daylight saving from the second Sunday of March to the first of November,
/// at two o'clock local time (the rule since 2007).
fn pacific_offset(now: Timestamp) -> i64 {
    const STANDARD: i64 = -8 * 3_600;
    let standard_day = (now.seconds() + STANDARD).div_euclid(86_400);
    let year = year_of(standard_day);
    // 1970-01-01 was a Thursday, which is 4 when Sunday is 0.
    let first_sunday = |month: i64| {
        let first = day_of(year, month);
        first + (7 - (first + 4).rem_euclid(7)) % 7
    };
    let begins = (first_sunday(3) + 7) * 86_400 + 2 * 3_600 - STANDARD;
    let ends = first_sunday(11) * 86_400 + 3_600 - STANDARD;
    if (begins..ends).contains(&now.seconds()) { STANDARD + 3_600 } else { STANDARD }
}

/// The day of the first of a month, since 1970 (proleptic Gregorian calendar).
const fn day_of(year: i64, month: i64) -> i64 {
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = y.div_euclid(400);
    let year_of_era = y - era * 400;
    let day_of_year = (153 * m + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

const fn year_of(day: i64) -> i64 {
    let mut year = 1970 + day.div_euclid(366);
    while day_of(year + 1, 1) <= day {
        year += 1;
    }
    year
}

/// Returns whether requests of the project are counted.
///
/// # Errors
/// As the store.
pub fn is_counted(tx: &mut Tx<'_>, project: &str) -> Result<bool, Error> {
    Ok(PROJECTS
        .peek_shared(tx, &project.to_owned())?
        .is_some_and(|project| project.quota != Model::Off))
}

/// Counts one request, valid or not.
///
/// # Errors
/// [`Error::QuotaExceeded`] if too little is left; then nothing is counted.
pub fn charge(
    tx: &mut Tx<'_>,
    project: &str,
    operation: &Operation,
    now: Timestamp,
) -> Result<(), Error> {
    let model = PROJECTS.get(tx, &project.to_owned())?.map_or(Model::Off, |project| project.quota);
    let key = (project.to_owned(), day(now));
    let mut used = QUOTA.get(tx, &key)?.unwrap_or_default();
    match model {
        Model::Off => return Ok(()),
        Model::Buckets if operation.cost.own_bucket => {
            let calls = used.buckets.entry(operation.name.to_owned()).or_default();
            if *calls >= BUCKET_PER_DAY {
                return Err(Error::QuotaExceeded);
            }
            *calls += 1;
        }
        Model::Buckets | Model::Classic => {
            let units = used.units.saturating_add(operation.cost.units);
            if units > UNITS_PER_DAY {
                return Err(Error::QuotaExceeded);
            }
            used.units = units;
        }
    }
    QUOTA.put(tx, &key, &used);
    Ok(())
}

/// Sums up what every project has left today.
///
/// # Errors
/// As the store.
pub fn remaining(
    tx: &mut Tx<'_>,
    operations: &[&Operation],
    now: Timestamp,
) -> Result<Value, Error> {
    let (projects, _) = PROJECTS.scan(tx, &PROJECTS.span(&()), 1_000)?;
    let mut out = Vec::new();
    for (id, project) in projects {
        let used = QUOTA.peek(tx, &(id.clone(), day(now)))?.unwrap_or_default();
        let buckets = operations
            .iter()
            .filter(|operation| operation.cost.own_bucket && project.quota == Model::Buckets);
        let buckets: serde_json::Map<_, _> = buckets
            .map(|operation| {
                let calls = used.buckets.get(operation.name).copied().unwrap_or_default();
                (operation.name.to_owned(), json!({"limit": BUCKET_PER_DAY, "used": calls, "remaining": BUCKET_PER_DAY.saturating_sub(calls)}))
            })
            .collect();
        out.push(json!({"project": id, "model": project.quota, "limit": UNITS_PER_DAY, "used": used.units,
            "remaining": UNITS_PER_DAY.saturating_sub(used.units), "buckets": buckets}));
    }
    Ok(json!({"projects": out}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day_at(text: &str) -> u32 {
        day(Timestamp::from_rfc3339(text).unwrap())
    }

    #[test]
    fn a_day_ends_at_midnight_pacific_time_in_winter_and_in_summer() {
        assert_eq!(day_at("2026-01-10T07:59:59Z") + 1, day_at("2026-01-10T08:00:00Z"));
        assert_eq!(day_at("2026-07-10T06:59:59Z") + 1, day_at("2026-07-10T07:00:00Z"));
        // 2026: daylight saving from 8 March 10:00 UTC to 1 November 09:00 UTC.
        assert_eq!(
            pacific_offset(Timestamp::from_rfc3339("2026-03-08T09:59:59Z").unwrap()),
            -8 * 3_600
        );
        assert_eq!(
            pacific_offset(Timestamp::from_rfc3339("2026-03-08T10:00:00Z").unwrap()),
            -7 * 3_600
        );
        assert_eq!(
            pacific_offset(Timestamp::from_rfc3339("2026-11-01T08:59:59Z").unwrap()),
            -7 * 3_600
        );
        assert_eq!(
            pacific_offset(Timestamp::from_rfc3339("2026-11-01T09:00:00Z").unwrap()),
            -8 * 3_600
        );
    }

    #[test]
    fn the_calendar_knows_leap_years() {
        assert_eq!(day_of(1970, 1), 0);
        assert_eq!(day_of(2000, 3), 11_017);
        for year in 1970..2100 {
            assert_eq!(year_of(day_of(year, 1)), year);
            assert_eq!(year_of(day_of(year + 1, 1) - 1), year);
        }
    }
}
