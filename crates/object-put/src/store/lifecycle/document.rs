//! The document of lifecycle rules: read, and refused where a rule of it could not hold.

use crate::error::Error;
use crate::request::xml::{Element, escape};
use crate::store::lifecycle::field::{midnight, positive};
use crate::store::lifecycle::transition::{self, TransitionAction};
use crate::store::lifecycle::{
    Expiration, Filter, Lifecycle, NoncurrentExpiration, Rule, TransitionLeast,
};
use crate::store::tagging::{KEY_CHARACTERS_MAX, TagTarget, Tags, VALUE_CHARACTERS_MAX};

/// The most rules of a bucket.
const RULES_MAX: usize = 1000;
/// The most characters of a rule's name.
const ID_CHARACTERS_MAX: usize = 255;
/// The most bytes of a prefix, as of a key.
const PREFIX_BYTES_MAX: usize = 1024;
/// The most bytes that a filter may name.
const SIZE_MAX: i64 = 1_099_511_627_776_000;
/// The most newer versions that a rule may keep beside the current one.
const NEWER_MAX: u32 = 100;

const EXPIRATION: &str = "Expiration";
const NONCURRENT: &str = "NoncurrentVersionExpiration";
const ABORT: &str = "AbortIncompleteMultipartUpload";
const MARKERS: &str = "ExpiredObjectDeleteMarker";
const LARGER: &str = "ObjectSizeGreaterThan";
const SMALLER: &str = "ObjectSizeLessThan";
const NEWER: &str = "NewerNoncurrentVersions";
/// The actions of a rule: those that count here, and those that are kept without effect.
const ACTIONS: [&str; 5] =
    [EXPIRATION, "Transition", "NoncurrentVersionTransition", NONCURRENT, ABORT];

/// The generation of a document, by its first rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    /// Rules with a prefix of their own, none of which takes what another one takes.
    Prefixes,
    /// Rules with filters.
    Filters,
}

impl Lifecycle {
    /// The rules of a `LifecycleConfiguration` document; rules without an id get one from `draw`.
    ///
    /// # Errors
    /// `MalformedXml`; `InvalidRequest` for more rules than a bucket has; `InvalidArgument` for ids that are too long or there twice,
    /// dates that are no midnight, days that are not positive or come too early; `InvalidRequest` for what does not go together in a
    /// rule, or in two.
    pub fn from_xml(body: &[u8], mut draw: impl FnMut() -> String) -> Result<Self, Error> {
        let mut root = Element::parse(body, "LifecycleConfiguration")?;
        root.has_only(&[], &["Rule"])?;
        let generation = match root.children.first() {
            None => return Err(Error::MalformedXml),
            Some(first) if first.child("Filter").is_some() => Generation::Filters,
            Some(_) => Generation::Prefixes,
        };
        if root.children.len() > RULES_MAX {
            return Err(Error::request(format!(
                "The number of lifecycle rules must not exceed the allowed limit of {RULES_MAX} rules."
            )));
        }
        let mut rules: Vec<Rule> = Vec::new();
        for element in &mut root.children {
            if element.text_of("ID").is_none_or(str::is_empty) {
                element.children.retain(|child| child.name != "ID");
                let id = Element { name: "ID".to_owned(), text: draw(), ..Element::default() };
                element.children.insert(0, id);
            }
            let rule = rule(element, generation)?;
            if rules.iter().any(|own| own.id == rule.id) {
                return Err(Error::argument(
                    "ID",
                    Some(&rule.id),
                    "Rule ID must be unique. Found same ID for more than one rule",
                ));
            }
            rules.push(rule);
        }
        if generation == Generation::Prefixes {
            check_apart(&root)?;
        }
        let mut document = String::new();
        root.children.iter().for_each(|child| copy(child, &mut document));
        Ok(Self { rules, document, transition_least: TransitionLeast::default() })
    }
}

/// Checks that of rules without filters no two do the same to one key.
fn check_apart(root: &Element) -> Result<(), Error> {
    for action in ACTIONS {
        let with = root.children.iter().filter(|rule| rule.child(action).is_some());
        let mut prefixes: Vec<_> = with.filter_map(|rule| rule.child("Prefix")).collect();
        prefixes.sort_unstable_by_key(|prefix| &prefix.text);
        // In their order, one that begins another begins the one after it.
        for (one, next) in prefixes.iter().zip(prefixes.iter().skip(1)) {
            if next.text.starts_with(&one.text) {
                return Err(Error::request(format!(
                    "Found overlapping prefixes '{}' and '{}' for same action type '{action}'",
                    one.text, next.text
                )));
            }
        }
    }
    Ok(())
}

fn rule(element: &Element, generation: Generation) -> Result<Rule, Error> {
    let often = [TransitionAction::Current.name(), TransitionAction::Noncurrent.name()];
    element
        .has_only(&["ID", "Status", "Prefix", "Filter", EXPIRATION, NONCURRENT, ABORT], &often)?;
    let id = element.required("ID")?.to_owned();
    if id.chars().count() > ID_CHARACTERS_MAX {
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
    let filter = scope(element, generation)?;
    if !ACTIONS.iter().any(|name| element.child(name).is_some()) {
        return Err(Error::request("At least one action needs to be specified in a rule"));
    }
    let expiration = element.child(EXPIRATION).map(read_expiration).transpose()?.flatten();
    let noncurrent = element.child(NONCURRENT).map(|end| read_noncurrent(end, generation));
    let noncurrent = noncurrent.transpose()?;
    let abort_days = element.child(ABORT).map(read_abort).transpose()?.flatten();
    let of_markers = element.child(EXPIRATION).is_some_and(|end| end.child(MARKERS).is_some());
    check_filter(&filter, of_markers, element.child(ABORT).is_some())?;
    transition::check(element, &filter, expiration, noncurrent)?;
    Ok(Rule { id, enabled, filter, expiration, noncurrent, abort_days })
}

/// The filter of a rule, in the form that its document's generation has.
fn scope(element: &Element, generation: Generation) -> Result<Filter, Error> {
    let filter = match (element.child("Filter"), element.child("Prefix"), generation) {
        (Some(filter), None, Generation::Filters) => read_filter(filter)?,
        (None, Some(prefix), Generation::Prefixes) => {
            Filter { prefix: prefix.text.clone(), ..Filter::default() }
        }
        (None, Some(_), Generation::Filters) => {
            return Err(Error::request(
                "Base level prefix cannot be used in Lifecycle V2, prefixes are only supported in the Filter.",
            ));
        }
        (Some(_), None, Generation::Prefixes) => {
            return Err(Error::request("Filter element can only be used in Lifecycle V2."));
        }
        _ => return Err(Error::MalformedXml),
    };
    match filter.prefix.len() > PREFIX_BYTES_MAX {
        true => Err(Error::request(format!("The maximum size of a prefix is {PREFIX_BYTES_MAX}"))),
        false => Ok(filter),
    }
}

/// Checks that a rule does not ask for tags or sizes of what has none: delete markers, and uploads that are not finished.
fn check_filter(filter: &Filter, of_markers: bool, of_uploads: bool) -> Result<(), Error> {
    let asks_tags = !filter.tags.0.is_empty();
    let asks_size = filter.larger.is_some() || filter.smaller.is_some();
    let action = match (of_markers, of_uploads) {
        (true, _) => MARKERS,
        (false, true) => ABORT,
        (false, false) => return Ok(()),
    };
    let refused =
        |asked| Err(Error::request(format!("{action} cannot be specified with {asked}.")));
    match (asks_tags, asks_size) {
        (true, _) => refused("Tags"),
        (false, true) => refused("Object Size"),
        (false, false) => Ok(()),
    }
}

/// `AbortIncompleteMultipartUpload`: its days.
fn read_abort(element: &Element) -> Result<Option<u32>, Error> {
    const DAYS: &str = "DaysAfterInitiation";
    element.has_only(&[DAYS], &[])?;
    let reason = "'DaysAfterInitiation' for AbortIncompleteMultipartUpload action must be a positive integer";
    element.text_of(DAYS).map(|days| positive(DAYS, days, u32::MAX, reason)).transpose()
}

/// `NoncurrentVersionExpiration`: its days, and how many newer versions it keeps.
fn read_noncurrent(
    element: &Element,
    generation: Generation,
) -> Result<NoncurrentExpiration, Error> {
    element.has_only(&["NoncurrentDays", NEWER], &[])?;
    let number = |name: &'static str, most: u32| -> Result<Option<u32>, Error> {
        let reason =
            format!("'{name}' for NoncurrentVersionExpiration action must be a positive integer");
        element.text_of(name).map(|text| positive(name, text, most, reason)).transpose()
    };
    let days = number("NoncurrentDays", u32::MAX)?.ok_or(Error::MalformedXml)?;
    let newer = number(NEWER, NEWER_MAX)?;
    if newer.is_some() && generation == Generation::Prefixes {
        return Err(Error::request(
            "NewerNoncurrentVersions element can only be used in Lifecycle V2.",
        ));
    }
    Ok(NoncurrentExpiration { days, newer: newer.unwrap_or(0) })
}

/// `Expiration`: the end of objects, or that of delete markers; `None` where it says that those stay.
fn read_expiration(element: &Element) -> Result<Option<Expiration>, Error> {
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
            let reason = "'Days' for Expiration action must be a positive integer";
            positive("Days", days, u32::MAX, reason).map(Expiration::Days)
        }
        (None, Some(date)) => midnight(date).map(Expiration::Date),
        _ => Err(Error::MalformedXml),
    }
}

fn read_filter(element: &Element) -> Result<Filter, Error> {
    let (scope, several) = match element.child("And") {
        Some(both) => (both, both.children.len() > 1),
        None => (element, false),
    };
    element.has_only(&["And", "Prefix", LARGER, SMALLER, "Tag"], &[])?;
    scope.has_only(&["Prefix", LARGER, SMALLER], &["Tag"])?;
    // A filter has one condition, or none for every object; several stand together in one element.
    if element.children.len() > 1 || (scope.name == "And" && !several) {
        return Err(Error::MalformedXml);
    }
    let (larger, smaller) = (bytes(scope, LARGER, 0)?, bytes(scope, SMALLER, 1)?);
    if larger.zip(smaller).is_some_and(|(larger, smaller)| smaller <= larger) {
        return Err(Error::request(format!(
            "'{SMALLER}' has to be a value greater than '{LARGER}'."
        )));
    }
    let prefix = scope.child("Prefix").map(|prefix| prefix.text.clone()).unwrap_or_default();
    Ok(Filter { prefix, tags: read_tags(scope)?, larger, smaller })
}

/// A size that a filter names, of `least` bytes or more.
fn bytes(scope: &Element, name: &str, least: i64) -> Result<Option<u64>, Error> {
    let Some(text) = scope.text_of(name) else {
        return Ok(None);
    };
    let number = text.parse::<i64>().map_err(|_| Error::MalformedXml)?;
    let size = u64::try_from(number).ok().filter(|_| (least..=SIZE_MAX).contains(&number));
    let refused = || format!("'{name}' should be between {least} and {SIZE_MAX}.");
    size.map(Some).ok_or_else(|| Error::request(refused()))
}

/// The tags that a filter names.
fn read_tags(scope: &Element) -> Result<Tags, Error> {
    let longest = |name: &'static str| {
        let texts = scope.all("Tag").filter_map(move |tag| tag.child(name));
        texts.map(|own| own.text.chars().count())
    };
    if longest("Key").any(|length| length == 0 || length > KEY_CHARACTERS_MAX) {
        return Err(Error::request("A Tag's Key must be a length between 1 and 128."));
    }
    if longest("Value").any(|length| length > VALUE_CHARACTERS_MAX) {
        return Err(Error::request("A Tag's Value must be a length between 0 and 256."));
    }
    Tags::of_element(scope, TagTarget::Object).map_err(|error| match error {
        Error::InvalidTag { .. } => Error::request("Duplicate Tag Keys are not allowed."),
        error => error,
    })
}

fn copy(element: &Element, out: &mut String) {
    out.push_str(&format!("<{}>", element.name));
    if element.children.is_empty() {
        escape(&element.text, out);
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

    /// The answer to one rule with this filter and these actions.
    fn answer(filter: &str, actions: &str) -> Result<Lifecycle, Error> {
        read(&format!("<Rule><Status>Enabled</Status><Filter>{filter}</Filter>{actions}</Rule>"))
    }

    fn request(reason: &str) -> Result<Lifecycle, Error> {
        Err(Error::request(reason.to_owned()))
    }

    const END: &str = "<Expiration><Days>1</Days></Expiration>";

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
        for inner in ["", filter] {
            let reason = "At least one action needs to be specified in a rule";
            let expected =
                if inner.is_empty() { Err(Error::MalformedXml) } else { request(reason) };
            assert_eq!(with(inner), expected, "{inner}");
        }
        for inner in [
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

    #[test]
    fn documents_are_of_one_generation() {
        let prefixed = |id: &str, prefix: &str, actions: &str| {
            format!(
                "<Rule><ID>{id}</ID><Status>Enabled</Status><Prefix>{prefix}</Prefix>{actions}</Rule>"
            )
        };
        let filtered = format!("<Rule><ID>f</ID><Status>Enabled</Status><Filter/>{END}</Rule>");
        let both = |one: &str, next: &str| read(&format!("{one}{next}"));
        assert_eq!(
            both(&filtered, &prefixed("p", "a", END)),
            request(
                "Base level prefix cannot be used in Lifecycle V2, prefixes are only supported in the Filter."
            )
        );
        assert_eq!(
            both(&prefixed("p", "a", END), &filtered),
            request("Filter element can only be used in Lifecycle V2.")
        );
        // Of two rules with prefixes alone none may take what the other one takes.
        let other = "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
        assert!(both(&prefixed("p", "a/", END), &prefixed("q", "b/", END)).is_ok());
        assert!(both(&prefixed("p", "a/", END), &prefixed("q", "a/b", other)).is_ok());
        assert_eq!(
            both(&prefixed("p", "a/b", END), &prefixed("q", "a/", END)),
            request("Found overlapping prefixes 'a/' and 'a/b' for same action type 'Expiration'")
        );
        let newer = "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>1</NewerNoncurrentVersions></NoncurrentVersionExpiration>";
        assert!(answer("", newer).is_ok());
        assert_eq!(
            read(&prefixed("p", "", newer)),
            request("NewerNoncurrentVersions element can only be used in Lifecycle V2.")
        );
    }

    #[test]
    fn a_filter_names_what_objects_can_have() {
        let with = |filter: &str| answer(filter, END);
        let tag =
            |key: &str, value: &str| format!("<Tag><Key>{key}</Key><Value>{value}</Value></Tag>");
        let sizes = |larger: &str, smaller: &str| {
            format!(
                "<And><ObjectSizeGreaterThan>{larger}</ObjectSizeGreaterThan><ObjectSizeLessThan>{smaller}</ObjectSizeLessThan></And>"
            )
        };
        assert!(with(&format!("<Prefix>{}</Prefix>", "a".repeat(1024))).is_ok());
        assert!(with(&sizes("0", "1099511627776000")).is_ok());
        assert!(with(&tag(&"k".repeat(128), &"v".repeat(256))).is_ok());
        let smaller = "'ObjectSizeLessThan' should be between 1 and 1099511627776000.";
        for (filter, reason) in [
            (
                format!("<Prefix>{}</Prefix>", "a".repeat(1025)),
                "The maximum size of a prefix is 1024",
            ),
            (tag(&"k".repeat(129), ""), "A Tag's Key must be a length between 1 and 128."),
            (tag("", ""), "A Tag's Key must be a length between 1 and 128."),
            (tag("k", &"v".repeat(257)), "A Tag's Value must be a length between 0 and 256."),
            (
                format!("<And>{}{}</And>", tag("k", "a"), tag("k", "b")),
                "Duplicate Tag Keys are not allowed.",
            ),
            (sizes("-1", "5"), "'ObjectSizeGreaterThan' should be between 0 and 1099511627776000."),
            (sizes("0", "0"), smaller),
            (sizes("0", "1099511627776001"), smaller),
            (
                sizes("5", "5"),
                "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.",
            ),
        ] {
            assert_eq!(with(&filter), request(reason), "{filter}");
        }
        assert_eq!(with("<ObjectSizeLessThan>ten</ObjectSizeLessThan>"), Err(Error::MalformedXml));
    }

    #[test]
    fn delete_markers_and_unfinished_uploads_have_no_tags_and_no_size() {
        let marker =
            "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>";
        let abort = "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>";
        for (name, actions) in [(MARKERS, marker), (ABORT, abort)] {
            assert!(answer("<Prefix>a</Prefix>", actions).is_ok());
            for (filter, asked) in [
                ("<Tag><Key>k</Key><Value>v</Value></Tag>", "Tags"),
                ("<ObjectSizeLessThan>5</ObjectSizeLessThan>", "Object Size"),
                ("<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>", "Object Size"),
            ] {
                let reason = format!("{name} cannot be specified with {asked}.");
                assert_eq!(answer(filter, actions), request(&reason));
            }
        }
    }

    #[test]
    fn a_bucket_has_a_thousand_rules() {
        let rules = |count: usize| -> String {
            (0..count)
                .map(|at| {
                    format!("<Rule><ID>{at}</ID><Status>Enabled</Status><Filter/>{END}</Rule>")
                })
                .collect()
        };
        assert!(read(&rules(1000)).is_ok());
        let reason =
            "The number of lifecycle rules must not exceed the allowed limit of 1000 rules.";
        assert_eq!(read(&rules(1001)), request(reason));
    }
}
