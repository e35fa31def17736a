//! Downloads of tracks: the bytes that came, or captions made of them in another format, with other times or in another language.

use super::record::Caption;
use super::rules;
use crate::api::error::Error;
use crate::api::language;
use crate::api::response::download::{Conversion, Download, Translation};
use crate::caption::{Error as CaptionError, FileForm, Format, MediaTime, Track};
use crate::caption::{Problem, encoding, transcript};

/// The download that a request with `tfmt` and `tlang` asks for; `length_ms` is that of the video.
///
/// # Errors
/// [`rules::FORMAT_NOT_CONVERTED`], [`rules::LANGUAGE_NOT_CONVERTED`].
pub(super) fn plan(
    caption: &Caption,
    format: Option<&str>,
    language: Option<&str>,
    length_ms: u64,
) -> Result<Download, Error> {
    let wanted = match format {
        None => None,
        Some(name) => Some(Format::parse(name).ok_or(&rules::FORMAT_NOT_CONVERTED)?),
    };
    let translation = match language {
        None => None,
        Some(tag) if !language::is_tag(tag) => {
            return Err(Error::Rule(&rules::LANGUAGE_NOT_CONVERTED));
        }
        Some(tag) if is_of_language(&caption.language, tag) => None,
        Some(tag) => {
            let [from, to] = [&caption.language, tag].map(language::canonical);
            Some(Translation { from, to })
        }
    };
    let mut download = Download {
        content: caption.content,
        bytes: caption.bytes,
        etag: caption.etag(),
        media_type: "application/octet-stream",
        conversion: None,
    };
    if wanted.is_none() && translation.is_none() {
        return Ok(download);
    }
    let refusal = if wanted.is_some() {
        &rules::FORMAT_NOT_CONVERTED
    } else {
        &rules::LANGUAGE_NOT_CONVERTED
    };
    if caption.status() != "serving" {
        return Err(Error::Rule(refusal));
    }
    let own = match caption.form {
        FileForm::Captions(format) => Some(format),
        _ => None,
    };
    // A transcript has no format of its own that could hold its times.
    let to = wanted.or(own).ok_or(refusal)?;
    let sync = caption.is_synced.then(|| MediaTime::from_millis(length_ms));
    download.etag = crate::api::response::etag(
        format!("{} {} {}", download.etag, to.name(), language.unwrap_or_default()).as_bytes(),
    );
    download.media_type = to.media_type();
    let language = language::with_hyphens(&caption.language);
    download.conversion = Some(Conversion { to, sync, language, translation });
    Ok(download)
}

/// Returns whether captions in `own` are what `wanted` asks for: the language itself, or without a region that nobody asked for. `en_GB` and
/// `en-GB` are one.
fn is_of_language(own: &str, wanted: &str) -> bool {
    let [own, wanted] = [own, wanted].map(language::canonical);
    let begin = own.get(..wanted.len()).is_some_and(|own| own.eq_ignore_ascii_case(&wanted));
    begin && matches!(own.as_bytes().get(wanted.len()), None | Some(b'-'))
}

/// Reads the track that a conversion starts from, with the times that it is to have.
///
/// # Errors
/// The line and the reason of what cannot be read.
pub fn read(bytes: &[u8], conversion: &Conversion) -> Result<Track, CaptionError> {
    let track = match (crate::caption::read(bytes), conversion.sync) {
        (Err(error), Some(length)) if error.problem == Problem::NoTimeCodes => {
            transcript::spread(&encoding::decode(bytes), length)
        }
        (read, _) => read.map(|(_, track)| track),
    };
    let mut track = track?;
    if let Some(length) = conversion.sync {
        transcript::retime(&mut track, length);
    }
    track.language = Some(match (&conversion.translation, track.language) {
        (Some(translation), _) => translation.to.clone(),
        (None, Some(own)) => own,
        // The file may not say what the track is known by.
        (None, None) => conversion.language.clone(),
    });
    Ok(track)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_passed_through_with_and_without_its_region() {
        for (own, wanted, passes) in [
            ("en", "en", true),
            ("en-GB", "en", true),
            ("en-GB", "EN-gb", true),
            ("en-GB", "en_GB", true),
            ("en_GB", "en-GB", true),
            ("en_GB", "en", true),
            ("en", "en-GB", false),
            ("en-GB", "en-US", false),
            ("zh-Hant-TW", "zh-hant", true),
            ("iw", "he", true),
            ("he-IL", "iw", true),
            ("eng", "en", false),
            ("de", "en", false),
        ] {
            assert_eq!(is_of_language(own, wanted), passes, "{own} {wanted}");
        }
    }

    #[test]
    fn a_transcript_is_spread_and_captions_are_given_other_times() {
        let conversion = Conversion {
            to: Format::SubRip,
            sync: Some(MediaTime::from_millis(10_000)),
            language: "en".into(),
            translation: None,
        };
        for file in
            ["one\ntwo", "WEBVTT\n\n01:00.000 --> 01:01.000\none\n\n01:01.000 --> 01:02.000\ntwo\n"]
        {
            let track = read(file.as_bytes(), &conversion).unwrap();
            assert_eq!(track.cues.len(), 2);
            assert_eq!(track.cues[1].end.millis(), 10_000);
        }
        assert!(read(b"one\ntwo", &Conversion { sync: None, ..conversion }).is_err());
    }

    #[test]
    fn what_is_made_of_a_file_that_names_no_language_is_in_that_of_its_track() {
        let german = Some(Translation { from: "en".into(), to: "de".into() });
        let cue = "\n\n00:01.000 --> 00:02.000\none\n";
        let length = Some(MediaTime::from_millis(10_000));
        for (file, sync, translation, language) in [
            (format!("WEBVTT{cue}"), None, &None, "pt-BR"),
            (format!("WEBVTT\nLanguage: fr{cue}"), None, &None, "fr"),
            (format!("WEBVTT{cue}"), None, &german, "de"),
            (format!("WEBVTT\nLanguage: fr{cue}"), None, &german, "de"),
            ("a transcript".to_owned(), length, &None, "pt-BR"),
            ("a transcript".to_owned(), length, &german, "de"),
        ] {
            let (own, translation) = ("pt-BR".to_owned(), translation.clone());
            let conversion = Conversion { to: Format::Ttml, sync, language: own, translation };
            let track = read(file.as_bytes(), &conversion).unwrap();
            assert_eq!(track.language.as_deref(), Some(language), "{file}");
            let made = Format::Ttml.write(&track);
            assert!(made.contains(&format!("xml:lang=\"{language}\"")), "{made}");
        }
    }
}
