//! Faults of seed files.

use std::borrow::Cow;

use triptych_core::kv::StoreError;

/// Characters of the beginning of a reason that are shown, and of its end: it may repeat a value of the file, however long that is.
const SHOWN_CHARS: usize = 400;

/// A fault of a seed file. The text says where in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is no JSON, or holds what no seed file holds.
    #[error("{}", shortened(.0))]
    Unreadable(String),
    /// A resource breaks a rule of its own.
    #[error("{}: {}", shortened(.place), shortened(.reason))]
    Refused {
        /// The resource.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A reason without its middle, where it is long.
fn shortened(reason: &str) -> Cow<'_, str> {
    let mut starts = reason.char_indices().map(|(at, _)| at);
    let ends = (starts.nth(SHOWN_CHARS), starts.nth_back(SHOWN_CHARS - 1));
    let (Some(head), Some(tail)) = ends else {
        return Cow::Borrowed(reason);
    };
    let [head, tail] = [reason.get(..head), reason.get(tail..)].map(Option::unwrap_or_default);
    Cow::Owned(format!("{head} … {tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_repeats_a_long_value_is_shown_without_its_middle() {
        let short = "accounts[0]: unknown field `x`".to_owned();
        assert_eq!(SeedError::Unreadable(short.clone()).to_string(), short);
        let long =
            format!("accounts[0]: invalid type: string \"{}\", expected u64", "ü".repeat(1 << 20));
        for told in [
            SeedError::Unreadable(long.clone()).to_string(),
            SeedError::Refused { place: "videos[0]".into(), reason: long }.to_string(),
        ] {
            assert!(told.chars().count() < 1_000, "{} characters", told.chars().count());
            assert!(told.contains("accounts[0]: invalid type") && told.ends_with("expected u64"));
        }
        for length in 0..2_000 {
            let told = shortened(&"é".repeat(length)).chars().count();
            assert!(told <= length.max(2 * SHOWN_CHARS + 3), "{told} of {length}");
            assert!(told <= 2 * SHOWN_CHARS + 3, "{told} of {length}");
        }
    }
}
