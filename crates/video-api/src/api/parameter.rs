//! Parameters: what an operation takes in its query and path, and reading them.

use std::collections::BTreeSet;

use triptych_core::time::Timestamp;

use crate::api::error::{Error, Place, Rule};
use crate::api::language;

/// The type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number from the first to the second, both included.
    Unsigned(u32, u32),
    /// As [`Kind::Unsigned`], declared as a signed number.
    Signed(i32, i32),
    /// A moment in RFC 3339.
    Moment,
    /// As [`Kind::Moment`], or a day, which stands for its begin in UTC.
    DayOrMoment,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// The code of a language of i18nLanguages.list.
    Language,
    /// The code of a region of i18nRegions.list.
    Region,
}

/// One parameter of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub doc: &'static str,
    /// The type of each value.
    pub kind: Kind,
    /// True if a request without it is refused.
    pub required: bool,
    /// True if it may be given more than once, or as a list with commas.
    pub repeated: bool,
    /// True if it stands in the path.
    pub in_path: bool,
    /// The value that holds without it, as text.
    pub default: Option<&'static str>,
    /// True if it asks for somebody's own data, so that a token is needed.
    pub private: bool,
    /// True if new clients should leave it out.
    pub deprecated: bool,
    /// The rule for a value that its list does not hold, where the operation documents a reason of its own.
    pub unlisted: Option<&'static Rule>,
}

impl Param {
    /// A parameter that may be left out and is any text.
    #[must_use]
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            kind: Kind::Text,
            required: false,
            repeated: false,
            in_path: false,
            default: None,
            private: false,
            deprecated: false,
            unlisted: None,
        }
    }

    /// A parameter of this type.
    #[must_use]
    pub const fn of(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { kind, ..Self::text(name, doc) }
    }

    /// The same, and required.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The same, and a list.
    #[must_use]
    pub const fn repeated(self) -> Self {
        Self { repeated: true, ..self }
    }

    /// The same, and in the path.
    #[must_use]
    pub const fn in_path(self) -> Self {
        Self { in_path: true, ..self }
    }

    /// The same, and this holds without it.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same, and it needs a token.
    #[must_use]
    pub const fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// The same, and deprecated.
    #[must_use]
    pub const fn deprecated(self) -> Self {
        Self { deprecated: true, ..self }
    }

    /// The same, and a value that its list does not hold is refused with this.
    #[must_use]
    pub const fn unlisted(self, rule: &'static Rule) -> Self {
        Self { unlisted: Some(rule), ..self }
    }

    fn check(&self, value: &str) -> Result<(), Error> {
        let invalid = |kind| Error::InvalidValue { name: self.name, kind, value: value.to_owned() };
        match self.kind {
            Kind::Text => Ok(()),
            Kind::Boolean => boolean(value).map(|_| ()).ok_or_else(|| invalid("boolean")),
            Kind::Unsigned(least, most) => {
                let number: u32 = value.parse().map_err(|_| invalid("unsigned integer"))?;
                self.within(value, number.into(), least.into(), most.into())
            }
            Kind::Signed(least, most) => {
                let number: i32 = value.parse().map_err(|_| invalid("integer"))?;
                self.within(value, number.into(), least.into(), most.into())
            }
            Kind::Moment => {
                Timestamp::from_rfc3339(value).map(|_| ()).ok_or_else(|| invalid("date-time"))
            }
            Kind::DayOrMoment => {
                day_or_moment(value).map(|_| ()).ok_or_else(|| invalid("date-time"))
            }
            Kind::Language => language::check(value, || Place::parameter(self.name)),
            Kind::Region => language::check_region(value),
            Kind::OneOf(allowed) if named(allowed, value).is_some() => Ok(()),
            Kind::OneOf(allowed) => Err(self.unlisted.map_or_else(
                || Error::UnknownValue { name: self.name, value: value.to_owned(), allowed },
                Error::from,
            )),
        }
    }

    /// The value as its list has it.
    fn as_listed(&self, value: String) -> String {
        match self.kind {
            Kind::OneOf(allowed) => named(allowed, &value).map_or(value, str::to_owned),
            _ => value,
        }
    }

    fn within(&self, value: &str, number: i64, least: i64, most: i64) -> Result<(), Error> {
        if (least..=most).contains(&number) {
            return Ok(());
        }
        Err(Error::OutOfRange { name: self.name, value: value.to_owned(), least, most })
    }
}

/// Names of parts.
pub(crate) const PART: Param = Param::text(
    "part",
    "The parts of the resource: which are returned, and for a write which are written.",
)
.required()
.repeated();
/// The size of a page.
pub(crate) const MAX_RESULTS: Param =
    Param::of("maxResults", Kind::Unsigned(0, 50), "How many items a page has at most.")
        .default("5");
/// The place of a page.
pub(crate) const PAGE_TOKEN: Param = Param::text(
    "pageToken",
    "The page, as nextPageToken or prevPageToken of another answer named it.",
);
/// The language of localized texts.
pub(crate) const HL: Param =
    Param::of("hl", Kind::Language, "The language of localized texts (i18nLanguages.list).");
/// A content owner, whom nothing here needs.
pub(crate) const OWNER: Param = Param::text(
    "onBehalfOfContentOwner",
    "The content owner on whose behalf a partner acts; read and not needed here.",
);
/// A channel of a content owner, whom nothing here needs.
pub(crate) const OWNER_CHANNEL: Param = Param::text(
    "onBehalfOfContentOwnerChannel",
    "The channel on whose behalf a partner acts; read and not needed here.",
);
/// One id.
pub(crate) const ID: Param = Param::text("id", "The id of the resource.").required();
/// Ids.
pub(crate) const IDS: Param = Param::text("id", "Ids, at most 50.").repeated();

/// A country.
pub(crate) const REGION_CODE: Param =
    Param::of("regionCode", Kind::Region, "A country (i18nRegions.list).");

/// Values of a list that are compared one by one.
const FEW: usize = 16;

/// The name of a list that a text is, in any letter case: the real service tells its own in lower case, and takes either.
#[must_use]
pub fn named(list: &[&'static str], text: &str) -> Option<&'static str> {
    list.iter().copied().find(|name| name.eq_ignore_ascii_case(text))
}

/// The boolean that a text is, in any case, or as a digit.
#[must_use]
pub fn boolean(value: &str) -> Option<bool> {
    match value {
        _ if value.eq_ignore_ascii_case("true") || value == "1" => Some(true),
        _ if value.eq_ignore_ascii_case("false") || value == "0" => Some(false),
        _ => None,
    }
}

/// The moment that a text is, or the begin of the day that it is.
fn day_or_moment(value: &str) -> Option<Timestamp> {
    let begin = || Timestamp::from_rfc3339(&format!("{value}T00:00:00Z"));
    Timestamp::from_rfc3339(value).or_else(begin)
}

/// Parameters that every operation takes beside its own.
pub const GLOBAL: &[Param] = &[
    Param::of("$.xgafv", Kind::OneOf(&["1", "2"]), "V1 error format."),
    Param::text("access_token", "OAuth access token."),
    Param::of("alt", Kind::OneOf(&["json", "media", "proto"]), "Data format for response.")
        .default("json"),
    Param::text(
        "callback",
        "The JavaScript function that is called with the answer to a GET (JSONP).",
    ),
    Param::text("fields", "Selector specifying which fields to include in a partial response."),
    Param::text("key", "API key."),
    Param::text("oauth_token", "OAuth 2.0 token for the current user."),
    Param::of("prettyPrint", Kind::Boolean, "Returns response with indentations and line breaks.")
        .default("true"),
    Param::text("quotaUser", "Available to use for quota purposes for server-side applications."),
    Param::text("uploadType", "Legacy upload protocol for media."),
    Param::text("upload_protocol", "Upload protocol for media."),
];

/// Checks what every operation takes; `alt` depends on the operation and is checked with it.
///
/// # Errors
/// The fault of the first value that has one.
pub fn check_global(pairs: &[(String, String)]) -> Result<(), Error> {
    let given = pairs.iter().filter(|(name, value)| name != "alt" && !value.is_empty());
    for (name, value) in given {
        if let Some(param) = GLOBAL.iter().find(|param| param.name == name) {
            param.check(value)?;
        }
    }
    Ok(())
}

/// The parameters of one request, checked against its operation.
#[derive(Debug, Clone, Default)]
pub struct Params {
    row: &'static [Param],
    values: Vec<(&'static str, Vec<String>)>,
}

impl Params {
    /// Reads the pairs of a query. Empty values count as absent; lists are split at commas, and what stands twice counts once.
    ///
    /// # Errors
    /// In this order: [`Error::UnknownParameter`] under `strict`; then for each parameter in the operation's order
    /// [`Error::Required`], [`Error::Repeated`], and the fault of its value.
    pub fn read(
        params: &'static [Param],
        pairs: &[(String, String)],
        strict: bool,
    ) -> Result<Self, Error> {
        if strict {
            let known = |name: &str| {
                params.iter().chain(GLOBAL).any(|param| param.name == name) || name == "upload_id"
            };
            if let Some((name, _)) = pairs.iter().find(|(name, _)| !known(name)) {
                return Err(Error::UnknownParameter(name.clone()));
            }
        }
        let mut values = Vec::new();
        for param in params {
            let given =
                pairs.iter().filter(|(name, value)| name == param.name && !value.is_empty());
            let mut found: Vec<String> = Vec::new();
            if param.repeated {
                let pieces = given.flat_map(|(_, value)| value.split(',')).map(str::trim);
                let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
                found.reserve(pieces.len());
                // A set is worth its cost only where comparing each with all would cost more.
                let mut seen = (pieces.len() > FEW).then(BTreeSet::new);
                for piece in pieces {
                    let is_new = match &mut seen {
                        Some(seen) => seen.insert(piece),
                        None => !found.iter().any(|known| known == piece),
                    };
                    if is_new {
                        found.push(piece.to_owned());
                    }
                }
            } else {
                found.extend(given.map(|(_, value)| value.clone()));
                if found.len() > 1 {
                    return Err(Error::Repeated(param.name));
                }
            }
            if found.is_empty() {
                if param.required {
                    return Err(Error::Required(param.name));
                }
                continue;
            }
            for value in &found {
                param.check(value)?;
            }
            let found = found.into_iter().map(|value| param.as_listed(value)).collect();
            values.push((param.name, found));
        }
        Ok(Self { row: params, values })
    }

    /// Returns whether the operation takes a parameter of this name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.row.iter().any(|param| param.name == name)
    }

    /// All values of a list. Only what the row of the operation names can be looked up: another name is a mistake of the handler.
    #[must_use]
    pub fn list(&self, name: &str) -> &[String] {
        debug_assert!(self.takes(name), "the row of the operation does not name {name}");
        self.values.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }

    /// The value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.list(name).first().map(String::as_str)
    }

    /// Returns whether it is given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns whether it is given and true.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(boolean).unwrap_or_default()
    }

    /// The number, or the default of its row without one.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        let row = self.row.iter().find(|param| param.name == name);
        self.get(name).or(row?.default).and_then(|value| value.parse().ok())
    }

    /// The moment.
    #[must_use]
    pub fn moment(&self, name: &str) -> Option<Timestamp> {
        self.get(name).and_then(day_or_moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[
        Param::text("part", "").required().repeated(),
        Param::of("maxResults", Kind::Unsigned(0, 50), ""),
        Param::of("chart", Kind::OneOf(&["mostPopular"]), ""),
        Param::of("mine", Kind::Boolean, ""),
        Param::of("after", Kind::Moment, ""),
        Param::of("since", Kind::DayOrMoment, ""),
    ];

    fn read(query: &[(&str, &str)]) -> Result<Params, Error> {
        let pairs: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::read(PARAMS, &pairs, false)
    }

    #[test]
    fn lists_are_given_repeated_or_with_commas_and_count_once() {
        let params =
            read(&[("part", "id,snippet"), ("part", "snippet"), ("part", " status ")]).unwrap();
        assert_eq!(params.list("part"), ["id", "snippet", "status"]);
    }

    #[test]
    fn a_name_of_a_list_is_taken_in_any_letter_case_and_read_as_the_list_has_it() {
        for chart in ["mostPopular", "mostpopular", "MOSTPOPULAR"] {
            let params = read(&[("part", "id"), ("chart", chart)]).unwrap();
            assert_eq!(params.get("chart"), Some("mostPopular"));
        }
        assert!(read(&[("part", "id"), ("chart", "mostPopula\u{17f}")]).is_err());
    }

    #[test]
    fn a_day_is_its_begin_where_days_are_taken() {
        let moment = Timestamp::from_rfc3339("2026-01-02T00:00:00Z");
        for since in ["2026-01-02", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00"] {
            assert_eq!(read(&[("part", "id"), ("since", since)]).unwrap().moment("since"), moment);
        }
        for since in ["2026-01", "2026-01-32", "2026-01-02T", "yesterday"] {
            assert!(read(&[("part", "id"), ("since", since)]).is_err(), "{since}");
        }
        assert!(read(&[("part", "id"), ("after", "2026-01-02")]).is_err());
    }

    #[test]
    fn every_fault_has_its_message() {
        for (query, message) in [
            (&[][..], "Required parameter: part"),
            (&[("part", "")], "Required parameter: part"),
            (
                &[("part", "id"), ("maxResults", "51")],
                "Invalid value '51'. Values must be within the range: [0, 50]",
            ),
            (&[("part", "id"), ("maxResults", "-1")], "Invalid unsigned integer value: '-1'"),
            (&[("part", "id"), ("maxResults", "x")], "Invalid unsigned integer value: 'x'"),
            (
                &[("part", "id"), ("chart", "asdf")],
                "Invalid string value: 'asdf'. Allowed values: [mostPopular]",
            ),
            (&[("part", "id"), ("mine", "maybe")], "Invalid boolean value: 'maybe'"),
            (&[("part", "id"), ("after", "yesterday")], "Invalid date-time value: 'yesterday'"),
            (
                &[("part", "id"), ("mine", "true"), ("mine", "false")],
                "The parameter mine can be given only once.",
            ),
        ] {
            assert_eq!(read(query).unwrap_err().to_string(), message);
        }
        assert!(read(&[("part", "id"), ("unknown", "x")]).is_ok());
        let pairs = [("part".to_owned(), "id".to_owned()), ("unknown".to_owned(), "x".to_owned())];
        assert!(matches!(Params::read(PARAMS, &pairs, true), Err(Error::UnknownParameter(_))));
    }
}
