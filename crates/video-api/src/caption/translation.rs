//! Captions in another language: the texts of a track for a translator, and the track with what it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;

use super::cue::Track;
use super::encoding::is_unshown;
use super::limits::{CUE_BYTES_MAX, TEXT_BYTES_MAX};
use super::text::{Text, TextBuilder};

/// Texts of one request to a translator at most.
const BATCH_TEXTS: usize = 50;
/// Bytes of the texts of one request, but for a single one that is longer.
const BATCH_BYTES: usize = 8 * 1024;

/// Translations that are on their way.
pub type Translating<'t> =
    Pin<Box<dyn Future<Output = Result<Vec<String>, TranslateError>> + Send + 't>>;

/// Something that translates texts.
pub trait Translator: Send + Sync {
    /// The translations of `texts` from one language to another, by their tags: as many, and in the same order.
    fn translate<'t>(&'t self, texts: &'t [String], from: &'t str, to: &'t str) -> Translating<'t>;
}

/// A reason why texts were not translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranslateError {
    /// It cannot be reached, or did not answer in time.
    #[error("the translator cannot be reached: {0}")]
    Unreachable(String),
    /// It refused, such as a language that it does not know.
    #[error("the translator refused with status {0}")]
    Refused(u16),
    /// It answered something else than translations.
    #[error("the translator's answer is none: {0}")]
    Unreadable(&'static str),
}

/// The texts of a track, each once, in batches for a translator.
#[must_use]
pub fn batches(track: &Track) -> Vec<Vec<String>> {
    let texts: BTreeSet<_> = track.cues.iter().map(|cue| cue.text.as_str()).collect();
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for text in texts.into_iter().filter(|text| !text.trim().is_empty()) {
        let is_full = batches.last().is_none_or(|batch| batch.len() >= BATCH_TEXTS);
        if is_full || bytes + text.len() > BATCH_BYTES {
            batches.push(Vec::new());
            bytes = 0;
        }
        bytes += text.len();
        if let Some(batch) = batches.last_mut() {
            batch.push(text.to_owned());
        }
    }
    batches
}

/// Puts translations in the place of texts. A look that the whole of a text has stays; what only a part of it has is left out.
///
/// # Errors
/// [`TranslateError::Unreadable`] for a translation beyond the limits of a track.
pub fn apply(
    track: &mut Track,
    translations: &BTreeMap<String, String>,
) -> Result<(), TranslateError> {
    let mut bytes = 0;
    for cue in &mut track.cues {
        let Some(translation) = translations.get(cue.text.as_str()) else {
            continue;
        };
        bytes += translation.len();
        if translation.len() > CUE_BYTES_MAX || bytes > TEXT_BYTES_MAX {
            return Err(TranslateError::Unreadable("more text than a track takes"));
        }
        cue.text = translated(&cue.text, translation);
    }
    Ok(())
}

fn translated(text: &Text, translation: &str) -> Text {
    let mut builder = TextBuilder::default();
    let lines = text.runs();
    let mut styles = lines.iter().flatten().map(|run| run.style);
    if let Some(style) = styles.next()
        && styles.all(|other| other == style)
    {
        builder.set_style(style, None);
    }
    for c in translation.trim().chars().filter(|c| *c != '\r') {
        builder.push(if is_unshown(c) { char::REPLACEMENT_CHARACTER } else { c });
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caption::{Format, MediaTime, cue::Cue};

    #[test]
    fn texts_come_once_each_in_batches_and_blank_ones_not_at_all() {
        let cue = |text: &str| Cue::new(MediaTime::ZERO, MediaTime::ZERO, Text::plain(text));
        let mut cues: Vec<_> = (0..120).map(|number| cue(&format!("text {number}"))).collect();
        cues.extend([cue("text 1"), cue(" "), cue(""), cue(&"long ".repeat(2_000))]);
        let batches = batches(&Track::of_cues(cues));
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 121);
        assert!(batches.iter().all(|batch| batch.len() <= BATCH_TEXTS));
        assert!(batches.len() <= 5);
    }

    #[test]
    fn a_look_of_the_whole_text_stays_and_what_cannot_be_shown_is_replaced() {
        let file = "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>one</i>\n\n00:03.000 --> 00:04.000\na <b>b</b>\n";
        let mut track = Format::WebVtt.read(file).unwrap();
        let translations = BTreeMap::from([
            ("one".to_owned(), "eins\u{1}".to_owned()),
            ("a b".to_owned(), "<c>".to_owned()),
        ]);
        apply(&mut track, &translations).unwrap();
        let written = Format::WebVtt.write(&track);
        assert!(written.contains("<i>eins\u{fffd}</i>"), "{written}");
        assert!(written.contains("&lt;c&gt;"), "{written}");
    }
}
