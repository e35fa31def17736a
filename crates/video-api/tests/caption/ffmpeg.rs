//! Files that ffmpeg 5.1.9 made of the `source` files in `files/`, compared with what the codec makes of the same sources.
//!
//! The names say what was read and what was written: `srt.vtt` is ffmpeg's WebVTT of `source.srt`. `source.scc` is the codec's own, and
//! so is what `ours.srt` was made of: the WebVTT of `source.srt`.
//!
//! What ffmpeg gets wrong, each with a test below or seen with the same version:
//! - WebVTT is written without escapes, so that `&` and `<3` come out bare and a reader loses the rest of the cue.
//! - WebVTT with a `STYLE` or a `REGION` block is read as a file without cues.
//! - Identifiers, settings, voices and classes of WebVTT are lost on every way through its model, also to WebVTT.
//! - Lines within a cue of SubRip end in CRLF, where all others end in LF.
//! - Places (`{\an8}`) and colours of SubRip are lost on the way to WebVTT; all styles and places are lost on the way to TTML, whose
//!   region hangs on spans.
//! - TTML is not read, and SubViewer, TTML in its other profiles and Scenarist are not written.
//! - Times of Scenarist are those of the time code alone: pairs are not counted, so that each caption comes before its time by as long
//!   as it takes to send, and a code without dropped numbers runs as fast as the clock.
//! - A line of Scenarist that shows several captions becomes one cue with all their texts.
//! - Indents of Scenarist come out as `\h` in WebVTT, each caption as `{\an7}` in SubRip, and a style that changes between words
//!   takes the space before the word in.

use video_api::caption::text::Style;
use video_api::caption::{Cue, Format, Track, read};

macro_rules! file {
    ($name:literal) => {
        read(include_bytes!(concat!("files/", $name))).unwrap()
    };
}

fn texts(track: &Track) -> Vec<String> {
    let line = |cue: &Cue| cue.text.as_str().to_owned();
    track.in_order().into_iter().map(|(_, cue)| line(cue)).collect()
}

fn times(track: &Track) -> Vec<(u64, u64)> {
    let of = |cue: &Cue| (cue.start.millis(), cue.end.millis());
    track.in_order().into_iter().map(|(_, cue)| of(cue)).collect()
}

/// The words of each cue with what is left of their style once colours are gone.
fn styles(track: &Track) -> Vec<Vec<(String, Style)>> {
    let word = |run: &video_api::caption::text::Run<'_>| {
        (run.text.trim().to_owned(), Style { colour: None, ..run.style })
    };
    track
        .cues
        .iter()
        .map(|cue| {
            let runs = cue.text.runs();
            let mut words: Vec<(String, Style)> = Vec::new();
            for (text, style) in
                runs.iter().flatten().map(word).filter(|(text, _)| !text.is_empty())
            {
                match words.last_mut().filter(|last| last.1 == style) {
                    Some(last) => last.0 = format!("{} {text}", last.0),
                    None => words.push((text, style)),
                }
            }
            words
        })
        .collect()
}

#[test]
fn subrip_of_ffmpeg_is_the_source_again() {
    let (format, source) = file!("source.srt");
    assert_eq!(format, Format::SubRip);
    let (_, theirs) = file!("srt.srt");
    assert_eq!(theirs, source);
    assert_eq!(Format::SubRip.write(&source), include_str!("files/srt.srt").replace('\r', ""));
}

#[test]
fn webvtt_of_ffmpeg_has_the_times_texts_and_styles_of_the_source_and_not_its_places() {
    let (_, source) = file!("source.srt");
    let (format, theirs) = file!("srt.vtt");
    assert_eq!(format, Format::WebVtt);
    assert_eq!(times(&theirs), times(&source));
    assert_eq!(texts(&theirs), texts(&source));
    assert_eq!(styles(&theirs), styles(&source));
    assert!(source.cues[1].layout.is_some());
    assert!(theirs.cues[1].layout.is_none());
}

#[test]
fn ttml_of_ffmpeg_has_the_times_and_texts_of_the_source_and_not_its_styles() {
    let (_, source) = file!("source.srt");
    let (format, theirs) = file!("srt.ttml");
    assert_eq!(format, Format::Ttml);
    assert_eq!(times(&theirs), times(&source));
    assert_eq!(texts(&theirs), texts(&source));
    assert!(
        theirs
            .cues
            .iter()
            .all(|cue| cue.text == video_api::caption::text::Text::plain(cue.text.as_str()))
    );
}

#[test]
fn ffmpeg_reads_our_webvtt_as_the_source() {
    let (_, source) = file!("source.srt");
    let (_, theirs) = file!("ours.srt");
    assert_eq!(times(&theirs), times(&source));
    assert_eq!(texts(&theirs), texts(&source));
    assert_eq!(styles(&theirs), styles(&source));
}

#[test]
fn ffmpeg_reads_webvtt_with_comments_and_escapes_as_we_do_and_loses_settings_and_names() {
    let (_, source) = file!("source.vtt");
    let (_, theirs) = file!("vtt.srt");
    assert_eq!(times(&theirs), times(&source));
    assert_eq!(texts(&theirs), texts(&source));
    assert_eq!(styles(&theirs), styles(&source));
    assert_eq!(source.cues[0].id.as_deref(), Some("intro"));
    assert!(source.cues[0].layout.is_some());
    assert!(theirs.cues.iter().all(|cue| cue.id.is_none() && cue.layout.is_none()));
}

#[test]
fn ffmpeg_writes_webvtt_without_escapes_and_the_rest_of_the_cue_is_lost() {
    let (_, source) = file!("source.vtt");
    let (_, theirs) = file!("vtt.vtt");
    assert_eq!(texts(&source)[0], "Hello & world\nsecond <3 line");
    assert_eq!(texts(&theirs)[0], "Hello & world\nsecond ");
    let (_, ours) = read(Format::WebVtt.write(&source).as_bytes()).unwrap();
    assert_eq!(texts(&ours), texts(&source));
}

#[test]
fn ffmpeg_reads_subviewer_with_a_header_as_we_do() {
    let (format, source) = file!("source.sub");
    assert_eq!(format, Format::SubViewer);
    let (_, theirs) = file!("sub.srt");
    assert_eq!(times(&theirs), times(&source));
    assert_eq!(texts(&theirs), texts(&source));
}

#[test]
fn ffmpeg_decodes_the_characters_and_italics_of_our_scenarist_as_we_do() {
    let (format, source) = file!("source.scc");
    assert_eq!(format, Format::Scenarist);
    for theirs in [file!("scc.srt").1, file!("scc.vtt").1] {
        // The fourth line shows three captions, which ffmpeg takes for one.
        assert_eq!(styles(&theirs)[..3], styles(&source)[..3]);
        for text in texts(&source).iter().skip(3) {
            let line = text.lines().last().unwrap();
            assert!(texts(&theirs)[3].contains(line), "{line}");
        }
    }
}

#[test]
fn ffmpeg_shows_captions_of_scenarist_while_they_are_still_sent() {
    let (_, source) = file!("source.scc");
    let (_, theirs) = file!("scc.srt");
    for (number, ((start, _), (wanted, _))) in
        times(&theirs).iter().zip(times(&source)).take(3).enumerate()
    {
        let pairs = (wanted - start) * 30 / 1_001;
        assert!((10..=40).contains(&pairs), "caption {number} is {pairs} pairs early");
    }
    let starts: Vec<_> = times(&source).iter().map(|(start, _)| *start).collect();
    assert_eq!(starts[..4], [2_002, 5_005, 8_008, 12_012]);
}
