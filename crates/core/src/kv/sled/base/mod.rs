//! A base: all rows of one moment, sorted, in blocks with checksums, in a file that is whole or not there.
//!
//! It is written beside its name, synced, read again past what the system remembers, and only then renamed. The log before its moment is
//! let go once its name is on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};

use crate::disk::{Disk, DiskFile};
use crate::kv::Version;

/// The first bytes of a file, and those of its end.
const MAGICS: [[u8; 8]; 2] = [*b"kvbase01", *b"kvbaseEn"];
/// The magic, the version, their checksum.
const HEADER_BYTES: usize = 20;
/// The magic, the version, the moment at which it was made, the count of rows, the length of all blocks, the checksum of the checksums of
/// the blocks, the checksum of these.
const FOOTER_BYTES: usize = 48;
/// The length of the rows of a block, and their checksum.
const BLOCK_HEADER_BYTES: usize = 8;
/// Rows of so many bytes make a block.
const BLOCK_BYTES: usize = 64 * 1024;
/// The length of a key, and of what is stored at it.
const ROW_HEADER_BYTES: usize = 6;
/// Blocks are written so many bytes at once.
const WRITE_BYTES: usize = 1024 * 1024;
/// The start of the names of bases; behind it stand the digits of the version.
const PREFIX: &str = "base-";
/// Digits of a version in a name.
const DIGITS: usize = 20;
/// The extension of one that is not whole yet.
const UNFINISHED: &str = "new";

/// Reasons for which a base cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BaseError {
    #[error("{} cannot be read: {_1}", _0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("the base {} {_1}", _0.display())]
    Damaged(PathBuf, &'static str),
}

/// The content of a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BaseSummary {
    /// The last version of its rows, and of those that were deleted before it was made.
    pub(super) version: Version,
    /// The moment of that version, in milliseconds since 1970.
    pub(super) time: u64,
    pub(super) rows: u64,
    /// The length of the file.
    pub(super) bytes: u64,
}

/// A base that is whole, open to read.
#[derive(Clone)]
pub(super) struct Base {
    pub(super) path: PathBuf,
    pub(super) summary: BaseSummary,
    file: Arc<dyn DiskFile>,
    /// The checksum of the checksums of its blocks.
    sums: u32,
}

/// The name of the base of a version.
pub(super) fn name(version: Version) -> String {
    format!("{PREFIX}{:0width$}", version.0, width = DIGITS)
}

/// The version of the base of this name.
fn version_of(path: &Path) -> Option<Version> {
    let digits = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    (digits.len() == DIGITS).then(|| digits.parse().ok().map(Version))?
}

/// The paths of the bases in a directory, the newest first, and of those that are not whole.
pub(super) fn paths(disk: &dyn Disk, directory: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut bases, mut unfinished) = (Vec::new(), Vec::new());
    for path in disk.list(directory)? {
        let is_unfinished = path.extension().is_some_and(|extension| extension == UNFINISHED);
        if let Some(version) = version_of(&path) {
            bases.push((version, path));
        } else if is_unfinished && version_of(&path.with_extension("")).is_some() {
            unfinished.push(path);
        }
    }
    bases.sort_unstable_by(|a, b| b.cmp(a));
    Ok((bases.into_iter().map(|(_, path)| path).collect(), unfinished))
}

impl Base {
    /// Opens one; its blocks are checked when they are read.
    ///
    /// # Errors
    /// `Unreadable`; `Damaged` if it is not as long as it says, or its ends are not those of a base.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, BaseError> {
        let unreadable = |error| BaseError::Unreadable(path.to_owned(), error);
        let damaged = || BaseError::Damaged(path.to_owned(), "is not whole");
        let file = disk.open(path).map_err(unreadable)?;
        let bytes = file.length().map_err(unreadable)?;
        let mut header = [0; HEADER_BYTES];
        let mut footer = [0; FOOTER_BYTES];
        let at = bytes.checked_sub(FOOTER_BYTES as u64).ok_or_else(damaged)?;
        file.read_at(&mut header, 0).map_err(unreadable)?;
        file.read_at(&mut footer, at).map_err(unreadable)?;
        let version = Version((&header[8..16]).get_u64());
        let said = &footer[..FOOTER_BYTES - 4];
        let mut fields = said.get(16..).unwrap_or_default();
        let (time, rows, sums) = (fields.get_u64(), fields.get_u64(), fields.get_u32());
        let summary = BaseSummary { version, time, rows, bytes };
        let is_whole = header == header_of(version) && footer == footer_of(summary, sums);
        is_whole.then(|| Self { path: path.to_owned(), summary, file, sums }).ok_or_else(damaged)
    }

    /// Its rows, in the order of their keys.
    pub(super) fn rows(&self) -> BaseRows {
        BaseRows {
            base: self.clone(),
            at: HEADER_BYTES as u64,
            block: Bytes::new(),
            sums: 0,
            is_over: false,
        }
    }

    /// Reads all of it past what the system remembers, and checks it.
    ///
    /// # Errors
    /// [`BaseError`].
    pub(super) fn verify(&self) -> Result<(), BaseError> {
        let forgotten = self.file.forget_cached();
        forgotten.map_err(|error| BaseError::Unreadable(self.path.clone(), error))?;
        let mut rows = 0;
        for row in self.rows() {
            row?;
            rows += 1;
        }
        if rows == self.summary.rows { Ok(()) } else { Err(self.damaged("has lost rows")) }
    }

    fn damaged(&self, how: &'static str) -> BaseError {
        BaseError::Damaged(self.path.clone(), how)
    }
}

/// The rows of a base: each key, and what is stored at it.
pub(super) struct BaseRows {
    base: Base,
    at: u64,
    block: Bytes,
    sums: u32,
    is_over: bool,
}

impl BaseRows {
    fn next_block(&mut self) -> Result<Option<Bytes>, BaseError> {
        let unreadable = |error| BaseError::Unreadable(self.base.path.clone(), error);
        let end = self.base.summary.bytes - FOOTER_BYTES as u64;
        if self.at == end {
            let is_whole = self.sums == self.base.sums;
            return if is_whole { Ok(None) } else { Err(self.base.damaged("has lost a block")) };
        }
        let broken = || self.base.damaged("has a block that is not what was written");
        let mut header = [0; BLOCK_HEADER_BYTES];
        self.base.file.read_at(&mut header, self.at).map_err(unreadable)?;
        let mut fields = header.as_slice();
        let (length, sum) = (fields.get_u32() as usize, fields.get_u32());
        let begin = self.at + BLOCK_HEADER_BYTES as u64;
        if begin + length as u64 > end || length == 0 {
            return Err(broken());
        }
        let mut block = vec![0; length];
        let read = self.base.file.read_at(&mut block, begin).map_err(unreadable)?;
        if read < length || crc32c::crc32c(&block) != sum {
            return Err(broken());
        }
        self.at = begin + length as u64;
        self.sums = crc32c::crc32c_append(self.sums, &sum.to_be_bytes());
        Ok(Some(block.into()))
    }

    fn next_row(&mut self) -> Result<Option<(Bytes, Bytes)>, BaseError> {
        if self.block.is_empty() {
            match self.next_block()? {
                Some(block) => self.block = block,
                None => return Ok(None),
            }
        }
        let block = &mut self.block;
        let cut = "has a row that is cut short";
        if block.len() < ROW_HEADER_BYTES {
            return Err(self.base.damaged(cut));
        }
        let (key, stored) = (usize::from(block.get_u16()), block.get_u32() as usize);
        if block.len() < key + stored {
            return Err(self.base.damaged(cut));
        }
        let key = block.split_to(key);
        Ok(Some((key, block.split_to(stored))))
    }
}

impl Iterator for BaseRows {
    type Item = Result<(Bytes, Bytes), BaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let row = self.next_row().transpose();
        self.is_over = !matches!(row, Some(Ok(_)));
        row
    }
}

/// A base that is being written.
pub(super) struct BaseWriter<'d> {
    disk: &'d dyn Disk,
    directory: PathBuf,
    file: Arc<dyn DiskFile>,
    summary: BaseSummary,
    sums: u32,
    block: Vec<u8>,
    /// Blocks that are not written yet.
    buffer: Vec<u8>,
    at: u64,
}

impl<'d> BaseWriter<'d> {
    /// Begins the base of a version, beside its name.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn create(
        disk: &'d dyn Disk,
        directory: &Path,
        version: Version,
        time: u64,
    ) -> io::Result<Self> {
        let file = disk.replace(&unfinished(directory, version))?;
        let summary = BaseSummary { version, time, rows: 0, bytes: 0 };
        let buffer = header_of(version).to_vec();
        let directory = directory.to_owned();
        Ok(Self { disk, directory, file, summary, sums: 0, block: Vec::new(), buffer, at: 0 })
    }

    /// Adds a row, whose key comes after those before it.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn add(&mut self, key: &[u8], stored: &[u8]) -> io::Result<()> {
        let too_long = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (keys, rest) =
            (u16::try_from(key.len()).map_err(too_long)?, u32::try_from(stored.len()));
        self.block.extend_from_slice(&keys.to_be_bytes());
        self.block.extend_from_slice(&rest.map_err(too_long)?.to_be_bytes());
        self.block.extend_from_slice(key);
        self.block.extend_from_slice(stored);
        self.summary.rows += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let sum = crc32c::crc32c(&self.block).to_be_bytes();
        // A block is some times longer than its last row at the most.
        self.buffer.extend_from_slice(&(self.block.len() as u32).to_be_bytes());
        self.buffer.extend_from_slice(&sum);
        self.buffer.extend_from_slice(&self.block);
        self.sums = crc32c::crc32c_append(self.sums, &sum);
        self.block.clear();
        if self.buffer.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Puts it on disk, reads it again, and gives it its name, which is on disk as well when this returns.
    ///
    /// # Errors
    /// As the disk; `Damaged` if what is read is not what was written.
    pub(super) fn finish(mut self) -> Result<Base, BaseError> {
        let beside = unfinished(&self.directory, self.summary.version);
        let failed = |error| BaseError::Unreadable(beside.clone(), error);
        let mut finish = || {
            self.end_block()?;
            self.summary.bytes = self.at + (self.buffer.len() + FOOTER_BYTES) as u64;
            self.buffer.extend_from_slice(&footer_of(self.summary, self.sums));
            self.write()?;
            self.file.sync()
        };
        finish().map_err(failed)?;
        Base::open(self.disk, &beside)?.verify()?;
        let path = self.directory.join(name(self.summary.version));
        self.disk.rename(&beside, &path).map_err(failed)?;
        self.disk.sync_directory(&self.directory).map_err(failed)?;
        Base::open(self.disk, &path)
    }

    /// Removes what there is of it.
    pub(super) fn abandon(self) {
        let _ = self.disk.remove(&unfinished(&self.directory, self.summary.version));
    }
}

fn unfinished(directory: &Path, version: Version) -> PathBuf {
    directory.join(name(version)).with_extension(UNFINISHED)
}

fn header_of(version: Version) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (said, sum) = header.split_at_mut(HEADER_BYTES - 4);
    said.copy_from_slice([MAGICS[0], version.0.to_be_bytes()].as_flattened());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    header
}

fn footer_of(summary: BaseSummary, sums: u32) -> [u8; FOOTER_BYTES] {
    let BaseSummary { version, time, rows, bytes } = summary;
    let mut footer = [0; FOOTER_BYTES];
    let (said, sum) = footer.split_at_mut(FOOTER_BYTES - 4);
    let (first, rest) = said.split_at_mut(32);
    let fields = [version.0, time, rows].map(u64::to_be_bytes);
    let [a, b, c] = fields;
    first.copy_from_slice([MAGICS[1], a, b, c].as_flattened());
    let (sums_of_blocks, length) = rest.split_at_mut(4);
    sums_of_blocks.copy_from_slice(&sums.to_be_bytes());
    length.copy_from_slice(&bytes.to_be_bytes());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    footer
}

#[cfg(test)]
mod tests;
