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
use super::rows::{self, PlacedRow, Rows};
use super::timecode::{Timecode, frames_of};

/// Frames of a control pair and its repetition.
const DOUBLED: u64 = 2;
/// A byte that says nothing.
const PAD: u8 = 0x80;

/// The two bytes of one frame as they are written: a blank and their hexadecimal digits. A control pair stands twice, in two frames that
/// follow each other.
type Pair = [u8; 5];

/// A part of a cue that fits on the picture, with the frames between which it is shown.
struct Part<'t> {
    start: u64,
    end: u64,
    cue: &'t Cue,
    /// The rows of a cue that is shown in turns. Those of others are made when they are needed, so that they never exist all at once.
    rows: Option<Rows>,
}

/// A part on the picture.
struct Shown<'t> {
    rows: Rows,
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
    // Rows that are shown no more, whose room others take.
    let mut used: Vec<Rows> = Vec::new();
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    loop {
        let next_end = ends.peek().map(|Reverse((frame, _))| *frame);
        let next_start = waiting.peek().map(|(_, part)| part.start);
        let Some(frame) = next_end.into_iter().chain(next_start).min() else { break };
        while let Some(Reverse((_, index))) =
            ends.peek().copied().filter(|Reverse((end, _))| *end <= frame)
        {
            ends.pop();
            used.extend(shown.remove(&index).map(|ended| ended.rows));
        }
        used.truncate(ROWS);
        while let Some((index, part)) = waiting.next_if(|(_, part)| part.start <= frame) {
            let text = &part.cue.text;
            let rows = part.rows.unwrap_or_else(|| Rows::of(text, used.pop().unwrap_or_default()));
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
        let all = Rows::of(&cue.text, Rows::default());
        let count = u64::try_from(all.len().div_ceil(ROWS)).unwrap_or(1);
        let length = (end.saturating_sub(start) / count.max(1)).max(DOUBLED);
        for turn in 0..count {
            let from = usize::try_from(turn).unwrap_or_default() * ROWS;
            let rows = Some(all.part(from..(from + ROWS).min(all.len())));
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
        part.rows.place(part.layout.as_deref(), &mut taken, &mut picture);
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
    pairs: Vec<Pair>,
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
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        for word in [code::RCL, code::ENM] {
            pairs.extend([control(word); DOUBLED as usize]);
        }
        for row in picture {
            encode_row(row, &mut pairs);
        }
        let erasure = self.erasure.take();
        let target = frame.max(erasure.map_or(self.free, |at| at + DOUBLED));
        let shown_at = self.load(&pairs, erasure, target);
        self.send_control(code::EOC, shown_at);
        self.free = shown_at + DOUBLED;
        self.pairs = pairs;
    }

    /// Sends pairs right before `target`, or as soon as there is room, with an erasure between them, and gives the frame after them.
    fn load(&mut self, pairs: &[Pair], mut erasure: Option<u64>, target: u64) -> u64 {
        let backward = self.backward(pairs, erasure, target);
        let parted = backward.unwrap_or_else(|| self.forward(pairs, erasure));
        let shown_at = parted.end().max(target);
        for (pairs, start) in parted.0 {
            if pairs.is_empty() {
                continue;
            }
            if let Some(at) = erasure.take_if(|at| *at < start) {
                self.send_control(code::EDM, at);
            }
            self.send(pairs, start);
        }
        self.erasure = erasure;
        self.flush_erasure();
        shown_at
    }

    /// Pairs that end right before `target`, around an erasure; none if they would have to start too early.
    fn backward<'p>(
        &self,
        pairs: &'p [Pair],
        erasure: Option<u64>,
        target: u64,
    ) -> Option<Parted<'p>> {
        let at = erasure.filter(|at| *at < target);
        let room = at.map_or(u64::MAX, |at| target.saturating_sub(at + DOUBLED));
        let place = pairs.len().saturating_sub(usize::try_from(room).unwrap_or(usize::MAX));
        let (before, after) = pairs.split_at(place + usize::from(parts_control(pairs, place)));
        let after_start = target.checked_sub(frames(after))?;
        let before_start = at.unwrap_or(after_start).checked_sub(frames(before))?;
        let first = if before.is_empty() { after_start } else { before_start };
        let parted = Parted([(before, before_start), (after, after_start)]);
        (first >= self.free).then_some(parted)
    }

    /// Pairs that follow what is there, around an erasure.
    fn forward<'p>(&self, pairs: &'p [Pair], erasure: Option<u64>) -> Parted<'p> {
        let Some(at) = erasure.filter(|at| self.free < at + DOUBLED) else {
            return Parted([(&[], self.free), (pairs, self.free)]);
        };
        let room = usize::try_from(at.saturating_sub(self.free)).unwrap_or(usize::MAX);
        let place = room.min(pairs.len());
        let (before, after) = pairs.split_at(place - usize::from(parts_control(pairs, place)));
        let next = if after.is_empty() { self.free + frames(before) } else { at + DOUBLED };
        Parted([(before, self.free), (after, next)])
    }

    /// Writes what erases the picture, if that is still to come.
    fn flush_erasure(&mut self) {
        if let Some(at) = self.erasure.take() {
            self.send_control(code::EDM, at);
        }
    }

    /// Sends a control pair and its repetition.
    fn send_control(&mut self, word: u16, frame: u64) {
        self.send(&[control(word); DOUBLED as usize], frame);
    }

    /// Sends pairs from a frame on, each right behind the one before.
    fn send(&mut self, pairs: &[Pair], frame: u64) {
        let mut written = pairs.as_flattened();
        if self.next != Some(frame) {
            self.end_line();
            self.timecode.clear();
            Timecode::write(frame, &mut self.timecode);
            self.out.extend_from_slice(self.timecode.as_bytes());
            self.out.push(b'\t');
            written = written.get(1..).unwrap_or_default();
        }
        self.out.extend_from_slice(written);
        self.next = Some(frame + frames(pairs));
    }

    fn end_line(&mut self) {
        if self.next.take().is_some() {
            self.out.extend_from_slice(b"\n\n");
        }
    }
}

/// Pairs in two runs, with the frame at which each starts.
struct Parted<'p>([(&'p [Pair], u64); 2]);

impl Parted<'_> {
    /// The frame after them.
    fn end(&self) -> u64 {
        let Self([_, (after, start)]) = self;
        start + frames(after)
    }
}

/// Tells whether a control pair stands before a place and its repetition behind it.
fn parts_control(pairs: &[Pair], place: usize) -> bool {
    let before = pairs.get(..place).unwrap_or_default();
    // Their first byte is 10 to 1F, below the bit of its parity.
    let is_control = |[_, high, ..]: &&Pair| matches!(high, b'1' | b'9');
    before.iter().rev().take_while(is_control).count() % DOUBLED as usize != 0
}

/// The frames that pairs take.
fn frames(pairs: &[Pair]) -> u64 {
    pairs.len() as u64
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

/// Two bytes that have their parity, as they are written.
fn pair(bytes: [u8; 2]) -> Pair {
    let [[a, b], [c, d]] =
        bytes.map(|byte| DIGITS.get(usize::from(byte)).copied().unwrap_or_default());
    [b' ', a, b, c, d]
}

fn control(word: u16) -> Pair {
    pair(word.to_be_bytes().map(with_parity))
}

/// Characters on their way into pairs.
struct Pairs<'p> {
    pairs: &'p mut Vec<Pair>,
    half: Option<u8>,
}

impl Pairs<'_> {
    /// Sends a byte that has its parity.
    fn byte(&mut self, byte: u8) {
        match self.half.take() {
            Some(first) => self.pairs.push(pair([first, byte])),
            None => self.half = Some(byte),
        }
    }

    fn flush(&mut self) {
        if let Some(first) = self.half.take() {
            self.pairs.push(pair([first, PAD]));
        }
    }

    fn control(&mut self, word: u16) {
        self.flush();
        self.pairs.extend([control(word); DOUBLED as usize]);
    }

    fn characters(&mut self, chars: &[char]) {
        let mut rest = chars;
        loop {
            if self.half.is_none() {
                // Nearly all are plain ones, two of which are a pair.
                let (twos, _) = rest.as_chunks::<2>();
                let plain =
                    |[a, b]: &[char; 2]| Some(pair([character::plain(*a)?, character::plain(*b)?]));
                let before = self.pairs.len();
                self.pairs.extend(twos.iter().map_while(plain));
                rest = rest.get(2 * (self.pairs.len() - before)..).unwrap_or_default();
            }
            let Some((c, after)) = rest.split_first() else { return };
            self.character(*c);
            rest = after;
        }
    }

    fn character(&mut self, c: char) {
        match character::sent(c) {
            Some(Sent::Basic(byte)) => self.byte(with_parity(byte)),
            Some(Sent::Special(first, second)) => self.control(u16::from_be_bytes([first, second])),
            Some(Sent::Extended(shown, first, second)) => {
                self.byte(with_parity(shown));
                self.control(u16::from_be_bytes([first, second]));
            }
            None => self.byte(with_parity(b'?')),
        }
    }
}

/// Writes a row: its preamble, and a mid-row code in place of the space before each word that looks different.
fn encode_row(row: &PlacedRow<'_>, pairs: &mut Vec<Pair>) {
    let mut pairs = Pairs { pairs, half: None };
    let mut stretches = row.stretches().peekable();
    let wanted = stretches.peek().map(|(pen, _)| *pen).unwrap_or_default();
    let mut pen = preamble(row.row, row.column, wanted, &mut pairs);
    while let Some((wanted, mut chars)) = stretches.next() {
        // A look that begins within a word waits for the next one.
        while pen.toward(wanted) != pen
            && let Some(space) = space_before_word(chars)
        {
            let (before, after) = chars.split_at(space);
            pairs.characters(before);
            pen = pen.toward(wanted);
            pairs.control(pen.mid_row());
            chars = after.get(1..).unwrap_or_default();
        }
        let next = stretches.peek().filter(|(_, next)| next.first().is_some_and(|c| *c != ' '));
        let next = next.map(|(wanted, _)| pen.toward(*wanted)).filter(|next| *next != pen);
        match (chars.split_last(), next) {
            (Some((' ', before)), Some(next)) => {
                pairs.characters(before);
                pairs.control(next.mid_row());
                pen = next;
            }
            _ => pairs.characters(chars),
        }
    }
    pairs.flush();
}

/// The place of the first space that a word follows.
fn space_before_word(chars: &[char]) -> Option<usize> {
    let mut pairs = chars.iter().zip(chars.iter().skip(1));
    pairs.position(|(c, next)| *c == ' ' && *next != ' ')
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
