//! Texts and queries as words: Unicode word boundaries (UAX 29), without regard to case or to the form in which a letter is written (NFKC).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::Document;

/// The version of the reading of texts as words. Stores of which another one filled the index have texts that are read otherwise
/// ([`is_read_anew`]) indexed again at their first start.
pub const VERSION: u32 = 1;
/// A longer word is known by its first so many bytes.
const WORD_BYTES_MAX: usize = 64;
/// A query has no more words than this; the rest is not looked at.
const QUERY_WORDS_MAX: usize = 64;

/// Frequency of a word in each field of a document; counts stop at 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// In the title.
    pub title: u8,
    /// In the tags.
    pub tags: u8,
    /// In the description.
    pub description: u8,
}

impl Counts {
    /// Weight of the fields together: a word of the title says more of a video than one of its description.
    #[must_use]
    pub fn weight(self) -> f64 {
        3.0 * f64::from(self.title) + 2.0 * f64::from(self.tags) + f64::from(self.description)
    }
}

/// The words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let (as_it_stands, folded) = match folded(text) {
        Cow::Borrowed(text) => (text, Vec::new()),
        Cow::Owned(text) => ("", earlier_words(&text).collect()),
    };
    earlier_words(as_it_stands).chain(folded)
}

/// A text with each letter in one form, however it was typed.
fn folded(text: &str) -> Cow<'_, str> {
    const TYPOGRAPHIC_APOSTROPHE: char = '\u{2019}';
    let is_folded = text.is_ascii()
        || is_nfkc_quick(text.chars()) == IsNormalized::Yes
            && !text.contains(TYPOGRAPHIC_APOSTROPHE);
    if is_folded {
        return Cow::Borrowed(text);
    }
    let plain = |letter| if letter == TYPOGRAPHIC_APOSTROPHE { '\'' } else { letter };
    Cow::Owned(text.nfkc().map(plain).collect())
}

/// The words of a text as version 0 read it.
pub fn earlier_words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words().map(|word| {
        let mut word = word.to_lowercase();
        if word.len() > WORD_BYTES_MAX {
            word.truncate(word.floor_char_boundary(WORD_BYTES_MAX));
        }
        word
    })
}

/// Tells whether the words of a text may be others than those that version 0 read.
#[must_use]
pub fn is_read_anew(text: &str) -> bool {
    matches!(folded(text), Cow::Owned(_))
}

/// The texts of a document.
pub fn texts(document: &Document) -> impl Iterator<Item = &str> {
    let tags = document.tags.iter().map(String::as_str);
    [document.title.as_str(), document.description.as_str()].into_iter().chain(tags)
}

/// The words of a document as version 0 read it.
#[must_use]
pub fn earlier_words_of(document: &Document) -> BTreeSet<String> {
    texts(document).flat_map(earlier_words).collect()
}

/// The words of a document with their counts.
#[must_use]
pub fn counts(document: &Document) -> BTreeMap<String, Counts> {
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    let mut add = |text: &str, field: fn(&mut Counts) -> &mut u8| {
        for word in words(text) {
            let count = field(all.entry(word).or_default());
            *count = count.saturating_add(1);
        }
    };
    add(&document.title, |counts| &mut counts.title);
    for tag in &document.tags {
        add(tag, |counts| &mut counts.tags);
    }
    add(&document.description, |counts| &mut counts.description);
    all
}

/// A term of a query: a word, or words that follow one another.
pub type Term = Vec<String>;

/// A query: documents that hold a term of every group, and none of the terms that are not wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextQuery {
    /// Each group is terms of which one is enough (`a|b`).
    pub groups: Vec<Vec<Term>>,
    /// Terms that must not be there (`-a`, `-"a b"`).
    pub excluded: Vec<Term>,
}

impl TextQuery {
    /// Reads the parameter `q`: terms are all wanted; `-` before one and `|` between two stand for not and or, and quotation marks make
    /// one term of several words. What is written together is one term too, so that a name like `wi-fi` is found as it stands.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut wanted = Self::default();
        let (mut joins, mut left) = (false, QUERY_WORDS_MAX);
        let mut rest = query.trim_start();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('|') {
                joins = !wanted.groups.is_empty();
                rest = after.trim_start();
                continue;
            }
            let plain = rest.strip_prefix('-');
            let is_unwanted = plain.is_some();
            let (text, after) = token(plain.unwrap_or(rest));
            rest = after.trim_start();
            let term: Term = words(text).take(left).collect();
            left -= term.len();
            if term.is_empty() {
                continue;
            }
            match wanted.groups.last_mut() {
                _ if is_unwanted => wanted.excluded.push(term),
                Some(group) if joins => group.push(term),
                _ => wanted.groups.push(vec![term]),
            }
            joins = false;
        }
        wanted
    }

    /// Tells whether nothing is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.excluded.is_empty()
    }

    /// Tells whether the words of a document are not enough to know, because some have to follow one another.
    #[must_use]
    pub fn needs_text(&self) -> bool {
        let mut terms = self.groups.iter().flatten().chain(&self.excluded);
        terms.any(|term| term.len() > 1)
    }

    /// Tells whether a document matches, by its text.
    #[must_use]
    pub fn holds(&self, document: &Document) -> bool {
        let texts: Vec<Term> = texts(document).map(|text| words(text).collect()).collect();
        let stands =
            |term: &Term| texts.iter().any(|text| text.windows(term.len()).any(|run| run == term));
        self.groups.iter().all(|group| group.iter().any(stands))
            && !self.excluded.iter().any(stands)
    }
}

/// The first term of a query that does not begin with a blank, and what follows. A quotation mark that is never closed is no sign at all.
fn token(text: &str) -> (&str, &str) {
    if let Some(found) = text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        return found;
    }
    let start = text.strip_prefix('"').unwrap_or(text);
    let ends = |letter: char| letter.is_whitespace() || ['|', '"'].contains(&letter);
    start.split_at(start.find(ends).unwrap_or(start.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_unicode_and_not_ascii() {
        let of = |text| words(text).collect::<Vec<_>>();
        assert_eq!(of("Don't STOP—Ελλάδα, schön!"), ["don't", "stop", "ελλάδα", "schön"]);
        assert_eq!(of("東京 3.14 a_b"), ["東", "京", "3.14", "a_b"]);
        assert_eq!(of("  …!"), [""; 0]);
        assert_eq!(of(&"ü".repeat(60)), ["ü".repeat(32)]);
    }

    #[test]
    fn texts_that_look_alike_have_the_same_words_however_their_letters_are_written() {
        let of = |text| words(text).collect::<Vec<_>>();
        for (typed, alike) in [
            ("Cafe\u{301} Zu\u{308}rich", "café zürich"),
            ("Don\u{2019}t", "don't"),
            ("Ｔｏｋｙｏ ①", "tokyo 1"),
            ("ﬁlm", "film"),
            ("\u{1100}\u{1161}\u{11A8}", "각"),
        ] {
            assert_eq!(of(typed), of(alike), "{typed}");
            assert_eq!(TextQuery::parse(typed), TextQuery::parse(alike), "{typed}");
            assert!(is_read_anew(typed) && !is_read_anew(alike), "{typed}");
        }
        let document = Document { title: "Cafe\u{301} noir".into(), ..Document::default() };
        assert!(TextQuery::parse("\"café noir\"").holds(&document));
    }

    #[test]
    fn a_query_knows_not_and_or() {
        let parsed = TextQuery::parse("boating|sailing -fishing blue sea");
        assert_eq!(
            parsed.groups,
            [vec![vec!["boating"], vec!["sailing"]], vec![vec!["blue"]], vec![vec!["sea"]]]
        );
        assert_eq!(parsed.excluded, [["fishing"]]);
        assert!(TextQuery::parse(" | - … ").is_empty());
        assert_eq!(TextQuery::parse("a | b").groups, [[["a"], ["b"]]]);
    }

    #[test]
    fn quotation_marks_make_one_term_of_several_words() {
        let parsed = TextQuery::parse(r#"red "Blue Sea"|lake -"dead fish" wi-fi "#);
        assert_eq!(
            parsed.groups,
            [vec![vec!["red"]], vec![vec!["blue", "sea"], vec!["lake"]], vec![vec!["wi", "fi"]]]
        );
        assert_eq!(parsed.excluded, [["dead", "fish"]]);
        assert_eq!(TextQuery::parse(r#""open end"#).groups, [[["open"]], [["end"]]]);
        assert!(TextQuery::parse(r#"" "" -" -"#).is_empty());
    }

    #[test]
    fn words_of_a_term_follow_one_another_in_one_text() {
        let holds = |query: &str, title: &str, tag: &str| {
            let document = Document {
                title: title.to_owned(),
                tags: vec![tag.to_owned()],
                ..Document::default()
            };
            TextQuery::parse(query).holds(&document)
        };
        assert!(holds(r#""blue sea""#, "The Blue, Sea!", ""));
        assert!(!holds(r#""blue sea""#, "sea blue", ""));
        assert!(!holds(r#""blue sea""#, "blue", "sea"), "not across texts");
        assert!(holds(r#""blue sea"|lake"#, "a lake", ""));
        assert!(!holds(r#"blue -"blue sea""#, "x", "blue sea"));
        assert!(holds(r#"blue -"blue sea""#, "blue deep sea", ""));
    }

    #[test]
    fn a_word_is_counted_in_every_field() {
        let document = Document {
            title: "Cat and cat".to_owned(),
            description: "cat".to_owned(),
            tags: vec!["big cat".to_owned()],
            ..Document::default()
        };
        let counted = counts(&document);
        assert_eq!(counted["cat"], Counts { title: 2, tags: 1, description: 1 });
        assert!((counted["cat"].weight() - 9.0).abs() < f64::EPSILON);
    }
}
