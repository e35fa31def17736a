//! Metadata of an uploaded file: container, duration, dimensions and codecs, read from its own headers in bounded steps.
//!
//! The file is never in memory: [`probe`] asks for small ranges of it.

mod matroska;
mod mp4;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod window;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::caption::FileForm;
use crate::picture::{PictureError, Size};
use crate::upload::media::{MediaId, Piece};
use window::{Stop, Window};

/// An uploaded file, as an operation finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    /// Its name among [`crate::upload::media::PIECES`].
    pub id: MediaId,
    /// Its length.
    pub bytes: u64,
    /// Content type that the client names.
    pub content_type: Option<String>,
    /// Name of the file, as the client says it.
    pub file_name: Option<String>,
    /// Result of its processing, which comes before the operation.
    pub processed: Processed,
}

/// Processing of an uploaded file before its operation runs: a row of the operation table names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processing {
    /// Nothing.
    Keep,
    /// Read its metadata.
    Probe,
    /// Read it as captions.
    Captions,
    /// Decode it as a picture of at least this width and height, and render it in these sizes.
    Render {
        /// The sizes.
        sizes: &'static [Size],
        /// The least width and height.
        least: (u32, u32),
    },
}

/// Result of the processing of an uploaded file.
#[derive(Debug, Clone, PartialEq)]
pub enum Processed {
    /// Nothing: the operation keeps the file as it is.
    Nothing,
    /// Metadata from its headers.
    Info(Result<MediaInfo, ProbeFailure>),
    /// The captions that it holds.
    Captions(FileForm),
    /// Its renderings.
    Pictures(Result<Renderings, PictureError>),
}

/// An uploaded picture in the sizes of its operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Renderings {
    /// Width and height as it was sent.
    pub source: (u32, u32),
    /// Each size, on disk.
    pub pieces: Vec<(Size, Piece)>,
}

/// Metadata of a video file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaInfo {
    /// `mp4`, `mov`, `webm` or `matroska`.
    pub container: String,
    /// Length in milliseconds; zero if the file does not say.
    pub duration_ms: u64,
    /// Its pictures; at least one.
    pub video: Vec<VideoStream>,
    /// Its sound.
    pub audio: Vec<AudioStream>,
    /// Time of its making, in seconds since 1970, if the file says so.
    pub created: Option<i64>,
}

/// A stream of pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VideoStream {
    /// Width as it is shown, before rotation.
    pub width: u32,
    /// Height as it is shown, before rotation.
    pub height: u32,
    /// Its codec: `h264`, `vp9`..., or the container's own name for one that is not known here.
    pub codec: String,
    /// Rotation when it is shown: 0, 90, 180 or 270 degrees clockwise.
    pub rotation: u16,
    /// Pictures a second, if the file says so.
    pub frame_rate: Option<f64>,
    /// True if the file says that it holds a picture for each eye.
    #[serde(default)]
    pub three_d: bool,
}

/// A stream of sound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AudioStream {
    /// Its codec: `aac`, `opus`..., or the container's own name.
    pub codec: String,
    /// Number of channels; zero if the file does not say.
    pub channels: u16,
}

impl MediaInfo {
    /// Returns whether a stream of it is in 3D.
    #[must_use]
    pub fn is_three_d(&self) -> bool {
        self.video.iter().any(|stream| stream.three_d)
    }

    /// `hd` from 720 lines on (the shorter side, as it is shown), else `sd`.
    #[must_use]
    pub fn definition(&self) -> &'static str {
        let lines = self.video.iter().map(|stream| stream.width.min(stream.height)).max();
        if lines.is_some_and(|lines| lines >= 720) { "hd" } else { "sd" }
    }
}

/// A reason for which a file cannot be shown as a video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProbeFailure {
    /// It has no bytes.
    EmptyFile,
    /// It is a picture.
    ImageFile,
    /// It is an archive.
    ArchiveFile,
    /// It is a document.
    DocFile,
    /// It has sound and no pictures.
    AudioFile,
    /// It is none of the containers that are read here.
    NotAVideoFile,
    /// It is one of them, and cut off or damaged.
    InvalidFile,
}

impl ProbeFailure {
    /// `status.failureReason` of the video.
    #[must_use]
    pub const fn failure_reason(self) -> &'static str {
        match self {
            Self::EmptyFile => "emptyFile",
            _ => "invalidFile",
        }
    }

    /// `suggestions.processingErrors` of the video; none for a file that is empty or damaged.
    #[must_use]
    pub const fn processing_error(self) -> Option<&'static str> {
        match self {
            Self::ImageFile => Some("imageFile"),
            Self::ArchiveFile => Some("archiveFile"),
            Self::DocFile => Some("docFile"),
            Self::AudioFile => Some("audioFile"),
            Self::NotAVideoFile => Some("notAVideoFile"),
            Self::EmptyFile | Self::InvalidFile => None,
        }
    }
}

/// Reads the metadata of a file of `length` bytes. `read(offset, bytes_max)` gives bytes of it; it is asked for 64 KiB at a time and 256 MiB in all.
///
/// # Errors
/// The error of `read`; a file that is no video is no error but a [`ProbeFailure`].
pub fn probe<E>(
    length: u64,
    mut read: impl FnMut(u64, usize) -> Result<Bytes, E>,
) -> Result<Result<MediaInfo, ProbeFailure>, E> {
    if length == 0 {
        return Ok(Err(ProbeFailure::EmptyFile));
    }
    let mut failure = None;
    let mut reader = |offset, bytes_max| match read(offset, bytes_max) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            failure = Some(error);
            None
        }
    };
    let found = identify(&mut Window::new(length, &mut reader));
    match failure {
        Some(error) => Err(error),
        None => Ok(found.map_err(|stop| match stop {
            Stop::Rejected(reason) => reason,
            Stop::End => ProbeFailure::InvalidFile,
        })),
    }
}

fn identify(window: &mut Window<'_>) -> Result<MediaInfo, Stop> {
    let head = window.up_to(0, 262)?;
    let info = if head.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]) {
        matroska::read(window)?
    } else if mp4::is_start(&head) {
        mp4::read(window)?
    } else {
        return Err(Stop::Rejected(sniff(&head)));
    };
    if info.video.is_empty() {
        let reason =
            if info.audio.is_empty() { ProbeFailure::InvalidFile } else { ProbeFailure::AudioFile };
        return Err(Stop::Rejected(reason));
    }
    Ok(info)
}

/// Tells by its first bytes what a file is that is in no container of ours.
fn sniff(head: &[u8]) -> ProbeFailure {
    const STARTS: &[(&[u8], ProbeFailure)] = &[
        (b"\x89PNG", ProbeFailure::ImageFile),
        (b"\xFF\xD8\xFF", ProbeFailure::ImageFile),
        (b"GIF8", ProbeFailure::ImageFile),
        (b"BM", ProbeFailure::ImageFile),
        (b"PK\x03\x04", ProbeFailure::ArchiveFile),
        (b"\x1F\x8B", ProbeFailure::ArchiveFile),
        (b"7z\xBC\xAF\x27\x1C", ProbeFailure::ArchiveFile),
        (b"Rar!", ProbeFailure::ArchiveFile),
        (b"%PDF", ProbeFailure::DocFile),
        (b"{\\rtf", ProbeFailure::DocFile),
        (b"\xD0\xCF\x11\xE0", ProbeFailure::DocFile),
        (b"ID3", ProbeFailure::AudioFile),
        (b"fLaC", ProbeFailure::AudioFile),
        (b"\xFF\xFB", ProbeFailure::AudioFile),
    ];
    let known = STARTS.iter().find(|(start, _)| head.starts_with(start)).map(|(_, reason)| *reason);
    let riff =
        head.starts_with(b"RIFF").then(|| head.get(8..12)).flatten().map(|kind| match kind {
            b"WEBP" => ProbeFailure::ImageFile,
            b"WAVE" => ProbeFailure::AudioFile,
            _ => ProbeFailure::NotAVideoFile,
        });
    known.or(riff).unwrap_or(ProbeFailure::NotAVideoFile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn of(bytes: &[u8]) -> Result<MediaInfo, ProbeFailure> {
        let bytes = Bytes::copy_from_slice(bytes);
        let read = |offset: u64, most: usize| {
            let start = usize::try_from(offset).unwrap().min(bytes.len());
            Ok::<_, Infallible>(bytes.slice(start..(start + most).min(bytes.len())))
        };
        probe(bytes.len() as u64, read).unwrap_or_else(|never| match never {})
    }

    #[test]
    fn an_mp4_says_how_long_and_how_large_it_is_wherever_its_index_stands() {
        for moov_last in [false, true] {
            for large in [false, true] {
                let file = sample::Mp4 {
                    moov_last,
                    large_sizes: large,
                    ..sample::Mp4::new(1920, 1080, 61_500)
                }
                .bytes();
                let info = of(&file).unwrap();
                assert_eq!(
                    (info.container.as_str(), info.duration_ms, info.definition()),
                    ("mp4", 61_500, "hd")
                );
                let stream = info.video.first().unwrap();
                assert_eq!(
                    (stream.width, stream.height, stream.codec.as_str(), stream.rotation),
                    (1920, 1080, "h264", 0)
                );
                assert!((stream.frame_rate.unwrap() - 30.0).abs() < 0.01);
                assert_eq!(info.audio, [AudioStream { codec: "aac".to_owned(), channels: 2 }]);
                assert_eq!(info.created, Some(1_700_000_000));
            }
        }
    }

    #[test]
    fn a_quicktime_file_a_rotated_one_and_a_fragmented_one_are_read() {
        let mov = of(&sample::Mp4 { brand: *b"qt  ", ..sample::Mp4::new(640, 360, 2_000) }.bytes())
            .unwrap();
        assert_eq!((mov.container.as_str(), mov.definition()), ("mov", "sd"));
        let turned =
            of(&sample::Mp4 { rotation: 90, ..sample::Mp4::new(1280, 720, 2_000) }.bytes())
                .unwrap();
        assert_eq!(turned.video.first().unwrap().rotation, 90);
        let fragmented =
            of(&sample::Mp4 { fragments: 5, ..sample::Mp4::new(1280, 720, 10_000) }.bytes())
                .unwrap();
        assert_eq!((fragmented.duration_ms, fragmented.definition()), (10_000, "hd"));
    }

    #[test]
    fn a_webm_says_how_long_and_how_large_it_is_also_without_sizes_and_without_a_duration() {
        for unknown_sizes in [false, true] {
            for says_duration in [false, true] {
                let sample = sample::Matroska {
                    unknown_sizes,
                    says_duration,
                    ..sample::Matroska::new(1280, 720, 9_000)
                };
                let info = of(&sample.bytes()).unwrap();
                assert_eq!((info.container.as_str(), info.definition()), ("webm", "hd"));
                assert_eq!(info.duration_ms, 9_000, "{unknown_sizes} {says_duration}");
                assert_eq!(info.video.first().unwrap().codec, "vp9");
                assert_eq!(info.audio, [AudioStream { codec: "opus".to_owned(), channels: 2 }]);
            }
        }
        let mkv = of(&sample::Matroska {
            doc_type: "matroska",
            ..sample::Matroska::new(320, 240, 1_000)
        }
        .bytes())
        .unwrap();
        assert_eq!((mkv.container.as_str(), mkv.definition()), ("matroska", "sd"));
    }

    #[test]
    fn what_is_no_video_has_a_reason() {
        for (bytes, reason) in [
            (b"".as_slice(), ProbeFailure::EmptyFile),
            (b"VVVVVVVVVVVV", ProbeFailure::NotAVideoFile),
            (b"\x89PNG\r\n\x1a\n", ProbeFailure::ImageFile),
            (b"PK\x03\x04....", ProbeFailure::ArchiveFile),
            (b"%PDF-1.7", ProbeFailure::DocFile),
            (b"ID3\x04....", ProbeFailure::AudioFile),
            (b"RIFF....WAVEfmt ", ProbeFailure::AudioFile),
            (b"\0\0\0\x10ftypisom\0\0\0\0", ProbeFailure::InvalidFile),
            (b"\x1A\x45\xDF\xA3", ProbeFailure::InvalidFile),
        ] {
            assert_eq!(of(bytes), Err(reason), "{bytes:?}");
        }
        let silent = sample::Mp4 { video: false, ..sample::Mp4::new(0, 0, 1_000) };
        assert_eq!(of(&silent.bytes()), Err(ProbeFailure::AudioFile));
    }

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_never_more_than_refused() {
        for file in [
            sample::Mp4::new(640, 360, 5_000).bytes(),
            sample::Mp4 { fragments: 3, ..sample::Mp4::new(640, 360, 5_000) }.bytes(),
            sample::Matroska::new(640, 360, 5_000).bytes(),
            sample::Matroska {
                unknown_sizes: true,
                says_duration: false,
                ..sample::Matroska::new(640, 360, 5_000)
            }
            .bytes(),
        ] {
            for end in 0..file.len() {
                let _ = of(&file[..end]);
                let mut damaged = file.clone();
                damaged[end] ^= 0xFF;
                let _ = of(&damaged);
            }
        }
    }

    #[test]
    fn boxes_that_say_they_are_endless_or_empty_end_the_reading() {
        let mut zeros = sample::Mp4::new(1, 1, 1).bytes();
        zeros.extend(vec![0; 100_000]);
        let _ = of(&zeros);
        let _ = of(&[b"\0\0\0\x08free".as_slice(); 50_000].concat());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..400), at in 0_usize..900) {
            let mut file = sample::Mp4::new(640, 360, 5_000).bytes();
            let at = at.min(file.len());
            let end = (at + noise.len()).min(file.len());
            file.splice(at..end, noise.iter().copied());
            let _ = of(&file);
            let mut file = sample::Matroska::new(640, 360, 5_000).bytes();
            let at = at.min(file.len());
            file.splice(at..at, noise.iter().copied());
            let _ = of(&file);
        }
    }
}
