//! A call while it is being answered: who calls, and with what.

use crate::browser::{Caller, Style};
use crate::js_value::Js;
use crate::operation::argument::Arguments;

/// A call while it is being answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) caller: &'c Caller,
    pub(crate) arguments: &'c Arguments,
    pub(crate) style: Style,
}

impl Call<'_> {
    /// A property of the object at this place that is there and not null.
    pub(crate) fn property(&self, place: usize, name: &str) -> Option<&Js> {
        self.arguments.at(place)?.property(name)
    }

    pub(crate) fn boolean(&self, place: usize, name: &str) -> Option<bool> {
        match self.property(place, name)? {
            Js::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn number(&self, place: usize, name: &str) -> Option<i64> {
        self.property(place, name)?.integer()
    }

    pub(crate) fn text(&self, place: usize, name: &str) -> Option<&str> {
        self.property(place, name)?.text()
    }

    /// One id or a list of them, and whether it was a list.
    pub(crate) fn ids(&self, value: Option<&Js>) -> (Vec<i64>, bool) {
        match value {
            Some(Js::Array(items)) => (items.iter().filter_map(Js::integer).collect(), true),
            Some(one) => (one.integer().into_iter().collect(), false),
            None => (Vec::new(), false),
        }
    }
}
