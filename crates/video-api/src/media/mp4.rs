//! MP4 and QuickTime (ISO/IEC 14496-12): boxes within boxes; the one named `moov` says what the file holds.

use super::window::{Stop, Window};
use super::{AudioStream, MediaInfo, ProbeFailure, VideoStream};

/// A box: its name, and where its content lies.
#[derive(Debug, Clone, Copy)]
struct Box {
    name: [u8; 4],
    start: u64,
    end: u64,
}

/// Seconds from 1904, the epoch of the format, to 1970.
const EPOCH_1904: i64 = 2_082_844_800;
/// More streams than this are not looked at.
const STREAMS_MAX: usize = 64;

/// A track while it is read.
#[derive(Debug, Default)]
struct Track {
    id: u32,
    kind: [u8; 4],
    width: u32,
    height: u32,
    rotation: u16,
    /// True if `st3d` says that the frames hold a picture for each eye.
    three_d: bool,
    timescale: u32,
    duration: u64,
    codec: [u8; 4],
    channels: u16,
    samples: u32,
    /// `trex`: how long a sample of a fragment is unless it says otherwise.
    sample_duration: u32,
}

/// Tells whether a file that starts so is in this format.
pub(super) fn is_start(head: &[u8]) -> bool {
    const FIRST: &[&[u8]] =
        &[b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot", b"styp"];
    head.get(4..8).is_some_and(|name| FIRST.contains(&name))
}

/// Reads the file's metadata.
pub(super) fn read(window: &mut Window<'_>) -> Result<MediaInfo, Stop> {
    let mut movie = Movie::default();
    let (mut quicktime, mut found) = (true, false);
    let mut at = 0;
    while let Some(next) = box_at(window, at, window.length)? {
        match &next.name {
            b"ftyp" => quicktime = window.exactly::<4>(next.start)? == *b"qt  ",
            b"moov" => {
                movie.read(window, next)?;
                found = true;
            }
            b"moof" => match movie.read_fragment(window, next) {
                // A recording that was cut off still has the length of what is there.
                Err(Stop::End) => break,
                other => other?,
            },
            _ => {}
        }
        at = next.end;
        if found && !movie.is_fragmented {
            break;
        }
    }
    if !found {
        return Err(Stop::Rejected(ProbeFailure::InvalidFile));
    }
    Ok(movie.media_info(quicktime))
}

/// The box at `at`, if there is one before `limit`. One that reaches beyond `limit` is cut there.
fn box_at(window: &mut Window<'_>, at: u64, limit: u64) -> Result<Option<Box>, Stop> {
    if limit.saturating_sub(at) < 8 {
        return Ok(None);
    }
    window.step()?;
    let [a, b, c, d, name @ ..] = window.exactly::<8>(at)?;
    let (head, size) = match u32::from_be_bytes([a, b, c, d]) {
        0 => (8, limit - at),
        1 => (16, window.u64(at + 8)?),
        size => (8, u64::from(size)),
    };
    if size < head {
        return Err(Stop::End);
    }
    let end = at.saturating_add(size).min(limit);
    let start = at.saturating_add(head).min(end);
    Ok(Some(Box { name, start, end }))
}

/// Calls `each` with every child of `parent`.
fn children(
    window: &mut Window<'_>,
    parent: Box,
    mut each: impl FnMut(&mut Window<'_>, Box) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut at = parent.start;
    while let Some(child) = box_at(window, at, parent.end)? {
        each(window, child)?;
        at = child.end;
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Movie {
    timescale: u32,
    duration: u64,
    created: i64,
    tracks: Vec<Track>,
    is_fragmented: bool,
    /// The end of the last fragment, in milliseconds.
    fragments_ms: u64,
}

impl Movie {
    fn read(&mut self, window: &mut Window<'_>, moov: Box) -> Result<(), Stop> {
        let mut defaults = Vec::new();
        children(window, moov, |window, child| {
            match &child.name {
                b"mvhd" => {
                    let (created, timescale, duration) = times(window, child.start)?;
                    (self.created, self.timescale, self.duration) = (created, timescale, duration);
                }
                b"trak" if self.tracks.len() < STREAMS_MAX => {
                    let mut track = Track::default();
                    children(window, child, |window, child| track.read(window, child))?;
                    self.tracks.push(track);
                }
                b"mvex" => {
                    self.is_fragmented = true;
                    children(window, child, |window, child| {
                        match &child.name {
                            b"mehd" => {
                                self.duration = self.duration.max(extent(window, child.start)?)
                            }
                            b"trex" if defaults.len() < STREAMS_MAX => {
                                defaults.push((
                                    window.u32(child.start + 4)?,
                                    window.u32(child.start + 12)?,
                                ));
                            }
                            _ => {}
                        }
                        Ok(())
                    })?;
                }
                _ => {}
            }
            Ok(())
        })?;
        for (id, duration) in defaults {
            if let Some(track) = self.tracks.iter_mut().find(|track| track.id == id) {
                track.sample_duration = duration;
            }
        }
        Ok(())
    }

    /// Adds up how far a fragment reaches.
    fn read_fragment(&mut self, window: &mut Window<'_>, moof: Box) -> Result<(), Stop> {
        children(window, moof, |window, traf| {
            if &traf.name != b"traf" {
                return Ok(());
            }
            let (mut id, mut sample_duration, mut start, mut length) = (0, None, 0, 0_u64);
            children(window, traf, |window, child| {
                match &child.name {
                    b"tfhd" => {
                        id = window.u32(child.start + 4)?;
                        sample_duration = fragment_sample_duration(window, child.start)?;
                    }
                    b"tfdt" => start = extent(window, child.start)?,
                    b"trun" => {
                        let default = sample_duration
                            .or_else(|| self.track(id).map(|track| track.sample_duration));
                        length = length.saturating_add(run_duration(
                            window,
                            child,
                            default.unwrap_or(0),
                        )?);
                    }
                    _ => {}
                }
                Ok(())
            })?;
            if let Some(track) = self.track(id) {
                let end = millis(start.saturating_add(length), track.timescale);
                self.fragments_ms = self.fragments_ms.max(end);
            }
            Ok(())
        })
    }

    fn track(&self, id: u32) -> Option<&Track> {
        self.tracks.iter().find(|track| track.id == id)
    }

    fn media_info(self, quicktime: bool) -> MediaInfo {
        let tracks = self.tracks.iter().map(|track| millis(track.duration, track.timescale));
        let longest =
            tracks.chain([millis(self.duration, self.timescale), self.fragments_ms]).max();
        let (mut video, mut audio) = (Vec::new(), Vec::new());
        for track in &self.tracks {
            match &track.kind {
                b"vide" => video.push(track.video()),
                b"soun" => {
                    audio.push(AudioStream { codec: codec(track.codec), channels: track.channels })
                }
                _ => {}
            }
        }
        MediaInfo {
            container: if quicktime { "mov" } else { "mp4" }.to_owned(),
            duration_ms: longest.unwrap_or(0),
            video,
            audio,
            created: (self.created > 0).then_some(self.created),
        }
    }
}

impl Track {
    fn read(&mut self, window: &mut Window<'_>, child: Box) -> Result<(), Stop> {
        match &child.name {
            b"tkhd" => {
                let wide = window.exactly::<1>(child.start)? == [1];
                let (id, matrix) = if wide { (20, 52) } else { (12, 40) };
                self.id = window.u32(child.start + id)?;
                self.rotation = rotation(window, child.start + matrix)?;
                self.width = window.u32(child.start + matrix + 36)? >> 16;
                self.height = window.u32(child.start + matrix + 40)? >> 16;
                Ok(())
            }
            b"mdia" => self.read_inner(window, child),
            _ => Ok(()),
        }
    }

    /// Reads `mdia`, and within it `minf` and `stbl`: two levels and no deeper, whatever the file says.
    fn read_inner(&mut self, window: &mut Window<'_>, mdia: Box) -> Result<(), Stop> {
        children(window, mdia, |window, child| match &child.name {
            b"minf" => children(window, child, |window, child| match &child.name {
                b"stbl" => children(window, child, |window, child| self.read_leaf(window, child)),
                _ => Ok(()),
            }),
            _ => self.read_leaf(window, child),
        })
    }

    fn read_leaf(&mut self, window: &mut Window<'_>, leaf: Box) -> Result<(), Stop> {
        match &leaf.name {
            b"mdhd" => (_, self.timescale, self.duration) = times(window, leaf.start)?,
            b"hdlr" => self.kind = window.exactly(leaf.start + 8)?,
            b"stsz" | b"stz2" => self.samples = window.u32(leaf.start + 8)?,
            b"stsd" => {
                let Some(entry) = box_at(window, leaf.start + 8, leaf.end)? else {
                    return Ok(());
                };
                self.codec = entry.name;
                if &self.kind == b"soun" {
                    self.channels = window.u16(entry.start + 16)?;
                } else if &self.kind == b"vide" {
                    if self.width == 0 || self.height == 0 {
                        self.width = u32::from(window.u16(entry.start + 24)?);
                        self.height = u32::from(window.u16(entry.start + 26)?);
                    }
                    // What comes after the fields may be anything: a file that is odd there is still a video.
                    self.three_d = is_stereoscopic(window, entry).unwrap_or_default();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn video(&self) -> VideoStream {
        let seconds = millis(self.duration, self.timescale) as f64 / 1000.0;
        let rate = f64::from(self.samples) / seconds;
        VideoStream {
            width: self.width,
            height: self.height,
            codec: codec(self.codec),
            rotation: self.rotation,
            frame_rate: (rate.is_finite() && rate > 0.0).then_some(rate),
            three_d: self.three_d,
        }
    }
}

/// Returns whether a sample entry has an `st3d` box (Spherical Video V2) that names a stereoscopic layout; 0 is a single picture.
fn is_stereoscopic(window: &mut Window<'_>, entry: Box) -> Result<bool, Stop> {
    const FIELDS_BYTES: u64 = 78;
    let mut found = false;
    let start = entry.start + FIELDS_BYTES;
    if start < entry.end {
        children(window, Box { start, ..entry }, |window, child| {
            if &child.name == b"st3d" {
                found = window.exactly::<1>(child.start + 4)? != [0];
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Creation (seconds since 1970), timescale and duration of `mvhd` or `mdhd`.
fn times(window: &mut Window<'_>, at: u64) -> Result<(i64, u32, u64), Stop> {
    let wide = window.exactly::<1>(at)? == [1];
    let (created, timescale, duration) = if wide {
        (window.u64(at + 4)?, window.u32(at + 20)?, window.u64(at + 24)?)
    } else {
        (u64::from(window.u32(at + 4)?), window.u32(at + 12)?, u64::from(window.u32(at + 16)?))
    };
    // All ones: not known.
    let unknown = if wide { u64::MAX } else { u64::from(u32::MAX) };
    let created = i64::try_from(created).unwrap_or(0).saturating_sub(EPOCH_1904);
    Ok((created, timescale, if duration == unknown { 0 } else { duration }))
}

/// The one number of `mehd` and `tfdt`, in either width.
fn extent(window: &mut Window<'_>, at: u64) -> Result<u64, Stop> {
    if window.exactly::<1>(at)? == [1] {
        window.u64(at + 4)
    } else {
        window.u32(at + 4).map(u64::from)
    }
}

fn fragment_sample_duration(window: &mut Window<'_>, at: u64) -> Result<Option<u32>, Stop> {
    let flags = window.u32(at)?;
    let before = if flags & 1 != 0 { 8 } else { 0 } + if flags & 2 != 0 { 4 } else { 0 };
    (flags & 8 != 0).then(|| window.u32(at + 8 + before)).transpose()
}

/// Duration of the samples of a `trun` together.
fn run_duration(window: &mut Window<'_>, run: Box, default: u32) -> Result<u64, Stop> {
    let flags = window.u32(run.start)?;
    let samples = window.u32(run.start + 4)?;
    if flags & 0x100 == 0 {
        return Ok(u64::from(samples).saturating_mul(u64::from(default)));
    }
    let first =
        run.start + 8 + if flags & 1 != 0 { 4 } else { 0 } + if flags & 4 != 0 { 4 } else { 0 };
    let stride = 4 * u64::from((flags >> 8 & 0xF).count_ones());
    let mut total = 0_u64;
    for number in 0..u64::from(samples) {
        let at = first + number * stride;
        if at + 4 > run.end {
            break;
        }
        window.step()?;
        total = total.saturating_add(u64::from(window.u32(at)?));
    }
    Ok(total)
}

/// The quarter turn that a display matrix stands for; others count as none.
fn rotation(window: &mut Window<'_>, at: u64) -> Result<u16, Stop> {
    const ONE: i32 = 0x1_0000;
    let mut number = |offset| window.u32(at + offset).map(u32::cast_signed);
    Ok(match (number(0)?, number(4)?, number(12)?, number(16)?) {
        (0, ONE, b, 0) if b == -ONE => 90,
        (a, 0, 0, d) if a == -ONE && d == -ONE => 180,
        (0, b, ONE, 0) if b == -ONE => 270,
        _ => 0,
    })
}

fn millis(units: u64, timescale: u32) -> u64 {
    let millis = u128::from(units) * 1000 / u128::from(timescale.max(1));
    if timescale == 0 { 0 } else { u64::try_from(millis).unwrap_or(u64::MAX) }
}

fn codec(name: [u8; 4]) -> String {
    match &name {
        b"avc1" | b"avc3" => "h264",
        b"hvc1" | b"hev1" => "hevc",
        b"av01" => "av1",
        b"vp08" => "vp8",
        b"vp09" => "vp9",
        b"mp4v" => "mpeg4",
        b"mp4a" => "aac",
        b"Opus" => "opus",
        b"ac-3" => "ac3",
        b"ec-3" => "eac3",
        b".mp3" => "mp3",
        b"apch" | b"apcn" | b"apcs" | b"apco" | b"ap4h" | b"ap4x" => "prores",
        other => {
            return other
                .iter()
                .filter(|byte| byte.is_ascii_graphic())
                .map(|byte| char::from(*byte))
                .collect();
        }
    }
    .to_owned()
}
