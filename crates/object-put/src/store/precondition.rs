//! Conditions of a PUT: checked when it starts, before its body is asked for, and again when it commits.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::dialect::Dialect;
use crate::request::etag;
use crate::request::fields::Fields;
use crate::store::key::Key;
use crate::store::version::{ObjectVersion, VersionId};

const IF_MATCH: &str = "If-Match";
const IF_NONE_MATCH: &str = "If-None-Match";

/// Conditions that reads alone know, by their names among the fields and as errors name them.
const OF_READS: [(&str, &str); 2] =
    [("if-modified-since", "If-Modified-Since"), ("if-unmodified-since", "If-Unmodified-Since")];

/// Refuses a condition that a request which writes cannot keep: passed over, it would write what it was to spare.
///
/// # Errors
/// [`Error::HeaderNotImplemented`].
pub fn check_of_writes(fields: &Fields<'_>) -> Result<(), Error> {
    check_conditions(fields, &OF_READS)
}

/// The same of a delete, which knows `If-Match` alone.
///
/// # Errors
/// [`Error::HeaderNotImplemented`].
pub fn check_of_deletes(fields: &Fields<'_>) -> Result<(), Error> {
    check_conditions(fields, &[("if-none-match", IF_NONE_MATCH)])?;
    check_of_writes(fields)
}

/// The same of a delete of a version by its id: a condition is on the current one, which may be another.
///
/// # Errors
/// [`Error::HeaderNotImplemented`].
pub fn check_of_version_deletes(fields: &Fields<'_>) -> Result<(), Error> {
    check_conditions(fields, &[("if-match", IF_MATCH)])
}

/// The same of what knows no condition: the beginning of an upload and its parts, since the completion is what one holds for, and the head of
/// a form.
///
/// # Errors
/// [`Error::HeaderNotImplemented`].
pub fn check_of_uploads(fields: &Fields<'_>) -> Result<(), Error> {
    check_conditions(fields, &[("if-match", IF_MATCH), ("if-none-match", IF_NONE_MATCH)])?;
    check_of_writes(fields)
}

fn check_conditions(fields: &Fields<'_>, refused: &[(&str, &'static str)]) -> Result<(), Error> {
    match refused.iter().find(|(name, _)| fields.has(name)) {
        Some((_, header)) => Err(Error::HeaderNotImplemented { header, reason: None }),
        None => Ok(()),
    }
}

/// The condition that the key must meet for the PUT to happen (spec §3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// `If-None-Match: *`: there is no object.
    Absent,
    /// `If-Match`: the object has this entity tag (without quotes).
    Matches(String),
}

/// The key of a PUT as its start saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The version that was current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<VersionId>,
    /// Deletes that the key's slot had counted.
    pub delete_count: u64,
    /// Deletes that the key itself had counted, where it is an upload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_deletes: Option<u64>,
}

impl Precondition {
    /// The condition of a request.
    ///
    /// # Errors
    /// [`Error::HeaderNotImplemented`] for both conditions at once, `If-None-Match` with a tag, and `If-Match: *`.
    pub fn read(fields: &Fields<'_>) -> Result<Self, Error> {
        let refused =
            |header, reason| Err(Error::HeaderNotImplemented { header, reason: Some(reason) });
        match (fields.get("if-match")?, fields.get("if-none-match")?) {
            (None, None) => Ok(Self::None),
            (Some(_), Some(_)) => refused(
                "If-Match,If-None-Match",
                "Multiple conditional request headers present in the request",
            ),
            (None, Some(value)) if value == "*" => Ok(Self::Absent),
            (None, Some(_)) => refused(
                IF_NONE_MATCH,
                "We don't accept the provided value of If-None-Match header for this API",
            ),
            (Some(value), None) if value == "*" => refused(
                IF_MATCH,
                "We don't accept the provided value of If-Match header for this API",
            ),
            (Some(value), None) => Ok(Self::Matches(etag::bare(&value).to_owned())),
        }
    }

    /// Checks the condition at the start, against the current object.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`]; [`Error::NoSuchKey`] for `If-Match` on an absent key, where the dialect has it so.
    pub fn check_at_start(
        &self,
        dialect: Dialect,
        key: &Key,
        current: Option<&ObjectVersion>,
    ) -> Result<(), Error> {
        match (self, tag_of(current)) {
            (Self::None, _) | (Self::Absent, None) => Ok(()),
            (Self::Absent, Some(_)) => Err(Error::PreconditionFailed { condition: IF_NONE_MATCH }),
            (Self::Matches(_), None) if dialect.names().absent_match_is_not_found => {
                Err(Error::NoSuchKey { key: key.to_string() })
            }
            (Self::Matches(wanted), Some(tag)) if wanted == tag => Ok(()),
            (Self::Matches(_), _) => Err(Error::PreconditionFailed { condition: IF_MATCH }),
        }
    }

    /// Checks again at the commit a condition that held at the start; `is_deleted` says whether the key was deleted since.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] for a create that lost to another;
    /// [`Error::ConditionalRequestConflict`] for anything else that came in between, a create and its delete too.
    pub fn check_at_commit(
        &self,
        key: &Key,
        snapshot: &Snapshot,
        current: Option<&ObjectVersion>,
        is_deleted: bool,
    ) -> Result<(), Error> {
        let conflict =
            |condition| Err(Error::ConditionalRequestConflict { condition, key: key.to_string() });
        match self {
            Self::None => Ok(()),
            Self::Absent if current.is_some() => {
                Err(Error::PreconditionFailed { condition: IF_NONE_MATCH })
            }
            Self::Absent if is_deleted => conflict(IF_NONE_MATCH),
            Self::Absent => Ok(()),
            Self::Matches(_) if current.map(|current| current.version) != snapshot.current => {
                conflict(IF_MATCH)
            }
            Self::Matches(_) => Ok(()),
        }
    }
}

fn tag_of(current: Option<&ObjectVersion>) -> Option<&str> {
    current.and_then(|version| version.data.as_ref()).map(|data| data.etag.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&str, &str)]) -> Result<Precondition, Error> {
        Precondition::read(&Fields::of(
            headers.iter().map(|(name, value)| (*name, value.as_bytes())),
        ))
    }

    #[test]
    fn forms_that_put_does_not_know_are_not_implemented() {
        for headers in [
            &[("if-match", "*")][..],
            &[("if-none-match", "\"abc\"")],
            &[("if-none-match", "*"), ("if-none-match", "*")],
            &[("if-match", "\"abc\""), ("if-none-match", "*")],
        ] {
            assert!(
                matches!(read(headers), Err(Error::HeaderNotImplemented { .. })),
                "{headers:?}"
            );
        }
        assert_eq!(read(&[]), Ok(Precondition::None));
        assert_eq!(read(&[("if-none-match", "*")]), Ok(Precondition::Absent));
        assert_eq!(read(&[("if-match", "\"abc\"")]), Ok(Precondition::Matches("abc".to_owned())));
    }

    #[test]
    fn a_match_on_an_absent_key_is_answered_as_the_dialect_has_it() {
        let key = Key::new("k".to_owned()).unwrap();
        let condition = Precondition::Matches("abc".to_owned());
        assert_eq!(
            condition.check_at_start(Dialect::Store, &key, None),
            Err(Error::PreconditionFailed { condition: IF_MATCH })
        );
        assert_eq!(
            condition.check_at_start(Dialect::Amz, &key, None),
            Err(Error::NoSuchKey { key: "k".to_owned() })
        );
    }

    #[test]
    fn a_key_that_came_and_went_in_between_is_a_conflict() {
        let key = Key::new("k".to_owned()).unwrap();
        let snapshot = Snapshot::default();
        let check = |deleted| Precondition::Absent.check_at_commit(&key, &snapshot, None, deleted);
        assert_eq!(check(false), Ok(()));
        assert!(matches!(check(true), Err(Error::ConditionalRequestConflict { .. })));
    }
}
