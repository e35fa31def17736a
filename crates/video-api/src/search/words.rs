//! Texts and queries as words: Unicode word boundaries (UAX 29), without regard to case.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use super::Document;

/// A longer word is known by its first so many bytes.
const WORD_BYTES_MAX: usize = 64;
/// A query has no more words than this; the rest is not looked at.
const QUERY_WORDS_MAX: usize = 64;

/// How often a word stands in each field of a document; counts stop at 255.
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
    /// What the fields count together: a word of the title says more of a video than one of its description.
    #[must_use]
    pub fn weight(self) -> f64 {
        3.0 * f64::from(self.title) + 2.0 * f64::from(self.tags) + f64::from(self.description)
    }
}

/// The words of a text, in order.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words().map(|word| {
        let mut word = word.to_lowercase();
        if word.len() > WORD_BYTES_MAX {
            word.truncate(word.floor_char_boundary(WORD_BYTES_MAX));
        }
        word
    })
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

/// A query: documents that hold a word of every group, and none of the words that are not wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Each group is words of which one is enough (`a|b`).
    pub groups: Vec<Vec<String>>,
    /// Words that must not be there (`-a`).
    pub unwanted: Vec<String>,
}

impl Wanted {
    /// Reads the parameter `q`: words are all wanted; `-` before one and `|` between two stand for not and or.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut wanted = Self::default();
        let spaced = query.replace('|', " | ");
        let mut joins = false;
        let mut left = QUERY_WORDS_MAX;
        for token in spaced.split_whitespace() {
            if token == "|" {
                joins = !wanted.groups.is_empty();
                continue;
            }
            let unwanted = token.strip_prefix('-');
            for word in words(unwanted.unwrap_or(token)) {
                let Some(less) = left.checked_sub(1) else {
                    return wanted;
                };
                left = less;
                match wanted.groups.last_mut() {
                    _ if unwanted.is_some() => wanted.unwanted.push(word),
                    Some(group) if joins => group.push(word),
                    _ => wanted.groups.push(vec![word]),
                }
                joins = false;
            }
        }
        wanted
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.unwanted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_unicode_and_not_ascii() {
        let of = |text| words(text).collect::<Vec<_>>();
        assert_eq!(
            of("Don't STOP—Ελλάδα, schön!"),
            ["don't", "stop", "ελλάδα", "schön"]
        );
        assert_eq!(of("東京 3.14 a_b"), ["東", "京", "3.14", "a_b"]);
        assert_eq!(of("  …!"), [""; 0]);
        assert_eq!(of(&"ü".repeat(60)), ["ü".repeat(32)]);
    }

    #[test]
    fn a_query_knows_not_and_or() {
        let parsed = Wanted::parse("boating|sailing -fishing blue sea");
        assert_eq!(
            parsed.groups,
            [vec!["boating", "sailing"], vec!["blue"], vec!["sea"]]
        );
        assert_eq!(parsed.unwanted, ["fishing"]);
        assert!(Wanted::parse(" | - … ").is_empty());
        assert_eq!(Wanted::parse("a | b").groups, [["a", "b"]]);
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
        assert_eq!(
            counted["cat"],
            Counts {
                title: 2,
                tags: 1,
                description: 1
            }
        );
        assert!((counted["cat"].weight() - 9.0).abs() < f64::EPSILON);
    }
}
