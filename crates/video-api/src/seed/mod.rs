//! Seed files: what fills an empty store before the service is ready, in the interface's own shapes.

mod credentials;
mod document;
pub mod error;
mod names;
pub mod secrets;
pub mod section;

pub use error::SeedError;

use crate::api::operation::Run;
use crate::resource::{OPERATIONS, RESOURCES};
use names::Names;
use secrets::Secrets;
use section::{ReadFile, SectionReader, SeedSection, Step};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use triptych_core::id::SeededIds;
use triptych_core::kv::{JsonRecord, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::Scope;
use crate::api::error::{Error, Place};
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::channels::record::CHANNELS;

/// Progress through a seed file, while it is.
pub const SEEDING: Table<(), Progress> = Table::new(0x06);

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[TableEntry::new("seeding", &SEEDING, Form::Json)];

/// Progress through a seed file, so that a process that was killed meanwhile goes on where it stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The digest of the file.
    file: [u8; 32],
    /// The step that comes next.
    next: usize,
}

impl JsonRecord for Progress {}

/// Every section of a seed file, in the order in which they are applied.
fn sections() -> Vec<&'static SeedSection> {
    let owned = RESOURCES.iter().flat_map(|resource| resource.seed);
    let mut all: Vec<_> = credentials::SECTIONS.iter().chain(owned).collect();
    all.sort_by_key(|section| section.order);
    all
}

/// Returns whether the name is that of a resource that answers 501: a file that relies on it would not do what it says.
fn is_not_built(name: &str) -> bool {
    let mut own = OPERATIONS
        .iter()
        .filter(|operation| operation.name.split_once('.').is_some_and(|(of, _)| of == name))
        .peekable();
    own.peek().is_some() && own.all(|operation| !matches!(operation.run, Run::Call(_)))
}

/// A seed file that was read.
#[derive(Debug, Clone, Default)]
pub struct Seed {
    steps: Vec<Step>,
    secrets: Secrets,
    digest: [u8; 32],
}

impl Seed {
    /// Reads a seed file. What it does not know is refused with its place.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`].
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        Self::parse_beside(text, &|path| {
            Err(format!("{path} cannot be read: this seed is no file that others stand beside"))
        })
    }

    /// The same of a seed file that other files stand beside, which `files` reads.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`].
    pub fn parse_beside(text: &str, files: &ReadFile<'_>) -> Result<Self, SeedError> {
        let value =
            document::read(text).map_err(|error| SeedError::Unreadable(error.to_string()))?;
        let map = value
            .as_object()
            .ok_or_else(|| SeedError::Unreadable("a seed file is a JSON object".into()))?;
        let sections = sections();
        let is_section = |name: &str| sections.iter().any(|section| section.name == name);
        if let Some(name) = map.keys().find(|name| !is_section(name)) {
            let what = if is_not_built(name) {
                "this resource is not built yet, so that nothing of it can be seeded"
            } else {
                "not a section of a seed file"
            };
            let list: Vec<_> = sections.iter().map(|section| section.name).collect();
            let list = list.join(", ");
            return Err(SeedError::Unreadable(format!("{name}: {what}; there are {list}")));
        }
        let mut seed = Self { digest: Sha256::digest(text.as_bytes()).into(), ..Self::default() };
        let mut names = Names::default();
        for section in sections {
            (section.read)(&mut SectionReader {
                file: map,
                section,
                names: &mut names,
                secrets: &mut seed.secrets,
                digest: seed.digest,
                steps: &mut seed.steps,
                files,
            })?;
        }
        Ok(seed)
    }

    /// A project, an account and a channel for a start without a seed file.
    #[must_use]
    pub fn of_credentials(key: &str, token: &str) -> Self {
        let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        let text = json!({
            "projects": [{"id": "demo", "apiKeys": [key]}],
            "accounts": [{"id": "demo", "email": "demo@example.com", "tokens": [{"token": token, "scopes": scopes}],
                "channel": {"id": "UCdemoDemoDemoDemoDemoDA", "title": "Demo", "handle": "@demo"}}],
        });
        Self::parse(&text.to_string()).unwrap_or_default()
    }

    /// Returns whether it names keys or tokens.
    #[must_use]
    pub const fn has_credentials(&self) -> bool {
        self.secrets.has_credentials()
    }

    /// The keys, tokens and secrets that it names.
    #[must_use]
    pub const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Number of steps that it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The step to begin with: `Some` step where the store is empty, or was being filled from this file; `None` on any other store, to which only accounts,
    /// keys and tokens are added.
    ///
    /// # Errors
    /// As the store.
    pub fn resume(&self, tx: &mut Tx<'_>) -> Result<Option<usize>, StoreError> {
        if let Some(progress) = SEEDING.get(tx, &())? {
            return Ok((progress.file == self.digest).then_some(progress.next));
        }
        let (rows, _) = CHANNELS.scan(tx, &CHANNELS.span(&()), 1)?;
        Ok(rows.is_empty().then_some(0))
    }

    /// Applies one step, and says whether anything was new. Each step is a transaction, and is applied once, however often the process is killed
    /// and however many instances fill one store at the same time. `fills` says that the store is being filled, as [`Seed::resume`] found: else videos, playlists and what follows from them are left out.
    ///
    /// # Errors
    /// [`SeedError::Refused`], [`SeedError::Store`].
    pub fn apply(
        &self,
        at: usize,
        tx: &mut Tx<'_>,
        now: Timestamp,
        fills: bool,
    ) -> Result<bool, SeedError> {
        if fills && self.resume(tx)?.is_none_or(|next| next > at) {
            // Another instance has been here.
            return Ok(false);
        }
        let new = self.step(at, tx, now, fills)?;
        if fills && at + 1 < self.steps.len() {
            let progress = Progress { file: self.digest, next: at + 1 };
            SEEDING.put(tx, &(), &progress);
        } else if fills {
            SEEDING.delete(tx, &());
        }
        Ok(new)
    }

    fn step(
        &self,
        at: usize,
        tx: &mut Tx<'_>,
        now: Timestamp,
        is_new: bool,
    ) -> Result<bool, SeedError> {
        let Some(Step { place, fills_only, apply }) = self.steps.get(at) else {
            return Ok(false);
        };
        if *fills_only && !is_new {
            return Ok(false);
        }
        // Ids that the file leaves open follow from the file, so that every start on an empty store gives the same.
        let mut seed = self.digest;
        for (byte, more) in seed.iter_mut().zip(at.to_be_bytes()) {
            *byte ^= more;
        }
        let mut ids = SeededIds::from_seed(seed);
        let applied = apply(tx, now, &mut ids);
        applied.map_err(|error| match error {
            Error::Backend(error) => SeedError::Store(error),
            Error::Contended => SeedError::Store(StoreError::Conflict),
            other => {
                SeedError::Refused { place: place_of(place, &other), reason: other.to_string() }
            }
        })
    }
}

/// The place of what is refused of a thing: the member of it, unless the sentence of the refusal says that.
fn place_of(thing: &str, refusal: &Error) -> String {
    match (refusal, refusal.detail().place) {
        (Error::InvalidField { .. }, _) => thing.to_owned(),
        (_, Place::Body(path)) => format!("{thing}.{path}"),
        _ => thing.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::videos::record::VIDEO_COUNTS;
    use triptych_core::kv::{self, KeyValue, Memory};

    #[test]
    fn what_a_seed_file_does_not_know_is_refused_with_its_place() {
        for (text, place) in [
            ("[]", "a seed file is a JSON object"),
            (r#"{"thing": []}"#, "thing: not a section"),
            (
                r#"{"comments": [{"id": "a.b", "author": "x", "textOriginal": "t"}]}"#,
                "comments[0].id: letters",
            ),
            (
                r#"{"ratings": [{"account": "a", "video": "v", "rating": "love"}]}"#,
                "ratings[0]: unknown variant `love`",
            ),
            (
                r#"{"accounts": [{"id": "a"}, {"id": "b", "age": 7}]}"#,
                "accounts[1]: unknown field `age`",
            ),
            (
                r#"{"accounts": [{"id": "a", "tokens": [{"token": "t", "scopes": ["drive"]}]}]}"#,
                "drive is no scope",
            ),
            (
                r#"{"accounts": [{"id": "a"}, {"id": "a"}]}"#,
                "accounts[1].id: this account is there already",
            ),
            (
                r#"{"projects": [{"id": "p", "apiKeys": ["k"]}, {"id": "q", "apiKeys": ["k"]}]}"#,
                "projects[1].apiKeys: this API key is there already",
            ),
            (
                r#"{"accounts": [{"id": "a", "channel": {"title": "A", "handle": "@x"}}, {"id": "b", "channel": {"title": "B", "handle": "X"}}]}"#,
                "accounts[1].channel.handle: this handle is there already",
            ),
            (
                r#"{"accounts": [{"id": "a", "channel": {"title": "A", "username": "x"}}, {"id": "b", "channel": {"title": "B", "username": "X"}}]}"#,
                "accounts[1].channel.username: this username is there already",
            ),
            (
                r#"{"accounts": [{"id": "a", "email": "b@example.com", "email": "c@example.com"}]}"#,
                "accounts[0].email: this member stands twice",
            ),
            (
                r#"{"videos": [{"id": "v", "owner": "a"}, {"id": "v", "owner": "b"}]}"#,
                "videos[1].id: this video is there already",
            ),
            (r#"{"accounts": [{"id": ""}]}"#, "accounts[0].id: this account has no name"),
        ] {
            let error = Seed::parse(text).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
    }

    #[test]
    fn a_seed_that_was_interrupted_anywhere_goes_on_and_counts_nothing_twice() {
        let text = json!({
            "accounts": [{"id": "a", "channel": {"title": "A"}}, {"id": "b", "channel": {"title": "B"}}],
            "videos": [{"id": "v", "owner": "a", "snippet": {"title": "V", "categoryId": "22"}, "viewCount": 5}],
            "playlists": [{"id": "PLx", "owner": "b", "snippet": {"title": "P"}, "items": ["v", "v"]}],
            "ratings": [{"account": "b", "video": "v", "rating": "like"}],
            "plays": [{"video": "v", "account": "b"}, {"video": "v"}],
        });
        let seed = Seed::parse(&text.to_string()).unwrap();
        let fill = |store: &Memory, most: usize| {
            let begin = seed.resume(&mut Tx::new(store)).unwrap();
            for at in (begin.unwrap_or(0)..seed.len()).take(most) {
                kv::run_blocking(store, &mut SeededIds::from_number(1), 1, |tx, _| {
                    seed.apply(at, tx, Timestamp::EPOCH, begin.is_some())
                })
                .unwrap();
            }
        };
        let whole = Memory::new();
        fill(&whole, usize::MAX);
        let rows = |store: &Memory| store.scan(&kv::Span::default(), 1_000).unwrap().rows;
        assert_eq!(seed.resume(&mut Tx::new(&whole)).unwrap(), None);
        for cut in 0..seed.len() {
            let store = Memory::new();
            fill(&store, cut);
            fill(&store, usize::MAX);
            fill(&store, usize::MAX);
            assert!(rows(&store) == rows(&whole), "cut after {cut} steps");
        }
        let counts = VIDEO_COUNTS.get(&mut Tx::new(&whole), &"v".to_owned()).unwrap().unwrap();
        assert_eq!((counts.views, counts.likes), (7, 1));
    }

    #[test]
    fn two_instances_that_fill_a_store_side_by_side_apply_each_step_once() {
        let text = json!({
            "accounts": [{"id": "a", "channel": {"title": "A"}}, {"id": "b", "channel": {"title": "B"}}],
            "videos": [{"id": "v", "owner": "a", "snippet": {"title": "V", "categoryId": "22"}}],
            "plays": [{"video": "v", "account": "b"}, {"video": "v"}],
        });
        let (seed, store) = (Seed::parse(&text.to_string()).unwrap(), Memory::new());
        let apply = |at: usize| {
            kv::run_blocking(&store, &mut SeededIds::from_number(1), 1, |tx, _| {
                seed.apply(at, tx, Timestamp::EPOCH, true)
            })
            .unwrap()
        };
        // The second is a step behind, and at its last when the first has ended.
        assert!(apply(0));
        for at in 1..seed.len() {
            assert!(apply(at));
            assert!(!apply(at - 1));
        }
        assert!(!apply(seed.len() - 1));
        let counts = VIDEO_COUNTS.get(&mut Tx::new(&store), &"v".to_owned()).unwrap().unwrap();
        assert_eq!(counts.views, 2);
    }

    #[test]
    fn an_owner_who_is_nobody_is_refused_with_the_member_that_names_them() {
        for (text, place) in [
            (r#"{"videos": [{"owner": "x"}]}"#, "videos[0]: Invalid value at 'owner'"),
            (
                r#"{"accounts": [{"id": "x"}], "playlists": [{"owner": "x", "snippet": {"title": "t"}}]}"#,
                "playlists[0]: Invalid value at 'owner'",
            ),
            (
                r#"{"ratings": [{"account": "x", "video": "v", "rating": "like"}]}"#,
                "ratings[0]: Invalid value at 'account'",
            ),
        ] {
            let (seed, store) = (Seed::parse(text).unwrap(), Memory::new());
            let at = seed.len() - 1;
            let applied = seed.apply(at, &mut Tx::new(&store), Timestamp::EPOCH, true);
            let error = applied.unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
