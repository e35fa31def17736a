//! The row of an operation: its name and parameters, and the function that answers it.

use serde_json::{Value, json};

use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::schema::{Parameter, describe};

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
        Self { name, parameters, takes_callback: true, run, doc }
    }

    pub(super) const fn without_callback(
        name: &'static str,
        parameters: &'static [Parameter],
        run: Run,
        doc: &'static str,
    ) -> Self {
        Self { name, parameters, takes_callback: false, run, doc }
    }

    /// The signature that argument errors show.
    #[must_use]
    pub fn signature(&self) -> String {
        let shown = |parameter: &Parameter| {
            let start = if parameter.is_optional { "optional " } else { "" };
            format!("{start}{} {}", parameter.schema.name(), parameter.name)
        };
        let mut parts: Vec<_> = self.parameters.iter().map(shown).collect();
        if self.takes_callback {
            parts.push("optional function callback".into());
        }
        parts.join(", ")
    }

    /// The operation as `/v1/schema` shows it.
    #[must_use]
    pub fn describe(&self) -> Value {
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| json!({ "name": parameter.name, "optional": parameter.is_optional, "schema": describe(&parameter.schema) }))
            .collect();
        json!({ "name": self.name, "doc": self.doc, "signature": self.signature(), "callback": self.takes_callback, "parameters": parameters })
    }
}
