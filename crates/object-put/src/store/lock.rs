//! Object lock: retention, legal hold, and the default of a bucket.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::request::fields::Fields;
use crate::request::xml::{Element, XmlWriter};

const MODE: &str = "x-store-object-lock-mode";
const UNTIL: &str = "x-store-object-lock-retain-until-date";
/// The headers of a retention.
pub const RETENTION_HEADERS: [&str; 2] = [MODE, UNTIL];
/// The header of a legal hold.
pub const HOLD: &str = "x-store-object-lock-legal-hold";
const DAY: Duration = Duration::from_secs(86_400);
/// The most days of a default retention: a hundred years.
const DAYS_MAX: u32 = 36_500;

/// The mode of a retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    /// Whoever has the permission may lift it.
    Governance,
    /// Nobody may.
    Compliance,
}

impl Mode {
    /// The mode with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "GOVERNANCE" => Some(Self::Governance),
            "COMPLIANCE" => Some(Self::Compliance),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Governance => "GOVERNANCE",
            Self::Compliance => "COMPLIANCE",
        }
    }
}

/// A mode and the moment until which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The mode.
    pub mode: Mode,
    /// The end.
    pub until: Timestamp,
}

impl Retention {
    /// The retention of a `Retention` document; `None` for an empty one, which lifts what is set.
    ///
    /// # Errors
    /// `MalformedXml`; `OperationNotImplemented` for an event hold; `InvalidArgument` for a date that is not in the future.
    pub fn from_xml(body: &[u8], now: Timestamp) -> Result<Option<Self>, Error> {
        let document = Element::parse(body, "Retention")?;
        if document.child("EventHold").is_some() {
            return Err(Error::OperationNotImplemented {
                operation: "PutObjectRetention with an event hold",
            });
        }
        document.has_only(&["Mode", "RetainUntilDate"], &[])?;
        match (document.text_of("Mode"), document.text_of("RetainUntilDate")) {
            (None, None) => Ok(None),
            (Some(mode), Some(date)) => {
                let mode = Mode::parse(mode).ok_or(Error::MalformedXml)?;
                let until = Timestamp::from_rfc3339(date).ok_or(Error::MalformedXml)?;
                if until <= now {
                    return Err(past("RetainUntilDate", date));
                }
                Ok(Some(Self { mode, until }))
            }
            _ => Err(Error::MalformedXml),
        }
    }

    /// The `Retention` document.
    #[must_use]
    pub fn document(&self, namespace: &str) -> String {
        XmlWriter::document("Retention", namespace, |writer| {
            writer.text("Mode", self.mode.name());
            writer.text("RetainUntilDate", self.until.rfc3339_millis());
        })
    }

    /// Tells whether `next` may take this one's place: a longer time of the same mode may, anything else needs `bypass`, and that
    /// lifts governance alone.
    #[must_use]
    pub fn may_become(&self, next: Option<&Self>, now: Timestamp, bypass: bool) -> bool {
        let stronger = next.is_some_and(|next| next.until >= self.until && next.mode == self.mode);
        self.until <= now || stronger || (bypass && self.mode == Mode::Governance)
    }
}

fn past(argument: &'static str, value: &str) -> Error {
    Error::argument(argument, Some(value), "The retain until date must be in the future!")
}

/// The lock that protects a version from being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObjectLock {
    /// A time, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// A legal hold, if one was ever set: on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<bool>,
}

impl ObjectLock {
    /// Tells whether nothing was ever set.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.retention.is_none() && self.hold.is_none()
    }

    /// The lock that a new object gets in a bucket with or without `object_lock`: that of the headers, else the bucket's `default`.
    ///
    /// # Errors
    /// `InvalidArgument` for a mode without a date or a date without a mode, an unknown mode, a date that is none or not
    /// in the future, an unknown hold; `InvalidRequest` for a bucket without object lock, and for a body that brings
    /// neither Content-MD5 nor a checksum (`has_digest`).
    pub fn from_headers(
        fields: &Fields<'_>,
        object_lock: bool,
        default: Option<DefaultRetention>,
        has_digest: bool,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let both = |missing| {
            Error::argument(
                missing,
                None,
                "x-store-object-lock-retain-until-date and x-store-object-lock-mode must both be supplied",
            )
        };
        let retention = match (fields.get(MODE)?, fields.get(UNTIL)?) {
            (None, None) => None,
            (Some(_), None) => return Err(both(UNTIL)),
            (None, Some(_)) => return Err(both(MODE)),
            (Some(mode), Some(date)) => {
                let mode = Mode::parse(&mode).ok_or_else(|| {
                    Error::argument(MODE, Some(&mode), "Unknown wormMode directive.")
                })?;
                let until = Timestamp::from_rfc3339(&date).ok_or_else(|| {
                    let reason = "The retain until date must be provided in ISO 8601 format";
                    Error::argument(UNTIL, Some(&date), reason)
                })?;
                if until <= now {
                    return Err(past(UNTIL, &date));
                }
                Some(Retention { mode, until })
            }
        };
        let refused = |word: &str| {
            Error::argument(HOLD, Some(word), "Legal Hold must be either of 'ON' or 'OFF'")
        };
        let hold = fields.get(HOLD)?.map(|word| hold_of(&word).ok_or_else(|| refused(&word)));
        let hold = hold.transpose()?;
        let lock = Self { retention, hold };
        if !lock.is_none() && !object_lock {
            return Err(missing_configuration());
        }
        if !lock.is_none() && !has_digest {
            return Err(missing_digest("Put Object"));
        }
        let default = default.filter(|_| object_lock);
        Ok(Self { retention: retention.or_else(|| default.map(|default| default.from(now))), hold })
    }

    /// The lock that headers name, as far as it can be read: what is wrong with it is said where it is set.
    #[must_use]
    pub fn named(fields: &Fields<'_>) -> Self {
        let header = |name| fields.get(name).ok().flatten();
        let mode = header(MODE).and_then(|mode| Mode::parse(&mode));
        let until = header(UNTIL).and_then(|date| Timestamp::from_rfc3339(&date));
        let hold = header(HOLD).and_then(|word| hold_of(&word));
        Self { retention: mode.zip(until).map(|(mode, until)| Retention { mode, until }), hold }
    }

    /// Tells whether a version with this lock may be deleted; `bypass` lifts governance.
    #[must_use]
    pub fn allows_delete(&self, now: Timestamp, bypass: bool) -> bool {
        self.hold != Some(true)
            && self.retention.is_none_or(|retention| retention.may_become(None, now, bypass))
    }
}

/// The refusal of every lock operation on a bucket without object lock.
#[must_use]
pub fn missing_configuration() -> Error {
    Error::request("Bucket is missing Object Lock Configuration")
}

/// The refusal of a body that is to be locked and comes without a digest; `kind` is that of the request, in the real service's words.
#[must_use]
pub fn missing_digest(kind: &str) -> Error {
    Error::request(format!(
        "Content-MD5 OR x-store-checksum- HTTP header is required for {kind} requests with Object Lock parameters"
    ))
}

/// The legal hold of a `LegalHold` document.
///
/// # Errors
/// `MalformedXml`, without content too.
pub fn hold_from_xml(body: &[u8]) -> Result<bool, Error> {
    if body.is_empty() {
        return Err(Error::MalformedXml);
    }
    let document = Element::parse(body, "LegalHold")?;
    document.has_only(&["Status"], &[])?;
    document.text_of("Status").and_then(hold_of).ok_or(Error::MalformedXml)
}

/// The legal hold that a word of headers and documents says.
fn hold_of(word: &str) -> Option<bool> {
    [true, false].into_iter().find(|hold| hold_word(*hold) == word)
}

/// The word for a legal hold in headers, documents and policies.
#[must_use]
pub const fn hold_word(hold: bool) -> &'static str {
    if hold { "ON" } else { "OFF" }
}

/// The `LegalHold` document.
#[must_use]
pub fn hold_document(hold: bool, namespace: &str) -> String {
    XmlWriter::document("LegalHold", namespace, |writer| {
        writer.text("Status", hold_word(hold));
    })
}

/// The retention that a bucket gives to new versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultRetention {
    /// The mode.
    pub mode: Mode,
    /// Days from the write; years are kept as they were given.
    pub days: Option<u32>,
    /// Years from the write.
    pub years: Option<u32>,
}

impl DefaultRetention {
    /// The retention of what is written `now`. A year has 365 days.
    #[must_use]
    pub fn from(&self, now: Timestamp) -> Retention {
        let days =
            self.days.unwrap_or_default() + self.years.unwrap_or_default().saturating_mul(365);
        Retention { mode: self.mode, until: now.plus(DAY.saturating_mul(days)) }
    }

    /// The default of an `ObjectLockConfiguration` document; `None` where it names no rule.
    ///
    /// # Errors
    /// `MalformedXml`; `OperationNotImplemented` for an event hold; `InvalidArgument` for a period that is not positive.
    pub fn from_xml(body: &[u8]) -> Result<Option<Self>, Error> {
        let document = Element::parse(body, "ObjectLockConfiguration")?;
        document.has_only(&["ObjectLockEnabled", "Rule"], &[])?;
        if document.text_of("ObjectLockEnabled") != Some("Enabled") {
            return Err(Error::MalformedXml);
        }
        let Some(rule) = document.child("Rule") else {
            return Ok(None);
        };
        rule.has_only(&["DefaultRetention"], &[])?;
        let retention = rule.child("DefaultRetention").ok_or(Error::MalformedXml)?;
        if retention.child("DefaultEventHold").is_some() {
            return Err(Error::OperationNotImplemented {
                operation: "PutObjectLockConfiguration with an event hold",
            });
        }
        retention.has_only(&["Mode", "Days", "Years"], &[])?;
        let mode = Mode::parse(retention.required("Mode")?).ok_or(Error::MalformedXml)?;
        let number = |name| {
            let text: Option<&str> = retention.text_of(name);
            text.map(|text| text.parse::<i64>().map_err(|_| Error::MalformedXml)).transpose()
        };
        let (days, years) = match (number("Days")?, number("Years")?) {
            (Some(days), None) => (Some(period("Days", days, DAYS_MAX)?), None),
            (None, Some(years)) => (None, Some(period("Years", years, DAYS_MAX / 365)?)),
            _ => return Err(Error::MalformedXml),
        };
        Ok(Some(Self { mode, days, years }))
    }
}

/// The period of an element with this name.
fn period(name: &'static str, number: i64, most: u32) -> Result<u32, Error> {
    let refused = |reason| Error::argument(name, Some(&number.to_string()), reason);
    match u32::try_from(number) {
        Ok(0) | Err(_) if number <= 0 => {
            Err(refused("Default retention period must be a positive integer value."))
        }
        Ok(number) if number <= most => Ok(number),
        _ => Err(refused("Default retention period too large.")),
    }
}

/// The `ObjectLockConfiguration` document of a bucket with object lock.
#[must_use]
pub fn configuration_document(default: Option<&DefaultRetention>, namespace: &str) -> String {
    XmlWriter::document("ObjectLockConfiguration", namespace, |writer| {
        writer.text("ObjectLockEnabled", "Enabled");
        if let Some(default) = default {
            writer.element("Rule", |writer| {
                writer.element("DefaultRetention", |writer| {
                    writer.text("Mode", default.mode.name());
                    writer.text_if("Days", default.days);
                    writer.text_if("Years", default.years);
                });
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_rfc3339("2026-01-01T00:00:00Z").unwrap()
    }

    fn retention(mode: Mode, days: u32) -> Retention {
        Retention { mode, until: now().plus(DAY * days) }
    }

    #[test]
    fn a_retention_yields_to_more_and_to_a_bypass_of_governance() {
        use Mode::{Compliance, Governance};
        let (short, long) = (retention(Governance, 1), retention(Governance, 2));
        assert!(short.may_become(Some(&long), now(), false));
        assert!(!long.may_become(Some(&short), now(), false));
        assert!(long.may_become(Some(&short), now(), true));
        assert!(!long.may_become(None, now(), false));
        assert!(!short.may_become(Some(&retention(Compliance, 1)), now(), false));
        assert!(short.may_become(Some(&retention(Compliance, 1)), now(), true));
        let firm = retention(Compliance, 1);
        assert!(!firm.may_become(None, now(), true));
        assert!(!firm.may_become(Some(&retention(Governance, 9)), now(), true));
        assert!(firm.may_become(None, now().plus(DAY), false));
    }

    #[test]
    fn a_hold_is_lifted_by_no_bypass() {
        let lock = ObjectLock { retention: None, hold: Some(true) };
        assert!(!lock.allows_delete(now(), true));
        assert!(ObjectLock::default().allows_delete(now(), false));
    }

    #[test]
    fn documents_read_back() {
        let own = retention(Mode::Compliance, 3);
        let read = Retention::from_xml(own.document("n").as_bytes(), now());
        assert_eq!(read, Ok(Some(own)));
        assert_eq!(hold_from_xml(hold_document(true, "n").as_bytes()), Ok(true));
        for (days, years) in [(Some(1), None), (None, Some(2))] {
            let default = DefaultRetention { mode: Mode::Governance, days, years };
            let document = configuration_document(Some(&default), "n");
            assert_eq!(DefaultRetention::from_xml(document.as_bytes()), Ok(Some(default)));
        }
        let without = configuration_document(None, "n");
        assert_eq!(DefaultRetention::from_xml(without.as_bytes()), Ok(None));
    }

    #[test]
    fn a_default_has_days_or_years_that_are_positive() {
        let of = |period: &str| {
            let text = format!(
                "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode>{period}</DefaultRetention></Rule></ObjectLockConfiguration>"
            );
            DefaultRetention::from_xml(text.as_bytes())
        };
        assert!(of("<Days>1</Days>").is_ok());
        assert_eq!(of("<Days>1</Days><Years>1</Years>"), Err(Error::MalformedXml));
        assert_eq!(of(""), Err(Error::MalformedXml));
        const NONE: &str = "Default retention period must be a positive integer value.";
        const LONG: &str = "Default retention period too large.";
        for (name, value, reason) in [
            ("Days", "0", NONE),
            ("Days", "36501", LONG),
            ("Years", "0", NONE),
            ("Years", "-1", NONE),
            ("Years", "101", LONG),
        ] {
            let refused = Err(Error::argument(name, Some(value), reason));
            assert_eq!(of(&format!("<{name}>{value}</{name}>")), refused);
        }
    }
}
