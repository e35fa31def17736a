//! The round trips that a request costs beside those of its operation, for what it brings along and what it meets.

use triptych_core::kv::RoundTrips;

/// A thing that costs a request more than its operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the text of each stands in the table")]
pub enum Addition {
    KeyById,
    KeyByAlias,
    FirstManagedKey,
    ReadWithKey,
    Grants,
    Origin,
    MarkerOverVersions,
    MarkerInSuspended,
    UncachedName,
    UploadPrefixes,
}

/// A row of the table.
#[derive(Debug)]
pub struct AdditionRow {
    /// The thing that costs more.
    pub addition: Addition,
    /// It in words.
    pub text: &'static str,
    /// The round trips that it costs at most.
    pub round_trips: RoundTrips,
}

const fn row(addition: Addition, text: &'static str, trips: (u32, u32)) -> AdditionRow {
    AdditionRow { addition, text, round_trips: RoundTrips::of(trips.0, trips.1) }
}

/// All that costs more; several of them together cost their sum.
#[rustfmt::skip] // A table: one row a line.
pub static ADDITIONS: &[AdditionRow] = &[
    row(Addition::KeyById, "a write with a key of the embedded key service, named by id or ARN", (1, 0)),
    row(Addition::KeyByAlias, "the same, named by alias or managed by the provider", (2, 0)),
    row(Addition::FirstManagedKey, "the first write of an account with the key that the provider manages", (2, 1)),
    row(Addition::ReadWithKey, "a read of an object with such a key, or one that is copied from", (1, 0)),
    row(Addition::Grants, "a list or grants in the headers of a write", (1, 0)),
    row(Addition::Origin, "an `Origin` in the headers of a write", (2, 0)),
    row(Addition::MarkerOverVersions, "a write or delete of a key whose current version is a delete marker", (1, 0)),
    row(Addition::MarkerInSuspended, "the same where versioning is suspended", (2, 0)),
    row(Addition::UncachedName, "a bucket or an access key that the instance meets for the first time, or that was made anew since", (1, 0)),
    row(Addition::UploadPrefixes, "a list with a delimiter of a directory bucket, and again for each thousand keys with unfinished uploads in the listed folder itself", (1, 0)),
];

/// The table as a part of the page of operations.
#[must_use]
pub fn page() -> String {
    let mut text = String::from(
        "\nRound trips that come on top of those of the operation:\n\n| On top of the operation | Round trips |\n|---|---|\n",
    );
    for row in ADDITIONS {
        text.push_str(&format!("| {} | {} |\n", row.text, row.round_trips));
    }
    text
}
