//! More rows than memory holds, sorted on disk: runs of sorted rows, merged while they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;

/// A run is written once its rows take this many bytes.
const RUN_BYTES: usize = 96 * 1024 * 1024;
/// Memory of a row beside its bytes.
const ROW_BYTES: usize = 96;

/// Rows on their way to be sorted. Of two with the same key the later one counts.
pub(crate) struct ExternalSort {
    directory: PathBuf,
    rows: Vec<(Bytes, Bytes)>,
    bytes: usize,
    runs: Vec<PathBuf>,
}

impl ExternalSort {
    /// A sort that keeps its runs in `directory`, which is there.
    pub(crate) const fn new(directory: PathBuf) -> Self {
        Self { directory, rows: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    /// Takes rows.
    pub(crate) fn extend(&mut self, rows: Vec<(Bytes, Bytes)>) -> std::io::Result<()> {
        self.bytes +=
            rows.iter().map(|(key, value)| key.len() + value.len() + ROW_BYTES).sum::<usize>();
        self.rows.extend(rows);
        if self.bytes > RUN_BYTES {
            self.write_run()?;
        }
        Ok(())
    }

    fn write_run(&mut self) -> std::io::Result<()> {
        let path = self.directory.join(format!("run-{}", self.runs.len()));
        let mut file = BufWriter::new(File::create(&path)?);
        let mut rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        // The sort is stable, so of equal keys the last is the latest.
        rows.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut rows = rows.into_iter().peekable();
        while let Some((key, value)) = rows.next() {
            if rows.peek().is_some_and(|(next, _)| *next == key) {
                continue;
            }
            for bytes in [&key, &value] {
                let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
                file.write_all(&length.to_be_bytes())?;
            }
            file.write_all(&key)?;
            file.write_all(&value)?;
        }
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        self.runs.push(path);
        Ok(())
    }

    /// All rows in the order of their keys.
    pub(crate) fn merged(mut self) -> std::io::Result<Merged> {
        self.write_run()?;
        let mut merged = Merged { runs: Vec::new(), heads: BinaryHeap::new() };
        for (number, path) in self.runs.iter().enumerate() {
            merged.runs.push(BufReader::with_capacity(256 * 1024, File::open(path)?));
            merged.fetch(number)?;
        }
        Ok(merged)
    }
}

/// Runs that are being merged.
pub(crate) struct Merged {
    runs: Vec<BufReader<File>>,
    /// The next row of each run: least key first, of equal keys the latest run first.
    heads: BinaryHeap<(Reverse<Bytes>, usize, Bytes)>,
}

impl Merged {
    /// The next row.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<(Bytes, Bytes)>> {
        let Some((Reverse(key), run, value)) = self.heads.pop() else {
            return Ok(None);
        };
        self.fetch(run)?;
        while self.heads.peek().is_some_and(|(Reverse(next), ..)| *next == key) {
            if let Some((_, older, _)) = self.heads.pop() {
                self.fetch(older)?;
            }
        }
        Ok(Some((key, value)))
    }

    fn fetch(&mut self, run: usize) -> std::io::Result<()> {
        let Some(file) = self.runs.get_mut(run) else {
            return Ok(());
        };
        let mut lengths = [0; 8];
        match file.read_exact(&mut lengths) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let [a, b, c, d, e, f, g, h] = lengths;
        let mut read = |length: [u8; 4]| -> std::io::Result<Bytes> {
            let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
            file.read_exact(&mut bytes)?;
            Ok(bytes.into())
        };
        let key = read([a, b, c, d])?;
        let value = read([e, f, g, h])?;
        self.heads.push((Reverse(key), run, value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_and_the_latest_of_a_key_counts() {
        let directory = tempfile::tempdir().unwrap();
        let mut sort = ExternalSort::new(directory.path().to_owned());
        let row = |key: u32, value: &str| {
            (Bytes::copy_from_slice(&key.to_be_bytes()), Bytes::copy_from_slice(value.as_bytes()))
        };
        sort.extend(vec![row(9, "old"), row(2, "old"), row(9, "new")]).unwrap();
        sort.write_run().unwrap();
        sort.extend(vec![row(5, "only"), row(2, "newer")]).unwrap();
        sort.write_run().unwrap();
        sort.extend(vec![row(2, "newest"), row(1, "")]).unwrap();
        let mut merged = sort.merged().unwrap();
        let mut found = Vec::new();
        while let Some(row) = merged.next().unwrap() {
            found.push(row);
        }
        let wanted = [row(1, ""), row(2, "newest"), row(5, "only"), row(9, "new")];
        assert_eq!(found, wanted);
    }
}
