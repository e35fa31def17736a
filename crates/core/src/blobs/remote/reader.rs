//! A blob on its way from the store: a request for each piece, and the next one while the last is used where a client would wait for it. A
//! client that stalls holds no connection.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use object_store::{GetOptions, GetRange};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Bucket;
use super::connection::{Connection, closed};
use super::fault::fault;
use super::name::Name;
use crate::blobs::{BlobError, BlobId, BlobReader};
use crate::pending::Pending;

/// The longest piece that a reader gives, and the first request that is made ahead.
const PIECE_BYTES: usize = 1024 * 1024;
/// The most bytes that one request asks for.
const REQUEST_BYTES: usize = 4 * 1024 * 1024;
/// A client that takes no more than so many times what its last request took is read ahead for: any other loses a ninth of its time at most by
/// the wait for a request, and what waits for it would only fill the memory.
const FAST: u32 = 8;

/// The time since some moment, which never goes back.
type Stopwatch = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A blob that is being read.
pub(super) struct RemoteReader {
    connection: Connection,
    body: Arc<Mutex<Body>>,
    held: Arc<AtomicUsize>,
}

impl RemoteReader {
    /// The bytes of a range, which lies within the blob.
    pub(super) fn new(connection: Connection, id: BlobId, range: Range<u64>) -> Self {
        let begun = Instant::now();
        let body = Body::new(connection.clone(), id, range, Arc::new(move || begun.elapsed()));
        let held = Arc::clone(&body.held);
        Self { connection, body: Arc::new(Mutex::new(body)), held }
    }
}

impl BlobReader for RemoteReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let body = Arc::clone(&self.body);
        self.connection.run(async move {
            let piece = body.lock().await.next(PIECE_BYTES, PIECE_BYTES).await?;
            Ok((!piece.is_empty()).then_some(piece))
        })
    }

    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let body = Arc::clone(&self.body);
        self.connection.run(async move { body.lock().await.next_pieces(each, count).await })
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

struct Body {
    connection: Connection,
    id: BlobId,
    is_begun: bool,
    /// Bytes that no request was made for.
    left: Range<u64>,
    /// Bytes that arrived and were not given.
    ready: Bytes,
    /// The request that is under way: its bytes, and the time that it took.
    ahead: JoinSet<(Result<Bytes, BlobError>, Duration)>,
    /// The number of bytes that arrived and were not given, those of the request ahead among them.
    held: Arc<AtomicUsize>,
    stopwatch: Stopwatch,
    pace: Pace,
}

/// The pace at which a client takes what it asked for, beside that of the store.
#[derive(Debug, Default)]
struct Pace {
    /// The time at which the last request's bytes were taken up, and the time that it took.
    last: Option<(Duration, Duration)>,
    /// Bytes that are asked for ahead; none for a client that takes its time.
    ahead: usize,
}

impl Pace {
    /// Notes a request that was wanted at `wanted`, begun ahead or not, and that was there at `now` after it had taken `took`.
    fn note(&mut self, wanted: Duration, now: Duration, took: Duration) {
        // Nothing is known of one that has not come back yet.
        let is_fast = self
            .last
            .is_some_and(|(since, took)| wanted.saturating_sub(since) <= took.saturating_mul(FAST));
        self.ahead = match (is_fast, self.ahead) {
            (false, _) => 0,
            (true, 0) => PIECE_BYTES,
            // What was asked for ahead came too late: the store is what it waits for.
            (true, ahead) if now > wanted => (ahead * 2).min(REQUEST_BYTES),
            (true, ahead) => ahead,
        };
        self.last = Some((now, took));
    }
}

impl Body {
    fn new(connection: Connection, id: BlobId, left: Range<u64>, stopwatch: Stopwatch) -> Self {
        Self {
            connection,
            id,
            is_begun: false,
            left,
            ready: Bytes::new(),
            ahead: JoinSet::new(),
            held: Arc::default(),
            stopwatch,
            pace: Pace::default(),
        }
    }

    /// The next bytes, at most `most`; none at the end. A client that asks for them will ask for `wanted` in all.
    async fn next(&mut self, most: usize, wanted: usize) -> Result<Bytes, BlobError> {
        if self.ready.is_empty() {
            let at = (self.stopwatch)();
            if self.ahead.is_empty() {
                self.ask(wanted.min(REQUEST_BYTES));
            }
            let (arrived, now) = match self.ahead.try_join_next() {
                // It was there: its client waited for nothing.
                Some(arrived) => (Some(arrived), at),
                None => (self.ahead.join_next().await, (self.stopwatch)()),
            };
            let Some(arrived) = arrived else {
                return Ok(Bytes::new());
            };
            let (bytes, took) = arrived.map_err(|_| closed())?;
            self.ready = bytes?;
            self.pace.note(at, now, took);
            if self.pace.ahead > 0 && !self.left.is_empty() {
                self.ask(self.pace.ahead);
            }
        }
        let given = self.ready.split_to(self.ready.len().min(most));
        self.held.fetch_sub(given.len(), Ordering::Relaxed);
        Ok(given)
    }

    async fn next_pieces(&mut self, each: usize, count: usize) -> Result<Vec<Bytes>, BlobError> {
        let mut pieces = Vec::new();
        for left in (1..=count).rev() {
            let piece = self.next_whole(each, each.saturating_mul(left)).await?;
            if piece.is_empty() {
                break;
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// The next bytes, exactly so many unless they are the last, in memory of their own.
    async fn next_whole(&mut self, bytes: usize, wanted: usize) -> Result<Bytes, BlobError> {
        let mut whole = BytesMut::new();
        while whole.len() < bytes {
            let piece = self.next(bytes - whole.len(), wanted - whole.len()).await?;
            if piece.is_empty() {
                break;
            }
            whole.reserve(bytes);
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// Begins a request for so many of the next bytes: at the end for none, unless it would be the first, which shows that the blob is there.
    fn ask(&mut self, most: usize) {
        if self.is_begun && self.left.is_empty() {
            return;
        }
        self.is_begun = true;
        let end = self.left.end.min(self.left.start.saturating_add(most as u64));
        let (range, id) = (self.left.start..end, self.id);
        self.left.start = end;
        let bucket = self.connection.bucket.clone();
        let (held, stopwatch) = (Arc::clone(&self.held), Arc::clone(&self.stopwatch));
        let begun = stopwatch();
        self.connection.run_in(&mut self.ahead, async move {
            let bytes = read(&bucket, id, range).await;
            held.fetch_add(bytes.as_ref().map_or(0, Bytes::len), Ordering::Relaxed);
            (bytes, stopwatch().saturating_sub(begun))
        });
    }
}

/// The bytes of a range in one request.
async fn read(bucket: &Bucket, id: BlobId, range: Range<u64>) -> Result<Bytes, BlobError> {
    let (path, length) = (Name::of(id).path(bucket), Name::bytes(id));
    let options = match range.is_empty() {
        true => GetOptions { head: true, ..GetOptions::default() },
        false => {
            GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() }
        }
    };
    let found = bucket.objects.get_opts(&path, options).await.map_err(fault)?;
    if found.meta.size != length {
        let held = found.meta.size;
        return Err(BlobError::Corrupt(format!("{held} bytes of {length} are in the store")));
    }
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let bytes = found.bytes().await.map_err(fault)?;
    match bytes.len() as u64 == range.end - range.start {
        true => Ok(bytes),
        false => Err(BlobError::Unavailable("the answer ended early".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::RemoteBlobs;
    use super::*;
    use crate::blobs::Blobs as _;
    use crate::id::SeededIds;
    use crate::time::Timestamp;

    const RECORD: usize = 64 * 1024;
    const LENGTH: usize = 20 * PIECE_BYTES + 77;

    /// A reader whose requests take no time, on a watch that its client moves on.
    struct Client {
        body: Body,
        millis: Arc<AtomicU64>,
        at: usize,
        blob: Bytes,
    }

    impl Client {
        async fn new(blobs: &RemoteBlobs) -> Self {
            let blob: Bytes =
                (0..LENGTH).map(|place| (place / 7 % 251) as u8).collect::<Vec<_>>().into();
            let mut writer = blobs.create(Timestamp::EPOCH, Some(LENGTH as u64));
            writer.write(blob.clone()).await.unwrap();
            let id = writer.finish().await.unwrap().id;
            let millis = Arc::new(AtomicU64::new(0));
            let watch = Arc::clone(&millis);
            // As any real one, it goes on between two looks.
            let looks = AtomicU64::new(0);
            let stopwatch = Arc::new(move || {
                Duration::from_millis(watch.load(Ordering::Relaxed))
                    + Duration::from_nanos(looks.fetch_add(1, Ordering::Relaxed))
            });
            let connection = blobs.connection.clone();
            let body = Body::new(connection, id, 0..LENGTH as u64, stopwatch);
            Self { body, millis, at: 0, blob }
        }

        /// Takes the next records, then does something else for so long.
        async fn take(&mut self, records: usize, millis: u64) {
            let pieces = self.body.next_pieces(RECORD, records).await.unwrap();
            for piece in pieces {
                assert!(self.blob[self.at..self.at + piece.len()] == piece, "at {}", self.at);
                self.at += piece.len();
            }
            self.millis.fetch_add(millis, Ordering::Relaxed);
        }

        /// Bytes that were asked for and not taken.
        fn ahead(&self) -> usize {
            usize::try_from(self.body.left.start).unwrap() - self.at
        }

        /// Bytes that arrived and were not taken, once all that was asked for is there.
        async fn held(&mut self) -> usize {
            while self.body.held.load(Ordering::Relaxed) < self.ahead() {
                tokio::task::yield_now().await;
            }
            self.body.held.load(Ordering::Relaxed)
        }
    }

    fn blobs() -> RemoteBlobs {
        RemoteBlobs::in_memory(SeededIds::from_number(1)).unwrap()
    }

    #[tokio::test]
    async fn a_client_that_asks_and_reads_nothing_is_read_nothing_ahead() {
        let blobs = blobs();
        for records in [1, 4, 16] {
            let mut client = Client::new(&blobs).await;
            client.take(records, 0).await;
            assert_eq!((client.ahead(), client.held().await), (0, 0), "{records}");
        }
    }

    #[tokio::test]
    async fn a_slow_client_holds_what_it_asked_for_alone_and_one_that_gets_faster_is_read_ahead_for()
     {
        let blobs = blobs();
        let mut client = Client::new(&blobs).await;
        for _ in 0..5 {
            client.take(16, 1_000).await;
            assert_eq!((client.ahead(), client.held().await), (0, 0));
        }
        client.take(16, 0).await;
        for _ in 0..5 {
            client.take(16, 0).await;
            assert_eq!((client.ahead(), client.held().await), (PIECE_BYTES, PIECE_BYTES));
        }
        // What was read ahead is taken up, and no more is.
        client.take(8, 1_000).await;
        client.take(8, 1_000).await;
        client.take(16, 1_000).await;
        assert_eq!((client.ahead(), client.held().await), (0, 0));
        while client.at < LENGTH {
            client.take(16, 0).await;
        }
        assert_eq!((client.ahead(), client.held().await), (0, 0));
    }

    #[test]
    fn more_is_asked_for_ahead_as_long_as_it_comes_too_late() {
        let at = Duration::from_millis;
        let mut pace = Pace::default();
        let mut seen = Vec::new();
        // The first says nothing of its client.
        for (wanted, now) in [(0, 30), (40, 70), (80, 90), (100, 110), (120, 130), (130, 130)] {
            pace.note(at(wanted), at(now), at(30));
            seen.push(pace.ahead);
        }
        let mib = PIECE_BYTES;
        assert_eq!(seen, [0, mib, 2 * mib, 4 * mib, 4 * mib, 4 * mib]);
        pace.note(at(130 + 8 * 30 + 1), at(400), at(30));
        assert_eq!(pace.ahead, 0, "a client that would lose a ninth of its time at most");
    }
}
