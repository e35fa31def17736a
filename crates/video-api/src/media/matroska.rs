//! Matroska and WebM (RFC 9559): EBML elements, some of which do not say where they end.

use super::window::{Stop, Window};
use super::{AudioStream, MediaInfo, VideoStream};

const DOC_TYPE: u32 = 0x4282;
const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_A966;
const TRACKS: u32 = 0x1654_AE6B;
const CLUSTER: u32 = 0x1F43_B675;
const EBML: u32 = 0x1A45_DFA3;
const TRACK_ENTRY: u32 = 0xAE;
const VIDEO: u32 = 0xE0;
const AUDIO: u32 = 0xE1;
const CLUSTER_TIME: u32 = 0xE7;
const SIMPLE_BLOCK: u32 = 0xA3;
const BLOCK_GROUP: u32 = 0xA0;
const BLOCK: u32 = 0xA1;

/// Seconds from 1970 to 2001, the epoch of the format's dates.
const EPOCH_2001: i64 = 978_307_200;
/// More streams than this are not looked at.
const STREAMS_MAX: usize = 64;
const CODEC_BYTES_MAX: usize = 64;

/// An element: its id, and where its content lies. Without an end it reaches to wherever its parent's next child starts.
#[derive(Debug, Clone, Copy)]
struct Element {
    id: u32,
    start: u64,
    end: Option<u64>,
}

#[derive(Debug, Default)]
struct Track {
    kind: u64,
    codec: String,
    pixels: (u64, u64),
    shown: (u64, u64),
    display_unit: u64,
    /// The way frames hold a picture for each eye; 0 where they do not.
    stereo_mode: u64,
    channels: u64,
    /// Nanoseconds a frame.
    frame_ns: u64,
}

#[derive(Debug)]
struct Segment {
    doc_type: String,
    /// Nanoseconds a tick.
    scale: u64,
    /// Ticks.
    duration: Option<f64>,
    created: Option<i64>,
    tracks: Vec<Track>,
    cluster_time: u64,
    /// The last block's time, in ticks.
    last_tick: i64,
    /// The last cluster that says where it ends: only that one is looked into.
    last_cluster: Option<Element>,
}

/// Reads the file's metadata.
pub(super) fn read(window: &mut Window<'_>) -> Result<MediaInfo, Stop> {
    let mut segment = Segment {
        doc_type: String::new(),
        scale: 1_000_000,
        duration: None,
        created: None,
        tracks: Vec::new(),
        cluster_time: 0,
        last_tick: 0,
        last_cluster: None,
    };
    // A recording that was cut off still has the length of what is there.
    match segment.walk(window, 0, window.length) {
        Err(Stop::End) if !segment.tracks.is_empty() => {}
        other => other?,
    }
    if let Some((cluster, end)) =
        segment.last_cluster.and_then(|cluster| Some((cluster, cluster.end?)))
    {
        match segment.walk(window, cluster.start, end) {
            Err(Stop::End) => {}
            other => other?,
        }
    }
    Ok(segment.media_info())
}

impl Segment {
    /// Goes through the elements from `at` to `limit`. Containers that may have no end are gone into, so that what follows in them is
    /// simply the next element.
    fn walk(&mut self, window: &mut Window<'_>, mut at: u64, limit: u64) -> Result<(), Stop> {
        while at < limit {
            let element = element_at(window, at, limit)?;
            if element.id == SEGMENT || (element.id == CLUSTER && element.end.is_none()) {
                at = element.start;
                continue;
            }
            let end = element.end.ok_or(Stop::End)?;
            match element.id {
                EBML => self.children(window, element, Self::header)?,
                INFO => self.children(window, element, Self::info)?,
                TRACKS => self.children(window, element, Self::entry)?,
                CLUSTER => {
                    self.last_cluster = Some(element);
                    // What it holds is looked at once it is known to be the last; without a duration nothing else is needed of the others.
                    if self.duration.is_some() && !self.tracks.is_empty() {
                        self.last_cluster = None;
                        return Ok(());
                    }
                }
                CLUSTER_TIME => self.cluster_time = unsigned(window, element)?,
                SIMPLE_BLOCK => self.block(window, element)?,
                BLOCK_GROUP => {
                    self.children(window, element, |segment, window, child| match child.id {
                        BLOCK => segment.block(window, child),
                        _ => Ok(()),
                    })?
                }
                _ => {}
            }
            at = end;
        }
        Ok(())
    }

    fn children(
        &mut self,
        window: &mut Window<'_>,
        parent: Element,
        mut each: impl FnMut(&mut Self, &mut Window<'_>, Element) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let limit = parent.end.unwrap_or(parent.start);
        let mut at = parent.start;
        while at < limit {
            let child = element_at(window, at, limit)?;
            each(self, window, child)?;
            at = child.end.ok_or(Stop::End)?;
        }
        Ok(())
    }

    fn header(&mut self, window: &mut Window<'_>, child: Element) -> Result<(), Stop> {
        if child.id == DOC_TYPE {
            self.doc_type = text(window, child)?;
        }
        Ok(())
    }

    fn info(&mut self, window: &mut Window<'_>, child: Element) -> Result<(), Stop> {
        match child.id {
            0x2A_D7B1 => self.scale = unsigned(window, child)?,
            0x4489 => {
                self.duration =
                    float(window, child)?.filter(|ticks| ticks.is_finite() && *ticks > 0.0)
            }
            0x4461 => {
                let nanoseconds = unsigned(window, child)?.cast_signed();
                self.created = Some(EPOCH_2001.saturating_add(nanoseconds / 1_000_000_000));
            }
            _ => {}
        }
        Ok(())
    }

    fn entry(&mut self, window: &mut Window<'_>, child: Element) -> Result<(), Stop> {
        if child.id != TRACK_ENTRY || self.tracks.len() == STREAMS_MAX {
            return Ok(());
        }
        let mut track = Track { channels: 1, ..Track::default() };
        self.children(window, child, |segment, window, child| match child.id {
            0x83 => unsigned(window, child).map(|kind| track.kind = kind),
            0x86 => text(window, child).map(|codec| track.codec = codec),
            0x23_E383 => unsigned(window, child).map(|ns| track.frame_ns = ns),
            VIDEO | AUDIO => {
                segment.children(window, child, |_, window, child| track.detail(window, child))
            }
            _ => Ok(()),
        })?;
        self.tracks.push(track);
        Ok(())
    }

    /// Notes the time of a block: its track number comes first, then 16 signed bits that count from the cluster's time.
    fn block(&mut self, window: &mut Window<'_>, block: Element) -> Result<(), Stop> {
        let (_, width) = vint(window, block.start)?;
        let offset = window.u16(block.start + width)?.cast_signed();
        let tick =
            i64::try_from(self.cluster_time).unwrap_or(i64::MAX).saturating_add(i64::from(offset));
        self.last_tick = self.last_tick.max(tick);
        Ok(())
    }

    fn media_info(self) -> MediaInfo {
        let ticks = self.duration.unwrap_or(self.last_tick as f64);
        let mut info = MediaInfo {
            container: if self.doc_type == "webm" { "webm" } else { "matroska" }.to_owned(),
            duration_ms: (ticks * self.scale as f64 / 1e6).round() as u64,
            video: Vec::new(),
            audio: Vec::new(),
            created: self.created,
        };
        for track in &self.tracks {
            match track.kind {
                1 => info.video.push(track.video()),
                2 => info.audio.push(AudioStream {
                    codec: codec(&track.codec),
                    channels: u16::try_from(track.channels).unwrap_or(u16::MAX),
                }),
                _ => {}
            }
        }
        info
    }
}

impl Track {
    fn detail(&mut self, window: &mut Window<'_>, child: Element) -> Result<(), Stop> {
        let field = match child.id {
            0xB0 => &mut self.pixels.0,
            0xBA => &mut self.pixels.1,
            0x54B0 => &mut self.shown.0,
            0x54BA => &mut self.shown.1,
            0x54B2 => &mut self.display_unit,
            0x53B8 => &mut self.stereo_mode,
            0x9F => &mut self.channels,
            _ => return Ok(()),
        };
        *field = unsigned(window, child)?;
        Ok(())
    }

    fn video(&self) -> VideoStream {
        // The display size counts in pixels only where its unit is 0.
        let (width, height) = if self.display_unit == 0 && self.shown.0 > 0 && self.shown.1 > 0 {
            self.shown
        } else {
            self.pixels
        };
        VideoStream {
            width: u32::try_from(width).unwrap_or(u32::MAX),
            height: u32::try_from(height).unwrap_or(u32::MAX),
            codec: codec(&self.codec),
            rotation: 0,
            three_d: self.stereo_mode != 0,
            frame_rate: (self.frame_ns > 0).then(|| 1e9 / self.frame_ns as f64),
        }
    }
}

fn element_at(window: &mut Window<'_>, at: u64, limit: u64) -> Result<Element, Stop> {
    window.step()?;
    let (id, width) = raw_id(window, at)?;
    let (size, more) = vint(window, at + width)?;
    let start = at + width + more;
    let end = size.map(|size| start.saturating_add(size).min(limit));
    if start > limit {
        return Err(Stop::End);
    }
    Ok(Element { id, start, end })
}

/// An id with its marker bits, and how many bytes it has: 1 to 4.
fn raw_id(window: &mut Window<'_>, at: u64) -> Result<(u32, u64), Stop> {
    let [first] = window.exactly::<1>(at)?;
    let width = first.leading_zeros() + 1;
    if width > 4 {
        return Err(Stop::End);
    }
    let bytes = window.up_to(at, width as usize)?;
    if bytes.len() < width as usize {
        return Err(Stop::End);
    }
    Ok((bytes.iter().fold(0, |id, byte| id << 8 | u32::from(*byte)), u64::from(width)))
}

/// A number without its marker bit (all ones: unknown), and how many bytes it has: 1 to 8.
fn vint(window: &mut Window<'_>, at: u64) -> Result<(Option<u64>, u64), Stop> {
    let [first] = window.exactly::<1>(at)?;
    let width = first.leading_zeros() + 1;
    if width > 8 {
        return Err(Stop::End);
    }
    let bytes = window.up_to(at, width as usize)?;
    if bytes.len() < width as usize {
        return Err(Stop::End);
    }
    let bits = 7 * width;
    let value =
        bytes.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) & ((1 << bits) - 1);
    Ok(((value != (1 << bits) - 1).then_some(value), u64::from(width)))
}

fn content(window: &mut Window<'_>, element: Element, most: usize) -> Result<bytes::Bytes, Stop> {
    let length = element.end.ok_or(Stop::End)? - element.start;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > most {
        return Err(Stop::End);
    }
    let bytes = window.up_to(element.start, length)?;
    if bytes.len() < length { Err(Stop::End) } else { Ok(bytes) }
}

fn unsigned(window: &mut Window<'_>, element: Element) -> Result<u64, Stop> {
    Ok(content(window, element, 8)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn float(window: &mut Window<'_>, element: Element) -> Result<Option<f64>, Stop> {
    let bytes = content(window, element, 8)?;
    let narrow = <[u8; 4]>::try_from(bytes.as_ref()).map(f32::from_be_bytes).map(f64::from);
    Ok(narrow.or_else(|_| bytes.as_ref().try_into().map(f64::from_be_bytes)).ok())
}

fn text(window: &mut Window<'_>, element: Element) -> Result<String, Stop> {
    let bytes = content(window, element, CODEC_BYTES_MAX)?;
    Ok(bytes.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect())
}

fn codec(id: &str) -> String {
    let known = [
        ("V_VP8", "vp8"),
        ("V_VP9", "vp9"),
        ("V_AV1", "av1"),
        ("V_MPEG4/ISO/AVC", "h264"),
        ("V_MPEGH/ISO/HEVC", "hevc"),
        ("A_OPUS", "opus"),
        ("A_VORBIS", "vorbis"),
        ("A_AAC", "aac"),
        ("A_MPEG/L3", "mp3"),
        ("A_FLAC", "flac"),
    ];
    known.iter().find(|(name, _)| id.starts_with(name)).map_or(id, |(_, codec)| codec).to_owned()
}
