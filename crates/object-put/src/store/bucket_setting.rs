//! Settings of a bucket as the store keeps them: each a value, or pieces of one that is longer than a value may be.

use bytes::Bytes;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::store::tables::BUCKET_CONFIGS;

/// The most bytes of a value, with room for what the store writes around it.
const PIECE_BYTES_MAX: usize = 60 * 1024;
/// The most pieces of a setting.
const PIECES_MAX: usize = 12;
/// The most bytes of a setting.
pub const SETTING_BYTES_MAX: usize = PIECES_MAX * PIECE_BYTES_MAX;
/// The value in the place of one that lies in pieces: no setting, which is JSON, is the same.
const IN_PIECES: &[u8] = b"in pieces";
/// The most rows of settings that a bucket has.
pub const ROWS_MAX: usize = 100;

/// The name of a piece. No setting has a sign in its name.
fn piece_name(name: &str, number: usize) -> String {
    format!("{name}#{number}")
}

/// The setting of a bucket with this name.
///
/// # Errors
/// As reads of the store; [`Error::Damaged`] for pieces that are not there.
pub fn read(tx: &mut Tx<'_>, bucket: u64, name: &str) -> Result<Option<Bytes>, Error> {
    let first = BUCKET_CONFIGS.peek(tx, &(bucket, name.to_owned()))?;
    if first.as_deref() != Some(IN_PIECES) {
        return Ok(first);
    }
    // One page is of one moment: single pieces could be of two settings, one put after the other.
    let rows = BUCKET_CONFIGS.all(tx, &bucket, ROWS_MAX)?;
    let of = |own: &str| rows.iter().find(|((_, name), _)| name == own).map(|(_, bytes)| bytes);
    match of(name) {
        Some(first) if **first == *IN_PIECES => {}
        replaced => return Ok(replaced.cloned()),
    }
    let pieces = (0..PIECES_MAX).map_while(|number| of(&piece_name(name, number)));
    let whole = pieces.flat_map(|piece| piece.iter().copied()).collect::<Bytes>();
    if whole.is_empty() { Err(Error::Damaged) } else { Ok(Some(whole)) }
}

/// Keeps a setting of a bucket in the place of the one with this name.
///
/// # Errors
/// [`Error::MessageTooLong`] for one of more than [`SETTING_BYTES_MAX`].
pub fn put(tx: &mut Tx<'_>, bucket: u64, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
    if bytes.len() > SETTING_BYTES_MAX {
        return Err(Error::MessageTooLong { most: SETTING_BYTES_MAX });
    }
    delete(tx, bucket, name);
    let key = |name: String| (bucket, name);
    if bytes.len() <= PIECE_BYTES_MAX {
        BUCKET_CONFIGS.put(tx, &key(name.to_owned()), &bytes.into());
        return Ok(());
    }
    for (number, piece) in bytes.chunks(PIECE_BYTES_MAX).enumerate() {
        let piece = Bytes::copy_from_slice(piece);
        BUCKET_CONFIGS.put(tx, &key(piece_name(name, number)), &piece);
    }
    BUCKET_CONFIGS.put(tx, &key(name.to_owned()), &Bytes::from_static(IN_PIECES));
    Ok(())
}

/// Deletes the setting of a bucket with this name, its pieces too: whether there are any, nothing is read for.
pub fn delete(tx: &mut Tx<'_>, bucket: u64, name: &str) {
    BUCKET_CONFIGS.delete(tx, &(bucket, name.to_owned()));
    for number in 0..PIECES_MAX {
        BUCKET_CONFIGS.delete(tx, &(bucket, piece_name(name, number)));
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::kv::{KeyValue as _, Memory};

    use super::*;

    /// Keeps a setting of so many bytes, each this one.
    fn keep(store: &Memory, byte: u8, bytes: usize) -> Result<(), Error> {
        let mut tx = Tx::new(store);
        put(&mut tx, 1, "website", vec![byte; bytes])?;
        store.commit(tx.into_batch([byte; 16])).wait()?;
        Ok(())
    }

    #[test]
    fn a_setting_that_is_longer_than_a_value_reads_back_and_is_replaced_whole() {
        let store = Memory::default();
        for (byte, bytes) in [
            (1, 10),
            (2, SETTING_BYTES_MAX),
            (3, PIECE_BYTES_MAX + 1),
            (4, PIECE_BYTES_MAX),
            (5, 1),
        ] {
            keep(&store, byte, bytes).unwrap();
            let read = read(&mut Tx::new(&store), 1, "website").unwrap();
            assert!(read.unwrap() == vec![byte; bytes], "{bytes} bytes");
            let rows = BUCKET_CONFIGS.all(&mut Tx::new(&store), &1_u64, ROWS_MAX).unwrap();
            let pieces = bytes.div_ceil(PIECE_BYTES_MAX);
            assert_eq!(rows.len(), if pieces > 1 { pieces + 1 } else { 1 }, "{bytes} bytes");
        }
        let long = keep(&store, 6, SETTING_BYTES_MAX + 1);
        assert_eq!(long, Err(Error::MessageTooLong { most: SETTING_BYTES_MAX }));
        let mut tx = Tx::new(&store);
        delete(&mut tx, 1, "website");
        store.commit(tx.into_batch([7; 16])).wait().unwrap();
        assert_eq!(read(&mut Tx::new(&store), 1, "website"), Ok(None));
    }

    #[test]
    fn a_setting_without_its_pieces_is_damaged() {
        let store = Memory::default();
        let mut tx = Tx::new(&store);
        BUCKET_CONFIGS.put(&mut tx, &(1, "website".to_owned()), &Bytes::from_static(IN_PIECES));
        assert_eq!(read(&mut tx, 1, "website"), Err(Error::Damaged));
    }
}
