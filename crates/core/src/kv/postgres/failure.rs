//! Failures of connections and of statements, as the engine tells them apart.

use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::kv::StoreError;
use crate::kv::shared::ConnectError;

impl ConnectError {
    /// The same for whoever asked the store for something.
    pub(super) fn into_unavailable(self) -> StoreError {
        let (Self::Away(reason) | Self::Refused(reason)) = self;
        StoreError::Unavailable(reason)
    }
}

impl From<tokio_postgres::Error> for ConnectError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Away(told(&error))
    }
}

/// Reasons for which a statement was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The transaction met another, and was undone: it can be tried again.
    Again,
    /// Its id is there already.
    Named,
    /// The connection was lost: whether the statement was run is not known.
    Lost(String),
    /// The server refused it, and nothing was done.
    Refused(String),
}

impl From<StoreError> for Failure {
    /// There was no connection to send it on.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(reason) => Self::Refused(reason),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl Failure {
    /// That of a request which somebody sent together with their own, and who was stopped before the answer came.
    pub(super) fn of_stopped_sender() -> Self {
        Self::Lost("who sent it was stopped".to_owned())
    }

    /// The failure that an error of the driver means.
    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            return Self::Lost(told(error));
        };
        let code = refusal.code();
        if is_the_end(refusal) || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN {
            return Self::Lost(told(error));
        }
        match code {
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => Self::Again,
            &SqlState::UNIQUE_VIOLATION => Self::Named,
            _ => Self::Refused(told(error)),
        }
    }
}

/// Tells whether the connection ends with this refusal, whatever came of the statement.
fn is_the_end(refusal: &DbError) -> bool {
    match refusal.parsed_severity() {
        Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
        None => matches!(refusal.severity(), "FATAL" | "PANIC"),
    }
}

/// An error in words, with its cause; of a refusal the code and the sentence, which name no row.
pub(super) fn told(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(refusal), _) => format!("{} ({})", refusal.message(), refusal.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
