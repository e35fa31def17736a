//! Lifecycle rules: read, kept, shown, and what they say about an object's end.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::request::xml::{Element, XmlWriter};
use crate::store::key::Key;
use crate::store::tables::BUCKET_CONFIGS;
use crate::store::tagging::{TagTarget, Tags};
use crate::store::version::{ObjectData, ObjectVersion};

/// The name under which the rules of a bucket are kept.
pub const CONFIG_NAME: &str = "lifecycle";
/// The most rules of a bucket.
const RULES_MAX: usize = 1000;
/// Seconds of a day.
pub const DAY_SECONDS: i64 = 86_400;
/// The most newer versions that a rule may keep beside the current one.
const NEWER_MAX: u32 = 100;
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
    /// The rules of a `LifecycleConfiguration` document; rules without an id get one from `draw`.
    ///
    /// # Errors
    /// `MalformedXml`; `InvalidArgument` for ids that are too long or there twice, dates that are no midnight, days that are
    /// not positive; `InvalidRequest` for tag keys that are there twice.
    pub fn from_xml(body: &[u8], mut draw: impl FnMut() -> String) -> Result<Self, Error> {
        let mut root = Element::parse(body, "LifecycleConfiguration")?;
        let mut rules: Vec<Rule> = Vec::new();
        for element in root.children.iter_mut().filter(|child| child.name == "Rule") {
            if element.text_of("ID").is_none_or(str::is_empty) {
                element.children.retain(|child| child.name != "ID");
                let id = Element { name: "ID".to_owned(), text: draw(), ..Element::default() };
                element.children.insert(0, id);
            }
            let rule = rule(element)?;
            if rules.iter().any(|own| own.id == rule.id) {
                return Err(Error::argument(
                    "ID",
                    Some(&rule.id),
                    "Rule ID must be unique. Found same ID for more than one rule",
                ));
            }
            rules.push(rule);
        }
        if rules.is_empty() || rules.len() > RULES_MAX {
            return Err(Error::MalformedXml);
        }
        let mut document = String::new();
        for child in root.children.iter().filter(|child| child.name == "Rule") {
            copy(child, &mut document);
        }
        Ok(Self { rules, document, transition_least: TransitionLeast::default() })
    }

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
    let row = BUCKET_CONFIGS.peek(tx, &(bucket, CONFIG_NAME.to_owned()))?;
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

const EXPIRATION: &str = "Expiration";
const NONCURRENT: &str = "NoncurrentVersionExpiration";
const ABORT: &str = "AbortIncompleteMultipartUpload";
/// Actions that are kept without effect.
const TRANSITIONS: [&str; 2] = ["Transition", "NoncurrentVersionTransition"];

fn rule(element: &Element) -> Result<Rule, Error> {
    element.has_only(
        &["ID", "Status", "Prefix", "Filter", EXPIRATION, NONCURRENT, ABORT],
        &TRANSITIONS,
    )?;
    let id = element.required("ID")?.to_owned();
    if id.chars().count() > 255 {
        return Err(Error::argument(
            "ID",
            Some(&id),
            "ID length should not exceed allowed limit of 255",
        ));
    }
    let enabled = match element.required("Status")? {
        "Enabled" => true,
        "Disabled" => false,
        _ => return Err(Error::MalformedXml),
    };
    // Two generations of documents: a prefix of the rule itself, or a filter that holds it.
    let filter = match (element.child("Filter"), element.child("Prefix")) {
        (Some(filter), None) => read_filter(filter)?,
        (None, Some(prefix)) => Filter { prefix: prefix.text.clone(), ..Filter::default() },
        _ => return Err(Error::MalformedXml),
    };
    let mut actions = [EXPIRATION, NONCURRENT, ABORT].into_iter().chain(TRANSITIONS);
    if !actions.any(|name| element.child(name).is_some()) {
        return Err(Error::MalformedXml);
    }
    for transition in element.all("Transition") {
        transition.has_only(&["Days", "Date", "StorageClass"], &[])?;
        read_end(transition)?;
        let class = transition.required("StorageClass")?;
        crate::store::version::StorageClass::parse(class).ok_or(Error::MalformedXml)?;
    }
    let tags = filter.tags.clone();
    Ok(Rule {
        id,
        enabled,
        filter,
        expiration: element.child(EXPIRATION).map(read_expiration).transpose()?.flatten(),
        noncurrent: element.child(NONCURRENT).map(read_noncurrent).transpose()?,
        abort_days: element
            .child(ABORT)
            .map(|abort| read_abort(abort, &tags))
            .transpose()?
            .flatten(),
    })
}

/// `AbortIncompleteMultipartUpload`: its days.
fn read_abort(element: &Element, tags: &Tags) -> Result<Option<u32>, Error> {
    const DAYS: &str = "DaysAfterInitiation";
    element.has_only(&[DAYS], &[])?;
    if !tags.0.is_empty() {
        return Err(Error::request(
            "AbortIncompleteMultipartUpload cannot be specified with Tags.",
        ));
    }
    let Some(text) = element.text_of(DAYS) else {
        return Ok(None);
    };
    let number = text.parse::<i64>().map_err(|_| Error::MalformedXml)?;
    match u32::try_from(number) {
        Ok(days) if days > 0 => Ok(Some(days)),
        _ => Err(Error::argument(
            DAYS,
            Some(text),
            "'DaysAfterInitiation' for AbortIncompleteMultipartUpload action must be a positive integer",
        )),
    }
}

/// `NoncurrentVersionExpiration`: its days, and how many newer versions it keeps.
fn read_noncurrent(element: &Element) -> Result<NoncurrentExpiration, Error> {
    element.has_only(&["NoncurrentDays", "NewerNoncurrentVersions"], &[])?;
    let number = |name: &'static str, most: u32| -> Result<Option<u32>, Error> {
        let Some(text) = element.text_of(name) else {
            return Ok(None);
        };
        let number = text.parse::<i64>().map_err(|_| Error::MalformedXml)?;
        match u32::try_from(number) {
            Ok(number) if number > 0 && number <= most => Ok(Some(number)),
            _ => Err(Error::argument(
                name,
                Some(text),
                format!(
                    "'{name}' for NoncurrentVersionExpiration action must be a positive integer"
                ),
            )),
        }
    };
    Ok(NoncurrentExpiration {
        days: number("NoncurrentDays", u32::MAX)?.ok_or(Error::MalformedXml)?,
        newer: number("NewerNoncurrentVersions", NEWER_MAX)?.unwrap_or(0),
    })
}

/// `Expiration`: the end of objects, or that of delete markers; `None` where it says that those stay.
fn read_expiration(element: &Element) -> Result<Option<Expiration>, Error> {
    const MARKERS: &str = "ExpiredObjectDeleteMarker";
    element.has_only(&["Days", "Date", MARKERS], &[])?;
    match element.text_of(MARKERS) {
        None => read_end(element).map(Some),
        Some(_) if element.children.len() > 1 => Err(Error::MalformedXml),
        Some("true") => Ok(Some(Expiration::DeleteMarker)),
        Some("false") => Ok(None),
        Some(_) => Err(Error::MalformedXml),
    }
}

fn read_end(element: &Element) -> Result<Expiration, Error> {
    match (element.text_of("Days"), element.text_of("Date")) {
        (Some(days), None) => {
            let number = days.parse::<i64>().map_err(|_| Error::MalformedXml)?;
            let is_transition = element.name == "Transition";
            match u32::try_from(number) {
                Ok(days) if days > 0 || is_transition => Ok(Expiration::Days(days)),
                _ => Err(Error::argument(
                    "Days",
                    Some(days),
                    "'Days' for Expiration action must be a positive integer",
                )),
            }
        }
        (None, Some(date)) => {
            let date = date_of(date).ok_or(Error::MalformedXml)?;
            if date.micros().rem_euclid(DAY_SECONDS * 1_000_000) != 0 {
                let text = date.rfc3339();
                return Err(Error::argument("Date", Some(&text), "'Date' must be at midnight GMT"));
            }
            Ok(Expiration::Date(date))
        }
        _ => Err(Error::MalformedXml),
    }
}

/// A date with or without a time of day.
fn date_of(text: &str) -> Option<Timestamp> {
    Timestamp::from_rfc3339(text).or_else(|| Timestamp::from_rfc3339(&format!("{text}T00:00:00Z")))
}

fn read_filter(element: &Element) -> Result<Filter, Error> {
    const CONDITIONS: [&str; 3] = ["Prefix", "ObjectSizeGreaterThan", "ObjectSizeLessThan"];
    let (scope, several) = match element.child("And") {
        Some(both) => (both, both.children.len() > 1),
        None => (element, false),
    };
    scope.has_only(&CONDITIONS, &["Tag"])?;
    // A filter has one condition, or none for every object; several stand together in one element.
    if element.children.len() > 1 || (scope.name == "And" && !several) {
        return Err(Error::MalformedXml);
    }
    let bytes = |name| {
        let text: Option<&str> = scope.text_of(name);
        text.map(|text| text.parse().map_err(|_| Error::MalformedXml)).transpose()
    };
    let tags = Tags::of_element(scope, TagTarget::Object).map_err(|error| match error {
        Error::InvalidTag { .. } => Error::request("Duplicate Tag Keys are not allowed."),
        error => error,
    })?;
    Ok(Filter {
        prefix: scope.child("Prefix").map(|prefix| prefix.text.clone()).unwrap_or_default(),
        tags,
        larger: bytes("ObjectSizeGreaterThan")?,
        smaller: bytes("ObjectSizeLessThan")?,
    })
}

fn copy(element: &Element, out: &mut String) {
    out.push_str(&format!("<{}>", element.name));
    if element.children.is_empty() {
        crate::request::xml::escape(&element.text, out);
    }
    for child in &element.children {
        copy(child, out);
    }
    out.push_str(&format!("</{}>", element.name));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rules: &str) -> Result<Lifecycle, Error> {
        let text = format!("<LifecycleConfiguration>{rules}</LifecycleConfiguration>");
        Lifecycle::from_xml(text.as_bytes(), || "drawn".to_owned())
    }

    #[test]
    fn what_was_put_is_shown() {
        let rule = "<Rule><ID>a b</ID><Status>Enabled</Status><Filter><And><Prefix>x&amp;</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter><Expiration><Days>1</Days></Expiration></Rule>";
        let lifecycle = read(rule).unwrap();
        assert!(lifecycle.shown("n").contains(rule));
        let drawn = read(
            "<Rule><Status>Enabled</Status><Prefix/><Expiration><Days>1</Days></Expiration></Rule>",
        );
        assert!(drawn.unwrap().shown("n").contains("<ID>drawn</ID>"));
    }

    #[test]
    fn an_object_ends_at_the_midnight_after_its_days() {
        let at = |text| Timestamp::from_rfc3339(text).unwrap();
        assert_eq!(midnight_after(at("2026-01-01T10:00:00Z"), 1), at("2026-01-03T00:00:00Z"));
        assert_eq!(midnight_after(at("2026-01-01T00:00:00Z"), 1), at("2026-01-02T00:00:00Z"));
    }

    #[test]
    fn delete_markers_stay_where_a_rule_says_so() {
        let with = |said: &str| {
            let rule = format!(
                "<Rule><Status>Enabled</Status><Filter/><Expiration><ExpiredObjectDeleteMarker>{said}</ExpiredObjectDeleteMarker></Expiration></Rule>"
            );
            read(&rule).map(|rules| rules.rules[0].expiration)
        };
        assert_eq!(with("true"), Ok(Some(Expiration::DeleteMarker)));
        assert_eq!(with("false"), Ok(None));
        assert_eq!(with("maybe"), Err(Error::MalformedXml));
    }

    #[test]
    fn rules_that_are_none_are_refused() {
        let with = |inner: &str| read(&format!("<Rule><Status>Enabled</Status>{inner}</Rule>"));
        let filter = "<Filter><Prefix/></Filter>";
        for inner in [
            "",
            filter,
            "<Expiration><Days>1</Days></Expiration>",
            &format!("{filter}<Prefix/><Expiration><Days>1</Days></Expiration>"),
            &format!("{filter}<Expiration><Days>1</Days><Date>2026-01-01</Date></Expiration>"),
        ] {
            assert_eq!(with(inner), Err(Error::MalformedXml), "{inner}");
        }
        for inner in ["<Days>0</Days>", "<Days>-1</Days>", "<Date>2026-01-01T01:00:00Z</Date>"] {
            let refused = with(&format!("{filter}<Expiration>{inner}</Expiration>"));
            assert!(matches!(refused, Err(Error::InvalidArgument { .. })), "{inner}");
        }
        let rule = format!(
            "<Rule><ID>a</ID><Status>Enabled</Status>{filter}<Expiration><Days>1</Days></Expiration></Rule>"
        );
        assert!(matches!(read(&rule.repeat(2)), Err(Error::InvalidArgument { .. })));
        // What is passed over in a filter would be one that takes every object.
        let end = "<Expiration><Days>1</Days></Expiration>";
        for filter in [
            "<Unknown>a</Unknown>",
            "<And/>",
            "<And><Prefix>a</Prefix></And>",
            "<And><Prefix>a</Prefix><Prefix>b</Prefix></And>",
            "<And><Prefix>a</Prefix><Unknown>b</Unknown></And>",
            "<Prefix>a</Prefix><ObjectSizeLessThan>5</ObjectSizeLessThan>",
        ] {
            let inner = format!("<Filter>{filter}</Filter>{end}");
            assert_eq!(with(&inner), Err(Error::MalformedXml), "{inner}");
        }
        for inner in [
            "<Prefix>a</Prefix><Prefix>b</Prefix><Expiration><Days>1</Days></Expiration>",
            "<Prefix>a</Prefix><Unknown/><Expiration><Days>1</Days></Expiration>",
            "<Prefix>a</Prefix><Expiration><Days>1</Days><Days>2</Days></Expiration>",
            "<Prefix>a</Prefix><Expiration><Days>1</Days><Unknown/></Expiration>",
        ] {
            assert_eq!(with(inner), Err(Error::MalformedXml), "{inner}");
        }
        assert_eq!(read(""), Err(Error::MalformedXml));
    }
}
