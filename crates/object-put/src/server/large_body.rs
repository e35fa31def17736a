//! Large bodies on their way in, on blocking threads that check them, encrypt them and write them.
//!
//! A body has a thread only while bytes of it arrive: with one for each, a few clients that bring nothing would keep all others waiting. At
//! most a few batches wait between the connection and the thread, so memory does not grow with the body.

use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use triptych_core::blobs::BlobWriter;
use triptych_core::host::BoxError;

use crate::body::aws_chunked::Frame;
use crate::body::checksum::Digested;
use crate::body::encryption::{Encryptor, RECORD_BYTES};
use crate::body::verifier::Verifier;
use crate::error::Error;
use crate::server::frame_reader::{FrameReader, check};

/// Bytes that are handed to a thread at once: waking it for each piece costs more than the piece.
const BATCH_BYTES: usize = 256 * 1024;
/// Batches that wait for a thread.
const BATCHES_WAITING_MAX: usize = 1;
/// The time for which a thread waits for the next batch before others may have it.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// A body that is checked and written, and where it is written to.
type Written = (Digested, Box<dyn BlobWriter>);

/// Takes a body in; each of its threads has a permit of `threads`.
///
/// # Errors
/// Those of [`Verifier`] and of the framing; `BodyTerminated`, `RequestTimeout`; those of the blobs.
pub(super) async fn receive<B>(
    threads: &Semaphore,
    reader: FrameReader<'_, B>,
    mut writing: Writing,
) -> Result<Written, Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut arriving = Arriving { reader, batch: Batch::default() };
    // Its first byte earns it a thread, and after a pause a whole batch.
    let mut enough = 1;
    loop {
        arriving.gather(enough).await;
        enough = BATCH_BYTES;
        let _permit = threads.acquire().await;
        let (sender, batches) = mpsc::channel(BATCHES_WAITING_MAX);
        let thread = tokio::task::spawn_blocking(move || writing.work(batches));
        match arriving.feed(sender, thread).await? {
            Turn::Paused(rest) => writing = *rest,
            Turn::Over(written) => return written,
        }
    }
}

/// Frames of a body, and its end where that has come. So of several faults the thread finds the first.
#[derive(Default)]
struct Batch {
    frames: Vec<Frame>,
    bytes: usize,
    end: Option<Result<(), Error>>,
}

/// A body as it arrives.
struct Arriving<'b, B> {
    reader: FrameReader<'b, B>,
    /// Frames that no thread has taken.
    batch: Batch,
}

impl<B> Arriving<'_, B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    /// Waits until so many bytes are there, or the end. Given up, it keeps what it has.
    async fn gather(&mut self, enough: usize) {
        while self.batch.bytes < enough && self.batch.end.is_none() {
            match self.reader.next().await {
                Ok(Some(frame)) => {
                    // Frames count too: a body may come in chunks of one byte.
                    self.batch.bytes += size_of::<Frame>();
                    if let Frame::Data(data) = &frame {
                        self.batch.bytes += data.len();
                    }
                    self.batch.frames.push(frame);
                }
                Ok(None) => self.batch.end = Some(Ok(())),
                Err(error) => self.batch.end = Some(Err(error)),
            }
        }
    }

    /// Hands a thread what arrives until it stops: at the end of the body, at a fault, or in a pause.
    async fn feed(
        &mut self,
        sender: mpsc::Sender<Batch>,
        mut thread: JoinHandle<Turn>,
    ) -> Result<Turn, Error> {
        loop {
            let batch = std::mem::take(&mut self.batch);
            let is_last = batch.end.is_some();
            if let Err(mpsc::error::SendError(batch)) = sender.send(batch).await {
                self.batch = batch;
                break;
            }
            if is_last {
                break;
            }
            tokio::select! {
                () = self.gather(BATCH_BYTES) => {}
                turn = &mut thread => return turn.map_err(|_| Error::Internal),
            }
        }
        thread.await.map_err(|_| Error::Internal)
    }
}

/// The outcome of a thread's turn.
enum Turn {
    /// Nothing came for a while.
    Paused(Box<Writing>),
    /// The body is written, or refused.
    Over(Result<Written, Error>),
}

/// A body that is being checked, encrypted and written.
pub(super) struct Writing {
    pub(super) verifier: Verifier,
    pub(super) encryptor: Encryptor,
    pub(super) writer: Box<dyn BlobWriter>,
}

impl Writing {
    /// Deals with batches as they come.
    fn work(mut self, mut batches: mpsc::Receiver<Batch>) -> Turn {
        loop {
            let batch = match batches.try_recv() {
                Ok(batch) => Some(batch),
                Err(mpsc::error::TryRecvError::Disconnected) => None,
                Err(mpsc::error::TryRecvError::Empty) => {
                    let next = async { tokio::time::timeout(PAUSE_MAX, batches.recv()).await };
                    match Handle::current().block_on(next) {
                        Ok(batch) => batch,
                        Err(_) => {
                            // What is sent from here on goes back; what was sent meanwhile is dealt with.
                            batches.close();
                            match batches.try_recv() {
                                Ok(batch) => Some(batch),
                                Err(_) => return Turn::Paused(Box::new(self)),
                            }
                        }
                    }
                }
            };
            let Some(Batch { frames, end, .. }) = batch else {
                // Only a closed channel that is empty has no more: the pause came first, or the connection is gone.
                return Turn::Paused(Box::new(self));
            };
            if let Err(error) = self.take(frames) {
                return Turn::Over(Err(error));
            }
            if let Some(end) = end {
                return Turn::Over(end.and_then(|()| self.finish()));
            }
        }
    }

    fn take(&mut self, frames: Vec<Frame>) -> Result<(), Error> {
        let Self { verifier, encryptor, writer } = self;
        for frame in frames {
            let Frame::Data(mut left) = frame else {
                check(verifier, &frame)?;
                continue;
            };
            while !left.is_empty() {
                let part = left.split_to(left.len().min(RECORD_BYTES));
                verifier.data(&part)?;
                encryptor.feed(&part, |piece| writer.write_blocking(piece))?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Written, Error> {
        let Self { verifier, encryptor, mut writer } = self;
        let digested = verifier.finish()?;
        writer.write_blocking(encryptor.finish())?;
        writer.sync_blocking()?;
        Ok((digested, writer))
    }
}
