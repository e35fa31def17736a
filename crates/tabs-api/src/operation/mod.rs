//! Operations: each is a row beside the function that answers it. Argument checks, `/v1/schema` and the documents are derived
//! from the rows.

pub mod argument;
mod call;
pub mod enumeration;
mod row;
pub mod schema;
mod scripting;
mod sessions;
mod sight;
mod tab_groups;
mod tabs;
mod windows;

use triptych_core::time::Timestamp;

use self::argument::Arguments;
use self::call::Call;
pub use self::call::{Caller, Context, Style};
pub use self::row::Operation;
use self::schema::Check;
use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::extension::permission::Extension;
use crate::js_value::JsValue;
use crate::version::BrowserVersion;

/// Every operation, `tabs` first, in the order of the specification.
pub const OPERATIONS: &[Operation] = &[
    tabs::CAPTURE_VISIBLE_TAB,
    tabs::CONNECT,
    tabs::CREATE,
    tabs::DETECT_LANGUAGE,
    tabs::DISCARD,
    tabs::DUPLICATE,
    tabs::GET,
    tabs::GET_CURRENT,
    tabs::GET_ZOOM,
    tabs::GET_ZOOM_SETTINGS,
    tabs::GO_BACK,
    tabs::GO_FORWARD,
    tabs::GROUP,
    tabs::HIGHLIGHT,
    tabs::MOVE,
    tabs::QUERY,
    tabs::RELOAD,
    tabs::REMOVE,
    tabs::SEND_MESSAGE,
    tabs::SET_ZOOM,
    tabs::SET_ZOOM_SETTINGS,
    tabs::UNGROUP,
    tabs::UPDATE,
    windows::GET,
    windows::GET_CURRENT,
    windows::GET_LAST_FOCUSED,
    windows::GET_ALL,
    windows::CREATE,
    windows::UPDATE,
    windows::REMOVE,
    tab_groups::GET,
    tab_groups::QUERY,
    tab_groups::UPDATE,
    tab_groups::MOVE,
    sessions::GET_RECENTLY_CLOSED,
    sessions::GET_DEVICES,
    sessions::RESTORE,
    scripting::EXECUTE_SCRIPT,
    scripting::INSERT_CSS,
    scripting::REMOVE_CSS,
];

impl Operation {
    /// The operation of this full name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }
}

/// A call as it came, for the browser to read.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The full name of the operation.
    pub name: &'a str,
    /// The arguments. In callback style the callback is not among them.
    pub given: &'a [JsValue],
    /// The way in which the answer is taken.
    pub style: Style,
}

/// One call, checked.
#[derive(Debug, Clone)]
pub struct Command {
    /// The operation.
    pub operation: &'static Operation,
    /// Its arguments.
    pub arguments: Arguments,
    /// The way in which the answer is taken.
    pub style: Style,
    /// The fault that the browser finds in arguments which the specification lets pass.
    refused_by_browser: Option<Error>,
}

impl Command {
    /// Reads a call. In callback style the callback is not among the arguments.
    ///
    /// # Errors
    /// `NoSuchOperation`, `Arguments`, in this order.
    pub fn read(name: &str, given: &[JsValue], style: Style) -> Result<Self, Error> {
        Self::read_as(BrowserVersion::LATEST, Asked { name, given, style })
    }

    /// Reads a call to a browser of this version: what came later is not there, whatever else is wrong with the arguments.
    fn read_as(version: BrowserVersion, asked: Asked<'_>) -> Result<Self, Error> {
        let Asked { name, given, style } = asked;
        let operation = Operation::find(name)
            .ok_or_else(|| Error::NoSuchOperation(format!("chrome.{name}")))?;
        if !version.has(name) {
            return Err(Error::NoSuchOperation(format!("chrome.{name}")));
        }
        let mut with_callback = Vec::new();
        let given = if style == Style::Callback {
            with_callback.extend_from_slice(given);
            with_callback.push(JsValue::Function);
            &with_callback
        } else {
            given
        };
        let check = |compat| {
            let (parameters, takes_callback) = (operation.parameters, operation.takes_callback);
            let check = Check { compat, version, path: operation.name };
            Arguments::check(parameters, takes_callback, given, &check).map_err(|reason| {
                let signature = operation.signature();
                Error::Arguments { operation: operation.name, signature, reason }
            })
        };
        let arguments = check(Compat::Spec)?;
        let refused_by_browser = check(Compat::Browser).err();
        Ok(Self { operation, arguments, style, refused_by_browser })
    }
}

impl Browser {
    /// Reads a call as this version of the browser does for an extension with this manifest.
    ///
    /// # Errors
    /// As [`Command::read`].
    pub fn read(&self, caller: &Caller, asked: Asked<'_>) -> Result<Command, Error> {
        // What an extension has not is no function, whatever it is given.
        let extension = self.extension(&caller.extension);
        let row = Operation::find(asked.name);
        if row.zip(extension).is_some_and(|(row, extension)| self.is_barred(row, extension)) {
            return Err(Error::NoSuchOperation(format!("chrome.{}", asked.name)));
        }
        Command::read_as(self.version(), asked).map_err(|error| self.worded_for(caller, error))
    }

    /// Gives the fault of arguments the signature that the caller's extension has: where calls give no promise, a question needs its callback.
    fn worded_for(&self, caller: &Caller, error: Error) -> Error {
        let Error::Arguments { operation, reason, .. } = error else { return error };
        let gives_promise = self.extension(&caller.extension).is_none_or(|extension| {
            self.version().gives_promise(extension.manifest_version, operation)
        });
        let row = Operation::find(operation);
        let signature = row.map(|row| row.signature_where(gives_promise)).unwrap_or_default();
        Error::Arguments { operation, signature, reason }
    }

    /// Answers a call at `now`. On an error the events of what was done before it remain to be drained.
    ///
    /// # Errors
    /// The [`Error`] of the operation, in the order of its checks.
    pub fn apply(
        &mut self,
        now: Timestamp,
        caller: &Caller,
        command: &Command,
    ) -> Result<Answer, Error> {
        self.set_time(now);
        let gives_promise = self.check_availability(caller, command)?;
        if let Some(error) =
            command.refused_by_browser.as_ref().filter(|_| self.compat() == Compat::Browser)
        {
            return Err(self.worded_for(caller, error.clone()));
        }
        // Where a callback is given there is no promise, and it is told instead of the caller.
        let is_asked_for = match command.style {
            Style::Callback => true,
            Style::AsGiven => !command.arguments.has_callback,
            Style::Promise => {
                gives_promise && !command.arguments.has_callback
                    || !command.operation.takes_callback
            }
        };
        let style = match command.style {
            Style::AsGiven if !gives_promise => Style::Callback,
            Style::AsGiven => Style::Promise,
            style => style,
        };
        let call = Call { caller, arguments: &command.arguments, style };
        let mut answer = (command.operation.run)(self, &call);
        if !is_asked_for {
            // Without a promise there is nobody to tell.
            answer = Ok(Answer::Undefined);
        }
        self.drop_emptied_windows();
        self.assert_invariants();
        answer
    }
}

impl Browser {
    /// True if an extension has not the namespace of an operation, for want of a permission. The specification knows none such.
    fn is_barred(&self, operation: &Operation, extension: &Extension) -> bool {
        let lacks = |permission: &str| !extension.has_permission(permission);
        self.compat() == Compat::Browser && operation.permission().is_some_and(lacks)
    }

    /// True if a call gives a promise; refused is what this version of the browser, or the extension's manifest, has not.
    fn check_availability(&self, caller: &Caller, command: &Command) -> Result<bool, Error> {
        let operation = command.operation;
        let extension = self.extension(&caller.extension).ok_or(Error::NotInstalled)?;
        if !self.version().has(operation.name) || self.is_barred(operation, extension) {
            return Err(Error::NoSuchOperation(format!("chrome.{}", operation.name)));
        }
        let gives_promise =
            self.version().gives_promise(extension.manifest_version, operation.name);
        let refuse = |reason| Error::Arguments {
            operation: operation.name,
            signature: operation.signature_where(gives_promise),
            reason,
        };
        if operation.is_question && !gives_promise && command.style == Style::Promise {
            return Err(refuse("No matching signature.".into()));
        }
        Ok(gives_promise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_23_operations_of_the_specification_and_no_name_twice() {
        assert_eq!(OPERATIONS.iter().filter(|row| row.name.starts_with("tabs.")).count(), 23);
        let names: std::collections::HashSet<_> = OPERATIONS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
    }

    #[test]
    fn signatures_are_written_as_the_browser_writes_them() {
        for (name, signature) in [
            ("tabs.create", "object createProperties, optional function callback"),
            (
                "tabs.update",
                "optional integer tabId, object updateProperties, optional function callback",
            ),
            (
                "tabs.move",
                "[integer|array] tabIds, object moveProperties, optional function callback",
            ),
            ("tabs.connect", "integer tabId, optional object connectInfo"),
            ("tabs.getCurrent", "optional function callback"),
            (
                "tabs.setZoomSettings",
                "optional integer tabId, tabs.ZoomSettings zoomSettings, optional function callback",
            ),
            (
                "tabs.captureVisibleTab",
                "optional integer windowId, optional extensionTypes.ImageDetails options, optional function callback",
            ),
            (
                "tabs.sendMessage",
                "integer tabId, any message, optional object options, optional function callback",
            ),
        ] {
            assert_eq!(Operation::find(name).unwrap().signature(), signature);
        }
    }
}
