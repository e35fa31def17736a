//! The lines of a file as they are read: counted and digested.

use std::io::{BufRead, Read as _};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::line::{End, Head, Slice};
use super::{ArchiveError, Checkpoint, Format};

pub(super) struct Lines<'t> {
    text: &'t mut dyn BufRead,
    format: &'static Format,
    /// The line that was read last, without its end.
    pub(super) line: Vec<u8>,
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// Bytes of all lines that were read.
    pub(super) bytes: u64,
    digest: Sha256,
    /// The digest of all lines before the last one that was read.
    before: Sha256,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t mut dyn BufRead, format: &'static Format) -> Self {
        let (digest, before) = (Sha256::new(), Sha256::new());
        Self { text, format, line: Vec::new(), number: 0, bytes: 0, digest, before }
    }

    pub(super) fn refuse(&self, reason: &str) -> ArchiveError {
        ArchiveError::Refused { line: self.number, reason: reason.to_owned() }
    }

    /// Reads the next line into `line`; `false` if there is none.
    fn advance(&mut self) -> Result<bool, ArchiveError> {
        self.line.clear();
        self.number += 1;
        let mut bounded = (&mut self.text).take(self.format.line_bytes_max);
        bounded.read_until(b'\n', &mut self.line)?;
        self.before.clone_from(&self.digest);
        self.digest.update(&self.line);
        self.bytes += self.line.len() as u64;
        if self.line.is_empty() {
            return Ok(false);
        }
        if self.line.pop() == Some(b'\n') {
            return Ok(true);
        }
        match (self.line.len() as u64) < self.format.line_bytes_max - 1 {
            true => Err(ArchiveError::CutOff { line: self.number }),
            false => Err(self.refuse("the line is too long")),
        }
    }

    /// Reads the next line, which has to be there.
    pub(super) fn next(&mut self) -> Result<(), ArchiveError> {
        match self.advance()? {
            true => Ok(()),
            false => Err(ArchiveError::CutOff { line: self.number }),
        }
    }

    pub(super) fn head(&mut self) -> Result<(), ArchiveError> {
        self.advance()?;
        let Format { name, service, version, .. } = self.format;
        match serde_json::from_slice::<Head>(&self.line).ok() {
            Some(head) if head.format == *name && head.version == *version => Ok(()),
            Some(head) if head.format == *name => Err(self.refuse(&format!(
                "it is an export of version {}, and this reads version {version}",
                head.version
            ))),
            _ => Err(self.refuse(&format!("it is no export of {service}"))),
        }
    }

    /// Reads what an interrupted import had read, which has to be the same.
    pub(super) fn skip(&mut self, to: &Checkpoint) -> Result<(), ArchiveError> {
        while self.bytes < to.bytes {
            let piece = self.text.fill_buf()?;
            let left = usize::try_from(to.bytes - self.bytes).unwrap_or(usize::MAX);
            let piece = piece.get(..left).unwrap_or(piece);
            let read = piece.len();
            if read == 0 {
                return Err(ArchiveError::OtherArchive);
            }
            self.digest.update(piece);
            self.text.consume(read);
            self.bytes += read as u64;
        }
        self.number = to.lines;
        if self.sha256() == to.sha256 { Ok(()) } else { Err(ArchiveError::OtherArchive) }
    }

    /// The digest of all lines that were read, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        hex::encode(self.digest.clone().finalize())
    }

    /// The bytes of the next line, which has to be a slice.
    pub(super) fn slice(&mut self) -> Result<Bytes, ArchiveError> {
        self.next()?;
        Slice::read(&self.line).ok_or_else(|| self.refuse("a slice of a body was expected here"))
    }

    /// Checks the last line, which was just read, against what came before it.
    pub(super) fn end(&mut self, rows: u64, bodies: u64) -> Result<End, ArchiveError> {
        let end: End =
            serde_json::from_slice(&self.line).map_err(|error| self.refuse(&error.to_string()))?;
        let digest = hex::encode(self.before.clone().finalize());
        let bodies = self.format.counts_bodies.then_some(bodies);
        if (end.rows, end.bodies) != (rows, bodies) || end.sha256 != digest {
            return Err(self.refuse("the file is not what was written: its digest differs"));
        }
        if self.advance()? {
            return Err(self.refuse("something follows the end"));
        }
        Ok(end)
    }
}
