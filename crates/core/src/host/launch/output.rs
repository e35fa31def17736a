//! The output of commands, whose reader may have left.

use std::io::{ErrorKind, Result, Write};

/// Writes to standard output. A reader that has left, as `head -1` does after a line, has what it wanted, and is no failure.
///
/// # Errors
/// Any other failure of the output, such as a full disk.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    write(&mut std::io::stdout().lock(), text.as_ref())
}

fn write(out: &mut impl Write, text: &[u8]) -> Result<()> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An output that fails so.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_failure_and_a_full_disk_is_one() {
        assert!(write(&mut Failing(ErrorKind::BrokenPipe), b"text").is_ok());
        assert!(write(&mut Failing(ErrorKind::StorageFull), b"text").is_err());
    }
}
