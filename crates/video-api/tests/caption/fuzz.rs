//! The work of the fuzz targets of captions.

use video_api::caption::{Format, encoding};

/// A SubRip file is read or refused.
pub(crate) fn srt(data: &[u8]) {
    run(Format::SubRip, data);
}

/// A WebVTT file is read or refused.
pub(crate) fn vtt(data: &[u8]) {
    run(Format::WebVtt, data);
}

/// A SubViewer file is read or refused.
pub(crate) fn sbv(data: &[u8]) {
    run(Format::SubViewer, data);
}

/// A TTML document is read or refused.
pub(crate) fn ttml(data: &[u8]) {
    run(Format::Ttml, data);
}

/// A Scenarist file is read or refused.
pub(crate) fn scc(data: &[u8]) {
    run(Format::Scenarist, data);
}

/// Checks that what is read is written in every format so that it can be read, and in its own as it was.
fn run(format: Format, data: &[u8]) {
    let Ok(track) = format.read(&encoding::decode(data)) else { return };
    for cue in &track.cues {
        assert!(cue.start <= cue.end);
    }
    for to in Format::ALL {
        let file = to.write(&track);
        let again = to.read(&file);
        assert!(again.is_ok(), "{again:?} in\n{file}");
        match again {
            // Scenarist puts cues that overlap on one picture, so its first file may differ from the second.
            Ok(again) if to != Format::Scenarist => assert_eq!(to.write(&again), file),
            Ok(again) => {
                let file = to.write(&again);
                let again = to.read(&file).map(|track| to.write(&track));
                assert_eq!(again.as_ref(), Ok(&file));
            }
            Err(_) => {}
        }
    }
}
