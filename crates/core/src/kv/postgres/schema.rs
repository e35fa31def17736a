//! The schema of a service in the database, made and moved on by whoever connects first; an older release refuses one that it does not know.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::kv::shared::ConnectError;

/// The steps from each format to the next; a release knows as many formats as there are steps.
const MIGRATIONS: [&[&str]; 1] = [&[
    "CREATE TABLE {schema}.kv (k BYTEA PRIMARY KEY, v BYTEA NOT NULL, ver BIGINT NOT NULL)",
    "CREATE TABLE {schema}.batches (id BYTEA PRIMARY KEY, ver BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL)",
    "CREATE INDEX batches_by_age ON {schema}.batches (at)",
    "CREATE SEQUENCE {schema}.versions",
]];
/// Attempts at a step that another instance may take at the same time.
const ATTEMPTS_MAX: usize = 20;

/// Brings the schema to the format of this release.
///
/// # Errors
/// `Refused` for a format of a later release; `Away` if the server fails.
pub(super) async fn prepare(client: &Client, schema: &str) -> Result<(), ConnectError> {
    let known = MIGRATIONS.len();
    let mut last = None;
    for _ in 0..ATTEMPTS_MAX {
        let format = format_of(client, schema).await?;
        if format == known {
            return Ok(());
        }
        let Some(steps) = MIGRATIONS.get(format) else {
            return Err(later(schema, format));
        };
        match client.batch_execute(&migration(schema, format, steps)).await {
            Ok(()) => {}
            // Another instance takes the same step.
            Err(error) if error.code().is_some_and(is_race) => {
                let _ = client.batch_execute("ROLLBACK").await;
                last = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.map_or_else(|| ConnectError::Away("the schema does not settle".into()), Into::into))
}

/// The statements of one step and its mark, all or none of them.
fn migration(schema: &str, format: usize, steps: &[&str]) -> String {
    let next = format + 1;
    let mut text = "BEGIN ISOLATION LEVEL SERIALIZABLE;".to_owned();
    if format == 0 {
        text += &format!(
            "CREATE SCHEMA IF NOT EXISTS {schema}; CREATE TABLE {schema}.facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
        );
    }
    for step in steps {
        text += &step.replace("{schema}", schema);
        text += ";";
    }
    text += &match format {
        0 => format!("INSERT INTO {schema}.facts (name, value) VALUES ('format', '{next}');"),
        // Where another instance has taken the step meanwhile, the division by zero ends this one.
        _ => format!(
            "SELECT 1 / count(*) FROM {schema}.facts WHERE name = 'format' AND value = '{format}';
            UPDATE {schema}.facts SET value = '{next}' WHERE name = 'format';"
        ),
    };
    text + "COMMIT"
}

/// The refusal of a format that this release does not know.
fn later(schema: &str, format: usize) -> ConnectError {
    let known = MIGRATIONS.len();
    ConnectError::Refused(format!(
        "the schema {schema} of the database is of format {format}, which a later release made; this one knows formats up to {known}: start the release that made it"
    ))
}

/// The format of these words, which this release knows.
///
/// # Errors
/// `Refused` for one of a later release, and for what is none.
pub(super) fn format_named(schema: &str, text: &str) -> Result<usize, ConnectError> {
    match text.parse() {
        Ok(format) if format > MIGRATIONS.len() => Err(later(schema, format)),
        Ok(format) => Ok(format),
        Err(_) => Err(ConnectError::Refused(format!(
            "the schema {schema} of the database is of the format {text:?}, which is none"
        ))),
    }
}

/// The format of the schema; 0 where there is none.
async fn format_of(client: &Client, schema: &str) -> Result<usize, ConnectError> {
    match fact(client, schema, "format").await {
        Ok(Some(text)) => format_named(schema, &text),
        Ok(None) => Ok(0),
        Err(error) => match error.code() {
            Some(code) if is_missing(code) => Ok(0),
            _ => Err(error.into()),
        },
    }
}

/// A fact of the store by its name.
///
/// # Errors
/// Those of the server; one without the table where there is no schema yet.
pub(super) async fn fact(
    client: &Client,
    schema: &str,
    name: &str,
) -> Result<Option<String>, tokio_postgres::Error> {
    let text = format!("SELECT value FROM {schema}.facts WHERE name = $1");
    let row = client.query_opt(&text, &[&name]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The fact of this name: `value` if there was none, which then stays.
///
/// # Errors
/// Those of the server.
pub(super) async fn claim(
    client: &Client,
    schema: &str,
    name: &str,
    value: &str,
) -> Result<String, tokio_postgres::Error> {
    let text = format!(
        "INSERT INTO {schema}.facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"
    );
    client.execute(&text, &[&name, &value]).await?;
    Ok(fact(client, schema, name).await?.unwrap_or_default())
}

/// Tells whether the server says that the schema or its table is not there.
fn is_missing(code: &SqlState) -> bool {
    [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code)
}

/// Tells whether the server says that somebody else was quicker.
fn is_race(code: &SqlState) -> bool {
    [
        SqlState::DIVISION_BY_ZERO,
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_OBJECT,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ]
    .contains(code)
}
