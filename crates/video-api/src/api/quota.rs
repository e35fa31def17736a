//! Quota: what the requests of a project cost, in the two models that the real service had, reset at midnight Pacific Time.

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use triptych_core::kv::{JsonRecord, Plan, Table, Tx};
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

/// Pacific Time by the rule since 2007: daylight saving from the second Sunday of March to the first of November, at two o'clock.
static PACIFIC: LazyLock<TimeZone> =
    LazyLock::new(|| TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").unwrap_or(TimeZone::UTC));

/// Seconds that Pacific Time is ahead of UTC.
fn pacific_offset(now: Timestamp) -> i64 {
    let moment = jiff::Timestamp::from_second(now.seconds()).unwrap_or_default();
    PACIFIC.to_offset(moment).seconds().into()
}

/// Plans the row that says whether requests of the project are counted.
pub fn plan(plan: &mut Plan<'_>, project: &str) {
    plan.row(&PROJECTS, &project.to_owned());
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
        assert_eq!(day_at("1970-01-01T08:00:00Z"), 0);
        assert_eq!(day_at("2000-03-01T08:00:00Z"), 11_017);
        for year in 1971..2100 {
            let eve = day_at(&format!("{}-12-31T20:00:00Z", year - 1));
            assert_eq!(eve + 1, day_at(&format!("{year}-01-01T20:00:00Z")), "{year}");
        }
    }
}
