//! A blob on its way from the store: a request for each piece, and the next one while the last is used. A client that stalls holds no
//! connection.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::{GetOptions, GetRange};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::Bucket;
use super::connection::{Connection, closed};
use super::fault::fault;
use super::name::Name;
use crate::blobs::{BlobError, BlobId, BlobReader};
use crate::pending::Pending;

/// The longest piece that a reader gives, and the first that it asks for.
const PIECE_BYTES: usize = 1024 * 1024;
/// Bytes that one request asks for, once a client reads on.
const REQUEST_BYTES: u64 = 4 * 1024 * 1024;

/// A blob that is being read.
pub(super) struct RemoteReader {
    connection: Connection,
    body: Arc<Mutex<Body>>,
}

impl RemoteReader {
    /// The bytes of a range, which lies within the blob.
    pub(super) fn new(connection: Connection, id: BlobId, range: Range<u64>) -> Self {
        let body = Body {
            connection: connection.clone(),
            id,
            is_begun: false,
            left: range,
            ready: Bytes::new(),
            ahead: JoinSet::new(),
        };
        Self { connection, body: Arc::new(Mutex::new(body)) }
    }
}

impl BlobReader for RemoteReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let body = Arc::clone(&self.body);
        self.connection.run(async move {
            let piece = body.lock().await.next(PIECE_BYTES).await?;
            Ok((!piece.is_empty()).then_some(piece))
        })
    }

    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let body = Arc::clone(&self.body);
        self.connection.run(async move {
            let (mut body, mut pieces) = (body.lock().await, Vec::new());
            while pieces.len() < count {
                let piece = body.next_whole(each).await?;
                if piece.is_empty() {
                    break;
                }
                pieces.push(piece);
            }
            Ok(pieces)
        })
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
    /// The request that is under way.
    ahead: JoinSet<Result<Bytes, BlobError>>,
}

impl Body {
    /// The next bytes, at most so many; none at the end.
    async fn next(&mut self, most: usize) -> Result<Bytes, BlobError> {
        if self.ready.is_empty() {
            if self.ahead.is_empty() {
                self.ask();
            }
            match self.ahead.join_next().await {
                None => return Ok(Bytes::new()),
                Some(arrived) => self.ready = arrived.map_err(|_| closed())??,
            }
            if !self.left.is_empty() {
                self.ask();
            }
        }
        Ok(self.ready.split_to(self.ready.len().min(most)))
    }

    /// The next bytes, exactly so many unless they are the last, in memory of their own.
    async fn next_whole(&mut self, bytes: usize) -> Result<Bytes, BlobError> {
        let mut whole = BytesMut::new();
        while whole.len() < bytes {
            let piece = self.next(bytes - whole.len()).await?;
            if piece.is_empty() {
                break;
            }
            whole.reserve(bytes);
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// Begins a request for the next bytes: at the end for none, unless it would be the first, which shows that the blob is there.
    fn ask(&mut self) {
        if self.is_begun && self.left.is_empty() {
            return;
        }
        let most = if self.is_begun { REQUEST_BYTES } else { PIECE_BYTES as u64 };
        self.is_begun = true;
        let end = self.left.end.min(self.left.start.saturating_add(most));
        let (range, id) = (self.left.start..end, self.id);
        self.left.start = end;
        let bucket = self.connection.bucket.clone();
        self.connection.run_in(&mut self.ahead, async move { read(&bucket, id, range).await });
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
