//! The bytes of an object on their way out, part by part: a few records are read and decrypted ahead of a client that reads, and none for
//! one that has stalled.

use std::collections::VecDeque;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use parking_lot::Mutex;
use triptych_core::blobs::{BlobError, BlobReader};
use triptych_core::kv::Tx;
use triptych_core::pending::Pending;

use crate::body::encryption::{
    DataKey, Decryptor, EncryptedRange, Keyring, RECORD_BYTES, encrypted_size,
};
use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::server::body_store::BodyStore;
use crate::server::open_bodies::BodyReader;
use crate::store::object_encryption::KeyOpening;
use crate::store::part_cursor::PartCursor;
use crate::store::part_list::{BodyName, ObjectRange, Part, Parts};

/// Records that are read at once where they are all, as far as there are few readers: see [`crate::server::open_bodies::OpenBodies::share`].
const RECORDS_MAX: usize = 16;
/// Records that are read first where there are more: most clients that stall do so at the start.
const RECORDS_FIRST: usize = 4;

/// The bytes of an object, to be read as often as they are asked for.
#[derive(Debug)]
pub(super) struct ObjectBytes {
    range: ObjectRange,
    /// The data key of a body that is one part, once it was unwrapped or derived, and the key that it came from.
    key: OnceLock<(BodyKey, DataKey)>,
}

impl ObjectBytes {
    /// The bytes that `range` names.
    pub(super) fn new(range: ObjectRange) -> Arc<Self> {
        Arc::new(Self { range, key: OnceLock::new() })
    }

    /// The way to the key that opens them.
    pub(super) const fn opening(&self) -> &KeyOpening {
        &self.range.key
    }

    /// The name of the body.
    pub(super) const fn name(&self) -> BodyName {
        self.range.parts.name()
    }

    /// The data key of a part.
    fn key_of(&self, part: &Part, body_key: &BodyKey, roots: &Keyring) -> Result<DataKey, Error> {
        // The key that it came from was asked for again by whoever has it.
        if let Some((_, key)) = self.key.get().filter(|(from, _)| from == body_key) {
            return Ok(key.clone());
        }
        let context = part.context(&self.range.context);
        let opened = body_key.data_key(roots, &part.wrapped_key, &context);
        let key = opened.map_err(|_| Error::Damaged)?;
        // The answer may be given again. What serves one object alone is not kept for that.
        if matches!(self.range.parts, Parts::One(_)) && self.opening().serves_many() {
            let _ = self.key.set((body_key.clone(), key.clone()));
        }
        Ok(key)
    }
}

/// The bytes of an object that were not given yet.
pub(super) struct ReadAhead {
    bodies: Arc<BodyStore>,
    object: Arc<ObjectBytes>,
    key: BodyKey,
    /// The bytes that were not given.
    left: Range<u64>,
    /// Those of them that are decrypted.
    ready: VecDeque<Bytes>,
    /// The place of the next byte to decrypt.
    next: u64,
    /// The parts that follow.
    parts: PartCursor,
    open: Option<OpenPart>,
    reading: Option<Pending<Result<Vec<Bytes>, BlobError>>>,
    /// Records that are read at once.
    records: usize,
    /// True if it was not asked for a piece since the last look.
    is_idle: bool,
}

/// A part that is read.
struct OpenPart {
    reader: Box<dyn BlobReader>,
    decryptor: Decryptor,
    record_bytes: usize,
}

impl ReadAhead {
    /// The bytes of `object`, opened with `key`.
    pub(super) fn new(bodies: Arc<BodyStore>, object: Arc<ObjectBytes>, key: BodyKey) -> Self {
        let left = object.range.bytes.clone();
        let records = if is_short(&left) { RECORDS_MAX } else { RECORDS_FIRST };
        Self {
            bodies,
            key,
            next: left.start,
            parts: PartCursor::of_range(&object.range, left.start),
            left,
            ready: VecDeque::new(),
            open: None,
            reading: None,
            records,
            is_idle: false,
            object,
        }
    }

    /// Bytes that were not given yet.
    pub(super) const fn left(&self) -> u64 {
        self.left.end - self.left.start
    }

    /// Bytes that it holds in memory.
    pub(super) fn held(&self) -> usize {
        let held = |open: &OpenPart| open.decryptor.held() + open.reader.held();
        let encrypted = self.open.as_ref().map_or(0, held);
        self.ready.iter().map(Bytes::len).sum::<usize>() + encrypted
    }

    /// Reads the first bytes, before the answer begins: where they do not open, no byte was sent yet. That is all of a small body.
    pub(super) fn poll_first(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        const FIRST: usize = RECORDS_FIRST * RECORD_BYTES;
        while self.ready.iter().map(Bytes::len).sum::<usize>() < FIRST {
            match ready!(self.poll_decrypted(context))? {
                Some(bytes) => self.ready.push_back(bytes),
                None => break,
            }
        }
        // They do open: where there are many readers, what is more than its share is read again when its turn comes.
        let share = self.bodies.open.share();
        if self.ready.len() > share && !is_short(&self.left) {
            self.keep(share);
        }
        Poll::Ready(Ok(()))
    }

    /// The next piece; `None` after the last one.
    pub(super) fn poll_piece(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Error>> {
        self.is_idle = false;
        let piece = match self.ready.pop_front() {
            Some(piece) => Some(piece),
            None => ready!(self.poll_decrypted(context))?,
        };
        let Some(piece) = piece else {
            // Not before all that the head promised.
            return Poll::Ready(if self.left.is_empty() { Ok(None) } else { Err(Error::Damaged) });
        };
        self.left.start = self.left.start.saturating_add(piece.len() as u64).min(self.left.end);
        Poll::Ready(Ok(Some(piece)))
    }

    fn poll_decrypted(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let Some(open) = &mut self.open else {
                match self.open_next() {
                    Ok(true) => continue,
                    Ok(false) => return Poll::Ready(Ok(None)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            };
            match open.decryptor.decrypt_next() {
                Ok(Some(bytes)) => {
                    self.next = self.next.saturating_add(bytes.len() as u64);
                    return Poll::Ready(Ok(Some(bytes)));
                }
                Ok(None) if open.decryptor.is_done() => {
                    self.open = None;
                    continue;
                }
                Ok(None) => {}
                Err(_) => return Poll::Ready(Err(Error::Damaged)),
            }
            let records = self.records.min(self.bodies.open.share());
            let reading = self
                .reading
                .get_or_insert_with(|| open.reader.next_pieces(open.record_bytes, records));
            let read = ready!(Pin::new(reading).poll(context));
            self.reading = None;
            self.records = (self.records * 2).min(RECORDS_MAX);
            match read {
                Ok(pieces) if pieces.is_empty() => return Poll::Ready(Err(Error::Damaged)),
                Ok(pieces) => pieces.into_iter().for_each(|piece| open.decryptor.feed(piece)),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    /// Opens the next part that has bytes of the range; `false` when there is none.
    fn open_next(&mut self) -> Result<bool, Error> {
        let range = &self.object.range;
        let mut tx = Tx::new(&*self.bodies.store);
        while let Some(placed) = self.parts.next(&mut tx)? {
            let (part, place) = (placed.part, placed.place);
            let (from, to) = (self.next.max(place.start), self.left.end.min(place.end));
            // An empty body has a record too, which shows that it is whole.
            let is_empty_body = range.size == 0;
            if place.start >= range.bytes.end && !is_empty_body {
                break;
            }
            if from >= to && !is_empty_body {
                continue;
            }
            let key = self.object.key_of(&part, &self.key, &self.bodies.keyring)?;
            if matches!(range.parts, Parts::Chunks { .. })
                && self.bodies.blobs.length(part.blob)? != encrypted_size(part.bytes, key.layers())
            {
                return Err(Error::Damaged);
            }
            let within = from - place.start..to - place.start;
            let encrypted = EncryptedRange::of(&within, part.bytes, key.layers());
            let reader = self.bodies.blobs.open(part.blob, encrypted.bytes.clone())?;
            let record_bytes = key.record_bytes();
            let decryptor = Decryptor::new(key, &encrypted);
            self.open = Some(OpenPart { reader, decryptor, record_bytes });
            return Ok(true);
        }
        Ok(false)
    }

    /// Gives up what it holds, if it was not asked for a piece since the last look: the client has stalled, and what it takes up again is
    /// read again.
    fn release_if_idle(&mut self) {
        // One that waits for the disk did not stall.
        if self.reading.is_some() || !std::mem::replace(&mut self.is_idle, true) {
            return;
        }
        self.keep(0);
        self.records = RECORDS_FIRST;
    }

    /// Gives up what it holds but the first pieces.
    fn keep(&mut self, pieces: usize) {
        self.ready.truncate(pieces);
        self.ready.shrink_to_fit();
        self.open = None;
        self.next =
            self.left.start + self.ready.iter().map(|piece| piece.len() as u64).sum::<u64>();
        self.parts = PartCursor::of_range(&self.object.range, self.next);
    }
}

/// Tells whether all of a range is read at once.
const fn is_short(range: &Range<u64>) -> bool {
    (range.end - range.start).div_ceil(RECORD_BYTES as u64) <= RECORDS_MAX as u64
}

impl BodyReader for Mutex<ReadAhead> {
    fn release_if_idle(&self) {
        self.lock().release_if_idle();
    }

    fn held(&self) -> usize {
        self.lock().held()
    }
}
