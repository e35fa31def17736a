//! Sessions on directory buckets: what temporary credentials stand for, and what a request on such a bucket needs.

use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::kms::key_name::KeyArn;

/// The time for which a session is good.
pub const SESSION_TIME: Duration = Duration::from_secs(5 * 60);

/// The mode of a session: what may be done in it. One that writes also reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionMode {
    /// Reads alone.
    ReadOnly,
    /// Everything.
    ReadWrite,
}

impl SessionMode {
    /// The mode with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::ReadOnly, Self::ReadWrite].into_iter().find(|own| own.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "ReadOnly",
            Self::ReadWrite => "ReadWrite",
        }
    }
}

/// A session, as its token says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The access key that asked for it.
    pub access_key: String,
    /// A digest of that key's secret: a session ends when the key is removed, also where another gets its id.
    pub key_check: [u8; 8],
    /// The number of the bucket; none of one that was not there yet.
    pub bucket: Option<u64>,
    /// Its name.
    pub bucket_name: String,
    /// The access point that it was asked for through, by its ARN without what names the provider: it is good there alone, and one without
    /// at the bucket alone.
    pub point: Option<String>,
    /// Its mode.
    pub mode: SessionMode,
    /// The key-management key of new objects; keys that the service manages without one.
    pub key: Option<KeyArn>,
    /// The end of its time.
    pub expires: Timestamp,
}

/// Bits of the first byte of a session's bytes: what it may do, and which of its values are there.
const WRITES: u8 = 1;
const HAS_BUCKET: u8 = 2;
const HAS_POINT: u8 = 4;
const HAS_KEY: u8 = 8;

impl Session {
    /// Few bytes that stand for it, since each of its requests brings them; `None` for texts that no session has.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let bits = [
            (WRITES, self.mode == SessionMode::ReadWrite),
            (HAS_BUCKET, self.bucket.is_some()),
            (HAS_POINT, self.point.is_some()),
            (HAS_KEY, self.key.is_some()),
        ];
        let mut bytes = vec![bits.iter().filter(|(_, is_set)| *is_set).map(|(bit, _)| bit).sum()];
        bytes.extend_from_slice(&self.key_check);
        bytes.extend_from_slice(&self.expires.micros().to_be_bytes());
        bytes.extend_from_slice(&self.bucket.unwrap_or_default().to_be_bytes());
        let of_key = self.key.iter().flat_map(|key| [&key.region, &key.account, &key.id]);
        for text in
            [&self.access_key, &self.bucket_name].into_iter().chain(&self.point).chain(of_key)
        {
            bytes.extend_from_slice(&u16::try_from(text.len()).ok()?.to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Some(bytes)
    }

    /// The session of these bytes; `None` for what are those of none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bits, rest) = bytes.split_first()?;
        let (key_check, rest) = rest.split_first_chunk()?;
        let (expires, rest) = rest.split_first_chunk()?;
        let (bucket, mut rest) = rest.split_first_chunk()?;
        let has = |bit: u8| bits & bit != 0;
        let mut text = || {
            let (length, texts) = rest.split_first_chunk()?;
            let (text, behind) = texts.split_at_checked(u16::from_be_bytes(*length).into())?;
            rest = behind;
            String::from_utf8(text.to_vec()).ok()
        };
        let session = Self {
            access_key: text()?,
            bucket_name: text()?,
            point: if has(HAS_POINT) { Some(text()?) } else { None },
            key: match has(HAS_KEY) {
                true => Some(KeyArn { region: text()?, account: text()?, id: text()? }),
                false => None,
            },
            key_check: *key_check,
            bucket: has(HAS_BUCKET).then_some(u64::from_be_bytes(*bucket)),
            mode: if has(WRITES) { SessionMode::ReadWrite } else { SessionMode::ReadOnly },
            expires: Timestamp::from_micros(i64::from_be_bytes(*expires)),
        };
        rest.is_empty().then_some(session)
    }
}

/// The way in which an operation on a directory bucket is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryAccess {
    /// By a session of this mode, or by the right to have one.
    Zonal(SessionMode),
    /// By the right to have a session that writes, and by no session: copies have a source of their own.
    Copy,
    /// By that of creating a session, which no session has.
    CreateSession,
    /// By a permission of the owner's keys on the bucket; true if it changes something.
    Regional(&'static str, bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> Vec<Session> {
        let plain = Session {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            key_check: [7; 8],
            bucket: None,
            bucket_name: "b--use1-az4--x-s3".to_owned(),
            point: None,
            mode: SessionMode::ReadOnly,
            key: None,
            expires: Timestamp::from_micros(1_700_000_000_123_456),
        };
        let key = KeyArn {
            region: "us-east-1".to_owned(),
            account: "111122223333".to_owned(),
            id: "00000000-0000-4000-8000-000000000000".to_owned(),
        };
        let mut all = vec![plain];
        let changes: [fn(&mut Session); 3] = [
            |session| session.bucket = Some(0),
            |session| session.point = Some("us-east-1:111122223333:accesspoint/ü".to_owned()),
            |session| session.mode = SessionMode::ReadWrite,
        ];
        for change in changes {
            all.extend(all.clone().into_iter().map(|mut session| {
                change(&mut session);
                session
            }));
        }
        let with_key = all.clone().into_iter().map(|own| Session { key: Some(key.clone()), ..own });
        all.extend(with_key);
        all
    }

    #[test]
    fn a_session_is_read_back_as_it_was_and_from_no_other_length() {
        let all = sessions();
        for session in &all {
            let bytes = session.to_bytes().unwrap();
            assert_eq!(Session::from_bytes(&bytes).as_ref(), Some(session));
            let same = all.iter().filter(|other| other.to_bytes().as_ref() == Some(&bytes));
            assert_eq!(same.count(), 1, "no two sessions have the same bytes");
            for end in 0..bytes.len() {
                assert_eq!(Session::from_bytes(&bytes[..end]), None, "{session:?} {end}");
            }
            assert_eq!(Session::from_bytes(&[&bytes[..], &[0]].concat()), None);
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_not_written_down() {
        let [access_key, name] = [1 << 16, 1].map(|length| "a".repeat(length));
        let session = sessions().remove(0);
        assert_eq!(Session { access_key, ..session.clone() }.to_bytes(), None);
        assert!(Session { bucket_name: name, ..session }.to_bytes().is_some());
    }
}
