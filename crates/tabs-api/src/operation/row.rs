//! The row of an operation: its name and parameters, and the function that answers it.

use serde_json::{Value, json};
use triptych_core::kv::RoundTrips;

use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::schema::{Check, Parameter, describe};
use crate::version::BrowserVersion;

/// A function that answers a call.
pub(crate) type Run = fn(&mut Browser, &Call<'_>) -> Result<Answer, Error>;

/// One operation of the `tabs`, `windows`, `tabGroups` or `sessions` namespace.
#[derive(Debug)]
pub struct Operation {
    /// The full name, as `tabs.create`.
    pub name: &'static str,
    /// Its parameters, without the callback.
    pub parameters: &'static [Parameter],
    /// True if it may be called with a callback (Spec tabs-api §1); all but `connect`.
    pub takes_callback: bool,
    /// True if a call without a callback is none, where there are no promises.
    pub is_question: bool,
    /// The round trips to a store on another machine before it is answered, at most.
    pub round_trips: RoundTrips,
    /// The function that answers it.
    pub(super) run: Run,
    /// Its effect, in a sentence.
    pub doc: &'static str,
}

impl Operation {
    pub(super) const fn new(
        name: &'static str,
        parameters: &'static [Parameter],
        run: Run,
        doc: &'static str,
    ) -> Self {
        let round_trips = RoundTrips::of(0, 1);
        Self { name, parameters, takes_callback: true, is_question: false, round_trips, run, doc }
    }

    pub(super) const fn without_callback(
        name: &'static str,
        parameters: &'static [Parameter],
        run: Run,
        doc: &'static str,
    ) -> Self {
        Self { takes_callback: false, ..Self::new(name, parameters, run, doc) }
    }

    /// The same, whose answer is all that it is for.
    pub(super) const fn question(self) -> Self {
        Self { is_question: true, ..self.changing_nothing() }
    }

    /// The same, which changes nothing that is kept.
    pub(super) const fn changing_nothing(self) -> Self {
        Self { round_trips: RoundTrips::of(0, 0), ..self }
    }

    /// The permission without which the browser has no such namespace. The specification knows none.
    #[must_use]
    pub fn permission(&self) -> Option<&'static str> {
        let (namespace, _) = self.name.split_once('.')?;
        ["tabGroups", "sessions", "scripting"].contains(&namespace).then_some(namespace)
    }

    /// The signature that argument errors show.
    #[must_use]
    pub fn signature(&self) -> String {
        self.signature_where(true)
    }

    /// The signature where calls give promises, or where they do not.
    pub(super) fn signature_where(&self, gives_promises: bool) -> String {
        let shown = |parameter: &Parameter| {
            let start = if parameter.is_optional { "optional " } else { "" };
            format!("{start}{} {}", parameter.schema.name(), parameter.name)
        };
        let mut parts: Vec<_> = self.parameters.iter().map(shown).collect();
        if self.takes_callback {
            let start = if self.is_question && !gives_promises { "" } else { "optional " };
            parts.push(format!("{start}function callback"));
        }
        parts.join(", ")
    }

    /// The operation as `/v1/schema` shows it to a browser of this version.
    #[must_use]
    pub fn describe(&self, version: BrowserVersion, compat: Compat) -> Value {
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| {
                let path = format!("{}.{}", self.name, parameter.name);
                let schema = describe(&parameter.schema, &Check { compat, version, path: &path });
                json!({ "name": parameter.name, "optional": parameter.is_optional, "schema": schema })
            })
            .collect();
        let mut row = json!({ "name": self.name, "doc": self.doc, "signature": self.signature(), "callback": self.takes_callback, "parameters": parameters });
        if let Some(members) = row.as_object_mut() {
            // Of a question where calls give no promises, which needs a callback.
            let without = self.is_question.then(|| self.signature_where(false).into());
            members.extend(without.map(|signature| ("callbackSignature".to_owned(), signature)));
            let since = BrowserVersion::since(self.name);
            members.extend(since.map(|since| ("since".to_owned(), since.into())));
            // With a manifest of version 3, and not before that.
            let promise = BrowserVersion::of_promise(self.name).0.into();
            members.extend(self.takes_callback.then(|| ("promiseSince".to_owned(), promise)));
        }
        row
    }
}
