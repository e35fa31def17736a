//! Transitions of lifecycle rules: kept without effect, since nothing here moves objects, and refused where the real service refuses
//! them.

use crate::error::Error;
use crate::request::xml::Element;
use crate::store::lifecycle::field::{midnight, positive};
use crate::store::lifecycle::{DAY_SECONDS, Expiration, Filter, NoncurrentExpiration};

/// The classes that a transition may name, in the order in which an object goes through them, and the fewest days before each, which
/// are also the fewest from it to the next.
const CLASSES: [(&str, i64); 6] = [
    ("STANDARD_IA", 30),
    ("INTELLIGENT_TIERING", 0),
    ("ONEZONE_IA", 30),
    ("GLACIER_IR", 0),
    ("GLACIER", 0),
    ("DEEP_ARCHIVE", 0),
];

/// The versions that a transition is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransitionAction {
    /// Current ones.
    Current,
    /// Those that are not current.
    Noncurrent,
}

impl TransitionAction {
    /// The name of its element.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Current => "Transition",
            Self::Noncurrent => "NoncurrentVersionTransition",
        }
    }

    /// The element that ends what it moves.
    const fn end(self) -> &'static str {
        match self {
            Self::Current => "Expiration",
            Self::Noncurrent => "NoncurrentVersionExpiration",
        }
    }

    /// The element with its days.
    const fn days(self) -> &'static str {
        match self {
            Self::Current => "Days",
            Self::Noncurrent => "NoncurrentDays",
        }
    }
}

/// A time that a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// So many days after something.
    Days(i64),
    /// The day of a date.
    Date(i64),
}

impl When {
    const fn is_date(self) -> bool {
        matches!(self, Self::Date(_))
    }

    const fn field(self, action: TransitionAction) -> &'static str {
        match self {
            Self::Days(_) => action.days(),
            Self::Date(_) => "Date",
        }
    }
}

impl Expiration {
    fn when(self) -> Option<When> {
        match self {
            Self::Days(days) => Some(When::Days(i64::from(days))),
            Self::Date(date) => Some(When::Date(date.seconds().div_euclid(DAY_SECONDS))),
            Self::DeleteMarker => None,
        }
    }
}

/// Checks the transitions of a rule, beside the ends that it has.
///
/// # Errors
/// `MalformedXml`; `InvalidArgument` for a time that is none, or not after another one that it must follow; `InvalidRequest` for a
/// class that is there twice, and for dates beside days.
pub(super) fn check(
    rule: &Element,
    filter: &Filter,
    expiration: Option<Expiration>,
    noncurrent: Option<NoncurrentExpiration>,
) -> Result<(), Error> {
    let end = expiration.and_then(Expiration::when);
    check_action(rule, TransitionAction::Current, filter, end)?;
    let end = noncurrent.map(|own| When::Days(i64::from(own.days)));
    check_action(rule, TransitionAction::Noncurrent, filter, end)
}

fn check_action(
    rule: &Element,
    action: TransitionAction,
    filter: &Filter,
    end: Option<When>,
) -> Result<(), Error> {
    let transitions = rule.all(action.name()).map(|element| read(element, action));
    let mut transitions = transitions.collect::<Result<Vec<_>, Error>>()?;
    // By class; sorting is stable, so of two for one class the first stays before the second.
    transitions.sort_by_key(|(class, _)| *class);
    let shown = shown(filter);
    let name = action.name();
    let mixed = |of: &str| {
        Error::request(format!(
            "Found mixed 'Date' and 'Days' based {of} actions in lifecycle rule for filter '{shown}'"
        ))
    };
    for ((class, when), (next, later)) in transitions.iter().zip(transitions.iter().skip(1)) {
        if class == next {
            return Err(Error::request(format!(
                "'StorageClass' must be different for '{name}' actions in same 'Rule' with filter '{shown}'"
            )));
        }
        if when.is_date() != later.is_date() {
            return Err(mixed(name));
        }
        let fewest = CLASSES.get(*class).map_or(0, |own| own.1);
        let must = match (when, later) {
            _ if later <= when => "must be greater than".to_owned(),
            (When::Days(days), When::Days(later)) if later - days < fewest => {
                format!("must be {fewest} days more than")
            }
            _ => continue,
        };
        let field = later.field(action);
        let own = |at: usize| CLASSES.get(at).map_or("", |own| own.0);
        return Err(Error::argument(
            field,
            None,
            format!(
                "'{field}' in the {name} action for StorageClass '{}' for filter '{shown}' {must} '{field}' in the {name} action for StorageClass '{}' for filter '{shown}'",
                own(*next),
                own(*class)
            ),
        ));
    }
    let (Some(end), Some((_, last))) = (end, transitions.last()) else {
        return Ok(());
    };
    if end.is_date() != last.is_date() {
        return Err(mixed("Expiration and Transition"));
    }
    if end <= *last {
        let field = end.field(action);
        return Err(Error::argument(
            field,
            None,
            format!(
                "'{field}' in the {} action for filter '{shown}' must be greater than '{field}' in the {name} action",
                action.end()
            ),
        ));
    }
    Ok(())
}

/// A transition: the place of its class among the [`CLASSES`], and its time.
fn read(element: &Element, action: TransitionAction) -> Result<(usize, When), Error> {
    let newer = "NewerNoncurrentVersions";
    match action {
        TransitionAction::Current => element.has_only(&["Days", "Date", "StorageClass"], &[])?,
        TransitionAction::Noncurrent => {
            element.has_only(&["NoncurrentDays", newer, "StorageClass"], &[])?;
        }
    }
    let named = element.required("StorageClass")?;
    let place = CLASSES.iter().position(|(class, _)| *class == named).ok_or(Error::MalformedXml)?;
    let least = CLASSES.get(place).map_or(0, |(_, least)| *least);
    if let Some(text) = element.text_of(newer) {
        let reason = format!("'{newer}' for {} action must be a positive integer", action.name());
        positive(newer, text, u32::MAX, reason)?;
    }
    let field = action.days();
    let when = match (element.text_of(field), element.text_of("Date")) {
        (Some(days), None) => {
            let number = days.parse::<i64>().map_err(|_| Error::MalformedXml)?;
            let refused = |reason| Error::argument(field, Some(days), reason);
            if !(0..=i64::from(i32::MAX)).contains(&number) {
                return Err(refused(format!(
                    "'{field}' in {} action must be nonnegative",
                    action.name()
                )));
            }
            if number < least {
                return Err(refused(format!(
                    "'{field}' in {} action must be greater than or equal to {least} for storageClass '{named}'",
                    action.name()
                )));
            }
            When::Days(number)
        }
        (None, Some(date)) => When::Date(midnight(date)?.seconds().div_euclid(DAY_SECONDS)),
        _ => return Err(Error::MalformedXml),
    };
    Ok((place, when))
}

/// A filter as refusals show it.
fn shown(filter: &Filter) -> String {
    let (prefix, tags) = (&filter.prefix, filter.tags.0.iter());
    let mut parts: Vec<_> =
        tags.map(|(key, value)| format!("tag={{key={key}, value={value}}}")).collect();
    parts.extend(filter.larger.map(|bytes| format!("objectsizegreaterthan={bytes}")));
    parts.extend(filter.smaller.map(|bytes| format!("objectsizelessthan={bytes}")));
    if parts.is_empty() || !prefix.is_empty() {
        parts.insert(0, format!("prefix={prefix}"));
    }
    format!("({})", parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::store::lifecycle::Lifecycle;

    fn answer(actions: &str) -> Result<Lifecycle, Error> {
        let text = format!(
            "<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter><Prefix>p/</Prefix></Filter>{actions}</Rule></LifecycleConfiguration>"
        );
        Lifecycle::from_xml(text.as_bytes(), || "drawn".to_owned())
    }

    /// A transition at this time, `days` or a date, to a class.
    fn to(class: &str, when: &str) -> String {
        let field = if when.contains('-') && !when.starts_with('-') { "Date" } else { "Days" };
        format!(
            "<Transition><{field}>{when}</{field}><StorageClass>{class}</StorageClass></Transition>"
        )
    }

    fn noncurrent(class: &str, days: &str) -> String {
        format!(
            "<NoncurrentVersionTransition><NoncurrentDays>{days}</NoncurrentDays><StorageClass>{class}</StorageClass></NoncurrentVersionTransition>"
        )
    }

    fn reason(actions: &str) -> String {
        match answer(actions) {
            Err(Error::InvalidArgument { reason, .. }) => format!("argument: {reason}"),
            Err(Error::InvalidRequest { reason, .. }) => format!("request: {reason}"),
            Err(error) => format!("{error:?}"),
            Ok(_) => String::new(),
        }
    }

    #[test]
    fn transitions_go_down_the_classes_before_the_end() {
        let end = |when: &str| format!("<Expiration>{when}</Expiration>");
        let all =
            [to("DEEP_ARCHIVE", "200"), to("STANDARD_IA", "30"), to("GLACIER_IR", "60")].concat();
        assert_eq!(reason(&format!("{all}{}", end("<Days>201</Days>"))), "");
        assert_eq!(reason(&to("GLACIER", "0")), "");
        let dated =
            [to("GLACIER", "2027-01-01"), to("DEEP_ARCHIVE", "2027-01-02T00:00:00Z")].concat();
        assert_eq!(reason(&format!("{dated}{}", end("<Date>2027-02-01</Date>"))), "");
        for (actions, expected) in [
            (
                format!("{all}{}", end("<Days>200</Days>")),
                "argument: 'Days' in the Expiration action for filter '(prefix=p/)' must be greater than 'Days' in the Transition action",
            ),
            (
                format!("{dated}{}", end("<Date>2027-01-02</Date>")),
                "argument: 'Date' in the Expiration action for filter '(prefix=p/)' must be greater than 'Date' in the Transition action",
            ),
            (
                format!("{dated}{}", end("<Days>900</Days>")),
                "request: Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle rule for filter '(prefix=p/)'",
            ),
            (
                [to("GLACIER", "9"), to("DEEP_ARCHIVE", "2027-01-01")].concat(),
                "request: Found mixed 'Date' and 'Days' based Transition actions in lifecycle rule for filter '(prefix=p/)'",
            ),
            (
                [to("GLACIER", "9"), to("GLACIER", "19")].concat(),
                "request: 'StorageClass' must be different for 'Transition' actions in same 'Rule' with filter '(prefix=p/)'",
            ),
            (
                [to("GLACIER", "9"), to("STANDARD_IA", "30")].concat(),
                "argument: 'Days' in the Transition action for StorageClass 'GLACIER' for filter '(prefix=p/)' must be greater than 'Days' in the Transition action for StorageClass 'STANDARD_IA' for filter '(prefix=p/)'",
            ),
            (
                [to("STANDARD_IA", "30"), to("GLACIER", "59")].concat(),
                "argument: 'Days' in the Transition action for StorageClass 'GLACIER' for filter '(prefix=p/)' must be 30 days more than 'Days' in the Transition action for StorageClass 'STANDARD_IA' for filter '(prefix=p/)'",
            ),
            ([to("ONEZONE_IA", "30"), to("GLACIER_IR", "60"), to("GLACIER", "61")].concat(), ""),
            (
                to("STANDARD_IA", "29"),
                "argument: 'Days' in Transition action must be greater than or equal to 30 for storageClass 'STANDARD_IA'",
            ),
            (to("GLACIER", "-1"), "argument: 'Days' in Transition action must be nonnegative"),
            (to("GLACIER", "2027-01-01T01:00:00Z"), "argument: 'Date' must be at midnight GMT"),
            (to("STANDARD", "9"), "MalformedXml"),
            (to("GLACIER", "soon"), "MalformedXml"),
            (
                "<Transition><StorageClass>GLACIER</StorageClass></Transition>".to_owned(),
                "MalformedXml",
            ),
        ] {
            assert_eq!(reason(&actions), expected, "{actions}");
        }
    }

    #[test]
    fn transitions_of_versions_that_are_not_current_are_checked_alike() {
        let end = "<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration>";
        assert_eq!(reason(&format!("{}{end}", noncurrent("GLACIER", "29"))), "");
        // A transition of current ones may name the same class.
        assert_eq!(reason(&[noncurrent("GLACIER", "1"), to("GLACIER", "1")].concat()), "");
        for (actions, expected) in [
            (format!("{}{end}", noncurrent("GLACIER", "30")),
             "argument: 'NoncurrentDays' in the NoncurrentVersionExpiration action for filter '(prefix=p/)' must be greater than 'NoncurrentDays' in the NoncurrentVersionTransition action"),
            ([noncurrent("GLACIER", "1"), noncurrent("GLACIER", "2")].concat(),
             "request: 'StorageClass' must be different for 'NoncurrentVersionTransition' actions in same 'Rule' with filter '(prefix=p/)'"),
            (noncurrent("ONEZONE_IA", "1"),
             "argument: 'NoncurrentDays' in NoncurrentVersionTransition action must be greater than or equal to 30 for storageClass 'ONEZONE_IA'"),
            ([noncurrent("ONEZONE_IA", "40"), noncurrent("DEEP_ARCHIVE", "69")].concat(),
             "argument: 'NoncurrentDays' in the NoncurrentVersionTransition action for StorageClass 'DEEP_ARCHIVE' for filter '(prefix=p/)' must be 30 days more than 'NoncurrentDays' in the NoncurrentVersionTransition action for StorageClass 'ONEZONE_IA' for filter '(prefix=p/)'"),
            (noncurrent("GLACIER", "x"), "MalformedXml"),
            ("<NoncurrentVersionTransition><Days>1</Days><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>".to_owned(), "MalformedXml"),
        ] {
            assert_eq!(reason(&actions), expected, "{actions}");
        }
    }
}
