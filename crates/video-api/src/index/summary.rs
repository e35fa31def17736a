//! Summaries of documents, 64 bytes each: what a query looks at first.

use triptych_core::kv::Table;

use super::Kind;
use super::column::{self, Cell, Row};
use super::entry::Entry;
use super::facet::DurationClass;
use super::order::{BY_RATING, BY_TITLE, BY_VIDEOS, BY_VIEWS, ascending};

/// Bytes of one document.
const BYTES: usize = 64;
/// Bytes of an id in them: all of a video's.
const ID_BYTES: usize = 11;

/// A document as queries see it at first sight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Its kind.
    pub kind: Kind,
    /// Class of its duration.
    pub duration: DurationClass,
    /// Its flags.
    pub flags: Flags,
    /// The language of its default texts, if that has two letters.
    pub language: [u8; 2],
    /// The resource's id, or its start.
    pub id: IdStart,
    /// The weight of all its words.
    pub length: f64,
    /// Time of its publication, in microseconds since 1970.
    pub published: i64,
    views: u64,
    liked: u64,
    videos: u64,
    /// The first bytes of its title.
    title: u64,
}

/// Properties that hold of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(u16);

/// One of [`Flags`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Everybody may find it.
    Public,
    /// It has 720 lines or more.
    HighDefinition,
    /// It has captions.
    Captions,
    /// It is in 3D.
    ThreeD,
    /// It is under Creative Commons.
    CreativeCommons,
    /// It can be embedded.
    Embeddable,
    /// It can be played outside the site.
    Syndicated,
    /// Somebody paid for what is shown.
    Sponsored,
    /// It is for adults.
    Restricted,
}

impl Flags {
    fn of(entry: &Entry) -> Self {
        let facets = &entry.facets;
        let flags = [
            (Flag::Public, facets.public),
            (Flag::HighDefinition, facets.high_definition),
            (Flag::Captions, facets.captions),
            (Flag::ThreeD, facets.three_d),
            (Flag::CreativeCommons, facets.creative_commons),
            (Flag::Embeddable, facets.embeddable),
            (Flag::Syndicated, facets.syndicated),
            (Flag::Sponsored, facets.sponsored),
            (Flag::Restricted, facets.restricted),
        ];
        let set = flags.into_iter().filter(|(_, is)| *is);
        Self(set.fold(0, |bits, (flag, _)| bits | 1 << flag as u16))
    }

    /// Tells whether the flag is set.
    #[must_use]
    pub const fn has(self, flag: Flag) -> bool {
        self.0 & 1 << flag as u16 != 0
    }
}

/// The start of an id, which sorts as the id does as far as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct IdStart {
    bytes: [u8; ID_BYTES],
    /// DurationClass of the id in bytes, and [`IdStart::LONGER`] where it is more than these.
    length: u8,
}

impl IdStart {
    /// More than any whole id has; four bits are written of it.
    const LONGER: u8 = 15;

    /// The start of this id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let mut bytes = [0; ID_BYTES];
        let places = bytes.iter_mut().zip(id.bytes());
        places.for_each(|(place, byte)| *place = byte);
        let length = match u8::try_from(id.len()) {
            Ok(length) if id.len() <= ID_BYTES => length,
            _ => Self::LONGER,
        };
        Self { bytes, length }
    }

    /// The id, if this is all of it.
    #[must_use]
    pub fn whole(&self) -> Option<&str> {
        let bytes = self.bytes.get(..usize::from(self.length))?;
        std::str::from_utf8(bytes).ok()
    }
}

/// The first bytes of a text, as a number that sorts as they do.
#[must_use]
pub fn start_of(text: &str) -> u64 {
    let mut start = [0; 8];
    start.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(start)
}

/// A language without its region, if it has two letters.
#[must_use]
pub fn language_of(tag: &str) -> [u8; 2] {
    let language = tag.split(['-', '_']).next().unwrap_or_default().as_bytes();
    language.try_into().unwrap_or_default()
}

impl Summary {
    /// Rank of the document in an order: the least comes first. The order by title is more than this.
    #[must_use]
    pub const fn rank(&self, order: u8) -> u64 {
        match order {
            BY_VIEWS => !self.views,
            BY_RATING => !self.liked,
            BY_VIDEOS => !self.videos,
            BY_TITLE => self.title,
            _ => !ascending(self.published),
        }
    }
}

/// Summaries by the numbers that they are for.
pub const SUMMARIES: Table<u64, Row<BYTES>> = Table::new(0x8F);

/// Reads summaries.
pub type Reader = column::Reader<Summary, BYTES>;

impl Cell<BYTES> for Summary {
    const ROWS: Table<u64, Row<BYTES>> = SUMMARIES;

    fn of(entry: &Entry) -> Self {
        let facets = &entry.facets;
        // The share of likes, drawn towards one half while there are few ratings.
        let liked =
            (facets.likes as f64 + 1.0) / (facets.likes as f64 + facets.dislikes as f64 + 2.0);
        Self {
            kind: entry.kind,
            duration: DurationClass::of(facets.duration_ms),
            flags: Flags::of(entry),
            language: language_of(&facets.language),
            id: IdStart::of(&entry.id),
            length: entry.length,
            published: facets.published,
            views: facets.views,
            liked: liked.to_bits(),
            videos: facets.videos,
            title: start_of(&entry.title),
        }
    }

    fn write(&self) -> [u8; BYTES] {
        // A document that is not there is zeros.
        let kind = (self.kind as u8 + 1) | ((self.duration as u8) << 4);
        let flags = self.flags.0 | (u16::from(self.id.length) << 12);
        let numbers = [
            self.length.to_bits(),
            self.published.cast_unsigned(),
            self.views,
            self.liked,
            self.videos,
            self.title,
        ];
        let numbers = numbers.iter().flat_map(|number| number.to_be_bytes());
        let head = [kind].into_iter().chain(flags.to_be_bytes());
        let all = head.chain(self.language).chain(self.id.bytes).chain(numbers);
        let mut out = [0; BYTES];
        out.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
        out
    }

    fn read(bytes: &[u8; BYTES]) -> Option<Self> {
        let [kind, f0, f1, l0, l1, rest @ ..] = bytes;
        let (id, numbers) = rest.split_first_chunk::<ID_BYTES>()?;
        let (numbers, _) = numbers.as_chunks::<8>();
        let [length, published, views, liked, videos, title] = *numbers else {
            return None;
        };
        let number = u64::from_be_bytes;
        let flags = u16::from_be_bytes([*f0, *f1]);
        let [id_length, _] = (flags >> 4).to_be_bytes();
        Some(Self {
            kind: *Kind::ALL.get(usize::from((kind & 15).checked_sub(1)?))?,
            duration: *DurationClass::ALL.get(usize::from(kind >> 4))?,
            flags: Flags(flags & 0x0FFF),
            language: [*l0, *l1],
            id: IdStart { bytes: *id, length: id_length },
            length: f64::from_bits(number(length)),
            published: number(published).cast_signed(),
            views: number(views),
            liked: number(liked),
            videos: number(videos),
            title: number(title),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Facets;
    use crate::index::column::{BLOCK, apply};
    use crate::index::entry::ENTRIES;
    use triptych_core::kv::{Memory, Tx};

    fn entry(id: &str) -> Entry {
        Entry {
            kind: Kind::Playlist,
            id: id.to_owned(),
            channel: "c".into(),
            title: "été".into(),
            length: 2.5,
            facets: Facets {
                published: -7,
                public: true,
                views: 9,
                likes: 3,
                videos: 4,
                duration_ms: 300_000,
                restricted: true,
                language: "de-AT".into(),
                ..Facets::default()
            },
        }
    }

    #[test]
    fn a_summary_reads_back_and_says_what_its_entry_says() {
        for id in ["", "PL", "elevenbytes", "PLabcdefghij"] {
            let summary = Summary::of(&entry(id));
            assert_eq!(Summary::read(&summary.write()), Some(summary));
            assert_eq!(summary.id.whole(), Some(id).filter(|id| id.len() <= 11));
        }
        let summary = Summary::of(&entry("PL"));
        assert_eq!(Summary::read(&[0; BYTES]), None);
        assert_eq!(summary.language, *b"de");
        assert!(summary.flags.has(Flag::Public) && summary.flags.has(Flag::Restricted));
        assert!(!summary.flags.has(Flag::Captions));
        assert_eq!((summary.duration, summary.rank(BY_VIEWS)), (DurationClass::Medium, !9));
        assert!(start_of("a") < start_of("aa") && start_of("aa") < start_of("b"));
        let ids = ["", "a", "a\0", "aa", "elevenbytes", "elevenbytes+", "f"];
        assert!(ids.map(IdStart::of).is_sorted());
        assert_eq!((language_of("fil"), language_of("")), ([0; 2], [0; 2]));
    }

    #[test]
    fn rows_that_an_older_index_does_not_have_are_made_from_entries() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        for number in [0, 1, BLOCK - 1, BLOCK] {
            ENTRIES.put(&mut tx, &number, &entry(&number.to_string()));
        }
        let read = |tx: &mut Tx<'_>, number| Reader::default().at(tx, number).unwrap();
        let of = |id: &str| Some(Summary::of(&entry(id)));
        assert_eq!(read(&mut tx, 1), of("1"));
        assert_eq!(read(&mut tx, 2), None);
        let changes = [(1, of("new")), (2, of("2")), (BLOCK, None)];
        apply(&mut tx, &changes).unwrap();
        let found = [0, 1, 2, BLOCK - 1, BLOCK].map(|number| read(&mut tx, number));
        let expected = [of("0"), of("new"), of("2"), of(&(BLOCK - 1).to_string()), None];
        assert_eq!(found, expected);
    }
}
