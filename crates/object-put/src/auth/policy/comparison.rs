//! The operators of conditions: how a value of a request is compared with those of a policy.

use std::cmp::Ordering;

use triptych_core::time::Timestamp;

use crate::auth::account::matches;
use crate::auth::policy::address_range::AddressRange;

/// The way in which a condition compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparison {
    kind: Kind,
    /// True if it holds where none of the policy's values fits.
    pub(super) is_negated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    TextIgnoringCase,
    Pattern,
    Number(Order),
    Time(Order),
    Address,
    Boolean,
    Null,
}

/// The order in which the value of a request must be to that of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Order {
    fn takes(self, found: Ordering) -> bool {
        match self {
            Self::Equal => found.is_eq(),
            Self::Less => found.is_lt(),
            Self::LessOrEqual => found.is_le(),
            Self::Greater => found.is_gt(),
            Self::GreaterOrEqual => found.is_ge(),
        }
    }
}

/// The operators, by their names in policies.
const OPERATORS: [(&str, Kind, bool); 27] = [
    ("StringEquals", Kind::Text, false),
    ("StringNotEquals", Kind::Text, true),
    ("StringEqualsIgnoreCase", Kind::TextIgnoringCase, false),
    ("StringNotEqualsIgnoreCase", Kind::TextIgnoringCase, true),
    ("StringLike", Kind::Pattern, false),
    ("StringNotLike", Kind::Pattern, true),
    ("ArnEquals", Kind::Pattern, false),
    ("ArnNotEquals", Kind::Pattern, true),
    ("ArnLike", Kind::Pattern, false),
    ("ArnNotLike", Kind::Pattern, true),
    ("Bool", Kind::Boolean, false),
    ("NumericEquals", Kind::Number(Order::Equal), false),
    ("NumericNotEquals", Kind::Number(Order::Equal), true),
    ("NumericLessThan", Kind::Number(Order::Less), false),
    ("NumericLessThanEquals", Kind::Number(Order::LessOrEqual), false),
    ("NumericGreaterThan", Kind::Number(Order::Greater), false),
    ("NumericGreaterThanEquals", Kind::Number(Order::GreaterOrEqual), false),
    ("DateEquals", Kind::Time(Order::Equal), false),
    ("DateNotEquals", Kind::Time(Order::Equal), true),
    ("DateLessThan", Kind::Time(Order::Less), false),
    ("DateLessThanEquals", Kind::Time(Order::LessOrEqual), false),
    ("DateGreaterThan", Kind::Time(Order::Greater), false),
    ("DateGreaterThanEquals", Kind::Time(Order::GreaterOrEqual), false),
    ("IpAddress", Kind::Address, false),
    ("NotIpAddress", Kind::Address, true),
    ("BinaryEquals", Kind::Text, false),
    ("Null", Kind::Null, false),
];

impl Comparison {
    /// The operator of this name, without what stands before and after it.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (_, kind, is_negated) = OPERATORS.iter().find(|(own, ..)| *own == name)?;
        Some(Self { kind: *kind, is_negated: *is_negated })
    }

    /// Tells whether it asks for the presence of a value alone.
    pub(super) fn is_of_presence(self) -> bool {
        self.kind == Kind::Null
    }

    /// Tells whether a value of a policy that is put makes sense to it. Policies that are kept may have any boolean: they are read as they are.
    pub(super) fn takes_new(self, value: &str) -> bool {
        self.takes(value) && (self.kind != Kind::Boolean || is_boolean(value))
    }

    /// Tells whether a value of a policy is one that it can compare with.
    pub(super) fn takes(self, value: &str) -> bool {
        match self.kind {
            Kind::Text | Kind::TextIgnoringCase | Kind::Pattern | Kind::Boolean => true,
            Kind::Number(_) => number(value).is_some(),
            Kind::Time(_) => time(value).is_some(),
            Kind::Address => AddressRange::parse(value).is_some(),
            Kind::Null => is_boolean(value),
        }
    }

    /// Tells whether a value of a policy names one value, or a range that is not open to the world: what makes a policy one that is not
    /// public.
    pub(super) fn is_fixed(self, value: &str) -> bool {
        match self.kind {
            Kind::Text | Kind::TextIgnoringCase | Kind::Boolean => !self.is_negated,
            Kind::Pattern => !self.is_negated && !value.contains(['*', '?']),
            Kind::Address => {
                !self.is_negated
                    && AddressRange::parse(value).is_some_and(|range| range.is_narrow())
            }
            Kind::Number(_) | Kind::Time(_) | Kind::Null => false,
        }
    }

    /// Tells whether it compares with patterns, in which wildcards count.
    pub(super) fn is_of_patterns(self) -> bool {
        self.kind == Kind::Pattern
    }

    /// Tells whether the value of a request fits one of a policy, before [`Self::is_negated`] is looked at.
    pub(super) fn fits(self, value: &str, found: &str) -> bool {
        match self.kind {
            Kind::Text => value == found,
            Kind::TextIgnoringCase | Kind::Boolean => value.eq_ignore_ascii_case(found),
            Kind::Pattern => matches(value, found),
            Kind::Number(order) => {
                let found = number(found).zip(number(value));
                found
                    .and_then(|(found, value)| found.partial_cmp(&value))
                    .is_some_and(|found| order.takes(found))
            }
            Kind::Time(order) => {
                let found = time(found).zip(time(value));
                found.is_some_and(|(found, value)| order.takes(found.cmp(&value)))
            }
            Kind::Address => {
                let found = found.parse().ok();
                let range = AddressRange::parse(value);
                found.zip(range).is_some_and(|(found, range)| range.takes(found))
            }
            Kind::Null => false,
        }
    }
}

/// Tells whether a text is true or false.
fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A time in a form of ISO 8601, or in seconds since 1970.
fn time(text: &str) -> Option<Timestamp> {
    let seconds = || text.parse().ok().map(Timestamp::from_seconds);
    let day = || Timestamp::from_rfc3339(&format!("{text}T00:00:00Z"));
    Timestamp::from_rfc3339(text).or_else(seconds).or_else(day)
}
