//! More rows than memory holds, sorted on disk: runs of sorted rows, merged while they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;

/// Bytes of a run that are read at once.
const READ_BYTES: usize = 256 * 1024;
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
        let mut before = Bytes::new();
        while let Some((key, value)) = rows.next() {
            if rows.peek().is_some_and(|(next, _)| *next == key) {
                continue;
            }
            // Neighbours begin alike: most of a run would be the beginnings of its keys.
            let shared = key.iter().zip(&before).take_while(|(one, other)| one == other).count();
            let rest = key.get(shared..).unwrap_or_default();
            for length in [shared, rest.len(), value.len()] {
                write_length(length, &mut file)?;
            }
            file.write_all(rest)?;
            file.write_all(&value)?;
            before = key;
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
            let file = BufReader::with_capacity(READ_BYTES, File::open(path)?);
            merged.runs.push(Some(Run { path: path.clone(), file, key: Vec::new() }));
            merged.fetch(number)?;
        }
        Ok(merged)
    }
}

/// A run that is being read.
struct Run {
    path: PathBuf,
    file: BufReader<File>,
    /// The key of the last row.
    key: Vec<u8>,
}

impl Run {
    /// The next row; none at the end.
    fn next(&mut self) -> std::io::Result<Option<(Bytes, Bytes)>> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let [shared, rest, bytes] = [(); 3].map(|()| read_length(&mut self.file));
        let (shared, rest, bytes) = (shared?, rest?, bytes?);
        self.key.truncate(shared);
        self.key.resize(shared + rest, 0);
        self.file.read_exact(self.key.get_mut(shared..).unwrap_or_default())?;
        let mut value = vec![0; bytes];
        self.file.read_exact(&mut value)?;
        Ok(Some((Bytes::copy_from_slice(&self.key), value.into())))
    }
}

/// Writes a length in as many bytes as it needs: seven bits in each, the low ones first, and a bit that says that more follow.
fn write_length(mut length: usize, out: &mut impl Write) -> std::io::Result<()> {
    loop {
        let low = u8::try_from(length & 0x7f).unwrap_or_default();
        length >>= 7;
        if length == 0 {
            return out.write_all(&[low]);
        }
        out.write_all(&[low | 0x80])?;
    }
}

fn read_length(from: &mut impl Read) -> std::io::Result<usize> {
    let (mut length, mut shift) = (0, 0);
    loop {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        let [byte] = byte;
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 || shift > 56 {
            return Ok(length);
        }
        shift += 7;
    }
}

/// Runs that are being merged.
pub(crate) struct Merged {
    /// None where one was read to its end.
    runs: Vec<Option<Run>>,
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

    /// Reads the next row of a run, which is removed at its end: what is made of the rows needs the room.
    fn fetch(&mut self, run: usize) -> std::io::Result<()> {
        let Some(reading) = self.runs.get_mut(run) else {
            return Ok(());
        };
        match reading.as_mut().map(Run::next).transpose()?.flatten() {
            Some((key, value)) => self.heads.push((Reverse(key), run, value)),
            None => {
                if let Some(Run { path, .. }) = reading.take() {
                    std::fs::remove_file(path)?;
                }
            }
        }
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
        let long = "long ".repeat(5_000);
        let row = |key: u32, value: &str| {
            (Bytes::copy_from_slice(&key.to_be_bytes()), Bytes::copy_from_slice(value.as_bytes()))
        };
        sort.extend(vec![row(9, "old"), row(2, "old"), row(9, "new")]).unwrap();
        sort.write_run().unwrap();
        sort.extend(vec![row(5, "only"), row(2, "newer")]).unwrap();
        sort.write_run().unwrap();
        sort.extend(vec![row(2, "newest"), row(1, &long)]).unwrap();
        let mut merged = sort.merged().unwrap();
        let mut found = Vec::new();
        while let Some(row) = merged.next().unwrap() {
            found.push(row);
        }
        let wanted = [row(1, &long), row(2, "newest"), row(5, "only"), row(9, "new")];
        assert_eq!(found, wanted);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "no run stays");
    }
}
