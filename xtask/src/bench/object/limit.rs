//! The limits of the machine itself: the same durable work without a service, and the digests alone.

use std::fs::{File, rename};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use md5::{Digest, Md5};
use triptych_crypto::aes_256_gcm::Aes256Gcm;

/// Bytes of the record that names a body.
const RECORD_BYTES: usize = 700;
/// Bodies of more bytes have a file each.
const SHARED_BYTES_MAX: usize = 256 * 1024;
/// Bytes that are read at once, and that one tag proves.
const PIECE_BYTES: usize = 256 * 1024;
const SEALED_BYTES: usize = 64 * 1024;

/// Bodies a second that `writers` put on disk: body first, record last, each with its own sync. What is small shares
/// a file and the syncs of a group; what is large has a file that gets its name when it is whole.
///
/// # Errors
/// If the disk fails.
pub(super) fn disk(folder: &Path, body: &[u8], writers: usize, span: Duration) -> Result<f64> {
    std::fs::create_dir_all(folder)?;
    let bodies = Appends::start(folder.join("bodies"), body.len())?;
    let records = Appends::start(folder.join("records"), RECORD_BYTES)?;
    let directory = File::open(folder)?;
    let measured = over(writers, span, |writer, _| {
        if body.len() <= SHARED_BYTES_MAX {
            bodies.append()?;
        } else {
            // One name a writer, so that the disk does not fill.
            let name = folder.join(writer.to_string());
            let part = name.with_extension("part");
            let mut file = File::create(&part)?;
            file.write_all(body)?;
            file.sync_data()?;
            rename(&part, &name)?;
            directory.sync_all()?;
        }
        records.append()
    });
    bodies.stop()?;
    records.stop()?;
    measured
}

/// Bodies a second that `threads` can digest: MD5 for the entity tag, CRC64NVME for the checksum.
///
/// # Errors
/// If a thread panics.
pub(super) fn hash(body: &[u8], threads: usize, span: Duration) -> Result<f64> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    over(threads.min(cores), span, |_, _| {
        let mut md5 = Md5::new();
        let mut crc = crc64fast_nvme::Digest::new();
        // Piece by piece, as a body arrives: each piece is still in the cache for the second digest.
        for piece in body.chunks(64 * 1024) {
            md5.update(piece);
            crc.write(piece);
        }
        std::hint::black_box((md5.finalize(), crc.sum64()));
        Ok(())
    })
}

/// Bodies of `bytes` a second that `threads` can unseal and take from the page cache by one copy.
///
/// # Errors
/// If the disk or a cipher fails.
pub(super) fn unseal_and_copy(
    file: &Path,
    bytes: usize,
    threads: usize,
    span: Duration,
) -> Result<f64> {
    std::fs::write(file, vec![7; bytes])?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cipher = Aes256Gcm::new(&[7; 32]);
    let opened = File::open(file)?;
    over(threads.min(cores), span, |_, _| {
        let mut piece = vec![0; bytes.min(PIECE_BYTES)];
        for at in (0..bytes).step_by(PIECE_BYTES) {
            let length = piece.len().min(bytes - at);
            let piece = piece.get_mut(..length).unwrap_or_default();
            opened.read_exact_at(piece, at as u64)?;
            for record in piece.chunks_mut(SEALED_BYTES) {
                // To seal takes the same steps as to unseal, and needs no tag that fits.
                std::hint::black_box(cipher.encrypt([0; 12], &[], record)?);
            }
        }
        Ok(())
    })
}

/// The number of times a second that `work` is done by some threads in all, whole pieces of work counted until the last one ends.
fn over(
    threads: usize,
    span: Duration,
    work: impl Fn(usize, u64) -> Result<()> + Sync,
) -> Result<f64> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (work, stop, done) = (&work, &stop, &done);
                scope.spawn(move || {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        work(thread, number)?;
                        number += 1;
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok::<_, anyhow::Error>(())
                })
            })
            .collect();
        std::thread::sleep(span);
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.join().map_err(|_| anyhow!("a worker panicked"))??;
        }
        Ok::<_, anyhow::Error>(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
    let rate = done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
    Ok(rate)
}

/// A file that one thread appends to: all that waits is one write and one sync.
struct Appends {
    orders: Sender<Sender<()>>,
    thread: std::thread::JoinHandle<Result<()>>,
}

impl Appends {
    fn start(path: std::path::PathBuf, bytes: usize) -> Result<Self> {
        let file = File::create(path)?;
        let (orders, taken) = channel();
        let thread = std::thread::spawn(move || sync_groups(file, &taken, bytes));
        Ok(Self { orders, thread })
    }

    fn append(&self) -> Result<()> {
        let (answer, answered) = channel();
        self.orders.send(answer)?;
        Ok(answered.recv()?)
    }

    fn stop(self) -> Result<()> {
        drop(self.orders);
        self.thread.join().map_err(|_| anyhow!("the appends panicked"))?
    }
}

fn sync_groups(mut file: File, orders: &Receiver<Sender<()>>, bytes: usize) -> Result<()> {
    let body = vec![7; bytes];
    while let Ok(first) = orders.recv() {
        let mut group = vec![first];
        group.extend(orders.try_iter());
        for _ in &group {
            file.write_all(&body)?;
        }
        file.sync_data()?;
        for answer in group {
            // A writer that has stopped waits for no answer.
            let _ = answer.send(());
        }
    }
    Ok(())
}
