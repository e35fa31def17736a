//! Lifecycle rules: read, kept, shown, and what they say about an object's end.

mod document;
mod field;
mod transition;

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::request::xml::XmlWriter;
use crate::store::bucket_setting;
use crate::store::key::Key;
use crate::store::tagging::Tags;
use crate::store::version::{ObjectData, ObjectVersion};

/// The name under which the rules of a bucket are kept.
pub const CONFIG_NAME: &str = "lifecycle";
/// Seconds of a day.
pub const DAY_SECONDS: i64 = 86_400;
/// The characters that stay as they are in the name of a rule in a header.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The end of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expiration {
    /// So many days after it was written, at the next midnight.
    Days(u32),
    /// At this midnight.
    Date(Timestamp),
    /// A delete marker without versions below it is removed.
    DeleteMarker,
}

impl Expiration {
    /// The end of what was written then; `None` for what only removes markers.
    fn end(self, written: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Days(days) => Some(midnight_after(written, days)),
            Self::Date(date) => Some(date),
            Self::DeleteMarker => None,
        }
    }
}

/// The filter of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Filter {
    /// The start of keys.
    pub prefix: String,
    /// Tags that an object must have, all of them.
    pub tags: Tags,
    /// Objects of more bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub larger: Option<u64>,
    /// Objects of fewer bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smaller: Option<u64>,
}

impl Filter {
    /// Tells whether it takes a delete marker, which has neither tags nor a size.
    fn takes_marker(&self, key: &Key) -> bool {
        let asks_more = !self.tags.0.is_empty() || self.larger.is_some() || self.smaller.is_some();
        !asks_more && key.as_str().starts_with(&self.prefix)
    }

    fn takes(&self, key: &Key, data: &ObjectData) -> bool {
        key.as_str().starts_with(&self.prefix)
            && self.tags.0.iter().all(|tag| data.tags.0.contains(tag))
            && self.larger.is_none_or(|bytes| data.size > bytes)
            && self.smaller.is_none_or(|bytes| data.size < bytes)
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its name in the bucket.
    pub id: String,
    /// True if it counts.
    pub enabled: bool,
    /// Its filter.
    pub filter: Filter,
    /// The end of current objects, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration: Option<Expiration>,
    /// The end of versions that are not current, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noncurrent: Option<NoncurrentExpiration>,
    /// The days after which an upload in parts that is not finished is aborted, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_days: Option<u32>,
}

/// The end of a version that is not current any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoncurrentExpiration {
    /// So many days after a newer one took its place, at the next midnight.
    pub days: u32,
    /// Only if as many newer ones lie between it and the current one.
    pub newer: u32,
}

/// The rules of a bucket, and the document that they were put as: what is shown is what was put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// The rules.
    pub rules: Vec<Rule>,
    /// Inner XML of the document, without the root: written by this service from what it read.
    pub document: String,
    /// The least size of objects that transitions take, as it was put; nothing here moves objects.
    #[serde(default)]
    pub transition_least: TransitionLeast,
}

/// The least size of objects that transitions take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TransitionLeast {
    /// 128 KiB, for all classes.
    #[default]
    AllClasses128K,
    /// That of each class.
    ByClass,
}

impl TransitionLeast {
    const ALL: [(Self, &'static str); 2] = [
        (Self::AllClasses128K, "all_storage_classes_128K"),
        (Self::ByClass, "varies_by_storage_class"),
    ];

    /// The size with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == name).map(|(least, _)| *least)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(least, _)| *least == self).map_or("", |(_, name)| name)
    }
}

impl Lifecycle {
    /// The document again.
    #[must_use]
    pub fn shown(&self, namespace: &str) -> String {
        XmlWriter::document("LifecycleConfiguration", namespace, |writer| {
            writer.raw(&self.document);
        })
    }

    fn enabled(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.enabled)
    }

    /// The end of the object, and the rule that ends it: the earliest counts.
    #[must_use]
    pub fn end_of(
        &self,
        key: &Key,
        object: &ObjectVersion,
        data: &ObjectData,
    ) -> Option<(Timestamp, &str)> {
        self.enabled()
            .filter(|rule| rule.filter.takes(key, data))
            .filter_map(|rule| Some((rule.expiration?.end(object.modified)?, rule.id.as_str())))
            .min_by_key(|(end, _)| *end)
    }

    /// Tells whether a rule has ended by `now` a version that has not been current since `since`, and below `newer` others that
    /// are not.
    #[must_use]
    pub fn ends_noncurrent(
        &self,
        key: &Key,
        version: &ObjectVersion,
        since: Timestamp,
        newer: u32,
        now: Timestamp,
    ) -> bool {
        let takes = |rule: &&Rule| match version.data.as_deref() {
            Some(data) => rule.filter.takes(key, data),
            None => rule.filter.takes_marker(key),
        };
        self.enabled()
            .filter(takes)
            .filter_map(|rule| rule.noncurrent)
            .any(|end| newer >= end.newer && midnight_after(since, end.days) <= now)
    }

    /// Tells whether a rule has ended by `now` a delete marker that nothing lies below: one that says so, or one whose days or
    /// date have come for the marker itself.
    #[must_use]
    pub fn ends_marker(&self, key: &Key, marker: &ObjectVersion, now: Timestamp) -> bool {
        self.enabled()
            .filter(|rule| rule.filter.takes_marker(key))
            .filter_map(|rule| rule.expiration)
            .any(|expiration| expiration.end(marker.modified).is_none_or(|end| end <= now))
    }

    /// The end of an upload in parts that is not finished, and the rule that ends it: the earliest counts.
    #[must_use]
    pub fn end_of_upload(&self, key: &Key, initiated: Timestamp) -> Option<(Timestamp, &str)> {
        self.enabled()
            .filter(|rule| rule.filter.takes_marker(key))
            .filter_map(|rule| {
                Some((midnight_after(initiated, rule.abort_days?), rule.id.as_str()))
            })
            .min_by_key(|(end, _)| *end)
    }

    /// Tells whether a rule ends uploads in parts.
    #[must_use]
    pub fn ends_uploads(&self) -> bool {
        self.enabled().any(|rule| rule.abort_days.is_some())
    }

    /// The prefixes of keys that rules may end something of: no key starts with two of them.
    #[must_use]
    pub fn scopes(&self) -> Vec<&str> {
        let mut prefixes: Vec<_> = self
            .enabled()
            .filter(|rule| rule.expiration.is_some() || rule.noncurrent.is_some())
            .map(|rule| rule.filter.prefix.as_str())
            .collect();
        prefixes.sort_unstable();
        let mut scopes: Vec<&str> = Vec::new();
        for prefix in prefixes {
            if scopes.last().is_none_or(|last| !prefix.starts_with(last)) {
                scopes.push(prefix);
            }
        }
        scopes
    }
}

impl Lifecycle {
    /// The value of the `x-store-expiration` header of an object that a rule ends.
    #[must_use]
    pub fn header(&self, key: &Key, object: &ObjectVersion, data: &ObjectData) -> Option<String> {
        let (date, rule) = self.end_of(key, object, data)?;
        let rule = utf8_percent_encode(rule, KEPT);
        Some(format!("expiry-date=\"{}\", rule-id=\"{rule}\"", date.http_date()))
    }
}

/// The first midnight that is `days` days after `written` or later.
pub(crate) fn midnight_after(written: Timestamp, days: u32) -> Timestamp {
    let later = written.plus(Duration::from_secs(u64::from(days) * 86_400));
    let rest = later.micros().rem_euclid(DAY_SECONDS * 1_000_000);
    if rest == 0 {
        return later;
    }
    let day = later.seconds().div_euclid(DAY_SECONDS) + 1;
    Timestamp::from_seconds(day * DAY_SECONDS)
}

/// Stands in place of the end of an object in directory buckets (spec §4).
pub const NOT_SHOWN: &str = "NotImplemented";

/// The rules of a bucket, if it has any.
///
/// # Errors
/// As reads of the store; [`Error::Damaged`] for rules that cannot be read.
pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<Lifecycle>, Error> {
    let row = bucket_setting::read(tx, bucket, CONFIG_NAME)?;
    row.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| Error::Damaged)).transpose()
}

/// The `x-store-expiration` header of an object, if a rule ends it (spec §4).
///
/// # Errors
/// Those of [`of_bucket`].
pub fn expiration(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    object: &ObjectVersion,
    data: &ObjectData,
) -> Result<Option<String>, Error> {
    let rules = of_bucket(tx, bucket)?;
    Ok(rules.and_then(|rules| rules.header(key, object, data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_ends_at_the_midnight_after_its_days() {
        let at = |text| Timestamp::from_rfc3339(text).unwrap();
        assert_eq!(midnight_after(at("2026-01-01T10:00:00Z"), 1), at("2026-01-03T00:00:00Z"));
        assert_eq!(midnight_after(at("2026-01-01T00:00:00Z"), 1), at("2026-01-02T00:00:00Z"));
    }
}
