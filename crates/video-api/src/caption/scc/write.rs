//! Writing of Scenarist files: pop-on captions, each sent in time for its last pair to fall on its start.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::super::cue::{Cue, Track};
use super::super::layout::Layout;
use super::SIGNATURE;
use super::character::{self, Sent};
use super::code::{self, Pen, with_parity};
use super::grid::ROWS;
use super::rows::{self, PlacedRow, RowText};
use super::timecode::{Timecode, frames_of};

/// Frames of a control pair and its repetition.
const DOUBLED: u64 = 2;
/// Bytes of a control pair and its repetition as they are written, and of the blank before them.
const UNIT_BYTES_MAX: usize = 10;
/// A byte that says nothing.
const PAD: u8 = 0x80;

/// A pair of bytes that stands alone, or with its repetition right behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    pair: [u8; 2],
    is_doubled: bool,
}

/// A part of a cue that fits on the picture, with the frames between which it is shown.
struct Part<'t> {
    start: u64,
    end: u64,
    cue: &'t Cue,
    /// The rows of a cue that is shown in turns. Those of others are made when they are needed, so that they never exist all at once.
    rows: Option<Vec<RowText>>,
}

/// A part on the picture.
struct Shown<'t> {
    rows: Vec<RowText>,
    layout: Option<Cow<'t, Layout>>,
}

/// Writes a track. Cues that overlap are shown together, as far as the picture has room.
#[must_use]
pub fn write(track: &Track) -> String {
    let mut out = Vec::with_capacity(64 + track.cues.len() * 256);
    out.extend_from_slice(SIGNATURE.as_bytes());
    out.extend_from_slice(b"\n\n");
    let mut line = Line21 { out, ..Line21::default() };
    let mut waiting = parts(track).into_iter().enumerate().peekable();
    let mut shown: BTreeMap<usize, Shown<'_>> = BTreeMap::new();
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    loop {
        let next_end = ends.peek().map(|Reverse((frame, _))| *frame);
        let next_start = waiting.peek().map(|(_, part)| part.start);
        let Some(frame) = next_end.into_iter().chain(next_start).min() else { break };
        while let Some(Reverse((_, index))) =
            ends.peek().copied().filter(|Reverse((end, _))| *end <= frame)
        {
            ends.pop();
            shown.remove(&index);
        }
        while let Some((index, part)) = waiting.next_if(|(_, part)| part.start <= frame) {
            let rows = part.rows.unwrap_or_else(|| rows::of_text(&part.cue.text));
            shown.insert(index, Shown { rows, layout: track.place(part.cue) });
            ends.push(Reverse((part.end, index)));
        }
        line.show(&picture(&shown), frame);
    }
    line.flush_erasure();
    line.end_line();
    String::from_utf8(line.out).unwrap_or_default()
}

/// The parts of all cues by their start. A text for more rows than there are is shown in turns.
fn parts(track: &Track) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(track.cues.len());
    for (_, cue) in track.in_order() {
        let (start, end) = (frames_of(cue.start), frames_of(cue.end));
        if rows::surely_fits(&cue.text) {
            if !cue.text.is_empty() {
                parts.push(Part { start, end: end.max(start + DOUBLED), cue, rows: None });
            }
            continue;
        }
        let mut all = rows::of_text(&cue.text);
        let count = u64::try_from(all.len().div_ceil(ROWS)).unwrap_or(1);
        let length = (end.saturating_sub(start) / count.max(1)).max(DOUBLED);
        for turn in 0..count {
            let rest = all.split_off(all.len().min(ROWS));
            let rows = Some(std::mem::replace(&mut all, rest));
            let own = start + turn * length;
            let end = if turn + 1 == count { end.max(own + DOUBLED) } else { own + length };
            parts.push(Part { start: own, end, cue, rows });
        }
    }
    parts.sort_by_key(|part| part.start);
    parts
}

/// The rows of the picture on which these parts are shown.
fn picture<'p>(shown: &'p BTreeMap<usize, Shown<'_>>) -> Vec<PlacedRow<'p>> {
    let mut taken = [false; ROWS];
    let mut picture: Vec<PlacedRow<'p>> = Vec::new();
    for part in shown.values().take(ROWS) {
        picture.extend(rows::place(&part.rows, part.layout.as_deref(), &mut taken));
    }
    picture.sort_by_key(|row| row.row);
    picture
}

/// Line 21 of the picture, which carries a pair a frame.
#[derive(Default)]
struct Line21 {
    out: Vec<u8>,
    timecode: String,
    /// Room for the pairs of a caption, used again for each.
    units: Vec<Unit>,
    /// The first frame after what shows the last caption.
    free: u64,
    /// The frame at which the picture is to be erased.
    erasure: Option<u64>,
    /// The frame after the last pair of the line of text that is open.
    next: Option<u64>,
}

impl Line21 {
    /// Shows rows from a frame on, or from the first one that can be reached; no rows at all are an erasure.
    fn show(&mut self, picture: &[PlacedRow<'_>], frame: u64) {
        if picture.is_empty() {
            self.erasure = Some(frame.max(self.free));
            return;
        }
        let mut units = std::mem::take(&mut self.units);
        units.clear();
        units.extend([control(code::RCL), control(code::ENM)]);
        for row in picture {
            encode_row(row, &mut units);
        }
        let erasure = self.erasure.take();
        let target = frame.max(erasure.map_or(self.free, |at| at + DOUBLED));
        let shown_at = self.load(&units, erasure, target);
        self.send(control(code::EOC), shown_at);
        self.free = shown_at + DOUBLED;
        self.units = units;
    }

    /// Sends pairs right before `target`, or as soon as there is room, with an erasure between them, and gives the frame after them.
    fn load(&mut self, units: &[Unit], mut erasure: Option<u64>, target: u64) -> u64 {
        let frames: u64 = units.iter().map(|unit| unit.frames()).sum();
        let first = target.checked_sub(frames).filter(|first| *first >= self.free);
        if let Some(first) = first.filter(|first| erasure.is_none_or(|at| at + DOUBLED <= *first)) {
            // Nearly all captions have all the room that they need.
            self.erasure = erasure;
            self.flush_erasure();
            self.send_together(units, first);
            return target;
        }
        let (starts, shown_at) = match self.backward(units, erasure, target) {
            Some(starts) => (starts, target),
            None => self.forward(units, erasure, target),
        };
        for (unit, start) in units.iter().zip(starts) {
            if let Some(at) = erasure.take_if(|at| *at < start) {
                self.send(control(code::EDM), at);
            }
            self.send(*unit, start);
        }
        self.erasure = erasure;
        self.flush_erasure();
        shown_at
    }

    /// Frames at which pairs start that end right before `target`, around an erasure; none if they would have to start too early.
    fn backward(&self, units: &[Unit], erasure: Option<u64>, target: u64) -> Option<Vec<u64>> {
        let mut starts = Vec::with_capacity(units.len());
        let mut end = target;
        for unit in units.iter().rev() {
            if erasure.is_some_and(|at| end > at && end < at + DOUBLED + unit.frames()) {
                end = erasure?;
            }
            end = end.checked_sub(unit.frames()).filter(|start| *start >= self.free)?;
            starts.push(end);
        }
        starts.reverse();
        Some(starts)
    }

    /// Frames at which pairs start that follow what is there, around an erasure, and the frame after them.
    fn forward(&self, units: &[Unit], erasure: Option<u64>, target: u64) -> (Vec<u64>, u64) {
        let mut starts = Vec::with_capacity(units.len());
        let mut next = self.free;
        for unit in units {
            if let Some(at) = erasure.filter(|at| next < at + DOUBLED && next + unit.frames() > *at)
            {
                next = at + DOUBLED;
            }
            starts.push(next);
            next += unit.frames();
        }
        (starts, next.max(target))
    }

    /// Writes what erases the picture, if that is still to come.
    fn flush_erasure(&mut self) {
        if let Some(at) = self.erasure.take() {
            self.send(control(code::EDM), at);
        }
    }

    fn send(&mut self, unit: Unit, frame: u64) {
        if self.next == Some(frame) {
            self.out.push(b' ');
        } else {
            self.end_line();
            self.timecode.clear();
            Timecode::write(frame, &mut self.timecode);
            self.out.extend_from_slice(self.timecode.as_bytes());
            self.out.push(b'\t');
        }
        unit.write(&mut self.out);
        self.next = Some(frame + unit.frames());
    }

    /// Sends pairs from a frame on, each right behind the one before.
    fn send_together(&mut self, units: &[Unit], frame: u64) {
        let Some((first, others)) = units.split_first() else { return };
        self.send(*first, frame);
        self.out.reserve(others.len() * UNIT_BYTES_MAX);
        for unit in others {
            self.out.push(b' ');
            unit.write(&mut self.out);
        }
        self.next = Some(frame + units.iter().map(|unit| unit.frames()).sum::<u64>());
    }

    fn end_line(&mut self) {
        if self.next.take().is_some() {
            self.out.extend_from_slice(b"\n\n");
        }
    }
}

impl Unit {
    const fn frames(self) -> u64 {
        if self.is_doubled { DOUBLED } else { 1 }
    }

    fn write(self, out: &mut Vec<u8>) {
        let [first, second] = self.pair.map(digits);
        let [[a, b], [c, d]] = [first, second];
        if self.is_doubled {
            out.extend_from_slice(&[a, b, c, d, b' ', a, b, c, d]);
        } else {
            out.extend_from_slice(&[a, b, c, d]);
        }
    }
}

/// The two hexadecimal digits of each byte.
const DIGITS: [[u8; 2]; 256] = {
    let mut table = [[0; 2]; 256];
    let hex = b"0123456789abcdef";
    let mut byte = 0;
    while byte < 256 {
        #[expect(
            clippy::indexing_slicing,
            reason = "the compiler runs it, and the loop ends at the table's length"
        )]
        {
            table[byte] = [hex[byte >> 4], hex[byte & 0xf]];
        }
        byte += 1;
    }
    table
};

fn digits(byte: u8) -> [u8; 2] {
    DIGITS.get(usize::from(byte)).copied().unwrap_or_default()
}

fn control(word: u16) -> Unit {
    let [first, second] = word.to_be_bytes();
    Unit { pair: [with_parity(first), with_parity(second)], is_doubled: true }
}

/// Characters on their way into pairs.
struct Pairs<'u> {
    units: &'u mut Vec<Unit>,
    half: Option<u8>,
}

impl Pairs<'_> {
    fn byte(&mut self, byte: u8) {
        let byte = with_parity(byte);
        match self.half.take() {
            Some(first) => self.units.push(Unit { pair: [first, byte], is_doubled: false }),
            None => self.half = Some(byte),
        }
    }

    fn flush(&mut self) {
        if let Some(first) = self.half.take() {
            self.units.push(Unit { pair: [first, PAD], is_doubled: false });
        }
    }

    fn control(&mut self, word: u16) {
        self.flush();
        self.units.push(control(word));
    }

    fn character(&mut self, c: char) {
        match character::sent(c) {
            Some(Sent::Basic(byte)) => self.byte(byte),
            Some(Sent::Special(first, second)) => self.control(u16::from_be_bytes([first, second])),
            Some(Sent::Extended(shown, first, second)) => {
                self.byte(shown);
                self.control(u16::from_be_bytes([first, second]));
            }
            None => self.byte(b'?'),
        }
    }
}

/// Writes a row: its preamble, and a mid-row code in place of the space before each word that looks different.
fn encode_row(row: &PlacedRow<'_>, units: &mut Vec<Unit>) {
    let mut pairs = Pairs { units, half: None };
    let wanted = row.cells.first().map(|(_, pen)| *pen).unwrap_or_default();
    let mut pen = preamble(row.row, row.column, wanted, &mut pairs);
    let mut cells = row.cells.iter().peekable();
    while let Some((c, _)) = cells.next() {
        if *c != ' ' {
            pairs.character(*c);
            continue;
        }
        let word = cells.peek().filter(|(next, _)| *next != ' ');
        match word.map(|(_, wanted)| pen.toward(*wanted)).filter(|next| *next != pen) {
            Some(next) => {
                pairs.control(next.mid_row());
                pen = next;
            }
            None => pairs.character(*c),
        }
    }
    pairs.flush();
}

/// Goes to the start of a row and gives the pen that it begins with. Beside the first column, a style needs the column before it.
fn preamble(row: usize, column: usize, wanted: Pen, pairs: &mut Pairs<'_>) -> Pen {
    if column == 0 {
        let pen = Pen { colour: wanted.colour.filter(|_| !wanted.italic), ..wanted };
        pairs.control(code::preamble_pen(row, pen));
        return pen;
    }
    let plain = Pen { underline: wanted.underline, ..Pen::default() };
    let is_plain = wanted == plain;
    let at = if is_plain { column } else { column - 1 };
    pairs.control(code::preamble_indent(row, at / 4, is_plain && wanted.underline));
    if let Ok(columns @ 1..) = u16::try_from(at % 4) {
        pairs.control(code::TAB + columns - 1);
    }
    if is_plain {
        return plain;
    }
    let pen = Pen::default().toward(wanted);
    pairs.control(pen.mid_row());
    pen
}
