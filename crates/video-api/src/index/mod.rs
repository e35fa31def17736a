//! The search index: what can be found, how it is indexed, and how a query is answered.
//!
//! A handler only notes a document that changed ([`put`], [`remove`]); the index follows in groups ([`indexer::follow`]), and every query
//! catches up first, so that whoever wrote a thing finds it. So no two handlers ever meet at a popular word.
//!
//! | module | content |
//! |---|---|
//! | [`tokenizer`] | texts and queries as words |
//! | [`facet`] | properties that have postings of their own |
//! | [`postings`] | the documents of a word, in blocks |
//! | [`entry`] | rows of each document beside its words |
//! | [`order`] | public documents in the orders of results |
//! | [`mod@column`] | cells of a fixed width for each document |
//! | [`summary`] | 64 bytes of each document, which queries look at first |
//! | [`title`] | what the order by title looks at |
//! | [`indexer`] | bringing the index to what the documents say |
//! | [`bulk`] | an index that is made at once |
//! | [`verify`] | the check of the index against its documents |
//! | [`query`] | filters, orders, ranks, pages and totals |

pub mod bulk;
pub mod column;
pub mod entry;
pub mod facet;
pub mod indexer;
pub mod order;
pub mod postings;
pub mod query;
pub mod summary;
pub mod title;
pub mod tokenizer;
pub mod verify;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Plan, StoreError, Table, Tx};

use crate::record::table_entry::{Form, TableEntry};

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("searchDocuments", &DOCUMENTS, Form::Json),
    TableEntry::new("searchChanged", &CHANGED, Form::Json),
    TableEntry::new("searchPostings", &postings::POSTINGS, Form::Bytes),
    TableEntry::new("searchEntries", &entry::ENTRIES, Form::Json),
    TableEntry::new("searchNumbers", &entry::NUMBERS, Form::Json),
    TableEntry::new("searchOrdered", &order::ORDERED, Form::Json),
    TableEntry::new("searchTotals", &entry::TOTALS, Form::Json),
    TableEntry::new("searchSummaries", &summary::SUMMARIES, Form::Bytes),
    TableEntry::new("searchTitles", &title::TITLES, Form::Bytes),
];

/// Kind of a resource that has a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A video.
    Video,
    /// A channel.
    Channel,
    /// A playlist.
    Playlist,
}

impl Kind {
    /// All kinds, in the order of their numbers in keys.
    pub const ALL: [Self; 3] = [Self::Video, Self::Channel, Self::Playlist];

    /// `video`, `channel` or `playlist`, as the parameter `type` says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Channel => "channel",
            Self::Playlist => "playlist",
        }
    }
}

/// Searchable text and facets of a resource. Its truth is the resource; a handler that changes one puts the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// The channel that it belongs to; its own id for a channel.
    pub channel: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Everything else that a query can ask for.
    pub facets: Facets,
}

/// Values that queries filter and order by.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facets {
    /// Time of its publication, in microseconds since 1970.
    #[serde(skip_serializing_if = "is_default")]
    pub published: i64,
    /// True if everybody may find it. A resource that is unlisted or private is found by its owner alone.
    #[serde(skip_serializing_if = "is_default")]
    pub public: bool,
    /// Number of views.
    #[serde(skip_serializing_if = "is_default")]
    pub views: u64,
    /// Number of likes.
    #[serde(skip_serializing_if = "is_default")]
    pub likes: u64,
    /// Number of dislikes.
    #[serde(skip_serializing_if = "is_default")]
    pub dislikes: u64,
    /// Number of its public videos (channels and playlists).
    #[serde(skip_serializing_if = "is_default")]
    pub videos: u64,
    /// `snippet.categoryId`.
    #[serde(skip_serializing_if = "is_default")]
    pub category: String,
    /// Its length in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub duration_ms: u64,
    /// True if it has 720 lines or more.
    #[serde(skip_serializing_if = "is_default")]
    pub high_definition: bool,
    /// True if it has captions.
    #[serde(skip_serializing_if = "is_default")]
    pub captions: bool,
    /// True if it is in 3D.
    #[serde(skip_serializing_if = "is_default")]
    pub three_d: bool,
    /// True if its licence is Creative Commons.
    #[serde(skip_serializing_if = "is_default")]
    pub creative_commons: bool,
    /// True if it can be embedded.
    #[serde(skip_serializing_if = "is_default")]
    pub embeddable: bool,
    /// True if it can be played outside the site.
    #[serde(skip_serializing_if = "is_default")]
    pub syndicated: bool,
    /// True if its owner says that somebody paid for what is shown.
    #[serde(skip_serializing_if = "is_default")]
    pub sponsored: bool,
    /// `live`, `upcoming` or `completed` for broadcasts, else empty.
    #[serde(skip_serializing_if = "is_default")]
    pub broadcast: String,
    /// `movie` or `episode`, else empty.
    #[serde(skip_serializing_if = "is_default")]
    pub form: String,
    /// Place where it was made: degrees north and east.
    #[serde(skip_serializing_if = "is_default")]
    pub location: Option<(f64, f64)>,
    /// The language of its default texts, if it has one.
    #[serde(skip_serializing_if = "is_default")]
    pub language: String,
    /// Topics.
    #[serde(skip_serializing_if = "is_default")]
    pub topics: Vec<String>,
    /// Regions where it cannot be viewed.
    #[serde(skip_serializing_if = "is_default")]
    pub blocked: Vec<String>,
    /// True if it is for adults.
    #[serde(skip_serializing_if = "is_default")]
    pub restricted: bool,
}

/// Tells whether a value says no more than its absence: there are two rows of facets for each document, and most values are these.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl JsonRecord for Document {}

/// State of the index for a document that changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexState {
    /// The version that it was brought to last, if there was one.
    #[serde(rename = "settled")]
    pub indexed: Option<Document>,
    /// Versions that it was being brought to when something stopped it: any of their words may be there.
    #[serde(rename = "begun")]
    pub in_progress: Vec<Document>,
    /// The version of the reading by which their words are there ([`tokenizer::VERSION`]).
    pub words: u32,
}

impl JsonRecord for IndexState {}

/// Documents as the resources say.
pub const DOCUMENTS: Table<(u8, String), Document> = Table::new(0x88);
/// Documents that the index has to follow.
pub const CHANGED: Table<(u8, String), IndexState> = Table::new(0x89);

/// Notes what can be found of `id` from now on, in the transaction that changes the resource.
///
/// # Errors
/// As [`Tx::get`].
pub fn put(tx: &mut Tx<'_>, kind: Kind, id: &str, document: &Document) -> Result<(), StoreError> {
    let key = (kind as u8, id.to_owned());
    let before = DOCUMENTS.get(tx, &key)?;
    if before.as_ref() == Some(document) {
        return Ok(());
    }
    mark_changed(tx, &key, before)?;
    DOCUMENTS.put(tx, &key, document);
    Ok(())
}

/// Notes that `id` can no longer be found.
///
/// # Errors
/// As [`Tx::get`].
pub fn remove(tx: &mut Tx<'_>, kind: Kind, id: &str) -> Result<(), StoreError> {
    let key = (kind as u8, id.to_owned());
    if let Some(before) = DOCUMENTS.get(tx, &key)? {
        mark_changed(tx, &key, Some(before))?;
        DOCUMENTS.delete(tx, &key);
    }
    Ok(())
}

/// Changes the facets of `id`, if it can be found: counts that move often.
///
/// # Errors
/// As [`Tx::get`].
pub fn update_facets(
    tx: &mut Tx<'_>,
    kind: Kind,
    id: &str,
    change: impl FnOnce(&mut Facets),
) -> Result<(), StoreError> {
    let Some(mut document) = DOCUMENTS.get(tx, &(kind as u8, id.to_owned()))? else {
        return Ok(());
    };
    change(&mut document.facets);
    put(tx, kind, id, &document)
}

/// Plans what a change of the document of `id` reads.
pub fn plan(plan: &mut Plan<'_>, kind: Kind, id: &str) {
    let key = (kind as u8, id.to_owned());
    plan.row(&DOCUMENTS, &key);
    plan.row(&CHANGED, &key);
}

/// Notes that the index has to follow a document again, because an earlier build indexed it and read its texts as other words; says whether it
/// has to.
///
/// # Errors
/// As [`Tx::get`].
pub fn read_anew(tx: &mut Tx<'_>, key: &(u8, String)) -> Result<bool, StoreError> {
    let document = DOCUMENTS.get(tx, key)?;
    let Some(document) =
        document.filter(|document| tokenizer::texts(document).any(tokenizer::is_read_anew))
    else {
        return Ok(false);
    };
    let changed = CHANGED.get(tx, key)?;
    let state =
        changed.unwrap_or_else(|| IndexState { indexed: Some(document), ..IndexState::default() });
    CHANGED.put(tx, key, &IndexState { words: 0, ..state });
    Ok(true)
}

fn mark_changed(
    tx: &mut Tx<'_>,
    key: &(u8, String),
    before: Option<Document>,
) -> Result<(), StoreError> {
    if CHANGED.get(tx, key)?.is_none() {
        let state =
            IndexState { indexed: before, in_progress: Vec::new(), words: tokenizer::VERSION };
        CHANGED.put(tx, key, &state);
    }
    Ok(())
}
