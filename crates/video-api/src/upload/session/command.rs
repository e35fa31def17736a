//! The commands of the protocol that speaks in `X-Goog-Upload-*` headers: the same sessions, asked in other words.

use super::{Decision, ExpectedBody, Session, SessionError};
use crate::upload::PIECE_BYTES_MULTIPLE;

/// A request to a session, as `X-Goog-Upload-Command` and `X-Goog-Upload-Offset` name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `query`: asks what has arrived.
    Query,
    /// `upload`, `finalize`, or both: bytes from an offset on, and whether they are the last.
    Upload {
        /// Place of the first byte; absent in a bare `finalize`.
        offset: Option<u64>,
        /// True if nothing follows.
        finalize: bool,
    },
    /// `cancel`: ends the session.
    Cancel,
}

impl Command {
    /// Reads the two headers; words are parted by commas, and their case does not count.
    ///
    /// # Errors
    /// [`SessionError::Command`], [`SessionError::Offset`].
    pub fn read(command: &str, offset: Option<&str>) -> Result<Self, SessionError> {
        let words: Vec<_> =
            command.split(',').map(|word| word.trim().to_ascii_lowercase()).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let offset =
            offset.map(|text| text.trim().parse().map_err(|_| SessionError::Offset)).transpose();
        match words.as_slice() {
            ["query"] => Ok(Self::Query),
            ["cancel"] => Ok(Self::Cancel),
            ["finalize"] => Ok(Self::Upload { offset: offset?, finalize: true }),
            ["upload", rest @ ..] if matches!(rest, [] | ["finalize"]) => {
                let offset = offset?.ok_or(SessionError::Offset)?;
                Ok(Self::Upload { offset: Some(offset), finalize: !rest.is_empty() })
            }
            _ => Err(SessionError::Command),
        }
    }
}

impl Session {
    /// Decides about a command with a body of `content_length` bytes, where that is known. A cancelled session is not asked.
    ///
    /// # Errors
    /// `OffsetMismatch`, `LengthNeeded`, `TooLarge`, `TotalChanged`, `NotAMultiple`.
    pub fn decide_command(
        &self,
        command: Command,
        content_length: Option<u64>,
        bytes_max: u64,
    ) -> Result<Decision, SessionError> {
        let Command::Upload { offset, finalize } = command else {
            return Ok(self.finished.map_or(self.progress(), |status| Decision::Replay { status }));
        };
        if let Some(status) = self.finished {
            return Ok(Decision::Replay { status });
        }
        let first = offset.unwrap_or(self.received);
        if first != self.received {
            return Err(SessionError::OffsetMismatch { offset: first, received: self.received });
        }
        let Some(bytes) = content_length else {
            return self.decide_unmeasured(first, finalize, bytes_max);
        };
        let end = first.saturating_add(bytes);
        if end > bytes_max {
            return Err(SessionError::TooLarge { bytes_max });
        }
        let total = self.agreed_total(finalize.then_some(end), bytes_max)?;
        if let Some(before) = total.filter(|total| end > *total) {
            return Err(SessionError::TotalChanged { before, now: end });
        }
        if !finalize && total != Some(end) && !bytes.is_multiple_of(PIECE_BYTES_MULTIPLE) {
            return Err(SessionError::NotAMultiple { bytes });
        }
        Ok(match (bytes, finalize) {
            (0, true) => Decision::Finish,
            (0, false) => self.progress(),
            _ => Decision::Receive(ExpectedBody {
                first,
                repeated: 0,
                bytes_max: bytes,
                exact: true,
                total,
            }),
        })
    }

    /// A body whose end alone says how long it is: it can only be the last.
    const fn decide_unmeasured(
        &self,
        first: u64,
        finalize: bool,
        bytes_max: u64,
    ) -> Result<Decision, SessionError> {
        if !finalize {
            return Err(SessionError::LengthNeeded);
        }
        let (most, exact) = match self.total {
            Some(total) => (total.saturating_sub(first), true),
            None => (bytes_max.saturating_sub(first), false),
        };
        let total = self.total;
        Ok(Decision::Receive(ExpectedBody { first, repeated: 0, bytes_max: most, exact, total }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_read_and_anything_else_is_refused() {
        let upload = |offset, finalize| Ok(Command::Upload { offset, finalize });
        for (command, offset, expected) in [
            ("query", None, Ok(Command::Query)),
            ("Cancel", None, Ok(Command::Cancel)),
            ("upload", Some("0"), upload(Some(0), false)),
            ("upload, finalize", Some("262144"), upload(Some(262_144), true)),
            ("UPLOAD,FINALIZE", Some(" 7 "), upload(Some(7), true)),
            ("finalize", None, upload(None, true)),
            ("upload", None, Err(SessionError::Offset)),
            ("upload", Some("-1"), Err(SessionError::Offset)),
            ("upload", Some("many"), Err(SessionError::Offset)),
            ("start", None, Err(SessionError::Command)),
            ("finalize, upload", Some("0"), Err(SessionError::Command)),
            ("", None, Err(SessionError::Command)),
        ] {
            assert_eq!(Command::read(command, offset), expected, "{command} {offset:?}");
        }
    }

    fn session(received: u64, total: Option<u64>, finished: Option<u16>) -> Session {
        Session {
            operation: "videos.insert".into(),
            query: String::new(),
            opening: String::new(),
            media_type: None,
            file_name: None,
            total,
            received,
            media: [0; 16],
            opened: 0,
            finished,
        }
    }

    #[test]
    fn what_a_session_does_with_each_command() {
        const PIECE: u64 = PIECE_BYTES_MULTIPLE;
        let upload = |offset, finalize| Command::Upload { offset: Some(offset), finalize };
        let receive = |first, bytes_max, exact, total| {
            Ok(Decision::Receive(ExpectedBody { first, repeated: 0, bytes_max, exact, total }))
        };
        let progress = |received| Ok(Decision::Progress { received });
        let open = session(PIECE, Some(2 * PIECE + 5), None);
        let unknown = session(PIECE, None, None);
        for (session, command, length, expected) in [
            (&open, Command::Query, Some(0), progress(PIECE)),
            (&open, upload(PIECE, false), Some(PIECE), receive(PIECE, PIECE, true, open.total)),
            (&open, upload(PIECE, false), Some(0), progress(PIECE)),
            (
                &open,
                upload(PIECE, true),
                Some(PIECE + 5),
                receive(PIECE, PIECE + 5, true, open.total),
            ),
            (
                &open,
                upload(PIECE, false),
                Some(PIECE + 5),
                receive(PIECE, PIECE + 5, true, open.total),
            ),
            (&open, upload(PIECE, true), None, receive(PIECE, PIECE + 5, true, open.total)),
            (&unknown, upload(PIECE, true), Some(3), receive(PIECE, 3, true, Some(PIECE + 3))),
            (&unknown, upload(PIECE, true), Some(0), Ok(Decision::Finish)),
            (&unknown, upload(PIECE, true), None, receive(PIECE, 9 * PIECE, false, None)),
            (&unknown, upload(PIECE, false), None, Err(SessionError::LengthNeeded)),
            (&unknown, upload(PIECE, false), Some(7), Err(SessionError::NotAMultiple { bytes: 7 })),
            (
                &unknown,
                upload(0, false),
                Some(PIECE),
                Err(SessionError::OffsetMismatch { offset: 0, received: PIECE }),
            ),
            (
                &open,
                upload(PIECE, true),
                Some(PIECE),
                Err(SessionError::TotalChanged { before: 2 * PIECE + 5, now: 2 * PIECE }),
            ),
            (
                &open,
                upload(PIECE, false),
                Some(2 * PIECE),
                Err(SessionError::TotalChanged { before: 2 * PIECE + 5, now: 3 * PIECE }),
            ),
            (
                &unknown,
                upload(PIECE, false),
                Some(10 * PIECE),
                Err(SessionError::TooLarge { bytes_max: 10 * PIECE }),
            ),
        ] {
            let decided = session.decide_command(command, length, 10 * PIECE);
            assert_eq!(decided, expected, "{command:?} {length:?}");
        }
        let finished = session(PIECE, Some(PIECE), Some(200));
        for command in [Command::Query, upload(0, true)] {
            let decided = finished.decide_command(command, Some(9), 10 * PIECE);
            assert_eq!(decided, Ok(Decision::Replay { status: 200 }));
        }
    }
}
