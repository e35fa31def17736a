//! Sections of a seed file: how each is read, and the steps that it becomes.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::error::SeedError;
use super::names::Names;
use super::secrets::Secrets;
use crate::account::ACCOUNTS;
use crate::api::error::Error;
use crate::api::schema;
use crate::resource::channels::record::CHANNELS;

/// A section of a seed file.
#[derive(Debug)]
pub struct SeedSection {
    /// The name of its member.
    pub name: &'static str,
    /// Its place among all sections: what is named later may rest on what is named before. Ids that a file leaves open follow from it.
    pub order: u8,
    /// True if it only fills an empty store; else it is also added to one that is in use.
    pub fills_only: bool,
    /// Reads it into steps.
    pub read: fn(&mut SectionReader<'_>) -> Result<(), SeedError>,
}

/// The work of a step: it says whether anything was new.
pub type Apply =
    dyn Fn(&mut Tx<'_>, Timestamp, &mut dyn Ids) -> Result<bool, Error> + Send + Sync + 'static;

/// One thing that a transaction applies.
#[derive(Clone)]
pub struct Step {
    /// Its place in the file.
    pub(super) place: String,
    pub(super) fills_only: bool,
    pub(super) apply: Arc<Apply>,
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Step").field(&self.place).finish()
    }
}

/// A section while it is read.
pub struct SectionReader<'f> {
    pub(super) file: &'f Map<String, Value>,
    pub(super) section: &'static SeedSection,
    /// The names that the file has given.
    pub names: &'f mut Names,
    /// The secrets that the file has named.
    pub(super) secrets: &'f mut Secrets,
    /// The digest of the file.
    pub digest: [u8; 32],
    pub(super) steps: &'f mut Vec<Step>,
    pub(super) files: &'f ReadFile<'f>,
}

/// Reads a file that a seed file names, by its path beside it; the refusal is a sentence.
pub type ReadFile<'f> = dyn Fn(&str) -> Result<Vec<u8>, String> + 'f;

impl SectionReader<'_> {
    /// Reads the things of the section, each with its place in the file.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`].
    pub fn things<T: DeserializeOwned>(&self) -> Result<Vec<(String, T)>, SeedError> {
        let name = self.section.name;
        let Some(value) = self.file.get(name) else {
            return Ok(Vec::new());
        };
        let list =
            value.as_array().ok_or_else(|| SeedError::Unreadable(format!("{name}: not a list")))?;
        let read = list.iter().enumerate().map(|(at, value)| {
            let place = format!("{name}[{at}]");
            let item = T::deserialize(value)
                .map_err(|error| SeedError::Unreadable(format!("{place}: {error}")))?;
            Ok((place, item))
        });
        read.collect()
    }

    /// A file that stands beside the seed file.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    pub fn beside(&self, path: &str) -> Result<Vec<u8>, String> {
        (self.files)(path)
    }

    /// Adds a step.
    pub fn step(
        &mut self,
        place: String,
        apply: impl Fn(&mut Tx<'_>, Timestamp, &mut dyn Ids) -> Result<bool, Error>
        + Send
        + Sync
        + 'static,
    ) {
        let fills_only = self.section.fills_only;
        self.steps.push(Step { place, fills_only, apply: Arc::new(apply) });
    }
}

/// Reads the moment of a seed file that stands at `path`, which is `default` where it is left out.
///
/// # Errors
/// [`Error::InvalidField`].
pub fn moment(path: &str, text: Option<&str>, default: Timestamp) -> Result<Timestamp, Error> {
    match text {
        None => Ok(default),
        Some(text) => Timestamp::from_rfc3339(text)
            .ok_or_else(|| Error::InvalidField { path: path.to_owned(), expected: "RFC 3339" }),
    }
}

/// Reads the moment at which a resource was published: beside its parts, or where the interface shows it.
///
/// # Errors
/// [`Error::InvalidField`].
pub fn published(
    beside: Option<&str>,
    snippet: Option<&Value>,
    now: Timestamp,
) -> Result<Timestamp, Error> {
    let shown = snippet.and_then(|snippet| snippet.get("publishedAt"));
    let Some(shown) = shown.filter(|_| beside.is_none()) else {
        return moment("publishedAt", beside, now);
    };
    // What is no text is no moment either.
    moment("snippet.publishedAt", Some(shown.as_str().unwrap_or_default()), now)
}

/// Puts the parts that a resource of this type is given together as the body of a request, with their names.
///
/// # Errors
/// [`Error::InvalidField`] for a member that the type does not have: what is misspelled would be left out silently.
pub fn body(
    type_name: &str,
    given: &[(&'static str, Option<&Value>)],
) -> Result<(Map<String, Value>, Vec<&'static str>), Error> {
    let given = given.iter().filter_map(|(name, part)| Some((*name, (*part)?)));
    let body: Map<_, _> =
        given.clone().map(|(name, part)| (name.to_owned(), part.clone())).collect();
    match schema::unknown_member(type_name, &body) {
        Some(path) => Err(Error::InvalidField { path, expected: "a member of the resource" }),
        None => Ok((body, given.map(|(name, _)| name).collect())),
    }
}

/// Finds the channel of somebody who is named at `path` by account or by channel.
///
/// # Errors
/// [`Error::InvalidField`].
pub fn channel_of(tx: &mut Tx<'_>, name: &str, path: &str) -> Result<String, Error> {
    let channel = match ACCOUNTS.peek(tx, &name.to_owned())? {
        Some(account) => account.channel,
        None => CHANNELS.peek(tx, &name.to_owned())?.map(|_| name.to_owned()),
    };
    channel.ok_or_else(|| Error::InvalidField {
        path: path.to_owned(),
        expected: "an account with a channel, or a channel",
    })
}
